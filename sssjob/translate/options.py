"""Options as values: what rules make of a job and take out of a script, and their spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from sssjob.errors import Finding, InvalidValue, finding
from sssjob.expression import Comparison, Expression, all_of, write
from sssjob.model import Item, Property, Requested, Scalar
from sssjob.translate.quoting import safe
from sssjob.visible import ShellText


class Option(NamedTuple):
    """An option by its name (``--time``, ``-q``, ``-l walltime``) and its value, if it has one."""

    name: str
    value: str | None = None

    def words(self) -> tuple[str, ...]:
        """The option as words of a command: long ones are one word."""
        if self.value is None:
            return tuple(self.name.split(" "))
        first, _, inner = self.name.partition(" ")
        if inner:
            return (first, f"{inner}={self.value}")
        return (f"{first}={self.value}",) if first.startswith("--") else (first, self.value)


new_option = tuple.__new__  # what Option(...) calls in the end, without a call in between


class PlacedOption(Option):
    """An option as it stands in a line of a script; at another line it is the same one."""

    line = 0

    @classmethod
    def at(cls, option: Option, line: int) -> PlacedOption:
        """An option of a line."""
        found = new_option(cls, option)
        found.line = line
        return found


def line_of(option: Option) -> int:
    """The line of a script in which an option stands; 0 for one of no script."""
    return option.line if isinstance(option, PlacedOption) else 0


@dataclass(frozen=True, slots=True)
class WantedAmounts:
    """The amounts of a whole job; ``nodes`` is 0 where nothing says how many.

    ``each`` are the processors of one of the ``tasks``, rounded up; ``slots`` those of the job
    where they are of no task.
    """

    tasks: int
    each: int
    slots: int
    nodes: int
    memory: int | None
    seconds: int | None
    scratch: int | None


@dataclass(slots=True)
class ScriptWriting:
    """What rules make: options, lines of the script, and what stands around it.

    ``held``: the job is submitted at once, held, by who runs this; ``wanted`` are its amounts.
    ``program`` is the path of the program, where it is another one than the job says.
    ``terminal``: who submits it has one. ``interpreter`` is what the first line of the script
    names, and ``reader`` the same where it is no shell.
    ``check`` raises ``InvalidValue`` for a value that no directive can hold, if there are such.
    ``sure`` has, by the name of a property, the option that is read as just what the job says by
    it, "" for a line; of the lines, ``plain`` are read as the variables that they export.
    """

    held: bool = False
    terminal: bool = False
    options: list[Option] = field(default_factory=list)
    lines: list[ShellText] = field(default_factory=list)
    redirection: ShellText = field(default_factory=ShellText)
    shell: str = ""
    interpreter: str = ""
    reader: str = ""
    stays_held: bool = False
    wanted: WantedAmounts | None = None
    program: str = ""
    check: Callable[[str], object] | None = None
    sure: dict[str, str] = field(default_factory=dict)
    plain: int = 0

    def add(self, *options: Option | None) -> None:
        """Add options, of which some may be none."""
        self.options += [option for option in options if option is not None]

    def put_in_order(self, names: Sequence[str]) -> None:
        """Put the options in the order of these names, as they once stood; others behind them."""
        places = {name: place for place, name in enumerate(names)}
        if places:
            self.options.sort(key=lambda option: places.get(option.name, len(places)))

    def option(self, name: str, value: str | None = None) -> None:
        """Add an option. Raises ``InvalidValue`` for a value that no directive can hold.

        Behind a comma in the value of ``-l`` would stand another resource.
        """
        if value is not None:
            if "," in value and name.startswith("-l "):
                raise InvalidValue(value, "a text without commas, as one resource has")
            if not value.isprintable():  # as ``safe`` asks, which is not called for nothing
                safe(value)
            if self.check is not None:
                self.check(value)
        self.options.append(new_option(Option, (name, value)))

    def line(self, text: ShellText) -> None:
        """Add a line of the script. Raises ``InvalidValue`` where no shell would run it."""
        self._in_shell()
        self.lines.append(text)

    def redirect(self, text: ShellText) -> None:
        """Redirect a stream of the script. Raises ``InvalidValue`` where no shell would."""
        self._in_shell()
        self.redirection = text

    def _in_shell(self) -> None:
        if self.reader:
            raise InvalidValue(self.reader, "a shell, which alone can do this in the script")

    @property
    def words(self) -> tuple[str, ...]:
        """All options but those of -l, as words of a command."""
        chosen = (option for option in self.options if not option.name.startswith("-l "))
        return tuple(word for option in chosen for word in option.words())

    @property
    def limits(self) -> list[str]:
        """What -l is given, as NAME=VALUE."""
        return [
            f"{option.name[3:]}={option.value}"
            for option in self.options
            if option.name.startswith("-l ")
        ]


def shown(option: Option) -> str:
    """An option as it is told of."""
    return option.name if option.value is None else f"{option.name} {option.value}"


class ScriptOptions:
    """The options of a script, from which rules take what they understand.

    ``array``: the script is one of an array, whose option is not among them.
    """

    def __init__(self, options: Iterable[Option], *, array: bool = False) -> None:
        self.options = list(options)
        self.array = array
        self._left = dict(enumerate(self.options))
        self._places: dict[str, list[int]] = {}  # of each name
        for place, option in enumerate(self.options):
            self._places.setdefault(option.name, []).append(place)
        self._reasons: dict[Option, str] = {}
        self.beaten: list[tuple[Option, Option]] = []  # each with the one behind it that counts

    @property
    def names(self) -> frozenset[str]:
        """The names of all options."""
        return frozenset(self._places)

    def all(self, name: str) -> list[str | None]:
        """Take the values of every option of a name, in their order."""
        found = [place for place in self._places.get(name, ()) if place in self._left]
        return [self._left.pop(place).value for place in found]

    def takes(self, option: Option | None) -> bool:
        """Take an option with a certain value, where it is the last of its name, which counts."""
        places = () if option is None else self._places.get(option.name, ())
        left = next((place for place in reversed(places) if place in self._left), None)
        if option is None or left is None or self._left[left] != option:
            return False
        self._counting(option.name)
        return True

    def last(self, name: str) -> str | None:
        """Take the value of the last one, which is what counts; None for none.

        One without the value that belongs to it means nothing, and is left.
        """
        option = self._counting(name)
        if option is None:
            return None
        if option.value is None:
            self.back(name, None, "it has no value")
        return option.value

    def give(
        self, name: str, take: Callable[[str], object],
        wrong: tuple[type[Exception], ...] = (InvalidValue,),
    ) -> None:  # fmt: skip
        """Give the value of the last one to what takes it, or back where that says it is wrong."""
        value = self.last(name)
        if value is None:
            return
        try:
            take(value)
        except wrong as error:
            self.back(name, value, str(error))

    def _counting(self, name: str) -> Option | None:
        """Take all of a name, of which the last one counts."""
        places = self._places.get(name)
        if places is None:
            return None
        if len(places) == 1:  # as most are
            return self._left.pop(places[0], None)
        found = [self._left.pop(place) for place in places if place in self._left]
        if not found:
            return None
        *others, counts = found
        self.beaten += ((other, counts) for other in others if other != counts)
        return counts

    def has(self, name: str) -> bool:
        """Take an option that has no value: whether it is there."""
        return bool(self.all(name))

    def back(self, name: str, value: str | None, reason: str = "") -> None:
        """Give back what was taken and is not understood after all, and why.

        Raises ``LookupError`` where there is no such option: a rule that gives back another value
        than it took would lose the one that it took, and nobody would be told.
        """
        found = [
            place for place in self._places.get(name, ()) if self.options[place].value == value
        ]
        if not found:
            raise LookupError(f"no option {shown(Option(name, value))} to give back")
        for place in found:
            option = self.options[place]
            if place not in self._left:
                self._left[place] = option
                self._reasons[option] = reason

    def keep(self, name: str, value: str, rest: str, reason: str) -> None:
        """Give back the rest of a value that was understood in part, and why.

        Of several options with that value it is the last one, which counts.
        """
        for place in reversed(self._places.get(name, ())):
            option = self.options[place]
            if option.value == value and place not in self._left:
                self._left[place] = PlacedOption.at(Option(name, rest), line_of(option))
                self._reasons[self._left[place]] = reason
                return

    def reason(self, option: Option) -> str:
        """Why an option was given back, where that was said."""
        return self._reasons.get(option, "")

    @property
    def left(self) -> list[Option]:
        """What nobody understood, in the order of the script."""
        return [self._left[place] for place in sorted(self._left)]


@dataclass(slots=True)
class ScriptReading:
    """What rules understand of a script: items of a job, and what is worth knowing."""

    items: list[Item] = field(default_factory=list)
    requested: list[Property] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    terms: list[Expression] = field(default_factory=list)  # of the request, beyond ``requested``

    def say(self, name: str, text: Scalar, /, **attributes: str) -> None:
        """A property of the job itself."""
        self.items.append(Property(name, text, attributes))

    def request(self, name: str, text: Scalar, /, **attributes: str) -> None:
        """A property that is requested."""
        self.requested.append(Property(name, text, attributes))

    def note(self, text: str, path: str = "", line: int = 0) -> None:
        """Something that is worth knowing."""
        self.findings.append(finding("W-UNKNOWN", text, path=path, line=line))

    def beaten(self, said: ScriptOptions) -> None:
        """Tell of options that do not count, as another of their name stands behind them."""
        for option, counts in said.beaten:
            told = f"{shown(option)} does not count: {shown(counts)} stands behind it"
            self.note(told, line=line_of(option))

    def all(self) -> tuple[Item, ...]:
        """The items of the job."""
        items = tuple(self.requested)
        if self.terms:
            parts = (*map(Comparison, items), *self.terms)
            items = tuple(write(all_of(parts)))
        return (*self.items, *((Requested(items),) if items else ()))


@dataclass(frozen=True)
class Syntax:
    """How the options of one system are spelled in a script.

    ``takes`` has the number of words behind each option: 0, 1 or more; -1 where one may stand
    behind ``=`` only. ``also`` gives the name by which rules know another spelling. ``lists`` are
    options whose value is a list NAME=VALUE,NAME=VALUE of options of their own, and ``inner`` how
    one of them is written where it is not so. ``split`` takes a line apart into words, and
    ``quote`` is its inverse for one word; ``any_text``: of each without line ends. ``indented``:
    blanks may stand before the prefix.
    ``everywhere``: behind the first command, too, a line with the prefix is a directive. ``apart``:
    only a blank or a ``-`` behind the prefix makes one of it. ``components``: words that stand
    alone behind the prefix and begin the options of another component of the same job.
    """

    prefix: str
    takes: Mapping[str, int]
    also: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, Callable[[str], Iterable[str] | None]] = field(default_factory=dict)
    split: Callable[[str], list[str]] = str.split
    quote: Callable[[str], str] = str
    any_text: bool = False
    abbreviated: bool = False  # whether a long option may be cut short
    inner: Mapping[str, str] = field(default_factory=dict)
    indented: bool = False
    everywhere: bool = False
    apart: bool = False
    components: Set[str] = frozenset()

    def directive(self, line: str) -> str | None:
        """What stands behind the prefix of a line that has it, or None."""
        if self.indented:
            line = line.lstrip()
        if not line.startswith(self.prefix):
            return None
        behind = line[len(self.prefix) :]
        return None if self.apart and behind and behind[0] not in " \t\r-" else behind

    @property
    def check(self) -> Callable[[str], object] | None:
        """What raises ``InvalidValue`` for a text that it cannot quote; None where it can any."""
        return None if self.any_text else self.quote

    def lines(self, options: Iterable[Option]) -> list[str]:
        """The directives for options. Raises ``InvalidValue`` for one that none can hold."""
        heads, quote, line = self._heads.get, self.quote, self.line
        return [
            head + quote(option[1])
            if (head := heads(option[0])) and option[1] is not None and option[1].isprintable()
            else line(option)
            for option in options
        ]

    def line(self, option: Option) -> str:
        """The directive for an option. Raises ``InvalidValue`` for one that none can hold."""
        name, value = option
        if value is None:
            return f"{self.prefix} {name}"
        if not value.isprintable():
            safe(value)
        if (head := self._heads.get(name)) is not None:
            return head + self.quote(value)
        name, _, inner = name.partition(" ")
        if inner:
            text = self.inner.get(name, "{}={}").format(inner, value)
            return f"{self.prefix} {name} {self.quote(text)}"
        if self.takes.get(name, 1) > 1:
            return f"{self.prefix} {name} {value}"
        return self._head(name) + self.quote(value)

    @cached_property
    def _heads(self) -> Mapping[str, str]:
        """What stands before the value of each option that takes one."""
        return {name: self._head(name) for name, takes in self.takes.items() if takes < 2}

    def _head(self, name: str) -> str:
        return f"{self.prefix} {name}{'=' if name.startswith('--') else ' '}"

    def options(self, text: str) -> list[Option]:
        """The options in what stands behind the prefix. Raises ``InvalidValue``."""
        words = self.split(text)
        if len(words) == 1:  # as most lines have
            name, equals, value = words[0].partition("=")
            if equals and (known := self._alone.get(name)):
                return [new_option(Option, (known, value))]
        return [*self._options(words)]

    @cached_property
    def _alone(self) -> Mapping[str, str]:
        """Long options of which one word behind ``=`` is the whole value, by all their names."""
        known = {name: self.also.get(name, name) for name, takes in self.takes.items() if takes < 2}
        return {
            name: meant
            for name, meant in known.items()
            if name.startswith("--") and meant not in self.lists
        }

    def _options(self, words: Sequence[str]) -> Iterator[Option]:
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            if not word.startswith("-") or word == "-":
                raise InvalidValue(word, "an option")
            name, value = self._parted(word)
            takes = self.takes.get(name)
            if takes is None:  # kept as it stands, with the words behind it
                more = place
                while value is None and more < len(words) and not words[more].startswith("-"):
                    more += 1
                shown = " ".join(map(self.quote, (name, *words[place:more])))
                place = more
                yield Option(name, value) if value is not None else Option(shown)
                continue
            behind = takes - (value is not None)
            if takes > 0 and behind > 0:
                given = words[place : place + behind]
                place += behind
                if len(given) < behind:
                    raise InvalidValue(word, "an option with its value")
                value = " ".join(given) if value is None else " ".join((value, *given))
            yield from self._named(name, value)

    def _parted(self, word: str) -> tuple[str, str | None]:
        """The name of an option, and the value that stands in the same word."""
        if word in self.takes:
            return word, None
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            return self._whole(name), value if equals else None
        short = word[:2]
        if self.takes.get(short, 0) > 0:
            return short, word[2:]
        return word, None

    def _whole(self, name: str) -> str:
        """A long option that was cut short, where that is allowed and only one can be meant."""
        if not self.abbreviated or name in self.takes:
            return name
        meant = self._abbreviations.get(name, ())
        return next(iter(meant)) if len(meant) == 1 else name

    @cached_property
    def _abbreviations(self) -> Mapping[str, set[str]]:
        """What each beginning of a long option can mean."""
        found: dict[str, set[str]] = {}
        for full in self.takes:
            if full.startswith("--"):
                for end in range(3, len(full)):
                    found.setdefault(full[:end], set()).add(self.also.get(full, full))
        return found

    def _named(self, name: str, value: str | None) -> Iterator[Option]:
        known = self.also.get(name, name)
        parts = self.lists[known](value) if known in self.lists and value is not None else None
        if parts is not None:
            for part in parts:
                inner, equals, held = part.partition("=")
                yield Option(f"{known} {inner}", held if equals else None)
        else:
            yield Option(known, value)


def commas(text: str) -> list[str]:
    """The parts between commas."""
    return [part for part in text.split(",") if part]


def assignments(text: str) -> list[str]:
    """The parts NAME=VALUE of a list whose values may hold commas."""
    parts: list[str] = []
    for part in text.split(","):
        if "=" in part or not parts:
            parts.append(part)
        else:
            parts[-1] += f",{part}"
    return parts
