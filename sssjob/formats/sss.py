"""Job objects as records: documents in, each of their jobs out, with its defaults applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from sssjob import defaults
from sssjob.document import from_tree, tree
from sssjob.document.attached import files_named
from sssjob.document.outermost import are_theirs, told
from sssjob.errors import InheritedTooMuch, UnreadableDocument
from sssjob.model import Block, Job, JobGroup
from sssjob.records.cuts import CustomPieces
from sssjob.records.layout import Layout, MadeJob, Piece, Read, alone
from sssjob.records.record import Bad, Noted

_THEIRS = (
    "a Job that begins with a Job_Id is a live one as a batch system shows it, and no job object; "
    "sssjob status reads what such systems print"
)
_NO_FILES = "a File that a job names with # is not part of its record, and is left out"


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """The jobs of documents; what cannot be read, or is about something else, is a bad record."""
    bad: list[Bad] = []

    def keep(error: UnreadableDocument) -> None:
        bad.append(unread(error))

    for element, offset in tree.located(stream, on_error=keep, wanted=tree.Wanted.JOBS):
        yield from bad
        bad.clear()
        try:
            jobs = list(jobs_of(from_tree(element, offset=offset)))
        except InheritedTooMuch as beyond:
            keep(beyond)
            continue
        yield from ((job.line, job) for job in jobs)
    yield from bad


def unread(error: UnreadableDocument) -> Bad:
    """What cannot be read, as a bad record."""
    found = error.finding
    return Bad(found.line, found.words, unread=True, column=found.column, code=found.code)


def made(line: int, job: Job) -> Read:
    """A job is a record that has become one, and a record has no Files."""
    notes = (Noted(line, _NO_FILES, once=True),) if any(files_named(job)) else ()
    return MadeJob(line, job, has_ended(job), notes)


def has_ended(job: Job) -> bool:
    """Whether a job says when it ended."""
    return "EndTime" in job.properties.names()


def jobs_of(block: Block) -> Iterator[Job]:
    """The jobs of a document, each with its defaults applied; references are none."""
    if isinstance(block, JobGroup):
        block = defaults.resolve(block).block
        assert isinstance(block, JobGroup)
        yield from (job for job in block.jobs if type(job) is Job)
    elif type(block) is Job:
        yield block


def jobs_of_each(
    blocks: Iterable[Block], tell: Callable[[InheritedTooMuch], object]
) -> Iterator[Job]:
    """The same of many; one of which jobs inherit too much is told, and the rest go on."""
    for block in blocks:
        try:
            jobs = list(jobs_of(block))
        except InheritedTooMuch as error:
            tell(error)
        else:
            yield from jobs


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it holds job objects, or ""."""
    name = told(head)
    return f"an element {name}" if name else ""


def mistaken(head: bytes) -> str:
    """Why jobs that begin so are no job objects."""
    return _THEIRS if are_theirs(head) else ""


LAYOUT = Layout(
    type="",
    cut=CustomPieces(pieces),
    reader=alone(made),
    recognises=recognises,
    mistaken=mistaken,
)
