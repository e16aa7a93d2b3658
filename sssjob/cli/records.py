"""Records from what the user named: their jobs, while what else becomes of them is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.records import Format, record

J = TypeVar("J")

FAULTS = 1000  # bad records that are listed


def format_of(name: str) -> Format:
    """The format of a name; one that is not known ends the command."""
    from sssjob.errors import UnusableInput
    from sssjob.records import find

    try:
        found = find(name)
        found.load()
    except UnusableInput as error:
        common.fail(error.reason)
    return found


class Said:
    """What was said of records: each bad one, and some notes only once.

    ``faults`` lists the first bad records; all of them are printed and counted.
    """

    def __init__(self) -> None:
        self.faults: list[dict[str, str | int]] = []
        self._told: set[str] = set()

    def __call__(self, name: str, item: record.Bad | record.Noted) -> None:
        """Print it, with its place."""
        from sssjob.records.record import Bad

        place = f"{name}:{item.line}"
        if isinstance(item, Bad):
            common.say(f"{place}: error: {item.reason}")
            if len(self.faults) < FAULTS:
                self.faults.append({"file": name, "line": item.line, "reason": item.reason})
        elif item.message not in self._told:
            self._told |= {item.message} if item.once else set()
            common.say(f"{place}: {item.severity}: {item.message}")


def jobs(
    files: tuple[str, ...],
    read: Callable[[BinaryIO], Iterator[record.Outcome[J]]],
    counts: record.Counts,
    said: Said | None = None,
) -> Iterator[J]:
    """The jobs of all files, or their texts; what else their records are is printed and counted."""
    from sssjob.cli.progress import watched
    from sssjob.document import opened
    from sssjob.errors import UnreadableDocument, UnusableInput
    from sssjob.records import record

    said = said or Said()
    for name, source in common.sources(files):
        try:
            with watched(source, name) as raw, opened(raw) as stream:
                for outcome in counts.counting(read(stream)):
                    if isinstance(outcome, record.Converted):
                        yield outcome.job
                    elif not isinstance(outcome, record.Skipped):
                        said(name, outcome)
        except UnusableInput as error:
            place = f"{name}:{error.line}" if error.line else name
            common.fail(f"{place}: {error.reason}")
        except UnreadableDocument as error:
            common.fail(error.finding.in_file(name))
