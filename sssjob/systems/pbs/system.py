"""What of PBS stands where in this folder."""

from sssjob.registry import (
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

_STATUS = "sssjob.systems.pbs.status"

SYSTEM = System(
    "pbs",
    "PBS",
    also=("torque", "openpbs", "pbspro"),
    formats=(
        Format("pbs", "sssjob.systems.pbs.accounting", "accounting of TORQUE and OpenPBS",
               Sign.MARK),
    ),
    queue=Queue(
        "sssjob.systems.pbs.queue:PBSQueue",
        ask=(("qstat", "-f"), ("pbsnodes", "-a")),
        rules=(("qstat", "-Q", "-f"), ("pbs_rstat", "-F")),
        environment=(("TZ", "UTC"),),  # times have no zone
    ),
    status=Status(
        (
            Format("qstat-json", f"{_STATUS}.json", "qstat -f -F json of OpenPBS",
                   sign=Sign.NAME),
            Format("qstat-xml", f"{_STATUS}.xml", "qstat -f -x of TORQUE", sign=Sign.NAME),
            Format("qstat-text", f"{_STATUS}.text", "qstat -f, as text", sign=Sign.MARK),
        ),
        ask=((("qstat", "-f", "-F", "json"),), (("qstat", "-f", "-x"),), (("qstat", "-f"),)),
        environment=(("TZ", "UTC"),),  # times have no zone
        past=(("qstat", "-x", "-f", "-F", "json"),),
    ),
    script="sssjob.systems.pbs.allocation:PBSAllocation",
    site_tests="sssjob.systems.pbs.site_tests:PBSSiteTests",
    installation="sssjob.systems.pbs.scripts:PBSScripts",
    submission="sssjob.systems.pbs.submission:FORM",
    control="sssjob.systems.pbs.control:CONTROL",
    targets=(
        Target("pbs", "sssjob.systems.pbs.submission:PBS",
               "scripts for qsub of PBS Professional and OpenPBS"),
        Target("torque", "sssjob.systems.pbs.submission:TORQUE", "scripts for qsub of TORQUE",
               Sign.NAME),
    ),
    inside=Inside(*INSIDE["pbs"]),
    id_variable="PBS_JOBID",
    variables=("PBS_*",),
    # A job that waits for its time, or is on its way to another host or server.
    words=SystemWords(waits_by=(("job_state", "W"), ("job_state", "T"), ("job_state", "M"))),
    outcomes=("job_state",),
    cluster=Cluster("pbs", "PBSCluster", "account"),
)  # fmt: skip
