"""Reports about jobs of a store: none replaces a document that somebody else put there."""

import json
import os
import pwd

import pytest
from engines import address  # noqa: F401 (a fixture)
from summed import call, sums

from sssjob import store
from sssjob.classads import long
from sssjob.classads.values import Ad
from sssjob.document import loads
from sssjob.systems.condor.hooks import reports
from sssjob.systems.condor.hooks.candidates import refresh
from sssjob.systems.condor.hooks.queue import STATES, WAITING, OpenQueue
from sssjob.systems.condor.hooks.settings import HookSettings

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")

ALICE, BOB = "daemon", "bin"
SCHEDD = "submit#7.0#1800000000"


class Stored:
    """A store, its queue, and what is said."""

    def __init__(self, place, address=""):  # noqa: F811
        self.settings = HookSettings(address or str(place / "jobs.db"), str(place / "state"))
        self.said = []
        with store.open(self.settings.jobs, create=True):
            pass

    def put(self, text):
        with store.open(self.settings.jobs) as held, held.change() as change:
            change.put(text.encode())

    def documents(self):
        with store.open(self.settings.jobs, read_only=True) as held:
            return [loads(found.document) for found in held.documents()]

    def told(self, user, **attributes):
        """Fold a report that a user left; how many counted."""
        ad = Ad(
            {"SSSReport": "update", "JobPid": 7, "JobStartDate": 1000, "ProcId": 0, **attributes}
        )
        with OpenQueue(self.settings) as queue:
            path = os.path.join(self.settings.state, "spool", "0.x")
            with open(path, "w") as file:
                file.write(long.write(ad))
            os.chown(path, pwd.getpwnam(user).pw_uid, -1)
            return reports.fold(self.settings, queue, say=self.said.append)[0]

    def states(self):
        with OpenQueue(self.settings) as queue:
            refresh(self.settings, queue, until=None, say=self.said.append)
            return [(job.state, job.reason) for job in queue.jobs(*STATES)]


@pytest.fixture
def jobs(tmp_path):
    return Stored(tmp_path)


def test_a_job_of_a_schedd_becomes_a_document_that_grows_and_waits(jobs):
    assert jobs.told(BOB, GlobalJobId=SCHEDD, ClusterId=7, RemoteUserCpu=2.0) == 1
    assert jobs.told(BOB, GlobalJobId=SCHEDD, ClusterId=7, RemoteUserCpu=3.0) == 1
    [job] = jobs.documents()
    assert (job.get("User"), job.get("CpuDuration")) == (BOB, "3")
    assert jobs.states() == [(WAITING, "a schedd has it")]


def test_each_start_of_a_job_of_a_schedd_is_told_in_the_same_document(jobs):
    """They are one run, as its history tells: what it used is of all of them."""
    same = {"GlobalJobId": SCHEDD, "ClusterId": 7, "QDate": 900}
    assert jobs.told(BOB, **same) == 1
    assert jobs.told(BOB, **{**same, "JobStartDate": 2000}, JobCurrentStartDate=2000) == 1
    [job] = jobs.documents()
    assert (job.get("StartCount"), job.get("StartTime")) == ("2", "1000")


@pytest.mark.parametrize(
    "text",
    [
        f"<Job><Id>7.0</Id><User>{ALICE}</User><Executable>/bin/true</Executable></Job>",
        f"<Job><Id>7.0</Id><GlobalId>{SCHEDD}</GlobalId><User>{ALICE}</User></Job>",
        f"<Job><Id>7.0</Id><GlobalId>{SCHEDD}</GlobalId></Job>",
    ],
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_report_changes_no_document_that_somebody_put_there(jobs, text, when):
    if when == "before":
        jobs.put(text)
    else:  # somebody reports of the name first
        jobs.told(BOB, GlobalJobId=SCHEDD, ClusterId=7)
        jobs.put(text)
    before = jobs.documents()
    jobs.told(BOB, GlobalJobId=SCHEDD, ClusterId=7, RemoteUserCpu=9.0, Cmd="/bin/evil")
    after = jobs.documents()
    mine = [job for job in before if job.get("User") != BOB]
    assert mine
    assert [job for job in after if job.get("User") != BOB] == mine


@pytest.mark.parametrize("first", ["7.0", f"7.0@{ALICE}", "another"])
def test_two_users_do_not_share_a_document(jobs, first):
    assert jobs.told(BOB, GlobalJobId=SCHEDD, SSSJobId=first, RemoteUserCpu=9.0) == 1
    for used in (2.0, 3.0):
        assert jobs.told(ALICE, GlobalJobId=SCHEDD, ClusterId=7, RemoteUserCpu=used) == 1
    assert {job.get("User"): job.get("CpuDuration") for job in jobs.documents()} == {
        ALICE: "3", BOB: "9",
    }  # fmt: skip


def test_a_report_is_refused_where_both_names_are_taken(jobs):
    for id_ in ("7.0", f"7.0@{BOB}"):
        jobs.put(f"<Job><Id>{id_}</Id><GlobalId>{SCHEDD}</GlobalId></Job>")
    assert jobs.told(BOB, GlobalJobId=SCHEDD, ClusterId=7) == 0
    assert "not from hooks of this user" in str(jobs.said[-1])


HISTORY = json.dumps({
    "GlobalJobId": SCHEDD, "ClusterId": 7, "ProcId": 0, "Owner": ALICE, "JobStatus": 4,
    "QDate": 900, "JobStartDate": 1000, "JobCurrentStartDate": 1000, "CompletionDate": 1060,
    "RemoteWallClockTime": 60, "CpusProvisioned": 2, "RemoteUserCpu": 50,
})  # fmt: skip
AN_UPDATE = {"RemoteUserCpu": 2.0, "JobDuration": 20.0}
AN_EXIT = {"SSSReport": "exit-exit", "RemoteUserCpu": 9.0, "JobDuration": 30.0, "ExitCode": 0}
OF_BOB = "a report of another user"
ROADS = (
    ["history", AN_UPDATE, AN_EXIT],
    [AN_UPDATE, "history", AN_EXIT],
    [AN_UPDATE, AN_EXIT, "history"],
    [OF_BOB, "history", AN_EXIT],
    [OF_BOB, AN_EXIT, "history"],
    [AN_EXIT, OF_BOB, "history", AN_EXIT],
    ["queue", AN_UPDATE, "history", AN_EXIT],
    ["queue", AN_UPDATE, AN_EXIT, "history", "history"],
    ["message", AN_EXIT],
    ["message", AN_UPDATE, "history", AN_EXIT],
    [AN_EXIT, "message", AN_EXIT],
    [AN_EXIT, "message", "history"],
    ["queue", "message", AN_EXIT],
    [OF_BOB, AN_UPDATE, "message", AN_EXIT],
    ["unnamed history", AN_UPDATE, AN_EXIT],
    [AN_UPDATE, "unnamed history", AN_EXIT],
)
MESSAGE = (
    "APEL-individual-job-message: v0.3\nSite: here\nSubmitHost: submit\nLocalJobId: 7.0\n"
    f"LocalUserId: {ALICE}\nWallDuration: 60\nCpuDuration: 50\nProcessors: 2\nStartTime: 1000\n"
    "EndTime: 1060\n%%"
)


@pytest.mark.parametrize("road", ROADS, ids=lambda road: " ".join(
    each if isinstance(each, str) else each.get("SSSReport", "update") for each in road
))  # fmt: skip
def test_a_job_is_billed_once_whichever_comes_first_its_history_or_its_reports(
    tmp_path, road, address  # noqa: F811
):  # fmt: skip
    jobs = Stored(tmp_path, address)
    texts = {
        "history": HISTORY,
        "queue": HISTORY.replace('"JobStatus": 4', '"JobStatus": 2').replace("60", "10"),
        "unnamed history": HISTORY.replace(f'"Owner": "{ALICE}", ', ""),
        "message": MESSAGE,
    }
    for told in road:
        if told == OF_BOB:
            jobs.told(BOB, GlobalJobId=SCHEDD, ClusterId=7, JobDuration=7.0)
        elif isinstance(told, str):
            log = tmp_path / told
            log.write_text(texts[told] + "\n")
            call("store", "import", address, log)
        else:
            more = {"QDate": 900, "JobStartDate": 1003, "JobCurrentStartDate": 1000, **told}
            assert jobs.told(ALICE, GlobalJobId=SCHEDD, ClusterId=7, **more) == 1, jobs.said
    of_bob = OF_BOB in road
    wanted = 1 + of_bob, 60 + 7 * of_bob
    assert sums("report", address) == wanted
    call("ledger", "ingest", tmp_path / "usage", address)
    assert sums("ledger", "report", "--book", "end", tmp_path / "usage") == wanted
    last = next(each for each in reversed(road) if isinstance(each, str) and each != OF_BOB)
    assert sums("report", address, tmp_path / last) == wanted


def test_a_message_that_tells_no_GlobalJobId_takes_it_out_of_no_document(tmp_path, address):  # noqa: F811
    for name, text in ("history", HISTORY + "\n"), ("message", MESSAGE + "\n"):
        (tmp_path / name).write_text(text)
        call("store", "import", address, tmp_path / name)
    again = call("store", "import", address, tmp_path / "message").stderr
    assert "new 0, changed 0, unchanged 1" in again
    with store.open(address, read_only=True) as jobs:
        [job] = [loads(found.document) for found in jobs.documents()]
    assert (job.get("GlobalId"), job.id) == (SCHEDD, "7.0")


def test_a_report_changes_nothing_of_an_ended_job_of_which_nobody_is_named(jobs, tmp_path):
    log = tmp_path / "history"
    log.write_text(HISTORY.replace(f'"Owner": "{ALICE}", ', "") + "\n")
    call("store", "import", jobs.settings.jobs, log)
    before = jobs.documents()
    same = {"GlobalJobId": SCHEDD, "ClusterId": 7, "QDate": 900, "JobCurrentStartDate": 1000}
    assert jobs.told(BOB, **{**same, "JobStartDate": 1003, **AN_EXIT, "JobDuration": 1.0}) == 1
    assert jobs.documents() == before
