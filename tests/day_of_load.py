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


def day(seed=1, jobs_a_day=450, days=1):
    """The log of a day, or of several, in the order in which jobs came."""
    chance = random.Random(seed)
    return schedule(arrivals(chance, jobs_a_day, days))


def arrivals(chance, jobs_a_day, days=1):
    """Jobs with their true lengths, more of them by day than by night."""
    time, found = 0.0, []
    while True:
        by_day = 1 - 0.8 * math.cos(2 * math.pi * time / DAY)
        time += chance.expovariate(jobs_a_day / DAY * by_day)
        if time >= days * DAY:
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


NODES = {("long", "short"): 40, ("short",): 20}
PRIORITY = {"lhcb": 300, "atlas": 200, "dzero": 100}


def day_of_priorities(seed=1, jobs_a_day=120):
    """A day on which the nodes of a queue are its own, jobs of one VO go before those of another,
    wide jobs wait for all their slots at once, and what ends before they start goes ahead.
    """
    chance = random.Random(seed)
    jobs = []
    for entry, length in arrivals(chance, jobs_a_day):
        cpus = chance.choice((1, 1, 2, 4, 20)) if entry.queue == "long" else 1
        wide = entry._replace(cpucount=cpus, priority=float(PRIORITY[entry.group]))
        jobs.append((wide, length))
    return by_priority(jobs)


def by_priority(jobs):
    """What happens: each minute the scheduler goes through all that wait.

    It counts nodes by a list with an entry for each slot, and reserves for the first wide job.
    """
    slots = [(queues, None) for queues, count in NODES.items() for _ in range(count)]
    waiting, past, time = list(jobs), [], 0
    while waiting:
        time += CYCLE
        slots = [(queues, job if job and job[1] > time else None) for queues, job in slots]
        ready = sorted(
            (job for job in waiting if job[0].qtime <= time),
            key=lambda job: (-job[0].priority, job[0].qtime, int(job[0].jobid)),
        )
        shadow = None
        for entry, length in ready:
            free = [at for at, (queues, job) in enumerate(slots)
                    if entry.queue in queues and job is None]  # fmt: skip
            delays = shadow is not None and time + entry.maxwalltime > shadow
            if delays and entry.queue == "short":  # its own nodes are in nobody's way
                free = [at for at in free if slots[at][0] == ("short",)]
            elif delays:
                free = []
            if len(free) < entry.cpucount:
                if shadow is None and entry.queue == "long":
                    ends = sorted(job[0] if job else time for queues, job in slots
                                  if "long" in queues)  # fmt: skip
                    shadow = ends[entry.cpucount - 1]
                continue
            free.sort(key=lambda at: slots[at][0] != ("short",))
            for at in free[: entry.cpucount]:
                slots[at] = slots[at][0], (time + entry.maxwalltime, time + length)
            waiting.remove((entry, length))
            past.append(Past(entry, entry.qtime, float(time), float(time + length)))
    return sorted(past, key=lambda item: item.ready)
