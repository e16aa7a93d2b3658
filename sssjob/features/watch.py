"""Watching for the end of a machine or a job: what changed since the last look, and what is due."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

from sssjob import registry
from sssjob.features import notices
from sssjob.features.notices import Answer, Notice, Surroundings


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


class _Asking(NamedTuple):
    """A question to a source that has not been answered yet."""

    since: float  # by the monotonic clock
    answers: SimpleQueue[Answer]


@dataclass(slots=True)
class Watch:
    """Sources that are asked again and again, and what they said last.

    While a source does not answer, what it said last counts: no answer calls nothing off. All are
    asked at the same time, so that none has the others wait. # decision 578
    """

    names: Iterable[str]
    asked: Surroundings
    said: dict[str, Mapping[str, Notice]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    _asking: dict[str, _Asking] = field(default_factory=dict)

    def look(self, now: int, patience: float | None = None) -> Looked:
        """Ask all sources once, at ``now`` in seconds since 1970.

        After ``patience`` seconds, if it is given, the look is over: who has not answered is not
        asked again before, and counts at the look before which the answer came.
        """
        before = self.standing
        problems = {}
        for name, answer in self._answers(now, patience):
            if answer is None:
                problem = self.problems.get(name, "") or self._silence(name)
            else:
                problem = answer.problem
                if answer.said is not None:
                    old = self.said.get(name, {})
                    self.said[name] = _followed(old, answer.said, bool(problem))
            if problem:
                problems[name] = problem
        standing = self.standing
        changes = tuple(
            NoticeChange(key, standing.get(key))
            for key in (notices.MACHINE, notices.JOB)
            if _has_changed(before.get(key), standing.get(key), now)
        )
        told = tuple(
            f"{name}: {reason}"
            for name, reason in problems.items()
            if self.problems.get(name) != reason
        )
        self.problems = problems
        return Looked(changes, told)

    def _answers(self, now: int, patience: float | None) -> Iterator[tuple[str, Answer | None]]:
        """What each source answers in time; None for one that does not."""
        for name in self.names:
            if name not in self._asking:
                self._asking[name] = _begun(name, self.asked, now)
        end = None if patience is None else time.monotonic() + patience
        for name in self.names:
            left = None if end is None else max(0.0, end - time.monotonic())
            try:
                answer = self._asking[name].answers.get(timeout=left)
            except Empty:
                yield name, None
            else:
                del self._asking[name]
                yield name, answer

    def _silence(self, name: str) -> str:
        waits = time.monotonic() - self._asking[name].since > self.asked.seconds
        return f"no answer within {self.asked.seconds:g} seconds" if waits else ""

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
            if name not in self.problems and name not in self._asking
            and _prologs_ask(name, self.asked.node)
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


def _begun(name: str, asked: Surroundings, now: int) -> _Asking:
    """Ask a source by a thread of its own, which keeps no process from ending."""
    answers: SimpleQueue[Answer] = SimpleQueue()
    Thread(target=lambda: answers.put(notices.ask_one(name, asked, now)), daemon=True).start()
    return _Asking(time.monotonic(), answers)


def _has_changed(old: Notice | None, new: Notice | None, now: int) -> bool:
    """Whether there is something to tell: what has come, and is told no more, is not called off."""
    if old is not None and new is None and old.moment <= now:
        return False
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
