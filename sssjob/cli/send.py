"""``sssjob send``: messages into an outbox, and from there to whoever takes them."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from sssjob.cli import common
from sssjob.cli.ranges import NumberRange, WholeNumber
from sssjob.cli.signals import terminable


@click.command(
    epilog="""\b
Examples:
  sssjob convert --from sss --to apel --site SITE jobs.sss | sssjob send --outbox out -
  sssjob send --outbox /var/spool/apel/outgoing message
  sssjob send --outbox out --to https://ams.example.org/v1/projects/p/topics/t:publish \\
      --token-file token

Exit code: 0 all is in the outbox, or was taken; 1 a message was refused, and stays there; 2 not
understood, or the other side cannot be reached."""
)
@click.option(
    "--outbox", metavar="DIR", required=True, type=click.Path(file_okay=False),
    help="A directory queue (dirq), as APEL's secure stomp messenger uses.",
)  # fmt: skip
@click.option(
    "--to", "url", metavar="URL", default="",
    help="Publish all messages of the outbox there, as to an ARGO Messaging Service.",
)  # fmt: skip
@click.option("--token-file", metavar="FILE", type=click.Path(dir_okay=False),
              help="The token that says who publishes.")  # fmt: skip
@click.option("--authority", metavar="FILE", type=click.Path(dir_okay=False), default="",
              help="Trust the certificates in FILE instead of the usual ones.")  # fmt: skip
@click.option(
    "--receipts", metavar="FILE", type=click.Path(dir_okay=False),
    help="Where to list the messages that were accepted. Default: receipts.jsonl in the outbox.",
)  # fmt: skip
@click.option("--records", metavar="N", type=WholeNumber(1), default=1000, show_default=True,
              help="The most records in one message of APEL; a longer one is split.")  # fmt: skip
@click.option("--timeout", metavar="SECONDS", type=NumberRange(0.1), default=60,
              show_default=True, help="How long an answer may take.")  # fmt: skip
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(
    outbox: str, url: str, token_file: str | None, authority: str, receipts: str | None,
    records: int, timeout: float, files: tuple[str, ...],
) -> None:  # fmt: skip
    """Send messages, such as APEL's: into an outbox, and from there over HTTP.

    Each FILE is put into the outbox, forced to disk. With --to all messages there are published,
    the oldest first. A message is removed when its receiver has taken it and a receipt is written;
    the others stay for the next call.
    """
    from sssjob.accounting.sending import KeptMessage, Locked, Receipts, messages, parted, send
    from sssjob.accounting.sending.ams import Topic, publish
    from sssjob.accounting.sending.queue import SIZE_LIMIT, DirectoryQueue
    from sssjob.document import opened
    from sssjob.document.sources import naming

    if not files and not url:
        common.fail("name a FILE to put into the outbox, or where to send what is there (--to)")
    queue = DirectoryQueue(Path(outbox))
    with common.failing():
        token = Path(token_file).read_text("utf-8", "replace").strip() if token_file else ""
        topic = Topic(url, token, authority, timeout)
        if url and topic.refusal:
            common.fail(f"--to {url}: {topic.refusal}")
        found: list[bytes] = []
        for source in common.sources(files) if files else ():
            with naming(source.name), opened(source.given) as stream:
                lines = iter(partial(stream.readline, SIZE_LIMIT + 1), b"")
                found += messages(lines, records)
        with terminable():
            there = queue.put(found, parted)  # nothing is there where a FILE cannot be read
        if files:
            noun = "message" if len(found) == 1 else "messages"
            before = f", there already: {there}" if there else ""
            common.say(f"put into the outbox: {len(found) - there} {noun}{before}")
        if not url:
            return
        queue.path.mkdir(parents=True, exist_ok=True)
        sent, kept, locked = 0, 0, 0
        noted = Receipts(Path(receipts) if receipts else queue.path / "receipts.jsonl")
        for one in send(queue, topic, noted, publish):
            if isinstance(one, KeptMessage):
                kept += 1
                common.say(f"{one.name}: error: {one.why}")
            elif isinstance(one, Locked):
                locked += 1
            else:
                sent += 1
    others = f", left to another sender {locked}" if locked else ""
    common.say(f"sent {sent}, refused {kept}{others}")
    sys.exit(common.NOTHING if kept else common.FOUND)
