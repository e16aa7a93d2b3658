"""What the commands of ``sssjob lcginfo`` share: remarks on standard error, one way to fail."""

from __future__ import annotations

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


def contents(file: str, limit: int) -> bytes:
    """The bytes of a file that the user named, at most so many.

    Raises ``LimitExceeded``, and ``UnreadableDocument`` for what is none, such as a picture.
    """
    from sssjob.document.sources import content

    (named,) = common.sources((file,))
    return content(named, limit)


def text(file: str, limit: int) -> str:
    """The same as text."""
    return contents(file, limit).decode("utf-8", "replace")


def caps(file: str, log: Log) -> dict[str, int]:
    """The caps in a file; what is wrong with them is told under its name.

    Raises ``UnusableOutput``, and what ``contents`` does.
    """
    from sssjob.lcginfo import caps as vo_max_jobs
    from sssjob.lcginfo.snapshot import about_source

    (named,) = common.sources((file,))
    with about_source(named.name):
        octets = contents(file, vo_max_jobs.TEXT_LIMIT)
        return vo_max_jobs.read(octets.decode("utf-8", "replace"), log.about(named.name))
