"""Slurm's REST interface: what POST job/submit of slurmrestd takes, v0.0.41 to v0.0.45.

Only fields are written that all of these versions have. What is submitted is a script: the program
of a job stands in its last line, and what has no place in comments before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from sssjob import units
from sssjob.array_indices import parse
from sssjob.errors import InvalidValue
from sssjob.executable import DEFAULT_SHELL
from sssjob.integers import LARGEST
from sssjob.mail_addresses import is_address, to_uri
from sssjob.model import Job, stripped
from sssjob.records.dependencies import WORDS, waits
from sssjob.resource_names import LICENSE
from sssjob.systems.slurm import words
from sssjob.systems.slurm.submission import (
    COUNT_MOST,
    EACH_MOST,
    FEWER,
    FILES,
    FORM,
    NICE_MOST,
    NO_TIME,
    PARTITION,
    PRIORITY,
    QUEUES,
    constraints,
    counts,
    each_task,
    excluded,
    expanded,
    memory,
    multiplied,
    resources,
    say_constraint,
    say_preferred,
    say_task_counts,
    scratch,
    tell_open_nodes,
    too_many,
    wall,
)
from sssjob.systems.slurm.unset import UNSET
from sssjob.systems.slurm.words import SETTABLE, gpus_of, settable
from sssjob.task_counts import CountRange
from sssjob.translate import exclusive, mail, waiting
from sssjob.translate.arrays import write_array
from sssjob.translate.environment import is_variable
from sssjob.translate.fields import NOT_ALL, alone
from sssjob.translate.form import NO_PLACE
from sssjob.translate.nodes import names, say_any_of, say_but, say_nodes
from sssjob.translate.numbers import (
    MIB,
    NODE,
    TaskCounts,
    rescope,
    say_gpus,
    say_licences,
    say_size,
    say_wall,
    spread,
)
from sssjob.translate.objects import (
    Data,
    T,
    a_truth,
    a_word,
    keep,
    keep_rest,
    put,
    take,
    taken,
    told,
    without_empty,
    word,
    words_of,
    write_rest,
)
from sssjob.translate.options import Option, ScriptReading
from sssjob.translate.quoting import read_run, run, safe
from sssjob.translate.quoting import word as one_word
from sssjob.translate.requests import NO_OPTION, JobRequest
from sssjob.translate.specification import (
    PropertyPath,
    Specification,
    begins,
    command,
    file_of,
    read_files,
    read_rows,
    say_command,
    say_variables,
    texts_of,
    variables,
    write_files,
    write_rows,
)
from sssjob.translate.translator import Read, Settings
from sssjob.translate.waiting import waited_for

TYPE = "slurmrestd"  # of Extensions
_JOB = ("job",)
_LISTS = ("job/dependency",)  # texts that are lists, with commas between what all counts
_RANGE = re.compile(r"([0-9]{1,10})(-([0-9]{1,10})?)?")
PATTERNS = replace(FILES, kind=TYPE, array=Option("job/array"))
_REMARK = "# sssjob: "
_FILE = "# sssjob-file: "  # before the id of the file of the job that a script is
_GPU, _CYCLIC = "gpu", "cyclic"
_ALONE = "none"  # with whom nodes are shared
_EXCLUSIVE = ("exclusive", "true", True)  # what versions before v0.0.39 had for it
# slurmrestd refuses a job without an environment; its own examples give this one.
_PATH = "PATH=/bin/:/usr/bin/:/sbin/"
# Amounts that a job object says in no way, or not of so many nodes, tasks or processors.
_OF_AMOUNTS = (
    "tres_per_job", "tres_per_node", "tres_per_socket", "tres_per_task", "cpus_per_tres",
    "memory_per_tres", "ntasks_per_tres", "maximum_cpus", "tasks_per_core", "tasks_per_socket",
    "tasks_per_board",
)  # fmt: skip
_MAIL = {"JobStart": ("BEGIN",), "JobEnd": ("END",), "None": (),
         "All": ("BEGIN", "END", "FAIL", "REQUEUE")}  # fmt: skip
_APPEND, _MERGE = "Append", "Merge"

# fmt: off
ROWS = (
    PropertyPath("Name",                    (*_JOB, "name")),
    PropertyPath("Project",                 (*_JOB, "account"), one_word),
    PropertyPath("QualityOfService",        (*_JOB, "qos"), one_word),
    PropertyPath("Machine",                 (*_JOB, "clusters"), alone),
    PropertyPath("Reservation",             (*_JOB, "reservation"), alone),
    PropertyPath("InitialWorkingDirectory", (*_JOB, "current_working_directory")),
)
INPUT = (PropertyPath("InputFile",          (*_JOB, "standard_input")),)
# fmt: on


class REST(Specification):
    """A request of slurmrestd to submit a job."""

    name = "slurmrest"
    array = replace(FORM.array, kind=FORM.name)  # one that is read is kept as sbatch has it

    def compose(self, asked: JobRequest, settings: Settings) -> Data:
        """The request for a job. Raises ``InvalidValue`` for one without a program."""
        form: Data = {"job": {}}
        job = form["job"]
        job["script"] = _script(asked, settings)
        write_rows(asked, ROWS, form)
        write_files(asked, INPUT, form, PATTERNS)
        _queues(asked, job)
        if exclusive.wanted(asked, {exclusive.NODES: _ALONE, exclusive.HOSTS: _ALONE}):
            job["shared"] = [_ALONE]
        _streams(asked, job)
        values, export = variables(asked, is_variable)
        own = [f"{name}={value}" for name, value in values.items()]
        job["environment"] = own if "PATH" in values else [*own, _PATH]
        if export:
            for item in asked.items("Environment"):
                asked.refuse(item, "a request has all variables itself", "export")
        of = counts(asked)
        wanted = names(asked, of.wanted)
        _amounts(asked, settings, job, of, wanted)
        _times(asked, job)
        _waits(asked, job)
        _names(asked, job, wanted)
        _switches(asked, job)
        _mail(asked, job)
        write_array(asked, self.array, lambda array: put(form, (*_JOB, "array"), str(array)))
        write_rest(asked, TYPE, form, lambda name: not name.startswith("job/"), _LISTS)
        return form

    def job(self, form: Data, settings: Settings) -> Read:
        """The job of a request."""
        form, heard = json.loads(json.dumps(form)), ScriptReading()
        job = form["job"] = _only(form, heard)
        if "script" in form and "script" not in job:  # as versions before v0.0.41 have it
            job["script"] = form.pop("script")
        files = _read_script(job, heard)
        read_rows(form, ROWS, heard)
        read_files(form, INPUT, heard, PATTERNS, array="array" in job)
        _read_queues(job, heard)
        if job.get("shared") in (_ALONE, [_ALONE]):
            del job["shared"]
            exclusive.say(heard, exclusive.NODES)
        elif job.get("exclusive") in _EXCLUSIVE and "shared" not in job:
            del job["exclusive"]
            exclusive.say(heard, exclusive.NODES)
        _read_streams(job, heard)
        _read_environment(job, heard)
        nodes = _read_amounts(job, heard, settings.memory_scope)
        _read_times(job, heard)
        _read_waits(job, heard)
        _read_names(job, heard, nodes)
        _read_switches(job, heard)
        _read_mail(job, heard)
        _read_array(job, heard)
        rescope(heard, settings.memory_scope)
        keep_rest(without_empty(form), heard, TYPE)
        return Read(Job(heard.all()), tuple(heard.findings), files)

    def keep(self, form: Data, lines: Iterable[str]) -> Data:
        """The residual as comments of the script, behind its first line."""
        first, _, rest = form["job"]["script"].partition("\n")
        held = "".join(f"{_REMARK}{line}\n" for line in lines)
        return {**form, "job": {**form["job"], "script": f"{first}\n{held}{rest}"}}

    def held(self, form: Data) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        """The residual, all of which is in the one value of the script."""
        job = form.get("job")
        script = job.get("script") if isinstance(job, dict) else None
        lines, _ = _parted(script) if isinstance(script, str) else ([], "")
        for line in lines:
            yield line, ("job", "script")

    def recognises(self, head: bytes) -> str:
        """An object with a job that has a script."""
        named = begins(head, b"job") or begins(head, b"jobs")
        known = (b"current_working_directory", b"environment", b"partition", b"account", b"name")
        found = next((key for key in known if b'"' + key + b'"' in head), None)
        if not named or not begins(head, b"script") or found is None:
            return ""
        return f'an object with a "job" that has a "script" and "{found.decode()}"'


def _only(form: Data, heard: ScriptReading) -> Data:
    """Take the job of a request; of a heterogeneous one its first part."""
    job = take(form, ("job",))
    several = take(form, ("jobs",))
    if job is None and isinstance(several, list) and several:
        job, *others = several
        if others:
            text = f"a heterogeneous job of {len(several)}: only the first is read"
            heard.note(text, "/jobs")
    elif several:
        told(heard, ("jobs",), several, "a list, and no job beside it")
    if not isinstance(job, dict):
        told(heard, ("job",), job, "an object")
        return {}
    return job


def _taken(
    job: Data, key: str, read: Callable[[Any], T | None], heard: ScriptReading, expected: str
) -> T | None:
    """Take what is expected at a key of a job; what is something else stays, and is told."""
    return taken({_JOB[0]: job}, (*_JOB, key), read, heard, expected)


def _keep(job: Data, key: str, value: Any, heard: ScriptReading, why: str) -> None:
    """Put back what was taken and is not understood after all, and say why."""
    keep({_JOB[0]: job}, (*_JOB, key), value, heard, why)


def _script(asked: JobRequest, settings: Settings) -> str:
    """A script that becomes the program, or the file of the job that its Executable names."""
    shell = _shell(asked)
    text = asked.said("Executable")
    id_ = text.removeprefix("#")
    if id_ != text and (content := settings.files.get(id_)) is not None:
        asked.one("Executable")
        if arguments := asked.one("Arguments"):
            asked.refuse(arguments, "a script has no arguments of its own")
        body = content.decode("utf-8", "replace")
        first, _, rest = body.partition("\n") if body.startswith("#!") else (f"#!{shell}", "", body)
        return f"{first}\n{_FILE}{safe(id_)}\n{rest}"
    program = command(asked)
    if not program:
        raise InvalidValue(asked.job.id, "a job whose Executable is a path")
    return f"#!{shell}\n{run(program)}\n"


def _shell(asked: JobRequest) -> str:
    item = asked.one("Shell")
    if item is None:
        return DEFAULT_SHELL
    text = stripped(item.text)
    if not text.startswith("/") or not text.isprintable() or " " in text:
        asked.refuse(item, "it is no path of an interpreter")
        return DEFAULT_SHELL
    return text


def _streams(asked: JobRequest, job: Data) -> None:
    """Errors go where the output goes if nothing else is said; Append is one mode for both."""
    output = asked.one("OutputFile", "redirectList")
    error = asked.one("ErrorFile", "redirectList")
    modes = {item.said("redirectList") for item in (output, error) if item}
    merged = (
        output is not None
        and error is not None
        and error.said("redirectList") == _MERGE
        and stripped(error.text) in ("", stripped(output.text))
    )
    if text := file_of(asked, "OutputFile", PATTERNS):
        job["standard_output"] = text
    if not merged and (text := file_of(asked, "ErrorFile", PATTERNS)):
        job["standard_error"] = text
    if merged:
        modes.discard(_MERGE)
    if modes == {_APPEND} and job.keys() & {"standard_output", "standard_error"}:
        job["open_mode"] = ["APPEND"]
    elif modes - {""}:
        for item in (output, error):
            if item is not None and "redirectList" in item.attributes and not merged:
                asked.refuse(item, NO_OPTION, "redirectList")


def _read_streams(job: Data, heard: ScriptReading) -> None:
    attributes = {"redirectList": _APPEND} if job.get("open_mode") == ["APPEND"] else {}
    said = False
    for name, key in (("OutputFile", "standard_output"), ("ErrorFile", "standard_error")):
        if text := _taken(job, key, a_word, heard, "a text"):
            try:
                heard.say(name, PATTERNS.read(text, among="array" in job), **attributes)
                said = True
            except InvalidValue as error:
                _keep(job, key, text, heard, str(error))
    if said and attributes:
        del job["open_mode"]


def _read_environment(job: Data, heard: ScriptReading) -> None:
    path = (*_JOB, "environment")
    if isinstance(job.get("environment"), dict):  # as versions before v0.0.39 have it
        found = texts_of(take(job, ("environment",)), path, heard)
    else:
        found = {}
        for text in words_of({_JOB[0]: job}, path, heard):
            name, equals, value = text.partition("=")
            if not name or not equals:
                told(heard, path, text, "NAME=VALUE")
            elif text != _PATH:
                found[name] = value
    if found:
        say_variables(heard, found, export=False)


def _amounts(
    asked: JobRequest, settings: Settings, job: Data, of: TaskCounts, wanted: list[str]
) -> None:
    if of.nodes and not of.are_named(wanted):
        lo, hi = of.nodes.lo or 1, of.nodes.hi
        job["nodes"] = str(lo) if lo == hi else f"{lo}-{hi or ''}".removesuffix("-")
        if hi is None:
            asked.approximate("NodeCount", f"{lo} nodes, and no more")
        job["minimum_nodes"] = lo
        job |= {"maximum_nodes": hi or lo}
    if of.processors and of.processors.exact is None:
        asked.approximate("Processors", f"{of.processors.end} of a range: {of.total}")
    if of.count and (of.tasks or of.processors or of.per_task):
        job["tasks"] = of.count
    if of.per_task or (of.processors and of.each > 1):
        job["cpus_per_task"] = of.each
    if of.per_node:
        job["tasks_per_node"] = of.per_node
    if spread(asked, of):
        job["distribution"] = _CYCLIC
    if found := memory(asked, of, settings.memory_scope):
        key, whose = ("cpu", "processor") if found.is_of_processor else ("node", "node")
        each = units.rounded_up(found.amount, MIB)
        if each * MIB != found.amount:
            asked.approximate("Memory", f"{each} MiB for each {whose}, rounded up")
        job[f"memory_per_{key}"] = _number(each)
    if size := scratch(asked, of):
        each = units.rounded_up(size, MIB)
        if each * MIB != size:
            asked.approximate("Disk", f"{each} MiB for each node, rounded up")
        job["temporary_disk_per_node"] = each
    if seconds := wall(asked):
        minutes = units.rounded_up(seconds, 60)
        if minutes * 60 != seconds:
            asked.approximate("Duration", f"{minutes} minutes")
        job["time_limit"] = _number(minutes)
    gpus: list[str] = []
    licences: list[str] = []
    for _, name, kind, number in resources(asked):
        if kind == LICENSE:
            licences.append(f"{name}:{number}")
        else:
            gpus.append(f"gres/{_GPU}{kind and ':'}{kind}={number}")
    if gpus:
        job["tres_per_job"] = ",".join(gpus)
    if licences:
        job["licenses"] = ",".join(licences)


def _number(value: int) -> Data:
    return {"set": True, "infinite": False, "number": value}


def _is_settable(value: Any) -> bool:
    """Whether a value is such a number and nothing besides, so that all of it is understood."""
    return (
        isinstance(value, dict)
        and value.keys() <= SETTABLE
        and type(value.get("set")) is type(value.get("infinite", False)) is bool
    )


def _read_number(value: Any) -> int | None:
    """A number, plain or as one that has to be set; None for what is none, or has no end."""
    if _is_settable(value):
        value = settable(value)
    return value if type(value) is int and value >= 0 and value not in UNSET else None


def _is_unset(value: Any) -> bool:
    """Whether a number is not said, in one of the ways to say so."""
    if _is_settable(value):
        return value["set"] is False and settable(value) is None
    return value in (None, "") or (type(value) is int and value in UNSET)


# decision 904
_MOST = {
    **dict.fromkeys(("tasks", "minimum_cpus", "time_limit", "temporary_disk_per_node",
                     "minimum_nodes", "maximum_nodes"), COUNT_MOST),
    **dict.fromkeys(("cpus_per_task", "tasks_per_node"), EACH_MOST),
    **dict.fromkeys(("memory_per_node", "memory_per_cpu"), LARGEST // MIB),
}  # fmt: skip


def _taken_number(job: Data, key: str, heard: ScriptReading) -> int | None:
    """Take a number; one that is not set says nothing, and what is none stays, and is told."""
    if _is_unset(job.get(key)):
        take(job, (key,))
    most = _MOST.get(key, LARGEST)

    def read(value: Any) -> int | None:
        number = _read_number(value)
        return number if number is None or number <= most else None

    return _taken(job, key, read, heard, f"a whole number up to {most}")


def _read_nodes_count(job: Data, heard: ScriptReading) -> CountRange | None:
    """How many nodes, in one text or by two numbers, which may not differ."""
    least, most = (_taken_number(job, f"{end}imum_nodes", heard) for end in ("min", "max"))
    found = _taken(job, "nodes", lambda value: _RANGE.fullmatch(word(value)), heard,
                   "a number or a range")  # fmt: skip
    lo, hi = least, most
    if found:
        lo = int(found[1])
        hi = int(found[3]) if found[3] else None if found[2] else lo
        for key, value, other in (("minimum_nodes", least, lo), ("maximum_nodes", most, hi)):
            if value and value != (other or lo):
                told(heard, (*_JOB, key), value, f"{found[0]}, as nodes has it,")
    if not (lo or hi):
        return None
    return CountRange(lo or None, hi or None)


def _read_amounts(job: Data, heard: ScriptReading, scope: str) -> CountRange | None:
    """What is asked for of each amount; gives how many nodes."""
    counted = _read_nodes_count(job, heard)
    told_ = {name: _taken_number(job, name, heard) for name in (
        "tasks", "cpus_per_task", "tasks_per_node", "memory_per_node", "temporary_disk_per_node",
        "time_limit", "minimum_cpus",
    )}  # fmt: skip
    of = TaskCounts(
        counted, None, told_["tasks"] or None, told_["tasks_per_node"] or None,
        told_["cpus_per_task"] or None, job.get("distribution") == _CYCLIC,
    )  # fmt: skip
    _read_each_task(job, of)
    say_task_counts(heard, of, _listed(job.get("required_nodes")))
    if of.round_robin:
        del job["distribution"]
    _read_minimum(job, told_["minimum_cpus"], heard)
    _read_memory(job, told_["memory_per_node"] or 0, of, heard, scope)
    if disk := told_["temporary_disk_per_node"]:
        tell_open_nodes(heard, of, "temporary_disk_per_node")
        say_size(heard, "Disk", disk * of.granted_nodes * MIB)
    if minutes := told_["time_limit"]:
        say_wall(heard, minutes * 60)
    nodes, tasks = multiplied(of)
    for key, number in (("tres_per_job", 1), ("tres_per_node", nodes), ("tres_per_task", tasks)):
        _read_gpus(job, key, number, heard)
    _tell_kept(job, heard)
    asked = _taken(job, "licenses", a_word, heard, "a text")
    if asked and not say_licences(heard, words.licences(asked)):
        _keep(job, "licenses", asked, heard, "no names of licences with numbers above 0")
    return of.nodes


def _read_memory(job: Data, of_node: int, of: TaskCounts, heard: ScriptReading, scope: str) -> None:
    """Memory of each node, or else of each processor."""
    of_processor = _taken_number(job, "memory_per_cpu", heard) or 0
    if of_node and of_processor:
        _keep(job, "memory_per_cpu", of_processor, heard, "memory_per_node is read")
    name, size = "memory_per_node", of_node * of.granted_nodes
    if not size:
        name, size = "memory_per_cpu", of_processor * of.task_count * (of.per_task or 1)
    if size:
        say_size(heard, "Memory", size * MIB)
        if (name == "memory_per_node") is (scope != NODE):
            tell_open_nodes(heard, of, name)


# decision 967
def _read_each_task(job: Data, of: TaskCounts) -> None:
    """The processors of each task, which one of two members says; the rest of it is left."""
    text = word(job.get("tres_per_task"))
    rest = each_task(of, text)
    if rest != text:
        job["tres_per_task"] = rest
        if not rest:
            del job["tres_per_task"]


def _tell_kept(job: Data, heard: ScriptReading) -> None:
    """Tell of amounts that no request says, as of the options of a script."""
    for key in _OF_AMOUNTS:
        if job.get(key) not in (None, "", 0, [], {}) and not _is_unset(job[key]):
            _keep(job, key, job[key], heard, NO_PLACE)


def _read_minimum(job: Data, number: int | None, heard: ScriptReading) -> None:
    """The least number of processors, where tasks do not say it."""
    said = [int(each.text) for each in heard.requested if each.name == "Processors"]
    if number and not said:
        heard.request("Processors", number, op="GE")
    elif number and number > min(said):
        _keep(job, "minimum_cpus", number, heard, f"the tasks have {min(said)}")


def _read_gpus(job: Data, key: str, number: int, heard: ScriptReading) -> None:
    """GPUs of each of so many; other resources, and those of an unknown number, stay."""
    found, rest = gpus_of(word(job.get(key)))
    if not (found and number):
        return
    if number > 1:
        each_ = key.removeprefix("tres_per_")
        heard.note(f"{key} {job[key]} is for each of {number} {each_}s: the job object has the sum")
    del job[key]
    if rest:
        job[key] = rest
    for each in found:
        say_gpus(heard, each.number * number, each.kind)


def _times(asked: JobRequest, job: Data) -> None:
    for name, key, write in (
        ("EligibleTime", "begin_time", _number), ("DeadlineTime", "deadline", int),
    ):  # fmt: skip
        item = asked.one(name)
        if item and (found := waiting.moment(asked, item, NO_TIME)):
            job[key] = write(found[1])


def _read_times(job: Data, heard: ScriptReading) -> None:
    for name, key in (("EligibleTime", "begin_time"), ("DeadlineTime", "deadline")):
        if seconds := _taken_number(job, key, heard):
            heard.say(name, seconds)


def _waits(asked: JobRequest, job: Data) -> None:
    if found := [f"{word}:{id}" for word, id in waited_for(asked, words.waited_for, WORDS)]:
        job["dependency"] = ",".join(found)


def _read_waits(job: Data, heard: ScriptReading) -> None:
    if text := _taken(job, "dependency", a_word, heard, "a text"):
        found = waits(text, words.waited_for)
        for id, condition in found.jobs:
            heard.say("Dependency", id, condition=condition)
        if found.rest:
            _keep(job, "dependency", found.rest, heard, NOT_ALL)


def _queues(asked: JobRequest, job: Data) -> None:
    """One, or several of which any will do."""
    for text in (QUEUES.value(asked), PARTITION.value(asked)):
        if text:
            job["partition"] = text


def _read_queues(job: Data, heard: ScriptReading) -> None:
    value = take(job, ("partition",))
    found = [each.strip() for each in word(value).split(",") if each.strip()]
    if len(found) > 1:
        say_any_of(heard, "Queue", found)
    elif found:
        heard.say("Queue", found[0])
    elif value not in (None, ""):
        told(heard, ("job", "partition"), value, "a text")


def _names(asked: JobRequest, job: Data, wanted: list[str]) -> None:
    for key, text in zip(("constraints", "prefer"), constraints(asked), strict=True):
        if text:
            job[key] = text
    if unwanted := excluded(asked):
        job["excluded_nodes"] = unwanted
    if wanted:
        job["required_nodes"] = wanted


def _read_names(job: Data, heard: ScriptReading, nodes: CountRange | None) -> None:
    # Behind a comma stands what is demanded as well; between brackets it is another thing.
    required = word(job.get("constraints")).replace(",", "&")
    if required and say_constraint(heard, required):
        del job["constraints"]
    preferred = word(job.get("prefer")).replace(",", "&")
    if preferred and say_preferred(heard, preferred, required):
        del job["prefer"]
    given = job.get("required_nodes")
    if found := _read_nodes(job, "required_nodes", heard):
        if too_many(found, nodes):
            _keep(job, "required_nodes", given, heard, FEWER)
        else:
            say_nodes(heard, found, nodes.hi if nodes else 0)
    if found := _read_nodes(job, "excluded_nodes", heard):
        say_but(heard, found)


def _read_nodes(job: Data, key: str, heard: ScriptReading) -> list[str]:
    """Names of nodes, in a list or in one text; what is none is told."""
    given = take(job, (key,))
    for each in _texts(given):
        if expanded(each) is None:
            told(heard, ("job", key), each, "names of nodes")
    return _listed(given)


def _listed(given: Any) -> list[str]:
    return [name for each in _texts(given) for name in expanded(each) or ()]


def _texts(given: Any) -> list[str]:
    texts = given if isinstance(given, list) else [given]
    return [word(each) for each in texts if each not in (None, "")]


def _switches(asked: JobRequest, job: Data) -> None:
    for item in asked.take("Hold"):
        if stripped(item.text) == "User":
            job["hold"] = True
        else:
            asked.refuse(item, "only a hold of the user can be asked for")
    if restartable := asked.one("Restartable"):
        try:
            job["requeue"] = units.boolean(restartable.text)
        except InvalidValue as error:
            asked.refuse(restartable, str(error))
    if (priority := PRIORITY.value(asked)) is not None and priority < 0:
        job["nice"] = -priority
    elif priority is not None:
        job["priority"] = _number(priority)


def _read_switches(job: Data, heard: ScriptReading) -> None:
    if _taken(job, "hold", a_truth, heard, "true or false"):
        heard.say("Hold", "User")
    requeue = _taken(job, "requeue", a_truth, heard, "true or false")
    if requeue is not None:
        heard.say("Restartable", "true" if requeue else "false")
    if (number := _taken_number(job, "priority", heard)) is not None:
        heard.say("Priority", number)
    elif type(nice := job.get("nice")) is int and 0 < nice <= NICE_MOST:
        del job["nice"]
        heard.say("Priority", -nice)
    elif nice and not _is_unset(nice):
        _keep(job, "nice", nice, heard, f"no whole number from 1 to {NICE_MOST}")


def _mail(asked: JobRequest, job: Data) -> None:
    item, events = mail.asked_for(asked, tuple(_MAIL))
    if item is None:
        return
    flags = {flag for event in events for flag in _MAIL[event]}
    job["mail_type"] = [flag for flag in _MAIL["All"] if flag in flags]
    if to := mail.written(asked, item):
        job["mail_user"] = to


def _an_address(value: Any) -> str | None:
    return value if isinstance(value, str) and is_address(value) else None


def _read_mail(job: Data, heard: ScriptReading) -> None:
    given = job.get("mail_type")
    if given is None:
        return
    flags = words_of({_JOB[0]: job}, (*_JOB, "mail_type"), heard)
    everything = set(_MAIL["All"]) <= set(flags)
    known = ["All"] if everything else [
        event for event in ("JobStart", "JobEnd") if set(_MAIL[event]) <= set(flags)
    ]  # fmt: skip
    said = {flag for event in known for flag in _MAIL[event]}
    if rest := [flag for flag in flags if flag not in said]:
        job["mail_type"] = rest
    if text := ",".join(known) if flags else "" if given else "None":
        to = _taken(job, "mail_user", _an_address, heard, "addresses of mail")
        heard.say("NotificationList", text, **({"uri": to_uri(to)} if to else {}))


def _read_array(job: Data, heard: ScriptReading) -> None:
    """An array, as the option that sbatch has for it; a text that is none is kept as it is."""
    if parse(word(job.get("array"))) is not None:
        text = word(take(job, ("array",)))
        heard.say("Extension", text, type=REST.array.kind, name=REST.array.option)


def _read_script(job: Data, heard: ScriptReading) -> dict[str, bytes]:
    """The program of a script of ours; another script is a file of the job."""
    script = _taken(job, "script", a_word, heard, "a text") or ""
    first, _, _ = script.partition("\n")
    _, body = _parted(script)
    program = read_run(body.removesuffix("\n")) if first.startswith("#!/") else None
    if program:
        if first[2:] != DEFAULT_SHELL:
            heard.say("Shell", first[2:])
        say_command(heard, program)
        return {}
    if not script:
        heard.note("the job has no script", "/job")
        return {}
    mark, _, rest = body.partition("\n")
    id_ = mark[len(_FILE) :] if mark.startswith(_FILE) else ""
    heard.say("Executable", f"#{id_ or 'script'}")
    return {id_ or "script": f"{first}\n{rest if id_ else body}".encode(errors="replace")}


def _parted(script: str) -> tuple[list[str], str]:
    """The residual, which stands right behind the first line, and what follows it."""
    lines = script.split("\n")[1:]
    count = 0
    while count < len(lines) and lines[count].startswith(_REMARK):
        count += 1
    return [line[len(_REMARK) :] for line in lines[:count]], "\n".join(lines[count:])


TRANSLATOR = REST()
