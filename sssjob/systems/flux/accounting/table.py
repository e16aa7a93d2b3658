"""What becomes of each key of a job that ``flux jobs --json`` prints: the mapping.

Times are seconds since 1970 with a fraction; what is not known is missing, "" or 0.
"""

from __future__ import annotations

import re

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records.readers import extension, identity, noted, processors
from sssjob.records.record import DELIVERED, JOB, REQUESTED, Field, Found, plain, varied
from sssjob.records.unread import Left, expected
from sssjob.records.values import count, epoch, integer, known_number, number
from sssjob.systems.flux import ids, words

TYPE = "Flux"  # of Extensions
# A description of what is waited for: not before that time.
_BEGIN = re.compile(r"begin-time=([0-9]{1,12}(?:\.[0-9]{0,9})?)")


@varied
def time(text: str) -> Found:
    """A time; 0 is none."""
    value = number(text)
    return epoch(value, text) if value else None


@varied
def end(inactive: str, run: str, cleanup: str) -> Found:
    """When a job that is over ended: its tasks if it ran, whatever was cleaned up behind them."""
    return time(_over(inactive, run, cleanup)) if _known(inactive) else None


@varied
def ran(cleanup: str, run: str, inactive: str) -> Found:
    """How long the tasks ran; of a job that does not say when they ended, until it was over."""
    over = _over(inactive, run, cleanup)
    if not _known(run) or not _known(over):
        return None
    passed = number(over) - number(run)
    if passed < 0:
        raise InvalidValue(over, f"a time behind {run}")
    return str(units.rounded(passed))


def _over(inactive: str, run: str, cleanup: str) -> str:
    return cleanup if _known(run) and _known(cleanup) else inactive


def _known(text: str) -> bool:
    return bool(text) and bool(known_number(text))


def tells_a_time(text: str) -> bool:
    """Whether it does; what is no number is told by its own row."""
    try:
        return _known(text)
    except InvalidValue:
        return False


@varied
def id(first: str, other: str) -> Found:
    """The id, a number; also where only its F58 form is given."""
    return identity(ids.number(first or other))


def state(text: str, urgency: str) -> Found:
    """The state; a job that waits with urgency 0 is held."""
    if not text:
        return None
    if text not in words.STATES:
        raise InvalidValue(text, f"a state: {', '.join(words.STATES)}")
    held = text in words.WAITING and urgency == "0"
    return "Hold" if held else words.STATES[text]


def message(type: str, note: str) -> Found:
    """The exception that a job had."""
    return ": ".join(part for part in (type, note) if part) or None


def exit_code(text: str) -> Found:
    """The highest code of the job's shells; below 0 there is none."""
    code = _code(text)
    return str(code) if code >= 0 else None


def signal(text: str) -> Found:
    """The signal that ended a shell of the job."""
    code = _code(text)
    return (noted(TYPE, "Signal", str(-code)),) if code < 0 else None


def _code(text: str) -> int:
    value = number(text)
    if value.denominator != 1:
        raise InvalidValue(text, "a return code")
    return int(value)


def limit(text: str) -> Found:
    """A limit in whole seconds; 0 and infinity are none."""
    value = words.limit(text)
    return None if value is None else str(value)


@varied
def eligible(scheduled: str, descriptions: tuple[str, ...]) -> Found:
    """Since when a job could be started; of one that waits for a time, that time."""
    if _known(scheduled):
        return time(scheduled)
    told = [found[1] for text in descriptions if (found := _BEGIN.fullmatch(text))]
    return time(max(told, key=number)) if told else None


def dependencies(descriptions: tuple[str, ...]) -> Found:
    """The jobs that are waited for; what else is waited for is kept."""
    found = []
    for text in descriptions:
        word, _, id = text.partition("=")
        if condition := words.DEPENDENCIES.get(word):
            found.append(Property("Dependency", ids.number(id), {"condition": condition}))
        elif not _BEGIN.fullmatch(text):
            found.append(noted(TYPE, "dependency", text))
    return tuple(found)


def nodes(text: str) -> Found:
    """One host, a Range where the list is one ``prefix[..]``, else a List of all."""
    found = words.hosts(text)
    if len(found) == 1:
        return found[0]
    one = text.endswith("]") and text.count("[") == 1 and "," not in text.partition("[")[0]
    text, kind = (text, "Range") if one else (",".join(found), "List")
    return (Property("Node", text, {"aggregation": kind}),)


def either(first: str, other: str) -> Found:
    """The first that is known."""
    return first or other or None


_LIMIT = {"op": "LE"}
_RESULT, _PROJECT = extension(TYPE, "result"), extension(TYPE, "project")

# fmt: off
ALWAYS: tuple[Field, ...] = (
    Field("id",             JOB,       "Id",                      id, {}, ("jobid",)),
    Field("state",          JOB,       "State",                   state, {}, ("urgency",)),
    Field("exception.type", JOB,       "StatusMessage",           message, {}, ("exception.note",)),
    Field("name",           JOB,       "Name"),
    Field("ntasks",         JOB,       "TaskCount",               count),
    Field("dependencies",   JOB,       "Dependency",              dependencies),
    Field("cwd",            JOB,       "InitialWorkingDirectory"),
    Field("priority",       JOB,       "Priority",                integer),
    Field("t_submit",       JOB,       "SubmitTime",              time),
    Field("t_sched",        JOB,       "EligibleTime",            eligible, {}, ("dependencies",)),
    Field("t_inactive",     JOB,       "EndTime",                 end, {}, ("t_run", "t_cleanup")),
    Field("result",         JOB,       "Extension",               plain, _RESULT),
    Field("project",        JOB,       "Extension",               plain, _PROJECT),
    Field("duration",       REQUESTED, "Duration",                limit, _LIMIT),
    Field("username",       DELIVERED, "User",                    either, {}, ("userid",)),
    Field("bank",           DELIVERED, "Project"),
)
WAITING: tuple[Field, ...] = (
    Field("ncores",         REQUESTED, "Processors",              count),
    Field("nnodes",         REQUESTED, "NodeCount",               count),
    Field("queue",          JOB,       "Queue"),
)
STARTED: tuple[Field, ...] = (
    Field("t_run",          JOB,       "StartTime",               time),
    Field("returncode",     JOB,       "ExitCode",                exit_code),
    Field("returncode",     JOB,       "Extension",               signal),
    Field("t_cleanup",      DELIVERED, "Duration",                ran, {}, ("t_run", "t_inactive")),
    Field("nnodes",         DELIVERED, "NodeCount",               count),
    Field("ncores",         DELIVERED, "Processors",              processors),
    Field("nodelist",       DELIVERED, "Node",                    nodes),
    Field("queue",          DELIVERED, "Queue"),
)
# fmt: on
NAMES = tuple(
    dict.fromkeys(
        name for row in (*ALWAYS, *WAITING, *STARTED) for name in (row.column, *row.beside)
    )
)

# Keys of a job that are not read, by what they are about.
LEFT: Left = {
    "steps on the way of a job": ("t_depend", "t_priority", "t_remaining", "expiration"),
    "what is said elsewhere as well": (
        "ranks", "runtime", "status", "success", "waitstatus", "userid", "exception.occurred",
        "exception.severity",
    ),
    "the work of the scheduler": ("annotations",),
    "an instance that a job is": ("uri", "jobs"),
}  # fmt: skip
KNOWN = expected(NAMES, LEFT)
