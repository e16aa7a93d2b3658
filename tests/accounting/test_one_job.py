"""One job, told of again and again by whoever can: it is billed once, by every road alike."""

import json
import shutil
from itertools import permutations

import pytest
from click.testing import CliRunner
from draws import examples
from engines import address  # noqa: F401 (a fixture)
from hypothesis import given
from hypothesis import strategies as st
from summed import call, sums

from sssjob import store
from sssjob.cli import sssjob

ONE = "s#7.0#900"
MESSAGE = (
    "APEL-individual-job-message: v0.3\nSite: here\nSubmitHost: s\nLocalJobId: 7.0\n"
    "{}WallDuration: 50\nCpuDuration: 5\nProcessors: 1\nStartTime: 1000\nEndTime: 1050\n%%\n"
)


def ad(status, wall, owner="amy", **more):
    """The ad of the job as its queue or its history has it."""
    told = {
        "GlobalJobId": ONE, "ClusterId": 7, "ProcId": 0, "Owner": owner, "JobStatus": status,
        "QDate": 900, "CpusProvisioned": 1, **more,
    }  # fmt: skip
    if status > 1:
        told |= {"JobCurrentStartDate": 1000, "RemoteWallClockTime": wall}
    if status == 4:
        told |= {"CompletionDate": 1050}
    return json.dumps(told) + "\n"


def document(user, wall, *, id_="7.0", one=ONE, ended=True, submitted=""):
    """A document, as a report of a user or an import becomes one."""
    end = "<EndTime>1050</EndTime>" if ended else ""
    known = f"<GlobalId>{one}</GlobalId>" if one else ""
    whose = f"<User>{user}</User>" if user else ""
    return (
        f"<Job><Id>{id_}</Id>{known}{whose}<StartTime>1000</StartTime>{submitted}{end}"
        f"<Delivered><Duration>{wall}</Duration><Processors>1</Processors></Delivered></Job>"
    )


WAITING = (
    f"<Job><Id>7.0</Id><GlobalId>{ONE}</GlobalId><User>amy</User><State>Idle</State>"
    "<SubmitTime>900</SubmitTime></Job>"
)
# What is told of the job by whom, whether it has begun and ended then, and the wall time.
TOLD = {
    "its ad while it waits": (ad(1, 0), "amy", 0, 0),
    "a document while it waits": (WAITING, "amy", 0, 0),
    "its ad while it runs": (ad(2, 10), "amy", 1, 10),
    "its ad later": (ad(2, 30), "amy", 1, 30),
    "its ad in the history": (ad(4, 50), "amy", 2, 50),
    "the user's domain": (ad(4, 50, "Amy@example.org"), "amy", 2, 50),
    "the user's number": (ad(4, 50, "1000"), "amy", 2, 50),
    "its line for APEL": (f"{ONE}|amy|50|1|1|1000|1050|1|1|1|\n", "amy", 2, 50),
    "its message": (MESSAGE.format("LocalUserId: amy\n"), "amy", 2, 50),
    "its message with a certificate": (MESSAGE.format("LocalUserId: /DC=org/CN=A\n"), "amy", 2, 50),
    "a report": (document("amy", 50), "amy", 2, 50),
    "an earlier report": (document("amy", 20, ended=False), "amy", 1, 20),
    "a report of another user": (document("bob", 7), "bob", 2, 7),
    "an earlier one of another user": (document("bob", 3, ended=False), "bob", 1, 3),
    "one under the other user's name": (document("bob", 7, id_="7.0@bob"), "bob", 2, 7),
}


# Anybody's, by themselves.
NAMELESS = {"the user's number", "its message with a certificate"}


def best_of(names):
    """The best that is told of each user's run, and of the one of nobody ("")."""
    best = {}
    for name in names:
        _, user, kind, wall = TOLD[name]
        if kind:
            user = "" if name in NAMELESS else user
            best[user] = max((kind, wall), best.get(user, (0, 0)))
    return best


def expected(names):
    """How many runs there are, and their wall time: the best that is told of each user's.

    What names nobody counts where it tells more of the run than who names somebody. The job waited
    once, whoever says so, and no longer where somebody tells that it began.
    """
    best = best_of(names)
    kind, wall = best.pop("", (0, 0))
    begun = [wall for known, wall in best.values() if known >= kind]
    if kind and not begun:
        begun = [wall]
    return max(len(begun), 1), sum(begun)


def written(folder, names):
    files = [folder / f"{at}.{'xml' if TOLD[name][0][0] == '<' else 'log'}"
             for at, name in enumerate(names)]  # fmt: skip
    for file, name in zip(files, names, strict=True):
        file.write_text(TOLD[name][0])
    return files


def imported(target, *sources):
    """The sums of a store into which these sources were imported, one after the other."""
    for some in sources:
        call("store", "import", target, *some)
    return sums("report", target)


def check(folder, names, target):
    """The same sums by every road, in this order."""
    check_files(folder, written(folder, names), expected(names), target)


def check_files(folder, files, wanted, target):
    each = [[file] for file in files]
    assert sums("report", *files) == wanted
    assert sums("report", "--workers", 2, *files) == wanted
    call("convert", "-o", folder / "jobs.sss", *files)
    assert sums("report", folder / "jobs.sss") == wanted
    for name, some in ("usage", [files]), ("apart", each):
        for sources in some:
            call("ledger", "ingest", folder / name, *sources)
        assert sums("ledger", "report", "--book", "end", folder / name) == wanted
        assert sums("report", folder / name) == wanted
    assert imported(folder / "once.db", files) == wanted
    assert imported(target, *each, *each) == wanted
    call("ledger", "ingest", folder / "of-store", target)
    assert sums("ledger", "report", "--book", "end", folder / "of-store") == wanted


def is_told_alike(names):
    """Whether nothing waits of which only others, or messages, tell that it began.

    To a store these are jobs of two users, and messages tell nothing of what waits. A run that
    ended and that nobody names may be that of either of two users of whom one has only begun.
    """
    best = best_of(names)
    if {"", "amy", "bob"} <= best.keys() and min(best.values())[0] < 2:
        return False
    begun = [name for name in names if TOLD[name][2]]
    is_told = "amy" in best or "bob" not in best
    has_message = any("message" in name for name in begun)
    return (is_told and not has_message) or len(begun) in (0, len(names))


SOME = st.lists(st.sampled_from(sorted(TOLD)), min_size=1, max_size=5, unique=True)


@given(SOME.filter(is_told_alike))
@examples(8, deadline=None)
def test_a_job_is_billed_once_by_every_road(tmp_path_factory, names):
    folder = tmp_path_factory.mktemp("job")
    check(folder, names, folder / "apart.db")
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "names",
    [
        *permutations(("its line for APEL", "its message", "its ad in the history")),
        ("a report of another user", "its line for APEL", "its message"),
        ("its message", "a report of another user", "its line for APEL", "its ad later"),
        ("its ad in the history", "a document while it waits", "its ad while it waits"),
    ],
    ids=" and then ".join,
)
def test_a_job_has_one_document_for_each_user_in_every_engine(tmp_path, address, names):  # noqa: F811
    check(tmp_path, names, address)
    with store.open(address, read_only=True) as jobs:
        assert sum(1 for _ in jobs.documents()) == expected(names)[0]


# A job of Slurm that ran, was requeued, and was cancelled while it waited again.
REQUEUED = {
    "waits": ("PENDING", "Unknown", "Unknown", 0),
    "runs": ("RUNNING", 1_700_000_100, "Unknown", 300),
    "was requeued": ("REQUEUED", 1_700_000_100, 1_700_000_700, 600),
    "failed at once": ("NODE_FAIL", 1_700_000_098, 1_700_000_099, 1),
    "runs again": ("RUNNING", 1_700_000_800, "Unknown", 20),
    "was cancelled before it ran": ("CANCELLED", "Unknown", 1_700_000_050, 0),
    "was cancelled at once": ("CANCELLED", "Unknown", 1_700_000_700, 0),
    "was cancelled while it waited again": ("CANCELLED", "Unknown", 1_700_000_900, 0),
}
UNBEGUN = [name for name in REQUEUED if "cancelled" in name]


ORDERS = [
    *((order, "") for some in ("runs", "was requeued") for unbegun in UNBEGUN
      for order in permutations((some, unbegun))),
    *((order, "1700000000|") for order in permutations(("runs", "was requeued", UNBEGUN[2]))),
    *((order, "1700000000|") for order in permutations(("failed at once", "was requeued"))),
    *((order, "1700000000|") for order in permutations(("failed at once", "runs"))),
    (("waits", "was requeued", UNBEGUN[2]), "1700000000|"),
    (("was requeued", "runs again", UNBEGUN[2]), "1700000000|"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "submit"), ORDERS)
def test_each_run_of_a_job_that_was_requeued_is_billed(tmp_path, names, submit):
    header = f"JobID|Cluster|User|{'Submit|' if submit else ''}State|Start|End|ElapsedRaw|NCPUS\n"
    files = [tmp_path / f"{at}.log" for at in range(len(names))]
    for file, name in zip(files, names, strict=True):
        file.write_text(header + f"7|c|amy|{submit}{'|'.join(map(str, REQUEUED[name]))}|1\n")
    began = {}
    for name in names:
        _, start, _, wall = REQUEUED[name]
        if start != "Unknown":
            began[start] = max(wall, began.get(start, 0))
    wanted = len(began) + any(name in UNBEGUN for name in names), sum(began.values())
    check_files(tmp_path, files, wanted, tmp_path / "apart.db")


def test_what_was_not_come_to_when_a_reading_by_several_was_given_up_counts_too(tmp_path):
    names = "a document while it waits", "a report", "its ad in the history"
    files = written(tmp_path, [*names, "a report of another user"])
    assert sums("report", "--workers", 2, *files) == sums("report", *files) == (2, 57)


def test_that_another_user_has_the_job_is_told_with_its_line(tmp_path):
    files = written(tmp_path, ["its ad in the history", "a report of another user"])
    texts = {
        ("report",): "1.xml:1: warning: a record read before tells of another user of this job",
        ("ledger", "ingest", tmp_path / "usage"): "1.xml:1: warning: Job 7.0 of bob: another rec",
        ("store", "import", tmp_path / "jobs.db"): "1.xml:1: warning: Job 7.0 of bob: the same",
    }
    for words, text in texts.items():
        assert text in call(*words, *files).stderr
    again = call("store", "import", tmp_path / "jobs.db", *files).stderr
    assert "of bob: the same" not in again


def test_an_audit_misses_a_job_that_only_another_user_tells_of(tmp_path):
    history, report = written(tmp_path, ["its ad in the history", "a report of another user"])
    both = history, report
    for read, kinds in ((report,), (1, 1)), (both, (0, 1)), (both[::-1], (0, 1)):
        words = map(str, ("audit", "--json", "--against", history, *read))
        total = json.loads(CliRunner().invoke(sssjob, [*words]).stdout)["total"]
        assert (total["missing"], total["unlisted"], total["doubled"]) == (*kinds, 0)


def test_what_waits_is_never_imported_over_a_run_and_that_is_told(tmp_path, address):  # noqa: F811
    run, waits, later = (tmp_path / name for name in ("run.xml", "waits.xml", "later.xml"))
    run.write_text(document("amy", 50))
    wanted = sums("report", run)
    told = "waits.xml:1: notice: Job 7.0 stays as it is there"
    call("store", "import", address, run)
    for text in ("<State>Idle</State>", "", "<User>amy</User>", f"<GlobalId>{ONE}</GlobalId>"):
        waits.write_text(f"<Job><Id>7.0</Id>{text}<Requested/></Job>")
        assert told in call("store", "import", address, waits).stderr
        assert sums("report", address) == wanted
    later.write_text(document("amy", 40))  # a correction
    call("store", "import", address, later)
    assert sums("report", address) == (1, 40)
    assert "run.xml" not in call("store", "import", address, run).stderr  # was read before
