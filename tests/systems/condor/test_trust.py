"""Forged reports and documents of each kind: whose file it is decides what is believed."""

import os
import pwd
import re
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from condor_site import SLOT, Site

from sssjob import atomic
from sssjob.classads import evaluate, long
from sssjob.classads.values import Ad, Unparsed
from sssjob.cli import sssjob
from sssjob.document import loads
from sssjob.systems.condor.hooks import documents, queue, reports, spool
from sssjob.systems.condor.hooks.candidates import refresh
from sssjob.systems.condor.hooks.queue import DONE, OFFERED, READY, RUNNING, WAITING
from sssjob.systems.condor.hooks.settings import HookSettings

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")

ALICE, BOB = "daemon", "bin"  # two users that every system has, who are not we
UID = {name: pwd.getpwnam(name).pw_uid for name in (ALICE, BOB)}
NOBODY_HERE = 4_000_000_000  # a uid without a name
SCHEDD = "submit#7.0#1800000000"
NUL = "\0"


def give(path, user):
    """Make a file one of a user."""
    uid = user if isinstance(user, int) else UID[user]
    os.chown(path, uid, -1)
    return path


def fetched(site, user=ALICE, name="a.xml", **options):
    """A job of a user that was given to a slot: its ad."""
    give(site.add(name, ""), user)
    [ad] = site.fetch(**options)
    assert ad["Owner"] == user
    return ad


def left(site, user, ad, kind="update", name=None):
    """A report in the spool that a user left, with any text or ad."""
    if not site.state.exists():
        site.fold()
    if not isinstance(ad, bytes):
        ad = long.write(
            Ad({"SSSReport": kind, "JobPid": 7, "JobStartDate": int(time.time())}).merged(ad)
        ).encode()
    path = site.state / "spool" / (name or f"0.{os.urandom(8).hex()}")
    path.write_bytes(ad)
    return give(path, user)


def reported(site):
    """The documents that reports made."""
    return [loads(path.read_bytes()) for path in sorted(site.state.glob("reported/*"))]


def set_aside(site):
    return len(list(site.state.glob("bad/*")))


# Documents that reports are about.


def test_a_report_neither_replaces_a_document_nor_creates_one_that_runs(site):
    payroll = give(site.add("payroll.xml", "", id_="1"), ALICE)
    before = payroll.read_bytes()
    left(site, BOB, {"GlobalJobId": "payroll", "Cmd": "/bin/evil"})
    count, said = site.fold()
    assert (count, set_aside(site)) == (0, 1)
    assert (
        "it is about no job that was given away" in said[0]
        or "no job was given to a slot" in said[0]
    )
    assert payroll.read_bytes() == before
    assert [path.name for path in site.path.glob("*.xml")] == ["payroll.xml"]
    assert [(ad["Cmd"], ad["Owner"]) for ad in site.fetch()] == [("/bin/true", ALICE)]
    assert site.fetch() == []


@pytest.mark.parametrize("kind", reports.KINDS)
def test_a_report_of_another_user_about_a_fetched_job_counts_nothing(site, kind):
    ad = fetched(site)
    before = (site.path / "a.xml").read_bytes()
    left(site, BOB, ad, kind)
    count, said = site.fold()
    assert (count, set_aside(site)) == (0, 1)
    assert f"uid {UID[BOB]} left it, and the job is one of {ALICE}" in said[0]
    assert (site.path / "a.xml").read_bytes() == before
    assert len(site.jobs(OFFERED)) == 1


@pytest.mark.parametrize("user, options", [(ALICE, {}), (0, {}), (BOB, {"trust": [BOB]})])
def test_a_report_of_its_user_of_root_or_of_whom_the_site_trusts_counts(site, user, options):
    left(site, user, fetched(site))
    assert site.fold(**options) == (1, [])
    assert len(site.jobs(RUNNING)) == 1
    assert site.job("a.xml").get("State") == "Running"


def test_a_job_that_runs_as_the_site_says_is_reported_by_that_user_only(site):
    site.add("a.xml", "")
    [ad] = site.fetch(owner=ALICE)
    left(site, BOB, ad)
    assert site.fold()[0] == 0
    left(site, ALICE, ad)
    assert site.fold() == (1, [])


def test_a_job_of_a_user_that_is_not_known_here_is_reported_by_nobody_but_root(site):
    site.add("a.xml", "<User>amy</User>")
    [ad] = site.fetch()
    left(site, BOB, ad)
    assert site.fold()[0] == 0
    left(site, 0, ad)
    assert site.fold() == (1, [])


@pytest.mark.parametrize("key", ["", "0.0", "1.0", "1.2", "2.1", "99.1", "x", "1" * 40, "../1.1"])
def test_a_report_about_what_was_not_given_away_is_set_aside(site, key):
    ad = fetched(site)
    left(site, ALICE, ad.merged({"SSSKey": key}))
    assert site.fold()[0] == 0
    assert set_aside(site) == 1
    assert len(site.jobs(OFFERED)) == 1


def test_a_report_goes_into_the_job_that_was_given_away_whatever_it_says(site):
    both = "<Id>1</Id><Executable>/bin/true</Executable></Job><Job><Id>2</Id>"
    text = f"<JobGroup><Job>{both}<Executable>/bin/false</Executable></Job></JobGroup>"
    (site.path / "a.xml").write_text(text)
    give(site.path / "a.xml", ALICE)
    [ad] = site.fetch()
    left(site, ALICE, ad.merged({"SSSJobId": "2", "GlobalJobId": SCHEDD}))
    assert site.fold() == (1, [])
    group = site.job("a.xml")
    assert [job.get("State") for job in group.jobs] == ["Running", ""]
    assert reported(site) == []


def test_a_report_about_a_job_that_left_its_document_is_set_aside(site):
    ad = fetched(site)
    site.add("a.xml", "", id_="another")
    before = (site.path / "a.xml").read_bytes()
    left(site, ALICE, ad)
    assert site.fold()[0] == 0
    assert set_aside(site) == 1
    assert (site.path / "a.xml").read_bytes() == before


def test_a_report_of_an_earlier_attempt_moves_nothing(site):
    ad = fetched(site)
    site.call("evict-claim", ad)
    [second] = site.fetch()
    left(site, ALICE, ad, "exit-exit")
    assert site.fold() == (1, [])
    [job] = site.jobs(OFFERED)
    assert second["SSSKey"] == f"{job.key}.{job.attempt}"


def test_a_forged_end_keeps_no_job_from_being_given_away_again(site):
    ad = fetched(site)
    left(site, BOB, ad, "exit-exit", name=f"{ad['SSSKey'].split('.')[0]}.forged")
    site.call("evict-claim", ad, fold="never")
    assert len(site.fetch(fold="never")) == 1


def test_a_job_whose_end_waits_in_the_spool_is_not_given_away_again(site):
    ad = fetched(site)
    site.call("reply-fetch", ad, "accept", fold="never")
    site.call("job-exit", ad, "exit", fold="never")
    site.unheard()
    assert site.fetch(fold="never") == []


# decision 887
@pytest.mark.parametrize("by", ["fold", "give-back"])
@pytest.mark.parametrize("is_trusted", [False, True])
def test_whoever_folds_trusts_whom_the_hooks_were_told_to_trust(site, by, is_trusted):
    """A timer that folds is told nothing."""
    give(site.add("a.xml", f"<User>{ALICE}</User>"), ALICE)
    [ad] = site.fetch(trust=[BOB] * is_trusted)
    site.call("reply-fetch", ad, "accept", trust=[BOB] * is_trusted)
    left(site, BOB, ad.merged({"ExitCode": 3, "JobDuration": 1.0}), "exit-exit")
    words = ["condor", "fold", "--documents", str(site.path)]
    if by == "give-back":
        words = ["condor", "queue", *words[2:], "--give-back", "none"]
    CliRunner().invoke(sssjob, words)
    assert site.job("a.xml").get("ExitCode") == "3" * is_trusted
    assert set_aside(site) == (not is_trusted)


# decision 893
@pytest.mark.parametrize("is_trusted", [False, True])
@pytest.mark.parametrize("folds", [1, 2])
def test_a_queue_made_anew_refuses_no_report_before_hooks_say_whom_they_trust(
    site, folds, is_trusted
):
    """A timer comes first where the queue was lost."""
    site.add("a.xml", f"<User>{ALICE}</User>")
    [ad] = site.fetch(trust=[BOB])
    site.call("reply-fetch", ad, "accept", trust=[BOB])
    (site.state / "queue.db").unlink()
    left(site, BOB, ad.merged({"ExitCode": 3, "JobDuration": 1.0}), "exit-exit")
    for _ in range(folds):
        CliRunner().invoke(sssjob, ["condor", "fold", "--documents", str(site.path)])
        assert set_aside(site) == 0
    assert site.fetch(trust=[BOB] * is_trusted) == []
    assert site.job("a.xml").get("ExitCode") == "3" * is_trusted
    assert set_aside(site) == (not is_trusted)


# decision 893
def test_a_queue_for_which_no_hook_fetches_waits_for_none_longer_than_a_day(site):
    ad = fetched(site)
    (site.state / "queue.db").unlink()
    left(site, BOB, ad)
    assert site.fold() == (0, [])
    with sqlite3.connect(site.state / "queue.db") as made:
        made.execute("UPDATE note SET at = 1 WHERE name = 'made'")
    assert site.fold()[0] == 0
    assert set_aside(site) == 1


# Jobs that a schedd has.


def test_a_job_of_a_schedd_is_one_of_whom_left_the_report(site):
    left(site, BOB, {"GlobalJobId": SCHEDD, "Cmd": "/bin/evil", "ClusterId": 7})
    assert site.fold() == (1, [])
    [job] = reported(site)
    assert (job.get("User"), job.get("GlobalId"), job.get("State")) == (BOB, SCHEDD, "Running")
    assert (list(site.path.glob("*.xml")), site.fetch(), site.jobs(*queue.STATES)) == ([], [], [])


def test_a_job_of_a_schedd_is_nobody_elses(site):
    left(site, BOB, {"GlobalJobId": SCHEDD, "Owner": ALICE})
    count, said = site.fold()
    assert (count, reported(site), set_aside(site)) == (0, [], 1)
    assert f"the job is one of {ALICE}" in said[0]


def test_what_two_users_report_of_one_name_are_two_documents(site):
    left(site, ALICE, {"GlobalJobId": SCHEDD, "RemoteUserCpu": 2.0})
    left(site, BOB, {"GlobalJobId": SCHEDD, "RemoteUserCpu": 9.0})
    left(site, ALICE, {"GlobalJobId": SCHEDD, "RemoteUserCpu": 3.0})
    assert site.fold() == (3, [])
    assert {job.get("User"): job.get("CpuDuration") for job in reported(site)} == {
        ALICE: "3",
        BOB: "9",
    }


def test_a_document_in_a_report_says_neither_whose_nor_which_job_it_is(site):
    text = f"<Job><Id>1</Id><GlobalId>mine</GlobalId><User>{ALICE}</User><User>root</User></Job>"
    left(site, BOB, {"GlobalJobId": SCHEDD, "SSSJobXML": text})
    assert site.fold() == (1, [])
    [job] = reported(site)
    found = [(item.name, item.text) for item in job.properties if item.name in ("User", "GlobalId")]
    assert sorted(found) == [("GlobalId", SCHEDD), ("User", BOB)]


@pytest.mark.parametrize("name", ["../../a", "a/b", "x" * 5000, ".hidden", "a\\b#1"])
def test_no_text_of_an_ad_becomes_the_name_of_a_file(site, name):
    left(site, BOB, {"GlobalJobId": f"{name}#7.0#1"})
    site.fold()
    for path in site.state.glob("reported/*"):
        assert path.stem.isalnum()
    assert {path.name for path in site.path.iterdir()} == {".condor"}


# Documents.


def test_a_document_without_a_user_is_one_of_its_owner(site):
    assert fetched(site, BOB)["Owner"] == BOB
    assert fetched(site, ALICE, "b.xml", owner="slotuser")["Owner"] == ALICE


@pytest.mark.parametrize(
    "user, inner, reason",
    [
        (BOB, f"<User>{ALICE}</User>", f"its User is {ALICE}, and its document belongs to {BOB}"),
        (BOB, "<User>root</User>", "its User is root"),
        (NOBODY_HERE, "", "which is no user here"),
        (NOBODY_HERE, f"<User>{ALICE}</User>", "which is no user here"),
    ],
)
def test_a_document_does_not_speak_for_others(site, user, inner, reason):
    give(site.add("a.xml", inner), user)
    assert site.fetch(owner=ALICE) == []
    assert reason in site.said
    [job] = site.jobs(WAITING)
    assert reason in job.reason


def test_a_document_of_whom_the_site_trusts_does(site):
    give(site.add("a.xml", f"<User>{ALICE}</User>"), BOB)
    [ad] = site.fetch(trust=[BOB])
    assert ad["Owner"] == ALICE


def test_what_we_fold_into_a_document_does_not_make_it_one_of_ours(site):
    text = (
        "<JobGroup><Job><Id>1</Id><Executable>/bin/true</Executable></Job><Job><Id>2</Id>"
        f"<Executable>/bin/true</Executable><User>{ALICE}</User></Job></JobGroup>"
    )
    (site.path / "a.xml").write_text(text)
    give(site.path / "a.xml", BOB)
    [ad] = site.fetch()
    assert ad["Owner"] == BOB
    left(site, BOB, ad, "exit-evict")
    assert site.fold() == (1, [])
    [ad] = site.fetch()
    assert (ad["SSSJobId"], ad["Owner"]) == ("1", BOB)
    assert site.fetch() == []


OF_BOB = f"""<JobGroup><Id>g</Id><Job><Id>1</Id><Executable>/bin/true</Executable></Job>
<Job><Id>2</Id><User>{ALICE}</User><Executable>/bin/evil</Executable>{{}}</Job>
<Job><Id>3</Id><Executable>/bin/evil</Executable></Job></JobGroup>"""
NOTE = '<Extension type="HTCondor" name="DocumentUid">{}</Extension>'


def queue_is_lost(site):
    shutil.rmtree(site.state)


def document_has_another_name(site):
    (site.path / "g.xml").rename(site.path / "h.xml")


def both(site):
    queue_is_lost(site)
    document_has_another_name(site)


def comes_back_as_one_of_root(site):
    """From a backup, say, or by an editor of root's."""
    both(site)
    (site.path / "h.xml").write_text((site.path / "h.xml").read_text())


@pytest.mark.parametrize(
    "harm", [queue_is_lost, document_has_another_name, both, comes_back_as_one_of_root]
)
@pytest.mark.parametrize("forged", ["", NOTE.format(0), NOTE.format(UID[ALICE]) * 2])
def test_a_document_that_was_folded_into_runs_nothing_as_others_whatever_becomes_of_the_queue(
    site, harm, forged
):
    (site.path / "g.xml").write_text(OF_BOB.format(forged))
    give(site.path / "g.xml", BOB)
    ads = site.fetch() + site.fetch()
    assert [ad["Owner"] for ad in ads] == [BOB, BOB]
    for ad in ads:
        left(site, BOB, ad, "exit-evict")
    assert site.fold()[0] == 2
    give(
        site.path / "g.xml", 0
    )  # as hooks that are not root leave what they write: a file of theirs
    harm(site)
    found = []
    while ads := site.fetch():
        found += [(ad["SSSJobId"], ad["Owner"]) for ad in ads]
    assert found == [("1", BOB), ("3", BOB)]
    [waits] = site.jobs(WAITING)
    assert waits.reason == f"its User is {ALICE}, and its document belongs to {BOB}"


def test_a_document_of_an_earlier_version_runs_as_whose_it_is_known_to_be_or_not_at_all(site):
    """That version did not note whose a document had been; its queue knows."""
    (site.path / "g.xml").write_text(OF_BOB.format(""))
    give(site.path / "g.xml", BOB)
    [ad] = site.fetch()
    left(site, BOB, ad, "exit-evict")
    site.fold()
    text = give(site.path / "g.xml", 0).read_text()
    assert text.count("DocumentUid") == 3
    (site.path / "g.xml").write_text(re.sub(NOTE.format(r"\d+"), "", text))
    [ad] = site.fetch()
    assert ad["Owner"] == BOB
    queue_is_lost(site)
    assert site.fetch() == []
    assert {each.reason.partition(",")[0] for each in site.jobs(WAITING)} == {
        "whose its document was"
    }
    site.add("g.xml", f"<User>{ALICE}</User>")  # root puts it there anew
    assert [ad["Owner"] for ad in site.fetch()] == [ALICE]


@pytest.mark.parametrize("note", ["bob", "-1", "9" * 40, "", "4000000000"])
def test_a_note_of_whose_a_document_is_that_names_nobody_lets_nothing_run(site, note):
    site.add("a.xml", f"<User>{ALICE}</User>{NOTE.format(note)}")
    assert site.fetch() == []
    assert len(site.jobs(WAITING)) == 1


def test_a_document_that_is_exchanged_between_two_looks_is_read_later(site, monkeypatch):
    path = site.add("a.xml", f"<User>{ALICE}</User>")
    found = documents._DocumentDirectory.found

    def exchanged(self, mark, also, say):
        there = found(self, mark, also, say)
        path.unlink()
        give(site.add("a.xml", f"<User>{ALICE}</User><Arguments>evil</Arguments>"), BOB)
        return there

    with monkeypatch.context() as patched:
        patched.setattr(documents._DocumentDirectory, "found", exchanged)
        assert site.fetch() == []
    assert "a.xml: [Errno 11] it changes while it is read" in site.said
    assert site.fetch() == []
    assert [each.reason for each in site.jobs(WAITING)] == [
        f"its User is {ALICE}, and its document belongs to {BOB}"
    ]


def read_by(path, uid):
    """What a user reads of a file, nothing if the user may not."""
    who = ["setpriv", f"--reuid={uid}", "--regid=65534", "--clear-groups", "cat", path]
    return subprocess.run(who, capture_output=True, check=False).stdout


@pytest.mark.parametrize("mode", [0o640, 0o644])
def test_a_document_that_is_folded_into_stays_readable_to_its_user_and_to_nobody_new(
    site_of_alice, mode
):
    """The hooks of the user condor, say, who cannot give a file away."""
    site = site_of_alice
    path = give(site.add("a.xml", ""), BOB)
    os.chown(path, -1, pwd.getpwnam(ALICE).pw_gid)
    path.chmod(mode)
    [ad] = site.fetch(trust=[ALICE])
    for kind in ("update", "exit-evict"):
        left(site, BOB, ad, kind)
        assert site.fold(trust=[ALICE]) == (1, [])
        assert path.stat().st_uid == UID[ALICE]
        assert read_by(path, UID[BOB]) == path.read_bytes()
        assert bool(read_by(path, 65534)) == bool(mode & 0o004)


def test_a_document_stays_its_users_where_root_folds_into_it(site):
    path = give(site.add("a.xml", ""), BOB)
    [ad] = site.fetch()
    left(site, BOB, ad, "exit-exit")
    assert site.fold() == (1, [])
    assert path.stat().st_uid == UID[BOB]
    assert site.job("a.xml").get("State") == "Completed"


def odd_documents(site):
    """What has the name of a document and is none, and of each what is said."""
    victim = site.path / "victim"
    victim.write_text("<Job/>")
    os.symlink(victim, site.path / "link.xml")
    os.link(victim, site.path / "hard.xml")
    os.mkfifo(site.path / "fifo.xml")
    os.mkdir(site.path / "directory.xml")
    (site.path / "huge.xml").touch()
    os.truncate(site.path / "huge.xml", documents.LIMIT + 1)
    (site.path / "nul.xml").write_bytes(b"<Job>\0</Job>")
    for name in (b"bad\xff.xml", b"a\nready     fake.xml", b"esc\x1b[31m.xml"):
        Path(os.fsdecode(os.fsencode(site.path) + b"/" + name)).write_text("<Job/>")
    return (r"'bad\udcff.xml': a name that cannot be printed",
            r"'a\nready     fake.xml': a name that cannot be printed",
            r"'esc\x1b[31m.xml': a name that cannot be printed",
            "link.xml: it is not a regular file", "hard.xml: it has more than one name",
            "fifo.xml: it is not a regular file", "directory.xml: it is not a regular file",
            "huge.xml: it has more than", "nul.xml:1:")  # fmt: skip


def test_what_is_no_document_is_told_and_the_others_go_on(site):
    said = odd_documents(site)
    site.add("z.xml", f"<User>{ALICE}</User>")
    assert len(site.fetch()) == 1
    for line in said:
        assert line in site.said
    (site.path / "z.xml").touch()
    site.fetch()
    assert "link.xml" not in site.said  # once is enough in a log
    shown = []
    refresh(HookSettings(str(site.path)), queue.copied(HookSettings(str(site.path))), until=None,
            say=lambda text: shown.append(str(text)))  # fmt: skip
    assert "link.xml: it is not a regular file" in shown
    os.symlink(site.path / "victim", site.path / "another.xml")
    site.fetch()
    assert "another.xml: it is not a regular file" in site.said


@pytest.mark.parametrize("change", ["delete", "edit"])
def test_a_document_that_was_changed_while_a_job_was_offered_is_not_given_as_it_was(site, change):
    ad = fetched(site)
    if change == "delete":
        (site.path / "a.xml").unlink()
    else:
        give(site.add("a.xml", "<Arguments>new</Arguments>"), ALICE)
    site.call("reply-fetch", ad, "reject", refresh=3600)
    assert [each.get("Arguments") for each in site.fetch(refresh=3600)] == (
        [] if change == "delete" else ["new"]
    )


# The spool.


def test_what_is_no_report_is_told_and_the_others_go_on(site, tmp_path):
    ad = fetched(site)
    room = site.state / "spool"
    secret = tmp_path / "secret"
    secret.write_text("SSSReport")
    os.symlink(secret, room / "link")
    os.mkfifo(room / "fifo")
    os.mknod(room / "device", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    os.mkdir(room / "directory")
    (room / "full").mkdir()
    (room / "full/file").touch()
    (room / "huge").touch()
    os.truncate(room / "huge", 1 << 30)
    left(site, ALICE, b'SSSReport = "update"\nA = "\0"\n', name="nul")
    left(site, ALICE, b"", name="empty")
    os.link(left(site, ALICE, ad, "exit-exit", name="twice"), tmp_path / "kept")
    (room / ".killed").touch()
    os.utime(room / ".killed", (1, 1))
    left(site, ALICE, ad)
    count, said = site.fold()
    assert count == 1
    for name in (
        "link",
        "fifo",
        "device",
        "directory",
        "full",
        "huge",
        "nul",
        "empty",
        "twice",
        ".killed",
    ):
        assert any(f"spool/'{name}'" in line for line in said), name
    assert os.listdir(room) == ["full"]
    assert "spool/'full': it is not a regular file; it stays: Directory not empty" in said
    assert site.fold() == (0, [])  # once is enough in a log
    assert secret.read_text() == "SSSReport"
    assert site.job("a.xml").get("State") == "Running"
    assert {stat.S_IFMT(path.lstat().st_mode) for path in site.state.glob("bad/*")} == {
        stat.S_IFREG
    }


def test_a_directory_in_the_place_of_bad_or_reported_is_nobody_elses(site):
    left(site, BOB, b"rubbish")
    assert site.fold()[0] == 0
    for name in ("bad", "reported", "queue.db", "lock"):
        assert not os.access(site.state / name, os.F_OK) or (site.state / name).stat().st_uid == 0
    assert stat.S_IMODE(site.state.stat().st_mode) == 0o711
    assert stat.S_IMODE((site.state / "queue.db").stat().st_mode) == 0o600


def test_one_user_does_not_fill_the_spool_for_others(site, monkeypatch):
    monkeypatch.setattr(spool, "PER_OWNER", 4)
    ad = fetched(site)
    for _ in range(10):
        left(site, BOB, b"rubbish")
    last = left(site, ALICE, ad)
    os.utime(last, (time.time() + 60,) * 2)
    count, said = site.fold()
    assert count == 1
    assert f"spool: uid {UID[BOB]} left more than 4 reports; the rest waits" in said


def test_so_many_entries_are_looked_at_and_so_many_kept(site, monkeypatch):
    monkeypatch.setattr(spool, "ENTRIES", 5)
    monkeypatch.setattr(spool, "ASIDE", 2)
    for _ in range(8):
        left(site, BOB, b"rubbish")
    assert "spool: more than 5 entries; the rest waits" in site.fold()[1]
    assert len(os.listdir(site.state / "spool")) == 3
    site.fold()
    assert (os.listdir(site.state / "spool"), set_aside(site)) == ([], 2)


@pytest.mark.parametrize("most", ["PER_OWNER", "BYTES_PER_OWNER"])
def test_what_a_user_left_too_much_of_is_folded_next_time(site, monkeypatch, most):
    monkeypatch.setattr(spool, most, 1)
    ad = fetched(site)
    for _ in range(2):
        left(site, ALICE, ad)
    assert site.fold()[0] == 1
    assert site.fold() == (1, [])


def test_odd_things_do_not_fill_a_log(site, monkeypatch):
    for _ in range(2 * spool.TOLD):
        left(site, BOB, b"rubbish")
    assert len(site.fold()[1]) == spool.TOLD + 1
    assert os.listdir(site.state / "spool") == []


def test_reports_of_users_are_read_in_turn_and_what_was_read_is_folded(site, monkeypatch):
    """However long those of one take: the time of a hook is over after two of them."""
    bobs, alices = fetched(site, BOB, "b.xml"), fetched(site, ALICE, "z.xml")
    for number in range(6):
        old = left(site, BOB, bobs)
        os.utime(old, (time.time() - 100 + number,) * 2)
    left(site, ALICE, alices.merged({"ExitCode": 0}), "exit-exit")
    clock = [time.time()]
    read = spool.Spool._read

    def slow(self, name):
        clock[0] += 4
        return read(self, name)

    with monkeypatch.context() as patched:
        patched.setattr(spool.Spool, "_read", slow)
        patched.setattr(time, "time", lambda: clock[0])
        assert site.fold(until=clock[0] + 20) == (2, [])
    assert site.job("z.xml").get("State") == "Completed"
    assert len(os.listdir(site.state / "spool")) == 5


def test_what_no_report_needs_is_not_worked_out(site, monkeypatch):
    """Of each expression somebody can leave thousands, each of many steps."""
    ad = fetched(site)
    asked = []
    evaluated = evaluate.number
    monkeypatch.setattr(
        evaluate, "number", lambda ad, name, *more: asked.append(name) or evaluated(ad, name, *more)
    )
    heavy = {f"X{number}": Unparsed(f"foo({number})") for number in range(500)}
    heavy |= {f"X{number}Provisioned": Unparsed("A + A") for number in range(500)}
    left(site, ALICE, ad.merged(heavy))
    count, said = site.fold()
    assert (count, said) == (1, [])
    asked = [name for name in asked if name != "it"]  # a number, or none, by itself
    assert len(asked) < 200
    assert not [name for name in asked if name.startswith("X")]


def test_who_left_few_reports_comes_first(site, monkeypatch):
    bobs, alices = fetched(site, BOB, "b.xml"), fetched(site, ALICE, "z.xml")
    for _ in range(5):
        left(site, BOB, bobs)
    left(site, ALICE, alices)
    written = []
    put = documents._replace
    monkeypatch.setattr(
        documents,
        "_replace",
        lambda folder, name, *rest: written.append(name) or put(folder, name, *rest),
    )
    assert site.fold() == (6, [])
    assert written == ["z.xml", "b.xml"]


def test_reports_wait_when_the_time_is_over(site):
    left(site, ALICE, fetched(site))
    assert site.fold(until=1) == (0, [])
    assert site.fold() == (1, [])


def test_a_report_of_an_attempt_that_came_back_counts_for_whom_it_ran_as(site):
    site.add("a.xml", "")
    [ad] = site.fetch(owner=ALICE)
    site.call("evict-claim", ad)
    assert site.fetch(SLOT.merged({"Cpus": 0}), requests=[("RequestCpus", "1")]) == []
    left(site, ALICE, ad.merged({"RemoteUserCpu": 5.0}))
    assert site.fold() == (1, [])
    assert site.job("a.xml").get("CpuDuration") == "5"


LIES = [
    {"JobStartDate": "x", "RemoteUserCpu": "INF"},
    {"JobDuration": -(2**63), "RemoteUserCpu": -1e308},
    {"RemoteUserCpu": 1e308, "RemoteSysCpu": 1e308},
    {"ExitReason": "￿"},
]


@pytest.mark.parametrize("lie", LIES)
def test_a_report_that_cannot_be_written_does_not_keep_the_others_out(site, lie):
    ad = fetched(site)
    left(site, ALICE, ad.merged(lie), "exit-hold")
    left(site, ALICE, b'SSSReport = "exit-exit"\nRemoteUserCpu = real("INF")\n'
         + f'SSSKey = "{ad["SSSKey"]}"\n'.encode())  # fmt: skip
    left(site, ALICE, ad.merged({"RemoteUserCpu": 2.0}))
    site.fold()
    assert os.listdir(site.state / "spool") == []
    assert site.job("a.xml").get("State") in ("Running", "Hold")


def test_reports_wait_for_a_document_that_cannot_be_written(site, monkeypatch):
    left(site, ALICE, fetched(site))

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(atomic.Hidden, "fill", full)
        count, said = site.fold()
    assert count == 0
    assert "No space left on device; 1 reports wait" in said[0]
    assert len(site.jobs(OFFERED)) == 1
    assert site.fold() == (1, [])


def test_what_killed_processes_left_of_documents_does_not_stay(site):
    ad = fetched(site)
    head = atomic.hidden_head("1.xml")
    names = (f"{head}-0", f"{head}-0123456789abcdef", f"{head}-1", f"{head}-2", ".mine-01234567-0")
    paths = [site.path / name for name in names]
    of_bob, at_work = paths[2:4]
    for path in paths:
        path.write_text("<Job>")
    give(of_bob, BOB)
    left(site, ALICE, ad)
    with at_work.open() as file:
        atomic.lock(file.fileno())
        assert site.fold() == (1, [])
    assert [path.exists() for path in paths] == [False, False, True, True, True]


def test_many_reports_take_one_change_of_each_document(site, monkeypatch):
    for number in range(12):
        give(site.add(f"{number}.xml", "", id_=str(number)), ALICE)
    ads = [site.fetch()[0] for _ in range(12)]
    for ad in ads:
        for kind in ("update", "update", "exit-exit"):
            left(site, ALICE, ad, kind)
    written, read = [], []

    class Counted(documents._DocumentDirectory):
        def change(self, name, *more):
            written.append(name)
            return super().change(name, *more)

        def blocks(self, found):
            read.append(found.name)
            return super().blocks(found)

    monkeypatch.setattr(documents, "_DocumentDirectory", Counted)
    assert site.fold() == (36, [])
    assert sorted(written) == sorted(f"{number}.xml" for number in range(12))
    assert read == []
    assert len(site.jobs(DONE)) == 12


# The queue itself.


def writable(site):
    os.chmod(site.state, 0o777)


def of_group(site):
    os.chmod(site.state, 0o770)


def a_link(site):
    site.state.rename(site.path / "elsewhere")
    os.symlink(site.path / "elsewhere", site.state)


def open_above(site):
    os.chmod(site.path, 0o777)


def readable(site):
    os.chmod(site.state / "queue.db", 0o644)


def two_names(site):
    os.link(site.state / "queue.db", site.path / "copy")


def of_another(site):
    give(site.state / "queue.db", BOB)


def a_link_in_it(site):
    (site.state / "queue.db").rename(site.path / "queue.db")
    os.symlink(site.path / "queue.db", site.state / "queue.db")


@pytest.mark.parametrize(
    "harm, reason",
    [
        (writable, "can be written by others than its owner: chmod go-w it"),
        (of_group, "can be written by others than its owner"),
        (a_link, "is not a directory"),
        (open_above, "can be written by everybody"),
        (readable, "is not ours alone"),
        (two_names, "is not a file with one name"),
        (of_another, "is not ours alone"),
        (a_link_in_it, "Too many levels of symbolic links"),
    ],
)
def test_a_queue_that_others_can_write_is_refused_with_the_reason(site, harm, reason):
    site.add("a.xml", f"<User>{ALICE}</User>")
    assert site.fetch(SLOT.merged({"Cpus": 0}), requests=[("RequestCpus", "1")]) == []
    harm(site)
    assert site.fetch() == []
    assert reason in site.said


@pytest.fixture
def site_of_alice(monkeypatch, capsys):
    """Jobs that belong to a user, where that user can reach them: not below pytest's directory."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        made = Site(Path(place) / "jobs", monkeypatch, capsys)
        made.path.mkdir(mode=0o755)
        give(made.path, ALICE)
        yield made


def test_a_queue_in_a_directory_that_a_group_can_write_is_refused_unless_names_stick(
    site_of_alice,
):
    site = site_of_alice
    give(site.add("a.xml", f"<User>{BOB}</User>"), ALICE)
    own = pwd.getpwnam(ALICE).pw_gid
    for group, mode, fetched in [(own + 1, 0o775, 0), (own + 1, 0o1775, 1), (own, 0o775, 1)]:
        shutil.rmtree(site.state, ignore_errors=True)
        os.chown(site.path, -1, group)
        site.path.chmod(mode)
        assert len(site.fetch(trust=[ALICE])) == fetched, site.said
        assert fetched or f"{site.path} can be written by its group (gid {group})" in site.said


def test_a_queue_of_a_later_version_is_left_alone(site):
    site.fold()
    with sqlite3.connect(site.state / "queue.db") as later:
        later.execute("PRAGMA user_version = 8")
    assert site.fetch() == []
    assert "queue.db is of another version of sssjob" in site.said


def test_root_acts_as_the_owner_of_the_jobs(site_of_alice):
    site = site_of_alice
    give(site.add("a.xml", ""), ALICE)
    [ad] = site.fetch(trust=[ALICE], owner=BOB)
    assert ad["Owner"] == BOB
    left(site, BOB, ad, "exit-exit")
    assert site.fold(trust=[ALICE]) == (1, [])
    assert (os.geteuid(), os.getegid()) == (0, 0)
    assert {path.lstat().st_uid for path in site.path.rglob("*")} == {UID[ALICE]}
    assert site.job("a.xml").get("State") == "Completed"


def test_root_takes_no_jobs_from_the_queue_of_a_user(site_of_alice):
    site = site_of_alice
    give(site.add("a.xml", f"<User>{BOB}</User>"), ALICE)
    assert site.fetch() == []
    assert f"{site.path} belongs to uid {UID[ALICE]}: root gives away jobs of root" in site.said
    assert not site.state.exists()


def test_a_queue_in_the_directory_of_others_is_nobodys(site):
    give(site.add("a.xml", ""), ALICE)
    site.fold()
    give(site.state, BOB)
    give(site.state / "queue.db", BOB)
    with pytest.raises(queue.UnsafeQueue) as told:  # who looks changes nothing
        site.jobs(READY)
    assert f"belongs to uid {UID[BOB]}, and {site.path} to uid 0" in str(told.value)
    assert site.state.stat().st_uid == UID[BOB]
    # decision 718
    assert len(site.fetch()) == 1
    [away] = site.path.glob(".condor.not-ours.*")
    assert (away.stat().st_uid, site.state.stat().st_uid) == (UID[BOB], 0)
    assert (away / "queue.db").stat().st_uid == UID[BOB]


def test_a_user_of_a_job_makes_no_queue(site, monkeypatch):
    give(site.path, BOB)
    monkeypatch.setattr(os, "geteuid", lambda: UID[ALICE])
    site.call("job-exit", Ad({"GlobalJobId": SCHEDD}), "exit")
    assert f"there is no spool in {site.state}" in site.said
    assert not site.state.exists()


@pytest.mark.parametrize("name", ["offered", "accepted", "running"])
def test_a_queue_of_an_earlier_version_with_jobs_out_is_not_begun_again(site, name):
    site.add("a.xml", f"<User>{ALICE}</User>")
    (site.state / name).mkdir(parents=True)
    (site.state / "index.json").write_text("{}")
    out = site.state / name / "09999999995~00000000000~a.xml"
    out.touch()
    assert site.fetch() == []
    assert "an earlier version gave these jobs away" in site.said
    out.unlink()
    assert len(site.fetch()) == 1
    assert len(site.jobs(READY)) == 0


def test_a_queue_that_is_put_away_while_it_is_opened_is_made_anew_and_ours_alone(site, monkeypatch):
    """SQLite would make a file that others can read, and each hook would refuse it from then on."""
    site.add("a.xml", "<User>amy</User>")
    site.fetch()
    state, own, taken = site.path / ".condor", queue.own, []

    def own_and_lose(path):
        own(path)
        if not taken:
            taken.append(os.rename(path, f"{path}.away"))

    monkeypatch.setattr(queue, "own", own_and_lose)
    before = os.umask(0o022)
    try:
        site.fetch()
    finally:
        os.umask(before)
    assert taken
    assert stat.S_IMODE((state / "queue.db").stat().st_mode) == 0o600
    assert not site.said
