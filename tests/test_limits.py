"""The page of limits says what the constants say, and each name on it is one."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from sssjob.check.sources import check_source
from sssjob.document import read
from sssjob.errors import UnreadableDocument

PAGE = (Path(__file__).parents[1] / "docs/limits.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([\w.]+)` \|$", PAGE, re.MULTILINE)
UNITS = {"": 1, "s": 1, "Ki": 1 << 10, "Mi": 1 << 20, "KiB": 1 << 10, "MiB": 1 << 20}


def constant(name):
    """What a dotted name below sssjob stands for."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(["sssjob", *parts[:count]]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = found() if isinstance(found, type) else found
            found = getattr(found, part)
        return found
    raise LookupError(name)


def amount(text):
    number, unit = re.fullmatch(r"([\d ]*\d) ?([A-Za-z]*)", text).groups()
    return int(number.replace(" ", "")) * UNITS[unit]


def test_the_page_has_rows():
    assert len(ROWS) > 40


@pytest.mark.parametrize("limit, name", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_row_says_what_the_constant_says(limit, name):
    assert amount(limit) == constant(name)


def test_so_many_levels_of_elements_are_read():
    def nested(levels):
        return ("<Job>" + "<a>" * (levels - 1) + "</a>" * (levels - 1) + "</Job>").encode()

    for levels, is_read in ((256, True), (257, False)):
        codes = [each.code for each in check_source(nested(levels))]
        assert ("E-LIMIT" not in codes) is is_read


def test_no_document_type_is_read():
    with pytest.raises(UnreadableDocument):
        list(read(b"<!DOCTYPE Job [<!ENTITY a 'b'>]><Job>&a;</Job>"))
