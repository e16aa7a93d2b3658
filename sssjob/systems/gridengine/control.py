"""How Grid Engine is told of jobs: qsub and its like; the mark is in the context of a job."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sssjob.submission.control import ID, USER, Control, Look, OptionMark, Seen
from sssjob.systems.gridengine import words

_JOB = re.compile(
    r"<job_list[^>]*>(?:(?!</job_list>).)*?<JB_job_number>([0-9]{1,10})</JB_job_number>"
    r"(?:(?!</job_list>).)*?<JB_owner>([^<]*)</JB_owner>"
    r"(?:(?!</job_list>).)*?<state>([A-Za-z]*)</state>",
    re.DOTALL,
)


def shown(printed: str) -> Iterator[Seen]:
    """The jobs in what qstat -xml prints; a name in it has no sign that could begin a tag."""
    for found in _JOB.finditer(printed):
        yield Seen(found[1], words.state(found[3]), "", found[2])


CONTROL = Control(
    target="sge",
    submit=("qsub", "-terse", "-h"),
    mark=OptionMark("-ac", ",", "SSSJOB="),
    named=lambda printed: printed.strip().partition("\n")[0].partition(".")[0],
    ids=r"[0-9]{1,10}",
    cancel=("qdel", ID),
    hold=("qhold", ID),
    release=("qrls", ID),
    own=Look((("qstat", "-u", USER, "-xml"),), shown),
    one=Look((("qstat", "-u", "*", "-xml"),), shown),
    details=("qstat", "-j", ID),
)
