"""Columns side by side, each of parts on top of each other, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sssjob.drawing.chart import Area, opened
from sssjob.visible import Markup

_AREA = Area(84, 36, 700, 316)
_WIDTH, _HEIGHT, _LINE = 720, 350, 18
_COLOURS = 5  # of STYLE; what comes behind them is grey
_LABELS = 8  # names below the columns, at most
_STEPS = 4


class StackedColumn(NamedTuple):
    """A name, an amount for each part (none is negative), and the amounts in words."""

    name: str
    amounts: Sequence[float]
    words: Sequence[str]


def svg(title: str, parts: Sequence[str], columns: Sequence[StackedColumn], most: str) -> Markup:
    """The columns as an SVG document, light or dark as its reader likes it.

    ``parts`` are the names of the parts, and ``most`` is the amount of the highest column in words.
    """
    highest = max((sum(each.amounts) for each in columns), default=0.0) or 1.0
    height = _HEIGHT + _LINE * ((len(parts) + 2) // 3)
    made = [opened(title, _WIDTH, height, _AREA.left), *_grid(most)]
    room = (_AREA.right - _AREA.left) / max(len(columns), 1)
    every = -(-len(columns) // _LABELS)
    for number, column in enumerate(columns):
        left = _AREA.left + room * number
        made += _drawn(column, parts, left, room, highest)
        if number % every == 0:
            made.append(_AREA.below(f"{left + room / 2:.1f}", column.name))
    return Markup.joined((*made, *_legend(parts), Markup("</svg>\n")), "\n")


def _drawn(
    column: StackedColumn, parts: Sequence[str], left: float, room: float, highest: float
) -> list[Markup]:
    made, bottom = [], float(_AREA.bottom)
    for number, (amount, words) in enumerate(zip(column.amounts, column.words, strict=True)):
        tall = amount / highest * (_AREA.bottom - _AREA.top)
        bottom -= tall
        bar = """<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}" {colour}>
<title>{name}{of}: {words}</title></rect>"""
        of = f", {parts[number]}" if parts[number] else ""
        if tall > 0:
            made.append(
                Markup.of(
                    bar, x=left + room * 0.08, y=bottom, width=room * 0.84, tall=tall,
                    colour=_colour(number), name=column.name, of=of, words=words,
                )
            )  # fmt: skip
    return made


def _grid(most: str) -> Iterator[Markup]:
    """The axes, with lines at each quarter of the highest column."""
    tall = _AREA.bottom - _AREA.top
    for step in range(_STEPS + 1):
        label = {0: most, _STEPS: "0"}.get(step, "")
        yield from _AREA.level(_AREA.top + tall * step // _STEPS, label)
    yield _AREA.axes


def _legend(parts: Sequence[str]) -> list[Markup]:
    made = []
    for number, name in enumerate(parts):
        if name:
            x, y = _AREA.left + 205 * (number % 3), _HEIGHT + _LINE * (number // 3)
            row = """<rect x="{x}" y="{top}" width="10" height="10" {colour}/>
<text x="{behind}" y="{y}">{name}</text>"""
            short = name if len(name) < 27 else f"{name[:25]}…"
            made.append(
                Markup.of(
                    row, x=x, top=y - 10, colour=_colour(number), behind=x + 15, y=y, name=short
                )
            )
    return made


def _colour(number: int) -> Markup:
    if number < _COLOURS:
        return Markup.of('fill="var(--{number})"', number=number)
    return Markup('fill="var(--ink)" fill-opacity="0.55"')
