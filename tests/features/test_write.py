import errno
import os
import stat
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kill_walks import NEW, OLD, spelled, texts, walked
from killing import between

from sssjob import directory_trees as trees
from sssjob.errors import InvalidValue
from sssjob.features import files as files_of
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


CALLS = ("open", "fchmod", "fsync", "rename", "unlink")


def failing(monkeypatch, call, nth, code=errno.ENOSPC):
    """Let the nth call of a function of os fail as a full or dying disk does."""
    genuine, count = getattr(os, call), 0

    def wrapper(*arguments, **keywords):
        nonlocal count
        count += 1
        if count == nth:
            raise OSError(code, os.strerror(code))
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


@pytest.fixture(params=["exchange", "in place"])
def exchange(request, monkeypatch):
    """Every test, also as where directories cannot be exchanged; whether they can."""
    if request.param == "in place":

        def refused(*_):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

        monkeypatch.setattr(trees, "_exchange", refused)
    return request.param == "exchange"


def test_who_reads_at_any_moment_never_sees_values_of_two_calls(tmp_path, exchange):
    write(OLD, tmp_path / "job")
    seen = []
    between(lambda: write(NEW, tmp_path / "job"), lambda: seen.append(texts(tmp_path / "job")))
    assert len(seen) > 20
    for each in seen:
        assert any(each.items() <= spelled(values).items() for values in (OLD, NEW))
    if exchange:
        assert [each for each in seen if each not in (spelled(OLD), spelled(NEW))] == []
    assert texts(tmp_path / "job") == spelled(NEW)
    assert os.listdir(tmp_path) == ["job"]


@pytest.mark.parametrize("can_exchange", [True, False], ids=["exchange", "in place"])
def test_a_kill_at_any_moment_leaves_no_mixture_and_the_next_run_nothing_else(
    tmp_path, can_exchange
):
    walked("values", str(tmp_path), can_exchange)


def test_a_kill_while_a_directory_is_made_leaves_none_and_the_next_run_nothing_else(tmp_path):
    walked("new_values", str(tmp_path))


def test_who_reads_while_a_directory_takes_its_place_gets_the_new_one(tmp_path, monkeypatch):
    write(OLD, tmp_path / "job")
    genuine = files_of.content

    def content(folder, name):
        monkeypatch.setattr(files_of, "content", genuine)
        found = genuine(folder, name)
        write(NEW, tmp_path / "job")
        return found

    monkeypatch.setattr(files_of, "content", content)
    assert texts(tmp_path / "job") == spelled(NEW)


def test_what_takes_the_place_of_a_directory_is_like_it(tmp_path):
    write(OLD, tmp_path / "job")
    job = tmp_path / "job"
    (job / "others").write_text("x")
    (job / "link").symlink_to("others")
    job.chmod(0o2750)
    if os.geteuid() == 0:
        os.chown(job, 1234, 5678)
        job.chmod(0o2750)
    before, inode = job.stat(), (job / "others").stat().st_ino
    write(NEW, job)
    after = job.stat()
    assert after.st_ino != before.st_ino
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode, before.st_uid, before.st_gid,
    )  # fmt: skip
    assert (job / "others").stat().st_ino == inode
    assert os.readlink(job / "link") == "others"


def test_what_others_put_there_meanwhile_stays(tmp_path, monkeypatch):
    write(OLD, tmp_path / "job")
    (tmp_path / "job" / "replaced").write_text("old")
    genuine = trees._exchange

    def exchange(*arguments):
        (tmp_path / "job" / "late").write_text("x")
        (tmp_path / "new").write_text("new")
        (tmp_path / "new").rename(tmp_path / "job" / "replaced")
        genuine(*arguments)

    monkeypatch.setattr(trees, "_exchange", exchange)
    write(NEW, tmp_path / "job")
    assert texts(tmp_path / "job") == {**spelled(NEW), "late": "x", "replaced": "new"}


@pytest.mark.parametrize("why", ["a directory in it", "here", "by a handle", "of another"])
def test_a_directory_that_has_to_stay_is_written_in_place(tmp_path, monkeypatch, why):
    job = tmp_path / "job"
    write(OLD, job)
    inode = job.stat().st_ino
    place = job
    if why == "a directory in it":
        (job / "inner").mkdir()
    elif why == "here":
        monkeypatch.chdir(job)
        place = "."
    elif why == "by a handle":
        place = os.open(job, os.O_RDONLY)
    else:
        monkeypatch.setattr(trees, "_resemble", refused)
    write(NEW, place)
    assert job.stat().st_ino == inode
    assert {name: text for name, text in texts(job).items() if name != "inner"} == spelled(NEW)
    assert os.listdir(tmp_path) == ["job"]
    if why == "by a handle":
        os.close(place)


def refused(*_):
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("call", ["scandir", "listdir", "stat", "link", "fsync", "mkdir", "rename"])
@pytest.mark.parametrize("code", [errno.EIO, errno.EPERM])
def test_a_failure_before_or_behind_the_exchange_leaves_one_of_both(
    tmp_path, monkeypatch, call, code
):
    for nth in range(1, 60):
        write(OLD, tmp_path / "job")
        with monkeypatch.context() as patch:
            happened = failing(patch, call, nth, code)
            allowed = [spelled(NEW)]
            try:
                write(NEW, tmp_path / "job")
            except OSError:
                allowed += [spelled(OLD)]
            has_happened = happened()
        assert texts(tmp_path / "job") in allowed
        assert has_happened or len(allowed) == 1
        if not has_happened:
            break
    write(NEW, tmp_path / "job")
    assert not has_happened
    assert os.listdir(tmp_path) == ["job"]
    assert {*os.listdir(tmp_path / "job")} == {*NEW, MANIFEST}


def test_another_directory_that_takes_the_place_meanwhile_stays(tmp_path, monkeypatch):
    write(OLD, tmp_path / "job")
    genuine = trees._exchange

    def exchange(*arguments):
        monkeypatch.setattr(trees, "_exchange", genuine)
        (tmp_path / "job").rename(tmp_path / "moved")
        (tmp_path / "job").mkdir()
        (tmp_path / "job" / "precious").write_text("x")
        genuine(*arguments)

    monkeypatch.setattr(trees, "_exchange", exchange)
    write(NEW, tmp_path / "job")
    assert os.listdir(tmp_path / "job") == ["precious"]
    assert texts(tmp_path / "moved") == spelled(NEW)
    assert sorted(os.listdir(tmp_path)) == ["job", "moved"]


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


some_text = st.text(
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
    st.fixed_dictionaries({}, optional={**numbers, "job_id": some_text}),
    st.dictionaries(unknown, some_text, max_size=3),
)
def test_what_was_written_is_read(tmp_path_factory, known, extra):
    directory = tmp_path_factory.mktemp("mjf") / "job"
    values = {**known, **extra}
    write(values, directory)
    reading = read(directory)
    assert reading.values == values
    assert reading.findings == ()
