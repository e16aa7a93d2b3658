"""What a translator has: four steps for each direction, over a form of the target's own.

A target is declared in the folder of its batch system (``targets=`` of ``SYSTEM``), or, where it
belongs to none, in ``sssjob.formats.TARGETS``::

    Target("jsdl", "sssjob.formats.jsdl:TRANSLATOR", "JSDL 1.0", Sign.NAME)

and is a class derived from ``Translator``, whose form may be anything: a tree, plain data of JSON,
a list of options::

    class JSDL(Translator[Element]):
        name = "jsdl"

        def compose(self, asked, settings):          # a job -> the form
            root = E.JobDefinition()
            if item := asked.one("Name"):            # what is taken is held ...
                root.append(E.JobName(safe(item.text)))
            asked.refuse(item, "too long a name")    # ... unless it is given back: a loss
            bounds = asked.bounds("Memory")          # an Interval of bytes; lo, hi
            return root                              # what nobody took is a loss, too

        def dump(self, form): ...                    # the form -> text
        def load(self, data): ...                    # bytes -> forms (Finding for a broken one)
        def job(self, form, settings): ...           # the form -> Job, findings
        def keep(self, form, lines): ...             # puts the residual into the open place
        def kept(self, form): ...                    # ... and finds it again
        def recognises(self, head): ...              # a reason, or ""

``sssjob.translate`` does the rest: it takes the list of losses from ``asked``, refuses under
Reject, reads the form back (``job``) and keeps as residual what does not come back as it was. A
target that is only read has no ``compose`` and ``dump``; one that is only written has no ``load``
and ``job``, and no residual then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, NamedTuple, TypeVar

from sssjob.errors import AwarenessPolicy, Finding
from sssjob.model import Job
from sssjob.translate.arrays import NO_ARRAYS, Spelling
from sssjob.translate.losses import WARN, Loss
from sssjob.translate.requests import JobRequest

F = TypeVar("F")

_NO_FILES: Mapping[str, bytes] = {}
_NO_CONTEXT: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the caller decides.

    ``memory_scope``: whether the Memory of a job is that of the whole job, of each task, or of
    each node. ``arrays``: whether an array that is read stays one job, with the option of the
    array kept as it is (``keep``), or its elements become the tasks of a ``task-group``, or
    ``jobs``, one for each. ``residual``:
    whether what does not fit is kept in the target.
    ``unstated`` is the awarenessPolicy where a job says none. ``parallel`` is Grid Engine's
    parallel environment. ``files`` are those that travel with the job, by their ids. ``terminal``:
    whether who submits it has a terminal, for a job that is Interactive. ``context`` is what a
    target has to know of all jobs that are written together. ``beside`` is how the names of files
    begin that stand beside the text, such as a script where a target names programs only; "" where
    there is no place for such files. ``once``: the program of the job runs once, as a script does
    that is submitted, whatever places for tasks there are.
    """

    memory_scope: str = "job"
    arrays: str = "keep"
    residual: bool = True
    unstated: AwarenessPolicy = WARN
    parallel: str = "smp"
    files: Mapping[str, bytes] = field(default_factory=lambda: _NO_FILES)
    terminal: bool = True
    context: Mapping[str, object] = field(default_factory=lambda: _NO_CONTEXT)
    beside: str = ""
    once: bool = False


class _TranslationFields(NamedTuple):
    text: str
    losses: tuple[Loss, ...] = ()


class Translation(_TranslationFields):
    """A job as a target takes it, and what the target does not hold.

    ``files`` have to stand beside the text, by their names.
    """

    files: Mapping[str, bytes] = _NO_FILES

    @classmethod
    def of(cls, text: str, losses: tuple[Loss, ...], files: Mapping[str, bytes]) -> Translation:
        """A text with the files that belong beside it."""
        found = cls(text, losses)
        found.files = files
        return found


class Reading(NamedTuple):
    """One job that was read, or None; what is wrong or worth knowing; files that belong to it."""

    job: Job | None
    findings: tuple[Finding, ...] = ()
    files: Mapping[str, bytes] = _NO_FILES


class RefusedReading(Reading):
    """A job that nothing may be made of: what stands around it must be understood (9.0)."""

    __slots__ = ()


class ReadingWithRun(Reading):
    """A job whose document tells of a run of it, too: ``ran`` is what it did not ask for."""

    ran: Job | None = None

    @classmethod
    def of(cls, reading: Reading, ran: Job) -> ReadingWithRun:
        """A reading with what its document tells of a run."""
        found = cls(*reading)
        found.ran = ran
        return found


class Read(NamedTuple):
    """A job that a form says, and what is worth knowing of it; ``ran`` of ``ReadingWithRun``."""

    job: Job
    findings: tuple[Finding, ...] = ()
    files: Mapping[str, bytes] = _NO_FILES
    refused: bool = False
    ran: Job | None = None


class Translator(Generic[F]):
    """A target, a source, or both; ``name`` is what ``--to`` and ``--from`` call it.

    ``array`` is how it spells arrays. ``suffix`` is that of files; texts of several jobs ``join``
    where one file can hold them; where it is ``whole``, it has to know all of them (``context``).
    """

    name: str = ""
    array: Spelling = NO_ARRAYS
    suffix: ClassVar[str] = ""
    joins: ClassVar[bool] = False
    whole: ClassVar[bool] = False

    def compose(self, asked: JobRequest, settings: Settings) -> F:
        """The form for what a job asks for; what is taken of ``asked`` and kept is no loss.

        Raises ``InvalidValue`` for a job that has no form at all.
        """
        raise NotImplementedError

    def context(self, jobs: Sequence[Job]) -> Mapping[str, object]:
        """What has to be known of all jobs of a source while each of them is written."""
        return {}

    def dump(self, form: F) -> str:
        """A form as text."""
        raise NotImplementedError

    def load(self, data: bytes) -> Iterator[F | Finding]:
        """The forms in some bytes, in their order; a finding for what is none."""
        raise NotImplementedError

    def job(self, form: F, settings: Settings) -> Read:
        """What a form says, without what was kept beside it."""
        raise NotImplementedError

    def doubtful(self, form: F, settings: Settings) -> tuple[Job, Collection[str]]:
        """What a form says, but for names of properties that it is sure to say as they are meant.

        For a form that was composed of a job of which a residual is made.
        """
        return self.job(form, settings).job, ()

    def keep(self, form: F, lines: Iterable[str]) -> F:
        """A form with the lines of a residual in its open place; each has one line of text."""
        return form

    def kept(self, form: F) -> tuple[str, ...]:
        """The lines of the residual of a form."""
        return ()

    def recognises(self, head: bytes) -> str:
        """Why some bytes begin like this source; "" where they do not."""
        return ""

    def jobs(self, form: F, settings: Settings) -> Iterator[Read]:
        """The jobs that a form stands for: one, unless an array becomes several."""
        yield self.job(form, settings)
