"""What hooks reported, folded into the jobs: states, attempts, and what was used.

Reports may come twice, late, or not at all. Each is about one start of a job; what is known of a
start only grows, and a start that is new is counted. The starts are kept (``starts``), so that sums
over them can be made again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from sssjob import units
from sssjob.classads import evaluate, hook_ads
from sssjob.classads.values import Ad
from sssjob.document import dumps
from sssjob.errors import SSSJobError
from sssjob.fold import JOB, Fact, is_more
from sssjob.fold import fold as folded
from sssjob.model import Delivered, Item, Job, Property, without
from sssjob.records.lines import clean
from sssjob.states import COMPLETED, has_ended, spelled
from sssjob.systems.condor import names, usage
from sssjob.systems.condor.from_ad import to_job
from sssjob.systems.condor.hooks import holds, offers, stamp, starts
from sssjob.systems.condor.hooks.candidates import looked
from sssjob.systems.condor.hooks.documents import Claim, Documents, asks, documents
from sssjob.systems.condor.hooks.limits import held_until, overran
from sssjob.systems.condor.hooks.queue import (
    DONE,
    HELD,
    RETURNED,
    RUNNING,
    TAKEN,
    WAITING,
    Attempt,
    JobQueue,
)
from sssjob.systems.condor.hooks.queue import SpoolJob as Queued
from sssjob.systems.condor.hooks.settings import GONE, HookSettings, fault_told
from sssjob.systems.condor.hooks.spool import NotAReport, Spool, SpooledReport
from sssjob.systems.condor.hooks.starts import Start
from sssjob.systems.condor.hooks.trust import NOBODY, Untrusted, reporters
from sssjob.systems.condor.hooks.vetting import believed
from sssjob.users import user_id, user_name

Say = Callable[[object], None]

# fmt: off
# How a start ended, by the argument of the hook: the State, and what is said of it.
ENDS = {
    "exit":   ("Completed", ""),
    "remove": ("Completed", "removed"),
    "hold":   ("Hold",      ""),
    "evict":  ("Idle",      "evicted"),
}
# And where the job goes then.
PLACES = {"exit": DONE, "remove": DONE, "hold": WAITING, "evict": RETURNED}
# fmt: on
# What of a report says what became of a job.
_LEAST = (
    names.KEY,
    names.FETCHED,
    "JobPid",
    "JobStartDate",
    "JobDuration",
    "ExitBySignal",
    "ExitCode",
    "ExitSignal",
)  # fmt: skip
KINDS = ("update", *(f"exit-{end}" for end in ENDS))
TOGETHER = 64 << 20  # bytes of reports that are folded in one go
STRANGE = 100  # reports of a user that wait for jobs of which nothing is known


@dataclass(frozen=True, slots=True)
class ReportedJob:
    """What a report tells: which hook it is from, and the job of the queue that it is about."""

    report: SpooledReport
    ad: Ad
    kind: str
    job: Queued | None = None  # None: one of a schedd
    attempt: int = 0
    owner: str = ""  # as whom the attempt was given away
    asks: str = ""  # what tells the job of then from another, empty where it was not noted
    is_earlier: bool = False  # whether its job was given away again behind it
    is_over: bool = False  # whether its document told of the attempt, and it is not out any more
    is_known: bool = False  # whether its document told of the attempt before
    back: tuple[str, float] | None = None  # where a job is of which no attempt is out, since when

    # decision 847
    @property
    def is_past(self) -> bool:
        """Whether its job came back from the attempt for all that it tells: it moves nothing.

        The document and the queue both go by this answer.
        """
        if self.back is None:
            return self.is_earlier and self.kind == "update"
        state, since = self.back
        if self.kind == "update":  # only one that was left since then says that it runs after all
            return self.report.left <= since
        return state == HELD and _failed(self.ad, self.kind, self.report.moment)


def fold(
    settings: HookSettings,
    queue: JobQueue,
    *,
    say: Say,
    until: float | None = None,
    wait: bool = True,
) -> tuple[int, int]:
    """Fold every report in the spool; ``until`` is when to stop.

    Gives how many were folded, and how many were refused.

    A report counts if it was left by the user of the job, root, the owner of the queue, or whom
    the site trusts. One about a job that the queue gave away goes into the document that this job
    stands in; one about a job of a schedd into a document of its own, which cannot run. Every
    other one is said and set aside. Where a document cannot be written, its reports wait.
    """
    count = 0
    with queue.alone(wait=wait), Spool(queue.state, say) as spool:
        work = _ReportFold(settings, queue, spool, say)
        size = 0
        began = time.time()
        # What was read has to be folded in the same time.
        enough = None if until is None else began + (until - began) / 2
        for report in spool.reports(began):
            if enough is not None and time.time() > enough:
                break
            work.take(report, until)
            size += len(report.text)
            if size > TOGETHER:
                count, size = count + work.write(until), 0
        count += work.write(until)
        # Behind all others: anybody may leave reports about nothing known.
        for report in work.of_nothing_known(until):
            work.take(report, until)
            size += len(report.text)
            if size > TOGETHER:
                count, size = count + work.write(until), 0
        count += work.write(until)
        work.tell_held()
        spool.tell_staying(queue.is_news)
        tell_taken(settings, queue, say)
        return count, spool.refused


class _TooEarly(Exception):
    """No document tells of the job yet: not all were looked at, or its own may come back.

    Or nobody has told the queue yet whom hooks trust.
    """


class _Later(NamedTuple):
    """A report about an attempt of which the queue knows nothing."""

    uid: int
    name: str
    moment: int
    key: int
    attempt: int


class _ReportFold:
    """Reports that are taken one by one, and written together, a document at a time."""

    def __init__(self, settings: HookSettings, queue: JobQueue, spool: Spool, say: Say) -> None:
        self._settings, self._queue, self._spool, self._say = settings, queue, spool, say
        self._source: Documents = documents(settings)
        self._source.tidy()
        self._trust = reporters(settings)
        self._is_new = queue.is_new(time.time())
        self._waiting: dict[str, list[ReportedJob]] = {}  # by document
        self._apart: list[ReportedJob] = []  # about jobs of a schedd
        self._began: set[tuple[int, int]] = set()  # attempts of which earlier reports tell more
        self._over: set[tuple[int, int]] = set()  # and those that have ended by one of them
        self._standing: set[tuple[int, int]] = set()  # those that stand in a document by now
        self._overtaken: set[tuple[int, int]] = set()  # behind which its document tells of another
        self._has_looked = False  # for jobs of which the queue knows nothing
        self._later: list[_Later] = []  # reports of these
        self._lost: list[ReportedJob] = []  # whose jobs are not where they were
        self._released: list[Claim] = []  # of attempts whose jobs came back
        self._kept: list[tuple[Claim, float]] = []  # and of those that run after all
        self._resumed: list[Claim] = []  # and of those that do so as a later one came back
        self._unknown: Counter[int] = Counter()  # how many of each user are about nothing known
        self._shares: Counter[int] = Counter()  # how many reports each user left

    def take(self, report: SpooledReport, until: float | None) -> None:
        """Take a report if it counts."""
        try:
            told = self._told(report)
        except _TooEarly:
            return  # it waits
        except (NotAReport, Untrusted) as error:
            self._refuse(report, error)
            return
        except OSError:  # no fault of a report
            raise
        except Exception as fault:  # of ours, whichever it is: any user may leave reports
            self._refuse(report, NotAReport(fault_told(fault), keep=True))
            return
        self._shares[report.uid] += 1
        if told.job is None:
            self._apart.append(told)
        else:
            self._waiting.setdefault(told.job.document, []).append(told)

    def write(self, until: float | None) -> int:
        """Write what was taken, and give how many reports that were."""
        done: list[ReportedJob] = []
        for document, all_told in sorted(self._waiting.items(), key=self._share):
            if until is None or time.time() < until:
                done += self._documented(document, all_told, until)
        done += self._found_again(until)
        with self._queue.changing():
            for key, attempt in self._standing:
                self._queue.note_attempt(key, attempt)
            for told in done:
                self._move(told)
        if self._released:  # which other machines may have then, too
            self._source.release(*self._released)
            self._released = []
        for claim, until in self._kept:
            self._source.keep(claim, until)
        for claim in self._resumed:
            self._source.keep(claim, self._source.claimed(claim.ticket) or 0)
        self._kept, self._resumed = [], []
        for told in sorted(self._apart, key=lambda told: self._shares[told.report.uid]):
            if until is None or time.time() < until:
                done += self._apart_from_queue(told)
        for told in done:  # not before all that it tells is kept
            self._spool.remove(told.report.name)
        self._waiting, self._apart = {}, []
        return len(done)

    def tell_held(self) -> None:
        """Write into the documents of jobs that are held that they are, and why."""
        for held in self._queue.held_untold():
            told, ticket = held.reason, names.ticket(held.key, held.attempt)

            def change(job: Job, told: str = told, ticket: str = ticket) -> Job:
                # By an attempt of another machine; or an earlier one came to its end.
                if starts.is_overtaken(job, ticket) or has_ended(job.get):
                    return job
                facts = [*holds.properties(told), starts.mark(names.HELD, ticket)]
                new = starts.apart(starts.without_taken(job))
                return folded(new, map(_renewed, facts), overwrite=True).job

            if _changed(self._source, self._queue, held, change, self._say):
                self._queue.note_told(held)

    def _share(self, item: tuple[str, list[ReportedJob]]) -> int:
        """Those who left few reports come first: nobody keeps the others waiting."""
        return min(self._shares[told.report.uid] for told in item[1])

    def _told(self, report: SpooledReport) -> ReportedJob:
        """What a report tells. Raises ``NotAReport``, ``Untrusted`` and ``_TooEarly``."""
        # One odd character costs no report.
        ad = next(iter(hook_ads.read(clean(report.text).encode())), Ad())
        kind, text = ad.text(names.REPORT), ad.text(names.KEY)
        if kind not in KINDS:
            raise NotAReport("it is no report of a hook", keep=True)
        if not text and names.is_of_schedd(ad.text("GlobalJobId")):
            return ReportedJob(report, self._believed(report, ad, None), kind)
        key, attempt = names.of_ticket(text) or (0, 0)
        job = self._queue.job(key)
        if key and (job is None or not self._queue.gave(job, attempt)) and not self._has_looked:
            # Where a queue was lost, or is an old one, documents say what ran.
            self._later.append(_Later(report.uid, report.name, report.moment, key, attempt))
            raise _TooEarly
        known = self._queue.attempt(key, attempt)
        if job is None or (known is None and (attempt != job.attempt or not job.given)):
            is_early = self._is_new and names.given_at(attempt) > 0
            if (kind != "update" and self._may_come(report, key, attempt)) or is_early:
                raise _TooEarly
            raise NotAReport(f"no job was given to a slot as {text[:60]!r}", keep=True)
        owner = job.given if known is None else known.owner
        if self._is_new and not self._trust.counts(report.uid, owner):
            raise _TooEarly
        self._trust.check(report.uid, owner)
        is_out = job.state in TAKEN and job.attempt == attempt
        return ReportedJob(
            report, self._believed(report, ad, known), kind, job, attempt, owner,
            asks=job.asks if known is None or (is_out and not known.asks) else known.asks,
            is_earlier=attempt < job.attempt,
            is_over=known is not None and known.is_seen and not is_out,
            is_known=known is not None and known.is_seen,
            back=self._queue.came_back(key),
        )  # fmt: skip

    # decision 716
    def of_nothing_known(self, until: float | None) -> Iterator[SpooledReport]:
        """The reports of which nothing was known, when documents were looked at for them.

        None if the time ran out before all documents were looked at, which goes on the next time.
        """
        later, self._later = self._later, []
        if not later or (until is not None and time.time() > until):
            return
        now = time.time()
        # What was given away from a store shows by its report alone.
        wait = () if self._source.owned else self._unsought(later, now)
        is_new = any(each.moment + self._settings.refresh > now for each in later)
        is_known = not is_new and stamp.is_fresh(self._settings, self._queue, now)
        if not is_known and not looked(self._settings, self._queue, until=until, say=self._say):
            return
        self._queue.has_sought()
        self._has_looked = True
        place = [(each.uid, each.name) for each in later if each.name not in wait]
        yield from self._spool.read(place, lambda uid: True)

    def _unsought(self, later: Sequence[_Later], now: float) -> Collection[str]:
        """Have all documents of a store read again, if that may show what some reports are about.

        Only those that came since that was done last, of attempts that a claim tells of, and not
        more often than documents are looked at. Gives those by name that wait for the next time.
        """
        seconds = self._settings.seconds  # in which a hook has left its report
        sought = self._queue.sought(now)
        new = [
            each for each in later
            if (sought is None or each.moment + seconds > sought)
            and self._queue.attempt(each.key, each.attempt) is None  # else its job may be back
        ]  # fmt: skip
        tickets = [names.ticket(each.key, each.attempt) for each in new]
        if not new or self._source.claimed(*tickets) is None:
            return ()
        if self._queue.seek(now, self._settings.refresh):
            return ()
        return {each.name for each in new}

    # decision 660, 713
    def _may_come(self, report: SpooledReport, key: int, attempt: int) -> bool:
        """Whether a report waits for the document of a job of which nothing is known here.

        Where the queue was lost only that tells of the attempt, and it may be away. A few of each
        user do so: anybody may leave reports of jobs that never were.
        """
        ticket = names.ticket(key, attempt)
        both = ticket, _of_user(ticket, report.uid)
        if any(self._has_waited(each, report) for each in both):
            for each in both:
                self._queue.awaits_no_more(each)
            return False
        if self._queue.is_awaited(ticket, report.name):
            return True
        given_at = names.given_at(attempt) / 1000
        known = self._queue.attempt(key, attempt)
        is_known = known is not None and self._trust.counts(report.uid, known.owner)
        self._unknown[report.uid] += not is_known
        if not 0 < given_at < report.moment + 1 or (
            not is_known and self._unknown[report.uid] > STRANGE
        ):
            return False
        ticket = _of_user(ticket, report.uid)
        if self._queue.is_awaited(ticket, report.name):
            return True
        if not self._queue.awaits(ticket, report.name, time.time()):
            return False
        message = f"no document tells of {names.ticket(key, attempt)} yet; it waits for {GONE} s"
        self._spool.tell(report.name, message)
        return True

    def _has_waited(self, ticket: str, report: SpooledReport) -> bool:
        """Whether a report has waited long enough for the job of a ticket."""
        since = self._queue.awaited(ticket, report.name)
        return since is not None and since + GONE < time.time()

    def _believed(self, report: SpooledReport, ad: Ad, known: Attempt | None) -> Ad:
        return believed(ad, report.moment, known, lambda text: self._spool.tell(report.name, text))

    def _documented(
        self, document: str, all_told: list[ReportedJob], until: float | None
    ) -> list[ReportedJob]:
        """Fold into one document, and give the reports that are done with."""
        early = [told for told in all_told if _is_early(told)]
        about: dict[tuple[int, str], list[ReportedJob]] = {}
        for told in all_told:
            if told.job is not None and not _is_early(told):
                about.setdefault((told.job.number, told.job.id), []).append(told)
        done: list[ReportedJob] = []
        seen: dict[str, list[int]] = {}  # the numbers of jobs by their Ids

        def change(number: int, job: Job, whose: int | None) -> Job:
            seen.setdefault(job.id, []).append(number)
            every = about.pop((number, job.id), [])
            strange = [told for told in every if not self._is_about(told, job, whose)]
            if strange:
                about[number, job.id] = strange
            for told in every:
                if until is not None and time.time() > until:
                    break  # the rest waits
                if told not in strange:
                    assert told.job is not None
                    if (known := starts.of_job(job).get(told.ad.text(names.KEY))) is not None:
                        ticket = (told.job.key, told.attempt)
                        (self._over if known.ended else self._began).add(ticket)
                    job = self._within(self._without_idle(job, told), told)
                    if told.ad.text(names.KEY) in starts.of_job(job):
                        self._standing.add((told.job.key, told.attempt))
                    done.append(told)
            return job

        waiting = sum(map(len, about.values()))
        try:
            if about:
                self._source.change(document, change, _uid(self._queue, document))
            if about := _moved(about, seen):
                self._source.change(document, change, _uid(self._queue, document))
        except (SSSJobError, OSError) as error:
            self._say(f"{document}: {error}; {waiting} reports wait")
            return early
        self._lost += (each for rest in about.values() for each in rest)
        return early + done

    def _found_again(self, until: float | None) -> list[ReportedJob]:
        """Reports whose jobs are no longer where they were, but in a document of another name.

        Gives those that are folded; the others are refused.
        """
        if not self._lost:
            return []
        looked(self._settings, self._queue, until=until, say=self._say)
        lost, self._lost = self._lost, []
        done: list[ReportedJob] = []
        for told in lost:
            assert told.job is not None
            job = self._queue.job(told.job.key)
            before = (told.job.document, told.job.number)
            if job is not None and (job.document, job.number) != before:
                done += self._documented(job.document, [replace(told, job=job)], until)
        gone = {id(told.report) for told in (*done, *self._lost)}
        for told in (*self._lost, *(each for each in lost if id(each.report) not in gone)):
            assert told.job is not None
            where = told.job.document
            if self._is_kept(told):
                continue
            self._refuse(told.report, NotAReport(f"its job is no longer in {where}", keep=True))
            self._leave(told)
        self._lost = []
        return done

    # decision 660
    def _is_kept(self, told: ReportedJob) -> bool:
        """Whether a report waits for the document of its job, which may have been moved away.

        Only one of how an attempt ended, and the first of each attempt. Where the document is gone
        a job that is out stays so; where another one is in its place, that one may run. Of an
        attempt that is not out any more its document knows.
        """
        assert told.job is not None
        row = self._queue.job(told.job.key)
        ticket = names.ticket(told.job.key, told.attempt)
        if told.kind == "update" or self._has_waited(ticket, told.report):
            self._queue.awaits_no_more(ticket)
            return False
        is_noted = self._queue.is_awaited(ticket, told.report.name)
        if not is_noted:
            is_out = row is not None and row.state in TAKEN and row.attempt == told.attempt
            is_gone = row is None or self._queue.uid(told.job.document) is None
            if not is_out and is_gone:  # decision 854
                return self._may_come(told.report, told.job.key, told.attempt)
            if not is_out or not self._queue.awaits(ticket, told.report.name, time.time()):
                return False
            message = f"its job is no longer in {told.job.document}; it waits for {GONE} s"
            self._spool.tell(told.report.name, message)
        if self._queue.uid(told.job.document) is None:
            return True
        if self._queue.part(told.job.key, told.attempt):
            self._released.append(told.job.claim(told.attempt))
            self._queue.read_again("?", told.job.document)
        else:
            self._leave(told)
            self._queue.drop(told.job.key, told.attempt)  # its own document knows the ticket
        return True

    def _is_about(self, told: ReportedJob, job: Job, whose: int | None) -> bool:
        """Whether a job of a document is the one that was given away, not another in its place.

        ``whose`` is the uid of the user whose document it is, None in a store.
        """
        if told.asks not in ("", asks(job)):
            return False
        if told.is_over and told.ad.text(names.KEY) not in starts.of_job(job):
            return False  # one like it, which has not run
        owner = job.get("User") if whose is None or whose in self._trust.uids else user_name(whose)
        return told.owner in ("", owner or told.owner)

    def _within(self, job: Job, told: ReportedJob) -> Job:
        """A job with a report in it, or with the least of it that says what became of the job."""
        try:
            return _with(job, told)
        except TimeoutError:
            raise
        except Exception as fault:  # of ours, or an odd value: it costs what is more than this
            error = str(fault) if isinstance(fault, ValueError) else fault_told(fault)
            self._spool.tell(told.report.name, f"{error}; of the rest, only how it ended counts")
            least = {name: told.ad[name] for name in _LEAST if name in told.ad}
            return _with(job, replace(told, ad=Ad(least)))

    # decision 896
    def _without_idle(self, job: Job, told: ReportedJob) -> Job:
        """A job without the marks of later attempts that are not out and started nothing.

        So an earlier one that reports is what runs. Of one that did start the document tells more.
        """
        if told.kind != "update":
            return job
        ticket = told.ad.text(names.KEY)
        found = starts.without_marks_behind(job, ticket)
        if starts.is_overtaken(found, ticket):
            assert told.job is not None
            self._overtaken.add((told.job.key, told.attempt))
            return job
        return job if told.is_past else found

    def _leave(self, told: ReportedJob) -> None:
        """Let go of an attempt whose job is no longer in its document: another one may be."""
        assert told.job is not None
        after = RUNNING if told.kind == "update" else RETURNED
        key, now = told.job.key, time.time()
        if self._queue.move(key, told.attempt, TAKEN, after, now) and after == RETURNED:
            self._released.append(told.job.claim(told.attempt))
        self._queue.read_again("?", told.job.document)

    def _apart_from_queue(self, told: ReportedJob) -> list[ReportedJob]:
        """Fold a report about a job of a schedd, and give it if it is done with."""
        if _is_early(told):
            return [told]
        try:
            new, uid = self._made(told)
            self._source.report(uid, new, lambda number, job, whose: self._within(job, told))
        except OSError as error:
            self._say(f"{told.ad.text('GlobalJobId')}: {error}; its report waits")
            return []
        except (ValueError, OverflowError) as error:
            self._refuse(told.report, error)
            return []
        return [told]

    def _made(self, told: ReportedJob) -> tuple[Job, int]:
        """The job of a schedd that a report is about, and the uid of its user.

        Raises ``Untrusted`` if somebody else left the report.
        """
        left = told.report.uid
        owner = told.ad.text("Owner") or user_name(left)
        self._trust.check(left, owner)
        uid = user_id(owner)
        job = to_job(told.ad.merged({"JobStatus": 2})).job
        job = without(job, "SuspendDuration")  # as it was before this start; no hook tells a later
        if began := starts.began(told.ad):
            job = job.setting(StartTime=int(began))
        # What the ad carries is a text of its user: not whose the job is, nor which one.
        stated = {"User": owner, "GlobalId": told.ad.text("GlobalJobId")}
        rest = [item for item in map(partial(_without, stated), job.items) if item is not None]
        ours = [Property(name, text) for name, text in stated.items()]
        return job.holding((*rest[:1], *ours, *rest[1:])), left if uid is None else uid

    def _move(self, told: ReportedJob) -> None:
        """Bring a job where its report says that it is, if this attempt is still the last one."""
        assert told.job is not None
        now = time.time()
        key, attempt = told.job.key, told.attempt
        ticket = names.ticket(key, attempt)
        self._queue.awaits_no_more(ticket)
        self._queue.awaits_no_more(_of_user(ticket, told.report.uid))
        if told.kind == "update":
            self._queue.note_updates(now)
            is_out = self._queue.move(key, attempt, TAKEN, RUNNING, now)
            if names.was_started(told.ad):
                self._queue.started(key, attempt)
            self._claim(told, is_out)
            is_over = (key, attempt) in self._over | self._overtaken
            is_unsure = told.is_earlier and _is_early(told)
            may_run = not (is_out or is_over or is_unsure)
            if may_run and self._runs_after_all(told, now):
                until = held_until(told.ad, self._settings.silence)
                self._kept.append((told.job.claim(attempt), until))
        elif (key, attempt) not in self._began | self._over and _failed(
            told.ad, told.kind, told.report.moment
        ):
            given = self._settings
            why = _why_not(told.ad)
            if self._queue.failed(key, attempt, now, why, given.pause, given.attempts):
                self._released.append(told.job.claim(told.attempt))
                if (runs := self._queue.running(key)) is not None:
                    self._resumed.append(runs)
        else:
            where = PLACES[_end(told.ad, told.kind, told.report.moment)]
            moved = self._queue.move(key, attempt, TAKEN, where, now, "it has ended")
            if moved:
                self._released.append(told.job.claim(told.attempt))
            if names.was_started(told.ad):
                self._queue.ended(key, attempt)
            self._queue.hear_no_more(key, attempt)
        self._queue.read_again("?", told.job.document)

    # decision 893
    def _claim(self, told: ReportedJob, is_out: bool) -> None:
        """Have a claim tell of an attempt that stands in its document, also where the hook that
        accepts was killed: by both a queue that was lost knows it again.
        """
        assert told.job is not None
        claim = told.job.claim(told.attempt)
        is_first = (told.job.key, told.attempt) in self._standing and not told.is_known
        if is_out and is_first and self._source.claimed(claim.ticket) is None:
            self._kept.append((claim, held_until(told.ad, self._settings.silence)))

    # decision 892, 896
    def _runs_after_all(self, told: ReportedJob, now: float) -> bool:
        """Let an attempt run that reports, and from which its job came back.

        Where another one is out that is noted, and the attempt runs once that one has come back.
        """
        assert told.job is not None
        key, attempt = told.job.key, told.attempt
        if told.back and not told.is_past:
            return self._queue.revive(key, attempt, told.back[1], now)
        return self._queue.heard_behind(key, attempt, told.report.left)

    def _refuse(self, report: SpooledReport, reason: Exception) -> None:
        odd = reason if isinstance(reason, NotAReport) else NotAReport(str(reason), keep=True)
        self._spool.refuse(report.name, odd)


# decision 554
def tell_taken(settings: HookSettings, queue: JobQueue, say: Say) -> None:
    """Write into the documents of jobs that a startd took which attempt that is.

    So a queue that is lost before anything is heard of them does not give them away again, and the
    machines that look at a store find the claim of an attempt, wherever its job stands. For who is
    alone with the documents.
    """
    source = documents(settings)
    for row in queue.taken_untold():
        ticket = names.ticket(row.key, row.attempt)

        def change(job: Job, ticket: str = ticket) -> Job:
            if starts.is_overtaken(job, ticket) or ticket in starts.of_job(job):
                return job
            mark = Fact(starts.mark(names.TAKEN, ticket), JOB)
            return folded(starts.without_taken(job), [mark]).job

        if _changed(source, queue, row, change, say):
            queue.note_told(row)
            offers.settled(settings.state, row.key, row.attempt)
            # Others have looked at the document again by the time when this claim is over.
            source.keep_place(row.claim(row.attempt), time.time() + settings.silence)


def free(settings: HookSettings, queue: JobQueue, held: Queued, *, say: Say) -> None:
    """Let slots fetch a job that is held, and take the hold out of its document."""
    with queue.alone():
        queue.free(held.key)
        _changed(documents(settings), queue, held, holds.without, say)


def _changed(
    source: Documents, queue: JobQueue, of: Queued, change: Callable[[Job], Job], say: Say
) -> bool:
    """Change the document of a job of the queue; False where that cannot be, which is said.

    And where the job does not stand there any more: it is found when documents are looked at.
    """
    is_there = False

    def here(number: int, job: Job, whose: int | None) -> Job:
        nonlocal is_there
        # An earlier version did not note what it runs.
        if (number, job.id) != (of.number, of.id) or of.asks not in ("", asks(job)):
            return job
        is_there = True
        return change(job)

    try:
        source.change(of.document, here, _uid(queue, of.document))
    except (SSSJobError, OSError) as error:
        say(f"{of.document}: {error}")
        return False
    queue.read_again("?", of.document)
    return is_there


def _uid(queue: JobQueue, document: str) -> int | None:
    """Whose a document is, whoever wrote it last; None if the queue does not know."""
    uid = queue.uid(document)
    return None if uid == NOBODY else uid


def _without(stated: Collection[str], item: Item) -> Item | None:
    """A part of a job without the properties of these names, also where they were delivered."""
    if isinstance(item, Delivered):
        kept = tuple(each for each in item.items if _without(stated, each) is not None)
        return Delivered(kept, item.attributes, item.namespace) if kept else None
    return None if isinstance(item, Property) and item.name in stated else item


def _moved(
    about: dict[tuple[int, str], list[ReportedJob]], seen: Mapping[str, Sequence[int]]
) -> dict[tuple[int, str], list[ReportedJob]]:
    """Reports whose jobs stand elsewhere in their document by now, by where that is."""
    found: dict[tuple[int, str], list[ReportedJob]] = {}
    for (number, id_), told in about.items():
        places = seen.get(id_, ())
        place = places[0] if number not in places and len(places) == 1 else number
        found.setdefault((place, id_), []).extend(told)
    return found


def _of_user(ticket: str, uid: int) -> str:
    """Under what a report of a user waits: somebody else may leave one of the same attempt."""
    return f"{ticket} of {uid}"


def _is_early(told: ReportedJob) -> bool:
    """A starter updates before it has started the job, too."""
    return told.kind == "update" and "JobPid" not in told.ad


def _with(job: Job, told: ReportedJob) -> Job:
    """A job with a report in it. Raises ``ValueError`` and ``OverflowError`` for one that lies."""
    new = reported(job, told.ad, told.kind, told.report.moment, is_past=told.is_past)
    dumps(new)  # what cannot be written would keep out all that is written with it
    return new


def reported(job: Job, ad: Ad, kind: str, moment: int, *, is_past: bool = False) -> Job:
    """A job with one report in it; ``moment`` is when the hook ran, in seconds since 1970.

    The same report again changes nothing, and neither does another one of how a start ended. One
    that ``is_past`` tells of its own start alone: the job has come back from that.
    """
    ended = _end(ad, kind, moment)
    known = starts.of_job(job)
    # decision 598
    if ended and (same := known.get(ad.text(names.KEY))) is not None and same.ended:
        return job
    # decision 810
    is_overtaken = starts.is_overtaken(job, ad.text(names.KEY))
    if not is_overtaken:
        job = starts.without_taken(job if is_past else holds.without(job))
    is_overtaken = is_overtaken or is_past
    # Who sets the State of a job that runs, to an end or to Hold, has it stay there.
    finished = starts.finished(job)
    is_set = _is_set(job, known, finished)
    # decision 661
    is_final = not is_set and has_ended(job.get)
    if ended not in ("", "exit") and not names.was_started(ad):
        # Other reports tell more of this attempt.
        if is_overtaken or is_set or is_final or ad.text(names.KEY) in known:
            return job
        facts = [_renewed(item) for item in _status(ad, ended, moment)]
        return folded(_without_eviction(starts.apart(job)), facts, overwrite=True).job
    told = starts.of_ad(ad, moment, bool(ended))
    every = starts.added(known, told)
    start = every[told.key]
    [first, *_], [*_, last] = every.values(), every.values()
    # decisions 669, 712 and 957
    began = job.properties.value("StartTime") if known else None
    if not isinstance(began, int):
        began = first.at
    facts = [
        _renewed(Property("StartTime", began)),
        _renewed(Property("CpuDuration", units.rounded(sum(each.cpu for each in every.values())))),
        Fact(Property("StartCount", len(every)), JOB),
    ]
    is_news = bool(ended) or not start.ended  # and no late update
    status = [*_status(ad, ended, moment)] if is_news else []
    is_last = last.key == start.key and not is_overtaken
    goes_on = ended in ("", "hold", "evict")
    # A job of which one attempt came to its end is done, whatever runs of it; of several the last.
    # A schedd runs a job again as it likes. # decision 818
    completes = not goes_on and not (
        (is_set and has_ended(job.get))
        or any(each.order > start.order for each in finished)
        or not (start.ticket or last.ended)
    )
    before = job
    if completes:
        job = holds.without(job)
        if any(each.key != start.key for each in finished):
            job = starts.without_end(job)
    if (is_last or completes) and not ((is_set or is_final) and goes_on):
        facts += map(_renewed, status)
    facts += map(_renewed, _extensions(job, ad, every.values()))
    used = _delivered(ad, sum(each.ran for each in every.values()), is_news=is_news)
    # What the last start was given stands in the job, and the most of what all used.
    facts += (each for each in used if last.key == start.key or _of_all(each.item))
    told_so_far = _without_eviction(job) if is_news and (is_last or completes) else job
    new = folded(told_so_far, facts, overwrite=True).job
    used = _delivered(ad, start.ran, is_news=is_news)
    own = [*starts.of_start(start), *map(_renewed, _of_start(status)), *used]
    return starts.with_groups(before, new, every, start, own, is_apart=is_overtaken)


# decision 637
def _is_set(job: Job, known: Mapping[str, Start], finished: Sequence[Start]) -> bool:
    """Whether somebody set the State of a job to Hold, or to an end, and no report did.

    A report says so of a start that ended then, and with a Hold or an EndTime.
    """
    *_, last = (None, *known.values())
    state = spelled(job.get("State"))
    if state == "Hold":
        return not (last is not None and last.ended and job.get("Hold") == "System")
    return has_ended(job.get) and not (finished and state == COMPLETED and job.get("EndTime"))


def _delivered(ad: Ad, ran: int, *, is_news: bool) -> Iterator[Fact]:
    """What was used. The duration is known anew, maxima only grow.

    And so is the part of the processors that was used, though they are as many, in what ``is_news``
    of a start.
    """
    for item in usage.delivered(ad, ran):
        peak = item.said("metric") == "Max"
        yield Fact(item, renews=not peak, completes=is_news and not peak)


def _of_all(item: Property) -> bool:
    return item.name == "Duration" or item.said("metric") == "Max"


def _of_start(status: Iterable[Property]) -> Iterator[Property]:
    """The same of a start alone, which has ended whatever becomes of its job."""
    for item in status:
        if item.name == "State" and item.text in ("Idle", "Hold"):
            yield Property("State", "Completed")
        elif item.name != "Hold":
            yield item


def _end(ad: Ad, kind: str, moment: int) -> str:
    """How a start ended, as ``ENDS`` has it; "" of one that goes on.

    One that was evicted because of a limit of the job has ended: it would be evicted again.
    """
    ended = kind.partition("-")[2] if kind.startswith("exit") else ""
    fetched = names.of_ticket(ad.text(names.KEY)) is not None
    if fetched and ended in ("exit", "hold") and not names.was_started(ad):
        return "evict"
    return "exit" if ended == "evict" and _limited(ad, ended, moment) else ended


def completes(ad: Ad, kind: str, moment: int) -> bool:
    """Whether a report tells that a start came to its own end, with which its job is done."""
    return _end(ad, kind, moment) in ("exit", "remove") and names.was_started(ad)


def _limited(ad: Ad, ended: str, moment: int) -> str:
    """By which limit a start was ended, as a sentence; "" if it was not.

    The hook that ended it left a note. The startd ends one that runs too long, and says nothing;
    its clock runs from when it was given the job.
    """
    if not ended or names.of_ticket(ad.text(names.KEY)) is None or not names.was_started(ad):
        return ""
    if noted := ad.text(names.REASON):
        return noted
    ran = float(evaluate.number(ad, "JobDuration") or 0)
    by_startd = ended == "evict" or ad.get("ExitBySignal") is True
    fetched = ad.number(names.FETCHED) if by_startd else None
    return overran(ad, ran, 0 if fetched is None else moment - fetched)


def _failed(ad: Ad, kind: str, moment: int) -> bool:
    """Whether a report tells of a start that never was, after which a job is tried again."""
    return _end(ad, kind, moment) == "evict" and not names.was_started(ad)


def _why_not(ad: Ad) -> str:
    reason = ad.text(names.REASON)
    return f"it could not be started: {reason}" if reason else "it could not be started"


def _renewed(item: Property) -> Fact:
    """What this report knows better than what stands in the job."""
    return Fact(item, JOB, renews=True)


def _without_eviction(job: Job) -> Job:
    """A job without the message that it was evicted: the last start says what there is to say."""
    gone = (ENDS["evict"][1], _why_not(Ad()))
    return job.holding(
        item for item in job.items
        if not (isinstance(item, Property) and item.name == "StatusMessage"
                and item.text.startswith(gone))
    )  # fmt: skip


def _status(ad: Ad, ended: str, moment: int) -> Iterator[Property]:
    """What the last start says of the job: its state, how it ended, and where it ran."""
    if not ended:
        suspended = ad.text("JobState") == "Suspended"
        yield Property("State", "Suspended" if suspended else "Running")
        return
    state, message = ENDS[ended]
    yield Property("State", state)
    if state == "Hold":
        yield Property("Hold", "System")
    reason = ad.text("HoldReason") if ended == "hold" else usage.exit_reason(ad)
    if limit := _limited(ad, ended, moment):
        message, reason = limit, ""
    elif ended == "evict" and not names.was_started(ad):
        message, reason = _why_not(ad), ""
    said = ": ".join(part for part in (message, reason) if part)
    if said:
        yield Property("StatusMessage", said)
    if state == "Completed":
        yield Property("EndTime", moment)
        code = usage.exit_code(ad)
        if code and (ended == "exit" or ad.get("ExitBySignal") is True):
            yield Property("ExitCode", code)


def _extensions(job: Job, ad: Ad, every: Iterable[Start]) -> Iterator[Property]:
    """The starts, and amounts that have no element; of two of one name, the greater."""
    yield starts.extension(every)
    for name in usage.EXTENSIONS:
        if value := evaluate.number(ad, name):
            named = {"type": names.EXTENSION, "name": name}
            new = Property("Extension", int(value), named)
            old = job.properties.get("Extension", **new.attributes)
            if old is None or not is_more(old, new):
                yield new
