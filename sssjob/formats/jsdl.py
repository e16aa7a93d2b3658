"""JSDL 1.0 (GFD.136) with the POSIX application, or SPMD (GFD.115) for several processes.

Bounds of a request are a RangeValue, both ways. What has no home stands in an element of ours in
the open content of JobDescription.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple
from urllib.parse import urlsplit

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import expression, spec, units
from sssjob.amounts import OF_EACH_TASK, is_unlimited
from sssjob.document import places
from sssjob.document.encodings import DECLARATION
from sssjob.document.tree import parse
from sssjob.errors import Finding, InvalidValue, UnreadableDocument
from sssjob.executable import ExecutableKind, arguments, executable
from sssjob.expression import Interval
from sssjob.expression.conflicts import COUNTED
from sssjob.file_names import literal
from sssjob.formats.jsdl_words import (
    AMOUNTS,
    ARCHITECTURES,
    CREDENTIALS,
    JSDL,
    LIMITS,
    OURS,
    PER_NODE,
    PLAIN_SYSTEMS,
    POSIX,
    RESOURCES,
    SPMD,
    STREAMS,
    SYSTEMS,
    line_of,
    note,
    shown,
    tell_unread,
)
from sssjob.integers import whole
from sssjob.model import Job, Property, stripped, text_in
from sssjob.nodes import plain
from sssjob.task_counts import CountRange
from sssjob.translate.counts import say_counts
from sssjob.translate.limits import limit_amount, limits_of
from sssjob.translate.nodes import any_of_these
from sssjob.translate.numbers import (
    JOB,
    NODE,
    TaskCounts,
    added,
    amount_of,
    bounds_of_groups,
    choices,
    node_counts,
    rescope,
    say_wall,
    wall,
)
from sssjob.translate.options import ScriptReading
from sssjob.translate.requests import JobRequest
from sssjob.translate.residual import ResidualLine
from sssjob.translate.specification import (
    command,
    file_of,
    say_command,
    say_variables,
    text_of,
    variables,
)
from sssjob.translate.streams import FILES
from sssjob.translate.translator import Read, Settings, Translator

_PREFIXES = {"jsdl": JSDL, "posix": POSIX, "spmd": SPMD, "sssjob": OURS}
_VARIATION = "http://www.ogf.org/jsdl/2007/02/jsdl-spmd/MPI"  # which SPMD has to name
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")  # of NCName what everybody takes
_BOUND = re.compile(
    r"(?:[0-9]{1,36}(?:\.[0-9]{0,36})?|\.[0-9]{1,36})(?:[eE][+-]?[0-9]{1,2})?"
)  # the numbers that are read
_NORMALIZED = re.compile(r"[\t\r\n]")  # what no xsd:normalizedString keeps
_DATA = "data:application/octet-stream;base64,"  # RFC 2397
_OVERWRITE = "overwrite"
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


class JSDLTranslator(Translator[Element]):
    """A JobDefinition."""

    name = "jsdl"
    suffix = ".jsdl"
    joins = True

    def compose(self, asked: JobRequest, settings: Settings) -> Element:
        """The JobDefinition of a job."""
        root = etree.Element(f"{{{JSDL}}}JobDefinition", nsmap=_PREFIXES)
        job = _add(root, JSDL, "JobDescription")
        of = added(asked)
        _identification(asked, job)
        staged = _application(asked, settings, job, of)
        _resources(asked, settings, job, of)
        for each in staged:
            _staging(job, each)
        return root

    def dump(self, form: Element) -> str:
        """The document, indented."""
        form = parse(etree.tostring(form))
        etree.indent(form)
        etree.cleanup_namespaces(form, keep_ns_prefixes=["jsdl"])
        text: str = etree.tostring(form, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'

    def load(self, data: bytes) -> Iterator[Element | Finding]:
        """The JobDefinition of a document, or each of them, and of each document behind another."""
        if not data.strip():
            return
        for document in _documents(data):
            try:
                root = parse(document)
            except UnreadableDocument as error:
                yield error.finding
                continue
            yield from _around(root)
            yield from root.iter(f"{{{JSDL}}}JobDefinition")

    def job(self, form: Element, settings: Settings) -> Read:
        """The job of a JobDefinition."""
        heard = ScriptReading()
        job = form.find(f"{{{JSDL}}}JobDescription")
        if job is None:
            note(heard, form, "no JobDescription")
            return Read(Job(), tuple(heard.findings))
        _read_identification(job, heard)
        staged = {each.name: each for each in _staged(job, heard)}
        _read_application(job, heard, staged)
        _read_resources(job, heard)
        _read_counts(job, heard)
        rescope(heard, settings.memory_scope)
        tell_unread(form, heard)
        return Read(Job(heard.all()), tuple(sorted(heard.findings, key=_place)), heard.files)

    def keep(self, form: Element, lines: Iterable[str]) -> Element:
        """The residual behind all else of JobDescription."""
        job = form.find(f"{{{JSDL}}}JobDescription")
        assert job is not None
        for line in lines:
            _add(job, OURS, "kept", str(line))
        return form

    def kept(self, form: Element) -> tuple[str, ...]:
        """The residual."""
        found = form.iterfind(f"{{{JSDL}}}JobDescription/{{{OURS}}}kept")
        return tuple(ResidualLine.at(each.text or "", line_of(each)) for each in found)

    def recognises(self, head: bytes) -> str:
        """The namespace."""
        named = JSDL.encode() in head and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"
        return f"the namespace {JSDL}" if named else ""


def _place(found: Finding) -> int:
    return found.line


def _add(parent: Element, namespace: str, name: str, text: str | None = None) -> Element:
    element = etree.SubElement(parent, f"{{{namespace}}}{name}")
    element.text = text
    return element


def _documents(data: bytes) -> Iterator[bytes]:
    """A document, or those that stand behind each other, each in its lines with its own fault."""
    begins = [found.start() for found in DECLARATION.finditer(data)]
    if len(begins) < 2 or _is_whole(data):
        yield data
        return
    ends = [*begins[1:], len(data)]
    for begin, end in zip([0, *begins[1:]], ends, strict=True):
        head, sign, rest = data[begin:end].partition(b"?>")
        yield head + sign + b"\n" * data.count(b"\n", 0, begin) + rest


def _is_whole(data: bytes) -> bool:
    try:
        parse(data)
    except UnreadableDocument:
        return False
    return True


def _around(root: Element) -> Iterator[Finding]:
    """What stands beside the JobDefinition elements of a document."""
    heard = ScriptReading()
    for each in root.iterchildren("*") if root.tag != f"{{{JSDL}}}JobDefinition" else ():
        if next(each.iter(f"{{{JSDL}}}JobDefinition"), None) is None:
            note(heard, each, shown(each))
    yield from heard.findings


def _identification(asked: JobRequest, job: Element) -> None:
    found = [
        (element, text)
        for name, element in (("Name", "JobName"), ("Project", "JobProject"))
        if (text := text_of(asked, name))
    ]
    if found:
        inside = _add(job, JSDL, "JobIdentification")
        for element, text in found:
            _add(inside, JSDL, element, text)


def _read_identification(job: Element, heard: ScriptReading) -> None:
    for element, name in (("JobName", "Name"), ("JobProject", "Project")):
        found = job.findall(f"{{{JSDL}}}JobIdentification/{{{JSDL}}}{element}")
        if found and _text(found[0]):
            heard.say(name, _text(found[0]))


class Staged(NamedTuple):
    """A file that is there before the program starts, and where it comes from."""

    name: str
    uri: str


def _staging(job: Element, staged: Staged) -> None:
    element = _add(job, JSDL, "DataStaging")
    _add(element, JSDL, "FileName", staged.name)
    _add(element, JSDL, "CreationFlag", _OVERWRITE)
    _add(_add(element, JSDL, "Source"), JSDL, "URI", staged.uri)


def _staged(job: Element, heard: ScriptReading) -> Iterator[Staged]:
    """Files that are staged in; what is staged out has no place in a job object."""
    for element in job.iterfind(f"{{{JSDL}}}DataStaging"):
        name = _text(element.find(f"{{{JSDL}}}FileName"))
        uri = _text(element.find(f"{{{JSDL}}}Source/{{{JSDL}}}URI"))
        program = _text(job.find(f".//{{{POSIX}}}Executable"))
        if not uri or name != program:
            note(heard, element, f"DataStaging of {name[:60]!r} is not read")
            continue
        tell_unread(element, heard)
        flag = element.find(f"{{{JSDL}}}CreationFlag")
        if flag is not None and _text(flag) != _OVERWRITE:
            note(heard, flag, f"{shown(flag)}: {_OVERWRITE} is meant")
        yield Staged(name, uri)


def _program_file(asked: JobRequest, settings: Settings) -> Staged | None:
    """The program that is a file of the job, or has the address of one; None for a path."""
    item = asked.items("Executable")[:1]
    if not item:
        return None
    try:
        named = executable(item[0].text, asked.said("InitialWorkingDirectory"))
    except InvalidValue:
        return None
    if named.kind is ExecutableKind.FILE and named.target in settings.files:
        content = base64.b64encode(settings.files[named.target]).decode()
        staged = Staged(named.target, f"{_DATA}{content}")
    elif named.kind is ExecutableKind.URI:
        staged = Staged(urlsplit(named.target).path.rpartition("/")[2], named.target)
    else:
        return None
    if not _FILE_NAME.fullmatch(staged.name):
        return None
    return staged


def _application(
    asked: JobRequest, settings: Settings, job: Element, of: TaskCounts
) -> tuple[Staged, ...]:
    application = _add(job, JSDL, "Application")
    if text := text_of(asked, "Application"):
        _add(application, JSDL, "ApplicationName", text)
    several = (of.tasks or 0) > 1 or of.per_node is not None
    posix = _add(
        application,
        SPMD if several else POSIX,
        "SPMDApplication" if several else "POSIXApplication",
    )
    staged = _program_file(asked, settings)
    _program(asked, posix, staged)
    for name, element in STREAMS:
        held = ("redirectList",) if name in FILES else ()
        item = asked.one(name, *held)
        text = file_of(asked, name) if held else text_in(item)
        if text:
            _add(posix, POSIX, element, text)
        if item is not None and "redirectList" in item.attributes:
            asked.refuse(item, "there is no mode of a stream", "redirectList")
    _environment(asked, posix)
    if seconds := wall(asked):
        _add(posix, POSIX, "WallTimeLimit", str(seconds))
    _limits(asked, posix)
    for name, element in CREDENTIALS:
        if text := text_of(asked, name):
            _add(posix, POSIX, element, text)
    if several:
        _spmd(asked, posix, of)
    elif of.tasks or of.per_task:
        asked.convert("TaskCount", "it is one process")
        for item in asked.items("TaskDistribution"):
            asked.refuse(item, "one process has no such number")
    if not len(posix):
        application.remove(posix)
    if not len(application):
        job.remove(application)
    return (staged,) if staged else ()


def _program(asked: JobRequest, posix: Element, staged: Staged | None) -> None:
    words = command(asked)
    if staged is not None:
        asked.one("Executable")
        try:
            words = [staged.name, *arguments(asked.said("Arguments"))]
        except InvalidValue:  # which ``command`` has told
            words = [staged.name]
    if any(_NORMALIZED.search(each) for each in words[1:]):
        for item in asked.items("Arguments"):
            asked.refuse(item, "an Argument holds neither tabs nor line ends")
        words = words[:1]
    if words:
        _add(posix, POSIX, "Executable", words[0])
    for each in words[1:]:
        _add(posix, POSIX, "Argument", each)


def _environment(asked: JobRequest, posix: Element) -> None:
    values, export = variables(asked)
    for name, value in values.items():
        if _NAME.fullmatch(name):
            element = _add(posix, POSIX, "Environment", value)
            element.set("name", name)
        else:
            for item in asked.items("Environment"):
                asked.refuse(item, f"{name!r} is no name of XML")
    if export is not None:
        for item in asked.items("Environment"):
            asked.refuse(item, "nothing says what of the submission is there", "export")


def _limits(asked: JobRequest, posix: Element) -> None:
    found: dict[str, int] = {}
    for item in limits_of(asked, "name", "units"):
        name = spec.limit_name(item.attributes.get("name", ""))
        if name not in dict(LIMITS):
            asked.refuse(item, "there is no such limit")
        elif name in found:
            asked.refuse(item, "another limit is asked for")
        elif is_unlimited(item):
            asked.refuse(item, "what is not limited is not said")
        else:
            try:
                found[name] = limit_amount(item, name)
            except InvalidValue as error:
                asked.refuse(item, str(error))
    for name, element in LIMITS:
        if name in found:
            _add(posix, POSIX, element, str(found[name]))


def _spmd(asked: JobRequest, posix: Element, of: TaskCounts) -> None:
    if of.tasks:
        _add(posix, SPMD, "NumberOfProcesses", str(of.tasks))
    if of.per_node:
        _add(posix, SPMD, "ProcessesPerHost", str(of.per_node))
    if of.per_task:
        _add(posix, SPMD, "ThreadsPerProcess", str(of.per_task))
    _add(posix, SPMD, "SPMDVariation", _VARIATION)


def _read_application(job: Element, heard: ScriptReading, staged: Mapping[str, Staged]) -> None:
    application = job.find(f"{{{JSDL}}}Application")
    if application is None:
        return
    if text := _text(application.find(f"{{{JSDL}}}ApplicationName")):
        heard.say("Application", text)
    posix = application.find(f"{{{POSIX}}}POSIXApplication")
    spmd = application.find(f"{{{SPMD}}}SPMDApplication")
    if posix is not None and spmd is not None:
        note(heard, spmd, f"{shown(spmd)}: there is a POSIXApplication, which is read")
    posix = spmd if posix is None else posix
    if posix is None:
        note(heard, application, "an Application that is neither POSIX nor SPMD")
        return
    words = [_text(posix.find(f"{{{POSIX}}}Executable"))]
    words += [places.text_of(each) for each in posix.iterfind(f"{{{POSIX}}}Argument")]
    if words[0] in staged:
        words[0] = _read_file(staged[words[0]], heard)
    say_command(heard, words)
    for name, element in (*STREAMS, *CREDENTIALS):
        if text := _text(posix.find(f"{{{POSIX}}}{element}")):
            heard.say(name, literal(text) if name in FILES else text)
    values: dict[str, str] = {}
    for each in posix.iterfind(f"{{{POSIX}}}Environment"):
        if not (name := each.get("name", "")) or name in values:
            note(heard, each, f"{shown(each)}: it has no name of its own")
        else:
            values[name] = places.text_of(each)
    if values:
        say_variables(heard, values)
    if (seconds := _whole(posix, POSIX, "WallTimeLimit", heard)) is not None:
        say_wall(heard, seconds)
    for name, element in LIMITS:
        if (number := _whole(posix, POSIX, element, heard)) is not None:
            heard.say("ResourceLimit", number, name=name)
    variation = posix.find(f"{{{SPMD}}}SPMDVariation")
    if variation is not None and _text(variation) != _VARIATION:
        note(heard, variation, f"{shown(variation)}: {_VARIATION} is meant")


def _read_counts(job: Element, heard: ScriptReading) -> None:
    """Processes, beside the nodes and processors that are asked for in all."""
    path = f"{{{JSDL}}}Application"
    application = job.find(path)
    if application is None:
        return
    posix = application.find(f"{{{POSIX}}}POSIXApplication")
    posix = application.find(f"{{{SPMD}}}SPMDApplication") if posix is None else posix
    if posix is None:
        return
    tasks, per_node, each = (
        _whole(posix, SPMD, name, heard, least=1)
        for name in ("NumberOfProcesses", "ProcessesPerHost", "ThreadsPerProcess")
    )
    all_, nodes = (_only_number(heard, name) for name in ("Processors", "NodeCount"))
    if all_ and each and not tasks and not all_ % each:
        tasks = all_ // each
    if all_ and each and tasks and tasks * each != all_:
        told = f"{tasks} processes of {each} threads are not {all_} processors"
        note(heard, posix, f"{told}: the threads are not read")
        each = None
    if all_ and tasks and not each and all_ % tasks:
        told = f"{tasks} processes are not {all_} processors"
        note(heard, posix, f"{told}: the processors are not read")
        heard.requested = [item for item in heard.requested if item.name != "Processors"]
    if tasks and nodes and tasks < nodes:
        note(heard, posix, f"{tasks} processes on {nodes} resources: their number is not read")
        tasks = None
    said = {item.name for item in heard.requested}
    of = TaskCounts(CountRange.exactly(nodes) if nodes else None, None, tasks, per_node, each)
    inner = ScriptReading()
    say_counts(inner, of, processors=each is not None, nodes="NodeCount" not in said)
    heard.items += inner.items
    heard.findings += inner.findings
    heard.requested += (item for item in inner.requested if item.name not in said or not all_)


def _only_number(heard: ScriptReading, name: str) -> int | None:
    """The whole number that is asked for by a name, where it is one."""
    found = [item for item in heard.requested if item.name == name]
    return whole(found[0].text) if len(found) == 1 and not found[0].attributes else None


def _read_file(staged: Staged, heard: ScriptReading) -> str:
    """What an Executable is called that is a file of the job, or has an address."""
    if not staged.uri.startswith(_DATA):
        return staged.uri
    try:
        heard.files[staged.name] = base64.b64decode(staged.uri[len(_DATA) :], validate=True)
    except ValueError:
        heard.note(f"the content of {staged.name[:60]!r} cannot be read")
        return staged.name
    return f"#{staged.name}"


def _whole(
    parent: Element, namespace: str, name: str, heard: ScriptReading, least: int = 0
) -> int | None:
    found = parent.find(f"{{{namespace}}}{name}")
    text = _text(found)
    if found is None or not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 20) or int(text) < least:
        above = " above 0" if least else ""
        note(heard, found, f"{name}: {text[:60]!r} where a number{above} is expected")
        return None
    return int(text)


def _text(element: Element | None) -> str:
    return stripped(places.text_of(element)) if element is not None else ""


def _resources(asked: JobRequest, settings: Settings, job: Element, of: TaskCounts) -> None:
    found: dict[str, Element] = {}
    _hosts(asked, found, of)
    _platform(asked, found)
    for name, element in AMOUNTS:
        if name == "Network" and _of_bytes(asked):
            continue
        total = bounds_of_groups(asked, of, name) if name in OF_EACH_TASK else None
        values = _numbers(asked, name, of)
        if not values:
            if total is not None and (whole := amount_of(total)) is not None:
                found[element] = _range_value(element, [whole])
            continue
        if name == "Memory" and settings.memory_scope != JOB:
            if settings.memory_scope == NODE:
                element = "IndividualPhysicalMemory"
            elif (count := of.count or 1) > 1:
                asked.convert("Memory", f"that of each task, {count} times")
                values = [_times(each, count) for each in values]
        found[element] = _range_value(element, values)
    if found:
        inside = _add(job, JSDL, "Resources")
        for name in RESOURCES:
            if name in found:
                inside.append(found[name])


def _numbers(asked: JobRequest, name: str, of: TaskCounts) -> list[Interval]:
    """Take the numbers and ranges of an amount, of which any will do."""
    if name == "NodeCount":
        return [each.interval for each in node_counts(asked, of)] or _bounds(asked, name)
    if values := choices(asked, name):
        return values
    if name == "Processors" and of.processors and of.processors.exact:
        return [_exactly(of.tasks * of.each if of.tasks else of.processors.exact)]
    return _bounds(asked, name)


def _exactly(number: int) -> Interval:
    return Interval(Fraction(number), Fraction(number))


def _of_bytes(asked: JobRequest) -> bool:
    """Whether a bandwidth has units, which are those of bytes: it is told."""
    found = asked.items("Network")
    wrong = any("units" in item.attributes for item in found)
    for item in found if wrong else ():
        asked.refuse(item, "a bandwidth is a number of bits a second, without units")
    return wrong


def _bounds(asked: JobRequest, name: str) -> list[Interval]:
    """Take an amount, of which no number below 0 counts."""
    found = asked.bounds(name)
    if found is None:
        return []
    bounds = None if name in COUNTED and found.has_no_count else amount_of(found)
    if bounds is None:
        for item in asked.items(name):
            asked.refuse(item, "it is no amount")
        return []
    return [bounds]


def _times(found: Interval, count: int) -> Interval:
    lo, hi = (None if end is None else end * count for end in (found.lo, found.hi))
    return Interval(lo, hi)


def _hosts(asked: JobRequest, found: dict[str, Element], of: TaskCounts) -> None:
    if named := any_of_these(asked, of.wanted, most=None):
        element = found["CandidateHosts"] = etree.Element(f"{{{JSDL}}}CandidateHosts")
        for host in named:
            _add(element, JSDL, "HostName", host)


def _platform(asked: JobRequest, found: dict[str, Element]) -> None:
    """By tables; what they do not have is told."""
    if item := asked.one("Architecture"):
        if known := ARCHITECTURES.get(stripped(item.text).lower()):
            element = found["CPUArchitecture"] = etree.Element(f"{{{JSDL}}}CPUArchitecture")
            _add(element, JSDL, "CPUArchitectureName", known)
        else:
            asked.refuse(item, "JSDL has no name for it")
    if item := asked.one("OperatingSystem"):
        if known := SYSTEMS.get(stripped(item.text).lower()):
            element = found["OperatingSystem"] = etree.Element(f"{{{JSDL}}}OperatingSystem")
            inside = _add(element, JSDL, "OperatingSystemType")
            _add(inside, JSDL, "OperatingSystemName", known)
        else:
            asked.refuse(item, "JSDL has no name for it")


def _range_value(name: str, values: Iterable[Interval]) -> Element:
    """The RangeValue of whole numbers, of which any will do, in the order of the schema.

    It takes one bound from above and one from below, of several the one that lets in the others.
    """
    element = etree.Element(f"{{{JSDL}}}{name}")
    found = set(values)
    above = max((each for each in found if each.lo is None), key=_highest, default=None)
    below = min((each for each in found if each.hi is None), key=_lowest, default=None)
    closed = [each for each in found if each.lo is not None and each.hi is not None]
    closed.sort(key=lambda each: (each.lo != each.hi, _lowest(each), _highest(each)))
    for bounds in (above, below, *closed):
        if bounds is not None:
            _value(element, bounds)
    return element


def _lowest(bounds: Interval) -> Fraction:
    assert bounds.lo is not None
    return bounds.lo


def _highest(bounds: Interval) -> Fraction:
    assert bounds.hi is not None
    return bounds.hi


def _value(element: Element, bounds: Interval) -> None:
    lo, hi = (None if end is None else str(int(end)) for end in (bounds.lo, bounds.hi))
    if lo == hi:
        _add(element, JSDL, "Exact", lo)
    elif lo is None:
        _add(element, JSDL, "UpperBoundedRange", hi)
    elif hi is None:
        _add(element, JSDL, "LowerBoundedRange", lo)
    else:
        inside = _add(element, JSDL, "Range")
        _add(inside, JSDL, "LowerBound", lo)
        _add(inside, JSDL, "UpperBound", hi)


def _read_resources(job: Element, heard: ScriptReading) -> None:
    resources = job.find(f"{{{JSDL}}}Resources")
    if resources is None:
        return
    path = f"{{{JSDL}}}CandidateHosts/{{{JSDL}}}HostName"
    hosts_ = [*resources.iterfind(path)]
    named = [*map(_text, hosts_)]
    if wrong := [each for each in hosts_ if not plain(_text(each))]:
        note(heard, wrong[0], "CandidateHosts: names of hosts are expected")
    elif named:
        listed = {"aggregation": "List"} if len(named) > 1 else {}
        heard.request("Node", ",".join(named), **listed)
    path = f"{{{JSDL}}}CPUArchitecture/{{{JSDL}}}CPUArchitectureName"
    if text := _text(resources.find(path)):
        heard.request("Architecture", text)
    path = f"{{{JSDL}}}OperatingSystem/{{{JSDL}}}OperatingSystemType/{{{JSDL}}}OperatingSystemName"
    if text := _text(resources.find(path)):
        heard.request("OperatingSystem", PLAIN_SYSTEMS.get(text, text))
    nodes = _exact(resources.find(f"{{{JSDL}}}TotalResourceCount"))
    asked: list[expression.Expression] = [*map(expression.Comparison, heard.requested)]
    for element in resources.iterchildren(f"{{{JSDL}}}*"):
        name = etree.QName(element).localname
        amount = next((row.name for row in AMOUNTS if row.element == name), "")
        if amount:
            asked += _comparisons(heard, amount, element, 1)
        elif name in PER_NODE:
            asked += _comparisons(heard, PER_NODE[name], element, nodes or 1)
    if asked:
        heard.requested = [*expression.write(expression.all_of(asked))]


def _exact(element: Element | None) -> int | None:
    try:
        values = _values(element) if element is not None else []
    except InvalidValue:  # which is told where the amount is read
        return None
    if len(values) == 1 and values[0].lo is not None and values[0].lo == values[0].hi:
        return int(values[0].lo)
    return None


def _values(element: Element) -> list[Interval]:
    """The numbers and ranges of a RangeValue, any of which will do. Raises ``InvalidValue``."""
    found = []
    for each in element.iterchildren(f"{{{JSDL}}}*"):
        name = etree.QName(each).localname
        if name == "Exact":
            found.append(Interval(_bound(each), _bound(each)))
        elif name == "UpperBoundedRange":
            found.append(Interval(None, _bound(each), hi_open=_is_open(each)))
        elif name == "LowerBoundedRange":
            found.append(Interval(_bound(each), None, lo_open=_is_open(each)))
        elif name == "Range":
            low, high = (each.find(f"{{{JSDL}}}{end}Bound") for end in ("Lower", "Upper"))
            if low is None or high is None:
                raise InvalidValue("Range", "a LowerBound and an UpperBound")
            ends = _bound(low), _bound(high)
            found.append(Interval(*ends, lo_open=_is_open(low), hi_open=_is_open(high)))
    return found


def _bound(element: Element) -> Fraction:
    text = _text(element)
    if not _BOUND.fullmatch(text):
        raise InvalidValue(text, f"a number in {etree.QName(element).localname}")
    return Fraction(text)


def _is_open(element: Element) -> bool:
    """Whether a bound is none of the values. Raises ``InvalidValue``."""
    return units.boolean(element.get("exclusiveBound", "false"))


def _comparisons(
    heard: ScriptReading, name: str, element: Element, times: int
) -> Iterator[expression.Expression]:
    """What a RangeValue asks for; several numbers and ranges in it are alternatives."""
    try:
        values = [each for each in _values(element) if each.bounded]
        if not values:
            raise InvalidValue("", "numbers and ranges, of which one can be met")
    except InvalidValue as error:
        note(heard, element, str(error))
        return
    if len(values) == 1:
        yield from _terms(name, values[0], times)
    elif values:
        yield expression.Or(tuple(expression.all_of(_terms(name, each, times)) for each in values))


def _terms(name: str, interval: Interval, times: int) -> Iterator[expression.Comparison]:
    lo, hi = interval.lo, interval.hi
    if lo is not None and lo == hi:
        yield expression.Comparison(_amount(name, lo * times, ""))
        return
    if lo is not None:
        yield expression.Comparison(_amount(name, lo * times, "GT" if interval.lo_open else "GE"))
    if hi is not None:
        yield expression.Comparison(_amount(name, hi * times, "LT" if interval.hi_open else "LE"))


def _amount(name: str, value: Fraction, op: str) -> Property:
    attributes = {"op": op} if op else {}
    if name in units.DEFAULT_UNITS:
        text, unit = units.in_units(value)
        return Property(name, text, {**attributes, "units": unit})
    return Property(name, value, attributes)


TRANSLATOR = JSDLTranslator()
