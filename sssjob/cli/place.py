"""``sssjob place``: which tasks run on which of these nodes, or why none can."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from sssjob.cli import common, names, options
from sssjob.errors import Severity

if TYPE_CHECKING:
    from sssjob.expression.pattern import Matching
    from sssjob.placement import Nodes, Placement

_ANSWERS = ("E-COUNTS", "E-UNSAT")  # what answers a request; other errors leave it unread


class PlacedJob(NamedTuple):
    """What became of a job, and the file that it is in."""

    file: str
    placement: Placement


@click.command(
    epilog="""\b
Examples:
  sssjob place job.xml --offers nodes.json
  sssjob place --select sim.1 workflow.xml --offers nodes.json --json
  sssjob place job.xml --offers nodes.json --svg placement.svg
  generate-nodes | sssjob place job.xml --offers -

\b
Nodes in JSON: [{"id": "n1", "Processors": 64, "Memory": "2 GB", "Feature": ["ib", "ssd"]}]

Exit code: 0 every job has nodes, 1 one has none, there is no job, or a record is bad,
2 a file, a request or a node cannot be read; the answers are then about the other nodes alone."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option("--offers", "offered", required=True, multiple=True, metavar="FILE",
              help="What is free on each node, as sssjob match reads offers.")  # fmt: skip
@options.SELECT
@options.MATCHING
@click.option("--solver/--no-solver", default=None,
              help="Ask OR-tools, or do not; by default if it is installed.")  # fmt: skip
@click.option(
    "--json", "--jsonl", "form", flag_value="json", help="Print a JSON object on each line."
)
@options.picture("Draw one job in FILE.")
@options.OUTPUT_OF_TEXTS
@names.records
def command(
    files: tuple[str, ...], offered: tuple[str, ...], select: str | None, matching: Matching,
    solver: bool | None, form: str | None, svg: str | None, output: str | None,
) -> None:  # fmt: skip
    """Place the tasks of each job on nodes, by what is free on each.

    The best score counts first, then the fewest nodes, then the order of the nodes. For a job that
    cannot be placed, the smallest set of reasons is printed. Each job has all nodes to itself.
    """
    form, output = options.drawn(form, svg, output)
    complain = common.Complaints()
    if solver:
        _need_solver()
    if "-" in offered and (not files or "-" in files):
        common.fail("standard input cannot be both the jobs and the nodes")
    nodes = _nodes(offered, complain)
    found = _placements(files, select, nodes, matching, solver, complain)
    if form == "svg":
        found = iter(_single(list(found)))
    placed, every, room = 0, 0, common.room(output)
    with common.output(output) as stream:
        for shown in found:
            findings = shown.placement.findings
            common.print_findings(each.in_file(shown.file) for each in findings)
            wrong = (each for each in findings if each.severity is Severity.ERROR)
            complain.count += any(each.code not in _ANSWERS for each in wrong)
            every += 1
            placed += shown.placement.placed
            _write(form, shown, stream, room)
    complain.leave(every and placed == every)


def _need_solver() -> None:
    from sssjob.placement import solving

    if not solving.available():
        common.fail("--solver needs OR-tools: pip install 'sssjob[place]'")


def _nodes(offered: Sequence[str], complain: common.Complain) -> Nodes:
    """All nodes of all files."""
    from sssjob.cli.match import named, notice_names, offers
    from sssjob.errors import LimitExceeded
    from sssjob.placement import Nodes, NotNodes
    from sssjob.visible import visible

    try:
        nodes = Nodes.of(offer for name in offered for offer in offers(name, None, complain))
    except NotNodes as error:
        for reason in error.reasons:
            common.say(f"{named(offered)}: error: {visible(reason)}")
        sys.exit(common.NOT_UNDERSTOOD)
    except LimitExceeded as error:
        common.fail(f"{named(offered)}: {error}")
    notice_names([kind.offer for kind in nodes.kinds], offered)
    return nodes


def _placements(
    files: tuple[str, ...], select: str | None, nodes: Nodes, matching: Matching,
    solver: bool | None, complain: common.Complain,
) -> Iterator[PlacedJob]:  # fmt: skip
    from sssjob.cli.selection import chosen, say_idle
    from sssjob.errors import InheritedTooMuch
    from sssjob.placement import placements

    for item in chosen(files, select, complain):
        each = None
        try:
            for each in placements(
                item.block, nodes, patterns=matching, solver=solver, chosen=item.has
            ):
                yield PlacedJob(item.file, each)
            if each is None:
                say_idle(item, "no job or task group that was chosen, which alone are placed")
        except InheritedTooMuch as error:
            complain(error.finding.in_file(item.file))


def _single(found: list[PlacedJob]) -> list[PlacedJob]:
    if len(found) > 1:
        common.fail(f"a picture shows one job: --select one of {len(found)}")
    return found


def _write(form: str | None, shown: PlacedJob, stream: BinaryIO, room: int) -> None:
    if form == "json":
        row: dict[str, Any] = {"file": shown.file, **shown.placement.as_dict()}
        text = f"{json.dumps(row, ensure_ascii=False)}\n"
    else:
        from sssjob.drawing import placement as drawing
        from sssjob.drawing.columns import folded

        if form == "svg":
            text = drawing.svg(shown.placement)
        else:
            lines = drawing.lines(shown.placement, room)
            text = "".join(f"{part}\n" for line in lines for part in folded(line, room))
    stream.write(text.encode("utf-8", "replace"))
