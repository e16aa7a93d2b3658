"""Jobs in other formats: what is written is valid, comes back, and tells what it lost."""

import gzip
import io
import json
import re
from fractions import Fraction
from pathlib import Path

import odd_numbers
import pytest
import records
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from strategies import documents

from sssjob import loads, units, usage
from sssjob.accounting.report import JobProperties, used, wall_time
from sssjob.accounting.writers import TARGETS, parts
from sssjob.accounting.writers import writer as writers
from sssjob.accounting.writers.grid import GridSite
from sssjob.document import dumps
from sssjob.document.bridge import from_tree
from sssjob.formats import car
from sssjob.model import Delivered, Job, Property
from sssjob.records import find, read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.recognition import recognised
from sssjob.records.record import Bad, Converted, Options, Skipped

DATA = Path(__file__).parents[1] / "data"
SACCT = DATA.parents[1] / "examples" / "slurm" / "sacct.txt"
SITE = GridSite("CERN-PROD", "ce.example.org:9619/condor", "grid", "HEPscore23", "11.4")
SCHEMA = etree.XMLSchema(etree.parse(str(DATA / "oracles" / "urf-1.0.xsd")))

JOB = loads(
    "<Job><Id>7</Id><GlobalId>ce/7</GlobalId><Name>a &amp; b</Name><State>Completed</State>"
    "<ExitCode>1</ExitCode><SubmitTime>90</SubmitTime><StartTime>100</StartTime>"
    "<EndTime>160</EndTime><CpuDuration>59</CpuDuration><Charge units='EUR'>1.5</Charge>"
    "<Extension type='APEL' name='Site'>DESY</Extension>"
    "<Extension type='VOMS' name='FQAN'>/atlas/Role=production</Extension>"
    "<Priority>3</Priority>"
    "<Requested><Processors>4</Processors></Requested>"
    "<Delivered><User>amy</User><GlobalUser>/CN=Amy</GlobalUser><Group>physics</Group>"
    "<Project>atlas</Project><Queue>long</Queue><Machine>cluster.example.org</Machine>"
    "<Duration>60</Duration><Processors>4</Processors><NodeCount>2</NodeCount>"
    "<Node aggregation='Range'>node[1-2]</Node>"
    "<Memory metric='Max' units='TB'>1.5</Memory><Swap metric='Max' units='KB'>10.5</Swap>"
    "<Resource name='ServiceLevel' type='HEPSPEC'>9.5</Resource></Delivered></Job>"
)


def written(target, *jobs, site=SITE, created=1051557713):
    """What a writer made of jobs, what was lost, and what became of each."""
    out, losses = io.BytesIO(), []
    writer = TARGETS[target].writer(out, writers.WriterOptions(site, created), losses.append)
    outcomes = list(writer.through(Converted(number, job) for number, job in enumerate(jobs, 1)))
    writer.close()
    return out.getvalue(), losses, outcomes


def read_back(name, data):
    outcomes = list(read_records(find(name), io.BytesIO(data), Options(), OBJECTS))
    assert not [item for item in outcomes if isinstance(item, Bad)]
    return [item.job for item in outcomes if isinstance(item, Converted)]


def lost(losses):
    return {(loss.path, loss.reason) for loss in losses}


def test_a_usage_record_has_everything_in_the_order_of_the_schema():
    data, losses, _ = written("ur", JOB)
    root = etree.fromstring(data)
    SCHEMA.assertValid(root)
    local = [etree.QName(item).localname for item in root[0]]
    assert local[:6] == [
        "RecordIdentity", "JobIdentity", "UserIdentity", "JobName", "Charge", "Status",
    ]  # fmt: skip
    texts = [(etree.QName(item).localname, item.text) for item in root.iter()]
    assert ("Memory", "1536") in texts  # of GB, because the schema has no TB
    assert ("Swap", "10752") in texts  # of B, because it has no fractions
    assert ("Status", "failed") in texts
    assert [text for name, text in texts if name == "Host"] == ["node1", "node2"]
    assert lost(losses) == {
        ("Priority", "no place for it"),
        ("Requested/Processors", "what was requested has no place"),
    }


def test_a_compute_record_names_site_group_roles_and_benchmark():
    data, losses, _ = written("car", JOB, site=GridSite())
    root = etree.fromstring(data)
    found = {etree.QName(item).localname: item for item in root.iter()}
    assert found["Site"].text == "DESY"
    assert found["LocalGroup"].text == "physics"
    assert found["Group"].text == "atlas"
    assert found["GroupAttribute"].text == "/atlas/Role=production"
    assert found["ServiceLevel"].text == "9.5"
    assert found["ExitStatus"].text == "1"
    assert {path for path, _ in lost(losses)} == {"Priority", "Requested/Processors"}


@pytest.mark.parametrize("host", ["ce.example.org", "ce.example.org:9619/condor", "c"])
def test_a_compute_record_names_the_host_that_jobs_were_submitted_at(host):
    root = etree.fromstring(written("car", JOB, site=GridSite(submit_host=host))[0])
    assert root[0].findtext(f"{{{car.NAMESPACE}}}SubmitHost") == host
    assert read_back("car", etree.tostring(root))[0]["SubmitHost"].text == host


def test_a_message_has_a_record_for_each_job_that_ended():
    running = loads("<Job><Id>8</Id><State>Running</State><StartTime>1</StartTime></Job>")
    data, _, outcomes = written("apel", JOB, running)
    lines = data.decode().splitlines()
    assert lines[0] == "APEL-individual-job-message: v0.3"
    assert lines[-1] == "%%"
    assert lines.count("%%") == 1
    for line in (
        "Site: DESY", "SubmitHost: ce.example.org:9619/condor", "LocalJobId: 7",
        "LocalUserId: amy", "GlobalUserName: /CN=Amy", "FQAN: /atlas/Role=production",
        "VO: atlas", "WallDuration: 60", "CpuDuration: 59", "Processors: 4", "NodeCount: 2",
        "StartTime: 100", "EndTime: 160", "InfrastructureType: grid",
        f"MemoryReal: {3 << 29}", "MemoryVirtual: 11", "ServiceLevelType: HEPSPEC",
        "ServiceLevel: 9.5", "MachineName: cluster.example.org", "Queue: long",
    ):  # fmt: skip
        assert line in lines, line
    assert outcomes[1] == Skipped(2, "no Duration, which APEL demands")


PARTS = (
    "<Job><Id>7</Id><State>Completed</State><StartTime>100</StartTime><EndTime>160</EndTime>"
    "<SubmitHost>ce</SubmitHost><Delivered><Machine>m</Machine>%s</Delivered></Job>"
)


def of_parts(*durations):
    """A job whose times are these elements, all others as APEL demands them."""
    return loads(PARTS % "".join((*durations, "<CpuDuration>9</CpuDuration>")))


# What a job says, and how long it ran; None where nothing tells.
WALL_TIMES = [
    (("<Duration group='a'>60</Duration>", "<Duration group='b'>30</Duration>"), 90),
    (("<Duration metric='Max'>70</Duration>", "<Duration>60</Duration>"), 60),
    (("<Duration>60</Duration>", "<Duration context='Utilized'>50</Duration>"), 60),
    (("<Duration metric='Max'>70</Duration>",), None),
]


@pytest.mark.parametrize("target", ["ur", "car", "apel"])
@pytest.mark.parametrize(("durations", "seconds"), WALL_TIMES)
def test_a_record_has_the_wall_time_that_reports_have(target, durations, seconds):
    job = of_parts(*durations)
    text = written(target, job)[0].decode()
    found = re.findall(r"WallDuration(?:: |>PT)(\d+)", text)
    assert found == ([] if seconds is None else [str(seconds)])
    assert wall_time(JobProperties(job)) == seconds


# decision 665
@pytest.mark.parametrize("target", ["ur", "car", "apel"])
@pytest.mark.parametrize("many", [2, 3, 8])
@pytest.mark.parametrize("seconds", [0, 50, 100, 150, 200, 400])
def test_processors_of_a_record_times_its_wall_time_are_its_processor_seconds(
    target, many, seconds
):
    """Or there are none in it, which is told."""
    had = f"<Processors duration='{seconds}'>{many}</Processors>"
    job = of_parts("<Duration>200</Duration>", had)
    text, losses, _ = written(target, job)
    found = re.findall(r"Processors(?:: |>)(\d+)", text.decode())
    if found and found != ["0"]:
        assert [int(each) * 200 for each in found] == [many * seconds]
    else:
        assert many * seconds % 200 or not seconds
        paths = {where for where, _ in lost(losses)}
        assert seconds == 0 or "Delivered/Processors" in paths


# decision 710
@examples(60)
@given(st.integers(1, 10**6), st.integers(1, 3 * 10**9), st.sampled_from(["ur", "car"]))
def test_the_processor_seconds_of_a_job_are_in_its_record_and_come_back(wall, total, target):
    """As the number of processors for the whole time, or as seconds, which are told."""
    parts = usage.processors(total, wall)
    assert all(units.duration(each.attributes.get("duration", "0")) <= wall for each in parts)
    told = JOB.delivered.all("Duration")[0]
    job = Job(
        (Property("Id", "7"), Delivered((Property(told.name, wall), *parts)))
    )  # fmt: skip
    assert used(JobProperties(job)).slots == total
    assert sum(each.total for each in usage.usages(job)) == total
    data, losses, _ = written(target, job)
    if target == "ur":
        SCHEMA.assertValid(etree.fromstring(data))
    [record] = etree.fromstring(data)
    texts = {
        (etree.QName(item).localname, *item.attrib.values()): item.text for item in record.iter()
    }
    if total % wall:
        assert texts["TimeDuration", "processorTime"] == f"PT{total}S"
        assert {path.partition("/@")[0] for path, _ in lost(losses)} == {"Delivered/Processors"}
    else:
        assert int(texts["Processors",]) * wall == total
        assert not lost(losses)
    [back] = read_back(target, data)
    assert back.delivered.all("Processors") == job.delivered.all("Processors")
    assert used(JobProperties(back)).slots == total


def test_processors_that_many_jobs_had_for_a_part_of_their_time_are_written_as_of_one():
    """Columns of many jobs are no other road: what an amount is depends on another property."""
    jobs = [
        Job(
            (
                Property("Id", number),
                Delivered((Property("Duration", 200), *usage.processors(number, 200))),
            )
        )
        for number in (300, 400, 1124)
    ]
    together, lost_together, _ = written("ur", *jobs)
    alone = [written("ur", job)[0] for job in jobs]
    records = [etree.tostring(item) for each in alone for item in etree.fromstring(each)]
    assert [etree.tostring(item) for item in etree.fromstring(together)] == records
    assert [loss.job for loss in lost_together] == ["300", "1124", "1124"]


def test_what_is_no_part_of_a_wall_time_is_told_as_lost():
    odd = "<Duration metric='Max'>70</Duration>"
    parts = ("<Duration group='a'>x</Duration>", "<Duration group='b'>30</Duration>")
    own = of_parts(odd).setting(Property("Duration", "60"))
    for job, seconds, path in (
        (of_parts(*parts), "PT30S", "Delivered/Duration"), (own, "PT60S", "Delivered/Duration"),
    ):  # fmt: skip
        text, losses, _ = written("ur", job)
        assert seconds in text.decode()
        assert path in {where for where, _ in lost(losses)}
        assert "Duration" not in {where for where, _ in lost(losses)}


@pytest.mark.parametrize("target", ["apel", "apel-summary", "apel-normalised", "apel-sync"])
@pytest.mark.parametrize("state", ["Running", "suspended", "Draining"])
def test_a_message_has_no_job_whose_state_is_no_end(target, state):
    job = of_parts("<Duration>60</Duration>").setting(Property("State", state))
    outcomes = written(target, job)[2]
    assert outcomes == [Skipped(1, "a State that is not one of a job that has ended")]


def test_a_summary_adds_up_by_month_user_and_kind_of_job():
    def job(id, end, user="/CN=Amy", processors=4):
        return JOB.setting(Property("Id", id), Property("EndTime", end)).holding(
            (*JOB.setting(Property("Id", id), Property("EndTime", end)).items[:-1],
             Delivered((Property("Duration", 60), Property("GlobalUser", user),
                        Property("Processors", processors))))
        )  # fmt: skip

    data, _, _ = written(
        "apel-summary", job(1, 1795132740), job(2, 1795132840), job(3, 1795132740, "/CN=Bob"),
        job(4, 1798000000), job(5, 1795132740, processors=1),
    )  # fmt: skip
    text = data.decode()
    assert text.startswith("APEL-summary-job-message: v0.2\n")
    records = [record.strip().splitlines() for record in text.split("%%\n")[:-1]]
    assert len(records) == 4
    assert "NumberOfJobs: 2" in records[0]
    assert "WallDuration: 120" in records[0]
    assert "CpuDuration: 118" in records[0]
    assert "EarliestEndTime: 1795132740" in records[0]
    assert "LatestEndTime: 1795132840" in records[0]
    assert "Month: 12" in records[2]


def worth(*levels, **more):
    """A job of 100 seconds, 50 of CPU time, with these benchmarks of its processors."""
    figures = "".join(
        f'<Resource name="ServiceLevel" type="{kind}">{figure}</Resource>'
        for kind, figure in levels
    )
    values = {"Id": 1, "StartTime": 1795132640, "EndTime": 1795132740, "CpuDuration": 50, **more}
    plain = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
    return loads(f"<Job>{plain}<Delivered><Duration>100</Duration>{figures}</Delivered></Job>")


def records_of(data):
    return [
        dict(line.split(": ", 1) for line in record.strip().splitlines())
        for record in data.decode().split("\n", 1)[1].split("%%\n")[:-1]
    ]


def test_a_normalised_summary_has_a_record_for_each_set_of_benchmarks():
    both = (("hepspec", "11"), ("HEPscore23", "15.005"))
    data, _, outcomes = written(
        "apel-normalised", worth(*both), worth(*both, Id=2), worth(both[1]), worth(),
        site=GridSite("HERE", infrastructure="local"),
    )  # fmt: skip
    assert data.startswith(b"APEL-normalised-summary-message: v0.4\n")
    first, second = records_of(data)
    assert first["NormalisedWallDuration"] == "{HEPscore23: 3001, hepspec: 2200}"
    assert first["NormalisedCpuDuration"] == "{HEPscore23: 1501, hepspec: 1100}"
    assert (first["WallDuration"], first["NumberOfJobs"]) == ("200", "2")
    assert (first["Infrastructure"], "ServiceLevel" in first) == ("local", False)
    assert second["NormalisedWallDuration"] == "{HEPscore23: 1501}"
    assert outcomes[-1] == Skipped(4, "no benchmark, by which a normalised summary counts")


def test_a_normalised_summary_loses_no_benchmark_and_each_message_one_at_most():
    both = (("hepspec", "11"), ("HEPscore23", "15.005"))
    told = {name: lost(written(name, worth(*both), site=GridSite("HERE"))[1])
            for name in ("apel-normalised", "apel-summary", "apel")}  # fmt: skip
    one = {("Delivered/Resource[@type='HEPscore23'][@name='ServiceLevel']", "no place for it")}
    assert told == {"apel-normalised": set(), "apel-summary": one, "apel": one}


@pytest.mark.parametrize("source, names", [
    ("APEL", ("InfrastructureType", "InfrastructureDescription")),
    ("CAR", ("Infrastructure/type", "Infrastructure/description")),
])  # fmt: skip
def test_what_a_job_says_of_its_site_comes_before_the_options(source, names):
    said = (("Site", "THERE"), (names[0], "cloud"), (names[1], "VAC-x"))
    noted = "".join(f'<Extension type="{source}" name="{name}">{text}</Extension>'
                    for name, text in said)  # fmt: skip
    job = loads(
        f"<Job><Id>1</Id><EndTime>160</EndTime><StartTime>100</StartTime><CpuDuration>5"
        f"</CpuDuration>{noted}<Delivered><Duration>60</Duration></Delivered></Job>"
    )
    here = GridSite("HERE", infrastructure="grid")
    message, losses, _ = written("apel", job, site=here)
    assert lost(losses) == set()
    for line in (b"Site: THERE", b"InfrastructureType: cloud", b"InfrastructureDescription: VAC-x"):
        assert line in message.splitlines()
    record, losses, _ = written("car", job, site=here)
    assert lost(losses) == set()
    found = {etree.QName(each).localname: each for each in etree.fromstring(record).iter()}
    assert found["Site"].text == "THERE"
    assert sorted(found["Infrastructure"].attrib.values()) == ["VAC-x", "cloud"]


def test_a_benchmark_that_would_end_a_dictionary_is_refused():
    _, _, (outcome,) = written("apel-normalised", worth(("a}", 1)), site=GridSite("HERE"))
    assert "a benchmark called 'a}'" in outcome.reason
    data, _, _ = written(
        "apel-normalised", worth(), site=GridSite("HERE", benchmark="x", figure="2")
    )
    assert b"NormalisedWallDuration: {x: 200}\n" in data


def test_a_message_of_synchronisation_counts_the_jobs_of_submit_hosts_and_months():
    jobs = [worth(SubmitHost="a"), worth(SubmitHost="b"), worth(SubmitHost="a"),
            worth(SubmitHost="a", EndTime=1798000000), worth()]  # fmt: skip
    data, _, outcomes = written("apel-sync", *jobs, site=GridSite("HERE"))
    assert data.startswith(b"APEL-sync-message: v0.1\n")
    assert [tuple(record.values()) for record in records_of(data)] == [
        ("HERE", "a", "11", "2026", "2"), ("HERE", "b", "11", "2026", "1"),
        ("HERE", "a", "12", "2026", "1"),
    ]  # fmt: skip
    assert outcomes[-1] == Skipped(5, "no SubmitHost, which APEL demands")


def test_where_nobody_names_a_site_a_message_names_the_machine_and_without_one_no_job():
    bare = loads(
        "<Job><Id>7</Id><StartTime>1</StartTime><EndTime>2</EndTime><CpuDuration>1</CpuDuration>"
        "<Delivered><Machine>cluster</Machine><Duration>1</Duration></Delivered></Job>"
    )
    data, _, _ = written("apel", bare, site=GridSite())
    assert data.splitlines()[1:3] == [b"Site: cluster", b"MachineName: cluster"]
    nowhere = loads(dumps(bare).replace("<Machine>cluster</Machine>", ""))
    _, _, outcomes = written("apel", nowhere, site=GridSite())
    assert outcomes == [Skipped(1, "no name of a site, which APEL demands")]


@pytest.mark.parametrize("word", ["none", "None", " NULL "])
def test_a_name_that_APEL_reads_as_no_value_is_told(word):
    named = "".join(f"<{name}>{word}</{name}>" for name in ("User", "Project", "GlobalUser"))
    job = loads(dumps(JOB).replace("<Delivered>", f"<Delivered>{named}", 1))
    data, losses, _ = written("apel", job)
    assert word.strip().encode() not in data
    reason = "APEL reads this word as no value"
    names = {path.rpartition("/")[2] for path, why in lost(losses) if why == reason}
    assert names == {"User", "Project", "GlobalUser"}
    _, _, outcomes = written("apel", Job((Property("Id", word), *JOB.items[1:])))
    assert outcomes == [Skipped(1, f"the Id {word.strip()!r}, which APEL reads as none")]


# The repository cuts messages at %% and records by str.splitlines, and strips values.
@pytest.mark.parametrize("text, read", [
    *((f"a{sign}b", "a b") for sign in "\u2028\u2029\x85\n"), ("a\u2028", "a"), ("a\u00a0", "a"),
    ("\u3000a", "a"), ("%%", ""), ("a%%b", ""), ("a b", "a b"), ("%", "%"),
    ("a\u00a0b", "a\u00a0b"),
])  # fmt: skip
@pytest.mark.parametrize("target", ["apel", "apel-summary"])
def test_a_text_that_APEL_reads_as_another_one_is_told(text, read, target):
    named = "".join(f"<{name}>{text}</{name}>" for name in ("Project", "GlobalUser"))
    job = loads(dumps(JOB).replace("<Delivered>", f"<Delivered>{named}", 1))
    data, losses, _ = written(target, job, site=GridSite("S"))
    (record,) = data.decode().partition("\n")[2].split("%%")[:-1]
    told = dict(line.split(": ", 1) for line in record.strip("\n").splitlines())
    assert (told.get("VO", ""), told.get("GlobalUserName", "")) == (read, read)
    names = {path.rpartition("/")[2] for path, why in lost(losses) if "APEL " in why}
    assert names == ({"Project", "GlobalUser"} if read != text else set())


def test_a_text_that_would_end_a_record_of_APEL_refuses_it_where_it_cannot_be_left_out():
    for job, site, said in (
        (Job((Property("Id", "7%%"), *JOB.items[1:])), GridSite("S"), "the Id '7%%', in"),
        (JOB, GridSite("S", submit_host="h%%"), "SubmitHost 'h%%', in"),
    ):
        _, _, outcomes = written("apel", job, site=site)
        assert outcomes == [Skipped(1, f"{said} which APEL ends a record")]


@pytest.mark.parametrize("policy, expected", [
    pytest.param("Reject", (0, 1), id="refuses-the-record"),
    pytest.param(" Reject ", (0, 1), id="refuses-the-record-with-white-space-around-it"),
    pytest.param("reject", (1, 0), id="is-none-of-its-own-in-lower-case"),
    pytest.param("Warn", (1, 0), id="tells"),
    pytest.param("Ignore", (0, 0), id="keeps-silent"),
    pytest.param(None, (1, 0), id="tells-where-nothing-is-stated"),
])  # fmt: skip
def test_awareness_decides_what_follows_from_a_loss(policy, expected):
    attributes = {"awarenessPolicy": policy} if policy else {}
    job = Job((Property("Id", "7"), Property("Priority", "3", attributes)))
    data, losses, outcomes = written("ur", job)
    bad = [item for item in outcomes if isinstance(item, Bad)]
    assert (len(losses), len(bad)) == expected
    assert (b"LocalJobId" in data) is not bool(bad)
    for item in bad:
        assert "Priority with awarenessPolicy Reject" in item.reason


def test_a_policy_holds_for_what_stands_inside():
    inner = "<Priority>3</Priority><Requested><Memory>1</Memory></Requested>"
    job = loads(f"<Job awarenessPolicy='Ignore'><Id>7</Id>{inner}</Job>")
    assert written("ur", job)[1] == []


@pytest.mark.parametrize("inner, path, reason", [
    pytest.param("<Delivered><Memory units='KB'>0</Memory></Delivered>",
                 "Delivered/Memory", "no positive whole number", id="zero"),
    pytest.param("<Delivered><Memory units='elephants'>1</Memory></Delivered>",
                 "Delivered/Memory", "'elephants' is not", id="unit"),
    pytest.param("<EndTime>soon</EndTime>", "EndTime", "'soon' is not", id="time"),
    pytest.param("<User>a</User><Delivered><User>b</User></Delivered>",
                 "User", "another value is written", id="another"),
    pytest.param("<Delivered><Node aggregation='Pattern'>n.*</Node></Delivered>",
                 "Delivered/Node", "no list of at most 4096 names", id="pattern"),
    pytest.param("<Delivered><Memory units='KB' context='Utilized'>1</Memory></Delivered>",
                 "Delivered/Memory/@context", "no place for it", id="attribute"),
    pytest.param("<TaskGroup><Id>0</Id></TaskGroup>", "TaskGroup", "no place for it", id="step"),
    pytest.param("<Environment><Variable name='A'>1</Variable></Environment>",
                 "Environment", "no place for it", id="environment"),
    pytest.param("<Requested><Processors>4</Processors></Requested>",
                 "Requested/Processors", "what was requested", id="request"),
])  # fmt: skip
def test_what_cannot_be_held_is_told_with_path_and_reason(inner, path, reason):
    data, losses, _ = written("ur", loads(f"<Job><Id>7</Id>{inner}</Job>"))
    SCHEMA.assertValid(etree.fromstring(data))
    assert any(loss.path == path and loss.reason.startswith(reason) for loss in losses), losses


@pytest.mark.parametrize("name", odd_numbers.NAMES)
def test_a_usage_record_is_valid_whatever_stands_where_a_number_should(name):
    for job in odd_numbers.jobs(name):
        SCHEMA.assertValid(etree.fromstring(written("ur", job)[0]))


# What CAR 1.2 and APEL take, by the name of the element, attribute or key.
POSITIVE, WHOLE = r"[1-9][0-9]{0,18}", r"0|[1-9][0-9]{0,18}"
FLOAT = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
TYPED = {
    **dict.fromkeys(("WallDuration", "CpuDuration", "TimeDuration"), f"(PT)?({WHOLE})S?"),
    **dict.fromkeys(("Memory", "Swap", "Disk", "Network"), POSITIVE),
    **dict.fromkeys(("NodeCount", "Processors", "MemoryReal", "MemoryVirtual"), WHOLE),
    **dict.fromkeys(("Charge", "ServiceLevel", "consumptionRate"), FLOAT),
    **dict.fromkeys(("StartTime", "EndTime"), r"[0-9]{1,12}|[0-9]{4}-.*Z"),
    "ExitStatus": r"-?[0-9]+",
}


def typed(target, data):
    """The names and texts of a document that have a type there."""
    if target == "car":
        for item in etree.fromstring(data).iter():
            yield etree.QName(item).localname, item.text or ""
            yield from ((etree.QName(key).localname, text) for key, text in item.attrib.items())
    else:
        yield from (
            tuple(line.split(": ", 1)) for line in data.decode().splitlines() if ": " in line
        )


@pytest.mark.parametrize("target", ["car", "apel", "apel-summary", "apel-normalised", "apel-sync"])
@pytest.mark.parametrize("name", odd_numbers.NAMES)
def test_other_records_have_numbers_where_they_should(target, name):
    for job in odd_numbers.jobs(name):
        data, _, _ = written(target, job)
        wrong = [
            (key, text)
            for key, text in typed(target, data)
            if key in TYPED and not re.fullmatch(TYPED[key], text)
        ]
        assert not wrong, dumps(job)


@pytest.mark.parametrize("inner, path, reason", [
    ("<SuspendDuration>-1</SuspendDuration>", "SuspendDuration", "below zero"),
    ("<CpuDuration>9999999999999999999</CpuDuration>", "CpuDuration", "too large a number"),
    ("<EndTime>253402300800</EndTime>", "EndTime", "too large a number"),
    ("<Delivered><Processors>-1</Processors></Delivered>", "Delivered/Processors",
     "no positive whole number"),
    ("<Delivered><Processors consumptionRate='fast'>1</Processors></Delivered>",
     "Delivered/Processors/@consumptionRate", "no place for it"),
    ("<Delivered><NodeCount consumptionRate='0.5'>1</NodeCount></Delivered>",
     "Delivered/NodeCount/@consumptionRate", "no place for it"),
])  # fmt: skip
def test_a_number_that_a_record_cannot_have_is_lost_aloud(inner, path, reason):
    _, losses, _ = written("ur", loads(f"<Job><Id>7</Id>{inner}</Job>"))
    assert (path, reason) in lost(losses)
    refused = inner.replace(">", " awarenessPolicy='Reject'>", 1)
    _, _, [outcome] = written("ur", loads(f"<Job><Id>7</Id>{refused}</Job>"))
    assert isinstance(outcome, Bad)


@given(st.lists(documents(roots=("Job",)), max_size=2))
def test_usage_records_of_any_jobs_are_always_valid(roots):
    data, _, _ = written("ur", *map(from_tree, roots))
    SCHEMA.assertValid(etree.fromstring(data))


@given(st.lists(documents(roots=("Job",)), max_size=2))
def test_other_targets_of_any_jobs_can_always_be_read(roots):
    jobs = list(map(from_tree, roots))
    etree.fromstring(written("car", *jobs)[0])
    assert len(written("jsonl", *jobs)[0].splitlines()) == len(jobs)
    assert written("apel", *jobs)[0].count(b"%%\n") <= len(jobs)


WORDS = st.text("abcXYZ019._-&<>\"' é", min_size=1, max_size=9).map(str.strip).filter(bool)
NUMBERS = st.integers(1, 2**31 - 1)


@st.composite
def jobs_that_ended(draw):
    start, wall = draw(NUMBERS), draw(st.integers(0, 10**6))
    own = {
        "Id": draw(st.text("abc019._-", min_size=1, max_size=9)), "State": "Completed",
        "SubmitTime": draw(NUMBERS), "StartTime": start, "EndTime": start + wall,
        "CpuDuration": draw(st.integers(0, 10**6)),
    }  # fmt: skip
    names = ("User", "GlobalUser", "Project", "Queue")
    given = {name: draw(WORDS) for name in names if draw(st.booleans())}
    given |= {"Duration": wall, "Processors": draw(NUMBERS), "NodeCount": draw(NUMBERS)}
    memory = Property("Memory", draw(NUMBERS), {"metric": "Max", "units": "KB"})
    items = (*(Property(name, value) for name, value in given.items()), memory)
    return Job((*(Property(name, value) for name, value in own.items()), Delivered(items)))


def facts(job):
    """What a format with an Id, times and amounts carries, in base units."""
    memory = job.delivered.get("Memory")
    return (
        {name: job.get(name) for name in ("Id", "StartTime", "EndTime", "CpuDuration")},
        {item.name: item.text.strip() for item in job.delivered if item.name != "Memory"},
        Fraction(memory.bytes) if memory else None,
    )


@pytest.mark.parametrize("target", ["ur", "car", "apel"])
@given(st.lists(jobs_that_ended(), min_size=1, max_size=4))
def test_what_is_written_is_read_back_with_the_same_values(target, jobs):
    found = read_back(target, written(target, *jobs)[0])
    assert len(found) == len(jobs)
    for before, after in zip(jobs, found, strict=True):
        own, given, memory = facts(before)
        had, got, same = facts(after)
        assert had == own
        assert {name: got.get(name) for name in given} == given
        assert same == memory


def test_every_job_that_a_real_Slurm_printed_becomes_a_valid_usage_record():
    with SACCT.open("rb") as stream:
        jobs = [
            item.job
            for item in read_records(find("slurm"), stream, Options(), OBJECTS)
            if isinstance(item, Converted)
        ]
    data, losses, _ = written("ur", *jobs)
    root = etree.fromstring(data)
    SCHEMA.assertValid(root)
    assert len(root) == len(jobs) == 51
    assert {loss.path for loss in losses if loss.path == "TaskGroup"}


def test_lines_of_JSON_are_the_job_objects_as_plain_data():
    [line] = written("jsonl", JOB)[0].decode().splitlines()
    assert json.loads(line)["items"][0] == {"element": "Id", "text": "7", "value": "7"}


def test_a_table_has_columns_and_the_whole_job(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
    data, losses, _ = written("parquet", JOB, loads("<Job><Id>8</Id></Job>"))
    table = parquet.read_table(io.BytesIO(data))
    assert not losses
    first, second = table.to_pylist()
    assert (first["id"], first["delivered_processors"], second["id"]) == ("7", 4.0, "8")
    assert loads(first["document"]) == JOB
    assert table.schema.field("delivered_processors").metadata[b"path"] == b"Delivered/Processors"


def test_a_table_has_what_was_used_over_time():
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
    inner = (
        "<Duration>60</Duration><NodeCount>2</NodeCount><Processors>8</Processors>"
        "<Resource name='GPU' type='t'>3</Resource><Resource name='Energy' units='J'>9</Resource>"
    )
    data, _, _ = written("parquet", loads(f"<Job><Id>8</Id><Delivered>{inner}</Delivered></Job>"))
    [row] = parquet.read_table(io.BytesIO(data)).to_pylist()
    names = ("processor_seconds", "node_seconds", "gpu_seconds", "energy_joules")
    assert [row[name] for name in names] == [480.0, 120.0, 180.0, 9.0]


def test_gpus_of_a_usage_record_keep_their_type():
    inner = "<Resource name='GPU' type='a100'>3</Resource><Resource name='GPU'>1</Resource>"
    job = loads(f"<Job><Id>8</Id><Delivered>{inner}</Delivered></Job>")
    [back] = records.converted("ur", written("ur", job)[0])
    assert back.delivered.all("Resource") == job.delivered.all("Resource")


# --- many jobs at once ---

IN_PARTS = ("ur", "car", "apel")
AT_ONCE = (*IN_PARTS, "jsonl", "parquet")
LOGS = sorted(
    path for path in records.RECORDS.glob("*/*") if path.suffix not in (".outcomes", ".md")
)  # fmt: skip


TOLD = writers.WriterOptions(SITE, 7)


def by_the_way(target, name, data, *, at_once, options=TOLD):
    """What a writer makes of records, what is lost, and what becomes of each."""
    out, losses = io.BytesIO(), writers.LossCounts()
    writer = TARGETS[target].writer(out, options, losses)
    builder = writer.builder() if at_once else OBJECTS
    found = [
        each._replace(job=None) if isinstance(each, Converted) else each
        for each in writer.through(read_records(find(name), io.BytesIO(data), Options(), builder))
    ]
    writer.close()
    return out.getvalue(), losses.kinds, found


def one_way(target, name, data, **more):
    """The same of both ways, which are one."""
    found = by_the_way(target, name, data, at_once=True, **more)
    assert found == by_the_way(target, name, data, at_once=False, **more)
    return found


@pytest.mark.parametrize("target", AT_ONCE)
@pytest.mark.parametrize("path", LOGS, ids=lambda path: str(path.relative_to(records.RECORDS)))
def test_many_jobs_at_once_are_written_as_one_by_one(path, target):
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    name, _, _ = recognised(io.BytesIO(data))
    bare = writers.WriterOptions(GridSite(), None)
    one_way(target, name.name, data)
    one_way(target, name.name, data, options=bare)


COLUMNS = {
    "JobID": ["7", "8_1", "9"],
    "JobName": ["a", " a b ", "a&b<c>", "", "x\u00a0", "'\"", "a\x85b"],
    "User": ["amy", "", " ", " amy", "None"],
    "Account": ["physics", "a & b", " "],
    "Cluster": ["c", 'a"b', "c d", "", "c "],
    "Partition": ["long", "long,short", " "],
    "State": ["COMPLETED", "FAILED", "CANCELLED by 7", "RUNNING", "TIMEOUT", "strange"],
    "ExitCode": ["0:0", "1:0", "0:9", "x"],
    "Submit": ["1690000000", "2026-01-01T00:00:00", "Unknown", ""],
    "Start": ["1690000000", "1690000007", "Unknown", "99999999999"],
    "End": ["1690000100", "1690000107", "Unknown", "999999999999"],
    "ElapsedRaw": ["100", "0", "007", "x", "99999999999999999999"],
    "TotalCPU": ["00:01:40", "01:40.500", "", "x"],
    "NCPUS": ["1", "4", "0", "x"],
    "NNodes": ["1", "2", ""],
    "NodeList": ["n1", "n[1-3]", "n1,n2", "None assigned", "", "a_b", "n[1-5000]"],
    "MaxRSS": ["10K", "1.5G", "0", "", "16?"],
    "AllocTRES": ["cpu=4,gres/gpu=2", "", "energy=5"],
    "Mine": ["", "text", " ", "a&b", '"', "a\\b", "\u2028"],
}


@given(
    st.lists(
        st.fixed_dictionaries({k: st.sampled_from(v) for k, v in COLUMNS.items()}), max_size=6
    ),
    st.lists(st.sampled_from([*COLUMNS]), unique=True, min_size=4),
    st.sampled_from(AT_ONCE),
    st.sampled_from([TOLD, writers.WriterOptions()]),
)
def test_so_they_are_with_odd_values(rows, columns, target, options):
    names = ["JobID", *(name for name in columns if name != "JobID")]
    lines = ["|".join(names), *("|".join(row[name] for name in names) for row in rows)]
    one_way(target, "slurm", "\n".join([*lines, ""]).encode(), options=options)


@pytest.mark.parametrize("target", IN_PARTS)
def test_what_repeats_is_asked_of_a_part_once(target, monkeypatch):
    made = []
    once = parts.TakenJob
    monkeypatch.setattr(parts, "TakenJob", lambda job: made.append(job) or once(job))
    row = "|amy|COMPLETED|1690000000|1690000100|100|00:01:40|4|c\n"
    head = "JobID|User|State|Start|End|ElapsedRaw|TotalCPU|NCPUS|Cluster\n"
    data = head + "".join(f"{number}{row}" for number in range(500))
    by_the_way(target, "slurm", data.encode(), at_once=True)
    assert len(made) < 100


def test_who_wants_to_see_each_loss_sees_it():
    seen = []
    writer = TARGETS["ur"].writer(
        io.BytesIO(), writers.WriterOptions(), writers.LossCounts(seen.append)
    )
    assert writer.builder() is None
    [*writer.through(iter([Converted(1, JOB)]))]
    assert [loss.path for loss in seen] == ["Priority", "Requested/Processors"]
