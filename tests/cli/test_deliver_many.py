"""sssjob deliver into a directory of documents, and into a store."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob import loads, store
from sssjob.cli import sssjob
from sssjob.store.identity import Identity

REQUESTED = (
    "<Job><Id>{0}</Id><User>amy</User><Requested><Duration op='LE'>600</Duration></Requested></Job>"
)
HEADER = "JobIDRaw|JobID|State|Submit|Start|End|ElapsedRaw|NCPUS\n"
FIRST = HEADER + (
    "1|1|COMPLETED|1000|1010|1070|60|4\n2|2|REQUEUED|1000|1010|1030|20|2\n9|9|COMPLETED|1|2|3|1|1\n"
)
SECOND = HEADER + "2|2|COMPLETED|2000|2010|2100|90|2\n"


def run(*arguments):
    return CliRunner().invoke(sssjob, ["deliver", *map(str, arguments)])


@pytest.fixture
def records(tmp_path):
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text(FIRST)
    second.write_text(SECOND)
    return first, second


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "jobs.db"
    with store.open(path, create=True, by="amy") as opened, opened.change() as change:
        for number in (1, 2, 3):
            change.put(REQUESTED.format(number).encode())
        change.put(
            b"<JobGroup><Id>g</Id><!-- kept --><Job><Id>4</Id></Job>  <Job><Id>5</Id></Job>"
            b"</JobGroup>"
        )
    return path


def stored(path):
    with store.open(path, read_only=True) as opened:
        return {str(each.identity): each for each in opened.documents()}


def test_records_go_to_the_jobs_of_a_store_and_again_change_nothing(jobs, records):
    result = run(jobs, "--record", records[0])
    assert result.exit_code == 0, result.stderr
    assert "delivered 2 of 3 records (1 about other jobs): " in result.stderr
    found = stored(jobs)
    job = loads(found["Job 1"].document)
    assert job.delivered.value("Duration") == 60
    assert job.requested.value("Duration") == 600
    assert job.get("User") == "amy"
    assert [each.version for each in found.values()] == [2, 2, 1, 1]
    assert found["Job 1"].source == str(records[0])
    again = run(jobs, "--record", records[0])
    assert "0 values added" in again.stderr
    assert stored(jobs) == found


def test_a_run_after_a_requeue_is_a_document_of_its_own(jobs, records):
    run(jobs, "--record", records[0])
    result = run(jobs, "--record", records[1], "--json")
    tally = json.loads(result.stdout)
    assert (tally["records"], tally["delivered"], tally["runs"]) == (1, 1, 1)
    found = stored(jobs)
    first, second = (loads(found[name].document) for name in ("Job 2", "Job 2 (run 2)"))
    assert [job.delivered.value("Duration") for job in (first, second)] == [20, 90]
    assert [job.requested.value("Duration") for job in (first, second)] == [600, 600]
    for path in records:
        assert "0 values added" in run(jobs, "--record", path).stderr
    assert stored(jobs) == found


def test_a_job_in_a_group_is_found_and_every_other_byte_of_it_stays(jobs, tmp_path):
    text = tmp_path / "five.txt"
    text.write_text(HEADER + "5|5|COMPLETED|1000|1010|1070|60|4\n")
    run(jobs, "--record", text)
    document = stored(jobs)["JobGroup g"].document
    assert document.startswith(
        b"<JobGroup><Id>g</Id><!-- kept --><Job><Id>4</Id></Job>  <Job><Id>5</Id>"
    )
    assert loads(document).jobs[1].delivered.value("Duration") == 60


def test_a_deleted_job_is_left_alone(jobs, records):
    with store.open(jobs) as opened, opened.change() as change:
        change.delete("1")
    result = run(jobs, "--record", records[0], "--json")
    told = json.loads(result.stdout)
    assert (told["elsewhere"], told["deleted"]) == (1, 1)
    assert "is not folded into job 1: Job 1 is deleted" in result.stderr


def test_a_deleted_run_is_left_alone(jobs, records):
    run(jobs, "--record", records[0], "--record", records[1])
    with store.open(jobs) as opened, opened.change() as change:
        change.delete(Identity("Job", "2", 1))
    told = "(1 about other jobs, 1 about deleted ones)"
    assert told in run(jobs, "--record", records[0]).stderr
    assert "Job 2" not in stored(jobs)


def test_a_further_run_of_a_job_in_a_group_is_a_document_of_its_own(jobs, records):
    before = stored(jobs)["JobGroup g"].document
    for each in records:
        each.write_text(each.read_text().replace("2|2|", "4|4|"))
    assert "1 further run" in run(jobs, "--record", records[0], "--record", records[1]).stderr
    found = stored(jobs)
    first = next(job for job in loads(found["JobGroup g"].document).jobs if job.id == "4")
    second = loads(found["Job 4"].document)
    assert found["JobGroup g"].document != before
    assert [job.delivered.value("Duration") for job in (first, second)] == [20, 90]


def test_a_record_that_ended_without_having_begun_is_a_run_of_its_own_once(jobs, records, tmp_path):
    run(jobs, "--record", records[1])
    before = stored(jobs)
    cancelled = tmp_path / "cancelled.txt"
    cancelled.write_text("JobID|State|Start|End\n2|CANCELLED|Unknown|1500\n")
    for told in ("1 further run", "delivered 1 of 1 record: 0 values added"):
        assert told in run(jobs, "--record", cancelled).stderr
        after = stored(jobs)
        [new] = after.keys() - before.keys()
        assert after == {**before, new: after[new]}
        assert loads(after[new].document).get("EndTime")


def test_a_bad_record_is_reported_and_the_rest_goes_on(jobs, tmp_path):
    text = tmp_path / "bad.txt"
    text.write_text(FIRST.replace("1|1|COMPLETED|1000|1010", "1|1|COMPLETED|1000|soon"))
    result = run(jobs, "--record", text)
    assert f"{text}:2: error: " in result.stderr
    assert "delivered 1 of 3 records (1 about other jobs, 1 bad)" in result.stderr


def test_records_go_to_the_documents_of_a_directory(tmp_path, records):
    place = tmp_path / "requested"
    (place / "inner").mkdir(parents=True)
    (place / "one.xml").write_text(f"<!-- as it was -->\n{REQUESTED.format(1)}\n")
    (place / "inner" / "others.sss").write_text(
        "".join(f"{REQUESTED.format(number)}\n" for number in (2, 3))
    )
    (place / "four.xml").write_text(REQUESTED.format(4))
    (place / "broken.xml").write_text("<Job><Id>5</Id>")
    (place / "packed.xml.gz").write_bytes(gzip.compress(REQUESTED.format(9).encode()))
    untouched = (place / "four.xml").stat().st_mtime_ns
    result = run(place, "--in-place", "--record", records[0])
    assert result.exit_code == 2, result.stderr  # one document cannot be read
    assert "delivered to 2 of 5 jobs from 3 records: " in result.stderr
    assert "broken.xml:1" in result.stderr
    assert "packed.xml.gz: warning: is compressed, and is not written back" in result.stderr
    assert (place / "one.xml").read_text().startswith("<!-- as it was -->\n<Job><Id>1</Id>")
    assert loads((place / "one.xml").read_bytes()).delivered.value("Duration") == 60
    assert "<Duration>20</Duration>" in (place / "inner" / "others.sss").read_text()
    assert (place / "four.xml").stat().st_mtime_ns == untouched
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
    assert "0 values added" in run(place, "--in-place", "--record", records[0]).stderr
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.parametrize("arguments, message", [
    pytest.param((), "nothing to add", id="nothing"),
    pytest.param(("--record", "r"), "say --in-place", id="in-place"),
    pytest.param(("--in-place", "--features", "f"), "take only records", id="features"),
    pytest.param(("--in-place", "--record", "/no/such"), "/no/such: No such file", id="file"),
])  # fmt: skip
def test_what_a_directory_cannot_be_given_exits_2(tmp_path, arguments, message):
    result = run(tmp_path, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_store_that_cannot_be_opened_exits_2(tmp_path):
    path = Path(tmp_path, "other.db")
    path.write_bytes(b"SQLite format 3\0" + bytes(84))
    result = run(path, "--record", "r")
    assert result.exit_code == 2
    assert str(path) in result.stderr
