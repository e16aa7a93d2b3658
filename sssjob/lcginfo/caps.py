"""vo-max-jobs: how many slots a group may take at most, as one dictionary of group and cap."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sssjob.errors import InvalidValue, Severity
from sssjob.lcginfo import literal
from sssjob.lcginfo.snapshot import Remark, Report, UnusableOutput, unheard

TEXT_LIMIT = 1 << 20

_HARD = re.compile(r"\bMAX(?:JOB|PROC)=([0-9]{1,9})(?:,([0-9]{1,9}))?")
_QUOTA = re.compile(r"\s*limit\s+(?:name\s+\S+\s+)?(.*?)\bto\s+(?:\S+,)?slots=([0-9]{1,9})\b")
_FILTER = re.compile(r"\b(users|projects)\s+(\{[^}]*\}|[^{\s]+)")


def read(text: str, report: Report = unheard) -> dict[str, int]:
    """The caps in what a vo_max_jobs command printed: its first dictionary, over any lines.

    A cap that is negative or no whole number is reported and left out; a cap of 0 is a cap.
    Raises ``UnusableOutput``.

    >>> read('mydict = {\\n"atlasprod": 20,\\n"atlas": 30}')
    {'atlasprod': 20, 'atlas': 30}
    """
    place = text.find("{")
    if place < 0:
        raise UnusableOutput("no {...} dictionary of caps in it")
    try:
        values = literal.scan(text, place, TEXT_LIMIT).values
    except InvalidValue as error:
        raise UnusableOutput(f"the caps cannot be read: {error}") from error
    caps = {}
    for group, cap in values.items():
        if isinstance(cap, float) and cap.is_integer():
            cap = int(cap)
        if isinstance(cap, int) and not isinstance(cap, bool) and cap >= 0:
            caps[group] = cap
        else:
            message = f"the cap {cap!r} of {group!r} is not a number of jobs"
            report(Remark(0, message, Severity.ERROR))
    return caps


def write(caps: Mapping[str, int]) -> str:
    """One line that every known reader takes.

    >>> write({"atlas": 30})
    "{'atlas': 30}\\n"
    """
    pairs = (f"{literal.quoted(group)}: {cap}" for group, cap in sorted(caps.items()))
    return f"{{{', '.join(pairs)}}}\n"


def from_maui(text: str) -> dict[str, int]:
    """The caps that Maui's ``diagnose -g`` shows: MAXJOB, or MAXPROC; of soft and hard the hard.

    >>> from_maui("atlas  0  [NONE]  [NONE]  0.00  MAXJOB=100,200\\nops  0  [NONE]  0.00  [NONE]")
    {'atlas': 200}
    """
    caps = {}
    for line in text.splitlines():
        if (limit := _HARD.search(line)) and (name := line.split()[0]) != "DEFAULT":
            caps[name] = int(limit[2] or limit[1])
    return caps


def from_sacctmgr(text: str) -> dict[str, int]:
    """The caps of accounts in ``sacctmgr -P show assoc``: GrpJobs, or the cpu of GrpTRES.

    Only associations of an account itself count, not those of its users. Raises
    ``UnusableOutput`` if there is no header line.
    """
    header, *rows = [line.split("|") for line in text.splitlines() if line.strip()] or [[]]
    if "Account" not in header:
        raise UnusableOutput("no header line with Account in it; leave --noheader out")
    caps: dict[str, int] = {}
    for row in rows:
        values = dict(zip(header, row, strict=False))
        limit = values.get("GrpJobs") or _tres(values.get("GrpTRES", ""))
        if limit.isascii() and limit.isdigit() and not values.get("User"):
            caps[values["Account"]] = int(limit)
    return caps


def from_quotas(text: str) -> dict[str, int]:
    """The caps of projects and users in Grid Engine's ``qconf -srqs``, of enabled sets only.

    >>> from_quotas("{\\n name vo\\n enabled TRUE\\n limit projects {atlas,cms} to slots=8\\n}")
    {'atlas': 8, 'cms': 8}
    """
    caps: dict[str, int] = {}
    enabled = True
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["enabled"]:
            enabled = words[1:] == ["TRUE"]
        elif enabled and (limit := _QUOTA.match(line)):
            for _, names in _FILTER.findall(limit[1]):
                for name in names.strip("{}").split(","):
                    if name.strip() and name.strip()[0] not in "*!":
                        # The first rule of a set that fits is the one that counts.
                        caps.setdefault(name.strip().lstrip("@"), int(limit[2]))
    return caps


def _tres(text: str) -> str:
    """The number of ``cpu`` in a list such as ``cpu=100,mem=2T``."""
    return dict(part.partition("=")[::2] for part in text.split(",")).get("cpu", "")


READERS = {
    "maui": from_maui,
    "slurm": from_sacctmgr,
    "gridengine": from_quotas,
}
