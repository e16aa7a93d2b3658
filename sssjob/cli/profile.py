"""``sssjob profile``: what a peer that supports only one level of the standard would lose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, names, options, records

if TYPE_CHECKING:
    from sssjob.check.awareness import Item
    from sssjob.check.vocabulary import NameDifference
    from sssjob.errors import Finding
    from sssjob.verbs.profile import JudgedBlock

_LEVELS = ("minimal", "recommended", "full")
_HEAD = ("path", "what", "needs", "policy", "outcome")


@click.command(
    epilog="""\b
Examples:
  sssjob profile job.xml
  sssjob profile --level recommended --json jobs.sss | jq .items
  sssjob profile --level recommended
  sssjob profile --level minimal --against recommended

Exit code: 0 nothing is lost, 1 something is lost or rejected, or a record is bad, 2 a
document cannot be read."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option(
    "--level", type=click.Choice(_LEVELS), default="minimal", show_default=True,
    help="What the peer supports: what MUST be supported, what SHOULD be, or everything.",
)  # fmt: skip
@click.option(
    "--against", type=click.Choice(_LEVELS), default="full", show_default=True,
    help="Without FILE: the level that the peer is compared with.",
)  # fmt: skip
@click.option("--no-awareness", is_flag=True, help="The peer does not support awarenessPolicy.")
@options.JSON_LINES
@names.records
def command(
    files: tuple[str, ...], level: str, against: str, no_awareness: bool, as_json: bool
) -> None:
    """List what a peer that supports less would lose.

    For each job object in FILEs ("-" is standard input), list everything that the peer does not
    understand: the level that supports it, its awarenessPolicy, and what the peer does with it.
    Without FILE, list the elements and attributes that the peer does not support.
    """
    from sssjob.check.vocabulary import differences, of_level
    from sssjob.verbs import profile

    if not files:
        _print_differences(list(differences(level, against)), as_json)
        return
    peer = of_level(level).unaware() if no_awareness else of_level(level)
    lost, complain = False, common.Complaints()

    def tell(found: Finding | OSError) -> None:
        if isinstance(found, OSError):
            complain(f"sssjob: error: {common.reason(found)}")
        else:
            complain(found)

    for judged in profile.judged(records.documents(files, complain), peer, tell):
        lost = lost or bool(judged.items)
        _print(judged, level, as_json)
    complain.leave(not lost)


def _print(judged: JudgedBlock, level: str, as_json: bool) -> None:
    if as_json:
        common.data(json.dumps(judged.row(), ensure_ascii=False))
        return
    from sssjob.verbs.profile import OUTCOMES
    from sssjob.visible import visible

    what = " ".join(filter(None, (judged.name, judged.id)))
    head = f"{judged.file}:{judged.line}: {what}: {judged.verdict} by a peer of level {level}"
    common.fitted(visible(head))
    if judged.items:
        rows = [
            (item.path, _what(item), item.level or "-", item.policy.value, OUTCOMES[item.policy])
            for item in judged.items
        ]
        _table([_HEAD, *(tuple(map(visible, row)) for row in rows)])


def _what(item: Item) -> str:
    """What is lost, in one line of bearable length."""
    return item.what if len(item.what) <= 60 else f"{item.what[:57]}..."


def _print_differences(rows: Sequence[NameDifference], as_json: bool) -> None:
    if as_json:
        for row in rows:
            common.data(json.dumps(row._asdict()))
    elif rows:
        _table([
            ("what", "needs", "section"), *((row.name, row.level, row.section) for row in rows)
        ])  # fmt: skip


def _table(rows: Iterable[tuple[str, ...]]) -> None:
    """Rows as columns, indented below their heading."""
    from sssjob.drawing.columns import aligned

    rows, room = list(rows), common.room()
    for line in aligned(rows, len(rows[0]), room and room - 2, 1):
        common.echo(f"  {line}")
