"""The graph of a job group as an SVG picture, for eyes, screen readers, light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from sssjob.drawing.graph import SIGNS, Box, BoxKind, Link, Picture, summary, words
from sssjob.drawing.layers import Layers, layered
from sssjob.graph import State
from sssjob.visible import Markup

_LETTERS = 26  # of a label that are shown; the title of a box has all
_LETTER = 7.4  # the width of one, about
_HEIGHT = {BoxKind.JOB: 44.0, BoxKind.NAME: 24.0, BoxKind.ELSEWHERE: 44.0}
_GAP = 18.0  # between boxes of a layer
_WAY = 84.0  # between layers, room for what links say
_MARGIN = 24.0
_HEAD, _LEGEND = 56.0, 44.0
_LINKS = 2000  # more would be a grey plane
_NOWHERE: Mapping[int, str] = {}
_CLASSES = {"": "member", "OnSuccess": "success", "OnFailure": "failure"}
_MARKERS = {"failure": Markup(' marker-end="url(#fails)"'), "member": Markup("")}

STYLE = Markup("""
svg { --page: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #6e7781; --bad: #b3261e;
  --done: #d5ecd8; --done-edge: #2f7d3b; --ready: #cfe4fa; --ready-edge: #0b63b5;
  --waiting: #fdf0c8; --waiting-edge: #8a6100; --never: #f9d4d1; --never-edge: #b3261e; }
@media (prefers-color-scheme: dark) { svg {
  --page: #0d1117; --ink: #e6edf3; --soft: #9da7b3; --line: #8b949e; --bad: #ff8a80;
  --done: #12351d; --done-edge: #57ab5a; --ready: #0f3157; --ready-edge: #6cb6ff;
  --waiting: #3d2f07; --waiting-edge: #d9a514; --never: #4a1513; --never-edge: #ff8a80; } }
text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.small { font-size: 11.5px; fill: var(--soft); }
.heading { font-size: 16px; font-weight: 600; }
.label { font-weight: 600; }
rect { stroke-width: 1.5; }
.page { fill: var(--page); }
.done { fill: var(--done); stroke: var(--done-edge); }
.ready { fill: var(--ready); stroke: var(--ready-edge); stroke-width: 2.5; }
.waiting { fill: var(--waiting); stroke: var(--waiting-edge); }
.never { fill: var(--never); stroke: var(--never-edge); }
.elsewhere { fill: none; stroke: var(--soft); stroke-dasharray: 4 3; }
.name { fill: var(--page); stroke: var(--line); stroke-width: 1; }
.link { fill: none; stroke: var(--line); stroke-width: 1.5; }
.link.failure { stroke: var(--bad); stroke-dasharray: 7 4; }
.link.exit { stroke-dasharray: 2 3; }
.link.member { stroke-width: 1; }
.said { font-size: 11px; fill: var(--soft); paint-order: stroke; stroke: var(--page);
  stroke-width: 4px; stroke-linejoin: round; }
marker path { fill: var(--line); }
marker#fails path { fill: var(--bad); }
""")
_BEGIN = """\
<svg xmlns="http://www.w3.org/2000/svg" role="{role}" aria-labelledby="title desc" \
viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">
<title id="title">{title}</title>
<desc id="desc">{description}</desc>
<style>{style}</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" \
markerHeight="8" orient="auto-start-reverse" markerUnits="userSpaceOnUse">\
<path d="M0 0.5 L8 4 L0 7.5 z"/></marker>\
<marker id="fails" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" \
markerHeight="8" orient="auto-start-reverse" markerUnits="userSpaceOnUse">\
<path d="M0 0.5 L8 4 L0 7.5 z"/></marker></defs>
<rect class="page" width="100%" height="100%"/>
<text class="heading" x="{margin}" y="28">{title}</text>
<text class="small" x="{margin}" y="46">{summary}</text>"""


class _Spot(NamedTuple):
    """Where a box is: its middle, and half its width."""

    x: float
    y: float
    half: float


def svg(drawn: Picture, links_of: Mapping[int, str] = _NOWHERE) -> Markup:
    """The text of an SVG document that needs no fonts, scripts or files beside it.

    ``links_of`` are the addresses that jobs lead to, by their vertices.
    """
    links = drawn.links[:_LINKS]
    sizes = [_HEIGHT[box.kind] + _GAP for box in drawn.boxes]
    places = layered(len(drawn.boxes), [(link.source, link.target) for link in links], sizes)
    spots = _spots(places, drawn.boxes)
    width = max(*(spot.x + spot.half for spot in spots), _LEGEND_WIDTH) + _MARGIN
    bottom = max((spot.y for spot in spots), default=_HEAD) + 22.0 + _GAP
    notes = tuple(_notes(drawn))
    height = bottom + _LEGEND + 18.0 * len(notes)
    return Markup.joined((
        Markup.of(
            _BEGIN, width=width, height=height, title=drawn.title, style=STYLE, margin=_MARGIN,
            role="group" if links_of else "img",  # within an image a reader finds no links
            description=_description(drawn), summary=summary(drawn.counts),
        ),
        *(line for each in zip(links, places.passed, strict=True) for line in _link(*each, spots)),
        *(
            line
            for box, spot in zip(drawn.boxes, spots, strict=False)
            for line in _leading(_box(box, spot), links_of.get(box.number))
        ),
        *_legend(bottom),
        *(
            _small(_MARGIN, f"{bottom + _LEGEND + 18 * number:.0f}", note)
            for number, note in enumerate(notes)
        ),
        Markup("</svg>\n"),
    ), "\n")  # fmt: skip


def _small(x: float, y: float | str, text: str) -> Markup:
    return Markup.of('<text class="small" x="{x}" y="{y}">{text}</text>', x=x, y=y, text=text)


def _spots(places: Layers, boxes: Sequence[Box]) -> list[_Spot]:
    """Layers beside each other, each as wide as its widest box, and everything below the head."""
    halves = [_half(box) for box in boxes] + [0.0] * (len(places.layer) - len(boxes))
    middles = []
    left = _MARGIN
    for row in places.rows:
        half = max((halves[box] for box in row), default=0.0)
        middles.append(left + half)
        left += 2 * half + _WAY
    top = min((places.height[box] for box in range(len(boxes))), default=0.0)
    down = _HEAD + 30.0 - top
    return [
        _Spot(middles[layer], places.height[box] + down, halves[box])
        for box, layer in enumerate(places.layer)
    ]


def _half(box: Box) -> float:
    letters = max(len(line) for line in _lines(box))
    return max(30.0, letters * _LETTER / 2 + 12.0)


def _lines(box: Box) -> tuple[str, ...]:
    """What stands in a box; long labels are cut."""
    if box.kind is BoxKind.NAME:
        return (_short(f"all named {box.label}"),)
    if box.state is None:
        return (_short(box.label), "not here")
    state = f"{SIGNS[box.state]} {box.state.value}"
    if box.state is State.DONE:
        state += f", {box.detail}"
    return (_short(f"{box.label} {box.name}".rstrip()), state)


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _box(box: Box, spot: _Spot) -> Iterator[Markup]:
    height = _HEIGHT[box.kind]
    kind = box.state.value if box.state else box.kind.value
    told = f"{box.label} {box.name}".rstrip() + f": {box.state.value if box.state else kind}"
    if box.detail:
        told += f", {box.detail}"
    yield Markup.of("<g><title>{told}</title>", told=told)
    yield Markup.of(
        '<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.0f}" '
        'rx="{round:.0f}"/>',
        kind=kind, x=spot.x - spot.half, y=spot.y - height / 2, width=2 * spot.half, height=height,
        round=min(8, height / 2),
    )  # fmt: skip
    first, *others = _lines(box)
    if not others:
        yield _middle(first, spot.x, spot.y + 4, "small")
    else:
        yield _middle(first, spot.x, spot.y - 4, "label")
        yield _middle(others[0], spot.x, spot.y + 13, "small")
    yield Markup("</g>")


def _leading(lines: Iterator[Markup], address: str | None) -> Iterator[Markup]:
    """A box that leads to an address, if there is one."""
    if address is None:
        yield from lines
        return
    yield Markup.of('<a href="{address}">', address=address)
    yield from lines
    yield Markup("</a>")


def _middle(text: str, x: float, y: float, kind: str) -> Markup:
    middle = '<text class="{kind}" text-anchor="middle" x="{x:.1f}" y="{y:.1f}">{text}</text>'
    return Markup.of(middle, kind=kind, x=x, y=y, text=text)


def _path(kind: str, curve: str) -> Markup:
    marker = _MARKERS.get(kind, Markup(' marker-end="url(#arrow)"'))
    path = '<path class="link {kind}" d="{curve}"{marker}/>'
    return Markup.of(path, kind=kind, curve=curve, marker=marker)


def _link(link: Link, way: tuple[int, ...], spots: Sequence[_Spot]) -> Iterator[Markup]:
    """A curve through the places that a link passes, with what it waits for."""
    kind = _CLASSES.get(link.condition, "exit")
    if link.source == link.target:
        x, top = spots[way[0]].x, spots[way[0]].y - 22
        curve = f"M{x - 10:.1f} {top:.1f} c-14 -26 34 -26 20 0"
        yield _path(kind, curve)
        return
    points = [(spots[way[0]].x + spots[way[0]].half, spots[way[0]].y)]
    points += [(spots[box].x, spots[box].y) for box in way[1:-1]]
    points.append((spots[way[-1]].x - spots[way[-1]].half, spots[way[-1]].y))
    end = points[-1]
    if link.source > link.target:  # a link that leads back, in a circle, is followed backwards
        points.reverse()
    curve = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        bend = (to_x - x) / 2
        curve += f" C{x + bend:.1f} {y:.1f} {to_x - bend:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
    yield _path(kind, curve)
    if said := words(link):
        (x, y), (to_x, to_y) = points[-2:] if points[-1] == end else points[:2]
        at_x, at_y = x + (to_x - x) * 0.62, y + (to_y - y) * 0.68
        yield _middle(_short(said), at_x, at_y + 4, "said")


# What the legend explains, each with the room that it takes.
_STATES = tuple((state, f"{SIGNS[state]} {state.value}", 92.0) for state in State)
_KINDS = (
    ("success", "success", 104.0),
    ("failure", "failure", 104.0),
    ("exit", "any end, or a code", 160.0),
)
_LEGEND_WIDTH = _MARGIN + sum(room for *_, room in (*_STATES, *_KINDS))


def _legend(top: float) -> Iterator[Markup]:
    x, y = _MARGIN, top + 18
    yield Markup('<g role="group" aria-label="legend">')
    for state, text, room in _STATES:
        box = '<rect class="{kind}" x="{x}" y="{y}" width="14" height="14" rx="3"/>'
        yield Markup.of(box, kind=state.value, x=x, y=y - 11)
        yield _small(x + 20, y, text)
        x += room
    for kind, text, room in _KINDS:
        yield Markup.joined((_path(kind, f"M{x} {y - 4} h28"), _small(x + 36, y, text)))
        x += room
    yield Markup("</g>")


def _notes(drawn: Picture) -> Iterator[str]:
    if drawn.missing:
        yield f"{drawn.missing} more jobs are not drawn."
    if len(drawn.links) > _LINKS:
        yield f"{len(drawn.links) - _LINKS} more dependencies are not drawn."


def _description(drawn: Picture) -> str:
    jobs = sum(drawn.counts.values())
    return f"{jobs} jobs and their dependencies, from left to right: {summary(drawn.counts)}."
