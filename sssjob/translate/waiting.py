"""When a job may start as options: not before a time, after other jobs, not while it is held."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.model import Property, stripped
from sssjob.records.dependencies import ReadId, waits
from sssjob.translate.fields import NOT_ALL, About
from sssjob.translate.options import Option, ScriptOptions, ScriptReading, ScriptWriting
from sssjob.translate.requests import JobRequest, Verbatim

DIGITS = ("%Y%m%d%H%M", "%y%m%d%H%M.%S", "%y%m%d%H%M")  # [CC]YYMMDDhhmm[.SS], as touch -t has it
_NUMBER = re.compile("[0-9]+").fullmatch


def moment(
    asked: JobRequest, item: Property, no_zero: str = "", step: int = 1
) -> tuple[int, int] | None:
    """The time that a property tells, in seconds since 1970, and as it is rounded to steps.

    None for one that is refused: so is one that no calendar has (beyond the year 9999), and 0
    where ``no_zero`` says that it is no time. A step below 0 rounds down.
    """
    try:
        told = units.time(item.text)
    except InvalidValue as error:
        asked.refuse(item, str(error))
        return None
    rounded = -(-told // step) * step
    try:
        datetime.fromtimestamp(rounded)
    except (ValueError, OverflowError, OSError):  # which says it of the platform, or the year
        asked.refuse(item, "no calendar has that time: it is behind the year 9999")
        return None
    if no_zero and not told:
        asked.refuse(item, no_zero)
        return None
    return told, rounded


@dataclass(frozen=True)
class LocalTime(About):
    """A local time, as these programs want it; in the hour that a clock repeats it is not sure.

    ``reads`` are other forms that are read. Where only minutes are told, ``step`` is 60 for a time
    that is rounded up, and -60 for one that is rounded down. ``no_zero`` says of a system for
    which 0 is no time that it is none.
    """

    name: str
    option: str
    form: str
    reads: tuple[str, ...] = ()
    step: int = 1
    no_zero: str = ""

    @property
    def of_options(self) -> Iterable[str]:
        """The one."""
        return (self.option,)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The time by the clock of who submits."""
        item = asked.one(self.name)
        if item is None:
            return
        found = moment(asked, item, self.no_zero, self.step)
        if found is None:
            return
        told, seconds = found
        local = datetime.fromtimestamp(seconds)
        if local.replace(fold=0).timestamp() != local.replace(fold=1).timestamp():
            asked.refuse(item, "the clock shows that time twice, or not at all")
            return
        made.option(self.option, local.strftime(self.form))
        if seconds != told:
            asked.approximate(self.name, f"a whole minute, {abs(seconds - told)} s away")

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """A time with a date; one that counts from now on depends on when that is."""
        value = said.last(self.option)
        if value is None:
            return
        for form in (self.form, *self.reads):
            try:
                moment = datetime.strptime(value, form)
            except ValueError:
                continue
            if value.replace(".", "").isdigit() and len(value) != len(moment.strftime(form)):
                continue  # nothing but their number tells what these digits are
            heard.say(self.name, str(int(moment.timestamp())))
            return
        said.back(self.option, value, "a time that depends on when the job is submitted")


@dataclass(frozen=True)
class Waits(About):
    """Waiting for other jobs: the reader of an id, and the word of each condition.

    Where ids stand without a word, ``words`` has "" for the one condition that there is.
    ``replaced``: of an option that stands twice the last one counts.
    """

    name = "Dependency"

    option: str
    id: ReadId
    words: Mapping[str, str]
    replaced: bool = False

    @property
    def verbatim(self) -> Mapping[str, Verbatim | None]:
        """The number of one job, which has to succeed."""
        word = self.words.get("OnSuccess")
        head = f"{word}:" if word else ""
        return {} if word is None else {"Dependency": Verbatim(self.option, _NUMBER, head)}

    @property
    def of_options(self) -> Iterable[str]:
        """The one."""
        return (self.option,)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Ids of the batch system, and what is waited for."""
        if found := list(waited_for(asked, self.id, self.words)):
            texts = [f"{word}:{id}" if word else id for word, id in found]
            made.option(self.option, ",".join(texts))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """One Dependency for each id; all of them hold. What is none of these is kept."""
        conditions = {word: condition for condition, word in self.words.items()}
        values = [said.last(self.option)] if self.replaced else said.all(self.option)
        for value in values:
            if self.replaced and value is None:
                return
            found = waits(value or "", self.id, conditions)
            for text, condition in found.jobs:
                attributes = {} if condition == "OnSuccess" else {"condition": condition}
                heard.say("Dependency", text, **attributes)
            if not found.jobs:
                said.back(self.option, value, NOT_ALL)
            elif found.rest:
                said.keep(self.option, value or "", found.rest, NOT_ALL)


def waited_for(
    asked: JobRequest, id: ReadId, words: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The word and the id of each job that is waited for; what cannot be said so is refused."""
    for item in asked.take("Dependency", "condition", "code", "designator"):
        condition = item.said("condition", "OnSuccess")
        text = stripped(item.text)
        if "code" in item.attributes:
            asked.refuse(item, "nothing waits for an exit code")
        elif item.said("designator", "JobId") != "JobId":
            asked.refuse(item, "a job is named by its id")
        elif id(text) != text:
            asked.refuse(item, "no id of a job of this system")
        elif condition not in words:
            asked.refuse(item, f"nothing waits for {condition}")
        else:
            yield words[condition], text


@dataclass(frozen=True)
class Hold(About):
    """A hold of the user; what is submitted at once is held in any case, and stays so."""

    name = "Hold"

    option: Option
    words: Mapping[str, Option] = field(default_factory=dict)  # of other holds

    @property
    def of_options(self) -> Iterable[str]:
        """Those of all holds."""
        return [option.name for option in (self.option, *self.words.values())]

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
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

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The holds in their order."""
        for name, option in (("User", self.option), *self.words.items()):
            if said.takes(option):
                heard.say("Hold", name)
