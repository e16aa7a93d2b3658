"""Checking documents: every finding about a source, by one process or several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from lxml.etree import _Element as Element

from sssjob.check import findings
from sssjob.check.accept import Acceptor
from sssjob.document.outermost import Wanted
from sssjob.document.reader import SharedPart, in_parts, on_parts
from sssjob.document.repair.advisor import Advisor
from sssjob.document.sources import Files, NamedSource, Opening, grouped, is_small, opened
from sssjob.errors import Finding, UnreadableDocument, finding

if TYPE_CHECKING:
    from sssjob.check.vocabulary import Vocabulary
    from sssjob.document.batches import Batch
    from sssjob.workers import Workers


class CheckedPart(NamedTuple):
    """The findings about a part, and the codes that were said and need saying once per source."""

    findings: Sequence[Finding]
    said: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Validation:
    """Who checks: an implementation that understands everything, or only a ``vocabulary``."""

    vocabulary: Vocabulary | None = None

    def workers(self, processes: int) -> Workers[SharedPart | Files, CheckedPart | None]:
        """So many processes that check, for a ``with`` block."""
        from sssjob.workers import PartWork, Workers  # which a few documents do not need

        return Workers(PartWork("sssjob.verbs.validate:checker", (self,)), processes)

    def all_findings(
        self, sources: Iterable[NamedSource], *, opening: Opening = opened,
        workers: Workers[SharedPart | Files, CheckedPart | None] | None = None,
    ) -> Iterator[Finding]:  # fmt: skip
        """Every finding about each source in turn; a source that cannot be opened is one, too.

        Workers check large sources in parts, and small files many at once, which they open
        themselves: ``opening`` opens all others, so that a caller can show how far they are read.
        """
        if workers is None or workers.processes < 2:
            for source in sources:
                yield from self._told(source, opening, None)
            return
        for small, some in groupby(sources, is_small):
            if small:
                for _, found in workers.in_order(grouped(some), str):
                    yield from found.findings if found else ()
            else:
                for source in some:
                    yield from self._told(source, opening, workers)

    def of_files(self, files: Files) -> CheckedPart:
        """The findings about small files."""
        return CheckedPart([
            each for source in files.sources for each in self._told(source, opened, None)
        ])  # fmt: skip

    def _told(
        self, source: NamedSource, opening: Opening,
        workers: Workers[SharedPart | Files, CheckedPart | None] | None,
    ) -> Iterator[Finding]:  # fmt: skip
        try:
            yield from self.findings(source, opening=opening, workers=workers)
        except OSError as error:
            yield finding("E-XML", error.strerror or str(error), file=source.name)

    def findings(
        self, source: NamedSource, *, opening: Opening = opened,
        workers: Workers[SharedPart | Files, CheckedPart | None] | None = None,
    ) -> Iterator[Finding]:  # fmt: skip
        """Every finding about a source; what cannot be read is one, too. Raises ``OSError``."""
        with opening(source) as stream:
            if workers is not None and workers.processes > 1:
                yield from _CheckedParts(self, source, Advisor(stream)).findings(workers)
            elif self.vocabulary is None:
                yield from findings.of_source(stream, name=source.name)
            else:
                from sssjob.check import peer  # which a check of everything does not need

                yield from peer.check_source(stream, self.vocabulary, name=source.name)

    def of_one(self, said: set[str]) -> Callable[[Element, int], Iterable[Finding]]:
        """What checks a job object behind so many lines."""
        if self.vocabulary is not None:
            from sssjob.check import peer

            known = self.vocabulary
            return lambda element, offset: peer.check(element, known, offset=offset, said=said)
        accepts = Acceptor(said)

        def check_one(element: Element, offset: int) -> Iterable[Finding]:
            return () if accepts(element) else findings.check(element, offset=offset, said=said)

        return check_one


class _CheckedParts:
    """The findings of a source that is checked in parts."""

    def __init__(self, validation: Validation, source: NamedSource, advisor: Advisor) -> None:
        self.validation, self.source, self.advisor = validation, source, advisor
        self.said: set[str] = set()
        self.broken: list[UnreadableDocument] = []

    def findings(
        self, workers: Workers[SharedPart | Files, CheckedPart | None]
    ) -> Iterator[Finding]:
        source, stream = self.source, self.advisor.source
        assert not isinstance(stream, (str, bytes, PathLike))  # a stream was given
        work, tell = _on_batches(self.validation), self.broken.append
        for found in in_parts(
            source.name, source.given, stream, workers, work, on_error=tell, wanted=Wanted.DOCUMENTS
        ):
            yield from self._explained()
            for each in found.findings:
                # A part says once for itself what needs saying once for all of them.
                if each.code not in found.said or each.code not in self.said:
                    yield each.in_file(source.name)
            self.said |= found.said
        yield from self._explained()

    def _explained(self) -> Iterator[Finding]:
        for error in self.broken:
            for each in self.advisor.explain(error):
                yield each.in_file(self.source.name)
        self.broken.clear()


def checker(validation: Validation) -> Callable[[SharedPart | Files], CheckedPart | None]:
    """What checks a part, or small files, in another process."""
    on_part = on_parts(_on_batches(validation))
    return lambda part: validation.of_files(part) if isinstance(part, Files) else on_part(part)


def _on_batches(validation: Validation) -> Callable[[str, Batch], CheckedPart]:
    """What checks a batch."""
    said: set[str] = set()
    check_one = validation.of_one(said)

    def work(_: str, batch: Batch) -> CheckedPart:
        said.clear()
        found = [each for unit, offset in batch.located() for each in check_one(unit, offset)]
        return CheckedPart(found, frozenset(said))

    return work
