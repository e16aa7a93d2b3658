"""One call of a prolog or epilog: which system called, for which job, and what that system says."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sssjob import registry
from sssjob.commands import CommandFailed, asked
from sssjob.features.batch.allocation import Allocation
from sssjob.features.used import Used


class Script:
    """A batch system's side of a prolog or epilog; each has a class of its own in its wing.

    ``settings`` are variables that its commands need, beside those of the script.
    """

    settings: Mapping[str, str] = {}

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self.arguments = arguments
        self.environment = environment

    def questions(self) -> Mapping[str, Sequence[str]]:
        """The commands that tell of the job, by what they print. Raises ``InvalidValue``."""
        return {}

    def again(self, answer: str) -> Sequence[str] | None:
        """The command whose answer is about this job alone, if this answer is not."""
        return None

    def allocation(self, answers: Mapping[str, str], *, asking: bool) -> Allocation:
        """What the job was given; ``answers`` lack those that did not come.

        Raises ``InvalidValue``.
        """
        raise NotImplementedError

    def used(self) -> Used | None:
        """What the system says at the end that the job used; None if it says nothing then."""
        return None

    def export(self, variables: Mapping[str, str]) -> None:
        """Put variables into the environment of the job where a prolog can. Raises ``OSError``."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a batch system handed to its script: arguments, environment, and the time it leaves.

    ``seconds`` are for all commands that are asked, together.
    """

    system: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    seconds: float = 10.0

    @property
    def script(self) -> Script:
        """The system's side of it."""
        name = registry.all_systems()[self.system].script
        made: Script = registry.loaded(name)(self.arguments, self.environment)
        return made

    def allocation(self, *, asking: bool = True) -> Allocation:
        """The job, with what it was given if the system is asked. Raises ``InvalidValue``."""
        script = self.script
        notes: list[str] = []
        questions = script.questions() if asking else {}
        waiting = deque(questions.items())
        end = time.monotonic() + self.seconds
        answers: dict[str, str] = {}
        environment = {**self.environment, **script.settings}
        while waiting:
            name, command = waiting.popleft()
            try:
                answer = asked(command, environment, max(0.1, end - time.monotonic()))
            except CommandFailed as error:
                notes.append(str(error))
                continue
            better = script.again(answer) if command == questions[name] else None
            if better is None or better == command:
                answers[name] = answer
            else:
                waiting.append((name, better))
        found = script.allocation(answers, asking=asking)
        return Allocation(
            found.job_id, found.node, found.user, found.amounts, found.alone,
            (*notes, *found.notes),
        )  # fmt: skip

    def used(self) -> Used | None:
        """What the system says at the end that the job used; None if it says nothing then."""
        return self.script.used()

    def export(self, variables: Mapping[str, str]) -> None:
        """Put variables into the environment of the job where a prolog can. Raises ``OSError``."""
        self.script.export(variables)
