"""LDIF: folds, base64, comments, line ends; what is written comes back; noise breaks nothing."""

import base64

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob.errors import LimitExceeded
from sssjob.lcginfo import ldif
from sssjob.lcginfo.ldif import BadLDIF


def read(text):
    remarks = []
    data = text if isinstance(text, bytes) else text.encode()
    return list(ldif.read(data, remarks.append)), [remark.message for remark in remarks]


# fmt: off
SAME = [
    pytest.param("dn: o=grid\no: grid\nx: a b\n\n",             id="plain"),
    pytest.param("dn: o=grid\no: grid\nx: a b",                 id="without an end"),
    pytest.param("dn: o=grid\r\no: grid\r\nx: a b\r\n\r\n",     id="CRLF"),
    pytest.param("\ufeffdn: o=grid\no: grid\nx: a b\n",         id="byte order mark"),
    pytest.param("version: 1\ndn: o=grid\no: grid\nx: a b\n",   id="version"),
    pytest.param("version: 1\n\ndn: o=grid\no: grid\nx: a b\n", id="version and a blank line"),
    pytest.param("\n\n\ndn:o=grid\no:grid\nx:    a b\n\n\n",    id="any blanks behind the colon"),
    pytest.param("dn: o=g\n rid\no: gr\n i\n d\nx: a\n  b\n",   id="folded"),
    pytest.param("dn: o=g\r\n rid\r\no: grid\r\nx: a b\r\n",    id="folded with CRLF"),
    pytest.param("# a\n b\ndn: o=grid\n#x: y\n z\no: grid\nx: a b\n#", id="comments"),
    pytest.param("dn:: bz1ncmlk\no:: Z3JpZA==\nx: a b\n",       id="base64"),
    pytest.param("dn:: bz1n\n cmlk\no: grid\nx:: YSB\n i\n",    id="base64, folded"),
]
# fmt: on


@pytest.mark.parametrize("text", SAME)
def test_one_entry_in_every_form(text):
    (entry,), remarks = read(text)
    assert (entry.dn, entry.attributes) == ("o=grid", (("o", "grid"), ("x", "a b")))
    assert not remarks


def test_the_lines_of_a_name_are_kept_as_they_stand():
    entries, _ = read("dn: o=g\r\n rid\r\no: grid\r\n\r\n# c\ndn:: bz1ncmlk\n\ndn:o=x\n")
    assert [entry.head for entry in entries] == ["dn: o=g\n rid", "dn:: bz1ncmlk", "dn:o=x"]
    assert [entry.line for entry in entries] == [1, 6, 8]


def test_attributes_repeat_in_order_and_are_asked_for_in_any_case():
    (entry,), _ = read("dn: a\nRule: VO:b\nrule: VO:c\nother: d\n")
    assert entry.all("RULE") == ("VO:b", "VO:c")
    assert entry.all("rules") == ()


def test_an_entry_begins_at_a_name_even_if_the_blank_line_is_missing():
    entries, remarks = read("dn: a\nx: 1\ndn: b\nx: 2\n")
    assert [(entry.dn, entry.all("x")) for entry in entries] == [("a", ("1",)), ("b", ("2",))]
    assert not remarks


@pytest.mark.parametrize(
    "line, remark",
    [
        pytest.param("garbage", "'garbage' is not 'attribute: value'", id="no colon"),
        pytest.param("a b: c", "'a b: c' is not 'attribute: value'", id="blank in a name"),
        pytest.param("x:: ???", "x: its value is not base64", id="not base64"),
        pytest.param("x:: YQ", "x: its value is not base64", id="base64 cut off"),
        pytest.param("x:< file:///etc/passwd", "x: a value at a URL is not fetched", id="URL"),
        pytest.param("-", "'-' is not 'attribute: value'", id="of a change record"),
    ],
)
def test_a_line_that_cannot_be_used_is_reported_and_left_out(line, remark):
    (entry,), remarks = read(f"dn: a\n{line}\ny: 1\n")
    assert entry.attributes == (("y", "1"),)
    assert remarks == [remark]


def test_attributes_of_no_entry_are_reported():
    entries, remarks = read("x: 1\n\ndn: a\n\ny: 2\n")
    assert [entry.dn for entry in entries] == ["a"]
    assert remarks == ["x belongs to no entry", "y belongs to no entry"]


@pytest.mark.parametrize("line", ["dn:: ???", "dn:< file:///etc/passwd"])
def test_an_entry_whose_name_cannot_be_read_ends_the_reading(line):
    with pytest.raises(BadLDIF, match="line 2: dn: "):
        read(f"\n{line}\nx: 1\n")


def test_bytes_that_are_no_text_come_out_as_they_went_in():
    raw = b"\xff\xfe\x80"
    data = b"dn: o=" + raw + b"\nx:: " + base64.b64encode(raw) + b"\n"
    (entry,), _ = read(data)
    assert ldif.encoded(entry.head) == b"dn: o=" + raw
    assert ldif.encoded(entry.all("x")[0]) == raw


def test_line_ends_of_other_worlds_are_part_of_a_value():
    (entry,), _ = read("dn: a\nx: 1\x0b2\x852\u20283\x1c4\n")
    assert entry.all("x") == ("1\x0b2\x852\u20283\x1c4",)


def test_a_file_beyond_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(ldif, "SIZE_LIMIT", 10)
    with pytest.raises(LimitExceeded):
        read("dn: a\nx: 123\n")


@given(st.text())
@example(" a")
@example("a ")
@example(":")
@example("<")
@example("")
@example("\x00")
@example("grün")
def test_a_written_value_comes_back(value):
    line = ldif.line("x", value)
    assert line.isascii()
    assert "\n" not in line
    (entry,), remarks = read(f"dn: a\n{line}\n")
    assert entry.all("x") == (value,)
    assert not remarks


@given(st.lists(st.tuples(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.text()), max_size=8))
def test_folding_changes_nothing(pairs):
    pairs = [("x" + name, value) for name, value in pairs]
    lines = ["dn: o=grid", *(ldif.line(name, value) for name, value in pairs)]
    folded = ["\n ".join((line[:7], *line[7:])) for line in lines]
    (plain,), _ = read("\n".join(lines))
    (again,), _ = read("\n".join(folded))
    assert again.attributes == plain.attributes == tuple(pairs)
    assert again.dn == plain.dn


@given(st.binary())
@example(b"dn: a\n \n \n:\n\x00")
def test_noise_gives_entries_or_a_reason(data):
    try:
        entries, _ = read(data)
    except BadLDIF:
        return
    assert all(entry.head.lower().startswith("dn:") for entry in entries)
