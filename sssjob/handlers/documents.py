"""Job objects that a request carries: read, and held against what is understood here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lxml.etree import _Element as Element

from sssjob import spec, units
from sssjob.check import awareness
from sssjob.check.awareness import is_old
from sssjob.document import bridge, tree
from sssjob.document.attached import LIMIT, files_named
from sssjob.document.places import inside_of, local
from sssjob.errors import InvalidValue, Refused, UnreadableDocument
from sssjob.executable import decoded
from sssjob.handlers.attributes import JOB, shown
from sssjob.model import Block, Item, Job, JobDefaults, Property
from sssjob.rmap.message import Item as Sent
from sssjob.rmap.message import Request
from sssjob.rmap.writing import written
from sssjob.runs import TIMES, time_of

_FILE = "File"
_MOST_CREDITS = 10**15  # what a Refund can give back, and sums of entries hold
_SINGLE = frozenset(("Id", "Charge", "Quote", *spec.AMOUNTS))


@dataclass(frozen=True, slots=True)
class RequestDocuments:
    """Job objects of a request, and what is not understood in them and goes on (Warn).

    ``files`` are those that came with them, by their ids.
    """

    blocks: tuple[Block, ...]
    warnings: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


def carried(asked: Request) -> RequestDocuments:
    """The job objects in Data.

    Raises ``Refused``: 314 without any, 740 for one of another kind or of two meanings, 317 for a
    Charge below zero or that is no number, and for a time of a run that is none, 302 for what
    cannot be read, and 710 with all that is not understood where the policy of one of it is Reject
    (9.0).
    """
    items = asked.data.items if asked.data else ()
    if not items:
        raise Refused("314", f"The request carries no {asked.object}")
    parsed = [_element(each) for each in items]
    files = _files(asked, [each for each in parsed if local(each) == _FILE])
    elements = [each for each in parsed if local(each) != _FILE]
    _require_kind(elements, asked.object)
    rejected: list[str] = []
    warned: list[str] = []
    for element in elements:
        if asked.object == JOB and is_old(element):
            continue
        outcome = awareness.judge(awareness.items(element))
        rejected += map(_said, outcome.reject)
        warned += map(_said, outcome.warn)
    if rejected:
        raise Refused("710", f"Not understood: {'; '.join((*rejected, *warned))}")
    warnings = f"Not understood, and kept: {'; '.join(warned)}" if warned else ""
    blocks = tuple(_block(element) for element in elements)
    for block in blocks:
        for job in (block, *block.blocks(JobDefaults), *block.blocks(Job)):
            require_credits(job.get("Charge"))
            _require_times(job)
    _require_named(blocks, files)
    return RequestDocuments(blocks, warnings, files)


def require_credits(text: str) -> None:
    """Refuse (317) a Charge that is no number, below zero, or beyond all numbers of credits.

    Only a Refund gives back, and never more than was taken. "" is none.
    """
    if not text.strip():
        return
    try:
        found = units.number(text)
    except InvalidValue as error:
        raise Refused("317", f"Charge: {error}") from error
    if found >= _MOST_CREDITS:
        raise Refused("317", "Charge has 15 digits before its point at most")
    if found < 0:
        raise Refused("317", "Charge is not less than 0; a Refund gives back")


# decision 975
def _require_times(job: Block) -> None:
    """Refuse (317) a time of a run that is none: by nothing else are runs told apart."""
    for item in job.properties:
        if item.name in TIMES and item.text.strip() and time_of(item.text) is None:
            raise Refused("317", f"{item.name} is a time, found {shown(item.text)}")


def require_places(text: str, places: int) -> None:
    """Refuse (317) a Charge with more decimal places than the currency has. "" is none.

    It could never be given back as it is.
    """
    if text.strip() and (units.number(text) * 10**places).denominator != 1:
        raise Refused("317", f"Charge has {places} decimal places at most")


def _element(item: Sent) -> Element:
    try:
        return tree.parse(written(item).encode())
    except UnreadableDocument as error:
        message = f"An element of Data cannot be read: {error.finding.message}"
        raise Refused("302", message) from error


def _require_kind(elements: Sequence[Element], kind: str) -> None:
    if not elements:
        raise Refused("314", f"The request carries no {kind}")
    for element in elements:
        if local(element) != kind:
            raise Refused("740", f"Found {local(element)} in Data, expected {kind}")


def _files(asked: Request, beside: Iterable[Element]) -> dict[str, bytes]:
    """The Files of a request, which stand in Data or behind it (SSS 5.1), by their ids."""
    sent = [(each.get("id", ""), inside_of(each)) for each in beside]
    sent += [(each.id or each.name, each.text) for each in asked.files]
    found: dict[str, bytes] = {}
    for id_, content in sent:
        name = decoded(id_)
        if not name:
            raise Refused("740", "A File has no id")
        if name in found:
            raise Refused("740", f"There are two Files with the id {name}")
        found[name] = content.encode()
    if sum(map(len, found.values())) > LIMIT:
        raise Refused("740", f"The Files have more than {LIMIT >> 20} MiB")
    return found


def _require_named(blocks: Iterable[Block], files: Mapping[str, bytes]) -> None:
    """Refuse a File that no job names: it would be kept nowhere."""
    named = {id_ for block in blocks for id_ in files_named(block)}
    for id_ in files:
        if id_ not in named:
            raise Refused("740", f"No Executable names the File {id_}")


def _block(element: Element) -> Block:
    try:
        block = bridge.from_tree(element)
    except ValueError as error:
        raise Refused("740", "An element of Data is no job object") from error
    require_one_meaning(block)
    return once(block) if is_old(element) else block


def require_one_meaning(block: Block) -> None:
    """Refuse (740) a job with two Ids, charges or amounts that differ: which one is meant?

    What it requests is an expression, which may name a thing as often as it likes.
    """
    for name in of_two_values(block):
        raise _two_values(block, name)
    for job in block.blocks(Job):
        require_one_meaning(job)


def of_two_values(block: Block) -> Iterator[str]:
    """The names of what a job says once only, and says twice."""
    for items in (block.properties, block.delivered):
        said: dict[object, tuple[str, str]] = {}
        for item in items:
            if item.name in _SINGLE:
                # An amount may be told for each metric, context or group; each is had once.
                attributes = {**item.attributes}
                value = item.text.strip(), attributes.pop("duration", "")
                what = item.name, frozenset(attributes.items())
                if said.setdefault(what, value) != value:
                    yield item.name


def _two_values(block: Block, name: str) -> Refused:
    return Refused("740", f"The {block.name} has two different values of {name}")


def once(block: Block) -> Block:
    """A block without what it says twice, by an old and by a new name.

    Raises ``Refused`` (740) where both say something else.
    """
    items: list[Item] = []
    said: dict[str, str] = {}
    for item in block.items:
        if type(item) is Property and not item.attributes and not item.children:
            row = spec.element(item.name)
            text = item.text.strip()
            if not (row and row.repeats):
                if item.name in said:
                    if said[item.name] != text:
                        raise _two_values(block, item.name)
                    continue
                said[item.name] = text
        items.append(item)
    return block.holding(items)


def _said(item: awareness.Item) -> str:
    return f"{item.kind} {item.what} at {item.path}"
