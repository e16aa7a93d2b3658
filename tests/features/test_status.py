import errno
import fcntl
import os
import subprocess
import sys
import threading
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import HANG

from sssjob.errors import InvalidValue
from sssjob.features import keys, status
from sssjob.features.status import LOCK, LockTimeout, read, write

NOW = 1_700_000_000

# Writes one number to four keys, over and over, until its standard input ends.
WRITER = """
import select, sys
from sssjob.features.status import write
names, number = ("used_CPU", "last_job_start", "add_uncom_time", "priority_factor"), 0
while not select.select([sys.stdin], [], [], 0)[0]:
    number += 1
    write(dict.fromkeys(names, number), sys.argv[1], wait=60)
"""


def test_what_was_written_is_read(tmp_path):
    write({"used_CPU": 4, "last_job_start": NOW, "can_postpone_last_job": True}, tmp_path)
    found = read(tmp_path)
    assert found.values == {"used_CPU": 4, "last_job_start": NOW, "can_postpone_last_job": "True"}
    assert found.consistent
    assert found.findings == ()
    assert found.written <= found.now
    assert (tmp_path / "can_postpone_last_job").read_bytes() == b"True\n"


def test_others_stay_and_none_removes_one(tmp_path):
    write({"used_CPU": 4, "last_job_start": NOW, "priority_factor": -3}, tmp_path)
    write({"last_job_start": None, "add_uncom_time": 0}, tmp_path)
    assert read(tmp_path).values == {"used_CPU": 4, "priority_factor": -3, "add_uncom_time": 0}


def test_a_directory_without_the_lock_file_has_no_status_and_none_is_made(tmp_path):
    assert read(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_the_lock_file_is_never_replaced(tmp_path):
    write({"used_CPU": 123456}, tmp_path)
    before = os.stat(tmp_path / LOCK).st_ino
    write({"used_CPU": 4}, tmp_path)
    assert os.stat(tmp_path / LOCK).st_ino == before
    assert (tmp_path / LOCK).read_bytes() == b"4\n"


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_site_can_read_whatever_the_umask_of_the_pilot(tmp_path, umask):
    before = os.umask(umask)
    try:
        write({"used_CPU": 4, "priority_factor": 1}, tmp_path)
    finally:
        os.umask(before)
    for name in (LOCK, "priority_factor"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("lock", [fcntl.lockf, fcntl.flock], ids=["lockf", "flock"])
def test_a_lock_that_is_never_given_back_is_not_waited_for(tmp_path, lock):
    write({"used_CPU": 4, "priority_factor": 1}, tmp_path)
    holder = subprocess.Popen(
        [sys.executable, "-c", "import fcntl, sys\n"
         f"file = open(sys.argv[1], 'r+')\nfcntl.{lock.__name__}(file, fcntl.LOCK_EX)\n"
         "print('held', flush=True)\nsys.stdin.read()", tmp_path / LOCK],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockTimeout) as error:
            read(tmp_path, wait=0.05)
        assert error.value.snapshot.values == {"used_CPU": 4, "priority_factor": 1}
        assert not error.value.snapshot.consistent
        with pytest.raises(LockTimeout):
            write({"used_CPU": 5}, tmp_path, wait=0.05)
        holder.stdin.close()
    assert read(tmp_path).values["used_CPU"] == 4


def test_readers_do_not_keep_each_other_out(tmp_path):
    write({"used_CPU": 4}, tmp_path)
    with open(tmp_path / LOCK) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert read(tmp_path, wait=0).values == {"used_CPU": 4}


def test_two_processes_hammer_a_directory_and_no_reader_sees_a_torn_snapshot(tmp_path):
    command = [sys.executable, "-c", WRITER, tmp_path]
    writers = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(2)]
    snapshots, numbers = [], set()
    while len(numbers) < 20 and len(snapshots) < 100_000:
        found = read(tmp_path, wait=60)
        if found is not None:
            snapshots.append(found.values)
            numbers.update(found.values.values())
    for writer in writers:
        writer.communicate(timeout=HANG)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert [values for values in snapshots if len(set(values.values())) > 1] == []
    assert {len(values) for values in snapshots} == {4}
    assert len(numbers) >= 20, "it read while they wrote"


def test_threads_of_one_process_exclude_each_other_too(tmp_path):
    write({"used_CPU": 0, "priority_factor": 0}, tmp_path)
    torn, over = [], threading.Event()

    def watch():
        while not over.is_set():
            if len(set(read(tmp_path, wait=60).values.values())) > 1:
                torn.append(1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(50):
        write({"used_CPU": number, "priority_factor": number}, tmp_path, wait=60)
    over.set()
    watcher.join()
    assert torn == []


@pytest.mark.parametrize(
    "text, value, codes",
    [
        ("True", "True", []), ("False", "False", []), ("true", "True", ["W-TYPE"]),
        ("0", "False", ["W-TYPE"]), ("yes", "True", ["W-TYPE"]), ("perhaps", None, ["E-TYPE"]),
    ],
)  # fmt: skip
def test_truth_is_read_in_several_spellings_with_a_word_about_it(tmp_path, text, value, codes):
    write({"used_CPU": 1}, tmp_path)
    (tmp_path / "can_postpone_last_job").write_text(text)
    found = read(tmp_path)
    assert found.values.get("can_postpone_last_job") == value
    assert [finding.code for finding in found.findings] == codes


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"used_CPU": -1}, id="fewer than no cores"),
        pytest.param({"used_CPU": None}, id="the lock is not removed"),
        pytest.param({"last_job_start": "soon"}, id="no time"),
        pytest.param({"can_postpone_last_job": "perhaps"}, id="neither true nor false"),
        pytest.param({"../x": 1}, id="no name"),
    ],
)
def test_what_no_reader_takes_is_refused_before_anything_is_touched(tmp_path, values):
    with pytest.raises(InvalidValue):
        write(values, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_pilot_cannot_make_the_site_open_something_else(tmp_path):
    place = tmp_path / "status"
    place.mkdir()
    os.mkfifo(place / LOCK)
    with pytest.raises(InvalidValue):
        read(place, wait=0)
    (place / LOCK).unlink()
    (place / LOCK).symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic links"):
        read(place, wait=0)


def test_bad_values_spare_the_rest(tmp_path):
    write({"used_CPU": 1, "priority_factor": 2}, tmp_path)
    (tmp_path / LOCK).write_bytes(b"\xff")
    (tmp_path / "add_uncom_time").write_text("3 hours")
    found = read(tmp_path)
    assert found.values == {"priority_factor": 2}
    assert {finding.code for finding in found.findings} == {"E-TYPE"}


_NUMBERS = {row.name: row.kind for row in keys.JOB_STATUS if row.kind in (keys.INTEGER, keys.REAL)}


@given(
    st.dictionaries(st.sampled_from(sorted(_NUMBERS)), st.decimals(0, 10**9, places=6), max_size=4),
    st.floats(0, 1e10),
    st.none() | st.floats(0, 1e10),
    st.booleans(),
)
def test_a_snapshot_that_is_kept_is_the_same_one(values, now, written, consistent):
    known = {
        name: int(value) if _NUMBERS[name] == keys.INTEGER else Fraction(value)
        for name, value in values.items()
    }
    snapshot = status.StatusSnapshot(known, now, written, consistent)
    assert status.loads(status.dumps(snapshot), "here") == snapshot


def test_no_snapshot_is_kept_as_none():
    assert status.loads(status.dumps(None), "here") is None


@pytest.mark.parametrize("octets", [b"{", b"1", b"[1, 2, 3, 4]", b'[{"a": 1}, 2, 3]', b"\xff"])
def test_what_is_no_snapshot_is_refused(octets):
    with pytest.raises(InvalidValue):
        status.loads(octets, "here")


@pytest.mark.parametrize(
    "call", ["open", "write", "pwrite", "ftruncate", "fsync", "fchmod", "link"]
)
def test_an_error_names_a_file_below_the_directory_that_was_named(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    os.mkdir("js")
    own = getattr(os, call)

    def fails(*arguments, **options):
        if call == "open" and not options:  # the directory itself
            return own(*arguments, **options)
        named = arguments[:1] if call == "open" else ()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *named)

    monkeypatch.setattr(os, call, fails)
    with pytest.raises(OSError, match="No space") as error:
        write({"used_CPU": 4, "last_job_start": NOW}, "js")
    assert os.path.dirname(error.value.filename) == "js"
    assert os.path.basename(error.value.filename) in {*keys_of_files(), ".sssjob"}


def keys_of_files():
    return {row.name for row in keys.JOB_STATUS}
