"""The two roads from records to jobs: by way of values, or straight to the text of documents.

A format says once what becomes of its columns, in terms of a road: pieces are made of properties,
laid side by side, and put into jobs. On one road a piece is a tuple of items and the end a
``Job``; on the other a piece is XML text and the end the text of the same job. Many records are
taken at once, column by column, because a call for each value is what takes time in Python.
# decision 400
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Generic, TypeVar

from sssjob.document.text import column_writer, dumps, fragment, writer
from sssjob.model import Block, Delivered, Item, Job, Property, Requested, TaskGroup

P = TypeVar("P")  # a piece: what a column of a record becomes
J = TypeVar("J")  # what a record becomes


class Road(ABC, Generic[P, J]):
    """How properties become pieces, and pieces jobs."""

    nothing: P

    @abstractmethod
    def of(self, properties: Iterable[Property]) -> P:
        """The piece that these properties are."""

    @abstractmethod
    def maker(self, element: str, attributes: Mapping[str, str]) -> Callable[[str], P]:
        """What makes the piece of one property, given its text."""

    @abstractmethod
    def column(
        self, element: str, attributes: Mapping[str, str]
    ) -> Callable[[Sequence[str]], list[P]]:
        """The same for many texts at once, none of them empty."""

    @abstractmethod
    def join(self, pieces: Iterable[P]) -> P:
        """Pieces behind each other."""

    @abstractmethod
    def side_by_side(self, columns: Sequence[Sequence[P]]) -> list[P]:
        """One piece for each record, of the pieces of several columns."""

    @abstractmethod
    def jobs(
        self, own: Sequence[P], requested: Sequence[P], delivered: Sequence[P], groups: Sequence[P]
    ) -> list[J]:
        """Jobs of their own properties, their categories and their task groups."""

    @abstractmethod
    def groups(self, own: Sequence[P], delivered: Sequence[P]) -> list[P]:
        """Task groups, each with its own properties and what was delivered to it."""

    @abstractmethod
    def whole(self, job: Job) -> J:
        """A job that was made by other means."""


Items = tuple[Item, ...]


class _Objects(Road[Items, Job]):
    nothing: Items = ()

    def of(self, properties: Iterable[Property]) -> Items:
        return tuple(properties)

    def maker(self, element: str, attributes: Mapping[str, str]) -> Callable[[str], Items]:
        return lambda text: (Property(element, text, attributes),)

    def column(
        self, element: str, attributes: Mapping[str, str]
    ) -> Callable[[Sequence[str]], list[Items]]:
        return lambda texts: [(Property(element, text, attributes),) for text in texts]

    def join(self, pieces: Iterable[Items]) -> Items:
        return tuple(chain.from_iterable(pieces))

    def side_by_side(self, columns: Sequence[Sequence[Items]]) -> list[Items]:
        return [tuple(chain.from_iterable(pieces)) for pieces in zip(*columns, strict=True)]

    def jobs(
        self,
        own: Sequence[Items],
        requested: Sequence[Items],
        delivered: Sequence[Items],
        groups: Sequence[Items],
    ) -> list[Job]:
        return [
            Job((*mine, *_block(Requested, asked), *_block(Delivered, given), *inner))
            for mine, asked, given, inner in zip(own, requested, delivered, groups, strict=True)
        ]

    def groups(self, own: Sequence[Items], delivered: Sequence[Items]) -> list[Items]:
        return [
            (TaskGroup((*mine, *_block(Delivered, given))),)
            for mine, given in zip(own, delivered, strict=True)
        ]

    def whole(self, job: Job) -> Job:
        return job


def _block(kind: type[Block], items: Items) -> Items:
    return (kind(items),) if items else ()


class _Texts(Road[str, str]):
    nothing = ""

    def of(self, properties: Iterable[Property]) -> str:
        return fragment(properties)

    def maker(self, element: str, attributes: Mapping[str, str]) -> Callable[[str], str]:
        return writer(element, attributes)

    def column(
        self, element: str, attributes: Mapping[str, str]
    ) -> Callable[[Sequence[str]], list[str]]:
        return column_writer(element, attributes)

    def join(self, pieces: Iterable[str]) -> str:
        return "".join(pieces)

    def side_by_side(self, columns: Sequence[Sequence[str]]) -> list[str]:
        return list(map("".join, zip(*columns, strict=True)))

    def jobs(
        self,
        own: Sequence[str],
        requested: Sequence[str],
        delivered: Sequence[str],
        groups: Sequence[str],
    ) -> list[str]:
        return [
            f"<Job>{mine}<Requested>{asked}</Requested><Delivered>{given}</Delivered>{inner}</Job>"
            if asked and given
            else f"<Job>{mine}{_wrapped(Requested, asked)}{_wrapped(Delivered, given)}{inner}</Job>"
            for mine, asked, given, inner in zip(own, requested, delivered, groups, strict=True)
        ]

    def groups(self, own: Sequence[str], delivered: Sequence[str]) -> list[str]:
        return [
            f"<TaskGroup>{mine}{_wrapped(Delivered, given)}</TaskGroup>"
            for mine, given in zip(own, delivered, strict=True)
        ]

    def whole(self, job: Job) -> str:
        return dumps(job)


def _wrapped(kind: type[Block], inner: str) -> str:
    return f"<{kind.name}>{inner}</{kind.name}>" if inner else ""


OBJECTS = _Objects()
TEXTS = _Texts()
