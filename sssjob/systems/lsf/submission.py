"""What bsub takes for what a job object says, and back."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from sssjob import units
from sssjob.errors import InvalidValue, shortened
from sssjob.integers import whole
from sssjob.model import Property, stripped, text_in
from sssjob.systems.lsf.slots import GEOMETRY, Slots, counts, say_geometry
from sssjob.systems.lsf.words import (
    CONDITIONS,
    dependencies,
    kilobytes,
    minutes,
    sections,
    size,
    written_minutes,
)
from sssjob.translate import environment, exclusive, fields, limits, mail, waiting
from sssjob.translate.arrays import Spelling
from sssjob.translate.form import OptionForm, SubmitForm
from sssjob.translate.options import (
    Option,
    ScriptOptions,
    ScriptReading,
    ScriptWriting,
    Syntax,
    WantedAmounts,
)
from sssjob.translate.patterns import Patterns
from sssjob.translate.quoting import quoted, safe, split, word
from sssjob.translate.requests import NO_OPTION, JobRequest

_ID = re.compile(r"[0-9]+(\[[0-9]+\])?")
_NAMED = re.compile(r"[^\"'\s()&|!\[\]]+")

# A name in brackets, [, is that of an array. All its elements have one id.
FILES = Patterns(
    "lsf",
    {"Id": "%J", "ArrayIndex": "%I"},
    r"%J\[%I\]|%[JI]",
    in_array={"Id": "%J[%I]", "ArrayId": "%J"},
    array=Option("-J", "["),
)


class LSFStreams(fields.Rule):
    """Files that are written anew (``-oo``), or appended to (``-o``)."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Without an option for it, standard error goes where the output goes."""
        output = asked.one("OutputFile", "redirectList")
        error = asked.one("ErrorFile", "redirectList")
        if error is not None and error.said("redirectList") == "Merge":
            same = text_in(output)
            error = None if stripped(error.text) in ("", same) else error
        for item, letter in ((output, "o"), (error, "e")):
            if item is not None:
                self._file(asked, made, item, letter)
        if item := asked.one("InputFile", "redirectList"):
            self._option(asked, made, item, "-i")

    def _file(self, asked: JobRequest, made: ScriptWriting, item: Property, letter: str) -> None:
        words = item.said("redirectList")
        text = stripped(item.text) or (os.devnull if words == "Close" else "")
        if not text:
            asked.refuse(item, NO_OPTION)
            return
        if words not in ("", "Append", "Close"):
            asked.refuse(item, NO_OPTION, "redirectList")
        self._option(asked, made, item, f"-{letter}" if words == "Append" else f"-{letter}o", text)

    def _option(
        self, asked: JobRequest, made: ScriptWriting, item: Property, option: str, text: str = ""
    ) -> None:
        try:
            made.option(option, FILES.written(asked, item, text or stripped(item.text)))
        except InvalidValue as error:
            asked.refuse(item, str(error))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Each file, and whether it is appended to."""
        self._read(said, heard, "InputFile", "-i")
        for name, letter in (("OutputFile", "o"), ("ErrorFile", "e")):
            if not self._read(said, heard, name, f"-{letter}o"):
                self._read(said, heard, name, f"-{letter}", redirectList="Append")

    def _read(
        self, said: ScriptOptions, heard: ScriptReading, name: str, option: str, **attributes: str
    ) -> bool:
        """Say what an option names; whether it is there."""
        value = said.last(option)
        if not value:
            return False
        try:
            heard.say(name, FILES.said(value, said), **attributes)
        except InvalidValue as error:
            said.back(option, value, str(error))
        return True


class LSFMail(fields.Rule):
    """``-B`` for the start, ``-N`` for the end."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The two, and the address."""
        item, events = mail.asked_for(asked, ("JobStart", "JobEnd", "All"))
        if item is None:
            return
        if {"JobStart", "All"} & set(events):
            made.option("-B")
        if {"JobEnd", "All"} & set(events):
            made.option("-N")
        if to := mail.written(asked, item, several=False):
            made.option("-u", to)

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The events that are there."""
        events = [name for name, option in (("JobStart", "-B"), ("JobEnd", "-N"))
                  if said.has(option)]  # fmt: skip
        if events:
            heard.say("NotificationList", ",".join(events), **mail.heard_uri(said, "-u"))


class Waits(fields.Rule):
    """``done(1) && exit(2,==3) && ended("name")``: an exit code and names are kept."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """All of them, with && between."""
        found = []
        for item in asked.take("Dependency", "condition", "code", "designator"):
            term = self._term(asked, item)
            found += [term] if term else []
        if found:
            made.option("-w", " && ".join(found))

    def _term(self, asked: JobRequest, item: Property) -> str:
        text = stripped(item.text)
        condition = item.said("condition", "OnSuccess")
        designator = item.said("designator", "JobId")
        named = designator == "JobName"
        if designator not in ("JobId", "JobName"):
            asked.refuse(item, "a job is named by its id or its name")
            return ""
        if named and _NAMED.fullmatch(text):
            text = f'"{text}"'
        elif named or not _ID.fullmatch(text):
            asked.refuse(item, "no id of a job of this system")
            return ""
        if condition not in CONDITIONS:
            asked.refuse(item, f"nothing waits for {condition}")
            return ""
        code = item.said("code")
        if not code:
            return f"{CONDITIONS[condition]}({text})"
        number = whole(code)
        if condition != "OnExit" or number is None:
            asked.refuse(item, f"nothing waits for {condition} with the code {shortened(code)}")
            return ""
        return f"exit({text},=={number})" if number else f"done({text})"

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Terms that all have to hold; another expression is kept as it is."""
        value = said.last("-w")
        if value is None:
            return
        if (found := dependencies(value)) is None:
            said.back("-w", value, fields.NOT_ALL)
            return
        for item in found:
            heard.say(item.name, item.text, **item.attributes)


@dataclass(frozen=True)
class LSFName(fields.Name):
    """What stands in brackets behind a name makes an array of jobs, and is kept as it is."""

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The name, without what makes an array of it."""
        value = said.last(self.option)
        if value is None:
            return
        name, bracket, indices = value.partition("[")
        if bracket:
            said.keep(self.option, value, f"[{indices}", "an array of jobs")
        if name:
            heard.say("Name", name)


class ApplicationProfile(fields.Rule):
    """An application profile: read as what runs, and kept, since not each Application is one."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Nothing: a name that is no profile of the site would keep the job from starting."""

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The profile, as records tell it."""
        if value := said.last("-app"):
            heard.say("Application", value)
            said.back("-app", value, "a profile of the site")


_TAKES = {
    **dict.fromkeys(("-a", "-alloc_flags", "-app", "-b", "-c", "-clusters", "-cn_cu", "-cn_mem",
                     "-core_isolation", "-csm", "-cwd", "-data", "-datagrp", "-D", "-e", "-eo",
                     "-E", "-Ep", "-env", "-eptl", "-ext", "-f", "-freq", "-F", "-g", "-G", "-gpu",
                     "-hostfile", "-i", "-is", "-j", "-J", "-Jd", "-jsdl", "-jsm", "-k", "-K",
                     "-L", "-Lp", "-m", "-M", "-mig", "-n", "-nnodes", "-network", "-notify", "-o",
                     "-oo", "-outdir", "-p", "-pack", "-ptl", "-P", "-q", "-Q", "-R", "-rcacct",
                     "-S", "-s", "-sla", "-smt", "-sp", "-stage", "-step_cgroup", "-t", "-T", "-ti",
                     "-tty", "-u", "-ul", "-U", "-v", "-w", "-wa", "-We", "-W", "-wt", "-Wm", "-Zs",
                     "-C"), 1),
    **dict.fromkeys(("-B", "-H", "-I", "-Ip", "-Is", "-IS", "-ISp", "-ISs", "-N", "-Ne", "-nn",
                     "-r", "-rn", "-x", "-XF", "-Z"), 0),
}  # fmt: skip
_LIMITS = {
    ("CPUTime", ""): "-c", ("FileSize", ""): "-F", ("DataSize", ""): "-D", ("StackSize", ""): "-S",
    ("CoreFileSize", ""): "-C", ("ResidentSetSize", ""): "-M", ("Processes", ""): "-p",
}  # fmt: skip
_PLACES = re.compile(r"%(?:JG|EJ|EI|[JIPUGH])")  # what only the running job knows


def _directory(text: str) -> str:
    """A directory as it is. Raises ``InvalidValue`` for one that every job has another of."""
    if (found := _PLACES.search(text)) is not None:
        raise InvalidValue(found[0], "a plain text there: it stands for something else")
    return safe(text)


_TIMES = ("%Y:%m:%d:%H:%M", "%y:%m:%d:%H:%M")


def _words(wanted: WantedAmounts, parallel: str, made: ScriptWriting) -> list[str]:
    """Slots on so many hosts, and memory of each: reserved, and what no process may go beyond."""
    hosts = max(wanted.nodes, 1)
    slots = wanted.tasks * wanted.each
    span = "hosts=1" if hosts == 1 else f"ptile={units.rounded_up(slots, hosts)}"
    found = ["-n", str(slots), "-R", f"span[{span}]"]
    if wanted.memory:
        most = units.rounded_up(wanted.memory, hosts)
        reserved = f"rusage[mem={units.rounded_up(most, 1 << 20)}MB/host]"
        found += ["-R", reserved, "-M", kilobytes(most)]
    if wanted.seconds:
        found += ["-W", written_minutes(wanted.seconds)]
    return found


# fmt: off
FORM = OptionForm(
    name="lsf",
    syntax=Syntax(
        "#BSUB", _TAKES, {}, {"-R": sections}, split, quoted, inner={"-R": "{}[{}]"},
        everywhere=True, apart=True,
    ),
    layout=Slots(),
    array=Spelling("-J", "LSB_JOBINDEX", least=1, unnamed="array"),
    lists={"-J": "", "-gpu": ":"},
    variables={GEOMETRY: say_geometry},
    in_script=(LSFName("-J", plain=True),),
    rules=(
        fields.TextOption("Project",                 "-P"),
        fields.TextOption("Group",                   "-G", word),  # of users: their shares count
        fields.TextOption("QualityOfService",        "-sla", word),
        fields.Queues("-q", " "),
        fields.TextOption("Machine",                 "-clusters", fields.alone, fields.alone),
        fields.TextOption("Reservation",             "-U", word),
        fields.TextOption("InitialWorkingDirectory", "-cwd", _directory, _directory),
        LSFStreams(),
        environment.Shell(),
        environment.Environment(Option("-env", "none"), Option("-env", "all")),
        waiting.LocalTime("EligibleTime", "-b", "%Y:%m:%d:%H:%M", _TIMES, 60),
        waiting.LocalTime("DeadlineTime", "-t", "%Y:%m:%d:%H:%M", _TIMES, -60),
        Waits(),
        waiting.Hold(Option("-H")),
        LSFMail(),
        ApplicationProfile(),
        fields.Switch("Restartable", Option("-rn"), Option("-r")),
        fields.Interactive(Option("-Is")),
        exclusive.Exclusive(Option("-x")),
        fields.Only("Suspendable", True, "nothing keeps a job from being suspended"),
        fields.Checkpoint("-k", "a directory of checkpoints"),
        fields.Priority("-sp", range(1, 1 << 31)),
        fields.Manager("lsf"),
        limits.Limits(_LIMITS, written_minutes, kilobytes, minutes, size),
    ),
    counts=counts,
    held_name=LSFName("-J", plain=True),
    words=_words,
)
# fmt: on
LSF = SubmitForm(FORM)
