"""The scripts of Grid Engine: prolog and epilog of a queue, or its starter_method."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sssjob.features.batch.directories import VARIABLES
from sssjob.features.batch.scripts import (
    Installation,
    LiveSetting,
    QueuePrograms,
    Scripts,
    becoming,
    exports,
)

_LINE = re.compile(r"^(qname|prolog|epilog) +(.*?) *$", re.MULTILINE)
_PROGRAM = re.compile(r"root@(/[A-Za-z0-9._/+-]+)")


class GridEngineScripts(Scripts):
    """prolog and epilog run as root; the starter_method runs as the user, in the job's place."""

    command = "qstat"
    handed = (
        "SGE_ROOT", "SGE_CELL", "SGE_JOB_SPOOL_DIR", "SGE_TASK_ID", "JOB_ID", "NSLOTS", "NHOSTS",
        "QUEUE", "HOSTNAME",
    )  # fmt: skip
    # execd sets them where it has them itself; elsewhere they would be those of the user.
    settled = ("SGE_QMASTER_PORT", "SGE_EXECD_PORT")
    job = 'case $SGE_TASK_ID in ""|undefined) job=$JOB_ID;; *) job=$JOB_ID.$SGE_TASK_ID;; esac\n'
    prolog = ("prolog", "prolog of a Grid Engine queue")
    epilog = ("epilog", "epilog of a Grid Engine queue")

    def more(self, at: Installation) -> dict[str, str]:
        """The starter_method: for sites where nothing may run as root."""
        # Behind it no epilog would unmount the room of a status.
        options = [each for each in at.options if not each.startswith("--status-size")]
        call = replace(at, options=options).call("prolog", '"$mjf"')
        text = (
            f"{at.head('Grid Engine starter_method', 'makes')}"
            "# It runs as the user of the job, in the place of its shell, and ends as the job.\n"
            f"mjf=$TMPDIR/mjf\n{self.job}"
            "# qsub -V hands on the environment that it is called in, maybe that of another job;\n"
            "# what is of this job a prolog of root's has told.\n"
            'case $JOBFEATURES in */"$job"/*) ;; '
            f"*) unset {' '.join(VARIABLES)};; esac\n"
            "# Without a directory of the job there is no place that others could not prepare.\n"
            'if [ -n "$TMPDIR" ]; then\n'
            f"{call} >/dev/null 2>&1 </dev/null\n"
            f"{exports('    ', '$mjf', '$job')}"
            "fi\n"
            f"{becoming('${SGE_STARTER_SHELL_PATH:-/bin/sh}')}"
        )
        return {"starter": text}

    def configuration(self, at: Installation) -> Iterator[str]:
        """The lines of a queue's configuration."""
        if missing := [f"${name}" for name in self.settled if not os.environ.get(name)]:
            yield f"# {' and '.join(missing)} not set here: scripts take the ports of /etc/services"
        yield "# qconf -mq QUEUE, for queues of batch jobs, not where qrsh and qlogin run:"
        yield "# 8.1.9 may end a prolog there before it is done, and close the queue."
        yield f"prolog                root@{at.place('prolog')}"
        yield f"epilog                root@{at.place('epilog')}"
        yield "# Where nothing may run as root, instead of both:"
        yield f"# starter_method        {at.place('starter')}"

    def live(self) -> Mapping[str, Sequence[str]]:
        """``qconf -sq`` of every queue."""
        return {"queues": ["qconf", "-sq", "*"]}

    def settings(self, at: Installation, answers: Mapping[str, str]) -> list[LiveSetting]:
        """The programs of each queue. One script cannot call what several queues have."""
        rows = []
        queue = ""
        for name, value in _LINE.findall(answers.get("queues", "")):
            if name == "qname":
                queue = value
            else:
                rows.append((queue, name, "" if value.upper() == "NONE" else value))
        names = {name: name for name in ("prolog", "epilog")}
        wanted = {name: f"root@{at.place(name)}" for name in names}
        why = "it runs as another user, or has arguments"
        return QueuePrograms(wanted, names, _PROGRAM, why).settings(rows)
