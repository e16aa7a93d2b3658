# ruff: noqa: E501 (a case is a line)
"""A configuration of HTCondor explained, and what of it would not work."""

import os
import pwd
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sssjob.systems.condor.configured import Configured
from sssjob.systems.condor.executables import unusable
from sssjob.systems.condor.hooks import site

DAEMON = pwd.getpwnam("daemon")
OURS = "\n".join(site.HookSite("SSS", "/usr/libexec/sssjob", cron="--site x").lines()) + "\n"


def problems(text, *, errors=True):
    return [
        f"{each.name}: {each.text}"
        for each in Configured.read(text).found(files=False)
        if each.is_error or not errors
    ]


def test_what_we_print_for_a_site_has_nothing_wrong_with_it():
    assert problems(OURS, errors=False) == []
    assert problems("PREEMPT = FALSE\nWANT_HOLD = MY.X\nSTARTD_CRON_JOBLIST = A\n"
                    "STARTD_CRON_A_EXECUTABLE = /a\nSTARTD_CRON_A_MODE = OneShot\n" + OURS) == []  # fmt: skip


WRONG = [
    ("SSS_HOOK_FETCHWORK = /x", "HTCondor has no hook of this name; did you mean FETCH_WORK?"),
    ("SSS_HOOK_FETCH_WORK = /x --y", "a path and nothing else is expected"),
    ("SSS_HOOK_FETCH_WORK = x", "an absolute path is expected: x"),
    (
        "SLOT1_JOB_HOOK_KEYWORD = SSX",
        "no SSX_HOOK_FETCH_WORK or other hook is set; did you mean SSS?",
    ),
    ("SSS_HOOK_FETCH_WORK =", "SSS_HOOK_FETCH_WORK is not set: no slot fetches a job"),
    ("SSS_HOOK_JOB_EXIT =", "how a job ended is never known"),
    ("START = (1 +", "START: it is no expression"),
    ("PREEMPT = $(A)\nA = $(B)\nB = ) (", "PREEMPT: it is no expression"),
    ("STARTER_UPDATE_INTERVAL = 5m", "whole seconds are expected: 5m"),
    ("NUM_SLOTS_TYPE_1 = 1", "SLOT_TYPE_1 is not set"),
    ("NUM_SLOTS_TYPE_1 = 2\nSLOT_TYPE_1 = 60%", "the slots have 120% of all together"),
    (
        "NUM_SLOTS_TYPE_1 = 3\nSLOT_TYPE_1 = cpus=1, memory=1/2",
        "the slots have 150% of memory together",
    ),
    ("NUM_SLOTS_TYPE_11 = 1\nSLOT_TYPE_11 = 1%", "MAX_SLOT_TYPES is 10"),
    (
        "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 100%\nSLOT2_JOB_HOOK_KEYWORD = SSS",
        "there is no slot 2: there is 1 slot",
    ),
    (
        "NUM_CPUS = 4\nNUM_SLOTS_TYPE_1 = 3\nSLOT_TYPE_1 = cpus=4",
        "the slots have 12 of 4 cpus together",
    ),
    (
        "DETECTED_CPUS = 4\nNUM_SLOTS_TYPE_1 = 8\nSLOT_TYPE_1 = 10%",
        "the slots have 8 of 4 cpus together",
    ),
    (
        "NUM_CPUS = 2*2\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = c=4\nNUM_SLOTS_TYPE_2 = 2\nSLOT_TYPE_2 = m=1",
        "0 of 4 cpus are left for 2 slots that share the rest",
    ),
    (
        "DETECTED_MEMORY = 4000\nNUM_SLOTS_TYPE_1 = 3\nSLOT_TYPE_1 = Mem=3000",
        "the slots have 9000 of 4000 memory together",
    ),
    (
        "DETECTED_MEMORY = 4000\nRESERVED_MEMORY = 500\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = ram=3600",
        "the slots have 3600 of 3500 memory together",
    ),
    (
        "DETECTED_MEMORY = 4000\nMEMORY = 1000\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = ram=50%\nNUM_SLOTS_TYPE_2 = 1\nSLOT_TYPE_2 = m=600",
        "the slots have 1100 of 1000 memory together",
    ),
    (
        "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cpus=4,gpus=3\nMACHINE_RESOURCE_GPUs = 2",
        "the slots have 3 of 2 gpus together",
    ),
    (
        "NUM_SLOTS_TYPE_1 = 2\nSLOT_TYPE_1 = gpus=2\nMACHINE_RESOURCE_GPUs = CUDA0, CUDA1 CUDA2",
        "the slots have 4 of 3 gpus together",
    ),
    (
        "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cpus=1,tapes=1",
        "SLOT_TYPE_1: tapes: no MACHINE_RESOURCE_tapes is set",
    ),
    (
        "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cogs=1\nMACHINE_RESOURCE_cogs = 2\nMACHINE_RESOURCE_NAMES = gpus",
        "no MACHINE_RESOURCE_cogs is set",
    ),
    (
        "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cpus=50%, mem=abc",
        "SLOT_TYPE_1: 'mem=abc' is no amount",
    ),
    ("NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cpus=-1", "'cpus=-1' is no amount"),
    ("NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cpus=1/0", "'cpus=1/0' is no amount"),
    ("NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 4", "'4' is a number of nothing"),
    ("NUM_SLOTS_TYPE_1 = x\nSLOT_TYPE_1 = 1%", "NUM_SLOTS_TYPE_1: a whole number is expected: 'x'"),
    ("NUM_SLOTS_TYPE_1 = -2\nSLOT_TYPE_1 = 1%", "a whole number is expected: '-2'"),
    (
        "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 1%\nSLOT_TYPE_1_PARTITIONABLE = maybe",
        "true or false is expected: 'maybe'",
    ),
    ("NUM_SLOTS = 5\nNUM_CPUS = 4", "5 slots are more than 4 cpus"),
    ("NUM_CPUS = many", "NUM_CPUS: a whole number is expected: 'many'"),
    ("MAX_SLOT_TYPES = -1", "MAX_SLOT_TYPES: a whole number is expected: '-1'"),
    ('FetchWorkDelay = "x"', 'FetchWorkDelay: seconds are expected: "x"'),
    ("FetchWorkDelay = -5", "FetchWorkDelay: seconds are expected: -5"),
    ('MachineMaxVacateTime = "x"', 'MachineMaxVacateTime: seconds are expected: "x"'),
    ("MaxJobRetirementTime = true", "MaxJobRetirementTime: seconds are expected: true"),
    (
        "SSS_HOOK_JOB_EXIT_TIMEOUT = abc",
        "SSS_HOOK_JOB_EXIT_TIMEOUT: whole seconds are expected: abc",
    ),
    ('START = "yes"', 'START: true or false is expected: "yes"'),
    ("RANK = {1}", "RANK: a number is expected: {1}"),
    (
        "STARTD_CRON_SSSMJF_MODE = Periodic\nSTARTD_CRON_SSSMJF_PERIOD = 0s",
        "a time such as 5m is expected: '0s'",
    ),
    ("STARTD_CRON_JOBLIST = $(STARTD_CRON_JOBLIST) B", "it is not set, and B is a job of cron"),
    ("STARTD_CRON_SSSMJF_MODE = Oneshoot", "'Oneshoot' is no mode; did you mean OneShot?"),
    ("STARTD_CRON_SSSMJF_PERIOD = often", "a time such as 5m is expected: 'often'"),
    ("STARTD.SSS_HOOK_FETCH_WORK = x", "STARTD.SSS_HOOK_FETCH_WORK: an absolute path is expected"),
    ("STARTER.SSS_HOOK_JOB_EXIT = x", "STARTER.SSS_HOOK_JOB_EXIT: an absolute path is expected"),
    ("STARTD.START = (1 +\nSTART = TRUE", "STARTD.START: it is no expression"),
    ("STARTD.START = $(START) ||\nSTART = TRUE", "STARTD.START: it is no expression"),
    ("IS_OWNER = 1 +", "IS_OWNER: it is no expression"),
    ("MACHINE_RESOURCE_Tapes = -3", "MACHINE_RESOURCE_Tapes: a number of them, or the id of each"),
    (
        "MACHINE_RESOURCE_Tapes = 2.5\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = tapes=3",
        "the slots have 3 of 2.5 tapes together",
    ),
    ('STARTD_CRON_SSSMJF_ARGS = "a \'b"', "STARTD_CRON_SSSMJF_ARGS: "),
    ('STARTD_CRON_SSSMJF_ENV = "A=1 B"', "STARTD_CRON_SSSMJF_ENV: "),
    ("this is no variable", "it is no variable: 'this is no variable'"),
    ("SLOT1_START = )", "SLOT1_START: it is no expression"),
    ("CONSUMPTION_CPUS = quantize(", "CONSUMPTION_CPUS: it is no expression"),
    ("SLOT_TYPE_1_CONSUMPTION_MEMORY = )", "SLOT_TYPE_1_CONSUMPTION_MEMORY: it is no expression"),
    ("JOB_DEFAULT_REQUESTCPUS = )", "JOB_DEFAULT_REQUESTCPUS: it is no expression"),
    ("SLOT_3_JOB_HOOK_KEYWORD = SSS", "did you mean SLOT3_JOB_HOOK_KEYWORD"),
    (
        "STARTD_CRON_JOBLIST = A\nSTARTD_CRON_A_EXECUTABLE = /x\nSTARTD_CRON_A_PERIOD = 5m\n"
        "STARTD_CRON_A_SLOTS = 1,x",
        "numbers of slots are expected",
    ),
    (
        "STARTD_CRON_SSSMJF_PREIFX = x",
        "STARTD_CRON_SSSMJF_PREIFX: HTCondor has no variable of this name; did you mean PREFIX?",
    ),
    ("STARTD_CRON_SSSMJF_SLOT = 1", "no variable of this name; did you mean SLOTS?"),
    (
        "STARTD_CRON_SSSMJF_Colour = 1",
        "STARTD_CRON_SSSMJF_Colour: HTCondor has no variable of this",
    ),
    ("STARTD_CRON_JOBLST = A", "no variable of this name; did you mean JOBLIST?"),
    ("STARTD_CRON_SSSMJF_KILL = maybe", "STARTD_CRON_SSSMJF_KILL: true or false is expected"),
    ("STARTD_CRON_SSSMJF_RECONFIG = x", "STARTD_CRON_SSSMJF_RECONFIG: true or false is expected"),
    ("STARTD_CRON_SSSMJF_RECONFIG_RERUN = 2", "RERUN: true or false is expected: '2'"),
    ("STARTD_CRON_SSSMJF_JOB_LOAD = x", "a load such as 0.01 is expected, at most 100: 'x'"),
    ("STARTD_CRON_SSSMJF_JOB_LOAD = -1", "a load such as 0.01 is expected, at most 100: '-1'"),
    ("STARTD_CRON_SSSMJF_JOB_LOAD = true", "a load such as 0.01 is expected, at most 100: 'true'"),
    ("STARTD_CRON_MAX_JOB_LOAD = 101", "STARTD_CRON_MAX_JOB_LOAD: a load such as 0.01 is expected"),
    ("STARTD_CRON_SSSMJF_CONDITION = 1 +", "STARTD_CRON_SSSMJF_CONDITION: it is no expression"),
    ("STARTD_CRON_SSSMJF_METRICS = SUM:a, b", "SUM:name or PEAK:name is expected: 'b'"),
    ("X @=end\nY = 1", "it has no end: 'X @=end'"),
    ("if true\nY = 1", "it has no endif"),
    ("endif", "no if is open"),
]


@pytest.mark.parametrize("lines, reason", WRONG, ids=[reason for _, reason in WRONG])
def test_what_would_not_work_is_told(lines, reason):
    found = problems(OURS + lines + "\n")
    assert any(reason in each for each in found), found


RIGHT = [
    "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cpus=60%, 40%\nNUM_SLOTS_TYPE_2 = 1\nSLOT_TYPE_2 = cpus=40%, 60%",
    "NUM_CPUS = 4\nNUM_SLOTS_TYPE_1 = 4\nSLOT_TYPE_1 = auto",
    "NUM_CPUS = 4\nNUM_SLOTS_TYPE_1 = 3\nSLOT_TYPE_1 = 30%", "NUM_CPUS = 4\nNUM_SLOTS = 4",
    "NUM_SLOTS_TYPE_1 = 2*2\nSLOT_TYPE_1 = C=1 ram = 1/4, VIRT=25%,d=auto",
    "DETECTED_MEMORY = 4000\nNUM_SLOTS_TYPE_1 = 4\nSLOT_TYPE_1 = mem=1000\nNUM_SLOTS_TYPE_2 = 0\nSLOT_TYPE_2 = mem=9999, odd=1",
    "NUM_SLOTS_TYPE_1 = 2\nSLOT_TYPE_1 = disk=100%\nSLOT1_EXECUTE = /a\nSLOT2_EXECUTE = /b",
    "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = gpus=2 : Capability >= 8.0\nuse feature : GPUs",
    "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cogs=2, cpus=1\nMACHINE_RESOURCE_INVENTORY_Cogs = /x",
    "FetchWorkDelay = ifThenElse(State == \"Claimed\", 0, 300)", "FetchWorkDelay = 5 * 60",
    "STARTER_UPDATE_INTERVAL = 5 * 60", "SSS_HOOK_JOB_EXIT_TIMEOUT = 30", "RANK = TARGET.Department == \"a\"",
    "STARTD.SSS_HOOK_JOB_EXIT = x", "STARTER.SSS_HOOK_FETCH_WORK = x", "SCHEDD.START = (",
    "START = x\nSTARTD.START = $(START) && 1", "STARTD_CRON_SSSMJF_ARGS = \"a 'b c'\"", "STARTD_CRON_SSSMJF_ARGS = a 'b",
    "STARTD_CRON_SSSMJF_KILL = TRUE\nSTARTD_CRON_SSSMJF_JOB_LOAD = 0.01 * 2\nSTARTD_CRON_MAX_JOB_LOAD = 100",
    "STARTD_CRON_sssmjf_Reconfig_Rerun = f\nSTARTD_CRON_SSSMJF_CONDITION = TotalGPUs > 0\nSTARTD_CRON_SSSMJF_CWD = /",
    "STARTD_CRON_SSSMJF_METRICS = SUM:GPUsSeconds, PEAK:GPUsMB\nSTARTD_CRON_SSSMJF_SLOTS = 1, 2",
    "STARTD_CRON_AUTOPUBLISH = If_Changed\nSTARTD_CRON_DIR = /x\nSTARTD_CRON_SSSMJF_CWD = $(STARTD_CRON_DIR)",
    "STARTD_CRON_JOBLIST = A, A_B\nSTARTD_CRON_A_EXECUTABLE = /x\nSTARTD_CRON_A_PERIOD = 1h\nSTARTD_CRON_A_B_EXECUTABLE = /x\n"
    "STARTD_CRON_A_B_MODE = OneShot\nSTARTD_CRON_A_B_KILL = yes",
    "START = 1", "MachineMaxVacateTime = 10 * 60", "NUM_CPUS = $(DETECTED_CORES)*2\nNUM_SLOTS = 9",
]  # fmt: skip


def test_a_dump_of_nothing_is_an_error():
    assert (
        problems("")
        == problems("# comment\n")
        == ["all of it: no variable is in it; it is to be what condor_config_val -dump prints"]
    )


def test_types_beyond_the_last_are_told_once_and_count_for_nothing():
    many = "".join(
        f"NUM_SLOTS_TYPE_{n} = 1\nSLOT_TYPE_{n} = odd{n}=1, 50%\n" for n in range(11, 3000)
    )
    told = problems(OURS + many)
    assert {each.partition(": ")[2] for each in told} == {"MAX_SLOT_TYPES is 10"}
    assert len(told) == 2989


@pytest.mark.parametrize("lines", RIGHT)
def test_what_works_has_nothing_wrong_with_it(lines):
    assert problems(OURS + lines + "\n") == []


SURPRISES = [
    ("NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = disk=1000", "a part of it is expected, such as 25%"),
    ("NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = cpus=1 cpu=2", "cpu: cpus is said twice"),
    ("START = FALSE", "it is false: no slot takes a job"),
    ("STARTD.PREEMPT = FALSE", "STARTD.PREEMPT: it says nothing of fetched jobs"),
    ("FetchWorkDelay = NoSuch", "without NoSuch in STARTD_ATTRS it is undefined"),
    ("PREEMPT = FALSE", "the Duration of one is not kept"),
    ("MaxJobRetirementTime = 3600", "may go on for 3600 s"),
    ("SLOT_TYPE_1 = 100%", "no such slot is made"),
    ("STARTD_CRON_X_EXECUTABLE = /x", "X is not in STARTD_CRON_JOBLIST"),
    (
        "STARTD_CRON_SSMJF_PERIOD = 5m",
        "SSMJF is not in STARTD_CRON_JOBLIST: it is not run; did you mean SSSMJF?",
    ),
    ("OTHER_HOOK_JOB_EXIT = /x", "no keyword names these hooks"),
    ("SSS_HOOK_EVICT_CLAIM =", "comes back late"),
    ("START = undefined", "it is undefined: no slot takes a job"),
    ("START = Foo", "no slot takes a job, unless slot or job says Foo"),
    ("PREEMPT = True", "each job is evicted as soon as it runs"),
    ("SUSPEND = True", "each job is suspended as soon as it runs"),
    ("KILL = True", "a job that is to leave is killed at once"),
    ("PREEMPT = undefined", "PREEMPT: it is undefined, which HTCondor takes for false"),
    ("SUSPEND = undefined", "SUSPEND: it is undefined, which HTCondor takes for false"),
    ("KILL = undefined", "KILL: it is undefined, which HTCondor takes for false"),
    ("SLOT1_PREEMPT = False", "SLOT1_PREEMPT: it says nothing of fetched jobs"),
    (
        "SLOT_TYPE_2 = 50%\nNUM_SLOTS_TYPE_2 = 1\nSLOT_TYPE_2_WANT_HOLD = False",
        "SLOT_TYPE_2_WANT_HOLD: it says nothing of fetched jobs",
    ),
]


@pytest.mark.parametrize("lines, reason", SURPRISES, ids=[reason for _, reason in SURPRISES])
def test_what_may_surprise_is_told_and_is_no_error(lines, reason):
    assert problems(OURS + lines) == []
    assert any(reason in each for each in problems(OURS + lines, errors=False))


OF_JOBS = [
    "START = ( (MY.SlotID == 1) && (TARGET.InteractiveJob =?= True) )",
    "START = TARGET.JobUniverse =?= 5",
    'START = TARGET.Owner =?= "coltrane"',
    "START = (TARGET.Foo ?: 0) > 3",
    "START = SlotID == 1 && TARGET.RequestGPUs =!= undefined",
    'START = versionGE(split(TARGET.CondorVersion)[1], "23") =?= true',
    "START = ! isUndefined(TARGET.Owner)",
    "START = Foo ? True : False",
    "START = Foo || False",
    "PREEMPT = TARGET.Foo =!= True",
    "PREEMPT = isUndefined(TARGET.Owner)",
    "SUSPEND = Foo && True",
    "KILL = {Foo}[0] is undefined",
    'START = eval("TARGET.Foo") =?= 1',
    'PREEMPT = isUndefined(ifThenElse(true, Eval("TARGET.Foo"), 1))',
]


@pytest.mark.parametrize("line", OF_JOBS)
def test_a_policy_that_depends_on_the_job_is_not_said_to_be_always_so(line):
    told = problems(OURS + line + "\n", errors=False)
    assert not [each for each in told if "it is true" in each or "it is false" in each]
    assert problems(OURS + line + "\n") == []


WHATEVER = [
    ("START = TARGET.Foo && False", "it is false"),
    ("START = ! (Foo || True)", "it is false"),
    ("START = True ? False : Foo", "it is false"),
    ("PREEMPT = (Foo =?= 1) || 1 > 0", "it is true"),
    ("SUSPEND = False ? Foo : True", "it is true"),
]


@pytest.mark.parametrize("line, told", WHATEVER)
def test_a_policy_that_is_so_whatever_the_job_is_is_told(line, told):
    assert any(told in each for each in problems(OURS + line + "\n", errors=False))


@pytest.mark.parametrize(
    "mode, above, reason",
    [
        (0o755, 0o755, ""),
        (0o644, 0o755, "cannot be executed by its owner"),
        (0o757, 0o755, "can be changed by everybody"),
        (0o755, 0o777, "can be changed by everybody"),
    ],
)
def test_a_program_that_htcondor_would_not_run_is_told(tmp_path, mode, above, reason):
    program = tmp_path / "hook"
    program.touch()
    program.chmod(mode)
    tmp_path.chmod(above)
    assert reason in unusable(str(program))
    assert bool(unusable(str(program))) == bool(reason)
    assert unusable(str(tmp_path)).endswith("is no file")
    assert "No such file" in unusable(f"{program}x")


@pytest.mark.parametrize("is_hook", [False, True])
@pytest.mark.parametrize("how", ["file", "directory", "above", "link", "place of a link", "sticky"])
def test_a_program_that_everybody_can_change_is_told_wherever_they_can(tmp_path, is_hook, how):
    """HTCondor itself looks at a hook and at its directory alone, and at nothing else it runs."""
    room = tmp_path / "a" / "b"
    room.mkdir(parents=True)
    (program := room / "program").touch(0o755)
    named = tmp_path / "program"
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "link").symlink_to("../a/b/program")
    named.symlink_to(tmp_path / "links" / "link")
    path = named if how in ("link", "place of a link") else program
    assert unusable(str(path), is_hook=is_hook) == ""
    opened = {"directory": room, "above": room.parent, "sticky": room.parent,
              "place of a link": tmp_path / "links"}.get(how, program)  # fmt: skip
    opened.chmod(0o1777 if how == "sticky" else 0o777)
    told = unusable(str(path), is_hook=is_hook)
    if how == "sticky":  # nobody puts another one in the place of what is there
        assert told == ""
    elif how == "link" and is_hook:
        assert told == f"{named} can be changed by everybody, and HTCondor runs no such hook"
    else:
        assert told.startswith(f"{opened} can be changed by everybody, and HTCondor runs ")


def test_programs_of_cron_and_of_resources_that_everybody_can_change_are_told(tmp_path):
    (program := tmp_path / "program").touch()
    program.chmod(0o777)
    for name in ("STARTD_CRON_SSSMJF_EXECUTABLE", "MACHINE_RESOURCE_INVENTORY_Cogs"):
        told = Configured.read(f"{OURS}{name} = {program}\n").found()
        expected = f"{program} can be changed by everybody, and HTCondor runs what is there"
        assert (name, expected) in [(each.name, each.text) for each in told]


@pytest.fixture
def place():
    """A directory of root that all may pass, with hooks of ours and documents."""
    with TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        for each in ("a", "a/jobs", "b", "c"):
            (place / each).mkdir()
        hooks = site.wrappers([f"--documents={place}/a/jobs"])
        site.write(str(place / "b" / "hooks"), hooks)
        os.chown(place / "a" / "jobs", DAEMON.pw_uid, DAEMON.pw_gid)
        yield place


def found_of(place):
    lines = "\n".join(site.HookSite("SSS", str(place / "b" / "hooks")).lines())
    ids = f"CONDOR_IDS = {DAEMON.pw_uid}.{DAEMON.pw_gid}"
    told = Configured.read(f"{lines}\n{ids}\n").found()
    return {(each.name.removeprefix("SSS_HOOK_"), each.text) for each in told if each.is_error}


OF_STARTD = {"FETCH_WORK", "REPLY_FETCH", "EVICT_CLAIM"}
OF_STARTER = {"PREPARE_JOB_BEFORE_TRANSFER", "PREPARE_JOB", "UPDATE_JOB_INFO", "JOB_EXIT"}


# decision 888
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask as another user")
def test_whoever_runs_a_hook_has_to_get_to_it_and_to_what_it_works_with(place):
    assert found_of(place) == set()
    daemon = f"uid {DAEMON.pw_uid}"
    closed = place / "b"
    closed.chmod(0o700)
    assert found_of(place) == {
        *((name, f"{closed} does not let {daemon} pass") for name in OF_STARTD),
        *((name, f"{closed} does not let the users of jobs pass") for name in OF_STARTER),
    }
    os.chown(closed, 0, DAEMON.pw_gid)
    closed.chmod(0o750)  # of its group is condor alone
    assert {name for name, _ in found_of(place)} == OF_STARTER
    closed.chmod(0o755)
    (place / "b" / "hooks" / "fetch-work").chmod(0o700)
    assert {name for name, _ in found_of(place)} == {"FETCH_WORK"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask as another user")
@pytest.mark.parametrize("kind", ["directory", "store"])
def test_documents_that_condor_cannot_write_or_users_cannot_pass_are_told(place, kind):
    jobs, daemon = place / "a" / "jobs", f"uid {DAEMON.pw_uid}"
    if kind == "store":
        jobs = place / "a" / "jobs.db"
        jobs.touch()
        for each in (place / "a", jobs):
            os.chown(each, DAEMON.pw_uid, DAEMON.pw_gid)
        site.write(str(place / "b" / "hooks"), site.wrappers([f"--documents={jobs}"]))
    assert found_of(place) == set()
    state = place / "a" / ("jobs/.condor" if kind == "directory" else "jobs.db.condor")
    state.mkdir()
    os.chown(state, DAEMON.pw_uid, DAEMON.pw_gid)
    assert found_of(place) == set()
    state.chmod(0o700)
    (state / "spool").mkdir()
    os.chown(state / "spool", DAEMON.pw_uid, DAEMON.pw_gid)
    [(_, told)] = found_of(place)
    assert told == f"{state} does not let the users of jobs pass"
    state.chmod(0o711)
    os.chown(jobs, 0, 0)
    [(_, told)] = found_of(place)
    assert told == f"{jobs} cannot be written by {daemon}"
    (place / "a").chmod(0o700)
    os.chown(place / "a", 0, 0)
    [(_, told)] = found_of(place)
    assert told == f"{place}/a does not let {daemon} pass"
    (place / "a").rename(place / "d")
    [(_, told)] = found_of(place)
    assert told == f"{jobs} is not there, where the documents are to be"


def test_links_in_a_circle_are_no_program(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "Too many levels" in unusable(str(tmp_path / "a"))


def test_macros_are_replaced_in_bounded_time_and_memory():
    told = Configured.read("A = $(B)/c\nB = /x\nC = $(NONE:/y)$(A)\n")
    assert (told.get("A"), told.get("c")) == ("/x/c", "/y/x/c")
    many = "".join(f"A{n} = {f'$(A{n + 1})' * 9}\n" for n in range(99))
    assert len(Configured.read(many + "A = $(A)\nB = $(C)\nC = $(B)\n").get("A0")) < 1 << 20


@pytest.mark.parametrize("line", [
    "FetchWorkDelay = $RANDOM_INTEGER(60,300)", "START = $ENV(X)", "NUM_CPUS = $INT(N)",
    "SLOT_TYPE_1 = cpus=$INT(N), memory=$REAL(Y)\nNUM_SLOTS_TYPE_1 = 1",
    "SLOT_TYPE_1 = cpus=1\nNUM_SLOTS_TYPE_1 = $EVAL(N)", "MachineMaxVacateTime = $INT(N,%d)",
    "STARTER_UPDATE_INTERVAL = $RANDOM_CHOICE(30,60)", "SSS_HOOK_JOB_EXIT_TIMEOUT = $INT(N)",
    "SSS_HOOK_FETCH_WORK = $F(X)",
])  # fmt: skip
def test_what_htcondor_calculates_when_it_reads_it_is_not_judged(line):
    assert problems(f"{OURS}{line}\n") == []
    assert any("HTCondor calculates it" in each for each in problems(OURS + line, errors=False))


@pytest.mark.parametrize(
    "line, said, is_error",
    [
        ("include : /etc/x", "line 1: what '/etc/x' sets is not read; condor_config_val", False),
        ("@include ifexist : $(X)/x", "line 1: what '$(X)/x' sets is not read;", False),
        ("include command into /y : /bin/x", "line 1: what '/bin/x' sets is not read;", False),
        ("KILL : False", "line 1: KILL: HTCondor warns of ':' in the place of '='", False),
        ("error : stop", "line 1: HTCondor reads no configuration with this in it", True),
    ],
)
def test_lines_that_set_nothing_themselves_are_told_as_what_they_are(line, said, is_error):
    [found] = [each for each in Configured.read(f"{line}\nA = 1").found() if "line" in each.name]
    assert f"{found.name}: {found.text}".startswith(said)
    assert found.is_error == is_error


def test_a_policy_that_adds_to_what_htcondor_knows_is_an_expression():
    text = "PREEMPT = $(PREEMPT) || X\nSUSPEND = $(SUSPEND) || $(StateTimer) > 3 * $(MINUTE)\n"
    assert [each.text for each in Configured.read(text).found()] == []


@pytest.mark.parametrize(
    "text, name, told",
    [
        ("NUM_SLOTS = 2\nSLOT3_PREEMPT = X", "SLOT3_PREEMPT", "there is no slot 3: there are 2"),
        ("NUM_SLOTS = 1\nSLOT2_JOB_HOOK_KEYWORD = S", "SLOT2_JOB_HOOK_KEYWORD", "there is no slot"),
        ("NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 100%\nSLOT2_START = X", "SLOT2_START",
         "there is no slot 2: there is 1 slot"),
        ("NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 100%\nSLOT_TYPE_2_START = X", "SLOT_TYPE_2_START",
         "no slot is of the type 2"),
        ("SLOT1_START = False", "SLOT1_START", "it is false: none of these slots takes a job"),
        ("S_HOOK_FETCH_WORK = $(LIBEXEC)/f", "S_HOOK_FETCH_WORK", "$(LIBEXEC) in it is not set"),
        ("use x : y\nSTART = $(A) && X\nA = $(B)", "START", "$(B) in it is not set here, so that"),
        ("START = $(A) && X", "START", "it is no expression: '&& X' at character 1, where a value, a "
         "name or a bracket is expected; $(A) in it is not set here"),
        ("NUM_CPUS = 1\nSLOT9_PREEMPT = X\nSLOT_TYPE_9_PREEMPT = X", "", ""),
    ],
)  # fmt: skip
def test_what_is_of_no_slot_or_not_known_is_told(text, name, told):
    found = [each for each in Configured.read(text).found() if "HOOK_..." not in each.name]
    about = [each.text for each in found if each.name == name or not name]
    assert about if name else not about
    assert not name or any(text.startswith(told) for text in about)
