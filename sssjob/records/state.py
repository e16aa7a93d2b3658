"""How far growing logs were read, so that the next run goes on from there. # decision 105

Strategy. A log grows, is rotated and compressed, and a run may be killed at any moment; each record
has to become one document all the same, and the output and what is remembered are two files.

The idea is that a state file decides. It knows, for each log, its inode, how many bytes of it
became documents, and what these bytes ended with; and how long the output was then. The output is
written first and the state last, in one rename.

Why it is right: a run that finds more output than the state knows cuts it off. It is what a run
wrote that was killed, and is written again from the same bytes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from sssjob import outputs
from sssjob.errors import UnusableInput
from sssjob.records.cutting import StreamPlace

_VERSION = 1
_MARK = 1024  # bytes before the place that tell a log from another with its inode
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True, slots=True)
class SeenLog:
    """A log as it was left: which file it was, how far it was read, and what it ended with."""

    device: int
    inode: int
    place: StreamPlace
    mark: str


class LogRest(NamedTuple):
    """What is new of a log: a stream at its place. ``held``: it may still grow."""

    path: Path
    stream: BinaryIO
    place: StreamPlace
    held: bool


class Output(NamedTuple):
    """A file that grows; what goes wrong with it is told with its name. Nothing waits in memory."""

    path: Path
    stream: FileIO

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes, all of them. Raises ``OSError``."""
        rest = memoryview(data)
        with self._named():
            while rest:
                rest = rest[self.stream.write(rest) :]

    def place(self) -> tuple[int, int]:
        """Its inode, and its size, of which all is on disk. Raises ``OSError``."""
        with self._named():
            os.fsync(self.stream.fileno())
            now = os.fstat(self.stream.fileno())
        return now.st_ino, now.st_size

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = str(self.path)
            raise


@dataclass(slots=True)
class LogsState:
    """What is known of logs and of the output; ``remarks`` is what a person should know."""

    path: Path
    output: tuple[int, int] = (0, 0)  # inode and size
    logs: dict[str, SeenLog] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> LogsState:
        """Read a state file; one that is not there yet knows nothing. Raises ``UnusableInput``."""
        try:
            data = json.loads(path.read_bytes())
            if data["version"] != _VERSION:
                raise ValueError(data["version"])
            logs = {name: _seen(entry) for name, entry in data["logs"].items()}
            inode, size = data["output"]
            return cls(path, (int(inode), int(size)), logs)
        except FileNotFoundError:
            return cls(path)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UnusableInput(f"{path} is no state file of sssjob convert") from None

    def save(self) -> None:
        """Write the state, whole or not at all."""
        data = {
            "version": _VERSION,
            "output": self.output,
            "logs": {name: _entry(seen) for name, seen in self.logs.items()},
        }
        with outputs.writing(self.path) as stream:
            stream.write(json.dumps(data, indent=1).encode() + b"\n")

    @contextmanager
    def appending(self, output: Path, tail: bytes = b"") -> Iterator[Output]:
        """The output at the place where the state knows its end; committed if all goes well.

        Else it ends where the state knows its end again. A ``tail`` stands behind that in the
        output and is not known to the state, so that the next run cuts it off. Raises
        ``UnusableInput`` where another run is at work, and ``OSError``.
        """
        if output.exists() and not output.is_file():
            raise UnusableInput(f"{output} is no regular file, to which --state could append")
        with output.open("ab+", buffering=0) as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnusableInput(f"another run is writing {output}") from None
            _cut_off(stream, self.output)
            if tail and os.fstat(stream.fileno()).st_size and self.output[0] != _inode(stream):
                raise UnusableInput(f"{output} was not written by --state {self.path}")
            # From here on, what is behind this size can be told from what was there before.
            now = os.fstat(stream.fileno())
            self.output = now.st_ino, now.st_size
            self.save()
            appended = Output(output, stream)
            try:
                yield appended
                self.commit(appended)
                appended.write(tail)
            except OSError:  # a disk that is full: what was not committed does not stay
                with suppress(OSError, UnusableInput):  # then the next run does that
                    _cut_off(stream, LogsState.read(self.path).output)  # which may be newer
                    appended.write(tail)
                raise
            except BaseException:
                with suppress(OSError):
                    appended.write(tail)
                raise

    def commit(self, stream: Output) -> None:
        """Make what was appended so far count, with the places that are kept."""
        self.output = stream.place()
        self.save()

    def rests(self, path: Path) -> Iterator[LogRest]:
        """What is new of a log: the rest of one that was rotated away, then the log itself.

        Raises ``OSError``, and ``UnusableInput`` for a compressed file, which does not grow.
        """
        name = str(path.resolve())
        known = self.logs.get(name)
        with path.open("rb") as stream:
            if stream.read(8).startswith(_PACKED):
                raise UnusableInput(f"{path} is compressed: such a file does not grow")
            now = os.fstat(stream.fileno())
            place = StreamPlace()
            if known is not None:
                if (known.device, known.inode) == (now.st_dev, now.st_ino):
                    place = self._continued(path, stream, known)
                else:
                    yield from self._rotated(path, known)
            stream.seek(place.offset)
            yield LogRest(path, stream, place, held=True)

    def keep(self, rest: LogRest, place: StreamPlace) -> None:
        """Remember how far a log was read. It counts from the next ``commit`` on."""
        if not rest.held:
            return  # it will not grow, and another has its name
        now = os.fstat(rest.stream.fileno())
        self.logs[str(rest.path.resolve())] = SeenLog(
            now.st_dev, now.st_ino, place, _mark(rest.stream, place.offset)
        )

    def _continued(self, path: Path, stream: BinaryIO, known: SeenLog) -> StreamPlace:
        if _mark(stream, known.place.offset) == known.mark:
            return known.place
        self.remarks.append(f"{path}: was written anew: it is read from its beginning")
        return StreamPlace()

    def _rotated(self, path: Path, known: SeenLog) -> Iterator[LogRest]:
        for entry in sorted(path.resolve().parent.iterdir()):
            try:
                found = entry.stat()
                same = (found.st_dev, found.st_ino) == (known.device, known.inode)
                if not same:
                    continue
                with entry.open("rb") as stream:
                    if _mark(stream, known.place.offset) == known.mark:
                        stream.seek(known.place.offset)
                        yield LogRest(entry, stream, known.place, held=False)
                        return
            except OSError:
                continue
        self.remarks.append(f"{path}: the log before it is gone: its end may be missing")


def _inode(stream: FileIO) -> int:
    return os.fstat(stream.fileno()).st_ino


def _cut_off(stream: FileIO, known: tuple[int, int]) -> None:
    """Take back what is behind the end that is known of an output, its inode and its size."""
    inode, size = known
    now = os.fstat(stream.fileno())
    if inode == now.st_ino and size < now.st_size:
        stream.truncate(size)


def _mark(stream: BinaryIO, offset: int) -> str:
    """What the bytes before a place are, in short; nothing equals those of a shorter file."""
    data = os.pread(stream.fileno(), min(offset, _MARK), max(offset - _MARK, 0))
    return hashlib.sha256(data).hexdigest() if len(data) == min(offset, _MARK) else ""


def _entry(seen: SeenLog) -> dict[str, Any]:
    entry = asdict(seen)
    front = [(number, line.decode("latin-1")) for number, line in seen.place.front]
    entry["place"]["front"] = front
    return entry


def _seen(entry: dict[str, Any]) -> SeenLog:
    place = entry["place"]
    front = tuple((int(number), line.encode("latin-1")) for number, line in place["front"])
    return SeenLog(
        int(entry["device"]), int(entry["inode"]),
        StreamPlace(int(place["offset"]), int(place["line"]), tuple(place["columns"]),
              str(place["delimiter"]), front),
        str(entry["mark"]),
    )  # fmt: skip
