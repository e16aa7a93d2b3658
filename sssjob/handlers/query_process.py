"""Expressions of clients whose steps can grow faster than a job: asked in a process apart.

libxml2 cannot be stopped once it works, and the threads of a server cannot be ended. What is
certain to grow with the job is asked where the request is answered, and pays nothing for this.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import tree
from sssjob.errors import LimitExceeded
from sssjob.query import Question, compile
from sssjob.query.cost import multiplies
from sssjob.workers import Bounds, PartWork, Workers

BOUNDS = Bounds(memory=1 << 28, seconds=5, deadline=30)  # for one expression and one job
TOTAL = 20  # seconds of a processor for all expressions and jobs of a request


_Sent = list[tuple[str, bytes | None]]  # what is found, as it goes from process to process


class FoundValue(NamedTuple):
    """What an expression finds: its text, and the element that it may be."""

    text: str
    element: Element | None


class _ExpressionOfDocument(NamedTuple):
    expression: str
    document: bytes


class RequestProcess:
    """The process of one request, for a ``with`` block; it begins when it is first needed."""

    def __init__(self) -> None:
        self._workers: Workers[_ExpressionOfDocument, tuple[float, _Sent]] = Workers(
            PartWork("sssjob.handlers.query_process:worker"), 1, BOUNDS
        )
        self._spent = 0.0

    def __enter__(self) -> RequestProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.close()

    def found(self, question: Question, root: Element) -> list[FoundValue]:
        """What an expression finds in one job object.

        Raises ``LimitExceeded``, ``LostWorker``, and what a question raises.
        """
        if question.parsed is not None and not multiplies(question.parsed):
            return _found(question, root)
        part = _ExpressionOfDocument(question.expression, etree.tostring(root))
        [(_, (seconds, found))] = self._workers.in_order([part])
        self._spent += seconds
        if self._spent > TOTAL:
            raise LimitExceeded("seconds of a processor for a request", TOTAL)
        return [FoundValue(text, None if xml is None else tree.parse(xml)) for text, xml in found]


def worker() -> Callable[[_ExpressionOfDocument], tuple[float, _Sent]]:
    """What answers in the process."""

    def answer(part: _ExpressionOfDocument) -> tuple[float, _Sent]:
        begun = _used()
        found = _found(compile(part.expression), tree.parse(part.document))
        sent = [
            (text, None if element is None else etree.tostring(element, with_tail=False))
            for text, element in found
        ]
        return _used() - begun, sent

    return answer


def _used() -> float:
    """Seconds of a processor that this process has worked."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _found(question: Question, root: Element) -> list[FoundValue]:
    return [
        FoundValue(match.text, match.found if _is_element(match.found) else None)
        for match in question.asked_of(root, places=False)
    ]


def _is_element(found: object) -> bool:
    return isinstance(found, Element) and isinstance(found.tag, str)
