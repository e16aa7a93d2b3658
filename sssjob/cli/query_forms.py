"""How ``sssjob query`` prints what was found: a row is made at once, since a match goes away."""

from __future__ import annotations

import csv
import heapq
import io
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sssjob.visible import visible

if TYPE_CHECKING:
    from sssjob.query import Match, Question
    from sssjob.query.order import Key

_MEASURED = 500  # rows of a table from which the width of its columns is taken
_WIDEST = 60
_PLACES = ("file", "line", "job", "path", "value")

Columns = Mapping[str, "Question"]


class Found(NamedTuple):
    """A match, and the file it was found in."""

    file: str
    match: Match


@dataclass(frozen=True, slots=True)
class Form:
    """How matches are printed: what row a match becomes, and how rows are written."""

    row: Callable[[Found], Any]
    write: Callable[[Iterator[Any]], None]
    places: bool = True  # whether attributes and texts have to know where they stand


def text(with_file: bool, line: Callable[[Match], str], *, places: bool = False) -> Form:
    """A line for each match; ``places`` where it shows what the match is, not only its text."""

    def row(found: Found) -> str:
        shown = line(found.match)
        return f"{found.file}:{shown}\n" if with_file else f"{shown}\n"

    return Form(row, sys.stdout.writelines, places)


def as_json(columns: Columns | None, with_file: bool, *, lines: bool) -> Form:
    """An object for each match, in an array that is closed whatever happens, or one a line."""

    def row(found: Found) -> str:
        values = _places(found) if columns is None else _values(found, columns, with_file)
        return json.dumps(values, ensure_ascii=False)

    def write_lines(rows: Iterator[str]) -> None:
        sys.stdout.writelines(f"{each}\n" for each in rows)

    return Form(row, write_lines if lines else _write_array)


def as_csv(columns: Columns | None, with_file: bool) -> Form:
    """Comma-separated values with a line of names."""
    names = _PLACES if columns is None else _names(columns, with_file)

    def row(found: Found) -> Sequence[object]:
        if columns is None:
            return ["" if value is None else value for value in _places(found).values()]
        return _cells(found, columns, with_file)

    def write(rows: Iterator[Sequence[object]]) -> None:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        for each in itertools.chain([names], rows):
            writer.writerow(each)
            sys.stdout.write(out.getvalue())
            out.seek(0)
            out.truncate()

    return Form(row, write)


def table(columns: Columns, with_file: bool) -> Form:
    """Columns side by side, as wide as the first rows need; numbers stand at the right."""
    names = _names(columns, with_file)
    return Form(
        lambda found: [visible(cell) for cell in _cells(found, columns, with_file)],
        lambda rows: _write_table(names, rows),
    )


def ordered(
    found: Iterable[Found], form: Form, keys: Sequence[Key], limit: int | None
) -> Iterator[tuple[bool, Any]]:
    """Rows in order, each with whether its match is true; with a limit only so many are held."""
    numbered = (
        (*(key.of(where(each.match)) for key in keys), number, each.match.is_true, form.row(each))
        for number, each in enumerate(found)
    )
    chosen = sorted(numbered) if limit is None else heapq.nsmallest(limit, numbered)
    return ((each[-2], each[-1]) for each in chosen)


def where(match: Match) -> Any:
    """The element that columns and keys are asked of: what was found, or else its job object."""
    return match.unit if match.element is None or match.is_made else match.element


def whole(found: Iterable[Found]) -> Iterator[Found]:
    """The job that holds each match, or the job object where there is none; each of them once."""
    from sssjob.query import Match

    last: object = None
    for file, match in found:
        holder = match.holder
        if holder is not None and holder is not last and match.is_true:
            yield Found(file, Match(holder, match.unit, match.offset, match.unit_line))
            last = holder


def _places(found: Found) -> dict[str, object]:
    match = found.match
    return dict(
        zip(_PLACES, (found.file, match.line, match.job, match.path, match.value), strict=True)
    )


def _names(columns: Columns, with_file: bool) -> list[str]:
    return [*(["file"] if with_file else []), *columns]


def _values(found: Found, columns: Columns, with_file: bool) -> dict[str, object]:
    """The values of columns: null where there is none, an array where there are several."""
    row: dict[str, object] = {"file": found.file} if with_file else {}
    for name, matches in _asked(found, columns):
        values = [match.value for match in matches]
        row[name] = values if len(values) > 1 else next(iter(values), None)
    return row


def _cells(found: Found, columns: Columns, with_file: bool) -> list[str]:
    texts = [
        ", ".join(match.line_of_text for match in matches) for _, matches in _asked(found, columns)
    ]
    return [found.file, *texts] if with_file else texts


def _asked(found: Found, columns: Columns) -> Iterator[tuple[str, list[Match]]]:
    from sssjob.query import Match

    element = where(found.match)
    for name, query in columns.items():
        answer = [] if element is None else query.on(element)
        if isinstance(answer, list):
            yield name, [Match(node) for node in answer]
        else:
            yield name, [Match(answer, is_node=False)]


def _write_array(rows: Iterator[str]) -> None:
    separator = "\n  "
    sys.stdout.write("[")
    for each in rows:
        sys.stdout.write(separator + each)
        separator = ",\n  "
    sys.stdout.write("\n]\n" if separator[0] == "," else "]\n")


def _write_table(names: Sequence[str], rows: Iterator[list[str]]) -> None:
    first = list(itertools.islice(rows, _MEASURED))
    if not first:
        return
    widths = [
        min(max(len(name), *(len(row[place]) for row in first)), _WIDEST)
        for place, name in enumerate(names)
    ]
    right = [all(_is_number(row[place]) for row in first) for place in range(len(names))]
    for row in itertools.chain([names], first, rows):
        cells = (
            cell.rjust(width) if at_right else cell.ljust(width)
            for cell, width, at_right in zip(row, widths, right, strict=True)
        )
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdecimal() or text in ("", "NaN", "Infinity")
