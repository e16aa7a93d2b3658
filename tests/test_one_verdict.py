"""What is impossible of a request, in the words of everybody who is asked (1121, 1122)."""

import re

import pytest
from click.testing import CliRunner

from sssjob import loads
from sssjob.amounts import Scope
from sssjob.cli import sssjob
from sssjob.layout import feasible, layouts
from sssjob.registry import all_targets
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, Untranslatable, contradictions, engine, translate
from sssjob.translate.outlines import Outlines

TARGETS = sorted(all_targets().keys() - {"sss", "dagman"})
JOB = (
    '<Job awarenessPolicy="Reject"><Id>1</Id><Executable>/bin/date</Executable>'
    "{}<Requested>{}</Requested></Job>"
)
OFFERS = '[{"Node": "n1", "Processors": 8}, {"Node": "n2", "Processors": 8}]'
CONTRARY = 'op="NE" aggregation="List" count="2"'

# Of two alternatives one cannot be met.
ONE_OF_TWO = {
    "processors that tasks do not share":
        ("<TaskCount>4</TaskCount>", '<Node>n1</Node><Processors conj="Or">3</Processors>'),
    "more nodes than a List has":
        ("", '<NodeCount>1</NodeCount><Node aggregation="List" count="2" conj="Or">n2</Node>'),
    "no node": ("", '<NodeCount op="LT">1</NodeCount><NodeCount conj="Or">1</NodeCount>'),
    "no processor": ("", '<Processors>0</Processors><Processors conj="Or">1</Processors>'),
    "up to no node": ("", '<NodeCount op="LE">0</NodeCount><NodeCount conj="Or">1</NodeCount>'),
    "not one or more": ("", '<Node>n1</Node><NodeCount op="GE" conj="Nor">1</NodeCount>'),
    "two numbers": ("", (
        '<NodeCount>2</NodeCount><NodeCount group="1">1</NodeCount>'
        '<Processors conj="Or" group="-1">2</Processors>'
    )),
    "a node that is excluded": ("", (
        '<Node>n1</Node><Node group="1" conj="Or">n2</Node><Node op="NE" group="-1">n2</Node>'
    )),
}  # fmt: skip
# The same where nothing else is asked for.
NONE = {
    "processors that tasks do not share":
        ("<TaskCount>4</TaskCount>", "<Processors>3</Processors>"),
    "more nodes than a List has": ("", '<Node aggregation="List" count="2">n2</Node>'),
    "more nodes than different names": ("", '<Node aggregation="Range" count="2">n[1,1]</Node>'),
    "a node that is excluded": ("", '<Node>n2</Node><Node op="NE">n2</Node>'),
}  # fmt: skip
NO_NUMBER = {
    "no node": '<NodeCount op="LT">1</NodeCount>',
    "up to no node": '<NodeCount op="LE">0</NodeCount>',
    "none": "<NodeCount>0</NodeCount>",
    "no processor": '<Processors op="LT">1</Processors>',
    "no number between": '<NodeCount op="GT">2</NodeCount><NodeCount op="LT">3</NodeCount>',
}
# What is not wanted has no count, and that of a single name is none of nodes.
USELESS = {
    "a List": f"<Node {CONTRARY}>n2</Node>",
    "beside a name": f"<Node>n1</Node><Node {CONTRARY}>n2</Node>",
    "a Pattern": '<Node op="NE" aggregation="Pattern" count="2">n2</Node>',
    "instances": '<Node count="2">n1</Node>',
}


@pytest.fixture
def asked(tmp_path):
    """What a command says of a job: its exit code, and its messages."""
    (tmp_path / "offers.json").write_text(OFFERS)

    def ask(command, own, inner):
        path = tmp_path / "job.xml"
        path.write_text(JOB.format(own, inner))
        offers = ["--offers", str(tmp_path / "offers.json")] if command == "place" else []
        done = CliRunner().invoke(sssjob, [command, str(path), *offers])
        return done.exit_code, done.stderr + done.stdout * (command == "validate")

    return ask


def met_by(job):
    """The alternatives of a job that can be met."""
    return Scope(job, "/Job").alternatives


def refusing(job):
    """The targets that refuse a job, ads among them."""

    def is_refused(target):
        try:
            translate(job, target)
        except (Untranslatable, ValueError):
            return True
        return False

    ad = [] if all(made.runs for made in to_ads(job)) else ["ad"]
    return [*filter(is_refused, TARGETS), *ad]


@pytest.mark.parametrize("own, inner", ONE_OF_TWO.values(), ids=ONE_OF_TWO)
def test_an_alternative_that_cannot_be_met_is_left_out(asked, own, inner):
    for command in ("validate", "layout", "place"):
        code, _ = asked(command, own, inner)
        assert code == 0, command
    found = layouts(loads(JOB.format(own, inner)))
    assert len(found.layouts) == 1
    assert found.layouts[0].holds


@pytest.mark.parametrize("own, inner", ONE_OF_TWO.values(), ids=ONE_OF_TWO)
def test_layout_place_and_a_check_warn_of_an_alternative_that_is_left_out(asked, own, inner):
    for command in ("validate", "layout", "place"):
        _, told = asked(command, own, inner)
        assert "warning: " in told
        assert "error: " not in told


@pytest.mark.parametrize("own, inner", NONE.values(), ids=NONE)
def test_what_cannot_be_met_in_any_alternative_is_an_error(asked, own, inner):
    for command in ("validate", "layout", "place"):
        code, told = asked(command, own, inner)
        assert code == 1, command
        assert "error: " in told
    refused = refusing(loads(JOB.format(own, inner)))
    assert refused == [*TARGETS, "ad"]


@pytest.mark.parametrize("inner", NO_NUMBER.values(), ids=NO_NUMBER)
def test_what_leaves_no_number_is_told_of_by_all(asked, inner):
    assert [asked(command, "", inner)[0] for command in ("layout", "place")] == [1, 1]
    code, told = asked("validate", "", inner)
    assert code == 0
    assert "W-UNSAT" in told
    assert refusing(loads(JOB.format("", inner))) == [*TARGETS, "ad"]


@pytest.mark.parametrize("inner", USELESS.values(), ids=USELESS)
def test_a_count_of_no_set_that_is_wanted_says_nothing(asked, inner):
    for command in ("validate", "layout", "place"):
        code, told = asked(command, "", inner)
        assert code == 0, command
        assert ("W-USELESS" in told) is (command == "validate" and "NE" in inner)
    plainly = inner.replace(' count="2"', "")
    assert refusing(loads(JOB.format("", inner))) == refusing(loads(JOB.format("", plainly)))


GROUP = (
    "<TaskGroup><TaskCount>{}</TaskCount><Requested><NodeCount>{}</NodeCount></Requested>"
    "</TaskGroup>"
)
ALIKE = {  # jobs that differ in a number alone: that holds, and that does not
    "plain": (
        ("<TaskCount>4</TaskCount>", "<NodeCount>2</NodeCount>"),
        ("<TaskCount>4</TaskCount>", "<NodeCount>5</NodeCount>"),
    ),
    "in a task group": ((GROUP.format(4, 2), ""), (GROUP.format(4, 5), "")),
    "in one of several": (
        (GROUP.format(4, 2) + GROUP.format(3, 3), ""),
        (GROUP.format(4, 2) + GROUP.format(3, 4), ""),
    ),
    "in an attribute": (
        ("", '<Node aggregation="List" count="2">n1,n2</Node>'),
        ("", '<Node aggregation="List" count="3">n1,n2</Node>'),
    ),
    "by a Task": (
        ("<Task><Node>n1</Node></Task>", "<NodeCount>1</NodeCount>"),
        ("<Task><Node>n1</Node></Task><Task><Node>n2</Node></Task>", "<NodeCount>1</NodeCount>"),
    ),
}  # fmt: skip


@pytest.fixture
def forget(monkeypatch):
    """Forget which jobs were translated, and what is known of them."""

    def forgetting():
        monkeypatch.setattr(feasible, "_known", {})
        monkeypatch.setattr(contradictions, "_agreeing", {})
        monkeypatch.setattr(engine, "_OUTLINES", Outlines())

    return forgetting


@pytest.mark.parametrize("both", ALIKE.values(), ids=ALIKE)
def test_what_is_known_of_one_job_says_nothing_of_another(forget, both):
    def told(own, inner):
        job = loads(JOB.format(own, inner).replace("Reject", "Warn"))
        made = translate(job, "slurm")
        return [made.text, *((loss.path, loss.reason) for loss in made.losses)]

    alone = []
    for own, inner in both:
        forget()
        alone.append(told(own, inner))
    assert alone[0] != alone[1]
    for first, second in ((0, 1), (1, 0)):
        forget()
        for at in (first, first, second, second, first):
            assert told(*both[at]) == alone[at]


def test_a_choice_that_another_job_can_meet_is_judged_by_what_stands_beside_it():
    chosen = '<NodeCount>4</NodeCount><NodeCount conj="Or">2</NodeCount>'
    for tasks, wanted in ((4, "4"), (2, "2"), (8, "4"), (3, "2")):
        job = loads(JOB.format(f"<TaskCount>{tasks}</TaskCount>", chosen))
        assert f"--nodes={wanted}\n" in translate(job, "slurm").text


def test_names_that_are_long_are_judged_and_not_kept():
    many = ",".join(f"node-of-a-long-name-{number}" for number in range(1000))
    before = len(feasible._known)
    for count, left in ((2, 2), (1001, 1)):
        node = f'<Node aggregation="List" count="{count}">{many}</Node>'
        job = loads(JOB.format("", f'{node}<Node conj="Or">n1</Node>'))
        assert len(met_by(job)) == left
    assert len(feasible._known) == before


TWO_LISTS = (
    '<Node aggregation="List" count="2">n1</Node>'
    '<Node conj="Or" aggregation="List" count="3">n2</Node>'
)
TWO_OF_THREE = (
    '<NodeCount>3</NodeCount><Node group="1">n1</Node><Node conj="Or" group="-1">n2</Node>'
)


@pytest.mark.parametrize(
    "tasks, inner, is_whole",
    [
        pytest.param("", TWO_LISTS, True, id="none has a layout"),
        pytest.param("<TaskCount>2</TaskCount>", TWO_OF_THREE, True, id="none has one by tasks"),
        pytest.param("<TaskCount>3</TaskCount>", TWO_OF_THREE, False, id="more nodes than names"),
    ],
)
def test_nodes_of_alternatives_without_a_layout_are_no_names_to_choose_from(tasks, inner, is_whole):
    """A node is asked to be one of the names, unless more nodes are wanted of them."""
    made = translate(loads(JOB.format(tasks, inner).replace("Reject", "Warn")), "lsf")
    assert ("select[(hname==n1 || hname==n2)]" in made.text) is is_whole
    assert any("Node" in loss.path for loss in made.losses)


@pytest.mark.parametrize("inner", [
    '<Duration op="LT">1</Duration>', '<Duration op="LE">0</Duration>', "<Duration>0</Duration>",
])  # fmt: skip
def test_a_time_that_no_job_can_have_is_told_of_and_refused(asked, inner):
    code, told = asked("validate", "", inner)
    assert (code, told.count("W-UNSAT"), "write Or" in told) == (0, 1, False)
    assert refusing(loads(JOB.format("", inner))) == [*TARGETS, "ad"]


# decision 1136
@pytest.mark.parametrize("own, inner, tasks", [
    ("<TaskDistribution type='TasksPerNode'>1</TaskDistribution>",
     '<Processors op="LE">4</Processors><NodeCount>2</NodeCount>', 2),
    ("<TaskDistribution type='TasksPerNode'>1</TaskDistribution>",
     '<Processors op="LE">4</Processors><Node aggregation="List" count="2">n2,n3,n1</Node>', 2),
    ("<TaskDistribution type='TasksPerNode'>2</TaskDistribution>",
     '<Processors op="LE">4</Processors><NodeCount>2</NodeCount>', 4),
    ("<TaskDistribution type='TasksPerNode'>8</TaskDistribution>",
     '<Processors op="LE">4</Processors><NodeCount>2</NodeCount>', 4),
])  # fmt: skip
def test_no_more_tasks_are_counted_than_nodes_have_room_for(asked, own, inner, tasks):
    job = loads(JOB.format(own, inner))
    [found] = layouts(job).layouts
    assert (found.tasks.value, found.nodes.value, found.holds) == (tasks, 2, True)
    assert asked("validate", own, inner)[0] == 0
    warned = loads(JOB.format(own, inner).replace("Reject", "Warn"))
    text = translate(warned, "sbatch").text
    assert f"--nodes=2\n#SBATCH --ntasks={tasks}\n" in text


@pytest.mark.parametrize("target", ["lsf", "flux", "condor", "sbatch", "pbs", "slurmrest"])
def test_a_name_that_stands_only_where_nothing_can_be_met_is_not_asked_for(target):
    inner = '<Node>n1</Node><Node aggregation="List" count="3" conj="Or">n2</Node>'
    job = loads(JOB.format("", inner).replace("Reject", "Warn"))
    assert "n2" not in translate(job, target, Settings(residual=False)).text


NOT_NONE_OF = '<Node aggregation="List" op="NE" conj="Nand">{}</Node>'


# decision 1138
@pytest.mark.parametrize("inner", [
    "<NodeCount>3</NodeCount>" + NOT_NONE_OF.format("n1,n2"),
    "<NodeCount>2</NodeCount>" + NOT_NONE_OF.format("n1,n2") + NOT_NONE_OF.format("n2,n3"),
    '<Node op="NE">n3</Node>' + NOT_NONE_OF.format("n3,n2")
    + '<Node aggregation="Range" conj="Nand">n[2-2]</Node>',
])  # fmt: skip
def test_no_more_nodes_are_had_than_names_of_which_each_is_one(asked, inner):
    for command in ("validate", "layout", "place"):
        code, told = asked(command, "", inner)
        assert (code, "nodes are wanted of a set of" in told) == (1, True), command
    assert refusing(loads(JOB.format("", inner))) == [*TARGETS, "ad"]
    fewer = inner.replace(">3</NodeCount>", ">2</NodeCount>").replace(">2<", ">1<", 1)
    for command in ("validate", "layout", "place") if "NodeCount" in inner else ():
        assert asked(command, "", fewer)[0] == 0


# decision 1139
@pytest.mark.parametrize("target, both, one", [
    ("flux-canonical", '"count": "1,2"', '"count": 1'),
    ("jsdl", "Exact>1<,Exact>2<", "Exact>1<"),
])  # fmt: skip
def test_a_number_of_nodes_that_cannot_be_met_is_none_to_choose(target, both, one):
    several = "<NodeCount>3</NodeCount>" + '<NodeCount conj="Or">{}</NodeCount>' * 2
    for inner, counts in ((several.format(2, 1), both), (several.format(1, 1), one)):
        job = loads(JOB.format("<TaskCount>2</TaskCount>", inner).replace("Reject", "Warn"))
        text = translate(job, target, Settings(residual=False)).text
        written = re.findall('Exact>[0-9]<|"count": "[0-9,]+"|"count": [0-9]', text)
        assert ",".join(dict.fromkeys(written)).startswith(counts)
        assert "3" not in "".join(written)


def test_sge_takes_no_number_of_the_hosts_of_a_set():
    counted = '<Node aggregation="List" count="1">n4,n2</Node>'
    for tasks, is_refused in ((2, True), (1, False)):
        job = loads(JOB.format(f"<TaskCount>{tasks}</TaskCount>", counted))
        assert ("sge" in refusing(job)) is is_refused


def test_one_task_is_one_process_of_jsdl():
    job = loads(JOB.format("<TaskCount>1</TaskCount>", "<NodeCount>1</NodeCount>"))
    assert "jsdl" not in refusing(job)
