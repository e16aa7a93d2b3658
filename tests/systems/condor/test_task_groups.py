"""Task groups on hosts of their own: an ad for each, and back."""

import os
import shlex
import time

import pytest
from condor_site import SLOT
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.classads import forms, long, writing
from sssjob.defaults import SEVERAL, resolve
from sssjob.document import dumps, loads
from sssjob.model import Job, Property, Requested, TaskGroup
from sssjob.systems.condor import task_groups
from sssjob.systems.condor.hooks.candidates import ads_of as fetched
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
    assert [small[name] for name in wanted] == [9, 1, 11, 3, 3, 2, 3072, 2, "small"]
    assert "Hasgpu" in long.write(big)
    assert "Hasgpu" not in long.write(small)
    assert to_ads(job_of(BIG + SMALL))[0].findings == ()


REQUESTED, BARE = "<Requested>{}</Requested>", "{}"


@pytest.mark.parametrize("counts", ["", "<Processors>8</Processors>"])
@pytest.mark.parametrize("of_group", [REQUESTED, BARE])
@pytest.mark.parametrize("of_job", [REQUESTED, BARE])
@pytest.mark.parametrize("count", ["", "<NodeCount>2</NodeCount>"])  # of one ad, added up
@pytest.mark.parametrize(
    "features, names",
    [
        pytest.param("<Feature>old</Feature>", {"old", "gpu"}, id="another"),
        pytest.param("<Feature>gpu</Feature>", {"gpu"}, id="the same"),
        pytest.param("<Feature>old</Feature><Feature>ssd</Feature>", {"old", "ssd", "gpu"},
                     id="two"),
        pytest.param('<Feature aggregation="List">old,ssd</Feature>', {"old", "ssd", "gpu"},
                     id="a list"),
    ],
)  # fmt: skip
def test_features_of_a_job_and_of_its_only_group_are_all_demanded(
    features, names, count, of_job, of_group, counts
):
    group = of_group.format(counts + "<Feature>gpu</Feature>")
    [ad] = ads_of(count + of_job.format(features) + f"<TaskGroup>{group}</TaskGroup>")
    asked = writing.attribute(ad["Requirements"])
    assert {
        name for name in ("old", "ssd", "gpu") if f"TARGET.Has{name} =?= true" in asked
    } == names


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


@pytest.mark.parametrize("of_group", ["", '<Memory units="GB">8</Memory>'])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    "asked",
    ['<Memory units="GB">2</Memory>', '<Disk units="GB">10</Disk>',
     '<Resource name="GPU">4</Resource>'],
)  # fmt: skip
def test_what_a_job_asks_for_in_all_counts_so_in_whatever_place_it_says_it(asked, groups, of_group):
    """It had been asked for once for each group, where it stood outside of Requested."""
    group = (
        "<TaskGroup><TaskCount>2</TaskCount><Requested><NodeCount>2</NodeCount>"
        f"{of_group}</Requested></TaskGroup>"
    )
    [inside] = ads_of(f"<Requested>{asked}</Requested>{group * groups}")
    [bare] = ads_of(f"{asked}{group * groups}")
    names = ("RequestMemory", "RequestDisk", "RequestGPUs", "RequestCpus", "MinHosts")
    assert [bare.get(name) for name in names] == [inside.get(name) for name in names]


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
        "3 machines of the parallel universe, of which each runs the program",
        "each of 3 hosts has RequestCpus 1, 3 in all and not 2",
    ]
    assert together([mapped.ad]).job.task_groups[0].requested.value("Processors") == 2
    changed = mapped.ad.merged({"RequestCpus": 4})  # by condor_qedit
    assert together([changed]).job.task_groups[0].requested.value("Processors") == 12


def test_what_a_group_has_that_no_ad_can_say_is_told():
    group = SMALL.replace("<Requested>", "<TaskDistribution>2</TaskDistribution><Task/><Requested>")
    told = [each for mapped in to_ads(job_of(BIG + group)) for each in mapped.findings]
    parallel = "3 machines of the parallel universe, of which each runs the program"
    assert [(each.path, each.message) for each in told] == [
        ("/Job/NodeCount", parallel),
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


# What a group asks for: as it is written, and what an ad has for it, of one alone.
WISHES = {
    "Processors": ("<Processors>6</Processors>", "RequestCpus", "6"),
    "Memory": ('<Memory units="MB">300</Memory>', "RequestMemory", "300"),
    "Disk": ('<Disk units="KB">500</Disk>', "RequestDisk", "500"),
    "Swap": ('<Swap units="KB">50</Swap>', "Requirements", "VirtualMemory"),
    "GPU": ('<Resource name="GPU" type="A100">1</Resource>', "RequireGPUs", "A100"),
    "Tapes": ('<Resource name="Tapes">2</Resource>', "RequestTapes", "2"),
    "Duration": ("<Duration>600</Duration>", "AllowedJobDuration", "600"),
    "OperatingSystem": ("<OperatingSystem>Windows</OperatingSystem>", "Requirements", "WINDOWS"),
    "Architecture": ("<Architecture>aarch64</Architecture>", "Requirements", "aarch64"),
    "Feature": ("<Feature>ssd</Feature>", "Requirements", "Hasssd"),
}
OWN_WISHES = {
    "Executable": ("<Executable>/bin/own</Executable>", "Cmd", "/bin/own"),
    "Arguments": ("<Arguments>-own</Arguments>", "Arguments", "-own"),
    "Environment": ('<Environment><Variable name="OWN">1</Variable></Environment>', "Environment",
                    "OWN=1"),
    "OutputFile": ("<OutputFile>own.txt</OutputFile>", "Out", "own.txt"),
    "InitialWorkingDirectory": ("<InitialWorkingDirectory>/own</InitialWorkingDirectory>", "Iwd",
                                "/own"),
    "Priority": ("<Priority>77</Priority>", "JobPrio", "77"),
    "Queue": ("<Queue>own</Queue>", "SSSQueue", "own"),
    "Shell": ("<Shell>/bin/own</Shell>", "-", "-"),
    "Interactive": ("<Interactive>true</Interactive>", "-", "-"),
    "NodeCount": ("<NodeCount>2</NodeCount>", "MinHosts", "MinHosts"),
}  # fmt: skip
TITLES = st.sampled_from(["", "<Id>g</Id>", "<Name>n</Name>", "<TaskCount>1</TaskCount>"])


@pytest.mark.parametrize("name", WISHES)
def test_what_a_job_and_its_only_group_both_request_is_in_the_ad_as_of_the_job(name):
    job = "<Job><Id>9</Id><Executable>/bin/x</Executable><Requested>{0}</Requested>{1}</Job>"
    wish, beside = WISHES[name][0], WISHES["Feature" if name == "Disk" else "Disk"][0]
    group = f"<TaskGroup><Requested>{wish}</Requested></TaskGroup>"
    made = (to_ads(loads(job.format(beside + wish, each))) for each in (group, ""))
    of_both, of_job = (
        {
            line.partition(" = ")[0]: sorted(line.partition(" = ")[2].split(" && "))
            for line in "".join(forms.write([one.ad], "long")).splitlines()
            if not line.startswith("SSSJobXML")
        }
        for [one] in made
    )
    assert of_both == of_job


@st.composite
def wishing(draw):
    """A job, and what each of its groups wishes, by the names above."""
    groups, texts = [], []
    for _ in range(draw(st.integers(1, 3))):
        asked = draw(st.lists(st.sampled_from(sorted(WISHES)), unique=True))
        own = draw(st.lists(st.sampled_from(sorted(OWN_WISHES)), unique=True, max_size=3))
        groups.append([*asked, *own])
        inner = "".join(WISHES[name][0] for name in asked)
        texts.append(
            f"<TaskGroup>{draw(TITLES)}{''.join(OWN_WISHES[name][0] for name in own)}"
            f"{f'<Requested>{inner}</Requested>' if inner or draw(st.booleans()) else ''}"
            "</TaskGroup>"
        )
    job = draw(st.lists(st.sampled_from(sorted(WISHES)), unique=True, max_size=2))
    asked = "".join(WISHES[name][0] for name in job)
    of_job = f"<Requested>{asked}</Requested>" if job else ""
    text = f"<Job><Id>9</Id><Executable>/bin/x</Executable>{of_job}{''.join(texts)}</Job>"
    return text, groups


def is_told(name, shown, ads):
    """Whether something that a group wishes is in an ad, or in what is said."""
    row = {**WISHES, **OWN_WISHES}[name]
    named = {"GPU": "Resource", "Tapes": "Resource"}.get(name, name)
    if any(named in text or row[1] in text for text in shown):
        return True
    if name in ("Processors", "Memory", "Disk"):  # of all hosts, and added up where that is
        each = f"SSSTotal{row[1].removeprefix('Request')}"
        totals = [ad.get(each, ad.get(row[1], 0) * ad.get("MinHosts", 1)) for ad in ads]
        return any(total >= int(row[2]) for total in totals)
    return any(row[2] in long.write(ad) and row[1] in ad for ad in ads)


@examples(150)
@given(wishing())
def test_all_that_a_task_group_asks_for_is_in_an_ad_or_told_by_each_road(wanted):
    text, groups = wanted
    job = resolve(loads(text)).block
    made = to_ads(job)
    found = [f"{each.path} {each.message}" for mapped in made for each in mapped.findings]
    said = []
    try:
        text = fetched(job, "amy", said.append)
        given_away = [*long.read(text.splitlines(keepends=True))]
    except ValueError as error:
        given_away, said = None, [str(error)]  # it waits
    for name in {name for group in groups for name in group}:
        assert is_told(name, found, [mapped.ad for mapped in made]), name
        assert said[0] if given_away is None else is_told(name, said, given_away), name
    if len(made) == 1:  # both roads decide alike
        lost = any(each.code.startswith("E-") for each in made[0].findings)
        assert lost == (given_away is None) or made[0].ad["JobUniverse"] == 11


GROUP = """<TaskGroup><Executable>/bin/own</Executable>
<Requested><Resource name="GPU">1</Resource><OperatingSystem>Linux</OperatingSystem>
<Duration op="LE">600</Duration></Requested></TaskGroup>"""


def test_a_slot_that_fetches_gets_what_the_command_writes_of_a_task_group(site):
    (site.path / "a.xml").write_text(f"<Job><Id>7</Id><User>amy</User>{GROUP}</Job>")
    slot = SLOT.merged({"OpSys": "WINDOWS", "GPUs": 1})
    assert site.fetch() == site.fetch(slot) == []  # no GPU, or another system
    [ad] = site.fetch(slot.merged({"OpSys": "LINUX"}))
    [mapped] = to_ads(resolve(site.job("a.xml")).block)
    for name in ("Cmd", "RequestGPUs", "AllowedJobDuration", "Requirements"):
        assert ad[name] == mapped.ad[name]
    assert (ad["Cmd"], ad["RequestGPUs"], ad["AllowedJobDuration"]) == ("/bin/own", 1, 600)


def test_a_job_whose_groups_are_not_one_kind_of_program_waits(site):
    (site.path / "a.xml").write_text(
        f"<Job><Id>7</Id><User>amy</User>{GROUP}{GROUP.replace('own', 'other')}</Job>"
    )
    assert site.fetch(SLOT.merged({"GPUs": 4})) == []
    [row] = site.jobs("waiting")
    assert "does not say Executable of one" in row.reason
    assert "cannot ask for Resource GPU of one" in row.reason


@pytest.mark.parametrize("said, state, reason", [
    ("<EligibleTime>4000000000</EligibleTime>", "ready", "its EligibleTime is 2096-10-02"),
    ("<DeadlineTime>1195184574</DeadlineTime>", "ready", "its DeadlineTime was 2007-11-16"),
    ("<Hold>User</Hold>", "waiting", "the Hold of its task is 'User'"),
    ("<Hold/>", "waiting", "the Hold of its task is ''"),
    ("<Dependency>8</Dependency>", "waiting", "it waits for other jobs"),
    ("<Dependency/>", "waiting", "its Dependency names no job"),
    ("<State>Completed</State><EndTime>9</EndTime>", "ready", ""),
])  # fmt: skip
@pytest.mark.parametrize("count", [1, 2])
def test_the_queue_heeds_what_a_task_group_says_as_what_its_job_says(
    site, said, state, reason, count
):
    group = f"<TaskGroup><TaskCount>1</TaskCount>{said}</TaskGroup>"
    site.add("a.xml", f"<User>amy</User>{group * count}")
    ads = site.fetch()
    assert len(ads) == (not reason)
    if ads:
        assert not {"JobStatus", "CompletionDate", "ExitCode"} & set(ads[0])
        return
    [row] = site.jobs(state)
    assert (row.reason or row.untimely(time.time())).startswith(reason)


# decision 855
@pytest.mark.parametrize("state", ["Hold", "Completed", "Running", "Idle"])
@pytest.mark.parametrize("own", ["", "<Requested><Processors>4</Processors></Requested>"])
@pytest.mark.parametrize("count", [1, 2])
def test_no_ad_tells_what_became_of_the_only_task_group_as_if_that_were_the_job(state, own, count):
    said = f"<State>{state}</State><StatusMessage>x</StatusMessage><EndTime>9</EndTime>"
    said += "<StartTime>5</StartTime><ExitCode>3</ExitCode><CpuDuration>1</CpuDuration>"
    group = f"<TaskGroup><TaskCount>1</TaskCount>{said}</TaskGroup>"
    plain = "<TaskGroup><TaskCount>1</TaskCount></TaskGroup>"
    head = f"<Job><Id>7</Id><Executable>/bin/true</Executable>{own}"
    [found] = to_ads(loads(f"{head}{group * count}</Job>"))
    [bare] = to_ads(loads(f"{head}{plain * count}</Job>"))
    assert found.ad == bare.ad
    assert found.findings == bare.findings
    [of_job] = to_ads(loads(f"{head}<State>Hold</State>{group * count}</Job>"))
    assert of_job.ad["JobStatus"] == 5


@pytest.mark.parametrize("said, waits", [
    ("<State>Hold</State>", True), ("<State>Completed</State><ExitCode>0</ExitCode>", False),
])  # fmt: skip
def test_a_job_waits_for_what_its_task_group_depends_upon(site, said, waits):
    group = "<TaskGroup><TaskCount>1</TaskCount><Dependency>1</Dependency></TaskGroup>"
    program = "<User>amy</User><Executable>/bin/true</Executable>"
    (site.path / "a.xml").write_text(
        f"<JobGroup><Id>g</Id><Job><Id>1</Id>{program}{said}</Job>"
        f"<Job><Id>2</Id>{program}{group}</Job></JobGroup>"
    )
    assert [ad["SSSJobId"] for ad in site.fetch()] == ([] if waits else ["2"])
    assert "Dependency" not in site.said


def test_times_and_priority_of_a_task_group_are_those_of_its_job(site):
    for name, priority in (("a", 1), ("b", 9)):
        deadline = int(time.time()) + 500
        said = f"<Priority>{priority}</Priority><DeadlineTime>{deadline}</DeadlineTime>"
        group = f"<TaskGroup><TaskCount>1</TaskCount>{said}</TaskGroup>"
        site.add(f"{name}.xml", f"<User>amy</User>{group}", name)
    [ad] = site.fetch()
    assert ad["SSSJobId"] == "b"
    assert 490 <= ad["SSSFeature_wall_limit_secs"] <= 500


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
def test_a_task_group_names_no_user_whom_its_document_may_not_name(site):
    group = "<TaskGroup><User>root</User><TaskCount>1</TaskCount></TaskGroup>"
    path = site.add("a.xml", group)
    os.chown(path, 2, 2)
    assert site.fetch() == []
    [row] = site.jobs("waiting")
    assert "root" in row.reason


_NAMED = '<Requested><Node aggregation="Range">a[1-4]</Node></Requested>'
_OTHER = '<Requested><Node aggregation="Range">b[1-2]</Node></Requested>'


# decision 965
@pytest.mark.parametrize("of_job", ["<Memory>10</Memory>", "<Memory>10</Memory><Node>m1</Node>"])
@pytest.mark.parametrize(
    "groups, hosts, said",
    [
        ((_NAMED, ""), 5, ""),
        ((_NAMED, _OTHER), 6, ""),
        ((_NAMED, "", _OTHER), 7, ""),
        ((_NAMED, _NAMED), 8, "a1"),
        ((_NAMED, '<Requested><Node op="NE">b7</Node></Requested>'), 5, "b7"),
        (
            (
                "<TaskCount>2</TaskCount>",
                '<Requested><Node aggregation="Range" count="2">a[1-9]</Node></Requested>',
            ),
            3,
            "",
        ),
    ],
)
def test_one_ad_for_all_groups_counts_the_nodes_of_each_and_asks_for_those_that_all_name(
    of_job, groups, hosts, said
):
    inner = "".join(f"<TaskGroup>{each}</TaskGroup>" for each in groups)
    text = f"<Job><Id>1</Id><Requested>{of_job}</Requested>{inner}</Job>"
    (made,) = to_ads(loads(text))
    assert made.ad["MinHosts"] == hosts
    asked = made.ad.get("Requirements")
    demanded = writing.expression(asked) if asked else ""
    found = [name for name in ("a1", "b1", "b7", "m1") if f'"{name}"' in demanded]
    assert found == ([said] if said else [])
    told = [each.path for each in made.findings if "the nodes of one" in each.message]
    assert bool(told) is (said != "a1")


# Of each element of which several count, one with a name and a value.
OF_SEVERAL = {
    "Dependency": "<Dependency>{0}{1}</Dependency>",
    "Environment": '<Environment><Variable name="{0}">{0}{1}</Variable></Environment>',
    "Extension": '<Extension type="other" name="{0}">{0}{1}</Extension>',
    "Feature": "<Feature>{0}{1}</Feature>",
    "Hold": "<Hold>{0}{1}</Hold>",
    "Resource": '<Resource name="{0}">{1}</Resource>',
}
BY_NAME = ("Environment", "Extension")  # of which what a group says by one name counts


@pytest.mark.parametrize("hosts", ["", "<Requested><NodeCount>2</NodeCount></Requested>"])
@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("by_default", [(), (0,), (1,), (0, 1)])  # of the job, of its groups
@pytest.mark.parametrize("other", [("bb", 78), ("aa", 78), ("aa", 77)])
@pytest.mark.parametrize("element", sorted(SEVERAL))
def test_all_that_job_and_groups_say_is_in_the_ads_or_told_where_several_count(
    element, other, by_default, groups, hosts
):
    """In every combination of a job, its task groups, and the defaults of both."""
    own, theirs = (OF_SEVERAL[element].format(*each) for each in (("aa", 77), other))
    inside = "" if 1 in by_default else theirs
    held = f"<Executable>/a</Executable>{'' if 0 in by_default else own}" + (
        f"<TaskGroupDefaults>{theirs}</TaskGroupDefaults>" if 1 in by_default else ""
    )
    held += f"<TaskGroup>{inside}{hosts}</TaskGroup>" * groups
    given = f"<JobDefaults>{own}</JobDefaults>" if 0 in by_default else ""
    text = f'<JobGroup>{given}<Job awarenessPolicy="Reject"><Id>9</Id>{held}</Job></JobGroup>'
    job = resolve(loads(text)).block.items[-1]
    made = to_ads(job)
    messages = [each.message for one in made for each in one.findings]
    is_overruled = element in BY_NAME and other == ("aa", 78)
    why = "its only task group" if groups == 1 else "each of its task groups"
    told = [each for each in messages if f"{why} says another" in each]
    assert len(told) == (1 if is_overruled else 0)
    for one in made:
        for name, value in {("aa", 77), other} - ({("aa", 77)} if is_overruled else set()):
            is_amount = element == "Resource" and f"Request{name}" in one.ad
            is_written = f"{name}{value}" in long.write(one.ad) or is_amount
            assert is_written or any(element in each for each in messages), (name, value)


def test_variables_of_a_job_are_beside_those_of_its_groups_in_each_ad():
    said = '<Environment><Variable name="{}">{}</Variable></Environment>'.format
    for hosts in ("", "<Requested><NodeCount>2</NodeCount></Requested>"):
        group = f"<TaskGroup>{said('B', 2)}{hosts}</TaskGroup>"
        for ad in ads_of(said("A", 1) + group + group):
            assert sorted(ad.text("Environment").split()) == ["A=1", "B=2"]
    # A variable of one group alone is in its own ad, or is refused in that of all.
    big, small = ads_of(said("A", 1) + BIG.replace("</TaskG", said("B", 2) + "</TaskG") + SMALL)
    assert (big.text("Environment"), small.text("Environment")) == ("B=2 A=1", "A=1")


# decision 1125
@pytest.mark.parametrize("policy, told", [("Ignore", 0), ("Warn", 2)])
@pytest.mark.parametrize("whose", ["job", "group"])
def test_what_of_a_group_may_be_ignored_is_not_told_of_an_ad(whose, policy, told):
    said = {
        each: f' awarenessPolicy="{policy}"' if each == whose else "" for each in ("job", "group")
    }
    job = loads(
        f"<Job{said['job']}><Id>1</Id><Executable>/bin/date</Executable><Duration>50</Duration>"
        f"<TaskGroup{said['group']}><Name>a</Name><Duration>70</Duration><TaskCount>1</TaskCount>"
        "<Task><Id>x</Id></Task></TaskGroup></Job>"
    )
    (made,) = to_ads(job)
    assert len(made.findings) == told
