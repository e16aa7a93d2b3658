"""How often what a back-test says of its own certainty is true, in logs of generated days.

    python tests/long/bounds.py [LOGS [DAYS [SEED]]]

The load changes, so that days differ: in bursts, or by what each quarter of a day brings, which may
be so much that the queue is long for days. The median error of an estimator in all jobs of all logs
stands for the true one: bounds from 200 jobs of each log have to hold it as often as they say.
"""

import math
import random
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import day_of_load

from sssjob.lcginfo import backtest
from sssjob.lcginfo.config import Config

NAMES = "simulate", "basic", "waittime"
JOBS_A_DAY = 150
SETUP = backtest.Setup(
    Config(cycle_time=day_of_load.CYCLE), day_of_load.CAPS, day_of_load.SLOTS, warm_up=4 * 3600
)


def bursts(chance):
    """A load in times the usual one, and for how many seconds."""
    return chance.choice((0.3, 0.7, 1, 1.6, 2.2)), chance.expovariate(1 / 14400)


def quarters(chance):
    """The same for each quarter of a day: mostly between the half and the double."""
    return chance.lognormvariate(-0.1, 0.6), 6 * 3600


LOADS = {"bursts": bursts, "quarters": quarters}


def jobs(chance, days, load):
    """Jobs with their true lengths, of which now more come and now fewer."""
    change, times, time, last = 0.0, 1.0, 0.0, 0.0
    for entry, length in day_of_load.arrivals(chance, JOBS_A_DAY, 2 * days):
        while time >= change:
            times, seconds = load(chance)
            change += seconds
        time, last = time + (entry.qtime - last) / times, entry.qtime
        if time >= days * day_of_load.DAY:
            return
        yield entry._replace(qtime=float(math.floor(time))), length


def main(logs=60, days=7, seed=1):
    """Print for each load and estimator how many logs have bounds that hold the true error."""
    for name, load in LOADS.items():
        found = []
        for number in range(logs):
            log = day_of_load.schedule(jobs(random.Random(seed + number), days, load))
            found.append(backtest.backtest(log, NAMES, SETUP))
        for trials in zip(*found, strict=True):
            true = statistics.median(abs(error) for trial in trials for error in trial.errors)
            bounds = [trial.error_bounds for trial in trials if trial.error_bounds]
            hold = sum(low <= true <= high for low, high in bounds)
            print(f"{name}, {trials[0].estimator}: {hold / len(bounds):.0%} of {len(bounds)} logs")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
