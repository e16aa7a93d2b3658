"""What qsub of PBS and TORQUE takes for what a job object says, and back."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from sssjob.errors import InvalidValue
from sssjob.executable import DEFAULT_SHELL
from sssjob.model import stripped, text_in
from sssjob.records.dependencies import WORDS
from sssjob.systems.pbs.chunks import NODES, PLACE, PROCS, Chunks, Nodes, evenly
from sssjob.systems.pbs.words import ON_HOST, clock, limit, size, waited_for, written
from sssjob.translate import environment, exclusive, fields, limits, mail, streams, waiting
from sssjob.translate.arrays import Spelling
from sssjob.translate.form import OptionForm, SubmitForm
from sssjob.translate.options import (
    Option,
    ScriptOptions,
    ScriptReading,
    ScriptWriting,
    Syntax,
    WantedAmounts,
    assignments,
    commas,
)
from sssjob.translate.patterns import Patterns
from sssjob.translate.quoting import quoted, split, word
from sssjob.translate.requests import OTHER_MEANING, JobRequest

# How options of qsub are spelled behind #PBS, in PBS Professional, OpenPBS and TORQUE.
_COMMON = {
    **dict.fromkeys(("-a", "-A", "-c", "-C", "-e", "-j", "-k", "-l", "-m", "-M", "-N", "-o", "-p",
                     "-P", "-q", "-r", "-S", "-u", "-v", "-W"), 1),
    **dict.fromkeys(("-f", "-h", "-I", "-V", "-x", "-X", "-z"), 0),
}  # fmt: skip
_LISTS = {"-l": commas, "-W": assignments}

_PBS_SYNTAX = Syntax(
    "#PBS", {**_COMMON, "-J": 1, "-R": 1, "-G": 1}, {}, _LISTS, split, quoted, indented=True
)
_TORQUE_SYNTAX = Syntax(
    "#PBS", {**_COMMON, "-b": 1, "-d": 1, "-D": 1, "-F": 1, "-L": 1, "-t": 1, "-T": 1, "-w": 1,
             "-K": 1, "-E": 0, "-n": 0},
    {}, _LISTS, split, quoted, indented=True,
)  # fmt: skip


def _words(wanted: WantedAmounts, parallel: str, made: ScriptWriting) -> list[str]:
    """PBS starts the login shell of the user, unless it is told what reads the script."""
    parts = [
        f"{nodes}:ppn={tasks * wanted.each}"
        for nodes, tasks in evenly(wanted.tasks, max(wanted.nodes, 1))
    ]
    words = [f"nodes={'+'.join(parts)}"]
    words += [f"mem={wanted.memory}b"] if wanted.memory else []
    words += [f"walltime={clock(wanted.seconds)}"] if wanted.seconds else []
    words += made.limits
    shell = made.shell or (DEFAULT_SHELL if made.lines or made.redirection else "")
    return ["-l", ",".join(words), *(("-S", shell) if shell else ())]


def _bytes(text: str) -> int:
    return math.ceil(size(text))


class Project(fields.Rule):
    """-A and -P of PBS Professional, of which TORQUE has -A alone.

    Whose account is named there is charged, as in records and listings: a project beside it stays
    an Extension.
    """

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The one or the other."""
        kept = any(each.attributes.get("name") == "-P" for each in asked.items("Extension"))
        fields.TextOption("Project", "-A" if made.held or kept else "-P", word).write(asked, made)

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The first that is there."""
        account = said.last("-A")
        if text := account or said.last("-P"):
            heard.say("Project", text)


class ReservedQueue(fields.QueueAt):
    """The queue of a reservation, which is called like it: R, S or M, and a number."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The reservation before any other queue."""
        item = asked.one("Reservation")
        text = text_in(item)
        if item is None or made.held or not _RESERVED.fullmatch(text):
            if item is not None:
                asked.refuse(item, "its name is not that of a reservation's queue")
            queue = asked.one("Queue")
            if queue is not None and _RESERVED.fullmatch(stripped(queue.text)):
                asked.refuse(queue, OTHER_MEANING)  # the queue of a reservation
            else:
                super().write(asked, made)
            return
        made.option(self.option, text)
        for name in ("Queue", "Machine"):
            if (other := asked.one(name)) is not None:
                asked.refuse(other, f"the queue is that of the reservation, {text}")

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """A queue that is called like a reservation is one."""
        value = said.last(self.option)
        if value is not None and _RESERVED.fullmatch(value):
            heard.say("Reservation", value)
        elif value is not None:
            said.back(self.option, value)
            super().read(said, heard)


def _advance(text: str) -> str:
    if "," in text:
        raise InvalidValue(text, "a reservation without commas, as one attribute has")
    return f"advres:{word(text)}"


def _reserved(value: str) -> str:
    head, colon, name = value.partition(":")
    if (head.lower(), colon) != ("advres", ":") or not name:
        raise InvalidValue(value, "a reservation such as advres:NAME")
    return name


_RESERVED = re.compile(r"[RSM][0-9]+(?:\.[\w.-]+)?", re.ASCII)
_CPU_TIME = {("CPUTime", kind): "-l cput" for kind in ("", "Hard", "Soft")}
_IN_SCRIPT = limits.Limits({("CPUTime", ""): "-l cput"}, clock, written, limit, _bytes)

_STREAMS = streams.Streams("", "-o", "-e", joined=Option("-j", "oe"),
                           into_error=Option("-j", "eo"), keep="-k", on_host=ON_HOST)  # fmt: skip
# What other $NAME is there depends on the version. Before a colon stands a host.
_VARIABLE = r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{\w*\}?)|:"
_PBS_FILES = Patterns(
    "pbs",
    {},
    rf"\^array_index\^|{_VARIABLE}",
    in_array={"ArrayIndex": "^array_index^"},
    array=Option("-J"),
)
_TORQUE_FILES = Patterns(
    "torque",
    {"Id": "${PBS_JOBID}", "Name": "${PBS_JOBNAME}", "User": "${USER}"},
    _VARIABLE,
    in_array={"ArrayIndex": "${PBS_ARRAYID}"},
    also={
        "$PBS_JOBID": "Id",
        "$PBS_JOBNAME": "Name",
        "$USER": "User",
        "$PBS_ARRAYID": "ArrayIndex",
    },
    array=Option("-t"),
)

# fmt: off
_RULES: tuple[fields.Rule, ...] = (
    environment.Shell(),
    environment.Environment(None, Option("-V"), "-v"),
    waiting.LocalTime("EligibleTime", "-a", "%Y%m%d%H%M.%S", waiting.DIGITS),
    waiting.Waits("-W depend", waited_for, WORDS),
    waiting.Hold(Option("-h")),
    mail.Mail("-m", "", ("b", "e", "abe", "n"), "-M"),
    fields.Switch("Restartable", Option("-r", "n"), Option("-r", "y")),
    fields.Interactive(Option("-I")),
    fields.Only("Suspendable", True, "nothing keeps a job from being suspended"),
    fields.Priority("-p"),
    fields.Manager("pbs"),
)
FORM = OptionForm(
    name="pbs",
    syntax=_PBS_SYNTAX,
    array=Spelling("-J", "PBS_ARRAY_INDEX", several=False),
    lists={"-m": "", "-W depend": ","},
    layout=Chunks(),
    own=(PLACE, *streams.HOSTS.values()),
    in_script=(
        fields.Name("-N", plain=True, most=230),
        fields.Switch("Checkpointable", Option("-c", "n"), Option("-c", "u")),
        _IN_SCRIPT,
    ),
    rules=(Project(), ReservedQueue("-q"), environment.Directory(),
           replace(_STREAMS, files=_PBS_FILES), *_RULES),
    shell="-S",
    at_once=(limits.Limits(_CPU_TIME, clock, seconds=limit),),
    held_name=fields.Name("-N", plain=True),
    words=_words,
)
_TORQUE = OptionForm(
    name="torque",
    syntax=_TORQUE_SYNTAX,
    array=Spelling("-t", "PBS_ARRAYID", steps=False),
    lists={"-m": "", "-W depend": ","},
    layout=Nodes(),
    own=(NODES, PROCS, *streams.HOSTS.values()),
    in_script=(
        fields.Name("-N", plain=True, most=15),
        fields.TextOption("Project",          "-A", word),
        fields.TextOption("QualityOfService", "-l qos", word),
        fields.TextOption("Partition",        "-l partition", word),
        fields.TextOption("Reservation",      "-W x", _advance, _reserved),
        fields.TextOption("InitialWorkingDirectory", "-d"),
        exclusive.Exclusive(Option("-n")),
        fields.Switch("Checkpointable", Option("-c", "none"), Option("-c", "enabled")),
        _IN_SCRIPT,
    ),
    rules=(fields.QueueAt("-q"), replace(_STREAMS, files=_TORQUE_FILES), *_RULES),
    shell="-S",
    signs=frozenset((
        "-l nodes", "-l pmem", "-l pvmem", "-l procs", "-l qos", "-l partition", "-l gres",
        "-l opsys", "-l feature", "-W x", "-d", "-t", "-F", "-L", "-T", "-w", "-c none",
        "-c enabled",
    )),
)
PBS, TORQUE = SubmitForm(FORM), SubmitForm(_TORQUE)
# fmt: on
