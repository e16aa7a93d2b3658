"""Whatever happens to a process that writes: the store has whole documents only, and none twice.

SSSJOB_CRASHES says how many times an import is killed; by default few times.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sssjob import store
from sssjob.atomic import hidden_head
from sssjob.outputs import Aside

CRASHES = int(os.environ.get("SSSJOB_CRASHES", "40"))

# Forks a process for each seed, which loads a source and is killed (SIGKILL) after a random
# number of steps: of the database's own machine, or between two statements. Then says what is in
# the store and what is wrong with it.
PROGRAM = """
import json, os, random, signal, sys
from sssjob import store
from sssjob.store import loading

address, crashes, *sources = sys.argv[1:]
loading._DOCUMENTS = 7

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def load(chance, source):
    with store.open(address) as jobs:
        if hasattr(jobs.engine, "path") and chance.random() < 0.7:
            left = iter(range(chance.randrange(1, 600)))
            jobs.engine._connection.set_progress_handler(
                lambda: die() if next(left, None) is None else 0, chance.choice((1, 10, 100))
            )
        else:
            left = iter(range(chance.randrange(1, 60)))
            fetch = jobs.engine.fetch
            def counted(*arguments):
                if next(left, None) is None:
                    die()
                return fetch(*arguments)
            jobs.engine.fetch = counted
        jobs.load(source)

store.open(address, create=True).close()
for seed in range(int(crashes)):
    chance = random.Random(seed)
    source = chance.choice(sources)
    pid = os.fork()
    if not pid:
        load(chance, source)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    with store.open(address, read_only=True) as jobs:
        print(json.dumps({
            "killed": os.WIFSIGNALED(status),
            "documents": [stored.document.decode() for stored in jobs.documents()],
            "faults": [str(fault) for fault in jobs.check()],
        }), flush=True)
"""


def job(number, state):
    return f"<Job><Id>{number}</Id><State>{state}</State><Name>{'x' * (number % 50)}</Name></Job>"


def test_a_killed_import_leaves_whole_documents_and_can_be_run_again(address, tmp_path):
    states = ("Idle", "Running", "Completed")
    written = {state: [job(number, state) for number in range(60)] for state in states}
    sources = []
    for state, documents in written.items():
        sources.append(tmp_path / state)
        sources[-1].write_text("\n".join(documents))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, address, str(CRASHES), *map(str, sources)],
        stdout=subprocess.PIPE, check=True, text=True,
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines()]
    whole = {document for documents in written.values() for document in documents}
    assert len(found) == CRASHES
    assert sum(each["killed"] for each in found) > CRASHES / 4
    for each in found:
        assert each["faults"] == []
        assert set(each["documents"]) <= whole
        ids = [document.split("<")[2] for document in each["documents"]]
        assert len(set(ids)) == len(ids)
    with store.open(address) as jobs:
        jobs.load(sources[-1])
        documents = [stored.document.decode() for stored in jobs.documents()]
        assert sorted(documents) == sorted(written["Completed"])
        for stored in jobs.documents():
            versions = jobs.versions(stored.identity)
            assert [each.version for each in versions] == list(range(1, stored.version + 1))


@pytest.mark.parametrize("missing", ["job_id", "job_user_state"])
def test_indexes_that_an_import_could_not_make_are_made_by_whoever_comes_next(address, missing):
    with store.open(address, create=True) as jobs:
        jobs.engine.fetch(f"DROP INDEX {missing}")
    with store.open(address, read_only=True) as jobs:
        assert missing not in jobs.engine.indexes()
    with store.open(address) as jobs:
        assert missing in jobs.engine.indexes()


# Makes a store, and is killed (SIGKILL) in one of the steps of that.
MAKING = """
import os, signal, sys
from sssjob import store
from sssjob.store import opening

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

home, _, name = sys.argv[2].rpartition(".")
setattr({"opening": opening, "SQLite": opening.SQLite, "os": os}[home], name, die)
store.open(sys.argv[1], create=True)
"""


@pytest.mark.parametrize(
    "step, left",
    [
        ("opening.prepare", 1), ("SQLite.add", 2), ("SQLite.close", 1), ("os.link", 1),
        ("os.fsync", 2),
    ],
)  # fmt: skip
def test_who_is_killed_while_making_a_store_leaves_nothing_to_those_who_come_next(
    tmp_path, step, left
):
    path = tmp_path / "jobs.db"
    killed = subprocess.run([sys.executable, "-c", MAKING, path, step], check=False)
    assert killed.returncode < 0
    assert len(list(tmp_path.iterdir())) >= left
    store.open(path, create=True).close()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_journal_and_a_second_name_that_killed_processes_left_go(tmp_path):
    path = tmp_path / "jobs.db"
    with store.open(path, create=True) as jobs, jobs.change() as change:
        change.put(b"<Job><Id>1</Id></Job>")
    hidden = tmp_path / f"{hidden_head(path.name)}-0"
    hidden.hardlink_to(path)
    with store.open(path, create=True) as jobs:
        assert jobs.count() == 1
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    path.unlink()
    for end in ("", "-journal", "-wal", "-shm"):
        hidden.with_name(hidden.name + end).write_bytes(b"what is left")
    store.open(path, create=True).close()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_what_another_process_is_making_stays(tmp_path):
    path = tmp_path / "jobs.db"
    with Aside(path, ("-journal",)) as held:
        journal = Path(f"{held}-journal")
        journal.write_bytes(b"of another one")
        store.open(path, create=True).close()
        assert journal.read_bytes() == b"of another one"
        assert os.path.exists(held)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
