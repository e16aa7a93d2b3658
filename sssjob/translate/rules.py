"""The rules by which the options of a form say what a job asks for.

A rule takes what a job says by a name and makes words of the command, or lines of the script; what
a system has no words for is refused, which ``asked`` then tells by its policy.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sssjob import spec, units
from sssjob.errors import InvalidValue
from sssjob.executable import arguments
from sssjob.model import Note, Property, stripped
from sssjob.translate.asked import NO_OPTION, Asked
from sssjob.translate.form import EVENTS, Form, Moment, Switch
from sssjob.translate.options import Made, Option

_SHELLS = ("sh", "ash", "bash", "dash", "ksh", "mksh", "zsh")  # that take the script that we write
_KINDS = {"Hard": 0, "": 1, "Soft": 2}  # the order in which one limit of several is taken
# The limits that are among the amounts, and of what.
_MEASURED = {
    "Memory": "Memory",
    "ResidentSetSize": "Memory",
    "Duration": "Duration",
    "Disk": "Disk",
}
_PRIORITIES = range(-1023, 1025)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_ADDRESS = re.compile(r"(?:mailto:(?://)?)?([^\s/:@-][^\s/:@]*@[^\s/:@]+)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job goes: the form, who submits it, and how much is asked for.

    ``nodes`` is 0 where nothing says how many; ``each`` counts processors of one task.
    """

    form: Form
    user: str
    group: str
    nodes: int
    each: int


Rule = Callable[[Asked, Made, Place], None]


def carry(asked: Asked, target: Place) -> Made:
    """Make options of all that a system has words for."""
    made = Made()
    for rule in RULES:
        rule(asked, made, target)
    return made


def _texts(asked: Asked, made: Made, to: Place) -> None:
    for row in to.form.rows:
        if item := asked.one(row.name):
            try:
                made.option(row.option, row.write(stripped(item.text)))
            except InvalidValue as error:
                asked.refuse(item, str(error))
    partition, queue = asked.one("Partition"), asked.one("Queue")
    if partition is None:
        return
    text = stripped(partition.text)
    if not to.form.queue_is_partition:
        asked.refuse(partition, NO_OPTION)
    elif queue is None:
        made.option(next(row.option for row in to.form.rows if row.name == "Queue"), text)
    elif text != stripped(queue.text):
        asked.refuse(partition, f"the partition is the Queue, {stripped(queue.text)!r}")


def _streams(asked: Asked, made: Made, to: Place) -> None:
    """Standard error goes where the output goes if nothing else is said, as Slurm has it."""
    streams = to.form.streams
    options = {"InputFile": streams.input, "OutputFile": streams.output, "ErrorFile": streams.error}
    found = {
        name: item for name in options if (item := asked.one(name, "redirectList")) is not None
    }
    output, error = found.get("OutputFile"), found.get("ErrorFile")
    merged = error is None or (
        output is not None
        and _redirected(error) == ["Merge"]
        and stripped(error.text) in ("", stripped(output.text))
    )
    if merged:
        found.pop("ErrorFile", None)
    for name, item in found.items():
        text = stripped(item.text)
        if options[name]:
            made.option(options[name], text)
        else:
            made.redirection = f" < {shlex.quote(text)}"
    if output is not None and merged:
        made.add(streams.joined)
    _modes(asked, made, to, [item for item in found.values() if _redirected(item)], merged)


def _modes(asked: Asked, made: Made, to: Place, items: list[Property], merged: bool) -> None:
    """Append is the way of a system, or one option for both streams."""
    streams = to.form.streams
    appended = [item for item in items if _redirected(item) == ["Append"]]
    both = len(appended) == (1 if merged else 2)
    for item in items:
        if _redirected(item) == ["Merge"] and merged:
            continue
        if item not in appended or not (streams.appends or (both and streams.append)):
            asked.refuse(item, NO_OPTION, "redirectList")
    if both and not streams.appends:
        made.add(streams.append)


def _redirected(item: Property) -> list[str]:
    words = item.attributes.get("redirectList", "").split(",")
    return [word.strip() for word in words if word.strip()]


def _shell(asked: Asked, made: Made, to: Place) -> None:
    """Our script is read by the Shell, and what it runs, too, where that names no other one."""
    item = asked.one("Shell")
    if item is not None:
        words = _split(item.text)
        known = len(words) == 1 and words[0].startswith("/")
        if known and os.path.basename(words[0]) in _SHELLS:
            made.shell = words[0]
        else:
            asked.refuse(item, f"it is no path of one of {', '.join(_SHELLS)}")


def _split(text: str) -> tuple[str, ...]:
    try:
        return arguments(text)
    except InvalidValue:
        return ()


def _directory(asked: Asked, made: Made, to: Place) -> None:
    """Without an option for the working directory the script goes there."""
    if not to.form.directory and (item := asked.one("InitialWorkingDirectory")):
        made.lines.append(f"cd {shlex.quote(stripped(item.text))} || exit")


def _environment(asked: Asked, made: Made, to: Place) -> None:
    """Variables are set in the script, where a quoted value cannot become anything else."""
    for item in asked.take("Environment", "export"):
        export = _truth(item.attributes.get("export", ""))
        if export is not None:
            made.add(_chosen(to.form.export, export))
        elif "export" in item.attributes:
            asked.refuse(item, "neither true nor false", "export")
        if stripped(item.text):
            asked.refuse(item, "a text, where variables are expected")
        for each in item.children:
            if isinstance(each, Note):
                continue
            name = each.attributes.get("name", "")
            if each.name == "Variable" and _VARIABLE.fullmatch(name):
                made.lines.append(f"export {name}={shlex.quote(each.text)}")
            else:
                asked.refuse(item, f"{name or each.name!r} is no variable that a shell takes")


def _times(asked: Asked, made: Made, to: Place) -> None:
    for moment in to.form.moments:
        if item := asked.one(moment.name):
            _time(asked, made, item, moment)


def _time(asked: Asked, made: Made, item: Property, moment: Moment) -> None:
    """A local time, as these programs want it; in the hour that a clock repeats it is not sure."""
    try:
        seconds = units.time(item.text)
    except InvalidValue as error:
        asked.refuse(item, str(error))
        return
    local = datetime.fromtimestamp(seconds)
    if local.replace(fold=0).timestamp() != local.replace(fold=1).timestamp():
        asked.refuse(item, "the clock shows that time twice, or not at all")
        return
    made.option(moment.option, local.strftime(moment.form))


def _dependencies(asked: Asked, made: Made, to: Place) -> None:
    """Ids of the batch system, and what is waited for."""
    waits = to.form.waits
    found: list[str] = []
    for item in asked.take("Dependency", "condition", "code", "designator"):
        condition = item.attributes.get("condition", "OnSuccess")
        text = stripped(item.text)
        if "code" in item.attributes:
            asked.refuse(item, "nothing waits for an exit code")
        elif item.attributes.get("designator", "JobId") != "JobId":
            asked.refuse(item, "a job is named by its id")
        elif not re.fullmatch(waits.id, text, re.ASCII):
            asked.refuse(item, "no id of a job of this system")
        elif condition not in waits.words:
            asked.refuse(item, f"nothing waits for {condition}")
        else:
            word = waits.words[condition]
            found.append(f"{word}:{text}" if word else text)
    if found:
        made.option(waits.option, ",".join(found))


def _holds(asked: Asked, made: Made, to: Place) -> None:
    """Every job is submitted held by its user, and stays so if it asks for that."""
    for item in asked.take("Hold"):
        if stripped(item.text) == "User":
            made.stays_held = True
        else:
            asked.refuse(item, "only a hold of the user can be asked for")


def _notification(asked: Asked, made: Made, to: Place) -> None:
    item = asked.one("NotificationList", "uri")
    if item is None:
        return
    mail = to.form.mail
    events = [word.strip() for word in item.text.split(",") if word.strip()]
    if not events or not set(events).issubset(EVENTS):
        asked.refuse(item, f"expected some of {', '.join(EVENTS)}")
        return
    known = dict(zip(EVENTS, mail.words, strict=True))
    made.option(mail.events, mail.joint.join(known[event] for event in dict.fromkeys(events)))
    if "uri" in item.attributes:
        if address := _ADDRESS.fullmatch(item.attributes["uri"].strip()):
            made.option(mail.to, address[1])
        else:
            asked.refuse(item, "it is no address of mail", "uri")


def _switches(asked: Asked, made: Made, to: Place) -> None:
    """What a job may be done with; True or False decides whether anything is asked for."""
    if item := asked.one("Restartable"):
        value = _truth(item.text)
        if value is None:
            asked.refuse(item, "neither true nor false")
        else:
            made.add(_chosen(to.form.restart, value))
    for name, harmless, reason in (
        ("Interactive", False, "a batch job has no terminal"),
        ("Suspendable", True, "nothing keeps a job from being suspended"),
    ):
        if (item := asked.one(name)) and _truth(item.text) is not harmless:
            asked.refuse(item, reason)


def _chosen(switch: Switch, value: bool) -> Option | None:
    return switch.yes if value else switch.no


def _truth(text: str) -> bool | None:
    try:
        return units.boolean(text)
    except InvalidValue:
        return None


def _priority(asked: Asked, made: Made, to: Place) -> None:
    item = asked.one("Priority")
    if item is None:
        return
    try:
        value = units.integer(item.text)
    except InvalidValue as error:
        asked.refuse(item, str(error))
        return
    if not to.form.priority:
        asked.refuse(item, "only an operator sets the priority of a job")
    elif value not in _PRIORITIES:
        asked.refuse(item, "priorities go from -1023 to 1024")
    else:
        made.option(to.form.priority, str(value))


def _credentials(asked: Asked, made: Made, to: Place) -> None:
    """A job runs as who submits it."""
    for name, own in (("User", to.user), ("Group", to.group)):
        for item in asked.take(name):
            if stripped(item.text) != own:
                asked.refuse(item, f"the job would run as {own}, who submits it")
    for item in asked.take("ResourceManagerType"):
        plain = re.sub(r"[^a-z]", "", item.text.lower())
        if plain not in to.form.managers:
            asked.refuse(item, "that is another one")


def _features(asked: Asked, made: Made, to: Place) -> None:
    """Plain names, all of which a node has to have."""
    if not to.form.features:
        return
    names = []
    for item in asked.take("Feature"):
        if _PLAIN.fullmatch(stripped(item.text)):
            names.append(stripped(item.text))
        else:
            asked.refuse(item, "it is no plain name")
    if names:
        made.option(to.form.features, "&".join(dict.fromkeys(names)))


def _node(asked: Asked, made: Made, to: Place) -> None:
    """One node by its name, of a job on one node."""
    if not to.form.node:
        return
    found = asked.take("Node")
    for item in found:
        text = stripped(item.text)
        if len(found) > 1 or to.nodes > 1 or not _PLAIN.fullmatch(text):
            asked.refuse(item, "only one node can be named, by its plain name")
        else:
            made.option(to.form.node, text)
            if not to.nodes:
                made.option(to.form.nodes, "1")


def _distribution(asked: Asked, made: Made, to: Place) -> None:
    """How tasks stand on nodes, as far as it is a number or the rule that Slurm calls cyclic."""
    if not to.form.per_node:
        return
    for item in asked.take("TaskDistribution", "type"):
        text, kind = stripped(item.text), item.attributes.get("type", "")
        number = int(text) if text.isascii() and text.isdigit() else 0
        if number and kind in ("", "TasksPerNode"):
            made.option(to.form.per_node, str(number))
        elif number == to.each and kind == "ProcessorsPerTask":
            continue  # which is among the amounts
        elif text == "RoundRobin" and kind in ("", "Rule"):
            made.add(to.form.cyclic)
        else:
            asked.refuse(item, NO_OPTION)


def _resources(asked: Asked, made: Made, to: Place) -> None:
    """GPUs of the whole job, and licences."""
    if not to.form.gpus:
        return
    licences = []
    for item in asked.take("Resource", "name", "type"):
        name, kind = (item.attributes.get(key, "") for key in ("name", "type"))
        try:
            count = math.ceil(units.number(item.text))
        except InvalidValue as error:
            asked.refuse(item, str(error))
            continue
        if count < 1:
            asked.refuse(item, "it is no number above 0")
        elif kind == "License" and _PLAIN.fullmatch(name):
            licences.append(f"{name}:{count}")
        elif name.lower() in ("gpu", "gpus") and not kind:
            made.option(to.form.gpus, str(count))
        else:
            asked.refuse(item, "it is neither a GPU nor a License")
    if licences:
        made.option(to.form.licences, ",".join(licences))


def _limits(asked: Asked, made: Made, to: Place) -> None:
    """Limits of memory and time are among the amounts; CPU time has options of its own."""
    seen: set[str] = set()
    found = asked.take("ResourceLimit", "name", "type", "units")
    for item in sorted(found, key=lambda item: _KINDS.get(item.attributes.get("type", ""), 9)):
        name = spec.limit_name(item.attributes.get("name", ""))
        kind = item.attributes.get("type", "")
        if name == "CPUTime":
            _cpu_time(asked, made, to, item, kind)
        elif name not in _MEASURED or (name == "Disk" and not to.form.scratch):
            asked.refuse(item, NO_OPTION)
        elif _MEASURED[name] in seen:
            asked.refuse(item, "another limit is asked for")
        else:
            seen.add(_MEASURED[name])


def _cpu_time(asked: Asked, made: Made, to: Place, item: Property, kind: str) -> None:
    try:
        seconds = units.duration(item.text)
    except InvalidValue as error:
        asked.refuse(item, str(error))
        return
    if not to.form.cpu_time:  # of each process, where there is no limit for the job
        made.lines.append(f"ulimit {({'Hard': '-H ', 'Soft': '-S '}).get(kind, '')}-t {seconds}")
    else:
        name = to.form.cpu_time.get(kind, to.form.cpu_time[""])
        made.limits.append(f"{name}={to.form.clock(seconds)}")


RULES: tuple[Rule, ...] = (
    _texts, _streams, _shell, _directory, _environment, _times, _dependencies, _holds,
    _notification, _switches, _priority, _credentials, _features, _node, _distribution, _resources,
    _limits,
)  # fmt: skip
