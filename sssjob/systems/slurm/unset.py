"""Numbers of Slurm that are none. Payloads import this module: nothing slow."""

from __future__ import annotations

# slurm.h: INFINITE and NO_VAL, of 32 and of 64 bits.
UNSET = frozenset((1 << bits) - less for bits in (32, 64) for less in (1, 2))
