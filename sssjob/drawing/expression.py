"""A request as a tree: one line for each comparison and for each way to join them."""

from __future__ import annotations

from rich.tree import Tree

from sssjob import units
from sssjob.drawing.words import Words
from sssjob.errors import InvalidValue
from sssjob.expression import And, Comparison, Expression, Not, OneOf, Or, Wish, key, weight

_OR_WORDS = ("at least one of", "none of")
_SYMBOLS = {"EQ": "=", "NE": "≠", "LT": "<", "LE": "≤", "GT": ">", "GE": "≥", "Match": "~"}
_TOLD = ("count", "context", "metric", "performanceFactor", "delimiter")


def tree(path: str, name: str, expression: Expression) -> Tree:
    """What a job, called by its path and name, asks for: a tree for a console of rich."""
    head = Words(path, style="bold")
    root = Tree(head.append(f" {name}" * bool(name)), guide_style="dim")
    _grow(root, expression)
    return root


def _grow(tree: Tree, expression: Expression, negated: bool = False) -> None:
    no = "not " if negated else ""
    match expression:
        case Comparison():
            tree.add(_line(expression, no))
        case Not(operand):
            _grow(tree, operand, not negated)
        case And(()):
            tree.add(Words("nothing is requested", style="dim"))
        case And(operands) | Or(operands):
            words = ("all of", "not all of") if isinstance(expression, And) else _OR_WORDS
            branch = tree.add(Words(words[negated], style="bold"))
            for operand in operands:
                if operand != And(()):  # which only keeps preferences apart
                    _grow(branch, operand)
        case OneOf(members):
            words = ("one of, the heavier the better", "none of")
            branch = tree.add(Words(words[negated], style="bold"))
            for member in members:
                branch.add(_line(member, "").append(f"  weight {weight(member.item)}", "dim"))
        case Wish(members, avoid):
            hope = "if possible none of" if avoid != negated else "if possible"
            branch = tree.add(Words(hope, style="bold italic"))
            for member in members:
                branch.add(_line(member, "").append(f"  weight {-weight(member.item)}", "dim"))


def _line(comparison: Comparison, no: str) -> Words:
    """``Processors ≥ 8``, and with it what its attributes add."""

    item = comparison.item
    attributes = item.attributes
    aggregation = item.said("aggregation")
    symbol = _SYMBOLS[comparison.op]
    if aggregation:
        symbol = {"=": "~" if aggregation == "Pattern" else "in", "≠": "not in"}.get(symbol, symbol)
    line = Words(no, style="bold").append(key(item), style="blue")
    line.append(f" {symbol} ", style="bold").append(item.text.strip(), style="none")
    if "units" in attributes:
        line.append(f" {item.said('units')}")
    if item.name == "Duration":
        try:
            line.append(f" ({units.clock(units.duration(item.text))})", style="dim")
        except InvalidValue:
            line.append(" (no duration)", style="red")
    for name in _TOLD:
        if name in attributes:
            line.append(f" {name}={item.said(name)}", style="dim")
    return line
