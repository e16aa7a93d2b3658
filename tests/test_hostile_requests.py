"""Requests made to cost, given to all that works on requests: an upper bound of calls for each.

Calls of functions are counted, in Python and in C, so a busy machine changes nothing.
"""
# ruff: noqa: E501 (a row of a table is a line)

from contextlib import suppress

import pytest
from counting import calls, lines

from sssjob import SSSJobError, expression, graph, layout, loads, match, place, translate
from sssjob.drawing.expression import tree
from sssjob.model import JobGroup

OFFERS = [{"id": f"n{number}", "Processors": 4, "Memory": 3, "Disk": 0, "Queue": "a" * 64,
           "Feature": ["a1"], "Node": f"n{number}"} for number in range(3)]  # fmt: skip


def job(inside, around=""):
    return loads(
        f"<Job><Id>1</Id><Executable>/bin/true</Executable>{around}<Requested>{inside}</Requested></Job>"
    )


def many(count, form):
    return "".join(form.format(number, number + 1) for number in range(count))


def levels(count):
    """Brackets inside each other, by turns negated, with an Or in each."""
    opened = many(count, '<Feature conj="Nor" group="1">a{0}</Feature>')
    return f'{opened}<Queue conj="Or" group="-{count}">b</Queue>'


# fmt: off
REQUESTS = {
    "nothing special":              job("<Memory op='GE'>1</Memory><Processors>4</Processors>"),
    "3 000 alternatives":           job(many(3000, "<Queue conj='Or'>q{0}</Queue>")),
    "1 000 preferences":            job(many(1000, "<Memory preference='{1}'>{0}</Memory>")),
    "2^64 alternatives":            job(many(64, "<Feature group='1'>a{0}</Feature><Feature conj='Or' group='-1'>b{0}</Feature>")),
    "2^64 of shared amounts":       job(many(64, "<Memory group='1' op='GE'>{0}</Memory><Disk conj='Or' group='-1' op='LT'>{0}</Disk>")),
    "64 levels":                    job(levels(64)),
    "65 levels":                    job(levels(65)),
    "preferences negated twice":    job("<Disk conj='Nand' group='1' preference='1'>1</Disk>" + many(500, "<Disk conj='Nor' preference='2'>{0}</Disk><Disk conj='Nand' preference='1'>{1}</Disk>") + "<Disk group='-1' preference='1'>1</Disk>"),
    "a range of 10^12":             job("<Node aggregation='Range'>n[0-999999999999]</Node>"),
    "a count of 10^12":             job("<Processors>1000000000000</Processors><NodeCount>1000000000000</NodeCount>"),
    "a hostile pattern":            job("<Queue op='Match'>(a|a?)+(b|b*)*$</Queue>"),
    "a hostile look-ahead":         job("<Queue op='Match'>(?=(a+)+b)((a|aa)+)+c\\1</Queue>"),
    "a pattern counted twice":      job("<Queue op='Match'>((a{1000}){1000})</Queue>"),
    "zero":                         job("<Processors>0</Processors><NodeCount>0</NodeCount><Memory op='LT'>0</Memory>"),
    "below zero":                   job("<Processors op='GE'>-4</Processors><Memory>-1</Memory>"),
    "contradictory counts":         job("<Processors>3</Processors><NodeCount>7</NodeCount><NodeCount>2</NodeCount>"),
    "a preference of 4 000 digits": job(f"<Memory preference='{'9' * 4000}'>1</Memory><Memory preference='1'>2</Memory>"),
    "fifty such preferences":       job(many(50, f"<Memory op='GE' conj='Or' group='1' preference='{{1}}{'9' * 3990}'>{{0}}</Memory><Memory group='-1' preference='7'>1</Memory>")),
}
# What asks, and how many calls it may make.
VERBS = {
    "match":        (lambda job: match(job, OFFERS), 1_200_000),
    "explain":      (lambda job: tree("1", "Requested", expression.of(job)), 700_000),
    "alternatives": (lambda job: expression.alternatives(expression.of(job)), 400_000),
    "layout":       (lambda job: layout.layouts(job), 400_000),
    "graph":        (lambda job: graph.of(JobGroup.of(job)), 1_000),
    "place":        (lambda job: place(job, OFFERS), 9_000_000),
    "translate":    (lambda job: translate(job, "sbatch"), 2_000_000),
}
# fmt: on


def asked(verb, request):
    """An answer, or a clear error."""
    with suppress(SSSJobError):
        VERBS[verb][0](request)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", REQUESTS)
def test_what_is_hostile_is_answered_or_refused_in_so_many_calls(verb, name):
    asked(verb, job("<Processors>4</Processors>"))  # what is made once and kept
    calls(asked, verb, REQUESTS[name], most=VERBS[verb][1])


# fmt: off
REPEATED = {
    "alternatives":   "<Queue conj='Or'>q{0}</Queue>",
    "preferences":    "<Memory preference='{1}'>{0}</Memory>",
    "names of nodes": "<Node conj='Or'>n{0}</Node>",
    "features":       "<Feature>f{0}</Feature>",
    "amounts":        "<Disk op='GE'>{0}</Disk>",
    "unknown ones":   "<Colour{0}>red</Colour{0}>",
}
# fmt: on


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - {"place"}))  # whose bounds come later
@pytest.mark.parametrize("form", REPEATED.values(), ids=REPEATED)
def test_four_times_as_much_of_anything_costs_no_sixteen_times_as_much(verb, form):
    few, more = job(many(300, form)), job(many(1200, form))
    asked(verb, job(many(3, form)))  # what is made once and kept
    assert lines(asked, verb, more) < 8 * lines(asked, verb, few)
