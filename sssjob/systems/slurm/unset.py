"""Numbers and words of Slurm that are no value. Payloads import this module: nothing slow."""

from __future__ import annotations

# slurm.h: INFINITE and NO_VAL, of 32 and of 64 bits.
UNSET = frozenset((1 << bits) - less for bits in (32, 64) for less in (1, 2))
# Its words where there is no time, limit, name or number.
NO_VALUE = frozenset(
    ("", "Unknown", "unknown", "None", "None assigned", "(null)", "N/A", "NONE",
     "UNLIMITED", "Partition_Limit", "INVALID", "infinite", "*")
)  # fmt: skip
