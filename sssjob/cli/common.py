"""What the commands share: opening what the user named, saying what went wrong."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

import click

from sssjob.errors import Finding, SSSJobError
from sssjob.spec import NAMESPACE

Complain = Callable[[object], None]

NAMESPACES = {"none": "", "sssrmap": NAMESPACE}  # by what options call them

FOUND, NOTHING, NOT_UNDERSTOOD = 0, 1, 2  # exit codes of every command


class Input(NamedTuple):
    """A file the user named: what to call it, and what to read."""

    name: str
    source: Path | BinaryIO


def sources(files: Iterable[str]) -> Iterator[Input]:
    """Each named file as an input; ``-`` is standard input, and so is no name at all."""
    for file in tuple(files) or ("-",):
        if file == "-":
            yield Input("<stdin>", sys.stdin.buffer)
        else:
            yield Input(file, Path(file))


def say(message: object) -> None:
    """Print a line on standard error."""
    click.echo(str(message), err=True)


def fail(message: object) -> NoReturn:
    """Say why the command cannot go on, and end it with exit code 2."""
    say(f"sssjob: error: {message}")
    sys.exit(NOT_UNDERSTOOD)


def reason(error: OSError) -> str:
    """An operating system's error as ``FILE: reason``."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


@contextmanager
def failing() -> Iterator[None]:
    """Whatever cannot be worked with ends the command with exit code 2, and says why."""
    try:
        yield
    except BrokenPipeError:
        raise
    except SSSJobError as error:
        fail(error)
    except OSError as error:
        fail(reason(error))


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings on standard error, one on each line, as compilers do.

    Below a fault of a document that cannot be read stands its line, with a caret.
    """
    for finding in findings:
        say(finding)
        if finding.excerpt:
            from sssjob.visible import visible

            for line in finding.excerpt.splitlines():
                say(f"  {visible(line)}")


@contextmanager
def output(path: str | None) -> Iterator[BinaryIO]:
    """A binary stream to standard output (None or ``-``), or to a file that appears whole or not.

    The file is written beside its final place and renamed when the block ends without an error;
    an existing file keeps its mode, a new one gets the usual one.
    """
    if path in (None, "-"):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".", delete=False) as stream:
        temporary = Path(stream.name)
        try:
            yield stream  # type: ignore[misc]  # NamedTemporaryFile wraps a BinaryIO
            stream.flush()
            os.fsync(stream.fileno())
            temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else _new_mode())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _new_mode() -> int:
    """0666 less the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
