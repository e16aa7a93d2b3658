"""Parsing job ads in the long form: against the bindings of HTCondor (`classad2`).

They are given a hundred ads at a time: of a long text, each ad costs them more than the one before.
"""

import tempfile
from pathlib import Path

from _measure import Case, compare, options, program

ATTRIBUTES = 60  # plain values beside the ones below, as a schedd has them
EXPRESSIONS = (
    "MemoryUsage = ((ResidentSetSize + 1023) / 1024)\n"
    'Requirements = (TARGET.Arch == "X86_64") && (TARGET.Memory >= RequestMemory)\n'
    "PeriodicHold = (JobStatus == 2) && (ResidentSetSize =?= undefined ? false : true)\n"
    'Cmd = "/usr/local/bin/run \\"it\\""\n'
)
OURS = """
import sys
from sssjob.classads import forms
with open(sys.argv[1], "rb") as stream:
    count = sum(1 for _ in forms.read(stream, "long"))
assert count == int(sys.argv[2])
"""
THEIRS = """
import sys, classad2
from itertools import groupby
with open(sys.argv[1]) as stream:
    count = 0
    block = []
    for filled, lines in groupby(stream, lambda line: line != "\\n"):
        if filled:
            block.append("".join(lines))
        if len(block) == 100:
            count += sum(1 for _ in classad2.parseAds("\\n".join(block), classad2.ParserType.Old))
            block = []
    count += sum(1 for _ in classad2.parseAds("\\n".join(block), classad2.ParserType.Old))
assert count == int(sys.argv[2])
"""


def write(path: Path, count: int) -> None:
    """So many ads, each another one."""
    with open(path, "w") as stream:
        for number in range(count):
            stream.write(f'ClusterId = {number}\nGlobalJobId = "s#{number}.0#1795184872"\n')
            for name in range(ATTRIBUTES):
                value = (number * name, f'"text {number} {name}"', "true", f"{number}.5")[name % 4]
                stream.write(f"Attribute{name} = {value}\n")
            stream.write(f"{EXPRESSIONS}\n")


if __name__ == "__main__":
    chosen = options(__doc__, count=100_000, rounds=3).parse_args()
    with tempfile.TemporaryDirectory() as place:
        ads = Path(place) / "ads"
        write(ads, chosen.count)
        compare(
            (
                Case("classad2.parseAds", program(THEIRS, ads, str(chosen.count))),
                Case("sssjob.classads", program(OURS, ads, str(chosen.count)), aim=2.5),
            ),
            chosen,
        )
