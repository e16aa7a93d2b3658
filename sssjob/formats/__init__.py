"""Record formats that belong to no batch system."""

from sssjob.registry import Format

# fmt: off
FORMATS = (
    Format("blah",     "sssjob.formats.blah",     "blahp.log of a computing element",
           "sssjob.records.cutting:LineCutter"),
    Format("apel",     "sssjob.formats.apel",     "APEL's individual job messages"),
    Format("ur",       "sssjob.formats.ur",       "OGF Usage Record 1.0 (GFD.98)"),
    Format("car",      "sssjob.formats.car",      "EMI Compute Accounting Record 1.2"),
    Format("swf",      "sssjob.formats.swf",      "Standard Workload Format 2.2"),
    Format("sss",      "sssjob.formats.sss",      "job objects themselves"),
    Format("lrmsinfo", "sssjob.formats.lrmsinfo", "jobs as lcg-info providers see them"),
)
# fmt: on
