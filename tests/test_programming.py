"""What a program gives that is wrong is refused with errors of ours; what is right is taken."""

import io
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

import sssjob
from sssjob import Job, Property, Reference, Request, Requested, SSSJobError
from sssjob.errors import WrongKind
from sssjob.expression.offers import offer

JOB = Job.of(Requested.of(Processors=4), Id="1", Queue="q")


@pytest.mark.parametrize(
    "call, told",
    [
        pytest.param(lambda: JOB[0], ".items", id="an item by its number"),
        pytest.param(lambda: JOB.removing("Qeue"), "did you mean Queue", id="removing"),
        pytest.param(
            lambda: JOB.removing("Procesors", inside=Requested), "Processors", id="inside"
        ),
        pytest.param(lambda: Job.of(Processors=True), "Processors", id="a count that is true"),
        pytest.param(lambda: Job.of(Duration=timedelta(seconds=-5)), "negative", id="negative"),
        pytest.param(lambda: Job.of(StartTime=timedelta(hours=1)), "StartTime", id="no time"),
        pytest.param(lambda: Job.of(Duration=datetime.now(UTC)), "Duration", id="no duration"),
        pytest.param(lambda: Request.of("<Job/>"), "loads reads a text", id="a text as a request"),
        pytest.param(lambda: sssjob.match(JOB, [{"Memroy": 5}]), "did you mean Memory", id="offer"),
        pytest.param(lambda: sssjob.match(JOB, [{"Memory": object()}]), "object", id="no value"),
        pytest.param(lambda: sssjob.match(JOB, [{"Memory": Decimal("NaN")}]), "finite", id="NaN"),
    ],
)
def test_what_is_wrong_is_an_error_of_ours_that_says_so(call, told):
    with pytest.raises(SSSJobError, match=told):
        call()


TEXT = "<Data><Job><Id>1</Id></Job></Data>"
DOCUMENT = sssjob.Document.read(TEXT)


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda: DOCUMENT.replacing(lambda job: None), "job object"),
        (lambda: sssjob.Document.read("<Job/>").with_file("S", "text"), "wrapper"),
    ],
)
def test_a_document_refuses_what_it_cannot_hold(call, told):
    with pytest.raises(SSSJobError, match=told):
        call()


def test_a_document_takes_texts_and_shows_itself_shortly():
    assert DOCUMENT.data == TEXT.encode()
    assert DOCUMENT.with_file("S", "text").files["S"].content == b"text"
    assert repr(DOCUMENT) == "<Document: 34 bytes>"
    with pytest.raises(TypeError):
        DOCUMENT.files["S"] = None


@pytest.mark.parametrize(
    "given", [DOCUMENT, io.StringIO(TEXT), io.BytesIO(TEXT.encode()), [JOB, JOB], TEXT, JOB]
)
def test_what_can_be_given_to_validate(given):
    assert {found.code for found in sssjob.validate(given)} == {"I-MISSING"}


@pytest.mark.parametrize("given", [DOCUMENT, Property("Memory", 2), io.StringIO(TEXT), io.BytesIO])
@pytest.mark.parametrize(
    "call",
    [
        sssjob.loads,
        lambda given: list(sssjob.read(given)),
        sssjob.Document.read,
        lambda given: sssjob.write([JOB], given),
    ],
)
def test_what_has_a_read_or_a_write_of_another_kind_is_no_stream_of_bytes(call, given):
    with pytest.raises(WrongKind, match="stream"):
        call(given)


@pytest.mark.parametrize("call", [sssjob.validate, sssjob.is_valid])
def test_a_class_with_a_read_is_nothing_to_validate(call):
    for given in (Property("Memory", 2), io.BytesIO):
        with pytest.raises(WrongKind, match="stream"):
            call(given)


def test_half_a_character_in_a_stream_of_text_is_a_finding_as_in_a_text():
    text = "<Job><Id>\ud800</Id></Job>"
    found = [list(sssjob.check_source(given)) for given in (text, io.StringIO(text))]
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.parametrize("value", [JOB, JOB.block(Requested), Property("A"), Reference("Job", "1")])
@pytest.mark.parametrize("name", ["id", "new", "name", "items", "text"])
def test_values_do_not_change(value, name):
    with pytest.raises(FrozenInstanceError, match="cannot assign"):
        setattr(value, name, 1)
    with pytest.raises(FrozenInstanceError):
        delattr(value, name)


@pytest.mark.parametrize(
    "asked, offered",
    [
        ({"Memory": 512}, {"Memory": Decimal("512.5")}),
        ({"Memory": 512}, {"Memory": Fraction(1025, 2)}),
        ({"Duration": 3600}, {"Duration": timedelta(hours=1)}),
        ({"Feature": "ib"}, {"Feature": {"ib", "ssd"}}),
        ({"Feature": "ib"}, {"Feature": ("ib", "ssd")}),
        ({"Processors": 4}, {"Processors": 4, "our_own_fact": 1}),
    ],
)
def test_offers_take_the_values_of_python(asked, offered):
    (answer,) = sssjob.match(Job.of(Requested.of(**asked)), [offered])
    assert str(answer.verdict) == "yes"


def test_only_yes_is_true():
    answers = sssjob.match(JOB, [{"Processors": 4}, {"Processors": 2}, {}])
    assert [bool(answer) for answer in answers] == [True, False, False]
    assert [str(answer.verdict) for answer in answers] == ["yes", "no", "unknown"]


def test_a_time_is_offered_as_a_document_spells_it():
    made = offer({"StartTime": datetime.fromtimestamp(60, UTC)})
    assert [item.text for item in made.facts["StartTime"]] == ["60"]
