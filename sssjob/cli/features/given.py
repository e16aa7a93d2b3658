"""The directories that a job was given, as ``show`` and ``left`` take them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common, options
from sssjob.cli.ranges import NumberRange
from sssjob.errors import Finding, InvalidValue, finding
from sssjob.features import elsewhere, keys, vocabulary
from sssjob.features.files import REMOTE, locate
from sssjob.features.left import Left, left

if TYPE_CHECKING:
    from sssjob.features.batch.sampling import ToldSample
    from sssjob.features.read import DirectoryValues
    from sssjob.features.remote import RemoteOptions

_STALE = 3600  # seconds after which a sampler has gone, as often as it may look
_DIRECTORIES = ("$MACHINEFEATURES", "$JOBFEATURES")  # which are named by their places here
_AHEAD = 5  # seconds that a clock may have been set back meanwhile


@dataclass(frozen=True, slots=True)
class FeatureOptions:
    """What the options say; a directory that is "" is the one that the environment names."""

    machine: str = ""
    job: str = ""
    now: int | None = None
    cpu_used: float | None = None
    ca: str = ""
    certificate: str = ""
    key: str = ""
    seconds: float = 10.0

    @property
    def options(self) -> RemoteOptions:
        """How servers are asked."""
        from sssjob.features.remote import RemoteOptions

        total = 3 * self.seconds
        return RemoteOptions(self.seconds, total, self.ca, self.certificate, self.key)


@dataclass(slots=True)
class GivenFeatures:
    """Both directories, by keys of the 2016 vocabulary, and what was wrong with them.

    Where the environment names none, what is said elsewhere; ``is_ours`` tells whether anybody
    gave it to this job: what the kernel enforces, it enforces on everybody.
    """

    machine: dict[str, keys.Value] = field(default_factory=dict)
    job: dict[str, keys.Value] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    unlearned: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    is_ours: bool = True
    places: tuple[str, ...] = ()

    @property
    def elsewhere(self) -> dict[str, str]:
        """The sources of what stands in no directory."""
        return {name: text for name, text in self.sources.items() if text not in self.places}

    def left(self, given: FeatureOptions) -> Left:
        """What is left of the limits."""
        now = time.time() if given.now is None else given.now
        if given.cpu_used is not None:
            return left(self.job, self.machine, now, given.cpu_used)
        used, rate = self._measured(now)
        return left(self.job, self.machine, now, used, rate)

    def _measured(self, now: float) -> tuple[float | None, float | None]:
        """The CPU time that was used, and the processors that are kept busy.

        A sampler knows that of the whole job, and tells it in $JOBSTATUS; since its look the job
        has gone on at its rate. Without one, it is what this session used. Where nobody knows when
        it looked, so much at least was used; where nobody can read what it found, nothing is known.
        """
        from sssjob.features.used import session_cpu_secs

        session = session_cpu_secs()
        if not os.environ.get("JOBSTATUS"):
            return session, None
        found, faults, is_lost = _told(os.environ["JOBSTATUS"])
        start = self.job.get("jobstart_secs")
        since = now - found.time if found is not None and found.time else None
        if found is not None and since is not None:
            if isinstance(start, int) and found.time < start:
                faults = (*faults, "used_time is before the job started: it is of another one")
                found = None
            elif since < -_AHEAD:
                faults = (*faults, f"used_time lies {int(-since)} s ahead: a clock was changed")
            elif since > _STALE:
                faults = (*faults, f"used_time is {int(since)} s ago: nobody measures any more")
        self.findings += (finding("W-TYPE", f"$JOBSTATUS: {text}") for text in faults)
        if is_lost:
            if "cpu_limit_secs" in self.job:
                self.unread.append("used_cpu_secs")
            return None, None
        if found is None or found.cpu_secs is None:
            return session, None
        if since is None or not -_AHEAD <= since <= _STALE:
            return max(found.cpu_secs, session or 0), None
        since = max(since, 0)
        used = found.cpu_secs + since * (found.cpu_rate or 0)
        return max(used, session or 0), found.cpu_rate

    def as_dict(self, remaining: Left) -> dict[str, object]:
        """Everything, as JSON has it."""
        return {
            "machine": {name: keys.spell(value) for name, value in self.machine.items()},
            "job": {name: keys.spell(value) for name, value in self.job.items()},
            "unknown": self.unknown,
            "unread": self.unread,
            "sources": self.sources,
            "left": left_dict(remaining),
            "findings": [found.as_dict() for found in self.findings],
        }


def left_dict(remaining: Left) -> dict[str, object]:
    """What is left, as JSON has it: null is no limit that is known."""
    return {
        "time": remaining.time, "wall": remaining.wall, "cpu": remaining.cpu,
        "rate": remaining.rate, "shutdown": remaining.shutdown, "notes": list(remaining.notes),
    }  # fmt: skip


# fmt: off
_OPTIONS = (
    click.option("--machine", metavar="DIR|URL", default="",
                 help="The directory to take instead of $MACHINEFEATURES."),
    click.option("--job", metavar="DIR|URL", default="",
                 help="The directory to take instead of $JOBFEATURES."),
    click.option("--now", metavar="TIME", type=options.MOMENT,
                 help="What time it is: seconds since 1970, or such as 2026-11-30T12:00."),
    click.option("--cpu-used", metavar="SECONDS", type=NumberRange(0),
                 help="CPU time used; without it, that of the processes of this session."),
    click.option("--ca", metavar="FILE|DIR", default="",
                 help="Authorities by which a server's certificate is checked."),
    click.option("--certificate", metavar="FILE", default="",
                 help="The certificate of this client."),
    click.option("--key", metavar="FILE", default="", help="The key of that certificate."),
    click.option("--timeout", "seconds", metavar="SECONDS", default=10, show_default=True,
                 type=NumberRange(0.1, 600), help="How long to wait for an answer."),
)
# fmt: on


def options_of(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say which directories, handed to the command as ``given``."""

    @wraps(command)
    def with_given(
        machine: str, job: str, now: int | None, cpu_used: float | None, ca: str, certificate: str,
        key: str, seconds: float, **rest: Any,
    ) -> None:  # fmt: skip
        given = FeatureOptions(machine, job, now, cpu_used, ca, certificate, key, seconds)
        command(given=given, **rest)

    return options.together(with_given, _OPTIONS)


def _told(status: str) -> ToldSample:
    """What a sampler told in the directory that $JOBSTATUS names, as the other two variables do."""
    from sssjob.features.batch.sampling import ToldSample, told

    try:
        place = locate(status)
    except InvalidValue as error:
        return ToldSample(None, (str(error),), is_lost=True)
    if place.kind == REMOTE:  # the draft has it written by the job: a directory of this machine
        return ToldSample(None, (f"{place.place} is no local directory",), is_lost=True)
    found = told(place.place)
    return found._replace(faults=(place.advice, *found.faults)) if place.advice else found


def take(given: FeatureOptions) -> GivenFeatures:
    """Read both directories. One that an option names and that cannot be read ends the command."""
    taken = GivenFeatures()
    places: dict[str, str] = {}
    for variable, named, table, values in (
        ("MACHINEFEATURES", given.machine, keys.MACHINE_FEATURES, taken.machine),
        ("JOBFEATURES", given.job, keys.JOB_FEATURES, taken.job),
    ):
        place = places[variable] = named or os.environ.get(variable, "")
        if not place:
            text = f"${variable} is not set"
            taken.findings.append(finding("I-MISSING", text, section="MJF 2016"))
            continue
        try:
            reading = _read(place, table, given, taken.findings, named=bool(named))
        except (OSError, InvalidValue, ImportError) as error:
            reason = common.reason(error) if isinstance(error, OSError) else str(error)
            if named:
                common.fail(reason)
            taken.findings.append(finding("E-TYPE", f"${variable}: {reason}", section="MJF 2016"))
            taken.unread += keys.names(table)
            continue
        values.update(reading.values)
        taken.findings += reading.findings
        taken.unknown += reading.unknown
        taken.unread += reading.unread
        taken.unlearned += reading.unlearned
    if places["MACHINEFEATURES"] == places["JOBFEATURES"]:
        taken.machine, taken.job = vocabulary.apart(taken.machine, taken.job)
    taken.places = tuple(places.values())
    taken.sources = {
        **dict.fromkeys(taken.machine, places["MACHINEFEATURES"]),
        **dict.fromkeys(taken.job, places["JOBFEATURES"]),
    }
    if given.job:
        taken.unread += taken.unlearned
    else:
        _elsewhere(taken, places, given.now)
    return taken


def _elsewhere(taken: GivenFeatures, places: Mapping[str, str], now: int | None) -> None:
    """What is said of this job beside its directories, where one is missing, or contradicts it."""
    said = elsewhere.read(os.environ)
    job = taken.job if places["JOBFEATURES"] else None
    whole = elsewhere.joined(taken.machine, job, said, now, taken.unlearned)
    taken.is_ours = job is not None or bool(said.by or taken.machine)
    taken.unread += whole.unknown
    for key, source in whole.sources.items():
        if source not in _DIRECTORIES:
            taken.sources[key] = source
    taken.machine, taken.job = dict(whole.machine), dict(whole.job)
    taken.findings += (finding("W-DISAGREE", text, section="MJF 2016") for text in whole.problems)


def _read(
    text: str,
    table: tuple[keys.Key, ...],
    given: FeatureOptions,
    findings: list[Finding],
    *,
    named: bool,
) -> DirectoryValues:
    from sssjob.features.read import modern, read

    place = locate(text)
    if place.advice and not named:  # at the prompt, relative paths are no fault
        findings.append(finding("W-TYPE", place.advice, section="MJF 2016"))
    if place.kind == REMOTE:
        from sssjob.features import remote

        return modern(remote.read(place.place, table, given.options, given.now))
    return modern(read(place.place, table, given.now))
