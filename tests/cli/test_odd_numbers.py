"""Texts that look like numbers and are none: each command goes on, and says what is wrong."""

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

ODD = {
    "a superscript": "²",
    "Arabic digits": "٣",
    "5000 digits": "9" * 5000,
    "3999 digits": "9" * 3999,
}  # Python reads these
DIRECTIVES = [
    ("sge", "#$ -l gpu={}"), ("sge", "#$ -pe smp {}"), ("sbatch", "#SBATCH --gres=gpu:{}"),
    ("sbatch", "#SBATCH --gres=gpu:a100:{}"), ("sbatch", "#SBATCH -n {}"),
    ("torque", "#PBS -l nodes={}:ppn=2"), ("pbs", "#PBS -l select={}:ncpus=2"),
]  # fmt: skip
PROPERTIES = [
    "<SubmitTime>{}</SubmitTime>",
    "<StartTime>+{}</StartTime>",
    "<TaskDistribution type='ProcessorsPerTask'>{}</TaskDistribution>",
    "<TaskDistribution>{}</TaskDistribution>",
    "<Delivered><Duration>{0}</Duration><Memory metric='Max'>{0}</Memory></Delivered>",
    "<Requested><Resource name='x'>{}</Resource></Requested>",
    "<Requested><Memory units='GB'>{0}</Memory><Duration>{0}</Duration></Requested>",
    "<Delivered><Resource name='gpu'>{0}</Resource><Processors>{0}</Processors></Delivered>",
    "<Delivered><CpuDuration>{0}</CpuDuration><NodeCount>{0}</NodeCount></Delivered>",
]
COMMANDS = [
    ["condor", "ad"], ["features", "job", "--dry-run"], ["store", "import", "jobs.db"],
    ["translate", "--to", "sbatch"], ["translate", "--to", "sge"], ["report"],
    ["convert", "--to", "parquet", "-o", "jobs.parquet"], ["convert", "--to", "ur"], ["layout"],
]  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(words, name, text):
        (tmp_path / name).write_text(text)
        done = CliRunner().invoke(sssjob, [*words, name])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return invoke


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize(("source", "line"), DIRECTIVES)
def test_a_directive_with_such_a_text_is_kept(run, source, line, odd):
    done = run(["translate", "--from", source, "--to", "sss"], "job.sh",
               f"#!/bin/sh\n{line.format(odd)}\necho\n")  # fmt: skip
    assert odd in done.stdout


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("item", PROPERTIES)
def test_a_property_with_such_a_text_stops_no_command(run, item, odd):
    text = f"<Job><Id>1</Id><Executable>/bin/true</Executable>{item.format(odd)}</Job>"
    for words in COMMANDS:
        run(words, "job.xml", text)
