"""Which jobs are ready, wait, or will never run, once some have ended.

Strategy. How a job stands depends on how its targets stand, theirs on others, and there may be
circles and names that many jobs share.

The idea is to settle each vertex once, behind all that it depends upon, in the sequence that the
net has. A need is met, may yet be met, or cannot be met any more; a job takes the worst of its
needs. The vertex of a shared name takes what its jobs have come to, as few values of them as
answer every need.

Why it is right: in that sequence every target is settled before it is asked, so one pass is
enough. What is left stands in a circle or behind one. There jobs that have ended are taken out,
what becomes free is settled in turn, and whatever still remains waits for itself and will never
run. Each need is looked at a bounded number of times, so that time grows with the document. Jobs
whose needs exclude each other, though each could be met, are found by ``never``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, TypeAlias

from sssjob.graph.net import FAILED, Exit, Mark, NeededVertex, Net, Want
from sssjob.model import Property


class State(StrEnum):
    """How a job stands: ended, or what its dependencies let it do."""

    DONE = "done"
    READY = "ready"
    WAITING = "waiting"
    NEVER = "never"


Ended: TypeAlias = int | Mark | None  # what one vertex has come to
Value: TypeAlias = Ended | tuple[Ended, ...]  # a shared name has come to several things


_WORDS = {
    State.READY: "is ready", State.WAITING: "is waiting", State.NEVER: "will never run",
}  # fmt: skip


class Reason(NamedTuple):
    """A dependency that keeps a job from running, and why."""

    dependency: Property
    state: State  # WAITING or NEVER
    text: str


class Progress:
    """A graph in which some jobs have ended."""

    def __init__(self, net: Net, exits: Mapping[str, Exit]) -> None:
        self._net = net
        self._exits = exits
        self._values: list[Value] = [Mark.WAIT] * net.size
        self._states = [State.WAITING] * len(net.keys)
        self._firsts: dict[int, dict[Ended, int]] = {}
        self._run()

    @cached_property
    def states(self) -> dict[str, State]:
        """The state of each job, in document order."""
        return dict(zip(self._net.keys, self._states, strict=True))

    def exit(self, key: str) -> Exit:
        """How a job that is done has ended."""
        return self._exits[key]

    def why(self, key: str) -> tuple[Reason, ...]:
        """The dependencies that keep a job from running; none of one that is ready or done."""
        vertex = self._net.numbers[key]
        if self._states[vertex] in (State.DONE, State.READY):
            return ()
        items = self._net.places[vertex].dependencies
        return tuple(self._reasons(vertex, self._net.needs[vertex], items))

    def _run(self) -> None:
        net = self._net
        for key, exit_ in self._exits.items():
            if key in net.numbers:
                self._values[net.numbers[key]] = exit_
                self._states[net.numbers[key]] = State.DONE
        for vertex, text in net.external.items():
            # An id of a job here is that job's; a name nobody has may be given an exit, too.
            if text in self._exits and text not in net.numbers:
                self._values[vertex] = self._exits[text]
        ordered, rest = net.sequence
        self._advance(ordered)
        if rest:
            # What has ended breaks circles; what is in one still waits for itself.
            self._never(self._advance_rest(rest))

    def _advance(self, vertices: Iterable[int]) -> None:
        """Settle vertices whose targets are settled."""
        needs, values, states, jobs = self._net.needs, self._values, self._states, len(self._states)
        done, ready, waiting, never = State.DONE, State.READY, State.WAITING, State.NEVER
        for vertex in vertices:
            if vertex >= jobs:
                values[vertex] = tuple(self._together(vertex))
            elif states[vertex] is not done:
                state = ready
                for target, want in needs[vertex]:
                    value = values[target]
                    if value == want:
                        continue
                    verdict = _verdict(value, want)
                    if verdict is never:
                        state = never
                        break
                    if verdict is waiting:
                        state = waiting
                states[vertex] = state
                values[vertex] = Mark.NEVER if state is never else Mark.WAIT

    def _advance_rest(self, rest: list[int]) -> set[int]:
        """Settle what ended jobs set free, and give the vertices that nothing does."""
        net = self._net
        left = {vertex for vertex in rest if not self._is_done(vertex)}
        open_ = {vertex: sum(t in left for t in net.targets(vertex)) for vertex in left}
        free = [vertex for vertex in rest if vertex in left and not open_[vertex]]
        for vertex in free:
            self._advance((vertex,))
            left.discard(vertex)
            for dependent in net.dependents[vertex]:
                if dependent in left:
                    open_[dependent] -= 1
                    if not open_[dependent]:
                        free.append(dependent)
        return left

    def _never(self, vertices: Iterable[int]) -> None:
        for vertex in vertices:
            self._values[vertex] = Mark.NEVER
            if vertex < len(self._states):
                self._states[vertex] = State.NEVER

    def _is_done(self, vertex: int) -> bool:
        return vertex < len(self._states) and self._states[vertex] is State.DONE

    def _reasons(
        self, vertex: int, needs: Iterable[NeededVertex], items: Iterable[Property]
    ) -> Iterator[Reason]:
        for (target, want), item in zip(needs, items, strict=True):
            verdict = _verdict(self._values[target], want)
            if verdict is State.READY:
                continue
            text = phrase(target, want, self._net)
            found = "which is itself" if target == vertex else self._found(target, want)
            yield Reason(item, verdict, f"{text}, {found}")

    def _found(self, target: int, want: Want) -> str:
        """What is in the way, in words: of a shared name, the first job that is."""
        net = self._net
        if want is Mark.UNREAD:
            return "a condition that is not understood"
        if target in net.external:
            value = self._values[target]
            return f"which {'is not here' if value is Mark.WAIT else _ended(value)}"
        if target not in net.members:
            return f"which {self._stands(target)}"
        # Of each kind of end the first job will do to say why.
        if target not in self._firsts:
            self._firsts[target] = self._together(target)
        verdicts = {_verdict(value, want): job for value, job in self._firsts[target].items()}
        job = verdicts[State.NEVER if State.NEVER in verdicts else State.WAITING]
        return f"{net.label(job)} {self._stands(job)}"

    def _stands(self, job: int) -> str:
        if self._states[job] is State.DONE:
            return _ended(self._values[job])
        return _WORDS[self._states[job]]

    def _together(self, vertex: int) -> dict[Ended, int]:
        """What the jobs of a name have come to, each with the first that has.

        It is enough to answer every need, however many the jobs: two exit codes that are not 0
        contradict whatever a third would.
        """
        kept: dict[Ended, int] = {}
        codes = 0
        for member in self._net.members[vertex]:
            value = self._values[member]
            assert not isinstance(value, tuple)
            if value in kept:
                continue
            if isinstance(value, int) and value != 0:
                codes += 1
                if codes > 2:
                    continue
            kept[value] = member
        return kept


def phrase(target: int, want: Want, net: Net) -> str:
    """What is needed, in words: ``a to exit with 2``."""
    label = net.label(target)
    who = f"every job named {label}" if target in net.members else label
    return f"{who} {needed(want)}"


def needed(want: Want) -> str:
    """What is needed of a job, in words: ``to succeed``."""
    if want == 0:
        return "to succeed"
    if isinstance(want, int):
        return f"to exit with {want}"
    return {FAILED: "to fail", Mark.ANY: "to end"}.get(want, "to fulfil its condition")


def _ended(value: Value) -> str:
    if value is FAILED:
        return "failed"
    return "ended, but its exit code is not known" if value is None else f"ended with {value}"


def _verdict(value: Value, want: Want) -> State:
    """Whether a need is met (READY), may yet be (WAITING), or cannot be any more (NEVER)."""
    if isinstance(value, tuple):
        verdicts = {_verdict(one, want) for one in value}
        if State.NEVER in verdicts:
            return State.NEVER
        return State.WAITING if State.WAITING in verdicts else State.READY
    if value is Mark.WAIT:
        return State.WAITING
    if value is Mark.NEVER:
        return State.NEVER
    if want is Mark.UNREAD:
        return State.WAITING
    if want is Mark.ANY or value == want:
        return State.READY
    if value is None:  # it ended, but whether well is not known
        return State.WAITING
    if want is FAILED:
        return State.NEVER if value == 0 else State.READY
    # FAILED is some code other than 0.
    return State.WAITING if value is FAILED and want != 0 else State.NEVER
