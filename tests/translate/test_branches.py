"""The alternative that is written is written as if nothing else were requested (decision 1025)."""

import pytest

from sssjob.document import loads
from sssjob.registry import all_targets
from sssjob.translate import Settings, translate
from sssjob.translate.engine import alternatives

JOB = '<Job awarenessPolicy="Warn"><Id>1</Id><Executable>/bin/date</Executable>{}</Job>'
TARGETS = sorted(all_targets().keys() - {"sss"})
OTHER = "of another alternative, which is not written"
PLACES = {
    "job": "<Requested>{}</Requested>",
    "group": "<TaskGroup><Requested>{}</Requested></TaskGroup>",
    "groups": "<TaskGroup><Requested>{}</Requested></TaskGroup><TaskGroup/>",
}
# Each as one property of a request, with a place for its brackets.
SAID = {
    "not a feature": '<Feature op="NE"{}>old</Feature>',
    "under Nand": '<Feature conj="Nand"{}>old</Feature>',
    "under Nand twice": '<Feature op="NE" conj="Nand"{}>old</Feature>',
    "neither of two": '<Feature op="NE" aggregation="List"{}>a,b</Feature>',
    "a feature": "<Feature{}>ib</Feature>",
    "liked": '<Feature preference="-1"{}>ssd</Feature>',
    "not a node": '<Node op="NE"{}>n1</Node>',
    "a node of a pattern": '<Node aggregation="Pattern"{}>n.*</Node>',
    "not an architecture": '<Architecture op="NE"{}>arm</Architecture>',
    "not a queue": '<Queue op="NE"{}>long</Queue>',
    "a bound": '<Memory op="LE" units="GB"{}>1</Memory>',
    "no number of GPUs": '<Resource name="GPU" op="NE"{}>1</Resource>',
}
ENDS = ' group="-1"'


def written(target, place, inner):
    """The text, and what is told but for other alternatives."""
    found = translate(loads(JOB.format(place.format(inner))), target, Settings(residual=False))
    losses = [(each.path, each.value, each.reason, each.done) for each in found.losses]
    return found.text, [each for each in losses if each[2] != OTHER]


@pytest.mark.parametrize("number", ["Processors", "Duration", "Memory"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("target", TARGETS)
def test_an_alternative_is_written_as_one_that_is_alone(target, said, place, number):
    said = said.replace("Memory", "Disk") if number == "Memory" else said
    alone = written(target, place, f"<{number}>4</{number}>{said.format('')}")
    first = f'<{number} group="1">4</{number}>{said.format(ENDS)}'
    assert written(target, place, f'{first}<{number} conj="Or">8</{number}>') == alone


@pytest.mark.parametrize("target, line", [
    ("condor", 'requirements = TARGET.Hasib =?= true && TARGET.Machine != "n1" && '),
    ("flux", '"^old"'),
    ("lsf", '#BSUB -R "select[ib && hname!=n1 && !old]"'),
    ("sbatch", "#SBATCH --exclude=n1"),
    ("sge", "#$ -l ib=TRUE"),
    ("sge", "#$ -l h=!n1"),
])  # fmt: skip
def test_what_is_requested_beside_stands_there_too(target, line):
    asked = (
        '<Feature>ib</Feature><Processors group="1">4</Processors><Node op="NE">n1</Node>'
        '<Feature op="NE" group="-1">old</Feature><Processors conj="Or">8</Processors>'
    )
    text, _ = written(target, PLACES["job"], asked)
    assert line in text


def test_what_is_said_as_a_whole_is_not_demanded_by_itself_too():
    either = '<Feature op="NE" conj="Nand">a</Feature><Feature conj="Or">b</Feature>'
    text, told = written("lsf", PLACES["job"], either)
    assert '"select[(!(!a) || b)]"' in text
    assert told == written("lsf", PLACES["job"], "<Feature>c</Feature>")[1]


def test_of_each_part_the_branch_is_written():
    numbers = (
        '<{0} group="2">4</{0}><Feature op="NE" group="-1">{1}</Feature>'
        '<{0} conj="Or" group="-1">8</{0}>'
    )
    both = numbers.format("Processors", "a") + numbers.format("Memory", "b")
    text, told = written("lsf", PLACES["job"], both)
    assert '-R "select[!a && !b]"' in text
    assert not [path for path, *_ in told if "Feature" in path]


@pytest.mark.parametrize("target", TARGETS)
def test_the_only_group_may_choose_where_its_job_has_nothing_to_choose(target):
    choice = '<Feature group="1">a</Feature><Feature conj="Or" group="-1">b</Feature>'
    group = f"<TaskGroup><Requested>{choice}</Requested></TaskGroup>"
    beside = "<Requested><Processors>2</Processors>{}</Requested>"
    text, told = written(target, "{}", beside.format("") + group)
    plain, then = written(target, "{}", beside.format(choice))
    assert text == plain
    assert [each[1:] for each in told] == [each[1:] for each in then]


# Each as what cannot hold together, with places for brackets.
IMPOSSIBLE = {
    "there and not there": "<Feature{0} op='NE'>ssd</Feature><Feature{1}>ssd</Feature>",
    "two queues": "<Queue{0}>short</Queue><Queue{1}>long</Queue>",
    "a queue and not": "<Queue{0}>short</Queue><Queue op='NE'{1}>short</Queue>",
    "two architectures": "<Architecture{0}>a</Architecture><Architecture{1}>b</Architecture>",
    "a node and not": "<Node{0}>n1</Node><Node op='NE'{1}>n1</Node>",
    "more and less": "<Memory op='GE'{0}>9</Memory><Memory op='LE'{1}>1</Memory>",
    "two numbers": "<Resource name='GPU'{0}>1</Resource><Resource name='GPU'{1}>2</Resource>",
}
OPENS, CLOSES = " group='2'", " group='-1'"
HOLDS = '<Feature conj="Or">old</Feature><Duration group="-1">7200</Duration>'


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("said", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
@pytest.mark.parametrize("target", TARGETS)
def test_an_alternative_that_cannot_hold_is_not_written(target, said, place):
    alone = written(target, place, "<Feature>old</Feature><Duration>7200</Duration>")
    assert written(target, place, said.format(OPENS, CLOSES) + HOLDS) == alone


def test_each_alternative_that_is_written_can_hold():
    either = IMPOSSIBLE["two queues"].format(OPENS, CLOSES) + HOLDS
    job = loads(JOB.format(PLACES["job"].format(either)))
    assert alternatives(job) == 1
    assert "--constraint=old" in translate(job, "sbatch", alternative=0).text


@pytest.mark.parametrize("place", [PLACES["job"], PLACES["group"]])
@pytest.mark.parametrize("target, said", [
    ("lsf", "there and not there"), ("condor", "there and not there"), ("lsf", "two queues"),
    ("condor", "two architectures"), ("sbatch", "a node and not"), ("flux", "a node and not"),
])  # fmt: skip
def test_where_none_can_hold_the_first_is_written_and_that_is_told(target, said, place):
    asked = IMPOSSIBLE[said].format("", "")
    _, told = written(target, place, asked)
    assert [reason for *_, reason, _ in told if "cannot hold together" in reason]
    # Whoever asks for the like again is told it again: no outline is learnt of it.
    assert written(target, place, asked)[1] == told
