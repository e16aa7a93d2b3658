"""Which tasks of a job run on which of these nodes, given what is free on each.

A task group says how many tasks it has, how they spread and what each needs; a set of nodes says
what is free. ``place`` finds the assignment with the best score, then with the fewest nodes, or the
least of the reasons why there is none. What a request means is left to ``expression``, what counts
mean to ``layout``; decisions 183 to 189 say what neither has.

>>> from sssjob.model import Job, Requested
>>> nodes = [{"id": "n1", "Processors": 4}, {"id": "n2", "Processors": 4}]
>>> found = place(Job.of(Requested.of(Processors=6)), nodes)
>>> [(share.name, list(share.tasks)) for share in found.groups[0].shares]
[('n1', [0, 1, 2, 3]), ('n2', [4, 5])]
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from sssjob.check.awareness import PLACE, SharedContext, understood
from sssjob.check.awareness import around as surroundings
from sssjob.check.vocabulary import FULL, AwarenessPolicy
from sssjob.defaults import resolve
from sssjob.errors import Finding, InvalidValue, Severity, finding, of_kind, one_of
from sssjob.expression.pattern import Matching
from sssjob.layout import Unit, check_whole, units
from sssjob.matching import Asker, Offered, offered
from sssjob.model import Block, Job, JobGroup, paths
from sssjob.placement import search, solving
from sssjob.placement.demand import JobDemand, demanded
from sssjob.placement.matching import Market
from sssjob.placement.nodes import Nodes, NotNodes
from sssjob.placement.problem import PlacementPart, PlacementProblem, Solution, value
from sssjob.placement.reasons import least
from sssjob.placement.requests import CountingWay
from sssjob.placement.values import Group, Placement, Reason, Share, numbered

__all__ = [
    "Group",
    "Nodes",
    "NotNodes",
    "Placement",
    "Reason",
    "Share",
    "place",
    "placements",
]

_POLICY = "awarenessPolicy"


def place(
    block: Block, offers: Iterable[Offered] | Nodes, *, patterns: Matching = "full",
    solver: bool | None = None,
) -> Placement:  # fmt: skip
    """A job, or a task group by itself, on nodes: offers as ``sssjob.match`` takes them.

    ``solver`` says whether OR-tools is asked; without it, if it is installed. Raises
    ``InvalidValue`` for what has no tasks or several jobs, ``NotNodes`` and ``LimitExceeded`` for
    offers that are no set of nodes.
    """
    of_kind(block, Block, "a job or task group")
    one_of(patterns, Matching, "how patterns match")
    of_kind(solver, bool | None, "whether a solver is asked")
    found = list(placements(block, offers, patterns=patterns, solver=solver))
    if len(found) != 1:
        raise InvalidValue(f"<{block.name}>", "one job or task group to place")
    return found[0]


def placements(
    block: Block, offers: Iterable[Offered] | Nodes, *, patterns: Matching = "full",
    solver: bool | None = None, chosen: Callable[[str], bool] = lambda path: True,
) -> Iterator[Placement]:  # fmt: skip
    """Every job of a block, each by itself on all nodes; of its task groups those ``chosen``."""
    nodes = offers if isinstance(offers, Nodes) else Nodes.of(offered(offers, "fit"))
    market = Market(nodes, patterns)
    by_solver = solving.available() if solver is None else solver
    for path, job, around, context in _jobs(block):
        known = understood(job, PLACE, around=around, path=path).within(context, PLACE)
        every = tuple(units(known.block, path))
        together = tuple(unit for unit in every if chosen(unit.path))
        if together:
            left_out = {unit.path for unit in every} - {unit.path for unit in together}
            said = known.about(partial(_is_outside, left_out, path)).findings()
            asker = Asker(path, known.block, around)
            asked, found = demanded(asker, together, every, market.match)
            if len(every) == 1 and every[0].job is not None:  # of several, demands are held so
                found += check_whole(every[0].job, every, path)
            yield _placed(asker, together, asked, (*said, *found), market, by_solver)


def _jobs(
    block: Block,
) -> Iterator[tuple[str, Block, AwarenessPolicy, SharedContext | None]]:
    """The jobs of a group, or what stands alone, with their defaults and what is around each.

    That is the awarenessPolicy that holds there, and what of it is not understood.
    """
    effective = resolve(block).block
    if not isinstance(effective, JobGroup):
        (context,) = surroundings(block, (block,))
        yield f"/{block.name}", effective, AwarenessPolicy.REJECT, context
        return
    around = FULL.policy(block.attributes.get(_POLICY), AwarenessPolicy.REJECT)
    jobs = ((path, job) for path, job in paths(effective) if type(job) is Job)
    contexts = surroundings(block, block.blocks(Job))
    for (path, job), context in zip(jobs, contexts, strict=True):
        yield path, job, around, context


def _is_outside(units: Container[str], job: str, path: str) -> bool:
    """Whether what stands in a job is in none of these task groups."""
    return f"{job}/{path.removeprefix(f'{job}/').partition('/')[0]}" not in units


def _placed(
    job: Asker, together: tuple[Unit, ...], asked: JobDemand | None, findings: tuple[Finding, ...],
    market: Market, by_solver: bool,
) -> Placement:  # fmt: skip
    """A job with its task groups; ``findings`` are what is to be said before anything is tried."""
    name = job.block.id or job.block.get("Name")
    if asked is None:
        return Placement(job.path, name, None, (), (), findings)
    every = [each.asked() for each in asked.groups]
    of_job = asked.asked()
    before = findings
    findings += tuple(found for each in every for found in each.findings) + of_job.findings
    complete = of_job.complete and all(each.complete for each in every)
    none = Placement(job.path, name, None, (), (), findings, complete)
    if any(found.severity is Severity.ERROR for found in findings):
        return none
    ways = [each.ways for each in every]
    budget = solving.Budget() if by_solver else None
    markets = [market.asking(each) for each in of_job.variants]
    tried = [(each, search.best(each, ways, solver=budget)) for each in markets]
    where, best = max(tried, key=_worth)
    stopped = tuple(_stopped(markets, asked, ways))
    proved = all(found.proved for _, found in tried) and complete and not stopped
    none = replace(none, proved=proved, findings=(*none.findings, *stopped))
    if best.solution is None or best.problem is None:
        if open_ := [unit for unit, each in zip(together, every, strict=True) if each.upper]:
            said = (*before, *map(_of_fewer, open_))
            return _placed(job, together, asked.from_one(), said, market, by_solver)
        first_ways = tuple(each[0] for each in ways)
        problem = markets[0].problem(first_ways)
        groups = _groups(market.nodes, together, first_ways, problem, ({},) * len(ways))
        reasons = tuple(least(market, asked, solver=solving.Budget() if by_solver else None))
        return replace(none, groups=tuple(groups), reasons=reasons)
    score, _ = value(best.problem, best.solution)
    groups = _groups(market.nodes, together, best.ways, best.problem, best.solution)
    return replace(none, score=score + where.of_job.score, groups=tuple(groups))


def _of_fewer(unit: Unit) -> Finding:
    text = "there is no room for the upper end of a range of processors or nodes: it begins at one"
    return finding("W-COUNTS", text, path=unit.path, line=unit.block.line, section="SSS 5.1")


def _worth(tried: tuple[Market, search.Best]) -> tuple[int, Fraction, int]:
    """What is compared of the placements by each alternative of what a job asks."""
    market, best = tried
    if best.problem is None or best.solution is None:
        return 0, Fraction(0), 0
    score, nodes = value(best.problem, best.solution)
    return 1, score + market.of_job.score, nodes


def _stopped(
    markets: Sequence[Market], asked: JobDemand, ways: Sequence[Sequence[CountingWay]]
) -> Iterator[Finding]:
    """What took too many steps, and so nodes were not taken, though they may do."""
    found = [(asked.path, stopped) for market in markets for stopped in market.stopped_of_job()]
    for each, some in zip(asked.groups, ways, strict=True):
        found += [(each.path, stopped) for stopped in markets[0].stopped(some)]
    for path, stopped in dict.fromkeys(found):
        where = f"{path}/Requested/{stopped.path}"
        yield replace(stopped, path=where, severity=Severity.WARNING)


def _groups(
    nodes: Nodes, together: Sequence[Unit], ways: Sequence[CountingWay], problem: PlacementProblem,
    solution: Solution,
) -> Iterator[Group]:  # fmt: skip
    """The tasks of each group on its nodes; where it has none, what could have been."""
    for unit, way, part, where in zip(together, ways, problem.parts, solution, strict=True):
        layout = way.layout
        able, room = _able(problem, part)
        numbers = {node: sum(number for _, number in on) for node, on in where.items()}
        order = sorted(numbers, key=lambda node: (not part.shape.free and -numbers[node], node))
        shares = numbered(
            [(nodes.names[node], numbers[node]) for node in order], around=way.around,
            geometry=way.geometry, pins=way.pins,
        ) if where else ()  # fmt: skip
        name = unit.block.id or unit.block.get("Name")
        yield Group(
            unit.path, name, layout.alternative, way.rule, part.tasks,
            layout.processors_per_task.value, able, room, shares,
        )  # fmt: skip


def _able(problem: PlacementProblem, part: PlacementPart) -> tuple[int, int]:
    """On how many nodes a task of a part can be, and how many of its tasks if it were alone."""
    able = room = 0
    most = min(part.tasks, part.per_node or part.tasks)
    for each, options in zip(problem.classes, part.options, strict=True):
        if not options:
            continue
        able += len(each.members)
        if room < part.tasks:
            fits = max(option.fits(each.room, most) for option in options)
            room += fits * len(each.members)
    return able, min(room, part.tasks)
