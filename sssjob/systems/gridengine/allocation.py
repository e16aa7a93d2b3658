"""What Grid Engine gave to a job on a host: of a prolog's environment, its spool, and ``qstat``.

``$SGE_JOB_SPOOL_DIR/config`` has every limit but the one of elapsed time, which only the master
knows (``qstat -xml -j``) and the queue (``qconf -sq``); the lower one counts. What the prolog adds
to ``$SGE_JOB_SPOOL_DIR/environment`` is in the environment of the job.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lxml import etree

from sssjob.amounts import DERIVED, Amount
from sssjob.commands import is_name
from sssjob.document.parsing import parsed
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.features.batch.allocation import Allocation, Notes, amount, limit
from sssjob.features.batch.call import Script
from sssjob.features.batch.directories import VARIABLES
from sssjob.features.used import Used, of_file
from sssjob.integers import whole
from sssjob.systems.gridengine import words

CONFIG, ENVIRONMENT, USAGE = "config", "environment", "usage"  # in $SGE_JOB_SPOOL_DIR

_WALL = "wall_limit_secs"
_BATCH = frozenset("BP")  # the types of queues whose slots are for batch jobs


class GridEngineAllocation(Script):
    """A prolog or epilog of Grid Engine, which has a directory for the job: its spool."""

    def questions(self) -> Mapping[str, Sequence[str]]:
        """``qstat`` and ``qconf``."""
        return questions(self.environment)

    def allocation(self, answers: Mapping[str, str], *, asking: bool) -> Allocation:
        """What the job was given. Raises ``InvalidValue``."""
        job, queue = answers.get("job", ""), answers.get("queue", "")
        return allocation(self.environment, self._config() if asking else "", job, queue)

    def node_questions(self, node: str) -> Mapping[str, Sequence[str]]:
        """``qstat -f`` for the queues of the host, and ``qconf`` for what it has altogether."""
        if not is_name(node):
            return {}
        queues = ["qstat", "-f", "-xml", "-q", f"*@{node}"]
        return {"queues": queues, "host": ["qconf", "-se", node]}

    def processors(self, node: str, answers: Mapping[str, str]) -> Amount | None:
        """The slots of the queues of the host."""
        count = slots(answers.get("queues", ""), answers.get("host", ""))
        return amount(count, "qstat", "slots of the queues on the host") if count else None

    def listings(self, node: str) -> Mapping[str, Sequence[str]]:
        """``qstat -f`` for the queues of the host, with each task of an array on its own."""
        if not is_name(node):
            return {}
        of_all = ["-g", "d", "-s", "rs", "-u", "*"]
        return {"jobs": ["qstat", "-f", "-xml", *of_all, "-q", f"*@{node}"]}

    def present(self, node: str, answers: Mapping[str, str]) -> frozenset[str] | None:
        """The jobs in the queues of the host; a host without a queue says nothing of its jobs."""
        root = _tree(answers.get("jobs", ""), [])
        queues = [] if root is None else list(root.iter("Queue-List"))
        return frozenset(_listed(queues)) if queues else None

    def used(self) -> Used | None:
        """What stands in the spool when the job has ended."""
        if not self._spool:
            return None
        try:
            return of_file(Path(self._spool, USAGE))
        except (OSError, UnusableInput):
            return None

    def export(self, variables: Mapping[str, str]) -> None:
        """Add to the environment file of the job. Raises ``OSError``."""
        if self._spool:
            place = Path(self._spool, ENVIRONMENT)
            handle = os.open(place, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            with open(handle, "r+") as file:
                file.write(exports(variables, file.read()))

    @property
    def _spool(self) -> str:
        return self.environment.get("SGE_JOB_SPOOL_DIR", "")

    def _config(self) -> str:
        try:
            return Path(self._spool, CONFIG).read_text("utf-8", "replace")
        except OSError:
            return ""


def questions(environment: Mapping[str, str]) -> dict[str, list[str]]:
    """The commands that tell of the job and of its queue on this host, by what they print."""
    asked = {"job": ["qstat", "-xml", "-j", _number(environment)]}
    queue, host = environment.get("QUEUE", ""), environment.get("HOSTNAME", "")
    if is_name(queue):
        # An attribute of a queue may differ from host to host.
        asked["queue"] = ["qconf", "-sq", f"{queue}@{host}" if is_name(host) else queue]
    return asked


def job_id(environment: Mapping[str, str]) -> str:
    """The id of a job, or of a task of an array: 7 or 7.3. Raises ``InvalidValue``."""
    task = environment.get("SGE_TASK_ID", "")
    return _number(environment) + (f".{task}" if task.isascii() and task.isdigit() else "")


def allocation(
    environment: Mapping[str, str], config: str = "", job: str = "", queue: str = ""
) -> Allocation:
    """What was given; ``config``, ``job`` and ``queue`` are the texts of the sources above.

    Raises ``InvalidValue`` where the environment names no job.
    """
    known = dict(_pairs(config, "="))
    notes = Notes()
    if not config:
        notes.lose("there is no config in $SGE_JOB_SPOOL_DIR", "cpu_limit_secs")
    amounts = dict(_amounts(known, environment, notes))
    of_queue = dict(_pairs(queue, None)).get("h_rt", "")
    if not of_queue:
        notes.unlearned.add(_WALL)
    stated = {"qstat": _requested(job, notes), "qconf": of_queue}
    limits = {
        source: seconds
        for source, text in stated.items()
        if (seconds := limit(words.limit, text, f"h_rt of {source}", notes, _WALL)) is not None
    }
    if limits:
        source = min(limits, key=lambda name: limits[name])
        amounts[_WALL] = amount(limits[source], source, "h_rt")
    hosts = environment.get("NHOSTS")
    return Allocation(
        job_id(environment), known.get("host") or environment.get("HOSTNAME", ""),
        known.get("job_owner", ""), amounts, hosts == "1" if hosts else None, tuple(notes),
        frozenset(notes.unlearned),
    )  # fmt: skip


def slots(queues: str, host: str) -> int | None:
    """How many slots there are for batch jobs on a host; None if that is not shown.

    ``queues`` is what ``qstat -f -xml`` printed of the queues there, ``host`` what ``qconf -se``
    did: all queues together have no more slots than the host, where it has a number of them.
    """
    root = _tree(queues, [])
    known = dict(_pairs(host.replace("\\\n", " "), None))
    if root is None or "complex_values" not in known:
        return None
    total = sum(
        _whole((each.findtext("slots_total") or "").strip())
        for each in root.iter("Queue-List")
        if _BATCH & set(each.findtext("qtype") or "")
    )
    for item in known["complex_values"].split(","):
        name, _, count = item.strip().partition("=")
        if name == "slots" and _whole(count):
            total = min(total, _whole(count))
    return total or None


def _listed(queues: list[etree._Element]) -> Iterator[str]:
    """The ids of the jobs in queues, by the rule of ``job_id``."""
    for row in (row for queue in queues for row in queue.iter("job_list")):
        task = row.findtext("tasks")
        yield (row.findtext("JB_job_number") or "") + (f".{task}" if task else "")


def exports(values: Mapping[str, str], before: str) -> str:
    """The lines that a prolog adds to the environment file of a job; the last one of a name counts.

    ``qsub -V`` inside a job brings the names of that job's directories along: they are emptied.
    """
    start = "" if not before or before.endswith("\n") else "\n"
    there = {line.partition("=")[0] for line in before.splitlines()}
    emptied = {name: "" for name in VARIABLES if name in there}
    return start + "".join(f"{name}={value}\n" for name, value in {**emptied, **values}.items())


def _amounts(
    config: Mapping[str, str], environment: Mapping[str, str], notes: Notes
) -> Iterator[tuple[str, Amount]]:
    """What the job has on this host: limits are for each slot there, where they are not for all."""
    alone = environment.get("NHOSTS") == "1"
    slots, source = _whole(environment.get("NSLOTS", "")) if alone else 0, "$NSLOTS"
    if not slots:
        slots, source = _whole(config.get("host_slots", "")), f"{CONFIG} host_slots"
    if slots:
        yield "allocated_cpu", amount(slots, source)
    cpu = limit(words.limit, config.get("h_cpu", ""), "h_cpu", notes, "cpu_limit_secs")
    if cpu is not None and (times := _times(config, "h_cpu", slots)):
        yield "cpu_limit_secs", amount(cpu * times, CONFIG, f"h_cpu x {times}")
    resident, address = (
        limit(words.size, config.get(name, ""), name, notes) for name in ("h_rss", "h_vmem")
    )
    if resident is not None:
        yield "max_rss_bytes", amount(resident, CONFIG, "h_rss")
        times = _times(config, "h_vmem", slots)
        if address is not None and (rest := address * times - resident) > 0:
            yield "max_swap_bytes", Amount(rest, CONFIG, DERIVED, f"h_vmem x {times} - h_rss")
    elif address is not None and (times := _times(config, "h_vmem", slots)):
        yield "max_rss_bytes", amount(address * times, CONFIG, f"h_vmem x {times}")


def _whole(text: str) -> int:
    return whole(text, 9) or 0


def _times(config: Mapping[str, str], name: str, slots: int) -> int:
    """A limit is for each slot, unless it is consumed once for the whole job; 0 is not known."""
    return 1 if config.get(f"{name}_is_consumable_job") == "1" else slots


def _requested(printed: str, notes: Notes) -> str:
    """The h_rt that the job must have, of what ``qstat -xml -j`` printed."""
    root = _tree(printed, notes)
    if root is None or root.find(".//JB_job_number") is None:
        notes.unlearned.add(_WALL)
    for row in () if root is None else root.iterfind(".//JB_hard_resource_list/qstat_l_requests"):
        if row.findtext("CE_name") == "h_rt":
            return row.findtext("CE_stringval") or ""
    return ""


def _tree(printed: str, notes: list[str]) -> etree._Element | None:
    if not printed:
        return None
    try:
        return parsed(printed.encode(), "utf-8")
    except etree.XMLSyntaxError as error:
        notes.append(f"qstat printed no XML: {error.msg}")
        return None


def _pairs(text: str, separator: str | None) -> Iterator[tuple[str, str]]:
    """The first line of each name: a later one may be part of something that a user wrote."""
    seen = set()
    for line in text.splitlines():
        parts = line.split(separator, 1)
        if len(parts) == 2 and parts[0] not in seen:
            seen.add(parts[0])
            yield parts[0], parts[1].strip()


def _number(environment: Mapping[str, str]) -> str:
    job = environment.get("JOB_ID", "")
    if not (job.isascii() and job.isdigit()):
        raise InvalidValue(job, "$JOB_ID, as Grid Engine sets it for a prolog")
    return job
