"""Jobs that no attempt starts: they rest longer each time, and are held with the reason."""

import sqlite3
import time

import pytest
from click.testing import CliRunner
from condor_site import SLOT, Site

from sssjob import store
from sssjob.classads import forms, long
from sssjob.classads.values import Unparsed
from sssjob.cli import sssjob
from sssjob.document import loads
from sssjob.systems.condor.hooks import limits, reports
from sssjob.systems.condor.hooks.place import UnsafeQueue
from sssjob.systems.condor.hooks.queue import HELD, READY, STATES, OpenQueue
from sssjob.systems.condor.hooks.settings import HookSettings

USER = "<User>amy</User>"


def both(ad):
    return f"{long.write(ad)}-----\n{long.write(SLOT)}".encode()


def attempt(site, **options):
    """One attempt that starts nothing; whether the job was fetched at all."""
    ads = site.fetch(**options)
    for ad in ads:
        site.call("reply-fetch", both(ad), "accept")
        site.call("update-job-info", ad)  # as a starter does before it starts the job
        site.call("job-exit", ad.merged({"Cmd": "/no/such"}), "evict", **options)
    return bool(ads)


def test_a_job_that_cannot_be_started_is_held_with_the_reason_and_used_nothing(site):
    site.add("a.xml", USER)
    tried = [attempt(site, attempts=3) for _ in range(5)]
    assert tried == [True, True, True, False, False]
    job = site.job("a.xml")
    assert (job.get("State"), job.get("Hold")) == ("Hold", "System")
    reason = "it could not be started: /no/such (Executable) does not exist"
    assert job.get("StatusMessage") == f"held after 3 attempts: {reason}"
    assert not {"StartTime", "StartCount", "CpuDuration"} & job.properties.names()
    assert not job.delivered
    [held] = site.jobs(HELD)
    assert reason in held.reason


def changed(queue, then):
    with queue.changing():
        queue.run("UPDATE job SET reason = 'changed'")
        queue.run(then)


def test_an_error_after_which_sqlite_goes_back_by_itself_is_told_as_it_is(site):
    """As a full disk is: by then there is nothing left to roll back."""
    site.add("a.xml", USER)
    site.fetch()
    given = HookSettings(str(site.path), str(site.state))
    with OpenQueue(given) as queue:
        with pytest.raises(UnsafeQueue, match="UNIQUE constraint failed"):
            changed(queue, "INSERT OR ROLLBACK INTO job SELECT * FROM job")
        assert [job.reason for job in queue.jobs(*STATES)] == [""]
        changed(queue, "SELECT 1")  # the next one is as any other
        assert [job.reason for job in queue.jobs(*STATES)] == ["changed"]
        with pytest.raises(UnsafeQueue, match="no such table"):
            changed(queue, "DELETE FROM missing")


def test_each_failure_doubles_the_rest_and_a_start_ends_it(site, monkeypatch):
    site.add("a.xml", USER)
    clock = [time.time()]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    rests = []
    for _ in range(3):
        assert attempt(site, pause=30, attempts=9)
        site.fetch(pause=30)
        [job] = site.jobs(READY)
        rests.append(job.rests - clock[0])
        clock[0] = job.rests - 1
        assert not attempt(site, pause=30)
        clock[0] = job.rests
    assert rests == [30, 60, 120]
    [ad] = site.fetch()
    site.call("job-exit", ad.merged({"JobPid": 7, "JobStartDate": 99, "JobDuration": 2.0}), "evict")
    site.fetch(attempts=9)
    assert site.job("a.xml").get("StartCount") == "1"
    with sqlite3.connect(site.state / "queue.db") as queue:
        assert queue.execute("SELECT failures, rests FROM job").fetchall() == [(0, 0)]


def test_what_no_report_tells_of_is_a_failure_too_and_a_rejection_is_never_held(site):
    site.add("a.xml", USER)
    for _ in range(3):
        [ad] = site.fetch(attempts=2)
        site.call("reply-fetch", both(ad), "reject", attempts=2)
    [ad] = site.fetch(attempts=9)
    site.call("reply-fetch", both(ad), "accept")
    site.call("evict-claim", both(ad), attempts=1)
    [held] = site.jobs(HELD)
    assert "its claim was given up without a report" in held.reason
    assert site.fetch() == []
    site.fold()
    assert site.job("a.xml").get("State") == "Hold"


@pytest.mark.parametrize("mend", ["document", "State"])
def test_a_job_that_is_held_runs_again_once_somebody_mends_it(site, mend):
    path = site.add("a.xml", USER)
    while attempt(site, attempts=2):
        pass
    if mend == "document":
        site.add("a.xml", USER + "<Arguments>1</Arguments>")
    else:
        path.write_text(path.read_text().replace(">Hold<", ">Idle<").replace(
            "<Hold>System</Hold>", ""))  # fmt: skip
    assert attempt(site, attempts=2)
    assert attempt(site, attempts=2)
    assert not attempt(site, attempts=2)


def test_an_ad_that_is_fetched_again_says_nothing_of_the_attempt_before(site):
    site.add("a.xml", f"{USER}<Requested><Processors>2</Processors></Requested>")
    [first] = site.fetch()
    now = int(time.time())
    told = {"JobPid": 7, "JobStartDate": now, "JobDuration": 2.0, "RemoteUserCpu": 1.0}
    site.call("job-exit", first.merged(told), "evict")
    [again] = site.fetch()
    changed = {"SSSKey", "SSSFetched"}
    assert {k: v for k, v in again.items() if k not in changed} == {
        k: v for k, v in first.items() if k not in changed
    }
    site.call("job-exit", again.merged({**told, "JobStartDate": now + 3, "ExitCode": 0}), "exit")
    job = site.job("a.xml")
    assert (job.get("StartCount"), job.get("StartTime")) == ("2", str(now))
    assert job.delivered.text("Duration") == "4"


# What came with which version of the queue.
CAME = {
    2: ("job.failures", "job.rests"),
    3: ("job.told", "job.asks"),
    4: ("attempt.asks", "attempt.seen", "job.eligible", "job.deadline", "job.taken"),
    5: ("job.losses",),
    7: ("attempt.since", "attempt.heard"),
}


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_a_queue_of_a_version_before_is_taken_over(site, version):
    site.add("a.xml", USER)
    site.fetch()
    with sqlite3.connect(site.state / "queue.db") as queue:
        if version < 6:
            queue.execute("DROP TABLE past")
            for name in ("job_heard", "job_untold", "document_unread"):
                queue.execute(f"DROP INDEX {name}")
        for place in (place for each, places in CAME.items() if each > version for place in places):
            table, _, name = place.partition(".")
            queue.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
        if version < 3:
            queue.execute("DROP TABLE attempt")
        queue.execute(f"PRAGMA user_version = {version}")
    assert [job.failures for job in site.jobs("offered")] == [0]
    site.unheard()
    assert len(site.fetch()) == 1


@pytest.mark.parametrize(
    "ad, reason",
    [
        ({"Cmd": "/bin/true"}, ""),
        ({"Cmd": "/etc"}, "/etc (Executable) cannot be executed"),
        ({"Cmd": "/etc/passwd"}, "/etc/passwd (Executable) cannot be executed"),
        ({"Cmd": "true", "Iwd": "/bin"}, ""),
        ({"Cmd": "true", "Iwd": "/no"}, "/no (InitialWorkingDirectory) is no directory"),
        ({"Cmd": "/bin/true", "In": "/no"}, "/no (InputFile) cannot be read"),
        ({"Cmd": "/bin/true", "Out": "/no/x"}, "/no/x (OutputFile) cannot be written"),
        ({"Cmd": "/bin/true", "Err": "/no/x"}, "/no/x (ErrorFile) cannot be written"),
    ],
)
def test_what_keeps_a_starter_from_starting_a_job_is_found(ad, reason):
    from sssjob.classads.values import Ad

    assert limits.why_not_started(Ad(ad)) == reason


def test_a_job_of_a_store_that_came_back_is_given_away_at_once_and_held_like_any_other(
    tmp_path, monkeypatch, capsys
):
    """The claim by which other machines know that it is away ends with the attempt."""
    jobs = tmp_path / "jobs.db"
    with store.open(str(jobs), create=True) as made, made.change() as work:
        work.put(b"<Job><Id>7</Id><User>amy</User><Executable>/bin/true</Executable></Job>")
    site = Site(jobs, monkeypatch, capsys)
    site.state = tmp_path / "jobs.db.condor"
    assert [attempt(site, attempts=2) for _ in range(3)] == [True, True, False]
    with store.open(str(jobs), read_only=True) as made:
        [found] = made.documents()
        text = made.get(found.identity).document
    assert b"<State>Hold</State>" in text
    assert b"held after 2 attempts" in text


def test_a_job_that_another_machine_has_is_asked_for_again_once_that_is_over(
    tmp_path, monkeypatch, capsys
):
    jobs = tmp_path / "jobs.db"
    with store.open(str(jobs), create=True) as made, made.change() as work:
        work.put(b"<Job><Id>7</Id><User>amy</User><Executable>/bin/true</Executable></Job>")
    clock = [time.time()]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    first, second = (Site(jobs, monkeypatch, capsys) for _ in range(2))
    assert len(first.fetch(state=str(tmp_path / "one"))) == 1
    assert second.fetch(state=str(tmp_path / "two")) == []
    clock[0] += 800
    assert second.fetch(state=str(tmp_path / "two")) == []
    clock[0] += 200
    assert len(second.fetch(state=str(tmp_path / "two"))) == 1


# decision 815
def test_a_slot_that_does_not_want_a_job_keeps_it_from_no_other_slot(site, monkeypatch):
    clock = [int(time.time())]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    site.add("a.xml", USER)
    other = SLOT.merged({"Name": "slot2@n1"})
    waits = []
    for _ in range(3):
        began = clock[0]
        while not (ads := site.fetch()):
            clock[0] += 10
        waits.append(clock[0] - began)
        site.call("reply-fetch", both(ads[0]), "reject", pause=30)
    assert waits == [0, 30, 60]
    assert site.fetch() == []
    site.add("b.xml", USER, "8")
    assert [ad["SSSJobId"] for ad in site.fetch()] == ["8"]
    assert [ad["SSSJobId"] for ad in site.fetch(other)] == ["7"]


@pytest.mark.parametrize("rank, current, state, activity, fits", [
    ("0.0", 0.0, "Claimed", "Busy", False), ("Priority > 3", 0.0, "Claimed", "Busy", False),
    ("5", 4.0, "Claimed", "Busy", True), ("TARGET.RequestCpus", 1.0, "Claimed", "Retiring", True),
    ("0.0", 0.0, "Claimed", "Idle", True), ("0.0", 0.0, "Unclaimed", "Idle", True),
    ("9", 0.0, "Preempting", "Vacating", False),
])  # fmt: skip
def test_a_busy_slot_is_given_what_it_ranks_higher_alone(
    site, rank, current, state, activity, fits
):
    site.add("a.xml", USER + "<Requested><Processors>2</Processors></Requested>")
    said = {"Rank": Unparsed(rank), "CurrentRank": current, "State": state, "Activity": activity}
    assert len(site.fetch(SLOT.merged(said))) == fits
    assert len(site.fetch()) == (not fits)


class Engine:
    """One job in a directory or a store, and its attempts, one after the other."""

    def __init__(self, where, tmp_path, monkeypatch, capsys):
        path = tmp_path / "jobs"
        text = f"<Job><Id>7</Id><Executable>/bin/true</Executable>{USER}</Job>"
        if where == "a store":
            with store.open(str(path), create=True) as made, made.change() as work:
                work.put(text.encode())
        else:
            path.mkdir()
            (path / "a.xml").write_text(text)
        self.is_store = where == "a store"
        self.site = Site(path, monkeypatch, capsys)
        self.state = tmp_path / "state" if self.is_store else self.site.state
        self.label = "Job/1/7" if self.is_store else "a.xml"

    def call(self, hook, ad, *words):
        given = {"state": str(self.state), "attempts": 3}
        return self.site.call(hook, ad, *words, **given)

    def fetch(self):
        return forms.read_text(self.call("fetch-work", SLOT).decode(), strict=True)

    def attempt(self, *, starts, ends):
        """An attempt that is heard of, or not, and ends in a way; False where there is none."""
        if not (ads := self.fetch()):
            return False
        self.call("reply-fetch", both(ads[0]), "accept")
        ran = ads[0].merged({"JobPid": 7, "JobStartDate": int(ads[0]["SSSFetched"])})
        if starts:
            self.call("update-job-info", ran)
        if ends == "given up":
            self.call("evict-claim", both(ads[0]))
        elif ends == "evicted":
            self.call("job-exit", ran.merged({"JobDuration": 1.0}), "evict")
        else:
            with sqlite3.connect(self.state / "queue.db") as queue:
                queue.execute("UPDATE job SET heard = 1")
                queue.execute("INSERT OR IGNORE INTO note VALUES ('updates', '', 1)")
        return True

    def job(self):
        if not self.is_store:
            return self.site.job("a.xml")
        with store.open(str(self.site.path), read_only=True) as made:
            [found] = made.documents()
            return loads(made.get(found.identity).document)

    def queued(self, *words):
        place = ["--documents", str(self.site.path), "--state", str(self.state)]
        return CliRunner().invoke(sssjob, ["condor", "queue", *place, *words])


@pytest.fixture(params=["a directory", "a store"])
def engine(request, tmp_path, monkeypatch, capsys):
    return Engine(request.param, tmp_path, monkeypatch, capsys)


# decision 816
@pytest.mark.parametrize("ends", ["silent", "given up", "evicted"])
def test_what_was_started_is_no_failure_however_often_its_machine_is_lost(engine, ends):
    for _ in range(6):
        assert engine.attempt(starts=True, ends=ends)
    assert len(engine.fetch()) == 1
    assert int(engine.job().get("StartCount")) == 6


@pytest.mark.parametrize("ends", ["silent", "given up"])
def test_a_start_that_is_heard_of_ends_the_row_of_failures(engine, ends):
    for starts in (False, False, True, False, False, True, False, False):
        assert engine.attempt(starts=starts, ends=ends)
    assert len(engine.fetch()) == 1


@pytest.mark.parametrize("ends", ["silent", "given up"])
@pytest.mark.parametrize("before", ["", "silent", "evicted"])
def test_a_job_that_is_held_is_so_in_its_document_and_is_given_back(engine, ends, before):
    if before:
        assert engine.attempt(starts=True, ends=before)
    for _ in range(3):
        assert engine.attempt(starts=False, ends=ends)
    for _ in range(2):
        assert engine.fetch() == []
        settings = HookSettings(str(engine.site.path), str(engine.state))
        with OpenQueue(settings) as queue:
            reports.fold(settings, queue, say=lambda text: 0)
        assert engine.job().get("State") == "Hold"
        assert engine.job().get("StatusMessage").startswith("held after 3 attempts: ")
        assert engine.queued().stdout.startswith(f"held      {engine.label}  held after 3 attempts")
    assert engine.queued("--give-back", engine.label).exit_code == 0
    assert len(engine.fetch()) == 1
