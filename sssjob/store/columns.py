"""The columns of a job's row."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from lxml.etree import _Element as Element

from sssjob.store.identity import identify


class Kind(StrEnum):
    """The type of a column."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"


class Column(NamedTuple):
    """A column: its name in SQL, and its type."""

    name: str
    kind: Kind


COLUMNS: tuple[Column, ...] = (
    Column("place", Kind.INTEGER),
    Column("kind", Kind.TEXT),
    Column("reading", Kind.INTEGER),
    Column("id", Kind.TEXT),
)
NAMES: tuple[str, ...] = tuple(column.name for column in COLUMNS)
INDEXES: tuple[tuple[str, ...], ...] = (("id",),)


def rows(element: Element) -> list[tuple[str | int | float | None, ...]]:
    """The rows of a document: its own object, and the jobs of a group."""
    found = [element, *element.iterchildren("{*}Job")]
    names = [str(item.tag).rpartition("}")[2] for item in found]
    return [
        (place, name, 0, identify(item, name)[0])
        for place, (item, name) in enumerate(zip(found, names, strict=True))
    ]
