"""Files of a directory of ours appear whole, and nothing is left beside them."""

import os
import re
import stat
from pathlib import Path

import pytest
from forcing import forced
from killing import killed

import sssjob
from sssjob import atomic

HOME = Path(sssjob.__file__).parent


@pytest.fixture(autouse=True, params=["no name", "a hidden name"])
def what_is_new_has(request, monkeypatch):
    """Every test, also as on a file system that has no files without a name."""
    if request.param == "a hidden name":
        monkeypatch.setattr(atomic, "_unnamed", lambda *_: -1)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    return path


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_put_replaces_whatever_has_the_name(old, tmp_path):
    (tmp_path / "link").symlink_to("file")
    atomic.put(tmp_path, "link", b"new", 0o600)
    assert (old.read_bytes(), (tmp_path / "link").read_bytes()) == (b"old", b"new")
    assert not (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "link").stat().st_mode) == 0o600


def test_long_names_can_be_put(tmp_path):
    name = "ü" * 127  # in bytes, as long as a name can be
    for content in (b"new", b"newer"):
        atomic.put(tmp_path, name, content)
        assert contents(tmp_path) == {name: content}


@pytest.mark.parametrize("call", ["write", "fchmod", "fsync", "rename"])
def test_what_cannot_be_put_leaves_the_old_file_and_is_told_by_its_name(old, monkeypatch, call):
    def failing(*arguments, **options):
        raise OSError(28, "No space left on device", "hidden")

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(OSError, match="No space left") as raised:
        atomic.put(old.parent, "file", b"new")
    monkeypatch.undo()
    assert (raised.value.filename, raised.value.filename2) == ("file", None)
    assert contents(old.parent) == {"file": b"old"}


@pytest.mark.parametrize("durable", [True, False])
def test_put_forces_to_disk_what_has_to_outlive_a_loss_of_power(tmp_path, monkeypatch, durable):
    synced = forced(monkeypatch)
    atomic.put(tmp_path, "file", b"new", durable=durable)
    assert synced == ([stat.S_IFREG, stat.S_IFDIR] if durable else [])


def test_files_that_are_put_together_leave_nothing_that_stays(tmp_path):
    handle = os.open(tmp_path, os.O_RDONLY)
    new = {"a": b"1", "b": b"2", "c": b"3"}
    for moment in range(1000):
        ended = killed(lambda: atomic.put_all(handle, new), moment)
        atomic.put_all(handle, dict.fromkeys(new, b"old"))
        assert contents(tmp_path) == dict.fromkeys(new, b"old")
        if ended:
            break
    os.close(handle)
    assert ended
    assert moment > 10


# Modules that write a file otherwise, and why they may.
OTHERWISE = {
    "atomic.py": "is the way",
    "agent.py": "gives a child the outputs that its caller has open",
    "starter.py": "plays HTCondor: streams of a job, and ads in a scratch directory",
    "basic.py": "the list in a lock file, which must keep its inode, under that lock",
    "state.py": "appends to an output that grows",
    "places.py": "a whole file under the hidden name that outputs.Aside gives it",
    "queue.py": "a directory queue, in which others that read it prescribe the names on the way",
}
WRITES = re.compile(
    r"""mkstemp|NamedTemporaryFile\([^)]|write_text\(|write_bytes\(|O_EXCL"""
    r"""|\.open\(["'][wxa]|open\([^\n]*, ["'][wxa]"""
)


def test_there_is_one_way_to_write_a_file():
    found = {path.name for path in HOME.rglob("*.py") if WRITES.search(path.read_text())}
    assert found <= set(OTHERWISE)
