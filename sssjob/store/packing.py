"""Documents compressed one by one, with a dictionary trained on documents of the same store.

Jobs of one site say the same names and words again and again. What they share stands in the
dictionary, so that each document alone becomes about six times smaller and can still be read
without any other. Every document carries a checksum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import zstandard

DICTIONARY_SIZE = 32 << 10  # bytes; more gains little and costs time with every document
LEVEL, SMALL_LEVEL = 3, 12  # of zstd: for documents that come, and for all of them at leisure
NO_DICTIONARY = 0
_FORMAT = zstandard.FORMAT_ZSTD1_MAGICLESS  # four bytes less; the column says what it is
_FEWEST = 100  # documents from which there is something to learn
_MOST = 4 << 20  # bytes that are learnt from


class NotUnpacked(ValueError):
    """Bytes that are not what was packed."""


class Packing:
    """Packs with the current dictionary, and unpacks with the one that a document was packed with.

    ``fetch`` gives the bytes of a dictionary by its number, None if there is none.
    """

    def __init__(self, current: int, fetch: Callable[[int], bytes | None]) -> None:
        self.current = current
        self._fetch = fetch
        self._compressors: dict[tuple[int, int], zstandard.ZstdCompressor] = {}
        self._decompressors: dict[int, zstandard.ZstdDecompressor] = {}

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
