"""Records from what the user named: their jobs, while what else becomes of them is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.accounting import Format, record

J = TypeVar("J")


def format_of(name: str) -> Format:
    """The format of a name; one that is not known ends the command."""
    from sssjob.accounting import find
    from sssjob.errors import UnusableInput

    try:
        found = find(name)
        found.load()
    except UnusableInput as error:
        common.fail(error.reason)
    return found


def jobs(
    files: tuple[str, ...],
    read: Callable[[BinaryIO], Iterator[record.Outcome[J]]],
    counts: record.Counts,
) -> Iterator[J]:
    """The jobs of all files, or their texts; what else their records are is printed and counted."""
    from sssjob.accounting import record
    from sssjob.cli.progress import watched
    from sssjob.document import opened
    from sssjob.errors import UnreadableDocument, UnusableInput

    told: set[str] = set()
    for name, source in common.sources(files):
        try:
            with watched(source, name) as raw, opened(raw) as stream:
                for outcome in counts.counting(read(stream)):
                    if isinstance(outcome, record.Converted):
                        yield outcome.job
                    elif isinstance(outcome, record.Bad):
                        common.say(f"{name}:{outcome.line}: error: {outcome.reason}")
                    elif isinstance(outcome, record.Noted) and outcome.message not in told:
                        told |= {outcome.message} if outcome.once else set()
                        place = f"{name}:{outcome.line}"
                        common.say(f"{place}: {outcome.severity}: {outcome.message}")
        except UnusableInput as error:
            place = f"{name}:{error.line}" if error.line else name
            common.fail(f"{place}: {error.reason}")
        except UnreadableDocument as error:
            common.fail(error.finding.in_file(name))
