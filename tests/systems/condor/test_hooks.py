# ruff: noqa: E501 (a case is a line)
"""Each hook by itself: what it reads, does and answers, and what it never does."""

import importlib
import os
import pwd
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import click
import pytest
from condor_site import SLOT
from waiting import growing

from sssjob.classads import forms, long
from sssjob.classads.values import Ad
from sssjob.cli.condor import hooks as commands
from sssjob.document import loads
from sssjob.systems.condor.hooks import programs as hooks
from sssjob.systems.condor.hooks import queue, settings
from sssjob.systems.condor.hooks.place import UnsafeQueue
from sssjob.systems.condor.hooks.queue import DONE, OFFERED, READY, RUNNING, WAITING

DATA = Path(__file__).parents[2] / "data" / "condor"
USER = "<User>amy</User>"


def is_again(new, ad):
    """Whether the ad of a job is that of another attempt, the same but for when that was."""
    (key, attempt), (same, later) = (each["SSSKey"].split(".") for each in (ad, new))
    return (key, timeless(ad)) == (same, timeless(new)) and int(attempt) < int(later)


def timeless(ad):
    """An ad without when it was given away."""
    return Ad({name: ad[name] for name in ad if name not in ("SSSFetched", "SSSKey")})


def both(job, slot=SLOT):
    return f"{long.write(job)}-----\n{long.write(slot)}".encode()


def test_a_slot_gets_a_job_that_fits_as_one_strict_ad_in_one_write(site):
    site.add("a.xml", f"{USER}<Requested><Processors>2</Processors></Requested>")
    [ad] = site.fetch()
    assert (ad["Cmd"], ad["Owner"], ad["RequestCpus"]) == ("/bin/true", "amy", 2)
    assert len([each for each in site.writes if each]) == 1
    assert list(ad) == sorted(ad)


def test_no_work_is_no_output(site):
    assert site.fetch() == []
    assert b"".join(site.writes) == b""


def test_a_queue_whose_maker_was_killed_before_there_was_anything_in_it_is_empty(site):
    site.add("a.xml", USER)
    site.state.mkdir(mode=0o711)
    (site.state / "queue.db").touch(mode=0o600)
    assert site.jobs(OFFERED) == []
    assert len(site.fetch()) > 0
    assert len(site.jobs(OFFERED)) == 1


# A hook that is killed while it writes into the file itself, not only into its journal.
KILLED = """
import os, sqlite3, sys
queue = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in ("PRAGMA journal_mode = TRUNCATE", "PRAGMA cache_size = 1", "BEGIN"):
    queue.execute(statement)
for number in range(1000):
    queue.execute("INSERT INTO note VALUES (?, ?, 0)", (str(number), "x" * 100))
os.kill(os.getpid(), 9)
"""


def test_a_queue_is_read_also_while_nobody_took_back_what_a_killed_hook_had_begun(site):
    site.add("a.xml", USER)
    site.fetch()
    subprocess.run([sys.executable, "-c", KILLED, site.state / "queue.db"])
    assert (site.state / "queue.db-journal").stat().st_size > 0
    assert [job.document for job in site.jobs(OFFERED)] == ["a.xml"]


@pytest.fixture
def idle(site, monkeypatch):
    """A site where a job is away and no other is ready, as the last fetch of several found."""
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 10)  # everything has settled
    site.add("a.xml", USER)
    site.ad = one(site.fetch(**KEPT))
    os.utime(site.path, (0, 0))
    assert site.fetch(**KEPT) == []
    queue = site.state / "queue.db"
    mark = site.state.parent.parent / "tick"
    while not mark.exists() or mark.stat().st_ctime_ns <= queue.stat().st_ctime_ns:
        mark.touch()  # until the clock of files is past the last change
    site.opened = []
    held = hooks._held
    monkeypatch.setattr(hooks, "_held", lambda given: site.opened.append(1) or held(given))
    return site


KEPT = {"refresh": 3600}


def one(ads):
    [ad] = ads
    return ad


def test_a_queue_with_nothing_to_give_away_is_not_opened(idle):
    assert (idle.fetch(**KEPT), idle.opened, idle.said) == ([], [], "")


def test_what_changes_opens_it_again(idle):
    idle.call("reply-fetch", both(idle.ad), "reject")
    assert is_again(one(idle.fetch(**KEPT)), idle.ad)


def test_a_new_document_opens_it_again(idle):
    idle.add("b.xml", USER, "8")
    assert one(idle.fetch(**KEPT))["SSSJobId"] == "8"


@pytest.mark.parametrize("options", [{"refresh": 5}, {**KEPT, "silence": 5}])
def test_time_opens_it_again(idle, monkeypatch, options):
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 10)
    idle.fetch(**options)
    assert idle.opened


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda state: (state / "queue.db").chmod(0o644), "is not ours alone"),
        (lambda state: os.link(state / "queue.db", state / "other"), "with one name"),
        (lambda state: state.chmod(0o777), "can be written by others than its owner"),
        (lambda state: (state / "idle").write_text("a\nb\nc\nd"), ""),
        (lambda state: (state / "idle").write_bytes(b"\xff" * 5000), ""),
        (lambda state: ((state / "idle").unlink(), os.mkfifo(state / "idle")), ""),
        (lambda state: ((state / "idle").unlink(), (state / "idle").symlink_to("x")), ""),
        (lambda state: ((state / "idle").unlink(), (state / "idle").mkdir()), ""),
    ],
    ids=["mode", "names", "directory", "words", "octets", "pipe", "link", "folder"],
)
def test_a_queue_that_was_tampered_with_is_looked_at(idle, spoil, reason):
    spoil(idle.state)
    assert idle.fetch(**KEPT) == []
    assert reason in idle.said
    assert bool(reason) == bool(idle.said)


def test_a_job_is_given_once(site):
    site.add("a.xml", USER)
    assert len(site.fetch()) == 1
    assert site.fetch() == []


def test_many_slots_that_fetch_at_once_get_different_jobs(tmp_path):
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    user = pwd.getpwuid(os.getuid()).pw_name
    for number in range(6):
        job = f"<Id>{number}</Id><User>{user}</User><Executable>/bin/true</Executable>"
        (jobs / f"{number}.xml").write_text(f"<Job>{job}</Job>")
    command = [
        Path(sys.executable).with_name("sssjob"),
        "condor",
        "fetch-work",
        "--documents",
        jobs,
    ]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(8)
    ]
    slot = long.write(SLOT.merged({"SSSRunsAs": user})).encode()
    answers = [each.communicate(slot)[0].decode() for each in running]
    ids = sorted(forms.read_text(answer)[0]["SSSJobId"] for answer in answers if answer)
    assert ids == ["0", "1", "2", "3", "4", "5"]


def test_priority_comes_first_then_what_was_submitted_first(site):
    for name, inner in (
        ("a.xml", "<SubmitTime>200</SubmitTime>"),
        ("b.xml", "<SubmitTime>100</SubmitTime>"),
        ("c.xml", "<SubmitTime>300</SubmitTime><Priority>5</Priority>"),
        ("d.xml", "<Priority>-5</Priority>"),
    ):
        site.add(name, USER + inner, id_=name[0])
    order = [site.fetch()[0]["SSSJobId"] for _ in range(4)]
    assert order == ["c", "b", "a", "d"]


def test_the_alternative_that_fits_decides_about_the_amounts(site):
    site.add("a.xml", USER + (
        "<Requested><Processors group='1'>64</Processors><Memory group='-1' units='GB'>64</Memory>"
        "<Processors conj='Or' group='1'>3</Processors><Memory group='-1' units='GB'>1</Memory>"
        "</Requested>"))  # fmt: skip
    [ad] = site.fetch()
    assert (ad["RequestCpus"], ad["RequestMemory"]) == (3, 1024)


@pytest.mark.parametrize(
    "inner, slot",
    [
        pytest.param("<Requested><Processors>5</Processors></Requested>", {}, id="processors"),
        pytest.param("<Requested><Memory>5000</Memory></Requested>", {}, id="memory"),
        pytest.param("<Requested><Resource name='GPUs'>1</Resource></Requested>", {}, id="GPUs"),
        pytest.param("<Requested><Node>n2</Node></Requested>", {}, id="node"),
        pytest.param("<Requested><Feature>ib</Feature></Requested>", {}, id="feature"),
        pytest.param("", {"Requirements": False}, id="the slot does not want it"),
    ],
)
def test_a_job_that_does_not_fit_stays(site, inner, slot):
    site.add("a.xml", USER + inner)
    assert site.fetch(SLOT.merged(slot)) == []
    assert len(site.jobs(READY)) == 1


@pytest.mark.parametrize("said", ["<State>cancelled</State>", "<ExitCode>0</ExitCode>"])
def test_a_job_that_has_ended_runs_in_no_slot(site, said):
    site.add("a.xml", USER + said)
    assert site.fetch() == []
    assert len(site.jobs(DONE)) == 1


@pytest.mark.parametrize(
    "inner, reason",
    [
        pytest.param("<State>Hold</State>", "its State is Hold", id="held"),
        pytest.param("<State>Running</State>", "its State is Running", id="runs elsewhere"),
        pytest.param("<Dependency>99</Dependency>", "it waits for other jobs", id="depends"),
        pytest.param("<Requested><NodeCount>2</NodeCount></Requested>", "more than one node",
                     id="parallel"),
        pytest.param("<Requested><Processors group='1'>2</Processors></Requested>",
                     "cannot be read", id="no request"),
    ],
)  # fmt: skip
def test_a_job_that_may_not_run_waits_with_its_reason(site, inner, reason):
    site.add("a.xml", USER + inner)
    assert site.fetch() == []
    [job] = site.jobs(WAITING)
    assert reason in job.reason


@pytest.mark.parametrize("inner", [
    "<GPU>2</GPU>", "<Processors op='APPROX'>2</Processors>",
    "<Processors conj='Xor'>2</Processors>",
])  # fmt: skip
@pytest.mark.parametrize("policy", ["Reject", "Warn", "Ignore"])
def test_what_is_not_understood_is_met_by_its_policy(site, inner, policy):
    request = f"<Requested awarenessPolicy='{policy}'>{inner}</Requested>"
    site.add("a.xml", f"{USER}{request}")
    fetched = site.fetch()
    assert bool(fetched) is (policy != "Reject")
    assert ("is not understood" in site.said) is (policy != "Ignore")
    if policy == "Reject":
        [job] = site.jobs(WAITING)
        assert "is not understood, and its awarenessPolicy is Reject" in job.reason


# decision 899
@pytest.mark.parametrize("inner", ["<Processors>16</Processors>", "<Colour/>", "<Requested/>"])
@pytest.mark.parametrize("policy", ["", "Reject", "Warn", "Ignore"])
def test_what_is_not_understood_of_a_group_is_met_with_each_of_its_jobs(site, inner, policy):
    stated = f" awarenessPolicy='{policy}'" if policy else ""
    job = f"<Job><Id>7</Id><Executable>/bin/true</Executable>{USER}</Job>"
    (site.path / "a.xml").write_text(f"<JobGroup{stated}><Id>g</Id>{inner}{job}</JobGroup>")
    assert bool(site.fetch()) is (policy in ("Warn", "Ignore"))
    assert ("is not understood" in site.said) is (policy != "Ignore")


def test_a_document_that_cannot_be_read_spares_the_others(site):
    (site.path / "a.xml").write_text("<Job><Id>")
    site.add("b.xml", USER)
    assert len(site.fetch()) == 1
    assert "a.xml:1:" in site.said


def test_a_document_that_changes_is_read_again_and_one_that_goes_is_forgotten(site):
    site.add("a.xml", f"{USER}<Requested><Processors>64</Processors></Requested>")
    assert site.fetch() == []
    site.add("a.xml", f"{USER}<Requested><Processors>1</Processors></Requested>")
    os.utime(site.path / "a.xml", ns=(1, 1))
    site.add("b.xml", f"{USER}<Requested><Processors>64</Processors></Requested>")
    assert len(site.fetch()) == 1
    (site.path / "b.xml").unlink()
    assert site.fetch() == []
    assert site.jobs(READY) == []


def test_a_line_that_is_no_attribute_is_said_and_the_others_count(site):
    site.add("a.xml", USER)
    answer = site.call("fetch-work", b"Cpus=4\njust words\nMemory =100\nA == B\n")
    [ad] = forms.read_text(answer.decode(), strict=True)
    assert (ad["CpusProvisioned"], ad["MemoryProvisioned"]) == (4, 100)
    assert "line 2 of standard input is no attribute: 'just words'" in site.said
    assert "line 4 of standard input is no attribute: 'A == B'" in site.said


def test_a_startd_that_is_root_needs_an_owner(site, monkeypatch):
    monkeypatch.setattr(hooks, "_startd_is_root", lambda: True)
    site.add("a.xml", "")
    assert site.fetch() == []
    assert "a job without User cannot be run by a startd that is root" in site.said
    [ad] = site.fetch(owner="slotuser")
    assert ad["Owner"] == "slotuser"


# decision 857
@pytest.mark.parametrize("asked, expected", [
    ("", 3), ("<Memory>1</Memory>", 3), ("<Processors>2</Processors>", 2),
    ('<Processors op="LE">1</Processors>', 1), ('<Processors op="GE">1</Processors>', 1),
])  # fmt: skip
@pytest.mark.parametrize("in_group", [False, True])
def test_the_site_says_how_many_processors_a_job_gets_that_requests_none(
    site, asked, expected, in_group
):
    request = f"<Requested>{asked}</Requested>" if asked else ""
    group = f"<TaskGroup><Name>x</Name>{request}</TaskGroup>"
    site.add("a.xml", f"{USER}{group if in_group else request}")
    [ad] = site.fetch(requests=[("RequestCpus", "3")])
    assert ad["RequestCpus"] == expected
    site.call("reply-fetch", ad, "reject")
    site.unheard()
    [ad] = site.fetch(SLOT.merged({"Name": "slot2@n1"}))
    assert ad["RequestCpus"] == (expected if "Processors" in asked else 1)


def test_a_partitionable_slot_needs_all_three_requests(site):
    site.add("a.xml", f"{USER}<Requested><Processors>1</Processors></Requested>")
    whole = SLOT.merged({"PartitionableSlot": True})
    assert site.fetch(whole) == []
    assert "needs RequestMemory, RequestDisk, which the job does not request" in site.said
    [ad] = site.fetch(whole, requests=[("RequestMemory", "100"), ("RequestDisk", "1000")])
    assert (ad["RequestMemory"], ad["RequestDisk"]) == (100, 1000)


def test_a_job_that_is_rejected_is_given_away_again(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", both(ad), "reject")
    assert is_again(one(site.fetch()), ad)


def test_a_job_that_is_accepted_is_not(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", both(ad), "accept")
    assert site.fetch() == []
    site.call("evict-claim", both(ad))
    assert is_again(one(site.fetch()), ad)


def test_a_job_of_which_nothing_is_heard_is_given_away_again(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    assert site.fetch(silence=900) == []
    assert len(site.jobs(OFFERED)) == 1
    site.unheard()
    assert is_again(one(site.fetch(silence=900)), ad)
    assert "nothing was heard of it for 900 s" in site.said


def test_updates_are_a_sign_of_life(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", both(ad), "accept")
    told = {"JobStartDate": int(time.time()) - 5, "RemoteUserCpu": 1.5, "RemoteSysCpu": 0.5,
            "JobState": "Running", "JobPid": 7, "ResidentSetSize": 2048}  # fmt: skip
    site.call("update-job-info", ad.merged(told))
    assert len(site.jobs(RUNNING)) == 1
    job = site.job("a.xml")
    assert (job.get("State"), job.get("CpuDuration")) == ("Running", "2")
    assert job.delivered.get("Memory", metric="Max").bytes == 2 << 20
    site.unheard()
    assert site.fetch(silence=900) != []


def test_an_eviction_behind_the_last_job_does_not_run_it_again(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", both(ad), "accept")
    site.call("job-exit", ad.merged({"JobPid": 7, "ExitCode": 0}), "exit", fold="never")
    site.call("evict-claim", both(ad))
    assert site.fetch() == []
    assert site.job("a.xml").get("State") == "Completed"


@pytest.mark.parametrize(
    "word, state, again",
    [("exit", "Completed", 0), ("remove", "Completed", 0), ("hold", "Hold", 0), ("evict", "Idle", 1)],
)  # fmt: skip
def test_how_a_job_ended_decides_whether_it_runs_again(site, word, state, again):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("job-exit", ad.merged({"JobStartDate": 1000, "JobDuration": 9.7}), word)
    job = site.job("a.xml")
    assert job.get("State") == state
    assert job.delivered.text("Duration") == "10"
    assert len(site.fetch()) == again


def test_an_update_before_the_job_has_started_is_no_start(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("update-job-info", ad.merged({"JobStartDate": 1000}))
    assert site.job("a.xml").get("StartCount") == ""
    assert len(site.jobs(RUNNING)) == 1


def test_a_job_of_a_schedd_becomes_a_document_that_no_slot_is_given(site):
    ad = Ad({"ClusterId": 7, "ProcId": 0, "GlobalJobId": "s#7.0#99", "Owner": "amy", "JobPid": 1,
             "Cmd": "/bin/true", "JobStartDate": 1000, "RemoteUserCpu": 2.0,
             "CumulativeSuspensionTime": 0})  # fmt: skip
    site.call("update-job-info", ad)
    [path] = site.state.glob("reported/*.xml")
    assert loads(path.read_bytes()).get("State") == "Running"
    assert loads(path.read_bytes()).get("SuspendDuration") == ""  # no starter tells a later one
    assert site.fetch() == []
    site.call("job-exit", ad.merged({"JobDuration": 5.0}), "evict")
    assert loads(path.read_bytes()).get("State") == "Idle"
    assert site.fetch() == []
    assert list(site.path.glob("*.xml")) == []


def prepare(site, job, monkeypatch, tmp_path, **options):
    monkeypatch.setenv("_CONDOR_SCRATCH_DIR", str(tmp_path))
    monkeypatch.setenv("_CONDOR_MACHINE_AD", str(DATA / "machine.ad"))
    answer = site.call("prepare-job", job, **options)
    [ad] = forms.read_text(answer.decode(), strict=True)
    return ad


def test_a_job_is_told_where_its_features_are(site, monkeypatch, tmp_path):
    job = Ad({"Environment": "A=1", "ClusterId": 7, "AllowedJobDuration": 60})
    ad = prepare(site, job, monkeypatch, tmp_path)
    assert ad["HookStatusCode"] == 0
    where = tmp_path / ".mjf"
    assert ad["Environment"] == (
        f"A=1 MACHINEFEATURES={where}/machinefeatures JOBFEATURES={where}/jobfeatures "
        f"JOBSTATUS={where}/jobstatus"
    )
    assert (where / "jobfeatures/wall_limit_secs").read_text() == "60\n"
    assert (where / "machinefeatures/total_cpu").read_text() == "8\n"
    modes = [oct((where / name).stat().st_mode & 0o777) for name in ("jobfeatures", "jobstatus")]
    assert modes == ["0o755", "0o700"]
    again = prepare(site, job.merged(ad), monkeypatch, tmp_path)
    assert again["Environment"] == ad["Environment"]


@pytest.mark.parametrize("name", [".mjf", ".mjf/jobfeatures", ".mjf/jobstatus"])
def test_a_link_that_a_job_brought_is_not_followed(site, monkeypatch, tmp_path, name):
    precious = tmp_path / "precious"
    precious.mkdir(0o710)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(precious)
    ad = prepare(site, Ad({"ClusterId": 7}), monkeypatch, tmp_path)
    assert "features are not there" in ad["HookStatusMessage"]
    assert (os.listdir(precious), precious.stat().st_mode & 0o777) == ([], 0o710)


def test_a_job_with_v1_keeps_v1(site, monkeypatch, tmp_path):
    ad = prepare(site, Ad({"Env": "A=1"}), monkeypatch, tmp_path)
    assert ad["Env"].startswith("A=1;MACHINEFEATURES=")
    assert "Environment" not in ad


def test_a_job_runs_without_features_unless_they_are_mandatory(site, monkeypatch, tmp_path):
    (tmp_path / ".mjf").write_text("in the way")
    ad = prepare(site, Ad({"ClusterId": 7}), monkeypatch, tmp_path)
    assert ad["HookStatusCode"] == 0
    assert "features are not there" in ad["HookStatusMessage"]
    ad = prepare(site, Ad({"ClusterId": 7}), monkeypatch, tmp_path, mandatory=True)
    assert ad["HookStatusCode"] == 390


def test_features_of_no_scratch_directory_are_refused_and_written_nowhere(tmp_path):
    command = [Path(sys.executable).with_name("sssjob"), "condor", "prepare-job"]
    elsewhere = {key: value for key, value in os.environ.items() if not key.startswith("_CONDOR")}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=elsewhere,
        input=b"ClusterId = 7\n",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"no scratch directory: $_CONDOR_SCRATCH_DIR" in done.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "tried").mkdir()
    done = subprocess.run(
        [*command, "--features", "tried"], cwd=tmp_path, env=elsewhere, input=b"ClusterId = 7\n",
        capture_output=True, check=True,
    )  # fmt: skip
    assert (tmp_path / "tried/.mjf/jobfeatures/job_id").read_text() == "7.0\n"


BAD = [
    pytest.param("reply-fetch", both(Ad({"Cmd": "x"})), ("accept",), "not fetched here", id="no key"),
    pytest.param("reply-fetch", both(Ad({"SSSKey": "../../etc/passwd"})), ("accept",),
                 "not fetched here", id="a key that is a path"),
    pytest.param("reply-fetch", b"", ("maybe",), "expected accept or reject", id="word"),
    pytest.param("evict-claim", b"", (), "not fetched here", id="nothing"),
    pytest.param("job-exit", b"Cmd = 1\n", ("sleep",), "expected one of exit", id="exit word"),
    pytest.param("job-exit", b"Cmd = 1\n", ("exit",), "is about no job", id="whose"),
    pytest.param("fetch-work", b"", (), "no ad of a slot", id="no slot"),
    pytest.param("fetch-work", b"\xff\xfe\0", (), "no ad of a slot", id="rubbish"),
]  # fmt: skip


@pytest.mark.parametrize("hook, stdin, words, reason", BAD)
def test_bad_input_is_said_and_answered_with_nothing(site, hook, stdin, words, reason):
    site.add("a.xml", USER)
    assert site.call(hook, stdin, *words) == b""
    assert reason in site.said


def test_a_line_of_a_megabyte_and_deep_nesting_do_not_stop_a_hook(site):
    site.add("a.xml", USER)
    odd = b'Long = "' + b"x" * (1 << 20) + b'"\nDeep = ' + b"(" * 50_000 + b"\n"
    assert site.call("fetch-work", odd + long.write(SLOT).encode()) != b""


def test_a_requirement_with_a_function_that_is_not_known_does_not_match(site):
    site.add("a.xml", USER)
    assert site.call("fetch-work", long.write(SLOT).encode() + b"Requirements = nosuch(1)\n") == b""


def test_a_hook_ends_when_its_time_is_over(site, monkeypatch):
    site.add("a.xml", USER)

    def slow(*_):
        threading.Event().wait()  # without end: only the limit ends it

    monkeypatch.setattr(hooks, "_refresh", slow)
    assert site.call("fetch-work", SLOT, seconds=1) == b""
    assert "it takes more than 1 s" in site.said


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_hook_ends_also_where_the_end_of_its_time_was_ignored(site, monkeypatch):
    """Python ignores what is raised where it deletes an object."""
    site.add("a.xml", USER)
    heard = []

    class Deleted:
        def __del__(self):
            heard.append("not")
            threading.Event().wait()

    def slow(*_):
        Deleted()
        heard.append("yes")
        threading.Event().wait()

    monkeypatch.setattr(hooks, "_refresh", slow)
    for seconds in growing(1):
        assert site.call("fetch-work", SLOT, seconds=seconds) == b""
        assert "it takes more than" in site.said
        if heard:
            break
    assert heard == ["not", "yes"]


def test_what_no_time_was_left_for_is_said(site, monkeypatch):
    site.add("a.xml", USER)
    real, gone = time.time, []
    monkeypatch.setattr(hooks, "_refresh", lambda *_: gone.append(31))
    monkeypatch.setattr(hooks.time, "time", lambda: real() + sum(gone[:1]))
    assert site.call("fetch-work", SLOT, seconds=60) == b""
    assert "looking at the documents: it took more than 30 s" in site.said


@pytest.mark.parametrize("word", ["scheduler", "grid", "local", "vm"])
def test_a_job_of_a_universe_that_no_slot_fetches_waits_with_the_reason(site, word):
    site.add("a.xml", f"{USER}<Type>{word}</Type>")
    assert site.fetch() == []
    assert f"its Type is the universe {word}, of which no slot fetches" in site.said


SLOW = """\
import os, signal
class Told:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGALRM)
        for _ in range(1000):
            pass
class Whole:
    told = Told()
"""


def test_the_end_of_its_time_comes_behind_an_import(site, monkeypatch, tmp_path):
    """Python makes another error of what is raised where an attribute is told its name."""
    site.add("a.xml", USER)
    (tmp_path / "slowly_imported.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)

    def slow(*_):
        importlib.import_module("slowly_imported")
        threading.Event().wait()

    monkeypatch.setattr(hooks, "_refresh", slow)
    assert site.call("fetch-work", SLOT, seconds=60) == b""
    assert "it takes more than" in site.said
    assert "slowly_imported" in sys.modules


@pytest.mark.parametrize(
    "words, understood",
    [
        (["--documents", "/x"], True),
        (["--documents=/x", "--silence", "60"], True),
        (["--jobs=/x"], True),  # as in hooks that were written before
        (["--request", "RequestMemory=5", "--documents", "/x"], True),
        (["accept", "--documents", "/x"], True),
        (["--help"], False),
        (["-h"], False),
        (["--nosuch", "1"], False),
        (["--documents"], False),
        (["--silence", "soon"], False),
        (["--request", "Memory=5"], False),
        (["--request", "RequestMemory =5"], False),
        (["--request", "RequestMemory= 5"], False),
        (["--request", "RequestCpus=0"], False),
        (["--request", "RequestGPUs=0"], True),
        (["--fold", "later"], False),
    ],
)
def test_what_is_unclear_on_a_command_line_is_left_to_the_explaining_command(words, understood):
    assert (settings.given(words) is not None) is understood


@pytest.mark.parametrize("name", settings.HOOKS)
def test_a_hook_and_the_command_that_explains_it_have_the_same_options(name):
    made = commands.hook(name, "", "")
    words = {
        word.removeprefix("--")
        for each in made.params if isinstance(each, click.Option) for word in each.opts
    }  # fmt: skip
    assert words == {*settings.KNOWN[name]} - {*settings.FORMER}
    assert words <= {*settings.OPTIONS}


def test_a_reader_does_not_wait_for_ever_for_a_hook_that_stands_still(site, monkeypatch):
    site.add("a.xml", "<User>amy</User>")
    assert len(site.fetch()) == 1
    monkeypatch.setattr(queue, "_PATIENCE", 0.1)
    with sqlite3.connect(site.state / "queue.db", isolation_level=None) as held:
        held.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UnsafeQueue, match=r"locked; another process has kept it for 0.1 s"):
            site.jobs(*queue.STATES)
        held.execute("ROLLBACK")
    assert len(site.jobs(*queue.STATES)) == 1
