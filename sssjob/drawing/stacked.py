"""Columns side by side, each of parts on top of each other, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sssjob.drawing.chart import STYLE
from sssjob.visible import Markup

_LEFT, _TOP, _RIGHT, _BOTTOM = 84, 36, 700, 316
_WIDTH, _HEIGHT, _LINE = 720, 350, 18
_COLOURS = 5  # of STYLE; what comes behind them is grey
_LABELS = 8  # names below the columns, at most
_STEPS = 4


class Column(NamedTuple):
    """A name, an amount for each part (none is negative), and the amounts in words."""

    name: str
    amounts: Sequence[float]
    words: Sequence[str]


def svg(title: str, parts: Sequence[str], columns: Sequence[Column], most: str) -> Markup:
    """The columns as an SVG document, light or dark as its reader likes it.

    ``parts`` are the names of the parts, and ``most`` is the amount of the highest column in words.
    """
    highest = max((sum(each.amounts) for each in columns), default=0.0) or 1.0
    height = _HEIGHT + _LINE * ((len(parts) + 2) // 3)
    head = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{title}</title><style>{style}</style>
<rect class="paper" width="{width}" height="{height}"/>
<text class="title" x="{left}" y="22">{title}</text>"""
    made = [Markup.of(head, width=_WIDTH, height=height, title=title, style=STYLE, left=_LEFT)]
    made += _axes(most)
    room = (_RIGHT - _LEFT) / max(len(columns), 1)
    every = -(-len(columns) // _LABELS)
    for number, column in enumerate(columns):
        left = _LEFT + room * number
        made += _drawn(column, parts, left, room, highest)
        if number % every == 0:
            label = '<text x="{x:.1f}" y="{y}" text-anchor="middle">{name}</text>'
            made.append(Markup.of(label, x=left + room / 2, y=_BOTTOM + 18, name=column.name))
    return Markup.joined((*made, *_legend(parts), Markup("</svg>\n")), "\n")


def _drawn(
    column: Column, parts: Sequence[str], left: float, room: float, highest: float
) -> list[Markup]:
    made, bottom = [], float(_BOTTOM)
    for number, (amount, words) in enumerate(zip(column.amounts, column.words, strict=True)):
        tall = amount / highest * (_BOTTOM - _TOP)
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


def _axes(most: str) -> list[Markup]:
    grid = '<line class="grid" x1="{left}" y1="{y}" x2="{right}" y2="{y}"/>'
    lines = [
        Markup.of(grid, left=_LEFT, right=_RIGHT, y=_TOP + (_BOTTOM - _TOP) * step // _STEPS)
        for step in range(_STEPS)
    ]
    axis = """<path class="axis" fill="none" d="M{left} {top}V{bottom}H{right}"/>
<text x="{end}" y="{top}" dy="4" text-anchor="end">{most}</text>
<text x="{end}" y="{bottom}" dy="4" text-anchor="end">0</text>"""
    return [
        *lines,
        Markup.of(
            axis, left=_LEFT, top=_TOP, bottom=_BOTTOM, right=_RIGHT, end=_LEFT - 6, most=most
        ),
    ]


def _legend(parts: Sequence[str]) -> list[Markup]:
    made = []
    for number, name in enumerate(parts):
        if name:
            x, y = _LEFT + 205 * (number % 3), _HEIGHT + _LINE * (number // 3)
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
