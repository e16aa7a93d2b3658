"""``sssjob status``: what a batch system says of the jobs that it has, as job objects."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import click

from sssjob.cli import common, names, records

if TYPE_CHECKING:
    from sssjob.document.sources import NamedSource
    from sssjob.model import Job
    from sssjob.records.record import Options
    from sssjob.registry import Format
    from sssjob.verbs.records import Reading

INTERRUPTED = 130
_CLEAR = "\x1b[2J\x1b[H"  # of a terminal


@click.command(
    epilog="""\b
Examples:
  sssjob status --from slurm
  sssjob status --from slurm | sssjob store import jobs.db -
  sssjob status --from gridengine --watch 30
  qstat -f -F json | sssjob status -
  sssjob status --json squeue.json

Exit code: 0 every job shown, or none there, 1 some could not be read, 2 not understood,
130 ended by Ctrl-C."""
)
@names.option(
    "--from", "name", names=names.statuses, metavar="SYSTEM", default="",
    help="The batch system to ask, or what FILE is, a system or a format: {names}. Default for a "
         "FILE: whatever it looks like.",
)  # fmt: skip
@click.option("--table", "as_table", is_flag=True,
              help="Print a table of used and asked for, as on a terminal.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each job.")
@click.option(
    "--watch", metavar="SECONDS", type=click.FloatRange(0.1),
    help="Ask again after so many seconds, and print what is new, until Ctrl-C.",
)  # fmt: skip
@click.option(
    "--tz", "zone", metavar="ZONE", default="",
    help="The zone of times that state none, such as Europe/London. Default: UTC.",
)  # fmt: skip
@click.option("--timeout", metavar="SECONDS", type=click.FloatRange(0.1), default=120,
              show_default=True, help="How long a command of the system may take.")  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(dir_okay=False),
    help="Write to FILE, whole or not at all.",
)  # fmt: skip
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(
    name: str, as_table: bool, as_json: bool, watch: float | None, zone: str, timeout: float,
    output: str | None, files: tuple[str, ...],
) -> None:  # fmt: skip
    """Show the jobs that a batch system has, as job objects: state, requests, what is used.

    Without FILE the system is asked by its own commands; FILE holds what they printed, "-" is
    standard input. A terminal gets a table, anything else a document on each line.
    """
    if not files and not name:
        common.fail("name a batch system to ask (--from slurm), or a FILE")
    if watch is not None and (files or output):
        common.fail("--watch asks a batch system, and prints: it takes no FILE and no --output")
    if as_table and as_json:
        common.fail("--table and --json are two forms")
    table = as_table or (not as_json and output in (None, "-") and sys.stdout.isatty())
    showing = Showing(name, zone, timeout, as_json=as_json, as_table=table)
    with common.failing():
        if watch is None:
            with common.output(output) as stream:
                showing.show(files, stream)
        else:
            showing.follow(watch)
    sys.exit(common.NOTHING if showing.bad else common.FOUND)


@dataclass(slots=True)
class Showing:
    """What is shown, and how; ``bad`` counts what could not be read."""

    name: str
    zone: str
    timeout: float
    as_json: bool
    as_table: bool
    bad: int = 0
    _said: records.Said = field(default_factory=records.Said)

    def show(self, files: Sequence[str], stream: BinaryIO) -> None:
        """Print the jobs of files, or of the system."""
        from sssjob.document.text import write_texts

        reading = self._reading()
        if self.as_table:
            stream.writelines(self._table(list(self._jobs(files, reading))))
        elif self.as_json:
            stream.writelines(map(_json, self._jobs(files, reading)))
        else:
            write_texts(self._texts(files, reading), stream)
        self.bad += reading.counts.bad

    def follow(self, seconds: float) -> None:
        """Print the jobs again and again: a table anew, else those that are not as they were."""
        known: dict[str, str] = {}
        stream = sys.stdout.buffer
        try:
            while True:
                reading = self._reading()
                jobs = list(self._jobs((), reading))
                if self.as_table:
                    stream.write(_CLEAR.encode() if sys.stdout.isatty() else b"")
                    stream.writelines(self._table(jobs))
                else:
                    with common.stdout() as shown:
                        shown.writelines(self._changed(jobs, known))
                stream.flush()
                self.bad += reading.counts.bad
                time.sleep(seconds)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def _changed(self, jobs: Sequence[Job], known: dict[str, str]) -> Iterator[bytes]:
        from sssjob.document import dumps
        from sssjob.document.text import on_one_line

        now = {job.get("GlobalId") or job.id: on_one_line(dumps(job)) for job in jobs}
        for job in jobs:
            key = job.get("GlobalId") or job.id
            if known.get(key) != now[key]:
                yield _json(job) if self.as_json else f"{now[key]}\n".encode()
        known.clear()
        known.update(now)

    def _table(self, jobs: Sequence[Job]) -> Iterator[bytes]:
        from sssjob.drawing.status import table

        if jobs:
            yield from (f"{line.rstrip()}\n".encode() for line in table(jobs, time.time()))

    def _reading(self) -> Reading:
        from sssjob.verbs.records import Reading

        return Reading(self._said)

    def _jobs(self, files: Sequence[str], reading: Reading) -> Iterator[Job]:
        from sssjob.records.builders import OBJECTS
        from sssjob.verbs import status

        rows, options = self._how(files)
        return reading.jobs(
            self._sources(files), lambda raw: status.outcomes(raw, rows, options, OBJECTS)
        )

    def _texts(self, files: Sequence[str], reading: Reading) -> Iterator[str]:
        from sssjob.records.builders import TEXTS
        from sssjob.verbs import status

        rows, options = self._how(files)
        return reading.jobs(
            self._sources(files), lambda raw: status.outcomes(raw, rows, options, TEXTS)
        )

    def _how(self, files: Sequence[str]) -> tuple[tuple[Format, ...], Options]:
        """The formats that it may be in, and how to read them."""
        from sssjob.records.record import Options
        from sssjob.verbs import status

        rows = status.formats(self.name or status.AUTO)
        if files or self.zone:
            return rows, Options(zone=self.zone)
        return rows, status.options(self.name)

    def _sources(self, files: Sequence[str]) -> Iterator[NamedSource]:
        """The files, or what the system prints when it is asked."""
        from sssjob.commands import Limits
        from sssjob.document.sources import NamedSource
        from sssjob.verbs import status

        if files:
            yield from common.sources(files)
        else:
            yield NamedSource(self.name, status.asked(self.name, Limits(seconds=self.timeout)))


def _json(job: Job) -> bytes:
    from sssjob.document.json import as_dict

    return json.dumps(as_dict(job), ensure_ascii=False).encode() + b"\n"
