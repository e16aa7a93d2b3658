"""Tasks on the nodes that they were placed on, or why they were not: as text and as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sssjob.drawing.chart import opened
from sssjob.drawing.layout import runs, table
from sssjob.placement import Group, Placement, Reason
from sssjob.visible import Markup, visible

_ROWS = 64  # nodes of a group that are shown as text; JSON has them all
_NODES = 250  # nodes of a picture
_TEXT = 160  # letters of a reason
_TASKS = 32  # tasks of one node and group that are drawn, each by a box
_COLOURS = 5

_LEFT, _TOP, _LINE, _BOX, _GAP = 24, 64, 24, 18, 3
_LETTER = 7.2  # the width of one, about
_NAME = 24  # letters of a node's name


def lines(placement: Placement, room: int = 0) -> Iterator[str]:
    """``/Job 7: placed on 2 nodes, score 3/4``, and the tasks on each node.

    ``room`` is for the table of nodes, as in ``aligned``.
    """
    head = visible(f"{placement.path} {placement.name}".strip())
    if not placement.placed:
        why = "not placed" if placement.proved else "not placed, which is not proved"
        yield f"{head}: {why}"
        for group in placement.groups:
            yield f"  {visible(_called(group))}: {_room(group)}"
        if placement.reasons:
            together = ", together" if len(placement.reasons) > 1 else ""
            yield f"  in the way{together}:"
            several = len(placement.groups) > 1
            yield from (f"    {visible(_told(reason, several))}" for reason in placement.reasons)
        return
    number = len(placement.nodes)
    best = "" if placement.proved else ", the best that was found"
    score = f", score {placement.score}" if placement.score else ""
    yield f"{head}: placed on {number} node{'s' * (number != 1)}{score}{best}"
    for group in placement.groups:
        rule = f", {visible(group.rule)}" if group.rule else ""
        tasks = f"{group.tasks} task{'s' * (group.tasks != 1)}"
        yield f"  {visible(_called(group))}: {tasks}{rule}"
        shown = group.shares[:_ROWS]
        yield from (
            f"    {line}" for line in table(shown, group.processors_per_task, room and room - 4)
        )
        if len(group.shares) > _ROWS:
            yield f"    ... and {len(group.shares) - _ROWS} more nodes"


def _told(reason: Reason, several: bool) -> str:
    """A reason, with its task group where there are several."""
    text = replace(reason, text=reason.text[:_TEXT] + "..." * (len(reason.text) > _TEXT))
    groups = [step for step in reason.path.split("/") if step.startswith("TaskGroup")]
    return f"{groups[0]}: {text}" if several and groups else str(text)


def _called(group: Group) -> str:
    return f"{group.path.rpartition('/')[2]} {group.name}".strip()


def _room(group: Group) -> str:
    nodes = f"{group.able} node{'s' * (group.able != 1)} for its tasks"
    return (
        f"{nodes}, with room for {group.room} of {group.tasks}" if group.able else f"no {nodes[2:]}"
    )


def svg(placement: Placement) -> Markup:
    """A row of boxes for each node, a box for each task, a colour for each task group."""
    rows: dict[str, list[tuple[int, str, int]]] = {}
    for colour, group in enumerate(placement.groups):
        for share in group.shares:
            told = f"{_called(group)}: tasks {runs(share.tasks)}"
            rows.setdefault(share.name, []).append((colour, told, len(share.tasks)))
    title = f"{placement.path} {placement.name}".strip()
    shown = dict(list(rows.items())[:_NODES])
    names = max((min(len(visible(name)), _NAME) for name in shown), default=0)
    left = _LEFT + names * _LETTER + 12
    widest = max((_width(row) for row in shown.values()), default=0.0)
    notes = [f"{len(rows) - _NODES} more nodes are not drawn"] if len(rows) > _NODES else []
    if not placement.placed:
        several = len(placement.groups) > 1
        notes += ["not placed", *(_told(reason, several) for reason in placement.reasons)]
    legend = [_called(group) for group in placement.groups] if placement.placed else []
    words = max((len(text) for text in (title, *notes, *legend)), default=0)
    width = max(left + widest + 60, _LEFT * 2 + (words + 4) * _LETTER)
    height = _TOP + _LINE * (len(shown) + len(notes) + len(legend)) + 12
    parts = [opened(title, round(width), height, _LEFT, 32)]
    y = _TOP
    for name, row in shown.items():
        parts.append(_text(_LEFT, y, _short(name)))
        parts += _row(row, left, y)
        y += _LINE
    for colour, text in enumerate(legend):
        parts.append(_box(_LEFT, y, colour, text))
        parts.append(_text(_LEFT + _BOX + 8, y, text))
        y += _LINE
    for text in notes:
        parts.append(_text(_LEFT, y, text))
        y += _LINE
    return Markup.joined((*parts, Markup("</svg>\n")), "\n")


def _text(x: float, y: int, text: str) -> Markup:
    return Markup.of('<text x="{x:.0f}" y="{y}">{text}</text>', x=x, y=y + 13, text=text)


def _row(row: list[tuple[int, str, int]], left: float, y: int) -> Iterator[Markup]:
    x = left
    for colour, told, tasks in row:
        for _ in range(min(tasks, _TASKS)):
            yield _box(x, y, colour, told)
            x += _BOX + _GAP
        if not tasks or tasks > _TASKS:
            more = f"+{tasks - _TASKS}" if tasks else "idle"
            yield _text(x, y, more)
            x += _more(tasks)
        x += _GAP


def _box(x: float, y: int, colour: int, told: str) -> Markup:
    return Markup.of(
        '<rect x="{x:.0f}" y="{y}" width="{box}" height="{box}" rx="3" '
        'fill="var(--{colour})"><title>{told}</title></rect>',
        x=x, y=y, box=_BOX, colour=colour % _COLOURS, told=told,
    )  # fmt: skip


def _width(row: list[tuple[int, str, int]]) -> float:
    return sum(min(tasks, _TASKS) * (_BOX + _GAP) + _GAP + _more(tasks) for _, _, tasks in row)


def _more(tasks: int) -> float:
    """The room of what is said beside the boxes."""
    return 0.0 if 0 < tasks <= _TASKS else (len(str(tasks)) + 4) * _LETTER


def _short(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= _NAME else f"{shown[: _NAME - 1]}…"
