"""``sssjob features``: the values of $JOBFEATURES for a job object, as files or to look at."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from sssjob.cli import common
from sssjob.errors import Severity, SSSJobError

if TYPE_CHECKING:
    from sssjob.features.derive import Features
    from sssjob.features.write import Written
    from sssjob.model import Job

_SHOWN = 20  # ids that a message lists


@click.command(
    epilog="""\b
Examples:
  sssjob features job.xml /run/mjf/1234
  sssjob features --dry-run --explain job.xml
  sssjob features --select fr15n05.1234.1 --repair workflow.xml /run/mjf/1
  sssjob features --node n1 --node n2 --json job.xml /run/mjf/1234

Exit code: 0 done, 1 the job has errors or gives no key (what it gives is
written all the same), 2 the document cannot be read or nothing be written."""
)
@click.argument("file", metavar="JOB.xml", type=click.Path())
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path())
@click.option("-n", "--dry-run", is_flag=True, help="Write nothing; print what would be written.")
@click.option("--explain", is_flag=True, help="Which element gave each value, and on what basis.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--select", metavar="ID", help="The job to take from a document that holds several.")
@click.option("--node", "nodes", metavar="NAME", multiple=True,
              help="Only the tasks on this node; may be repeated.")  # fmt: skip
@click.option("--no-cpu-limit", is_flag=True,
              help="No cpu_limit_secs from elapsed time and processors alone.")  # fmt: skip
@click.option("--repair", is_flag=True, help="Turn groups round that balance only then.")
@click.option("--starting", is_flag=True, help="The job starts now: its StartTime, if it has none.")
@click.option("--now", metavar="SECONDS", type=click.IntRange(0),
              help="What time it is, in seconds since 1970.")  # fmt: skip
def command(
    file: str, directory: str | None, dry_run: bool, explain: bool, as_json: bool,
    select: str | None, nodes: tuple[str, ...], no_cpu_limit: bool, repair: bool, starting: bool,
    now: int | None,
) -> None:  # fmt: skip
    """Derive $JOBFEATURES from a job object, and write them into DIR.

    Each key is one file, which appears whole or not at all. Keys of an earlier run that the job
    no longer gives are removed; other files in DIR are left alone. Defaults are resolved first.
    """
    if directory is None and not (dry_run or explain):
        common.fail("a directory to write to is needed, or --dry-run")
    from sssjob.features.derive import derive
    from sssjob.features.write import write

    features = derive(
        _job(file, select), now=int(time.time()) if now is None else now, starting=starting,
        nodes=nodes, cpu_limit=not no_cpu_limit, repair=repair,
    )  # fmt: skip
    written = None
    if directory is not None and not dry_run:
        try:
            written = write(features.values, directory)
        except OSError as error:
            common.fail(common.reason(error))
        except ValueError as error:
            common.fail(error)
    if as_json:
        click.echo(json.dumps(_as_dict(features, written), indent=2, ensure_ascii=False))
    else:
        for line in _lines(features, written, explain):
            click.echo(line)
    common.print_findings(found.in_file(file) for found in features.findings)
    errors = any(found.severity is Severity.ERROR for found in features.findings)
    sys.exit(common.NOTHING if errors or not features.derived else common.FOUND)


def _job(file: str, select: str | None) -> Job:
    """The one job of a document, or the selected one, with its defaults resolved."""
    from sssjob.document import read

    (source,) = common.sources((file,))
    try:
        jobs = (job for job in _jobs(read(source.source)) if select in (None, job.id))
        found = list(islice(jobs, 2))
    except OSError as error:
        common.fail(common.reason(error))
    except SSSJobError as error:
        common.fail(f"{source.name}: {error}")
    if len(found) == 1:
        return found[0]
    if found and select:
        common.fail(f"{source.name}: more than one job has the id {select}")
    ids = "" if source.name == "<stdin>" else f": {_ids(file)}"
    if found:
        common.fail(f"{source.name} holds several jobs; --select one of them{ids}")
    common.fail(f"{source.name}: no job {select or ''}".rstrip() + (ids if select else ""))


def _jobs(blocks: Iterable[object]) -> Iterator[Job]:
    from sssjob.defaults import resolve
    from sssjob.model import Job, JobGroup

    for block in blocks:
        if isinstance(block, Job | JobGroup):
            effective = resolve(block).block
            yield from (effective,) if isinstance(effective, Job) else effective.blocks(Job)


def _ids(file: str) -> str:
    from sssjob.document import read

    ids = [job.id for job in islice(_jobs(read(file)), _SHOWN + 1)]
    return ", ".join((*ids[:_SHOWN], "...") if len(ids) > _SHOWN else ids)


def _lines(features: Features, written: Written | None, explain: bool) -> Iterator[str]:
    names = (*features.derived, *(features.absent if explain else ()))
    width = max(map(len, names), default=0)
    for name, item in features.derived.items():
        if explain:
            why = f": {item.why}" if item.why else ""
            yield f"{name:{width}}  {item.text}  {item.source} ({item.basis}{why})"
        else:
            yield f"{name:{width}}  {item.text}"
    if explain:
        for name, why in features.absent.items():
            yield f"{name:{width}}  -  {why}"
    if written is not None:
        yield f"{len(written.keys)} keys written to {written.directory}"
        if written.removed:
            yield f"removed: {', '.join(written.removed)}"


def _as_dict(features: Features, written: Written | None) -> dict[str, object]:
    return {
        "values": {name: item.text for name, item in features.derived.items()},
        "sources": {
            name: {"source": item.source, "basis": item.basis, "why": item.why}
            for name, item in features.derived.items()
        },
        "absent": dict(features.absent),
        "directory": written.directory if written else None,
        "written": list(written.keys) if written else [],
        "removed": list(written.removed) if written else [],
        "findings": [found.as_dict() for found in features.findings],
    }
