"""Documents: bytes to job objects and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sssjob.document.bridge import from_tree, to_tree
from sssjob.document.files import Source, opened
from sssjob.document.text import clean, dumps, write
from sssjob.errors import UnreadableDocument, finding, of_kind
from sssjob.model import Block

if TYPE_CHECKING:
    from sssjob.document.batches import OnError

__all__ = ["Source", "clean", "dumps", "from_tree", "loads", "opened", "read", "to_tree", "write"]


def read(source: Source, *, on_error: OnError | None = None, parts: bool = True) -> Iterator[Block]:
    """The job objects of a source of any size, one at a time.

    Yields what stands outermost: Jobs and JobGroups, or the root when it is a TaskGroup, a Task
    or a defaults element, unless without ``parts``. Raises ``UnreadableDocument``, or hands it to
    ``on_error``; so for a document without a job object, unless it is an empty wrapper.
    """
    from sssjob.document import tree  # who only writes documents starts without their reader

    of_kind(on_error, Callable | None, "a function of an error")  # type: ignore[arg-type]
    of_kind(parts, bool, "whether parts of jobs are read")
    wanted = tree.Wanted.JOB_OBJECTS if parts else tree.Wanted.JOBS
    for element, offset in tree.located(source, on_error=on_error, wanted=wanted):
        yield from_tree(element, offset=offset)


def loads(data: bytes | str) -> Block:
    """The one job object of a document. Raises ``UnreadableDocument``.

    >>> loads("<Job><Id>PBS.1234.0</Id></Job>").id
    'PBS.1234.0'
    """
    found = list(read(data.encode(errors="surrogatepass") if isinstance(data, str) else data))
    if len(found) != 1:
        raise UnreadableDocument(finding("E-CARD", f"expected one job object, found {len(found)}"))
    return found[0]
