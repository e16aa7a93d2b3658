"""Which alternatives of a request have counts and names of nodes that can hold together.

One rule for all who choose one: targets, ads, submission and features. ``layouts`` and ``check``
tell of each alternative what it contradicts, and ``place`` of a job without any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression import Alternative
from sssjob.expression.offer import without_set_aside
from sssjob.layout.plan import CountsPlan
from sssjob.layout.request import LayoutRequest, Statement
from sssjob.model import Block


# decision 1145
def that_can_be_met(
    block: Block, path: str, alternatives: Iterable[Alternative]
) -> tuple[Alternative, ...]:
    """Those of some alternatives that have a layout; all of them where none has one."""
    every = tuple(alternatives)
    try:
        return tuple(_of_statement(Statement(without_set_aside(block), path), every)) or every
    except (InvalidValue, LimitExceeded):
        return every  # which is told where it is taken


def _of_statement(statement: Statement, every: Iterable[Alternative]) -> Iterator[Alternative]:
    known: dict[object, bool] = {}
    for alternative in every:
        asked = statement.request(alternative.terms)
        key = asked and asked.counts
        if key not in known:
            known[key] = holds(asked)
        if known[key]:
            yield alternative


def holds(asked: LayoutRequest | None) -> bool:
    """Whether what one alternative says of counts and names can hold together."""
    return asked is not None and CountsPlan(asked, lenient=False).checked().holds
