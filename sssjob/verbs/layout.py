"""The layouts of a chosen job object, each with all that is to be said about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sssjob import layout
from sssjob.errors import Finding
from sssjob.layout import Layout, Unit

if TYPE_CHECKING:
    from sssjob.verbs.selection import ChosenObject

_NOT_LAID = {
    name: None
    for name in (
        "alternative", "tasks", "nodes", "tasks_per_node", "processors", "processors_per_task",
        "rule", "placement", "sources",
    )
}  # fmt: skip


class UnitLayout(NamedTuple):
    """A job or task group, and one of its layouts; None where nothing can be laid out."""

    file: str
    unit: Unit
    layout: Layout | None
    findings: tuple[Finding, ...]

    def as_dict(self) -> dict[str, Any]:
        """The contract for scripts."""
        unit = self.unit
        job = unit.job or unit.block
        group = unit.block if unit.job else None
        return {
            "file": self.file,
            "path": unit.path,
            "job": job.id or None,
            "group": group and (group.id or group.get("Name") or None),
            **(self.layout.as_dict() if self.layout else _NOT_LAID),
            "findings": [found.as_dict() for found in self.findings],
        }


def layouts(
    item: ChosenObject, *, lenient: bool = False, extended: bool = False
) -> Iterator[UnitLayout]:
    """Each layout of what was chosen, with all that is to be said about it.

    ``lenient``: a count overrides those that contradict it and rank lower. ``extended``: ranges of
    nodes are read as ClusterShell does, without which ``ModuleNotFoundError`` is raised.
    """
    for unit in layout.units(item.block):
        if not item.has(unit.path):
            continue
        found = layout.layouts(unit.block, unit.path, lenient=lenient, extended=extended)
        several = len(found.layouts) > 1
        for number, each in enumerate(found.layouts):
            common_to_all = () if number else found.findings
            own = _in(each, each.findings) if several else each.findings
            yield UnitLayout(item.file, unit, each, _placed(item, (*common_to_all, *own)))
        if not found.layouts:
            yield UnitLayout(item.file, unit, None, _placed(item, found.findings))


def sums(item: ChosenObject, *, lenient: bool = False) -> tuple[Finding, ...]:
    """Jobs whose processors are not those of their task groups, unless only a part was chosen."""
    jobs: dict[str, list[Unit]] = {}
    for unit in layout.units(item.block):
        path = unit.path.rpartition("/")[0]
        if unit.job is not None and item.has(path):
            jobs.setdefault(path, []).append(unit)
    found: list[Finding] = []
    for path, groups in jobs.items():
        job = groups[0].job
        if job is not None:
            found += layout.check_whole(job, groups, path, lenient=lenient)
    return _placed(item, found)


def _in(layout: Layout, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings that say in which alternative they are made."""
    for found in findings:
        yield replace(found, message=layout.saying(found))


def _placed(item: ChosenObject, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(found.in_file(item.file) for found in findings)
