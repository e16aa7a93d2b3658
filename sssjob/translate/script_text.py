"""The bytes of a file that people write, a script or commands, as text; its faults by their lines.

Bytes that are no UTF-8 stay what they are, as surrogates: what is kept is written as it came.
Whoever understands a line asks for it by ``understood``, which tells of such bytes in it.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, field

from sssjob.errors import Finding, finding

LIMIT = 16 << 20  # bytes of what describes one job
TOO_LONG = f"a script of more than {LIMIT} bytes"
AS_BYTES = "surrogateescape"
_BYTES = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class ScriptText:
    """A text, and what is to say of its bytes."""

    text: str
    findings: list[Finding] = field(default_factory=list)

    def understood(self, line: str, number: int) -> str:
        """What is read in a line with this number, which is told where it is no UTF-8."""
        if (found := readable(line)) != line:
            self.findings.append(finding("E-TYPE", "the line is not UTF-8", line=number))
        return found


def texts(data: bytes, *, limit: int = LIMIT) -> Iterator[ScriptText | Finding]:
    """The text of a file: none of one with blanks only, a finding of one above ``limit`` bytes."""
    if not data.strip():
        return
    if len(data) > limit:
        yield finding("E-LIMIT", TOO_LONG)
        return
    text = ScriptText(data.removeprefix(BOM_UTF8).decode(errors=AS_BYTES))
    if data.startswith(BOM_UTF8):
        told = "a byte order mark stands before the first line"
        text.findings.append(finding("E-TYPE", told, line=1))
    yield text


def beginning(head: bytes) -> str:
    """The first bytes of a file as text, by which it is recognised."""
    return head.removeprefix(BOM_UTF8).decode("utf-8", "replace")


def readable(text: str) -> str:
    """A text without what stands for bytes that are no UTF-8."""
    return text if text.isascii() else _BYTES.sub("\N{REPLACEMENT CHARACTER}", text)
