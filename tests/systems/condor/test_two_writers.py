"""A request says the same as an ad of HTCondor, as a submit file, and as features of the job."""

from fractions import Fraction

import pytest

from sssjob.classads.values import Ad
from sssjob.classads.writing import attribute as written
from sssjob.defaults import resolve
from sssjob.document import loads
from sssjob.errors import InvalidValue, Severity
from sssjob.features.derive import derive
from sssjob.systems.condor import slot
from sssjob.systems.condor.job_ad import to_ad
from sssjob.translate import Settings, Untranslatable, translate
from sssjob.translate.losses import Done

AMOUNTS = {
    "RequestMemory": "request_memory", "RequestDisk": "request_disk",
    "RequestGPUs": "request_gpus", "RequestTapes": "request_Tapes",
    "AllowedJobDuration": "allowed_job_duration", "JobPrio": "priority",
    "ConcurrencyLimits": "concurrency_limits", "RequestCpus": "request_cpus",
}  # fmt: skip
FEATURES = (
    "allocated_cpu", "wall_limit_secs", "cpu_limit_secs", "max_rss_bytes", "scratch_limit_bytes",
    "max_swap_bytes",
)  # fmt: skip
VALUES = ("0", "1", "4", "-1", "1.5", "90.5", "1000000", "9223372036854775807",
          "9223372036854775808", "99999999999999999999")  # fmt: skip
SIZES = ("", "B", "KB", "MB", "GB", "TB")


def _ranges(name, units=("",)):
    for unit in units:
        signs = f' units="{unit}"' if unit else ""
        for op in ("EQ", "GE", "GT", "LE", "LT"):
            yield from (f'<{name}{signs} op="{op}">{value}</{name}>' for value in VALUES)
        yield f'<{name}{signs} op="GE">2</{name}><{name}{signs} op="LE">4</{name}>'
        yield from (f'<{name}{signs} op="{op}">4</{name}>' for op in ("NE", "Match"))


def _resource(name, kind=""):
    signs = f' name="{name}"' + (f' type="{kind}"' if kind else "")
    yield from (f"<Resource{signs}>{value}</Resource>" for value in VALUES)
    if kind not in ("", "a100", "x", "a b"):
        return
    for op in ("GE", "GT", "LE", "LT", "NE", "Match"):
        yield from (f'<Resource{signs} op="{op}">{value}</Resource>' for value in ("0", "1", "5"))
    for least, most in ((2, 4), (4, 4), (4, 2), ("1.2", "1.5")):
        yield (f'<Resource{signs} op="GE">{least}</Resource>'
               f'<Resource{signs} op="LE">{most}</Resource>')  # fmt: skip
    yield f"<Resource{signs}>2</Resource><Resource{signs}>4</Resource>"
    yield f'<Resource{signs}>2</Resource><Resource{signs} op="LE">4</Resource>'


REQUESTS = [
    *_ranges("Processors"), *_ranges("Duration"),
    *_ranges("Memory", SIZES), *_ranges("Disk", SIZES),
    *_resource("GPU"), *_resource("GPU", "a100"), *_resource("Tapes"),
    *(each for kind in ("x", "X.y", "m@s", "a b", "a,b", "a:2", "-x", "")
      for each in _resource("License", kind)),
    "<Processors>4</Processors><Duration>60</Duration>",
    "<Processors op='LE'>4</Processors><Duration op='LE'>60</Duration>",
]  # fmt: skip


def _own():
    for name in ("Memory", "Disk", "Duration", "Priority"):
        yield from (f"<{name}>{value}</{name}>" for value in VALUES)
    yield "<Priority>-2147483649</Priority>"
    yield "<Priority>2147483648</Priority>"
    yield "<Priority>-5</Priority>"


CASES = [*(f"<Requested>{each}</Requested>" for each in REQUESTS), *_own()]


def _submitted(job):
    """What a submit file says, and what is lost; None where none is written."""
    try:
        text, losses = translate(job, "condor", Settings(residual=False))
    except InvalidValue:
        return None, ()
    lines = (line.partition(" = ") for line in text.splitlines())
    return {name: value for name, _, value in lines}, losses


# decision 890
@pytest.mark.parametrize("inner", CASES)
def test_an_ad_asks_for_what_a_submit_file_does_or_says_that_it_does_not(inner):
    job = resolve(loads(f"<Job><Id>7.0</Id><Executable>/bin/a</Executable>{inner}</Job>")).block
    made = to_ad(job)
    said, losses = _submitted(job)
    if not made.runs:  # no ad is written
        assert said is None or losses
        return
    assert said is not None
    for attribute, option in AMOUNTS.items():
        stated = None if attribute in made.assumed else made.ad.get(attribute)
        text = None if stated is None else str(stated)
        assert text == (said.get(option) and said[option].lower()), attribute
    lost = [
        loss for loss in losses if not loss.fact and (loss.done is Done.DROPPED or not loss.met)
    ]
    assert not lost or made.findings


# decision 898
@pytest.mark.parametrize("inner", [each for each in CASES if "Priority" not in each])
def test_under_reject_there_is_an_ad_where_there_is_a_submit_file(inner):
    said = f"<Id>7.0</Id><Executable>/bin/a</Executable>{inner}"
    job = resolve(loads(f'<Job awarenessPolicy="Reject">{said}</Job>')).block
    try:
        translate(job, "condor", Settings(residual=False))
    except (InvalidValue, Untranslatable):
        is_written = False
    else:
        is_written = True
    assert to_ad(job).runs == is_written


# A submit file has no option for swap.
SWAP = [
    *(f"<Requested>{each}</Requested>" for each in _ranges("Swap", ("", "MB"))),
    *(f"<Swap>{value}</Swap>" for value in VALUES),
    *(f'<Extension type="JobFeatures" name="max_swap_bytes">{value}</Extension>'
      for value in ("0", "1", "-1")),
]  # fmt: skip


# decision 890
@pytest.mark.parametrize("inner", [*CASES, *SWAP])
def test_the_features_of_an_ad_are_those_of_its_job(inner):
    job = resolve(loads(f"<Job><Id>7.0</Id><Executable>/bin/a</Executable>{inner}</Job>")).block
    made = to_ad(job)
    if not made.runs:
        return
    values = derive(job, starting=True).values
    told = slot.job_features(made.ad, Ad())
    for name in FEATURES:
        assert told.get(name) == values.get(name), name
    for name, key, unit in (
        ("RequestMemory", "max_rss_bytes", 1 << 20),
        ("RequestDisk", "scratch_limit_bytes", 1 << 10),
    ):  # fmt: skip
        if key in values:
            assert made.ad[name] == -(-Fraction(values[key]) // unit)


_STATED = {
    "wall_limit_secs": ("<Duration{}>60</Duration>", "AllowedJobDuration", "{}"),
    "cpu_limit_secs": ("", "PeriodicRemove", "(RemoteUserCpu + RemoteSysCpu) > {}"),
}  # fmt: skip


# decision 1147
@pytest.mark.parametrize("seconds", [30, 60, 7200])
@pytest.mark.parametrize("op", ["", ' op="LE"', ' op="LT"'])
@pytest.mark.parametrize("outside", [True, False], ids=["beside Requested", "in Requested"])
@pytest.mark.parametrize("key", _STATED)
def test_what_a_job_states_of_its_features_ends_it_whoever_asks(key, outside, op, seconds):
    asked, attribute, form = _STATED[key]
    limits = '<ResourceLimit name="CPUTime" type="Hard">90</ResourceLimit>'
    limits += asked.format(op) * outside
    job = loads(
        f"<Job><Id>7.0</Id><Executable>/bin/a</Executable>{limits}"
        f'<Extension type="JobFeatures" name="{key}">{seconds}</Extension>'
        f"<Requested><Processors>2</Processors>{asked.format(op) * (not outside)}</Requested></Job>"
    )
    made = to_ad(job)
    found = derive(job, starting=True)
    assert found.values[key] == seconds
    assert slot.job_features(made.ad, Ad({"Cpus": 2}))[key] == seconds
    assert written(made.ad[attribute]) == form.format(seconds)
    told = {str(each) for each in found.findings if each.code == "W-DISAGREE"}
    assert told == {str(each) for each in made.findings if each.code == "W-DISAGREE"}


def test_a_job_without_a_request_that_can_be_read_is_no_ad():
    made = to_ad(loads("<Job><Id>7</Id><Executable>/a</Executable>"
                       "<Requested><Duration>-1</Duration></Requested></Job>"))  # fmt: skip
    assert [each.code for each in made.findings if each.severity is Severity.ERROR][-1] == "E-LOSS"
