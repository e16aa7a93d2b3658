"""``sssjob profile``: what a peer that supports only one level of the standard would lose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from sssjob.cli import common, options, records

if TYPE_CHECKING:
    from sssjob.check.awareness import AwarenessOutcome, Item
    from sssjob.check.vocabulary import NameDifference, Vocabulary
    from sssjob.errors import UnreadableDocument

_LEVELS = ("minimal", "recommended", "full")
_OUTCOMES = {"Reject": "rejected", "Warn": "lost, with a warning", "Ignore": "lost in silence"}
_HEAD = ("path", "what", "needs", "policy", "outcome")


class _Judged(NamedTuple):
    """One job object as the peer sees it."""

    file: str
    line: int
    name: str
    id: str
    items: Sequence[Item]
    outcome: AwarenessOutcome

    @property
    def verdict(self) -> str:
        if not self.outcome.accepted:
            return "rejected"
        return "accepted, with losses" if self.items else "accepted"


@click.command(
    epilog="""\b
Examples:
  sssjob profile job.xml
  sssjob profile --level recommended --json jobs.sss | jq .items
  sssjob profile --level recommended
  sssjob profile --level minimal --against recommended

Exit code: 0 nothing is lost, 1 something is lost or rejected, 2 a document cannot be read."""
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
def command(
    files: tuple[str, ...], level: str, against: str, no_awareness: bool, as_json: bool
) -> None:
    """List what a peer that supports less would lose.

    For each job object in FILEs ("-" is standard input), list everything that the peer does not
    understand: the level that supports it, its awarenessPolicy, and what the peer does with it.
    Without FILE, list the elements and attributes that the peer does not support.
    """
    from sssjob.check.vocabulary import PROFILES, differences

    if not files:
        _print_differences(list(differences(level, against)), as_json)
        return
    peer = PROFILES[level].unaware() if no_awareness else PROFILES[level]
    lost, complain = False, common.Complaints()
    for judged in _judged(files, peer, complain):
        lost = lost or bool(judged.items)
        _print(judged, level, as_json)
    complain.leave(not lost)


def _judged(
    files: tuple[str, ...], peer: Vocabulary, complain: common.Complain
) -> Iterator[_Judged]:
    from sssjob.check.awareness import items, judge
    from sssjob.document import tree
    from sssjob.document.places import local

    for name, source in records.documents(files, complain):
        try:
            for element, offset in tree.located(source, on_error=partial(_say, name, complain)):
                found = tuple(items(element, peer, offset=offset))
                id_ = (element.findtext("{*}Id") or element.findtext("{*}JobId") or "").strip()
                line = (element.sourceline or 0) + offset
                yield _Judged(name, line, local(element), id_, found, judge(found))
        except OSError as error:
            complain(f"sssjob: error: {common.reason(error)}")


def _say(name: str, complain: common.Complain, error: UnreadableDocument) -> None:
    complain(error.finding.in_file(name))


def _print(judged: _Judged, level: str, as_json: bool) -> None:
    if as_json:
        common.data(json.dumps(_as_dict(judged), ensure_ascii=False))
        return
    from sssjob.visible import visible

    what = " ".join(filter(None, (judged.name, judged.id)))
    head = f"{judged.file}:{judged.line}: {what}: {judged.verdict} by a peer of level {level}"
    common.fitted(visible(head))
    if judged.items:
        rows = [
            (item.path, _what(item), item.level or "-", item.policy.value, _OUTCOMES[item.policy])
            for item in judged.items
        ]
        _table([_HEAD, *(tuple(map(visible, row)) for row in rows)])


def _what(item: Item) -> str:
    """What is lost, in one line of bearable length."""
    return item.what if len(item.what) <= 60 else f"{item.what[:57]}..."


def _as_dict(judged: _Judged) -> dict[str, Any]:
    return {
        "file": judged.file,
        "line": judged.line or None,
        "name": judged.name,
        "id": judged.id or None,
        "accepted": judged.outcome.accepted,
        "items": [
            {
                "path": item.path,
                "line": item.line or None,
                "kind": item.kind.value,
                "name": item.name,
                "value": item.value,
                "level": item.level or None,
                "policy": item.policy.value,
                "outcome": _OUTCOMES[item.policy],
            }
            for item in judged.items
        ],
    }


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
