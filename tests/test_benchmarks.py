"""What we measure with is sound: the same jobs for a seed, all valid, and ratios within a round."""

import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

from sssjob import resources
from sssjob.records import jobs
from sssjob.records.record import Options

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def run(name, *arguments):
    command = [sys.executable, BENCHMARKS / name, *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def wrapped():
    return run("_generate.py", "-", "--count", "500", "--wrapped")


def test_a_seed_gives_the_same_jobs_and_another_seed_others(wrapped):
    assert run("_generate.py", "-", "--count", "500") == wrapped
    assert run("_generate.py", "-", "--count", "500", "--seed", "2") != wrapped


def test_lines_are_the_same_jobs_without_their_wrapper(wrapped):
    lines = run("_generate.py", "-", "--count", "500", "--lines").splitlines()
    assert len(lines) == 500
    assert lines == wrapped.splitlines()[1:-1]


def test_generated_jobs_are_moderate_and_of_every_kind(wrapped):
    jobs = etree.fromstring(wrapped)
    assert {job.tag for job in jobs} == {"Job"}
    assert 800 < len(wrapped) / len(jobs) < 1100
    assert jobs.xpath("Job[State='Idle'][not(Delivered)]")
    assert jobs.xpath("Job[Delivered/Memory/@metric='Average']")
    assert jobs.xpath("Job[Name[preceding-sibling::Queue]]")
    assert not wrapped.isascii()
    assert b"&amp;" in wrapped


def test_generated_jobs_are_valid_by_the_schema(wrapped):
    schema = etree.XMLSchema(file=resources.schema("sssjob"))
    for job in etree.fromstring(wrapped):
        schema.assertValid(etree.ElementTree(job))


@pytest.mark.parametrize("name", ["slurm", "slurm-steps", "sge", "pbs", "lsf", "condor"])
def test_records_of_large_sites_are_read_without_a_word(name):
    data = run("_site_records.py", name, "/dev/stdout", "--count", "300")
    found = Counter(
        type(item).__name__
        for item in jobs(name.removesuffix("-steps"), io.BytesIO(data), Options(zone="UTC"))
    )
    assert found == {"Converted": 300}


def test_what_is_measured_keeps_its_bytecode_as_an_installation_does(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    asked = '_measure.program("import sys; sys.exit(sys.dont_write_bytecode)")'
    program = f"import _measure; _measure.run({asked})"
    subprocess.run([sys.executable, "-c", program], cwd=BENCHMARKS, check=True)


def test_ratios_are_taken_within_a_round_against_the_first_case():
    first, ours, *_ = json.loads(run("start_up.py", "--rounds", "3", "--json"))
    assert first["ratios"] == [1, 1, 1]
    assert ours["ratios"] == [a / b for a, b in zip(ours["cpu"], first["cpu"], strict=True)]
    assert sorted(ours["ratios"])[1] == ours["ratio"]


def test_the_table_names_every_case_with_its_ratio():
    table = run("start_up.py", "--rounds", "1").decode()
    assert "sssjob --version" in table
    assert " 1.00" in table
    assert "Medians over 1 rounds" in table
