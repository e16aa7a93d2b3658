"""``sssjob graph``: which jobs are ready, wait or will never run, as a tree or a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

import click

from sssjob.cli import common, names, options
from sssjob.errors import InvalidValue, Severity
from sssjob.visible import Dot, Visible, Written

if TYPE_CHECKING:
    from sssjob.graph import Exit, Progress
    from sssjob.verbs.graph import GroupGraph
    from sssjob.verbs.selection import ChosenObject

_NAMED = 8  # job groups that are named when one has to be chosen


@click.command(
    epilog="""\b
Examples:
  sssjob graph workflow.xml
  sssjob graph --exit stage=0 --exit solve=2 workflow.xml
  sssjob graph --select solve workflow.xml
  sssjob graph --json workflow.xml | jq '.states | to_entries[] | select(.value=="ready").key'
  sssjob graph --svg workflow.svg workflow.xml
  sssjob graph --dot workflow.xml | dot -Tpdf > workflow.pdf

Exit code: 0 shown, 1 a circle, no jobs, a bad record, or with --closed a job that is not there,
2 a document cannot be read or is rejected (awarenessPolicy), or no job has
an id given with --exit."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option(
    "--exit", "exits", multiple=True, metavar="ID=CODE",
    help='This job has ended: with a number, "failed" or "unknown". May be given again.',
)  # fmt: skip
@click.option(
    "--from-document/--from-scratch",
    default=True,
    help="Start from State and ExitCode in the document (default), or as if nothing had run.",
)
@click.option("--select", metavar="XPATH|ID",
              help="A job group; or jobs, with all that they wait for or that waits for "
                   "them.")  # fmt: skip
@click.option("--closed", is_flag=True, help="A dependency on a job that is not here is an error.")
@click.option(
    "--json", "--jsonl", "form", flag_value="json", help="Print a JSON object for each job group."
)
@click.option("--dot", "form", flag_value="dot", help="Print DOT, for Graphviz.")
@options.picture("Draw one job group in FILE.")
@options.OUTPUT_OF_TEXTS
@names.records
def command(
    files: tuple[str, ...], exits: tuple[str, ...], from_document: bool, select: str | None,
    closed: bool, form: str | None, svg: str | None, output: str | None,
) -> None:  # fmt: skip
    """Show how the jobs of a group depend on each other, and the state of each.

    A job is done, ready, waiting for others, or will never run, because a job it depends upon
    ended otherwise or will never run itself. Jobs beside each other form one graph.
    """
    form, output = options.drawn(form, svg, output)
    given = dict(_exit(text) for text in exits)
    complain = common.Complaints()
    graphs = _graphs(files, select, complain)
    if form == "svg":
        graphs = iter(_single(list(graphs)))
    first = next(graphs, None)
    errors, room = 0, common.room(output)
    unused = set(given)
    if first is not None:
        with common.output(output) as stream:
            for item in chain((first,), graphs):
                findings = item.findings(closed=closed)
                common.print_findings(findings)
                errors += any(each.severity is Severity.ERROR for each in findings)
                progress = item.progress(given, from_document=from_document)
                unused -= item.knows()
                _write(form or "tree", item, progress, stream, room)
        if unused:
            common.fail(f"--exit: no job has the id {', '.join(sorted(unused))}")
    complain.leave(first is not None and not errors)


def _exit(text: str) -> tuple[str, Exit]:
    """``a=0`` as a job and how it has ended."""
    from sssjob.graph import FAILED
    from sssjob.units import integer

    id_, _, code = text.rpartition("=")
    words: dict[str, Exit] = {"failed": FAILED, "unknown": None}
    try:
        return id_.strip(), words[code] if code in words else integer(code)
    except InvalidValue:
        common.fail(f'--exit {text}: not as ID=CODE, where CODE is a number, "failed" or "unknown"')


def _graphs(
    files: tuple[str, ...], select: str | None, complain: common.Complaints
) -> Iterator[GroupGraph]:
    from sssjob.check.awareness import GRAPH
    from sssjob.cli.selection import chosen, understood
    from sssjob.verbs.graph import graphs

    def known() -> Iterator[ChosenObject]:
        for found in chosen(files, select, complain, parts=False):
            block = understood(found._replace(paths=None), GRAPH)  # all jobs of a group count
            if block is None:
                complain.count += 1
            else:
                yield found._replace(block=block)

    return graphs(known())


def _single(graphs: list[GroupGraph]) -> list[GroupGraph]:
    if len(graphs) > 1:
        ids = ", ".join(item.id or item.file for item in graphs[:_NAMED])
        common.fail(f"a picture shows one job group: --select one of {ids}")
    return graphs


def _write(form: str, item: GroupGraph, progress: Progress, stream: BinaryIO, room: int) -> None:
    if form == "json":
        stream.write(f"{json.dumps(item.as_dict(progress), ensure_ascii=False)}\n".encode())
        return
    from sssjob.drawing import graph as graph_picture

    drawn = graph_picture.picture(item.title, item.graph, progress, item.keys)
    if drawn.missing and form == "svg":
        limit = graph_picture.LIMIT
        common.say(f"sssjob: notice: the picture shows the first {limit} jobs of {len(item.keys)}")
    if form == "tree":
        terminal = isinstance(stream, Visible)
        shown = graph_picture.tree(drawn, item.graph.cycles, colours=terminal, room=room)
        if isinstance(stream, Visible):
            stream.styled(shown)
            return
        text: Written = shown
    elif form == "dot":
        text = Dot.joined((*graph_picture.dot(drawn), Dot()), "\n")
    else:
        from sssjob.drawing.graph_svg import svg

        text = svg(drawn)
    stream.write(text.encode())
