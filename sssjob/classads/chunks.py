"""Text from a stream, cut into the bracketed pieces that one ad each is: memory stays small."""

from __future__ import annotations

import codecs
import re

from sssjob.classads.errors import BadAd
from sssjob.errors import hand_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from sssjob.classads.errors import OnError
    from sssjob.classads.values import Ad

CHUNK = 1 << 16
AD_LIMIT = 16 << 20  # characters of one ad

# fmt: off
# What matters for finding the end of an ad: strings and comments hide the brackets in them.
# The last group is the beginning of one whose end is not there.
NEW = re.compile(
    r"""("(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/|[][{}])|(["']|//|/\*)""",
    re.DOTALL)
JSON = re.compile(r'("(?:[^"\\]|\\.)*+"|[][{}])|(")', re.DOTALL)
# fmt: on
_CLOSERS = {"[": "]", "{": "}"}
_LIST = {"[": "{}", "{": "[]"}  # what may stand around the ads


def ads(
    stream: BinaryIO, words: re.Pattern[str], opener: str, parse: Callable[[str, int], Ad],
    on_error: OnError | None,
) -> Iterator[Ad]:  # fmt: skip
    """The ads of the pieces of a stream. A bad one is raised, or handed to ``on_error``."""
    for text, line in pieces(stream, words, opener, on_error):
        try:
            found = parse(text, line)
        except BadAd as error:
            hand_over(BadAd(error.reason, line), on_error)
            continue
        found.line = line
        yield found


def pieces(
    stream: BinaryIO, words: re.Pattern[str], opener: str, on_error: OnError | None = None
) -> Iterator[tuple[str, int]]:
    """Each text from an ``opener`` to its closer, with the line it begins in.

    The list around the ads, commas and comments between them are passed over. ``BadAd`` is
    raised, or handed to ``on_error``, for anything else, after which the next ad is read. It is
    raised for an ad that is too large, and for an end in the middle of one.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text, final = "", False
    at = depth = 0  # where to go on, and how many brackets are open; the ad begins at 0 then
    line = 1
    while True:
        word = words.search(text, at)
        if word is None or word[2]:
            if final:
                break
            # As much again as is pending, so that what is long is not looked at too often.
            octets = stream.read(max(CHUNK, len(text)))
            final = not octets
            text += decoder.decode(octets, final)
            if len(text) > 2 * AD_LIMIT:
                raise BadAd(f"an ad of more than {AD_LIMIT} characters", line)
            continue
        sign, end = word[0], word.end()
        if not depth:
            line = _passed(text[at : word.start()], line, on_error)
            if sign == opener:
                depth, text, at = 1, text[word.start() :], 1
                continue
            if sign not in _LIST[opener] and sign[0] != "/":
                hand_over(BadAd(f"{sign[:40]} stands where an ad is expected", line), on_error)
            line += sign.count("\n")
            text, at = text[end:], 0
            continue
        at = end
        depth += 1 if sign in _CLOSERS else -1 if sign in ("]", "}") else 0
        if not depth:
            if sign != _CLOSERS[opener]:
                hand_over(BadAd(f"{sign!r} closes what {opener!r} opened", line), on_error)
            else:
                yield text[:end], line
            line += text.count("\n", 0, end)
            text, at = text[end:], 0
    if depth:
        raise BadAd("the end in the middle of an ad", line)
    _passed(text[at:], line, on_error)


def _passed(between: str, line: int, on_error: OnError | None) -> int:
    """The line behind what stands between two ads, which should be next to nothing."""
    rest = between.replace(",", " ").replace(";", " ").strip("\ufeff \t\r\n\f\v")
    if rest:
        shown = rest if len(rest) <= 40 else rest[:37] + "..."
        hand_over(BadAd(f"{shown!r} stands where an ad is expected", line), on_error)
    return line + between.count("\n")
