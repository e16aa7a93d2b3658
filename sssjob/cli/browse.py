"""``sssjob browse``: the jobs of whatever was named as pages in a browser, on this machine."""

from __future__ import annotations

import signal
import sys
import webbrowser
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, names, records
from sssjob.cli.ranges import WholeNumber
from sssjob.cli.signals import terminable

if TYPE_CHECKING:
    from sssjob.errors import UnreadableDocument
    from sssjob.web.server import WebServer


@click.command(
    epilog="""\b
Examples:
  sssjob browse jobs.db
  sssjob browse postgresql://batch@db.example.org/jobs --port 8181
  sssjob browse --open examples/queries/
  sssjob browse sacct.txt
  sssjob browse jobs.db --queues /var/spool/queues

Exit code: 0 ended by SIGINT or SIGTERM, 2 an ADDRESS cannot be read, or the port cannot be used."""
)
@click.argument("files", nargs=-1, metavar="ADDRESS...", required=True, type=click.Path())
@click.option(
    "--port", type=WholeNumber(0, 65535), default=0, metavar="N",
    help="The port on this machine; 0, the default, is any that is free.",
)  # fmt: skip
@click.option(
    "--queues", type=click.Path(), metavar="DIR",
    help="Show queue states, too: files that sssjob lcginfo estimate --json wrote into DIR.",
)  # fmt: skip
@click.option("--open", "opens", is_flag=True, help="Open the address in the user's browser, too.")
@names.records
def command(files: tuple[str, ...], port: int, queues: str | None, opens: bool) -> None:
    """Show jobs as pages in a browser: a table of them, and all that is known of each.

    An ADDRESS is a store, a ledger, a document, a directory of documents, records of a batch
    system, or "-" for standard input. One store is looked at where it is; all else is read once,
    into a store that goes away at the end. Nothing is changed. The server is for this machine only,
    and for whoever has the address that is printed.
    """
    try:
        from sssjob.web.server import WebServer
    except ModuleNotFoundError as error:
        common.need_web(error)
    from sssjob import store
    from sssjob.verbs import browse

    said = records.RecordMessages()

    def tell(name: str, error: UnreadableDocument) -> None:
        common.print_findings([error.finding.in_file(name)])

    with (
        terminable(),
        common.failing(),
        browse.standing([*common.sources(files)], tell, said, options=records.reading()) as address,
    ):
        said.rest()
        store.open(address, read_only=True).close()  # what is wrong with it is said here
        try:
            server = WebServer(address, ", ".join(files), port, Path(queues) if queues else None)
        except OSError as error:
            common.fail(f"--port {port}: {error.strerror or error}")
        _serve(server, opens)


def _serve(server: WebServer, opens: bool) -> None:
    def started() -> None:
        common.echo(server.url)
        sys.stdout.flush()
        if opens:
            webbrowser.open(server.url)

    # What the server was told by a signal it passes on when it has ended.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _interrupt)
    try:
        server.run(started)
    except KeyboardInterrupt:
        common.say("stopped")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
