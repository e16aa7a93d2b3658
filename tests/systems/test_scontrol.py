"""Records of scontrol: what users write into them changes nothing, or makes it unknown."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.systems.slurm.scontrol import JobRecord, heads, processors

DATA = Path(__file__).parents[1] / "data/batch"
ONE, TASK, ARRAY, HET, ODD = (
    (DATA / f"scontrol-{name}.txt").read_text()
    for name in ("one-node", "array-task", "array", "het", "odd")
)
RUN = (
    "x JobState=RUNNING Reason=None TimeLimit=9-00:00:00 Nodes=n1 CPU_IDs=0-99 Mem=9 MinCPUsNode=1"
)


def named(name):
    return ONE.replace("JobName=simple", f"JobName={name}")


def commented(comment):
    return ONE.replace("WorkDir=/home/slurm-lab", f"WorkDir=/home/slurm-lab Comment={comment}")


def known(printed):
    record = JobRecord(printed)
    return record.is_whole, record.words("TimeLimit"), record.parts()


def test_the_words_of_a_record_are_those_of_the_controller():
    assert known(ONE) == (True, {"00:10:00"}, {(("n1", "4", 100),)})
    assert JobRecord(ONE).head.job == "3"


@pytest.mark.parametrize(
    "text",
    [
        "x TimeLimit=9-00:00:00 Nodes=n[1-2] CPU_IDs=0-5 Mem=9",
        "x\nJobId=3 JobName=y UserId=alice(1001) GroupId=alice(1001)",
        "a=b = c",
        "JobId=99",
        "\n\n",
        "JobState=RUNNING",
        "UserId=root(0) GroupId=root(0) MCS_label=N/A",
        "Features=x Comment=y MinCPUsNode=0 MinMemoryCPU=1M",
    ],
)
@pytest.mark.parametrize("put", [named, commented], ids=["name", "comment"])
def test_a_name_or_comment_changes_nothing(put, text):
    assert known(put(text)) == known(ONE)


@pytest.mark.parametrize("put", [named, commented], ids=["name", "comment"])
def test_what_a_whole_imitation_differs_in_is_not_known(put):
    record = JobRecord(put(RUN))
    assert record.is_whole
    assert record.words("TimeLimit") == {"00:10:00", "9-00:00:00"}
    assert len(record.parts()) == 2


@pytest.mark.parametrize(
    "text",
    ["x JobState=RUNNING Reason=None", f"{RUN} {RUN.partition(' Nodes')[0]}", f"{RUN} " * 70],
    ids=["a beginning", "one and a half", "many"],
)
@pytest.mark.parametrize("put", [named, commented], ids=["name", "comment"])
def test_an_imitation_that_breaks_off_leaves_nothing_known(put, text):
    assert not JobRecord(put(text)).is_whole


def test_a_word_that_stands_twice_leaves_nothing_known():
    # AllocNode is what a client calls itself.
    led = ONE.replace("AllocNode:Sid=localhost", "AllocNode:Sid=localhost NumNodes=1")
    assert not JobRecord(led).is_whole


def test_an_end_among_the_words_of_the_controller_is_seen():
    led = ONE.replace(
        "AllocNode:Sid=localhost", "AllocNode:Sid=x Nodes=n1 CPU_IDs=0-99 Mem=9 MinCPUsNode=1"
    )
    assert len(JobRecord(led).parts()) == 2


def test_a_reason_of_several_words_is_one_text():
    record = JobRecord(ONE.replace("Reason=None", "Reason=node is drained, ask us"))
    assert record.words("Reason") == {"node is drained, ask us"}
    assert record.is_whole


def test_line_ends_in_names_make_no_records_of_their_own():
    assert known(ODD) == (True, {"00:02:00"}, {(("n1", "3-4", 80),)})
    assert JobRecord(ODD).head.job == "4"


def test_the_last_word_of_a_part_may_be_its_memory():
    assert JobRecord(ONE.replace(" GRES= ", " ")).parts() == {(("n1", "4", 100),)}


def test_both_forms_of_scontrol_are_read():
    lines = ONE.replace(" Priority=", "\n   Priority=").replace(" JobState=", "\n   JobState=")
    assert known(lines.replace(" Nodes=", "\n     Nodes=")) == known(ONE)


@pytest.mark.parametrize(
    ("printed", "alone"),
    [(ONE, ["3"]), (TASK, ["1_3"]), (ARRAY, ["1_3", "3", "2"]), (HET, ["2+0", "3"])],
    ids=["one", "task", "array", "het"],
)
def test_a_head_tells_under_which_id_its_job_is_shown_alone(printed, alone):
    assert [head.alone for head in heads(printed)] == alone


def test_an_array_whose_tasks_wait_has_no_job_of_its_id():
    waiting = ARRAY.replace("ArrayTaskId=3 ", "ArrayTaskId=3-5%2 ArrayTaskThrottle=2 ")
    assert heads(waiting)[0].alone == "1"


@given(st.text(), st.text())
def test_any_text_is_read(name, rest):
    JobRecord(named(name) + rest)
    heads(rest)


# Nodes

NODE, RESERVED = ((DATA / f"scontrol-{name}.txt").read_text() for name in ("node", "node-reserved"))


@pytest.mark.parametrize(
    ("printed", "node", "count"),
    [
        (NODE, "n1", 8),
        (RESERVED, "n2", 6),
        (RESERVED.replace("CPUEfctv=6 ", ""), "n2", 6),  # before 21.08
        (NODE.replace("CPUEfctv=8 ", ""), "n1", 8),
        (RESERVED.replace("CPUEfctv=6 ", "").replace("ThreadsPerCore=2 ", ""), "n2", None),
        (NODE.replace("AllocTRES= ", "Comment=x CPUEfctv=99 CoreSpecCount=1 "), "n1", 8),
        (NODE.replace("CPUEfctv=8 ", "") + "   Reason=x CPUEfctv=99 [root@5]\n", "n1", 8),
        (NODE, "n2", None),
        ("Node n1 not found\n", "n1", None),
        ("", "n1", None),
    ],
)
def test_processors_for_jobs_are_those_that_are_not_kept_for_the_system(printed, node, count):
    assert processors(printed, node) == count


@given(st.text())
def test_any_text_about_a_node_is_read(text):
    processors(f"NodeName=n1 {text}", "n1")
