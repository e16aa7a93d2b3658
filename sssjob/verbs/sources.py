"""What a caller named: a file, a directory, a glob, standard input, a store; told apart once."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sssjob.addresses import is_store
from sssjob.document.directory import documents
from sssjob.errors import SSSJobError, UnreadableDocument, UnusableInput

STANDARD_INPUT = "<stdin>"


class Source(NamedTuple):
    """Something that was named: what messages call it, and what is read of it."""

    name: str
    given: Path | BinaryIO

    @property
    def is_store(self) -> bool:
        """Whether it is a store of job objects, or the address of one."""
        return isinstance(self.given, Path) and is_store(self.name)


Opening = Callable[[Source], AbstractContextManager[BinaryIO]]  # its bytes, as they are


def named(names: Iterable[str], standard_input: BinaryIO) -> Iterator[Source]:
    """Each name as a source; ``-`` is standard input, and so is no name at all."""
    for name in tuple(names) or ("-",):
        if name == "-":
            yield Source(STANDARD_INPUT, standard_input)
        else:
            yield Source(name, Path(name))


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """Names with ``*``, ``?`` or ``[`` that no file has as they stand, as the files they match."""
    found: list[str] = []
    for name in names:
        if glob.has_magic(name) and not Path(name).exists():
            found += sorted(glob.glob(name, recursive=True)) or [name]
        else:
            found.append(name)
    return tuple(found)


def files(
    source: Source,
    *,
    on_skipped: Callable[[Path], None] | None = None,
    on_error: Callable[[OSError], None] | None = None,
) -> Iterator[Source]:
    """The documents of a directory; any other source is itself.

    ``on_skipped`` is given the files whose names are not those of documents. Raises ``OSError``
    for a directory that cannot be read, or hands it to ``on_error``.
    """
    if isinstance(source.given, Path) and not source.is_store:
        for path in documents(source.given, on_skipped=on_skipped, on_error=on_error):
            yield Source(str(path), path)
    else:
        yield source


@contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """The bytes of a source, as they are; a stream that was given stays open."""
    if isinstance(source.given, Path):
        with source.given.open("rb") as stream:
            yield stream
    else:
        yield source.given


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors within say which source they are about: ``FILE:LINE: reason``."""
    try:
        yield
    except UnusableInput as error:
        raise UnusableSource(name, error) from error
    except UnreadableDocument as error:
        raise UnreadableDocument(error.finding.in_file(name)) from error


class UnusableSource(SSSJobError, ValueError):
    """A source of which no record can be read; ``error`` says why, and ``name`` which it is."""

    def __init__(self, name: str, error: UnusableInput) -> None:
        super().__init__(name, error)
        self.name, self.error = name, error

    def __str__(self) -> str:
        place = f"{self.name}:{self.error.line}" if self.error.line else self.name
        return f"{place}: {self.error.reason}"
