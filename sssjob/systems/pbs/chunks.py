"""Chunks of PBS (``select=2:ncpus=4:mpiprocs=2``) and nodes of TORQUE (``nodes=2:ppn=4:ib``)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.integers import whole
from sssjob.model import TaskGroup, stripped
from sssjob.nodes import plain
from sssjob.records.readers import licences
from sssjob.systems.pbs.node_specs import (
    GPU_COUNTS,
    MODEL,
    NodeSpec,
    chunks,
    is_mark,
    is_node,
    is_of_site,
    is_property,
    most_processors,
    parts,
    totals,
)
from sssjob.systems.pbs.words import clock, limit, size, written
from sssjob.task_counts import CountRange
from sssjob.translate import exclusive, numbers
from sssjob.translate.form import AmountsLayout
from sssjob.translate.nodes import (
    features,
    names,
    no_more_than,
    plain_name,
    say_nodes,
)
from sssjob.translate.options import ScriptOptions, ScriptReading, ScriptWriting
from sssjob.translate.requests import JobRequest
from sssjob.translate.translator import Settings


def shared(asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts) -> None:
    """What both have for the whole job."""
    if wall := numbers.wall(asked):
        made.option("-l walltime", clock(wall))
    if swap := numbers.in_all(asked, of, "Swap"):
        made.option("-l vmem", written(swap))


def say_shared(said: ScriptOptions, heard: ScriptReading) -> None:
    """The same back."""
    numbers.say_amount(said, heard, "-l walltime", "Duration", limit)
    numbers.say_amount(said, heard, "-l vmem", "Swap", size)
    numbers.say_amount(said, heard, "-l file", "Disk", size)


def places(
    asked: JobRequest, of: numbers.TaskCounts, take: Callable[[str], bool] = plain
) -> list[str]:
    """Take the names of nodes; tasks on each of them count nodes where nothing does."""
    wanted = names(asked, of.wanted, take)
    if of.nodes is None and of.per_node and of.written:
        nodes = units.rounded_up(of.written, of.per_node)
        of.nodes = CountRange.exactly(nodes)
    return no_more_than(asked, wanted, of.node_count)


def shares(asked: JobRequest, of: numbers.TaskCounts) -> list[tuple[int, int]]:
    """So many nodes with so many tasks each: the first ones have one more (5.3)."""
    nodes = of.node_count
    tasks = of.written or nodes * (of.per_node or 1)
    if of.per_node:
        full, rest = divmod(tasks, of.per_node)
        if full + bool(rest) == nodes:
            return [(full, of.per_node)] * bool(full) + [(1, rest)] * bool(rest)
        asked.approximate("TaskDistribution", f"{tasks} tasks on {nodes} nodes", met=False)
    if tasks < nodes:
        asked.approximate("NodeCount", f"{tasks} nodes, one for each task", met=False)
    return evenly(tasks, nodes)


def evenly(tasks: int, nodes: int) -> list[tuple[int, int]]:
    """So many nodes with so many tasks each: the first ones have one more.

    >>> evenly(5, 2), evenly(4, 2)
    ([(1, 3), (1, 2)], [(2, 2)])
    """
    each, more = divmod(tasks, nodes)
    return [(number, count) for number, count in ((more, each + 1), (nodes - more, each))
            if number and count]  # fmt: skip


def on_nodes(found: list[NodeSpec], wanted: list[str]) -> Iterator[tuple[NodeSpec, str]]:
    """Parts with the names of nodes, one for each; "" for those of which any node will do."""
    left = deque(wanted)
    for part in found:
        free = part.count
        while free and left:
            yield replace(part, count=1, values=dict(part.values)), left.popleft()
            free -= 1
        if free:
            yield replace(part, count=free), ""


def _hosted(found: list[NodeSpec], wanted: list[str]) -> list[NodeSpec]:
    """Chunks on nodes with these names."""
    hosted = list(on_nodes(found, wanted))
    for part, name in hosted:
        part.values |= {"host": name} if name else {}
    return [part for part, _ in hosted]


def approximated(asked: JobRequest, of: numbers.TaskCounts) -> None:
    """Ranges have no place: the least is asked for."""
    for name, count in (("NodeCount", of.nodes), ("Processors", of.processors)):
        if count and count.exact is None:
            asked.approximate(name, f"{count.end} of a range: only one number can be asked for")


def _of_groups(asked: JobRequest, of: numbers.TaskCounts, tasks: int) -> None:
    """Tell of what a job says of all its task groups, which have the chunks."""
    for name in ("NodeCount", "TaskDistribution", *(["TaskCount"] if of.tasks != tasks else [])):
        if asked.items(name):
            asked.approximate(name, "the task groups say it", met=False)


class Chunks(AmountsLayout):
    """``select`` and ``place`` of PBS Professional and OpenPBS."""

    def compose(self, asked: JobRequest, made: ScriptWriting, settings: Settings) -> None:
        """A chunk for each node, or for each task where nothing says how many nodes."""
        every = asked.groups()
        groups = every if len(every) > 1 else []  # what the only one says is said of its job
        of = numbers.shape(asked) if groups else numbers.added(asked)
        beside = bool(every) and numbers.beside_own(asked, every, of, "Memory")
        found: list[NodeSpec] = []
        names_ = numbers.licence_names((asked, *every), is_of_site)
        taken = {each.lower() for each in names_}

        def is_free(name: str) -> bool:
            return is_of_site(name) and name.lower() not in taken

        if not groups:
            whose = every[0] if every and not beside else asked
            found = self._chunks(asked, of, settings, memory_of=whose, take=is_free)
        shapes: list[numbers.TaskCounts] = []
        licences: Counter[str] = Counter()
        tasks = 0
        for view in groups:
            mine = numbers.shape(view)
            tasks += mine.count or 1
            shapes.append(mine)
            whose_ = None if beside else view
            chunks = self._chunks(view, mine, settings, memory_of=whose_, take=is_free)
            if not chunks:  # a task beside those of other groups
                _one(chunks)
            licences.update(_with_resources(view, chunks))
            found += chunks
        if groups:
            of.tasks_of = tuple(each.task_count for each in shapes)
            self._marked(asked, found, is_free)
            if not any("host" in part.values for part in found):
                found = _hosted(found, names(asked, sum(part.count for part in found)))
        if groups and beside:  # on nodes, if all of these count them
            whole_ = next((each for each in shapes if not each.nodes), shapes[0])
            self._memory(asked, whole_, found, settings.memory_scope)
        if groups:
            total = sum(part.count * part.number("ncpus") for part in found)
            # Names of nodes alone count none of them: the groups run there. # decision 1085
            if of.processors or not of.named:
                numbers.compared(asked, of, total)
            _of_groups(asked, of, tasks)
        if licences:
            for view in groups:
                view.convert("Resource", "licences of the whole job", numbers.is_license)
        licences.update(_with_resources(asked, found))
        if found:
            made.option("-l select", "+".join(map(str, found)))
        if place := _place(asked, of):
            made.option(PLACE, place)
        shared(asked, made, of)
        for name, count in licences.items():
            made.option(f"-l {name}", str(count))

    def _chunks(
        self, asked: JobRequest, of: numbers.TaskCounts, settings: Settings, *,
        memory_of: JobRequest | None, take: Callable[[str], bool],
    ) -> list[NodeSpec]:  # fmt: skip
        approximated(asked, of)
        wanted = places(asked, of)
        found: list[NodeSpec] = []
        if of.nodes:
            for number, tasks in shares(asked, of):
                found.append(NodeSpec(number, _counted(of, tasks)))
        elif of.count or of.processors or of.per_task:
            found.append(NodeSpec(of.count or 1, _counted(of, 1)))
        numbers.compared(asked, of, sum(part.count * part.number("ncpus") for part in found))
        if memory_of is not None:
            self._memory(memory_of, of, found, settings.memory_scope)
        self._marked(asked, found, take)
        return _hosted(found, wanted)

    def _marked(
        self, asked: JobRequest, found: list[NodeSpec], take: Callable[[str], bool]
    ) -> None:
        """What each chunk has to have, of whoever asks for it."""
        for mark in features(asked, take=take, fold=str.lower):
            for part in found or _one(found):
                part.values[mark] = "True"
        if arch := plain_name(asked, "Architecture"):
            for part in found or _one(found):
                part.values.setdefault("arch", arch)

    def _memory(
        self, asked: JobRequest, of: numbers.TaskCounts, found: list[NodeSpec], scope: str
    ) -> None:
        total = numbers.one(asked, "Memory", numbers.MOST)
        if total is None:
            return
        if not found:
            _one(found)
        chunks = sum(part.count for part in found)
        whose = scope if asked.owner is asked.job else numbers.TASK  # of a task group
        for part in found:
            tasks = max(part.number("mpiprocs"), 1)
            share = {
                numbers.JOB: Fraction(total, chunks), numbers.TASK: Fraction(total * tasks),
                numbers.NODE: Fraction(total, 1 if of.nodes else chunks),
            }[whose]  # fmt: skip
            kilobytes = units.rounded_up(ceil(share), 1024) * 1024
            part.values["mem"] = written(kilobytes)
            if kilobytes != share:
                asked.approximate("Memory", f"{written(kilobytes)} of each chunk, rounded up")
            elif kilobytes != total:
                how = f"{numbers.shown(total, whose)}, {chunks} chunks"
                asked.convert("Memory", f"{how}: {written(kilobytes)} of each chunk")

    def understand(self, said: ScriptOptions, heard: ScriptReading, settings: Settings) -> None:
        """One kind of chunk is the job itself, several are task groups."""
        scatter = _say_place(said, heard)
        value = said.last("-l select")
        found = chunks(value) if value is not None else []
        if found is None or not all(map(_known, found)):
            said.back("-l select", value)
        elif len(found) == 1:
            _say_chunk(found[0], heard, settings.memory_scope, scatter=scatter)
        elif (
            found
            and all(part.values.get("host") for part in found)
            and _alike(found)
            and _are_other(found)
        ):
            _say_hosts(found, heard, settings.memory_scope, scatter=scatter)
        elif found:
            for part in found:
                inner = ScriptReading()
                _say_chunk(part, inner, numbers.TASK)
                heard.items.append(TaskGroup(inner.all()))
        if scatter:
            heard.say("TaskDistribution", "RoundRobin", type="Rule")
        if value is None:
            _say_flat(said, heard, settings.memory_scope)
        say_shared(said, heard)


def _place(asked: JobRequest, of: numbers.TaskCounts) -> str:
    """How chunks stand, whether they share their nodes, and the rest that was kept, in order."""
    words = [_SCATTER] if numbers.spread(asked, of) else []
    words += exclusive.wanted(asked, _SHARING)
    for item in asked.mine("Extension", "pbs"):
        if item.attributes.get("name") == PLACE:
            others = item.text.split(":")
            if {*map(_rank, others)} & {*map(_rank, words)}:
                asked.refuse(item, "the job says it otherwise")
            else:
                words += others
    return ":".join(sorted(words, key=_rank))


def _rank(word: str) -> int:
    """Where a part of ``place`` stands: the arrangement first, groups of nodes last."""
    return 0 if word in _ARRANGEMENTS else 2 if word.startswith("group=") else 1


def _say_place(said: ScriptOptions, heard: ScriptReading) -> bool:
    """Whether each chunk has a node of its own. What nodes are shared is said; the rest is kept."""
    value = said.last(PLACE)
    if value is None:
        return False
    words = value.split(":")
    mine = [word for word in words if word == _SCATTER or word in _SHARING.values()]
    rest = [word for word in words if word not in mine]
    if not mine or len({*map(_rank, words)}) < len(words):
        said.back(PLACE, value)
        return False
    for text, word in _SHARING.items():
        if word in mine:
            exclusive.say(heard, text)
    if rest:
        said.keep(PLACE, value, ":".join(rest), "")
    return _SCATTER in mine


def _with_resources(asked: JobRequest, found: list[NodeSpec]) -> dict[str, int]:
    """Give chunks the GPUs of whoever asks for them, and say how many licences are asked for.

    Where task groups have GPUs, those that the job names beside them are these.
    """
    gpus, licences = numbers.resources(asked, typed=True, is_licence=is_of_site, fold=str.lower)
    if gpus.number and any("ngpus" in part.values for part in found):
        asked.approximate("Resource", "the task groups say it", met=False, where=numbers.is_gpu)
    elif gpus.number:
        total = sum(part.count for part in found or _one(found))
        for part in found:
            part.values["ngpus"] = str(ceil(Fraction(gpus.number, total)))
            part.values |= {MODEL: gpus.kind} if gpus.kind else {}
        if gpus.number % total:
            asked.approximate("Resource", "GPUs of each chunk, rounded up", where=numbers.is_gpu)
        if gpus.kind:
            asked.convert(
                "Resource", f"{MODEL}, which the site has to give its nodes", numbers.is_gpu
            )
    counts: Counter[str] = Counter()
    for name, count in licences:
        counts[name] += count
    return counts


def _one(found: list[NodeSpec]) -> list[NodeSpec]:
    found.append(NodeSpec(1, {"ncpus": "1"}))
    return found


def _counted(of: numbers.TaskCounts, tasks: int) -> dict[str, str]:
    values = {"ncpus": str(tasks * of.each)}
    if of.tasks or of.per_node or of.per_task or tasks > 1 or not of.nodes:
        values["mpiprocs"] = str(tasks)
    if of.each > 1 and "mpiprocs" in values:
        values["ompthreads"] = str(of.each)
    return values


PLACE = "-l place"
NODES = "-l nodes"
PROCS = "procs"  # the Extension that says that processors may be on any nodes
_SCATTER = "scatter"
_ARRANGEMENTS = ("free", "pack", _SCATTER, "vscatter")
_SHARING = {exclusive.NODES: "excl", exclusive.HOSTS: "exclhost"}
_COUNTED = ("ncpus", "mpiprocs", "ompthreads", *GPU_COUNTS)
_UNDERSTOOD = {*_COUNTED, "mem", "host", "arch", MODEL}


def _known(part: NodeSpec) -> bool:
    """Whether a chunk holds only what a job object has a place for."""
    if part.name or part.marks:
        return False
    for name, value in part.values.items():
        if name not in _UNDERSTOOD and name not in part.features:
            return False
        if name in _COUNTED and not part.number(name):
            return False
        if name == MODEL and not (plain(value) and part.gpus):
            return False
    try:
        size(part.values.get("mem", "0"))
    except InvalidValue:
        return False
    each = part.number("ncpus") or 1
    tasks = part.number("mpiprocs") or 1
    threads = part.number("ompthreads")
    return each % tasks == 0 and (not threads or threads == each // tasks)


# decision 343
def _say_flat(said: ScriptOptions, heard: ScriptReading, scope: str) -> None:
    """``-l ncpus=4,mem=2gb,ngpus=1``: without select, PBS makes one chunk of it."""
    chunk = NodeSpec(1)
    if "-l nodes" not in said.names:
        for name in ("ncpus", *GPU_COUNTS, MODEL):
            value = said.last(option := f"-l {name}")
            if value is None:
                continue
            chunk.values[name] = value
            if not _known(chunk):
                said.back(option, chunk.values.pop(name))
    counted = bool(chunk.values)

    def take_memory(text: str) -> None:
        size(text)
        chunk.values["mem"] = text

    said.give("-l mem", take_memory)
    if (arch := said.last("-l arch")) is not None:
        if plain(arch):
            heard.request("Architecture", arch)
        else:
            said.back("-l arch", arch)
    if counted:
        _say_chunk(chunk, heard, scope)
    elif "mem" in chunk.values:
        numbers.say_size(heard, "Memory", ceil(size(chunk.values["mem"])))


def _alike(found: list[NodeSpec]) -> bool:
    plain_ = [{name: value for name, value in part.values.items() if name != "host"}
              for part in found]  # fmt: skip
    return all(part.count == 1 for part in found) and all(each == plain_[0] for each in plain_)


def _are_other(found: list[NodeSpec]) -> bool:
    """Whether each chunk is on a host of its own: two on one host are no two nodes."""
    return len({part.values["host"] for part in found}) == len(found)


def _say_hosts(found: list[NodeSpec], heard: ScriptReading, scope: str, *, scatter: bool) -> None:
    first = {name: value for name, value in found[0].values.items() if name != "host"}
    _say_chunk(NodeSpec(len(found), first), heard, scope, scatter=scatter)
    say_nodes(heard, [part.values["host"] for part in found])


def _say_chunk(part: NodeSpec, heard: ScriptReading, scope: str, *, scatter: bool = False) -> None:
    """Chunks of one task stand for tasks, others for nodes.

    Where they ``scatter``, so many tasks are on each node by that, and there is no other rule.
    """
    cpus = part.number("ncpus") or 1
    tasks = part.number("mpiprocs") or 1  # the default of a chunk with processors
    said = "mpiprocs" in part.values
    if said and tasks == 1 and not part.values.get("host"):
        heard.say("TaskCount", part.count)
    else:
        numbers.say_count(heard, "NodeCount", part.count, part.count)
        if not scatter and (said or cpus > 1):
            heard.say("TaskDistribution", tasks, type="TasksPerNode")
        if tasks < cpus or (scatter and tasks > 1):  # else each task is taken to have one processor
            heard.say("TaskCount", part.count * tasks)
    numbers.say_count(heard, "Processors", part.count * cpus, part.count * cpus)
    if "mem" in part.values:
        share = ceil(size(part.values["mem"]))
        factor = {numbers.JOB: Fraction(part.count), numbers.NODE: Fraction(1),
                  numbers.TASK: Fraction(1, tasks)}[scope]  # fmt: skip
        numbers.say_size(heard, "Memory", ceil(share * factor))
    if part.gpus:
        numbers.say_gpus(heard, part.gpus * part.count, part.values.get(MODEL, ""))
    if "arch" in part.values:
        heard.request("Architecture", part.values["arch"])
    if "host" in part.values:
        heard.request("Node", part.values["host"])
    for name in part.features:
        heard.request("Feature", name)


class Nodes(AmountsLayout):
    """``nodes`` of TORQUE, and resources of the whole job."""

    def compose(self, asked: JobRequest, made: ScriptWriting, settings: Settings) -> None:
        """Nodes with processors and properties, then what is of the job."""
        of = numbers.added(asked)
        numbers.only_processors(asked, of)
        approximated(asked, of)
        (gpus, _), licences = numbers.resources(asked)
        marks = features(asked, take=is_property if gpus else is_mark)
        found: list[NodeSpec] = []
        counted = of.nodes or of.count or of.processors or of.per_task
        wanted = places(asked, of, is_node)
        if of.nodes:
            found = [NodeSpec(number, _processors(tasks * of.each) if counted else {})
                     for number, tasks in shares(asked, of)]  # fmt: skip
        elif counted:
            found = [NodeSpec(1, _processors((of.count or 1) * of.each))]
        total = sum(part.count * (part.number("ppn") or 1) for part in found)
        numbers.compared(asked, of, total)
        if procs := self._anywhere(asked, of, total):
            made.option(f"-l {PROCS}", procs)
            found = []
        found = [replace(part, name=name) for part, name in on_nodes(found, wanted)]
        found = found or ([NodeSpec(1)] if marks or gpus else [])
        nodes = sum(part.count for part in found)
        for part in found:
            if gpus:
                part.values["gpus"] = str(ceil(Fraction(gpus, nodes)))
            part.marks = [*part.marks, *marks]
        if gpus and gpus % nodes:
            asked.approximate("Resource", "GPUs of each node, rounded up", where=numbers.is_gpu)
        if text := self._unlike(asked, found) or "+".join(map(str, found)):
            made.option(NODES, text)
        self._memory(asked, made, of, settings.memory_scope)
        if disk := numbers.in_all(asked, of, "Disk"):
            made.option("-l file", written(disk))
        for name, option in (("Architecture", "-l arch"), ("OperatingSystem", "-l opsys")):
            if text := plain_name(asked, name):
                made.option(option, text)
        shared(asked, made, of)
        if licences:
            made.option("-l gres", "%".join(f"{name}+{count}" for name, count in licences))

    def _anywhere(self, asked: JobRequest, of: numbers.TaskCounts, total: int) -> str:
        """Processors that may be on any nodes, if that was said and as many are asked for."""
        for item in asked.mine("Extension", "torque"):
            if item.attributes.get("name") == PROCS:
                if of.nodes is None and whole(stripped(item.text), 9) == total:
                    return str(total)
                asked.refuse(item, "the job asks for other nodes")
        return ""

    def _unlike(self, asked: JobRequest, found: list[NodeSpec]) -> str:
        """Nodes that were kept, as they are not alike, if they still are what is asked for."""
        for item in asked.mine("Extension", "torque"):
            if item.attributes.get("name") == NODES:
                if not found or totals(parts(item.text) or []) == totals(found):
                    return item.text
                asked.refuse(item, "the job asks for other nodes")
        return ""

    def _memory(
        self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts, scope: str
    ) -> None:
        if scope == numbers.TASK:
            if value := numbers.memory(asked, of, scope, each=numbers.TASK):
                share = units.rounded_up(value, of.each)  # a process stands for each processor
                made.option("-l pmem", written(share))
                if of.each > 1:
                    asked.convert("Memory", f"{numbers.shown(value, scope)}, {of.each} processors: "
                                            f"{written(share)} for each processor")  # fmt: skip
        elif value := numbers.memory(asked, of, scope, each=numbers.JOB):
            made.option("-l mem", written(value))

    def understand(self, said: ScriptOptions, heard: ScriptReading, settings: Settings) -> None:
        """Nodes, then what is of the whole job."""
        value = said.last(NODES)
        tasks = _say_procs(said, heard) if value is None and not _has_own_node(said) else 0
        if tasks:
            found: list[NodeSpec] | None = []
        else:
            found, tasks = parts(value) if value is not None else _flat_node(said), 1
        nodes = sum(part.count for part in found or ())
        if found is None or not _simple(found):
            said.back(NODES, value, "nodes that are not alike: their sums are read, too")
            tasks = _say_unlike(found or [], heard)
        elif found:
            first = found[0]
            cpus = first.number("ppn") or 1
            tasks = nodes * cpus
            if first.name:
                say_nodes(heard, [part.name for part in found])
            numbers.say_count(heard, "NodeCount", nodes, nodes)
            if value is not None and (more := _say_ncpus(said, heard, found)):
                tasks = more
            elif "ppn" in first.values:
                numbers.say_count(heard, "Processors", tasks, tasks)
            if "ppn" in first.values and tasks == nodes * cpus:
                heard.say("TaskDistribution", cpus, type="TasksPerNode")
            if first.gpus:
                numbers.say_gpus(heard, first.gpus * nodes)
            for mark in first.marks:
                heard.request("Feature", mark)
        self._say_memory(said, heard, max(nodes, 1), tasks, settings.memory_scope)
        for option, name in (("-l arch", "Architecture"), ("-l opsys", "OperatingSystem")):
            if value := said.last(option):
                heard.request(name, value)
            elif value is not None:
                said.back(option, value)
        say_shared(said, heard)
        if value := said.last("-l gres"):
            _say_licences(said, heard, value)
        elif value is not None:
            said.back("-l gres", value)

    def _say_memory(
        self, said: ScriptOptions, heard: ScriptReading, nodes: int, tasks: int, scope: str
    ) -> None:
        """``mem`` is that of the job; what each process may have beside it has no place."""
        counts = {numbers.JOB: 1, numbers.NODE: nodes, numbers.TASK: tasks}
        amount = False
        for option, number in (("-l mem", 1), ("-l pmem", tasks)):
            value = said.last(option)
            if value is None:
                continue
            try:
                total = ceil(size(value)) * number
            except InvalidValue as error:
                said.back(option, value, str(error))
                continue
            if amount:
                said.back(option, value, "the memory of the whole job is asked for as well")
                continue
            numbers.say_size(heard, "Memory", units.rounded_up(total, counts[scope]))
            amount = True


def _say_unlike(found: list[NodeSpec], heard: ScriptReading) -> int:
    """How many nodes and processors there are together, and which, where each is named."""
    if not (told := totals(found)):
        return 1
    nodes, processors = told
    names_ = [part.name for part in found]
    if all(names_) and len({*names_}) == len(names_):
        say_nodes(heard, names_)
    numbers.say_count(heard, "NodeCount", nodes, nodes)
    if processors:
        numbers.say_count(heard, "Processors", processors, processors)
    if gpus := sum(part.count * part.gpus for part in found):
        numbers.say_gpus(heard, gpus)
    if all({*part.properties} == {*found[0].properties} for part in found):
        for mark in filter(plain, found[0].properties):
            heard.request("Feature", mark)
    return processors or 1


def _flat_node(said: ScriptOptions) -> list[NodeSpec]:
    """``-l ncpus=4,gpus=1``: without nodes, TORQUE gives it on one of them."""
    node = NodeSpec(1)
    for name, place in (("ncpus", "ppn"), *zip(GPU_COUNTS, GPU_COUNTS, strict=True)):
        value = said.last(option := f"-l {name}")
        if value is None:
            continue
        node.values[place] = value
        if not node.number(place):
            said.back(option, node.values.pop(place))
    return [node] if node.values else []


def _has_own_node(said: ScriptOptions) -> bool:
    """Whether something else than ``procs`` says what is on a node."""
    return any(f"-l {name}" in said.names for name in ("ncpus", *GPU_COUNTS))


def _say_procs(said: ScriptOptions, heard: ScriptReading) -> int:
    """``-l procs=8``: so many processors, on whichever nodes; 0 where none are said."""
    value = said.last(option := f"-l {PROCS}")
    count = whole(value or "", 9) or 0
    if count:
        numbers.say_count(heard, "Processors", count, count)
        heard.say("Extension", count, type="torque", name=PROCS)
    elif value is not None:
        said.back(option, value)
    return count


# decision 499
def _say_ncpus(said: ScriptOptions, heard: ScriptReading, found: list[NodeSpec]) -> int:
    """``-l nodes=4,ncpus=8``: the processors of the job, where the nodes have not more; else 0."""
    value = said.last("-l ncpus")
    if value is None:
        return 0
    count = most_processors(found, value)
    if not count:
        said.back("-l ncpus", value, "the nodes have more processors")
        return 0
    numbers.say_count(heard, "Processors", count, count)
    return count


def _processors(number: int) -> dict[str, str]:
    return {"ppn": str(number)}


def _simple(found: list[NodeSpec]) -> bool:
    """Whether nodes are all alike, and say nothing that a job object has no place for."""
    if not found:
        return True
    first = found[0]
    alike = all((part.values, part.marks) == (first.values, first.marks) for part in found)
    named = [bool(part.name) for part in found]
    known = set(first.values) <= {"ppn", *GPU_COUNTS} and all(map(plain, first.marks))
    known = known and first.properties == first.marks  # no mode of GPUs
    counted = all(first.number(name) for name in first.values)
    return alike and known and counted and (all(named) or (not any(named) and len(found) == 1))


def _say_licences(said: ScriptOptions, heard: ScriptReading, value: str) -> None:
    if not numbers.say_licences(heard, licences(value, between="%", sign="+", bare=False)):
        said.back("-l gres", value)
