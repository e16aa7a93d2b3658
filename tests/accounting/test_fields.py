"""The page of all fields says what the mappings do, and leaves out no field."""

from pathlib import Path

import pytest

from sssjob import registry
from sssjob.accounting.fields import described, listed, page

PAGE = Path(__file__).parents[2] / "docs" / "record-fields.md"
LAYOUTS = {row.name: layout for row, layout in listed()}
WITHOUT = {
    "sss": "its elements are those of the standard",
    "lrmsinfo": "its keys are on the page lcginfo.md",
}
every_format = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def test_the_page_is_made_from_the_mappings():
    assert PAGE.read_text() == page(), "run: make tables"


def test_every_format_is_on_it_or_says_why_not():
    missing = registry.formats().keys() - LAYOUTS.keys() - WITHOUT.keys()
    assert not missing, f"no known= in the LAYOUT of {missing}, and no reason in WITHOUT"
    assert not WITHOUT.keys() & LAYOUTS.keys()


@every_format
def test_a_field_is_kept_or_it_is_said_why_not(layout):
    for column, places in described(layout).items():
        assert bool(places) != (column in layout.known.not_kept), column
    assert layout.known.not_kept.keys() <= set(layout.known.columns)


@every_format
def test_every_column_of_a_mapping_is_listed(layout):
    known = layout.known
    told = {*known.columns, *known.worked_out}
    rows = list(layout.rows(known.columns))
    columns = {name for row in rows for name in (row.column, *row.beside)}
    assert {name for name in columns if not name.startswith("(")} <= told
    assert {source for of in known.worked_out.values() for source in of} <= told
    assert known.also.keys() <= {row.column for row in rows}
