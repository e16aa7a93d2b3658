"""Objects of JSON are found alike wherever one read of the input ends and the next begins."""

import io
import json

import pytest

from sssjob.errors import UnusableInput
from sssjob.records import json_objects
from sssjob.records.record import Bad

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
