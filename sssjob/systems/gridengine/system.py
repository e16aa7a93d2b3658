"""What of Grid Engine stands where in this folder."""

from sssjob.registry import (
    Caps,
    Cluster,
    Format,
    Inside,
    Measure,
    Queue,
    Sign,
    Status,
    System,
    Target,
)
from sssjob.systems import INSIDE

_ACCOUNTING = "sssjob.systems.gridengine.accounting"

SYSTEM = System(
    "gridengine",
    "Grid Engine",
    also=("sge", "uge", "oge"),
    records=("qacct",),
    formats=(
        Format("sge", _ACCOUNTING, "accounting of Grid Engine and Univa"),
    ),
    queue=Queue(
        "sssjob.systems.gridengine.queue:GridEngineQueue",
        ask=(("qstat", "-f", "-r", "-u", "*", "-xml"), ("qstat", "-j", "*", "-xml"),
             ("qconf", "-ssconf")),
        rules=(("qconf", "-sq", "*"),),
        environment=(("TZ", "UTC"),),  # times have no zone
        caps=Caps("sssjob.systems.gridengine.caps:read", ("qconf", "-srqs"),
                  none="No resource quota set found"),
    ),
    status=Status(
        (Format("sge-xml", "sssjob.systems.gridengine.status", "qstat -xml, qstat -j -xml",
                sign=Sign.NAME),),
        ask=((("qstat", "-j", "*", "-xml"), ("qstat", "-u", "*", "-r", "-xml")),),
        environment=(("TZ", "UTC"),),  # times have no zone
    ),
    script="sssjob.systems.gridengine.allocation:GridEngineAllocation",
    site_tests="sssjob.systems.gridengine.site_tests:GridEngineSiteTests",
    installation="sssjob.systems.gridengine.scripts:GridEngineScripts",
    submission="sssjob.systems.gridengine.submission:FORM",
    control="sssjob.systems.gridengine.control:CONTROL",
    targets=(
        Target("sge", "sssjob.systems.gridengine.submission:SGE",
               "scripts for qsub of Grid Engine"),
    ),
    inside=Inside(*INSIDE["gridengine"]),
    id_variable="JOB_ID",
    variables=("SGE_*",),
    task_variable="SGE_TASK_ID",  # "undefined" in a job that is no array
    measures=(  # $SGE_JOB_SPOOL_DIR/usage
        Measure("cpu_secs", ("cpu",)),
        Measure("cpu_secs", ("ru_utime", "ru_stime")),
        Measure("max_rss_bytes", ("ru_maxrss",), 1024),
    ),
    cluster=Cluster("sge", "SGECluster", "project"),
)  # fmt: skip
