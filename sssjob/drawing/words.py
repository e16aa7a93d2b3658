"""Texts in colours for a console of rich, which nothing in them steers.

Only this module makes rich's own texts, to which ruff holds the others.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from sssjob.visible import Terminal, visible

if TYPE_CHECKING:
    from rich.style import StyleType

_WIDEST = 1 << 16  # characters of a line where nobody said how many
_GUIDE = 4  # columns of each level of a tree
_TEXT = 20  # columns that are left for a text


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


class Screen(Console):
    """A console that tells of a reader who closed the pipe; rich would end the process with 1."""

    def on_broken_pipe(self) -> None:
        """Raise what happened, again."""
        raise


def printed(shown: Tree | Words, *, colours: bool = False, room: int = 0) -> Terminal:
    """What a console prints of a tree of ``Words``, on lines as ``print_tree`` has them."""
    text = io.StringIO()
    _print(shown, room, Console(file=text, force_terminal=colours, highlight=False, width=_WIDEST))
    return Terminal(text.getvalue())


def print_tree(shown: Tree, room: int = 0) -> None:
    """Print a tree of ``Words`` on standard output, in colour where that is a terminal.

    Lines have ``room`` columns, or any number where it is 0. What does not fit runs on below.
    Where guides would take the room, deeper levels stand at the last one that fits, each behind
    its number.
    """
    _print(shown, room, Screen(highlight=False, width=_WIDEST))


def _print(shown: Tree | Words, room: int, console: Console) -> None:
    if room and isinstance(shown, Tree):
        shown = _flat(shown, max((room - _TEXT) // _GUIDE, 1))
    console.print(shown, width=room or None, no_wrap=not room, overflow="fold", crop=False)


def _flat(shown: Tree, most: int) -> Tree:
    made = Tree(shown.label, guide_style=shown.guide_style)
    waiting = [(made, branch, 1) for branch in reversed(shown.children)]
    while waiting:
        above, branch, level = waiting.pop()
        label = branch.label
        if level > most and isinstance(label, Text):
            label = Words(f"{level}: ", "dim").append(label)
        below = above.add(label)
        into = below if level < most else above
        waiting += [(into, child, level + 1) for child in reversed(branch.children)]
    return made
