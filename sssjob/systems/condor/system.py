"""What of HTCondor stands where in this folder."""

from sssjob.registry import (
    Cluster,
    Format,
    Inside,
    Measure,
    Queue,
    Sign,
    Status,
    System,
    SystemWords,
    Target,
)
from sssjob.systems import INSIDE

SYSTEM = System(
    "condor",
    "HTCondor",
    also=("htcondor",),
    formats=(
        Format("condor", "sssjob.systems.condor.accounting.layout",
               "job ads of HTCondor's histories", Sign.MARK),
    ),
    queue=Queue(
        "sssjob.systems.condor.queue:CondorQueue",
        ask=(("condor_q", "-global", "-allusers", "-json"), ("condor_status", "-json")),
        ask_text=(("condor_q", "-global", "-allusers", "-long"), ("condor_status", "-long")),
        rules=(("condor_userprio", "-allusers", "-long", "-modular"),),
    ),
    control="sssjob.systems.condor.control:CONTROL",
    targets=(
        Target("condor", "sssjob.systems.condor.submission:CONDOR",
               "submit files of condor_submit", Sign.COUNT),
        Target("dagman", "sssjob.systems.condor.dag:DAGMAN", "DAGs of condor_submit_dag"),
    ),
    status=Status(
        (Format("condor-q", "sssjob.systems.condor.status", "condor_q -json", sign=Sign.MARK),),
        ask=((("condor_q", "-allusers", "-json"),), (("condor_q", "-allusers", "-long"),)),
    ),
    measures=(  # a job's ad
        Measure("cpu_secs", ("RemoteUserCpu", "RemoteSysCpu")),
        Measure("max_rss_bytes", ("ResidentSetSize_RAW",), 1024),
        Measure("max_rss_bytes", ("ResidentSetSize",), 1024),
        Measure("max_scratch_bytes", ("DiskUsage_RAW",), 1024),
        Measure("max_scratch_bytes", ("DiskUsage",), 1024),
    ),
    inside=Inside(*INSIDE["condor"]),
    variables=("CONDOR_CONFIG",),
    words=SystemWords(
        aborted=("REMOVED*", "TIMEOUT*"),  # the second is what the hooks say of limits
        failed=("OUT_OF_MEMORY*",),
    ),
    notices="sssjob.systems.condor.notices:read",
    cluster=Cluster("condor", "HTCondorCluster", also=(("disk", "1 GiB"),), has_pairs=True),
)  # fmt: skip
