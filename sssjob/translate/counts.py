"""The counts that a script or a request says, as one set of numbers that holds together (5.1).

A reader knows tasks, nodes, tasks of each node and processors of each task. A job object has one
TaskDistribution, so that tasks and processors are said as numbers, and a TaskDistribution where
the script says how many tasks are on a node, or where a range of nodes leaves tasks open.
"""

from __future__ import annotations

from sssjob import units
from sssjob.task_counts import CountRange
from sssjob.translate.numbers import TaskCounts, nodes_of_tasks, say_count
from sssjob.translate.options import ScriptReading


# decision 940
def say_counts(
    heard: ScriptReading, of: TaskCounts, *, named: int = 0, processors: bool = True,
    nodes: bool = True,
) -> None:  # fmt: skip
    """Say tasks, nodes and processors, of which the nodes may be ``named`` only.

    ``of`` has what the script says, and has what is said of the job afterwards: what does not hold
    beside the rest, and a ``round_robin`` for which there is no place, are none. ``processors``:
    they are said where tasks are, also of one for each task. ``nodes``: nobody says these yet.
    """
    _hold(heard, of)
    stated = of.nodes
    if not of.nodes and named:
        of.nodes = by_name(named, of.tasks, of.per_node)
    _hold(heard, of)
    _around(of)
    by_names_alone = of.nodes is not stated and named == of.wanted
    if nodes and of.nodes and (not by_names_alone or of.per_node or of.round_robin):
        say_count(heard, "NodeCount", of.nodes.lo, of.nodes.hi)
    each, tasks = of.per_task or 1, _tasks(heard, of)
    if of.nodes and tasks is None and processors and (each > 1 or of.per_node):
        among = of.nodes.times((of.per_node or 1) * each)
        say_count(heard, "Processors", among.lo, among.hi)
    elif tasks and (each > 1 or (processors and (of.tasks or of.per_node))):
        say_count(heard, "Processors", tasks * each, tasks * each)
    if tasks and (of.tasks or each > 1):
        heard.say("TaskCount", tasks)
    if of.round_robin:
        heard.say("TaskDistribution", "RoundRobin", type="Rule")
    elif each > 1 and tasks is None:
        heard.say("TaskDistribution", each, type="ProcessorsPerTask")
    elif of.per_node:
        heard.say("TaskDistribution", of.per_node, type="TasksPerNode")


def by_name(named: int, tasks: int | None, per_node: int | None = None) -> CountRange:
    """How many nodes there are where names alone tell: no more than tasks, and enough for them."""
    number = min(named, tasks or named)
    if tasks and per_node:
        number = max(number, units.rounded_up(tasks, per_node))
    return CountRange.exactly(number)


def _hold(heard: ScriptReading, of: TaskCounts) -> None:
    """Leave out what cannot be beside the number of tasks, which comes first (5.1)."""
    tasks, nodes = of.tasks, of.nodes
    if not (tasks and nodes):
        return
    if nodes.lo and nodes.lo > tasks:
        heard.note(f"{nodes.lo} nodes are more than {tasks} tasks: {tasks} nodes are read")
        nodes = of.nodes = CountRange.exactly(tasks)
    if of.per_node and nodes.hi and tasks > nodes.hi * of.per_node:
        told = f"{tasks} tasks are more than {of.per_node} on each of {nodes.hi} nodes"
        heard.note(f"{told}: how many are on each is not read")
        of.per_node = None
    elif of.per_node and nodes.lo and tasks <= (nodes.lo - 1) * of.per_node:
        told = f"{tasks} tasks on {nodes.lo} nodes are not {of.per_node} on each"
        heard.note(f"{told}: no more are, as the nodes share them evenly")
        of.per_node = None


def _around(of: TaskCounts) -> None:
    """Whether tasks go around the nodes, whose numbers then have to be known without a rule."""
    if not of.round_robin or not of.per_node:
        return
    nodes_of_tasks(of)
    of.round_robin = bool(of.nodes and of.nodes.exact)
    if of.round_robin and of.nodes:
        of.tasks = of.tasks or (of.nodes.exact or 1) * of.per_node
        of.per_node = None


def _tasks(heard: ScriptReading, of: TaskCounts) -> int | None:
    """How many tasks there are; None where a range of nodes leaves it open, and can be said so."""
    if of.tasks or (of.nodes and of.nodes.exact):
        return of.count
    each, spread = of.per_task or 1, of.round_robin or (of.per_node or 1) > 1
    if of.nodes is None:
        return 1 if each > 1 else None
    if each == 1 or not spread:
        return None
    tasks = of.nodes.least * (of.per_node or 1)
    told = f"{tasks} tasks of {each} processors, as {of.nodes.least} nodes have them"
    heard.note(f"of a range of nodes is read: {told}")
    return tasks
