"""Files that an earlier version wrote answer all questions, beside those of this one."""

import json

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import sssjob
from sssjob.accounting.report import Report
from sssjob.cli import sssjob as command
from sssjob.measures import EXTRA

pytest.importorskip("duckdb")

from sssjob.ledger import columns, damage, jobs, ledger, manifest, upkeep
from sssjob.ledger.columns import LATER
from sssjob.ledger.report import add_to

JOB = """<Job><Id>{0}</Id><User>amy</User><SubmitTime>1</SubmitTime><StartTime>{0}</StartTime>
<EndTime>99</EndTime>
<Requested><Processors>8</Processors><Resource name="GPU">2</Resource></Requested>
<Delivered><Duration>50</Duration><Processors>4</Processors></Delivered></Job>"""


@pytest.fixture
def kept(tmp_path):
    """A ledger with a file of version 1, in which a row was replaced, and one of version 3."""
    kept = ledger.create(tmp_path / "usage")
    kept.add([columns.row(sssjob.loads(JOB.format(number))) for number in (5, 6)])
    now = kept.manifest()
    (file,) = now.files
    path = kept.home / file.path
    pq.write_table(pq.read_table(path).drop_columns([*LATER]), path)
    old = file._replace(size=path.stat().st_size, digest=damage.digest(path), version=1, crc=None)
    manifest.commit(kept.home, manifest.next_to(now, files=(old,)))
    later = JOB.replace("50", "60")
    kept.add([columns.row(sssjob.loads(later.format(number))) for number in (6, 7)])
    return kept


def asked(kept):
    report = Report(extra=tuple(EXTRA))
    add_to(report, kept)
    found = report.total
    return found.jobs, found.wall, found.asked_slots, found.asked_gpus


def test_a_ledger_of_both_reports_what_each_knows(kept):
    assert [file.version for file in kept.manifest().files] == [1, 3]
    wanted = 3, 170, 8 * 170, 2 * 120
    assert asked(kept) == wanted
    upkeep.compact(kept)
    assert [file.version for file in kept.manifest().files] == [3]
    assert asked(kept) == wanted
    assert not upkeep.check(kept).faults


def test_its_runs_are_job_objects_and_rows(kept):
    gpus = [job.requested.get("Resource") is not None for job in jobs.jobs(kept)]
    assert sorted(gpus) == [False, True, True]
    words = ["query", "//Job[Requested/Processors = 8]/Id", str(kept.home)]
    found = CliRunner().invoke(command, words).stdout.split()
    assert [each.rpartition(":")[2] for each in found] == ["5", "6", "7"]
    words = ["ledger", "show", "--json", str(kept.home), "5", "7"]
    shown = [json.loads(line) for line in CliRunner().invoke(command, words).stdout.splitlines()]
    assert [each.get("asked_gpus") for each in shown] == [None, 2]


def test_a_record_that_says_more_now_replaces_its_row(kept):
    added = kept.add([columns.row(sssjob.loads(JOB.format(5)))])
    assert (added.new, added.replaced, added.unchanged) == (0, 1, 0)
    assert asked(kept) == (3, 170, 8 * 170, 2 * 170)


def test_a_row_without_times_is_told_as_before():
    """By the digest of what files of version 1 have, unless more is stated."""
    told = columns.row(sssjob.loads("<Job><Id>7</Id></Job>"))
    assert told[columns.NAMES.index(columns.TOLD)] == "4c57c5d0d450c2db1ca72bf4a56a325d"
