"""Accounting records to documents: against a loop that splits the same jobs' sacct lines.

Every log holds the same jobs. ``--count`` is their number; a figure for records with steps and
for the three events of each job of PBS, is still one for jobs.
"""

from _measure import Case, compare, options, program, sssjob
from _records import log

SPLIT = """
import sys
fields = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        fields += len(line.split("|"))
"""
JOBS = """
import sys
from sssjob import records
with open(sys.argv[1], "rb") as stream:
    for outcome in records.jobs("slurm", stream):
        pass
"""

# fmt: off
# Of the split loop's time: 9 % of its speed for sacct, and for the others what comes to the jobs
# that were aimed for where the loop reads 1.2 million lines a second.
AIMS = {
    "slurm": 11.1, "slurm-steps": 20.0, "pbs": 24.0, "sge": 12.0, "lsf": 48.0,
    "slurm-jobcomp": None,
}
# fmt: on


def convert(name: str, count: int, *more: str) -> tuple[str, ...]:
    """The command that converts the log of one format."""
    format_ = name.removesuffix("-steps")
    return sssjob("convert", "--from", format_, "--to", "sss-lines", *more, log(name, count))


if __name__ == "__main__":
    chosen = options(__doc__, count=50_000, rounds=3).parse_args()
    sacct = log("slurm", chosen.count)
    compare(
        (
            Case("split every sacct line", program(SPLIT, sacct)),
            *(Case(name, convert(name, chosen.count), aim) for name, aim in AIMS.items()),
            Case("slurm-steps, folded only", convert("slurm-steps", chosen.count, "--no-steps")),
            Case("slurm --jobs 2", convert("slurm", chosen.count, "--jobs", "2")),
            Case("slurm to job objects", program(JOBS, sacct)),
        ),
        chosen,
    )
