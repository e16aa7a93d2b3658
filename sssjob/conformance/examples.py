"""Short documents that show where an element or an attribute stands, laid out over lines.

>>> print(laid_out(of_element("Memory", ["Job", "Requested"])))
<Job>
  <Id>1</Id>
  <Duration>60</Duration>
  <Requested>
    <Memory units="GB">2</Memory>
  </Requested>
</Job>
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sssjob import spec

# fmt: off
# What an element says in its example, where its type alone does not tell.
_TEXTS = {
    "Application": "Gaussian", "Architecture": "x86_64", "Arguments": "-v in.dat", "Charge": "12.5",
    "Description": "nightly run", "ErrorFile": "job.err", "Executable": "/bin/date",
    "ExitCode": "0", "Feature": "gpu", "GlobalId": "https://hpc.example.org/1",
    "GlobalUser": "/O=Grid/CN=Amy", "Group": "staff", "Hold": "User", "Id": "7",
    "InitialWorkingDirectory": "/home/amy", "InputFile": "in.dat", "Machine": "cluster1",
    "Name": "scan", "NetworkAdapter": "ib", "Node": "node1", "NodeCount": "2",
    "NotificationList": "JobEnd", "OperatingSystem": "Linux", "OutputFile": "job.out",
    "Partition": "main", "Priority": "100", "Process": "4711", "Project": "chemistry",
    "QualityOfService": "premium", "Queue": "batch", "Quote": "17", "Reservation": "maintenance",
    "ResourceManagerType": "Slurm", "Session": "4711", "Shell": "/bin/bash", "StartCount": "1",
    "State": "Running", "StatusMessage": "NODE_FAIL", "SubmitHost": "login1.example.org",
    "TimeCategory": "PrimeTime", "Type": "batch", "User": "amy",
}
_BY_TYPE = {spec.STRING: "text", spec.INTEGER: "4", spec.FLOAT: "2", spec.BOOLEAN: "true",
            spec.DATETIME: "1051557713", spec.DURATION: "3600"}

# Elements that are more than a text.
_ELEMENTS = {
    "Dependency": '<Dependency condition="OnSuccess">6</Dependency>',
    "Disk": '<Disk units="GB">10</Disk>',
    "Environment": '<Environment><Variable name="LANG">C</Variable></Environment>',
    "Extension": '<Extension name="Colour">red</Extension>',
    "Memory": '<Memory units="GB">2</Memory>',
    "Network": '<Network units="MB">10</Network>',
    "Resource": '<Resource name="License">1</Resource>',
    "ResourceLimit": '<ResourceLimit name="CPUTime">3600</ResourceLimit>',
    "Swap": '<Swap units="GB">4</Swap>',
    "TaskDistribution": '<TaskDistribution type="TasksPerNode">2</TaskDistribution>',
    "Variable": '<Variable name="LANG">C</Variable>',
}

# Each attribute by its name and the first place that it has in its table: what its absence means,
# where that is no value of its own, in what it is shown, and how.
_ATTRIBUTES: dict[tuple[str, str], tuple[str, str, str]] = {
    ("awarenessPolicy", "*"): ("", "Job", '<Extension name="Colour" awarenessPolicy="Warn">red</Extension>'),
    ("aggregation", "Feature"): ("the text is one name", "Requested", '<Feature aggregation="List">gpu,ssd</Feature>'),
    ("aggregation", "Node"): ("the text is one name", "Requested", '<Node aggregation="Range">node[1-4]</Node>'),
    ("delimiter", "Feature"): ("", "Requested", '<Feature aggregation="List" delimiter=";">gpu;ssd</Feature>'),
    ("count", "Node"): ("NodeCount, if the request has one", "Requested", '<Node aggregation="Pattern" count="2">node.*</Node>'),
    ("redirectList", "OutputFile"): ("no redirection", "Job", '<OutputFile redirectList="Append,Keep">job.out</OutputFile>'),
    ("redirectList", "InputFile"): ("no redirection", "Job", '<InputFile redirectList="Close"></InputFile>'),
    ("uri", "NotificationList"): ("the batch system decides", "Job", '<NotificationList uri="amy@example.org">JobEnd</NotificationList>'),
    ("name", "ResourceLimit"): ("none", "Job", _ELEMENTS["ResourceLimit"]),
    ("type", "ResourceLimit"): ("both limits are set", "Job", '<ResourceLimit name="CPUTime" type="Soft">3600</ResourceLimit>'),
    ("export", "Environment"): ("the batch system decides", "Job", '<Environment export="true"/>'),
    ("name", "Variable"): ("none", "Environment", _ELEMENTS["Variable"]),
    ("type", "TaskDistribution"): ("by the text: Geometry for {1,2}{3}, TasksPerNode for a number, otherwise Rule",
                                   "Job", _ELEMENTS["TaskDistribution"]),
    ("condition", "Dependency"): ("", "Job", '<Dependency condition="OnFailure">6</Dependency>'),
    ("code", "Dependency"): ("any exit code", "Job", '<Dependency condition="OnExit" code="2">6</Dependency>'),
    ("designator", "Dependency"): ("", "Job", '<Dependency designator="JobName">prepare</Dependency>'),
    ("context", "Disk"): ("", "Requested", '<Memory context="Configured" units="GB">64</Memory>'),
    ("units", "Disk"): ("MB for Memory, Swap and Disk; none for others", "Requested", _ELEMENTS["Memory"]),
    ("metric", "Disk"): ("not stated", "Delivered", '<Memory metric="Max" units="GB">2</Memory>'),
    ("duration", "Disk"): ("the Duration of the job", "Delivered", '<Processors duration="1234">4</Processors>'),
    ("consumptionRate", "Disk"): ("1", "Delivered", '<Processors consumptionRate="0.63">4</Processors>'),
    ("dynamic", "Disk"): ("false", "Requested", '<Processors op="LE" dynamic="true">8</Processors>'),
    ("units", "Charge"): ("not stated", "Job", '<Charge units="EUR">12.5</Charge>'),
    ("name", "Resource"): ("none", "Requested", _ELEMENTS["Resource"]),
    ("type", "Resource"): ("not stated", "Requested", '<Resource name="License" type="MATLAB">1</Resource>'),
    ("name", "Extension"): ("none", "Job", _ELEMENTS["Extension"]),
    ("type", "Extension"): ("not stated", "Job", '<Extension type="Scheduler" name="Colour">red</Extension>'),
    ("op", "Requested/*"): ("", "Requested", '<Processors op="GE">4</Processors>'),
    ("conj", "Requested/*"): ("", "Requested", '<Queue>short</Queue><Queue conj="Or">long</Queue>'),
    ("group", "Requested/*"): ("0: no group begins or ends here", "Requested",
                               '<User group="1">amy</User><Project group="-1">chem</Project>'
                               '<User conj="Or" group="1">bob</User><Project group="-1">bio</Project>'),
    ("preference", "Requested/*"): ("no preference: the property is a condition", "Requested",
                                    '<Memory preference="2" units="GB">2</Memory><Memory preference="1" units="GB">1</Memory>'),
    ("performanceFactor", "Requested/*"): ("no hint", "Requested", '<Processors performanceFactor="1.5">4</Processors>'),
    ("group", "Delivered/*"): ("0: no group begins or ends here", "Delivered",
                               '<Machine group="1">m1</Machine><Processors group="-1">4</Processors>'
                               '<Machine group="1">m2</Machine><Processors group="-1">8</Processors>'),
}

_IN_A_TASK_GROUP = "<TaskGroup><TaskCount>1</TaskCount>{}</TaskGroup>"
# What stands around an example, from the outermost job object on.
_AROUND = {
    "Job": "{}",
    "Requested": "<Requested>{}</Requested>",
    "Delivered": "<Delivered>{}</Delivered>",
    "Environment": "<Environment>{}</Environment>",
    "TaskGroup": "<TaskGroup>{}</TaskGroup>",
    "Task": _IN_A_TASK_GROUP.format("<Task>{}</Task>"),
}
_CONTAINERS = {
    "Job": "",
    "JobGroup": "<JobGroup><Id>g</Id>{}</JobGroup>",
    "JobDefaults": "<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults>{}</JobGroup>",
    "TaskGroup": _IN_A_TASK_GROUP.format(""),
    "TaskGroupDefaults": "<TaskGroupDefaults><Processors>2</Processors></TaskGroupDefaults>"
                         + _IN_A_TASK_GROUP.format(""),
    "Task": _IN_A_TASK_GROUP.format("<Task><Node>node1</Node></Task>"),
    "TaskDefaults": _IN_A_TASK_GROUP.format("<Task><Node>node1</Node></Task><TaskDefaults><Processors>2</Processors></TaskDefaults>"),
    "Requested": '<Requested><Processors op="GE">4</Processors></Requested>',
    "Delivered": "<Delivered><Processors>4</Processors></Delivered>",
    "Environment": _ELEMENTS["Environment"],
}
# Values that are not shown by putting them into the example of their attribute.
_VALUES = {
    ("op", "Match"): ("Requested", '<Queue op="Match">fast.*</Queue>'),
    ("conj", "And"): ("Requested", '<Queue>short</Queue><Project conj="And">bio</Project>'),
    ("type", "Geometry"): ("Job", '<TaskDistribution type="Geometry">{1,2}{3}</TaskDistribution>'),
    ("context", "Used"): ("Job", '<Delivered><Memory context="Used" units="GB">2</Memory></Delivered>'),
}
# fmt: on
_FIRST = ("Environment", "Requested", "Job", "TaskGroup", "Task", "JobGroup")


def of_element(name: str, places: Sequence[str]) -> str:
    """A valid document with an element in the most usual of these places."""
    place = next(place for place in _FIRST if place in places)
    if name in _ELEMENTS:
        return _document(_ELEMENTS[name], place)
    text = "Active" if (name, place) == ("State", "JobGroup") else _TEXTS.get(name)
    return _document(
        f"<{name}>{text or _BY_TYPE[spec.properties(place)[name].type]}</{name}>", place
    )


def of_container(name: str) -> str:
    """A valid document with an element that holds others."""
    made = _CONTAINERS[name]
    if "<JobGroup>" in made:
        return made.format(_document("", "Job"))
    return _document(made, "Job")


def of_attribute(row: spec.Attribute) -> str:
    """A valid document in which an attribute of this row is shown."""
    _, place, shown = _ATTRIBUTES[row.name, row.on[0]]
    return _document(shown, place)


def of_value(row: spec.Attribute, value: str) -> str:
    """The same with one of its values."""
    if own := _VALUES.get((row.name, value)):
        place, shown = own
        return _document(shown, place)
    _, place, shown = _ATTRIBUTES[row.name, row.on[0]]
    return _document(re.sub(rf'(?<= {row.name}=")[^"]*', value, shown, count=1), place)


def of_text(name: str, text: str, place: str, attributes: str = "") -> str:
    """A valid document with an element that says a text."""
    return _document(f"<{name} {attributes}".rstrip() + f">{text}</{name}>", place)


def of_limit(name: str) -> str:
    """A valid document with a resource limit of this name."""
    return _document(f'<ResourceLimit name="{name}">1000</ResourceLimit>', "Job")


def absent(row: spec.Attribute) -> str:
    """What an element means without an attribute of this row: its default, or a few words."""
    return row.default or _ATTRIBUTES[row.name, row.on[0]][0]


def laid_out(document: str, room: int = 0) -> str:
    """A document with each element on a line; in a narrow ``room`` an attribute may have its own.

    Only white space is added, between elements and between attributes: it means the same. What
    has no blank stays whole, also where it is longer than ``room`` (0: any).
    """
    return "\n".join(_lines(document, room))


_PIECES = re.compile(r"<(?P<name>[^\s<>/]+)[^<>]*>[^<]*</(?P=name)>|<[^<>]*>|[^<>]+")
_ATTRIBUTE = re.compile(r"""\s(?=[\w:]+=["'])""")
_INDENT = "  "


def _lines(document: str, room: int) -> Iterator[str]:
    depth = 0
    for found in _PIECES.finditer(document):
        piece = found[0].strip()
        if piece.startswith("</"):
            depth -= 1
        if piece:
            yield from _folded(_INDENT * depth + piece, room)
        if piece.startswith("<") and not found["name"] and piece[1] not in "/?!" != piece[-2]:
            depth += not piece.endswith("/>")


def _folded(line: str, room: int) -> Iterator[str]:
    """A line that is too long, with each attribute behind the first on a line of its own."""
    if not room or len(line) <= room:
        yield line
        return
    first, *others = _ATTRIBUTE.split(line)
    yield first
    indent = " " * (len(line) - len(line.lstrip()) + len(_INDENT))
    yield from (indent + other for other in others)


def _document(shown: str, place: str) -> str:
    """A document in which something stands in a place, with what is required around it."""
    needed = "".join(
        f"<{name}>{text}</{name}>"
        for name, text in (("Id", "1"), ("Duration", "60"))
        if place != "Job" or not shown.startswith(f"<{name}>")
    )
    if place == "JobGroup":
        group = "" if shown.startswith("<Id>") else "<Id>g</Id>"
        return f"<JobGroup>{group}{shown}<Job>{needed}</Job></JobGroup>"
    return f"<Job>{needed}{_AROUND[place].format(shown)}</Job>"
