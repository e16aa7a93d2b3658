"""What a payload pays for its features: import and both directories, against bare reading.

Both run from bytecode, as an installed package does.
"""

import os
import tempfile
from pathlib import Path

from _measure import Case, compare, options, program

MACHINE = {
    "total_cpu": 16, "hs06": 151.25, "jobslots": 16, "phys_cores": 8, "log_cores": 16,
    "grace_secs": 3600,
}  # fmt: skip
JOB = {
    "allocated_cpu": 8, "cpu_limit_secs": 28800, "wall_limit_secs": 3600, "job_id": "PBS.1234.0",
    "max_rss_bytes": 2147483648, "max_swap_bytes": 1073741824, "scratch_limit_bytes": 20000000000,
    "jobstart_secs": 1700000000, "shutdowntime_job": 1700003600, "grace_secs_job": 600,
    "hs06_job": 75.63,
}  # fmt: skip

# Every file of both directories, read and turned into a number where it is one.
BARE = """
import os
found = {}
for variable in ("MACHINEFEATURES", "JOBFEATURES"):
    directory = os.environ[variable]
    for name in os.listdir(directory):
        with open(os.path.join(directory, name)) as file:
            text = file.read().strip()
        try:
            found[name] = float(text) if "." in text else int(text)
        except ValueError:
            found[name] = text
assert len(found) == 17
"""
OURS = """
from sssjob import features
given = features.here()
assert len(given.machine) + len(given.job) == 17 and not given.problems
"""
# A job of Slurm to which no site gave directories.
ELSEWHERE = """
import os
from sssjob import features
given = features.here({"SLURM_JOB_ID": "7", "SLURM_CPUS_ON_NODE": "4"}, "/")
assert given.job["allocated_cpu"] == 4
"""

CASES = (
    Case("bare reading", program(BARE)),
    Case("sssjob.features.here()", program(OURS), aim=1.5),
    Case("here() without directories", program(ELSEWHERE), aim=1.5),
    Case("python -c pass", program("pass")),
)


def directories(place: Path) -> None:
    """Write both directories and name them in the environment, from which the cases have it."""
    for variable, values in (("MACHINEFEATURES", MACHINE), ("JOBFEATURES", JOB)):
        directory = place / variable.lower()
        directory.mkdir()
        for name, value in values.items():
            (directory / name).write_text(f"{value}\n")
        os.environ[variable] = str(directory)


if __name__ == "__main__":
    chosen = options("What a payload pays for its features", rounds=30).parse_args()
    with tempfile.TemporaryDirectory() as place:
        directories(Path(place))
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(place, "bytecode"))
        compare(CASES, chosen)
