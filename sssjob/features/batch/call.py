"""One call of a prolog or epilog: which system called, for which job, and what that system says."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sssjob import registry
from sssjob.amounts import Amount
from sssjob.commands import CommandFailed, asked
from sssjob.features.batch.allocation import Allocation
from sssjob.features.used import Used


@dataclass(frozen=True, slots=True)
class Shutdown:
    """When a batch system takes a node away from jobs, if it is to be at all.

    ``doubt`` says why that may be earlier than what it says.
    """

    moment: Amount | None = None
    doubt: str = ""


class Script:
    """A batch system's side of a prolog or epilog; each has a class of its own in its folder.

    ``settings`` are variables that its commands need, beside those of the script, and ``places``
    directories in which they are installed, beside the usual ones.
    """

    settings: Mapping[str, str] = {}
    places: Sequence[str] = ()

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self.arguments = arguments
        self.environment = environment

    def questions(self) -> Mapping[str, Sequence[str]]:
        """The commands that tell of the job, by what they print. Raises ``InvalidValue``."""
        return {}

    def unsaid(self) -> frozenset[str] | None:
        """The keys of which only the answer ``job`` tells; None is that it is always needed."""
        return None

    def again(self, answer: str) -> Sequence[str] | None:
        """The command whose answer is about this job alone, if this answer is not."""
        return None

    def allocation(self, answers: Mapping[str, str], *, asking: bool) -> Allocation:
        """What the job was given; ``answers`` lack those that did not come.

        Raises ``InvalidValue``.
        """
        raise NotImplementedError

    def node_questions(self, node: str) -> Mapping[str, Sequence[str]]:
        """The commands that tell what jobs may have on a node, by what they print."""
        return {}

    def processors(self, node: str, answers: Mapping[str, str]) -> Amount | None:
        """How many processors of a node may be allocated to jobs; None where nobody says it."""
        return None

    def outages(self, node: str) -> Mapping[str, Sequence[str]]:
        """The commands that tell when a node is taken away from jobs, by what they print."""
        return {}

    def shutdown(self, node: str, answers: Mapping[str, str], now: int) -> Shutdown | None:
        """When that is, after ``now``; None where the answers do not say whether it is."""
        return None

    def listings(self, node: str) -> Mapping[str, Sequence[str]]:
        """The commands that tell which jobs a node has, by what they print."""
        return {}

    def present(self, node: str, answers: Mapping[str, str]) -> frozenset[str] | None:
        """The ids of all jobs on a node; None where the answers do not say them all."""
        return None

    def group(self) -> str:
        """The control group of the job on this node; "" while there is none."""
        return ""

    @staticmethod
    def naming(job_id: str, node: str, user: str) -> Mapping[str, str]:
        """The variables by which a script knows a job of that id, on a node, of a user (number)."""
        return {}

    def used(self) -> Used | None:
        """What the system says at the end that the job used; None if it says nothing then."""
        return None

    def export(self, variables: Mapping[str, str]) -> None:
        """Put variables into the environment of the job where a prolog can, in place of another's.

        Raises ``OSError``.
        """


@dataclass(frozen=True, slots=True)
class Invocation:
    """What a batch system handed to its script: arguments, environment, and the time it leaves.

    ``seconds`` are for all commands that are asked, together, from now on.
    """

    system: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    seconds: float = 10.0
    end: float = field(init=False)
    _answers: dict[tuple[str, ...], str | CommandFailed] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "end", time.monotonic() + self.seconds)

    @property
    def commands_run(self) -> int:
        """How many commands of the batch system were run so far."""
        return len(self._answers)

    @property
    def script(self) -> Script:
        """The system's side of it."""
        side = registry.system(self.system).load("script")
        made: Script = side(self.arguments, self.environment)
        return made

    def allocation(
        self, *, asking: bool = True, known: Collection[str] = frozenset()
    ) -> Allocation:
        """The job, with what it was given if the system is asked. Raises ``InvalidValue``.

        ``known`` are keys that others tell: where nothing is left to ask, nobody is asked.
        """
        script = self.script
        notes: list[str] = []
        questions = dict(script.questions()) if asking else {}
        unsaid = script.unsaid()
        if unsaid is not None and unsaid <= set(known):
            questions.pop("job", None)
        answers = self._asked(questions, notes, script.again)
        found = script.allocation(answers, asking=asking)
        return Allocation(
            found.job_id, found.node, found.user, found.amounts, found.alone,
            (*notes, *found.notes), found.unlearned,
        )  # fmt: skip

    def processors(self, node: str, notes: list[str]) -> Amount | None:
        """How many processors of a node jobs may have; what was not answered is noted."""
        script = self.script
        answers = self._asked(script.node_questions(node), notes)
        found = script.processors(node, answers)
        if found is None:
            notes.append(f"{self.system} does not say how many processors jobs may have on {node}")
        return found

    def shutdown(self, node: str, now: int, notes: list[str]) -> Shutdown | None:
        """When jobs have to be gone from a node; None where nobody says whether they have to."""
        script = self.script
        questions = script.outages(node)
        answers = self._asked(questions, notes)
        found = script.shutdown(node, answers, now)
        if found is None and questions and len(answers) == len(questions):
            notes.append(f"{self.system} prints nothing that says when node {node} is taken away")
        elif found is not None and found.doubt:
            notes.append(found.doubt)
        return found

    def present(self, node: str, notes: list[str]) -> frozenset[str] | None:
        """The ids of all jobs that a node has; None where the system does not say them."""
        script = self.script
        questions = script.listings(node)
        answers = self._asked(questions, notes)
        return (
            script.present(node, answers) if questions and len(answers) == len(questions) else None
        )

    def group(self) -> str:
        """The control group of the job on this node; "" while there is none."""
        return self.script.group()

    def group_of(self, job_id: str, node: str, user: str) -> str:
        """The control group of any job on this node; "" while there is none."""
        side = registry.system(self.system).load("script")
        named = side.naming(job_id, node, user)
        made: Script = side(self.arguments, {**self.environment, **named})
        return made.group() if named else ""

    def answers(self, questions: Mapping[str, Sequence[str]], notes: list[str]) -> dict[str, str]:
        """The answers to some questions; what was not answered is noted."""
        return self._asked(questions, notes)

    def _asked(
        self, questions: Mapping[str, Sequence[str]], notes: list[str],
        again: Callable[[str], Sequence[str] | None] = lambda answer: None,
    ) -> dict[str, str]:  # fmt: skip
        """The answers to some questions; ``again`` gives a better question for an answer."""
        answers: dict[str, str] = {}
        script = self.script
        environment = {**self.environment, **script.settings}
        waiting = deque(questions.items())
        while waiting:
            name, command = waiting.popleft()
            try:
                answer = self._once(command, environment, script.places)
            except CommandFailed as error:
                if str(error) not in notes:
                    notes.append(str(error))
                continue
            better = again(answer) if command == questions[name] else None
            if better is None or better == command:
                answers[name] = answer
            else:
                waiting.append((name, better))
        return answers

    def _once(
        self, command: Sequence[str], environment: Mapping[str, str], places: Sequence[str]
    ) -> str:
        """What a command prints, which is asked once. Raises ``CommandFailed``."""
        words = tuple(command)
        if words not in self._answers:
            seconds = max(0.1, self.end - time.monotonic())
            try:
                self._answers[words] = asked(command, environment, seconds, places)
            except CommandFailed as error:
                self._answers[words] = error
        answer = self._answers[words]
        if isinstance(answer, CommandFailed):
            raise answer
        return answer

    def used(self) -> Used | None:
        """What the system says at the end that the job used; None if it says nothing then."""
        return self.script.used()

    def export(self, variables: Mapping[str, str]) -> None:
        """Put variables into the environment of the job where a prolog can, in place of another's.

        Raises ``OSError``.
        """
        self.script.export(variables)
