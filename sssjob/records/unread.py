"""What a reader is told and does not read: said once, so that nothing is lost in silence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sssjob.errors import Severity
from sssjob.records.record import Noted

Left = Mapping[str, tuple[str, ...]]  # names that are not read, by what they are about

_MOST = 200  # letters of names that are told


def expected(read: Iterable[str], left: Left) -> frozenset[str]:
    """The names that a reader expects: those that it reads, and those that it leaves out."""
    return frozenset((*read, *(name for names in left.values() for name in names)))


def unread(
    line: int, what: str, names: Iterable[str], expected: frozenset[str]
) -> tuple[Noted, ...]:
    """A notice of names that are not expected; ``what`` says whose they are.

    >>> [each.message for each in unread(1, "keys of a job", ("b", "c", "a"), frozenset("a"))]
    ['keys of a job that are not read: b, c']
    """
    if expected.issuperset(names):
        return ()
    told = ", ".join(sorted({*names} - expected))
    message = f"{what} that are not read: {told[:_MOST]}"
    return (Noted(line, message, once=True, severity=Severity.NOTICE),)
