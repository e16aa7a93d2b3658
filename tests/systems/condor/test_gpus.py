"""Models of GPUs: asked for, matched with what a machine has, and delivered."""

import pytest

from sssjob.classads import long
from sssjob.document import loads
from sssjob.systems.condor.from_ad import to_job
from sssjob.systems.condor.hooks.reports import reported
from sssjob.systems.condor.job_ad import to_ad

ASKED = '<Requested><Resource name="GPU" type="{}">2</Resource></Requested>'
MACHINE = {"TotalGPUs": 2, "TotalSlotGPUs": 2, "GPUs": 2}
SLOT = """\
Name = "slot1@n1"
Cpus = 4
Memory = 4096
Disk = 1000000
GPUs = 2
AvailableGPUs = { GPUs_GPU_a, GPUs_GPU_b }
GPUs_GPU_a = [ Id = "GPU-a"; DeviceName = "NVIDIA A100-SXM4" ]
GPUs_GPU_b = [ Id = "GPU-b"; DeviceName = "NVIDIA A100-SXM4" ]
"""


def ad_of(text):
    [ad] = long.read(text.encode().splitlines(keepends=True))
    return ad


@pytest.mark.parametrize("model", ["A100", "a100.x"])
def test_a_model_is_asked_for_and_read_back(model):
    job = loads(f"<Job><Id>7.0</Id><Executable>/a</Executable>{ASKED.format(model)}</Job>")
    mapped = to_ad(job)
    assert mapped.findings == ()
    again = ad_of(long.write(mapped.ad))
    [gpus] = (each for each in to_job(again).job.requested if each.name == "Resource")
    assert (gpus.text, dict(gpus.attributes)) == ("2", {"name": "GPU", "type": model})
    assert to_job(again).findings == ()


def test_what_else_is_required_of_gpus_is_kept_both_ways():
    held = 'Cmd = "/a"\nClusterId = 7\nRequestGPUs = 1\nRequireGPUs = Capability >= 8\n'
    found = to_job(ad_of(held))
    assert [each.code for each in found.findings] == ["W-USELESS"]
    again = to_ad(found.job).ad
    assert "Capability >= 8" in long.write(again)
    assert "countMatches(MY.RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs" in long.write(again)


@pytest.mark.parametrize("model, fits", [("A100", 1), ("a100-sxm4", 1), ("H100", 0)])
def test_a_slot_gets_a_job_whose_gpus_it_has(site, model, fits):
    site.add("a.xml", "<User>amy</User>" + ASKED.format(model))
    slot = ad_of(SLOT)
    ads = site.fetch(slot)
    assert len(ads) == fits
    for ad in ads:
        told = {"JobPid": 7, "JobStartDate": 99, "JobDuration": 5.0, "ExitCode": 0}
        site.call("job-exit", ad.merged(told), "exit")
        [gpus] = (each for each in site.job("a.xml").delivered if each.name == "Resource")
        assert (gpus.text, gpus.attributes["type"]) == ("2", "NVIDIA A100-SXM4")


@pytest.mark.parametrize(
    "told, found",
    [
        ('AssignedGPUs = "GPU-a,GPU-b"\n', [("1", "A30"), ("1", "A100")]),
        ('AssignedGPUs = "GPU-b"\nGPUsProvisioned = 1\n', [("1", "A100")]),
        ('AssignedGPUs = "GPU-x"\nGPUsProvisioned = 1\n', [("1", None)]),
        ("GPUsProvisioned = 1\n", [("1", None)]),
        ('GPUsProvisioned = 1\nRequireGPUs = regexp("a30", DeviceName, "i")\n', [("1", "A30")]),
        ("GPUsProvisioned = 1\nRequireGPUs = Capability > 8\n", [("1", None)]),
    ],
)
def test_gpus_are_delivered_by_their_models_where_these_are_certain(told, found):
    described = (
        'SSSGPU_GPU_a = "A30"\nGPUs_GPU_b = [ DeviceName = "A100" ]\nSSSGPU_GPU_b = "A100"\n'
    )
    ad = ad_of(f"JobPid = 7\nJobStartDate = 99\n{described}{told}")
    job = reported(loads("<Job><Id>7</Id></Job>"), ad, "update", 105)
    gpus = [each for each in job.delivered if each.name == "Resource"]
    assert [(each.text, each.attributes.get("type")) for each in gpus] == found


def test_any_resource_of_a_site_is_delivered(site):
    asked = '<Requested><Resource name="Tapes">2</Resource></Requested>'
    site.add("a.xml", f"<User>amy</User>{asked}")
    requests = [(f"Request{name}", "1") for name in ("Cpus", "Memory", "Disk")]
    slot = ad_of(SLOT + "Tapes = 3\nPartitionableSlot = true\n")
    [ad] = site.fetch(slot, requests=requests)
    assert ad["TapesProvisioned"] == 2
