"""Jobs with a text that nobody expects in each place where a format wants a number."""

from sssjob.model import Delivered, Job, Property

TEXTS = (
    "-1", "-0", "0", "+5", "5.", ".5", "1.5", "-1.5", "1e5", "1e-3", "1e400", "1e999", "1+5",
    "NaN", "INF", "-INF", "9" * 18, "9" * 19, "9" * 25, "-" + "9" * 25, "9" * 399, "4000000000",
    "253402300799", "253402300800", "UNLIMITED", "", "abc", "0x10", "1_000", "１２", " 7 ", "true",
    "1-02:03:04", "2003-04-28T19:21:53Z",
)  # fmt: skip
AMOUNTS = ("Disk", "Memory", "Swap", "Network")
NAMES = (
    *AMOUNTS, "Charge", "Resource", "Process", "Priority", "ExitCode", "NodeCount", "Processors",
    "SuspendDuration", "Duration", "CpuDuration", "SubmitTime", "EligibleTime", "StartTime",
    "EndTime",
)  # fmt: skip
ATTRIBUTES = ("consumptionRate", "units", "metric", "name", "type")
_USUAL = {"Id": "7", "StartTime": "100", "EndTime": "160", "CpuDuration": "5", "Duration": "60"}
_KEPT = {name: {"units": "KB"} for name in AMOUNTS} | {"Resource": {"name": "ServiceLevel"}}


def jobs(name):
    """Every odd text as a property of that name, the job's own and delivered, and beside it."""
    usual = tuple(Property(key, text) for key, text in _USUAL.items() if key != name)
    kept = _KEPT.get(name, {})
    for text in TEXTS:
        yield Job((*usual, Property(name, text, kept)))
        yield Job((*usual, Delivered((Property(name, text, kept),))))
        for attribute in ATTRIBUTES:
            yield Job((*usual, Delivered((Property(name, "5", {**kept, attribute: text}),))))
