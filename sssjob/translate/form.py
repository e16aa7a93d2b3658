"""Submit scripts: options behind a prefix in the first lines of a shell script, both ways.

A system declares an ``OptionForm``: how its options are spelled, and the rules that say what they
mean. What follows the directives is ours where it looks as we write it (variables, limits,
``exec``); any other script is a file of the job, kept byte by byte, and never run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple, TypeAlias, TypeVar

from sssjob.array_indices import Array
from sssjob.errors import Finding, InvalidValue, finding
from sssjob.executable import DEFAULT_SHELL, ExecutableKind, arguments, executable
from sssjob.file_names import indexed, literal
from sssjob.model import Item, Job, Note, Property, stripped, text_in
from sssjob.suggestions import question
from sssjob.translate import arrays
from sssjob.translate.arrays import NO_ARRAYS, Spelling
from sssjob.translate.environment import own_shell, prologue
from sssjob.translate.fields import Name, Rule
from sssjob.translate.losses import SHOWN
from sssjob.translate.numbers import TaskCounts, added
from sssjob.translate.options import (
    Option,
    PlacedOption,
    ScriptOptions,
    ScriptReading,
    ScriptWriting,
    Syntax,
    WantedAmounts,
    line_of,
    new_option,
    shown,
)
from sssjob.translate.quoting import SHELLS, read_run, run, safe, shell_name
from sssjob.translate.requests import ORDER, JobRequest, Verbatim
from sssjob.translate.residual import ResidualLine
from sssjob.translate.script_text import AS_BYTES, ScriptText, beginning, readable, texts
from sssjob.translate.streams import FILES
from sssjob.translate.translator import Read, Settings, Translator
from sssjob.visible import ShellText

_ARRAY = "an array of jobs"
ADVISED = 100  # unknown options of one script on which advice is given: it costs far more than one
NO_PLACE = "it has no place in a job object"
SCRIPT = "script"  # the id of the file that a script becomes
TASK_GROUP, JOBS = "task-group", "jobs"  # what becomes of an array

_KEPT = "# sssjob: "
_MORE = "# sssjob+ "
_FILE = "# sssjob script "  # what follows is the file of that id
_BEHIND = " \t\r-"  # what stands behind a prefix for certain
_WIDTH = 900  # characters of a line of what is kept: some systems read no longer ones
_REDIRECTED = re.compile(r"(.*) < (\S+|'[^']*')", re.DOTALL)
_KNOWN = 1024  # sets of names of which it is kept which rules are about them,
_LENGTH = 4000  # each of fewer characters
_NO_JOB = Job()
_UNSURE: Mapping[str, str] = {}

K = TypeVar("K")
V = TypeVar("V")


class AmountsLayout(Rule):
    """How many of everything, and where: what is more than one option for one property."""

    def compose(self, asked: JobRequest, made: ScriptWriting, settings: Settings) -> None:
        """Make options of amounts."""

    def understand(self, said: ScriptOptions, heard: ScriptReading, settings: Settings) -> None:
        """Say what amounts options mean."""


@dataclass(frozen=True, kw_only=True)
class OptionForm:
    """The options of one system: how they are spelled, and what they mean.

    ``rules`` hold for scripts and for what is submitted at once, held; ``in_script`` are more of
    the former, ``at_once`` of the latter, whose amounts ``words`` makes. ``layout`` has the
    amounts of scripts, and ``counts`` takes those of both that are counted.
    """

    name: str
    syntax: Syntax
    rules: tuple[Rule, ...]
    layout: AmountsLayout
    in_script: tuple[Rule, ...] = ()
    at_once: tuple[Rule, ...] = ()
    counts: Callable[[JobRequest], TaskCounts] = added
    held_name: Name | None = None
    words: Callable[[WantedAmounts, str, ScriptWriting], list[str]] | None = None
    # Options, some with their values, of which a script has one if another form is spelled alike.
    signs: frozenset[str] = frozenset()
    prepare: Callable[[list[Option]], list[Option]] = list  # of options as they were read
    array: Spelling = NO_ARRAYS
    # Variables of the script that say a property of a job, and what they say.
    variables: Mapping[str, Callable[[str], Property | None]] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)  # options said in part; what joins them
    own: tuple[str, ...] = ()  # Extensions that the layout takes
    shell: str = ""  # the option that names what reads the script
    shell_only: bool = False  # whether that alone does, and not the first line of the script
    scratch: bool = False  # whether scratch space is among the amounts
    decides_nodes: bool = False  # whether something else says on how many nodes a job runs


@dataclass(frozen=True, slots=True)
class ParsedScript:
    """A submit script taken apart: what stands before the first command, and the rest.

    ``lines`` are those that we write before a file of the job; ``body`` is everything else.
    """

    interpreter: str = ""
    options: tuple[Option, ...] = ()
    lines: tuple[str, ...] = ()
    body: str = ""
    kept: tuple[str, ...] = ()
    file: str = ""  # the id of the file that the body is
    marked: bool = False  # whether a line tells where the file begins
    strays: bool = False  # whether lines of the file are directives, and say something else
    # Names of properties that are read as they are meant, with the option of each; "" for a line.
    sure: Mapping[str, str] = field(default_factory=lambda: _UNSURE)
    findings: tuple[Finding, ...] = ()


_Rows: TypeAlias = tuple[tuple[str, Verbatim], ...]


class _Writers(NamedTuple):
    """What rules do behind each other; and what it comes to where all texts are plain.

    ``sure`` are the options of that by names.
    """

    write: tuple[Callable[[JobRequest, ScriptWriting], None], ...]
    verbatim: _Rows = ()
    sure: Mapping[str, str] = _UNSURE


class _FormReading(NamedTuple):
    """What options say of a job whose program is known."""

    settings: Settings | None = None
    shell: str = ""
    options: tuple[Option, ...] = ()
    job: Job = _NO_JOB


class SubmitForm(Translator[ParsedScript]):
    """The translator of a form."""

    suffix = ".sh"

    def __init__(self, form: OptionForm) -> None:
        self.form = form
        self.name = form.name
        self.array = form.array
        self._rules = (*form.in_script, *form.rules)
        self._last = _FormReading()
        self._writing: dict[tuple[frozenset[str], frozenset[str]], tuple[_Writers, ...]] = {}
        self._reading: dict[
            frozenset[str], tuple[Callable[[ScriptOptions, ScriptReading], None], ...]
        ] = {}

    def compose(self, asked: JobRequest, settings: Settings) -> ParsedScript:
        """Options, lines and the program. Raises ``InvalidValue`` for a job without one."""
        named = _interpreter(asked, settings)
        made = ScriptWriting(
            terminal=settings.terminal,
            interpreter=named or own_shell(asked.said("Shell")) or DEFAULT_SHELL,
            reader="" if not named or shell_name(named) in SHELLS else named,
            check=self.form.syntax.check,
        )
        for writers, verbatim, sure in self._writers(asked.names, asked.once):
            if verbatim and (plain := asked.verbatim(verbatim)) is not None:
                made.options += [new_option(Option, each) for each in plain]
                made.sure.update(sure)
                continue
            for write in writers:
                write(asked, made)
        self.form.layout.compose(asked, made, settings)
        for name in ("User", "Group"):  # who submits is who it is of
            asked.fact(name)
        arrays.write_array(asked, self.array, lambda array: self._spell(array, made))
        self._others(asked, made)
        interpreter, body, file = _program(asked, made, settings)
        kept = any(option.name == self.form.shell for option in made.options)
        if self.form.shell and not kept and len(interpreter.split()) < 2:
            made.options.insert(0, Option(self.form.shell, interpreter or DEFAULT_SHELL))
        elif self.form.shell_only and not kept and (item := asked.one("Executable")) is not None:
            asked.refuse(item, f"{self.form.shell} takes no #!{interpreter}, which has two words")
        if not file:
            body = "".join(f"{line}\n" for line in (*made.lines, body))
            return ParsedScript(interpreter, tuple(made.options), (), body, sure=made.sure)
        lines = tuple(made.lines)
        marked = settings.residual and (file != SCRIPT or bool(lines))
        found = ParsedScript(interpreter, tuple(made.options), lines, body, (), file, marked)
        strays = [*self._strays(found)]
        for number, line in strays:
            told = f"line {number} of the script is a directive there, too: {line[:SHOWN]}"
            asked.approximate("Executable", told, met=False)
        return replace(found, marked=settings.residual, strays=True) if strays else found

    def _strays(self, script: ParsedScript) -> Iterator[tuple[int, str]]:
        """Lines of a file that would be directives and say something else than ours.

        They count from 1, and the one for the interpreter is the first, where there is one.
        """
        if script.lines and not self.form.syntax.everywhere:
            return  # behind a command
        first = 1 + bool(script.interpreter)
        for number, line, behind in self._directives(script.body, first):
            if not set(self._options(behind, 0, [])) <= set(script.options):
                yield number, line

    def _directives(self, body: str, number: int) -> Iterator[tuple[int, str, str]]:
        """The directives in a file, of which this is the number of the first line."""
        syntax = self.form.syntax
        if syntax.prefix not in body:
            return
        for place, line in enumerate(body.split("\n"), number):
            if (behind := syntax.directive(line)) is not None:
                yield place, line, behind
            elif not syntax.everywhere and _is_command(line):
                return

    def _writers(self, names: frozenset[str], once: frozenset[str]) -> tuple[_Writers, ...]:
        """What the rules do that are about something that a job says, by all of its names."""
        found = self._writing.get((names, once))
        if found is None:
            found = tuple(_together(self._rules, names, once))
            _remember(self._writing, (names, once), found, names)
        return found

    def _readers(
        self, names: frozenset[str]
    ) -> tuple[Callable[[ScriptOptions, ScriptReading], None], ...]:
        """What the rules do that are about some option, by the names of all options."""
        found = self._reading.get(names)
        if found is None:
            rules = ((rule.read, rule.of_options) for rule in self._rules)
            found = tuple(
                read for read, options in rules if options is None or not names.isdisjoint(options)
            )
            _remember(self._reading, names, found, names)
        return found

    def _spell(self, array: Array, made: ScriptWriting) -> None:
        """The options of the array of which a job is one element.

        Some systems have its indices behind the name of the job.

        Raises ``InvalidValue`` for one that there is no way to say.
        """
        option, unnamed = self.array.option, self.array.unnamed
        found = self.array.options(array)
        if unnamed and all(each.name != option for each in made.options):
            made.option(option, unnamed)
        for name, value in found:
            self._other(made, name, value)

    def _others(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Options that were read and not understood, in the order in which they stood."""
        order: list[str] = []
        for item in asked.mine("Extension", self.form.name):
            name = item.attributes.get("name", "")
            if name == ORDER:
                order = item.text.split(", ")
            if name in (ORDER, *self.form.own):
                continue
            if not name.startswith("-"):
                asked.refuse(item, "it is no option")
                continue
            try:
                self._other(made, safe(name), item.text)
            except InvalidValue as error:
                asked.refuse(item, str(error))
        made.put_in_order(order)

    def _other(self, made: ScriptWriting, name: str, value: str) -> None:
        """An option, or the rest of one of which a job object says the other part."""
        joint = self.form.lists.get(name)
        if joint is not None and value:
            for place, option in enumerate(made.options):
                if option.name == name and option.value is not None:
                    made.options[place] = Option(name, safe(f"{option.value}{joint}{value}"))
                    return
        made.option(name, value or None)

    def dump(self, form: ParsedScript) -> str:
        """The script, ready to be submitted."""
        first = form.interpreter or DEFAULT_SHELL
        lines = [f"#!{first}"]
        lines += self.form.syntax.lines(form.options)
        lines += [line for text in form.kept for line in folded(text)]
        lines += form.lines
        if form.marked:
            lines.append(f"{_FILE}{form.file}")
        return "\n".join(lines) + "\n" + form.body

    def load(self, data: bytes) -> Iterator[ParsedScript | Finding]:
        """The one script; an empty one is none."""
        for text in texts(data):
            if isinstance(text, Finding):
                yield text
                return
            found = self._script(text)
            begins = (each for each in found.options if each.name in self.form.syntax.components)
            yield next(map(_several, begins), found)

    def _script(self, given: ScriptText) -> ParsedScript:
        """Directives stand before the first command; behind it they count for some systems only."""
        text, found = given.text, given.findings
        first, _, rest = text.partition("\n")
        interpreter, number = "", 1
        if first.startswith("#!"):
            interpreter, text, number = first[2:].strip(), rest, 2
        options: list[Option] = []
        kept: list[tuple[int, list[str]]] = []
        other: list[str] = []
        lines, directive = text.split("\n"), self.form.syntax.directive
        count = 0  # of the lines before the first command
        for line in lines:
            if (behind := directive(line)) is not None:
                options += self._options(given.understood(behind, number), number, found)
            elif line.startswith(_FILE):
                break
            elif line.startswith(_KEPT):
                kept.append((number, [line[len(_KEPT) :]]))
            elif line.startswith(_MORE) and kept:
                kept[-1][1].append(line[len(_MORE) :])
            elif _is_command(line):
                break
            else:
                other.append(line)
            count += 1
            number += 1
        if lines[count:] and (self.form.syntax.everywhere or lines[count].startswith(_FILE)):
            options += self._behind("\n".join(lines[count:]), number, options, found)
        ours, file, body = _parted([*other, *lines[count:]])
        return ParsedScript(
            interpreter,
            tuple(self.form.prepare(options)),
            ours,
            body,
            tuple(ResidualLine.at("".join(parts), place) for place, parts in kept),
            file,
            bool(file),
            findings=tuple(found),
        )

    def _behind(
        self, body: str, number: int, known: list[Option], found: list[Finding]
    ) -> list[Option]:
        """More options, of directives that stay in the script."""
        more = [
            option
            for place, _, behind in self._directives(body, number)
            for option in self._options(readable(behind), place, found)
        ]
        return [option for option in more if option not in known]

    def _options(self, text: str, line: int, found: list[Finding]) -> list[Option]:
        """The options of a directive; one that cannot be read is kept as it is."""
        try:
            return [PlacedOption.at(each, line) for each in self.form.syntax.options(text)]
        except InvalidValue as error:
            found.append(finding("E-TYPE", f"{self.form.syntax.prefix}: {error}", line=line))
            kept = PlacedOption.at(Option(text.strip()), line)
            return [kept] if text.strip() else []

    def job(self, form: ParsedScript, settings: Settings) -> Read:
        """What the options say, then the program."""
        return self._job(
            self._script(ScriptText(self.dump(form))) if form.strays else form, settings
        )

    def doubtful(self, form: ParsedScript, settings: Settings) -> tuple[Job, Collection[str]]:
        """What the options say that no rule is sure of, and the program, if nobody is of that.

        Each option that is left out has a rule of its own, which alone reads it. What nobody
        understands is kept with the order of all options, so that all of them are read then.
        """
        sure = form.sure
        if not sure:
            return super().doubtful(form, settings)
        options = frozenset(sure.values())
        rest = tuple([option for option in form.options if option.name not in options])
        is_all = (
            "Executable" in sure
        )  # what they say; mostly amounts, often those of the job before
        last = self._last
        if (
            is_all
            and last.options == rest
            and last.shell == form.interpreter
            and last.settings == settings
        ):
            return last.job, sure.keys()
        heard, said = ScriptReading(), ScriptOptions(rest)
        self._hear(form, said, heard, settings)
        if said.left or said.beaten:
            return super().doubtful(form, settings)
        if not is_all:
            _body(form, heard)
        if self.form.variables:
            self._spoken(heard)
        job = Job(heard.all())
        if is_all:
            self._last = _FormReading(settings, form.interpreter, rest, job)
        return job, sure.keys()

    def _hear(
        self, form: ParsedScript, said: ScriptOptions, heard: ScriptReading, settings: Settings
    ) -> None:
        """What the options say."""
        for read in self._readers(said.names):
            read(said, heard)
        self.form.layout.understand(said, heard, settings)
        if self.form.shell:
            shell = said.last(self.form.shell)
            if shell and not form.interpreter and shell != DEFAULT_SHELL:
                heard.say("Shell", shell)
            elif shell and form.interpreter and shell != form.interpreter:
                said.back(self.form.shell, shell, f"the first line names {form.interpreter}")

    def _job(self, form: ParsedScript, settings: Settings, *, array: bool = False) -> Read:
        heard = ScriptReading(findings=list(form.findings))
        said = ScriptOptions(form.options, array=array)
        self._hear(form, said, heard, settings)
        heard.beaten(said)
        self._kept(said, heard, settings)
        if form.file:
            _written(form, heard)
        else:
            _body(form, heard)
        if self.form.variables:
            self._spoken(heard)
        return Read(Job(heard.all()), tuple(heard.findings), heard.files)

    def jobs(self, form: ParsedScript, settings: Settings) -> Iterator[Read]:
        """One job, or one for each element of an array, which finds its index as in the array."""
        option = self.array.option
        values = [each.value or "" for each in form.options if option and each.name == option]
        before, found_array = "", None
        if values and settings.arrays == JOBS:
            before, found_array = self.array.said(values[-1])
        if found_array is None or not found_array.few:
            yield self.job(form, settings)
            return
        names = (option, self.array.at_once)
        rest = tuple(each for each in form.options if each.name not in names)
        if before:
            rest = (*rest, Option(option, before))
        found = self._job(replace(form, options=rest), settings, array=True)
        for index in found_array:
            inner = ScriptReading([_of_index(item, index) for item in found.job.items])
            _environment(inner, [Property("Variable", str(index), {"name": self.array.variable})])
            yield Read(Job(inner.all(), found.job.attributes), found.findings, found.files)

    def _kept(self, said: ScriptOptions, heard: ScriptReading, settings: Settings) -> None:
        """What nobody understood, word by word."""
        if not said.left:
            return
        many = any(map(self._is_too_many, said.left))
        advice: dict[str, str] = {}
        for option in said.left:
            heard.items.append(Property("Extension", option.value or "", {
                "type": self.form.name, "name": _named(option),
            }, line=line_of(option)))  # fmt: skip
            of_array = self._is_of_array(option)
            if settings.arrays == TASK_GROUP and of_array and not many:
                continue
            no_place = _ARRAY if of_array else NO_PLACE
            reason = said.reason(option)
            if not reason:
                if option.name not in advice and len(advice) < ADVISED:
                    advice[option.name] = self._meant_option(option.name)
                reason = f"{no_place}{advice.get(option.name, '')}"
            heard.note(f"{shown(option)} is kept as it is: {reason}", line=line_of(option))
        order = ", ".join(dict.fromkeys(map(_named, said.options)))
        if len(set(said.options)) > 1:
            heard.say("Extension", order, type=self.form.name, name=ORDER)

    def _meant_option(self, name: str) -> str:
        """Advice on an option that the system does not have, where it looks like one of these."""
        known = self.form.syntax.takes
        return question(name, known) if name.startswith("--") and name not in known else ""

    def _spoken(self, heard: ScriptReading) -> None:
        """Variables that say a property, in the place of which it stands."""
        for place, item in enumerate(heard.items):
            if not isinstance(item, Property) or item.name != "Environment":
                continue
            rest: list[Property | Note] = []
            said: list[Property] = []
            for each in item.children:
                found = self._meant(each)
                if found is None:
                    rest.append(each)
                else:
                    said.append(found)
            if said:
                left = Property("Environment", "", item.attributes, tuple(rest))
                others = (left,) if rest or item.attributes else ()
                heard.items[place : place + 1] = [*said, *others]
            return

    def _meant(self, each: Property | Note) -> Property | None:
        """What a variable says beside its value."""
        name = each.attributes.get("name", "") if isinstance(each, Property) else ""
        read = self.form.variables.get(name)
        return read(each.text) if read and isinstance(each, Property) else None

    def _is_of_array(self, option: Option) -> bool:
        """Whether an option is one of an array that can become a task group."""
        name, value = option
        if name == self.array.option:
            return self.array.said(value or "")[1] is not None
        return name == self.array.at_once

    def _is_too_many(self, option: Option) -> bool:
        """Whether an option is an array of more elements than are taken apart."""
        found = self.array.said(option.value or "")[1] if option.name == self.array.option else None
        return found is not None and not found.few

    def keep(self, form: ParsedScript, lines: Iterable[str]) -> ParsedScript:
        """The residual in comments."""
        found = tuple(lines)
        if not found:
            return form
        return ParsedScript(
            form.interpreter, form.options, form.lines, form.body, found, form.file, form.marked,
            form.strays, form.sure, form.findings,
        )  # fmt: skip

    def kept(self, form: ParsedScript) -> tuple[str, ...]:
        """The residual."""
        return form.kept

    def recognises(self, head: bytes) -> str:
        """A line of the prefix before the first command."""
        for line in beginning(head).split("\n"):
            behind = self.form.syntax.directive(line)
            if behind and behind[0] in _BEHIND and (not self.form.signs or self._signed(behind)):
                return f"a line that begins with {self.form.syntax.prefix}"
            if _is_command(line):
                return ""
        return ""

    def _signed(self, text: str) -> bool:
        """Whether a directive has an option that another form does not."""
        try:
            options = self.form.syntax.options(text)
        except InvalidValue:
            return False
        told = {f"{option.name} {option.value}" for option in options}
        return not self.form.signs.isdisjoint(told | {option.name for option in options})


def _several(option: Option) -> Finding:
    """A job of several components, which asks for different amounts on different nodes."""
    why = "of several components is not read: one job would ask for what the last of them says"
    return finding("E-TYPE", f"{option.name}: a job {why}", line=line_of(option))


def _named(option: Option) -> str:
    """The name of an option that is kept, with what tells an empty value from none."""
    return f"{option.name}=" if option.value == "" and option.name[:2] == "--" else option.name


def _remember(known: dict[K, V], key: K, value: V, names: frozenset[str]) -> None:
    """Keep what was worked out of some names, of a bounded number of them."""
    if len(known) >= _KNOWN:
        known.clear()
    if sum(map(len, names)) < _LENGTH:
        known[key] = value


def _together(
    rules: Iterable[Rule], names: frozenset[str], once: frozenset[str]
) -> Iterator[_Writers]:
    """The rules that are about what a job says, those together whose texts may be plain."""
    chosen = ((rule, _verbatim(rule, names, once)) for rule in rules if rule.needs in ("", *names))
    for is_plain, group in groupby(chosen, key=lambda each: bool(each[1])):
        found = tuple(group)
        writes = tuple(rule.write for rule, _ in found)
        rows = tuple(row for _, some in found for row in some)
        yield _Writers(writes, rows, {name: made.option for name, made in rows} if is_plain else {})


def _verbatim(rule: Rule, names: frozenset[str], once: frozenset[str]) -> _Rows:
    """What is made of each name of a rule; nothing where it has to be asked of one of them."""
    found = [(name, made) for name, made in rule.verbatim.items() if name in names]
    rows = tuple((name, made) for name, made in found if made is not None and name in once)
    return rows if len(rows) == len(found) else ()


def _is_command(line: str) -> bool:
    """Whether a line of a script is neither empty nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _parted(lines: list[str]) -> tuple[tuple[str, ...], str, str]:
    """Our lines before the mark of a file, its id, and what follows; without one all follows."""
    for place, line in enumerate(lines):
        if line.startswith(_FILE):
            ours = tuple(each for each in lines[:place] if each)
            return ours, line[len(_FILE) :].strip(), "\n".join(lines[place + 1 :])
    return (), "", "\n".join(lines)


def folded(text: str) -> Iterator[str]:
    """A line of what is kept as comments of a bounded width."""
    head = _KEPT
    for start in range(0, len(text), _WIDTH):
        yield f"{head}{text[start : start + _WIDTH]}"
        head = _MORE


def unfolded(lines: list[str], before: int = 0) -> tuple[list[str], list[ResidualLine]]:
    """Lines, empty where something is kept, and what that is."""
    others: list[str] = []
    kept: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines, before + 1):
        if line.startswith(_KEPT):
            kept.append((number, [line[len(_KEPT) :]]))
        elif line.startswith(_MORE) and kept:
            kept[-1][1].append(line[len(_MORE) :])
        else:
            others.append(line)
            continue
        others.append("")
    return others, [ResidualLine.at("".join(parts), place) for place, parts in kept]


def _interpreter(asked: JobRequest, settings: Settings) -> str:
    """What the first line of a file of the job names that is the script; "" if there is none."""
    if not settings.files:
        return ""
    named = executable(asked.said("Executable"))
    content = settings.files.get(named.target, b"") if named.kind is ExecutableKind.FILE else b""
    first = content.partition(b"\n")[0].decode(errors="replace")
    return " ".join(first[2:].split()) if first.startswith("#!") else ""


def _program(asked: JobRequest, made: ScriptWriting, settings: Settings) -> tuple[str, str, str]:
    """What the first line names, what is run, and the id of the file of the job that this is."""
    item, words = asked.one("Executable"), asked.one("Arguments")
    text = text_in(item)
    named = executable(text, asked.said("InitialWorkingDirectory"))
    if named.kind is ExecutableKind.FILE and named.target in settings.files:
        return (*_file(asked, made, settings.files[named.target], words), safe(named.target))
    if named.kind is not ExecutableKind.PATH:
        raise InvalidValue(named.target, "an executable that is a path on the nodes")
    try:
        split = arguments(asked.said("Arguments"))
    except InvalidValue as error:
        raise InvalidValue(error.text, error.expected) from error
    line = ShellText.joined((run([text, *split]), made.redirection))
    names = {"Executable": item, "Arguments": split, "Environment": made.lines}
    said = [name for name, there in names.items() if there]
    if (
        asked.once.issuperset(said)
        and made.plain == len(made.lines)
        and made.shell in ("", DEFAULT_SHELL)
        and line == " ".join(("exec", text, *split))
    ):
        made.sure.update(dict.fromkeys(said, ""))
    return made.shell, line, ""


def _file(
    asked: JobRequest, made: ScriptWriting, content: bytes, words: Property | None
) -> tuple[str, str]:
    """A file of the job is the script; its own first line names what reads it."""
    body = content.decode(errors=AS_BYTES)
    interpreter = made.shell
    if body.startswith("#!"):
        first, _, body = body.partition("\n")
        interpreter = first[2:].strip()
    if words is not None and stripped(words.text):
        asked.refuse(words, "a script has no arguments of its own")
    if made.redirection:
        made.lines.append(ShellText.joined((ShellText("exec"), made.redirection)))
    return interpreter, body


def _written(form: ParsedScript, heard: ScriptReading) -> None:
    """A file of the job behind lines of ours."""
    variables: list[Property] = []
    _prologue(form.lines, form.interpreter, heard, variables)
    _environment(heard, variables)
    _as_file(form, heard, form.file)


def _as_file(form: ParsedScript, heard: ScriptReading, id_: str) -> None:
    first = f"#!{form.interpreter}\n" if form.interpreter else ""
    heard.files[id_] = f"{first}{form.body}".encode(errors=AS_BYTES)
    heard.say("Executable", f"#{id_}")


def _body(form: ParsedScript, heard: ScriptReading) -> None:
    """Read what follows the directives: our own lines and program, or a file."""
    if not _ours(form, heard):
        _as_file(form, heard, SCRIPT)
    elif form.interpreter not in ("", DEFAULT_SHELL):
        heard.items[:] = [
            item for item in heard.items if not isinstance(item, Property) or item.name != "Shell"
        ]
        heard.say("Shell", form.interpreter)


def _prologue(
    lines: Iterable[str], interpreter: str, heard: ScriptReading, variables: list[Property]
) -> str:
    """Read lines that stand before a program; what is none of these comes back."""
    pending = ""
    for line in lines:
        pending = f"{pending}\n{line}" if pending else line
        if prologue(pending, interpreter, heard, variables):
            pending = ""
        elif not _goes_on(pending):
            break
    return pending


def _goes_on(text: str) -> bool:
    """Whether a quoted value goes on behind the end of a line."""
    try:
        shlex.split(text)
    except ValueError:
        return True
    return False


def _ours(form: ParsedScript, heard: ScriptReading) -> bool:
    """Whether the body is what we write; then it is said, and else nothing of it."""
    inner = ScriptReading()
    variables: list[Property] = []
    lines = form.body.strip("\n").split("\n")
    rest = [line for line in lines if line.startswith(("exec ", "set -- "))]
    if readable(form.body) != form.body:
        return False
    if not rest or (lines[-1] != rest[-1] and "'" not in lines[-1]):
        return False
    place = len(lines) - lines[::-1].index(rest[-1]) - 1
    before = _prologue(lines[:place], form.interpreter, inner, variables)
    if before or not _exec("\n".join(lines[place:]), inner):
        return False
    heard.items += inner.items
    _environment(heard, variables)
    return True


def _exec(line: str, heard: ScriptReading) -> bool:
    found = _REDIRECTED.fullmatch(line)
    words = read_run(found[1] if found else line)
    if not words:
        return False
    heard.say("Executable", words[0])
    if len(words) > 1:
        heard.say("Arguments", shlex.join(words[1:]))
    if found:
        heard.say("InputFile", literal(shlex.split(found[2])[0]))
    return True


def _of_index(item: Item, index: int) -> Item:
    """An item of an element of an array."""
    if isinstance(item, Property) and item.name in FILES and item.text:
        text = indexed(item.text, index)
        return Property(item.name, text, item.attributes, item.children, line=item.line)
    return item


def _environment(heard: ScriptReading, variables: list[Property]) -> None:
    """Variables of the script, with what options say of the environment."""
    if not variables:
        return
    for place, item in enumerate(heard.items):
        if isinstance(item, Property) and item.name == "Environment":
            heard.items[place] = Property(
                "Environment", "", item.attributes, (*item.children, *variables)
            )
            return
    heard.items.append(Property("Environment", "", {}, tuple(variables)))
