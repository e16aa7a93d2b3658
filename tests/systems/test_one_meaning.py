"""A limit, a size or a time means the same to a batch system, on whichever road it is read."""

import contextlib
from fractions import Fraction

import pytest
from meanings import (
    FACTS,
    GPUS,
    MEMORY_OF_SLOTS,
    SUBJECTS,
    TEXTS,
    Subject,
    amount,
    asked,
    facts,
    of_slots,
    recorded,
    recorded_job,
    scripted,
    shown,
    shown_job,
)  # fmt: skip

from sssjob import units
from sssjob.classads import forms
from sssjob.classads.values import Ad
from sssjob.errors import SSSJobError
from sssjob.model import Job, Property, Requested
from sssjob.records.record import Instead
from sssjob.systems.condor.from_ad import to_job
from sssjob.systems.lsf.accounting.table import delivered_gpus, requested_gpus
from sssjob.systems.pbs import allocation as pbs
from sssjob.translate import Settings, read, translate

CASES = [
    pytest.param(subject, road, id=f"{system} {what}: {road}")
    for (system, what), subject in SUBJECTS.items()
    for road in subject.roads
]


@pytest.mark.parametrize("subject, road", CASES)
def test_a_text_means_what_it_means_on_every_road(subject, road):
    told = "\n".join(misread(subject, road))
    assert not told, told


def misread(subject, road):
    """What a road makes of a text otherwise than its ``Subject`` says: for each a sentence."""
    for text in (*TEXTS, *subject.more):
        found, meant = taken(subject.roads[road], text), subject.means.get(text)
        if found != meant:
            says = f"says {meant}" if text in subject.means else "does not list it"
            yield f"{text!r} is read as {found}, and `means` in tests/meanings.py {says}"


def test_a_text_that_means_lacks_is_told_with_what_was_read():
    subject = Subject({"a log": lambda text: int(text) if text.isdigit() else None}, {
        "0": None, "90": 90, "4294967294": 1, "4294967295": (1 << 32) - 1, "INFINITE": 7,
    })  # fmt: skip
    where = "and `means` in tests/meanings.py"
    assert [*misread(subject, "a log")] == [
        f"'0' is read as 0, {where} says None",
        f"'INFINITE' is read as None, {where} says 7",
        f"'4294967294' is read as 4294967294, {where} says 1",
        f"'18446744073709551615' is read as 18446744073709551615, {where} does not list it",
    ]


@pytest.mark.parametrize(
    "road, found, gpus",
    [
        pytest.param(road, found, case[0], id=f"{told}: {name}")
        for told, case in GPUS.items()
        for name, (road, found) in case[1].items()
    ],
)
def test_gpus_are_the_same_resource_on_every_road(road, found, gpus):
    (job,) = road(found)
    told = [(each.text, each.attributes.get("type")) for each in job.requested.all("Resource")]
    assert told == [gpus]


@pytest.mark.parametrize("told", MEMORY_OF_SLOTS)
def test_memory_of_each_slot_is_that_of_the_job_on_every_road(told):
    size, text, *names = MEMORY_OF_SLOTS[told]
    found = {road: amount(job, name) for road, (job,), name in of_slots(text, *names)}
    assert {"accounting", "status"} <= {*found}
    assert found == dict.fromkeys(found, size)


@pytest.mark.parametrize(
    "road, found, path, told",
    [
        pytest.param(road, found, path, told, id=f"{fact}: {name}")
        for fact, (path, told, roads) in FACTS.items()
        for name, (road, found) in roads.items()
    ],
)
def test_a_fact_is_the_same_properties_on_every_road(road, found, path, told):
    (job,) = road(found)
    assert [*facts(job, path)] == told


def taken(road, text):
    with contextlib.suppress(SSSJobError):
        return road(text)
    return None


_RECORD = (
    "11/20/2026 14:00:00;E;7.s;user=amy queue=q ctime=1 qtime=1 etime=1 start=2 end=3 "
    "Exit_status=0 Resource_List.nodes=@\n"
)
_SHOWN = "Job Id: 7.s\n    job_state = Q\n    queue = q\n    Resource_List.nodes = @\n"


@pytest.mark.parametrize(
    "text, count",
    [
        ("1:ppn=2", 1),
        ("01:ppn=4", 1),
        ("1n:ppn=2", 1),
        ("3node", 1),
        ("n7:ppn=2", 1),
        ("2:ppn=2", 2),
        ("02", 2),
        ("n7+n8", 2),
        (":ppn=2", None),
        ("a b", None),
    ],
)
def test_nodes_of_torque_are_counted_alike_on_every_road(text, count):
    roads = (
        recorded("pbs", _RECORD, "NodeCount"),
        shown("qstat-text", _SHOWN, "NodeCount"),
        asked("torque", "#!/bin/sh\n#PBS -l nodes=@\nexec /bin/date\n", "NodeCount"),
    )
    assert [taken(road, text) for road in roads] == [count] * 3
    by_prolog = pbs.allocation(["7.s", "amy", "g", "n", f"nodes={text},mem=1gb"])
    assert by_prolog.alone is (count == 1)
    assert ("max_rss_bytes" in by_prolog.amounts) is (count == 1)


@pytest.mark.parametrize(
    "text, gigabytes",
    [
        ("nodes=2:ppn=4", 8),
        ("nodes=n1:ppn=4+n2:ppn=2", 6),
        ("nodes=3", 3),
        ("procs=8", 8),
        ("ncpus=2", 2),
    ],
)
def test_the_memory_of_each_process_of_torque_is_that_of_all_on_every_road(text, gigabytes):
    name, _, value = text.partition("=")
    roads = (
        recorded(
            "pbs", _RECORD.replace("nodes=@", f"{name}={value} Resource_List.pmem=@"), "Memory"
        ),
        shown(
            "qstat-text",
            _SHOWN.replace("nodes = @", f"{name} = {value}\n    Resource_List.pmem = @"),
            "Memory",
        ),
        asked("torque", f"#!/bin/sh\n#PBS -l {text}\n#PBS -l pmem=@\nexec /bin/date\n", "Memory"),
    )
    assert [taken(road, "1gb") for road in roads] == [gigabytes << 30] * 3


def test_nodes_of_torque_that_are_not_alike_are_written_as_they_were_while_they_are_asked_for():
    script = "#!/bin/sh\n#PBS -l nodes=n1:ppn=4+n2:ppn=2\nexec /bin/date\n"
    (found,) = read(script.encode(), "torque")
    assert "#PBS -l nodes=n1:ppn=4+n2:ppn=2\n" in translate(found.job, "torque").text
    more = [
        Property("Processors", "8") if item.name == "Processors" else item
        for item in found.job.requested
    ]
    items = (each for each in found.job.items if not isinstance(each, Requested))
    changed = translate(Job((*items, Requested(more))), "torque", Settings(residual=False)).text
    assert "#PBS -l nodes=n1:ppn=4+n2:ppn=4\n" in changed
    assert "ppn=2" not in changed


@pytest.mark.parametrize(
    "text, count",
    [
        ("ngpus_physical=2", 4),
        ("ngpus_physical=2.00", 4),
        ("ngpus=1/host", 2),
        ("ngpus_shared=1/task", 4),
        ("ngpus_excl_p=3/job", 3),
        ("mem=100:ngpus_physical=2", 4),
        ("mem=100,ngpus_physical=2", 4),
        ("mem=5, ngpus_excl_t = 1", 2),
        ("ngpus_physical=1:ngpus_shared=1", 4),
        ("ngpus_physical=0", None),
        ("ngpus_physical=x", None),
        ("ngpus_physical=1/socket", None),
        ("mem=2", None),
    ],
)
def test_gpus_that_rusage_of_lsf_reserves_are_the_same_on_every_road(text, count):
    read = asked("lsf", '#!/bin/sh\n#BSUB -n 4 -R "span[ptile=2] rusage[@]"\n./a\n', "Resource")
    assert taken(read, text) == count
    told = recorded_gpus(f"rusage[{text}]", "n1 n1 n2 n2")
    is_odd = "ngpus_physical=x" in text or "/socket" in text
    assert told == ("unknown" if is_odd else count)


def recorded_gpus(text, hosts):
    """The GPUs that a record of LSF tells of; None where it tells of none."""
    with contextlib.suppress(Instead):
        (found,) = delivered_gpus(text, "", hosts, "4") or (None,)
        assert requested_gpus(text, "", hosts, "4") == (None if found is None else (found,))
        return None if found is None else int(found.text)
    assert requested_gpus(text, "", hosts, "4") is None
    return "unknown"


@pytest.mark.parametrize(
    "text, hosts, count",
    [
        # a compound requirement: two GPUs of the first slot, and one on each host of four others
        ("1*{rusage[ngpus=2]} + 4*{span[ptile=2] rusage[ngpus_physical=1]}", "a b b c c", 4),
        ("2*{rusage[ngpus_physical=1/task]}+3*{rusage[ngpus_physical=2/task]}", "a a b b b", 8),
        ("2*{select[x]}+2*{rusage[ngpus_physical=1] span[hosts=1]}", "a b b b", 1),
        ("2*{rusage[ngpus_physical=1]}+2*{rusage[mem=1]}", "a a a a", 1),
        ("2*{rusage[ngpus_physical=1]}+2*{rusage[mem=1]}", "a b c d", "unknown"),
        ("{rusage[ngpus_physical=1]} || {rusage[mem=5]}", "a", "unknown"),
        ("{rusage[ngpus_physical=1]}||{rusage[ngpus_physical=4]}@10", "a", "unknown"),
        ("rusage[ngpus_physical=1 || mem=5]", "a", "unknown"),
        ("rusage[mem=5 || mem=3:ngpus_physical=1]", "a", "unknown"),
        ("rusage[ngpus_physical=(2 1):duration=(1 2)]", "a", "unknown"),
        ("select[ngpus>0] rusage[mem=5]", "a", None),
        ("2*{select[ngpus_physical>0]}+1*{rusage[mem=5]}", "a b c", None),
    ],
)
def test_gpus_of_other_requirements_of_lsf_are_counted_or_told(text, hosts, count):
    assert recorded_gpus(text, hosts) == count


def test_gpus_of_a_record_of_lsf_have_their_model():
    text = "rusage[ngpus_physical=2.00:gmodel=TeslaV100-32G]"
    (found,) = delivered_gpus("", text, "a b", "2")
    assert (found.text, found.attributes) == ("4", {"name": "GPU", "type": "TeslaV100-32G"})


@pytest.mark.parametrize(
    "text, count, model, kept",
    [
        ("num=2", 2, None, None),
        ("num=2/host:gmodel=a100", 2, "a100", None),
        (
            "num=2/task:mode=exclusive_process:j_exclusive=yes",
            8,
            None,
            "mode=exclusive_process:j_exclusive=yes",
        ),
        (
            "mode=shared:gmodel=TeslaV100-32G:mps=yes,nocvd:num=1:gmem=10G",
            1,
            "TeslaV100-32G",
            "mode=shared:mps=yes,nocvd:gmem=10G",
        ),
        ("num=1:mig=3/2:gtile='!':block=yes", 1, None, "mig=3/2:gtile='!':block=yes"),
        ("num=2:num=3", None, None, "num=2:num=3"),
        ("num=2/job", None, None, "num=2/job"),
        ("num=0", None, None, "num=0"),
        ("mode=shared", None, None, "mode=shared"),
        ("-", None, None, "-"),
    ],
)
def test_each_form_of_the_option_gpu_of_lsf_says_how_many(text, count, model, kept):
    script = f'#!/bin/sh\n#BSUB -n 4\n#BSUB -R "span[hosts=1]"\n#BSUB -gpu "{text}"\n./a\n'
    ((job, *_),) = read(script.encode(), "lsf")
    found = [(int(each.text), each.attributes.get("type"))
             for each in job.requested.all("Resource")]  # fmt: skip
    assert found == ([] if count is None else [(count, model)])
    said = [each.text for each in job.properties.all("Extension")
            if each.attributes.get("name") == "-gpu"]  # fmt: skip
    assert said == ([] if kept is None else [kept])


_WRITTEN_TO = {
    "sbatch": (scripted("sbatch"), "#SBATCH --mail-type=END --mail-user=\a"),
    "pbs": (scripted("pbs"), "#PBS -m e -M \a"),
    "lsf": (scripted("lsf"), "#BSUB -N -u \a"),
    "condor": (scripted("condor"), "notification = complete\nnotify_user = \a\nqueue"),
    "slurmrest": (
        lambda text: [found.job for found in read(text.encode(), "slurmrest")],
        '{"script": "#!/bin/sh\\n", "job": {"mail_type": ["END"], "mail_user": "\a"}}',
    ),
    "qstat": (
        shown_job("qstat-text", "@"),
        "Job Id: 7.s\n    job_state = Q\n    queue = q\n    Mail_Points = e\n    Mail_Users = \a\n",
    ),
    "condor_q": (
        shown_job("condor-q", "@"),
        '[{"ClusterId": 7, "JobStatus": 1, "JobNotification": 2, "NotifyUser": "\a"}]',
    ),
}


@pytest.mark.parametrize("road", _WRITTEN_TO)
@pytest.mark.parametrize("address", ["amy@example.org", "amy"])
def test_an_address_of_mail_is_the_same_uri_on_every_road(road, address):
    read_jobs, form = _WRITTEN_TO[road]
    (job,) = read_jobs(form.replace("\a", address))
    told = job.properties.get("NotificationList").attributes.get("uri")
    assert told == f"mailto:{address}" if "@" in address else told in (None, address)


@pytest.mark.parametrize("name, element", [("qos", "QualityOfService"), ("partition", "Partition")])
def test_what_torque_is_asked_for_by_other_names_is_the_same_on_every_road(name, element):
    roads = (
        recorded_job("pbs", _RECORD.replace("nodes", name)),
        shown_job("qstat-text", _SHOWN.replace("nodes", name)),
    )
    assert [read_jobs("x")[0].requested.text(element) for read_jobs in roads] == ["x", "x"]


@pytest.mark.parametrize(
    "member, text, rest",
    [
        ("dependency", "afterok:7_*,singleton", "singleton"),
        ("dependency", "afterok:7+5", "afterok:7+5"),
        ("licenses", "a:0", "a:0"),
        ("licenses", "a|b", "a|b"),
        ("reservation", "r7,r8", "r7,r8"),
        ("clusters", "a,b", "a,b"),
    ],
)
def test_what_no_job_object_says_is_kept_and_told_of_a_script_and_of_slurmrestd(member, text, rest):
    script = f"#!/bin/sh\n#SBATCH --{member}={text}\nexec /bin/date\n"
    request = f'{{"job": {{"{member}": "{text}", "script": "#!/bin/sh\\nexec /bin/date\\n"}}}}'
    for dialect, given in (("sbatch", script), ("slurmrest", request)):
        (found,) = read(given.encode(), dialect)
        assert [each for each in found.findings if rest in each.message or member in each.message]
        again = translate(found.job, dialect, Settings(residual=False)).text
        assert f"{member}={text}" in again or f'"{member}": "{text}"' in again


def test_a_licence_of_a_server_is_written_for_slurm_alone():
    (found,) = read(b"#!/bin/sh\n#SBATCH --licenses=matlab@srv:2\nexec /bin/date\n", "sbatch")
    made = {each: translate(found.job, each) for each in ("sbatch", "slurmrest", "lsf")}
    assert "--licenses=matlab@srv:2" in made["sbatch"].text
    assert '"licenses": "matlab@srv:2"' in made["slurmrest"].text
    assert [each for each in made["lsf"].losses if "Resource" in each.path]


@pytest.mark.parametrize(
    "name, more, limit",
    [
        ("RequestMemory", "", None),
        ("RequestDisk", "", None),
        ("RequestCpus", "", None),
        ("RequestGPUs", "", None),
        ("AllowedJobDuration", "", None),
        ("AllowedExecuteDuration", "", None),
        ("AllowedJobDuration", "AllowedExecuteDuration = 60\n", 60),
        ("AllowedExecuteDuration", "AllowedJobDuration = 90\n", 90),
    ],
)
def test_a_request_of_htcondor_below_0_is_kept_on_every_road(name, more, limit):
    ad = f"ClusterId = 7\nProcId = 0\nJobStatus = 4\n{name} = -1\n{more}"
    for read_jobs in (recorded_job("condor", "@"), shown_job("condor-q", "@")):
        (job,) = read_jobs(ad)
        kept = [(each.attributes["name"], each.text) for each in job.properties.all("Extension")]
        assert kept == [(name, "-1")]
        assert amount(job, "Duration") == limit
        asked = [each.name for each in job.requested] if job.requested else []
        assert asked == ["Duration"] * (limit is not None)


# What an ad asks for, by attribute: what it says, as a number or a text, and what that means.
REQUESTS = {
    "RequestCpus": ("Processors", "4", "1.5"),
    "RequestMemory": ("Memory", "1.5", "-2.5"),
    "RequestDisk": ("Disk", "1000", "-1"),
    "RequestGPUs": ("Resource", "2", "0.5"),
    "RequestFoo": ("Resource", "1.5", "-2"),
}
READERS = {"condor": recorded_job("condor", "@"), "condor-q": shown_job("condor-q", "@")}


def values_of(name):
    """What may stand in an attribute, the amount that it is, and the text that is kept of it."""
    _, amount, none = REQUESTS[name]
    for text in (amount, none):
        number = float(text) if "." in text else int(text)
        for value in (number, text):
            yield value, *((text, None) if text == amount else (None, text))
    yield from ((0, None, None), (float(10**30), None, str(int(1e30))))
    yield from ((True, None, "true"), ("some", None, "some"), ("it's = x", None, "it's = x"))


def all_requests():
    return [
        pytest.param(name, *told, id=f"{name} {told[0]!r}")
        for name in REQUESTS
        for told in values_of(name)
    ]


@pytest.mark.parametrize(("name", "value", "amount", "kept"), all_requests())
@pytest.mark.parametrize("hosts", [1, 3])
def test_a_request_of_htcondor_is_the_same_on_every_road(name, value, amount, kept, hosts):
    ad = Ad({"ClusterId": 7, "ProcId": 0, "JobStatus": 1, name: value}
            | ({"JobUniverse": 11, "MinHosts": hosts} if hosts > 1 else {}))  # fmt: skip
    told = {"condor job": to_job(ad).job}
    for form in forms.FORMS:
        text = "".join(forms.write([ad], form))
        told |= {f"{road}, {form}": read(text)[0] for road, read in READERS.items()}
    element, *_ = REQUESTS[name]
    expected = [] if amount is None else [units.decimal(Fraction(amount) * hosts)]
    for road, job in told.items():
        asked = job.requested.all(element) if job.requested else ()
        assert [each.text for each in asked] == expected, road
        extensions = {
            each.attributes["name"]: each.text for each in job.properties.all("Extension")
        }
        assert extensions.get(name) == kept, road
