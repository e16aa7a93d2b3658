"""Which batch systems and record formats there are; none of their modules is imported here.

Each folder of ``sssjob/systems`` declares its ``SYSTEM`` in ``system.py``, and ``sssjob/formats``
its ``FORMATS``, ``TARGETS`` and ``CAPS``: rows that name modules by their dotted names. Other
distributions add theirs by entry points of the same groups, each called as what it names is:
``all_systems`` and its like have these behind ours. One that cannot be used, or whose name is
taken, is warned of, and as if it were not there. # decision 244
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import cache, lru_cache
from importlib import import_module
from itertools import starmap
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from sssjob.dotted import loaded
from sssjob.entry_points import may_be_declared
from sssjob.errors import UnusableInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

LAYOUT = "LAYOUT"  # what a module calls the declaration of its format
SYSTEMS, FORMATS = "sssjob.systems", "sssjob.formats"  # packages, and groups of entry points
TARGETS = "sssjob.targets"  # a group of entry points only
_WORD = re.compile(r"[^*]+\*?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")


class Sign(IntEnum):
    """What tells a format, the surest first: formats are asked in this order.

    NAME: a namespace, or words that no other format has. MARK: how its first line begins.
    COUNT: nothing but what its fields look like, and how many there are.
    """

    NAME = 1
    MARK = 2
    COUNT = 3


class Format(NamedTuple):
    """A record format: the name it goes by, its module, and what prints it.

    The module has a ``LAYOUT``, see ``sssjob.records.layout``; where it is called something else,
    it is named: ``module:NAME``. Where it recognises records, ``auto`` asks it the earlier the
    surer its ``sign`` is.
    """

    name: str
    module: str
    description: str
    sign: Sign = Sign.COUNT

    def load(self) -> Any:
        """Its layout, imported now. Raises ``UnusableInput`` where it cannot be used."""
        found = _imported(f"the format {self.name}", self.module)
        if ":" not in self.module:
            found = getattr(found, LAYOUT, None)
        if not callable(getattr(found, "rows", None)):
            raise UnusableInput(f"the format {self.name} has no {LAYOUT}")
        return found


Arguments = tuple[str, ...]


class Caps(NamedTuple):
    """How many slots groups may take at most: what reads it, and the command that prints it.

    ``reader`` names ``read(text) -> dict[str, int]``. A command that fails and says ``none`` tells
    that there are none.
    """

    reader: str
    ask: Arguments
    none: str = ""

    def load(self) -> Any:
        """The reader, imported now. Raises ``UnusableInput`` where it cannot be used."""
        return _imported(f"the caps of {self.ask[0]}", self.reader)


class Queue(NamedTuple):
    """The state of a batch system's queues: what reads it, and the commands that print it.

    ``reader`` names a ``QueueReader`` of ``sssjob.lcginfo``; ``ask_text`` are commands for systems
    that print no JSON, and ``environment`` is what the commands need beside that of the caller.
    ``rules`` are commands that tell how slots are given away, where the caller may ask them.
    """

    reader: str
    ask: tuple[Arguments, ...]
    ask_text: tuple[Arguments, ...] = ()
    rules: tuple[Arguments, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    caps: Caps | None = None


class Target(NamedTuple):
    """What jobs are translated to, read from, or both: its name, and its ``Translator``.

    ``home`` names it as ``module:attribute``; see ``sssjob.translate.translator``. Its own name
    has to be the same one. Without
    ``writes`` it is only read, without ``reads`` only written. The surer its ``sign``, the earlier
    is it asked whether it recognises a source.
    """

    name: str
    home: str
    description: str
    sign: Sign = Sign.MARK
    reads: bool = True
    writes: bool = True

    def load(self) -> Any:
        """The translator, imported now. Raises ``UnusableInput`` where it cannot be used."""
        found = _imported(f"the target {self.name}", self.home)
        if not callable(getattr(found, "recognises", None)):
            raise UnusableInput(f"the target {self.name} is no Translator")
        if found.name != self.name:
            raise UnusableInput(f"the target {self.name} is called {found.name} by its Translator")
        return found


class Status(NamedTuple):
    """What a batch system says of the jobs that it has: in which formats, and by which commands.

    The modules of ``formats`` are those of record formats. ``ask`` has ways to ask, of which the
    first counts that the system understands: commands whose outputs are read one behind the other.
    ``past`` is a way that shows those that have ended, too, as long as the system knows them.
    """

    formats: tuple[Format, ...]
    ask: tuple[tuple[Arguments, ...], ...]
    environment: tuple[tuple[str, str], ...] = ()
    past: tuple[Arguments, ...] = ()


class Inside(NamedTuple):
    """What a job of the system finds in its environment: a variable that only such a job has.

    ``reader`` names what reads it, by key of $JOBFEATURES: a mapping of variables to a
    ``sssjob.features.said.StatedValues``, or None where the job is none of this system after all.
    Payloads import it, so that it imports little.
    """

    variable: str
    reader: str

    def load(self) -> Any:
        """The reader, imported now. Raises ``UnusableInput`` where it cannot be used."""
        return _imported(f"what jobs with ${self.variable} find", self.reader)


class Measure(NamedTuple):
    """What a system's file about a finished process says: a key of ``features.used``, by names.

    Where it has several of the names, they are added up. ``unit`` is how many bytes one is.
    """

    key: str
    names: tuple[str, ...]
    unit: int = 1


class Cluster(NamedTuple):
    """How dask-jobqueue starts workers as jobs of the system: by which of its classes.

    ``name`` is what ``--cluster`` calls it. ``account`` is the word of that class for who pays, and
    ``wall_time`` how it has hours and minutes; a system without the first has jobs without queues
    and limits of time. ``also`` is what each job is given beside; ``has_pairs`` where lines for the
    head of a job are read as names and values.
    """

    name: str
    type: str
    account: str = ""
    wall_time: str = "{:02}:{:02}:00"
    also: tuple[tuple[str, str], ...] = ()
    has_pairs: bool = False


class SystemWords(NamedTuple):
    """Words of a system that stand in properties of its jobs as it says them, and what they mean.

    ``*`` behind a word is whatever follows. ``aborted`` and ``failed``, in capital letters, are
    StatusMessages of jobs that did not end by themselves, and of others that did not end well;
    ``waits`` those of jobs that wait for more than slots, and ``waits_by`` Extensions that tell the
    same, each with its text. ``no_time`` are words for a time, or another value, that is not known.

    Documents do not say whose words they have: those of all systems count. # decision 1208
    """

    aborted: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    waits_by: tuple[tuple[str, str], ...] = ()
    no_time: tuple[str, ...] = ()


class System(NamedTuple):
    """A batch system: what it is called, and where each thing that is known of it stands.

    ``formats`` are those of its accounting records; ``script`` names its side of a prolog, a class
    derived from ``sssjob.features.batch.call.Script``, and ``installation`` what a site installs
    for it, one derived from ``sssjob.features.batch.scripts.Scripts``. ``ended`` names what asks
    it for the records of jobs that have ended, in the first of its formats; without one they are
    read from files. ``submission`` names its submit form (``sssjob.translate.form.OptionForm``), or
    the translator of the jobspecs that are submitted, and ``control`` its commands that submit,
    hold and cancel, a ``sssjob.submission.Control``;
    ``targets`` are the forms in which jobs are submitted to it, or shown by it.

    ``also`` are other words for it, in small letters without signs: what a ResourceManagerType or a
    caller may say instead; ``records`` are words for it as a source only: the commands that print
    its records. ``inside`` is what its jobs find in their environment, by which a
    payload knows its limits. ``id_variable`` is where a job finds its id there,
    ``task_variable`` the number of its task in an array, if that is no part of the id. ``raw_id``
    is the name of an Extension, of the type ``title``, with an id of the job beside the one that
    people use, and ``outcomes`` are those of Extensions that tell how one run of it went or goes.
    ``measures`` are what it writes of a finished process. ``listed`` names what asks it
    which runs there are in a span of time, in the first of its formats, and ``sums`` the module
    that reads what it states of all jobs together: see ``sssjob.verbs.audit``. ``notices`` names
    what asks it when nodes and jobs are to end, a ``sssjob.features.notices.Source``.
    ``site_tests`` names its side of the jobs that try a site, a
    ``sssjob.features.batch.site_tests.SiteTests``. ``cluster`` is how workers are started as its
    jobs. ``variables`` are those of the environment that its commands need: where a gateway submits
    jobs, they find no others. ``SLURM_*`` is each that begins so. ``words`` are those that rules
    about all jobs have to know.
    """

    name: str
    title: str
    also: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    formats: tuple[Format, ...] = ()
    queue: Queue | None = None
    status: Status | None = None
    script: str = ""
    installation: str = ""
    ended: str = ""
    submission: str = ""
    control: str = ""
    targets: tuple[Target, ...] = ()
    inside: Inside | None = None
    id_variable: str = ""
    task_variable: str = ""
    raw_id: str = ""
    outcomes: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    listed: str = ""
    sums: str = ""
    notices: str = ""
    site_tests: str = ""
    cluster: Cluster | None = None
    variables: tuple[str, ...] = ()
    words: SystemWords = SystemWords()

    @property
    def around(self) -> str:
        """The variable by which a process knows that it runs in a job of it."""
        return self.inside.variable if self.inside is not None else self.id_variable

    @property
    def caps(self) -> Caps | None:
        """The limits of groups that its commands print."""
        return self.queue.caps if self.queue is not None else None

    def is_called(self, text: str) -> bool:
        """Whether a text is a word for it: its name or another one, whatever signs are in it."""
        return re.sub("[^a-z]", "", text.lower()) in (self.name, *self.also)

    def load(self, thing: str) -> Any:
        """What it names as one of its things, such as ``control``, imported now.

        Raises ``UnusableInput`` where it cannot be used, or there is none.
        """
        name = self.queue and self.queue.reader if thing == "queue" else getattr(self, thing)
        if not name:
            raise UnusableInput(f"the system {self.name} has no {thing}")
        return _imported(f"the {thing} of the system {self.name}", name)


def _imported(what: str, name: str) -> Any:
    """What a dotted name stands for, imported now. Raises ``UnusableInput``."""
    try:
        return loaded(name)
    except Exception as error:  # what code of other distributions raises is theirs to choose
        raise UnusableInput(f"{what} cannot be loaded: {error}") from error


@cache
def systems() -> dict[str, System]:
    """The batch systems of this distribution, by name."""
    home = import_module(SYSTEMS)
    names = sorted(module.name for module in iter_modules(home.__path__))
    rows = (row for name in names for row in _declared(f"{SYSTEMS}.{name}.system"))
    return {row.name: row for row in rows}


def _declared(module: str) -> Iterator[System]:
    """What a folder declares; one that somebody has begun declares nothing yet."""
    try:
        yield import_module(module).SYSTEM
    except ModuleNotFoundError as error:
        if error.name != module:
            raise


@cache
def formats() -> dict[str, Format]:
    """The record formats of this distribution, by name: those of systems, then the others."""
    own = (row for system in systems().values() for row in system.formats)
    return {row.name: row for row in (*own, *import_module(FORMATS).FORMATS)}


def system(name: str) -> System:
    """The batch system of a name. Raises ``UnusableInput``, which lists those that are known."""
    found = systems().get(name) or called(name)
    if found is None:
        raise unknown(name, "batch system", all_systems(), lambda row: row)
    return found


def called(name: str) -> System | None:
    """The batch system that has this name, or for which it is another word, ours first.

    Letter case does not count. Who asks for a format or a target takes such a word as well: it
    means the first of those that the system has. A word for its records is one, too, which nobody
    takes for what is written or submitted, see ``of_records``. None where it is no such word.
    """
    name = name.lower()
    for rows in (systems, all_systems):
        if name in rows():
            return rows()[name]
        if found := next(
            (row for row in rows().values() if name in (*row.also, *row.records)), None
        ):
            return found
    return None


def of_records(name: str) -> System | None:
    """The batch system whose records a word names, and nothing else of it; None for other words."""
    row = called(name)
    return row if row is not None and name.lower() in row.records else None


def words(
    known: Iterable[str], has: Callable[[System], object], least: int = 0, *, records: bool = True
) -> tuple[str, ...]:
    """The other words that ``called`` takes for the systems that have something.

    ``known`` are names that are told of anyway. The words have so many letters at least: of the
    shorter ones nobody can tell whether they were meant. Without ``records`` those that name
    records only are left out.
    """
    told = {*known}
    rows = (row for row in all_systems().values() if has(row))
    every = (word for row in rows for word in (row.name, *row.also, *row.records * records))
    return tuple(word for word in every if word not in told and len(word) >= least)


def listed(known: Iterable[str], has: Callable[[System], object], *, records: bool = True) -> str:
    """Names, and the words beside them, for help and messages."""
    names = tuple(known)
    others = words(names, has, records=records)
    return ", ".join(names) + (f"; or {', '.join(others)}" if others else "")


def unknown(
    name: str, what: str, known: Iterable[str], has: Callable[[System], object], least: int = 0,
    *, records: bool = True, also: Iterable[str] = (),
) -> UnusableInput:  # fmt: skip
    """That a name is none of these, which are listed, with the one that was probably meant.

    Meant may be a word of so many letters at ``least``, or one that is ``also`` taken; ``records``
    is that of ``words``.
    """
    from sssjob.suggestions import question  # slow to import for what few need

    names = tuple(known)
    meant = question(name, (*names, *also, *words(names, has, least, records=records)))
    told = listed(names, has, records=records)
    return UnusableInput(f"{name!r} is no known {what}; known: {told}{meant}")


def all_systems() -> dict[str, System]:
    """Every batch system; those of other distributions come last, their declarations imported now.

    One that cannot be used is warned of, and as if it were not there: others have to work.
    """
    return _behind("system", systems(), ((each.by, each.row) for each in _added_systems()))


def inside(environment: Mapping[str, str]) -> Inside | None:
    """What a job finds whose variables these are, if it is one of an added system."""
    rows = (each.row.inside for each in _added_systems())
    return next((row for row in rows if row and environment.get(row.variable)), None)


def variables() -> tuple[str, ...]:
    """The variables of the environment that commands of some batch system need."""
    return tuple(name for row in all_systems().values() for name in row.variables)


class KnownWords:
    """Words that mean one thing, whoever says them; ``*`` behind one is whatever follows.

    >>> known = KnownWords(("EXIT", "TERM_*"))
    >>> "TERM_OWNER" in known, "EXIT" in known, "EXITED" in known
    (True, True, False)
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(sorted({*words}))
        self._begins = tuple(word[:-1] for word in self.words if word.endswith("*"))
        self._whole = frozenset(self.words)

    def __contains__(self, text: str) -> bool:
        return text.startswith(self._begins) or text in self._whole


class SaidOfJobs(NamedTuple):
    """The words of all batch systems, as ``SystemWords`` has those of one."""

    aborted: KnownWords
    failed: KnownWords
    waits: KnownWords
    waits_by: Mapping[str, frozenset[str]]
    no_time: frozenset[str]


def said_of_jobs() -> SaidOfJobs:
    """The words of all batch systems; they are asked again where modules are found elsewhere."""
    return _said_of_jobs(tuple(sys.path))


@lru_cache(4)
def _said_of_jobs(_: tuple[str, ...]) -> SaidOfJobs:
    every = [row.words for row in all_systems().values()]
    pairs = {pair for words in every for pair in words.waits_by}
    return SaidOfJobs(
        KnownWords(word for words in every for word in words.aborted),
        KnownWords(word for words in every for word in words.failed),
        KnownWords(word for words in every for word in words.waits),
        {name: frozenset(text for one, text in pairs if one == name) for name, _ in pairs},
        frozenset(word for words in every for word in words.no_time),
    )


def all_formats() -> dict[str, Format]:
    """Every record format; those of other distributions come last."""
    return _behind("format", formats(), (
        *((each.by, row) for each in _added_systems() for row in each.row.formats),
        *((_by(point), Format(point.name, point.value, _by(point))) for point in _points(FORMATS)),
    ))  # fmt: skip


@cache
def targets() -> dict[str, Target]:
    """What jobs are translated to or read from, by name: those of systems, then the others."""
    own = (row for system in systems().values() for row in system.targets)
    return {row.name: row for row in (*own, *import_module(FORMATS).TARGETS)}


def all_targets() -> dict[str, Target]:
    """Every target; those of other distributions come last."""
    return _behind("target", targets(), (
        *((each.by, row) for each in _added_systems() for row in each.row.targets),
        *((_by(point), Target(point.name, point.value, _by(point))) for point in _points(TARGETS)),
    ))  # fmt: skip


class _NamedCaps(NamedTuple):
    """Limits of groups, by the name of what prints them."""

    name: str
    caps: Caps


@cache
def other_caps() -> dict[str, Caps]:
    """What prints limits of groups and belongs to no batch system, by name."""
    return dict(import_module(FORMATS).CAPS)


def all_caps() -> dict[str, Caps]:
    """What prints limits of groups, by name; systems of other distributions come last."""
    own = (_NamedCaps(name, row.caps) for name, row in systems().items() if row.caps)
    ours = {row.name: row for row in (*own, *starmap(_NamedCaps, other_caps().items()))}
    added = ((by, _NamedCaps(row.name, row.caps)) for by, row in _added_systems() if row.caps)
    return {name: row.caps for name, row in _behind("caps", ours, added).items()}


def all_statuses() -> dict[str, Status]:
    """What every batch system says of its jobs, by the names of the systems."""
    return {name: row.status for name, row in all_systems().items() if row.status}


def all_status_formats() -> dict[str, Format]:
    """The formats of what every batch system says of its jobs; those of others come last."""
    ours = {each.name: each for row in systems().values() for each in _shown(row)}
    added = _added_systems()
    return _behind("status format", ours, ((by, each) for by, row in added for each in _shown(row)))


def _shown(row: System) -> tuple[Format, ...]:
    return row.status.formats if row.status is not None else ()


def _points(group: str) -> Iterator[EntryPoint]:
    if not may_be_declared(group):
        return
    from importlib.metadata import entry_points  # it takes longer to import than most commands

    yield from entry_points(group=group)


class _NamedRow(Protocol):
    """A row with a name."""

    @property
    def name(self) -> str: ...


Row = TypeVar("Row", bound=_NamedRow)


def _behind(kind: str, ours: dict[str, Row], added: Iterable[tuple[str, Row]]) -> dict[str, Row]:
    """Ours, then the others, with who added them: the first one of a name stays."""
    found = dict(ours)
    for by, row in added:
        if found.setdefault(row.name, row) is not row:
            _warn(f"the {kind} {row.name}, {by}: there is another one of that name")
    return found


class _AddedSystem(NamedTuple):
    """A system of another distribution, and who added it."""

    by: str
    row: System


def _added_systems() -> list[_AddedSystem]:
    """The systems of other distributions that can be used, each name once and none of ours."""
    found: dict[str, _AddedSystem] = {}
    for point in _points(SYSTEMS):
        row, reason = _added_system(point)
        if row is not None and (row.name in systems() or row.name in found):
            reason = "there is another one of that name"
        if row is None or reason:
            _warn(f"the system {point.name}, {_by(point)}: {reason}")
        else:
            found[row.name] = _AddedSystem(_by(point), row)
    return list(found.values())


def _added_system(point: EntryPoint) -> tuple[System | None, str]:
    """A system of another distribution, or the reason why it cannot be used."""
    try:
        row = point.load()
    except Exception as error:  # ours have to work, whatever theirs do
        return None, f"{type(error).__name__}: {error}"
    if not isinstance(row, System):
        return None, "it is no System"
    if row.name != point.name:
        return None, f"its System is called {row.name!r}, and its entry point has to be, too"
    wrong = next((name for name, good in _as_declared(row) if not good), "")
    return (None, f"its field {wrong} holds no such thing") if wrong else (row, "")


def _as_declared(row: System) -> Iterator[tuple[str, bool]]:
    """Whether the fields of a system hold what they are declared to hold."""
    usual = System("", "")
    for name in ("also", "records", "variables"):
        value = getattr(row, name)
        yield name, isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    yield "variables", all(_VARIABLE.fullmatch(str(each)) for each in row.variables)
    yield "queue", isinstance(row.queue, Queue | None)
    yield "status", isinstance(row.status, Status | None)
    yield "inside", isinstance(row.inside, Inside | None)
    yield "words", isinstance(row.words, SystemWords) and all(_words_as_declared(row.words))
    yield "cluster", isinstance(row.cluster, Cluster | None)
    for name, kind in (("formats", Format), ("targets", Target), ("measures", Measure)):
        value = getattr(row, name)
        yield name, isinstance(value, tuple) and all(isinstance(each, kind) for each in value)
    yield from ((name, isinstance(value, str)) for name, value in row._asdict().items()
                if isinstance(getattr(usual, name), str))  # fmt: skip


def _words_as_declared(words: SystemWords) -> Iterator[bool]:
    """Whether the words of a system are some that a text can have."""
    for each in words:
        yield isinstance(each, tuple)
    for word in (*words.aborted, *words.failed, *words.waits):
        yield isinstance(word, str) and bool(_WORD.fullmatch(word))
    yield all(word == word.upper() for word in (*words.aborted, *words.failed))
    yield all(isinstance(word, str) for word in words.no_time)
    for pair in words.waits_by:
        yield isinstance(pair, tuple) and [*map(type, pair)] == [str, str]


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


def _by(point: EntryPoint) -> str:
    return f"added by {point.dist.name if point.dist else 'another distribution'}"
