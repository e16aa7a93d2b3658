"""A JobGroup goes to a batch system in its order, and so does what was created before."""

import pytest
from gateways import serving
from submitting_gateway import ME, ask, order, settings, submit
from waiting import HANG

from sssjob import store
from sssjob.errors import NoReply
from sssjob.gateway.config import load
from sssjob.handlers.intended import under_way
from sssjob.handlers.stores import Stores
from sssjob.rmap.message import Get, Set, Where

EXECUTABLE = "<Executable>/bin/true</Executable>"
OPTION = '<Extension type="sbatch" name="--uid">0</Extension>'
# The first job waits for the last one, which waits for that in the middle.
CHAIN = f"""<JobGroup><Id>wf</Id><JobDefaults>{EXECUTABLE}</JobDefaults>
<Job><Id>c</Id><Dependency condition="OnSuccess">b</Dependency></Job>
<Job><Id>a</Id><Name>first</Name></Job>
<Job><Id>b</Id><Dependency condition="OnSuccess" designator="JobName">first</Dependency></Job>
</JobGroup>"""


def submit_group(port, text=CHAIN, **how):
    return ask(port, "Submit", job=text, kind="JobGroup", **how)


def group(port, id_="wf"):
    _, _, rows = order(port, "Query", id_, kind="JobGroup")
    return rows[0]


def text_of(slurm, id_):
    return slurm.jobs[id_]["text"]


def test_a_group_is_submitted_in_its_order_with_real_ids(port, slurm):
    code, message, [kept] = submit_group(port, id_="17")
    assert (code, message) == ("000", "Successfully submitted the 3 jobs of wf")
    assert [job.id for job in kept.jobs] == ["3", "1", "2"]
    assert "--dependency=afterok:1" in text_of(slurm, "2")
    assert "--dependency=afterok:2" in text_of(slurm, "3")
    for job in kept.jobs:
        said = ("User", "GlobalUser", "Queue", "State", "ResourceManagerType")
        assert [job.get(name) for name in said] == [ME, "maui", "batch", "Idle", "slurm"]
    assert kept == group(port)
    _, _, rows = ask(port, "Query", gets=(Get("Id"), Get("State")))
    assert sorted(row.get("Id") for row in rows) == ["1", "2", "3"]


def test_the_same_group_is_submitted_once_and_another_one_of_its_id_is_refused(port, slurm):
    first = submit_group(port, id_="17")
    assert submit_group(port, id_="17") == first
    assert submit_group(port, id_="18") == first
    code, message, _ = submit_group(port, CHAIN.replace("first", "other"), id_="19")
    assert (code, message) == ("740", "wf is another JobGroup, or was deleted")
    assert len(slurm.jobs) == 3


def test_a_group_without_an_id_gets_one_by_its_request(port, slurm):
    text = CHAIN.replace("<Id>wf</Id>", "")
    _, _, [first] = submit_group(port, text, id_="17")
    _, _, [again] = submit_group(port, text, id_="17")
    assert first == again
    assert first.id.startswith("urn:uuid:")
    assert len({first.id, *(job.get("GlobalId") for job in first.jobs)}) == 4
    submit_group(port, text, id_="18")
    assert len(slurm.jobs) == 6


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("command", ["sbatch", "scontrol"])
def test_a_gateway_killed_in_the_middle_of_a_group_goes_on_where_it_was(
    folder, slurm, command, when
):
    with serving(folder) as (process, port):
        # The second call of the command; the first job is submitted by then.
        slurm.fault(f"{command} {when} second-kill")
        with pytest.raises(NoReply):
            submit_group(port, id_="17")
        assert process.wait(HANG) == -9
    slurm.fault()
    with serving(folder) as (_, port):
        code, _, [kept] = submit_group(port, id_="17")
        assert code == "000"
        assert [each["state"] for each in slurm.jobs.values()] == ["idle"] * 3
        assert sorted(job.id for job in kept.jobs) == ["1", "2", "3"]


def test_where_a_group_ended_is_told_and_the_same_request_goes_on(port, slurm):
    slurm.fault("sbatch before second-fail")
    code, message, _ = submit_group(port, id_="17")
    assert (code, message) == (
        "740", "1 of 3 jobs are submitted (1), not 'b': The batch system refuses it: sbatch "
        "returned 7: it does not work today",
    )  # fmt: skip
    assert [job.get("State") for job in group(port).jobs] == ["", "Idle", ""]
    slurm.fault()
    code, _, [kept] = submit_group(port, id_="17")
    assert (code, [job.id for job in kept.jobs]) == ("000", ["3", "1", "2"])
    assert "--dependency=afterok:1" in text_of(slurm, "2")


def test_a_group_of_which_nothing_is_submitted_is_told_too_and_can_be_deleted(port, slurm):
    slurm.fault("sbatch before fail")
    code, message, _ = submit_group(port)
    assert code == "740"
    assert message.startswith("0 of 3 jobs are submitted, not 'a': The batch system refuses it")
    slurm.fault("squeue before fail")
    assert order(port, "Delete", "wf", kind="JobGroup")[0] == "700"
    slurm.fault()
    assert order(port, "Delete", "wf", kind="JobGroup")[0] == "000"
    assert submit_group(port)[:2] == ("740", "wf is another JobGroup, or was deleted")


@pytest.mark.parametrize(("old", "new", "code", "said"), [
    pytest.param("<Name>first</Name>", "<Queue>secret</Queue><Name>first</Name>", "740",
                 "one of these queues", id="a queue of one job"),
    pytest.param("</JobDefaults>", "<Queue>secret</Queue></JobDefaults>", "740",
                 "one of these queues", id="a queue of all"),
    pytest.param("</JobDefaults>", "<SubmitTime>5</SubmitTime></JobDefaults>", "740",
                 "has a SubmitTime", id="submitted elsewhere"),
    pytest.param("</JobDefaults>", f"{OPTION}</JobDefaults>", "740",
                 "Options of the batch system", id="an option in defaults"),
    pytest.param("</JobDefaults>", "<User>somebody</User></JobDefaults>", "710",
                 "somebody", id="runs as another one"),
    pytest.param("<Name>first</Name>", "<Name>first</Name><Dependency>c</Dependency>", "740",
                 "wait for each other", id="a circle"),
    pytest.param("<Id>a</Id>", "<Id>b</Id>", "740", "nothing is submitted", id="two of one Id"),
    pytest.param("<Name>first</Name>", "<Name>first</Name><GlobalId>g</GlobalId></Job><Job>"
                 "<GlobalId>g</GlobalId>", "740", "have the GlobalId g", id="GlobalId"),
    pytest.param(CHAIN, "<JobGroup><Id>wf</Id></JobGroup>", "740", "has 0", id="no job"),
    pytest.param(CHAIN, CHAIN * 2, "314", "exactly one JobGroup", id="two groups"),
])  # fmt: skip
def test_a_group_with_a_job_that_is_not_taken_is_refused_whole(
    folder, port, slurm, old, new, code, said
):
    answer = ask(port, "Submit", job=CHAIN.replace(old, new), kind="JobGroup")
    assert answer[0] == code
    assert said in answer[1]
    with store.open(folder / "jobs.db", read_only=True) as jobs:
        assert list(jobs.documents()) == []
    assert slurm.calls == []


def test_who_may_not_submit_a_group_is_refused(port, slurm):
    assert submit_group(port, actor="ann")[:2] == ("444", "ann may not do this (JobGroup Submit)")
    assert slurm.calls == []


def test_a_group_has_no_job_of_another_submission(port, slurm):
    submit(port, "<GlobalId>g</GlobalId>")
    text = CHAIN.replace("<Name>first</Name>", "<Name>first</Name><GlobalId>g</GlobalId>")
    assert submit_group(port, text)[:2] == ("740", "g is another job, or was deleted")
    assert len(slurm.jobs) == 1


def test_a_job_of_a_group_and_the_group_are_steered_and_changed(port, slurm):
    submit_group(port)
    assert order(port, "Hold", "2")[:2] == ("000", "Hold: done for 1 of 1 jobs")
    assert {id_: job["state"] for id_, job in slurm.jobs.items()} == {
        "1": "idle", "2": "hold", "3": "idle"
    }  # fmt: skip
    assert [job.get("State") for job in group(port).jobs] == ["Idle", "Idle", "Hold"]
    assert order(port, "Release", "wf", kind="JobGroup")[:2] == (
        "000", "Release: done for 3 of 3 jobs",
    )  # fmt: skip
    assert slurm.jobs["2"]["state"] == "idle"
    assert order(port, "Modify", "2", sets=(Set("Duration", "90"),))[0] == "000"
    assert slurm.jobs["2"]["altered"] == ["TimeLimit=00:01:30"]
    assert order(port, "Modify", "2", sets=(Set("Queue", "long"),))[0] == "740"
    assert order(port, "Delete", "wf", kind="JobGroup")[0] == "740"
    slurm.becomes("1", "over")
    code, message, _ = order(port, "Cancel", "wf", kind="JobGroup")
    assert (code, message) == ("000", "Cancel: done for 3 of 3 jobs")
    assert {job["state"] for job in slurm.jobs.values()} == {"over"}
    assert order(port, "Delete", "wf", kind="JobGroup")[0] == "000"


def test_what_became_of_the_jobs_of_a_group_is_looked_up(port, slurm):
    submit_group(port)
    slurm.becomes("1", "run")
    code, message, rows = ask(port, "Refresh", wheres=(Where("Id", "1"),))
    assert (code, message) == ("000", "Successfully refreshed 1 of 1 Jobs")
    assert [(row.id, row.get("State"), row.get("StartTime")) for row in rows] == [
        ("1", "Running", "1795185060")
    ]
    slurm.becomes("1", "over")
    assert ask(port, "Refresh")[1] == "Successfully refreshed 3 of 3 Jobs"
    assert [job.get("State") for job in group(port).jobs] == ["Idle", "Completed", "Idle"]


def test_a_group_is_looked_at_until_its_last_job_has_ended(folder, port, slurm):
    to = load(folder / "gateway.toml").jobs.settings.submission
    submit_group(port)
    stores = Stores(str(folder / "jobs.db"))
    try:
        for id_, left in (("1", 1), ("2", 1), ("3", 0)):
            slurm.becomes(id_, "over")
            to.look(stores)
            with stores.use() as jobs:
                assert len(under_way(jobs)) == left
    finally:
        stores.close()
    assert {job.get("EndTime") for job in group(port).jobs} == {"1795185100"}


def test_a_group_that_is_made_anew_does_not_steer_the_jobs_of_others(port, slurm):
    """Whoever deletes his group writes Ids of others into the next one of its name."""
    _, _, [other] = submit(port)
    _, _, [kept] = submit_group(port)
    order(port, "Cancel", "wf", kind="JobGroup")
    order(port, "Delete", "wf", kind="JobGroup")
    forged = "".join(
        f"<Job><Id>{other.id}</Id><SubmitTime>1</SubmitTime><User>maui</User>"
        f"<GlobalId>{job.get('GlobalId')}</GlobalId></Job>"
        for job in kept.jobs
    )
    text = f"<JobGroup><Id>wf</Id>{forged}</JobGroup>"
    assert ask(port, "Create", job=text, kind="JobGroup")[:2] == ("740", "wf was submitted here")
    assert slurm.jobs[other.id]["state"] == "idle"


# --- what is in the store already -----------------------------------------------------------------


def create(port, inner="", kind="Job", text=None):
    job = text or f"<Job><Id>mine</Id>{EXECUTABLE}{inner}</Job>"
    assert ask(port, "Create", job=job, kind=kind)[0] == "000"


def test_a_job_that_was_created_is_submitted_by_a_where(port, slurm):
    create(port, '<Extension name="color" awarenessPolicy="Ignore">blue</Extension>')
    code, message, [job] = order(port, "Submit", "mine", id_="17")
    assert (code, message) == ("000", "Successfully submitted job 1")
    assert (job.id, job.get("State"), job.get("Queue")) == ("1", "Idle", "batch")
    assert job.properties.get("Extension", name="color").text == "blue"
    assert order(port, "Submit", "mine", id_="17")[2] == (job,)
    assert order(port, "Submit", "1", id_="18")[2] == (job,)
    assert ask(port, "Submit", wheres=(Where("GlobalId", job.get("GlobalId")),))[2] == (job,)
    assert order(port, "Submit", "mine", id_="19")[:2] == (
        "740", "A Submit is about one Job; this Where finds no",
    )  # fmt: skip
    assert len(slurm.jobs) == 1
    assert order(port, "Cancel", "1")[0] == "000"


def test_a_group_that_was_created_is_submitted_by_a_where(port, slurm):
    create(port, text=CHAIN, kind="JobGroup")
    _, _, [kept] = order(port, "Submit", "wf", kind="JobGroup", id_="17")
    assert [job.id for job in kept.jobs] == ["3", "1", "2"]
    assert order(port, "Submit", "wf", kind="JobGroup", id_="18")[2] == (kept,)
    assert order(port, "Submit", "1")[:2] == (
        "740", "The job is a part of JobGroup wf: submit that",
    )  # fmt: skip
    assert len(slurm.jobs) == 3


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_gateway_killed_while_it_submits_what_was_created_has_one_job(folder, slurm, when):
    with serving(folder) as (process, port):
        create(port)
        slurm.fault(f"sbatch {when} kill")
        with pytest.raises(NoReply):
            order(port, "Submit", "mine", id_="17")
        assert process.wait(HANG) == -9
    slurm.fault()
    with serving(folder) as (_, port):
        _, _, [job] = order(port, "Submit", "mine", id_="17")
        assert [each["state"] for each in slurm.jobs.values()] == ["idle"]
        assert (job.id, job.get("State")) == ("1", "Idle")


@pytest.mark.parametrize(("inner", "code", "said"), [
    pytest.param("<State>Running</State>", "740", "has a State", id="runs already"),
    pytest.param("<Queue>secret</Queue>", "740", "one of these queues", id="another queue"),
    pytest.param("<User>ann</User>", "710", "ann", id="runs as another one"),
    pytest.param(OPTION, "740", "Options", id="an option"),
])  # fmt: skip
def test_what_was_created_is_judged_as_what_comes_with_a_submit(port, slurm, inner, code, said):
    create(port, inner)
    before = order(port, "Query", "mine")[2]
    answer = order(port, "Submit", "mine")
    assert answer[0] == code
    assert said in answer[1]
    assert slurm.calls == []
    assert order(port, "Query", "mine")[2] == before


def test_a_job_that_is_another_one_by_its_global_id_is_not_submitted(port, slurm):
    submit(port, "<GlobalId>g</GlobalId>")
    create(port, "<GlobalId>g</GlobalId>")
    assert order(port, "Submit", "mine")[:2] == ("740", "g is another job, or was deleted")
    assert len(slurm.jobs) == 1


def test_a_submit_is_about_one_job(port, slurm):
    create(port)
    create(port, text=f"<Job><Id>yours</Id>{EXECUTABLE}</Job>")
    code, message, _ = ask(port, "Submit", wheres=(Where("User", "ann"),))
    assert (code, message) == ("740", "A Submit is about one Job; this Where finds no")
    code, message, _ = ask(port, "Submit", wheres=(Where("Version", "1"),))
    assert (code, message) == ("740", "A Submit is about one Job; this Where finds more than one")
    assert order(port, "Submit", "mine", job="<Job><Id>5</Id></Job>")[0] == "318"
    assert order(port, "Submit", "mine", actor="ann")[0] == "444"
    assert slurm.calls == []


def test_queues_are_not_asked_of_where_none_are_named(folder, slurm):
    (folder / "gateway.toml").write_text(settings(queues=()))
    with serving(folder) as (_, port):
        code, _, [kept] = submit_group(port)
        assert (code, kept.jobs[0].get("Queue")) == ("000", "")
