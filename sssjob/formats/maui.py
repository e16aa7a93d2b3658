"""What Maui prints: a scheduler beside a batch system, and in no folder of one."""

from __future__ import annotations

import re

_HARD = re.compile(r"\bMAX(?:JOB|PROC)=([0-9]{1,9})(?:,([0-9]{1,9}))?")


def caps(text: str) -> dict[str, int]:
    """The caps that ``diagnose -g`` shows: MAXJOB, or MAXPROC; of soft and hard ones the hard.

    >>> caps("atlas  0  [NONE]  [NONE]  0.00  MAXJOB=100,200\\nops  0  [NONE]  0.00  [NONE]")
    {'atlas': 200}
    """
    found = {}
    for line in text.splitlines():
        if (limit := _HARD.search(line)) and (name := line.split()[0]) != "DEFAULT":
            found[name] = int(limit[2] or limit[1])
    return found
