"""A process never opens the file of a store that it has open, but as a store: its locks stay."""

import gc
import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from io import BytesIO

import pytest

from sssjob import loads, read, store
from sssjob.addresses import is_store
from sssjob.database_files import DATABASE_HEAD, OTHER, STORE, database, first_bytes, is_open
from sssjob.document.files import is_compressed
from sssjob.document.sources import is_small, named
from sssjob.errors import UnreadableDocument, UnusableStore
from sssjob.outputs import writing
from sssjob.verbs.documents import by_format, inside

JOB = loads("<Job><Id>1</Id></Job>")

# Another process locks what SQLite locks for as long as it has a store open: of the file, and of
# the memory that all share.
LOCK = """
import fcntl, sys
for end, first, size in ("", 0x40000002, 510), ("-shm", 128, 1):
    with open(sys.argv[1] + end, "r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, size, first)
        except BlockingIOError:
            print("locked")
"""


@pytest.fixture
def jobs(tmp_path):
    with store.open(tmp_path / "jobs.xml", create=True) as jobs:  # named as documents are
        with jobs.change() as change:
            change.put(JOB)
        yield jobs


def path_of(jobs):
    return jobs.engine.path


def parse(path):
    with suppress(UnreadableDocument):
        list(read(path))


def write(path):
    with pytest.raises(FileExistsError):
        writing(path)


def sort(path):
    with ExitStack() as stack:
        list(by_format([source(path)], stack, lambda name, told: None))


def source(path):
    [found] = named([os.fspath(path)], BytesIO())
    return found


LOOKS = {
    "whether it is a store": lambda path: is_store(os.fspath(path)),
    "whether it is compressed": is_compressed,
    "as a document": parse,
    "as what is written": write,
    "as a source": lambda path: source(path).is_store,
    "as a small file": lambda path: is_small(source(path)),
    "by its format": sort,
    "in its directory": lambda path: list(inside(source(path.parent))),
    "its first bytes": first_bytes,
}


def locked(jobs):
    asked = [sys.executable, "-S", "-c", LOCK, path_of(jobs)]
    return subprocess.run(asked, capture_output=True, check=True, text=True).stdout.split()


@pytest.mark.parametrize("beside", ["", "-wal", "-shm"])
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_who_looks_at_an_open_store_leaves_it_its_locks(jobs, look, beside):
    path = path_of(jobs).with_name(f"jobs.xml{beside}")
    assert path.exists()
    look(path)
    assert locked(jobs) == ["locked", "locked"]


def test_a_store_that_is_read_into_itself_is_left_out_of_its_directory(jobs, tmp_path):
    (tmp_path / "one.xml").write_text("<Job><Id>2</Id></Job>")
    told = []
    found = list(inside(source(tmp_path), lambda name, said: told.append(said)))
    assert [each.given for each in found] == [tmp_path / "one.xml"]
    assert not told


def test_what_opens_it_in_another_way_is_told_so_by_the_tests(jobs):
    with pytest.raises(AssertionError, match="is a store that this process has open"):
        path_of(jobs).read_bytes()


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_an_open_store_is_known_by_each_of_its_names(jobs, tmp_path, link):
    link(path_of(jobs), tmp_path / "other")
    assert is_open(tmp_path / "other")
    assert database(first_bytes(tmp_path / "other")) == STORE


def test_a_store_is_open_until_its_last_connection_is_closed(tmp_path):
    path = tmp_path / "jobs.db"
    first = store.open(path, create=True)
    second = store.open(path)
    first.close()
    assert is_open(path)
    second.close()
    assert not is_open(path)
    assert database(path.read_bytes()[:DATABASE_HEAD]) == STORE


def test_a_store_that_nobody_closed_is_closed_when_nobody_has_it(tmp_path):
    path = tmp_path / "jobs.db"
    jobs = store.open(path, create=True)
    assert is_open(path)
    del jobs
    gc.collect()
    assert not is_open(path)


def test_a_store_that_cannot_be_opened_is_not_taken_for_an_open_one(tmp_path):
    path = tmp_path / "jobs.db"
    path.write_bytes(b"<Job/>" * 400)
    with pytest.raises(UnusableStore):
        store.open(path)
    assert not is_open(path)


def test_files_that_are_no_open_stores_are_read(tmp_path):
    path = tmp_path / "jobs.db"
    path.write_bytes(b"SQLite format 3\0" + bytes(84))
    assert database(first_bytes(path)) == OTHER
    assert first_bytes(path, 6) == b"SQLite"
    with pytest.raises(FileNotFoundError):
        first_bytes(tmp_path / "none")
