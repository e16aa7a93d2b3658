"""Rules of ``$JOBFEATURES``: who says a value, and which follows from others, whoever asks.

A document, a prolog and the hooks of HTCondor come by here; hooks start for every job, so that
nothing is imported, and this stands apart from ``features``, whose package imports more.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from fractions import Fraction

# Who says a value, in the order of precedence: what the batch system gave to the job, what the job
# states by the name of the key, what its machine enforces (where a request leaves that open), and
# what the job requests. What nobody says may follow from other values.
GRANTED, STATED, ENFORCED, REQUESTED = "granted", "stated", "enforced", "requested"
PRECEDENCE = (GRANTED, STATED, ENFORCED, REQUESTED)

# Keys of the job of which 0 says something: that no swap may be used, that no notice is given. Of
# all others 0 is no value (``features.keys``).
MAY_BE_0 = frozenset(("max_swap_bytes", "grace_secs_job"))


def is_told(key: str, value: int) -> bool:
    """Whether a number is one that a key of the job may have.

    >>> is_told("max_rss_bytes", 0), is_told("max_swap_bytes", 0), is_told("max_swap_bytes", -1)
    (False, True, False)
    """
    return value > 0 or (value == 0 and key in MAY_BE_0)


def winner(saying: Container[str]) -> str:
    """Who wins of those that say a value; "" where nobody does.

    >>> winner({REQUESTED, STATED}), winner(())
    ('stated', '')
    """
    return next((who for who in PRECEDENCE if who in saying), "")


def job_id(text: str) -> str:
    """An Id as printable ASCII without blanks: other bytes of its UTF-8 are percent-encoded.

    >>> job_id("Heavy Wässer")
    'Heavy%20W%C3%A4sser'
    """
    octets = text.strip().encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if 0x21 <= byte <= 0x7E else f"%{byte:02X}" for byte in octets)


def cpu_limit_secs(wall_limit_secs: int, allocated_cpu: int) -> int:
    """The limit of CPU time that follows from that of elapsed time. # decision 144"""
    return wall_limit_secs * allocated_cpu


def hs06_job(hs06: int | Fraction, total_cpu: int | Fraction, allocated_cpu: int) -> int:
    """The share of a machine's rating that a job has by its processors. # decision 144

    Both are in hundredths of HS06, as a file has two decimals; half of one goes to the even one.

    >>> hs06_job(8040, 8, 3)
    3015
    """
    over, under = (hs06 * allocated_cpu).as_integer_ratio()
    above, below = total_cpu.as_integer_ratio()
    over, under = over * below, under * above
    whole, rest = divmod(over, under)
    return whole + int(2 * rest > under or (2 * rest == under and whole % 2 == 1))
