"""A byte order mark before a later document of a source is named, by whoever reads it."""

import pytest

from sssjob import check_source, read
from sssjob.document import cause

SOURCES = [
    "\ufeff<Job><Id>1</Id></Job>\n\ufeff<Job><Id>2</Id></Job>\n<Job><Id>3</Id></Job>",
    "<Job><Id>1</Id></Job>\n\ufeff\n<Job><Id>3</Id></Job>",
    '<Job><Id>1</Id></Job>\n\ufeff<?xml version="1.0"?><Job/>\n<Job><Id>3</Id></Job>',
]


@pytest.mark.parametrize("text", SOURCES, ids=["before a tag", "alone", "before a declaration"])
def test_a_late_byte_order_mark_is_named_and_what_comes_behind_is_read(text):
    errors = []
    found = [block.id for block in read(text.encode(), on_error=errors.append)]
    assert found == ["1", "3"]
    said = [each for each in check_source(text.encode()) if each.severity == "error"]
    for told in (*(error.finding for error in errors), *said):
        assert (told.message, told.line, told.column) == (cause.LATE_MARK, 2, 1)
    assert len(errors) == len(said) == 1
