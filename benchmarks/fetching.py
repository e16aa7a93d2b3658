"""Fetching jobs from a store, as slots do, one by one: of many against as many of few.

The hooks are called in one process, which accepts each job, too. Half of the many were taken
before.
"""

import io
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from _measure import Case, compare, options, program

from sssjob import store
from sssjob.systems.condor.hooks import programs
from sssjob.systems.condor.hooks.settings import HookSettings

AIM = 1.1
FEW, MANY = 500, 1000
TAKEN = 40  # in one round
SLOT = b'Name = "slot1@n1"\nCpus = 4\nMemory = 4096\nDisk = 1000000\nSSSRunsAs = "root"\n'
FETCH = """
import sys

sys.path.insert(0, sys.argv[1])
from fetching import taken

taken(sys.argv[2], int(sys.argv[3]))
"""


def call(path: str, hook: str, text: bytes, *words: str) -> bytes:
    """What a hook answers to what it is told; all documents were looked at a moment ago."""
    answer = io.TextIOWrapper(io.BytesIO())
    sys.stdin = io.TextIOWrapper(io.BytesIO(text))
    with redirect_stdout(answer):
        programs.run(hook, HookSettings(path, refresh=100_000), words)
    return answer.buffer.getvalue()


def taken(path: str, count: int) -> None:
    """Fetch so many jobs of a store, and accept them."""
    for _ in range(count):
        ad = call(path, "fetch-work", SLOT)
        assert ad
        call(path, "reply-fetch", ad + b"-----\n" + SLOT, "accept")


def filled(path: str, count: int) -> str:
    """A store with so many jobs of which no more than ``FEW`` are not taken."""
    with store.open(path, create=True) as jobs, jobs.change() as work:
        for number in range(count):
            job = f"<Job><Id>{number}</Id><User>root</User><Executable>/bin/true</Executable></Job>"
            work.put(job.encode())
    taken(path, count - FEW)
    return path


def cases(place: Path) -> list[Case]:
    """As many jobs of each store."""
    here = Path(__file__).parent
    return [
        Case(
            f"{TAKEN} of {count} jobs",
            program(FETCH, here, filled(str(place / f"{count}.db"), count), str(TAKEN)),
            aim,
        )
        for count, aim in ((FEW, None), (MANY, AIM))
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        compare(cases(Path(place)), options(__doc__, rounds=9).parse_args())
