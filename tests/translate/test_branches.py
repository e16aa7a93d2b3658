"""The alternative that is written is written as if nothing else were requested (decision 1025)."""

import pytest

from sssjob.document import loads
from sssjob.registry import all_targets
from sssjob.translate import Settings, translate

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


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("target", TARGETS)
def test_an_alternative_is_written_as_one_that_is_alone(target, said, place):
    alone = written(target, place, f"<Processors>4</Processors>{said.format('')}")
    first = f'<Processors group="1">4</Processors>{said.format(ENDS)}'
    assert written(target, place, f'{first}<Processors conj="Or">8</Processors>') == alone


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
