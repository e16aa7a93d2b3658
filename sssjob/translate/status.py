"""What batch systems show of their live jobs, as sources that are only read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from io import BytesIO

from sssjob import registry
from sssjob.errors import Finding, Severity, finding
from sssjob.model import Job
from sssjob.records import read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.clock import AS_UTC
from sssjob.records.record import Bad, Converted, Noted, Options
from sssjob.registry import Format, Status
from sssjob.translate.translator import Read, Settings, Translator


class StatusSource(Translator[Job]):
    """A format of a system's status; ``zone`` is that of times which state none."""

    def __init__(self, row: Format, zone: str) -> None:
        self.row, self.zone = row, zone
        self.name = row.name

    def load(self, data: bytes) -> Iterator[Job | Finding]:
        """Every job; a record that is none is a finding, and the next ones are read."""
        if not data.strip():
            return
        for outcome in read_records(self.row, BytesIO(data), Options(zone=self.zone), OBJECTS):
            match outcome:
                case Converted(_, job):
                    yield job
                case Bad(line, reason):
                    yield finding("E-TYPE", reason, line=line)
                case Noted(line, message, _, severity):
                    message = AS_UTC if outcome.assumes_utc else message  # no option names a zone
                    code = "W-UNKNOWN" if severity is Severity.WARNING else "I-REFERENCE"
                    yield finding(code, message, line=line, severity=severity)

    def job(self, form: Job, settings: Settings) -> Read:
        """The job."""
        return Read(form)

    def recognises(self, head: bytes) -> str:
        """What the format says."""
        found: str = self.row.load().recognises(head)
        return found


def sources() -> dict[str, StatusSource]:
    """The sources of every system, by name."""
    return _sources(registry.all_statuses().values())


def source(name: str) -> StatusSource | None:
    """The source of a name, if there is one."""
    return _ours().get(name) or (None if name in registry.targets() else sources().get(name))


@cache
def _ours() -> dict[str, StatusSource]:
    return _sources(row.status for row in registry.systems().values() if row.status)


def _sources(statuses: Iterable[Status]) -> dict[str, StatusSource]:
    found: dict[str, StatusSource] = {}
    for status in statuses:
        for row in status.formats:
            zone = dict(status.environment).get("TZ", "")
            found.setdefault(row.name, StatusSource(row, zone))  # ours come first, and stay
    return found
