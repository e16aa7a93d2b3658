"""Tables of a TOML file, read key by key: every problem is kept, with its line; or as rows."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from sssjob.errors import BadSettings, Problem
from sssjob.library_words import toml_fault
from sssjob.suggestions import nearest
from sssjob.units import double

_SIZE_LIMIT = 1 << 20  # bytes; a file that people write is never that long
_NUL = re.compile(r"\\u0000|\\U00000000")
PARTS = 100  # of a key with dots: tomllib keeps a table for each beginning of it
LONGEST_WAIT = 1_000_000  # seconds: databases count 2**31 milliseconds at most
DIGITS = 1000  # of a number that is written out: Python refuses many more, each in its own way
_PART_OF_KEY = r"""(?:[\w\-]++|"(?:[^"\\\n]|\\.)*"|'[^'\n]*+')"""
_LONG_KEY = re.compile(
    rf"(?:^|[{{,\[])[ \t]*+({_PART_OF_KEY}(?:[ \t]*+\.[ \t]*+{_PART_OF_KEY}){{{PARTS},}})",
    re.MULTILINE,
)
# What quotes and # begin, read to the end where it has none; a text may have several lines.
_QUOTED = re.compile(
    r"""
      (?P<lines> \"{3} (?: [^"\\] | \\. | "(?!"") |(?!))*+ (?: "{3,5} | \\?\Z )
               | '{3} (?: [^'] | '(?!'') |(?!))*+ (?: '{3,5} | \Z ) )
    | " (?: [^"\\\n] | \\[^\n] |(?!))*+ "?
    | ' [^'\n]*+ '?
    | \#[^\n]*+
    """,
    re.DOTALL | re.VERBOSE,
)
# Numbers are few that may be too long; these are looked at.
_MAY_BE_LONG = re.compile(rf"(?<![\w.+\-])[\w.+\-]{{{DIGITS + 1}}}|[eE][+-]?[\d_]{{4}}")
_NUMBER = re.compile(r"[=\[,]\s*+([+-]?\d[\w.+\-]*+)")
_EXPONENT = re.compile(r"[+-]?[\d_]++(?:\.[\d_]*+)?[eE]([+-]?[\d_]++)")
_HEADER = re.compile(r"\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?")
_KEY = re.compile(
    r"\s*((?:[\w\-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w\-]+|\"[^\"]*\"|'[^']*'))*)\s*="
)
_LINE = re.compile(r"line (\d{1,9})")
_PART = re.compile(r"[\w\-]+|\"[^\"]*\"|'[^']*'")


@dataclass(frozen=True, slots=True)
class _TomlFile:
    path: Path
    lines: dict[tuple[str, ...], int]
    problems: list[Problem]


class SettingsTable:
    """One table of a file. What is asked of it and not there, or wrong, has its default.

    ``done`` is called after all keys were asked for: whatever else is there is unknown.
    """

    def __init__(
        self, values: dict[str, Any], file: _TomlFile, place: tuple[str, ...] = ()
    ) -> None:
        self._values, self._file, self._place = values, file, place
        self._asked: set[str] = set()
        self._tables: dict[str, SettingsTable] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that are there, in their order."""
        return tuple(self._values)

    def text(self, name: str, default: str = "", *, among: Iterable[str] = ()) -> str:
        """A text; one of some words where there are any."""
        value: str = self._of(name, str, "a text in quotes", default)
        words = tuple(among)
        if words and value not in words:
            self.problem(name, _shown(value), f"one of {', '.join(words)}")
            return default
        return value

    def integer(self, name: str, default: int, *, least: int = 0, most: int = 1 << 53) -> int:
        """A whole number within bounds."""
        expected = f"a whole number from {least} to {most}"
        value: int = self._of(name, int, expected, default)
        if isinstance(value, bool) or not least <= value <= most:
            self.problem(name, _shown(value), expected)
            return default
        return value

    def number(
        self, name: str, default: float, *, least: float = 0, most: float = sys.float_info.max
    ) -> float:
        """A number within bounds, as a double."""
        expected = f"a number, at least {least:g}"
        value = self._of(name, (int, float), expected, default)
        near = double(value)  # a whole number of TOML may be more than any
        if isinstance(value, bool) or not least <= near <= most:
            at_most = f"a number, at most {most:.9g}"
            self.problem(name, _shown(value), at_most if most < near < inf else expected)
            return default
        return near

    def seconds(self, name: str, default: float, *, least: float = 0) -> float:
        """A time that something waits, which each timer and each database can hold."""
        return self.number(name, default, least=least, most=LONGEST_WAIT)

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        value: bool = self._of(name, bool, "true or false", default)
        return value

    def texts(
        self, name: str, default: tuple[str, ...] = (), *, among: Iterable[str] = ()
    ) -> tuple[str, ...]:
        """A list of texts."""
        words = tuple(among)
        expected = f"a list of {'some of ' + ', '.join(words) if words else 'texts'}"
        value = self._of(name, list, expected, list(default))
        if not all(isinstance(text, str) and (not words or text in words) for text in value):
            self.problem(name, _shown(value), expected)
            return default
        return tuple(value)

    def file(self, name: str) -> Path | None:
        """The path of a file, relative to the directory of the settings; None if absent."""
        text = self.text(name)
        return self._file.path.parent / text if text else None

    def table(self, name: str) -> SettingsTable:
        """A table within this one; an empty one if it is absent."""
        if name not in self._tables:
            value = self._of(name, dict, "a table", {})
            self._tables[name] = SettingsTable(value, self._file, (*self._place, name))
        return self._tables[name]

    def tables(self, name: str) -> Iterator[tuple[str, SettingsTable]]:
        """The tables within a table, each with its name: ``[actors.ann]``."""
        yield from self.table(name).tables_here()

    def tables_here(self) -> Iterator[tuple[str, SettingsTable]]:
        """The tables within this one, each with its name."""
        for key in self._values:
            yield key, self.table(key)

    def problem(self, name: str, found: str, expected: str) -> None:
        """Remember what is wrong with a key."""
        place = (*self._place, name)
        told = Problem(str(self._file.path), self._line(place), ".".join(place), found, expected)
        if told not in self._file.problems:  # a key may be asked for twice
            self._file.problems.append(told)

    def done(self) -> None:
        """Complain of every key that nobody asked for, in this table and in those within it."""
        for table in self._tables.values():
            table.done()
        for name in self._values:
            if name not in self._asked:
                meant = nearest(name, self._asked)
                known = meant or f"one of {', '.join(sorted(self._asked))}"
                self.problem(name, "a key that is not known", known)

    def _of(self, name: str, kind: Any, expected: str, default: Any) -> Any:
        self._asked.add(name)
        if name not in self._values:
            return default
        value = self._values[name]
        if not isinstance(value, kind):
            self.problem(name, _shown(value), expected)
            return default
        return value

    def _line(self, place: tuple[str, ...]) -> int:
        while place and place not in self._file.lines:
            place = place[:-1]
        return self._file.lines.get(place, 0)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file of settings: its outermost table, and what is wrong so far."""

    root: SettingsTable
    problems: list[Problem]

    def finish(self) -> None:
        """Raise ``BadSettings`` with every problem, if there is any."""
        self.root.done()
        if self.problems:
            raise BadSettings(sorted(self.problems, key=lambda problem: problem.line))


def read(path: Path) -> SettingsFile:
    """The settings of a file. Raises ``BadSettings`` where it is no TOML, OSError if unreadable."""
    values, text = _loaded(path, float)
    problems: list[Problem] = []
    return SettingsFile(SettingsTable(values, _TomlFile(path, _lines(text), problems)), problems)


class TomlRow(NamedTuple):
    """A table of an array of tables (``[[rate]]``): the name of the array, and its keys.

    ``line`` is that of its head, ``lines`` those of its keys.
    """

    table: str
    line: int
    values: dict[str, Any]
    lines: dict[str, int]


def rows(path: Path) -> tuple[list[TomlRow], dict[str, Any], dict[tuple[str, ...], int]]:
    """The rows of a file of arrays of tables, what stands outside of them, and the lines of it.

    Numbers with a point are ``Decimal``. Raises ``BadSettings`` and ``OSError`` as ``read`` does.
    """
    values, text = _loaded(path, Decimal)
    lines = _lines(text)
    found: list[TomlRow] = []
    rest: dict[str, Any] = {}
    for name, value in values.items():
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            rest[name] = value
            continue
        for number, each in enumerate(value):
            place = name, str(number)
            told = {key: lines.get((*place, key), 0) for key in each}
            found.append(TomlRow(name, lines.get(place, 0), each, told))
    return sorted(found, key=lambda row: row.line), rest, lines


class BadToml(ValueError):
    """What is no TOML, or costs more than it says: the sentence, and where."""


def toml(text: str, number: Callable[[str], Any] = float) -> dict[str, Any]:
    """What a text in TOML has; ``number`` makes numbers with a point. Raises ``BadToml``."""
    if found := _LONG_KEY.search(text) and _LONG_KEY.search(_QUOTED.sub(_without_lines, text)):
        raise _too_long(f"a key of more than {PARTS} parts", found)
    if found := _MAY_BE_LONG.search(text) and _long_number(_QUOTED.sub(_lines_alone, text)):
        raise _too_long(f"a number of more than {DIGITS} digits", found)
    try:
        values = tomllib.loads(text, parse_float=number)
    except tomllib.TOMLDecodeError as error:
        said, at, place = str(error).rpartition(" (at ")
        raise BadToml(f"{toml_fault(said)}{at}{place}") from None
    except RecursionError:
        raise BadToml("values nested too deeply") from None
    if (written := _NUL.search(text)) and _has_nul(values):
        line = text.count("\n", 0, written.start()) + 1
        raise BadToml(f"the character U+0000, which no name or path has (at line {line}, column 1)")
    return values


def _has_nul(value: Any) -> bool:
    """Whether a key or a text has the character U+0000; TOML can write it by its number alone."""
    pending = [value]
    while pending:
        match pending.pop():
            case str() as text if "\0" in text:
                return True
            case dict() as table:
                pending += (*table, *table.values())
            case list() as every:
                pending += every
    return False


def _too_long(what: str, found: re.Match[str]) -> BadToml:
    """What a match is; its line is also that of the text of which quotes were left out."""
    line = found.string.count("\n", 0, found.start(1)) + 1
    return BadToml(f"{what} (at line {line}, column 1)")


def _long_number(text: str) -> re.Match[str] | None:
    return next(filter(_is_long, _NUMBER.finditer(text)), None)


def _is_long(number: re.Match[str]) -> bool:
    """Whether so many digits are written, or would be if its exponent were."""
    exponent = _EXPONENT.match(number[1])  # as the reader takes it, whatever stands behind
    return len(number[1]) > DIGITS or (
        exponent is not None and abs(int(exponent[1].replace("_", "") or "0")) > DIGITS
    )


def _lines_alone(quoted: re.Match[str]) -> str:
    return "\n" * quoted[0].count("\n")


def _without_lines(quoted: re.Match[str]) -> str:
    """What quotes hold; of a text that may have several lines, only these, since no key is one."""
    return quoted[0] if quoted["lines"] is None else "\n" * quoted[0].count("\n")


def _loaded(path: Path, number: Callable[[str], Any]) -> tuple[dict[str, Any], str]:
    """What a file has, and its text; ``number`` makes numbers with a point."""
    with path.open("rb") as stream:
        data = stream.read(_SIZE_LIMIT + 1)
    if len(data) > _SIZE_LIMIT:
        problem = Problem(str(path), 0, "", f"more than {_SIZE_LIMIT} bytes", "a file of settings")
        raise BadSettings([problem])
    try:
        text = data.decode()
        return toml(text, number), text
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadSettings([Problem(str(path), line, "", "bytes", "text in UTF-8")]) from None
    except BadToml as error:
        said, _, place = str(error).rpartition(" (at ")
        numbered = _LINE.match(place)
        line = int(numbered[1]) if numbered else text.count("\n") + 1
        problem = Problem(str(path), line, "", f"what is no TOML ({said})", "TOML 1.0")
        raise BadSettings([problem]) from None


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """In which line each key stands; tomllib does not tell."""
    lines: dict[tuple[str, ...], int] = {}
    place: tuple[str, ...] = ()
    counts: Counter[tuple[str, ...]] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            place = _parts(header[1])
            if line.lstrip().startswith("[["):  # one of an array of tables, by its number
                counts[place] += 1
                place = (*place, str(counts[place] - 1))
            lines.setdefault(place, number)
        elif key := _KEY.match(line):
            lines.setdefault((*place, *_parts(key[1])), number)
    return lines


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(name))


def _shown(value: object) -> str:
    """A value about as TOML writes it."""
    return json.dumps(value, default=str, ensure_ascii=False)
