"""One change of the store for one request, done once however often the request comes."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from sssjob.errors import Refused, UnknownOutcome
from sssjob.handlers.attributes import GROUP
from sssjob.handlers.columns import CHOOSING
from sssjob.handlers.finding import require_options
from sssjob.handlers.stores import Stores
from sssjob.rmap.message import DataDocument, Item, Request, Row
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest
from sssjob.rmap.writing import write_request
from sssjob.store import Change, Store
from sssjob.store.change import KEY, REQUEST

_LARGEST = 1 << 14  # characters of an answer that is kept to be given again

_NAMED = 200  # characters of a name in the history
_LOOKS = ("ItemizedCharges", "ShowHours")
_ELSEWHERE = "another server"  # by what answers without ids of another one are kept
_TOLD = "told"  # it was told, and has not answered; with when that was, somebody may be at it
_REFUSED = "refused "
_AT_IT = 20.0  # seconds that the other server may take; clients wait no longer
_PAUSE, _LONGEST_PAUSE = 0.01, 0.2  # seconds between two looks at whether it has answered


def once(
    stores: Stores, call: ReceivedRequest, do: Callable[[Change], HandlerAnswer], *,
    window: int = 0, holds: Callable[[Change], bool] | None = None,
) -> HandlerAnswer:  # fmt: skip
    """The answer of ``do``, whose changes are all made, or none of them if it is refused.

    A request with the id and the words of an earlier one of the same actor is answered as that
    one was, and changes nothing. So is one without an id or a nonce whose very bytes came within
    a ``window`` of seconds before: peers of Gold that were not answered in time ask again. Where
    to do it again is meant once it was undone, ``holds`` tells whether what was done still does.
    The rows of the answer are there when this returns.
    """
    asked = call.request
    name = noted_as(call) if asked.id else ""
    mark = call.mark if window and not asked.id else ""
    kind = f"{asked.action} {asked.object}"

    def earlier(change: Change) -> str | None:
        if name:
            return change.noted(name)
        if not mark:
            return None
        found = change.answered(kind, mark, call.now - window)
        return found if holds is None or (found is not None and holds(change)) else None

    def made(change: Change) -> HandlerAnswer:
        before = earlier(change)
        if before is not None:
            return _read(before)
        answer = _made(do(change))
        if call.rehearsal:
            raise _Rehearsed(answer)
        if name:
            change.note(name, _written(answer))
        elif mark:
            change.keep_answer(kind, mark, call.now, _written(answer))
        return answer

    try:
        with stores.use() as jobs, changing(jobs, call) as change:
            return made(change)
    except _Rehearsed as rehearsed:
        return rehearsed.answer


class _Rehearsed(Exception):
    """Ends a change of which nothing is to stay."""

    def __init__(self, answer: HandlerAnswer) -> None:
        super().__init__(answer)
        self.answer = answer


def once_elsewhere(
    stores: Stores, call: ReceivedRequest, window: int, do: Callable[[], HandlerAnswer]
) -> HandlerAnswer:
    """The answer of another server, which is told of a change once however often that comes.

    It is noted before it is told. Where nobody knows what became of it, because ``do`` raised
    ``UnknownOutcome`` or this ended in between, the same request is told so, and not done again;
    what was refused is. A copy that comes meanwhile, to this process or another one, waits for the
    answer, or the refusal, for 20 seconds at most. Without an id, the very bytes are known again
    for ``window`` seconds. Raises ``UnknownOutcome``.
    """
    name = f"{noted_as(call)} elsewhere" if call.request.id else ""
    mark = f"{call.mark} elsewhere"  # another one than that of what was answered here
    if not name and not (call.mark and window):
        return do()
    since = call.now - window

    def keep(text: str) -> None:
        with stores.use() as jobs, changing(jobs, call) as change:
            put(change, text)

    def put(change: Change, text: str) -> None:
        if name:
            change.note(name, text)
        else:
            change.keep_answer(_ELSEWHERE, mark, call.now, text)

    def seen() -> str | None:
        with stores.use() as jobs:
            return jobs.noted(name) if name else jobs.answered(_ELSEWHERE, mark, since)

    has_waited = False
    while True:
        with stores.use() as jobs, changing(jobs, call) as change:
            before = change.noted(name) if name else change.answered(_ELSEWHERE, mark, since)
            refused = before is not None and before.startswith(_REFUSED)
            if not before or (refused and not has_waited):
                put(change, f"{_TOLD} {time.time()}")
                break
        if refused:
            raise Refused(*json.loads(before.removeprefix(_REFUSED)))
        if not before.startswith(_TOLD):
            return _read(before)
        if not _waited(before, seen):
            raise UnknownOutcome("This was sent to the server behind before, and nobody knows "
                                 "whether it did it; it is not sent again")  # fmt: skip
        has_waited = True
    try:
        answer = _made(do())
    except UnknownOutcome:
        keep(_TOLD)
        raise
    except Refused as error:
        keep(f"{_REFUSED}{json.dumps([error.code, error.message])}")
        raise
    keep(_written(answer))
    return answer


def _waited(told: str, seen: Callable[[], str | None]) -> bool:
    """Whether another answer is ``seen`` than that it was told, while somebody may be at it.

    Who is at it may be in another process, on another machine, or killed.
    """
    begun = told.removeprefix(_TOLD)
    until = float(begun or 0) + _AT_IT
    pause = _PAUSE
    while time.time() < until:
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
        if seen() != told:
            return True
    return False


def changing(jobs: Store, call: ReceivedRequest) -> AbstractContextManager[Change]:
    """The change of a store that a request makes, as its history names it."""
    return jobs.change(
        by=call.actor[:_NAMED], source=call.origin, reason=reason(call.request),
        brings_groups=call.request.object == GROUP,
    )  # fmt: skip


def once_outside(
    stores: Stores, call: ReceivedRequest, do: Callable[[], HandlerAnswer]
) -> HandlerAnswer:
    """The answer of ``do``, which changes something outside of the store, as ``once`` gives it.

    It is noted when it was done: where this ends in between, the same request does it again.
    """
    asked = call.request
    if not asked.id:
        return do()
    name = noted_as(call)
    with stores.use() as jobs:
        before = jobs.noted(name)
    if before is not None:
        return _read(before)
    answer = _made(do())
    with stores.use() as jobs, changing(jobs, call) as change:
        change.note(name, _written(answer))
    return answer


def require_single(stores: Stores, call: ReceivedRequest) -> None:
    """Refuse (740) a request with the id of an earlier one of the same actor that had other words.

    From now on the id is that of this request, whatever becomes of it. Only where ids are for one
    request (``single``).
    """
    if not (call.single and call.request.id):
        return
    words = json.dumps([call.actor, call.request.id])
    name, noted = f"{KEY}{hashlib.sha256(words.encode()).hexdigest()}", noted_as(call)
    with stores.use() as jobs, changing(jobs, call) as change:
        before = change.noted(name)
        if before is None:
            change.note(name, noted)
        elif before != noted:
            raise Refused(
                "740",
                f"The key {call.request.id!r} was sent before with another request; each "
                "request has a key of its own",
            )


def was_answered(stores: Stores, call: ReceivedRequest, window: int) -> bool:
    """Whether a request that makes a change was answered before, and would make none again."""
    asked = call.request
    with stores.use() as jobs:
        if asked.id:
            return jobs.noted(noted_as(call)) is not None
        return bool(call.mark) and jobs.was_answered(call.mark, call.now - window)


def reason(asked: Request) -> str:
    """Why something changes, for the history: ``Charge Job, request 17``."""
    named = f", request {asked.id}" if asked.id else ""
    return f"{asked.action} {asked.object}{named}"[:_NAMED]


def require_conditions(asked: Request) -> None:
    """Refuse (314) a change of all jobs at once, which nobody means.

    An option that would say which rows a Query gives, as Limit does, says nothing here (318).
    """
    require_options(asked, (), near=CHOOSING)
    if not asked.wheres:
        raise Refused("314", f"{asked.action} needs a Where")


def require_where_only(asked: Request) -> None:
    """Refuse (318) a change that would say more than which jobs; 314 where it does not say that."""
    if asked.sets or asked.gets or asked.data:
        raise Refused("318", f"{asked.action} has Where only")
    require_conditions(asked)


def noted_as(call: ReceivedRequest) -> str:
    """What a request is noted by: old clients give one id to all requests of a session.

    What only changes how the answer looks is not a part of it.
    """
    asked = call.request
    options = tuple(option for option in asked.options if option.name not in _LOOKS)
    asked = replace(
        asked, id="", nonce="", time=None, options=options, chunking=False, chunk_size=0
    )
    words = json.dumps([call.actor, call.request.id, write_request(asked)])
    return f"{REQUEST}{hashlib.sha256(words.encode()).hexdigest()}"


def _made(answer: HandlerAnswer) -> HandlerAnswer:
    return replace(answer, rows=tuple(answer.rows))


def _written(answer: HandlerAnswer) -> str:
    rows: Sequence[Item] = tuple(answer.rows)
    count = len(rows) if answer.count == "rows" else answer.count
    said: dict[str, Any] = {"code": answer.code, "message": answer.message, "count": count}
    whole = json.dumps(said | {"rows": list(map(_plain, rows))})
    return whole if len(whole) <= _LARGEST else json.dumps(said | {"rows": []})


def _read(text: str) -> HandlerAnswer:
    said = json.loads(text)
    rows = tuple(
        Row(each[0], tuple((name, value) for name, value in each[1]))
        if isinstance(each, list)
        else DataDocument(each.encode())
        for each in said["rows"]
    )
    return HandlerAnswer(rows, said["code"], said["message"], said["count"], again=True)


def _plain(item: Item) -> Any:
    return [item.object, item.fields] if isinstance(item, Row) else item.xml.decode()
