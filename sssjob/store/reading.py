"""Documents on their way into a store: what is read becomes ready to be written.

Most of the time of an import goes into reading: documents are parsed, and the rows of their jobs
are made. Several processes can do that for one that writes what they give, in the same order. Once
there is a dictionary they compress the documents, too: who writes waits for nobody then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeGuard

from sssjob.document import Source, dumps, from_tree
from sssjob.document.attached import LIMIT, files_named
from sssjob.document.batches import Batch, OnError
from sssjob.document.bundle import second
from sssjob.document.enclosing import FileBeside, FilesBeside
from sssjob.document.files import raw
from sssjob.document.meant import Meant
from sssjob.document.outermost import Wanted
from sssjob.document.places import local
from sssjob.document.reader import SharedPart, in_parts, on_parts, with_files
from sssjob.document.slices import Slice
from sssjob.errors import Finding, Severity, UnreadableDocument, finding
from sssjob.executable import decoded
from sssjob.model import Block
from sssjob.store import columns
from sssjob.store.columns import BOTH, GROUP, JOB, NAMES, SEPARATOR
from sssjob.store.engine import Row
from sssjob.store.identity import Marks, identify
from sssjob.store.incoming import Incoming, Ready, is_plain, user_in
from sssjob.store.packing import Packing
from sssjob.store.rows import rows
from sssjob.units import XML_SPACE
from sssjob.workers import PartWork, Workers

if TYPE_CHECKING:
    from sssjob.store.used import JobUse

_ODD, _READING, _KIND = map(NAMES.index, (columns.ODD, columns.READING, columns.KIND))
_ID, _GLOBAL_ID, _SUBMITTED, _STARTED = (
    NAMES.index(columns.name_of(path)) for path in ("Id", "GlobalId", "SubmitTime", "StartTime")
)

Read = Incoming | Ready | FilesBeside | UnreadableDocument
Found = list[Read]
Readers = Workers[SharedPart, Found | None]
OnWarning = Callable[[Finding], None]


def readers(processes: int) -> Readers:
    """So many processes that read documents for one that writes them, for a ``with`` block."""
    return Workers(PartWork("sssjob.store.reading:reader"), processes)


def reader() -> Callable[[SharedPart], Found | None]:
    """What reads the documents of a part in another process, and packs them if it can."""
    on_part = on_parts(_of_batch)
    known: dict[int, Packing] = {}

    def work(part: SharedPart) -> Found | None:
        found = on_part(part)
        if found is None or part.beside is None:
            return found
        number, data = part.beside
        if number not in known:
            known[number] = Packing(number, {number: data}.get)
        return _together([_packed(each, known[number]) for each in found])

    return work


def _together(found: Found) -> Found:
    """The same with the documents as columns that can be added many at once."""
    together: Found = []
    for are_plain, some in groupby(found, is_plain):
        documents: list[Any] = [*some]
        together += [Ready.of(documents)] if are_plain else documents
    return together


def _packed(found: Read, packing: Packing) -> Read:
    if isinstance(found, Incoming):
        return found._replace(content=packing.packed(found.content))
    return found


class NamedReading(NamedTuple):
    """Who reads a source for one that writes: what messages call it, and the file that it is."""

    readers: Readers
    name: str = ""
    file: PathLike[str] | None = None


def incomings(
    source: Source, tell: OnError, packing: Packing, by: NamedReading | None, warn: OnWarning
) -> Iterator[Incoming | Ready]:
    """The documents of a source, ready to be written; what cannot be read is told in its turn.

    So is a second File of an id, which is not kept.
    """
    found: Iterable[Read]
    if by is not None and by.readers.processes > 1:
        found = _by_readers(source, tell, packing, by)
    else:
        found = _here(with_files(source, on_error=tell))
    for each in _joined(found, warn):
        if isinstance(each, UnreadableDocument):
            tell(each)
        else:
            yield each


def _by_readers(
    source: Source, tell: OnError, packing: Packing, by: NamedReading
) -> Iterator[Read]:
    with raw(source) as stream:
        for found in in_parts(
            by.name, by.file or source, stream, by.readers, _of_batch, on_error=tell,
            beside=lambda: packing.newest, on_files=lambda beside: [beside], wanted=Wanted.JOBS,
        ):  # fmt: skip
            yield from found


def _here(found: Iterable[Batch | FilesBeside]) -> Iterator[Read]:
    for each in found:
        if isinstance(each, FilesBeside):
            yield each
        else:
            yield from _of_batch("", each)


def _of_batch(_: str, batch: Batch) -> Found:
    return [
        _incoming(cut, batch.are_documents or cut.element.getparent() is None)
        for cut in batch.slices()
    ]


def _incoming(cut: Slice, stands_alone: bool) -> Incoming | UnreadableDocument:
    try:
        return incoming(cut, stands_alone=stands_alone)
    except UnreadableDocument as error:
        return error


def _joined(
    found: Iterable[Read], warn: OnWarning
) -> Iterator[Incoming | Ready | UnreadableDocument]:
    """Documents with the Files that they name, which may stand behind them.

    One that names a File waits for it to the end of its message, and all that come behind wait
    for it, as far as they take no more memory than Files may.
    """
    beside = _FilesOfDocument()
    waiting: deque[Incoming | UnreadableDocument] = deque()
    size = 0
    for each in found:
        if isinstance(each, FilesBeside):
            if each.is_new:
                yield from map(beside.given, waiting)
                waiting.clear()
                beside.end(warn)
                beside = _FilesOfDocument()
            beside.add(each)
        elif isinstance(each, Ready) or (isinstance(each, Incoming) and each.stands_alone):
            yield from map(beside.given, waiting)
            waiting.clear()
            size = 0
            yield each
            continue
        else:
            beside.note(each)
            if not waiting and not (isinstance(each, Incoming) and each.named):
                yield each  # as mostly
                continue
            waiting.append(each)
            size += each.size if isinstance(each, Incoming) else 0
        while waiting and (size > LIMIT or beside.has_all(waiting[0])):
            yield beside.given(waiting.popleft())
        size = size if waiting else 0
    yield from map(beside.given, waiting)
    beside.end(warn)


class _FilesOfDocument:
    """The Files of one document, as far as it was read."""

    def __init__(self) -> None:
        self._meant: Meant[FileBeside] = Meant()
        self._given: set[int] = set()  # Files that a job object was given, which are kept in there
        self._size = 0

    def note(self, found: Incoming | UnreadableDocument) -> None:
        """See where a job object stands."""
        if isinstance(found, Incoming):
            self._meant.note(found.around)

    def add(self, beside: FilesBeside) -> None:
        """Keep Files, as many as a document may have."""
        for file in beside.files:
            self._size += len(file.content)
            if self._size <= LIMIT:
                self._meant.add(file.around, decoded(file.id), file)

    def has_all(self, found: Incoming | UnreadableDocument) -> bool:
        """Whether a document names no File that is still to come."""
        return not isinstance(found, Incoming) or all(
            id_ in self._meant.beside(found.around) for id_ in found.named
        )

    def given(self, found: Incoming | UnreadableDocument) -> Incoming | UnreadableDocument:
        """A document with the Files that it names, as far as they are there."""
        if not isinstance(found, Incoming) or not found.named:
            return found
        is_sure = self.has_all(found)
        files = self._meant.beside(found.around) if is_sure else self._meant.seen(found.around)
        own = {id_: files[id_][0] for id_ in found.named if id_ in files}
        self._given.update(map(id, own.values()))
        contents = {id_: file.content for id_, file in own.items()}
        others = tuple((id_, name) for id_, file in own.items() for name in file.others)
        return found._replace(files=contents, others=others)

    def end(self, warn: OnWarning) -> None:
        """Tell of each File of the id of one that was given: a version has one of each id."""
        for message in self._meant.messages():
            for first, *others in message.values():
                if id(first) in self._given:
                    for file in others:
                        told = second(decoded(file.id), file.line, first.line)
                        warn(replace(told, severity=Severity.WARNING, suggestion="it is not kept"))


def left_out(found: Incoming, ids: Iterable[str]) -> Iterator[Finding]:
    """What is told of the Files that a document names: those nowhere, and what is not kept."""
    for id_, name in found.others:
        text = f"the attribute {name} of the File {id_} beside {found.name} {found.id} is not kept"
        told = finding("E-FILE", text, line=found.line, section="SSS 5.1 Executable")
        yield replace(told, severity=Severity.WARNING)
    for id_ in ids:
        text = f"no File with the id {id_} was found beside {found.name} {found.id}"
        told = finding(
            "E-FILE", text, line=found.line, section="SSS 5.1 Executable",
            suggestion=f"of one message, {LIMIT >> 20} MiB of Files are kept",
        )  # fmt: skip
        yield replace(told, severity=Severity.WARNING)


def incoming(cut: Slice, *, stands_alone: bool = True) -> Incoming:
    """A Job or JobGroup that was cut out of its source, ready to be written.

    Raises ``UnreadableDocument`` for one that has no Id (SSS 4.1, 5.1).
    """
    name = local(cut.element)
    found = rows(cut.element)
    id_, marks = _whose(found[0], told(found[0]) or identify(cut.element, name))
    if not id_:
        raise UnreadableDocument(finding("E-MISSING", f"a {name} without an Id", line=cut.line))
    return Incoming(
        name, id_, marks, cut.document, found, _named(cut),
        stands_alone=stands_alone, line=cut.line, around=cut.around,
    )  # fmt: skip


def made(document: bytes, found: Sequence[Row], used: Sequence[JobUse] | None = None) -> Incoming:
    """A document that stands alone, with the rows that it has, ready to be written.

    It is read only where its rows do not tell all. Raises ``UnreadableDocument`` for one without
    an Id.
    """
    known = told(found[0]) if len(found) == 1 and found[0][_KIND] == JOB else None
    if known is None or not known[0] or b"#" in document:
        # The line is that of its record, which nobody knows here.
        return only(document)._replace(line=0, used=used)
    return Incoming(JOB, *_whose(found[0], known), document, found, used=used)


def _whose(row: Row, known: tuple[str, Marks]) -> tuple[str, Marks]:
    """The Id and the marks of a document, with the user of a job that stands alone."""
    id_, marks = known
    return id_, marks.of_user(id_, user_in(row)) if row[_KIND] == JOB else marks


def _named(cut: Slice) -> tuple[str, ...]:
    """The ids of the Files that a document names."""
    if b"#" not in cut.document:
        return ()
    return tuple(dict.fromkeys(files_named(from_tree(cut.element))))


def told(row: Row) -> tuple[str, Marks] | None:
    """What ``identify`` says, as far as the row of a document tells without doubt, else None.

    It was read already, and reading it again would cost as much as compressing the document.
    """
    if row[_ODD] or row[_READING] != BOTH:
        return None
    id_, global_id = str(row[_ID] or ""), str(row[_GLOBAL_ID] or "")
    submitted, started = row[_SUBMITTED], row[_STARTED]
    if SEPARATOR in id_ or SEPARATOR in global_id:  # there are several
        return None
    if row[_KIND] == GROUP:
        return id_.strip(XML_SPACE), Marks()
    if not (_is_whole(submitted) and _is_whole(started)):
        return None
    asked, begun = (f"{each:.0f}" if each is not None else "" for each in (submitted, started))
    return id_.strip(XML_SPACE), Marks(global_id.strip(XML_SPACE), asked, begun)


def only(document: Block | bytes) -> Incoming:
    """The one Job or JobGroup of a document. Raises ``UnreadableDocument``.

    So is a document refused in which the File that is meant is not the only one of its id.
    """
    data = document if isinstance(document, bytes) else dumps(document).encode()
    found: list[Incoming] = []
    for each in _joined(_here(with_files(data)), _refuse):
        if isinstance(each, UnreadableDocument):
            raise each
        found += each.documents() if isinstance(each, Ready) else [each]
    if len(found) != 1:
        message = f"expected one job object, found {len(found)}"
        raise UnreadableDocument(finding("E-CARD", message))
    return found[0]


def _refuse(found: Finding) -> NoReturn:
    raise UnreadableDocument(replace(found, severity=Severity.ERROR, suggestion=""))


def _is_whole(value: object) -> TypeGuard[float | None]:
    return value is None or (isinstance(value, float) and value.is_integer())
