"""Bar charts: named amounts side by side, for a terminal and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sssjob.drawing.chart import opened
from sssjob.drawing.columns import cells, folded, padded
from sssjob.visible import Markup, visible

WIDTH = 50  # characters of the longest bar, where there is room
_SHORTEST = 8  # characters of the longest bar, however little room there is
_EIGHTHS = " ▏▎▍▌▋▊▉"
_ROW, _TOP, _LEFT, _LENGTH = 22, 40, 220, 320  # of an SVG


class Bar(NamedTuple):
    """A name, an amount that is not negative, and how the amount is written."""

    name: str
    amount: float
    shown: str


def terminal(title: str, bars: Sequence[Bar], room: int = 0) -> list[str]:
    """A chart as lines of characters, of at most ``room`` columns; 0 is any.

    Where names leave no room for bars, each stands on a line above its bar.

    >>> for line in terminal("hours", [Bar("amy", 4, "4.0"), Bar("bob", 1, "1.0")]): print(line)
    hours
    amy  ██████████████████████████████████████████████████ 4.0
    bob  ████████████▌ 1.0
    """
    longest = max((bar.amount for bar in bars), default=0) or 1
    names = [visible(bar.name) for bar in bars]
    margin = max(map(cells, names), default=0)
    beside = 3 + max((cells(bar.shown) for bar in bars), default=0)  # blanks and numbers
    above = bool(room) and margin + beside + _SHORTEST > room
    width = room - beside - (0 if above else margin) if room else WIDTH
    width = max(min(width, WIDTH), _SHORTEST)
    lines = [*folded(visible(title), room)]
    for bar, name in zip(bars, names, strict=True):
        eighths = round(bar.amount / longest * width * 8)
        drawn = f"  {'█' * (eighths // 8)}{_EIGHTHS[eighths % 8].strip()} {bar.shown}"
        lines += (*folded(name, room), drawn) if above else (padded(name, margin) + drawn,)
    return lines


def svg(title: str, bars: Sequence[Bar]) -> Markup:
    """A chart as an SVG document, light or dark as its reader likes it."""
    longest = max((bar.amount for bar in bars), default=0) or 1
    height = _TOP + _ROW * len(bars) + 16
    parts = [opened(title, 640, height, 16, 24)]
    for number, bar in enumerate(bars):
        y = _TOP + _ROW * number
        width = bar.amount / longest * _LENGTH
        row = """<text x="{end}" y="{line}" text-anchor="end">{name}</text>
<rect x="{left}" y="{top}" width="{width:.1f}" height="16" fill="var(--0)"/>
<text x="{behind:.1f}" y="{line}">{shown}</text>"""
        parts.append(
            Markup.of(
                row, end=_LEFT - 8, line=y + 14, name=bar.name, left=_LEFT, top=y + 2, width=width,
                behind=_LEFT + width + 6, shown=bar.shown,
            )
        )  # fmt: skip
    return Markup.joined((*parts, Markup("</svg>\n")), "\n")
