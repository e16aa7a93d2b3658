"""Task groups on hosts of their own: an ad for each, and back."""

import pytest

from sssjob.classads import long
from sssjob.document import loads
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
    assert "SSSTaskGroup" not in mapped.ad
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


@pytest.mark.parametrize("order", [(1,), (1, 0), (0, 0, 1), (0, 0)])
def test_ads_that_are_not_in_a_row_are_jobs_each(order):
    """Somebody sorted them, or left one out."""
    both = ads_of(BIG + SMALL)
    found = [len(every) for _, every in gathered(("f", both[number]) for number in order)]
    assert sum(found) == len(order)
    assert found == {(1,): [1], (1, 0): [1, 1], (0, 0, 1): [1, 2], (0, 0): [1, 1]}[order]
