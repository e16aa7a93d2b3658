"""How HTCondor is told of jobs: condor_submit and its like; the mark is an attribute of a job."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.submission.control import ID, MARK, Control, Look, Marked, Seen
from sssjob.systems.condor import names

ATTRIBUTE = "SSSJobMark"

_SHOWN = ("-autoformat:t", "ClusterId", "ProcId", "JobStatus", "QDate", "Owner", ATTRIBUTE)
_STATES = {str(number): state for number, state, *_ in names.STATES}


def mark(target: str, text: str, word: str) -> Marked:
    """One more command of the submit file."""
    return Marked(("-append", f'+{ATTRIBUTE} = "{word}"'), text)


def named(printed: str) -> str:
    """The id of the one job of ``12.0 - 12.0``, or of all of ``12.0 - 12.4``.

    >>> named("12.0 - 12.0\\n"), named("12.0 - 12.4\\n")
    ('12.0', '12')
    """
    first, _, last = printed.strip().rpartition("\n")[2].partition(" - ")
    return first if first == last else first.partition(".")[0]


def shown(printed: str) -> Iterator[Seen]:
    """The jobs in what condor_q and condor_history print."""
    for line in printed.splitlines():
        fields = line.split("\t")
        if len(fields) == 6 and fields[0].isdigit():
            cluster, proc, status, submitted, owner, marks = fields
            known = _STATES.get(status, "")
            yield Seen(f"{cluster}.{proc}", known, marks, owner, submitted * submitted.isdigit())


CONTROL = Control(
    target="condor",
    submit=("condor_submit", "-terse", "-append", "hold = True"),
    mark=mark,
    named=named,
    ids=r"[0-9]{1,10}(\.[0-9]{1,10})?",
    cancel=("condor_rm", ID),
    hold=("condor_hold", ID),
    release=("condor_release", ID),
    own=Look((("condor_q", "-allusers", "-constraint", f'{ATTRIBUTE} == "{MARK}"', *_SHOWN),),
             shown),
    one=Look((("condor_q", "-allusers", ID, *_SHOWN),), shown),
    ended=Look((("condor_history", "-constraint", f'{ATTRIBUTE} == "{MARK}"', *_SHOWN),), shown),
)  # fmt: skip
