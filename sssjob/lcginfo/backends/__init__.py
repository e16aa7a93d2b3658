"""Batch systems: which commands to ask, and a reader for what they print.

A reader takes any number of outputs in any order and knows each by its looks, so that files and
live commands are the same to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import NamedTuple

from sssjob.lcginfo import commands
from sssjob.lcginfo.backends.reader import Options, Reader
from sssjob.lcginfo.commands import Limits
from sssjob.lcginfo.snapshot import Report, Snapshot, unheard

Arguments = tuple[str, ...]


class Backend(NamedTuple):
    """A batch system: where its reader is, what to run, and what to run where there is no JSON."""

    module: str
    reader: str
    ask: tuple[Arguments, ...]
    ask_text: tuple[Arguments, ...] = ()


# fmt: off
BACKENDS: dict[str, Backend] = {
    "slurm": Backend(
        "slurm", "Slurm",
        (("squeue", "--all", "--json"), ("sinfo", "--all", "--json")),
        (("scontrol", "--all", "--oneliner", "show", "jobs"),
         ("scontrol", "--all", "--oneliner", "show", "nodes")),
    ),
    "pbs": Backend("pbs", "PBS", (("qstat", "-f"), ("pbsnodes", "-a"))),
    "gridengine": Backend(
        "gridengine", "GridEngine",
        (("qstat", "-f", "-r", "-u", "*", "-xml"), ("qstat", "-j", "*", "-xml"),
         ("qconf", "-ssconf")),
    ),
    "condor": Backend(
        "condor", "Condor",
        (("condor_q", "-global", "-allusers", "-json"), ("condor_status", "-json")),
        (("condor_q", "-global", "-allusers", "-long"), ("condor_status", "-long")),
    ),
}
# fmt: on

# So that times come as seconds since the epoch where a command can print them so.
_ENVIRONMENT = {"SLURM_TIME_FORMAT": "%s", "LC_ALL": "C"}


def ask(name: str, *, text: bool = False, limits: Limits | None = None) -> Iterator[bytes]:
    """What the commands of a batch system print. Raises ``CommandFailed``."""
    backend = BACKENDS[name]
    for arguments in (text and backend.ask_text) or backend.ask:
        yield commands.run(arguments, arguments[0], limits, _ENVIRONMENT)


def snapshot(
    name: str, outputs: Iterable[bytes], options: Options, report: Report = unheard
) -> Snapshot:
    """The state that the outputs of a batch system show together. Raises ``UnusableOutput``."""
    backend = BACKENDS[name]
    module = import_module(f"sssjob.lcginfo.backends.{backend.module}")
    reader: Reader = getattr(module, backend.reader)(options, report)
    for output in outputs:
        reader.take(output.decode("utf-8", "replace"))
    return reader.snapshot()
