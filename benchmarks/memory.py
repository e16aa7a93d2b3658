"""How much memory reading, checking and converting take at most, for few jobs and for many.

Memory is what it is about, so each runs once. `--count 1000000` for a million jobs.
"""

import json
from pathlib import Path

from _generate import DATA, corpus
from _measure import options, program, run, sssjob
from reading import OURS

AIM = 40  # MiB, whatever the number of jobs
FEW = 10_000

HEADER = "JobID|JobName|User|Account|Partition|State|ExitCode|Start|End|ElapsedRaw|AllocCPUS|NNodes"


def records(count: int) -> Path:
    """A file as `sacct --parsable2` prints it, with a job and its batch step in turn."""
    path = DATA / f"sacct-{count}.txt"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        with path.open("w", encoding="utf-8") as out:
            print(HEADER, file=out)
            for number in range(1, count + 1):
                for name in (f"{number}", f"{number}.batch"):
                    print(
                        f"{name}|run|amy|chem|batch|COMPLETED|0:0|2024-05-01T10:00:00|"
                        "2024-05-01T10:10:00|600|16|1",
                        file=out,
                    )
    return path


def commands(count: int) -> dict[str, tuple[str, ...]]:
    """What is measured, by name."""
    jobs = corpus(count)
    return {
        "reading": program(OURS, jobs),
        "sssjob validate": sssjob("validate", "--quiet", jobs),
        "sssjob convert": sssjob("convert", "--from", "slurm", records(count)),
    }


if __name__ == "__main__":
    parser = options("Peak memory", count=200_000, rounds=1)
    chosen = parser.parse_args()
    peaks = [
        (name, count, run(command).peak)
        for count in (FEW, chosen.count)
        for name, command in commands(count).items()
    ]
    if chosen.json:
        keys = ("name", "count", "peak", "aim")
        print(json.dumps([dict(zip(keys, (*row, AIM), strict=True)) for row in peaks], indent=2))
    else:
        for name, count, peak in peaks:
            over = "  over" if peak > AIM else ""
            print(f"{name:16}  {count:8} jobs  {peak:6.1f} MiB of {AIM}{over}")
    if chosen.strict and any(peak > AIM for _, _, peak in peaks):
        raise SystemExit(1)
