"""What a batch system or a container says of a job, each value with where it came from.

A payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

from sssjob import integers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sssjob.features.kernel import KernelNumber
    from sssjob.features.keys import Value


_SHOWN = 40  # characters of what is no value


class StatedValues:
    """Values by key of $JOBFEATURES, and of $MACHINEFEATURES, with the source of each.

    ``by`` is who says them; ``unknown`` are keys that may limit the job though nobody says how.
    ``problems`` has a sentence for what could not be read, or is contradicted, and ``limits`` is
    what the kernel enforces besides. ``ids`` are all names of the job, and ``nesting`` tells that
    several jobs say something ("" is one job).
    """

    __slots__ = (
        "by", "ids", "job", "limits", "machine", "nesting", "problems", "sources", "unknown",
    )  # fmt: skip

    def __init__(self, by: str, unknown: Iterable[str] = ()) -> None:
        self.by = by
        self.job: dict[str, Value] = {}
        self.machine: dict[str, Value] = {}
        self.sources: dict[str, str] = {}
        self.problems: list[str] = []
        self.ids: list[str] = []
        self.nesting = ""
        self.unknown: list[str] = list(unknown)
        self.limits: Mapping[str, KernelNumber] = {}

    def __repr__(self) -> str:
        return f"<{self.by}: {', '.join(self.sources)}>"

    def add(self, key: str, value: Value | None, source: str) -> None:
        """Take a value of the job; None, 0 and "" say nothing, and the first one counts."""
        if value:
            self.take(key, value, source)

    def take(self, key: str, value: Value, source: str) -> None:
        """Take a value of the job, whatever it is; the first one counts."""
        if key not in self.job:
            self.job[key], self.sources[key] = value, source
            self.known(key)
            if key == "job_id":
                self.ids.append(str(value))

    def text(
        self, key: str, variable: str, environment: Mapping[str, str], ending: str = ""
    ) -> None:  # fmt: skip
        """Take what a variable says, as one word with an ``ending``; what is none is told."""
        value = environment.get(variable, "").strip()
        if value.isprintable() and value.isascii() and " " not in value:
            self.add(key, value and value + ending, f"${variable}")
        else:
            self.untold(variable, value, "one word")

    def number(
        self, key: str, variable: str, environment: Mapping[str, str], unit: int = 1
    ) -> None:
        """Take the number above 0 of a variable, in a unit; what is none, or differs, is told."""
        value = self.whole(variable, environment)
        if not value and environment.get(variable, "").strip():
            self.doubt(key)
        if value:
            self.also(key, value * unit, f"${variable}")
        elif value is not None:
            self.untold(variable, environment[variable].strip(), "a number above 0")

    def whole(self, variable: str, environment: Mapping[str, str]) -> int | None:
        """The whole number of a variable; a text that is none is told."""
        text = environment.get(variable, "").strip()
        value = whole(text)
        if value is None and text:
            self.untold(variable, text, "a whole number")
        return value

    def untold(self, variable: str, text: str, expected: str) -> None:
        """Tell that the text of a variable is not what it has to be."""
        told = f"${variable} is {text[:_SHOWN]!r}, not {expected}"
        if told not in self.problems:
            self.problems.append(told)

    def also(self, key: str, value: int | None, source: str) -> None:
        """Take a number as ``add`` does, and tell where another one was said before.

        The least counts then: a limit may be understated, never overstated.
        """
        if value:
            self.bound(key, value, source)

    def bound(self, key: str, value: Value, source: str) -> None:
        """Take a value as ``also`` does, 0 too: where that is said, it is a limit."""
        known = self.job.get(key)
        if known is not None and known != value:
            self.problems.append(
                f"{key} is {known} by {self.sources[key]}, but {value} by {source}"
            )
            if isinstance(known, int) and isinstance(value, int) and value < known:
                del self.job[key]
        self.take(key, value, source)

    def doubt(self, key: str) -> None:
        """Somebody says a key, and nobody can read what; until another one says it."""
        if key not in self.job and key not in self.unknown:
            self.unknown.append(key)

    def known(self, key: str) -> None:
        """Nothing is missing of a key any more."""
        if key in self.unknown:
            self.unknown.remove(key)


def whole(text: str) -> int | None:
    """The number of a text of digits, with white space around it; None for any other one."""
    return integers.whole(text.strip())
