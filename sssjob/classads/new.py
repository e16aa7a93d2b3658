"""The new form: ``[ a = 1; b = "x" ]``, one after another or in a list."""

from __future__ import annotations

from sssjob.classads.chunks import NEW, ads
from sssjob.classads.parser import plain
from sssjob.classads.values import Ad
from sssjob.classads.writing import NEW as SYNTAX
from sssjob.classads.writing import attribute, name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from sssjob.classads.errors import OnError


def read(stream: BinaryIO, *, on_error: OnError | None = None) -> Iterator[Ad]:
    """The ads of a stream. A bad one is raised as ``BadAd``, or handed to ``on_error``."""
    yield from ads(stream, NEW, "[", _ad, on_error)


def write(ad: Ad, *, indent: bool = False) -> str:
    """An ad in one line, or an attribute a line."""
    parts = [f"{name(word)} = {attribute(value, SYNTAX)}" for word, value in ad.items()]
    if indent and parts:
        return "[\n" + "".join(f"  {part};\n" for part in parts) + "]"
    return f"[ {'; '.join(parts)} ]"


def _ad(text: str, line: int) -> Ad:
    found = plain(text)
    assert isinstance(found, Ad)
    return found
