"""The Files that the job objects of a store name: which each version has, and what they hold.

What Files hold is kept once, by its digest. A version of a document says which it has of each id,
so that a File of the same id beside another job, or a later version, is another one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from sssjob.document.attached import LIMIT
from sssjob.document.bundle import MessageFile, written
from sssjob.errors import DamagedStore, LimitExceeded
from sssjob.store import schema
from sssjob.store.engine import Engine
from sssjob.store.packing import NotUnpacked, Packing

_SELECT = "SELECT digest, dictionary, data FROM file WHERE "
_ADD = f"{schema.insert(schema.FILE)} ON CONFLICT DO NOTHING"


class ChosenFiles(NamedTuple):
    """Which File a version has of each id: as its column says it, and what is new of them."""

    column: str
    contents: Mapping[str, bytes]
    missing: tuple[str, ...]  # ids that it names, and has no File of


NO_FILES: Mapping[str, bytes] = {}
NONE = ChosenFiles("", NO_FILES, ())


def chosen(named: Sequence[str], given: Mapping[str, bytes], former: str) -> ChosenFiles:
    """The Files of a version that names some, of those that came with it.

    One that did not come is that of the version before: who sends the state of a job need not
    send its script again.
    """
    contents: dict[str, bytes] = {}
    try:
        digests = digests_of(former)
    except NotUnpacked:  # what was damaged is not asked for
        digests = {}
    found: dict[str, str] = {}
    for id_ in sorted(named):
        if id_ in given:
            found[id_] = _digest(given[id_])
            contents[found[id_]] = given[id_]
        elif id_ in digests:
            found[id_] = digests[id_]
    missing = tuple(id_ for id_ in named if id_ not in found)
    return ChosenFiles(json.dumps(found) if found else "", contents, missing)


@lru_cache(maxsize=1)  # of a message in which very many jobs name one File
def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def digests_of(column: str) -> dict[str, str]:
    """The digest of the File of each id that a version has. Raises ``NotUnpacked``."""
    if not column:
        return {}
    try:
        found = json.loads(column)
    except ValueError as error:
        raise NotUnpacked("the list of its Files is damaged") from error
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise NotUnpacked("the list of its Files is damaged")
    return found


def add(engine: Engine, packing: Packing, contents: Mapping[str, bytes]) -> None:
    """Keep what Files hold, by its digest, as far as it is not there."""
    for digest in sorted(contents):  # in one order, so that no two writers wait in a circle
        packed = packing.packed(contents[digest])
        engine.fetch(_ADD, (digest, packed.dictionary, packed.data))


def require_files(files: Mapping[str, bytes]) -> None:
    """Refuse what cannot stand beside a document.

    Raises ``LimitExceeded`` for too much of it, and ``InvalidValue`` for what XML has not.
    """
    for id_, content in files.items():
        written(MessageFile(id_, content))
    if sum(map(len, files.values())) > LIMIT:
        raise LimitExceeded("MiB of Files beside a job object", LIMIT >> 20)


def contents(engine: Engine, packing: Packing, digests: Mapping[str, str]) -> dict[str, bytes]:
    """What the Files of a version hold, by their ids. Raises ``DamagedStore``."""
    if not digests:
        return {}
    condition, value = engine.among("digest", sorted(set(digests.values())))
    rows = {digest: row for digest, *row in engine.fetch(_SELECT + condition, (value,))}
    found = {}
    for id_, digest in digests.items():
        try:
            if digest not in rows:
                raise NotUnpacked("it is missing")
            dictionary, data = rows[digest]
            found[id_] = packing.unpack(dictionary, bytes(data))
        except NotUnpacked as error:
            raise DamagedStore(engine.address, f"the File {id_} is damaged: {error}") from error
    return found


def damaged(engine: Engine, packing: Packing) -> Iterator[str]:
    """What is wrong with what Files hold, and with which versions have."""
    there = set()
    for digest, dictionary, data in engine.stream(f"{_SELECT}digest > '' ORDER BY digest"):
        there.add(digest)
        try:
            if hashlib.sha256(packing.unpack(dictionary, bytes(data))).hexdigest() != digest:
                yield f"the File of the digest {digest} holds something else"
        except NotUnpacked as error:
            yield f"the File of the digest {digest} is damaged: {error}"
    for table, key in ((schema.DOCUMENT, "number"), (schema.FORMER, "document")):
        select = f"SELECT {key}, version, files FROM {table.name} WHERE files <> ''"
        for number, version, column in engine.stream(select):
            missing = [id_ for id_, digest in _told(column) if digest not in there]
            for id_ in missing:
                yield f"document {number}, version {version}: its File {id_} is missing"


def _told(column: str) -> Iterable[tuple[str, str]]:
    """The digests that a version tells; that it tells none is said where it is read."""
    try:
        return digests_of(column).items()
    except NotUnpacked:
        return ()
