"""What the commands of ``sssjob lcginfo`` share: remarks on standard error, one way to fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.lcginfo.snapshot import Remark


class Log:
    """Prints remarks as ``FILE:LINE: severity: text``, and counts them."""

    def __init__(self) -> None:
        self.name = ""
        self.bad = 0
        self.unread = 0  # documents that cannot be read at all
        self._first = common.told()

    def __call__(self, remark: Remark) -> None:
        """Print a remark, unless too many of this source were printed."""
        from sssjob.errors import Severity
        from sssjob.visible import visible

        self.bad += remark.severity is Severity.ERROR
        self.unread += remark.unread
        if self._first.is_told(self.name, remark.severity):
            place = ":".join(str(part) for part in (self.name, remark.line) if part)
            head = f"{place}: " if place else ""
            common.say(f"{head}{remark.severity}: {visible(remark.message)}")

    def about(self, name: str) -> Log:
        """The same log, for remarks on the source of this name."""
        self.name = name
        return self

    def close(self) -> None:
        """Say how many remarks were not printed."""
        self._first.rest()


@contextmanager
def about(file: str) -> Iterator[None]:
    """What is said in the block to be of no use is said of this file."""
    from sssjob.lcginfo.snapshot import UnusableOutput

    try:
        yield
    except UnusableOutput as error:
        raise UnusableOutput(f"{common.name_of(file)}: {error}") from error


def contents(file: str, limit: int) -> bytes:
    """The bytes of a file that the user named, at most so many. Raises ``LimitExceeded``.

    A file of another kind, such as a picture, ends the command.
    """
    from sssjob.errors import UnreadableDocument
    from sssjob.verbs.queue_state import bytes_of

    (named,) = common.sources((file,))
    try:
        return bytes_of(named, limit)
    except UnreadableDocument as error:
        common.fail(error.finding.in_file(named.name))


def text(file: str, limit: int) -> str:
    """The same as text."""
    return contents(file, limit).decode("utf-8", "replace")
