"""The attributes of a job's ad: which are read and as what, and which are left out.

Beside these, each ``RequestX`` and ``XProvisioned`` is an amount of a Resource.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from sssjob import units
from sssjob.classads import evaluate
from sssjob.classads.values import UNDEFINED, Ad, Node
from sssjob.integers import LARGEST, SMALLEST
from sssjob.records.unread import Left, expected
from sssjob.systems.condor import gpus, names
from sssjob.systems.condor.accounting import table
from sssjob.systems.condor.accounting.values import MADE_OF, as_number, is_blank
from sssjob.systems.condor.usage import GIVEN

Kind = Callable[[Any], bool]


def number(value: Any) -> bool:
    """One that a job object can have: neither endless nor none."""
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_one and SMALLEST <= value <= LARGEST


def amount(value: Any) -> bool:
    """A number that is not below zero."""
    return number(value) and value >= 0


def finite(value: Any) -> bool:
    """A number or a flag, but neither endless nor NaN."""
    return isinstance(value, (int, float)) and math.isfinite(value)


def asked(value: Any) -> bool:
    """What the readers of requests look at, which tell what is none, as in records."""
    return isinstance(value, str) or finite(value)


def moment(value: Any) -> bool:
    """Seconds since 1970."""
    return amount(value) and value <= units.TIME_LIMIT


def status(value: Any) -> bool:
    """A JobStatus."""
    return number(value) and any(value == code for code, _, _ in names.STATES)


def text(value: Any) -> bool:
    """A text that stands there, not one that is worked out."""
    return isinstance(value, str)


def flag(value: Any) -> bool:
    """Yes or no."""
    return isinstance(value, bool)


def condition(value: Any) -> bool:
    """An expression, or what is true of any slot."""
    return isinstance(value, Node) or value is True


def rank(value: Any) -> bool:
    """An expression, or the same number for any slot."""
    return isinstance(value, Node) or number(value)


_OF_NUMBERS = (number, amount, moment, status)
_TIMES = ("SubmitTime", "StartTime", "EndTime", "EligibleTime", "DeadlineTime")
# fmt: off
KINDS: dict[str, Kind] = {
    **dict.fromkeys((
        *(name for _, name in table.TEXTS),
        "AccountingGroup", "AcctGroup", "AcctGroupUser", "AssignedGPUs", "ConcurrencyLimits", "Err",
        "ExitReason",
        "HoldReason", "In", "JobDescription", "LastRemoteHost", "NotifyUser", "Out", "ProjectName",
        "ReleaseReason", "RemoteHost", "RemoteHosts", "RemoveReason", "SubmitHost",
        "x509UserProxyFirstFQAN", "x509UserProxyVOName", names.JOB_ID,
    ), text),
    **dict.fromkeys((
        "ExitCode", "ExitSignal", "HoldReasonCode", "JobNotification", "JobPrio", "JobUniverse",
        "MinHosts",
    ), number),
    **dict.fromkeys((
        *(name for _, name in table.WHOLE_NUMBERS if name != "JobPrio"),
        *(name for sources in MADE_OF.values() for name in sources),
        *(name for name, _, _ in GIVEN),
        "AllowedExecuteDuration", "AllowedJobDuration", "CpusProvisioned", "CpusUsage",
        "JobPid", "LastJobStatus", "MaxHosts", "TotalSuspensions",
    ), amount),
    **dict.fromkeys((name for name, *_ in names.AMOUNTS.values() if name), asked),
    **{name: moment for element, name in table.WHOLE_NUMBERS if element in _TIMES},
    **dict.fromkeys((*MADE_OF["StartTime"], "EnteredCurrentStatus"), moment),
    "JobStatus": status,
    names.REQUIREMENTS: condition,
    gpus.REQUIRE: condition,
    names.RANK: rank,
    **dict.fromkeys((
        "ExitBySignal", "StreamErr", "StreamOut", "TransferErr", "TransferOut",
    ), flag),
}
# What is read whatever it is; it is told where that fails.
_OTHERS = ("Args", "Arguments", "Env", "EnvDelim", "Environment", "MyType")

LEFT: Left = {
    "how the pool came to what it does": (
        "AutoClusterAttrs", "AutoClusterId", "CurrentHosts", "JobCurrentReconnectAttempt",
        "JobLeaseDuration", "KeepClaimIdle", "LastJobLeaseRenewal", "LastMatchTime",
        "LastRejMatchReason", "LastRejMatchTime", "MachineAttrSlotWeight0", "NumJobMatches",
        "NumJobReconnects", "NumShadowExceptions", "NumShadowStarts", "ProvisionedResources",
        "RecentStatsLifetimeStarter", "ServerTime", "ShadowBday", "StatsLifetimeStarter",
        "TargetType", "TerminationPending", "TotalSubmitProcs",
    ),
    "which programs and connections serve the job": (
        "CondorPlatform", "CondorVersion", "FileSystemDomain", "LastPublicClaimId", "MyAddress",
        "PublicClaimId", "RemoteSlotID", "ShadowIpAddr", "ShadowVersion", "StartdIpAddr",
        "StartdPrincipal", "TransferSocket", "UidDomain",
    ),
    "earlier starts, and the steps of this one": (
        "ActivationDuration", "ActivationExecutionDuration", "ActivationSetupDuration",
        "ActivationTeardownDuration", "HoldReasonSubCode",
        "JobCurrentFinishTransferInputDate", "JobCurrentFinishTransferOutputDate",
        "JobCurrentStartExecutingDate", "JobCurrentStartTransferInputDate",
        "JobCurrentStartTransferOutputDate", "JobFinishedHookDone", "JobLastStartDate",
        "JobRunCount", "LastHoldReason", "LastHoldReasonCode", "LastHoldReasonSubCode",
        "LastRemoteWallClockTime", "LastSuspensionTime", "LastVacateTime",
        "NumCkpts", "NumCkpts_RAW", "NumHolds", "NumHoldsByReason", "NumJobCompletions",
        "NumRestarts", "NumSystemHolds", "RequeueReason", "ToE",
        "TransferInFinished", "TransferInStarted", "TransferOutFinished", "TransferOutStarted",
        "TransferringInput", "TransferringOutput", "TransferQueued", "VacateReason",
        "VacateReasonCode", "VacateReasonSubCode",
    ),
    "what else was used": (
        "BlockReadKbytes", "BlockReads", "BlockWriteKbytes", "BlockWrites", "BytesRecvd",
        "BytesSent", "CommittedSlotTime",
        "CumulativeSlotTime", "CumulativeTransferTime", "MemoryUsage",
        "ProportionalSetSizeKb", "ProportionalSetSizeKb_RAW", "RecentBlockReadKbytes",
        "RecentBlockReads", "RecentBlockWriteKbytes", "RecentBlockWrites", "ScratchDirFileCount",
        "TransferInputStats", "TransferOutputStats",
    ),
    "what is said elsewhere as well": (
        "DAGManJobId", "ExitStatus",
        "JobBatchId", "User",
    ),
    "how users have it set up": (
        "CurrentTime", "DAGManNodesLog", "DAGManNodesMask", "DAGNodeName", "DAGParentNodeNames",
        "ExecutableSize", "ExecutableSize_RAW", "JobMaxRetries", "JobSubmitFile",
        "JobSubmitMethod", "KillSig", "LeaveJobInQueue",
        "OnExitHold", "OnExitRemove", "OrigCmd", "OrigIwd", "OrigMaxHosts",
        "OriginalErr", "OriginalOut", "OtherJobRemoveRequirements", "PeriodicHold",
        "PeriodicHoldReason", "PeriodicRelease", "PeriodicRemove", "PreserveRelativePaths",
        "RemoveKillSig", "SubmitEventNotes", "UserLog", "WantCheckpoint", "WantRemoteIO",
        "WantRemoteSyscalls",
    ),
    "files that HTCondor moves": (
        "EncryptExecuteDirectory", "ShouldTransferFiles", "SpooledOutputFiles",
        "TransferExecutable", "TransferIn", "TransferInput", "TransferInputSizeMB",
        "TransferOutput", "TransferOutputRemaps", "WhenToTransferOutput",
    ),
    "how a DAG goes on": ("DAG_Stats", "DAG_Status"),
    "of hooks of ours": (
        names.DOCUMENT, names.FETCHED, names.KEY, names.REASON, names.REPORT,
    ),
}
# fmt: on
# The same of names that begin so.
LEFT_PREFIXES = (
    "DAGMan_",
    "DAG_",
    names.FEATURE,
    names.GPU_MODEL,
    gpus.PROPERTIES,
    "MachineAttr",
    names.PUBLISHED,
    names.MACHINE,
)  # fmt: skip

# What users ask for that no job object says, and what it is where they ask for nothing.
WISHES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys((
        "EncryptExecuteDirectory", "LeaveJobInQueue", "OnExitHold", "PeriodicHold",
        "PeriodicRelease", "PeriodicRemove", "StarterUserLogUseXML", "WantCheckpoint",
    ), (False,)),
    **dict.fromkeys(("HoldKillSig", "KillSig", "RemoveKillSig"), ("SIGTERM", 15)),
    **dict.fromkeys((
        "JarFiles", "JobMaxRetries", "StarterUserLog", "TransferInput", "TransferOutput",
        "TransferOutputRemaps",
    ), ("", 0)),
    "OnExitRemove": (True,),
}  # fmt: skip

_KNOWN = expected((*KINDS, *_OTHERS), LEFT)
_FOLDED = frozenset(name.lower() for name in _KNOWN)
_BEGINS = tuple(each.lower() for each in LEFT_PREFIXES)
_BY_NAME = {name.lower(): kind for name, kind in KINDS.items()}


def unknown(ad: Ad) -> list[str]:
    """The attributes that are neither read nor among those that are left out."""
    return [name for name in ad if name not in _KNOWN and _is_unknown(name.lower())]


# decision 714
def unsaid(ad: Ad) -> list[str]:
    """What an ad asks for and no job object says, and what is not known at all."""
    asked = [
        name for name, nothing in WISHES.items()
        if name in ad and ad[name] is not UNDEFINED and not _is_one(ad[name], nothing)
    ]  # fmt: skip
    return sorted({*asked, *unknown(ad)} - {"JobUniverse"}, key=str.lower)


def _is_one(value: Any, among: tuple[Any, ...]) -> bool:
    return any(type(value) is type(each) and value == each for each in among)


def odd(ad: Ad) -> Iterator[str]:
    """The attributes whose value is none of their kind; what is undefined is nowhere."""
    for name, value in ad.items():
        kind = _kind(name)
        if kind is None or value is UNDEFINED or is_blank(value) or kind(value):
            continue
        worked_out = kind not in (text, flag) and isinstance(value, Node)
        if not (worked_out and kind(evaluate.attribute(ad, name))):
            yield name


# decision 891
def with_numbers(ad: Ad) -> Ad:
    """An ad of which a text that is a number is that number, where a number is expected."""
    read = {
        name: number
        for name, value in ad.items()
        if isinstance(value, str)
        and _kind(name) in _OF_NUMBERS
        and (number := as_number(value)) is not value
    }
    return ad.merged(read) if read else ad


def of_resource(name: str) -> bool:
    """Whether an attribute, by its name in small letters, is an amount of a Resource."""
    return name.startswith(table.REQUEST) or name.endswith(table.PROVISIONED)


def _is_unknown(name: str) -> bool:
    return name not in _FOLDED and not of_resource(name) and not name.startswith(_BEGINS)


def _kind(name: str) -> Kind | None:
    found = KINDS.get(name) or (None if name in _KNOWN else _BY_NAME.get(name.lower()))
    if found is None and of_resource(name.lower()):
        return asked if name.lower().startswith(table.REQUEST) else amount
    return found
