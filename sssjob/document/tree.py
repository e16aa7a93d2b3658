"""Bytes to trees, with safe limits: a stream of job objects from a source of any size.

A source may be one document (a Job, a JobGroup, or any wrapper around many of them) or many
documents one after the other, each on a line of its own or not; gzip, bzip2, xz and zstd are read
as they are. Memory holds a batch of job objects at a time. No entity is expanded, no address is
opened. What cannot be read raises ``UnreadableDocument``, or is handed to ``on_error``, and the
job objects behind it are read as far as the source can be followed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lxml.etree import _Element as Element

from sssjob.document import parsing, reader
from sssjob.document.batches import Located, OnError
from sssjob.document.files import Source
from sssjob.document.guesses import is_lines
from sssjob.document.outermost import Wanted
from sssjob.errors import UnreadableDocument

__all__ = ["Located", "OnError", "Wanted", "documents", "is_lines", "located", "parse", "units"]


def parse(data: bytes | str) -> Element:
    """The root of exactly one document, as it is in memory.

    Raises ``UnreadableDocument``, with the place and the words that each source of these bytes is
    refused with.
    """
    try:
        return parsing.parse(data)
    except UnreadableDocument as error:
        raise (reader.refusal(parsing.octets(data)) or error) from None


def units(source: Source, *, on_error: OnError | None = None) -> Iterator[Element]:
    """The outermost Job and JobGroup elements, or a root TaskGroup, Task, or defaults element.

    An element hangs in its document, with its ancestors and without the siblings before it, until
    the next one is asked for.
    """
    for element, _ in reader.located(source, on_error=on_error):
        yield element


def located(
    source: Source, *, on_error: OnError | None = None, wanted: Wanted = Wanted.JOB_OBJECTS
) -> Iterator[Located]:
    """As ``units``, with line offsets; where documents are ``wanted``, also the roots of those
    without a job object, which are told otherwise as what cannot be read.

    What has the name of a job object in another namespace is no job object, and is told so always.
    """
    return reader.located(source, on_error=on_error, wanted=wanted)


def documents(
    source: Source, *, on_error: OnError | None = None, known: Collection[str] = (),
    wanted: Wanted = Wanted.JOB_OBJECTS,
) -> Iterator[Located]:  # fmt: skip
    """The root of each document of a source, each as a whole tree in memory.

    One of which something cannot be read is not given. Job objects of other namespaces than the
    standard's and the ``known`` ones are told, and stay in their tree. ``wanted``: as ``located``.
    """
    return reader.documents(source, on_error=on_error, known=known, wanted=wanted)
