"""A gateway with a store: what it has answered stays, whatever ends it, and its settings are checked."""
# ruff: noqa: E501 (a row of a table is a line)

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from gateways import prepared, serving
from waiting import HANG, until

from sssjob import client, store
from sssjob.document import loads
from sssjob.errors import BadSettings, NoReply, Refused
from sssjob.gateway.config import load
from sssjob.gateway.service import shared_roles
from sssjob.handlers.roles import Permission, RoleScope
from sssjob.rmap.keys import Key
from sssjob.rmap.message import Get, Object, Request, Set, Where

SETTINGS = """
listen = ["127.0.0.1:0"]

[security]
key = "auth_key"

[store]
address = "jobs.db"

[actors.root]
key = "root.key"
roles = ["admin"]

[actors.eve]
revoked = true
"""


@pytest.fixture
def folder(tmp_path):
    secrets = {name: f"the {name} of this test\n" for name in ("auth_key", "root.key")}
    return prepared(tmp_path, SETTINGS, **secrets)


def asking(port, key=b"the root.key of this test", tries=1):
    return client.Client([client.Legacy("127.0.0.1", port)], Key(key), tries=tries)


def new(id_):
    return Request(
        "Create",
        "root",
        (Object("Job"),),
        sets=(Set("Id", id_), Set("User", "ann"), Set("Duration", "60"), Set("Queue", "q" * 500)),
    )


def test_every_create_that_was_answered_is_there_after_a_kill_and_none_is_half_there(folder):
    answered = []

    def create(port, thread):
        for number in range(10_000):
            try:
                [response] = asking(port).call(new(f"{thread}.{number}"))
            except (Refused, OSError):
                return
            assert response.status.code == "000"
            answered.append(f"{thread}.{number}")

    for life in range(2):
        with serving(folder) as (process, port):
            threads = [
                threading.Thread(target=create, args=(port, f"{life}{thread}"))
                for thread in range(4)
            ]
            for thread in threads:
                thread.start()
            while len(answered) < 60 * (life + 1):
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            for thread in threads:
                thread.join()
        with store.open(folder / "jobs.db", read_only=True) as jobs:
            assert list(jobs.check()) == []
            kept = {stored.identity.id: loads(stored.document) for stored in jobs.documents()}
        assert set(answered) <= set(kept)
        assert all(job.get("Queue") == "q" * 500 for job in kept.values())
        # No more than one of each thread was on its way.
        assert len(kept) <= len(answered) + 4 * (life + 1)


def test_a_load_leaves_neither_memory_nor_files_behind(folder):
    seconds = float(os.environ.get("SSSJOB_SOAK", "3"))
    with serving(folder) as (process, port):
        asked = asking(port)
        list(asked.call(new("1")))
        query = Request("Query", "root", (Object("Job"),), (Get("Id"),), wheres=(Where("Id", "1"),))
        figures = []
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(figures) < 20:
            for _ in range(20):
                [response] = asked.call(query)
                assert response.count == 1
            figures.append(used(process.pid))
        assert figures[-1][1] <= max(files for _, files in figures[:5]) + 4
        assert figures[-1][0] < figures[len(figures) // 2][0] + (16 << 20)


def used(pid):
    """Bytes of memory, and open files."""
    with open(f"/proc/{pid}/statm") as stream:
        pages = int(stream.read().split()[1])
    return pages * resource.getpagesize(), len(os.listdir(f"/proc/{pid}/fd"))


def test_roles_are_those_of_proven_actors_and_refusals_are_logged(folder):
    with serving(folder) as (process, port):
        list(asking(port).call(new("1")))
        shared = asking(port, b"the auth_key of this test")

        def code(actor):
            asked = Request("Query", actor, (Object("Job"),), (Get("Id"),))
            [response] = shared.call(asked)
            return response.status.code, response.count

        assert code("root") == ("424", None)  # proven by its own key only
        assert code("eve") == ("424", None)
        assert code("ann") == ("000", 1)
        assert code("bob") == ("000", 0)
        [refused] = shared.call(
            Request("Delete", "ann", (Object("Job"),), wheres=(Where("Id", "1"),))
        )
        assert (refused.status.code, refused.status.message) == (
            "444",
            "ann may not do this (Job Delete)",
        )
        (folder / "gateway.toml").write_text(SETTINGS + '[actors.bob]\nroles = ["scheduler"]\n')
        process.send_signal(signal.SIGHUP)
        assert until(lambda: code("bob") == ("000", 1))
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    assert not [line for line in lines if "shared key" in line["event"]]
    [logged] = [line for line in lines if line.get("code") == "444"]
    assert (logged["actor"], logged["action"], logged["origin"]) == ("ann", "Delete", "127.0.0.1")
    assert "this test" not in (folder / "log").read_text()


def test_finished_jobs_are_forwarded_and_what_waits_is_shown(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    for name in ("auth_key", "root.key"):
        (other / name).write_bytes((folder / name).read_bytes())
        (other / name).chmod(0o600)
    (other / "gateway.toml").write_text(SETTINGS)
    (folder / "gateway.toml").write_text(
        SETTINGS + '[forward]\nkey = "root.key"\nactor = "root"\nevery = 0.05\nwait = 0\n'
    )

    def queue(*options):
        words = options or ("--queue",)
        return subprocess.run(
            [sys.executable, "-m", "sssjob", "serve", "--config", folder / "gateway.toml", *words],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert queue().returncode == 1
    with (
        serving(other) as (_, far),
        serving(folder, "--forward", f"127.0.0.1:{far}") as (_, near),
    ):
        done = new("1")
        done = replace(done, sets=(*done.sets, Set("State", "Completed"), Set("Processors", "2")))
        list(asking(near).call(done))
        asked = Request(
            "Query",
            "root",
            (Object("Job"),),
            (Get("Duration"), Get("Stage")),
            wheres=(Where("Id", "1"),),
        )
        found = until(lambda: list(asking(far).rows(asked)))
        assert found[0].fields == (("Duration", "60"), ("Stage", "Charge"))
        corrected = Request("Modify", "root", (Object("Job"),), sets=(Set("Processors", "3"),),
                            wheres=(Where("Id", "1"),))  # fmt: skip
        list(asking(near).call(corrected))
        changed = until(lambda: queue().stdout)
        assert changed == "1  changed  tries 1  Processors was sent as 2 and is 3 now\n"
        settled = queue("--settled", "1", "--settled", "7")
        assert (settled.returncode, settled.stderr) == (
            1,
            "--settled 7: the queue has no changed job of this Id\n",
        )
        assert queue().returncode == 1
    with serving(folder, "--forward", "127.0.0.1:1") as (_, near):
        second = replace(done, sets=(Set("Id", "2"), *done.sets[1:]))
        list(asking(near).call(second))
        assert until(lambda: "cannot connect" in queue().stdout)
        shown = queue()
        assert shown.stdout.startswith("2  waiting  tries ")
        assert shown.returncode == 0


def test_a_process_ends_after_its_grace_even_if_a_change_has_not(folder):
    (folder / "gateway.toml").write_text(
        SETTINGS.replace('"jobs.db"', '"jobs.db"\npatience = 900.0') + "[limits]\ngrace = 0.2\n"
    )
    with serving(folder) as (process, port):
        with sqlite3.connect(folder / "jobs.db", isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")  # so that the change waits, in a thread
            tasks, asked = Path(f"/proc/{process.pid}/task"), new("late")
            before = len(list(tasks.iterdir()))
            asking_ = threading.Thread(target=_asked, args=(port, asked))
            asking_.start()
            assert until(lambda: len(list(tasks.iterdir())) > before)
            process.send_signal(signal.SIGTERM)
            assert process.wait(HANG) == 0
            other.execute("ROLLBACK")
        asking_.join(HANG)
    with store.open(folder / "jobs.db") as kept:
        assert kept.get("late") is None


@pytest.mark.parametrize("processes", [1, 2])
def test_a_process_ends_after_its_grace_while_another_holds_the_store(folder, processes):
    (folder / "gateway.toml").write_text(
        SETTINGS.replace('"jobs.db"', '"jobs.db"\npatience = 900.0')
        + f"[limits]\ngrace = 0.2\nprocesses = {processes}\n"
    )
    with serving(folder):
        pass  # which makes the store
    with sqlite3.connect(folder / "jobs.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")  # so that what is too old cannot be forgotten
        with serving(folder) as (process, _):
            process.send_signal(signal.SIGTERM)
            assert process.wait(HANG) == 0
        other.execute("ROLLBACK")


def _asked(port, request):
    with suppress(NoReply):
        list(asking(port).call(request))


def test_a_store_of_another_kind_is_told_at_the_start(folder):
    (folder / "jobs.db").write_bytes(b"this is no store" * 100)
    done = subprocess.run(
        [sys.executable, "-m", "sssjob", "serve", "--config", folder / "gateway.toml"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "jobs.db" in done.stderr


# --- settings -------------------------------------------------------------------------------------

WHOLE = """
[store]
address = "postgresql://sssjob@db.example.org/jobs"
patience = 2.5

[roles.auditor]
allow = ["Query * all"]

[roles.user]
allow = ["Query Job own", "Create Job own"]

[actors.ann]
roles = ["auditor", "user"]

[rates.Resource]
Processors = 1
Memory = 0.1

[rates.QualityOfService]
premium = 2

[charges]
precision = 2
quoted = 60

[hooks.Cancel]
command = ["scancel", "--user={User}", "{Id}"]
timeout = 3
set = { State = "Completed" }
"""


def configured(folder, text):
    (folder / "gateway.toml").write_text('[security]\nkey = "auth_key"\n' + text)
    return load(folder / "gateway.toml").jobs


def test_a_role_that_the_shared_key_proves_is_told(folder):
    assert shared_roles(load(folder / "gateway.toml")) == []
    (folder / "gateway.toml").write_text(SETTINGS + '[actors.bob]\nroles = ["scheduler"]\n')
    assert shared_roles(load(folder / "gateway.toml")) == ["bob"]


def test_everything_that_can_be_said_of_jobs_is_understood(folder):
    jobs = configured(folder, WHOLE)
    said = jobs.settings
    assert (jobs.store, jobs.patience) == ("postgresql://sssjob@db.example.org/jobs", 2.5)
    assert said.roles.rules["auditor"] == (Permission("Query", "*", RoleScope.ALL),)
    assert len(said.roles.rules["user"]) == 2
    assert said.roles.rules["scheduler"]
    assert said.roles.actors == {"ann": ("auditor", "user")}
    bill = said.accounting.rates.bill(1, {"Memory": 3}.get, lambda name: "premium")
    assert str(bill.amount) == "3/5"
    assert said.hooks["Cancel"].command == ("scancel", "--user={User}", "{Id}")
    assert said.hooks["Cancel"].sets == {"State": "Completed"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[roles.user]\nallow = ["Query Job"]', "4: error: roles.user.allow: found 'Query Job'"),
        ('[actors.ann]\nroles = ["king"]', "4: error: actors.ann.roles"),
        ("[rates.Resource]\nColour = 1", "4: error: rates.Resource.Colour"),
        ("[rates.Resource]\nMemory = -1", "4: error: rates.Resource.Memory"),
        ("[rates.Colour]\nred = 1", "rates.Colour"),
        ('[hooks.Destroy]\ncommand = ["x"]', "hooks.Destroy"),
        ('[hooks.Cancel]\ncommand = "rm -rf /"', "4: error: hooks.Cancel.command"),
        (
            '[hooks.Cancel]\ncommand = ["x", "{Secret}"]',
            "4: error: hooks.Cancel.command: found {Secret}",
        ),
        ('[hooks.Cancel]\ncommand = ["x"]\nset = { Id = "1" }', "hooks.Cancel.set.Id"),
        (
            '[store]\naddress = "postgresql://me:secret@db/jobs"',
            "4: error: store.address: found a password",
        ),
        (
            '[store]\nadress = "x"',
            "4: error: store.adress: found a key that is not known, expected address",
        ),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_line(folder, text, problem):
    with pytest.raises(BadSettings) as bad:
        configured(folder, text)
    said = [str(each).removeprefix(f"{folder}/gateway.toml:") for each in bad.value.problems]
    assert any(problem in each for each in said), said
    assert not any("secret" in each for each in said)
