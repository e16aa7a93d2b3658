"""Slurm records to documents: against a loop that only splits the same lines into fields.

The records are made here: a job has an allocation and up to three steps, names and times differ,
some hold what needs escaping, a delimiter or a line break. ``--count`` is the number of records.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from _generate import DATA
from _measure import Case, compare, options, program, sssjob

# fmt: off
COLUMNS = (
    "JobID", "JobIDRaw", "Cluster", "Partition", "Account", "Group", "User", "JobName", "Submit",
    "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "State", "ExitCode", "NCPUS", "NNodes",
    "NodeList", "NTasks", "ReqCPUS", "ReqNodes", "ReqMem", "TimelimitRaw", "QOS", "Priority",
    "TotalCPU", "MaxRSS", "AveRSS", "MaxVMSize", "AllocTRES", "ReqTRES", "Constraints",
    "Restarts", "Comment", "WorkDir", "SubmitLine",
)
# fmt: on
NAMES = ("wrap", "md_run", "Météo & Zürich", "blastn <nt>", "fit.R", "relax-17")
STATES = ("COMPLETED",) * 9 + ("FAILED", "TIMEOUT", "CANCELLED by 1000", "OUT_OF_MEMORY")

SPLIT = """
import sys
fields = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        fields += len(line.split("|"))
"""
JOBS = """
import sys
from sssjob.accounting import slurm
with open(sys.argv[1], "rb") as stream:
    for outcome in slurm.jobs(stream):
        pass
"""


def records(count: int, seed: int = 1) -> Iterator[str]:
    """So many records, each a line or more, behind their header."""
    chance = Random(seed)
    yield "|".join(COLUMNS)
    number, start, made = 1000, 1700000000, 0
    while made < count:
        number += 1
        start += chance.randrange(60)
        for row in _job(number, start, chance)[: count - made]:
            yield "|".join(row.get(name, "") for name in COLUMNS)
            made += 1


def _job(number: int, start: int, chance: Random) -> list[dict[str, str]]:
    cpus, elapsed = chance.choice((1, 2, 4, 16, 64, 128)), chance.randrange(1, 90000)
    nodes = max(1, cpus // 32)
    user = f"user{chance.randrange(200):03}"
    hours, minutes = elapsed // 3600, elapsed // 60 % 60
    spent = f"{hours // 24}-{hours % 24:02}:{minutes:02}:{elapsed % 60:02}"
    shared = {
        "JobID": str(number), "JobIDRaw": str(number), "Cluster": "colony", "Account": "chem",
        "Submit": str(start - 60), "Eligible": str(start - 60), "Start": str(start),
        "End": str(start + elapsed), "ElapsedRaw": str(elapsed), "Suspended": "00:00:00",
        "State": chance.choice(STATES), "ExitCode": "0:0", "NCPUS": str(cpus),
        "NNodes": str(nodes), "ReqCPUS": str(cpus), "ReqNodes": str(nodes), "TotalCPU": spent,
        "NodeList": f"fr15n[{number % 900}-{number % 900 + 3}]" if nodes > 1 else "fr15n07",
        "AllocTRES": f"cpu={cpus},mem={cpus * 2}G,node={nodes}",
    }  # fmt: skip
    allocation = shared | {
        "Partition": chance.choice(("batch", "long", "debug")), "Group": "chem", "User": user,
        "JobName": chance.choice(NAMES) if number % 50 else "a|b",
        "ReqMem": f"{cpus * 2}G", "TimelimitRaw": "1440",
        "QOS": "normal", "Priority": str(chance.randrange(10000)), "Restarts": "0",
        "AllocTRES": "billing=1," + shared["AllocTRES"], "WorkDir": f"/home/{user}/run",
        "ReqTRES": "billing=1," + shared["AllocTRES"],
        "Comment": "two\nlines" if number % 50 == 7 else "", "SubmitLine": "sbatch job.sh",
    }  # fmt: skip
    steps = [
        shared | {
            "JobID": f"{number}.{step}", "JobIDRaw": f"{number}.{step}", "JobName": step,
            "NTasks": "1", "MaxRSS": f"{chance.randrange(4000, 9000000)}K",
            "AveRSS": f"{chance.randrange(3000, 4000)}K", "MaxVMSize": "219468K",
        }
        for step in ("batch", "extern", "0")[: chance.randrange(4)]
    ]  # fmt: skip
    return [allocation, *steps]


def corpus(count: int) -> Path:
    """A file with so many records, made at the first time and kept in benchmarks/data."""
    path = DATA / f"sacct-{count}.txt"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(records(count)) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    chosen = options(__doc__, count=50_000).parse_args()
    file = corpus(chosen.count)
    compare(
        (
            Case("split every line", program(SPLIT, file)),
            Case("jobs", program(JOBS, file)),
            Case("convert to lines", sssjob("convert", "--from", "slurm", file)),
            Case("without steps", sssjob("convert", "--from", "slurm", "--no-steps", file)),
        ),
        chosen,
    )
