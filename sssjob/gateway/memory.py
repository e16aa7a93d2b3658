"""Memory that nobody uses goes back to the system, which the C library does only when asked."""

from __future__ import annotations

import ctypes

# Of glibc; others give back by themselves, or not at all.
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)


def give_back() -> None:
    """Give back what was freed, of all threads."""
    if _trim is not None:
        _trim(0)
