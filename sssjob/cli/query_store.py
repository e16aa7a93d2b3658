"""Stores among what ``sssjob query`` is asked of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.errors import SSSJobError
    from sssjob.query.forms import AnswerRow
    from sssjob.store import Store
    from sssjob.store.answers import Trace
    from sssjob.store.verifying import Difference, OnDifference
    from sssjob.verbs.ask import Asked, Asker


class StoreQuery(Protocol):
    """A query, and how it is asked."""

    asked: Asked
    explain: bool
    as_json: bool
    verify: bool
    differs: bool

    def fail(self, message: str) -> None:
        """Say that something could not be asked; the rest goes on."""


class NamedStore(NamedTuple):
    """A store as the user named it."""

    name: str


def rows(asking: StoreQuery, address: NamedStore, workers: Asker) -> Iterator[AnswerRow]:
    """What is found in a store; what cannot be asked is said and passed."""
    with _opened(asking, address) as (store, trace):
        yield from asking.asked.stored(
            store,
            address.name,
            lambda error: _refuse(asking, address, error),
            workers=workers,
            trace=trace,
            on_difference=_differences(asking, store),
        )


def count(asking: StoreQuery, address: NamedStore, workers: Asker) -> int:
    """How many matches there are in a store."""
    with _opened(asking, address) as (store, trace):
        return asking.asked.how_many(
            store,
            address.name,
            lambda error: _refuse(asking, address, error),
            workers=workers,
            trace=trace,
            on_difference=_differences(asking, store),
        )


@contextmanager
def _opened(asking: StoreQuery, address: NamedStore) -> Iterator[tuple[Store, Trace]]:
    """A store that is only read, explained before and after if that is wanted."""
    from sssjob import store
    from sssjob.store.answers import Trace

    trace = Trace()
    with store.open(address.name, read_only=True) as jobs:
        if asking.explain:
            _explain(asking, jobs)
        try:
            yield jobs, trace
        finally:  # also where a limit ends it
            if asking.explain:
                _tell(asking, jobs, trace)


def _explain(asking: StoreQuery, store: Store) -> None:
    is_one = asking.asked.query.has_one_answer
    if is_one and not asking.as_json:
        common.say(f"{store.address}: one answer for the whole store, from what is found by")
    for each in store.explain(asking.asked.query, effective=asking.asked.effective):
        if is_one and not asking.as_json:
            common.say(f"{store.address}: {each.expression}")
        if asking.as_json:
            common.say(json.dumps({"source": store.address, **each.as_dict}, ensure_ascii=False))
        else:
            for line in str(each).splitlines():
                common.say(f"{store.address}: {line}")


def _tell(asking: StoreQuery, store: Store, trace: Trace) -> None:
    if asking.as_json:
        common.say(json.dumps({"source": store.address, **trace.as_dict}))
    else:
        common.say(f"{store.address}: {trace}")


def _differences(asking: StoreQuery, store: Store) -> OnDifference | None:
    """What says that columns and documents differ, where they are to be compared."""
    if not (asking.verify or store.verifies):
        return None

    def tell(difference: Difference) -> None:
        asking.differs = True
        common.say(f"{store.address}: error: {difference}")

    return tell


def _refuse(asking: StoreQuery, address: NamedStore, error: SSSJobError) -> None:
    from sssjob.errors import UnreadableDocument

    found = error.finding.in_file(address.name) if isinstance(error, UnreadableDocument) else None
    asking.fail(str(found or f"{address.name}: error: {error}"))
