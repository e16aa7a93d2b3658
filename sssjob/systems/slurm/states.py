"""What Slurm's words for the state of a job mean, wherever they stand: one table for all outputs.

The words and their codes are those of squeue(1), "JOB STATE CODES", and of sacct(1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

_STATE = re.compile(r"([A-Z][A-Z_]*)(\+?)(?: by (\S+))?", re.IGNORECASE | re.ASCII)
_REMEMBERED = 1 << 11  # texts that are kept with their meaning


class SlurmWord(NamedTuple):
    """One row: a state, what it is in the words of the standard, and its code or ""."""

    word: str
    standard: str
    code: str = ""


# fmt: off
WORDS = (
    SlurmWord("BOOT_FAIL",     "Completed", "BF"),
    SlurmWord("CANCELLED",     "Completed", "CA"),
    SlurmWord("COMPLETED",     "Completed", "CD"),
    SlurmWord("DEADLINE",      "Completed", "DL"),
    SlurmWord("FAILED",        "Completed", "F"),
    SlurmWord("LAUNCH_FAILED", "Completed"),
    SlurmWord("NODE_FAIL",     "Completed", "NF"),
    SlurmWord("OUT_OF_MEMORY", "Completed", "OOM"),
    SlurmWord("PREEMPTED",     "Completed", "PR"),
    SlurmWord("RECONFIG_FAIL", "Completed"),
    SlurmWord("REVOKED",       "Completed", "RV"),
    SlurmWord("TIMEOUT",       "Completed", "TO"),
    SlurmWord("EXPEDITING",    "Idle"),
    SlurmWord("PENDING",       "Idle",      "PD"),
    SlurmWord("REQUEUED",      "Idle",      "RQ"),
    SlurmWord("REQUEUE_FED",   "Idle",      "RF"),
    SlurmWord("REQUEUE_HOLD",  "Hold",      "RH"),
    SlurmWord("RESV_DEL_HOLD", "Hold",      "RD"),
    SlurmWord("SPECIAL_EXIT",  "Hold",      "SE"),
    SlurmWord("COMPLETING",    "Running",   "CG"),
    SlurmWord("CONFIGURING",   "Running",   "CF"),
    SlurmWord("POWER_UP_NODE", "Running"),
    SlurmWord("RESIZING",      "Running",   "RS"),
    SlurmWord("RUNNING",       "Running",   "R"),
    SlurmWord("SIGNALING",     "Running",   "SI"),
    SlurmWord("STAGE_OUT",     "Running",   "SO"),
    SlurmWord("UPDATE_DB",     "Running"),
    SlurmWord("STOPPED",       "Suspended", "ST"),
    SlurmWord("SUSPENDED",     "Suspended", "S"),
)
# fmt: on
STATES = {row.word: row.standard for row in WORDS}
_OF_CODES = {row.code: row.word for row in WORDS if row.code}
# A run that was requeued or resized is over where it has an end. Any other job that goes on has
# none, even where ``sacct --truncate`` prints the end of the time that was asked about.
_RUNS = frozenset(("REQUEUED", "RESIZING"))
# Any other word for an end is also that of a job that was never started.
_OF_STARTED = frozenset(("COMPLETED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"))
_HELD = "JobHeld"  # reasons: JobHeldUser, JobHeldAdmin


class Phase(Enum):
    """How far a job is by its state alone; of TOLD_BY_END what else it has tells."""

    WAITS = 0
    GOES_ON = 1
    TOLD_BY_END = 2


class SlurmState(NamedTuple):
    """A state by the standard's word ("" where nobody knows it), and by Slurm's whole word."""

    standard: str
    word: str


@lru_cache(_REMEMBERED)
def state(text: str) -> SlurmState:
    """Read a state: ``CANCELLED by 1000``, the code ``CG``; ``OUT_OF_ME+`` is a cut word.

    Programs of sites write states in other letters, too, and blanks about them.

    >>> state("OUT_OF_ME+"), state("ASLEEP")
    (SlurmState(standard='Completed', word='OUT_OF_MEMORY'), SlurmState(standard='', word='ASLEEP'))
    >>> state("CG")
    SlurmState(standard='Running', word='COMPLETING')
    """
    found = _STATE.fullmatch(text.strip())
    if not found:
        return SlurmState("", text)
    word, cut = found[1].upper(), found[2]
    if cut and word not in STATES:
        begins = [known for known in STATES if known.startswith(word)]
        word = begins[0] if len(begins) == 1 else word
    elif not cut:
        word = _OF_CODES.get(word, word)
    return SlurmState(STATES.get(word, ""), word)


def of_words(words: Sequence[str]) -> str:
    """The word that counts of a list of them: a state, and behind it its flags.

    That is the last one, as squeue prints it as text: a job that is COMPLETED and COMPLETING has
    its slots still. A flag that nobody knows changes nothing.

    >>> of_words(["COMPLETED", "COMPLETING"]), of_words(["RUNNING", "BLINKING"]), of_words([])
    ('COMPLETING', 'RUNNING', '')
    """
    known = [word for word in words if state(word.upper()).standard]
    return (known or [*words] or [""])[-1]


@lru_cache(_REMEMBERED)
def phase(text: str) -> Phase:
    """How far a job of this state is."""
    standard, word = state(text)
    if standard in ("", "Completed") or word in _RUNS:
        return Phase.TOLD_BY_END
    return Phase.WAITS if standard in ("Idle", "Hold") else Phase.GOES_ON


def is_over(text: str) -> bool:
    """Whether a state by itself says that the job has ended."""
    return state(text).standard == "Completed"


def was_started(text: str) -> bool:
    """Whether a state by itself says that the job was started, and has ended.

    >>> was_started("TIMEOUT"), was_started("CANCELLED by 1000")
    (True, False)
    """
    return state(text).word in _OF_STARTED


def held(standard: str, reason: str) -> str:
    """The standard's word for a job of which Slurm gives this reason: what waits may be held.

    >>> held("Idle", "JobHeldUser"), held("Idle", "Priority"), held("Running", "JobHeldUser")
    ('Hold', 'Idle', 'Running')
    """
    return "Hold" if standard == "Idle" and reason.startswith(_HELD) else standard
