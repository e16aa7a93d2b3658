"""Memory and Disk of a task group are of each of its tasks on every road, and so read back."""

import json
import re

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from test_named_nodes import READERS, SPREADS, most, options
from translated import requested, wrapped

from sssjob import dumps, layout, loads
from sssjob.classads import writing
from sssjob.features.derive import derive
from sssjob.systems.condor.task_groups import gathered, to_ads, together
from sssjob.translate import Done, Settings, Untranslatable, translate

MIB = 1 << 20
SIZES = {"k": 1 << 10, "m": MIB, "g": 1 << 30}
GROUPS = {
    "one task": ("", ""),
    "4 tasks": ("<TaskCount>4</TaskCount>", ""),
    "2 nodes": ("", "<NodeCount>2</NodeCount>"),
    "4 tasks on 2 nodes": ("<TaskCount>4</TaskCount>", "<NodeCount>2</NodeCount>"),
    "2 on each of 2 nodes": (SPREADS["on each"], "<NodeCount>2</NodeCount>"),
    "geometry": (SPREADS["geometry"], ""),
    "processors of each": ("<TaskCount>4</TaskCount>" + SPREADS["of each"], ""),
    "named": ("", '<Node aggregation="Range">n[1-2]</Node>'),
    "two of a range": ("", '<Node aggregation="Range" count="2">n[1-9]</Node>'),
    "from 2 nodes": ("", '<NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount>'),
}
MEMORY = '<Memory units="MB">720</Memory><Disk units="MB">360</Disk>'


def job_of(*groups, of_job="", own=""):
    inner = "".join(
        f"<TaskGroup><Name>g{at}</Name>{counts}{requested(asked + MEMORY)}</TaskGroup>"
        for at, (counts, asked) in enumerate(groups)
    )
    return loads(wrapped(own + (requested(of_job) if of_job else "") + inner))


def tasks_of(job):
    """The tasks of each group, by its layout."""
    return [
        int(layout.layouts(unit.block, unit.path).layouts[0].tasks.value)
        for unit in layout.units(job)
    ]


def in_bytes(text):
    number, unit = re.fullmatch(r"(\d+)([kmgKMG]?)[bB]?", text).groups()
    return int(number) * SIZES.get(unit.lower(), 1)


def of_sbatch(text):
    said, counts = options(text), READERS["sbatch"](text)
    if "--mem" in said:
        return in_bytes(said["--mem"]) * most(counts.nodes)
    return in_bytes(said["--mem-per-cpu"]) * counts.processors


def of_slurmrest(text):
    job, counts = json.loads(text)["job"], READERS["slurmrest"](text)
    if "memory_per_node" in job:
        return job["memory_per_node"]["number"] * MIB * most(counts.nodes)
    return job["memory_per_cpu"]["number"] * MIB * counts.processors


def of_pbs(text):
    total = 0
    for part in options(text)["-l select"].split("+"):
        number, *rest = part.split(":")
        total += int(number) * in_bytes(dict(each.split("=") for each in rest)["mem"])
    return total


def of_torque(text):
    return in_bytes(re.search(r"\bmem=(\w+)", text)[1])


def of_lsf(text):
    number, whose = re.search(r"mem=(\d+)MB(?:/(\w+))?", text).groups()
    counts = READERS["lsf"](text)
    return int(number) * MIB * (counts.tasks if whose == "task" else counts.nodes or 1)


def of_sge(text):
    return in_bytes(re.search(r"h_vmem=(\w+)", text)[1]) * (READERS["sge"](text).processors or 1)


def of_condor(text):
    said = int(re.search(r"^request_memory = (\d+)$", text, re.M)[1]) * MIB
    return said * READERS["condor"](text).nodes


def of_psij(text):
    return int(re.search(r'"memory": (\d+)', text)[1])


def of_jsdl(text):
    found = re.search(r"<jsdl:TotalPhysicalMemory>\s*<jsdl:\w+[^>]*>([\d.]+)<", text)
    return int(float(found[1]))


TARGETS = {
    "sbatch": of_sbatch, "slurmrest": of_slurmrest, "pbs": of_pbs, "torque": of_torque,
    "lsf": of_lsf, "sge": of_sge, "condor": of_condor, "psij": of_psij, "jsdl": of_jsdl,
}  # fmt: skip


def of_target(target):
    """The memory that a target is asked for, None where it is told that it is another one."""

    def road(job):
        text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
        found = TARGETS[target](text)
        told = [
            loss.reason for loss in losses
            if loss.done is not Done.CONVERTED and loss.path.endswith(("Memory", "NodeCount"))
            and not loss.reason.endswith("task groups are added up")
            and "parallel universe" not in loss.reason
        ]  # fmt: skip
        return None if told else found

    return road


def of_features(job):
    return int(derive(job, starting=True).values["max_rss_bytes"])


def of_ads(job, name="Memory", unit=MIB):
    """What the ads of a job ask for in all."""
    ads = [made.ad for made in to_ads(job)]
    each = [
        ad.get(f"TotalRequest{name}", ad.get(f"SSSTotal{name}"))
        or ad[f"Request{name}"] * ad.get("MinHosts", 1)
        for ad in ads
    ]
    return sum(each) * unit


ROADS = {name: of_target(name) for name in TARGETS} | {"features": of_features, "ads": of_ads}


@pytest.mark.parametrize(
    "others", [(), ("4 tasks",), ("2 nodes",), ("4 tasks on 2 nodes", "named")]
)
@pytest.mark.parametrize("group", GROUPS)
def test_memory_of_a_task_group_is_of_each_of_its_tasks_on_every_road(group, others):
    job = job_of(GROUPS[group], *(GROUPS[each] for each in others))
    wanted = sum(tasks_of(job)) * 720 * MIB
    found = {name: road(job) for name, road in ROADS.items()}
    assert {name: value for name, value in found.items() if value not in (None, wanted)} == {}
    assert of_features(job) == of_ads(job) == wanted
    disk = int(derive(job, starting=True).values["scratch_limit_bytes"])
    assert disk == of_ads(job, "Disk", 1 << 10) == wanted // 2


@pytest.mark.parametrize("of_job", ["<Processors>8</Processors>", "<NodeCount>2</NodeCount>"])
def test_the_only_group_of_a_job_that_asks_for_processors_has_memory_of_each_task(of_job):
    job = job_of(GROUPS["4 tasks"], of_job=of_job)
    assert of_features(job) == of_ads(job) == of_target("condor")(job) == 4 * 720 * MIB


@pytest.mark.parametrize("group", GROUPS)
def test_ads_of_task_groups_are_read_as_what_their_tasks_ask_for(group):
    job = job_of(GROUPS[group], GROUPS["4 tasks on 2 nodes"])
    ads = [("f", made.ad) for made in to_ads(job)]
    [[_, every]] = gathered(ads)
    again = together(every).job
    assert of_features(again) == of_features(job)
    assert of_ads(again) == of_ads(job)
    if "TaskDistribution" not in dumps(job):  # for which an ad has no place
        asked = [each.requested.get("Memory").bytes for each in again.task_groups]
        assert asked == [720 * MIB] * len(asked)


def test_memory_that_a_machine_is_built_with_is_not_of_each_task():
    built = '<Memory context="Configured" op="GE" units="MB">100</Memory>'
    job = job_of(("<TaskCount>4</TaskCount>", built))
    [made] = to_ads(job)
    assert writing.expression(made.ad["Requirements"]) == (
        "TARGET.TotalMemory >= 100 && TARGET.Memory >= 2880 && TARGET.Disk >= 1474560"
    )


OWN = st.sampled_from(("", "<TaskCount>2</TaskCount>", "<TaskCount>6</TaskCount>"))
SPREAD = st.sampled_from([*SPREADS.values()])
SAID = ("RequestCpus", "RequestMemory", "MinHosts", "MaxHosts", "SSSTaskCount", "SSSTotalCpus")


# decision 931
@examples(80)
@given(
    count=st.sampled_from(("", "<TaskCount>8</TaskCount>")), spread=SPREAD,
    groups=st.lists(
        st.tuples(OWN, SPREAD, st.sampled_from(("<NodeCount>2</NodeCount>", "<Node>n1</Node>"))),
        min_size=2, max_size=3,
    ),
)  # fmt: skip
def test_the_ad_of_each_of_several_groups_says_its_counts_and_none_of_its_job(
    count, spread, groups
):
    pairs = [(tasks + own, asked) for tasks, own, asked in groups]
    job = job_of(*pairs, own=count + spread)
    made = to_ads(job)
    bare = to_ads(job_of(*pairs))
    found = [[each.ad.get(name) for name in SAID] for each in made]
    assert found == [[each.ad.get(name) for name in SAID] for each in bare]
    told = [
        each.path for mapped in made for each in mapped.findings if "count their" in each.message
    ]
    wanted = ["/Job/TaskCount"] * bool(count) + ["/Job/TaskDistribution"] * bool(spread)
    assert told == wanted
    assert sum(ad.ad["RequestCpus"] * ad.ad.get("MinHosts", 1) for ad in made) >= int(
        derive(job, starting=True).values["allocated_cpu"]
    )


# How targets say Disk and Swap of a whole job, on one node: where, and in what.
OF_JOB = {
    ("sbatch", "Disk"): (r"--tmp=(\d+)M", MIB), ("torque", "Disk"): (r"file=(\d+)mb", MIB),
    ("slurmrest", "Disk"): (r'"temporary_disk_per_node": (\d+)', MIB),
    ("lsf", "Disk"): (r"tmp=(\d+)MB", MIB), ("condor", "Disk"): (r"request_disk = (\d+)", 1 << 10),
    ("jsdl", "Disk"): (r"TotalDiskSpace>\s*<jsdl:Exact>(\d+)", 1),
    ("pbs", "Swap"): (r"vmem=(\d+)mb", MIB), ("torque", "Swap"): (r"vmem=(\d+)mb", MIB),
    ("sge", "Swap"): (r"swap_free=(\d+)M", MIB), ("lsf", "Swap"): (r"-v (\d+)KB", 1 << 10),
    ("jsdl", "Swap"): (r"TotalVirtualMemory>\s*<jsdl:Exact>(\d+)", 1),
}  # fmt: skip


# decision 983
@pytest.mark.parametrize("tasks", [[4], [4, 2]])
@pytest.mark.parametrize(("target", "name"), OF_JOB)
def test_disk_and_swap_of_task_groups_are_of_each_of_their_tasks_for_targets(target, name, tasks):
    asked = f'<{name} units="MB">100</{name}>'
    inner = "".join(
        f"<TaskGroup><TaskCount>{number}</TaskCount>{requested(asked)}</TaskGroup>"
        for number in tasks
    )
    pattern, unit = OF_JOB[target, name]

    def number_of(inner):
        text, losses = translate(
            loads(wrapped(inner)), target, Settings(residual=False, unstated="Warn")
        )
        told = [loss.reason for loss in losses if loss.path.endswith(name)]
        return int(re.search(pattern, text)[1]) * unit, told

    number, told = number_of(requested("<NodeCount>1</NodeCount>") + inner)
    assert number == sum(tasks) * 100 * MIB
    assert bool([each for each in told if "added up" in each]) is (len(tasks) > 1)
    beside = requested(f'<NodeCount>1</NodeCount><{name} units="MB">300</{name}>')
    number, told = number_of(beside + inner)
    assert number == 300 * MIB
    assert [each for each in told if "its job says what it asks for" in each]


LIMITS = {
    "sbatch": "ulimit -t {}\n", "pbs": "-l cput=00:00:{}\n", "torque": "-l cput=00:00:{}\n",
    "sge": "-l h_cpu={}\n", "jsdl": "CPUTimeLimit>{}<",
}  # fmt: skip


@pytest.mark.parametrize("target", LIMITS)
def test_a_limit_of_the_only_task_group_is_one_of_its_job(target):
    def limit(seconds):
        return f'<ResourceLimit name="CPUTime">{seconds}</ResourceLimit>'

    def written(inner):
        return translate(loads(wrapped(inner)), target, Settings(residual=False, unstated="Warn"))

    only = f"<TaskGroup>{limit(40)}</TaskGroup>"
    text, losses = written(only)
    assert LIMITS[target].format(40) in text
    assert not [loss for loss in losses if "ResourceLimit" in loss.path]
    text, losses = written(limit(50) + only)
    assert LIMITS[target].format(40) in text
    assert LIMITS[target].format(50) not in text
    assert [loss.path for loss in losses if "another" in loss.reason] == ["/Job/ResourceLimit"]
    for inner in (only, limit(50) + only):
        assert derive(loads(wrapped(inner)), starting=True).values["cpu_limit_secs"] == 40
        (made,) = to_ads(loads(wrapped(inner)))
        assert made.ad["SSSFeature_cpu_limit_secs"] == 40
    of_several = [loss.path for loss in written(only + only).losses if not loss.fact]
    assert "/Job/TaskGroup/ResourceLimit" in of_several


GPUS = {
    "sbatch": r"--gpus=(\d+)", "slurmrest": r"gres/gpu=(\d+)", "pbs": r"ngpus=(\d+)",
    "torque": r"gpus=(\d+)", "sge": r"-l gpu=(\d+)", "lsf": r"-gpu num=(\d+)",
    "condor": r"request_gpus = (\d+)", "psij": r'"gpu_cores_per_process": (\d+)',
}  # fmt: skip
LICENCE = '<Resource name="License" type="ansys">2</Resource>'


# decision 984
@pytest.mark.parametrize("own", ["", LICENCE])
@pytest.mark.parametrize("target", GPUS)
def test_gpus_of_the_only_task_group_are_those_of_its_job(target, own):
    def gpu(number):
        return f'<Resource name="GPU">{number}</Resource>'

    def asked(inner):
        job = loads(wrapped(inner))
        text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
        told = [
            loss for loss in losses
            if "GPU" in loss.shown and loss.done is not Done.CONVERTED
        ]  # fmt: skip
        (made,) = to_ads(job)
        return int(re.search(GPUS[target], text)[1]), made.ad["RequestGPUs"], told

    number, of_ad, told = asked(requested(own) + f"<TaskGroup>{requested(gpu(4))}</TaskGroup>")
    assert number == of_ad == 4
    assert not told
    number, of_ad, told = asked(
        requested(own + gpu(3)) + f"<TaskGroup>{requested(gpu(4))}</TaskGroup>"
    )
    assert number == of_ad == 3
    assert [loss.path for loss in told] == ["/Job/TaskGroup/Requested/Resource"]


KEYS_OF = {
    "Memory": "max_rss_bytes", "Disk": "scratch_limit_bytes", "Swap": "max_swap_bytes",
    "Duration": "wall_limit_secs",
}  # fmt: skip


@pytest.mark.parametrize("name", KEYS_OF)
def test_an_amount_that_only_some_of_several_groups_say_is_no_limit_of_all(name):
    """A wrong limit kills a job, a missing one does not."""
    silent = "<TaskGroup><TaskCount>1</TaskCount></TaskGroup>"
    asked = f"<Requested><{name}>100</{name}></Requested>"
    said = silent.replace("</TaskGroup>", f"{asked}</TaskGroup>")
    job = "<Job><Id>1</Id><Executable>/bin/a</Executable>{}</Job>"
    some, none, every = (
        loads(job.format(groups)) for groups in (said + silent, silent + silent, said + said)
    )
    found = derive(some, starting=True)
    assert KEYS_OF[name] not in found.values
    assert any("no limit of all" in each.message for each in found.findings)
    assert KEYS_OF[name] in derive(every, starting=True).values
    settings = Settings(residual=False, unstated="Warn")
    for target in TARGETS.keys() - ({"pbs"} if name == "Memory" else set()):  # chunks of its own
        text, losses = translate(some, target, settings)
        assert text == translate(none, target, settings).text, target
        assert [loss.done for loss in losses if loss.path.endswith(name)] == [Done.DROPPED]
    [without] = to_ads(none)
    for made in to_ads(some):
        assert not {"RequestMemory", "RequestDisk", "AllowedJobDuration"} & made.ad.keys()
        assert any(name in str(each) for each in made.findings)
    assert not any("no limit" in str(each) for each in without.findings)


# What a job asks for of all its tasks, what its only group does of each, and whether that is less.
KB5120, DEDICATED = '<Memory units="KB">5120</Memory>', '<Disk context="Dedicated">5</Disk>'
LEAST, GREATER = '<Memory op="GE">5</Memory>', '<Memory op="GE">20</Memory>'
M5, D5, T5, T6 = (
    f"<{name}>{number}</{name}>"
    for name, number in (("Memory", 5), ("Disk", 5), ("Duration", 5), ("Duration", 6))
)
BESIDE = {
    "as much of one task":       (M5, 1, M5, False),
    "as much of all tasks":      ("<Memory>20</Memory>", 4, M5, False),
    "as much in another unit":   (M5, 1, KB5120, False),
    "as much of what is free":   (DEDICATED, 1, D5, False),
    "as much at least":          (GREATER, 4, LEAST, False),
    "the same of several tasks": (M5, 4, M5, True),
    "more":                      (D5, 1, "<Disk>6</Disk>", True),
    "a number, not a bound":     (LEAST, 1, M5, True),
    "a longer time":             (T5, 1, T6, True),
    "a longer time, and memory": (T5 + M5, 1, T6, True),
    "a shorter time":            (T6, 1, T5, False),
}  # fmt: skip


# decision 1185
@pytest.mark.parametrize(("own", "tasks", "each", "is_less"), BESIDE.values(), ids=BESIDE)
def test_what_the_only_group_asks_for_is_lost_where_its_job_says_less_or_otherwise(
    own, tasks, each, is_less
):
    inner = requested(own)
    inner += f"<TaskGroup><TaskCount>{tasks}</TaskCount>{requested(each)}</TaskGroup>"
    job = loads(wrapped(inner))

    def is_refused(target):
        try:
            translate(job, target, Settings(residual=False, unstated="Reject"))
        except Untranslatable:
            return True
        return False

    rejecting = loads(wrapped(inner).replace("<Job", '<Job awarenessPolicy="Reject"', 1))
    roads = {each: is_refused(each) for each in ("sbatch", "lsf", "torque", "condor", "jsdl")}
    roads["ad"] = not all(made.runs for made in to_ads(rejecting))
    assert roads == dict.fromkeys(roads, is_less)
