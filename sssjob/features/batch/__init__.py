"""Batch systems: what they gave a job on a node, its directories, and the scripts that call us.

A prolog asks its batch system what the job was given (``call``, which gives an ``allocation``) and
makes directories of it (``directories``); an epilog removes them. ``scripts`` are what a site
installs. How one system is asked stands in its own folder in ``systems``.
"""

from __future__ import annotations

from sssjob.features.batch.allocation import Allocation

__all__ = ["Allocation"]
