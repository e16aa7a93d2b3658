"""The schema of SSSRMAP compiles everywhere, and holds what real peers send and what we write."""
# ruff: noqa: E501 (a row of a table is a line)

from functools import cache

import pytest
import xmlschema
from gold import RECORDINGS, documents
from hypothesis import given
from lxml import etree
from messages import REQUESTS, RESPONSES

from sssjob import resources, spec
from sssjob.rmap.envelope import Encrypted, Signature
from sssjob.rmap.writing import encrypted_envelope, envelope, write_request, write_response

NAMES = {"": "sssrmap", spec.NAMESPACE: "sssrmap-namespace"}


@cache
def libxml2(namespace):
    return etree.XMLSchema(file=resources.schema(NAMES[namespace]))


@cache
def python(namespace):
    return xmlschema.XMLSchema(resources.schema(NAMES[namespace]))


def verdicts(document):
    root = etree.fromstring(document)
    namespace = etree.QName(root).namespace or ""
    return libxml2(namespace).validate(root), python(namespace).is_valid(root)


@pytest.mark.parametrize("namespace", NAMES)
def test_each_schema_compiles_in_both_libraries(namespace):
    assert libxml2(namespace) is not None
    assert python(namespace).target_namespace == namespace


SENT = [
    pytest.param(document, id=f"{each.name} {number}")
    for each in RECORDINGS
    for number, document in enumerate(
        [*documents(each.sent), *documents(each.answered)]
        if each.name != "two-http-chunks"
        else [each.message.strip()]
    )
]


@pytest.mark.parametrize("document", SENT)
def test_what_real_peers_send_is_valid_in_both_libraries(document):
    assert verdicts(document) == (True, True)


def test_every_recording_is_looked_at():
    assert len(SENT) > 2 * len(RECORDINGS) - 8
    assert any(b"xmlns=" in document.values[0] for document in SENT)


@given(REQUESTS)
def test_every_request_that_we_write_is_valid(request):
    text = envelope(write_request(request).encode(), Signature("AAAA", "AAAA"))
    assert verdicts(text) == (True, True)


@given(RESPONSES)
def test_every_response_that_we_write_is_valid(response):
    assert verdicts(envelope(write_response(response).encode())) == (True, True)


def test_an_encrypted_message_is_valid():
    assert verdicts(encrypted_envelope(Encrypted("AAAA", "AAAA"))) == (True, True)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<Request><Jobs></Jobs></Request>", id="element"),
        pytest.param('<Request><Where op="EQ">1</Where></Request>', id="condition without name"),
        pytest.param('<Request><Set name="A" op="Add">1</Set></Request>', id="change"),
        pytest.param("<Response><Status><Value>Fine</Value><Code>000</Code></Status></Response>", id="value"),
        pytest.param("<Response><Status><Value>Success</Value><Code>0</Code></Status></Response>", id="code"),
        pytest.param('<Request chunking="yes"></Request>', id="truth"),
    ],
)  # fmt: skip
def test_what_no_peer_sends_is_not_valid(body):
    assert verdicts(f"<Envelope><Body>{body}</Body></Envelope>".encode()) == (False, False)
