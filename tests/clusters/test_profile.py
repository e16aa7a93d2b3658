"""Profiles: what jobs of workers ask for, as each batch system is told."""

import pytest

pytest.importorskip("dask_jobqueue")

import dask_jobqueue as jobqueue
from distributed import Scheduler, SpecCluster

from sssjob.clusters import SYSTEMS, Profile
from sssjob.errors import BadSettings

TEXT = """\
workers = 8
memory_mib = 3000
minutes = 90
queue = "long"
account = "chem"
python = "/opt/python"
options = ["--exclusive=user"]
prologue = ["module load python"]
wait = 5
"""


@pytest.fixture
def profile(tmp_path):
    (tmp_path / "cluster.toml").write_text(TEXT)
    return Profile.read(tmp_path / "cluster.toml")


WORDS = {
    "slurm": ("-p long", "-A chem", "-t 01:30:00", "--mem=3G", "#SBATCH --exclusive=user"),
    "pbs": ("-q long", "-A chem", "walltime=01:30:00", "#PBS --exclusive=user"),
    "sge": ("-q long", "-P chem", "h_rt=01:30:00", "#$ --exclusive=user"),
    "lsf": ("-q long", '-P "chem"', "-W 01:30", "#BSUB --exclusive=user"),
    "condor": ("MY.DaskWorkerMemory = 3145728000", "MY.DaskWorkerCores = 1", "--exclusive = user"),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_script_of_a_job_has_what_the_profile_says(profile, system):
    cluster = getattr(jobqueue, SYSTEMS[system].type)
    job = cluster.job_cls("tls://127.0.0.1:1", name="x", **told(profile, system))
    script = job.job_script()
    for word in WORDS[system]:
        assert word in script
    assert "module load python" in script
    assert "/opt/python -m distributed.cli.dask_worker tls://127.0.0.1:1" in script
    assert "--nthreads 1" in script


def told(profile, system):
    """What a job is told: without what is for the scheduler."""
    return {k: v for k, v in profile.told_to(system).items() if k != "scheduler_options"}


def test_two_commands_on_one_machine_start_schedulers_whose_ports_do_not_meet(recwarn):
    options = Profile().told_to("slurm")["scheduler_options"]
    spec = {"cls": Scheduler, "options": {"host": "127.0.0.1", "protocol": "tcp", **options}}
    with (
        SpecCluster(scheduler=spec, silence_logs=60) as one,
        SpecCluster(scheduler=spec, silence_logs=60) as other,
    ):
        ports = {each.scheduler.http_server.port for each in (one, other)}
    assert len(ports) == 2
    assert not [each for each in recwarn if "already in use" in str(each.message)]


def test_without_a_file_there_is_a_profile_for_each_system():
    for system in SYSTEMS:
        cluster = getattr(jobqueue, SYSTEMS[system].type)
        assert cluster.job_cls(
            "tls://127.0.0.1:1", name="x", **told(Profile(), system)
        ).job_script()


def test_what_is_wrong_with_a_profile_is_told_with_its_lines(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text('workers = 0\nqueues = "long"\nminutes = "one"\n')
    with pytest.raises(BadSettings) as raised:
        Profile.read(path)
    assert [(each.line, each.key) for each in raised.value.problems] == [
        (1, "workers"), (2, "queues"), (3, "minutes"),
    ]  # fmt: skip
