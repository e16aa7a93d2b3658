"""Several processes answer on one port as one does: nothing is done twice, and none is missed."""

import asyncio
import json
import multiprocessing
import os
import signal
import socket
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from gateways import listening_here, prepared, serving
from job_service import ROLES
from waiting import HANG, until

from sssjob import store
from sssjob.client import SSSJOB, Client, Legacy
from sssjob.errors import Refused
from sssjob.gateway import service
from sssjob.gateway.config import GatewayConfig
from sssjob.gateway.jobs import StoreJobs
from sssjob.gateway.nonces import SharedNonces
from sssjob.handlers.service import ServiceSettings
from sssjob.rmap.address import Address
from sssjob.rmap.framing import legacy_request
from sssjob.rmap.keys import Key, Ring
from sssjob.rmap.message import Data, Get, Object, Request, Row
from sssjob.rmap.replay import Nonces

TOML = """
listen = ["127.0.0.1:0"]
[security]
key = "auth_key"
[store]
address = "jobs.db"
[rates.Resource]
Processors = 1
[actors.root]
roles = ["admin"]
[limits]
processes = 2
"""
JOB = Row("Job", (("JobId", "a"), ("UserId", "ann"), ("Processors", "4"), ("WallDuration", "60")))
CHARGE = Request("Charge", "root", (Object("Job"),), data=Data((JOB,)), id="1")
PROCESSES = Request("Query", "root", (Object("System"),), (Get("Name"),))


@pytest.fixture
def folder(tmp_path):
    return prepared(tmp_path, TOML, auth_key="secret\n")


def client(port, **options):
    return Client([Legacy("127.0.0.1", port, timeout=HANG)], Key(b"secret"), SSSJOB, **options)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as told:
        return {int(child) for child in told.read().split() if b"spawn_main" in command(int(child))}


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as told:
            return told.read()
    except OSError:
        return b""


def is_there(pid):
    return b"spawn_main" in command(pid)


def events(folder, name):
    lines = (folder / "log").read_text().rpartition("\n")[0].splitlines()  # whole ones
    return [each for each in map(json.loads, lines) if each["event"] == name]


def test_two_processes_are_one_gateway(folder):
    with serving(folder) as (process, port):
        first = children(process.pid)
        assert len(first) == 2
        for _ in range(20):  # whichever is asked, it is charged once
            [row] = client(port).rows(CHARGE)
            assert row.get("Amount") == "240"
        with store.open(folder / "jobs.db") as kept:
            assert kept.ledger.balance(1, "a") == 240
        message = client(port).message(replace(PROCESSES, nonce="once", time=int(time.time())))
        codes = [code(port, message) for _ in range(20)]
        assert codes == [b"000", *[b"424"] * 19]

        killed = first.pop()
        os.kill(killed, signal.SIGKILL)
        assert until(lambda: len(children(process.pid) - {killed}) == 2)
        assert list(client(port).rows(PROCESSES))
        assert code(port, message) == b"424"
        process.terminate()
        assert process.wait(HANG) == 0
        assert not any(map(is_there, first))
    assert [each["code"] for each in events(folder, "a process ended")] == [-signal.SIGKILL]
    assert len(events(folder, "listening")) == 1


def code(port, message):
    """What a message is answered, byte for byte the same each time."""
    with socket.create_connection(("127.0.0.1", port), timeout=HANG) as connection:
        connection.sendall(legacy_request(message))
        received = b""
        while data := connection.recv(1 << 16):
            received += data
    return received.partition(b"<Code>")[2][:3]


def test_they_end_with_the_process_that_started_them(folder):
    with serving(folder) as (process, _):
        working = children(process.pid)
        process.kill()
        assert until(lambda: not any(map(is_there, working)))


def test_keys_are_read_again_by_all(folder):
    with serving(folder) as (process, port):
        (folder / "auth_key").write_text("another\n")
        process.send_signal(signal.SIGHUP)
        assert until(lambda: len(events(folder, "keys reloaded")) == 2)
        with pytest.raises(Refused) as error:
            list(client(port).rows(PROCESSES))
        assert error.value.code == "424"


def quotes(port):
    """What the processes of a gateway say that a job costs."""
    asked = replace(CHARGE, action="Quote", id="")
    return {row.get("Amount") for _ in range(20) for row in client(port).rows(asked)}


def listening(port):
    """How many sockets wait for clients at a port."""
    with open("/proc/net/tcp", encoding="ascii") as told:
        rows = [line.split() for line in told]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


def replaced(process, port):
    """End each process of a gateway, one after the other, and wait for those in their place."""
    for killed in children(process.pid):
        os.kill(killed, signal.SIGKILL)
        assert until(lambda: listening(port) == 1)
        assert until(lambda: listening(port) == 2)


@pytest.mark.parametrize("wrong", ["", "[[["])
def test_a_process_that_takes_the_place_of_another_knows_what_was_reloaded_last(folder, wrong):
    """And nothing of what has been written since, which may be wrong."""
    path = folder / "gateway.toml"
    with serving(folder) as (process, port):
        read = path.read_text()
        for rate, amount in (("1", "240"), ("2", "480")):
            path.write_text(read.replace("Processors = 1", f"Processors = {rate}"))
            process.send_signal(signal.SIGHUP)
            times = 2 * int(rate)
            assert until(lambda times=times: len(events(folder, "keys reloaded")) == times)
            path.write_text(read.replace("Processors = 1", "Processors = 7") + wrong)
            (folder / "auth_key").write_text("another\n")
            replaced(process, port)
            assert quotes(port) == {amount}
            (folder / "auth_key").write_text("secret\n")
        assert not events(folder, "not started")


def test_a_port_that_is_taken_is_told(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        toml = TOML.replace(":0", f":{taken.getsockname()[1]}")
        (folder / "gateway.toml").write_text(toml)
        with pytest.raises(AssertionError, match="cannot listen"), serving(folder):
            pass


def remembering(path, **options):
    return SharedNonces(path, since=1000.0, **options)


def asked(nonce, time=1000, actor="ann"):
    return replace(PROCESSES, nonce=nonce, time=time, actor=actor)


def refused(nonces, request, now):
    with pytest.raises(Refused) as error:
        nonces.admit(request, now)
    return error.value.code


@pytest.mark.parametrize("kind", ["one", "several"])
def test_a_nonce_is_good_once_for_an_actor_and_for_a_while(kind, tmp_path):
    one = remembering(tmp_path / "nonces") if kind == "several" else Nonces(since=1000.0)
    other = remembering(tmp_path / "nonces") if kind == "several" else one
    one.admit(asked("a"), 1000.0)
    assert refused(other, asked("a"), 1100.0) == "424"
    other.admit(asked("a", actor="bob"), 1100.0)
    other.admit(asked("b", time=1300), 1100.0)
    assert refused(one, asked("b", time=1300), 1600.0) == "424"
    assert refused(one, asked("c", time=999), 1000.0) == "424"
    assert refused(one, replace(PROCESSES, nonce="x", time=None), 1000.0) == "424"


def test_what_is_too_old_is_forgotten_and_there_is_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("sssjob.gateway.nonces._OFTEN", 1)
    nonces = remembering(tmp_path / "nonces", limit=2)
    nonces.admit(asked("a"), 1000.0)
    nonces.admit(asked("b", time=1200), 1200.0)
    assert refused(nonces, asked("c", time=1200), 1200.0) == "730"
    nonces.admit(asked("c", time=1400), 1400.0)  # the first one is too old to be good
    nonces.close()


def answering(address):
    """A gateway over a store."""
    jobs = StoreJobs(address, settings=ServiceSettings(ROLES))
    here, ring = (Address("127.0.0.1", 0),), Ring(Key(b"secret"))
    return listening_here(service.server(GatewayConfig(here, ring=ring, jobs=jobs)))


@pytest.mark.parametrize("action", ["Create", "Query"])
def test_two_gateways_over_one_store_refuse_what_the_other_has_done(address, action):
    more = {"data": Data((JOB,))} if action == "Create" else {"gets": (Get("Id"),)}
    request = Request(action, "root", (Object("Job"),), time=int(time.time()) + 1, **more)
    with answering(address) as one, answering(address) as other:
        ports = [each.address()[1] for each in (one, other)]
        message = client(1).message(replace(request, nonce="n"))
        codes = [code(port, message) for port in (*ports, *ports)]
        # A question tells whoever has copied it no more than the first answer did.
        second = b"424" if action == "Create" else b"000"
        assert codes == [b"000", second, b"424", b"424"]
        again = client(1).message(replace(request, nonce="m"))
        assert code(ports[1], again) == (b"740" if action == "Create" else b"000")


def test_the_nonces_of_a_store_are_pruned_when_they_are_no_longer_good(address):
    with store.open(address, create=True) as kept:
        assert kept.is_first("nonce", "a", 1000.5)
        assert kept.is_first("other", "a", 1000.5)
        kept.prune(quotes=0, answers=1001)
        assert not kept.is_first("nonce", "a", 5000.0)
        kept.prune(quotes=0, answers=1002)
        assert kept.is_first("nonce", "a", 5000.0)
        if "://" not in address:
            assert kept.engine.fetch("PRAGMA synchronous") == [(2,)]  # changes wait for the disk


def test_the_event_loop_is_that_of_uvloop_where_it_is_installed(monkeypatch):
    made = SimpleNamespace(new_event_loop=asyncio.new_event_loop)
    monkeypatch.setitem(sys.modules, "uvloop", made)
    assert service.loop_factory() is made.new_event_loop
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert service.loop_factory() is None


def test_each_process_that_answers_runs_on_uvloop_where_that_is_installed(folder):
    with serving(folder) as (process, _):
        ran = {"/uvloop/" in Path(f"/proc/{pid}/maps").read_text() for pid in children(process.pid)}
    assert ran == {find_spec("uvloop") is not None}


def test_a_process_whose_starter_is_gone_before_it_is_ready_just_ends(tmp_path):
    ours, theirs = multiprocessing.Pipe()
    ours.close()

    class Running:
        async def run(self, ready):
            self.ended = asyncio.Event()
            ready()
            await self.ended.wait()

        def stop(self):
            self.ended.set()

    with theirs:
        asyncio.run(service._until_signalled(Running(), tmp_path, theirs))
