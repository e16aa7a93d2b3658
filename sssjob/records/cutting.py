"""What it takes to cut a stream of records: a part, a place in the stream, and who finds both."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from sssjob.document.files import ByteRange
from sssjob.records.record import NamedColumns, Options, Skipped


class Moved(NamedTuple):
    """A record that is told of in a later part: here it only stands between others."""

    line: int


_HEAD = 1 << 14  # bytes that tell what a stream holds

Settled = Mapping[int, Moved | Skipped]  # what becomes of lines, by their numbers


class GuessedPart(NamedTuple):
    """That a part stands alone, as nobody looked at its records yet.

    ``sure``: no record behind it belongs to one within; ``final``: there is none.
    """

    sure: bool
    final: bool


class NotAlone(Exception):
    """Records of a part belong to others outside it, against what was guessed."""


@dataclass(frozen=True, slots=True)
class Part:
    """Records that can be converted by themselves, unless that is a ``guess``.

    ``front`` are lines from further up that belong to them, each with its number; ``line`` is the
    number of the first line of ``data``. ``settled`` are those of which is known what they become.
    ``is_open``: more of the stream follows, and whether the part ends where a record does is seen
    when it is read. Of what is not cut by its bytes there are ``pieces``, as the format finds them.
    """

    data: bytes | ByteRange
    line: int
    options: Options
    front: tuple[tuple[int, bytes], ...] = ()
    settled: Settled = field(default_factory=dict)
    guess: GuessedPart | None = None
    is_open: bool = False
    pieces: Sequence[Any] = ()

    @property
    def size(self) -> int:
        """How many bytes they are; 0 of pieces."""
        return self.data.size if isinstance(self.data, ByteRange) else len(self.data)

    @property
    def whole(self) -> int:
        """How many bytes their stream has, as far as that is known here."""
        return self.data.whole if isinstance(self.data, ByteRange) else self.size

    def read(self) -> bytes:
        """The records. Raises ``OSError`` where they are in a file that was changed."""
        return self.data.read() if isinstance(self.data, ByteRange) else self.data


@dataclass(frozen=True, slots=True)
class StreamPlace:
    """How far a stream was cut: what a later run has to know to go on from there."""

    offset: int = 0
    line: int = 1
    columns: tuple[str, ...] = ()
    delimiter: str = ""
    front: tuple[tuple[int, bytes], ...] = ()
    earlier: tuple[NamedColumns, ...] = ()


class PartStream(io.BytesIO):
    """The bytes of a part; ``is_open``: more of its stream follows, which is not here."""

    def __init__(self, data: bytes, *, is_open: bool = False) -> None:
        super().__init__(data)
        self.head = beginning(data)
        self.is_open = is_open


class OpenStream(Protocol):
    """The bytes of a part, or of all that is left of its stream, which may be open, too."""

    head: bytes
    is_open: bool

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many; none at the end."""
        ...


def beginning(data: bytes) -> bytes:
    """What tells what a stream holds."""
    return data[:_HEAD]


Front = tuple[tuple[int, bytes], ...]  # lines with their numbers


class Cutter(Protocol):
    """Finds boundaries; what a format's ``Cut`` names if its records can be cut."""

    def __init__(self, options: Options, front: Front = ()) -> None: ...

    @property
    def options(self) -> Options:
        """The options for what comes next."""
        ...

    @property
    def front(self) -> Front:
        """The lines, with their numbers, that belong to what comes next."""
        ...

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The part that the data begins with, and its bytes; None if its end is not there yet.

        ``final``: there is no more data than this.
        """
        ...


NewCutter = Callable[[Options, Front], Cutter]  # what gives one for each stream


class LineCutter:
    """Cuts where a line ends, for formats of which each line is a record."""

    def __init__(self, options: Options, front: Front = ()) -> None:
        self.options = options
        self.front = front

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The whole lines."""
        size = len(data) if final else data.rfind(b"\n") + 1
        part = Part(data[:size], line, self.options, self.front) if size else None
        return part, size
