"""The words of JSDL 1.0: namespaces, its names for what a job says, and what is read of it."""

from __future__ import annotations

from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.model import stripped
from sssjob.translate.options import ScriptReading

JSDL = "http://schemas.ggf.org/jsdl/2005/11/jsdl"
POSIX = "http://schemas.ggf.org/jsdl/2005/11/jsdl-posix"
SPMD = "http://schemas.ogf.org/jsdl/2007/02/jsdl-spmd"
OURS = "urn:sssjob:residual"


def _in(namespace: str, *names: str) -> tuple[str, ...]:
    """Names in a namespace."""
    return tuple(f"{{{namespace}}}{name}" for name in names)


# fmt: off
ARCHITECTURES = {
    "x86_64": "x86_64", "amd64": "x86_64", "i386": "x86_32", "i686": "x86_32", "x86_32": "x86_32",
    "x86": "x86", "ppc": "powerpc", "ppc64": "powerpc", "ppc64le": "powerpc", "powerpc": "powerpc",
    "sparc": "sparc", "parisc": "parisc", "mips": "mips", "ia64": "ia64", "arm": "arm",
}
SYSTEMS = {
    "linux": "LINUX", "aix": "AIX", "solaris": "Solaris", "sunos": "SunOS", "macos": "MACOS",
    "irix": "IRIX", "hpux": "HPUX", "freebsd": "FreeBSD", "netbsd": "NetBSD", "openbsd": "OpenBSD",
}
PLAIN_SYSTEMS = {"LINUX": "Linux", "MACOS": "macOS"}
# ResourceLimit by its name in the standard, in the order of the schema.
LIMITS = (
    ("FileSize",        "FileSizeLimit"),
    ("CoreFileSize",    "CoreDumpLimit"),
    ("DataSize",        "DataSegmentLimit"),
    ("LockedMemory",    "LockedMemoryLimit"),
    ("Memory",          "MemoryLimit"),
    ("OpenFiles",       "OpenDescriptorsLimit"),
    ("StackSize",       "StackSizeLimit"),
    ("CPUTime",         "CPUTimeLimit"),
    ("Processes",       "ProcessCountLimit"),
    ("VirtualMemory",   "VirtualMemoryLimit"),
)


class JsdlAmount(NamedTuple):
    """An amount of a request and the element of Resources that holds it: bytes, or a number."""

    name: str
    element: str


# Memory by its scope stands before the others of its kind.
AMOUNTS = (
    JsdlAmount("Processors", "TotalCPUCount"),
    JsdlAmount("Memory",     "TotalPhysicalMemory"),
    JsdlAmount("Swap",       "TotalVirtualMemory"),
    JsdlAmount("Disk",       "TotalDiskSpace"),
    JsdlAmount("NodeCount",  "TotalResourceCount"),
    JsdlAmount("Network",    "IndividualNetworkBandwidth"),
)
PER_NODE = {"IndividualPhysicalMemory": "Memory", "IndividualVirtualMemory": "Swap",
             "IndividualDiskSpace": "Disk", "IndividualCPUCount": "Processors"}
# Children of Resources and of an application, in the order that the schemas demand.
RESOURCES = (
    "CandidateHosts", "FileSystem", "ExclusiveExecution", "OperatingSystem", "CPUArchitecture",
    "IndividualCPUSpeed", "IndividualCPUTime", "IndividualCPUCount", "IndividualNetworkBandwidth",
    "IndividualPhysicalMemory", "IndividualVirtualMemory", "IndividualDiskSpace", "TotalCPUTime",
    "TotalCPUCount", "TotalPhysicalMemory", "TotalVirtualMemory", "TotalDiskSpace",
    "TotalResourceCount",
)
STREAMS = (("InputFile", "Input"), ("OutputFile", "Output"), ("ErrorFile", "Error"),
            ("InitialWorkingDirectory", "WorkingDirectory"))
CREDENTIALS = (("User", "UserName"), ("Group", "GroupName"))

_PROGRAM = ("Executable", "Argument", "Environment", "WallTimeLimit",
            *(element for _, element in (*STREAMS, *CREDENTIALS, *LIMITS)))
_PROCESSES = ("NumberOfProcesses", "ProcessesPerHost", "ThreadsPerProcess", "SPMDVariation")
_RANGES = ("Exact", "UpperBoundedRange", "LowerBoundedRange", "Range")
_RANGED = (*(row.element for row in AMOUNTS), *PER_NODE)
# What is read in an element; one that has no row holds a text. Anything else is told.
_INNER = {
    f"{{{JSDL}}}JobDescription": (
        *_in(JSDL, "JobIdentification", "Application", "Resources", "DataStaging"),
        *_in(OURS, "kept"),
    ),
    f"{{{JSDL}}}Application": (
        *_in(JSDL, "ApplicationName"), *_in(POSIX, "POSIXApplication"),
        *_in(SPMD, "SPMDApplication"),
    ),
    f"{{{POSIX}}}POSIXApplication": _in(POSIX, *_PROGRAM),
    f"{{{SPMD}}}SPMDApplication": (*_in(POSIX, *_PROGRAM), *_in(SPMD, *_PROCESSES)),
    **{f"{{{JSDL}}}{name}": _in(JSDL, *inner) for name, inner in (
        ("JobDefinition",       ("JobDescription",)),
        ("JobIdentification",   ("JobName", "JobProject")),
        ("DataStaging",         ("FileName", "CreationFlag", "Source")),
        ("Source",              ("URI",)),
        ("Resources",           ("CandidateHosts", "CPUArchitecture", "OperatingSystem", *_RANGED)),
        ("CandidateHosts",      ("HostName",)),
        ("CPUArchitecture",     ("CPUArchitectureName",)),
        ("OperatingSystem",     ("OperatingSystemType",)),
        ("OperatingSystemType", ("OperatingSystemName",)),
        ("Range",               ("LowerBound", "UpperBound")),
        *((name, _RANGES) for name in _RANGED),
    )},
}
_SEVERAL = ("kept", "DataStaging", "Argument", "Environment", "HostName", *_RANGES)
_BOUNDS = ("UpperBoundedRange", "LowerBoundedRange", "LowerBound", "UpperBound")
_ATTRIBUTES = {"Environment": "name", **dict.fromkeys(_BOUNDS, "exclusiveBound")}
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"  # whose attributes say nothing of a job
# fmt: on


def line_of(element: Element) -> int:
    """The line of an element; 0 where it is not known."""
    return element.sourceline or 0


def note(heard: ScriptReading, element: Element, text: str) -> None:
    """Something that is worth knowing of an element, with its path and line."""
    names = [etree.QName(each).localname for each in (*element.iterancestors(), element)]
    ancestors = names[-2::-1]
    heard.note(text, f"/{'/'.join((*ancestors, names[-1]))}", line_of(element))


def shown(element: Element) -> str:
    """That an element is not read, with what it holds."""
    held = " ".join("".join(element.itertext()).split())
    name: str = etree.QName(element).localname
    return f"{name} is not read: {held[:60]!r}" if held else f"{name} is not read"


def tell_unread(element: Element, heard: ScriptReading) -> None:
    """Tell of what no row of this module reads: elements, attributes, and text between."""
    name = etree.QName(element).localname
    for key, value in element.items():
        if key != _ATTRIBUTES.get(name) and etree.QName(key).namespace != _INSTANCE:
            note(heard, element, f"{key}={value[:60]!r} of {name} is not read")
    known = _INNER.get(str(element.tag))
    children = [*element.iterchildren("*")]
    between = [each.tail for each in element] + ([element.text] if known else [])
    if stray := stripped("".join(filter(None, between))):
        note(heard, element, f"the text {stray[:60]!r} in {name} is not read")
    seen: set[str] = set()
    for child in children:
        if child.tag not in (known or ()):
            note(heard, child, shown(child))
        elif child.tag in seen and etree.QName(child).localname not in _SEVERAL:
            note(heard, child, f"another {shown(child)}")
        elif child.tag != f"{{{JSDL}}}DataStaging":  # of which only one is read, or all is told
            tell_unread(child, heard)
        seen.add(str(child.tag))
