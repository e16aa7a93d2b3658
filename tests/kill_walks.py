"""Walks that kill what writes before each of its calls of the system, in a small process.

Each moment is a fork of the process that walks. One of pytest holds all tests, and a fork of it
costs twenty times as much as one of this program, which imports what it walks through and no more.
It prints why nothing can be tried here, if so, and fails where an assertion does. Who plants faults
in this process (tests/long/mutate.py) has it walk here.
"""

import errno
import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

from killing import between, killed

from sssjob import atomic, outputs
from sssjob import directory_trees as trees
from sssjob.features import files as files_of
from sssjob.features.batch import directories as module
from sssjob.features.batch.directories import Directories
from sssjob.features.read import read
from sssjob.features.write import MANIFEST, write

JOB = {"job_id": "3", "allocated_cpu": 2, "wall_limit_secs": 600}
OLD = {"wall_limit_secs": 1111111111, "job_id": "old", "hs06_job": 11}
NEW = {"wall_limit_secs": 2222222222, "job_id": "new", "max_rss_bytes": 22}


HERE = "SSSJOB_TESTS_WALK_HERE"  # a variable of the environment
_changed = []


def walked(name, *arguments):
    """Walk in a process of its own: why it cannot be tried here, or nothing."""
    if HERE in os.environ:
        try:
            return WALKS[name](*arguments)
        finally:
            while _changed:
                setattr(*_changed.pop())
    command = [sys.executable, __file__, name, *map(json.dumps, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def change(owner, name, value):
    """Give something another value for the rest of the walk."""
    _changed.append((owner, name, getattr(owner, name)))
    setattr(owner, name, value)


def without_syncs():
    """Nothing is forced to disk, which takes long; a kill does not stop the disk."""
    change(os, "fsync", lambda _: None)


def refusing(code):
    """What refuses whatever it is given."""

    def refused(*_):
        raise OSError(code, os.strerror(code))

    return refused


def moments(tries, least):
    """Each moment, until what is tried has ended before it; there are more than so many."""
    for moment in range(1000):
        if tries(moment):
            assert moment > least, moment
            return
    raise AssertionError("it never came to its end")


# Directories of jobs


def mounted(place):
    """The lines of what is mounted below a directory."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return [line for line in lines if f" {place}/" in line]


def take_away(directories):
    """What an epilog does."""
    with directories.held() as held:
        directories.remove_held(held)


def as_user(function):
    """What a function that runs as the second user ends with: 0, or the number of an error."""
    pid = os.fork()
    if pid == 0:
        code = 255
        try:
            os.setuid(pwd.getpwnam("daemon").pw_uid)
            function()
            code = 0
        except OSError as error:
            code = error.errno
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def job_directories(root, call, room, by):
    """What a kill leaves of a prolog or an epilog goes with a prolog of another job, or a sweep."""
    without_syncs()
    directories, other = Directories(Path(root), "3"), Directories(Path(root), "4")
    directories.root.mkdir()
    if why := directories.make(JOB, "", room):
        return why
    take_away(directories)
    left = set()

    def tries(moment):
        if call == "remove":
            directories.make(JOB, "", room)
            ended = killed(lambda: take_away(directories), moment)
        else:
            ended = killed(lambda: directories.make(JOB, "", room), moment)
        if directories.job.exists():
            assert read(directories.jobfeatures).values == JOB, moment
        take_away(directories)
        hidden = os.listdir(root)
        left.update(hidden)
        if by == "prolog":
            other.make(JOB)
            assert os.listdir(root) == ["4"], moment
            take_away(other)
        else:
            assert module.sweep(directories.root, dry_run=True) == tuple(hidden), moment
            assert module.sweep(directories.root) == tuple(hidden), moment
            assert os.listdir(root) == [], moment
        assert mounted(root) == [], moment
        return ended

    moments(tries, 10)
    assert left
    return ""


def limits_of_users(root, room, can_mount):
    """At no moment of a prolog has a user a directory without a limit."""
    directories = Directories(Path(root), "3")
    directories.root.mkdir()
    directories.root.parent.chmod(0o755)
    if can_mount and (why := directories.make(JOB, "daemon", room)):
        return why
    without_syncs()
    of_all = directories.root.stat().st_dev
    if not can_mount:
        change(trees, "mount", refusing(errno.EPERM))

    def writes():
        for place, _, _ in os.walk(directories.root):
            is_his = os.access(place, os.W_OK) or os.stat(place).st_uid == os.getuid()
            if is_his and os.stat(place).st_dev == of_all:
                raise OSError(errno.EDQUOT, place)

    looks = []
    between(lambda: directories.make(JOB, "daemon", room), lambda: looks.append(as_user(writes)))
    assert set(looks) == {0}, looks
    assert len(looks) > 50
    wanted = 0 if can_mount else errno.ENOENT
    assert as_user(lambda: (directories.jobstatus / "x").touch()) == wanted
    return ""


# Files of keys and values


def spelled(values):
    return {name: str(value) for name, value in values.items()}


def texts(directory):
    return files_of.texts(directory)[0]


def _as_exchanges(can):
    """Where directories cannot be exchanged, values are written in place."""
    if not can:
        change(trees, "_exchange", refusing(errno.EINVAL))


def values(folder, can_exchange):
    """A kill leaves no mixture of old and new values, and the next run nothing else."""
    without_syncs()
    _as_exchanges(can_exchange)
    job, kept, found = Path(folder, "job"), {"others": "x"}, []
    write(OLD, job)
    (job / "others").write_text("x")

    def tries(moment):
        write(OLD, job)
        ended = killed(lambda: write(NEW, job), moment)
        seen = texts(job)
        wholes = [{**spelled(each), **kept} for each in (OLD, NEW)]
        assert any(seen.items() <= whole.items() for whole in wholes), (moment, seen)
        found.append(seen)
        write(NEW, job)
        assert texts(job) == {**spelled(NEW), **kept}, moment
        assert {*os.listdir(job)} == {*NEW, MANIFEST, "others"}, moment
        assert os.listdir(folder) == ["job"], moment
        return ended

    moments(tries, 20)
    if can_exchange:
        assert all(seen in ({**spelled(OLD), **kept}, {**spelled(NEW), **kept}) for seen in found)
    return ""


def new_values(folder):
    """A kill while a directory is made leaves none, and the next run nothing else."""
    without_syncs()
    job = Path(folder, "job")

    def tries(moment):
        ended = killed(lambda: write(NEW, job), moment)
        if job.exists():
            assert texts(job) == spelled(NEW), moment
            shutil.rmtree(job)
        write(NEW, job)
        assert os.listdir(folder) == ["job"], moment
        shutil.rmtree(job)
        return ended

    moments(tries, 20)
    return ""


# Files that a caller named


def contents(directory):
    return {path.name: path.read_bytes() for path in Path(directory).iterdir()}


def _as_unnamed(can):
    """As on a file system that has, or has not, files without a name."""
    if not can:
        change(atomic, "_unnamed", lambda *_: -1)


def one_file(folder, can_be_unnamed):
    """A kill leaves a file whole, and beside it nothing that stays."""
    _as_unnamed(can_be_unnamed)
    file, found = Path(folder, "file"), set()

    def put(content):
        with outputs.writing(file) as stream:
            stream.write(content)

    def tries(moment):
        file.write_bytes(b"old")
        ended = killed(lambda: put(b"new" * 50_000), moment)
        found.add(file.read_bytes())
        assert len(os.listdir(folder)) <= 2, moment
        put(b"more")
        assert contents(folder) == {"file": b"more"}, moment
        return ended

    moments(tries, 10)
    assert found == {b"old", b"new" * 50_000}
    return ""


def many_files(folder, can_be_unnamed):
    """A kill leaves each of many files whole."""
    _as_unnamed(can_be_unnamed)
    old, new = (dict.fromkeys("abc", content * 9000) for content in (b"old", b"new"))

    def put(contents):
        with outputs.Many() as files:
            for name, content in contents.items():
                files.put(Path(folder, name), content)

    def tries(moment):
        put(old)
        ended = killed(lambda: put(new), moment)
        found = {Path(folder, name).read_bytes() for name in "abc"}
        assert found <= {b"old" * 9000, b"new" * 9000}, moment
        put(old)
        assert contents(folder) == old, moment
        return ended

    moments(tries, 10)
    return ""


WALKS = {
    walk.__name__: walk
    for walk in (job_directories, limits_of_users, values, new_values, one_file, many_files)
}

if __name__ == "__main__":
    print(WALKS[sys.argv[1]](*map(json.loads, sys.argv[2:])), end="")
