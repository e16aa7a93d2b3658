"""HTCondor: job and machine ads as ``condor_q`` and ``condor_status`` print them, long or JSON."""

from __future__ import annotations

import io

from sssjob.classads import forms
from sssjob.classads.values import Ad
from sssjob.errors import InvalidValue
from sssjob.lcginfo.reader import Reader
from sssjob.lcginfo.snapshot import DONE, PENDING, QUEUED, RUNNING, QueuedJob
from sssjob.systems.condor import names
from sssjob.systems.condor.usage import AdTexts

# fmt: off
# What lrmsinfo calls the State of each JobStatus.
_WORDS = {"Idle": QUEUED, "Running": RUNNING, "Suspended": RUNNING, "Hold": PENDING,
          "Completed": DONE}
STATES = {status: _WORDS[state] for status, state, _ in names.STATES}

# What sites and computing elements write; the first that is there counts. Seconds per unit.
QUEUES = ("BatchQueue", "remote_queue", "queue")
GROUPS = {
    "group":   ("AcctGroup", "x509UserProxyVOName", "Owner"),
    "account": ("AccountingGroup", "AcctGroup", "Owner"),
    "user":    ("Owner",),
}
LIMITS = (
    ("AllowedExecuteDuration", 1), ("AllowedJobDuration", 1), ("MaxWallTimeMins", 60),
    ("maxWallTime", 60), ("BatchRuntime", 1),
)
STARTS = ("JobCurrentStartDate", "JobStartDate", "EnteredCurrentStatus")
# fmt: on
LOCAL = (7, 12)  # universes that need no slot: scheduler, local
QUEUE = "condor"
IDLE = "Allqueuesareempty"  # what condor_q -global says, without its blanks


class CondorQueue(Reader):
    """Reads job ads and machine ads, told apart by what they have."""

    def take(self, text: str) -> None:
        """Read one output: ads in the old syntax, a blank line between them, or JSON."""
        stripped = "".join(text.split())
        # What is no ad is judged as a whole below.
        ads = forms.read(io.BytesIO(text.encode()), on_error=lambda error: None)
        known = not stripped.strip("[]") or stripped == IDLE
        for ad in ads:
            if "JobStatus" in ad:
                self._job(ad)
            elif "Cpus" in ad and ("SlotID" in ad or ad.get("MyType") == "Machine"):
                self._slot(ad)
            else:
                continue
            known = True
        if not known:
            raise self.unknown("HTCondor", text)

    def _job(self, ad: Ad) -> None:
        jobid = f"{ad.get('ClusterId', '')}.{ad.get('ProcId', '')}"
        self.seen_at(_number(ad, "ServerTime"))
        try:
            if ad.get("JobUniverse") not in LOCAL:
                self.jobs.append(self._entry(jobid, ad))
        except InvalidValue as error:
            self.lost(f"job {jobid!r}: {error}")

    def _entry(self, jobid: str, ad: Ad) -> QueuedJob:
        state = STATES.get(ad["JobStatus"]) if isinstance(ad["JobStatus"], int) else None
        if state is None:
            raise InvalidValue(str(ad["JobStatus"]), "a JobStatus from 1 to 7")
        group = _first(ad, GROUPS[self.options.group])
        if not group:
            raise InvalidValue(jobid, "a job with an owner")
        run = state in (RUNNING, DONE)
        start = next((time for name in STARTS if (time := _number(ad, name))), None)
        limit = next((value * unit for name, unit in LIMITS if (value := _number(ad, name))), None)
        cpus = _number(ad, "CpusProvisioned") if run else None
        return QueuedJob(
            _first(ad, QUEUES) or self.options.queue or QUEUE,
            group,
            state,
            jobid,
            _first(ad, ("Owner",)),
            _first(ad, ("JobBatchName",)),
            _number(ad, "QDate"),
            start if run else None,
            limit,
            max(int(cpus or _number(ad, "RequestCpus") or 1), 1),
            _ran(ad) if state == DONE else None,
        )

    def _slot(self, ad: Ad) -> None:
        """Count a slot. A partitionable one stands for those that were cut from it."""
        self.seen_at(_number(ad, "MyCurrentTime"))
        if ad.get("DynamicSlot") is True:
            return
        state = str(ad.get("State", ""))
        if state == "Drained" or ad.get("Offline") is True:
            return
        cpus = int(_number(ad, "Cpus") or 0)
        if ad.get("PartitionableSlot") is True:
            up = int(_number(ad, "TotalSlotCpus") or cpus)
            self.add_slots(up, cpus if state != "Owner" else 0)
        else:
            self.add_slots(cpus, cpus if state == "Unclaimed" else 0)


def _ran(ad: Ad) -> float | None:
    """How long a job ran, without the time that it was suspended, as status has it."""
    text = AdTexts.of(ad).text("Duration")
    return float(text) if text else None


def _number(ad: Ad, name: str) -> float | None:
    value = ad.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)


def _first(ad: Ad, names: tuple[str, ...]) -> str:
    """The first of these attributes that is a string."""
    found = (ad.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), "")
