"""Whatever was named, as documents: those of a directory and of a store, the runs of a ledger, and
records as jobs.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sssjob.database_files import database, first_bytes, is_open
from sssjob.document.files import COMPRESSED, looked_at
from sssjob.document.files import opened as unpacked
from sssjob.document.outermost import is_foreign, is_told
from sssjob.document.parsing import parse
from sssjob.document.sources import (
    NamedSource,
    Opening,
    files,
    has_name_of_document,
    naming,
    opened,
)
from sssjob.errors import (
    LimitExceeded,
    Severity,
    UnreadableDocument,
    UnusableInput,
    UnusableStore,
)
from sssjob.visible import visible

if TYPE_CHECKING:
    from sssjob.ledger.ledger import Ledger
    from sssjob.query import Question
    from sssjob.records.recognition import Recognised
    from sssjob.records.record import Options
    from sssjob.verbs.records import Tell

# Stores, ledgers and records are imported where there are some: most sources are documents.

DOCUMENTS = "sss"  # the format that documents are
_BEGIN = 1 << 9  # bytes that tell whether there are documents
_PACKED = 1 << 20  # compressed bytes of which the first are unpacked: bzip2 has large blocks
_WHOLE = 1 << 20  # bytes of a file that may be about something else
_SHOWN = 5  # names of files of a directory that are told, where they are not read


def documents(
    sources: Iterable[NamedSource], tell: Tell | None = None, options: Options | None = None
) -> Iterator[NamedSource]:
    """The documents of each source, as sources that can be read.

    A file, or a stream, of documents is itself. A directory is the documents in it, and a ledger a
    stream of its runs. Of a store each document is a source, and so is each record of a batch
    system, read by ``options``: what else is to be said of records goes to ``tell``. Raises
    ``OSError``, and ``SSSJobError`` for a store or a ledger that cannot be read.
    """
    for source in sources:
        if named := named_format(options):
            yield from converted(named, source, tell, options)
            continue
        if source.is_store:
            yield from inside(source, tell)
            continue
        for file in inside(source, tell):
            with ExitStack() as stack:
                found, file = recognised(file, stack, options)
                yield from converted(found, file, tell, options) if found else (file,)


def inside(source: NamedSource, tell: Tell | None = None) -> Iterator[NamedSource]:
    """The documents of a store, the documents and records in a directory, and the runs of a ledger
    as one stream; any other source is itself. ``tell`` is told which files are not read.
    """
    return _stored(source, tell) if source.is_store else _files(source, tell)


def readable(sources: Iterable[NamedSource], tell: Tell | None = None) -> Iterator[NamedSource]:
    """Each source as one that can be read: the documents and records in a directory; the documents
    of a store, with the Files that they name, or the runs of a ledger, behind each other.

    A store or a ledger that cannot be read raises ``SSSJobError`` when it is read.
    """
    for source in sources:
        if source.is_store:
            yield source._replace(given=_as_bytes(_behind_each_other(source, tell)))
        else:
            yield from _files(source, tell)


def streams(
    sources: Iterable[NamedSource], stack: ExitStack, tell: Tell, options: Options | None = None
) -> Iterator[NamedSource]:
    """The same, and records, read by ``options``, as the documents that they become; what is to be
    said of those goes to ``tell``. Pipes are opened on the ``stack``.
    """
    if named := named_format(options):
        yield from (as_stream(named, source, tell, options) for source in sources)
        return
    for source in readable(sources, tell):
        found, source = recognised(source, stack, options)
        yield as_stream(found, source, tell, options) if found else source


def by_format(
    sources: Iterable[NamedSource], stack: ExitStack, tell: Tell
) -> Iterator[tuple[str, Iterator[NamedSource]]]:
    """Sources that come behind each other and are of one format, with its name; stores, ledgers and
    directories are documents. Pipes are opened on the ``stack``; what is recognised is told.
    """
    from sssjob.records.record import Noted

    def told() -> Iterator[tuple[str, NamedSource]]:
        for source in sources:
            for file in (source,) if source.is_store else _files(source, tell):
                found, file = recognised(file, stack)
                if found:
                    tell(file.name, Noted(1, str(found), severity=Severity.NOTICE))
                yield found.format.name if found else DOCUMENTS, file

    for name, group in groupby(told(), key=itemgetter(0)):
        yield name, (source for _, source in group)


def _files(source: NamedSource, tell: Tell | None = None) -> Iterator[NamedSource]:
    """The documents and records in a directory; those directories that cannot be read, or in which
    is nothing, are sources, too, so that who reads them says so. A ledger is one source.

    What is neither is passed over, and ``tell`` is told of it once.
    """
    if source.is_ledger:
        yield source._replace(given=_as_bytes(_runs(source)))
        return
    unread: list[OSError] = []
    count, passed = 0, _PassedOver()
    for file in files(source, takes=_is_taken, on_skipped=passed.add, on_error=unread.append):
        count += 1
        yield file
    if passed.count and tell is not None:
        from sssjob.records.record import Noted

        tell(source.name, Noted(0, passed.told(source.name), severity=Severity.NOTICE))
    for error in unread:
        yield NamedSource(error.filename, Path(error.filename))
    if not count and not unread:
        yield source


class _PassedOver:
    """The files of a directory that are not read: the first ones, and how many."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[Path] = []

    def add(self, path: Path) -> None:
        """One more, unless it is one that nobody expects to be read."""
        if _is_left_over(path):
            return
        self.count += 1
        if self.count <= _SHOWN:
            self._first.append(path)

    def told(self, directory: str) -> str:
        """What is said of them."""
        shown = ", ".join(visible(str(path.relative_to(directory))) for path in self._first)
        more = f" and {self.count - _SHOWN} more" if self.count > _SHOWN else ""
        return f"not read, since neither documents nor records: {shown}{more}"


def _is_left_over(path: Path) -> bool:
    """Whether a file is hidden, or a copy with a ``~``: editors and programs that are writing leave
    these, and each job of them would count once more. Nor is a store read into itself.
    """
    return path.name.startswith(".") or path.name.endswith("~") or is_open(path)


def _is_taken(path: Path) -> bool:
    """Whether a file in a directory is read: a document by its name, records by what they are.

    What is named as a document is passed over only where it is certain that it is well-formed and
    has no job: everything else is read, and who reads it says what is wrong.
    """
    if _is_left_over(path):
        return False
    if not has_name_of_document(path):
        return _is_record(path)
    try:
        if are_documents(begin := first_bytes(path, _BEGIN)) and not begin.startswith(COMPRESSED):
            return True
        with unpacked(path) as stream:
            return not _is_foreign(stream.read(_WHOLE + 1))
    except (OSError, UnreadableDocument):
        return True


def _is_record(path: Path) -> bool:
    try:
        return _of_file(path) is not None
    except (OSError, UnreadableDocument, UnusableInput):
        return False


def _is_foreign(text: bytes) -> bool:
    """Whether it is a whole document of something else; a large one is not looked through."""
    if len(text) > _WHOLE or not text.strip() or is_told(text):
        return False
    try:
        return recognise(text) is None and is_foreign(parse(text))
    except UnusableInput:  # what a batch system prints of live jobs
        return True
    except UnreadableDocument:
        return False


def named_format(options: Options | None) -> Recognised | None:
    """The format of records that the caller names, if any: nothing is to be recognised then.

    Raises ``UnusableInput`` for a name that is not known.
    """
    if options is None or options.format in ("", DOCUMENTS):
        return None
    from sssjob.records import find
    from sssjob.records.recognition import Recognised

    return Recognised(find(options.format), "")


def recognised(
    source: NamedSource, stack: ExitStack, options: Options | None = None
) -> tuple[Recognised | None, NamedSource]:
    """The format of the records of a source, and the source, from its beginning; None if they are
    documents, or nothing that is known: that is said where it is read.

    A pipe is opened once, on the ``stack``, and is read no further than it takes to tell. Raises
    ``UnusableSource`` for what a batch system prints of live jobs. Nothing is looked at where
    ``options`` say that it is documents.
    """
    if options is not None and options.format == DOCUMENTS:
        return None, source
    with naming(source.name):
        return _recognised(source, stack)


def _recognised(source: NamedSource, stack: ExitStack) -> tuple[Recognised | None, NamedSource]:
    try:
        if isinstance(source.given, Path):
            if source.given.is_file():
                return _of_file(source.given), source
            if source.is_store or not source.given.exists() or source.is_directory:
                return None, source
            source = source._replace(given=stack.enter_context(opened(source)))
    except (OSError, UnreadableDocument):
        return None, source
    assert not isinstance(source.given, Path)
    stream = source.given
    if not hasattr(stream, "peek"):
        return None, source
    begin = stream.peek(_BEGIN)
    # A slow pipe has given the first byte, perhaps.
    if begin and any(begin.startswith(each) or each.startswith(begin) for each in COMPRESSED):
        packed, stream = looked_at(stream, _PACKED)  # who reads it decompresses it from there
        head = _unpacked_head(packed)
        return None if are_documents(head) else recognise(head), source._replace(given=stream)
    if are_documents(begin):
        return None, source
    from sssjob.records.recognition import HEAD

    head, stream = looked_at(stream, HEAD)
    return recognise(head), source._replace(given=stream)


def _unpacked_head(packed: bytes) -> bytes:
    """What stands at the beginning of what is compressed, as far as its first bytes tell."""
    from sssjob.records.recognition import HEAD

    pieces, wanted = [], HEAD
    with suppress(UnreadableDocument), unpacked(io.BytesIO(packed)) as stream:
        while wanted > 0 and (piece := stream.read(min(wanted, _BEGIN))):
            pieces.append(piece)
            wanted -= len(piece)
    return b"".join(pieces)


def _of_file(path: Path) -> Recognised | None:
    begin = first_bytes(path, _BEGIN)  # of a directory there may be very many, mostly documents
    if database(begin) or (are_documents(begin) and not begin.startswith(COMPRESSED)):
        return None
    with unpacked(path) as stream:
        begin = stream.read(_BEGIN)
        if are_documents(begin):
            return None
        from sssjob.records.recognition import HEAD

        return recognise(begin + stream.read(HEAD))


def are_documents(begin: bytes) -> bool:
    """Whether nothing but documents begin so; compressed streams are taken for some."""
    return begin.startswith(COMPRESSED) or not begin.strip() or is_told(begin)


def recognise(head: bytes) -> Recognised | None:
    """The format of records that begin so; None if they are documents, or nothing that is known.

    Raises ``TakenForRecords`` for what is known to be neither.
    """
    from sssjob.records import recognition

    try:
        found = recognition.recognise(head)
    except recognition.TakenForRecords:
        raise
    except (UnusableInput, UnreadableDocument):
        return None
    return None if found.format.name == DOCUMENTS else found


def _stored(source: NamedSource, tell: Tell | None) -> Iterator[NamedSource]:
    from sssjob import store
    from sssjob.document.attached import left_out
    from sssjob.records.record import Noted
    from sssjob.store.messages import GivenFiles, message

    with store.open(source.name, read_only=True) as jobs:
        given = GivenFiles(jobs)
        for stored in jobs.documents():
            try:
                files = given.of(stored)
            except LimitExceeded as error:
                files = {}
                if tell is not None:
                    told = left_out(stored.identity.name, stored.identity.id, error)
                    tell(source.name, Noted(0, told))
            text = message(stored.document, files)
            yield NamedSource(f"{source.name}: {stored.identity}", io.BytesIO(text))


def _runs(source: NamedSource, question: Question | None = None) -> Iterator[bytes]:
    """The job objects of a ledger, as ``ledger.jobs`` makes them, each on a line.

    Of a ``question``, those in which it may find something.
    """
    from sssjob.document import dumps

    found = ledger_of(source)
    from sssjob.ledger import asking, jobs

    wanted = question is not None and asking.narrows(question)
    for job in asking.found(found, question) if question and wanted else jobs.jobs(found):
        yield f"{dumps(job)}\n".encode()


def asked_runs(source: NamedSource, question: Question) -> NamedSource:
    """A ledger as a stream of the runs in which a question may find something."""
    return source._replace(given=_as_bytes(_runs(source, question)))


def untold(question: Question) -> list[str]:
    """The names in a question of which no run of a ledger says anything."""
    try:
        from sssjob.ledger import asking
    except ModuleNotFoundError:  # reading the ledger says what is missing
        return []
    return asking.untold(question)


def ledger_of(source: NamedSource) -> Ledger:
    """The ledger that a source is. Raises ``UnusableStore``, also without the extra ``ledger``."""
    try:
        from sssjob.ledger import ledger, places
    except ModuleNotFoundError as error:
        text = f"a ledger needs {error.name}: pip install 'sssjob[ledger]'"
        raise UnusableStore(source.name, text) from None
    return ledger.opened(places.place(source.name))


class DocumentsOfRecords(io.BufferedReader):
    """What records become, made while it is read. Who counts bytes counts those of the records."""


def as_stream(
    found: Recognised, source: NamedSource, tell: Tell, options: Options | None = None,
    opening: Opening = opened,
) -> NamedSource:  # fmt: skip
    """Records as one stream of documents, each in the line of its record as far as they fit.

    What is to be said of them goes to ``tell`` while it is read, which raises what ``documents``
    raises. ``options`` say how they are read, and ``opening`` opens the records.
    """
    texts = _TextStream(_on_lines(_texts(found, source, tell, options, opening)))
    return source._replace(given=DocumentsOfRecords(texts, 1 << 16))


def _as_bytes(texts: Iterator[bytes]) -> BinaryIO:
    return io.BufferedReader(_TextStream(texts), 1 << 16)


def _behind_each_other(store: NamedSource, tell: Tell | None) -> Iterator[bytes]:
    for _, document in _stored(store, tell):
        assert not isinstance(document, Path)
        yield document.read() + b"\n"


def _on_lines(texts: Iterator[tuple[int, str]]) -> Iterator[bytes]:
    line, some = 1, False
    for number, text in texts:
        skipped = max(number - line, int(some))
        line, some = line + skipped + text.count("\n"), True
        yield b"\n" * skipped + text.encode()
    if not some:  # of records that are no jobs, none is asked; it is no bad document
        yield b"<Jobs/>"


class _TextStream(io.RawIOBase):
    """Texts as a stream, of which each is made when it is read."""

    def __init__(self, texts: Iterator[bytes]) -> None:
        self._texts, self._left = texts, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._left = self._left or next(self._texts, b"")
        data, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def converted(
    found: Recognised, source: NamedSource, tell: Tell | None = None, options: Options | None = None
) -> Iterator[NamedSource]:
    """Records, read by ``options``, as documents, each by itself; it raises what ``documents``
    raises.
    """
    from sssjob.verbs.records import nothing

    for line, text in _texts(found, source, tell or nothing, options):
        yield NamedSource(f"{source.name}:{line}", io.BytesIO(text.encode()))


def _texts(
    found: Recognised, source: NamedSource, tell: Tell, options: Options | None,
    opening: Opening = opened,
) -> Iterator[tuple[int, str]]:  # fmt: skip
    """The job of each record, with its line."""
    from sssjob.records import read_records
    from sssjob.records.builders import TEXTS
    from sssjob.records.record import Converted, Noted, Options, Skipped

    with naming(source.name), opening(source) as raw, unpacked(raw) as stream:
        if found.sign:  # otherwise the caller knows
            tell(source.name, Noted(1, str(found), severity=Severity.NOTICE))
        for outcome in read_records(found.format, stream, options or Options(), TEXTS):
            if isinstance(outcome, Converted):
                yield outcome.line, outcome.job
            elif not isinstance(outcome, Skipped):
                tell(source.name, outcome)
