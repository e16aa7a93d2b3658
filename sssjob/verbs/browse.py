"""What pages about jobs show: a store of whatever was named, and one job with all that is known.

One store is looked at where it is. Anything else, documents, directories, records, several
stores, is read once into a store of its own, which goes away at the end: so columns, pages and
versions mean the same of all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import groupby, islice, pairwise
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sssjob import defaults, graph, layout, store
from sssjob.accounting import efficiency
from sssjob.accounting.report import JobProperties
from sssjob.amounts import Scope
from sssjob.check.awareness import Item, understood
from sssjob.defaults import Origin
from sssjob.document import loads
from sssjob.document.diff import Difference, diff
from sssjob.document.sources import NamedSource
from sssjob.errors import (
    DamagedStore,
    Finding,
    LimitExceeded,
    SSSJobError,
    UnreadableDocument,
)
from sssjob.graph import Graph, Progress
from sssjob.integers import LARGEST  # numbers of documents end there
from sssjob.layout import Layout
from sssjob.model import Block, Job, JobGroup, Property, Reference, stripped
from sssjob.records.record import Options
from sssjob.store import Counts, Store, Stored, browsing
from sssjob.store.condition import Compare, Op
from sssjob.verbs import documents
from sssjob.verbs.records import Tell, nothing

MOST = 4 << 30  # bytes of a store that is made of what was named
DIFFERENCES = 100  # of two versions that are told
VERSIONS = 100  # of a document that are told, the newest ones
_TIMES = {
    "created": "CreationTime", "submitted": "SubmitTime", "eligible": "EligibleTime",
    "started": "StartTime", "ended": "EndTime",
}  # fmt: skip
RAN = ("started", "ended")
MEMBER = ("id", "name", "state", "user", "exit")  # the columns of a job on the page of its group
LISTED = 100  # jobs of a group that its page has
LAID = 20  # task groups of a job whose tasks are shown on nodes
DRAWN = 100  # jobs of a graph that is drawn
_ALONE = "/JobGroup/Job/"  # where a job stands that is alone in its group
# What is asked for and given, by its name in the standard, and its unit.
_AMOUNTS = {
    "Processors": "", "NodeCount": "", "Memory": efficiency.BYTES, "Disk": efficiency.BYTES,
    "Swap": efficiency.BYTES, "Duration": efficiency.SECONDS,
}  # fmt: skip


class RequestedAndDelivered(NamedTuple):
    """What a job asks for, and what was delivered, side by side; "" is not stated."""

    name: str
    requested: str
    delivered: str


class Version(NamedTuple):
    """A version of a document, and what it says differently from the one before it.

    ``more`` is whether there are further differences; ``unread`` says why there are none to tell.
    """

    stored: Stored
    differences: tuple[Difference, ...] = ()
    more: bool = False
    unread: str = ""


class NeighbourGraph(NamedTuple):
    """The graph of the group of a job: as far as it depends on others, or they depend on it.

    ``places`` tells where the jobs stand in their group, by their vertices. Of more than
    ``DRAWN`` the nearest are told, and that there are ``more``.
    """

    graph: Graph
    progress: Progress
    keys: tuple[str, ...]
    places: Mapping[int, int]
    more: bool = False


class Laid(NamedTuple):
    """A task group by its Id or name, "" of a job that has none; and its tasks on nodes."""

    name: str
    layout: Layout


class SeenGroup(NamedTuple):
    """A JobGroup of a store: what it asks for itself, how many jobs it has, and the first of them.

    ``around`` is the graph of its jobs, of more than ``DRAWN`` of those nearest to the first one.
    """

    stored: Stored
    group: JobGroup
    asked: tuple[RequestedAndDelivered, ...]
    total: int
    rows: tuple[browsing.TableJob, ...]
    around: NeighbourGraph | None


class SeenJob:
    """One job of a store: ``job`` with its defaults applied, and the document that it is from.

    ``place`` is 0 where the document is the job, or counts the jobs of the JobGroup from 1 on.
    What is asked for is worked out once.
    """

    def __init__(self, stored: Stored, place: int, block: Block, job: Job) -> None:
        self.stored, self.place, self.block, self.job = stored, place, block, job

    @cached_property
    def path(self) -> str:
        """Where it stands in its document: ``/Job``, or as ``/JobGroup/Job[2]``."""
        if not isinstance(self.block, JobGroup):
            return "/Job"
        return f"/JobGroup/Job{f'[{self.place}]' if len(_units(self.block)) > 1 else ''}"

    @cached_property
    def asked(self) -> tuple[RequestedAndDelivered, ...]:
        """What was requested and delivered, of all that is stated on one of the two sides."""
        return _asked(self.job)

    @cached_property
    def shares(self) -> tuple[efficiency.UsedShare, ...]:
        """What was used of what it held and asked for."""
        return efficiency.shares(self.job)

    @cached_property
    def advice(self) -> tuple[str, ...]:
        """What to ask for next time."""
        return efficiency.advice(self.job)

    @cached_property
    def times(self) -> tuple[tuple[str, int], ...]:
        """When it was created, submitted, eligible, started and ended, as far as it says so."""
        facts = JobProperties(self.job)
        told = ((name, facts.time(element)) for name, element in _TIMES.items())
        return tuple((name, at) for name, at in told if at is not None)

    @cached_property
    def suspended(self) -> str:
        """How long it was suspended, as people read it; "" is not stated. When, no job says."""
        found = JobProperties(self.job).given("SuspendDuration")
        return "" if found is None else efficiency.amount(found, efficiency.SECONDS)

    @cached_property
    def not_understood(self) -> tuple[Item, ...]:
        """What of it the standard does not have, each with its awarenessPolicy."""
        return understood(self.job, path=self.path).items

    @cached_property
    def layouts(self) -> tuple[Laid, ...]:
        """Which of its tasks runs on which node, of each task group that says enough for that."""
        found = []
        for unit in islice(layout.units(self.job), LAID):
            told = layout.layouts(unit.block, unit.path).layouts
            # One task on one node is what every job is that says nothing.
            if told and told[0].holds and sum(len(each.tasks) for each in told[0].shares) > 1:
                own = unit.block.id or unit.block.get("Name") if unit.job is not None else ""
                found.append(Laid(str(own or ""), told[0]))
        return tuple(found)

    @cached_property
    def effective(self) -> tuple[tuple[Origin, ...], tuple[Finding, ...]]:
        """Each value that holds, with where it was written; and what is to be said of that."""
        if not self.place:
            resolved = defaults.resolve(self.block)
            return resolved.origins, resolved.findings
        assert isinstance(self.block, JobGroup)
        told = defaults.resolve(_alone(self.block, _units(self.block)[self.place - 1]))
        origins = tuple(
            replace(each, path=self._path_of(each.path))
            for each in told.origins if each.path.startswith(_ALONE)
        )  # fmt: skip
        # What is to be said of the defaults of its group holds for the job, too.
        return origins, tuple(
            replace(each, path=self._path_of(each.path)) for each in told.findings
        )

    def _path_of(self, alone: str) -> str:
        """Where in the document stands what has this path while the job is alone in its group."""
        if not f"{alone}/".startswith(_ALONE):
            return alone
        return self.path + alone.removeprefix(_ALONE.rstrip("/"))

    @cached_property
    def around(self) -> NeighbourGraph | None:
        """The graph of its group; None of a job that stands alone."""
        if not isinstance(self.block, JobGroup):
            return None
        whole = _around(self.block)
        places = whole.places
        number = bisect_left(range(len(places)), self.place, key=places.__getitem__)
        return _near(whole, number)


def job(jobs: Store, document: int, place: int) -> SeenJob | None:
    """The job at a place of a document, by their numbers; None where there is none.

    Raises ``DamagedStore``, ``UnreadableDocument`` and ``LimitExceeded``.
    """
    stored = _stored(jobs, document)
    if stored is None:
        return None
    block = loads(stored.document)
    if isinstance(block, JobGroup):
        units = _units(block)
        if not 0 < place <= len(units) or not isinstance(units[place - 1], Job):
            return None
        # What holds for a job is not decided by those beside it, and they may be many.
        [found] = defaults.resolve(_alone(block, units[place - 1])).block.blocks(Job)
        return SeenJob(stored, place, block, found)
    whole = defaults.resolve(block).block
    return SeenJob(stored, place, block, whole) if isinstance(whole, Job) and not place else None


def group(jobs: Store, document: int) -> SeenGroup | None:
    """The JobGroup that a document is, by its number; None where there is none.

    Raises as ``job`` does.
    """
    stored = _stored(jobs, document)
    found = None if stored is None else loads(stored.document)
    if stored is None or not isinstance(found, JobGroup):
        return None
    here = Compare("document", Op.EQ, document)
    rows = browsing.page(jobs.engine, MEMBER, here, limit=LISTED).rows
    total = browsing.count(jobs.engine, here)
    around = _around(found) if total else None
    if around is not None and total > DRAWN:
        around = _near(around, 0)
    return SeenGroup(stored, found, _asked(found), total, rows, around)


def _stored(jobs: Store, document: int) -> Stored | None:
    """The document of a number; None where there is none, or where it was deleted."""
    stored = jobs.numbered(document) if document <= LARGEST else None
    return None if stored is None or stored.deleted else stored


def _around(group: JobGroup) -> NeighbourGraph:
    """The graph of all jobs of a group."""
    made = graph.of(group)
    places = [place for place, unit in enumerate(_units(group), 1) if type(unit) is Job]
    return NeighbourGraph(made, made.given(), made.jobs, dict(enumerate(places)))


def _near(whole: NeighbourGraph, number: int) -> NeighbourGraph:
    """The graph of the jobs nearest to one of them."""
    made = whole.graph
    keys, more = made.near(made.jobs[number], DRAWN)
    numbers = (made.net.numbers[key] for key in keys)
    near = {each: whole.places[each] for each in numbers}
    return whole._replace(keys=keys, places=near, more=more)


def _alone(group: JobGroup, job: Job | Reference) -> Block:
    """A group with only one of its jobs."""
    others = {id(unit) for unit in _units(group)} - {id(job)}
    return group.holding([item for item in group.items if id(item) not in others])


def _asked(block: Block) -> tuple[RequestedAndDelivered, ...]:
    scope = Scope(block, f"/{block.name}")
    rows = []
    for name, unit in _AMOUNTS.items():
        op = _operator(block, name)
        wanted, given = scope.requested(name), scope.delivered(name)
        if wanted is not None or given is not None:
            told = (
                "" if each is None or each.basis == "unknown"
                else before + efficiency.amount(each.value, unit)
                for each, before in ((wanted, op), (given, ""))
            )  # fmt: skip
            rows.append(RequestedAndDelivered(name, *told))
    for name in ("User", "Project", "Machine", "Queue", "Node"):
        wish = ", ".join(
            f"{_sign(each)}{stripped(each.text)}" for each in block.requested.all(name)
        )
        texts = (wish, block.delivered.text(name))
        if any(texts):
            rows.append(RequestedAndDelivered(name, *texts))
    return tuple(rows)


def _sign(item: Property) -> str:
    """The operator of a request, in front of its value; "" where it asks for just that."""
    op = item.said("op")
    return f"{op} " if op not in ("", "EQ") else ""


def _operator(block: Block, name: str) -> str:
    """The operator of the one request for an amount, with the bound that stands for it."""
    found = block.requested.all(name)
    sign = _sign(found[0]) if len(found) == 1 else ""
    return {"LT ": "LE ", "GT ": "GE "}.get(sign, sign)  # of whole numbers


def effective(
    jobs: Store, places: Iterable[tuple[int, int]], on_error: Callable[[int, SSSJobError], None]
) -> Iterator[Job]:  # fmt: skip
    """Jobs by their documents and places, each with its defaults applied.

    Those of one document that come behind each other are read once. A document that cannot be read
    goes to ``on_error`` by its number, and the rest go on.
    """
    for number, same in groupby(places, itemgetter(0)):
        try:
            stored = jobs.numbered(number)
            if stored is None or stored.deleted:
                continue
            whole = defaults.resolve(loads(stored.document)).block
        except (DamagedStore, UnreadableDocument, LimitExceeded) as error:
            on_error(number, error)
            continue
        units = _units(whole) if isinstance(whole, JobGroup) else []
        for _, place in same:
            found = units[place - 1] if 0 < place <= len(units) else whole
            if isinstance(found, Job):
                yield found


def versions(jobs: Store, stored: Stored) -> tuple[Version, ...]:
    """The newest versions of a document, the present one first, each with what changed in it.

    One that is damaged says so, and the one behind it that there is nothing to compare it with.
    """
    damaged: dict[int, str] = {}

    def note(damage: DamagedStore) -> None:
        damaged[damage.version] = str(damage)

    # One more than is told, to compare the last one with.
    found = jobs.versions(stored.identity, on_error=note, newest=VERSIONS + 1)
    told = [_changed(before, after, damaged) for before, after in pairwise(found)]
    first = [Version(each, unread=damaged.get(each.version, "")) for each in found[:1]]
    return (*reversed(told), *first)[:VERSIONS]


def _changed(before: Stored, after: Stored, damaged: Mapping[int, str]) -> Version:
    if after.version in damaged:
        return Version(after, unread=damaged[after.version])
    if before.version in damaged:
        return Version(after, unread="The version before it is damaged: nothing is compared.")
    try:
        found = diff(loads(before.document), loads(after.document))
        some = [each for each, _ in zip(found, range(DIFFERENCES + 1), strict=False)]
    except SSSJobError as error:
        return Version(after, unread=str(error))
    return Version(after, tuple(some[:DIFFERENCES]), len(some) > DIFFERENCES)


def _units(group: JobGroup) -> list[Job | Reference]:
    """What stands for jobs in a group, as a store counts their places."""
    return [
        item for item in group.items
        if type(item) is Job or (isinstance(item, Reference) and item.name == Job.name)
    ]  # fmt: skip


@contextmanager
def standing(
    sources: Sequence[NamedSource], on_error: Callable[[str, UnreadableDocument], None],
    tell: Tell = nothing, *, most: int = MOST, options: Options | None = None,
) -> Iterator[str]:  # fmt: skip
    """The address of a store of what was named: the one store that it is, or one that is made.

    Records are read by ``options``. What cannot be read goes to ``on_error``, with the name of its
    source, and the rest is there.
    Raises ``OSError``, and ``SSSJobError`` for a source that is no job, and where the store would
    have more than ``most`` bytes.
    """
    if len(sources) == 1 and sources[0].is_store:
        yield sources[0].name
        return
    with TemporaryDirectory(prefix="sssjob-browse-") as folder:
        address = str(Path(folder) / "jobs.db")
        with store.open(address, create=True) as jobs, ExitStack() as stack:
            for source in documents.streams(iter(sources), stack, tell, options):
                _load(jobs, source, on_error, most)
        yield address


def _load(
    jobs: Store, source: NamedSource, on_error: Callable[[str, UnreadableDocument], None], most: int
) -> None:
    def check(counts: Counts) -> None:
        if jobs.engine.size() > most:
            raise LimitExceeded("bytes of jobs; import them into a store, and browse that", most)

    jobs.load(
        source.given, name=source.name, on_error=lambda error: on_error(source.name, error),
        on_batch=check,
    )  # fmt: skip
