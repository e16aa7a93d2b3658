"""``sssjob ledger query``: the same as ``sssjob query``, under the name where people look."""

from sssjob.cli.query import command

__all__ = ["command"]
