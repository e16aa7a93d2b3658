"""What the standard says of a name: an element, an attribute, a resource limit or a finding.

Everything here is read from the tables and the cases; nothing is written down twice.

>>> topic = topics("Memory")[0]
>>> topic.kind, topic.about, dict(topic.facts)["type"]
('element', 'Amount of memory', 'Float, in MB unless units says otherwise')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sssjob import spec, units
from sssjob.conformance.cases import Case, sections
from sssjob.errors import CODE, CODES

_PLACES = {"*": "every element", "Requested/*": "what stands in Requested",
           "Delivered/*": "what stands in Delivered"}  # fmt: skip
_HOW_OFTEN = {"?": "zero or one", "*": "any number", "+": "one or more"}
_LONGEST = 300  # characters of a document that still reads as an example
_CASES = 5  # cases of a finding that are named
# The types whose name does not tell in what they count.
_COUNTED = {"Duration": "seconds", "DateTime": "seconds since 1970-01-01T00:00Z"}


class ReferenceEntry(NamedTuple):
    """One meaning of a name: ``facts`` are pairs of a label and a text, in the order to print."""

    name: str
    kind: str
    section: str
    about: str
    facts: tuple[tuple[str, str], ...]
    example: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The topic for JSON."""
        return {**self._asdict(), "facts": dict(self.facts)}


def topics(name: str) -> tuple[ReferenceEntry, ...]:
    """Every meaning of a name, in the order of the standard; none if it is not known.

    An older name has the meanings of its present one.
    """
    return (
        *_elements(name), *_containers(name), *_attributes(name), *_limits(name), *_codes(name),
        *(topic for now in _present_names(name) for topic in _elements(now, name)),
    )  # fmt: skip


def names() -> frozenset[str]:
    """Every name that has a topic."""
    return spec.names().union(
        (row.name for row in spec.ATTRIBUTES),
        (row.name for row in spec.ALIASES),
        (limit for limit, *_ in spec.RESOURCE_LIMITS),
        CODE,
    )


def _elements(name: str, older: str = "") -> Iterator[ReferenceEntry]:
    """The meanings of an element; those that it has under an older name alone, if one is given."""
    rows = dict.fromkeys(row for table in spec.TABLES.values() for row in table if row.name == name)
    for row in rows:
        places = [place for place in spec.CONTAINER if spec.properties(place).get(name) == row]
        if older and not any(spec.alias(older, place) for place in places):
            continue
        yield ReferenceEntry(name, "element", row.section, row.description, _facts(
            ("type", _type(row)),
            ("stands in", ", ".join(places)),
            ("how often", _appearance(row)),
            ("support", f"an implementation {row.compliance} support it"),
            ("attributes", ", ".join(_own_attributes(name))),
            ("older names", ", ".join(_older(name, places))),
        ), _example(*((f"<{name}", f"<{place}>") for place in places)))  # fmt: skip


def _containers(name: str) -> Iterator[ReferenceEntry]:
    row = spec.CONTAINER.get(name)
    if row is None or any(name == element.name for element in spec.STRUCTURED):
        return
    holds = [f"{held[:-1]} ({_HOW_OFTEN[held[-1]]})" for held in row.holds]
    around = [place for place in spec.CONTAINER if name in spec.blocks(place)]
    yield ReferenceEntry(name, "container", row.section, "", _facts(
        ("holds", ", ".join((*holds, "properties"))),
        ("stands in", ", ".join(around)),
        ("by its id", "may be a reference: an Id and nothing else" if row.reference else ""),
        ("support", f"an implementation {row.compliance} support it"),
    ), _example((f"<{name}",)))  # fmt: skip


def _attributes(name: str) -> Iterator[ReferenceEntry]:
    for row in spec.ATTRIBUTES:
        if row.name == name:
            yield ReferenceEntry(name, "attribute", row.section, row.description, _facts(
                ("on", ", ".join(_PLACES.get(place, place) for place in row.on)),
                ("type", row.type),
                ("values", ", ".join(row.values)),
                ("default", row.default),
                ("how often", "required" if row.appearance == spec.MUST else ""),
                ("support", f"an implementation {row.compliance} support it"),
            ), _example(*_with(name, row.on)))  # fmt: skip


def _limits(name: str) -> Iterator[ReferenceEntry]:
    for limit, meaning, synonyms in spec.RESOURCE_LIMITS:
        if limit == name:
            read = ("also called", ", ".join(synonyms))
            yield ReferenceEntry(name, "name of a ResourceLimit", "SSS 5.1 ResourceLimit", meaning,
                        _facts(read))  # fmt: skip


def _codes(name: str) -> Iterator[ReferenceEntry]:
    for code in CODES:
        if code.name == name:
            found = [case for case in _cases() if name in _findings(case)]
            ids = ", ".join(case.id for case in found[:_CASES])
            more = f" and {len(found) - _CASES} more" if len(found) > _CASES else ""
            alone = (case.document for case in found if _findings(case) == [name])
            yield ReferenceEntry(name, "finding", "", code.meaning, _facts(
                ("severity", code.weighs),
                ("cases", ids + more),
            ), _shortest(alone))  # fmt: skip


def _present_names(name: str) -> Iterable[str]:
    return dict.fromkeys(
        row.canonical for row in spec.ALIASES if row.name == name and row.canonical != name
    )


def _facts(*pairs: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in pairs if pair[1])


def _type(row: spec.Element) -> str:
    if unit := units.DEFAULT_UNITS.get(row.name):
        return f"{row.type}, in {unit} unless units says otherwise"
    return f"{row.type}, in {_COUNTED[row.type]}" if row.type in _COUNTED else row.type


def _appearance(row: spec.Element) -> str:
    needed = {spec.MUST: "required", spec.SHOULD: "recommended"}.get(row.appearance, "optional")
    if row.repeats is True:
        return f"{needed}, any number of times"
    if row.repeats:
        return f"{needed}, once for each {' and '.join(row.repeats)}"
    return f"{needed}, once"


def _own_attributes(element: str) -> Iterator[str]:
    """The attributes that are this element's own, each with its values."""
    for row in spec.ATTRIBUTES:
        if element in row.on:
            yield f"{row.name} ({', '.join(row.values)})" if row.values else row.name


def _older(name: str, places: list[str]) -> Iterable[str]:
    """The older names that are read for an element in one of these places."""
    return dict.fromkeys(
        row.name
        for row in spec.ALIASES
        if row.canonical == name and any(spec.alias(row.name, place) is row for place in places)
    )


def _cases() -> Iterator[Case]:
    return (case for section in sections() for case in section.cases if case.document)


def _findings(case: Case) -> list[str]:
    return [found["code"] for found in case.expected.get("findings", ())]


def _with(attribute: str, places: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """What an example of an attribute has: the attribute, on its element if it has one."""
    for place in places:
        yield (f' {attribute}="', *((f"<{place} ",) if place.isalpha() else ()))


def _example(*choices: Iterable[str]) -> str:
    """The shortest document of a case with nothing to find that has all texts of a choice."""
    return _shortest(
        case.document
        for case in _cases()
        if case.expected.get("findings") == []
        and any(all(text in case.document for text in texts) for texts in choices)
    )


def _shortest(documents: Iterable[str]) -> str:
    return min((text for text in documents if len(text) <= _LONGEST), key=len, default="")
