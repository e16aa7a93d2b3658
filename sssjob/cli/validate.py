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

from sssjob.cli import common, names, options, records
from sssjob.errors import Severity

if TYPE_CHECKING:
    from sssjob.check.vocabulary import Vocabulary
    from sssjob.document import Source
    from sssjob.document.sources import NamedSource
    from sssjob.errors import Finding
    from sssjob.records import record


@click.command(
    epilog="""\b
Examples:
  sssjob validate job.xml
  sssjob validate --json jobs/*.xml | jq '.[].code'
  sssjob convert --from slurm sacct.txt | sssjob validate -
  sssjob validate --format sarif job.xml > findings.sarif
  sssjob validate --profile minimal job.xml
  sssjob validate --closed message.xml

Exit code: 0 no errors, 1 errors or a bad record, 2 a document cannot be read."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option("--json", "format_", flag_value="json", help="Findings as one JSON array.")
@click.option("--jsonl", "format_", flag_value="jsonl", help="Findings as JSON lines.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json", "jsonl", "sarif"]), default="text",
    show_default=True, help="How findings are printed; sarif is for GitHub, GitLab and other "
                            "hosts of code.",
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
    "--no-awareness",
    is_flag=True,
    help="The implementation of --profile does not support awarenessPolicy.",
)
@click.option(
    "--closed",
    is_flag=True,
    help="A reference to a job or file outside of its document is an error.",
)
@options.WORKERS
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit code tells.")
@names.records
def command(
    files: tuple[str, ...], format_: str, level: str, profile: str, no_awareness: bool,
    closed: bool, processes: int, quiet: bool,
) -> None:  # fmt: skip
    """Check documents against the standard.

    Each FILE is one document, a wrapper around many job objects, or many documents one after the
    other; compressed or not. Findings go to standard error as text, or to standard output as JSON
    or SARIF.
    """
    counts: Counter[Severity] = Counter()
    unread = False
    severities = [item for item in Severity if _weight(item) >= _weight(Severity(level))]
    printed = _PrintedFindings() if format_ == "text" else _DATA[format_]()

    def take(found: Finding) -> None:
        nonlocal unread
        unread = unread or found.code in ("E-XML", "E-LIMIT")
        put(found)

    def put(found: Finding, *, is_told: bool = False) -> None:
        counts[found.severity] += 1
        if found.severity in severities and not quiet and not is_told:
            printed.put(found)

    said = _RecordFindings(partial(put, is_told=format_ == "text"), format_ == "text", quiet)
    sources = records.read_by(said, files)
    found = (
        _closed(sources, _check(profile, no_awareness))
        if closed
        else _findings(sources, profile, no_awareness, processes)
    )
    for each in found:
        take(each)
    said.rest()
    printed.end()
    if format_ == "text" and counts and not quiet:
        common.say(", ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in sorted(
            counts.items(), key=lambda item: -_weight(item[0])
        )))  # fmt: skip
    sys.exit(common.ended(counts[Severity.ERROR], unread=unread or said.unread))


class _RecordFindings(records.RecordMessages):
    """What is said of records: a bad one is a finding, which people are told as elsewhere."""

    def __init__(self, take: Callable[[Finding], None], is_text: bool, quiet: bool) -> None:
        super().__init__()
        self._take, self._is_text, self._quiet = take, is_text, quiet

    def __call__(self, name: str, item: record.Bad | record.Noted) -> None:
        """Take the finding, and say what is for people."""
        from sssjob.errors import finding
        from sssjob.records.record import Bad

        if isinstance(item, Bad):
            self._take(finding("E-XML", item.reason, line=item.line, file=name))
        if not self._quiet and (self._is_text or not isinstance(item, Bad)):
            super().__call__(name, item)
        elif isinstance(item, Bad):
            self.unread += item.unread


class _PrintedFindings:
    """Findings for people, on standard error: the first of each kind in a file, or all."""

    def put(self, found: Finding) -> None:
        common.print_findings((found,))

    def end(self) -> None:
        common.told().rest()


class _JsonFindings:
    """Findings for programs: a JSON array, written as it grows, or lines of JSON."""

    def __init__(self, *, lines: bool) -> None:
        self._rows = common.JsonPrinter(lines=lines)
        self.end = self._rows.end

    def put(self, found: Finding) -> None:
        self._rows.put(found.as_dict())


class _Sarif:
    """Findings for code hosts, in one document at the end."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self.put = self._found.append

    def end(self) -> None:
        from sssjob.cli.sarif import sarif

        common.data(json.dumps(sarif(self._found), indent=2))


_DATA: dict[str, Callable[[], _JsonFindings | _Sarif]] = {
    "json": partial(_JsonFindings, lines=False),
    "jsonl": partial(_JsonFindings, lines=True),
    "sarif": _Sarif,
}


def _vocabulary(profile: str, no_awareness: bool) -> Vocabulary | None:
    """What an implementation of this level understands; None for everything."""
    from sssjob.check.vocabulary import of_level

    if profile == "full" and not no_awareness:
        return None
    vocabulary = of_level(profile)
    return vocabulary.unaware() if no_awareness else vocabulary


def _check(profile: str, no_awareness: bool) -> Callable[..., Iterator[Finding]]:
    """The check of a source by an implementation of this level."""
    from sssjob.check import findings, peer

    vocabulary = _vocabulary(profile, no_awareness)
    if vocabulary is None:
        return findings.of_source
    return partial(peer.check_source, vocabulary=vocabulary)


def _findings(
    sources: Iterable[NamedSource], profile: str, no_awareness: bool, processes: int
) -> Iterator[Finding]:
    from sssjob.cli.progress import watching
    from sssjob.verbs.validate import Validation

    validation = Validation(_vocabulary(profile, no_awareness))
    if (processes := common.processes(processes)) < 2:
        yield from validation.all_findings(sources, opening=watching)
        return
    with validation.workers(processes) as some:
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
    from sssjob.document.outermost import Wanted
    from sssjob.errors import UnreadableDocument

    try:
        for message in bundles(source, wanted=Wanted.DOCUMENTS):
            yield from (found.in_file(name) for found in message.findings)
    except UnreadableDocument:
        return  # said by the check


def _weight(severity: Severity) -> int:
    return -list(Severity).index(severity)
