"""Jobs of a store as a table: pages by key, and how many jobs there are of each value.

Strategy. A page is found by the key of the last row before it, its value and its place in the
store, and not by counting rows: the hundredth page costs what the first one costs, and rows that
are added meanwhile move nobody. Jobs without a value come last, in either direction, by a
statement of their own, so that an index on the column serves the others. Every job is on exactly
one page, because document and place tell jobs apart that have the same value.

A name stands for what accounting sees (``accounting.report``): what was delivered, else what the
job says itself, else what it requests. Of a request only the text is looked at, not its operator.
"""

from __future__ import annotations

from calendar import monthrange, timegm
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from sssjob import registry, spec, states, units
from sssjob.errors import InvalidValue
from sssjob.measures import LONGEST
from sssjob.spans import DATED
from sssjob.store import columns
from sssjob.store.columns import KIND, PLACE, SEPARATOR, ColumnType
from sssjob.store.condition import (
    TRUE,
    Compare,
    CompareSum,
    Condition,
    Holds,
    LikeUpper,
    Op,
    Present,
    Relate,
    all_of,
    any_of,
    none_of,
)
from sssjob.store.engine import CountedIn, ReadTransaction
from sssjob.store.plan import reading
from sssjob.store.sql import Sql, SqlDialect, quoted, sql
from sssjob.suggestions import nearest

MOST = 1000  # rows of a page, and values of a facet
_REMEMBERED = 1000  # counts of a store that nobody writes to
_DAY = 86400
_YEARS = range(1, 10_000)

T = TypeVar("T")


class ValueKind(StrEnum):
    """What the values of a column are."""

    TEXT = "text"
    NUMBER = "number"
    TIME = "seconds since 1970-01-01T00:00:00Z"
    DURATION = "seconds"
    BYTES = "bytes"


class TableColumn(NamedTuple):
    """A column of the table: of these columns of the store, the first that has a value."""

    name: str
    columns: tuple[str, ...]
    kind: ValueKind = ValueKind.TEXT


class PageKey(NamedTuple):
    """Where a page ends: the value that it is sorted by, None for a job without, and the place."""

    value: str | float | None
    document: int
    place: int


class TableJob(NamedTuple):
    """A job of the table: the number of its document, its place there (0 alone, or from 1 on in a
    JobGroup), and the values of the columns; None is not stated.
    """

    document: int
    place: int
    values: tuple[str | float | None, ...]


class Page(NamedTuple):
    """Some jobs, and the key of the last one if there are more."""

    rows: tuple[TableJob, ...]
    after: PageKey | None


class ValueCount(NamedTuple):
    """How many jobs have a value; None is not stated."""

    value: str | float | None
    jobs: int


def _flat(name: str) -> tuple[str, ...]:
    every = (f"delivered_{name}", name, f"requested_{name}")
    return tuple(each for each in every if each in columns.NAMES)


WALL = ("delivered_duration", "duration")  # never what was only requested
SUSPENDED = "suspend_duration"
# fmt: off
_SHOWN = (
    TableColumn("id",         ("id",)),
    TableColumn("state",      ("state",)),
    TableColumn("name",       ("name",)),
    TableColumn("user",       _flat("user")),
    TableColumn("project",    _flat("project")),
    TableColumn("queue",      _flat("queue")),
    TableColumn("machine",    _flat("machine")),
    TableColumn("submit",     ("submit_time",),                        ValueKind.TIME),
    TableColumn("start",      ("start_time",),                         ValueKind.TIME),
    TableColumn("end",        ("end_time",),                           ValueKind.TIME),
    TableColumn("wall",       WALL,                                    ValueKind.DURATION),
    TableColumn("processors", _flat("processors"),                     ValueKind.NUMBER),
    TableColumn("nodes",      _flat("node_count"),                     ValueKind.NUMBER),
    TableColumn("memory",     _flat("memory_bytes"),                   ValueKind.BYTES),
    TableColumn("exit",       ("exit_code",),                          ValueKind.NUMBER),
    TableColumn("status",     _flat("status_message")),
)
_LATER = ("nodes", "start", "status")  # columns that are there when they are asked for
# fmt: on
MONTH = "month"  # in which a job ended, in UTC
OUTCOME = "outcome"  # how a job has ended
FACETS = ("state", "user", "project", "queue", "machine", MONTH, OUTCOME, "exit", "status")
SEARCHED = ("id", "name", "global_id", *_flat("user"), *_flat("project"))


def _kind(column: columns.Column) -> ValueKind:
    if column.kind is ColumnType.TEXT:
        return ValueKind.TEXT
    if column.says is columns.Says.BYTES:
        return ValueKind.BYTES
    row = spec.element(column.path.rpartition("/")[2])
    types = {spec.DATETIME: ValueKind.TIME, spec.DURATION: ValueKind.DURATION}
    return ValueKind.NUMBER if row is None else types.get(row.type, ValueKind.NUMBER)


# What people look for first, and then every column of the store by its own name.
SHOWN: Mapping[str, TableColumn] = {
    each.name: each
    for each in (
        *(
            TableColumn(each.name, (each.name,), _kind(each))
            for each in columns.COLUMNS
            if each.path
        ),
        *_SHOWN,
    )
}
USUAL = tuple(each.name for each in _SHOWN if each.name not in _LATER)
# Facets that are worked out of columns.
_MADE = {
    MONTH: TableColumn(MONTH, ("end_time",)),
    OUTCOME: TableColumn(OUTCOME, ("state", "status_message", "exit_code", "end_time")),
}


def outcomes() -> dict[str, Condition]:
    """The rules of ``states.how_it_ended`` for jobs that ``states.has_ended``, of columns.

    An Extension Signal is in no column. What a record has beside it says the same, but of a job
    whose ExitCode is 0.
    """

    def says(known: registry.KnownWords) -> Condition:
        return any_of(*(LikeUpper("status_message", word) for word in known.words))

    def states_(words: Iterable[str]) -> Condition:
        return any_of(*(LikeUpper("state", word.upper()) for word in words))

    said = any_of(Present("exit_code"), Present("end_time"))
    over = any_of(states_(states.OVER), all_of(none_of(Present("state")), said))
    failed = any_of(
        says(states.said_of_failed()), states_(states.BAD_ENDS), Compare("exit_code", Op.NE, 0)
    )
    found, left = dict[str, Condition](), over
    for ending, so in (
        (states.Ending.ABORTED, any_of(says(states.said_of_aborted()), states_(states.ABORTED))),
        (states.Ending.FAILED, failed),
        (states.Ending.WELL, Present("exit_code")),
        (states.Ending.UNSAID, TRUE),
    ):
        found[ending.value] = all_of(left, so)
        left = all_of(left, none_of(so))
    return found


def shown(name: str) -> TableColumn:
    """A column by its name. Raises ``InvalidValue``."""
    if name not in SHOWN:
        raise InvalidValue(name, f"a column of jobs{_meant(name, SHOWN)}")
    return SHOWN[name]


def columns_of(name: str) -> tuple[str, ...]:
    """The columns of the store that a facet is made of. Raises ``InvalidValue``."""
    return (_MADE.get(name) or shown(name)).columns


def having(name: str, value: str) -> Condition:
    """Jobs that have a value of a column, or that ended in a month; "" is for those without any.

    Raises ``InvalidValue``.
    """
    column = _MADE.get(name) or shown(name)
    if name == OUTCOME:
        return _outcome(value)
    if not value and (name == MONTH or column.kind is not ValueKind.TEXT):
        return none_of(any_of(*map(Present, column.columns)))
    if name == MONTH:
        return ended(*_month(value))
    wanted = value if column.kind is ValueKind.TEXT else _number(value)
    found: list[Condition] = []
    for place, each in enumerate(column.columns):
        before = (none_of(Present(former)) for former in column.columns[:place])
        found.append(all_of(Compare(each, Op.EQ, wanted), *before))
    if not value:  # an empty element states none, as value_of has it
        found.append(none_of(any_of(*map(Present, column.columns))))
    return any_of(*found)


def _outcome(value: str) -> Condition:
    known = outcomes()
    if not value:
        return none_of(any_of(*known.values()))
    if value not in known:
        raise InvalidValue(value, f"an outcome: one of {', '.join(known)}")
    return known[value]


def holding(text: str) -> Condition:
    """Jobs that have a text in their Id, Name, GlobalId, user or project, as it is written."""
    return any_of(*(Holds(each, text) for each in SEARCHED)) if text else TRUE


def page(
    engine: CountedIn, names: Sequence[str], where: Condition = TRUE, *, sort: str = "",
    down: bool = False, after: PageKey | None = None, limit: int,
) -> Page:  # fmt: skip
    """The next jobs behind a key, sorted by a column; without one, in the order of the store.

    Raises ``InvalidValue`` for a column that there is none of.
    """
    told = [_sql(shown(name)) for name in names]
    by = _sql(shown(sort)) if sort else ""
    jobs = sql(all_of(_JOBS, where), engine.dialect)
    found: list[tuple[Any, ...]] = []
    with engine.reading() as moment:
        for part in _parts(by, down, after):
            if len(found) <= limit:
                text = (
                    f"SELECT document, place, {by or 'NULL'}, {', '.join(told) or 'NULL'} FROM job "
                    f"WHERE {jobs.text}{part.text} LIMIT ?"
                )
                values = (*jobs.values, *part.values, limit + 1 - len(found))
                found += moment.fetch(text, values)
    rows = tuple(TableJob(row[0], row[1], row[3 : 3 + len(told)]) for row in found[:limit])
    if len(found) <= limit:
        return Page(rows, None)
    document, place, value = found[limit - 1][:3]
    return Page(rows, PageKey(value, document, place))


def whole_jobs() -> Condition:
    """Every job that the table has, with the defaults of its group applied."""
    return _JOBS


def expression(name: str) -> str:
    """The value of a column as SQL. Raises ``InvalidValue``."""
    return _sql(shown(name))


def ranging(name: str, low: float, high: float | None) -> Condition:
    """Jobs whose number of a column is at least ``low`` and below ``high``, which may be open.

    Raises ``InvalidValue`` for no column of numbers.
    """
    column = shown(name)
    if column.kind is ValueKind.TEXT:
        raise InvalidValue(name, "a column of numbers")
    found: list[Condition] = []
    for place, each in enumerate(column.columns):
        before = (none_of(Present(former)) for former in column.columns[:place])
        below = TRUE if high is None else Compare(each, Op.LT, high)
        found.append(all_of(Compare(each, Op.GE, low), below, *before))
    return any_of(*found)


def waited(low: float, high: float | None) -> Condition:
    """Jobs that waited for at least ``low`` seconds, and less than ``high``."""
    below = TRUE if high is None else Relate("start_time", Op.LT, "submit_time", high)
    return all_of(Relate("start_time", Op.GE, "submit_time", low), below)


def ran(low: int, high: int) -> Condition:
    """Jobs that ran at some time from ``low`` up to ``high``, by the rule of ``measures``; without
    a start, or where it lasted no time or too long, those that were over then.
    """
    divided = all_of(_dated("start_time"), none_of(_took_too_long()))
    begun = all_of(divided, Compare("start_time", Op.LT, high))
    before = all_of(divided, Compare("start_time", Op.LT, low))
    return any_of(
        all_of(_over(Op.GT, low), any_of(begun, _over(Op.LT, high))),
        all_of(_over(Op.EQ, low), none_of(before)),  # a run up to ``low`` has no part of the time
    )


def counted(low: int, high: int) -> Condition:
    """Jobs that charts count from ``low`` up to ``high``: those that ended then, and of those that
    state no end, those of which the record reaches as far.
    """
    return all_of(_over(Op.GE, low), _over(Op.LT, high))


def ended(low: int, high: int) -> Condition:
    """Jobs that ended from ``low`` up to ``high``, as they state it."""
    return all_of(Compare("end_time", Op.GE, low), Compare("end_time", Op.LT, high))


def _over(op: Op, time: int) -> Condition:
    """When a job was over, as ``measures.over_sql`` has it, against a time."""
    ended = all_of(_dated("end_time"), Compare("end_time", op, time))
    others = (
        all_of(told, CompareSum(("start_time", *took), op, time)) for told, took in _reached()
    )
    return any_of(ended, *others)


def _took_too_long() -> Condition:
    """Whether a job that has a start counts where it was over, as ``measures.begun_sql`` has it."""
    ended = all_of(_dated("end_time"), Relate("end_time", Op.GT, "start_time", LONGEST))
    others = (all_of(told, CompareSum(took, Op.GT, LONGEST)) for told, took in _reached())
    return any_of(ended, *others)


def _reached() -> Iterator[tuple[Condition, tuple[str, ...]]]:
    """How the record of a job without an end says as far as it goes: if it does, and the columns
    that say how long after its start.
    """
    unknown, start = none_of(_dated("end_time")), _dated("start_time")
    away = Present(SUSPENDED)
    for place, wall in enumerate(WALL):
        ran = ("start_time", wall)
        before = (none_of(Present(former)) for former in WALL[:place])
        bounds = (CompareSum(ran, Op.GT, -DATED), CompareSum(ran, Op.LT, DATED))
        told = all_of(unknown, start, *bounds, *before)
        yield all_of(told, none_of(away)), (wall,)
        within = (Compare(SUSPENDED, Op.GE, 0), CompareSum((*ran, SUSPENDED), Op.LT, DATED))
        yield all_of(told, away, *within), (wall, SUSPENDED)


def _dated(name: str) -> Condition:
    return all_of(Compare(name, Op.GT, -DATED), Compare(name, Op.LT, DATED))


def count(engine: CountedIn, where: Condition = TRUE) -> int:
    """How many jobs there are; it is remembered while nobody writes."""

    def asked(moment: ReadTransaction) -> int:
        jobs = sql(all_of(_JOBS, where), engine.dialect)
        [(found,)] = moment.fetch(f"SELECT count(*) FROM job WHERE {jobs.text}", jobs.values)
        return int(found)

    return remembered(engine, ("count", where), asked)


def value_of(name: str, dialect: SqlDialect) -> Sql:
    """The value of a facet or a column; an empty text is none. Raises ``InvalidValue``."""
    if name == MONTH:
        return Sql(dialect.month.format(quoted("end_time")))
    if name != OUTCOME:
        column = shown(name)
        told = _sql(column)
        return Sql(f"nullif({told}, '')" if column.kind is ValueKind.TEXT else told)
    cases = [(sql(so, dialect), ending) for ending, so in outcomes().items()]
    told = " ".join(f"WHEN {each.text} THEN '{ending}'" for each, ending in cases)
    return Sql(f"CASE {told} END", tuple(value for each, _ in cases for value in each.values))


def facet(engine: CountedIn, name: str, where: Condition = TRUE, *, limit: int) -> list[ValueCount]:
    """The values of a column with the most jobs, or of the months in which jobs ended.

    They are remembered while nobody writes. Raises ``InvalidValue`` for no column.
    """
    value = value_of(name, engine.dialect)

    def asked(moment: ReadTransaction) -> list[ValueCount]:
        jobs = sql(all_of(_JOBS, where), engine.dialect)
        rows = moment.fetch(
            f"SELECT {value.text}, count(*) FROM job WHERE {jobs.text} GROUP BY 1 "
            "ORDER BY 2 DESC, 1 LIMIT ?",
            (*value.values, *jobs.values, limit),
        )
        return [ValueCount(*row) for row in rows]

    return remembered(engine, ("facet", name, where, limit), asked)


def texts(value: object) -> list[str]:
    """The texts of a value; of several elements a column has all, between separators.

    >>> texts("\\x1fa\\x1fb\\x1f"), texts("a")
    (['a', 'b'], ['a'])
    """
    text = str(value)
    return text.strip(SEPARATOR).split(SEPARATOR) if text[:1] == SEPARATOR else [text]


_JOBS = all_of(
    Compare(KIND, Op.EQ, columns.JOB), Compare("deleted", Op.EQ, 0), reading(effective=True)
)


def _parts(by: str, down: bool, after: PageKey | None) -> Iterator[Sql]:
    """The rest of each statement: which rows come behind the key, and in which order."""
    sign, way = ("<", " DESC") if down else (">", "")
    order = f"document{way}, {quoted(PLACE)}{way}"
    here = f"document, {quoted(PLACE)}"
    if by and (after is None or after.value is not None):
        key = "" if after is None else f" AND ({by}, {here}) {sign} (?, ?, ?)"
        known = () if after is None or after.value is None else (after.value, *after[1:])
        yield Sql(f" AND {by} IS NOT NULL{key} ORDER BY {by}{way}, {order}", known)
        after = None
    missing = f" AND {by} IS NULL" if by else ""
    key = "" if after is None else f" AND ({here}) {sign} (?, ?)"
    yield Sql(f"{missing}{key} ORDER BY {order}", tuple(after[1:]) if after else ())


def _sql(column: TableColumn) -> str:
    names = ", ".join(map(quoted, column.columns))
    return f"coalesce({names})" if len(column.columns) > 1 else names


def remembered(engine: CountedIn, what: object, ask: Callable[[ReadTransaction], T]) -> T:
    """What a question finds, asked once for as long as nobody writes."""
    with engine.reading() as moment:
        if what not in moment.known:
            if len(moment.known) > _REMEMBERED:
                moment.known.clear()
            moment.known[what] = ask(moment)
        found: T = moment.known[what]
        return found


def _number(text: str) -> float:
    try:
        return float(units.number(text))
    except OverflowError:
        raise InvalidValue(text, "a number that a column can hold") from None


def _month(text: str) -> tuple[int, int]:
    """When a month begins, and when the next one does."""
    year, _, month = text.partition("-")
    if not (text.isascii() and year.isdecimal() and month.isdecimal() and len(text) == 7):
        raise InvalidValue(text, "a month such as 2026-11")
    first, number = int(year), int(month)
    if first not in _YEARS or number not in range(1, 13):
        raise InvalidValue(text, "a month such as 2026-11")
    begin = timegm((first, number, 1, 0, 0, 0))
    # The month behind the last one of the calendar has no name.
    return begin, begin + monthrange(first, number)[1] * _DAY


def _meant(name: str, names: Mapping[str, object]) -> str:
    meant = nearest(name, frozenset(names))
    return f"; did you mean {meant}?" if meant else ""
