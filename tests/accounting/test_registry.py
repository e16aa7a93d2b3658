"""Formats have names; other distributions add theirs, and auto recognises those too."""

import io
import subprocess
import sys

import pytest

from sssjob import registry
from sssjob.errors import UnusableInput
from sssjob.records import find, formats, read_records
from sssjob.records.record import Converted, Options
from sssjob.records.roads import OBJECTS, TEXTS

MODULE = '''
"""A format of another distribution: an id on each line, behind a sign of its own."""

from sssjob.records.record import Bad, Converted
from sssjob.model import Job, Property


def jobs(stream, options):
    for line, raw in enumerate(stream, 1):
        id = raw.decode().strip().removeprefix("our-id ")
        yield Converted(line, Job((Property("Id", id),))) if id else Bad(line, "no id")


def recognises(head):
    return "lines that begin with our-id" if head.startswith(b"our-id ") else ""
'''


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """An installed distribution with a format, and with two that cannot be used."""
    (tmp_path / "our_format.py").write_text(MODULE)
    info = tmp_path / "our_formats-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: our-formats\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{registry.FORMATS}]\nours = our_format\nslurm = our_format\n"
        "lost = no_such_module\nempty = json\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("our_format", None)


def test_a_format_of_another_distribution_has_a_name_and_both_roads(distribution):
    found = find("ours")
    assert found.description == "added by our-formats"
    (outcome,) = read_records(found, io.BytesIO(b"our-id 7\n"), Options(), OBJECTS)
    assert isinstance(outcome, Converted)
    assert outcome.job.id == "7"
    (text,) = read_records(found, io.BytesIO(b"our-id 7\n"), Options(), TEXTS)
    assert text.job == "<Job><Id>7</Id></Job>"


def test_a_name_of_ours_stays_ours(distribution):
    assert find("slurm").module == "sssjob.systems.slurm.accounting.sacct"
    assert formats()["slurm"].module == "sssjob.systems.slurm.accounting.sacct"


@pytest.mark.parametrize(
    "name, reason",
    [
        ("lost", "the format lost cannot be loaded: No module named 'no_such_module'"),
        ("empty", "the format empty has no jobs"),
        ("nothing", "'nothing' is no known record format; known: .*ours"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(distribution, name, reason):
    with pytest.raises(UnusableInput, match=reason):
        find(name).load()


def convert(data, directory, *arguments):
    command = [sys.executable, "-m", "sssjob", "convert", *arguments, "-"]
    environment = {"PYTHONPATH": str(directory), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        command, input=data, capture_output=True, text=True, env=environment, check=False
    )


def test_the_command_converts_it_by_name_and_recognises_it(distribution):
    (distribution / "our_formats-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{registry.FORMATS}]\nours = our_format\n"
    )
    named = convert("our-id 7\n\n", distribution, "--from", "ours")
    assert named.returncode == 1
    assert named.stdout == "<Job><Id>7</Id></Job>\n"
    assert named.stderr.splitlines()[0] == "<stdin>:2: error: no id"
    seen = convert("our-id 7\n", distribution, "--from", "auto")
    assert seen.returncode == 0
    assert seen.stderr.startswith("<stdin>:1: notice: read as ours: lines that begin with our-id\n")


def test_a_broken_format_of_others_does_not_hinder_auto(distribution):
    records = io.BytesIO(b"our-id 7\n")
    outcomes = list(read_records(find("auto"), records, Options(), OBJECTS))
    assert outcomes[-1].job.id == "7"
