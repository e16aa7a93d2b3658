"""The highest whole number of 64 bits has one name."""

import re
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

import sssjob
from sssjob.integers import LARGEST, SMALLEST, whole

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


@given(st.text(max_size=3) | st.from_regex(r"[0-9]{1,30}", fullmatch=True))
@example("²")
@example("٣")
@example("9" * 5000)
def test_a_whole_number_is_digits_that_every_reader_has(text):
    assert whole(text) == (int(text) if re.fullmatch("[0-9]{1,18}", text) else None)
    assert whole(text, 4) == (int(text) if re.fullmatch("[0-9]{1,4}", text) else None)


# A text that a regular expression has cut, or of bounded length.
READ_OTHERWISE = {
    "systems/condor/hooks/spool.py", "systems/pbs/words.py", "systems/slurm/words.py",
}  # fmt: skip


def test_nobody_reads_a_number_by_what_is_true_of_other_signs_too():
    """``"²".isdigit()`` is true, and ``int("²")`` fails; so does a text of 5000 digits."""
    found = {
        path.relative_to(ROOM).as_posix()
        for path in ROOM.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"\bint\(", line) and re.search(r"\.isd(igit|ecimal)\(", line)
        and not ("len(" in line and "isascii" in line)
    }  # fmt: skip
    assert found == READ_OTHERWISE
