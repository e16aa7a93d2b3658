"""Stores by workers: rows, sums, places and damage are those of one process, and of one moment."""

from pathlib import Path
from unittest import mock

import pytest
from engines import address  # noqa: F401 (fixtures)

from sssjob import store
from sssjob.accounting.report import Report
from sssjob.document.sources import NamedSource
from sssjob.errors import DamagedStore
from sssjob.query import compile, order
from sssjob.query.forms import Form, Shape
from sssjob.store import documents
from sssjob.store.answers import Trace
from sssjob.verbs.ask import Asked
from sssjob.verbs.report import ReportedJobs

pytestmark = pytest.mark.usefixtures("ready_workers")

JOBS = [
    f"<Job><Id>{n}</Id><User>u{n}</User><Memory units='GB'>{n % 7}</Memory></Job>\n"
    for n in range(60)
]
ASKED = {
    "text": Asked(compile("//Job[Memory > 3]/Id"), Shape(Form()), places=False),
    "relative": Asked(compile("Memory"), Shape(Form("json"))),
    "columns": Asked(
        compile("//Job"), Shape(Form("csv", order.columns("Id,User"), True), order.keys("-Memory"))
    ),
    "whole": Asked(compile("//Job/Memory[. > 3]"), Shape(Form("xml"), whole=True)),
    "effective": Asked(compile("//Job[Memory = 3]/Id"), Shape(Form("jsonl")), effective=True),
    "later": Asked(compile("//Job[number(Memory) eq 3]/Id", version="3.1"), Shape(Form("json"))),
    "total": Asked(compile("sum(//Job/Memory)"), Shape(Form()), places=False),
    "unknown": Asked(compile("//Job/@Nothing | //Memory"), Shape(Form()), places=False),
}
UNKNOWN = ASKED["unknown"]


@pytest.fixture
def kept(address, tmp_path):  # noqa: F811
    source = tmp_path / "jobs.sss"
    source.write_text("".join(JOBS))
    with store.open(address, create=True) as jobs:
        jobs.load(source)
    return address


def damage(address_, id_):
    with store.open(address_) as jobs, jobs.engine.transaction():
        jobs.engine.fetch("UPDATE document SET data = ? WHERE id = ?", (b"\0no", id_))


def asked(what, address_, processes, of="stored"):
    errors, trace = [], Trace()
    with (
        mock.patch.object(documents, "_PART", 7),
        store.open(address_, read_only=True) as jobs,
        what.workers(processes) as workers,
    ):
        found = getattr(what, of)(jobs, "jobs", errors.append, workers=workers, trace=trace)
        rows = found if isinstance(found, int) else list(found)
    return rows, list(map(str, errors)), trace


@pytest.mark.parametrize("name", ASKED)
def test_workers_give_the_rows_of_one_process(name, kept):
    what = ASKED[name]
    one, *more = (asked(what, kept, processes) for processes in (1, 2, 3))
    assert one[0]
    assert one[1] == []
    assert more == [one, one]
    one, *more = (asked(what, kept, processes, "how_many") for processes in (1, 2, 3))
    assert one[0] > 0
    assert more == [one, one]


def test_a_damaged_document_is_told_in_its_turn_and_the_rest_go_on(kept):
    for id_ in ("8", "40"):
        damage(kept, id_)
    one, two = (asked(UNKNOWN, kept, processes) for processes in (1, 2))
    assert two == one
    assert len(one[0]) == 58
    assert [error.partition(": ")[2].partition(" is")[0] for error in one[1]] == ["Job 8", "Job 40"]


def test_without_anybody_to_tell_a_damaged_document_ends_it(kept):
    damage(kept, "8")

    def refuse(error):
        raise error

    with (
        mock.patch.object(documents, "_PART", 7),
        store.open(kept, read_only=True) as jobs,
        UNKNOWN.workers(2) as workers,
    ):
        rows = UNKNOWN.stored(jobs, "jobs", refuse, workers=workers)
        assert [next(rows).cells for _ in range(2)] == ["0\n", "1\n"]
        with pytest.raises(DamagedStore, match="Job 8 is damaged"):
            list(rows)


def test_what_is_written_meanwhile_is_of_another_moment(kept):
    with (
        mock.patch.object(documents, "_PART", 7),
        store.open(kept, read_only=True) as jobs,
        UNKNOWN.workers(2) as workers,
    ):
        rows = UNKNOWN.stored(jobs, "jobs", print, workers=workers)
        first = next(rows)
        with store.open(kept) as other, other.change() as change:
            change.put(b"<Job><Id>new</Id><Memory>9</Memory></Job>")
            change.delete("59")
        assert len([first, *rows]) == 60


def reported(address_, processes):
    errors, report = [], Report(("user",))
    with mock.patch.object(documents, "_PART", 7):
        ReportedJobs(
            [NamedSource(address_, Path(address_))], errors.append, processes=processes
        ).add_to(report)
    return report, list(map(str, errors))


def test_reports_of_stores_are_added_up_in_parts(kept):
    one, *more = (reported(kept, processes) for processes in (1, 2, 3))
    assert one[0].total.jobs == 60
    assert more == [one, one]
    damage(kept, "8")
    one, *more = (reported(kept, processes) for processes in (1, 2, 3))
    assert one[0].total.jobs == 59
    assert "Job 8, version 1, is damaged" in one[1][0]
    assert more == [one, one]
