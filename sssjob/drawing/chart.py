"""Small charts: points and steps over two axes, for a terminal and as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from sssjob import units
from sssjob.drawing.columns import folded
from sssjob.visible import Markup, visible

Point = tuple[float, float]

WIDTH, HEIGHT = 72, 16  # characters of the area in a terminal that has room for them
_NARROWEST = 8  # characters of the area, however little room there is
MOST = 600  # points of a line; more cannot be told apart
MARKS = "•×+○◆"

STYLE = Markup("""\
:root{color-scheme:light dark;--paper:#fff;--ink:#222;--grid:#ddd;
--0:#0067b1;--1:#c44e00;--2:#2a7f3f;--3:#8b3fa8;--4:#8a6d00}
@media (prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#ddd;--grid:#3a3d44;
--0:#63b3f5;--1:#ff9d57;--2:#6fce8a;--3:#d095ec;--4:#d9bb4a}}
.paper{fill:var(--paper)}text{font:12px sans-serif;fill:var(--ink)}.title{font-size:14px}
.grid{stroke:var(--grid)}.axis{stroke:var(--ink)}.even{stroke:var(--ink);stroke-dasharray:4 4}
polyline{fill:none;stroke-width:1.8}""")

_COUNTS = tuple(base * 10**power for power in range(13) for base in (1, 2, 5))
_TIMES = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200),
    *(86400 * base * 10**power for power in range(8) for base in (1, 2, 5)),
)


class Area(NamedTuple):
    """Where a picture has two axes, by the sides of what they enclose: the one way to draw them."""

    left: int
    top: int
    right: int
    bottom: int

    def level(self, y: float | str, label: str) -> Iterator[Markup]:
        """A line of the grid across, and what is written beside it."""
        yield _line("grid", self.left, y, self.right, y)
        if label:
            text = '<text x="{x}" y="{y}" dy="4" text-anchor="end">{label}</text>'
            yield Markup.of(text, x=self.left - 6, y=y, label=label)

    def upright(self, x: float | str) -> Markup:
        """A line of the grid from top to bottom."""
        return _line("grid", x, self.top, x, self.bottom)

    def below(self, x: float | str, label: str) -> Markup:
        """What is written at a place of the lower axis."""
        text = '<text x="{x}" y="{y}" text-anchor="middle">{label}</text>'
        return Markup.of(text, x=x, y=self.bottom + 18, label=label)

    @property
    def axes(self) -> Markup:
        """The two axes."""
        path = '<path class="axis" fill="none" d="M{left} {top}V{bottom}H{right}"/>'
        return Markup.of(path, **self._asdict())


_AREA = Area(84, 36, 590, 316)


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows: durations in seconds, or counts."""

    title: str
    durations: bool = False

    def shown(self, value: float) -> str:
        """A value as it is written at the axis."""
        return units.clock(int(value)) if self.durations else str(int(value))

    def ticks(self, last: float, most: int) -> list[float]:
        """Round values from 0 to ``last``, at most so many of them besides 0."""
        steps = _TIMES if self.durations else _COUNTS
        step = next((step for step in steps if step * most >= last), steps[-1])
        return [float(step * number) for number in range(min(int(last // step), most) + 1)]


@dataclass(frozen=True, slots=True)
class Series:
    """Points under one name: single, or joined as steps that hold until the next point."""

    name: str
    points: tuple[Point, ...]
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over two axes that begin at 0; ``even`` draws where both values are the same."""

    title: str
    across: Axis
    up: Axis
    series: tuple[Series, ...]
    even: bool = False

    @property
    def ends(self) -> Point:
        """Where the axes end."""
        points = [point for series in self.series for point in series.points]
        across = max((x for x, _ in points), default=0.0) or 1.0
        up = max((y for _, y in points), default=0.0) or 1.0
        return (max(across, up),) * 2 if self.even else (across, up)


def thinned(points: Sequence[Point], most: int = MOST) -> tuple[Point, ...]:
    """Steps with no more points than can be told apart; the first and the last stay."""
    if len(points) <= most:
        return tuple(points)
    width = (points[-1][0] - points[0][0]) / most or 1.0
    kept = {int((x - points[0][0]) / width): (x, y) for x, y in points}
    return (points[0], *kept.values())


def terminal(chart: Chart, room: int = 0) -> list[str]:
    """A chart as lines of characters, of at most ``room`` columns; 0 is any.

    >>> for line in terminal(Chart("two", Axis("x"), Axis("y"), (Series("a", ((0, 0), (1, 1))),)),
    ...     )[:2]: print(line.rstrip())
    two
     1 │                                                                       •
    """
    last_x, last_y = chart.ends
    labels = {_row(value / last_y): chart.up.shown(value) for value in chart.up.ticks(last_y, 4)}
    margin = max(map(len, labels.values())) + 1
    width = max(min(WIDTH, room - margin - 2), _NARROWEST) if room else WIDTH
    lines = [*folded(visible(chart.title), room)]
    lines += [
        f"{labels.get(row, ''):>{margin}} │{''.join(cells)}".rstrip()
        for row, cells in enumerate(_area_of(chart, width))
    ]
    lines.append(f"{'':>{margin}} └{'─' * width}")
    lines.append(f"{'':>{margin}}  {_scale(chart.across, last_x, width, within=bool(room))}")
    names = "   ".join(
        f"{MARKS[number % len(MARKS)]} {visible(series.name)}"
        for number, series in enumerate(chart.series)
    )
    titles = f"{'':>{margin}}  {chart.up.title} over {chart.across.title}:  {names}"
    return [*lines, *folded(titles, room)]


def _area_of(chart: Chart, width: int) -> list[list[str]]:
    """The rows of characters between the axes."""
    last_x, last_y = chart.ends
    area = [[" "] * width for _ in range(HEIGHT)]
    if chart.even:
        for column in range(width):
            area[_row(column / (width - 1))][column] = "·"
    for number, series in enumerate(chart.series):
        for x, y in _columns(series, last_x, width) if series.steps else series.points:
            column = min(int(x / last_x * (width - 1) + 0.5), width - 1)
            area[_row(y / last_y)][column] = MARKS[number % len(MARKS)]
    return area


def opened(title: str, width: int, height: int, x: int, y: int = 22) -> Markup:
    """Where the SVG of a chart begins: its size in pixels, its paper, and its title at a place."""
    head = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{title}</title><style>{style}</style>
<rect class="paper" width="{width}" height="{height}"/>
<text class="title" x="{x}" y="{y}">{title}</text>"""
    return Markup.of(head, width=width, height=height, title=title, style=STYLE, x=x, y=y)


def svg(chart: Chart) -> Markup:
    """A chart as an SVG document, light or dark as its reader likes it."""
    left, top, right, bottom = _AREA
    parts = [opened(chart.title, 640, 400, left), *_grid(chart)]
    if chart.even:
        parts.append(_line("even", left, bottom, right, top))
    for number, series in enumerate(chart.series):
        parts += _drawn(chart, series, number % len(MARKS))
        x = left + 190 * (number % 3)
        y = 374 + 16 * (number // 3)
        named = """<circle cx="{x}" cy="{middle}" r="4" fill="var(--{colour})"/>
<text x="{behind}" y="{y}">{name}</text>"""
        colour = number % len(MARKS)
        parts.append(
            Markup.of(named, x=x, middle=y - 4, colour=colour, behind=x + 9, y=y, name=series.name)
        )
    return Markup.joined((*parts, Markup("</svg>\n")), "\n")


def _row(part: float) -> int:
    return HEIGHT - 1 - min(int(part * (HEIGHT - 1) + 0.5), HEIGHT - 1)


def _columns(series: Series, last: float, width: int) -> Iterable[Point]:
    """The value that holds at each column."""
    points = iter((*series.points, (float("inf"), 0.0)))
    ahead = next(points)
    value: float | None = None
    for column in range(width):
        x = column / (width - 1) * last
        while ahead[0] <= x:
            value, ahead = ahead[1], next(points)
        if value is not None:
            yield x, value


def _scale(axis: Axis, last: float, width: int, *, within: bool) -> str:
    """The ticks of the lower axis, each below its place; none ends behind it if ``within``."""
    line = ""
    for value in axis.ticks(last, 5):
        place, shown = int(value / last * (width - 1) + 0.5), axis.shown(value)
        if place >= len(line) and not (within and place + len(shown) > width):
            line = f"{line:<{place}}{shown} "
    return line.rstrip()


def _place(chart: Chart, point: Point) -> str:
    left, top, right, bottom = _AREA
    last_x, last_y = chart.ends
    x = left + point[0] / last_x * (right - left)
    y = bottom - point[1] / last_y * (bottom - top)
    return f"{x:.1f},{y:.1f}"


def _line(kind: str, x1: float | str, y1: float | str, x2: float | str, y2: float | str) -> Markup:
    line = '<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'
    return Markup.of(line, kind=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def _grid(chart: Chart) -> Iterable[Markup]:
    last_x, last_y = chart.ends
    for value in chart.up.ticks(last_y, 6):
        y = _place(chart, (0, value)).partition(",")[2]
        yield from _AREA.level(y, chart.up.shown(value))
    for value in chart.across.ticks(last_x, 6):
        x = _place(chart, (value, 0)).partition(",")[0]
        yield _AREA.upright(x)
        yield _AREA.below(x, chart.across.shown(value))
    yield _AREA.axes
    titles = '<text x="{right}" y="{below}" text-anchor="end">{up} over {across}</text>'
    yield Markup.of(
        titles, right=_AREA.right, below=_AREA.bottom + 36,
        up=chart.up.title, across=chart.across.title,
    )  # fmt: skip


def _drawn(chart: Chart, series: Series, colour: int) -> Iterable[Markup]:
    if not series.steps:
        for point in series.points:
            x, _, y = _place(chart, point).partition(",")
            dot = '<circle cx="{x}" cy="{y}" r="2.5" fill="var(--{colour})" fill-opacity="0.6"/>'
            yield Markup.of(dot, x=x, y=y, colour=colour)
        return
    corners = list(series.points[:1])
    for before, after in pairwise(series.points):
        corners += [(after[0], before[1]), after]
    places = " ".join(_place(chart, corner) for corner in corners)
    drawn = '<polyline points="{places}" stroke="var(--{colour})"/>'
    yield Markup.of(drawn, places=places, colour=colour)
