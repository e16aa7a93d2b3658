"""What stands around the program in a script: the shell, the directory, variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from sssjob.errors import InvalidValue
from sssjob.executable import arguments
from sssjob.model import Note, Property, stripped
from sssjob.translate.fields import About, truth
from sssjob.translate.limits import ulimit
from sssjob.translate.options import Option, ScriptOptions, ScriptReading, ScriptWriting
from sssjob.translate.quoting import SHELLS, exported, one_word, posix, read_exported, safe
from sssjob.translate.requests import JobRequest
from sssjob.visible import ShellText

_LISTED = re.compile(r"[A-Za-z0-9_./:+@%^=~-]*")  # values that no list of variables takes apart
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_variable(name: str) -> bool:
    """Whether a shell takes a text for the name of a variable."""
    return _VARIABLE.fullmatch(name) is not None


class Shell(About):
    """Our script is read by the Shell, and what it runs, too, where that names no other one."""

    name = "Shell"

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """A shell that takes our script."""
        item = asked.one("Shell")
        if item is None:
            return
        made.shell = own_shell(item.text)
        if not made.shell:
            asked.refuse(item, f"it is no path of one of {', '.join(SHELLS)}")


def own_shell(text: str) -> str:
    """The path of the Shell that a job asks for; "" for what does not read our script."""
    try:
        words = arguments(text)
    except InvalidValue:
        return ""
    known = len(words) == 1 and words[0].startswith("/") and safe_text(words[0])
    return words[0] if known and os.path.basename(words[0]) in SHELLS else ""


def safe_text(text: str) -> bool:
    """Whether a text can stand in a line."""
    try:
        return bool(safe(text)) or True
    except InvalidValue:
        return False


class Directory(About):
    """Without an option for the working directory the script goes there."""

    name = "InitialWorkingDirectory"

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """A line that goes there, or ends."""
        if item := asked.one("InitialWorkingDirectory"):
            try:
                made.line(ShellText.of("cd {place} || exit", place=posix(stripped(item.text))))
            except InvalidValue as error:
                asked.refuse(item, str(error))


@dataclass(frozen=True)
class Environment(About):
    """Variables are set in the script, where a quoted value cannot become anything else.

    ``no`` and ``yes`` export nothing or all of the environment of who submits; ``option`` is
    the one that lists variables, which is written only where no shell reads the script.
    """

    name = "Environment"

    no: Option | None
    yes: Option | None
    option: str = ""

    @property
    def of_options(self) -> Iterable[str]:
        """The list, and what exports all or nothing."""
        switches = (each.name for each in (self.no, self.yes) if each is not None)
        return (self.option, *switches)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The option of export, and a line for each variable."""
        listed: list[str] = []
        export: bool | None = None
        before = len(made.lines)
        for item in asked.take("Environment", "export"):
            if "export" in item.attributes:
                export = truth(item.attributes["export"])
                if export is None:
                    asked.refuse(item, "neither true nor false", "export")
            if stripped(item.text):
                asked.refuse(item, "a text, where variables are expected")
            for each in item.children:
                if not isinstance(each, Note) and (part := self._variable(asked, made, item, each)):
                    listed.append(part)
            if not stripped(item.text) and made.lines[before:] == [*map(_plainly, item.children)]:
                made.plain = len(made.lines) - before
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

    def _variable(
        self, asked: JobRequest, made: ScriptWriting, item: Property, each: Property
    ) -> str:
        """Add a line; or, where no shell would run it, a part of the list, which it gives."""
        name = each.attributes.get("name", "")
        if each.name != "Variable" or not is_variable(name):
            asked.refuse(item, f"{name or each.name!r} is no variable that a shell takes")
            return ""
        try:
            if made.reader and self.option and _LISTED.fullmatch(each.text):
                return f"{name}={each.text}"
            made.line(exported(name, each.text))
        except InvalidValue as error:
            asked.refuse(item, str(error))
        return ""

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Export of all or nothing; variables with values are variables of the job."""
        values: list[str] = []
        export = ""
        for switch, text in ((self.yes, "true"), (self.no, "false")):
            if said.takes(switch):
                export = text
        for value in self._given(said):
            whole, listed = self._headed(value or "")
            if self._list(listed, values):
                export = whole or export
            else:  # all of it, with the word in front: the one means nothing without the other
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

    def _given(self, said: ScriptOptions) -> list[str | None]:
        """The values of the option; of one that is a whole list the last one counts."""
        if not self.option:
            return []
        if not self.in_one:
            return said.all(self.option)
        value = said.last(self.option)
        return [] if value is None else [value]

    def _headed(self, value: str) -> tuple[str, str]:
        """What a list says of all the others in front ("" for nothing), and the list."""
        head, _, rest = value.partition(",")
        for switch, text in ((self.yes, "true"), (self.no, "false")):
            if rest and switch == (self.option, head):
                return text, rest
        return "", value

    def _list(self, value: str, values: list[str]) -> bool:
        parts = value.split(",")
        if not all(
            is_variable(name) and equals
            for name, equals, _ in (part.partition("=") for part in parts)
        ):
            return False
        values += parts
        return True


def _plainly(each: Property | Note) -> str:
    """The line that exports a variable whose value needs no quotes."""
    return "" if isinstance(each, Note) else f"export {each.attributes.get('name')}={each.text}"


def prologue(line: str, interpreter: str, heard: ScriptReading, variables: list[Property]) -> bool:
    """Read a line that stands before the program in our scripts; whether it is one."""
    if line.startswith("export "):
        found = read_exported(line)
        if found is None or not is_variable(found[0]):
            return False
        variables.append(Property("Variable", found[1], {"name": found[0]}))
        return True
    if line.startswith("cd ") and line.endswith(" || exit"):
        word = one_word(line[3 : -len(" || exit")])
        if word:
            heard.say("InitialWorkingDirectory", word)
        return bool(word)
    return ulimit(line, interpreter, heard)
