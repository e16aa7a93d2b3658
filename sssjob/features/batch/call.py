"""One call of a prolog or epilog: which system called, for which job, and what that system says."""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sssjob.errors import UnusableInput
from sssjob.features.batch import gridengine, pbs, slurm
from sssjob.features.batch.allocation import Allocation
from sssjob.features.batch.asking import NotAnswered, ask
from sssjob.features.used import Used, of_file


@dataclass(frozen=True, slots=True)
class Call:
    """What a batch system handed to its script: arguments, environment, and the time it leaves.

    ``seconds`` are for all commands that are asked, together.
    """

    system: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    seconds: float = 10.0

    def allocation(self, *, asking: bool = True) -> Allocation:
        """The job, with what it was given if the system is asked. Raises ``InvalidValue``."""
        notes: list[str] = []
        questions = self._questions() if asking else {}
        waiting = deque(questions.items())
        end = time.monotonic() + self.seconds
        answers: dict[str, str] = {}
        while waiting:
            name, command = waiting.popleft()
            environment = {**self.environment, **slurm.ENVIRONMENT}
            try:
                answer = ask(command, environment, seconds=max(0.1, end - time.monotonic()))
            except NotAnswered as error:
                notes.append(str(error))
                continue
            better = self._better(answer) if command == questions[name] else None
            if better is None or better == command:
                answers[name] = answer
            else:
                waiting.append((name, better))
        found = self._read(answers, asking)
        return Allocation(
            found.job_id, found.node, found.user, found.amounts, found.alone,
            (*notes, *found.notes),
        )  # fmt: skip

    def used(self) -> Used | None:
        """What the system says at the end that the job used; None if it says nothing then.

        Slurm's accounting says it, some seconds later.
        """
        if self.system == "pbs":
            found = pbs.used(self.arguments)
            return None if found == Used() else found
        spool = self.environment.get("SGE_JOB_SPOOL_DIR", "")
        if self.system == "gridengine" and spool:
            try:
                return of_file(Path(spool, gridengine.USAGE))
            except (OSError, UnusableInput):
                return None
        return None

    def export(self, variables: Mapping[str, str]) -> None:
        """Put variables into the environment of the job where a prolog can. Raises ``OSError``."""
        spool = self.environment.get("SGE_JOB_SPOOL_DIR", "")
        if self.system == "gridengine" and spool:
            place = Path(spool, gridengine.ENVIRONMENT)
            handle = os.open(place, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            with open(handle, "r+") as file:
                file.write(gridengine.exports(variables, file.read()))

    def _questions(self) -> dict[str, list[str]]:
        match self.system:
            case "slurm":
                return {"job": slurm.question(self.environment)}
            case "gridengine":
                return gridengine.questions(self.environment)
            case _:
                return {"job": pbs.question(self.arguments)}

    def _better(self, answer: str) -> list[str] | None:
        """The command whose answer is about this job alone, if this one is not."""
        return slurm.again(self.environment, answer) if self.system == "slurm" else None

    def _read(self, answers: Mapping[str, str], asking: bool) -> Allocation:
        job = answers.get("job", "")
        match self.system:
            case "slurm":
                return slurm.allocation(self.environment, job)
            case "gridengine":
                config = self._config() if asking else ""
                return gridengine.allocation(
                    self.environment, config, job, answers.get("queue", "")
                )
            case _:
                return pbs.allocation(self.arguments, job, socket.gethostname())

    def _config(self) -> str:
        try:
            place = Path(self.environment.get("SGE_JOB_SPOOL_DIR", ""), gridengine.CONFIG)
            return place.read_text("utf-8", "replace")
        except OSError:
            return ""
