"""Why a job would wait: which jobs hold the slots, which cap binds."""

from __future__ import annotations

from sssjob import units
from sssjob.lcginfo import simulate
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import RUNNING

_SHOWN = 3  # jobs that are named


class Reasons:
    """Sentences about the waits at a site; what all of them share is made once."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lengths = simulate.Lengths(site, simulate.expected_usage(site))
        self._holders: dict[str, str] = {}

    def free(self, vo: str) -> tuple[str, ...]:
        """Why a job would not wait."""
        site = self._site
        free = site.free(vo) if vo else site.free_slots
        room = f", {site.held(vo)} of the cap of {site.caps[vo]} used" if vo in site.caps else ""
        return (f"{_free(free or 0)}{room}",)

    def waiting(self, vo: str, wait: simulate.Wait) -> tuple[str, ...]:
        """What a job waits for."""
        return tuple(self._sentences(vo, wait))

    def _sentences(self, vo: str, wait: simulate.Wait) -> list[str]:
        site = self._site
        said = []
        if vo in site.caps and (wait.capped or site.held(vo) >= site.caps[vo]):
            said.append(f"the cap of {site.caps[vo]} binds: {site.held(vo)} used")
            said.append(self._held_by(vo))
        else:
            free = site.free_slots
            said.append("nobody says how many slots there are" if free is None else _free(free))
            said.append(self._held_by(""))
        if wait.started:
            verb = "waits starts" if wait.started == 1 else "wait start"
            said.append(f"{_number(wait.started, 'job')} that {verb} first")
        if site.too_wide:
            verb = "asks" if site.too_wide == 1 else "ask"
            said.append(
                f"{_number(site.too_wide, 'job')} that {verb} for more slots than there are: "
                "passed over"
            )
        if wait.seconds == simulate.NEVER:
            said.append("no end of a job changes that")
        elif wait.released:
            said.append(f"the end of {wait.released} makes room")
        return [sentence for sentence in said if sentence]

    def _held_by(self, vo: str) -> str:
        """The jobs that hold the slots, of a VO or of all, the next to end by name."""
        if vo not in self._holders:
            site = self._site
            jobs = [
                job
                for job in site.snapshot.jobs
                if job.state == RUNNING and (not vo or site.vo(job) == vo)
            ]
            ends = sorted((self._lengths.rest(job), job.jobid) for job in jobs)
            named = ", ".join(
                f"{jobid or 'one'} in {units.clock(int(end))}" for end, jobid in ends[:_SHOWN]
            )
            holders = f"{_number(len(jobs), 'job')} {'holds' if len(jobs) == 1 else 'hold'}"
            slots = _number(sum(job.cpucount for job in jobs), "slot")
            said = f"{holders} {slots}; the next to end: {named}"
            self._holders[vo] = said if jobs else ""
        return self._holders[vo]


def _number(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count in (0, 1) else 's'}"


def _free(count: int) -> str:
    return f"{_number(count, 'slot')} {'is' if count in (0, 1) else 'are'} free"
