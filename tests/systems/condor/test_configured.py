# ruff: noqa: E501 (a case is a line)
"""A configuration of HTCondor explained, and what of it would not work."""

import pytest

from sssjob.systems.condor.configured import Configured, unusable
from sssjob.systems.condor.hooks.site import HookSite

OURS = "\n".join(HookSite("SSS", "/usr/libexec/sssjob", cron="--site x").lines()) + "\n"


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
    ("STARTD_CRON_JOBLIST = $(STARTD_CRON_JOBLIST) B", "it is not set, and B is a job of cron"),
    ("STARTD_CRON_SSSMJF_MODE = Oneshoot", "'Oneshoot' is no mode; did you mean OneShot?"),
    ("STARTD_CRON_SSSMJF_PERIOD = often", "a time such as 5m is expected: 'often'"),
    ("this is no variable", "it is no variable: 'this is no variable'"),
]


@pytest.mark.parametrize("lines, reason", WRONG, ids=[reason for _, reason in WRONG])
def test_what_would_not_work_is_told(lines, reason):
    found = problems(OURS + lines + "\n")
    assert any(reason in each for each in found), found


SURPRISES = [
    ("START = FALSE", "it is false: no slot takes a job"),
    ("PREEMPT = FALSE", "the Duration of one is not kept"),
    ("MaxJobRetirementTime = 3600", "may go on for 3600 s"),
    ("SLOT_TYPE_1 = 100%", "no such slot is made"),
    ("STARTD_CRON_X_EXECUTABLE = /x", "X is not in STARTD_CRON_JOBLIST"),
    ("OTHER_HOOK_JOB_EXIT = /x", "no keyword names these hooks"),
    ("SSS_HOOK_EVICT_CLAIM =", "comes back late"),
]


@pytest.mark.parametrize("lines, reason", SURPRISES, ids=[reason for _, reason in SURPRISES])
def test_what_may_surprise_is_told_and_is_no_error(lines, reason):
    assert problems(OURS + lines) == []
    assert any(reason in each for each in problems(OURS + lines, errors=False))


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


def test_macros_are_replaced_in_bounded_time_and_memory():
    told = Configured.read("A = $(B)/c\nB = /x\nC = $(NONE:/y)$(A)\n")
    assert (told.get("A"), told.get("c")) == ("/x/c", "/y/x/c")
    many = "".join(f"A{n} = {f'$(A{n + 1})' * 9}\n" for n in range(99))
    assert len(Configured.read(many + "A = $(A)\nB = $(C)\nC = $(B)\n").get("A0")) < 1 << 20
