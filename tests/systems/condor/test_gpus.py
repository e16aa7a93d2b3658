"""Models of GPUs: asked for, matched with what a machine has, and delivered."""

import re

import pytest
from classads_oracle import classad2

from sssjob.classads import long
from sssjob.classads.evaluate import evaluate
from sssjob.classads.parser import expression
from sssjob.classads.values import Ad
from sssjob.document import loads
from sssjob.errors import Severity
from sssjob.systems.condor.from_ad import to_job
from sssjob.systems.condor.gpus import required
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


def test_of_no_gpus_no_model_is_required():
    text = f"<Job><Id>7.0</Id><Executable>/a</Executable>{ASKED.format('A100')}</Job>"
    mapped = to_ad(loads(text.replace(">2<", ">0<")))
    assert not {"RequestGPUs", "RequireGPUs"} & mapped.ad.keys()
    assert [(each.code, each.severity) for each in mapped.findings] == [
        ("E-LOSS", Severity.WARNING)
    ]


def test_what_else_is_required_of_gpus_is_kept_both_ways():
    held = 'Cmd = "/a"\nClusterId = 7\nRequestGPUs = 1\nRequireGPUs = Capability >= 8\n'
    found = to_job(ad_of(held))
    assert [each.code for each in found.findings] == ["W-USELESS"]
    again = to_ad(found.job).ad
    assert "Capability >= 8" in long.write(again)
    assert "countMatches(MY.RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs" in long.write(again)


def test_a_model_that_is_sought_anywhere_in_the_name_is_told():
    held = 'Cmd = "/a"\nRequestGPUs = 1\nRequireGPUs = regexp("A10", DeviceName, "i")\n'
    found = to_job(ad_of(held))
    [gpus] = (each for each in found.job.requested if each.name == "Resource")
    assert gpus.attributes["type"] == "A10"
    assert [each.code for each in found.findings] == ["W-TYPE"]


@pytest.mark.parametrize(
    "model, fits", [("A100", 1), ("a100-sxm4", 1), ("H100", 0), ("A10", 0), ("100", 0), ("A.00", 0)]
)
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
        ("GPUsProvisioned = 2\n", [("1", "A30"), ("1", "A100")]),
        ("GPUsProvisioned = 3\n", [("3", None)]),
        ('GPUsProvisioned = 2\nSSSGPU_c = ""\n', [("2", None)]),
        ('GPUsProvisioned = 3\nSSSGPU_c = ""\n', [("3", None)]),
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


MIXED = """\
Name = "slot1@n1"
Cpus = 4
Memory = 4096
Disk = 1000000
AvailableGPUs = { GPUs_GPU_a, GPUs_GPU_b, GPUs_GPU_c }
AssignedGPUs = "GPU-a,GPU-b,GPU-c,GPU-d"
GPUs = 3
GPUs_GPU_a = [ Id = "GPU-a"; DeviceName = "A100"; Capability = 8.0 ]
GPUs_GPU_b = [ Id = "GPU-b"; DeviceName = "T4"; Capability = 7.5 ]
GPUs_GPU_c = [ Id = "GPU-c"; DeviceName = "T4"; Capability = 7.5 ]
GPUs_GPU_d = [ Id = "GPU-d"; DeviceName = "H100"; Capability = 9.0 ]
"""
SHORT = "GPUs_GPU_", "GPUs_"
PART = MIXED + "PartitionableSlot = true\n"
ODD = PART.replace("GPU_c }", "GPU_x }")  # one is not described
WHOLE = MIXED.replace("GPUs = 3", "GPUs = 4")


@pytest.mark.parametrize("slot, asked, found", [
    (PART, '<Resource name="GPU" type="A100">1</Resource>', {"A100": "1"}),
    (PART, '<Resource name="GPU" type="T4">1</Resource>', {"T4": "1"}),
    # Whatever their attributes are called, they have ids.
    (PART.replace(*SHORT), '<Resource name="GPU" type="T4">1</Resource>', {"T4": "1"}),
    (WHOLE.replace(*SHORT), '<Resource name="GPU">1</Resource>',
     {"A100": "1", "H100": "1", "T4": "2"}),
    (PART, '<Resource name="GPU" type="T4">2</Resource>', {"T4": "2"}),
    (PART, '<Resource name="GPU">3</Resource>', {"A100": "1", "T4": "2"}),
    (PART, '<Resource name="GPU">2</Resource>', {None: "2"}),
    (PART, '<Resource name="GPU" type="H100">1</Resource>', None),  # which is in use
    (PART, '<Resource name="GPU" type="A100">2</Resource>', None),
    (WHOLE, '<Resource name="GPU" type="T4">1</Resource>', {"A100": "1", "H100": "1", "T4": "2"}),
    (WHOLE, '<Resource name="GPU" type="A100">1</Resource>', {"A100": "1", "H100": "1", "T4": "2"}),
    (ODD, '<Resource name="GPU">3</Resource>', {None: "3"}),
    (ODD, '<Resource name="GPU" type="T4">1</Resource>', {"T4": "1"}),
])  # fmt: skip
def test_a_job_is_charged_for_the_gpus_that_its_slot_gave(site, slot, asked, found):
    amounts = '<Processors>1</Processors><Memory units="MB">1</Memory><Disk units="MB">1</Disk>'
    site.add("a.xml", f"<User>amy</User><Requested>{amounts}{asked}</Requested>")
    ads = site.fetch(ad_of(slot))
    assert len(ads) == (found is not None)
    for ad in ads:
        told = {"JobPid": 7, "JobStartDate": 99, "JobDuration": 5.0, "ExitCode": 0}
        forged = ad_of('GPUs_GPU_a = [ DeviceName = "Z9" ]\n')
        site.call("job-exit", ad.merged(told).merged(forged), "exit")
        gpus = [each for each in site.job("a.xml").delivered if each.name == "Resource"]
        assert {each.attributes.get("type"): each.text for each in gpus} == found


@pytest.mark.parametrize("asked, told", [
    ('<Resource name="GPU" type="A.*">1</Resource>', "'A.*' is no name of a model"),
    ('<Resource name="GPU" type=\'x") || regexp("x\'>1</Resource>', "is no name of a model"),
    ('<Resource name="GPU" type="RTX 2080">1</Resource>', "'RTX 2080' is no name of a model"),
    ('<Resource name="GPU" type="A100">1</Resource><Resource name="GPU" type="T4">1</Resource>',
     "of one model, and not of: a100, t4"),
    ('<Resource name="GPU" type="T4">1</Resource><Resource name="GPU">2</Resource>',
     "of one model, and not of: any, t4"),
    ('<Resource name="a b">1</Resource>', "'a b' cannot be the name of a resource"),
    ('<Resource name="cpus">1</Resource>', "HTCondor calls Processors so"),
    ('<Resource name="Memory">1</Resource>', "HTCondor calls Memory so"),
    ('<Resource name="Tapes" type="LTO">1</Resource>', "Tapes of the type 'LTO'"),
])  # fmt: skip
def test_gpus_that_an_ad_cannot_ask_for_are_not_left_out_in_silence(site, asked, told):
    site.add("a.xml", f"<User>amy</User><Requested>{asked}</Requested>")
    assert site.fetch(ad_of(WHOLE)) == []
    assert told in site.said
    mapped = to_ad(loads(f"<Job><Executable>/a</Executable><Requested>{asked}</Requested></Job>"))
    assert not mapped.runs
    assert [each.code for each in mapped.findings] == ["E-LOSS"]


@pytest.mark.skipif(classad2 is None, reason="HTCondor's bindings are not installed")
@pytest.mark.parametrize("kind", ["A10", "a100", "100", "T4", "rtx", "2080", "a.00"])
@pytest.mark.parametrize("device", ["NVIDIA A100-SXM4-40GB", "Tesla T4", "T400", "RTX 2080 Ti"])
def test_htcondor_finds_the_same_models(kind, device):
    asked = required(kind)
    theirs = classad2.ExprTree(asked).eval(classad2.ClassAd({"DeviceName": device}))
    assert evaluate(expression(asked), Ad({"DeviceName": device})) is theirs
    assert theirs == (kind.lower() in re.split("[ -]", device.lower()))


def test_a_model_asked_for_twice_is_one_model():
    twice = ASKED.format("A100").replace("</Requested>", "") + (
        '<Resource name="gpus" type="a100" op="LE">4</Resource></Requested>'
    )
    mapped = to_ad(loads(f"<Job><Executable>/a</Executable>{twice}</Job>"))
    assert mapped.findings == ()
    assert mapped.ad["RequestGPUs"] == 2


def test_any_resource_of_a_site_is_delivered(site):
    asked = '<Requested><Resource name="Tapes">2</Resource></Requested>'
    site.add("a.xml", f"<User>amy</User>{asked}")
    requests = [(f"Request{name}", "1") for name in ("Cpus", "Memory", "Disk")]
    slot = ad_of(SLOT + "Tapes = 3\nPartitionableSlot = true\n")
    [ad] = site.fetch(slot, requests=requests)
    assert ad["TapesProvisioned"] == 2
