"""Ads in any of their four forms, told apart by how they begin."""

from __future__ import annotations

import io

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, BinaryIO

    from sssjob.classads.errors import OnError
    from sssjob.classads.values import Ad

LONG, NEW, JSON, XML = FORMS = ("long", "new", "json", "xml")

_PEEK = 4096
ENDLESS = 1 << 30  # bytes of a line behind which no line end is looked for any more
BLANKS = 16 << 20  # bytes before the first ad


def read(
    stream: BinaryIO, form: str = "", *, strict: bool = False, on_error: OnError | None = None
) -> Iterator[Ad]:
    """The ads of a stream, one after another.

    Without ``form`` the beginning tells which it is. ``strict`` is what a hook demands of the
    long form. A bad line or ad is raised as ``BadAd``, or handed to ``on_error`` and left out;
    what leaves no way to go on, such as XML that is not well-formed, is handed there too.
    """
    if not form:
        again, form = _sniffed(stream)
        yield from read(again, form, strict=strict, on_error=on_error)
        return
    if form == LONG:
        from sssjob.classads import long

        yield from long.read(_lines(stream, long.LINE_LIMIT), strict=strict, on_error=on_error)
        return
    from sssjob.classads.errors import BadAd
    from sssjob.errors import hand_over

    try:
        if form == NEW:
            from sssjob.classads import new

            yield from new.read(stream, on_error=on_error)
        elif form == JSON:
            from sssjob.classads import as_json

            yield from as_json.read(stream, on_error=on_error)
        else:
            from sssjob.classads import as_xml

            yield from as_xml.read(stream, on_error=on_error)
    except BadAd as error:
        hand_over(error, on_error)


def read_text(text: str, form: str = "", *, strict: bool = False) -> list[Ad]:
    """The ads of a text. Raises ``BadAd``."""
    return list(read(io.BytesIO(text.encode("utf-8", "surrogatepass")), form, strict=strict))


def write(ads: Iterable[Ad], form: str = LONG) -> Iterator[str]:
    """Ads as pieces of text; JSON is an array, XML a document. Raises ``BadAd``."""
    if form == LONG:
        from sssjob.classads import long

        for number, ad in enumerate(ads):
            yield ("\n" if number else "") + long.write(ad)
    elif form == NEW:
        from sssjob.classads import new

        for ad in ads:
            yield new.write(ad) + "\n"
    elif form == JSON:
        from sssjob.classads import as_json

        yield "[\n"
        for number, ad in enumerate(ads):
            yield (",\n" if number else "") + as_json.write(ad, indent=True)
        yield "\n]\n"
    else:
        from sssjob.classads import as_xml

        yield as_xml.HEADER
        for ad in ads:
            yield as_xml.write(ad)
        yield as_xml.FOOTER


def _lines(stream: BinaryIO, limit: int) -> Iterator[bytes]:
    """Lines of a stream; of one that is too long only as much as shows that it is."""
    while line := stream.readline(limit + 2):
        if len(line) > limit + 1 and not line.endswith(b"\n"):
            size = len(line)
            while (rest := stream.readline(limit)) and not rest.endswith(b"\n"):
                size += len(rest)
                _check_end(size, "line end", ENDLESS)
        yield line


def _check_end(size: int, sought: str, limit: int) -> None:
    """Raise ``BadAd`` where so many bytes were read without what is sought, as of ``/dev/zero``."""
    if size >= limit:
        from sssjob.classads.errors import BadAd

        raise BadAd(f"no {sought} in {size >> 20} MiB: these are no ads")


def _sniffed(stream: BinaryIO) -> tuple[BinaryIO, str]:
    """The stream from its beginning again, and what form it has."""
    begin = more = stream.read(_PEEK)
    while more and not more.strip():
        _check_end(len(begin), "ad", BLANKS)
        begin += (more := stream.read(max(_PEEK, len(begin))))
    return io.BufferedReader(_ReplayedStream(begin, stream), 1 << 16), _form(begin)


def _form(begin: bytes) -> str:
    text = begin.lstrip(b"\xef\xbb\xbf \t\r\n")
    first, rest = text[:1], text[1:].lstrip()[:1]
    if first == b"<":
        return XML
    if first == b"{":  # an object of JSON, or a list of new ads
        return NEW if rest == b"[" or text[1:].lstrip().startswith((b"//", b"/*")) else JSON
    if first == b"[":  # an array of JSON, or a new ad
        return JSON if rest in (b"{", b"]") and b"=" not in text[1:2] else NEW
    return NEW if text.startswith((b"//", b"/*")) else LONG


class _ReplayedStream(io.RawIOBase):
    """A stream that begins with what was read of it already."""

    def __init__(self, begin: bytes, stream: BinaryIO) -> None:
        self._begin, self._stream = memoryview(begin), stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        taken: Any = self._begin[: len(buffer)] or self._stream.read(len(buffer))
        self._begin = self._begin[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)
