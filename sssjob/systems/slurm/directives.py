"""How options of sbatch are spelled behind #SBATCH."""

from __future__ import annotations

import re

from sssjob.translate import quoting
from sssjob.translate.options import Syntax

# fmt: off
# Of sbatch(1), 22.05 and later: options with a value, without one, and with one behind = only.
_VALUES = """
account acctg-freq array batch bb bbf begin chdir cluster-constraint clusters comment constraint
container core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot
dependency distribution error exclude export export-file extra extra-node-info gid gpu-bind gpu-freq
gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint input job-name
kill-on-invalid-dep licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu
mincpus network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node
ntasks-per-socket open-mode output partition power prefer priority profile qos reservation signal
sockets-per-node switches thread-spec threads-per-core time time-min tmp tres-bind tres-per-task uid
wait-all-nodes wckey workdir wrap
"""
_FLAGS = """
contiguous hold ignore-pbs no-requeue overcommit parsable quiet reboot requeue spread-job test-only
use-min-nodes verbose wait
"""
_OPTIONAL = "exclusive get-user-env nice no-kill oversubscribe propagate"
_SHORT = {
    "-a": "--array", "-A": "--account", "-b": "--begin", "-B": "--extra-node-info",
    "-c": "--cpus-per-task", "-C": "--constraint", "-d": "--dependency", "-D": "--chdir",
    "-e": "--error", "-F": "--nodefile", "-G": "--gpus", "-i": "--input", "-J": "--job-name",
    "-L": "--licenses", "-m": "--distribution", "-M": "--clusters", "-n": "--ntasks",
    "-N": "--nodes", "-o": "--output", "-p": "--partition", "-q": "--qos", "-S": "--core-spec",
    "-t": "--time", "-w": "--nodelist", "-x": "--exclude",
}
_SHORT_FLAGS = {
    "-H": "--hold", "-k": "--no-kill", "-O": "--overcommit", "-Q": "--quiet",
    "-s": "--oversubscribe", "-v": "--verbose", "-W": "--wait",
}
# fmt: on

_PLAIN = re.compile(r"[A-Za-z0-9_./:,=+@%&|*\[\]()~^!?<>;{}$-]+")


def split(text: str) -> list[str]:
    """The words of a directive as sbatch takes it apart; behind a bare # stands a comment.

    >>> split('--job-name="a b" -N4 # four')
    ['--job-name=a b', '-N4']
    """
    return quoting.split(text, signs="\\#")


def quote(text: str) -> str:
    """A word so that sbatch reads it as it is.

    >>> quote('a "b" #c')
    '"a \\\\"b\\\\" #c"'
    """
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


SYNTAX = Syntax(
    prefix="#SBATCH",
    takes={
        **{f"--{name}": 1 for name in _VALUES.split()},
        **{f"--{name}": 0 for name in _FLAGS.split()},
        **{f"--{name}": -1 for name in _OPTIONAL.split()},
        **dict.fromkeys(_SHORT, 1),
        **dict.fromkeys(_SHORT_FLAGS, 0),
    },
    also={**_SHORT, **_SHORT_FLAGS, "--workdir": "--chdir"},
    split=split, quote=quote, any_text=True, abbreviated=True,
    components=frozenset({"hetjob", "packjob"}),
)  # fmt: skip
