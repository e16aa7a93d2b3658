"""``sssjob query``: ask job objects by XPath."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from sssjob.cli import cluster, common, names, options, records
from sssjob.cli.ranges import WholeNumber

if TYPE_CHECKING:
    from sssjob.cli.query_messages import QueryMessages
    from sssjob.query import Question
    from sssjob.query.forms import AnswerRow, Columns, Form
    from sssjob.query.order import SortKey
    from sssjob.verbs.query import SourcesQuery

_NAMESPACE = re.compile(r"([^\W\d][\w.\-]*)=(.+)")


@click.command(
    name="query",
    epilog="""\b
    Examples:
      sssjob query "//Job[Delivered/Processors > 12]/Id" jobs.xml
      sssjob query "Delivered/Processors" jobs.xml          of each job object
      sssjob query --whole "//Job/Hold" archive/            whole jobs
      sssjob query --effective --json "Queue" jobs.xml
      sssjob query --count "//Job[not(Delivered)]" - < jobs.xml.gz
      sssjob query "//Job[sss:bytes(Delivered/Memory) > sss:bytes('2 GB')]/Id" jobs.xml
      sssjob query "sum(//Job[Project='climate']/Charge)" jobs.db   a store
      sssjob query "//Job" jobs.xml --columns Id,User,Delivered/Duration \\
          --sort=-Delivered/Duration --limit 10

    Exit code: 0 found, 1 nothing, or only false, 0 and empty strings, or a bad record, 2 not
    understood, or a file could not be read, 3 the columns of a store differ from its documents.
    """,
)
@click.argument("expression")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--xml", "form", flag_value="xml", help="Print what was found as XML, one a line.")
@click.option("--json", "form", flag_value="json", help="Print a JSON array, one object a match.")
@click.option("--jsonl", "form", flag_value="jsonl", help="Print JSON lines, one object a match.")
@click.option("--csv", "form", flag_value="csv", help="Print comma-separated values.")
@options.RAW
@click.option("--columns", "listed", metavar="XPATH,...",
              help="Print a table (or JSON, CSV) of these values of each match.")  # fmt: skip
@click.option("--whole", is_flag=True, help="Print the whole job of each match, as XML.")
@click.option("--count", is_flag=True, help="Print only the number of matches.")
@click.option("--quiet", is_flag=True, help="Print nothing; only the exit code tells.")
@click.option("--limit", metavar="N", type=WholeNumber(min=1), help="Stop after so many matches.")
@click.option("--sort", "order", metavar="XPATH,...",
              help="Sort by these; -XPATH in descending order.")  # fmt: skip
@click.option("--effective", is_flag=True, help="Apply defaults before the query.")
@click.option("--xpath", "version", type=click.Choice(["1.0", "2.0", "3.0", "3.1"]),
              default="1.0", show_default=True,
              help="The version of XPath; the later ones are slower.")  # fmt: skip
@click.option(
    "--ns", "bound", multiple=True, metavar="PREFIX=URI", help="Bind a prefix to a namespace."
)
@click.option("--no-filename", is_flag=True, help="Do not print file names.")
@click.option("--workers", "processes", cls=options.Renamed, former="--jobs", default=0,
              type=WholeNumber(0), metavar="N", show_default=True,
              help="How many processes read a large file, 0: one for each core.")  # fmt: skip
@cluster.option
@click.option("--explain", is_flag=True, help="Print on standard error how each source is read.")
@click.option("--verify", is_flag=True,
              help="Also read every document of a store; report where columns differ.")  # fmt: skip
@names.records_without_columns
def command(
    expression: str,
    files: tuple[str, ...],
    form: str | None,
    raw: bool,
    listed: str | None,
    whole: bool,
    count: bool,
    quiet: bool,
    limit: int | None,
    order: str | None,
    effective: bool,
    version: str,
    bound: tuple[str, ...],
    no_filename: bool,
    processes: int,
    explain: bool,
    verify: bool,
) -> None:
    """Find jobs and values in job objects, by XPath.

    An EXPRESSION that starts with / is evaluated for each document, any other for each job object
    (the outermost Job or JobGroup). Names without prefix match in the SSSRMAP namespace and in
    none; functions for jobs are sss:bytes, sss:seconds, sss:time, sss:min, sss:max,
    sss:satisfied and sss:nodes. FILE may be a directory, whose documents and records are
    read; a store, or the address of one (postgresql://...); records of a batch system, which are
    recognised; "-" is standard input.
    """
    from sssjob.cli.query_messages import QueryMessages
    from sssjob.query import NotAQuery
    from sssjob.query.forms import Shape
    from sssjob.verbs.ask import Asked
    from sssjob.verbs.query import SourcesQuery

    _refuse_a_file(expression, files)
    namespaces = dict(map(_binding, bound))
    query = _compiled(expression, namespaces, version)
    columns = _columns(listed, namespaces, version)
    keys = _keys(order, namespaces, version)
    several = len(files) > 1 or any(_is_several(file) for file in files)
    chosen = _form("xml" if whole and not form and not columns else form, columns,
                   several and not no_filename, raw)  # fmt: skip
    around = any(not each.is_inside for each in (*columns.values(), *(key.query for key in keys)))
    counted = count or quiet
    shape = Shape(None if counted else chosen, keys, whole)
    places = chosen.places or whole or bool(keys)
    asked = Asked(query, shape, effective, places, around)
    as_json = form in ("json", "jsonl")
    messages = QueryMessages(asked, quiet=quiet, explain=explain, as_json=as_json)
    asking = SourcesQuery(
        asked, messages, cluster.processes(processes), verify=verify, by_itself=explain,
        options=records.reading(),
    )  # fmt: skip
    try:
        total = _answer(asking, files, limit, quiet)
    except NotAQuery as error:
        common.fail(error)
    if counted and not quiet and (total or not messages.none_read):
        common.echo(total)
    _end(query, messages, total, quiet)


def _refuse_a_file(expression: str, files: tuple[str, ...]) -> None:
    """End the command where a file stands in the place of the expression.

    An element may have the name of a file or directory here. So it is taken for one only where it
    is no name of an element, or where what follows is nothing that exists.
    """
    from sssjob.addresses import is_store
    from sssjob.visible import visible

    absent = [file for file in files if file != "-" and not _is_there(file)]
    is_file = os.path.isfile(expression) or is_store(expression)
    is_directory = bool(expression.strip("./")) and os.path.isdir(expression)
    swapped = (is_file or is_directory) and bool(absent) and absent == [*files]
    # One that begins so is XPath, whatever stands in the root directory.
    if not swapped and (not is_file or expression.isidentifier() or expression.startswith("//")):
        return
    asked = absent[:1]
    others = [file for file in files if file not in asked]
    written = shlex.join(["sssjob", "query", *(asked or ["EXPRESSION"]), expression, *others])
    common.fail(
        f"{common.name_of(expression)} is a file or store, and the XPath stands before these:"
        f" {visible(written)}"
    )


def _is_there(file: str) -> bool:
    from sssjob.addresses import is_store

    return os.path.exists(file) or is_store(file) or _is_several(file)


def _answer(asking: SourcesQuery, files: tuple[str, ...], limit: int | None, quiet: bool) -> int:
    """Print the matches, unless they are to be counted, and give how many are true."""
    from sssjob.document import sources

    named, shape = common.sources(sources.expanded(files)), asking.asked.shape
    most = 1 if quiet else limit
    if shape.form is None and not (shape.whole or asking.verify):
        total = asking.count(named, most)
    else:
        with closing(asking.rows(named)) as rows:
            if shape.form is None:
                total = _total(rows, most)
            else:
                total = _print(rows, shape.form, bool(shape.keys), limit)
            if asking.verify:  # also what a limit leaves out
                deque(rows, maxlen=0)
    return total


def _print(rows: Iterator[AnswerRow], form: Form, in_order: bool, limit: int | None) -> int:
    """Print the rows, and give how many of their matches are true."""
    from sssjob.query.forms import ordered

    total = 0

    def cells() -> Iterator[Any]:
        nonlocal total
        for row in ordered(rows, limit) if in_order else islice(rows, limit):
            total += row.is_true
            yield row.cells

    form.write(cells(), sys.stdout)
    return total


def _end(query: Question, messages: QueryMessages, total: int, quiet: bool) -> NoReturn:
    from sssjob.query import hints

    if not quiet:
        for hint in hints(query):
            if total == 0 or hint.of_units:
                common.say(hint)
    messages.end()
    if messages.different:
        sys.exit(common.DIFFERENT)
    if quiet and total:
        sys.exit(common.FOUND)
    sys.exit(common.ended(messages.bad or not total, unread=messages.failed))


def _compiled(expression: str, namespaces: dict[str, str], version: str) -> Question:
    from sssjob.query import NotAQuery, compile

    try:
        return compile(expression, namespaces, version)
    except NotAQuery as error:
        common.fail(error)


def _columns(listed: str | None, namespaces: dict[str, str], version: str) -> Columns:
    if listed is None:
        return {}
    from sssjob.query import NotAQuery, order

    try:
        return order.columns(listed, namespaces, version)
    except NotAQuery as error:
        common.fail(f"--columns: {error}")


def _keys(listed: str | None, namespaces: dict[str, str], version: str) -> Sequence[SortKey]:
    if listed is None:
        return ()
    from sssjob.query import NotAQuery, order

    try:
        return order.keys(listed, namespaces, version)
    except NotAQuery as error:
        common.fail(f"--sort: {error}")


def _form(name: str | None, columns: Columns, with_file: bool, raw: bool) -> Form:
    from sssjob.query import forms

    if name == forms.XML and columns:
        common.fail("--columns gives a table, CSV or JSON, and no XML")
    return forms.Form(name or (forms.TABLE if columns else forms.TEXT), columns, with_file, raw)


def _is_several(file: str) -> bool:
    from sssjob.addresses import is_ledger
    from sssjob.document.sources import expanded

    path = Path(file)
    return (path.is_dir() and not is_ledger(path)) or expanded((file,)) != (file,)


def _binding(text: str) -> tuple[str, str]:
    found = _NAMESPACE.fullmatch(text)
    if found is None:
        common.fail(f"--ns {text}: expected PREFIX=URI")
    return found[1], found[2]


def _total(rows: Iterator[AnswerRow], limit: int | None) -> int:
    total = 0
    for row in rows:
        total += row.is_true
        if total == limit:
            break
    return total
