"""What of a list of dependencies a job object can hold is read; the rest of it is kept and told."""

import pytest
from meanings import shown_job

from sssjob.translate import Settings, read, translate

# A dialect, its option, a list, the jobs that are waited for, and the rest.
LISTS = [
    ("sbatch", "#SBATCH --dependency=", "afterok:1,singleton,afterany:2", ["1", "2"], "singleton"),
    ("sbatch", "#SBATCH --dependency=", "afterok:1:x,afternotok:3", ["3"], "afterok:1:x"),
    ("sbatch", "#SBATCH --dependency=", "afterok:1?singleton", [], "afterok:1?singleton"),
    ("pbs", "#PBS -W depend=", "afterok:1.s@s:2[],before:4", ["1.s", "2[]"], "before:4"),
    ("pbs", "#PBS -W depend=", "afterok:1@other,afterany:2", ["2"], "afterok:1@other"),
    ("torque", "#PBS -W depend=", "on:2,afterok:7.head", ["7.head"], "on:2"),
    ("sge", "#$ -hold_jid ", "5,step*,6", ["5", "6"], "step*"),
]


@pytest.mark.parametrize(("target", "option", "value", "ids", "rest"), LISTS)
def test_a_list_is_read_one_by_one(target, option, value, ids, rest):
    script = f"#!/bin/sh\n{option}{value}\nexec /bin/date\n"
    (found,) = read(script.encode(), target)
    assert [item.text for item in found.job.properties.all("Dependency")] == ids
    assert [each.message for each in found.findings if rest in each.message]
    again = translate(found.job, target, Settings(residual=False)).text
    (line,) = (line for line in again.splitlines() if line.startswith(option))
    assert all(part in line for part in (*ids, rest))


@pytest.mark.parametrize("value", ["afterok:1.s@s:2[],before:4", "afterok:1@other,afterany:2"])
def test_a_script_and_a_live_job_of_pbs_wait_for_the_same(value):
    text = f"Job Id: 7.s\n    job_state = H\n    queue = q\n    depend = {value}\n"
    (live,) = shown_job("qstat-text", "@")(text)
    (found,) = read(f"#!/bin/sh\n#PBS -W depend={value}\nexec /bin/date\n".encode(), "pbs")
    assert waits(live) == waits(found.job)


def waits(job):
    """What a job waits for: OnSuccess where nothing says so."""
    return [
        (item.text, item.attributes.get("condition", "OnSuccess"))
        for item in job.properties.all("Dependency")
    ]
