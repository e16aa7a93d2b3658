"""What LSF's words mean in options of bsub: sizes, times, and resource requirements."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.integers import whole
from sssjob.model import Property
from sssjob.nodes import plain
from sssjob.resource_names import GPU, LICENSE

_SECTION = re.compile(r"\s*(select|order|rusage|span|same|affinity|cu)\[([^\[\]]*)\]\s*")
_SIZE = re.compile(r"([0-9]{1,15})(?:([KMGT])B?)?", re.IGNORECASE)
_POWERS = {"K": 1, "M": 2, "G": 3, "T": 4}
_GPUS = re.compile(r"ngpus(?:_physical|_excl_[pt]|_shared)?")
_GPU_COUNT = re.compile(r"([0-9]{1,6})(?:\.0*)?(?:/(job|host|task))?")
_ZEROS = re.compile(r"\.0+(?=[A-Za-z]|\Z)")  # of the amounts that LSF prints
_SIZES = {"mem": "Memory", "tmp": "Disk"}
_NO_LICENCES = ("swp", "duration", "decay")
_GPU_MODEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SLOTS_OF = re.compile(r"\s*(?:([0-9]{1,9})\s*\*\s*)?\{([^{}]*)\}\s*")
_MINUTES = re.compile(r"(?:([0-9]{1,6}):)?([0-9]{1,7})")
_TERM = re.compile(
    r"(done|exit|ended)\(\s*(?:\"([^\"]+)\"|([0-9]+(?:\[[0-9]+\])?))\s*(?:,\s*(?:==)?\s*([0-9]+)\s*)?\)"
)
CONDITIONS = {"OnSuccess": "done", "OnFailure": "exit", "OnExit": "ended"}
_WORDS = {word: name for name, word in CONDITIONS.items()}


def sections(text: str) -> list[str] | None:
    """The sections of a resource requirement as NAME=CONTENT; None where it has another form."""
    found: list[str] = []
    place = 0
    while place < len(text):
        section = _SECTION.match(text, place)
        if section is None:
            return None
        found.append(f"{section[1]}={section[2].strip()}")
        place = section.end()
    return found


def reserved(text: str) -> list[tuple[str, str]]:
    """The parts of ``rusage`` as names and what stands behind ``=``, "" where nothing does.

    Colons and commas separate parts: behind a comma another duration may begin.

    >>> reserved("mem=100MB/host, ngpus_physical = 2:x")
    [('mem', '100MB/host'), ('ngpus_physical', '2'), ('x', '')]
    """
    found = [part.partition("=") for part in text.replace(",", ":").split(":")]
    return [(name.strip(), value.strip()) for name, _, value in found]


def reserved_gpus(name: str, text: str) -> tuple[int, str] | None:
    """GPUs that a part of ``rusage`` reserves, and of what: "" (each host), host, task or job.

    None where the part is about something else, or its number is none.

    >>> reserved_gpus("ngpus_physical", "2.00"), reserved_gpus("ngpus", "1/task")
    ((2, ''), (1, 'task'))
    """
    found = _GPU_COUNT.fullmatch(text) if _GPUS.fullmatch(name) else None
    return None if found is None else (int(found[1]), found[2] or "")


class ReservedAmount(NamedTuple):
    """What a part of ``rusage`` reserves: bytes of Memory or Disk, a number of GPUs, of a License.

    ``whose`` says of what: "" (each host), host, task or job. ``part`` is the text of the part, and
    ``name`` that of the licence, or the model of GPUs (then the number is 0).
    """

    kind: str
    number: int
    whose: str
    part: str
    name: str = ""


def reservations(text: str) -> list[ReservedAmount] | None:
    """What ``rusage`` reserves; None where a part of it says something else, such as how long.

    >>> found = reservations("mem=100.00, ngpus_physical=2/task:matlab=1")
    >>> [(each.kind, each.number, each.whose) for each in found]
    [('Memory', 104857600, ''), ('GPU', 2, 'task'), ('License', 1, 'job')]
    >>> reservations("mem=100:duration=5")
    """
    found = [_reservation(*part) for part in reserved(text)]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    has_gpus = any(each.kind == GPU and each.number for each in known)
    odd = any(each.kind == GPU and each.name and not has_gpus for each in known)
    return None if odd else known


def _reservation(name: str, text: str) -> ReservedAmount | None:
    part = f"{name}={text}"
    if (gpus := reserved_gpus(name, text)) is not None:
        return ReservedAmount(GPU, gpus[0], gpus[1], part)
    if name == "gmodel" and _GPU_MODEL.fullmatch(text):
        return ReservedAmount(GPU, 0, "", part, text)
    amount, slash, whose = text.partition("/")
    amount = _ZEROS.sub("", amount)
    if name in _SIZES:
        if bool(whose) is not bool(slash) or whose not in ("", "host", "task", "job"):
            return None
        with suppress(InvalidValue):
            return ReservedAmount(_SIZES[name], size(amount, 2), whose, part)
        return None
    number = whole(amount)
    if slash or number is None or name in _NO_LICENCES or not plain(name):
        return None
    return ReservedAmount(LICENSE, number, "job", part, name)


def is_licence(name: str) -> bool:
    """Whether ``rusage`` takes a name for that of a licence.

    >>> is_licence("matlab"), is_licence("mem"), is_licence("ngpus")
    (True, False, False)
    """
    found = _reservation(name, "1")
    return found is not None and found.kind == LICENSE


class AskedGPUs(NamedTuple):
    """What ``-gpu`` asks for: how many GPUs, of what ("" is each host, else host or task).

    ``model`` is "" where it names none; ``rest`` is what else it says, as it said it.
    """

    number: int
    whose: str
    model: str
    rest: str


def asked_gpus(text: str) -> AskedGPUs | None:
    """The GPUs of a value of ``-gpu``; None where it does not say how many.

    >>> asked_gpus("mode=shared:num=2/task:gmodel=TeslaV100-32G:j_exclusive=yes")
    AskedGPUs(number=2, whose='task', model='TeslaV100-32G', rest='mode=shared:j_exclusive=yes')
    >>> asked_gpus("mode=exclusive_process")
    """
    parts = [part.strip() for part in text.split(":")]
    said = dict(part.partition("=")[::2] for part in parts)
    found = _GPU_COUNT.fullmatch(said.get("num", ""))
    if len(said) < len(parts) or not found or not int(found[1]) or found[2] == "job":
        return None
    model = said.get("gmodel", "")
    taken = ["num", *(["gmodel"] if _GPU_MODEL.fullmatch(model) else [])]
    rest = ":".join(part for part in parts if part.partition("=")[0] not in taken)
    return AskedGPUs(int(found[1]), found[2] or "", model if len(taken) > 1 else "", rest)


def terms(text: str) -> list[tuple[int, str]] | None:
    """The simple requirements of a compound one, each behind its number of slots.

    A simple one has 0 slots: it is about all. None of alternatives, and of what is not said right.

    >>> terms("1*{rusage[ngpus=2]} + 4*{rusage[ngpus=1]}"), terms("rusage[ngpus=2]")
    ([(1, 'rusage[ngpus=2]'), (4, 'rusage[ngpus=1]')], [(0, 'rusage[ngpus=2]')])
    >>> terms("{select[a]} || {select[b]}")
    """
    if "{" not in text:
        return [(0, text)]
    found = [_SLOTS_OF.fullmatch(part) for part in text.split("+")]
    known = [(int(each[1]), each[2]) for each in found if each is not None and each[1]]
    return known if len(known) == len(found) else None


def minutes(text: str) -> int:
    """``[HOURS:]MINUTES`` in seconds. Raises ``InvalidValue``."""
    found = _MINUTES.fullmatch(text.partition("/")[0])
    if found is None or "/" in text:
        raise InvalidValue(text, "minutes such as 90 or 1:30")
    return (60 * int(found[1] or 0) + int(found[2])) * 60


def written_minutes(seconds: int) -> str:
    """Seconds in minutes, rounded up."""
    return str(units.rounded_up(seconds, 60))


def size(text: str, power: int = 1) -> int:
    """Bytes; a number without a unit is in that of limits, KB. Raises ``InvalidValue``."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise InvalidValue(text, "a size such as 4GB")
    return int(found[1]) << (10 * (_POWERS[found[2].upper()] if found[2] else power))


def kilobytes(number: int) -> str:
    """Bytes in kilobytes, rounded up."""
    return f"{units.rounded_up(number, 1024)}KB"


def dependencies(text: str) -> tuple[Property, ...] | None:
    """The jobs of a condition that are all waited for; None of any other condition.

    >>> [(each.text, *each.attributes.values()) for each in dependencies("done(5) && ended(6)")]
    [('5',), ('6', 'OnExit')]
    >>> dependencies("done(5) || done(6)")
    """
    found = [_TERM.fullmatch(part.strip()) for part in text.split("&&")]
    return None if None in found else tuple(_waited_for(term) for term in found if term)


def _waited_for(term: re.Match[str]) -> Property:
    attributes = {} if term[1] == "done" else {"condition": _WORDS[term[1]]}
    if term[4]:
        attributes = {"condition": "OnExit", "code": term[4]}
    if term[2]:
        attributes["designator"] = "JobName"
    return Property("Dependency", term[2] or term[3], attributes)
