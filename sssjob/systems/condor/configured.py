"""A configuration of HTCondor, as ``condor_config_val -dump`` prints it: what it says about hooks,
slots, cron jobs and policy, and what of it would not work.

>>> told = Configured.read("SSS_HOOK_FETCH_WORK = /x y\\nSTARTD_JOB_HOOK_KEYWORD = SSS\\n")
>>> [found.text for found in told.found() if found.is_error][0]
'a path and nothing else is expected, and it has blanks: /x y'
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from math import inf, isfinite
from typing import TYPE_CHECKING

from sssjob.classads import evaluate, operators, parser, quoting
from sssjob.classads.errors import BadAd
from sssjob.classads.needed import references
from sssjob.classads.tree import (
    AttributeReference,
    Binary,
    Call,
    Conditional,
    Grouped,
    Literal,
    Unary,
)
from sssjob.classads.values import ERROR, UNDEFINED, Node, RelTime, Special
from sssjob.integers import whole
from sssjob.suggestions import question
from sssjob.systems.condor import names, slot_types
from sssjob.systems.condor.executables import (
    USERS,
    Runner,
    closed,
    daemons,
    is_to_be_put_away,
    refused,
    unusable,
)
from sssjob.systems.condor.hooks.place import UnsafeQueue, check_said, status
from sssjob.systems.condor.hooks.settings import KNOWN
from sssjob.systems.condor.hooks.site import called_in

if TYPE_CHECKING:
    from sssjob.classads.values import Value
    from sssjob.systems.condor.hooks.settings import HookSettings

MOST = 100_000  # lines that are read
_DEPTH = 32  # macros within each other
_LONGEST = 1 << 16  # letters of a value once its macros are replaced

_LINE = re.compile(r"\s*([A-Za-z_][\w.]*)\s*([=:])(.*)", re.ASCII | re.DOTALL)
_HERE = re.compile(r"\s*([A-Za-z_][\w.]*)\s*@=\s*(\w+)\s*", re.ASCII)
_USE = re.compile(r"\s*use\s+\w+\s*:.*", re.ASCII | re.IGNORECASE)
_INCLUDE = re.compile(r"\s*@?include\b[^:=]*:\s*(.*)", re.ASCII | re.IGNORECASE)
_TELLS = re.compile(r"\s*(warning|error)\s*:.*", re.ASCII | re.IGNORECASE)
_BRANCH = re.compile(r"\s*(if|elif|else|endif)(\s.*|\s*)", re.ASCII | re.IGNORECASE)
_DEFINED = re.compile(r"defined\s+(\w[\w.]*)", re.ASCII | re.IGNORECASE)
_NESTED = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"  # a text whose brackets are closed
_MACRO = re.compile(rf"(?<!\$)\$\(([\w.]+)(?::({_NESTED}))?\)", re.ASCII)
_HOOK = re.compile(r"(\w+?)_HOOK_(\w+)", re.ASCII)
_SLOT = re.compile(r"SLOT(\d+)_JOB_HOOK_KEYWORD", re.ASCII)
_NO_SLOT = re.compile(r"SLOT_(\d+)_(\w+)", re.ASCII)
_OF_SLOTS = r"(?:SLOT(?:_TYPE_)?\d+_)?"  # what some slots have instead of all
_EXPRESSION = re.compile(
    _OF_SLOTS + r"(?:CONSUMPTION_(?!POLICY$)|JOB_DEFAULT_REQUEST|MODIFY_REQUEST_EXPR_)\w+", re.ASCII
)
_SLOT_TYPE = re.compile(r"(NUM_SLOTS|SLOT)_TYPE_(\d+)(?:_(\w+))?", re.ASCII)
_CRON = re.compile(r"STARTD_CRON_(\w+)", re.ASCII)
# What HTCondor works out when it reads a value, such as $INT(N) or $RANDOM_CHOICE(1,2).
_FUNCTION = re.compile(r"\$[A-Za-z][A-Za-z_]*\(")
_RESOURCE = re.compile(r"MACHINE_RESOURCE_(?!NAMES$)(INVENTORY_)?(\w+)", re.ASCII)
_OF_DAEMON = re.compile(r"(STARTD|STARTER)\.(\w+)", re.ASCII)
_PERIOD = re.compile(r"\d{1,9}\s*[smhSMH]?", re.ASCII)
_OF_SOME = re.compile(r"SLOT(_TYPE_)?(\d+)_\w+", re.ASCII)
_METRIC = re.compile(r"(SUM|PEAK):[A-Za-z_]\w*", re.ASCII | re.IGNORECASE)
_EXECUTE = re.compile(r"SLOT\d+_EXECUTE", re.ASCII)
_YES, _NO = ("true", "1", "yes", "t"), ("false", "0", "no", "f")
# How many there are, the first that is set: what the site says goes before what is found.
_CPUS = ("NUM_CPUS", "DETECTED_CPUS_LIMIT", "DETECTED_CPUS")
_MEMORY = ("MEMORY", "DETECTED_MEMORY")
_COUNTS = ("NUM_CPUS", "MEMORY", "RESERVED_MEMORY", "NUM_SLOTS", "MAX_SLOT_TYPES")

# fmt: off
STARTD_HOOKS = {
    "FETCH_WORK":  "asked for a job for each slot that has none",
    "REPLY_FETCH": "told whether the slot took the job",
    "EVICT_CLAIM": "told that the slot gives up a fetched job",
}
STARTER_HOOKS = {
    "PREPARE_JOB_BEFORE_TRANSFER": "called before the files of a job are there",
    "PREPARE_JOB":                 "called before a job starts",
    "UPDATE_JOB_INFO":             "told again and again what a job uses",
    "JOB_EXIT":                    "told how a job ended",
}
# Of schedds and shadows, and what stands behind the name of a hook.
_OTHERS = ("TRANSLATE_JOB", "JOB_FINALIZE", "JOB_CLEANUP", "SHADOW_PREPARE_JOB")
_TIMEOUT = "_TIMEOUT"
_ENDS = ("_ARGS", _TIMEOUT)
POLICY = (
    "START", "IS_OWNER", "SUSPEND", "CONTINUE", "PREEMPT", "KILL", "RANK", "WANT_SUSPEND",
    "WANT_VACATE", "WANT_HOLD", "MAXJOBRETIREMENTTIME", "MACHINEMAXVACATETIME", "FETCHWORKDELAY",
)
_IN_SECONDS = ("MAXJOBRETIREMENTTIME", "MACHINEMAXVACATETIME", "FETCHWORKDELAY")
KEYWORDS = {
    "STARTD_JOB_HOOK_KEYWORD":          "whose hooks the startd calls, for every slot",
    "STARTER_JOB_HOOK_KEYWORD":         "whose hooks starters call, whatever a job says",
    "STARTER_DEFAULT_JOB_HOOK_KEYWORD": "whose hooks starters call for jobs that name none",
}
# What is set of a job of cron, with its name before it, and of all of them.
CRON_JOB = (
    "ARGS", "CONDITION", "CWD", "ENV", "EXECUTABLE", "JOB_LOAD", "KILL", "METRICS", "MODE",
    "PERIOD", "PREFIX", "RECONFIG", "RECONFIG_RERUN", "SLOTS",
)
CRON = ("AUTOPUBLISH", "CONFIG_VAL", "JOBLIST", "LOG_NON_ZERO_EXIT", "MAX_JOB_LOAD", "NAME")
MODES = ("Periodic", "WaitForExit", "OneShot", "OnDemand")
# Knobs that decide about fetched jobs, their default, and what they mean.
KNOBS = (
    ("FETCHWORKDELAY",                 "300", "seconds from one question for work to the next"),
    ("STARTER_INITIAL_UPDATE_INTERVAL", "8",  "seconds to the first update of a job"),
    ("STARTER_UPDATE_INTERVAL",        "300", "seconds between updates of a job, for its limits"),
    ("POLLING_INTERVAL",               "5",   "seconds after which the startd looks at its policy"),
    ("MAXJOBRETIREMENTTIME",           "0",   "seconds that a job may go on when it is to leave"),
    ("MACHINEMAXVACATETIME",           "600", "seconds from a job's SIGTERM to its SIGKILL"),
)
# What HTCondor takes these for where nothing sets them, before what a macro says by itself.
BY_ITSELF = {
    "ACTIVITYTIMER": "(time() - EnteredCurrentActivity)", "CONTINUE": "True", "DOLLAR": "$",
    "HOUR": "3600", "IS_OWNER": "False", "KILL": "False", "MACHINEMAXVACATETIME": "10 * 60",
    "MAX_SLOT_TYPES": "10", "MINUTE": "60", "POLLING_INTERVAL": "5", "PREEMPT": "False",
    "RESERVED_MEMORY": "0", "STARTER_INITIAL_UPDATE_INTERVAL": "8", "START": "True",
    "STATETIMER": "(time() - EnteredCurrentState)", "SUSPEND": "False", "WANT_SUSPEND": "False",
    "WANT_VACATE": "True",
}
# fmt: on
_MOST_TYPES = int(BY_ITSELF["MAX_SLOT_TYPES"])
_POLICY = re.compile(f"{_OF_SLOTS}({'|'.join(POLICY)})", re.ASCII)
# What some of them mean where they hold for each job, and always.
_TRUE = {
    "PREEMPT": "each job is evicted as soon as it runs",
    "SUSPEND": "each job is suspended as soon as it runs, if WANT_SUSPEND is true",
    "KILL": "a job that is to leave is killed at once",
}
_ABOUT_LIMITS = f"{names.FEATURE}wall_limit_secs"


def _odd(line: str) -> str:
    """What is wrong with a line that sets nothing."""
    if branch := _BRANCH.fullmatch(line):
        return "it has no endif" if branch[1].lower() == "if" else "no if is open"
    if _TELLS.fullmatch(line):
        return "HTCondor reads no configuration with this in it"
    return "it has no end" if _HERE.fullmatch(line) else "it is no variable"


class _Branches:
    """Which lines of a configuration are read, between ``if`` and ``endif``."""

    def __init__(self) -> None:
        self._open: list[tuple[bool, bool]] = []  # whether it is read, and whether one was

    @property
    def are_read(self) -> bool:
        """Whether the lines that follow are read."""
        return all(is_read for is_read, _ in self._open)

    @property
    def is_open(self) -> bool:
        """Whether an ``if`` has no ``endif`` yet."""
        return bool(self._open)

    def turn(self, word: str, told: Configured) -> bool:
        """Go on with ``if``, ``elif``, ``else`` or ``endif``; False for one that ends nothing.

        The condition is the variable "" of what is told up to here.
        """
        if word == "if":
            holds = _holds(told)
            self._open.append((holds, holds))
            return True
        if not self._open:
            return False
        _, was_read = self._open.pop()
        if word != "endif":
            is_read = not was_read and (word == "else" or _holds(told))
            self._open.append((is_read, was_read or is_read))
        return True


def _holds(told: Configured) -> bool:
    """Whether a condition holds; one on the version of HTCondor, which nobody knows, does."""
    text = told.get("")
    is_negated = False
    while text.startswith("!"):
        text, is_negated = text[1:].lstrip(), not is_negated
    if name := _DEFINED.fullmatch(text):
        return bool(told.get(name[1]) or name[1].upper() in BY_ITSELF) is not is_negated
    return (bool(text) and text.lower() not in _NO) is not is_negated


@dataclass(frozen=True, slots=True)
class ConfiguredVariable:
    """A variable of the configuration, what it stands for, and what that means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Caveat:
    """What is wrong with a variable (``is_error``), or may surprise."""

    name: str
    text: str
    is_error: bool = True


def _joined(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines with those that go on with them, each with the number of its first."""
    rest = iter(enumerate(lines, 1))
    ends = {line.strip(): number for number, line in enumerate(lines, 1) if "@" in line}
    for number, line in rest:
        # One without its end HTCondor refuses: it is told, and what follows is read.
        if (found := _HERE.fullmatch(line)) and ends.get(end := f"@{found[2]}", 0) > number:
            parts = []
            for _, each in rest:
                if each.strip() == end:
                    break
                parts.append(each.strip())
            said = (part for part in parts if part and not part.startswith("#"))
            line = f"{found[1]} = " + "\n".join(said)
        while (goes_on := line.rstrip()).endswith("\\") and (following := next(rest, None)):
            line = goes_on[:-1] + following[1].lstrip()  # with no blank of its own
        yield number, line


@dataclass(slots=True)
class Configured:
    """Variables by their names in capital letters; each with the name as it is written."""

    values: Mapping[str, str]
    written: Mapping[str, str]
    odd: list[tuple[int, str]] = field(default_factory=list)
    uses: bool = False  # more is set by what it only names
    notes: list[tuple[int, str]] = field(default_factory=list)  # on lines that may surprise

    @classmethod
    def read(cls, text: str) -> Configured:
        """The variables of a dump, or of a file as people write it.

        There a line that ends with a backslash goes on in the next, ``NAME @=end`` has all lines
        to ``@end``, and what stands behind an ``if`` that does not hold is not read. Lines that
        are none are ``odd``, with their numbers. What ``use`` stands for is not known.
        """
        values: dict[str, str] = {}
        written: dict[str, str] = {}
        odd, notes = [], []
        uses = False
        branches, begun = _Branches(), (0, "")
        for number, line in _joined(text.splitlines()[:MOST]):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            if branch := _BRANCH.fullmatch(line):
                values[""] = branch[2]  # no variable has this name
                begun = (number, line.strip())
                if not branches.turn(branch[1].lower(), cls(values, {})):
                    odd.append((number, line.strip()))
                del values[""]
                continue
            if not branches.are_read:
                continue
            if _USE.fullmatch(line):
                uses = True
                continue
            if include := _INCLUDE.fullmatch(line):
                uses = True
                told = f"what {include[1][:60]!r} sets is not read; condor_config_val -dump tells"
                notes.append((number, told))
                continue
            if tells := _TELLS.fullmatch(line):
                if tells[1].lower() == "error":
                    odd.append((number, line.strip()))
                continue
            if (found := _LINE.fullmatch(line)) is None:
                odd.append((number, line.strip()))
                continue
            key = found[1].upper()
            # Of itself a variable means what it was before, in a file that sets it again.
            values[key] = _without_itself(key, found[3].strip(), values.get(key))
            written[key] = found[1]
            if found[2] == ":":
                notes.append((number, f"{found[1]}: HTCondor warns of ':' in the place of '='"))
        if branches.is_open:
            odd.append(begun)
        # What is set for a daemon alone goes before what is set for all of them.
        for key in [*values]:
            of = _OF_DAEMON.fullmatch(key)
            if of is not None and values[key] and of[1] == _reader(of[2]):
                values[of[2]] = _without_itself(of[2], values[key], values.get(of[2]))
                written[of[2]] = written[key]
        return cls(values, written, odd, uses, notes)

    def get(self, name: str, default: str = "") -> str:
        """What a variable stands for, its macros replaced; ``default`` where it is not set."""
        value = self.values.get(name.upper(), "")
        room = _LONGEST

        def replaced(found: re.Match[str]) -> str:
            nonlocal room
            text = self._replaced(found)
            room -= len(text)
            return text if room >= 0 else ""

        for _ in range(_DEPTH):
            new = _MACRO.sub(replaced, value)
            if new == value or room < 0:
                break
            value = new
        return value.strip() or default

    def _matching(self, pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str]]]:
        for key in sorted(self.values):
            if (found := pattern.fullmatch(key)) is not None and self.get(key):
                yield self.written[key], found

    # What it says.

    def said(self) -> Iterator[ConfiguredVariable]:
        """The variables about hooks, slots, resources, cron jobs and policy, explained."""
        for name, meaning in KEYWORDS.items():
            if word := self.get(name):
                yield ConfiguredVariable(name, word, meaning)
        for name, slot in self._matching(_SLOT):
            yield ConfiguredVariable(
                name, self.get(name), f"whose hooks the startd calls for slot {slot[1]}"
            )
        for name, hook in self._matching(_HOOK):
            if meaning := (STARTD_HOOKS | STARTER_HOOKS).get(hook[2], ""):
                yield ConfiguredVariable(name, self.get(name), meaning)
        for name, default, meaning in KNOBS:
            value = self.get(name, default)
            shown = self.written.get(name, name)
            yield ConfiguredVariable(
                shown, value, meaning + ("" if self.get(name) else " (default)")
            )
        for number, count, share, kind in self._slot_types():
            shown = "?" if count is None else str(count)
            yield ConfiguredVariable(
                f"SLOT_TYPE_{number}", share, f"{shown} {kind} slot{'s' * (count != 1)}"
            )
        for name, found in self._matching(_RESOURCE):
            how = (
                "found by this program"
                if found[1]
                else f"given to jobs as Request{self._end(name, found[2])}"
            )
            yield ConfiguredVariable(name, self.get(name), f"a resource of the machine, {how}")
        for job in self._cron_jobs():
            mode = self.get(f"STARTD_CRON_{job}_MODE", "Periodic")
            period = self.get(f"STARTD_CRON_{job}_PERIOD", "")
            yield ConfiguredVariable(f"STARTD_CRON_{job}_EXECUTABLE",
                       self.get(f"STARTD_CRON_{job}_EXECUTABLE", "none"),
                       f"publishes in the ads of slots; {mode} {period}".rstrip())  # fmt: skip

    def _slot_types(self) -> Iterator[tuple[int, int | None, str, str]]:
        """Each type of slots: its number, how many there are (None: nobody knows), what each has,
        and its kind.
        """
        numbers = {
            number for _, found in self._matching(_SLOT_TYPE)
            if (found[3] or "PARTITIONABLE") == "PARTITIONABLE"
            and (number := whole(found[2])) is not None
        }  # fmt: skip
        for number in sorted(numbers):
            count = self._whole(f"NUM_SLOTS_TYPE_{number}", 0)
            share = self.get(f"SLOT_TYPE_{number}", "auto")
            partitionable = self.get(f"SLOT_TYPE_{number}_PARTITIONABLE").lower()
            yield number, count, share, "partitionable" if partitionable in _YES else "static"

    def _cron_jobs(self) -> list[str]:
        return self.get("STARTD_CRON_JOBLIST").replace(",", " ").split()

    def _end(self, name: str, end: str) -> str:
        return name[len(name) - len(end) :]

    # What is wrong with it.

    def found(self, *, files: bool = True) -> Iterator[Caveat]:
        """What would not work, or may surprise; ``files`` looks at the programs that it names."""
        for number, line in self.odd:
            yield Caveat(f"line {number}", f"{_odd(line)}: {line[:60]!r}")
        for number, text in self.notes:
            yield Caveat(f"line {number}", text, is_error=False)
        if not self.values and not self.uses:
            told = "no variable is in it; it is to be what condor_config_val -dump prints"
            yield Caveat("all of it", told)
        every = (
            self._hooks(files), self._misspelt(), self._policy(), self._slots(),
            self._resources(files), self._crons(files),
        )  # fmt: skip
        unknown: set[str] = set()
        for each in chain.from_iterable(every):
            if not (told := self._unknown(each.name)):
                yield each
            elif not (self.uses or self._calculated(each.name)) and _POLICY.fullmatch(
                each.name.upper()
            ):
                yield replace(each, text=f"{each.text}; {told}")
            elif each.name not in unknown:
                unknown.add(each.name)
                yield Caveat(each.name, f"{told}, so that it is not looked at", is_error=False)
        for name, of in self._matching(_HOOK):
            is_hook = of[2] in STARTD_HOOKS or of[2] in STARTER_HOOKS
            if is_hook and name not in unknown and (told := self._unknown(name)):
                yield Caveat(name, f"{told}, so that it is not looked at", is_error=False)

    def _unknown(self, name: str) -> str:
        """Why the value of a variable cannot be known from this text; "" where it can."""
        if function := self._calculated(name):
            return function
        value = self.values.get(name.upper(), "")
        for _ in range(_DEPTH):
            for macro in _MACRO.finditer(value):
                key = macro[1].upper()
                if macro[2] is None and key not in self.values and key not in BY_ITSELF:
                    return f"$({macro[1]}) in it is not set here"
            new = _MACRO.sub(self._replaced, value)[:_LONGEST]
            if new == value:
                break
            value = new
        return ""

    def _calculated(self, name: str) -> str:
        function = _FUNCTION.search(self.get(name))
        return f"HTCondor calculates it ({function[0]}...)" if function else ""

    def _replaced(self, found: re.Match[str]) -> str:
        key = found[1].upper()
        return self.values.get(key) or BY_ITSELF.get(key, found[2] or "")

    def _hooks(self, files: bool) -> Iterator[Caveat]:
        there: dict[str, set[str]] = {}
        known = (*STARTD_HOOKS, *STARTER_HOOKS, *_OTHERS)
        for name, hook in self._matching(_HOOK):
            keyword, kind = hook[1], hook[2]
            if kind.endswith(_ENDS) or f"{keyword}_HOOK_{kind}" in KEYWORDS:
                continue
            if kind == "KEYWORD" or _SLOT.fullmatch(name.upper()):
                continue
            if kind not in known and self._is_of_others(name):
                continue
            if kind not in known:
                yield Caveat(name, f"HTCondor has no hook of this name{question(kind, known)}")
                continue
            there.setdefault(keyword, set()).add(kind)
            yield from self._program(name, files, of_startd=kind in STARTD_HOOKS)
        if files:
            yield from self._places()
        for name, word, of_startd in self._keywords():
            hooks = there.get(word.upper(), set())
            wanted = STARTD_HOOKS if of_startd else STARTER_HOOKS
            if not hooks & wanted.keys():
                yield Caveat(name, f"no {word}_HOOK_{next(iter(wanted))} or other hook is set"
                                  f"{question(word.upper(), there)}")  # fmt: skip
            elif of_startd:
                yield from self._fetching(name, word, hooks)
        called = {word.upper() for _, word, _ in self._keywords()}
        for keyword in sorted(there.keys() - called):
            yield Caveat(f"{keyword}_HOOK_...", "no keyword names these hooks, so that only a job "
                        "with this HookKeyword has them", is_error=False)  # fmt: skip

    def _misspelt(self) -> Iterator[Caveat]:
        for name, found in self._matching(_NO_SLOT):
            right = f"SLOT{found[1]}_{found[2]}"
            if _SLOT.fullmatch(right) or _POLICY.fullmatch(right):
                yield Caveat(name, f"HTCondor has no variable of this name; did you mean {right}?")

    def _keywords(self) -> Iterator[tuple[str, str, bool]]:
        """Each variable with a keyword, its word, and whether it is the startd that reads it."""
        for name in KEYWORDS:
            if word := self.get(name):
                yield name, word, name.startswith("STARTD")
        for name, _ in self._matching(_SLOT):
            yield name, self.get(name), True

    def _fetching(self, name: str, word: str, hooks: set[str]) -> Iterator[Caveat]:
        if "FETCH_WORK" not in hooks:
            yield Caveat(name, f"{word}_HOOK_FETCH_WORK is not set: no slot fetches a job")
            return
        for hook, what in (
            ("REPLY_FETCH", "whether a slot took a job is not known"),
            ("EVICT_CLAIM", "a job that a slot gives up comes back late"),
            ("UPDATE_JOB_INFO", "no limit but the Duration of a job is kept"),
            ("JOB_EXIT", "how a job ended is never known"),
        ):
            if hook not in hooks:
                yield Caveat(f"{word}_HOOK_{hook}", f"it is not set: {what}", hook == "JOB_EXIT")
        of_slots = [key for key, of in self._matching(_POLICY) if of[1] != key.upper()]
        for knob in ("PREEMPT", "WANT_HOLD", *of_slots):
            is_knob = knob.upper().endswith(("PREEMPT", "WANT_HOLD"))
            if is_knob and _ABOUT_LIMITS not in self.get(knob):
                told = "it says nothing of fetched jobs: the Duration of one is not kept"
                yield Caveat(self.written.get(knob.upper(), knob), told, is_error=False)
        retirement = self.get("MAXJOBRETIREMENTTIME", "0")
        if retirement != "0":
            told = f"a job that is over its Duration may go on for {retirement} s"
            yield Caveat("MAXJOBRETIREMENTTIME", told, is_error=False)

    def _program(self, name: str, files: bool, *, of_startd: bool) -> Iterator[Caveat]:
        path = self.get(name)
        if not os.path.isabs(path):
            yield Caveat(name, f"an absolute path is expected: {path}")
        elif files and (wrong := unusable(path)):
            blank = re.search(r"\s", path) and not os.path.exists(path)
            told = f"a path and nothing else is expected, and it has blanks: {path}"
            yield Caveat(name, told if blank else wrong)
        elif not files and re.search(r"\s", path):
            yield Caveat(name, f"a path and nothing else is expected, and it has blanks: {path}")
        elif files:
            runner = self._daemons() if of_startd else USERS
            if runner is not None and (wrong := closed(path, runner)):
                yield Caveat(name, wrong)

    def _unusable(self, path: str) -> str:
        """What is wrong with a program that is no hook, "" if nothing is."""
        runner = self._daemons()
        return unusable(path, is_hook=False) or (closed(path, runner) if runner else "")

    def _daemons(self) -> Runner | None:
        return daemons(self.get("CONDOR_IDS"))

    # decision 888, 963
    def _places(self) -> Iterator[Caveat]:
        """Which documents, queue or spool whoever runs our hooks may not use, and why."""
        told: dict[tuple[str, ...], tuple[str, HookSettings]] = {}
        of_keyword: dict[str, tuple[str, tuple[str, ...]]] = {}
        for name, hook in self._matching(_HOOK):
            path = self.get(name)
            called = called_in(path) if os.path.isfile(path) else None
            if called is None or "documents" not in KNOWN.get(called[0], ()):
                continue
            settings = called[1]
            where = (settings.jobs.removeprefix("sqlite:"), settings.state)
            told.setdefault((*where, *settings.trust), (name, settings))
            first, other = of_keyword.setdefault(hook[1], (name, where))
            if other != where:
                told_of = f"its queue is {where[1] or 'none'}, and that of {first} {other[1]}"
                yield Caveat(name, f"{told_of}: what one of them says the other never hears")
        for name, settings in told.values():
            if wrong := next(filter(None, self._closed(settings)), ""):
                yield Caveat(name, wrong)

    def _closed(self, settings: HookSettings) -> Iterator[str]:
        """What is wrong with the directories of hooks, check by check; "" where nothing is."""
        try:
            check_said(settings)
        except UnsafeQueue as error:
            yield str(error)
            return
        jobs = settings.jobs.removeprefix("sqlite:")
        runner = self._at(settings)
        if "://" not in jobs:
            if not os.path.exists(jobs):
                yield f"{jobs} is not there, where the documents are to be"
                return
            # Beside the file of a store SQLite has others.
            written = (jobs,) if os.path.isdir(jobs) else (os.path.dirname(jobs), jobs)
            if runner:
                yield from (closed(each, runner, writes=True) for each in written)
        state = os.path.abspath(settings.state)
        if runner:
            yield closed(os.path.dirname(state), runner)
            yield refused(settings, runner)
            if is_to_be_put_away(settings, runner):  # and made anew
                state = os.path.dirname(state)
        yield closed(state, USERS)  # in which the spool is

    def _at(self, settings: HookSettings) -> Runner | None:
        """Who runs the hooks of the startd that use a queue; None where nobody can tell."""
        if os.geteuid() == 0:
            return self._daemons()
        # Who is not root has daemons of one's own, if any of this is.
        found = map(status, (settings.state, settings.jobs.removeprefix("sqlite:")))
        is_own = any(each is not None and each.st_uid == os.geteuid() for each in found)
        return Runner("who runs this", os.geteuid(), tuple(os.getgroups())) if is_own else None

    def _is_of_others(self, name: str) -> bool:
        """Whether other variables are made of one, such as of a directory of hooks."""
        macro = f"$({name.upper()}"
        return any(macro in value.upper() for value in self.values.values())

    def _published(self) -> tuple[str, ...]:
        """What of the configuration is published in the ads of slots, as expressions."""
        listed = " ".join(self.get(name) for name in ("STARTD_ATTRS", "STARTD_EXPRS"))
        return tuple(
            name
            for name in dict.fromkeys(re.split(r"[\s,]+", listed.upper()))
            if name in self.values
        )

    def _is_unpublished(self, node: Node) -> bool:
        """Whether an expression is a name alone, and of nothing that is published."""
        if not isinstance(node, AttributeReference) or node.base is not None:
            return False
        return node.name.upper() not in self._published()

    def _policy(self) -> Iterator[Caveat]:
        scoped = {key.upper(): of[1] for key, of in self._matching(_POLICY)}
        others = dict.fromkeys((*self._published(), *(
            key.upper() for key, _ in self._matching(_EXPRESSION)
        )), "")  # fmt: skip
        for key, name in {**others, **scoped}.items():
            text = self.get(key)
            if not text:
                continue
            if "$(" in text:
                yield Caveat(self.written[key], f"a macro in it stands for itself: {text[:80]}")
                continue
            try:
                node: Node = parser.expression(text, old=True)
            except BadAd as error:
                yield Caveat(self.written[key], f"it is no expression: {error.reason}")
                continue
            value = _constant(text)
            if told := self._always(name, node, value, is_of_all=key == name):
                yield Caveat(self.written[key], told, is_error=False)
            if name in POLICY and name not in _IN_SECONDS:
                what = "a number" if name == "RANK" else "true or false"
                if value is not UNDEFINED and isinstance(operators.truth(value), Special):
                    yield Caveat(self.written[key], f"{what} is expected: {text[:60]}")
            elif name in _IN_SECONDS and not _is_span(value):
                yield Caveat(self.written[key], f"seconds are expected: {text[:60]}")
            # It is asked for of a slot without a job: what is published is all there is.
            elif name == "FETCHWORKDELAY" and self._is_unpublished(node):
                told = f"without {text} in STARTD_ATTRS it is undefined: a slot asks after 300 s"
                yield Caveat(self.written[key], told, is_error=False)
        for name in (
            "STARTER_UPDATE_INTERVAL",
            "STARTER_INITIAL_UPDATE_INTERVAL",
            "POLLING_INTERVAL",
        ):
            if self.get(name) and not self._whole(name, None):
                yield Caveat(name, f"whole seconds are expected: {self.get(name)[:60]}")
        for name, hook in self._matching(_HOOK):
            if hook[2].endswith(_TIMEOUT) and self._whole(name, None) is None:
                yield Caveat(name, f"whole seconds are expected: {self.get(name)[:60]}")

    def _always(self, name: str, node: Node, value: Value, *, is_of_all: bool) -> str:
        """What a policy means for every job, whatever its ad says; "" where that is nothing odd."""
        is_undefined = isinstance(node, Literal) and value is UNDEFINED
        if name in _TRUE and operators.truth(value) is True:
            return f"it is true: {_TRUE[name]}"
        if name in _TRUE and is_undefined:
            return "it is undefined, which HTCondor takes for false"
        if name != "START":
            return ""
        none = "no slot takes a job" if is_of_all else "none of these slots takes a job"
        if operators.truth(value) is False:
            return f"it is false: {none}"
        if is_undefined:
            return f"it is undefined: {none}"
        if isinstance(node, AttributeReference) and self._is_unpublished(node):
            return f"{none}, unless slot or job says {node.name}"
        return ""

    def _slots(self) -> Iterator[Caveat]:
        types = []
        resources = self._resource_names()
        for name in _COUNTS:
            raw = self.values.get(name, "")
            # What a macro of HTCondor's own stands for is not known in a file.
            if raw and "$(" not in raw and self._whole(name, None) is None:
                yield Caveat(self.written[name], f"a whole number is expected: {raw[:60]!r}")
        most = self._whole("MAX_SLOT_TYPES", None)
        most = _MOST_TYPES if most is None else most
        for number, count, share, _ in self._slot_types():
            name, of = f"SLOT_TYPE_{number}", f"NUM_SLOTS_TYPE_{number}"
            if count is None:
                yield Caveat(of, f"a whole number is expected: {self.get(of)[:60]!r}")
            elif name not in self.values:
                yield Caveat(of, f"{name} is not set")
            elif not count:
                yield Caveat(name, f"{of} is not set or 0: no such slot is made", is_error=False)
            if not 0 < number <= most:
                yield Caveat(name, f"MAX_SLOT_TYPES is {most}")
                continue
            has = slot_types.read(share, resources)
            for told, is_error in has.wrong:
                yield Caveat(name, told, is_error and count != 0)
            partitionable = self.get(f"{name}_PARTITIONABLE")
            if partitionable and partitionable.lower() not in (*_YES, *_NO):
                told = f"true or false is expected: {partitionable[:60]!r}"
                yield Caveat(f"{name}_PARTITIONABLE", told)
            types.append(slot_types.SlotType(count or 0, has))
        apart = any(_EXECUTE.fullmatch(name) for name in self.values)
        totals = self._totals(resources or ())
        for told in slot_types.overdrawn(types, totals, resources or (), apart=apart):
            yield Caveat("SLOT_TYPE_...", told)
        slots, there = self._whole("NUM_SLOTS", None), totals.get("cpus")
        if not types and slots is not None and there is not None and slots > there:
            yield Caveat("NUM_SLOTS", f"{slots} slots are more than {there} cpus")
        yield from self._of_no_slot()

    def _of_no_slot(self) -> Iterator[Caveat]:
        """What is set for slots, or types of slots, that do not exist."""
        counts = {number: count for number, count, *_ in self._slot_types()}
        total = None if None in counts.values() else sum(filter(None, counts.values()))
        if not counts:
            total = self._whole("NUM_SLOTS", None)
        for name, found in self._matching(_OF_SOME):
            number = int(found[2][:9])
            if found[1]:
                if counts and number not in counts:
                    yield Caveat(name, f"no slot is of the type {number}")
            elif total and not 0 < number <= total:
                told = f"there {'is' if total == 1 else 'are'} {total} slot{'s' * (total != 1)}"
                yield Caveat(name, f"there is no slot {found[2]}: {told}")

    def _resource_names(self) -> Collection[str] | None:
        """The names of the resources that the machine has of its own; None where a ``use`` may
        bring more.
        """
        if self.uses:
            return None
        enabled = self.get("MACHINE_RESOURCE_NAMES").replace(",", " ").lower().split()
        found = {found[2].lower() for _, found in self._matching(_RESOURCE)}
        return found & {*enabled} if enabled else found

    def _totals(self, resources: Collection[str]) -> dict[str, Fraction]:
        """How many a machine has of what it gives its slots, where that is told."""
        cpus = next((each for each in _CPUS if self.get(each)), "")
        memory = next((each for each in _MEMORY if self.get(each)), "")
        found: dict[str, int | float | None] = {
            "cpus": self._whole(cpus, None),
            "memory": self._whole(memory, None),
        }
        reserved = self._whole("RESERVED_MEMORY", 0)
        if found["memory"] is not None and memory != "MEMORY":
            found["memory"] = max(found["memory"] - (reserved or 0), 0)
        for name in resources:
            value = self.get(f"MACHINE_RESOURCE_{name}")
            number = _number(value)
            # Else the id of each is listed, where no program finds them.
            ids = value.replace(",", " ").split()
            found[name] = number if number is not None or not ids else len(ids)
        return {
            name: Fraction(value)
            for name, value in found.items()
            if value is not None and isfinite(value)
        }

    def _whole(self, name: str, default: int | None) -> int | None:
        """The whole number from 0 on that a variable is or comes to; None if it is none."""
        text = self.get(name) if name else ""
        if not text:
            return default
        value = _constant(text)
        return value if type(value) is int and value >= 0 else None

    def _resources(self, files: bool) -> Iterator[Caveat]:
        for name, found in self._matching(_RESOURCE):
            value = self.get(name)
            program, _, _ = value.partition(" ")
            if not found[1] and not 0 <= (_number(value) or 0) < inf:
                yield Caveat(
                    name, f"a number of them, or the id of each, is expected: {value[:60]}"
                )
            if found[1] and files and (wrong := self._unusable(program)):
                yield Caveat(name, wrong)

    def _crons(self, files: bool) -> Iterator[Caveat]:
        for job in self._cron_jobs():
            head = f"STARTD_CRON_{job}_"
            path = self.get(f"{head}EXECUTABLE")
            if not path:
                yield Caveat(f"{head}EXECUTABLE", f"it is not set, and {job} is a job of cron")
            elif files and (wrong := self._unusable(path)):
                yield Caveat(f"{head}EXECUTABLE", wrong)
            mode = self.get(f"{head}MODE", "Periodic")
            if mode.lower() not in map(str.lower, MODES):
                told = f"{mode!r} is no mode{question(mode, MODES)}; known: {', '.join(MODES)}"
                yield Caveat(f"{head}MODE", told)
            period = self.get(f"{head}PERIOD")
            is_none = mode.lower() == "periodic" and not period.strip("0 smhSMH")
            if mode.lower() in ("periodic", "waitforexit") and (
                is_none or not _PERIOD.fullmatch(period)
            ):
                yield Caveat(f"{head}PERIOD", f"a time such as 5m is expected: {period!r}")
            slots = self.get(f"{head}SLOTS")
            if not all(map(str.isdecimal, re.split(r"[\s,]+", slots.strip()) if slots else ())):
                yield Caveat(f"{head}SLOTS", f"numbers of slots are expected: {slots[:60]!r}")
            for end, read in (("ARGS", quoting.split_v2), ("ENV", quoting.environment_v2)):
                text = self.get(f"{head}{end}")
                try:
                    if text.startswith('"'):  # else words between blanks
                        read(quoting.unquoted_v2(text))
                except BadAd as error:
                    yield Caveat(f"{head}{end}", error.reason)
            yield from self._of_cron_job(head)
        yield from self._load("STARTD_CRON_MAX_JOB_LOAD")
        yield from self._misspelt_crons()

    def _load(self, name: str) -> Iterator[Caveat]:
        if text := self.get(name):
            load = _number(text)
            if load is None or not 0 <= load <= 100:
                told = f"a load such as 0.01 is expected, at most 100: {text[:60]!r}"
                yield Caveat(name, told)

    def _of_cron_job(self, head: str) -> Iterator[Caveat]:
        """What is wrong with values of a job of cron that are of one kind."""
        for end in ("KILL", "RECONFIG", "RECONFIG_RERUN"):
            if (text := self.get(f"{head}{end}")) and text.lower() not in (*_YES, *_NO):
                yield Caveat(f"{head}{end}", f"true or false is expected: {text[:60]!r}")
        yield from self._load(f"{head}JOB_LOAD")
        if (text := self.get(f"{head}CONDITION")) and _constant(text) is ERROR:
            yield Caveat(f"{head}CONDITION", f"it is no expression: {text[:60]!r}")
        for word in self.get(f"{head}METRICS").replace(",", " ").split():
            if not _METRIC.fullmatch(word):
                yield Caveat(f"{head}METRICS", f"SUM:name or PEAK:name is expected: {word[:60]!r}")

    # decision 853
    def _misspelt_crons(self) -> Iterator[Caveat]:
        """Variables of startd cron that nothing reads."""
        jobs = sorted({job.upper() for job in self._cron_jobs()}, key=len, reverse=True)
        unlisted: set[str] = set()
        for name, found in self._matching(_CRON):
            rest = found[1].upper()
            of = next((job for job in jobs if rest.startswith(f"{job}_")), "")
            knob = rest.removeprefix(f"{of}_") if of else ""
            if rest in CRON or knob in CRON_JOB or self._is_of_others(name):
                continue
            ends = [each for each in CRON_JOB if rest.endswith(f"_{each}")]
            job = rest.removesuffix(f"_{max(ends, key=len)}") if ends else ""
            if job and job not in unlisted:
                unlisted.add(job)
                told = f"{job} is not in STARTD_CRON_JOBLIST: it is not run{question(job, jobs)}"
                yield Caveat(name, told, is_error=False)
            elif not job:
                near = question(knob or rest, CRON_JOB if knob else CRON)
                yield Caveat(name, f"HTCondor has no variable of this name{near}")


def _without_itself(key: str, text: str, before: str | None) -> str:
    """The value of a variable, in which its own name stands for the value that it had before."""
    own = re.compile(rf"\$\({re.escape(key)}(?::({_NESTED}))?\)", re.IGNORECASE)
    known = before or BY_ITSELF.get(key, "")
    return own.sub(lambda found: known or found[1] or "", text)[:_LONGEST]


def _reader(name: str) -> str:
    """The daemon that reads a variable, by its name in capital letters."""
    hook = _HOOK.fullmatch(name)
    of_starter = hook is not None and hook[2].removesuffix(_TIMEOUT) in STARTER_HOOKS
    return "STARTER" if of_starter or name.startswith("STARTER_") else "STARTD"


def _number(text: str) -> int | float | None:
    """The number that a resource of a machine is or comes to; None if it is a list of ids."""
    value = _constant(text)
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else value


def _is_span(value: Value) -> bool:
    """Whether a value can be a number of seconds, or is not known yet."""
    if isinstance(value, bool):
        return False
    seconds = value.seconds if isinstance(value, RelTime) else value
    return seconds >= 0 if isinstance(seconds, (int, float)) else value is UNDEFINED


def _constant(text: str) -> Value:
    """What an expression comes to, whatever the names in it are in the ads of slot and job.

    UNDEFINED where it depends on them; ERROR if it is none.
    """
    try:
        node = parser.expression(text, old=True)
    except BadAd:
        return ERROR
    return _whatever(node)


def _whatever(node: Node) -> Value:
    """The same of a node: a name alone may be anything, and `=?=` of one true or false."""
    if not (any(references(node)) or _reads_texts(node)):
        return evaluate.evaluate(node)
    match node:
        case Grouped(inner):
            return _whatever(inner)
        case Unary("!", operand):
            return operators.unary("!", _whatever(operand))
        case Binary("&&" | "||" as op, left, right):
            decides = op == "||"  # as one side of it alone
            sides = [operators.truth(_whatever(each)) for each in (left, right)]
            if decides in sides:
                return decides
            return (not decides) if sides == [not decides] * 2 else UNDEFINED
        case Conditional(test, Node() as yes, no):
            known = operators.truth(_whatever(test))
            return _whatever(yes if known else no) if isinstance(known, bool) else UNDEFINED
        case _:
            return UNDEFINED


def _reads_texts(node: object) -> bool:
    """Whether names may stand in texts that `eval` takes for expressions."""
    if isinstance(node, Call) and node.name.lower() == "eval":
        return True
    inside = node.parts() if isinstance(node, Node) else node
    return isinstance(inside, tuple) and any(map(_reads_texts, inside))
