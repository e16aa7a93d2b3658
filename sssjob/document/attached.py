"""The Files that the job objects of a stream name, looked for when one of them does.

A File stands beside its job, and mostly behind it. So where a job names one, what is left of its
source is read and kept, before the next job is. Nobody else waits, or holds more than a batch.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import BinaryIO, cast

from sssjob import executable
from sssjob.document import reader
from sssjob.document.bundle import MessageFile, messages, seconds, written
from sssjob.document.outermost import Wanted
from sssjob.errors import Finding, InvalidValue, LimitExceeded, Severity
from sssjob.executable import ExecutableKind
from sssjob.model import Block, paths

Every = Mapping[str, Sequence[MessageFile]]  # all Files of each id, that which is meant first

_NOWHERE: tuple[list[int], list[deque[Every]]] = ([], [])
LIMIT = 16 << 20  # bytes of a source in which Files are looked for
GIVEN = 16 << 20  # bytes of Files that are written beside the job objects of a source, or
GIVEN_FOR_EACH = 100  # for each byte of the source, if that is more


def message(text: str, files: Sequence[MessageFile], *, indent: bool = False) -> str:
    """The text of a job object with the Files that it names beside it, if it names any."""
    if not files:
        return text
    return ("\n" if indent else "").join(("<Data>", text, *map(written, files), "</Data>"))


class FileBudget:
    """How many bytes of Files are written beside the job objects of a source, where each that names
    one gets it: so much for each byte that was ``read`` of the source. # decision 1104
    """

    def __init__(self) -> None:
        self.read = self._written = 0

    def take(self, size: int) -> None:
        """So much more is written. Raises ``LimitExceeded`` where that would be too much."""
        most = max(GIVEN, GIVEN_FOR_EACH * self.read)
        if self._written + size > most:
            what = "MiB of Files beside the job objects of a source of this size"
            raise LimitExceeded(what, most >> 20)
        self._written += size


def left_out(name: str, id_: str, error: LimitExceeded) -> str:
    """What is told of a job object that is written without its Files."""
    return f"Files that {name} {id_} names are left out: {error}"


class Attached:
    """The Files of a stream of documents, which is read by way of ``stream``."""

    def __init__(self, stream: BinaryIO) -> None:
        self._kept = _RecordingStream(stream)
        self._told = RepeatedId()
        self._budget = FileBudget()
        self.stream = cast(BinaryIO, self._kept)

    def of(self, block: Block, *, read: Block | None = None) -> list[MessageFile]:
        """The Files that a job object names, as far as its message has them.

        Where several have one id, all are given, that which is meant first. It may be made of the
        one that was ``read``. Raises ``LimitExceeded`` where the source is too large to look for
        them.
        """
        return named(block, self._seen_by(read or block)) if any(files_named(block)) else []

    def given(self, files: Sequence[MessageFile]) -> Sequence[MessageFile]:
        """Files of a job object that are written beside it, as beside all others that name them.

        Raises ``LimitExceeded`` where that would be far more than was read.
        """
        self._budget.read = self._kept.size
        self._budget.take(sum(len(file.content) for file in files))
        return files

    def told(self, files: Iterable[MessageFile]) -> Iterator[Finding]:
        """What is to be told of Files that were given, each once."""
        return self._told(files)

    def _seen_by(self, block: Block) -> Every:
        """The Files of its message; where one line holds the same job object twice, in turn."""
        lines, seen = self._messages.get(block, _NOWHERE)
        if not lines:
            return {}
        # libxml2 counts no more than 65 535 lines of a document: the last one before it, then.
        found = seen[max(bisect_right(lines, block.line) - 1, 0)]
        return found.popleft() if len(found) > 1 else found[0]

    @cached_property
    def _messages(self) -> Mapping[Block, tuple[list[int], list[deque[Every]]]]:
        """The lines of each job object, and the Files that it sees on each."""
        data = io.BytesIO(self._kept.all())
        found: dict[Block, tuple[list[int], list[deque[Every]]]] = {}
        # Who reads the jobs tells what cannot be read.
        every = reader.documents(data, on_error=lambda error: None, wanted=Wanted.DOCUMENTS)
        for root, offset in every:
            for each in messages(root, offset=offset):
                for block in each.blocks:
                    lines, seen = found.setdefault(block, ([], []))
                    if not lines or lines[-1] != block.line:
                        lines.append(block.line)
                        seen.append(deque())
                    seen[-1].append(each.every)
        return found


def named(block: Block, every: Every) -> list[MessageFile]:
    """Of the Files of its message those that a job object names."""
    wanted = dict.fromkeys(files_named(block))
    return [file for id_ in wanted for file in every.get(id_, ())]


class RepeatedId:
    """That several of the ``named`` Files have one id, told once of Files that are held."""

    def __init__(self) -> None:
        self._of: dict[int, MessageFile] = {}

    def __call__(self, files: Iterable[MessageFile]) -> Iterator[Finding]:
        """What is to be told of some, and was not yet."""
        new = {id(file): file for file in files if id(file) not in self._of}
        self._of |= new
        return doubled(new.values())


def doubled(files: Iterable[MessageFile]) -> Iterator[Finding]:
    """That several of the ``named`` Files have one id. A warning: the work goes on with the first.

    ``validate`` says that it is an error.
    """
    for _, same in groupby(files, attrgetter("id")):
        for found in seconds(list(same)):
            yield replace(found, severity=Severity.WARNING)


def files_named(block: Block) -> Iterator[str]:
    """The ids of the Files that the executables of a block name, and of those below it."""
    for item in block.properties.all("Executable"):
        try:
            named = executable.executable(item.text)
        except InvalidValue:
            continue
        if named.kind is ExecutableKind.FILE:
            yield named.target
    for _, inner in paths(block):
        yield from files_named(inner)


class _RecordingStream(io.RawIOBase):
    """A stream that keeps what was read of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._data = bytearray()
        self._at = 0  # how much of it was given
        self._is_large = False
        self.size = 0  # of what was read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = len(buffer)
        if not (data := bytes(self._data[self._at : self._at + size])):
            read = getattr(self._stream, "read1", self._stream.read)  # what is there, at once
            data = read(size)
            self.size += len(data)
            self._keep(data)
        if not self._is_large:
            self._at += len(data)
        buffer[: len(data)] = data
        return len(data)

    def all(self) -> bytes:
        """Everything from the first byte on. Raises ``LimitExceeded``."""
        while not self._is_large and (data := self._stream.read(1 << 18)):
            self.size += len(data)
            self._data += data
            if len(self._data) > LIMIT:
                break
        if self._is_large or len(self._data) > LIMIT:
            raise LimitExceeded("MiB of a source in which Files are looked for", LIMIT >> 20)
        return bytes(self._data)

    def _keep(self, data: bytes) -> None:
        if self._is_large:
            return
        self._data += data
        if len(self._data) > LIMIT:
            self._is_large = True
            self._data.clear()
