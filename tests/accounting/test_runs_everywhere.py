"""Twice is once, by one rule: reports, what is converted, ledgers and stores count the same."""

import csv
import io

import pytest
from click.testing import CliRunner
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from same_jobs import MADE, made

from sssjob import jobs
from sssjob.cli import sssjob

HEADER = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS"
NO_TIMES_OF_SUBMISSION = ("apel", "swf")


def call(*words, given=None):
    found = CliRunner().invoke(sssjob, [*map(str, words)], input=given)
    assert found.exit_code == 0, found.output
    return found


def sums(*words, given=None):
    """How many jobs there are, and what they used."""
    printed = call(*words, "--csv", given=given).stdout
    rows = [*csv.DictReader(io.StringIO(printed))]
    return sum(int(row["jobs"]) for row in rows), sum(int(row["wall_seconds"] or 0) for row in rows)


@st.composite
def looks(draw):
    """What sacct told of a few jobs when it was asked again and again, and in which order."""
    rows = []
    for job, run, look in draw(
        st.lists(
            st.tuples(st.integers(1, 2), st.integers(0, 2), st.integers(0, 2)),
            min_size=1, max_size=6,
        )
    ):  # fmt: skip
        start = f"{1000 + 100 * run}" if run else "Unknown"
        state, end, wall = (
            ("PENDING", "Unknown", 0) if not run
            else ("RUNNING", "Unknown", 10) if not look
            else ("COMPLETED", f"{1050 + 100 * run}", 49 + look)
        )  # fmt: skip
        rows.append(f"{job}|c|amy|{state}|900|{start}|{end}|{wall}|1")
    return rows


@given(looks(), st.booleans())
@examples(4, deadline=None)
def test_each_run_counts_once_by_the_same_record_wherever_it_is_read(tmp_path_factory, rows, apart):
    folder = tmp_path_factory.mktemp("looks")
    files = [folder / f"{at}.txt" for at in range(len(rows) if apart else 1)]
    for at, file in enumerate(files):
        some = [rows[at]] if apart else rows
        file.write_text("\n".join([HEADER, *some, ""]))
    usage = folder / "usage"
    call("ledger", "init", usage)
    call("ledger", "ingest", usage, *files)
    expected = sums("ledger", "report", "--book", "end", usage)
    assert sums("report", *files) == expected
    assert sums("report", "--workers", 2, *files) == expected
    assert sums("report", "-", given="".join(
        file.read_text() for file in files
    )) == expected  # fmt: skip
    for options in (), ("--workers", "2"):
        call("convert", *options, "-o", folder / "jobs.sss", *files)
        assert sums("report", folder / "jobs.sss") == expected
        assert (folder / "jobs.sss").read_text().count("<Job>") == expected[0]
    piped = folder / "piped.sss"
    piped.write_text(call("convert", "--to", "sss", *files).stdout)
    total = jobs(*files).report().total
    assert (total.jobs, total.wall or 0) == expected
    if len({*rows}) > len({row.rsplit("|", 2)[0] for row in {*rows}}):
        return  # of two that end alike a pipe has got the first
    for both in (piped,), (piped, *files), (*files, piped):
        assert sums("report", *both) == expected
    assert sums("report", "--workers", 2, piped, *files) == expected


@pytest.mark.parametrize("format_name", [name for name in MADE if name != "swf"])
def test_a_log_beside_the_documents_that_it_became_counts_once(tmp_path, format_name):
    program, name, _ = MADE[format_name]
    log, documents = tmp_path / "log", tmp_path / "log.sss"
    log.write_bytes(made(program, name))
    options = ("--from", format_name.removesuffix("-long"))
    call("convert", *options, "-o", documents, log)
    once = sums("report", *options, log)
    assert once[0]
    assert sums("report", documents) == once
    if format_name != "slurm-json":  # an array of which the reader is not asked for
        assert sums("report", log, documents) == once
        assert sums("report", documents, log) == once
    assert sums("report", documents, documents) == once
    texts = [
        call("convert", "--from", "sss", *some, documents, documents).stdout
        for some in ((), ("--workers", "2"))
    ]
    assert texts == [documents.read_text()] * 2
