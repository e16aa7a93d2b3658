"""Texts against types, vocabularies and units."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ODD

from sssjob import spec
from sssjob.check.values import (
    check_amount,
    check_attribute,
    check_text,
    check_words,
    plain,
    unknown_values,
)

TYPES = [spec.STRING, spec.INTEGER, spec.FLOAT, spec.BOOLEAN, spec.DATETIME, spec.DURATION]
PLACES = [
    (name, category, row)
    for category in ("", spec.REQUESTED, spec.DELIVERED)
    for name in sorted(spec.names())
    for row in spec.attributes(name, category).values()
]


@given(st.sampled_from(TYPES), ODD)
def test_what_is_plain_is_right(type_, text):
    assert not plain(type_)(text) or list(check_text(type_, text)) == []


@given(st.sampled_from(PLACES), ODD)
def test_what_is_plain_in_an_attribute_is_right(place, text):
    name, category, row = place
    looks_right = plain(row.type, row, name, category)(text)
    assert not looks_right or list(check_attribute(row, text, name, category)) == []


# fmt: off
FAULTS = [
    pytest.param(spec.INTEGER,  "1,024", ["E-TYPE"], "write 1024",                id="a separator"),
    pytest.param(spec.FLOAT,    "2 GB",  ["E-TYPE"], 'write 2 with units="GB"',   id="a unit in the text"),
    pytest.param(spec.FLOAT,    "2gib",  ["E-TYPE"], 'write 2 with units="GB"',   id="a unit as people write it"),
    pytest.param(spec.FLOAT,    "2 XB",  ["E-TYPE"], "",                          id="no unit in the text"),
    pytest.param(spec.FLOAT,    "fast",  ["E-TYPE"], "",                          id="no number"),
    pytest.param(spec.BOOLEAN,  "False", ["W-TYPE"], "write false",               id="the prose's False"),
    pytest.param(spec.DURATION, "1:00:00", ["W-TYPE"], "write 3600",              id="a clock"),
    pytest.param(spec.DATETIME, "2100-01-01T00:00:00Z", ["W-TYPE"], "write 4102444800", id="a date"),
    pytest.param(spec.DATETIME, "4294967296", ["W-RANGE"], "",                    id="more than 32 bits"),
    pytest.param(spec.STRING,   "\u00a0", [], None,                               id="any text"),
    pytest.param(spec.DATETIME, "4294967295", [], None,                           id="the last of 32 bits"),
    pytest.param(spec.DURATION, "4294967296", [], None,                           id="a long duration"),
    pytest.param(spec.DURATION, " +5\n", [], None,                                id="seconds with a sign"),
    pytest.param(spec.DURATION, "-0", [], None,                                   id="no seconds"),
    pytest.param(spec.BOOLEAN,  " true ", [], None,                               id="space around a Boolean"),
    pytest.param(spec.BOOLEAN,  "0", ["W-TYPE"], "write false",                   id="a digit as a Boolean"),
    pytest.param(spec.BOOLEAN,  "1,0", ["E-TYPE"], "",                            id="no Boolean with a separator"),
    pytest.param(spec.INTEGER,  "1_000", ["E-TYPE"], "write 1000",                id="another separator"),
    pytest.param(spec.INTEGER,  "1,02x", ["E-TYPE"], "",                          id="a separator in no number"),
    pytest.param(spec.INTEGER,  "2 GB", ["E-TYPE"], "",                           id="a unit where none can stand"),
    pytest.param(spec.FLOAT,    "1,024", ["E-TYPE"], "write 1024",                id="a separator in an amount"),
    pytest.param(spec.FLOAT,    "1,024.5", ["E-TYPE"], "",                        id="a separator and a point"),
    pytest.param(spec.FLOAT,    "1,\u0662", ["E-TYPE"], "",                       id="digits of another script"),
    pytest.param(spec.DURATION, "1,024", ["E-TYPE"], "write 1024",                id="a separator in a duration"),
    pytest.param(spec.DATETIME, "1,024", ["E-TYPE"], "",                          id="a separator in a time"),
]
# fmt: on


@pytest.mark.parametrize("type_, text, codes, advice", FAULTS)
def test_a_fault_comes_with_advice(type_, text, codes, advice):
    found = list(check_text(type_, text))
    assert [code for code, _, _ in found] == codes
    assert [suggestion for _, _, suggestion in found] == [advice] * len(codes)


def test_each_unknown_word_of_a_list_is_told():
    found = list(check_words("redirectList", "Keep, Marge,close", ("Keep", "Close", "Merge")))
    advice = [suggestion for _, _, suggestion in found]
    assert advice == ["did you mean Merge?", "did you mean Close?"]
    assert list(check_words("redirectList", " ", ("Keep",))) == []


@pytest.mark.parametrize("text, below", [
    ("0", False), ("-0", False), ("3", False), ("-1", True), (" -0.5 ", True), ("x", False),
])  # fmt: skip
def test_an_amount_below_zero_is_told(text, below):
    said = [("W-RANGE", f"{text.strip()!r} is below zero", "")]
    assert list(check_amount(text)) == (said if below else [])


LONG = "x" * 61
UNITS = "which is B, KB, MB, GB, TB, PB, EB, ZB, YB, NB, DB"
USED, MAY_BE = "is of resources in use, not of", "is of resources that may be used, not of"
RATE = ("W-RANGE", "%r is no fraction between 0 and 1", "is it a percentage?")
GROWS = ("W-USELESS", "only what is requested may grow or shrink", "")
OPS = "which is EQ, NE, LT, GT, LE, GE, Match"
# An element, its category, the attribute with its value, what is said, and what is not understood.
SAID = [
    ("Memory", "", "units", "GB", [], []),
    ("Memory", "", "units", " GB", [("W-TYPE", "' GB' is read as GB", 'write units="GB"')], []),
    ("Memory", "", "units", "furlong",
     [("E-UNKNOWN", f"'furlong' is not a value of units, {UNITS}", "")], ["furlong"]),
    ("Memory", "", "units", LONG[:60],
     [("E-UNKNOWN", f"{LONG[:60]!r} is not a value of units, {UNITS}", "")], [LONG[:60]]),
    ("Memory", "", "units", LONG,
     [("E-UNKNOWN", f"'{LONG[:57]}...' is not a value of units, {UNITS}", "")], [LONG]),
    ("Charge", "", "units", "furlong", [], []),
    (None, spec.REQUESTED, "op", "GE", [], []),
    (None, spec.REQUESTED, "op", " GE ", [("W-TYPE", "' GE ' is read as GE", 'write op="GE"')], []),
    (None, spec.REQUESTED, "op", "ge",
     [("E-UNKNOWN", f"'ge' is not a value of op, {OPS}", "did you mean GE?")], ["ge"]),
    (None, spec.REQUESTED, "op", " zzzz",
     [("E-UNKNOWN", f"'zzzz' is not a value of op, {OPS}", "")], ["zzzz"]),
    (None, "", "context", "Used", [], []),
    (None, "", "context", "Available", [], []),
    (None, spec.REQUESTED, "context", "Dedicated", [], []),
    (None, spec.DELIVERED, "context", "Dedicated", [], []),
    (None, spec.DELIVERED, "context", "Used", [], []),
    (None, spec.REQUESTED, "context", "Used", [("W-USELESS", f"Used {USED} requested ones", "")], []),
    (None, spec.REQUESTED, "context", " Used",
     [("W-TYPE", "' Used' is read as Used", 'write context="Used"'),
      ("W-USELESS", f"Used {USED} requested ones", "")], []),
    (None, spec.DELIVERED, "context", "Available",
     [("W-USELESS", f"Available {MAY_BE} delivered ones", "")], []),
    (None, spec.DELIVERED, "context", "Configured",
     [("W-USELESS", f"Configured {MAY_BE} delivered ones", "")], []),
    ("Processors", "", "consumptionRate", "0", [], []),
    ("Processors", "", "consumptionRate", "1", [], []),
    *(("Processors", "", "consumptionRate", text, [(RATE[0], RATE[1] % text, RATE[2])], [])
      for text in ("1.01", "-0.01")),
    ("Processors", "", "consumptionRate", "x", [("E-TYPE", "'x' is not a number such as 1.89", "")], []),
    ("Processors", "", "dynamic", "false", [], []),
    ("Processors", spec.REQUESTED, "dynamic", "true", [], []),
    ("Processors", "", "dynamic", "true", [GROWS], []),
    ("Processors", spec.DELIVERED, "dynamic", "True",
     [("W-TYPE", "'True' is read as a Boolean", "write true"), GROWS], []),
    ("Processors", "", "duration", "1:00:00", [("W-TYPE", "'1:00:00' is read as seconds", "write 3600")], []),
    ("Node", spec.REQUESTED, "count", "1", [], []),
    *(("Node", spec.REQUESTED, "count", text,
       [("E-TYPE", f"{text!r} is no count of nodes, which is at least 1", "")], []) for text in ("0", "-1")),
    ("Node", spec.REQUESTED, "count", "x", [("E-TYPE", "'x' is not an integer such as 16", "")], []),
    ("Node", spec.REQUESTED, "preference", "1", [], []),
    ("Node", spec.REQUESTED, "preference", "-1", [], []),
    ("Node", spec.REQUESTED, "preference", "0", [("W-USELESS", "a preference of 0 prefers nothing", "")], []),
    ("OutputFile", "", "redirectList", " ", [], []),
    ("OutputFile", "", "redirectList", "Keep,,Append",
     [("E-UNKNOWN", "'' is not a value of redirectList, which is Append, Close, Flush, Keep, Merge", "")], [""]),
]  # fmt: skip


@pytest.mark.parametrize("element, category, name, text, said, unknown", SAID)
def test_what_is_said_of_an_attribute(element, category, name, text, said, unknown):
    element = element or "Memory"
    row = spec.attributes(element, category)[name]
    assert list(check_attribute(row, text, element, category)) == said
    assert list(unknown_values(row, text, element)) == unknown


# What most documents say, so that a look is enough for it.
PLAIN = [
    *((type_, text) for type_ in (spec.INTEGER, spec.FLOAT, spec.DURATION, spec.DATETIME)
      for text in ("0", "12", " 12\n")),
    *((type_, text) for type_ in (spec.INTEGER, spec.FLOAT) for text in ("-1", "+1")),
    (spec.STRING, ""), (spec.STRING, "\u00a0"), (spec.FLOAT, "1.89"), (spec.DATETIME, "1051557713"),
    (spec.BOOLEAN, "true"), (spec.BOOLEAN, " false "),
]  # fmt: skip
PLAIN_VALUES = [
    *(("Memory", "", "units", unit) for unit in ("B", "KB", "GB", "DB")), ("Charge", "", "units", "USD"),
    *(("Memory", spec.REQUESTED, "op", op) for op in ("EQ", "NE", "LT", "GT", "LE", "GE", "Match")),
    *(("Memory", "", "context", each) for each in ("Configured", "Available", "Used", "Dedicated")),
    *(("Memory", spec.REQUESTED, "context", each) for each in ("Configured", "Available", "Dedicated")),
    *(("Memory", spec.DELIVERED, "context", each) for each in ("Used", "Dedicated")),
    *(("Processors", "", "consumptionRate", each) for each in ("0", "1", "0.63", ".5")),
    ("Processors", "", "dynamic", "false"), ("Processors", spec.REQUESTED, "dynamic", "true"),
    ("Node", spec.REQUESTED, "count", "10"), ("Node", spec.REQUESTED, "preference", "-3"),
    ("Job", "", "awarenessPolicy", "Warn"), ("Extension", "", "name", "any name"),
]  # fmt: skip


@pytest.mark.parametrize("type_, text", PLAIN)
def test_a_look_is_enough_for_what_most_texts_say(type_, text):
    assert plain(type_)(text)


@pytest.mark.parametrize("element, category, name, text", PLAIN_VALUES)
def test_a_look_is_enough_for_what_most_attributes_say(element, category, name, text):
    row = spec.attributes(element, category)[name]
    assert plain(row.type, row, element, category)(text)


@pytest.mark.parametrize("text, enough", [("0", True), ("+4", True), ("-1", False)])
def test_a_look_tells_what_no_count_can_be(text, enough):
    assert bool(plain(spec.INTEGER, element="Processors")(text)) == enough
