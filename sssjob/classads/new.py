"""The new form: ``[ a = 1; b = "x" ]``, one after another or in a list."""

from __future__ import annotations

from sssjob.classads.chunks import NEW, pieces
from sssjob.classads.errors import BadAd
from sssjob.classads.parser import plain
from sssjob.classads.values import Ad
from sssjob.classads.writing import NEW as SYNTAX
from sssjob.classads.writing import attribute, name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from sssjob.classads.long import OnError


def read(stream: BinaryIO, *, on_error: OnError | None = None) -> Iterator[Ad]:
    """The ads of a stream. A bad one is raised as ``BadAd``, or handed to ``on_error``."""
    for text, line in pieces(stream, NEW, "["):
        try:
            found = plain(text)
        except BadAd as error:
            fault = BadAd(error.reason, line)
            if on_error is None:
                raise fault from None
            on_error(fault)
            continue
        assert isinstance(found, Ad)
        found.line = line
        yield found


def write(ad: Ad, *, indent: bool = False) -> str:
    """An ad in one line, or an attribute a line."""
    parts = [f"{name(word)} = {attribute(value, SYNTAX)}" for word, value in ad.items()]
    if indent and parts:
        return "[\n" + "".join(f"  {part};\n" for part in parts) + "]"
    return f"[ {'; '.join(parts)} ]"
