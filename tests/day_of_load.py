"""A generated day of load: what a scheduler makes of jobs whose true lengths nobody knows.

The scheduler is no copy of the simulation under test: it starts jobs in passes, several slots
at once, and jobs end when they please, mostly long before their limits.
"""

import heapq
import math
import random

from sssjob.lcginfo.backtest import Past
from sssjob.lcginfo.snapshot import DONE, QueuedJob

DAY = 86400
CYCLE = 60
SLOTS = 60
CAPS = {"atlas": 40, "lhcb": 25}
VOS = (("atlas", 5), ("lhcb", 3), ("dzero", 2))
LIMITS = {"short": 2 * 3600, "long": 12 * 3600}


def day(seed=1, jobs_a_day=450):
    """The log of a day, in the order in which jobs came."""
    chance = random.Random(seed)
    return schedule(arrivals(chance, jobs_a_day))


def arrivals(chance, jobs_a_day):
    """Jobs with their true lengths, more of them by day than by night."""
    time, found = 0.0, []
    while True:
        by_day = 1 - 0.8 * math.cos(2 * math.pi * time / DAY)
        time += chance.expovariate(jobs_a_day / DAY * by_day)
        if time >= DAY:
            return found
        queue = chance.choice(("short", "long", "long"))
        vo = chance.choices([name for name, _ in VOS], [weight for _, weight in VOS])[0]
        limit = LIMITS[queue]
        entry = QueuedJob(
            queue, vo, DONE, str(len(found) + 1), qtime=float(int(time)),
            maxwalltime=float(limit), cpucount=chance.choice((1, 1, 1, 1, 4)),
        )  # fmt: skip
        # Jobs use half of their limits on average, some next to nothing.
        found.append((entry, limit * chance.betavariate(2, 2)))


def schedule(jobs):
    """What happens to jobs: first come, first served among those below their VO's cap."""
    waiting, ends, past = list(jobs), [], {}
    free, held, time = SLOTS, dict.fromkeys(CAPS, 0), 0
    while waiting:
        time += CYCLE
        while ends and ends[0][0] <= time:
            _, _, slots, vo = heapq.heappop(ends)
            free += slots
            held[vo] = held.get(vo, 0) - 1
        left = []
        for number, (entry, length) in enumerate(waiting):
            if entry.qtime > time:
                left += waiting[number:]
                break
            if held.get(entry.group, 0) >= CAPS.get(entry.group, SLOTS):
                left.append((entry, length))
            elif entry.cpucount > free:
                # Slots are kept for it: nobody passes.
                left += waiting[number:]
                break
            else:
                free -= entry.cpucount
                held[entry.group] = held.get(entry.group, 0) + 1
                heapq.heappush(ends, (time + length, entry.jobid, entry.cpucount, entry.group))
                past[entry.jobid] = Past(entry, entry.qtime, float(time), time + length)
        waiting = left
    return sorted(past.values(), key=lambda job: job.ready)
