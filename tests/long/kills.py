"""Commands that are killed with signal 9 at random moments: what stands is whole, a rerun heals.

    python tests/long/kills.py [KILLS [SEED]]

Each row of the table is a command that changes something from one state to another. It is killed
so many times; after each kill what is there has to be one of the two states, and after a run that
is let alone the second one, with nothing beside it.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from sssjob import store
from sssjob.features import files

COMMAND = [str(Path(sys.executable).with_name("sssjob"))]
COUNT = 2000  # jobs of a document
HEADER = "JobID|JobName|State|ElapsedRaw|NCPUS\n"


def job(number, more=""):
    return f"<Job><Id>{number}</Id><State>Running</State>{more}</Job>"


def features(directory, number):
    """Words of a command that writes a directory of one job."""
    asked = f"<Processors>{number}</Processors><Memory>{number}</Memory>"
    document = f"<Job><Id>{number}</Id><Requested>{asked}</Requested></Job>"
    (directory / f"{number}.xml").write_text(document)
    return ["features", "job", f"{number}.xml", "job"]


def seen_features(directory):
    return tuple(sorted(files.texts(directory / "job")[0].items()))


def seen_file(name):
    return lambda directory: (directory / name).read_bytes() if (directory / name).exists() else b""


def records(directory):
    (directory / "sacct").write_text(
        HEADER + "".join(f"{number}|a|COMPLETED|60|4\n" for number in range(COUNT))
    )


def jobs(directory):
    (directory / "jobs.sss").write_text("\n".join(job(number) for number in range(COUNT)))


def converted(directory):
    records(directory)
    (directory / "out.sss").write_text("old")
    return ["convert", "--from", "slurm", "-o", "out.sss", "sacct"]


def delivered(directory):
    records(directory)
    jobs(directory)
    return ["deliver", "jobs.sss", "--record", "sacct", "--from", "slurm", "--in-place"]


def imported(directory):
    jobs(directory)
    store.open(directory / "jobs.db", create=True).close()
    return ["store", "import", "jobs.db", "jobs.sss"]


def seen_store(directory):
    with store.open(directory / "jobs.db") as found:
        assert not [*found.check()]
        return found.count()


class Case(NamedTuple):
    """A command that is prepared, what is seen of its effects, and what may stand besides."""

    prepare: Callable[[Path], list[str]]
    seen: Callable[[Path], object]
    beside: frozenset[str] = frozenset()


def rewritten(directory):
    words = features(directory, 1)
    subprocess.run([*COMMAND, *words], cwd=directory, check=True, capture_output=True)
    return features(directory, 22)


CASES = {
    "features": Case(rewritten, seen_features),
    "convert": Case(converted, seen_file("out.sss")),
    "deliver": Case(delivered, seen_file("jobs.sss")),
    "import": Case(imported, seen_store, frozenset({"jobs.db-wal", "jobs.db-shm"})),
}


def run(words, directory, moment=None):
    """Whether a command ended before the moment, in seconds, at which it is killed."""
    process = subprocess.Popen([*COMMAND, *words], cwd=directory, stdout=-3, stderr=-3)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    return process.wait() >= 0


def main(kills=200, seed=None):
    """Kill each command so many times."""
    number = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    random = Random(number)
    print(f"seed {number}")
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch, "work")
            directory.mkdir()
            words = case.prepare(directory)
            old, names = case.seen(directory), {*os.listdir(directory)}
            shutil.copytree(directory, Path(scratch, "kept"))
            begun = time.monotonic()
            run(words, directory)
            takes = time.monotonic() - begun
            new = case.seen(directory)
            assert old != new, name
            names |= {*os.listdir(directory)}
            ended = mixed = 0
            for _ in range(kills):
                shutil.rmtree(directory)
                shutil.copytree(Path(scratch, "kept"), directory)
                ended += run(words, directory, random.uniform(0, 1.1 * takes))
                found = case.seen(directory)
                mixed += found not in (old, new)
                run(words, directory)
                assert case.seen(directory) == new, name
                left = {*os.listdir(directory)} - names - case.beside
                assert not left, (name, left)
            print(f"{name}: {kills - ended} kills, {mixed} neither the old nor the new state")
            assert not mixed, name


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
