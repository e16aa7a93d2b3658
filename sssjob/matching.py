"""Offers held against what a job requests: defaults, awareness, verdicts and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sssjob.check.awareness import ASK, understood
from sssjob.defaults import resolve
from sssjob.errors import InvalidJob, InvalidValue, of_kind, one_of
from sssjob.expression import Expression
from sssjob.expression.evaluate import Answer, Offer, Request
from sssjob.expression.offer import Mode, delivered
from sssjob.expression.offers import BadOffer, offer, unknown
from sssjob.expression.pattern import Matching
from sssjob.model import Block, JobGroup

Offered = Offer | Block | Mapping[str, object]


def match(
    asked: Request | Block | Expression, offers: Iterable[Offered], *,
    mode: Mode = "fit", patterns: Matching = "full",
) -> tuple[Answer, ...]:  # fmt: skip
    """What a request says to each offer, in their order; ``ranked`` puts the best first.

    ``asked`` is a job, a task group, an expression, or a ``Request`` that was made of one before;
    an offer is an ``Offer``, plain data as JSON has it, or a job whose Delivered counts, exactly.
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
        raise InvalidValue(repr(asked), "one job: a job group asks for several things")
    if isinstance(asked, Block):
        request = Request.of(understood(resolve(asked).block, ASK).required(), patterns)
    else:
        request = Request(asked, patterns)
    if faults := list(request.faults()):
        raise InvalidJob(faults)
    return request


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
            raise BadOffer(index, "", f"{each!r} is no offer")
