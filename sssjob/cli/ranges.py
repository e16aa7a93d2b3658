"""Numbers that options take, with their limits in words: ``[0.1 to 3600]``, ``[1 or more]``."""

from __future__ import annotations

import click


def _words(least: float | None, most: float | None) -> str:
    """What is between the two, where both count and one may be missing."""
    if most is None:
        return f"{least} or more"
    return f"{most} or less" if least is None else f"{least} to {most}"


class WholeNumber(click.IntRange):
    """A whole number from ``min`` to ``max``, both included."""

    def _describe_range(self) -> str:
        return _words(self.min, self.max)


class NumberRange(click.FloatRange):
    """A number from ``min`` to ``max``, both included."""

    def _describe_range(self) -> str:
        return _words(self.min, self.max)
