"""Documents of a store as messages again: with the Files beside them that they name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import TYPE_CHECKING
from urllib.parse import quote

from sssjob.document import from_tree, tree
from sssjob.document.attached import FileBudget, files_named
from sssjob.document.bundle import MessageFile, written
from sssjob.document.splice import rewrite
from sssjob.errors import InvalidValue
from sssjob.executable import ExecutableKind, executable
from sssjob.model import Block, Item, Property, replace_text, with_each

if TYPE_CHECKING:
    from sssjob.store import Store, Stored

_NOWHERE = ""  # instead of a digest, of what is named and is no File


def message(document: bytes, files: Mapping[str, bytes]) -> bytes:
    """A document with its Files beside it; as it is, if it has none."""
    if not files:
        return document
    return b"".join((b"<Data>", document, *map(_written, files.items()), b"</Data>"))


class GivenFiles:
    """The Files of documents that are written by themselves, as far as a store may give."""

    def __init__(self, jobs: Store) -> None:
        self._jobs = jobs
        self._budget = FileBudget()
        self._sizes: dict[str, int] = {}  # of Files that were read, by their digests

    def of(self, stored: Stored) -> dict[str, bytes]:
        """What the Files of a version hold. Raises ``LimitExceeded`` where these would be far more
        than was read of the store, and ``DamagedStore``.
        """
        self._budget.read += len(stored.document)
        new = {id_: digest for id_, digest in stored.files.items() if digest not in self._sizes}
        files = self._jobs.files(stored) if new else None
        for id_, digest in new.items():
            assert files is not None
            self._budget.read += len(files[id_])
            self._sizes[digest] = len(files[id_])
        self._budget.take(sum(map(self._sizes.__getitem__, stored.files.values())))
        return self._jobs.files(stored) if files is None else files


class OneMessage:
    """Many documents in one message, in which each File needs an id of its own.

    Where two documents mean different Files by one id, that of the later one gets another id, in
    the File and where it is named.
    """

    def __init__(self) -> None:
        self._meant: dict[str, str] = {}  # the digest of the File that each id stands for
        self._ids: dict[tuple[str, str], str] = {}  # the other way round, by the id it had
        self._next: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
        self._given: set[str] = set()  # ids of Files that are there

    def pieces(
        self, document: bytes, digests: Mapping[str, str], files: Mapping[str, bytes]
    ) -> Iterator[bytes]:
        """A document, and those of its Files that are not there yet."""
        if b"#" not in document:
            yield document
            return
        named = dict.fromkeys(files_named(from_tree(tree.parse(document))))
        ids = {id_: self._id(id_, digests.get(id_, _NOWHERE)) for id_ in named}
        others = {old: new for old, new in ids.items() if old != new}
        if others:
            document = b"".join(rewrite(document, lambda block: _renamed(block, others)))
        yield document
        for id_ in named:
            if id_ in files and ids[id_] not in self._given:
                self._given.add(ids[id_])
                yield _written((ids[id_], files[id_]))

    def has(self, digests: Mapping[str, str]) -> bool:
        """Whether all Files of these ids and digests are there."""
        return all(self._ids.get(each) in self._given for each in digests.items())

    def _id(self, id_: str, digest: str) -> str:
        """The id under which a File goes: its own, unless that stands for another one."""
        known = self._ids.get((id_, digest))
        if known is None:
            tried = chain((id_,), (f"{id_}-{number}" for number in self._next[id_]))
            known = next(each for each in tried if self._meant.setdefault(each, digest) == digest)
            self._ids[id_, digest] = known
        return known


def _written(file: tuple[str, bytes]) -> bytes:
    return written(MessageFile(*file)).encode()


def _renamed(block: Block, others: Mapping[str, str]) -> Block:
    """A block in which each Executable that names a File names it by its new id."""

    def changed(item: Item) -> Item:
        if isinstance(item, Block):
            return _renamed(item, others)
        if not isinstance(item, Property) or item.name != "Executable":
            return item
        try:
            named = executable(item.text)
        except InvalidValue:
            return item
        if named.kind is not ExecutableKind.FILE or named.target not in others:
            return item
        return replace_text(item, f"#{quote(others[named.target])}", item.attributes)

    return with_each(block, changed)
