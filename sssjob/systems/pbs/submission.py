"""What qsub of TORQUE and PBS takes for what a job object says."""

from __future__ import annotations

import math
from fractions import Fraction

from sssjob import units
from sssjob.executable import DEFAULT_SHELL
from sssjob.translate import fields
from sssjob.translate.form import Commands, Form, Layout
from sssjob.translate.options import Made, Option, Syntax, Wanted


def _words(wanted: Wanted, parallel: str, made: Made) -> list[str]:
    """PBS starts the login shell of the user, unless it is told what reads the script."""
    nodes = max(wanted.nodes, 1)
    words = [f"nodes={nodes}:ppn={math.ceil(Fraction(wanted.processors, nodes))}"]
    words += [f"mem={wanted.memory}b"] if wanted.memory else []
    words += [f"walltime={units.clock(wanted.seconds)}"] if wanted.seconds else []
    words += made.limits
    shell = made.shell or (DEFAULT_SHELL if made.lines or made.redirection else "")
    return ["-l", ",".join(words), *(("-S", shell) if shell else ())]


_IDS = r"[0-9]+(\[[0-9]*\])?(\.[\w.-]+)?"
_AFTER = {"OnSuccess": "afterok", "OnFailure": "afternotok", "OnExit": "afterany"}

# fmt: off
FORM = Form(
    name="pbs",
    syntax=Syntax("#PBS", {}),
    layout=Layout(),
    rules=(
        fields.Row("Project", "-A"),
        fields.Row("Queue",   "-q"),
        fields.Streams("", "-o", "-e", joined=Option("-j", "oe")),
        fields.Shell("-S"),
        fields.Directory(),
        fields.Environment(None, Option("-V"), "-v"),
        fields.Moment("EligibleTime", "-a", "%Y%m%d%H%M.%S"),
        fields.Waits("-W depend", _IDS, _AFTER),
        fields.Hold(Option("-h")),
        fields.Mail("-m", "", ("b", "e", "abe", "n"), "-M"),
        fields.Switch("Restartable", Option("-r", "n"), Option("-r", "y")),
        fields.Only("Interactive", False, "a batch job has no terminal"),
        fields.Only("Suspendable", True, "nothing keeps a job from being suspended"),
        fields.Priority("-p"),
        fields.Manager(("pbs", "torque", "openpbs", "pbspro")),
    ),
    at_once=(fields.Limits({("CPUTime", ""): "-l cput", ("CPUTime", "Hard"): "-l cput",
                            ("CPUTime", "Soft"): "-l cput"}, units.clock),),
    commands=Commands("qsub", ("-h",), ("qrls",), ("qdel",)),
    held_name=fields.Name("-N", plain=True),
    words=_words,
)
# fmt: on
