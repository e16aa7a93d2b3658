"""Text to exact values and back."""
# ruff: noqa: E501 (a row of a table is a line)

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob import units
from sssjob.errors import InvalidValue

# fmt: off
READ = [
    pytest.param(units.integer,  " +16\n",                16,                  id="an integer"),
    pytest.param(units.number,   "1.89",                  Fraction(189, 100),  id="a decimal"),
    pytest.param(units.number,   "-.5e-3",                Fraction(-1, 2000),  id="an exponent"),
    pytest.param(units.number,   "4.",                    Fraction(4),         id="a point at the end"),
    pytest.param(units.boolean,  " True ",                True,                id="the prose's True"),
    pytest.param(units.boolean,  "0",                     False,               id="a digit"),
    pytest.param(units.duration, "1-02:24:13",            95053,               id="days"),
    pytest.param(units.duration, "00:01:00",              60,                  id="a clock"),
    pytest.param(units.duration, "0",                     0,                   id="no time"),
    pytest.param(units.time,     "0",                     0,                   id="the epoch"),
    pytest.param(units.time,     "1970-01-01T00:00:00Z",  0,                   id="the epoch by name"),
    pytest.param(units.time,     "2003-04-28T19:21:53Z",  1051557713,          id="a time with a zone"),
    pytest.param(units.time,     "2003-04-28T21:21:53+02:00", 1051557713,      id="another zone"),
    pytest.param(units.unit,     "GiB",                   "GB",                id="a binary unit"),
    pytest.param(units.unit,     "k",                     "KB",                id="a letter"),
    pytest.param(units.unit,     "DB",                    "DB",                id="Doggabytes"),
]
REFUSED = [
    *[pytest.param(read, text, id=f"{read.__name__} {text!r}")
      for read in (units.integer, units.number, units.duration, units.time)
      for text in ("", " ", "1,024", "0x10", "1_000", "١٢", "NaN", "INF", "1 2", "\u00a01", "9" * 5000)],
    pytest.param(units.integer,  "1.5",                   id="an integer with a fraction"),
    pytest.param(units.number,   "1e9999",                id="an endless exponent"),
    pytest.param(units.boolean,  "TRUE",                  id="a loud Boolean"),
    pytest.param(units.duration, "-1",                    id="less than no time"),
    pytest.param(units.duration, "00:61:00",              id="61 minutes"),
    pytest.param(units.time,     "-1",                    id="before the epoch"),
    pytest.param(units.time,     "1969-12-31T00:00:00Z",  id="before the epoch by name"),
    pytest.param(units.time,     "2003-04-28T19:21:53",   id="no zone"),
    pytest.param(units.unit,     "parsec",                id="no unit"),
    pytest.param(units.unit,     "",                      id="an empty unit"),
]
# fmt: on


@pytest.mark.parametrize("read, text, value", READ)
def test_a_text_is_read_exactly(read, text, value):
    assert read(text) == value


@pytest.mark.parametrize("read, text", REFUSED)
def test_what_is_no_value_is_refused_with_what_is_expected(read, text):
    with pytest.raises(InvalidValue) as failure:
        read(text)
    assert failure.value.expected
    assert len(str(failure.value)) < 200


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12
    )
)
def test_a_decimal_comes_back_from_the_shortest_text(value):
    exact = Fraction(value)
    text = units.decimal(exact)
    assert units.number(text) == exact
    assert len(text) <= len(str(value))


SPELLED = st.sampled_from(
    [spelled(form) for unit in units.UNITS if len(unit) == 2 and unit not in ("NB", "DB")
     for form in (unit, unit[0], f"{unit[0]}iB") for spelled in (str.upper, str.lower)]
)  # fmt: skip


@given(
    st.from_regex(r"[+-]?[0-9]{1,4}(\.[0-9]{0,3})?(e[0-9])?", fullmatch=True),
    st.sampled_from(["", " ", "\n\t "]), SPELLED,
)  # fmt: skip
def test_a_number_and_its_unit_are_told_apart_however_they_are_written(number, space, unit):
    assert units.with_unit(f"{space}{number}{space}{unit}{space}") == (number, unit)
    assert units.with_unit(number) is None


@pytest.mark.parametrize(
    "text",
    ["", "GB", "2 GB 3", "2 G B", "lots GB", "2\u00a0GB", "0x2 GB", "2 GB/s", "2e3", "1:00 B"],
)
def test_what_is_no_number_with_a_unit_is_none(text):
    assert units.with_unit(text) is None


@given(st.integers(0, 2**120))
def test_bytes_come_back_from_the_largest_whole_unit(size):
    assert units.bytes_of(*units.in_units(size)) == size


def test_units_are_powers_of_1024_as_in_the_example():
    assert units.bytes_of("1.89", "GB") == Fraction(50734301184, 25)
    assert list(units.UNITS.values()) == [1 << 10 * step for step in range(11)]


@given(st.integers(0, 253_402_300_799))
def test_a_time_is_read_back_from_what_people_read(seconds):
    assert units.time(units.iso(seconds)) == seconds


@given(st.integers(0, 10**9))
def test_a_duration_is_read_back_from_what_people_read(seconds):
    assert units.duration(units.clock(seconds)) == seconds


@pytest.mark.parametrize("seconds, with_days, hours_go_on, few_digits", [
    (245, "00:04:05", "00:04:05", "0:04:05"),
    (86_399, "23:59:59", "23:59:59", "23:59:59"),
    (86_400, "1-00:00:00", "24:00:00", "24:00:00"),
    (360_000, "4-04:00:00", "100:00:00", "100:00:00"),
])  # fmt: skip
def test_a_clock_has_days_or_hours_that_go_on(seconds, with_days, hours_go_on, few_digits):
    assert units.clock(seconds) == with_days
    assert units.clock(seconds, days=False) == hours_go_on
    assert units.clock(seconds, days=False, digits=1) == few_digits


@pytest.mark.parametrize("start, end, suspended, seconds", [
    (100, 160, 0, 60), (100, 160, 20, 40), (100, 160, 60, 0), (100, 100, 0, 0),
    (100, 160, 61, None), (160, 100, 0, None),
])  # fmt: skip
def test_a_job_ran_from_its_start_to_its_end_but_for_what_it_was_suspended(
    start, end, suspended, seconds
):
    assert units.seconds_between(start, end, suspended) == seconds


def test_a_time_that_no_calendar_has_is_shown_as_its_number():
    assert units.iso(10**12) == "1000000000000"


def test_the_epoch_is_shown_as_a_time():
    assert units.iso(0) == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("size, expected", [
    (0, ("0", "B")), (1023, ("1023", "B")), (1024, ("1", "KB")), (3 << 10, ("3", "KB")), (1025, ("1025", "B")),
    (512, ("512", "B")), (256, ("256", "B")), (1 << 19, ("512", "KB")), (-2048, ("-2", "KB")),
    (Fraction(1, 2), ("0.5", "B")), (5 << 100, ("5", "DB")), (1 << 120, ("1048576", "DB")),
])  # fmt: skip
def test_bytes_are_shown_in_the_largest_unit_of_which_they_are_whole(size, expected):
    assert units.in_units(Fraction(size)) == expected


def test_a_number_is_plain_where_it_is_whole():
    shown = [repr(units.plain(Fraction(value))) for value in ("2", "-3", "0", "1/2")]
    assert shown == ["2", "-3", "0", "Fraction(1, 2)"]


def test_a_number_is_a_float_only_where_it_is_not_whole():
    shown = [repr(units.approximate(Fraction(value))) for value in ("2", "-3", "1/2", "1/3")]
    assert shown == ["2", "-3", "0.5", "0.3333333333333333"]


@pytest.mark.parametrize("value, is_bounded", [
    (Decimal(f"1E-{units.DIGITS}"), True), (Decimal(f"1E-{units.DIGITS + 1}"), False),
    (Decimal(f"9E{units.DIGITS - 1}"), True), (Decimal(f"1E{units.DIGITS}"), False), (Decimal("NaN"), False),
    (Fraction(10**units.DIGITS - 1), True), (Fraction(10**units.DIGITS), False),
    (Fraction(1 - 10**units.DIGITS), True), (Fraction(-(10**units.DIGITS)), False),
    (Fraction(1, 10**units.DIGITS), True), (Fraction(1, 10**units.DIGITS + 1), False),
])  # fmt: skip
def test_a_number_is_bounded_by_as_many_digits_as_one_that_is_read(value, is_bounded):
    assert units.is_bounded(value) is is_bounded


@pytest.mark.parametrize("value, text", [
    ("1/8", "0.125"), ("1/5", "0.2"), ("1/25", "0.04"), ("7/40", "0.175"), ("1/1000", "0.001"), ("-1/4", "-0.25"),
    ("1/10", "0.1"), ("3/80", "0.0375"), ("1/3", "0.33333333333333333"), ("200/3", "66.66666666666666667"),
    ("1/11", "0.09090909090909091"), ("1/128", "0.0078125"), ("1/3125", "0.00032"), ("12", "12"),
])  # fmt: skip
def test_a_decimal_has_as_few_digits_as_say_it(value, text):
    assert units.decimal(Fraction(value)) == text


@pytest.mark.parametrize("power", range(5))
def test_a_size_is_told_in_few_digits_and_never_as_a_power_of_ten(power):
    for number in (1, 1.5, 999, 999.4, 999.6, 1000, 1023):
        told = units.size(int(number * 1024**power))
        assert "e" not in told, told
        amount, unit = told.split()
        assert len(amount) <= 4
        assert float(amount) * units.UNITS[unit] == pytest.approx(
            int(number * 1024**power), rel=0.01
        )


BEYOND = 10**400
NO_DOUBLE = [Fraction(BEYOND), BEYOND, BEYOND + Fraction(1, 2), Fraction(BEYOND, 3)]


@pytest.mark.parametrize("number", NO_DOUBLE)
def test_what_no_double_can_hold_is_infinite_as_a_double_and_whole_in_json(number):
    assert (units.double(number), units.double(-number)) == (float("inf"), float("-inf"))
    assert units.approximate(Fraction(number)) == int(number)


@given(st.fractions() | st.integers(-(10**300), 10**300))
def test_a_double_is_the_nearest_to_a_number(number):
    assert units.double(number) == float(number)


@pytest.mark.parametrize("number, said", [
    (0, "0 B"), (1023, "1023 B"), (1024, "1 KB"), (999 << 10, "999 KB"), (Fraction(9995, 10) * 1024, "1000 KB"),
    (Fraction(9994, 10) * 1024, "999 KB"), (1023 << 10, "1023 KB"), (1 << 20, "1 MB"), (3 << 29, "1.5 GB"),
    (1 << 40, "1 TB"), (Fraction(3, 2), "1 B"), (5 << 50, "5120 TB"),
])  # fmt: skip
def test_a_size_is_in_the_largest_unit_that_it_fills(number, said):
    assert units.size(number) == said


def test_nothing_has_no_double():
    assert units.double_or_none(None) is None
    assert units.double_or_none(Fraction(1, 2)) == 0.5


@given(st.integers(0, 40), st.integers(0, 40), st.integers(-(10**9), 10**9))
@example(20, 0, 1)
@example(0, 20, 3)
@example(30, 3, -7)
def test_a_decimal_has_as_many_places_as_its_fraction_needs(twos, fives, number):
    exact = Fraction(number, 2**twos * 5**fives)
    text = units.decimal(exact)
    assert Fraction(text) == exact
    assert "." not in text or text[-1] != "0"


@given(st.fractions().filter(lambda value: set(factors(value.denominator)) - {2, 5}))
def test_what_no_decimal_is_has_the_nearest_of_seventeen_places(value):
    assert abs(Fraction(units.decimal(value)) - value) <= Fraction(1, 2 * 10**17)


def factors(number):
    each = 2
    while number > 1 and each < 1000:
        while number % each == 0:
            yield each
            number //= each
        each += 1
    if number > 1:
        yield number


@pytest.mark.parametrize(
    "number, written",
    [
        pytest.param(0, "0b", id="none"),
        pytest.param(1023, "1023b", id="less than a unit"),
        pytest.param(1024, "1kb", id="one unit"),
        pytest.param(1025, "1025b", id="one unit and a byte"),
        pytest.param(3 << 20, "3mb", id="three of the largest unit"),
        pytest.param((1 << 20) + 512, "1049088b", id="half a unit more than the largest"),
        pytest.param(1 << 50, "1073741824mb", id="more than the largest unit is"),
    ],
)
def test_bytes_are_written_in_the_largest_unit_that_keeps_them_whole(number, written):
    assert units.in_largest(number, ("b", "kb", "mb")) == written
