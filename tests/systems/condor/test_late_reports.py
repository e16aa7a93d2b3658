"""A report speaks of one attempt; what it changes of a job and its queue it changes for that one.

Machines are off for a while, are given up, and come back with what they left in their spools.
"""

import os
import random
import sys
import time

import pytest
from condor_site import SLOT, Site
from draws import cases

from sssjob import store
from sssjob.classads import forms
from sssjob.document import loads
from sssjob.systems.condor.hooks import programs, reports
from sssjob.systems.condor.hooks.queue import OpenQueue
from sssjob.systems.condor.hooks.settings import HookSettings

TEXT = "<Job><Id>7</Id><User>amy</User><Executable>/bin/true</Executable>{}</Job>"
LIMIT = 50_000  # seconds that a job with a Duration may run
SILENCE = 900


class Run:
    """An attempt as the machine that has it sees it."""

    def __init__(self, host, ad):
        self.host, self.ad = host, ad
        self.is_accepted = self.is_heard = self.is_over = self.is_lost = False


class World:
    """One job, in a directory that one machine serves, or in a store that two do."""

    def __init__(self, where, draw, tmp_path, monkeypatch, capsys):
        self.draw, self.clock = draw, time.time()
        monkeypatch.setattr(time, "time", lambda: self.clock)
        self.is_limited = draw.random() < 0.5
        asked = f"<Requested><Duration>{LIMIT}</Duration></Requested>" if self.is_limited else ""
        path = tmp_path / "jobs"
        if where == "a store":
            with store.open(str(path), create=True) as made, made.change() as work:
                work.put(TEXT.format(asked).encode())
        else:
            path.mkdir()
            (path / "a.xml").write_text(TEXT.format(asked))
        self.hosts = []
        for number in range(2 if where == "a store" else 1):
            host = Site(path, monkeypatch, capsys)
            host.state = tmp_path / f"state{number}" if where == "a store" else host.state
            host.is_on = True
            self.hosts.append(host)
        self.runs = []
        self.has_ended = False  # by an attempt that nobody gave up
        self.may_have_ended = False

    def call(self, host, hook, ad, *words, fold="now"):
        return host.call(hook, ad, *words, state=str(host.state), fold=fold, attempts=1000)

    def fetch(self, host):
        """Ask for a job; it is given to nobody while an attempt is out that nobody gave up."""
        answer = self.call(host, "fetch-work", SLOT)
        found = forms.read_text(answer.decode(), strict=True)
        if found:
            out = [run.ad["SSSKey"] for run in self.runs if not run.is_over | run.is_lost]
            assert not out
            assert not self.has_ended
            self.runs.append(Run(host, found[0]))
            chance = self.draw.random()
            if chance < 0.1:
                self.call(host, "reply-fetch", found[0], "reject")
                self.runs[-1].is_over = True
            else:
                self.call(host, "reply-fetch", found[0], "accept")
                self.runs[-1].is_accepted = True
        return bool(found)

    def report(self, run, hook, *words, ago=0.0, **told):
        """Leave a report some time ago, which is folded now or some time."""
        fold = "never" if ago else self.draw.choice(["now", "never"])
        began = int(run.ad["SSSFetched"])
        ad = run.ad.merged({"JobPid": 7, "JobStartDate": began, **told})
        if words:
            ad = ad.merged({"JobDuration": 10.0, "RemoteUserCpu": 5.0, "ExitCode": 3})
        before = self.spooled(run.host)
        self.call(run.host, hook, ad, *words, fold="never")
        moment = max(self.clock - ago, began + 1)
        for path in self.spooled(run.host) - before:
            os.utime(path, (moment, moment))
        run.is_heard = True
        if fold == "now":
            self.fold(run.host)

    def spooled(self, host):
        return set((host.state / "spool").iterdir())

    def fold(self, host):
        with OpenQueue(HookSettings(str(host.path), str(host.state))) as queue:
            reports.fold(HookSettings(str(host.path), str(host.state)), queue, say=lambda text: 0)

    def end(self, run, how, ago=0.0):
        if how == "no word":
            self.call(run.host, "evict-claim", run.ad)
        elif how == "not started":
            fold = self.draw.choice(["now", "never"])
            self.call(run.host, "job-exit", run.ad, "evict", fold=fold)
        else:
            self.report(run, "job-exit", how, ago=ago)
        run.is_over = True
        if how == "exit":
            self.has_ended = self.has_ended or not run.is_lost
        is_long = self.is_limited and self.clock - int(run.ad["SSSFetched"]) > LIMIT
        self.may_have_ended = self.may_have_ended or is_long or how == "exit"

    def go_on(self, seconds):
        """Time passes; who lives reports."""
        self.clock += seconds
        for run in self.out():
            if run.host.is_on:
                self.report(run, "update-job-info")

    def out(self):
        return [run for run in self.runs if not run.is_over]

    def turn_off(self, host):
        """A machine is off until its job is given up, by a person or when its time is over."""
        host.is_on = False
        other = next((each for each in self.hosts if each.is_on), None)
        self.go_on(2 * LIMIT if self.is_limited else 5000)
        for run in self.out():  # those of another machine, too, whose time is over
            run.is_lost = run.is_lost or self.is_limited or run.host is host
        if other is not None and not self.is_limited:
            self.give_back(other)

    def give_back(self, host):
        """What ``condor queue --give-back`` does."""
        from sssjob.cli.condor.queue import _give_back

        settings = HookSettings(str(host.path), str(host.state))
        label = "Job/1/7" if len(self.hosts) > 1 else "a.xml"
        try:
            _give_back(settings, label)
        except SystemExit:
            return  # it is nobody's
        for run in self.out():
            run.is_lost = True

    def turn_on(self, host):
        """A machine comes back: what ran there left reports, lives on, or is gone with no word."""
        host.is_on = True
        for run in [each for each in self.out() if each.host is host]:
            chance = self.draw.random()
            if chance < 0.3:
                self.end(run, self.draw.choice(["evict", "exit"]), ago=self.draw.uniform(0, 4000))
            elif chance < 0.5:
                self.report(run, "update-job-info", ago=self.draw.uniform(1, 4000))
            elif chance < 0.7:
                self.end(run, self.draw.choice(["no word", "not started"]))
            else:
                self.report(run, "update-job-info")

    def job(self):
        if len(self.hosts) == 1:
            return loads((self.hosts[0].path / "a.xml").read_bytes())
        with store.open(str(self.hosts[0].path), read_only=True) as made:
            [found] = made.documents()
            return loads(made.get(found.identity).document)

    def step(self):
        chance = self.draw.random()
        host = self.draw.choice(self.hosts)
        off = [each for each in self.hosts if not each.is_on]
        if chance < 0.45:
            if host.is_on:
                self.fetch(host)
        elif chance < 0.6:
            self.go_on(self.draw.choice([61, 300]))
        elif chance < 0.75:
            for run in self.out()[:1]:
                if run.host.is_on:
                    how = self.draw.choice(["evict", "evict", "no word", "not started", "exit"])
                    self.end(run, how)
        elif chance < 0.85:
            if host.is_on:
                self.fold(host)
        elif off:
            self.turn_on(off[0])
        else:
            self.turn_off(host)


@pytest.mark.parametrize("where", ["a directory", "a store"])
@pytest.mark.parametrize("seed", range(cases(12)))
def test_no_report_gives_away_a_job_that_another_attempt_runs(
    where, seed, tmp_path, monkeypatch, capsys
):
    world = World(where, random.Random(seed), tmp_path, monkeypatch, capsys)
    for _ in range(40):
        world.step()
        if world.has_ended:
            break
    for host in world.hosts:
        if not host.is_on:
            world.turn_on(host)
    for host in world.hosts:
        world.fold(host)
    world.go_on(61)
    for run in world.out():
        if run.is_lost:  # what was given up ends, some time
            world.end(run, "evict")
    for run in world.out():
        world.end(run, "exit")
    for host in world.hosts:
        world.fold(host)
    for _ in range(4):
        world.clock += 2 * SILENCE
        for host in world.hosts:
            if not world.out() and world.fetch(host):
                for run in world.out():
                    world.end(run, "exit")
                world.fold(host)
    job = world.job()
    assert job.get("State") == "Completed"
    assert world.may_have_ended
    started = [run for run in world.runs if run.is_heard]
    assert int(job.get("StartCount")) == len(started)


class Chosen(World):
    """A world in which nothing happens by chance: each report is folded at once."""

    def __init__(self, where, *around):
        super().__init__(where, random.Random(0), *around)

    def one_runs_while_another_is_heard_late(self):
        """The first attempt was given up, and another one runs; both are given back."""
        one, two = self.hosts
        assert self.fetch(one)
        self.clock += 2 * LIMIT
        self.give_back(two)
        self.runs[0].is_lost = True
        assert self.fetch(two)
        assert all(run.is_accepted for run in self.runs)
        return self.runs


@pytest.mark.parametrize("late", ["evict", "no word", "not started", "update"])
@pytest.mark.parametrize("heard", [False, True])
def test_a_machine_that_comes_back_gives_its_own_claim_up_and_nobody_elses(
    late, heard, tmp_path, monkeypatch, capsys
):
    world = Chosen("a store", tmp_path, monkeypatch, capsys)
    old, new = world.one_runs_while_another_is_heard_late()
    if heard:
        world.report(new, "update-job-info")
        world.fold(new.host)
    world.report(old, "update-job-info") if late == "update" else world.end(old, late)
    world.fold(old.host)
    for _ in range(3):
        assert not world.fetch(old.host)
        world.clock += 61
    assert [name.text for name in world.job().properties.all("State")] in (["Running"], [])
    world.end(new, "exit")
    world.fold(new.host)
    assert world.job().get("State") == "Completed"


def test_a_late_report_sets_no_job_free_that_later_attempts_could_not_start(site):
    site.add("a.xml", "<User>amy</User>")
    ads = []
    for _ in range(3):
        ads += site.fetch()
        site.call("reply-fetch", ads[-1], "accept")
        site.call("evict-claim", ads[-1], attempts=3)
    assert site.fold()[1] == []
    held = site.job("a.xml")
    assert held.get("State") == "Hold"
    for ad, state in ((ads[0], "Hold"), (ads[2], "Idle")):
        ran = ad.merged({"JobPid": 7, "JobStartDate": int(ad["SSSFetched"]), "JobDuration": 10.0})
        site.call("job-exit", ran, "evict")
        assert site.job("a.xml").get("State") == state
        assert len(site.fetch()) == (state == "Idle")


# decision 817
@pytest.mark.parametrize("how", ["exit", "evict", "no word", "changed"])
def test_a_job_is_not_given_away_by_what_was_read_of_it_before_another_machine_had_it(
    how, tmp_path, monkeypatch, capsys
):
    """A hook is slow: between its look and its claim another machine has the job, and is done."""
    world = Chosen("a store", tmp_path, monkeypatch, capsys)
    one, two = world.hosts
    is_next, taken = [True], programs._taken

    def slow(*given):
        if is_next.pop() if is_next else False:
            before = sys.stdin, sys.stdout
            if how == "changed":
                with store.open(str(one.path)) as made, made.change() as work:
                    [found] = made.documents()
                    text = TEXT.format("<Hold>User</Hold>").encode()
                    work.put(text, replacing=work.get(found.identity))
            else:
                assert world.fetch(one)
                world.end(world.runs[0], how)
                world.fold(one)
            sys.stdin, sys.stdout = before
        return taken(*given)

    monkeypatch.setattr(programs, "_taken", slow)
    assert world.fetch(two) == (how in ("evict", "no word"))  # by what it has read by then
    assert len(world.runs) == {"exit": 1, "changed": 0}.get(how, 2)
