"""Watching for the end of a machine or a job: what changed since the last look, and what is due."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

from sssjob import registry
from sssjob.features import notices
from sssjob.features.notices import Notice, SourceAnswer, Surroundings

_TOGETHER = 0.05  # seconds within which answers are told together


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


class _SourceReply(NamedTuple):
    """What a source answers."""

    name: str
    answer: SourceAnswer


@dataclass(slots=True)
class Watch:
    """Sources that are asked again and again, and what they said last.

    All are asked at the same time, each by a thread of its own, and what one says counts as soon as
    it says it: none has another one wait. While a source does not answer, what it said last counts:
    no answer calls nothing off. # decision 578
    """

    names: Iterable[str]
    asked: Surroundings
    said: dict[str, Mapping[str, Notice]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    _whole: set[str] = field(default_factory=set)  # who has said all at least once
    _resumed: set[str] = field(default_factory=set)  # who called off a drain
    _asking: dict[str, float] = field(default_factory=dict)  # since when, by the monotonic clock
    _events: SimpleQueue[_SourceReply | None] = field(default_factory=SimpleQueue)
    _told: dict[str, Notice] = field(default_factory=dict)
    _told_problems: dict[str, str] = field(default_factory=dict)

    def look(self, now: int, patience: float | None = None) -> Looked:
        """Ask all sources once, at ``now`` in seconds since 1970, and say what changed.

        After ``patience`` seconds, if it is given, the look is over.
        """
        self.ask(now)
        end = None if patience is None else time.monotonic() + patience
        while self._asking and (end is None or time.monotonic() < end):
            self.hear(None if end is None else end - time.monotonic())
        return self.changed(now)

    def ask(self, now: int) -> None:
        """Ask the sources, but for those that have not answered yet when they were asked before."""
        for name in self.names:
            if name not in self._asking:
                self._asking[name] = time.monotonic()
                # No thread keeps the process from ending.
                Thread(target=self._ask, args=(name, now), daemon=True).start()

    def _ask(self, name: str, now: int) -> None:
        for answer in notices.answers(name, self.asked, now):
            self._events.put(_SourceReply(name, answer))

    def hear(self, seconds: float | None) -> None:
        """Wait for so many seconds until a source answers, or somebody has it ``wake``."""
        try:
            event = self._events.get(timeout=None if seconds is None else max(seconds, 0))
            end = time.monotonic() + _TOGETHER
            while event is not None:
                self._take(*event)
                rest = end - time.monotonic() if self._asking else 0
                event = self._events.get(timeout=max(rest, 0))
        except Empty:
            return

    def wake(self) -> None:
        """Have whoever waits for an answer go on."""
        self._events.put(None)

    def _take(self, name: str, answer: SourceAnswer) -> None:
        if answer.said is not None:
            in_part = bool(answer.problem) or not answer.is_last
            old = self.said.get(name, {})
            found = self.said[name] = _followed(old, answer.said, in_part)
            if notices.DRAINING in found or notices.MACHINE in found:
                self._resumed.discard(name)
            elif notices.DRAINING in old:
                self._resumed.add(name)
            if not in_part:
                self._whole.add(name)
        if answer.is_last:
            del self._asking[name]
            self.problems.pop(name, None)
            if answer.problem:
                self.problems[name] = answer.problem

    def changed(self, now: int) -> Looked:
        """What has changed, at ``now``, since this was asked before."""
        for name in self._silent():
            self.problems[name] = f"no answer within {self.asked.seconds:g} seconds"
        standing, before = self.standing, self._told
        changes = tuple(
            NoticeChange(key, standing.get(key))
            for key in (notices.DRAINING, notices.MACHINE, notices.JOB)
            if _has_changed(before.get(key), standing.get(key), now, self._resumed)
        )
        told = tuple(
            f"{name}: {reason}"
            for name, reason in self.problems.items()
            if self._told_problems.get(name) != reason
        )
        self._told, self._told_problems = standing, dict(self.problems)
        return Looked(changes, told)

    def _silent(self) -> list[str]:
        """Who was given the time to answer, and has no problem that was told already."""
        late = time.monotonic() - self.asked.seconds
        return [n for n, since in self._asking.items() if since <= late and n not in self.problems]

    def patience(self) -> float | None:
        """In how many seconds it is time to tell that a source is silent; None if none is asked."""
        waits = [since for name, since in self._asking.items() if name not in self.problems]
        return min(waits) + self.asked.seconds - time.monotonic() if waits else None

    @property
    def standing(self) -> dict[str, Notice]:
        """The earliest notice that stands, by key."""
        return notices.earliest(self.said)

    def by_source(self, key: str) -> dict[str, int | None]:
        """What each source says of a key; None is that nothing is to end, from who said all once.

        Who was not told the node asks by the name of the host, which may be another one: that is
        not what the prologs of the node hear, and does not call it off.
        """
        return {
            self.asked.called(name): _moment(each.get(key))
            for name, each in self.said.items()
            if name in self._whole or key in each
        }

    def draining(self) -> tuple[str, ...]:
        """Who says that the machine takes no new jobs."""
        return tuple(
            self.asked.called(name) for name, each in self.said.items() if notices.DRAINING in each
        )

    def answering(self) -> tuple[str, ...]:
        """The batch systems that answered at the last look what their prologs ask of a node."""
        return tuple(
            name for name in self.names
            if name not in self.problems and name not in self._asking
            and _prologs_ask(name, self.asked.node)
        )  # fmt: skip

    @property
    def end(self) -> Notice | None:
        """The earliest of what stands: how long whoever runs here may go on."""
        ends = (each for key, each in self.standing.items() if key != notices.DRAINING)
        return min(ends, key=lambda each: each.moment, default=None)


def _prologs_ask(name: str, node: str) -> bool:
    row = registry.all_systems().get(name)
    return bool(row and row.script and row.load("script")((), {}).outages(node))


def _has_changed(old: Notice | None, new: Notice | None, now: int, resumed: Container[str]) -> bool:
    """Whether there is something to tell.

    What has come, and is told no more, is not called off, but by who ``resumed`` the machine.
    """
    if old is not None and new is None and old.moment <= now and old.key != notices.DRAINING:
        return old.key == notices.MACHINE and old.source in resumed
    return _moment(old) != _moment(new)


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
