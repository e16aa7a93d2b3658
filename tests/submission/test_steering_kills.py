"""Whoever holds, releases or cancels jobs may be killed at any moment: a later call heals."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest
from killing import between, killed
from pretended import COMMANDS, Pretended

from sssjob.document import read
from sssjob.submission import Busy, How, InFile, Order, SubmitOptions, steer, submit

COMMAND = Path(sys.executable).with_name("sssjob")
ME = pwd.getpwuid(os.geteuid()).pw_name
JOBS = "<JobGroup><Id>g</Id>{}</JobGroup>".format(
    "".join(f"<Job><Id>j{n}</Id><Executable>/bin/true</Executable></Job>\n" for n in range(3))
)
# How a state is called by the pretended commands, and in the document.
AFTER = {"hold": ("hold", "Hold"), "release": ("idle", "Idle"), "cancel": ("over", "Cancelled")}
# The command of each order, and words of it before the id.
GIVEN = {
    "slurm": {"hold": "scontrol hold", "release": "scontrol release", "cancel": "scancel"},
    "pbs": {"hold": "qhold", "release": "qrls", "cancel": "qdel"},
    "gridengine": {"hold": "qhold", "release": "qrls", "cancel": "qdel"},
    "lsf": {"hold": "bstop", "release": "bresume", "cancel": "bkill"},
    "condor": {"hold": "condor_hold", "release": "condor_release", "cancel": "condor_rm"},
    "flux": {"hold": "flux job urgency", "release": "flux job urgency", "cancel": "flux cancel"},
}


@pytest.fixture(params=sorted(COMMANDS))
def system(request, tmp_path, monkeypatch):
    """Each batch system."""
    found = Pretended(tmp_path / "batch", request.param, ME)
    monkeypatch.setenv("PATH", found.path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return found


def submitted(system, order):
    """A document of three jobs that are submitted, so that the order changes them."""
    Path("job.xml").write_text(JOBS)
    place = InFile(Path("job.xml"))
    return [
        each.id
        for each in submit(
            place, SubmitOptions(system.system, hold=order == "release"), How(seconds=600)
        )
    ]


def states():
    (found,) = read("job.xml")
    return [job.get("State") for job in found.jobs]


@pytest.mark.parametrize(
    "order, when", [("hold", "before"), ("release", "after"), ("cancel", "before")]
)
def test_an_order_that_is_killed_at_its_second_job_is_healed_by_a_later_call(system, order, when):
    ids = submitted(system, order)
    there, said = AFTER[order]
    given = f"{GIVEN[system.system][order]} {ids[1]}"
    old, before = states(), len(system.calls)
    system.fault(f"{given} {when} kill")
    done = subprocess.run([COMMAND, order, "job.xml"], capture_output=True, text=True, check=False)
    assert done.returncode == -9
    acknowledged = [line.split()[0] for line in done.stdout.splitlines()]
    assert acknowledged in ([], ids[:1])
    assert states() == [said, *old[1:]]  # what is done is written before it is told
    system.fault()
    again = [*steer(InFile(Path("job.xml")), Order(order), how=How(600))]
    assert [(each.state, each.why) for each in again] == [(said, "")] * 3
    assert states() == [said] * 3
    assert [each["state"] for each in system.jobs.values()] == [there] * 3
    given = [f"{GIVEN[system.system][order]} {id_}" for id_ in ids]
    calls = [sum(call.startswith(each) for call in system.calls[before:]) for each in given]
    assert calls == [1, 1, 1]  # the command that was running went on


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Slurm."""
    found = Pretended(tmp_path / "batch", "slurm", ME)
    monkeypatch.setenv("PATH", found.path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return found


@pytest.mark.parametrize("order", list(AFTER))
def test_wherever_an_order_is_killed_what_a_document_says_is_so_and_a_later_call_heals(
    slurm, order
):
    """At some of the calls of the system's functions, spread over all that there are."""
    there, said = AFTER[order]
    place, jobs = InFile(Path("job.xml")), slurm.root / "jobs.json"
    ids = submitted(slurm, order)
    old = Path("job.xml").read_text(), jobs.read_text()

    def steered():
        return [(each.state, each.why) for each in steer(place, Order(order), how=How(600))]

    moments = []
    between(steered, lambda: moments.append(len(moments)))
    for moment in moments[:: len(moments) // 4]:
        Path("job.xml").write_text(old[0])
        jobs.write_text(old[1])
        killed(steered, moment)
        [*steer(place, Order.HOLD, how=How(600), chosen=lambda job: False)]  # waits for its command
        now = [slurm.jobs[id_]["state"] for id_ in ids]
        assert all(state != said or is_ == there for state, is_ in zip(states(), now, strict=True))
        assert steered() == [(said, "")] * 3
        assert [slurm.jobs[id_]["state"] for id_ in ids] == [there] * 3
        assert 'name="order"' not in Path("job.xml").read_text()


@pytest.mark.parametrize("order", list(AFTER))
def test_a_command_that_outlives_who_called_it_is_waited_for(slurm, order):
    """What it is about to do is not seen yet, and done twice would be refused."""
    ids = submitted(slurm, order)
    there, said = AFTER[order]
    given = f"{GIVEN['slurm'][order]} {ids[1]}"
    slurm.fault(f"{given} before kill\n{given} before wait")
    done = subprocess.run([COMMAND, order, "job.xml"], capture_output=True, check=False)
    assert done.returncode == -9
    place = InFile(Path("job.xml"))
    with pytest.raises(Busy):
        [*steer(place, Order(order), how=How(600, patience=0))]
    (slurm.root / "go").touch()
    assert [each.state for each in steer(place, Order(order), how=How(600))] == [said] * 3
    assert [slurm.jobs[id_]["state"] for id_ in ids] == [there] * 3
    assert sum(call.startswith(given) for call in slurm.calls) == 1


def test_a_cancel_that_is_refused_leaves_no_word_in_the_document(slurm):
    """So that a job which ends by itself later was not cancelled."""
    submitted(slurm, "cancel")
    text = Path("job.xml").read_text()
    slurm.fault("scancel before fail")
    found = [*steer(InFile(Path("job.xml")), Order.CANCEL, how=How(600))]
    assert all("it does not work today" in each.why for each in found)
    assert Path("job.xml").read_text() == text
    slurm.fault()
    for id_ in slurm.jobs:
        slurm.becomes(id_, "over")
    assert {each.state for each in steer(InFile(Path("job.xml")), Order.CANCEL, how=How(600))} == {
        "Completed"
    }
