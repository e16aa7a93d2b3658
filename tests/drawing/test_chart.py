"""Charts: what is drawn where, for a terminal and as SVG, whatever the names and numbers are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob.drawing import stacked
from sssjob.drawing.chart import (
    HEIGHT,
    MARKS,
    MOST,
    WIDTH,
    Area,
    Axis,
    Chart,
    Series,
    svg,
    terminal,
    thinned,
)

SVG = "{http://www.w3.org/2000/svg}"
TIME, COUNT = Axis("time", durations=True), Axis("jobs")


def chart(*series, even=False):
    return Chart("A title", TIME, COUNT, series, even)


def area(lines):
    return [line.partition("│")[2].ljust(WIDTH) for line in lines[1 : HEIGHT + 1]]


def test_points_stand_where_their_values_are():
    drawn = area(terminal(chart(Series("a", ((0, 0), (3600, 10), (3600, 0))))))
    assert drawn[-1][0] == drawn[0][-1] == drawn[-1][-1] == MARKS[0]
    assert "".join(drawn).count(MARKS[0]) == 3


def test_steps_hold_until_the_next_point():
    drawn = area(terminal(chart(Series("a", ((0, 10), (50, 5), (100, 0)), steps=True))))
    assert drawn[0].count(MARKS[0]) == WIDTH // 2
    assert all(any(row[column] == MARKS[0] for row in drawn) for column in range(WIDTH))


def test_series_have_marks_and_names_of_their_own():
    last = terminal(chart(Series("a", ((0, 0),)), Series("b\x1b[2J", ((1, 1),))))[-1]
    assert f"{MARKS[0]} a" in last
    assert f"{MARKS[1]} b␛[2J" in last


def test_axes_are_marked_at_round_values():
    lines = terminal(chart(Series("a", ((9000, 45),))))
    assert [line.split()[0] for line in lines[1:] if line.split("│")[0].strip()][:4] == [
        "40", "20", "0", "└" + "─" * WIDTH,
    ]  # fmt: skip
    assert lines[-2].split() == ["00:00:00", "00:30:00", "01:00:00", "01:30:00", "02:00:00",
                                 "02:30:00"]  # fmt: skip


def test_an_even_chart_has_both_axes_alike_and_a_line_where_values_agree():
    drawn = area(terminal(chart(Series("a", ((10, 5),)), even=True)))
    assert drawn[HEIGHT // 2].strip().endswith(MARKS[0]) or drawn[HEIGHT // 2 - 1].strip()
    assert drawn[0].endswith("·")


def test_an_svg_is_xml_with_a_title_an_axis_and_a_shape_for_each_series():
    text = svg(
        chart(Series("<a> & b\x00\ufffe", ((0, 1), (5, 2))), Series("s", ((0, 1), (9, 0)), True))
    )
    root = etree.fromstring(text)
    assert root.findtext(f"{SVG}title") == "A title"
    (line,) = root.iter(f"{SVG}polyline")
    assert len(line.get("points").split()) == 3  # a step has a corner
    assert len(list(root.iter(f"{SVG}circle"))) == 2 + 2  # points, and a key for each series
    assert any("<a> & b" in (item.text or "") for item in root.iter(f"{SVG}text"))


@pytest.mark.parametrize("axis", [TIME, COUNT])
@given(st.floats(0.001, 1e12), st.integers(1, 8))
def test_ticks_are_few_and_within_the_axis(axis, last, most):
    ticks = axis.ticks(last, most)
    assert ticks[0] == 0
    assert len(ticks) <= most + 1
    assert all(tick <= last for tick in ticks)


NUMBER = st.floats(0, 1e12)
POINTS = st.lists(st.tuples(NUMBER, NUMBER), max_size=30).map(sorted).map(tuple)


@given(st.lists(st.tuples(st.text(), POINTS, st.booleans()), max_size=6), st.booleans())
def test_whatever_is_drawn_fits(series, even):
    drawn = chart(*(Series(*values) for values in series), even=even)
    lines = terminal(drawn)
    assert all(len(row) == WIDTH for row in area(lines))
    assert "\n" not in "".join(lines)
    etree.fromstring(svg(drawn))


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=1, max_size=2000).map(sorted))
def test_thinning_keeps_order_and_both_ends(points):
    kept = thinned(points)
    assert list(kept) == sorted(kept, key=lambda point: point[0])
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert len(kept) <= MOST + 2


def test_columns_stand_on_the_axes_of_a_chart():
    """The same lines and labels, in the same places, as in a picture of two axes."""
    columns = [stacked.StackedColumn("Monday", (3.0,), ("3",))]
    shown = str(stacked.svg("Jobs", ("",), columns, "3.00"))
    area = Area(84, 36, 700, 316)
    assert str(area.axes) in shown
    for y, label in ((36, "3.00"), (106, ""), (176, ""), (246, ""), (316, "0")):
        assert all(str(part) in shown for part in area.level(y, label)), y
    assert str(area.below("392.0", "Monday")) in shown
