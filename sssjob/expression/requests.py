"""What a job or task group requests, for all that evaluate requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from sssjob import expression
from sssjob.errors import Finding, InvalidValue, LimitExceeded, UnbalancedGroup, finding
from sssjob.expression import Comparison, Expression
from sssjob.expression.lint import lint
from sssjob.expression.offer import OTHERWISE, outside, set_aside
from sssjob.model import Block, Property, Requested

_CODES = {UnbalancedGroup: "E-GROUP", InvalidValue: "E-TYPE", LimitExceeded: "E-LIMIT"}


class RequestParts(NamedTuple):
    """The operands of a request that And joins, None if it cannot be read, and what to say."""

    parts: tuple[Expression, ...] | None
    findings: tuple[Finding, ...]


def asked(
    block: Block, path: str, *, nodes: Sequence[str] = (), job: Block | None = None
) -> RequestParts:
    """What a block asks for: in all its Requested elements, and outside of them.

    What is not understood is no longer in it (``awareness.understood``); ``nodes`` are names over
    which patterns are tried; ``job`` is the whole one, of which the block is a part.
    """
    stated = block.blocks(Requested)
    found: list[Finding] = []
    read: list[Expression] = []
    readable = True
    items: Sequence[Property]
    for number, requested in enumerate(stated, 1):
        at = f"{path}/Requested{f'[{number}]' * (len(stated) > 1)}"
        items = requested.properties
        found += [replace(each, path=f"{at}/{each.path}") for each in lint(items, nodes=nodes)]
        try:
            read.append(expression.parse(items))
        except (UnbalancedGroup, InvalidValue, LimitExceeded) as error:
            readable = False
            line = items[error.index].line if isinstance(error, UnbalancedGroup) else requested.line
            code = _CODES[type(error)]
            found.append(finding(code, str(error), line=line, path=at, section="SSS 8.1"))
    items = outside(block, job)
    read.append(expression.all_of(map(Comparison, items)))
    found += [replace(each, path=f"{path}/{each.path}") for each in lint(items, nodes=nodes)]
    found += [
        finding("W-USELESS", f"{item.name} counts for nothing: {OTHERWISE}",
                path=f"{path}/{item.name}", line=item.line, section="SSS 8.0")
        for item in set_aside(block, job)
    ]  # fmt: skip
    parts = expression.conjuncts(expression.all_requested(read))
    return RequestParts(parts if readable else None, tuple(found))
