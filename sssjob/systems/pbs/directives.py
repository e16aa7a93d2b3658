"""How options of qsub are spelled behind #PBS, in PBS Professional, OpenPBS and TORQUE."""

from __future__ import annotations

from sssjob.translate.options import Syntax, assignments, commas
from sssjob.translate.quoting import quoted, split

_COMMON = {
    **dict.fromkeys(("-a", "-A", "-c", "-C", "-e", "-j", "-k", "-l", "-m", "-M", "-N", "-o", "-p",
                     "-P", "-q", "-r", "-S", "-u", "-v", "-W"), 1),
    **dict.fromkeys(("-f", "-h", "-I", "-V", "-x", "-X", "-z"), 0),
}  # fmt: skip
_LISTS = {"-l": commas, "-W": assignments}

PBS = Syntax(
    "#PBS", {**_COMMON, "-J": 1, "-R": 1, "-G": 1}, {}, _LISTS, split, quoted, indented=True
)
TORQUE = Syntax(
    "#PBS", {**_COMMON, "-b": 1, "-d": 1, "-D": 1, "-F": 1, "-L": 1, "-t": 1, "-T": 1, "-w": 1,
             "-K": 1, "-E": 0, "-n": 0},
    {}, _LISTS, split, quoted, indented=True,
)  # fmt: skip
