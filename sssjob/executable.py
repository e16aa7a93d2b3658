"""What an Executable names, and how a script is run (5.1 Table 2).

Nothing here opens a file or an address: an executable is told from its text alone.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from sssjob.errors import InvalidValue
from sssjob.library_words import shell_fault
from sssjob.model import stripped

DEFAULT_SHELL = "/bin/sh"

_ABSOLUTE_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # one letter is a drive
_PLAIN = re.compile(r"/[\w./+-]*", re.ASCII)  # a path whatever stands around it
_DRIVE = re.compile(r"[A-Za-z]:")
_QUOTES = frozenset("'\"\\")  # what a shell takes off
_WORDS = re.compile(r"[^ \t\r\n]+")
_NO_PATH = re.compile(r"[\0\n\r]")


class ExecutableKind(StrEnum):
    """What an executable is named by."""

    FILE = "file"
    URI = "uri"
    DRIVE = "drive"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Executable:
    """An executable: ``target`` is the id of a File, an absolute URI, or a path."""

    kind: ExecutableKind
    target: str


class From(StrEnum):
    """Who said which interpreter a script is for."""

    SCRIPT = "script"
    SHELL = "Shell"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The command that a script is given to, and who said so."""

    command: tuple[str, ...]
    source: From


def executable(text: str, directory: str = "") -> Executable:
    """What the text of an Executable names; a path is relative to InitialWorkingDirectory.

    Raises ``InvalidValue`` for a text that names nothing.

    >>> executable("#Script").target, executable("run.sh", "/home/amy").target
    ('Script', '/home/amy/run.sh')
    """
    named = stripped(text)
    if _PLAIN.fullmatch(named):  # as most are
        return Executable(ExecutableKind.PATH, named)
    if named.startswith("#"):
        found = Executable(ExecutableKind.FILE, decoded(named[1:]))
    elif _ABSOLUTE_URI.match(named):
        found = Executable(ExecutableKind.URI, named)
    elif _DRIVE.match(named):
        found = Executable(ExecutableKind.DRIVE, named)
    else:
        found = Executable(ExecutableKind.PATH, posixpath.join(directory, named) if named else "")
    if not named:
        raise InvalidValue(named, "an Executable: there is nothing to run")
    if not found.target:
        raise InvalidValue(named, "the id of a file, a URI or a path")
    if _NO_PATH.search(found.target):
        raise InvalidValue(named, "a name without line ends and U+0000")
    return found


def decoded(id_: str) -> str:
    """An id without percent-encoding; one that is encoded badly stands for itself.

    >>> decoded("my%20script"), decoded("100%")
    ('my script', '100%')
    """
    try:
        return unquote(stripped(id_), errors="strict")
    except UnicodeDecodeError:
        return stripped(id_)


def interpreter(script: bytes, shell: str = "") -> Interpreter:
    """What runs a script: its own ``#!`` line, else the Shell of the job, else /bin/sh.

    Raises ``InvalidValue`` for a Shell that cannot be split into words.
    """
    first = script.partition(b"\n")[0]
    if first.startswith(b"#!"):
        # As the kernel reads it: a path, and all the rest as one argument.
        words = first[2:].decode("utf-8", "surrogateescape").strip(" \t\r").split(None, 1)
        if words:
            return Interpreter(tuple(words), From.SCRIPT)
    if stripped(shell):
        return Interpreter(arguments(shell), From.SHELL)
    return Interpreter((DEFAULT_SHELL,), From.DEFAULT)


def arguments(text: str) -> tuple[str, ...]:
    """The text of Arguments as a list, split as a POSIX shell splits words; nothing is expanded.

    For targets that take a list; others get the text as it is. Raises ``InvalidValue``.

    >>> arguments("-input 'my basis.in' $HOME")
    ('-input', 'my basis.in', '$HOME')
    """
    if _QUOTES.isdisjoint(text):
        return tuple(_WORDS.findall(text))  # the same, and much faster
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise InvalidValue(text, f"a list of arguments: it has {shell_fault(error)}") from error
