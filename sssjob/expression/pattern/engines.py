"""What runs a pattern: an automaton where it is regular, and backtracking where it is not."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sssjob.expression.pattern.automaton import Automaton
from sssjob.expression.pattern.backtracking import Backtracking
from sssjob.expression.pattern.perl import read
from sssjob.expression.pattern.program import group_count, program
from sssjob.expression.pattern.syntax import CaptureGroup, Char, Node, OneCharacter, Repeat, Seq

if TYPE_CHECKING:
    from sssjob.expression.pattern import Matching

_REMEMBERED = 256  # patterns


@lru_cache(_REMEMBERED)
def noting(text: str) -> tuple[Backtracking, int]:
    """What finds an expression and notes where its groups were, and how many groups there are."""
    made = program(CaptureGroup(0, read(text)), every_group=True)
    return Backtracking(made, True), group_count(made)


@lru_cache(_REMEMBERED)
def engine(text: str, match: Matching) -> Automaton | Backtracking:
    """What runs an expression: in linear time where it is regular, else in counted steps."""
    made = program(_glob(text) if match == "glob" else read(text))
    return (Automaton if made.is_regular else Backtracking)(made, match == "search")


def _glob(text: str) -> Node:
    any_ = OneCharacter(r"[\s\S]")
    signs: dict[str, Node] = {"*": Repeat(any_, 0, None), "?": any_}
    return Seq(tuple(signs.get(letter) or Char(letter) for letter in text))
