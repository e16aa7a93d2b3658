from fractions import Fraction

import pytest

from sssjob import document
from sssjob.features import keys
from sssjob.features.derive import derive, job_id

NOW = 1_700_000_000
HOUR = "<Duration>3600</Duration>"


def features(body, **options):
    job = document.loads(f"<Job><Id>PBS.1</Id>{body}</Job>")
    return derive(job, **{"now": NOW, **options})


def codes(found):
    return sorted(finding.code for finding in found.findings)


def requested(*properties):
    return f"<Requested>{''.join(properties)}</Requested>"


RANGE = requested('<Processors op="GE">8</Processors>', '<Processors op="LE">16</Processors>', HOUR)
SLAVE = """<TaskGroup><Name>Slave</Name><NodeCount>4</NodeCount><Requested>
  <Processors group="{open}">12</Processors><Processors conj="Or" group="{close}">16</Processors>
  <Memory>512</Memory><Node aggregation="Pattern">fr15n.*</Node></Requested>{more}</TaskGroup>"""
MASTER = "<TaskGroup><Name>Master</Name><TaskCount>1</TaskCount><Memory>2048</Memory></TaskGroup>"


def limit(name, value, **attributes):
    spelled = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<ResourceLimit name="{name}"{spelled}>{value}</ResourceLimit>'


def extension(name, value, kind="JobFeatures"):
    return f'<Extension type="{kind}" name="{name}">{value}</Extension>'


MB, GB = 2**20, 2**30

CASES = [
    # jobstart_secs
    pytest.param("<StartTime>1051557713</StartTime>", {}, "jobstart_secs", 1051557713, id="start"),
    pytest.param("", {}, "jobstart_secs", None, id="not started"),
    pytest.param("", {"starting": True}, "jobstart_secs", NOW, id="prepare hook: now"),
    # allocated_cpu, in the order of its sources
    pytest.param(
        "<Processors context='Dedicated'>4</Processors>" + RANGE
        + "<Delivered><Processors>12</Processors></Delivered>",
        {}, "allocated_cpu", 12, id="delivered processors",
    ),
    pytest.param(
        "<Delivered><Processors context='Configured'>64</Processors>"
        "<Processors context='Used'>3</Processors><Processors metric='Max'>5</Processors>"
        "</Delivered><Processors>8</Processors>",
        {}, "allocated_cpu", 8, id="delivered in another context",
    ),
    pytest.param(
        "<Delivered><Processors group='1'>8</Processors><Processors group='-1'>4</Processors>"
        "</Delivered>",
        {}, "allocated_cpu", 12, id="delivered in groups",
    ),
    pytest.param(
        "<Processors context='Dedicated'>4</Processors>" + requested("<Processors>8</Processors>"),
        {}, "allocated_cpu", 4, id="dedicated processors",
    ),
    pytest.param(RANGE, {}, "allocated_cpu", 8, id="8 to 16 before the start"),
    pytest.param(RANGE + "<State>Running</State>", {}, "allocated_cpu", 16, id="8 to 16 after it"),
    pytest.param(
        RANGE + f"<StartTime>{NOW - 5}</StartTime>", {}, "allocated_cpu", 16, id="8 to 16, started",
    ),
    pytest.param(
        requested("<Processors op='GT'>8</Processors>"), {}, "allocated_cpu", 9, id="more than 8",
    ),
    pytest.param(
        requested("<Processors op='LT'>8</Processors>"), {}, "allocated_cpu", 7, id="less than 8",
    ),
    pytest.param("<Processors>16</Processors>", {}, "allocated_cpu", 16, id="bare processors"),
    pytest.param(
        "<NodeCount>3</NodeCount><Processors>4</Processors>", {}, "allocated_cpu", 4,
        id="processors are a total beside nodes",
    ),
    pytest.param(
        "<NodeCount>3</NodeCount><TaskDistribution type='TasksPerNode'>2</TaskDistribution>",
        {}, "allocated_cpu", 6, id="nodes times tasks per node",
    ),
    pytest.param("<NodeCount>3</NodeCount>", {}, "allocated_cpu", 3, id="nodes alone"),
    pytest.param("<TaskCount>5</TaskCount>", {}, "allocated_cpu", 5, id="task count"),
    pytest.param(
        "<TaskCount>5</TaskCount>"
        "<TaskDistribution type='ProcessorsPerTask'>4</TaskDistribution>",
        {}, "allocated_cpu", 20, id="tasks times processors per task",
    ),
    pytest.param(
        "<TaskDistribution type='Geometry'>{1,4}{2}{3,5}</TaskDistribution>",
        {}, "allocated_cpu", 5, id="geometry",
    ),
    pytest.param(
        "<TaskGroup><Task><Node>a</Node></Task><Task><Node>b</Node></Task></TaskGroup>",
        {}, "allocated_cpu", 2, id="tasks are counted",
    ),
    pytest.param(
        MASTER + SLAVE.format(open=1, close=-1, more=""), {}, "allocated_cpu", 13,
        id="task groups: 1 and 12 or 16",
    ),
    pytest.param(
        SLAVE.format(open=1, close=-1, more="<Delivered><Processors>16</Processors></Delivered>"),
        {}, "allocated_cpu", 16, id="12 or 16, delivered 16",
    ),
    pytest.param(
        SLAVE.format(open=-1, close=1, more=""), {}, "allocated_cpu", None,
        id="groups that do not balance give nothing",
    ),
    pytest.param(
        SLAVE.format(open=-1, close=1, more=""), {"repair": True}, "allocated_cpu", 12,
        id="groups turned round on request",
    ),
    pytest.param("", {}, "allocated_cpu", 1, id="assumed"),
    # wall_limit_secs
    pytest.param(requested(HOUR), {}, "wall_limit_secs", 3600, id="requested duration"),
    pytest.param(
        requested("<Duration op='LT'>3600</Duration>"), {}, "wall_limit_secs", 3599, id="less than",
    ),
    pytest.param(limit("WallTime", 60), {}, "wall_limit_secs", 60, id="wall clock limit"),
    pytest.param(HOUR, {}, "wall_limit_secs", 3600, id="bare duration"),
    pytest.param(
        HOUR + "<EndTime>5</EndTime>", {}, "wall_limit_secs", None, id="bare duration of the past",
    ),
    pytest.param(
        HOUR + "<State>Completed</State>", {}, "wall_limit_secs", None, id="completed",
    ),
    pytest.param(
        HOUR + "<Delivered><Duration>7</Duration></Delivered>", {}, "wall_limit_secs", None,
        id="delivered duration",
    ),
    # cpu_limit_secs
    pytest.param(
        limit("CPUTime", 1, type="Soft") + limit("cpu", 2) + limit("RLIMIT_CPU", 3, type="Hard"),
        {}, "cpu_limit_secs", 3, id="hard before untyped before soft",
    ),
    pytest.param(
        limit("CPUTime", 1, type="Soft") + limit("CPUTime", 2), {}, "cpu_limit_secs", 2,
        id="untyped before soft",
    ),
    pytest.param(RANGE, {}, "cpu_limit_secs", 8 * 3600, id="elapsed time times processors"),
    pytest.param(RANGE, {"cpu_limit": False}, "cpu_limit_secs", None, id="switched off"),
    # max_rss_bytes
    pytest.param(limit("max-rss", 4096), {}, "max_rss_bytes", 4096, id="rss limit in bytes"),
    pytest.param(limit("RSS", 2, units="GB"), {}, "max_rss_bytes", 2 * GB, id="rss limit in GB"),
    pytest.param(limit("MaxMemory", 10), {}, "max_rss_bytes", 10, id="memory limit"),
    pytest.param(
        limit("Memory", 10) + limit("RSS", 10), {}, "max_rss_bytes", 10, id="rss before memory",
    ),
    pytest.param(limit("RSS", "unlimited"), {}, "max_rss_bytes", None, id="unlimited"),
    pytest.param(
        requested("<Memory op='GE' units='GB'>2</Memory>"), {}, "max_rss_bytes", 2 * GB,
        id="at least 2 GB is a limit of 2 GB",
    ),
    pytest.param(
        requested("<Memory preference='2'>1024</Memory>", "<Memory preference='1'>512</Memory>"),
        {}, "max_rss_bytes", GB, id="the preferred alternative",
    ),
    pytest.param(
        requested("<Memory preference='2'>1024</Memory>", "<Memory preference='1'>512</Memory>")
        + "<Delivered><Memory>512</Memory></Delivered>",
        {}, "max_rss_bytes", 512 * MB, id="the delivered alternative",
    ),
    pytest.param(
        requested("<Memory>512</Memory>", "<Memory preference='-1'>1024</Memory>"),
        {}, "max_rss_bytes", 512 * MB, id="a wish binds nothing",
    ),
    pytest.param(
        requested("<Memory op='LT' units='B'>1000</Memory>"), {}, "max_rss_bytes", 999,
        id="less than 1000 bytes",
    ),
    pytest.param("<Memory>1.5</Memory>", {}, "max_rss_bytes", 3 * MB // 2, id="bare memory in MB"),
    pytest.param(
        "<Memory context='Dedicated' units='KB'>1</Memory>", {}, "max_rss_bytes", 1024,
        id="dedicated memory",
    ),
    *(
        pytest.param(f"<Memory context='{name}'>1</Memory>", {}, "max_rss_bytes", None, id=name)
        for name in ("Used", "Configured", "Available")
    ),
    pytest.param("<Memory metric='Max'>9</Memory>", {}, "max_rss_bytes", None, id="a measurement"),
    pytest.param(
        requested("<Memory context='Configured' op='GE' units='GB'>64</Memory>"),
        {}, "max_rss_bytes", None, id="a request for big nodes",
    ),
    pytest.param(
        MASTER + SLAVE.format(open=1, close=-1, more=""), {}, "max_rss_bytes",
        (2048 + 12 * 512) * MB, id="memory in a group is of each task",
    ),
    pytest.param(
        "<TaskGroup><Processors>12</Processors><Memory>1</Memory></TaskGroup>", {},
        "max_rss_bytes", 12 * MB, id="memory in a group whose tasks its processors count",
    ),
    # max_swap_bytes
    pytest.param(limit("Swap", 7), {}, "max_swap_bytes", 7, id="swap limit"),
    pytest.param(requested("<Swap>1</Swap>"), {}, "max_swap_bytes", MB, id="requested swap"),
    pytest.param(
        limit("vmem", 100) + limit("rss", 60), {}, "max_swap_bytes", 40, id="virtual less resident",
    ),
    pytest.param(limit("vmem", 100), {}, "max_swap_bytes", None, id="virtual memory alone"),
    # scratch_limit_bytes
    pytest.param(limit("MaxDisk", 7), {}, "scratch_limit_bytes", 7, id="disk limit"),
    pytest.param(requested("<Disk>1</Disk>"), {}, "scratch_limit_bytes", MB, id="requested disk"),
    pytest.param("<Disk units='TB'>1</Disk>", {}, "scratch_limit_bytes", 2**40, id="bare disk"),
    # shutdowntime_job
    pytest.param(
        f"<DeadlineTime>{NOW + 9}</DeadlineTime>", {}, "shutdowntime_job", NOW + 9, id="deadline",
    ),
    pytest.param(
        f"<DeadlineTime>{NOW + 9}</DeadlineTime>", {"reservation_end": NOW + 5},
        "shutdowntime_job", NOW + 5, id="the reservation ends earlier",
    ),
    pytest.param(
        f"<DeadlineTime>{NOW}</DeadlineTime>", {}, "shutdowntime_job", None, id="a past deadline",
    ),
    # the rest
    pytest.param(extension("grace_secs_job", 0), {}, "grace_secs_job", 0, id="grace"),
    pytest.param("", {}, "grace_secs_job", None, id="grace is never guessed"),
    pytest.param(extension("hs06_job", "11.25"), {}, "hs06_job", Fraction("11.25"), id="rating"),
    pytest.param(
        "<Delivered><Resource name='HS06'>80.5</Resource></Delivered>", {}, "hs06_job",
        Fraction("80.5"), id="delivered rating",
    ),
    pytest.param(
        "<Processors>3</Processors><Delivered>"
        "<Resource name='HS06' context='Configured'>100</Resource>"
        "<Processors context='Configured'>16</Processors></Delivered>",
        {}, "hs06_job", Fraction("18.75"), id="share of the machine's rating",
    ),
    pytest.param(
        "<Processors>1</Processors>" + extension("hs06", 10, "MachineFeatures"),
        {"machine": {"total_cpu": 3}}, "hs06_job", Fraction("3.33"), id="to two decimals",
    ),
    pytest.param("", {}, "job_id", "PBS.1", id="id"),
    pytest.param(extension("volume", "eleven"), {}, "volume", "eleven", id="unknown key"),
    pytest.param(
        extension("cpufactor_lrms", "1.5"), {}, "cpufactor_lrms", Fraction(3, 2),
        id="2014",
    ),
    pytest.param(
        RANGE + extension("wall_limit_secs", 60), {}, "wall_limit_secs", 60, id="extension wins",
    ),
    pytest.param(
        RANGE + extension("wall_limit_secs", 60), {}, "cpu_limit_secs", 480,
        id="and what follows from it too",
    ),
]  # fmt: skip


@pytest.mark.parametrize("body, options, key, value", CASES)
def test_a_key_comes_from_its_first_source(body, options, key, value):
    assert features(body, **options).values.get(key) == value


@pytest.mark.parametrize("name", keys.names(keys.JOB_FEATURES))
def test_every_key_of_2016_has_cases_above(name):
    assert name in {case.values[2] for case in CASES}


@pytest.mark.parametrize(
    "body, key, basis",
    [
        pytest.param(RANGE, "allocated_cpu", "minimum", id="8 to 16"),
        pytest.param(RANGE, "wall_limit_secs", "exact", id="one number"),
        pytest.param(requested("<Memory op='GE'>1</Memory>"), "max_rss_bytes", "minimum", id="GE"),
        pytest.param(requested("<Memory op='LE'>1</Memory>"), "max_rss_bytes", "maximum", id="LE"),
        pytest.param(RANGE, "cpu_limit_secs", "derived", id="computed"),
        pytest.param("", "allocated_cpu", "assumed", id="nothing said"),
    ],
)
def test_the_basis_says_what_kind_of_number_it_is(body, key, basis):
    assert features(body).derived[key].basis == basis


@pytest.mark.parametrize(
    "body, key, source",
    [
        pytest.param(RANGE, "wall_limit_secs", "/Job/Requested/Duration", id="requested"),
        pytest.param(
            limit("cpu", 1), "cpu_limit_secs", "/Job/ResourceLimit[@name='cpu']", id="limit"
        ),
        pytest.param(MASTER, "max_rss_bytes", "/Job/TaskGroup[Name='Master']/Memory", id="group"),
    ],
)
def test_the_source_is_the_path_of_the_element(body, key, source):
    assert features(body).derived[key].source == source


@pytest.mark.parametrize(
    "body, key, code",
    [
        pytest.param("<Memory>0</Memory>", "max_rss_bytes", "E-TYPE", id="zero"),
        pytest.param("<Memory>-1</Memory>", "max_rss_bytes", "E-TYPE", id="negative"),
        pytest.param("<Memory>NaN</Memory>", "max_rss_bytes", "E-TYPE", id="NaN"),
        pytest.param("<Memory units='DB'>1</Memory>", "max_rss_bytes", "E-TYPE", id="beyond 2^63"),
        pytest.param("<Processors>soon</Processors>", None, "E-TYPE", id="no number"),
        pytest.param(extension("hs06_job", "fast"), "hs06_job", "E-TYPE", id="extension"),
        pytest.param(extension("a/b", "1"), "a/b", "E-TYPE", id="no name for a file"),
        pytest.param(
            requested("<Processors>1</Processors>", "<Processors>2</Processors>"),
            "allocated_cpu", "E-OP", id="1 and 2",
        ),
        pytest.param(
            requested("<Memory op='NE'>1</Memory>"), "max_rss_bytes", "W-USELESS", id="only NE",
        ),
        pytest.param(
            requested("<Processors group='2'>1</Processors>"), "allocated_cpu", "E-GROUP",
            id="not balanced",
        ),
    ],
)  # fmt: skip
def test_an_impossible_value_is_an_error_and_no_file(body, key, code):
    found = features(body)
    assert code in codes(found)
    assert key not in found.values


TWO_HOURS = HOUR + "<Processors>2</Processors>"  # of CPU time


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(requested(HOUR) + limit("walltime", 7200), id="limit and request"),
        pytest.param("<Memory>1</Memory>" + MASTER, id="job and its groups"),
        pytest.param(
            SLAVE.format(open=1, close=-1, more="") + "<Processors>16</Processors>", id="12 or 16",
        ),
        pytest.param(
            RANGE + "<Delivered><Processors>32</Processors></Delivered>", id="more than requested",
        ),
        pytest.param(requested(HOUR) + extension("wall_limit_secs", 60), id="extension"),
        pytest.param(requested(TWO_HOURS) + extension("cpu_limit_secs", 7201),
                     id="more CPU time than there is"),
    ],
)  # fmt: skip
def test_sources_that_differ_are_reported(body):
    assert "W-DISAGREE" in codes(features(body))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(RANGE + "<Delivered><Processors>12</Processors></Delivered>", id="in range"),
        pytest.param(
            limit("rss", GB) + requested("<Memory units='GB'>1</Memory>"),
            id="same amount",
        ),
        pytest.param(requested(TWO_HOURS) + extension("cpu_limit_secs", 60),
                     id="less CPU time than there is"),
    ],
)  # fmt: skip
def test_sources_that_agree_are_not(body):
    assert "W-DISAGREE" not in codes(features(body))


def test_an_extension_that_says_the_same_is_useless():
    assert codes(features(requested(HOUR) + extension("wall_limit_secs", 3600)))[-1] == "W-USELESS"


def test_a_start_in_the_future_is_written_and_reported():
    found = features(f"<StartTime>{NOW + 100}</StartTime>")
    assert found.values["jobstart_secs"] == NOW + 100
    assert "W-RANGE" in codes(found)


def test_a_job_without_id_is_an_error():
    found = derive(document.loads("<Job><Processors>1</Processors></Job>"))
    assert "job_id" not in found.values
    assert codes(found) == ["E-MISSING"]


@pytest.mark.parametrize(
    "text, encoded",
    [
        ("PBS.1234.0", "PBS.1234.0"), (" a ", "a"), ("a b", "a%20b"), ("ä", "%C3%A4"),
        ("1[2].srv", "1[2].srv"), ("a\x7fb", "a%7Fb"), ("x~!", "x~!"),
    ],
)  # fmt: skip
def test_a_job_id_is_printable_ascii(text, encoded):
    assert job_id(text) == encoded


TASKS = """<Processors>8</Processors><Memory units="B">800</Memory><TaskGroup>
  <Task><Node>a</Node></Task><Task><Node>a</Node></Task><Task><Node>b</Node></Task>
  <Task><Node>c</Node></Task></TaskGroup>"""


@pytest.mark.parametrize(
    "body, nodes, processors, memory",
    [
        pytest.param(TASKS, (), 8, 800, id="whole job"),
        pytest.param(TASKS, ("a",), 4, 400, id="two of four tasks"),
        pytest.param(TASKS, ("b",), 2, 200, id="one of four tasks"),
        pytest.param(TASKS, ("a", "b"), 6, 600, id="two nodes"),
        pytest.param(
            "<NodeCount>3</NodeCount><Processors>8</Processors><Memory units='B'>800</Memory>",
            ("x",), 3, 266, id="spread over three nodes",
        ),
        pytest.param("<Processors>8</Processors>", ("x",), 8, None, id="one node"),
        pytest.param(
            "<TaskGroup><Memory units='B'>100</Memory><Task><Node>a</Node></Task>"
            "<Task><Node>b</Node></Task></TaskGroup>",
            ("a",), 1, 100, id="memory of a task",
        ),
    ],
)  # fmt: skip
def test_a_node_has_its_tasks_share(body, nodes, processors, memory):
    values = features(body, nodes=nodes).values
    assert values["allocated_cpu"] == processors
    assert values.get("max_rss_bytes") == memory


def test_a_node_without_tasks_gets_nothing():
    found = features(TASKS, nodes=("nowhere",))
    assert "allocated_cpu" not in found.values
    assert "E-TYPE" in codes(found)


def test_absent_keys_say_why():
    found = features(f"<DeadlineTime>{NOW - 1}</DeadlineTime>")
    assert "has passed" in found.absent["shutdowntime_job"]
    assert found.absent.keys() | found.derived.keys() == set(keys.names(keys.JOB_FEATURES))


@pytest.mark.parametrize(
    ("body", "end", "told"),
    [
        (f"<DeadlineTime>{NOW - 1}</DeadlineTime>", None, "when /Job/DeadlineTime"),
        (extension("shutdowntime_job", NOW), NOW, f"{NOW} is not after jobstart_secs {NOW}"),
        (extension("shutdowntime_job", NOW + 1), NOW + 1, ""),
        (f"<DeadlineTime>{NOW + 1}</DeadlineTime>", NOW + 1, ""),
        # A job that started before has run into it.
        (f"<StartTime>{NOW - 9}</StartTime><DeadlineTime>{NOW - 1}</DeadlineTime>", None, ""),
    ],
)
def test_an_end_that_is_before_the_start_is_told(body, end, told):
    found = features(body, starting=True)
    assert found.values.get("shutdowntime_job") == end
    said = [each.message for each in found.findings if each.code == "W-RANGE"]
    assert [told in each for each in said] == [True] * bool(told)


def test_a_deadline_that_has_passed_hides_no_end_of_a_reservation():
    body = f"<DeadlineTime>{NOW - 1}</DeadlineTime>"
    assert features(body, reservation_end=NOW + 5).values["shutdowntime_job"] == NOW + 5


@pytest.mark.parametrize(
    ("body", "machine", "why"),
    [
        ("<Processors>2</Processors>", {"total_cpu": 8}, "the machine has no rating"),
        ("<Processors>2</Processors>", {"hs06": 80}, "total_cpu of the machine is not known"),
        ("", {"hs06": 80, "total_cpu": 8}, "allocated_cpu is not known"),
        (
            "<Processors>4</Processors>",
            {"hs06": 80, "total_cpu": 3},
            "allocated_cpu is 4, but total_cpu of the machine 3: one of them is wrong",
        ),
    ],
)
def test_a_job_without_its_share_of_the_rating_says_why(body, machine, why):
    assert features(body, machine=machine, guessing=False).absent["hs06_job"] == f"hs06: {why}"


def test_a_node_has_its_share_of_the_virtual_memory_as_of_the_resident_one():
    body = requested("<NodeCount>2</NodeCount>") + limit("vmem", 100) + limit("rss", 60)
    values = features(body, nodes=("n1",)).values
    assert (values["max_rss_bytes"], values["max_swap_bytes"]) == (30, 20)


def test_what_is_assumed_is_reported_as_it_is_written():
    found = features(requested("<NodeCount>3</NodeCount><Processors>4</Processors>"), nodes=("n",))
    assert found.values["allocated_cpu"] == 2
    assert "allocated_cpu is assumed to be 2: spread evenly over 3 nodes" in str(found.findings)


def test_what_a_node_has_of_a_job_that_says_no_nodes_is_known_only_by_guessing():
    job = document.loads("<Job><Id>1</Id><Requested><Processors>8</Processors></Requested></Job>")
    guessed = derive(job, nodes=("n1",)).values
    certain = derive(job, nodes=("n1",), guessing=False)
    assert (guessed["allocated_cpu"], "allocated_cpu" in certain.values) == (8, False)
    assert "allocated_cpu" in certain.absent


OF_GROUP = {
    "a deadline": ("<DeadlineTime>{}</DeadlineTime>", "shutdowntime_job"),
    "an extension": (extension("grace_secs_job", "{}"), "grace_secs_job"),
    "a limit": (extension("wall_limit_secs", "{}"), "wall_limit_secs"),
    "a key of its own": (extension("mine", "{}"), "mine"),
}


@pytest.mark.parametrize("text, key", OF_GROUP.values(), ids=OF_GROUP)
def test_what_the_only_task_group_says_counts_before_what_its_job_says(text, key):
    group = f"<TaskGroup>{text.format(1_900_000_060)}</TaskGroup>"
    alone = features(group)
    assert alone.derived[key].text == "1900000060"
    both = features(text.format(1_900_000_000) + group)
    assert both.derived[key].text == "1900000060"
    told = [each.message for each in both.findings if "counts for nothing" in each.message]
    assert len(told) == 1
    assert not [each for each in alone.findings if "counts for nothing" in each.message]
    two = features(group + "<TaskGroup><TaskCount>1</TaskCount></TaskGroup>")
    assert key not in two.derived


TASKS5, NODES2 = "<TaskCount>5</TaskCount>", "<NodeCount>2</NodeCount>"
ONE_EACH = '<TaskDistribution type="TasksPerNode">1</TaskDistribution>'
NOT_TOGETHER = {
    "tasks that their nodes have no room for": (TASKS5 + NODES2 + ONE_EACH, 5, "NodeCount"),
    "the same of the only task group":
        (f"<TaskGroup>{TASKS5}{NODES2}{ONE_EACH}</TaskGroup>", 5, "NodeCount"),
    "the same, of both together":
        (f"{NODES2}<TaskGroup>{TASKS5}{ONE_EACH}</TaskGroup>", 5, "NodeCount"),
    "the same of one of several": (
        f"<TaskGroup>{TASKS5}{NODES2}{ONE_EACH}</TaskGroup><TaskGroup>{TASKS5}</TaskGroup>",
        10, "NodeCount",
    ),
    "a mapping that is none":
        ('<TaskDistribution type="TasksPerNode">0</TaskDistribution>', 1, "TaskDistribution"),
    "a mapping of the only task group that is none": (
        '<TaskGroup><TaskDistribution type="TasksPerNode">0</TaskDistribution></TaskGroup>',
        1, "TaskDistribution",
    ),
}  # fmt: skip


# decision 1170
@pytest.mark.parametrize("text, number, name", NOT_TOGETHER.values(), ids=NOT_TOGETHER)
def test_counts_that_contradict_each_other_are_told_beside_the_number(text, number, name):
    found = features(text)
    assert found.values["allocated_cpu"] == number
    [told] = [each for each in found.findings if each.code == "W-COUNTS"]
    assert told.path.endswith(f"/{name}")


@pytest.mark.parametrize("text, number, name", NOT_TOGETHER.values(), ids=NOT_TOGETHER)
def test_of_a_job_that_was_delivered_they_are_not_told(text, number, name):
    found = features(text + "<Delivered><Processors>4</Processors></Delivered>")
    assert not [each for each in found.findings if each.code == "W-COUNTS"], (number, name)


# What a job asks for of Processors, and its only task group.
OVERRULED = {
    "a choice": ('<Processors>2</Processors><Processors conj="Or">3</Processors>', "W-COUNTS"),
    "a choice with nodes": (
        '<Processors group="1">2</Processors><NodeCount group="-1">2</NodeCount>'
        '<Processors conj="Or">3</Processors>', "W-COUNTS",
    ),
    "a number": ("<Processors>2</Processors>", "W-DISAGREE"),
    "a choice with that of the group":
        ('<Processors>2</Processors><Processors conj="Or">5</Processors>', ""),
    "a choice without processors":
        ('<Processors>2</Processors><NodeCount conj="Or">3</NodeCount>', ""),
}  # fmt: skip


# decision 1183
@pytest.mark.parametrize(("asked", "code"), OVERRULED.values(), ids=OVERRULED)
def test_processors_that_the_only_group_overrules_are_told_where_they_are_a_choice_too(asked, code):
    group = f"<TaskGroup>{requested('<Processors>5</Processors>')}</TaskGroup>"
    found = features(requested(asked) + group)
    assert found.values["allocated_cpu"] == 5
    assert codes(found) == [code] * bool(code)
