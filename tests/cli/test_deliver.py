import gzip
import json

import pytest
from click.testing import CliRunner

from sssjob import document, store
from sssjob.cli import sssjob
from sssjob.cli.deliver import command
from sssjob.features.write import write
from sssjob.model import Requested

COLUMNS = "JobID|JobIDRaw|State|ExitCode|Submit|Start|End|Elapsed|TotalCPU|NCPUS|User|MaxRSS"
HEAD = "2023-11-14T22:00:00|2023-11-14T22:13:20"
RECORDS = f"""{COLUMNS}
7|7|COMPLETED|0:0|{HEAD}|2023-11-14T22:15:00|00:01:40|00:50.000|12|amy|
7.batch|7.batch|COMPLETED|0:0|{HEAD}|2023-11-14T22:15:00|00:01:40|00:50.000|12||2048K
8|8|FAILED|3:0|{HEAD}|2023-11-14T22:14:00|00:00:40|00:01.000|1|amy|
99|99|COMPLETED|0:0|{HEAD}|2023-11-14T22:14:00|00:00:40|00:01.000|1|bob|
"""
JOB = """<Job><Id>7</Id><State>Idle</State><Requested><Processors op="GE">8</Processors>
  <Duration>3600</Duration></Requested></Job>"""
OTHER = "<Job><Id>8</Id><Queue>batch</Queue></Job>"
STRANGER = "<Job><Id>9</Id><Executable>a &amp; b</Executable></Job>"
FEATURES = {"job_id": "7", "allocated_cpu": 12, "jobstart_secs": 1700000000, "max_rss_bytes": 10**9}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sacct.txt").write_text(RECORDS)
    write(FEATURES, tmp_path / "mjf")

    def invoke(text, *arguments, input=None):
        (tmp_path / "job.xml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return CliRunner().invoke(command, arguments, input=input)

    return invoke


def test_a_record_takes_its_place_in_the_job(run):
    result = run(JOB, "job.xml", "--record", "sacct.txt", "--tz", "UTC")
    assert result.exit_code == 0
    job = document.loads(result.stdout)
    assert job.blocks(Requested) == document.loads(JOB).blocks(Requested)
    assert (job.get("State"), job.get("EndTime")) == ("Completed", "1700000100")
    assert job.delivered.text("Processors") == "12"
    assert job.delivered.text("User") == "amy"
    assert result.stderr == (
        "delivered to 1 of 1 job from 3 records (2 about other jobs): "
        "12 values added, 0 disagreements\n"
    )


def test_features_and_a_record_are_folded_together(run):
    result = run(JOB, "job.xml", "--features", "mjf", "--record", "sacct.txt", "--tz", "UTC")
    job = document.loads(result.stdout)
    assert job.properties.get("ResourceLimit").text == "1000000000"
    assert job.delivered.text("Duration") == "100"
    assert "warning" not in result.stderr


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
def test_delivering_twice_changes_nothing(run, tmp_path, overwrite):
    options = ("--features", "mjf", "--record", "sacct.txt", "--tz", "UTC", *overwrite)
    first = run(JOB, "job.xml", *options)
    second = run(first.stdout, "job.xml", *options)
    assert second.stdout == first.stdout
    assert second.exit_code == 0


def test_a_disagreement_is_reported_and_the_job_keeps_its_value(run):
    text = JOB.replace("</State>", "</State><ExitCode>1</ExitCode>")
    result = run(text, "job.xml", "--record", "sacct.txt", "--tz", "UTC")
    assert result.exit_code == 0
    assert "job.xml:1: warning: ExitCode 1 is kept, not 0 of sacct.txt:2" in result.stderr
    assert document.loads(result.stdout).get("ExitCode") == "1"
    result = run(text, "job.xml", "--record", "sacct.txt", "--tz", "UTC", "--overwrite")
    assert document.loads(result.stdout).get("ExitCode") == "0"


@pytest.mark.parametrize(
    "text, start, end",
    [
        pytest.param(
            f"<Jobs xmlns:x='urn:x' x:a='1'>{JOB}{STRANGER}{OTHER}</Jobs>",
            "<Jobs xmlns:x='urn:x' x:a='1'>", "</Jobs>", id="wrapper",
        ),
        pytest.param(
            f"{JOB}\n{STRANGER}\n{OTHER}\n", "<Job>", "</Job>\n",
            id="one after the other",
        ),
        pytest.param(
            f"<JobGroup><Id>g</Id>{JOB}{STRANGER}{OTHER}</JobGroup>", "<JobGroup>",
            "</JobGroup>", id="group",
        ),
    ],
)  # fmt: skip
def test_each_record_goes_to_its_job_and_the_rest_stay(run, text, start, end):
    result = run(text, "job.xml", "--record", "sacct.txt", "--tz", "UTC")
    assert result.exit_code == 0
    assert start in result.stdout
    assert result.stdout.endswith(end)
    blocks = list(document.read(result.stdout.encode()))
    jobs = blocks if len(blocks) > 1 else blocks[0].jobs
    assert [job.get("ExitCode") for job in jobs] == ["0", "", "3"]
    assert document.dumps(jobs[1]) == STRANGER
    assert STRANGER in result.stdout
    assert "delivered to 2 of 3 jobs" in result.stderr


def test_the_directory_goes_to_the_job_that_it_names(run):
    result = run(f"<Jobs>{JOB}{OTHER}</Jobs>", "job.xml", "--features", "mjf")
    first, second = document.read(result.stdout.encode())
    assert first.delivered.text("Processors") == "12"
    assert document.dumps(second) == OTHER


def test_the_directory_goes_to_the_job_that_has_its_name_as_globalid(run):
    job = "<Job><Id>7.0</Id><GlobalId>{}</GlobalId></Job>"
    mine, others = job.format("7"), job.format("sch#7.0#1700000001")
    result = run(f"<Jobs>{others}{mine}</Jobs>", "job.xml", "--features", "mjf")
    first, second = document.read(result.stdout.encode())
    assert document.dumps(first) == others
    assert second.delivered.text("Processors") == "12"


def test_the_directory_of_another_job_is_not_folded_unless_forced(run):
    result = run(OTHER, "job.xml", "--features", "mjf")
    assert result.exit_code == 1
    assert "error: the directory belongs to job 7, not to 8" in result.stderr
    assert document.dumps(document.loads(result.stdout)) == OTHER
    result = run(OTHER, "job.xml", "--features", "mjf", "--force")
    assert result.exit_code == 0
    assert document.loads(result.stdout).delivered.text("Processors") == "12"


def test_nothing_about_any_job_ends_with_1(run):
    result = run(STRANGER, "job.xml", "--record", "sacct.txt")
    assert result.exit_code == 1
    assert "3 about other jobs" in result.stderr


def test_the_document_is_written_whole_to_a_file(run, tmp_path):
    result = run(JOB, "job.xml", "--record", "sacct.txt", "-o", "out.xml")
    assert result.stdout == ""
    assert document.loads((tmp_path / "out.xml").read_bytes()).get("ExitCode") == "0"
    assert {path.name for path in tmp_path.iterdir()} == {"job.xml", "mjf", "out.xml", "sacct.txt"}


def test_in_place_touches_a_file_only_if_something_changed(run, tmp_path):
    options = ("--in-place", "--record", "sacct.txt", "--tz", "UTC")
    assert run(JOB, "job.xml", *options).exit_code == 0
    changed = (tmp_path / "job.xml").stat()
    assert CliRunner().invoke(command, ["job.xml", *options]).exit_code == 0
    again = (tmp_path / "job.xml").stat()
    assert (again.st_ino, again.st_mtime_ns) == (changed.st_ino, changed.st_mtime_ns)
    assert document.loads((tmp_path / "job.xml").read_bytes()).get("State") == "Completed"


def test_standard_input_is_read_twice(run):
    result = run(JOB, "-", "--record", "sacct.txt", input=f"<Jobs>{JOB}{OTHER}</Jobs>")
    assert result.stdout.count("<ExitCode>") == 3  # two jobs and a step
    assert "delivered to 2 of 2 jobs" in result.stderr


def test_json_counts_and_lists_findings(run, tmp_path):
    text = JOB.replace("</State>", "</State><ExitCode>1</ExitCode>")
    result = run(text, "job.xml", "--record", "sacct.txt", "--tz", "UTC", "--json", "-o", "out.xml")
    printed = json.loads(result.stdout)
    assert (printed["jobs"], printed["delivered"], printed["disagreements"]) == (1, 1, 1)
    assert printed["findings"][0]["code"] == "W-DISAGREE"
    assert (tmp_path / "out.xml").exists()


def test_a_bad_record_is_reported_with_its_line_and_the_rest_go_on(run, tmp_path):
    lines = RECORDS.splitlines()
    lines.insert(1, lines[1].replace("00:01:40", "soon"))
    (tmp_path / "bad.txt").write_text("\n".join(lines) + "\n")
    result = run(JOB, "job.xml", "--record", "bad.txt", "--tz", "UTC")
    assert result.exit_code == 1
    assert "bad.txt:2: error: " in result.stderr
    assert "1 bad" in result.stderr


UNREAD = {
    "E-XML": "<!DOCTYPE Jobs>\n<Jobs><Job><Id>7</Id></Job></Jobs>",
    "E-LIMIT": f"<Job><Id>7</Id>{'<a>' * 300}{'</a>' * 300}</Job>",
}


@pytest.mark.parametrize("code", UNREAD)
@pytest.mark.parametrize("into", ["job.xml", "requested", "jobs.db"])
def test_a_record_that_is_no_document_is_told_as_elsewhere_and_ends_with_2(
    run, tmp_path, into, code
):
    (tmp_path / "record.xml").write_text(UNREAD[code])
    (tmp_path / "requested").mkdir()
    (tmp_path / "requested" / "one.xml").write_text(JOB)
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(JOB.encode())
    options = ["--in-place"] if into == "requested" else []
    result = run(JOB, into, "--record", "record.xml", *options)
    told = CliRunner().invoke(sssjob, ["validate", "record.xml"]).output.splitlines()[0]
    assert told.endswith(f" [{code}]")
    assert (result.stderr.splitlines()[0], result.exit_code) == (told, 2)


def test_of_several_runs_the_last_is_folded(run, tmp_path):
    first = RECORDS.splitlines()[1].replace("22:00:00", "21:00:00").replace("|0:0|", "|9:0|")
    (tmp_path / "sacct.txt").write_text(RECORDS.replace("\n7|", f"\n{first}\n7|", 1))
    result = run(JOB, "job.xml", "--record", "sacct.txt", "--tz", "UTC")
    assert document.loads(result.stdout).get("ExitCode") == "0"
    assert "sacct.txt:2: an earlier run of job 7 is not folded" in result.stderr


SUBMITTED, START = 1699999200, 1700000000  # of the record of job 7, and of its features


@pytest.mark.parametrize("order", ["first", "last"])
def test_a_record_of_an_earlier_run_tells_the_end_of_the_run_that_a_document_has(
    run, tmp_path, order
):
    """Both began within a minute; one call is as two."""
    head, line = RECORDS.splitlines()[:2]
    earlier = line.replace("22:13:20", "22:12:40").replace("22:15:00|00:01:40", "22:13:00|00:00:20")
    rows = [earlier, line] if order == "first" else [line, earlier]
    (tmp_path / "sacct.txt").write_text("\n".join([head, *rows, ""]))
    before = JOB.replace("</Id>", f"</Id><StartTime>{START - 40}</StartTime>")
    done = run(before, "job.xml", "--record", "sacct.txt", "--tz", "UTC")
    job = document.loads(done.stdout)
    assert (job.get("StartTime"), job.get("EndTime")) == (str(START), str(START + 100))
    assert "a later run of job 7 replaces what is known of one before" in done.stderr


RAN = """<Job><Id>7</Id><Name>n</Name><StartTime>{start}</StartTime>{more}
<CpuDuration>7200</CpuDuration><Charge>31</Charge>
<Extension type="JobStatus" name="used_x">5</Extension>
<Extension type="Site" name="x">5</Extension><Requested><Processors>2</Processors></Requested>
<Delivered><Memory metric="Max">64</Memory></Delivered>
<TaskGroup><Id>own</Id><Requested/><Delivered><Duration>9</Duration></Delivered></TaskGroup>
<TaskGroup><Id>step</Id><Delivered><Duration>9</Duration></Delivered></TaskGroup></Job>
"""
OLD = ("7200", "Charge", "used_x", ">64<", "<Duration>9<", "step")
LATER = "a later run of job 7 replaces what is known of one before"
EARLIER = "an earlier run of job 7 is not folded"
OF_RECORD = ("--record", "sacct.txt", "--tz", "UTC")


@pytest.mark.parametrize(
    ("start", "more", "words"),
    [
        (START - 61, "", OF_RECORD),
        (START - 61, "", ("--features", "mjf")),
        (START - 61, "<EndTime>1699999999</EndTime><State>Completed</State>", OF_RECORD),
        (START - 61, "<EndTime>1699999999</EndTime><SubmitTime>5</SubmitTime>", OF_RECORD),
    ],
)
def test_a_later_run_replaces_all_that_is_known_of_an_earlier_one(run, start, more, words):
    result = run(RAN.format(start=start, more=more), "job.xml", *words)
    job = document.loads(result.stdout)
    assert LATER in result.stderr
    assert not [old for old in OLD if old in result.stdout]
    assert (job.get("StartTime"), job.get("Name")) == (str(START), "n")
    assert job.properties.get("Extension", type="Site").text == "5"
    assert job.blocks(Requested) == document.loads(RAN.format(start=0, more="")).blocks(Requested)
    assert [group.id for group in job.task_groups if group.requested] == []
    assert "own" in [group.id for group in job.task_groups]
    if words == OF_RECORD:
        assert (job.get("EndTime"), job.get("CpuDuration")) == ("1700000100", "50")
        assert job.get("SubmitTime") == str(SUBMITTED)
    else:
        assert not job.get("EndTime")
    again = run(result.stdout, "job.xml", *words)
    assert (again.stdout, LATER in again.stderr) == (result.stdout, False)


@pytest.mark.parametrize(
    ("start", "more", "words"),
    [
        (START + 103, "", OF_RECORD),  # the record ends at START + 100
        (START + 61, "", ("--features", "mjf")),
        (START + 13, f"<SubmitTime>{START + 3}</SubmitTime>", ("--features", "mjf")),
    ],
)
def test_nothing_of_an_earlier_run_is_folded_into_a_later_one(run, start, more, words):
    text = RAN.format(start=start, more=more)
    result = run(text, "job.xml", *words)
    assert (result.stdout, EARLIER in result.stderr) == (text, True)


@pytest.mark.parametrize("away", [-3600, 5 * 3600, 90 * 60])
def test_a_record_without_a_zone_replaces_nothing_that_may_be_of_its_run(run, away):
    text = RAN.format(start=START + away, more="")
    result = run(text, "job.xml", "--record", "sacct.txt")
    told = "sacct.txt:2: is not folded into job 7: its times have no zone (--tz)"
    assert (result.stdout, result.exit_code, told in result.stderr) == (text, 1, True)


@pytest.mark.parametrize(("away", "told"), [(-86400, LATER), (86400, EARLIER)])
def test_a_record_without_a_zone_is_of_another_run_where_no_zone_makes_it_this_one(run, away, told):
    result = run(RAN.format(start=START + away, more=""), "job.xml", "--record", "sacct.txt")
    assert told in result.stderr


def test_a_run_that_began_before_the_end_of_a_record_is_the_same_whatever_clocks_say(run):
    result = run(RAN.format(start=START + 90, more=""), "job.xml", *OF_RECORD)
    assert (LATER in result.stderr, EARLIER in result.stderr) == (False, False)
    assert document.loads(result.stdout).get("EndTime") == "1700000100"


RUN_HEAD = "JobID|State|Submit|Start|End|AllocCPUS\n"


def record_of_run(start, end, submitted=SUBMITTED):
    """What sacct says of one run."""
    return f"7|NODE_FAIL|{submitted}|{start}|{end}|2\n"


@pytest.mark.parametrize("start", [START, START + 7, START - 3])
def test_features_go_the_way_of_the_record_of_their_run(run, tmp_path, start):
    (tmp_path / "sacct.txt").write_text(RUN_HEAD + record_of_run(start, start + 5))
    text = RAN.format(start=START + 20, more="")
    result = run(text, "job.xml", "--features", "mjf", *OF_RECORD)
    assert (result.stdout, result.stderr.count(EARLIER)) == (text, 2)


@pytest.mark.parametrize("step", [1, -1])
def test_features_of_the_first_of_two_records_are_not_folded_into_the_last(run, tmp_path, step):
    runs = [record_of_run(START, START + 5), record_of_run(START + 20, START + 29)]
    (tmp_path / "sacct.txt").write_text(RUN_HEAD + "".join(runs[::step]))
    result = run(JOB, "job.xml", "--features", "mjf", *OF_RECORD)
    assert result.stderr.count(EARLIER) == 2
    assert document.loads(result.stdout).get("StartTime") == str(START + 20)
    assert "ResourceLimit" not in result.stdout


def test_features_of_the_run_that_a_document_had_go_when_a_record_replaces_it(run, tmp_path):
    """Only the end of that run tells them apart, and that goes with it."""
    ended = f"<EndTime>{START + 30}</EndTime><State>Completed</State>"
    (tmp_path / "sacct.txt").write_text(RUN_HEAD + record_of_run(START + 60, START + 5000))
    result = run(RAN.format(start=START, more=ended), "job.xml", "--features", "mjf", *OF_RECORD)
    assert (result.stderr.count(LATER), result.stderr.count(EARLIER)) == (1, 1)
    assert document.loads(result.stdout).get("StartTime") == str(START + 60)
    assert "ResourceLimit" not in result.stdout


@pytest.mark.parametrize("step", [1, -1])
def test_a_job_that_only_asked_for_something_keeps_it_whatever_runs_records_tell(
    run, tmp_path, step
):
    runs = [record_of_run(START, START + 5), record_of_run(START + 99, START + 500)]
    (tmp_path / "sacct.txt").write_text(RUN_HEAD + "".join(runs[::step]))
    asked = JOB.replace("</Id>", f"</Id><DeadlineTime>{START + 50}</DeadlineTime>")
    result = run(asked, "job.xml", *OF_RECORD)
    assert (LATER in result.stderr, result.stderr.count(EARLIER)) == (False, 1)
    job = document.loads(result.stdout)
    assert (job.get("StartTime"), job.get("DeadlineTime")) == (str(START + 99), str(START + 50))


def test_features_nearer_to_the_run_of_a_document_than_to_a_record_are_of_that_run(run, tmp_path):
    (tmp_path / "sacct.txt").write_text(RUN_HEAD + record_of_run(START - 9, START - 4))
    result = run(RAN.format(start=START + 1, more=""), "job.xml", "--features", "mjf", *OF_RECORD)
    assert result.stderr.count(EARLIER) == 1
    assert "ResourceLimit" in result.stdout


@pytest.mark.parametrize("start", [START - 60, START + 60])
def test_starts_of_one_run_may_differ_by_what_prologs_and_records_do(run, start):
    result = run(RAN.format(start=start, more=""), "job.xml", "--features", "mjf")
    assert (LATER in result.stderr, EARLIER in result.stderr) == (False, False)
    assert 'name="used_x"' in result.stdout


def test_features_of_another_job_take_nothing_away(run, tmp_path):
    write({**FEATURES, "job_id": "8"}, tmp_path / "mjf")
    text = RAN.format(start=START - 61, more="")
    result = run(text, "job.xml", "--features", "mjf")
    assert (result.stdout, LATER in result.stderr) == (text, False)


def test_nothing_that_the_record_of_an_earlier_run_said_stays_beside_the_later_one(run, tmp_path):
    head = "JobID|State|ExitCode|Submit|Start|End|NodeList|Priority|DerivedExitCode|Reason"
    first = f"7|NODE_FAIL|0:0|{START - 99}|{START - 90}|{START - 9}|n1|99|1:0|NodeDown"
    second = f"7|COMPLETED|0:0|{START - 9}|{START}|{START + 100}|n2|5||None"
    (tmp_path / "first.txt").write_text(f"{head}\n{first}\n")
    (tmp_path / "second.txt").write_text(f"{head}\n{second}\n")
    once = run(JOB, "job.xml", "--record", "first.txt").stdout
    assert "NODE_FAIL" in once
    twice = run(once, "job.xml", "--record", "second.txt").stdout
    assert twice == run(JOB, "job.xml", "--record", "second.txt").stdout


@pytest.mark.parametrize("deadline", [START - 1, START + 9])
def test_a_deadline_that_no_list_calls_folded_was_asked_for_and_stays(run, deadline):
    more = f"<DeadlineTime>{deadline}</DeadlineTime>"
    result = run(RAN.format(start=START - 99, more=more), "job.xml", *OF_RECORD)
    assert LATER in result.stderr
    assert document.loads(result.stdout).get("DeadlineTime") == str(deadline)


def test_all_that_is_not_a_changed_job_is_kept_to_the_byte(run, tmp_path):
    text = f"""<?xml version='1.0'  encoding='ISO-8859-1'?>
<!-- licence: (c) caf\xe9 -->
<?editor keep?>
<Jobs note='a "quoted" one' >
  <About><![CDATA[ of the <cluster> ]]></About>
  <!-- before the first -->
  {JOB}   <!-- behind it -->
  <Job ><Id>9</Id><!-- as is --><Name>&#65;&#xe9;</Name  ></Job>
</Jobs>
<!-- the end -->

""".encode("latin-1")
    assert run(text, "job.xml", "--in-place", "--record", "sacct.txt", "--tz", "UTC").exit_code == 0
    changed = (tmp_path / "job.xml").read_bytes()
    before, _, rest = text.partition(b"<Job>")
    assert changed.startswith(before + b"<Job><Id>7</Id><State>Completed</State>")
    assert changed.endswith(b"</Job>" + rest.partition(b"</Job>")[2])
    job, other = document.read(changed)
    assert (job.get("ExitCode"), other.get("Name")) == ("0", "A\xe9")


def test_a_document_about_other_jobs_comes_back_as_it_was(run):
    text = f"<!-- a --><Jobs>\r\n{OTHER}<Job/>\r\n</Jobs>".replace("8", "1")
    result = run(text, "job.xml", "--record", "sacct.txt", "--tz", "UTC")
    assert (result.stdout_bytes.decode(), result.exit_code) == (text, 1)


def test_a_job_in_doubt_is_warned_about_if_it_is_one_of_ours(run, tmp_path):
    rows = "".join(f"{id}|{id}|a|b|c|COMPLETED\n" for id in (7, 8))
    (tmp_path / "sacct.txt").write_text("JobID|JobIDRaw|JobName|Comment|State\n" + rows)
    result = run(JOB, "job.xml", "--record", "sacct.txt")
    assert result.stderr.splitlines() == [
        "sacct.txt:2: warning: a text has the delimiter in it: left out, since they cannot be "
        "told apart: JobName, Comment [W-USELESS]",
        "delivered to 1 of 1 job from 2 records (1 about other jobs): "
        "2 values added, 0 disagreements",
    ]


@pytest.mark.parametrize(
    "arguments, message",
    [
        pytest.param(("job.xml",), "nothing to add", id="nothing to fold"),
        pytest.param(("none.xml", "--record", "sacct.txt"), "none.xml: No such file", id="no file"),
        pytest.param(("job.xml", "--record", "none.txt"), "none.txt: No such file", id="no record"),
        pytest.param(("job.xml", "--features", "none"), "none: No such file", id="no directory"),
        pytest.param(("job.xml", "--record", "sacct.txt", "--tz", "Mars"), "Mars", id="no zone"),
        pytest.param(("job.xml", "--record", "notes.txt"), "notes.txt", id="no records"),
        pytest.param(
            ("-", "--record", "sacct.txt", "--in-place"), "--in-place", id="stdin in place"
        ),
        pytest.param(
            ("packed.xml.gz", "--record", "sacct.txt", "--in-place"), "compressed", id="compressed"
        ),
    ],
)
def test_what_is_not_understood_ends_with_2(run, tmp_path, arguments, message):
    (tmp_path / "packed.xml.gz").write_bytes(gzip.compress(JOB.encode()))
    (tmp_path / "notes.txt").write_text("alice asked for more nodes\n")
    result = run(JOB, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_directory_without_job_id_needs_a_single_job(run, tmp_path):
    write({"allocated_cpu": 3}, tmp_path / "anonymous")
    assert run(OTHER, "job.xml", "--features", "anonymous").exit_code == 0
    result = run(f"<Jobs>{JOB}{OTHER}</Jobs>", "job.xml", "--features", "anonymous")
    assert result.exit_code == 2
    assert "has no job_id" in result.stderr
