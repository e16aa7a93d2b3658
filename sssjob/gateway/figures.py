"""What the gateway counts, in the form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

# Strangers choose the words of a request: only these become labels, so that labels have an end.
ACTIONS = frozenset((
    "Balance", "Cancel", "Charge", "Create", "Delete", "Hold", "Modify", "Query", "Quote",
    "Refund", "Reserve", "Undelete",
))  # fmt: skip
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)


class Figures:
    """The figures of one server; ``pending`` counts requests that wait for their answer."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, pending: Callable[[], float]) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        ProcessCollector(registry=registry)  # memory, CPU time, open files
        self.connections = Gauge("sssjob_connections", "Open connections", registry=registry)
        self.refused = Counter(
            "sssjob_connections_refused", "Connections that were one too many", registry=registry
        )
        Gauge(
            "sssjob_requests_pending", "Requests that wait for their answer", registry=registry
        ).set_function(pending)
        self.received = Counter("sssjob_bytes_received", "Bytes from clients", registry=registry)
        self.sent = Counter("sssjob_bytes_sent", "Bytes to clients", registry=registry)
        self._requests = Counter(
            "sssjob_requests", "Answered requests", ("action", "code"), registry=registry
        )
        self._counters: dict[tuple[str, str], Counter] = {}
        self._seconds = Histogram(
            "sssjob_request_seconds", "From a whole request to its answer", registry=registry,
            buckets=_SECONDS,
        )  # fmt: skip

    def answered(self, action: str, code: str, seconds: float) -> None:
        """Count an answer; ``seconds`` is the time that it took."""
        labels = (action if action in ACTIONS else "other", code)
        if labels not in self._counters:
            self._counters[labels] = self._requests.labels(*labels)
        self._counters[labels].inc()
        self._seconds.observe(seconds)

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self._registry)
