"""Each literal example of the chapter on execution points does here what the chapter says of it."""

import io
import re
import subprocess
from functools import partial
from pathlib import Path

import pytest
from classads_oracle import classad2, comparable, value_of

from sssjob.classads import evaluate, forms, writing
from sssjob.classads.parser import expression
from sssjob.classads.values import Ad, same
from sssjob.systems.condor import cron
from sssjob.systems.condor.configured import Configured
from sssjob.translate import engine

TEXT = (Path(__file__).parents[2] / "data/execution-point.txt").read_text()
PARTS = re.split(r"^== (\w+) (\d+)\n", TEXT, flags=re.MULTILINE)[1:]


def examples():
    found = {}
    for kind, line, text in zip(PARTS[::3], PARTS[1::3], PARTS[2::3], strict=True):
        if kind == "more":
            last = max(found)
            found[last] = found[last][0], found[last][1] + text
        else:
            found[int(line)] = kind, text
    return found


EXAMPLES = examples()
# What HTCondor finds out, and the macros that the chapter's policies are made of.
FOUND_OUT = "DETECTED_CORES = 8\nDETECTED_MEMORY = 16000\n"
# And what it says before of the resources of its slot types.
RESOURCES = EXAMPLES[117][1] + "MACHINE_RESOURCE_INVENTORY_GPUs = /usr/libexec/condor/discovery\n"
MACROS = FOUND_OUT + RESOURCES + EXAMPLES[1339][1]
DEFAULT = EXAMPLES[1362][1]  # which the policies behind it go on from
# Where the chapter itself is wrong: macros that it nowhere defines, and a missing bracket.
WRONG = {
    1418: {"WANT_SUSPEND", "WANT_VACATE"},
    1496: {"NonSuspendableSlotState"},
}  # fmt: skip
OF_KIND = {kind: [line for line, (each, _) in EXAMPLES.items() if each == kind]
           for kind, _ in EXAMPLES.values()}  # fmt: skip


def configured(line):
    text = EXAMPLES[line][1]
    if "<N>" in text:  # of any slot type
        text = "SLOT_TYPE_1 = 100%\nSLOT_TYPE_1_PARTITIONABLE = True\n" + text.replace("<N>", "1")
    for number in re.findall(r"^SLOT_TYPE_(\d+) ", text, re.MULTILINE):
        if f"NUM_SLOTS_TYPE_{number}" not in text:
            text += f"NUM_SLOTS_TYPE_{number} = 1\n"
    return Configured.read(MACROS + (DEFAULT if line > 1370 else "") + text)


def test_all_kinds_are_tried():
    assert set(OF_KIND) == {"config", "submit", "cron", "ads", "ad", "expression", "attribute", "script"}  # noqa: E501 # fmt: skip
    assert len(EXAMPLES) > 85


@pytest.mark.parametrize("line", OF_KIND["config"])
def test_a_configuration_is_read_whole_and_nothing_in_it_is_wrong(line):
    told = configured(line)
    assert told.odd == []
    found = {each.name for each in told.found(files=False) if each.is_error}
    hooks = {name for name in found if "HOOK" in name}
    if line not in (2412, 2616):  # which leave some hooks out
        assert hooks == set()
    assert found - hooks - {"PREEMPT", "WANT_HOLD"} == WRONG.get(line, set())


@pytest.mark.parametrize("line, name, meaning", [
    (91, "SLOT_TYPE_1", "1 static slot"), (128, "SLOT_TYPE_1", "1 partitionable slot"),
    (128, "SLOT_TYPE_2", "2 static slots"), (209, "SLOT_TYPE_1", "1 partitionable slot"),
    (117, "MACHINE_RESOURCE_Cogs", "given to jobs as RequestCogs"),
    (2412, "SLOT4_JOB_HOOK_KEYWORD", "for slot 4"),
    (2412, "DATABASE_HOOK_FETCH_WORK", "asked for a job"),
    (1694, "STARTD_CRON_TEST_EXECUTABLE", "OneShot"), (1694, "STARTD_CRON_DATE_EXECUTABLE", "15s"),
    (1694, "STARTD_CRON_FOO_EXECUTABLE", "10m"), (2073, "SLOT_TYPE_1", "1 partitionable slot"),
    (2073, "SLOT_TYPE_3", "2 static slots"),
])  # fmt: skip
def test_it_is_explained(line, name, meaning):
    [said] = [each for each in configured(line).said() if each.name.upper() == name.upper()]
    assert meaning in said.meaning


def test_hooks_of_a_directory_are_found_by_it():
    said = {each.name: each.value for each in configured(2412).said()}
    assert said["WEB_HOOK_FETCH_WORK"] == "/usr/local/condor/fetch/web/fetch_work.php"


def expressions():
    """Each variable of a configuration that is an expression, with its macros replaced."""
    for line in OF_KIND["config"]:
        told = configured(line)
        for name in Configured.read(EXAMPLES[line][1].replace("<N>", "1")).values:
            text = told.get(name)
            if "(" in text or "=" in text or text in ("True", "False"):
                yield line, name, text


SLOT = {"State": "Claimed", "Activity": "Idle", "SlotID": 1, "LoadAvg": 0.2, "CondorLoadAvg": 0.1,
        "KeyboardIdle": 2000, "Owner": "garrison", "ImageSize": 7, "ClockMin": 500, "ClockDay": 2,
        "CpuBusyTime": 0, "JobStart": 0, "EnteredCurrentState": 0, "EnteredCurrentActivity": 0,
        "Memory": 512, "Cpus": 1}  # fmt: skip
JOB = {"RequestCpus": 3, "RequestMemory": 1000, "RequestDisk": 1025, "Owner": "smith",
       "WantSomeDirMounted": True, "InteractiveJob": True}  # fmt: skip


def worth(text, slot=None):
    return evaluate.evaluate(expression(text, old=True), Ad(SLOT | (slot or {})), Ad(JOB), now=0)


# fmt: off
WORTH = [
    (440, "RANK", {}, True), (440, "RANK", {"Owner": "miles"}, False),
    (447, "RANK", {}, 10), (447, "RANK", {"Owner": "tyner"}, 1), (458, "RANK", {}, 7),
    (796, "START", {"Owner": "coltrane"}, True), (796, "START", {}, False),
    (796, "START", {"KeyboardIdle": 9, "Owner": "coltrane"}, False),
    (802, "START", {}, True),
    (1392, "WorkHours", {}, True), (1392, "WorkHours", {"ClockDay": 0}, False),
    (1392, "AfterHours", {"ClockMin": 1020}, True),
    (1418, "MAXJOBRETIREMENTTIME", {}, 0), (1418, "SUSPEND", {"IsDesktop": True}, False),
    (1549, "RANK", {}, True), (1549, "RANK", {"SlotID": 2}, False),
    (1792, "DOCKER_VOLUME_DIR_SOME_DIR_MOUNT_IF", {"Owner": "smith"}, True),
    (1848, "DOCKER_SHM_SIZE", {}, 512 * 1024 * 1024 // 2),
    (1852, "DOCKER_SHM_SIZE", {}, 2 << 30), (1852, "DOCKER_SHM_SIZE", {"DevShmSize": 9}, 9),
    (1852, "DOCKER_SHM_SIZE", {"DevShmSize": 1 << 40}, 2 << 30),
    (2115, "CONSUMPTION_MEMORY", {}, 1024), (2115, "CONSUMPTION_DISK", {}, 2048),
    (2115, "CONSUMPTION_CPUS", {}, 3),
    (2444, "FetchWorkDelay", {}, 0), (2444, "FetchWorkDelay", {"Activity": "Busy"}, 300),
    (2182, "HIBERNATE", {"EnteredCurrentState": -8000}, "RAM"), (2182, "HIBERNATE", {}, "NONE"),
]
# fmt: on


@pytest.mark.parametrize("line, name, slot, value", WORTH)
def test_an_expression_comes_to_what_the_chapter_says(line, name, slot, value):
    told = configured(line)
    if line == 2182:
        told = Configured.read(MACROS + EXAMPLES[2167][1] + EXAMPLES[2182][1])
    assert same(worth(told.get(name), slot), value)


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
def test_every_expression_is_worth_the_same_to_the_bindings():
    asked = 0
    mine, job = (classad2.ClassAd(writing.attribute(Ad(each), writing.NEW)) for each in (SLOT, JOB))
    for line, name, text in expressions():
        if name.upper() in {each.upper() for each in WRONG.get(line, ())} or "time()" in text:
            continue
        try:
            node = expression(text, old=True)
        except ValueError:
            continue  # no expression, such as the arguments of a program
        theirs = value_of(classad2.ExprTree(text).eval(mine, job))
        ours = evaluate.evaluate(node, Ad(SLOT), Ad(JOB), now=0)
        assert same(comparable(ours), theirs), (line, name, text)
        asked += 1
    assert asked > 50


def test_a_start_that_is_undefined_is_not_false():
    assert worth(EXAMPLES[417][1]) is False
    assert worth(EXAMPLES[417][1], {"START": False}) is True


# fmt: off
ASKED = {
    142: {("Resource", "cogs"): "2", ("Resource", "actuator"): "1"},
    222: {"Processors": "3", "Memory": "1 GB", "Disk": "10 MB"},
    1566: {"Processors": "1", "Memory": "1 GB", "Disk": "100 MB"},
    1577: {"Processors": "1", "Memory": "1 GB", "Disk": "100 MB"},
    1904: {"Processors": "1", "Memory": "1 GB", "Disk": "1 MB"},
    1926: {"Processors": "1", "Memory": "1 GB", "Disk": "1 MB"},
    2637: {},
}
# fmt: on


@pytest.mark.parametrize("line", OF_KIND["submit"])
def test_what_a_submit_file_asks_for_is_read(line):
    [read] = engine.read(EXAMPLES[line][1].encode(), "condor")
    asked = {}
    for item in read.job.requested if read.job.requested else ():
        name = item.attributes.get("name")
        units = item.attributes.get("units", "")
        asked[(item.name, name) if name else item.name] = f"{item.text} {units}".strip()
    for key, wanted in ASKED[line].items():
        assert asked[key] == wanted


@pytest.mark.parametrize("line", OF_KIND["attribute"] + OF_KIND["ad"])
def test_attributes_are_read(line):
    for text in EXAMPLES[line][1].splitlines():
        text = text.strip().removeprefix("+")
        [ad] = forms.read(io.BytesIO(text.encode()))
        [(name, value)] = ad.items()
        assert text.startswith(name)
        assert value == evaluate.evaluate(expression(text.partition("=")[2], old=True)) or value


def test_what_a_job_takes_is_no_longer_in_the_slot():
    [slot], [job], [rest] = (
        [{name: value for name, _, value in (each.partition(" = ") for each in
                                             EXAMPLES[line][1].split("\n") if each)}]
        for line in OF_KIND["ad"]
    )  # fmt: skip
    left = partial(evaluate.evaluate, now=0)
    for name in ("cpu", "memory"):
        assert left(expression(f"{slot[name]} - {job[f'request_{name}']}")) == int(rest[name])
    assert rest["disk"] == f"{slot['disk']}-{job['request_disk']}"


def test_names_are_added_where_there_are_names():
    text = EXAMPLES[122][1]
    assert not Configured.read(text).get("MACHINE_RESOURCE_NAMES")
    told = Configured.read("MACHINE_RESOURCE_NAMES = tapes\n" + text)
    assert told.get("MACHINE_RESOURCE_NAMES") == "tapes Cogs actuator"


@pytest.mark.parametrize("text, value", [
    ("if true\nA = 1\nelse\nA = 2\nendif\n", "1"),
    ("if False\nA = 1\nelse\nA = 2\nendif\n", "2"),
    ("if 0\nA = 1\nelif $(B:0)\nA = 2\nelse\nA = 3\nendif\n", "3"),
    ("B = yes\nif 0\nA = 1\nelif $(B)\nA = 2\nelse\nA = 3\nendif\n", "2"),
    ("if ! defined B\nA = 1\nendif\n", "1"),
    ("B = 1\nIF !defined B\nA = 1\nEndIf\n", ""),
    ("if false\nif true\nA = 1\nelse\nA = 2\nendif\nendif\n", ""),
    ("if version >= 8.1.6\nA = 1\nendif\n", "1"),
])  # fmt: skip
def test_what_stands_behind_a_condition_that_does_not_hold_is_not_read(text, value):
    told = Configured.read(text)
    assert (told.get("A"), told.odd) == (value, [])


def test_a_condition_that_nobody_began_is_told():
    assert Configured.read("A = 1\nendif\nelse\n").odd == [(2, "endif"), (3, "else")]


def test_the_hook_of_the_example_changes_the_executable(tmp_path):
    hook = tmp_path / "hook"
    hook.write_text(EXAMPLES[2624][1])
    hook.chmod(0o755)
    job = b'Cmd = "/usr/bin/java"\n'
    printed = subprocess.run([hook], input=job, capture_output=True, check=True).stdout
    [ad] = forms.read(io.BytesIO(printed))
    assert dict(ad.items()) == {"Cmd": "/usr/java/java5/bin/java"}


def test_slots_have_the_attributes_that_are_configured_for_them():
    told = configured(1614)
    [text] = (EXAMPLES[line][1] for line in OF_KIND["ads"])
    for number, block in re.findall(r"slot(\d):\n\n((?:.+\n)+)", text):
        for line in block.splitlines():
            name, _, value = line.partition(" = ")
            assert (told.get(f"SLOT{number}_{name}") or told.get(name)) == value


def test_the_output_of_a_cron_job_is_what_ours_prints():
    [text] = (EXAMPLES[line][1] for line in OF_KIND["cron"])
    blocks = re.split(r"^-.*\n", text, flags=re.MULTILINE)[:3]
    ours = [cron.lines({"Value": value}, "", slot) for value, slot in ((1, 1), (2, 2), (10, None))]
    assert [each.replace(" ", "") for each in ours] == blocks
