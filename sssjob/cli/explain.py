"""``sssjob explain``: what a name of the standard means, or a request, as tree and expression."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common, names, options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from sssjob.expression import Expression
    from sssjob.verbs.match import NamedRequest


def _named(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell completes to: names of the standard, or else files."""
    from click.shell_completion import CompletionItem

    from sssjob.conformance import reference

    names = options.completes(lambda: sorted(reference.names()))(ctx, param, incomplete)
    return [CompletionItem(incomplete, "file"), *map(CompletionItem, names)]


@click.command(
    epilog="""\b
Examples:
  sssjob explain Memory
  sssjob explain E-CARD awarenessPolicy
  sssjob explain job.xml
  sssjob explain --select b workflow.xml
  sssjob explain --json job.xml | jq -r .expression

Exit code: 0 explained, 1 nothing is requested, or a record is bad, 2 a document or a
request cannot be read."""
)
@click.argument("files", nargs=-1, metavar="[NAME|FILE]...", type=click.Path(),
                shell_complete=_named)  # fmt: skip
@options.SELECT
@options.JSON_LINES
@names.records
def command(files: tuple[str, ...], select: str | None, as_json: bool) -> None:
    """Explain a name of the standard, or the requests in a document.

    A NAME is an element, also by its path (/Job/Requested/Memory), an attribute, a resource limit,
    a value such as GE, Idle or JobEnd, a unit (MB) or the code of a finding, in capital or small
    letters; a file of that name comes first. For a
    FILE, the output shows how op, conj, group and preference of each request are understood, with
    defaults applied. Standard error reports what other programs may understand differently.
    """
    from sssjob.cli.selection import requests

    if files and (names := _names(files)):
        _tell([name for meant in names.values() for name in meant], as_json=as_json)
        files = tuple(file for file in files if file not in names)
        if not files:
            sys.exit(common.FOUND)
    shown, complain = 0, common.Complaints()
    for asked in requests(files, select, complain):
        if asked.expression is None:
            complain.count += 1
            continue
        shown += asked.asks
        if as_json:
            common.data(json.dumps(_as_dict(asked), ensure_ascii=False))
        else:
            _print(asked)
    complain.leave(shown)


def _names(files: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Those arguments that are names or paths of elements, not files, with the names they mean.

    What is neither, but may have been meant as a name, ends us.
    """
    from pathlib import Path

    from sssjob.conformance import reference
    from sssjob.suggestions import beginning, nearest

    names = reference.names() - {word for word in reference.words() if len(word) <= _SHORT}
    found: dict[str, tuple[str, ...]] = {}
    for file in files:
        if file == "-" or Path(file).exists():
            continue
        if meant_names := reference.names_like(_last_step(file)):
            found[file] = meant_names
        elif meant := beginning(file, names) or nearest(file, names):
            common.fail(
                f"{common.name_of(file)}: no such file, and no name of the standard; "
                f"did you mean {meant}?"
            )
        elif file.isalnum():
            common.fail(f"{file}: no such file, and no name, value, unit or code of the standard")
    return found


def _last_step(path: str) -> str:
    """What a path such as /Job/Requested/Memory[2] leads to; other names are as they are."""
    from sssjob.conformance import reference

    steps = [_PLACE.sub("", step).removeprefix("@") for step in path.removeprefix("/").split("/")]
    return steps[-1] if all(map(reference.names_like, steps)) else path


def _tell(names: list[str], *, as_json: bool) -> None:
    from sssjob.conformance import examples, reference

    for topic in (topic for name in names for topic in reference.topics(name)):
        if as_json:
            common.data(json.dumps(topic.as_dict(), ensure_ascii=False))
            continue
        section = f", {topic.section}" if topic.section else ""
        common.fitted(f"{topic.name} ({topic.kind}{section})", bold=True)
        for line in (topic.about, *(f"{label + ':':<13} {text}" for label, text in topic.facts)):
            if line:
                common.echo(_wrapped(line))
        if topic.example:
            common.echo("  example:")
            shown = examples.laid_out(topic.example, max(common.room() - _INDENT, 0))
            common.echo(textwrap.indent(shown, " " * _INDENT))


def _wrapped(line: str) -> str:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return textwrap.fill(line, width, initial_indent="  ", subsequent_indent=" " * 16)


def _as_dict(asked: NamedRequest) -> dict[str, Any]:
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
_PLACE = re.compile(r"\[[^\[\]]*\]$")  # which of several elements a step of a path means
_SHORT = 3  # letters of a word that others are no misspelling of
_INDENT = 4  # blanks before an example
_WIDEST = 100  # columns of a terminal; longer lines are hard to read


def _print(asked: NamedRequest) -> None:
    from sssjob.drawing.expression import tree
    from sssjob.drawing.words import Screen

    assert asked.expression is not None
    drawn = tree(asked.path, asked.name, asked.expression)
    Screen(highlight=False, soft_wrap=True).print(drawn)
