"""Advice on what is read as a stream: the bytes are kept for it, as long as they are few."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sssjob.document import tree
from sssjob.document.files import CHUNK, Source, opened
from sssjob.document.repair import LIMIT, advise, advise_window, at_its_place
from sssjob.document.repair.source import Source as SourceText
from sssjob.errors import Finding, UnreadableDocument

KEPT_LIMIT = 4 << 20  # bytes of a stream that are kept in case they need advice


class Advisor:
    """Explains why a source cannot be read, where the parser has only its own word.

    ``source`` is to be read in place of the one that was given.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._kept: _BoundedRecordingStream | None = None
        self._is_large = False  # or of a document a line: it is not looked at as a whole
        self._is_told = False
        if not isinstance(source, bytes | str | os.PathLike):
            self._kept = _BoundedRecordingStream(source)
            self.source = io.BufferedReader(self._kept)

    def explain(self, error: UnreadableDocument) -> Iterator[Finding]:
        """Every cause, where advice on the source is possible; else what the parser said.

        A source that is small is looked at as a whole, once. Of any other one, and where each line
        is a document, the bytes about the error are, which it brings along: how far the source was
        read by then makes no difference.
        """
        if error.finding.code != "E-XML":
            yield error.finding
            return
        if self._is_told:
            return
        whole = b"" if self._is_large else self._whole()
        found = list(advise(whole)) if whole else []
        if not found:
            self._is_large = True
            yield from advise_window(error)
            return
        self._is_told = True
        if not any(each.code == error.finding.code for each in found):
            yield error.finding  # what advice did not come to, as in what is nested too deeply
        yield from at_its_place(found, error.finding, SourceText(whole))

    def _whole(self) -> bytes:
        """The source, if it is small and one document or several; nothing if each is a line."""
        source: Source = self.source
        if self._kept is not None:
            if tree.is_lines(_read(self._kept.so_far(), CHUNK)):
                return b""  # the next one may come in an hour
            source = self._kept.all()
        elif isinstance(source, str | os.PathLike) and not Path(source).is_file():
            return b""  # a pipe can be read only once
        data = _read(source, LIMIT + 1)
        return b"" if len(data) > LIMIT or tree.is_lines(data[:CHUNK]) else data


def _read(source: Source, size: int) -> bytes:
    """So many of the first bytes of a source, decompressed; nothing if it is damaged."""
    try:
        with opened(source) as stream:
            return stream.read(size)
    except UnreadableDocument:
        return b""


class _BoundedRecordingStream(io.RawIOBase):
    """A stream that remembers what was read from it, until that is too much."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._data = bytearray()
        self._ahead = io.BytesIO()  # what was read for advice, and not given yet
        self._is_full = False

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        """The file that is read, as far as the stream knows."""
        return self._stream.fileno()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._ahead.read(len(buffer)) or self._more(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def so_far(self) -> bytes:
        """What was read so far; nothing if it was too much."""
        return bytes(self._data)

    def all(self) -> bytes:
        """All of it, read to its end; nothing if it is too much."""
        ahead = [self._ahead.read()]
        while not self._is_full and (chunk := self._more(CHUNK)):
            ahead.append(chunk)
        self._ahead = io.BytesIO(b"".join(ahead))
        return bytes(self._data)

    def _more(self, size: int) -> bytes:
        # What there is, as from any pipe: the next document may come in an hour.
        read = getattr(self._stream, "read1", self._stream.read)
        chunk: bytes = read(size)
        self._is_full = self._is_full or len(self._data) + len(chunk) > KEPT_LIMIT
        if self._is_full:
            self._data.clear()
        else:
            self._data += chunk
        return chunk
