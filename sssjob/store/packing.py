"""Documents compressed one by one, with a dictionary trained on documents of the same store.

Jobs of one site say the same names and words again and again. What they share stands in the
dictionary, so that each document alone becomes about six times smaller and can still be read
without any other. Every document carries a checksum.

A dictionary is never taken away, even when no document needs it any more: another process may
be about to write with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import zstandard

from sssjob.store import schema
from sssjob.store.engine import Engine, Row

DICTIONARY_SIZE = 32 << 10  # bytes; more gains little and costs time with every document
LEVEL, SMALL_LEVEL = 3, 12  # of zstd: for documents that come, and for all of them at leisure
NO_DICTIONARY = 0
_FORMAT = zstandard.FORMAT_ZSTD1_MAGICLESS  # four bytes less; the column says what it is
_FEWEST = 100  # documents from which there is something to learn
_MOST = 4 << 20  # bytes that are learnt from
_SAMPLE = 5000  # documents that a dictionary is trained on
_BATCH = 1000  # documents of one transaction


class NotUnpacked(ValueError):
    """Bytes that are not what was packed."""


class Packed(NamedTuple):
    """A document of so many bytes that was compressed, and the number of its dictionary."""

    dictionary: int
    data: bytes
    size: int


Content = bytes | Packed  # of a document


class Packing:
    """Packs with the current dictionary, and unpacks with the one that a document was packed with.

    ``fetch`` gives the bytes of a dictionary by its number, None if there is none.
    """

    def __init__(self, current: int, fetch: Callable[[int], bytes | None]) -> None:
        self.current = current
        self._fetch = fetch
        self._compressors: dict[tuple[int, int], zstandard.ZstdCompressor] = {}
        self._decompressors: dict[int, zstandard.ZstdDecompressor] = {}
        self._fetched: dict[int, bytes] = {}

    @property
    def newest(self) -> tuple[int, bytes] | None:
        """The current dictionary with its number, for somebody who has no store."""
        return next(iter(self.dictionaries([self.current]).items()), None)

    def packed(self, content: Content) -> Packed:
        """A document compressed, with the current dictionary unless it was before."""
        if isinstance(content, Packed):
            return content
        return Packed(self.current, self.pack(content), len(content))

    def document(self, content: Content) -> bytes:
        """A document as it was read."""
        if isinstance(content, Packed):
            return self.unpack(content.dictionary, content.data)
        return content

    def pack(self, document: bytes) -> bytes:
        """A document compressed with the current dictionary."""
        return self._compressor(LEVEL).compress(document)

    def pack_small(self, document: bytes) -> bytes:
        """The same a quarter smaller, in five times the time."""
        return self._compressor(SMALL_LEVEL).compress(document)

    def _compressor(self, level: int) -> zstandard.ZstdCompressor:
        key = level, self.current
        if key not in self._compressors:
            dictionary = self._dictionary(self.current)
            if dictionary is not None:
                dictionary.precompute_compress(level=level)
            parameters = zstandard.ZstdCompressionParameters.from_level(
                level, format=_FORMAT, write_checksum=True, write_dict_id=False
            )
            self._compressors[key] = zstandard.ZstdCompressor(
                dict_data=dictionary, compression_params=parameters
            )
        return self._compressors[key]

    def unpack(self, dictionary: int, packed: bytes) -> bytes:
        """The document. Raises ``NotUnpacked`` when the bytes or the dictionary are damaged."""
        try:
            if dictionary not in self._decompressors:
                self._decompressors[dictionary] = zstandard.ZstdDecompressor(
                    dict_data=self._dictionary(dictionary), format=_FORMAT
                )
            return self._decompressors[dictionary].decompress(packed)
        except zstandard.ZstdError as error:
            raise NotUnpacked(str(error)) from error

    def dictionaries(self, numbers: Collection[int]) -> dict[int, bytes]:
        """Those of these dictionaries that there are, for somebody who has no store."""
        for number in numbers:
            if number != NO_DICTIONARY and number not in self._fetched:
                data = self._fetch(number)
                if data is not None:
                    self._fetched[number] = data
        return {number: self._fetched[number] for number in numbers if number in self._fetched}

    def _dictionary(self, number: int) -> zstandard.ZstdCompressionDict | None:
        if number == NO_DICTIONARY:
            return None
        data = self._fetch(number)
        if data is None:
            raise NotUnpacked(f"its dictionary, number {number}, is missing")
        return zstandard.ZstdCompressionDict(data)


def train(documents: Sequence[bytes]) -> bytes | None:
    """A dictionary for documents like these, or None if they are too few to learn from."""
    samples: list[bytes | bytearray | memoryview] = []
    size = 0
    for document in documents:
        samples.append(document)
        size += len(document)
        if size > _MOST:
            break
    if len(samples) < _FEWEST:
        return None
    try:
        return zstandard.train_dictionary(DICTIONARY_SIZE, samples).as_bytes()
    except zstandard.ZstdError:  # "Src size is incorrect": too little in them to fill it
        return None


def packing_of(engine: Engine) -> Packing:
    """What packs with the newest dictionary of a store, and unpacks with all of them."""

    def fetch(number: int) -> bytes | None:
        found = engine.fetch("SELECT data FROM dictionary WHERE number = ?", (number,))
        return bytes(found[0][0]) if found else None

    [(newest,)] = engine.fetch("SELECT max(number) FROM dictionary")
    return Packing(newest or NO_DICTIONARY, fetch)


def learn(engine: Engine, packing_: Packing, documents: Sequence[bytes]) -> None:
    """Train a dictionary on documents and pack with it from now on, if there is enough to learn."""
    data = train(documents)
    if data is not None:
        with engine.transaction():
            [number] = engine.numbers(schema.DICTIONARY, 1)
            engine.add(schema.DICTIONARY, [(number, data)])
        packing_.current = number


def sample(engine: Engine, packing_: Packing, count: int) -> Iterator[bytes]:
    """Documents from all over a store of so many; damaged ones are left out."""
    step = max(1, count // _SAMPLE)
    statement = "SELECT dictionary, data FROM document WHERE number % ? = 0"
    for dictionary, data in islice(engine.stream(statement, (step,)), _SAMPLE):
        try:
            yield packing_.unpack(dictionary, bytes(data))
        except NotUnpacked:
            continue


def repack(engine: Engine, packing_: Packing, on_progress: Callable[[int], None] | None) -> None:
    """Pack every version of every document anew, with the current dictionary and with patience."""
    done = 0
    for table, key in ((schema.DOCUMENT, "number"), (schema.FORMER, "document")):
        select = (
            f"SELECT {key}, version, dictionary, data FROM {table.name} "
            f"WHERE ({key}, version) > (?, ?) ORDER BY {key}, version LIMIT {_BATCH}"
        )
        # A version that somebody makes meanwhile is another one, and stays as it is.
        update = (
            f"UPDATE {table.name} SET dictionary = ?, data = ? "
            f"WHERE {key} = ? AND version = ? AND dictionary = ?"
        )
        last: tuple[int, int] = (0, 0)
        while batch := engine.fetch(select, last):
            with engine.transaction():
                engine.many(update, list(_repacked(packing_, batch)))
            last = batch[-1][0], batch[-1][1]
            done += len(batch)
            if on_progress is not None:
                on_progress(done)


def _repacked(packing_: Packing, batch: Sequence[Row]) -> Iterator[Row]:
    """What becomes smaller, as the update has it; what is damaged stays for whoever mends it."""
    for number, version, dictionary, data in batch:
        try:
            packed = packing_.pack_small(packing_.unpack(dictionary, bytes(data)))
        except NotUnpacked:
            continue
        if len(packed) < len(data):
            yield packing_.current, packed, number, version, dictionary
