"""Transaction, Reservation and Quotation: the ledger in the objects of Gold, read only.

A Reservation may be joined with its ReservationAllocation, as ``glsres`` does: here both are one
entry. What a Charge or another Reservation has ended is Deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from sssjob import units
from sssjob.errors import InvalidValue, Refused
from sssjob.handlers.attributes import AttributeType, ObjectAttribute
from sssjob.handlers.columns import OPTIONS, RowWindow, ShownColumn, ordered
from sssjob.handlers.conditions import Conditions
from sssjob.handlers.finding import is_true, require_options
from sssjob.handlers.query import is_total, time_of, totals
from sssjob.handlers.stores import Stores
from sssjob.rmap.message import Conj, Get, Item, Op, Request, Row, Where
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest
from sssjob.store.ledger import Entry, EntryKind
from sssjob.store.reach import Reach
from sssjob.store.settling import SAID

TRANSACTION, RESERVATION, QUOTATION = "Transaction", "Reservation", "Quotation"
ALLOCATION = "ReservationAllocation"
OBJECTS = (TRANSACTION, RESERVATION, QUOTATION, ALLOCATION)
_NUMBER, _TIME, _FLAG = AttributeType.NUMBER, AttributeType.TIME, AttributeType.FLAG
_MOST = 1000  # properties of a request

Cell = Callable[[Entry], object]


@dataclass(frozen=True, slots=True)
class _EntryField:
    """An attribute of an object, and where an entry has it."""

    attribute: ObjectAttribute
    cell: Cell


def _field(
    name: str, cell: Cell, kind: AttributeType = AttributeType.TEXT, *, hidden: bool = False
) -> _EntryField:
    return _EntryField(ObjectAttribute(name, kind, derived=True, hidden=hidden), cell)


def _delta(entry: Entry) -> Fraction | None:
    """By how much an entry changes what is left to spend."""
    signs = {EntryKind.CHARGE: -1, EntryKind.REFUND: 1}
    return entry.amount * signs[entry.kind] if entry.amount and entry.kind in signs else None


def _described(entry: Entry) -> str:
    """What a Refund was described by, else why an entry was made."""
    is_described = entry.kind is EntryKind.REFUND and entry.details not in ("", SAID)
    return entry.details if is_described else entry.reason


def _begins(entry: Entry) -> int:
    return entry.at if entry.begins is None else entry.begins


# fmt: off
_HIDDEN = (
    _field("CreationTime",     lambda entry: entry.at,      _TIME, hidden=True),
    _field("ModificationTime", lambda entry: entry.at,      _TIME, hidden=True),
    _field("Deleted",          lambda entry: entry.ended,   _FLAG, hidden=True),
    _field("RequestId",        lambda entry: "",            hidden=True),
    _field("TransactionId",    lambda entry: entry.number,  _NUMBER, hidden=True),
)
_TIMES = (
    _field("StartTime",    _begins,                         _TIME),
    _field("EndTime",      lambda entry: entry.until,       _TIME),
)
_USER, _PROJECT, _MACHINE = (
    _field("User",         lambda entry: entry.user),
    _field("Project",      lambda entry: entry.project),
    _field("Machine",      lambda entry: entry.machine),
)
# The attributes of each object in the order of Gold; those that are about accounts are empty.
_FIELDS: Mapping[str, tuple[_EntryField, ...]] = MappingProxyType({
    TRANSACTION: (
        _field("Id",          lambda entry: entry.number,   _NUMBER),
        _field("Object",      lambda entry: "Job"),
        _field("Action",      lambda entry: entry.kind),
        _field("Actor",       lambda entry: entry.by),
        _field("Name",        lambda entry: entry.job),
        _field("Child",       lambda entry: ""),
        _field("Count",       lambda entry: 1,              _NUMBER),
        _field("Details",     lambda entry: entry.details,  hidden=True),
        _PROJECT, _USER, _MACHINE,
        _field("JobId",       lambda entry: entry.job),
        _field("Amount",      lambda entry: entry.amount,   _NUMBER),
        _field("Delta",       _delta,                       _NUMBER),
        _field("Account",     lambda entry: ""),
        _field("Allocation",  lambda entry: ""),
        _field("Description", _described),
        *_HIDDEN,
    ),
    RESERVATION: (
        _field("Id",          lambda entry: entry.serial,   _NUMBER),
        _field("Name",        lambda entry: entry.job),
        _field("Job",         lambda entry: entry.job),
        _USER, _PROJECT, _MACHINE, *_TIMES,
        _field("Description", lambda entry: entry.reason),
        _field("Amount",      lambda entry: entry.amount,   _NUMBER, hidden=True),
        *_HIDDEN,
    ),
    ALLOCATION: (
        _field("Reservation", lambda entry: entry.serial,   _NUMBER),
        _field("Id",          lambda entry: entry.serial,   _NUMBER),
        _field("Account",     lambda entry: ""),
        _field("Amount",      lambda entry: entry.amount,   _NUMBER),
        *_HIDDEN,
    ),
    QUOTATION: (
        _field("Id",          lambda entry: entry.serial,   _NUMBER),
        _field("Amount",      lambda entry: entry.amount,   _NUMBER),
        *_TIMES,
        _field("WallDuration", lambda entry: entry.duration, _NUMBER),
        _field("Job",         lambda entry: entry.job),
        _USER, _PROJECT, _MACHINE,
        _field("Uses",        lambda entry: ""),
        _field("Description", lambda entry: entry.reason),
        *_HIDDEN,
    ),
})
# What another entry means, or ended, which is no request of its own.
_BESIDE = (EntryKind.NAMED, EntryKind.ENDED)
_KINDS: Mapping[str, tuple[EntryKind, ...]] = MappingProxyType({
    TRANSACTION: tuple(each for each in EntryKind if each not in _BESIDE),
    RESERVATION: (EntryKind.RESERVE,),
    ALLOCATION:  (EntryKind.RESERVE,),
    QUOTATION:   (EntryKind.QUOTE,),
})
# fmt: on
_BOTH = f"{RESERVATION} and {ALLOCATION}"  # one that is joined with the other
JOINS = (frozenset((RESERVATION, ALLOCATION)),)
_BY_NAME = {
    kind: {each.attribute.name: each for each in fields}
    for kind, fields in (*_FIELDS.items(), (_BOTH, (*_FIELDS[ALLOCATION], *_FIELDS[RESERVATION])))
}
_OF_JOB = ("JobId", "Name", "Job")


@dataclass(frozen=True, slots=True)
class _EntryObject:
    """An entry as an object of Gold."""

    entry: Entry
    kind: str

    def text(self, attribute: ObjectAttribute) -> str | None:
        value = _BY_NAME[self.kind][attribute.name].cell(self.entry)
        if value is None:
            return None
        return units.decimal(value) if isinstance(value, Fraction) else str(value)

    def number(self, attribute: ObjectAttribute) -> Fraction | None:
        value = _BY_NAME[self.kind][attribute.name].cell(self.entry)
        if isinstance(value, Fraction):  # also one of more digits than a text may have
            return value
        try:
            return units.number(self.text(attribute) or "")
        except InvalidValue:
            return None

    def property(self, attribute: ObjectAttribute) -> None:
        return None


class _LedgerRequest:
    """What a request asks the ledger for. Raises ``Refused`` (317, 318)."""

    def __init__(self, asked: Request) -> None:
        names = [each.name for each in asked.objects]
        self.kind = _BOTH if len(names) > 1 else asked.object
        self.label = "_".join(names)
        self._known = frozenset(filter(None, (*names, *(each.alias for each in asked.objects))))
        wheres = [each for each in asked.wheres if not self._joins(each)]
        self._conditions = Conditions(wheres, self.label, self._known, self._attribute)
        self._deleted = self._conditions.asks_deleted
        self.job = next(filter(None, map(_job, wheres)), None) if _is_plain(wheres) else None

    def column(self, asked: Get) -> ShownColumn:
        """The column that a Get asks for."""
        return ShownColumn.of(asked, self.label, self._known, self._attribute)

    def line(self, entry: Entry) -> _EntryObject:
        """An entry as what is asked for; what was done stays done, whatever has ended it."""
        is_done = self.kind == TRANSACTION
        return _EntryObject(replace(entry, ended=False) if is_done else entry, self.kind)

    def hold(self, line: _EntryObject) -> bool:
        """Whether an entry is one of those that are looked for."""
        return (self._deleted or not line.entry.ended) and self._conditions.hold(line)

    def _attribute(self, name: str, kind: str) -> ObjectAttribute | None:
        found = _BY_NAME[self.kind].get(name)
        return found.attribute if found else None

    def _joins(self, where: Where) -> bool:
        """Whether a condition says that a Reservation is that of its allocation, as all are."""
        if not where.subject or self.kind is not _BOTH or not _is_plain([where]):
            return False
        return {where.name, where.value} == {"Id", RESERVATION} and where.op is Op.EQ


def query(stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
    """Entries of the ledger; without Get, with all attributes that are not hidden."""
    asked = call.request
    if asked.sets or asked.data:
        raise Refused("318", "A Query has neither Set nor Data")
    require_options(asked, OPTIONS)
    if len(asked.gets) > _MOST or any(get.path for get in asked.gets):
        raise Refused("318", f"{asked.object} has properties only, {_MOST} in a request")
    lines, until = _LedgerRequest(asked), time_of(asked)
    if until is not None and lines.kind != TRANSACTION:
        raise Refused(
            "318", f"{asked.object} is not kept as it was; Time is for Transaction and Job"
        )
    window, hidden = RowWindow.of(asked), is_true(asked, "ShowHidden")
    columns = [lines.column(get) for get in asked.gets] or [
        ShownColumn(each.attribute, each.attribute.name)
        for each in _BY_NAME[lines.kind].values()
        if hidden or not each.attribute.hidden
    ]

    def rows() -> Iterator[Item]:
        with stores.use() as jobs:
            found = jobs.ledger.entries(_KINDS[asked.object], job=lines.job, reach=reach)
            with closing(found):
                then = (each for each in found if until is None or each.at <= until)
                yield from window.of_rows(shown(filter(lines.hold, map(lines.line, then))))

    def shown(held: Iterator[_EntryObject]) -> Iterator[Item]:
        if is_total(columns):
            yield from totals(held, columns, lines.label)
            return
        for line in ordered(held, columns, window.last):
            yield Row(lines.label, tuple((column.label, column.text(line)) for column in columns))

    return HandlerAnswer(rows())


def _is_plain(wheres: Sequence[Where]) -> bool:
    """Whether each of the conditions has to hold."""
    return all(each.conj is Conj.AND and not each.group for each in wheres)


def _job(where: Where) -> str | None:
    """The Id of the job that a condition asks for, if it does."""
    return where.value if where.name in _OF_JOB and where.op is Op.EQ else None
