"""Answers of a gateway as people and programs read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sssjob.cli import common
from sssjob.document.text import on_one_line
from sssjob.rmap.message import Response, Row
from sssjob.rmap.writing import plain, write_response, written
from sssjob.visible import visible

_SHOWN = 60  # characters that a column is wide at most


def _table(parts: Iterator[Response]) -> int:
    """Columns as wide as the first part needs; a document is one line of XML."""
    total = 0
    widths: dict[str, int] = {}
    for part in parts:
        rows = [item for item in part.rows if isinstance(item, Row)]
        names = list(dict.fromkeys(name for row in rows for name, _ in row.fields))
        if names and list(widths) != names:
            widths = {name: _width(name, rows) for name in names}
            _line(widths, {name: name for name in names})
            _line(widths, {name: "-" * width for name, width in widths.items()})
        for item in part.rows:
            if isinstance(item, Row):
                _line(widths, _cells(item))
            else:
                _document(item.xml)
        total += len(part.rows)
    return total


def _cells(row: Row) -> dict[str, str]:
    cells: dict[str, str] = {}
    for name, value in row.fields:
        cells[name] = f"{cells[name]}, {value}" if name in cells else value
    return cells


def _width(name: str, rows: list[Row]) -> int:
    return min(max(len(name), *(len(visible(_cells(row).get(name, ""))) for row in rows)), _SHOWN)


def _line(widths: dict[str, int], cells: dict[str, str]) -> None:
    shown = (visible(cells.get(name, "")).ljust(width) for name, width in widths.items())
    common.echo("  ".join(shown).rstrip())


def _document(xml: bytes) -> None:
    common.data(on_one_line(xml.decode()))


def _json(parts: Iterator[Response], *, lines: bool = False) -> int:
    """An array that is written as it grows, and closed whatever happens; or ``lines``."""
    total, rows = 0, common.JsonPrinter(lines=lines)
    try:
        for part in parts:
            for item in part.rows:
                rows.put(plain(item))
                total += 1
    finally:
        rows.end()
    return total


def _xml(parts: Iterator[Response]) -> int:
    total = 0
    for part in parts:
        for item in part.rows:
            _document(written(item).encode())
            total += 1
    return total


def _raw(parts: Iterator[Response]) -> int:
    total = 0
    for part in parts:
        _document(write_response(part).encode())
        total += len(part.rows)
    return total


FORMS: dict[str, Callable[[Iterator[Response]], int]] = {
    "table": _table,
    "json": _json,
    "jsonl": partial(_json, lines=True),
    "xml": _xml,
    "raw": _raw,
}
