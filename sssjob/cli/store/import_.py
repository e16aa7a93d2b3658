"""``sssjob store import``: job objects into a store, as they are."""

from __future__ import annotations

import json
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options, progress
from sssjob.cli.store import shared

if TYPE_CHECKING:
    from sssjob.errors import Finding, UnreadableDocument
    from sssjob.store import Counts, Store
    from sssjob.store.reading import Readers


@click.command(
    name="import",
    epilog="""\b
Examples:
  sssjob store import jobs.db jobs.sss archive/
  sssjob convert --from slurm sacct.txt | sssjob store import jobs.db -
  sssjob store import jobs.db --reason "April, corrected" april.sss.zst
  sssjob store import --jobs 0 jobs.db archive/

Exit code: 0 all job objects are kept, 1 some were bad, 2 a file or the store cannot be used.""",
)
@shared.store
@click.argument("files", nargs=-1, metavar="[FILE]...")
@shared.by
@options.REASON
@click.option(
    "--jobs", "processes", metavar="N", type=click.IntRange(0), default=1,
    help="Use so many processes that read, 0 for all cores; what is kept stays the same.",
)  # fmt: skip
@shared.as_json
def command(
    store: str, files: tuple[str, ...], by: str | None, reason: str, processes: int, as_json: bool
) -> None:
    """Keep the job objects of FILEs, byte for byte; makes the store if there is none.

    A FILE may be compressed, a directory of *.xml and *.sss files, or "-" for standard input.
    Job objects that cannot be stored are reported with their line, and the others are imported. Job
    objects that are there already stay as they are, so an import that was interrupted can be run
    again. A File beside a job object that names it with # is kept with it; a warning says which
    are not there.
    """
    from sssjob.document import sources
    from sssjob.store import Counts
    from sssjob.store.reading import readers

    total = Counts()
    with (
        shared.opened(store, create=True, by=shared.user(by)) as jobs,
        readers(common.processes(processes)) as some,
    ):
        for name, source in chain.from_iterable(map(sources.files, common.sources(files))):
            try:
                total += _load(jobs, name, source, reason, some)
            except OSError as error:
                common.fail(common.reason(error))
    if as_json:
        common.data(json.dumps(total.as_dict()))
    else:
        common.say(total)
    sys.exit(common.NOTHING if total.bad else common.FOUND)


def _load(jobs: Store, name: str, source: object, reason: str, readers: Readers) -> Counts:
    def tell(error: UnreadableDocument) -> None:
        common.print_findings([error.finding.in_file(name)])

    def warn(found: Finding) -> None:
        common.print_findings([found.in_file(name)])

    with progress.watched(source, Path(name).name) as stream:  # type: ignore[arg-type]
        return jobs.load(
            stream, name=name, reason=reason, on_error=tell, on_warning=warn, readers=readers,
            file=source if isinstance(source, Path) else None,
        )  # fmt: skip
