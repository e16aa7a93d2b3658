"""Tasks on nodes, as a table and as boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sssjob.drawing.columns import aligned, folded
from sssjob.layout import Share
from sssjob.visible import Terminal, visible

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
