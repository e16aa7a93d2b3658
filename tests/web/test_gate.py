"""The pages of a gateway: who is let in, what they see, and what they change by its handlers."""

import json
from ipaddress import ip_network

import pytest
from gateways import prepared
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient
from strange_jobs import GROUP

from sssjob import store
from sssjob.features.answers import token_digest
from sssjob.gateway import service
from sssjob.gateway.config import load
from sssjob.gateway.pages import PagesPlan
from sssjob.handlers.roles import Roles
from sssjob.rmap.address import Address
from sssjob.rmap.responder import Responder
from sssjob.store.summary import Summary
from sssjob.web.app import behind_door
from sssjob.web.gate import Gate, Rate
from sssjob.web.readers import Reader
from sssjob.web.stores import StorePool, Summaries
from sssjob.web.views import KeysInUse, ViewedStore

NAME = "jobs.example.org"
CONFIG = """
[store]
address = "jobs.db"
[security]
unsigned = true
[web]
listen = "127.0.0.1:0"
names = ["jobs.example.org"]
header = "X-Remote-User"
proxies = ["192.0.2.0/28", "2001:db8::1"]
rate = 1000
[actors.root]
roles = ["admin"]
token = "root.token"
[actors.sched]
roles = ["scheduler"]
token = "sched.token"
[actors.mia]
roles = ["user"]
projects = ["climate", "ice"]
[actors.gone]
revoked = true
token = "gone.token"
[actors.guest]
roles = ["anonymous"]
"""
TOKEN = "a-token-of-{}-that-nobody-guesses"
JOBS = (
    ("1", "amy", "climate"), ("2", "amy", "soil"), ("3", "bob", "climate"), ("4", "bob", "soil"),
    ("5", "am", "ice"),
)  # fmt: skip
TWO = "<Job><Id>6</Id><User>amy</User><Delivered><User>bob</User></Delivered></Job>"  # of two users
TWICE = "<Job><Id>7</Id><User>amy</User><User>bob</User></Job>"
MIXED = GROUP  # a is amy's, b is bob's
OF_AMY = GROUP.replace("<Id>g<", "<Id>own<").replace("<User>bob</User>", "").replace(
    "<Id>a<", "<Id>c<").replace("<Id>b<", "<Id>d<").replace(">a</Dep", ">c</Dep")  # fmt: skip
SEEN = {
    "root": {*"1234567", "a", "b", "c", "d"}, "sched": {*"1234567", "a", "b", "c", "d"},
    "amy": {"1", "2", "a", "c", "d"}, "bob": {"3", "4", "b"}, "am": {"5"},
    "mia": {"1", "3", "5"}, "nobody": set(),
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    tokens = {f"{name}.token": TOKEN.format(name) for name in ("root", "sched", "gone")}
    folder = prepared(tmp_path_factory.mktemp("gate"), CONFIG, **tokens)
    with store.open(folder / "jobs.db", create=True) as jobs:
        for each in JOBS:
            told = "<Job><Id>{}</Id><User>{}</User><Project>{}</Project></Job>"
            jobs.load(told.format(*each).encode())
        for document in (TWO, TWICE, MIXED, OF_AMY):
            jobs.load(document.encode())
    return load(folder / "gateway.toml")


@pytest.fixture(scope="module", params=["store", "summary"])
def asking(request, site):
    """Ask as an actor, by a proxy's header or by a token; large stores answer by a summary."""
    handlers = service.answering(site)
    responder = Responder(service.actions_of(site, handlers, None), site.ring, site.policy)
    summaries = Summaries(site.jobs.store, large=0 if request.param == "summary" else 1 << 40)
    stores = StorePool(site.jobs.store, summaries=summaries)
    app = behind_door(ViewedStore(stores, "jobs", responder))
    gate = Gate(app, site.web, site.jobs.settings.roles, site.ring.revoked)
    with TestClient(gate, base_url=f"https://{NAME}", client=("192.0.2.7", 5)) as client:

        def ask(path, actor=None, method="GET", **how):
            headers = {"accept": "text/html", **how.pop("headers", {})}
            if actor is not None:
                headers["x-remote-user"] = actor
            return client.request(method, path, headers=headers, **how)

        ask.client, ask.gate = client, gate
        ask("/jobs", "root")
        summaries.wait()
        with stores.opened() as kept:
            counted = summaries.of(kept, Reader("mia", gate.reach("mia")).sees).engine
            assert isinstance(counted, Summary) is (request.param == "summary")
        yield ask
    handlers.stores.close()


def ids(answer):
    assert answer.status_code == 200, answer.text
    return {each["id"] for each in answer.json()["jobs"]}


# --- who is let in


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"x-remote-user": "amy"}, 200),
        ({"X-REMOTE-USER": "amy"}, 200),
        ({"x-remote-user": " "}, 401),
        ({"x-remote-user": "a" * 201}, 401),
        ({"x-remote-user": b"a\x85b"}, 401),
        ({"authorization": "Bearer " + TOKEN.format("root")}, 200),
        ({"authorization": "bearer  " + TOKEN.format("root")}, 200),
        ({"authorization": "Bearer " + TOKEN.format("root") + "x"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"authorization": b"Bearer \xff"}, 401),
        ({"authorization": "Basic " + TOKEN.format("root")}, 401),
        ({"authorization": "Bearer " + TOKEN.format("gone")}, 401),
        ({"x-remote-user": "gone"}, 401),
        ({"x-remote-user": "guest"}, 403),
        ({"x-remote-user": "root", "host": "other.example.org"}, 421),
        ({"cookie": f"token={TOKEN.format('root')}"}, 401),
    ],
)
def test_who_is_proven_is_let_in(asking, headers, status):
    assert asking.client.get("/jobs", headers=headers).status_code == status


def test_a_header_that_comes_twice_is_nobodys(asking):
    headers = [("x-remote-user", "amy"), ("x-remote-user", "root")]
    assert asking.client.get("/jobs", headers=headers).status_code == 401


@pytest.mark.parametrize("host", ["192.0.2.16", "203.0.113.1", "::ffff:192.0.2.7", "testclient"])
def test_a_header_from_elsewhere_is_not_believed(asking, host):
    with TestClient(asking.gate, base_url=f"https://{NAME}", client=(host, 5)) as client:
        assert client.get("/jobs", headers={"x-remote-user": "root"}).status_code == 401
        token = {"authorization": "Bearer " + TOKEN.format("root")}
        assert client.get("/jobs", headers=token).status_code == 200


def test_who_asks_too_often_waits():
    now = [0.0]
    rate = Rate(2, clock=lambda: now[0])
    assert [rate.wait("amy") for _ in range(3)] == [0, 0, 30]
    assert rate.wait("bob") == 0
    now[0] += 29
    assert rate.wait("amy") == pytest.approx(1)
    now[0] += 1
    assert rate.wait("amy") == 0


def test_an_actor_who_asks_too_often_is_told_when(asking):
    asking.gate._rate = Rate(1, clock=lambda: 0.0)
    try:
        assert asking("/jobs", "amy").status_code == 200
        refused = asking("/jobs", "amy")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "61")
        assert asking("/jobs", "bob").status_code == 200
    finally:
        asking.gate._rate = Rate(1_000_000)


def test_an_address_that_tries_tokens_waits_and_nobody_else(asking):
    asking.gate._strangers = Rate(2, clock=lambda: 0.0)
    wrong = {"authorization": "Bearer wrong"}
    try:
        told = [asking("/jobs", None, headers=wrong).status_code for _ in range(3)]
        assert told == [401, 401, 429]
        assert asking("/jobs", "amy").status_code == 200
    finally:
        asking.gate._strangers = Rate(1_000_000)


# --- what they see


@pytest.mark.parametrize("actor", SEEN)
def test_each_sees_what_their_roles_say(asking, actor):
    seen = SEEN[actor]
    found = ids(asking("/jobs.json?columns=id", actor))
    assert found == seen
    assert asking("/jobs.json", actor).json()["total"] == len(seen)
    lines = asking("/jobs.jsonl?columns=id&size=1", actor).text.splitlines()
    assert {json.loads(line)["id"] for line in lines} == seen
    states = asking("/facets/state.json", actor).json()["values"]
    assert sum(each["jobs"] for each in states) == len(seen)
    waits = asking("/waits.json", actor).json()["parts"]
    assert sum(each["jobs"] for each in waits) == len(seen)
    undated = asking("/usage.json?measure=jobs", actor).json()["undated"]
    assert undated == len(seen)


def test_gateway_and_pages_show_the_same_jobs_as_ones_own(asking):
    for actor in ("amy", "bob", "am", "nobody"):
        rows = requested(asking, actor, action="Query", get=["Id"]).json()["rows"]
        assert {each["Id"] for each in rows} == SEEN[actor], actor


EVERY = {"/jobs/1/0": "1", "/jobs/3/0": "3", "/jobs/6/0": "6", "/jobs/7/0": "7",
         "/jobs/8/1": "a", "/jobs/8/2": "b", "/jobs/9/1": "c"}  # fmt: skip
ENDINGS = ("", ".json", ".xml", "/translation?to=sbatch", "/translation.json?to=sbatch")


@pytest.mark.parametrize("actor", ["amy", "bob", "mia", "root"])
def test_a_job_of_others_is_not_there(asking, actor):
    for path, id_ in EVERY.items():
        seen = id_ in SEEN[actor]
        for ending in ENDINGS:
            found = asking(path + ending, actor).status_code
            assert found == (200 if seen else 404), (path, ending)
        sent = asking(f"{path}/match.json", actor, "POST", content=b"[]",
                      headers={"sec-fetch-site": "same-origin"})  # fmt: skip
        assert (sent.status_code == 404) is not seen, path
        by_id = asking(f"/jobs/by-id?id={id_}", actor, follow_redirects=False)
        assert by_id.status_code == (303 if seen else 404)


def test_a_group_is_seen_by_who_sees_all_its_jobs(asking):
    for actor, mixed, own in (("amy", 404, 200), ("bob", 404, 404), ("root", 200, 200)):
        for ending in ("", ".json", ".xml"):
            assert asking(f"/jobs/8/0{ending}", actor).status_code == mixed
            assert asking(f"/jobs/9/0{ending}", actor).status_code == own
    # A job of a group that is not only one's own tells nothing of the others.
    page = asking("/jobs/8/2", "bob").text
    assert "amy" not in page.replace("instead of amy of JobDefaults", "")
    assert "JobGroup" not in re_main(page)
    assert "<svg" not in page
    assert json.loads(asking("/jobs/8/2.json", "bob").text)["versions"] == []


def re_main(page):
    return page.partition('<main id="main">')[2].partition("Values that hold")[0]


def test_what_a_job_was_when_it_was_somebody_elses_is_not_shown(tmp_path):
    path = str(tmp_path / "jobs.db")
    with store.open(path, create=True) as jobs:
        for user, name in (("amy", "secret"), ("bob", "plain")):
            jobs.load(f"<Job><Id>1</Id><Name>{name}</Name><User>{user}</User></Job>".encode())
        jobs.load(b"<Job><Id>2</Id><Name>old</Name><User>bob</User></Job>")
        jobs.load(b"<Job><Id>2</Id><Name>new</Name><User>bob</User></Job>")
    plan = PagesPlan(
        Address("127.0.0.1", 0), (NAME,), header="x-user", proxies=(ip_network("192.0.2.7"),),
    )  # fmt: skip
    gate = Gate(
        behind_door(ViewedStore(StorePool(path), "jobs")), plan, Roles(projects={"mia": ("p",)})
    )
    with TestClient(gate, base_url=f"https://{NAME}", client=("192.0.2.7", 5)) as client:
        bob = {"x-user": "bob", "accept": "text/html"}
        for ending in ("", ".json"):
            assert "secret" not in client.get(f"/jobs/1/0{ending}", headers=bob).text
        assert client.get("/jobs/1/0.json", headers=bob).json()["versions"] == []
        assert len(client.get("/jobs/2/0.json", headers=bob).json()["versions"]) == 2


@pytest.mark.parametrize("path", ["/query?xpath=//Job", "/query.json?xpath=//Job", "/report.json"])
def test_what_is_asked_of_all_jobs_is_for_who_sees_all(asking, path):
    assert asking(path, "amy").status_code == 403
    assert asking(path, "mia").status_code == 403
    assert asking(path, "root").status_code == 200


# --- what they change


def requested(asking, actor, key="", headers=(), **body):
    how = {"accept": "application/json", **dict(headers)}
    if key:
        how["idempotency-key"] = key
    return asking("/requests.json", actor, "POST", json=body, headers=how)


def test_a_job_is_created_once_for_its_key_and_changed(asking, request):
    name = f"new{request.node.callspec.id}"
    job = f"<Job><Id>{name}</Id><User>amy</User></Job>"
    new = {"action": "Create", "data": job}
    for _ in range(2):
        made = requested(asking, "sched", "k1" + name, **new)
        assert made.status_code == 200, made.text
        assert made.json()["count"] == 1
    assert requested(asking, "sched", "k2" + name, **new).status_code == 422  # it is there
    changed = requested(
        asking, "sched", "k3" + name, action="Modify", where=[f"Id={name}"], set=["Queue=long"]
    )
    assert changed.status_code == 200, changed.text
    told = requested(asking, "amy", action="Query", where=[f"Id={name}"], get=["Id", "Queue"])
    assert told.json() == {
        "code": "000", "message": "", "count": 1,
        "rows": [{"object": "Job", "Id": name, "Queue": "long"}],
    }  # fmt: skip
    gone = requested(asking, "root", "k4" + name, action="Delete", where=[f"Id={name}"])
    assert gone.status_code == 200, gone.text


def test_a_key_is_of_one_request_only(asking, request):
    name = f"one{request.node.callspec.id}"
    told = "<Job><Id>{}</Id><User>amy</User></Job>"
    new = {"action": "Create", "data": told.format(name)}
    made = requested(asking, "root", name, **new)
    assert (made.status_code, made.json()["count"]) == (200, 1)
    for other in (
        {"action": "Create", "data": told.format(name + "b")}, {**new, "option": ["Limit=1"]},
        {"action": "Modify", "where": [f"Id={name}"], "set": ["Queue=long"]},
        {"action": "Delete", "where": [f"Id={name}"]},
    ):  # fmt: skip
        refused = requested(asking, "root", name, **other)
        assert refused.status_code == 422, other
        assert "each request has a key of its own" in refused.json()["detail"]
    assert requested(asking, "root", name, **new).json() == made.json()
    found = requested(asking, "root", action="Query", where=[f"Id={name}"], get=["Queue"])
    assert [each.get("Queue") or None for each in found.json()["rows"]] == [None]
    # Keys of another actor are others; what was refused keeps its key.
    gone = {"action": "Delete", "where": [f"Id={name}"]}
    assert requested(asking, "sched", name, **new).status_code == 422  # it is there
    again = {"action": "Modify", "where": [f"Id={name}"], "set": ["EndTime=never"]}
    assert requested(asking, "root", name + "c", **again).status_code in (400, 422)
    assert requested(asking, "root", name + "c", **gone).status_code == 422
    assert requested(asking, "root", name + "d", **gone).status_code == 200


def test_two_keys_are_refused(asking):
    headers = [("idempotency-key", "x1"), ("idempotency-key", "x2"), ("accept", "*/*")]
    headers.append(("authorization", "Bearer " + TOKEN.format("sched")))
    body = {"action": "Create", "data": "<Job><Id>two</Id></Job>"}
    told = asking.client.post("/requests.json", json=body, headers=headers)
    assert (told.status_code, told.json()["detail"]) == (
        400, "Idempotency-Key is there more than once.")  # fmt: skip
    assert "two" not in ids(asking("/jobs.json?columns=id", "root"))


def test_a_request_that_is_still_answered_is_not_answered_beside_it():
    keys = KeysInUse()
    with keys.held("amy", "1"), keys.held("bob", "1"), keys.held("amy", "2"):
        with pytest.raises(HTTPException) as found, keys.held("amy", "1"):
            pass
        assert found.value.status_code == 409
    with pytest.raises(ZeroDivisionError), keys.held("amy", "1"):
        raise ZeroDivisionError
    with keys.held("amy", "1"):
        pass


@pytest.mark.parametrize("actor", ["amy", "mia", "nobody"])
@pytest.mark.parametrize("action", ["Create", "Modify", "Delete", "Charge", "Undelete", "Submit"])
def test_who_may_not_change_anything_is_refused(asking, actor, action):
    body = {"action": action, "where": ["Id=1"], "data": "<Job><Id>9</Id><User>amy</User></Job>"}
    told = requested(asking, actor, "k", **body)
    assert told.status_code in (400, 403), told.text
    assert told.headers["content-type"] == "application/problem+json"
    assert ids(asking("/jobs.json?columns=id", "root")) == SEEN["root"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "JSON"), (b"[]", "an object of JSON"), (b"{", "JSON"), (b"[" * 100_000, "JSON"),
        (b'{"action": "Query", "action": "Create"}', "twice"),
        (b"{}", "an action such as Query"), (b'{"action": 1}', "a text, for action"),
        (b'{"action": "Query", "where": "Id=1"}', "a list of texts, for where"),
        (b'{"action": "Query", "where": [1]}', "a list of texts, for where"),
        (b'{"action": "Query", "limit": true}', "a whole number above 0, up to"),
        (b'{"action": "Query", "limit": -1}', "above 0, up to 2147483648, for limit"),
        (b'{"action": "Query", "limit": 99999999999999999999999}', "above 0, up to 2147483648"),
        (b'{"action": "Query", "actor": "root"}', "one of action"),
        (b'{"action": "Query", "where": ["Id ! 1"]}', "NAME OP VALUE"),
        (b'{"action": "Query", "object": "Nothing"}', "(740)"),
        (b'{"action": "Fly"}', "Idempotency-Key"),
        (b'{"action": "Query", "data": "<Job>"}', "XML"),
        (b'{"action": "Query", "data": "text"}', "XML"),
    ],
)  # fmt: skip
def test_a_body_that_is_no_request_is_told(asking, body, said):
    told = asking("/requests.json", "root", "POST", content=body, headers={"accept": "*/*"})
    assert told.status_code in (400, 422), told.text
    assert said in told.json()["detail"]


def test_data_that_would_be_a_large_tree_is_refused(asking):
    data = "<Job>" + "<a/>" * 3_000_000 + "</Job>"
    told = requested(asking, "sched", "large", action="Create", data=data)
    assert told.status_code == 400
    assert "tags and attributes" in told.json()["detail"]


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example.org"}, {"origin": "null"},
        {"origin": f"https://{NAME}:444"},
        {"origin": f"https://{NAME}", "sec-fetch-site": "cross-site"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/requests.json", "/validate.json", "/convert.jsonl"])
def test_a_page_of_another_site_sends_nothing(asking, path, headers):
    told = asking(path, "root", "POST", content=b"{}", headers=headers)
    assert (told.status_code, "another site" in told.text) == (403, True)
    token = {"authorization": "Bearer " + TOKEN.format("root")}
    told = asking(path, None, "POST", content=b"{}", headers={**headers, **token})
    assert told.status_code != 403  # no page can send a token that it does not know


def test_pages_of_ones_own_machine_have_no_requests(tmp_path):
    from sssjob.web.app import application

    path = str(tmp_path / "jobs.db")
    store.open(path, create=True).close()
    app = application(path, title="t", token="t", hosts=frozenset((NAME,)))
    with TestClient(app, base_url=f"http://{NAME}", headers={"authorization": "Bearer t"}) as one:
        assert one.post("/requests.json", json={"action": "Query"}).status_code == 404
        assert "/requests.json" not in one.get("/openapi.json").json()["paths"]


def test_the_description_has_requests(asking):
    told = asking("/openapi.json", "amy").json()["paths"]["/requests.json"]["post"]
    schema = told["requestBody"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["action"]


# --- the file


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('listen = "127.0.0.1:0"', "", "web.listen"),
        ('listen = "127.0.0.1:0"', 'listen = "127.0.0.1:x"', "web.listen"),
        ('header = "X-Remote-User"', "", "both header and proxies"),
        ('header = "X-Remote-User"', 'header = "Host"', "a header of the proxy alone"),
        ('header = "X-Remote-User"', 'header = "X: Y"', "a header of the proxy alone"),
        ('"192.0.2.0/28"', '"192.0.2.1/28"', "addresses such as"),
        ('token = "sched.token"', 'token = "root.token"', "a token of its own"),
        ('token = "sched.token"', 'token = "none.token"', "a file with a token"),
        ('token = "sched.token"', 'token = "short.token"', "at least 16"),
        ('token = "sched.token"', 'token = "open.token"', "only its owner reads"),
        ('token = "sched.token"', 'token = "bytes.token"', "bytes.token: byte 2 is no UTF-8"),
        ("rate = 1000", "rate = 0", "web.rate"),
        ('[store]\naddress = "jobs.db"', "", "where jobs are kept"),
    ],
)
def test_what_is_wrong_with_the_file_is_told(site, tmp_path, old, new, said):
    from sssjob.errors import BadSettings

    assert old in CONFIG
    path = tmp_path / "gateway.toml"
    path.write_text(CONFIG.replace(old, new))
    for name, mode in (("root", 0o600), ("sched", 0o600), ("gone", 0o600), ("open", 0o644)):
        file = tmp_path / f"{name}.token"
        file.write_text(TOKEN.format(name))
        file.chmod(mode)
    (tmp_path / "short.token").write_text("short")
    (tmp_path / "short.token").chmod(0o600)
    (tmp_path / "bytes.token").write_bytes(b"a\xff" * 20)
    (tmp_path / "bytes.token").chmod(0o600)
    with pytest.raises(BadSettings) as found:
        load(path)
    assert said in str(found.value)


def test_a_token_is_kept_as_its_digest(site):
    assert site.web.tokens[token_digest(TOKEN.format("root"))] == "root"
    assert TOKEN.format("root") not in repr(site)
