"""Every command gives all job objects of documents of any shape, as libxml2 reads them.

`tests/long/any_shape.py` tries many more, and large ones.
"""

import pytest
from shape_commands import PACKINGS, compare, sources


@pytest.mark.parametrize("texts, packing", list(sources(10)), ids=range(10))
def test_every_command_gives_what_libxml2_finds(texts, packing, tmp_path):
    assert compare(texts, packing, tmp_path)


@pytest.mark.parametrize("seed", [11])
def test_so_it_does_with_what_is_read_in_many_parts(seed, tmp_path):
    ((texts, packing),) = sources(1, seed)
    assert sum(map(len, texts)) > 700_000
    assert compare(texts, packing, tmp_path)


def test_all_ways_to_pack_are_tried():
    assert {packing for _, packing in sources(10)} == set(PACKINGS)
