"""Of documents of any shape no job object is lost, added or changed, however they are cut."""

from io import BytesIO
from random import Random
from unittest import mock

import pytest
from big_documents import around, documents, outermost, seen
from lxml import etree

from sssjob.document import cutting, from_tree, guesses, read, tree
from sssjob.document.batches import APART
from sssjob.document.slices import slices
from sssjob.document.splice import rewrite

APART_TAG = etree.fromstring(APART.before + APART.after).tag
HUGE = etree.XMLParser(huge_tree=True)


def cases(count, first=0):
    """Sources, and in which parts they are read."""
    for seed in range(first, first + count):
        random = Random(seed)
        texts = documents(seed, random.choice((300, 2000, 6000)))
        yield texts, random.choice((30, 200, 1000, 1 << 18)), random.choice((7, 100, 1 << 18))


def compare(texts, size, chunk):
    """All views of a source with what libxml2 finds in the whole of each document of it."""
    units = [unit for text in texts for unit in outermost(text)]
    data = "".join(texts).encode()
    expected = [(seen(unit), around(unit)) for unit in units]
    with mock.patch.object(guesses, "SIZE", size), mock.patch.object(cutting, "_READ", chunk):
        assert [
            (seen(each.element), around(each.element, apart=APART_TAG))
            for each in tree.located(BytesIO(data))
        ] == expected
        assert [seen(etree.fromstring(each.document, HUGE)) for each in slices(BytesIO(data))] == [
            each for each, _ in expected
        ]
        assert list(read(BytesIO(data))) == [from_tree(unit) for unit in units]
        assert b"".join(rewrite(data, lambda block: block)) == data
    return len(units)


@pytest.mark.parametrize("texts, size, chunk", list(cases(40)), ids=range(40))
def test_every_job_object_is_read_as_libxml2_reads_the_whole(texts, size, chunk):
    assert compare(texts, size, chunk)
