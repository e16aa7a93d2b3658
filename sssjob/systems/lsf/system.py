"""What of LSF stands where in this folder."""

from sssjob.registry import Cluster, Format, Inside, Sign, System, SystemWords, Target
from sssjob.systems import INSIDE

SYSTEM = System(
    "lsf",
    "LSF",
    also=("spectrumlsf", "openlava"),
    formats=(
        Format("lsf", "sssjob.systems.lsf.accounting", "lsb.acct of LSF",
               Sign.MARK),
    ),
    script="sssjob.systems.lsf.allocation:LSFAllocation",
    site_tests="sssjob.systems.lsf.site_tests:LSFSiteTests",
    installation="sssjob.systems.lsf.scripts:LSFScripts",
    submission="sssjob.systems.lsf.submission:FORM",
    control="sssjob.systems.lsf.control:CONTROL",
    targets=(
        Target("lsf", "sssjob.systems.lsf.submission:LSF", "scripts for bsub of LSF"),
    ),
    inside=Inside(*INSIDE["lsf"]),
    id_variable="LSB_JOBID",
    variables=("LSB_*", "LSF_*"),
    words=SystemWords(
        aborted=("TERM_*",),
        failed=("EXIT",),  # by a signal, or with another code than 0
    ),
    cluster=Cluster("lsf", "LSFCluster", "project", "{:02}:{:02}"),
)  # fmt: skip
