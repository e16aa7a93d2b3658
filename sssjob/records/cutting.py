"""What it takes to cut a stream of records: a part, a place in the stream, and who finds both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from sssjob.document.files import Span
from sssjob.records.record import Options, Skipped


class Moved(NamedTuple):
    """A record that is told of in a later part: here it only stands between others."""

    line: int


Settled = Mapping[int, Moved | Skipped]  # what becomes of lines, by their numbers


@dataclass(frozen=True, slots=True)
class Part:
    """Records that can be converted by themselves.

    ``front`` are lines from further up that belong to them, each with its number; ``line`` is the
    number of the first line of ``data``. ``settled`` are those of which is known what they become.
    """

    data: bytes | Span
    line: int
    options: Options
    front: tuple[tuple[int, bytes], ...] = ()
    settled: Settled = field(default_factory=dict)

    def read(self) -> bytes:
        """The records. Raises ``OSError`` where they are in a file that was changed."""
        return self.data.read() if isinstance(self.data, Span) else self.data


@dataclass(frozen=True, slots=True)
class StreamPlace:
    """How far a stream was cut: what a later run has to know to go on from there."""

    offset: int = 0
    line: int = 1
    columns: tuple[str, ...] = ()
    delimiter: str = ""
    front: tuple[tuple[int, bytes], ...] = ()


class Cutter(Protocol):
    """Finds boundaries; what a format's ``Cut`` names if its records can be cut."""

    def __init__(self, options: Options, front: tuple[tuple[int, bytes], ...] = ()) -> None: ...

    @property
    def options(self) -> Options:
        """The options for what comes next."""
        ...

    @property
    def front(self) -> tuple[tuple[int, bytes], ...]:
        """The lines, with their numbers, that belong to what comes next."""
        ...

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The part that the data begins with, and its bytes; None if its end is not there yet.

        ``final``: there is no more data than this.
        """
        ...


class LineCutter:
    """Cuts where a line ends, for formats of which each line is a record."""

    def __init__(self, options: Options, front: tuple[tuple[int, bytes], ...] = ()) -> None:
        self.options = options
        self.front = front

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The whole lines."""
        size = len(data) if final else data.rfind(b"\n") + 1
        return (Part(data[:size], line, self.options) if size else None), size
