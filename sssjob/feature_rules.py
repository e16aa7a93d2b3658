"""Rules by which one value of ``$JOBFEATURES`` follows from others, whoever asks.

A document, a prolog and the hooks of HTCondor come by here; hooks start for every job, so that
nothing is imported, and this stands apart from ``features``, whose package imports more.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fractions import Fraction


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
