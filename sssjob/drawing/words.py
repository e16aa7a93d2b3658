"""Texts in colours for a console of rich, which nothing in them steers.

Only this module makes rich's own texts, to which ruff holds the others.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.text import Text

from sssjob.visible import Terminal, visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.style import StyleType

_WIDEST = 1 << 16  # characters of a line; the terminal wraps it


class Words(Text):
    """A text of rich in which controls are shown by a sign, whatever is added to it.

    >>> Words("a\x1b[2J").append("\x9b31m").plain
    'a␛[2J\ufffd31m'
    """

    def __init__(self, text: str = "", style: StyleType = "") -> None:
        super().__init__(visible(text), style)

    def append(self, text: Text | str, style: StyleType | None = None) -> Self:
        """Add a text."""
        super().append(visible(text) if isinstance(text, str) else text, style)
        return self


def printed(shown: RenderableType, *, colours: bool = False) -> Terminal:
    """What a console prints of something that is made of ``Words``, on lines of any width."""
    text = io.StringIO()
    console = Console(file=text, force_terminal=colours, highlight=False, width=_WIDEST)
    console.print(shown, no_wrap=True, crop=False)
    return Terminal(text.getvalue())
