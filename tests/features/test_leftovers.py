# ruff: noqa: E501 (what systems print, a case a line)
"""Directories of jobs that are no longer on the node go; all others stay, whatever happens."""

import os
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import UnusableInput
from sssjob.features.batch import leftovers
from sssjob.features.batch.directories import MACHINE, Directories, make_machine, standing
from sssjob.features.read import read
from sssjob.registry import systems

VALUES = {"job_id": "3", "allocated_cpu": 2}


class Asked:
    """A batch system that was asked: what it answers, and what happens meanwhile."""

    system = "slurm"

    def __init__(self, present, meanwhile=lambda: None):
        self.answer, self.meanwhile = present, meanwhile

    def present(self, node, notes):
        self.meanwhile()
        return self.answer


@pytest.fixture
def root(safe_path):
    place = safe_path / "mjf"
    for job in ("3", "4", "5.2", "6[7].server"):
        Directories(place, job).make(VALUES)
    make_machine(place, {"total_cpu": 8})
    (place / "notes").mkdir()
    (place / "12").mkdir()
    return place


def sweep(*given, **options):
    """A sweep where nothing was kept."""
    return leftovers.sweep(*given, fold=None, **options)


def test_what_is_not_of_a_job_that_the_node_has_is_removed(root):
    done = sweep(Asked(frozenset({"4"})), root)
    assert done == leftovers.SweptJobs(("3", "5.2", "6[7].server"))
    # A directory without features is not of a job, whatever its name is.
    assert sorted(os.listdir(root)) == ["12", "4", MACHINE, "notes"]
    assert read(root / "4/jobfeatures").values == VALUES


def test_a_dry_run_removes_nothing(root):
    done = sweep(Asked(frozenset()), root, dry_run=True)
    assert done.removed == ("3", "4", "5.2", "6[7].server")
    assert sorted(standing(root)) == sorted(done.removed)


def test_where_the_batch_system_says_nothing_all_stays(root):
    with pytest.raises(UnusableInput, match="slurm does not say which jobs are on node n1"):
        sweep(Asked(None), root, "n1")
    assert len(standing(root)) == 4


def test_where_no_job_has_been_nothing_is_asked(safe_path):
    assert sweep(Asked(None), safe_path / "none") == leftovers.SweptJobs(())


def test_a_job_that_starts_meanwhile_keeps_its_directory(root):
    def again():
        Directories(root, "3").make({**VALUES, "allocated_cpu": 9})
        Directories(root, "8").make(VALUES)

    done = sweep(Asked(frozenset(), again), root)
    assert done.removed == ("4", "5.2", "6[7].server")
    assert sorted(standing(root)) == ["3", "8"]
    assert read(root / "3/jobfeatures").values["allocated_cpu"] == 9


@pytest.mark.parametrize("call", ["open", "rename", "fstat", "listdir"])
def test_a_prolog_at_any_step_of_the_sweeper_keeps_its_directory(root, monkeypatch, call):
    """Before each call of the sweeper once, a prolog makes the directory of job 3 anew."""
    genuine = getattr(os, call)
    for nth in range(1, 200):
        seen = standing(root)["3"]
        count = 0

        def prolog(*arguments, nth=nth, **keywords):
            nonlocal count
            count += 1
            if count == nth:
                monkeypatch.setattr(os, call, genuine)
                Directories(root, "3").make({**VALUES, "allocated_cpu": 100 + nth})
            return genuine(*arguments, **keywords)

        monkeypatch.setattr(os, call, prolog)
        with suppress(OSError):
            Directories(root, "3").remove_leftover(seen)
        monkeypatch.setattr(os, call, genuine)
        if count < nth:
            break
        assert read(root / "3/jobfeatures").values["allocated_cpu"] == 100 + nth
    else:
        raise AssertionError("the sweeper takes more steps than this test looks at")
    assert nth > 1 or call == "listdir"


def test_what_a_prolog_that_was_killed_left_goes_too(root):
    """Also where there is no job that a batch system need be asked of."""
    rest = ".sssjob-00000039-0"
    for place in (root, root.parent / "other"):
        (place / rest / "jobstatus").mkdir(parents=True)
    done = sweep(Asked(frozenset({"4"})), root, dry_run=True)
    assert done.removed == (rest, "3", "5.2", "6[7].server")
    assert (root / rest).exists()
    assert sweep(Asked(frozenset({"4"})), root).removed == (rest, "3", "5.2", "6[7].server")
    assert not (root / rest).exists()
    assert sweep(Asked(None), root.parent / "other").removed == (rest,)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_status_with_a_file_system_of_its_own_goes_too(root):
    directories = Directories(root, "9")
    if directories.make(VALUES, "", 1 << 16):
        pytest.skip("nothing can be mounted here")
    (directories.jobstatus / "used_CPU").write_text("1\n")
    assert "9" in sweep(Asked(frozenset()), root).removed
    assert not directories.job.exists()


# What systems print of the jobs on node n1, and their ids; None where not all are said.
NODE = "NodeName=n1 Arch=x86_64 CPUTot=8 CPUEfctv=8\n"
QUEUES = "<job_info><queue_info>{}</queue_info></job_info>"
QUEUE = "<Queue-List><name>main.q@n1</name>{}</Queue-List>"
JOB = "<job_list state='running'><JB_job_number>{}</JB_job_number>{}</job_list>"
# fmt: off
PRINTED = [
    ("slurm", {"node": NODE, "ids": "3\n12\n"}, {"3", "12"}),
    ("slurm", {"node": NODE, "ids": ""}, set()),
    ("slurm", {"node": "", "ids": "3\n"}, None),
    ("slurm", {"node": NODE.replace("n1", "n2"), "ids": ""}, None),
    ("slurm", {"node": NODE, "ids": "slurm_load_jobs error\n"}, None),
    ("gridengine", {"jobs": QUEUES.format(QUEUE.format(JOB.format(7, "") + JOB.format(8, "<tasks>3</tasks>")))}, {"7", "8.3"}),
    ("gridengine", {"jobs": QUEUES.format(QUEUE.format(""))}, set()),
    ("gridengine", {"jobs": QUEUES.format("")}, None),
    ("gridengine", {"jobs": "error: commlib error"}, None),
    ("pbs", {"node": "n1\n     state = free\n     np = 8\n     jobs = 0/12.server.x.org, 1/12.server.x.org, 2/13[4].server.x.org\n"}, {"12.server.x.org", "13[4].server.x.org"}),
    ("pbs", {"node": "n1\n     np = 8\n     jobs = 0-3/12.s,5/13.s,6,7/14.s\n"}, {"12.s", "13.s", "14.s"}),
    ("pbs", {"node": "n1\n     Mom = n1\n     jobs = 12.s/0, 12.s/1, 13.s/2\n"}, {"12.s", "13.s"}),
    ("pbs", {"node": "n1\n     state = free\n"}, set()),
    ("pbs", {"node": "n1\n     jobs = what\n"}, None),
    ("pbs", {"node": "pbsnodes: Unknown node\n"}, None),
    ("pbs", {"node": "n1\n     np = 1\nn2\n     np = 1\n"}, None),
]
# fmt: on


@pytest.mark.parametrize(("system", "answers", "ids"), PRINTED)
def test_the_jobs_of_a_node_are_read_of_what_systems_print(system, answers, ids):
    script = systems()[system].load("script")((), {})
    assert set(answers) == set(script.listings("n1"))
    assert script.present("n1", answers) == (None if ids is None else frozenset(ids))


@pytest.mark.parametrize("system", sorted(name for name, row in systems().items() if row.script))
@given(st.text(max_size=60))
def test_a_node_of_an_odd_name_is_asked_of_nobody(system, name):
    script = systems()[system].load("script")((), {})
    words = [word for command in script.listings(name).values() for word in command]
    assert not any(word.startswith(name) for word in words if name.startswith("-"))
    assert not any("\n" in word or " " in word for word in words)
