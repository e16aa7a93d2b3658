"""How long a hook of HTCondor takes from its start to its exit: against `python -c "import lxml"`.

A hook is started for every job. What is measured are the programs that `sssjob condor config`
writes, when they have nothing else to wait for: documents that are known, reports folded later.
"""

import os
import shlex
import subprocess
import tempfile
import time
from pathlib import Path

from _measure import Case, compare, options, program, sssjob

from sssjob.systems.condor.hooks.site import wrappers, write

AIM = 2.0
SETTLED = 2.5  # seconds
SLOT = 'Name = "slot1@n1"\nCpus = 4\nMemory = 4096\nDisk = 1000000\nTotalCpus = 8\n'
JOB = (
    'ClusterId = 7\nProcId = 0\nCmd = "/bin/true"\nOwner = "amy"\nAllowedJobDuration = 600\n'
    'Requirements = (TARGET.Arch == "X86_64") && (TARGET.Memory >= RequestMemory)\n'
    'Environment = "A=1"\nRequestMemory = 100\nJobStartDate = 1000\nJobPid = 7\n'
    'GlobalJobId = "ce#7.0#1700000000"\n'  # as every job of a schedd has
)


def fed(command: tuple[str, ...], file: Path | str, **environment: object) -> tuple[str, ...]:
    """The command with a file as its standard input."""
    variables = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in environment.items())
    return ("sh", "-c", f"{variables} exec {shlex.join(command)} < {shlex.quote(str(file))}")


def cases(place: Path) -> list[Case]:
    """The hooks, over an empty directory of jobs; then the command that an installation makes."""
    jobs, slot, job = place / "jobs", place / "slot.ad", place / "job.ad"
    jobs.mkdir()
    os.utime(jobs, (0, 0))  # nothing came for a while: of the last two seconds nobody can tell
    slot.write_text(SLOT)
    job.write_text(JOB)
    hooks = place / "hooks"
    where = (
        f"--documents={jobs}", f"--state={place / 'state'}", "--fold=never", "--refresh=3600",
    )  # fmt: skip
    write(str(hooks), wrappers(where))
    paths = {"_CONDOR_SCRATCH_DIR": place, "_CONDOR_MACHINE_AD": slot}
    fetch = fed((str(hooks / "fetch-work"),), slot)
    # What a queue has to give away is noted once the times of its file have settled.
    for _ in range(2):
        subprocess.run(fetch, check=True)
        time.sleep(SETTLED)
    return [
        Case('python -c "import lxml"', fed(program("import lxml"), "/dev/null")),
        Case('python -c "import lxml.etree"', fed(program("import lxml.etree"), "/dev/null")),
        Case("prepare-job", fed((str(hooks / "prepare-job"),), job, **paths), AIM),
        Case("update-job-info", fed((str(hooks / "update-job-info"),), job), AIM),
        Case("job-exit", fed((str(hooks / "job-exit"), "exit"), job), AIM),
        Case("fetch-work, no work", fetch, AIM),
        Case("sssjob condor job-exit", fed(sssjob("condor", "job-exit", *where, "exit"), job)),
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        compare(cases(Path(place)), options(__doc__, rounds=20).parse_args())
