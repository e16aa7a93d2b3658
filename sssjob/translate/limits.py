"""Limits of the operating system as options, or as lines of the script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import ClassVar

from sssjob import spec, units
from sssjob.defaults import OVERRIDDEN
from sssjob.errors import InvalidValue
from sssjob.model import Property, stripped
from sssjob.translate.fields import About
from sssjob.translate.options import ScriptOptions, ScriptReading, ScriptWriting
from sssjob.translate.quoting import shell_name
from sssjob.translate.requests import NO_OPTION, JobRequest
from sssjob.visible import ShellText

_LIMITS = {
    "CPUTime": "-t", "CoreFileSize": "-c", "DataSize": "-d", "FileSize": "-f", "StackSize": "-s",
    "ResidentSetSize": "-m", "VirtualMemory": "-v", "OpenFiles": "-n", "LockedMemory": "-l",
}  # fmt: skip
_NUMBERS = ("OpenFiles", "Processes", "Processors")
_COUNTED = ("CPUTime", "OpenFiles")  # others are in units of 1024 bytes, but of
_BLOCKS = ("CoreFileSize", "FileSize")  # blocks of 512 (POSIX), which bash alone takes for 1024
_BLOCK = 512
_MOST = 1 << 63  # where systems begin that take the first of 64 bits for a sign
_KINDS = ("Hard", "Soft", "")
_ULIMIT = re.compile(
    r"(?:ulimit -S (?P<same>-[a-z] [0-9]+) && (?=ulimit -H (?P=same)$))?"
    r"ulimit (?:(?P<kind>-[HS]) )?(?P<option>-[a-z]) (?P<number>[0-9]{1,18})"
)


@dataclass(frozen=True)
class Limits(About):
    """Limits of the operating system: an option, or else ``ulimit`` in the script.

    ``options`` gives the option by the name of the limit and its type; ``clock`` writes seconds and
    ``size`` bytes, ``seconds`` and ``bytes`` read them. ``measured`` are those that are said by
    amounts of the job where it is submitted at once.
    """

    name = "ResourceLimit"

    options: Mapping[tuple[str, str], str] = field(default_factory=dict)
    clock: Callable[[int], str] = str
    size: Callable[[int], str] = str
    seconds: Callable[[str], int | None] = int
    bytes: Callable[[str], int | None] = int
    measured: ClassVar[Mapping[str, str]] = {
        "Memory": "Memory", "ResidentSetSize": "Memory", "Duration": "Duration", "Disk": "Disk",
    }  # fmt: skip
    scratch: bool = False

    @property
    def of_options(self) -> Iterable[str]:
        """Those of all limits."""
        return self.options.values()

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Hard ones before those without a type before soft ones."""
        order = {"Hard": 0, "": 1, "Soft": 2}
        seen: set[str] = set()
        found = limits_of(asked, "name", "type", "units")
        for item in sorted(found, key=lambda item: order.get(item.said("type"), 9)):
            name = spec.limit_name(item.attributes.get("name", ""))
            if made.held and name != "CPUTime":
                self._measured(asked, item, name, seen)
            else:
                self._limit(asked, made, item, name)

    def _measured(self, asked: JobRequest, item: Property, name: str, seen: set[str]) -> None:
        """Limits of memory and time are among the amounts."""
        if name not in self.measured or (name == "Disk" and not self.scratch):
            asked.refuse(item, NO_OPTION)
        elif self.measured[name] in seen:
            asked.refuse(item, "another limit is asked for")
        else:
            seen.add(self.measured[name])

    def _limit(self, asked: JobRequest, made: ScriptWriting, item: Property, name: str) -> None:
        kind = item.said("type")
        option = self.options.get((name, kind)) or self.options.get((name, ""))
        try:
            value = limit_amount(item, name)
        except InvalidValue as error:
            asked.refuse(item, str(error))
            return
        if option and (name, kind) not in self.options:
            asked.refuse(item, NO_OPTION, "type")
        if option:
            text = self._writes(name)(value)
            made.option(option, text)
            if self._reads(name)(text) != value:
                _rounded(asked, item, text)
        elif name in _LIMITS and kind in _KINDS:
            unit = _unit(name, made.interpreter)
            number = -(-value // unit)
            try:
                made.line(_line(kind, _LIMITS[name], number))
            except InvalidValue as error:
                asked.refuse(item, str(error))
                return
            if number * unit != value:
                blocks = "blocks of 512 bytes" if unit == _BLOCK else "KB"
                _rounded(asked, item, f"{number} {blocks}")
        else:
            asked.refuse(item, NO_OPTION)

    def _writes(self, name: str) -> Callable[[int], str]:
        return str if name in _NUMBERS else self.clock if name == "CPUTime" else self.size

    def _reads(self, name: str) -> Callable[[str], int | None]:
        return (
            units.integer if name in _NUMBERS else self.seconds if name == "CPUTime" else self.bytes
        )

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Each option as a limit."""
        for (name, kind), option in self.options.items():
            value = said.last(option)
            if value is None:
                continue
            try:
                number = self._reads(name)(value)
            except (InvalidValue, ValueError):
                number = None
            if number is None:
                said.back(option, value)
            else:
                _say_limit(heard, name, kind, number)


# decision 983
def limits_of(asked: JobRequest, *held: str) -> list[Property]:
    """Take the limits of a job; those of its only task group come before them."""
    groups = asked.groups()
    found = groups[0].take("ResourceLimit", *held) if len(groups) == 1 else []
    said = {_which(item): item for item in found}
    for item in asked.take("ResourceLimit", *held):
        if (other := said.get(_which(item))) is None:
            found.append(item)
        elif stripped(other.text) != stripped(item.text):
            asked.refuse(item, OVERRIDDEN)
    return found


def _which(item: Property) -> tuple[str, str]:
    return spec.limit_name(item.attributes.get("name", "")), item.said("type")


def _rounded(asked: JobRequest, item: Property, text: str) -> None:
    asked.approximate("ResourceLimit", f"{text}, rounded up", where=lambda each: each is item)


def _say_limit(heard: ScriptReading, name: str, kind: str, number: int) -> None:
    attributes = {"name": name, **({"type": kind} if kind else {})}
    heard.say("ResourceLimit", number, **attributes)


def limit_amount(item: Property, name: str) -> int:
    """The number of a limit in bytes, seconds or ones, rounded up. Raises ``InvalidValue``.

    One below 0, which is no limit to a kernel, or beyond what a kernel counts is no limit: shells
    take it for one of 0, or for what is left of it in 64 bits.
    """
    if name == "CPUTime":
        value = units.duration(item.text)
    elif name in _NUMBERS:
        value = units.integer(item.text)
    else:
        value = ceil(units.bytes_of(item.text, item.attributes.get("units", "B")))
    if not 0 <= value < _MOST:
        raise InvalidValue(item.text, "a limit from 0 to below 2^63")
    return value


def _line(kind: str, option: str, number: int) -> ShellText:
    """The line of a script that sets a limit."""
    if kind == "Hard":  # one below the soft limit, which often is none, is refused: that goes first
        return ShellText.of(
            "ulimit -S {option} {number} && ulimit -H {option} {number}",
            option=option, number=number,
        )  # fmt: skip
    if kind == "Soft":
        return ShellText.of("ulimit -S {option} {number}", option=option, number=number)
    return ShellText.of("ulimit {option} {number}", option=option, number=number)


def _unit(name: str, interpreter: str) -> int:
    """What ``ulimit`` of a shell counts a limit in: bytes, or 1 for what is counted."""
    if name in _COUNTED:
        return 1
    return _BLOCK if name in _BLOCKS and shell_name(interpreter) != "bash" else 1024


def ulimit(line: str, interpreter: str, heard: ScriptReading) -> bool:
    """Read a line of the script that sets a limit as ours do; whether it is one."""
    found = _ULIMIT.fullmatch(line)
    names = {option: name for name, option in _LIMITS.items()}
    if found is None or found["option"] not in names:
        return False
    name = names[found["option"]]
    kind = {"-H": "Hard", "-S": "Soft"}.get(found["kind"] or "", "")
    _say_limit(heard, name, kind, int(found["number"]) * _unit(name, interpreter))
    return True
