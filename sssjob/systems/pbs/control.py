"""How PBS and TORQUE are told of jobs: qsub and its like; the mark is a variable of a job."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.submission.control import ID, Control, Look, OptionMark, Seen
from sssjob.systems.pbs import listing
from sssjob.systems.pbs.words import STATES


def shown(printed: str) -> Iterator[Seen]:
    """The jobs in what qstat -f prints."""
    for block in listing.in_text(printed, listing.JOB):
        if block.head:
            found = block.first
            owner = found.get("euser") or found.get("Job_Owner", "").partition("@")[0]
            known = STATES.get(found.get("job_state", ""), "")
            yield Seen(block.head, known, found.get("Variable_List", ""), owner)


CONTROL = Control(
    target="pbs",
    also=("torque",),
    submit=("qsub", "-h"),
    mark=OptionMark("-v", ",", "SSSJOB="),
    named=lambda printed: printed.strip().partition("\n")[0],
    ids=r"[0-9]{1,10}(\[[0-9]*\])?(\.[A-Za-z0-9][A-Za-z0-9._-]*)?",
    cancel=("qdel", ID),
    hold=("qhold", ID),
    release=("qrls", ID),
    own=Look((("qstat", "-f"),), shown),
    one=Look((("qstat", "-f", ID),), shown, ("Unknown Job Id", "Unknown Job", "has finished")),
    # TORQUE, which keeps none, prints XML: no job is in it that is not in the list, too.
    ended=Look((("qstat", "-x", "-f"),), shown, ("not configured to maintain job history",)),
    environment={"TZ": "UTC"},
)
