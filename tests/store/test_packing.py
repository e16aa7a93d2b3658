"""Documents are unpacked with the dictionary that they were packed with, by whoever has it."""

import pytest
import zstandard

from sssjob.store.packing import NO_DICTIONARY, NotUnpacked, Packing

SAMPLES = [f"<Job><Id>{n}</Id><State>Idle</State></Job>".encode() for n in range(2000)]
KNOWN = {3: zstandard.train_dictionary(2000, SAMPLES).as_bytes()}


def test_somebody_without_a_store_is_given_the_dictionaries_that_there_are():
    asked = []

    def fetch(number):
        asked.append(number)
        return KNOWN.get(number)

    packing = Packing(NO_DICTIONARY, fetch)
    for _ in range(2):
        assert packing.dictionaries({3, 7, NO_DICTIONARY}) == KNOWN
    assert asked.count(3) == 1
    assert NO_DICTIONARY not in asked


@pytest.mark.parametrize("number", [NO_DICTIONARY, 3])
def test_what_was_packed_is_unpacked_with_its_dictionary_alone(number):
    packed = Packing(number, KNOWN.get).packed(SAMPLES[7])
    assert (packed.dictionary, packed.size) == (number, len(SAMPLES[7]))
    assert Packing(NO_DICTIONARY, KNOWN.get).unpack(number, packed.data) == SAMPLES[7]
    elsewhere = Packing(NO_DICTIONARY, {}.get)
    if number == NO_DICTIONARY:
        assert elsewhere.unpack(number, packed.data) == SAMPLES[7]
    else:
        with pytest.raises(NotUnpacked, match="its dictionary, number 3, is missing"):
            elsewhere.unpack(number, packed.data)
    with pytest.raises(NotUnpacked):
        Packing(NO_DICTIONARY, KNOWN.get).unpack(number, packed.data[:-5])
