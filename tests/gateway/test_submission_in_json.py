"""Jobs that come to the pages of a gateway as JSON go to a batch system, each once for its key."""

import pytest
from starlette.testclient import TestClient
from submitting_gateway import JOB

from sssjob.client.json_requests import JSONClient
from sssjob.errors import Refused
from sssjob.gateway import service
from sssjob.gateway.config import load
from sssjob.rmap.responder import Responder
from sssjob.web.app import behind_door
from sssjob.web.gate import Gate
from sssjob.web.stores import StorePool
from sssjob.web.views import ViewedStore

PAGES = """
[web]
listen = "127.0.0.1:0"
names = ["here"]
header = "X-User"
proxies = ["192.0.2.7"]
"""


@pytest.fixture
def post(folder):
    """Send a request as the scheduler."""
    path = folder / "gateway.toml"
    path.write_text(path.read_text() + PAGES)
    config = load(path)
    handlers = service.answering(config)
    actions = service.actions_of(config, handlers, None)
    site = ViewedStore(
        StorePool(config.jobs.store), "jobs", Responder(actions, config.ring, config.policy)
    )
    gate = Gate(behind_door(site), config.web, config.jobs.settings.roles, config.ring.revoked)
    with TestClient(gate, base_url="http://here", client=("192.0.2.7", 5)) as client:

        def ask(key, action, actor="maui", **body):
            headers = {"x-user": actor, **({"idempotency-key": key} if key else {})}
            return client.post("/requests.json", headers=headers, json={"action": action, **body})

        ask.keys = site.keys
        yield ask
    handlers.stores.close()


def state(post, id_):
    [row] = post("", "Query", where=[f"Id={id_}"], get=["Id", "State"]).json()["rows"]
    return row["State"]


def test_a_job_is_submitted_once_for_its_key_and_told(post, slurm):
    first = post("1", "Submit", data=JOB.format(""))
    assert first.status_code == 200, first.text
    [id_] = slurm.jobs
    assert first.json()["message"] == f"Successfully submitted job {id_}"
    assert f"<Id>{id_}</Id>" in first.json()["rows"][0]["xml"]
    again = post("1", "Submit", data=JOB.format(""))
    assert (again.status_code, [*slurm.jobs]) == (200, [id_])
    other = post("1", "Submit", data=JOB.format("<Priority>7</Priority>"))
    assert (other.status_code, [*slurm.jobs]) == (422, [id_])
    assert post("2", "Submit", actor="ann", data=JOB.format("")).status_code == 403
    assert post("2", "Submit", data=JOB.format("")).status_code == 200
    assert len(slurm.jobs) == 2


def test_what_is_still_being_answered_is_not_done_beside_it(post, slurm):
    with post.keys.held("maui", "1"):
        told = post("1", "Submit", data=JOB.format(""))
        assert (told.status_code, told.headers["retry-after"], slurm.jobs) == (409, "1", {})
    assert post("1", "Submit", data=JOB.format("")).status_code == 200
    assert len(slurm.jobs) == 1


def test_our_client_asks_again_with_the_same_key(monkeypatch):
    answer = {"code": "000", "message": "", "count": 0, "rows": []}
    later = (429, {"retry-after": "7"}, {}), (503, {"retry-after": "9" * 30}, {})
    answers, keys, waits = iter([(409, {}, {}), *later, (200, {}, answer)]), [], []

    def sent(self, body, key):
        keys.append(key)
        return next(answers)

    monkeypatch.setattr(JSONClient, "_sent", sent)
    client = JSONClient("https://here/", "token", tries=4, sleep=waits.append)
    assert client.call({"action": "Create", "object": "Job"}).status.code == "000"
    assert (len({*keys}), len(keys), waits[1:]) == (1, 4, [7, 61])
    monkeypatch.setattr(JSONClient, "_sent", lambda *_: (429, {}, {"detail": "Too many."}))
    with pytest.raises(Refused, match="Too many") as busy:
        client.call({"action": "Create", "object": "Job"})
    assert busy.value.code == "730"


def test_an_order_is_given_once_for_its_key(post, slurm):
    assert post("1", "Submit", data=JOB.format("")).status_code == 200
    [id_] = slurm.jobs
    where = [f"Id={id_}"]
    held = post("2", "Hold", where=where)
    assert (held.status_code, state(post, id_)) == (200, "Hold"), held.text
    assert post("3", "Release", where=where).status_code == 200
    # What was not answered in time is sent again, when somebody else has done more since.
    assert post("2", "Hold", where=where).json() == held.json()
    assert state(post, id_) == "Idle"
    assert post("2", "Cancel", where=where).status_code == 422
    assert post("4", "Cancel", where=where).status_code == 200
    assert state(post, id_) == "Cancelled"
