"""Two servers asked the same: ours answers, and what the other one says otherwise is logged.

So a site sees what would change before it moves. The other server is asked afterwards, one
request after the other in their order, so that nobody waits for it.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from queue import Full, Queue

from sssjob.client.dialect import flattened
from sssjob.document import diff, loads
from sssjob.errors import Refused, SSSJobError
from sssjob.gateway.log import LOGGER, event
from sssjob.gateway.upstream import Behind
from sssjob.handlers.attributes import JOB, attribute
from sssjob.model import Block
from sssjob.rmap.message import READING, DataDocument, Item, Request, Row
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest

ACTIONS = frozenset((
    "Query", "Create", "Modify", "Delete", "Undelete", "Charge", "Reserve", "Quote", "Refund",
))  # fmt: skip
_WAITING = 1000  # requests that wait to be asked
_ROWS = 1000  # that are compared
_SHOWN = 3  # rows of a difference
_OWN = ("Id", "Job")  # numbers of Gold's, for a job or what a request was about

Cells = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What a server answered; ``rows`` is None where they are too many to be compared.

    ``documents`` are the job objects themselves, where it answered with whole ones.
    """

    code: str
    count: int | None = None
    rows: tuple[Cells, ...] | None = ()
    documents: tuple[bytes, ...] = ()


class Shadow:
    """Asks the server behind what was asked here, in a thread of its own.

    What was done here once is done there once: a change that ours refused, or only answered as
    before, is not sent.
    """

    def __init__(self, behind: Behind) -> None:
        self.behind = behind
        self._queue: Queue[tuple[ReceivedRequest, Callable[[], ServerAnswer]] | None] = Queue(
            _WAITING
        )
        self._thread = threading.Thread(target=self._run, name="shadow", daemon=True)

    def start(self) -> None:
        """Begin, in another thread."""
        self._thread.start()

    def stop(self) -> None:
        """End after what was asked before."""
        self._queue.put(None)
        self._thread.join(self.behind.client.tries * 60)

    def follows(self, asked: Request) -> bool:
        """Whether the other server can be asked the same."""
        return asked.object == JOB and asked.action in ACTIONS

    def told(self, call: ReceivedRequest, answer: HandlerAnswer) -> HandlerAnswer:
        """The answer as it goes out; the other server is asked once it is whole."""
        if answer.again:
            return answer

        def rows() -> Iterator[Item]:
            seen: list[Item] = []
            number = 0
            for number, each in enumerate(answer.rows, 1):
                if number <= _ROWS:
                    seen.append(each)
                yield each
            self._put(call, partial(answered, call.request, answer, seen, number))

        return replace(answer, rows=rows())

    def refused(self, call: ReceivedRequest, error: Refused) -> None:
        """Ours refused it; the other server is asked all the same, but for no change.

        Who was told that nothing was done would be charged there, and may ask in other words.
        """
        if call.request.action in READING:
            self._put(call, partial(ServerAnswer, error.code))
        else:
            self._tell(call, "not sent", error.code, "a change that ours refused")

    def compare(self, call: ReceivedRequest, ours: ServerAnswer) -> list[tuple[str, str, str]]:
        """What differs: what it is, what ours says of it, and what the other one says."""
        try:
            answer = self.behind.answer(call)
        except Refused as error:
            theirs = ServerAnswer(error.code)
        else:
            rows = list(answer.rows)
            theirs = answered(call.request, answer, rows[:_ROWS], len(rows))
        return differences(ours, theirs)

    def _put(self, call: ReceivedRequest, said: Callable[[], ServerAnswer]) -> None:
        """Have an answer compared: what it ``said`` is made out later, as it takes long."""
        try:
            self._queue.put_nowait((call, said))
        except Full:
            self._tell(call, "not compared", "", "too many wait")

    def _tell(self, call: ReceivedRequest, what: str, ours: str, theirs: str) -> None:
        asked = call.request
        event(
            "shadow differs", logging.WARNING, actor=call.actor, action=asked.action,
            object=asked.object, id=asked.id, what=what, ours=ours, theirs=theirs,
        )  # fmt: skip

    def _run(self) -> None:
        while (each := self._queue.get()) is not None:
            call, said = each
            try:
                for difference in self.compare(call, said()):
                    self._tell(call, *difference)
            except SSSJobError as error:
                self._tell(call, "not compared", "", str(error))
            except Exception as fault:  # of ours: it costs one comparison, not the thread
                LOGGER.error("fault", exc_info=fault)


def differences(ours: ServerAnswer, theirs: ServerAnswer) -> list[tuple[str, str, str]]:
    """What two servers say differently of the same request."""
    if ours.code != theirs.code:
        return [("code", ours.code, theirs.code)]
    found = []
    if ours.count != theirs.count:
        found.append(("count", str(ours.count), str(theirs.count)))
    if ours.rows is None or theirs.rows is None:
        return found
    if ours.documents and theirs.documents:
        of_jobs = diff.differences(_jobs(ours.documents), _jobs(theirs.documents))
        if some := list(islice(of_jobs, _SHOWN)):
            left, right = (
                "; ".join(f"{each.path}={each[side]}" for each in some if each[side] is not None)
                for side in (1, 2)
            )
            found.append(("rows", left, right))
        return found
    one, other = _comparable(ours, theirs)
    if one != other:
        found.append(("rows", _some(one - other), _some(other - one)))
    return found


def _jobs(documents: Iterable[bytes]) -> Iterator[Block]:
    return (loads(each) for each in documents)


def _comparable(ours: ServerAnswer, theirs: ServerAnswer) -> tuple[Counter[Cells], Counter[Cells]]:
    """The rows of both, of whole job objects beside flat rows as far as both say it."""
    one, other = ours.rows or (), theirs.rows or ()
    if one and other and (ours.documents or theirs.documents):
        first, second = ({name for row in rows for name, _ in row} for rows in (one, other))
        names = first & second
        one, other = (
            tuple(tuple(cell for cell in row if cell[0] in names) for row in rows)
            for rows in (one, other)
        )
    return Counter(one), Counter(other)


def _some(rows: Counter[Cells]) -> str:
    shown = [
        ", ".join(f"{name}={value}" for name, value in cells) for cells in sorted(rows)[:_SHOWN]
    ]
    return "; ".join(shown)


def answered(
    asked: Request, answer: HandlerAnswer, rows: Sequence[Item], number: int
) -> ServerAnswer:
    """What an answer says that has a ``number`` of rows, of which these are the first."""
    count = number if answer.count == "rows" else answer.count
    if number > _ROWS:
        return ServerAnswer(answer.code, count, None)
    documents = tuple(each.xml for each in rows if isinstance(each, DataDocument))
    cells = tuple(_cells(asked, flattened(each)[0]) for each in rows)
    return ServerAnswer(answer.code, count, cells, documents)


def _cells(asked: Request, item: Row) -> Cells:
    """A row by the names of the request, else by those of the standard.

    Without numbers that the other server makes for itself, and without a Charge of 0, which it
    gives to jobs that nobody charged.
    """
    if len(asked.gets) == len(item.fields):
        named = zip((get.alias or get.name for get in asked.gets), item.fields, strict=True)
        return tuple((name, _shown(name, value)) for name, (_, value) in named)
    cells = {
        found.name if (found := attribute(name)) else name: _shown(name, value)
        for name, value in item.fields
        if name not in _OWN
    }
    return tuple(sorted((name, value) for name, value in cells.items() if value))


def _shown(name: str, value: str) -> str:
    return "" if (name, value) == ("Charge", "0") else value
