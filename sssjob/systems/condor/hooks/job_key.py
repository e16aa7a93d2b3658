"""What an ad carries of its job in the queue (SSSKey): which job, and which attempt to run it.

>>> written(17, 2), read("17.2"), read("../17")
('17.2', (17, 2), None)
"""

from __future__ import annotations

_LONGEST = 18  # digits of both numbers


def written(key: int, attempt: int) -> str:
    """The ticket of a job that is given away."""
    return f"{key}.{attempt}"


def read(text: str) -> tuple[int, int] | None:
    """The key and the attempt of a ticket; None if it is none: it came with an ad, from outside."""
    key, _, attempt = text.partition(".")
    both = f"{key}{attempt}"
    if not (key and attempt and both.isascii() and both.isdecimal() and len(both) <= _LONGEST):
        return None
    return int(key), int(attempt)
