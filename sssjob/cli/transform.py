"""``sssjob transform``: apply a sheet to job objects."""

from __future__ import annotations

import sys
from functools import partial

import click

from sssjob.cli import common, names, records
from sssjob.errors import UnreadableDocument


@click.command(
    name="transform",
    epilog="""\b
    Examples:
      sssjob transform --list
      sssjob transform to-3.1.0 old.xml -o new.xml
      sssjob transform keep -p names="User, Processors" jobs.xml.gz
      sssjob transform job-html job.xml > job.html
      sssjob transform ./mine.xsl -p project=nwchemdev - < jobs.xml

    Exit code: 0 done, 1 a record is bad, 2 the sheet or a file was not understood.
    """,
)
@click.argument("sheet", required=False)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "-p",
    "--param",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the sheet, as text.",
)
@click.option("-o", "--output", metavar="OUT", help="Write to this file, whole or not at all.")
@click.option("--list", "listing", is_flag=True, help="List the sheets that come with sssjob.")
@names.records
def command(
    sheet: str | None,
    files: tuple[str, ...],
    given: tuple[str, ...],
    output: str | None,
    listing: bool,
) -> None:
    """Apply SHEET (XSLT 1.0) to each FILE.

    SHEET is the name of a sheet that comes with sssjob (to-3.1.0, keep, job-html, usage-record) or
    the path of your own. It may not read other files, write any, or use the network.
    """
    from sssjob.errors import BadSheet
    from sssjob.transform import Sheet, transform

    if listing:
        return _list()
    if sheet is None:
        raise click.UsageError("Missing argument 'SHEET'. Try --list.")
    parameters = dict(map(_parameter, given))
    complain = common.Complaints()
    unread: list[UnreadableDocument] = []
    try:
        compiled = Sheet.load(sheet)
        with common.output(output) as out:
            for name, source in records.documents(files, complain):
                tell = partial(_tell, unread, name)
                try:
                    for piece in transform(
                        compiled, source, on_message=common.say, on_error=tell, **parameters
                    ):
                        out.write(piece)
                except UnreadableDocument as error:
                    tell(error)
            if unread or complain.count:
                sys.exit(common.NOT_UNDERSTOOD)  # in here: an output of before stays as it was
    except BadSheet as error:
        common.fail(error)
    except BrokenPipeError:
        raise  # the reader has had enough: that is no fault of a file
    except OSError as error:
        common.fail(common.reason(error))
    complain.leave(found=True)


def _tell(unread: list[UnreadableDocument], name: str, error: UnreadableDocument) -> None:
    """Say what cannot be read, and remember that there was something."""
    unread.append(error)
    common.print_findings([error.finding.in_file(name)])


def _list() -> None:
    """Every sheet of ours with its parameters and what it does."""
    from sssjob.transform import STREAMED, sheets

    rows = [
        (" ".join((sheet.name, *(name for name in sheet.parameters if name != STREAMED))), sheet)
        for sheet in sheets()
    ]
    width = max(len(head) for head, _ in rows)
    for head, sheet in rows:
        common.fitted(f"{head:<{width}}  {sheet.about}")


def _parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name):
        common.fail(f"-p {text}: expected NAME=VALUE")
    return name, value
