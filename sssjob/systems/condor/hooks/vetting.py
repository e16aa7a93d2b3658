"""What of a report is believed: what neither arithmetic nor the queue refutes.

Reports come from hooks that run as the users of jobs. What a job used is told by them alone; but
when it was given to a slot, and what the slot gave, the queue knows. What is refuted is left out
and told, and the rest of the report counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sssjob.classads import evaluate, hook_ads
from sssjob.classads.values import Ad, Unparsed
from sssjob.integers import LARGEST
from sssjob.systems.condor import gpus, names, usage
from sssjob.systems.condor.accounting.values import NUMBERS
from sssjob.systems.condor.hooks.queue import Attempt

if TYPE_CHECKING:
    from sssjob.classads.values import Attribute

SKEW = 300  # seconds by which clocks may differ
_CORES = 1 << 16  # of one machine, where nobody says
_SIGNALS = range(1, 129)
_CODES = range(-(1 << 31), 1 << 32)  # those of Windows are of 32 bits

_TIMES = ("JobStartDate", "JobCurrentStartDate")


def _folded(*named: str) -> frozenset[str]:
    """Names as they are compared: case does not tell them apart."""
    return frozenset(name.lower() for name in named)


_WHEN = _folded(*_TIMES)
_SPANS = _folded("JobDuration", "CumulativeSuspensionTime")
_CPU = _folded("RemoteUserCpu", "RemoteSysCpu")
_ENDS = _folded("ExitSignal", "ExitCode")
_AMOUNTS = _folded(*NUMBERS, *usage.EXTENSIONS, "JobPid", "CpusUsage") | _SPANS
_NUMBERED = _AMOUNTS | _ENDS
_GIVEN = _folded("RemoteHost", "RemoteHosts", "LastRemoteHost")
# What a job asks for, in the words of condor_submit, and what that is said by.
_ASKED = _folded(
    names.REQUIREMENTS, names.RANK, gpus.REQUIRE, "RequestCpus", "RequestMemory", "RequestDisk",
    "RequestGPUs", "MemoryUsage",
)  # fmt: skip
_MOST_ASKED = 16  # expressions of what a site declares
_LONGEST = 40  # letters of a number
_GIVES = (names.MACHINE.lower(), names.GPU_MODEL.lower())


def believed(ad: Ad, moment: int, attempt: Attempt | None, say: Callable[[str], None]) -> Ad:
    """An ad without what cannot be true, each of which is told.

    ``moment`` is when the report was left, in seconds since 1970; ``attempt`` what the queue knows
    of the attempt that it is about, None of one that it did not give away.
    """
    ad = _plain(ad)
    kept = dict(ad.items())
    began = attempt.at if attempt is not None else _began(ad, moment)
    for name, reason in _refuted(ad, moment, began, attempt is not None):
        say(f"{name} is {_shown(ad, name)}, {reason}; it is left out")
        del kept[name]
    if attempt is None:
        return Ad(kept)
    if names.was_started(ad) and not any(Ad(kept).get(name) for name in _TIMES):
        kept["JobStartDate"] = int(attempt.at)  # when nothing better is known
    fetched = {names.FETCHED: int(attempt.at)}
    if not attempt.gave:
        return Ad(kept).merged(fetched)
    gave = next(iter(hook_ads.read(attempt.gave.encode())), Ad())
    for name in [each for each in kept if _is_given(each)]:
        if name not in gave or gave[name] != kept[name]:
            known = f"{gave[name]!r}" if name in gave else "nothing of the kind"
            say(f"{name} is {_shown(ad, name)}, and the slot gave {known}, which counts")
        del kept[name]
    devices = [each for each in ad.text(gpus.ASSIGNED).split(",") if each.strip()]
    if devices and len(devices) != (gave.number("GPUsProvisioned") or 0):
        say(f"{gpus.ASSIGNED} names {len(devices)} GPUs, which the slot did not give")
        kept = {name: kept[name] for name in kept if name.lower() != gpus.ASSIGNED.lower()}
    return Ad(kept).merged({**gave, **fetched})


# decision 630
def _plain(ad: Ad) -> Ad:
    """An ad whose numbers are numbers, and that is worked out in no time whatever is in it.

    A starter writes numbers as they are. An expression of many steps in the place of one, of which
    a user can leave any number, would keep the hooks from the reports of everybody else. Only what
    a schedd's job asks for may be an expression.
    """
    kept: dict[str, Attribute] = {}
    asked = 0
    for name, value in ad.items():
        if isinstance(value, Unparsed):
            known = name.lower()
            if known in _NUMBERED or known.endswith("provisioned"):
                number = _literal(value)
                if number is None:
                    continue
                value = number
            elif known in _ASKED or (known.startswith("request") and asked < _MOST_ASKED):
                asked += known not in _ASKED
            else:
                continue
        kept[name] = value
    return Ad(kept)


def _literal(value: Unparsed) -> int | float | None:
    """A number that is written as an expression, such as 1e6 or real("INF"); None of any other."""
    if len(value.text) > _LONGEST:
        return None
    return evaluate.number(Ad({"it": value}), "it")


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
        known = name.lower()
        # Of the others nothing is asked, however many there are.
        value = evaluate.number(ad, name) if known in _NUMBERED else None
        if value is None:
            continue
        if known == "exitsignal" and value not in _SIGNALS:
            yield name, "which is no signal"
        elif known == "exitcode" and value not in _CODES:
            yield name, "which is no exit code"
        elif known in _ENDS:
            continue
        elif not math.isfinite(value) or not 0 <= value <= LARGEST:
            yield name, "which is no amount"
        elif known in _WHEN and value > moment + SKEW:
            yield name, f"after its report was left ({moment})"
        elif known in _WHEN and fetched and value < began - SKEW:
            yield name, f"before it was given to a slot ({int(began)})"
        elif fetched and known in _SPANS and value > longest:
            yield name, f"longer than since it was given to a slot ({int(longest)} s)"
        elif fetched and known in _CPU and value > most:
            yield name, f"more than the processors of a machine can in {int(longest)} s"


def _is_given(name: str) -> bool:
    """Whether an attribute tells what the slot gave, or which machine that is."""
    known = name.lower()
    return known in _GIVEN or known.endswith("provisioned") or known.startswith(_GIVES)


def _shown(ad: Ad, name: str) -> str:
    value = evaluate.number(ad, name)
    return f"{ad.get(name)!r}"[:60] if value is None else f"{value:.15g}"
