"""``sssjob diff``: what two documents say differently about their jobs."""

from __future__ import annotations

import sys
from itertools import takewhile
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, names, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sssjob.document.bundle import MessageFile
    from sssjob.document.diff import Difference
    from sssjob.model import Block


@click.command(
    epilog="""\b
Examples:
  sssjob diff yesterday.xml today.xml
  sssjob diff --effective --select b workflow.xml changed.xml
  sssjob diff --json a.xml b.xml | jq -r '.[].path'
  sssjob convert --from slurm sacct.txt | sssjob diff jobs.xml -

Exit code: 0 they say the same, 1 they differ or a record is bad, 2 a document cannot be read."""
)
@click.argument("left", type=click.Path())
@click.argument("right", type=click.Path())
@options.SELECT
@options.EFFECTIVE
@click.option("--strict", is_flag=True, help="Compare spelling, units, defaults and order, too.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; only the exit code tells.")
@click.option("--json", "form", flag_value="json", help="Differences as one JSON array.")
@click.option("--jsonl", "form", flag_value="jsonl", help="Differences as JSON lines.")
@names.records
def command(
    left: str, right: str, select: str | None, effective: bool, strict: bool, quiet: bool,
    form: str | None,
) -> None:  # fmt: skip
    """Compare the job objects of two documents by what they say.

    Order, units, defaults of attributes and older names make no difference, requests are compared
    as expressions. Jobs are matched by their Ids; a single job is compared with a single other
    one, and so are the Files that they name. Each difference is printed with its path, what LEFT
    says (-) and what RIGHT says (+).
    """
    from sssjob.document.diff import differences

    if left == right == "-":
        raise click.UsageError("only one of two documents can be standard input")
    files: dict[int, list[MessageFile]] = {}
    complain = common.Complaints()
    ones, others = (_blocks(file, select, effective, files, complain) for file in (left, right))
    count, rows = 0, common.JsonPrinter(lines=form == "jsonl")
    if not (form or quiet):
        names = ["<stdin>" if file == "-" else file for file in (left, right)]
        heads = [f"--- {names[0]}", f"+++ {names[1]}"]
    for difference in differences(
        ones, others, strict=strict, files=lambda block: files[id(block)]
    ):
        count += 1
        if quiet:
            break
        if form:
            rows.put(difference._asdict())
        else:
            for head in heads:
                common.echo(head, bold=True)
            heads = []
            _print(difference)
    if form and not quiet:
        rows.end()
    complain.leave(not count)


def _blocks(
    file: str, select: str | None, effective: bool, files: dict[int, list[MessageFile]],
    complain: common.Complaints,
) -> list[Block]:  # fmt: skip
    """What one side says; ends the command if it cannot be read, or says nothing.

    The Files that each job object names are added to ``files``.
    """
    from sssjob.cli.canon import blocks
    from sssjob.document.attached import files_named

    found: list[Block] = []
    for item in blocks((file,), select, effective, complain, with_files=True):
        named = set(files_named(item.block))  # of what was chosen in it
        files[id(item.block)] = [each for each in item.files if each.id in named]
        found.append(item.block)
    if complain.count:
        sys.exit(common.NOT_UNDERSTOOD)
    if not found:
        common.fail(f"{common.name_of(file)}: no job object" + (" is selected" if select else ""))
    return found


def _print(difference: Difference) -> None:
    from sssjob.visible import visible

    common.echo(visible(difference.path))
    for sign, lines, colour in zip("-+", _lines(difference), ("red", "green"), strict=True):
        for line in lines:
            common.echo(f"{sign} {visible(line)}", fg=colour)


def _lines(difference: Difference) -> tuple[Sequence[str], Sequence[str]]:
    """Both values; of what Files hold, the lines from the first to the last that differs."""
    from sssjob.document.diff import OfFile

    is_file = isinstance(difference, OfFile)
    left, right = ([] if value is None else value.split("\n") if is_file else [value]
                   for value in difference[1:])  # fmt: skip
    if not left or not right:
        return left, right
    begin = _alike(left, right)
    end = _alike(left[begin:][::-1], right[begin:][::-1])
    return left[begin : len(left) - end], right[begin : len(right) - end]


def _alike(left: Sequence[str], right: Sequence[str]) -> int:
    """With how many equal lines both begin."""
    return sum(takewhile(bool, map(str.__eq__, left, right)))
