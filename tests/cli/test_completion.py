"""What a shell needs to complete our commands is printed, or written to where it looks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import get_completion_class
from click.testing import CliRunner
from command_tree import commands

from sssjob.cli import sssjob

SHELLS = ("bash", "zsh", "fish")
FILES = {
    "bash": ".local/share/bash-completion/completions/sssjob",
    "zsh": ".local/share/zsh/site-functions/_sssjob",
    "fish": ".config/fish/completions/sssjob.fish",
}
# As bash calls it for `sssjob val<TAB>`.
ASK = """
. {script}
COMP_WORDS=(sssjob {words}); COMP_CWORD={at}
_sssjob_completion sssjob
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("SHELL", "/bin/bash")
    return lambda *words: CliRunner().invoke(sssjob, ["completion", *words])


@pytest.mark.parametrize("shell", SHELLS)
def test_it_is_written_to_where_the_shell_looks_for_it(call, tmp_path, shell):
    printed = call(shell)
    assert printed.exit_code == 0
    assert "_SSSJOB_COMPLETE" in printed.stdout
    result = call(shell, "--install")
    assert result.exit_code == 0, result.output
    assert (tmp_path / FILES[shell]).read_text() == printed.stdout
    assert f"written to {tmp_path / FILES[shell]}\n" in result.stderr
    assert ("fpath+=(" in result.stderr) == (shell == "zsh")


def test_without_a_name_it_is_the_callers_shell(call):
    assert call().stdout == call("bash").stdout


def test_the_variables_for_such_files_are_kept_to(call, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert call("--install").exit_code == 0
    assert (tmp_path / "data" / "bash-completion" / "completions" / "sssjob").is_file()


@pytest.mark.parametrize("named", ["", "/bin/tcsh"])
def test_a_shell_that_is_not_known_is_told(call, monkeypatch, named):
    monkeypatch.setenv("SHELL", named)
    result = call()
    assert result.exit_code == 2
    assert result.stderr.startswith("sssjob: error: which shell? One of bash, zsh, fish")


def test_a_directory_that_cannot_be_made_is_told(call, tmp_path):
    (tmp_path / ".local").write_text("no directory")
    result = call("--install")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"sssjob: error: {tmp_path}/.local")


@pytest.mark.parametrize(
    "words, at, found",
    [("val", 1, "validate"), ("lcginfo est", 2, "estimate"), ("translate --to sba", 3, "sbatch")],
)
def test_bash_completes_by_it(call, tmp_path, words, at, found):
    bash = shutil.which("bash")
    assert bash, "it runs the set-up of this project"
    script = tmp_path / "script"
    script.write_text(call("bash").stdout)
    result = subprocess.run(
        [bash, "--norc", "-c", ASK.format(script=script, words=words, at=at)],
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found in result.stdout.split(), result


def test_fish_keeps_what_stands_behind_a_comma(call):
    assert 'string split --max 1 "," $completion' in call("fish").stdout


# What is typed, and among what a shell offers then.
VALUES = [
    ("report --by us", ["user"]),
    ("report --by user,mo", ["user,month"]),
    ("report --by user,us", []),
    ("report --sort cpu", ["cpu_seconds"]),
    ("report --tz europe/lo", ["Europe/London"]),
    ("report --from slurm-j", ["slurm-json", "slurm-jobcomp"]),
    ("ledger report --by da", ["day"]),
    ("ledger report --sort cpu", ["cpu_seconds"]),
    ("ledger ingest --tz Europe/Lo", ["Europe/London"]),
    ("audit --tz Europe/Lo", ["Europe/London"]),
    ("convert --tz Europe/Lo", ["Europe/London"]),
    ("convert --to car", ["car"]),
    ("convert --from slurm-js", ["slurm-json"]),
    ("deliver --tz Europe/Lo", ["Europe/London"]),
    ("features watch --from sl", ["slurm"]),
    ("features watch --from sys", ["systemd"]),
    ("ledger report --of wait,wal", ["wait,wall"]),
    ("lcginfo estimate --estimator ba", ["backfill", "basic"]),
    ("lcginfo backtest --estimator ba", ["backfill", "basic"]),
    ("report --cluster slu", ["slurm"]),
    ("features collect --tz Europe/Lo", ["Europe/London"]),
    ("lcginfo lrms --tz Europe/Lo", ["Europe/London"]),
    ("lcginfo lrms --from slu", ["slurm"]),
    ("lcginfo jobs --to sss-l", ["sss-lines"]),
    ("ledger export --to cs", ["csv"]),
    ("store export --to sss-l", ["sss-lines"]),
    ("store import --tz Europe/Lo", ["Europe/London"]),
    ("status --tz Europe/Lo", ["Europe/London"]),
    ("status --from slu", ["slurm"]),
    ("submit --to slu", ["slurm"]),
    ("translate --to sba", ["sbatch"]),
    ("translate --from sba", ["sbatch"]),
    ("show --to sss-l", ["sss-lines"]),
    ("explain memo", ["Memory"]),
    ("schema stor", ["store"]),
    ("schema store imp", ["import"]),
]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("typed", "offered"), VALUES, ids=[typed for typed, _ in VALUES])
def test_values_are_completed(shell, typed, offered):
    *words, incomplete = typed.split()
    made = get_completion_class(shell)(sssjob, {}, "sssjob", "_SSSJOB_COMPLETE")
    found = made.get_completions(words, incomplete)
    assert [item.value for item in found if item.type == "plain"] == offered
    assert all(item.value in made.format_completion(item) for item in found)


def test_every_option_that_refuses_unknown_names_completes_those_there_are():
    lists = [
        param
        for _, command in commands(sssjob)
        for param in command.params
        if " is not one of " in _refused(param)
    ]
    assert len(lists) > 50
    for param in lists:
        assert param.shell_complete(click.Context(click.Command("x")), ""), param.opts


def _refused(param):
    try:
        param.type.convert("no-such-name", param, click.Context(click.Command("x")))
    except click.BadParameter as error:
        return error.message
    except AttributeError:  # which of a type of click's own wants a command
        return ""
    return ""


def test_every_option_with_a_zone_completes_it():
    zones = [
        param for _, command in commands(sssjob) for param in command.params if "--tz" in param.opts
    ]
    assert len(zones) > 5
    for param in zones:
        found = param.shell_complete(click.Context(click.Command("x")), "Europe/Lon")
        assert [item.value for item in found] == ["Europe/London"]
