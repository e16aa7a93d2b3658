"""What the gateway counts, in the form that Prometheus reads; without its library, nothing."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from sssjob.store.sqlite import memory_used

if TYPE_CHECKING:
    from prometheus_client import Counter

# Strangers choose the words of a request: only these become labels, so that labels have an end.
ACTIONS = frozenset((
    "Balance", "Cancel", "Charge", "Create", "Delete", "Hold", "Modify", "Query", "Quote",
    "Refund", "Reserve", "Undelete",
))  # fmt: skip
MISSING = "prometheus_client is not installed: pip install 'sssjob[gateway]'"
SEVERAL = "there are no figures where several processes answer ([limits] processes)"
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)


class Figures(Protocol):
    """The figures of one server. They are optional, and serving is not."""

    def connected(self, number: int) -> None:
        """Count a connection that is there now, or with -1 one that has ended."""

    def refused(self) -> None:
        """Count a connection that was one too many."""

    def received(self, size: int) -> None:
        """Count bytes from a client."""

    def sent(self, size: int) -> None:
        """Count bytes to a client."""

    def answered(self, action: str, code: str, seconds: float) -> None:
        """Count an answer; ``seconds`` is the time that it took."""

    def text(self) -> tuple[str, bytes] | None:
        """All of them as Prometheus reads them, behind their type; None without its library."""


def figures(pending: Callable[[], float]) -> Figures:
    """What counts here; ``pending`` tells how many requests wait for their answer."""
    return PrometheusFigures(pending) if available() else Uncounted()


def available() -> bool:
    """Whether the library is installed that counts."""
    try:
        import prometheus_client  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


class _Allocated(ctypes.Structure):
    """What glibc tells of its allocator, in bytes (mallinfo2)."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost",
    )]  # fmt: skip


_told = getattr(ctypes.CDLL(None), "mallinfo2", None)  # of glibc since 2.33
if _told is not None:
    _told.restype = _Allocated


def freed() -> int | None:
    """Bytes that were freed, and that the allocator keeps; None where its library does not say.

    Those of the objects of Python are not among them.
    """
    return None if _told is None else int(_told().fordblks)


class Uncounted:
    """No figures."""

    def connected(self, number: int) -> None:
        """See ``Figures``."""

    def refused(self) -> None:
        """See ``Figures``."""

    def received(self, size: int) -> None:
        """See ``Figures``."""

    def sent(self, size: int) -> None:
        """See ``Figures``."""

    def answered(self, action: str, code: str, seconds: float) -> None:
        """See ``Figures``."""

    def text(self) -> None:
        """See ``Figures``."""


class PrometheusFigures:
    """Figures that the library of Prometheus keeps."""

    def __init__(self, pending: Callable[[], float]) -> None:
        import prometheus_client as library

        registry = library.CollectorRegistry()
        self._registry = registry
        library.ProcessCollector(registry=registry)  # memory, CPU time, open files
        self._connections = library.Gauge(
            "sssjob_connections", "Open connections", registry=registry
        )
        self._refused = library.Counter(
            "sssjob_connections_refused", "Connections that were one too many", registry=registry
        )
        library.Gauge(
            "sssjob_requests_pending", "Requests that wait for their answer", registry=registry
        ).set_function(pending)
        if memory_used() is not None:
            library.Gauge(
                "sssjob_sqlite_bytes", "Memory that SQLite holds, of all connections to stores",
                registry=registry,
            ).set_function(lambda: memory_used() or 0)  # fmt: skip
        if freed() is not None:
            library.Gauge(
                "sssjob_freed_bytes", "Memory that was freed, and lies between what is in use",
                registry=registry,
            ).set_function(lambda: freed() or 0)  # fmt: skip
        self._received = library.Counter(
            "sssjob_bytes_received", "Bytes from clients", registry=registry
        )
        self._sent = library.Counter("sssjob_bytes_sent", "Bytes to clients", registry=registry)
        self._requests = library.Counter(
            "sssjob_requests", "Answered requests", ("action", "code"), registry=registry
        )
        self._counters: dict[tuple[str, str], Counter] = {}
        self._seconds = library.Histogram(
            "sssjob_request_seconds", "From a whole request to its answer", registry=registry,
            buckets=_SECONDS,
        )  # fmt: skip

    def connected(self, number: int) -> None:
        """See ``Figures``."""
        self._connections.inc(number)

    def refused(self) -> None:
        """See ``Figures``."""
        self._refused.inc()

    def received(self, size: int) -> None:
        """See ``Figures``."""
        self._received.inc(size)

    def sent(self, size: int) -> None:
        """See ``Figures``."""
        self._sent.inc(size)

    def answered(self, action: str, code: str, seconds: float) -> None:
        """See ``Figures``."""
        labels = (action if action in ACTIONS else "other", code)
        if labels not in self._counters:
            self._counters[labels] = self._requests.labels(*labels)
        self._counters[labels].inc()
        self._seconds.observe(seconds)

    def text(self) -> tuple[str, bytes]:
        """See ``Figures``."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return CONTENT_TYPE_LATEST, generate_latest(self._registry)
