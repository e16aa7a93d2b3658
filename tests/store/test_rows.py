from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from strategies import documents, mutants

from sssjob import defaults, spec
from sssjob.document import bridge
from sssjob.store import columns
from sssjob.store.columns import COLUMNS, NAMES, PATHS, SEPARATOR, Says
from sssjob.store.rows import number, rows

SSSRMAP = f'xmlns="{spec.NAMESPACE}"'


def facts(text):
    return [dict(zip(NAMES, row, strict=True)) for row in rows(etree.fromstring(text))]


def only(text):
    (row,) = facts(text)
    return row


def test_a_job_has_one_row():
    row = only("<Job><Id>7</Id><User>amy</User><Charge>12.50</Charge></Job>")
    assert (row["kind"], row["place"], row["reading"], row["odd"]) == ("Job", 0, columns.BOTH, 0)
    assert (row["id"], row["user"], row["charge"]) == ("7", "amy", 12.5)
    assert row["state"] is row["requested_memory"] is None


def test_a_group_has_a_row_of_its_own_and_one_for_each_job():
    found = facts("<JobGroup><Id>g</Id><Job><Id>1</Id></Job><Job>2</Job></JobGroup>")
    assert [(row["kind"], row["place"], row["id"]) for row in found] == [
        ("JobGroup", 0, "g"), ("Job", 1, "1"), ("Reference", 2, None),
    ]  # fmt: skip


def test_both_namespaces_give_the_same_row():
    inside = "<Id>7</Id><Requested><Memory units='GB'>2</Memory></Requested>"
    assert rows(etree.fromstring(f"<Job {SSSRMAP}>{inside}</Job>")) == rows(
        etree.fromstring(f"<Job>{inside}</Job>")
    )


def test_amounts_are_kept_as_written_and_in_bytes():
    row = only("<Job><Delivered><Memory units='GB'>1.5</Memory></Delivered></Job>")
    assert (row["delivered_memory"], row["delivered_memory_bytes"]) == (1.5, 1.5 * 2**30)
    assert row["delivered_memory_units"] == "GB"


def test_without_units_the_default_unit_counts():
    assert only("<Job><Memory>2</Memory></Job>")["memory_bytes"] == 2 * 2**20


def test_bounds_are_the_lowest_and_the_highest():
    row = only(
        "<Job><Requested><Processors op='GE'>8</Processors><Processors op='LE'>16</Processors>"
        "</Requested></Job>"
    )
    assert (row["requested_processors"], row["requested_processors_high"]) == (8, 16)
    assert row["odd"] == 0


def test_several_texts_stand_between_separators():
    row = only("<Job><Hold>User</Hold><Hold>System</Hold><Hold/></Job>")
    assert row["hold"] == f"{SEPARATOR}User{SEPARATOR}System{SEPARATOR}{SEPARATOR}"


@pytest.mark.parametrize(
    "inside, path",
    [
        pytest.param("<Charge>soon</Charge>", "Charge", id="no number"),
        pytest.param("<Charge>1</Charge><Charge>2</Charge>", "Charge", id="two for one column"),
        pytest.param(f"<Name>{'x' * 401}</Name>", "Name", id="a text too long for an index"),
        pytest.param(
            "<Requested><Disk>1</Disk><Disk>2</Disk><Disk>3</Disk></Requested>",
            "Requested/Disk",
            id="three numbers",
        ),
        pytest.param("<Delivered><Charge>1</Charge></Delivered>", "Charge", id="a strange place"),
        pytest.param("<Requested><State>Idle</State></Requested>", "State", id="as a request"),
    ],
)
def test_what_a_column_cannot_say_is_admitted(inside, path):
    assert only(f"<Job>{inside}</Job>")["odd"] == columns.bit(path)


@pytest.mark.parametrize(
    "text",
    [
        "<Job><Job><Id>2</Id></Job></Job>",
        "<JobGroup><JobGroup><Job><Id>2</Id></Job></JobGroup></JobGroup>",
        "<JobGroup><Site><Job><Id>2</Id></Job></Site></JobGroup>",
    ],
)
def test_jobs_in_strange_places_make_every_column_doubtful(text):
    assert {row["odd"] for row in facts(text)} == {columns.ALL}


def test_defaults_give_rows_for_what_is_written_and_for_what_holds():
    found = facts(
        "<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults>"
        "<Job><Id>1</Id></Job></JobGroup>"
    )
    assert [(row["reading"], row["place"], row["user"]) for row in found] == [
        (columns.WRITTEN, 0, None), (columns.WRITTEN, 1, None),
        (columns.EFFECTIVE, 0, None), (columns.EFFECTIVE, 1, "amy"),
    ]  # fmt: skip


def test_an_older_name_is_the_present_one_in_the_reading_that_holds():
    written, effective = facts("<Job><JobId>7</JobId><wallclockLimit>60</wallclockLimit></Job>")
    assert (written["id"], written["requested_duration"]) == (None, None)
    assert (effective["id"], effective["requested_duration"]) == ("7", 60)


@given(st.one_of(st.text("0123456789.+-eE \n", max_size=24), st.floats().map(repr), st.text()))
def test_numbers_are_those_of_libxml2(text):
    try:
        expected = etree.XPath("number($text)")(etree.Element("x"), text=text)
    except ValueError:  # no text of XML
        return
    assert number(text) == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


def block_roots(kind):
    return kind.filter(lambda root: etree.QName(root).localname in ("Job", "JobGroup"))


@given(block_roots(st.one_of(documents(), mutants())))
def test_columns_say_what_libxml2_finds(root):
    jobs = [root, *(item for item in root.iter() if item.tag in columns_tags and item is not root)]
    written = [row for row in rows(root) if row[NAMES.index("reading")] != columns.EFFECTIVE]
    assert_rows(written, jobs)


@given(block_roots(st.one_of(documents(), mutants())))
def test_columns_of_what_holds_say_what_libxml2_finds_in_the_resolved_document(root):
    effective = [row for row in rows(root) if row[NAMES.index("reading")] != columns.WRITTEN]
    resolved = bridge.to_tree(defaults.resolve(bridge.from_tree(root)).block)
    jobs = [
        resolved,
        *(job for job in resolved.iter() if job.tag in columns_tags and job is not resolved),
    ]
    assert_rows(effective, jobs)


columns_tags = ("Job", f"{{{spec.NAMESPACE}}}Job")


def assert_rows(found, jobs):
    if found[0][NAMES.index("odd")] == columns.ALL:
        return
    assert len(found) == len(jobs)
    for row, job in zip(found, jobs, strict=True):
        assert_row(dict(zip(NAMES, row, strict=True)), job)


def assert_row(row, job):
    for column in COLUMNS:
        if column.says is Says.OWN or row["odd"] & columns.bit(column.path):
            continue
        texts = job.xpath(in_both(column.path), namespaces={"s": spec.NAMESPACE})
        texts = [item if isinstance(item, str) else item.xpath("string()") for item in texts]
        value = row[column.name]
        if column.says is Says.COUNT:
            assert value == len(texts)
        elif column.says is Says.TEXT:
            joined = "".join(f"{SEPARATOR}{text}" for text in texts) + SEPARATOR
            assert value == (joined if len(texts) > 1 else texts[0] if texts else None)
        elif column.says is Says.LOW:
            assert value == (min(map(libxml2, texts)) if texts else None)
        elif column.says is Says.HIGH:
            assert value == (max(map(libxml2, texts)) if len(texts) > 1 else None)


def libxml2(text):
    return etree.XPath("number($text)")(etree.Element("x"), text=text)


def in_both(path):
    steps = (
        step if step[0] == "@" else f"*[self::{step} or self::s:{step}]" for step in path.split("/")
    )
    return "/".join(steps)


def test_every_path_is_distinct():
    assert all(one != other for one, other in pairwise(sorted(PATHS)))
