"""Whenever the power goes, what was told is there, nothing is half, and a rerun heals."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from power_loss import Recorded

from sssjob import store
from sssjob.gateway.outbox import Outbox

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace, which records system calls, is not installed"
)
TOLD = "import os; os.write(1, b'!')"
JOBS = "".join(f"<Job><Id>{number}</Id><State>Running</State></Job>\n" for number in (1, 2))


class Case(NamedTuple):
    """A program, what is seen of what it makes, and what makes what is there before."""

    code: str
    seen: Callable[[], object]
    prepare: Callable[[], object] = lambda: None


def text(name):
    return lambda: Path(name).read_text() if Path(name).exists() else None


def features():
    keys = ("job_id", "allocated_cpu", "max_rss_bytes")
    return {key: Path("job", key).read_text() for key in keys if Path("job", key).exists()}


def documents():
    if not Path("jobs.db").exists():
        return []
    with store.open("jobs.db") as jobs:
        assert [*jobs.check()] == []
        return sorted(each.document for each in jobs.documents())


def parcels():
    if not Path("queue").exists():
        return None
    queue = Outbox(Path("queue"))
    try:
        return queue.counts()
    finally:
        queue.close()


def made():
    Path("jobs.sss").write_text(JOBS)
    store.open("jobs.db", create=True).close()


WRITE = """
from sssjob.features.write import write
write({"job_id": "new", "max_rss_bytes": 2}, "job")
"""
IMPORT = """
from sssjob import store
with store.open("jobs.db") as jobs:
    jobs.load("jobs.sss")
"""
ADD = """
from pathlib import Path
from sssjob.gateway.outbox import Outbox
queue = Outbox(Path("queue"))
queue.add("1", [("JobId", "1")], 0.0)
queue.close()
"""
FILE = """
from sssjob import outputs
with outputs.writing("out") as file:
    file.write(b"new" * 9)
"""
MANY = """
from sssjob import outputs
with outputs.Many() as many:
    many.put("a", b"1")
    many.put("b", b"2")
"""
EARLIER = WRITE.replace("new", "old").replace("max_rss_bytes", "allocated_cpu")
CASES = {
    "a file": Case(FILE, text("out"), lambda: Path("out").write_text("old")),
    "a new file": Case(FILE, text("out")),
    "a file of ours": Case(
        "from sssjob import atomic\natomic.put('.', 'out', b'new')", text("out")
    ),
    "many files": Case(MANY, lambda: (text("a")(), text("b")())),
    "features": Case(WRITE, features, lambda: exec(EARLIER)),
    "new features": Case(WRITE, features),
    "an import": Case(IMPORT, documents, made),
    "an outbox": Case(ADD, parcels, lambda: Outbox(Path("queue")).close()),
}
MAY_BE_PARTS = ("many files", "new features")  # which appear one by one


@pytest.mark.parametrize("name", CASES)
def test_what_was_told_is_there_after_a_loss_of_power_and_nothing_is_half(name, tmp_path):
    case = CASES[name]
    work = tmp_path / "work"
    work.mkdir()
    here = Path.cwd()
    try:
        os.chdir(work)
        case.prepare()
        recorded = Recorded(work)
        shutil.copytree(work, tmp_path / "before")
        recorded.run(f"{case.code}\n{TOLD}")
        behind = case.seen()
        os.chdir(tmp_path / "before")
        before = case.seen()
        assert before != behind
        known = set()
        for told, disk in recorded.losses():
            key = repr(sorted(disk.nodes.items())), told
            if key in known:
                continue
            known.add(key)
            place = tmp_path / f"{len(known)}"
            place.mkdir()
            disk.save(place)
            os.chdir(place)
            found = case.seen()
            if told:
                assert found == behind
            elif name not in MAY_BE_PARTS:
                assert found in (before, behind)
            if name != "an outbox":  # to which the same once more is another one
                exec(case.code, {})
                assert case.seen() == behind
            os.chdir(tmp_path)
            shutil.rmtree(place)
        assert len(known) > 3
    finally:
        os.chdir(here)
