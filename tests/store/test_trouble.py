"""A disk that is full, a file that is damaged, locked or no store: said, and nothing half done."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sssjob import store
from sssjob.errors import DamagedStore, FullStore, UnusableStore
from sssjob.store import opening

JOBS = [f"<Job><Id>{n}</Id><Name>{n * 7919 % 10007:x}</Name></Job>".encode() for n in range(4000)]

LIMITED = """
import resource, sys
from sssjob import store
from sssjob.errors import FullStore
address, source, limit = sys.argv[1:]
with store.open(address, create=True) as jobs:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    try:
        jobs.load(source)
    except FullStore as error:
        print(error)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "jobs.db"


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "jobs.sss"
    file.write_bytes(b"\n".join(JOBS))
    return file


def is_whole(jobs):
    documents = [each.document for each in jobs.documents()]
    assert documents == JOBS[: len(documents)]
    assert list(jobs.check()) == []
    return len(documents)


def test_a_disk_that_fills_up_leaves_what_was_whole(path, source):
    said = subprocess.run(
        [sys.executable, "-c", LIMITED, path, source, str(700_000)],
        stdout=subprocess.PIPE, check=True, text=True,
    ).stdout  # fmt: skip
    assert str(path) in said
    with store.open(path) as jobs:
        assert 0 < is_whole(jobs) < len(JOBS)
        jobs.load(source)
        assert is_whole(jobs) == len(JOBS)


MADE = """
import resource, signal, sys
from sssjob import store
from sssjob.errors import UnusableStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    store.open(sys.argv[1], create=True).close()
except UnusableStore as error:
    print(error)
"""


def test_a_store_for_which_there_is_no_room_is_not_there_at_all(tmp_path):
    outcomes = set()
    for room in (0, 1000, 5000, 33000, 40000, 50000, 60000, 70000, 80000, 1 << 20):
        path = tmp_path / str(room) / "jobs.db"
        path.parent.mkdir()
        said = subprocess.run(
            [sys.executable, "-c", MADE, path, str(room)],
            stdout=subprocess.PIPE, check=True, text=True,
        ).stdout  # fmt: skip
        assert said.startswith(str(path)) or not said
        made = [each.name for each in path.parent.iterdir()]
        if path.exists():
            with store.open(path, read_only=True) as jobs:
                assert jobs.count() == 0
            assert {name for name in made if name.startswith(".")} == set()
        else:
            assert said
            assert made == []
        outcomes.add((bool(said), path.exists()))
    assert outcomes >= {(True, False), (False, True)}


def test_who_is_slower_to_make_a_store_takes_the_one_that_is_there(path, monkeypatch):
    make = opening.prepare

    def slowly(engine):
        if engine.path != path and not path.exists():
            with monkeypatch.context() as patch:
                patch.setattr(opening, "prepare", make)
                with store.open(path, create=True) as other, other.change() as change:
                    change.put(b"<Job><Id>1</Id></Job>")
        make(engine)

    monkeypatch.setattr(opening, "prepare", slowly)
    with store.open(path, create=True) as jobs:
        assert jobs.get("1").document == b"<Job><Id>1</Id></Job>"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_store_is_made_where_files_have_no_second_names(path, monkeypatch):
    def link(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(opening.os, "link", link)
    with store.open(path, create=True) as jobs:
        assert jobs.count() == 0


def test_a_database_that_may_not_grow_says_that_there_is_no_room(path, source):
    with store.open(path, create=True) as jobs:
        jobs.engine.fetch("PRAGMA max_page_count = 90")
        with pytest.raises(FullStore, match="no room is left"):
            jobs.load(source)
        assert is_whole(jobs) < len(JOBS)


def test_a_damaged_document_is_named_and_the_others_are_saved(address, source):
    with store.open(address, create=True) as jobs:
        jobs.load(source)
        jobs.engine.fetch("UPDATE document SET data = ? WHERE id = '17'", (b"\0" * 40,))
        assert [(str(fault.identity), fault.version) for fault in jobs.check()] == [("Job 17", 1)]
        with pytest.raises(DamagedStore, match=r"Job 17, version 1, is damaged"):
            list(jobs.documents())
        errors = []
        saved = [each.document for each in jobs.documents(on_error=errors.append)]
        assert saved == [*JOBS[:17], *JOBS[18:]]
        assert len(errors) == 1


def test_importing_a_good_copy_mends_a_damaged_document(address, source):
    with store.open(address, create=True) as jobs:
        jobs.load(source)
        jobs.engine.fetch("UPDATE document SET data = ? WHERE id = '17'", (b"\0" * 40,))
        assert jobs.load(source).changed == 1
        assert jobs.get("17").document == JOBS[17]


def test_rows_that_are_not_those_of_their_document_are_found(address, source):
    with store.open(address, create=True) as jobs:
        jobs.load(source)
        jobs.engine.fetch("UPDATE job SET name = 'other' WHERE id = '17'")
        [fault] = jobs.check()
    assert str(fault) == "Job 17, version 1: its rows are not those of the document"


def damage_page(path, data):
    """Nothing is left of the page of a database that has these bytes."""
    content = bytearray(path.read_bytes())
    page = content.index(data) // 4096 * 4096
    content[page : page + 4096] = b"\xff" * 4096
    path.write_bytes(content)


@pytest.mark.parametrize("place", [0.2, 0.5, 0.8])
def test_pages_that_are_damaged_cost_the_documents_on_them_only(path, source, place):
    with store.open(path, create=True) as jobs:
        jobs.load(source)
        number = int(len(JOBS) * place)
        [(data,)] = jobs.engine.fetch("SELECT data FROM document WHERE number = ?", (number,))
    damage_page(path, data)
    with store.open(path) as jobs:
        errors = []
        saved = [each.document for each in jobs.documents(on_error=errors.append)]
        assert errors
        assert len(JOBS) - 200 < len(saved) < len(JOBS)
        assert saved == [job for job in JOBS if job in set(saved)]
        assert list(jobs.check())


def test_pages_that_are_damaged_cost_a_report_the_documents_on_them_only(path):
    made = [
        f"<Job><Id>{n}</Id><Name>{n * 7919 % 10007:x}</Name><EndTime>{end}</EndTime></Job>"
        for n, end in enumerate((5, 15) * 1500)
    ]
    with store.open(path, create=True) as jobs:
        jobs.load("\n".join(made).encode())
        [(data,)] = jobs.engine.fetch("SELECT data FROM document WHERE number = ?", (1500,))
    damage_page(path, data)
    with store.open(path) as jobs:
        errors = []
        there = [int(each.identity.id) for each in jobs.documents(on_error=lambda _: None)]
        parts = [*jobs.ended_within(10, 20, lambda _: None, on_error=errors.append)]
    found = [int(row[2]) for part in parts for row in part.rows]
    assert errors
    assert found == sorted({*found})
    assert {n for n in there if n % 2} <= {*found} <= {*there}
    assert max(found) == 2999
    assert [n for n in found if n < 1000] == [*range(1, 1000, 2)]


@pytest.mark.parametrize("table", ["document", "sqlite_master"])
def test_texts_that_are_damaged_are_told_as_such(path, table):
    with store.open(path, create=True) as jobs:
        jobs.load(b"<Job><Id>the-name-of-a-job</Id></Job>")
    was = b"the-name-of-a-job" if table == "document" else b'CREATE TABLE "note"'
    content = path.read_bytes()
    assert was in content
    path.write_bytes(content.replace(was, b"\xff" * len(was)))

    def changes():
        with store.open(path) as jobs:
            return list(jobs.changes())

    with pytest.raises(DamagedStore, match="the file is damaged"):
        changes()


@pytest.mark.parametrize("text", ["\udcff", "a\0b", "\ud800 \udfff"])
def test_what_no_text_of_a_document_is_finds_nothing(address, text):
    with store.open(address, create=True) as jobs:
        jobs.load(b"<Job><Id>1</Id></Job>")
        assert (jobs.get(text), list(jobs.changes(by=text))) == (None, [])


@pytest.mark.parametrize(
    "content, said",
    [
        pytest.param(b"", "an empty file, no store", id="empty"),
        pytest.param(b"<Job/>" * 400, "no store, nor any other database", id="jobs"),
        pytest.param(b"SQLite format 3\0", "no store|damaged", id="cut off"),
    ],
)
def test_a_file_that_is_no_store_says_so(path, content, said):
    path.write_bytes(content)
    with pytest.raises(UnusableStore, match=said):
        store.open(path)
    assert path.read_bytes() == content


def test_another_database_is_not_taken_for_a_store(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE job (id)")
    connection.close()
    with pytest.raises(UnusableStore, match="no store of job objects"):
        store.open(path, create=True)


def test_a_store_cannot_be_made_where_there_is_no_directory(tmp_path):
    with pytest.raises(UnusableStore, match="cannot be made: No such file or directory"):
        store.open(tmp_path / "nowhere" / "jobs.db", create=True)


# Whoever is root may write everywhere, so that is given up first; by then all is imported.
READ = """
import os, sys
from sssjob import store
own, path = sys.argv[1:]
store.open(own, read_only=True).close()
if os.getuid() == 0:
    os.setuid(65534)
with store.open(path, read_only=True) as jobs:
    print(jobs.get("0").document.decode())
"""


@pytest.fixture
def shared():
    """A directory that every user may enter, as few of pytest are."""
    directory = Path(tempfile.mkdtemp(prefix="sssjob-store-"))
    yield directory
    directory.chmod(0o755)
    shutil.rmtree(directory)


def read_by_another(path, own):
    path.parent.chmod(0o555)
    return subprocess.run([sys.executable, "-c", READ, own, path], capture_output=True, check=False)


@pytest.mark.parametrize("left", [(), ("-wal",), ("-wal", "-shm")])
def test_a_store_in_a_directory_that_cannot_be_written_is_read(left, shared, tmp_path):
    path = shared / "jobs.db"
    with store.open(path, create=True) as jobs, jobs.change() as change:
        change.put(JOBS[0])
    for each in left:  # by a program that was killed
        path.with_name(f"jobs.db{each}").write_bytes(bytes(32768) if each == "-shm" else b"")
    own = tmp_path / "own.db"  # reading the same one would leave a log beside it
    store.open(own, create=True).close()
    assert read_by_another(path, own).stdout.strip() == JOBS[0]


@pytest.mark.parametrize(
    "is_empty, may_write, said",
    [
        (True, False, ""),
        (False, False, "has changes in its log"),
        (True, True, "cannot be opened"),
        (False, True, "cannot be opened"),
    ],
)
def test_a_log_that_cannot_be_opened_is_done_without_only_where_nobody_writes_it(
    is_empty, may_write, said, path, monkeypatch
):
    """A directory of its name is in the way of whoever asks, and so is a link to nowhere."""
    with store.open(path, create=True) as jobs, jobs.change() as change:
        change.put(JOBS[0])
    log = path.with_name("jobs.db-wal")
    if is_empty:
        log.symlink_to("nowhere/log")
    else:
        log.mkdir()
    monkeypatch.setattr(os, "access", lambda *_: may_write)
    if said:
        with pytest.raises(UnusableStore, match=said):
            store.open(path, read_only=True)
    else:
        with store.open(path, read_only=True) as jobs:
            assert jobs.get("0").document == JOBS[0]


def test_changes_that_cannot_be_seen_where_nothing_can_be_written_are_told(shared, path, tmp_path):
    with store.open(path, create=True) as jobs:
        with jobs.change() as change:
            change.put(JOBS[0])
        # A copy made while the store is open, by another process: this one would lose its locks.
        names = [path.with_name(name) for name in ("jobs.db", "jobs.db-wal")]
        subprocess.run(["cp", *names, shared], check=True)
    found = read_by_another(shared / "jobs.db", path)
    assert (
        b"has changes in its log (-wal) that only who may write beside it can read" in found.stderr
    )
    assert not found.stdout


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://sssjob:secret@/jobs?host=/nowhere",
        "postgresql://sssjob:secret@127.0.0.1:1/jobs",
    ],
)
def test_a_server_that_is_not_there_is_told_without_the_password(address):
    pytest.importorskip("psycopg", exc_type=ImportError)
    with pytest.raises(UnusableStore) as caught:
        store.open(address)
    assert "secret" not in str(caught.value)
    assert "sssjob@" in str(caught.value)


@pytest.mark.parametrize("address", ["a..b/x", f"{'a' * 64}/x", "\udcff/x", "h/\udcff"])
def test_an_address_that_no_server_can_have_is_told(address):
    pytest.importorskip("psycopg", exc_type=ImportError)
    with pytest.raises(UnusableStore, match="no address of PostgreSQL"):
        store.open(f"postgresql://{address}")
