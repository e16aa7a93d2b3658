"""The conformance kit says what is wrong, with programs in the place of a batch system's."""

import json
import os

import pytest
from click.testing import CliRunner
from json_commands import keeps_to_its_schema

from sssjob.cli import sssjob
from sssjob.features.write import write

# sbatch and srun run the program at once, in the environment of a job.
AT_ONCE = """\
#!/bin/sh
export JOBFEATURES={0}/job MACHINEFEATURES={0}/machine JOBSTATUS={1}
export SLURM_JOB_ID=7 SLURM_CPUS_ON_NODE=2 SLURM_MEM_PER_NODE=64
cd {0}
{2}
"""
VALUES = {"job_id": "7", "allocated_cpu": 2, "max_rss_bytes": 64 << 20, "wall_limit_secs": 120}


@pytest.fixture
def site(safe_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{safe_path}/bin", prepend=os.pathsep)
    (safe_path / "bin").mkdir()
    (safe_path / "status").mkdir()
    write({"total_cpu": 4}, safe_path / "machine")
    return safe_path


def prove(site, values, *words, script="sh; rm -r $JOBFEATURES", status="status", case="simple"):
    write(values, site / "job")
    (site / "bin/sbatch").write_text(AT_ONCE.format(site, site / status, script))
    (site / "bin/sbatch").chmod(0o755)
    done = CliRunner().invoke(
        sssjob,
        ["features", "prove", "--for", "slurm", "--work", str(site), "--case", case, "--json",
         "--seconds", "3", *words],
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    for row in rows:
        keeps_to_its_schema("features prove", row)
    return done.exit_code, rows


def test_a_job_that_finds_what_the_system_says_holds(site):
    assert prove(site, VALUES) == (0, [{"case": "simple", "outcome": "holds", "why": []}])
    assert not list(site.glob("sssjob-proof-*"))


@pytest.mark.parametrize(
    ("values", "options", "why"),
    [
        ({"allocated_cpu": 3}, {}, "allocated_cpu is 3, but 2 by the system"),
        ({"job_id": "8"}, {}, "job_id is 8, but 7 by the system"),
        ({"wall_limit_secs": 60}, {}, "wall_limit_secs is 60, not 120"),
        ({"max_rss_bytes": 1}, {}, "max_rss_bytes is 1, but 67108864 by the system"),
        ({"allocated_cpu": 9}, {}, "allocated_cpu is 9 of a total_cpu of 4"),
        ({}, {"status": "none"}, "the job cannot write its $JOBSTATUS"),
        ({}, {"script": "unset JOBSTATUS; sh; rm -r $JOBFEATURES"}, "$JOBSTATUS is not set"),
        ({}, {"script": "unset MACHINEFEATURES; sh"}, "$MACHINEFEATURES is not set"),
        (
            {},
            {"script": "echo wall_limit_secs >$JOBFEATURES/.unknown; sh; rm -r $JOBFEATURES"},
            "the prolog could not learn wall_limit_secs",
        ),
        (
            {},
            {"script": "echo echo 7 >id; chmod +x id; PATH=.:$PATH sh; rm -r $JOBFEATURES"},
            "the job can write its $JOBFEATURES",
        ),
        ({}, {"case": "whole node"}, "allocated_cpu is 2 of a total_cpu of 4"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(site, values, options, why):
    code, (row,) = prove(site, {**VALUES, **values}, **options)
    assert (code, row["outcome"]) == (1, "wrong")
    assert any(why in each for each in row["why"]), row["why"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"script": "cat >/dev/null"}, "0 of 1 programs reported in time"),
        ({"case": "array"}, "1 of 3 programs reported in time"),
        ({"script": "sh"}, "still there: slurm did not say in time that the job has ended"),
    ],
)
def test_no_clock_says_that_anything_is_wrong(site, options, why):
    code, (row,) = prove(site, VALUES, *("--seconds", "1"), **options)
    assert (code, row["outcome"]) == (1, "not known")
    assert [why in each for each in row["why"]] == [True]


def answers(site, printed):
    """The node is known, and squeue runs what prints the ids of its jobs."""
    node = os.uname().nodename.partition(".")[0]
    shown = f"NodeName={node} CPUAlloc=0 CPUEfctv=8 CPUTot=8"
    for name, text in (("scontrol", f"echo '{shown}'"), ("squeue", printed)):
        (site / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (site / "bin" / name).chmod(0o755)


@pytest.mark.parametrize(
    ("printed", "outcome"),
    [
        ("true", "wrong"),
        # It completes, however long that takes; its epilog is the last of it.
        ("echo {0}; echo >>{1}/asked; [ $(wc -l <{1}/asked) -lt 2 ] || rm -rf {1}/job", "holds"),
        # The same id runs again at this moment: that is another directory.
        ("cp -r {1}/job {1}/new; rm -r {1}/job; mv {1}/new {1}/job; "
         "echo '#!/bin/sh\nrm -rf {1}/job; echo {0}' >{1}/bin/squeue", "holds"),
    ],
)  # fmt: skip
def test_what_is_left_is_wrong_when_the_system_says_that_the_job_has_ended(
    site, monkeypatch, printed, outcome
):  # fmt: skip
    monkeypatch.setattr("sssjob.features.batch.site_tests._EPILOG", 0)
    answers(site, printed.format(site.name, site))
    code, (row,) = prove(site, VALUES, "--seconds", "600", script="sh")
    assert (row["outcome"], code) == (outcome, int(outcome == "wrong")), row
    assert row["why"] == (
        [f"{site}/job is still there, but the job has ended"] if outcome == "wrong" else []
    )


def test_an_epilog_that_ends_after_its_job_has_some_time(site):
    """With RunInJob squeue has no job any more whose epilog still runs."""
    answers(site, f"(sleep 1; rm -rf {site}/job) >/dev/null 2>&1 &")
    code, (row,) = prove(site, VALUES, "--seconds", "600", script="sh")
    assert (row["outcome"], code) == ("holds", 0), row


def test_jobs_that_share_a_directory_are_told(site):
    code, (row,) = prove(
        site, VALUES, case="array",
        script="cat >task; for n in 1 2 3; do sh task; done; rm -r $JOBFEATURES",
    )  # fmt: skip
    assert (code, row["why"]) == (1, ["3 programs have 1 different job_id"])


def test_what_the_system_refuses_proves_nothing(site):
    code, rows = prove(site, VALUES, script="echo 'sbatch: error: not for you' >&2; exit 1")
    assert code == 1
    assert rows == [
        {"case": "simple", "outcome": "not here", "why": ["sbatch: error: not for you"]}
    ]


def test_a_case_that_is_none_is_refused(site):
    done = CliRunner().invoke(
        sssjob, ["features", "prove", "--for", "slurm", "--work", str(site), "--case", "odd"]
    )
    assert (done.exit_code, "'odd' is not a case of slurm: simple, array" in done.stderr) == (
        2,
        True,
    )


# What a job of each system finds in its environment, and the command that runs it here at once.
ELSEWHERE = {
    "pbs": ("qsub", "PBS_JOBID=7 PBS_NUM_NODES=1 PBS_NUM_PPN=2 PBS_NP=2 PBS_WALLTIME=120"),
    "lsf": ("bsub", f"LSB_JOBID=7 LSB_JOBINDEX=0 LSB_MCPU_HOSTS='{os.uname().nodename} 2'"),
    "flux": ("flux", "FLUX_JOB_ID=f8"),
}
FLUX_RUNS = 'for word; do :; done; cat "$word"'


@pytest.mark.parametrize("case", ["simple", "odd names"])
@pytest.mark.parametrize("system", ELSEWHERE)
@pytest.mark.parametrize("wrong", ["", "job_id", "wall_limit_secs"])
def test_jobs_of_other_systems_are_judged_by_what_these_say(site, system, case, wrong):
    """With programs in their place: no real one was here."""
    command, said = ELSEWHERE[system]
    write({**VALUES, **({wrong: "9"} if wrong else {})}, site / "job")
    runs = FLUX_RUNS + " | sh" if system == "flux" else "sh"
    script = f"export {said}; {runs}; rm -r $JOBFEATURES"
    (site / "bin" / command).write_text(AT_ONCE.format(site, site / "status", script))
    (site / "bin" / command).chmod(0o755)
    done = CliRunner().invoke(
        sssjob,
        ["features", "prove", "--for", system, "--work", str(site), "--case", case, "--json",
         "--seconds", "5"],
    )  # fmt: skip
    row = json.loads(done.stdout)
    is_judged = wrong == "job_id" or (wrong and system != "lsf")
    assert (done.exit_code, row["outcome"]) == ((1, "wrong") if is_judged else (0, "holds")), row
    assert not is_judged or row["why"][0].startswith(f"{wrong} is 9, ")


def test_more_words_stand_behind_those_that_name_the_command(site):
    (site / "bin/flux").write_text(f'#!/bin/sh\necho "$@" > {site}/words; exit 1\n')
    (site / "bin/flux").chmod(0o755)
    words = ["features", "prove", "--for", "flux", "--work", str(site), "--case", "simple"]
    CliRunner().invoke(sssjob, [*words, "--with", "simple", "--queue=debug"])
    assert (site / "words").read_text().startswith("submit --queue=debug --cwd=/")


ALONE = ("controller hangs", "full disk", "umask")


@pytest.mark.parametrize(
    ("system", "cases"),
    [("slurm", ALONE), ("gridengine", ALONE),
     *((system, ALONE[:1]) for system in ELSEWHERE)],
)  # fmt: skip
def test_our_prolog_withstands_what_no_job_shows(site, system, cases):
    done = CliRunner().invoke(
        sssjob,
        ["features", "prove", "--for", system, "--work", str(site), "--json",
         *(word for case in cases for word in ("--case", case))],
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["case"] for row in rows] == list(cases)
    held = [row for row in rows if row["outcome"] == "holds"]
    assert [row for row in rows if row["outcome"] == "wrong"] == []
    assert len(held) >= len(cases) - (os.geteuid() != 0)  # who is not root mounts nothing


@pytest.mark.skipif(os.geteuid() != 0, reason="a user may have his own in a sticky directory")
def test_root_makes_nothing_where_others_could_lead_it_elsewhere(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o1777)
    done = CliRunner().invoke(
        sssjob, ["features", "prove", "--for", "slurm", "--work", str(tmp_path / "open")]
    )
    assert (done.exit_code, "can be written by others" in done.stderr) == (2, True)
    assert os.listdir(tmp_path / "open") == []


def test_where_no_job_can_be_run_nothing_is_proven(site):
    """What was tried on this node alone says nothing of the site."""
    (site / "bin/sbatch").write_text("#!/bin/sh\necho down >&2; exit 1\n")
    (site / "bin/sbatch").chmod(0o755)
    words = ["features", "prove", "--for", "slurm", "--work", str(site), "--seconds", "3"]
    cases = ["--case", "simple", "--case", "umask"]
    done = CliRunner().invoke(sssjob, [*words, *cases])
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [
        ["simple", "not", "here"], ["umask", "holds"]
    ]  # fmt: skip
    assert done.exit_code == 1
    assert CliRunner().invoke(sssjob, [*words, "--case", "umask"]).exit_code == 0
