"""What the job specifications of JSON and XML share: programs, variables, rows, GPUs.

A row names a property of a job and where its text stands in a specification. Rows are read both
ways; what no row can say stands in the module of the target.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, NamedTuple

from sssjob import units
from sssjob.errors import Finding, InvalidValue, finding
from sssjob.executable import ExecutableKind, arguments, executable
from sssjob.integers import whole
from sssjob.json_text import Loaded, PlacedText, each_once, held, said_of, why
from sssjob.model import Note, Property, stripped, text_in
from sssjob.nodes import plain
from sssjob.resource_names import gpu_model
from sssjob.translate.fields import plain_text
from sssjob.translate.numbers import (
    OF_A_RANGE,
    Gpus,
    TaskCounts,
    is_gpu,
    refuse_all,
    resource_terms,
)
from sssjob.translate.objects import (
    Data,
    a_word,
    keep,
    no_number,
    put,
    shown,
    taken,
    told,
    word,
)
from sssjob.translate.options import ScriptReading
from sssjob.translate.patterns import PLAIN, Patterns
from sssjob.translate.requests import NO_OPTION, JobRequest
from sssjob.translate.residual import ResidualLine
from sssjob.translate.translator import Read, Settings, Translator

DEPTH = 50  # levels of a specification that is read


class PropertyPath(NamedTuple):
    """A property of a job, and where its text stands: the names of the objects around it.

    ``of`` gives the text that stands for it, both ways, and raises ``InvalidValue`` for one that
    says something else.
    """

    name: str
    path: tuple[str, ...]
    of: Callable[[str], str] = str


class Specification(Translator[Data]):
    """A specification that is an object of JSON, or one of several in an array."""

    suffix = ".json"

    def dump(self, form: Data) -> str:
        """The object, indented."""
        return f"{json.dumps(form, indent=2, ensure_ascii=False)}\n"

    def load(self, data: bytes) -> Iterator[Data | Finding]:
        """The object, or those of an array."""
        if not data.strip():
            return
        try:
            found = json.loads(data, parse_constant=no_number, object_pairs_hook=each_once)
            _deep(found)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 0) or _line_of_byte(data, error)
            yield finding("E-TYPE", f"no JSON of a job specification: {why(error)}", line=line)
            return
        several = isinstance(found, list)
        text = PlacedText(data.decode(json.detect_encoding(data), "surrogatepass"), several=several)
        for number, each in enumerate(found if several else [found]):
            path = (number,) if several else ()
            if isinstance(each, dict):
                value, odd = held(each, path)
                if odd:
                    yield finding("W-UNKNOWN", said_of(odd), line=text.lines(odd[0].path, [()])[0])
                yield Loaded.at(value, text, path)
            else:
                wrong = f"{shown(each)} where an object is expected"
                yield finding("E-TYPE", wrong, line=text.lines(path, [()])[0])

    def jobs(self, form: Data, settings: Settings) -> Iterator[Read]:
        """The job, and in which line of the text stands what a finding is about."""
        found = self.job(form, settings)
        if isinstance(form, Loaded):
            paths = [() if each.line else _names(each.path) for each in found.findings]
            told_ = zip(found.findings, form.lines(paths), strict=True)
            found = found._replace(
                findings=tuple(each if each.line else replace(each, line=at) for each, at in told_)
            )
        yield found

    def kept(self, form: Data) -> tuple[str, ...]:
        """The residual, each line of it with its place."""
        held_ = [*self.held(form)]
        lines: Iterable[int] = repeat(0)
        if isinstance(form, Loaded):
            lines = form.lines([path for _, path in held_])
        return tuple(
            ResidualLine.at(text, line) for (text, _), line in zip(held_, lines, strict=False)
        )

    def held(self, form: Data) -> Iterable[tuple[str, tuple[str | int, ...]]]:
        """The lines of the residual, and where they stand."""
        return ()


def _line_of_byte(data: bytes, error: Exception) -> int:
    """The line of the byte that is no text; 0 for another fault."""
    if not isinstance(error, UnicodeDecodeError):
        return 0
    return data.count(b"\n", 0, error.start) + 1


def begins(head: bytes, *keys: bytes) -> bool:
    """Whether some bytes begin an object, or an array of them, that has all of these keys."""
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    named = all(b'"' + key + b'"' in head for key in keys)
    return begin[:1] in (b"{", b"[") and named


def _deep(value: Any, depth: int = 0) -> None:
    if depth > DEPTH:
        raise RecursionError
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        _deep(each, depth + 1)


def text_of(asked: JobRequest, name: str) -> str:
    """Take a text; "" says nothing."""
    return text_in(asked.one(name))


def write_rows(asked: JobRequest, rows: Iterable[PropertyPath], form: Data) -> None:
    """Texts that stand for themselves."""
    for row in rows:
        if (item := asked.one(row.name)) and (text := plain_text(asked, item, row.of)):
            put(form, row.path, text)


def read_rows(form: Data, rows: Iterable[PropertyPath], heard: ScriptReading) -> None:
    """The same, back; what is no text is told."""
    for row in rows:
        if text := taken(form, row.path, a_word, heard, "a text"):
            try:
                heard.say(row.name, row.of(text))
            except InvalidValue as error:
                keep(form, row.path, text, heard, error)


def file_of(asked: JobRequest, name: str, patterns: Patterns = PLAIN) -> str:
    """Take the name of a file in the words of the target; "" says nothing."""
    item = asked.one(name, "redirectList")
    if item is None or not (text := stripped(item.text)):
        return ""
    try:
        return patterns.written(asked, item, text)
    except InvalidValue as error:
        asked.refuse(item, str(error))
        return ""


def write_files(
    asked: JobRequest, rows: Iterable[PropertyPath], form: Data, patterns: Patterns = PLAIN
) -> None:
    """Names of files, of which nothing says how they are written."""
    for row in rows:
        if text := file_of(asked, row.name, patterns):
            put(form, row.path, text)
        for item in asked.items(row.name):
            if "redirectList" in item.attributes:
                asked.refuse(item, NO_OPTION, "redirectList")


def read_files(
    form: Data, rows: Iterable[PropertyPath], heard: ScriptReading, patterns: Patterns = PLAIN, *,
    array: bool = False,
) -> None:  # fmt: skip
    """The same, back; a name with words that a job object has not stays where it is."""
    for row in rows:
        if text := taken(form, row.path, a_word, heard, "a text"):
            try:
                heard.say(row.name, patterns.read(text, among=array))
            except InvalidValue as error:
                keep(form, row.path, text, heard, error)


def _names(path: str) -> list[str | int]:
    """The names of a path, and numbers in lists: in objects no name is one of ours."""
    parts = path.split("/")[1:]
    names = [part.replace("~1", "/").replace("~0", "~") for part in parts]
    numbers = (whole(name) for name in names)
    return [name if at is None else at for name, at in zip(names, numbers, strict=True)]


def command(asked: JobRequest, path: str = "") -> list[str]:
    """The program and its arguments; none where there is no program that is a path.

    ``path`` is that of the program, where it is another one than the job says.
    """
    program, given = asked.one("Executable"), asked.one("Arguments")
    words: list[str] = []
    if given is not None:
        try:
            words = list(arguments(given.text))
        except InvalidValue as error:
            asked.refuse(given, str(error))
    if program is None:
        for item in (given,) if given is not None else ():
            asked.refuse(item, "there is no Executable")
        return []
    if path:
        return [path, *words]
    try:
        named = executable(program.text, asked.said("InitialWorkingDirectory"))
    except InvalidValue as error:
        asked.refuse(program, str(error))
        return []
    if named.kind is not ExecutableKind.PATH:
        asked.refuse(program, "it is no path")
        return []
    return [stripped(program.text), *words]


def say_command(heard: ScriptReading, words: Sequence[str]) -> None:
    """A program and its arguments, of which either may be missing."""
    if words and words[0]:
        heard.say("Executable", words[0])
    if words[1:]:
        heard.say("Arguments", shlex.join(words[1:]))


def variables(
    asked: JobRequest, takes: Callable[[str], bool] = bool
) -> tuple[dict[str, str], bool | None]:
    """The variables of a job, and whether those of the submission are there, too.

    ``takes`` says which names a target takes, where a shell runs what it is given.
    """
    found: dict[str, str] = {}
    export: bool | None = None
    for item in asked.take("Environment", "export"):
        try:
            if text := item.attributes.get("export"):
                export = units.boolean(text)
        except InvalidValue as error:
            asked.refuse(item, str(error), "export")
        if stripped(item.text):
            asked.refuse(item, "a text, where variables are expected")
        for each in item.children:
            if isinstance(each, Note):
                continue
            name = each.attributes.get("name", "")
            if each.name != "Variable" or not name or "=" in name or "\0" in name:
                asked.refuse(item, f"{name or each.name!r} is no name of a variable")
            elif not takes(name):
                asked.refuse(item, f"{name!r} is no variable that a shell takes")
            else:
                found[name] = each.text
    return found, export


def say_variables(
    heard: ScriptReading, values: Mapping[str, str], export: bool | None = None
) -> None:
    """Variables of a job."""
    attributes = {} if export is None else {"export": "true" if export else "false"}
    if values or attributes:
        children = [Property("Variable", value, {"name": name}) for name, value in values.items()]
        heard.items.append(Property("Environment", "", attributes, children))


def texts_of(values: Data, path: Sequence[str], heard: ScriptReading) -> dict[str, str]:
    """The texts of an object by their names; one that is no text is told, and costs no other."""
    found = {}
    for name, value in values.items():
        if isinstance(value, str) or word(value):
            found[name] = word(value)
        else:
            told(heard, (*path, name), value, "a text")
    return found


def gpus(asked: JobRequest, shares: int, *, typed: bool = False) -> Gpus:
    """Take the GPUs of a job, shared by so many; typed ones only if there is a word for a type."""
    found = Gpus()
    for items, number in resource_terms(asked):
        kind = gpu_model(items[0].attributes)
        if kind is None or (kind and not (typed and plain(kind))):
            refuse_all(asked, items, NO_OPTION)
        elif found.number:
            refuse_all(asked, items, "there are others")
        else:
            found = Gpus(-(-number // shares), kind)
            if number % shares:
                told = f"{found.number} for each of {shares}: {found.number * shares}"
                asked.approximate("Resource", told, where=is_gpu)
    return found


def consistent(asked: JobRequest, of: TaskCounts) -> tuple[int | None, int | None, int | None]:
    """Nodes, processes and processes on a node, of which the first two give the last.

    What does not agree is told: processes come first, then nodes.
    """
    count = of.nodes.least if of.nodes else None
    for name, number in (("NodeCount", of.nodes), ("Processors", of.processors)):
        if number and number.exact is None:
            asked.approximate(name, f"{number.end} {OF_A_RANGE}")
    tasks, per_node = of.count, of.per_node
    if count and tasks and tasks % count:
        asked.approximate(
            "NodeCount", f"{tasks} processes do not share {count} nodes evenly", met=False
        )
        count = None
    if tasks and per_node and (tasks % per_node or (count and count * per_node != tasks)):
        asked.approximate(
            "TaskDistribution", f"{tasks} processes are not {per_node} on each node", met=False
        )
        per_node = None
    return count, tasks, per_node
