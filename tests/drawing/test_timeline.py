"""The times of a job, and what it used, as pictures in which no text leaves its place."""

import pytest
from lxml import etree

from sssjob.drawing import shares, timeline
from sssjob.drawing.timeline import Moment

SVG = "{http://www.w3.org/2000/svg}"
TIMES = {
    "one moment": [Moment("submitted", 1700000000)],
    "three at once": [Moment(name, 5) for name in ("submitted", "started", "ended")],
    "out of order": [Moment("ended", 10), Moment("submitted", 2000000000), Moment("started", 0)],
    "before 1970": [Moment("submitted", -40_000_000_000), Moment("ended", 40_000_000_000)],
}


@pytest.mark.parametrize("moments", TIMES.values(), ids=TIMES)
def test_every_moment_is_inside_the_picture(moments):
    tree = etree.fromstring(timeline.svg("<times>", moments, ("started", "ended")))
    _, _, width, height = map(float, tree.get("viewBox").split())
    circles = tree.findall(f".//{SVG}circle")
    assert len(circles) == len(moments)
    for each in circles:
        assert 0 <= float(each.get("cx")) <= width
        assert 0 <= float(each.get("cy")) <= height
    assert tree.findtext(f"{SVG}title") == "<times>"


def test_a_bar_is_full_at_most():
    bars = [shares.ShareBar("a<b", part, "1 of 2") for part in (0.0, 0.5, 1.0, 7.5)]
    tree = etree.fromstring(shares.svg("used", bars))
    widths = [float(each.get("width")) for each in tree.findall(f".//{SVG}rect")]
    tracks, filled = widths[::2], widths[1::2]
    assert filled == [0, tracks[0] / 2, tracks[0], tracks[0]]
    assert "750 %, 1 of 2" in [each.text for each in tree.findall(f".//{SVG}text")]
