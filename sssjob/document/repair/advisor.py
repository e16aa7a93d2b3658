"""Advice on what is read as a stream: the bytes are kept for it, as long as they are few."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from sssjob.document import tree
from sssjob.document.files import CHUNK, Source, opened
from sssjob.document.repair import LIMIT, advise
from sssjob.errors import Finding, UnreadableDocument

KEPT_LIMIT = 4 << 20  # bytes of a stream that are kept in case they need advice


class Advisor:
    """Explains why a source cannot be read, where the parser has only its own word.

    ``source`` is to be read in place of the one that was given.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._kept: _Kept | None = None
        self._lines: list[bytes] | None = None
        self._told = False
        if not isinstance(source, bytes | str | os.PathLike):
            self._kept = _Kept(source)
            self.source = io.BufferedReader(self._kept)

    def explain(self, error: UnreadableDocument) -> Iterator[Finding]:
        """Every cause, where advice on the source is possible; else what the parser said.

        Where each line is a document, the error's line is looked at, else all of it, once.
        """
        if error.finding.code != "E-XML":
            yield error.finding
            return
        if self._told:
            return
        found: list[Finding] = []
        data = self._read()
        if tree.is_lines(data[:CHUNK]):
            self._lines = self._lines or data.split(b"\n")
            before = error.finding.line - 1
            if 0 <= before < len(self._lines):
                found = [
                    replace(each, line=each.line + before) for each in advise(self._lines[before])
                ]
        elif 0 < len(data) <= LIMIT:
            found = list(advise(data))
            self._told = bool(found)
        if not any(each.code == error.finding.code for each in found):
            yield error.finding  # what advice did not come to, as in what is nested too deeply
        yield from found

    def _read(self) -> bytes:
        """The source from its beginning; nothing if that is gone."""
        source: Source = self.source
        if self._kept is not None:
            source = self._kept.all()
        elif isinstance(source, str | os.PathLike) and not Path(source).is_file():
            return b""  # a pipe can be read only once
        try:
            with opened(source) as stream:
                return stream.read(LIMIT + 1)
        except UnreadableDocument:
            return b""


class _Kept(io.RawIOBase):
    """A stream that remembers what was read from it, until that is too much."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._data = bytearray()
        self._is_full = False

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        """The file that is read, as far as the stream knows."""
        return self._stream.fileno()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        # What there is, as from any pipe: the next document may come in an hour.
        read = getattr(self._stream, "read1", self._stream.read)
        chunk = read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._is_full = self._is_full or len(self._data) + len(chunk) > KEPT_LIMIT
        if self._is_full:
            self._data.clear()
        else:
            self._data += chunk
        return len(chunk)

    def all(self) -> bytes:
        """What was read so far; nothing if it was too much."""
        return bytes(self._data)
