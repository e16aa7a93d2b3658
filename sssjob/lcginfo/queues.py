"""Batch systems: asked by their commands, and what those print read into a snapshot.

A reader takes any number of outputs in any order and knows each by its looks, so that files and
live commands are the same to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sssjob import commands, registry
from sssjob.commands import Limits
from sssjob.lcginfo.reader import Options, Reader
from sssjob.lcginfo.snapshot import Report, Snapshot, unheard
from sssjob.registry import Queue


def queues() -> dict[str, Queue]:
    """What is known of the queues of each batch system, by its name."""
    return {name: row.queue for name, row in registry.all_systems().items() if row.queue}


def ask(name: str, *, text: bool = False, limits: Limits | None = None) -> Iterator[bytes]:
    """What the commands of a batch system print. Raises ``CommandFailed``."""
    queue = queues()[name]
    for arguments in (text and queue.ask_text) or queue.ask:
        environment = {"LC_ALL": "C", **dict(queue.environment)}
        yield commands.run(arguments, arguments[0], limits, environment)


def snapshot(
    name: str, outputs: Iterable[bytes], options: Options, report: Report = unheard
) -> Snapshot:
    """The state that the outputs of a batch system show together. Raises ``UnusableOutput``."""
    reader: Reader = registry.loaded(queues()[name].reader)(options, report)
    for output in outputs:
        reader.take(output.decode("utf-8", "replace"))
    return reader.snapshot()
