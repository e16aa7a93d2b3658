"""Opening what a caller names: a path, bytes, or a stream; compressed or not."""

from __future__ import annotations

import errno
import io
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from os import PathLike
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar, cast

from sssjob.database_files import DATABASE_HEAD, MAGIC, database, first_bytes, is_open
from sssjob.document import file_kinds
from sssjob.errors import InvalidValue, UnreadableDocument, WrongKind, finding, shown
from sssjob.units import XML_SPACE

Source = str | PathLike[str] | bytes | BinaryIO
G = TypeVar("G")

CHUNK = 1 << 16

_GZIP, _BZIP2, _XZ, _ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
COMPRESSED = _GZIP, _BZIP2, _XZ, _ZSTD  # how compressed files begin
_LONGEST_MAGIC = max(map(len, COMPRESSED))
_MOST_MEMORY = 1 << 27  # bytes that a compressed file may ask for
_DAMAGED = (EOFError, lzma.LZMAError)


class ByteRange(NamedTuple):
    """Bytes of a regular file, for another process to read: which file it is, and where in it."""

    path: str
    device: int
    inode: int
    start: int = 0
    size: int = 0

    @property
    def whole(self) -> int:
        """How many bytes the file has; 0 where it cannot be looked at any more."""
        try:
            return os.stat(self.path).st_size
        except OSError:
            return 0

    def read(self) -> bytes:
        """The bytes. Raises ``OSError`` where the file is no longer what it was."""
        with open(self.path, "rb", buffering=0) as stream:
            now = os.fstat(stream.fileno())
            data = os.pread(stream.fileno(), self.size, self.start)
        if (now.st_dev, now.st_ino, len(data)) != (self.device, self.inode, self.size):
            raise OSError(errno.ESTALE, "the file changed while it was read", self.path)
        return data


def span(path: Source, stream: BinaryIO) -> ByteRange | None:
    """The regular file that was opened by its path and is read as it is; None for all else."""
    if not (isinstance(path, (str, PathLike)) and isinstance(stream, io.BufferedReader)):
        return None
    try:
        found = os.fstat(stream.fileno())
    except OSError:  # what is read is made, of something compressed
        return None
    is_file = stat.S_ISREG(found.st_mode)
    return ByteRange(os.path.abspath(path), found.st_dev, found.st_ino) if is_file else None


# Said only of one without such files: of others these are opened.
_DIRECTORY = (
    "this is a directory: name a file in it; commands that read directories take the job objects "
    "in files that are named *.xml or *.sss, and records of batch systems"
)


def raw(source: Source, *, buffering: int = -1) -> AbstractContextManager[BinaryIO]:
    """The bytes of a source, as they are; a stream that the caller opened stays open.

    Of a store that this process has open these are its first ones, which tell what it is.
    """
    source = source_of(source)
    if isinstance(source, bytes):
        return io.BytesIO(source)
    if isinstance(source, (str, PathLike)):
        if is_open(source):
            return io.BytesIO(first_bytes(source))
        try:
            return open(source, "rb", buffering)
        except IsADirectoryError as error:
            raise IsADirectoryError(error.errno, _DIRECTORY, error.filename) from None
    return nullcontext(source)


def source_of(given: object) -> Source:
    """What a program gives as a source. Raises ``InvalidValue`` for what is none.

    Other things have a ``read``, too, that gives no bytes: a stream of text, a class of ours.
    """
    if isinstance(given, bytearray | memoryview):
        return bytes(given)
    if isinstance(given, str | PathLike):
        return _path(given)
    if isinstance(given, bytes):
        return given
    if isinstance(given, type) or not (hasattr(given, "readinto") or hasattr(given, "peek")):
        raise WrongKind(shown(given), "a document: bytes, a path, or a binary stream")
    return cast(BinaryIO, given)


def _path(given: str | PathLike[Any]) -> str | PathLike[Any]:
    """A path, if there can be a file of that name. Raises ``InvalidValue``."""
    try:
        name = os.fsencode(given)
    except UnicodeEncodeError as error:
        raise InvalidValue(repr(given), "the name of a file") from error
    if b"\0" in name:
        raise InvalidValue(repr(given), "the name of a file")
    return given


def of_text(given: G) -> G | bytes:
    """What a text is that a program gives: a document, if it begins with ``<``, or else a path."""
    if isinstance(given, str) and given.lstrip("\ufeff" + XML_SPACE)[:1] in ("<", ""):
        return given.encode(errors="surrogatepass")  # which is refused where it stands
    return given


@contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """The bytes of a source as a stream; gzip, bzip2, xz and zstd are recognised and decompressed.

    A stream that the caller opened stays open. Damage raises ``UnreadableDocument``, and so does a
    store, of which others than its readers would take the pages for text.
    """
    with ExitStack() as stack:
        given = stack.enter_context(raw(source))
        buffered = given if hasattr(given, "peek") else io.BufferedReader(cast(io.RawIOBase, given))
        if buffered is not given:
            # Closing the reader would close the caller's stream with it.
            stack.callback(cast(io.BufferedReader, buffered).detach)
        head = buffered.peek(file_kinds.HEAD)
        if head and any(each.startswith(head) and each != head for each in (*COMPRESSED, MAGIC)):
            head, buffered = looked_at(buffered, len(MAGIC))  # a pipe that gives little at a time
        if database(head) and len(head) < DATABASE_HEAD:
            head, buffered = looked_at(buffered, DATABASE_HEAD)
        if (error := file_kinds.wrong(head)) is not None:
            raise error
        magic = head[:_LONGEST_MAGIC]
        try:
            stream = _decompressed(buffered, magic)
            if stream is not buffered:
                _check_begin(_begin(stream))
            yield stream
        except _DAMAGED as damage:
            text = f"the compressed data {_fault(damage)}"
            raise UnreadableDocument(finding("E-XML", text)) from damage


def _fault(error: Exception) -> str:
    """What is wrong with compressed data, whichever library says so."""
    if isinstance(error, EOFError):
        return "ends before its end"
    if "memory" in str(error).lower():
        return f"asks for more than {_MOST_MEMORY >> 20} MiB of memory"
    return "is damaged"


def _begin(stream: BinaryIO) -> bytes:
    """How a stream begins that was made to decompress another one, which is not read on."""
    return cast(io.BufferedReader, stream).peek(file_kinds.HEAD)


def _check_begin(head: bytes) -> None:
    """Refuse what was compressed, if it is nothing that is read, or was compressed before."""
    if head.startswith(COMPRESSED):
        # Whoever opens the stream of who opened this file would decompress it, others would not.
        raise UnreadableDocument(finding("E-XML", "this is compressed twice: decompress it once"))
    if (error := file_kinds.wrong(head)) is not None:
        raise error


def looked_at(stream: BinaryIO, size: int) -> tuple[bytes, BinaryIO]:
    """Up to so many bytes, fewer only at the end, and the stream from its beginning again."""
    pieces, found = [], 0
    while found < size and (piece := stream.read(size - found)):  # a pipe gives piece by piece
        pieces.append(piece)
        found += len(piece)
    head = b"".join(pieces)
    return head, cast(BinaryIO, io.BufferedReader(_ChainedStream(head, stream), 1 << 16))


def is_compressed(path: str | PathLike[str]) -> bool:
    """Whether a file holds gzip, bzip2, xz or zstd. Raises ``OSError``."""
    return first_bytes(path, _LONGEST_MAGIC).startswith(COMPRESSED)


class _ChainedStream(io.RawIOBase):
    """Bytes, and then those of a stream, which stays open."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = memoryview(head)
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            found = self._head[: len(buffer)]
            self._head = self._head[len(found) :]
        else:
            found = memoryview(self._stream.read(len(buffer)))
        buffer[: len(found)] = found
        return len(found)


def _decompressed(stream: BinaryIO, magic: bytes) -> BinaryIO:
    if magic.startswith(_GZIP):
        return io.BufferedReader(_Frames(stream, _Gzip, zlib.error), CHUNK)
    if magic.startswith(_BZIP2):
        return io.BufferedReader(_Frames(stream, _Bzip2, OSError))
    if magic.startswith(_XZ):
        return io.BufferedReader(_Frames(stream, _xz, lzma.LZMAError))
    if magic.startswith(_ZSTD):
        import zstandard  # compressed input is rare, starting is not

        frames = zstandard.ZstdDecompressor(max_window_size=_MOST_MEMORY)
        return io.BufferedReader(_Frames(stream, frames.decompressobj, zstandard.ZstdError))
    return stream


def _xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)


class _FrameDecompressor(Protocol):
    """What lzma and zstandard decompress one frame with."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _KnownFrame:
    """One frame, as a library decompresses it, which says where it ends."""

    _frame: Any

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data)


class _Gzip(_KnownFrame):
    """One member of gzip in pieces, as ``zlib`` reads it: the module ``gzip`` looks at what pads it
    byte by byte."""

    SLICE = io.DEFAULT_BUFFER_SIZE

    def __init__(self) -> None:
        self._frame = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def needs_input(self) -> bool:
        return not self._frame.unconsumed_tail

    def decompress(self, data: bytes, /) -> bytes:
        return bytes(self._frame.decompress(self._frame.unconsumed_tail + data, CHUNK))


class _Bzip2(_KnownFrame):
    """One frame of bzip2 in pieces: 40 bytes of it can stand for 45 MiB."""

    _PIECE = 1 << 16

    def __init__(self) -> None:
        import bz2

        self._frame = bz2.BZ2Decompressor()

    @property
    def needs_input(self) -> bool:
        return bool(self._frame.needs_input)

    def decompress(self, data: bytes, /) -> bytes:
        return bytes(self._frame.decompress(data, self._PIECE))


class _Frames(io.RawIOBase):
    """Frames one after the other; a missing end and what is no frame are noticed.

    The readers of the libraries take the one or the other for the end of the data.
    """

    # One compressed byte can stand for 32 KiB: short slices keep what a bomb can make small.
    _SLICE = 512

    def __init__(
        self, stream: BinaryIO, frame: Callable[[], _FrameDecompressor], error: type[Exception]
    ) -> None:
        self._stream = stream
        self._new_frame = frame
        self._error = error
        self._frame = frame()
        self._slice: int = getattr(self._frame, "SLICE", self._SLICE)
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            ended = self._frame.eof
            more = ended or getattr(self._frame, "needs_input", True)
            compressed = self._frame.unused_data if ended else self._read() if more else b""
            if ended:
                # gzip and xz allow padding, and no frame of any format begins with NUL.
                while not (compressed := compressed.lstrip(b"\0")):
                    if not (compressed := self._read()):
                        return 0
                self._frame = self._new_frame()
            elif more and not compressed:
                raise EOFError
            try:
                self._ready = memoryview(self._frame.decompress(compressed))
            except self._error as error:
                raise lzma.LZMAError(str(error)) from error
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _read(self) -> bytes:
        return self._stream.read(self._slice)
