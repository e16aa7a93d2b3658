"""Whatever is given to what ``sssjob`` offers a program: it is taken, or refused by our errors."""

import inspect
import io
from fractions import Fraction

import pytest

import sssjob
from sssjob.expression.reasons import Reason

TEXT = "<Data><Job><Id>1</Id><Executable>/bin/true</Executable></Job></Data>"
JOB = sssjob.loads(TEXT)
OFFER = sssjob.Offer.of("n1", [sssjob.Property("Processors", 4)])
REQUEST = sssjob.Request.of(JOB)
(ANSWER,) = sssjob.match(JOB, [OFFER])
PROPERTY = sssjob.Property("Memory", 4, {"units": "GB"})
FINDING = sssjob.Finding("E-XML", "a text")
PROPERTIES = sssjob.Properties([PROPERTY])
DOCUMENT = sssjob.Document.read(TEXT)

BLOCKS = (
    "Block", "Delivered", "Job", "JobDefaults", "JobGroup", "Requested", "Task", "TaskDefaults",
    "TaskGroup", "TaskGroupDefaults",
)  # fmt: skip
MADE = {"items": (PROPERTY,), "attributes": {}, "namespace": "", "line": 0, "prefixes": {}}
NAMED = {"name": "Memory", "value": 4, "attributes": {}, "children": (), "namespace": "", "line": 0}
# A call, and arguments that it takes. What has no signature has the kinds of its arguments here.
CALLS = {
    "read": (sssjob.read, {"source": TEXT.encode(), "on_error": None, "parts": True}),
    "loads": (sssjob.loads, {"data": TEXT}),
    "write": (
        lambda **given: sssjob.write(**given),
        {
            "blocks": [JOB],
            "stream": io.BytesIO(),
            "wrap": "Jobs",
            "dialect": "",
            "namespace": None,
            "indent": False,
        },
    ),
    "dumps": (sssjob.dumps, {"block": JOB, "dialect": "", "namespace": None, "indent": False}),
    "jobs": (sssjob.jobs, {"*": JOB, "format": "auto", "zone": "", "on_error": None}),
    "Jobs": (sssjob.Jobs, {"given": (JOB,), "format": "auto", "zone": "", "on_error": None}),
    "Jobs.report": (sssjob.jobs(JOB).report, {"*": "user"}),
    "Document": (sssjob.Document, {"data": TEXT.encode()}),
    "Document.read": (sssjob.Document.read, {"source": TEXT}),
    "Document.replacing": (DOCUMENT.replacing, {"change": lambda block: block}),
    "Document.with_file": (DOCUMENT.with_file, {"id_": "S", "content": b"x"}),
    "validate": (sssjob.validate, {"source": TEXT, "name": ""}),
    "is_valid": (sssjob.is_valid, {"source": TEXT}),
    "check_source": (sssjob.check_source, {"source": TEXT, "name": "", "closed": False}),
    "Finding": (
        sssjob.Finding,
        {
            "code": "E-XML",
            "message": "a",
            "file": "",
            "line": 0,
            "column": 0,
            "path": "",
            "section": "",
            "suggestion": "",
            "severity": sssjob.Severity.ERROR,
            "excerpt": "",
        },
    ),
    "Finding.as_dict": (FINDING.as_dict, {}),
    "Finding.in_file": (FINDING.in_file, {"file": "a.xml"}),
    "match": (sssjob.match, {"asked": JOB, "offers": [OFFER], "mode": "fit", "patterns": "full"}),
    "ranked": (sssjob.ranked, {"answers": [ANSWER]}),
    "Answer": (
        sssjob.Answer,
        {
            "offer": OFFER,
            "verdict": sssjob.Verdict.YES,
            "score": Fraction(1),
            "alternative": None,
            "taken": {},
            "reason": Reason(sssjob.Verdict.YES, ""),
        },
    ),
    "Offer": (sssjob.Offer, {"id": "a", "facts": {}, "mode": "fit"}),
    "Offer.of": (sssjob.Offer.of, {"id": "a", "properties": [PROPERTY], "mode": "fit"}),
    "Offer.amount": (OFFER.amount, {"slots": ["Processors"]}),
    "Offer.shown": (OFFER.shown, {"item": PROPERTY}),
    "Request": (sssjob.Request, {"expression": REQUEST.expression, "match": "full"}),
    "Request.of": (sssjob.Request.of, {"block": JOB, "match": "full"}),
    "Request.answer": (REQUEST.answer, {"offer": OFFER}),
    "Request.verdict": (REQUEST.verdict, {"offer": OFFER}),
    "Request.faults": (REQUEST.faults, {}),
    "Request.stopped": (REQUEST.stopped, {}),
    "resolve": (sssjob.resolve, {"block": JOB, "env": "merge"}),
    "fold": (
        sssjob.fold,
        {"job": JOB, "delivered": JOB, "source": "", "overwrite": False, "force": False},
    ),
    "place": (sssjob.place, {"block": JOB, "offers": [OFFER], "patterns": "full", "solver": False}),
    "translate": (
        sssjob.translate,
        {"job": JOB, "to": "sbatch", "settings": None, "alternative": None, "ran": None},
    ),
    "Note": (sssjob.Note, {"kind": "comment", "text": "a"}),
    "Properties.all": (PROPERTIES.all, {"*": "Memory", "units": "GB"}),
    "Properties.get": (PROPERTIES.get, {"*": "Memory", "units": "GB"}),
    "Properties.value": (PROPERTIES.value, {"*": "Memory", "units": "GB"}),
    "Properties.text": (PROPERTIES.text, {"name": "Memory", "default": ""}),
    "Properties.names": (PROPERTIES.names, {}),
    "Property": (sssjob.Property, NAMED),
    "Property.having": (PROPERTY.having, {"units": "MB"}),
    "Property.said": (PROPERTY.said, {"name": "units", "default": ""}),
    "Reference": (sssjob.Reference, {**NAMED, "name": "Job", "value": "1"}),
    "Reference.having": (sssjob.Reference("Job", "1").having, {"units": "MB"}),
    "Reference.said": (sssjob.Reference("Job", "1").said, {"name": "units", "default": ""}),
    "InvalidJob": (sssjob.InvalidJob, {"findings": [FINDING]}),
    "InvalidValue": (sssjob.InvalidValue, {"text": "a", "expected": "b"}),
    "NoSuchProperty": (
        sssjob.NoSuchProperty,
        {"name": "a", "block": "Job", "elsewhere": (), "meant": ""},
    ),
    "UnknownName": (sssjob.UnknownName, {"name": "a", "block": "Job", "advice": ""}),
    "UnreadableDocument": (sssjob.UnreadableDocument, {"finding": FINDING, "window": None}),
}
for _name in BLOCKS:
    _kind = getattr(sssjob, _name)
    _some = _kind((PROPERTY,))
    CALLS |= {
        _name: (_kind, MADE),
        f"{_name}.of": (_kind.of, {"*": PROPERTY, "Memory": 4}),
        f"{_name}.block": (_some.block, {"kind": sssjob.Requested}),
        f"{_name}.blocks": (_some.blocks, {"kind": sssjob.Requested}),
        f"{_name}.get": (_some.get, {"name": "Memory", "default": ""}),
        f"{_name}.holding": (_some.holding, {"items": [PROPERTY]}),
        f"{_name}.references": (_some.references, {"name": "Job"}),
        f"{_name}.removing": (_some.removing, {"*": "Memory", "inside": None}),
        f"{_name}.setting": (_some.setting, {"*": PROPERTY, "inside": None, "Memory": 5}),
    }
# Words, tuples, and what takes what is trusted: the text of something parsed.
OTHERS = {
    "__version__", "Severity", "Verdict", "SSSJobError", "Findings", "Properties", "Property.read",
    "Reference.read", "Jobs.to_arrow", "Jobs.to_pandas", "Jobs.to_polars",
}  # fmt: skip
WRONG = {
    "None": None, "a number": 3, "a float": 2.5, "bytes": b"x", "a text": "x", "a list": [],
    "a list of anything": [object()], "a tuple of anything": (object(),), "a mapping": {},
    "a mapping of anything": {"x": object()}, "a mapping of numbers": {3: 3}, "anything": object(),
    "too many digits": 10**5000, "a list of too many digits": [10**5000],
    "a class": sssjob.Job, "a surrogate": "\ud800", "NaN": float("nan"), "endless": float("inf"),
}  # fmt: skip
ANYTHING = "anything"
# Where anything at all may be given: what sssjob gives and a program does not make, questions that
# find nothing then, and flags, which are what is true.
GIVEN = ("Finding", "Answer", "InvalidJob", "InvalidValue", "NoSuchProperty", "UnknownName",
         "UnreadableDocument")  # fmt: skip
ASKED = ("Properties.", "get", "block", "blocks", "references")
FLAGS = ("indent", "closed", "overwrite", "force")
SOME = [(name, argument) for name, (_, given) in CALLS.items() for argument in given]


def call(called, /, **changed):
    function, given = CALLS[called]
    given = {**given, **changed}
    places = [given.pop("*")] if "*" in given else []
    result = function(*places, **given)
    return list(result) if inspect.isgenerator(result) else result


def test_everything_that_a_program_is_offered_is_here():
    here = {name.partition(".")[0] for name in CALLS} | OTHERS
    assert set(sssjob.__all__) <= here
    for name in set(sssjob.__all__) - OTHERS:
        value = getattr(sssjob, name)
        if not inspect.isclass(value) or issubclass(value, Exception):
            continue
        kinds = (kind for kind in value.__mro__ if kind.__module__.startswith("sssjob"))
        own = {key for kind in kinds for key in vars(kind) if key[0] != "_"}
        calls = {key for key in own if callable(getattr(value, key))}
        assert {f"{name}.{key}" for key in calls} <= CALLS.keys() | OTHERS, name


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_is_here(name):
    function, given = CALLS[name]
    call(name)
    if name != "write":
        signature = inspect.signature(function)
        named = {each.name for each in signature.parameters.values()
                 if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}  # fmt: skip
        assert named <= given.keys()


@pytest.mark.parametrize("name, argument", SOME)
def test_a_wrong_kind_is_taken_or_refused_by_an_error_of_ours(name, argument):
    kind, _, method = name.partition(".")
    any_will_do = kind in GIVEN or name.startswith(ASKED) or method in ASKED or argument in FLAGS
    bad = []
    for what, value in WRONG.items():
        try:
            call(name, **{argument: value})
        except (sssjob.SSSJobError, OSError):
            continue
        except Exception as error:
            bad.append(f"{what}: {error!r}")
        else:
            if what == ANYTHING and not any_will_do:
                bad.append("anything at all is taken")
    assert not bad
