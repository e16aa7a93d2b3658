"""A configuration is read whole, and whatever is wrong with it is told with its line."""
# ruff: noqa: E501 (a row of a table is a line)

import contextlib
import sys

import pytest

from sssjob.errors import BadSettings
from sssjob.gateway import config as config_module
from sssjob.gateway.config import GatewayLimits, forwarded, load
from sssjob.rmap.address import Address
from sssjob.rmap.keys import Algorithm

WHOLE = """
listen = ["0.0.0.0:7112", "[::1]:7113"]
name = "gold"

[limits]
message = 1048576
connections = 9
arrival = 2.5
rows = 100

[observe]
listen = "127.0.0.1:9100"

[security]
key = "auth_key"
triple_des = true
window = 60
nonce = true

[actors.ann]
key = "ann.key"
algorithms = ["HMAC-SHA256"]

[actors."bob smith"]
password = "bob.password"

[actors.eve]
revoked = true
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("auth_key", "ann.key", "bob.password"):
        (tmp_path / name).write_text(f"{name}'s secret\n")
        (tmp_path / name).chmod(0o600)
    return tmp_path


def written(folder, text):
    path = folder / "gateway.toml"
    path.write_text(text)
    return path


def problems(folder, text):
    with pytest.raises(BadSettings) as bad:
        load(written(folder, text))
    return [str(problem).removeprefix(f"{folder}/gateway.toml") for problem in bad.value.problems]


def test_everything_that_a_file_says_is_taken(folder):
    config = load(written(folder, WHOLE))
    assert config.listen == (Address("0.0.0.0", 7112), Address("::1", 7113))
    assert (config.policy.name, config.policy.rows, config.policy.triple_des) == ("gold", 100, True)
    assert (config.limits.message, config.policy.message_limit) == (1 << 20, 1 << 20)
    assert (config.limits.connections, config.limits.arrival) == (9, 2.5)
    assert config.observe == Address("127.0.0.1", 9100)
    assert (config.window, config.nonce) == (60, True)
    ring = config.ring
    assert ring.shared.secret == b"auth_key's secret"
    ann = ring.find("Symmetric", "", "ann")
    assert (ann.secret, ann.owner) == (b"ann.key's secret", "ann")
    assert ann.algorithms == (Algorithm.HMAC_SHA256,)
    assert ring.find("Password", "bob smith", "bob smith").secret == b"bob.password's secret"
    assert ring.find("Symmetric", "", "eve") is None


def test_a_key_is_enough(folder):
    config = load(written(folder, '[security]\nkey = "auth_key"\n'))
    assert config.listen == (Address("127.0.0.1", 7112),)
    assert config.limits == GatewayLimits()
    assert not config.policy.unsigned


KEY = '[security]\nkey = "auth_key"\n'
WRONG = [
    pytest.param("", ": error: security.key: found no key that proves anybody, expected a key here or in [actors.NAME]", id="no key"),
    pytest.param("x = = 1", ":1: error: found what is no TOML (what is no value), expected TOML 1.0", id="no TOML"),
    pytest.param("\nbroken", ":2: error: found what is no TOML (a key without =), expected TOML 1.0", id="no TOML at the end"),
    pytest.param(f"lisen = []\n{KEY}", ":1: error: lisen: found a key that is not known, expected listen", id="unknown key"),
    pytest.param(f"{KEY}[limit]\nrows = 1\n", ":3: error: limit: found a key that is not known, expected limits", id="unknown table"),
    pytest.param(f"{KEY}\n[limits]\n\nrows = 'all'\n", ':6: error: limits.rows: found "all", expected a whole number from 1 to 9007199254740992', id="text"),
    pytest.param(f"{KEY}[limits]\nrows = true\n", ":4: error: limits.rows: found true, expected a whole number from 1 to 9007199254740992", id="truth"),
    pytest.param(f"{KEY}[limits]\narrival = 0\n", ":4: error: limits.arrival: found 0, expected a number, at least 0.05", id="zero"),
    pytest.param(f"{KEY}[rates.Resource]\nProcessors = inf\n", ":4: error: rates.Resource.Processors: found Infinity, expected a number, at least 0", id="infinity"),
    pytest.param(f"{KEY}[rates.Resource]\nProcessors = nan\n", ":4: error: rates.Resource.Processors: found NaN, expected a number, at least 0", id="no number"),
    pytest.param(f"limits = 5\n{KEY}", ":1: error: limits: found 5, expected a table", id="no table"),
    pytest.param(f"listen = '::1'\n{KEY}", ':1: error: listen: found "::1", expected a list of texts', id="no list"),
    pytest.param(f"listen = ['::1']\n{KEY}", ":1: error: listen: found '::1', expected an address such as \"127.0.0.1:7112\" or \"[::1]:7112\"", id="address"),
    pytest.param(f"{KEY}[actors.ann]\nkey = 'gone'\n", ":4: error: actors.ann.key: found {0}/gone: No such file or directory, expected a file with a key", id="no file"),
    pytest.param(f"{KEY}[actors.ann]\nkey = 'ann.key'\nalgorithms = ['MD5']\n", ':5: error: actors.ann.algorithms: found ["MD5"], expected a list of some of HMAC-SHA1, HMAC-SHA256', id="algorithm"),
    pytest.param(f"{KEY}[actors.ann]\nkye = 'ann.key'\n", ":4: error: actors.ann.kye: found a key that is not known, expected key", id="key of an actor"),
    pytest.param(f"{KEY}[tls]\nlisten = ['a:1']\ncertificate = 'c.pem'\n", ":5: error: tls.certificate: found only a part, expected both certificate and key", id="half of TLS"),
]  # fmt: skip


@pytest.mark.parametrize("text, told", WRONG)
def test_what_is_wrong_is_told_with_line_key_and_what_was_expected(folder, text, told):
    assert problems(folder, text) == [told.replace("{0}", str(folder))]


TIMES = [
    "limits.arrival", "limits.idle", "limits.grace", "store.patience", "forward.every", "forward.wait",
    "hooks.Cancel.timeout", "submission.timeout", "submission.every",
]  # fmt: skip
NUMBERS = [*TIMES, "forward.give_up", "rates.Resource.Processors", "rates.QualityOfService.premium"]
BEYOND = {
    "whole": f"1{'0' * 400}",
    "of sixteen digits": f"0x{'f' * 300}",
    "negative": f"-1{'0' * 400}",
    "real": "1e400",
}


@pytest.mark.parametrize("number", BEYOND.values(), ids=BEYOND)
@pytest.mark.parametrize("key", NUMBERS)
def test_a_number_that_no_double_can_hold_is_refused_with_its_line(folder, key, number):
    told = problems(folder, f"{key} = {number}\n{KEY}")
    (mine,) = (each for each in told if each.startswith(f":1: error: {key}: "))
    assert ", expected a number, at least 0" in mine


@pytest.mark.parametrize("number", ["1000001", "1e10", "1e300"])
@pytest.mark.parametrize("key", TIMES)
def test_a_time_that_no_timer_can_hold_is_refused(folder, key, number):
    told = problems(folder, f"{key} = {number}\n{KEY}")
    (mine,) = (each for each in told if each.startswith(f":1: error: {key}: "))
    assert mine.endswith(", expected a number, at most 1000000")


@pytest.mark.parametrize("key", TIMES)
def test_the_longest_time_is_taken(folder, key):
    with contextlib.suppress(BadSettings):
        load(written(folder, f"{key} = 1000000\n{KEY}"))
        return
    assert not [each for each in problems(folder, f"{key} = 1000000\n{KEY}") if key in each]


def test_all_that_is_wrong_is_told_at_once_and_in_order(folder):
    lines = [
        told.split(":")[1] for told in problems(folder, f"a = 1\nb = 2\n{KEY}[limits]\nc = 3\n")
    ]
    assert lines == ["1", "2", "6"]


def test_a_key_that_others_read_is_refused_and_not_shown(folder):
    (folder / "auth_key").chmod(0o640)
    (told,) = problems(folder, KEY)
    assert "mode 0640, expected 0600" in told
    assert "secret" not in told


def test_triple_des_needs_its_library(folder, monkeypatch):
    monkeypatch.setattr(config_module, "find_spec", lambda name: None)
    (told,) = problems(folder, f"{KEY}triple_des = true\n")
    assert "sssjob[gold]" in told


def test_files_of_tls_have_to_fit(folder):
    text = f"{KEY}[tls]\nlisten = ['a:1']\ncertificate = 'auth_key'\nkey = 'ann.key'\n"
    assert "tls.certificate" in problems(folder, text)[0]


def test_bytes_that_are_no_text_are_told_with_their_line(folder):
    path = written(folder, "")
    path.write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(BadSettings, match=r"gateway.toml:2: error: found bytes, expected text"):
        load(path)


BEHIND = '[security]\nkey = "auth_key"\n[store]\naddress = "jobs.db"\n[behind]\nto = "gold:7112"\n'


def test_a_store_that_no_library_connects_to_is_a_problem(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    text = '[security]\nkey = "auth_key"\n[store]\naddress = "postgresql://h/d"\n'
    with pytest.raises(BadSettings, match=r"toml:4: .*found no library for PostgreSQL.*psycopg"):
        load(written(folder, text))


def test_answers_of_a_server_behind_are_as_large_as_messages_and_half_of_the_memory_beside_it(
    folder,
):
    text = f'{BEHIND}key = "ann.key"\n[limits]\nmessage = 4096\nmemory = 2097152\n'
    behind = load(written(folder, text)).behind
    assert [way.limit for way in behind.client.transports] == [4096]
    assert behind.room.size == 1 << 20


def test_a_server_behind_is_asked_by_a_key_and_actors_have_other_names_there(folder):
    text = f'{BEHIND}key = "ann.key"\nfunds = true\n[behind.actors]\nann = "amy"\n'
    behind = load(written(folder, text)).behind
    assert (behind.client.key.secret, behind.client.tries) == (b"ann.key's secret", 1)
    assert (dict(behind.actors), behind.funds, behind.shadow) == ({"ann": "amy"}, True, False)
    assert load(written(folder, '[security]\nkey = "auth_key"\n')).behind is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BEHIND, ["expected a file with the key that the server behind knows"]),
        (BEHIND + 'key = "ann.key"\nshadow = true\nfunds = true\n', ["expected no shadow together"]),
        (BEHIND + 'key = "ann.key"\nshadow = true\n[forward]\nto = "gold"\n', ["or [forward]"]),
        (BEHIND.replace('[store]\naddress = "jobs.db"\n', "") + 'key = "ann.key"\nfunds = true\n',
         ["found no store"]),
        (BEHIND + 'key = "ann.key"\n[behind.actors]\nann = 7\n', ["expected a text in quotes"]),
    ],
)  # fmt: skip
def test_a_server_behind_that_cannot_be_is_a_problem(folder, text, said):
    found = problems(folder, text)
    assert len(found) == len(said)
    assert all(part in each for part, each in zip(said, found, strict=True)), found


def test_nothing_is_forwarded_beside_a_shadow(folder):
    config = load(written(folder, BEHIND + 'key = "ann.key"\nshadow = true\n'))
    with pytest.raises(ValueError, match="with a shadow"):
        forwarded(config, "gold.example.org")


def test_figures_are_of_one_process(folder):
    text = '[security]\nkey = "auth_key"\n[limits]\nprocesses = 2\n[observe]\nmetrics = true\n'
    assert load(written(folder, text.replace("metrics = true\n", ""))).limits.processes == 2
    [said] = problems(folder, text)
    assert "expected one: [limits] processes = 1" in said
