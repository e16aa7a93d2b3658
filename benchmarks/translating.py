"""What other systems say, to job objects and back: against libraries that read or fill the like.

``squeue --json`` is that of Slurm 24.11, some 9 kB a job; ``json.loads`` takes it as a whole.
"""

import json
from pathlib import Path

from _measure import Case, compare, options, program, sssjob

ROOT = Path(__file__).parents[1]
PRINTED = ROOT / "tests/data/lcginfo/slurm-24.11/squeue.json"
LOADS = """
import json, sys
with open(sys.argv[1], "rb") as stream:
    json.loads(stream.read())
"""


def squeue(count: int) -> Path:
    """The queue of a Slurm with so many jobs, made of the jobs of a real one."""
    file = Path(__file__).parent / "data" / f"squeue-{count}.json"
    if not file.exists():
        document = json.loads(PRINTED.read_bytes())
        jobs = document["jobs"]
        document["jobs"] = [
            {**jobs[place % len(jobs)], "job_id": place + 1, "name": f"job-{place}",
             "user_name": f"user{place % 50}"}
            for place in range(count)
        ]  # fmt: skip
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(document, indent=2))
    return file


if __name__ == "__main__":
    chosen = options(__doc__, count=20_000, rounds=3).parse_args()
    queue = squeue(chosen.count)
    print(f"squeue --json, {queue.stat().st_size / chosen.count:.0f} bytes a job")
    compare(
        [
            Case("json.loads", program(LOADS, queue)),
            Case("status", sssjob("status", "--from", "squeue-json", queue), aim=1),
        ],
        chosen,
    )
