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
from sssjob.classads.question import OneQuestion
from sssjob.classads.tree import Binary, Grouped
from sssjob.classads.values import ERROR, UNDEFINED, Ad, Node, Unparsed
from sssjob.systems.condor import gpus, names
from sssjob.systems.condor.slot import lacking

if TYPE_CHECKING:
    from sssjob.classads.values import Attribute


_ALWAYS = ("Cpus", "Memory", "Disk", "GPUs")  # what every slot knows, if it has none of it


_TOO_LONG = "error (what stands in both ads is too deep or too long to be evaluated)"


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
    that cannot be decided is one, too. Where both ads take more steps than one evaluation may,
    that is the last that is told.
    """
    found: list[Obstacle] = []
    was_too_long = False
    with OneQuestion() as question:
        for each in _obstacles(job, slot, engine):
            if was_too_long:
                found.append(Obstacle(each.of, names.REQUIREMENTS, _TOO_LONG, {}))
                break
            found.append(each)
            was_too_long = question.taken > evaluate.STEPS_LIMIT
    yield from found


def _obstacles(job: Ad, slot: Ad, engine: Evaluate) -> Iterator[Obstacle]:
    yield from _untimely(job)
    yield from _uncounted(job, slot, engine)
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


def _uncounted(job: Ad, slot: Ad, engine: Evaluate) -> Iterator[Obstacle]:
    """Requests that come to no number, or to more than the slot has, and GPUs that do not fit."""
    for attribute in job:
        name = attribute.removeprefix("Request")
        if name == attribute or (name not in _ALWAYS and name not in slot):
            continue
        said: list[str] = []
        value = engine(expression(f"MY.{attribute}"), job, slot, remark=said.append)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            known = _values(job[attribute], job, slot, engine)
            yield Obstacle("job", attribute, _told(value, said), known)
        elif job.number(attribute) is None:  # it is an expression
            has = slot.number(name)
            if has is not None and value > has:
                known = {attribute: str(value), f"TARGET.{name}": str(has)}
                yield Obstacle("job", f"{attribute} <= TARGET.{name}", "false", known)
    wants = gpus.REQUEST in job and gpus.REQUIRE in job and "AvailableGPUs" in slot
    if wants and "countMatches" not in writing.attribute(
        job.get(names.REQUIREMENTS, True), writing.NEW
    ):
        clause, said = expression(gpus.CLAUSE), []
        value = engine(clause, job, slot, remark=said.append)
        if truth(value) is not True:
            yield Obstacle(
                "job", gpus.CLAUSE, _told(value, said), _values(clause, job, slot, engine)
            )


def _told(value: Attribute, said: list[str]) -> str:
    """A value, and what was said on the way to it, once."""
    told = "".join(f" ({each})" for each in dict.fromkeys(said))
    return writing.attribute(value, writing.NEW) + told


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
            known = _values(clause, own, other, engine)
            yield Obstacle(of, writing.expression(clause), _told(value, said), known)


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


def _values(clause: Attribute, own: Ad, other: Ad, engine: Evaluate) -> dict[str, str]:
    """What each name of a clause stands for.

    An attribute of its own ad that is an expression without a value is told as it stands there,
    and the names in it behind it. Properties of GPUs that RequireGPUs asks for are none of them.
    """
    known: dict[str, str] = {}
    pending: list[tuple[Attribute, frozenset[str]]] = [(clause, frozenset())]
    while pending:
        part, passed = pending.pop()
        for each in references(part):
            text = writing.expression(each)
            if text in known or text.lower() in passed:
                continue
            value = engine(each, own, other)
            name = text.lower().removeprefix("my.")
            held = own.get(name)
            if value in (UNDEFINED, ERROR) and isinstance(held, (Node, Unparsed)):
                value = held
                is_of_gpus = name == gpus.REQUIRE.lower()
                pending.append((held, _of_gpus(other) if is_of_gpus else frozenset()))
            known[text] = writing.attribute(value, writing.NEW)
    return known


def _of_gpus(slot: Ad) -> frozenset[str]:
    """The properties of the GPUs that a slot has left, in small letters."""
    found = evaluate.attribute(slot, gpus.AVAILABLE)
    ads = (each for each in found if isinstance(each, Ad)) if isinstance(found, tuple) else ()
    return frozenset(name.lower() for ad in ads for name in ad)
