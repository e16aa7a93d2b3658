"""A submit form as data: the rows and the few structures by which a batch system's options say
what a job object says. Each system has one in its wing (``systems/X/submission.py``); ``rules``
reads and writes by it, both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sssjob.translate.options import Made, Option, Wanted
from sssjob.translate.quoting import safe

EVENTS = ("JobStart", "JobEnd", "All", "None")


def same(text: str) -> str:
    """A text as it is."""
    return text


class Row(NamedTuple):
    """A text of a job and the option that holds it, with the two functions between them.

    ``write`` raises ``InvalidValue`` for a text that the option does not take.
    """

    name: str
    option: str
    write: Callable[[str], str] = safe
    read: Callable[[str], str] = same


class Streams(NamedTuple):
    """Options of standard streams; "" where there is none.

    ``joined`` sends both outputs into one file, where no option for the second does not do so by
    itself; ``append`` appends both, and ``appends`` tells that the system does in any case.
    """

    input: str = ""
    output: str = "-o"
    error: str = "-e"
    joined: Option | None = None
    append: Option | None = None
    appends: bool = False


class Switch(NamedTuple):
    """The options for False and True; None where that is the way in any case."""

    no: Option | None
    yes: Option | None


class Mail(NamedTuple):
    """When a user hears of a job: the words for ``EVENTS``, and what stands between them."""

    events: str
    joint: str
    words: tuple[str, str, str, str]
    to: str


class Moment(NamedTuple):
    """An option with a local time, and how that is written."""

    name: str
    option: str
    form: str


class Waits(NamedTuple):
    """Waiting for other jobs: what an id looks like, and the word of each condition.

    Where ids stand without a word, ``words`` has "" for the one condition that there is.
    """

    option: str
    id: str
    words: Mapping[str, str]


class Commands(NamedTuple):
    """The commands of a system: that submits, with the options of one that is held, and others."""

    submit: str
    held: tuple[str, ...]
    release: tuple[str, ...]
    cancel: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Form:
    """What the options of one system say."""

    system: str
    commands: Commands
    words: Callable[[Wanted, str, Made], list[str]]  # the amounts of ``features submit``
    rows: tuple[Row, ...]
    name: str
    any_name: bool = False  # or only plain ones
    streams: Streams
    restart: Switch
    export: Switch
    mail: Mail
    moments: tuple[Moment, ...]
    waits: Waits
    managers: tuple[str, ...]
    priority: str = ""
    features: str = ""
    node: str = ""
    nodes: str = ""
    per_node: str = ""
    cyclic: Option | None = None
    gpus: str = ""
    licences: str = ""
    cpu_time: Mapping[str, str] = field(default_factory=dict)  # by type of the limit
    clock: Callable[[int], str] = str  # how a limit of CPU time is written
    scratch: bool = False  # whether scratch space is among the amounts
    directory: bool = True  # whether there is an option for the working directory
    queue_is_partition: bool = False
    decides_nodes: bool = False  # whether something else says on how many nodes a job runs
