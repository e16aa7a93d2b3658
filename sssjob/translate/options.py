"""Options as values: what rules make of a job, and how a command line spells them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Option(NamedTuple):
    """An option by its name (``--time``, ``-q``, ``-l walltime``) and its value, if it has one."""

    name: str
    value: str | None = None

    def words(self) -> tuple[str, ...]:
        """The option as words of a command: long ones are one word."""
        if self.value is None:
            return (self.name,)
        first, _, inner = self.name.partition(" ")
        if inner:
            return (first, f"{inner}={self.value}")
        return (f"{first}={self.value}",) if first.startswith("--") else (first, self.value)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The amounts of a whole job; ``nodes`` is 0 where nothing says how many."""

    processors: int
    tasks: int
    nodes: int
    memory: int | None
    seconds: int | None
    scratch: int | None

    @property
    def shares(self) -> tuple[int, int]:
        """How many tasks are asked for, and processors of each."""
        each, rest = divmod(self.processors, self.tasks)
        return (self.processors, 1) if rest else (self.tasks, each)


@dataclass(slots=True)
class Made:
    """What rules make: options, lines of the script, and what stands around it."""

    options: list[Option] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)  # NAME=VALUE of -l
    redirection: str = ""
    shell: str = ""
    stays_held: bool = False

    def add(self, *options: Option | None) -> None:
        """Add options, of which some may be none."""
        self.options += [option for option in options if option is not None]

    def option(self, name: str, value: str | None = None) -> None:
        """Add an option."""
        self.options.append(Option(name, value))

    @property
    def words(self) -> tuple[str, ...]:
        """All options as words of a command."""
        return words(self.options)


def words(options: Iterable[Option]) -> tuple[str, ...]:
    """Options as words of a command."""
    return tuple(word for option in options for word in option.words())
