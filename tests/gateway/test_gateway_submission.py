"""Jobs that come to the gateway go to a batch system, each once, and only by those who may."""

import re
import threading
from pathlib import Path

import pytest
from gateways import serving
from outside import declared
from submitting_gateway import ME, ask, order, settings, state, submit
from waiting import HANG, until

from sssjob import registry, store
from sssjob.errors import BadSettings, NoReply
from sssjob.gateway.config import load
from sssjob.gateway.service import answering
from sssjob.rmap.message import Get, Set, Where

HOOK = '[hooks.Cancel]\ncommand = ["true"]\n[actors.maui]'


def test_a_job_is_submitted_kept_and_told(port, slurm):
    code, message, [job] = submit(port)
    assert (code, message) == ("000", f"Successfully submitted job {job.id}")
    assert [(id_, each["state"]) for id_, each in slurm.jobs.items()] == [(job.id, "idle")]
    said = ("User", "GlobalUser", "Queue", "State", "ResourceManagerType")
    assert [job.get(name) for name in said] == [ME, "maui", "batch", "Idle", "slurm"]
    assert job.get("GlobalId").startswith("urn:uuid:")
    assert state(port, job.id) == "Idle"


def test_the_same_request_is_about_the_same_job_and_another_one_is_not(port, slurm):
    _, _, [first] = submit(port, id_="17")
    _, _, [again] = submit(port, id_="17")
    assert (again.id, again.get("GlobalId")) == (first.id, first.get("GlobalId"))
    assert len(slurm.jobs) == 1
    submit(port, id_="18")
    submit(port, "<Priority>7</Priority>", id_="17")  # old clients give one id to all of a session
    assert len(slurm.jobs) == 3


def test_the_same_global_id_is_the_same_job_whoever_asks_in_which_request(port, slurm):
    _, _, [first] = submit(port, "<GlobalId>g</GlobalId>", id_="1")
    _, _, [again] = submit(port, "<GlobalId>g</GlobalId>", id_="2")
    assert (again.id, len(slurm.jobs)) == (first.id, 1)
    code, message, _ = submit(port, "<GlobalId>g</GlobalId><Name>other</Name>", id_="3")
    assert (code, message) == ("740", "g is another job, or was deleted")
    assert len(slurm.jobs) == 1


def test_who_may_not_submit_is_refused_and_nothing_is_kept(folder, port, slurm):
    code, message, _ = submit(port, actor="ann")
    assert (code, message) == ("444", "ann may not do this (Job Submit)")
    with store.open(folder / "jobs.db", read_only=True) as jobs:
        assert list(jobs.documents()) == []
    assert slurm.calls == []


@pytest.mark.parametrize(("inner", "code"), [
    pytest.param("<User>somebody</User>", "710", id="runs as another one"),
    pytest.param("<Queue>secret</Queue>", "740", id="another queue"),
    pytest.param("<Partition>secret</Partition>", "710", id="a partition is a queue"),
    pytest.param("<Requested><Queue>secret</Queue></Requested>", "740", id="a queue is requested"),
    pytest.param("<Queue>batch,secret</Queue>", "710", id="two queues"),
    pytest.param("<Machine>other</Machine>", "740", id="another cluster"),
    pytest.param('<Extension type="sbatch" name="--uid">0</Extension>', "740", id="an option"),
    pytest.param("<SubmitTime>5</SubmitTime><Id>5</Id>", "740", id="submitted elsewhere"),
    pytest.param("<State>Running</State>", "740", id="runs already"),
    pytest.param("<ResourceManagerType>PBS</ResourceManagerType>", "740", id="another system"),
    pytest.param("<Name>a&#10;b</Name>", "710", id="a line end in an option"),
    pytest.param("<Phase>1</Phase>", "710", id="not understood"),
    pytest.param("<Swap>5</Swap>", "710", id="no option for it"),
])  # fmt: skip
def test_what_is_not_taken_is_refused_and_nothing_is_kept(folder, port, slurm, inner, code):
    assert submit(port, inner)[0] == code
    with store.open(folder / "jobs.db", read_only=True) as jobs:
        assert list(jobs.documents()) == []
    assert slurm.calls == []


def test_what_may_be_left_out_is_told(port):
    code, message, [job] = submit(port, '<Swap awarenessPolicy="Warn">5</Swap>')
    assert (code, job.get("Swap")) == ("100", "5")
    assert "Swap '5' in sbatch: there is no option for it" in message


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("command", ["sbatch", "scontrol"])
def test_a_gateway_killed_while_it_submits_has_one_job_when_the_client_repeats(
    folder, slurm, command, when
):
    slurm.fault(f"{command} {when} kill")
    with serving(folder) as (process, port):
        with pytest.raises(NoReply):
            submit(port, id_="17")
        assert process.wait(HANG) == -9
    slurm.fault()
    with serving(folder) as (_, port):
        code, _, [job] = submit(port, id_="17")
        assert code == "000"
        assert [(id_, each["state"]) for id_, each in slurm.jobs.items()] == [(job.id, "idle")]
        assert ask(port, "Query", gets=(Get("Id"),))[2][0].get("Id") == job.id


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("action", "command", "real", "said"), [
    ("Hold", "scontrol hold", "hold", "Hold"),
    ("Release", "scontrol release", "idle", "Idle"),
    ("Cancel", "scancel", "over", "Cancelled"),
])  # fmt: skip
def test_a_gateway_killed_while_it_steers_has_done_it_once_when_the_client_repeats(
    folder, slurm, action, command, real, said, when
):
    with serving(folder) as (process, port):
        _, _, [job] = submit(port)
        if action == "Release":
            order(port, "Hold", job.id)
        before = len(slurm.calls)
        slurm.fault(f"{command} {when} kill")
        with pytest.raises(NoReply):
            order(port, action, job.id)
        assert process.wait(HANG) == -9
    slurm.fault()
    with serving(folder) as (_, port):
        assert order(port, action, job.id)[0] == "000"
        assert [each["state"] for each in slurm.jobs.values()] == [real]
        assert state(port, job.id) == said
    assert sum(call.startswith(command) for call in slurm.calls[before:]) == 1


def test_a_job_that_slurm_refuses_is_told_and_the_next_call_tries_again(port, slurm):
    slurm.fault("sbatch before fail")
    code, message, _ = submit(port, id_="17")
    assert (code, message) == (
        "740", "The batch system refuses it: sbatch returned 7: it does not work today",
    )  # fmt: skip
    slurm.fault()
    assert submit(port, id_="17")[0] == "000"
    assert len(slurm.jobs) == 1


def test_a_slurm_that_does_not_answer_is_told_as_a_fault_of_the_server(port, slurm):
    slurm.fault("squeue before fail")
    said = "The batch system does not answer: squeue returned 7: it does not work today"
    code, message, _ = submit(port, "<GlobalId>g</GlobalId>")
    assert (code, message) == ("700", f"{said}; send the request again")
    assert ask(port, "Refresh")[:2] == ("000", "Successfully refreshed 0 of 0 Jobs")
    slurm.fault()
    assert submit(port, "<GlobalId>g</GlobalId>")[0] == "000"
    slurm.fault("squeue before fail")
    assert [ask(port, "Refresh")[0], order(port, "Cancel", "1")[0]] == ["700", "740"]


def test_a_job_that_slurm_refused_can_be_deleted_and_one_that_it_has_cannot(port, slurm):
    slurm.fault("sbatch before fail")
    submit(port, "<GlobalId>g</GlobalId>")
    slurm.fault()
    assert order(port, "Cancel", "g")[0] == "740"
    assert order(port, "Modify", "g", sets=(Set("Queue", "secret"),))[0] == "740"
    assert order(port, "Delete", "g")[0] == "000"
    assert submit(port, "<GlobalId>g</GlobalId>")[0] == "740"
    slurm.fault("sbatch after fail")  # though it has taken the job
    assert submit(port, "<GlobalId>h</GlobalId>")[0] == "000"


def test_jobs_find_nothing_of_the_environment_that_may_be_secret(folder, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "secret")
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm.conf")
    found = load(folder / "gateway.toml").jobs.settings.submission.how().environment
    assert "PATH" in found
    assert "SLURM_CONF" in found
    assert "PGPASSWORD" not in found


def found_by_commands(folder):
    return load(folder / "gateway.toml").jobs.settings.submission.how().environment


# decision 1205
def test_commands_find_the_variables_that_the_page_names(folder, monkeypatch):
    page = (Path(__file__).parents[2] / "docs/gateway.md").read_text()
    told = page.partition("commands and jobs get only ")[2].partition(". A system of")[0]
    usual, _, declared_ = told.partition(" and what batch systems declare")
    named = {name for row in registry.systems().values() for name in row.variables}
    assert {*re.findall("`(.*?)`", declared_)} == {name.rstrip("*") for name in named}
    for name in re.findall("`(.*?)`", told):
        monkeypatch.setenv(f"{name}X" if name.endswith("_") else name, "x")
        monkeypatch.setenv(f"X{name}", "x")
    found = found_by_commands(folder)
    assert {*re.findall("`(.*?)`", usual)} == {name for name in found if "_" not in name}
    assert {name.rstrip("X") for name in found} == {*re.findall("`(.*?)`", told)}


OTHER_SYSTEM = """
from sssjob.registry import System

SYSTEM = System("kite", "Kite", variables=("KITE_SERVER", "KITE_X_*"))
"""


def test_commands_find_what_a_system_of_another_distribution_declares(folder, monkeypatch):
    site = folder / "site"
    site.mkdir()
    (site / "kite_system.py").write_text(OTHER_SYSTEM)
    declared(site, {registry.SYSTEMS: {"kite": "kite_system:SYSTEM"}}, name="kites")
    given = ("KITE_SERVER", "KITE_SERVERS", "KITE_X_A", "KITE_KEY", "A_KITE_SERVER")
    for name in given:
        monkeypatch.setenv(name, "x")
    assert not found_by_commands(folder).keys() & {*given}
    monkeypatch.syspath_prepend(str(site))
    assert found_by_commands(folder).keys() & {*given} == {"KITE_SERVER", "KITE_X_A"}


SUDO = """#!/bin/sh
[ "$1 $2 $3 $4" = "-n -u daemon --" ] || exit 1
shift 4
exec "$@"
"""


def test_jobs_run_as_another_account_by_sudo(folder, slurm):
    (slurm.root / "bin/sudo").write_text(SUDO)
    (slurm.root / "bin/sudo").chmod(0o755)
    (slurm.root / "user").write_text("daemon")
    (folder / "gateway.toml").write_text(settings(account="daemon"))
    with serving(folder) as (_, port):
        _, _, [job] = submit(port)
        assert (job.get("User"), job.get("State")) == ("daemon", "Idle")
        assert submit(port, f"<User>{ME}</User>")[0] == "710"
        slurm.becomes(job.id, "run")
        assert ask(port, "Refresh")[2][0].get("State") == "Running"
        assert order(port, "Cancel", job.id)[0] == "000"
    assert len(slurm.jobs) == 1


def test_jobs_are_held_released_and_cancelled(port, slurm):
    _, _, [job] = submit(port)
    for action, now in (("Hold", "Hold"), ("Release", "Idle"), ("Cancel", "Cancelled")):
        code, message, [after] = order(port, action, job.id)
        assert (code, message) == ("000", f"{action}: done for 1 of 1 jobs")
        assert after.get("State") == now
    assert slurm.jobs[job.id]["state"] == "over"
    assert order(port, "Cancel", job.id)[0] == "000"  # which may come twice
    assert order(port, "Hold", job.id)[:2] == ("740", f"{job.id}: it has ended: Cancelled")


def test_an_order_is_given_by_those_who_may_and_about_jobs_that_were_submitted_here(port, slurm):
    _, _, [job] = submit(port)
    assert order(port, "Cancel", job.id, actor="ann")[2] == ()  # it is none of hers
    assert order(port, "Release", job.id, actor="ann")[0] == "444"
    forged = f"<Job><Id>{job.id}</Id><SubmitTime>1</SubmitTime><User>ann</User>"
    forged += f"<GlobalId>{job.get('GlobalId')}x</GlobalId></Job>"
    assert ask(port, "Create", job=forged)[0] == "000"
    code, message, _ = ask(port, "Cancel", wheres=(Where("User", "ann"),))
    assert (code, message) == ("740", f"{job.id}: it was not submitted here")
    assert slurm.jobs[job.id]["state"] == "idle"


def test_a_change_is_an_order_or_of_the_document_only_or_refused(port, slurm):
    _, _, [job] = submit(port)

    def change(name, text):
        return order(port, "Modify", job.id, sets=(Set(name, text),))[0]

    assert (change("Hold", "User"), slurm.jobs[job.id]["state"]) == ("000", "hold")
    assert (change("Hold", "NULL"), slurm.jobs[job.id]["state"]) == ("000", "idle")
    assert change("Application", "gaussian") == "000"
    for name, text in (("Queue", "long"), ("State", "Running"), ("GlobalId", "x"), ("User", "x")):
        assert change(name, text) == "740"
    assert [change("Duration", "90"), change("Priority", "5")] == ["000", "000"]
    assert [change("Duration", "0"), change("Priority", "0")] == ["317", "317"]
    assert change("Duration", "NULL") == "740"
    both = (Set("Duration", "80"), Set("Priority", "6"))
    assert order(port, "Modify", job.id, sets=both)[:2] == (
        "740", "Only one of Duration and Priority, of one job, can be changed at a time",
    )  # fmt: skip
    slurm.fault("scontrol update before fail")
    assert change("Duration", "3600") == "740"
    assert slurm.jobs[job.id]["altered"] == ["TimeLimit=00:01:30", "Priority=5"]
    kept = order(port, "Query", job.id)[2][0]
    assert (kept.get("Duration"), kept.get("Priority")) == ("90", "5")
    assert order(port, "Delete", job.id)[0] == "740"
    order(port, "Cancel", job.id)
    assert order(port, "Delete", job.id)[0] == "000"


def test_a_query_shows_what_was_seen_when_the_batch_system_was_asked(port, slurm):
    _, _, [job] = submit(port)
    slurm.becomes(job.id, "run")
    assert state(port, job.id) == "Idle"
    code, message, [row] = ask(port, "Refresh")
    assert (code, message) == ("000", "Successfully refreshed 1 of 1 Jobs")
    assert row.get("State") == state(port, job.id) == "Running"


def test_what_became_of_a_job_is_told_with_its_state(port, slurm):
    _, _, [job] = submit(port)
    slurm.becomes(job.id, "run")
    _, _, [row] = ask(port, "Refresh")
    assert [row.get(name) for name in ("State", "StartTime", "EndTime")] == [
        "Running", "1795185060", ""
    ]  # fmt: skip
    assert [row.delivered.text(name) for name in ("Processors", "Node")] == ["2", "n1"]
    assert row.delivered.get("Duration") is None  # it runs on
    assert (
        order(port, "Modify", job.id, sets=(Set("Duration", "90"),))[2][0].get("Duration") == "90"
    )
    version = order(port, "Query", job.id)[2]
    ask(port, "Refresh")
    assert order(port, "Query", job.id)[2] == version
    slurm.becomes(job.id, "over")
    _, _, [row] = ask(port, "Refresh")
    assert [row.get(name) for name in ("State", "StartTime", "EndTime", "ExitCode")] == [
        "Completed", "1795185060", "1795185100", "3"
    ]  # fmt: skip
    assert row.delivered.text("Duration") == "40"
    assert row.get("SubmitTime") == job.get("SubmitTime")


def test_the_end_of_a_cancelled_job_is_looked_up_too(folder, slurm):
    (folder / "gateway.toml").write_text(settings(every=0.1))
    with serving(folder) as (_, port):
        _, _, [job] = submit(port)
        order(port, "Cancel", job.id)

        def kept():
            return order(port, "Query", job.id)[2][0]

        assert until(lambda: kept().get("EndTime"))
        assert (kept().get("State"), kept().get("ExitCode")) == ("Cancelled", "3")


def test_the_end_of_a_job_that_is_cancelled_while_it_is_looked_up_is_not_missed(folder, slurm):
    with serving(folder) as (_, port):
        _, _, [job] = submit(port)
        service = answering(load(folder / "gateway.toml"))
        to, stores = service.settings.submission, service.stores
        slurm.fault("squeue --all --me after wait")  # it has said that the job is there
        calls = len(slurm.calls)
        thread = threading.Thread(target=to.look, args=(stores,))
        thread.start()
        assert until(lambda: slurm.calls[calls:])
        order(port, "Cancel", job.id)
        (slurm.root / "go").touch()
        thread.join(HANG)
        kept = order(port, "Query", job.id)[2][0]
        assert (kept.get("State"), kept.get("EndTime")) == ("Cancelled", "")
        slurm.fault("scontrol --all before fail")
        assert to.look(stores) == "scontrol returned 7: it does not work today"
        slurm.fault()
        assert to.look(stores) == ""
        kept = order(port, "Query", job.id)[2][0]
        assert (kept.get("State"), kept.get("EndTime")) == ("Cancelled", "1795185100")
        calls = len(slurm.calls)
        assert to.look(stores) == ""  # there is no more to know
        assert slurm.calls[calls:] == []


def test_a_job_that_was_held_while_it_runs_is_released(port, slurm):
    _, _, [job] = submit(port)
    slurm.becomes(job.id, "run")
    assert order(port, "Hold", job.id)[2][0].get("Hold") == "User"
    slurm.becomes(job.id, "run")  # a hold does not end it
    calls = len(slurm.calls)
    assert order(port, "Release", job.id)[2][0].get("Hold") == ""
    assert f"scontrol release {job.id}" in slurm.calls[calls:]


def test_a_state_is_told_where_nothing_else_is_known(port, slurm):
    _, _, [job] = submit(port)
    slurm.becomes(job.id, "run")
    slurm.fault("scontrol --all before fail")
    code, message, [row] = ask(port, "Refresh")
    assert (code, row.get("State"), row.get("StartTime")) == ("100", "Running", "")
    assert "Nothing but the State is known: scontrol returned 7" in message
    slurm.fault()
    assert ask(port, "Refresh")[2][0].get("StartTime") == "1795185060"


def test_jobs_are_looked_up_by_the_way(folder, slurm):
    (folder / "gateway.toml").write_text(settings(every=0.1))
    with serving(folder) as (_, port):
        _, _, [job] = submit(port)
        slurm.becomes(job.id, "run")
        assert until(lambda: state(port, job.id) == "Running")


def test_nobody_waits_behind_a_batch_system_that_is_slow(port, slurm):
    slurm.fault("sbatch before wait")
    threads = [threading.Thread(target=submit, args=(port,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    assert until(lambda: slurm.calls)
    # The jobs themselves are there already, without the words of the batch system.
    _, _, rows = ask(port, "Query", gets=(Get("Id"), Get("State")))
    assert rows
    assert not any(row.get("State") for row in rows)
    (slurm.root / "go").touch()
    for thread in threads:
        thread.join()
    assert [each["state"] for each in slurm.jobs.values()] == ["idle"] * 6


@pytest.mark.parametrize(("old", "new", "said"), [
    pytest.param('to = "slurm"', 'to = "slurn"', "did you mean slurm?", id="system"),
    pytest.param(f'account = "{ME}"', 'account = "no one"', "of this machine", id="account"),
    pytest.param('address = "jobs.db"', "", "where jobs are kept", id="no store"),
    pytest.param("[actors.maui]", HOOK, "no hook together with [submission]", id="hooks"),
])  # fmt: skip
def test_settings_that_do_not_fit_are_told(folder, old, new, said):
    (folder / "gateway.toml").write_text(settings().replace(old, new))
    with pytest.raises(BadSettings) as caught:
        load(folder / "gateway.toml")
    assert said in str(caught.value)


def test_root_says_that_jobs_run_as_root(folder, monkeypatch):
    (folder / "gateway.toml").write_text(settings(account=""))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(BadSettings, match="the account that jobs run as"):
        load(folder / "gateway.toml")
