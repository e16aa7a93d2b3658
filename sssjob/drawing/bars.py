"""Bar charts: named amounts side by side, for a terminal and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sssjob.drawing.chart import opened
from sssjob.drawing.columns import cells, padded
from sssjob.visible import Markup, visible

WIDTH = 50  # characters of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉"
_ROW, _TOP, _LEFT, _LENGTH = 22, 40, 220, 320  # of an SVG


class Bar(NamedTuple):
    """A name, an amount that is not negative, and how the amount is written."""

    name: str
    amount: float
    shown: str


def terminal(title: str, bars: Sequence[Bar]) -> list[str]:
    """A chart as lines of characters.

    >>> for line in terminal("hours", [Bar("amy", 4, "4.0"), Bar("bob", 1, "1.0")]): print(line)
    hours
    amy  ██████████████████████████████████████████████████ 4.0
    bob  ████████████▌ 1.0
    """
    longest = max((bar.amount for bar in bars), default=0) or 1
    margin = max((cells(visible(bar.name)) for bar in bars), default=0)
    lines = [visible(title)]
    for bar in bars:
        eighths = round(bar.amount / longest * WIDTH * 8)
        drawn = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        lines.append(f"{padded(visible(bar.name), margin)}  {drawn} {bar.shown}")
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
