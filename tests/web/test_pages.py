"""The pages and the data of a store, asked in one process: whatever jobs say, and whoever asks."""

import csv
import io
import json
import re
import sys
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
from lxml import etree
from starlette.testclient import TestClient
from strange_jobs import GROUP, HOSTILE, RAN, hostile
from waiting import HANG

from sssjob import store
from sssjob.errors import BusyStore, LimitExceeded, LostWorker, UnusableStore
from sssjob.verbs.confined import Bounds
from sssjob.visible import visible
from sssjob.web import openapi
from sssjob.web.app import application
from sssjob.web.routes import VIEWS
from sssjob.web.stores import StorePool
from sssjob.web.views import HTML

HOST = "127.0.0.1:8181"
TOKEN = "sesame"


class Page(HTMLParser):
    """What a page has: its tags and attributes, and its texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.links, self.texts = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        self.links += [value for name, value in attributes if name in ("href", "action", "src")]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("web") / "jobs.db"
    with store.open(path, create=True, by="<i>alice</i>") as jobs:
        jobs.load(GROUP.encode(), name="<b>.xml")  # document 1
        jobs.load(RAN.encode())  # 2
        jobs.load(RAN.replace("Completed", "Failed").encode(), reason="<u>told</u>")
        for number, text in enumerate(HOSTILE):  # from 3 on
            jobs.load(hostile(number, text).encode())
    return str(path)


@pytest.fixture(scope="module")
def client(address):
    app = application(address, title="<s>store</s>", token=TOKEN, hosts=frozenset((HOST,)))
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as made:
        yield made


# --- who is let in


@pytest.fixture
def stranger(address):
    app = application(address, title="jobs", token=TOKEN, hosts=frozenset((HOST,)))
    with TestClient(app, base_url=f"http://{HOST}", follow_redirects=False) as made:
        yield made


@pytest.mark.parametrize(
    "path", ["/", "/jobs", "/jobs.json", "/openapi.json", "/nothing", "/query"]
)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"headers": {"authorization": "Bearer sesam"}},
        {"headers": {"authorization": "Bearer \u00e9".encode()}},
        {"headers": {"authorization": "Basic sesame"}},
        {"headers": {"cookie": "sssjob-8181=sesame2"}},
        {"headers": {"cookie": "sssjob-8182=sesame"}},
        {"params": {"token": "sesame "}},
    ],
    ids=str,
)
def test_who_does_not_know_the_token_is_told_nothing(stranger, path, how):
    answer = stranger.get(path, **how)
    assert answer.status_code == 401
    assert "amy" not in answer.text


def test_the_token_of_the_address_becomes_a_cookie_and_leaves_the_address(stranger):
    answer = stranger.get("/jobs", params={"user": "amy & bob", "token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs?user=amy+%26+bob")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert stranger.get("/jobs").status_code == 200  # by the cookie
    assert stranger.get("/jobs?token=other").status_code == 400  # no parameter of the page


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:80", "localhost:8181.evil.example", "", "[::1]"],
)
def test_a_request_by_another_name_is_refused(client, host):
    answer = client.get("/jobs.json", headers={"host": host})
    assert answer.status_code == 421
    assert "amy" not in answer.text


def test_nothing_is_written_to(client):
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, "/jobs").status_code == 405


def test_every_answer_says_what_a_browser_may_do_with_it(client):
    for path in ("/jobs", "/jobs.json", "/nothing", "/static/style.css", "/jobs?user=1&user=2"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "script-src" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


# --- hostile texts

SHOWING = [
    "/jobs/1/0",
    "/jobs",
    f"/jobs?columns={','.join(('id', 'name', 'user', 'project', 'state', 'queue', 'machine'))}",
    *(f"/facets/{name}" for name in ("state", "user", "project", "queue", "machine")),
    *(f"/jobs/{number}/0" for number in range(2, 3 + len(HOSTILE))),
    *(f"/jobs/{number}/0/translation?to=sbatch" for number in range(3, 3 + len(HOSTILE))),
    "/jobs/1/1",
    "/jobs/1/2",
    *(
        f"/usage?measure=jobs&by={name}"
        for name in ("user", "project", "queue", "machine", "state")
    ),
    "/waits",
    *(f"/usage?{urlencode({'q': text, 'by': text})}" for text in HOSTILE),
    *(f"/usage?{urlencode({'q': text, 'user': text})}" for text in HOSTILE),
    *(f"/waits?{urlencode({'of': 'wall', 'name': text})}" for text in HOSTILE),
    *(f"/jobs?{urlencode({'q': text, 'name': text})}" for text in HOSTILE),
    *(f"/jobs?{urlencode({'sort': text})}" for text in HOSTILE),
]


@pytest.mark.parametrize("path", SHOWING)
def test_no_text_of_a_stranger_becomes_a_tag_or_an_address(client, path):
    answer = client.get(path)
    assert answer.status_code in (200, 400), answer.text
    page = Page(answer.text)
    assert not page.tags & {"script", "img", "iframe", "i", "u", "s", "object", "base", "meta-x"}
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
    for link in page.links:
        assert link.startswith(("/", "#")), link
        assert not link.startswith("//"), link
    assert not re.search("[\u202e\u2066\u200b]", answer.text)
    assert "49" not in "".join(page.texts).split()


@pytest.mark.parametrize("number, text", [*enumerate(HOSTILE)], ids=HOSTILE)
def test_a_hostile_name_is_shown_and_its_facet_leads_to_its_job(client, number, text):
    page = Page(client.get(f"/jobs/{number + 3}/0").text)
    assert visible(text) in "".join(page.texts)
    facet = Page(client.get("/facets/queue").text)
    links = [link for link in facet.links if urlencode({"queue": text}) in link]
    [row] = client.get(links[0].replace("/jobs?", "/jobs.json?")).json()["jobs"]
    assert row["queue"] == text
    assert row["job"] == f"/jobs/{number + 3}/0"


def test_control_characters_of_an_address_are_shown(client):
    answer = client.get("/jobs?" + urlencode({"user": "a\x1b[2J\u009b"}))
    assert "\x1b" not in answer.text
    assert "a␛[2J" in unescape(answer.text)


# --- the table


def test_every_link_of_the_pages_leads_to_a_page(client):
    seen, waiting = set(), ["/jobs"]
    while waiting:
        path = waiting.pop(0)
        if path in seen or len(seen) > 70 or path.count("=") > 1:
            continue
        seen.add(path)
        answer = client.get(path)
        assert answer.status_code == 200, (path, answer.text)
        if "html" in answer.headers["content-type"]:
            waiting += [link for link in Page(answer.text).links if link[:1] == "/"]
    assert {"/query", "/openapi.json", "/static/style.css"} <= seen


def test_the_same_address_gives_data(client):
    found = client.get("/jobs.json?user=amy&columns=id,user,wall&sort=id").json()
    assert found == {
        "jobs": [
            {"job": "/jobs/2/0", "id": "7", "user": "amy", "wall": 3600},
            {"job": "/jobs/1/1", "id": "a", "user": "amy", "wall": None},
        ],
        "as_of": None,
        "total": 2,
        "next": None,
    }
    rows = csv.reader(io.StringIO(client.get("/jobs.csv?user=amy&columns=id,wall&sort=id").text))
    assert [*rows] == [["id", "wall"], ["7", "3600"], ["a", ""]]
    lines = client.get("/jobs.jsonl?user=amy&columns=id&sort=id").text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["7", "a"]
    document = etree.fromstring(client.get("/jobs.xml?user=amy&sort=id").content)
    assert [each.findtext("Id") for each in document] == ["7", "a"]
    assert [each.findtext("User") for each in document] == ["amy", "amy"]  # from JobDefaults


@pytest.mark.parametrize("size", [1, 2, 4, 50])
def test_pages_lead_through_all_jobs(client, size):
    path, found = f"/jobs.json?size={size}&sort=-name&columns=id", []
    while path:
        answer = client.get(path).json()
        found += [row["id"] for row in answer["jobs"]]
        path = answer["next"]
    assert len(found) == len(set(found)) == answer["total"] == 3 + len(HOSTILE)
    lines = client.get(f"/jobs.jsonl?size={size}&sort=-name&columns=id").text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == found


@pytest.mark.parametrize(
    "path, said",
    [
        ("/jobs?usr=amy", "did you mean user?"),
        ("/usage?by=usr", "did you mean user?"),
        ("/usage?measure=job", "did you mean jobs?"),
        ("/usage?span=decade", "one of day, week, month, year"),
        ("/usage?colour=red", "a parameter or a column"),
        ("/usage?ran=2026", "two days in order"),
        ("/usage?ran=2026-02-30..2026-03-01", "two days in order"),
        ("/jobs?ended=2026-03-02..2026-03-01", "two days in order"),
        ("/waits?of=wiat", "did you mean wait?"),
        ("/jobs?part=wait", "a name and two whole numbers"),
        ("/jobs?part=wait:-1..2", "a name and two whole numbers"),
        ("/jobs?part=name:1..2", "a number of this page"),
        ("/jobs?sort=stae", "did you mean state?"),
        ("/jobs?columns=id,nmae", "did you mean name?"),
        ("/jobs?columns=,", "a column of jobs"),
        ("/jobs?size=0", "a number from 1 to 1000"),
        ("/jobs?size=9999999999999", "a number from 1 to 1000"),
        ("/jobs?size=%D9%A5", "a number from 1 to 1000"),
        ("/jobs?after=x", "the end of a page"),
        ("/jobs?after=1.0%3Dx&sort=end", "the end of a page"),
        ("/jobs?month=2025", "a month such as"),
        ("/jobs?exit=bad", "is not"),
        ("/jobs?user=a&user=b", "given twice"),
        ("/jobs?user=%00", "without NUL"),
        ("/jobs?facet=users", "one of state, user"),
        ("/facets/user?facet=users", "one of state, user"),
        ("/usage?counted=2026", "two days in order"),
        ("/facets/usr", "did you mean user?"),
        ("/jobs/2/0?x=1", "a parameter"),
        ("/jobs/2/0/translation?to=sbtach", "did you mean sbatch?"),
        ("/jobs/2/0/translation?to=slurm", "one of condor, dagman, "),
        ("/query?xpath=//Job[", "a value or a function"),
        ("/query?version=9", "one of 1.0"),
        ("/jobs?exit=1e400", "a number that a column can hold"),
        ("/jobs?wall=-1e400", "a number that a column can hold"),
        ("/jobs/9223372036854775808/0", "There is no such job"),
        ("/jobs/99999999999999999999/1/translation?to=sbatch", "There is no such job"),
        ("/jobs/99/0", "There is no such job"),
        ("/jobs/by-id?id=99", "There is no such job"),
        ("/jobs/1/0/translation?to=sbatch", "There is no such job"),
        ("/nothing", "Nothing matches"),
    ],
)
def test_what_is_asked_wrongly_is_told_as_a_page_and_as_problem_details(client, path, said):
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert said in unescape(answer.text)
    assert "<h1>" in answer.text
    head, _, query = path.partition("?")
    if head in ("/jobs", "/facets/usr", "/usage", "/waits", "/query", "/facets/user"):
        assert client.get(f"{head}.json?{query}").status_code == answer.status_code
    found = client.get(f"{head}?{query}".rstrip("?"), headers={"accept": "application/json"})
    assert found.headers["content-type"] == "application/problem+json"
    problem = found.json()
    assert said in problem["detail"]
    assert (problem["status"], problem["instance"]) == (answer.status_code, head)


# --- the dashboards


def counted(client, page):
    """The numbers of a table, and how many jobs each of them leads to."""
    for link, told in re.findall(r'class="cell" href="([^"]*)">([^<]*)</a>', page):
        found = client.get(unescape(link).replace("/jobs?", "/jobs.json?", 1)).json()
        yield int(told), found["total"]


@pytest.mark.parametrize(
    "path",
    [
        "/usage?measure=jobs",
        "/usage?measure=jobs&by=state&span=day",
        "/usage?measure=jobs&by=exit&span=year&ran=2023-01-01..2024-01-01",
        "/usage?measure=jobs&by=queue&user=amy",
        *(f"/waits?of={name}" for name in ("wait", "wall", "processors", "nodes", "memory")),
        "/waits?of=wait&part=processors:4..",
    ],
)
def test_each_number_of_a_dashboard_leads_to_as_many_jobs(client, path):
    found = [*counted(client, client.get(path).text)]
    assert all(told == jobs for told, jobs in found), found
    assert found or "nodes" in path


def test_failures_are_told_by_what_is_said_of_them_as_in_reports(tmp_path):
    failed = RAN.replace("Completed", "Failed")
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        for number, said in enumerate(
            ("out of memory", "out of memory", "&lt;b>node&lt;/b> lost", "")
        ):
            text = f"<StatusMessage>{said}</StatusMessage>" if said else ""
            one = failed.replace("<Id>7<", f"<Id>{number}<").replace("<State>", f"{text}<State>")
            jobs.load(one.encode())
    app = application(
        str(tmp_path / "jobs.db"), title="", token=TOKEN, hosts=frozenset((HOST,))
    )  # fmt: skip
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as client:
        [path] = re.findall(
            r'href="([^"]*)">Failed jobs by their StatusMessage', client.get("/usage").text
        )
        page = client.get(unescape(path))
        assert "<b>node" not in page.text
        assert all(told == jobs for told, jobs in counted(client, page.text))
        told = client.get(unescape(path).replace("/usage", "/usage.json")).json()
        counts = dict(
            zip((each or "" for each in told["values"]), told["rows"][0]["amounts"], strict=True)
        )
        report = client.get("/report.json?by=status").json()
    assert counts == {"out of memory": 2, "<b>node</b> lost": 1, "": 1}
    assert counts == {row["status"] or "": row["jobs"] for row in report["rows"]}


def test_a_dashboard_is_drawn_and_told_as_data(client):
    page = client.get("/usage?by=user&span=month&user=amy").text
    assert "processor hours by month and user" in page
    assert "<title>2023-11, amy: 4.00</title>" in page
    told = client.get("/usage.json?by=user&span=month&user=amy").json()
    assert told["values"] == ["amy"]
    assert [(row["span"], row["amounts"], row["total"]) for row in told["rows"]] == [
        ("2023-11", [14400.0], 14400.0)
    ]
    lines = client.get("/usage.csv?by=user&span=month&user=amy").text.splitlines()
    assert lines == ["month,amy,total", "2023-11,14400.0,14400.0"]
    spread = client.get("/waits.json?user=amy").json()["parts"]
    assert {"from": 60, "to": 300, "jobs": 1} in spread
    assert client.get("/waits.csv?user=amy").text.splitlines()[0] == "from,to,jobs"


def test_a_filter_that_leaves_no_job_gives_an_empty_dashboard(client):
    assert "No job that has ended is like this" in client.get("/usage?user=nobody").text
    assert client.get("/usage.json?user=nobody").json()["rows"] == []
    assert "not stated" in client.get("/waits?user=nobody").text


# --- a job


def test_a_page_of_a_job_tells_what_it_used_when_and_who_changed_it(client):
    text = client.get("/jobs/2/0").text
    shown = " ".join("".join(Page(text).texts).split())
    for said in (
        "Of 4 processors about 1 were busy",
        "25 %, 01:00:00 of 04:00:00",
        "submitted 2023-11-14 22:13:20",
        "by <i>alice</i>",
        "(<u>told</u>)",
        "/Job/State",
        "<Id>7</Id>",
    ):
        assert said in shown, said


def test_the_graph_of_a_job_leads_to_the_jobs_around_it(client):
    page = Page(client.get("/jobs/1/2").text)
    assert {"/jobs/1/1", "/jobs/1/2"} <= set(page.links)


def test_a_group_has_a_page_with_its_jobs_its_graph_and_its_document(client):
    page = Page(client.get("/jobs/1/0").text)
    assert {"/jobs/1/1", "/jobs/1/2"} <= set(page.links)
    shown = " ".join("".join(page.texts).split())
    assert "1 done, 1 ready" in shown
    assert "<JobDefaults><User>amy</User></JobDefaults>" in shown
    assert "/jobs/1/0" in Page(client.get("/jobs/1/1").text).links
    found = client.get("/jobs/1/0.json").json()
    assert (found["id"], found["total"]) == ("g", 2)
    told = [(each["job"], each["state"], each["user"]) for each in found["jobs"]]
    assert told == [("/jobs/1/1", "Completed", "amy"), ("/jobs/1/2", None, "bob")]
    assert client.get("/jobs/1/0.xml").content == GROUP.encode()


def test_of_a_long_group_the_first_jobs_are_shown_and_the_rest_counted(tmp_path):
    jobs = "".join(f"<Job><Id>j{n}</Id><Name>{'n' * 3000}</Name></Job>" for n in range(103))
    with store.open(tmp_path / "jobs.db", create=True) as kept:
        kept.load(f"<JobGroup><Id>g</Id>{jobs}</JobGroup>".encode())
    address = str(tmp_path / "jobs.db")
    app = application(address, title="jobs", token=TOKEN, hosts=frozenset((HOST,)))
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as made:
        page = Page(made.get("/jobs/1/0").text)
        assert "And 3 more jobs." in "".join(page.texts)
        assert "/jobs/1/0.xml" in page.links
        assert "svg" not in page.tags
        assert "/jobs/1/100" in page.links
        assert "/jobs/1/101" not in page.links


def test_a_job_as_data(client):
    found = client.get("/jobs/1/2.json").json()
    assert found["id"] == "b"
    assert {"path": "/JobGroup/Job[2]/User", "value": "bob", "source": "own"} in found["effective"]
    assert client.get("/jobs/2/0.xml").content == RAN.replace("Completed", "Failed").encode()
    assert b"<User>amy</User>" in client.get("/jobs/1/1.xml").content


def test_what_is_not_understood_is_told_with_its_policy(tmp_path):
    odd = '<Fancy awarenessPolicy="Warn">x</Fancy><SuspendDuration>100</SuspendDuration></Job>'
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(RAN.replace("</Job>", odd).encode())
        jobs.load(GROUP.replace("</Job>\n</JobGroup>", f"{odd}</JobGroup>").encode())
        jobs.load(RAN.replace(">7<", ">8<").encode())
    app = application(str(tmp_path / "jobs.db"), title="", token=TOKEN, hosts=frozenset((HOST,)))
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as asked:
        page = asked.get("/jobs/1/0").text
        assert "element Fancy</td><td>Warn<" in page
        assert "Suspended for 00:01:40 in all" in page
        told = asked.get("/jobs/1/0.json").json()["not_understood"]
        assert told == [
            {"path": "/Job/Fancy", "kind": "element", "what": "Fancy", "policy": "Warn"}
        ]
        [inner] = asked.get("/jobs/2/2.json").json()["not_understood"]
        assert inner["path"] == "/JobGroup/Job[2]/Fancy"
        plain = asked.get("/jobs/3/0").text
        assert "Not understood" not in plain
        assert "Suspended for" not in plain


def test_an_id_leads_to_its_job(client):
    answer = client.get("/jobs/by-id?id=b", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs/1/2")


def test_a_translation_has_its_text_and_its_losses(client):
    found = client.get("/jobs/2/0/translation.json?to=sbatch").json()
    assert "#SBATCH" in found["text"]
    assert {"path", "reason"} <= found["losses"][0].keys()
    refused = client.get("/jobs/1/1/translation?to=sbatch").text
    assert "It is not written" in refused


# --- XPath


def test_xpath_is_answered_explained_and_mended(client):
    found = client.get("/query.json", params={"xpath": "//Job[User='amy']/Id"}).json()
    assert [(each["job"], each["value"]) for each in found["found"]] == [("a", "a"), ("7", "7")]
    assert found["plan"][0] == "columns decide"
    page = client.get("/query", params={"xpath": "//Job/Proccessors"}).text
    assert "did you mean Processors?" in page
    page = client.get("/query", params={"xpath": "//Job/Name", "size": 1}).text
    assert "There are more answers" in page


@pytest.mark.parametrize("expression", ["9" * 30, "-" + "9" * 30, "1 div 0", "0 div 0", "'\u202e'"])
def test_each_answer_of_xpath_is_data(client, expression):
    for form in ("json", "csv"):
        answer = client.get(f"/query.{form}", params={"xpath": expression})
        assert answer.status_code == 200, answer.text
    found = client.get("/query.json", params={"xpath": expression}).json()["found"]
    assert found
    assert all(set(each) == {"job", "path", "value"} for each in found)


def test_xpath_that_costs_too_much_is_ended_and_the_next_one_answered(address):
    costly = "for $i in 1 to 900000 return for $j in 1 to 900000 return $i * $j"
    # More than a processor takes for the good question, and less than for the costly one.
    stores = StorePool(address, Bounds(memory=1 << 28, seconds=1, deadline=HANG))
    try:
        with pytest.raises((LimitExceeded, LostWorker)):
            stores.ask(costly, "3.1", 5)
        assert stores.ask("count(//Job)", "1.0", 5).found[0].value == 3 + len(HOSTILE)
    finally:
        stores.close()


@pytest.mark.parametrize(
    "error, status",
    [
        (LimitExceeded("seconds", 1), 422),
        (LostWorker("a question", 1), 422),
        (BusyStore("jobs.db", "locked"), 503),
        (UnusableStore("jobs.db", "gone"), 500),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_ends_a_question_has_its_status(client, monkeypatch, error, status):
    def refuse(*_):
        raise error

    monkeypatch.setattr(StorePool, "ask", refuse)
    answer = client.get("/query.json?xpath=//Job")
    assert (answer.status_code, answer.json()["detail"]) == (status, str(error))


# --- faults, and the description


def test_a_damaged_document_is_a_page_that_says_so(tmp_path):
    path = tmp_path / "jobs.db"
    with store.open(path, create=True) as jobs:
        jobs.load(RAN.encode())
        jobs.engine.fetch("UPDATE document SET data = ?", (b"nonsense",))
    app = application(str(path), title="jobs", token=TOKEN, hosts=frozenset((HOST,)))
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as asked:
        assert asked.get("/jobs").status_code == 200
        answer = asked.get("/jobs/1/0")
        assert answer.status_code == 500
        assert "is damaged" in answer.text


def test_a_damaged_document_is_told_and_the_others_go_on(tmp_path):
    path = tmp_path / "jobs.db"
    with store.open(path, create=True) as jobs:
        for number in (7, 8, 9):
            jobs.load(RAN.replace("<Id>7<", f"<Id>{number}<").encode())
        jobs.engine.fetch("UPDATE document SET data = ? WHERE number = 2", (b"nonsense",))
    app = application(str(path), title="jobs", token=TOKEN, hosts=frozenset((HOST,)))
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as asked:
        answer = asked.get("/jobs.xml?sort=id")
        assert (answer.status_code, answer.headers["sssjob-bad"]) == (200, "1")
        root = etree.fromstring(answer.content)
        assert root.xpath("Job/Id/text()") == ["7", "9"]
        assert "document 2 is left out: " in root.getnext().text
        assert "is damaged" in root.getnext().text
        report = asked.get("/report.json")
        assert (report.status_code, report.headers["sssjob-bad"]) == (200, "1")
        assert [row["jobs"] for row in report.json()["rows"]] == [2]
        assert asked.get("/jobs/1/0").status_code == asked.get("/jobs/3/0").status_code == 200


def test_a_damaged_former_version_is_told_beside_the_others(tmp_path):
    path = tmp_path / "jobs.db"
    with store.open(path, create=True) as jobs:
        for state in ("Idle", "Running", "Failed", "Completed"):
            jobs.load(RAN.replace("Completed", state).encode())
        jobs.engine.fetch("UPDATE former SET data = ? WHERE version = 2", (b"nonsense",))
    app = application(str(path), title="jobs", token=TOKEN, hosts=frozenset((HOST,)))
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as asked:
        page = asked.get("/jobs/1/0")
        assert page.status_code == 200
        assert "version 2, is damaged" in page.text
        assert "The version before it is damaged" in page.text
        told = asked.get("/jobs/1/0.json").json()["versions"]
    assert [each["version"] for each in told] == [4, 3, 2, 1]
    assert [len(each["differences"]) for each in told] == [1, 0, 0, 0]
    assert ["damaged" in each["unread"] for each in told] == [False, True, True, False]


def test_a_fault_of_ours_tells_a_client_nothing(client, monkeypatch):
    def broken(*_):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(StorePool, "opened", broken)
    quiet = TestClient(client.app, base_url=f"http://{HOST}", raise_server_exceptions=False)
    answer = quiet.get("/jobs.json", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_description_names_every_view_and_each_of_its_parameters(client):
    found = client.get("/openapi.json").json()
    assert found == openapi.document(VIEWS)
    assert found["openapi"].startswith("3.1")
    for view in VIEWS:
        for form in view.forms:
            path = re.sub(r":\w+", "", view.path) + ("" if form == HTML else f".{form}")
            told = {
                each["name"]: each["in"]
                for each in found["paths"][path][view.method.lower()]["parameters"]
            }
            assert told == {
                **{each.name: "path" for each in view.places},
                **{each.name: "query" for each in view.parameters},
            }
            assert set(re.findall(r"\{(\w+)\}", path)) == {each.name for each in view.places}


def table_of(answer):
    pq = pytest.importorskip("pyarrow.parquet")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    return pq.read_table(io.BytesIO(answer.content))


def test_every_table_has_its_parquet(client):
    jobs = table_of(client.get("/jobs.parquet?columns=id,user,wall&user=amy&sort=id"))
    assert jobs.to_pydict() == {
        "document": [2, 1], "place": [0, 1], "id": ["7", "a"], "user": ["amy", "amy"],
        "wall": [3600, None],
    }  # fmt: skip
    assert table_of(client.get("/jobs.parquet?user=nobody")).num_rows == 0
    whole = table_of(client.get("/jobs.parquet?size=1&columns=id,exit&sort=-id"))  # not one page
    lines = csv.DictReader(io.StringIO(client.get("/jobs.csv?columns=id,exit&sort=-id").text))
    assert whole.column("id").to_pylist() == [each["id"] for each in lines]
    assert str(whole.schema.field("exit").type) == "double"
    twice = table_of(client.get("/jobs.parquet?columns=id,id&user=amy"))
    assert twice.column_names == ["document", "place", "id", "id_3"]
    for path in ("/facets/user", "/usage", "/waits", "/query"):
        query = "?xpath=//Job/Id" if path == "/query" else ""
        whole = table_of(client.get(f"{path}.parquet{query}"))
        assert whole.num_rows > 0, path
        lines = client.get(f"{path}.csv{query}").text.splitlines()
        assert len(lines) == whole.num_rows + 1, path


def test_without_its_library_parquet_is_told(client, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = client.get("/waits.parquet")
    assert (answer.status_code, "sssjob[parquet]" in answer.text) == (501, True)


def test_tasks_on_nodes_are_a_picture(client):
    page = client.get("/jobs/2/0").text
    assert "Tasks on nodes" in page
    assert page.count('stroke="var(--0)"') == 4


def alone(tmp_path, *documents):
    """What asks a store of these documents."""
    path = str(tmp_path / "alone.db")
    with store.open(path, create=True) as jobs:
        for each in documents:
            jobs.load(each.encode())
    app = application(path, title="jobs", token=TOKEN, hosts=frozenset((HOST,)))
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "text/html"}
    return TestClient(app, base_url=f"http://{HOST}", headers=headers)


def test_an_empty_element_states_nothing_and_its_number_leads_to_its_jobs(tmp_path):
    told = "<Job><Id>{}</Id>{}<EndTime>1795564800</EndTime></Job>"
    empty, both = "<Queue/>", "<Queue>a</Queue><Delivered><Queue></Queue></Delivered>"
    jobs = [told.format(n, q) for n, q in enumerate(("<Queue>none</Queue>", empty, "", both))]
    with alone(tmp_path, *jobs) as client:
        values = client.get("/facets/queue.json").json()["values"]
        assert sum(each["jobs"] for each in values) == len(jobs)
        assert {each["value"] for each in values} == {"none", None}
        for each in values:
            found = client.get("/jobs.json", params={"queue": each["value"] or ""}).json()
            assert found["total"] == each["jobs"], each
        assert None in client.get("/usage.json?by=queue&measure=jobs").json()["values"]


def test_the_page_of_a_job_shows_the_operators_of_its_request(tmp_path):
    asked = """<Job><Id>1</Id><Requested><Queue op="NE">debug</Queue><Node>n7</Node>
        <Processors op="GE">4</Processors><Memory op="LE" units="GB">8</Memory>
        <Duration op="LT">61</Duration><Swap op="EQ" units="GB">1</Swap></Requested></Job>"""
    with alone(tmp_path, asked) as client:
        found = {
            each["name"]: each["requested"] for each in client.get("/jobs/1/0.json").json()["asked"]
        }
    assert found == {
        "Processors": "GE 4", "Memory": "LE 8 GB", "Duration": "LE 00:01:00", "Swap": "1 GB",
        "Queue": "NE debug", "Node": "n7",
    }  # fmt: skip


def test_amounts_below_zero_are_none_in_charts_as_in_reports(tmp_path):
    told = """<Job><Id>{}</Id><User>u</User><StartTime>1795564700</StartTime>
        <EndTime>1795564800</EndTime><Delivered><Processors>2</Processors>
        <WallDuration>{}</WallDuration></Delivered></Job>"""
    with alone(tmp_path, told.format(1, -(10**9)), told.format(2, 100)) as client:
        for measure, total in (("wall_seconds", 100), ("processor_seconds", 200)):
            [row] = client.get(f"/usage.json?span=day&measure={measure}").json()["rows"]
            assert row["total"] == total


def test_a_page_as_xml_tells_where_the_next_one_is(tmp_path):
    with alone(tmp_path, *(f"<Job><Id>{n}</Id></Job>" for n in range(5))) as client:
        found, path = [], "/jobs.xml?size=2"
        while path:
            answer = client.get(path)
            found += [each.text for each in etree.fromstring(answer.content).iter("{*}Id")]
            path = answer.links.get("next", {}).get("url")
    assert found == ["4", "3", "2", "1", "0"]


@pytest.mark.parametrize(
    ("view", "row"),
    [
        pytest.param(view, row, id=f"{view.path} {row.name}")
        for view in VIEWS
        for row in view.parameters
        if "enum" in row.schema
    ],
)
def test_what_has_few_values_takes_no_other_one_in_any_form(client, view, row):
    path = re.sub(r"\{(\w+)(:whole)?\}", lambda m: {"name": "user"}.get(m[1], "1"), view.path)
    needed = {each.name: "x" for each in view.parameters if each.required}
    for form in view.forms:
        ending = "" if form == HTML else f".{form}"
        asked = {**needed, row.name: "strange"}
        answer = client.request(view.method, f"{path}{ending}", params=asked, content=b"<Job/>")
        assert answer.status_code == 400, (form, answer.text)
        assert row.name in answer.text


@pytest.mark.parametrize("digits", ["9" * 19, "9" * 5000, "²"], ids=["19", "5000", "no digit"])
def test_a_number_in_a_path_that_nothing_has_is_not_found(client, digits):
    for path in (f"/jobs/{digits}/0", f"/jobs/1/{digits}"):
        assert client.get(path).status_code == 404, path[:40]
