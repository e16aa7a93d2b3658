"""Accounting records become job objects; one module for each record format."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from sssjob.errors import UnusableInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from sssjob.accounting.record import Options, Outcome
    from sssjob.accounting.roads import J, P, Road

GROUP = "sssjob.formats"  # of the entry points by which other distributions add formats


class Format(NamedTuple):
    """A record format: the name it goes by, its module, and what prints it.

    The module has ``jobs(stream, options) -> Iterator[Outcome]`` and, if it knows both roads,
    ``records(stream, options, road)``; see ``record`` and ``roads``. With ``recognises(head)``,
    which gives a reason or "", the format is found by ``auto``.
    """

    name: str
    module: str
    description: str

    def load(self) -> Any:
        """The module, imported now. Raises ``UnusableInput`` where it cannot be used."""
        name, _, attribute = self.module.partition(":")
        try:
            module = import_module(name)
            module = getattr(module, attribute) if attribute else module
        except (ImportError, AttributeError) as error:
            raise UnusableInput(f"the format {self.name} cannot be loaded: {error}") from error
        if not callable(getattr(module, "jobs", None)):
            raise UnusableInput(f"the format {self.name} has no jobs(stream, options)")
        return module

    def read(self, stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
        """What becomes of each record, on one of the roads. Raises ``UnusableInput``."""
        module = self.load()
        if hasattr(module, "records"):
            yield from module.records(stream, options, road)
            return
        from sssjob.accounting.record import Converted

        for outcome in module.jobs(stream, options):
            whole = isinstance(outcome, Converted)
            yield outcome._replace(job=road.whole(outcome.job)) if whole else outcome


# fmt: off
FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        Format("auto",       "sssjob.accounting.auto",       "whichever the records look like"),
        Format("pbs",        "sssjob.accounting.pbs",        "accounting of TORQUE and OpenPBS"),
        Format("slurm",      "sssjob.accounting.slurm",      "sacct --parsable2 (or --parsable)"),
        Format("slurm-json", "sssjob.accounting.slurm_json", "sacct --json"),
        Format("slurm-jobcomp", "sssjob.accounting.slurm_jobcomp", "jobcomp/filetxt of Slurm"),
        Format("sge",        "sssjob.accounting.sge",        "accounting of Grid Engine and Univa"),
        Format("lsf",        "sssjob.accounting.lsf",        "lsb.acct of LSF"),
        Format("condor",     "sssjob.accounting.condor",     "job ads of HTCondor's histories"),
        Format("blah",       "sssjob.accounting.blah",       "blahp.log of a computing element"),
        Format("apel",       "sssjob.accounting.apel",       "APEL's individual job messages"),
        Format("ur",         "sssjob.accounting.ur",         "OGF Usage Record 1.0 (GFD.98)"),
        Format("car",        "sssjob.accounting.car",        "EMI Compute Accounting Record 1.2"),
        Format("swf",        "sssjob.accounting.swf",        "Standard Workload Format 2.2"),
        Format("sss",        "sssjob.accounting.documents",  "job objects themselves"),
        Format("lrmsinfo",   "sssjob.lcginfo.records",       "jobs as lcg-info providers see them"),
    )
}
# fmt: on


def formats() -> dict[str, Format]:
    """Every format by its name, those of other distributions last; none of them is imported.

    A name of ours stays ours.
    """
    from importlib.metadata import entry_points  # it takes longer to import than most commands

    return {**{point.name: _added(point) for point in entry_points(group=GROUP)}, **FORMATS}


def find(name: str) -> Format:
    """The format of a name. Raises ``UnusableInput``, which lists those that are known."""
    if row := FORMATS.get(name):
        return row
    known = formats()
    if row := known.get(name):
        return row
    raise UnusableInput(f"{name!r} is no known record format; known: {', '.join(known)}")


def _added(point: EntryPoint) -> Format:
    distribution = point.dist.name if point.dist else "another distribution"
    return Format(point.name, point.value, f"added by {distribution}")
