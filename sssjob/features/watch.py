"""Watching for the end of a machine or a job: what changed since the last look, and what is due."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sssjob import registry
from sssjob.features import notices
from sssjob.features.notices import Notice, Surroundings


@dataclass(frozen=True, slots=True)
class NoticeChange:
    """A notice that is new or has moved; ``notice`` is None if it was called off."""

    key: str
    notice: Notice | None


@dataclass(frozen=True, slots=True)
class Looked:
    """What changed, and what could not be asked that could before, or for another reason."""

    changes: tuple[NoticeChange, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class Watch:
    """Sources that are asked again and again, and what they said last.

    While a source does not answer, what it said last counts: no answer calls nothing off.
    """

    names: Iterable[str]
    asked: Surroundings
    said: dict[str, Mapping[str, Notice]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def look(self, now: int) -> Looked:
        """Ask all sources once, at ``now`` in seconds since 1970."""
        before = self.standing
        found = notices.ask(self.names, self.asked, now)
        for name, new in found.said.items():
            self.said[name] = _followed(self.said.get(name, {}), new, name in found.problems)
        standing = self.standing
        changes = tuple(
            NoticeChange(key, standing.get(key))
            for key in (notices.MACHINE, notices.JOB)
            if _moment(standing.get(key)) != _moment(before.get(key))
        )
        problems = tuple(
            f"{name}: {reason}"
            for name, reason in found.problems.items()
            if self.problems.get(name) != reason
        )
        self.problems = dict(found.problems)
        return Looked(changes, problems)

    @property
    def standing(self) -> dict[str, Notice]:
        """The earliest notice that stands, by key."""
        return notices.earliest(self.said)

    def by_source(self, key: str) -> dict[str, int | None]:
        """What each source that ever answered says of a key; None is that nothing is to end.

        Who was not told the node asks by the name of the host, which may be another one: that is
        not what the prologs of the node hear, and does not call it off.
        """
        return {
            name if self.asked.node or not _has_prologs(name) else f"{name}-by-host":
            _moment(each.get(key)) for name, each in self.said.items()
        }  # fmt: skip

    def answering(self) -> tuple[str, ...]:
        """The batch systems that answered at the last look what their prologs ask of a node."""
        return tuple(
            name for name in self.names
            if name not in self.problems and _prologs_ask(name, self.asked.node)
        )  # fmt: skip

    @property
    def end(self) -> Notice | None:
        """The earliest of what stands: how long whoever runs here may go on."""
        return min(self.standing.values(), key=lambda each: each.moment, default=None)


def _has_prologs(name: str) -> bool:
    row = registry.all_systems().get(name)
    return bool(row and row.script)


def _prologs_ask(name: str, node: str) -> bool:
    row = registry.all_systems().get(name)
    return bool(row and row.script and row.load("script")((), {}).outages(node))


def _moment(notice: Notice | None) -> int | None:
    return None if notice is None else notice.moment


def _followed(
    old: Mapping[str, Notice], new: Mapping[str, Notice], in_part: bool
) -> dict[str, Notice]:
    """What a source says now. One that did not say all calls nothing off.

    A notice that counts from when it was seen stays where it was.
    """
    found = dict(new)
    for key, notice in old.items():
        now = found.get(key)
        seen_before = now is not None and now.counts and notice[2:] == now[2:]
        if seen_before or (in_part and (now is None or notice.moment < now.moment)):
            found[key] = notice
    return found
