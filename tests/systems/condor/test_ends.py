"""What is known of an attempt does not depend on which one the job has when its report comes.

Each report is kept with its own attempt, and a job of which one attempt came to its end is done,
whatever becomes of the others. Walks by chance are compared with an evaluator of these sentences.
"""

import os
import random
import sqlite3
import time
from dataclasses import dataclass

import pytest
from click.testing import CliRunner
from condor_site import SLOT, Site
from draws import cases, pairwise

from sssjob import store
from sssjob.classads import forms
from sssjob.classads.values import Ad
from sssjob.cli import sssjob
from sssjob.cli.condor.queue import _give_back
from sssjob.document import dumps, loads
from sssjob.systems.condor.hooks import programs, reports
from sssjob.systems.condor.hooks.queue import OpenQueue
from sssjob.systems.condor.hooks.settings import HookSettings

TEXT = "<Job><Id>7</Id><User>amy</User><Executable>/bin/true</Executable></Job>"


@dataclass
class Attempt:
    """What one slot knows of the job that it was given."""

    host: Site
    ad: dict
    number: int
    is_accepted: bool = False
    is_heard: bool = False
    is_over: bool = False  # it ended, whether or not anybody heard of that
    is_given_up: bool = False
    end: str = ""  # how, of one that was started
    is_folded: bool = False  # whether that stands in the document


class Walk:
    """A job in a directory that one machine serves, or in a store that two do."""

    def __init__(self, where, tmp_path, monkeypatch, capsys, draw=None):
        self.draw = draw or random.Random(0)
        self.clock = time.time()
        monkeypatch.setattr(time, "time", lambda: self.clock)
        path = tmp_path / "jobs"
        self.is_store = where == "a store"
        if self.is_store:
            with store.open(str(path), create=True) as made, made.change() as work:
                work.put(TEXT.encode())
        else:
            path.mkdir()
            (path / "a.xml").write_text(TEXT)
        self.hosts = []
        for number in range(1 + self.is_store):
            self.hosts.append(Site(path, monkeypatch, capsys))
            if self.is_store:
                self.hosts[-1].state = tmp_path / f"state{number}"
        self.attempts = []
        self.silence = 900
        self.deleted = b""  # what the file of a document had that its user deleted
        self.is_deleted = False

    def call(self, host, hook, ad, *words, **options):
        # Of a store only what is new is looked at in between.
        given = {"fold": "never", "attempts": 1000, "lost": 1000, "pause": 0,
                 "silence": self.silence, "refresh": 60 * self.is_store, **options}  # fmt: skip
        return host.call(hook, ad, *words, state=str(host.state), **given)

    def settings(self, host):
        return HookSettings(str(host.path), str(host.state))

    def fetch(self, host):
        answer = self.call(host, "fetch-work", SLOT)
        ads = forms.read_text(answer.decode(), strict=True)
        assert not (ads and self.is_deleted)
        for ad in ads:
            assert not [each for each in self.attempts if not each.is_over | each.is_given_up]
            done = [each for each in self.attempts if each.end == "exit"]
            # Reports of another machine are known once they are folded.
            assert not [each for each in done if each.is_folded or each.host is host]
            self.attempts.append(Attempt(host, ad, len(self.attempts) + 1))
        return self.attempts[-1] if ads else None

    def accept(self, attempt):
        self.call(attempt.host, "reply-fetch", attempt.ad, "accept")
        attempt.is_accepted = True

    def reject(self, attempt):
        self.call(attempt.host, "reply-fetch", attempt.ad, "reject")
        attempt.is_over = True

    def report(self, attempt, hook, *words, **told):
        spool = attempt.host.state / "spool"
        before = set(spool.iterdir())
        self.call(attempt.host, hook, attempt.ad.merged(told), *words)
        for path in set(spool.iterdir()) - before:
            os.utime(path, (self.clock, self.clock))

    def update(self, attempt):
        attempt.is_heard = True
        began = int(attempt.ad["SSSFetched"])
        self.report(attempt, "update-job-info", JobPid=7, JobStartDate=began)

    def ends(self, attempt, how):
        attempt.is_heard = attempt.is_over = True
        attempt.end = attempt.end or how
        told = {"JobPid": 7, "JobStartDate": int(attempt.ad["SSSFetched"]), "JobDuration": 1.0,
                "RemoteUserCpu": float(attempt.number), "ExitCode": attempt.number,
                "ExitReason": f"end of {attempt.number}"}  # fmt: skip
        self.report(attempt, "job-exit", how, **told)

    def never_started(self, attempt):
        attempt.is_over = True
        self.report(attempt, "job-exit", "evict")

    def silent(self, attempt):
        """So long that the next hook that fetches takes its job back."""
        self.clock += self.silence - 50
        self.call(attempt.host, "fetch-work", SLOT.merged({"Cpus": 0}))

    def claim_ends(self, attempt):
        attempt.is_over = True
        self.call(attempt.host, "evict-claim", attempt.ad)

    def fold(self, host):
        with OpenQueue(self.settings(host)) as queue:
            reports.fold(self.settings(host), queue, say=lambda text: 0)
        for each in self.attempts:
            each.is_folded = each.is_folded or (bool(each.end) and each.host is host)

    def give_back(self, host):
        """Gives whether there was something to give back."""
        self.fold(host)  # as the command does, for the evaluator
        try:
            _give_back(self.settings(host), "Job/1/7" if self.is_store else "a.xml")
        except SystemExit:
            return False
        for each in self.attempts:
            each.is_given_up = True
        return True

    def job(self):
        if not self.is_store:
            return loads((self.hosts[0].path / "a.xml").read_bytes())
        with store.open(str(self.hosts[0].path), read_only=True) as made:
            [found] = made.documents()
            return loads(made.get(found.identity).document)

    def delete(self):
        self.is_deleted = True
        if self.is_store:
            with store.open(str(self.hosts[0].path)) as made, made.change() as work:
                assert work.delete("7")
        else:
            path = self.hosts[0].path / "a.xml"
            self.deleted = path.read_bytes()
            path.unlink()

    def undo(self):
        """The document is there again, as it was."""
        self.is_deleted = False
        if self.is_store:
            with store.open(str(self.hosts[0].path)) as made, made.change() as work:
                assert work.undelete("7")
        else:
            (self.hosts[0].path / "a.xml").write_bytes(self.deleted)

    def is_away(self):
        if not self.is_store:
            return not [*self.hosts[0].path.glob("*.xml")]
        with store.open(str(self.hosts[0].path), read_only=True) as made:
            return not [*made.documents()]

    def step(self):
        self.clock += self.draw.choice([0.5, 2, 20])
        chance = self.draw.random()
        if chance < 0.3:
            self.fetch(self.draw.choice(self.hosts))
        elif chance < 0.4:
            self.give_back(self.draw.choice(self.hosts))
        elif chance < 0.55:
            self.fold(self.draw.choice(self.hosts))
        elif self.attempts:
            attempt = self.draw.choice(self.attempts[-3:])
            if not attempt.is_accepted and not attempt.is_over:
                (self.accept if self.draw.random() < 0.9 else self.reject)(attempt)
            elif attempt.end:
                twice = self.draw.choice([self.update, lambda each: self.ends(each, each.end)])
                twice(attempt)
            elif not attempt.is_over:
                self.go_on(attempt)

    def go_on(self, attempt):
        chance = self.draw.random()
        if chance < 0.4:
            self.update(attempt)
        elif chance < 0.6:
            self.ends(attempt, "exit")
        elif chance < 0.75:
            self.ends(attempt, "evict")
        elif chance < 0.85 or attempt.is_heard:
            self.claim_ends(attempt)
        else:
            self.never_started(attempt)

    # The evaluator.

    def check(self):
        if self.is_deleted:
            assert self.is_away()
            return
        job = self.job()
        heard = [each for each in self.attempts if each.is_heard]
        assert job.get("StartCount") == (str(len(heard)) if heard else "")
        done = [each for each in heard if each.end == "exit"]
        if done:
            told = [job.get(name) for name in ("State", "ExitCode", "StatusMessage")]
            last = done[-1].number
            assert told == ["Completed", str(last), f"end of {last}"]
        else:
            assert job.get("State") in ("", "Idle", "Running")
            assert not {"ExitCode", "EndTime"} & job.properties.names()
        groups = {each.id: each for each in job.task_groups}
        assert groups.keys() <= {each.ad["SSSKey"] for each in heard}
        assert len(groups) == len(heard) or len(heard) == 1
        for each in heard:
            self.check_start(each, groups.get(each.ad["SSSKey"], job))
        total = sum(each.number for each in heard if each.end)
        assert job.get("CpuDuration") == (str(total) if heard else "")

    def check_start(self, attempt, told):
        number, message = attempt.number, told.get("StatusMessage")
        is_own = isinstance(told, type(self.job()))  # else it may say what became of a later one
        assert bool(told.get("EndTime")) == (attempt.end == "exit")
        assert told.get("ExitCode") == (str(number) if attempt.end == "exit" else "")
        if attempt.end == "exit":
            assert message == f"end of {number}"
        elif attempt.end and not is_own:
            assert message == f"evicted: end of {number}"
        elif not is_own:
            is_last = not any(each.is_heard for each in self.attempts if each.number > number)
            assert message == ("" if is_last else "nothing was heard of its end")
            assert (told.get("State") == "Aborted") == (not is_last)
        if attempt.end and not is_own:
            assert told.get("State") == "Completed"
            assert told.get("CpuDuration") == str(number)

    def goes_on(self):
        """Whether a slot gets the job once nobody has it any more."""
        for each in self.attempts:
            if not each.is_over:
                self.claim_ends(each)
        for host in self.hosts:
            self.fold(host)
        self.clock += 4 * self.silence + 400
        return any(self.fetch(host) for host in self.hosts)


@pytest.mark.parametrize("where", ["a directory", "a store"])
@pytest.mark.parametrize("seed", range(cases(10)))
def test_each_report_is_kept_with_its_attempt_and_an_end_is_the_end_of_the_job(
    where, seed, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys, random.Random(seed))
    for _ in range(40):
        walk.step()
    for host in walk.hosts:
        walk.fold(host)
    walk.check()
    is_done = any(each.end == "exit" for each in walk.attempts)
    assert walk.goes_on() == (not is_done)
    walk.check()


WHERE = pytest.mark.parametrize("where", ["a directory", "a store"])


# decision 846
@WHERE
@pytest.mark.parametrize("seed", range(cases(10)))
def test_a_document_that_its_user_deletes_stays_away_whatever_is_reported_of_its_job(
    where, seed, tmp_path, monkeypatch, capsys
):
    draw = random.Random(seed)
    walk = Walk(where, tmp_path, monkeypatch, capsys, draw)
    for _ in range(draw.randrange(30)):
        walk.step()
    walk.delete()
    for _ in range(20):
        walk.step()
        walk.check()
    assert not walk.goes_on()
    walk.check()


@WHERE
@pytest.mark.parametrize(
    "steps",
    ["del reject", "del accept claim_ends", "del accept update evict", "accept del claim_ends",
     "accept del never_started", "accept del update evict", "accept del update exit",
     "accept update del claim_ends", "accept update del evict", "accept update del exit"],
)  # fmt: skip
def test_a_job_whose_document_was_deleted_while_a_slot_had_it_does_not_come_back(
    where, steps, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    attempt = walk.fetch(host)
    for step in steps.split():
        if step == "del":
            walk.delete()
        elif step in ("evict", "exit"):
            walk.ends(attempt, step)
        else:
            getattr(walk, step)(attempt)
        walk.fold(host)
    for each in walk.hosts:
        walk.fold(each)
    assert walk.is_away()
    assert not walk.goes_on()
    assert walk.is_away()


# decision 848
@WHERE
@pytest.mark.parametrize("is_asked_for", [False, True])
@pytest.mark.parametrize("when", ["offered", "accepted", "running"])
def test_the_end_of_a_job_waits_for_a_document_that_was_deleted_and_nobody_gives_it_back(
    where, when, is_asked_for, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    attempt = walk.fetch(host)
    if when != "offered":
        walk.accept(attempt)
    if when == "running":
        walk.update(attempt)
    walk.fold(host)
    walk.delete()
    if is_asked_for:
        assert not walk.give_back(host)
        assert "its document is not there" in capsys.readouterr().err
    if when == "offered":
        walk.accept(attempt)
    walk.ends(attempt, "exit")
    walk.fold(host)
    assert len([*(host.state / "spool").iterdir()]) == 1
    walk.undo()
    for each in walk.hosts:
        assert walk.fetch(each) is None
    walk.fold(host)
    walk.check()
    assert not walk.goes_on()


# decision 889
@WHERE
def test_a_slot_that_rejects_a_job_is_no_reason_not_to_believe_the_attempt_that_runs(
    where, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    walk.accept(first)
    walk.update(first)
    walk.fold(host)
    walk.clock += walk.silence + 100
    first.is_given_up = True  # nobody heard of it
    second = walk.fetch(host)
    walk.reject(second)
    walk.clock += 5
    first.is_given_up = False
    walk.update(first)
    walk.fold(host)
    assert walk.job().get("State") == "Running"
    assert queued(walk, host).startswith("running")
    walk.clock += 60
    assert walk.fetch(host) is None
    walk.ends(first, "exit")
    walk.fold(host)
    walk.check()
    assert not walk.goes_on()


# decision 889
@WHERE
@pytest.mark.parametrize("limit", ["attempts", "lost"])
def test_a_job_that_is_held_while_its_document_is_away_is_held_when_it_comes_back(
    where, limit, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    attempt = walk.fetch(host)
    walk.accept(attempt)
    if limit == "lost":
        walk.update(attempt)
        walk.fold(host)
    walk.delete()
    walk.call(host, "evict-claim", attempt.ad, **{limit: 1})
    attempt.is_over = True
    for _ in range(2):
        assert walk.fetch(host) is None
        walk.fold(host)
    walk.undo()
    assert walk.fetch(host) is None
    walk.fold(host)
    assert walk.job().get("State") == "Hold"
    assert queued(walk, host).startswith("held")
    walk.clock += 60
    assert walk.fetch(host) is None
    assert walk.give_back(host)
    assert walk.fetch(host) is not None


@WHERE
def test_a_job_of_which_an_old_attempt_is_over_is_ready_when_a_later_one_is_given_back(
    where, tmp_path, monkeypatch, capsys
):
    """Its document, which was away, says that the old one runs."""
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    walk.accept(first)
    walk.update(first)
    walk.fold(host)
    walk.claim_ends(first)
    walk.delete()
    assert walk.fetch(host) is None
    walk.undo()
    assert walk.fetch(host) is not None  # the queue knows better
    assert walk.give_back(host)
    assert queued(walk, host).startswith("ready")
    assert walk.fetch(host) is not None


# As whom the startd runs all jobs, "" of one of root; the User of a job, the option of the hooks.
OTHER = "and a startd of amy runs all jobs as amy"
RUNNERS = [
    ("", "", "", "a job without User cannot be run by a startd that is root"),
    ("", "", "amy", ""),
    ("", "", "ghost", "it is to run as ghost, who is no user here"),
    ("", "root", "", "it is to run as root, and HTCondor runs no job as root"),
    ("", "", "root", "it is to run as root, and HTCondor runs no job as root"),
    ("root", "root", "", ""),
    ("root", "", "", ""),
    ("", "amy", "", ""),
    ("", "amy", "ghost", ""),
    ("", "ghost", "amy", "it is to run as ghost, who is no user here"),
    ("amy", "", "", ""),
    ("amy", "amy", "", ""),
    ("amy", "bob", "", f"it is to run as bob, {OTHER}"),
    ("amy", "root", "", f"it is to run as root, {OTHER}"),
    ("amy", "", "bob", f"it is to run as bob, {OTHER}"),
]


# decision 887
@WHERE
@pytest.mark.parametrize("personal, user, owner, reason", RUNNERS)
def test_a_job_that_the_startd_cannot_run_as_its_owner_waits_and_the_queue_says_so(
    where, personal, user, owner, reason, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(programs, "_startd_is_root", lambda: not personal)
    monkeypatch.setattr(programs, "_me", lambda: personal)
    stated = f"<User>{user}</User>" if user else ""
    monkeypatch.setitem(globals(), "TEXT", TEXT.replace("<User>amy</User>", stated))
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    assert queued(walk, host).startswith("ready")  # nobody knows better yet
    assert walk.call(host, "fetch-work", SLOT.merged({"Cpus": 0}), owner=owner) == b""
    told = queued(walk, host)
    assert told.startswith("waiting" if reason else "ready")
    assert reason in told
    given = walk.call(host, "fetch-work", SLOT, owner=owner)
    assert bool(given) == (not reason)


# decision 896
@pairwise(
    where=["a directory", "a store"],
    by=["silence", "its claim"],
    then=["rejected", "given up", "not started", "held", "silent"],
    is_told=[False, True],
)
def test_an_attempt_that_reports_is_what_runs_where_a_later_one_started_nothing(
    where, by, then, is_told, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    walk.accept(first)
    walk.update(first)
    walk.fold(host)
    if by == "its claim":
        walk.claim_ends(first)
    first.is_given_up = True
    walk.clock += 1000
    second = walk.fetch(host)
    if then == "rejected":
        walk.reject(second)
    else:
        walk.accept(second)
        if is_told:
            walk.fold(host)
        if then == "not started":
            walk.never_started(second)
        elif then == "silent":
            walk.clock += 1000
            walk.call(host, "fetch-work", SLOT.merged({"Cpus": 0}))
        else:
            walk.call(host, "evict-claim", second.ad, attempts=1 if then == "held" else 1000)
    second.is_over = True
    walk.fold(host)
    first.is_given_up = first.is_over = False
    for _ in range(3):
        walk.clock += 60
        walk.update(first)
        walk.fold(host)
        assert walk.job().get("State") == "Running"
        assert queued(walk, host).startswith("running")
        assert walk.fetch(host) is None
    host.state.joinpath("queue.db").unlink()
    assert walk.fetch(host) is None  # the document says the same
    walk.ends(first, "exit")
    walk.fold(host)
    walk.check()
    assert not walk.goes_on()


# What becomes of an offer that starts nothing.
NOTHING = (["reject"], ["accept", "claim_ends"], ["accept", "never_started"], ["accept", "silent"])


# decision 892
@WHERE
@pytest.mark.parametrize("seed", range(cases(15)))
def test_an_attempt_that_is_heard_of_while_others_are_out_runs_if_they_start_nothing(
    where, seed, tmp_path, monkeypatch, capsys
):
    draw = random.Random(seed)
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    walk.accept(first)
    walk.update(first)
    walk.fold(host)
    if draw.random() < 0.5:
        walk.claim_ends(first)
    first.is_given_up = True
    offers = draw.choice([1, 1, 2, 3])
    for number in range(offers):
        walk.clock += 1000
        other = walk.fetch(host)
        steps = draw.choice(NOTHING)
        is_last = number == offers - 1
        earliest = len(steps) - 1 if steps[-1] == "silent" else 0
        is_heard = draw.randrange(earliest, len(steps)) if is_last else None
        for at, step in enumerate(steps):
            walk.clock += 100
            if at == is_heard:
                walk.update(first)
            if draw.random() < 0.5:
                walk.fold(host)
            getattr(walk, step)(other)
        other.is_over = True
        if not is_last:
            walk.fold(host)
    first.is_given_up = first.is_over = False
    if draw.random() < 0.5:
        assert not walk.fetch(host)  # also before its report is folded
    walk.fold(host)
    assert queued(walk, host).startswith("running")
    assert not any(walk.fetch(each) for each in walk.hosts)
    walk.clock += 60
    walk.update(first)
    walk.fold(host)
    assert walk.job().get("State") == "Running"
    host.state.joinpath("queue.db").unlink()
    assert not any(walk.fetch(each) for each in walk.hosts)
    walk.ends(first, draw.choice(["exit", "evict"]))
    walk.fold(host)
    walk.check()
    assert walk.goes_on() == (first.end == "evict")


# decision 892
@WHERE
@pytest.mark.parametrize("end", ["evict", "given back", "another started"])
def test_what_was_heard_of_an_attempt_says_nothing_once_it_is_known_better(
    where, end, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    walk.accept(first)
    walk.update(first)
    walk.fold(host)
    first.is_given_up = True
    walk.clock += 1000
    second = walk.fetch(host)
    walk.clock += 10
    walk.update(first)
    walk.fold(host)
    walk.clock += 10
    if end == "evict":
        walk.ends(first, "evict")
        walk.fold(host)
        walk.reject(second)
    elif end == "given back":
        assert walk.give_back(host)
    else:
        walk.accept(second)
        walk.update(second)
        walk.fold(host)
        walk.clock += 10
        walk.claim_ends(second)
    second.is_over = True
    walk.clock += 60
    assert walk.fetch(host)


# decision 893
@WHERE
@pytest.mark.parametrize("accepted", [False, True])
@pytest.mark.parametrize("folds", [0, 1, 2])
def test_the_end_of_an_attempt_counts_where_the_queue_was_lost_and_somebody_folds_first(
    where, accepted, folds, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    attempt = walk.fetch(host)
    if accepted:  # else the hook was killed
        walk.accept(attempt)
    walk.update(attempt)
    walk.fold(host)
    assert walk.fetch(host) is None
    host.state.joinpath("queue.db").unlink()
    walk.update(attempt)
    walk.ends(attempt, "exit")
    for _ in range(folds):
        walk.fold(host)
    assert walk.fetch(host) is None
    walk.fold(host)
    assert not [*(host.state / "spool").iterdir()]
    assert not (host.state / "bad").exists()
    walk.check()
    assert not walk.goes_on()


# decision 896
@WHERE
def test_an_attempt_that_reports_behind_one_that_ran_tells_of_its_own_start_alone(
    where, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    walk.accept(first)
    walk.update(first)
    walk.fold(host)
    walk.claim_ends(first)
    walk.clock += 100
    second = walk.fetch(host)
    walk.accept(second)
    walk.ends(second, "evict")
    walk.fold(host)
    first.is_over = False
    walk.clock += 60
    walk.update(first)
    walk.fold(host)
    assert walk.job().get("State") == "Idle"
    assert walk.job().get("StartCount") == "2"
    assert queued(walk, host).startswith("ready")


# decision 854
@WHERE
@pytest.mark.parametrize("is_out", [False, True])
def test_the_end_of_an_earlier_attempt_waits_for_a_document_that_is_away_while_another_runs(
    where, is_out, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    walk.accept(first)
    walk.update(first)
    assert walk.give_back(host)
    walk.clock += 100
    second = walk.fetch(host)
    if is_out:
        walk.accept(second)
        walk.update(second)
    walk.fold(host)
    walk.delete()
    walk.ends(first, "exit")
    walk.fold(host)
    if is_out:
        walk.ends(second, "evict")
        walk.fold(host)
    else:
        walk.reject(second)
    assert len([*(host.state / "spool").iterdir()]) == 1 + is_out
    walk.undo()
    assert walk.fetch(host) is None
    walk.fold(host)
    walk.check()
    assert not walk.goes_on()


# decision 858
@WHERE
@pytest.mark.parametrize("by", ["fold", "give-back"])
def test_whoever_folds_holds_a_job_after_as_many_attempts_as_the_hooks_were_told(
    where, by, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    words = ["condor", "fold", "--documents", host.path, "--state", host.state]
    if by == "give-back":
        words = ["condor", "queue", *words[2:], "--give-back", "none"]
    for count in (1, 2):
        answer = walk.call(host, "fetch-work", SLOT, attempts=2, pause=7)
        [ad] = forms.read_text(answer.decode(), strict=True)
        walk.call(host, "reply-fetch", ad, "accept", attempts=2, pause=7)
        walk.call(host, "job-exit", ad, "evict", attempts=2, pause=7)
        CliRunner().invoke(sssjob, [*map(str, words)])
        assert ("the next one in 7 s" if count == 1 else "held after 2") in queued(walk, host)
        walk.clock += 8


# decision 854
@WHERE
@pytest.mark.parametrize("how", ["claim_ends", "silence", "give_back", "held", "a look between"])
@pytest.mark.parametrize("end", ["exit", "evict"])
def test_the_end_of_an_attempt_that_was_given_up_waits_for_a_document_that_is_away(
    where, how, end, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    attempt = walk.fetch(host)
    walk.accept(attempt)
    walk.update(attempt)
    walk.fold(host)
    attempt.is_given_up = True
    if how == "give_back":
        assert walk.give_back(host)
    elif how == "silence":
        walk.clock += 1000
        walk.call(host, "fetch-work", SLOT.merged({"Cpus": 0}))
    else:
        walk.call(host, "evict-claim", attempt.ad, lost=1 if how == "held" else 1000)
    walk.clock += 2
    walk.delete()
    if how == "a look between":
        assert walk.fetch(host) is None
    walk.ends(attempt, end)
    for _ in range(2):
        walk.fold(host)
        assert len([*(host.state / "spool").iterdir()]) == 1
    walk.undo()
    if end == "exit":
        assert walk.fetch(host) is None
    walk.fold(host)
    walk.check()
    assert walk.goes_on() == (end == "evict")


# decision 897
@WHERE
@pytest.mark.parametrize("comes_back", [True, False])
def test_an_end_waits_a_day_from_when_its_document_was_missed_however_old_it_is(
    where, comes_back, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    attempt = walk.fetch(host)
    walk.accept(attempt)
    walk.update(attempt)
    walk.fold(host)
    walk.ends(attempt, "exit")
    walk.clock += 2 * 86_400  # the machine was off
    walk.delete()
    for _ in range(2):
        walk.fold(host)
        assert len([*(host.state / "spool").iterdir()]) == 1
        walk.clock += 40_000
    walk.clock += 0 if comes_back else 40_000
    if comes_back:
        walk.undo()
        walk.fold(host)
        walk.check()
        assert not walk.goes_on()
    walk.fold(host)
    assert not [*(host.state / "spool").iterdir()]
    assert (host.state / "bad").exists() == (not comes_back)


# decision 905
HOW = ("given back", "rejected", "not started", "its claim is given up", "silent", "ended")


@pairwise(
    where=["a directory", "a store"],
    how=HOW,
    is_heard=[False, True],
    when=["before", "behind"],
)
def test_the_queue_knows_the_attempts_of_a_job_whose_document_is_away_for_a_while(
    where, how, is_heard, when, tmp_path, monkeypatch, capsys
):
    """The end of one counts that is told before its document goes, or behind that; also twice."""
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    if is_heard:
        walk.accept(first)
        walk.update(first)
        walk.fold(host)
    come_back(walk, host, first, how)
    walk.clock += 5
    if when == "before":
        walk.ends(first, "exit")
    walk.delete()
    assert walk.fetch(host) is None  # which looks at the documents
    walk.clock += 5
    walk.ends(first, "exit")
    for _ in range(2):
        walk.fold(host)
        walk.clock += 40_000
        assert len([*(host.state / "spool").iterdir()]) == 1
    walk.undo()
    assert walk.fetch(host) is None
    walk.fold(host)
    walk.fold(host)
    walk.check()
    assert not [*(host.state / "spool").iterdir()]
    assert (host.state / "bad").exists() == (when == "before")  # the second one
    assert queued(walk, host).startswith("done")
    assert not walk.goes_on()


def come_back(walk, host, attempt, how):
    """Let the queue believe that a slot has a job no more, or know that it has ended."""
    if how == "given back":
        assert walk.give_back(host)
    elif how == "rejected":
        walk.call(host, "reply-fetch", attempt.ad, "reject")
        if attempt.is_heard:  # nobody can
            assert walk.give_back(host)
    elif how == "not started":
        walk.call(host, "job-exit", attempt.ad, "evict")
        walk.fold(host)
    elif how == "its claim is given up":
        walk.call(host, "evict-claim", attempt.ad)
    elif how == "silent":
        walk.clock += 1000
        walk.call(host, "fetch-work", SLOT.merged({"Cpus": 0}))
    else:
        walk.ends(attempt, "exit")
        walk.fold(host)


@WHERE
@pytest.mark.parametrize("days", [0.9, 1.1])
@pytest.mark.parametrize("is_told", [False, True])
def test_a_job_whose_document_went_is_forgotten_after_a_day_unless_a_report_of_it_waits(
    where, days, is_told, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    assert walk.give_back(host)
    walk.delete()
    assert walk.fetch(host) is None
    if is_told:
        walk.clock += 43_200
        walk.ends(first, "exit")
        walk.fold(host)
    walk.clock += 86_400 * days - 43_200 * is_told
    assert walk.fetch(host) is None
    known = sqlite3.connect(host.state / "queue.db").execute("SELECT count(*) FROM attempt")
    assert known.fetchone() == (int(days < 1 or is_told),)
    walk.undo()
    assert (walk.fetch(host) is None) == is_told
    walk.fold(host)
    if is_told:
        walk.check()
    assert not [*(host.state / "spool").iterdir()]


@pytest.mark.parametrize(
    "changes, is_same",
    [({}, True), ({"<Id>7": "<Id>8"}, False), ({"/bin/true": "/bin/false"}, False),
     ({"amy": "bob"}, False), ({"<User>": "<Priority>3</Priority><User>"}, True)],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.xml", "b.xml"])
def test_a_job_that_comes_back_is_known_by_its_id_what_it_runs_and_its_user(
    changes, is_same, name, tmp_path, monkeypatch, capsys
):
    walk = Walk("a directory", tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    assert walk.give_back(host)
    walk.delete()
    assert walk.fetch(host) is None
    text = walk.deleted.decode()
    for old, new in changes.items():
        text = text.replace(old, new)
    (host.path / name).write_text(text)
    walk.is_deleted = False
    walk.ends(first, "exit")
    assert (walk.call(host, "fetch-work", SLOT) == b"") == is_same
    walk.fold(host)
    told = loads((host.path / name).read_bytes())
    assert told.get("State") == ("Completed" if is_same else "")


def test_a_job_that_is_new_is_not_one_of_whose_end_a_document_told_before(
    tmp_path, monkeypatch, capsys
):
    """Whoever puts it there again as it was wants it to run again."""
    walk = Walk("a directory", tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    first = walk.fetch(host)
    walk.accept(first)
    walk.ends(first, "exit")
    walk.fold(host)
    walk.delete()
    assert walk.fetch(host) is None
    (host.path / "a.xml").write_text(TEXT)
    walk.is_deleted = False
    walk.ends(first, "exit")
    walk.fold(host)
    assert walk.job().get("State") == ""
    walk.attempts.clear()
    assert walk.fetch(host) is not None


@WHERE
def test_give_back_folds_first_and_says_that_the_job_is_done(where, tmp_path, monkeypatch, capsys):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    attempt = walk.fetch(host)
    walk.accept(attempt)
    walk.ends(attempt, "exit")
    label = "Job/1/7" if walk.is_store else "a.xml"
    words = ["condor", "queue", "--documents", host.path, "--state", host.state, "--give-back"]
    found = CliRunner().invoke(sssjob, [*map(str, words), label])
    assert found.exit_code == 2
    assert "1 report folded" in found.output
    assert f"{label} is not given to a slot, and does not rest: it is done" in found.output
    unknown = CliRunner().invoke(sssjob, [*map(str, words), "z.xml"])
    assert "z.xml is not given to a slot, and does not rest: no job has this name" in unknown.output
    assert walk.fetch(host) is None


@WHERE
def test_a_report_of_an_end_that_waits_in_the_spool_keeps_a_job_that_was_given_back(
    where, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    attempt = walk.fetch(host)
    walk.accept(attempt)
    assert walk.give_back(host)
    walk.ends(attempt, "exit")
    assert walk.fetch(host) is None
    walk.fold(host)
    walk.check()


def set_state(walk, state):
    text = dumps(walk.job().setting(State=state))
    path = walk.hosts[0].path
    if walk.is_store:
        with store.open(str(path)) as made, made.change() as work:
            [found] = made.documents()
            work.put(text.encode(), replacing=work.get(found.identity))
    else:
        (path / "a.xml").write_text(text)


@WHERE
def test_a_job_that_somebody_set_back_after_its_end_runs_again_until_it_ends(
    where, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    first = walk.fetch(host)
    walk.accept(first)
    walk.ends(first, "exit")
    walk.fold(host)
    set_state(walk, "Idle")
    walk.attempts.clear()
    walk.clock += 100
    again = walk.fetch(host)
    walk.accept(again)
    walk.update(again)
    walk.ends(again, "evict")
    walk.fold(host)
    assert walk.job().get("State") == "Idle"
    assert walk.fetch(host) is not None


# decision 819
@pytest.mark.parametrize("how", ["cancelled", "deleted", "renamed", "another"])
def test_a_document_that_changes_between_look_and_claim_is_not_given_away_as_it_was(
    how, tmp_path, monkeypatch, capsys
):
    walk = Walk("a directory", tmp_path, monkeypatch, capsys)
    [host] = walk.hosts
    path, taken, is_next = host.path / "a.xml", programs._taken, [True]

    def slow(*given):
        if is_next and is_next.pop():
            if how == "cancelled":
                path.write_text(TEXT.replace("</Job>", "<State>Cancelled</State></Job>"))
            elif how == "another":
                path.write_text(TEXT.replace("true", "false"))
            elif how == "renamed":
                path.rename(host.path / "b.xml")
            else:
                path.unlink()
        return taken(*given)

    monkeypatch.setattr(programs, "_taken", slow)
    found = walk.fetch(host)
    assert (found is not None) == (how in ("another", "renamed"))
    assert how != "another" or found.ad["Cmd"] == "/bin/false"
    assert len(host.jobs("offered")) == (found is not None)


def test_a_document_that_changes_all_the_time_keeps_no_other_from_a_slot(
    tmp_path, monkeypatch, capsys
):
    walk = Walk("a directory", tmp_path, monkeypatch, capsys)
    [host] = walk.hosts
    (host.path / "b.xml").write_text(TEXT.replace(">7<", ">8<"))
    taken, count = programs._taken, iter(range(100))

    def slow(settings, queue, job, *more):
        if job.document == "a.xml":
            (host.path / "a.xml").write_text(TEXT.replace("true", f"true{next(count)}"))
        return taken(settings, queue, job, *more)

    monkeypatch.setattr(programs, "_taken", slow)
    assert walk.fetch(host).ad["SSSJobId"] == "8"
    walk.attempts.clear()
    assert walk.fetch(host) is None
    assert next(count) < 10


# decision 849


class Heeding(Walk):
    """Nobody gives back what a startd may still take, or took: only the queue would know of it."""

    def give_back(self, host):
        if all(each.is_heard or each.is_over for each in self.attempts):
            super().give_back(host)


def loses_its_queue(walk, host):
    """What only the spool knows is folded before."""
    walk.fold(host)
    (host.state / "queue.db").unlink(missing_ok=True)


@pytest.mark.parametrize("seed", range(cases(20)))
def test_a_queue_that_was_lost_loses_no_end_and_doubles_no_job(seed, tmp_path, monkeypatch, capsys):
    draw = random.Random(seed)
    walk = Heeding("a directory", tmp_path, monkeypatch, capsys, draw)
    walk.silence = 100_000
    for _ in range(3):
        for _ in range(draw.randrange(15)):
            walk.step()
        loses_its_queue(walk, walk.hosts[0])
    for _ in range(15):
        walk.step()
    walk.fold(walk.hosts[0])
    walk.check()
    is_done = any(each.end == "exit" for each in walk.attempts)
    # Of claims that were given up nobody knows where the queue was lost: silence tells.
    is_next = walk.goes_on() or walk.goes_on()
    assert is_next == (not is_done)
    walk.check()


@pairwise(
    where=["a directory", "a store"],
    is_heard=[False, True],
    first=["exit", "evict"],
    second=["exit", "evict", "claim_ends"],
)
def test_both_attempts_are_known_though_the_queue_was_lost_between_their_ends(
    where, is_heard, first, second, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    one = walk.fetch(host)
    walk.accept(one)
    walk.update(one)
    assert walk.give_back(host)
    walk.clock += 20
    copy = walk.fetch(host)
    walk.accept(copy)
    if is_heard:
        walk.update(copy)
    walk.fold(host)
    if second == "claim_ends":
        copy.is_over = True
        walk.claim_ends(copy)
    else:
        walk.ends(copy, second)
    ends = [*(host.state / "spool").iterdir()]
    kept = [(path.name, path.read_bytes(), path.stat()) for path in ends]
    for path in ends:
        path.unlink()
    walk.ends(one, first)
    loses_its_queue(walk, host)
    for name, text, status in kept:
        path = host.state / "spool" / name
        path.write_bytes(text)
        path.chmod(status.st_mode & 0o777)
        os.utime(path, (walk.clock, walk.clock))
    for each in walk.hosts:
        walk.fold(each)
    walk.check()
    assert not [*host.state.glob("bad/*")]


@WHERE
@pytest.mark.parametrize("state", ["Cancelled", "Hold", "Completed"])
def test_the_end_of_a_job_whose_state_somebody_set_is_told_though_the_queue_was_lost(
    where, state, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    host = walk.hosts[0]
    one = walk.fetch(host)
    walk.accept(one)
    walk.update(one)
    walk.fold(host)
    set_state(walk, state)
    loses_its_queue(walk, host)
    walk.ends(one, "exit")
    walk.fold(host)
    assert walk.job().get("ExitCode") == "1"
    assert all(walk.fetch(each) is None for each in walk.hosts)


# decision 845


def lost(walk, host, most=3):
    """One more attempt, whose machine dies after its start; None where no slot gets the job."""
    attempt = walk.fetch(host)
    if attempt is not None:
        walk.accept(attempt)
        walk.update(attempt)
        walk.fold(host)
        walk.clock += 10
        attempt.is_over = True
        walk.call(host, "evict-claim", attempt.ad, lost=most, pause=30)
    return attempt


def queued(walk, host):
    words = ["condor", "queue", "--documents", str(host.path), "--state", str(host.state)]
    return CliRunner().invoke(sssjob, words).stdout


@WHERE
def test_a_job_whose_machine_dies_at_each_start_rests_ever_longer_and_is_held_at_last(
    where, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    for rest in (30, 60):
        assert lost(walk, host)
        walk.clock += rest - 1
        assert walk.fetch(host) is None
        walk.clock += 2
    assert lost(walk, host)
    walk.clock += 10_000
    assert lost(walk, host) is None
    walk.fold(host)
    reason = "held after 3 attempts: it was lost: its claim was given up"
    assert reason in queued(walk, host)
    job = walk.job()
    assert (job.get("State"), job.get("Hold")) == ("Hold", "System")
    assert job.get("StatusMessage").startswith(reason)
    for group in job.task_groups:
        assert "held" not in group.get("StatusMessage")
    assert walk.give_back(host)
    for _ in range(3):
        assert lost(walk, host)
        walk.clock += 10_000
    assert lost(walk, host) is None


@WHERE
@pytest.mark.parametrize("how", ["evict", "a late update"])
def test_an_attempt_that_tells_of_itself_ends_the_row_of_those_that_were_lost(
    where, how, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    for _ in range(2):
        attempt = lost(walk, host)
        walk.clock += 100
    if how == "evict":
        attempt = walk.fetch(host)
        walk.accept(attempt)
        walk.ends(attempt, "evict")
    else:
        attempt.is_over = False
        walk.update(attempt)  # it runs after all
        walk.fold(host)
        walk.clock += 10
        assert walk.fetch(host) is None
        walk.ends(attempt, "evict")
    walk.fold(host)
    for _ in range(3):
        assert lost(walk, host)
        walk.clock += 10_000
    assert lost(walk, host) is None


@WHERE
def test_a_job_that_is_held_and_runs_after_all_is_given_to_nobody(
    where, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    attempt = lost(walk, host, most=1)
    walk.fold(host)
    assert walk.job().get("State") == "Hold"
    walk.clock += 100
    attempt.is_over = False
    walk.update(attempt)
    walk.fold(host)
    assert walk.fetch(host) is None
    assert walk.job().get("State") == "Running"
    walk.ends(attempt, "exit")
    walk.fold(host)
    walk.check()
    assert walk.fetch(host) is None


# decision 847
@WHERE
@pytest.mark.parametrize("how", ["before", "with", "behind"])
@pytest.mark.parametrize("is_told", [True, False])
def test_a_held_job_runs_by_an_update_that_was_left_since_then_and_by_no_other(
    where, how, is_told, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    walk.clock = float(int(walk.clock)) + 0.25  # within one second
    [host, *_] = walk.hosts
    attempt = lost(walk, host, most=1)
    if is_told:
        walk.fold(host)
    walk.clock += {"before": -0.125, "with": 0, "behind": 0.125}[how]
    walk.update(attempt)
    walk.clock += 0.25
    for _ in range(2):
        walk.fold(host)
        assert walk.fetch(host) is None
        job = walk.job()
        if how == "behind":
            assert (job.get("State"), job.get("Hold")) == ("Running", "")
            assert queued(walk, host).split() == ["running", *queued(walk, host).split()[1:2]]
        else:
            assert (job.get("State"), job.get("Hold")) == ("Hold", "System")
            assert queued(walk, host).startswith("held")
    walk.ends(attempt, "exit")
    walk.fold(host)
    walk.check()


@WHERE
def test_a_report_that_comes_behind_the_hold_says_no_more_than_that_it_was_not_started(
    where, tmp_path, monkeypatch, capsys
):
    walk = Walk(where, tmp_path, monkeypatch, capsys)
    [host, *_] = walk.hosts
    attempt = walk.fetch(host)
    walk.accept(attempt)
    walk.call(host, "evict-claim", attempt.ad, attempts=1)
    walk.fold(host)
    walk.clock += 10
    walk.never_started(attempt)
    walk.fold(host)
    assert walk.fetch(host) is None
    assert walk.job().get("State") == "Hold"
    assert queued(walk, host).startswith("held")


def test_a_schedd_runs_a_job_again_as_it_likes_whatever_is_told_late_of_an_earlier_start():
    job = loads(TEXT)
    for at, kind in ((2000, "update"), (1000, "exit-exit")):
        ran = {"GlobalJobId": "s#7.0#1", "JobPid": 7, "JobCurrentStartDate": at, "JobDuration": 5.0}
        job = reports.reported(job, Ad(ran), kind, at + 5)
    assert job.get("State") == "Running"
