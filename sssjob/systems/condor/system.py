"""What of HTCondor stands where in this folder."""

from sssjob.registry import Format, Queue, Sign, Status, System, Target

SYSTEM = System(
    "condor",
    "HTCondor",
    formats=(
        Format("condor", "sssjob.systems.condor.accounting", "job ads of HTCondor's histories",
               Sign.MARK),
    ),
    queue=Queue(
        "sssjob.systems.condor.queue:Condor",
        ask=(("condor_q", "-global", "-allusers", "-json"), ("condor_status", "-json")),
        ask_text=(("condor_q", "-global", "-allusers", "-long"), ("condor_status", "-long")),
    ),
    control="sssjob.systems.condor.control:CONTROL",
    targets=(
        Target("condor", "sssjob.systems.condor.submission:CONDOR",
               "submit files of condor_submit", Sign.COUNT),
    ),
    status=Status(
        (Format("condor-q", "sssjob.systems.condor.status", "condor_q -json", sign=Sign.MARK),),
        ask=((("condor_q", "-allusers", "-json"),), (("condor_q", "-allusers", "-long"),)),
    ),
)  # fmt: skip
