"""A job and its only task group are one: their alternatives are those of both together (1117)."""

import json
import re

import pytest
from click.testing import CliRunner

from sssjob import layout, loads
from sssjob.amounts import Scope
from sssjob.cli import sssjob
from sssjob.defaults import resolve
from sssjob.features.derive import derive
from sssjob.lcginfo.jobs import _processors
from sssjob.submission.at_once import submission
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, Untranslatable, engine, translate

JOB = '<Job awarenessPolicy="{}"><Id>1</Id><Executable>/bin/date</Executable>{}</Job>'
G_OR = '<Feature conj="Or">g</Feature>'
TARGETS = ("sbatch", "slurmrest", "pbs", "torque", "lsf", "flux", "condor", "psij")


def group(inner, name="a"):
    return f"<TaskGroup><Name>{name}</Name>{inner}</TaskGroup>"


def requested(inner):
    return f"<Requested>{inner}</Requested>"


def wholes(inner):
    """What each choice of a job and its only task group demands."""
    scope = Scope(loads(JOB.format("Warn", inner)), "/Job")
    return [str(each.whole)[1:-1] for each in scope.choices]


# Of the alternatives of one of the two the first contradicts what the other one says.
CONTRARY = {
    "the tasks of the job": (
        "<TaskCount>1</TaskCount>"
        + group(requested(f'<NodeCount op="GE">3</NodeCount>{G_OR}'))
    ),
    "the nodes of the job":
        "<NodeCount>3</NodeCount>" + group(requested(f"<Processors>2</Processors>{G_OR}")),
    "the names of the job": (
        '<Node aggregation="List">n1,n2</Node>'
        + group(requested(f"<NodeCount>3</NodeCount>{G_OR}"))
    ),
    "a TaskDistribution of the job": (
        '<TaskDistribution type="TasksPerNode">1</TaskDistribution>'
        + group("<TaskCount>3</TaskCount>" + requested(f"<NodeCount>2</NodeCount>{G_OR}"))
    ),
    "the tasks of the group":
        requested(f"<NodeCount>3</NodeCount>{G_OR}") + group("<TaskCount>2</TaskCount>"),
    "the nodes of Task elements of the group": (
        requested(f"<NodeCount>1</NodeCount>{G_OR}")
        + group("".join(f"<Task><Id>{each}</Id><Node>n{each}</Node></Task>" for each in range(2)))
    ),
    "a feature that the job says":
        "<Feature>f</Feature>" + group(requested(f'<Feature op="NE">f</Feature>{G_OR}')),
    "a feature that the job requests": (
        requested("<Feature>f</Feature>")
        + group(requested(f'<Feature op="NE">f</Feature>{G_OR}'))
    ),
}  # fmt: skip


@pytest.mark.parametrize("inner", CONTRARY.values(), ids=CONTRARY)
def test_an_alternative_that_contradicts_the_other_of_the_two_is_left_out(inner):
    assert [each.split(" And ")[-1] for each in wholes(inner)] == ["Feature EQ g"]


def losses(job, target):
    """What a target does not hold of a job, whether it is refused for that or written."""
    try:
        return translate(job, target).losses
    except Untranslatable as refused:
        return refused.losses


@pytest.mark.parametrize("policy", ["Reject", "Warn"])
@pytest.mark.parametrize("inner", CONTRARY.values(), ids=CONTRARY)
def test_each_target_and_ad_writes_the_alternative_that_can_be_met(policy, inner):
    job = loads(JOB.format(policy, inner))
    for target in TARGETS:
        other = {loss.value for loss in losses(job, target) if "alternative" in loss.reason}
        # A target that writes all of a choice has nothing to tell.
        assert len(other) == 1 or "feature" in inner.lower(), target
        assert "g" not in other, target
    [made] = to_ads(job)
    assert "Hasg" in str(made.ad.get("Requirements"))


@pytest.mark.parametrize("inner", CONTRARY.values(), ids=CONTRARY)
def test_a_layout_has_the_alternative_that_can_be_met_alone(tmp_path, inner):
    path = tmp_path / "job.xml"
    path.write_text(JOB.format("Reject", inner))
    done = CliRunner().invoke(sssjob, ["layout", "--json", str(path)])
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 1


# What a target cannot be asked for, or two processors.
REFUSED = '<Feature op="NE">f</Feature><Processors conj="Or">2</Processors>'
OF_REFUSED = {
    "all of the group": group(requested(REFUSED)),
    "all of the job": requested(REFUSED) + group("<Executable>/bin/date</Executable>"),
    "without a group": requested(REFUSED),
    "beside a wish of the job":
        requested('<Feature preference="-1">h</Feature>') + group(requested(REFUSED)),
}  # fmt: skip


@pytest.mark.parametrize("target", ["sbatch", "slurmrest", "pbs", "jsdl", "psij"])
@pytest.mark.parametrize("inner", OF_REFUSED.values(), ids=OF_REFUSED)
def test_the_next_alternative_is_written_where_reject_refuses_the_best(inner, target):
    written = translate(loads(JOB.format("Reject", inner)), target)
    other = [loss for loss in written.losses if "alternative" in loss.reason]
    assert [(loss.value, loss.refuses) for loss in other] == [("f", False)]


@pytest.mark.parametrize("inner", OF_REFUSED.values(), ids=OF_REFUSED)
def test_so_it_is_of_what_is_submitted(inner):
    made = submission(loads(JOB.format("Reject", inner)), "slurm")
    assert "--ntasks=2" in made.command


BOTH = (
    requested('<NodeCount>3</NodeCount><Feature conj="Or">g</Feature>')
    + group(requested('<Memory>4</Memory><Architecture conj="Or">x</Architecture>'))
)  # fmt: skip


def test_each_alternative_of_both_has_a_number():
    job = loads(JOB.format("Warn", BOTH))
    assert engine.alternatives(job) == 4
    made = [
        translate(job, "sbatch", Settings(residual=False), alternative=number)
        for number in range(4)
    ]  # fmt: skip
    lines = [re.findall(r"--(?:nodes|mem|constraint)\S*=\S+", str(each.text)) for each in made]
    assert [len(set(map(str, lines))), lines[0][0]] == [4, "--nodes=3"]


ALIKE = '<Processors>2</Processors><Feature conj="Or">g</Feature>'


def test_what_both_say_alike_is_one_choice():
    assert wholes(requested(ALIKE) + group(requested(ALIKE))) == ["Processors EQ 2", "Feature EQ g"]


def test_what_the_job_says_of_what_its_group_says_counts_in_no_alternative():
    inner = requested("<Processors>4</Processors>") + group(requested(ALIKE))
    assert wholes(inner) == ["Processors EQ 2", "Feature EQ g"]


def test_the_numbers_of_features_are_those_of_the_alternative_that_can_be_met(tmp_path):
    path = tmp_path / "job.xml"
    said = '<Node aggregation="List">n1,n2</Node>' + group(
        requested(f"<NodeCount>3</NodeCount>{G_OR}")
    )
    path.write_text(JOB.format("Reject", said))
    done = CliRunner().invoke(sssjob, ["features", "job", "--dry-run", str(path)])
    assert re.search(r"allocated_cpu\s+2\b", done.stdout), done.stdout
    laid = CliRunner().invoke(sssjob, ["layout", "--json", str(path)])
    assert json.loads(laid.stdout)["processors"] == 2


@pytest.mark.parametrize(
    "inner",
    [
        "<Feature>f</Feature>" + requested('<Feature op="NE">f</Feature>'),
        "<Feature>f</Feature>" + group(requested('<Feature op="NE">f</Feature>')),
        requested("<Feature>f</Feature>") + group(requested('<Feature op="NE">f</Feature>')),
        requested('<Feature>f</Feature><Feature op="NE">f</Feature>'),
    ],
)
def test_features_that_contradict_each_other_are_told_wherever_they_stand(inner):
    found = translate(loads(JOB.format("Warn", inner)), "condor").losses
    assert any("cannot hold together" in loss.reason for loss in found)


def found_of_ad(policy, inner):
    """The attributes of the ad of a job, whether it runs, and what was told."""
    [made] = to_ads(loads(JOB.format(policy, inner)))
    return made.ad, made.runs, [found.message for found in made.findings]


UNWANTED = '<Feature>f</Feature><Feature op="NE">f</Feature>'


@pytest.mark.parametrize(
    "inner", [requested(UNWANTED), "<Feature>f</Feature>" + group(requested(UNWANTED[20:]))]
)
def test_an_ad_tells_of_features_that_contradict_each_other(inner):
    _, runs, told = found_of_ad("Warn", inner)
    assert (runs, told) == (True, ["Feature EQ f and Feature NE f cannot hold together"])
    assert found_of_ad("Ignore", inner)[2] == []


def test_an_ad_of_several_groups_leaves_out_an_alternative_that_contradicts_itself():
    inner = group(requested(f'{UNWANTED}<Processors conj="Or">2</Processors>'))
    ad, runs, _ = found_of_ad("Warn", inner + group("<TaskCount>1</TaskCount>", "b"))
    assert (runs, ad["RequestCpus"]) == (True, 3)


SET = '<Node aggregation="{}">{}</Node>'
# One node of a set is wanted.
ONE_OF_A_SET = {
    "in brackets": (
        '<OperatingSystem group="1">M</OperatingSystem>'
        '<Node aggregation="Range" group="-1">n[2-4]</Node>'
    ),
    "without brackets": "<OperatingSystem>M</OperatingSystem>" + SET.format("Range", "n[2-4]"),
    "a List": "<OperatingSystem>M</OperatingSystem>" + SET.format("List", "n2,n3"),
}  # fmt: skip


@pytest.mark.parametrize("around", [str, group], ids=["job", "group"])
@pytest.mark.parametrize("inner", ONE_OF_A_SET.values(), ids=ONE_OF_A_SET)
def test_of_a_set_of_which_one_node_is_wanted_a_machine_may_be_any(inner, around):
    said = "<TaskCount>1</TaskCount>" + around(requested(inner))
    ad, runs, told = found_of_ad("Reject", said)
    assert (runs, told) == (True, [])
    assert "member" in str(ad["Requirements"])
    assert not any(
        loss.is_told for loss in translate(loads(JOB.format("Reject", said)), "condor").losses
    )


@pytest.mark.parametrize("around", [str, group], ids=["job", "group"])
@pytest.mark.parametrize("inner", ONE_OF_A_SET.values(), ids=ONE_OF_A_SET)
def test_where_more_nodes_of_a_set_are_wanted_one_machine_is_refused(inner, around):
    said = "<TaskCount>2</TaskCount>" + around(requested(inner))
    assert not found_of_ad("Reject", said)[1]
    with pytest.raises(Untranslatable):
        translate(loads(JOB.format("Reject", said)), "condor")


# Patterns that are no more than a name.
NO_SUCH_NODES = {
    "three of one name": '<NodeCount>3</NodeCount><Node op="Match">n1</Node>',
    "a name that is not wanted": (
        '<Node op="Match">n1</Node><Node aggregation="Pattern" conj="Nand">n[12]</Node>'
    ),
    "two names": '<Node op="Match">n1</Node><Node op="Match">n2</Node>',
}  # fmt: skip


@pytest.mark.parametrize("inner", NO_SUCH_NODES.values(), ids=NO_SUCH_NODES)
def test_a_pattern_that_is_a_name_is_one_node(tmp_path, inner):
    path = tmp_path / "job.xml"
    path.write_text(JOB.format("Reject", requested(inner)))
    for command in ("layout", "validate"):
        assert CliRunner().invoke(sssjob, [command, str(path)]).exit_code == 1
    assert not found_of_ad("Reject", requested(inner))[1]
    with pytest.raises(Untranslatable):
        translate(loads(path.read_text()), "condor")


@pytest.mark.parametrize("own, given", [(2, 3), (2, 1), (1, 4)])
@pytest.mark.parametrize("around", [str, requested], ids=["outside", "requested"])
def test_an_ad_asks_for_what_is_requested_and_not_for_what_was_delivered(around, own, given):
    said = around(f"<NodeCount>{own}</NodeCount>")
    delivered = f"<Delivered><NodeCount>{given}</NodeCount></Delivered>"
    names = ("MinHosts", "MaxHosts", "RequestCpus")
    with_it, without = (found_of_ad("Warn", each)[0] for each in (said + delivered, said))
    assert [with_it.get(name) for name in names] == [without.get(name) for name in names]


# What a job requests beside a group that says something by the same name, of which both count.
NAMED_BY_BOTH = {
    "another feature": (
        requested(f"<NodeCount>3</NodeCount>{G_OR}")
        + group(requested('<Processors>2</Processors><Feature conj="Or">f</Feature>'))
    ),
    "the same feature":
        requested(f"<NodeCount>3</NodeCount>{G_OR}") + group(requested("<Feature>g</Feature>")),
    "a feature outside of the request":
        requested(f"<NodeCount>3</NodeCount>{G_OR}") + group("<Feature>h</Feature>"),
    "memory, which counts for all tasks": (
        requested('<NodeCount>3</NodeCount><Memory conj="Or">4</Memory>')
        + group(requested("<Memory>2</Memory>"))
    ),
}  # fmt: skip
# What the group requests is joined to what its job says of all tasks.
OF_ITS_JOB = {
    "memory of all tasks": (
        requested("<Memory>4</Memory>")
        + group(requested('<NodeCount>3</NodeCount><Memory conj="Or">2</Memory>'))
    ),
    "a number of nodes of the group": (
        requested(f"<NodeCount>3</NodeCount>{G_OR}")
        + group(requested("<NodeCount>1</NodeCount>"))
    ),
}  # fmt: skip


def nodes_of(tmp_path, command, *options):
    path = tmp_path / "job.xml"
    done = CliRunner().invoke(sssjob, [command, *options, str(path)])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[0])


@pytest.mark.parametrize(
    "inner, nodes",
    [(each, 3) for each in NAMED_BY_BOTH.values()] + [(each, 1) for each in OF_ITS_JOB.values()],
    ids=[*NAMED_BY_BOTH, *OF_ITS_JOB],
)
def test_a_layout_has_what_counts_of_both(tmp_path, inner, nodes):
    job = loads(JOB.format("Warn", inner))
    (tmp_path / "job.xml").write_text(JOB.format("Warn", inner))
    laid = nodes_of(tmp_path, "layout", "--json")
    scope = Scope(job, "/Job")
    assert laid["nodes"] in (nodes, None if nodes == 1 else nodes)
    assert (scope.nodes_of_layout or 1) == nodes
    text = str(translate(job, "sbatch", Settings(residual=False)).text)
    assert ("--nodes=3" in text) == (nodes == 3)


@pytest.mark.parametrize("around", [str, group], ids=["job", "group"])
def test_an_amount_that_is_only_not_wanted_is_told_as_what_it_is(around):
    inner = around(requested('<Memory op="NE">2</Memory>'))
    told = {loss.value: loss.reason for loss in losses(loads(JOB.format("Warn", inner)), "condor")}
    assert told["2"] == "compared by NE"


# What a job joins to counts, and its only task group: the processors of the choice that is made.
JOINED = {
    "a range that the tasks are in": (
        requested('<Processors op="LE">8</Processors><Memory conj="Or">1</Memory>'),
        "<TaskCount>5</TaskCount>", 5,
    ),
    "a number that is not wanted": (
        requested('<Processors op="NE">8</Processors><Memory conj="Or">1</Memory>'),
        "<TaskCount>5</TaskCount>", 5,
    ),
    "a range in brackets": (
        requested('<Processors op="GE" group="1">2</Processors><Feature group="-1">f</Feature>'
                  + G_OR),
        "<TaskCount>5</TaskCount>", 5,
    ),
    "brackets that say nothing, and a wish": (
        requested('<Memory group="1">3</Memory><Processors op="GE" group="-1">2</Processors>'
                  '<Feature preference="-1">f</Feature>'),
        "<TaskCount>4</TaskCount>", 4,
    ),
    "alternatives of both": (
        requested(f"<Processors>2</Processors>{G_OR}"),
        requested('<Memory>3</Memory><Architecture conj="Or">A</Architecture>'), 2,
    ),
    "nodes of the job": (
        requested(f"<NodeCount>3</NodeCount>{G_OR}"), requested("<Feature>f</Feature>"), 3,
    ),
    "nodes of the job beside processors of a part of its group": (
        requested(f"<NodeCount>3</NodeCount>{G_OR}"),
        requested('<Processors>2</Processors><Architecture conj="Or">A</Architecture>'), 3,
    ),
    "more processors than tasks": (
        requested(f"<Processors>4</Processors>{G_OR}"), "<TaskCount>2</TaskCount>", 4,
    ),
    "a part that counts for nothing, as the group says the nodes": (
        requested('<Processors>4</Processors><NodeCount conj="Or">2</NodeCount>'),
        "<NodeCount>3</NodeCount>", 3,
    ),
    "a part that counts for nothing, as the group says the machine": (
        requested('<Processors>4</Processors><Architecture conj="Or">B</Architecture>'),
        requested("<Architecture>A</Architecture>"), 1,
    ),
}  # fmt: skip


# decision 1159
@pytest.mark.parametrize("own, theirs, number", JOINED.values(), ids=JOINED)
def test_counts_that_a_job_joins_to_something_are_those_of_its_only_group(own, theirs, number):
    job = loads(JOB.format("Warn", own + group(theirs)))
    effective = resolve(job).block
    (unit,) = layout.units(job)
    laid = layout.layouts(unit.block, unit.path).layouts
    assert number in [each.processors.value for each in laid]
    found = derive(effective, starting=True)
    assert found.values["allocated_cpu"] == number
    assert [each.code for each in found.findings if each.code == "W-DISAGREE"] == []
    assert _processors(Scope(effective, "/Job"), started=False) == number
