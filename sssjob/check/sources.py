"""The check of whatever holds job objects: a path, a text, a stream, or the objects themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import TextIOBase
from typing import TextIO

from sssjob.check import findings
from sssjob.document import dumps
from sssjob.document.document import Document
from sssjob.document.files import Source, of_text, source_of
from sssjob.errors import Finding, Findings, InvalidJob, Severity, of_kind
from sssjob.model import Block

Checked = Source | Block | Document | Sequence[Block] | TextIO


def check_source(source: Checked, *, name: str = "", closed: bool = False) -> Iterator[Finding]:
    """Every finding about a source of any size. What cannot be read is a finding, too.

    A text that begins with ``<`` is a document, as for ``loads``, any other one a path; a job
    object is checked as it would be written.
    """
    of_kind(name, str, "the name of a source")
    yield from findings.of_source(_source(source), name=name, closed=closed)


def validate(source: Checked, *, name: str = "") -> Findings:
    """The warnings and notices about what ``check_source`` takes.

    Raises ``InvalidJob`` with all findings if there are errors.
    """
    found = Findings(check_source(source, name=name))
    if any(item.severity is Severity.ERROR for item in found):
        raise InvalidJob(found)
    return found


def is_valid(source: Checked) -> bool:
    """Whether a source has no errors; stops at the first."""
    return not any(item.severity is Severity.ERROR for item in check_source(source))


def _source(source: Checked) -> Source:
    if isinstance(source, Document):
        return source.data
    if isinstance(source, Block):
        return dumps(source).encode()
    if isinstance(source, list | tuple) and all(isinstance(each, Block) for each in source):
        return b"\n".join(dumps(each).encode() for each in source)
    if isinstance(source, TextIOBase):
        return source.read().encode(errors="surrogatepass")  # told where it stands
    return source_of(of_text(source))
