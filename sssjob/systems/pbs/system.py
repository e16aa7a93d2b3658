"""What of PBS stands where in this folder."""

from sssjob.registry import Format, Queue, Sign, System

SYSTEM = System(
    "pbs",
    "PBS",
    formats=(
        Format("pbs", "sssjob.systems.pbs.accounting", "accounting of TORQUE and OpenPBS",
               "sssjob.records.cutting:LineCutter", Sign.MARK),
    ),
    queue=Queue("sssjob.systems.pbs.queue:PBS", ask=(("qstat", "-f"), ("pbsnodes", "-a"))),
    script="sssjob.systems.pbs.allocation:PBS",
    installation="sssjob.systems.pbs.scripts:PBS",
    submission="sssjob.systems.pbs.submission:FORM",
)  # fmt: skip
