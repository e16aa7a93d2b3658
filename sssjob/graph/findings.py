"""What is wrong with the dependencies of jobs, and what is worth knowing, as findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sssjob import spec, units
from sssjob.errors import AwarenessPolicy, Finding, InvalidValue, Severity, finding
from sssjob.graph.circles import LIMIT, circles
from sssjob.graph.net import JobPlace, Mark, Net
from sssjob.graph.never import contradictions
from sssjob.graph.progress import needed
from sssjob.model import Property

_SECTION = "SSS 5.1 Dependency"
_SHOWN = 12  # jobs of a circle that are named in one line
_VOCABULARIES = [
    row
    for row in spec.attributes("Dependency").values()
    if row.values and row.name != "awarenessPolicy"
]


def check(net: Net, *, closed: bool = False, unsaid: frozenset[str]) -> Iterator[Finding]:
    """Findings about each dependency, then about circles and jobs that can never run.

    ``unsaid`` are the keys of jobs that ended without anybody saying how.
    """
    for number, place in enumerate(net.places):
        needs = iter(net.needs[number])
        for position, item in enumerate(place.written, start=1):
            at = _WrittenDependency(place, item, position if len(place.written) > 1 else 0)
            if not item.text.strip():
                yield at.say("W-USELESS", "a Dependency that names no job has no effect")
                continue
            target, want = next(needs)
            if item.attributes:
                yield from _understood(net, at)
            if target in net.external and want is not Mark.UNREAD:
                text = f"{net.keys[number]} depends on {net.label(target)}, which is not here"
                yield at.say("E-REF" if closed else "I-REFERENCE", text)
            elif unsaid and want not in (Mark.ANY, Mark.UNREAD):
                yield from _unsaid(net, target, unsaid, at)
    yield from _circles(net)
    yield from _never(net)


class _WrittenDependency(NamedTuple):
    """A dependency where it is written; ``number`` tells it from others beside it."""

    place: JobPlace
    item: Property
    number: int

    def say(self, code: str, text: str, severity: Severity | None = None) -> Finding:
        start = "/JobGroup/JobDefaults" if self.place.inherits else self.place.path
        step = f"Dependency[{self.number}]" if self.number else "Dependency"
        return finding(
            code, text, line=self.item.line, path=f"{start}/{step}", section=_SECTION,
            severity=severity,
        )  # fmt: skip


def _understood(net: Net, at: _WrittenDependency) -> Iterator[Finding]:
    get = at.item.attributes.get
    for row in _VOCABULARIES:
        value = get(row.name)
        if value is not None and value not in row.values:
            around = AwarenessPolicy.at(at.place.job.attributes, net.policy)
            severity = AwarenessPolicy.at(at.item.attributes, around).severity
            if severity is not None:
                text = f"{row.name}: {value!r} is not one of {', '.join(row.values)}"
                yield at.say("E-UNKNOWN", text, severity=severity)
    code = get("code")
    if code is None:
        return
    try:
        units.integer(code)
    except InvalidValue as error:
        yield at.say("E-TYPE", f"code: {error}")


def _unsaid(
    net: Net, target: int, unsaid: frozenset[str], at: _WrittenDependency
) -> Iterator[Finding]:
    for member in net.members.get(target, (target,)):
        if net.keys[member] in unsaid:
            text = f"{net.keys[member]} has ended without an ExitCode: whether well is not known"
            yield at.say("W-EXIT", text)
            return


def _circles(net: Net) -> Iterator[Finding]:
    found, more = circles(net)
    for circle in found:
        names = [net.keys[job] for job in circle]
        if len(names) > _SHOWN:
            names[_SHOWN - 2 : -1] = [f"... {len(names) - _SHOWN + 1} more ..."]
        yield _at(net, circle[0], "E-CYCLE", f"jobs wait for each other: {' → '.join(names)}")
    if more:
        text = f"there are more circles than the {LIMIT} told here"
        yield _at(net, found[-1][0], "E-CYCLE", text)


def _never(net: Net) -> Iterator[Finding]:
    for job, target, *needs in contradictions(net):
        (one, one_want), (other, other_want) = needs
        text = (
            f"{net.keys[job]} can never run: {net.keys[one]} needs {net.label(target)} "
            f"{needed(one_want)}, and {net.keys[other]} needs it {needed(other_want)}"
        )
        yield _at(net, job, "W-NEVER", text)


def _at(net: Net, job: int, code: str, text: str) -> Finding:
    """A finding at the first dependency of a job."""
    place = net.places[job]
    line = next((item.line for item in place.written), place.job.line)
    return finding(code, text, line=line, path=place.path, section=_SECTION)
