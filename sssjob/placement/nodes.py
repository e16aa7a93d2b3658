"""A set of nodes to place tasks on: offers, of which each is one node.

>>> from sssjob.model import Property
>>> found = Nodes.of([Offer.of("n1", [Property("Processors", 4)]), Offer.of("n2", [])])
>>> found.names, len(found.kinds)
(('n1', 'n2'), 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from sssjob.errors import LimitExceeded, SSSJobError
from sssjob.expression.offer import Offer
from sssjob.nodes import Names

LIMIT = 1_000_000
_SHOWN = 8


class NotNodes(SSSJobError, ValueError):
    """Offers that are no set of nodes; ``reasons`` says why of the first of them."""

    def __init__(self, reasons: Iterable[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(self.reasons)

    def __str__(self) -> str:
        return "; ".join(self.reasons)


class NodeKind(NamedTuple):
    """Nodes, by their positions, of which the same is known but for their names."""

    offer: Offer
    members: tuple[int, ...]


@dataclass(frozen=True)
class Nodes:
    """Names in the order of the offers, and the kinds of nodes that there are.

    Requests are asked of kinds, so that nodes that are alike cost one answer.
    """

    names: tuple[str, ...]
    kinds: tuple[NodeKind, ...]

    @classmethod
    def of(cls, offers: Iterable[Offer]) -> Nodes:
        """The nodes of offers. Raises ``NotNodes``, and ``LimitExceeded`` for too many."""
        names: dict[str, None] = {}
        wrong: list[str] = []
        numbers: dict[object, int] = {}  # of kinds
        first: list[Offer] = []
        members: list[list[int]] = []
        for offer in offers:
            name, reason = _name(offer)
            if name in names:
                reason = f"node {name} is offered twice"
            if reason:
                wrong.append(reason)
                if len(wrong) > _SHOWN:
                    raise NotNodes((*wrong[:_SHOWN], "and more"))
                continue
            if len(names) == LIMIT:
                raise LimitExceeded("nodes", LIMIT)
            number = numbers.setdefault(_known(offer), len(first))
            if number == len(first):
                first.append(offer if offer.mode == "fit" else replace(offer, mode="fit"))
                members.append([])
            members[number].append(len(names))
            names[name] = None
        if wrong:
            raise NotNodes(wrong)
        return cls(tuple(names), tuple(map(NodeKind, first, map(tuple, members))))

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each name stands."""
        return {name: position for position, name in enumerate(self.names)}

    def among(self, names: Names) -> frozenset[int]:
        """The positions of those names that are nodes here."""
        known = self.positions
        found: set[str] = set()
        for part in names.parts:
            if isinstance(part, str):
                found.add(part)
            elif len(part) < len(known):
                found.update(part)
            else:  # a range may stand for a million names
                found.update(name for name in known if name in part)
        return frozenset(known[name] for name in found if name in known)


def _name(offer: Offer) -> tuple[str, str]:
    """What a node is called, and why an offer is none."""
    stated: Sequence[str] = offer.names.get("Node", ())
    if len(stated) > 1:
        return "", f"{offer.id} offers {len(stated)} nodes, and each node is an offer of its own"
    name = stated[0] if stated else offer.id
    return name, "" if name.strip() else "a node has no name"


def _known(offer: Offer) -> object:
    """All that comparisons ask of an offer, but for its name."""
    amounts, names = offer.amounts, offer.names
    if "Node" in names:
        names = {name: values for name, values in names.items() if name != "Node"}
    # One flat tuple, since of nodes that are each of its own kind all are kept: names of amounts,
    # numbers, names, and tuples of values are of different types, so nothing is mistaken.
    return (*amounts, *amounts.values(), *names, *names.values())
