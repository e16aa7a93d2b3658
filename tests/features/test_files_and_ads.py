"""A file, an ad of HTCondor and a script say one thing of what a job asks for, in numbers."""

import re

import pytest
from translated import requested, wrapped

from sssjob import loads
from sssjob.classads import writing
from sssjob.classads.values import Ad
from sssjob.features.derive import derive
from sssjob.systems.condor.slot import job_features
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, translate

MIB = 1 << 20
KEYS = {"Memory": "max_rss_bytes", "Disk": "scratch_limit_bytes", "Swap": "max_swap_bytes"}
PROCESSORS = "<Processors>16</Processors>"


def group(inside):
    return f"<TaskGroup><Id>t</Id>{inside}</TaskGroup>"


# Where an amount stands, and how many MiB of 40 for each task, or for all, that is; None where a
# metric makes it a measured one.
PLACES = {
    "requested": (lambda said: requested(said + PROCESSORS), 40, 40),
    "outside": (lambda said: said + PROCESSORS, 40, None),
    "beside its only group": (lambda said: requested(said) + group(requested(PROCESSORS)), 40, 40),
    "outside, beside its only group": (lambda said: said + group(requested(PROCESSORS)), 40, None),
    "of its only group": (lambda said: group(requested(said + PROCESSORS)), 640, 640),
    "outside, of its only group": (lambda said: group(said + requested(PROCESSORS)), 640, None),
    "of one of two groups": (
        lambda said: group(requested(said + PROCESSORS)) + group(
            requested("<Processors>4</Processors>" + amounts(1))
        ), 644, 644,
    ),
}  # fmt: skip
METRICS = "", "Total", "Max", "Average", "Min"
CONTEXTS = "", "Dedicated", "Configured", "Used"


def amounts(size, attributes=""):
    return "".join(f'<{name}{attributes} units="MB">{size}</{name}>' for name in KEYS)


def job_of(place, metric, context):
    said = {"metric": metric, "context": context}
    attributes = "".join(f' {name}="{text}"' for name, text in said.items() if text)
    return loads(wrapped(PLACES[place][0](amounts(40, attributes))))


def wanted(place, metric, context):
    """How many bytes the job asks for in all; None where nobody does."""
    if context not in ("", "Dedicated"):
        return None
    plain, measured = PLACES[place][1:]
    size = plain if metric in ("", "Total") else measured
    return size and size * MIB


def by_file(job):
    return derive(job, starting=True).values


def ads(job):
    return [made.ad for made in to_ads(job)]


def in_all(job, key):
    """What the ads of a job say together."""
    every = [job_features(ad, Ad()).get(key) for ad in ads(job)]
    return None if None in every else sum(every)


def script(job, target):
    return translate(job, target, Settings()).text


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("place", PLACES)
def test_an_amount_with_a_metric_is_as_much_for_a_file_as_for_its_ad(place, metric, context):
    job, size = job_of(place, metric, context), wanted(place, metric, context)
    for key in KEYS.values():
        assert by_file(job).get(key) == size
        assert in_all(job, key) == size
    of_ads = [[ad.get(name) for ad in ads(job)] for name in ("RequestMemory", "RequestDisk")]
    assert [None if None in each else sum(each) for each in of_ads] == [
        size and size // MIB, size and size // 1024,
    ]  # fmt: skip


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("place", [each for each in PLACES if "two" not in each])
def test_an_amount_with_a_metric_is_as_much_in_scripts(place, metric, context):
    job, size = job_of(place, metric, context), wanted(place, metric, context)
    submit = dict(re.findall("(request_memory|request_disk) = ([0-9]+)", script(job, "condor")))
    both = {"request_memory": size // MIB, "request_disk": size // 1024} if size else {}
    assert submit == {name: str(each) for name, each in both.items()}
    for target, pattern, meant in (
        ("sbatch", "--tmp=([0-9]+)M", size), ("sge", "swap_free=([0-9]+)M", size),
        ("sbatch", "--mem-per-cpu=([0-9]+)M", size and -(-size // 16)),
        ("lsf", r"rusage\[mem=([0-9]+)MB/task", size and -(-size // 16)),
    ):  # fmt: skip
        found = re.findall(pattern, script(job, target))
        assert found == ([str(-(-meant // MIB))] if meant else [])


BOUNDS = {"LT": 16 * (40 * MIB - 1), "GT": 16 * (40 * MIB + 1), "LE": 640 * MIB, "GE": 640 * MIB}


@pytest.mark.parametrize(("op", "size"), BOUNDS.items())
@pytest.mark.parametrize("name", KEYS)
def test_a_bound_of_each_task_is_the_same_in_all_by_a_file_and_its_ad(name, op, size):
    said = f'<{name} op="{op}" units="MB">40</{name}>'
    job = loads(wrapped(group(requested(said + PROCESSORS))))
    assert by_file(job)[KEYS[name]] == in_all(job, KEYS[name]) == size


def test_a_machine_with_what_is_requested_is_not_refused_for_what_is_less_than_a_megabyte():
    said = '<Memory op="GT" units="MB">40</Memory>'
    [ad] = ads(loads(wrapped(group(requested(said + PROCESSORS)))))
    assert ad["RequestMemory"] == 641
    assert "TARGET.Memory > 640 " in writing.expression(ad["Requirements"])


@pytest.mark.parametrize("excluded", ["10", "30"])
@pytest.mark.parametrize("name", KEYS)
def test_of_what_the_job_only_excludes_the_amount_of_its_only_group_counts(name, excluded):
    job = loads(wrapped(
        requested(f'<{name} op="NE" units="MB">{excluded}</{name}>')
        + group(requested(f'<{name} units="MB">29</{name}>'))
    ))  # fmt: skip
    assert by_file(job)[KEYS[name]] == in_all(job, KEYS[name]) == 29 * MIB


def test_of_a_time_that_the_job_only_excludes_that_of_its_only_group_counts():
    job = loads(wrapped(
        requested('<Duration op="NE">10</Duration>')
        + group(requested("<Duration>30</Duration>"))
    ))  # fmt: skip
    assert by_file(job)["wall_limit_secs"] == in_all(job, "wall_limit_secs") == 30


GIVEN = {
    "no limit": ("", 20), "a request for less": (requested('<{0} units="MB">10</{0}>'), 10),
    "a request for more": (requested('<{0} units="MB">40</{0}>'), 20),
    "a limit that is less": ('<ResourceLimit name="{0}" units="MB">10</ResourceLimit>', 10),
    "a group that asks for more": (group(requested('<{0} units="MB">40</{0}>' + PROCESSORS)), 20),
}  # fmt: skip


@pytest.mark.parametrize(("beside", "size"), GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("name", ["Memory", "Disk"])
def test_what_was_given_to_a_job_alone_is_its_limit_where_that_is_the_least(name, beside, size):
    given = f'<{name} units="MB" context="Dedicated">20</{name}><Processors>3</Processors>'
    job = loads(wrapped(f"{beside.format(name)}<Delivered>{given}</Delivered>"))
    assert derive(job).values[KEYS[name]] == in_all(job, KEYS[name]) == size * MIB


@pytest.mark.parametrize("attributes", ["", ' metric="Max"', ' context="Used"'])
def test_what_was_used_is_no_limit(attributes):
    job = loads(wrapped(f"<Delivered>{amounts(20, attributes)}</Delivered>"))
    for key in KEYS.values():
        assert derive(job).values.get(key) == in_all(job, key)
        assert key not in derive(job).values


def test_a_deadline_that_has_passed_is_told_to_nobody_who_knows_the_time():
    job = loads(wrapped("<StartTime>100</StartTime><DeadlineTime>900</DeadlineTime>"))
    [ad] = ads(job)
    for now, told in ((800, 900), (900, None), (1000, None)):
        assert derive(job, now=now).values.get("shutdowntime_job") == told
        assert job_features(ad, Ad(), now).get("shutdowntime_job") == told
    assert job_features(ad, Ad())["shutdowntime_job"] == 900
