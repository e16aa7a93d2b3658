"""Accounting records to documents: each format against a loop that only takes its lines apart.

Every log holds the same jobs, as large sites have them. ``--count`` is their number. The loop
splits at the delimiter; of PBS at the keys, of LSF it reads texts in quotes.
"""

from _measure import Case, compare, options, program, sssjob
from _site_records import log

SPLIT = """
import sys
fields = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        fields += len(line.split(sys.argv[2]))
"""
PAIRS = """
import sys
fields = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        stamp, letter, id, text = line.split(";", 3)
        fields += len(dict(pair.split("=", 1) for pair in text.split()))
"""
QUOTED = """
import csv, sys
fields = 0
with open(sys.argv[1], encoding="utf-8", newline="") as lines:
    for row in csv.reader(lines, delimiter=" "):
        fields += len(row)
"""
JOBS = """
import sys
from sssjob import records
with open(sys.argv[1], "rb") as stream:
    for outcome in records.jobs("slurm", stream):
        pass
"""
# The loop of each format, and how many times it converting may take.
FORMATS = {
    "slurm": (SPLIT, "|", 6.0),
    "slurm-steps": (SPLIT, "|", 15.0),
    "sge": (SPLIT, ":", 5.0),
    "pbs": (PAIRS, "", 2.5),
    "lsf": (QUOTED, "", 3.0),
    "condor": (SPLIT, "|", 8.0),
}


def convert(name: str, count: int, *more: str) -> tuple[str, ...]:
    """The command that converts the log of one format."""
    format_ = name.removesuffix("-steps")
    return sssjob("convert", "--from", format_, "--to", "sss-lines", *more, log(name, count))


if __name__ == "__main__":
    parser = options(__doc__, count=50_000, rounds=3)
    parser.add_argument("--only", choices=FORMATS, help="one format alone")
    chosen = parser.parse_args()
    missed = 0
    for name in [chosen.only] if chosen.only else FORMATS:
        loop, delimiter, aim = FORMATS[name]
        taken_apart = program(loop, log(name, chosen.count), delimiter)
        cases = [
            Case(f"{name}: its lines taken apart", taken_apart),
            Case(name, convert(name, chosen.count), aim),
        ]
        if name == "slurm":
            cases.append(Case("slurm --workers 2", convert(name, chosen.count, "--workers", "2")))
            cases.append(Case("slurm to job objects", program(JOBS, log(name, chosen.count))))
        elif name == "slurm-steps":
            folded = convert(name, chosen.count, "--no-steps")
            cases.append(Case("slurm-steps, folded only", folded))
        try:
            compare(cases, chosen)
        except SystemExit as end:
            if end.code != 1:  # anything but an aim that is missed, of which --strict tells
                raise
            missed = 1
    raise SystemExit(missed)
