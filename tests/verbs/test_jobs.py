"""The jobs of whatever was named, as values, tables and reports."""

import io
import sys
from pathlib import Path

import pytest
from lxml import html

import sssjob
from sssjob import Job, JobGroup, Requested, jobs
from sssjob.accounting.writers import TARGETS
from sssjob.accounting.writers.writer import WriterOptions
from sssjob.document.sources import UnusableSource
from sssjob.drawing import notebook
from sssjob.store import open as open_store

ROOT = Path(__file__).parents[2]
SACCT = ROOT / "examples" / "slurm" / "sacct.txt"
HOSTILE = "<script>alert(1)</script>'\""
ODD = "JobID|State|ElapsedRaw\n1|COMPLETED|60\n2|COMPLETED|soon\n3|COMPLETED|30\n"


def ids(found):
    return [job.id for job in found]


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "jobs.db", create=True) as made, made.change() as change:
        change.put(b"<Job><Id>s</Id></Job>")
    return tmp_path / "jobs.db"


def test_every_kind_of_source_is_taken_in_its_order(tmp_path, store):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.xml").write_text("<Jobs><Job><Id>a</Id></Job><Job><Id>b</Id></Job></Jobs>")
    group = JobGroup.of(Job.of(Id="g1"), Job.of(Id="g2"), Id="g")
    found = jobs(folder, store, Job.of(Id="x"), group, str(SACCT))
    assert ids(found)[:6] == ["a", "b", "s", "x", "g1", "g2"]
    assert len(ids(found)) == 6 + 51
    assert ids(found) == ids(found)  # read anew each time


def test_a_record_that_is_given_twice_counts_once(tmp_path):
    again = tmp_path / "again.txt"
    again.write_bytes(SACCT.read_bytes())
    assert len(ids(jobs(SACCT, again))) == 51


def test_a_run_that_a_store_and_a_document_have_counts_once(tmp_path):
    run = "<Job><Id>7</Id><StartTime>100</StartTime><EndTime>200</EndTime></Job>"
    (tmp_path / "a.sss").write_text(run)
    with open_store(tmp_path / "s.db", create=True) as made:
        made.load(tmp_path / "a.sss")
    for given in ("s.db", "a.sss"), ("a.sss", "s.db"), ("s.db", "s.db"):
        found = jobs(*(tmp_path / name for name in given))
        assert ids(found) == ["7"]
        assert found.report().total.jobs == 1


def test_jobs_of_a_group_have_its_defaults():
    text = "<JobGroup><JobDefaults><User>ann</User></JobDefaults><Job><Id>1</Id></Job></JobGroup>"
    [job] = jobs(sssjob.loads(text))
    assert job["User"].text == "ann"


def test_what_cannot_be_read_is_raised_or_handed_on(tmp_path):
    odd = tmp_path / "odd.txt"
    odd.write_text(ODD)
    with pytest.raises(UnusableSource, match=r"odd\.txt:3: 'soon' is not a whole number"):
        list(jobs(odd))
    bad = []
    assert ids(jobs(odd, on_error=bad.append)) == ["1", "3"]
    assert [type(each) for each in bad] == [UnusableSource]
    broken = tmp_path / "broken.xml"
    broken.write_text("<Job><Id>1</Id>")
    with pytest.raises(sssjob.UnreadableDocument, match=r"broken.xml:1"):
        list(jobs(broken))
    with pytest.raises(FileNotFoundError):
        list(jobs(tmp_path / "none"))


def test_a_format_and_a_zone_are_checked_before_anything_is_read():
    with pytest.raises(sssjob.SSSJobError, match="no known record format"):
        jobs("x", format="sacctt")
    with pytest.raises(sssjob.InvalidValue, match="a time zone"):
        jobs("x", zone="Europe/Nowhere")


def test_a_zone_is_that_of_times_without_one(tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("JobID|State|Start\n1|COMPLETED|2026-11-20T12:00:00\n")
    starts = [next(iter(jobs(log, zone=zone)))["StartTime"].value for zone in ("", "Asia/Tokyo")]
    assert starts[0] - starts[1] == 9 * 3600


def test_a_table_is_that_of_convert():
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    writer = TARGETS["parquet"].writer(stream, WriterOptions(), lambda loss: None)
    for job in jobs(SACCT):
        writer.add(job)
    writer.close()
    written, given = pq.read_table(stream), jobs(SACCT).to_arrow()
    assert given.num_rows == 51
    assert given.equals(written)
    for ours, theirs in zip(given.schema, written.schema, strict=True):
        assert (ours.metadata or {}).items() <= (theirs.metadata or {}).items()


def test_no_job_is_a_table_with_all_columns():
    pytest.importorskip("pyarrow")
    assert jobs().to_arrow().column_names == jobs(SACCT).to_arrow().column_names


def test_columns_say_what_a_report_says():
    pytest.importorskip("pyarrow")
    rows = jobs(SACCT).to_arrow().to_pylist()
    report = jobs(SACCT).report("user", "state")
    assert len(report.groups) > 2
    for (user, state), totals in report.groups.items():
        mine = [row for row in rows if (row["by_user"], row["by_state"]) == (user, state)]
        assert len(mine) == totals.jobs
        for name, sum_ in (
            ("wall_seconds", totals.wall), ("processor_seconds", totals.slots),
            ("cpu_seconds", totals.cpu), ("used_memory_bytes", totals.memory),
            ("used_processors", totals.processors),
        ):  # fmt: skip
            assert sum(row[name] or 0 for row in mine) == sum_, name


def test_frames_have_the_rows_and_the_gaps_of_the_table():
    table = pytest.importorskip("pyarrow") and jobs(SACCT).to_arrow()
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame, other = jobs(SACCT).to_pandas(), jobs(SACCT).to_polars()
    assert isinstance(frame, pandas.DataFrame)
    assert isinstance(other, polars.DataFrame)
    assert list(frame.columns) == other.columns == table.column_names
    for name in table.column_names:
        gaps = table[name].null_count
        assert (int(frame[name].isna().sum()), other[name].null_count()) == (gaps, gaps), name
    assert list(frame["id"]) == other["id"].to_list() == table["id"].to_pylist()


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_without_a_library_the_extra_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    extra = "parquet" if library == "pyarrow" else library
    form = "to_arrow" if library == "pyarrow" else f"to_{library}"
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'sssjob\[{extra}\]'"):
        getattr(jobs(), form)()


def test_a_notebook_shows_the_first_jobs_and_reads_no_more_of_them():
    read = []

    def given():
        for number in range(10_000):
            read.append(number)
            yield Job.of(Requested.of(Processors=number), Id=number, User="ann")

    shown = html.fromstring(notebook.jobs(given()))
    rows = [[cell.text_content() for cell in row] for row in shown.iter("tr")]
    assert rows[0][0] == "Id"
    assert rows[2] == ["1", "", "", "ann", "", "", "1", ""]
    assert rows[-1] == ["..."]
    assert (len(rows), len(read)) == (notebook.FIRST + 2, notebook.FIRST + 1)


def test_a_notebook_tells_what_cannot_be_read(tmp_path):
    name = tmp_path / "<b>.txt"
    name.write_text(ODD)
    shown = jobs(name)._repr_html_()
    assert "&lt;b&gt;.txt:3" in shown
    assert "<b>" not in shown
    assert "No such file" in jobs(tmp_path / "none")._repr_html_()


def test_hostile_texts_are_escaped_in_what_a_notebook_shows():
    job = Job.of(Id=HOSTILE, User=HOSTILE, Name=HOSTILE, Queue=HOSTILE, Duration=1)
    for shown in (jobs(job), jobs(job).report("user", "queue")):
        text = shown._repr_html_()
        assert "<script" not in text
        assert "alert(1)" in html.fromstring(text).text_content()


def test_a_report_of_many_groups_shows_some_and_adds_up_the_others():
    found = jobs(*(Job.of(Id=n, User=f"u{n}", Duration=1) for n in range(300))).report()
    assert repr(found) == "<Report by user: 300 groups, 300 jobs>"
    rows = list(html.fromstring(found._repr_html_()).iter("tr"))
    assert len(rows) == 1 + notebook.ROWS + 2  # the others, and the total
    assert rows[-1][1].text_content() == "300"


def test_a_report_of_nothing_and_of_what_is_no_grouping():
    assert "<th>user</th>" in jobs().report()._repr_html_()
    with pytest.raises(sssjob.InvalidValue, match="what jobs are grouped by"):
        jobs().report("usr")
