"""``sssjob layout``: which task runs on which node, and where each number came from."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common, options
from sssjob.errors import Finding, Severity

if TYPE_CHECKING:
    from sssjob.layout import Layout, Share, Unit
    from sssjob.verbs.selection import ChosenObject

_INDENT = 4  # columns before a node
_ROWS = 64  # nodes that are shown; --json has them all
_NOT_LAID = {
    name: None
    for name in (
        "alternative", "tasks", "nodes", "tasks_per_node", "processors", "processors_per_task",
        "rule", "placement", "sources",
    )
}  # fmt: skip


@click.command(
    epilog="""\b
Examples:
  sssjob layout job.xml
  sssjob layout --select Slave workflow.xml
  sssjob layout --select "//Job[Name='sim']/TaskGroup[2]" workflow.xml
  sssjob layout --lenient --json job.xml | jq .tasks_per_node

Exit code: 0 laid out, 1 counts contradict each other or there is no job,
2 a document cannot be read, or is rejected (awarenessPolicy)."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@options.SELECT
@options.JSON_LINES
@click.option("--lenient", is_flag=True,
              help="Let a count override those that contradict it and rank lower.")  # fmt: skip
@click.option("--extended", is_flag=True,
              help="Read node ranges as ClusterShell does: r[1-2]c[0-3],m5.")  # fmt: skip
def command(
    files: tuple[str, ...], select: str | None, as_json: bool, lenient: bool, extended: bool
) -> None:
    """Lay out the tasks of jobs on nodes, as TaskDistribution and the counts say.

    Every task group gets a layout, or the job itself if it has none; each alternative of its
    request gets one of its own. Tasks are numbered from 0, or as a geometry numbers them.
    """
    from sssjob.check.awareness import LAYOUT
    from sssjob.cli.selection import chosen, understood

    laid = faults = 0
    complain = common.Complaints()
    for found in chosen(files, select, complain):
        known = understood(found, LAYOUT)
        if known is None:
            complain.count += 1
            continue
        item = found._replace(block=known)
        try:
            for unit, layout, findings in _layouts(item, lenient, extended):
                _print(item.file, unit, layout, findings, as_json)
                laid += layout is not None
                faults += any(found.severity is Severity.ERROR for found in findings)
            sums = list(_sums(item, lenient))
        except ModuleNotFoundError as error:
            common.fail(f"--extended needs {error.name}: pip install 'sssjob[nodes]'")
        common.print_findings(found.in_file(item.file) for found in sums)
        faults += any(found.severity is Severity.ERROR for found in sums)
    complain.leave(laid and not faults)


def _layouts(
    item: ChosenObject, lenient: bool, extended: bool
) -> Iterator[tuple[Unit, Layout | None, tuple[Finding, ...]]]:
    """Each layout with all that is to be said about it; None where nothing can be laid out."""
    from sssjob.layout import layouts, units

    for unit in units(item.block):
        if not item.has(unit.path):
            continue
        found = layouts(unit.block, unit.path, lenient=lenient, extended=extended)
        several = len(found.layouts) > 1
        for number, layout in enumerate(found.layouts):
            common_to_all = () if number else found.findings
            own = layout.findings
            yield unit, layout, (*common_to_all, *(_in(layout, own) if several else own))
        if not found.layouts:
            yield unit, None, found.findings


def _in(layout: Layout, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings that say in which alternative they are made."""
    from dataclasses import replace

    for found in findings:
        yield replace(found, message=f"in {layout.alternative}: {found.message}")


def _sums(item: ChosenObject, lenient: bool) -> Iterator[Finding]:
    """Jobs whose processors are not those of their task groups, unless only a part was chosen."""
    from sssjob.layout import check_sum, units

    jobs: dict[str, list[Unit]] = {}
    for unit in units(item.block):
        path = unit.path.rpartition("/")[0]
        if unit.job is not None and item.has(path):
            jobs.setdefault(path, []).append(unit)
    for path, groups in jobs.items():
        job = groups[0].job
        if job is not None:
            yield from check_sum(job, groups, path, lenient=lenient)


def _print(
    file: str, unit: Unit, layout: Layout | None, findings: tuple[Finding, ...], as_json: bool
) -> None:
    placed = [found.in_file(file) for found in findings]
    if as_json:
        row = _as_dict(file, unit, layout, placed)
        common.data(json.dumps(row, ensure_ascii=False))
    elif layout is not None:
        _show(unit, layout)
    common.print_findings(placed)


def _as_dict(
    file: str, unit: Unit, layout: Layout | None, findings: Iterable[Finding]
) -> dict[str, Any]:
    job = unit.job or unit.block
    group = unit.block if unit.job else None
    return {
        "file": file,
        "path": unit.path,
        "job": job.id or None,
        "group": group and (group.id or group.get("Name") or None),
        **(layout.as_dict() if layout else _NOT_LAID),
        "findings": [found.as_dict() for found in findings],
    }


def _show(unit: Unit, layout: Layout) -> None:
    """A layout for people: the counts with their sources, then the nodes with their tasks."""
    from sssjob.drawing import layout as drawing
    from sssjob.visible import Terminal, visible

    block = unit.block
    names = (block.id, block.get("Name"))
    common.fitted(visible(" ".join(filter(None, (unit.path, *names)))))
    if layout.alternative:
        common.fitted(f"  {visible(layout.alternative)}")
    sources = layout.sources
    width = max(map(len, sources))
    for name, count in sources.items():
        common.fitted(f"  {name.replace('_', ' '):{width}}  {visible(str(count))}")
    common.fitted(f"  {'rule':{width}}  {visible(layout.rule)}")
    if layout.shares:
        each = layout.processors_per_task.value
        shown = layout.shares[:_ROWS]
        room = common.room() - _INDENT if common.room() else 0
        for line in (
            _boxes(shown, room) if sys.stdout.isatty() else drawing.table(shown, each, room)
        ):
            common.styled(Terminal.of("    {line}", line=line))
        if len(layout.shares) > _ROWS:
            common.echo(f"    ... and {len(layout.shares) - _ROWS} more nodes")
    elif layout.holds:
        why = (
            "the number of nodes is open" if layout.nodes is None else "the rule is not known here"
        )
        common.fitted(f"    not placed: {why}")


def _boxes(shares: Sequence[Share], room: int) -> Iterator[str]:
    from functools import partial

    from sssjob.drawing.layout import boxes

    return boxes(shares, room, partial(common.painted, bg="blue", fg="white"))
