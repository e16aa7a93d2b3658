"""The one reader of documents, of which every other way to read a source is a view.

Strategy. A source may be larger than memory, and has to be read as fast as a parser can; but a
parser gives a tree of the whole document, or nothing. And whoever reads, for a tree, for bytes or
for an answer, has to accept and to refuse the same sources.

The idea is to cut the bytes into batches of job objects, and to parse each batch at once, by other
processes if wanted. Most sources are documents of one line each, or one document whose job objects
begin on lines of their own: these are cut by guesses at their bytes (``guesses``). Where a guess
does not fit, the source is cut with care (``cutting``), each piece well-formed by itself.

Why it is right: a document is well-formed if, and only if, every piece of it is, put between the
tags around it. A cut that fell into a comment or the like leaves a piece that is not, so parsing
proves the guess. What is refused is told in the same words and with the same place.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import parsing
from sssjob.document.batches import (
    APART,
    FOREIGN,
    Batch,
    Found,
    Located,
    OnError,
    careful,
    located_jobs,
    only_batches,
    told,
    trees,
    whole_with_jobs,
    with_jobs,
)
from sssjob.document.cutting import DocumentCutter
from sssjob.document.enclosing import FilesBeside
from sssjob.document.files import CHUNK, ByteRange, Source, opened, span
from sssjob.document.guesses import (
    Frame,
    Guess,
    Guesses,
    followed,
    guesses,
    of_lines,
    only,
    whole_documents,
)
from sssjob.document.outermost import Wanted
from sssjob.document.sources import Files, NamedSource, grouped
from sssjob.errors import UnreadableDocument

if TYPE_CHECKING:
    from sssjob.workers import Workers

T = TypeVar("T")
U = TypeVar("U")

# Work on documents of a source that is called so, each a whole tree.
OnDocuments = Callable[[str, Sequence[Located]], T]


def batches(
    source: Source, *, on_error: OnError | None = None, wanted: Wanted = Wanted.JOB_OBJECTS
) -> Iterator[Batch]:
    """The job objects of a source of any size, in batches.

    Raises ``UnreadableDocument`` for what cannot be read, or hands it to ``on_error`` and goes on
    with the next job object, as far as the source can be followed. Where documents are ``wanted``,
    one without a job object is a batch without units.
    """
    return only_batches(_found(source, on_error, wanted, finds_files=False))


def with_files(source: Source, *, on_error: OnError | None = None) -> Iterator[Found]:
    """Jobs and JobGroups so, and the Files beside them, each where it stands."""
    return _found(source, on_error, Wanted.JOBS, finds_files=True)


def _found(
    source: Source, on_error: OnError | None, wanted: Wanted, *, finds_files: bool
) -> Iterator[Found]:
    with told(on_error) as tell, opened(source) as stream:
        head = stream.read(CHUNK)
        if (cut := guesses(stream, head, finds_files=finds_files)) is None:
            found = careful(DocumentCutter(stream, head).cuts(), tell)
        else:
            found = cut.batches(tell)
        yield from with_jobs(found, wanted, tell)


class SharedPart(NamedTuple):
    """A guess on its way to another process; with a ``span`` its bytes are there, in a file.

    ``beside`` is what else the work over there needs.
    """

    name: str
    frame: Frame
    guess: Guess
    span: ByteRange | None = None
    beside: Any = None

    def __str__(self) -> str:
        return f"{self.name}:{self.guess.place.line}"

    def read(self) -> Guess:
        """The guess with its bytes. Raises ``OSError`` where they are in a file that changed."""
        return self.guess if self.span is None else self.guess._replace(data=self.span.read())


def on_parts(work: Callable[[str, Batch], T]) -> Callable[[SharedPart], T | None]:
    """What does some work in another process; it gives None for a part that is not as it seemed."""

    def on_part(part: SharedPart) -> T | None:
        batch = part.frame.parsed(part.read())
        return None if batch is None else work(part.name, batch)

    return on_part


# What was made of each batch of small files, with the number of its file, and errors in their turn.
OfFiles = list[tuple[int, Any]]


def on_whole(work: OnDocuments[T]) -> Callable[[SharedPart], T | None]:
    """The same of the documents of a part as whole trees; see ``whole_in_parts``."""

    def on_part(part: SharedPart) -> T | None:
        found = whole_documents(part.read())
        return None if found is None else work(part.name, found)

    return on_part


def on_files(work: Callable[[str, Batch], T], wanted: Wanted) -> Callable[[Files], OfFiles]:
    """What does the same for small files, which it opens itself."""
    return _on_files(work, lambda given, tell: batches(given, on_error=tell, wanted=wanted))


def on_whole_files(work: OnDocuments[T], known: Collection[str]) -> Callable[[Files], OfFiles]:
    """The same of the documents of small files as whole trees."""

    def read(given: Source, tell: OnError) -> Iterator[Sequence[Located]]:
        found = documents(given, on_error=tell, known=known, wanted=Wanted.DOCUMENTS)
        return ((each,) for each in found)

    return _on_files(work, read)


def on_each_file(work: Callable[[str, Source], T]) -> Callable[[Files], OfFiles]:
    """The same of each small file, which the work reads itself."""
    return _on_files(work, lambda given, _: (given,))


def _on_files(
    work: Callable[[str, U], T], read: Callable[[Source, OnError], Iterable[U]]
) -> Callable[[Files], OfFiles]:
    def on_small(files: Files) -> OfFiles:
        events: OfFiles = []
        for number, source in enumerate(files.sources):

            def tell(error: UnreadableDocument, number: int = number) -> None:
                events.append((number, error))

            try:
                for found in read(source.given, tell):
                    events.append((number, work(source.name, found)))
            except OSError as error:
                events.append((number, error))
        return events

    return on_small


def in_groups(
    small: Iterable[NamedSource], workers: Workers[Any, Any]
) -> Iterator[tuple[NamedSource, Any]]:
    """What workers made of each batch of small files, or why it cannot be read, in their order."""
    for files, events in workers.in_order(grouped(small), str):
        for number, found in events:
            yield files.sources[number], found


def in_parts(
    name: str, source: Source, stream: BinaryIO, workers: Workers[Any, T | None],
    work: Callable[[str, Batch], T], *, on_error: OnError | None = None,
    beside: Callable[[], object] = lambda: None, on_files: Callable[[FilesBeside], T] | None = None,
    wanted: Wanted = Wanted.JOB_OBJECTS,
) -> Iterator[T]:  # fmt: skip
    """What some work makes of each batch, in order: by processes, and here where no guess fits.

    ``on_files`` makes the same of the Files that stand beside job objects; ``wanted`` is that of
    ``batches``.

    The work is given the ``name`` that messages call the source, and gives anything but None.
    ``stream`` reads the ``source``, and ``beside`` gives what else goes with a part.
    """

    def here(each: Found) -> T | None:
        if isinstance(each, Batch):
            return work(name, each)
        return None if on_files is None else on_files(each)

    with told(on_error) as tell, opened(stream) as plain:

        def made(found: Iterable[Found]) -> Iterator[T | None]:
            return map(here, with_jobs(found, wanted, tell))

        head = plain.read(CHUNK)
        if (cut := guesses(plain, head, finds_files=on_files is not None)) is None:
            yield from _there(made(careful(DocumentCutter(plain, head).cuts(), tell)))
            return
        parts = _parts(name, cut, span(source, plain), beside)
        yield from _there(_followed(
            cut, parts, workers, lambda guess, unread: made(cut.with_care(guess, unread, tell))
        ))  # fmt: skip


def whole_in_parts(
    name: str, source: Source, stream: BinaryIO, workers: Workers[Any, T | None],
    work: OnDocuments[T], *, on_error: OnError | None = None, known: Collection[str] = (),
) -> Iterator[T]:  # fmt: skip
    """What some work makes of documents as whole trees, in order; see ``in_parts``.

    Documents of one line each go to processes; what else the source holds is worked on here.
    """
    with told(on_error) as tell, opened(stream) as plain:
        head = plain.read(CHUNK)
        if (lines := of_lines(plain, head)) is None:
            found = _documents(plain, head, tell, known, Wanted.DOCUMENTS)
            yield from (work(name, (each,)) for each in found)
            return

        def here(guess: Guess, unread: Sequence[Guess]) -> Iterator[T]:
            found = lines.whole_with_care(guess, unread, tell, known)
            return (work(name, (each,)) for each in found)

        parts = _parts(name, lines, span(source, plain), lambda: None)
        yield from _followed(lines, parts, workers, here)


def located(
    source: Source, *, on_error: OnError | None = None, wanted: Wanted = Wanted.JOB_OBJECTS
) -> Iterator[Located]:
    """The job objects one by one; one that is a document by itself is the root of its own tree.

    Where documents are ``wanted``, one without a job object gives its root.
    """
    with told(on_error) as tell:
        # What begins with a tag is not compressed: a short one in memory needs no stream.
        whole = source if isinstance(source, bytes) and len(source) < CHUNK else b""
        if whole.startswith(b"<") and (batch := only(whole)) is not None:
            yield from located_jobs((batch,), wanted, tell)
            return
        with opened(source) as stream:
            head = stream.read(CHUNK)
            if len(head) < CHUNK and (batch := only(head)) is not None:
                if not (more := stream.read(1)):
                    yield from located_jobs((batch,), wanted, tell)
                    return
                head += more
            if (found := guesses(stream, head, alone=True)) is not None:
                yield from found.located(tell, wanted)
                return
            cuts = DocumentCutter(stream, head).cuts()
            yield from located_jobs(careful(cuts, tell, alone=True), wanted, tell)


def documents(
    source: Source, *, on_error: OnError | None = None, known: Collection[str] = (),
    wanted: Wanted = Wanted.JOB_OBJECTS,
) -> Iterator[Located]:  # fmt: skip
    """The root of each document of a source, each as a whole tree in memory.

    One of which something is refused is refused as a whole. Job objects of the ``known``
    namespaces, though no job objects, are none that was meant to be. ``wanted`` is that of
    ``batches``.
    """
    with told(on_error) as tell, opened(source) as stream:
        yield from _documents(stream, stream.read(CHUNK), tell, known, wanted)


def _documents(
    stream: BinaryIO, head: bytes, tell: OnError, known: Collection[str], wanted: Wanted
) -> Iterator[Located]:
    if len(head) < CHUNK and (batch := only(head, ids=True)) is not None:
        if not (more := stream.read(1)):
            yield from whole_with_jobs((Located(batch.root, 0),), wanted, tell)
            return
        head += more
    if (lines := of_lines(stream, head)) is not None:
        yield from lines.whole(tell, known, wanted)
    else:
        yield from trees(DocumentCutter(stream, head), tell, known, wanted)


def refusal(data: bytes) -> UnreadableDocument | None:
    """Why bytes are no document, as it is told of a source; None where this reader takes them.

    They are not decompressed. That something is no job object is no reason. Nothing behind a second
    document is looked at: whoever sends many would have them all read.
    """

    def tell(error: UnreadableDocument) -> None:
        if error.finding.code != FOREIGN:
            raise error

    stream = io.BytesIO(data)
    try:
        with told(tell) as each:
            deque(
                islice(_documents(stream, stream.read(CHUNK), each, (), Wanted.DOCUMENTS), 2),
                maxlen=0,
            )
    except UnreadableDocument as error:
        return error
    return None


def joined(documents: Sequence[bytes]) -> Element | None:
    """Documents of one job object each as the children of one root.

    None where that cannot be: one has a declaration, and with it perhaps another encoding.
    """
    try:
        root = parsing.parsed(b"".join((APART.before, *documents, APART.after)))
    except etree.XMLSyntaxError:
        return None
    return root if len(root) == len(documents) else None


def _followed(
    cut: Guesses, parts: Iterator[SharedPart], workers: Workers[Any, T | None],
    with_care: Callable[[Guess, Sequence[Guess]], Iterable[T]],
) -> Iterator[T]:  # fmt: skip
    """What processes made of parts, and what was made here, with care, of those that none could."""
    done = (
        (part.guess if made is not None else part.read(), made)
        for part, made in workers.in_order(parts, str)
    )
    return followed(cut, done, lambda: [part.read() for part in workers.waiting], with_care)


def _there(found: Iterable[T | None]) -> Iterator[T]:
    return (each for each in found if each is not None)


def _parts(
    name: str, found: Guesses, file: ByteRange | None, beside: Callable[[], object]
) -> Iterator[SharedPart]:
    for guess in found:
        if file is None:
            yield SharedPart(name, found.frame, guess, beside=beside())
        else:
            there = file._replace(start=guess.place.start, size=len(guess.data))
            yield SharedPart(name, found.frame, guess._replace(data=b""), there, beside())
