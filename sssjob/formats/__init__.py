"""Record formats, targets and limits of groups that belong to no batch system."""

from sssjob.registry import Caps, Format, Sign, Target

# fmt: off
FORMATS = (
    Format("blah",     "sssjob.formats.blah",     "blahp.log of a computing element",
           Sign.MARK),
    Format("apel",     "sssjob.formats.apel",     "APEL's individual job messages",
           Sign.NAME),
    Format("car",      "sssjob.formats.car",      "EMI Compute Accounting Record 1.2",
           Sign.NAME),
    Format("ur",       "sssjob.formats.ur",       "OGF Usage Record 1.0 (GFD.98)",
           Sign.NAME),
    Format("swf",      "sssjob.formats.swf",      "Standard Workload Format 2.2"),
    Format("sss",      "sssjob.formats.sss",      "job objects themselves", Sign.NAME),
    Format("lrmsinfo", "sssjob.formats.lrmsinfo", "jobs as lcg-info providers see them",
           Sign.MARK),
)
# fmt: on

# What jobs are translated to and from that belongs to no batch system.
TARGETS = (
    Target("sss", "sssjob.translate.sss:TRANSLATOR", "job objects themselves"),
    Target("jsdl", "sssjob.formats.jsdl:TRANSLATOR", "JSDL 1.0 (GFD.136)", Sign.NAME),
    Target("psij", "sssjob.formats.psij:TRANSLATOR", "JobSpecs of PSI/J", Sign.COUNT),
)

# Limits of groups that commands of no batch system print.
CAPS = {"maui": Caps("sssjob.formats.maui:caps", ("diagnose", "-g"))}
