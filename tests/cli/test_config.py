"""Defaults of options come from a file; the command line counts more, and nothing is silent."""

import json
import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sssjob import store
from sssjob.cli import defaults, sssjob

RECORDS = "JobID|User|State|Start|End\n7|amy|COMPLETED|2026-11-21T23:30:00|2026-11-21T23:45:00\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(defaults.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "all"))
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def run(*words, given=None):
    return CliRunner().invoke(sssjob, [str(word) for word in words], input=given)


def days(*words):
    """The hours of the day that a record without a zone is read at."""
    shown = run(*words, "convert", "--from", "slurm", "-", given=RECORDS)
    assert shown.exit_code == 0, shown.stderr
    return shown.stdout


def test_a_key_is_the_default_of_its_option_and_the_command_line_counts_more(place):
    tokyo = write(place / "c.toml", 'zone = "Asia/Tokyo"\n')
    assert days("--config", tokyo) != days()
    told = run("--config", tokyo, "convert", "--from", "slurm", "--tz", "UTC", "-", given=RECORDS)
    assert told.stdout == days()


def test_the_file_of_the_user_counts_more_than_that_of_all_users(place):
    site = write(place / "all/sssjob/config.toml", 'zone = "Asia/Tokyo"\nmachine = "m"\n')
    user = write(place / "home/sssjob/config.toml", 'zone = "Europe/Berlin"\n')
    shown = json.loads(run("config", "show", "--json").stdout)
    assert shown == {
        "zone": {"value": "Europe/Berlin", "file": user},
        "machine": {"value": str(place / "all/sssjob/m"), "file": site},
        "site": None,
        "store": None,
    }
    lines = run("config", "show").stdout.splitlines()
    assert lines[0] == f"zone     --tz       Europe/Berlin  ({user})"
    assert lines[2] == "site     --site     not set"


def test_a_file_that_is_named_is_the_only_one(place, monkeypatch):
    write(place / "home/sssjob/config.toml", 'zone = "Europe/Berlin"\n')
    other = write(place / "other.toml", 'machine = "/m"\n')
    named = run("--config", other, "config", "show", "--json").stdout
    monkeypatch.setenv(defaults.VARIABLE, other)
    assert run("config", "show", "--json").stdout == named
    assert json.loads(named)["zone"] is None


def test_a_store_is_found_beside_the_file_and_an_address_stays(place):
    with store.open(place / "jobs.db", create=True) as jobs:
        jobs.load(b"<Job><Id>1</Id></Job>")
    file = write(place / "home/sssjob/config.toml", 'store = "../../jobs.db"\n')
    assert json.loads(run("store", "stats", "--json").stdout)["jobs"] == 1
    write(place / "home/sssjob/config.toml", 'store = "postgresql://host/jobs"\n')
    shown = json.loads(run("config", "show", "--json").stdout)
    assert shown["store"] == {"value": "postgresql://host/jobs", "file": file}


def test_no_file_is_no_default(place):
    found = run("config", "show")
    assert found.exit_code == 1
    assert str(place / "home/sssjob/config.toml") in found.stderr
    assert run("store", "stats").exit_code == 2


@pytest.mark.parametrize(
    "text, said",
    [
        ('zoen = "UTC"', "'zoen' is no key; did you mean zone?"),
        ('colour = "red"', "'colour' is no key; there are zone, machine, site, store"),
        ("zone = 3", 'zone is a text, such as zone = "...", and not 3'),
        ('zone = ""', 'zone is a text, such as zone = "..."'),
        ("[zone]", 'zone is a text, such as zone = "...", and not {}'),
        ('zone = "Mars/Phobos"', "zone: 'Mars/Phobos' is not a time zone such as Europe/London"),
        ("zone = UTC", "what is no value"),
        ("# \udcff", "byte 3 is not part of a UTF-8 text"),
    ],
)
def test_what_is_wrong_with_a_file_ends_the_command(place, text, said):
    path = place / "c.toml"
    path.write_text(text, errors="surrogateescape")
    for words in (("config", "show"), ("report", "-"), ("store", "stats")):
        result = run("--config", path, *words)
        assert result.exit_code == 2
        assert f"sssjob: error: {path}: " in result.stderr
        assert said in result.stderr


def test_a_file_that_is_named_and_not_there_ends_the_command(place):
    result = run("--config", "none.toml", "report", "-")
    assert (result.exit_code, result.stderr) == (
        2, "sssjob: error: none.toml: No such file or directory\n",
    )  # fmt: skip


@pytest.mark.parametrize("way", ["option", "variable"])
@pytest.mark.parametrize("text", ['zoen = "UTC"\n', None])
def test_a_named_file_that_is_wrong_ends_commands_without_defaults_too(
    place, monkeypatch, way, text
):
    path = place / "c.toml"
    if text:
        path.write_text(text)
    if way == "variable":
        monkeypatch.setenv(defaults.VARIABLE, str(path))
    for words in (("schema",), ("validate", "-"), ("condor", "job", "-")):
        result = run(*(("--config", path) if way == "option" else ()), *words)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"sssjob: error: {path}: ")


def test_help_and_version_need_no_file(place):
    assert run("--config", "none.toml", "--version").exit_code == 0
    assert run("--config", "none.toml", "--help").exit_code == 0


def test_a_home_that_may_not_be_read_has_no_file(place, monkeypatch):
    """A daemon of a batch system runs as its own user, with the HOME of root."""

    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(Path, "is_file", refused)
    assert defaults.files(click.Context(click.Command("report"))) == []
