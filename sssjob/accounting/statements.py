"""Sums that others state of what was read: APEL's synchronisation records, jobs of each month.

What a batch system states itself is read by its own ``sums``, see ``registry.System``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from sssjob.accounting.audit import SystemStatement
from sssjob.errors import UnusableInput

SYNC = "APEL-sync-message"
END = "%%"

_NEEDED = ("NumberOfJobs", "Month", "Year")


def recognises(head: bytes) -> bool:
    """Whether text that begins so is a message of synchronisation."""
    return head.lstrip().startswith(SYNC.encode())


def read(source: str, text: str) -> Iterator[SystemStatement]:
    """The statements of a message: so many jobs of a submit host ended in a month, in UTC.

    Raises ``UnusableInput``, with the line, for a record that cannot be read.
    """
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines()[1:], 2):
        if line.strip() == END:
            yield _statement(source, values, number)
            values = {}
        elif line.strip():
            name, _, value = line.partition(":")
            values[name.strip()] = value.strip()
    if values:
        raise UnusableInput(f"the last record does not end with {END}", len(text.splitlines()))


def month(year: int, number: int) -> tuple[int, int]:
    """When a month begins and when the next one does, in seconds, in UTC."""
    following = (year + 1, 1) if number == 12 else (year, number + 1)
    begin, end = (datetime(*each, 1, tzinfo=UTC) for each in ((year, number), following))
    return int(begin.timestamp()), int(end.timestamp())


def _statement(source: str, values: dict[str, str], line: int) -> SystemStatement:
    numbers = [values.get(name, "") for name in _NEEDED]
    if not all(each.isdecimal() and each.isascii() and len(each) < 16 for each in numbers):
        raise UnusableInput(f"a record needs whole numbers: {', '.join(_NEEDED)}", line)
    jobs, number, year = map(int, numbers)
    if not (1 <= number <= 12 and 1970 <= year < 9999):
        raise UnusableInput(f"{year}-{number} is no month", line)
    since, until = month(year, number)
    host = values.get("SubmitHost", "")
    return SystemStatement(
        source, since, until, jobs=jobs, submit_host="" if host == "None" else host
    )
