"""Reading lrmsinfo and simulating the queue, against one literal_eval of every line.

By default 100 000 jobs: 5 000 run, the others wait, in 50 queues for 40 VOs, most with a cap.
"""

import random
from pathlib import Path

from _measure import Case, compare, options, program, sssjob

DATA = Path(__file__).parent / "data"
NOW = 1_795_184_574
SLOTS = 5_000
QUEUES, VOS = 50, 40

LITERAL_EVAL = """
import ast, sys
with open(sys.argv[1]) as lines:
    jobs = [ast.literal_eval(line) for line in lines if line[0] == "{"]
"""
READ = """
import sys
from sssjob.lcginfo import lrmsinfo
with open(sys.argv[1], "rb") as stream:
    snapshot = lrmsinfo.read(stream)
"""


def lrmsinfo(count: int) -> list[str]:
    """The lines of a busy site; the same ones at every call."""
    chance = random.Random(count)
    lines = [f"nactive {SLOTS}", "nfree 0", f"now {NOW}", "schedCycle 120"]
    for number in range(count):
        limit = chance.choice((3600, 43200, 172800, 345600))
        job: dict[str, object] = {
            "queue": f"queue{chance.randrange(QUEUES)}",
            "state": "running" if number < SLOTS else "queued",
            "group": f"vo{chance.randrange(VOS)}",
            "user": f"pool{chance.randrange(500):03}",
            "maxwalltime": float(limit),
            "qtime": float(NOW - limit - chance.randrange(limit)),
            "jobid": f"{number}.ce.example.org",
            "name": chance.choice(("cream_123456789", "it's {me}", "run")),
        }
        if number < SLOTS:
            job["start"] = float(NOW - chance.randrange(limit))
        lines.append(repr(job))
    return lines


def corpus(count: int) -> tuple[Path, Path]:
    """The jobs and the caps, made at the first time and kept in benchmarks/data."""
    jobs, caps = DATA / f"lrmsinfo-{count}.txt", DATA / "vomaxjobs.txt"
    if not jobs.exists():
        DATA.mkdir(exist_ok=True)
        jobs.write_text("\n".join(lrmsinfo(count)) + "\n", encoding="utf-8")
    caps.write_text(repr({f"vo{number}": 100 + 10 * number for number in range(VOS - 8)}) + "\n")
    return jobs, caps


if __name__ == "__main__":
    chosen = options(__doc__, count=100_000).parse_args()
    jobs, caps = corpus(chosen.count)
    estimate = ("lcginfo", "estimate", "--json", "--lrms", jobs, "--caps", caps)
    compare(
        (
            Case("literal_eval of every line", program(LITERAL_EVAL, jobs)),
            Case("read", program(READ, jobs)),
            Case("read and simulate", sssjob(*estimate), aim=10),
            Case("read and explain", sssjob(*estimate, "--explain")),
        ),
        chosen,
    )
