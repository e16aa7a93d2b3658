"""The same jobs in the text of every format, as the programs of the benchmarks make them."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
COUNT = 60

TIMES = ("SubmitTime", "StartTime", "EndTime")
GIVEN = ("Duration", "Processors", "NodeCount", "Nodes", "User", "Project", "Queue")
USED = ("CpuDuration", "Memory", "ExitCode")

# fmt: off
# The program that makes the records of a format, its name for them, and what they must carry.
MADE = {
    "slurm":         ("_records.py", "slurm-steps",      {*TIMES, *GIVEN, *USED}),
    "slurm-json":    ("_formats.py", "slurm-json-steps", {*TIMES, *GIVEN, *USED}),
    "slurm-jobcomp": ("_records.py", "slurm-jobcomp",    {*TIMES, *GIVEN, "ExitCode"}),
    "pbs":           ("_records.py", "pbs",              {*TIMES, *GIVEN, *USED} - {"Project"}),
    "sge":           ("_records.py", "sge",              {*TIMES, *GIVEN, *USED} - {"Queue"}),
    "lsf":           ("_records.py", "lsf",              {*TIMES, *GIVEN, *USED}),
    "condor":        ("_formats.py", "condor",
                      {*TIMES, *USED, "Duration", "Processors", "User", "Project"}),
    "condor-long":   ("_formats.py", "condor-long",
                      {*TIMES, *USED, "Duration", "Processors", "User", "Project"}),
    "apel":          ("_formats.py", "apel",
                      {*GIVEN, "StartTime", "EndTime", "CpuDuration", "Memory"} - {"Nodes"}),
    "ur":            ("_formats.py", "ur",
                      {*GIVEN, "StartTime", "EndTime", "CpuDuration", "Memory"}),
    "car":           ("_formats.py", "car",
                      {*GIVEN, *USED, "StartTime", "EndTime"} - {"Nodes"}),
    "swf":           ("_formats.py", "swf",
                      {*TIMES, "Duration", "Processors", "CpuDuration"}),
}
# fmt: on


def made(program, name):
    command = [sys.executable, BENCHMARKS / program, name, "/dev/stdout", "--count", str(COUNT)]
    return subprocess.run(command, capture_output=True, check=True).stdout
