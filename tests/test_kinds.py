"""Arguments of kinds that a function does not take are refused by one error of ours."""

import math

import pytest

import sssjob
from sssjob import Document, Job, Note, Property, Reference, Request, Requested
from sssjob.errors import SSSJobError

JOB = Job.of(Requested.of(Processors=4, Memory=2), Id="1")
REQUEST = Request.of(JOB)
DOCUMENT = Document.read(b"<Data><Job><Id>1</Id></Job></Data>")
NODES = [{"id": "n", "Processors": 8}]
STRANGE = [None, 5, math.nan, True, object(), {5: 1}, [None], [{5: 1}], [5], lambda: 1, Job]

# fmt: off
CALLS = {
    "dumps":             sssjob.dumps,
    "write":             lambda given: sssjob.write(given, None),
    "loads":             sssjob.loads,
    "read":              lambda given: list(sssjob.read(given)),
    "validate":          sssjob.validate,
    "is_valid":          sssjob.is_valid,
    "resolve":           sssjob.resolve,
    "match":             lambda given: sssjob.match(given, NODES),
    "match offers":      lambda given: sssjob.match(REQUEST, given),
    "answer":            REQUEST.answer,
    "ranked":            sssjob.ranked,
    "place":             lambda given: sssjob.place(given, NODES),
    "place nodes":       lambda given: sssjob.place(JOB, given),
    "translate":         lambda given: sssjob.translate(given, "slurm"),
    "translate to":      lambda given: sssjob.translate(JOB, given),
    "setting":           JOB.setting,
    "setting requested": JOB.block(Requested).setting,
    "removing":          JOB.removing,
    "of":                Job.of,
    "getitem":           lambda given: JOB[given],
    "Property":          Property,
    "attributes":        lambda given: Property("Memory", 1, given),
    "children":          lambda given: Property("Memory", 1, {}, given),
    "namespace":         lambda given: Property("Memory", 1, {}, (), given),
    "Reference":         lambda given: Reference(given, "a"),
    "Note":              lambda given: Note("comment", given),
    "replacing":         lambda given: DOCUMENT.replacing(given),
    "with_file":         lambda given: DOCUMENT.with_file(given, b""),
    "a File's content":  lambda given: DOCUMENT.with_file("a", given),
}
# fmt: on


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_function_refuses_other_kinds_with_our_errors(call):
    refused = 0
    for given in STRANGE:
        if call is CALLS["replacing"] and callable(given):
            continue  # what a caller's own function raises is the caller's
        try:
            call(given)
        except SSSJobError:
            refused += 1
    assert refused


@pytest.mark.parametrize("inside", ["Requested", 5, None.__class__, Requested.of()])
def test_a_category_is_given_as_a_class(inside):
    for call in (JOB.setting, JOB.removing):
        with pytest.raises(TypeError, match="a kind of block") as refused:
            call(inside=inside)
        assert isinstance(refused.value, SSSJobError)


@pytest.mark.parametrize(
    "call", [sssjob.dumps, JOB.removing, lambda given: sssjob.place(given, NODES)]
)
def test_what_is_of_another_kind_is_a_type_error_and_a_value_error(call):
    for kind in (TypeError, ValueError, sssjob.InvalidValue):
        with pytest.raises(kind):
            call(None)


@pytest.mark.parametrize("block", [JOB, JOB.block(Requested)])
def test_setting_refuses_a_text_where_a_property_is_due(block):
    with pytest.raises(sssjob.InvalidValue, match="is not a Property"):
        block.setting("Memory")
