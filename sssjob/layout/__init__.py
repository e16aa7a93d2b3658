"""Which task runs on which node: TaskCount, NodeCount, Processors and TaskDistribution (SSS 5.1).

"It is possible to use Processors, NodeCount and TaskCount elements to specify a set of mutually
contradictory task parameters. When this occurs, components are responsible for resolving
conflicting requirements": strictly each contradiction is an error; leniently the value of higher
precedence holds, and each one that it overrides is a warning.

>>> from sssjob.model import Job, Requested
>>> (laid,) = layouts(Job.of(Requested.of(Processors=4, NodeCount=3))).layouts
>>> [list(share.tasks) for share in laid.shares]
[[0, 1], [2], [3]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sssjob import defaults
from sssjob.errors import (
    Finding,
    InvalidValue,
    LimitExceeded,
    Severity,
    UnbalancedGroup,
    finding,
)
from sssjob.expression import And, Term
from sssjob.layout.plan import CountsPlan, balanced, filled
from sssjob.layout.request import (
    ALTERNATIVES,
    LayoutRequest,
    LayoutRequests,
    NoCount,
    of_counts,
    requests,
)
from sssjob.layout.values import Count, Layout, Layouts, Share, Stated
from sssjob.model import Block, Delivered, Job, JobGroup, TaskGroup, paths
from sssjob.task_counts import CountRange
from sssjob.task_distribution import LIMIT, geometry

__all__ = [
    "ALTERNATIVES",
    "LIMIT",
    "Count",
    "Layout",
    "Layouts",
    "Share",
    "Stated",
    "Unit",
    "balanced",
    "check",
    "check_sum",
    "check_whole",
    "filled",
    "geometry",
    "layouts",
    "units",
]

_UNREADABLE = {UnbalancedGroup: "E-GROUP", LimitExceeded: "E-LIMIT"}  # else E-TYPE
_Unreadable = (UnbalancedGroup, LimitExceeded, InvalidValue)


@dataclass(frozen=True, slots=True)
class Unit:
    """What has a layout of its own: a task group, or a job as its single implicit one (3.0)."""

    path: str
    block: Block
    job: Block | None = None


def layouts(
    block: Block, path: str = "", *, lenient: bool = False, extended: bool = False
) -> Layouts:
    """The layouts of a task group, or of a job that has none, one for each alternative.

    An alternative that contradicts itself is left out, with a warning, where others do not. What
    cannot be read is a finding. ``extended`` reads ranges as ``nodes.expand`` does.
    """
    here = path or f"/{block.name}"
    try:
        asked, complete, empty = requests(block, here, extended=extended)
    except _Unreadable as error:
        return Layouts((), (_unreadable(block, here, error),))
    said: list[Finding] = []
    if not complete:
        text = (
            f"the request can be met in more than {ALTERNATIVES} ways: the {ALTERNATIVES} of the "
            "highest preference are laid out, and of equal ones those that come first"
        )
        said.append(finding("E-LIMIT", text, path=here, line=block.line, severity=Severity.WARNING))
    if not asked:
        said.append(_unsatisfiable(block, here))
    said += asked[0].distribution.findings if asked else ()
    if any(found.severity is Severity.ERROR for found in said):
        return Layouts((), tuple(said))
    laid = tuple(CountsPlan(each, lenient).layout() for each in asked)
    met = tuple(each for each in laid if each.holds)
    said += left_out(block, here, laid, empty) if met else ()
    return Layouts(met or laid, tuple(said))


# decisions 1121, 1128
def left_out(
    block: Block, path: str, laid: Iterable[Layout], empty: Iterable[tuple[Term, ...]]
) -> Iterator[Finding]:
    """What is said of alternatives that cannot be met, where others can.

    Of each that is ``laid`` out and does not hold, and of those that are ``empty``, as no number
    satisfies them.
    """
    said = [
        replace(found, severity=Severity.WARNING, message=each.saying(found))
        for each in laid if not each.holds
        for found in each.findings
    ]  # fmt: skip
    return iter(dict.fromkeys((*said, *_without_number(block, path, empty))))


def _without_number(
    block: Block, path: str, empty: Iterable[tuple[Term, ...]]
) -> Iterator[Finding]:
    found = _unsatisfiable(block, path)
    for terms in empty:
        message = f"in {And(tuple(of_counts(terms)))}: {found.message}"
        yield replace(found, severity=Severity.WARNING, message=message)


def units(block: Block, path: str = "") -> Iterator[Unit]:
    """Everything in a job group, job or task group that has a layout, with its defaults applied.

    The single task group of a job has what its job says of all tasks together (1.10), unless a
    task group reports what it was delivered: then these are steps of a job that ran. ``path`` is
    where the block stands.
    """
    if type(block) not in (JobGroup, Job, TaskGroup):
        return
    effective = defaults.resolve(block).block
    here = path or f"/{block.name}"
    if not isinstance(effective, JobGroup):
        yield from _units_of(effective, here)
        return
    for inside, job in paths(effective, here):
        if type(job) is Job:
            yield from _units_of(job, inside)


def check(block: Block) -> Iterator[Finding]:
    """Every finding about the counts and the TaskDistribution of a block and what it holds.

    Where some alternatives of a request contradict themselves and others do not, the findings
    are warnings. What cannot be read is left to those who check data types and groups, but for a
    count below 1; and what no number satisfies to those who judge expressions.
    """
    groups: dict[str, list[Unit]] = {}
    for unit in units(block):
        yield from _check_unit(unit)
        if unit.job is not None:
            groups.setdefault(unit.path.rpartition("/")[0], []).append(unit)
    for path, some in groups.items():
        assert some[0].job is not None
        yield from check_whole(some[0].job, some, path)


# decision 1182
def check_whole(
    job: Block, groups: Sequence[Unit], path: str = "/Job", *, lenient: bool = False
) -> Iterator[Finding]:
    """What is said of the counts of a job beside those of its task groups.

    That is ``check_sum``, and of several groups which alternatives of the job are left out.
    """
    yield from check_sum(job, groups, path, lenient=lenient)
    try:
        asked, _, empty = requests(job, path) if len(groups) > 1 else LayoutRequests((), True)
    except _Unreadable:
        return
    if asked:
        yield from dict.fromkeys(_without_number(job, path, empty))


def check_sum(
    job: Block, groups: Sequence[Unit], path: str = "/Job", *, lenient: bool = False
) -> Iterator[Finding]:
    """Whether the Processors of a job can be those of its task groups together.

    Tasks without a number of processors have one each at least; those of a job that ran, whose
    groups may be its steps, have what they had.
    """
    ran = any(block.blocks(Delivered) for block in (job, *(group.block for group in groups)))
    needed = _processors if ran else _needed
    try:
        whole = _over(job, path, _processors)
        parts = [_over(group.block, group.path, needed) for group in groups] if whole else []
    except _Unreadable:
        return
    known = [part for part in parts if part is not None]
    if whole is None or len(known) < len(parts) or job.references("TaskGroup"):
        return
    low, high = _sum(part.bounds.lo for part in known), _sum(part.bounds.hi for part in known)
    lo, hi = whole.bounds.lo, whole.bounds.hi
    if (hi is None or low is None or low <= hi) and (lo is None or high is None or high >= lo):
        return
    text = f"{whole} is not {' + '.join(map(str, known))}"
    yield finding(
        "W-COUNTS" if lenient else "E-COUNTS",
        f"Processors of a job = Processors of its task groups does not hold: {text}",
        path=whole.path, line=whole.line, section="SSS 5.1 TaskDistribution",
        suggestion="what the task groups say is taken" if lenient else "",
    )  # fmt: skip


def _check_unit(unit: Unit) -> Iterator[Finding]:
    try:
        asked, complete, empty = requests(unit.block, unit.path)
    except NoCount as error:
        yield _unreadable(unit.block, unit.path, error)
        return
    except _Unreadable:
        return
    if not asked:
        return
    spread = asked[0].distribution.findings
    yield from spread
    if any(found.severity is Severity.ERROR for found in spread):
        return
    laid = [CountsPlan(each, lenient=False).checked() for each in asked]
    some_hold = not complete or any(item.holds for item in laid)
    for found in dict.fromkeys(found for item in laid for found in item.findings):
        # A limit of what is laid out is none of what may be written.
        if found.code != "E-LIMIT":
            yield replace(found, severity=Severity.WARNING) if some_hold else found
    if some_hold:
        yield from dict.fromkeys(_without_number(unit.block, unit.path, empty))


def _unreadable(block: Block, path: str, error: Exception) -> Finding:
    code = _UNREADABLE.get(type(error), "E-TYPE")
    return finding(code, str(error), path=path, line=block.line, section="SSS 5.1")


def _unsatisfiable(block: Block, path: str) -> Finding:
    text = "no number of nodes or of processors satisfies the request"
    return finding("E-UNSAT", text, path=f"{path}/Requested", line=block.line, section="SSS 8.1")


def _units_of(job: Block, path: str) -> Iterator[Unit]:
    steps = any(group.blocks(Delivered) for group in job.blocks(TaskGroup))
    block = job if steps else defaults.scope(job)
    groups = [pair for pair in paths(block, path) if type(pair[1]) is TaskGroup]
    if block.references("TaskGroup") and not groups:
        return
    for inner, group in groups:
        yield Unit(inner, group, block)
    if not groups:
        yield Unit(path, block)


def _processors(asked: LayoutRequest) -> Stated | None:
    return asked.processors


# decision 1192
def _needed(asked: LayoutRequest) -> Stated:
    """The processors of a task group in one alternative, no fewer than it can do with."""
    stated, least = asked.processors, asked.said.fewest_processors
    if stated is None:
        most = least if asked.distribution.per_task else None
        return Stated(CountRange(least, most), asked.path, asked.line)
    return stated.within(CountRange(least, stated.bounds.hi))


def _over(
    block: Block, path: str, number: Callable[[LayoutRequest], Stated | None]
) -> Stated | None:
    """From the least to the most of a number in all alternatives, if each of them has one."""
    asked, complete, _ = requests(block, path)
    every = [number(each) for each in asked]
    known = [stated for stated in every if stated is not None]
    if not complete or not known or len(known) < len(every):
        return None
    lows, highs = [item.bounds.lo for item in known], [item.bounds.hi for item in known]
    low = None if None in lows else min(end for end in lows if end is not None)
    high = None if None in highs else max(end for end in highs if end is not None)
    return Stated(CountRange(low, high), known[0].path, known[0].line)


def _sum(ends: Iterable[int | None]) -> int | None:
    total = 0
    for end in ends:
        if end is None:
            return None
        total += end
    return total
