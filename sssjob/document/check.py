"""Whether a document follows the standard: every fault, where it is, and by which paragraph.

One walk over the tree asks the tables of ``spec`` about every element and attribute. A document
about which no rule has anything to say is accepted by a grammar first (see ``accept``), so that
the walk is only for those that need words.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml.etree import _Element as Element

from sssjob import expression, spec, spelling, units
from sssjob.document import tree
from sssjob.document.accept import Acceptor
from sssjob.document.bridge import is_number, split
from sssjob.document.files import Source
from sssjob.document.values import check_attribute, check_text, check_units, check_words
from sssjob.errors import (
    CODE,
    Finding,
    InvalidJob,
    Severity,
    UnreadableDocument,
    finding,
)
from sssjob.model import Property

_CATEGORIES = (spec.REQUESTED, spec.DELIVERED)
_IGNORED_NAMESPACES = (
    "{http://www.w3.org/XML/1998/namespace}", "{http://www.w3.org/2001/XMLSchema-instance}",
)  # fmt: skip
_SEVERITY = {"Reject": Severity.ERROR, "Warn": Severity.WARNING, "Ignore": None}
_XML_SPACE = " \t\r\n"
_DURATIONS = frozenset(
    ("Duration", *(row.name for row in spec.ALIASES if row.canonical == "Duration"))
)


def check(element: Element, *, offset: int = 0, said: set[str] | None = None) -> Iterator[Finding]:
    """Every finding about a job object's element, in document order.

    ``offset`` is the number of lines before its document. Codes in ``said`` that need saying
    once per source (I-UNIT) are not said again, and are added when they are.
    """
    walk = _Walk(element, offset, set() if said is None else said)
    namespace, name = split(str(element.tag))
    if name in spec.CONTAINER and name not in _CATEGORIES and namespace in spec.NAMESPACES:
        walk.container(element, name, "Reject")
    elif len(element) or (element.text or "").strip() or spelling.advice(name):
        # A wrapper may be empty, but a document without any job object is a mistake.
        walk.unknown(element, "", "Reject", f"<{name}> is no job object and holds none")
    # What is missing from an element belongs before what is wrong inside it.
    yield from sorted(walk.found, key=lambda found: found.line)


def check_source(source: Source, *, name: str = "") -> Iterator[Finding]:
    """Every finding about a source of any size. What cannot be read is a finding, too.

    Where each line is a document, one that cannot be read does not hide those after it.
    """
    said: set[str] = set()
    accepts = Acceptor(said)
    broken: list[UnreadableDocument] = []
    for element, offset in tree.located(source, on_error=broken.append):
        for error in broken:
            yield error.finding.in_file(name)
        broken.clear()
        if not accepts(element):
            for found in check(element, offset=offset, said=said):
                yield found.in_file(name)
    for error in broken:
        yield error.finding.in_file(name)


def validate(source: Source, *, name: str = "") -> tuple[Finding, ...]:
    """The warnings and notices about a source; raises ``InvalidJob`` with all findings if it has errors."""
    found = tuple(check_source(source, name=name))
    if any(item.severity is Severity.ERROR for item in found):
        raise InvalidJob(found)
    return found


def is_valid(source: Source) -> bool:
    """Whether a source has no errors; stops at the first."""
    return not any(item.severity is Severity.ERROR for item in check_source(source))


class _Walk:
    """One job object being walked: ``found`` collects in document order."""

    def __init__(self, root: Element, offset: int, said: set[str]) -> None:
        self.root, self.offset, self.said = root, offset, said
        self.found: list[Finding] = []

    def container(self, element: Element, name: str, policy: str) -> None:
        """A Job, JobGroup, TaskGroup, Task, defaults element or category."""
        policy = self.attributes(element, name, "", policy)
        row = spec.CONTAINER[name]
        has_text = bool(element.text and element.text.strip(_XML_SPACE))
        if not len(element):
            if has_text and row.reference:
                return
            if not has_text:
                self.empty(element, row)
                return
        if has_text or any(child.tail and child.tail.strip(_XML_SPACE) for child in element):
            self.say("E-MIXED", element, f"text beside the elements of {name}", row.section)
        seen: dict[tuple[str, ...], int] = {}
        for child in element:
            if type(child.tag) is str:
                self.child(child, row, policy, seen)
        self.missing(element, row, seen)
        if name == spec.REQUESTED:
            self.balance(element)
        elif name == "JobGroup":
            self.identifiers(element)

    def child(
        self, element: Element, parent: spec.Container, policy: str, seen: dict[tuple[str, ...], int]
    ) -> None:
        namespace, name = split(element.tag)
        if namespace not in spec.NAMESPACES:
            self.unknown(element, parent.name, policy, f"element {name} of namespace {namespace}")
        elif name in spec.blocks(parent.name):
            if spec.blocks(parent.name)[name] == "?" and (name,) in seen:
                text = f"a second {name}, where {parent.name} holds zero or one; the first is on line"
                self.say("E-CARD", element, f"{text} {seen[(name,)]}", spec.CONTAINER[name].section)
            seen.setdefault((name,), self.line(element))
            self.container(element, name, policy)
        else:
            alias = None
            row = spec.properties(parent.name).get(name)
            if row is None and (alias := spec.alias(name, parent.name)):
                row = spec.properties(parent.name)[alias.canonical]
                text = f"{name} is an older name of {alias.canonical}"
                self.say("I-ALIAS", element, text, row.section, f"write {alias.canonical}")
            if row is None:
                row = self.misplaced(element, name, parent, policy)
            if row is not None:
                self.property(element, row, parent.name, policy, seen)

    def misplaced(
        self, element: Element, name: str, parent: spec.Container, policy: str
    ) -> spec.Element | None:
        """A name that has no place here: what to say of it, and the row to read it by if any."""
        row = spec.properties("Job").get(name) if parent.name in _CATEGORIES else None
        if row is None:
            what = f"element {name} is not supported in {parent.name}" if (
                name in spec.names()
            ) else f"element {name} is not known"  # fmt: skip
            self.unknown(element, parent.name, policy, what)
        elif name == "CpuDuration" and parent.name == spec.DELIVERED:
            text = "CpuDuration has no category in Table 2"
            self.say("W-CATEGORY", element, text, row.section, "write it beside Delivered")
        else:
            verb = parent.name.lower()
            text = f"{name} is not a property that can be {verb}"
            self.by_policy("E-CATEGORY", element, policy, text, row.section, f"write it beside {parent.name}")
        return row

    def property(
        self, element: Element, row: spec.Element, parent: str, policy: str,
        seen: dict[tuple[str, ...], int],
    ) -> None:  # fmt: skip
        category = parent if parent in _CATEGORIES else ""
        policy = self.attributes(element, row.name, category, policy)
        if not category:
            self.repeated(element, row, seen)
        if row.name == "Environment":
            self.container(element, "Environment", policy)
            return
        for child in element:
            if type(child.tag) is str:
                text = f"element {split(child.tag)[1]} is not supported in {row.name}"
                self.unknown(child, "", policy, text)
        text = element.text or ""
        adapter = row.name == "Network" and not element.attrib and not is_number(text)
        if adapter:
            # One name in two tables: what is no number is a type of adapter. 0.3
            self.say("I-ALIAS", element, "Network with a text is an older NetworkAdapter", row.section,
                     "write NetworkAdapter")
            return
        faults = check_text(row.type, text) if row.type else ()
        for code, message, suggestion in faults:
            self.say(code, element, f"{row.name}: {message}", row.section, suggestion)
        if row.name == "NotificationList":
            for _, message, suggestion in check_words(text):
                self.by_policy("E-UNKNOWN", element, policy, message, row.section, suggestion)
        elif row.name == "Id" and not text.strip(_XML_SPACE):
            self.say("E-MISSING", element, f"the Id of {parent} is empty", row.section)
        elif row.name in units.DEFAULT_UNITS and "units" not in element.keys():
            self.once("I-UNIT", element, row)

    def attributes(self, element: Element, name: str, category: str, policy: str) -> str:
        """Check the attributes of an element, and give the policy that holds below it."""
        items = element.items()
        known = spec.attributes(name, category)
        if items:
            own = element.get("awarenessPolicy", policy)
            # "It is not understood and always Reject": a value that is no policy. 7.1
            policy = own if own in _SEVERITY else policy
            for key, value in items:
                row = known.get(key)
                if row is None:
                    if not key.startswith(_IGNORED_NAMESPACES):
                        self.unknown_attribute(element, name, key, policy)
                    continue
                faults = check_units(name, value) if key == "units" else check_attribute(row, value)
                for code, message, suggestion in faults:
                    by = "Reject" if key == "awarenessPolicy" else policy
                    self.by_policy(code, element, by, f"{key}: {message}", row.section, suggestion, key)
        for required in spec.required(name):
            if required not in element.keys():
                self.say("E-MISSING", element, f"{name} has no attribute {required}",
                         known[required].section)  # fmt: skip
        return policy

    def unknown_attribute(self, element: Element, name: str, key: str, policy: str) -> None:
        local = split(key)[1]
        elsewhere = next((row for row in spec.ATTRIBUTES if row.name == local), None)
        if key != local:
            text, advice = f"attribute {local} of namespace {split(key)[0]}", ""
        elif elsewhere and "Requested/*" in elsewhere.on:
            text = f"attribute {key} has no meaning outside Requested"
            advice = "put the property into Requested"
        else:
            text = f"attribute {key} of {name} is not known"
            meant = spelling.nearest(key, spec.attributes(name))
            advice = f"did you mean {meant}?" if meant else ""
        self.by_policy("E-UNKNOWN", element, policy, text, "SSS 9.0", advice, key)

    def unknown(self, element: Element, parent: str, policy: str, text: str) -> None:
        own = element.get("awarenessPolicy", policy)
        policy = own if own in _SEVERITY else "Reject"
        namespace, name = split(element.tag)
        advice = "" if namespace not in spec.NAMESPACES else spelling.advice(name, parent)
        self.by_policy("E-UNKNOWN", element, policy, text, "SSS 9.0", advice)

    def empty(self, element: Element, row: spec.Container) -> None:
        if row.reference:
            text = f"{row.name} has neither properties nor the id of another {row.name}"
            self.say("E-EMPTY", element, text, row.section)
        elif row.name != "Environment":
            self.say("E-MISSING", element, f"{row.name} has no properties", row.section)

    def repeated(
        self, element: Element, row: spec.Element, seen: dict[tuple[str, ...], int]
    ) -> None:
        """A property set holds a property once, unless its row says otherwise (0.4)."""
        if row.repeats is True:
            seen.setdefault((row.name,), self.line(element))
            return
        keys = row.repeats or ()
        values = [element.get(key, "") for key in keys]
        if row.name == "ResourceLimit":
            values[0] = spec.limit_name(values[0])
            self.overlap(element, values, seen)
        first = seen.get((row.name, *values))
        seen.setdefault((row.name, *values), self.line(element))
        seen.setdefault((row.name,), self.line(element))
        if first is not None:
            told = "".join(f' {key}="{value}"' for key, value in zip(keys, values, strict=True) if value)
            text = f"{row.name}{told} appears again; the first is on line {first}"
            self.say("E-DUP", element, text, row.section)

    def overlap(self, element: Element, values: list[str], seen: dict[tuple[str, ...], int]) -> None:
        name, kind = values
        others = ("Hard", "Soft") if not kind else ("",)
        for other in others:
            if line := seen.get(("ResourceLimit", name, other)):
                text = f"ResourceLimit {name} without a type sets both limits; see line {line}"
                self.say("W-OVERLAP", element, text, "SSS 5.1 ResourceLimit")

    def missing(
        self, element: Element, container: spec.Container, seen: dict[tuple[str, ...], int]
    ) -> None:
        name = container.name
        if name not in _CATEGORIES and not name.endswith("Defaults"):
            for row in spec.properties(name).values():
                if row.appearance == spec.MUST and (row.name,) not in seen:
                    self.say("E-MISSING", element, f"{name} has no {row.name}", row.section)
        if name == "JobGroup" and ("Job",) not in seen:
            self.say("E-MISSING", element, "JobGroup has no Job", container.section)
        if name == "Job" and not self.has_duration(element):
            row = spec.properties("Job")["Duration"]
            self.say("I-MISSING", element, "Job has no Duration, which is recommended", row.section)

    def has_duration(self, job: Element) -> bool:
        parent = job.getparent() if job is not self.root else None
        defaults = () if parent is None else parent.iterchildren("{*}JobDefaults")
        return any(
            split(child.tag)[1] in _DURATIONS
            for block in (job, *defaults)
            for part in (block, *block.iterchildren("{*}Requested", "{*}Delivered"))
            for child in part.iterchildren("{*}*")
        )

    def balance(self, element: Element) -> None:
        """Groups close what they open, within one Requested (2.1)."""
        children = [child for child in element if type(child.tag) is str]
        if not any("group" in child.keys() for child in children):
            return
        properties = [Property(split(c.tag)[1], c.text or "", dict(c.items())) for c in children]
        fault = expression.balance(properties)
        if fault is None:
            return
        blamed = children[fault.index]
        self.say("E-GROUP", blamed, str(fault), "SSS 8.1")
        if expression.swap_balances(properties):
            text = "the groups balance when every sign is turned"
            self.say("W-GROUP-SWAP", blamed, text, "SSS 8.1", "positive opens, negative closes")

    def identifiers(self, group: Element) -> None:
        """The jobs of a group have ids of their own (6.3)."""
        seen: dict[str, int] = {}
        for job in group.iterchildren("{*}Job"):
            for child in job.iterchildren("{*}Id", "{*}JobId", "{*}jobId"):
                id_, line = (child.text or "").strip(_XML_SPACE), self.line(child)
                if id_ in seen:
                    text = f"the Id {id_} names another job, too, on line {seen[id_]}"
                    self.say("E-DUP", child, text, "SSS 5.1 Table 2")
                seen.setdefault(id_, line)

    def once(self, code: str, element: Element, row: spec.Element) -> None:
        if code not in self.said:
            self.said.add(code)
            unit = units.DEFAULT_UNITS[row.name]
            text = f"{row.name} without units is read in {unit}"
            self.say(code, element, text, "SSS 5.1 Consumable Resources", f'write units="{unit}"')

    def by_policy(
        self, code: str, element: Element, policy: str, message: str, section: str,
        suggestion: str = "", attribute: str = "",
    ) -> None:  # fmt: skip
        """Say what is not understood as hard as the policy that holds there asks (9.0)."""
        severity: Severity | None = CODE[code].severity
        if code in ("E-UNKNOWN", "E-CATEGORY"):
            severity = _SEVERITY[policy]
        if severity is not None:
            self.say(code, element, message, section, suggestion, attribute, severity)

    def say(
        self, code: str, element: Element, message: str, section: str, suggestion: str = "",
        attribute: str = "", severity: Severity | None = None,
    ) -> None:  # fmt: skip
        path = self.path(element) + (f"/@{split(attribute)[1]}" if attribute else "")
        self.found.append(finding(
            code, message, line=self.line(element), path=path, section=section,
            suggestion=suggestion, severity=severity,
        ))  # fmt: skip

    def line(self, element: Element) -> int:
        return element.sourceline + self.offset if element.sourceline else 0

    def path(self, element: Element) -> str:
        """The way from the job object down, numbered where several of a name stand together."""
        steps = []
        node: Element | None = element
        while node is not None:
            step = split(str(node.tag))[1]
            parent = node.getparent() if node is not self.root else None
            if parent is not None and len(same := parent.findall(node.tag)) > 1:
                step += f"[{same.index(node) + 1}]"
            steps.append(step)
            node = parent
        return "/" + "/".join(reversed(steps))
