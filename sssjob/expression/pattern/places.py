"""Places between letters: what stands on both sides of them, and what they are."""

from __future__ import annotations

from functools import lru_cache

from sssjob.expression.pattern.program import Class

# What stands beside a place: nothing, the last line end of a text, a line end, a letter of a word.
BEGIN, END, LAST_LINE, LINE, WORD, OTHER = range(6)


@lru_cache(1)
def _word() -> Class:
    return Class(r"[\w]", False)


def beside(letter: str) -> int:
    """What a letter is to the places beside it."""
    return LINE if letter == "\n" else WORD if letter in _word() else OTHER


def lets_through(kind: str, before: int, after: int) -> bool:
    """Whether a place between these two is of a kind."""
    match kind:
        case "^" | "A":
            return before == BEGIN
        case "^m":  # behind a line end, but not at the very end
            return before == BEGIN or (before == LINE and after != END)
        case "$" | "Z":
            return after in (END, LAST_LINE)
        case "$m":
            return after in (END, LAST_LINE, LINE)
        case "z":
            return after == END
        case "b":
            return (before == WORD) != (after == WORD)
    return (before == WORD) == (after == WORD)


def around(text: str, place: int) -> tuple[int, int]:
    """What stands before and after a place of a text."""
    before = beside(text[place - 1]) if place else BEGIN
    if place == len(text):
        return before, END
    last = place == len(text) - 1 and text[place] == "\n"
    return before, LAST_LINE if last else beside(text[place])
