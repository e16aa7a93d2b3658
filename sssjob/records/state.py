"""How far growing logs were read, so that the next run goes on from there. # decision 105

Strategy. A log grows, is rotated and compressed, and a run may be killed at any moment; each record
has to become one document all the same, and the output and what is remembered are two files.

The idea is that a state file decides. It knows, for each log, how many bytes of it became
documents, and what these bytes ended with; and how long the output was then. The output is written
first and the state last, in one rename. What a file is, its bytes say and not its name: a log that
was renamed, copied or compressed goes on behind the bytes that are known. What was rotated away,
as its name says, and is not known is read whole, oldest first.

Why it is right: a run that finds more output than the state knows cuts it off. It is what a run
wrote that was killed, and is written again from the same bytes. A log is known before the first of
it is read. So each byte of it is in a file that goes on from what is known, or in one that is
unknown, or that file is gone; and who looks for what is known sees that it is gone.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from sssjob import json_text, outputs
from sssjob.document import files
from sssjob.document.sources import naming
from sssjob.errors import UnreadableDocument, UnusableInput
from sssjob.records.cutting import StreamPlace
from sssjob.records.record import NamedColumns

_VERSION = 2
_MARK = 1024  # bytes before a place that tell a file from another one
_CHUNK = 1 << 16
_GONE = 1000  # files that are gone, and known all the same: a name may be away for a moment
# What is behind the name of a log, or before its last dot, where it was rotated: .1, -20261127.
_TURN = r"[._-](?:[0-9][0-9TWZ:._+-]*|old|prev)"
_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst|Z|lz|lz4|lzma|lzo|zip|br)$")

# What becomes of a file: it is not read whole yet, or it is, or it is not to be read.
OPEN, ENDED, UNREAD = "open", "ended", "unread"


@dataclass(frozen=True, slots=True)
class SeenLog:
    """A file of the log ``name`` as it was left: how far it was read, and what tells it.

    That is the ``mark`` of the bytes before ``at``, or ``packed``, of a file as it stands that is
    compressed or cannot be read; of one without bytes it is the inode.
    """

    name: str
    device: int
    inode: int
    place: StreamPlace
    at: int
    mark: str
    fate: str
    packed: str = ""


class LogRest(NamedTuple):
    """What is new of a log: a stream at its place, and what becomes of the file when it is read."""

    name: str
    path: Path
    stream: BinaryIO
    place: StreamPlace
    fate: str
    packed: str = ""
    known: tuple[SeenLog, ...] = ()

    @property
    def held(self) -> bool:
        """Whether it may still grow."""
        return self.fate == OPEN

    @contextmanager
    def unpacked(self, raw: BinaryIO) -> Iterator[BinaryIO]:
        """Its bytes from the place on. Raises ``UnreadableDocument`` where they are damaged."""
        if not self.packed:
            yield raw
            return
        with naming(str(self.path)), files.opened(raw) as stream:
            _marks(stream, {self.place.offset})  # which reads up to there
            yield stream


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
    """What is known of logs and of the output.

    ``remarks`` is what a person should know, ``losses`` what may be missing in the output.
    """

    path: Path
    output: tuple[int, int] = (0, 0)  # inode and size
    logs: list[SeenLog] = field(default_factory=list)
    watched: set[str] = field(default_factory=set)  # names of logs, beside which all is known
    remarks: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    _before: list[SeenLog] = field(default_factory=list)  # as the last run left it
    _met: set[SeenLog] = field(default_factory=set)
    _kept: dict[BinaryIO, SeenLog] = field(default_factory=dict)  # of the file that is read now

    @classmethod
    def read(cls, path: Path) -> LogsState:
        """Read a state file; one that is not there yet knows nothing. Raises ``UnusableInput``."""
        try:
            data = json_text.kept(path.read_bytes())
            if data["version"] == 1:  # which knew one file of each log, and none beside it
                logs = [_seen(_of_version_1(*each)) for each in data["logs"].items()]
                watched = []
            elif data["version"] == _VERSION:
                logs = list(map(_seen, data["logs"]))
                watched = [str(name) for name in data["watched"]]
            else:
                raise ValueError(data["version"])
            inode, size = data["output"]
            return cls(path, (int(inode), int(size)), logs, set(watched))
        except FileNotFoundError:
            return cls(path)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UnusableInput(f"{path} is no state file of sssjob convert") from None

    def save(self) -> None:
        """Write the state, whole or not at all."""
        data = {
            "version": _VERSION,
            "output": self.output,
            "watched": sorted(self.watched),
            "logs": list(map(_entry, self.logs)),
        }
        with outputs.writing(self.path) as stream:
            stream.write(json.dumps(data, indent=1).encode() + b"\n")

    @contextmanager
    def appending(
        self, output: Path, tail: bytes = b"", ends: tuple[bytes, ...] = (b"\n",)
    ) -> Iterator[Output]:
        """The output at the place where the state knows its end; committed if all goes well.

        Else it ends where the state knows its end again. A ``tail`` stands behind that in the
        output and is not known to the state, so that the next run cuts it off. What stands there
        has one of ``ends``, so that nothing is appended to half a record. Raises
        ``UnusableInput`` where it has none or another run is at work, and ``OSError``.
        """
        if not output.exists():  # it was moved away, and a new file may have its inode
            self.output = 0, 0
        elif not output.is_file():
            raise UnusableInput(f"{output} is no regular file, to which --state could append")
        with output.open("ab+", buffering=0) as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnusableInput(f"another run is writing {output}") from None
            self._recognise(output, stream, () if tail else ends, ends)
            _cut_off(stream, self.output)
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

    def _recognise(
        self, output: Path, stream: FileIO, changed: tuple[bytes, ...], ours: tuple[bytes, ...]
    ) -> None:
        """Say where the output is not as the last run left it.

        Raises ``UnusableInput`` where nothing can be appended to it: where it has none of the ends
        that are asked for of what ``changed``, or of what is ``ours``.
        """
        inode, known = self.output
        now = os.fstat(stream.fileno())
        said, ends, at = "is not as the last run left it", ours, known
        if inode != now.st_ino:
            said, ends, at = f"was not written by --state {self.path}", changed, now.st_size
        elif now.st_size < known:
            said, ends, at = "is shorter than the last run left it", changed, now.st_size
        if at and not _bytes_before(stream, at).endswith(ends):
            where = ", and ends within a record" if ends else ""
            raise UnusableInput(
                f"{output} {said}{where}: nothing can be appended to it; put back what it was, or "
                "move it away, and the next run begins a new file with what is new"
            )
        if inode == now.st_ino and now.st_size < known:
            self.losses.append(f"{output}: {said}: what is gone is not written again")
        elif inode != now.st_ino and at:
            self.remarks.append(f"{output} {said}: what is new is appended to what stands there")

    def commit(self, stream: Output) -> None:
        """Make what was appended so far count, with the places that are kept."""
        self.output = stream.place()
        self.save()

    def watch(self, paths: Iterable[Path]) -> None:
        """Know logs before the first of them is read, and what was rotated before that.

        Raises ``OSError``, and ``UnusableInput`` for a compressed file, which does not grow.
        """
        sources = list(paths)
        for path in sources:
            name = os.path.abspath(path)
            with path.open("rb") as stream:
                if _is_compressed(stream):
                    raise UnusableInput(f"{path} is compressed: such a file does not grow")
                if name in self.watched:
                    continue
                if not self._fitting(stream, ""):
                    size = os.fstat(stream.fileno()).st_size
                    self.logs.append(_left(name, stream, size, fate=OPEN))
            left = [each.name for each in self._older(path, sources) if self._leave(name, each)]
            if left:
                self.remarks.append(
                    f"{path}: was rotated before it was read for the first time: what stands in "
                    f"{', '.join(left)} is not read"
                )
        self.watched |= {os.path.abspath(path) for path in sources}
        self._before = list(self.logs)

    def rests(self, path: Path, sources: Iterable[Path] = ()) -> Iterator[LogRest]:
        """What is new of a log: of what was rotated away, oldest first, then of the log itself.

        Other ``sources`` are no part of it. Raises ``OSError``.
        """
        name = os.path.abspath(path)
        for each in self._older(path, sources):
            yield from self._rest_of(name, each)
        with path.open("rb") as stream:
            known = self._fitting(stream, "")
            self._met.update(known)
            place = known[-1].place if known else StreamPlace()
            stream.seek(place.offset)
            yield LogRest(name, path, stream, place, OPEN, known=known)

    def keep(self, rest: LogRest, place: StreamPlace, fate: str) -> None:
        """Remember how far a log was read. It counts from the next ``commit`` on.

        Raises ``OSError`` where the log has lost what was read of it.
        """
        seen = _left(rest.name, rest.stream, place.offset, fate, place, rest.packed)
        if rest.packed:
            mark = _marks_within(rest.stream, {place.offset}).get(place.offset, "")
            seen = replace(seen, mark=mark)
        if not seen.mark:
            raise OSError(errno.ESTALE, "the log was cut off while it was read", str(rest.path))
        file = (seen.device, seen.inode)
        # What was read whole may be known of another file that has the same bytes: it stays.
        gone = {e for e in rest.known if e.fate == OPEN or (e.device, e.inode) == file}
        gone.update(filter(None, [self._kept.get(rest.stream)]))
        self.logs = [each for each in self.logs if each not in gone and each != seen]
        self.logs.append(seen)
        self._kept = {rest.stream: seen}
        self._met.add(seen)

    def end(self, paths: Iterable[Path]) -> None:
        """Tell of logs that were not read whole and are gone, and forget most of what is gone."""
        ours = {os.path.abspath(path): path for path in paths}
        missed = [each for each in self._before if each.name in ours and each not in self._met]
        for each in missed:
            if each.fate == OPEN and (each.at or not self._has_met(each.name)):
                self.losses.append(_loss(ours[each.name], each))
        old = [replace(each, fate=ENDED) if each.fate == OPEN else each for each in missed]
        rest = [each for each in self.logs if each not in missed]
        self.logs = old[-_GONE:] + rest

    def _has_met(self, name: str) -> bool:
        return any(each.name == name and each in self._met for each in self._before)

    def _older(self, path: Path, sources: Iterable[Path]) -> list[Path]:
        """Files beside a log that it was rotated to, as their names or inodes say; oldest first."""
        name = os.path.abspath(path)
        stem, dot, ending = path.name.rpartition(".")
        whole = re.escape(path.name) + _TURN
        parts = f"{re.escape(stem)}{_TURN}{re.escape(dot + ending)}" if stem else whole
        turned = re.compile(f"(?:{whole}|{parts})(?:{_PACKED.pattern[:-1]})?")
        others = {os.path.realpath(each) for each in (path, *sources)}
        found = {}
        for folder in {os.path.dirname(name), os.path.dirname(os.path.realpath(path))}:
            for each, status in _regular_files(folder):
                if str(each) not in others and (
                    turned.fullmatch(each.name) or self._is_renamed(name, each, status)
                ):
                    found[each] = _age(each.name, status)
        return sorted(found, key=found.__getitem__)

    def _is_renamed(self, name: str, path: Path, status: os.stat_result) -> bool:
        """Whether a file, whatever it is called, is the log that was read last."""
        same = [each for each in self.logs
                if each.name == name and each.fate == OPEN and each.at
                and (each.device, each.inode) == (status.st_dev, status.st_ino)]  # fmt: skip
        if not same:
            return False
        with _opened(path) as stream:
            return stream is not None and any(_fits(stream, each) for each in same)

    def _leave(self, name: str, path: Path) -> bool:
        """Know a file that was there before its log was read, and is not to be read."""
        with _opened(path) as stream:
            packed = _packed(stream, path) if stream else ""
            if stream is None or packed == _STRANGE:
                self.logs.append(_shut(name, path))
                return True
            size = os.fstat(stream.fileno()).st_size
            is_read = any(each.name == name and each.place.offset for each in self.logs)
            if not size or ((is_read or not packed) and self._fitting(stream, packed)):
                return False
            self.logs.append(_left(name, stream, 0 if packed else size, UNREAD, packed=packed))
            return True

    def _rest_of(self, name: str, path: Path) -> Iterator[LogRest]:
        """What is new of a file that a log was rotated to, if anything is."""
        with _opened(path) as stream:
            packed = _packed(stream, path) if stream else ""
            if stream is None or packed == _STRANGE:
                self._miss(name, path)
                return
            if packed and path.with_suffix("").exists() and not _is_whole(stream):
                return  # it is being compressed just now
            known = self._fitting(stream, packed)
            self._met.update(known)
            if not known and not os.fstat(stream.fileno()).st_size:
                return
            place = known[-1].place if known else StreamPlace()
            if known and known[-1].fate != OPEN and self._is_over(known[-1], stream, packed):
                return
            stream.seek(0 if packed else place.offset)
            yield LogRest(name, path, stream, place, ENDED, packed, known)

    def _is_over(self, known: SeenLog, stream: BinaryIO, packed: str) -> bool:
        """Whether there is nothing more to read in a file that was read, or is not to be read."""
        if known.fate == UNREAD and known.packed != packed:
            now = os.fstat(stream.fileno())
            both = replace(known, device=now.st_dev, inode=now.st_ino, packed=packed)
            self.logs = [both if each == known else each for each in self.logs]
            self._met.add(both)
        if packed:
            return known.fate == UNREAD or known.packed == packed
        return known.fate == UNREAD or os.fstat(stream.fileno()).st_size == known.place.offset

    def _miss(self, name: str, path: Path) -> None:
        """Tell once of a file that cannot be read."""
        seen = _shut(name, path)
        if seen not in self.logs:
            self.losses.append(
                f"{path}: cannot be read, and its records may be missing: a rotated log that can "
                "be read, as it is or compressed with gzip, bzip2, xz or zstd, was expected"
            )
            self.logs.append(seen)
        self._met.add(seen)

    def _fitting(self, stream: BinaryIO, packed: str) -> tuple[SeenLog, ...]:
        """What is known of a file, by its bytes; last what tells most of it."""
        known = {*self.logs, *self._before}
        now = os.fstat(stream.fileno())
        same = {each for each in known if (each.device, each.inode) == (now.st_dev, now.st_ino)}
        if packed:
            found = [each for each in known if each.packed == packed]
            if not found:
                marks = _marks_within(stream, {each.at for each in known})
                found = [each for each in known if each.at and marks.get(each.at) == each.mark]
            ends = {(each.at, each.mark) for each in found if each.at}
            found += [each for each in known - {*found} if (each.at, each.mark) in ends]
        elif is_as_left := [  # as most are that were rotated long ago
            each for each in same
            if each.fate != OPEN and each.at == now.st_size and _fits(stream, each)
        ]:  # fmt: skip
            return tuple(is_as_left)
        else:
            found = [
                each for each in known
                if (_fits(stream, each) if each.at else not each.packed and each in same)
            ]  # fmt: skip
        return tuple(sorted(found, key=lambda each: (each.place.offset, each.at)))


_STRANGE = "?"  # compressed as nothing that is read


def _fits(stream: BinaryIO, seen: SeenLog) -> bool:
    """Whether a file has the bytes by which another one is known."""
    return _mark(stream, seen.at) == seen.mark


def _loss(path: Path, seen: SeenLog) -> str:
    return (
        f"{path}: was written anew, or the log before it is gone: no file beside it goes on from "
        f"line {seen.place.line}, up to which it was read, and its end may be missing"
    )


def _regular_files(folder: str) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of a directory; of one that cannot be listed none, so that a log is missed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # it was renamed just now
                if entry.is_file(follow_symlinks=False):
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def _age(name: str, status: os.stat_result) -> tuple[int, list[int]]:
    """What sorts rotated logs, oldest first: .2 is older than .1, -20261127 than -20261128."""
    numbers = map(int, re.findall("[0-9]{1,18}", name))
    return status.st_mtime_ns, [-each if each < 10_000 else each for each in numbers]


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO | None]:
    """A file, or None where it may not be read."""
    try:
        stream = path.open("rb")
    except OSError:
        yield None
        return
    with stream:
        yield stream


def _is_compressed(stream: BinaryIO) -> bool:
    return os.pread(stream.fileno(), 8, 0).startswith(files.COMPRESSED)


def _packed(stream: BinaryIO, path: Path) -> str:
    """What tells a compressed file, which ends with sums of what it holds; else ""."""
    size = os.fstat(stream.fileno()).st_size
    if not _is_compressed(stream):
        return _STRANGE if size and _PACKED.search(path.name) else ""
    return f"{size} {_mark(stream, size)}"


def _is_whole(stream: BinaryIO) -> bool:
    """Whether all that a compressed file holds can be read."""
    stream.seek(0)
    try:
        with files.opened(stream) as inner:
            while inner.read(_CHUNK):
                pass
    except UnreadableDocument:
        return False
    return True


def _shut(name: str, path: Path) -> SeenLog:
    """A file that cannot be read, as it stands."""
    now = path.stat()
    told = f"shut {now.st_size} {now.st_mtime_ns}"
    return SeenLog(name, now.st_dev, now.st_ino, StreamPlace(), 0, "", UNREAD, told)


def _left(
    name: str, stream: BinaryIO, at: int, fate: str, place: StreamPlace | None = None,
    packed: str = "",
) -> SeenLog:  # fmt: skip
    now = os.fstat(stream.fileno())
    mark = "" if packed else _mark(stream, at)
    return SeenLog(name, now.st_dev, now.st_ino, place or StreamPlace(), at, mark, fate, packed)


def _cut_off(stream: FileIO, known: tuple[int, int]) -> None:
    """Take back what is behind the end that is known of an output, its inode and its size."""
    inode, size = known
    now = os.fstat(stream.fileno())
    if inode == now.st_ino and size < now.st_size:
        stream.truncate(size)


def _mark(stream: BinaryIO, offset: int) -> str:
    """What the bytes before a place are, in short; nothing equals those of a shorter file."""
    data = _bytes_before(stream, offset)
    return hashlib.sha256(data).hexdigest() if len(data) == min(offset, _MARK) else ""


def _bytes_before(stream: BinaryIO | FileIO, offset: int) -> bytes:
    return os.pread(stream.fileno(), min(offset, _MARK), max(offset - _MARK, 0))


def _marks(stream: BinaryIO, places: Iterable[int]) -> dict[int, str]:
    """The same at places of a stream, which is read up to the last of them, or to its end."""
    marks: dict[int, str] = {}
    tail, here = b"", 0
    for place in sorted(places):
        while here < place:
            piece = stream.read(min(place - here, _CHUNK))
            if not piece:
                return marks
            here += len(piece)
            tail = (tail + piece)[-_MARK:]
        marks[place] = hashlib.sha256(tail).hexdigest()
    return marks


def _marks_within(stream: BinaryIO, places: Iterable[int]) -> dict[int, str]:
    """The same of what a compressed file holds. Raises ``UnreadableDocument``."""
    stream.seek(0)
    with naming(stream.name), files.opened(stream) as inner:
        return _marks(inner, places)


def _entry(seen: SeenLog) -> dict[str, Any]:
    entry = asdict(seen)
    front = [(number, line.decode("latin-1")) for number, line in seen.place.front]
    entry["place"]["front"] = front
    return entry


def _of_version_1(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "name": name, "at": entry["place"]["offset"], "fate": OPEN, "packed": ""}


def _earlier(place: dict[str, Any]) -> tuple[NamedColumns, ...]:
    found = place.get("earlier", [])  # which former versions do not write
    return tuple(NamedColumns(tuple(names), str(delimiter)) for names, delimiter in found)


def _seen(entry: dict[str, Any]) -> SeenLog:
    place = entry["place"]
    front = tuple((int(number), line.encode("latin-1")) for number, line in place["front"])
    if entry["fate"] not in (OPEN, ENDED, UNREAD):
        raise ValueError(entry["fate"])
    return SeenLog(
        str(entry["name"]), int(entry["device"]), int(entry["inode"]),
        StreamPlace(int(place["offset"]), int(place["line"]), tuple(place["columns"]),
              str(place["delimiter"]), front, _earlier(place)),
        int(entry["at"]), str(entry["mark"]), str(entry["fate"]), str(entry["packed"]),
    )  # fmt: skip
