"""What a caller named: a file, a directory, a glob, standard input, a store; told apart once."""

from __future__ import annotations

import glob
import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from sssjob.addresses import is_ledger, is_object, is_store
from sssjob.document.files import is_compressed, raw
from sssjob.document.files import opened as unpacked
from sssjob.errors import (
    InheritedTooMuch,
    LimitExceeded,
    SSSJobError,
    UnreadableDocument,
    UnusableInput,
    hand_over,
)
from sssjob.visible import visible

STANDARD_INPUT = "<stdin>"

_SMALL = 1 << 16  # bytes of a file
_COPIED = 1 << 30  # bytes of a stream
_TOGETHER = 50  # small files that one process reads in one go

_SUFFIXES = tuple(
    f".{name}{packed}" for name in ("xml", "sss") for packed in ("", ".gz", ".bz2", ".xz", ".zst")
)


def has_name_of_document(path: Path) -> bool:
    """Whether a file is called ``*.xml`` or ``*.sss``, compressed or not."""
    return path.name.endswith(_SUFFIXES)


class NamedSource(NamedTuple):
    """Something that was named: what messages call it, and what is read of it."""

    name: str
    given: Path | BinaryIO

    @property
    def is_store(self) -> bool:
        """Whether it is a store of job objects, or the address of one."""
        return isinstance(self.given, Path) and is_store(self.name)

    @property
    def is_ledger(self) -> bool:
        """Whether it is a directory that a ledger is in, or its address in an object store."""
        return isinstance(self.given, Path) and (is_object(self.name) or is_ledger(self.given))

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory of documents."""
        return isinstance(self.given, Path) and self.given.is_dir() and not self.is_ledger


class Files(NamedTuple):
    """Small files that another process reads in one go."""

    sources: tuple[NamedSource, ...]

    def __str__(self) -> str:
        return self.sources[0].name


Opening = Callable[[NamedSource], AbstractContextManager[BinaryIO]]  # its bytes, as they are


def named(names: Iterable[str], standard_input: BinaryIO) -> Iterator[NamedSource]:
    """Each name as a source; ``-`` is standard input, and so is no name at all.

    Raises ``UnusableInput`` where standard input is named twice: it can be read only once.
    """
    wanted = tuple(names) or ("-",)
    if wanted.count("-") > 1:
        raise UnusableInput("standard input is named twice, and can be read only once")
    own = NamedSource(STANDARD_INPUT, standard_input)
    return (own if name == "-" else NamedSource(name, Path(name)) for name in wanted)


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
    source: NamedSource,
    *,
    takes: Callable[[Path], bool] = has_name_of_document,
    on_skipped: Callable[[Path], None] | None = None,
    on_error: Callable[[OSError], None] | None = None,
) -> Iterator[NamedSource]:
    """The files of a directory that are read, by ``takes``; any other source is itself.

    ``on_skipped`` is given the others. Raises ``OSError`` for a directory that cannot be read, or
    hands it to ``on_error``.
    """
    if isinstance(source.given, Path) and not source.is_store:
        for path in documents(source.given, takes=takes, on_skipped=on_skipped, on_error=on_error):
            yield NamedSource(str(path), path)
    else:
        yield source


def documents(
    path: Path,
    *,
    takes: Callable[[Path], bool] = has_name_of_document,
    on_skipped: Callable[[Path], None] | None = None,
    on_error: Callable[[OSError], None] | None = None,
) -> Iterator[Path]:
    """A file itself; of a directory ``*.xml`` and ``*.sss``, compressed or not, sorted.

    Directories in it are entered, except through symbolic links. ``takes`` may choose files in
    another way than by name. ``on_skipped`` is told of the others, ``on_error`` of directories
    that cannot be read.
    """
    if not path.is_dir():
        yield path
        return
    waiting = [str(path)]
    while waiting:  # no function in a function, as os.walk has: they may be nested without end
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            hand_over(error, on_error)
            continue
        inner = []
        for entry in found:
            if entry.is_dir():
                inner += [] if entry.is_symlink() else [entry.path]
            elif entry.is_file() and takes(Path(entry.path)):
                yield Path(entry.path)
            elif on_skipped is not None:
                on_skipped(Path(entry.path))
        waiting += reversed(inner)


def is_small(source: NamedSource) -> bool:
    """Whether it is a file that is not worth being cut for several processes."""
    if not isinstance(source.given, Path) or source.is_store:
        return False
    try:
        status = source.given.stat()
        is_file = stat.S_ISREG(status.st_mode) and status.st_size <= _SMALL
        return is_file and not is_compressed(source.given)  # which may hold very much
    except OSError:
        return False


class RereadableSources:
    """Sources that may be read a second time: what is no file is copied while it is first read.

    The copies are in files without a name. Each iteration gives all sources from their beginning,
    also those that one before, which was given up, did not come to;
    one of which nothing was copied, for want of room, raises ``UnusableSource`` then.
    """

    def __init__(self, sources: Iterable[NamedSource]) -> None:
        self._rest = iter(sources)
        self._first: list[tuple[NamedSource, Copied | None]] = []

    def __iter__(self) -> Iterator[NamedSource]:
        for source, copied in [*self._first]:
            with naming(source.name):
                yield source if copied is None else source._replace(given=copied.again())
        for source in self._rest:
            given, copied = source.given, None
            if not isinstance(given, Path):
                copied = Copied(given)
            elif _is_stream(given):
                copied = Copied(given.open("rb", 0))
            self._first.append((source, copied))
            # As standard input is, so that its first bytes can be looked at.
            yield source if copied is None else source._replace(given=io.BufferedReader(copied))


class Copied(io.RawIOBase):
    """A stream that is copied while it is read; ``again`` gives it from its beginning."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._some: Callable[[int], bytes | None] = getattr(stream, "read1", stream.read)
        self._copy: BinaryIO | None = None
        self._size = 0
        self._has_copy = True

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Some of the next bytes; none at the end."""
        data = self._some(len(buffer)) or b""
        buffer[: len(data)] = data
        if data and self._has_copy:
            self._put(data)
        return len(data)

    def _put(self, data: bytes) -> None:
        self._size += len(data)
        try:
            if self._size > _COPIED:
                raise OSError
            if self._copy is None:
                from tempfile import TemporaryFile  # slow to import

                self._copy = cast(BinaryIO, TemporaryFile())  # noqa: SIM115  # read later
            self._copy.write(data)
        except OSError:  # the first reading goes on without it
            self._has_copy, self._copy = False, None

    def again(self) -> BinaryIO:
        """All of it. Raises ``UnusableInput`` where it was not copied."""
        while self._has_copy and self.read(1 << 16):
            pass
        if not self._has_copy:
            raise UnusableInput(
                "several records of one run are in it, and to add up the one that tells most, all "
                "has to be read again, but there was no room to keep it: give it as a file"
            )
        if self._copy is None:
            return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, io.BytesIO())))
        self._copy.seek(0)
        return self._copy


def _is_stream(path: Path) -> bool:
    """Whether a path leads to a pipe or a device, which gives its bytes once."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def grouped(small: Iterable[NamedSource]) -> Iterator[Files]:
    """Small files in their order, so many together that to send them takes no time."""
    rest = iter(small)
    while some := tuple(islice(rest, _TOGETHER)):
        yield Files(some)


def opened(source: NamedSource) -> AbstractContextManager[BinaryIO]:
    """The bytes of a source, as they are; a stream that was given stays open."""
    return raw(source.given)


def content(source: NamedSource, most: int) -> bytes:
    """All bytes of a source, unpacked. Raises ``LimitExceeded`` for more than ``most``.

    What is wrong with them, such as compressed data that is cut off, is told with its name.
    """
    with naming(source.name), unpacked(source.given) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise LimitExceeded(f"bytes in {source.name}", most)
    return bytes(data)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors within say which source they are about: ``FILE:LINE: reason``."""
    try:
        yield
    except UnusableInput as error:
        raise UnusableSource(name, error) from error
    except InheritedTooMuch as error:  # which is a limit, too
        error.finding = error.finding.in_file(name)
        raise
    except UnreadableDocument as error:
        raise UnreadableDocument(error.finding.in_file(name)) from error


class UnusableSource(SSSJobError, ValueError):
    """A source of which no record can be read; ``error`` says why, and ``name`` which it is."""

    def __init__(self, name: str, error: UnusableInput) -> None:
        super().__init__(name, error)
        self.name, self.error = name, error

    def __str__(self) -> str:
        name = visible(self.name)
        place = f"{name}:{self.error.line}" if self.error.line else name
        return f"{place}: {self.error.reason}"
