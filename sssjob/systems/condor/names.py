"""How HTCondor names what job objects name, in tables that both directions read."""

from __future__ import annotations

from sssjob import resource_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

# fmt: off
# Properties that no attribute of HTCondor says, and the attributes that our ads have for them;
# what the others are called is in the table of accounting (``accounting.table.ATTRIBUTES``).
OWN = {
    "Group":            "SSSGroup",
    "Queue":            "SSSQueue",
    "QualityOfService": "SSSQualityOfService",
    "Partition":        "SSSPartition",
    "Application":      "SSSApplication",
    "EligibleTime":     "DeferralTime",
    "DeadlineTime":     "SSSDeadline",
    "TaskCount":        "SSSTaskCount",
}
# JobStatus, the State it is, and whether the State is written as it.
STATES = (
    (1, "Idle",      True),
    (2, "Running",   True),
    (3, "Completed", False),  # being removed
    (4, "Completed", True),
    (5, "Hold",      True),
    (6, "Running",   False),  # transferring output
    (7, "Suspended", True),
)
# What is requested: the attribute of the job that asks, that of the slot that has, bytes of a unit.
AMOUNTS = {
    "Processors": ("RequestCpus",   "Cpus",          1),
    "Memory":     ("RequestMemory", "Memory",        1 << 20),
    "Disk":       ("RequestDisk",   "Disk",          1 << 10),
    "Swap":       ("",              "VirtualMemory", 1 << 10),
}
# The same of the whole machine, for the context Configured.
CONFIGURED = {
    "Processors": ("TotalCpus",     1),
    "Memory":     ("TotalMemory",   1 << 20),
    "Disk":       ("TotalDisk",     1 << 10),
    "Swap":       ("VirtualMemory", 1 << 10),
}
SIDES = {
    "Architecture":    "Arch",
    "OperatingSystem": "OpSys",
    "Node":            "Machine",
    "Machine":         "Machine",
}
DRAINED = "Drained"  # the State of a slot that got empty, also while others have jobs
HAS = "Has"  # before the name of a Feature

# Names that differ by more than case, which HTCondor does not tell apart.
ARCHITECTURES = {
    "amd64": "X86_64", "x86_64": "X86_64", "i386": "INTEL", "i686": "INTEL", "arm64": "aarch64",
}
SYSTEMS = {"linux": "LINUX", "windows": "WINDOWS", "darwin": "macOS"}
UNIVERSES = {
    "vanilla": 5, "scheduler": 7, "grid": 9, "java": 10, "parallel": 11, "local": 12, "vm": 13,
}
NOTIFICATIONS = ((0, "None"), (1, "All"), (2, "JobEnd"))
# fmt: on

PRIORITIES = range(-(1 << 31), 1 << 31)  # of a job

EXTENSION = "HTCondor"  # the type of extensions that hold what has no other place
REQUIREMENTS, RANK = "Requirements", "Rank"
STARTS = "Starts"  # the extension that lists the starts of a job
HELD = "Held"  # the extension that says after which attempt we held a job
TAKEN = "Attempt"  # the extension that says which attempt a startd took, until something is heard
ORIGIN = "DocumentUid"  # the extension that says whose file it was, before we folded into it

# Attributes of our own, beside the ones above: where a job came from, and its document.
PUBLISHED = "MachineFeatures_"  # before the keys that startd cron publishes

JOB_ID, KEY, DOCUMENT, FEATURE = "SSSJobId", "SSSKey", "SSSJobXML", "SSSFeature_"
REPORT = "SSSReport"  # which hook left a report, and how the job ended
REASON = "SSSReason"  # in a report: why the job was ended, or could not be started
RUNS_AS = "SSSRunsAs"  # of a slot that we simulate: as whom all its jobs run
FETCHED = "SSSFetched"  # when a slot was given the job, in seconds since 1970
# Which task group of its job an ad is about, from 1, of how many, and what that is called.
TASK_GROUP, TASK_GROUPS, TASK_GROUP_NAME = "SSSTaskGroup", "SSSTaskGroups", "SSSTaskGroupName"
TASK_GROUP_ID = "SSSTaskGroupId"
TASK_GROUPS_OF = "SSSTaskGroupsOf"  # a digest of that job, the same in the ads of all its groups
_TOTAL = "SSSTotal"  # before what follows Request
GPU_MODEL = "SSSGPU_"  # before the id of a GPU of the machine: its model, which travels likewise
MACHINE = "SSSMachine_"  # before features of the machine that travel with a fetched job

# The Resource that each system calls otherwise; HTCondor's name, and what documents say for it.
GPU, GPUS = resource_names.GPU, "GPUs"

DEFAULT_UNIVERSE = UNIVERSES["vanilla"]
OF_SLOTS = (DEFAULT_UNIVERSE, UNIVERSES["java"])  # what a startd may fetch
NULL_DEVICE = "/dev/null"
# "The parallel universe requires that the pool has a dedicated scheduler", and starts the program
# on each machine, where other systems start a script on the first one.
EACH_RUNS = "{} machines of the parallel universe, of which each runs the program"
_LONGEST = 18  # digits of a key, and of an attempt
_MOMENTS = 10**12  # attempts from here on are moments; an earlier version counted them


def is_of_schedd(text: str) -> bool:
    """Whether a text is a GlobalJobId as a schedd makes them.

    >>> is_of_schedd("submit.example.org#7.0#1800000000"), is_of_schedd("payroll")
    (True, False)
    """
    schedd, number, queued = text.split("#") if text.count("#") == 2 else ("", "", "")
    numbers = [*number.split("."), queued]
    decimal = all(each.isascii() and each.isdecimal() for each in numbers)
    return bool(schedd) and len(numbers) == 3 and decimal


def was_started(ad: Container[str]) -> bool:
    """Whether a starter says of a job that it started it: a program that cannot be run is none.

    >>> was_started({"JobPid": 7}), was_started({"Cmd": "/no/such"})
    (True, False)
    """
    return any(name in ad for name in ("JobPid", "JobStartDate", "JobDuration"))


def ticket(key: int, attempt: int) -> str:
    """What an ad carries of its job in the queue (``KEY``): which job, and which attempt to run it.

    An attempt is known by when it was given away, in milliseconds since 1970: no two are the same,
    also of a queue that was brought back from a copy of yesterday.

    >>> ticket(17, 2), of_ticket("17.2"), of_ticket("../17")
    ('17.2', (17, 2), None)
    """
    return f"{key}.{attempt}"


def of_ticket(text: str) -> tuple[int, int] | None:
    """The key and the attempt of a ticket; None if it is none: it came with an ad, from outside."""
    key, _, attempt = text.partition(".")
    both = f"{key}{attempt}"
    if not (key and attempt and both.isascii() and both.isdecimal()):
        return None
    return (int(key), int(attempt)) if max(len(key), len(attempt)) <= _LONGEST else None


# decision 553
def given_at(attempt: int) -> int:
    """When an attempt was given away, in milliseconds since 1970; 0 of one of an earlier version.

    >>> given_at(1795669016001), given_at(2)
    (1795669016001, 0)
    """
    return attempt if attempt >= _MOMENTS else 0


def total(name: str) -> str:
    """What an attribute asks for on all hosts, where these cannot share it evenly.

    >>> total("RequestCpus")
    'SSSTotalCpus'
    """
    return f"{_TOTAL}{name[len('Request') :]}"


def resource(name: str) -> str:
    """The name of a Resource, for what HTCondor calls it.

    >>> resource("gpus"), resource("Tapes")
    ('GPU', 'Tapes')
    """
    return resource_names.named(name)


def machine_resource(name: str) -> str:
    """What HTCondor calls a Resource.

    >>> machine_resource("gpu"), machine_resource("Tapes")
    ('GPUs', 'Tapes')
    """
    return GPUS if resource_names.gpu_model({"name": name}) is not None else name


def architecture(text: str) -> str:
    """An Architecture as HTCondor spells it in ``Arch``."""
    return ARCHITECTURES.get(text.strip().lower(), text.strip())


def system(text: str) -> str:
    """An OperatingSystem as HTCondor spells it in ``OpSys``."""
    return SYSTEMS.get(text.strip().lower(), text.strip())


def plain_architecture(text: str) -> str:
    """What ``Arch`` says, as the rest of the world spells it."""
    return {"X86_64": "x86_64", "INTEL": "i686"}.get(text, text)


def plain_system(text: str) -> str:
    """What ``OpSys`` says, as the rest of the world spells it."""
    return {"LINUX": "Linux", "WINDOWS": "Windows"}.get(text, text)
