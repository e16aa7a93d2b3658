"""What qsub of TORQUE and PBS takes for what a job object says."""

from __future__ import annotations

import math
from fractions import Fraction

from sssjob import units
from sssjob.executable import DEFAULT_SHELL
from sssjob.translate.form import Commands, Form, Mail, Moment, Row, Streams, Switch, Waits
from sssjob.translate.options import Made, Option, Wanted


def _words(wanted: Wanted, parallel: str, made: Made) -> list[str]:
    """PBS starts the login shell of the user, unless it is told what reads the script."""
    nodes = max(wanted.nodes, 1)
    words = [f"nodes={nodes}:ppn={math.ceil(Fraction(wanted.processors, nodes))}"]
    words += [f"mem={wanted.memory}b"] if wanted.memory else []
    words += [f"walltime={units.clock(wanted.seconds)}"] if wanted.seconds else []
    words += made.limits
    shell = made.shell or (DEFAULT_SHELL if made.lines or made.redirection else "")
    return ["-l", ",".join(words), *(("-S", shell) if shell else ())]


# fmt: off
FORM = Form(
    system="pbs",
    commands=Commands("qsub", ("-h",), ("qrls",), ("qdel",)),
    words=_words,
    rows=(
        Row("Project", "-A"),
        Row("Queue",   "-q"),
    ),
    name="-N",
    streams=Streams("", "-o", "-e", joined=Option("-j", "oe")),
    restart=Switch(Option("-r", "n"), Option("-r", "y")),
    export=Switch(None, Option("-V")),
    mail=Mail("-m", "", ("b", "e", "abe", "n"), "-M"),
    moments=(Moment("EligibleTime", "-a", "%Y%m%d%H%M.%S"),),
    waits=Waits("-W depend", r"[0-9]+(\[[0-9]*\])?(\.[\w.-]+)?", {
        "OnSuccess": "afterok", "OnFailure": "afternotok", "OnExit": "afterany",
    }),
    managers=("pbs", "torque", "openpbs", "pbspro"),
    priority="-p",
    cpu_time={"": "cput"}, clock=units.clock,
    directory=False,
)
# fmt: on
