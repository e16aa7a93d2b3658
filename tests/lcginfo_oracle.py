"""What is published of a site by the text of lcg-info, worked out a second time, and plainly.

Nothing here is of the library: lrmsinfo is read by Python, as the deployed programs do, LDIF line
by line, and the scheduler is played through from the beginning for each VO that is asked for.
"""

import ast
import configparser
import math
import re

LARGEST = 2**31 - 1
GLUE1 = {
    "GlueCEStateWaitingJobs": "waiting", "GlueCEStateRunningJobs": "running",
    "GlueCEStateTotalJobs": "total", "GlueCEStateEstimatedResponseTime": "ert",
    "GlueCEStateWorstResponseTime": "wrt", "GlueCEStateFreeJobSlots": "free",
}  # fmt: skip
_SHARE = "GLUE2ComputingShare"
GLUE2 = {
    f"{_SHARE}RunningJobs": "running", f"{_SHARE}WaitingJobs": "waiting",
    f"{_SHARE}TotalJobs": "total", f"{_SHARE}EstimatedAverageWaitingTime": "ert",
    f"{_SHARE}EstimatedWorstWaitingTime": "wrt", f"{_SHARE}FreeSlots": "free",
}  # fmt: skip


def fqan(name):
    """One spelling of each FQAN: its groups, and its role if that is one."""
    if not name.startswith("/"):
        return name
    role = re.search(r"/role=([^/]*)", name, re.IGNORECASE)
    group = re.search(r"/group=(/.*?)(?=/role=|/capability=|$)", name, re.IGNORECASE)
    path = group[1] if group else re.match(r"(?:/[^/=]+(?=/|$))+", name)[0]
    is_role = role is not None and role[1].upper() != "NULL"
    return f"{path}/Role={role[1]}" if is_role else path


class Site:
    """A configuration, what the commands print, and what follows from them."""

    def __init__(self, settings, printed, caps):
        self.settings = configparser.RawConfigParser(strict=False)
        self.settings.read_string(settings)
        lines = self.settings.get("Main", "vomap", fallback="").splitlines()
        pairs = (line.split(":", 1) for line in lines if line.strip())
        self.vomap = {group.strip(): fqan(vo.strip()) for group, vo in pairs}
        head = {}
        self.jobs = []
        for line in printed.splitlines():
            if line.startswith("{"):
                job = {"cpucount": 1, **ast.literal_eval(line)}
                self.jobs.append({**job, "vo": self.vomap.get(job["group"], job["group"])})
            else:
                name, number = line.split()
                head[name] = float(number)
        self.caps = {}
        for group, most in (ast.literal_eval(caps[caps.index("{") :]) if caps else {}).items():
            vo = self.vomap.get(group, group)
            self.caps[vo] = self.caps.get(vo, 0) + most
        times = [job[key] for job in self.jobs for key in ("qtime", "start") if key in job]
        self.now = head.get("now", max(times, default=0.0))
        self.cycle = head.get("schedCycle") or float(self.of("Scheduler", "cycle_time", 0))
        self.running = [job for job in self.jobs if job["state"] == "running"]
        self.waiting = [job for job in self.jobs if job["state"] == "queued"]
        self.left = self._left(head)
        self.free = None if self.left is None else max(self.left, 0)

    def of(self, section, name, default):
        return self.settings.get(section, name, fallback=default)

    def weight(self, job):
        return job["cpucount"] if self.of("Main", "count", "jobs") == "slots" else 1

    def held(self, vo):
        return sum(self.weight(job) for job in self.running if job["vo"] == vo)

    def is_capped(self, vo):
        return vo in self.caps and self.held(vo) >= self.caps[vo]

    def _left(self, head):
        """Free slots: as stated, or what jobs leave, less than 0 where they have more than there
        are; none if a job waits; None: nobody knows.
        """
        held = sum(job["cpucount"] for job in self.running)
        if "nfree" in head:
            stated = min(head["nfree"], head.get("nactive", math.inf))
            return stated or min(head.get("nactive", math.inf) - held, 0)
        if "nactive" in head:
            return head["nactive"] - held
        narrow = (job for job in self.waiting if job["cpucount"] == 1)
        return 0 if any(not self.is_capped(job["vo"]) for job in narrow) else None

    def free_of(self, vo):
        if not vo:
            return self.free
        if self.is_capped(vo) or any(job["vo"] == vo for job in self.waiting):
            return 0
        if vo in self.caps and self.free is not None:
            return min(self.free, self.caps[vo] - self.held(vo))
        return self.free

    def usage(self):
        stated = self.of("Main", "usage_factor", None)
        used = [
            min(job["walltime"] / job["maxwalltime"], 1)
            for job in self.jobs
            if job["state"] == "done" and job.get("walltime") and job.get("maxwalltime")
        ]
        return float(stated) if stated else sum(used) / len(used) if len(used) >= 20 else 0.5

    def length(self, job, usage):
        if "maxwalltime" in job:
            return job["maxwalltime"] * usage
        ages = [
            max(self.now - each["start"], 0)
            for each in self.running
            if each["queue"] == job["queue"] and "start" in each
        ]
        met = 2 * sum(ages) / len(ages) if ages else 0
        return met or float(self.of("Main", "default_walltime", 86400))

    def start(self, vo, usage):
        """When one job more of a VO would start, behind all that wait."""
        ends = []
        for job in self.running:
            age = max(self.now - job["start"], 0) if "start" in job else 0
            rest = max(self.length(job, usage) - age, self.cycle / 2)
            ends.append((rest, job["cpucount"], job["vo"], self.weight(job)))
        free = (0 if self.waiting else 1) if self.left is None else int(self.left)
        queue = sorted(self.waiting, key=lambda job: (job.get("qtime", 0), job["jobid"]))
        lacks = [job["cpucount"] for job in queue]
        held = {vo: self.held(vo) for vo in {*self.caps, *(job["vo"] for job in self.jobs)}}
        by_slots = self.of("Main", "count", "jobs") == "slots"
        time = 0
        while True:
            seen = set()
            for at, job in enumerate(queue):
                while free > 0 and lacks[at] and job["vo"] not in seen:
                    begun = lacks[at] < job["cpucount"]
                    left = self.caps.get(job["vo"], math.inf) - held[job["vo"]]
                    if left <= 0 and (by_slots or not begun):
                        break
                    slots = min(free, lacks[at], left if by_slots else free)
                    counted = slots if by_slots else int(not begun)
                    ends.append((time + self.length(job, usage), slots, job["vo"], counted))
                    held[job["vo"]] += counted
                    free -= slots
                    lacks[at] -= slots
                if lacks[at]:
                    seen.add(job["vo"])  # those of the VO behind it wait for it
            if free > 0 and held.get(vo, 0) < self.caps.get(vo, math.inf):
                return time
            if not ends:
                return math.inf
            time = min(ends)[0]
            for end in [each for each in ends if each[0] == time]:
                free += end[1]
                held[end[2]] -= end[3]
                ends.remove(end)

    def row(self, queue, vo):
        def count(jobs):
            return sum(job["queue"] == queue and vo in ("", job["vo"]) for job in jobs)

        is_there = bool(self.free_of(vo)) and (
            vo or not any(j["queue"] == queue for j in self.waiting)
        )
        ert, wrt = (0, 0) if is_there else (self.start(vo, self.usage()), self.start(vo, 1.0))
        wrt = max(ert, wrt)
        if self.cycle:
            ert = int(self.cycle / 2) if ert < self.cycle else ert
            wrt = max(wrt, self.cycle)
        found = {"running": count(self.running), "waiting": count(self.waiting)}
        found |= {"total": sum(found.values()), "free": self.free_of(vo)}
        return found | {"ert": int(min(ert, LARGEST)), "wrt": int(min(wrt, LARGEST))}


def entries(text):
    """The name and the attributes of each block of a static file."""
    for block in text.split("\n\n"):
        lines = block.replace("\n ", "").splitlines()
        if lines:
            yield lines[0].removeprefix("dn: "), [line.split(": ", 1) for line in lines[1:]]


def published(site, ces, shares):
    """The name of each entry, and its attributes and numbers, in their order."""
    queues = {dict(told)["GlueCEUniqueID"]: dict(told)["GlueCEName"]
              for name, told in entries(ces) if name.startswith("GlueCEUniqueID=")}  # fmt: skip
    for name, told in entries(ces):
        queue, vo = dict(told).get("GlueCEName"), ""
        if name.startswith("GlueVOViewLocalID="):
            queue = queues[dict(told)["GlueChunkKey"].partition("=")[2]]
            rules = [value for key, value in told if key == "GlueCEAccessControlBaseRule"]
            vo = fqan(rules[-1].partition(":")[2])
        yield name, _shown(site.row(queue, vo), GLUE1)
    policies = {dict(told)["GLUE2MappingPolicyShareForeignKey"]:
                fqan(dict(told)["GLUE2PolicyUserDomainForeignKey"])
                for name, told in entries(shares) if name.startswith("GLUE2PolicyID=")}  # fmt: skip
    for name, told in entries(shares):
        if name.startswith("GLUE2ShareID="):
            vo = policies.get(dict(told)["GLUE2ShareID"], "")
            yield name, _shown(site.row(dict(told)[f"{_SHARE}MappingQueue"], vo), GLUE2)


def _shown(row, names):
    return [(name, int(row[of])) for name, of in names.items() if row[of] is not None]
