"""Who is connected, by address: when there is no more room, who takes most of it makes room.

Strategy. Whoever can connect can open connections, begin requests and never end them. A fixed
limit for all shuts everybody out then; a fixed one for each address shuts out those behind one
proxy while nobody else is there.

The idea is that nothing is refused while there is room. When there is none, a connection goes
that only waits for bytes of its client: of the address that has most of what is short
(connections, or bytes), the one whose request has been coming longest. So a stranger with one
address takes the place of the stranger's own connections, and of nobody else's; and who sends
slowly goes before who sends at once.

Why it is right: an address that has less than another never loses anything to it. Who is being
answered never goes. Networks of IPv6 count as one address, since a host has a whole one. No clock
is asked: the order in which requests began tells which has taken longest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import count
from operator import itemgetter
from typing import Protocol

_HOST_BITS = 64  # of an address of IPv6, which a host chooses itself


class Member(Protocol):
    """A connection."""

    @property
    def origin(self) -> str:
        """The address of its client."""
        ...

    def abort(self) -> None:
        """End it now."""
        ...


class _Connection:
    """What is known of a connection; ``since`` is None while it is being answered."""

    __slots__ = ("address", "held", "member", "since")

    def __init__(self, member: Member, address: str, since: int) -> None:
        self.member, self.address, self.held = member, address, 0
        self.since: int | None = since


class Crowd:
    """The connections of a server: at most so many, and together at most so many bytes.

    ``held`` are the bytes of requests, and of what it takes to answer them.
    """

    def __init__(self, connections: int, memory: int) -> None:
        self.connections, self.memory = connections, memory
        self.held = 0
        self._places: dict[Member, _Connection] = {}
        self._counts: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._order = count()

    def __len__(self) -> int:
        return len(self._places)

    def enter(self, member: Member) -> bool:
        """Let somebody in, if need be in the place of another; whether there was a place."""
        address = network(member.origin)
        if len(self._places) >= self.connections:
            slowest = self._slowest(
                self._places.values(), self._counts + Counter((address,)), address
            )
            if slowest is None:
                return False
            self._turn_out(slowest)
        self._places[member] = _Connection(member, address, next(self._order))
        self._counts[address] += 1
        return True

    def leave(self, member: Member) -> None:
        """Somebody is gone, perhaps turned out before."""
        place = self._places.pop(member, None)
        if place is not None:
            self._hold(place, 0)
            self._counts[place.address] -= 1
            if not self._counts[place.address]:
                del self._counts[place.address], self._bytes[place.address]

    def wait(self, member: Member) -> None:
        """Somebody's next request may come now."""
        if (place := self._places.get(member)) is not None:
            place.since = next(self._order)

    def work(self, member: Member) -> None:
        """Somebody is being answered, and is not turned out."""
        if (place := self._places.get(member)) is not None:
            place.since = None

    def hold(self, member: Member, held: int) -> bool:
        """Somebody holds so many bytes now; whether there is room for them."""
        place = self._places.get(member)
        if place is None:
            return False
        self._hold(place, held)
        while self.held > self.memory:
            others = (each for each in self._places.values()
                      if each.held and each.address != place.address)  # fmt: skip
            slowest = self._slowest(others, self._bytes, place.address)
            if slowest is None:
                return False
            self._turn_out(slowest)
        return True

    def _slowest(
        self, places: Iterable[_Connection], loads: Counter[str], address: str
    ) -> _Connection | None:
        """Who has waited longest where most is taken, if that is no less than at ``address``."""
        waiting = [
            (-loads[each.address], each.since, each)
            for each in places
            if each.since is not None and loads[each.address] >= loads[address]
        ]
        return min(waiting, key=itemgetter(0, 1))[2] if waiting else None

    def _hold(self, place: _Connection, held: int) -> None:
        self.held += held - place.held
        self._bytes[place.address] += held - place.held
        place.held = held

    def _turn_out(self, place: _Connection) -> None:
        self.leave(place.member)
        place.member.abort()


def network(origin: str) -> str:
    """What counts as one address.

    >>> network("2001:db8::1") == network("2001:db8::2"), network("::ffff:192.0.2.1")
    (True, '192.0.2.1')
    """
    try:
        found: IPv4Address | IPv6Address = ip_address(origin.partition("%")[0])
    except ValueError:
        return origin
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is None:
            return str(int(found) >> _HOST_BITS)
        found = found.ipv4_mapped
    return str(found)
