"""What a job and a step of ``sacct --json`` tell, in the columns that sacct prints as text.

The two outputs say the same by other names, so what becomes of a column is said once, in
``slurm_table``. Numbers are plain or ``{"set", "infinite", "number"}``, and what is not known is
null, "" or {}: it differs from version to version and even from job to job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sssjob.accounting.lines import legal
from sssjob.errors import InvalidValue

Tree = Mapping[str, Any]

UNLIMITED = "UNLIMITED"
_INFINITE = ("infinity", "inf", "unlimited")


class Told(NamedTuple):
    """One column of sacct's, and the place in the JSON of a job or a step that tells it.

    ``read`` is given the value there, None where there is none, and gives the text of the column.
    Without a path it is given the whole.
    """

    column: str
    path: tuple[str, ...]
    read: Callable[[Any], str]


def text(value: Any) -> str:
    """A text; sacct of 22.05 prints the number 0 where a name is missing."""
    return legal(value) if isinstance(value, str) else ""


def number(value: Any) -> str:
    """A whole number, or one of the words for none."""
    if isinstance(value, Mapping):
        if value.get("infinite"):
            return UNLIMITED
        value = value.get("number") if value.get("set") else None
    if value is None or value == "" or value is False:
        return ""
    if isinstance(value, str) and value.lower() in _INFINITE:
        return UNLIMITED
    if isinstance(value, (int, str)) and not isinstance(value, bool):
        return "" if str(value).startswith("-") else str(value)
    if isinstance(value, float):
        return UNLIMITED if value == float("inf") else str(int(value)) if value >= 0 else ""
    raise InvalidValue(str(value), "a number")


def time(value: Any) -> str:
    """A time since 1970; 0 is none."""
    found = number(value)
    return "" if found == "0" else found


def positive(value: Any) -> str:
    """A number of which 0 says that it is not known."""
    return time(value)


def clock(value: Any) -> str:
    """Seconds as ``HH:MM:SS``."""
    found = number(value)
    return spent(int(found), 0) if found.isdecimal() else ""


def spent(seconds: int, microseconds: int) -> str:
    """CPU time as sacct prints it.

    >>> spent(3661, 500)
    '01:01:01.000500'
    """
    minutes, second = divmod(seconds + microseconds // 1_000_000, 60)
    fraction = f".{microseconds % 1_000_000:06}" if microseconds % 1_000_000 else ""
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}{fraction}"


def cpu(value: Any) -> str:
    """CPU time out of ``{"seconds", "microseconds"}``."""
    if not isinstance(value, Mapping):
        return clock(value)
    seconds, microseconds = number(value.get("seconds")), number(value.get("microseconds"))
    if not seconds and not microseconds:
        return ""
    return spent(int(seconds or 0), int(microseconds or 0))


def state(value: Any) -> str:
    """The state: a word, or since v0.0.40 a list, in which a flag such as REQUEUED comes last."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = value[-1] if value else ""
    return text(value)


def state_of_job(job: Tree) -> str:
    """The state, and who cancelled the job."""
    word = state(at(job, ("state", "current")))
    who = text(job.get("kill_request_user"))
    return f"{word} by {who}" if word == "CANCELLED" and who else word


def exit_code(value: Any) -> str:
    """``code:signal``; what is not set of a pair is 0, of none nothing."""
    if not isinstance(value, Mapping):
        return ""
    code = number(value.get("return_code"))
    signal = value.get("signal")
    if isinstance(signal, Mapping):  # its number was called signal_id until v0.0.39
        signal = number(signal.get("id", signal.get("signal_id")))
    else:
        signal = ""
    return f"{code or 0}:{signal or 0}" if code or signal else ""


def job_id(job: Tree) -> str:
    """The id as sacct prints it: ``25_3`` of an array, ``26+1`` of a heterogeneous job."""
    raw = number(job.get("job_id"))
    if (array := time(at(job, ("array", "job_id")))) != "":
        task = number(at(job, ("array", "task_id")))
        waiting = text(at(job, ("array", "task")))
        if task:
            return f"{array}_{task}"
        return f"{array}_[{waiting.strip('[]')}]" if waiting else raw
    if (first := time(at(job, ("het", "job_id")))) != "":
        return f"{first}+{number(at(job, ('het', 'job_offset'))) or 0}"
    return raw


def user(job: Tree) -> str:
    """The user; of one whose account was deleted only the association knows the name."""
    return text(job.get("user")) or text(at(job, ("association", "user")))


def tres(value: Any) -> str:
    """A list of trackable resources as text; memory counts megabytes.

    >>> tres([{"type": "mem", "count": 200}, {"type": "gres", "name": "gpu", "count": 1}])
    'mem=200M,gres/gpu=1'
    """
    return ",".join(
        f"{name}={count}{'M' if name == 'mem' else ''}" for name, count in _amounts(value)
    )


def amount(name: str) -> Callable[[Any], str]:
    """The amount of one resource of a list."""

    def read(value: Any) -> str:
        return next((count for found, count in _amounts(value) if found == name), "")

    return read


def total_memory(value: Any) -> str:
    """The sum of memory over the tasks of a step, in bytes, as the list of which it is part."""
    count = amount("mem")(value)
    return f"mem={count}" if count else ""


def _amounts(value: Any) -> Iterable[tuple[str, str]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping) and (kind := text(item.get("type"))):
            name = text(item.get("name"))
            if (count := number(item.get("count"))) and count != UNLIMITED:
                yield (f"{kind}/{name}" if name else kind), count


def requested_memory(job: Tree) -> str:
    """The memory of the whole job; by the requested resources, or for each CPU or node."""
    if whole := amount("mem")(at(job, ("tres", "requested"))):
        return f"{whole}M"
    for name, letter in (("memory_per_cpu", "c"), ("memory_per_node", "n")):
        found = number(at(job, ("required", name)))
        if found and found != UNLIMITED:
            return f"{found}M{letter}"
    return ""


def licenses(job: Tree) -> str:
    """The licences, unless the requested resources tell them as well."""
    requested = at(job, ("tres", "requested"))
    if any(name.startswith("license/") for name, _ in _amounts(requested)):
        return ""
    return text(job.get("licenses"))


def at(tree: Any, path: tuple[str, ...]) -> Any:
    """What is at a path, or None."""
    for name in path:
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(name)
    return tree


_RSS = ("tres", "requested")  # of a step this is what was used, whatever it is called

# fmt: off
JOB: tuple[Told, ...] = (
    Told("JobID",            (),                             job_id),
    Told("JobIDRaw",         ("job_id",),                    number),
    Told("Account",          ("account",),                   text),
    Told("AdminComment",     ("comment", "administrator"),   text),
    Told("AllocTRES",        ("tres", "allocated"),          tres),
    Told("Cluster",          ("cluster",),                   text),
    Told("Comment",          ("comment", "job"),             text),
    Told("Constraints",      ("constraints",),               text),
    Told("Container",        ("container",),                 text),
    Told("DerivedExitCode",  ("derived_exit_code",),         exit_code),
    Told("ElapsedRaw",       ("time", "elapsed"),            number),
    Told("Eligible",         ("time", "eligible"),           time),
    Told("End",              ("time", "end"),                time),
    Told("ExitCode",         ("exit_code",),                 exit_code),
    Told("Extra",            ("extra",),                     text),
    Told("FailedNode",       ("failed_node",),               text),
    Told("Group",            ("group",),                     text),
    Told("JobName",          ("name",),                      text),
    Told("Licenses",         (),                             licenses),
    Told("McsLabel",         ("mcs", "label"),               text),
    Told("NCPUS",            ("tres", "allocated"),          amount("cpu")),
    Told("NNodes",           ("allocation_nodes",),          positive),
    Told("NodeList",         ("nodes",),                     text),
    Told("Partition",        ("partition",),                 text),
    Told("Priority",         ("priority",),                  number),
    Told("QOS",              ("qos",),                       text),
    Told("QOSREQ",           ("qosreq",),                    text),
    Told("Reason",           ("state", "reason"),            text),
    Told("ReqCPUS",          ("required", "CPUs"),           positive),
    Told("ReqMem",           (),                             requested_memory),
    Told("ReqNodes",         ("tres", "requested"),          amount("node")),
    Told("ReqTRES",          ("tres", "requested"),          tres),
    Told("Reservation",      ("reservation", "name"),        text),
    Told("Restarts",         ("restart_cnt",),               number),
    Told("SLUID",            ("sluid",),                     text),
    Told("Start",            ("time", "start"),              time),
    Told("State",            (),                             state_of_job),
    Told("StdErr",           ("stderr_expanded",),           text),
    Told("StdIn",            ("stdin_expanded",),            text),
    Told("StdOut",           ("stdout_expanded",),           text),
    Told("Submit",           ("time", "submission"),         time),
    Told("SubmitLine",       ("submit_line",),               text),
    Told("Suspended",        ("time", "suspended"),          clock),
    Told("SystemComment",    ("comment", "system"),          text),
    Told("TimelimitRaw",     ("time", "limit"),              number),
    Told("TotalCPU",         ("time", "total"),              cpu),
    Told("User",             (),                             user),
    Told("WCKey",            ("wckey", "wckey"),             text),
    Told("WorkDir",          ("working_directory",),         text),
)

STEP: tuple[Told, ...] = (
    Told("AllocTRES",        ("tres", "allocated"),          tres),
    Told("AveRSS",           (*_RSS, "average"),             amount("mem")),
    Told("AveVMSize",        (*_RSS, "average"),             amount("vmem")),
    Told("ElapsedRaw",       ("time", "elapsed"),            number),
    Told("End",              ("time", "end"),                time),
    Told("ExitCode",         ("exit_code",),                 exit_code),
    Told("JobName",          ("step", "name"),               text),
    Told("MaxRSS",           (*_RSS, "max"),                 amount("mem")),
    Told("MaxVMSize",        (*_RSS, "max"),                 amount("vmem")),
    Told("NCPUS",            ("tres", "allocated"),          amount("cpu")),
    Told("NNodes",           ("nodes", "count"),             positive),
    Told("NodeList",         ("nodes", "range"),             text),
    Told("NTasks",           ("tasks", "count"),             positive),
    Told("Start",            ("time", "start"),              time),
    Told("State",            ("state",),                     state),
    Told("TotalCPU",         ("time", "total"),              cpu),
    Told("TRESUsageInTot",   (*_RSS, "total"),               total_memory),
)
# fmt: on

NAMES = tuple(dict.fromkeys(row.column for row in (*JOB, *STEP)))


def fields(rows: Iterable[Told], tree: Tree) -> list[str]:
    """The columns of NAMES for a job or a step. Raises ``InvalidValue``, naming the column."""
    found = dict.fromkeys(NAMES, "")
    for column, path, read in rows:
        try:
            found[column] = read(at(tree, path) if path else tree)
        except InvalidValue as wrong:
            raise InvalidValue(wrong.text, f"{wrong.expected}: {'/'.join(path)}") from None
    return list(found.values())
