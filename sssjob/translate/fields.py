"""Rules for what job objects and options of batch systems say to each other, both ways.

A rule takes what a job says by a name and makes options, or lines of the script; what there are no
words for is refused, and told by its awarenessPolicy. The same rule takes its options out of a
script and says what they mean. A system is a tuple of these, with its own words in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sssjob import registry, units
from sssjob.errors import InvalidValue
from sssjob.expression import Expression
from sssjob.integers import whole
from sssjob.model import Property, stripped, text_in
from sssjob.records.readers import is_one_name
from sssjob.translate.losses import Done
from sssjob.translate.nodes import any_of, conditions, say_any_of
from sssjob.translate.options import Option, ScriptOptions, ScriptReading, ScriptWriting
from sssjob.translate.quoting import safe, word
from sssjob.translate.requests import Fate, JobRequest, Verbatim

NOT_ALL = "a job object cannot hold all of it"
PRIORITIES = range(-1023, 1025)

_SIGNS = re.compile(r"[^A-Za-z0-9_.-]")


def same(text: str) -> str:
    """A text as it is."""
    return text


def truth(text: str) -> bool | None:
    """True or False as a text says it; None where it says neither."""
    try:
        return units.boolean(text)
    except InvalidValue:
        return None


def alone(text: str) -> str:
    """A name that no system takes for a list, a choice, all of them or a pattern.

    Raises ``InvalidValue``.
    """
    if not is_one_name(text):
        raise InvalidValue(text, "the name of one alone")
    return word(text)


class Rule:
    """What a job says by some names, and options: ``write`` makes these, ``read`` takes them."""

    @property
    def needs(self) -> str:
        """The name without which ``write`` has nothing to do; "" where it always has."""
        return ""

    @property
    def verbatim(self) -> Mapping[str, Verbatim | None]:
        """What ``write`` makes of plain texts that a job says once each, by all names it is about.

        No other rule reads these options. It is asked itself where there is none for a name.
        """
        return {}

    @property
    def of_options(self) -> Iterable[str] | None:
        """The options without which ``read`` has nothing to do; None where it always may have."""
        return () if type(self).read is Rule.read else None

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Make options of what is taken of a job."""

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Say what options mean, and give back what is not understood."""


class About(Rule):
    """A rule about what a job says by one name."""

    name: str

    @property
    def needs(self) -> str:
        """That name."""
        return self.name


def plain_text(asked: JobRequest, item: Property, to: Callable[[str], str]) -> str:
    """What ``to`` makes of the text of a property; "" for one that it refuses, which is told."""
    text = stripped(item.text)
    try:
        if text:
            return to(text)
        asked.refuse(item, "it is empty")
    except InvalidValue as error:
        asked.refuse(item, str(error))
    return ""


def _add(
    asked: JobRequest, made: ScriptWriting, name: str, option: str, text: str
) -> None:  # fmt: skip
    """An option, unless its form cannot hold the text, which is told of all it is made of."""
    try:
        made.option(option, text)
    except InvalidValue as error:
        for item in asked.items(name):
            asked.refuse(item, str(error))


@dataclass(frozen=True)
class TextOption(About):
    """A text of a job and the option that holds it, with the two functions between them.

    ``to`` raises ``InvalidValue`` for a text that the option does not take, and ``of`` for a value
    that says something else.
    """

    name: str
    option: str
    to: Callable[[str], str] = safe
    of: Callable[[str], str] = same

    @property
    def verbatim(self) -> Mapping[str, Verbatim | None]:
        """The text itself, if it is written and read so."""
        as_it_is = self.to in (safe, word) and self.of is same
        return {self.name: Verbatim(self.option)} if as_it_is else {}

    @property
    def of_options(self) -> Iterable[str]:
        """The one."""
        return (self.option,)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The text as the value."""
        if item := asked.one(self.name):
            text = stripped(item.text)
            if not text:
                asked.refuse(item, "it is empty")
                return
            try:
                made.option(self.option, self.to(text))
            except InvalidValue as error:
                asked.refuse(item, str(error))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The value as the text."""
        said.give(self.option, lambda value: heard.say(self.name, self.of(value)))


@dataclass(frozen=True)
class Queues(About):
    """A queue, or several of which any will do, where a system takes a list of them.

    ``pattern`` finds in a word what makes it more than the name of a queue.
    """

    name = "Queue"

    option: str
    joint: str
    pattern: re.Pattern[str] | None = None

    @property
    def verbatim(self) -> Mapping[str, Verbatim | None]:
        """One queue."""
        return {"Queue": Verbatim(self.option)}

    @property
    def of_options(self) -> Iterable[str]:
        """The one."""
        return (self.option,)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """One, or the list; what is submitted at once goes to the best one."""
        if text := self.value(asked, is_held=made.held):
            _add(asked, made, self.name, self.option, text)

    def value(self, asked: JobRequest, *, is_held: bool = False) -> str:
        """What the option says: one queue, or the list; "" where none is asked for."""
        if not is_held:
            choices = conditions(asked, ("Queue",), self._choice)
            if found := [self.joint.join(texts) for texts in choices]:
                return found[-1]
        item = asked.one("Queue")
        return "" if item is None else plain_text(asked, item, self.named)

    def _several(self, text: str) -> bool:
        return self.joint in text or self._is_pattern(text)

    def _is_pattern(self, text: str) -> bool:
        return self.pattern is not None and self.pattern.search(text) is not None

    def named(self, text: str) -> str:
        """The name of one queue. Raises ``InvalidValue``."""
        if self._several(text):
            raise InvalidValue(text, "the name of one queue")
        return word(text)

    def _choice(self, part: Expression) -> list[str]:
        return any_of(part, "Queue", lambda text: word(text) == text and not self._several(text))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """One, or a choice."""
        value = said.last(self.option)
        found = [each for each in (value or "").split(self.joint) if each]
        if value is not None and self._is_pattern(value):
            said.back(self.option, value, "a host or a pattern is no name of a queue")
        elif len(found) > 1:
            say_any_of(heard, "Queue", found)
        elif value is not None:
            heard.say("Queue", value)


@dataclass(frozen=True)
class Name(Rule):
    """The name of a job: any, or of plain signs only, of which it keeps at most so many."""

    option: str
    plain: bool = False
    most: int = 1 << 10

    @property
    def verbatim(self) -> Mapping[str, Verbatim | None]:
        """Where any name is one."""
        return {} if self.plain else {"Name": Verbatim(self.option)}

    @property
    def of_options(self) -> Iterable[str]:
        """The one."""
        return (self.option,)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The Name as far as it is one; of a job that is submitted, or that of its program."""
        item = asked.one("Name")
        text = "" if item is None else item.text
        if made.held:
            text = text or os.path.basename(asked.said("Executable"))
        if item is not None and not stripped(text):
            asked.refuse(item, "it is empty")
            return
        if not text:
            return
        fitting = self.fitting(text)
        try:
            made.option(self.option, fitting)
        except InvalidValue as error:
            if item is not None:
                asked.refuse(item, str(error))
            return
        if fitting != text and not made.held:
            asked.approximate("Name", f"it is called {fitting!r} there")

    def fitting(self, text: str) -> str:
        """A text with what may not stand in it replaced."""
        if not self.plain:
            return text
        plain = _SIGNS.sub("_", text)
        return (plain if plain[:1].isalpha() else f"_{plain}")[: self.most]

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The name as it is."""
        if (value := said.last(self.option)) is not None:
            heard.say("Name", value)


@dataclass(frozen=True)
class Partition(About):
    """A Partition where the system's partitions are what the standard calls queues."""

    name = "Partition"

    queues: Queues

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The Partition of a job without Queue; the same as the Queue, it is said by that."""
        if text := self.value(asked, is_held=made.held):
            _add(asked, made, self.name, self.queues.option, text)

    def value(self, asked: JobRequest, *, is_held: bool = False) -> str:
        """What the option says; "" where a Queue says it, or no Partition is asked for."""
        partition = asked.one("Partition")
        if partition is None:
            return ""
        queue = self.queues.value(asked, is_held=is_held)
        if not queue:
            return plain_text(asked, partition, self.queues.named)
        if stripped(partition.text) != queue:
            asked.refuse(partition, f"the partition is the Queue, {queue!r}")
        return ""


@dataclass(frozen=True)
class Switch(About):
    """A property that is true or false, and the options for both; None for the way in any case.

    ``also_no`` and ``also_yes`` are more spellings that are read.
    """

    name: str
    no: Option | None
    yes: Option | None
    also_no: tuple[Option, ...] = ()
    also_yes: tuple[Option, ...] = ()

    @property
    def of_options(self) -> Iterable[str]:
        """Both."""
        return [option.name for option in (self.no, self.yes) if option is not None]

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The option of the one or the other."""
        if item := asked.one(self.name):
            value = truth(item.text)
            if value is None:
                asked.refuse(item, "neither true nor false")
            else:
                made.add(self.yes if value else self.no)

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """What the option says."""
        for options, text in (
            ((self.no, *self.also_no), "false"), ((self.yes, *self.also_yes), "true"),
        ):  # fmt: skip
            if any([said.takes(option) for option in options]):
                heard.say(self.name, text)


@dataclass(frozen=True)
class Only(About):
    """A property of which one value asks for nothing, and any other cannot be asked for."""

    name: str
    harmless: bool
    reason: str

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Nothing but the reason."""
        if (item := asked.one(self.name)) and truth(item.text) is not self.harmless:
            asked.refuse(item, self.reason)


@dataclass(frozen=True)
class Interactive(About):
    """A job with a terminal: an option, or none and what to call instead of the batch command.

    A program that submits has no terminal.
    """

    name = "Interactive"

    option: Option | None = None
    instead: str = ""

    @property
    def of_options(self) -> Iterable[str]:
        """The one, if there is one."""
        return () if self.option is None else (self.option.name,)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The option, or the reason."""
        item = asked.one("Interactive")
        if item is None or truth(item.text) is False:
            return
        if truth(item.text) and self.option and made.terminal:
            made.add(self.option)
        else:
            advice = f": {self.instead}" if self.instead and not made.held else ""
            asked.refuse(item, f"a batch job has no terminal{advice}")

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Whether there is the option."""
        if said.takes(self.option):
            heard.say("Interactive", "true")


@dataclass(frozen=True)
class Checkpoint(About):
    """Checkpointable where an option names what makes a checkpoint, or where it is kept.

    No property has that name, so that it stays an Extension, with the option in it.
    """

    name = "Checkpointable"

    option: str
    what: str

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Nothing but the reason, where nothing is named."""
        item = asked.one("Checkpointable")
        named = any(each.attributes.get("name") == self.option for each in asked.items("Extension"))
        if item is not None and truth(item.text) is not named:
            asked.refuse(item, f"{self.what} has to be named" if not named else "there is one")

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """True, and the option is kept."""
        if (value := said.last(self.option)) is not None:
            heard.say("Checkpointable", "true")
            said.back(self.option, value, f"{self.what} has no place in a job object")


@dataclass(frozen=True)
class RefusedProperty(About):
    """A property that cannot be asked for, and why."""

    name: str
    reason: str

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Nothing but the reason."""
        for item in asked.take(self.name):
            asked.refuse(item, self.reason)


@dataclass(frozen=True)
class Priority(About):
    """A whole number between two others.

    ``below`` is the option that takes off what a negative number is below 0, at most ``most``;
    without a value it takes off ``unsaid``.
    """

    name = "Priority"

    option: str
    range: range = PRIORITIES
    told: str = ""  # who alone may set it
    below: str = ""
    most: int = 0
    unsaid: int = 0

    @property
    def verbatim(self) -> Mapping[str, Verbatim | None]:
        """Numbers above 0 of fewer digits than the greatest has."""
        digits = f"[1-9][0-9]{{0,{len(str(self.range[-1])) - 2}}}"
        fate = Fate(self.told, Done.CONVERTED) if self.told else None
        return {"Priority": Verbatim(self.option, re.compile(digits).fullmatch, "", fate)}

    @property
    def of_options(self) -> Iterable[str]:
        """Both."""
        return (self.option, self.below)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The number."""
        value = self.value(asked)
        if value is not None and value < 0 < self.most:
            made.option(self.below, str(-value))
        elif value is not None:
            made.option(self.option, str(value))

    def value(self, asked: JobRequest) -> int | None:
        """Take the number, and tell what it means there; None for none that can be asked for."""
        item = asked.one("Priority")
        if item is None:
            return None
        try:
            value = units.integer(item.text)
        except InvalidValue as error:
            asked.refuse(item, str(error))
            return None
        if 0 < -value <= self.most:
            asked.convert("Priority", f"{-value} less than the job would have without it")
        elif value not in self.range:
            asked.refuse(item, f"priorities go from {self.range[0]} to {self.range[-1]}")
            return None
        elif self.told:
            asked.convert("Priority", self.told)
        return value

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The number; another word is none. What is taken off says it where nothing else does."""
        value = said.last(self.option)
        if value is None:
            if self.below:
                self._read_below(said, heard)
            return
        try:
            heard.say("Priority", units.integer(value))
        except InvalidValue:
            said.back(self.option, value)

    def _read_below(self, said: ScriptOptions, heard: ScriptReading) -> None:
        for value in said.all(self.below)[-1:]:
            text = str(self.unsaid) if value is None else value
            number = whole(text, 10) or 0
            if 0 < number <= self.most:
                heard.say("Priority", -number)
            else:
                said.back(self.below, value)


@dataclass(frozen=True)
class Manager(About):
    """The kind of batch system that a job is for: this one, by any of its names."""

    name = "ResourceManagerType"

    system: str

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Nothing, where it is this one."""
        for item in asked.take("ResourceManagerType"):
            if not registry.system(self.system).is_called(item.text):
                asked.refuse(item, "that is another one")


@dataclass(frozen=True)
class QueueAt(Rule):
    """A queue, and behind @ the machine that has it."""

    option: str

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The queue, the machine, or both."""
        queue = asked.one("Queue")
        machine = None if made.held else asked.one("Machine")
        items = [item for item in (queue, machine) if item is not None]
        texts = [text_in(item) for item in (queue, machine)]
        if not items:
            return
        try:
            for text in filter(None, texts):
                if "@" in text or "," in text:
                    raise InvalidValue(text, "one name without @, behind which stands a server")
            made.option(self.option, word(texts[0] + (f"@{texts[1]}" if texts[1] else "")))
        except InvalidValue as error:
            for item in items:
                asked.refuse(item, str(error))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """What stands before the @, and behind it."""
        queue, _, machine = (said.last(self.option) or "").partition("@")
        if queue:
            heard.say("Queue", queue)
        if machine:
            heard.say("Machine", machine)
