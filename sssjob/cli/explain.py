"""``sssjob explain``: what a request means, as a tree and as one expression."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.cli.requested import Asked
    from sssjob.expression import Expression


@click.command(
    epilog="""\b
Examples:
  sssjob explain job.xml
  sssjob explain --select b workflow.xml
  sssjob explain --json job.xml | jq -r .expression

Exit code: 0 explained, 1 nothing is requested, 2 a document or a request cannot be read."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option("--select", metavar="XPATH|ID", help="Jobs or task groups; an id, or an XPath.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object on each line.")
def command(files: tuple[str, ...], select: str | None, as_json: bool) -> None:
    """Show how op, conj, group and preference of a request are understood.

    Defaults are applied first. What other readers may take differently is said on standard
    error.
    """
    from sssjob.cli.requested import requests

    shown = unread = 0

    def complain(error: object) -> None:
        nonlocal unread
        unread += 1
        common.say(error)

    for asked in requests(files, select, complain):
        if asked.expression is None:
            unread += 1
        elif as_json:
            click.echo(json.dumps(_as_dict(asked), ensure_ascii=False))
            shown += 1
        else:
            _print(asked)
            shown += 1
    sys.exit(common.NOT_UNDERSTOOD if unread else common.FOUND if shown else common.NOTHING)


def _as_dict(asked: Asked) -> dict[str, Any]:
    assert asked.expression is not None
    return {
        "file": asked.file,
        "path": asked.path,
        "id": asked.name or None,
        "expression": str(asked.expression),
        "tree": _tree_as_dict(asked.expression),
    }


def _tree_as_dict(expression: Expression) -> dict[str, Any]:
    from sssjob.expression import And, Comparison, Not, OneOf, Wish, key

    kind = type(expression).__name__
    match expression:
        case Comparison(item):
            return {
                "property": key(item),
                "op": expression.op,
                "value": item.text.strip(),
                "attributes": {k: v for k, v in item.attributes.items() if k not in _SYNTAX},
            }
        case Not(operand):
            return {kind: _tree_as_dict(operand)}
        case OneOf(members) | Wish(members):
            return {kind: [_tree_as_dict(member) for member in members]}
    assert isinstance(expression, And) or hasattr(expression, "operands")
    return {kind: [_tree_as_dict(operand) for operand in expression.operands]}


_SYNTAX = ("op", "conj", "group")


def _print(asked: Asked) -> None:
    from rich.console import Console

    from sssjob.drawing.expression import tree

    assert asked.expression is not None
    drawn = tree(asked.path, asked.name, asked.expression)
    Console(highlight=False, soft_wrap=True).print(drawn)
