"""Objects of JSON are found alike wherever one read of the input ends and the next begins."""

import io
import json

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import UnusableInput
from sssjob.records import json_objects
from sssjob.records.record import Bad, Noted

JOBS = [{"job_id": place, "tres": {"cpu": 1}, "name": "x" * place} for place in range(6)]
TEXT = json.dumps({"meta": {"a": 1}, "jobs": JOBS}, indent=2)
BROKEN = TEXT.replace('"job_id": 3,', '"job_id": 3 3,')


def found(text: str) -> list[object]:
    return [*json_objects.read(io.BytesIO(text.encode()), "jobs")]


@pytest.mark.parametrize("size", range(1, 120))
def test_a_broken_object_hides_none_behind_it(monkeypatch, size):
    whole = found(BROKEN)
    monkeypatch.setattr(json_objects, "CHUNK", size)
    pieces = found(BROKEN)
    assert pieces == whole
    assert [piece[1]["job_id"] for piece in pieces if not isinstance(piece, Bad)] == [0, 1, 2, 4, 5]


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
@pytest.mark.parametrize(
    "value", ["5", "-1.5e3", "null", "true", '"a \\"}, {"', '[1, {"job_id": 9}]', "[]", "NaN"]
)
def test_a_value_that_is_no_object_hides_none_behind_it_on_its_line(monkeypatch, value, size):
    monkeypatch.setattr(json_objects, "CHUNK", size)
    for text in (f'{{"jobs": [{{"job_id": 1}}, {value}, {{"job_id": 2}}]}}',
                 f'[{value}, {{"job_id": 1}}, {{"job_id": 2}}]'):  # fmt: skip
        pieces = found(text)
        assert [piece[1]["job_id"] for piece in pieces if not isinstance(piece, Bad)] == [1, 2]
        assert len(pieces) == 3


@pytest.mark.parametrize("length", [1, 5000])
@pytest.mark.parametrize("chunk", [1, 2, 3, 777])
def test_a_long_line_that_is_no_object_hides_none_behind_it(monkeypatch, chunk, length):
    monkeypatch.setattr(json_objects, "CHUNK", chunk)
    wrong = "x" * length
    for text in (f'[\n{{"job_id": 1}},\n{wrong}\n{{"job_id": 2}}\n]',
                 f'{{"jobs": [\n{{"job_id": 1}},\n{wrong}\n{{"job_id": 2}}\n]}}'):  # fmt: skip
        one, bad, other = found(text)
        assert (one[1], other[1]) == ({"job_id": 1}, {"job_id": 2})
        assert (bad.line, other[0]) == (3, 4)


def test_a_line_that_is_no_object_ends_alike_however_much_of_it_is_kept(monkeypatch):
    """What was read of a long line is given up, at some length right before its end."""
    monkeypatch.setattr(json_objects, "CHUNK", 1)
    for length in range(240, 540):
        text = f'[\n{"x" * length}\n{{"job_id": 2}}\n]'
        assert [each[1] for each in found(text)[1:]] == [{"job_id": 2}], length


def named(text):
    """The names and values of jobs that stand in an object, or the lines and what is wrong."""
    pieces = json_objects.read_named(io.BytesIO(text.encode()), "Jobs")
    return [(each.name, each.value) if isinstance(each, json_objects.NamedObject)
            else (each.line, each.reason) for each in pieces]  # fmt: skip


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
@pytest.mark.parametrize("text, expected", [
    ("", []),
    ("{}", []),
    ('{"a": 1, "Jobs": {}}', []),
    ('{"Jobs": 5}', [(1, "'Jobs' is no object")]),
    ('{"Jobs": {"1": {"a": 1}}}{"Jobs": {"2": {"a": 2}}}', [("1", {"a": 1}), ("2", {"a": 2})]),
    ('{"Jobs": {"1": {"a": 1}}}\n,5', [("1", {"a": 1}), (2, """'5' behind the object "Jobs\"""")]),
    ('{"Jobs": {"1": 5, "2": {"a": 1}}}', [(1, "'1' is no object"), ("2", {"a": 1})]),
    ('{"Jobs": {"1": nix,\n"2": {"a": 1}}}', [(1, "'1' is no object"), ("2", {"a": 1})]),
    ('{"Jobs": {"1": {"a": 1},\n', [("1", {"a": 1}), (2, "the input ends inside an object")]),
    ('{"Jobs": {"1": {"a": 1},\n5: {}}}',
     [("1", {"a": 1}), (2, "'5' where a name is expected"),
      (2, """'5: {}}}' behind the object "Jobs\"""")]),
    ('{"a" 1, "Jobs": {"1": {"a": 1}}}',
     [(1, """'1, "Jobs": {"1": {"a' behind the object "Jobs\"""")]),
    ('{"Jobs": {\n "1": {\n  "a": 5 5,\n  "b": {\n   "x": 1\n  }\n },\n "2": {"b": 1}\n}}\n',
     [(2, "not JSON: , is missing at line 3"), ("2", {"b": 1})]),
])  # fmt: skip
def test_objects_by_their_names_are_found_alike_wherever_a_read_ends(
    monkeypatch, text, expected, size
):
    monkeypatch.setattr(json_objects, "CHUNK", size)
    assert named(text) == expected


@pytest.mark.parametrize("text", ["[]", "5", " [1]"])
def test_what_does_not_begin_with_an_object_has_no_objects_by_names(text):
    with pytest.raises(UnusableInput, match="no JSON object"):
        named(text)


class Open(io.BytesIO):
    """A stream that may go on."""

    is_open = True


@pytest.mark.parametrize("member, text, place", [
    ("jobs", '{"jobs": [{"a": 1}', (1, True, True)),
    ("jobs", '{"jobs": [{"a": 1},\n', (2, True, True)),
    ("jobs", '{"jobs": [{"a": 1}]', (1, False, True)),
    ("jobs", '{"jobs": [{"a": 1}], "b', (1, False, True)),
    ("jobs", '{"jobs": [{"a": 1}]}', (1, True, False)),
    ("jobs", '{"jobs": [{"a": 1}]}\n', (2, True, False)),
    ("jobs", '{"jobs": [{"a": 1}]}\n{"x"', (2, False, False)),
    ("", '[{"a": 1}', (1, True, True)),
    ("", '{"a": 1}\n', (2, True, False)),
])  # fmt: skip
def test_where_a_part_ends_tells_what_it_stands_in(member, text, place):
    with pytest.raises(json_objects.PartEnd) as end:
        [*json_objects.read_inside(b"", Open(text.encode()), member, 1, None)]
    assert (end.value.line, end.value.between, end.value.in_array) == place


@pytest.mark.parametrize("before", ["", "\n", " \n\n"])
@pytest.mark.parametrize("text", ['{"a": 1}]}', ',{"a": 1}', '{"jobs": [{"a": 1}]}'])
def test_a_part_begins_in_the_member_or_behind_the_end_of_a_document(text, before):
    inside = json_objects.MEMBER + b"jobs"
    stream = io.BytesIO((before + text).encode())
    beside = json_objects.MembersBeside()
    pieces = [*json_objects.read_inside(inside, stream, "jobs", 1, beside)]
    assert pieces[0] == (1 + before.count("\n"), {"a": 1})


@pytest.mark.parametrize("end", range(28, 80, 4))
@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_a_document_that_ends_too_soon_is_told_with_the_line(monkeypatch, size, end):
    monkeypatch.setattr(json_objects, "CHUNK", size)
    text = '\n{\n "a": 1,\n "meta": {\n' + ' "b": [1,\n 2,\n "c"],\n' * 20
    text = text[:end]
    with pytest.raises(json.JSONDecodeError) as expected:
        json.loads(text)
    with pytest.raises(UnusableInput) as told:
        found(text)
    assert str(told.value).count(f"at line {expected.value.lineno}") == 1


HELD = [b"plain", b"\\u00e9\\n\\t", "é".encode(), b"\\\\u0000"]
ODD = [b"\\u0000", b"\\b", b"\\ud800", b"\xff", b"\xed\xa0\x80", "\ufffe".encode(), b"\\uffff"]


@pytest.mark.parametrize("name", [*HELD, *ODD], ids=repr)
def test_an_object_is_held_alike_on_lines_of_its_own_and_beside_others(name):
    one = b'{"job_id": 1, "name": "%s"}' % name
    beside = read_jobs(b'{"jobs": [' + b",".join([one] * 3) + b"]}")
    lines = read_jobs(b'{"jobs": [\n  ' + b",\n  ".join([one] * 3) + b"\n]}\n")
    assert beside == lines
    told = [each for each in beside if isinstance(each, str)]
    assert len(told) == 3 * (name in ODD)


def read_jobs(data):
    """The objects, and what is said of each, whatever line it is in."""
    found = json_objects.read(io.BytesIO(data), "jobs")
    return [each.message if isinstance(each, Noted) else each[1] for each in found]


def objects_of(sizes):
    """Objects of these many characters and somewhat more, one of them no JSON, and a document."""
    texts = [json.dumps({"job_id": place, "name": "x" * size, "of": [place]}, indent=2)
             for place, size in enumerate(sizes)]  # fmt: skip
    broken = len(texts) // 2
    texts[broken] = texts[broken].replace('"of": [', '"of": ]')
    return broken, "[\n" + ",\n".join(texts) + "\n]\n"


SIZES = {
    "shrinking": [1 << place for place in range(14, 0, -1)],
    "growing": [1 << place for place in range(15)],
    "by turns": [7000, 10, 7000, 6000, 5000, 10, 7000, 7000, 7000],
    "alike": [5000] * 12,
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("chunk", [777, 1 << 16])
def test_objects_are_found_alike_however_long_those_before_were(monkeypatch, sizes, chunk):
    monkeypatch.setattr(json_objects, "CHUNK", chunk)
    broken, text = objects_of(sizes)
    pieces = found(text)
    assert isinstance(pieces[broken], Bad)
    good = [place for place in range(len(sizes)) if place != broken]
    read = [piece for piece in pieces if not isinstance(piece, Bad)]
    assert [value for _, value in read] == [
        {"job_id": place, "name": "x" * sizes[place], "of": [place]} for place in good
    ]
    begins = [line for line, each in enumerate(text.split("\n"), 1) if each == "{"]
    assert [line for line, _ in read] == [begins[place] for place in good]
    assert len(pieces) == len(sizes)


# Names and texts in which what ends a name stands, written in each way that JSON has.
_TEXTS = ["a", "b", 'a":', 'b" :', "\\", '"', ""]
_BODIES = [json.dumps(text)[1:-1] for text in _TEXTS]
_WRITTEN = st.sampled_from([
    f'"{each}"' for body in _BODIES for each in (body, body.replace('\\"', "\\u0022"))
])  # fmt: skip
_COLONS = st.sampled_from([":", ": ", " :", "\t: ", "\n  :"])


def _object(inner):
    members = st.lists(st.tuples(_WRITTEN, _COLONS, inner), max_size=4)
    return members.map(lambda told: "{" + ",".join(map("".join, told)) + "}")


_VALUES = st.recursive(
    st.one_of(st.sampled_from(["1", "2", "null", "1e400", str(1 << 70)]), _WRITTEN),
    lambda inner: st.one_of(_object(inner), st.lists(inner, max_size=2).map(
        lambda some: "[" + ", ".join(some) + "]"
    )),
    max_leaves=6,
)  # fmt: skip


@examples(200)
@given(st.lists(_object(_VALUES), min_size=1, max_size=3), st.sampled_from(["\n", ", "]))
def test_an_object_with_a_name_of_two_values_is_two_records(objects, between):
    def hides(text):
        hidden = []

        def pairs(told):
            hidden.extend(name for name, value in told if dict(told)[name] != value)
            return dict(told)

        json.loads(text, object_pairs_hook=pairs)
        return bool(hidden)

    pieces = [
        piece for piece in found(f"[{between.join(objects)}]") if not isinstance(piece, Noted)
    ]
    assert [isinstance(piece, Bad) for piece in pieces] == [*map(hides, objects)]
