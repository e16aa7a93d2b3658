"""Tables of a site beside its jobs: who belongs where, benchmark factors, and rates.

They are files of TOML or CSV. Each row holds for a period, or always, and may name what it is for.

Strategy. A row of names says of one name (a user, say) which names it has elsewhere: the person,
the department. A row of factors or rates says for which jobs it is, by any of these, and of two
that are for a job the one that says more counts. People make such files by hand, and money hangs on
them: what two rows say of one job at one time is told when the file is read, not when it matters.

The idea is that a table knows all times at which a row begins or ends. Between two of them nothing
changes, so a report that is cut there asks each table once for each of its groups.

Why it is right: a row is for all of a period between two such times, or for none of it.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from sssjob import settings
from sssjob.accounting.report import GROUPINGS, Money
from sssjob.errors import BadSettings, Problem
from sssjob.library_words import csv_fault
from sssjob.measures import SORTED_BY
from sssjob.spans import DATED, SPANS
from sssjob.suggestions import nearest

FROM, UNTIL, NAME = "from", "until", "name"
FACTOR, RATE = "factor", "rate"
# What a rate is for: the sum of a report that it is by, and how much of it is one.
# fmt: off
PRICES: Mapping[str, tuple[str, int]] = {
    "job":             ("jobs", 1),
    "wall_hour":       ("wall", 3600),
    "processor_hour":  ("slots", 3600),
    "cpu_hour":        ("cpu", 3600),
    "node_hour":       ("nodes", 3600),
    "gpu_hour":        ("gpus", 3600),
    "memory_gb_hour":  ("held", 3600 << 30),
    "kwh":             ("energy", 3_600_000),
    "normalized_processor_hour": ("normalized", 3600),
}
# fmt: on
_KEYS = tuple(name for name in GROUPINGS if name not in SPANS)
_MOST = 100_000  # rows of a file
_BYTES = 16 << 20  # of a file of CSV
_LONGEST = 200  # characters of a name
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")
_LEVEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,40}")
_TIME = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2}([T ][0-9:.]{5,15}(Z|[+-][0-9:]{4,5})?)?)?)?")

Told = Mapping[str, str]  # what is known of a group, by names that jobs are grouped by, and levels


class Period(NamedTuple):
    """From when to when a row holds, in seconds since 1970; None is always."""

    begin: int | None = None
    end: int | None = None

    def has(self, time: int | None) -> bool:
        """Whether a time is in it. A job without one is in what holds always, and nothing else."""
        if time is None:
            return self.begin is None and self.end is None
        after = self.begin is None or self.begin <= time
        return after and (self.end is None or time < self.end)

    def meets(self, other: Period) -> bool:
        """Whether a time is in both."""
        begins = [each for each in (self.begin, other.begin) if each is not None]
        ends = [each for each in (self.end, other.end) if each is not None]
        return not begins or not ends or max(begins) < min(ends)


class Line(NamedTuple):
    """A row of a file as it is written: the table that it is of, and texts by their keys."""

    file: str
    table: str
    number: int
    texts: dict[str, str]
    lines: Mapping[str, int] = {}

    def problem(self, key: str, found: str, expected: str) -> Problem:
        """What is wrong with a key."""
        return Problem(self.file, self.lines.get(key, 0) or self.number, key, found, expected)


class NamesRow(NamedTuple):
    """What a name is elsewhere, for a period."""

    period: Period
    levels: Mapping[str, str]
    line: Line


class ValueRow(NamedTuple):
    """A number for the jobs of which all of ``wanted`` is true, for a period."""

    period: Period
    wanted: Mapping[str, str]
    value: Fraction
    line: Line


@dataclass(slots=True)
class LevelNames:
    """What names are elsewhere: ``sources`` has what each level is told by, such as user."""

    sources: dict[str, str] = field(default_factory=dict)
    rows: dict[tuple[str, str], list[NamesRow]] = field(default_factory=dict)

    def base(self, name: str) -> str:
        """What jobs are grouped by to know this: the name itself unless it is a level."""
        while name in self.sources:
            name = self.sources[name]
        return name

    def of(self, name: str, told: Told, time: int | None, missing: set[tuple[str, str]]) -> str:
        """What a group has of a name. Without a row it has what the row would be of.

        Each such is put into ``missing``, with the level; what is not stated has no row.
        """
        if name not in self.sources:
            return told[name]
        source = self.sources[name]
        known = self.of(source, told, time, missing)
        if not known:
            return ""
        for row in self.rows.get((source, known), ()):
            if name in row.levels and row.period.has(time):
                return row.levels[name]
        missing.add((name, known))
        return known

    @property
    def periods(self) -> Iterator[Period]:
        """All of them."""
        return (row.period for rows in self.rows.values() for row in rows)


@dataclass(slots=True)
class Values:
    """Numbers for jobs, of one kind; ``of`` finds the one of the row that says most."""

    rows: list[ValueRow] = field(default_factory=list)
    _by: dict[tuple[str, ...], dict[tuple[str, ...], list[ValueRow]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.rows:
            names = tuple(sorted(row.wanted))
            texts = tuple(row.wanted[name] for name in names)
            self._by.setdefault(names, {}).setdefault(texts, []).append(row)

    @property
    def names(self) -> set[str]:
        """What rows ask of jobs."""
        return {name for row in self.rows for name in row.wanted}

    def of(self, told: Told, time: int | None) -> Fraction | None:
        """The number for a group, or None."""
        found = [
            row
            for names, rows in self._by.items()
            for row in rows.get(tuple(told[name] for name in names), ())
            if row.period.has(time)
        ]
        return max(found, key=lambda row: len(row.wanted)).value if found else None

    def problems(self) -> Iterator[Problem]:
        """Rows that say two things of the same jobs at the same time."""
        for rows in self._by.values():
            for same in rows.values():
                yield from _overlaps(same)
        for one, other in combinations(self._by, 2):
            if len(one) == len(other):
                yield from self._unclear(one, other)

    def _unclear(self, one: Sequence[str], other: Sequence[str]) -> Iterator[Problem]:
        """Rows that ask as much, of different names, so that a job may meet both."""
        shared = [name for name in one if name in other]
        by: dict[tuple[str, ...], list[ValueRow]] = defaultdict(list)
        for rows in self._by[tuple(one)].values():
            for row in rows:
                by[tuple(row.wanted[name] for name in shared)].append(row)
        for rows in self._by[tuple(other)].values():
            for row in rows:
                for met in by[tuple(row.wanted[name] for name in shared)]:
                    if row.period.meets(met.period):
                        first, later = sorted((met, row), key=lambda each: each.line.number)
                        names = ", ".join(sorted({*one, *other}))
                        yield later.line.problem(
                            "", f"a row that asks as much as that of line {first.line.number}",
                            f"one that counts before the other: a row with {names}",
                        )  # fmt: skip
                        return


@dataclass(slots=True)
class Rates:
    """What is charged, by the names of ``PRICES``, and in which money."""

    file: str
    prices: dict[str, Values]
    money: Money = field(default_factory=Money)


def names(paths: Iterable[Path], zone: tzinfo) -> LevelNames:
    """Names of files; dates are those of a zone. Raises ``BadSettings`` and ``OSError``.

    In TOML each row is of an array of tables that is called by what it names (``[[user]]``) and has
    the key ``name``; in CSV the first column is what it names.
    """
    found = LevelNames()
    problems: list[Problem] = []
    told_by: dict[str, Line] = {}
    for path in paths:
        lines, rest = _lines(path)
        problems += rest.unknown(())
        for line in lines:
            row = _names_row(line, zone, problems, is_csv=_is_csv(path))
            if row is None:
                continue
            name, made = row
            for level in made.levels:
                source = found.sources.setdefault(level, line.table)
                told_by.setdefault(level, line)
                if source != line.table:
                    where = told_by[level]
                    problems.append(line.problem(
                        level, f"the {level} of a {line.table}",
                        f"that of a {source}, as line {where.number} of {where.file} has it",
                    ))  # fmt: skip
            found.rows.setdefault((line.table, name), []).append(made)
    problems += _circles(found, told_by)
    for rows in found.rows.values():
        for level in {level for row in rows for level in row.levels}:
            problems += _overlaps([row for row in rows if level in row.levels])
    for (table, _), rows in found.rows.items():
        if table not in _KEYS and table not in found.sources:
            expected = f"one of {', '.join(_KEYS)}, or what another row names"
            problems.append(rows[0].line.problem(table, _meant(table, _KEYS), expected))
    _refuse(problems)
    return found


def factors(path: Path, zone: tzinfo, known: LevelNames) -> Values:
    """Benchmark factors of a file. Raises ``BadSettings`` and ``OSError``."""
    problems: list[Problem] = []
    lines, rest = _lines(path, FACTOR)
    problems += rest.unknown(())
    found = _values(lines, FACTOR, (FACTOR,), zone, known, problems)
    _refuse(problems)
    return found[FACTOR]


def rates(path: Path, zone: tzinfo, known: LevelNames) -> Rates:
    """Rates of a file. Raises ``BadSettings`` and ``OSError``."""
    problems: list[Problem] = []
    lines, rest = _lines(path, RATE)
    problems += rest.unknown(("currency", "decimals"))
    found = _values(lines, RATE, tuple(PRICES), zone, known, problems)
    money = Money(rest.text("currency", problems), rest.decimals(problems))
    _refuse(problems)
    return Rates(str(path), {name: it for name, it in found.items() if it.rows}, money)


def changes(periods: Iterable[Period]) -> tuple[int, ...]:
    """When something changes, upwards."""
    times = {each for period in periods for each in period if each is not None}
    return tuple(sorted(times))


def _values(
    lines: Iterable[Line], table: str, kinds: Sequence[str], zone: tzinfo, known: LevelNames,
    problems: list[Problem],
) -> dict[str, Values]:  # fmt: skip
    asked = (*_KEYS, *known.sources)
    rows: dict[str, list[ValueRow]] = {kind: [] for kind in kinds}
    for line in lines:
        if line.table != table:
            problems.append(line.problem("", f"[[{line.table}]]", f"[[{table}]]"))
            continue
        period = _period(line, zone, problems)
        wanted = {}
        numbers = {}
        for key, text in line.texts.items():
            if key in kinds:
                numbers[key] = _number(line, key, text, problems)
            elif key in asked:
                wanted[key] = _name(line, key, text, problems)
            elif key not in (FROM, UNTIL):
                every = (*kinds, *asked, FROM, UNTIL)
                problems.append(line.problem(key, "a key that is not known", _meant(key, every)))
        if not numbers:
            problems.append(line.problem("", "no number", f"one of {', '.join(kinds)}"))
        for key, value in numbers.items():
            if value is not None and period is not None:
                rows[key].append(ValueRow(period, wanted, value, line))
    found = {kind: Values(some) for kind, some in rows.items()}
    for each in found.values():
        problems += each.problems()
    return found


def _names_row(
    line: Line, zone: tzinfo, problems: list[Problem], *, is_csv: bool
) -> tuple[str, NamesRow] | None:
    key = line.table if is_csv else NAME
    period = _period(line, zone, problems)
    levels = {
        level: _name(line, level, text, problems)
        for level, text in line.texts.items()
        if level not in (FROM, UNTIL, key)
    }
    for level in levels:
        if not _LEVEL.fullmatch(level) or level in SPANS or level in SORTED_BY:
            expected = "a word of letters, digits, - and _ that is no span of time and no sum"
            problems.append(line.problem(level, "the name of a level", expected))
    if key not in line.texts:
        problems.append(line.problem(key, "nothing", f"the name of a {line.table}"))
        return None
    if not levels:
        problems.append(line.problem("", "no level", "a key such as person or department"))
    if period is None:
        return None
    return _name(line, key, line.texts[key], problems), NamesRow(period, levels, line)


def _circles(found: LevelNames, told_by: Mapping[str, Line]) -> Iterator[Problem]:
    """Levels that are told by themselves, in the end; they are taken out."""
    for level in [*found.sources]:
        met, at = [level], level
        while at in found.sources and found.sources[at] not in met:
            at = found.sources[at]
            met.append(at)
        if at in found.sources:
            text = f"what is told by itself: {' by '.join([*met, found.sources[at]])}"
            yield told_by[level].problem(level, text, "a level that is told by a name of jobs")
            del found.sources[level]


def _overlaps(rows: Sequence[NamesRow | ValueRow]) -> Iterator[Problem]:
    """Rows of the same, at the same time."""
    ordered = sorted(rows, key=lambda row: (row.period.begin is not None, row.period.begin or 0))
    for one, other in pairwise(ordered):
        if one.period.meets(other.period):
            first, later = sorted((one.line, other.line), key=lambda line: line.number)
            key = FROM if FROM in later.texts else UNTIL if UNTIL in later.texts else ""
            yield later.problem(
                key, f"a period that overlaps with that of line {first.number}",
                "one that begins when the other has ended",
            )  # fmt: skip


def _period(line: Line, zone: tzinfo, problems: list[Problem]) -> Period | None:
    before = len(problems)
    begin, end = (_time(line, key, zone, problems) for key in (FROM, UNTIL))
    if begin is not None and end is not None and begin >= end:
        problems.append(line.problem(UNTIL, line.texts[UNTIL], f"a time after {line.texts[FROM]}"))
    return Period(begin, end) if len(problems) == before else None


def _time(line: Line, key: str, zone: tzinfo, problems: list[Problem]) -> int | None:
    """When a day, month or year begins, or a moment."""
    if key not in line.texts:
        return None
    text = line.texts[key]
    try:
        if not _TIME.fullmatch(text):
            raise ValueError(text)
        padded = f"{text}-01-01"[:10] if len(text) < 10 else text
        moment = datetime.fromisoformat(padded)
        at = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        found = int(at.timestamp())
        if moment.microsecond or abs(found) >= DATED:
            raise ValueError(text)
    except (ValueError, OverflowError):
        expected = "a time such as 2026, 2026-07, 2026-07-01 or 2026-07-01T12:00"
        problems.append(line.problem(key, repr(text), expected))
        return None
    return found


def _number(line: Line, key: str, text: str, problems: list[Problem]) -> Fraction | None:
    if not _NUMBER.fullmatch(text) or (key == FACTOR and not Fraction(text)):
        least = "above 0" if key == FACTOR else "0 or more"
        expected = f"a decimal number, {least}, of at most 15 digits on either side of the point"
        problems.append(line.problem(key, repr(text), expected))
        return None
    return Fraction(text)


def _name(line: Line, key: str, text: str, problems: list[Problem]) -> str:
    if not text or len(text) > _LONGEST:
        expected = f"a text of 1 to {_LONGEST} characters"
        problems.append(line.problem(key, f"{len(text)} characters", expected))
    return text


class _OutsideRows(NamedTuple):
    """What stands in a file outside of its rows."""

    file: str
    values: Mapping[str, Any]
    lines: Mapping[tuple[str, ...], int]

    def unknown(self, known: Sequence[str]) -> Iterator[Problem]:
        """A problem for each other key."""
        for key in self.values:
            if key not in known:
                yield self._problem(key, "a key that is not known", _meant(key, known) or "[[...]]")

    def text(self, key: str, problems: list[Problem]) -> str:
        value = self.values.get(key, "")
        if not isinstance(value, str) or len(value) > 10:
            problems.append(self._problem(key, repr(value), 'a text such as "EUR"'))
            return ""
        return value

    def decimals(self, problems: list[Problem]) -> int:
        value = self.values.get("decimals", Money().decimals)
        if type(value) is not int or not 0 <= value <= 12:
            problems.append(self._problem("decimals", repr(value), "a whole number from 0 to 12"))
            return Money().decimals
        return value

    def _problem(self, key: str, found: str, expected: str) -> Problem:
        return Problem(self.file, self.lines.get((key,), 0), key, found, expected)


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _lines(path: Path, table: str = "") -> tuple[list[Line], _OutsideRows]:
    """The rows of a file, of CSV where its name ends so, else of TOML.

    Those of CSV are of a ``table``, or of the first column.
    """
    if _is_csv(path):
        told = _of_csv(path, table)
        _refuse([] if told else [Problem(str(path), 0, "", "no row", "a line for each row")])
        return told, _OutsideRows(str(path), {}, {})
    found, rest, lines = settings.rows(path)
    problems: list[Problem] = []
    made = []
    for row in found:
        line = Line(str(path), row.table, row.line, {}, row.lines)
        for key, value in row.values.items():
            text = _text(value)
            if text is None:
                expected = "a text, a number, or a date"
                problems.append(line.problem(key, type(value).__name__, expected))
            else:
                line.texts[key] = text
        made.append(line)
    if not made:
        problems.append(
            Problem(str(path), 0, "", "no row", f"tables such as [[{table or 'user'}]]")
        )
    _refuse(problems)
    return made, _OutsideRows(str(path), rest, lines)


def _text(value: Any) -> str | None:
    """A value of TOML as CSV would have it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value) if isinstance(value, str | int) else None


def _of_csv(path: Path, table: str) -> list[Line]:
    """The rows of a file of CSV; an empty cell says nothing."""
    file = str(path)
    with path.open("rb") as stream:
        data = stream.read(_BYTES + 1)
    if len(data) > _BYTES:
        raise BadSettings([Problem(file, 0, "", f"more than {_BYTES} bytes", "a smaller file")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadSettings([Problem(file, line, "", "bytes", "text in UTF-8")]) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[Line] = []
    problems: list[Problem] = []
    try:
        head = [each.strip() for each in next(reader, [])]
        if not head or not all(head) or len({*head}) < len(head):
            raise BadSettings([Problem(file, 1, "", repr(",".join(head)), "a line of names")])
        for cells in reader:
            if not any(cells):
                continue
            if len(cells) != len(head) or len(found) >= _MOST:
                expected = f"{len(head)} cells, in at most {_MOST} lines"
                problems.append(Problem(file, reader.line_num, "", f"{len(cells)} cells", expected))
                continue
            texts = {name: it.strip() for name, it in zip(head, cells, strict=True) if it.strip()}
            found.append(Line(file, table or head[0], reader.line_num, texts))
    except csv.Error as error:
        problems.append(
            Problem(file, reader.line_num, "", f"what is no CSV ({csv_fault(error)})", "CSV")
        )
    _refuse(problems)
    return found


def _meant(name: str, known: Iterable[str]) -> str:
    """What was meant, for a message."""
    every = [*known]
    return nearest(name, every) or f"one of {', '.join(every)}" if every else ""


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        told = dict.fromkeys(problems)
        raise BadSettings(sorted(told, key=lambda problem: (problem.file, problem.line)))
