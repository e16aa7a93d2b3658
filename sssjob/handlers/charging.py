"""Charge, Reserve, Quote and Refund, recorded on the job and in the ledger.

Only a Charge says what a job used. It adds to what the job was charged before, as partial
charges do; what it was for is in the ledger. There are no accounts here: nothing is refused
for want of funds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import dropwhile

from lxml import etree

from sssjob import spec, units
from sssjob.delivery.requested import StoredRun, for_charging, runs_of
from sssjob.delivery.run_owners import SUBMITTED_BY, Voices
from sssjob.document import bridge
from sssjob.document.flat import is_exact
from sssjob.errors import InvalidValue, Refused, UnreadableDocument
from sssjob.handlers.attributes import AttributeType, ObjectAttribute, attribute, shown
from sssjob.handlers.categories import asking, delivering, in_whole_numbers, without_blanks
from sssjob.handlers.changes import once
from sssjob.handlers.documents import carried, require_credits
from sssjob.handlers.editing import (
    WARNING,
    place,
    put,
    require_own,
    require_short,
    stating,
)
from sssjob.handlers.finding import is_true, option, require_options
from sssjob.handlers.ledger_entries import about, quote_of
from sssjob.handlers.ledger_entries import text as _text
from sssjob.handlers.overlay import added, overlaid
from sssjob.handlers.payers import (
    PAYERS,
    Payers,
    hoped_by,
    naming,
    reserved_for,
    used_by,
)
from sssjob.handlers.rates import Bill, ChargeRates
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import JobView, View, job_views, jobs_of, only
from sssjob.model import (
    Block,
    Delivered,
    Job,
    Property,
    Requested,
    Task,
    TaskGroup,
    stripped,
    without,
)
from sssjob.rmap.message import Data, DataDocument, Request, Row
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest
from sssjob.runs import CLOCKS, TIMES, Run, RunTimes, among, differ, moment, waits
from sssjob.states import has_ended
from sssjob.store import Change, Stored
from sssjob.store.files import NO_FILES
from sssjob.store.identity import MARKS, marks_of
from sssjob.store.ledger import Entry, EntryKind, SaidNames
from sssjob.store.reach import Reach
from sssjob.store.stored import DELIVERED, is_of_request, of_request

_HOUR = 3600
_FREE = "The job says nothing that has a price"
_ROUNDED = "has more decimal places than credits have"
_DESCRIBED = 1000  # characters of what a Refund is described by
_HOUR_PLACES = 4  # of credits by the hour: one by the second is not 0
# What another server has to know of a job to price it as it is priced here.
_PRICED = (
    "User", "Project", "Machine", "QualityOfService", "Processors", "NodeCount", "Memory", "Disk",
)  # fmt: skip
USED = Delivered, TaskGroup, Task  # where parts of a job say what they used
_ASKED = *USED, Requested
_WALL = attribute("Duration")
# What Gold 2.2 takes as an option of the request, too, by its name there.
_OPTIONS = {
    name: found for name in ("WallDuration", "StartTime", "EndTime")
    if (found := attribute(name)) is not None
}  # fmt: skip
_SHOWS = frozenset(("ShowHours", "ItemizedCharges", "Guarantee", "Replace"))
_CHARGE_OPTIONS = _SHOWS.union(_OPTIONS)
_REFUND_OPTIONS = frozenset(("JobId", "Id", "Amount", "Description", "ShowHours", *MARKS))
_TIMES = {
    name: found for name in MARKS
    if (found := attribute(name)) is not None and found.kind is AttributeType.TIME
}  # fmt: skip

_RUN_MARKS = (*MARKS, "EndTime")
_SAYING = (EntryKind.CHARGE, EntryKind.RESERVE)  # what the ledger keeps the words of
_SECOND = 2  # the first version that can be a file behind a record


@dataclass(frozen=True, slots=True)
class Accounting:
    """The rates of a site; quotes and reservations hold for so many seconds.

    What comes again, byte for byte, within ``repeated`` seconds is answered, and not done again.
    The ledger keeps quotes and reservations for ``kept`` seconds after they have ended.
    """

    rates: ChargeRates = field(default_factory=ChargeRates)
    quoted: int = 7 * 86_400
    reserved: int = 600
    repeated: int = 120
    kept: int = 90 * 86_400


@dataclass(frozen=True, slots=True)
class _Subject:
    """The job that a request carries, and what is to be said of it."""

    job: Job
    view: View
    warnings: str

    @property
    def id(self) -> str:
        return self.job.id


@dataclass(frozen=True, slots=True)
class _Priced:
    """What a job costs, whose it is, and what else is to be said."""

    of: _JobWithFallback
    bill: Bill
    warnings: str


@dataclass(frozen=True, slots=True)
class _JobWithFallback:
    """A job as a request has it, and behind it what was known of it before, if anything was."""

    sent: View
    known: View | None = None

    def text(self, attribute: ObjectAttribute) -> str | None:
        """The text of an attribute, as the request has it or else as it was known."""
        text = self.sent.text(attribute)
        return self.known.text(attribute) if text is None and self.known else text

    def amount(self, attribute: ObjectAttribute, seconds: int) -> Fraction | None:
        """The number of the same, for so many seconds."""
        is_known = self.sent.text(attribute) is None and self.known is not None
        return (self.known if is_known and self.known else self.sent).amount(attribute, seconds)


@dataclass(frozen=True, slots=True)
class _StoredJob:
    """A job of the store: its document, the job as it holds, and as it is written."""

    stored: Stored
    block: Block
    view: View
    job: Job
    has_others: bool = False  # whether other documents have its Id, too


def charge(
    accounting: Accounting, stores: Stores, call: ReceivedRequest, reach: Reach,
    advice: Callable[[JobView], str] | None = None,
) -> HandlerAnswer:  # fmt: skip
    """Charge a job for what it used; the job of Data becomes the next version of what is known.

    ``advice`` is what is to be said of a job that the Charge has made so.
    """
    _require_data_only(call.request)

    def do(change: Change) -> HandlerAnswer:
        subject = _subject(call, reach, needs=("Id", "Duration"))
        known = _known(change, delivering(subject.job))
        times = _known_times(known, subject.job)
        further = None if known is not None else _further(change, accounting, subject.job, reach)
        whose = _Whose(change, accounting, subject.job, known, reach)
        job, before, payers = _merged(known, further, times, subject, reach, whose)
        former = known.stored if known is not None else None
        kept = _times_told(known, times, subject.job) or _further_told(further, subject.job)
        said = _advised(change, former, subject.id, advice)
        job = in_whole_numbers(whose.of(job))
        # It costs what the job says that it used, once this Charge has said what it knows of it.
        whole = _standing(job, known)
        _require_plain(whole.used)
        owner, used = _JobWithFallback(whole), _JobWithFallback(whole.used)
        priced = _price(change, accounting, subject, owner, used, call)
        change.ledger.hold(subject.id)
        total = units.decimal(before + priced.bill.amount)
        require_credits(total)
        files = change.files(further.stored) if further is not None else NO_FILES
        stored = _keep(change, _charged(job, total), known, files)
        removed = _ended_with(change, stored, job, call)
        seconds = _duration(subject.view.used)
        entry = _entry(EntryKind.CHARGE, priced, subject.id, seconds, stored, call, ends=True)
        change.ledger.add(replace(entry, said=_said(accounting, subject.job)))
        now = _advised(change, stored, subject.id, advice)
        shown = _shown(call.request, accounting, priced.bill.amount)
        lines = [f"Successfully charged job {subject.id} for {shown} credits"]
        if removed:
            lines.append(f"{removed} reservations were removed")
        rows = [Row("Charge", (("Amount", shown), ("Job", subject.id)))]
        moved = change.moved(former, stored) if former is not None else []
        told = "\n".join(filter(None, (kept, payers, *moved, "" if now == said else now)))
        return _told(call.request, priced, shown, lines, rows, told)

    return once(stores, call, do, window=accounting.repeated)


def reserve(
    accounting: Accounting, stores: Stores, call: ReceivedRequest, reach: Reach
) -> HandlerAnswer:
    """Reserve what a job will cost; without Replace, reservations of a job pile up.

    What was reserved is in the ledger. The job is told its number, and nothing of what it used:
    it is still to run.
    """
    asked = call.request
    _require_data_only(asked)

    def do(change: Change) -> HandlerAnswer:
        subject = _subject(call, reach, needs=("Id", "Duration"))
        new = asking(subject.job)
        known = _known(change, new)
        further = None if known is not None else _further(change, accounting, new, reach)
        whose = _Whose(change, accounting, new, known, reach)
        if known is not None:
            _require_seen(known, subject, reach)
            job, kept = added(known.job, known.view.block, new), known.view
        elif further is not None:
            job, kept = added(further.job, further.job, new), only(further.job)
        else:
            job, kept = new, None
        whole = _whole(subject, known, further, whose)
        priced = _price(change, accounting, subject, whole, whole, call)
        change.ledger.hold(subject.id)
        number = _number(change, "reservations")
        stored = _keep(change, job.setting(_like(job, "Reservation", str(number))), known)
        held = change.ledger.reservations(subject.id, call.now)
        of_run = [each for each in held if each.document in (None, stored.number)]
        replaced = len(of_run) if is_true(asked, "Replace") else 0
        seconds = _duration(subject.view)
        # One that is to start later is held until it can have ended.
        begins = _begins(subject, call)
        ends = max(begins + seconds, subject.view.seconds(_OPTIONS["EndTime"]) or 0)
        entry = _entry(EntryKind.RESERVE, priced, subject.id, seconds, stored, call, serial=number,
                       until=ends + accounting.reserved, ends=replaced > 0)  # fmt: skip
        change.ledger.add(replace(entry, begins=begins, said=_asked(accounting, new)))
        shown = _shown(asked, accounting, priced.bill.amount)
        lines = [f"Successfully reserved {shown} credits for job {subject.id}"]
        if replaced:
            lines.append(f"{replaced} reservations were removed")
        rows = [Row("Reserve", (("Amount", shown), ("Job", subject.id)))]
        moved = change.moved(known.stored, stored) if known is not None else []
        others = reserved_for(subject.id, kept, subject.view) if kept is not None else ""
        return _told(asked, priced, shown, lines, rows, "\n".join(filter(None, (others, *moved))))

    return once(stores, call, do, window=accounting.repeated)


def for_another(asked: Request) -> Request:
    """A Charge, Reserve or Quote as another server has to be asked.

    What options say of the job is said in Data, since Gold 2.0 does not know them. The number of a
    quote is one of ours, and somebody else's there. Raises ``Refused``.
    """
    blocks = carried(asked).blocks
    if len(blocks) != 1 or not isinstance(job := blocks[0], Job):
        return asked
    options = tuple(each for each in asked.options if each.name not in _OPTIONS)
    if len(options) == len(asked.options) and not job.get("Quote"):
        return asked
    told = _with_options(job, asked)
    xml = etree.tostring(bridge.to_tree(without(told, "Quote")), encoding="UTF-8")
    return replace(asked, options=options, data=Data((DataDocument(xml),)))


def owned(stores: Stores, asked: Request, reach: Reach) -> Request:
    """A Reserve or Quote that says whose the job is, and what it asks for, as it is known here.

    Raises ``Refused`` as these do for a job that cannot be read.
    """
    blocks = carried(asked).blocks
    if len(blocks) != 1 or not isinstance(job := blocks[0], Job) or not job.id:
        return asked
    with stores.use() as jobs:
        found = [each for stored in jobs.named(job.id) for each in job_views(stored)]
    known = [each for each in found if each.block.id == job.id and each.is_within(reach)]
    if not known:
        return asked
    last = max(known, key=_rank)
    missing = [
        _like(job, name, text) for name in _PRICED
        if not _text(only(job), name) and (text := _text(last, name))
    ]  # fmt: skip
    whole = job.setting(*missing) if missing else job
    xml = etree.tostring(bridge.to_tree(whole), encoding="UTF-8")
    return replace(asked, data=Data((DataDocument(xml),)))


def quote(
    accounting: Accounting, stores: Stores, call: ReceivedRequest, reach: Reach
) -> HandlerAnswer:
    """What a job would cost; with Guarantee its rates are kept for a Charge with this QuoteId."""
    asked = call.request
    _require_data_only(asked)
    guaranteed = is_true(asked, "Guarantee")

    def do(change: Change) -> HandlerAnswer:
        subject = _subject(call, reach, needs=("Duration",))
        known = _known(change, subject.job) if subject.id else None
        if known is not None and not _may_see(known, reach):
            known = None
        is_new = bool(subject.id) and known is None
        further = _further(change, accounting, subject.job, reach) if is_new else None
        whose = _Whose(change, accounting, subject.job, known, reach)
        whole = _whole(subject, known, further, whose)
        priced = _price(change, accounting, subject, whole, whole, call)
        shown = _shown(asked, accounting, priced.bill.amount)
        cells = [("Amount", shown)]
        line = f"Successfully quoted {shown} credits"
        if guaranteed:
            serial = _number(change, "quotes")
            number = str(serial)
            line += f" with quote id {number}"
            cells.insert(0, ("Id", number))
            stored = None
            if known is not None:
                # Only that: who may ask for a price need not be one who may change a job.
                changed = known.job.setting(_like(known.job, "Quote", number))
                stored = _keep(change, changed, known)
                cells.append(("Job", subject.id))
            begins = _begins(subject, call)
            until = begins + accounting.quoted
            seconds = _duration(subject.view)
            entry = _entry(EntryKind.QUOTE, priced, subject.id, seconds, stored, call,
                           serial=serial, until=until)  # fmt: skip
            entry = replace(entry, places=accounting.rates.precision, begins=begins)
            change.ledger.add(entry, accounting.rates.as_rows())
        return _told(asked, priced, shown, [line], [Row("Quote", tuple(cells))])

    return once(stores, call, do, window=accounting.repeated if guaranteed else 0)


def refund(
    accounting: Accounting, stores: Stores, call: ReceivedRequest, reach: Reach
) -> HandlerAnswer:
    """Give back a part of what a job was charged, or all of it where no Amount is said."""
    asked = call.request
    if asked.data or asked.sets or asked.gets or asked.wheres:
        raise Refused("318", "A Refund has options only, such as JobId and Amount")
    require_options(asked, _REFUND_OPTIONS, is_strict=True)
    id_ = stripped(option(asked, "JobId", "Id") or "")
    if not id_:
        raise Refused("314", "A Refund needs the option JobId")
    require_short(id_)
    run = {name: text for name in MARKS if (text := stripped(option(asked, name) or ""))}
    for name, text in run.items():
        if name in _TIMES and only(Job.of(**{name: text})).seconds(_TIMES[name]) is None:
            raise Refused("317", f"The option {name} is a time, found {shown(text)}")
    described = stripped(option(asked, "Description") or "")
    if len(described) > _DESCRIBED:
        raise Refused("317", f"Description has {_DESCRIBED} characters at most")
    given = option(asked, "Amount")
    if given is not None and not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,6})?", given):
        told = "of at most 15 digits, with at most 6 behind the point"
        raise Refused("317", f"Amount is a number not less than 0 {told}, found {shown(given)}")

    def do(change: Change) -> HandlerAnswer:
        asked_of = Job.of(Id=id_, **run)
        known = _known(change, asked_of, has_all=True)
        if known is None or not _may_see(known, reach):
            which = f" with this {' and '.join(run)}" if run else ""
            raise Refused("740", f"There is no job {id_}{which}")
        before = _amount(known.view, "Charge") or Fraction()
        amount = before if given is None else Fraction(given)
        if amount != accounting.rates.rounded(amount) and given is not None:
            places = accounting.rates.precision
            raise Refused("317", f"Amount has {places} decimal places at most")
        if not before:
            raise Refused("740", f"Job {id_} was charged nothing")
        if amount > before:
            raise Refused("740", f"Job {id_} was charged {units.decimal(before)} credits only")
        change.ledger.hold(id_)
        given_back = change.ledger.shares(known.view.stored.number, id_, amount)
        left = units.decimal(before - amount)
        stored = _keep(change, _charged(known.job, left), known)
        for owner, credits in given_back:
            entry = about(EntryKind.REFUND, credits, known.view, id_, stored, call, described)
            change.ledger.add(replace(entry, **owner._asdict()))
        shown = _shown(asked, accounting, amount)
        row = Row("Refund", (("JobId", id_), ("Refund", shown)))
        message = f"Successfully refunded {shown} credits for job {id_}"
        return HandlerAnswer([row], message=message, count=round(Fraction(shown)))

    return once(stores, call, do, window=accounting.repeated)


def _subject(call: ReceivedRequest, reach: Reach, *, needs: Sequence[str]) -> _Subject:
    """The one job of Data. Raises ``Refused`` (314) where something is missing."""
    asked = call.request
    if asked.data is None or len(asked.data.items) != 1:
        raise Refused("314", f"{asked.action} needs exactly one Job in Data")
    sent = carried(asked)
    if sent.files:
        raise Refused("740", f"Files cannot travel with a {asked.action}")
    [job] = sent.blocks
    assert isinstance(job, Job)
    job = _with_options(without_blanks(job), asked)
    view = only(job)
    require_own(call, reach, [view])
    if "Id" in needs and not job.id:
        raise Refused("314", f"A job id must be specified for the {asked.action.lower()}")
    require_short(job.id)
    # A Charge is about what was used; the others are about what is asked for.
    amounts = view.used if asked.action == "Charge" else view
    _require_plain(amounts)
    told = amounts.flat.get("Charge")
    if told is not None and told.text.strip():
        require_amount(told)
    _duration(amounts)
    if asked.action != "Charge":
        _require_in_order(view)
    return _Subject(job, view, sent.warnings)


def _whole(
    subject: _Subject, known: _StoredJob | None, further: StoredRun | None, whose: _Whose
) -> _JobWithFallback:
    """A job that is asked for: what the request leaves out is as it was known, or requested."""
    if known is not None:
        job = whose.of(whose.delivered)
        view: View = known.view if job is known.job else _standing(job, known)
    elif further is not None:
        view = only(further.job)
    else:
        return _JobWithFallback(subject.view)
    _require_plain(view)
    return _JobWithFallback(subject.view, view)


def _price(
    change: Change, accounting: Accounting, subject: _Subject, of: _JobWithFallback,
    amounts: _JobWithFallback, call: ReceivedRequest,
) -> _Priced:  # fmt: skip
    """What a job costs by its ``amounts``; ``of`` says whose it is, and which factors it has.

    Raises ``Refused``: 317 for what is no amount, 740 for a quote that is not the job's and for
    amounts that are told of parts of the job only.
    """
    is_charge = call.request.action == "Charge"
    rates, warning = _rates(change, accounting, subject, of, call)
    stated = _amount(subject.view.used, "Charge") if is_charge else None
    if stated is not None:
        amount = rates.rounded(stated)
        said = units.decimal(amount)
        if amount != stated:
            told = f"Charge {units.decimal(stated)} {_ROUNDED}; {said} is charged"
            warning = "\n".join(filter(None, (warning, told)))
        bill = Bill(amount, f"{said} [externally calculated] = {said}")
    else:
        seconds = _duration(subject.view.used if is_charge else subject.view)
        unknown = [name for name in rates.resources if _amount(amounts, name, seconds) is None]
        for name in unknown:
            for view in filter(None, (amounts.sent, amounts.known)):
                if not is_charge:
                    _require_one(view.block, name)
                require_no_part(view.block, name, USED if is_charge else _ASKED)
        if unknown and len(unknown) == len(rates.resources):
            warning = "\n".join(filter(None, (warning, _FREE)))
        bill = rates.bill(
            seconds, partial(_amount, amounts, seconds=seconds), partial(_text, of)
        )  # fmt: skip
    require_credits(units.decimal(bill.amount))
    warnings = "\n".join(filter(None, (subject.warnings, warning, *bill.warnings)))
    return _Priced(of, bill, warnings)


def _require_one(block: Block, name: str) -> None:
    """Refuse (317) an amount that a job requests by a bound, or more than once."""
    found = [item for item in block.requested if item.name == name]
    for item in found:
        require_amount(item)
    if len(found) > 1:
        raise Refused("317", f"{name} is one value, requested {len(found)} times")


def require_no_part(block: Block, name: str, inside: tuple[type[Block], ...] = USED) -> None:
    """Refuse (740) an amount of parts of a job, or of a Resource, which would cost nothing.

    ``inside`` are the blocks that say it of parts.
    """
    for item in block.items:
        if isinstance(item, inside):
            require_no_part(item, name, inside)
        elif isinstance(item, Property):
            named = item.attributes.get("name") if item.name == "Resource" else item.name
            if named == name:
                raise Refused("740", f"{name} is not told of the whole job, by its own name")


def _rates(
    change: Change,
    accounting: Accounting,
    subject: _Subject,
    of: _JobWithFallback,
    call: ReceivedRequest,
) -> tuple[ChargeRates, str]:
    """The rates that were quoted to a job, as long as they hold; else those of today.

    A quote that was made for the job and recorded with it counts like one that the request names.
    """
    number = _text(subject.view, "Quote")
    serial, is_named = quote_of(subject.view), bool(number)
    if not number and call.request.action != "Quote":
        number, serial = _text(of, "Quote"), quote_of(of)
    if not number:
        return accounting.rates, ""
    found = change.ledger.quote(serial)
    expired = f"Quote {number} has expired; the rates of today were used"
    another = f"Quote {number} was made for another job or User; the rates of today were used"
    if not is_named and found is None:
        return accounting.rates, ""  # a number of another server's
    if found is None and 0 < serial <= int(change.noted("quotes") or 0):
        return accounting.rates, expired  # so long ago that it was pruned
    unknown = Refused("740", f"Quote {shown(number)} is not known for this job")
    if found is None:
        raise unknown
    entry, rates = found
    is_of_user, job = entry.user == _text(of, "User"), entry.job
    if is_of_user and call.request.action != "Quote":
        job = change.ledger.bind(entry, subject.id, int(call.now))
    is_of_another = job not in ("", subject.id)
    if is_named and (is_of_another or (job and not is_of_user)):
        raise unknown
    if is_of_another or not is_of_user:
        return accounting.rates, another
    if entry.until is None or entry.until < call.now:
        return accounting.rates, expired
    return ChargeRates.from_rows(rates, entry.places), ""


def _merged(
    known: _StoredJob | None, further: StoredRun | None, times: Mapping[str, str],
    subject: _Subject, reach: Reach, whose: _Whose,
) -> tuple[Job, Fraction, str]:  # fmt: skip
    """The job as it will be stored, what it was charged before, and what is to be said of whom."""
    sent = naming(delivering(without(subject.job, "Charge")), whose.names)
    if known is not None:
        _require_seen(known, subject, reach)
        view, written = known.view, whose.delivered
    elif further is not None:
        view, written = only(further.job), further.job
    else:
        return sent, Fraction(), ""
    for name, time in times.items():
        sent = sent.setting(_like(sent, name, time))
    payers = Payers(view, written, sent, whose.names, whose.was_delivered)
    there = payers.without_said_anew(written)
    job = payers.settled(overlaid(there, payers.without_kept(sent)))
    return job, _amount(view, "Charge") or Fraction(), payers.said(_standing(job, known))


def _standing(job: Job, known: _StoredJob | None) -> View:
    """A job as it will be stored, with the defaults of the group that it stands in."""
    if known is None or not known.view.place:
        return only(job)
    group = place(known.block, known.view.place, lambda _: job)
    return next(view for view in jobs_of(known.stored, group) if view.place == known.view.place)


# decisions 972 and 1016
def _further(
    change: Change, accounting: Accounting, sent: Job, reach: Reach
) -> StoredRun | None:  # fmt: skip
    """A job as it was requested, for a run of it that is not known; None where nobody knows it.

    Whose it is follows from all its runs that are known.
    """
    runs = _runs(change, sent)
    if not runs:
        return None
    first = for_charging(change, runs, sent)
    names = dict.fromkeys((*_names(accounting), *sorted(SUBMITTED_BY)))
    voices, job = Voices(change, runs, sent, names), first.job
    for name in names:
        hoped = hoped_by(sent, name)
        text = voices.text(name, hoped=hoped)
        if text and text not in (hoped, _text(only(job), name)):
            job = _named(job, name, text)
        elif not text:
            job = without(job, name)  # as it was charged for another run
    return first._replace(job=job) if only(job).is_within(reach) else None


def _runs(change: Change, sent: Job) -> list[StoredRun]:
    return [run for run in runs_of(change, sent) if run.job.id == sent.id]


def _names(accounting: Accounting) -> tuple[str, ...]:
    """By which names somebody is charged, and a price has factors."""
    return tuple(dict.fromkeys((*PAYERS, *accounting.rates.multipliers)))


# decision 1016
class _Whose:
    """Whose a known run is, and the factors of its price, by ``names``.

    What the request says itself comes first, but for what a record delivered; what it leaves out
    follows from all that was told before, in whatever order.
    """

    def __init__(
        self, change: Change, accounting: Accounting, sent: Job, known: _StoredJob | None,
        reach: Reach,
    ) -> None:  # fmt: skip
        self._change, self._sent, self._known, self._reach = change, sent, known, reach
        self.names = _names(accounting)

    @cached_property
    def delivered(self) -> Job:
        """The run with what records delivered it with, where a file behind them left that out."""
        known = self._known
        assert known is not None
        job = known.job
        if known.view.place or not self._is_behind_record:  # a group keeps what is there
            return job
        block = job.block(Delivered)
        missing = [
            _like(job, name, text) for name in self.names
            if not job.delivered.text(name)
            and (text := self._voices.delivered_text(name, known.stored.number))
        ]  # fmt: skip
        if not missing or block is None:
            return job
        whole = block.holding((*block.items, *missing))
        return job.holding(whole if item is block else item for item in job.items)

    @cached_property
    def _reasons(self) -> Sequence[str]:
        """Why each version of the document was made, the first one first."""
        assert self._known is not None
        stored = self._known.stored
        return [stored.reason] if stored.version == 1 else self._change.reasons(stored)

    @property
    def _is_behind_record(self) -> bool:
        """Whether a file has taken the place of what a record told."""
        stored = None if self._known is None else self._known.stored
        if stored is None or stored.version < _SECOND:
            return False
        if stored.version == _SECOND and is_of_request(stored.reason):
            return False
        behind = dropwhile(lambda reason: reason != DELIVERED, self._reasons)
        return any(not is_of_request(reason) for reason in behind)

    def of(self, job: Job) -> Job:
        """The run as the request has made it, with the names that this leaves out."""
        known = self._known
        left = [name for name in self.names if not used_by(self._sent, name)]
        if known is None or not self._may_differ(known, job, left):
            return job
        view = _standing(job, known)
        for name in left:
            text = self._voices.text(name, known.stored.number, hoped_by(self._sent, name))
            if text and text != _text(view, name):
                job = _named(job, name, text)
        return job

    def _may_differ(self, known: _StoredJob, job: Job, left: Sequence[str]) -> bool:
        """Whether names that are left may count otherwise than they stand in the job.

        What requests alone made says the last word of each, but of what a Reserve or a Charge only
        requests. Once something but a request has written it, it shows no more who said what.
        """
        if not left or known.has_others:
            return bool(left)
        if any(
            (was := _text(known.view, name)) and was != hoped
            for name in left if (hoped := hoped_by(self._sent, name))
        ):  # fmt: skip
            return True  # what the request only hopes for stands in the place of what was requested
        reasons = self._reasons
        is_said = any(of_request(reason) in _SAYING for reason in reasons)
        if any(not is_of_request(reason) for reason in reasons[1:]):
            view = _standing(job, known)
            return is_said or not all(_text(view, name) for name in left)
        if not is_said or len(reasons) == 1:
            return False
        return self._hides_what_was_asked(known, _standing(job, known), left)

    def _hides_what_was_asked(self, known: _StoredJob, view: View, left: Sequence[str]) -> bool:
        """Whether a run that requests alone made has not what its first Reserve asked for.

        Or a Charge put what it only hoped for into the place of what was requested.
        """
        first: dict[str, str] = {}
        for each in self._change.ledger.said(known.job.id):
            if each.document != known.stored.number:
                continue
            if each.kind is EntryKind.CHARGE and not each.said.asked.keys().isdisjoint(left):
                return True
            for name, text in each.said.asked.items():
                first.setdefault(name, text)
        return any(first.get(name, "") not in ("", _text(view, name)) for name in left)

    def was_delivered(self, name: str) -> bool:
        """Whether a record or a file delivered the run with what its Delivered says by a name."""
        known = self._known
        return known is not None and bool(self._voices.delivered_text(name, known.stored.number))

    @cached_property
    def _voices(self) -> Voices:
        known = self._known
        assert known is not None
        runs = [StoredRun(known.stored, known.block, known.job)]
        if known.has_others:
            runs += (
                each for each in _runs(self._change, self._sent)
                if each.stored.number != known.stored.number
                and only(each.job).is_within(self._reach)
            )  # fmt: skip
        marks = [
            item for item in self._sent.properties
            if item.name in _RUN_MARKS and not known.job.get(item.name)
        ]  # fmt: skip
        told = known.job.setting(*marks) if marks else known.job
        runs.sort(key=StoredRun.rank, reverse=True)
        return Voices(self._change, runs, told, self.names)


def _named(job: Job, name: str, text: str) -> Job:
    """A job that says a name itself, and nothing else by it of what it used."""
    used = (without(item, name) if isinstance(item, Delivered) else item for item in job.items)
    return job.holding(used).setting(_like(job, name, text))


def _said(accounting: Accounting, sent: Job) -> SaidNames:
    """What a Charge says: who used the job, and who was to use it."""
    names = {*_names(accounting), *SUBMITTED_BY}
    used = {name: text for name in sorted(names) if (text := used_by(sent, name))}
    asked = {name: text for name in sorted(names) if (text := hoped_by(sent, name))}
    return SaidNames(used, asked)


def _asked(accounting: Accounting, sent: Job) -> SaidNames:
    """What a Reserve says, all of which is asked for."""
    names, view = {*_names(accounting), *SUBMITTED_BY}, only(sent)
    return SaidNames(asked={name: text for name in sorted(names) if (text := _text(view, name))})


def _further_told(further: StoredRun | None, sent: Job) -> str:
    """What is to be said of a run that nobody knew, and that only its end tells from others."""
    end = sent.get("EndTime")
    if further is None or sent.get("StartTime") or not end:
        return ""
    return f"No run of job {sent.id} that is known ended at {shown(end)}: a further one is charged"


# decisions 912 and 945
def _known_times(known: _StoredJob | None, sent: Job) -> dict[str, str]:
    """What tells the run that is known, and its end, as no Charge moves it.

    Clocks differ, and an end that is not the run's would reach into the next one. What a job that
    goes on says of its end is only expected, one before the start that is told is none, and what
    waited may have been submitted anew.
    """
    if known is None:
        return {}
    ended, began = RunTimes.of_job(known.job).ended, moment(sent, "StartTime") or 0
    names = {*MARKS}
    if ended is not None and has_ended(known.job.get) and began <= ended + CLOCKS:
        names.add("EndTime")
    if waits(known.job) and differ(moment(sent, "SubmitTime"), moment(known.job, "SubmitTime")):
        names.remove("SubmitTime")
    return {name: text for name in _RUN_MARKS if name in names and (text := known.job.get(name))}


def _times_told(known: _StoredJob | None, times: Mapping[str, str], sent: Job) -> str:
    """What is to be said of times that a Charge tells otherwise, by more than clocks differ."""
    if known is None:
        return ""
    return "\n".join(
        f"{name} {shown(was)} is kept, not {shown(told)}" if name in times
        else f"{name} {shown(was)} is replaced by {shown(told)}"
        for name in TIMES
        if (was := known.job.get(name)) and (told := sent.get(name))
        and (name in times or name == "SubmitTime")
        and differ(moment(sent, name), moment(known.job, name))
    )  # fmt: skip


def _known(change: Change, job: Job, *, has_all: bool = False) -> _StoredJob | None:
    """What the store has of a job: its last run that is shown, alone or in a job group.

    Another run of its Id is another job: it is None where the times tell a new one. A run that has
    what is told comes before those that do not tell it; ``has_all`` asks for one that has it all.
    Raises ``Refused``: 740 where it stands in several documents, 314 where what is told fits none
    of several runs better than the others. # decisions 860, 863, 878 and 971
    """
    try:
        alone = change.about(job)
    except UnreadableDocument as error:
        raise Refused("740", f"The job cannot be kept: {error.finding.message}") from error
    named = change.named(job.id, deleted=True)
    places = {each.number: each for each in (alone, *named) if each is not None}
    views = [
        view for stored in places.values() for view in job_views(stored)
        if view.block.id == job.id
    ]  # fmt: skip
    told = Run.of_job(job)
    runs = among(job, views, lambda view: view.block)
    if has_all:
        runs = [view for view in runs if told.marks_of(Run.of_job(view.block)) == told.marks]
    elif len(runs) > 1:
        runs = _fitting(job, told, runs)
    if not runs:
        return None
    view = max(runs, key=_rank)
    stored, block = view.stored, view.stored.block()
    if not stored.deleted:
        _require_one_place(change, job, view)
    inner = block.blocks(Job)[view.place - 1] if view.place else block
    assert isinstance(inner, Job)
    return _StoredJob(stored, block, view, inner, len(places) > 1)


# decision 971
def _fitting(job: Job, told: Run, runs: Sequence[JobView]) -> list[JobView]:
    """The runs that have most of what is told: of one that has not all of it there is one."""
    shares = [told.fits(Run.of_job(view.block)) for view in runs]
    most = max(shares)
    found = [view for view, share in zip(runs, shares, strict=True) if share == most]
    is_hidden = all(view.stored.deleted for view in found)
    if most < told.marks and sum(view.stored.deleted is is_hidden for view in found) > 1:
        raise _untold(job, "has several runs")
    return found


def _rank(view: JobView) -> tuple[bool, int, int]:
    """What orders the runs of a job, of which its Id means the last one."""
    return view.stored.rank(marks_of(view.block))


def _require_one_place(change: Change, job: Job, view: JobView) -> None:
    """Refuse (740) a job that stands elsewhere, too, or may be the one of another group."""
    others = [(each, at) for each, at, _ in change.elsewhere(view.block, view.stored.number)
              if view.place or at]  # fmt: skip
    if view.place:
        others += ((each, at) for each, at, _ in change.elsewhere(job, view.stored.number) if at)
    for other, _ in others:
        both = f"in {view.stored.identity} and in {other.identity}"
        raise Refused("740", f"Job {job.id} is {both}; nobody can tell which one is meant")


# decisions 911 and 1027
def _ended_with(change: Change, stored: Stored, job: Job, call: ReceivedRequest) -> int:
    """How many reservations end with the Charge of a run, ``job``: its own, and of former runs.

    What is reserved for a run that has ended is for the one that is charged now, as a Reserve need
    not tell the times of a run. What another run has reserved stays where that is still to run, or
    ran later than this one.
    """
    held = change.ledger.reservations(job.id, call.now)
    own = [each for each in held if each.document in (None, stored.number)]
    of_others = [each for each in held if each not in own]
    charged = RunTimes.of_job(job)
    over = [each for each in of_others if _is_over(change, each, charged)]
    change.ledger.end(over, int(call.now))
    return len(own) + len(over)


def _is_over(change: Change, reservation: Entry, charged: RunTimes) -> bool:
    """Whether the run has ended for which something is reserved, and not behind another one."""
    assert reservation.document is not None
    views = job_views(change.at(reservation.document))
    return any(
        view.block.id == reservation.job and has_ended(view.block.get)
        and not charged.is_over_before(RunTimes.of_job(view.block))
        for view in views
    )  # fmt: skip


def _entry(
    kind: EntryKind, priced: _Priced, id_: str, seconds: int, stored: Stored | None,
    call: ReceivedRequest, *, serial: int | None = None, until: int | None = None,
    ends: bool = False,
) -> Entry:  # fmt: skip
    """What the ledger says of what was priced."""
    return replace(
        about(kind, priced.bill.amount, priced.of, id_, stored, call), serial=serial,
        duration=seconds, until=until, ends=ends, details=priced.bill.details,
    )  # fmt: skip


def _may_see(known: _StoredJob, reach: Reach) -> bool:
    return not known.stored.deleted and known.view.is_within(reach)


def _require_seen(known: _StoredJob, subject: _Subject, reach: Reach) -> None:
    if not _may_see(known, reach):
        raise Refused("740", f"Job {subject.id} is not one that can be charged")


def _keep(
    change: Change, job: Job, known: _StoredJob | None, files: Mapping[str, bytes] = NO_FILES
) -> Stored:
    if known is not None:
        return put(change, place(known.block, known.view.place, lambda _: job), known.stored)
    if change.about(job) is not None:
        raise _untold(job, "had another run")
    try:
        return change.put(job, files=files)
    except UnreadableDocument as error:
        raise Refused("740", f"The job cannot be kept: {error.finding.message}") from error


def _untold(job: Job, which: str) -> Refused:
    """Why a request is refused of which nobody can know which run it means."""
    missing = "EndTime" if job.get("StartTime") else "StartTime"
    return Refused("314", f"Job {job.id} {which}; say the {missing} of this one")


def _advised(
    change: Change, stored: Stored | None, id_: str, advice: Callable[[JobView], str] | None
) -> str:
    """What is to be said of a job of a document, "" where nothing is."""
    if advice is None or stored is None:
        return ""
    found = [view for view in job_views(stored, change) if view.block.id == id_]
    return advice(found[0]) if found else ""


def _told(
    asked: Request, priced: _Priced, shown: str, lines: Sequence[str], rows: Sequence[Row],
    advised: str = "",
) -> HandlerAnswer:  # fmt: skip
    """The answer; an option asks for how the amount came about."""
    said = [*lines, *filter(None, [priced.warnings, advised])]
    if is_true(asked, "ItemizedCharges"):
        said.append(priced.bill.details)
    told = advised or any(each in priced.warnings for each in ("Not understood", _FREE, _ROUNDED))
    code = WARNING if told else "000"
    return HandlerAnswer(rows, code, "\n".join(said), round(Fraction(shown)))


def _shown(asked: Request, accounting: Accounting, amount: Fraction) -> str:
    # Gold only looks whether ShowHours is there, whatever it says. A second is seen, too.
    if asked.option("ShowHours") is not None:
        amount = round(amount / _HOUR, max(accounting.rates.precision, _HOUR_PLACES))
    return units.decimal(amount)


def _duration(view: View) -> int:
    assert _WALL is not None
    found, text = view.seconds(_WALL), view.text(_WALL)
    if found is None:
        told = f", found {shown(text)}" if text else ""
        raise Refused("314", f"A duration in whole seconds must be specified (WallDuration){told}")
    return found


def _amount(view: View | _JobWithFallback, name: str, seconds: int = 0) -> Fraction | None:
    found = attribute(name)
    assert found is not None
    amount = view.amount(found, seconds)
    if amount is None and (text := view.text(found)):
        row = spec.element(name)
        whole = "whole " if row is not None and row.type == spec.INTEGER else ""
        raise Refused("317", f"{name} is a {whole}number, found {shown(text)}")
    if amount is not None and amount < 0:
        raise Refused("317", f"{name} is not less than 0")
    return amount


def _require_plain(view: View) -> None:
    """Refuse (317) amounts of which one cannot be charged for."""
    for found in view.flat.values():
        if found.name in spec.AMOUNTS:
            require_amount(found)


def require_amount(found: Property) -> None:
    """Refuse (317) an amount that says another number than it seems to: nothing goes by guess.

    That is one that has units that it cannot have, or unknown ones, or that says how it compares.
    """
    if not found.text.strip() and not found.children:
        raise Refused("317", f"{found.name} has no value")
    stated = found.attributes.get("units")
    if stated is not None:
        if found.name not in units.DEFAULT_UNITS:
            raise Refused("317", f"{found.name} has no units, found {shown(stated)}")
        try:
            units.unit(stated)
        except InvalidValue as error:
            raise Refused("317", f"The units of {found.name}: {error}") from error
    try:
        units.duration(found.attributes.get("duration", "0"))
    except InvalidValue as error:
        raise Refused("317", f"The duration of {found.name}: {error}") from error
    if not is_exact(found, [found.name]):
        raise Refused("317", f"{found.name} is one value, without op and conj")


def _with_options(job: Job, asked: Request) -> Job:
    """The job of Data with what options say of it, as in Gold 2.2.

    Raises ``Refused``: 317 for what is no time or duration, 740 where Data says something else.
    """
    for name, found in _OPTIONS.items():
        text = option(asked, name)
        if text is None:
            continue
        seconds = only(Job.of(**{found.name: text})).seconds(found)
        if seconds is None:
            raise Refused("317", f"The option {name} is in whole seconds, found {shown(text)}")
        view = only(job).used if asked.action == "Charge" else only(job)
        if not view.text(found):
            job = job.setting(_like(job, found.name, str(seconds)))
        elif view.seconds(found) != seconds:
            raise Refused("740", f"The Job and the option {name} have two different values")
    return job


def _begins(subject: _Subject, call: ReceivedRequest) -> int:
    """When a job is to start: now, or at the StartTime that a request says."""
    return max(int(call.now), subject.view.seconds(_OPTIONS["StartTime"]) or 0)


def _require_in_order(view: View) -> None:
    """Refuse (317) an end before its start.

    A Charge is about a duration, whatever the clocks said that it was measured between.
    """
    times = [(found, view.seconds(found)) for found in (_OPTIONS["StartTime"], _OPTIONS["EndTime"])]
    (start, begins), (end, ends) = times
    if begins is not None and ends is not None and ends < begins:
        start_, end_ = (shown(view.text(each) or "") for each in (start, end))
        raise Refused("317", f"EndTime {end_} is before StartTime {start_}")


def _like(job: Job, name: str, text: str) -> Property:
    return Property(name, text, {}, (), job.namespace)


def _charged(job: Job, total: str) -> Job:
    """A job with another Charge, in the place where it counts."""
    found = attribute("Charge")
    assert found is not None
    charged = stating(job, found, total)
    assert isinstance(charged, Job)
    return charged


def _number(change: Change, name: str) -> int:
    """The next number of a kind, in the order of commits."""
    number = int(change.noted(name) or "0") + 1
    change.note(name, str(number))
    return number


def _require_data_only(asked: Request) -> None:
    if asked.sets or asked.gets or asked.wheres:
        raise Refused("318", f"{asked.action} has Data and options only")
    # Of those of Gold that say nothing here, some clients have more than is known.
    require_options(asked, _CHARGE_OPTIONS, near=MARKS)
