"""How a batch system is told of jobs: the commands that submit, hold and cancel, and ask for them.

Each folder declares its ``CONTROL`` (``control=`` of ``SYSTEM``): rows of words. A script is always
given on standard input, a mark is a plain word, and an id is looked at before it is an argument,
so that nothing of a job becomes an option.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sssjob import registry
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.registry import Arguments
from sssjob.translate import translator
from sssjob.translate.form import SubmitForm
from sssjob.translate.options import Option

# Words of commands that stand for what is asked about.
ID, MARK, USER, VALUE = "{id}", "{mark}", "{user}", "{value}"

HOLD, RUNNING = "Hold", "Running"

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,199}")
_BETWEEN = re.compile(r"[\s,;|=\"'\\]+")
_PREFIX = "sssjob:"


class Seen(NamedTuple):
    """A job as its batch system shows it: its Id, its State, and the text that marks stand in.

    ``submitted`` is its SubmitTime, where that is known; an ``owner`` that is "" is who asks.
    """

    id: str
    state: str
    marks: str = ""
    owner: str = ""
    submitted: str = ""


class Look(NamedTuple):
    """Commands that show jobs, their outputs one behind the other, and what reads them.

    A command that fails and says one of ``none`` tells that there is no such job.
    """

    ask: tuple[Arguments, ...]
    read: Callable[[str], Iterable[Seen]]
    none: tuple[str, ...] = ()


class Alter(NamedTuple):
    """The command that gives a job another value, ``{value}``, and how that is written.

    ``write`` raises ``InvalidValue`` for a text that is none.
    """

    command: Arguments
    write: Callable[[str], str]


class Marked(NamedTuple):
    """More words of the command that submits, and the text that it is given."""

    words: tuple[str, ...]
    text: str


@dataclass(frozen=True, kw_only=True)
class Control:
    """The commands of one batch system; ``{id}`` stands for that of a job.

    ``target`` is the form in which it takes jobs; ``also`` are others. ``submit`` submits one that
    is held. ``mark`` puts the mark of a job into its comment or the like, from which ``own``
    reads it: jobs that are there, of whoever asks; ``ended`` are those that have ended, where the
    system keeps them. ``details`` prints of one job what holds its mark, where ``own`` does not.
    ``alters`` are the properties that it lets change of a job that it has.
    ``machine`` is the variable that names the Machine of a job, for all commands about it.
    ``named`` finds the id in what ``submit`` printed, and ``ids`` is what an id looks like.
    """

    target: str
    submit: Arguments
    mark: Callable[[str, str, str], Marked]
    named: Callable[[str], str]
    ids: str
    cancel: Arguments
    hold: Arguments
    release: Arguments
    own: Look
    one: Look
    ended: Look | None = None
    details: Arguments = ()
    alters: Mapping[str, Alter] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""
    system: str = ""

    def id(self, text: str) -> str:
        """An id that is one of this system. Raises ``InvalidValue`` for another, or an option."""
        if not re.fullmatch(self.ids, text, re.ASCII):
            raise InvalidValue(text, f"an id of a job of {self.system}")
        return text

    def manages(self, text: str) -> bool:
        """Whether a ResourceManagerType means this system."""
        return registry.system(self.system).is_called(text)


@dataclass(frozen=True)
class OptionMark:
    """A mark as the value of an option, behind what the script says by the same option."""

    option: str
    between: str = " "
    before: str = ""

    def __call__(self, target: str, text: str, mark: str) -> Marked:
        """The option; the script stays as it is."""
        form = translator(target)
        assert isinstance(form, SubmitForm)
        said = [
            option.value
            for script in form.load(text.encode())
            for option in getattr(script, "options", ())
            if option.name == self.option and option.value
        ]
        value = f"{self.before}{mark}"
        return Marked(Option(self.option, self.between.join((*said[-1:], value))).words(), text)


def control(name: str) -> Control:
    """The commands of a batch system, by its name or by that of a form that it takes.

    Raises ``UnusableInput`` for one that takes no jobs.
    """
    rows = {system: row for system, row in registry.all_systems().items() if row.control}
    forms = {target.name: system for system, row in rows.items() for target in row.targets}
    if name not in rows and name not in forms:
        name = _called(name, rows, forms)
    system, target = (name, "") if name in rows else (forms[name], name)
    made: Control = rows[system].load("control")
    if target and target not in (made.target, *made.also):
        raise UnusableInput(f"{target} is not submitted: {made.target}")
    return replace(made, system=system, target=target or made.target)


def _called(name: str, rows: Collection[str], forms: Collection[str]) -> str:
    """The system for which a name is another word. Raises ``UnusableInput`` if it takes no jobs."""
    row = registry.called(name)
    if row is not None and registry.of_records(name):
        raise UnusableInput(f"{name} names records of {row.title}; did you mean {row.name}?")
    if row is not None and row.name in rows:
        return row.name
    if row is None:
        what = "batch system that takes jobs"
        raise registry.unknown(name, what, rows, _takes_jobs, 4, records=False, also=forms)
    told = registry.listed(rows, _takes_jobs, records=False)
    raise UnusableInput(f"{row.name!r} takes no jobs; those that do are {told}")


def _takes_jobs(row: registry.System) -> object:
    return row.control


def manager(text: str) -> str:
    """The name of the system that a ResourceManagerType means; "" where none is known."""
    for system, row in registry.all_systems().items():
        if row.control and row.is_called(text):
            return system
    return ""


def mark_of(global_id: str) -> str:
    """The word that stands for a GlobalId in a batch system: itself, if it is a plain word.

    >>> mark_of("urn:uuid:1b4e28ba"), mark_of("a b")[:20]
    ('sssjob:urn:uuid:1b4e28ba', 'sssjob:sha256-c8687a')
    """
    if _PLAIN.fullmatch(global_id):
        return f"{_PREFIX}{global_id}"
    return f"{_PREFIX}sha256-{hashlib.sha256(global_id.encode()).hexdigest()[:40]}"


def is_marked(text: str, mark: str) -> bool:
    """Whether a mark is one of the words of a text.

    >>> is_marked("mine sssjob:7", "sssjob:7"), is_marked("sssjob:77", "sssjob:7")
    (True, False)
    """
    return mark in _BETWEEN.split(text)


def filled(words: Arguments, **values: str) -> list[str]:
    """The words of a command with their values."""
    found = []
    for word in words:
        for name, value in values.items():
            word = word.replace(f"{{{name}}}", value)
        found.append(word)
    return found
