"""Standard streams of a job as options: files, and how they are written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sssjob.errors import InvalidValue
from sssjob.model import Property, stripped, text_in
from sssjob.translate.fields import Rule
from sssjob.translate.options import Option, ScriptOptions, ScriptReading, ScriptWriting, shown
from sssjob.translate.patterns import PLAIN, Patterns
from sssjob.translate.quoting import posix
from sssjob.translate.requests import NO_OPTION, JobRequest, Verbatim
from sssjob.visible import ShellText

FILES = ("InputFile", "OutputFile", "ErrorFile")
_KEPT = frozenset("oe")  # streams, as letters of an option
# Extensions with the host to which an output is brought, which is not where the job runs.
HOSTS = {"OutputFile": "host of OutputFile", "ErrorFile": "host of ErrorFile"}


@dataclass(frozen=True)
class Streams(Rule):
    """Standard streams; "" where there is no option.

    ``joined`` sends both outputs into one file, that of the output, where no option for the second
    does not do so by itself, and ``into_error`` into that of errors; ``append`` appends both, and
    ``appends`` tells that the system does in any case.
    ``keep`` is the option that keeps outputs on the node: ``o``, ``e``, or both. ``files`` are the
    words for what only a running job knows. ``on_host`` finds the ``host`` and the ``path`` of a
    name that says to which host an output is brought: the host is kept as an Extension.
    """

    input: str = ""
    output: str = "-o"
    error: str = "-e"
    joined: Option | None = None
    append: Option | None = None
    appends: bool = False
    also_joined: tuple[Option, ...] = ()
    into_error: Option | None = None
    keep: str = ""
    files: Patterns = PLAIN
    on_host: re.Pattern[str] | None = None

    @property
    def verbatim(self) -> Mapping[str, Verbatim | None]:
        """Files, where each that is named has its option."""
        options = zip(FILES, (self.input, self.output, self.error), strict=True)
        return {name: Verbatim(option) if option else None for name, option in options}

    @property
    def of_options(self) -> Iterable[str]:
        """Those of files, and of what becomes of them."""
        more = (self.joined, self.append, self.into_error, *self.also_joined)
        files = (self.input, self.output, self.error, self.keep)
        return (*files, *(option.name for option in more if option is not None))

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Standard error goes where the output goes if nothing else is said, as Slurm has it."""
        options = {"InputFile": self.input, "OutputFile": self.output, "ErrorFile": self.error}
        found = {
            name: item for name in options if (item := asked.one(name, "redirectList")) is not None
        }
        output, error = found.get("OutputFile"), found.get("ErrorFile")
        merging = error is not None and (
            _redirected(error) == ["Merge"] and stripped(error.text) in ("", text_in(output))
        )
        unsaid = error is None and (made.held or self.joined is None)
        merged = (merging and (output is not None or not made.held)) or unsaid
        if merged:
            found.pop("ErrorFile", None)
        for name, item in found.items():
            self._file(asked, made, item, options[name])
        unused = [HOSTS[name] for name in HOSTS if name not in found]
        for item in self._hosts(asked, *unused):
            asked.refuse(item, "no file is named that is brought there")
        if merged and (output is not None or merging):
            made.add(self.joined)
        outputs = len(found.keys() - {"InputFile"})
        said = [item for item in found.values() if _redirected(item)]
        self._modes(asked, made, said, outputs, merged)

    def _file(self, asked: JobRequest, made: ScriptWriting, item: Property, option: str) -> None:
        text = stripped(item.text)
        if not text and not made.held and item.name != "InputFile":
            if _redirected(item) != ["Close"]:
                return
            text = os.devnull
        try:
            if option:
                host = self._host(asked, item.name)
                made.option(option, host + self.files.written(asked, item, text))
            else:
                made.redirect(
                    ShellText.of(" < {file}", file=posix(PLAIN.written(asked, item, text)))
                )
        except InvalidValue as error:
            asked.refuse(item, str(error))

    def _host(self, asked: JobRequest, name: str) -> str:
        """The host to which an output is brought, with a colon; "" where nobody names one."""
        if self.on_host is None:
            return ""
        found = next(iter(self._hosts(asked, HOSTS.get(name, ""))), None)
        if found is None:
            return ""
        if not self.on_host.fullmatch(f"{found.text}:/"):
            asked.refuse(found, "it is no name of a host")
            return ""
        return f"{found.text}:"

    def _hosts(self, asked: JobRequest, *names: str) -> list[Property]:
        kept = asked.mine("Extension", self.files.kind) if self.on_host else ()
        return [item for item in kept if item.attributes.get("name") in names]

    def _modes(
        self,
        asked: JobRequest,
        made: ScriptWriting,
        items: list[Property],
        outputs: int,
        merged: bool,
    ) -> None:
        """Append is the way of a system, or one option for all ``outputs`` that are named."""
        appended = [item for item in items if _redirected(item) == ["Append"]]
        both = 0 < len(appended) == outputs
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

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Files as they are named; where both are appended to, each says so."""
        append = self.append is not None and said.takes(self.append)
        mode = {"redirectList": "Append"} if append else {}
        appended = False
        kept = (said.last(self.keep) or "") if self.keep else ""
        if set(kept) - _KEPT:
            said.back(self.keep, kept, "only o and e say what stays where a job runs")
            kept = ""
        joined, unused = self._joined(said, heard)
        for name, option in (("InputFile", self.input), ("OutputFile", self.output),
                             ("ErrorFile", self.error)):  # fmt: skip
            value = said.last(option) if option else None
            if name == unused:
                if value is not None:
                    said.back(option, value, "both outputs go into one file, which is another one")
                continue
            if joined and name == "ErrorFile":
                name = "OutputFile"
            host, path = self._brought(value or "")
            try:
                text = self.files.said(path, said)
            except InvalidValue as error:
                said.back(option, value, str(error))
                continue
            if name[0].lower() in kept and name != "InputFile":
                heard.say(name, text, redirectList="Keep")
            elif text:
                outputs = name != "InputFile"
                heard.say(name, text, **(mode if outputs else {}))
                appended |= append and outputs
            if host:
                heard.say("Extension", host, type=self.files.kind, name=HOSTS[name])
        if self.append is not None and append and not appended:
            said.back(self.append.name, self.append.value, "no file is named to which it appends")
        if joined:
            heard.say("ErrorFile", "", redirectList="Merge")

    def _brought(self, value: str) -> tuple[str, str]:
        """The host of a name, "" for none, and the path there."""
        found = self.on_host.fullmatch(value) if self.on_host is not None else None
        return (found["host"], found["path"]) if found else ("", value)

    def _joined(self, said: ScriptOptions, heard: ScriptReading) -> tuple[bool, str]:
        """Whether both outputs go into one file, and the name of the file that is not written."""
        if any([said.takes(each) for each in (self.joined, *self.also_joined)]):
            return True, "ErrorFile"
        if self.into_error is None or not said.takes(self.into_error):
            return False, ""
        if self.error not in said.names:
            heard.note(
                f"{shown(self.into_error)}: the file has the same name as that of the output"
            )
        return True, "OutputFile"


def _redirected(item: Property) -> list[str]:
    if "redirectList" not in item.attributes:
        return []
    words = item.said("redirectList").split(",")
    return [word.strip() for word in words if word.strip()]
