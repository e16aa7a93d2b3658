"""What real clients once asked a real Gold is answered from a store, so that they can read it."""
# ruff: noqa: E501 (a row of a table is a line)

import shutil
import subprocess
from fractions import Fraction

import httpx
import peers
import pytest
import requests
from gateways import exchange, gateway
from gold import KEY, RECORDINGS, documents, recording
from waiting import HANG

from sssjob import store
from sssjob.gateway.actions import Actions
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates
from sssjob.handlers.roles import Roles
from sssjob.handlers.service import Service, ServiceSettings
from sssjob.handlers.stores import Stores
from sssjob.rmap.envelope import opened
from sssjob.rmap.framing import LEGACY_HEAD, legacy_request
from sssjob.rmap.keys import Key
from sssjob.rmap.reading import read_response
from sssjob.rmap.signature import sign
from sssjob.rmap.writing import envelope

RATES = ChargeRates({"Processors": Fraction(1)}, {"QualityOfService": {"premium": Fraction(2)}})
ROLES = Roles(actors={"root": ("admin",), "slurm": ("scheduler",)})


@pytest.fixture
def running(address):
    store.open(address, create=True).close()
    service = Service(Stores(address), ServiceSettings(ROLES, Accounting(RATES)))
    with gateway(Actions(service.actions, service.is_quick)) as made:
        yield made
    service.stores.close()


def said(stream):
    return [read_response(opened(each).body) for each in documents(stream)][-1]


def played(running, name):
    """What we say and what Gold said."""
    each = recording(name)
    return said(exchange(running, each.sent)), said(each.answered)


def rows(response):
    """Rows in some order, without the Id, which is another thing in Gold, where Charge begins at 0."""
    found = [
        {
            key: value or ("0" if key == "Charge" else "")
            for key, value in row.fields
            if key not in ("Id", "Stage")
        }
        for row in response.rows
        if row.get("JobId") != ""  # a quote, which is no job here
    ]
    return sorted(found, key=lambda row: row.get("JobId", ""))


def test_every_recorded_request_is_answered_so_that_every_client_can_read_it(running):
    for each in RECORDINGS:
        reply = exchange(running, each.sent)
        assert reply[:88] == LEGACY_HEAD, each.name
        for client in peers.ALL:
            if each.name == "enc-query" and client in ("java", "c", "slurm"):
                continue
            if client == "hadoop" and b"\n" in documents(reply)[0].split(b"\n", 1)[1].rstrip():
                continue  # a message of several lines, as Gold has them
            assert peers.ALL[client](reply).strip() in reply, (each.name, client)


def test_a_day_in_the_life_of_gold_goes_as_it_went_there(running):
    for name in ("job-create", "reserve", "charge", "charge-data", "refund", "charge-hours"):
        ours, golds = played(running, name)
        assert (ours.status, ours.count) == (golds.status, golds.count), name
        assert [row.object for row in ours.rows] == [row.object for row in golds.rows]
    for name in (
        "glsjob", "glsjob-full", "job-query-where", "job-query-tros", "job-query-unique",
        "slurm-style", "job-query-nested",
    ):  # fmt: skip
        ours, golds = played(running, name)
        assert ours.status.code == "000"
        # Gold passes over QueueName, the older name of Queue that one charge has.
        queue = {"Queue": "batch"}
        expected = [
            {**row, **(queue if "Queue" in row and row["JobId"] == "PBS.1236.0" else {})}
            for row in rows(golds)
        ]
        assert rows(ours) == expected, name
    for name in ("op-GT", "op-NE", "op-Match"):
        ours, golds = played(running, name)
        # Gold has the quote as a row, and a charge of 0 for a job that nobody has charged.
        assert ours.count == golds.count - 2 * (name == "op-NE"), name
    ours, golds = played(running, "job-query-agg")
    assert [(row.get("User"), row.get("Charge"), row.get("WallDuration")) for row in ours.rows] == [
        (row.get("User"), row.get("Charge"), row.get("WallDuration")) for row in golds.rows
    ]
    for name in ("job-modify", "job-modify-none", "job-delete", "job-undelete"):
        ours, golds = played(running, name)
        assert (ours.status, ours.count) == (golds.status, golds.count), name
        assert [[field for field, _ in row.fields] for row in ours.rows] == [
            [field for field, _ in row.fields] for row in golds.rows
        ], name
    ours, _ = played(running, "job-query-time")
    assert ours.status.code == "000"


NOT_HERE = {"CallType", "CreationTime", "RequestId", "TransactionId"}


def test_who_names_no_property_gets_golds_columns_in_golds_order(running):
    ours, _ = played(running, "job-create")
    created = [field for field, _ in ours.rows[0].fields]
    recorded = said(recording("job-query-hidden").answered).rows[0]
    expected = [field for field, _ in recorded.fields if field not in NOT_HERE]
    assert created == [field for field in expected if field not in ("ModificationTime", "Deleted")]
    # Its Id is a number of Gold's, so that nothing is found by it here.
    sent = recording("job-query-hidden").message.replace(b">1</Where>", b">PBS.1234.0</Where>")
    body = sent[sent.index(b"<Body>") : sent.index(b"</Body>") + 7]
    [row] = said(exchange(running, legacy_request(envelope(body, sign(body, Key(KEY)))))).rows
    assert [field for field, _ in row.fields] == expected
    assert (row.get("JobId"), row.get("Processors"), row.get("WallDuration")) == (
        "PBS.1234.0", "4", "3600",
    )  # fmt: skip


def test_a_peer_that_sends_its_charge_again_is_charged_once(running):
    replies = [exchange(running, recording("charge").sent) for _ in "12"]
    assert replies[0] == replies[1]
    amount = said(replies[0]).rows[0].get("Amount")
    ours, _ = played(running, "job-query-agg")
    assert [row.get("Charge") for row in ours.rows] == [amount]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("charge-fail", "100"),  # Requested is understood here, and is not what was used
        ("charge-both-names", "000"),
        ("charge-with-id-element", "000"),
        ("job-create-bad-attribute", "000"),  # State is an attribute here
        ("hod-style", "100"),  # a machine is not needed, but something that has a price
        ("conj-or", "000"),
        ("raw-ok", "740"),  # there are no Users
        ("join-query", "740"),
        ("wrongkey", "424"),
        ("noauth-query", "424"),
        ("v22-no-object", "311"),
    ],
)
def test_where_we_differ_from_gold_it_is_known_how(running, name, code):
    assert said(exchange(running, recording(name).sent)).status.code == code


ASKED = b'<Body><Request action="Query" actor="root"><Object>Job</Object><Get name="JobId"/><Get name="User"/><Where name="JobId">PBS.1234.0</Where></Request></Body>'
OF_MAUI = ASKED.replace(b"<Body>", b'<Body actor="root">').replace(
    b' actor="root"><Object', b"><Object"
)


def of_maui(body):
    """Its envelope has the signature first, and its framing ends with a byte that is none."""
    signature = sign(body, Key(KEY))
    seal = (
        b"<Signature><DigestValue>%s</DigestValue><SignatureValue>%s</SignatureValue></Signature>"
    )
    seal %= signature.digest.encode(), signature.value.encode()
    head = b'<Envelope count="1" name="SSSRMAP" version="3.0" type="nonblocking">'
    message = head + seal + body + b"</Envelope>"
    framed = b'POST /SSSRMAP3 HTTP/1.1\r\nContent-Type: text/xml; charset="utf-8"\r\nTransfer-Encoding: chunked;\r\n\r\n'
    return framed + b"%X\r\n" % len(message) + message + b"\r\n\0"


def by_curl(url, message):
    command = [
        "curl",
        "-sS",
        "--fail",
        "--max-time",
        "60",
        "-H",
        "Content-Type: text/xml",
        "--data-binary",
        "@-",
        url,
    ]
    return subprocess.run(command, input=message, capture_output=True, check=True).stdout


def by_httpx(url, message):
    with httpx.Client(timeout=HANG, trust_env=False) as session:
        return session.post(url, content=message).content


STANDARD = {
    "curl": by_curl,
    "requests": lambda url, message: requests.post(url, data=message, timeout=HANG).content,
    "httpx": by_httpx,
}


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_peers_of_gold_maui_and_slurm_and_standard_clients_share_a_port_and_a_store(running):
    """Each finds the job that the client of Gold created, again and again in turn."""
    message = envelope(ASKED, sign(ASKED, Key(KEY)))
    played(running, "job-create")
    for _ in range(3):
        told = {name: said(ask(running.url(), message)) for name, ask in STANDARD.items()}
        told["Gold"] = said(exchange(running, legacy_request(message)))
        told["Maui"] = said(exchange(running, of_maui(OF_MAUI)))
        for name, answer in told.items():
            assert [row.fields for row in answer.rows] == [
                (("JobId", "PBS.1234.0"), ("User", "ann"))
            ], name
        for name in ("glsjob", "slurm-style"):
            ours, golds = played(running, name)
            assert ours.status.code == golds.status.code == "000", name
            assert "PBS.1234.0" in [row.get("JobId") for row in ours.rows], name
