"""What becomes of each field of a Grid Engine record: the mapping, laid beside accounting(5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, TypeVar

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.nodes import plain as plain_name
from sssjob.records.clock import BLANK, Clock
from sssjob.records.layout import NEVER, Names
from sssjob.records.readers import (
    any_of,
    extension,
    integer,
    kilobytes,
    kilobytes_of_bytes,
    listed,
    number,
    seconds,
)
from sssjob.records.record import (
    DELIVERED,
    JOB,
    NOWHERE,
    REQUESTED,
    Field,
    Found,
    Instead,
    in_bulk,
    in_parts,
    plain,
    varied,
)
from sssjob.records.texts import BulkColumn, Coded, Plain, SideBySide, same
from sssjob.records.values import is_whole
from sssjob.resource_names import GPU, GPU_NAMES
from sssjob.systems.gridengine import requested, words
from sssjob.systems.gridengine.accounting.columns import is_category, is_task

N = TypeVar("N", int, Fraction)

HOSTS = "(hosts)"  # of all tasks, where slave tasks have rows of their own

_PE = re.compile(r"-pe (\S+ \S+)")
_LIMITED = re.compile(r"\b[hs]_(?:cpu|core|data|fsize|rss|stack)=")
_TASKS = re.compile(r"[0-9]{1,18}(?:[-:,][0-9]{1,18})*")  # of jobs that wait, many tasks
_LIST = re.compile(r"(?:^|\s)-l (\S+)")
_HARD = re.compile(r"\s-soft\s.*?(?=\s-hard\s|$)")
_GPU = {"name": GPU}
_clock = Clock("UTC", BLANK)
_REMEMBERED = 1 << 12  # limits and sizes of categories, of which a site has few

# fmt: off
# What ``failed`` says, by sge_status(5).
FAILURES = {
    "1": "before the job", "3": "before writing config", "4": "before writing a PID",
    "5": "on reading config", "6": "on setting processors", "7": "before the prolog",
    "8": "in the prolog", "9": "before the start of the parallel environment",
    "10": "at the start of the parallel environment", "11": "before the job",
    "12": "before the stop of the parallel environment",
    "13": "at the stop of the parallel environment", "14": "before the epilog",
    "15": "in the epilog", "16": "on releasing processors", "17": "by a signal",
    "18": "shepherd returned an error", "19": "before writing the exit status",
    "20": "unexpected error file", "21": "in recognising the job", "24": "migrating",
    "25": "rescheduling", "26": "opening an input or output file", "27": "searching the shell",
    "28": "changing into the working directory", "29": "AFS", "30": "rescheduled by an error",
    "37": "over a limit that the master keeps", "38": "adding a supplementary group",
    "100": "after the job, by a signal or a limit",
}
# fmt: on

TYPE = "SGE"  # of Extensions

noted = partial(extension, TYPE)  # the attributes of what the standard has no property for


def worded(text: str) -> Found:
    """Text, unless it is the word for none."""
    return None if text == "NONE" else text


@varied
def id(job: str, task: str) -> Found:
    """The job, and its task where it is an array."""
    return f"{job}.{task}" if task != "0" and _TASKS.fullmatch(task) else job


@varied
def task(text: str) -> Found:
    """The number of an array's task; what is none stands in no id."""
    if not _TASKS.fullmatch(text):
        raise InvalidValue(text, "a number of a task")
    return None if text == "0" else text


@varied
def reservation(text: str) -> Found:
    """The number of an advance reservation."""
    return None if text == "0" else text


def account(text: str) -> Found:
    """An account that someone named; every job has the account ``sge`` otherwise."""
    return None if text in ("sge", "NONE") else text


def department(text: str) -> Found:
    """A department that was set up."""
    return None if text in ("defaultdepartment", "NONE") else text


def priority(text: str) -> Found:
    """A priority other than the usual."""
    return None if text == "0" else text


def hosts(host: str, environment: str, told: str) -> Found:
    """The hosts of all tasks; of a parallel job without rows for them only the first is known."""
    if told:
        return listed(told.split(","))
    return host if environment == "NONE" else None


def host_count(host: str, environment: str, told: str) -> Found:
    """How many they are, where that is known."""
    return str(told.count(",") + 1) if told else "1" if environment == "NONE" else None


def first_host(host: str, environment: str, told: str) -> Found:
    """The host of a parallel job, of which there may be more."""
    return None if told or environment == "NONE" else host or None


def wall(text: str, better: str) -> Found:
    """Univa tells the time on the clock in a field of its own."""
    return None if better else seconds(text)


def resident(text: str, better: str) -> Found:
    """Likewise the most memory."""
    return None if better.strip("0.") else kilobytes(text)


def state(failed: str) -> Found:
    """What has a record has ended, in one way or another."""
    found = (Property("State", "Completed"),)
    if failed == "0":
        return found
    meaning = FAILURES.get(failed)
    message = f"failed {failed}: {meaning}" if meaning else f"failed {failed}"
    return (*found, Property("StatusMessage", message))


def signal(status: str, failed: str) -> Found:
    """The signal that ended the job: 128 + n after a failure of 100 or 37."""
    told = is_whole(status) and failed in ("100", "37") and 128 < int(status) < 256
    return str(int(status) - 128) if told else None


def gigabytes(text: str) -> Found:
    """An amount of data, where there was any."""
    if not re.fullmatch(r"[0-9]{1,18}(?:\.[0-9]{1,18})?", text):
        raise InvalidValue(text, "an amount in GB")
    return units.decimal(Fraction(text)) if text.strip("0.") else None


def requests_apart(text: str) -> Sequence[str]:
    """Categories of one request each, which together are what is read of this one.

    What is asked for of each slot stays beside their number; a category with GPUs, as it is.

    >>> requests_apart("-u amy -l h_rt=60,h_vmem=2G -pe mpi 8"), requests_apart("-l s=1,h_vmem=2G")
    (['-l h_rt=60', '-l h_vmem=2G -pe mpi 8'], ['-l h_vmem=2G'])
    """
    if text == "NONE" or "gpu" in text:
        return (text,)
    hard = _hard(text)
    asked = _asked(hard)
    found = []
    if "h_rt" in asked:
        found.append(f"-l h_rt={asked['h_rt']}")
    of_slots = [f"-l {name}={asked[name]}" for name in ("mem_free", "h_vmem") if name in asked]
    if "-pe" in hard and (parallel := _PE.search(hard)):
        if " -" in parallel[0]:  # an option, and no environment or number
            return (text,)
        of_slots.append(parallel[0])
    if of_slots:
        found.append(" ".join(of_slots))
    others = ",".join(f"{name}={value}" for name, value in asked.items() if _is_host(name, value))
    return [*found, f"-l {others}"] if others else found


def _is_host(name: str, value: str) -> bool:
    """Whether a resource is what a host has to be."""
    return name in (*requested.HOST_NAMES, "arch") or requested.is_feature(name, value)


# A category with a list of resources in which h_rt stands; its limit, and what stands around.
_LIMITED_TIME = r"(?:^| )-l (?:[^ ]*,)?h_rt="
_LIMIT, _OF_LIMIT = r"h_rt=(?P<limit>[^, ]*)", r"h_rt=[^, ]*,?"
_RESOURCES, _PARALLEL = r"(?P<list>-l [^ ]+)", r"(?P<pe>-pe [^ ]+ [^ ]+)"


def _columns_apart(column: BulkColumn) -> Sequence[Coded] | None:
    """The limit of time, and all other requests, each as categories; others are the second whole.

    Limits differ from job to job; what is asked for besides, seldom.
    """
    if not isinstance(column, Plain):
        return None
    import pyarrow.compute as pc

    array = column.array
    is_odd = pc.invert(pc.match_substring_regex(array, _LIMITED_TIME))
    for text in ("-l ", "h_rt"):
        is_odd = pc.or_(is_odd, pc.not_equal(pc.count_substring(array, text), 1))
    is_odd = pc.or_(is_odd, pc.greater(pc.count_substring(array, "-pe"), 1))
    is_odd = pc.or_(is_odd, pc.match_substring_regex(array, "gpu|-soft|-pe ([^ ]+ )?-"))

    def told(texts: Any, pattern: str) -> Any:
        return pc.fill_null(pc.struct_field(pc.extract_regex(texts, pattern), 0), "")

    rest = pc.replace_substring_regex(array, _OF_LIMIT, "", max_replacements=1)
    lists, environment = told(rest, _RESOURCES), told(array, _PARALLEL)
    besides = pc.ascii_trim_whitespace(pc.binary_join_element_wise(lists, environment, " "))
    limits = pc.binary_join_element_wise("-l h_rt", told(array, _LIMIT), "=")
    encoded = (
        pc.if_else(is_odd, *each).dictionary_encode() for each in (("", limits), (array, besides))
    )
    return [Coded(each.dictionary.to_pylist(), each.indices.to_numpy()) for each in encoded]


def _none_if_without(pattern: str) -> Callable[[BulkColumn], BulkColumn | None]:
    """What tells of a whole column of categories that none has what a reader looks for."""

    def read(column: BulkColumn) -> BulkColumn | None:
        import pyarrow.compute as pc

        first = column.columns[0] if isinstance(column, SideBySide) else column
        if not isinstance(first, Plain):
            return None
        has = pc.any(pc.match_substring_regex(first.array, pattern)).as_py()
        return None if has else same("", len(column))

    return read


@in_parts(requests_apart, _columns_apart)
def requests(text: str) -> Found:
    """The hard requests of a category: ``-l h_rt=60,h_vmem=2G,gpu=1 -pe mpi 8``."""
    return tuple(_requests(_hard(text))) if text != "NONE" else None


@in_bulk(_none_if_without("gpu"))
def gpus(text: str, slots: str) -> Found:
    """The GPUs of a job that ran: what was asked for of each slot, by the slots it was given.

    >>> [each.text for each in gpus("-l gpu=2 -pe mpi 1-8", "4")]
    ['8']
    """
    if "gpu" not in text or not is_whole(slots):  # as all their names have it
        return None
    asked = _asked(_hard(text))
    if not all(is_whole(asked[name]) for name in GPU_NAMES if name in asked):
        raise Instead(text, "a category with a number of GPUs", (), "none are told of the job")
    found = _gpus(asked, int(slots))
    return (found,) if found else None


def _hard(text: str) -> str:
    """A category without what a job can do without."""
    return _HARD.sub("", f" {text}").strip() if "-soft" in text else text.strip()


def _asked(text: str) -> dict[str, str]:
    """The resources of a category by their names; the last request counts."""
    before, mark, behind = text.partition("-l ")
    if "-l " not in behind and text.isascii() and text.isprintable():  # as nearly all are
        begins = mark and before[-1:] in ("", " ")
        lists = [behind.partition(" ")[0]] if begins else []
    else:
        lists = _LIST.findall(text)
    asked = {}
    for options in lists:
        for item in options.split(","):
            name, sign, value = item.partition("=")
            asked[name] = value if sign else requested.TRUE[0]
    return asked


# decision 343
def _gpus(asked: Mapping[str, str], slots: int) -> Property | None:
    """The GPUs of so many slots, for each of which they are asked for, by what sites call them."""
    texts = (asked[name] for name in GPU_NAMES if name in asked)
    each = sum(int(text) for text in texts if is_whole(text) and len(text) < 10)
    if not each * slots:
        return None
    kind = asked.get(words.GPU_TYPE, "")
    model = {"type": kind} if plain_name(kind) else {}
    return Property("Resource", str(each * slots), {**_GPU, **model})


def _requests(text: str) -> Iterator[Property]:
    asked, found_ = _asked(text), _PE.search(text)
    parallel = requested.parallel(found_[1]) if found_ else None
    slots = parallel.at_least if parallel else 1
    if (limit := asked.get("h_rt")) and (span := _span(limit)):
        yield Property("Duration", span, {"op": "LE"})
    if found := _gpus(asked, slots):
        yield found
    if size := _size(asked.get("mem_free", ""), slots):
        yield Property("Memory", size, {"units": "KB"})
    if parallel:
        yield from requested.processors(parallel)
    if size := _size(asked.get("h_vmem", ""), slots):
        yield Property("Swap", size, {"units": "KB"})
    yield from _hosts(asked)


def _hosts(asked: Mapping[str, str]) -> Iterator[Property]:
    """What a host has to be: its name, its architecture, its features."""
    name = next((name for name in requested.HOST_NAMES if name in asked), "")
    with suppress(InvalidValue):
        yield from requested.hosts(asked[name]) if name else ()
    with suppress(InvalidValue):
        if "arch" in asked:
            yield from any_of("Architecture", requested.architectures(asked["arch"]))
    for name, value in asked.items():
        if requested.is_feature(name, value):
            yield Property("Feature", name)


@in_bulk(_none_if_without(_LIMITED.pattern))
def limits(text: str) -> Found:
    """The limits of the operating system among the hard requests of a category."""
    if _LIMITED.search(text) is None:
        return None
    return tuple(requested.limits(_asked(_hard(text)))) or None


def _span(text: str) -> str:
    """Whole seconds, or "" where there is no such limit."""
    value = _known(words.limit, text)
    return "" if value is None else str(value)


# decision 401
def _size(text: str, slots: int) -> str:
    """KB of so many slots, for each of which they are asked for, or "" where there is no limit."""
    value = _known(words.size, text)
    if value is None:
        return ""
    if value.denominator == 1 and not (size := int(value) * slots) & 1023:
        return str(size >> 10)
    return units.decimal(value * slots / 1024)


@lru_cache(_REMEMBERED)
def _known(read: Callable[[str], N | None], text: str) -> N | None:
    """What was asked for, as far as it is understood; the category keeps the text."""
    try:
        return read(text) if text else None
    except InvalidValue:
        return None


@varied
def category(text: str) -> Found:
    """The requests in Grid Engine's own words."""
    if not is_category(text):
        raise InvalidValue(text[:200], "requests such as -l h_rt=60")
    return None if text == "NONE" else text


def no_task(text: str) -> Found:
    """Nothing, as a row of a slave task is folded. Raises ``InvalidValue`` for what names none."""
    if not is_task(text):
        raise InvalidValue(text, "a slave task such as 1.n2")
    return None


_MAX = {"metric": "Max", "units": "KB"}

# fmt: off
# The fields in their order. Those behind maxvmem came with 6.2, those behind them with Univa.
TABLE: tuple[Field, ...] = (
    Field("qname",                DELIVERED, "Queue"),
    Field("hostname",             DELIVERED, "Node",        hosts, beside=("granted_pe", HOSTS)),
    Field("hostname",             DELIVERED, "NodeCount",   host_count,
          beside=("granted_pe", HOSTS)),
    Field("hostname",             JOB,       "Extension",   first_host, noted("hostname"),
          ("granted_pe", HOSTS)),
    Field("group",                DELIVERED, "Group"),
    Field("owner",                DELIVERED, "User"),
    Field("job_name",             JOB,       "Name"),
    Field("job_number",           JOB,       "Id",          id, beside=("task_number",)),
    Field("account",              JOB,       "Extension",   account, noted("account")),
    Field("priority",             JOB,       "Extension",   priority, noted("priority")),
    Field("submission_time",      JOB,       "SubmitTime",  _clock.read),
    Field("start_time",           JOB,       "StartTime",   _clock.read),
    Field("end_time",             JOB,       "EndTime",     _clock.read),
    Field("failed",               JOB,       "State",       state),
    Field("exit_status",          JOB,       "ExitCode",    number),
    Field("exit_status",          JOB,       "Extension",   signal, noted("Signal"), ("failed",)),
    Field("ru_wallclock",         DELIVERED, "Duration",    wall, beside=("wallclock",)),
    Field("ru_utime"), Field("ru_stime"),
    Field("ru_maxrss",            DELIVERED, "Memory",      resident, _MAX, ("maxrss",)),
    *map(Field, ("ru_ixrss", "ru_ismrss", "ru_idrss", "ru_isrss", "ru_minflt", "ru_majflt",
                 "ru_nswap", "ru_inblock", "ru_oublock", "ru_msgsnd", "ru_msgrcv", "ru_nsignals",
                 "ru_nvcsw", "ru_nivcsw")),
    Field("project",              DELIVERED, "Project",     worded),
    Field("department",           JOB,       "Extension",   department, noted("department")),
    Field("granted_pe",           JOB,       "Extension",   worded, noted("granted_pe")),
    Field("slots",                DELIVERED, "Processors",  integer),
    Field("task_number",          JOB,       "Extension",   task, noted("ArrayIndex")),
    Field("cpu",                  JOB,       "CpuDuration", seconds),
    Field("mem"),                 # GB times CPU seconds, which is no size
    Field("io",                   DELIVERED, "Resource",    gigabytes,
          {"name": "IO", "units": "GB"}),
    Field("category",             REQUESTED, "Processors",  requests),
    Field("category",             DELIVERED, "Resource",    gpus, _GPU, ("slots",)),
    Field("category",             JOB,       "ResourceLimit", limits),
    Field("category",             JOB,       "Extension",   category, noted("category")),
    Field("iow"),
    Field("pe_taskid",            JOB,       "Extension",   no_task),
    Field("maxvmem",              DELIVERED, "Swap",        kilobytes_of_bytes, _MAX),
    Field("arid",                 JOB,       "Extension",   reservation, noted("arid")),
    Field("ar_submission_time"),
    Field("job_class",            JOB,       "Extension",   worded, noted("job_class")),
    Field("qdel_info",            JOB,       "Extension",   worded, noted("qdel_info")),
    Field("maxrss",               DELIVERED, "Memory",      kilobytes_of_bytes, _MAX),
    Field("maxpss"),
    Field("submit_host",          JOB,       "SubmitHost",  worded),
    Field("cwd",                  JOB,       "InitialWorkingDirectory", worded),
    Field("submit_cmd",           JOB,       "Extension",   worded, noted("submit_cmd")),
    Field("wallclock",            DELIVERED, "Duration",    seconds),
    Field("ioops"),
    Field("bound_cores",          JOB,       "Extension",   worded, noted("bound_cores")),
)
# fmt: on

_OF_A_RUN = frozenset(
    ("StartTime", "EndTime", "Duration", "Processors", "Node", "NodeCount", "Memory", "Swap",
     "CpuDuration", "ExitCode", "Queue", "Resource")
)  # fmt: skip
_WAITING = tuple(
    row
    for row in TABLE
    if row.place in (REQUESTED, NOWHERE)
    or not (row.element in _OF_A_RUN or row.attributes.get("name") in ("Signal", "hostname"))
)

# How a column is read where the better one beside it is missing.
_ALONE = {wall: seconds, resident: kilobytes}


def rows(names: Names) -> Iterator[Field]:
    """The mapping of a record that has columns of these names, and tells of a run or of none."""
    for row in _WAITING if NEVER in names else TABLE:
        if row.read in _ALONE and not set(row.beside) & set(names):
            yield row._replace(read=_ALONE[row.read], beside=())
        else:
            yield row
    for name in names:  # fields that no version that is known has, as they stand
        if name.startswith(_FIELD):
            yield Field(name, JOB, "Extension", plain, noted(name))


_NAMES = tuple(dict.fromkeys(row.column for row in TABLE))
_FIELD = "field"  # or fields, followed by their numbers


@lru_cache(64)
def names(size: int, more: int, never: bool) -> tuple[str, ...]:
    """The names of so many fields, of which the last is the text of several, and of what is beside.

    These are ``more`` that are not known; there are none if it is 0.
    """
    told = size - bool(more)
    last = f"{_FIELD}s {size} to {told + more}" if more > 1 else f"{_FIELD} {size}"
    others = (last,) if more else ()
    return (*_NAMES[:told], *others, HOSTS, *((NEVER,) if never else ()))


def not_known(names: Sequence[str]) -> str:
    """What to say of a record with fields that are not known."""
    place = next(place for place, name in enumerate(names) if name.startswith(_FIELD))
    return f"{names[place]} behind {names[place - 1]}: not known, kept as they stand"


COLUMNS = _NAMES
ALSO = {
    "category": 'Requested/Duration op="LE", Memory, Swap, Node, Architecture, Feature, '
    'Resource name="GPU"',
}
# fmt: off
NOT_KEPT = {
    **dict.fromkeys(("ru_utime", "ru_stime"), "cpu tells both together, of all processes"),
    **dict.fromkeys(("ru_ixrss", "ru_ismrss", "ru_idrss", "ru_isrss", "ru_minflt", "ru_majflt",
                     "ru_nswap", "ru_inblock", "ru_oublock", "ru_msgsnd", "ru_msgrcv",
                     "ru_nsignals", "ru_nvcsw", "ru_nivcsw"),
                    "of getrusage(2), for which there is no property"),
    "mem": "GB times CPU seconds, which is no size", "iow": "how long was waited for input",
    "ar_submission_time": "when a reservation was made, whose number is kept",
    "maxpss": "a share of maxrss, which is kept", "ioops": "a number of operations",
}
# fmt: on
