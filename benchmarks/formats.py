"""Structured records to documents: against a loop that reads the same lines and splits them.

With ``--targets`` the records of sites (``_site_records.py``) to all that jobs are written as:
against the documents of the same records.

``slurm-json`` is what ``sacct --json --allocations`` prints; with steps it is twice as large. What
JSON costs at least is told by a loop that decodes every job or ad and does nothing with it.
"""

import argparse

import _site_records
from _formats import log
from _measure import Case, compare, options, program, sssjob

SPLIT = """
import sys
fields = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        fields += len(line.split())
"""
DECODE = """
import sys
from sssjob.records import json_objects
with open(sys.argv[1], "rb") as stream:
    for _ in json_objects.read(stream, sys.argv[2] if len(sys.argv) > 2 else ""):
        pass
"""
TARGETS = ("jsonl", "parquet", "ur", "car", "apel")
AIM = 1.6  # times the documents
FORMATS = ("slurm-json", "slurm-json-steps", "condor", "condor-long", "apel", "ur", "car", "swf")
MEMBERS = {"slurm-json": ("jobs",), "slurm-json-steps": ("jobs",), "condor": ()}


def targets(chosen: argparse.Namespace) -> None:
    """Compare what the records of each batch system are written as."""
    for name in ("slurm", "pbs", "sge", "lsf", "condor"):
        words = ("convert", "--from", name, "--site", "X", _site_records.log(name, chosen.count))
        documents = sssjob(*words[:3], words[-1])
        cases = [Case(f"{name} to documents", documents)]
        cases += [Case(each, sssjob(*words, "--to", each), aim=AIM) for each in TARGETS]
        compare(cases, chosen)
        print()


if __name__ == "__main__":
    parser = options(__doc__, count=20_000, rounds=3)
    parser.add_argument("formats", nargs="*", default=FORMATS, help="which (all)")
    parser.add_argument("--targets", action="store_true", help="compare targets, not formats")
    chosen = parser.parse_args()
    if chosen.targets:
        targets(chosen)
        raise SystemExit
    for name in chosen.formats:
        file = log(name, chosen.count)
        known = name.removesuffix("-steps").removesuffix("-long")
        size = file.stat().st_size / chosen.count
        print(f"{name}, {size:.0f} bytes a job")
        cases = [Case("split every line", program(SPLIT, file))]
        if name in MEMBERS:
            cases.append(Case("decode every job", program(DECODE, file, *MEMBERS[name])))
        cases.append(Case("convert", sssjob("convert", "--from", known, file)))
        compare(cases, chosen)
        print()
