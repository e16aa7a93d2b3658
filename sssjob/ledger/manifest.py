"""The manifests of a ledger: which files make it up, each manifest a commit.

Strategy. Reports read while others write, writers are killed, and two may write at once. A file of
data counts only if the newest manifest lists it; so files are written first, forced to disk, and
then a manifest with the next number gets its name by a link, which fails if the name is taken.

Why it is right: a link is made or not, whole, by one process only. Who comes second reads the new
manifest, looks again at what it holds, and tries the next number. A process that is killed before
its link leaves files that no manifest lists, which count nowhere. The inputs that were read to
their end stand in the manifest that has their last rows, so that data and progress are one commit.
Older manifests stay: each is the ledger as it was then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from typing import Any, NamedTuple

from sssjob import json_text
from sssjob.addresses import LEDGER, MANIFESTS, manifest_name, number_of
from sssjob.errors import DamagedStore, OtherStore, UnusableStore
from sssjob.json_text import at_most
from sssjob.ledger import places
from sssjob.ledger.places import Place

# 1 without texts of records, 2 with these, 3 and 5 with files of versions 2 and 3, 4 with CRCs
VERSION = 5
FILES = 3  # the version of files of rows that are written: they have all columns ``LATER``
FOLDER = MANIFESTS
ASIDE = ".damaged"  # what the name of a damaged manifest gets at its end
_LARGEST = 1 << 28  # bytes of a manifest


class Taken(Exception):
    """Somebody else committed in the meantime."""


class TimeRange(NamedTuple):
    """The least and the greatest value of a column of times, and how many rows have none."""

    least: int | None
    most: int | None
    without: int

    def meets(self, since: int | None, until: int | None) -> bool:
        """Whether a value may be at ``since`` or later and before ``until``; None: any."""
        if self.least is None or self.most is None:
            return False
        return (since is None or self.most >= since) and (until is None or self.least < until)


class DataFile(NamedTuple):
    """A file of rows: where it is in the ledger, what it holds, and how many of it count.

    ``gone`` is how many of its rows were replaced by later ones; ``digest`` is that of its bytes,
    ``crc`` their CRC-32 (None: an earlier version wrote it), ``version`` that of its columns.
    """

    path: str
    rows: int
    size: int
    digest: str
    submit: TimeRange
    start: TimeRange
    end: TimeRange
    gone: int = 0
    version: int = 1
    crc: int | None = None

    @property
    def name(self) -> str:
        """Its name without directories, which no other file of the ledger has."""
        return self.path.rpartition("/")[2]


class Gone(NamedTuple):
    """A file that lists rows which later ones replaced, as names of files and numbers of rows."""

    path: str
    rows: int
    size: int
    digest: str


class Input(NamedTuple):
    """A file that was read to its end: its name then, its bytes, and how it was read."""

    name: str
    size: int
    digest: str
    how: str


class RecordedLog(NamedTuple):
    """A file with the text, or a part of it, that records were read from: see ``logs``.

    ``input`` is the digest of the whole text, ``digest`` that of the bytes of the file.
    """

    name: str
    input: str
    how: str
    path: str
    rows: int
    size: int
    digest: str


def together(files: Iterable[DataFile], most: int) -> Iterator[list[DataFile]]:
    """Files in their order, as many at once as have so many rows, and at least one."""
    some: list[DataFile] = []
    rows = 0
    for file in files:
        if some and rows + file.rows > most:
            yield some
            some, rows = [], 0
        some.append(file)
        rows += file.rows
    if some:
        yield some


@dataclass(frozen=True, slots=True)
class Manifest:
    """A ledger at one moment."""

    number: int = 0
    files: tuple[DataFile, ...] = ()
    gone: tuple[Gone, ...] = ()
    inputs: tuple[Input, ...] = ()
    logs: tuple[RecordedLog, ...] = ()
    written: int = 0  # seconds since 1970, by the clock of who committed; for people
    why: str = field(default="init")

    @property
    def rows(self) -> int:
        """How many rows count."""
        return sum(file.rows - file.gone for file in self.files)

    def has_read(self, wanted: Input) -> bool:
        """Whether a file with these bytes was read to its end in the same way."""
        return any(each[1:] == wanted[1:] for each in self.inputs)

    def keeps(self, wanted: Input) -> bool:
        """Whether the text of a file is kept."""
        return any((each.input, each.how) == (wanted.digest, wanted.how) for each in self.logs)


def newest(home: Place, at: int | None = None) -> Manifest:
    """The newest manifest of a ledger, or the one with a number.

    Raises ``UnusableStore``, ``OtherStore`` for one of a later version, and ``DamagedStore``.
    """
    found = numbers(home)
    if not found:
        raise _no_ledger(home)
    number = found[-1] if at is None else at
    if number not in found:
        raise UnusableStore(str(home), f"has no manifest {number}; there are {_listed(found)}")
    return _read(home, number)


def numbers(home: Place) -> list[int]:
    """The numbers of all manifests, upwards."""
    names = places.names(home / FOLDER)
    return sorted(found for name in names if (found := number_of(name)) is not None)


def last_whole(home: Place) -> tuple[Manifest, list[DamagedStore]]:
    """The newest manifest that can be read, and what is wrong with others, the newest first.

    Raises ``UnusableStore`` where none can be read, and ``OtherStore`` for one of a later version.
    """
    found: Manifest | None = None
    faults: list[DamagedStore] = []
    for number in reversed(numbers(home)):
        try:
            told = newest(home, number)
        except DamagedStore as error:
            faults.append(error)
        else:
            found = found or told
    if found is None:
        raise faults[0] if faults else _no_ledger(home)
    return found, faults


def set_aside(path: Place) -> None:
    """Give a damaged manifest a name that is none of a manifest; nothing is removed."""
    places.set_aside(path, ASIDE)


def _no_ledger(home: Place) -> UnusableStore:
    return UnusableStore(str(home), "is no ledger: sssjob ledger init makes one")


def path_of(home: Place, number: int) -> Place:
    """Where the manifest of a number is."""
    return home / FOLDER / manifest_name(number)


def commit(home: Place, manifest: Manifest) -> None:
    """Give a manifest its name, on disk. Raises ``Taken`` where the number is, and ``OSError``."""
    try:
        places.create(path_of(home, manifest.number), _bytes(manifest))
    except FileExistsError:
        raise Taken from None


def next_to(manifest: Manifest, **changes: Any) -> Manifest:
    """The manifest behind another one."""
    return replace(manifest, number=manifest.number + 1, **changes)


_OF_FILES = {1: 1, 2: 3, 3: 5}  # the version of a manifest by those of its files


def _bytes(manifest: Manifest) -> bytes:
    told = json.dumps(asdict(manifest))
    digest = blake2b(told.encode(), digest_size=16).hexdigest()
    version = max((_OF_FILES[each.version] for each in manifest.files), default=1)
    version = max(version, 2 if manifest.logs else 1)
    version = max(version, 4 if any(each.crc is not None for each in manifest.files) else 1)
    head = {"kind": LEDGER, "version": version, "digest": digest}
    return f"{json.dumps(head)}\n{told}\n".encode()


def _read(home: Place, number: int) -> Manifest:
    path = path_of(home, number)
    with places.stream(path) as file:
        data = at_most(file, _LARGEST)
    if len(data) > _LARGEST:
        raise DamagedStore(str(path), f"a manifest of more than {_LARGEST} bytes")
    head, _, told = data.partition(b"\n")
    try:
        version = _version(head, told.rstrip(b"\n"))
        if version <= VERSION:
            return _from(json_text.kept(told))
    except (ValueError, KeyError, TypeError):
        text = "is torn or was changed: it is not what was written"
        raise DamagedStore(str(path), text) from None
    text = f"of version {version}, by a newer sssjob; this one knows {VERSION}"
    raise OtherStore(str(path), text)


def _version(head: bytes, told: bytes) -> int:
    """The version that a manifest is of. Raises ``ValueError`` and the like where it is torn."""
    first = json_text.kept(head)
    version: int = first["version"]
    if first["kind"] != LEDGER or type(version) is not int:
        raise ValueError("another kind")
    if version <= VERSION and blake2b(told, digest_size=16).hexdigest() != first["digest"]:
        raise ValueError("another digest")
    return version


def _from(told: dict[str, Any]) -> Manifest:
    files = (
        DataFile(*each[:4], *(TimeRange(*span) for span in each[4:7]), *each[7:])
        for each in told["files"]
    )
    return Manifest(
        told["number"], tuple(files), tuple(Gone(*each) for each in told["gone"]),
        tuple(Input(*each) for each in told["inputs"]),
        tuple(RecordedLog(*each) for each in told.get("logs", ())), told["written"], told["why"],
    )  # fmt: skip


def _listed(found: list[int]) -> str:
    return f"{found[0]} to {found[-1]}"
