"""What of Slurm stands where in this folder."""

from sssjob.registry import (
    Caps,
    Cluster,
    Format,
    Inside,
    Queue,
    Sign,
    Status,
    System,
    SystemWords,
    Target,
)
from sssjob.systems import INSIDE
from sssjob.systems.slurm.unset import NO_VALUE

_ACCOUNTING = "sssjob.systems.slurm.accounting"
_STATUS = "sssjob.systems.slurm.status"

SYSTEM = System(
    "slurm",
    "Slurm",
    records=("sacct",),
    formats=(
        Format("slurm", f"{_ACCOUNTING}.sacct", "sacct --parsable2 (or --parsable)",
               Sign.MARK),
        Format("slurm-json", f"{_ACCOUNTING}.json", "sacct --json",
               Sign.NAME),
        Format("slurm-jobcomp", f"{_ACCOUNTING}.jobcomp", "jobcomp/filetxt of Slurm",
               Sign.NAME),
    ),
    queue=Queue(
        "sssjob.systems.slurm.queue:SlurmQueue",
        ask=(("squeue", "--all", "--json"), ("sinfo", "--all", "--json")),
        ask_text=(("scontrol", "--all", "--oneliner", "show", "jobs"),
                  ("scontrol", "--all", "--oneliner", "show", "nodes")),
        rules=(("scontrol", "--all", "--oneliner", "show", "partitions"),
               ("scontrol", "--all", "--oneliner", "show", "reservations")),
        environment=(("SLURM_TIME_FORMAT", "%s"),),  # seconds since the epoch
        caps=Caps("sssjob.systems.slurm.caps:read",
                  ("sacctmgr", "--parsable2", "show", "assoc")),
    ),
    status=Status(
        (
            Format("squeue-json", f"{_STATUS}.json", "squeue --json, scontrol show job --json",
                   sign=Sign.NAME),
            Format("scontrol", f"{_STATUS}.text", "scontrol show job, with or without -o",
                   sign=Sign.MARK),
        ),
        ask=((("squeue", "--all", "--json"),),
             (("scontrol", "--all", "--details", "--oneliner", "show", "jobs"),)),
        environment=(("SLURM_TIME_FORMAT", "%s"),),  # seconds since the epoch
        past=(("scontrol", "--all", "--details", "--oneliner", "show", "jobs"),),
    ),
    script="sssjob.systems.slurm.allocation:SlurmAllocation",
    site_tests="sssjob.systems.slurm.site_tests:SlurmSiteTests",
    installation="sssjob.systems.slurm.scripts:SlurmScripts",
    ended="sssjob.systems.slurm.ended:records",
    listed="sssjob.systems.slurm.ended:listed",
    sums="sssjob.systems.slurm.sreport",
    notices="sssjob.systems.slurm.notices:read",
    submission="sssjob.systems.slurm.submission:FORM",
    control="sssjob.systems.slurm.control:CONTROL",
    targets=(
        Target("sbatch", "sssjob.systems.slurm.submission:SBATCH", "scripts for sbatch of Slurm"),
        Target("slurmrest", "sssjob.systems.slurm.rest:TRANSLATOR",
               "job/submit of slurmrestd, v0.0.41 to v0.0.45", Sign.NAME),
    ),
    inside=Inside(*INSIDE["slurm"]),
    id_variable="SLURM_JOB_ID",
    variables=("SLURM_*",),
    words=SystemWords(
        aborted=("DEADLINE*", "NODE_FAIL*", "PREEMPTED*", "REVOKED*", "TIMEOUT*"),
        failed=("BOOT_FAIL*", "OUT_OF_MEMORY*"),
        waits=("BeginTime*", "DeadLine*", "Dependency*"),
        no_time=tuple(sorted(NO_VALUE)),
    ),
    raw_id="JobIDRaw",
    outcomes=("DerivedExitCode", "FailedNode", "Reason", "State"),
    cluster=Cluster("slurm", "SLURMCluster", "account"),
)  # fmt: skip
