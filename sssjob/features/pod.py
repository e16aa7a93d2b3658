"""What the downward API of Kubernetes tells a pod, by the names that the authors of pods give it.

It tells nothing by itself: a pod asks for each value, as a variable or as a file of a volume. A
payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

import os

from sssjob.features import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

AROUND = "KUBERNETES_SERVICE_HOST"  # the variable by which a process knows that it is in a pod
# The key of $JOBFEATURES that each is, if any. Without a limit of the pod it is the whole node's.
NAMES = {
    "POD_UID": "job_id",
    "CPU_LIMIT": "allocated_cpu",
    "MEMORY_LIMIT": "max_rss_bytes",
    "MEM_LIMIT": "max_rss_bytes",
    "EPHEMERAL_STORAGE_LIMIT": "scratch_limit_bytes",
    "POD_NAME": "",
    "POD_NAMESPACE": "",
}
_MY = "MY_"  # before any of these, as in the manual of Kubernetes
_VOLUME = "etc/podinfo"  # where that mounts it


def spellings(name: str) -> tuple[str, ...]:
    """The variables in which it is; files have these names, too, in capitals or small letters."""
    return name, _MY + name


def files(root: str = "/") -> Iterator[tuple[str, str, str]]:
    """The name, the place and the text of each file that tells something."""
    folder = os.path.join(root, _VOLUME)
    known = {spelled: name for name in NAMES for spelled in spellings(name)}
    try:
        found = sorted(os.listdir(folder))
    except OSError:
        return
    for file in found:
        if name := known.get(file.upper()):
            place = os.path.join(folder, file)
            if text := kernel.text(place).strip():
                yield name, place, text


def value(name: str, environment: Mapping[str, str], root: str = "/") -> str:
    """What is told by a name, in a variable or else in a file; "" if nothing is."""
    said = [environment.get(each, "") for each in spellings(name)]
    said += [text for each, _, text in files(root) if each == name]
    return next(filter(None, said), "")
