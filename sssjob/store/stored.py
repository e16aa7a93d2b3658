"""What a store gives: documents with their history, and what a store is made of in numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sssjob.document import bridge, tree
from sssjob.model import Block
from sssjob.store.identity import Identity, Marks, rank

DELIVERED = "delivered"  # why what records tell was written
# Requests by which a job may become known, or changes in nothing that others say of it.
OF_CHARGING = ("Charge", "Quote", "Refund", "Reserve")
# What requests of a gateway give as a reason: their action and object.
_REQUEST = re.compile("([A-Z][a-z]+) Job(Group)?(,.*)?")


def is_of_request(reason: str) -> bool:
    """Whether a version was made by who works with jobs, and not by who brings them.

    >>> is_of_request("Modify Job, request 17"), is_of_request("April")
    (True, False)
    """
    return bool(of_request(reason))


def of_request(reason: str) -> str:
    """What made such a version: the action of a request, or what was delivered; else "".

    >>> of_request("Charge Job"), of_request("delivered"), of_request("Create Job, request 3")
    ('Charge', 'delivered', '')
    """
    if reason == DELIVERED:
        return reason
    found = _REQUEST.fullmatch(reason)
    return "" if found is None or found[1] == "Create" else found[1]


def is_of_create(reason: str) -> bool:
    """Whether a request created the job in such a version.

    >>> is_of_create("Create Job, request 3"), is_of_create("Charge Job")
    (True, False)
    """
    found = _REQUEST.fullmatch(reason)
    return found is not None and found[1] == "Create"


@dataclass(frozen=True, slots=True)
class Stored:
    """One version of a document: an outermost Job or JobGroup, byte for byte as it was read.

    ``number`` is its place in the order of the store. ``version`` counts from 1; ``at`` is when
    this version was made, in seconds since 1970-01-01T00:00:00Z, ``by`` whom, from which
    ``source``, for which ``reason``; what nobody said is empty. A ``deleted`` document is hidden,
    and one that ``is_taken_in`` was not deleted by anybody: a group has its job.
    ``files`` are the digests of its Files by their ids; ``Store.files`` gives what they hold.
    """

    number: int
    identity: Identity
    document: bytes
    version: int
    at: int
    by: str
    source: str
    reason: str
    deleted: bool
    files: Mapping[str, str] = field(default_factory=dict)
    is_taken_in: bool = False

    def block(self) -> Block:
        """The job object that it holds, with its defaults as they are written."""
        return bridge.from_tree(tree.parse(self.document))

    def rank(self, marks: Marks) -> tuple[bool, int, int]:
        """What orders it among the runs of a job, by the marks that the job has in it."""
        return rank(marks, self.identity.run or 0, is_there=not self.deleted)


@dataclass(frozen=True, slots=True)
class Event:
    """One version in the history of a store, without its document; see ``Stored``."""

    identity: Identity
    version: int
    at: int
    by: str
    source: str
    reason: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the documents of an import: every one is in exactly one of these."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    bad: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(
            self.new + other.new,
            self.changed + other.changed,
            self.unchanged + other.unchanged,
            self.bad + other.bad,
        )

    def as_dict(self) -> dict[str, int]:
        """The counts for JSON."""
        return {
            "new": self.new, "changed": self.changed, "unchanged": self.unchanged, "bad": self.bad,
        }  # fmt: skip

    def __str__(self) -> str:
        """As the end of an import prints them."""
        return f"new {self.new}, changed {self.changed}, unchanged {self.unchanged}, bad {self.bad}"


@dataclass(frozen=True, slots=True)
class Statistics:
    """A store in numbers; sizes are in bytes."""

    documents: int
    jobs: int
    deleted: int
    versions: int  # former ones, beside the present one of each document
    size: int
    documents_size: int  # as they were read, by a sample of them
    packed_size: int
    dictionaries: int
    first_change: int | None
    last_change: int | None
    by_state: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it was written; without an identity, it is not one document."""

    message: str
    identity: Identity | None = None
    version: int = 0

    def __str__(self) -> str:
        """As ``store check`` prints it."""
        return self.message
