"""The highest whole number of 64 bits has one name."""

import re
from pathlib import Path

import sssjob
from sssjob.integers import LARGEST, SMALLEST

ROOM = Path(sssjob.__file__).parent
WRITTEN_OUT = re.compile(r"(2\*\*63|\(1 << 63\)) - 1|9_?223_?372_?036_?854_?775_?807")
MASK = "store/columns.py"  # every bit of a mask


def test_a_number_of_64_bits_has_a_sign():
    assert (LARGEST.bit_length(), SMALLEST) == (63, -LARGEST - 1)


def test_nobody_writes_it_out():
    found = {
        path.relative_to(ROOM).as_posix()
        for path in ROOM.rglob("*.py")
        if WRITTEN_OUT.search(path.read_text("utf-8"))
    }
    assert found == {"integers.py", MASK}
