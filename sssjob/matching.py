"""Offers held against what a job requests: defaults, awareness, verdicts and reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from sssjob.check.awareness import ASK, understood
from sssjob.check.vocabulary import FULL, AwarenessPolicy
from sssjob.defaults import (
    OVERRIDDEN_BY_ALL,
    has_only_group,
    is_of_each,
    lent,
    resolve,
    together,
)
from sssjob.defaults.overriding import overridden_by_all
from sssjob.errors import (
    Finding,
    InvalidJob,
    InvalidValue,
    finding,
    of_kind,
    one_of,
    shown,
    unheard,
)
from sssjob.expression import Expression, all_of, compared, comparisons, conjuncts
from sssjob.expression.evaluate import Answer, Offer, Request, stated
from sssjob.expression.offer import Mode, delivered, unasked
from sssjob.expression.offers import BadOffer, offer, unknown
from sssjob.expression.pattern import Matching
from sssjob.model import Block, Job, JobGroup, Property, TaskGroup, paths

Offered = Offer | Block | Mapping[str, object]


def match(
    asked: Request | Block | Expression, offers: Iterable[Offered], *,
    mode: Mode = "fit", patterns: Matching = "full",
) -> tuple[Answer, ...]:  # fmt: skip
    """What a request says to each offer, in their order; ``ranked`` puts the best first.

    ``asked`` is a job, a task group, an expression, or a ``Request`` that was made of one before;
    an offer is an ``Offer``, plain data as JSON has it, or a job whose Delivered counts, exactly.
    A job requests what its only task group does; of several each has its own request.
    Raises ``InvalidJob`` for a request with something that is not understood (9.0) or has no
    meaning, ``InvalidValue``, ``UnbalancedGroup`` or ``LimitExceeded`` for one that cannot be
    read, and ``BadOffer``.

    >>> from sssjob.model import Job, Requested
    >>> job = Job.of(Requested.of(Processors=8))
    >>> [str(answer.verdict) for answer in match(job, [{"Processors": 4}, {"Processors": 64}])]
    ['no', 'yes']
    """
    one_of(mode, Mode, "how an offer counts")
    one_of(patterns, Matching, "how patterns match")
    request = asked if isinstance(asked, Request) else requested(asked, patterns)
    return tuple(request.answer(each) for each in offered(offers, mode))


def requested(asked: Block | Expression, patterns: Matching = "full") -> Request:
    """What a job, a task group or an expression asks of offers; raises as ``match`` does."""
    of_kind(asked, Block | Expression, "a job, a task group, an expression or a Request")
    if isinstance(asked, JobGroup):
        raise InvalidValue(shown(asked), "one job: a job group asks for several things")
    request = Request(_one(asked) if isinstance(asked, Block) else asked, patterns)
    if faults := list(request.faults()):
        raise InvalidJob(faults)
    return request


def _one(block: Block) -> Expression:
    """The request of a job with its only task group, or of a task group."""

    def read(unit: Asker) -> Parts:
        known = understood(unit.block, ASK, around=unit.around, path=unit.path)
        return conjuncts(stated(known.required(), unit.whole))

    found = [*askers(Asker(f"/{block.name}", resolve(block).block), read)]
    if len(found) > 1:
        each = ", ".join(unit.path for unit, _ in found)
        raise InvalidValue(each, "one request: match each task group, or all as sssjob match does")
    return all_of(found[0][1] or ())


def offered(offers: Iterable[Offered], mode: Mode) -> Iterator[Offer]:
    """What is offered, whatever it is offered as. Raises ``BadOffer``."""
    if isinstance(offers, Mapping | Offer | Block):
        raise BadOffer(None, "", "there is one offer, where several are due: [offer]")
    of_kind(offers, Iterable, "offers")
    for index, each in enumerate(offers):
        if isinstance(each, Offer):
            yield each
        elif isinstance(each, Block):
            yield Offer.of(each.id or str(index), delivered(each), "exact")
        elif isinstance(each, Mapping):
            made = offer(dict(each), index, mode)
            for said in unknown([made]):
                if "; did you mean " in said:  # any other name may be one of the site's own
                    raise BadOffer(index, made.id, said)
            yield made
        else:
            raise BadOffer(index, "", f"{shown(each)} is no offer")


class Asker(NamedTuple):
    """A job or task group, with the awarenessPolicy that holds around it, and its job."""

    path: str
    block: Block
    around: AwarenessPolicy = AwarenessPolicy.REJECT
    job: Asker | None = None

    @property
    def whole(self) -> Block:
        """The job that it is, or is of."""
        return (self.job or self).block

    def where(self, item: Property) -> str:
        """Where something stands that it asks for: in Requested, or outside of it."""
        inside = any(item is each for each in self.block.requested)
        return f"{self.path}{'/Requested' * inside}/{item.name}"

    def inside(self) -> Iterator[Asker]:
        """The blocks that it holds."""
        own = self.block.attributes.get("awarenessPolicy")
        policy = FULL.policy(own, self.around)
        for path, block in paths(self.block, self.path):
            yield Asker(path, block, policy, self if _is_asking(block) else None)


Parts: TypeAlias = tuple[Expression, ...] | None
Tell: TypeAlias = Callable[[Iterable[Finding]], None]
Read: TypeAlias = Callable[[Asker], Parts]


# decisions 985, 1022
def askers(unit: Asker, read: Read, told: Tell = unheard) -> Iterator[tuple[Asker, Parts]]:
    """Who is asked for by a job or task group that was chosen, each with what it requests.

    A job and its only task group are one. Of several groups each that requests something is asked
    for by itself, beside what the job says of itself: their tasks may have other nodes.
    """
    if unit.job is not None:
        join = _joined if _is_one_with_group(unit.job) else _beside
        yield unit, join(unit.job, read(unit.job), unit, read(unit), told)
        return
    found = asked_of_groups(unit, read, told)
    asking = [(each.unit, each.parts) for each in found.groups if each.stated != ()]
    if found.is_one:
        yield unit, found.groups[0].parts
        return
    if found.own != () or not asking:
        yield unit, found.own
    yield from asking


class AskedOfGroup(NamedTuple):
    """What one task group requests together with its job, and what of it the group has stated."""

    unit: Asker
    parts: Parts
    stated: Parts


class AskedOfGroups(NamedTuple):
    """What a job requests itself, and each of its task groups, but for steps of what ran.

    ``is_one``: there is one task group, which is one with its job and has all that it requests.
    """

    unit: Asker
    own: Parts
    groups: tuple[AskedOfGroup, ...]
    is_one: bool

    @property
    def of_all(self) -> Parts:
        """What the job requests and says of none of its groups: of all of its tasks together.

        A queue for example, or an amount.
        """
        if self.own is None or not self.groups or self.is_one:
            return None if self.own is None else ()
        return tuple(part for part in self.own if not is_of_each(part))


# decisions 985, 1022, 1023
def asked_of_groups(unit: Asker, read: Read, told: Tell = unheard) -> AskedOfGroups:
    """What a job, or whatever holds no task group, requests itself, and each of its groups."""
    own = read(unit)
    stated = [(each, read(each)) for each in unit.inside() if each.job is not None]
    is_one = _is_one_with_group(unit)
    join = _joined if is_one else _beside
    groups = tuple(
        AskedOfGroup(each, join(unit, own, each, parts, told), parts) for each, parts in stated
    )
    if own and groups and not is_one:
        own = _counting(unit, own, [parts for _, parts in stated], told)
    return AskedOfGroups(unit, own, groups, is_one)


def _counting(
    job: Asker, own: tuple[Expression, ...], stated: Iterable[Parts], told: Tell
) -> tuple[Expression, ...]:
    """What a job requests itself, without that of which each of its task groups says another."""
    useless = set(map(id, overridden_by_all(job.block, own, (each or () for each in stated))))
    told(
        finding("W-USELESS", f"{found.item.name} counts for nothing: {OVERRIDDEN_BY_ALL}",
                path=job.where(found.item), line=found.item.line)
        for part in own if id(part) in useless
        for found in comparisons(part)
    )  # fmt: skip
    return tuple(part for part in own if id(part) not in useless)


def _beside(job: Asker, own: Parts, group: Asker, theirs: Parts, told: Tell) -> Parts:
    """What one of several groups asks for with its job; None if one of them cannot be read."""
    return None if own is None or theirs is None else lent(own, theirs)


def _joined(job: Asker, own: Parts, group: Asker, theirs: Parts, told: Tell) -> Parts:
    """The same of the only group, which is one with its job."""
    if own is None or theirs is None:
        return None
    found = together(own, theirs, group.block.properties.names())
    told(
        finding("W-USELESS", f"{item.name} counts for nothing: {why}",
                path=(job if is_of_job else group).where(item), line=item.line)
        for item, is_of_job, why in found.left
    )  # fmt: skip
    return found.parts


def _is_one_with_group(job: Asker) -> bool:
    """Whether a job has one task group, with which it is one."""
    return isinstance(job.block, Job) and has_only_group(job.block)


class Unasked(NamedTuple):
    """What of a job or task group is asked of nobody, as it stands outside of Requested."""

    unit: Asker
    item: Property


# decision 1028
def unasked_of(unit: Asker) -> tuple[Unasked, ...]:
    """What nobody is asked for of what was chosen, and of what is asked together with it.

    That is of a job its task groups, whether they ask for anything else or not, and of its only
    group the job: what either of these two requests is asked for both.
    """
    blocks = (unit.whole, unit.block, *unit.block.blocks(TaskGroup))
    if not any(map(unasked, blocks)):
        return ()
    groups = [each for each in unit.inside() if each.job is not None] if unit.job is None else []
    job = unit.job or unit
    is_one = _is_one_with_group(job)
    every = [job, *(groups or [unit])] if is_one else [unit, *groups]
    of_both = compared(item for each in every if is_one for item in each.block.requested)
    return tuple(
        Unasked(each, item)
        for each in every
        for names in (of_both if is_one else compared(each.block.requested),)
        for item in unasked(each.block)
        if item.name not in names
        and (item.name != "Name" or each.job is None)  # by which a job calls its group
    )


def _is_asking(block: Block) -> bool:
    return type(block) is TaskGroup and not block.is_step
