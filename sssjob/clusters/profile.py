"""How workers are started as jobs of a batch system: the settings of a TOML file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sssjob import registry, settings
from sssjob.registry import Cluster

# How each batch system starts workers, by what ``--cluster`` calls it.
SYSTEMS: Mapping[str, Cluster] = {
    row.cluster.name: row.cluster for row in registry.all_systems().values() if row.cluster
}
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Profile:
    """Workers as jobs, each of one process; ``wait`` is how many seconds one is waited for.

    ``memory_mib`` and ``minutes`` are what each job asks for. ``options`` are lines for the head of
    the job's script, as ``--exclusive``; ``prologue`` are lines of shell before the worker starts.
    ``directory`` is one that all machines share.
    """

    workers: int = 2
    memory_mib: int = 2048
    minutes: int = 60
    queue: str = ""
    account: str = ""
    interface: str = ""
    python: str = ""
    directory: str = ""
    options: tuple[str, ...] = ()
    prologue: tuple[str, ...] = ()
    wait: int = 600

    @classmethod
    def read(cls, path: Path) -> Profile:
        """The profile of a file. Raises ``BadSettings`` and ``OSError``."""
        file = settings.read(path)
        table, usual = file.root, cls()
        directory = table.file("directory")
        found = cls(
            table.integer("workers", usual.workers, least=1, most=10_000),
            table.integer("memory_mib", usual.memory_mib, least=256),
            table.integer("minutes", usual.minutes, least=1, most=60 * 24 * 366),
            table.text("queue"), table.text("account"), table.text("interface"),
            table.text("python"), str(directory) if directory else "",
            table.texts("options"), table.texts("prologue"),
            table.integer("wait", usual.wait, least=1, most=_DAY),
        )  # fmt: skip
        file.finish()
        return found

    def told_to(self, system: str) -> dict[str, Any]:
        """The same as dask-jobqueue has it."""
        cluster = SYSTEMS[system]
        told: dict[str, Any] = {
            "cores": 1, "processes": 1, "memory": f"{self.memory_mib} MiB", "job_name": "sssjob",
            "python": self.python or sys.executable, "interface": self.interface or None,
            "job_extra_directives": self._directives(cluster),
            "job_script_prologue": [*self.prologue],
            # A worker that nobody needs any more ends by itself, should who asks be killed.
            "death_timeout": 60,
            # The port is any that is free: two commands on a machine do not meet, and nobody else
            # on the network asks what this one does.
            "scheduler_options": {"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        }  # fmt: skip
        if cluster.account:
            told["queue"] = self.queue or None
            told[cluster.account] = self.account or None
            told["walltime"] = cluster.wall_time.format(*divmod(self.minutes, 60))
        return told | dict(cluster.also)

    def _directives(self, cluster: Cluster) -> Any:
        if not cluster.has_pairs:
            return [*self.options]
        pairs = (each.partition("=") for each in self.options)
        return {name.strip(): value.strip() for name, _, value in pairs}
