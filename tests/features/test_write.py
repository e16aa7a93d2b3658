import errno
import os
import stat
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import atomic
from sssjob.errors import InvalidValue
from sssjob.features import keys
from sssjob.features.read import read
from sssjob.features.write import LONGEST, MANIFEST, write

VALUES = {"wall_limit_secs": 3600, "allocated_cpu": 8, "job_id": "PBS.1234.0"}


def files(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_each_key_is_a_file_with_its_value_and_a_newline(tmp_path):
    written = write(VALUES, tmp_path / "job")
    assert written.keys == tuple(VALUES)
    found = files(tmp_path / "job")
    assert found.pop(MANIFEST) == b"allocated_cpu\njob_id\nwall_limit_secs\n"
    assert found == {
        "wall_limit_secs": b"3600\n", "allocated_cpu": b"8\n", "job_id": b"PBS.1234.0\n",
    }  # fmt: skip


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_modes_are_0755_and_0644_whatever_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        write(VALUES, tmp_path / "job")
    finally:
        os.umask(before)
    assert mode(tmp_path / "job") == 0o755
    assert {mode(path) for path in (tmp_path / "job").iterdir()} == {0o644}


def test_the_mode_of_a_directory_that_stands_is_left_alone(tmp_path):
    tmp_path.chmod(0o700)
    write(VALUES, tmp_path)
    assert mode(tmp_path) == 0o700


def test_a_later_run_replaces_values_and_removes_its_stale_keys_only(tmp_path):
    write({**VALUES, "max_rss_bytes": 10**9}, tmp_path)
    (tmp_path / "hs06_job").write_text("12\n")
    written = write({"wall_limit_secs": 60}, tmp_path)
    assert written.removed == ("allocated_cpu", "job_id", "max_rss_bytes")
    assert files(tmp_path) == {
        MANIFEST: b"wall_limit_secs\n", "wall_limit_secs": b"60\n", "hs06_job": b"12\n",
    }  # fmt: skip


def test_a_manifest_cannot_name_files_outside_the_directory(tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "precious").write_text("x")
    (tmp_path / "job" / MANIFEST).write_bytes(b"../precious\n/etc/passwd\n.hidden\n\xff\n")
    (tmp_path / "job" / ".hidden").write_text("x")
    assert write(VALUES, tmp_path / "job").removed == ()
    assert (tmp_path / "precious").exists()
    assert (tmp_path / "job" / ".hidden").exists()


def test_a_manifest_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text("allocated_cpu\n")
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / MANIFEST).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):  # noqa: PT011 - ELOOP has no class of its own
        write(VALUES, tmp_path / "job")
    assert (tmp_path / "elsewhere").read_text() == "allocated_cpu\n"


def test_a_link_in_the_place_of_a_key_is_replaced_not_written_through(tmp_path):
    (tmp_path / "precious").write_text("x")
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "job_id").symlink_to(tmp_path / "precious")
    write(VALUES, tmp_path / "job")
    assert (tmp_path / "precious").read_text() == "x"
    assert not (tmp_path / "job" / "job_id").is_symlink()


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../a", ".sssjob", "a.b", "a\0b", "ü", "a\n"]
)
def test_names_outside_the_alphabet_are_refused_before_anything_is_touched(tmp_path, name):
    with pytest.raises(InvalidValue):
        write({**VALUES, name: 1}, tmp_path / "job")
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize("value", ["", " \n", "a\0b", "x" * LONGEST, "\ud800"])
def test_values_that_no_reader_takes_back_are_refused(tmp_path, value):
    with pytest.raises(ValueError):  # noqa: PT011 - UnicodeEncodeError is one too
        write({**VALUES, "job_id": value}, tmp_path / "job")
    assert not (tmp_path / "job").exists()


OLD = {"wall_limit_secs": 1111111111, "job_id": "old", "hs06_job": 11}
NEW = {"wall_limit_secs": 2222222222, "job_id": "new", "max_rss_bytes": 22}
CALLS = ("open", "fchmod", "fsync", "rename", "unlink")


def failing(monkeypatch, call, nth):
    """Let the nth call of a function of os fail as a full or dying disk does."""
    genuine, count = getattr(os, call), 0

    def wrapper(*arguments, **keywords):
        nonlocal count
        count += 1
        if count == nth:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return genuine(*arguments, **keywords)

    monkeypatch.setattr(os, call, wrapper)
    return lambda: count >= nth


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("nth", range(1, 16))
def test_a_failure_at_any_point_leaves_whole_values_and_the_next_run_finishes(
    tmp_path, monkeypatch, call, nth
):
    write(OLD, tmp_path)
    with monkeypatch.context() as patch:
        happened = failing(patch, call, nth)
        try:
            write(NEW, tmp_path)
        except OSError:
            assert happened()
    visible = {name: text for name, text in files(tmp_path).items() if not name.startswith(".")}
    for name, text in visible.items():
        assert text in {f"{values[name]}\n".encode() for values in (OLD, NEW) if name in values}
    write(NEW, tmp_path)
    found = files(tmp_path)
    found.pop(MANIFEST)
    hidden = {name for name in found if name.startswith(".")}
    assert len(hidden) <= (call == "unlink"), "a temporary file is removed when its write fails"
    assert {name: found[name] for name in found.keys() - hidden} == {
        name: f"{value}\n".encode() for name, value in NEW.items()
    }


@pytest.mark.parametrize("call", ["fchmod", "fsync"])
@pytest.mark.parametrize("nth", range(1, 5))
def test_a_full_disk_leaves_a_directory_as_it_was(tmp_path, monkeypatch, call, nth):
    write(OLD, tmp_path / "old")
    before = files(tmp_path / "old")
    for name in ("old", "new"):
        with monkeypatch.context() as patch:
            failing(patch, call, nth)
            with pytest.raises(OSError, match="No space left"):
                write(NEW, tmp_path / name)
    assert files(tmp_path / "old") == before
    assert os.listdir(tmp_path) == ["old"]


class _Crash(BaseException):
    """The machine loses power: no handler of ours runs."""


@pytest.mark.parametrize("nth", range(1, 12))
def test_a_crash_before_any_rename_leaves_whole_values(tmp_path, monkeypatch, nth):
    write(OLD, tmp_path)
    count = 0
    genuine = os.rename

    def rename(*arguments, **keywords):
        nonlocal count
        count += 1
        if count == nth:
            raise _Crash
        genuine(*arguments, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "_unnamed", lambda *_: -1)  # so that each name is given by a rename
        patch.setattr(os, "rename", rename)
        if nth <= 5:
            with pytest.raises(_Crash):
                write(NEW, tmp_path)
        else:
            write(NEW, tmp_path)
    values = read(tmp_path).values
    assert all(value in (OLD.get(name), NEW.get(name)) for name, value in values.items())
    write({}, tmp_path)
    assert read(tmp_path).values == {}, "whatever was written before the crash is still ours"


def test_data_reaches_the_disk_before_its_name_and_the_directory_last(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "fchmod", "rename", "link"):
        genuine = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *a, n=name, g=genuine, **k: (calls.append(n), g(*a, **k))[1]
        )
    write({"job_id": "1"}, tmp_path)
    named = calls[4:6]
    assert named in (["link"] * 2, ["rename"] * 2)
    assert calls == ["fchmod", "fsync"] * 2 + named + ["fsync"]


texts = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=99
).map(str.strip).filter(bool)  # fmt: skip
numbers = {
    name: st.integers(1, keys.LARGEST)
    for row in keys.JOB_FEATURES
    if (name := row.v2016) and row.kind not in (keys.TEXT, keys.REAL, keys.TIME)
}
unknown = st.text(string.ascii_lowercase + "_", min_size=1, max_size=20).map(
    lambda name: f"x_{name}"
)


@given(
    st.fixed_dictionaries({}, optional={**numbers, "job_id": texts}),
    st.dictionaries(unknown, texts, max_size=3),
)
def test_what_was_written_is_read(tmp_path_factory, known, extra):
    directory = tmp_path_factory.mktemp("mjf") / "job"
    values = {**known, **extra}
    write(values, directory)
    reading = read(directory)
    assert reading.values == values
    assert reading.findings == ()
