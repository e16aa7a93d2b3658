"""``sssjob convert`` by several processes, and of logs that grow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sssjob.cli import common
from sssjob.cli.progress import watched
from sssjob.cli.signals import terminable
from sssjob.document import opened
from sssjob.errors import Severity, UnreadableDocument, UnusableInput
from sssjob.records import parts
from sssjob.records.parts import Cutting, Result
from sssjob.records.record import Bad, Counts, Noted, Options
from sssjob.records.state import State

COMMIT = 32  # parts of a growing log after which what was done counts: some seconds' work

Remark = Callable[[str, Bad | Noted], None]


class Work(NamedTuple):
    """What is to be done: by which format and options, by how many processes (0: by all cores)."""

    format: str
    options: Options
    jobs: int
    counts: Counts
    remark: Remark

    def results(self, name: str, cutting: Cutting, *, lines: bool) -> Iterator[Result]:
        """What the parts of a stream became; counts and remarks are passed on."""
        if cutting.sign:
            self.remark(name, Noted(1, cutting.sign, severity=Severity.NOTICE))
        for result in parts.converted(cutting, self.jobs or cores(), lines=lines):
            self.counts.include(result.counts)
            for item in result.remarks:
                self.remark(name, item)
            yield result


def cores() -> int:
    """How many processes can work at once here."""
    return len(os.sched_getaffinity(0))


def converted(work: Work, files: tuple[str, ...], output: str | None, wrap: str) -> None:
    """Write the documents of all files, one on each line, or in one whose root is ``wrap``."""
    with common.output(output) as stream:
        if wrap:
            stream.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<{wrap}>\n'.encode())
        stream.writelines(_documents(work, files, lines=not wrap))
        if wrap:
            stream.write(f"</{wrap}>\n".encode())


def _documents(work: Work, files: tuple[str, ...], *, lines: bool) -> Iterator[bytes]:
    """The documents of all files."""
    for name, source in common.sources(files):
        try:
            with watched(source, name) as raw, opened(raw) as stream:
                cutting = Cutting(stream, work.format, work.options)
                for result in work.results(name, cutting, lines=lines):
                    yield result.data
        except UnusableInput as error:
            common.fail(
                f"{name}:{error.line}: {error.reason}" if error.line else f"{name}: {error}"
            )
        except UnreadableDocument as error:
            common.fail(error.finding.in_file(name))


def grown(work: Work, files: tuple[str, ...], state_file: str, output: str) -> None:
    """Append the documents of what is new in growing logs to a file.

    Raises ``OSError``, and ``UnusableInput`` where that cannot be done without losing any.
    """
    if work.format == "auto":
        raise UnusableInput("--state needs the format's name: what is new may not tell it")
    state = State.read(Path(state_file))
    with ExitStack() as stack:
        stack.enter_context(terminable())
        stream: BinaryIO = stack.enter_context(state.appending(Path(output)))
        for file in files:
            for rest in state.rests(Path(file)):
                name = str(rest.path)
                with watched(rest.stream, name) as raw:
                    cutting = Cutting(raw, work.format, work.options, rest.place, held=rest.held)
                    for number, result in enumerate(work.results(name, cutting, lines=True), 1):
                        stream.write(result.data)
                        if not number % COMMIT and rest.held and result.place:
                            state.keep(rest, result.place)
                            state.commit(stream)
                state.keep(rest, cutting.place)
    for text in state.remarks:
        common.say(f"warning: {text}")
