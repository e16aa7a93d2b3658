"""Groups, VOs and FQANs: which VO a unix group stands for, and when two names are the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sssjob.errors import unheard
from sssjob.lcginfo.snapshot import Remark, Report

_KEYWORD = re.compile(r"(VO|GROUP|ROLE|CAPABILITY)=(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class VOMap:
    """Unix group to VO or FQAN; a group without an entry is the VO of its own name."""

    entries: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, group: str) -> str:
        """The VO or FQAN that a group's jobs are counted for."""
        return self.entries.get(group, group)

    def caps(self, caps: Mapping[str, int]) -> dict[str, int]:
        """Caps of groups as caps of VOs: those of one VO are added up."""
        summed: dict[str, int] = {}
        for group, cap in caps.items():
            summed[self(group)] = summed.get(self(group), 0) + cap
        return summed


def vomap(lines: Iterable[str], report: Report = unheard) -> VOMap:
    """The map of ``group : VO`` or ``group : FQAN`` lines; an FQAN may hold colons itself.

    >>> vomap(["atlsgm : atlas", "# none", "aliceprd:/VO=alice/GROUP=/alice/ROLE=production"])(
    ...     "aliceprd")
    '/alice/Role=production'
    """
    entries: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        group, colon, name = (part.strip() for part in stripped.partition(":"))
        if not (group and colon and name):
            report(Remark(number, f"{stripped!r} in vomap is not 'group : VO'"))
            continue
        if group in entries and entries[group] != normal(name):
            report(Remark(number, f"group {group!r} appears again in vomap; the last line counts"))
        entries[group] = normal(name)
    return VOMap(entries)


def normal(name: str) -> str:
    """The one spelling of an FQAN; the name of a VO is that already.

    Keywords count whatever their case, names count as they are spelled; a role or capability
    of NULL is none.

    >>> normal("/VO=a/GROUP=/a/ROLE=p"), normal("/a/Role=p/Capability=NULL"), normal("a")
    ('/a/Role=p', '/a/Role=p', 'a')
    """
    if not name.startswith("/"):
        return name
    groups: list[str] = []
    said: dict[str, str] = {}
    for part in name.split("/"):
        if found := _KEYWORD.fullmatch(part):
            said[found[1].upper()] = found[2]
            # GROUP=/a/b: the slash ends this part, and what follows are groups.
            if found[1].upper() == "GROUP" and found[2]:
                groups.append(found[2])
        elif part:
            groups.append(part)
    path = "".join(f"/{group}" for group in groups or [said.get("VO", "")])
    shown = (("ROLE", "Role"), ("CAPABILITY", "Capability"))
    return path + "".join(
        f"/{spelling}={said[key]}"
        for key, spelling in shown
        if said.get(key, "NULL").upper() != "NULL"
    )
