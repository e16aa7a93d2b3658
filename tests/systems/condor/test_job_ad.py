"""Job objects as job ads, and what HTCondor cannot be told."""

# ruff: noqa: E501 (a row of a table is a line)

from pathlib import Path

import pytest
import strategies
from hypothesis import given

from sssjob import spec
from sssjob.classads import long, writing
from sssjob.defaults import resolve
from sssjob.document import from_tree, loads, read
from sssjob.document.canonical import canon
from sssjob.errors import InvalidValue
from sssjob.expression import offer
from sssjob.model import Job
from sssjob.systems.condor.accounting import table
from sssjob.systems.condor.from_ad import to_job
from sssjob.systems.condor.job_ad import embedded, to_ad
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, Untranslatable, translate

VALID = Path(__file__).parents[2] / "data" / "valid"


def ad_of(inner, **options):
    mapped = to_ad(
        loads(f"<Job><Id>7.1</Id><Executable>/bin/true</Executable>{inner}</Job>"), **options
    )
    return mapped.ad, [found.code for found in mapped.findings]


# fmt: off
MAPPED = [
    ("", "ClusterId", 7),
    ("", "ProcId", 1),
    ("", "SSSJobId", "7.1"),
    ("", "Cmd", "/bin/true"),
    ("", "JobUniverse", 5),
    ("<Type>java</Type>", "JobUniverse", 10),
    ("<Name>My job</Name>", "JobBatchName", "My job"),
    ("<User>amy</User>", "Owner", "amy"),
    ("<GlobalUser>/CN=amy</GlobalUser>", "x509userproxysubject", "/CN=amy"),
    ("<User>amy</User><Project>cms</Project>", "AccountingGroup", "cms.amy"),
    ("<Queue>long</Queue>", "SSSQueue", "long"),
    ("<GlobalId>s#7.1#9</GlobalId>", "GlobalJobId", "s#7.1#9"),
    ("<Priority>5</Priority>", "JobPrio", 5),
    ("<SubmitTime>1000</SubmitTime>", "QDate", 1000),
    ("<EligibleTime>1000</EligibleTime>", "DeferralTime", 1000),
    ("<InitialWorkingDirectory>/home/amy</InitialWorkingDirectory>", "Iwd", "/home/amy"),
    ("<Arguments>-i 'a b' don\\'t</Arguments>", "Arguments", "-i a' 'b don''''t"),
    ("<InputFile>in</InputFile>", "In", "in"),
    ("<OutputFile redirectList='Flush'>out</OutputFile>", "StreamOut", True),
    ("<OutputFile redirectList='Keep'>out</OutputFile>", "TransferOut", False),
    ("<OutputFile redirectList='Close'>out</OutputFile>", "Out", "/dev/null"),
    ("<OutputFile>out</OutputFile><ErrorFile redirectList='Merge'/>", "Err", "out"),
    ("<Environment><Variable name='A'>1 2</Variable></Environment>", "Environment", "A=1' '2"),
    ("<State>Hold</State><Hold>User</Hold>", "HoldReasonCode", 1),
    ("<State>Running</State>", "JobStatus", 2),
    ("<State>Suspended</State>", "JobStatus", 7),
    ("<ExitCode>137</ExitCode>", "ExitBySignal", False),
    ("<Requested><Processors op='GE'>4</Processors><Processors op='LE'>8</Processors></Requested>", "RequestCpus", 4),
    ("<Requested><Memory units='GB'>1.5</Memory></Requested>", "RequestMemory", 1536),
    ("<Requested><Disk units='B'>1025</Disk></Requested>", "RequestDisk", 2),
    ("<Requested><Duration>3600</Duration></Requested>", "AllowedJobDuration", 3600),
    ("<Requested><Duration op='LE'>3600</Duration></Requested>", "SSSFeature_wall_limit_secs", 3600),
    ("<ResourceLimit name='CPUTime' type='Hard'>90</ResourceLimit>", "SSSFeature_cpu_limit_secs", 90),
    ("<Requested><Resource name='GPUs'>2</Resource></Requested>", "RequestGPUs", 2),
    ("<Requested><Resource name='Matlab' type='License'>2</Resource></Requested>", "ConcurrencyLimits", "matlab:2"),
    ("<Requested><NodeCount op='GE'>2</NodeCount><NodeCount op='LE'>4</NodeCount></Requested>", "MaxHosts", 4),
    ("<Requested><NodeCount>2</NodeCount></Requested>", "JobUniverse", 11),
    ("<ResourceLimit name='core'>0</ResourceLimit>", "CoreSize", 0),
    ("<NotificationList uri='mailto:a@b'>JobEnd</NotificationList>", "NotifyUser", "a@b"),
    ("<Delivered><Duration>60</Duration></Delivered><SuspendDuration>5</SuspendDuration>", "RemoteWallClockTime", 65.0),
    ("<Delivered><Memory metric='Max'>1</Memory></Delivered>", "ResidentSetSize", 1024),
]
TOLD = [
    ("<OutputFile redirectList='Append'>out</OutputFile>", "W-USELESS"),
    ("<Environment export='true'/>", "W-USELESS"),
    ("<Environment><Variable name='A'>1\n2</Variable></Environment>", "W-USELESS"),
    ("<Name>two\nlines</Name>", "W-TYPE"),
    ("<Arguments>it's</Arguments>", "W-TYPE"),
    ("<Requested><Reservation>r1</Reservation></Requested>", "W-USELESS"),
    ("<Requested><Processors group='1'>4</Processors></Requested>", "E-GROUP"),
]
# fmt: on


def test_a_cpu_time_limit_that_only_follows_from_the_request_is_left_to_the_slot():
    ad, _ = ad_of("<Requested><Processors>2</Processors><Duration>60</Duration></Requested>")
    assert "SSSFeature_wall_limit_secs" in ad
    assert "SSSFeature_cpu_limit_secs" not in ad


@pytest.mark.parametrize("inner, name, value", MAPPED)
def test_a_property_is_the_attribute(inner, name, value):
    ad, _ = ad_of(inner)
    assert ad[name] == value
    assert type(ad[name]) is type(value)


@pytest.mark.parametrize("inner, code", TOLD)
def test_what_htcondor_cannot_be_told_is_said(inner, code):
    _, codes = ad_of(inner)
    assert code in codes


def test_a_name_with_a_line_feed_and_quotes_stays_on_its_line():
    ad, _ = ad_of('<Name>a "b"\nc</Name>')
    assert 'JobBatchName = "a \\"b\\" c"\n' in long.write(ad)


@pytest.mark.parametrize(
    "executable, code",
    [("", "E-MISSING"), ("#script", "E-FILE"), ("http://x/y", "E-FILE")],
)
def test_a_job_that_no_slot_can_run_is_said_to_be_one(executable, code):
    mapped = to_ad(loads(f"<Job><Id>1</Id><Executable>{executable}</Executable></Job>"))
    assert code in [found.code for found in mapped.findings]
    assert not mapped.runs


def test_old_pools_get_args_and_env_where_they_can_hold_the_values():
    inner = "<Arguments>a b</Arguments><Environment><Variable name='A'>1</Variable></Environment>"
    ad, _ = ad_of(inner, v1=True)
    assert (ad["Args"], ad["Env"]) == ("a b", "A=1")
    ad, _ = ad_of("<Arguments>'a b'</Arguments>", v1=True)
    assert "Args" not in ad


def test_an_id_that_is_no_cluster_is_kept_by_its_own_attribute():
    ad = to_ad(loads("<Job><Id>PBS.1234.0</Id></Job>")).ad
    assert ad["SSSJobId"] == "PBS.1234.0"
    assert "ClusterId" not in ad


@pytest.mark.parametrize("path", sorted(VALID.glob("*.xml")), ids=lambda path: path.stem)
def test_every_job_comes_back_whole_from_the_ad_that_carries_it(path):
    for block in (resolve(found).block for found in read(path)):
        for job in (block,) if isinstance(block, Job) else block.blocks(Job):
            ad = to_ad(job, document=embedded(job)).ad
            [again] = long.read(long.write(ad).encode().splitlines(keepends=True), strict=True)
            assert canon(to_job(again).job) == canon(job)


def test_a_list_of_features_beside_other_terms_is_read_back_as_it_was_written():
    ad, _ = ad_of(
        "<Requested><Architecture>x86_64</Architecture>"
        "<Feature aggregation='List'>ib,ssd</Feature></Requested>"
    )
    assert list(long.read(long.write(ad).encode().splitlines(keepends=True), strict=True)) == [ad]


@given(strategies.documents(("Job",)))
def test_every_job_has_an_ad_that_one_strict_reader_takes(element):
    ad = to_ad(resolve(from_tree(element)).block).ad
    try:
        text = long.write(ad)
    except ValueError:  # what the long form cannot hold is refused, and not damaged
        return
    assert list(long.read(text.encode().splitlines(keepends=True), strict=True)) == [ad]


GROUPS = """
<TaskGroup><Name>a</Name><TaskCount>1</TaskCount><Requested><NodeCount>1</NodeCount>
<Processors>4</Processors></Requested></TaskGroup>
<TaskGroup><Name>b</Name><TaskCount>8</TaskCount><Requested><NodeCount>4</NodeCount>
<Processors>8</Processors></Requested></TaskGroup>
"""


@pytest.mark.parametrize(
    ("inner", "hosts", "processors"),
    [
        (GROUPS, 5, 3),
        (GROUPS.replace("<NodeCount>4</NodeCount>", ""), 2, 6),
        ("<TaskCount>8</TaskCount><TaskDistribution>4</TaskDistribution>", 2, 4),
        ("<TaskCount>4</TaskCount><TaskDistribution>4</TaskDistribution>", None, 4),
        ("<TaskGroup><TaskCount>8</TaskCount></TaskGroup>", None, 8),
    ],
)
def test_a_job_whose_tasks_are_on_several_hosts_is_a_parallel_one(inner, hosts, processors):
    """One slot that had the sum of all would be another job, and was once given it."""
    [job] = read(f"<Job><Id>7</Id><Executable>/a</Executable>{inner}</Job>".encode())
    mapped = to_ad(job)
    assert mapped.ad.get("MinHosts") == mapped.ad.get("MaxHosts") == hosts
    assert mapped.ad["JobUniverse"] == (11 if hosts else 5)
    assert mapped.ad["RequestCpus"] == processors
    told = [each.message for each in mapped.findings if "task groups are added up" in each.message]
    assert len(told) == inner.startswith("\n<TaskGroup>")


# decision 1137
@pytest.mark.parametrize("inner, is_written", [
    ("<TaskCount>4</TaskCount><TaskDistribution type='ProcessorsPerTask'>2</TaskDistribution>", True),
    ("<TaskCount>4</TaskCount><TaskDistribution type='TasksPerNode'>4</TaskDistribution>", True),
    ("<TaskCount>4</TaskCount><TaskDistribution type='TasksPerNode'>3</TaskDistribution>", False),
    ("<TaskCount>4</TaskCount><TaskDistribution type='TasksPerNode'>2</TaskDistribution>", False),
    ("<TaskCount>4</TaskCount><TaskDistribution type='Geometry'>{0,1,2,3}</TaskDistribution>", False),
    ("<TaskCount>4</TaskCount><TaskDistribution>RoundRobin</TaskDistribution>", False),
    ("<NodeCount>1</NodeCount><TaskDistribution type='TasksPerNode'>2</TaskDistribution>", True),
    ("<TaskGroup><Name>t</Name><TaskCount>4</TaskCount>"
     "<TaskDistribution type='ProcessorsPerTask'>2</TaskDistribution></TaskGroup>", True),
])  # fmt: skip
def test_an_ad_has_a_task_distribution_where_a_submit_file_has_it(inner, is_written):
    text = f"<Job awarenessPolicy='Reject'><Id>7</Id><Executable>/a</Executable>{inner}</Job>"
    ads = to_ads(loads(text))
    assert all(made.runs for made in ads) is is_written
    try:
        translate(loads(text), "condor", Settings(residual=False))
    except Untranslatable:
        assert not is_written
    else:
        assert is_written
        assert not any(made.findings for made in ads)


# decision 714
@pytest.mark.parametrize("inner, told", [
    ("<Shell>/bin/tcsh</Shell><Interactive>True</Interactive>", "Interactive, Shell"),
    ("<Interactive>False</Interactive>", None),
    ("<Type>Strange</Type>", "Type"),
    ("<Extension type='HTCondor' name='JobUniverse'>grid</Extension>", "Extension JobUniverse"),
    ("<Extension type='HTCondor' name='KillSig'>SIGINT</Extension>", "Extension KillSig"),
    ("<Extension type='Slurm' name='gres'>x</Extension>", "Extension gres"),
    ("<State>Strange</State>", "State"),
    ("<Hold>User</Hold>", "Hold"),
    ("<State>Hold</State><Hold>User</Hold>", None),
    ("<NotificationList>JobStart JobEnd</NotificationList>", "NotificationList"),
    ("<NotificationList>JobEnd</NotificationList>", None),
    ("<ResourceLimit name='OpenFiles'>9</ResourceLimit>", "ResourceLimit OpenFiles"),
    ("<ResourceLimit name='CPUTime'>9</ResourceLimit>", None),
])  # fmt: skip
def test_what_a_job_says_and_no_ad_does_is_told(inner, told):
    job = loads(f"<Job><Id>7</Id><Executable>/bin/a</Executable>{inner}</Job>")
    found = [each.message for each in to_ad(job).findings]
    assert found == ([f"an ad says nothing of {told}"] if told else [])


# What an ad has an attribute for, or says in Requirements, and a submit file has no line for.
SAID_BY_ADS_ALONE = {"DeadlineTime", "Environment", "Swap"}
ELEMENTS = sorted({
    row.name for table in spec.CONTAINER["Job"].tables for row in spec.TABLES[table]
} - {"Id", "Executable", *SAID_BY_ADS_ALONE})  # fmt: skip
SIGNS = {"Extension": ' name="a" type="b"', "ResourceLimit": ' name="StackSize"'}


# decision 1040
@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("text", ["true", "false", "0", "5", "x"])
def test_an_ad_is_refused_for_what_a_job_says_where_a_submit_file_is(name, text):
    inner = f"<{name}{SIGNS.get(name, '')}>{text}</{name}>"
    job = '<Job awarenessPolicy="{}"><Id>7</Id><Executable>/bin/a</Executable>{}</Job>'
    unread = not to_ads(loads(job.format("Warn", inner)))[0].runs
    try:
        translate(loads(job.format("Reject", inner)), "condor", Settings(residual=False))
        is_refused = unread
    except (InvalidValue, Untranslatable):
        is_refused = True
    assert to_ads(loads(job.format("Reject", inner)))[0].runs is not is_refused


GROUP = "<TaskGroup><Name>t</Name>{}</TaskGroup>"
LIST = '<Node aggregation="List">n1,n2</Node>'


REFUSED = [
    "<NodeCount>2</NodeCount>", "<Requested><NodeCount>2</NodeCount></Requested>",
    "<TaskCount>4</TaskCount><TaskDistribution type='TasksPerNode'>2</TaskDistribution>",
    "<TaskCount>0</TaskCount>", GROUP.format("<TaskCount>0</TaskCount>"),
    "<Memory>7</Memory>" + GROUP.format("<Memory>5</Memory>"),
    *(f"<Requested>{each[0]}</Requested>" + GROUP.format(f"<Requested>{each[1]}</Requested>")
      for each in (("<Memory>7</Memory>", "<Memory>5</Memory>"), ("<Disk>7</Disk>", "<Disk>5</Disk>"))),
    f"<Requested>{LIST}</Requested>",
    "<TaskCount>3</TaskCount>" + GROUP.format("<TaskCount>2</TaskCount>"),
    "<Queue>q</Queue><Requested><Queue>r</Queue></Requested>",
    '<OutputFile redirectList="Append">o</OutputFile>',
]  # fmt: skip


# decision 1050
@pytest.mark.parametrize("inner", REFUSED)
def test_with_reject_an_ad_is_refused_where_a_submit_file_is(inner):
    job = '<Job awarenessPolicy="{}"><Id>7</Id><Executable>/bin/a</Executable>{}</Job>'
    with pytest.raises(Untranslatable):
        translate(loads(job.format("Reject", inner)), "condor", Settings(residual=False))
    assert not any(made.runs for made in to_ads(loads(job.format("Reject", inner))))
    [warned] = to_ads(loads(job.format("Warn", inner)))
    assert warned.runs
    assert warned.findings
    over = job.format("Reject", f"<State>Completed</State>{inner}")
    assert all(made.runs for made in to_ads(loads(over)))


HAD = (
    "<Node>n1</Node>", "<NodeCount>3</NodeCount>", "<Processors>3</Processors>",
    "<Duration>60</Duration>", '<Memory metric="Max">1</Memory>',
)  # fmt: skip


# decision 1160
@pytest.mark.parametrize("state", ["", "<State>Idle</State>", "<State>Running</State>"])
@pytest.mark.parametrize("had", HAD)
@pytest.mark.parametrize("inner", [
    *REFUSED,
    "<TaskCount>2</TaskCount><Requested>" + LIST.replace(">", ' count="2">', 1) + "</Requested>",
    '<Requested><Processors op="NE">2</Processors></Requested>',
    '<Requested><Feature op="Match">f*</Feature></Requested>',
    '<Requested><NetworkAdapter>x</NetworkAdapter></Requested>',
    "<Partition>p</Partition>",
])  # fmt: skip
def test_what_was_delivered_lets_no_ad_through_that_a_slot_may_run(inner, had, state):
    job = '<Job awarenessPolicy="Reject"><Id>7</Id><Executable>/bin/a</Executable>{}</Job>'
    fresh = [made.runs for made in to_ads(loads(job.format(state + inner)))]
    ran = f"{state}{inner}<Delivered>{had}</Delivered>"
    assert [made.runs for made in to_ads(loads(job.format(ran)))] == fresh == [False]


@pytest.mark.parametrize("name", ["Dependency", "Partition", "Queue", "Restartable", "Shell"])
def test_what_an_ad_says_nothing_of_goes_by_the_policy_and_is_no_matter_of_a_job_that_ended(name):
    job = '<Job awarenessPolicy="{}"><Id>7</Id><Executable>/bin/a</Executable>{}</Job>'
    asked, ended = f"<{name}>false</{name}>", f"<{name}>x</{name}><State>Completed</State>"
    found = {policy: to_ad(loads(job.format(policy, asked))).findings
             for policy in ("Ignore", "Warn", "Reject")}  # fmt: skip
    assert [[each.code for each in every] for every in found.values()] == [
        [], ["W-USELESS"], ["E-LOSS"]
    ]  # fmt: skip
    assert name in found["Reject"][0].message
    assert to_ad(loads(job.format("Reject", ended))).runs


OF_A_JOB = sorted({
    row.name for table in spec.CONTAINER["Job"].tables for row in spec.TABLES[table]
})  # fmt: skip
VALUES = {
    "Environment": "<Variable name='A'>1</Variable>", "NotificationList": "JobEnd", "State": "Hold",
    "Hold": "User", "Type": "vanilla",
}  # fmt: skip


# decision 776
@pytest.mark.parametrize("name", OF_A_JOB)
def test_of_each_property_of_a_job_an_ad_says_something_or_that_it_says_nothing(name):
    base = {"Id": "7", "Executable": "/bin/a"} | ({"State": "Hold"} if name == "Hold" else {})
    more = {"ResourceLimit": ' name="CPUTime"', "Resource": ' name="Tapes"'}.get(name, "")

    def mapped(parts, more=""):
        inner = "".join(
            f"<{each}{more if each == name else ''}>{text}</{each}>" for each, text in parts.items()
        )
        return to_ad(loads(f"<Job>{inner}</Job>"))

    with_it = mapped({**base, name: VALUES.get(name, "7")}, more)
    without = mapped({each: text for each, text in base.items() if each != name})
    told = [each.message for each in with_it.findings if name in each.message]
    assert told or with_it.ad != without.ad or name == "Type"


# decision 714
@pytest.mark.parametrize("name", ["Group", "Partition", "QualityOfService", "Queue"])
def test_what_no_slot_looks_at_is_told_where_it_is_requested(name):
    asked = f"<Requested><{name}>a</{name}></Requested>"
    job = loads(f"<Job><Id>7</Id><Executable>/bin/a</Executable>{asked}</Job>")
    made = to_ad(job)
    [found] = made.findings
    assert found.message.startswith(f"HTCondor cannot be asked for {name}")
    assert made.ad[dict(table.TEXTS)[name]] == "a"


# decision 1024
@pytest.mark.parametrize("name", spec.properties(spec.REQUESTED))
def test_nothing_that_is_requested_is_left_out_of_an_ad_in_silence(name):
    text = VALUES.get(name, "7")
    more = ' name="Tapes"' if name == "Resource" else ""
    inner = f"<Requested><{name}{more}>{text}</{name}></Requested>"
    asked = to_ad(loads(f"<Job><Id>7</Id><Executable>/bin/a</Executable>{inner}</Job>"))
    told = [each.message for each in asked.findings if name in each.message]
    bare = to_ad(loads("<Job><Id>7</Id><Executable>/bin/a</Executable></Job>"))
    assert told or asked.ad != bare.ad


def test_an_element_that_no_rule_speaks_of_is_told(monkeypatch):
    monkeypatch.setattr(offer, "ASKED", offer.ASKED | {"Rack"})
    base = "<Job><Id>7</Id><Executable>/bin/a</Executable>{}</Job>"
    for inner in ("<Rack>r1</Rack>", "<Requested><Rack>r1</Rack></Requested>"):
        [found] = to_ad(loads(base.format(inner))).findings
        assert found.message == "HTCondor cannot be asked for Rack EQ r1"


def requirements_of(inner):
    made = to_ad(loads(f"<Job><Id>7</Id><Executable>/bin/a</Executable>{inner}</Job>"))
    return writing.expression(made.ad["Requirements"]), [each.message for each in made.findings]


# decision 1035
def test_of_alternatives_that_cannot_be_said_as_a_whole_the_best_one_is_required():
    choice = '<Feature group="1">ib</Feature><{0} conj="Or" group="-1">q</{0}>'
    required, told = requirements_of(f"<Requested>{choice.format('Queue')}</Requested>")
    assert (required, told) == ("TARGET.Hasib is true", [])
    both = (
        '<Feature group="2">ib</Feature><Queue group="-1">q</Queue>'
        '<Queue conj="Or" group="-1">r</Queue>'
    )
    required, told = requirements_of(f"<Requested>{both}</Requested>")
    assert required == "TARGET.Hasib is true"
    assert told == ["HTCondor cannot be asked for Queue EQ q"]


def test_what_is_required_beside_a_number_is_required_of_each_host():
    asked = (
        '<NodeCount>2</NodeCount><Feature group="2">ib</Feature>'
        '<Processors group="-1">4</Processors><Processors conj="Or" group="-1">8</Processors>'
    )
    required, told = requirements_of(f"<Requested>{asked}</Requested>")
    assert required == "TARGET.Hasib is true"
    assert told == ["2 machines of the parallel universe, of which each runs the program"]


def test_of_a_wish_what_can_be_said_is_liked():
    asked = '<Feature preference="-1">ib</Feature><Feature preference="-2" op="Match">i.*</Feature>'
    inner = f"<Executable>/bin/a</Executable><Requested>{asked}</Requested>"
    made = to_ad(loads(f"<Job><Id>7</Id>{inner}</Job>"))
    assert writing.expression(made.ad["Rank"]) == "1 * (TARGET.Hasib is true)"
    assert len(made.findings) == 1


@pytest.mark.parametrize("name", ["Project", "User", "Group", "GlobalUser"])
def test_what_is_compared_otherwise_is_told(name):
    inner = f"<{name}>a</{name}><Requested><{name} op='NE'>b</{name}></Requested>"
    made = to_ad(loads(f"<Job><Id>7</Id><Executable>/bin/a</Executable>{inner}</Job>"))
    assert {each.message for each in made.findings} == {
        f"HTCondor cannot be asked for {name} NE b",
        f"{name} counts for nothing: its Requested says another",
    }
    assert dict(table.TEXTS)[name] not in made.ad


def test_several_projects_are_told():
    inner = "<Requested><Project>a</Project><Project>b</Project></Requested>"
    made = to_ad(loads(f"<Job><Id>7</Id><Executable>/bin/a</Executable>{inner}</Job>"))
    assert made.ad["AcctGroup"] == "a"
    assert [each.message for each in made.findings] == ["Project 'a' is asked for as well"]


def test_the_ad_of_a_job_that_ended_says_what_became_of_it():
    inner = ("<State>Completed</State><Queue>a</Queue><Project>x</Project><Requested><Queue>b"
             "</Queue><Project>y</Project></Requested>")  # fmt: skip
    made = to_ad(loads(f"<Job><Id>7</Id><Executable>/bin/a</Executable>{inner}</Job>"))
    assert (made.ad["SSSQueue"], made.ad["AcctGroup"]) == ("a", "x")


LIMITS = ("wall_limit_secs", "cpu_limit_secs", "max_rss_bytes", "max_swap_bytes",
          "scratch_limit_bytes")  # fmt: skip


@pytest.mark.parametrize(
    "name, is_said", [*((name, True) for name in LIMITS), ("shutdowntime_job", False)]
)
def test_a_feature_that_an_ad_says_is_not_told_as_one_it_does_not(name, is_said):
    inner = f'<Extension type="JobFeatures" name="{name}">1800000</Extension>'
    made = to_ad(loads(f"<Job><Id>7</Id><Executable>/bin/a</Executable>{inner}</Job>"))
    assert (f"SSSFeature_{name}" in made.ad) is is_said
    told = [each.message for each in made.findings]
    assert told == ([] if is_said else [f"an ad says nothing of Extension {name}"])
