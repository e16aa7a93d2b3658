"""What matches become where they were found, since they go away: rows, and how these are written.

A form is a value that travels between processes; so rows are made by whoever asks.
"""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from sssjob.errors import LimitExceeded, SSSJobError, UnreadableDocument
from sssjob.query.match import Match
from sssjob.query.question import Question
from sssjob.visible import csv_lines, visible, visible_lines

if TYPE_CHECKING:
    from sssjob.query.order import SortKey

_MEASURED = 500  # rows of a table from which the width of its columns is taken
_WIDEST = 60
_PLACES = ("file", "line", "job", "path", "value")

TEXT, XML, JSON, LINES, CSV, TABLE = "text", "xml", "json", "jsonl", "csv", "table"

Columns = Mapping[str, Question]
OnError = Callable[[SSSJobError], None]


class FileMatch(NamedTuple):
    """A match, and the file it was found in."""

    file: str
    match: Match


class AnswerRow(NamedTuple):
    """What a match became: whether it is true, its place in the order, and what is written."""

    is_true: bool
    cells: Any = None
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """How matches are written: a ``kind``, with ``columns`` asked of each instead of its value.

    ``raw`` keeps cells that a spreadsheet would take for formulas as they are.
    """

    kind: str = TEXT
    columns: Columns = field(default_factory=dict)
    with_file: bool = False
    raw: bool = False

    @property
    def places(self) -> bool:
        """Whether attributes and texts have to know where they stand."""
        return self.kind != TEXT

    def cells(self, found: FileMatch) -> Any:
        """What is written of a match: a line of text, or the cells of a row."""
        match self.kind:
            case "text" | "xml":
                shown = found.match.line_of_text if self.kind == TEXT else found.match.xml
                return f"{found.file}:{shown}\n" if self.with_file else f"{shown}\n"
            case "json" | "jsonl":
                values = _values(found, self.columns, self.with_file)
                return json.dumps(values if self.columns else _places(found), ensure_ascii=False)
            case "csv" if not self.columns:
                return ["" if value is None else value for value in _places(found).values()]
        cells = _cells(found, self.columns, self.with_file)
        return cells if self.kind == CSV else [visible(cell) for cell in cells]

    def write(self, cells: Iterator[Any], stream: TextIO) -> None:
        """Write what was made of matches; an array of JSON is closed whatever happens.

        A terminal gets nothing that could steer it.
        """
        if stream.isatty() and self.kind not in (CSV, TABLE):
            cells = map(visible_lines, cells)
        match self.kind:
            case "text":
                stream.writelines(cells)
            case "xml":
                code = stream.encoding or "utf-8"
                stream.writelines(
                    each.encode(code, "xmlcharrefreplace").decode(code) for each in cells
                )
            case "jsonl":
                stream.writelines(f"{each}\n" for each in cells)
            case "json":
                _write_array(cells, stream)
            case "csv":
                names = self._names if self.columns else _PLACES
                rows = itertools.chain([names], cells)
                lines = csv_lines(rows, raw=self.raw)
                stream.writelines(map(visible_lines, lines) if stream.isatty() else lines)
            case _:
                _write_table(self._names, cells, stream)

    @property
    def _names(self) -> list[str]:
        return [*(["file"] if self.with_file else []), *self.columns]


@dataclass(frozen=True, slots=True)
class Shape:
    """What becomes of matches: rows of a ``form`` with the ``keys`` that they are sorted by.

    ``whole``: the job that holds each match, once. Without a form, only whether they are true.
    """

    form: Form | None = None
    keys: Sequence[SortKey] = ()
    whole: bool = False

    def rows(self, found: Iterable[FileMatch], on_error: OnError) -> Iterator[AnswerRow]:
        """Matches as rows; one of which a column or key cannot be asked is told."""
        for each in holders(found) if self.whole else found:
            match = each.match
            if self.form is None:
                yield AnswerRow(match.is_true)
                continue
            try:
                keys = tuple(key.of(where(match)) for key in self.keys)
                row = AnswerRow(match.is_true, self.form.cells(each), keys)
            except UnreadableDocument as error:
                line = error.finding.line
                on_error(UnreadableDocument(replace(error.finding, line=line + match.offset)))
            except LimitExceeded as error:
                on_error(error)
            else:
                yield row


def ordered(rows: Iterable[AnswerRow], limit: int | None) -> Iterator[AnswerRow]:
    """Rows by their keys; with a limit only so many are held."""
    numbered = ((row.keys, number, row) for number, row in enumerate(rows))
    chosen = sorted(numbered) if limit is None else heapq.nsmallest(limit, numbered)
    return (row for _, _, row in chosen)


# decision 1097
def where(match: Match) -> Any:
    """The element that columns and keys are asked of: what was found, or else its job object.

    Of a text, an attribute, a comment or an instruction it is the element that holds it.
    """
    element = None if match.is_made else match.element
    while element is not None and not isinstance(element.tag, str):
        element = element.getparent()
    return match.unit if element is None else element


def holders(found: Iterable[FileMatch]) -> Iterator[FileMatch]:
    """The job that holds each match, or the job object where there is none; each of them once."""
    last: object = None
    for file, match in found:
        holder = match.holder
        if holder is not None and holder is not last and match.is_true:
            yield FileMatch(file, Match(holder, match.unit, match.offset, match.unit_line))
            last = holder


def _places(found: FileMatch) -> dict[str, object]:
    match = found.match
    return dict(
        zip(_PLACES, (found.file, match.line, match.job, match.path, match.value), strict=True)
    )


def _values(found: FileMatch, columns: Columns, with_file: bool) -> dict[str, object]:
    """The values of columns: null where there is none, an array where there are several."""
    row: dict[str, object] = {"file": found.file} if with_file else {}
    for name, matches in _asked(found, columns):
        values = [match.value for match in matches]
        row[name] = values if len(values) > 1 else next(iter(values), None)
    return row


def _cells(found: FileMatch, columns: Columns, with_file: bool) -> list[str]:
    texts = [
        ", ".join(match.line_of_text for match in matches) for _, matches in _asked(found, columns)
    ]
    return [found.file, *texts] if with_file else texts


def _asked(found: FileMatch, columns: Columns) -> Iterator[tuple[str, list[Match]]]:
    element = where(found.match)
    for name, query in columns.items():
        answer = [] if element is None else query.on(element)
        if isinstance(answer, list):
            yield name, [Match(node) for node in answer]
        else:
            yield name, [Match(answer, is_node=False)]


def _write_array(rows: Iterator[str], stream: TextIO) -> None:
    separator = "\n  "
    stream.write("[")
    for each in rows:
        stream.write(separator + each)
        separator = ",\n  "
    stream.write("\n]\n" if separator[0] == "," else "]\n")


def _write_table(names: Sequence[str], rows: Iterator[list[str]], stream: TextIO) -> None:
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
        stream.write("  ".join(cells).rstrip() + "\n")


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdecimal() or text in ("", "NaN", "Infinity")
