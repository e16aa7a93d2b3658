"""The tables of a store, as data: both engines make them from here.

A document is an outermost Job or JobGroup, as it was read; a row is one Job in it. What a
document was before it changed is kept as a version, and each change says who made it, when, from
where and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from sssjob.store import columns
from sssjob.store.sql import quoted

VERSION = 9  # of these tables; a store of another one is upgraded before it is used

TAKEN_IN = 2  # of ``deleted``: nobody deleted it

INTEGER, NUMBER, TEXT, BYTES = "integer", "number", "text", "bytes"


class Field(NamedTuple):
    """A column: its name and type, and whether it may be without a value."""

    name: str
    type: str
    optional: bool = False


_DECLARED: dict[str, Table] = {}


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns, its key, and its indexes."""

    name: str
    fields: tuple[Field, ...]
    key: tuple[str, ...]
    unique: tuple[str, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    sparse: tuple[str, ...] = ()  # columns that have an index where they are not as usual
    # Small rows live in the key itself; large ones are kept out of it.
    is_small: bool = False

    def __post_init__(self) -> None:
        _DECLARED[self.name] = self

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(field.name for field in self.fields)


# fmt: off
SETTING = Table("setting", (
    Field("name",  TEXT),
    Field("value", TEXT),
), ("name",), is_small=True)
DICTIONARY = Table("dictionary", (
    Field("number", INTEGER),
    Field("data",   BYTES),
), ("number",))
CHANGE = Table("change", (
    Field("number", INTEGER),
    Field("at",     INTEGER),                 # seconds since 1970-01-01T00:00:00Z
    Field("by",     TEXT),
    Field("source", TEXT),
    Field("reason", TEXT),
), ("number",))
DOCUMENT = Table("document", (
    Field("number",     INTEGER),             # the order of the store
    Field("name",       TEXT),               # Job or JobGroup
    Field("id",         TEXT),
    Field("run",        INTEGER),
    Field("global_id",  TEXT),
    Field("submitted",  TEXT),
    Field("started",    TEXT),
    Field("version",    INTEGER),
    Field("change",     INTEGER),             # the one that made this version
    Field("deleted",    INTEGER),             # 1 is hidden, 2 as a group has the job; 0 is not
    Field("files",      TEXT),                # the digests of its Files by their ids, or ""
    Field("dictionary", INTEGER),             # the data is compressed with this one
    Field("data",       BYTES),
), ("number",), unique=("id", "name", "run"))
FORMER = Table("former", (
    Field("document",   INTEGER),
    Field("version",    INTEGER),
    Field("change",     INTEGER),
    Field("deleted",    INTEGER),
    Field("files",      TEXT),
    Field("dictionary", INTEGER),
    Field("data",       BYTES),
), ("document", "version"))
FILE = Table("file", (
    Field("digest",     TEXT),                # SHA-256 of what it holds
    Field("dictionary", INTEGER),
    Field("data",       BYTES),
), ("digest",))
NOTE = Table("note", (
    Field("name",   TEXT),
    Field("value",  TEXT),
    Field("change", INTEGER),
), ("name",), is_small=True)
# What jobs were quoted, reserved, charged and refunded: rows are added, and never changed.
LEDGER = Table("ledger", (
    Field("number",   INTEGER),                 # the order of the entries
    Field("change",   INTEGER),                 # the one that made it
    Field("at",       INTEGER),                 # seconds since 1970-01-01T00:00:00Z
    Field("kind",     TEXT),                    # Quote, Reserve, Charge or Refund
    Field("serial",   INTEGER, optional=True),  # what peers call a quote or a reservation
    Field("document", INTEGER, optional=True),  # in which the job is, if it is known
    Field("job",      TEXT),                    # its Id, or ""
    Field("user",     TEXT),
    Field("project",  TEXT),
    Field("machine",  TEXT),
    Field("amount",   TEXT,    optional=True),  # an exact number, not below 0
    Field("places",   INTEGER),                 # decimal places of amounts then
    Field("duration", INTEGER, optional=True),  # seconds that it is about
    Field("until",    INTEGER, optional=True),  # to when a quote or a reservation holds
    Field("ends",     INTEGER),                 # 1: what was reserved for the job before has ended
    Field("details",  TEXT),                    # how the amount came about
    Field("begins",   INTEGER, optional=True),  # from when a quote or a reservation is, if not at
    Field("said",     TEXT,    optional=True),  # what the request said of whose the job is
), ("number",), indexes=(("job",), ("document",), ("serial",), ("until",)))
QUOTED = Table("quoted", (
    Field("quote", INTEGER),                    # its serial
    Field("type",  TEXT),                       # Resource, or the property that the factor is for
    Field("name",  TEXT),
    Field("rate",  TEXT),                       # an exact number
), ("quote", "type", "name"), is_small=True)
# How often the documents of a part of the store were written to (see ``parts``).
TOUCHED = Table("touched", (
    Field("part",    INTEGER),
    Field("writer",  INTEGER),                  # so that those who write at once do not wait
    Field("changes", INTEGER),
), ("part", "writer"), is_small=True)
# What was answered to a message about a job; and the messages that may come once.
ANSWER = Table("answer", (
    Field("job",  TEXT),                        # what kind of messages these are
    Field("mark", TEXT),                        # the digest that was signed, or one of a nonce
    Field("at",   INTEGER),                     # when it was, or until when it is remembered
    Field("text", TEXT),
), ("job", "mark"), indexes=(("at",),), is_small=True)
# fmt: on


@cache
def job() -> Table:
    """The table of rows: to which document each belongs, and the columns that are asked for."""
    facts = (
        Field(column.name, column.kind.value, optional=column.name not in _KEY)
        for column in columns.COLUMNS
    )
    # A row is hidden when its document is, so that a question is asked of one table.
    own = (Field("document", INTEGER), Field("deleted", INTEGER))
    return Table(
        "job", (*own, *facts), ("document", *_KEY), (), columns.INDEXES, tuple(columns.USUAL), True
    )


_KEY = ("place", "reading")  # of a row within its document
OWN = 2  # columns of a row before those that are asked for


def tables() -> tuple[Table, ...]:
    """Every table of a store."""
    return (
        SETTING, DICTIONARY, CHANGE, DOCUMENT, FORMER, FILE, NOTE, LEDGER, QUOTED, ANSWER,
        TOUCHED, job(),
    )  # fmt: skip


def known(name: str) -> Table | None:
    """The table of a name, or None where none of ours has it."""
    job()
    return _DECLARED.get(name)


def listed(names: tuple[str, ...]) -> str:
    """Names as SQL lists them."""
    return ", ".join(map(quoted, names))


def create(table: Table, types: Mapping[str, str], suffix: str = "") -> str:
    """The statement that makes a table; ``types`` is what an engine calls the types."""
    lines = [
        f"{quoted(field.name)} {types[field.type]}{'' if field.optional else ' NOT NULL'}"
        for field in table.fields
    ]
    lines.append(f"PRIMARY KEY ({listed(table.key)})")
    if table.unique:
        lines.append(f"UNIQUE ({listed(table.unique)})")
    return f"CREATE TABLE {quoted(table.name)} ({', '.join(lines)}){suffix}"


def index_name(table: Table, names: tuple[str, ...]) -> str:
    """What an index is called."""
    return "_".join((table.name, *names))


def create_index(table: Table, names: tuple[str, ...]) -> str:
    """The statement that makes an index, if it is not there."""
    # Nobody looks for what is not there by an index, and most jobs lack most things.
    return (
        f"CREATE INDEX IF NOT EXISTS {quoted(index_name(table, names))} "
        f"ON {quoted(table.name)} ({listed(names)}) WHERE {quoted(names[0])} IS NOT NULL"
    )


def create_sparse_index(table: Table, name: str) -> str:
    """The statement that makes an index of the rows where a column is not as usual."""
    called = quoted(index_name(table, (name,)))
    where = f"{quoted(name)} > {columns.USUAL[name]}"
    on = f"{quoted(table.name)} ({quoted(name)}) WHERE {where}"
    return f"CREATE INDEX IF NOT EXISTS {called} ON {on}"


# One more transaction that wrote to a part, as a writer.
TOUCH = (
    "INSERT INTO touched (part, writer, changes) VALUES (?, ?, 1) "
    "ON CONFLICT (part, writer) DO UPDATE SET changes = touched.changes + 1"
)


def insert(table: Table, places: Sequence[int] | None = None) -> str:
    """The statement that adds a row of a table, or the values of the columns in some places."""
    all_ = table.names
    names = all_ if places is None else tuple(all_[place] for place in places)
    marks = ", ".join("?" * len(names))
    return f"INSERT INTO {quoted(table.name)} ({listed(names)}) VALUES ({marks})"
