"""Why a job does not fit a slot: which clauses of the Requirements of both are not true.

>>> from sssjob.classads.parser import plain
>>> job = plain("[Requirements = TARGET.Memory > 5 && TARGET.Arch == x]")
>>> slot = plain("[Memory = 9]")
>>> [(each.text, each.value) for each in obstacles(job, slot)]
[('TARGET.Arch == x', 'undefined')]
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sssjob import units
from sssjob.classads import evaluate, writing
from sssjob.classads.errors import BadAd
from sssjob.classads.needed import references
from sssjob.classads.operators import holds, truth
from sssjob.classads.parser import expression
from sssjob.classads.tree import Binary, Grouped
from sssjob.classads.values import Ad, Node, Unparsed
from sssjob.systems.condor import names
from sssjob.systems.condor.slot import lacking

if TYPE_CHECKING:
    from sssjob.classads.values import Attribute


class Evaluate(Protocol):
    """What evaluates an expression, as ``sssjob.classads.evaluate.evaluate`` does."""

    def __call__(
        self, node: Node, my: Ad | None, target: Ad | None, /, *,
        remark: Callable[[str], None] | None = None,
    ) -> Attribute:  # fmt: skip
        """The value of an expression of ``my`` ad with the ``target`` ad opposite."""
        ...


class Obstacle(NamedTuple):
    """A clause that is not true: whose it is (job, slot), what it comes to, and its names."""

    of: str
    text: str
    value: str
    names: dict[str, str]


def obstacles(job: Ad, slot: Ad, engine: Evaluate = evaluate.evaluate) -> Iterator[Obstacle]:
    """What keeps a job from a slot: amounts it requests, and clauses of either's Requirements.

    And that it is too early or too late for the job. Nothing is given where the job fits. A clause
    that cannot be decided is one, too.
    """
    yield from _untimely(job)
    for attribute, wanted, has in lacking(job, slot):
        name = attribute.removeprefix("Request")
        known = "undefined" if has is None else writing.attribute(has, writing.NEW)
        asked = writing.attribute(wanted, writing.NEW)
        yield Obstacle("job", f"{attribute} <= TARGET.{name}", "false" if has is not None else
                       "undefined", {attribute: asked, f"TARGET.{name}": known})  # fmt: skip
    for of, own, other in (("job", job, slot), ("slot", slot, job)):
        if names.REQUIREMENTS in own:
            yield from _unmet(of, own, other, engine)


def _untimely(job: Ad) -> Iterator[Obstacle]:
    now = int(time.time())
    for name, clause, holds_of in (
        (names.OWN["EligibleTime"], "{} <= time()", operator.le),
        (names.OWN["DeadlineTime"], "time() < {}", operator.gt),
    ):
        moment = job.number(name)
        if moment is not None and not holds_of(moment, now):
            known = {name: f"{moment} ({units.iso(int(moment))})", "time()": f"{now}"}
            yield Obstacle("job", clause.format(name), "false", known)


def _unmet(of: str, own: Ad, other: Ad, engine: Evaluate) -> Iterator[Obstacle]:
    held = own[names.REQUIREMENTS]
    if isinstance(held, Unparsed):
        try:
            held = expression(held.text, old=True)
        except BadAd as error:
            yield Obstacle(of, names.REQUIREMENTS, f"error: {error}", {})
            return
    if not isinstance(held, Node):
        if not holds(held):
            yield Obstacle(of, names.REQUIREMENTS, writing.attribute(held, writing.NEW), {})
        return
    clauses = list(_clauses(held))
    for clause in clauses:
        said: list[str] = []
        value = engine(clause, own, other, remark=said.append)
        # A span holds alone, and is no truth value for &&.
        if not (holds(value) if len(clauses) == 1 else truth(value) is True):
            told = writing.attribute(value, writing.NEW) + "".join(f" ({each})" for each in said)
            yield Obstacle(
                of, writing.expression(clause), told, _values(clause, own, other, engine)
            )


def _clauses(node: Node) -> Iterator[Node]:
    """The parts of a conjunction, from the left."""
    pending = [node]
    while pending:
        part = pending.pop()
        while isinstance(part, Grouped):
            part = part.inner
        if isinstance(part, Binary) and part.op == "&&":
            pending += [part.right, part.left]
        else:
            yield part


def _values(clause: Node, own: Ad, other: Ad, engine: Evaluate) -> dict[str, str]:
    """What each name of a clause stands for."""
    return {
        writing.expression(each): writing.attribute(engine(each, own, other), writing.NEW)
        for each in references(clause)
    }
