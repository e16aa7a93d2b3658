"""``sssjob features watch``: notices of a shutdown, announced, printed, and passed on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

import click

from sssjob import standard_output
from sssjob.cli import common, options
from sssjob.cli.features.payload import has_ended, running
from sssjob.cli.ranges import NumberRange, WholeNumber
from sssjob.commands import CommandFailed
from sssjob.errors import SSSJobError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from sssjob.features.watch import Looked, NoticeChange, Watch

_NUMBERS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_PUT_OFF = 60  # seconds by which an end moves that is another one
_GRACE = 0.5  # seconds for an answer that says why a source has none
SIGNALS = {each.name.removeprefix("SIG"): each for each in _NUMBERS}


class SourceName(click.ParamType):  # type: ignore[type-arg]  # it has none before click 8.2
    """A source of notices, looked up when it is asked for."""

    name = "source"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The source of a name, whatever the case of its letters."""
        from sssjob.features.notices import names

        if value.lower() not in names():
            self.fail(f"{value!r} is not one of {', '.join(names())}", param, ctx)
        return value.lower()

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The sources that begin so."""
        from click.shell_completion import CompletionItem

        from sssjob.features.notices import names

        return [CompletionItem(each) for each in names() if each.startswith(incomplete.lower())]


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  sssjob features watch --once
  sssjob features watch --notice 600 --signal USR1 -- ./payload --resume
  sssjob features watch --from aws --from systemd --machine /run/mjf/machinefeatures

Exit code: with a payload, its own (128 and the number of the signal that ended it); else 0 a
shutdown is announced, 1 none is, 2 a source that was named cannot be asked, or a directory cannot
be written.""",
)
@click.option("--from", "sources", metavar="SOURCE", multiple=True, type=SourceName(),
              help="Ask this source: features, systemd, slurm, condor, kubernetes, aws, azure or "
              "gce; may be given again. Without it: features, systemd, and what this job runs "
              "in.")  # fmt: skip
@click.option("--every", metavar="SECONDS", type=NumberRange(0.1, 86400), default=30,
              show_default=True, help="How long to wait between two looks.")  # fmt: skip
@click.option("--once", is_flag=True, help="Look once, and end.")
@click.option("--machine", metavar="DIR", type=click.Path(exists=True, file_okay=False),
              help="Announce shutdowntime in this $MACHINEFEATURES.")  # fmt: skip
@click.option("--job", metavar="DIR", type=click.Path(exists=True, file_okay=False),
              help="Announce shutdowntime_job in this $JOBFEATURES.")  # fmt: skip
@click.option("--notice", metavar="SECONDS", type=WholeNumber(0), default=0, show_default=True,
              help="How long before the end the payload is signalled.")  # fmt: skip
@click.option("--signal", "name", type=click.Choice(sorted(SIGNALS), case_sensitive=False),
              default="TERM", show_default=True, help="The signal that COMMAND gets.")  # fmt: skip
@click.option("--call", "program", metavar="PROGRAM", type=click.Path(),
              help="Call this program at each change: PROGRAM KEY SECONDS-SINCE-1970 SOURCE; "
              "the time is - when a notice is called off.")  # fmt: skip
@click.option(
    "--node", metavar="NAME", default="", help="The name of this machine in the batch system."
)
@click.option("--url", metavar="URL", default="",
              help="Where the metadata service or the API answers.")  # fmt: skip
@click.option("--seconds", metavar="SECONDS",
              type=NumberRange(0.1, 3600), default=5, show_default=True,
              help="How long each source, and PROGRAM, may take.")  # fmt: skip
@options.JSON_LINES
@click.argument("payload", nargs=-1, metavar="[-- COMMAND [ARGUMENT]...]")
def command(
    sources: tuple[str, ...], every: float, once: bool, machine: str | None, job: str | None,
    notice: int, name: str, program: str | None, node: str, url: str, seconds: float,
    as_json: bool, payload: tuple[str, ...],
) -> None:  # fmt: skip
    """Watch whether this machine or job is to end, and tell the jobs and payloads on it.

    A notice is when the machine is to be down (shutdowntime) or the job to have ended
    (shutdowntime_job). Each one that is new, moves, or is called off is printed, announced in
    directories, and passed to PROGRAM. COMMAND runs meanwhile, and gets the signal when so many
    seconds are left; a signal that would end this command (TERM, USR1, XCPU and others) goes to it.

    "draining" tells since when the machine takes no new jobs (Slurm, HTCondor, Kubernetes). It ends
    no job by itself, and is announced in no directory: a pilot may stop to fetch payloads.
    """
    from sssjob.commands import end_all
    from sssjob.features.notices import Surroundings, usual
    from sssjob.features.watch import Watch

    if once and payload:
        common.fail("--once looks once and runs no COMMAND")
    environment = dict(os.environ)
    names = sources or usual(environment)
    places = {"shutdowntime": machine, "shutdowntime_job": job}
    announced = {key: place for key, place in places.items() if place is not None}
    asked = Surroundings(environment, node, url, seconds=seconds, announced=announced, names=names)
    watch = Watch(names, asked)
    teller = _Teller(watch, announced, program, as_json, seconds, bool(payload))
    try:
        if once:
            teller.look()
            unasked = bool(sources and watch.problems) or bool(teller.failed)
            ended = common.FOUND if watch.end else common.NOTHING
            sys.exit(common.NOT_UNDERSTOOD if unasked else ended)
        with running(payload, watch.wake) as process:
            try:
                _watched(teller, process, every, notice, SIGNALS[name.upper()])
            finally:
                teller.end()
    finally:
        end_all()  # what a source, or a call, still waits for


class _Teller:
    """Looks, and tells what changed wherever it is to be told."""

    def __init__(
        self, watch: Watch, places: dict[str, str], program: str | None, as_json: bool,
        seconds: float, goes_on: bool,
    ) -> None:  # fmt: skip
        self.watch, self.places, self.as_json = watch, places, as_json
        self.seconds = seconds
        self.goes_on = goes_on  # whatever cannot be printed: a payload runs meanwhile
        self.calls = None if program is None else _Calls(program, seconds, self._say)
        self.failed: dict[str, str] = {}  # why a key cannot be announced
        self.noted = False

    def look(self) -> None:
        """Ask all sources once, and tell what they said in time; then wait for the program."""
        now = int(time.time())
        self._tell(self.watch.look(now, self.seconds + _GRACE), now)
        if self.calls is not None:
            self.calls.finish()

    def tell(self) -> None:
        """Tell what has changed."""
        now = int(time.time())
        self._tell(self.watch.changed(now), now)

    def _tell(self, found: Looked, now: int) -> None:
        for problem in found.problems:
            self._say(f"sssjob: {problem}")
        for change in found.changes:
            self._print(change)
        for key, place in self.places.items():
            self._announce(key, place, now)
        if self.calls is not None:
            for change in found.changes:
                self.calls.put(change)

    def note(self, now: float, every: float) -> None:
        """Let prologs know which batch systems they need not ask until after the next look."""
        from sssjob.features.batch.directories import LONGEST_WATCH, watched
        from sssjob.features.notices import MACHINE

        place = self.places.get(MACHINE)
        until = int(now + 2 * every + self.seconds)
        node = self.watch.asked.node
        if place is None or not node or MACHINE in self.failed or until > now + LONGEST_WATCH:
            return
        for name in self.watch.answering():
            with suppress(OSError, SSSJobError):  # what is not noted is asked by each prolog
                watched(Path(place), name, node, until)
                self.noted = True

    def end(self) -> None:
        """Let prologs ask themselves from now on, and make no more calls."""
        from sssjob.features.batch.directories import unwatched
        from sssjob.features.notices import MACHINE

        place = self.places.get(MACHINE)
        if self.noted and place is not None:
            with suppress(OSError, SSSJobError):  # it ends by itself
                unwatched(Path(place))
        if self.calls is not None and (missed := self.calls.give_up()):
            self._say(f"sssjob: {self.calls.program} has not been told all changes: {missed}")

    def _print(self, change: NoticeChange) -> None:
        text = _row(change) if self.as_json else _line(change)
        try:
            if self.as_json:
                common.data(text)
            else:
                common.echo(text)
            sys.stdout.flush()
        except OSError as error:
            if not self.goes_on:
                raise
            standard_output.give_up()
            self._say(f"sssjob: error: standard output: {common.reason(error)}")

    def _say(self, message: str) -> None:
        """Print a message; where nobody can be told, a payload goes on all the same."""
        try:
            common.say(message)
        except OSError:
            if not self.goes_on:
                raise
            standard_output.give_up(sys.stderr)

    def _announce(self, key: str, place: str, now: int) -> None:
        """Announce what stands, at each look: a directory may be new, or was full before."""
        from sssjob.features.batch.directories import announce_in
        from sssjob.features.notices import MACHINE

        try:
            draining = self.watch.draining() if key == MACHINE else ()
            said = self.watch.by_source(key)
            announce_in(Path(place), key, said, now, ("features",), draining)
        except (OSError, SSSJobError) as error:
            reason = common.reason(error) if isinstance(error, OSError) else str(error)
            if self.failed.get(key) != reason:
                self._say(f"sssjob: error: {reason}")
            self.failed[key] = reason
        else:
            self.failed.pop(key, None)


def _row(change: NoticeChange) -> str:
    notice = change.notice
    row: dict[str, object] = {"key": change.key, "value": None, "source": None, "why": None}
    if notice is not None:
        row = {"key": notice.key, "value": notice.moment, "source": notice.source,
               "why": notice.why}  # fmt: skip
    return json.dumps(row)


def _line(change: NoticeChange) -> str:
    from sssjob.units import iso

    notice = change.notice
    if notice is None:
        return f"{change.key}  called off"
    at = f"{notice.moment} ({iso(notice.moment)})"
    return f"{change.key}  {at} by {notice.source}: {notice.why}"


class _Calls:
    """Calls of the program, one after the other; a signal for the payload waits for none."""

    def __init__(self, program: str, seconds: float, say: Callable[[str], None]) -> None:
        self.program, self.seconds, self.say = program, seconds, say
        self.changes: SimpleQueue[NoticeChange | None] = SimpleQueue()
        self.left, self.gives_up = 0, False
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()

    def put(self, change: NoticeChange) -> None:
        """Call it of a change, once the calls before have ended."""
        self.left += 1
        self.changes.put(change)

    def finish(self) -> None:
        """Wait until all calls have ended."""
        self.changes.put(None)
        self.thread.join()

    def give_up(self) -> int:
        """Make no more calls; how many have not ended."""
        self.gives_up = True
        return self.left

    def _run(self) -> None:
        from sssjob.commands import CommandLimits, run

        while (change := self.changes.get()) is not None and not self.gives_up:
            notice = change.notice
            told = ("-", "-") if notice is None else (str(notice.moment), notice.source)
            try:
                run((self.program, change.key, *told), self.program, CommandLimits(self.seconds))
            except CommandFailed as error:
                if self.gives_up:
                    return
                self.say(f"sssjob: {error}")
            self.left -= 1


def _watched(
    teller: _Teller, process: subprocess.Popen[bytes] | None, every: float, notice: int,
    number: signal.Signals,
) -> None:  # fmt: skip
    """Look again and again, until the payload has ended.

    It is signalled once its end is near, and once more only when that was put off or called off.
    """
    watch = teller.watch
    signalled, next_look = False, time.monotonic()
    while process is None or not has_ended(process):
        if time.monotonic() >= next_look:
            watch.ask(int(time.time()))
            next_look = time.monotonic() + every
        teller.tell()
        end = watch.end
        left = None if end is None else end.moment - notice - time.time()
        if left is None or left > _PUT_OFF:
            signalled = False
        elif left <= 0 and process is not None and not signalled:
            process.send_signal(number)
            signalled = True
        teller.note(time.time(), every)
        pauses = [next_look - time.monotonic(), watch.patience()]
        if not signalled and process is not None:
            pauses.append(left)
        watch.hear(min(each for each in pauses if each is not None))
    code = process.wait()
    sys.exit(128 - code if code < 0 else code)
