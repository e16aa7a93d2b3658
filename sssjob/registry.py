"""Which batch systems and record formats there are; none of their modules is imported here.

Each folder of ``sssjob/systems`` declares its ``SYSTEM`` in ``system.py``, and ``sssjob/formats``
its ``FORMATS``: rows that name modules by their dotted names. Other distributions add theirs by
entry points of the same groups; a name of ours stays ours.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from enum import IntEnum
from functools import cache, partial
from importlib import import_module
from importlib.machinery import PathFinder
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sssjob.dotted import loaded
from sssjob.errors import UnusableInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Row = TypeVar("Row")

LAYOUT = "LAYOUT"  # what a module calls the declaration of its format
SYSTEMS, FORMATS = "sssjob.systems", "sssjob.formats"  # packages, and groups of entry points
TARGETS = "sssjob.targets"  # a group of entry points only


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
        try:
            found = loaded(self.module)
        except Exception as error:  # what code of other distributions raises is theirs to choose
            raise UnusableInput(f"the format {self.name} cannot be loaded: {error}") from error
        if ":" not in self.module:
            found = getattr(found, LAYOUT, None)
        if not callable(getattr(found, "reader", None)):
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


class Queue(NamedTuple):
    """The state of a batch system's queues: what reads it, and the commands that print it.

    ``reader`` names a ``Reader`` of ``sssjob.lcginfo``; ``ask_text`` are commands for systems that
    print no JSON, and ``environment`` is what the commands need beside that of the caller.
    """

    reader: str
    ask: tuple[Arguments, ...]
    ask_text: tuple[Arguments, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    caps: Caps | None = None


class Target(NamedTuple):
    """What jobs are translated to, read from, or both: its name, and its ``Translator``.

    ``home`` names it as ``module:attribute``; see ``sssjob.translate.translator``. Without
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
        try:
            return loaded(self.home)
        except Exception as error:  # as for a format
            raise UnusableInput(f"the target {self.name} cannot be loaded: {error}") from error


class Status(NamedTuple):
    """What a batch system says of the jobs that it has: in which formats, and by which commands.

    The modules of ``formats`` are those of record formats. ``ask`` has ways to ask, of which the
    first counts that the system understands: commands whose outputs are read one behind the other.
    """

    formats: tuple[Format, ...]
    ask: tuple[tuple[Arguments, ...], ...]
    environment: tuple[tuple[str, str], ...] = ()


class Measure(NamedTuple):
    """What a system's file about a finished process says: a key of ``features.used``, by names.

    Where it has several of the names, they are added up. ``unit`` is how many bytes one is.
    """

    key: str
    names: tuple[str, ...]
    unit: int = 1


class System(NamedTuple):
    """A batch system: what it is called, and where each thing that is known of it stands.

    ``formats`` are those of its accounting records; ``script`` names its side of a prolog, a class
    derived from ``sssjob.features.batch.call.Script``, and ``installation`` what a site installs
    for it, one derived from ``sssjob.features.batch.scripts.Scripts``. ``ended`` names what asks
    it for the records of jobs that have ended, in the first of its formats; without one they are
    read from files. ``submission`` names its submit form, a ``sssjob.translate.form.Form``, and
    ``control`` its commands that submit, hold and cancel, a ``sssjob.submission.Control``;
    ``targets`` are the forms in which jobs are submitted to it, or shown by it.

    ``id_variable`` is where a job finds its id in its environment, ``task_variable`` the number of
    its task in an array, if that is no part of the id. ``raw_id`` is the name of an Extension, of
    the type ``title``, with an id of the job beside the one that people use. ``measures`` are what
    it writes of a finished process.
    """

    name: str
    title: str
    formats: tuple[Format, ...] = ()
    queue: Queue | None = None
    status: Status | None = None
    script: str = ""
    installation: str = ""
    ended: str = ""
    submission: str = ""
    control: str = ""
    targets: tuple[Target, ...] = ()
    id_variable: str = ""
    task_variable: str = ""
    raw_id: str = ""
    measures: tuple[Measure, ...] = ()


@cache
def systems() -> dict[str, System]:
    """The batch systems of this distribution, by name."""
    home = import_module(SYSTEMS)
    names = sorted(module.name for module in iter_modules(home.__path__))
    rows = (import_module(f"{SYSTEMS}.{name}.system").SYSTEM for name in names)
    return {row.name: row for row in rows}


@cache
def formats() -> dict[str, Format]:
    """The record formats of this distribution, by name: those of systems, then the others."""
    own = (row for system in systems().values() for row in system.formats)
    return {row.name: row for row in (*own, *import_module(FORMATS).FORMATS)}


def all_systems() -> dict[str, System]:
    """Every batch system; those of other distributions come last, their declarations imported now.

    One that cannot be used is warned of, and as if it were not there: others have to work. It is
    known by the name of its ``System``, whatever its entry point is called.
    """
    return _behind(systems(), dict(_added_systems()))


def all_formats() -> dict[str, Format]:
    """Every record format; those of other distributions come last."""
    added = {row.name: row for _, system in _added_systems() for row in system.formats}
    alone = {point.name: _added(point) for point in _points(FORMATS)}
    return _behind(formats(), {**alone, **added})


@cache
def targets() -> dict[str, Target]:
    """What jobs are translated to or read from, by name: those of systems, then the others."""
    own = (row for system in systems().values() for row in system.targets)
    return {row.name: row for row in (*own, *import_module(FORMATS).TARGETS)}


def all_targets() -> dict[str, Target]:
    """Every target; those of other distributions come last."""
    added = {row.name: row for _, system in _added_systems() for row in system.targets}
    alone = {point.name: _added_target(point) for point in _points(TARGETS)}
    return _behind(targets(), {**alone, **added})


def all_statuses() -> dict[str, Status]:
    """What every batch system says of its jobs, by the names of the systems."""
    return {name: row.status for name, row in all_systems().items() if row.status}


def _points(group: str) -> Iterator[EntryPoint]:
    if not _may_have_points(f"[{group}]".encode()):
        return
    from importlib.metadata import entry_points  # it takes longer to import than most commands

    yield from entry_points(group=group)


def _may_have_points(section: bytes) -> bool:
    """Whether the files of some distribution may have such a section, or cannot be looked at."""
    if any(
        hasattr(each, "find_distributions") and each is not PathFinder for each in sys.meta_path
    ):
        return True
    return any(map(partial(_may_have, section), sys.path))


def _may_have(section: bytes, folder: str) -> bool:
    """The same of the distributions in a directory, where modules are looked for."""
    try:
        names = os.listdir(folder or ".")
    except FileNotFoundError:
        return False
    except OSError:  # such as an archive
        return True
    for name in names:
        if name.lower().endswith((".egg", ".zip")):
            return True
        if name.endswith((".dist-info", ".egg-info")):
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as stream:
                    if section in stream.read().replace(b" ", b""):
                        return True
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                return True
    return False


def _behind(ours: dict[str, Row], added: dict[str, Row]) -> dict[str, Row]:
    """Ours, then the others: a name of ours stays ours."""
    return {**ours, **{name: row for name, row in added.items() if name not in ours}}


def _added_systems() -> Iterator[tuple[str, System]]:
    """The systems of other distributions that can be used; a name of ours stays ours."""
    for point in _points(SYSTEMS):
        row = _added_system(point)
        if row is not None and row.name not in systems():
            yield row.name, row


def _added_system(point: EntryPoint) -> System | None:
    """A system of another distribution. One that cannot be used is warned of, and is none."""
    try:
        row = point.load()
    except Exception as error:  # as for a format; ours have to work, whatever theirs do
        reason = f"{type(error).__name__}: {error}"
    else:
        if isinstance(row, System):
            return row
        reason = "it is no System"
    warnings.warn(f"the system {point.name}, {_added_by(point)}: {reason}", stacklevel=2)
    return None


def _added(point: EntryPoint) -> Format:
    return Format(point.name, point.value, _added_by(point))


def _added_target(point: EntryPoint) -> Target:
    return Target(point.name, point.value, _added_by(point))


def _added_by(point: EntryPoint) -> str:
    return f"added by {point.dist.name if point.dist else 'another distribution'}"
