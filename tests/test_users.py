# ruff: noqa: E501 (a row of a table is a line)
"""Who runs this, and where that user's home is: one module asks the host, and nobody may be known."""

import pwd
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import sssjob
from sssjob import users
from sssjob.cli import sssjob as command
from sssjob.submission.locks import default_place

ROOM = Path(sssjob.__file__).parent
ASKS = re.compile(
    r"\bexpanduser\(|Path\.home\(|\bgetuser\(|getlogin\(|^\s*import (pwd|grp)\b|\b(pwd|grp)\.get",
    re.MULTILINE,
)
ONLY_FOR_TYPES = {"systems/condor/executables.py", "systems/condor/hooks/place.py"}
NAMES = ("LOGNAME", "USER", "LNAME", "USERNAME")
JOB = "<Job><Id>1</Id><State>Queued</State></Job>"


def unknown(*_):
    raise KeyError("uid not found")


@pytest.fixture
def nameless(monkeypatch, tmp_path):
    """A user id that has no entry, as with ``--user 45678`` of a container."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in (*NAMES, "SSSJOB_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "j.xml").write_text(JOB)
    assert run("store", "import", "s.db", "j.xml").exit_code == 0
    return tmp_path


@pytest.fixture
def homeless(nameless, monkeypatch):
    """The same without a home in the environment."""
    monkeypatch.delenv("HOME")
    return nameless


def run(*words):
    found = CliRunner().invoke(command, words)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def test_one_module_asks_the_host_for_users_and_homes():
    found = {
        path.relative_to(ROOM).as_posix()
        for path in ROOM.rglob("*.py")
        if ASKS.search(path.read_text("utf-8"))
    }
    assert found == {"users.py"} | ONLY_FOR_TYPES


@pytest.mark.parametrize("path", sorted(ONLY_FOR_TYPES))
def test_modules_that_name_an_entry_ask_for_none(path):
    text = (ROOM / path).read_text("utf-8")
    assert re.findall(r".*\b(?:pwd|grp)\b.*", text) == [
        line
        for line in text.splitlines()
        if re.search(r"^    import pwd$|pwd\.struct_passwd", line)
    ]


@pytest.mark.parametrize(
    "path, found", [("~", "/h"), ("~/a/b", "/h/a/b"), ("a/~", "a/~"), ("/~x", "/~x"), ("./~x", "./~x"), ("", "")]
)  # fmt: skip
def test_a_tilde_at_the_beginning_is_a_home(monkeypatch, path, found):
    monkeypatch.setenv("HOME", "/h")
    assert users.at_home(path) == found


def test_the_home_of_another_user_is_known():
    assert users.at_home("~root/x") == f"{pwd.getpwnam('root').pw_dir}/x"


@pytest.mark.parametrize("path", ["~nobodyxyz", "~nobodyxyz/a", "~a\0b", "~ö\udc80/c"])
def test_a_home_that_nobody_knows_is_an_error_of_the_path(path):
    with pytest.raises(FileNotFoundError, match="no home directory is known of this user") as told:
        users.at_home(path)
    assert told.value.filename == path


def test_who_has_no_name_is_nobody(homeless):
    assert (users.caller(), users.user_name(45678), users.account(45678)) == ("", "", None)
    with pytest.raises(FileNotFoundError, match="HOME is not set"):
        users.at_home("~/a")


@pytest.mark.parametrize("uid", [-2, 1 << 40, 1 << 80])
def test_no_number_is_too_large_to_be_nobody(uid):
    assert (users.user_name(uid), users.group_name(uid)) == ("", "")


COMMANDS = [
    ("validate", "j.xml"), ("show", "j.xml"), ("query", "//Job", "j.xml"), ("convert", "j.xml"),
    ("query", "//Job", "s.db"), ("store", "log", "s.db"), ("store", "import", "s.db", "j.xml"),
    ("report", "j.xml"), ("config", "show"), ("layout", "j.xml"), ("translate", "--to", "slurm", "j.xml"),
    ("completion", "bash"),
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_need_neither_a_name_nor_a_home(homeless, words):
    there = run(*words)
    assert there.exit_code in (0, 1), there.stderr
    assert "home" not in there.stderr


@pytest.mark.parametrize("words", [("deliver", "s.db", "--record", "j.xml"), ("hold", "s.db")], ids=" ".join)  # fmt: skip
def test_who_changes_a_store_may_have_no_name(homeless, words):
    found = run(*words)
    assert found.exit_code in (0, 1, 2)
    assert "getpwuid" not in found.stderr


def test_a_request_of_somebody_without_a_name_needs_one(nameless):
    found = run("request", "Query", "Job", "--dry-run")
    assert (found.exit_code, found.stdout) == (2, "")
    assert (
        found.stderr
        == "sssjob: error: who asks? This user id has no name here: give --actor NAME\n"
    )
    assert run("request", "Query", "Job", "--dry-run", "--actor", "amy").exit_code == 0


def test_what_is_put_at_home_says_that_there_is_none(homeless):
    found = run("completion", "bash", "--install")
    assert found.exit_code == 2
    assert found.stderr.startswith("sssjob: error: ~/")
    assert "HOME is not set" in found.stderr
    with pytest.raises(OSError, match="no home directory"):
        default_place()


@pytest.mark.parametrize("key", ["site", "store", "machine"])
@pytest.mark.parametrize("value", ["~nobodyxyz/x", "~nobodyxyz", "~nobodyxyz:8080/b"])
def test_a_file_of_defaults_that_names_nobody_s_home_is_told(nameless, key, value):
    (nameless / "c.toml").write_text(f'{key} = "{value}"\n')
    for words in (("config", "show"), ("validate", "j.xml")):
        found = run("--config", "c.toml", *words)
        assert found.exit_code == 2
        assert found.stderr.startswith(f"sssjob: error: c.toml: {key}: ~")
        assert found.stderr.endswith(": no home directory is known of this user\n")
        assert found.stderr.count("\n") == 1
