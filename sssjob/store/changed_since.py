"""Which documents of a store are others than at a moment before, told without reading them.

Each transaction counts to which parts of the store it writes (``parts``), and a version knows the
change that made it: so only parts whose counts grew are asked, for what later changes made. A mark
keeps both, of a moment.

In PostgreSQL changes are numbered when they begin, and may be committed in another order: so many
numbers before the mark are asked for, too. One that took longer shows to whoever asks for all.
"""

from __future__ import annotations

from typing import NamedTuple

from sssjob.store.engine import Engine, ReadTransaction, Row
from sssjob.store.identity import Identity
from sssjob.store.parts import counts, numbers
from sssjob.store.sql import POSTGRESQL

_AT_ONCE = 100  # changes of writers that do not wait for each other
_ASK = 'SELECT name, id, run, version, deleted FROM document WHERE "change" > ?'


class StandingVersion(NamedTuple):
    """A document without what it holds."""

    identity: Identity
    version: int
    deleted: bool


class StoreNews(NamedTuple):
    """What is new since a mark, and a mark for the next time; or all documents."""

    mark: str
    documents: list[StandingVersion]
    are_all: bool


def since(engine: Engine, mark: str) -> StoreNews:
    """The documents that were written since a mark; all of them without one, or with a strange one.

    Hidden ones are among those that are new, and not among all.
    """
    before = _read(mark)
    with engine.reading() as moment:
        now = counts(moment)
        [(last,)] = moment.fetch("SELECT coalesce(max(number), 0) FROM change")
        text = " ".join((str(last), *(f"{part}:{count}" for part, count in now.items())))
        if before is None or _is_another(before, last, now):
            return StoreNews(text, [_standing(row) for row in _all(moment)], are_all=True)
        change, known = before
        first = change - (_AT_ONCE if engine.dialect is POSTGRESQL else 0)
        found = [
            _standing(row) for part in now if now[part] != known.get(part)
            for row in moment.fetch(f"{_ASK} AND number >= ? AND number < ?",
                                    (first, *numbers(part)))
        ]  # fmt: skip
    return StoreNews(text, found, are_all=False)


def _all(moment: ReadTransaction) -> list[Row]:
    return moment.fetch(f"{_ASK} AND deleted = 0 ORDER BY number", (-1,))


def _standing(row: Row) -> StandingVersion:
    name, id_, run, version, deleted = row
    return StandingVersion(Identity(name, id_, run), version, bool(deleted))


def _is_another(before: tuple[int, dict[int, int]], last: int, now: dict[int, int]) -> bool:
    """Whether a mark is not of this store, or it was brought back from a copy."""
    change, known = before
    return last < change or any(now.get(part, 0) < count for part, count in known.items())


def _read(mark: str) -> tuple[int, dict[int, int]] | None:
    """The last change of a mark, and how often each part had been written to."""
    change, *told = mark.split() or [""]
    try:
        pairs = (each.split(":") for each in told)
        return int(change), {int(part): int(count) for part, count in pairs}
    except ValueError:
        return None
