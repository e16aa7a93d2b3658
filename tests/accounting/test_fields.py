"""The page of all fields says what the mappings do, and leaves out no field."""

from pathlib import Path

import pytest

from sssjob.accounting.fields import described, listed, page

PAGE = Path(__file__).parents[2] / "docs" / "record-fields.md"
LAYOUTS = {row.name: layout for row, layout in listed()}
every_format = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def test_the_page_is_made_from_the_mappings():
    assert PAGE.read_text() == page(), "run: make tables"


def test_all_formats_of_vendors_are_on_it():
    assert {"slurm", "slurm-json", "slurm-jobcomp", "pbs", "sge", "lsf", "condor", "flux", "apel",
            "blah", "swf", "ur", "car"} == LAYOUTS.keys()  # fmt: skip


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
