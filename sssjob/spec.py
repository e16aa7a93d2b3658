"""The tables of the SSS Job Object Specification 3.1.0, as rows in printed order.

Reading, checking and spelling advice ask these rows; ``make tables`` makes the conformance page and
the lists of ``schemas/sssjob.xsd`` from them. Nothing else in the project lists names.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

NAMESPACE = "http://www.scidac.org/ScalableSystems/SSSRMAP"
NAMESPACES = ("", NAMESPACE)

MUST, SHOULD, MAY = "MUST", "SHOULD", "MAY"
STRING, INTEGER, FLOAT, BOOLEAN = "String", "Integer", "Float", "Boolean"
DATETIME, DURATION = "DateTime", "Duration"

REQUESTED, DELIVERED = "Requested", "Delivered"


class Element(NamedTuple):
    """One row of a property table, or one structured property of the running text.

    ``categories`` holds R when the property may stand in Requested, D when in Delivered.
    ``repeats`` tells whether a property set may hold it more than once: False, True, or the
    names of the attributes that have to differ.
    """

    name: str
    type: str
    appearance: str
    compliance: str
    categories: str
    section: str
    description: str
    repeats: bool | tuple[str, ...] = False


class Attribute(NamedTuple):
    """An attribute, the elements that carry it, and what it may hold.

    ``values`` is a closed vocabulary; in a ``words`` attribute or element each member of a
    comma-separated list is one of them. ``default`` is what its absence means.
    """

    name: str
    on: tuple[str, ...]
    type: str
    appearance: str
    compliance: str
    section: str
    description: str
    values: tuple[str, ...] = ()
    default: str = ""
    words: bool = False


class Container(NamedTuple):
    """An element that holds others: how often each may appear, and which must."""

    name: str
    holds: tuple[str, ...]
    tables: tuple[str, ...]
    compliance: str
    section: str
    reference: bool = False


class Alias(NamedTuple):
    """An older name: in which containers it is read, for which element, from which dialect.

    ``category`` is the block that the name itself implies (``requestedProcessors``).
    """

    name: str
    canonical: str
    dialect: str
    containers: tuple[str, ...] = ()
    category: str = ""


# fmt: off

# Table 1: Simple JobGroup Properties
JOB_GROUP = (
    Element("CreationTime", DATETIME, MAY,  MAY,    "", "SSS 4.1 Table 1", "Date and time that the job group was instantiated"),
    Element("Description",  STRING,   MAY,  MAY,    "", "SSS 4.1 Table 1", "Description of the job group"),
    Element("Id",           STRING,   MUST, MUST,   "", "SSS 4.1 Table 1", "Job group identifier"),
    Element("Name",         STRING,   MAY,  SHOULD, "", "SSS 4.1 Table 1", "Name of the job group"),
    Element("State",        STRING,   MAY,  SHOULD, "", "SSS 4.1 Table 1", "State of the job group as a whole"),
)

# Table 2: Simple Job Properties
JOB = (
    Element("Application",             STRING,   MAY,    MAY,    "",   "SSS 5.1 Table 2", "Type of application such as Gaussian or Nwchem"),
    Element("Architecture",            STRING,   MAY,    MAY,    "RD", "SSS 5.1 Table 2", "Type architecture for the nodes on which this job must run"),
    Element("Arguments",               STRING,   MAY,    SHOULD, "",   "SSS 5.1 Table 2", "The arguments for the executable"),
    Element("Charge",                  FLOAT,    MAY,    SHOULD, "",   "SSS 5.1 Table 2", "The amount charged for the job"),
    Element("Checkpointable",          BOOLEAN,  MAY,    MAY,    "",   "SSS 5.1 Table 2", "Can this job be checkpointed?"),
    Element("CpuDuration",             DURATION, MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Number of cpu seconds used by the job"),
    Element("DeadlineTime",            DATETIME, MAY,    MAY,    "",   "SSS 5.1 Table 2", "Date and time that a job must end by"),
    Element("EligibleTime",            DATETIME, MAY,    MAY,    "",   "SSS 5.1 Table 2", "Date and time that a job must start after"),
    Element("EndTime",                 DATETIME, MAY,    MUST,   "",   "SSS 5.1 Table 2", "Date and time that a job ended, in success or failure"),
    Element("Executable",              STRING,   MAY,    MUST,   "",   "SSS 5.1 Table 2", "An absolute or relative path or a URI"),
    Element("ExitCode",                INTEGER,  MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Exit code for the job"),
    Element("GlobalId",                STRING,   MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Globally unique job identifier, possibly a URI"),
    Element("Hold",                    STRING,   MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Hold(s) on the job", True),
    Element("InitialWorkingDirectory", STRING,   MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Initial working directory"),
    Element("Interactive",             BOOLEAN,  MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Is this an interactive job?"),
    Element("Id",                      STRING,   MUST,   MUST,   "",   "SSS 5.1 Table 2", "A local job identifier, given by the local resource manager"),
    Element("Name",                    STRING,   MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Name of the job"),
    Element("State",                   STRING,   MAY,    MUST,   "",   "SSS 5.1 Table 2", "Idle, Hold, Running, Suspended, Completed, or another"),
    Element("Type",                    STRING,   MAY,    MAY,    "",   "SSS 5.1 Table 2", "Type of job; its meaning is context specific"),
    Element("Machine",                 STRING,   MAY,    MUST,   "RD", "SSS 5.1 Table 2", "Name of the system or cluster that runs the job"),
    Element("NetworkAdapter",          STRING,   MAY,    MAY,    "RD", "SSS 5.1 Table 2", "Type of network adapter required by the job"),
    Element("NodeCount",               INTEGER,  MAY,    MUST,   "RD", "SSS 5.1 Table 2", "Number of nodes used by the job"),
    Element("OperatingSystem",         STRING,   MAY,    MAY,    "RD", "SSS 5.1 Table 2", "Operating System required by the job"),
    Element("Partition",               STRING,   MAY,    MAY,    "RD", "SSS 5.1 Table 2", "Name of the partition in which the job should run"),
    Element("Priority",                INTEGER,  MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Current queue priority (or rank) for the job"),
    Element("QualityOfService",        STRING,   MAY,    SHOULD, "RD", "SSS 5.1 Table 2", "Name of the Quality of Service (QoS)"),
    Element("Queue",                   STRING,   MAY,    SHOULD, "RD", "SSS 5.1 Table 2", "Name of the Queue (or class) that the job runs in"),
    Element("Quote",                   STRING,   MAY,    MAY,    "",   "SSS 5.1 Table 2", "Identifier for a guaranteed charge rate quote"),
    Element("Reservation",             STRING,   MAY,    MAY,    "RD", "SSS 5.1 Table 2", "Identifier for a reservation used by the job"),
    Element("ReservationTime",         DATETIME, MAY,    MAY,    "",   "SSS 5.1 Table 2", "Date and time that a reservation was placed for the job"),
    Element("ResourceManagerType",     STRING,   MAY,    MAY,    "RD", "SSS 5.1 Table 2", "Type of resource manager required to run this job"),
    Element("Restartable",             BOOLEAN,  MAY,    MAY,    "",   "SSS 5.1 Table 2", "Can this job be restarted?"),
    Element("Shell",                   STRING,   MAY,    MAY,    "",   "SSS 5.1 Table 2", "The shell necessary to interpret the job script"),
    Element("StagedTime",              DATETIME, MAY,    MAY,    "",   "SSS 5.1 Table 2", "Date and time that a job was staged to the local system"),
    Element("StartCount",              INTEGER,  MAY,    MAY,    "",   "SSS 5.1 Table 2", "Number of times the scheduler tried to start the job"),
    Element("StartTime",               DATETIME, MAY,    MUST,   "",   "SSS 5.1 Table 2", "Date and time that the job started"),
    Element("StatusMessage",           STRING,   MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Why a job failed, isn't running, etc."),
    Element("SubmitTime",              DATETIME, MAY,    SHOULD, "",   "SSS 5.1 Table 2", "Date and time that a job was submitted"),
    Element("SubmitHost",              STRING,   MAY,    SHOULD, "",   "SSS 5.1 Table 2", "FQDN of host where the job was submitted from"),
    Element("Suspendable",             BOOLEAN,  MAY,    MAY,    "",   "SSS 5.1 Table 2", "Can this job be suspended?"),
    Element("SuspendDuration",         INTEGER,  MAY,    MAY,    "",   "SSS 5.1 Table 2", "Number of seconds the job was in the Suspended state"),
    Element("TimeCategory",            STRING,   MAY,    MAY,    "",   "SSS 5.1 Table 2", "Shifts like PrimeTime, for charging purposes"),
    Element("Duration",                DURATION, SHOULD, MUST,   "RD", "SSS 5.1 Table 2", "Number of seconds in the Running state"),
)

# The structured properties of section 5.1, in the order of the text
STRUCTURED = (
    Element("Feature",          STRING,  MAY, SHOULD, "RD", "SSS 5.1 Feature",          "An arbitrary named feature of a node"),
    Element("OutputFile",       STRING,  MAY, SHOULD, "",   "SSS 5.1 OutputFile",       "The file to which stdout will be written"),
    Element("ErrorFile",        STRING,  MAY, SHOULD, "",   "SSS 5.1 ErrorFile",        "The file to which stderr will be written"),
    Element("InputFile",        STRING,  MAY, SHOULD, "",   "SSS 5.1 InputFile",        "The file from which stdin will be read"),
    Element("NotificationList", STRING,  MAY, SHOULD, "",   "SSS 5.1 NotificationList", "Events for which a notification will be sent"),
    Element("ResourceLimit",    STRING,  MAY, MAY,    "",   "SSS 5.1 ResourceLimit",    "A resource limit with its name and value", ("name", "type")),
    Element("Environment",      "",      MAY, SHOULD, "",   "SSS 5.1 Environment",      "Encapsulates environment variables"),
    Element("Node",             STRING,  MAY, SHOULD, "RD", "SSS 5.1 Node",             "A node"),
    Element("TaskDistribution", STRING,  MAY, SHOULD, "",   "SSS 5.1 TaskDistribution", "How tasks are to be mapped to nodes"),
    Element("Dependency",       STRING,  MAY, SHOULD, "",   "SSS 5.1 Dependency",       "The job that the current job is dependent upon", True),
    Element("Resource",         FLOAT,   MAY, SHOULD, "RD", "SSS 5.1 Resource",         "An extensible consumable resource", True),
    Element("Extension",        STRING,  MAY, MAY,    "",   "SSS 5.1 Extension",        "A named extension property", True),
)

# Table 3: Credential Job Properties
CREDENTIALS = (
    Element("Project",    STRING, MAY, SHOULD, "RD", "SSS 5.1 Table 3", "Name of the Project or Charge Account"),
    Element("GlobalUser", STRING, MAY, SHOULD, "RD", "SSS 5.1 Table 3", "Globally unique user identifier, an X.509 DN for example"),
    Element("Group",      STRING, MAY, MAY,    "RD", "SSS 5.1 Table 3", "Name of the local group id"),
    Element("User",       STRING, MAY, MUST,   "RD", "SSS 5.1 Table 3", "Name of the local user id for the job"),
)

# Table 4: Simple Consumable Resources
CONSUMABLES = (
    Element("Disk",       FLOAT,   MAY, SHOULD, "RD", "SSS 5.1 Table 4", "Amount of disk",           ("metric", "context")),
    Element("Memory",     FLOAT,   MAY, SHOULD, "RD", "SSS 5.1 Table 4", "Amount of memory",         ("metric", "context")),
    Element("Network",    FLOAT,   MAY, MAY,    "RD", "SSS 5.1 Table 4", "Amount of network",        ("metric", "context")),
    Element("Processors", INTEGER, MAY, MUST,   "RD", "SSS 5.1 Table 4", "Number of processors",     ("metric", "context")),
    Element("Swap",       FLOAT,   MAY, MAY,    "RD", "SSS 5.1 Table 4", "Amount of virtual memory", ("metric", "context")),
)

# What a job takes for as long as it runs: charges are about these.
AMOUNTS = frozenset((*(row.name for row in CONSUMABLES), "NodeCount", "Duration"))

# Of what there cannot be less than nothing. A Charge may go below zero, as what is given back.
COUNTED = (AMOUNTS - {"Duration"}) | {"Resource", "TaskCount"}

# Table 6: Simple TaskGroup Properties. There is no Table 5.
TASK_GROUP = (
    Element("TaskCount", INTEGER, MAY, MUST,   "", "SSS 6.1 Table 6", "Number of tasks in this taskgroup"),
    Element("Id",        STRING,  MAY, MAY,    "", "SSS 6.1 Table 6", "A task group identifier unique within the job"),
    Element("Name",      STRING,  MAY, SHOULD, "", "SSS 6.1 Table 6", "A task group name (such as Master)"),
)

# Table 7: Simple Task Properties; Process stands in the elaborate example of section 1.3 only
TASK = (
    Element("Node",    STRING,  MAY, MUST, "", "SSS 7.1 Table 7", "Name of the node this task ran on"),
    Element("Session", INTEGER, MAY, MAY,  "", "SSS 7.1 Table 7", "Session id for the task group or job"),
    Element("Id",      STRING,  MAY, MAY,  "", "SSS 7.1 Table 7", "A task identifier unique within the taskgroup"),
    Element("Process", INTEGER, MAY, MAY,  "", "SSS 1.3",         "Process id of the task"),
)

ENVIRONMENT = (
    Element("Variable", STRING, MAY, SHOULD, "", "SSS 5.1 Variable", "An environment variable", ("name",)),
)

# One implicit task group stands for a job without any (3.0), so its count may stand in the job.
IMPLICIT_TASK_GROUP = (TASK_GROUP[0],)

TABLES: dict[str, tuple[Element, ...]] = {
    "Table 1": JOB_GROUP,
    "Table 2": JOB,
    "5.1": STRUCTURED,
    "Table 3": CREDENTIALS,
    "Table 4": CONSUMABLES,
    "Table 6": TASK_GROUP,
    "Table 7": TASK,
    "Environment": ENVIRONMENT,
    "3.0": IMPLICIT_TASK_GROUP,
}

_JOB_PROPERTIES = ("Table 2", "5.1", "Table 3", "Table 4")

# What may stand in what besides properties: ? zero or one, * zero or more, + one or more (2.3).
# Later tables override rows of the same name in earlier ones.
CONTAINERS: tuple[Container, ...] = (
    Container("JobGroup",          ("Job+", "JobDefaults?"),              ("Table 1",),                           MAY,    "SSS 4.0", True),
    Container("JobDefaults",       ("TaskGroup*", "TaskGroupDefaults?", "Requested*", "Delivered*"), ("3.0", *_JOB_PROPERTIES), MAY, "SSS 5.0"),
    Container("Job",               ("TaskGroup*", "TaskGroupDefaults?", "Requested*", "Delivered*"), ("3.0", *_JOB_PROPERTIES), MUST, "SSS 5.0", True),
    Container("TaskGroupDefaults", ("Task*", "TaskDefaults?", "Requested*", "Delivered*"), (*_JOB_PROPERTIES, "Table 6"), MAY, "SSS 6.0"),
    Container("TaskGroup",         ("Task*", "TaskDefaults?", "Requested*", "Delivered*"), (*_JOB_PROPERTIES, "Table 6"), MAY, "SSS 6.0", True),
    Container("TaskDefaults",      ("Requested*", "Delivered*"),          (*_JOB_PROPERTIES, "Table 7"),          MAY,    "SSS 7.0"),
    Container("Task",              ("Requested*", "Delivered*"),          (*_JOB_PROPERTIES, "Table 7"),          MAY,    "SSS 7.0", True),
    Container("Requested",         (),                                    _JOB_PROPERTIES,                        SHOULD, "SSS 8.1"),
    Container("Delivered",         (),                                    _JOB_PROPERTIES,                        SHOULD, "SSS 8.2"),
    Container("Environment",       (),                                    ("Environment",),                       SHOULD, "SSS 5.1 Environment"),
)

_REMEMBERED = 1 << 12  # names come from strangers
_ANY = ("*",)
_REQUESTED_PROPERTY = ("Requested/*",)
_CONSUMABLE = ("Disk", "Memory", "Network", "Processors", "Swap", "Resource")

ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute("awarenessPolicy",   _ANY,                       STRING,   MAY,  MAY,    "SSS 9.0",                "What to do with what is not understood", ("Reject", "Warn", "Ignore"), "Reject"),
    Attribute("aggregation",       ("Feature",),               STRING,   MAY,  MAY,    "SSS 5.1 Feature",        "Several values in one expression", ("List", "Pattern")),
    Attribute("aggregation",       ("Node",),                  STRING,   MAY,  MAY,    "SSS 5.1 Node",           "Several values in one expression", ("List", "Pattern", "Range")),
    Attribute("delimiter",         ("Feature", "Node"),        STRING,   MAY,  MAY,    "SSS 5.1 Feature",        "What separates the elements of a List", (), ","),
    Attribute("count",             ("Node",),                  INTEGER,  MAY,  MAY,    "SSS 5.1 Node",           "The instance count of the specified node(s)"),
    Attribute("redirectList",      ("OutputFile", "ErrorFile"), STRING,  MAY,  SHOULD, "SSS 5.1 OutputFile",     "Output redirection, comma-separated", ("Append", "Close", "Flush", "Keep", "Merge"), "", True),
    Attribute("redirectList",      ("InputFile",),             STRING,   MAY,  SHOULD, "SSS 5.1 InputFile",      "Input redirection, comma-separated", ("Close",), "", True),
    Attribute("uri",               ("NotificationList",),      STRING,   MAY,  MAY,    "SSS 5.1 NotificationList", "Where the notification is to be sent: [scheme://]authority"),
    Attribute("name",              ("ResourceLimit",),         STRING,   MUST, MUST,   "SSS 5.1 ResourceLimit",  "The name of the limit"),
    Attribute("type",              ("ResourceLimit",),         STRING,   MAY,  MAY,    "SSS 5.1 ResourceLimit",  "Both limits are set if it is omitted", ("Hard", "Soft")),
    Attribute("export",            ("Environment",),           BOOLEAN,  MAY,  MAY,    "SSS 5.1 Environment",    "Export all variables of the submission"),
    Attribute("name",              ("Variable",),              STRING,   MUST, MUST,   "SSS 5.1 Variable",       "The name of the variable"),
    Attribute("type",              ("TaskDistribution",),      STRING,   MAY,  MAY,    "SSS 5.1 TaskDistribution", "The type of mapping guidance", ("Rule", "TasksPerNode", "ProcessorsPerTask", "Geometry")),
    Attribute("condition",         ("Dependency",),            STRING,   MAY,  MUST,   "SSS 5.1 Dependency",     "When this job runs in relation to the other", ("OnSuccess", "OnFailure", "OnExit"), "OnSuccess"),
    Attribute("code",              ("Dependency",),            INTEGER,  MAY,  MAY,    "SSS 5.1 Dependency",     "The exit code that triggers this job, with OnExit"),
    Attribute("designator",        ("Dependency",),            STRING,   MAY,  MAY,    "SSS 5.1 Dependency",     "What identifies the job depended upon", ("JobId", "JobName"), "JobId"),
    Attribute("context",           _CONSUMABLE,                STRING,   MAY,  MAY,    "SSS 5.1 Consumable Resources", "The sense in which the resource is used", ("Configured", "Available", "Used", "Dedicated"), "Available"),
    Attribute("units",             _CONSUMABLE,                STRING,   MAY,  MAY,    "SSS 5.1 Consumable Resources", "The units by which it is measured"),
    Attribute("metric",            _CONSUMABLE,                STRING,   MAY,  MAY,    "SSS 5.1 Consumable Resources", "Total, Average, Min, Max, or another measurement"),
    Attribute("duration",          _CONSUMABLE,                DURATION, MAY,  MAY,    "SSS 5.1 Consumable Resources", "For how long the resource was used, in seconds"),
    Attribute("consumptionRate",   _CONSUMABLE,                FLOAT,    MAY,  MAY,    "SSS 5.1 Consumable Resources", "The average fraction used over its duration"),
    Attribute("dynamic",           _CONSUMABLE,                BOOLEAN,  MAY,  MAY,    "SSS 5.1 Consumable Resources", "Whether it may grow or shrink"),
    Attribute("units",             ("Charge",),                STRING,   MAY,  MAY,    "SSS 1.3",                "The currency; in the elaborate example only"),
    Attribute("name",              ("Resource",),              STRING,   MUST, MUST,   "SSS 5.1 Resource",       "The type of consumable resource being measured"),
    Attribute("type",              ("Resource",),              STRING,   MAY,  SHOULD, "SSS 5.1 Resource",       "Distinguishes it within a general resource class"),
    Attribute("name",              ("Extension",),             STRING,   MUST, MUST,   "SSS 5.1 Extension",      "The extension property's name"),
    Attribute("type",              ("Extension",),             STRING,   MAY,  SHOULD, "SSS 5.1 Extension",      "The context within which it should be understood"),
    Attribute("op",                _REQUESTED_PROPERTY,        STRING,   MAY,  SHOULD, "SSS 8.1",                "A conditional operation on the value", ("EQ", "NE", "LT", "GT", "LE", "GE", "Match"), "EQ"),
    Attribute("conj",              _REQUESTED_PROPERTY,        STRING,   MAY,  MAY,    "SSS 8.1",                "A conjunctive relationship with the previous element", ("And", "Or", "Nand", "Nor"), "And"),
    Attribute("group",             _REQUESTED_PROPERTY,        INTEGER,  MAY,  MAY,    "SSS 8.1",                "How many nested expressions open (positive) or close (negative)"),
    Attribute("preference",        _REQUESTED_PROPERTY,        INTEGER,  MAY,  MAY,    "SSS 8.1",                "A weight among the preferences of its group"),
    Attribute("performanceFactor", _REQUESTED_PROPERTY,        FLOAT,    MAY,  MAY,    "SSS 8.1",                "A hint on tradeoffs between resources and start time"),
    Attribute("group",             ("Delivered/*",),           INTEGER,  MAY,  MAY,    "SSS 8.2",                "Groups delivered properties, per machine for example"),
)

# NotificationList holds words in its text, as redirectList does in an attribute.
NOTIFICATIONS = ("JobStart", "JobEnd", "All", "None")

# "Some typical names include": the text lost them, their order is its. The vocabulary is open.
RESOURCE_LIMITS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("CoreFileSize",   "Maximum core file size",               ("core", "rlimitcore")),
    ("CPUTime",        "CPU time in seconds",                  ("cpu", "rlimitcpu")),
    ("DataSize",       "Maximum data size",                    ("data", "rlimitdata")),
    ("FileSize",       "Maximum file size",                    ("fsize", "rlimitfsize")),
    ("ResidentSetSize", "Maximum resident set size",           ("rss", "maxrss", "maxresidentsetsize", "maxmemorysize", "rlimitrss")),
    ("Processes",      "Maximum number of processes",          ("nproc", "rlimitnproc")),
    ("VirtualMemory",  "Virtual memory limit",                 ("vmem", "addressspace", "as", "rlimitas")),
    ("LockedMemory",   "Maximum locked-in-memory address space", ("memlock", "rlimitmemlock")),
    ("Processors",     "Maximum processors",                   ("maxprocessors",)),
    ("Memory",         "Maximum memory",                       ("maxmemory", "mem")),
    ("Disk",           "Maximum disk space",                   ("maxdisk", "filesystem")),
    ("Network",        "Maximum network bandwidth",            ()),
    ("FileIO",         "Maximum file i/o",                     ()),
    ("OpenFiles",      "Maximum number of open files",         ("nofile", "rlimitnofile")),
    ("StackSize",      "Maximum stack size",                   ("stack", "rlimitstack")),
    # Not in the text, but what sites write:
    ("Swap",           "Maximum swap space",                   ("maxswap",)),
    ("Duration",       "Wall clock time in seconds",           ("walltime", "wallclocktime")),
)

# "Accept too": the names of the 3.0 and 0.2 drafts that deployed software writes.
ALIASES: tuple[Alias, ...] = (
    Alias("JobGroupId",          "Id",                "3.0", ("JobGroup",)),
    Alias("JobGroupName",        "Name",              "3.0", ("JobGroup",)),
    Alias("JobGroupState",       "State",             "3.0", ("JobGroup",)),
    Alias("CPUDuration",         "CpuDuration",       "3.0"),
    Alias("eligibleDate",        "EligibleTime",      "0.2"),
    Alias("CompletionTime",      "EndTime",           "3.0"),
    Alias("GlobalJobId",         "GlobalId",          "3.0"),
    Alias("IsInteractive",       "Interactive",       "3.0"),
    Alias("JobId",               "Id",                "3.0", ("Job", "JobDefaults")),
    Alias("jobId",               "Id",                "0.2", ("Job", "JobDefaults")),
    Alias("JobName",             "Name",              "3.0", ("Job", "JobDefaults")),
    Alias("jobName",             "Name",              "0.2", ("Job", "JobDefaults")),
    Alias("JobState",            "State",             "3.0", ("Job", "JobDefaults")),
    Alias("jobState",            "State",             "0.2", ("Job", "JobDefaults")),
    Alias("JobType",             "Type",              "3.0"),
    Alias("MachineName",         "Machine",           "3.0"),
    Alias("NetworkType",         "NetworkAdapter",    "3.0"),
    Alias("Nodes",               "NodeCount",         "3.0"),
    Alias("requestedNodes",      "NodeCount",         "0.2", (), REQUESTED),
    Alias("OpSys",               "OperatingSystem",   "3.0"),
    Alias("qos",                 "QualityOfService",  "0.2"),
    Alias("Class",               "Queue",             "3.0"),
    Alias("QueueName",           "Queue",             "3.0"),
    Alias("requestedQueue",      "Queue",             "0.2", (), REQUESTED),
    Alias("QuoteId",             "Quote",             "3.0"),
    Alias("ReservationId",       "Reservation",       "3.0"),
    Alias("RequiredReservation", "Reservation",       "3.0"),
    Alias("SubmissionTime",      "SubmitTime",        "3.0"),
    Alias("WallDuration",        "Duration",          "3.0"),
    Alias("wallclockLimit",      "Duration",          "0.2", (), REQUESTED),
    Alias("wallclockTimeUsed",   "Duration",          "0.2", (), DELIVERED),
    Alias("Account",             "Project",           "2.0"),
    Alias("ProjectId",           "Project",           "3.0"),
    Alias("accountName",         "Project",           "0.2"),
    Alias("GroupId",             "Group",             "3.0"),
    Alias("UserId",              "User",              "3.0"),
    Alias("userName",            "User",              "0.2"),
    Alias("requestedProcessors", "Processors",        "0.2", (), REQUESTED),
    Alias("SessionId",           "Session",           "3.0", ("Task", "TaskDefaults")),
    Alias("TaskId",              "Id",                "3.0", ("Task", "TaskDefaults")),
)

# What a dialect writes: the names of a draft, or the few that Gold knows (beside 3.1.0 ones).
GOLD = ("JobId", "JobType", "UserId", "ProjectId", "MachineName", "WallDuration", "QuoteId", "Nodes")
DIALECTS = ("3.0", "0.2", "gold")
# fmt: on

CONTAINER = {container.name: container for container in CONTAINERS}
DEFAULTS = {"Job": "JobDefaults", "TaskGroup": "TaskGroupDefaults", "Task": "TaskDefaults"}


@lru_cache(_REMEMBERED)
def properties(container: str) -> dict[str, Element]:
    """The property rows that apply in a container; in a category, those that carry its letter."""
    rows = {row.name: row for table in CONTAINER[container].tables for row in TABLES[table]}
    if container in (REQUESTED, DELIVERED):
        return {name: row for name, row in rows.items() if container[0] in row.categories}
    return rows


@lru_cache(_REMEMBERED)
def blocks(container: str) -> dict[str, str]:
    """The elements other than properties that a container holds, each with its wildcard."""
    return {name[:-1]: name[-1] for name in CONTAINER[container].holds}


@lru_cache(_REMEMBERED)
def attributes(element: str, category: str = "") -> dict[str, Attribute]:
    """The attributes of an element; ``category`` adds those that Requested or Delivered lend."""
    places = ("*", element, f"{category}/*" if category else element)
    found = {row.name: row for row in ATTRIBUTES if not set(row.on).isdisjoint(places)}
    return found


@lru_cache(_REMEMBERED)
def required(element: str) -> tuple[str, ...]:
    """The attributes that an element must have."""
    return tuple(row.name for row in ATTRIBUTES if element in row.on and row.appearance == MUST)


@lru_cache(_REMEMBERED)
def element(name: str) -> Element | None:
    """The first row of that name in printed order, or None."""
    return next((row for table in TABLES.values() for row in table if row.name == name), None)


@lru_cache(_REMEMBERED)
def alias(name: str, container: str) -> Alias | None:
    """The alias row by which a name is read in a container, or None."""
    scope = "Job" if container in (REQUESTED, DELIVERED) else container
    for row in ALIASES:
        here = not row.containers or scope in row.containers
        if row.name == name and here and row.canonical in properties(container):
            return row
    return None


@lru_cache(_REMEMBERED)
def older(name: str, container: str) -> Alias | None:
    """The row of an older name, as which a property of that name is read in a container."""
    row = None if name in properties(container) else alias(name, container)
    is_elsewhere = (
        row is not None
        and container in (REQUESTED, DELIVERED)
        and row.category not in ("", container)
    )
    return None if is_elsewhere else row


@lru_cache(_REMEMBERED)
def written(canonical: str, container: str, dialect: str) -> str:
    """The name by which a dialect writes a property in a container."""
    for row in ALIASES:
        spoken = row.name in GOLD if dialect == "gold" else row.dialect == dialect
        plain = row.canonical == canonical and spoken and not row.category
        if plain and alias(row.name, container) is row:
            return row.name
    return canonical


@cache
def names() -> frozenset[str]:
    """Every element name of the text, containers included."""
    return frozenset(CONTAINER) | {row.name for table in TABLES.values() for row in table}


@lru_cache(_REMEMBERED)
def limit_name(name: str) -> str:
    """The name of a resource limit as the text spells it; an unknown name comes back as it is.

    Letters count, case does not, and the RLIMIT_* names are known.
    """
    key = "".join(letter for letter in name.lower() if letter.isalpha())
    for canonical, _, synonyms in RESOURCE_LIMITS:
        if key == canonical.lower() or key in synonyms:
            return canonical
    return name
