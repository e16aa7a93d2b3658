"""Tasks on nodes, as a table, as boxes in a terminal, and as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sssjob.drawing.chart import STYLE
from sssjob.drawing.columns import aligned, folded
from sssjob.layout import Share
from sssjob.visible import Markup, Terminal, visible

NODES = 40  # that a picture has
_BOXES = 16  # of a node
_LETTERS = 16  # of its name
_LINE, _LEFT, _STEP, _WIDTH = 26, 130, 34, 780
_BOX = (
    '<rect x="{x}" y="{top}" width="31" height="20" rx="3" fill="var(--paper)" stroke="var(--0)"/>'
    '<text x="{middle}" y="{line}" text-anchor="middle">{task}</text>'
)
_RUNS = 12  # runs of tasks that are shown of one node
_HEAD = ("node", "tasks", "processors")


def table(shares: Sequence[Share], each: int, room: int = 0) -> Iterator[Terminal]:
    """``n1    0-2    3``: name, tasks and processors of each node; ``room`` as in ``aligned``."""
    rows = [
        _HEAD,
        *(
            (_name(*one), runs(one[1].tasks), str(len(one[1].tasks) * each))
            for one in enumerate(shares, 1)
        ),
    ]
    for line in aligned(rows, len(_HEAD), room, 1):
        yield Terminal.of("{line}", line=line)


def boxes(
    shares: Sequence[Share], room: int, style: Callable[[str], Terminal]
) -> Iterator[Terminal]:
    """A row of boxes for each node, a box for each task; as many as fit into so many columns.

    ``style`` gives a box its colour.
    """
    names = [_name(number, share) for number, share in enumerate(shares, 1)]
    head = max(map(len, names))
    if above := head > room // 3:  # a long name stands above its boxes
        head = 0
    widest = max((len(str(task)) for share in shares for task in share.tasks[-1:]), default=1)
    fitting = max((room - head - 20) // (widest + 3), 1)
    for name, share in zip(names, shares, strict=True):
        if above:
            for line in folded(name, room):
                yield Terminal.of("{line}", line=line)
        cells = [f" {task:>{widest}} " for task in share.tasks[:fitting]]
        drawn = Terminal.joined(Terminal.of("│{cell}", cell=style(cell)) for cell in cells)
        rest = f" {len(share.tasks) - fitting} more" if len(share.tasks) > fitting else ""
        yield Terminal.of(
            "{name}  {drawn}{end}{rest}",
            name="" if above else f"{name:{head}}", drawn=drawn, end="│" if cells else "idle",
            rest=rest,
        )  # fmt: skip


def _name(number: int, share: Share) -> str:
    return visible(share.name) if share.name else f"({number})"


def runs(tasks: Sequence[int]) -> str:
    """Numbers of tasks as people write them.

    >>> runs(range(3)), runs((0, 4, 8)), runs(())
    ('0-2', '0,4,8', '-')
    """
    if isinstance(tasks, range) and tasks.step == 1 and len(tasks) > 1:
        return f"{tasks[0]}-{tasks[-1]}"
    parts: list[list[int]] = []
    for task in tasks:
        if parts and task == parts[-1][1] + 1:
            parts[-1][1] = task
        elif len(parts) == _RUNS:
            return ",".join(map(_run, parts)) + f",... ({len(tasks)})"
        else:
            parts.append([task, task])
    return ",".join(map(_run, parts)) or "-"


def _run(ends: Sequence[int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}-{ends[1]}"


def svg(title: str, shares: Sequence[Share]) -> Markup:
    """A row of boxes for each node, as an SVG document; what does not fit is told as a number.

    It has the first ``NODES`` of them.
    """
    shown = shares[:NODES]
    height = _LINE * len(shown) + 4
    head = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{title}</title><style>{style}</style>"""
    parts = [Markup.of(head, width=_WIDTH, height=height, title=title, style=STYLE)]
    for number, share in enumerate(shown):
        top, name = _LINE * number + 4, _name(number + 1, share)
        label = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
        told = Markup.of(
            '<g><title>{name}: {runs}</title>\n<text x="0" y="{line}">{label}</text>',
            name=name, runs=runs(share.tasks), line=top + 14, label=label,
        )  # fmt: skip
        boxes = [
            Markup.of(_BOX, x=_LEFT + _STEP * place, top=top, middle=_LEFT + _STEP * place + 15,
                      line=top + 14, task=task)
            for place, task in enumerate(share.tasks[:_BOXES])
        ]  # fmt: skip
        more = len(share.tasks) - _BOXES
        said = f"and {more} more" if more > 0 else "" if share.tasks else "idle"
        rest = Markup.of('<text x="{x}" y="{line}">{said}</text></g>',
                         x=_LEFT + _STEP * len(boxes) + 4, line=top + 14, said=said)  # fmt: skip
        parts += [told, *boxes, rest]
    return Markup.joined((*parts, Markup("</svg>\n")), "\n")
