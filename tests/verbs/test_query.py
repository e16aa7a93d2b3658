"""A query over many sources, as a caller of the library: the rest is asked, whatever one is."""

import gzip
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from sssjob import store
from sssjob.document.sources import named
from sssjob.errors import NotAQuery, UnreadableDocument
from sssjob.query import compile
from sssjob.query.forms import Form, Shape
from sssjob.records.record import Options
from sssjob.verbs.ask import Asked
from sssjob.verbs.query import Listener, SourcesQuery

JOB = "<Job><Id>{0}</Id></Job>"
SACCT = (
    "JobID|State|Start|End|Elapsed\n7|COMPLETED|2024-03-01T10:00:00|2024-03-01T10:01:00|00:01:00\n"
)
SQUEUE = Path(__file__).parents[1] / "data/lcginfo/slurm-24.11/squeue.json"  # live jobs
TEXT = Shape(Form())


class Heard(Listener):
    """Remembers what it was told."""

    def __init__(self):
        self.told = []

    def not_asked(self, name, error):
        self.told.append((name, type(error).__name__))

    def damaged(self, store, error):
        self.told.append((store, type(error).__name__))

    def of_record(self, name, item):
        self.told.append((name, type(item).__name__))

    def asking(self, source):
        self.told.append((source.name, "asking"))

    def asking_store(self, store):
        self.told.append((store.address, "asking"))

    def asked_store(self, store, trace):
        self.told.append((store.address, "asked"))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.xml").write_text(JOB.format(1))
    (tmp_path / "more").mkdir()
    (tmp_path / "more/two.xml").write_text(JOB.format(2))
    (tmp_path / "more/notes.txt").write_text("no job")
    (tmp_path / "torn.xml").write_text("<Job><Id>3</Id>")
    (tmp_path / "sacct.txt").write_text(SACCT)
    shutil.copy(SQUEUE, tmp_path)
    with store.open("jobs.db", create=True) as held, held.change() as change:
        change.put(JOB.format(4).encode())


def asked(expression, *names, listener=None, shape=TEXT, **how):
    heard = Heard() if listener is None else listener
    asking = SourcesQuery(Asked(compile(expression), shape), heard, **how)
    return [row.cells for row in asking.rows(named(names, None))], heard


NAMES = ("gone.xml", "one.xml", "torn.xml", "squeue.json", "more", "sacct.txt", "jobs.db")


class Counting(Heard):
    """Counts the bytes that are read of each source that it opens."""

    def __init__(self):
        super().__init__()
        self.read = {}

    @contextmanager
    def opened(self, source):
        with super().opened(source) as stream:
            yield stream
            self.read[source.name] = stream.tell()


@pytest.mark.parametrize(
    "name, options",
    [
        ("one.xml", None), ("sacct.txt", None), ("sacct.txt.gz", None),
        ("sacct.txt", Options(format="slurm")),
    ],
)  # fmt: skip
def test_who_listens_counts_the_bytes_of_a_file_whatever_becomes_of_it(place, name, options):
    Path("sacct.txt.gz").write_bytes(gzip.compress(SACCT.encode()))
    _, heard = asked("//Job/Id", name, listener=Counting(), options=options)
    assert heard.read == {name: Path(name).stat().st_size}


@pytest.mark.parametrize("processes", [1, 2])
def test_each_source_is_asked_whatever_the_others_are(place, processes):
    rows, heard = asked("//Job/Id", *NAMES, processes=processes)
    assert ["".join(cells) for cells in rows] == ["1\n", "2\n", "7\n", "4\n"]
    assert ("gone.xml", "FileNotFoundError") in heard.told
    assert ("torn.xml", "UnreadableDocument") in heard.told
    assert ("squeue.json", "UnusableSource") in heard.told
    assert ("more", "Noted") in heard.told  # that notes.txt is not read
    assert [what for name, what in heard.told if name == "jobs.db"] == ["asking", "asked"]


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(("limit", "found"), [(None, 4), (1, 1), (3, 3), (9, 4)])
def test_matches_are_counted_up_to_a_limit(place, processes, limit, found):
    asking = SourcesQuery(Asked(compile("//Job/Id"), Shape()), Heard(), processes)
    assert asking.count(named(NAMES, None), limit) == found


def test_who_listens_to_nothing_gets_the_first_error(place):
    with pytest.raises(UnreadableDocument):
        asked("//Job/Id", "one.xml", "torn.xml", listener=Listener())
    assert asked("//Job/Id", "one.xml", "more", listener=Listener())[0]


def test_a_question_that_is_none_is_raised(place):
    with pytest.raises(NotAQuery):
        asked("sss:bytes(1, 2, 3)", "one.xml")


def test_a_listener_hears_of_each_source_by_itself(place):
    _, heard = asked("//Job/Id", "one.xml", "more", processes=2, by_itself=True)
    assert [name for name, what in heard.told if what == "asking"] == ["one.xml", "more/two.xml"]
