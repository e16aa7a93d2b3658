"""What Flux gave to a job on a node: of the environment of its prolog, and of the job's R (RFC 20).

R says which cores of which broker the job has, from when and until when. Which broker is that of
this node, the broker itself says (``flux getattr rank``). R limits no memory. # decision 560
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from sssjob import host_name
from sssjob.amounts import Amount
from sssjob.errors import InvalidValue
from sssjob.features.batch.allocation import Allocation, Notes, amount, told
from sssjob.features.batch.call import Script
from sssjob.features.said import whole
from sssjob.integers import limit_seconds
from sssjob.systems.flux import ids

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_LISTED = re.compile(r"([0-9]{1,20})\|([0-9,\[\]-]*)")
_RANK = ("flux", "getattr", "rank")
_LATEST = 1 << 40  # seconds since 1970


class FluxAllocation(Script):
    """A prolog or epilog of Flux's job manager. What a job used is not told then."""

    def questions(self) -> Mapping[str, Sequence[str]]:
        """The job's R, and the rank of the broker here."""
        return {"job": ["flux", "job", "info", job_id(self.environment), "R"], "rank": _RANK}

    def allocation(self, answers: Mapping[str, str], *, asking: bool) -> Allocation:
        """What the job was given. Raises ``InvalidValue``."""
        return allocation(self.environment, answers.get("job", ""), answers.get("rank", ""))

    def node_questions(self, node: str) -> Mapping[str, Sequence[str]]:
        """R of the whole instance, and the rank of the broker here."""
        return {"node": ["flux", "resource", "R"], "rank": _RANK}

    def processors(self, node: str, answers: Mapping[str, str]) -> Amount | None:
        """The cores of the broker here."""
        shares = _shares(told(answers.get("node", ""), "flux resource R", []))
        count = shares.get(_rank(answers), 0)
        return amount(count, "flux resource R", "cores") if count else None

    def listings(self, node: str) -> Mapping[str, Sequence[str]]:
        """``flux jobs`` of all users, with jobs whose epilog runs."""
        words = ["--user=all", "--filter=running", "--count=0", "--format={id.dec}|{ranks}"]
        return {"jobs": ["flux", "jobs", "-n", *words], "rank": _RANK}

    def present(self, node: str, answers: Mapping[str, str]) -> frozenset[str] | None:
        """Those that have the rank of the broker here."""
        rank = _rank(answers)
        found = set()
        for line in answers.get("jobs", "").splitlines():
            each = _LISTED.fullmatch(line.strip())
            spans = None if each is None else _spans(each[2].strip("[]"))
            if each is None or spans is None:
                return None
            if any(low <= rank <= high for low, high in spans):
                found.add(each[1])
        return frozenset(found) if rank >= 0 else None


def job_id(environment: Mapping[str, str]) -> str:
    """The number of the job, whatever form its id has. Raises ``InvalidValue``."""
    stated = environment.get("FLUX_JOB_ID", "").strip()
    found = ids.number(stated)
    if not (found.isascii() and found.isdigit()):
        raise InvalidValue(stated, "$FLUX_JOB_ID, as Flux sets it for a prolog")
    return found


def allocation(environment: Mapping[str, str], printed: str = "", rank: str = "") -> Allocation:
    """What was given, of the environment, of R, and of the rank of the broker here.

    Raises ``InvalidValue`` where the environment names no job.
    """
    job = job_id(environment)
    notes = Notes()
    form = told(printed, "flux job info", notes)
    shares = _shares(form)
    if form is not None and not shares:
        notes.append("flux job info shows no R of version 1")
    if not shares:
        notes.unlearned.add("wall_limit_secs")
    amounts = dict(_times(form, notes)) if shares else {}
    here = _rank({"rank": rank})
    if here in shares:
        amounts["allocated_cpu"] = amount(shares[here], "R", f"cores of rank {here}")
    elif shares:
        notes.append(f"R shows nothing of what the job has on rank {rank.strip() or '?'}")
    node = host_name.own()
    user = environment.get("FLUX_JOB_USERID", "")
    return Allocation(
        job, node, user, amounts, len(shares) == 1 if shares else None, tuple(notes),
        frozenset(notes.unlearned),
    )  # fmt: skip


def _times(form: object, notes: Notes) -> Iterator[tuple[str, Amount]]:
    """The start, and how long the job may run; no end, or 0, is no limit."""
    start, end = (_moment(_execution(form).get(name)) for name in ("starttime", "expiration"))
    stated = _execution(form).get("expiration")
    if stated and not (start and end):
        notes.lose(f"R: its expiration {stated!r:.40} tells no limit", "wall_limit_secs")
    if start:
        yield "jobstart_secs", amount(math.floor(start), "R", "starttime")
    if start and end and end > start:
        seconds = limit_seconds(round(end - start, 3))  # what is finer is that of binary fractions
        yield "wall_limit_secs", amount(seconds, "R", "expiration - starttime")
    elif start and end:
        notes.lose(f"R: its expiration {end} is not after its start", "wall_limit_secs")


def _moment(value: object) -> float:
    """Seconds since 1970; 0 where they are none."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < _LATEST else 0.0  # type: ignore[operator,arg-type]


def _execution(form: object) -> Mapping[str, object]:
    found = form.get("execution") if isinstance(form, dict) and form.get("version") == 1 else None
    return found if isinstance(found, dict) else {}


def _shares(form: object) -> dict[int, int]:
    """Cores by rank; nothing where any of it is not understood."""
    rows = _execution(form).get("R_lite")
    found: dict[int, int] = {}
    for row in rows if isinstance(rows, list) else ():
        children = row.get("children") if isinstance(row, dict) else None
        cores = _spans(children.get("core") if isinstance(children, dict) else None)
        ranks = _spans(row.get("rank")) if cores else None
        if not cores or not ranks or sum(high - low + 1 for low, high in ranks) > 100_000:
            return {}
        count = sum(high - low + 1 for low, high in cores)
        for low, high in ranks:
            if found.keys() & range(low, high + 1):
                return {}
            found.update(dict.fromkeys(range(low, high + 1), count))
    return found


def _spans(text: object) -> list[tuple[int, int]] | None:
    """The ranges of an idset such as 0-3,8 (RFC 22); None where it is no such thing."""
    if text == "":
        return []
    parts = [_RANGE.fullmatch(part) for part in text.split(",")] if isinstance(text, str) else []
    found = [(int(part[1]), int(part[2] or part[1])) for part in parts if part]
    rising = all(low <= high for low, high in found)
    apart = all(one[1] < two[0] for one, two in pairwise(found))
    return found if found and len(found) == len(parts) and rising and apart else None


def _rank(answers: Mapping[str, str]) -> int:
    """The rank of the broker here; -1 where it does not say it."""
    found = whole(answers.get("rank", "").strip())
    return -1 if found is None else found
