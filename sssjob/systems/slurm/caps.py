"""How many slots a group may take at most: the associations of accounts in sacctmgr."""

from __future__ import annotations

from sssjob.integers import whole
from sssjob.lcginfo.snapshot import UnusableOutput


def read(text: str) -> dict[str, int]:
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
        if (number := whole(limit)) is not None and not values.get("User"):
            caps[values["Account"]] = number
    return caps


def _tres(text: str) -> str:
    """The number of ``cpu`` in a list such as ``cpu=100,mem=2T``."""
    return dict(part.partition("=")[::2] for part in text.split(",")).get("cpu", "")
