"""Flux: jobspecs of version 1 (RFC 25) and the canonical ones (RFC 14).

What the schemas of these texts miss is looked at beside them: a duration, a core in each slot, a
slot for each task, and dependencies of RFC 26.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from itertools import islice, starmap
from math import inf, prod
from typing import Any, NamedTuple

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.expression import (
    And,
    Comparison,
    Expression,
    Interval,
    Not,
    Or,
    comparisons,
    conjuncts,
)
from sssjob.integers import LARGEST
from sssjob.model import Job, Property
from sssjob.nodes import Pattern, expand, plain
from sssjob.records.dependencies import CONDITIONS, WORDS, matching
from sssjob.resource_names import GPU
from sssjob.systems.flux import ids, words
from sssjob.systems.flux.accounting import array
from sssjob.task_counts import CountRange
from sssjob.translate.counts import say_counts
from sssjob.translate.nodes import any_of_these, conditions, listed
from sssjob.translate.numbers import (
    JOB,
    MIB,
    TaskCounts,
    added,
    compared,
    is_gpu,
    is_of_groups,
    memory,
    node_counts,
    nodes_of_tasks,
    rescope,
    say_count,
    say_wall,
    wall,
)
from sssjob.translate.objects import (
    Data,
    a_list,
    an_object,
    keep_rest,
    put,
    shown,
    take,
    taken,
    tell_rest,
    told,
    without_empty,
    word,
    words_of,
    write_rest,
)
from sssjob.translate.options import ScriptReading
from sssjob.translate.patterns import Patterns
from sssjob.translate.requests import NO_OPTION, OTHER_MEANING, JobRequest
from sssjob.translate.script_files import script
from sssjob.translate.specification import (
    PropertyPath,
    Specification,
    begins,
    command,
    file_of,
    gpus,
    read_rows,
    say_command,
    say_variables,
    texts_of,
    variables,
    write_rows,
)
from sssjob.translate.translator import Read, Settings
from sssjob.translate.waiting import waited_for

_NAMED_SLOTS = 10  # labels that a message names
_IN_TMPDIR = "{{tmpdir}}/"
_MODE = 0o100700
TYPE = "Flux"  # of Extensions
CANONICAL = 999  # the version that RFC 14 gives its examples
_SYSTEM = ("attributes", "system")
_FILES = (*_SYSTEM, "files")  # which the shell of a job puts into its own directory
_ENVIRONMENT = (*_SYSTEM, "environment")
_KEPT = ("attributes", "user", "sssjob")
_LABEL = "task"
_SHELL = (*_SYSTEM, "shell", "options")
_STREAMS = {
    "InputFile": (*_SHELL, "input", "stdin"),
    "OutputFile": (*_SHELL, "output", "stdout"),
    "ErrorFile": (*_SHELL, "output", "stderr"),
}
_FILE = "file"
_PROPERTIES, _HOSTS, _AND, _OR, _NOT = "properties", "hostlist", "and", "or", "not"  # of RFC 31
_PROPERTY = re.compile(r"[^!&'\"^`|()\s]+")  # of RFC 20; ^ before one negates it
_SPAN = re.compile(r"([1-9][0-9]{0,9})(?:-([1-9][0-9]{0,9}))?")
_MOST_SPANS = 1000  # of a set that is read
_TOO_MANY = 10**10
_STEPS = {"min", "max", "operator", "operand"}
_RANGE = re.compile(r"([1-9][0-9]{0,9})(?:\+|-([1-9][0-9]{0,9}))?")

# fmt: off
ROWS = (
    PropertyPath("InitialWorkingDirectory", (*_SYSTEM, "cwd")),
    PropertyPath("Name",                    (*_SYSTEM, "job", "name")),
    PropertyPath("Queue",                   (*_SYSTEM, "queue")),
    PropertyPath("Project",                 (*_SYSTEM, "bank")),
)
# fmt: on


# What stands in double braces is filled in by the shell of a job, or is a fault.
PATTERNS = Patterns(
    TYPE,
    {"Id": "{{id}}", "Name": "{{name}}", "Node": "{{node.name}}"},
    r"\{\{[^{}]*\}\}",
    also={"{{jobid}}": "Id", "{{node.hostname}}": "Node"},
)


class Jobspec(Specification):
    """A jobspec of version 1: one program, plain numbers of nodes, slots, cores and GPUs."""

    name = "flux"
    version = 1

    def compose(self, asked: JobRequest, settings: Settings) -> Data:
        """The jobspec of a job. Raises ``InvalidValue`` for one without a program."""
        file = script(asked, settings)
        words_ = command(asked, "" if file is None else f"{_IN_TMPDIR}{file.id}")
        if not words_:
            raise InvalidValue(asked.job.id, "a job whose Executable is a path, or a file of it")
        form: Data = {"version": self.version, "resources": [], "tasks": [], "attributes": {}}
        of = added(asked)
        form["resources"], count, kind = self._resources(asked, settings, of)
        times = {"total": 1} if settings.once and _several(form["resources"]) else count
        for name in ("User", "Group"):  # who submits is who it is of, as of a script
            asked.fact(name)
        form["tasks"] = [{"command": words_, "slot": _LABEL, "count": times}]
        # The text requires a duration; 0 is none.
        put(form, (*_SYSTEM, "duration"), wall(asked))
        write_rows(asked, ROWS, form)
        if file is not None:
            put(form, (*_FILES, file.id), _file(file.content))
            asked.convert("Executable", "a file of the jobspec, which each of its tasks runs")
        self._streams(asked, form)
        values, export = variables(asked)
        if values or export is False:
            put(form, _ENVIRONMENT, values)
        if export:
            for item in asked.items("Environment"):
                asked.refuse(item, "a jobspec has all variables itself", "export")
        if found := [*_waited_for(asked), *_begins(asked)]:
            put(form, (*_SYSTEM, "dependencies"), found)
        if constraint := _constraint(asked, kind, of.wanted):
            put(form, (*_SYSTEM, "constraints"), constraint)
        write_rest(asked, TYPE, form, lambda name: not name.startswith("attributes/"))
        return form

    def _resources(
        self, asked: JobRequest, settings: Settings, of: TaskCounts
    ) -> tuple[list[Data], Data, str]:
        """What is asked for, how many tasks it is for, and of which type GPUs are."""
        nodes_of_tasks(of)
        if of.per_node and of.nodes is None:
            told_ = f"tasks are counted ({of.count}), wherever they are"
            asked.approximate("TaskDistribution", told_, met=False)
        number_of_nodes = self._nodes(asked, of, of.nodes) if of.nodes else 0
        if isinstance(number_of_nodes, str):  # so that no number of tasks follows from it
            of.nodes = CountRange(of.node_count, None)
        slots = of.count or of.node_count * (of.per_node or 1)  # of a range the least
        cores = self._cores(asked, of)
        count, per_node = of.count, of.per_node
        places = of.node_count if of.nodes else 1
        if settings.once and isinstance(cores, int):
            # All of them are the program's: one slot, on each node.
            slots, cores = places, units.rounded_up(slots, places) * cores
            count, per_node = places, 1
        number = of.node_count
        if of.nodes and count and (not per_node or per_node * number != count):
            if per_node:
                asked.approximate("TaskDistribution", f"{count} tasks on {number} nodes", met=False)
            per_node = -(-count // number)
        on_each = (per_node or 1) if of.nodes else slots
        slots = number * on_each if of.nodes else slots  # tasks may leave some of them
        inside: list[Data] = [{"type": "core", "count": cores}]
        granted = slots
        if isinstance(number_of_nodes, dict) and of.nodes and of.nodes.lo is None:
            need = units.rounded_up(count or 1, on_each) if of.written else 1
            number_of_nodes, fewest = self._from(asked, number_of_nodes, need, on_each)
            granted = on_each * fewest  # of the nodes that there may be
        found = gpus(asked, granted, typed=True)
        if found.number:
            inside.append({"type": "gpu", "count": found.number})
        # decision 935
        inside += self._memory(
            asked, of, settings, slots if is_of_groups(asked, "Memory") else granted
        )
        slot: Data = {"type": "slot", "count": on_each, "label": _LABEL, "with": inside}
        if of.nodes is None:
            if isinstance(cores, int):
                compared(asked, of, slots * cores)
            return [slot], {"per_slot": 1}, found.kind
        varies = not isinstance(number_of_nodes, int)
        if isinstance(cores, int) and (count or not varies):
            compared(asked, of, _most_of(number_of_nodes) * on_each * cores)
        total = count if count and (varies or count != slots) else 0
        node = {"type": "node", "count": number_of_nodes, "with": [slot]}
        return [node], {"total": total} if total else {"per_slot": 1}, found.kind

    # decision 968
    def _from(
        self, asked: JobRequest, number: Data, fewest: int, on_each: int
    ) -> tuple[int | Data, int]:
        """A range of nodes without a least, from as many on as tasks need; and these."""
        if fewest == 1:
            return number, 1
        asked.approximate("NodeCount", f"from {fewest} on, of {on_each} tasks on each")
        if fewest == number["max"]:
            return fewest, fewest
        return {**number, "min": fewest}, fewest

    def _cores(self, asked: JobRequest, of: TaskCounts) -> Any:
        if of.processors and of.processors.exact is None:
            asked.approximate("Processors", f"{of.processors.end} of a range: {of.total}")
        return of.each

    def _nodes(self, asked: JobRequest, of: TaskCounts, count: CountRange) -> Any:
        if count.exact is None:
            asked.approximate("NodeCount", f"{count.end} of a range: {of.node_count}")
        return of.node_count

    def _memory(
        self, asked: JobRequest, of: TaskCounts, settings: Settings, slots: int
    ) -> list[Data]:
        """A slot of version 1 holds cores and GPUs only."""
        return []

    def _streams(self, asked: JobRequest, form: Data) -> None:
        for name, path in _STREAMS.items():
            if text := file_of(asked, name, PATTERNS):
                put(form, path, {"type": _FILE, "path": text})
            for item in asked.items(name):
                if "redirectList" in item.attributes:
                    asked.refuse(item, NO_OPTION, "redirectList")

    def job(self, form: Data, settings: Settings) -> Read:
        """The job of a jobspec."""
        form, heard = json.loads(json.dumps(form)), ScriptReading()
        take(form, _KEPT)
        for fault in faults(form, canonical=self.version == CANONICAL):
            heard.note(fault.text, fault.path)
        taken(form, ("version",), self._is_ours, heard, f"version {self.version}")
        resources, tasks = (taken(form, (name,), a_list, heard, "a list") or []
                            for name in ("resources", "tasks"))  # fmt: skip
        first = tasks[0] if tasks and isinstance(tasks[0], dict) else {}
        _say_program(form, heard, words_of({"tasks": first}, ("tasks", "command"), heard))
        if len(tasks) > 1:
            heard.note(f"{len(tasks)} tasks: only the first is read", "/tasks/1")
        read_rows(form, ROWS, heard)
        for name, path in _STREAMS.items():
            _read_stream(form, name, path, heard)
        values = taken(form, _ENVIRONMENT, an_object, heard, "an object")
        if values is not None:  # there are no others
            say_variables(heard, texts_of(values, _ENVIRONMENT, heard), export=False)
        _read_resources(resources, first, heard)
        tell_rest(resources, heard, ("resources",))
        tell_rest(tasks[:1], heard, ("tasks",))
        _read_duration(form, heard)
        _read_dependencies(form, heard)
        _read_constraint(form, heard)
        rescope(heard, settings.memory_scope)
        keep_rest(without_empty(form), heard, TYPE)
        return Read(Job(heard.all()), tuple(heard.findings), heard.files)

    def _is_ours(self, value: Any) -> bool | None:
        """Whether a version is the one; RFC 14 gives no number, only an example."""
        wanted = value == self.version or self.version == CANONICAL
        return True if type(value) is int and wanted else None

    def keep(self, form: Data, lines: Iterable[str]) -> Data:
        """The residual among the attributes of the user."""
        held = list(lines)
        if not held:
            return form
        user = {**form["attributes"].get("user", {}), _KEPT[-1]: {"residual": held}}
        return {**form, "attributes": {**form["attributes"], "user": user}}

    def held(self, form: Data) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        """The residual."""
        found: Any = form
        for name in (*_KEPT, "residual"):
            inner = found.get(name) if isinstance(found, dict) else None
            found = inner if inner is not None else {}
        for number, each in enumerate(found if isinstance(found, list) else ()):
            yield word(each), (*_KEPT, "residual", number)

    def recognises(self, head: bytes) -> str:
        """An object with resources and tasks, of this version; the jobs of a list may name both."""
        if array(head) or not begins(head, b"resources", b"tasks"):
            return ""
        found = re.search(rb'"version"\s*:\s*([0-9]{1,9})', head)
        is_first = bool(found) and found[1] == b"1" if found else False
        wanted = is_first if self.version == 1 else not is_first and found is not None
        return 'an object with "resources" and "tasks"' if wanted else ""


def _most_of(number: int | str | Data) -> int:
    """The greatest of the numbers of nodes that a jobspec admits, as far as it has an end."""
    if isinstance(number, int):
        return number
    if isinstance(number, str):
        return max(map(int, re.findall(r"[0-9]+", number)))
    return int(number["max"] if "max" in number else number["min"])


class Canonical(Jobspec):
    """A canonical jobspec: ranges of nodes, and memory among the resources."""

    name = "flux-canonical"
    version = CANONICAL

    def _nodes(self, asked: JobRequest, of: TaskCounts, count: CountRange) -> Any:
        found = {*node_counts(asked, of, _countable)}
        if len(found) > 1:
            several = sorted(found, key=lambda each: (each.granted, each.hi or 0))
            return ",".join(str(each.exact or f"{each.lo}-{each.hi}") for each in several)
        (count,) = found
        if count.exact is not None:
            return count.exact
        # As text, "2-4" is both a range and a set of ids, which the schema of RFC 14 refuses.
        steps = {} if count.hi is None else {"max": count.hi, "operator": "+", "operand": 1}
        return {"min": count.lo or 1, **steps}

    def _memory(
        self, asked: JobRequest, of: TaskCounts, settings: Settings, slots: int
    ) -> list[Data]:
        size = memory(asked, of, settings.memory_scope, each=JOB)
        if size is None:
            return []
        each = units.rounded_up(units.rounded_up(size, slots), MIB)
        if each * slots * MIB != size:
            asked.convert("Memory", f"{each} MB for each of {slots} slots, rounded up")
        elif slots > 1:
            asked.convert("Memory", f"{each} MB for each of {slots} slots")
        return [{"type": "memory", "count": each, "unit": "MB"}]


class JobspecFault(NamedTuple):
    """What is wrong, and the path of the object in which it is."""

    text: str
    path: str


def faults(form: Data, *, canonical: bool = False) -> Iterator[JobspecFault]:
    """What is wrong with a jobspec that its schema does not see."""
    resources, tasks = form.get("resources"), form.get("tasks")
    system = form.get("attributes") or {}
    system = system.get("system", {}) if isinstance(system, dict) else {}
    system = system if isinstance(system, dict) else {}
    if not canonical and not isinstance(system.get("duration"), int | float):
        yield JobspecFault("attributes.system.duration is missing (RFC 25)", "/attributes/system")
    labels: dict[str, None] = {}  # as JSON, in which anything may stand
    for vertex in _vertices(resources):
        if vertex.get("type") == "slot":
            labels[json.dumps(vertex.get("label"))] = None
            if not any(each.get("type") == "core" for each in _vertices(vertex.get("with"))):
                yield JobspecFault(f"the slot {vertex.get('label')!r} has no core", "/resources")
    if not labels:
        yield JobspecFault("resources have no slot", "/resources")
    for place, task in enumerate(tasks if isinstance(tasks, list) else ()):
        if isinstance(task, dict) and json.dumps(task.get("slot")) not in labels:
            known = ", ".join(name[:60] for name in islice(labels, _NAMED_SLOTS)) or "none"
            if len(labels) > _NAMED_SLOTS:
                known += f" and {len(labels) - _NAMED_SLOTS} more"
            slot = shown(task.get("slot"))
            text = f"a task names the slot {slot}, which is not there: {known} is"
            yield JobspecFault(text, f"/tasks/{place}/slot")
    waits = system.get("dependencies", [])
    for each in waits if isinstance(waits, list) else [waits]:
        if not isinstance(each, dict) or not all(
            isinstance(each.get(name), str) for name in ("scheme", "value")
        ):
            text = f"{json.dumps(each)[:60]} is no dependency (RFC 26)"
            yield JobspecFault(text, "/attributes/system/dependencies")


def _vertices(found: Any) -> Iterator[Data]:
    """The resources of a list, and all within them."""
    for vertex in found if isinstance(found, list) else ():
        if isinstance(vertex, dict):
            yield vertex
            yield from _vertices(vertex.get("with"))


def _file(content: bytes) -> Data:
    """A file of a jobspec (RFC 37)."""
    try:
        return {"mode": _MODE, "data": content.decode(), "encoding": "utf-8"}
    except UnicodeDecodeError:
        return {"mode": _MODE, "data": b64encode(content).decode(), "encoding": "base64"}


def _several(resources: list[Data]) -> bool:
    """Whether there may be more than one slot."""
    counts = [vertex["count"] for each in resources for vertex in (each, *each["with"])
              if vertex["type"] in ("node", "slot")]  # fmt: skip
    return any(count != 1 for count in counts)


def _say_program(form: Data, heard: ScriptReading, words_: list[str]) -> None:
    """A program; where it is the one file of the jobspec, that file, too."""
    files = take(form, _FILES)
    name = words_[0] if words_ else ""
    id_ = name.removeprefix(_IN_TMPDIR)
    held = files.get(id_) if isinstance(files, dict) and len(files) == 1 else None
    content = None if id_ == name else _bytes(held)
    if content is None:
        if files is not None:
            put(form, _FILES, files)
        say_command(heard, words_)
        return
    heard.files[id_] = content
    say_command(heard, [f"#{id_}", *words_[1:]])


def _bytes(held: Any) -> bytes | None:
    """The content of a file of a jobspec; None for what is no such file."""
    if not isinstance(held, dict) or not isinstance(held.get("data"), str):
        return None
    text: str = held["data"]
    encoding = held.get("encoding", "utf-8")
    if encoding == "utf-8":
        return text.encode("utf-8", "replace")
    try:
        return b64decode(text, validate=True) if encoding == "base64" else None
    except ValueError:
        return None


def _waited_for(asked: JobRequest) -> Iterator[Data]:
    return starmap(_dependency, waited_for(asked, matching("(?s).+"), WORDS))


def _begins(asked: JobRequest) -> Iterator[Data]:
    if item := asked.one("EligibleTime"):
        try:
            yield _dependency("begin-time", str(units.time(item.text)))
        except InvalidValue as error:
            asked.refuse(item, str(error))


def _dependency(scheme: Any, value: Any) -> Data:
    """As RFC 26 has it; the schema demands type and scope, which this direction has."""
    return {"type": "in", "scope": "user", "scheme": scheme, "value": value}


def _constraint(asked: JobRequest, kind: str, nodes: int | None) -> Data:
    """Properties that every node has, nodes of which the job has some, and choices (RFC 31).

    The ``kind`` of its GPUs is a property of a node.
    """

    def say(part: Expression) -> Data:
        if any(kind in _features_of(each.item) for each in comparisons(part)):
            raise InvalidValue(kind, "the name of a feature, beside GPUs of that type")
        return _said(part)

    choices = conditions(asked, ("Feature", "Node"), say)  # of which else the best is taken
    found: list[Data] = []
    properties = [kind] if kind else []
    if kind:
        told_ = f"the property {kind}, which the site has to give its nodes"
        asked.convert("Resource", told_, is_gpu)
    for item in asked.take("Feature", "aggregation", "delimiter"):
        texts = listed(asked, item, most=None)
        if kind and kind in texts:
            asked.refuse(item, OTHER_MEANING)
        elif all(map(_PROPERTY.fullmatch, texts)):
            properties += texts
        else:
            asked.refuse(item, "it is no name of a property")
    if properties:
        found.append({_PROPERTIES: list(dict.fromkeys(properties))})
    if named := any_of_these(asked, nodes, most=None):
        found.append({_HOSTS: named})
    found += choices
    return _all(found) if found else {}


def _features_of(item: Property) -> tuple[str, ...]:
    """The names of features that a property is about."""
    found = expand(item) if item.name == "Feature" else ()
    return () if isinstance(found, Pattern) else tuple(found)


def _all(parts: Iterable[Data]) -> Data:
    """What holds if all parts do: their properties are one list."""
    properties: list[str] = []
    others: list[Data] = []
    for part in parts:
        if set(part) == {_PROPERTIES}:
            properties += part[_PROPERTIES]
        else:
            others.append(part)
    found = [{_PROPERTIES: list(dict.fromkeys(properties))}] if properties else []
    found += others
    return found[0] if len(found) == 1 else {_AND: found}


def _said(part: Expression) -> Data:
    """A part of a request as a constraint. Raises ``InvalidValue`` for what is none."""
    match part:
        case And(operands):
            return _all(map(_said, operands))
        case Or(operands):
            return {_OR: [_said(each) for each in operands]}
        case Not(Comparison(item) as inner) if inner.op == "EQ":
            return _without(item, _OR)
        case Not(operand):
            return {_NOT: [_said(operand)]}
        case Comparison(item) if part.op == "EQ":
            name, texts = _named(item)
            return {name: texts}
        case Comparison(item) if part.op == "NE":
            # None of several nodes is none of them, however many are wanted of them.
            kept = {key: text for key, text in item.attributes.items() if key != "count"}
            return _without(Property(item.name, item.text, kept), _AND)
    raise InvalidValue(str(part), "names of properties and nodes, joined by And, Or and Not")


def _without(item: Property, joined: str) -> Data:
    """A node that is none of the nodes, or lacks properties: all of them, or with _OR one."""
    name, texts = _named(item)
    if name == _HOSTS:
        return {_NOT: [{name: texts}]}
    if joined == _AND:
        return {name: [f"^{text}" for text in texts]}
    found = [{name: [f"^{text}"]} for text in texts]
    return found[0] if len(found) == 1 else {_OR: found}


def _named(item: Property) -> tuple[str, list[str]]:
    """The operator of RFC 31 and the names of a property of a request."""
    texts = expand(item)
    known = _PROPERTY.fullmatch if item.name == "Feature" else plain
    if isinstance(texts, Pattern) or "count" in item.attributes or not all(map(known, texts)):
        raise InvalidValue(item.text, "names, all of which count")
    return (_PROPERTIES if item.name == "Feature" else _HOSTS), list(dict.fromkeys(texts))


def _read_stream(form: Data, name: str, path: tuple[str, ...], heard: ScriptReading) -> None:
    value = take(form, path)
    text = None
    if (
        isinstance(value, dict)
        and {**value, "path": ""} == {"type": _FILE, "path": ""}
        and word(value.get("path"))
    ):
        try:
            text = PATTERNS.read(word(value["path"]))
        except InvalidValue as error:
            heard.note(f"{'.'.join(path)} is kept as it is: {error}", f"/{'/'.join(path)}")
    if text is not None:
        heard.say(name, text)
    elif value is not None:
        put(form, path, value)


# decision 933
class _Vertex(NamedTuple):
    """A resource, and those that it is within, from the outermost on: their counts multiply."""

    said: Data
    around: tuple[Data, ...] = ()

    def times(self, within: Data | None = None) -> int | None:
        """In how many others it is, of those within one; None where that is open."""
        start = next((at + 1 for at, each in enumerate(self.around) if each is within), 0)
        counts = [_number(each.get("count")) for each in self.around[start:]]
        known = [count for count in counts if count is not None]
        return prod(known) if len(known) == len(counts) else None

    def number(self, within: Data | None = None) -> int | None:
        """How many there are within one; None where that is open."""
        count, times = _number(self.said.get("count")), self.times(within)
        return None if count is None or times is None else count * times

    def is_within(self, other: _Vertex | None) -> bool:
        """Whether it is within another one."""
        return other is not None and any(each is other.said for each in self.around)


def _placed(found: Any, around: tuple[Data, ...] = ()) -> Iterator[_Vertex]:
    """The resources of a list, and all within them."""
    for vertex in found if isinstance(found, list) else ():
        if isinstance(vertex, dict):
            yield _Vertex(vertex, around)
            yield from _placed(vertex.get("with"), (*around, vertex))


def _read_resources(found: list[Any], task: Data, heard: ScriptReading) -> None:
    """Take nodes, slots, and what is in a slot; of a task for each slot so many tasks."""
    levels = [*_placed(found)]
    node = next((each for each in levels if each.said.get("type") == "node"), None)
    slot = next((each for each in levels if each.said.get("type") == "slot"), None)
    several = _several_counts(node, heard)
    inside = [(each.said, each.times(slot and slot.said) or 1)
              for each in levels if each.is_within(slot)]  # fmt: skip
    of, slots = _counts(node, slot, task, inside)
    least = of.nodes.least if of.nodes else 1
    number = of.tasks or least
    if slots:  # all of which are allocated, however many tasks there are
        number = slots * (least if of.per_node else 1)
    _share_slots(of, number, _cores(inside), heard)
    if slots or node is not None:
        say_counts(heard, of, processors=False, nodes=not several)
    if node is not None and node.times() is not None:
        _taken_vertex(node.said)
    if slot is not None and (slots or (node is None and _said_range(slot, inside, heard))):
        _taken_vertex(slot.said)
    for vertex, times in inside:
        _read_inside(vertex, times * number, heard)
    if slot is not None:  # where the labels differ, that is told as a fault
        take(slot.said, ("label",))
    take(task, ("slot",))


def _several_counts(node: _Vertex | None, heard: ScriptReading) -> bool:
    """Whether there are several numbers of nodes to choose from, which are said then."""
    count = node.said.get("count") if node else None
    several = _spans(count)
    times = node.times() if node else None
    if node is None or times is None:
        return False
    if len(several) > 1:
        heard.terms.append(Or(tuple(_between(lo * times, hi * times) for lo, hi in several)))
    elif _bounds(count) == (None, None):
        told(heard, ("resources", "count"), count, "a number, a range, or a set")
    return len(several) > 1


def _counts(
    node: _Vertex | None, slot: _Vertex | None, task: Data, inside: list[tuple[Data, int]]
) -> tuple[TaskCounts, int | None]:
    """Tasks, nodes and cores, and how many slots there are: on each node, if they are in nodes."""
    cores = _cores(inside)
    spans = node is not None and node.is_within(slot)
    around = node if node is not None and not spans else None
    slots = slot.number(around.said if around else None) if slot else None
    nodes = _nodes(node)
    tasks = _taken_total(task)
    if tasks is None and slots:
        number = 1 if around is None else nodes.exact if nodes else None
        tasks = slots * number if number else None
    per_node = slots if around is not None else None
    if spans and node is not None and slot is not None:  # each of these nodes has its part
        cores = units.rounded_up(cores, node.number(slot.said) or 1)
    return TaskCounts(nodes, None, tasks, per_node, cores or None), slots


def _nodes(node: _Vertex | None) -> CountRange | None:
    """How many nodes there are in all; None where that is open."""
    times = node.times() if node else None
    if node is None or times is None:
        return None
    several = _spans(node.said.get("count"))
    bounds = _bounds(node.said.get("count"))
    if len(several) > 1:
        bounds = (min(lo for lo, _ in several), max(hi for _, hi in several))
    return None if bounds == (None, None) else CountRange(*bounds).times(times)


# decision 936
def _share_slots(of: TaskCounts, slots: int, cores: int, heard: ScriptReading) -> None:
    """Tasks have all cores of all slots, as evenly as they can; no node is without a task."""
    if of.tasks and of.nodes and of.nodes.lo and of.tasks < of.nodes.lo:
        heard.note(f"{of.tasks} tasks on {of.nodes.lo} nodes: each node has a task")
        of.tasks = None
    is_open = of.per_node is not None and (of.nodes is None or of.nodes.exact is None)
    if not of.tasks or not cores or is_open or of.tasks == slots:
        return
    nodes = of.nodes.least if of.nodes and of.per_node else 0
    # Slots of nodes that tasks fill but for the last ones are as many only to be the same on each.
    is_filled = slots - nodes < of.tasks < slots
    of.per_task = cores if is_filled else units.rounded_up(slots * cores, of.tasks)
    if of.tasks * of.per_task != slots * cores:
        told_ = f"{of.tasks} tasks in {slots} slots of {cores} cores"
        heard.note(f"{told_}: {of.tasks * of.per_task} processors are read")


def _cores(inside: Iterable[tuple[Data, int]]) -> int:
    """How many cores are in a slot."""
    return sum(
        (_number(each.get("count")) or 0) * times
        for each, times in inside if each.get("type") == "core"
    )  # fmt: skip


def _said_range(slot: _Vertex, inside: list[tuple[Data, int]], heard: ScriptReading) -> bool:
    """Whether a range of slots could be said: as one of processors, as tasks have no range."""
    (lo, hi), times = _bounds(slot.said.get("count")), slot.times()
    cores = [(_number(each.get("count")), more) for each, more in inside
             if each.get("type") == "core"]  # fmt: skip
    if lo is None or times is None or len(cores) != 1 or not cores[0][0]:
        return False
    factor = cores[0][0] * cores[0][1] * times
    say_count(heard, "Processors", lo * factor, None if hi is None else hi * factor)
    return True


def _taken_total(task: Data) -> int | None:
    """Take how many tasks there are; one for each slot is what is meant without a number."""
    count = task.get("count")
    total = _number(count.get("total")) if isinstance(count, dict) else None
    if isinstance(count, dict) and total is not None:
        del count["total"]
    elif count == {"per_slot": 1} and type(count["per_slot"]) is int:
        del task["count"]
    return total


def _taken_vertex(vertex: Data) -> None:
    """Take what a vertex is and how many there are, by which it is understood."""
    take(vertex, ("type",))
    take(vertex, ("count",))


def _read_inside(vertex: Data, slots: int, heard: ScriptReading) -> None:
    kind, number = vertex.get("type"), _number(vertex.get("count"))
    if number is None or not isinstance(kind, str):
        return  # it is told as what nobody has read
    _taken_vertex(vertex)
    if kind == "core":
        return  # it is counted with the tasks
    if kind == "gpu":
        heard.request("Resource", number * slots, name=GPU)
    elif kind == "memory":
        unit = word(vertex.get("unit"))
        if unit:
            del vertex["unit"]
        heard.request("Memory", number * slots, units=unit or "MB")
    else:
        heard.request("Resource", number * slots, name=kind)


def _number(value: Any) -> int | None:
    lo, hi = _bounds(value)
    return lo if lo == hi else None


def _bounds(value: Any) -> tuple[int | None, int | None]:
    """The ends of a count: 4, "2-4", "2+" (RFC 45), {"min": 2, "max": 4, ...} of steps of 1."""
    if isinstance(value, dict):
        lo, hi, step = value.get("min"), value.get("max"), value.get("operand", 1)
        plain = (value.get("operator", "+"), step) == ("+", 1) and value.keys() <= _STEPS
        numbers = type(lo) is type(step) is int and (hi is None or type(hi) is int)
        return (lo, hi) if plain and numbers else (None, None)
    if type(value) is int:
        return (value, value) if value > 0 else (None, None)
    found = _RANGE.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return (None, None)
    lo = int(found[1])
    return lo, int(found[2]) if found[2] else None if "+" in value else lo


def _spans(value: Any) -> tuple[tuple[int, int], ...]:
    """The numbers and ranges of a set "12,16-18" (RFC 22), which may stand in brackets."""
    text = value if isinstance(value, str) else ""
    text = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
    found = [_SPAN.fullmatch(part) for part in text.split(",")[:_MOST_SPANS]]
    spans = [(int(each[1]), int(each[2] or each[1])) for each in found if each]
    whole = len(spans) == text.count(",") + 1 and all(lo <= hi for lo, hi in spans)
    return tuple(spans) if whole else ()


def _between(lo: int, hi: int) -> Expression:
    if lo == hi:
        return Comparison(Property("NodeCount", lo))
    ends = (Property("NodeCount", lo, {"op": "GE"}), Property("NodeCount", hi, {"op": "LE"}))
    return And(tuple(map(Comparison, ends)))


def _countable(value: Interval) -> bool:
    return value.lo is not None and value.hi is not None and 0 < value.lo <= value.hi < _TOO_MANY


def _read_duration(form: Data, heard: ScriptReading) -> None:
    value = take(form, (*_SYSTEM, "duration"))
    try:
        if value == inf:  # what JSON makes of 1e400
            raise InvalidValue(shown(value), "a number")
        seconds = words.limit(word(value)) if value is not None else None
    except InvalidValue:
        told(heard, (*_SYSTEM, "duration"), value, "a number of seconds")
        return
    if seconds and seconds > LARGEST:
        told(heard, (*_SYSTEM, "duration"), value, "a number of seconds that fits 64 bits")
    elif seconds:
        say_wall(heard, seconds)


def _read_dependencies(form: Data, heard: ScriptReading) -> None:
    found = taken(form, (*_SYSTEM, "dependencies"), a_list, heard, "a list") or ()
    rest = []
    for each in found:
        scheme, value = (
            (word(each.get(name)) for name in ("scheme", "value"))
            if isinstance(each, dict) and {**_dependency("", ""), **each} == _dependency(
                each.get("scheme"), each.get("value"))
            else ("", "")
        )  # fmt: skip
        if scheme in CONDITIONS and value:
            waits = {"condition": CONDITIONS[scheme]}
            heard.items.append(Property("Dependency", ids.number(value), waits))
        elif scheme == "begin-time" and value.partition(".")[0].isdecimal():
            heard.say("EligibleTime", value.partition(".")[0])
        else:
            rest.append(each)
    if rest:
        put(form, (*_SYSTEM, "dependencies"), rest)


def _read_constraint(form: Data, heard: ScriptReading) -> None:
    path = (*_SYSTEM, "constraints")
    found = taken(form, path, an_object, heard, "an object")
    if not found:
        return
    parts = found[_AND] if set(found) == {_AND} and isinstance(found[_AND], list) else [found]
    rest = [each for each in parts if not _understood(each, heard)]
    if rest:
        put(form, path, {_AND: rest} if parts != [found] else found)


def _understood(part: Any, heard: ScriptReading) -> bool:
    try:
        found = conjuncts(_meant(part))
    except InvalidValue:
        return False
    for each in found:
        if isinstance(each, Comparison):
            heard.requested.append(each.item)
        else:
            heard.terms.append(each)
    return True


def _meant(part: Any) -> Expression:
    """A constraint as an expression. Raises ``InvalidValue`` for what no request can say."""
    name, values = next(iter(part.items())) if isinstance(part, dict) and part else ("", None)
    if not isinstance(values, list) or not values or len(part) != 1:
        raise InvalidValue(json.dumps(part)[:60], "an object with one list")
    if name in (_PROPERTIES, _HOSTS) and all(isinstance(each, str) for each in values):
        return _properties(values) if name == _PROPERTIES else _hosts(values)
    if name in (_AND, _OR):
        inner = tuple(map(_meant, values))
        return inner[0] if len(inner) == 1 else And(inner) if name == _AND else Or(inner)
    if name == _NOT and len(values) == 1:
        return _inverse(_meant(values[0]))
    raise InvalidValue(name, "properties, hostlist, and, or, or not of one")


def _inverse(found: Expression) -> Expression:
    if isinstance(found, Comparison) and found.op == "EQ":
        return Comparison(_unwanted(found.item))
    return Not(found)


def _properties(values: list[str]) -> Expression:
    """Properties that are all there; those behind ^ are not."""
    found: list[Expression] = []
    for each in values:
        name = each.removeprefix("^")
        if not _PROPERTY.fullmatch(name):
            raise InvalidValue(each, "the name of a property")
        item = Property("Feature", name)
        found.append(Comparison(item if name == each else _unwanted(item)))
    return found[0] if len(found) == 1 else And(tuple(found))


def _hosts(values: list[str]) -> Expression:
    named = [host for each in values for host in words.hosts(each)]
    if not named:
        raise InvalidValue(str(values)[:60], "names of nodes")
    listed_ = {"aggregation": "List"} if len(named) > 1 else {}
    return Comparison(Property("Node", ",".join(named), listed_))


def _unwanted(item: Property) -> Property:
    return Property(item.name, item.text, {**item.attributes, "op": "NE"})


V1 = Jobspec()
CANONICAL_FORM = Canonical()
