"""Verbs by two workers against one: by the clock, and what all processes took together.

Beside each ratio stands its bound: two runs by one process, side by side, in the time of one after
the other. Cores share caches, memory and power, so two of them seldom do twice the work of one; the
first line tells how much of that they do where processes only compute.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from _generate import corpus
from _measure import Run, options, program, run, sssjob
from _records import log

from sssjob import store

QUERY = "//Job[Delivered/Processors > 12]/Id"
UNKNOWN = "//Job[Environment/Variable='/usr/bin:/home/amy']/Id"  # no column of a store tells
FORMATS = ("slurm", "pbs", "sge")
AIM = 0.6  # of the time of one, by the clock
COMPUTING = "x = 0\nfor i in range(9_000_000):\n    x += i * i % 7"
FRESH = """
import os, sys
for end in ("", "-wal", "-shm"):
    if os.path.exists(sys.argv[1] + end):
        os.remove(sys.argv[1] + end)
os.execv(sys.argv[2], sys.argv[2:])
"""


class Turn(NamedTuple):
    """One process, two workers, and two processes with one each, in seconds."""

    one: Run
    two: Run
    beside: float


class Verb(NamedTuple):
    """The commands of a verb with so many processes; the last place keeps two runs apart."""

    name: str
    arguments: tuple[str | Path, ...]
    fills: Path | None = None  # a store that is made anew each time

    def command(self, count: int, place: int = 0) -> tuple[str, ...]:
        """What to run."""
        if self.fills is None:
            return sssjob(*self.arguments, "--workers", str(count))
        target = self.fills.with_suffix(f".{place}.db")
        whole = sssjob("store", "import", "--workers", str(count), target, *self.arguments)
        return program(FRESH, target, *whole)


def beside(commands: Sequence[tuple[str, ...]]) -> float:
    """How long commands take that run at once."""
    started = time.perf_counter()
    nowhere = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, nowhere, number) for number in (0, 1, 2)]
    pids = [
        os.posix_spawnp(command[0], list(command), os.environ, file_actions=actions)
        for command in commands
    ]
    ended = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    os.close(nowhere)
    if any(ended):
        sys.exit(f"exit {ended} of: {commands[0]}")
    return time.perf_counter() - started


def measured(verb: Verb, rounds: int) -> list[Turn]:
    """The runs of a verb in turn, after one round that only warms the caches."""
    return [
        Turn(
            run(verb.command(1)), run(verb.command(2)),
            beside([verb.command(1, place) for place in (1, 2)]),
        )
        for _ in range(rounds + 1)
    ][1:]  # fmt: skip


def computing(rounds: int) -> str:
    """What two processes that only compute take side by side, of the time one after the other."""
    command = program(COMPUTING)
    bounds = [beside([command, command]) / 2 / run(command).wall for _ in range(rounds)]
    return f"{'only computing':14}  {'':21}  {statistics.median(bounds):7.2f}"


def line(name: str, turns: Sequence[Turn]) -> tuple[str, float]:
    """The medians of a verb as a row, and its ratio."""
    median = statistics.median
    ratio = median(turn.two.wall / turn.one.wall for turn in turns)
    bound = median(turn.beside / 2 / turn.one.wall for turn in turns)
    one, two = [turn.one for turn in turns], [turn.two for turn in turns]
    walls = [median(each.wall for each in runs) for runs in (one, two)]
    cpus = [median(each.cpu for each in runs) for runs in (one, two)]
    over = "  over" if ratio > AIM else ""
    return (
        f"{name:14}  {walls[0]:6.2f}  {walls[1]:6.2f}  {ratio:5.2f}  {bound:5.2f}  "
        f"{cpus[0]:7.2f} {cpus[1]:7.2f}{over}"
    ), ratio


def verbs(count: int, folder: Path) -> list[Verb]:
    """Each verb that has workers, over so many jobs."""
    jobs, lines = corpus(count), corpus(count, wrapped=False)
    kept = folder / "kept.db"
    with store.open(kept, create=True) as opened:
        opened.load(lines)
    return [
        Verb("validate", ("validate", jobs)),
        Verb("query", ("query", QUERY, jobs)),
        Verb("query, store", ("query", UNKNOWN, kept)),
        *(
            Verb(f"convert, {name}", ("convert", "--from", name, log(name, count)))
            for name in FORMATS
        ),
        Verb("report", ("report", jobs)),
        Verb("report, store", ("report", kept)),
        Verb("store import", (lines,), fills=folder / "new.db"),
    ]


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = options(__doc__ or "", count=100_000, rounds=3)
    found.add_argument("--only", default="", help="verbs whose names begin so")
    return found


def main() -> None:
    """Compare each verb with itself."""
    chosen = parser().parse_args()
    missed = []
    print(f"{'':14}  wall 1  wall 2  ratio  bound    cpu 1   cpu 2")
    print(computing(chosen.rounds), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for verb in verbs(chosen.count, Path(folder)):
            if verb.name.startswith(chosen.only):
                shown, ratio = line(verb.name, measured(verb, chosen.rounds))
                print(shown, flush=True)
                missed += [verb.name] if ratio > AIM else []
    print(
        f"Medians over {chosen.rounds} rounds; the aim is {AIM} by the clock, on a machine alone."
    )
    if chosen.strict and missed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
