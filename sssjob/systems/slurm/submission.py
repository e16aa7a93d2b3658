"""What sbatch takes for what a job object says."""

from __future__ import annotations

import math
from fractions import Fraction

from sssjob.translate.form import Commands, Form, Mail, Moment, Row, Streams, Switch, Waits
from sssjob.translate.options import Made, Option, Wanted

_MIB = 1 << 20
_TIME = "%Y-%m-%dT%H:%M:%S"


def _words(wanted: Wanted, parallel: str, made: Made) -> list[str]:
    """Memory and scratch space are of one node."""
    tasks, each = wanted.shares
    words = [f"--ntasks={tasks}", f"--cpus-per-task={each}"]
    words += [f"--nodes={wanted.nodes}"] if wanted.nodes else []
    nodes = max(wanted.nodes, 1)
    if wanted.memory:
        words.append(f"--mem={math.ceil(Fraction(wanted.memory, _MIB * nodes))}M")
    if wanted.scratch:
        words.append(f"--tmp={math.ceil(Fraction(wanted.scratch, _MIB * nodes))}M")
    if wanted.seconds:
        words.append(f"--time={math.ceil(Fraction(wanted.seconds, 60))}")  # minutes
    return words


# fmt: off
FORM = Form(
    system="slurm",
    commands=Commands("sbatch", ("--parsable", "--hold"), ("scontrol", "release"), ("scancel",)),
    words=_words,
    rows=(
        Row("Project",                 "--account"),
        Row("Queue",                   "--partition"),
        Row("QualityOfService",        "--qos"),
        Row("Reservation",             "--reservation"),
        Row("InitialWorkingDirectory", "--chdir"),
    ),
    name="--job-name", any_name=True,
    streams=Streams("--input", "--output", "--error", append=Option("--open-mode", "append")),
    restart=Switch(Option("--no-requeue"), Option("--requeue")),
    export=Switch(Option("--export", "NONE"), Option("--export", "ALL")),
    mail=Mail("--mail-type", ",", ("BEGIN", "END", "ALL", "NONE"), "--mail-user"),
    moments=(Moment("EligibleTime", "--begin", _TIME), Moment("DeadlineTime", "--deadline", _TIME)),
    waits=Waits("--dependency", r"[0-9]+(_[0-9]+)?", {
        "OnSuccess": "afterok", "OnFailure": "afternotok", "OnExit": "afterany",
    }),
    managers=("slurm",),
    features="--constraint", node="--nodelist", nodes="--nodes", per_node="--ntasks-per-node",
    cyclic=Option("--distribution", "cyclic"), gpus="--gpus", licences="--licenses",
    scratch=True, queue_is_partition=True,
)
# fmt: on
