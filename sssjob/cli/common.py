"""What the commands share: opening what the user named, saying what went wrong."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import click

from sssjob import outputs
from sssjob.cli.signals import terminable
from sssjob.errors import (
    Finding,
    LimitExceeded,
    Severity,
    SSSJobError,
    UnreadableDocument,
    UnusableInput,
    UnusableStore,
)
from sssjob.integers import whole
from sssjob.spec import NAMESPACE
from sssjob.visible import Terminal, Visible, visible, visible_lines

if TYPE_CHECKING:
    from sssjob.document.attached import Attached
    from sssjob.document.bundle import MessageFile
    from sssjob.document.sources import NamedSource
    from sssjob.model import Block

Complain = Callable[[object], None]

NAMESPACES = {"none": "", "sssrmap": NAMESPACE}  # by what options call them

_DIGITS = 9  # of a number of columns that is meant

FOUND, NOTHING, NOT_UNDERSTOOD = 0, 1, 2  # exit codes of every command
DIFFERENT = 3  # what columns of a store say is not what its documents say


def sources(files: Iterable[str]) -> Iterator[NamedSource]:
    """Each named file as a source; ``-`` is standard input, and so is no name at all."""
    from sssjob.document.sources import named

    try:
        return named(files, sys.stdin.buffer)
    except UnusableInput as error:
        fail(error.reason)


def processes(wanted: int) -> int:
    """How many processes do the work of a command: ``--workers``, where 0 is all cores."""
    if wanted:
        return wanted
    from sssjob.workers import cores  # slow to import for what few ask

    return cores()


def echo(text: object = "", *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print text for people; nothing in it steers a terminal. The ``style`` is as click has it."""
    shown = visible_lines(str(text))
    click.echo(click.style(shown, **style) if style else shown, err=err, nl=nl)


def data(text: str, *, nl: bool = True, **style: Any) -> None:
    """Print what a program may read: it is exact, unless a terminal would be steered by it."""
    shown = visible_lines(text) if sys.stdout.isatty() else text
    click.echo(click.style(shown, **style) if style else shown, nl=nl)


def columns_named() -> int:
    """The columns that ``COLUMNS`` gives a line, or 0 where it names no number."""
    named = os.environ.get("COLUMNS", "")
    return whole(named, _DIGITS) or 0


def room(output: str | None = None) -> int:
    """How many columns a line of a report may have: ``COLUMNS``, those of a terminal, or 0: any.

    A file that ``output`` names takes any.
    """
    if output not in (None, "-"):
        return 0
    if not sys.stdout.isatty() and not columns_named():
        return 0
    import shutil  # which few commands need

    return shutil.get_terminal_size().columns


def fitted(text: str, **style: Any) -> None:
    """Print a line of a report, folded where it has no room; ``style`` as in ``echo``."""
    from sssjob.drawing.columns import folded  # which few commands need

    for line in folded(visible_lines(text), room()):
        echo(line, **style)


class JsonPrinter:
    """Prints values in JSON as they come: as one array, or with ``lines`` each on a line."""

    def __init__(self, *, lines: bool) -> None:
        self._lines, self._mark = lines, "["

    def put(self, value: object) -> None:
        """Print one more."""
        import json  # which few commands need

        shown = json.dumps(value, ensure_ascii=False)
        data(shown if self._lines else f"{self._mark}\n  {shown}", nl=self._lines)
        self._mark = ","

    def end(self) -> None:
        """Close the array."""
        if not self._lines:
            data("[]" if self._mark == "[" else "\n]")


def styled(text: Terminal) -> None:
    """Print a text with colours."""
    click.echo(text)


def painted(text: str, **style: Any) -> Terminal:
    """A text in colours, and nothing else steers a terminal. The ``style`` is as click has it."""
    return Terminal(click.style(visible_lines(text), **style))


# What an editor finds the place of a message by: the file, its line, and its column.
_PLACE = re.compile(r"[^:\n]*(?::\d+){1,2}:")


def say(message: object) -> None:
    """Print a message on standard error, folded where ``COLUMNS`` says what room there is.

    Nothing in it steers a terminal; words, and the place that it begins with, stay whole.
    """
    text, room_left = str(message), columns_named()
    if not room_left:
        echo(text, err=True)
        return
    from sssjob.drawing.columns import folded_at_blanks  # which few commands need

    for line in visible_lines(text).split("\n"):
        place = _PLACE.match(line)
        for part in folded_at_blanks(line, room_left, place.end() if place else 0):
            echo(part, err=True)


_WEB = ("starlette", "uvicorn", "jinja2", "markupsafe", "anyio", "h11")  # what pages are made of


def fail(message: object) -> NoReturn:
    """Say why the command cannot go on, and end it with exit code 2.

    What is a finding says itself where it is, and that it is an error.
    """
    is_finding = isinstance(message, Finding | UnreadableDocument)
    say(message if is_finding else f"sssjob: error: {message}")
    sys.exit(NOT_UNDERSTOOD)


def need_web(error: ModuleNotFoundError) -> NoReturn:
    """Say which library the pages lack; raise the error where it is none of theirs."""
    missing = (error.name or "").partition(".")[0]
    if missing not in _WEB:
        raise error
    fail(f"pages need {missing}: pip install 'sssjob[web]'")


def reason(error: OSError) -> str:
    """An operating system's error as ``FILE: reason``, or its reason where no file is known."""
    said = error.strerror or str(error)
    return f"{name_of(error.filename)}: {said}" if error.filename else said


def name_of(file: object) -> str:
    """The name of a file as messages have it: on one line, whatever letters it has."""
    from sssjob.visible import visible

    return visible(os.fsdecode(file) if isinstance(file, bytes) else str(file))


def placed(error: SSSJobError, name: str) -> object:
    """An error about a file, as ``FILE:LINE: reason`` where its line is known."""
    if isinstance(error, UnreadableDocument):
        return error.finding.in_file(name)
    return f"{name_of(name)}: {error}"


def files_of(
    attached: Attached, block: Block, name: str, own: Block | None = None, *, given: bool = True
) -> Sequence[MessageFile]:
    """The Files that a job object of a source names; that they are not looked for is said.

    So is that several have one id. It may be made of its ``own`` one, which was read. ``given``
    is whether they are to be written.
    """
    try:
        files = attached.of(block, read=own)
        print_findings(found.in_file(name) for found in attached.told(files))
        return attached.given(files) if given else files
    except LimitExceeded as error:
        if given:  # elsewhere they are left out in any case
            from sssjob.document.attached import left_out

            say(f"{name_of(name)}: warning: {left_out(block.name, block.id, error)}")
        return ()


def ended(bad: object, *, unread: object = 0) -> int:
    """The exit code of a command that goes on behind what cannot be read at all (``unread``), and
    behind ``bad`` records; that nothing was found counts as these do.
    """
    return NOT_UNDERSTOOD if unread else NOTHING if bad else FOUND


class BadRecord(str):
    """What is said of a record that is bad, where the records around it are read."""

    __slots__ = ()


class Complaints:
    """Says on standard error what cannot be read or worked with, and counts it.

    ``bad`` counts the records that are bad, ``count`` all that could not be read at all.
    """

    def __init__(self) -> None:
        self.count = self.bad = 0

    def __call__(self, error: object) -> None:
        """Say one more."""
        if isinstance(error, BadRecord):  # ``records`` knows whether it is among the first
            self.bad += 1
        else:
            self.count += 1
        say_error(error)

    def leave(self, found: object, none: str = "") -> NoReturn:
        """End the command, by its exit code: something was not understood, is bad, or was found.

        ``none`` is said where nothing was said and nothing was found.
        """
        if none and not found and not (self.count or self.bad):
            say(f"sssjob: {none}")
        sys.exit(ended(self.bad or not found, unread=self.count))


@contextmanager
def failing(file: str = "") -> Iterator[None]:
    """Whatever cannot be worked with ends the command with exit code 2, and says why.

    A document that cannot be, and is in no other file, is told with this one.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except UnreadableDocument as error:
        found = error.finding
        fail(found if found.file or not file else found.in_file(file))
    except SSSJobError as error:
        fail(error)
    except OSError as error:
        fail(reason(error))


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings on standard error, one on each line, as compilers do: the first of each kind.

    Below a fault of a document that cannot be read stands its line, with a caret.
    """
    first = told()
    for finding in findings:
        if not first.is_told(finding.file, finding.severity, _kind(finding)):
            continue
        say(finding)
        if finding.excerpt:
            for line in finding.excerpt.splitlines():  # the caret has to stay below its column
                echo(f"  {visible(line)}", err=True)


def _kind(finding: Finding) -> str:
    """What a finding is alike to others in: its code, and of a loss also what is lost."""
    place = re.sub(r"\[\d+\]", "", finding.path) if finding.code == "E-LOSS" else ""
    return f"{f' at {place}' if place else ''} [{finding.code}]"


MOST = 20  # messages of a kind about a file that are printed


class FirstOfEach:
    """Tells the first messages of each kind about a file, and then how many more there were.

    ``most`` are told of each kind, None is all; ``hint`` stands behind the number of the others.
    Of a message that is ``said_once`` is told, too, how many records it stood for.
    """

    def __init__(self, most: int | None = MOST, hint: str = "") -> None:
        self._most, self._hint = most, hint
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._left_out: Counter[tuple[str, str, str]] = Counter()
        self._heads: dict[str, str] = {}  # of messages that are said once: place and severity
        self._others: Counter[str] = Counter()  # records of which the same was not said again

    def said_once(self, message: str, head: str) -> None:
        """Remember a message that will not be said again; ``head`` stood before it."""
        self._heads[message] = head

    def not_again(self, message: str) -> None:
        """Count one more record of which the same could be said."""
        if message in self._heads:
            self._others[message] += 1

    def is_told(self, file: str, severity: str, kind: str = "") -> bool:
        """Whether one more message is among the first of its kind; ``kind`` is told at the end."""
        key = (file, severity, kind)
        self._seen[key] += 1
        if self._most is None or self._seen[key] <= self._most:
            return True
        self._left_out[key] += 1
        return False

    def rest(self) -> None:
        """Print how many others there were since this was last asked."""
        for message, number in self._others.items():
            records = "record" if number == 1 else "records"
            say(f"{self._heads[message]} and {number} more {records}: {message}")
        self._others.clear()
        for (file, severity, kind), number in self._left_out.items():
            say(f"{name_of(file)}: {severity}: and {number} more like these{kind}{self._hint}")
        self._left_out.clear()

    def again(self) -> None:
        """The same, and begin anew: a command that runs on reads again."""
        self.rest()
        self._seen.clear()
        self._heads.clear()


ALL_FINDINGS = f"{__name__}.all_findings"  # where the option of that name stands
_TOLD = f"{__name__}.told"


def told() -> FirstOfEach:
    """What the command that runs has told of its files: one count for all its messages.

    How many it left out is said at its end, if ``rest`` was not asked before. Outside of a command
    each that asks has a count of its own, and asks for the rest.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return FirstOfEach()
    first: FirstOfEach | None = context.meta.get(_TOLD)
    if first is None:
        every = context.meta.get(ALL_FINDINGS)
        hint = "" if every is None else "; --all-findings tells each"
        first = context.meta[_TOLD] = FirstOfEach(None if every else MOST, hint)
        context.call_on_close(first.rest)
    return first


def say_of(file: object, severity: str, message: object, kind: str = "") -> bool:
    """Print a message about a file, if it is among the first of its kind, and whether it was."""
    if is_first := told().is_told(str(file), severity, kind):
        say(message)
    return is_first


def say_error(error: object) -> None:
    """Say what cannot be read or worked with, if it is among the first of its kind of a source.

    A document, or a store, may have as many of these as it has jobs.
    """
    if isinstance(error, UnreadableDocument):
        error = error.finding
    if isinstance(error, Finding):
        print_findings((error,))
    elif isinstance(error, UnusableStore):
        say_of(error.store, Severity.ERROR, error)
    else:
        say(error)


@contextmanager
def stdout() -> Iterator[BinaryIO]:
    """Standard output for bytes: exact, unless a terminal would be steered by them."""
    if not sys.stdout.isatty():
        yield sys.stdout.buffer
    else:
        with Visible(sys.stdout) as stream:
            yield stream  # type: ignore[misc]  # it has what writers of bytes use
    sys.stdout.flush()


def is_mixed(path: str | None) -> bool:
    """Whether messages go where the output goes: to one terminal, or to one file by ``2>&1``.

    What is written there is to be flushed at once, so that each message stands where it belongs.
    """
    if path not in (None, "-"):
        return False
    try:
        both = os.path.sameopenfile(1, 2)
        return both and (os.isatty(1) or not stat.S_ISCHR(os.fstat(1).st_mode))  # /dev/null
    except OSError:  # one of them is closed
        return False


@contextmanager
def output(path: str | None, *, follow: bool = True) -> Iterator[BinaryIO]:
    """A binary stream to standard output (None or ``-``), or by ``outputs.writing`` to a file.

    A regular file appears whole or not at all, also if the command is interrupted. One that cannot
    be written ends the command with exit code 2.
    """
    if path is None or path == "-":
        with stdout() as stream:
            yield stream
        return
    if sys.stdout is not None:  # as it is where it was closed
        sys.stdout.flush()  # what was printed comes first, also where the path is /dev/stdout
    try:
        with terminable(), outputs.writing(path, follow=follow) as stream:
            yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename != path:
            raise  # it is about what was read meanwhile
        fail(reason(error))


@contextmanager
def many_files() -> Iterator[Callable[..., None]]:
    """Writes many files, by ``outputs.Many``: the path of each, its bytes, and its mode if any.

    One that cannot be written ends the command with exit code 2.
    """
    with failing(), terminable(), outputs.Many() as files:
        yield files.put
