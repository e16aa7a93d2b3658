"""``sssjob show``: job objects as a tree for people, or written anew for machines."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, names, options, records
from sssjob.errors import UnreadableDocument
from sssjob.spec import DIALECTS

if TYPE_CHECKING:
    from sssjob.defaults import Resolved
    from sssjob.document.bundle import MessageFile
    from sssjob.document.sources import NamedSource
    from sssjob.errors import Finding
    from sssjob.model import Block

    # The name of its source, a job object, and the Files that it names.
    _Shown = tuple[str, Block, Sequence[MessageFile]]

_DOCUMENTS = ("sss", "sss-lines")  # forms that are documents
_KEPT = 1 << 24  # bytes of a document that are held, and not put into a file


@click.command(
    epilog="""\b
Examples:
  sssjob show job.xml
  sssjob show --effective --to sss workflow.xml
  sssjob show --explain workflow.xml
  sssjob show --to sss --dialect 3.0 job.xml
  sssjob show --deref --to sss workflow.xml
  sssjob show --json job.xml | jq .items

Exit code: 0 shown, 1 no job object or a bad record, 2 a document cannot be read."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option(
    "--effective", is_flag=True, help="Apply JobDefaults, TaskGroupDefaults and TaskDefaults."
)
@click.option(
    "--deref", is_flag=True,
    help="Replace references by what they refer to; reads a whole FILE into memory.",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Show where each effective value was written.")
@click.option(
    "--json",
    "--jsonl",
    "form",
    flag_value="json",
    help="The same as --to json: one object on each line.",
)
@click.option(
    "--to", "form", type=options.DocumentForm(["tree", "sss", "sss-lines", "json"]), default="tree",
    show_default=True, help="A tree; documents, as they are or one on each line; or JSON.",
)  # fmt: skip
@click.option(
    "--dialect", type=click.Choice(DIALECTS), help="Write the names of an older draft, or of Gold."
)
@click.option(
    "--namespace", type=click.Choice(list(common.NAMESPACES)),
    help="Write elements in no namespace, or in that of SSSRMAP; otherwise as they were read.",
)  # fmt: skip
@names.records
def command(
    files: tuple[str, ...], effective: bool, deref: bool, explain: bool, form: str,
    dialect: str | None, namespace: str | None,
) -> None:  # fmt: skip
    """Show job objects as a tree, or write them in another form.

    Older names become those of 3.1.0, and everything else stays as it was read. --to sss without
    other options writes whole documents byte for byte, with everything around the job objects.
    Otherwise only the job objects are written, and the Files that they name.
    """
    shown = 0
    complain = common.Complaints()

    def wrote(count: int) -> None:
        nonlocal shown
        shown += count

    sources = records.documents(files, complain)
    if form == "sss" and not any((effective, deref, explain, dialect, namespace)):
        sources = _left(files, complain, wrote)
    found = _blocks(sources, deref, form in _DOCUMENTS, complain)
    if explain:
        complain.leave(_explain(found, complain), "no job")
    for _, block, beside in _effective(found, complain) if effective else found:
        shown += 1
        if form == "tree":
            _print_tree(block)
        elif form == "json":
            from sssjob.document.json import as_dict

            common.data(json.dumps(as_dict(block), ensure_ascii=False))
        else:
            from sssjob.document import dumps
            from sssjob.document.attached import message
            from sssjob.document.text import write_texts

            if dialect == "gold":
                block = _flat(block)
            space, indent = common.NAMESPACES.get(namespace or ""), form == "sss"
            text = dumps(block, dialect=dialect or "", namespace=space, indent=indent)
            with common.stdout() as stream:
                write_texts([message(text, beside, indent=indent)], stream, indent=indent)
    complain.leave(shown, "no job")


def _print_tree(block: Block) -> None:
    """In colour on a terminal. A long text runs on: what was cut off could be looked for."""
    from sssjob.drawing.tree import tree
    from sssjob.drawing.words import print_tree

    print_tree(tree(block), common.room())


def _left(
    files: Sequence[str], complain: common.Complain, wrote: Callable[[int], None]
) -> Iterator[NamedSource]:
    """The documents that cannot be written as they stand; the others are, each in its turn."""
    for given, source in records.documents_by_source(files, complain):
        is_only = len(files) < 2 and source.name == given.name
        count, left = _whole(source, is_only=is_only)
        if count:
            wrote(count)
        else:
            yield left


def _whole(source: NamedSource, *, is_only: bool) -> tuple[int, NamedSource]:
    """Write a source as it stands, in present names; the number of its job objects.

    0 if something in it cannot be read, and nothing is written; it is left, to be read again.
    """
    from sssjob.document.encodings import LONGEST_MARK, by_mark
    from sssjob.document.splice import in_present_names

    left = source
    given: Path | bytes
    try:
        if not isinstance(source.given, Path):
            given = source.given.read()
            left = source._replace(given=io.BytesIO(given))
        elif (given := source.given).is_dir() or not given.exists():
            return 0, source
        elif not given.is_file():  # a pipe, which is read once
            given = given.read_bytes()
            left = source._replace(given=io.BytesIO(given))
        count, told = _counted(given)
        with tempfile.SpooledTemporaryFile(_KEPT) as kept:
            for piece in in_present_names(given):
                kept.write(piece)
            kept.seek(0)
            # Documents behind each other have to be of encodings that can be told apart.
            if not count or (not is_only and by_mark(kept.read(len(LONGEST_MARK)))):
                return 0, left
            kept.seek(0)
            common.print_findings(found.in_file(source.name) for found in told)
            with common.stdout() as stream:
                shutil.copyfileobj(kept, stream)
                kept.seek(-1, io.SEEK_END)
                if not is_only and kept.read() != b"\n":
                    stream.write(b"\n")  # what follows is another document
    except (OSError, UnreadableDocument) as error:
        if isinstance(error, BrokenPipeError):
            raise
        return 0, left  # which says it in its turn
    return count, left


def _counted(given: Path | bytes) -> tuple[int, list[Finding]]:
    """How many job objects a document has, and what is to be told of the Files that they name.

    In a source that is too large to look for Files nothing is told of them.
    """
    from sssjob.document import read
    from sssjob.document.attached import Attached
    from sssjob.document.files import raw
    from sssjob.errors import LimitExceeded

    count = 0
    told: list[Finding] = []
    with raw(given) as stream:
        attached = Attached(stream)
        for block in read(attached.stream):
            count += 1
            with suppress(LimitExceeded):
                told += attached.told(attached.of(block))
    return count, told


def _blocks(
    sources: Iterable[NamedSource], deref: bool, with_files: bool, complain: common.Complain
) -> Iterator[_Shown]:
    """The job objects of sources, each with the Files that it names, if these are wanted."""
    from sssjob.document import read
    from sssjob.document.attached import Attached
    from sssjob.document.sources import opened

    for source in sources:
        try:
            with opened(source) as stream:
                attached = Attached(stream)
                tell = partial(_complain_in, source.name, complain)
                blocks = read(attached.stream, on_error=tell)
                for block, own in (
                    _dereferenced(blocks) if deref else ((each, each) for each in blocks)
                ):
                    files = common.files_of(attached, block, source.name, own, given=with_files)
                    yield source.name, block, files
        except OSError as error:
            complain(f"sssjob: error: {common.reason(error)}")


def _dereferenced(blocks: Iterable[Block]) -> Iterator[tuple[Block, Block]]:
    """The job objects of a document with their references resolved, and as they were read."""
    from sssjob.check.references import dereference, index
    from sssjob.errors import LimitExceeded

    held = list(blocks)
    known = index(held)
    for block in held:
        try:
            yield dereference(block, known=known), block
        except LimitExceeded as error:
            common.fail(error)


def _complain_in(name: str, complain: common.Complain, error: UnreadableDocument) -> None:
    complain(error.finding.in_file(name))


def _flat(block: Block) -> Block:
    """A job as Gold takes it; what it has no place for is said, not dropped in silence."""
    from sssjob.document.flat import flat, name
    from sssjob.model import Job

    if type(block) is not Job:
        common.fail(f"Gold knows jobs only, and {block.name} {block.id} is none")
    job, lost = flat(block)
    for item in lost:
        common.say(f"sssjob: warning: Gold has no place for {name(item)} of job {job.id}")
    return job


def _resolved(
    found: Iterable[_Shown], complain: common.Complain
) -> Iterator[tuple[_Shown, Resolved]]:
    """Each with its defaults applied; what multiplies them is told, and the rest go on."""
    from sssjob.defaults import resolve
    from sssjob.errors import InheritedTooMuch

    for each in found:
        name, block, _ = each
        try:
            resolved = resolve(block)
        except InheritedTooMuch as error:
            complain(error.finding.in_file(name))
            continue
        common.print_findings(resolved.findings)
        yield each, resolved


def _effective(found: Iterable[_Shown], complain: common.Complain) -> Iterator[_Shown]:
    for (name, _, files), resolved in _resolved(found, complain):
        yield name, resolved.block, files


def _explain(found: Iterable[_Shown], complain: common.Complain) -> int:
    """Print where everything is from that holds, and count the job objects."""
    from sssjob.visible import visible

    count = 0
    for _, resolved in _resolved(found, complain):
        count += 1
        for origin in resolved.origins:
            common.fitted(visible(str(origin)))
    return count
