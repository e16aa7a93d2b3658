"""What a job and a step of ``sacct --json`` tell, in the columns that sacct prints as text.

The two outputs say the same by other names, so what becomes of a column is said once, in
``slurm_table``. Numbers are plain or ``{"set", "infinite", "number"}``, and what is not known is
null, "" or {}: it differs from version to version and even from job to job.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.records.lines import legal
from sssjob.records.values import is_whole
from sssjob.systems.slurm.states import of_words
from sssjob.systems.slurm.unset import UNSET
from sssjob.systems.slurm.words import settable

Tree = Mapping[str, Any]

UNLIMITED = "UNLIMITED"
_MOST = 10**18  # what is more is no whole number here
_INFINITE = ("infinity", "inf", "unlimited")


class JSONColumn(NamedTuple):
    """One column of sacct's, and the place in the JSON of a job or a step that tells it.

    Of several places for one column the first that tells something counts.
    ``read`` is given the value there and gives the text of the column; it is not asked of null, nor
    where there is none. Without a path it is given the whole.
    """

    column: str
    path: tuple[str, ...]
    read: Callable[[Any], str]


def text(value: Any) -> str:
    """A text; sacct of 22.05 prints the number 0 where a name is missing.

    Of something else it is the text that it is in JSON, so that it is not left out in silence.
    """
    if type(value) is not str:
        return as_json(value) if value else ""
    return value if value.isprintable() else legal(value)


def as_json(value: Any) -> str:
    """A value as it stands in JSON, as far as a document can hold it."""
    return legal(json.dumps(value, ensure_ascii=False))


def number(value: Any) -> str:
    """A number, or one of the words for none; a fraction stays one, for its column to judge."""
    kind = type(value)
    if kind is dict:
        value = settable(value)
        kind = type(value)
    if kind is int:
        return str(value) if value >= 0 else ""
    if value is None or value == "" or value is False:
        return ""
    if kind is float:
        if value < 0:
            return ""
        return UNLIMITED if value == inf else str(int(value) if value.is_integer() else value)
    if kind is str:
        return UNLIMITED if value.lower() in _INFINITE else text(value)
    raise InvalidValue(as_json(value), "a number")


_NO_TIME = frozenset(("0", *map(str, UNSET)))


def time(value: Any) -> str:
    """A time since 1970; 0 is none, and so is what stands for a number that is not set."""
    found = number(value)
    return "" if found in _NO_TIME else found


def positive(value: Any) -> str:
    """A number of which 0 says that it is not known."""
    return time(value)


def _shown(form: Callable[[str], str], value: Any) -> str:
    """Seconds in a form; what is no whole number as it is."""
    found = number(value)
    return form(found) if is_whole(found) else found


def clock(value: Any) -> str:
    """Seconds as ``HH:MM:SS``."""
    return _shown(_hours, value)


@lru_cache(1024)
def _hours(seconds: str) -> str:
    return spent(int(seconds), 0)


def waited(value: Any) -> str:
    """Seconds as ``D-HH:MM:SS``.

    >>> waited({"set": True, "infinite": False, "number": 90_000})
    '1-01:00:00'
    """
    return _shown(_days, value)


@lru_cache(1024)
def _days(seconds: str) -> str:
    return units.clock(int(seconds))


def spent(seconds: int, microseconds: int) -> str:
    """CPU time as sacct prints it.

    >>> spent(3661, 500)
    '01:01:01.000500'
    """
    more, rest = divmod(microseconds, 1_000_000)
    return units.clock(seconds + more, days=False) + (f".{rest:06}" if rest else "")


def cpu(value: Any) -> str:
    """CPU time out of ``{"seconds", "microseconds"}``."""
    if type(value) is not dict:
        return clock(value)
    whole, micro = value.get("seconds"), value.get("microseconds")
    if type(whole) is type(micro) is int and 0 <= whole < _MOST and 0 <= micro < _MOST:
        return spent(whole, micro)
    told = [number(whole), number(micro)]
    if not any(told) or (not told[0] and whole is not None):  # below 0
        return ""
    if not all(is_whole(text) for text in told if text):
        raise InvalidValue(as_json(value), "a time in seconds and microseconds")
    seconds, microseconds = (int(text or 0) for text in told)
    return spent(seconds, microseconds)


def state(value: Any) -> str:
    """The state: a word, or since v0.0.40 a list, in which a flag such as REQUEUED comes last."""
    if type(value) is list:
        value = of_words([text(word) for word in value])
    return text(value)


def state_of_job(job: Tree) -> str:
    """The state, and who cancelled the job."""
    told = job.get("state")
    word = state(told.get("current") if type(told) is dict else told)
    if word != "CANCELLED":
        return word
    who = text(job.get("kill_request_user"))
    return f"{word} by {who}" if who else word


def exit_code(value: Any) -> str:
    """``code:signal``; what is not set of a pair is 0, of none nothing."""
    if type(value) is not dict:
        return text(value)
    code = number(value.get("return_code"))
    told = value.get("signal") or {}
    if type(told) is not dict:
        raise InvalidValue(as_json(value), "an exit code with the id of a signal")
    # Its number was called signal_id until v0.0.39.
    signal = number(told.get("id", told.get("signal_id")))
    return f"{code or 0}:{signal or 0}" if code or signal else ""


def job_id(job: Tree) -> str:
    """The id as sacct prints it."""
    array, het = (_object(job.get(name)) for name in ("array", "het"))
    return id_text(
        job.get("job_id"), array.get("job_id"), array.get("task_id"), array.get("task"),
        het.get("job_id"), het.get("job_offset"),
    )  # fmt: skip


def id_text(job: Any, array: Any, task: Any, tasks: Any, het: Any, offset: Any) -> str:
    """The id as sacct prints it: ``25_3`` of an array, ``26+1`` of a heterogeneous job."""
    raw = number(job)
    if (many := time(array)) != "":
        if one := number(task):
            return f"{many}_{one}"
        waiting = text(tasks)
        return f"{many}_[{waiting.strip('[]')}]" if waiting else raw
    if (first := time(het)) != "":
        return f"{first}+{number(offset) or 0}"
    return raw


def user(job: Tree) -> str:
    """The user; of one whose account was deleted only the association knows the name."""
    return text(job.get("user")) or text(at(job, ("association", "user")))


def tres(amounts: Any) -> str:
    """Trackable resources as text; memory counts megabytes.

    >>> tres({"mem": "200", "gres/gpu": "1"})
    'mem=200M,gres/gpu=1'
    """
    return ",".join(
        f"{name}={count}M" if name == "mem" else f"{name}={count}"
        for name, count in (amounts or {}).items()
    )


def total_memory(amounts: Any) -> str:
    """The sum of memory over the tasks of a step, in bytes, as the list of which it is part."""
    return f"mem={amounts['mem']}" if amounts and "mem" in amounts else ""


def amounts(value: Any) -> dict[str, str]:
    """A list of trackable resources by name; what has no count is left out.

    What is no such entry, and a count below 0, stays as a text that is no amount: who reads the
    column says so.

    >>> amounts([{"type": "gres", "name": "gpu", "count": 1}, {"type": "energy", "count": None}])
    {'gres/gpu': '1'}
    >>> amounts([{"type": "cpu", "count": -4}, 7])
    {'cpu': '-4', '7': 'no entry'}
    """
    found: dict[str, str] = {}
    for item in value if type(value) is list else ():
        if type(item) is dict and type(kind := item.get("type")) is str and kind:
            told, name = item.get("count"), item.get("name")
            kind = kind if kind.isprintable() else legal(kind)
            if count := number(told):
                if count != UNLIMITED:
                    found[f"{kind}/{text(name)}" if name else kind] = count
            elif type(told) is int and told < 0 and kind in _COUNTED:
                found[f"{kind}/{text(name)}" if name else kind] = str(told)
        elif item and (type(item) is not dict or item.get("count")):
            found[as_json(item)] = "no entry"
    return found


_COUNTED = ("cpu", "gres", "node")  # what is never below 0, as what is measured may be


def count(value: Any) -> str:
    """A count out of ``amounts``."""
    return value or ""


def megabytes(letter: str) -> Callable[[Any], str]:
    """Memory as ReqMem has it: of the whole job, or for each CPU (c) or node (n)."""

    def read(value: Any) -> str:
        found = number(value)
        return f"{found}M{letter}" if found and found != UNLIMITED else ""

    return read


_EMPTY: Tree = {}


def _object(value: Any) -> Tree:
    """The members of an object; none of what is none."""
    return value if type(value) is dict else _EMPTY


def _met(tree: Any, path: tuple[str, ...]) -> Any:
    """What is at a path, or else what stands on the way to it that is no object."""
    for name in path:
        if type(tree) is not dict:
            return tree
        tree = tree.get(name)
    return tree


def at(tree: Any, path: tuple[str, ...]) -> Any:
    """What is at a path, or None."""
    for name in path:
        if type(tree) is not dict:
            return None
        tree = tree.get(name)
    return tree


_USED = ("tres", "requested")  # of a step this is what was used, whatever it is called

# fmt: off
JOB: tuple[JSONColumn, ...] = (
    JSONColumn("JobID",            (),                             job_id),
    JSONColumn("JobIDRaw",         ("job_id",),                    number),
    JSONColumn("Account",          ("account",),                   text),
    JSONColumn("AdminComment",     ("comment", "administrator"),   text),
    JSONColumn("AllocTRES",        ("tres", "allocated"),          tres),
    JSONColumn("Cluster",          ("cluster",),                   text),
    JSONColumn("Comment",          ("comment", "job"),             text),
    JSONColumn("Constraints",      ("constraints",),               text),
    JSONColumn("Container",        ("container",),                 text),
    JSONColumn("DerivedExitCode",  ("derived_exit_code",),         exit_code),
    JSONColumn("ElapsedRaw",       ("time", "elapsed"),            number),
    JSONColumn("Eligible",         ("time", "eligible"),           time),
    JSONColumn("End",              ("time", "end"),                time),
    JSONColumn("ExitCode",         ("exit_code",),                 exit_code),
    JSONColumn("Extra",            ("extra",),                     text),
    JSONColumn("FailedNode",       ("failed_node",),               text),
    JSONColumn("Group",            ("group",),                     text),
    JSONColumn("JobName",          ("name",),                      text),
    JSONColumn("Licenses",         ("licenses",),                  text),
    JSONColumn("McsLabel",         ("mcs", "label"),               text),
    JSONColumn("NCPUS",            ("tres", "allocated", "cpu"),   count),
    JSONColumn("NNodes",           ("allocation_nodes",),          positive),
    JSONColumn("NNodes",           ("tres", "allocated", "node"),  count),
    JSONColumn("NodeList",         ("nodes",),                     text),
    JSONColumn("Partition",        ("partition",),                 text),
    JSONColumn("Planned",          ("time", "planned"),            waited),
    JSONColumn("Priority",         ("priority",),                  number),
    JSONColumn("QOS",              ("qos",),                       text),
    JSONColumn("QOSREQ",           ("qosreq",),                    text),
    JSONColumn("Reason",           ("state", "reason"),            text),
    JSONColumn("ReqCPUS",          ("required", "CPUs"),           positive),
    JSONColumn("ReqMem",           ("tres", "requested", "mem"),   megabytes("")),
    JSONColumn("ReqMem",           ("required", "memory_per_cpu"), megabytes("c")),
    JSONColumn("ReqMem",           ("required", "memory_per_node"), megabytes("n")),
    JSONColumn("ReqNodes",         ("tres", "requested", "node"),  count),
    JSONColumn("ReqTRES",          ("tres", "requested"),          tres),
    JSONColumn("Reservation",      ("reservation", "name"),        text),
    JSONColumn("Restarts",         ("restart_cnt",),               number),
    JSONColumn("SLUID",            ("sluid",),                     text),
    JSONColumn("Start",            ("time", "start"),              time),
    JSONColumn("State",            (),                             state_of_job),
    JSONColumn("StdErr",           ("stderr_expanded",),           text),
    JSONColumn("StdIn",            ("stdin_expanded",),            text),
    JSONColumn("StdOut",           ("stdout_expanded",),           text),
    JSONColumn("Submit",           ("time", "submission"),         time),
    JSONColumn("SubmitLine",       ("submit_line",),               text),
    JSONColumn("Suspended",        ("time", "suspended"),          clock),
    JSONColumn("SystemComment",    ("comment", "system"),          text),
    JSONColumn("TimelimitRaw",     ("time", "limit"),              number),
    JSONColumn("TotalCPU",         ("time", "total"),              cpu),
    JSONColumn("User",             (),                             user),
    JSONColumn("WCKey",            ("wckey", "wckey"),             text),
    JSONColumn("WorkDir",          ("working_directory",),         text),
)

STEP: tuple[JSONColumn, ...] = (
    JSONColumn("AllocTRES",        ("tres", "allocated"),          tres),
    JSONColumn("AveRSS",           (*_USED, "average", "mem"),     count),
    JSONColumn("AveVMSize",        (*_USED, "average", "vmem"),    count),
    JSONColumn("ElapsedRaw",       ("time", "elapsed"),            number),
    JSONColumn("End",              ("time", "end"),                time),
    JSONColumn("ExitCode",         ("exit_code",),                 exit_code),
    JSONColumn("JobName",          ("step", "name"),               text),
    JSONColumn("MaxRSS",           (*_USED, "max", "mem"),         count),
    JSONColumn("MaxVMSize",        (*_USED, "max", "vmem"),        count),
    JSONColumn("NCPUS",            ("tres", "allocated", "cpu"),   count),
    JSONColumn("NNodes",           ("nodes", "count"),             positive),
    JSONColumn("NodeList",         ("nodes", "range"),             text),
    JSONColumn("NTasks",           ("tasks", "count"),             positive),
    JSONColumn("Start",            ("time", "start"),              time),
    JSONColumn("State",            ("state",),                     state),
    JSONColumn("TotalCPU",         ("time", "total"),              cpu),
    JSONColumn("TRESUsageInTot",   (*_USED, "total"),              total_memory),
)
# fmt: on

ODD_PARTS = "(parts of another type)"  # by their names, as JSON
NAMES = (*dict.fromkeys(row.column for row in (*JOB, *STEP)), ODD_PARTS)
_TOGETHER = {"array": dict, "association": dict, "het": dict, "steps": list}  # no column is of one

# For the page that says where each goes: what columns of a job are made of.
_OF_SEVERAL = {
    "JobID": ("job_id", "array", "het"), "State": ("state.current", "kill_request_user"),
    "User": ("user", "association.user"),
}  # fmt: skip
MADE_OF = {
    **{row.column: _OF_SEVERAL.get(row.column)
       or tuple(".".join(each.path) for each in JOB if each.column == row.column) for row in JOB},
    **{row.column: (".".join(("steps", *row.path)),) for row in STEP
       if row.column in ("AveRSS", "AveVMSize", "MaxRSS", "MaxVMSize")},
}  # fmt: skip
PATHS = tuple(dict.fromkeys(path for paths in MADE_OF.values() for path in paths))

_OBJECTS, _LISTS = frozenset((dict, type(None))), frozenset((list, type(None)))
_METRICS = ("average", "max", "total")


class RowReading:
    """The rows of a table made ready: what shares a place is looked up there once.

    Most columns are texts that one place alone tells: all of these are looked at together. Where
    something else stands than the object, or the list, in which columns are looked for, each of
    them has its text, and who reads them says that it is no such value. Who reads a column that may
    be any text would not: what stands in the place of their object is in ``ODD_PARTS``, where there
    is such a column.
    """

    def __init__(
        self,
        rows: Sequence[JSONColumn],
        lists: Iterable[tuple[str, ...]] = (),
        names: Sequence[str] = NAMES,
    ) -> None:
        """``names`` are the columns that are given, ``lists`` the paths of ``amounts``."""
        self._lists = tuple(lists)
        self._size = len(names)
        self._odd_at = names.index(ODD_PARTS) if ODD_PARTS in names else -1
        parents = dict.fromkeys(path[:-1] for _, path, _ in rows if path not in self._lists)
        self._parents = tuple(path for path in parents if path not in self._lists)
        places = {path: place for place, path in enumerate((*self._parents, *self._lists))}
        self._of_state = places.get(("state",))  # which is one word in some versions
        told = Counter(column for column, _, _ in rows)
        self._rows: list[tuple[int, int, str | None, Callable[[Any], str]]] = []
        texts: list[tuple[int, str, int]] = []
        for column, path, read in rows:
            at_column = names.index(column)
            if not path or path in self._lists:
                self._rows.append((at_column, places[path], None, read))
            elif read is text and told[column] == 1:
                texts.append((places[path[:-1]], path[-1], at_column))
            else:
                self._rows.append((at_column, places[path[:-1]], path[-1], read))
        self._texts = texts

    def __call__(self, tree: Tree) -> list[str]:
        """The columns for a job or a step; what is none as the text that it is."""
        found = [""] * self._size
        told = [_met(tree, path) for path in self._parents]
        parents = [each if type(each) is dict else _EMPTY for each in told]
        lists = [_met(tree, path) for path in self._lists]
        parents += [*map(amounts, lists)]
        texts = [parents[parent].get(key) or "" for parent, key, _ in self._texts]
        try:
            plain = "".join(texts).isprintable()
        except TypeError:  # one is something else
            plain = False
        for (_, _, column), value in zip(self._texts, texts, strict=True):
            found[column] = value if plain else text(value)
        for column, parent, key, read in self._rows:
            value = parents[parent] if key is None else parents[parent].get(key)
            if value is None or found[column]:
                continue
            try:
                found[column] = read(value)
            except InvalidValue as wrong:  # who reads the column says so
                found[column] = legal(wrong.text)
        if not (_OBJECTS.issuperset(map(type, told)) and _LISTS.issuperset(map(type, lists))):
            self._tell_odd(found, told, lists)
        return found

    def _tell_odd(self, found: list[str], objects: Sequence[Any], lists: Sequence[Any]) -> None:
        """Put what stands in the place of an object, or of a list, into the columns that it has."""
        odd = {
            place: text(each)
            for place, each in enumerate((*objects, *lists))
            if each
            and type(each) is not (dict if place < len(objects) else list)
            and place != self._of_state
        }
        columns = [(column, parent) for column, parent, _, _ in self._rows]
        if self._odd_at < 0:
            columns += [(column, parent) for parent, _, column in self._texts]
        else:
            of_texts = dict.fromkeys(parent for parent, _, _ in self._texts if parent in odd)
            parts = {".".join(self._parents[parent]): odd[parent] for parent in of_texts}
            found[self._odd_at] = json.dumps(parts) if parts else ""
        for column, parent in columns:
            if parent in odd and not found[column]:
                found[column] = odd[parent]


def odd_parts(job: Tree) -> dict[str, str]:
    """Parts of a job of which no column is made alone, and which are of another type, by name.

    >>> odd_parts({"array": {}, "steps": [{}, 7], "het": "first"})
    {'het': 'first', 'steps': '7'}
    """
    odd = {
        name: text(value)
        for name, kind in _TOGETHER.items()
        if (value := job.get(name)) and type(value) is not kind
    }
    steps = job.get("steps")
    if type(steps) is list and not all(type(step) is dict for step in steps):
        odd["steps"] = " ".join(text(step) for step in steps if type(step) is not dict)
    return odd


job_fields = RowReading(JOB, (("tres", "allocated"), ("tres", "requested")))
step_fields = RowReading(STEP, (("tres", "allocated"), *((*_USED, m) for m in _METRICS)))
