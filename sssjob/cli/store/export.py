"""``sssjob store export``: job objects out of a store, byte for byte."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options
from sssjob.cli.ranges import WholeNumber
from sssjob.cli.store import shared
from sssjob.errors import Severity

if TYPE_CHECKING:
    from sssjob.errors import DamagedStore
    from sssjob.store import Store, Stored
    from sssjob.store.messages import OneMessage

Tell = Callable[[object], None]

FORMS = ("sss-lines", "sss", "json", "parquet")


@click.command(
    epilog="""\b
Examples:
  sssjob store export jobs.db > jobs.sss
  sssjob store export jobs.db PBS.1234.0 --version 1
  sssjob store export jobs.db --to sss -o jobs.xml
  sssjob store export jobs.db --to parquet -o jobs.parquet

Exit code: 0 done, 1 some were not there or are damaged, 2 the store cannot be read."""
)
@shared.store
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "--jsonl", "form", flag_value="json", help="The same as --to json.")
@click.option(
    "--to", "form", type=options.DocumentForm(FORMS), default="sss-lines",
    help="One document after the other, each from a line of its own (the default); one document "
         "around all; a JSON object on each line, with the history; or a table of the columns of "
         "each job (pip install 'sssjob[parquet]').",
)  # fmt: skip
@click.option(
    "--version",
    type=WholeNumber(min=1),
    metavar="N",
    help="This version instead of the last one.",
)
@click.option("--deleted", is_flag=True, help="Job objects that were deleted, too.")
@options.OUTPUT
@options.ALL_FINDINGS
def command(
    store: str,
    ids: tuple[str, ...],
    form: str,
    version: int | None,
    deleted: bool,
    output: str | None,
) -> None:
    """Print job objects as they were read, all or those of the IDs, in the order of the store.

    A job object that names Files is written in an element Data, together with them. In the one
    document of --to sss, where two jobs mean different Files by one id, the later one gets another
    id. Damaged documents are reported, and the others are written. Beside each job that names it, a
    File is written as long as all of them are not more than 100 times as large as what was read.
    """
    missed = 0

    def tell(error: object) -> None:
        nonlocal missed
        missed += 1
        common.say_of(jobs.address, Severity.ERROR, f"sssjob: error: {error}")

    if form == "parquet" and (ids or version):
        common.fail("--to parquet writes all jobs, not some; leave out the Ids and --version")
    with shared.opened(store, read_only=True) as jobs:
        try:
            if form == "parquet":
                _parquet(jobs, output, deleted)
            else:
                found = _chosen(jobs, ids, version, deleted, tell) if ids else jobs.documents(
                    deleted=deleted, on_error=tell
                )  # fmt: skip
                _write(jobs, found, output, form, tell)
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            common.fail(common.reason(error))
    sys.exit(common.NOTHING if missed else common.FOUND)


def _write(jobs: Store, found: Iterable[Stored], output: str | None, form: str, tell: Tell) -> None:
    from sssjob.store.messages import OneMessage, message

    together = OneMessage()
    with common.output(output) as stream:
        if form == "sss":
            stream.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<Jobs>\n')
        whole = together if form == "sss" else None
        for stored, files in _with_files(jobs, found, tell, whole):
            if form == "sss":
                for piece in together.pieces(stored.document, stored.files, files):
                    stream.write(piece + b"\n")
            elif form == "json":
                stream.write(_json(stored, files) + b"\n")
            else:
                stream.write(message(stored.document, files) + b"\n")
        if form == "sss":
            stream.write(b"</Jobs>\n")


def _with_files(
    jobs: Store, found: Iterable[Stored], tell: Tell, together: OneMessage | None
) -> Iterator[tuple[Stored, dict[str, bytes]]]:
    """Documents with their Files; one of which a File is damaged is told, and comes without.

    So is one whose Files are too much, but where each is written once: ``together`` has those.
    """
    from sssjob.document.attached import left_out
    from sssjob.errors import DamagedStore, LimitExceeded
    from sssjob.store.messages import GivenFiles

    given = GivenFiles(jobs)
    for stored in found:
        files: dict[str, bytes] = {}
        try:
            if together is None:
                files = given.of(stored)
            elif not together.has(stored.files):
                files = jobs.files(stored)
        except DamagedStore as error:
            tell(error)
        except LimitExceeded as error:
            told = left_out(stored.identity.name, stored.identity.id, error)
            tell(f"{jobs.address}: {told}; --to sss writes each File once")
        yield stored, files


def _json(stored: Stored, files: dict[str, bytes]) -> bytes:
    fields = asdict(stored)
    name, id_, run = fields.pop("identity")
    fields["document"] = stored.document.decode()
    fields["files"] = {name: content.decode() for name, content in files.items()}
    return json.dumps({"name": name, "id": id_, "run": run, **fields}, ensure_ascii=False).encode()


def _chosen(
    jobs: Store, ids: Iterable[str], version: int | None, deleted: bool, tell: Tell
) -> Iterator[Stored]:
    """The job objects of these Ids."""
    for id_ in ids:
        damaged: dict[int, DamagedStore] = {}

        def note(error: DamagedStore, damaged: dict[int, DamagedStore] = damaged) -> None:
            damaged[error.version] = error

        found = [
            each
            for each in jobs.versions(id_, on_error=note, deleted=None if deleted else False)
            if version in (None, each.version)
        ][-1:]
        is_hidden = bool(found) and found[0].deleted and not (deleted or version)
        if is_hidden:
            found = []
        if found and found[0].version in damaged:
            tell(damaged[found[0].version])
            continue
        if not found:
            which = f"no version {version} of" if version else "no job object"
            tell(f"{jobs.address}: {which} {id_}{' that is not deleted' if is_hidden else ''}")
        yield from found


def _parquet(jobs: Store, output: str | None, deleted: bool) -> None:
    try:
        from sssjob.store import parquet
    except ModuleNotFoundError as error:
        common.fail(f"--to parquet needs {error.name}: pip install 'sssjob[parquet]'")
    if output in (None, "-") and sys.stdout.isatty():
        common.fail("a terminal cannot show Parquet; say -o FILE")
    with common.output(output) as stream:
        parquet.write(jobs, stream, deleted=deleted)
