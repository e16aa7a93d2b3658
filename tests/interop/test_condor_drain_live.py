"""A real HTCondor drains a machine with a job in it: what ``features watch`` tells of it, in the
job and beside it, and when the payload is signalled.

``tests/features/test_notices.py`` has the same stages as HTCondor showed them.
"""

import json

import condor_pool
import pytest
from daemons import started
from waiting import until

pytestmark = pytest.mark.interop

RETIREMENT, VACATING = 3600, 600  # seconds
LINES = f"MaxJobRetirementTime = {RETIREMENT}\nMachineMaxVacateTime = {VACATING}\n"
# The payload notes its signals, and goes on until it is told to end: it waits for no clock.
SCRIPT = (
    'trap "echo USR1 >> /data/{name}.got" USR1; trap "echo TERM >> /data/{name}.got" TERM; '
    "echo ready > /data/{name}.ready; until [ -e /data/{name}.end ]; do sleep 0.1; done"
)
# As a payload asks that knows neither of HTCondor nor of what it calls this machine.
WATCHING = "features watch --every 0.5 --seconds 60 --notice 7200 --signal USR1"
JOB = f"""\
<Job><Id>{{name}}</Id><User>alice</User><Executable>/usr/local/bin/sssjob</Executable>
<Arguments>{WATCHING} -- /bin/sh -c '{SCRIPT}'</Arguments>
<OutputFile>/data/{{name}}.out</OutputFile><ErrorFile>/data/{{name}}.err</ErrorFile>
<Requested><Processors>1</Processors><Memory>60</Memory><Disk>10</Disk></Requested></Job>
"""
WATCH = ("sssjob", "features", "watch", "--once", "--from", "condor", "--node", "localhost",
         "--json", "--seconds", "60")  # fmt: skip
MACHINE = "slot1@localhost"


@pytest.fixture(scope="module")
def pool():
    running = started(lambda: condor_pool.start(lines=lambda: LINES))
    yield running
    condor_pool.stop()


def told(pool, at):
    """What is told beside the job, as if it were in its slot: moments and reasons by key."""
    within = f"_CONDOR_SLOT={at.partition('@')[0]}"
    printed = pool.run("/usr/bin/env", within, f"PATH=/usr/local/bin:{condor_pool.PATH}", *WATCH,
                       check=False)  # fmt: skip
    rows = [json.loads(line) for line in printed.splitlines()]
    return {row["key"]: (row["value"], row["why"].partition(" ")[2]) for row in rows}


def slot(pool, at, *attributes):
    """Attributes of a slot, as HTCondor shows them now."""
    constraint = f'Name == "{at}"'
    printed = pool.run("condor_status", "-constraint", constraint, "-af", *attributes, check=False)
    return printed.split()


def claimed(pool):
    """The slots that have a job: the one of the job before may be there for a while."""
    constraint = 'State == "Claimed" && Activity == "Busy"'
    return pool.run("condor_status", "-constraint", constraint, "-af", "Name", check=False).split()


def runs(pool, name):
    """Have a job run, and give the name of its slot."""
    (pool.jobs / f"{name}.xml").write_text(JOB.format(name=name))
    ready = pool.root / f"data/{name}.ready"
    assert until(ready.exists), pool.log("StartLog")[-3000:]
    [at] = until(lambda: claimed(pool))
    assert told(pool, at) == {}
    return at


def drains(pool, how):
    pool.run("condor_drain", how, MACHINE)


def has_drained(pool, at):
    """Once the machine is empty, that is told, and called off with the drain."""
    found = until(
        lambda: (said := told(pool, at)).get("shutdowntime", (0, ""))[1] == "has drained" and said
    )
    since = slot(pool, MACHINE, "State", "EnteredCurrentActivity")
    assert (list(found), since) == (
        ["draining", "shutdowntime"], ["Drained", str(found["shutdowntime"][0])]
    )  # fmt: skip
    drains(pool, "-cancel")
    assert until(lambda: told(pool, at) == {})


def text(pool, name):
    path = pool.root / "data" / name
    return path.read_text() if path.exists() else ""


def test_a_job_is_told_when_it_has_to_be_gone_and_the_machine_when_it_has_drained(pool):
    at = runs(pool, "graceful")
    drains(pool, "-graceful")
    assert until(lambda: slot(pool, at, "Activity") == ["Retiring"])
    [now, left] = map(int, slot(pool, at, "MyCurrentTime", "RetirementTimeRemaining"))
    said = told(pool, at)
    assert {key: why for key, (_, why) in said.items()} == {
        "draining": "takes no new jobs (by root)", "shutdowntime": "drains",
        "shutdowntime_job": "retires",
    }  # fmt: skip
    del said["draining"]
    # Both ends are the end of the retirement; HTCondor counts it anew with each ad.
    assert all(abs(moment - now - left) <= 2 for moment, _ in said.values())
    assert left > RETIREMENT - 600
    assert until(lambda: text(pool, "graceful.got") == "USR1\n")
    printed = text(pool, "graceful.out").splitlines()
    assert [line.partition(" ")[0] for line in printed[:3]] == [
        "draining", "shutdowntime", "shutdowntime_job"
    ]  # fmt: skip
    drains(pool, "-cancel")
    assert until(lambda: "shutdowntime  called off" in text(pool, "graceful.out"))
    assert until(lambda: told(pool, at) == {})
    drains(pool, "-graceful")  # which is another end
    assert until(lambda: text(pool, "graceful.got") == "USR1\nUSR1\n")
    (pool.root / "data/graceful.end").touch()
    has_drained(pool, at)


def test_a_quick_drain_leaves_the_time_to_vacate_only(pool):
    at = runs(pool, "quick")
    drains(pool, "-quick")
    assert until(lambda: slot(pool, at, "Activity") == ["Vacating"])
    [entered] = map(int, slot(pool, at, "EnteredCurrentActivity"))
    said = told(pool, at)
    del said["draining"]
    assert said == {
        "shutdowntime": (entered + VACATING, "drains"),
        "shutdowntime_job": (entered + VACATING, "vacates"),
    }
    # HTCondor's own signal comes by watch, too.
    assert until(lambda: sorted(text(pool, "quick.got").split()) == ["TERM", "USR1"])
    (pool.root / "data/quick.end").touch()
    has_drained(pool, at)


def test_a_fast_drain_leaves_no_time(pool):
    at = runs(pool, "fast")
    drains(pool, "-fast")
    has_drained(pool, at)
