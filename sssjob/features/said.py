"""What a batch system or a container says of a job, each value with where it came from.

A payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

from sssjob import integers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sssjob.features.kernel import KernelNumber
    from sssjob.features.keys import Value


_SHOWN = 40  # characters of what is no value


class StatedValues:
    """Values by key of $JOBFEATURES, and of $MACHINEFEATURES, with the source of each.

    ``by`` is who says them. ``missing`` are keys that may limit the job though nobody says how,
    ``doubted`` those of which something is said that nobody can read: what others say of them may
    be too much. ``at_most`` has what holds of a key that has no value. ``problems`` has a sentence
    for what could not be read, or is contradicted, and ``limits`` is what the kernel enforces
    besides. ``ids`` are all names of the job, and whether the number alone is one of them;
    ``nesting`` tells that several jobs say something ("" is one job).
    """

    __slots__ = (
        "at_most", "by", "doubted", "ids", "job", "limits", "machine", "missing", "nesting",
        "problems", "sources", "spelled",
    )  # fmt: skip

    def __init__(self, by: str, missing: Iterable[str] = ()) -> None:
        self.by = by
        self.job: dict[str, Value] = {}
        self.machine: dict[str, Value] = {}
        self.sources: dict[str, str] = {}
        self.problems: list[str] = []
        self.ids: dict[str, bool] = {}
        self.spelled: Callable[[str], str] = str  # an id as this system's records have it
        self.nesting = ""
        self.missing: list[str] = list(missing)
        self.doubted: list[str] = []
        self.at_most: dict[str, tuple[int, str]] = {}
        self.limits: Mapping[str, KernelNumber] = {}

    def __repr__(self) -> str:
        return f"<{self.by}: {', '.join(self.sources)}>"

    @property
    def unknown(self) -> list[str]:
        """The keys of which not all is known."""
        return list(dict.fromkeys((*self.missing, *self.doubted)))

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
                self.ids.setdefault(str(value), True)

    def text(
        self, key: str, variable: str, environment: Mapping[str, str], ending: str = ""
    ) -> None:  # fmt: skip
        """Take what a variable says, as one word with an ``ending``; what is none is told."""
        value = environment.get(variable, "").strip()
        if is_word(value):
            self.add(key, value and value + ending, f"${variable}")
        else:
            self.untold(variable, value, "one word")

    def number(
        self, key: str, variable: str, environment: Mapping[str, str], unit: int = 1
    ) -> None:
        """Take the number above 0 of a variable, in a unit; what is none, or differs, is told."""
        value = self.whole(variable, environment, key)
        if value:
            self.also(key, value * unit, f"${variable}")
        elif value is not None:
            self.untold(variable, environment[variable].strip(), "a number above 0", key)

    def whole(self, variable: str, environment: Mapping[str, str], *keys: str) -> int | None:
        """The whole number of a variable that tells ``keys``; a text that is none is told."""
        text = environment.get(variable, "").strip()
        value = whole(text)
        if value is None and text:
            self.untold(variable, text, "a whole number", *keys)
        return value

    def untold(self, variable: str, text: str, expected: str, *keys: str) -> None:
        """Tell that the text of a variable is not what it has to be; it tells ``keys``."""
        self.wrong(f"${variable} is {text[:_SHOWN]!r}, not {expected}", *keys)

    def wrong(self, told: str, *keys: str) -> None:
        """Tell once what nobody can read, and that it would have said something of ``keys``."""
        if told not in self.problems:
            self.problems.append(told)
        for key in keys:
            self.doubt(key)

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

    def bounded(self, key: str, value: Value) -> Value:
        """A value, or what holds of the key at most where that is less."""
        most = self.at_most.get(key)
        return value if most is None or isinstance(value, str) else min(value, most[0])

    def doubt(self, key: str) -> None:
        """Somebody says a key, and nobody can read what: it may be less than others say."""
        if key not in self.doubted:
            self.doubted.append(key)

    def lacks(self, key: str) -> None:
        """Nobody says how much of a key the job has; until somebody does."""
        if key not in self.job and key not in self.missing:
            self.missing.append(key)

    def known(self, key: str) -> None:
        """Nothing is missing of a key any more."""
        if key in self.missing:
            self.missing.remove(key)


def is_word(text: str) -> bool:
    """Whether a text is one word, or empty, that a file or a record can have as an id."""
    return text.isprintable() and text.isascii() and " " not in text


def whole(text: str) -> int | None:
    """The number of a text of digits, with white space around it; None for any other one."""
    return integers.whole(text.strip())
