"""Which documents are about the same job, and which are not.

A job is known by its Id, but a resource manager that requeues a job runs one Id twice, and each
run is a job object of its own. So a document is about a job of the store that has the same Id,
unless both say when they were submitted or started, or both have a GlobalId, and these differ, or
what is imported of a job of HTCondor names another user than is there (``known_by.owner``).
A record may tell of a job by another Id, with a GlobalJobId of HTCondor (``known_by``).
Where more than one may be meant, ``rank`` says which.
A JobGroup is known by its Id alone. A job of a group and a job alone are the same by the same rule:
another run of the Id is another job, wherever it stands. # decision 860
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec, units
from sssjob.document.places import text_of
from sssjob.errors import InvalidValue
from sssjob.integers import whole
from sssjob.known_by import are_of_others, of_one, other_ids, owner
from sssjob.model import Block
from sssjob.runs import Run, RunTimes
from sssjob.units import XML_SPACE


class Identity(NamedTuple):
    """What a document is about: ``Job`` or ``JobGroup``, its Id, and which run of that Id.

    Runs of an Id count from 1; None means the last one.
    """

    name: str
    id: str
    run: int | None = None

    def __str__(self) -> str:
        """As messages name it: ``Job PBS.1234.0``, with the run from the second one on."""
        run = f" (run {self.run})" if self.run and self.run > 1 else ""
        return f"{self.name} {self.id}{run}"


class Marks(NamedTuple):
    """What tells two runs of one Id apart; an empty text is not stated.

    ``whose`` is the user as ``known_by.owner`` has it, and ``is_of_schedd`` says that a GlobalJobId
    tells the job.
    """

    global_id: str = ""
    submitted: str = ""
    started: str = ""
    whose: str = ""
    is_of_schedd: bool = False

    def agree(self, other: Marks) -> bool:
        """Whether nothing that both state differs."""
        stated = zip(self[:3], other[:3], strict=True)
        return all(a == b or not a or not b for a, b in stated) and self.are_of_one_user(other)

    def are_of_one_user(self, other: Marks) -> bool:
        """Whether no two users have a run each."""
        is_of_schedd = self.is_of_schedd or other.is_of_schedd
        return not are_of_others(self.whose, other.whose, is_of_schedd=is_of_schedd)

    def shared(self, other: Marks) -> int:
        """How many of GlobalId, SubmitTime and StartTime both state, and state alike."""
        return sum(a == b != "" for a, b in zip(self[:3], other[:3], strict=True))

    @property
    def told(self) -> Run:
        """The run that they tell of, as far as they are times in seconds."""
        times = RunTimes(whole(self.submitted), whole(self.started))
        return Run(self.global_id, times)

    @property
    def latest(self) -> int:
        """The last moment that they state, in seconds since 1970; 0 is none."""
        return max(whole(each) or 0 for each in (self.submitted, self.started))

    def of_user(self, id_: str, user: str) -> Marks:
        """The same with the user of a job."""
        whose, one = owner(id_, self.global_id, user), self.one(id_)
        return self._replace(whose=whose, is_of_schedd=bool(one))

    def one(self, id_: str) -> str:
        """The id of a job with this Id that holds everywhere, or ""."""
        return of_one(id_, self.global_id)

    def of_nobody(self) -> Marks:
        """The same, whoever the user is."""
        return self._replace(whose="")

    @property
    def of_user_alone(self) -> Marks:
        """What is said of the user, and nothing else."""
        return Marks(whose=self.whose, is_of_schedd=self.is_of_schedd)


class KnownRun(Protocol):
    """A run that a store has."""

    @property
    def name(self) -> str:
        """Whether it is a ``Job`` or a ``JobGroup``."""
        ...

    @property
    def id(self) -> str:
        """The Id that it has there."""
        ...

    @property
    def run(self) -> int:
        """Which one it is, counted from 1."""
        ...

    @property
    def marks(self) -> Marks:
        """What tells it from the others."""
        ...

    @property
    def deleted(self) -> bool:
        """Whether it is hidden."""
        ...


K = TypeVar("K", bound=KnownRun)

_ID = "Id"
# By what a job is known, and somebody charged: blanks around these say nothing.
NAMED = frozenset((_ID, "User", "Project", "Machine"))
MARKS = ("GlobalId", "SubmitTime", "StartTime")  # what tells two runs of one Id apart


def _tags(container: str) -> dict[str, str]:
    """The tags that carry an identity in a container, older names too, each with its name."""
    names = {name: name for name in (_ID, *MARKS)}
    names |= {
        row.name: row.canonical
        for row in spec.ALIASES
        if row.canonical in names and (not row.containers or container in row.containers)
    }
    return {
        etree.QName(namespace or None, name).text: canonical
        for namespace in spec.NAMESPACES
        for name, canonical in names.items()
    }


_TAGS = {name: _tags(name) for name in ("Job", "JobGroup")}


def identify(element: Element, name: str) -> tuple[str, Marks]:
    """The Id of a Job or JobGroup, trimmed, or "" if it has none; and what tells its run."""
    tags = _TAGS[name]
    found: dict[str, str] = {}
    for child in element.iterchildren(*tags):
        found.setdefault(tags[str(child.tag)], text_of(child).strip(XML_SPACE))
    if name == "JobGroup":
        return found.get(_ID, ""), Marks()
    return found.get(_ID, ""), stated(*(found.get(mark, "") for mark in MARKS))


# decision 374
def stated(global_id: str, submitted: str, started: str) -> Marks:
    """The marks of texts as documents state them: times that mean the same are the same.

    >>> stated("", "1051557713", "+07") == stated("", "2003-04-28T19:21:53Z", "7")
    True
    """
    return Marks(global_id, _time(submitted), _time(started))


def marks_of(job: Block) -> Marks:
    """What tells the run of a job object, whoever its user is."""
    return stated(*(job.get(name) for name in MARKS))


def _time(text: str) -> str:
    """A time in seconds since 1970; what is none stays as it is written."""
    if not text:
        return ""
    try:
        return str(units.time(text))
    except InvalidValue:
        return text


def ids_of(name: str, id_: str, marks: Marks) -> tuple[str, ...]:
    """The Ids by which a store may have a job or a group, its own first."""
    if name != "Job" or not ("#" in id_ or "#" in marks.global_id):  # most have no other
        return (id_,)
    return (id_, *sorted(other_ids(id_, marks.global_id, marks.whose)))


def known_as(name: str, id_: str, marks: Marks, known: Iterable[K]) -> K | None:
    """The run that a document is about, of those that have one of ``ids_of``; None if it is new."""
    some = [each for each in known if each.name == name]
    found = same(marks, [each for each in some if each.id == id_])
    if found is None and name == "Job":
        found = same(
            marks, [each for each in some if _has_other_id(id_, marks, each.id, each.marks)]
        )
    return found


def is_same_job(id_: str, marks: Marks, its_id: str, its_marks: Marks) -> bool:
    """Whether two Ids are of one job, by themselves or by others; runs and users may differ."""
    return id_ == its_id or _has_other_id(id_, marks, its_id, its_marks)


def _has_other_id(id_: str, marks: Marks, its_id: str, its_marks: Marks) -> bool:
    """Whether two Ids are of one job, though they differ.

    Of one that began, a record may tell the part of a GlobalJobId only, as messages of APEL do.
    """
    (mine, one, others), (its, other, ours) = (
        (name, of_one(name, told.global_id), other_ids(name, told.global_id, told.whose))
        for name, told in ((id_, marks), (its_id, its_marks))
    )
    if one and other:
        return one == other and (its in others or mine in ours)
    is_part = its in others or mine in ours
    return is_part and "" != marks.started == its_marks.started


def same(marks: Marks, runs: Iterable[K]) -> K | None:
    """The run that a document is about, of all runs of its Id; None if it is a new one.

    >>> class Run(NamedTuple):
    ...     run: int
    ...     marks: Marks
    ...     name: str = "Job"
    ...     id: str = "7"
    ...     deleted: bool = False
    >>> runs = [Run(1, Marks("", "100", "110")), Run(2, Marks("", "100", "500"))]
    >>> same(Marks("", "100", "110"), runs).run, same(Marks("", "100"), runs).run
    (1, 2)
    >>> same(Marks("", "100", "900"), runs) is None
    True

    Records of earlier runs may come late: the last run is the one that is later.

    >>> same(Marks(), [*runs, Run(3, Marks("", "100", "300"))]).run
    2

    One that has what is told comes before those that do not tell it.

    >>> same(Marks("", "100"), [Run(1, Marks("", "100", "110")), Run(2, Marks("", "", "500"))]).run
    1

    One that is shown is meant before one that is deleted.

    >>> same(Marks(), [*runs, Run(3, Marks("", "100", "900"), deleted=True)]).run
    2
    """
    agreeing = [known for known in runs if marks.agree(known.marks)]
    equal = [known for known in agreeing if known.marks == marks]
    return max(
        equal or agreeing, default=None,
        key=lambda known: (
            marks.shared(known.marks), rank(known.marks, known.run, is_there=not known.deleted)
        ),
    )  # fmt: skip


def near(marks: Marks, runs: Iterable[K]) -> K | None:
    """The run that is meant by a time that differs as clocks do, where none is told exactly.

    >>> class Run(NamedTuple):
    ...     run: int
    ...     marks: Marks
    ...     name: str = "Job"
    ...     id: str = "7"
    ...     deleted: bool = False
    >>> runs = [Run(1, Marks("", "100", "110")), Run(2, Marks("", "", "500"))]
    >>> near(Marks("", "101", "110"), runs).run, near(Marks("", "400", "501"), runs).run
    (1, 2)
    >>> near(Marks("", "100", "113"), runs) is None
    True

    Where one of the two does not tell its start, its submission tells it.

    >>> near(Marks("", "99"), runs).run, near(Marks("", "103"), runs) is None
    (1, True)
    """
    told = marks.of_user_alone
    return max(
        (
            each for each in runs
            if told.agree(each.marks) and marks.told.is_of_by_times(each.marks.told)
        ),
        default=None,
        key=lambda known: (not known.deleted, marks.told.marks_of(known.marks.told), known.run),
    )  # fmt: skip


def rank(marks: Marks, run: int, *, is_there: bool) -> tuple[bool, int, int]:
    """What orders the runs of one Id, of which it means the highest.

    That is whether a run is there for what is asked (a deleted one is for who would show it again,
    a shown one for all else), then its times, and only then in which order they came.
    # decisions 861 and 863
    """
    return is_there, marks.latest, run
