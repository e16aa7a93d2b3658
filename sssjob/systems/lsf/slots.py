"""Tasks of LSF, with a range of them, and resource requirements."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from sssjob import expression, units
from sssjob.errors import InvalidValue, finding
from sssjob.expression import Comparison
from sssjob.model import Property
from sssjob.nodes import plain
from sssjob.resource_names import GPU, LICENSE, license_attributes
from sssjob.systems.lsf.selections import is_feature, is_host, is_name, is_open, selected, selection
from sssjob.systems.lsf.words import (
    asked_gpus,
    is_licence,
    kilobytes,
    minutes,
    reservations,
    size,
    written_minutes,
)
from sssjob.task_counts import CountRange
from sssjob.translate import numbers
from sssjob.translate.fields import NOT_ALL
from sssjob.translate.form import AmountsLayout
from sssjob.translate.nodes import (
    any_of_these,
    conditions,
    features,
    plain_name,
    say_wishes,
    wishes,
)
from sssjob.translate.options import ScriptOptions, ScriptReading, ScriptWriting
from sssjob.translate.quoting import exported
from sssjob.translate.requests import JobRequest
from sssjob.translate.translator import Settings

KIB, MIB = 1 << 10, 1 << 20

GEOMETRY = "LSB_TASK_GEOMETRY"  # the variable that says which tasks are together on a node
_GROUPS = re.compile(r"\{((?:\([0-9]{1,6}(?:,[0-9]{1,6})*\))+)\}")
_SELECTED = ("Feature", "Node", "Architecture")
# Indices of load and the like, by which hosts are sorted, and which are no features.
# Whose an amount of rusage is: since 10.1.0.9 it can be said. What is not said is of each host, or
# by RESOURCE_RESERVE_PER_TASK of a site of each task.
_METHODS = {numbers.NODE: "/host", numbers.TASK: "/task"}
_WHOSE = {"": numbers.NODE, "host": numbers.NODE, "task": numbers.TASK, "job": numbers.JOB}
_UNIT = "{} is in MB, unless LSF_UNIT_FOR_LIMITS of the site is another unit"
_RANGE = re.compile(r"([0-9]{1,9})(?:,([0-9]{1,9}))?")


def counts(asked: JobRequest) -> numbers.TaskCounts:
    """Take the counts of a job, on one number of hosts; what is told is told as of a script."""
    of = numbers.added(asked)
    _one_number(asked, of)
    _on_each_host(asked, replace(of), of.task_count)
    return of


def _one_number(asked: JobRequest, of: numbers.TaskCounts) -> None:
    if of.nodes and of.nodes.exact is None and not of.per_node:
        numbers.only_one(asked, "NodeCount", of.nodes)
        number = of.nodes.lo or min(of.nodes.least, of.written or of.nodes.least)
        of.nodes = CountRange.exactly(number)


def _on_each_host(asked: JobRequest, of: numbers.TaskCounts, tasks: int) -> int:
    """How many tasks are on each host; 0 where that is open, or they are not as many on each."""
    if of.per_node:
        hosts = units.rounded_up(tasks, of.per_node)
        if of.nodes and hosts != of.nodes.exact:
            told = f"{hosts} hosts, with {of.per_node} tasks on each"
            name = "TaskDistribution" if of.named else "NodeCount"
            asked.approximate(name, told, met=False)
        of.nodes = CountRange.exactly(hosts)
        return of.per_node
    hosts = (of.nodes and of.nodes.exact) or 0
    if hosts and tasks % hosts == 0:
        if hosts > 1:
            asked.convert("NodeCount", f"{tasks // hosts} of {tasks} tasks on each node")
        return tasks // hosts
    if of.nodes:
        asked.leave("NodeCount", "tasks are not the same on so many nodes")
        of.nodes = None
    return 0


class Slots(AmountsLayout):
    """Tasks with a range of them, and resource requirements."""

    def compose(self, asked: JobRequest, made: ScriptWriting, settings: Settings) -> None:
        """Tasks, where they are, and what each job has."""
        of = numbers.added(asked)
        self._tasks(asked, made, of)  # which count the nodes
        self._select(asked, made)
        self._usage(asked, made, of, settings.memory_scope)
        if wall := numbers.wall(asked):
            made.option("-W", written_minutes(wall))
            if wall % 60:
                asked.approximate("Duration", f"{written_minutes(wall)} minutes, rounded up")
        if swap := numbers.in_all(asked, of, "Swap"):
            made.option("-v", kilobytes(swap))
            if swap % KIB:
                asked.approximate("Swap", f"{kilobytes(swap)}, rounded up")
        self._nodes(asked, made, of)

    def _tasks(self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts) -> None:
        if of.named and of.count == of.total == 1 and not of.tasks:
            return  # its name says all
        _one_number(asked, of)
        each = of.each if of.tasks or of.per_task or of.per_node else 1
        if of.tasks or (of.nodes and of.nodes.exact != 1):  # which tasks on each of them count
            numbers.only_one(asked, "Processors", of.processors)
            of.processors = of.processors and CountRange(of.total, of.total)
        ends: tuple[int | None, int | None] = (of.tasks, of.tasks)
        if not of.tasks and of.processors:
            lo, hi = of.slots.granted, of.slots.hi
            ends = (
                units.rounded_up(lo, each),
                None if hi is None else max(hi // each, units.rounded_up(lo, each)),
            )
        elif not of.tasks and ((of.count and of.nodes) or of.per_node):
            ends = (of.task_count, of.task_count)
        least, most = ends
        if least or most:
            ends_ = f"{least},{most}" if most and least != most else str(least)
            made.option("-n", ends_)
            if least and most is None:
                asked.approximate("Processors", "exactly the least: bsub has no open range")
        tasks = least or most or 1
        if on_each := _on_each_host(asked, of, tasks):
            is_one = not of.per_node and of.nodes is not None and of.nodes.exact == 1
            made.option("-R span", "hosts=1" if is_one else f"ptile={on_each}")
        if each > 1:
            made.option("-R affinity", f"core({each})")
        if groups := numbers.placed(asked, of):
            text = "".join(f"({','.join(map(str, group))})" for group in groups)
            try:
                made.line(exported(GEOMETRY, f"{{{text}}}"))
            except InvalidValue as error:
                for item in asked.items("TaskDistribution"):
                    asked.refuse(item, str(error))

    def _select(self, asked: JobRequest, made: ScriptWriting) -> None:
        licences = numbers.licence_names((asked, *asked.groups()), is_licence)

        def is_free(name: str) -> bool:
            return is_feature(name) and name not in licences

        # Of which no part stands alone.
        choices = conditions(asked, _SELECTED, lambda part: selection(part, is_free))
        found = features(asked, take=is_free)
        if text := plain_name(asked, "Architecture", is_name):
            found.append(f"type=={text}")
        found += choices
        if found:
            made.option("-R select", " && ".join(found))
        if liked := wishes(asked, "Feature", is_free):
            made.option("-R order", ":".join(liked))

    def _usage(
        self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts, scope: str
    ) -> None:
        found: list[str] = []
        for name, word_ in (("Memory", "mem"), ("Disk", "tmp")):
            whose = scope if name == "Memory" else numbers.JOB
            each = numbers.NODE
            if whose == numbers.TASK or (whose == numbers.JOB and of.open_nodes):
                each = numbers.TASK
            parts = of
            if whose == numbers.JOB and _may_be_one(of) and asked.items(name):
                each, parts = numbers.NODE, numbers.TaskCounts(tasks_of=of.tasks_of)
            if amount := numbers.memory(asked, parts, whose, each=each, name=name):
                megabytes = units.rounded_up(amount, MIB)
                alone = of.node_count == of.task_count == 1
                found.append(f"{word_}={megabytes}MB{'' if alone else _METHODS[each]}")
                if megabytes * MIB != amount:
                    asked.approximate(name, f"{megabytes} MB, rounded up")
        gpus, licences = numbers.resources(asked, typed=True, is_licence=is_licence)
        found += [f"{name}={count}" for name, count in licences]
        if gpus.number:
            nodes = 1 if _may_be_one(of) else of.node_count
            share = units.rounded_up(gpus.number, nodes)
            made.option("-gpu", f"num={share}" + (f":gmodel={gpus.kind}" if gpus.kind else ""))
            if of.open_nodes:
                told = f"{gpus.number} GPUs on each host: one is assumed"
                asked.approximate("Resource", told, where=numbers.is_gpu)
            elif gpus.number % nodes:
                told = f"GPUs on each of {nodes}, rounded up"
                asked.approximate("Resource", told, where=numbers.is_gpu)
            asked.convert("Resource", f"{share} GPUs on each of {nodes}", numbers.is_gpu)
        if found:
            made.option("-R rusage", ":".join(found))

    def _nodes(self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts) -> None:
        """Hosts of which any may be taken."""
        if found := any_of_these(asked, of.wanted, take=is_host):
            made.option("-m", " ".join(found))

    def understand(self, said: ScriptOptions, heard: ScriptReading, settings: Settings) -> None:
        """Tasks, then what they have."""
        of = self._say_tasks(said, heard)
        self._say_select(said, heard)
        self._say_order(said, heard)
        self._say_usage(said, heard, of, settings.memory_scope)
        numbers.say_amount(said, heard, "-W", "Duration", minutes)
        numbers.say_amount(said, heard, "-v", "Swap", size)
        if (value := said.last("-m")) is not None:
            found = value.split()
            if not found or not all(map(plain, found)):
                said.back("-m", value)
            elif (number := of.node_count) > len({*found}):
                said.back("-m", value, f"they are fewer than {number} hosts")
            elif len(found) == 1:
                heard.request("Node", found[0])
            else:
                heard.request("Node", ",".join(found), aggregation="List", count=str(number))

    def _say_tasks(self, said: ScriptOptions, heard: ScriptReading) -> numbers.TaskCounts:
        of = numbers.TaskCounts()
        value = said.last("-n")
        found = _RANGE.fullmatch(value or "")
        each = 1
        if value is not None and found is None:
            said.back("-n", value)
        core = said.last("-R affinity")
        cores = re.fullmatch(r"core\(([0-9]{1,6})\)", core or "")
        ends = (found[1], found[2] or found[1]) if found else ("1", "1")  # as bsub has it
        is_one = ends[0] == ends[1] and bool(found or value is None)
        if cores and is_one:
            each = int(cores[1])
        elif core is not None:
            said.back("-R affinity", core)
        if found or each > 1:
            lo, hi = map(int, ends)
            numbers.say_count(heard, "Processors", lo * each, hi * each)
            if cores and is_one:
                heard.say("TaskCount", lo)
            of.tasks, of.per_task = lo, each
        span = said.last("-R span")
        tile = re.fullmatch(r"(ptile|hosts)=([0-9]{1,6})", span or "")
        if tile and tile[1] == "ptile" and int(tile[2]):
            of.per_node = int(tile[2])
            hosts = units.rounded_up(of.tasks or 1, of.per_node)
            of.nodes = CountRange.exactly(hosts)
            heard.say("TaskDistribution", of.per_node, type="TasksPerNode")
        elif tile and tile[2] == "1":
            numbers.say_count(heard, "NodeCount", 1, 1)
            of.nodes = CountRange.exactly(1)
        elif span is not None:
            said.back("-R span", span)
        return of

    def _say_select(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Several selections have to hold together."""
        for value in said.all("-R select"):
            try:
                found = selected(value or "")
            except InvalidValue as error:
                said.back("-R select", value, str(error))
                continue
            if any(map(is_open, expression.comparisons(found))):
                said.back("-R select", value, "hosts of any type, or that of the submitting host")
                continue
            for part in expression.conjuncts(found):
                if isinstance(part, Comparison):
                    heard.requested.append(part.item)
                else:
                    heard.terms.append(part)

    def _say_order(self, said: ScriptOptions, heard: ScriptReading) -> None:
        value = said.last("-R order")
        if value is None:
            return
        found = value.split(":")
        if all(map(is_feature, found)):
            say_wishes(heard, "Feature", found)
        else:
            said.back("-R order", value)

    def _say_usage(
        self, said: ScriptOptions, heard: ScriptReading, of: numbers.TaskCounts, scope: str
    ) -> None:
        tasks, nodes = of.tasks or 1, of.node_count
        parts = {numbers.JOB: 1, numbers.NODE: nodes, numbers.TASK: tasks}
        gpus, models = 0, dict[str, None]()
        for value in said.all("-R rusage"):
            found = reservations(value or "")
            if found is None:
                said.back("-R rusage", value)
                continue
            for kind, number, whose, part, name in found:
                total = number * parts[_WHOSE[whose]]
                if kind == GPU:
                    gpus += total
                    models |= {name: None} if name else {}
                    if number and _WHOSE[whose] == numbers.NODE:
                        _one_host(heard, of, part)
                elif kind == LICENSE:
                    heard.request("Resource", number, **license_attributes(name))
                else:
                    each = scope if kind == "Memory" else numbers.JOB
                    numbers.say_size(heard, kind, units.rounded_up(total, parts[each]))
                    if part.partition("=")[2].partition("/")[0].replace(".", "").isdecimal():
                        heard.findings.append(finding("I-UNIT", _UNIT.format(part)))
                    if _WHOSE[whose] == (numbers.NODE if each != numbers.NODE else numbers.TASK):
                        _one_host(heard, of, part)
        self._say_gpus(said, heard, of, parts, (gpus, "".join(models) * (len(models) == 1)))

    def _say_gpus(
        self, said: ScriptOptions, heard: ScriptReading, of: numbers.TaskCounts,
        parts: Mapping[str, int], by_rusage: tuple[int, str],
    ) -> None:  # fmt: skip
        """Those of ``-gpu``, or the number and the model that ``rusage`` reserves."""
        value = said.last("-gpu")
        found = asked_gpus(value or "")
        if by_rusage[0]:
            numbers.say_gpus(heard, *by_rusage)
            if value is not None:
                said.back("-gpu", value, "rusage reserves GPUs as well")
        elif value is not None and found is not None:
            whose = _WHOSE[found.whose]
            numbers.say_gpus(heard, found.number * parts[whose], found.model)
            if whose == numbers.NODE:
                _one_host(heard, of, f"-gpu {value}")
            if found.rest:
                said.keep("-gpu", value, found.rest, NOT_ALL)
        elif value is not None:
            said.back("-gpu", value)


# decision 935
def _may_be_one(of: numbers.TaskCounts) -> bool:
    """Whether bsub may start one task on one host, which has all amounts of the job then."""
    return not of.tasks and of.processors is not None and of.processors.lo is None


def _one_host(heard: ScriptReading, of: numbers.TaskCounts, option: str) -> None:
    """Tell of an amount of each host, where nothing says how many there are."""
    if of.open_nodes:
        heard.note(f"{option}: on how many hosts is not said, one is assumed")


def say_geometry(text: str) -> Property | None:
    """The geometry that the variable says; None for another text."""
    found = _GROUPS.fullmatch(text)
    if found is None:
        return None
    groups = found[1].replace("(", "{").replace(")", "}")
    return Property("TaskDistribution", groups, {"type": "Geometry"})
