"""PSI/J: a JobSpec as the Python library writes and loads it, with resources of version 1."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from sssjob.model import Job
from sssjob.resource_names import GPU
from sssjob.task_counts import CountRange
from sssjob.translate.counts import say_counts
from sssjob.translate.numbers import (
    JOB,
    TaskCounts,
    added,
    memory,
    rescope,
    say_size,
    say_wall,
    wall,
)
from sssjob.translate.objects import (
    Data,
    a_truth,
    a_word,
    an_object,
    keep_rest,
    put,
    shown,
    take,
    taken,
    told,
    without_empty,
    word,
    words_of,
    write_rest,
)
from sssjob.translate.options import ScriptReading
from sssjob.translate.requests import JobRequest
from sssjob.translate.script_files import beside
from sssjob.translate.specification import (
    PropertyPath,
    Specification,
    begins,
    command,
    consistent,
    gpus,
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

TYPE = "PSI/J"  # of Extensions
_CUSTOM = ("attributes", "custom_attributes")
_KEPT = "sssjob."  # custom attributes that hold what has no place: no executor has that name
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"\s*([0-9]{1,12})(?:\.0*)?\s*([hms])\s*")
_CLOCK = re.compile(r"([0-9]{1,9}):([0-9]{1,9})(?::([0-9]{1,9}))?")

# fmt: off
ROWS = (
    PropertyPath("Name",                    ("name",)),
    PropertyPath("InitialWorkingDirectory", ("directory",)),
    PropertyPath("Queue",                   ("attributes", "queue_name")),
    PropertyPath("Project",                 ("attributes", "account")),
    PropertyPath("Reservation",             ("attributes", "reservation_id")),
)
FILES = (
    PropertyPath("InputFile",               ("stdin_path",)),
    PropertyPath("OutputFile",              ("stdout_path",)),
    PropertyPath("ErrorFile",               ("stderr_path",)),
)
_COUNTS = ("node_count", "process_count", "processes_per_node", "cpu_cores_per_process",
           "gpu_cores_per_process", "memory")
# What else the library has a place for: it refuses any other key.
OTHERS = ("pre_launch", "post_launch", "launcher", "resources/exclusive_node_use")
# fmt: on


class PSIJ(Specification):
    """A JobSpec; processes are nodes times processes on each, or the library refuses it."""

    name = "psij"

    def compose(self, asked: JobRequest, settings: Settings) -> Data:
        """The JobSpec of a job."""
        form: Data = {}
        path = beside(asked, settings)
        if words := command(asked, path):
            form["executable"] = words[0]
            if words[1:]:
                form["arguments"] = words[1:]
        if path:
            asked.convert("Executable", f"the file {path[2:]}, which stands beside")
        write_rows(asked, ROWS, form)
        write_files(asked, FILES, form)
        values, export = variables(asked)
        if values:
            form["environment"] = values
        if export is False:
            form["inherit_environment"] = False
        of = added(asked)
        self._resources(asked, settings, form, of)
        if seconds := wall(asked):
            # "3600.0 s", as the library itself prints it, is 0 seconds for its loader.
            put(form, ("attributes", "duration"), f"{seconds} s")
        write_rest(asked, TYPE, form, lambda name: not _is_other(name))
        return form

    def _resources(self, asked: JobRequest, settings: Settings, form: Data, of: TaskCounts) -> None:
        nodes, tasks, per_node = consistent(asked, of)
        if nodes and per_node:  # of a range of nodes the least
            tasks = tasks or nodes * per_node
        said = bool(of.tasks or of.processors or of.per_task)
        counts: Data = {
            "node_count": nodes,
            "process_count": tasks if said or (nodes and per_node) else None,
            "processes_per_node": per_node,
            "cpu_cores_per_process": of.each if of.per_task or of.processors else None,
            "gpu_cores_per_process": gpus(asked, tasks or nodes or 1).number or None,
            "memory": memory(asked, of, settings.memory_scope, each=JOB),
        }
        counts = {name: value for name, value in counts.items() if value is not None}
        if counts:
            form["resources"] = {"__version": 1, **counts}

    def job(self, form: Data, settings: Settings) -> Read:
        """The job of a JobSpec."""
        form, heard = json.loads(json.dumps(form)), ScriptReading()
        self._forget(form)
        program = taken(form, ("executable",), a_word, heard, "a text")
        say_command(heard, [program or "", *words_of(form, ("arguments",), heard)])
        if (project := take(form, ("attributes", "project_name"))) is not None:
            path = "/attributes/project_name"
            heard.note(f"project_name {shown(project)} is deprecated: account is read", path)
        read_rows(form, ROWS, heard)
        read_files(form, FILES, heard)
        self._environment(form, heard)
        self._counts(form, heard)
        self._duration(form, heard)
        rescope(heard, settings.memory_scope)
        keep_rest(without_empty(form), heard, TYPE)
        return Read(Job(heard.all()), tuple(heard.findings))

    def _environment(self, form: Data, heard: ScriptReading) -> None:
        values = taken(form, ("environment",), an_object, heard, "an object") or {}
        inherits = taken(form, ("inherit_environment",), a_truth, heard, "true or false")
        found = texts_of(values, ("environment",), heard)
        say_variables(heard, found, False if inherits is False else None)

    def _counts(self, form: Data, heard: ScriptReading) -> None:
        version = take(form, ("resources", "__version"))
        if version is not None and (type(version), version) != (int, 1):
            told(heard, ("resources", "__version"), version, "1")
        found: dict[str, int] = {}
        for name in _COUNTS:
            value = take(form, ("resources", name))
            if type(value) is int and value > 0:
                found[name] = value
            elif value is not None:
                told(heard, ("resources", name), value, "a number above 0")
        nodes, tasks, per_node = (found.get(name) for name in _COUNTS[:3])
        if nodes and tasks and per_node and tasks != nodes * per_node:
            heard.note(
                f"process_count {tasks} is not node_count {nodes} times processes_per_node "
                f"{per_node}: PSI/J refuses it",
                "/resources/process_count",
            )
        tasks = tasks or (nodes * per_node if nodes and per_node else None)
        each = found.get("cpu_cores_per_process")
        counted = CountRange.exactly(nodes) if nodes else None
        of = TaskCounts(counted, None, tasks, per_node, each)
        say_counts(heard, of, processors=each is not None)
        if each_gpus := found.get("gpu_cores_per_process"):
            heard.request("Resource", each_gpus * (tasks or nodes or 1), name=GPU)
        if size := found.get("memory"):
            say_size(heard, "Memory", size)

    def _duration(self, form: Data, heard: ScriptReading) -> None:
        value = take(form, ("attributes", "duration"))
        seconds = duration(value) if isinstance(value, str) else None
        if seconds:
            say_wall(heard, seconds)
        elif value is not None and seconds is None:
            told(heard, ("attributes", "duration"), value, "a duration such as 3600 s")

    def keep(self, form: Data, lines: Iterable[str]) -> Data:
        """The residual as custom attributes."""
        held = {f"{_KEPT}{number:03}": line for number, line in enumerate(lines, 1)}
        if not held:
            return form
        custom = {**form.get("attributes", {}).get("custom_attributes", {}), **held}
        return {**form, "attributes": {**form.get("attributes", {}), "custom_attributes": custom}}

    def held(self, form: Data) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        """The residual."""
        custom = _inside(form, *_CUSTOM)
        for name in sorted(custom):
            if name.startswith(_KEPT):
                yield word(custom[name]), (*_CUSTOM, name)

    def _forget(self, form: Data) -> None:
        custom = _inside(form, *_CUSTOM)
        for name in [name for name in custom if name.startswith(_KEPT)]:
            del custom[name]

    def recognises(self, head: bytes) -> str:
        """An object with an executable and what only a JobSpec has."""
        if not begins(head, b"executable"):
            return ""
        keys = (b"attributes", b"resources", b"arguments", b"inherit_environment", b"stdout_path")
        found = next((key for key in keys if b'"' + key + b'"' in head), None)
        return f'an object with "executable" and "{found.decode()}"' if found else ""


def duration(text: str) -> int | None:
    """Seconds; a number alone counts minutes. None for what is no duration.

    >>> duration("3600 s"), duration("01:30"), duration("90"), duration("1.5 s")
    (3600, 5400, 5400, None)
    """
    if found := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return 3600 * hours + 60 * minutes + seconds
    if text.isascii() and text.isdigit() and len(text) < 10:
        return 60 * int(text)
    if found := _DURATION.fullmatch(text):
        return int(found[1]) * _SECONDS[found[2]]
    return None


def _is_other(name: str) -> bool:
    return name in OTHERS or name.startswith("/".join(_CUSTOM) + "/")


def _inside(form: Any, *names: str) -> dict[str, Any]:
    for name in names:
        form = form.get(name) if isinstance(form, dict) else None
    return form if isinstance(form, dict) else {}


TRANSLATOR = PSIJ()
