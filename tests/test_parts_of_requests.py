"""Whatever kinds of parts a request has, every operation answers it, or refuses it in words."""

from contextlib import suppress
from itertools import accumulate

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import layout, loads, place, registry, translate
from sssjob.errors import InvalidValue, SSSJobError
from sssjob.features.derive import derive
from sssjob.lcginfo.jobs import from_job
from sssjob.model import Job, Property, Requested, TaskGroup
from sssjob.systems.condor.task_groups import to_ads

VALUES = {
    "Feature": ("ib", "ssd"), "Node": ("n1", "n2"), "Architecture": ("x86_64",),
    "NodeCount": (1, 2), "Processors": (2, 4), "Memory": (64,), "Queue": ("long",),
}  # fmt: skip
OPS = ("EQ", "EQ", "NE", "LE", "GE")
NUMBERS = ("NodeCount", "Processors", "Memory")
OFFERS = [
    {"id": name, "Node": name, "Processors": 4, "Memory": 64, "Feature": ["ib"]}
    for name in ("n1", "n2")
]


@st.composite
def properties(draw):
    """One comparison, demanded or preferred, and how it goes on from the one before."""
    name = draw(st.sampled_from(sorted(VALUES)))
    op = draw(st.sampled_from(OPS if name in NUMBERS else ("EQ", "EQ", "NE")))
    told = {
        "op": op, "conj": draw(st.sampled_from(["And", "Or", "Nand", "Nor"])),
        "preference": draw(st.sampled_from(["0", "0", "-2", "-1", "1", "3"])),
    }  # fmt: skip
    plain = {"op": "EQ", "conj": "And", "preference": "0"}
    value = draw(st.sampled_from(VALUES[name]))
    return Property(name, value, {key: each for key, each in told.items() if each != plain[key]})


@st.composite
def requests(draw):
    """Properties in groups that are all closed at the end."""
    every = draw(st.lists(properties(), min_size=1, max_size=5))
    steps = [draw(st.integers(0, 1)) - draw(st.integers(0, 1)) for _ in every[1:]]
    groups = [draw(st.integers(0, 1)), *steps]
    depths = list(accumulate(groups))
    groups[0] += max(0, -min(depths))
    groups[-1] -= sum(groups)
    return Requested(tuple(
        each.having(group=str(group)) if group else each
        for each, group in zip(every, groups, strict=True)
    ))  # fmt: skip


AROUND = ("<Job><Id>1</Id><Executable>/bin/date</Executable>", "</Job>")


def job(asked, *groups):
    return Job((Property("Id", "1"), Property("Executable", "/bin/date"), asked, *groups))


# fmt: off
OPERATIONS = {
    "layout":   layout.layouts,
    "place":    lambda each: place(each, OFFERS),
    "features": lambda each: derive(each, now=0),
    "lcginfo":  lambda each: from_job(each, queue="q", group="g"),
    "ads":      to_ads,
    **{name: lambda each, name=name: translate(each, name) for name in registry.all_targets()},
}
# fmt: on


@pytest.mark.parametrize("operation", OPERATIONS)
@examples(10)
@given(asked=requests(), inside=st.sampled_from(["job", "group", "both"]))
def test_each_kind_of_part_is_answered_or_refused_in_words(operation, asked, inside):
    nothing = Requested(())
    group = TaskGroup((Property("Name", "a"), asked))
    whole = job(nothing if inside == "group" else asked, *(() if inside == "job" else (group,)))
    with suppress(SSSJobError):
        OPERATIONS[operation](whole)


# A preference beside a comparison in brackets, with each conjunction in them and before them.
BRACKETS = [
    f"<Feature>f</Feature><{name} conj='{outer}' group='1'>{value}</{name}>"
    f"<Feature conj='{inner}' preference='{weight}' group='-1'>h</Feature>"
    for name, value in (("Feature", "g"), ("NodeCount", 2))
    for outer in ("And", "Or", "Nand", "Nor")
    for inner in ("And", "Or", "Nand", "Nor")
    for weight in (-3, 3)
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_preference_in_brackets_is_answered_or_refused_in_words(operation):
    for inside in BRACKETS:
        whole = loads(f"<Requested>{inside}</Requested>".join(AROUND))
        with suppress(SSSJobError):
            OPERATIONS[operation](whole)


def test_what_is_negated_with_a_wish_no_amount_satisfies_and_no_submit_file_says():
    inside = (
        "<Feature>f</Feature><Feature conj='Nand' group='1'>g</Feature>"
        "<Feature conj='Or' preference='-3' group='-1'>h</Feature>"
    )
    whole = loads(f"<Requested>{inside}</Requested>".join(AROUND))
    with pytest.raises(InvalidValue, match="no amount satisfies the request"):
        translate(whole, "condor")
    (found,) = to_ads(whole)
    told = {each.code: each.message for each in found.findings}
    assert told["E-OP"] == "no amount satisfies the request"
