"""Where the files of a ledger are: in a directory, or in an object store such as S3.

Strategy. A ledger needs little of what it is kept in: files that appear whole, lists of names, and
one step that a single writer can win. A directory has the last one as a link, an object store as an
upload on the condition that the name is free.

Why it is right: nothing is changed once it is there, so no reader can see a half. Where the answer
to an upload is lost, the object is read again: it is ours if it has our bytes, as names of files
are never the same. While that cannot be told, nothing is taken back (``Unsure``). # decision 510
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedIOBase
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sssjob import atomic, outputs
from sssjob.addresses import is_object
from sssjob.dotted import loaded, needed
from sssjob.errors import UnusableStore

_BLOCK = 1 << 20  # bytes that are read at once of an object
_ADDRESS = re.compile(r"s3://[a-z0-9][a-z0-9.-]+(/[^/*?\[\]{}\\\s]+)+/?")


class FileStamp(NamedTuple):
    """How many bytes a file has, and when it was changed last, in seconds since 1970."""

    size: int
    changed: float


class Unsure(OSError):
    """Whether something was written is not known."""


@dataclass(frozen=True, slots=True, order=True)
class ObjectPath:
    """The address of an object, or of all whose names begin so: what is used here of a ``Path``.

    Every method raises ``OSError``.
    """

    address: str

    def __truediv__(self, more: str) -> ObjectPath:
        return ObjectPath(f"{self.address}/{more}")

    def __str__(self) -> str:
        return self.address

    def __fspath__(self) -> str:
        return self.address

    @property
    def name(self) -> str:
        """What is behind the last slash."""
        return self.address.rpartition("/")[2]

    @property
    def files(self) -> Any:
        """The file system of fsspec that it is in."""
        return _s3()

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove it."""
        try:
            with _reached(self):
                self.files.rm_file(self.address)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def open(self, mode: str = "rb") -> BufferedIOBase:
        """A stream of its bytes that can be sought in; only what is asked for is fetched."""
        with _reached(self):
            found: BufferedIOBase = self.files.open(self.address, mode)
            return found

    def read_bytes(self) -> bytes:
        """All of it."""
        with _reached(self):
            found: bytes = self.files.cat_file(self.address)
            return found

    def put(self, data: bytes, *, is_new: bool = False) -> None:
        """Write it whole; with ``is_new`` raise ``FileExistsError`` where something is there."""
        with _reached(self):
            self.files.pipe_file(self.address, data, mode="create" if is_new else "overwrite")

    def names(self) -> list[str]:
        """What is behind its slash in the names of objects, up to the next slash."""
        with _reached(self):
            try:
                found = self.files.ls(self.address, detail=False)
            except FileNotFoundError:
                return []
        return sorted({each.rstrip("/").rpartition("/")[2] for each in found})

    def below(self) -> dict[str, FileStamp]:
        """All objects that begin so and a slash, by the rest of their names."""
        with _reached(self):
            found = self.files.find(self.address, detail=True)
        head = len(self.address.removeprefix("s3://")) + 1
        return {
            name[head:]: FileStamp(each["size"], each["LastModified"].timestamp())
            for name, each in found.items()
            if len(name) > head
        }


Place = Path | ObjectPath


@lru_cache(1)
def _s3() -> Any:
    library = needed("s3fs", "s3", "a ledger in an object store")
    # Who else writes there is not asked what it wrote; a list that is kept would be old.
    return library.S3FileSystem(use_listings_cache=False, default_block_size=_BLOCK)


@contextmanager
def _reached(path: ObjectPath) -> Iterator[None]:
    """What the library of a store raises, as ``OSError`` with the address."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or path.address
        raise
    except loaded("botocore.exceptions").BotoCoreError as error:
        raise OSError(errno.EIO, str(error), path.address) from None


def place(text: str) -> Place:
    """Where a text leads.

    Raises ``UnusableStore`` for an address that is not understood, and for a name that is no UTF-8:
    neither Arrow nor DuckDB opens one.
    """
    if not is_object(text):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UnusableStore(text, "a ledger needs a name in UTF-8") from None
        return Path(text)
    if not _ADDRESS.fullmatch(text):
        form = "is not understood: s3://BUCKET/NAME is expected, without * ? [ ] { } and spaces"
        raise UnusableStore(text, form)
    return ObjectPath(text.rstrip("/"))


def names(folder: Place) -> list[str]:
    """The names of the files in a directory; none where it is not there."""
    if isinstance(folder, ObjectPath):
        return folder.names()
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def below(folder: Place) -> dict[str, FileStamp]:
    """All files in a directory and those in it, by their paths from there."""
    if isinstance(folder, ObjectPath):
        return folder.below()
    found = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # somebody took it away meanwhile
            status = path.stat()
            if stat.S_ISREG(status.st_mode):
                found[str(path.relative_to(folder))] = FileStamp(status.st_size, status.st_mtime)
    return found


def sizes(home: Place, paths: list[str]) -> dict[str, int | OSError]:
    """How many bytes some files have, or why that cannot be told."""
    if isinstance(home, ObjectPath):
        known = home.below()
        lost = os.strerror(errno.ENOENT)
        return {
            path: known[path].size
            if path in known
            else FileNotFoundError(errno.ENOENT, lost, str(home / path))
            for path in paths
        }
    found: dict[str, int | OSError] = {}
    for path in paths:
        try:
            found[path] = (home / path).stat().st_size
        except OSError as error:
            found[path] = error
    return found


def stream(path: Place) -> BufferedIOBase:
    """A file, opened to be read. Raises ``OSError``."""
    return path.open("rb")


@contextmanager
def parquet(source: Place | bytes) -> Iterator[pq.ParquetFile]:
    """A file of Parquet, or the bytes of one, opened to be read by this thread alone.

    A thread of Arrow that still ends a read, or lets go of an object of Python, while the process
    ends aborts it. So none is started: nothing is read ahead, a file of this machine is opened by
    its name, and who reads says ``use_threads=False``. Raises what Arrow does. # decision 611
    """
    if isinstance(source, ObjectPath):
        with stream(source) as opened, pq.ParquetFile(opened, pre_buffer=False) as file:
            yield file
        return
    made = pa.BufferReader(source) if isinstance(source, bytes) else pa.OSFile(str(source))
    with made as opened, pq.ParquetFile(opened, pre_buffer=False) as file:
        yield file


def put(path: Place, data: bytes | memoryview, *, durable: bool = True) -> None:
    """Write a file whole, with the directories above it. Raises ``OSError``.

    It is on disk then, unless it need not be ``durable``.
    """
    if isinstance(path, ObjectPath):
        path.put(bytes(data))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with outputs.writing(path, follow=False) as found:
        found.write(data)


def create(path: Place, data: bytes) -> None:
    """Write a file that is not there, on disk; one writer alone can.

    Raises ``FileExistsError`` for all others, ``Unsure`` where it is not known, and ``OSError``.
    """
    if isinstance(path, ObjectPath):
        _create(path, data)
        return
    with outputs.Aside(path) as aside:
        with open(aside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(aside, path)
    atomic.force_names(path.parent)


def _create(path: ObjectPath, data: bytes) -> None:
    try:
        path.put(data, is_new=True)
    except OSError as error:
        # A library asks again where an answer is lost: then our own object may be in our way.
        try:
            found = path.read_bytes()
        except FileNotFoundError:
            if isinstance(error, PermissionError):
                raise error from None
            raise Unsure(error.errno, error.strerror, str(path)) from None
        except OSError as other:
            raise Unsure(other.errno, other.strerror, str(path)) from None
        if found != data:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None


def set_aside(path: Place, suffix: str) -> None:
    """Give a file a longer name. Raises ``OSError``."""
    if isinstance(path, ObjectPath):
        ObjectPath(f"{path}{suffix}").put(path.read_bytes())
        path.unlink()
        return
    os.rename(path, path.with_name(f"{path.name}{suffix}"))
    atomic.force_names(path.parent)


@contextmanager
def locked(path: Place) -> Iterator[None]:
    """Let no other writer in; who dies lets others in. An object store has no locks."""
    if isinstance(path, ObjectPath):
        yield
        return
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
