"""What the first bytes of a source lead to, before it is known what follows them."""

import pytest

from sssjob.document.guesses import is_lines

JOB = b"<Job><Id>1</Id></Job>"


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(JOB + b"\n" + JOB + b"\n", id="two lines"),
        pytest.param(b"\n \t\n " + JOB + b" \r\n\r\n" + JOB + b"\n", id="blanks around them"),
        pytest.param(JOB + b"\n<Job><Id>&</Job>\n", id="a broken one that ends as it began"),
        pytest.param(JOB + b"\n" + JOB + b"\n<Job>\n", id="a third that goes on"),
        pytest.param(b"<?xml version='1.0'?>" + JOB + b"\n" + JOB + b"\n", id="a declaration"),
    ],
)
def test_two_documents_in_lines_of_their_own_are_lines(head):
    assert is_lines(head) is True


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(JOB + b"\n", id="one line"),
        pytest.param(JOB + b"\n" + JOB, id="a second that has not ended"),
        pytest.param(b"<Job>\n<Id>1</Id>\n</Job>\n", id="a document of several lines"),
        pytest.param(JOB + b"\n<Job>\n<Id>1</Id></Job>\n", id="a second of several lines"),
        pytest.param(JOB + b"\nwords\n", id="a second that is none"),
        pytest.param(JOB + b"\n<Job></JobGroup>\n", id="a second that ends as another"),
        pytest.param(b"words " + JOB + b"\n" + JOB + b"\n", id="words before the first"),
        pytest.param(b"<!DOCTYPE Job>" + JOB + b"\n" + JOB + b"\n", id="a document type"),
    ],
)
def test_any_other_beginning_is_not_lines(head):
    assert is_lines(head) is False
