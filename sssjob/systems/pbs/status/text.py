"""What ``qstat -f`` of TORQUE, OpenPBS and PBS Professional prints as text, one job after another.

A variable of a user's environment can look like attributes, and like a job of its own, see
``listing``: take JSON or XML where there is it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from sssjob.errors import UnusableInput
from sssjob.records.layout import Piece
from sssjob.records.lines import Blocks, clean
from sssjob.records.record import CUT_SHORT, Bad, Noted
from sssjob.systems.pbs import listing
from sssjob.systems.pbs.status import table

_JOB = re.compile(rb"(?:\xef\xbb\xbf)?\s*Job Id:[ \t]*[^\s]")
_LAST = "the last job has no empty line behind it: it may be cut short"
_LONG = f"a job of more than {listing.SIZE_LIMIT} characters"


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that qstat -f printed it, or ""."""
    return "text that begins with Job Id:" if _JOB.match(head) else ""


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """Every job. Raises ``UnusableInput`` where there is none."""
    source = Blocks(stream, first)
    last = (first, "")

    def texts() -> Iterator[tuple[int, str]]:
        nonlocal last
        for number, block in source:
            text = clean(block)
            last = number + text.count("\n"), text[text.rfind("\n") + 1 :]
            yield number, text

    seen: set[str] = set()
    for block in listing.blocks(texts(), listing.JOB):
        if block.is_long:
            yield Bad(block.line, _LONG)
            continue
        if not block.head:
            raise UnusableInput("no jobs as qstat -f prints them", block.line)
        if source.cut_short and not block.attributes:  # who knows whether this is the whole id
            yield Bad(block.line, f"{block.head[:60]!r} is cut short")
            continue
        yield from _said(block, seen)
        yield block.line, table.ListedJob(block.head, _attributes(block))
    if source.cut_short:
        yield Noted(source.cut_short, CUT_SHORT)
    elif last[1].strip():
        yield Noted(last[0], _LAST)


def _said(block: listing.ListingBlock, seen: set[str]) -> Iterator[Noted]:
    """What there is to say of a job that is behind others."""
    if block.head in seen:
        yield Noted(block.line, f"job {block.head[:60]} appears again: a value may imitate a job")
    seen.add(block.head)
    names = [name for name, _ in block.attributes]
    if len({*names}) < len(names):
        yield Noted(block.line, table.twice(names))


def _attributes(block: listing.ListingBlock) -> dict[str, Any]:
    """The attributes, of which the first one of a name counts."""
    found: dict[str, Any] = block.first
    if table.VARIABLES in found:
        found[table.VARIABLES] = table.variables(found[table.VARIABLES])
    return found


LAYOUT = table.of_jobs(pieces, recognises)
