"""What the standard says of a name: an element, an attribute, a resource limit, a word that one of
them may say, a unit or a finding.

Everything here is read from the tables, the cases and the examples; nothing is written down twice.

>>> topic = topics("Memory")[0]
>>> topic.kind, topic.about, dict(topic.facts)["type"]
('element', 'Amount of memory', 'Float, in MB unless units says otherwise')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sssjob import spec, states, units
from sssjob.conformance import examples
from sssjob.conformance.cases import Case, sections
from sssjob.defaults.entries import IDENTITY
from sssjob.errors import CODE, CODES

_PLACES = {"*": "every element", "Requested/*": "what stands in Requested",
           "Delivered/*": "what stands in Delivered"}  # fmt: skip
_HOW_OFTEN = {"?": "zero or one", "*": "any number", "+": "one or more"}
_LONGEST = 300  # characters of a document that still reads as an example
_CASES = 5  # cases of a finding that are named
_UNITS = f"{', '.join(units.UNITS)} (1 KB is 1024 B)"
_MEANS = {  # of what is offered, and the text of the element (it); of two conditions
    "EQ": "is equal to it", "NE": "is not equal to it", "LT": "is less than it",
    "GT": "is greater than it", "LE": "is less than it or equal",
    "GE": "is greater than it or equal", "Match": "matches it as a regular expression",
    "And": "both hold", "Or": "one holds, or both",
    "Nand": "not both hold", "Nor": "none of both holds",
}  # fmt: skip
_STEPS = ("it waits", "it has begun", "it has ended")  # of a job or group, as in states.STEPS
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
        *_elements(name), *_containers(name), *_attributes(name), *_limits(name), *_values(name),
        *_states(name), *_units(name), *_codes(name),
        *(topic for now in _present_names(name) for topic in _elements(now, name)),
    )  # fmt: skip


def names_like(name: str) -> tuple[str, ...]:
    """The names that have a topic and are this one: with its letters, or else but for their case.

    >>> names_like("Memory"), names_like("memory"), names_like("GROUP"), names_like("GPU")
    (('Memory',), ('Memory',), ('Group', 'group'), ())
    """
    known = names()
    if name in known:
        return (name,)
    return tuple(sorted(other for other in known if other.lower() == name.lower()))


def names() -> frozenset[str]:
    """Every name that has a topic."""
    return spec.names().union(
        (row.name for row in spec.ATTRIBUTES),
        (row.name for row in spec.ALIASES),
        (limit for limit, *_ in spec.RESOURCE_LIMITS),
        CODE,
        words(),
    )


def words() -> frozenset[str]:
    """Those that are no names: values of attributes and of elements, and units."""
    return frozenset(units.UNITS).union(
        *(row.values for row in spec.ATTRIBUTES), spec.NOTIFICATIONS, *_STATES
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
            ("default", _default(name, places)),
            ("support", f"an implementation {row.compliance} support it"),
            ("attributes", ", ".join(_own_attributes(name))),
            ("units", _UNITS if name in units.DEFAULT_UNITS else ""),
            ("older names", ", ".join(_older(name, places))),
        ), examples.of_element(name, places))  # fmt: skip


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
        ("default", "none"),
        ("support", f"an implementation {row.compliance} support it"),
    ), examples.of_container(name))  # fmt: skip


def _attributes(name: str) -> Iterator[ReferenceEntry]:
    for row in spec.ATTRIBUTES:
        if row.name == name:
            yield ReferenceEntry(name, "attribute", row.section, row.description, _facts(
                ("on", ", ".join(_PLACES.get(place, place) for place in row.on)),
                ("type", row.type),
                ("values", ", ".join(row.values)),
                ("units", _UNITS if _in_units(row) else ""),
                ("default", examples.absent(row)),
                ("how often", "required" if row.appearance == spec.MUST else ""),
                ("support", f"an implementation {row.compliance} support it"),
            ), examples.of_attribute(row))  # fmt: skip


def _limits(name: str) -> Iterator[ReferenceEntry]:
    for limit, meaning, synonyms in spec.RESOURCE_LIMITS:
        if limit == name:
            yield ReferenceEntry(
                name, "name of a ResourceLimit", "SSS 5.1 ResourceLimit", meaning, _facts(
                    ("on", "ResourceLimit, as its name"),
                    ("default", "none"),
                    ("also called", ", ".join(synonyms)),
            ), examples.of_limit(name))  # fmt: skip


def _values(name: str) -> Iterator[ReferenceEntry]:
    for row in spec.ATTRIBUTES:
        if name in row.values:
            yield ReferenceEntry(name, f"value of {row.name}", row.section, row.description, _facts(
                ("means", _MEANS.get(name, "")),
                ("attribute", row.name),
                ("on", ", ".join(_PLACES.get(place, place) for place in row.on)),
                ("values", ", ".join(row.values)),
                ("default", examples.absent(row)),
            ), examples.of_value(row, name))  # fmt: skip
    if name in spec.NOTIFICATIONS:
        element = spec.element("NotificationList")
        assert element is not None
        yield ReferenceEntry(
            name, f"value of {element.name}", element.section, element.description, _facts(
                ("element", element.name),
                ("values", ", ".join(spec.NOTIFICATIONS)),
        ), examples.of_text(element.name, name, "Job"))  # fmt: skip


_STATES = (states.STEPS, states.STEPS_OF_GROUPS, states.BAD_ENDS)


def _states(name: str) -> Iterator[ReferenceEntry]:
    if not any(name in some for some in _STATES):
        return
    of_groups = name in states.STEPS_OF_GROUPS
    element = spec.properties("JobGroup" if of_groups else "Job")["State"]
    about = f"{element.description}: {_STEPS[states.step(name)]}"
    yield ReferenceEntry(name, "value of State", element.section, about, _facts(
        ("element", element.name),
        ("of", "a JobGroup" if of_groups else "a Job"),
        ("standard", "" if name not in states.BAD_ENDS else "sites write it; no state of the text"),
        ("values", ", ".join(states.STEPS_OF_GROUPS if of_groups else states.STEPS)),
    ), examples.of_text("State", name, "JobGroup" if of_groups else "Job"))  # fmt: skip


def _units(name: str) -> Iterator[ReferenceEntry]:
    if name in units.UNITS:
        row = next(row for row in spec.ATTRIBUTES if _in_units(row))
        about = f"{units.UNITS[name]} bytes" if name != "B" else "a byte"
        yield ReferenceEntry(name, "unit", row.section, about, _facts(
            ("attribute", row.name),
            ("on", ", ".join(units.DEFAULT_UNITS)),
            ("values", _UNITS),
        ), examples.of_text("Memory", "1", "Requested", f'units="{name}"'))  # fmt: skip


def _codes(name: str) -> Iterator[ReferenceEntry]:
    for code in CODES:
        if code.name == name:
            found = [case for case in _cases() if name in _findings(case)]
            ids = ", ".join(case.id for case in found[:_CASES])
            more = f" and {len(found) - _CASES} more" if len(found) > _CASES else ""
            whole = [case for case in found if _by_itself(case)]
            alone = [case for case in whole if _findings(case) == [name]]
            yield ReferenceEntry(name, "finding", "", code.meaning, _facts(
                ("severity", code.weighs),
                ("cases", ids + more),
            ), _shortest(case.document for case in alone or whole))  # fmt: skip


def _by_itself(case: Case) -> bool:
    """Whether its document is no message, whose files have to be looked for."""
    return "closed" not in case.expected


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


def _default(name: str, places: list[str]) -> str:
    """Who says an element that is absent."""
    lenders = [lender for place, lender in spec.DEFAULTS.items() if place in places]
    if name in IDENTITY or not lenders:
        return "none"
    return f"what {_either(lenders)} says, otherwise none"


def _either(names: list[str]) -> str:
    """
    >>> _either(["a"]), _either(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _in_units(row: spec.Attribute) -> bool:
    return row.name == "units" and not units.DEFAULT_UNITS.keys().isdisjoint(row.on)


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


def _shortest(documents: Iterable[str]) -> str:
    return min((text for text in documents if len(text) <= _LONGEST), key=len, default="")
