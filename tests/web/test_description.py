"""The description in OpenAPI, against the application, by requests that schemathesis makes of it.

One thing is not asked: that all that fits the description is taken. It does not say what an
expression of XPath is, or a record.
"""

import pytest
from draws import examples
from hypothesis import HealthCheck, Phase, given
from strange_jobs import GROUP, RAN

from sssjob import store
from sssjob.gateway import service
from sssjob.gateway.config import load
from sssjob.rmap.responder import Responder
from sssjob.web import openapi
from sssjob.web.app import behind_door
from sssjob.web.gate import Gate
from sssjob.web.routes import SERVED, VIEWS
from sssjob.web.stores import StorePool
from sssjob.web.views import ViewedStore

schemathesis = pytest.importorskip("schemathesis")
openapi_checks = pytest.importorskip("schemathesis.specs.openapi.checks")

TOKEN = "a-token-of-root-that-nobody-guesses"
BEARER = {"authorization": f"Bearer {TOKEN}"}
CONFIG = """
[store]
address = "jobs.db"
[security]
unsigned = true
[web]
listen = "127.0.0.1:0"
names = ["testserver"]
rate = 100000
[actors.root]
roles = ["admin"]
token = "root.token"
"""
NOT_ASKED = [
    openapi_checks.positive_data_acceptance,
    openapi_checks.ignored_auth,  # it knows no tokens that a test sends
]
MODES = [*schemathesis.GenerationMode]
LABELS = [
    f"{view.method} {path}"
    for view in (*VIEWS, *SERVED)
    for path in openapi.document([view])["paths"]
    if path != openapi.PATH
]


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """The operations, by their labels."""
    folder = tmp_path_factory.mktemp("described")
    (folder / "gateway.toml").write_text(CONFIG)
    (folder / "root.token").write_text(TOKEN)
    (folder / "root.token").chmod(0o600)
    with store.open(folder / "jobs.db", create=True) as jobs:
        jobs.load(GROUP.encode())
        jobs.load(RAN.encode())
    config = load(folder / "gateway.toml")
    handlers = service.answering(config)
    responder = Responder(service.actions_of(config, handlers, None), config.ring, config.policy)
    stores = StorePool(config.jobs.store)
    gate = Gate(
        behind_door(ViewedStore(stores, "jobs", responder)), config.web, config.jobs.settings.roles,
        config.ring.revoked,
    )  # fmt: skip
    found = schemathesis.openapi.from_asgi(openapi.PATH, gate, headers=BEARER)
    operations = (each.ok() for each in found.get_all_operations())
    yield {each.label: each for each in operations}
    stores.close()
    handlers.stores.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("label", LABELS)
def test_what_is_asked_by_the_description_is_answered_by_it(described, label, mode):
    """Also what breaks it, which is refused; and nothing is answered without the token."""
    made = described[label].as_strategy(generation_mode=mode)
    slow = [*HealthCheck]  # to make requests takes longer than to answer them

    @examples(3, database=None, suppress_health_check=slow, phases=[Phase.generate])
    @given(case=made)
    def answered(case):
        case.call_and_validate(headers=BEARER, excluded_checks=NOT_ASKED)
        assert case.call().status_code == 401

    answered()


def test_every_operation_is_asked(described):
    assert {*described} == {*LABELS}
