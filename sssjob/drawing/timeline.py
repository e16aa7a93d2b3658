"""The times of a job on a line, each where it was: submitted, started, ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from sssjob import units
from sssjob.drawing.chart import STYLE
from sssjob.visible import Markup

_LEFT, _RIGHT, _WIDTH, _ROW, _LETTER = 10, 470, 480, 18, 6.8


class Moment(NamedTuple):
    """Something that happened, in seconds since 1970-01-01T00:00:00Z."""

    name: str
    at: int


def svg(title: str, moments: Sequence[Moment], ran: tuple[str, str]) -> Markup:
    """The moments in their order, as an SVG document; between those named ``ran`` it is drawn full.

    There is at least one. Each is named in a row of its own, so that names never overlap.
    """
    known = sorted(moments, key=lambda moment: moment.at)
    first, last = known[0].at, known[-1].at
    span = last - first or 1
    middle = _ROW * len(known) + 14
    height = middle + 34
    head = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{title}</title><style>{style}</style>
<line class="axis" x1="{left}" y1="{y}" x2="{right}" y2="{y}"/>"""
    parts = [
        Markup.of(
            head, width=_WIDTH, height=height, title=title, style=STYLE, left=_LEFT, y=middle,
            right=_RIGHT,
        )
    ]  # fmt: skip
    for before, after in pairwise(known):
        parts.append(_between(before, after, first, span, middle, (before.name, after.name) == ran))
    for row, moment in enumerate(known):
        parts.append(_moment(moment, _x(moment.at, first, span), row, middle))
    return Markup.joined((*parts, Markup("</svg>\n")), "\n")


def _x(at: int, first: int, span: int) -> float:
    return _LEFT + (at - first) / span * (_RIGHT - _LEFT)


def _between(
    before: Moment, after: Moment, first: int, span: int, middle: int, full: bool
) -> Markup:
    """The time between two moments, with its length where there is room for it."""
    left, right = _x(before.at, first, span), _x(after.at, first, span)
    told = units.clock(after.at - before.at)
    part = """<g><title>{before} to {after}: {told}</title>
<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="var(--{colour})"/></g>"""
    made = Markup.of(
        part, before=before.name, after=after.name, told=told, x=left, y=middle - 5 * full - 1,
        width=right - left, height=10 * full + 2, colour=0 if full else 1,
    )  # fmt: skip
    if right - left < len(told) * _LETTER:
        return made
    below = '<text text-anchor="middle" x="{x:.1f}" y="{y}">{told}</text>'
    text = Markup.of(below, x=(left + right) / 2, y=middle + 22, told=told)
    return Markup.joined((made, text), "\n")


def _moment(moment: Moment, x: float, row: int, middle: int) -> Markup:
    y = _ROW * row + 14
    word = f"{moment.name} {datetime.fromtimestamp(moment.at, UTC):%Y-%m-%d %H:%M:%S}"
    at_end = x + len(word) * _LETTER > _RIGHT
    mark = """<line class="grid" x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{middle}"/>
<circle cx="{x:.1f}" cy="{middle}" r="4" fill="var(--ink)"/>
<text text-anchor="{anchor}" x="{at:.1f}" y="{line}">{word}</text>"""
    return Markup.of(
        mark, x=x, y=y - 8, middle=middle, at=x + (-6 if at_end else 6), line=y,
        anchor="end" if at_end else "start", word=word,
    )  # fmt: skip
