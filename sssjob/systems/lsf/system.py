"""What of LSF stands where in this folder."""

from sssjob.registry import Format, Sign, System

SYSTEM = System(
    "lsf",
    "LSF",
    formats=(
        Format("lsf", "sssjob.systems.lsf.accounting", "lsb.acct of LSF",
               Sign.MARK),
    ),
)  # fmt: skip
