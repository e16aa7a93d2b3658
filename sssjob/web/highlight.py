"""A document as a page shows it: tags, attributes, values and comments told apart by colour.

The colours are classes of the style sheet, and the text between the marks is the text of the
document, so that what is copied is what is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import markupsafe

from sssjob.visible import visible_lines

LONGEST = 1 << 16  # characters that are coloured: marks are many times as long as short tags
# No value of a well-formed document has "<" in it, so each match ends before the next tag: text
# that is not well-formed takes no longer. What is opened and not closed goes to the end.
_TOKEN = re.compile(
    r"""(?P<comment><!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z))"""
    r"""|(?P<data><!\[CDATA\[.*?(?:\]\]>|\Z))"""
    r"""|(?P<open></?[^\s<>/"'=!?]+)(?P<rest>(?:[^<>"']|"[^<"]*"|'[^<']*')*)(?P<close>>)""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""(?:^|(?<=[\s"'/]))([^\s="'/]+)(\s*=\s*)("[^"]*"|'[^']*')""")
_MARK = markupsafe.Markup('<span class="{}">{}</span>')


def highlighted(text: str) -> markupsafe.Markup:
    """The text with its marks; a long one plain."""
    if len(text) > LONGEST:
        return plain(text)
    return markupsafe.Markup("").join(_pieces(text))


def _pieces(text: str) -> Iterator[markupsafe.Markup]:
    end = 0
    for found in _TOKEN.finditer(text):
        yield plain(text[end : found.start()])
        end = found.end()
        if found["comment"] is not None:
            yield _marked("x-c", found["comment"])
        elif found["data"] is not None:
            yield plain(found["data"])
        else:
            yield _marked("x-t", found["open"])
            yield from _attributes(found["rest"])
            yield _marked("x-t", found["close"])
    yield plain(text[end:])


def _attributes(text: str) -> Iterator[markupsafe.Markup]:
    end = 0
    for found in _ATTRIBUTE.finditer(text):
        yield plain(text[end : found.start()])
        yield _marked("x-a", found[1])
        yield plain(found[2])
        yield _marked("x-v", found[3])
        end = found.end()
    yield plain(text[end:])


def _marked(kind: str, text: str) -> markupsafe.Markup:
    return _MARK.format(kind, plain(text))


def plain(text: str) -> markupsafe.Markup:
    """A text of several lines, which stay."""
    return markupsafe.escape(visible_lines(text))
