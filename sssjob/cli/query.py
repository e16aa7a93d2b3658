"""``sssjob query``: ask job objects by XPath."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import click

from sssjob.cli import common, progress
from sssjob.errors import UnreadableDocument

if TYPE_CHECKING:
    from sssjob.query import Match, Query

_LARGE = 64 << 20  # bytes from which a tree in memory is worth a notice
_SHOWN = 5  # names of skipped files that are printed
_NAMESPACE = re.compile(r"([^\W\d][\w.\-]*)=(.+)")


class _Found(NamedTuple):
    file: str
    match: Match


@click.command(
    name="query",
    epilog="""\b
    sssjob query "//Job[Delivered/Processors > 12]/Id" jobs.xml
    sssjob query "Delivered/Processors" jobs.xml          of each job object
    sssjob query --xml "//Job[State='Failed']" archive/   whole jobs
    sssjob query --effective --json "Queue" jobs.xml
    sssjob query --count "//Job[not(Delivered)]" - < jobs.xml.gz

    Exit code 0: found; 1: nothing, or only false, 0 and empty strings; 2: not understood, or a
    file could not be read.
    """,
)
@click.argument("expression")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--xml", "form", flag_value="xml", help="Print what was found as XML, one a line.")
@click.option("--json", "form", flag_value="json", help="Print a JSON array, one object a match.")
@click.option("--count", is_flag=True, help="Print how many were found, and nothing else.")
@click.option("--quiet", is_flag=True, help="Print nothing: the exit code says it.")
@click.option("--limit", type=click.IntRange(min=1), help="Stop after so many matches.")
@click.option("--effective", is_flag=True, help="Ask jobs with their defaults applied.")
@click.option("--ns", "bound", multiple=True, metavar="PREFIX=URI", help="Bind a prefix.")
@click.option("--no-filename", is_flag=True, help="Do not say in which of several files.")
def command(
    expression: str,
    files: tuple[str, ...],
    form: str | None,
    count: bool,
    quiet: bool,
    limit: int | None,
    effective: bool,
    bound: tuple[str, ...],
    no_filename: bool,
) -> None:
    """Ask job objects by XPath 1.0.

    EXPRESSION that starts with / is asked of each document, another one of each job object (the
    outermost Job or JobGroup). Names without prefix match in the SSSRMAP namespace and in none.
    FILE may be a directory, whose *.xml and *.sss files are read; "-" is standard input.
    """
    query = _compiled(expression, dict(map(_binding, bound)))
    reading = _Reading(query, effective=effective, places=form is not None, quiet=quiet)
    found = reading.matches(files)
    if count or quiet:
        total = _total(found, 1 if quiet else limit)
        if not quiet:
            click.echo(total)
    else:
        several = len(files) > 1 or any(Path(file).is_dir() for file in files)
        total = _FORMS[form or "text"](found, limit, several and not no_filename)
    _end(query, reading, total, quiet)


def _end(query: Query, reading: _Reading, total: int, quiet: bool) -> NoReturn:
    from sssjob.query import hints

    if total == 0 and not quiet:
        for hint in hints(query):
            common.say(hint)
    if reading.failed and not (quiet and total):
        sys.exit(common.NOT_UNDERSTOOD)
    sys.exit(common.FOUND if total else common.NOTHING)


def _compiled(expression: str, namespaces: dict[str, str]) -> Query:
    from sssjob.query import NotAQuery, compile

    try:
        return compile(expression, namespaces)
    except NotAQuery as error:
        common.fail(error)


def _binding(text: str) -> tuple[str, str]:
    found = _NAMESPACE.fullmatch(text)
    if found is None:
        common.fail(f"--ns {text}: expected PREFIX=URI")
    return found[1], found[2]


class _Reading:
    """One query over the files that the user named; what cannot be read is said and passed."""

    def __init__(self, query: Query, *, effective: bool, places: bool, quiet: bool) -> None:
        self.query = query
        self.effective = effective
        self.places = places
        self.quiet = quiet
        self.failed = False
        self._noticed = False

    def matches(self, files: tuple[str, ...]) -> Iterator[_Found]:
        from sssjob.query import NotAQuery

        for name, source in self._inputs(files):
            try:
                with progress.watched(source, Path(name).name, self._notice(name)) as stream:
                    for match in self.query.run(
                        stream,
                        effective=self.effective,
                        places=self.places,
                        on_error=lambda error, name=name: self._unreadable(name, error),  # type: ignore[misc]
                    ):
                        yield _Found(name, match)
            except UnreadableDocument as error:
                self._unreadable(name, error)
            except OSError as error:
                self._fail(f"sssjob: error: {common.reason(error)}")
            except NotAQuery as error:
                common.fail(error)

    def _inputs(self, files: tuple[str, ...]) -> Iterator[common.Input]:
        from sssjob.query.files import documents

        for given in common.sources(files):
            if not isinstance(given.source, Path):
                yield given
                continue
            skipped: list[Path] = []
            for path in documents(
                given.source,
                on_skipped=skipped.append,
                on_error=lambda error: self._fail(f"sssjob: error: {common.reason(error)}"),
            ):
                yield common.Input(str(path), path)
            if skipped and not self.quiet:
                common.say(_skipped(given.name, skipped))

    def _unreadable(self, name: str, error: UnreadableDocument) -> None:
        self._fail(str(error.finding.in_file(name)))

    def _fail(self, message: str) -> None:
        self.failed = True
        common.say(message)

    def _notice(self, name: str) -> Callable[[int], None] | None:
        """Say once that a large input has to be held in memory, when so much of it was read."""
        if self.query.streams or self.quiet:
            return None

        def tell(count: int) -> None:
            if count > _LARGE and not self._noticed:
                self._noticed = True
                common.say(
                    f"{name}: notice: this expression needs each document as a whole in memory; "
                    "one that names the job (//Job//Memory, not //Memory) is answered job by job"
                )

        return tell


def _skipped(name: str, files: list[Path]) -> str:
    shown = ", ".join(str(file.relative_to(name)) for file in files[:_SHOWN])
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return f"{name}: notice: not read, since named neither *.xml nor *.sss: {shown}{more}"


def _total(found: Iterator[_Found], limit: int | None) -> int:
    total = 0
    for _, match in found:
        total += match.is_true
        if total == limit:
            break
    return total


def _lines(
    found: Iterator[_Found], limit: int | None, with_file: bool, text: Callable[[Match], str]
) -> int:
    total = 0
    for number, (file, match) in enumerate(found, 1):
        prefix = f"{file}:" if with_file else ""
        sys.stdout.write(f"{prefix}{text(match)}\n")
        total += match.is_true
        if number == limit:
            break
    return total


def _text(found: Iterator[_Found], limit: int | None, with_file: bool) -> int:
    return _lines(found, limit, with_file, lambda match: match.line_of_text)


def _xml(found: Iterator[_Found], limit: int | None, with_file: bool) -> int:
    return _lines(found, limit, with_file, lambda match: match.xml)


def _json(found: Iterator[_Found], limit: int | None, with_file: bool) -> int:
    """An array that is written as it grows, and closed whatever happens to the reading."""
    total, separator = 0, "\n  "
    sys.stdout.write("[")
    for number, (file, match) in enumerate(found, 1):
        row = {
            "file": file,
            "line": match.line,
            "job": match.job,
            "path": match.path,
            "value": match.value,
        }
        sys.stdout.write(separator + json.dumps(row, ensure_ascii=False))
        separator = ",\n  "
        total += match.is_true
        if number == limit:
            break
    sys.stdout.write("\n]\n" if separator[0] == "," else "]\n")
    return total


_FORMS = {"text": _text, "xml": _xml, "json": _json}
