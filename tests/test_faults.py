"""The n-th write, fsync, rename, link, ... fails, for every n: nothing is half, a rerun heals.

Python's own calls fail by a wrapper; what SQLite writes fails by a limit of the size of files, at
many sizes. What was said to be done is done; what failed leaves the state before or the one behind,
and nothing beside it.
"""

import errno
import os
import pwd
import resource
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from pretended import Pretended

from sssjob import atomic, cli, store
from sssjob.errors import SSSJobError
from sssjob.features import files
from sssjob.features.write import write
from sssjob.gateway.outbox import Outbox, ParcelState
from sssjob.submission import How, InFile, SubmitOptions, submit

CALLS = ("open", "write", "fsync", "fchmod", "rename", "link", "unlink", "mkdir", "dup")
CODES = {"full": errno.ENOSPC, "broken": errno.EIO}
FAULTS = [f"{call} {code}" for call in CALLS for code in CODES]
MOST = 200  # calls of one function that a piece of work makes, or more
SACCT = "JobID|JobName|State|ElapsedRaw|NCPUS\n1|a|COMPLETED|60|4\n2|b|COMPLETED|60|4\n"
JOBS = "".join(f"<Job><Id>{number}</Id><State>Running</State></Job>\n" for number in (1, 2))


class Case(NamedTuple):
    """Something that goes from one state to another, in the directory where it stands.

    ``beside`` are names that may come besides.
    """

    prepare: Callable[[], None]
    work: Callable[[], None]
    seen: Callable[[], object]
    beside: tuple[str, ...] = ()


def command(*words):
    def run():
        try:
            cli.sssjob.main([*words], standalone_mode=False)
        except SystemExit as end:
            if end.code:
                raise OSError(errno.EIO, f"exit code {end.code}") from None

    return run


def given(**contents):
    def prepare():
        for name, content in contents.items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(content)

    return prepare


def seen(name):
    return lambda: Path(name).read_text() if Path(name).exists() else None


def features():
    write({"job_id": "old", "allocated_cpu": 1}, "job")


def outbox():
    Outbox(Path("queue")).close()


def sent():
    queue = Outbox(Path("queue"))
    try:
        queue.add("1", [("JobId", "1")], 0.0)
        [parcel] = [*queue.left()] or [None]
        if parcel:
            queue.move(parcel, ParcelState.SENT)
        queue.keep("seen", "1")
    finally:
        queue.close()


def queued():
    queue = Outbox(Path("queue"))
    try:
        return queue.fact("seen"), queue.counts()
    finally:
        queue.close()


CASES = {
    "convert": Case(
        given(sacct=SACCT, out="old"),
        command("convert", "--from", "slurm", "-o", "out", "sacct"),
        seen("out"),
    ),
    "convert, new": Case(
        given(sacct=SACCT), command("convert", "--from", "slurm", "-o", "out", "sacct"), seen("out")
    ),
    "deliver": Case(
        given(sacct=SACCT, jobs=JOBS),
        command("deliver", "--in-place", "jobs", "--record", "sacct"),
        seen("jobs"),
    ),
    "features": Case(
        features,
        lambda: write({"job_id": "new", "max_rss_bytes": 2}, "job"),
        lambda: files.texts("job")[0],
    ),
    "files together": Case(
        given(**{"d/a": "1", "d/b": "2"}),
        lambda: atomic.put(Path("d"), "a", b"3"),
        seen("d/a"),
    ),
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def failing(patch, call, nth, code):
    """Let the n-th call of a function of ``os`` fail; gives whether it came to that."""
    genuine, count = getattr(os, call), 0

    def wrapper(*arguments, **options):
        nonlocal count
        count += 1
        if count == nth:
            raise OSError(code, os.strerror(code))
        return genuine(*arguments, **options)

    patch.setattr(os, call, wrapper)
    return lambda: count >= nth


def anew(case):
    place = Path.cwd()
    os.chdir("..")
    shutil.rmtree(place)
    place.mkdir()
    os.chdir(place)
    case.prepare()


def names():
    return {str(each) for each in Path().rglob("*")}


def states(case):
    """The state before and the one behind, and the names that there may be."""
    anew(case)
    before = case.seen()
    case.work()
    behind = case.seen()
    assert before != behind
    return before, behind, names()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_call_that_fails_leaves_one_of_two_states_and_a_rerun_heals(case, fault, monkeypatch):
    before, behind, allowed = states(case)
    call, code = fault.split()
    for nth in range(1, MOST):
        anew(case)
        has_failed = False
        with monkeypatch.context() as patch:
            happened = failing(patch, call, nth, CODES[code])
            try:
                case.work()
            except (OSError, SSSJobError):
                has_failed = True
            came = happened()
        assert case.seen() in ((before, behind) if has_failed else (behind,)), nth
        if not came:
            assert not has_failed
            return
        case.work()
        assert case.seen() == behind
        assert names() <= allowed
    pytest.fail("it never ends")


def imported():
    with store.open("jobs.db", create=True) as jobs:
        jobs.load(Path("jobs.sss"))


def kept():
    with store.open("jobs.db", create=True) as jobs:
        assert [*jobs.check()] == []
        return [each.document for each in jobs.documents()]


def many():
    Path("jobs.sss").write_text(JOBS)
    store.open("jobs.db", create=True).close()


def delivered():
    imported()
    command("deliver", "jobs.db", "--record", "sacct")()


def noted():
    many()
    Path("sacct").write_text(SACCT)
    imported()


DATABASES = {
    "import": Case(many, imported, kept),
    "delivery to a store": Case(noted, delivered, kept),
    "outbox": Case(outbox, sent, queued),
}


def whole(found, before, behind):
    """Whether documents are some of those before, or of those behind; the outbox has no half."""
    if not isinstance(found, list):
        return found == before or found[0] is None
    return set(found) <= {*before, *behind}


def within(size, work):
    """Whether a process does something where no file grows beyond a size."""
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            work()
            code = 0
        except (OSError, SSSJobError, sqlite3.Error):
            code = 3
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 3)
    return code == 0


@pytest.mark.parametrize("case", DATABASES.values(), ids=DATABASES)
def test_a_database_whose_disk_is_full_keeps_what_was_told_to_be_there(case):
    before, behind, _ = states(case)
    outcomes = set()
    for pages in range(0, 60, 3):
        anew(case)
        is_done = within(pages * 4096, case.work)
        outcomes.add(is_done)
        found = case.seen()
        assert found == behind or (not is_done and whole(found, before, behind))
        case.work()
        assert case.seen() == behind
    assert outcomes == {True, False}


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "link", "unlink", "mkdir"])
def test_a_submission_whose_disk_fails_submits_once(call, tmp_path, monkeypatch):
    document = "<Job><Id>mine</Id><Executable>/bin/true</Executable></Job>"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for nth in range(1, MOST):
        place = tmp_path / f"{nth}"
        place.mkdir()
        monkeypatch.chdir(place)
        system = Pretended(place / "batch", "slurm", pwd.getpwuid(os.geteuid()).pw_name)
        with monkeypatch.context() as patch:
            patch.setenv("PATH", system.path)
            Path("job.xml").write_text(document)

            def work(system=system):
                wish = SubmitOptions(system.system)
                return [*submit(InFile(Path("job.xml")), wish, How(seconds=600))]

            with patch.context() as faulty:
                happened = failing(faulty, call, nth, errno.ENOSPC)
                try:
                    work()
                except (OSError, SSSJobError):
                    assert happened()
                came = happened()
            work()
            assert len(system.jobs) == 1
            assert "<SubmitTime>" in Path("job.xml").read_text()
        if not came:
            return
    pytest.fail("it never ends")
