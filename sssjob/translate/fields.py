"""Rules for what job objects and options of batch systems say to each other, both ways.

A rule takes what a job says by a name and makes options, or lines of the script; what there are no
words for is refused, and told by its awarenessPolicy. The same rule takes its options out of a
script and says what they mean. A system is a tuple of these, with its own words in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from sssjob import spec, units
from sssjob.errors import InvalidValue
from sssjob.executable import arguments
from sssjob.expression import Expression
from sssjob.model import Note, Property, stripped
from sssjob.translate.nodes import any_of, conditions, say_any_of
from sssjob.translate.options import Heard, Made, Option, Said
from sssjob.translate.quoting import exported, one_word, posix, read_exported, safe, word
from sssjob.translate.requests import NO_OPTION, Asked

EVENTS = ("JobStart", "JobEnd", "All", "None")
SHELLS = ("sh", "ash", "bash", "dash", "ksh", "mksh", "zsh")  # that take the script that we write
NOT_ALL = "not all of it can be said of a job object"
PRIORITIES = range(-1023, 1025)

_LISTED = re.compile(r"[A-Za-z0-9_./:+@%^=~-]*")  # values that no list of variables takes apart
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ADDRESS = re.compile(r"(?:mailto:(?://)?)?([^\s/:@-][^\s/:@]*@[^\s/:@]+)")
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


class Rule:
    """What a job says by some names, and options: ``write`` makes these, ``read`` takes them."""

    def write(self, asked: Asked, made: Made) -> None:
        """Make options of what is taken of a job."""

    def read(self, said: Said, heard: Heard) -> None:
        """Say what options mean, and give back what is not understood."""


@dataclass(frozen=True)
class Row(Rule):
    """A text of a job and the option that holds it, with the two functions between them.

    ``to`` raises ``InvalidValue`` for a text that the option does not take, and ``of`` for a value
    that says something else.
    """

    name: str
    option: str
    to: Callable[[str], str] = safe
    of: Callable[[str], str] = same

    def write(self, asked: Asked, made: Made) -> None:
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

    def read(self, said: Said, heard: Heard) -> None:
        """The value as the text."""
        value = said.last(self.option)
        if value is None:
            return
        try:
            heard.say(self.name, self.of(value))
        except InvalidValue as error:
            said.back(self.option, value, str(error))


@dataclass(frozen=True)
class Queues(Rule):
    """A queue, or several of which any will do, where a system takes a list of them."""

    option: str
    joint: str

    def write(self, asked: Asked, made: Made) -> None:
        """One, or the list; what is submitted at once goes to the best one."""
        if not made.held:
            for texts in conditions(asked, ("Queue",), self._choice):
                made.option(self.option, self.joint.join(texts))
        if not any(option.name == self.option for option in made.options):
            Row("Queue", self.option, word).write(asked, made)

    def _choice(self, part: Expression) -> list[str]:
        return any_of(part, "Queue", lambda text: word(text) == text and self.joint not in text)

    def read(self, said: Said, heard: Heard) -> None:
        """One, or a choice."""
        value = said.last(self.option)
        found = [each for each in (value or "").split(self.joint) if each]
        if len(found) > 1:
            say_any_of(heard, "Queue", found)
        elif value is not None:
            heard.say("Queue", value)


@dataclass(frozen=True)
class Name(Rule):
    """The name of a job: any, or of plain signs only, of which it keeps at most so many."""

    option: str
    plain: bool = False
    most: int = 1 << 10

    def write(self, asked: Asked, made: Made) -> None:
        """The Name as far as it is one; of a job that is submitted, or that of its program."""
        item = asked.one("Name")
        text = "" if item is None else item.text
        if made.held:
            text = text or os.path.basename(asked.job.get("Executable").strip())
        if not text or (item is not None and not stripped(text)):
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

    def read(self, said: Said, heard: Heard) -> None:
        """The name as it is."""
        if (value := said.last(self.option)) is not None:
            heard.say("Name", value)


@dataclass(frozen=True)
class Partition(Rule):
    """A Partition where the system's partitions are what the standard calls queues."""

    option: str

    def write(self, asked: Asked, made: Made) -> None:
        """The Partition of a job without Queue; the same as the Queue, it is said by that."""
        partition, queues = asked.one("Partition"), asked.items("Queue")
        if partition is None:
            return
        text = stripped(partition.text)
        if not queues:
            try:
                made.option(self.option, text)
            except InvalidValue as error:
                asked.refuse(partition, str(error))
        elif text != stripped(queues[0].text):
            asked.refuse(partition, f"the partition is the Queue, {stripped(queues[0].text)!r}")


@dataclass(frozen=True)
class Streams(Rule):
    """Standard streams; "" where there is no option.

    ``joined`` sends both outputs into one file, where no option for the second does not do so by
    itself; ``append`` appends both, and ``appends`` tells that the system does in any case.
    ``keep`` is the option that keeps outputs on the node: ``o``, ``e``, or both.
    """

    input: str = ""
    output: str = "-o"
    error: str = "-e"
    joined: Option | None = None
    append: Option | None = None
    appends: bool = False
    also_joined: tuple[Option, ...] = ()
    keep: str = ""

    def write(self, asked: Asked, made: Made) -> None:
        """Standard error goes where the output goes if nothing else is said, as Slurm has it."""
        options = {"InputFile": self.input, "OutputFile": self.output, "ErrorFile": self.error}
        found = {
            name: item for name in options if (item := asked.one(name, "redirectList")) is not None
        }
        output, error = found.get("OutputFile"), found.get("ErrorFile")
        merging = error is not None and (
            _redirected(error) == ["Merge"]
            and (output is None or stripped(error.text) in ("", stripped(output.text)))
        )
        unsaid = error is None and (made.held or self.joined is None)
        merged = (merging and (output is not None or not made.held)) or unsaid
        if merged:
            found.pop("ErrorFile", None)
        for name, item in found.items():
            self._file(asked, made, item, options[name])
        if merged and (output is not None or merging):
            made.add(self.joined)
        self._modes(asked, made, [item for item in found.values() if _redirected(item)], merged)

    def _file(self, asked: Asked, made: Made, item: Property, option: str) -> None:
        text = stripped(item.text)
        if not text and not made.held and item.name != "InputFile":
            if _redirected(item) != ["Close"]:
                return
            text = os.devnull
        try:
            if option:
                made.option(option, text)
            else:
                made.redirect(f" < {posix(text)}")
        except InvalidValue as error:
            asked.refuse(item, str(error))

    def _modes(self, asked: Asked, made: Made, items: list[Property], merged: bool) -> None:
        """Append is the way of a system, or one option for both streams."""
        appended = [item for item in items if _redirected(item) == ["Append"]]
        both = len(appended) == (1 if merged else 2)
        kept = ""
        for item in items:
            words = _redirected(item)
            if words == ["Merge"] and merged:
                continue
            if words == ["Close"] and not made.held and stripped(item.text) in ("", os.devnull):
                continue
            if words == ["Keep"] and self.keep and not made.held:
                kept += item.name[0].lower()
            elif item not in appended or not (self.appends or (both and self.append)):
                asked.refuse(item, NO_OPTION, "redirectList")
        if kept:
            made.option(self.keep, kept)
        if both and not self.appends:
            made.add(self.append)

    def read(self, said: Said, heard: Heard) -> None:
        """Files as they are named; where both are appended to, each says so."""
        append = said.takes(self.append)
        mode = {"redirectList": "Append"} if append else {}
        kept = (said.last(self.keep) or "") if self.keep else ""
        for name, option in (("InputFile", self.input), ("OutputFile", self.output),
                             ("ErrorFile", self.error)):  # fmt: skip
            value = said.last(option) if option else None
            if name[0].lower() in kept and name != "InputFile":
                heard.say(name, value or "", redirectList="Keep")
            elif value:
                heard.say(name, value, **({} if name == "InputFile" else mode))
        joins = (self.joined, *self.also_joined)
        if any(map(said.takes, joins)):
            heard.say("ErrorFile", "", redirectList="Merge")


def _redirected(item: Property) -> list[str]:
    words = item.attributes.get("redirectList", "").split(",")
    return [word.strip() for word in words if word.strip()]


class Shell(Rule):
    """Our script is read by the Shell, and what it runs, too, where that names no other one."""

    def write(self, asked: Asked, made: Made) -> None:
        """A shell that takes our script."""
        item = asked.one("Shell")
        if item is None:
            return
        try:
            words = arguments(item.text)
        except InvalidValue:
            words = ()
        known = len(words) == 1 and words[0].startswith("/") and safe_text(words[0])
        if known and os.path.basename(words[0]) in SHELLS:
            made.shell = words[0]
        else:
            asked.refuse(item, f"it is no path of one of {', '.join(SHELLS)}")


def safe_text(text: str) -> bool:
    """Whether a text can stand in a line."""
    try:
        return bool(safe(text)) or True
    except InvalidValue:
        return False


class Directory(Rule):
    """Without an option for the working directory the script goes there."""

    def write(self, asked: Asked, made: Made) -> None:
        """A line that goes there, or ends."""
        if item := asked.one("InitialWorkingDirectory"):
            try:
                made.line(f"cd {posix(stripped(item.text))} || exit")
            except InvalidValue as error:
                asked.refuse(item, str(error))


@dataclass(frozen=True)
class Environment(Rule):
    """Variables are set in the script, where a quoted value cannot become anything else.

    ``no`` and ``yes`` export nothing or all of the environment of who submits; ``option`` is
    the one that lists variables, which is written only where no shell reads the script.
    """

    no: Option | None
    yes: Option | None
    option: str = ""

    def write(self, asked: Asked, made: Made) -> None:
        """The option of export, and a line for each variable."""
        listed: list[str] = []
        export: bool | None = None
        for item in asked.take("Environment", "export"):
            export = truth(item.attributes.get("export", ""))
            if export is None and "export" in item.attributes:
                asked.refuse(item, "neither true nor false", "export")
            if stripped(item.text):
                asked.refuse(item, "a text, where variables are expected")
            for each in item.children:
                if not isinstance(each, Note):
                    listed += self._variable(asked, made, item, each)
        if listed and self.in_one:
            listed = listed if export is False else ["ALL", *listed]
        elif export is not None:
            made.add(self.yes if export else self.no)
        if listed:
            made.option(self.option, ",".join(listed))

    @property
    def in_one(self) -> bool:
        """Whether one option says what is exported, and lists variables."""
        return self.yes is not None and self.yes.name == self.option

    def _variable(self, asked: Asked, made: Made, item: Property, each: Property) -> Iterator[str]:
        """A line; or, where no shell would run it, a part of the list."""
        name = each.attributes.get("name", "")
        if each.name != "Variable" or not _VARIABLE.fullmatch(name):
            asked.refuse(item, f"{name or each.name!r} is no variable that a shell takes")
            return
        try:
            if made.reader and self.option and _LISTED.fullmatch(each.text):
                yield f"{name}={each.text}"
            else:
                made.line(exported(name, each.text))
        except InvalidValue as error:
            asked.refuse(item, str(error))

    def read(self, said: Said, heard: Heard) -> None:
        """Export of all or nothing; variables with values are variables of the job."""
        values: list[str] = []
        export = ""
        for switch, text in ((self.yes, "true"), (self.no, "false")):
            if said.takes(switch):
                export = text
        if self.option:
            given = said.all(self.option)
            if self.in_one:
                given = given[-1:]  # a whole list, of which the last one counts
            for value in given:
                head, _, rest = (value or "").partition(",")
                for switch, text in ((self.yes, "true"), (self.no, "false")):
                    if rest and switch == (self.option, head):
                        export, value = text, rest
                if not self._list(value or "", values):
                    said.back(self.option, value, "values of variables are not known here")
        if values and self.in_one and not export:
            export = "false"  # but for these
        children = tuple(
            Property("Variable", text, {"name": name})
            for name, _, text in (each.partition("=") for each in values)
        )
        if children or export:
            attributes = {"export": export} if export else {}
            heard.items.append(Property("Environment", "", attributes, children))

    def _list(self, value: str, values: list[str]) -> bool:
        parts = value.split(",")
        if not all(
            _VARIABLE.fullmatch(name) and equals
            for name, equals, _ in (part.partition("=") for part in parts)
        ):
            return False
        values += parts
        return True


@dataclass(frozen=True)
class Moment(Rule):
    """A local time, as these programs want it; in the hour that a clock repeats it is not sure.

    ``reads`` are other forms that are read. Where only minutes are told, ``step`` is 60 for a time
    that is rounded up, and -60 for one that is rounded down.
    """

    name: str
    option: str
    form: str
    reads: tuple[str, ...] = ()
    step: int = 1

    def write(self, asked: Asked, made: Made) -> None:
        """The time by the clock of who submits."""
        item = asked.one(self.name)
        if item is None:
            return
        try:
            told = units.time(item.text)
            seconds = -(-told // self.step) * self.step
            local = datetime.fromtimestamp(seconds)
        except (InvalidValue, ValueError, OverflowError, OSError) as error:
            asked.refuse(item, str(error))
            return
        if local.replace(fold=0).timestamp() != local.replace(fold=1).timestamp():
            asked.refuse(item, "the clock shows that time twice, or not at all")
            return
        made.option(self.option, local.strftime(self.form))
        if seconds != told:
            asked.approximate(self.name, f"a whole minute, {abs(seconds - told)} s away")

    def read(self, said: Said, heard: Heard) -> None:
        """A time with a date; one that counts from now on depends on when that is."""
        value = said.last(self.option)
        if value is None:
            return
        for form in (self.form, *self.reads):
            try:
                moment = datetime.strptime(value, form)
            except ValueError:
                continue
            heard.say(self.name, str(int(moment.timestamp())))
            return
        said.back(self.option, value, "a time that depends on when the job is submitted")


@dataclass(frozen=True)
class Waits(Rule):
    """Waiting for other jobs: what an id looks like, and the word of each condition.

    Where ids stand without a word, ``words`` has "" for the one condition that there is.
    """

    option: str
    id: str
    words: Mapping[str, str]

    def write(self, asked: Asked, made: Made) -> None:
        """Ids of the batch system, and what is waited for."""
        found: list[str] = []
        for item in asked.take("Dependency", "condition", "code", "designator"):
            condition = item.attributes.get("condition", "OnSuccess")
            text = stripped(item.text)
            if "code" in item.attributes:
                asked.refuse(item, "nothing waits for an exit code")
            elif item.attributes.get("designator", "JobId") != "JobId":
                asked.refuse(item, "a job is named by its id")
            elif not re.fullmatch(self.id, text, re.ASCII):
                asked.refuse(item, "no id of a job of this system")
            elif condition not in self.words:
                asked.refuse(item, f"nothing waits for {condition}")
            else:
                word = self.words[condition]
                found.append(f"{word}:{text}" if word else text)
        if found:
            made.option(self.option, ",".join(found))

    def read(self, said: Said, heard: Heard) -> None:
        """One Dependency for each id; all of them hold."""
        for value in said.all(self.option):
            found = self._read(value or "")
            if found is None:
                said.back(self.option, value, NOT_ALL)
                continue
            for text, condition in found:
                attributes = {} if condition == "OnSuccess" else {"condition": condition}
                heard.say("Dependency", text, **attributes)

    def _read(self, value: str) -> list[tuple[str, str]] | None:
        conditions = {word: condition for condition, word in self.words.items()}
        found = []
        for part in value.split(","):
            word, colon, ids = part.partition(":") if "" not in conditions else ("", ":", part)
            texts = ids.split(":")
            whole = all(re.fullmatch(self.id, text, re.ASCII) for text in texts)
            if not colon or word not in conditions or not whole:
                return None
            found += [(text, conditions[word]) for text in texts]
        return found


@dataclass(frozen=True)
class Hold(Rule):
    """A hold of the user; what is submitted at once is held in any case, and stays so."""

    option: Option
    words: Mapping[str, Option] = field(default_factory=dict)  # of other holds

    def write(self, asked: Asked, made: Made) -> None:
        """Hold User, and others where there is a word for them."""
        for item in asked.take("Hold"):
            text = stripped(item.text)
            if text == "User" and made.held:
                made.stays_held = True
            elif text == "User":
                made.add(self.option)
            elif text in self.words and not made.held:
                made.add(self.words[text])
            else:
                asked.refuse(item, "only a hold of the user can be asked for")

    def read(self, said: Said, heard: Heard) -> None:
        """The holds in their order."""
        for name, option in (("User", self.option), *self.words.items()):
            if said.takes(option):
                heard.say("Hold", name)


@dataclass(frozen=True)
class Mail(Rule):
    """When a user hears of a job: the words for ``EVENTS``, and what stands between them."""

    events: str
    joint: str
    words: tuple[str, str, str, str]
    to: str

    def write(self, asked: Asked, made: Made) -> None:
        """Events, and the address if there is one."""
        item = asked.one("NotificationList", "uri")
        if item is None:
            return
        events = [word.strip() for word in item.text.split(",") if word.strip()]
        if not events or not set(events).issubset(EVENTS):
            asked.refuse(item, f"expected some of {', '.join(EVENTS)}")
            return
        known = dict(zip(EVENTS, self.words, strict=True))
        made.option(self.events, self.joint.join(known[event] for event in dict.fromkeys(events)))
        if "uri" in item.attributes:
            if address := ADDRESS.fullmatch(item.attributes["uri"].strip()):
                made.option(self.to, address[1])
            else:
                asked.refuse(item, "it is no address of mail", "uri")

    def read(self, said: Said, heard: Heard) -> None:
        """The events that the standard has a word for; others are kept as they are."""
        value = said.last(self.events)
        if value is None:
            return
        events, others = self._events(value)
        if not events:
            said.back(self.events, value, NOT_ALL)
            return
        if others:
            said.keep(self.events, value, self.joint.join(others), NOT_ALL)
        to = said.last(self.to)
        heard.say("NotificationList", ",".join(events), **({"uri": f"mailto:{to}"} if to else {}))

    def _events(self, value: str) -> tuple[list[str], list[str]]:
        """Events, and words that are none; All and None stand alone."""
        known = {word.lower(): event for event, word in zip(EVENTS, self.words, strict=True)}
        if whole := known.get(value.lower()):
            return [whole], []
        if not self.joint and set(value) == set(self.words[2]):
            return [EVENTS[2]], []
        parts = value.split(self.joint) if self.joint else list(value)
        events = [known[part.lower()] for part in parts if part.lower() in known]
        others = [part for part in parts if part.lower() not in known]
        return ([], []) if {"All", "None"}.intersection(events) else (events, others)


@dataclass(frozen=True)
class Switch(Rule):
    """A property that is true or false, and the options for both; None for the way in any case."""

    name: str
    no: Option | None
    yes: Option | None

    def write(self, asked: Asked, made: Made) -> None:
        """The option of the one or the other."""
        if item := asked.one(self.name):
            value = truth(item.text)
            if value is None:
                asked.refuse(item, "neither true nor false")
            else:
                made.add(self.yes if value else self.no)

    def read(self, said: Said, heard: Heard) -> None:
        """What the option says."""
        for option, text in ((self.no, "false"), (self.yes, "true")):
            if said.takes(option):
                heard.say(self.name, text)


@dataclass(frozen=True)
class Only(Rule):
    """A property of which one value asks for nothing, and any other cannot be asked for."""

    name: str
    harmless: bool
    reason: str

    def write(self, asked: Asked, made: Made) -> None:
        """Nothing but the reason."""
        if (item := asked.one(self.name)) and truth(item.text) is not self.harmless:
            asked.refuse(item, self.reason)


@dataclass(frozen=True)
class Interactive(Rule):
    """A job with a terminal: an option, or none and what to call instead of the batch command.

    A program that submits has no terminal.
    """

    option: Option | None = None
    instead: str = ""

    def write(self, asked: Asked, made: Made) -> None:
        """The option, or the reason."""
        item = asked.one("Interactive")
        if item is None or truth(item.text) is False:
            return
        if truth(item.text) and self.option and made.terminal:
            made.add(self.option)
        else:
            advice = f": {self.instead}" if self.instead and not made.held else ""
            asked.refuse(item, f"a batch job has no terminal{advice}")

    def read(self, said: Said, heard: Heard) -> None:
        """Whether there is the option."""
        if said.takes(self.option):
            heard.say("Interactive", "true")


@dataclass(frozen=True)
class Checkpoint(Rule):
    """Checkpointable where an option names what makes a checkpoint, or where it is kept.

    No property has that name, so that it stays an Extension, with the option in it.
    """

    option: str
    what: str

    def write(self, asked: Asked, made: Made) -> None:
        """Nothing but the reason, where nothing is named."""
        item = asked.one("Checkpointable")
        named = any(each.attributes.get("name") == self.option for each in asked.items("Extension"))
        if item is not None and truth(item.text) is not named:
            asked.refuse(item, f"{self.what} has to be named" if not named else "there is one")

    def read(self, said: Said, heard: Heard) -> None:
        """True, and the option is kept."""
        if (value := said.last(self.option)) is not None:
            heard.say("Checkpointable", "true")
            said.back(self.option, value, f"{self.what} has no place in a job object")


@dataclass(frozen=True)
class Refused(Rule):
    """A property that cannot be asked for, and why."""

    name: str
    reason: str

    def write(self, asked: Asked, made: Made) -> None:
        """Nothing but the reason."""
        for item in asked.take(self.name):
            asked.refuse(item, self.reason)


@dataclass(frozen=True)
class Priority(Rule):
    """A whole number between two others.

    ``below`` is the option that takes off what a negative number is below 0, at most ``most``;
    without a value it takes off ``unsaid``.
    """

    option: str
    range: range = PRIORITIES
    told: str = ""  # who alone may set it
    below: str = ""
    most: int = 0
    unsaid: int = 0

    def write(self, asked: Asked, made: Made) -> None:
        """The number."""
        item = asked.one("Priority")
        if item is None:
            return
        try:
            value = units.integer(item.text)
        except InvalidValue as error:
            asked.refuse(item, str(error))
            return
        if 0 < -value <= self.most:
            made.option(self.below, str(-value))
            asked.convert("Priority", f"{-value} less than the job would have without it")
            return
        if value not in self.range:
            reason = f"priorities go from {self.range[0]} to {self.range[-1]}"
            asked.refuse(item, reason)
            return
        made.option(self.option, str(value))
        if self.told:
            asked.convert("Priority", self.told)

    def read(self, said: Said, heard: Heard) -> None:
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

    def _read_below(self, said: Said, heard: Heard) -> None:
        for value in said.all(self.below)[-1:]:
            text = str(self.unsaid) if value is None else value
            number = int(text) if text.isascii() and text.isdecimal() and len(text) < 11 else 0
            if 0 < number <= self.most:
                heard.say("Priority", -number)
            else:
                said.back(self.below, value)


@dataclass(frozen=True)
class Manager(Rule):
    """The kind of batch system that a job is for: this one, by any of its names."""

    names: tuple[str, ...]

    def write(self, asked: Asked, made: Made) -> None:
        """Nothing, where it is this one."""
        for item in asked.take("ResourceManagerType"):
            if re.sub(r"[^a-z]", "", item.text.lower()) not in self.names:
                asked.refuse(item, "that is another one")


_LIMITS = {
    "CPUTime": "-t", "CoreFileSize": "-c", "DataSize": "-d", "FileSize": "-f", "StackSize": "-s",
    "ResidentSetSize": "-m", "VirtualMemory": "-v", "OpenFiles": "-n", "LockedMemory": "-l",
}  # fmt: skip
_NUMBERS = ("OpenFiles", "Processes", "Processors")
_COUNTED = ("CPUTime", "OpenFiles")  # others are in units of 1024 bytes
_TYPES = {"Hard": "-H ", "Soft": "-S ", "": ""}
_ULIMIT = re.compile(r"ulimit (?:(-[HS]) )?(-[a-z]) ([0-9]+)")


@dataclass(frozen=True)
class Limits(Rule):
    """Limits of the operating system: an option, or else ``ulimit`` in the script.

    ``options`` gives the option by the name of the limit and its type; ``clock`` writes seconds and
    ``size`` bytes, ``seconds`` and ``bytes`` read them. ``measured`` are those that are said by
    amounts of the job where it is submitted at once.
    """

    options: Mapping[tuple[str, str], str] = field(default_factory=dict)
    clock: Callable[[int], str] = str
    size: Callable[[int], str] = str
    seconds: Callable[[str], int | None] = int
    bytes: Callable[[str], int | None] = int
    measured: ClassVar[Mapping[str, str]] = {
        "Memory": "Memory", "ResidentSetSize": "Memory", "Duration": "Duration", "Disk": "Disk",
    }  # fmt: skip
    scratch: bool = False

    def write(self, asked: Asked, made: Made) -> None:
        """Hard ones before those without a type before soft ones."""
        order = {"Hard": 0, "": 1, "Soft": 2}
        seen: set[str] = set()
        found = asked.take("ResourceLimit", "name", "type", "units")
        for item in sorted(found, key=lambda item: order.get(item.attributes.get("type", ""), 9)):
            name = spec.limit_name(item.attributes.get("name", ""))
            if made.held and name != "CPUTime":
                self._measured(asked, item, name, seen)
            else:
                self._limit(asked, made, item, name)

    def _measured(self, asked: Asked, item: Property, name: str, seen: set[str]) -> None:
        """Limits of memory and time are among the amounts."""
        if name not in self.measured or (name == "Disk" and not self.scratch):
            asked.refuse(item, NO_OPTION)
        elif self.measured[name] in seen:
            asked.refuse(item, "another limit is asked for")
        else:
            seen.add(self.measured[name])

    def _limit(self, asked: Asked, made: Made, item: Property, name: str) -> None:
        kind = item.attributes.get("type", "")
        option = self.options.get((name, kind)) or self.options.get((name, ""))
        try:
            value = _limit(item, name)
        except InvalidValue as error:
            asked.refuse(item, str(error))
            return
        if option and (name, kind) not in self.options:
            asked.refuse(item, NO_OPTION, "type")
        if option:
            text = self._writes(name)(value)
            made.option(option, text)
            if self._reads(name)(text) != value:
                asked.approximate("ResourceLimit", f"{text}, rounded up")
        elif name in _LIMITS and kind in _TYPES:
            number = value if name in _COUNTED else -(-value // 1024)
            try:
                made.line(f"ulimit {_TYPES[kind]}{_LIMITS[name]} {number}")
            except InvalidValue as error:
                asked.refuse(item, str(error))
                return
            if number * 1024 != value and name not in _COUNTED:
                asked.approximate("ResourceLimit", f"{number} KB, rounded up")
        else:
            asked.refuse(item, NO_OPTION)

    def _writes(self, name: str) -> Callable[[int], str]:
        return str if name in _NUMBERS else self.clock if name == "CPUTime" else self.size

    def _reads(self, name: str) -> Callable[[str], int | None]:
        return (
            units.integer if name in _NUMBERS else self.seconds if name == "CPUTime" else self.bytes
        )

    def read(self, said: Said, heard: Heard) -> None:
        """Each option as a limit."""
        for (name, kind), option in self.options.items():
            value = said.last(option)
            if value is None:
                continue
            try:
                number = self._reads(name)(value)
            except (InvalidValue, ValueError):
                said.back(option, value)
                continue
            if number is not None:
                _say_limit(heard, name, kind, number)


def _say_limit(heard: Heard, name: str, kind: str, number: int) -> None:
    attributes = {"name": name, **({"type": kind} if kind else {})}
    heard.say("ResourceLimit", number, **attributes)


def _limit(item: Property, name: str) -> int:
    """The number of a limit in bytes, seconds or ones. Raises ``InvalidValue``."""
    if name == "CPUTime":
        return units.duration(item.text)
    if name in _NUMBERS:
        return units.integer(item.text)
    exact = units.bytes_of(item.text, item.attributes.get("units", "B"))
    return -(-exact.numerator // exact.denominator)


def ulimit(line: str, heard: Heard) -> bool:
    """Read a line of the script that sets a limit as ours do; whether it is one."""
    found = _ULIMIT.fullmatch(line)
    names = {option: name for name, option in _LIMITS.items()}
    if found is None or found[2] not in names:
        return False
    name = names[found[2]]
    kind = {"-H": "Hard", "-S": "Soft"}.get(found[1] or "", "")
    number = int(found[3])
    _say_limit(heard, name, kind, number if name in _COUNTED else number * 1024)
    return True


def prologue(line: str, heard: Heard, variables: list[Property]) -> bool:
    """Read a line that stands before the program in our scripts; whether it is one."""
    if line.startswith("export "):
        found = read_exported(line)
        if found is None or not _VARIABLE.fullmatch(found[0]):
            return False
        variables.append(Property("Variable", found[1], {"name": found[0]}))
        return True
    if line.startswith("cd ") and line.endswith(" || exit"):
        word = one_word(line[3 : -len(" || exit")])
        if word:
            heard.say("InitialWorkingDirectory", word)
        return bool(word)
    return ulimit(line, heard)


@dataclass(frozen=True)
class QueueAt(Rule):
    """A queue, and behind @ the machine that has it."""

    option: str

    def write(self, asked: Asked, made: Made) -> None:
        """The queue, the machine, or both."""
        queue = asked.one("Queue")
        machine = None if made.held else asked.one("Machine")
        items = [item for item in (queue, machine) if item is not None]
        texts = [stripped(item.text) if item is not None else "" for item in (queue, machine)]
        if not items:
            return
        try:
            made.option(self.option, word(texts[0] + (f"@{texts[1]}" if texts[1] else "")))
        except InvalidValue as error:
            for item in items:
                asked.refuse(item, str(error))

    def read(self, said: Said, heard: Heard) -> None:
        """What stands before the @, and behind it."""
        queue, _, machine = (said.last(self.option) or "").partition("@")
        if queue:
            heard.say("Queue", queue)
        if machine:
            heard.say("Machine", machine)
