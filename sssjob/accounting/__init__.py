"""Accounting records become job objects; one module for each record format."""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """A record format: the name it goes by, its module, and what prints it.

    The module has ``records(stream, options, road) -> Iterator[Outcome]`` for both roads, and
    ``jobs(stream, options)``, which is the same on the road to job objects.
    """

    name: str
    module: str
    description: str


# fmt: off
FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        Format("pbs", "sssjob.accounting.pbs", "PBS: accounting of TORQUE, OpenPBS and PBS Pro"),
        Format("lsf", "sssjob.accounting.lsf", "LSF: lsb.acct"),
        Format("sge", "sssjob.accounting.sge", "Grid Engine and Univa: accounting"),
        Format("slurm-jobcomp", "sssjob.accounting.slurm_jobcomp", "Slurm: jobcomp/filetxt"),
        Format("slurm", "sssjob.accounting.slurm", "Slurm: sacct --parsable2 (or --parsable)"),
    )
}
# fmt: on
