"""One walk over a job object that asks the tables about every element and attribute.

What is right costs one look into a dictionary; words are made only for what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from lxml.etree import _Element as Element

from sssjob import expression, spec, suggestions, units
from sssjob.check.rules import IDENTIFIED, CarriedAttribute, PropertyRule, carried, is_idle, rule
from sssjob.check.values import check_amount, check_attribute, check_text, check_words
from sssjob.check.vocabulary import ALWAYS_UNDERSTOOD, FULL, AwarenessPolicy
from sssjob.defaults.entries import IDENTITY
from sssjob.defaults.notices import never_inherited
from sssjob.document.places import (
    CATEGORIES,
    attributes,
    is_adapter,
    local,
    names,
    place,
    split,
    text_of,
)
from sssjob.document.report import MOST, ObjectReport, too_many
from sssjob.errors import Severity, finding
from sssjob.model import Property
from sssjob.units import XML_SPACE

ADVISED = 100  # names in one job object on which advice is given; it costs far more than a name

_INSIDE = ("Duration",)  # the key of a Duration in Requested or Delivered

# The first of each kind of child, by its name and by the attributes that tell two apart.
Seen = dict[str | tuple[str, ...], Element]


class Enough(Exception):
    """As much was found about a job object as is told."""


class Walk(ObjectReport):
    """One job object being walked: ``found`` collects the findings.

    ``said`` holds codes that need saying once per source, and gets those that were said.
    """

    def __init__(self, root: Element, offset: int, said: set[str]) -> None:
        super().__init__(root, offset)
        self._said = said
        self._has_default: bool | None = None
        self._advised: set[str] = set()

    def say(
        self, code: str, element: Element, message: str, section: str, suggestion: str = "",
        attribute: str = "", severity: Severity | None = None,
    ) -> None:  # fmt: skip
        """Say what is wrong with an element. Raises ``Enough`` where that was said too often."""
        super().say(code, element, message, section, suggestion, attribute, severity)
        if len(self.found) >= MOST:
            self.found.append(finding("E-LIMIT", too_many(MOST), line=self.line(element)))
            raise Enough

    def _meant(self, name: str, advice: Callable[[], str]) -> str:
        """Advice on a name, unless there are too many that are not known for that."""
        if name not in self._advised:
            if len(self._advised) >= ADVISED:
                return ""
            self._advised.add(name)
        return advice()

    def start(self, name: str) -> None:
        """Walk the job object."""
        self._container(self.root, name, FULL.around(self.root))

    def refuse(self, text: str) -> None:
        """Say that the root is no job object."""
        self._unknown(self.root, "", AwarenessPolicy.REJECT, text)

    def _container(self, element: Element, name: str, policy: AwarenessPolicy) -> Seen:
        """A Job, JobGroup, TaskGroup, Task, defaults element, category or Environment.

        Gives the first of each kind of child.
        """
        if items := attributes(element).items():
            known = carried(name, "")
            policy = self._attributes(element, name, "", items, known, policy)
        row = spec.CONTAINER[name]
        seen: Seen = {}
        definitions: list[tuple[Element, Seen]] = []
        text, mixed, holds = element.text, False, False
        for child in element:
            tag = child.tag
            if type(tag) is str:
                holds = True
                asked = rule(tag, name)
                if asked is not None:
                    if asked.key not in seen and not asked.keys:
                        seen[asked.key] = child
                    elif asked.keys is not None:
                        self._again(child, asked, seen)
                    self._property(child, asked, name, policy)
                elif place(tag, name).block:
                    self._block(child, row, policy, seen, definitions)
                else:
                    self._misplaced(child, row, policy)
            tail = child.tail
            if tail and tail.strip(XML_SPACE):
                mixed = True
        if not holds:
            self._without_elements(element, row)
            return seen
        if mixed or (text and text.strip(XML_SPACE)):
            self.say("E-MIXED", element, f"text beside the elements of {name}", row.section)
        self._missing(element, row, seen)
        if name == spec.REQUESTED:
            self._balance(element)
        elif definitions:
            self._identifiers(definitions)
        if name in spec.DEFAULTS.values():
            self._identities(row, seen)
        self.leave(element)
        return seen

    def _block(
        self, element: Element, parent: spec.Container, policy: AwarenessPolicy, seen: Seen,
        identified: list[tuple[Element, Seen]],
    ) -> None:  # fmt: skip
        """An element that holds others, inside one that may or may not hold it."""
        name = local(element)
        wildcard = spec.blocks(parent.name).get(name)
        if wildcard is None:
            self._unknown(
                element, parent.name, policy, f"element {name} is not supported in {parent.name}"
            )
            return
        first = seen.setdefault(name, element)
        if wildcard == "?" and first is not element:
            text = f"a second {name}, where {parent.name} holds zero or one; the first is on line"
            self.say("E-CARD", element, f"{text} {self.line(first)}", spec.CONTAINER[name].section)
        inner = self._container(element, name, policy)
        if IDENTIFIED.get(parent.name) == name and inner:
            identified.append((element, inner))
        if name in CATEGORIES and "Duration" in inner:
            seen.setdefault(_INSIDE, inner["Duration"])

    def _misplaced(self, element: Element, parent: spec.Container, policy: AwarenessPolicy) -> None:
        """An element that the tables do not have here."""
        if str(element.tag).startswith(ALWAYS_UNDERSTOOD):
            return
        namespace, name = names(element)
        asked = rule(str(element.tag), "Job") if parent.name in CATEGORIES else None
        if namespace not in spec.NAMESPACES:
            self._unknown(element, parent.name, policy, f"element {name} of namespace {namespace}")
        elif asked is None:
            known = name in spec.names()
            what = f"is not supported in {parent.name}" if known else "is not known"
            self._unknown(element, parent.name, policy, f"element {name} {what}")
        else:
            section = asked.row.section
            if name == "CpuDuration" and parent.name == spec.DELIVERED:
                text, advice = "CpuDuration has no category in Table 2", "write it beside Delivered"
                self.say("W-CATEGORY", element, text, section, advice)
            else:
                text = f"{name} is not a property that can be {parent.name.lower()}"
                advice = f"write it beside {parent.name}"
                by = FULL.policy(element.get("awarenessPolicy"), policy)
                self.by_policy("E-CATEGORY", element, by, text, section, advice)
            lent = carried(asked.row.name, parent.name)
            self._property(element, asked._replace(attributes=lent), parent.name, policy)

    def _property(
        self, element: Element, asked: PropertyRule, parent: str, policy: AwarenessPolicy
    ) -> None:
        """The attributes of a property, what it holds, and its text."""
        row = asked.row
        if row.name == "Environment":
            self._container(element, row.name, policy)
            return
        items = attributes(element).items()
        if items:
            category = asked.place.category
            policy = self._attributes(element, row.name, category, items, asked.attributes, policy)
        if asked.required:
            self._required(element, asked)
        if len(element):
            text = text_of(element)
            self._inner_elements(element, row.name, policy)
        elif asked.plain is None and not asked.special:
            return
        else:
            text = element.text or ""
        if asked.special and self._specially(element, asked, parent, text, policy):
            return
        if asked.plain is not None and not asked.plain(text):
            faults = tuple(check_text(row.type, text))
            if not faults and row.name in spec.COUNTED:
                faults = tuple(check_amount(text))
            for code, message, suggestion in faults:
                self.say(code, element, f"{row.name}: {message}", row.section, suggestion)

    def _specially(
        self, element: Element, asked: PropertyRule, parent: str, text: str, policy: AwarenessPolicy
    ) -> bool:
        """What only some properties need; True when the data type of the row does not count."""
        row, alias = asked.row, asked.place.alias
        if alias is not None:
            message = f"{alias.name} is an older name of {alias.canonical}"
            advice = f"write {alias.canonical}"
            if asked.place.implied and parent != alias.category:
                advice += f" in {alias.category}"
            self.say("I-ALIAS", element, message, row.section, advice)
        if row.name == "Network" and is_adapter(text, element.keys()):
            message = "Network with a text is an older NetworkAdapter"
            self.say("I-ALIAS", element, message, row.section, "write NetworkAdapter")
            return True
        elif row.name == "NotificationList":
            for _, message, suggestion in check_words(row.name, text, spec.NOTIFICATIONS):
                self.by_policy("E-UNKNOWN", element, policy, message, row.section, suggestion)
        elif row.name == "Id" and not text.strip(XML_SPACE):
            self.say("E-MISSING", element, f"the Id of {parent} is empty", row.section)
        elif row.name in units.DEFAULT_UNITS and "I-UNIT" not in self._said:
            self._unit(element, row)
        return False

    def _inner_elements(self, element: Element, name: str, policy: AwarenessPolicy) -> None:
        for child in element:
            if type(child.tag) is str and not child.tag.startswith(ALWAYS_UNDERSTOOD):
                inner = local(child)
                self._unknown(child, "", policy, f"element {inner} is not supported in {name}")

    def _attributes(
        self, element: Element, name: str, category: str, items: Iterable[tuple[str, str]],
        known: Mapping[str, CarriedAttribute], policy: AwarenessPolicy,
    ) -> AwarenessPolicy:  # fmt: skip
        """Check the attributes of an element, and give the policy that holds for it and below."""
        for key, value in items:
            if key == "awarenessPolicy":
                policy = FULL.policy(value, policy)
        for key, value in items:
            asked = known.get(key)
            if asked is None:
                if not key.startswith(ALWAYS_UNDERSTOOD):
                    self._unknown_attribute(element, name, key, policy)
            elif is_idle(element, name, key):
                text, advice = (
                    f"{key} counts with the condition OnExit only",
                    'write condition="OnExit"',
                )
                self.by_policy("E-UNKNOWN", element, policy, text, asked.row.section, advice, key)
            elif not asked.plain(value):
                section = asked.row.section
                # A policy that is none is itself not understood, and always rejected. 7.1
                by = AwarenessPolicy.REJECT if key == "awarenessPolicy" else policy
                for code, text, advice in check_attribute(asked.row, value, name, category):
                    self.by_policy(code, element, by, f"{key}: {text}", section, advice, key)
        return policy

    def _required(self, element: Element, asked: PropertyRule) -> None:
        for key in asked.required:
            if element.get(key) is None:
                text, section = (
                    f"{asked.row.name} has no attribute {key}",
                    asked.attributes[key].row.section,
                )
                self.say("E-MISSING", element, text, section)

    def _unknown_attribute(
        self, element: Element, name: str, key: str, policy: AwarenessPolicy
    ) -> None:
        namespace, local = split(key)
        elsewhere = next((row for row in spec.ATTRIBUTES if row.name == local), None)
        advice = ""
        if namespace:
            text = f"attribute {local} of namespace {namespace}"
            if namespace in spec.NAMESPACES and elsewhere:
                advice = f"attributes have no namespace: write {local}"
        elif elsewhere and "Requested/*" in elsewhere.on:
            text = f"attribute {key} has no meaning outside Requested"
            advice = "put the property into Requested"
        else:
            text = f"attribute {key} of {name} is not known"
            known = spec.attributes(name)
            meant = self._meant(key, lambda: suggestions.nearest(key, known))
            advice = f"did you mean {meant}?" if meant else ""
        self.by_policy("E-UNKNOWN", element, policy, text, "SSS 9.0", advice, key)

    def _unknown(self, element: Element, parent: str, policy: AwarenessPolicy, text: str) -> None:
        """An element that is not understood: its own policy counts, what it holds does not."""
        stated = element.get("awarenessPolicy")
        namespace, name = names(element)
        advice = ""
        if namespace in spec.NAMESPACES:
            advice = self._meant(name, lambda: suggestions.advice(name, parent))
        own = FULL.policy(stated, policy)
        self.by_policy("E-UNKNOWN", element, own, text, "SSS 9.0", advice)
        if stated is not None:
            row = spec.attributes("*")["awarenessPolicy"]
            for code, message, meant in check_attribute(row, stated):
                self.say(code, element, f"{row.name}: {message}", row.section, meant, row.name)

    def _without_elements(self, element: Element, row: spec.Container) -> None:
        if text_of(element).strip(XML_SPACE):
            if row.reference:
                return
            text = f"text in {row.name}, which holds elements"
            self.say("E-MIXED", element, text, row.section)
        elif row.reference:
            text = f"{row.name} has neither properties nor the id of another {row.name}"
            self.say("E-EMPTY", element, text, row.section)
        elif row.name != "Environment":
            self.say("E-MISSING", element, f"{row.name} has no properties", row.section)

    def _again(self, element: Element, asked: PropertyRule, seen: Seen) -> None:
        """A property set holds a property once, unless its row says otherwise (0.4)."""
        row, keys = asked.row, asked.keys or ()
        name = row.name
        if name == "Network" and is_adapter(text_of(element), element.keys()):
            name, keys = "NetworkAdapter", ()
        values = [element.get(key, "") for key in keys]
        if name == "ResourceLimit":
            values[0] = spec.limit_name(values[0])
            self._overlap(element, values, seen)
        first = seen.setdefault((name, *values) if keys else name, element)
        if first is not element:
            told = "".join(
                f' {key}="{value}"' for key, value in zip(keys, values, strict=True) if value
            )
            text = f"{name}{told} appears again; the first is on line {self.line(first)}"
            self.say("E-DUP", element, text, row.section)
        seen.setdefault(name, element)

    def _overlap(self, element: Element, values: Sequence[str], seen: Seen) -> None:
        name, kind = values
        for other in ("",) if kind else ("Hard", "Soft"):
            first = seen.get(("ResourceLimit", name, other))
            if first is not None:
                text = f"ResourceLimit {name} without a type sets both limits; see line"
                self.say(
                    "W-OVERLAP", element, f"{text} {self.line(first)}", "SSS 5.1 ResourceLimit"
                )

    def _missing(self, element: Element, container: spec.Container, seen: Seen) -> None:
        """What an appearance of MUST or SHOULD asks for (13.1)."""
        name = container.name
        for row in _due(name):
            if row.name not in seen:
                self.say("E-MISSING", element, f"{name} has no {row.name}", row.section)
        if name == "JobGroup" and "Job" not in seen:
            self.say("E-MISSING", element, "JobGroup has no Job", container.section)
        elif name == "TaskGroup" and seen and seen.keys() <= {"Task", "TaskDefaults"}:
            # "A task group MUST specify one or more TaskGroup Properties." SSS 6.0
            self.say("E-MISSING", element, "TaskGroup has no properties", container.section)
        elif name == "Job" and not ("Duration" in seen or _INSIDE in seen or self._lent(element)):
            row = spec.properties("Job")["Duration"]
            text = "Job has no Duration, which is recommended"
            self.say("I-MISSING", element, text, row.section)

    def _lent(self, job: Element) -> bool:
        """Whether the JobDefaults of the group, which may come behind a job, lend it a Duration."""
        if job is self.root:
            return False
        if self._has_default is None:
            self._has_default = any(
                (asked := rule(str(child.tag), local(part))) and asked.row.name == "Duration"
                for block in self.root.iterchildren("{*}JobDefaults")
                for part in (block, *block.iterchildren("{*}Requested", "{*}Delivered"))
                for child in part.iterchildren("{*}*")
            )
        return self._has_default

    def _balance(self, element: Element) -> None:
        """Groups close what they open, within one Requested (2.1)."""
        children = [child for child in element if type(child.tag) is str]
        if all(child.get("group") is None for child in children):
            return
        properties = [Property(local(c), text_of(c), attributes(c)) for c in children]
        fault = expression.balance(properties)
        if fault is None:
            return
        blamed = children[fault.index]
        self.say("E-GROUP", blamed, str(fault), "SSS 8.1")
        if expression.swap_balances(properties):
            text = "the groups balance if every sign is reversed"
            self.say("W-GROUP-SWAP", blamed, text, "SSS 8.1", "positive opens, negative closes")

    def _identifiers(self, definitions: Sequence[tuple[Element, Seen]]) -> None:
        """Two jobs of a group, task groups of a job or tasks of a task group have two ids."""
        named: dict[str, Element] = {}
        for element, inner in definitions:
            if "Id" in inner and (id_ := text_of(inner["Id"]).strip(XML_SPACE)):
                first = named.setdefault(id_, element)
                if first is not element:
                    name = local(element)
                    text = f"the Id {id_} names another {name}, too, on line {self.line(first)}"
                    self.say("E-DUP", inner["Id"], text, spec.properties(name)["Id"].section)

    def _identities(self, defaults: spec.Container, seen: Seen) -> None:
        """Each job, task group and task has an id of its own, so that no default gives one."""
        for name in IDENTITY:
            if name in seen:
                text = never_inherited(name, defaults.name)
                self.say("W-USELESS", seen[name], text, defaults.section)

    def _unit(self, element: Element, row: spec.Element) -> None:
        if element.get("units") is None:
            self._said.add("I-UNIT")
            unit = units.DEFAULT_UNITS[row.name]
            text = f"{row.name} without units is read in {unit}"
            advice = f'write units="{unit}"'
            self.say("I-UNIT", element, text, "SSS 5.1 Consumable Resources", advice)


@lru_cache
def _due(container: str) -> tuple[spec.Element, ...]:
    """The properties that a container must have."""
    if container in CATEGORIES or container.endswith("Defaults"):
        return ()
    return tuple(row for row in spec.properties(container).values() if row.appearance == spec.MUST)
