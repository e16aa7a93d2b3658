"""Requests of jobs held against offers: both read from whatever was named, and what came of it."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, NamedTuple, NoReturn

from sssjob.check.awareness import ASK, of_group, understood
from sssjob.defaults import resolve
from sssjob.document import from_tree, opened, read, tree
from sssjob.document.encodings import beginning
from sssjob.document.places import split
from sssjob.document.sources import NamedSource
from sssjob.errors import Finding, finding
from sssjob.expression import Expression, all_of, comparisons
from sssjob.expression.evaluate import Answer, Request, ranked
from sssjob.expression.offer import Mode, Offer, delivered
from sssjob.expression.offers import SIZE_LIMIT, BadOffer, made, parsed
from sssjob.expression.offers import read as read_json
from sssjob.expression.pattern import Matching
from sssjob.expression.requests import asked as properties
from sssjob.json_text import at_most
from sssjob.matching import Asker, Parts, Unasked, askers, unasked_of
from sssjob.model import BLOCKS, Block, Item, Job, JobGroup, Requested, Task, TaskGroup

_HEAD = 1 << 16  # bytes that tell what offers are in

Tell = Callable[[Finding], None]


class NamedRequest(NamedTuple):
    """The request of one job or task group; None if it cannot be read, which was said.

    ``chosen`` is the job or task group that was chosen, of which it may be one of several requests;
    the first has what is ``unasked`` of all of it.
    """

    file: str
    path: str
    block: Block
    expression: Expression | None
    chosen: Block
    unasked: tuple[Unasked, ...] = ()

    @property
    def name(self) -> str:
        """What people call the job or task group."""
        return self.block.id or self.block.get("Name")

    @property
    def asks(self) -> bool:
        """Whether anything is requested at all, and can be read."""
        return self.expression is not None and any(True for _ in comparisons(self.expression))


def requests(
    block: Block, file: str, tell: Tell, *, paths: Collection[str] | None = None,
    nodes: Sequence[str] = (),
) -> Iterator[NamedRequest]:  # fmt: skip
    """The requests of the jobs of an outermost job object, with defaults applied.

    ``paths`` are those of what was chosen in it, such as ``/JobGroup/Job[2]``; None is every job.
    What is worth saying about a request goes to ``tell``, as found in ``file``; ``nodes`` are names
    over which its patterns are tried.
    """

    def told(found: Iterable[Finding]) -> None:
        for each in found:
            tell(each.in_file(file))

    context = of_group(block)
    contexts = chain((context,), repeat(None if context is None else context.later()))

    def read(unit: Asker) -> Parts:
        known = understood(
            replace(unit.block, items=_own(unit.block)), ASK, around=unit.around, path=unit.path
        )
        known = known.within(next(contexts), ASK)
        parts, found = properties(known.block, unit.path, nodes=nodes, job=unit.whole)
        told((*known.findings(), *found))
        return parts if known.accepted else None

    resolved = resolve(block)
    told(resolved.findings)
    for unit in _units(Asker(f"/{block.name}", resolved.block), paths):
        left = unasked_of(unit)
        for each, parts in askers(unit, read, told):
            request = None if parts is None else all_of(parts)
            yield NamedRequest(file, each.path, each.block, request, unit.block, left)
            left = ()


def _units(block: Asker, paths: Collection[str] | None, inside: bool = False) -> Iterator[Asker]:
    """The jobs that were chosen by themselves or with their group; task groups by themselves."""
    chosen = paths is None or block.path in paths
    kind = type(block.block)
    if kind is not JobGroup and (chosen or (inside and kind is Job)):
        yield block
    for each in block.inside():
        wanted = (Job,) if paths is None else (Job, JobGroup, TaskGroup, Task)
        if type(each.block) in wanted:
            yield from _units(each, paths, chosen)


def _own(block: Block) -> tuple[Item, ...]:
    """What a job or task group says itself, without the task groups and tasks in it."""
    return tuple(
        item for item in block.items if not isinstance(item, Block) or isinstance(item, Requested)
    )


def offers(
    source: NamedSource, mode: Mode | None, refused: Callable[[BadOffer], None]
) -> Iterator[Offer]:
    """The offers of a source, JSON or XML by what it begins with.

    ``mode`` None is fit for JSON, and exact for XML. An offer that is wrong goes to ``refused``,
    and the others are there. Raises ``UnreadableDocument``, and ``OSError``.
    """
    try:
        with opened(source.given) as stream:
            data = at_most(stream, SIZE_LIMIT)
        if beginning(data[:_HEAD]).startswith(b"<"):
            yield from _delivered(data, mode or "exact", refused)
        else:
            yield from read_json(data, mode=mode or "fit", on_error=refused)
    except BadOffer as error:
        refused(error)


def _delivered(data: bytes, mode: Mode, refused: Callable[[BadOffer], None]) -> Iterator[Offer]:
    """What was delivered to each job, or what each Delivered that stands alone holds."""
    for index, block in enumerate(_blocks(data)):
        name = block.id or block.get("Name") or str(index)
        try:
            yield Offer.of(name, delivered(block), mode)
        except ValueError as error:
            refused(BadOffer(index, name, str(error)))


def _blocks(data: bytes) -> Iterator[Block]:
    """The jobs of a document, or a job around each Delivered without one."""
    roots = [root for root, _ in tree.documents(data, wanted=tree.Wanted.DOCUMENTS)]
    every = (found for root in roots for found in root.iter("{*}Delivered"))
    alone = [found for found in every if _is_alone(found.getparent())]
    for element in alone:
        job = element.makeelement("Job")
        job.append(element)
        yield from_tree(job)
    for block in () if alone else read(data):
        yield from block.blocks(Job) if isinstance(block, JobGroup) else (block,)


def _is_alone(parent: Any) -> bool:
    return parent is None or split(str(parent.tag))[1] not in BLOCKS


class DocumentsAndOffers(NamedTuple):
    """Documents, and the offers that came beside them."""

    jobs: bytes
    offers: tuple[Offer, ...]


def sent(body: bytes, mode: Mode | None) -> DocumentsAndOffers:
    """What a body in JSON says: ``{"jobs": XML, "offers": [...] or XML}``. Raises ``BadOffer``."""
    found = parsed(body)
    if not isinstance(found, dict) or found.keys() != {"jobs", "offers"}:
        raise BadOffer(None, "", 'expected an object with "jobs" and "offers"')
    jobs, given = found["jobs"], found["offers"]
    if type(jobs) is not str:  # a number is a text, too, exactly as it is written
        raise BadOffer(None, "", '"jobs" is expected to be a document, as a text')
    if type(given) is str:
        source = NamedSource("offers", io.BytesIO(_encoded(given)))
        return DocumentsAndOffers(_encoded(jobs), tuple(offers(source, mode, _refuse)))
    rows = given if isinstance(given, list) else [given]
    return DocumentsAndOffers(_encoded(jobs), tuple(made(rows, mode or "fit")))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # what XML does not have, its reader refuses


def _refuse(error: BadOffer) -> NoReturn:
    raise error


def node_names(offered: Iterable[Offer]) -> list[str]:
    """The names of nodes in offers, over which patterns of requests are tried."""
    return [name for offer in offered for name in offer.names.get("Node", ())]


class Matched(NamedTuple):
    """What a request says to each offer, in their order, and what stopped it from saying more."""

    asked: NamedRequest
    answers: tuple[Answer, ...]
    findings: tuple[Finding, ...]

    @property
    def is_satisfied(self) -> bool:
        """Whether one offer is surely enough."""
        return any(answer.verdict == 2 for answer in self.answers)

    def rows(self) -> Iterator[dict[str, Any]]:
        """An object of each offer, as ``sssjob match --json`` prints it."""
        ranks = {id(answer): rank for rank, answer in enumerate(ranked(self.answers), 1)}
        for answer in self.answers:
            yield {
                "job": self.asked.name or None,
                "path": self.asked.path,
                "id": answer.offer.id,
                "verdict": str(answer.verdict),
                "score": None if answer.score is None else float(answer.score),
                "exact_score": None if answer.score is None else str(answer.score),
                "alternative": None if answer.alternative is None else str(answer.alternative),
                "reasons": list(answer.reasons),
                "rank": ranks[id(answer)],
            }


def matched(
    asked: NamedRequest, offered: Sequence[Offer], patterns: Matching = "full"
) -> Matched | None:
    """A request held against offers; None for one that cannot be read or has no meaning."""
    if asked.expression is None:
        return None
    request = Request(asked.expression, patterns)
    if any(request.faults()):  # which were said where the request was read
        return None
    answers = tuple(request.answer(offer) for offer in offered)
    found = (*request.stopped(), *_unasked(asked, offered))
    return Matched(asked, answers, tuple(each.in_file(asked.file) for each in found))


def _unasked(asked: NamedRequest, offered: Sequence[Offer]) -> Iterator[Finding]:
    """What of a job is not asked for, though offers say it."""
    for unit, item in asked.unasked:
        if any(item.name in offer.facts for offer in offered):
            text = f"{item.name} is not asked of offers: it stands outside of Requested"
            yield finding("W-USELESS", text, path=unit.where(item), line=item.line,
                          section="SSS 8.0", suggestion="write it in Requested")  # fmt: skip
