"""Measure whole processes in turn, and print how they compare in this one run.

A machine drifts by a third within an hour, so the commands take turns (A B C A B C), every round
gives its own ratios, and the median of these is what counts. CPU time is user and system together.
"""

import argparse
import json
import os
import resource
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Case:
    """A command to measure. ``aim`` is the CPU time it may take, as a multiple of the first's.

    ``seconds`` is what it may take at most on any machine, where somebody was promised that.
    """

    name: str
    command: tuple[str, ...]
    aim: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took, in seconds and MiB."""

    cpu: float
    wall: float
    peak: float


@dataclass(frozen=True, slots=True)
class Result:
    """The runs of one case, with the CPU time of each as a multiple of the first case's."""

    case: Case
    runs: tuple[Run, ...]
    ratios: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median over the rounds."""
        return statistics.median(self.ratios)

    @property
    def over(self) -> bool:
        """Whether it took longer than was aimed for."""
        aim, seconds = self.case.aim, self.case.seconds
        slow = aim is not None and self.ratio > aim
        return slow or (seconds is not None and self.cpu > seconds)

    @property
    def cpu(self) -> float:
        """The median over the rounds, in seconds."""
        return statistics.median(run.cpu for run in self.runs)


def program(text: str, *arguments: str | Path) -> tuple[str, ...]:
    """The command that runs a Python text in this environment."""
    return (sys.executable, "-c", text, *map(str, arguments))


def sssjob(*arguments: str | Path) -> tuple[str, ...]:
    """The command that runs our command from this environment."""
    return (str(Path(sys.executable).with_name("sssjob")), *map(str, arguments))


def options(what: str, *, count: int | None = None, rounds: int = 5) -> argparse.ArgumentParser:
    """The options that every program here takes; ``count`` when it reads that many jobs."""
    parser = argparse.ArgumentParser(description=what)
    if count is not None:
        parser.add_argument("--count", type=int, default=count, help="jobs to read (%(default)s)")
    parser.add_argument("--rounds", type=int, default=rounds, help="turns taken (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print every run as JSON")
    parser.add_argument("--strict", action="store_true", help="exit 1 when an aim is missed")
    return parser


def compare(cases: Sequence[Case], chosen: argparse.Namespace) -> None:
    """Measure the cases against the first of them and print what was found."""
    results = measure(cases, chosen.rounds)
    count = getattr(chosen, "count", None)
    print(as_json(results, count) if chosen.json else as_table(results, count))
    if chosen.strict and any(result.over for result in results):
        raise SystemExit(1)


def measure(cases: Sequence[Case], rounds: int) -> list[Result]:
    """Run the cases in turn, after one round that only warms the caches."""
    turns = [[run(case.command) for case in cases] for _ in range(rounds + 1)][1:]
    return [
        Result(
            case,
            runs=tuple(turn[place] for turn in turns),
            ratios=tuple(turn[place].cpu / turn[0].cpu for turn in turns),
        )
        for place, case in enumerate(cases)
    ]


def run(command: Sequence[str]) -> Run:
    """Run one process to its end, its output thrown away; stop everything if it fails."""
    # The first round leaves bytecode for the others, as an installation does.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        pid = os.posix_spawnp(
            command[0],
            list(command),
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, errors.fileno(), 2),
            ],
        )
        _, status, used = os.wait4(pid, 0)
        wall = time.perf_counter() - started
        if code := os.waitstatus_to_exitcode(status):
            errors.seek(0)
            said = errors.read(2000).decode(errors="replace")
            raise SystemExit(f"exit {code} of: {shlex.join(command)}\n{said}")
    return Run(cpu=used.ru_utime + used.ru_stime, wall=wall, peak=used.ru_maxrss / 1024)


def as_table(results: Sequence[Result], count: int | None) -> str:
    """The medians, one case a line."""
    width = max(len(result.case.name) for result in results)
    per_job = "us/job" if count else ""
    lines = [f"{'':{width}}  {'cpu s':>7}  {'wall s':>7}  {'MiB':>6}  {per_job:>6}  ratio   aim"]
    for result in results:
        cpu, wall, peak = (
            statistics.median(getattr(run, what) for run in result.runs)
            for what in ("cpu", "wall", "peak")
        )
        each = f"{cpu / count * 1e6:.2f}" if count else ""
        aim = "" if result.case.aim is None else f"{result.case.aim:.2f}"
        aim += "" if result.case.seconds is None else f" {result.case.seconds:g} s"
        verdict = "  over" if result.over else ""
        lines.append(
            f"{result.case.name:{width}}  {cpu:7.3f}  {wall:7.3f}  {peak:6.1f}  {each:>6}"
            f"  {result.ratio:5.2f}  {aim:>4}{verdict}"
        )
    # Linux counts what the starting process held towards the started one.
    least = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rounds = len(results[0].runs)
    lines.append(f"Medians over {rounds} rounds; no peak below {least:.1f} MiB can show.")
    return "\n".join(lines)


def as_json(results: Sequence[Result], count: int | None) -> str:
    """Everything that was measured, in seconds and MiB."""
    return json.dumps(
        [
            {
                "name": result.case.name,
                "command": result.case.command,
                "count": count,
                "ratio": result.ratio,
                "aim": result.case.aim,
                "seconds": result.case.seconds,
                "ratios": result.ratios,
                "cpu": [run.cpu for run in result.runs],
                "wall": [run.wall for run in result.runs],
                "peak": [run.peak for run in result.runs],
            }
            for result in results
        ],
        indent=2,
    )
