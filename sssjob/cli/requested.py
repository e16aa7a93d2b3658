"""Requests of the jobs and task groups that the user named, for the commands that ask them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from sssjob.cli import common

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sssjob.check.vocabulary import AwarenessPolicy
    from sssjob.expression import Expression
    from sssjob.model import Block, Item


class NamedRequest(NamedTuple):
    """The request of one job or task group; None if it cannot be read, which was said."""

    file: str
    path: str
    block: Block
    expression: Expression | None

    @property
    def name(self) -> str:
        """What people call the job or task group."""
        return self.block.id or self.block.get("Name")


def requests(
    files: tuple[str, ...],
    select: str | None,
    on_error: common.Complain,
    nodes: Sequence[str] = (),
) -> Iterator[NamedRequest]:
    """The requests of jobs with their defaults applied, or of what was selected.

    What is worth saying about each request is said on standard error; ``nodes`` are names over
    which its patterns are tried.
    """
    from sssjob.cli.selection import chosen
    from sssjob.defaults import resolve, scope

    for item in chosen(files, select, on_error):
        resolved = resolve(item.block)
        common.print_findings(found.in_file(item.file) for found in resolved.findings)
        within = scope(item.block) if item.paths is not None else resolved.block
        for path, block, policy in _units(within, f"/{within.name}", item.paths):
            yield _asked(item.file, path, block, policy, nodes)


def _units(
    block: Block, path: str, paths: tuple[str, ...] | None, inside: bool = False,
    around: AwarenessPolicy | None = None,
) -> Iterator[tuple[str, Block, AwarenessPolicy]]:  # fmt: skip
    """The jobs that were chosen by themselves or with their group; task groups by themselves.

    Each comes with the awarenessPolicy that holds around it.
    """
    from sssjob.check.vocabulary import FULL, AwarenessPolicy
    from sssjob.model import Block, Job, JobGroup, Task, TaskGroup

    chosen = paths is None or path in paths
    stated = block.attributes.get("awarenessPolicy")
    policy = FULL.policy(stated, around or AwarenessPolicy.REJECT)
    if type(block) is not JobGroup and (chosen or (inside and type(block) is Job)):
        yield path, block, around or AwarenessPolicy.REJECT
    counts: dict[str, int] = {}
    names = [item.name for item in block.items if not hasattr(item, "kind")]
    for item in block.items:
        if hasattr(item, "kind"):
            continue
        counts[item.name] = counts.get(item.name, 0) + 1
        if isinstance(item, Block) and type(item) in (Job, JobGroup, TaskGroup, Task):
            if paths is None and type(item) is not Job:
                continue
            number = f"[{counts[item.name]}]" if names.count(item.name) > 1 else ""
            yield from _units(item, f"{path}/{item.name}{number}", paths, chosen, policy)


def _asked(
    file: str, path: str, block: Block, policy: AwarenessPolicy, nodes: Sequence[str]
) -> NamedRequest:
    from sssjob.check.awareness import ASK, understood
    from sssjob.expression import all_of
    from sssjob.expression.requests import asked

    known = understood(replace(block, items=_own(block)), ASK, around=policy, path=path)
    parts, found = asked(known.block, path, nodes=nodes)
    common.print_findings(each.in_file(file) for each in (*known.findings(), *found))
    readable = known.accepted and parts is not None
    return NamedRequest(file, path, block, all_of(parts or ()) if readable else None)


def _own(block: Block) -> tuple[Item, ...]:
    """What a job or task group says itself, without the task groups and tasks in it."""
    from sssjob.model import Block, Requested

    return tuple(
        item for item in block.items if not isinstance(item, Block) or isinstance(item, Requested)
    )
