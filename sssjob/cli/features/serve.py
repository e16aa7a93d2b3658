"""``sssjob features serve``: both directories over HTTP, for virtual machines."""

from __future__ import annotations

import signal
import ssl
import sys
from types import FrameType

import click

from sssjob.cli import common
from sssjob.cli.features.common import fail
from sssjob.errors import SSSJobError
from sssjob.integers import whole


@click.command(
    epilog="""\b
Examples:
  sssjob features serve /var/lib/mjf --listen 169.254.169.253:80
  sssjob features serve /var/lib/mjf --tokens /etc/mjf/tokens --listen 0.0.0.0:8443 \\
      --certificate host.pem --key host.key --url https://mjf.example.org:8443

Exit code: 0 ended by SIGINT or SIGTERM, 2 the address, a file or the directory cannot be used."""
)
@click.argument("root", metavar="ROOT", type=click.Path(exists=True, file_okay=False))
@click.option("--listen", metavar="ADDRESS:PORT", default="127.0.0.1:8080", show_default=True,
              help="Where to listen; port 0 is any that is free.")  # fmt: skip
@click.option("--tokens", metavar="FILE", type=click.Path(),
              help="Lines of NAME TOKEN: paths begin with a token.")  # fmt: skip
@click.option("--url", metavar="URL", default="",
              help="The URL of the server in metadata; by default, its address.")  # fmt: skip
@click.option("--certificate", metavar="FILE", type=click.Path(), help="Serve HTTPS.")
@click.option("--key", metavar="FILE", type=click.Path(), help="The key of the certificate.")
@click.option("--log", is_flag=True, help="Print a line for each answer, without tokens.")
def command(
    root: str, listen: str, tokens: str | None, url: str, certificate: str | None,
    key: str | None, log: bool,
) -> None:  # fmt: skip
    """Serve ROOT to virtual machines, read-only.

    ROOT/machinefeatures is for all clients, ROOT/NAME/jobfeatures (and ROOT/NAME/machinefeatures,
    if it is there) for one. NAME is the IP address of the client, and the directories are at
    /machinefeatures and /jobfeatures. With --tokens, NAME belongs to a token, and they are at
    /TOKEN/machinefeatures and /TOKEN/jobfeatures. The metadata keys machinefeatures and jobfeatures
    are at /latest/meta-data/, the document of OpenStack at /openstack/latest/meta_data.json.
    """
    from sssjob.features.answers import Answers, ByToken, by_address
    from sssjob.features.serve import Server

    address, port = _address(listen)
    try:
        context = None if certificate is None else _context(certificate, key)
        answers = Answers(root, by_address if tokens is None else ByToken(tokens), url.rstrip("/"))
    except OSError as error:  # those of TLS among them
        fail(error)
    except SSSJobError as error:
        common.fail(error)
    try:
        server = Server(answers, address, port, context=context, log=common.say if log else _keep)
    except OSError as error:
        common.fail(f"--listen {listen}: {error.strerror or error}")
    answers.url = answers.url or server.url
    # A shell's background job inherits that SIGINT is ignored.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _interrupt)
    with server:
        common.echo(f"serving {root} on {server.url}")
        sys.stdout.flush()
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            common.say("stopped")


def _keep(line: str) -> None:
    """Print no log."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _address(text: str) -> tuple[str, int]:
    address, separator, told = text.rpartition(":")
    port = whole(told, 5)
    if not separator or port is None or port > 65535:
        common.fail(f"--listen {text}: expected ADDRESS:PORT such as 127.0.0.1:8080")
    return address.strip("[]"), port


def _context(certificate: str, key: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context
