"""``sssjob layout``: which task runs on which node, and where each number came from."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, names, options
from sssjob.errors import Finding, Severity

if TYPE_CHECKING:
    from sssjob.layout import Layout, Share, Unit
    from sssjob.verbs.layout import UnitLayout

_INDENT = 4  # columns before a node
_ROWS = 64  # nodes that are shown; --json has them all


@click.command(
    epilog="""\b
Examples:
  sssjob layout job.xml
  sssjob layout --select Slave workflow.xml
  sssjob layout --select "//Job[Name='sim']/TaskGroup[2]" workflow.xml
  sssjob layout --lenient --json job.xml | jq .tasks_per_node

Exit code: 0 laid out, 1 counts contradict each other, there is no job,
or a record is bad, 2 a document cannot be read, or is rejected (awarenessPolicy)."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@options.SELECT
@options.JSON_LINES
@click.option("--lenient", is_flag=True,
              help="Let a count override those that contradict it and rank lower.")  # fmt: skip
@click.option("--extended", is_flag=True,
              help="Read node ranges as ClusterShell does: r[1-2]c[0-3],m5.")  # fmt: skip
@names.records
def command(
    files: tuple[str, ...], select: str | None, as_json: bool, lenient: bool, extended: bool
) -> None:
    """Lay out the tasks of jobs on nodes, as TaskDistribution and the counts say.

    Every task group gets a layout, or the job itself if it has none; each alternative of its
    request gets one of its own. Tasks are numbered from 0, or as a geometry numbers them.
    """
    from sssjob.check.awareness import LAYOUT
    from sssjob.cli.selection import chosen, say_idle, understood
    from sssjob.errors import InheritedTooMuch
    from sssjob.verbs.layout import layouts, sums

    laid = faults = 0
    complain = common.Complaints()
    for found in chosen(files, select, complain):
        known = understood(found, LAYOUT)
        if known is None:
            complain.count += 1
            continue
        item, each = found._replace(block=known), None
        try:
            for each in layouts(item, lenient=lenient, extended=extended):
                _print(each, as_json)
                laid += each.layout is not None
                faults += _errors(each.findings)
            told = sums(item, lenient=lenient)
        except InheritedTooMuch as error:
            complain(error.finding.in_file(found.file))
            continue
        except ModuleNotFoundError as error:
            common.fail(f"--extended needs {error.name}: pip install 'sssjob[nodes]'")
        if each is None:
            say_idle(item, "no job or task group that was chosen, which alone are laid out")
        common.print_findings(told)
        faults += _errors(told)
    complain.leave(laid and not faults)


def _errors(findings: Iterable[Finding]) -> int:
    return sum(found.severity is Severity.ERROR for found in findings)


def _print(found: UnitLayout, as_json: bool) -> None:
    if as_json:
        common.data(json.dumps(found.as_dict(), ensure_ascii=False))
    elif found.layout is not None:
        _show(found.unit, found.layout)
    common.print_findings(found.findings)


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
