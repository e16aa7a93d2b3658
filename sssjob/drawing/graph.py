"""The graph of a job group as boxes and links; as a tree for the terminal, and as DOT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from rich.tree import Tree

from sssjob.drawing.words import Words, printed
from sssjob.graph import FAILED, Graph, Progress, State
from sssjob.visible import Dot, Terminal, in_dot, visible

LIMIT = 500  # jobs that a picture or a tree shows; nobody looks at more
_DEPTH = 16  # levels of a tree; deeper jobs stay at the last one
_REASONS = 8  # of one job that are told

# fmt: off
SIGNS = {State.DONE: "✓", State.READY: "●", State.WAITING: "○", State.NEVER: "✗"}
_STYLES = {
    State.DONE: "green", State.READY: "bold cyan", State.WAITING: "yellow", State.NEVER: "red",
}
_FILLS = {
    State.DONE: "#d5ecd8", State.READY: "#cfe4fa", State.WAITING: "#fdf0c8", State.NEVER: "#f9d4d1",
}
_DOT_LINKS = {
    "OnSuccess": (), "OnFailure": (Dot("style=dashed"), Dot('color="#b3261e"')),
    "OnExit": (Dot("style=dotted"),), "": (Dot("arrowhead=none"),),
}
_LINK_WORDS = {"OnFailure": "fails", "OnExit": "ends"}
# fmt: on


class BoxKind(Enum):
    """What a box stands for, beside a job."""

    JOB = "job"
    NAME = "name"
    ELSEWHERE = "elsewhere"


class Box(NamedTuple):
    """A job, a name that several share, or a job elsewhere; ``number`` is its vertex."""

    number: int
    kind: BoxKind
    label: str
    name: str = ""
    state: State | None = None
    detail: str = ""


class Link(NamedTuple):
    """A way from a box to one that depends upon it; boxes by their places in the picture."""

    source: int
    target: int
    condition: str  # OnSuccess, OnFailure, OnExit, or nothing: being one of a name
    code: str = ""


@dataclass(frozen=True)
class Picture:
    """What is drawn: boxes in an order in which most links lead forward."""

    title: str
    boxes: tuple[Box, ...]
    links: tuple[Link, ...]
    counts: Counter[State]
    missing: int  # jobs that are not drawn


def picture(
    title: str, graph: Graph, progress: Progress, keys: Collection[str], limit: int = LIMIT
) -> Picture:
    """The boxes and links of these jobs; of many, the first in order."""
    net = graph.net
    wanted = {net.numbers[key] for key in keys}
    placed, rest = net.sequence
    shown = [vertex for vertex in (*placed, *rest) if vertex in wanted][:limit]
    beside = {need.target for vertex in shown for need in net.needs[vertex]}
    jobs = set(shown)
    elsewhere = [vertex for vertex in net.external if vertex in beside]
    order = [
        *elsewhere,
        *(v for v in (*placed, *rest) if v in jobs or (v in net.members and v in beside)),
    ]
    places = {vertex: place for place, vertex in enumerate(order)}
    boxes = tuple(_box(graph, progress, vertex) for vertex in order)
    links = [
        Link(places[member], places[vertex], "")
        for vertex in order
        for member in net.members.get(vertex, ())
        if member in places
    ]
    for vertex in shown:
        for need, edge in zip(net.needs[vertex], graph.edges(net.keys[vertex]), strict=True):
            if need.target in places:
                code = edge.code or ""
                links.append(Link(places[need.target], places[vertex], edge.condition, code))
    counts = Counter(progress.states[key] for key in keys)
    return Picture(title, boxes, tuple(links), counts, len(wanted) - len(shown))


def summary(counts: Counter[State]) -> str:
    """How many jobs stand how: ``1 done, 2 ready, 3 never``."""
    return ", ".join(f"{counts[state]} {state.value}" for state in State if counts[state])


def _box(graph: Graph, progress: Progress, vertex: int) -> Box:
    net = graph.net
    label = visible(net.label(vertex))
    if vertex in net.external:
        return Box(vertex, BoxKind.ELSEWHERE, label)
    if vertex in net.members:
        return Box(vertex, BoxKind.NAME, label)
    key, name = net.keys[vertex], visible(net.places[vertex].name)
    state = progress.states[key]
    if state is State.DONE:
        detail = _end(progress, key)
    else:
        detail = "; ".join(_telling(progress, key, state))
    return Box(vertex, BoxKind.JOB, label, name, state, detail)


def _telling(progress: Progress, key: str, state: State) -> list[str]:
    """The reasons that decide: of a job that will never run, not those that may yet go well.

    A job in a circle has no reason of that kind: it waits for itself.
    """
    reasons = progress.why(key)
    decisive = [why for why in reasons if why.state is state] or reasons
    told = [f"needs {visible(why.text)}" for why in decisive[:_REASONS]]
    if len(decisive) > _REASONS:
        told.append(f"and {len(decisive) - _REASONS} more")
    return told


def _end(progress: Progress, key: str) -> str:
    code = progress.exit(key)
    if code is None:
        return "nobody says how"
    return "failed" if code is FAILED else f"exit {code}"


def tree(
    drawn: Picture, cycles: Collection[tuple[str, ...]], *, colours: bool = False, room: int = 0
) -> Terminal:
    """The text of a tree with each job below the last of those it depends upon.

    Its lines have at most ``room`` columns, unless that is 0.
    """
    head = Words(drawn.title, "bold").append(f": {summary(drawn.counts)}")
    root = Tree(head, guide_style="dim")
    for circle in cycles:
        names = visible(" → ".join(circle[:_REASONS]) + (" → ..." if circle[_REASONS:] else ""))
        root.add(Words(f"circle: {names}", style="red"))
    branches: dict[int, tuple[Tree, int]] = {}
    jobs = [place for place, box in enumerate(drawn.boxes) if box.kind is BoxKind.JOB]
    parents = _parents(drawn)
    for place in jobs:
        branch, depth = branches.get(parents.get(place, -1), (root, 0))
        line = branch.add(_line(drawn.boxes[place]))
        branches[place] = (line, depth + 1) if depth < _DEPTH else (branch, depth)
    if drawn.missing:
        root.add(Words(f"and {drawn.missing} more jobs; --json has them all", style="dim"))
    return printed(root, colours=colours, room=room)


def _parents(drawn: Picture) -> dict[int, int]:
    """The last job in order that each depends upon, also by name."""
    last: dict[int, int] = {}
    for link in sorted(drawn.links, key=lambda link: link.target):
        source = link.source
        if drawn.boxes[source].kind is BoxKind.NAME:
            source = last.get(source, -1)
        if source < link.target and source >= 0 and drawn.boxes[source].kind is BoxKind.JOB:
            last[link.target] = max(last.get(link.target, -1), source)
    return last


def _line(box: Box) -> Words:
    assert box.state is not None
    line = Words(f"{SIGNS[box.state]} ", _STYLES[box.state]).append(box.label, "bold")
    if box.name:
        line.append(f" {box.name}")
    line.append(f"  {box.state.value}", style=_STYLES[box.state])
    if box.detail:
        line.append(f": {box.detail}" if box.state is not State.DONE else f", {box.detail}")
    return line


def words(link: Link) -> str:
    """What a link says: nothing for success, which most wait for."""
    return f"exit {visible(link.code)}" if link.code else _LINK_WORDS.get(link.condition, "")


def dot(drawn: Picture) -> Iterator[Dot]:
    """The picture as lines of DOT, for Graphviz: each job with an arrow to those behind it."""
    names = tuple(_names(drawn))
    yield Dot.of("digraph {title} {{", title=drawn.title)
    yield Dot("  rankdir=LR;")
    yield Dot(
        '  node [shape=box, style="rounded,filled", fillcolor="white", fontname="sans-serif"];'
    )
    yield Dot('  edge [fontname="sans-serif", fontsize=10];')
    for name, box in zip(names, drawn.boxes, strict=True):
        yield Dot.of("  {name} [{box}];", name=name, box=Dot.joined(_dot_box(box), ", "))
    for link in drawn.links:
        attributes = [*_DOT_LINKS.get(link.condition, (Dot("style=dotted"),))]
        if text := words(link):
            attributes.append(Dot.of("label={text}", text=text))
        told = Dot.of(" [{all}]", all=Dot.joined(attributes, ", ")) if attributes else Dot("")
        source, target = names[link.source], names[link.target]
        yield Dot.of("  {source} -> {target}{told};", source=source, target=target, told=told)
    if drawn.missing:
        yield Dot.of("  // {missing} more jobs are not drawn", missing=drawn.missing)
    yield Dot("}")


def _names(drawn: Picture) -> Iterator[Dot]:
    used = set()
    for box in drawn.boxes:
        name = box.label if box.kind is BoxKind.JOB else f"{box.kind.value} {box.label}"
        while name in used:
            name += "'"
        used.add(name)
        yield in_dot(name)


def _dot_box(box: Box) -> Iterator[Dot]:
    if box.kind is BoxKind.NAME:
        yield Dot.of("label={label}", label=f"all named {box.label}")
        yield Dot('shape=plain, style=""')
    elif box.kind is BoxKind.ELSEWHERE:
        yield Dot.of("label={label}", label=box.label)
        yield Dot('style="rounded,dashed"')
    else:
        assert box.state is not None
        told = f"{SIGNS[box.state]} {box.state.value}"
        lines = [f"{box.label} {box.name}".rstrip(), told]
        yield Dot.of("label={lines}", lines=in_dot(*lines))
        yield Dot.of("fillcolor={colour}", colour=_FILLS[box.state])
        if box.detail:
            yield Dot.of("tooltip={detail}", detail=box.detail)
