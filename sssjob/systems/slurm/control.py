"""How Slurm is told of jobs: sbatch and its like; the mark is in the comment of a job."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.submission.control import ID, USER, VALUE, Alter, Control, Look, OptionMark, Seen
from sssjob.systems.slurm.states import held, state

_FORMAT = "%F|%T|%V|%r|%k"  # %F is one for all elements of an array
_ENDED = "JobIDRaw,State,Submit,Comment,SubmitLine"
_PRIORITIES = range(1, (1 << 32) - 1)


def shown(printed: str) -> Iterator[Seen]:
    """The jobs in what squeue prints."""
    for line in printed.splitlines():
        fields = line.split("|", 4)
        if len(fields) == 5 and fields[0].isdigit():
            id_, word, submitted, reason, comment = fields
            known = held(state(word).standard, reason)
            yield Seen(id_, known, comment, submitted=submitted * submitted.isdigit())


def ended(printed: str) -> Iterator[Seen]:
    """The jobs in what sacct prints; the line that submitted one has its comment, too."""
    for line in printed.splitlines():
        fields = line.split("|", 3)
        if len(fields) == 4 and fields[0].isdigit():
            id_, word, submitted, marks = fields
            known = state(word).standard
            yield Seen(id_, known, marks, submitted=submitted * submitted.isdigit())


def _priority(text: str) -> str:
    """A priority of Slurm, of which 0 is a hold."""
    if (number := units.integer(text)) not in _PRIORITIES:
        raise InvalidValue(text, f"a priority from {_PRIORITIES[0]} to {_PRIORITIES[-1]}")
    return str(number)


def _time_limit(text: str) -> str:
    """A time limit of Slurm, of which 0 is none."""
    if not (seconds := units.duration(text)):
        raise InvalidValue(text, "a duration of at least a second")
    return units.clock(seconds)


CONTROL = Control(
    target="sbatch",
    submit=("sbatch", "--parsable", "--hold"),
    mark=OptionMark("--comment"),
    named=lambda printed: printed.strip().partition("\n")[0].partition(";")[0],
    ids=r"[0-9]{1,10}",
    cancel=("scancel", ID),
    hold=("scontrol", "hold", ID),
    release=("scontrol", "release", ID),
    alters={
        "Duration": Alter(("scontrol", "update", f"JobId={ID}", f"TimeLimit={VALUE}"), _time_limit),
        "Priority": Alter(("scontrol", "update", f"JobId={ID}", f"Priority={VALUE}"), _priority),
    },
    own=Look((("squeue", "--all", "--me", "--noheader", "--states=all", f"--format={_FORMAT}"),),
             shown),
    one=Look((("squeue", "--all", "--noheader", "--states=all", f"--jobs={ID}",
               f"--format={_FORMAT}"),), shown, ("Invalid job id specified",)),
    ended=Look((("sacct", "--noheader", "--parsable2", "--allocations", "--duplicates",
                 "--starttime=now-30days", f"--user={USER}", f"--format={_ENDED}"),),
               ended, ("accounting storage is disabled",)),
    machine="SLURM_CLUSTERS",
    environment={"SLURM_TIME_FORMAT": "%s"},  # seconds since the epoch
)  # fmt: skip
