"""What was used of what was asked for, as bars: each is full where all of it was used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sssjob.drawing.chart import STYLE
from sssjob.visible import Markup

_LINE, _LEFT, _LENGTH, _WIDTH = 30, 70, 160, 480
_SERIES = 5  # colours of STYLE


class ShareBar(NamedTuple):
    """A name, the part that was used (1 is all), and both sides in words."""

    name: str
    part: float
    words: str


def svg(title: str, bars: Sequence[ShareBar]) -> Markup:
    """The bars as an SVG document, light or dark as its reader likes it."""
    height = _LINE * len(bars) + 4
    head = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{title}</title><style>{style}</style>"""
    parts = [Markup.of(head, width=_WIDTH, height=height, title=title, style=STYLE)]
    for number, bar in enumerate(bars):
        top = _LINE * number + 4
        row = """<g><title>{name}: {words}</title>
<text x="0" y="{line}">{name}</text>
<rect x="{left}" y="{top}" width="{length}" height="18" rx="3" fill="var(--grid)"/>
<rect x="{left}" y="{top}" width="{width:.1f}" height="18" rx="3" fill="var(--{colour})"/>
<text x="{behind}" y="{line}">{part:.0f} %, {words}</text></g>"""
        parts.append(
            Markup.of(
                row, name=bar.name, words=bar.words, line=top + 13, left=_LEFT, top=top,
                length=_LENGTH, width=min(max(bar.part, 0.0), 1.0) * _LENGTH,
                colour=number % _SERIES, behind=_LEFT + _LENGTH + 10, part=bar.part * 100,
            )
        )  # fmt: skip
    return Markup.joined((*parts, Markup("</svg>\n")), "\n")
