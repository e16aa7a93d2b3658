"""``sssjob canon``: job objects in the form in which all that say the same are alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, names, options

if TYPE_CHECKING:
    from sssjob.model import Block
    from sssjob.verbs.selection import ChosenObject


@click.command(
    epilog="""\b
Examples:
  sssjob canon job.xml
  sssjob canon --lines jobs.xml | sort > jobs.canon
  sssjob canon --effective --select b workflow.xml

Exit code: 0 written, 1 no job object or a bad record, 2 a document cannot be read."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@options.SELECT
@options.EFFECTIVE
@options.LINES
@click.option("--comments", is_flag=True, help="Keep comments and processing instructions.")
@click.option(
    "--namespace", type=click.Choice(list(common.NAMESPACES)), default="none", show_default=True,
    help="Write elements in no namespace, or in that of SSSRMAP.",
)  # fmt: skip
@names.records
def command(
    files: tuple[str, ...], select: str | None, effective: bool, lines: bool, comments: bool,
    namespace: str,
) -> None:  # fmt: skip
    """Write job objects in canonical form.

    Properties are in the order of the standard's tables. Numbers are as short as they can be
    without loss, sizes in the largest unit that gives a whole number. Attributes that state their
    default and comments are left out, older names are replaced, and requests are written in a form
    that all readers understand alike. Everything around the job objects is left out, except the
    Files that they name and, with --comments and without --select, comments and processing
    instructions; "sssjob show --to sss" keeps it. A File stands beside each job that names it,
    as long as all of them are not more than 100 times as large as what was read.
    """
    from sssjob.document import dumps
    from sssjob.document.attached import message
    from sssjob.document.canonical import canon
    from sssjob.document.text import note, write_texts

    complain = common.Complaints()
    space, indent = common.NAMESPACES[namespace], not lines

    around = comments and select is None

    def texts() -> Iterator[str]:
        for item in blocks(
            files, select, effective, complain, with_files=True, with_notes=around
        ):  # fmt: skip
            block = canon(item.block, comments=comments)
            text = message(dumps(block, namespace=space, indent=indent), item.files, indent=indent)
            parts = (*map(note, item.before), text, *map(note, item.behind))
            yield ("\n" if indent else "").join(parts)

    with common.stdout() as stream:
        count = write_texts(texts(), stream, indent=indent)
    complain.leave(count)


def blocks(
    files: tuple[str, ...], select: str | None, effective: bool, complain: common.Complain, *,
    with_files: bool = False, with_notes: bool = False,
) -> Iterator[ChosenObject]:  # fmt: skip
    """The job objects of files, or the jobs and task groups in them that were selected."""
    from dataclasses import replace

    from sssjob.cli.selection import chosen
    from sssjob.defaults import resolve
    from sssjob.errors import InheritedTooMuch

    for item in chosen(
        files, select, complain, with_files=with_files, with_notes=with_notes, requests=False
    ):  # fmt: skip
        if effective:
            try:
                resolved = resolve(item.block)
            except InheritedTooMuch as error:
                complain(error.finding.in_file(item.file))
                continue
            common.print_findings(found.in_file(item.file) for found in resolved.findings)
            item = item._replace(block=resolved.block)
        for block in _selected(item, item.block, f"/{item.block.name}"):
            # What stood inside a document is one by itself, with the prefixes that held there.
            own = replace(block, prefixes=item.block.prefixes)
            yield item._replace(block=own, paths=None)


def _selected(item: ChosenObject, block: Block, path: str) -> Iterator[Block]:
    """What was selected in a block: itself, or what it holds."""
    from sssjob.model import paths

    if item.has(path):
        yield block
        return
    for below, inner in paths(block, path):
        yield from _selected(item, inner, below)
