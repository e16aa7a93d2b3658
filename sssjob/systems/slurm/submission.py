"""What sbatch takes for what a job object says, and what a job object says for it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.integers import LARGEST, whole
from sssjob.model import stripped
from sssjob.nodes import plain, stated_count
from sssjob.records import dependencies
from sssjob.resource_names import LICENSE, gpu_model
from sssjob.systems.slurm import words as slurm
from sssjob.systems.slurm.directives import SYNTAX
from sssjob.task_counts import CountRange
from sssjob.translate import (
    environment,
    exclusive,
    fields,
    limits,
    mail,
    numbers,
    streams,
    waiting,
)
from sssjob.translate.arrays import Spelling
from sssjob.translate.counts import say_counts
from sssjob.translate.form import AmountsLayout, OptionForm, SubmitForm
from sssjob.translate.nodes import (
    any_of,
    but,
    conditions,
    features,
    names,
    plain_name,
    say_any_of,
    say_but,
    say_nodes,
    say_wishes,
    wishes,
)
from sssjob.translate.options import (
    Option,
    ScriptOptions,
    ScriptReading,
    ScriptWriting,
    WantedAmounts,
)
from sssjob.translate.patterns import Patterns
from sssjob.translate.quoting import word
from sssjob.translate.requests import NO_OPTION, JobRequest
from sssjob.translate.translator import Settings

MIB = 1 << 20
COUNT_MOST = (1 << 31) - 1  # sbatch reads 4294967298 tasks as 2, and says nothing
EACH_MOST = (1 << 16) - 3  # processors of a task, tasks of a node; the two numbers above are none
PER_NODE = " MB on each node"
NICE_MOST = (1 << 31) - 3  # what a user may take off a priority
NICE_UNSAID = 100  # what ``--nice`` takes off without a number
# The two numbers of 32 bits above the greatest are none (``unset``).
PRIORITY = fields.Priority(
    "--priority", range(1, (1 << 32) - 2), "only an operator sets it", "--nice", NICE_MOST,
    NICE_UNSAID,
)  # fmt: skip

_NO_MORE = "Slurm takes no more than"
_TIME, _READ = "%Y-%m-%dT%H:%M:%S", ("%Y-%m-%dT%H:%M", "%Y-%m-%d")
NO_TIME = "0 is no time there"
_OF_NODES = ("Architecture", "OperatingSystem", "Feature")
_RANGE = re.compile(r"([0-9]{1,10}[kKmM]?)(?:-([0-9]{1,10}[kKmM]?))?")
_KIND = r"[A-Za-z][\w.-]*"  # of GPUs: a number is how many of any
_IS_KIND = re.compile(_KIND, re.ASCII)
_AMOUNT = re.compile(rf"(?:({_KIND}):)?([0-9]{{1,10}})", re.ASCII)
QUEUES = fields.Queues("--partition", ",")
PARTITION = fields.Partition(QUEUES)
FEWER = "fewer nodes are asked for"  # than are named
_CYCLIC = "cyclic"
_ARBITRARY = "arbitrary"  # tasks stand as the list of nodes names one for each
_THOUSANDS = {"k": 1024, "m": 1024 * 1024}


def _held_words(wanted: WantedAmounts, parallel: str, made: ScriptWriting) -> list[str]:
    """Memory and scratch space are of one node."""
    found = [f"--ntasks={wanted.tasks}", f"--cpus-per-task={wanted.each}"]
    found += [f"--nodes={wanted.nodes}"] if wanted.nodes else []
    nodes = max(wanted.nodes, 1)
    if wanted.memory:
        found.append(f"--mem={math.ceil(Fraction(wanted.memory, MIB * nodes))}M")
    if wanted.scratch:
        found.append(f"--tmp={math.ceil(Fraction(wanted.scratch, MIB * nodes))}M")
    if wanted.seconds:
        found.append(f"--time={math.ceil(Fraction(wanted.seconds, 60))}")  # minutes
    return found


class Amounts(AmountsLayout):
    """Tasks, nodes, memory and time of sbatch."""

    def compose(self, asked: JobRequest, made: ScriptWriting, settings: Settings) -> None:
        """Counts first, then what is divided by them."""
        of = counts(asked)
        wanted = names(asked, of.wanted) if "Node" in asked.names else []
        self._counts(asked, made, of, wanted)
        self._memory(asked, made, of, settings.memory_scope)
        if disk := scratch(asked, of):
            made.option("--tmp", _size(asked, "Disk", disk))
        if seconds := wall(asked):
            made.option("--time", units.clock(seconds))
        self._resources(asked, made)
        self._where(asked, made, of, wanted)

    def _counts(
        self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts, wanted: list[str]
    ) -> None:
        written, each = of.written, of.each
        if of.nodes and not of.are_named(wanted):
            made.option("--nodes", _nodes(asked, of.nodes))
        if written:
            made.option("--ntasks", str(written))
        if of.per_node:
            made.option("--ntasks-per-node", str(of.per_node))
        if each > 1:
            made.option("--cpus-per-task", str(each))
        if numbers.spread(asked, of):
            made.option("--distribution", _CYCLIC)
        if of.processors and written and of.processors.exact is None:
            told = f"{of.processors.end} of a range: sbatch takes one number"
            asked.approximate("Processors", told)

    def _memory(
        self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts, scope: str
    ) -> None:
        if found := memory(asked, of, scope):
            option = "--mem-per-cpu" if found.is_of_processor else "--mem"
            made.option(option, _size(asked, "Memory", found.amount))

    def _resources(self, asked: JobRequest, made: ScriptWriting) -> None:
        """GPUs of the whole job, and licences."""
        licences: list[str] = []
        gpus: list[str] = []
        for _, name, kind, count in resources(asked):
            if kind == LICENSE:
                licences.append(f"{name}:{count}")
            else:
                gpus.append(f"{kind}:{count}" if kind else str(count))
        if gpus:
            made.option("--gpus", ",".join(gpus))
        if licences:
            made.option("--licenses", ",".join(licences))

    def _where(
        self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts, wanted: list[str]
    ) -> None:
        required, preferred = constraints(asked)
        if required:
            made.option("--constraint", required)
        if preferred:
            made.option("--prefer", preferred)
        if "Node" not in asked.names:
            return
        if unwanted := excluded(asked):
            made.option("--exclude", ",".join(_folded(unwanted)))
        if of.geometry and len(wanted) == len(of.geometry) and not of.round_robin:
            made.option("--distribution", _ARBITRARY)
            made.option("--nodelist", ",".join(_by_task(wanted, numbers.placed(asked, of))))
        elif wanted:
            made.option("--nodelist", ",".join(_folded(wanted)))

    def understand(self, said: ScriptOptions, heard: ScriptReading, settings: Settings) -> None:
        """Counts, then amounts by the number of nodes."""
        of = numbers.TaskCounts(
            _read_nodes(said), None, _whole(said, "--ntasks"), _whole(said, "--ntasks-per-node"),
            _whole(said, "--cpus-per-task"),
        )  # fmt: skip
        each_task = _EachTask.read(said, of)
        listed = said.last("--nodelist")
        named = expanded(listed or "") or ()
        if listed is not None and said.takes(Option("--distribution", _ARBITRARY)):
            if not _say_places(heard, listed, of):
                said.back("--nodelist", listed)
                said.back("--distribution", _ARBITRARY)
            listed = None
        cyclic = of.round_robin = said.takes(Option("--distribution", _CYCLIC))
        say_task_counts(heard, of, named)
        if cyclic and not of.round_robin:
            said.back("--distribution", _CYCLIC, "so many tasks are on each node")
        self._say_memory(said, heard, of, settings.memory_scope)
        self._say_limits(said, heard, of)
        self._say_resources(said, heard, of)
        each_task.say(said, heard, of)
        self._say_where(said, heard, of, listed)

    def _say_memory(
        self, said: ScriptOptions, heard: ScriptReading, of: numbers.TaskCounts, scope: str
    ) -> None:
        counts = {numbers.JOB: 1, numbers.NODE: of.granted_nodes, numbers.TASK: of.task_count}
        is_said = False
        for option, number in (
            ("--mem", counts[numbers.NODE]),
            ("--mem-per-cpu", counts[numbers.TASK] * (of.per_task or 1)),
        ):
            value = said.last(option)
            if value is None:
                continue
            amount = _bytes(value)
            if amount is None:
                said.back(option, value)
                continue
            if is_said:
                heard.note(f"{option}={value} does not count: sbatch refuses it beside --mem")
                continue
            is_said = True
            if (option == "--mem") is (scope != numbers.NODE):
                tell_open_nodes(heard, of, f"{option}={value}")
            total = amount * number
            numbers.say_size(heard, "Memory", units.rounded_up(total, counts[scope]))

    def _say_limits(
        self, said: ScriptOptions, heard: ScriptReading, of: numbers.TaskCounts
    ) -> None:
        if (value := said.last("--tmp")) is not None:
            if amount := _bytes(value):
                tell_open_nodes(heard, of, f"--tmp={value}")
                numbers.say_size(heard, "Disk", amount * of.granted_nodes)
            else:
                said.back("--tmp", value)
        numbers.say_amount(said, heard, "--time", "Duration", slurm.time_limit)

    def _say_resources(
        self, said: ScriptOptions, heard: ScriptReading, of: numbers.TaskCounts
    ) -> None:
        nodes, tasks = multiplied(of)
        for option, number, say in (
            ("--gpus", 1, _say_gpus), ("--gpus-per-node", nodes, _say_gpus),
            ("--gpus-per-task", tasks, _say_gpus), ("--gres", nodes, partial(_say_gres, said)),
        ):  # fmt: skip
            each = "tasks" if option == "--gpus-per-task" else "nodes"
            value = said.last(option)
            if value is None:
                continue
            if not number:
                how = "--nodes" if each == "nodes" else "--ntasks"
                said.back(option, value, f"it is for each of the {each}; {how} tells how many")
            elif not say(heard, value, number):
                said.back(option, value)
            elif number > 1:
                heard.note(_OF_EACH.format(f"{option}={value}", number, each))
        value = said.last("--licenses")
        if value is not None and not numbers.say_licences(heard, slurm.licences(value)):
            said.back("--licenses", value)

    def _say_where(
        self, said: ScriptOptions, heard: ScriptReading, of: numbers.TaskCounts, listed: str | None
    ) -> None:
        required = said.last("--constraint")
        if required is not None and not say_constraint(heard, required):
            said.back("--constraint", required)
        value = said.last("--prefer")
        if value is not None and not say_preferred(heard, value, required):
            said.back("--prefer", value)
        value = said.last("--exclude")
        if value is not None:
            if unwanted := expanded(value):
                say_but(heard, unwanted)
            else:
                said.back("--exclude", value)
        if listed is not None:
            found_nodes = expanded(listed)
            if found_nodes is None:
                said.back("--nodelist", listed)
            elif too_many(found_nodes, of.nodes):
                said.back("--nodelist", listed, FEWER)
            else:
                say_nodes(heard, found_nodes, of.nodes.hi if of.nodes else 0)
        if (value := said.last("--distribution")) is not None:
            said.back("--distribution", value)


_BEYOND = re.compile(r".*[PEZpez][Bb]?")
_OF_EACH = "{} is for each of {} {}: the job object has the sum"


class MemoryShare(NamedTuple):
    """Bytes for each processor, or else for each node."""

    amount: int
    is_of_processor: bool = False


def memory(asked: JobRequest, of: numbers.TaskCounts, scope: str) -> MemoryShare | None:
    """Take Memory for each processor where it is of a task, or nodes are not counted."""
    if scope == numbers.NODE or (scope == numbers.JOB and not of.open_nodes):
        value = _of_each_node(asked, of, scope, "Memory")
        return MemoryShare(value) if value else None
    value = numbers.memory(asked, of, scope, each=numbers.TASK)
    if not value:
        return None
    share = units.rounded_up(value, of.each)
    if of.each > 1 and scope == numbers.TASK:
        told = f"{numbers.size(value)} for each task, {of.each} processors"
        asked.convert("Memory", f"{told}: {numbers.size(share)} for each processor")
    return MemoryShare(share, is_of_processor=True)


def scratch(asked: JobRequest, of: numbers.TaskCounts) -> int:
    """Take Disk, in bytes of each node; 0 for none, or one that Slurm does not hold."""
    value = _of_each_node(asked, of, numbers.JOB, "Disk") or 0
    return value if is_held(asked, "Disk", units.rounded_up(value, MIB), PER_NODE) else 0


# decision 909
def _of_each_node(asked: JobRequest, of: numbers.TaskCounts, scope: str, name: str) -> int | None:
    """Take an amount in bytes of each node: of a range of nodes so that the fewest have it all."""
    nodes = of.nodes
    if scope == numbers.NODE or nodes is None or nodes.hi is None or nodes.exact is not None:
        return numbers.memory(asked, of, scope, each=numbers.NODE, name=name)
    fewest = nodes.lo or 1
    alone = replace(of, nodes=CountRange.exactly(fewest))
    value = numbers.memory(asked, alone, scope, each=numbers.NODE, name=name)
    if value:
        told = f"{numbers.size(value)} for each of {fewest} to {nodes.hi} nodes"
        asked.approximate(name, told)
    return value


# decision 904
def counts(asked: JobRequest) -> numbers.TaskCounts:
    """Take the counts of a job; those that are beyond what Slurm holds are refused."""
    of = numbers.added(asked)
    if of.nodes and not is_held(asked, "NodeCount", of.nodes.hi or of.nodes.least):
        of.nodes = None
    greater = max(of.per_node or 0, of.per_task or 0)
    if not is_held(asked, "TaskDistribution", greater, most=EACH_MOST):
        of.per_node = of.per_task = None
    if not is_held(asked, "TaskCount", of.tasks or 0):
        of.tasks = None
    if not is_held(asked, "Processors", of.written or 0) or not (
        is_held(asked, "Processors", of.each, " for a task", most=EACH_MOST)
    ):
        of.processors = None
    return of


def wall(asked: JobRequest) -> int:
    """Take the limit of the wall time in seconds, of which Slurm counts minutes; 0 for none."""
    seconds = numbers.wall(asked)
    return seconds if is_held(asked, "Duration", units.rounded_up(seconds, 60), " minutes") else 0


def resources(asked: JobRequest) -> Iterator[numbers.CountedResource]:
    """Take GPUs, of a type or any, and licences, with the number of each."""
    for found in numbers.counted(asked, typed=True, is_licence=slurm.is_licence, is_kind=_is_kind):
        if found.number <= COUNT_MOST:
            yield found
        else:
            numbers.refuse_all(asked, found.items, f"{_NO_MORE} {COUNT_MOST}")


def _is_kind(text: str) -> bool:
    return _IS_KIND.fullmatch(text) is not None


def is_held(
    asked: JobRequest, name: str, number: int, of: str = "", *, most: int = COUNT_MOST
) -> bool:
    """Whether Slurm holds a number ``of`` something; what asks for a greater one is refused."""
    if number > most:
        asked.leave(name, f"{_NO_MORE} {most}{of}")
    return number <= most


def _by_task(nodes: list[str], groups: tuple[tuple[int, ...], ...]) -> list[str]:
    """The node of each task, in the order of tasks."""
    of_task = {task: node for node, group in zip(nodes, groups, strict=True) for task in group}
    return [of_task[task] for task in sorted(of_task)]


def _say_places(heard: ScriptReading, value: str, of: numbers.TaskCounts) -> bool:
    """The node of each task as a geometry; whether the value is a list of nodes for all tasks."""
    nodes = value.split(",")
    number = len({*nodes})
    if (
        not all(map(plain, nodes))
        or of.tasks not in (None, len(nodes))
        or (of.nodes and of.nodes.exact != number)
    ):
        return False
    of.nodes, of.tasks, of.per_node = CountRange.exactly(number), len(nodes), None
    groups: dict[str, list[int]] = {}
    for task, node in enumerate(nodes):
        groups.setdefault(node, []).append(task)
    text = "".join(f"{{{','.join(map(str, tasks))}}}" for tasks in groups.values())
    heard.say("TaskDistribution", text, type="Geometry")
    say_nodes(heard, groups)
    return True


def constraints(asked: JobRequest) -> tuple[str, str]:
    """What every node has, and what is preferred: "" where nothing is asked for."""
    if asked.names.isdisjoint(_OF_NODES):
        return "", ""
    found: list[str] = []
    for name in ("Architecture", "OperatingSystem"):
        if text := plain_name(asked, name):
            found.append(text)
            asked.convert(name, "a feature, which the site has to give its nodes")
    choices = conditions(asked, ("Feature",), lambda part: "|".join(any_of(part, "Feature")))
    required = (*dict.fromkeys(features(asked, take=slurm.is_feature) + found), *choices)
    liked = wishes(asked, "Feature")
    # Where what is preferred is there, Slurm does not look at the constraint.
    return constraint(required), constraint((*required, *liked)) if liked else ""


def excluded(asked: JobRequest) -> list[str]:
    """The nodes that are not wanted, of all conditions together."""
    found = conditions(asked, ("Node",), lambda part: but(part, "Node"))
    return list(dict.fromkeys(name for each in found for name in each))


def constraint(parts: Iterable[str]) -> str:
    """What every node has; a choice among others stands in brackets."""
    found = list(parts)
    if len(found) > 1:
        found = [f"({each})" if "|" in each else each for each in found]
    return "&".join(found)


def say_constraint(heard: ScriptReading, value: str) -> bool:
    """Features, and choices between them; whether it is no other constraint."""
    parts = slurm.constraint(value)
    for part in parts or ():
        if len(part) > 1:
            say_any_of(heard, "Feature", part)
        else:
            heard.request("Feature", *part)
    return parts is not None


def say_preferred(heard: ScriptReading, value: str, required: str | None) -> bool:
    """Features that are wished beside the constraint, which has to stand there, too."""
    before, found = _parts(required) if required else [], _parts(value)
    liked = found[len(before) :]
    if found[: len(before)] != before or not liked or not all(map(slurm.is_feature, liked)):
        return False
    say_wishes(heard, "Feature", liked)
    return True


def _parts(value: str) -> list[str]:
    return [each.strip("()") for each in value.split("&")]


def too_many(names: Collection[str], nodes: CountRange | None) -> bool:
    """Whether more nodes are named than are asked for: Slurm leaves some of them out."""
    return nodes is not None and len({*names}) > nodes.least


def expanded(value: str) -> tuple[str, ...] | None:
    """Names of nodes; None where they are none, or too many."""
    try:
        found = slurm.expand(value, 10_000)
    except InvalidValue:
        return None
    return tuple(found) if found and all(map(plain, found)) else None


def _nodes(asked: JobRequest, nodes: CountRange) -> str:
    """``--nodes`` has a least and a most; without the one it is 1, without the other the same."""
    if nodes.hi is None:
        asked.approximate("NodeCount", "exactly the least: sbatch has no open range of nodes")
        return str(nodes.lo)
    return str(nodes.hi) if nodes.exact else f"{nodes.lo or 1}-{nodes.hi}"


def _size(asked: JobRequest, name: str, number: int) -> str:
    """Whole megabytes, rounded up; gigabytes where that is the same."""
    megabytes = units.rounded_up(number, MIB)
    if megabytes * MIB != number:
        asked.approximate(name, f"{megabytes} MB, rounded up")
    whole, rest = divmod(megabytes, 1024)
    return f"{megabytes}M" if rest else f"{whole}G"


def _bytes(text: str) -> int | None:
    """An amount of memory, in megabytes without a letter; 0 stands for all there is.

    sbatch takes no letter beyond T, which records may have.
    """
    if _BEYOND.fullmatch(text):
        return None
    try:
        amount = slurm.memory(text)
    except (InvalidValue, IndexError):
        return None
    return math.ceil(amount) if amount and amount <= LARGEST else None


def _folded(texts: list[str]) -> list[str]:
    from sssjob.nodes import fold

    text = fold(texts)
    return [text] if text else texts


def _whole(said: ScriptOptions, option: str) -> int | None:
    value = said.last(option)
    if value is None:
        return None
    if (number := whole(value, 10)) and number <= COUNT_MOST:
        return number
    said.back(option, value)
    return None


def _read_nodes(said: ScriptOptions) -> CountRange | None:
    value = said.last("--nodes")
    found = _RANGE.fullmatch(value or "")
    if value is None or found is None:
        if value is not None:
            said.back("--nodes", value)
        return None
    lo, hi = (_thousands(text) for text in (found[1], found[2] or found[1]))
    if not 0 < lo <= hi <= COUNT_MOST:
        said.back("--nodes", value)
        return None
    return CountRange(lo, hi)


def _thousands(text: str) -> int:
    return int(text.rstrip("kKmM")) * _THOUSANDS.get(text[-1].lower(), 1)


def say_task_counts(heard: ScriptReading, of: numbers.TaskCounts, named: Collection[str]) -> None:
    """Tasks as they are counted, and the processors that they come to."""
    if of.per_node and not of.nodes and not of.tasks and not named:
        of.nodes = CountRange.exactly(1)  # as Slurm does then
    say_counts(heard, of, named=len({*named}))


# decision 967
def each_task(of: numbers.TaskCounts, text: str) -> str:
    """Take the processors of each task out of a text such as ``cpu=4,gres/gpu:2``; the rest of it.

    All of it where the counts have other processors of each task.
    """
    number, rest = slurm.processors_of(text)
    if not number or number > EACH_MOST or of.per_task not in (None, number):
        return text
    of.per_task = number
    return rest


class _EachTask(NamedTuple):
    """What ``--tres-per-task`` says, and what of it has not been read yet."""

    value: str
    rest: str

    @classmethod
    def read(cls, said: ScriptOptions, of: numbers.TaskCounts) -> _EachTask:
        """Take it, and its processors into the counts."""
        value = said.last("--tres-per-task") or ""
        return cls(value, each_task(of, value))

    def say(self, said: ScriptOptions, heard: ScriptReading, of: numbers.TaskCounts) -> None:
        """Say its GPUs; what is something else is kept."""
        if not self.rest:
            return
        option, (_, tasks) = "--tres-per-task", multiplied(of)
        gpus, rest = slurm.gpus_of(self.rest)
        if gpus and not tasks:
            told = "it is for each of the tasks; --ntasks tells how many"
            said.keep(option, self.value, self.rest, told)
            return
        for each in gpus:
            numbers.say_gpus(heard, each.number * tasks, each.kind)
        if gpus and tasks > 1:
            heard.note(_OF_EACH.format(f"{option}={self.rest}", tasks, "tasks"))
        if rest:
            said.keep(option, self.value, rest, fields.NOT_ALL if rest != self.value else "")


def multiplied(of: numbers.TaskCounts) -> tuple[int, int]:
    """How many nodes and tasks amounts of each of them are multiplied by; 0 where it varies."""
    varies = of.open_nodes or (of.nodes is not None and of.nodes.exact is None)
    if varies:
        return 0, of.count or 0
    return of.node_count, of.count or of.task_count


def tell_open_nodes(heard: ScriptReading, of: numbers.TaskCounts, said: str) -> None:
    """Tell of an amount of each node where nothing says on how many the tasks are."""
    if of.open_nodes:
        heard.note(f"{said}: on how many nodes is not said, {numbers.assumed(of)}")


def _say_gpus(heard: ScriptReading, value: str, number: int) -> bool:
    found = [_AMOUNT.fullmatch(part) for part in value.split(",")]
    if not all(found):
        return False
    for part in filter(None, found):
        numbers.say_gpus(heard, int(part[2]) * number, part[1] or "")
    return True


def _say_gres(said: ScriptOptions, heard: ScriptReading, value: str, nodes: int) -> bool:
    """``gpu[:type][:count]`` of each node; other generic resources are kept as they are."""
    gpus, rest = slurm.gpus_of(value)
    for each in gpus:
        numbers.say_gpus(heard, each.number * nodes, each.kind)
    if gpus and rest:
        said.keep("--gres", value, rest, fields.NOT_ALL)
    return bool(gpus)


class AtOnce(fields.Rule):
    """Nodes, features and resources of a job that is submitted at once, by plain names only."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Each with its option."""
        self._features(asked, made)
        self._node(asked, made)
        self._distribution(asked, made)
        self._resources(asked, made)

    def _features(self, asked: JobRequest, made: ScriptWriting) -> None:
        found = []
        for item in asked.take("Feature"):
            if plain(stripped(item.text)):
                found.append(stripped(item.text))
            else:
                asked.refuse(item, "it is no plain name")
        if found:
            made.option("--constraint", "&".join(dict.fromkeys(found)))

    def _node(self, asked: JobRequest, made: ScriptWriting) -> None:
        """One node by its name, of a job on one node."""
        found = asked.take("Node")
        assert made.wanted is not None
        for item in found:
            text = stripped(item.text)
            several = len(found) > 1 or made.wanted.nodes > 1 or (stated_count(item) or 1) > 1
            if several or not plain(text):
                asked.refuse(item, "only one node can be named, by its plain name")
            else:
                made.option("--nodelist", text)
                if not made.wanted.nodes:
                    made.option("--nodes", "1")

    def _distribution(self, asked: JobRequest, made: ScriptWriting) -> None:
        """How tasks stand on nodes, as far as it is a number or the rule called cyclic here."""
        assert made.wanted is not None
        for item in asked.take("TaskDistribution", "type"):
            text, kind = stripped(item.text), item.said("type")
            number = whole(text)
            if number and kind in ("", "TasksPerNode"):
                made.option("--ntasks-per-node", str(number))
            elif number == made.wanted.each and kind == "ProcessorsPerTask":
                continue  # which is among the amounts
            elif text == "RoundRobin" and kind in ("", "Rule"):
                made.option("--distribution", _CYCLIC)
            else:
                asked.refuse(item, NO_OPTION)

    def _resources(self, asked: JobRequest, made: ScriptWriting) -> None:
        """GPUs without a type, and licences."""
        for item in asked.items("Resource"):
            if gpu_model(item.attributes):
                asked.refuse(item, "it is neither a GPU nor a License")
        AMOUNTS._resources(asked, made)


AMOUNTS = Amounts()
# sbatch takes every backslash out of a name, and nothing for a word then.
FILES = Patterns(
    "sbatch",
    {"Id": "%j", "ArrayId": "%A", "Name": "%x", "User": "%u", "Node": "%N"},
    r"%%|%[0-9]*[A-Za-z]?|\\",
    in_array={"ArrayIndex": "%a"},
    escapes={"%": "%%"},
    never=re.compile(r"\\"),
    off="\\",
    padded=True,
    array=Option("--array"),
)

# fmt: off
FORM = OptionForm(
    name="sbatch",
    syntax=SYNTAX,
    rules=(
        fields.TextOption("Project",                 "--account", word),
        QUEUES,
        fields.TextOption("QualityOfService",        "--qos", word),
        fields.TextOption("Reservation",             "--reservation", fields.alone, fields.alone),
        fields.TextOption("InitialWorkingDirectory", "--chdir"),
        PARTITION,
        streams.Streams("--input", "--output", "--error", append=Option("--open-mode", "append"),
                        files=FILES),
        environment.Shell(),
        environment.Environment(Option("--export", "NONE"), Option("--export", "ALL"), "--export"),
        waiting.LocalTime("EligibleTime", "--begin", _TIME, _READ, no_zero=NO_TIME),
        waiting.LocalTime("DeadlineTime", "--deadline", _TIME, _READ, no_zero=NO_TIME),
        waiting.Waits("--dependency", slurm.waited_for, dependencies.WORDS, replaced=True),
        waiting.Hold(Option("--hold")),
        mail.Mail("--mail-type", ",", ("BEGIN", "END", "ALL", "NONE"), "--mail-user"),
        fields.Switch("Restartable", Option("--no-requeue"), Option("--requeue")),
        fields.Interactive(instead="call salloc"),
        exclusive.Exclusive(Option("--exclusive")),
        fields.Only("Suspendable", True, "nothing keeps a job from being suspended"),
        fields.Manager("slurm"),
    ),
    layout=AMOUNTS,
    at_once=(
        fields.RefusedProperty("Priority", "only an operator sets the priority of a job"),
        AtOnce(), limits.Limits(scratch=True),
    ),
    in_script=(
        fields.Name("--job-name"),
        fields.TextOption("Machine", "--clusters", fields.alone, fields.alone),
        PRIORITY,
        limits.Limits(),
    ),
    counts=counts,
    held_name=fields.Name("--job-name"),
    words=_held_words,
    scratch=True,
    array=Spelling("--array", "SLURM_ARRAY_TASK_ID"),
    lists={"--mail-type": ",", "--dependency": ",", "--gres": ","},
)
SBATCH = SubmitForm(FORM)
# fmt: on
