"""Submit scripts: options behind a prefix in the first lines of a shell script, both ways.

A system declares a ``Form``: how its options are spelled, and the rules that say what they mean.
What follows the directives is ours where it looks as we write it (variables, limits, ``exec``);
any other script is a file of the job, kept byte by byte, and never run.
"""

from __future__ import annotations

import os
import re
import shlex
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sssjob.errors import Finding, InvalidValue, finding
from sssjob.executable import DEFAULT_SHELL, ExecutableKind, arguments, executable
from sssjob.file_names import indexed, literal
from sssjob.model import Item, Job, Note, Property, stripped
from sssjob.translate import arrays
from sssjob.translate.arrays import NO_ARRAYS, Spelling, parse
from sssjob.translate.environment import SHELLS, prologue
from sssjob.translate.fields import Name, Rule
from sssjob.translate.losses import SHOWN
from sssjob.translate.options import Heard, Made, Option, Placed, Said, Syntax, Wanted, line_of
from sssjob.translate.quoting import read_run, run, safe
from sssjob.translate.requests import NO_OPTION, ORDER, Asked
from sssjob.translate.residual import Kept
from sssjob.translate.streams import FILES
from sssjob.translate.translator import Read, Settings, Translator

SCRIPT = "script"  # the id of the file that a script becomes
TASK_GROUP, JOBS = "task-group", "jobs"  # what becomes of an array

AS_BYTES = "surrogateescape"  # bytes of a script that are no UTF-8 stay what they are
_BYTES = re.compile("[\udc80-\udcff]")
_KEPT = "# sssjob: "
_MORE = "# sssjob+ "
_FILE = "# sssjob script "  # what follows is the file of that id
_BEHIND = " \t\r-"  # what stands behind a prefix for certain
_WIDTH = 900  # characters of a line of what is kept: some systems read no longer ones
_REDIRECTED = re.compile(r"(.*) < (\S+|'[^']*')", re.DOTALL)
_KNOWN = 1024  # sets of names of which it is kept which rules are about them,
_LENGTH = 4000  # each of fewer characters


class Layout(Rule):
    """How many of everything, and where: what is more than one option for one property."""

    def compose(self, asked: Asked, made: Made, settings: Settings) -> None:
        """Make options of amounts."""

    def understand(self, said: Said, heard: Heard, settings: Settings) -> None:
        """Say what amounts options mean."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """The options of one system: how they are spelled, and what they mean.

    ``rules`` hold for scripts and for what is submitted at once, held; ``in_script`` are more of
    the former, ``at_once`` of the latter, whose amounts ``words`` makes. ``layout`` has the
    amounts of scripts.
    """

    name: str
    syntax: Syntax
    rules: tuple[Rule, ...]
    layout: Layout
    in_script: tuple[Rule, ...] = ()
    at_once: tuple[Rule, ...] = ()
    held_name: Name | None = None
    words: Callable[[Wanted, str, Made], list[str]] | None = None
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
class Script:
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
    findings: tuple[Finding, ...] = ()


class SubmitForm(Translator[Script]):
    """The translator of a form."""

    suffix = ".sh"

    def __init__(self, form: Form) -> None:
        self.form = form
        self.name = form.name
        self.array = form.array
        self._known: dict[frozenset[str], tuple[Callable[[Asked, Made], None], ...]] = {}

    def compose(self, asked: Asked, settings: Settings) -> Script:
        """Options, lines and the program. Raises ``InvalidValue`` for a job without one."""
        made = Made(
            terminal=settings.terminal,
            reader=_reader(asked, settings),
            check=self.form.syntax.check,
        )
        for write in self._writers(asked.names):
            write(asked, made)
        self.form.layout.compose(asked, made, settings)
        for name in ("User", "Group"):  # who submits is who it is of
            asked.fact(name)
        self._array(asked, made)
        self._others(asked, made)
        interpreter, body, file = _program(asked, made, settings)
        if self.form.shell and len(interpreter.split()) < 2:
            made.options.insert(0, Option(self.form.shell, interpreter or DEFAULT_SHELL))
        elif self.form.shell_only and (item := asked.one("Executable")) is not None:
            asked.refuse(item, f"{self.form.shell} takes no #!{interpreter}, which has two words")
        if not file:
            body = "".join(f"{line}\n" for line in (*made.lines, body))
            return Script(interpreter, tuple(made.options), (), body)
        lines = tuple(made.lines)
        marked = settings.residual and (file != SCRIPT or bool(lines))
        found = Script(interpreter, tuple(made.options), lines, body, (), file, marked)
        strays = [*self._strays(found)]
        for number, line in strays:
            told = f"line {number} of the script is a directive there, too: {line[:SHOWN]}"
            asked.approximate("Executable", told, met=False)
        return replace(found, marked=settings.residual, strays=True) if strays else found

    def _strays(self, script: Script) -> Iterator[tuple[int, str]]:
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

    def _writers(self, names: frozenset[str]) -> tuple[Callable[[Asked, Made], None], ...]:
        """What the rules do that are about something that a job says, by all of its names."""
        found = self._known.get(names)
        if found is None:
            rules = (*self.form.in_script, *self.form.rules)
            found = tuple(rule.write for rule in rules if rule.needs in ("", *names))
            if len(self._known) >= _KNOWN:
                self._known.clear()
            if sum(map(len, names)) < _LENGTH:
                self._known[names] = found
        return found

    def _array(self, asked: Asked, made: Made) -> None:
        """The option of an array of which this is one element."""
        for item in asked.mine("Extension", arrays.TYPE):
            array = parse(stripped(item.text))
            if not self.array.option:
                asked.refuse(item, NO_OPTION)
                continue
            if array is None or item.attributes.get("name") != arrays.INDICES:
                asked.refuse(item, "it is no array")
                continue
            try:
                for name, value in self.array.options(array):
                    made.option(name, value)
            except InvalidValue as error:
                asked.refuse(item, str(error))

    def _others(self, asked: Asked, made: Made) -> None:
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
        if order:
            places = {name: place for place, name in enumerate(order)}
            made.options.sort(key=lambda option: places.get(option.name, len(places)))

    def _other(self, made: Made, name: str, value: str) -> None:
        """An option, or the rest of one of which a job object says the other part."""
        joint = self.form.lists.get(name)
        if joint is not None and value:
            for place, option in enumerate(made.options):
                if option.name == name and option.value is not None:
                    made.options[place] = Option(name, safe(f"{option.value}{joint}{value}"))
                    return
        made.option(name, value or None)

    def dump(self, form: Script) -> str:
        """The script, ready to be submitted."""
        first = form.interpreter or DEFAULT_SHELL
        lines = [f"#!{first}"]
        lines += self.form.syntax.lines(form.options)
        lines += [line for text in form.kept for line in folded(text)]
        lines += form.lines
        if form.marked:
            lines.append(f"{_FILE}{form.file}")
        return "\n".join(lines) + "\n" + form.body

    def load(self, data: bytes) -> Iterator[Script | Finding]:
        """The one script; an empty one is none."""
        if not data.strip():
            return
        found = self._script(data.removeprefix(BOM_UTF8).decode(errors=AS_BYTES))
        if data.startswith(BOM_UTF8):
            told = finding("E-TYPE", "a byte order mark stands before the first line", line=1)
            found = replace(found, findings=(told, *found.findings))
        yield found

    def _script(self, text: str) -> Script:
        """Directives stand before the first command; behind it they count for some systems only."""
        first, _, rest = text.partition("\n")
        interpreter, number = "", 1
        if first.startswith("#!"):
            interpreter, text, number = first[2:].strip(), rest, 2
        options: list[Option] = []
        kept: list[tuple[int, list[str]]] = []
        other: list[str] = []
        found: list[Finding] = []
        lines = text.split("\n")
        count = 0  # of the lines before the first command
        for line in lines:
            if line.startswith(_FILE):
                break
            if not line.isascii() and self.form.syntax.directive(line) is not None:
                line, given = _readable(line), line
                if line != given:
                    found.append(finding("E-TYPE", "the line is not UTF-8", line=number))
            if line.startswith(_KEPT):
                kept.append((number, [line[len(_KEPT) :]]))
            elif line.startswith(_MORE) and kept:
                kept[-1][1].append(line[len(_MORE) :])
            elif (behind := self.form.syntax.directive(line)) is not None:
                options += self._options(behind, number, found)
            elif _is_command(line):
                break
            else:
                other.append(line)
            count += 1
            number += 1
        if lines[count:] and (self.form.syntax.everywhere or lines[count].startswith(_FILE)):
            options += self._behind("\n".join(lines[count:]), number, options, found)
        ours, file, body = _parted([*other, *lines[count:]])
        return Script(
            interpreter,
            tuple(self.form.prepare(options)),
            ours,
            body,
            tuple(Kept.at("".join(parts), place) for place, parts in kept),
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
            for option in self._options(_readable(behind), place, found)
        ]
        return [option for option in more if option not in known]

    def _options(self, text: str, line: int, found: list[Finding]) -> list[Option]:
        """The options of a directive; one that cannot be read is kept as it is."""
        try:
            return [Placed.at(each, line) for each in self.form.syntax.options(text)]
        except InvalidValue as error:
            found.append(finding("E-TYPE", f"{self.form.syntax.prefix}: {error}", line=line))
            kept = Placed.at(Option(text.strip()), line)
            return [kept] if text.strip() else []

    def job(self, form: Script, settings: Settings) -> Read:
        """What the options say, then the program."""
        return self._job(self._script(self.dump(form)) if form.strays else form, settings)

    def _job(self, form: Script, settings: Settings, *, array: bool = False) -> Read:
        heard = Heard(findings=list(form.findings))
        said = Said(form.options, array=array)
        for rule in (*self.form.in_script, *self.form.rules):
            rule.read(said, heard)
        self.form.layout.understand(said, heard, settings)
        if self.form.shell:
            shell = said.last(self.form.shell)
            if shell and shell != (form.interpreter or DEFAULT_SHELL):
                heard.say("Shell", shell)
        self._kept(said, heard, settings)
        if form.file:
            _written(form, heard)
        else:
            _body(form, heard)
        if self.form.variables:
            self._spoken(heard)
        return Read(Job(heard.all()), tuple(heard.findings), heard.files)

    def jobs(self, form: Script, settings: Settings) -> Iterator[Read]:
        """One job, or one for each element of an array, which finds its index as in the array."""
        option = self.array.option
        values = [each.value or "" for each in form.options if option and each.name == option]
        found_array = parse(values[-1]) if values and settings.arrays == JOBS else None
        if found_array is None:
            yield self.job(form, settings)
            return
        names = (option, self.array.at_once)
        rest = tuple(each for each in form.options if each.name not in names)
        found = self._job(replace(form, options=rest), settings, array=True)
        for index in found_array:
            inner = Heard([_of_index(item, index) for item in found.job.items])
            _environment(inner, [Property("Variable", str(index), {"name": self.array.variable})])
            yield Read(Job(inner.all(), found.job.attributes), found.findings, found.files)

    def _kept(self, said: Said, heard: Heard, settings: Settings) -> None:
        """What nobody understood, word by word."""
        if not said.left:
            return
        for option in said.left:
            heard.items.append(Property("Extension", option.value or "", {
                "type": self.form.name, "name": option.name,
            }))  # fmt: skip
            if settings.arrays == TASK_GROUP and self._is_of_array(option):
                continue
            reason = said.reason(option) or "it has no place in a job object"
            shown = option.name if option.value is None else f"{option.name} {option.value}"
            heard.note(f"{shown} is kept as it is: {reason}", line=line_of(option))
        order = ", ".join(dict.fromkeys(option.name for option in said.options))
        if len(set(said.options)) > 1:
            heard.say("Extension", order, type=self.form.name, name=ORDER)

    def _spoken(self, heard: Heard) -> None:
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
            return parse(value or "") is not None
        return name == self.array.at_once

    def keep(self, form: Script, lines: Iterable[str]) -> Script:
        """The residual in comments."""
        return replace(form, kept=tuple(lines))

    def kept(self, form: Script) -> tuple[str, ...]:
        """The residual."""
        return form.kept

    def recognises(self, head: bytes) -> str:
        """A line of the prefix before the first command."""
        for line in head.removeprefix(BOM_UTF8).decode("utf-8", "replace").split("\n"):
            behind = self.form.syntax.directive(line)
            if behind and behind[0] in _BEHIND and (not self.form.signs or self._signed(behind)):
                return f"a line that begins with {self.form.syntax.prefix}"
            if _is_command(line):
                return ""
        return ""

    def _signed(self, text: str) -> bool:
        """Whether a directive has an option that another form does not."""
        try:
            options = [*self.form.syntax.options(text)]
        except InvalidValue:
            return False
        told = {f"{option.name} {option.value}" for option in options}
        return not self.form.signs.isdisjoint(told | {option.name for option in options})


def _is_command(line: str) -> bool:
    """Whether a line of a script is neither empty nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _readable(text: str) -> str:
    """A text without what stands for bytes that are no UTF-8."""
    return text if text.isascii() else _BYTES.sub("\N{REPLACEMENT CHARACTER}", text)


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


def unfolded(lines: list[str], before: int = 0) -> tuple[list[str], list[Kept]]:
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
    return others, [Kept.at("".join(parts), place) for place, parts in kept]


def _reader(asked: Asked, settings: Settings) -> str:
    """What reads the script that a file of the job is; "" for a shell that takes our lines."""
    if not settings.files:
        return ""
    named = executable(stripped(asked.job.get("Executable")))
    content = settings.files.get(named.target, b"") if named.kind is ExecutableKind.FILE else b""
    first = content.partition(b"\n")[0].decode(errors="replace")
    words = first[2:].split() if first.startswith("#!") else []
    name = os.path.basename(words[0]) if words else ""
    if name == "env":
        name = next((each for each in words[1:] if each[0] != "-" and "=" not in each), name)
        name = os.path.basename(name)
    return "" if not words or name in SHELLS else " ".join(words)


def _program(asked: Asked, made: Made, settings: Settings) -> tuple[str, str, str]:
    """What the first line names, what is run, and the id of the file of the job that this is."""
    item, words = asked.one("Executable"), asked.one("Arguments")
    text = "" if item is None else stripped(item.text)
    named = executable(text, asked.said("InitialWorkingDirectory"))
    if named.kind is ExecutableKind.FILE and named.target in settings.files:
        return (*_file(asked, made, settings.files[named.target], words), safe(named.target))
    if named.kind is not ExecutableKind.PATH:
        raise InvalidValue(named.target, "an executable that is a path on the nodes")
    try:
        split = arguments(asked.said("Arguments"))
    except InvalidValue as error:
        raise InvalidValue(error.text, error.expected) from error
    return made.shell, f"{run([text, *split])}{made.redirection}", ""


def _file(asked: Asked, made: Made, content: bytes, words: Property | None) -> tuple[str, str]:
    """A file of the job is the script; its own first line names what reads it."""
    body = content.decode(errors=AS_BYTES)
    interpreter = made.shell
    if body.startswith("#!"):
        first, _, body = body.partition("\n")
        interpreter = first[2:].strip()
    if words is not None and stripped(words.text):
        asked.refuse(words, "a script has no arguments of its own")
    if made.redirection:
        made.lines.append(f"exec{made.redirection}")
    return interpreter, body


def _written(form: Script, heard: Heard) -> None:
    """A file of the job behind lines of ours."""
    variables: list[Property] = []
    _prologue(form.lines, heard, variables)
    _environment(heard, variables)
    _as_file(form, heard, form.file)


def _as_file(form: Script, heard: Heard, id_: str) -> None:
    first = f"#!{form.interpreter}\n" if form.interpreter else ""
    heard.files[id_] = f"{first}{form.body}".encode(errors=AS_BYTES)
    heard.say("Executable", f"#{id_}")


def _body(form: Script, heard: Heard) -> None:
    """Read what follows the directives: our own lines and program, or a file."""
    if not _ours(form, heard):
        _as_file(form, heard, SCRIPT)
    elif form.interpreter not in ("", DEFAULT_SHELL):
        heard.items[:] = [
            item for item in heard.items if not isinstance(item, Property) or item.name != "Shell"
        ]
        heard.say("Shell", form.interpreter)


def _prologue(lines: Iterable[str], heard: Heard, variables: list[Property]) -> str:
    """Read lines that stand before a program; what is none of these comes back."""
    pending = ""
    for line in lines:
        pending = f"{pending}\n{line}" if pending else line
        if prologue(pending, heard, variables):
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


def _ours(form: Script, heard: Heard) -> bool:
    """Whether the body is what we write; then it is said, and else nothing of it."""
    inner = Heard()
    variables: list[Property] = []
    lines = form.body.strip("\n").split("\n")
    rest = [line for line in lines if line.startswith(("exec ", "set -- "))]
    if _readable(form.body) != form.body:
        return False
    if not rest or (lines[-1] != rest[-1] and "'" not in lines[-1]):
        return False
    place = len(lines) - lines[::-1].index(rest[-1]) - 1
    if _prologue(lines[:place], inner, variables) or not _exec("\n".join(lines[place:]), inner):
        return False
    heard.items += inner.items
    _environment(heard, variables)
    return True


def _exec(line: str, heard: Heard) -> bool:
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


def _environment(heard: Heard, variables: list[Property]) -> None:
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
