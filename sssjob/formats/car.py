"""CAR 1.2, EMI's Compute Accounting Record: usage records with groups, sites and exit codes."""

from __future__ import annotations

from sssjob.errors import InvalidValue
from sssjob.formats import usage_records, voms
from sssjob.formats import usage_values as values
from sssjob.formats.usage_xml import Entries
from sssjob.records.readers import extension, noted
from sssjob.records.record import DELIVERED, JOB, Field, Found, plain
from sssjob.records.values import number

NAMESPACE = "http://eu-emi.eu/namespaces/2012/11/computerecord"

_PROJECT = "projectname"  # a group attribute of NorduGrid's


def exit_code(text: str) -> Found:
    """The exit status, a whole number."""
    value = number(text)
    if value.denominator != 1:
        raise InvalidValue(text, "an exit status such as 0")
    return str(int(value))


@values.whole_of_all
def project(groups: Entries, attributes: Entries) -> Found:
    """The group of a user in the grid, which is the VO; or the project, or the VO of an FQAN."""
    named = (entry.text for entry in attributes if entry.get("type").lower() == _PROJECT)
    group = next((entry.text for entry in groups if entry.text), "")
    return group or next(named, None) or voms.organisation("", _primary(attributes))


@values.whole_of_all
def group_attributes(entries: Entries) -> Found:
    """Roles, groups and FQANs, each by its type; of the first FQAN what they do not tell."""
    told = [(entry.get("type") or "GroupAttribute", entry.text) for entry in entries if entry.text]
    fqan, types = _primary(entries), {name.lower() for name, _ in told}
    for name, found in (("vo-group", voms.group("", fqan)), ("vo-role", voms.role("", fqan))):
        if found and name not in types:
            told.append((name, found))
    return tuple(noted("VOMS", name, text) for name, text in told)


def _primary(attributes: Entries) -> str:
    """The first FQAN, or ""."""
    return next((each.text for each in attributes if each.get("type").lower() == "fqan"), "")


def kept(name: str) -> Field:
    """The row of an element that is kept with its attributes."""

    @values.whole_of_all
    def read(entries: Entries) -> Found:
        return tuple(
            noted("CAR", f"{name}/{key}" if key else name, text)
            for entry in entries
            for key, text in (("", entry.text), *entry.attributes)
            if text
        )

    return Field(name, JOB, "Extension", read)


_ATTRIBUTES = ("UserIdentity/GroupAttribute",)
# fmt: off
# That of usage records, and what CAR adds.
ELEMENTS: tuple[Field, ...] = (
    *usage_records.elements("CAR"),
    Field("UserIdentity/LocalGroup", DELIVERED, "Group"),
    Field("UserIdentity/Group",      DELIVERED, "Project",   project, beside=_ATTRIBUTES),
    Field(_ATTRIBUTES[0],            JOB,       "Extension", group_attributes),
    Field("ExitStatus",              JOB,       "ExitCode",  exit_code),
    Field("Site",                    JOB,       "Extension", plain, extension("CAR", "Site")),
    kept("Infrastructure"),
    kept("Middleware"),
    Field("ServiceLevel",            DELIVERED, "Resource",  values.levels),
)
# fmt: on


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it holds these records, or ""."""
    return "CAR's namespace" if NAMESPACE.encode() in head else ""


LAYOUT = usage_records.of_elements("CAR", ELEMENTS, recognises)
