"""Findings about one job object, each placed by line and path."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from lxml.etree import _Element as Element

from sssjob.document.places import local, split
from sssjob.errors import CODE, AwarenessPolicy, Finding, Severity, finding

MOST = 100_000  # findings about one job object; each takes some hundred bytes
_FEW = 64  # children that are looked through each time; those of more are numbered once


def too_many(most: int) -> str:
    """What is said where so many findings were told."""
    return f"more than {most} findings about one job object: the others are not told"


class ObjectReport:
    """What was found about a job object, by its root and the number of lines before it."""

    def __init__(self, root: Element, offset: int) -> None:
        self.root, self.offset = root, offset
        self.found: list[Finding] = []
        # For each element about which something was said, the step to each of its children.
        self._steps: dict[Element, dict[Element, str]] = {}

    def by_policy(
        self, code: str, element: Element, policy: AwarenessPolicy, message: str, section: str,
        suggestion: str = "", attribute: str = "",
    ) -> None:  # fmt: skip
        """Say what is not understood as hard as the policy that holds there asks (9.0)."""
        severity: Severity | None = CODE[code].severity
        if code in ("E-UNKNOWN", "E-CATEGORY"):
            severity = policy.severity
        if severity is not None:
            self.say(code, element, message, section, suggestion, attribute, severity)

    def say(
        self, code: str, element: Element, message: str, section: str, suggestion: str = "",
        attribute: str = "", severity: Severity | None = None,
    ) -> None:  # fmt: skip
        """Say what is wrong with an element or its attribute, and by which section."""
        path = self.path(element) + (f"/@{split(attribute)[1]}" if attribute else "")
        self.found.append(finding(
            code, message, line=self.line(element), path=path, section=section,
            suggestion=suggestion, severity=severity,
        ))  # fmt: skip

    def take(self, found: Finding) -> None:
        """Take what was found of the job object by itself, whose first line is 1."""
        line = found.line + self.offset if found.line else 0
        self.found.append(replace(found, line=line))

    def line(self, element: Element) -> int:
        """The line of an element in its source, 0 if it is not known."""
        return element.sourceline + self.offset if element.sourceline else 0

    def path(self, element: Element) -> str:
        """The way from the job object down, numbered where several of a name stand together."""
        steps = []
        node = element
        while node is not self.root:
            parent = node.getparent()
            assert parent is not None
            steps.append(self._step(parent, node))
            node = parent
        steps.append(local(self.root))
        return "/" + "/".join(reversed(steps))

    def _step(self, parent: Element, node: Element) -> str:
        known = self._steps.get(parent)
        if known is not None:
            return known[node]
        # Only once for a parent of many: libxml2 counts children one by one.
        if len(parent) <= _FEW:
            same = list(parent.iterchildren(str(node.tag)))
            return local(node) + (f"[{same.index(node) + 1}]" if len(same) > 1 else "")
        self._steps[parent] = _numbered(parent)
        return self._steps[parent][node]

    def leave(self, element: Element) -> None:
        """Forget the ways through an element about which all is said."""
        self._steps.pop(element, None)


def _numbered(parent: Element) -> dict[Element, str]:
    """The step to each child element: its name, and its number if several have that name."""
    counts: Counter[str] = Counter()
    numbers = {}
    for child in parent:
        tag = child.tag
        if type(tag) is str:
            counts[tag] += 1
            numbers[child] = (tag, counts[tag])
    return {
        child: split(tag)[1] + (f"[{number}]" if counts[tag] > 1 else "")
        for child, (tag, number) in numbers.items()
    }
