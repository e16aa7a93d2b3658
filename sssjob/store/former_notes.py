"""The ledger of a store that kept quotes, reservations and charges as notes, up to version 3."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from typing import Any

from sssjob.errors import InvalidValue
from sssjob.model import Job
from sssjob.store import lookup
from sssjob.store.engine import Engine
from sssjob.store.history import HistoryEntry
from sssjob.store.ledger import RESOURCE, Entry, EntryKind, StoreLedger
from sssjob.store.packing import Packing
from sssjob.units import number

_CHARGED, _RESERVED, _QUOTED = "charged ", "reservations of ", "quote "
UPGRADE = "upgrade of the store"
_GONE = (_CHARGED, _RESERVED, _QUOTED, "answers about ")


def to_ledger(engine: Engine, packing: Packing) -> None:
    """Make entries of the notes, and take those away. It runs within a transaction."""
    change = HistoryEntry(engine, by="", source="", reason=UPGRADE)
    ledger, now = StoreLedger(engine, change), int(time.time())
    notes = engine.fetch("SELECT name, value FROM note ORDER BY name")
    for name, value in notes:
        if name.startswith(_QUOTED):
            _quote(ledger, int(name.removeprefix(_QUOTED)), json.loads(value), now)
        elif name.startswith(_RESERVED):
            job = name.removeprefix(_RESERVED)
            for kept in json.loads(value):
                ledger.add(Entry(
                    EntryKind.RESERVE, Fraction(kept["amount"]), now, job, _document(engine, job),
                    kept["id"], until=kept["until"], details=kept["details"],
                ))  # fmt: skip
    for name, value in notes:
        if name.startswith(_CHARGED):
            place, _, job = name.removeprefix(_CHARGED).partition(" ")
            amount = _charge(engine, packing, int(place), job)
            ledger.add(Entry(EntryKind.CHARGE, amount, int(value), job, int(place),
                             details="charged before there was a ledger"))  # fmt: skip
    gone = [(name,) for name, _ in notes if name.startswith(_GONE)]
    engine.many("DELETE FROM note WHERE name = ?", gone)


def _quote(ledger: StoreLedger, serial: int, kept: dict[str, Any], now: int) -> None:
    said = kept["rates"]
    rates = {(RESOURCE, name): Fraction(rate) for name, rate in said["resources"].items()}
    for type_, factors in said["multipliers"].items():
        rates |= {(type_, name): Fraction(rate) for name, rate in factors.items()}
    entry = Entry(
        EntryKind.QUOTE, None, now, serial=serial, user=kept["user"], places=said["precision"],
        until=kept["until"],
    )  # fmt: skip
    ledger.add(entry, rates)


def _document(engine: Engine, job: str) -> int | None:
    found = lookup.find(engine, job)
    return None if found is None else int(found[0])


def _charge(engine: Engine, packing: Packing, place: int, job: str) -> Fraction:
    """What a job says that it was charged, which was kept nowhere else."""
    row = lookup.by_number(engine, place)
    if row is None:
        return Fraction()
    block = lookup.stored(row, packing, engine.address).block()
    for each in (block, *block.blocks(Job)):
        if each.id == job:
            try:
                return max(Fraction(), number(each.get("Charge") or "0"))
            except InvalidValue:
                break
    return Fraction()
