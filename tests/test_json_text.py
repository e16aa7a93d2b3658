# ruff: noqa: E501 (a case is a line)
"""What no document can hold is told with its place, whichever JSON it stands in."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import registry
from sssjob.json_text import (
    Loaded,
    OddLetter,
    PlacedText,
    at_most,
    each_once,
    held,
    kept,
    line_of_value,
    may_be_odd,
    said_of,
    why,
)
from sssjob.legality import ILLEGAL
from sssjob.records import find, read_records
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.record import Converted, Noted, Options
from sssjob.translate import read, translator

# fmt: off
# Of each kind of JSON that is read: a job whose name, in line 3, has what stands for %.
SPECIFICATIONS = {
    "psij": '{"executable": "/a",\n"arguments": [],\n"name": "%"}',
    "slurmrest": '{"job":\n{"script": "#!/bin/sh\\n",\n"name": "%"}}',
    "flux": '{"version": 1, "resources": [{"type": "slot", "count": 1, "label": "t", "with": [{"type": "core", "count": 1}]}],\n'
            '"tasks": [{"command": ["/a"], "slot": "t", "count": {"per_slot": 1}}], "attributes": {"system": {"duration": 5, "job":\n'
            '{"name": "%"}}}}',
    "flux-canonical": '{"version": 2, "resources": [{"type": "slot", "count": 1, "label": "t", "with": [{"type": "core", "count": 1}]}],\n'
            '"tasks": [{"command": ["/a"], "slot": "t", "count": {"per_slot": 1}}], "attributes": {"system": {"duration": 5, "job":\n'
            '{"name": "%"}}}}',
}
RECORDS = {
    "squeue-json": '{"jobs": [\n{"job_id": 1, "job_state": ["PENDING"],\n"name": "%"}]}',
    "qstat-json": '{"pbs_server": "s", "Jobs": {\n"1.s": {"job_state": "Q",\n"Job_Name": "%"}}}',
    "flux": '{"jobs": [\n{"id": 1, "t_submit": 5, "state": "RUN",\n"name": "%"}]}',
    "slurm-json": '{"jobs": [\n{"job_id": 1, "state": {"current": ["COMPLETED"]}, "time": {"submission": 5, "start": 5, "end": 6}, "steps": [],\n"name": "%"}]}',
    "condor": '[\n{"ClusterId": 1, "ProcId": 0, "JobStatus": 4, "QDate": 5,\n"JobBatchName": "%"}]',
}
# What stands in JSON, what it becomes, and what of it is told.
ODD = [
    pytest.param(r"a\u0000b", "a\ufffdb", "U+0000", id="NUL"),
    pytest.param(r"a\bb", "a\ufffdb", "U+0008", id="backspace"),
    pytest.param(r"a\u001Bb", "a\ufffdb", "U+001B", id="escape"),
    pytest.param(r"\ud83d!", "\ufffd!", "U+D83D", id="first half of a pair"),
    pytest.param(r"!\uDE00", "!\ufffd", "U+DE00", id="second half of a pair"),
    pytest.param(r"\uFFFe", "\ufffd", "U+FFFE", id="no character"),
    pytest.param("\uffff", "\ufffd", "U+FFFF", id="no character as it is"),
]
FINE = [
    pytest.param(r"caf\u00e9 \ud83d\ude00", "caf\u00e9 \U0001f600", id="escaped"),
    pytest.param("caf\u00e9 \U0001f600", "caf\u00e9 \U0001f600", id="as it is"),
    pytest.param(r"a\\u0000", r"a\u0000", id="an escaped backslash"),
    pytest.param("\ufffd", "\ufffd", id="U+FFFD itself"),
]
# fmt: on


def record(name):
    statuses = registry.all_status_formats()
    return statuses[name] if name in statuses else find(name)


def recorded(name, text, builder=OBJECTS):
    data = text if isinstance(text, bytes) else text.encode()
    return list(read_records(record(name), io.BytesIO(data), Options(zone="UTC"), builder))


def of_records(name, text):
    """The texts of a job, and what is told: its line and what it says."""
    found = recorded(name, text)
    (job,) = (each.job for each in found if isinstance(each, Converted))
    notes = [each for each in found if isinstance(each, Noted) and "U+" in each.message]
    return texts(job), [(each.line, each.message) for each in notes]


def texts(job):
    return [item.text for item in (*job.properties, *job.delivered) if item.text]


def of_specification(name, text):
    (found,) = (each for each in read(text.encode(), name) if each.job is not None)
    every = [each for part in read(text.encode(), name) for each in part.findings]
    return texts(found.job), [(each.line, each.message) for each in every if "U+" in each.message]


READERS = [
    *(pytest.param(of_specification, name, text, id=name) for name, text in SPECIFICATIONS.items()),
    *(pytest.param(of_records, name, text, id=f"{name} jobs") for name, text in RECORDS.items()),
]  # fmt: skip


@pytest.mark.parametrize(("written", "became", "letter"), ODD)
@pytest.mark.parametrize(("reader", "name", "text"), READERS)
def test_what_a_document_cannot_hold_is_told_with_its_place(
    reader, name, text, written, became, letter
):
    found, told = reader(name, text.replace("%", written))
    assert became in found
    [(line, message)] = told
    assert line == 3
    assert f"has {letter}" in message
    assert "ame has" in message or "ame" in message.split(" has ")[0]


@pytest.mark.parametrize(("written", "became"), FINE)
@pytest.mark.parametrize(("reader", "name", "text"), READERS)
def test_of_what_a_document_holds_nothing_is_told(reader, name, text, written, became):
    found, told = reader(name, text.replace("%", written))
    assert became in found
    assert told == []


def test_every_kind_of_json_is_tried():
    targets = registry.all_targets()
    assert SPECIFICATIONS.keys() == {
        name for name in targets if translator(name).suffix == ".json"
    }  # fmt: skip
    known = {*registry.all_status_formats(), *registry.all_formats()}
    assert {name for name in known if "json" in name} <= RECORDS.keys()


@pytest.mark.parametrize("name", RECORDS)
def test_both_builders_tell_the_same(name):
    text = RECORDS[name].replace("%", r"\u0000")
    said = [
        [each for each in recorded(name, text, builder) if isinstance(each, Noted)]
        for builder in (OBJECTS, TEXTS)
    ]
    assert said[0] == said[1]


@pytest.mark.parametrize("name", RECORDS)
def test_a_byte_that_is_no_utf_8_is_told_too(name):
    found, [(line, message)] = of_records(name, RECORDS[name].encode().replace(b"%", b"caf\xe9"))
    assert "caf\ufffd" in found
    assert (line, "the byte E9, which is no UTF-8" in message) == (3, True)


@pytest.mark.parametrize("name", RECORDS)
def test_one_job_is_told_of_once_and_the_others_go_on(name):
    text = RECORDS[name].replace("%", r'\u0000", "x\u0000": ["\u0001"], "y": "\u0002')
    _, [(_, message)] = of_records(name, text)
    assert message.endswith("(and 3 more)")


@pytest.mark.parametrize("depth", [300, 900, 20_000])
@pytest.mark.parametrize("name", ["squeue-json", "flux", "condor"])
def test_what_is_deep_ends_nothing(name, depth):
    odd = RECORDS[name].replace("%", r'\u0000", "x": ' + "[" * depth + "]" * depth + ', "y": "')
    assert recorded(name, odd)


LETTERS = st.text(
    st.one_of(st.sampled_from("ab\x00\x08\x1b\ud800\ude00\uffff\ufffe\\u\n"), st.characters())
)


@given(
    st.recursive(
        LETTERS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LETTERS, inner, max_size=3),
        max_leaves=8,
    )
)
def test_what_is_held_has_nothing_that_xml_has_not(value):
    written = json.dumps(value)
    found, odd = held(json.loads(written))
    shown = json.dumps(found, ensure_ascii=False)
    assert not ILLEGAL.search(shown)
    assert bool(odd) <= may_be_odd(written)
    assert odd or found == value


@pytest.mark.parametrize(
    ("text", "is_odd"),
    [
        ("", False), ("a", False), ('"\\"', False), (r'"\\u"', False), (r'"\n\t\/"', False),
        (r"\u0041", True), (r"\b", True), (r"\f", True), (r'"\\\u0041"', True), (r'"\n\u0041"', True),
        ("\ufffe", True), ("caf\u00e9\uffff", True), ("caf\u00e9", False), ("\U0001f600", False),
    ],
)  # fmt: skip
def test_json_may_be_odd_where_an_escape_or_a_letter_may_be(text, is_odd):
    assert may_be_odd(text) == is_odd


@pytest.mark.parametrize(
    ("letter", "said"),
    [
        ("\udc7f", "U+DC7F, which"),
        ("\udc80", "U+DC80 (or the byte 80, which is no UTF-8), which"),
        ("\udcff", "U+DCFF (or the byte FF, which is no UTF-8), which"),
        ("\udd00", "U+DD00, which"),
        ("\x00", "U+0000, which"),
    ],
)
def test_half_a_pair_that_stands_for_a_byte_is_told_as_that_byte(letter, said):
    assert str(OddLetter(("a", 0), letter)).startswith(f"a/0 has {said} XML does not have")


def test_a_place_of_many_names_is_told_in_sixty_letters():
    assert str(OddLetter(("a" * 61, "b"), "\x00")).startswith("a" * 60 + " has")


def test_a_name_that_stands_twice_is_refused_and_told_in_sixty_letters():
    long = "b" * 61
    with pytest.raises(ValueError, match=f"^'{'b' * 60}' stands twice in one object$"):
        json.loads(f'{{"a": 1, "{long}": 2, "c": 3, "{long}": 4}}', object_pairs_hook=each_once)
    assert each_once([("a", 1), ("b", 1)]) == {"a": 1, "b": 1}
    assert each_once([]) == {}


def test_of_several_odd_texts_the_first_is_told_and_how_many_more():
    one, two = OddLetter(("a",), "\x00"), OddLetter(("b",), "\x01")
    assert said_of([one]) == str(one)
    assert said_of([one, two]) == f"{one} (and 1 more)"


def test_the_name_of_an_object_is_told_too():
    found, odd = held({"a\x00": [{"b": "c\x01"}], "d": 1})
    assert found == {"a\ufffd": [{"b": "c\ufffd"}], "d": 1}
    assert odd == [(("a\x00",), "\x00"), (("a\x00", 0, "b"), "\x01")]
    assert held("e\x02", ("f",)) == ("e\ufffd", [(("f",), "\x02")])


def test_an_object_knows_the_lines_of_its_values():
    text = '{"a":\n {"b":\n [1,\n 2]}}'
    loaded = Loaded.at(json.loads(text)["a"], PlacedText(text, several=False), ("a",))
    assert loaded == {"b": [1, 2]}
    assert loaded.lines([(), ("b",), ("b", 1), ("b", 7), ("c",)]) == [2, 3, 4, 3, 2]


def test_an_object_of_an_array_knows_the_lines_of_its_values():
    text = '[1, {"a":\n {"b":\n [1,\n 2]}}, 5,\n{"a": [],\n"b":2},\n7]'
    placed = PlacedText(text, several=True)
    one, other = (Loaded.at(json.loads(text)[at], placed, (at,)) for at in (1, 3))
    assert one.lines([(), ("a", "b", 1), ("b",), ("c",)]) == [1, 4, 1, 1]
    assert other.lines([("b",), (), ("a",), ("a", 0)]) == [6, 5, 5, 5]
    assert [placed.lines((at,), [()]) for at in (0, 2, 4)] == [[1], [4], [7]]
    inner = Loaded.at(json.loads(text)[1]["a"], placed, (1, "a"))
    assert inner.lines([("b", 1), (), ("c",)]) == [4, 2, 2]


def test_the_whole_is_in_its_own_line():
    assert [line_of_value(text, ()) for text in ("", "1", "\n\n1", "\n[\n1]")] == [1, 1, 3, 2]
    assert line_of_value('{"a": [1],\n"b": {"a":\n [1]}}', ("b", "a")) == 3


def lines(value, path=()):
    """JSON with each value in a line of its own, and the path of each line."""
    if isinstance(value, dict):
        parts = [(name, each) for name, each in value.items()]
        inner = [(f"{json.dumps(name)}:\n", lines(each, (*path, name))) for name, each in parts]
        marks = "{}"
    elif isinstance(value, list):
        inner = [("\n", lines(each, (*path, at))) for at, each in enumerate(value)]
        marks = "[]"
    else:
        return json.dumps(value), [path]
    text, places = marks[0], [path]
    for at, (before, (own, deeper)) in enumerate(inner):
        text += ("," if at else "") + before + own
        places += deeper
    return text + marks[1], places


@given(
    st.recursive(
        st.integers() | st.text('ab"\\{}[]:,', max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text('ab"\\{:', max_size=2), inner, max_size=3)
        ),
        max_leaves=9,
    )
)
def test_the_line_of_each_value_is_found(value):
    text, places = lines(value)
    assert [line_of_value(text, place) for place in places] == [*range(1, len(places) + 1)]
    assert line_of_value(text, (*places[-1], "no such")) == len(places)


@pytest.mark.parametrize("text", ['{"a": 1.5, "b": [-2e3, 7]}', b'{"a": 1.5, "b": [-2e3, 7]}'])
def test_a_file_that_is_kept_has_its_numbers(text):
    assert kept(text) == {"a": 1.5, "b": [-2000.0, 7]}


@pytest.mark.parametrize(
    "text, said",
    [
        pytest.param('{"a": 1e999}', "1e999 is no number", id="too large"),
        pytest.param('{"a": [-1e999]}', "-1e999 is no number", id="too far below 0"),
        pytest.param(f'{{"a": {"9" * 400}.0}}', f"^{'9' * 40} is no number$", id="too long"),
        pytest.param('{"a": NaN}', "NaN is no number", id="no number"),
        pytest.param('{"a": -Infinity}', "-Infinity is no number", id="infinite"),
        pytest.param('{"a": 1, "a": 1}', "a", id="a name twice"),
        pytest.param("[" * 100_000, "values nested too deeply", id="deep"),
        pytest.param("{", "a name in double quotes is missing at line 1, column 2", id="no JSON"),
        pytest.param(b'{"\xff', "^byte 3 is no UTF-8$", id="no UTF-8"),
    ],
)
def test_a_file_that_is_kept_has_nothing_else(text, said):
    with pytest.raises(ValueError, match=said):
        kept(text)


@pytest.mark.parametrize(
    "text, said",
    [
        pytest.param("[" * 100_000, "nested too deep", id="deep"),
        pytest.param("9" * 5000, "a whole number of more than 4300 digits", id="long"),
        pytest.param('{"a": 1, "a": 1}', "'a' stands twice in one object", id="a name twice"),
    ],
)
def test_why_a_text_is_not_read_is_said_plainly(text, said):
    with pytest.raises((ValueError, RecursionError)) as error:
        json.loads(text, object_pairs_hook=each_once)
    assert why(error.value) == said


@pytest.mark.parametrize("size", [0, 5, 1 << 17, (1 << 17) + 5])
def test_what_may_be_large_is_asked_for_piece_by_piece(size):
    asked = []

    class Stream(io.BytesIO):
        def read(self, most):
            asked.append(most)
            return super().read(most)

    assert len(at_most(Stream(bytes(size)), 1 << 17)) == min(size, (1 << 17) + 1)
    assert max(asked) <= 1 << 16
