"""``sssjob explain``: what a request means, as a tree and as one expression."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from sssjob.cli.asking import Asked
    from sssjob.expression import Comparison, Expression


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
    from sssjob.cli.asking import requests

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
    from rich.text import Text
    from rich.tree import Tree

    from sssjob.cli.picture import visible

    assert asked.expression is not None
    head = Text(visible(asked.path), style="bold")
    tree = Tree(head.append(f" {visible(asked.name)}" * bool(asked.name)), guide_style="dim")
    _grow(tree, asked.expression)
    Console(highlight=False, soft_wrap=True).print(tree)


def _grow(tree: Tree, expression: Expression, negated: bool = False) -> None:
    """Add an expression to a tree: one line for each comparison and for each way to join them."""
    from rich.text import Text

    from sssjob.expression import And, Comparison, Not, OneOf, Or, Wish, weight

    no = "not " if negated else ""
    match expression:
        case Comparison():
            tree.add(_line(expression, no))
        case Not(operand):
            _grow(tree, operand, not negated)
        case And(()):
            tree.add(Text("nothing is requested", style="dim"))
        case And(operands) | Or(operands):
            words = ("all of", "not all of") if isinstance(expression, And) else _OR_WORDS
            branch = tree.add(Text(words[negated], style="bold"))
            for operand in operands:
                _grow(branch, operand)
        case OneOf(members):
            words = ("one of, the heavier the better", "none of")
            branch = tree.add(Text(words[negated], style="bold"))
            for member in members:
                branch.add(_line(member, "").append(f"  weight {weight(member.item)}", "dim"))
        case Wish(members, avoid):
            hope = "if possible none of" if avoid != negated else "if possible"
            branch = tree.add(Text(hope, style="bold italic"))
            for member in members:
                branch.add(_line(member, "").append(f"  weight {-weight(member.item)}", "dim"))


_OR_WORDS = ("at least one of", "none of")
_SYMBOLS = {"EQ": "=", "NE": "≠", "LT": "<", "LE": "≤", "GT": ">", "GE": "≥", "Match": "~"}
_TOLD = ("count", "context", "metric", "performanceFactor", "delimiter")


def _line(comparison: Comparison, no: str) -> Text:
    """``Processors ≥ 8``, and with it what its attributes add."""
    from rich.text import Text

    from sssjob import units
    from sssjob.cli.picture import visible
    from sssjob.errors import InvalidValue
    from sssjob.expression import key

    item = comparison.item
    attributes = item.attributes
    aggregation = attributes.get("aggregation", "").strip()
    symbol = _SYMBOLS[comparison.op]
    if aggregation:
        symbol = {"=": "~" if aggregation == "Pattern" else "in", "≠": "not in"}.get(symbol, symbol)
    line = Text(no, style="bold").append(visible(key(item)), style="blue")
    line.append(f" {symbol} ", style="bold").append(visible(item.text.strip()), style="none")
    if "units" in attributes:
        line.append(f" {visible(attributes['units'])}")
    if item.name == "Duration":
        try:
            line.append(f" ({units.clock(units.duration(item.text))})", style="dim")
        except InvalidValue:
            line.append(" (no duration)", style="red")
    for name in _TOLD:
        if name in attributes:
            line.append(f" {name}={visible(attributes[name])}", style="dim")
    return line
