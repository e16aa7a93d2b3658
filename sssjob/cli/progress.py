"""How far the reading of a long input has come, on standard error when that is a terminal."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from sssjob.document.sources import NamedSource

_PATIENCE = 1.0  # seconds before anything is shown


@contextmanager
def watched(
    source: Path | BinaryIO, label: str, on_bytes: Callable[[int], None] | None = None
) -> Iterator[BinaryIO]:
    """The bytes of a file or stream; after a second, a line says how many were read of how many.

    ``on_bytes`` is told the number of bytes so far, after each read.
    """
    if isinstance(source, Path):
        from sssjob.document.files import raw

        with raw(source, buffering=0) as file, watched(file, label, on_bytes) as stream:
            yield stream
        return
    with _ProgressBar(label, _rest(source)) as bar:

        def tell(count: int) -> None:
            bar.show(count)
            if on_bytes is not None:
                on_bytes(count)

        yield io.BufferedReader(_CountingStream(source, tell), 1 << 16)


@contextmanager
def watching(source: NamedSource) -> Iterator[BinaryIO]:
    """The bytes of a source, watched: how verbs open what a person waits for."""
    with watched(source.given, source.name) as stream:
        yield stream


@contextmanager
def counting(label: str, unit: str = "documents") -> Iterator[Callable[[int], None]]:
    """Something that is told how many are done; after a second, a line says so."""
    with _ProgressBar(label, None, unit) as bar:
        yield bar.show


def _rest(source: BinaryIO) -> int | None:
    """How many bytes are still to come, if the stream knows."""
    if not source.seekable():
        return None
    here = source.tell()
    rest = source.seek(0, io.SEEK_END) - here
    source.seek(here)
    return rest or None


class _CountingStream(io.RawIOBase):
    """A stream that tells how many bytes went through it."""

    def __init__(self, stream: BinaryIO, tell: Callable[[int], None]) -> None:
        self._stream = stream
        self._tell = tell
        self._count = 0

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        """The file that is read, as far as the stream knows."""
        return self._stream.fileno()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        read = cast(Callable[[memoryview], int], getattr(self._stream, "readinto"))  # noqa: B009
        size = read(buffer) or 0
        self._count += size
        self._tell(self._count)
        return size


class _ProgressBar:
    """A line that appears when the work takes long, and goes when it is done."""

    def __init__(self, label: str, total: int | None, unit: str = "") -> None:
        self._label = label
        self._unit = unit  # what is counted, unless it is bytes
        self._total = total
        self._due = time.monotonic() + _PATIENCE if sys.stderr.isatty() else None
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> _ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, count: int) -> None:
        if self._progress is None:
            if self._due is None or time.monotonic() < self._due:
                return
            self._progress = _progress(self._unit)
            self._task = self._progress.add_task(self._label, total=self._total, speed="")
            self._progress.start()
        assert self._task is not None
        now = speed(self._progress.tasks[0].speed)
        self._progress.update(self._task, completed=count, speed=now)


def speed(bytes_a_second: float | None) -> str:
    """How fast bytes are read: ``1.5 MiB/s``; a question mark where nobody knows yet."""
    if not bytes_a_second:
        return "?"
    power = min(int(bytes_a_second).bit_length() - 1, 49) // 10
    if power <= 0:
        return f"{bytes_a_second:.0f} bytes/s"
    return f"{bytes_a_second / 1024**power:.1f} {' KMGT'[power]}iB/s"


def _progress(unit: str) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    counted = (TextColumn(f"{{task.completed}} {unit}"), TimeElapsedColumn())
    measured = (
        DownloadColumn(binary_units=True),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *(counted if unit else measured),
        console=Console(stderr=True),
        transient=True,
        # Results on the same terminal go above the line; in a pipe they are none of its business.
        redirect_stdout=sys.stdout.isatty(),
        redirect_stderr=False,
    )
