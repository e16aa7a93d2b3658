"""The ledger follows the documents, through whichever door these come.

What a job says that it was charged is what its entries add up to. Who charges a job enters to
whom, and why. Whatever else writes a Charge, or takes one away, is entered here before its
transaction ends: an import, a job that is put into a group, a Modify.

Strategy. Columns say which documents have a Charge at all, and for nearly all of them whose jobs
these are; the others are opened.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.model import Block, Job, stripped
from sssjob.store import columns, lookup
from sssjob.store.columns import KIND, ODD, PLACE
from sssjob.store.condition import Bits, Compare, Op, Present, all_of, any_of
from sssjob.store.engine import Engine, Row
from sssjob.store.flat import FlatColumn, flat_column, of_whole_numbers
from sssjob.store.flat_properties import flat_properties, is_text, jobs_in
from sssjob.store.ledger import (
    Entry,
    EntryKind,
    NumberedEntry,
    Owner,
    Share,
    StoreLedger,
    entered,
    shares,
)
from sssjob.store.packing import Packing
from sssjob.store.plan import reading
from sssjob.store.schema import listed
from sssjob.store.sql import Sql, SqlDialect, sql

_CHARGE, _OWNER = "Charge", ("User", "Project", "Machine")
SAID = "as the job said"  # how an amount came about that nobody here computed
_SHOWN = 60  # characters of a name in a message
_BATCH = 2000  # documents that are looked at together
_COLUMN = columns.name_of(_CHARGE)
_AT = columns.NAMES.index(_COLUMN)
_ODD_AT = columns.NAMES.index(ODD)
_BIT = columns.bit(_CHARGE)

_Job = tuple[int, str]  # a document, and the Id of a job in it


class ChargeDifference(NamedTuple):
    """A job whose Charge is not what its entries add up to, and whose credits that concerns."""

    document: int
    job: str
    said: Fraction
    entered: Fraction
    shares: Sequence[Share]


_Shares = dict[Owner, Fraction]  # what each of those who are named is charged


def says_charge(rows: Sequence[Row]) -> bool:
    """Whether the rows of a document may be of a job that says what it was charged."""
    return any(row[_AT] is not None or row[_ODD_AT] & _BIT for row in rows)


def charged(places: Sequence[int], found: Sequence[Row], own: int) -> Iterator[int]:
    """The same of many rows as columns: at which of them. Their places begin behind ``own``."""
    by = {place - own: column for place, column in zip(places[own:], found, strict=True)}
    nothing: Row = ()
    yield from (at for at, value in enumerate(by.get(_AT, nothing)) if value is not None)
    yield from (at for at, odd in enumerate(by.get(_ODD_AT, nothing)) if odd & _BIT)


def settle(
    engine: Engine, packing: Packing, change: NumberedEntry, documents: Collection[int]
) -> Sequence[ChargeDifference]:
    """Enter what jobs of documents were charged, or given back, beside the ledger: these are given.

    What was reserved for a job that is in its document no more is reserved no more.
    """
    found = list(differences(engine, packing, sorted(documents)))
    now, ledger = int(time.time()), StoreLedger(engine, change)
    for start in range(0, len(documents), _BATCH):
        for number in ledger.reserved(sorted(documents)[start : start + _BATCH]):
            ids = {job.id for _, job in _jobs(engine, packing, number)}
            ledger.end_reservations(number, now, kept=ids)
    if not found:
        return found
    ledger.add_all([
        Entry(
            EntryKind.CHARGE if each.said > each.entered else EntryKind.REFUND,
            amount, now, each.job, each.document, details=SAID, **owner._asdict(),
        )
        for each in found
        for owner, amount in each.shares
    ])  # fmt: skip
    return found


def differences(
    engine: Engine, packing: Packing, documents: Sequence[int]
) -> Iterator[ChargeDifference]:
    """Jobs of documents that say another Charge than the ledger."""
    for start in range(0, len(documents), _BATCH):
        batch = documents[start : start + _BATCH]
        said, known = _said(engine, packing, batch), _entered(engine, batch)
        for job in sorted({*said, *known}):
            mine, theirs = said.get(job, {}), known.get(job, [])
            if len(mine) > 1:
                yield from _by_owner(job, mine, theirs)
                continue
            owner, amount = next(iter(mine.items()), (Owner(), Fraction()))
            sum_ = sum((credits for _, credits in theirs), Fraction())
            more = amount - sum_
            if more:
                # Less than nothing is of who says it, where nobody was charged.
                found = [(owner, more)] if more > 0 else shares(theirs or [(owner, sum_)], -more)
                yield ChargeDifference(*job, amount, sum_, found)


def _by_owner(job: _Job, said: _Shares, entered: Sequence[Share]) -> Iterator[ChargeDifference]:
    """The differences of jobs that share an Id, or have none, and not an owner: of each owner."""
    sums: _Shares = defaultdict(Fraction)
    for owner, credits in entered:
        sums[owner] += credits
    for owner in {**said, **sums}:
        amount, sum_ = said.get(owner, Fraction()), sums.get(owner, Fraction())
        if amount != sum_:
            yield ChargeDifference(*job, amount, sum_, [(owner, abs(amount - sum_))])


def _said(engine: Engine, packing: Packing, documents: Sequence[int]) -> dict[_Job, _Shares]:
    """What jobs of documents say that they were charged."""
    asked = _question(engine.dialect)
    condition, value = engine.among("document", documents)
    found: dict[_Job, _Shares] = {}
    others: set[int] = set()
    rows = engine.fetch(f"{asked.text} AND {condition}", (*asked.values, value))
    for document, is_decided, charge, id_, *owner in rows:
        if is_decided:
            told = Owner(*(stripped(each or "") for each in owner))
            found[document, stripped(id_ or "")] = {told: Fraction(int(charge))}
        else:
            others.add(document)
    for document in others:
        # Another row of it may have been decided, and is told again.
        told_again: dict[_Job, _Shares] = {}
        for _, job in _jobs(engine, packing, document):
            of_id = told_again.setdefault((document, job.id), {})
            whose = owner_of(job)
            of_id[whose] = of_id.get(whose, Fraction()) + charge_of(job)
        found |= told_again
    return found


def _jobs(engine: Engine, packing: Packing, document: int) -> Iterator[tuple[int, Job]]:
    row = lookup.by_number(engine, document)
    assert row is not None  # documents never go away
    stored = lookup.stored(row, packing, engine.address)
    return jobs_in(stored.block())


def charge_of(job: Block) -> Fraction:
    """What a job says that it was charged; 0 for nothing, or for what is no number."""
    found = flat_properties(job).get(_CHARGE)
    try:
        return units.number(found.text) if found and is_text(found) else Fraction()
    except InvalidValue:
        return Fraction()


def owner_of(job: Block) -> Owner:
    """Whose a job is, whom it is charged to."""
    found = flat_properties(job)
    told = (found.get(name) for name in _OWNER)
    return Owner(*(stripped(each.text) if each and is_text(each) else "" for each in told))


# decision 928
def moved(engine: Engine, document: int, before: Block, after: Block) -> Iterator[tuple[str, str]]:
    """What is to be said of jobs that are charged to others than whose they are, with their Ids.

    The ledger keeps who was charged, and totals of jobs are of whose these are.
    """
    was = {job.id: owner_of(job) for _, job in jobs_in(before) if job.id}
    changed = [
        (job.id, owner, charge_of(job)) for _, job in jobs_in(after)
        if was.get(job.id, owner := owner_of(job)) != owner
    ]  # fmt: skip
    paid = _entered(engine, [document]) if changed else {}
    for id_, owner, charge in changed:
        for at, name in enumerate(_OWNER):
            sums: dict[str, Fraction] = defaultdict(Fraction)
            for payer, credits in paid.get((document, id_), ()):
                sums[payer[at]] += credits
            for text, credits in sums.items():
                left = min(credits, charge)  # what is given back is entered when the change ends
                if text and text != owner[at] != was[id_][at] and left > 0:
                    now, to = (" ".join(each.split())[:_SHOWN] for each in (owner[at], text))
                    stays = f"{units.decimal(left)} credits stay charged to {to}"
                    yield id_, f"{name} of job {id_} is {now or 'none'} now, and {stays}"


def _entered(engine: Engine, documents: Sequence[int]) -> dict[_Job, list[Share]]:
    """What the ledger says of the same, in its order."""
    condition, value = engine.among("document", documents)
    names = listed(("document", "job", "kind", "amount", "user", "project", "machine"))
    rows = engine.fetch(
        f"SELECT {names} FROM ledger WHERE {condition} "
        "AND kind IN ('Charge', 'Refund') ORDER BY number",
        (value,),
    )
    found = defaultdict(list)
    for document, job, *row in rows:
        found[document, job].append(entered(*row))
    return found


@cache
def _question(dialect: SqlDialect) -> Sql:
    """Rows of jobs that may have a Charge: document, whether it is decided, and what they say."""
    charge, id_, *owner = map(_column, (_CHARGE, "Id", *_OWNER))
    is_one = all_of(
        Compare(PLACE, Op.EQ, 0), Compare(KIND, Op.EQ, columns.JOB), Present(_COLUMN),
        *(each.right for each in (charge, id_, *owner)),
    )  # fmt: skip
    decided = of_whole_numbers(sql(is_one, dialect), [charge], dialect)
    maybe = sql(all_of(reading(effective=True), any_of(Present(_COLUMN), Bits(ODD, _BIT))), dialect)
    values = ", ".join(each.value for each in (charge, id_, *owner))
    return Sql(
        f"SELECT document, ({decided.text}) IS TRUE, {values} FROM job WHERE {maybe.text}",
        (*decided.values, *maybe.values),
    )


def _column(name: str) -> FlatColumn:
    found = flat_column(name)
    assert found is not None  # columns have it in each place
    return found
