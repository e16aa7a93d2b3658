"""Documents as a store has them, and the versions that they had before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from sssjob.store import columns, schema
from sssjob.store.cells import only
from sssjob.store.engine import Engine, Row
from sssjob.store.files import ChosenFiles
from sssjob.store.identity import Marks, ids_of, stated
from sssjob.store.incoming import USERS, starts_of
from sssjob.store.packing import Content, NotUnpacked, Packed, Packing
from sssjob.store.stored import is_of_request

_USER = (
    f"(SELECT coalesce({schema.listed(tuple(USERS))}) FROM job "
    f"WHERE job.document = document.number ORDER BY {columns.PLACE}, {columns.READING} LIMIT 1)"
)
PRESENT = f"SELECT {schema.listed(schema.DOCUMENT.names)}, {_USER} FROM document WHERE "
_REASON = "SELECT reason FROM change WHERE number = ?"
_FORMER = (
    "SELECT f.deleted, f.files, f.dictionary, f.data, c.reason FROM former AS f JOIN change AS c "
    "ON c.number = f.change WHERE f.document = ? ORDER BY f.version DESC"
)
_WAS_HIDDEN = "SELECT deleted FROM former WHERE document = ? ORDER BY version DESC LIMIT 1"


class PresentDocument(NamedTuple):
    """A document as its row in the table has it."""

    number: int
    name: str
    id: str
    run: int
    marks: Marks
    version: int
    change: int
    deleted: bool
    files: str
    dictionary: int
    data: bytes
    is_taken_in: bool = False

    @classmethod
    def of(cls, row: Row) -> PresentDocument:
        """From the columns of the table, in order."""
        number, name, id_, run, global_id, submitted, started, version, change, deleted, *data = row
        *data, user = data
        marks = stated(global_id, submitted, started)
        if name == "Job":
            marks = marks.of_user(id_, user or "")
        present = cls(number, name, id_, run, marks, version, change, bool(deleted), *data)
        return present._replace(is_taken_in=True) if deleted == schema.TAKEN_IN else present

    def every_id(self) -> tuple[str, ...]:
        """The Ids by which it may be told of, its own first."""
        return ids_of(self.name, self.id, self.marks)

    def starts(self) -> Iterator[int]:
        """When it started, where it may be told of by an Id that it does not tell."""
        return starts_of(self.id, self.marks)


class DocumentVersion(NamedTuple):
    """A version of a document, and why it was made."""

    deleted: bool
    files: str
    dictionary: int
    data: bytes
    reason: str

    def only_hides(self, before: DocumentVersion | None) -> bool:
        """Whether the document is shown no more, or again, and is what it was before."""
        return before is not None and before[1:-1] == self[1:-1]


class DocumentVersions:
    """What documents were before, within one transaction."""

    def __init__(self, engine: Engine, packing: Packing) -> None:
        self._engine, self._packing = engine, packing
        self._reasons: dict[int, str] = {}  # of changes

    # decisions 879 and 916
    def is_no_news(
        self, contents: Collection[Content], files: ChosenFiles, present: PresentDocument
    ) -> bool:
        """Whether an import brought the same before, and requests have changed it since."""
        versions = self.of(present)
        if not any(has_changed for _, has_changed in requests(versions)):
            return False
        brought = (each for each in versions[1:] if not is_of_request(each.reason))
        there = (
            present._replace(dictionary=each.dictionary, data=each.data)
            for each in brought
            if each.files == files.column
        )
        return any(self.has(each, content) for each in there for content in contents)

    def of(self, present: PresentDocument) -> Sequence[DocumentVersion]:
        """All versions of a document, the last one first; none where imports made that, and shown.

        Of most documents no more than this is asked.
        """
        reason = self._reason(present)
        if not (is_of_request(reason) or present.deleted or self._was_hidden(present)):
            return ()
        there = DocumentVersion(
            present.deleted, present.files, present.dictionary, present.data, reason
        )
        former = self._engine.fetch(_FORMER, (present.number,))
        return [there, *(DocumentVersion(*row) for row in former)]

    def _was_hidden(self, present: PresentDocument) -> bool:
        """Whether the version before hid the document, after one that somebody brought."""
        found = self._engine.fetch(_WAS_HIDDEN, (present.number,)) if present.version > 2 else ()
        return any(hidden for (hidden,) in found)

    def _reason(self, present: PresentDocument) -> str:
        """Why the version was made that is there."""
        if present.change not in self._reasons:
            rows = self._engine.fetch(_REASON, (present.change,))
            [reason] = only(rows, self._engine.address, f"change {present.change}")
            self._reasons[present.change] = reason
        return self._reasons[present.change]

    def is_former(self, contents: Collection[Content], present: PresentDocument) -> bool:
        """Whether a document is a former version of the one that is there."""
        former = self._engine.fetch(
            "SELECT dictionary, data FROM former WHERE document = ?", (present.number,)
        )
        return any(
            self.has(present._replace(dictionary=dictionary, data=data), content)
            for dictionary, data in former
            for content in contents
        )

    def has(self, present: PresentDocument, content: Content) -> bool:
        """Whether these very bytes are there, undamaged."""
        if isinstance(content, Packed) and content[:2] == (present.dictionary, present.data):
            return True
        try:
            there = self._packing.unpack(present.dictionary, present.data)
            return there == self._packing.document(content)
        except NotUnpacked:
            return False


def requests(versions: Sequence[DocumentVersion]) -> Iterator[tuple[str, bool]]:
    """Why requests made versions since the last import, and whether they changed anything.

    Who hides a document, or shows it again, brings nothing, whether by a request or not.
    """
    for version, before in pairwise((*versions, None)):
        assert version is not None  # it ends the pairs
        only_hides = version.only_hides(before)
        if is_of_request(version.reason):
            yield version.reason, not only_hides
        elif not only_hides:
            return
