"""Requests that are told apart from their copies: each may come once, and not late.

It is for clients that send a nonce and a time (ours do); Gold's peers know neither.
"""

from __future__ import annotations

import hashlib
from collections import deque
from threading import Lock

from sssjob.errors import Refused
from sssjob.rmap.message import Request


class Nonces:
    """The nonces that were seen within a window of time. Safe to share between threads.

    ``window`` is in seconds, both ways. ``since`` is when it begins to remember: what was sent
    before that cannot be told from a copy, and is refused. ``required`` refuses requests without
    a nonce, too.
    """

    def __init__(
        self, *, since: float, window: int = 300, required: bool = False, limit: int = 1_000_000
    ) -> None:
        self.window, self.required, self.since, self.limit = window, required, since, limit
        self._seen: set[bytes] = set()
        self._order: deque[tuple[float, bytes]] = deque()
        self._lock = Lock()

    def admit(self, request: Request, now: float) -> None:
        """Remember a request whose signature was good. Raises ``Refused`` (424) for a copy.

        So does a request that is too old or from the future; 730 where too many are remembered
        to be sure.
        """
        if not request.nonce and request.time is None and not self.required:
            return
        if not request.nonce or request.time is None:
            raise Refused("424", "The request needs both a nonce and a time")
        if request.time < int(self.since) or abs(now - request.time) > self.window:
            raise Refused("424", "The request is not of this time; do the clocks agree?")
        # A request from the near future stays good for longer than the window from now.
        until = max(now, request.time) + self.window
        with self._lock:
            self._remember(mark_of(request), now, until)

    def _remember(self, mark: bytes, now: float, until: float) -> None:
        """Remember a mark until a time. Raises ``Refused`` as ``admit`` does."""
        self._forget(now)
        if mark in self._seen:
            raise seen_before()
        if len(self._seen) >= self.limit:
            raise too_many()
        self._seen.add(mark)
        self._order.append((until, mark))

    def _forget(self, now: float) -> None:
        while self._order and self._order[0][0] < now:
            self._seen.discard(self._order.popleft()[1])


def mark_of(request: Request) -> bytes:
    """What is remembered of a nonce of somebody: as few bytes of a long one as of a short one."""
    told = f"{request.actor}\0{request.nonce}".encode()
    return hashlib.blake2b(told, digest_size=16).digest()


def seen_before() -> Refused:
    """What is said of a copy."""
    return Refused("424", "The request was seen before")


def too_many() -> Refused:
    """What is said where no more can be remembered."""
    return Refused("730", "Too many requests; try again later")
