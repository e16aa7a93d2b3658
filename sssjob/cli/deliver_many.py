"""Delivering into many documents: a directory, or a store; and how a delivery is told."""

from __future__ import annotations

import getpass
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sssjob.addresses import is_store
from sssjob.atomic import Unchanged
from sssjob.cli import common
from sssjob.errors import Severity

if TYPE_CHECKING:
    from sssjob.delivery import Delivery, Tally
    from sssjob.delivery.store import StoreTally


def kind(file: str) -> str | None:
    """Whether many documents are meant, and of what."""
    if file == "-":
        return None
    return "directory" if Path(file).is_dir() else "store" if is_store(file) else None


def into_directory(
    file: str, records: tuple[str, ...], format_: str, tz: str, *, overwrite: bool, as_json: bool
) -> None:
    """Fold records into the documents of a directory."""
    from sssjob.delivery import DirectoryDelivery

    def write(path: Path, part: Delivery) -> None:
        with common.output(str(path)) as stream:
            stream.writelines(part.pieces())
            if not part.tally.changes:
                raise Unchanged

    work = DirectoryDelivery(Path(file), overwrite=overwrite)
    with common.failing():
        work.look()
        for record in common.sources(records):
            work.take_records(record.given, record.name, format_, tz)
        work.write(write)
    report(work.tally, as_json)
    sys.exit(exit_code(work.tally))


def into_store(
    file: str, records: tuple[str, ...], format_: str, tz: str, *, overwrite: bool, as_json: bool
) -> None:
    """Fold records into the jobs of a store; findings are printed as they are met."""
    from sssjob import store
    from sssjob.cli.progress import watched
    from sssjob.delivery import StoreDelivery

    with common.failing(), store.open(file, by=getpass.getuser()) as jobs:
        work = StoreDelivery(jobs, lambda item: common.print_findings([item]), overwrite=overwrite)
        for record in common.sources(records):
            with watched(record.given, record.name) as stream:
                work.take_records(stream, record.name, format_, tz)
    tally = work.tally
    if as_json:
        click.echo(json.dumps(asdict(tally), indent=2))
    else:
        runs = f", {_count(tally.runs, 'further run')}" if tally.runs else ""
        read = _count(tally.records + tally.bad, "record")
        asides = _asides(tally.elsewhere, tally.bad)
        facts = _count(tally.changes, "fact")
        common.say(
            f"delivered {tally.delivered} of {read}{asides}: {facts} folded{runs}, "
            f"{_count(tally.disagreements, 'disagreement')}{_refused(tally)}"
        )
    sys.exit(exit_code(tally))


def exit_code(tally: Tally | StoreTally) -> int:
    """What to end with; a job that is refused for what is not understood counts most (9.0)."""
    if tally.refused:
        return common.NOT_UNDERSTOOD
    return common.FOUND if tally.delivered else common.NOTHING


def report(tally: Tally, as_json: bool) -> None:
    """Print what happened in documents: findings, and the sentence; or both as JSON."""
    errors = sum(item.severity is Severity.ERROR for item in tally.findings)
    counts = {
        "jobs": tally.jobs,
        "delivered": tally.delivered,
        "unchanged": tally.jobs - tally.delivered,
        "facts": tally.changes,
        "disagreements": sum(item.code == "W-DISAGREE" for item in tally.findings),
        "records": tally.records,
        "elsewhere": tally.elsewhere,
        "bad": tally.bad,
        "refused": tally.refused,
        "errors": errors,
    }
    if as_json:
        found = [item.as_dict() for item in tally.findings]
        click.echo(json.dumps({**counts, "findings": found}, indent=2, ensure_ascii=False))
        return
    common.print_findings(tally.findings)
    common.say(_sentence(tally, counts["disagreements"]))


def _sentence(tally: Tally, disagreements: int) -> str:
    """What happened, for a person."""
    records = ""
    if tally.records or tally.bad:
        records = f" from {_count(tally.records + tally.bad, 'record')}"
        records += _asides(tally.elsewhere, tally.bad)
    return (
        f"delivered to {tally.delivered} of {_count(tally.jobs, 'job')}{records}: "
        f"{_count(tally.changes, 'fact')} folded, {_count(disagreements, 'disagreement')}"
        f"{_refused(tally)}"
    )


def _refused(tally: Tally | StoreTally) -> str:
    return f", {_count(tally.refused, 'job')} refused" if tally.refused else ""


def _asides(elsewhere: int, bad: int) -> str:
    found = [f"{elsewhere} about other jobs"] if elsewhere else []
    found += [f"{bad} bad"] if bad else []
    return f" ({', '.join(found)})" if found else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
