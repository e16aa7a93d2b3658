"""Directories of jobs whose epilog never ran, removed when their jobs are no longer on the node.

Strategy. A directory may go when its job has gone, but a job that starts makes its directory just
before or after the batch system is asked. So the directories are listed first and the batch system
is asked then: a job that it does not name had gone, or starts its prolog later. That makes the
directory anew, which is told by what the file system says of it: another one stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from sssjob import host_name
from sssjob.errors import UnusableInput
from sssjob.features.batch import directories
from sssjob.features.batch.call import Invocation
from sssjob.features.batch.directories import Directories


@dataclass(frozen=True, slots=True)
class SweptJobs:
    """The ids of the jobs whose directories were removed, and why others could not be."""

    removed: tuple[str, ...]
    notes: tuple[str, ...] = ()


def sweep(
    call: Invocation, root: Path, node: str = "", *, dry_run: bool = False,
    fold: Callable[[str], str] | None = None, discarded: Collection[str] = (),
) -> SweptJobs:  # fmt: skip
    """Remove the directories below ``root`` of jobs that are not on this node.

    ``fold`` folds those of a job that an epilog could not fold, and says why that cannot be: then
    they stay, and a note says so, as without it, but for ``discarded`` jobs, of which what is left
    goes, whatever it is. With ``dry_run`` nothing is removed, and ``fold`` only finds out whether
    it could.
    ``node`` is its name in the batch system; "" is that of the host, without its domain. Raises
    ``UnusableInput`` if the batch system does not say which jobs the node has, ``Unprotected``
    where others could lead root elsewhere, or ``OSError``.
    """
    try:
        standing = directories.standing(root)
    except FileNotFoundError:
        return SweptJobs(())  # no job has been here
    notes: list[str] = []
    named = node or host_name.own()
    present = call.present(named, notes)
    if present is None:
        why = f": {'; '.join(notes)}" if notes else ""
        hint = "" if node else "; --node names the node as the batch system does"
        raise UnusableInput(f"{call.system} does not say which jobs are on node {named}{why}{hint}")
    removed = []
    for name in discarded:
        if name in present:
            notes.append(f"{root / name} stays: the job is on this node")
            continue
        try:
            there = Directories(root, name)
            if os.path.lexists(there.job) if dry_run else there.remove():
                removed.append(name)
            else:
                notes.append(f"{root / name} is not there")
        except OSError as error:
            notes.append(f"{error.filename or root / name}: {error.strerror}")
    for name, seen in standing.items():
        if name in present or name in discarded:
            continue
        try:
            why = ""
            if Directories(root, name).is_kept:
                why = fold(name) if fold else "--documents says where its document is"
            if why:
                notes.append(f"{root / name} is kept, as it is not folded: {why}")
                continue
            if dry_run or Directories(root, name).remove_leftover(seen):
                removed.append(name)
        except OSError as error:
            notes.append(f"{error.filename or root / name}: {error.strerror}")
    return SweptJobs(tuple(removed), tuple(notes))
