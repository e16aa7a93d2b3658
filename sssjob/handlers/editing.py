"""Create, Modify, Delete and Undelete."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from sssjob import units
from sssjob.errors import InvalidValue, Refused, TakenId, UnreadableDocument
from sssjob.handlers.attributes import GROUP, JOB, AttributeType, ObjectAttribute, attribute, shown
from sssjob.handlers.changes import once, require_conditions, require_where_only
from sssjob.handlers.documents import RequestDocuments, carried, require_credits, require_places
from sssjob.handlers.finding import Search
from sssjob.handlers.query import item_of
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import NOWHERE, JobView, View, job_views, jobs_of, only, views
from sssjob.model import BLOCKS, Block, Delivered, Item, Job, Property, Requested
from sssjob.rmap.message import Request, Set
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest
from sssjob.store import Change, Stored
from sssjob.store.flat_properties import is_asked
from sssjob.store.reach import EVERYBODY, Reach

WARNING = "100"
_LONGEST = 400  # characters of an Id, as columns of the store have them
_MOST = 20  # jobs of which something is said
_PLACES = 6  # decimal places of a Charge, where nobody says otherwise
_NULL = "NULL"  # as Gold takes it: the property goes away


def create(
    stores: Stores,
    call: ReceivedRequest,
    reach: Reach,
    advice: Callable[[JobView], str] | None = None,
    *,
    places: int = _PLACES,
    repeated: int = 0,
) -> HandlerAnswer:
    """New job objects, from Data or from Set; one that was deleted comes back with new values.

    A Charge has so many decimal ``places`` at most. The very bytes of a request that come again
    within ``repeated`` seconds are answered as before, while all that was made is there.
    ``advice`` is what is to be said of a job that is taken nevertheless.
    """
    asked = call.request
    if asked.wheres or asked.gets or (asked.sets and asked.data):
        raise Refused("318", "A Create has either Set or Data")
    new = RequestDocuments((_made(asked),)) if asked.sets else carried(asked)
    for block in new.blocks:
        if not block.id:
            raise Refused("314", f"The {asked.object} has no Id")
        require_short(block.id)
        require_own(call, reach, [only(block)])
        for job in (block, *block.blocks(Job)):
            require_places(job.get("Charge"), places)

    jobs = (view for block in new.blocks for view in jobs_of(NOWHERE, block))
    said = _advised(jobs, advice) if advice else ()
    warnings = "\n".join(filter(None, (new.warnings, *islice(said, _MOST))))

    def do(change: Change) -> HandlerAnswer:
        moved: list[str] = []
        made = [_created(change, call, reach, block, new.files, moved) for block in new.blocks]
        plural = "s" if len(made) > 1 else ""
        told = "\n".join(filter(None, (warnings, *moved[:_MOST])))
        message = f"Successfully created {{}} {asked.object}{plural}"
        return _told(change, call, made, told, message)

    def holds(change: Change) -> bool:
        found = map(change.about, new.blocks)
        return all(each is not None and not each.deleted for each in found)

    return once(stores, call, do, window=repeated, holds=holds)


def modify(
    stores: Stores, call: ReceivedRequest, reach: Reach, *, repeated: int = 0,
    refunds: Reach | None = EVERYBODY, advice: Callable[[JobView], str] | None = None,
    places: int = _PLACES,
) -> HandlerAnswer:  # fmt: skip
    """Other values for the jobs that a Where finds: Assign, Inc, Dec.

    The very bytes of a request that come again within ``repeated`` seconds are answered as before:
    always where it adds or is about a Charge, else while it would change nothing more. ``refunds``
    are the jobs that the actor may refund, None for none: a lower Charge is a refund. ``advice`` is
    what is to be said of a job that the change has made so. A Charge gets so many decimal
    ``places`` at most.
    """
    asked = call.request
    if not asked.sets or asked.gets or asked.data:
        raise Refused("318", "A Modify has at least one Set, and neither Get nor Data")
    set_ = {each: settable(each, asked.object).name for each in asked.sets}
    charges = [each for each, name in set_.items() if name == "Charge"]
    # A late copy of either would be money, or a sum, that nobody meant.
    adds = bool(charges) or any(each.op != "Assign" for each in asked.sets)
    for each in charges:
        if each.value != _NULL:
            require_places(each.value, places)

    def outcome(found: Sequence[View]) -> tuple[Block, Block]:
        """What a document holds, and what it is to hold."""
        stored = found[0].stored
        block = before = stored.block()
        for view in found:
            for each in asked.sets:
                block = place(block, view.place, partial(changed, view=view, asked=each))
                (view,) = [
                    again for again in _views(stored, block, asked.object)
                    if again.place == view.place
                ]  # fmt: skip
            require_own(call, reach, [view])
        return before, block

    def stays(found: Sequence[View]) -> bool:
        before, block = outcome(found)
        return before == block

    def do(change: Change, found: Sequence[View]) -> Stored:
        stored = found[0].stored
        _, block = outcome(found)
        made = put(change, block, stored)
        if charges:
            lowered = _lowered(change, made)
            for view in views(made, JOB):
                if view.block.id in lowered:
                    require_refund(call, refunds, view)
        return made

    return _each(
        stores, call, reach, do, "modified", deleted=False, window=repeated, adds=adds,
        advice=advice, stays=stays,
    )  # fmt: skip


def delete(
    stores: Stores, call: ReceivedRequest, reach: Reach, *, repeated: int = 0
) -> HandlerAnswer:
    """Jobs are hidden, and kept. Of what is ``repeated`` see ``modify``."""

    require_where_only(call.request)

    def do(change: Change, found: Sequence[View]) -> Stored:
        _require_whole(found)
        return change.delete(found[0].stored.identity) or found[0].stored

    return _each(
        stores, call, reach, do, "deleted", deleted=False, window=repeated, stays=_are_parts,
        is_whole=True,
    )  # fmt: skip


def undelete(
    stores: Stores, call: ReceivedRequest, reach: Reach,
    advice: Callable[[JobView], str] | None = None, *, repeated: int = 0,
) -> HandlerAnswer:  # fmt: skip
    """Hidden jobs are shown again. Of what is ``repeated`` see ``modify``."""

    require_where_only(call.request)

    def do(change: Change, found: Sequence[View]) -> Stored:
        _require_whole(found)
        stored = found[0].stored
        try:
            return change.undelete(stored.identity) or stored
        except TakenId as error:
            raise Refused("740", str(error)) from error

    return _each(
        stores, call, reach, do, "undeleted", deleted=True, window=repeated, advice=advice,
        stays=_are_parts, is_whole=True,
    )  # fmt: skip


# --- parts that other actions use -----------------------------------------------------------------


def settable(asked: Set, kind: str) -> ObjectAttribute:
    """The attribute that a Set is about.

    Raises ``Refused``: 316 for a name that is unknown, 740 for a fixed one, 317 for a value that
    is not of its type, 318 for an operation that there is not.
    """
    found = attribute(asked.name, kind)
    if found is None:
        raise Refused("316", f"{shown(asked.name)} is not a valid attribute for a {kind} object")
    if found.derived:
        raise Refused("740", f"{asked.name} is a fixed field and cannot be modified")
    if asked.op not in ("Assign", "Inc", "Dec"):
        raise Refused("318", "A Set has op Assign, Inc or Dec")
    if asked.op != "Assign" and found.kind is AttributeType.TEXT:
        raise Refused("318", f"{asked.name} is no number, and cannot be increased or decreased")
    if asked.value != _NULL or asked.op != "Assign":
        try:
            _ = Property(found.name, asked.value).value
            if asked.op != "Assign":
                units.number(asked.value)
        except InvalidValue as error:
            raise Refused("317", f"{asked.name}: {error}") from error
        if found.name == "Charge" and asked.op == "Assign":
            require_credits(asked.value)
    return found


def changed(job: Block, view: View, asked: Set) -> Block:
    """A job with one property changed, in the place where its value counts."""
    found = settable(asked, job.name)
    if found.name == "Id":
        raise Refused("740", f"{asked.name} is a fixed field and cannot be modified")
    text = asked.value
    if asked.op != "Assign":
        step = units.number(asked.value) * (1 if asked.op == "Inc" else -1)
        text = units.decimal((view.number(found) or 0) + step)
        if found.name == "Charge":
            require_credits(text)
    gone = asked.op == "Assign" and text == _NULL
    return stating(job, found, None if gone else text)


def put(change: Change, block: Block, stored: Stored) -> Stored:
    """The next version of a document. Raises ``Refused`` for one that cannot be kept."""
    try:
        return change.put(block, replacing=stored)
    except UnreadableDocument as error:
        raise Refused("740", f"The job cannot be kept: {error.finding.message}") from error


def place(block: Block, number: int, change: Callable[[Block], Block]) -> Block:
    """A document with one of its jobs changed."""
    if not number:
        return change(block)
    job = block.blocks(Job)[number - 1]
    return block.holding(change(job) if item is job else item for item in block.items)


def stating(job: Block, found: ObjectAttribute, text: str | None) -> Block:
    """A job with another text for what counts: delivered, its own, or asked for exactly."""
    for kind in (Delivered, None, Requested):
        for block in [job] if kind is None else job.blocks(kind):
            for item in block.properties:
                if not _is(item, found) or (
                    kind is Requested and not is_asked(item, [each.name for each in job.requested])
                ):
                    continue
                if text is None:  # also one that was behind it, and would count now
                    left = [each for each in block.items if not _states(each, found)]
                else:
                    left = _swapped(block.items, item, (_like(item, text),))
                inner = block.holding(left)
                return inner if kind is None else job.holding(_swapped(job.items, block, (inner,)))
    return job if text is None else job.holding((*job.items, _property(found, text, job.namespace)))


def require_short(id_: str) -> None:
    """Refuse (740) an Id that no scheduler gives and no index holds."""
    if len(id_) > _LONGEST:
        raise Refused("740", f"An Id has {_LONGEST} characters at most")


def require_own(call: ReceivedRequest, reach: Reach, found: Iterable[View]) -> None:
    """Refuse (444) an actor that would change, or make, the jobs of others."""
    if not all(view.is_within(reach) for view in found):
        asked = call.request
        raise Refused("444", f"{call.actor} may not do this ({asked.object} {asked.action})")


def require_refund(call: ReceivedRequest, refunds: Reach | None, view: View) -> None:
    """Refuse (444) an actor that would give back by a Modify, and may not Refund the job."""
    if refunds is None or not view.is_within(refunds):
        raise Refused("444", f"{call.actor} may not lower a Charge (Job Refund)")


def _lowered(change: Change, *stored: Stored) -> list[str]:
    """The Ids of jobs of a document that say less than they were charged; ``stored`` it had."""
    for each in stored:
        for view in views(each, JOB):
            change.ledger.hold(view.block.id)
    return change.lowered(stored[0].number)


def made(asked: Request) -> Sequence[Block]:
    """The job objects that a Create makes. Raises ``Refused``."""
    return (_made(asked),) if asked.sets else carried(asked).blocks


def _advised(
    jobs: Iterable[JobView], advice: Callable[[JobView], str], before: Container[str] = ()
) -> Iterator[str]:
    """What is to be said of jobs, and was not before."""
    said = (
        f"{view.block.id or f'job {view.place}'}: {text}" for view in jobs if (text := advice(view))
    )
    yield from (each for each in said if each not in before)


def _made(asked: Request) -> Block:
    items: dict[str, Property] = {}
    for each in asked.sets:
        found = settable(each, asked.object)
        if each.value != _NULL:
            items[found.name] = _property(found, each.value)
    return BLOCKS[asked.object](tuple(items.values()))


def _created(
    change: Change, call: ReceivedRequest, reach: Reach, block: Block, files: Mapping[str, bytes],
    moved: list[str],
) -> Stored:  # fmt: skip
    """Keep what is new; ``moved`` is what is to be said of jobs that others were charged for."""
    try:
        old = change.about(block)
        if old is not None:
            mine = all(view.is_within(reach) for view in views(old, call.request.object))
            if not old.deleted or not mine:
                raise Refused("740", f"{old.identity} is there already")
        number = old.number if old else None
        change.require_one_place(block, number)
        if old is None and (same := change.of_same_run(block)) is not None:
            hidden = ", and is deleted" if same.deleted else ""
            raise Refused("740", f"{same.identity} is there already, with this run{hidden}")
        change.require_unpaid(block, number)
        kept = change.put(block, files=files)
        # The very document that was deleted is no new version of it.
        made = (change.undelete(kept.identity) or kept) if kept.deleted else kept
    except UnreadableDocument as error:
        raise Refused("740", f"The job cannot be kept: {error.finding.message}") from error
    except TakenId as error:
        raise Refused("740", str(error)) from error
    if old is not None:
        # To leave out a Charge would give it back, and to another user perhaps.
        for id_ in _lowered(change, old, made):
            said = f"Job {id_} was charged" if id_ else f"A job of {old.identity} was charged"
            told = "Undelete it, and Refund what is to be given back"
            raise Refused("740", f"{said} before it was deleted: {told}")
        moved += change.moved(old, made)
    return made


def _each(
    stores: Stores, call: ReceivedRequest, reach: Reach,
    do: Callable[[Change, Sequence[View]], Stored], done: str, *, deleted: bool, window: int,
    adds: bool = False, advice: Callable[[JobView], str] | None = None,
    stays: Callable[[Sequence[View]], bool] = lambda found: False, is_whole: bool = False,
) -> HandlerAnswer:  # fmt: skip
    """Do something with each document in which jobs are found.

    What is done to whole documents is not done to the run of a job that stands in its group, where
    other runs of it stand alone; that is told. # decision 880

    What comes again within a ``window`` of seconds is answered as it was: what ``adds`` always,
    and all else while there is nothing more to be done, or to do it would let all that is found
    as it ``stays``.
    """
    asked = call.request
    require_conditions(asked)
    search = Search(call, reach, deleted=deleted)
    with stores.use() as jobs:
        numbers = list(dict.fromkeys(view.stored.number for view in search.run(jobs)))

    def is_done(change: Change) -> bool:
        found = (list(search.among(change.at(number), change)) for number in numbers)
        return all(stays(each) for each in found if each)

    def all_of(change: Change) -> HandlerAnswer:
        made: list[Stored] = []
        said: list[str] = []
        places: dict[int, set[int]] = {}
        # As they are now, and stay.
        every = {number: list(search.among(change.at(number), change)) for number in numbers}
        left = _in_groups(every.values()) if is_whole else []
        for number, found in every.items():
            if found and found not in left:
                made.append(do(change, found))
                places[number] = {view.place for view in found}
                said += change.moved(found[0].stored, made[-1])
                if advice and len(said) < _MOST:
                    old = found[0].stored
                    before = () if old.deleted else {*_advised(job_views(old, change), advice)}
                    said += _advised(job_views(made[-1], change), advice, before)
        said += (f"The run in {each[0].stored.identity} is not {done}" for each in left)
        told = f"Successfully {done} {{}} {asked.object}s"
        return _told(change, call, made, "\n".join(said[:_MOST]), told, places)

    return once(stores, call, all_of, window=window, holds=None if adds else is_done)


def _told(
    change: Change, call: ReceivedRequest, made: Sequence[Stored], warnings: str, message: str,
    places: dict[int, set[int]] | None = None,
) -> HandlerAnswer:  # fmt: skip
    rows = [
        item_of(view, call)
        for stored in made
        for view in views(stored, call.request.object, change)
        if places is None or view.place in places[stored.number]
    ]
    return HandlerAnswer(
        rows, WARNING if warnings else "000", warnings or message.format(len(rows))
    )


def _are_parts(found: Sequence[View]) -> bool:
    return all(view.place for view in found)


def _in_groups(every: Iterable[Sequence[View]]) -> list[Sequence[View]]:
    """What is found of groups, all of whose jobs have further runs that are found alone."""
    some = [found for found in every if found]
    alone = {view.block.id for found in some for view in found if not view.place}
    return [
        found for found in some
        if _are_parts(found) and alone.issuperset(view.block.id for view in found)
    ]  # fmt: skip


def _require_whole(found: Sequence[View]) -> None:
    if any(view.place for view in found):
        raise Refused("740", f"The job is a part of {found[0].stored.identity}")


def _views(stored: Stored, block: Block, kind: str) -> list[View]:
    """The jobs of a document that is being changed."""
    return [View(stored, only(block).block, 0)] if kind == GROUP else [*jobs_of(stored, block)]


def _swapped(items: Sequence[Item], old: Item, new: Sequence[Item]) -> list[Item]:
    return [each for item in items for each in (new if item is old else (item,))]


def _states(item: Item, found: ObjectAttribute) -> bool:
    return type(item) is Property and _is(item, found)


def _is(item: Property, found: ObjectAttribute) -> bool:
    if found.extension:
        return item.name == "Extension" and item.attributes.get("name") == found.name
    return item.name == found.name


def _like(old: Property, text: str) -> Property:
    """The property with another text, which for an amount is in the default unit."""
    kept = {name: value for name, value in old.attributes.items() if name != "units"}
    return Property(old.name, text, kept, (), old.namespace)


def _property(found: ObjectAttribute, text: str, namespace: str = "") -> Property:
    if found.extension:
        return Property("Extension", text, {"name": found.name}, (), namespace)
    return Property(found.name, text, {}, (), namespace)
