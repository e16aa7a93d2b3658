"""What ``condor_q`` says of the jobs in a queue: their ads, as JSON or in any other form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from sssjob.classads import forms
from sssjob.classads.errors import BadAd
from sssjob.classads.values import Ad
from sssjob.document.files import looked_at
from sssjob.errors import UnusableInput
from sssjob.records.cuts import CustomPieces
from sssjob.records.layout import Layout, MadeJob, NoRecord, Piece, Read, alone
from sssjob.records.record import Bad, Noted, Skipped
from sssjob.records.unread import unread
from sssjob.systems.condor.accounting.ads import JSON, LONG, NEW, XML, form_of
from sssjob.systems.condor.accounting.layout import recognises as is_of_jobs
from sssjob.systems.condor.attributes import unknown
from sssjob.systems.condor.from_ad import to_job

_HEAD = 1 << 14  # bytes that tell the form
_NOTHING: frozenset[str] = frozenset()
_FORMS = {JSON: forms.JSON, XML: forms.XML, NEW: forms.NEW, LONG: forms.LONG}


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """Every ad. Raises ``UnusableInput`` where there are none."""
    head, again = looked_at(stream, _HEAD)
    form = _FORMS.get(form_of(head), "")
    if not form and head.strip():
        raise UnusableInput("no ClassAds: neither long form nor JSON nor XML", 1)
    wrong: list[BadAd] = []
    for ad in forms.read(again, form, on_error=wrong.append) if form else ():
        yield from _faults(wrong)
        yield ad.line, ad
    yield from _faults(wrong)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it holds job ads, or ""."""
    return is_of_jobs(head) if form_of(head) in _FORMS else ""


def record(line: int, ad: Ad) -> Read:
    """What an ad is; the document that it may carry is its user's, and not asked."""
    kind = ad.text("MyType")
    if kind not in ("", "Job"):
        return Skipped(line, f"{kind} ad")
    found = to_job(ad, embedded=False)
    if not found.job.id:
        raise NoRecord("no ClusterId")
    notes = (Noted(line, it.message, once=True, severity=it.severity) for it in found.findings)
    more = unread(line, "attributes of a job", unknown(ad), _NOTHING)
    return MadeJob(line, found.job, found.job.get("State") == "Completed", (*notes, *more))


def _faults(wrong: list[BadAd]) -> list[Bad]:
    found = [Bad(error.line, error.reason) for error in wrong]
    wrong.clear()
    return found


LAYOUT = Layout(type="", cut=CustomPieces(pieces), reader=alone(record), recognises=recognises)
