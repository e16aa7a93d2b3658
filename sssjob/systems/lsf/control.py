"""How LSF is told of jobs: bsub and its like; the mark is in the description of a job."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sssjob.submission.control import ID, Control, Look, OptionMark, Seen

_SUBMITTED = re.compile(r"Job <([0-9]{1,10})> is submitted")
_FORMAT = "jobid stat job_description delimiter='|'"

# fmt: off
STATES = {
    "PEND": "Idle", "WAIT": "Idle", "PROV": "Running", "RUN": "Running", "UNKWN": "Running",
    "PSUSP": "Hold",
    "USUSP": "Suspended", "SSUSP": "Suspended",
    "DONE": "Completed", "EXIT": "Completed", "ZOMBI": "Completed",
}
# fmt: on


def named(printed: str) -> str:
    """The id in ``Job <12> is submitted to queue <normal>.``"""
    found = _SUBMITTED.search(printed)
    return found[1] if found else ""


def shown(printed: str) -> Iterator[Seen]:
    """The jobs in what bjobs prints."""
    for line in printed.splitlines():
        fields = [field.strip() for field in line.split("|", 2)]
        if len(fields) == 3 and fields[0].isdigit():
            id_, word, description = fields
            yield Seen(id_, STATES.get(word, ""), description)


_NONE = ("No job found", "No unfinished job found", "is not found")

CONTROL = Control(
    target="lsf",
    submit=("bsub", "-H"),
    mark=OptionMark("-Jd"),
    named=named,
    ids=r"[0-9]{1,10}",
    cancel=("bkill", ID),
    hold=("bstop", ID),
    release=("bresume", ID),
    # Those that have ended lately are among them.
    own=Look((("bjobs", "-a", "-noheader", "-o", _FORMAT),), shown, _NONE),
    one=Look((("bjobs", "-a", "-noheader", "-o", _FORMAT, ID),), shown, _NONE),
)
