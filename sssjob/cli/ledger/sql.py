"""``sssjob ledger sql``: questions in SQL, which change nothing."""

from __future__ import annotations

import json
import math
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common, options
from sssjob.cli.ledger import shared
from sssjob.cli.ranges import NumberRange

if TYPE_CHECKING:
    from sssjob.ledger.questions import QueryResult

_DEEPEST = 20  # lists in lists that JSON shows
_LONGEST = 60.0


@click.command(
    epilog="""\b
Examples:
  sssjob ledger sql usage 'SELECT user, sum(wall_seconds) FROM usage GROUP BY user'
  sssjob ledger sql --json usage 'SELECT id, ended FROM runs WHERE exit_code <> 0 LIMIT 9'
  sssjob ledger sql usage 'DESCRIBE usage'

Exit code: 0 rows, 1 none, 2 not understood, or something could not be read."""
)
@options.JSON_LINES
@options.RAW
@click.option(
    "--seconds", metavar="SECONDS",
    type=NumberRange(0.001, 86_400), default=_LONGEST, show_default=True,
    help="How long it may take.",
)  # fmt: skip
@shared.AS_OF
@shared.directory
@click.argument("query", metavar="SELECT")
def command(
    as_json: bool, raw: bool, seconds: float, number: int | None, directory: str, query: str
) -> None:
    """Answer a SELECT of DuckDB on the ledger DIR, as CSV.

    The table usage has a row for each run: names as text, times in seconds since 1970, amounts in
    seconds, bytes and joules; NULL is not stated. The table runs has the times as timestamps in
    UTC, too: submitted, started, ended. Nothing is written, and no other file is read.
    """
    with shared.opened(directory, number=number) as ledger:
        from sssjob.ledger import questions

        with questions.asked(ledger, query, seconds) as answer:
            found = _as_json(answer) if as_json else _as_csv(answer, raw=raw)
    sys.exit(common.FOUND if found else common.NOTHING)


def _as_json(answer: QueryResult) -> int:
    count = 0
    for row in answer.rows:
        told = {name: _plain(each) for name, each in zip(answer.names, row, strict=True)}
        common.data(json.dumps(told, ensure_ascii=False))
        count += 1
    return count


def _as_csv(answer: QueryResult, *, raw: bool) -> int:
    from sssjob.visible import csv_lines

    count = 0
    for line in csv_lines([answer.names], raw=raw):
        common.data(line, nl=False)
    for row in answer.rows:
        cells = [
            json.dumps(_plain(each), ensure_ascii=False)
            if isinstance(each, list | tuple | dict)
            else each if isinstance(each, str | int | float | None)
            else str(each)
            for each in row
        ]  # fmt: skip
        for line in csv_lines([cells], raw=raw):
            common.data(line, nl=False)
        count += 1
    return count


def _plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON has it: what has no other form is text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    if depth < _DEEPEST:
        if isinstance(value, list | tuple):
            return [_plain(each, depth + 1) for each in value]
        if isinstance(value, dict):
            return {str(name): _plain(each, depth + 1) for name, each in value.items()}
    return str(value)
