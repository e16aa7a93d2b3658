"""Where the bytes at hand end: inside of a document, which may go on, or behind one."""

import io

import pytest

from sssjob.document.cutting import DocumentCutter
from sssjob.errors import UnreadableDocument


def is_open(data):
    """Whether the bytes end inside of a document, of which some may be none."""
    cutter = DocumentCutter(io.BytesIO(data))
    try:
        for _ in cutter.cuts():
            pass
    except UnreadableDocument:
        pass
    return cutter.is_open


@pytest.mark.parametrize("before", [b"", b"<Job/>\n"])
@pytest.mark.parametrize(
    "line, may_go_on",
    [
        (b"<Job", True),
        (b"<Job a='>", True),
        (b'<Job a=">', True),
        (b"<Job a='>'", True),
        (b"<Job><Id", True),
        (b"</Job", True),
        (b"<", True),
        (b"<?x", True),
        (b"<!-- x", True),
        (b"nothing", True),
        (b"nothing>", False),
        (b"nothing>\n", False),
        (b"nothing\n", False),
        (b"<1 a='>'>", False),
        (b"< Job>", False),
        (b"</Job>", False),
        (b"</Job a='>", True),
        (b"</Job a='>'>", False),
        (b"<!DOCTYPE", False),
        (b"<Job/>", False),
    ],
)
def test_a_line_that_is_no_document_may_go_on_only_where_its_tag_has_not_ended(
    line, may_go_on, before
):
    assert is_open(before + line) is may_go_on
