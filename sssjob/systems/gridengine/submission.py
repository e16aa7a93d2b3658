"""What qsub of Grid Engine takes for what a job object says."""

from __future__ import annotations

import math
from fractions import Fraction

from sssjob.executable import DEFAULT_SHELL
from sssjob.translate import fields
from sssjob.translate.form import Commands, Form, Layout
from sssjob.translate.options import Made, Option, Syntax, Wanted


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


_CPU_TIME = {("CPUTime", ""): "-l h_cpu", ("CPUTime", "Hard"): "-l h_cpu",
             ("CPUTime", "Soft"): "-l s_cpu"}  # fmt: skip

# fmt: off
FORM = Form(
    name="sge",
    syntax=Syntax("#$", {}),
    layout=Layout(),
    rules=(
        fields.Row("Project",                 "-P"),
        fields.Row("Queue",                   "-q"),
        fields.Row("Reservation",             "-ar"),
        fields.Row("InitialWorkingDirectory", "-wd"),
        fields.Streams("-i", "-o", "-e", joined=Option("-j", "y"), appends=True),
        fields.Shell("-S"),
        fields.Environment(None, Option("-V"), "-v"),
        fields.Moment("EligibleTime", "-a", "%Y%m%d%H%M.%S"),
        fields.Waits("-hold_jid", r"[0-9]+", {"OnExit": ""}),  # its end, however that is
        fields.Hold(Option("-h")),
        fields.Mail("-m", "", ("b", "e", "bea", "n"), "-M"),
        fields.Switch("Restartable", Option("-r", "n"), Option("-r", "y")),
        fields.Only("Interactive", False, "a batch job has no terminal"),
        fields.Only("Suspendable", True, "nothing keeps a job from being suspended"),
        fields.Priority("-p"),
        fields.Manager(("gridengine", "sge", "uge", "oge")),
    ),
    at_once=(fields.Limits(_CPU_TIME),),
    commands=Commands("qsub", ("-terse", "-h"), ("qrls",), ("qdel",)),
    held_name=fields.Name("-N", plain=True),
    words=_words,
    decides_nodes=True,
)
# fmt: on
