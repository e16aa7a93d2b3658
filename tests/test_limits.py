"""The page of limits says what the constants say, and each name on it is one."""

import io
import re
from importlib import import_module
from pathlib import Path

import pytest

from sssjob import records
from sssjob.check.sources import check_source
from sssjob.classads.errors import BadAd
from sssjob.classads.forms import read as read_ads
from sssjob.classads.parser import expression
from sssjob.document import read
from sssjob.errors import UnreadableDocument
from sssjob.query import compile
from sssjob.records.record import Bad, Noted, Skipped

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


def converted(format, text):
    """How many jobs are made of records."""
    found = records.jobs(format, io.BytesIO(text.encode()))
    return sum(not isinstance(each, Bad | Skipped | Noted) for each in found)


@pytest.mark.parametrize("size, is_read", [(1 << 19, True), (3 << 20, False)])
def test_a_line_of_records_is_bound(size, is_read):
    line = f"11/21/2026 10:00:00;E;1.s;user=amy jobname={'x' * size} start=1 end=2 Exit_status=0\n"
    assert converted("pbs", line) == is_read


def test_a_line_of_sacct_is_as_long_as_it_is():
    assert converted("slurm", f"JobID|State|User|JobName\n1|COMPLETED|amy|{'x' * (3 << 20)}\n") == 1


@pytest.mark.parametrize("count, is_read", [(100_000, True), (100_001, False)])
def test_attributes_of_an_ad_are_bound_for_commands_of_condor(count, is_read):
    ad = b"".join(b"a%d = 1\n" % number for number in range(count))
    bad = []
    found = list(read_ads(io.BytesIO(ad), on_error=bad.append))
    assert len(bad) == (not is_read)
    assert [len(each) for each in found] == [100_000]


@pytest.mark.parametrize("size, is_read", [((1 << 20) - 2, True), (1 << 20, False)])
def test_characters_of_an_expression_are_bound(size, is_read):
    text = f'"{"x" * size}"'
    if is_read:
        expression(text)
    else:
        with pytest.raises(BadAd):
            expression(text)


DOCUMENT = b"<Job><Id>1</Id></Job>"


def test_bits_are_bound_in_what_an_expression_gives_and_not_on_the_way():
    squares = "fold-left(1 to 15, 3, function($a, $b) { $a * $a })"
    assert [each.text for each in compile(f"{squares} > 5", version="3.1").run(DOCUMENT)] == [
        "true"
    ]
    with pytest.raises(UnreadableDocument, match="bits of a number"):
        list(compile(squares, version="3.1").run(DOCUMENT))
