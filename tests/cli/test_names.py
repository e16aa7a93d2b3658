"""Names of systems, formats and targets: one rule for all options that take one."""

import click
import pytest
from click.testing import CliRunner
from command_tree import commands

from sssjob import registry
from sssjob.cli import names, sssjob


def options():
    """Every option that takes such a name, with its command."""
    for name, command in commands(sssjob):
        for option in command.params:
            if isinstance(option.type, (names.SystemName, names.NameArgument)):
                yield pytest.param(command, option, id=f"{' '.join(name)} {option.opts[0]}")


def known(option):
    kind = option.type
    return kind.names() if isinstance(kind, names.NameArgument) else kind._all().choices


def test_there_are_such_options():
    assert len(list(options())) > 10


@pytest.mark.parametrize("command, option", [*options()])
def test_letter_case_does_not_count_and_another_word_for_a_system_is_taken(command, option):
    ctx = click.Context(command)
    for name in known(option):
        assert option.type.convert(name.upper(), option, ctx) == name
    if {"gridengine", "sge"} & {*known(option)}:
        meant = option.type.convert("SGE", option, ctx)
        assert registry.called(meant).name == "gridengine"


@pytest.mark.parametrize(
    "words",
    [
        "translate --to nope job.xml",
        "translate --to pbs --from nope job.xml",
        "convert --from nope jobs.txt",
        "status --from nope",
        "submit --to nope job.xml",
        "features submit --for nope job.xml",
        "lcginfo lrms --from nope queue.txt",
    ],
)
def test_a_name_that_is_none_is_told_with_all_that_there_are(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in ("job.xml", "jobs.txt", "queue.txt"):
        (tmp_path / file).write_text("<Job><Id>1</Id></Job>")
    result = CliRunner().invoke(sssjob, words.split())
    assert result.exit_code == 2
    assert "'nope'" in result.stderr
    told = result.stderr.replace(",", " ").replace(";", " ").split()
    assert {"slurm", "gridengine", "sge"} <= {*told}
    assert "did you mean" not in result.stderr


@pytest.mark.parametrize("command", ["translate", "convert", "status", "submit"])
def test_help_lists_the_other_words_for_systems(command):
    told = CliRunner().invoke(sssjob, [command, "--help"]).stdout
    assert {"uge", "slurm"} <= {*told.replace(",", " ").replace(";", " ").split()}


@pytest.mark.parametrize("word, meant", [("sacct", "slurm"), ("QACCT", "gridengine")])
@pytest.mark.parametrize(
    "command", ["translate job.xml", "translate job.xml --explain", "submit job.xml"]
)
def test_words_for_records_name_nothing_that_is_written(
    word, meant, command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.xml").write_text("<Job><Id>1</Id><Executable>/bin/a</Executable></Job>")
    result = CliRunner().invoke(sssjob, [*command.split(), "--to", word])
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{word.lower()} names records of " in result.stderr
    assert f"did you mean {meant}?" in result.stderr


def test_help_lists_words_for_records_where_something_is_read():
    assert {"sacct", "qacct"} <= {*registry.words((), lambda row: row.formats)}
    assert "sacct" in CliRunner().invoke(sssjob, ["convert", "--help"]).stdout
    assert "sacct" not in CliRunner().invoke(sssjob, ["submit", "--help"]).stdout


def test_records_by_their_command_are_read(tmp_path):
    (tmp_path / "records").write_text("JobID|State|ElapsedRaw\n1|COMPLETED|60\n")
    done = CliRunner().invoke(sssjob, ["convert", "--from", "sacct", str(tmp_path / "records")])
    assert (done.exit_code, "<Id>1</Id>" in done.stdout) == (0, True)
