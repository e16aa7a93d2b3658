"""Queries and sheets of strangers: worked on by processes that are held to memory and seconds.

XPath 2.0 and later, and sheets, can be written to run for days and to fill a machine, and nobody
can tell before; no library stops them from inside. Here each is worked on by a process of a pool,
which the system ends, and another one takes its place. Who trusts whoever wrote the question asks
without this, and pays nothing for it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

from sssjob.document.sources import NamedSource, named
from sssjob.errors import Finding, InvalidJob, LimitExceeded, Severity, SSSJobError
from sssjob.expression.offer import Mode, Offer
from sssjob.expression.offers import BadOffer
from sssjob.query.match import Match, Value
from sssjob.workers import Bounds, PartWork, Workers

__all__ = ["Bounds", "Confined", "DetachedMatch", "MadeJobs", "Told"]

BODY = "body"  # what messages call documents and records that came without a name
FULL = "full"  # the profile that understands everything
FINDINGS = 100_000  # about one body
ANSWERS = 100_000  # of requests to offers
LINES = 1 << 26  # bytes of JSON lines that one body becomes

_NONE: Mapping[str, str] = {}


class DetachedMatch(NamedTuple):
    """A match, apart from its document; what is not known of its place is None."""

    value: Value
    line: int | None
    job: str | None
    path: str | None


class Told(NamedTuple):
    """What was found in a store, whether there is ``more``, and what is to be said of it.

    ``plan`` are the lines of how it was answered, ``hints`` what was probably meant, ``faults`` the
    documents that could not be asked.
    """

    found: tuple[DetachedMatch, ...]
    more: bool
    plan: tuple[str, ...]
    hints: tuple[str, ...]
    faults: tuple[str, ...]


class MadeJobs(NamedTuple):
    """Job objects as JSON lines, and how many records were converted, skipped and bad."""

    lines: bytes
    counts: dict[str, Any]


class Reported(NamedTuple):
    """A report as JSON, and how many documents could not be read and are not in it."""

    report: dict[str, Any]
    bad: int


class Confined:
    """So many processes, for a ``with`` block of one thread, within bounds for each question.

    >>> with Confined() as confined:
    ...     confined.find("//Job/Id", b"<Job><Id>1</Id></Job>", version="3.1")[0].value
    '1'
    """

    def __init__(self, bounds: Bounds | None = None, processes: int = 1) -> None:
        work = PartWork("sssjob.verbs.confined:worker", opens_stores=True)
        self._workers: Workers[_ConfinedQuestion, Any] = Workers(
            work, processes, bounds or Bounds()
        )

    def __enter__(self) -> Confined:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        self._workers.close()

    def find(
        self, expression: str, source: bytes, *, namespaces: Mapping[str, str] = _NONE,
        version: str = "1.0", effective: bool = False,
    ) -> tuple[DetachedMatch, ...]:  # fmt: skip
        """What an expression finds in documents.

        Raises ``NotAQuery``, ``UnreadableDocument``, and ``LimitExceeded`` for what takes more
        memory or time than it may; then the next question is asked of another process.
        """
        arguments = (expression, source, dict(namespaces), version, effective)
        found: tuple[DetachedMatch, ...] = self._asked(_ConfinedQuestion("find", arguments))
        return found

    def ask(
        self, expression: str, address: str, *, version: str = "1.0", effective: bool = True,
        limit: int,
    ) -> Told:  # fmt: skip
        """The first things that an expression finds in a store, and how they were found.

        Raises ``UnusableStore``, and as ``find`` does.
        """
        told: Told = self._asked(
            _ConfinedQuestion("ask", (expression, address, version, effective, limit))
        )
        return told

    def transform(self, sheet: str, source: bytes, **parameters: str) -> bytes:
        """What a sheet, by its name or path, makes of documents.

        Raises ``BadSheet``, or as ``find`` does.
        """
        made: bytes = self._asked(_ConfinedQuestion("transform", (sheet, source, parameters)))
        return made

    def validate(self, source: bytes, *, profile: str = FULL) -> tuple[Finding, ...]:
        """Every finding about documents, for an implementation of that profile.

        Raises ``LimitExceeded`` for more than ``FINDINGS``, and as ``find`` does.
        """
        told: tuple[Finding, ...] = self._asked(_ConfinedQuestion("validate", (source, profile)))
        return told

    def convert(self, source: bytes, *, format: str = "auto", zone: str = "") -> MadeJobs:
        """The jobs of records, or of documents, as JSON lines.

        Raises ``UnusableInput``, ``UnreadableDocument``, ``LimitExceeded`` for more than
        ``LINES`` bytes, and as ``find`` does.
        """
        made: MadeJobs = self._asked(_ConfinedQuestion("convert", (source, format, zone)))
        return made

    def report(
        self, address: str, by: tuple[str, ...] = (), *, since: int | None = None,
        until: int | None = None, sort: str = "", limit: int | None = None,
    ) -> Reported:  # fmt: skip
        """What the jobs of a store used, as ``sssjob report --json`` prints it; times are UTC.

        Raises ``UnusableStore``, and as ``find`` does.
        """
        arguments = (address, by, since, until, sort, limit)
        told: Reported = self._asked(_ConfinedQuestion("report", arguments))
        return told

    def match(self, body: bytes, *, mode: Mode | None = None) -> list[dict[str, Any]]:
        """What documents ask of offers, both in a body in JSON, as ``sssjob match --json`` says it.

        Raises ``BadOffer``, ``InvalidJob`` for a request that cannot be read, ``LimitExceeded`` for
        more than ``ANSWERS``, ``UnreadableDocument``, and as ``find`` does.
        """
        told: list[dict[str, Any]] = self._asked(_ConfinedQuestion("match", (body, mode)))
        return told

    def match_job(
        self, document: bytes, path: str, offers: bytes, *, mode: Mode | None = None
    ) -> list[dict[str, Any]]:
        """The same of one job of a document, such as ``/JobGroup/Job[2]``; raises so, too."""
        question = _ConfinedQuestion("match_job", (document, path, offers, mode))
        told: list[dict[str, Any]] = self._asked(question)
        return told

    def _asked(self, part: _ConfinedQuestion) -> Any:
        [(_, answer)] = self._workers.in_order([part], _place)
        return answer


class _ConfinedQuestion(NamedTuple):
    """What is asked of a process, by one of ``_KINDS``."""

    kind: str
    arguments: tuple[Any, ...]


def worker() -> Callable[[_ConfinedQuestion], Any]:
    """What answers in a process; what most questions need is imported before it is bounded."""
    for name in ("sssjob.transform", "sssjob.query", "sssjob.query.xpath2"):
        import_module(name)
    return lambda part: _KINDS[part.kind](*part.arguments)


def _find(
    expression: str, source: bytes, namespaces: dict[str, str], version: str, effective: bool
) -> tuple[DetachedMatch, ...]:
    from sssjob.query import compile

    query = compile(expression, namespaces, version)
    matches = query.run(source, effective=effective)
    return tuple(map(_detached, matches))


def _detached(each: Match) -> DetachedMatch:
    return DetachedMatch(each.value, each.line, each.job, each.path)


def _ask(expression: str, address: str, version: str, effective: bool, limit: int) -> Told:
    from sssjob import store
    from sssjob.query import compile, hints

    query = compile(expression, version=version)
    faults: list[str] = []
    with store.open(address, read_only=True) as jobs:
        trace = store.Trace()
        matches = jobs.run(
            query, effective=effective, trace=trace, on_error=lambda each: faults.append(str(each))
        )
        found = [_detached(each) for each in islice(matches, limit + 1)]
        plan = [line for each in jobs.explain(query, effective=effective) for line in _lines(each)]
    told = tuple(str(each) for each in hints(query) if not found or each.of_units)
    plan.append(str(trace))
    return Told(tuple(found[:limit]), len(found) > limit, tuple(plan), told, tuple(faults[:limit]))


def _lines(each: object) -> list[str]:
    return str(each).splitlines()


def _transform(sheet: str, source: bytes, parameters: dict[str, str]) -> bytes:
    from sssjob.transform import transform

    made: Callable[..., Iterable[bytes]] = transform  # a parameter may have any name
    return b"".join(made(sheet, source, **parameters))


def _validate(source: bytes, profile: str) -> tuple[Finding, ...]:
    from sssjob.check.vocabulary import of_level
    from sssjob.verbs.validate import Validation

    validation = Validation(None if profile == FULL else of_level(profile))
    found = validation.findings(NamedSource(BODY, io.BytesIO(source)))
    told = tuple(islice(found, FINDINGS + 1))
    if len(told) > FINDINGS:
        raise LimitExceeded("findings", FINDINGS)
    return told


def _convert(source: bytes, format: str, zone: str) -> MadeJobs:
    from sssjob.accounting.writers.writer import WriterOptions, ignored
    from sssjob.records.record import Options
    from sssjob.verbs import convert

    sources = (NamedSource(BODY, io.BytesIO(source)),)
    work = convert.Conversion(sources, format, Options(zone))
    with _BoundedLines() as out:
        convert.target(work, "jsonl", out, WriterOptions(), ignored)
        return MadeJobs(out.getvalue(), work.reading.counts.as_dict())


def _match(body: bytes, mode: Mode | None) -> list[dict[str, Any]]:
    from sssjob.verbs import match

    sent = match.sent(body, mode)
    return _matched(sent.jobs, sent.offers, None)


def _match_job(
    document: bytes, path: str, offers: bytes, mode: Mode | None
) -> list[dict[str, Any]]:
    from sssjob.verbs import match

    def refused(error: BadOffer) -> None:
        raise error

    source = NamedSource(BODY, io.BytesIO(offers))
    return _matched(document, tuple(match.offers(source, mode, refused)), (path,))


def _matched(
    jobs: bytes, offers: Sequence[Offer], paths: tuple[str, ...] | None
) -> list[dict[str, Any]]:
    from sssjob.document import read
    from sssjob.verbs import match

    found: list[Finding] = []
    rows: list[dict[str, Any]] = []
    nodes = match.node_names(offers)
    for block in read(jobs):
        for asked in match.requests(block, BODY, found.append, paths=paths, nodes=nodes):
            told = match.matched(asked, offers)
            if told is None:
                raise InvalidJob([each for each in found if each.severity is Severity.ERROR])
            if len(rows) + len(told.answers) > ANSWERS:
                raise LimitExceeded("answers; ask about fewer jobs or offers", ANSWERS)
            rows += told.rows()
    return rows


class _BoundedLines(io.BytesIO):
    """What was made, up to so many bytes."""

    def write(self, data: Any, /) -> int:
        """Take some of it. Raises ``LimitExceeded``."""
        if self.tell() + len(data) > LINES:
            raise LimitExceeded("bytes of JSON lines", LINES)
        return super().write(data)


def _report(
    address: str, by: tuple[str, ...], since: int | None, until: int | None, sort: str,
    limit: int | None,
) -> Reported:  # fmt: skip
    from sssjob.accounting.report import Report
    from sssjob.drawing import report as forms
    from sssjob.verbs.report import ReportedJobs

    report = Report(by, since, until)
    damaged: list[SSSJobError] = []
    ReportedJobs(named((address,), io.BytesIO()), damaged.append).add_to(report)
    return Reported(forms.as_json(report, report.rows(sort, limit)), len(damaged))


def _place(part: _ConfinedQuestion) -> str:
    first = part.arguments[0]
    return f"{part.kind} {BODY if isinstance(first, bytes) else first}"


_KINDS: dict[str, Callable[..., Any]] = {
    "find": _find, "ask": _ask, "transform": _transform,
    "validate": _validate, "convert": _convert, "report": _report,
    "match": _match, "match_job": _match_job,
}  # fmt: skip
