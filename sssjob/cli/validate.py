"""``sssjob validate``: every finding about documents, for people, scripts and code hosts."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from sssjob.cli import common, options, records
from sssjob.errors import Severity

if TYPE_CHECKING:
    from sssjob.check.vocabulary import Vocabulary
    from sssjob.document import Source
    from sssjob.document.sources import NamedSource
    from sssjob.errors import Finding


@click.command(
    epilog="""\b
Examples:
  sssjob validate job.xml
  sssjob validate --json jobs/*.xml | jq '.[].code'
  sssjob convert --from slurm sacct.txt | sssjob validate -
  sssjob validate --format sarif job.xml > findings.sarif
  sssjob validate --profile minimal job.xml
  sssjob validate --closed message.xml

Exit code: 0 no errors, 1 errors, 2 a document cannot be read."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option("--json", "format_", flag_value="json", help="Findings as one JSON array.")
@click.option("--jsonl", "format_", flag_value="jsonl", help="Findings as JSON lines.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json", "jsonl", "sarif"]), default="text",
    show_default=True, help="How findings are printed; sarif is what code hosts read.",
)  # fmt: skip
@click.option(
    "--level", type=click.Choice([item.value for item in Severity]), default="notice",
    show_default=True, help="Print findings of this severity and above.",
)  # fmt: skip
@click.option(
    "--profile", type=click.Choice(["minimal", "recommended", "full"]), default="full",
    show_default=True, help="Check what an implementation of this level accepts.",
)  # fmt: skip
@click.option(
    "--no-awareness", is_flag=True, help="That implementation does not support awarenessPolicy."
)
@click.option(
    "--closed",
    is_flag=True,
    help="A reference to a job or file outside of its document is an error.",
)
@options.WORKERS
@click.option(
    "--all-findings", is_flag=True,
    help="Print every finding, not only the first twenty of a code in each file; JSON has all.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit code tells.")
def command(
    files: tuple[str, ...], format_: str, level: str, profile: str, no_awareness: bool,
    closed: bool, processes: int, all_findings: bool, quiet: bool,
) -> None:  # fmt: skip
    """Check documents against the standard.

    Each FILE is one document, a wrapper around many job objects, or many documents one after the
    other; compressed or not. Findings go to standard error as text, or to standard output as JSON
    or SARIF.
    """
    counts: Counter[Severity] = Counter()
    unread = False
    severities = [item for item in Severity if _weight(item) >= _weight(Severity(level))]

    def complain(text: object) -> None:
        """A record that cannot be read is told as it is by every command."""
        nonlocal unread
        unread = True
        counts[Severity.ERROR] += 1
        if not quiet:
            common.say(text)

    def seen() -> Iterator[Finding]:
        nonlocal unread
        sources = records.documents(files, complain)
        found = (
            _closed(sources, _check(profile, no_awareness))
            if closed
            else _findings(sources, profile, no_awareness, processes)
        )
        for finding in found:
            counts[finding.severity] += 1
            unread = unread or finding.code in ("E-XML", "E-LIMIT")
            if finding.severity in severities and not quiet:
                yield finding

    if format_ in ("json", "jsonl"):
        _print_json(seen(), lines=format_ == "jsonl")
    elif format_ == "sarif":
        from sssjob.cli.sarif import sarif

        common.data(json.dumps(sarif(seen()), indent=2))
    else:
        few = common.FirstFindings(by_path=False, hint="; --all-findings tells each")
        (common.print_findings if all_findings else few.show)(seen())
        few.rest()
        if counts and not quiet:
            common.say(", ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in sorted(
                counts.items(), key=lambda item: -_weight(item[0])
            )))  # fmt: skip
    if unread:
        sys.exit(common.NOT_UNDERSTOOD)
    sys.exit(common.NOTHING if counts[Severity.ERROR] else common.FOUND)


def _vocabulary(profile: str, no_awareness: bool) -> Vocabulary | None:
    """What an implementation of this level understands; None for everything."""
    from sssjob.check.vocabulary import PROFILES

    if profile == "full" and not no_awareness:
        return None
    vocabulary = PROFILES[profile]
    return vocabulary.unaware() if no_awareness else vocabulary


def _check(profile: str, no_awareness: bool) -> Callable[..., Iterator[Finding]]:
    """The check of a source by an implementation of this level."""
    from sssjob.check import check_source, peer

    vocabulary = _vocabulary(profile, no_awareness)
    if vocabulary is None:
        return check_source
    return partial(peer.check_source, vocabulary=vocabulary)


def _findings(
    sources: Iterable[NamedSource], profile: str, no_awareness: bool, processes: int
) -> Iterator[Finding]:
    from sssjob.cli.progress import watching
    from sssjob.verbs.validate import Validation

    validation = Validation(_vocabulary(profile, no_awareness))
    with validation.workers(common.processes(processes)) as some:
        yield from validation.all_findings(sources, opening=watching, workers=some)


def _closed(
    sources: Iterable[NamedSource], check: Callable[..., Iterator[Finding]]
) -> Iterator[Finding]:
    """The findings about messages, each of which is read twice: for its jobs, and for files."""
    from sssjob.errors import finding

    for name, source in sources:
        try:
            again = _again(source)
            yield from check(again, name=name, closed=True)
            yield from _of_files(again, name)
        except OSError as error:
            yield finding("E-XML", error.strerror or str(error), file=name)


def _again(source: Path | BinaryIO) -> Source:
    """What can be read twice: a file, or the bytes of what is none, such as a pipe."""
    if not isinstance(source, Path):
        return source.read()
    return source if source.is_file() or source.is_dir() else source.read_bytes()


def _of_files(source: Source, name: str) -> Iterator[Finding]:
    from sssjob.document.bundle import bundles
    from sssjob.errors import UnreadableDocument

    try:
        for message in bundles(source):
            yield from (found.in_file(name) for found in message.findings)
    except UnreadableDocument:
        return  # said by the check


def _print_json(findings: Iterable[Finding], *, lines: bool) -> None:
    """A JSON array, written as it grows, or ``lines``."""
    rows = common.Rows(lines=lines)
    for finding in findings:
        rows.put(finding.as_dict())
    rows.end()


def _weight(severity: Severity) -> int:
    return -list(Severity).index(severity)
