"""What ``condor_q`` says of the jobs in a queue: their ads, as JSON or in any other form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, TypeVar

from sssjob.classads import forms
from sssjob.classads.errors import BadAd
from sssjob.classads.values import Ad
from sssjob.errors import UnusableInput
from sssjob.model import Job
from sssjob.records.head import looked_at
from sssjob.records.record import Bad, Converted, Noted, Options, Outcome, Skipped
from sssjob.records.roads import OBJECTS, Road
from sssjob.systems.condor.accounting import recognises as is_of_jobs
from sssjob.systems.condor.accounting.ads import JSON, LONG, NEW, XML, form_of
from sssjob.systems.condor.from_ad import to_job

P = TypeVar("P")
J = TypeVar("J")

_HEAD = 1 << 14  # bytes that tell the form
_FORMS = {JSON: forms.JSON, XML: forms.XML, NEW: forms.NEW, LONG: forms.LONG}


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each ad. Raises ``UnusableInput`` where there are none."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    head, again = looked_at(stream, _HEAD)
    form = _FORMS.get(form_of(head), "")
    if not form and head.strip():
        raise UnusableInput("no ClassAds: neither long form nor JSON nor XML", 1)
    wrong: list[BadAd] = []
    for ad in forms.read(again, form, on_error=wrong.append) if form else ():
        yield from _faults(wrong)
        yield from _outcomes(ad, options, road)
    yield from _faults(wrong)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it holds job ads, or ""."""
    return is_of_jobs(head) if form_of(head) in _FORMS else ""


def _outcomes(ad: Ad, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """What becomes of an ad; the document that it may carry is its user's, and not asked."""
    kind = ad.text("MyType")
    if kind not in ("", "Job"):
        yield Skipped(ad.line, f"{kind} ad")
        return
    found = to_job(ad, embedded=False)
    if not found.job.id:
        yield Bad(ad.line, "no ClusterId")
    elif options.ended_only and found.job.get("State") != "Completed":
        yield Skipped(ad.line, "not ended")
    else:
        yield Converted(ad.line, road.whole(found.job))
        for each in found.findings:
            yield Noted(ad.line, each.message, once=True, severity=each.severity)


def _faults(wrong: list[BadAd]) -> list[Bad]:
    found = [Bad(error.line, error.reason) for error in wrong]
    wrong.clear()
    return found
