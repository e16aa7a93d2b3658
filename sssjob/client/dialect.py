"""What a server is known to understand: our own, or Gold with its names and its limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sssjob.document import bridge, tree
from sssjob.document.flat import flat, name
from sssjob.errors import InvalidValue
from sssjob.model import Job
from sssjob.rmap.message import Get, Item, Request, Row, Set, Where

# What a job's properties are called in Gold's Where, Set and Get; its Id is a number of its own.
# fmt: off
GOLD_ATTRIBUTES = MappingProxyType({
    "Id":        "JobId",
    "Duration":  "WallDuration",
    "NodeCount": "Nodes",
    "Quote":     "QuoteId",
})
# What they are called in its Data.
_DATA = MappingProxyType({
    "Id":        "JobId",
    "User":      "UserId",
    "Project":   "ProjectId",
    "Machine":   "MachineName",
    "Duration":  "WallDuration",
    "NodeCount": "Nodes",
    "Quote":     "QuoteId",
})
# fmt: on

# Gold 2.0 sends the first part of these without end when it is asked for chunks.
GOLD_ENDLESS = frozenset(("Job", "Account", "Reservation", "Transaction"))
_LATIN_1 = "\xff"  # the last character that it reads
_REFERENCE = re.compile("&#([0-9]{3,7});")  # of a character beyond ASCII


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to speak to a kind of server.

    ``attributes`` are the names of a job's properties in conditions, ``flat`` sends jobs without
    structure. ``once`` are the actions that are done once however often a request with the same
    id comes. ``fresh`` says that nonces are understood.
    """

    name: str
    attributes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    endless: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()
    flat: bool = False
    fresh: bool = False

    def spoken(self, request: Request) -> Request:
        """The request with the names of the dialect.

        Raises ``InvalidValue`` for what this kind of server would misunderstand.
        """
        if not self.flat:
            return request
        if request.object == "Job":
            request = self._renamed(request)
        if request.chunking and request.object in self.endless:
            raise InvalidValue(request.object, "an object that Gold 2.0 can send in chunks")
        for get in request.gets:
            if get.path:
                raise InvalidValue(get.path, "a name: Gold knows no expressions")
        data = request.data
        texts = [request.actor]
        texts += [each.value for each in request.sets]
        texts += [each.value for each in request.wheres]
        if data is not None:
            used = request.action == "Charge"
            rows = tuple(flattened(each, used=used)[0] for each in data.items)
            texts += [value for row in rows for _, value in row.fields]
            data = replace(data, items=rows)
        for text in texts:
            if not is_plain(text):
                raise InvalidValue(text, "a value without ' and \\, which Gold puts into its SQL")
        return replace(request, data=data, id="", nonce="", time=None)

    def reaches(self, text: str) -> bool:
        """Whether this kind of server can be told a value."""
        return not self.flat or (is_plain(text) and max(text, default="") <= _LATIN_1)

    def digested(self, body: str) -> bytes:
        """The bytes of a Body that are signed for this kind of server.

        Gold digests a byte of Latin-1 for each character, and knows no others.
        """
        if not self.flat:
            return body.encode()
        text = _REFERENCE.sub(lambda found: chr(int(found[1])), body)
        beyond = next((letter for letter in text if letter > _LATIN_1), "")
        if beyond:
            raise InvalidValue(beyond, "a character of Latin-1: Gold reads no others")
        return text.encode("latin-1")

    def _renamed(self, request: Request) -> Request:
        def named(thing: Get | Set | Where) -> str:
            return self.attributes.get(thing.name, thing.name)

        return replace(
            request,
            gets=tuple(replace(get, name=named(get)) for get in request.gets),
            sets=tuple(replace(change, name=named(change)) for change in request.sets),
            wheres=tuple(replace(where, name=named(where)) for where in request.wheres),
        )


def is_plain(text: str) -> bool:
    """Whether a text stays one in the SQL of Gold, which has it as it is between two quotes."""
    return not any(letter in text for letter in "'\\\0")


def flattened(each: Item, *, used: bool = False) -> tuple[Row, tuple[str, ...]]:
    """A job as Gold takes it, and the names of what it has no place for.

    ``used`` is for a Charge: amounts that were only requested are none of it.
    """
    if isinstance(each, Row):
        fields = tuple((_DATA.get(key, key), value) for key, value in each.fields)
        return (replace(each, fields=fields) if each.object == "Job" else each), ()
    job = bridge.from_tree(tree.parse(each.xml))
    if not isinstance(job, Job):
        raise InvalidValue(job.name, "a Job: Gold knows no others")
    simple, left_out = flat(job, used=used)
    lost = [name(one) for one in left_out]
    found: list[tuple[str, str]] = []
    for child in bridge.to_tree(simple, dialect="gold", namespace=""):
        if not isinstance(child.tag, str):
            continue
        if len(child):
            lost.append(child.tag)
            continue
        lost += [f"{attribute} of {child.tag}" for attribute in child.attrib]
        found.append((child.tag, child.text or ""))
    return Row("Job", tuple(found)), tuple(lost)


# Whatever changes a job here is done once for an id.
_ONCE = frozenset((
    "Create", "Modify", "Delete", "Undelete", "Charge", "Reserve", "Quote", "Refund",
))  # fmt: skip
SSSJOB = Dialect("sssjob", once=_ONCE, fresh=True)
GOLD = Dialect("gold", GOLD_ATTRIBUTES, GOLD_ENDLESS, flat=True)
DIALECTS = {dialect.name: dialect for dialect in (SSSJOB, GOLD)}
