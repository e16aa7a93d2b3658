"""Batch systems: what they gave a job on a node, its directories, and the scripts that call us.

A prolog asks its batch system what the job was given (``slurm``, ``gridengine``, ``pbs``), makes
directories of it (``directories``), and an epilog takes them away. ``scripts`` are what a site
installs, ``submission`` turns a job object into a job of the batch system.
"""

from __future__ import annotations

from sssjob.features.batch.allocation import SYSTEMS, Allocation

__all__ = ["SYSTEMS", "Allocation"]
