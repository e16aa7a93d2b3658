"""``sssjob status``: what a batch system says of the jobs that it has, as job objects."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import click

from sssjob.cli import common, names, options, records
from sssjob.cli.ranges import NumberRange, WholeNumber
from sssjob.cli.signals import interruptible
from sssjob.errors import SSSJobError

if TYPE_CHECKING:
    from sssjob.document.sources import NamedSource
    from sssjob.model import Job
    from sssjob.records.record import Bad, Noted, Options
    from sssjob.registry import Format
    from sssjob.verbs.records import RecordReading, Tell

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

Exit code: 0 every job shown, or none there, 1 some could not be read, 2 not understood, or
the system does not answer. With --watch: 130 ended by Ctrl-C, 2 ended by --failures."""
)
@names.option(
    "--from", "name", names=names.statuses, metavar="SYSTEM", default="",
    help="The batch system to ask, or what FILE is, a system or a format: {names}. A FILE "
         "is recognised by default.",
)  # fmt: skip
@click.option("--table", "as_table", is_flag=True,
              help="Print a table of what jobs asked for and used, as on a terminal.")  # fmt: skip
@options.JSON_JOBS
@click.option(
    "--watch", metavar="SECONDS", type=NumberRange(0.1),
    help="Ask again after so many seconds, and print what is new, until Ctrl-C. A system that does "
         "not answer is asked again, too.",
)  # fmt: skip
@click.option(
    "--failures", metavar="N", type=WholeNumber(1),
    help="With --watch: end after so many attempts in a row without an answer.",
)  # fmt: skip
@options.ZONE
@options.TIMEOUT
@options.OUTPUT
@options.ALL_FINDINGS
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(
    name: str, as_table: bool, as_json: bool, watch: float | None, failures: int | None, zone: str,
    timeout: float, output: str | None, files: tuple[str, ...],
) -> None:  # fmt: skip
    """Show the jobs that a batch system has, as job objects: state, requests, what is used.

    Without FILE the system is asked by its own commands; FILE holds what they printed, "-" is
    standard input. A terminal gets a table, anything else a document on each line.
    """
    if not files and not name:
        common.fail("name a batch system to ask (--from slurm), or a FILE")
    if watch is not None and (files or output):
        common.fail("--watch asks a batch system, and prints: it takes no FILE and no --output")
    if failures is not None and watch is None:
        common.fail("--failures needs --watch: it says after how many failures that ends")
    if as_table and as_json:
        common.fail("--table and --json cannot be used together")
    table = as_table or (not as_json and output in (None, "-") and sys.stdout.isatty())
    showing = Showing(name, zone, timeout, as_json=as_json, as_table=table, output=output)
    with common.failing():
        if watch is None:
            with common.output(output) as stream:
                showing.show(files, stream)
        else:
            showing.follow(watch, failures)
    sys.exit(common.NOTHING if showing.bad else common.FOUND)


@dataclass(slots=True)
class Showing:
    """What is shown, and how; ``bad`` counts what could not be read."""

    name: str
    zone: str
    timeout: float
    as_json: bool
    as_table: bool
    output: str | None = None
    bad: int = 0
    _said: records.RecordMessages = field(default_factory=records.RecordMessages)

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
        self._said.rest()
        self.bad += reading.counts.bad

    def follow(self, seconds: float, failures: int | None = None) -> None:
        """Print the jobs again and again: a table anew, else those that are not as they were.

        Where ``failures`` questions in a row are not answered, the last reason is raised.
        """
        from sssjob.verbs import status

        news = _News(self._said)
        failing = _Failing(self.name, failures)
        known: dict[str, str] = {}
        status.require_asked(self.name)
        try:
            with interruptible() as is_interrupted:
                while not is_interrupted():
                    jobs = failing.answer(lambda: list(self._jobs((), self._reading(news))))
                    if jobs is not None:
                        self._show_again(jobs, known)
                    news.turn()
                    common.told().again()
                    if not is_interrupted():
                        time.sleep(seconds)
        except KeyboardInterrupt:
            pass
        sys.exit(INTERRUPTED)

    def _show_again(self, jobs: Sequence[Job], known: dict[str, str]) -> None:
        stream = sys.stdout.buffer
        if self.as_table:
            stream.write(_CLEAR.encode() if sys.stdout.isatty() else b"")
            stream.writelines(self._table(jobs))
        else:
            with common.stdout() as shown:
                shown.writelines(self._changed(jobs, known))
        stream.flush()

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
            room = common.room(self.output)
            yield from (f"{line}\n".encode() for line in table(jobs, time.time(), room))

    def _reading(self, tell: Tell | None = None) -> RecordReading:
        from sssjob.verbs.records import RecordReading

        return RecordReading(tell or self._said)

    def _jobs(self, files: Sequence[str], reading: RecordReading) -> Iterator[Job]:
        from sssjob.records.builders import OBJECTS
        from sssjob.verbs import status

        rows, options = self._how(files)
        return reading.jobs(
            self._sources(files), lambda raw: status.outcomes(raw, rows, options, OBJECTS)
        )

    def _texts(self, files: Sequence[str], reading: RecordReading) -> Iterator[str]:
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
        from sssjob.commands import CommandLimits
        from sssjob.document.sources import NamedSource
        from sssjob.verbs import status

        if files:
            yield from common.sources(files)
        else:
            yield NamedSource(
                self.name, status.asked(self.name, CommandLimits(seconds=self.timeout))
            )


class _News:
    """Tells of each answer only what was not said of the one before."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._before: Counter[str] = Counter()
        self._now: Counter[str] = Counter()

    def __call__(self, name: str, item: Bad | Noted) -> None:
        """Something that is to be said; it may stand on another line than before."""
        from sssjob.records.record import Bad

        said = item.reason if isinstance(item, Bad) else item.message
        self._now[said] += 1
        if self._now[said] > self._before[said]:
            self._tell(name, item)

    def turn(self) -> None:
        """The next answer begins."""
        self._before, self._now = self._now, Counter()


@dataclass(slots=True)
class _Failing:
    """A system that may not answer now and then: told once, and once when it does again."""

    name: str
    most: int | None
    _number: int = 0

    def answer(self, ask: Callable[[], list[Job]]) -> list[Job] | None:
        """The answer, or None where there is none. Raises the last of so many reasons."""
        try:
            found = ask()
        except BrokenPipeError:
            raise
        except (SSSJobError, OSError) as error:
            self._number += 1
            if self._number == self.most:
                raise
            if self._number == 1:
                said = f"{self.name} does not answer, and is asked again: {error}"
                common.say(f"sssjob: warning: {said}")
            return None
        if self._number:
            common.say(f"sssjob: notice: {self.name} answers again")
            self._number = 0
        return found


def _json(job: Job) -> bytes:
    from sssjob.document.json import as_dict

    return json.dumps(as_dict(job), ensure_ascii=False).encode() + b"\n"
