"""``sssjob ledger audit``: the same as ``sssjob audit``, under the name where people look."""

from sssjob.cli.audit import command

__all__ = ["command"]
