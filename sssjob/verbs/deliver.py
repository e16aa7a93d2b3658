"""Delivering: features and records folded into the jobs of a document, a directory or a store.

What disagrees or is wrong comes as findings, and at the end one value says in numbers what
happened. Nothing is printed, so that a command, a server and a notebook deliver in the same way.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from sssjob import outputs, store
from sssjob.delivery import Delivery, DirectoryDelivery, StoreDelivery, Tally
from sssjob.delivery.store import StoreTally
from sssjob.document.files import is_compressed
from sssjob.document.sources import NamedSource, Opening, naming, opened
from sssjob.errors import Finding, UnusableInput
from sssjob.records import AUTO, find

# A document by its path, opened to be written; by ``outputs.Unchanged`` it stays as it is.
Writing = Callable[[Path], AbstractContextManager[BinaryIO]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is folded: directories of features, what was measured, and records of one format."""

    features: str | None = None
    machine: str | None = None
    status: str | None = None
    usages: tuple[str, ...] = ()
    records: tuple[NamedSource, ...] = ()
    format: str = AUTO.name
    zone: str = ""

    @property
    def of_features(self) -> bool:
        """Whether there is anything but records."""
        return any((self.features, self.machine, self.status, self.usages))


@dataclass(frozen=True, slots=True)
class Work:
    """What is folded ``into`` what was named, and how.

    A document goes where ``writing`` says, by default back ``in_place``; those of a directory are
    always written back. ``by`` tells a store who changes it. ``opening`` opens the records, so that
    a caller can show how far they are read.
    """

    into: NamedSource
    facts: Facts = field(default_factory=Facts)
    overwrite: bool = False
    force: bool = False
    now: int | None = None
    by: str = ""
    in_place: bool = True
    writing: Writing = outputs.writing
    opening: Opening = opened


def run(work: Work) -> Iterator[Finding | Tally | StoreTally]:
    """Fold it; yields findings, and last what happened in numbers.

    Raises ``SSSJobError`` and ``OSError`` for what cannot be read or written; of a store, records
    that were read before stay folded.
    """
    many = work.into.is_directory or work.into.is_store
    if many and (work.facts.of_features or not work.facts.records):
        with naming(work.into.name):
            raise UnusableInput("only records are folded into many documents")
    if work.into.is_store:
        yield from _into_store(work)
    else:
        tally = _into_directory(work) if many else _into_document(work)
        yield from tally.findings
        yield tally


def _into_document(work: Work) -> Tally:
    with _read_twice(work) as path:
        delivery = Delivery(
            path, work.into.name, overwrite=work.overwrite, force=work.force, now=work.now
        )
        with naming(work.into.name):
            delivery.look()
            _take_features(delivery, work.facts)
        _take_records(delivery, work)
        with naming(work.into.name):
            _write(path, delivery, work.writing, in_place=work.in_place)
    return delivery.tally


def _into_directory(work: Work) -> Tally:
    assert isinstance(work.into.given, Path)
    delivery = DirectoryDelivery(work.into.given, overwrite=work.overwrite)
    delivery.look()
    _take_records(delivery, work)
    delivery.write(lambda path, part: _write(path, part, work.writing, in_place=True))
    return delivery.tally


def _into_store(work: Work) -> Iterator[Finding | StoreTally]:
    facts = work.facts
    with store.open(work.into.name, by=work.by) as jobs:
        delivery = StoreDelivery(jobs, overwrite=work.overwrite)
        for source in facts.records:
            with naming(source.name), work.opening(source) as stream:
                yield from delivery.take_records(
                    stream, source.name, find(facts.format), facts.zone
                )
    yield delivery.tally


def _take_features(delivery: Delivery, facts: Facts) -> None:
    for place, take in (
        (facts.features, delivery.take_features), (facts.machine, delivery.take_machine),
        (facts.status, delivery.take_status),
        *((each, delivery.take_usage) for each in facts.usages),
    ):  # fmt: skip
        if place is not None:
            take(place)


def _take_records(delivery: Delivery | DirectoryDelivery, work: Work) -> None:
    for source in work.facts.records:
        with naming(source.name), work.opening(source) as stream:
            delivery.take_records(stream, source.name, find(work.facts.format), work.facts.zone)


def _write(path: Path, delivery: Delivery, writing: Writing, *, in_place: bool) -> None:
    with writing(path) as stream:
        stream.writelines(delivery.pieces())
        if in_place and not delivery.tally.changes:
            raise outputs.Unchanged


@contextmanager
def _read_twice(work: Work) -> Iterator[Path]:
    """A file with the document, which is read twice: what comes from a pipe is kept meanwhile."""
    given = work.into.given
    if isinstance(given, Path) and (given.is_file() or not given.exists()):
        if work.in_place and is_compressed(given):
            with naming(work.into.name):
                raise UnusableInput("it is compressed, and is not written back")
        yield given
        return
    if work.in_place:
        with naming(work.into.name):
            raise UnusableInput("it is no file that can be written back")
    with opened(work.into) as stream, tempfile.NamedTemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        yield Path(copy.name)
