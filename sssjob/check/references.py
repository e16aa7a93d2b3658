"""References: a job group, job, task group or task named by its id alone (4.2, 5.2, 6.2, 7.2).

``<Job>job77</Job>`` mentions a job that is defined elsewhere: in the same job group, in the same
document, or in neither. Reading and writing keep a mention as it is; ``dereference`` puts the
definition in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sssjob import spec
from sssjob.check.rules import IDENTIFIED
from sssjob.document.bridge import from_tree
from sssjob.document.places import local, text_of
from sssjob.document.report import ObjectReport
from sssjob.errors import Finding, LimitExceeded, finding
from sssjob.model import Block, Item, Job, JobGroup, Reference, steps, walk
from sssjob.units import XML_SPACE

# A short document can mention a long job often; what comes out of it is bounded.
LIMIT = 1_000_000  # blocks and properties that dereferencing puts in

_TAGS = tuple(f"{{*}}{row.name}" for row in spec.CONTAINERS if row.reference)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What references mean: ``targets`` has the definition of each that is not external."""

    findings: tuple[Finding, ...] = ()
    targets: Mapping[str, Block] = field(default_factory=dict)


def index(blocks: Iterable[Block]) -> dict[str, Job]:
    """The jobs that are defined in a document, by their ids; the first of each id counts."""
    found: dict[str, Job] = {}
    for block in blocks:
        jobs = block.jobs if isinstance(block, JobGroup) else (block,)
        for job in jobs:
            if type(job) is Job and job.id:
                found.setdefault(job.id, job)
    return found


def resolve(
    block: Block, *, known: Mapping[str, Job] | None = None, closed: bool = False
) -> Resolution:
    """What each reference in a job object means, by the path of the reference.

    Jobs are looked for in their job group, then among ``known`` ones (see ``index``); task groups
    in their job; tasks in their task group. What is found nowhere is external: a notice, or an
    error where the document is ``closed`` and has to hold all that it mentions.
    """
    targets: dict[str, Block] = {}
    findings = []
    for path, reference, holder, scope in _references(block):
        target = scope.get(reference.id) or _elsewhere(reference, known)
        if target is not None:
            targets[path] = target
            continue
        row = spec.CONTAINER[reference.name]
        findings.append(
            finding(
                "E-REF" if closed else "I-REFERENCE",
                f"{reference.name} {reference.id} is not defined in this {holder}",
                line=reference.line, path=path, section=row.section,
            )
        )  # fmt: skip
    return Resolution(tuple(findings), targets)


def check(report: ObjectReport, *, closed: bool = False) -> None:
    """Say which references of a job object lead out of it."""
    root = report.root
    name = local(root)
    named = "" if len(root) else text_of(root).strip(XML_SPACE)
    if named and spec.CONTAINER[name].reference:
        text = f"{name} {named} is a reference by its id, and defines nothing"
        code = "E-REF" if closed else "I-REFERENCE"
        report.say(code, root, text, spec.CONTAINER[name].section)
    if any(not len(item) for item in root.iter(*_TAGS)) and len(root):
        for found in resolve(from_tree(root), closed=closed).findings:
            report.take(found)


def dereference(block: Block, *, known: Mapping[str, Job] | None = None) -> Block:
    """The job object with definitions in the place of references; external ones stay.

    Nothing is defined twice by it: where the definition stands in the same set, or has taken the
    place of an earlier reference there, the reference goes. Raises ``LimitExceeded``.
    """
    return _Dereferencing(known).block(block)


class _Dereferencing:
    """One job object on its way to having no references. Kinds only go down, so it ends."""

    def __init__(self, known: Mapping[str, Job] | None) -> None:
        self._known = known
        self._put_in = 0

    def block(self, block: Block) -> Block:
        defined = set(_defined(block))
        items: list[Item] = []
        for item in block.items:
            if isinstance(item, Reference):
                if item.id in defined and item.name == IDENTIFIED.get(_kind(block)):
                    continue
                target = _elsewhere(item, self._known)
                if target is None:
                    items.append(item)
                    continue
                defined.add(item.id)
                self._count(target)
                items.append(self.block(target))
            else:
                items.append(self.block(item) if isinstance(item, Block) else item)
        return block.holding(items)

    def _count(self, target: Block) -> None:
        self._put_in += sum(1 + len(inner.items) for inner in walk(target))
        if self._put_in > LIMIT:
            raise LimitExceeded("elements in the place of references", LIMIT)


def _references(
    block: Block, path: str = ""
) -> Iterator[tuple[str, Reference, str, Mapping[str, Block]]]:
    """Every reference that may stand where it does, its path, and what its id may mean there."""
    scope: dict[str, Block] | None = None
    for step, item in steps(block, path):
        if isinstance(item, Block):
            yield from _references(item, step)
        elif item.name == IDENTIFIED.get(_kind(block)):
            if scope is None:
                scope = _defined(block)
            yield step, item, block.name, scope


def _defined(block: Block) -> dict[str, Block]:
    """What of the kind that has ids there is defined in a block, by id."""
    kind = IDENTIFIED.get(_kind(block))
    found: dict[str, Block] = {}
    for item in block.items:
        if isinstance(item, Block) and item.name == kind and item.id:
            found.setdefault(item.id, item)
    return found


def _kind(block: Block) -> str:
    """JobDefaults holds what Job holds."""
    return block.name.removesuffix("Defaults")


def _elsewhere(reference: Reference, known: Mapping[str, Job] | None) -> Block | None:
    return known.get(reference.id) if known and reference.name == "Job" else None
