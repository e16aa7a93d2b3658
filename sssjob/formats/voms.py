"""What a grid certificate's attributes say: ``/vo/group/Role=r/Capability=c`` (VOMS)."""

from __future__ import annotations

import re
from typing import NamedTuple

_NULL = ("", "null", "none")
_ROLE = re.compile(r"role=(.*)", re.IGNORECASE)
_CAPABILITY = re.compile(r"capability=.*", re.IGNORECASE)


class FullyQualified(NamedTuple):
    """A virtual organisation, the group in it with its whole path, and a role, or ""."""

    vo: str
    group: str
    role: str


def attributes(fqan: str) -> FullyQualified:
    """Read a fully qualified attribute name; a text without a leading ``/`` is the VO itself.

    Of several, which ``;`` separates, the first counts: it is what the user acted as.

    >>> attributes("/atlas/de/Role=production/Capability=NULL")
    FullyQualified(vo='atlas', group='/atlas/de', role='production')
    >>> attributes("/atlas/Role=pilot;/atlas/de").role
    'pilot'
    """
    fqan = fqan.partition(";")[0].strip()
    if not fqan.startswith("/"):
        return FullyQualified(fqan, "", "")
    groups, role = [], ""
    for part in fqan[1:].split("/"):
        if found := _ROLE.fullmatch(part):
            role = "" if found[1].lower() in _NULL else found[1]
        elif part and not _CAPABILITY.fullmatch(part):
            groups.append(part)
    return FullyQualified(
        groups[0] if groups else "", "/" + "/".join(groups) if groups else "", role
    )


def organisation(vo: str, fqan: str) -> str | None:
    """The VO as a record names it, or else that of an attribute beside it."""
    return vo or attributes(fqan).vo or None


def group(named: str, fqan: str) -> str | None:
    """The group likewise."""
    return named or attributes(fqan).group or None


def role(named: str, fqan: str) -> str | None:
    """The role likewise."""
    return named or attributes(fqan).role or None
