"""A run that lasted longer than from its start to its end is found in columns of any kind."""

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.records.clock import Clock
from sssjob.records.readers import integer
from sssjob.records.texts import Coded, Plain
from sssjob.records.wall_times import ROUNDED, lasted

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")

BEGUN = 1_700_000_000


def coded(texts):
    values = sorted({*texts})
    return Coded(values, np.array([values.index(each) for each in texts]))


KINDS = {"list": list, "codes": coded, "array": lambda texts: Plain(pa.array(texts))}
runs = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 300), st.integers(-120, 120)),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("of_walls", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("of_times", KINDS.values(), ids=KINDS)
@examples(40)
@given(given=runs, odd=st.sampled_from(["", "12.5", "x"]), at=st.integers(0, 20))
def test_a_wall_time_that_is_longer_is_told_with_the_times(of_times, of_walls, given, odd, at):
    starts = [str(BEGUN + start) for start, *_ in given]
    ends = [str(BEGUN + start + between) for start, between, _ in given]
    walls = [str(max(between + more, 0)) for _, between, more in given]
    if at < len(walls):
        walls[at] = odd
    found = lasted(integer, "Elapsed").longer(
        Clock(), ("JobID", "Elapsed"), [["7"] * len(walls), of_walls(walls)],
        of_times(starts), of_times(ends),
    )  # fmt: skip
    expected = {
        place: (starts[place], ends[place], wall)
        for place, (wall, (_, between, _)) in enumerate(zip(walls, given, strict=True))
        if wall.isdigit() and int(wall) > between + ROUNDED
    }
    assert found == expected
