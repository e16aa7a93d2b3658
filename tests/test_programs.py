"""Programs that are run: what of the environment reaches them."""

import os

import pytest

from sssjob import commands

SET = {"SQUEUE_STATES": "PENDING", "SINFO_PARTITION": "urgent", "SCONTROL_ALL": "1",
       "SACCT_LOCAL": "1", "SBATCH_PARTITION": "mine", "SLURM_CONF": "/etc/slurm.conf"}  # fmt: skip


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Programs that print their environment."""
    for name in ("squeue", "sinfo", "scontrol", "sacct", "sbatch", "other"):
        (tmp_path / name).write_text("#!/bin/sh\nexec /usr/bin/env\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    for name, text in SET.items():
        monkeypatch.setenv(name, text)


@pytest.mark.parametrize(
    ("words", "without"),
    [
        (["squeue"], ["SQUEUE_STATES"]),
        (["sinfo", "--json"], ["SINFO_PARTITION"]),
        (["scontrol", "show"], ["SCONTROL_ALL"]),
        (["sacct"], ["SACCT_LOCAL"]),
        (["env", "squeue"], ["SQUEUE_STATES"]),  # who runs it as somebody else
        (["sbatch"], []),  # what a user wants of a submission
        (["other"], []),
    ],
)
def test_options_that_a_user_sets_for_a_program_do_not_reach_its_answer(programs, words, without):
    ways = (commands.run(words, "it").decode(), commands.asked(words, dict(os.environ), 60))
    for printed in ways:
        names = {line.partition("=")[0] for line in printed.splitlines()}
        assert SET.keys() - names == set(without)
