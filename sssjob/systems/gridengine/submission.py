"""What qsub of Grid Engine takes for what a job object says."""

from __future__ import annotations

import math
from fractions import Fraction

from sssjob.executable import DEFAULT_SHELL
from sssjob.translate.form import Commands, Form, Mail, Moment, Row, Streams, Switch, Waits
from sssjob.translate.options import Made, Option, Wanted


def _words(wanted: Wanted, parallel: str, made: Made) -> list[str]:
    """A slot is a processor, and memory is of one slot."""
    words = ["-S", made.shell or DEFAULT_SHELL]
    if wanted.processors > 1:
        words += ["-pe", parallel, str(wanted.processors)]
    limits = [f"h_rt={wanted.seconds}"] if wanted.seconds else []
    if wanted.memory:
        limits.append(f"h_vmem={math.ceil(Fraction(wanted.memory, wanted.processors))}")
    limits += made.limits
    return [*words, "-l", ",".join(limits)] if limits else words


# fmt: off
FORM = Form(
    system="gridengine",
    commands=Commands("qsub", ("-terse", "-h"), ("qrls",), ("qdel",)),
    words=_words,
    rows=(
        Row("Project",                 "-P"),
        Row("Queue",                   "-q"),
        Row("Reservation",             "-ar"),
        Row("InitialWorkingDirectory", "-wd"),
    ),
    name="-N",
    streams=Streams("-i", "-o", "-e", joined=Option("-j", "y"), appends=True),
    restart=Switch(Option("-r", "n"), Option("-r", "y")),
    export=Switch(None, Option("-V")),
    mail=Mail("-m", "", ("b", "e", "bea", "n"), "-M"),
    moments=(Moment("EligibleTime", "-a", "%Y%m%d%H%M.%S"),),
    waits=Waits("-hold_jid", r"[0-9]+", {"OnExit": ""}),  # the end of a job, however that is
    managers=("gridengine", "sge", "uge", "oge"),
    priority="-p",
    cpu_time={"": "h_cpu", "Soft": "s_cpu"},
    decides_nodes=True,
)
# fmt: on
