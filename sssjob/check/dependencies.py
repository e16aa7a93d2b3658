"""What the dependencies of a document's jobs say together: circles, and jobs that can never run."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.etree import _Element as Element

from sssjob import graph, spec
from sssjob.document.places import attributes, has_elements, names, place, text_of
from sssjob.document.report import ObjectReport
from sssjob.model import Item, Job, JobDefaults, JobGroup, Property, Reference, stripped

# A vocabulary or a type is the walk's to judge, attribute by attribute.
_SAID = frozenset(("E-TYPE", "E-UNKNOWN"))
# What a single job depends upon is somewhere else by nature.
_SAID_OF_GROUPS = frozenset(("I-REFERENCE",))


def check(report: ObjectReport, *, closed: bool = False) -> None:
    """Say all there is to say about the dependencies of a job group, or of a single job.

    What a ``closed`` document depends upon has to be in it.
    """
    root = report.root
    if is_silent(root):
        return
    namespace, name = names(root)
    if namespace not in spec.NAMESPACES or name not in ("Job", "JobGroup"):
        return
    unsaid = _SAID if name == "JobGroup" else _SAID | _SAID_OF_GROUPS
    jobs = _group(root) if name == "JobGroup" else [_job(root)]
    for found in graph.findings_for(jobs, closed=closed):
        if found.code not in unsaid:
            report.take(found)


def is_silent(root: Element) -> bool:
    """Whether nothing depends on anything."""
    return next(root.iter("{*}Dependency"), None) is None


def _group(root: Element) -> JobGroup:
    """A job group with what its graph is made from; the rest may be large."""
    items: list[Item] = []
    for child in root.iterchildren("{*}Job", "{*}JobDefaults"):
        namespace, name = names(child)
        if namespace not in spec.NAMESPACES:
            continue
        if name == "JobDefaults":
            items.append(JobDefaults(tuple(_properties(child, name)), attributes(child)))
        elif has_elements(child) or not stripped(text_of(child)):  # neither job nor id: E-EMPTY
            items.append(_job(child))
        else:
            items.append(Reference("Job", text_of(child)))
    return JobGroup(tuple(items), attributes(root))


def _job(element: Element) -> Job:
    line = element.sourceline or 0
    return Job(tuple(_properties(element, "Job")), attributes(element), line=line)


def _properties(element: Element, container: str) -> Iterator[Property]:
    for child in element.iterchildren("{*}*"):
        name = place(str(child.tag), container).name
        if graph.is_relevant(name, said := attributes(child)):
            yield Property(name, text_of(child), said, line=child.sourceline or 0)
