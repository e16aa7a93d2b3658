"""The commands of a batch system, run as the caller wants: as whom, how long, with what around."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sssjob import commands
from sssjob.commands import CommandFailed, CommandLimits
from sssjob.model import Job, stripped
from sssjob.registry import Arguments
from sssjob.submission.control import Control, Look, Seen, filled, is_marked, mark_of
from sssjob.submission.locks import PATIENCE, default_place
from sssjob.users import user_name

ANSWER = 1 << 26  # bytes of what is shown of jobs

_NOTHING: Mapping[str, str] = {}

# Keeps what is inherited until a command has ended that closes it, as sudo does. The words are
# arguments: nothing in them is read by the shell.
_HOLDER = ("/bin/sh", "-c", '"$@"; exit $?', "sh")


@dataclass(frozen=True, slots=True)
class How:
    """How the commands of a batch system are run.

    ``seconds`` limit each. ``prefix`` are words in front of each command, such as ``sudo -n -u
    amy --``, and ``user`` is then who submits; without one it is who runs this. ``environment`` is
    all that commands find; None is that of this process. ``locks`` is a directory for locks, which
    everyone shares who may submit the same jobs; one that is held is waited for ``patience``
    seconds.
    """

    seconds: float = commands.TIME_LIMIT
    prefix: Arguments = ()
    user: str = ""
    environment: Mapping[str, str] | None = None
    locks: Path | None = None
    patience: float = PATIENCE

    @property
    def owner(self) -> str:
        """Who submits: what the variables of the environment say of that may be wrong."""
        if self.user:
            return self.user
        return user_name(os.geteuid()) or str(os.geteuid())

    @property
    def place(self) -> Path:
        """The directory of locks."""
        return self.locks if self.locks is not None else default_place()


@dataclass(frozen=True, slots=True)
class Caller:
    """A batch system that is asked; every call raises ``CommandFailed``.

    ``machine`` is the Machine of the job that it is asked about.
    """

    control: Control
    how: How
    machine: str = ""

    def about(self, job: Job) -> Caller:
        """The same, asked about one job, whose defaults are resolved."""
        text = job.get("Machine") or job.requested.text("Machine")
        return replace(self, machine=stripped(text or ""))

    def submit(self, words: Sequence[str], text: str, inherited: Sequence[int]) -> str:
        """The id of what is submitted, held; ``inherited`` stay open while the command runs."""
        words = [*self.control.submit, *words]
        printed = self._run(words, text.encode(), inherited)
        return self.control.id(self.control.named(printed))

    def tell(self, command: Arguments, id_: str, inherited: Sequence[int] = ()) -> None:
        """Give an order about one job; ``inherited`` stay open while the command runs."""
        self._run(filled(command, id=self.control.id(id_)), inherited=inherited)

    def alter(self, name: str, text: str, id_: str) -> None:
        """Give a job another value. Raises ``InvalidValue``, too."""
        alter = self.control.alters[name]
        self._run(filled(alter.command, id=self.control.id(id_), value=alter.write(text)))

    def find(self, global_id: str) -> Seen | None:
        """The job with the mark of a GlobalId, one that is there rather than one that has ended."""
        mark = mark_of(global_id)
        for look in (self.control.own, self.control.ended):
            for seen in self._look(look, mark=mark) if look is not None else ():
                if self.carries(seen, global_id):
                    return seen
        return None

    def there(self) -> Iterator[Seen]:
        """The jobs that are there, of who asks."""
        return (seen for seen in self._look(self.control.own) if self._owns(seen))

    def job(self, id_: str) -> Seen | None:
        """A job that is there, or None."""
        id_ = self.control.id(id_)
        # An id without a part stands for the first of all parts.
        parts = (id_, f"{id_}.0")
        found = self._look(self.control.one, id=id_)
        return next((seen for seen in found if seen.id in parts), None)

    def carries(self, seen: Seen, global_id: str) -> bool:
        """Whether a job is one's own, and has the mark of a GlobalId."""
        return self._owns(seen) and is_marked(self._marks(seen), mark_of(global_id))

    def _owns(self, seen: Seen) -> bool:
        """Whether who asks has submitted it: the mark of another one is none."""
        return seen.owner in ("", self.how.owner)

    def _marks(self, seen: Seen) -> str:
        """What holds its marks, asked for where the list does not show it."""
        if not self.control.details:
            return seen.marks
        try:
            return self._run(filled(self.control.details, id=self.control.id(seen.id)))
        except CommandFailed as error:
            if error.status is None or self.job(seen.id) is not None:
                raise
            return ""  # it has gone meanwhile

    def _look(self, look: Look, **values: str) -> Iterator[Seen]:
        printed = []
        for words in look.ask:
            try:
                printed.append(self._run(filled(words, **{"user": self.how.owner, **values})))
            except CommandFailed as error:
                if error.status is None or not any(none in error.said for none in look.none):
                    raise
        yield from look.read("\n".join(printed))

    def shown(self, words: Sequence[str], environment: Mapping[str, str]) -> bytes:
        """What a command prints that shows jobs."""
        return self._printed(words, environment=environment)

    def _run(self, words: Sequence[str], given: bytes = b"", inherited: Sequence[int] = ()) -> str:
        """What a command prints, as text."""
        return self._printed(words, given, inherited).decode("utf-8", "replace")

    def _printed(
        self, words: Sequence[str], given: bytes = b"", inherited: Sequence[int] = (),
        environment: Mapping[str, str] = _NOTHING,
    ) -> bytes:  # fmt: skip
        limits = CommandLimits(self.how.seconds, ANSWER)
        holder = _HOLDER if inherited and self.how.prefix else ()
        whole = [*holder, *self.how.prefix, *words]
        own = {"LC_ALL": "C", **self.control.environment, **environment}
        if self.control.machine and self.machine:
            own[self.control.machine] = self.machine
        if self.how.environment is None:
            return commands.run(whole, words[0], limits, own, given, inherited)
        every = {**self.how.environment, **own}
        return commands.started(whole, words[0], limits, every, given, inherited)
