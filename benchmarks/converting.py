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
ROWS = """
import sys
from sssjob import records
from sssjob.ledger.building import RowsBuilder
from sssjob.records.record import Options
with open(sys.argv[1], "rb") as stream:
    found = records.read_records(records.find("slurm"), stream, Options(), RowsBuilder())
    for outcome in found:
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


LINE_BY_LINE = """
import sys
from sssjob.__main__ import main
from sssjob.records.regular import ROAD
ROAD.open(is_open=False)
sys.argv[1:] = ["convert", "--from", "slurm", "--to", "sss-lines", sys.argv[1]]
main()
"""


def line_by_line(name: str, count: int) -> tuple[str, ...]:
    """The same where numpy and pyarrow are not installed, or nothing is regular."""
    return program(LINE_BY_LINE, log(name, count))


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
            rows = program(ROWS, log(name, chosen.count))
            cases.append(Case("slurm to rows of a ledger", rows, 3.5))
            cases.append(Case("slurm, line by line", line_by_line("slurm", chosen.count)))
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
