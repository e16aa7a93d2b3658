"""Task groups on hosts of their own: an ad for each, and back."""

import shlex

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.classads import forms, long
from sssjob.document import dumps, loads
from sssjob.model import Job, Property, Requested, TaskGroup
from sssjob.systems.condor import task_groups
from sssjob.systems.condor.task_groups import gathered, to_ads, together

BIG = """<TaskGroup><Name>big</Name><TaskCount>1</TaskCount><Requested><NodeCount>1</NodeCount>
<Processors>16</Processors><Memory units="GB">32</Memory><Feature>gpu</Feature></Requested>
</TaskGroup>"""
SMALL = """<TaskGroup><Name>small</Name><TaskCount>3</TaskCount><Requested>
<NodeCount>3</NodeCount><Processors>6</Processors><Memory units="GB">3</Memory></Requested>
</TaskGroup>"""
STEP = "<TaskGroup><Id>0</Id><Delivered><NodeCount>5</NodeCount></Delivered></TaskGroup>"


def job_of(inner):
    return loads(f"<Job><Id>9</Id><User>amy</User><Executable>/a</Executable>{inner}</Job>")


def ads_of(inner):
    return [mapped.ad for mapped in to_ads(job_of(inner))]


def test_each_task_group_is_a_process_with_hosts_of_its_own_kind():
    big, small = ads_of(BIG + SMALL)
    wanted = ("ClusterId", "ProcId", "JobUniverse", "MinHosts", "MaxHosts", "RequestCpus",
              "RequestMemory", "SSSTaskGroup", "SSSTaskGroupName")  # fmt: skip
    assert [big[name] for name in wanted] == [9, 0, 11, 1, 1, 16, 32768, 1, "big"]
    assert [small[name] for name in wanted] == [9, 1, 11, 3, 3, 2, 1024, 2, "small"]
    assert "Hasgpu" in long.write(big)
    assert "Hasgpu" not in long.write(small)
    assert to_ads(job_of(BIG + SMALL))[0].findings == ()


@pytest.mark.parametrize(
    "inner, hosts, added",
    [
        (BIG, None, 0), (SMALL, 3, 0), (SMALL + STEP, 3, 0),
        ("<TaskGroup><TaskCount>2</TaskCount></TaskGroup>" * 2, None, 1),
        ("<Requested><Processors>8</Processors></Requested>" + BIG + SMALL, 4, 1),
    ],
)  # fmt: skip
def test_what_is_about_one_kind_of_hosts_is_one_ad(inner, hosts, added):
    [mapped] = to_ads(job_of(inner))
    assert mapped.ad.get("MinHosts") == hosts
    assert mapped.ad.get("SSSTaskGroups") == (1 if added == 0 else None)  # has a name to keep
    assert sum("added up" in each.message for each in mapped.findings) == added


def test_the_ads_of_task_groups_are_one_job_again():
    job = job_of(BIG + SMALL)
    other = job_of(SMALL + BIG).setting(Id="10")
    ads = [("f", mapped.ad) for each in (job, other, job_of("")) for mapped in to_ads(each)]
    found = [together(every).job for _, every in gathered(ads)]
    assert [each.id for each in found] == ["9", "10", "9"]
    for each, names in zip(found, (["big", "small"], ["small", "big"], []), strict=True):
        assert [group.get("Name") for group in each.task_groups] == names
    big, small = found[0].task_groups
    amounts = ("NodeCount", "Processors", "Memory")
    assert [big.requested.value(name) for name in amounts[:2]] == [1, 16]
    assert [small.requested.value(name) for name in amounts[:2]] == [3, 6]
    assert big.requested.get("Memory").bytes == 32 << 30
    assert small.requested.get("Memory").bytes == 3 << 30
    assert big.requested.text("Feature") == "gpu"
    again = [mapped.ad for mapped in to_ads(found[0])]
    assert [ad["RequestCpus"] for ad in again] == [16, 2]


@pytest.mark.parametrize(
    "order, found",
    [((1,), [1]), ((1, 0), [2]), ((0, 0, 1), [2, 1]), ((0, 0), [1, 1]), ((0, 0, 1, 1), [2, 2])],
)
def test_the_ads_of_one_job_are_found_in_any_order(order, found):
    both = ads_of(BIG + SMALL)
    told = [every for _, every in gathered(("f", both[number]) for number in order)]
    assert [len(every) for every in told] == found
    for every in told:
        missing = [each.message for each in together(every).findings if each.code == "W-COUNTS"]
        assert missing == ([] if len(every) == 2 else ["1 of the 2 task groups of '9' are here"])


def test_ads_whose_others_are_missing_are_not_kept_without_end(monkeypatch):
    monkeypatch.setattr(task_groups, "_MOST_WAITING", 3)
    firsts = [
        to_ads(job_of(BIG + SMALL).setting(Id=str(number)))[0].ad.merged({"ClusterId": number})
        for number in range(5)
    ]
    told = [every for _, every in gathered(("f", ad) for ad in firsts)]
    assert [[ad["ClusterId"] for ad in every] for every in told] == [[n] for n in range(5)]


@pytest.mark.parametrize(
    "odd",
    [{"SSSTaskGroup": 3}, {"SSSTaskGroups": 1}, {"SSSTaskGroup": "x"}, {"SSSTaskGroups": True}],
)
def test_what_no_task_group_would_say_makes_a_job_of_its_own(odd):
    big, small = ads_of(BIG + SMALL)
    assert [len(every) for _, every in gathered([("f", big.merged(odd)), ("f", small)])] == [1, 1]
    assert together([big.merged(odd)]).job.id == "9"


def test_more_than_was_asked_for_is_told():
    [mapped] = to_ads(job_of(SMALL.replace(">6<", ">2<")))
    assert [each.message for each in mapped.findings] == [
        "each of 3 hosts has RequestCpus 1, 3 in all and not 2"
    ]
    assert together([mapped.ad]).job.task_groups[0].requested.value("Processors") == 2
    changed = mapped.ad.merged({"RequestCpus": 4})  # by condor_qedit
    assert together([changed]).job.task_groups[0].requested.value("Processors") == 12


def test_what_a_group_has_that_no_ad_can_say_is_told():
    group = SMALL.replace("<Requested>", "<TaskDistribution>2</TaskDistribution><Task/><Requested>")
    told = [each for mapped in to_ads(job_of(BIG + group)) for each in mapped.findings]
    assert [(each.path, each.message) for each in told] == [
        ("/Job", "an ad says nothing of TaskDistribution"),
        ("/Job/TaskGroup[2]/Task", "an ad has no place for Task of a task group"),
    ]


def test_each_group_keeps_what_became_of_it():
    big, small = ads_of(BIG + SMALL)
    ran = {"JobStatus": 4, "JobStartDate": 1_800_000_000, "RemoteWallClockTime": 60.0}
    ads = [big.merged({**ran, "ExitCode": 0}), small.merged({**ran, "ExitCode": 3})]
    job = together(ads).job
    assert (job.get("State"), job.get("ExitCode"), job.delivered.text("User")) == (
        "Completed", "", "amy",
    )  # fmt: skip
    assert [group.get("ExitCode") for group in job.task_groups] == ["0", "3"]
    assert [group.delivered.text("Duration") for group in job.task_groups] == ["60", "60"]


WORDS = st.text("abc/-'\" é", min_size=1, max_size=6).map(str.strip).filter(bool)
COUNT = st.integers(1, 9)


@st.composite
def asked_of(draw, *, hosts):
    found = [("Processors", str(draw(st.integers(1, 40))), {})]
    if hosts:
        least = draw(COUNT)
        if draw(st.booleans()):
            found.append(("NodeCount", str(least), {}))
        else:
            found.append(("NodeCount", str(least + 1), {"op": "GE"}))
            found.append(("NodeCount", str(least + 1 + draw(COUNT)), {"op": "LE"}))
    if draw(st.booleans()):
        found.append(("Memory", str(draw(st.integers(1, 9000))), {"units": "MB"}))
    if draw(st.booleans()):
        kind = draw(st.sampled_from(("", "A100", "T4")))
        found.append(
            ("Resource", str(draw(COUNT)), {"name": "GPU", **({"type": kind} if kind else {})})
        )
    if draw(st.booleans()):
        found.append(("Resource", str(draw(COUNT)), {"name": "Tapes"}))
    if draw(st.booleans()):
        found.append(("Feature", draw(st.sampled_from(("gpu", "ssd"))), {}))
    return Requested(tuple(Property(*each) for each in found))


OWN = st.fixed_dictionaries({}, optional={
    "Id": WORDS, "Name": WORDS, "TaskCount": COUNT, "OutputFile": st.just("/o"),
    "Executable": st.sampled_from(("/bin/a", "/b")),
    "Arguments": st.lists(WORDS, min_size=1, max_size=3).map(shlex.join),
    "InitialWorkingDirectory": st.sampled_from(("/home/a", "/home/b")), "Priority": COUNT,
})  # fmt: skip
WHOSE = {"Executable": st.just("/bin/a"), "User": st.just("amy")}
OF_THE_JOB = st.fixed_dictionaries(WHOSE, optional={
    "Id": st.sampled_from(("7", "7.2", "PBS.7.0", "a b")), "Name": WORDS, "Project": WORDS,
    "Arguments": st.just("-x"), "EligibleTime": st.just(1_800_000_000), "Queue": WORDS,
})  # fmt: skip


@st.composite
def jobs(draw):
    """Jobs of which each task group has hosts of its own."""
    groups = [
        TaskGroup((*TaskGroup.of(**draw(OWN)).items, draw(asked_of(hosts=True))))
        for _ in range(draw(st.integers(1, 4)))
    ]
    if len(groups) == 1:
        groups[0] = groups[0].setting(TaskCount=3)
    return Job((*Job.of(**draw(OF_THE_JOB)).items, *groups))


def meaning(job):
    """What is said of each task group, by itself or by the job around it."""
    around = {item.name: item.text for item in (*job.properties, *job.delivered)}
    found = []
    for group in job.task_groups:
        own = {item.name: item.text for item in group.properties}
        around_it = {
            name: text for name, text in around.items() if name not in ("Id", "Name", "Extension")
        }
        asked = sorted(
            (item.name, item.text, sorted(item.attributes.items()))
            for item in group.requested
            if (item.name, item.text) != ("NodeCount", "1")  # which is what each ad means
        )
        found.append((sorted((around_it | own).items()), asked))
    return (around.get("Id"), around.get("Name") or None, found)


@examples(30)
@given(st.lists(jobs(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_from_a_document_to_ads_in_any_order_and_back_is_the_same(wanted, order):
    for number, job in enumerate(wanted):
        if "Id" not in job.properties.names():  # so that a job is known in the answer
            wanted[number] = job.setting(Priority=1000 + number)
    ads = [mapped.ad for job in wanted for mapped in to_ads(job)]
    order.shuffle(ads)
    read = forms.read_text("".join(forms.write(ads, "long")))
    found = [loads(dumps(together(every).job)) for _, every in gathered(("f", ad) for ad in read)]
    assert sorted(map(repr, map(meaning, found))) == sorted(map(repr, map(meaning, wanted)))
