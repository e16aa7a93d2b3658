"""Each value that sacct prints is read by one small parser."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.records.clock import Clock
from sssjob.systems.slurm import words
from sssjob.systems.slurm.accounting import values
from sssjob.systems.slurm.unset import NO_VALUE
from sssjob.systems.slurm.words import expand, is_range
from sssjob.units import clock


@given(st.integers(0, 10**9))
def test_a_duration_reads_back_as_it_was_printed(seconds):
    assert words.duration(clock(seconds)) == seconds


@given(st.integers(0, 3599), st.integers(0, 999))
def test_minutes_with_milliseconds_are_read_exactly(seconds, milliseconds):
    text = f"{seconds // 60:02}:{seconds % 60:02}.{milliseconds:03}"
    assert words.duration(text) == seconds + Fraction(milliseconds, 1000)


@given(st.integers(0, 10**12), st.integers(0, 99), st.sampled_from(["", *"KMGTPE"]))
def test_a_size_is_its_number_times_its_power_of_1024(whole, hundredths, letter):
    power = 1024 ** ("KMGTPE".find(letter) + 1) if letter else 1
    exact = (whole + Fraction(hundredths, 100)) * power
    assert words.size(f"{whole}.{hundredths:02}{letter}") == exact


@pytest.mark.parametrize("text", ["", "Unknown", "None", "UNLIMITED", "Partition_Limit", "INVALID"])
def test_words_for_no_value_are_no_value(text):
    assert words.duration(text) is None
    assert words.size(text) is None
    assert values.integer(text) is None
    assert values.requested_memory(text) is None
    assert Clock("", NO_VALUE).read(text) is None


@pytest.mark.parametrize(
    ("read", "text"),
    [
        pytest.param(words.duration, "12", id="bare"),
        pytest.param(words.duration, "1:2:3:4", id="four parts"),
        pytest.param(words.size, "12X", id="unknown letter"),
        pytest.param(words.size, "-1", id="negative"),
        pytest.param(values.integer, "1.5", id="fraction"),
        pytest.param(values.integer, "\u0664", id="digit of another script"),
        pytest.param(values.exit_code, "1", id="no signal"),
        pytest.param(values.tres, "cpu", id="no amount"),
        pytest.param(Clock().read, "yesterday", id="no time"),
        pytest.param(Clock().read, "99999999999", id="beyond 32 bits"),
        pytest.param(Clock().read, "1901-01-01T00:00:00Z", id="before 1970"),
    ],
)
def test_what_is_no_value_is_refused(read, text):
    with pytest.raises(InvalidValue):
        read(text)


def test_an_autumn_hour_has_two_readings():
    berlin = Clock("Europe/Berlin")
    assert berlin.read("2026-10-25T02:30:00") == "1792888200"
    assert berlin.read("2026-10-25T02:30:00", fold=1) == "1792891800"
    assert berlin.twice == {"2026-10-25T02:30:00"}
    assert berlin.read("2026-03-29T02:30:00") is not None
    assert len(berlin.twice) == 1


PART = st.one_of(
    st.sampled_from(["n", "rack-", "a.b"]).map(lambda text: (text, [text])),
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=3
    ).map(lambda items: (
        "[" + ",".join(f"{low:0{width}}-{low + more:0{width}}" if more else f"{low:0{width}}"
                       for low, more, width in items) + "]",
        [f"{low + step:0{max(width, len(str(low)))}}"
         for low, more, width in items for step in range(more + 1)],
    )),
)  # fmt: skip
HOST = st.lists(PART, min_size=1, max_size=4).filter(lambda parts: parts[0][0][0] != "[")


@given(st.lists(HOST, min_size=1, max_size=4))
def test_a_node_list_expands_as_a_person_would_expand_it(hosts):
    text = ",".join("".join(part for part, _ in host) for host in hosts)
    expected = ["".join(names) for host in hosts for names in product(*(n for _, n in host))]
    assert expand(text, 10**6) == tuple(expected)


@given(st.lists(HOST, min_size=1, max_size=4), st.integers(0, 50))
def test_an_expansion_keeps_its_bound(hosts, limit):
    text = ",".join("".join(part for part, _ in host) for host in hosts)
    found, whole = expand(text, limit), expand(text, 10**6)
    assert found == (whole if len(whole) <= limit else None)


@pytest.mark.parametrize("text", ["", "n[1-2", "n]1[", "n[2-1]", "n[a]", "n1,,n2", "n1,", "n 1"])
def test_what_is_no_node_list_is_refused(text):
    with pytest.raises(InvalidValue):
        expand(text, 100)


def test_a_huge_range_costs_nothing():
    assert expand("n[1-999999999999999999]", 4096) is None
    assert expand("n[1-4000][1-4000]", 4096) is None


def test_only_one_prefix_with_one_bracket_is_a_range():
    assert is_range("n[01-04,7]")
    assert not any(map(is_range, ["n1", "n[1-2],m1", "r[1-2]c[1-2]", "n[1-2]-ib"]))
