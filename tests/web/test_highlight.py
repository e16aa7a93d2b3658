"""A document in colours: the same text, whatever it is, and no mark but ours."""

import re
from html import unescape

import pytest

from sssjob.visible import visible_lines
from sssjob.web.highlight import LONGEST, highlighted

DOCUMENT = """<?xml version="1.0"?>
<!-- a <comment> -->
<Job xmlns='urn:x' a = "1>2"><Id>1 &lt; 2</Id><![CDATA[<b>]]><Note/></Job>
"""
ODD = (
    "<script>alert(1)</script>",
    "<a b=\"</span><script>alert(1)</script>\">",
    "\"><img src=x onerror='alert(1)'>",
    "a\u202eb\x1b",
    "<a b='\u202e'>\x00",
    "<!-- no end <b>",
    "<![CDATA[ no end <b>",
    "<a b='1",
    "<>< ></",
    "",
)  # fmt: skip
MARK = re.compile(r'<span class="(x-[tavc])">(.*?)</span>', re.DOTALL)


def plain(shown):
    """The text of a page, with marks of ours taken away."""
    return unescape(re.sub(r'<span class="x-[tavc]">|</span>', "", str(shown)))


def test_tags_attributes_values_and_comments_are_marked():
    found = [(kind, unescape(text)) for kind, text in MARK.findall(str(highlighted(DOCUMENT)))]
    assert ("x-c", "<!-- a <comment> -->") in found
    assert ("x-c", '<?xml version="1.0"?>') in found
    assert [text for kind, text in found if kind == "x-a"] == ["xmlns", "a"]
    assert [text for kind, text in found if kind == "x-v"] == ["'urn:x'", '"1>2"']
    assert "".join(text for kind, text in found if kind == "x-t") == ("<Job><Id></Id><Note></Job>")


@pytest.mark.parametrize("text", [DOCUMENT, *ODD])
def test_the_text_is_that_of_the_document_and_no_mark_is_of_it(text):
    shown = highlighted(text)
    assert plain(shown) == visible_lines(text)
    rest = re.sub(r'<span class="x-[tavc]">|</span>', "", str(shown))
    assert not set("<>\"'") & set(rest)


def test_a_long_document_is_plain():
    text = "<a/>" * (LONGEST // 4 + 1)
    assert "span" not in highlighted(text)
    assert plain(highlighted(text)) == text


@pytest.mark.parametrize(
    "part", ["<", '<a "', '<a b="', "<!--", "<![CDATA[", "<a ", "b ", '"', "='", "b= ", "b", " "]
)
def test_no_text_takes_long(part):
    # An expression that goes back and forth would take minutes for each of these.
    text = f"<a {part * (LONGEST // (2 * len(part)))}>"
    assert plain(highlighted(text)) == text
