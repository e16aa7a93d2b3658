"""What Grid Engine says of the jobs that it has: ``qstat -xml``, and ``qstat -j -xml`` beside it.

The list tells states, queues and slots, the details what was asked for and used: of a job that both
show, one record is made. Its fields are those of the accounting, whose table says what becomes of
them; what only live jobs have is said here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from lxml.etree import _Element as Element

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.mail_addresses import to_uri
from sssjob.model import Property
from sssjob.records import xml_records
from sssjob.records.clock import Clock
from sssjob.records.cuts import CustomPieces as Cut
from sssjob.records.layout import NEVER, Layout, Names, NoRecord, Piece, Reader, Record
from sssjob.records.readers import only_queue, queues
from sssjob.records.record import (
    JOB,
    REQUESTED,
    Bad,
    Field,
    Found,
    Noted,
    Options,
    varied,
)
from sssjob.records.unread import Left, expected, unread
from sssjob.records.values import epoch, is_whole
from sssjob.systems.gridengine import words
from sssjob.systems.gridengine.accounting import table
from sssjob.systems.gridengine.accounting.table import TYPE, noted
from sssjob.systems.gridengine.words import QUEUE_PATTERN

# What stands around jobs and is not read, by what it is about.
LEFT_AROUND: Left = {
    "the answer itself": (
        "detailed_job_info",
        "detailed_job_info@xmlns:xsd",
        "djob_info",
        "job_info",
        "job_info@xmlns:xsd",
        "queue_info",
    ),
    "jobs that Grid Engine does not know": ("unknown_jobs", "unknown_jobs@xmlns:xsd", "ST_name"),
    "why jobs were not started": (
        "element",
        "messages",
        "MES_job_number_list",
        "MES_message",
        "MES_message_number",
        "SME_global_message_list",
        "SME_message_list",
        "ULNG_value",
        "ulong_sublist",
    ),
    "how a queue is": (
        "arch",
        "load_avg",
        "qtype",
        "resource",
        "resource@name",
        "resource@type",
        "slots_resv",
        "slots_total",
        "slots_used",
        "state",
    ),
}
_FORM = xml_records.RecordTags(
    "job",
    # A job of the details is an <element> among others: one that begins with a number.
    re.compile(
        rb"<(/?)(job_list(?=[\s/>])|element(?=>\s*"
        rb"(?:<JB_job_number>|<element>\s*<JB_job_number>|</djob_info>)))"
    ),
    (b"job_info", b"detailed_job_info", b"unknown_jobs", b"queue_info", b"djob_info"),
    expected(("Queue-List", "name"), LEFT_AROUND),
)
_ROOT = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<(job_info|detailed_job_info|unknown_jobs)[\s>]")
_QUEUE = re.compile(rb"<Queue-List>\s*<name>([^<]{1,300})</name>")
_DECLARATION = b"<?xml"
_PREFIX = "__SGE_PREFIX__"
_HIDDEN = "%lt;"  # what qstat makes of <
_BASE = 1024  # which JB_priority is counted from
_MAIL = {0x80000: "JobStart", 0x100000: "JobEnd"}  # bits of JB_mail_options
_ABORT = 0x40000
# Bits of JAT_status, and the letter that a list has for each; the first one counts.
_LETTERS = ((0x100, "s"), (0x80, "r"), (0x200, "t"))


def state(letters: str, message: str) -> Found:
    """The state, and what went wrong."""
    known = words.state(letters)
    if not known:
        raise InvalidValue(letters, "a state of qstat's such as qw or r")
    found = [Property("State", known)]
    if "E" in letters:
        found.append(Property("Hold", "System"))
    if message:
        found.append(Property("StatusMessage", message))
    return tuple(found)


def predecessors(text: str) -> Found:
    """The jobs that are waited for, however they end."""
    return tuple(
        Property("Dependency", id, {"condition": "OnExit"}) for id in text.split(",") if id
    )


def asked_slots(text: str, category: str) -> Found:
    """The slots that a waiting job asks for, where no request tells them; one is the usual."""
    told = is_whole(text) and text not in ("0", "1") and "-pe " not in category
    return text if told else None


@varied
def environment(pairs: tuple[tuple[str, str], ...]) -> Found:
    """The variables, those of the submission by the names that the job finds."""
    found = (
        Property("Variable", value, {"name": name.replace(_PREFIX, "SGE_", 1)})
        for name, value in pairs
    )
    return (Property("Environment", "", {}, found),)


def errors(path: str, output: str, merged: str) -> Found:
    """Where the messages go; of a job that merges them, where the output goes."""
    if merged == "true" and (path or output):
        return (Property("ErrorFile", path or output, {"redirectList": "Merge"}),)
    return path or None


def restart(text: str) -> Found:
    """Whether a job may run again, where it was said."""
    return {"1": "true", "2": "false"}.get(text)


def priority(text: str) -> Found:
    """The priority of POSIX that was asked for; 0 is that of all others."""
    return None if text == "0" else str(units.integer(text))


def mail(options: str, users: str) -> Found:
    """When whom is written to; the standard has no word for an abort alone."""
    bits = int(options) if is_whole(options) else 0
    known = [event for bit, event in _MAIL.items() if bits & bit]
    text = "All" if len(known) == len(_MAIL) and bits & _ABORT else ",".join(known)
    if not text:
        return None
    return (Property("NotificationList", text, {"uri": to_uri(users)} if users else {}),)


def queue(text: str) -> Found:
    """The queue that is asked for; None where a host or a pattern says which instances of it."""
    return None if QUEUE_PATTERN.search(text) else only_queue(text)


def choice(text: str) -> Found:
    """The queues of which one is enough."""
    return None if QUEUE_PATTERN.search(text) else queues(text)


def instances(text: str) -> Found:
    """Queues with hosts behind @ or with wildcards, which are kept: no queue has such a name."""
    return text if QUEUE_PATTERN.search(text) else None


def moment(text: str) -> Found:
    """A time in seconds since 1970; 0 is none."""
    if text == "0":
        return None
    if not is_whole(text):
        raise InvalidValue(text, "a time")
    return epoch(int(text), text)


# fmt: off
LIVE: tuple[Field, ...] = (
    Field("state",          JOB,       "State",            state, beside=("message",)),
    Field("state",          JOB,       "Extension",        attributes=noted("state")),
    Field("predecessors",   JOB,       "Dependency",       predecessors),
    Field("environment",    JOB,       "Environment",      environment),
    Field("priority",       JOB,       "Priority",         priority),
    Field("mail_options",   JOB,       "NotificationList", mail, beside=("mail_list",)),
    Field("stdin",          JOB,       "InputFile"),
    Field("stdout",         JOB,       "OutputFile"),
    Field("stderr",         JOB,       "ErrorFile",        errors, beside=("stdout", "merged")),
    Field("execution_time", JOB,       "EligibleTime",     moment),
    Field("deadline",       JOB,       "DeadlineTime",     moment),
    Field("restart",        JOB,       "Restartable",      restart),
    Field("shell",          JOB,       "Shell"),
    Field("script",         JOB,       "Executable"),
    Field("arguments",      JOB,       "Arguments"),
    Field("checkpoint",     JOB,       "Extension",        attributes=noted("checkpoint")),
    Field("soft",           JOB,       "Extension",        attributes=noted("soft")),
)
_WAITING: tuple[Field, ...] = (
    Field("hard_req_queue", JOB,       "Queue", queue),
    Field("hard_req_queue", REQUESTED, "Queue", choice),
    Field("hard_req_queue", JOB,       "Extension", instances, noted("hard_req_queue")),
    Field("slots",          REQUESTED, "Processors", asked_slots, beside=("category",)),
)
# Fields of the accounting, and those of LIVE.
NAMES = (
    "qname", "hostname", "group", "owner", "job_name", "job_number", "task_number", "account",
    "priority", "submission_time", "start_time", "project", "department", "granted_pe", "slots",
    "cpu", "io", "category", "maxvmem", "arid", "submit_host", "cwd", "(hosts)",
    *dict.fromkeys(row.column for row in LIVE), "message", "merged", "mail_list", "hard_req_queue",
)

_NEVER = (*NAMES, NEVER)

# What an entry of the list calls them, and the details of a job.
_LISTED = {
    "job_number": "JB_job_number", "owner": "JB_owner", "project": "JB_project",
    "department": "JB_department", "state": "state", "slots": "slots", "task_number": "tasks",
    "submission_time": "JB_submission_time", "start_time": "JAT_start_time",
    "hard_req_queue": "hard_req_queue", "arid": "AR_id", "priority": "JB_priority",
}
_DETAILED = {
    "job_number": "JB_job_number", "arid": "JB_ar", "submission_time": "JB_submission_time",
    "owner": "JB_owner", "group": "JB_group", "account": "JB_account", "project": "JB_project",
    "department": "JB_department", "job_name": "JB_job_name", "merged": "JB_merge_stderr",
    "cwd": "JB_cwd", "execution_time": "JB_execution_time", "deadline": "JB_deadline",
    "mail_options": "JB_mail_options", "restart": "JB_restart", "script": "JB_script_file",
    "checkpoint": "JB_checkpoint_name",
    "stdout": "JB_stdout_path_list/path_list/PN_path",
    "stderr": "JB_stderr_path_list/path_list/PN_path",
    "stdin": "JB_stdin_path_list/path_list/PN_path",
    "shell": "JB_shell_list/path_list/PN_path",
}
_QUEUES = ("hard_req_queue", "JB_hard_queue_list/*/QR_name")  # of the list, and of the details

# What says something and is not read, by what it is about: of a job in a list, and in the details.
LEFT_LISTED: Left = {
    "how the scheduler came to what it does": (
        "JAT_ntix", "JAT_prio", "JAT_share", "JB_dlcontr", "JB_jobshare", "JB_nppri", "JB_nurg",
        "JB_override_tickets", "JB_rrcontr", "JB_wtcontr", "ftickets", "otickets", "stickets",
        "tickets",
    ),
    "what the details say better": (
        "binding", "cpu_usage", "io_usage", "mem_usage", "predecessor_jobs_req",
    ),
    "what a site asks for by itself": ("def_hard_request", "def_hard_request@name"),
    "what is said elsewhere as well": (
        "@state", "hard_request@resource_contribution", "soft_request@resource_contribution",
    ),
}
LEFT_DETAILED: Left = {
    "how the scheduler came to what it does": (
        "JB_hard_wallclock_gmt", "JB_ja_tasks/JAT_ntix", "JB_jobshare", "JB_nurg",
        "JB_override_tickets", "JB_soft_wallclock_gmt", "JB_verify", "JB_verify_suitable_queues",
        "JB_version",
    ),
    "what is said elsewhere as well": (
        "JB_exec_file", "JB_gid", "JB_ja_tasks/QIM_type", "JB_jid_request_list/JRE_job_name",
        "JB_jid_request_list/JRE_job_number", "JB_jid_successor_list/JRE_job_number",
        "JB_pe_range/RN_step", "JB_script_size", "JB_type", "JB_uid",
    ),
    "how users have it set up": (
        "JB_checkpoint_attr", "JB_checkpoint_interval", "JB_context/VA_value",
        "JB_context/VA_variable", "JB_ja_task_concurrency", "JB_notify", "JB_reserve",
        *(f"JB_{of}_path_list/PN_file_staging" for of in ("stderr", "stdin", "stdout")),
        "JB_shell_list/PN_file_staging",
    ),
    "fine points of a request": (
        *(f"JB_binding/BN_{of}" for of in (
            "parameter_core_offset", "parameter_explicit", "parameter_n",
            "parameter_socket_offset", "parameter_striding_step_size", "strategy", "type",
        )),
        *(f"JB_{kind}_resource_list/CE_{of}" for kind in ("hard", "soft") for of in (
            "consumable", "dominant", "doubleval", "pj_dominant", "pj_doubleval", "relop",
            "requestable", "tagged", "valtype",
        )),
    ),
}
# fmt: on
_KNOWN_LISTED = expected(
    (
        *_LISTED.values(),
        "JB_name",
        "full_job_name",
        "queue_name",
        *(
            f"{of}{name}"
            for name in ("", "@name")
            for of in ("hard_request", "soft_request", "requested_pe", "granted_pe")
        ),
        "predecessor_jobs",
    ),
    LEFT_LISTED,
)  # fmt: skip
_ONCE = frozenset(path.replace("/path_list/", "/") for path in _DETAILED.values())
_KNOWN_DETAILED = expected((
    *_ONCE, "JB_hard_queue_list/QR_name", "JB_env_list/VA_variable", "JB_env_list/VA_value",
    "JB_job_args/ST_name", "JB_mail_list/MR_host", "JB_mail_list/MR_user",
    "JB_pe", "JB_priority", "JB_pe_range/RN_min", "JB_pe_range/RN_max",
    *(f"JB_{kind}_resource_list/CE_{of}" for kind in ("hard", "soft")
      for of in ("name", "stringval")),
    *(f"JB_ja_structure/RN_{of}" for of in ("min", "max", "step")),
    "JB_jid_predecessor_list/JRE_job_number",
    *(f"JB_ja_tasks/{of}" for of in (
        "JAT_task_number", "JAT_status", "JAT_start_time", "QIM_message", "UA_name", "UA_value",
    )),
), LEFT_DETAILED)  # fmt: skip
_TIMES = ("submission_time", "start_time", "execution_time", "deadline")


@dataclass(slots=True)
class _JobOutput:
    """What one output says of a job or of a task: its line, and fields by their names."""

    line: int
    fields: dict[str, Any]
    notes: tuple[Noted, ...] = ()
    hosts: dict[str, None] = field(default_factory=dict)
    output: int = 0  # which of several outputs says it, each of which begins with <?xml

    @property
    def key(self) -> tuple[str, str]:
        return self.fields["job_number"], self.fields.get("task_number", "")


@dataclass(slots=True)
class _Detail:
    """What ``qstat -j`` says of a job, and of each of its tasks that was started."""

    job: _JobOutput
    tasks: dict[str, dict[str, str]]
    is_array: bool

    def told(self, task: str) -> dict[str, Any]:
        """The fields of the job, and of a task; a job that is no array is its only task."""
        return {**self.job.fields, **self.tasks.get(task if self.is_array else "1", {})}


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """What the outputs say of each job. Raises ``UnusableInput`` where there is none."""
    for item in _joined(xml_records.read(stream, _FORM, first)):
        yield item if isinstance(item, Bad | Noted) else (item.line, item)


def rows(names: Names) -> Iterator[Field]:
    """The mapping: that of the accounting, and what only live jobs have."""
    shared = (row for row in table.rows(names) if row.column != "priority")
    yield from (*shared, *LIVE, *(_WAITING if NEVER in names else ()))


def reader(options: Options, clock: Clock) -> Reader:
    """What reads jobs with this clock."""
    return lambda line, job: record(line, job, clock)


def record(line: int, job: _JobOutput, clock: Clock) -> Record:
    """The record of a job. Raises ``InvalidValue``."""
    if not job.fields["job_number"]:
        raise NoRecord("no JB_job_number")
    letters = job.fields["state"]
    names = NAMES if _runs(letters) else _NEVER
    ended = words.state(letters) == "Completed"
    return Record(line, names, _fields(job, clock), ended, notes=job.notes)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that qstat of Grid Engine printed it, or ""."""
    found = _ROOT.match(head)
    return f"<{found[1].decode()}> of Grid Engine" if found else ""


def _runs(letters: str) -> bool:
    """Whether a job runs, or is on its way to."""
    return words.state(letters) in ("Running", "Suspended")


def _joined(
    found: Iterable[xml_records.XMLRecord | Bad | Noted],
) -> Iterator[_JobOutput | Bad | Noted]:
    """The jobs of lists, with their details; then those of which there is no entry in a list."""
    listed: dict[tuple[str, str], _JobOutput] = {}
    details: dict[str, _Detail] = {}
    queue, output = "", 0
    for item in found:
        if isinstance(item, Bad | Noted):
            yield item
            continue
        output += _DECLARATION in item.gap
        if item.element.tag == "element":
            detail = _detail(item)
            details[detail.job.fields["job_number"]] = detail
        else:
            named = [*_QUEUE.finditer(item.gap)]
            if item.gap.rfind(b"</Queue-List>") > (named[-1].start() if named else -1):
                queue = ""
            elif named:
                queue = named[-1][1].decode("utf-8", "replace")
            entry = _listed(item, queue)
            entry.output = output
            _add(listed.setdefault(entry.key, entry), entry)
    for (number, task), entry in listed.items():
        if known_of := details.get(number):
            told = {name: value for name, value in entry.fields.items() if value}
            entry.fields |= {**known_of.told(task), **told, **_exact(known_of)}
            entry.notes += known_of.job.notes
        yield entry
    numbers = {number for number, _ in listed}
    for number, detail in details.items():
        if number not in numbers:
            yield from _alone(detail)


def _exact(detail: _Detail) -> dict[str, str]:
    """What the details say better than the list, which shortens names and ranges."""
    names = ("category", "submission_time", "job_name")
    return {name: text for name in names if (text := detail.job.fields.get(name))}


def _add(entry: _JobOutput, more: _JobOutput) -> None:
    """A parallel job stands in each of its queues, with the slots that it has there.

    Another output tells what the first one leaves open.
    """
    if entry.output != more.output:
        entry.fields |= {name: text for name, text in more.fields.items() if not entry.fields[name]}
        return
    if host := more.fields["hostname"]:
        entry.hosts[host] = None
    slots = [told.fields["slots"] for told in (entry, more)]
    if entry is not more and all(map(is_whole, slots)):
        entry.fields["slots"] = str(sum(map(int, slots)))


def _alone(detail: _Detail) -> Iterator[_JobOutput]:
    """A job of which only the details are known: its tasks, or the job that waits."""
    job = detail.job
    running = {task: told for task, told in detail.tasks.items() if told["status"]}
    for task in running or ("",):
        told = detail.told(task or "1")
        letters = told.get("status") or _waits(told)
        number = task if detail.is_array else ""
        yield _JobOutput(job.line, {**told, "state": letters, "task_number": number}, job.notes)


def _waits(told: Mapping[str, Any]) -> str:
    """The letters of a job that waits: held for others, in error for a reason, or in the queue."""
    return f"{'h' if told['predecessors'] else ''}{'E' if told.get('message') else ''}qw"


def _listed(found: xml_records.XMLRecord, queue: str) -> _JobOutput:
    """An entry of a list."""
    entry = found.element
    fields: dict[str, Any] = {name: _text(entry, tag) for name, tag in _LISTED.items()}
    fields["hard_req_queue"] = _every(entry, _QUEUES[0])
    fields["job_name"] = _text(entry, "full_job_name") or _text(entry, "JB_name")
    place = _text(entry, "queue_name") or queue
    fields["qname"], _, fields["hostname"] = place.partition("@")
    fields["hard_req_queue"] = fields["hard_req_queue"] or fields["qname"]  # as it waits
    requests = [(item.get("name", ""), item.text or "") for item in entry.iterfind("hard_request")]
    asked = entry.find("requested_pe")
    parallel = (asked.get("name", ""), asked.text or "") if asked is not None else None
    fields["category"] = _category(requests, parallel)
    granted = entry.find("granted_pe")
    fields["granted_pe"] = (granted.get("name", "") if granted is not None else "") or "NONE"
    soft = [(item.get("name", ""), item.text or "") for item in entry.iterfind("soft_request")]
    fields["soft"] = _list(soft)
    fields["predecessors"] = ",".join(
        _clean(item.text or "") for item in entry.iterfind("predecessor_jobs")
    )
    return _JobOutput(found.line, fields, _notes(found, "elements of a job", _KNOWN_LISTED))


def _detail(found: xml_records.XMLRecord) -> _Detail:
    """The details of a job."""
    job = found.element
    fields: dict[str, Any] = {name: _text(job, tag) for name, tag in _DETAILED.items()}
    fields["hard_req_queue"] = _every(job, _QUEUES[1])
    pairs = tuple(
        (_text(item, "VA_variable"), _text(item, "VA_value"))
        for item in job.iterfind("JB_env_list/*")
    )
    fields["environment"] = pairs
    fields["mail_list"] = ",".join(
        "@".join(filter(None, (_text(item, "MR_user"), _text(item, "MR_host"))))
        for item in job.iterfind("JB_mail_list/*")
    )
    fields["submit_host"] = dict(pairs).get(f"{_PREFIX}O_HOST", "")
    arguments = [_clean(item.text or "") for item in job.iterfind("JB_job_args/*/ST_name")]
    fields["arguments"] = shlex.join(arguments)
    priority = _text(job, "JB_priority")
    fields["priority"] = str(int(priority) - _BASE) if is_whole(priority) else priority
    parallel = (_text(job, "JB_pe"), _range(job.find("JB_pe_range/ranges")))
    fields["category"] = _category(
        _requests(job, "JB_hard_resource_list"), parallel if parallel[0] else None
    )
    fields["soft"] = _list(_requests(job, "JB_soft_resource_list"))
    fields["predecessors"] = ",".join(
        _clean(item.text or "") for item in job.iterfind("JB_jid_predecessor_list/*/JRE_job_number")
    )
    structure = [_range(item) for item in job.iterfind("JB_ja_structure/task_id_range")]
    is_array = structure not in ([], ["1"])
    if is_array:
        fields["task_number"] = ",".join(structure)
    tasks = {_text(task, "JAT_task_number"): _task(task) for task in job.iterfind("JB_ja_tasks/*")}
    notes = _notes(found, "elements of the details of a job", _KNOWN_DETAILED)
    return _Detail(_JobOutput(found.line, fields, notes), tasks, is_array)


def _task(task: Element) -> dict[str, str]:
    """What is known of a task: how it stands, when it began, what it has used, what went wrong."""
    usage = {_text(item, "UA_name"): _text(item, "UA_value")
             for item in task.iterfind("JAT_scaled_usage_list/*")}  # fmt: skip
    bits = _text(task, "JAT_status")
    flags = int(bits) if is_whole(bits) else 0
    status = next((letter for bit, letter in _LETTERS if flags & bit), "")
    messages = (_text(item, "QIM_message") for item in task.iterfind("JAT_message_list/*"))
    told = {"status": status, "message": "; ".join(filter(None, messages))}
    if status:
        told["start_time"] = _text(task, "JAT_start_time")
        told |= {name: usage.get(name, "") for name in ("cpu", "io", "maxvmem")}
    return told


def _notes(found: xml_records.XMLRecord, what: str, known: frozenset[str]) -> tuple[Noted, ...]:
    """What is wrong with a record, and what it says that is not read."""
    wrong = (Noted(found.line, found.note, once=True),) if found.note else ()
    said = list(_said(found.element))
    twice = (f"a second {name}" for name in _ONCE if said.count(name) > 1)
    return (*wrong, *unread(found.line, what, (*said, *twice), known))


def _said(record: Element) -> Iterator[str]:
    """The elements that have a text, those of a list by the names of both; attributes behind @."""
    yield from (f"@{name}" for name in record.attrib)
    for element in record.iterchildren("*"):
        for leaf in element.iter("*"):
            within = "" if leaf is element else f"/{leaf.tag!s}"
            if (leaf.text or "").strip():
                yield f"{element.tag!s}{within}"
            yield from (f"{element.tag!s}{within}@{name}" for name in leaf.attrib)


def _every(element: Element, path: str) -> str:
    """All texts there, with commas between them."""
    return ",".join(filter(None, (_clean(item.text or "") for item in element.iterfind(path))))


def _requests(job: Element, name: str) -> list[tuple[str, str]]:
    return [
        (_text(item, "CE_name"), _text(item, "CE_stringval")) for item in job.iterfind(f"{name}/*")
    ]


def _category(requests: Iterable[tuple[str, str]], parallel: tuple[str, str] | None) -> str:
    """The requests in the words of the accounting: ``-l h_rt=60,gpu=1 -pe mpi 8``."""
    said = _list(requests)
    words = [f"-l {said}"] if said else []
    if parallel:
        words.append(f"-pe {parallel[0]} {parallel[1]}")
    return " ".join(words)


def _list(requests: Iterable[tuple[str, str]]) -> str:
    return ",".join(f"{name}={_clean(text)}" for name, text in requests)


def _range(item: Element | None) -> str:
    """``1-9:2``, ``2-4`` or ``3``."""
    if item is None:
        return ""
    low, high, step = (_text(item, f"RN_{name}") for name in ("min", "max", "step"))
    if low == high:
        return low
    return f"{low}-{high}" + (f":{step}" if step not in ("", "0", "1") else "")


def _text(element: Element, path: str) -> str:
    return _clean(element.findtext(path) or "")


def _clean(text: str) -> str:
    """A text as it was given; qstat writes < as ``%lt;``."""
    return text.strip().replace(_HIDDEN, "<")


def _fields(told: _JobOutput, clock: Clock) -> list[Any]:
    """The fields in their order, times in seconds."""
    fields: Mapping[str, Any] = told.fields
    times = {name: _seconds(fields.get(name, ""), clock) for name in _TIMES}
    hosts = ",".join(told.hosts) if len(told.hosts) > 1 else ""
    return [{**fields, **times, "(hosts)": hosts}.get(name, "") for name in NAMES]


def _seconds(text: str, clock: Clock) -> str:
    """A time since 1970 as ``clock`` has it; what is none as it stands."""
    text = words.in_seconds(text)
    return "" if text == "0" else clock.readable(text) or text


LAYOUT = Layout(type=TYPE, cut=Cut(pieces), reader=reader, rows=rows, recognises=recognises)
