"""What programs send to the pages: answered as commands answer, bounded, and kept by nobody."""

import asyncio
import gzip
import json

import jsonschema
import pytest
from click.testing import CliRunner
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.testclient import TestClient
from waiting import HANG

from sssjob import store
from sssjob.cli import sssjob
from sssjob.errors import LimitExceeded
from sssjob.verbs import confined
from sssjob.verbs.confined import Bounds
from sssjob.web import bodies, openapi
from sssjob.web.app import application
from sssjob.web.routes import VIEWS
from sssjob.web.stores import StorePool

HOST = "127.0.0.1:8181"
TOKEN = "sesame"
BEARER = {"authorization": f"Bearer {TOKEN}"}
SACCT = b"""JobID|User|State|Start|End|NCPUS
1|amy|COMPLETED|2026-01-01T00:00:00|2026-01-01T01:00:00|2
2|bob|FAILED|2026-01-01T00:00:00|never|2
"""
RAN = b"""<Job><Id>7</Id><User>amy</User><State>Completed</State><StartTime>1700000100</StartTime>
<EndTime>1700003700</EndTime><Delivered><Processors>4</Processors></Delivered></Job>"""
ASKS = b"""<JobGroup><Id>g</Id><JobDefaults><Requested>
<Processors op="GE">4</Processors></Requested>
</JobDefaults><Job><Id>a</Id></Job><Job><Id>b</Id><Requested><Node op="EQ">n2</Node>
</Requested></Job></JobGroup>"""
OFFERS = b'[{"id": "n1", "Processors": 2}, {"id": "n2", "Processors": 16, "Memory": null}]'
GIVEN = b"<Job><Id>n3</Id><Delivered><Processors>4</Processors></Delivered></Job>"
WRONG = b"<Job><Id>1</Id><State>Dreaming</State><Proccessors>2</Proccessors></Job>"
POSTED = [
    f"{view.path}.{form}".replace("{document:whole}/{place:whole}", "1/0")
    for view in VIEWS
    if view.body
    for form in view.forms
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("posted") / "jobs.db"
    with store.open(path, create=True) as jobs:
        jobs.load(RAN)
        jobs.load(ASKS)
    return str(path)


@pytest.fixture(scope="module")
def client(address):
    app = application(address, title="jobs", token=TOKEN, hosts=frozenset((HOST,)))
    with TestClient(app, base_url=f"http://{HOST}", headers=BEARER) as made:
        yield made


def printed(*words, given=b""):
    return CliRunner().invoke(sssjob, words, input=given).stdout


# --- the same answers as the commands


@pytest.mark.parametrize(
    "source",
    [WRONG, RAN, b"<Job><Id>1", b"", b"<!DOCTYPE Job []><Job/>", gzip.compress(WRONG, mtime=0)],
)
@pytest.mark.parametrize("profile", ["full", "minimal"])
def test_findings_are_those_of_the_command(client, source, profile):
    answer = client.post(f"/validate.json?profile={profile}", content=source)
    assert answer.status_code == 200
    told = json.loads(printed("validate", "--json", "--profile", profile, "-", given=source))
    assert answer.json() == [{**each, "file": "body"} for each in told]


def test_records_become_the_lines_of_the_command_and_are_counted(client):
    answer = client.post("/convert.jsonl?from=slurm&tz=Europe/London", content=SACCT)
    assert answer.status_code == 200
    assert answer.text == printed(
        "convert", "--from", "slurm", "--tz", "Europe/London", "--to", "jsonl", "-", given=SACCT
    )
    counts = {name: answer.headers[f"sssjob-{name}"] for name in ("records", "jobs", "bad")}
    assert counts == {"records": "2", "jobs": "1", "bad": "1"}
    assert client.post("/convert.jsonl", content=SACCT).text.count("\n") == 1  # recognised
    assert client.post("/convert.jsonl?from=sss", content=RAN).status_code == 200


def test_a_report_is_that_of_the_command(client, address):
    for query, words in (
        ("", ()),
        (
            "?by=state,user&sort=jobs&limit=1",
            ("--by", "state,user", "--sort", "jobs", "--limit", "1"),
        ),
        ("?since=1700003701", ("--since", "1700003701")),
    ):
        told = client.get(f"/report.json{query}")
        assert told.json() == json.loads(printed("report", "--json", *words, address))


@pytest.mark.parametrize("offers", [OFFERS, GIVEN, GIVEN * 2], ids=["json", "xml", "two"])
@pytest.mark.parametrize("mode", [(), ("--mode", "exact"), ("--mode", "fit")], ids=str)
def test_what_jobs_ask_of_offers_is_that_of_the_command(client, tmp_path, offers, mode):
    (tmp_path / "offers").write_bytes(offers)
    query = f"?mode={mode[1]}" if mode else ""
    command = ("match", "--json", "--offers", str(tmp_path / "offers"), *mode)
    given = json.loads(offers) if offers is OFFERS else offers.decode()
    answer = client.post(f"/match.json{query}", json={"jobs": ASKS.decode(), "offers": given})
    assert answer.status_code == 200
    assert answer.json() == json.loads(printed(*command, "-", given=ASKS))
    for place in (1, 2):
        answer = client.post(f"/jobs/2/{place}/match.json{query}", content=offers)
        one = ("--select", f"/JobGroup/Job[{place}]", "-")
        assert answer.json() == json.loads(printed(*command, *one, given=ASKS)) != []


def test_numbers_of_offers_count_as_they_are_written(client):
    ask = "<Job><Requested><Memory op='GE'>{}</Memory></Requested></Job>"
    for least, verdict in (("0.1", "yes"), ("0.10000000000000000001", "no")):
        body = f'{{"jobs": "{ask.format(least)}", "offers": {{"Memory": 0.1}}}}'
        assert client.post("/match.json", content=body).json()[0]["verdict"] == verdict


@pytest.mark.parametrize(
    "path, content, status, said",
    [
        ("/validate.json?profile=ful", RAN, 400, "did you mean full?"),
        ("/convert.jsonl?from=slrum", SACCT, 400, "did you mean slurm?"),
        ("/convert.jsonl?tz=Mars/Base", SACCT, 400, "Mars/Base"),
        ("/convert.jsonl?from=slurm", b"nonsense", 422, "body"),
        ("/convert.jsonl", b"", 422, "body"),
        ("/convert.jsonl?from=sss", b"<Job>", 200, ""),
        ("/match.json", b"", 422, "no JSON"),
        ("/match.json", b"[" * 9000, 422, "too deep"),
        ("/match.json", b"[]", 422, '"jobs" and "offers"'),
        ("/match.json", b'{"jobs": 1, "offers": []}', 422, "as a text"),
        ("/match.json", b'{"jobs": "<Job>", "offers": []}', 422, "Job"),
        ("/match.json", b'{"jobs": "<Job/>", "offers": "<Job>"}', 422, "Job"),
        ("/match.json", b'{"jobs": "\\ud800<Job/>", "offers": []}', 422, "of no known kind"),
        ("/match.json", b'{"jobs": "<Job/>", "offers": [{"Memory": "2 XB"}]}', 422, "offers[0]"),
        ("/match.json", b'{"jobs": "<Job/>", "offers": [], "offers": []}', 422, "twice"),
        ("/match.json?mode=exakt", b"[]", 400, "did you mean exact?"),
        ("/jobs/1/0/match.json", b"/etc/passwd", 422, "no JSON"),
        ("/jobs/1/9/match.json", b"[]", 404, "no such job"),
        ("/jobs/2/0/match.json", b"[]", 404, "no such job"),
        ("/report.json?by=usr", None, 400, "did you mean user?"),
        ("/report.json?sort=x", None, 400, "for sort"),
        ("/report.json?since=x", None, 400, "for since"),
        ("/report.json?since=9&until=8", None, 400, "does not end before it begins"),
        ("/convert.jsonl?path=/etc/passwd", SACCT, 400, "a parameter"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_told_as_problem_details(client, path, content, status, said):
    answer = client.request("GET" if content is None else "POST", path, content=content)
    assert answer.status_code == status, answer.text
    if status != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        assert said in answer.json()["detail"]
        assert str(store.__file__) not in answer.text


def test_the_content_of_a_body_names_no_file(client):
    entity = b'<!DOCTYPE Job [<!ENTITY x SYSTEM "file:///etc/passwd">]><Job><Id>&x;</Id></Job>'
    for path in POSTED:
        for content in (entity, b"/etc/passwd", b"@/etc/passwd"):
            assert "root:" not in client.post(path, content=content).text


@pytest.mark.parametrize(
    "method, path, template, content",
    [
        ("POST", "/validate.json", "", WRONG),
        ("GET", "/report.json", "", None),
        ("POST", "/match.json", "", json.dumps({"jobs": "<Job/>", "offers": [{}]}).encode()),
        ("POST", "/jobs/2/1/match.json", "/jobs/{document}/{place}/match.json", OFFERS),
    ],
)
def test_an_answer_has_the_schema_of_the_command_and_the_description(
    client, method, path, template, content
):
    told = openapi.document(VIEWS)
    answers = told["paths"][template or path][method.lower()]["responses"]["200"]
    [reference] = answers["content"]["application/json"]["schema"].values()
    name = reference.removeprefix("#/components/schemas/")
    described = told["components"]["schemas"][name]
    assert described == json.loads(printed("schema", name))
    answer = client.request(method, path, content=content).json()
    assert answer
    jsonschema.validate(answer, described)


# --- bounds


def test_a_request_that_cannot_be_read_is_no_answer(client):
    said = "<Job><Requested><Memory op='XX'>2</Memory></Requested></Job>"
    answer = client.post("/match.json", json={"jobs": said, "offers": [{"Memory": "2 GB"}]})
    assert answer.status_code == 422
    assert "/Job/Requested/Memory" in answer.json()["detail"]


@pytest.mark.parametrize("path", POSTED)
def test_too_much_is_refused_before_it_is_kept(client, path):
    large = bodies.LARGEST + 1
    answer = client.post(path, content=b"x" * large)
    assert answer.status_code == 413

    def chunks():
        for _ in range(large // (1 << 20) + 1):
            yield b"x" * (1 << 20)

    assert client.post(path, content=chunks()).status_code == 413
    assert client.post(path, content=b"", headers={"content-length": "9" * 30}).status_code == 413


def test_what_comes_too_slowly_is_ended():
    async def never():
        await asyncio.Event().wait()

    asked = Request({"type": "http", "method": "POST", "headers": []}, never)
    with pytest.raises(HTTPException) as caught:
        asyncio.run(bodies.read(asked, patience=0.01))
    assert caught.value.status_code == 408


def test_a_client_that_goes_away_leaves_half_a_body_that_nobody_reads():
    async def gone():
        return {"type": "http.disconnect"}

    asked = Request({"type": "http", "method": "POST", "headers": []}, gone)
    with pytest.raises(HTTPException) as caught:
        asyncio.run(bodies.read(asked))
    assert caught.value.status_code == 400


def test_a_body_that_unpacks_to_too_much_is_ended_and_the_next_one_answered(address):
    bomb = gzip.compress(b"<Job><Id>1</Id><State>x</State></Job>\n" * 400_000, 1)
    # Ten times what a processor takes for the good question.
    stores = StorePool(address, Bounds(memory=1 << 29, seconds=1, deadline=HANG))
    app = application(address, title="jobs", token=TOKEN, hosts=frozenset((HOST,)), stores=stores)
    with TestClient(app, base_url=f"http://{HOST}", headers=BEARER) as client:
        for path in POSTED:
            answer = client.post(path, content=bomb)
            assert answer.status_code == 422, path
        assert client.post("/validate.json", content=RAN).status_code == 200


def test_findings_and_lines_have_a_bound(monkeypatch):
    monkeypatch.setattr(confined, "FINDINGS", 1)
    monkeypatch.setattr(confined, "LINES", 100)
    ask = confined.worker()
    with pytest.raises(LimitExceeded, match="1 findings"):
        ask(confined._ConfinedQuestion("validate", (WRONG * 2, "full")))
    with pytest.raises(LimitExceeded, match="100 bytes"):
        ask(confined._ConfinedQuestion("convert", (SACCT, "slurm", "")))


# --- who may send


@pytest.mark.parametrize("path", POSTED)
def test_a_cookie_lets_nobody_send(client, address, path):
    app = application(address, title="jobs", token=TOKEN, hosts=frozenset((HOST,)))
    with TestClient(app, base_url=f"http://{HOST}", follow_redirects=False) as browser:
        assert browser.get(f"/jobs?token={TOKEN}").status_code == 303
        assert browser.get("/jobs.json").status_code == 200  # by the cookie
        assert browser.post(path, content=RAN).status_code == 401
        assert browser.post(f"{path}?token={TOKEN}", content=RAN).status_code == 401
        assert browser.post(path, content=RAN, headers=BEARER).status_code in (200, 422)


def test_what_is_sent_is_not_kept(client):
    before = client.get("/jobs.json").json()["total"]
    for path in POSTED:
        client.post(path, content=RAN)
        assert client.get(path).status_code == 405
    assert client.get("/jobs.json").json()["total"] == before
