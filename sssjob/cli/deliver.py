"""``sssjob deliver``: features directories and accounting records folded into requested jobs."""

from __future__ import annotations

import json
import os
import sys
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from sssjob.cli import common, names, options
from sssjob.cli.records import format_of, only_documents
from sssjob.errors import Finding, Severity, SSSJobError, UnreadableDocument
from sssjob.records import AUTO
from sssjob.users import caller

if TYPE_CHECKING:
    from sssjob.delivery import Tally
    from sssjob.delivery.store import StoreTally
    from sssjob.document.sources import NamedSource
    from sssjob.verbs.deliver import Facts, Work


@click.command(
    epilog="""\b
Examples:
  sssjob deliver job.xml --record sacct.txt
  sssjob deliver job.xml --features /run/mjf/1234 --record sacct.txt -o done.xml
  sssjob deliver job.xml --features /run/mjf/1234 --status /run/mjf/1234/status --in-place
  sssjob deliver --in-place requested.sss --record sacct.txt --tz Europe/Berlin
  sssjob deliver --in-place requested/ --from pbs --record 20261121
  sssjob deliver jobs.db --from sge --record common/accounting

Exit code: 0 done, disagreements or not, 1 nothing belongs to any of the jobs, or
a record is bad, 2 something cannot be read, or a job is refused (awarenessPolicy)."""
)
@click.argument("file", metavar="JOB.xml", type=click.Path())
@click.option("--features", "directory", metavar="DIR", type=click.Path(),
              help="A directory of $JOBFEATURES.")  # fmt: skip
@click.option("--machine", metavar="DIR", type=click.Path(),
              help="A directory of $MACHINEFEATURES.")  # fmt: skip
@click.option("--status", metavar="DIR", type=click.Path(),
              help="A directory of $JOBSTATUS, read under its lock.")  # fmt: skip
@click.option("--usage", "usages", metavar="DIR|FILE", multiple=True, type=click.Path(),
              help="What was measured: a control group, or lines of NAME=VALUE.")  # fmt: skip
@click.option("--record", "records", metavar="FILE", multiple=True, type=click.Path(),
              help="Accounting records; may be repeated.")  # fmt: skip
@names.option("--from", "format_", names=names.formats, metavar="FORMAT", default=AUTO.name,
              show_default=True, help="What the records are: {names}.")  # fmt: skip
@click.option("--tz", metavar="ZONE", default="", shell_complete=options.completes(options.zones),
              help="The zone of times that state none.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace values of the job that disagree.")
@click.option("--force", is_flag=True, help="Accept a directory whose job_id names another job.")
@click.option("--now", metavar="TIME", type=options.MOMENT,
              help="Until when a job without an end has run: a time such as "
                   "2026-11-30T12:00.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write the document here.")
@click.option("--in-place", is_flag=True, help="Write the document back, if anything changed.")
@options.ALL_FINDINGS
@click.option("--json", "as_json", is_flag=True,
              help="Print counts and findings as JSON, and the document only with -o.")  # fmt: skip
def command(
    file: str, directory: str | None, machine: str | None, status: str | None,
    usages: tuple[str, ...], records: tuple[str, ...], format_: str, tz: str,
    overwrite: bool, force: bool, now: int | None, output: str | None, in_place: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Put what was delivered into the jobs of JOB.xml, a directory or a store.

    The document with what was delivered is printed, or written where -o or --in-place say.

    JOB.xml may hold many jobs, in one document or in several, and be of any size. Everything but
    the jobs that get something is kept byte for byte.

    A record goes to the job with its Id. A features directory goes to the job that its job_id
    names, together with the directories of its machine and its pilot, and with what was measured.
    In a directory, every document that gets a record is written back. A store keeps the new version
    beside the old one; a run that it does not know yet (of a requeued job) becomes a document of
    its own. Directories and stores take records only.

    What was requested is left untouched. Where a job has another value already, the difference is
    reported and the job keeps its value, unless --overwrite is given. A second run with the same
    data changes nothing.

    A job with something that is not understood is refused and stays as it is, unless its
    awarenessPolicy says Warn or Ignore.
    """
    from sssjob.cli.progress import watching
    from sssjob.verbs.deliver import Facts, Work

    (into,) = common.sources((file,))
    sources = tuple(common.sources(records)) if records else ()
    facts = Facts(directory, machine, status, usages, sources, format_, tz)
    if not records and not facts.of_features:
        common.fail("nothing to add: give --features DIR or --record FILE")
    format_of(format_)
    only_documents(file)
    _check(into, facts, output, in_place=in_place)

    def writing(path: Path) -> AbstractContextManager[BinaryIO]:
        if in_place:
            return common.output(str(path))
        return common.output(os.devnull if as_json and output is None else output)

    by = caller() if into.is_store else ""
    _print(
        Work(
            into, facts, overwrite=overwrite, force=force, now=now, by=by,
            in_place=in_place, writing=writing, opening=watching,
        ),
        as_json=as_json,
    )  # fmt: skip


def _check(into: NamedSource, facts: Facts, output: str | None, *, in_place: bool) -> None:
    """End the command where its options do not fit what was named."""
    if into.is_directory or into.is_store:
        if not facts.records or facts.of_features or output:
            common.fail(
                f"{into.name}: jobs of a directory or a store take only records (--record), "
                "and are written back (no -o)"
            )
        if into.is_directory and not in_place:
            common.fail(
                f"{into.name} is a directory: say --in-place to have its documents written back"
            )
    elif in_place and (output or not isinstance(into.given, Path)):
        common.fail("--in-place needs a file of its own, and no -o")


def _print(work: Work, *, as_json: bool) -> None:
    """Do it, and print what happened; of a store findings are printed as they are met."""
    from sssjob.delivery.store import StoreTally
    from sssjob.document.sources import UnusableSource
    from sssjob.verbs.deliver import run

    try:
        for item in run(work):
            if isinstance(item, Finding):
                if work.into.is_store or not as_json:
                    common.print_findings([item])
                continue
            if isinstance(item, StoreTally):
                counts, sentence = asdict(item), _sentence_of_store(item)
            else:
                counts, sentence = _counts(item), _sentence(item)
            if as_json:
                common.data(json.dumps(counts, indent=2, ensure_ascii=False))
            else:
                common.say(sentence)
            sys.exit(_exit_code(item))
    except (UnusableSource, UnreadableDocument) as error:
        common.fail(error)
    except SSSJobError as error:
        common.fail(error if work.into.is_store else f"{work.into.name}: {error}")
    except OSError as error:
        common.fail(common.reason(error))


def _exit_code(tally: Tally | StoreTally) -> int:
    """What to end with; a job that is refused for what is not understood counts most (9.0)."""
    return common.ended(tally.bad or not tally.delivered, unread=tally.unread or tally.refused)


def _counts(tally: Tally) -> dict[str, object]:
    """What happened in documents, for programs."""
    return {
        "jobs": tally.jobs,
        "delivered": tally.delivered,
        "unchanged": tally.jobs - tally.delivered,
        "facts": tally.changes,
        "disagreements": _disagreements(tally),
        "records": tally.records,
        "elsewhere": tally.elsewhere,
        "bad": tally.bad,
        "refused": tally.refused,
        "errors": sum(item.severity is Severity.ERROR for item in tally.findings),
        "findings": [item.as_dict() for item in tally.findings],
    }


def _disagreements(tally: Tally) -> int:
    return sum(item.code == "W-DISAGREE" for item in tally.findings)


def _sentence_of_store(tally: StoreTally) -> str:
    """What happened in a store, for a person."""
    runs = f", {_count(tally.runs, 'further run')}" if tally.runs else ""
    read = _count(tally.records + tally.bad, "record")
    return (
        f"delivered {tally.delivered} of {read}"
        f"{_asides(tally.elsewhere, tally.bad, tally.deleted)}: "
        f"{_count(tally.changes, 'value')} added{runs}, "
        f"{_count(tally.disagreements, 'disagreement')}{_refused(tally)}"
    )


def _sentence(tally: Tally) -> str:
    """What happened in documents, for a person."""
    records = ""
    if tally.records or tally.bad:
        records = f" from {_count(tally.records + tally.bad, 'record')}"
        records += _asides(tally.elsewhere, tally.bad)
    return (
        f"delivered to {tally.delivered} of {_count(tally.jobs, 'job')}{records}: "
        f"{_count(tally.changes, 'value')} added, {_count(_disagreements(tally), 'disagreement')}"
        f"{_refused(tally)}"
    )


def _refused(tally: Tally | StoreTally) -> str:
    return f", {_count(tally.refused, 'job')} refused" if tally.refused else ""


def _asides(elsewhere: int, bad: int, deleted: int = 0) -> str:
    found = [f"{elsewhere} about other jobs"] if elsewhere else []
    found += [f"{deleted} about deleted ones"] if deleted else []
    found += [f"{bad} bad"] if bad else []
    return f" ({', '.join(found)})" if found else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
