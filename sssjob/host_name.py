"""What batch systems call this machine, as a rule. A payload imports this module: nothing slow."""

from __future__ import annotations

import os


def own() -> str:
    """The name of this machine, without its domain."""
    return short(os.uname().nodename)


def short(host: str) -> str:
    """The name of a host without its domain.

    >>> short("n1.example.org")
    'n1'
    """
    return host.partition(".")[0]
