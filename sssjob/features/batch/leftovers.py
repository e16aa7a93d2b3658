"""Directories of jobs whose epilog never ran, removed when their jobs are no longer on the node.

Strategy. A directory may go when its job has gone, but a job that starts makes its directory just
before or after the batch system is asked. So the directories are listed first and the batch system
is asked then: a job that it does not name had gone, or starts its prolog later. That makes the
directory anew, which is told by what the file system says of it: another one stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from sssjob import host_name
from sssjob.errors import UnusableInput
from sssjob.features.batch import directories
from sssjob.features.batch.call import Invocation
from sssjob.features.batch.directories import Directories, DirectoryIdentity

# Folds the directories of a job, with a handle of them: whether they stay, and what is to be told.
Fold = Callable[[str, int], tuple[bool, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class SweptJobs:
    """The jobs whose directories were removed, by id, and why others could not be.

    What killed prologs and epilogs left has a hidden name there.
    """

    removed: tuple[str, ...]
    notes: tuple[str, ...] = ()


def sweep(
    call: Invocation, root: Path, node: str = "", *, fold: Fold, dry_run: bool = False,
    discarded: Collection[str] = (),
) -> SweptJobs:  # fmt: skip
    """Remove the directories below ``root`` of jobs that are not on this node.

    So goes what killed prologs and epilogs left there that is no directory of a job.
    ``fold`` folds those of a job that an epilog could not fold. Where that cannot be they stay, but
    for ``discarded`` jobs, of which what is left goes unfolded. With ``dry_run`` nothing is
    removed, and ``fold`` is to find out only whether it could.
    ``node`` is its name in the batch system; "" is that of the host, without its domain. Raises
    ``UnusableInput`` if the batch system does not say which jobs the node has, ``Unprotected``
    where others could lead root elsewhere, or ``OSError``.
    """
    try:
        standing = directories.standing(root)
    except FileNotFoundError:
        standing = {}  # no job has been here
    notes: list[str] = []
    given_up = {name: directories.identity(root, name) for name in discarded}
    notes += [f"{root / name} is not there" for name, seen in given_up.items() if seen is None]
    standing |= {name: seen for name, seen in given_up.items() if seen is not None}
    present = _present(call, node, notes) if standing else frozenset()
    removed = [*directories.sweep(root, dry_run=dry_run)]
    for name, seen in standing.items():
        if name in present:
            notes += [f"{root / name} stays: the job is on this node"] if name in given_up else []
            continue
        of_job = Directories(root, name)
        try:
            with of_job.held() as held:
                if held is None or DirectoryIdentity.of(held) != seen:
                    changed = f"{of_job.job} stays: it has changed since, as by a next run"
                    notes += [changed] if name in given_up else []
                    continue
                if name not in given_up and of_job.is_kept:
                    is_kept, said = fold(name, held)
                    notes += said
                    if is_kept:
                        continue
            if dry_run or of_job.remove_leftover(seen):
                removed.append(name)
        except OSError as error:
            notes.append(f"{error.filename or root / name}: {error.strerror}")
    return SweptJobs(tuple(removed), tuple(notes))


def _present(call: Invocation, node: str, notes: list[str]) -> frozenset[str]:
    """The ids of all jobs on this node. Raises ``UnusableInput`` where nobody says them."""
    named = node or host_name.own()
    present = call.present(named, notes)
    if present is None:
        why = f": {'; '.join(notes)}" if notes else ""
        hint = "" if node else "; --node names the node as the batch system does"
        raise UnusableInput(f"{call.system} does not say which jobs are on node {named}{why}{hint}")
    return present
