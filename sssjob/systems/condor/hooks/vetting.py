"""What of a report is believed: what neither arithmetic nor the queue refutes.

Reports come from hooks that run as the users of jobs. What a job used is told by them alone; but
when it was given to a slot, and what the slot gave, the queue knows. What is refuted is left out
and told, and the rest of the report counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from sssjob.classads import evaluate, hook_ads
from sssjob.classads.values import Ad
from sssjob.integers import LARGEST
from sssjob.systems.condor import gpus, names, usage
from sssjob.systems.condor.accounting.values import NUMBERS
from sssjob.systems.condor.hooks.queue import Attempt

SKEW = 300  # seconds by which clocks may differ
_CORES = 1 << 16  # of one machine, where nobody says
_SIGNALS = range(1, 129)
_CODES = range(-(1 << 31), 1 << 32)  # those of Windows are of 32 bits

_TIMES = ("JobStartDate", "JobCurrentStartDate")
_SPANS = ("JobDuration", "CumulativeSuspensionTime")
_CPU = ("RemoteUserCpu", "RemoteSysCpu")
_AMOUNTS = frozenset((*NUMBERS, *usage.EXTENSIONS, *_SPANS, "JobPid", "CpusUsage"))
_GIVEN = ("RemoteHost", "RemoteHosts", "LastRemoteHost")


def believed(ad: Ad, moment: int, attempt: Attempt | None, say: Callable[[str], None]) -> Ad:
    """An ad without what cannot be true, each of which is told.

    ``moment`` is when the report was left, in seconds since 1970; ``attempt`` what the queue knows
    of the attempt that it is about, None of one that it did not give away.
    """
    kept = dict(ad.items())
    began = attempt.at if attempt is not None else _began(ad, moment)
    for name, reason in _refuted(ad, moment, began, attempt is not None):
        say(f"{name} is {_shown(ad, name)}, {reason}; it is left out")
        del kept[name]
    if attempt is None:
        return Ad(kept)
    gave = next(iter(hook_ads.read(attempt.gave.encode())), Ad())
    for name in [each for each in kept if _is_given(each)]:
        if name not in gave or gave[name] != kept[name]:
            known = f"{gave[name]!r}" if name in gave else "nothing of the kind"
            say(f"{name} is {_shown(ad, name)}, and the slot gave {known}, which counts")
        del kept[name]
    devices = [each for each in ad.text(gpus.ASSIGNED).split(",") if each.strip()]
    if devices and len(devices) != (gave.number("GPUsProvisioned") or 0):
        say(f"{gpus.ASSIGNED} names {len(devices)} GPUs, which the slot did not give")
        kept = {name: value for name, value in kept.items() if name != gpus.ASSIGNED}
    if names.was_started(ad) and not any(kept.get(name) for name in _TIMES):
        kept["JobStartDate"] = int(attempt.at)  # when nothing better is known
    return Ad(kept).merged({**gave, names.FETCHED: int(attempt.at)})


def _began(ad: Ad, moment: int) -> float:
    """When a job of a schedd began by its own ad, the moment itself if it does not say."""
    found = [value for name in _TIMES if (value := evaluate.number(ad, name)) is not None]
    return max([each for each in found if 0 < each <= moment + SKEW], default=moment)


def _refuted(ad: Ad, moment: int, began: float, fetched: bool) -> Iterator[tuple[str, str]]:
    """The attributes that cannot be true, each with the reason."""
    longest = max(moment - began, 0) + SKEW
    cores = evaluate.number(ad, f"{names.MACHINE}total_cpu")
    most = longest * (cores if cores is not None and 0 < cores < _CORES else _CORES)
    for name in ad:
        value = evaluate.number(ad, name)
        if value is None:
            continue
        if name == "ExitSignal" and value not in _SIGNALS:
            yield name, "which is no signal"
        elif name == "ExitCode" and value not in _CODES:
            yield name, "which is no exit code"
        elif name in ("ExitSignal", "ExitCode") or name not in _AMOUNTS:
            continue
        elif not math.isfinite(value) or not 0 <= value <= LARGEST:
            yield name, "which is no amount"
        elif name in _TIMES and value > moment + SKEW:
            yield name, f"after its report was left ({moment})"
        elif name in _TIMES and fetched and value < began - SKEW:
            yield name, f"before it was given to a slot ({int(began)})"
        elif fetched and name in _SPANS and value > longest:
            yield name, f"longer than since it was given to a slot ({int(longest)} s)"
        elif fetched and name in _CPU and value > most:
            yield name, f"more than the processors of a machine can in {int(longest)} s"


def _is_given(name: str) -> bool:
    """Whether an attribute tells what the slot gave, or which machine that is."""
    return (
        name in _GIVEN
        or name.endswith("Provisioned")
        or name.startswith((names.MACHINE, names.GPU_MODEL))
    )


def _shown(ad: Ad, name: str) -> str:
    value = evaluate.number(ad, name)
    return f"{ad.get(name)!r}"[:60] if value is None else f"{value:.15g}"
