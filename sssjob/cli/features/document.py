"""The one job of a document that a command is about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from sssjob.cli import common, records
from sssjob.errors import SSSJobError, UnusableStore

if TYPE_CHECKING:
    from sssjob.check.awareness import SharedContext
    from sssjob.document.sources import NamedSource
    from sssjob.model import Job

_SHOWN = 20  # ids that a message lists


def one_job(
    file: str, select: str | None, *, begins: bool = False
) -> tuple[Job, SharedContext | None]:
    """The one job of what a user named, or the selected one, with what is to be judged around it.

    Its defaults are resolved. One that ``begins`` to run has nothing of an earlier run of it.
    """
    (source,) = records.with_requests((file,))
    with _failing(source):
        known = (each for each in _all(source, begins=begins) if select in (None, each[0].id))
        found = list(islice(known, 2))
    if len(found) == 1:
        return found[0]
    if found and select:
        common.fail(f"{common.name_of(source.name)}: more than one job has the id {select}")
    # A pipe cannot be read again.
    ids = f": {_ids(source)}" if source.is_directory or os.path.isfile(file) else ""
    if found:
        common.fail(f"{common.name_of(source.name)} holds several jobs; --select one of them{ids}")
    common.fail(
        f"{common.name_of(source.name)}: no job {select or ''}".rstrip() + (ids if select else "")
    )


@contextmanager
def _failing(source: NamedSource) -> Iterator[None]:
    """End the command where the source cannot be read."""
    try:
        yield
    except OSError as error:
        common.fail(common.reason(error))
    except UnusableStore as error:
        common.fail(error)
    except SSSJobError as error:
        common.fail(common.placed(error, source.name))


def known_job(file: str, select: str | None, *, begins: bool = False) -> Job:
    """The one job of a document, without what is not understood; that ends the command if it must.

    What its awarenessPolicy wants told is told.
    """
    from sssjob.check.awareness import understood

    job, around = one_job(file, select, begins=begins)
    known = understood(job).within(around)
    name = "<stdin>" if file == "-" else file
    common.print_findings(found.in_file(name) for found in known.findings())
    if not known.accepted:
        common.fail(
            f"{common.name_of(name)}: rejected, for its awarenessPolicy is Reject (SSS 9.0)"
        )
    return known.block


def _all(
    source: NamedSource, *, begins: bool = False
) -> Iterator[tuple[Job, SharedContext | None]]:
    """The jobs of a source of any kind."""
    from sssjob.document import read
    from sssjob.verbs import documents

    said = records.RecordMessages()
    with ExitStack() as stack:
        for _, given in documents.streams((source,), stack, said, records.reading()):
            yield from _jobs(read(given), begins=begins)
    said.rest()


def _jobs(blocks: Iterable[object], *, begins: bool) -> Iterator[tuple[Job, SharedContext | None]]:
    from sssjob.check.awareness import around, by_group
    from sssjob.defaults import resolve
    from sssjob.features.folded import beginning
    from sssjob.model import Job, JobGroup, jobs_of

    for block in blocks:
        if isinstance(block, Job | JobGroup):
            effective = resolve(beginning(block) if begins else block).block
            jobs = jobs_of(effective)
            if isinstance(effective, JobGroup):
                jobs = tuple(by_group(job, effective) for job in jobs)
            yield from zip(jobs, around(block, jobs_of(block)), strict=True)


def _ids(source: NamedSource) -> str:
    with _failing(source):
        ids = [job.id for job, _ in islice(_all(source), _SHOWN + 1)]
    return ", ".join((*ids[:_SHOWN], "...") if len(ids) > _SHOWN else ids)
