"""A report of a store has the numbers of its documents, by rows that are kept or without any."""

import sqlite3
from operator import itemgetter
from pathlib import Path

import pytest
from draws import examples
from engines import address, postgresql_server  # noqa: F401 (fixtures)
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from mutated_records import READ, SOURCES
from usage_jobs import BY, ZONES, several, windows

from sssjob import store
from sssjob.accounting.report import ROW_NAMES, Report
from sssjob.document import dumps, loads
from sssjob.document.sources import NamedSource
from sssjob.errors import UnusableStore
from sssjob.measures import EXTRA
from sssjob.records.record import Options
from sssjob.store.used import StoreUsage
from sssjob.verbs import keeping, store_report
from sssjob.verbs.convert import Conversion
from sssjob.verbs.report import ReportedJobs

GROUP = (
    "<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults><Job><Id>in</Id></Job>"
    "<Job><Id>out</Id><User>bob</User><Duration>30</Duration></Job></JobGroup>"
)


def wanted(jobs, *of):
    """The report over every document."""
    report = Report(*of, extra=tuple(EXTRA))
    for stored in jobs.documents():
        report.add(loads(stored.document))
    return report.groups, report.outside


def told(target, *of, keeps=True, processes=1):
    report = Report(*of, extra=tuple(EXTRA))
    source = NamedSource(target, Path(target))
    faults = []
    ReportedJobs([source], faults.append, keeps=keeps, processes=processes).add_to(report)
    assert not faults
    return report.groups, report.outside


days = windows.map(lambda window: tuple(each and each // 86_400 * 86_400 for each in window))
changes = st.lists(st.tuples(st.sampled_from(["put", "delete", "report", "undo"]), several))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Sums are kept of a few rows already, and looked for in parts of a few documents."""
    monkeypatch.setattr("sssjob.store.rolled.SIZE", 4)
    monkeypatch.setattr("sssjob.store.parts.SIZE", 8)


@examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), several, st.sampled_from(BY), windows | days, st.sampled_from(ZONES))
def test_after_any_changes_it_has_the_numbers_of_the_documents(
    tmp_path_factory, data, first, by, window, zone
):
    target = str(tmp_path_factory.mktemp("store") / "jobs.db")
    with store.open(target, create=True) as jobs:
        jobs.load(b"\n".join(map(dumps_of, first)))
        for what, some in data.draw(changes):
            if what == "report":
                told(target)
                continue
            known = [stored.identity for stored in jobs.documents(deleted=True)]
            with jobs.change() as change:
                if what == "put":
                    for job in some:
                        change.put(job)
                elif what == "delete":
                    change.delete(data.draw(st.sampled_from(known)))
                else:
                    change.undelete(data.draw(st.sampled_from(known)))
        assert told(target, by, *window, zone, keeps=data.draw(st.booleans())) == wanted(
            jobs, by, *window, zone
        )


def dumps_of(job):
    return dumps(job).encode()


@pytest.fixture
def filled(address):  # noqa: F811 (a fixture)
    with store.open(address, create=True) as jobs:
        numbers = [f"<Job><Id>{n}</Id><User>u{n % 3}</User><EndTime>{n}</EndTime>"
                   f"<Duration>{n}</Duration></Job>" for n in range(40)]  # fmt: skip
        numbers += ["<Job><Id>a</Id><Duration>0.5</Duration><Project/></Job>",
                    f"<Job><Id>b</Id><Duration>{2**70}</Duration></Job>", GROUP]  # fmt: skip
        jobs.load("\n".join(numbers).encode())
    return address


@pytest.mark.parametrize("by", [("user",), ("day", "project"), ()], ids=str)
@pytest.mark.parametrize("window", [(None, None), (5, None), (5, 20)], ids=str)
def test_on_both_engines(filled, by, window):
    with store.open(filled) as jobs:
        for processes in (1, 1, 2):
            assert told(filled, by, *window, processes=processes) == wanted(jobs, by, *window)
        jobs.load(
            b"<Job><Id>1</Id><User>new</User><EndTime>7</EndTime><Duration>3</Duration></Job>"
        )
        assert told(filled, by, *window) == wanted(jobs, by, *window)


def test_a_document_is_opened_once(filled, monkeypatch):
    told(filled)
    with store.open(filled) as jobs:
        with jobs.engine.reading() as moment:
            usage = StoreUsage(jobs.engine, jobs.packing, ROW_NAMES)
            assert not usage.stale(moment)
        jobs.load(
            b"<Job><Id>1</Id><User>new</User><EndTime>99</EndTime><Duration>3</Duration></Job>"
        )
        with jobs.engine.reading() as moment:
            assert len(usage.stale(moment)) == 1
    monkeypatch.setattr("sssjob.verbs.store_report.loads", only(b"<User>new</User>"))
    told(filled)


def only(text):
    """Documents with a text are read, and no others."""

    def read(document):
        assert text in document
        return loads(document)

    return read


def test_rows_that_say_something_else_are_made_anew(filled, monkeypatch):
    told(filled)
    monkeypatch.setattr("sssjob.store.used._VERSION", 99)
    with store.open(filled, read_only=True) as jobs:
        assert not StoreUsage(jobs.engine, jobs.packing, ROW_NAMES).is_there
        assert told(filled, keeps=False) == told(filled) == wanted(jobs)
        assert StoreUsage(jobs.engine, jobs.packing, ROW_NAMES).is_there


def test_a_store_that_may_not_be_written_to_is_reported_as_well(tmp_path):
    target = tmp_path / "jobs.db"
    with store.open(target, create=True) as jobs:
        jobs.load(b"<Job><Id>1</Id><Duration>3</Duration></Job>")
        before = told(str(target), keeps=False)
        writer = sqlite3.connect(target)
        writer.execute("BEGIN IMMEDIATE")  # nobody else writes until it ends
        assert told(str(target)) == before
        writer.rollback()
        writer.close()
        assert told(str(target)) == before


def keep(target, path, format_="slurm"):
    """Import the records of a file, as the command does."""
    work = Conversion((NamedSource(path.name, path),), format_, Options())
    with (
        store.open(target, create=True) as jobs,
        store_report.followed(jobs) as follow,
    ):
        for name, found in keeping.of_sources(work):
            jobs.keep(found, name=name, on_error=lambda error: None, follow=follow)


def rows_in(target):
    """The rows of a store by the numbers of their documents, with their texts, and which lack."""
    with store.open(target) as jobs:
        texts = dict(jobs.engine.fetch("SELECT number, text FROM usage_text"))
        told = jobs.engine.fetch("SELECT * FROM usage ORDER BY document, number")
        some = len(ROW_NAMES)
        found = [(row[1], [texts[each] for each in row[2 : 2 + some]], *row[2 + some :])
                 for row in told]  # fmt: skip
        with jobs.engine.reading() as moment:
            return found, StoreUsage(jobs.engine, jobs.packing, ROW_NAMES).stale(moment)


@pytest.mark.parametrize("format_", SOURCES)
def test_an_import_of_records_leaves_the_rows_that_a_report_would_make(format_, tmp_path):
    for number, name in enumerate(SOURCES[format_]):
        path, target = tmp_path / f"{number}.txt", str(tmp_path / f"{number}.db")
        path.write_bytes(READ[name])
        keep(target, path, format_)
        found, lacking = rows_in(target)
        told(target)
        wanted_rows, _ = rows_in(target)
        same = ([row for row in some if row[0] not in lacking] for some in (found, wanted_rows))
        assert next(same) == next(same)
        with store.open(target) as jobs:
            jobs.engine.fetch("DROP TABLE usage")
        told(target)
        assert sorted(rows_in(target)[0], key=itemgetter(0)) == wanted_rows


HEADER = "JobID|JobIDRaw|Cluster|User|Submit|Start|End|ElapsedRaw|State|NCPUS"
FIRST = [f"{n}|{n}|c|u{n % 3}|{n}|{n + 1}|{n + 5}|4|COMPLETED|2" for n in range(1, 30)]


def log(path, lines):
    path.write_text("\n".join([HEADER, *lines, ""]))
    return path


def test_a_report_opens_no_document_of_an_import(address, tmp_path, monkeypatch):  # noqa: F811
    keep(address, log(tmp_path / "first", FIRST))
    keep(address, log(tmp_path / "second", ["40|40|c|u#n|1|2|9|7|FAILED|1"]))
    monkeypatch.setattr("sssjob.verbs.store_report.loads", only(b"of none"))
    with store.open(address) as jobs:
        assert told(address, ("user", "state")) == wanted(jobs, ("user", "state"))


def test_an_import_keeps_the_sums_of_blocks_also_where_a_document_has_changed(tmp_path):
    target = str(tmp_path / "jobs.db")
    keep(target, log(tmp_path / "first", FIRST))
    keep(target, log(tmp_path / "second", ["1|1|c|u1|1|2|60|4|FAILED|2", *FIRST[1:]]))
    with store.open(target) as jobs:
        usage = StoreUsage(jobs.engine, jobs.packing, ROW_NAMES)
        assert len(rows_in(target)[1]) == 1
        assert not usage._rolled.missing()
        assert told(target) == wanted(jobs)


def test_what_an_import_changes_is_read_anew(address, tmp_path):  # noqa: F811 (a fixture)
    running = ["7|7|c|u1|7|8|Unknown|2|RUNNING|2", "50|50|c|u1|7|8|Unknown|2|RUNNING|2"]
    keep(address, log(tmp_path / "before", running))
    keep(address, log(tmp_path / "first", FIRST))
    assert len(rows_in(address)[1]) == 1
    with store.open(address) as jobs:
        assert told(address) == wanted(jobs)


@pytest.mark.parametrize("is_deleted", [False, True], ids=["changed", "deleted"])
def test_rows_that_an_import_writes_late_leave_those_of_newer_versions(
    address, tmp_path, monkeypatch, is_deleted  # noqa: F811 (a fixture)
):  # fmt: skip
    line = "1|1|c|u1|1|2|60|58|COMPLETED|2"
    write = StoreUsage.write

    def wait(self, documents, rows):
        """Hold the import up between the documents and their rows, until a report has read both."""
        monkeypatch.setattr(StoreUsage, "write", write)
        with store.open(address) as jobs:
            if is_deleted:
                with jobs.change() as change:
                    change.delete("1")
            else:
                jobs.load(b"<Job><Id>1</Id><StartTime>2</StartTime><EndTime>9</EndTime></Job>")
            told(address)
        write(self, documents, rows)

    keep(address, log(tmp_path / "before", FIRST[1:]))
    monkeypatch.setattr(StoreUsage, "write", wait)
    keep(address, log(tmp_path / "first", [line]))
    with store.open(address) as jobs:
        assert told(address) == wanted(jobs)


def test_where_documents_have_no_rows_an_import_leaves_them_to_a_report(address, tmp_path):  # noqa: F811
    with store.open(address, create=True) as jobs:
        jobs.load(GROUP.encode())
        keep(address, log(tmp_path / "first", FIRST))
        assert not StoreUsage(jobs.engine, jobs.packing, ROW_NAMES).is_there
        assert told(address) == wanted(jobs)


@pytest.mark.parametrize("name", ["make", "write", "settled"])
def test_rows_that_cannot_be_written_are_left_to_a_report(address, tmp_path, monkeypatch, name):  # noqa: F811
    def refuse(self, *told):
        raise UnusableStore("full", "no room")

    with monkeypatch.context() as patch:
        patch.setattr(StoreUsage, name, refuse)
        keep(address, log(tmp_path / "first", FIRST))
    with store.open(address) as jobs:
        assert len([*jobs.documents()]) == len(FIRST)
        assert told(address) == wanted(jobs)
