"""What fuzzing tries for hours is tried for a moment: its examples, and some changes of each.

`make fuzz` goes on from there.
"""

from random import Random

import pytest
from fuzz_targets import CORPUS, TARGETS, mutated, tried

CHANGES = 3  # of each example


@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_are_read_or_refused(name):
    target, chance = TARGETS[name], Random(name)
    examples = [*target.seeds(name)]
    assert examples
    for data in (b"", *examples):
        tried(target.run, data)
        for _ in range(CHANGES):
            tried(target.run, mutated(data, chance))


def test_what_was_kept_belongs_to_a_target():
    kept = {each.name for each in CORPUS.iterdir()}
    assert kept
    assert kept <= TARGETS.keys()
