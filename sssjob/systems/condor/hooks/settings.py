"""What a hook is told on its command line, read without a library: hooks start for every job."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HOOKS = (
    "fetch-work", "reply-fetch", "evict-claim", "prepare-job", "update-job-info", "job-exit",
)  # fmt: skip
# What may stand behind the name of a hook, and which options are switches.
OPTIONS = (
    "documents", "jobs", "state", "fold", "silence", "seconds", "request", "owner", "refresh",
    "features", "mandatory", "trust", "attempts", "lost", "pause", "limits",
)  # fmt: skip
# Which of them each hook knows.
_QUEUE = (
    "documents", "jobs", "state", "trust", "fold", "seconds", "attempts", "lost", "pause",
)  # fmt: skip
KNOWN = {
    **dict.fromkeys(HOOKS, _QUEUE),
    "fetch-work": (*_QUEUE, "silence", "refresh", "request", "owner"),
    "prepare-job": ("features", "mandatory"),
    "update-job-info": (*_QUEUE, "limits"),
}
SWITCHES = ("mandatory",)
FORMER = {"jobs": "documents"}  # what hooks that were written before are called with
FOLDS = ("after", "now", "never")
LIMITS = ("keep", "ignore")

SILENCE = 900  # seconds: three updates of a starter, which come every 300
SECONDS = 20  # that a hook takes at most
ATTEMPTS = 5  # in a row that start nothing, before a job is held
LOST = 20  # in a row of attempts that were started, and ended without a word
GONE = 86_400  # seconds that what is known of a job waits for a document that is not there
PAUSE = 30  # seconds after the first of them, doubled after each
REFRESH = 60  # seconds after which documents are looked at again
TRUSTED = ("condor",)  # users who are trusted wherever they exist
VARIABLE = "SSSJOB_CONDOR_JOBS"
SPOOL = "spool"  # in the state: where hooks leave reports, and any user may


class HookSettings:
    """Where the jobs are, and how the hooks treat them.

    ``jobs`` is a directory of documents or the address of a store, ``state`` the directory in
    which the hooks keep what they know. ``silence`` is after how many seconds a job that was
    given away and of which nothing is heard is given away again; ``seconds`` is what a hook may
    take; ``requests`` are attributes for ads that lack them; ``owner`` is for jobs without User.
    ``trust`` are users who may speak for others, beside root and whoever runs this: their
    documents may name any User, their reports be about any job. After ``attempts`` in a row that
    started nothing a job is held, and after ``lost`` ones that were started and lost, and rests
    ``pause`` seconds after the first. ``limits`` says
    whether a job that is over one of its own is ended.
    """

    __slots__ = ("attempts", "features", "fold", "jobs", "limits", "lost", "mandatory", "owner",
                 "pause", "refresh", "requests", "seconds", "silence", "state",
                 "trust")  # fmt: skip

    def __init__(
        self, jobs: str = "", state: str = "", fold: str = "after", silence: int = SILENCE,
        seconds: int = SECONDS, requests: Sequence[tuple[str, str]] = (), owner: str = "",
        refresh: int = REFRESH, features: str = "", mandatory: bool = False,
        trust: Sequence[str] = (), attempts: int = ATTEMPTS, pause: int = PAUSE,
        limits: str = "keep", lost: int = LOST,
    ) -> None:  # fmt: skip
        self.jobs = jobs
        self.state = state or state_of(jobs)
        self.fold, self.silence, self.seconds = fold, silence, seconds
        self.requests, self.owner, self.refresh = tuple(requests), owner, refresh
        self.features, self.mandatory = features, mandatory
        self.trust = (*TRUSTED, *trust)
        self.attempts, self.pause, self.limits = attempts, pause, limits
        self.lost = lost


def state_of(jobs: str) -> str:
    """Where the hooks keep what they know: in the directory of the jobs, or beside a store."""
    if not jobs:
        return ""
    if os.path.isdir(jobs):
        return os.path.join(jobs, ".condor")
    path = jobs.removeprefix("sqlite:")
    return "" if "://" in path else f"{path}.condor"


def given(words: Sequence[str]) -> tuple[HookSettings, list[str]] | None:
    """The settings in the words behind a hook's name, and the other words; None if unclear.

    What is unclear, help included, is left to whoever explains it better.
    """
    values: dict[str, str] = {}
    requests: list[tuple[str, str]] = []
    trust: list[str] = []
    rest: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("--"):
            if word.startswith("-"):
                return None
            rest.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        if name not in OPTIONS:
            return None
        if name in SWITCHES:
            value = "" if equals else "yes"
        elif not equals:
            if not waiting:
                return None
            value = waiting.pop(0)
        if name == "request":
            if (asked := request(value)) is None:
                return None
            requests.append(asked)
        elif name == "trust":
            trust.append(value)
        else:
            values[FORMER.get(name, name)] = value
    numbers = {
        name: values.pop(name)
        for name in ("silence", "seconds", "refresh", "attempts", "lost", "pause")
        if name in values
    }
    if not all(number.isdecimal() and len(number) < 10 for number in numbers.values()):
        return None
    if any(not int(number) for name, number in numbers.items() if name not in ("refresh", "pause")):
        return None
    if values.get("fold", "after") not in FOLDS or values.get("limits", "keep") not in LIMITS:
        return None
    jobs = values.pop("documents", os.environ.get(VARIABLE, ""))
    mandatory = bool(values.pop("mandatory", ""))
    whole = {name: int(number) for name, number in numbers.items()}
    made = HookSettings(
        jobs, **values, **whole,  # type: ignore[arg-type]
        requests=requests, mandatory=mandatory, trust=trust,
    )  # fmt: skip
    return made, rest


def request(text: str) -> tuple[str, str] | None:
    """The attribute and the number of an option ``--request``; None of what is none.

    >>> request("RequestMemory=2048"), request("RequestMemory =2048"), request("RequestCpus=0")
    (('RequestMemory', '2048'), None, None)
    """
    attribute, _, number = text.partition("=")
    is_number = number.isascii() and number.isdecimal()
    # Nothing runs on no processors.
    if not is_number or (attribute == "RequestCpus" and not number.strip("0")):
        return None
    is_name = attribute.isascii() and attribute.isidentifier()
    return (attribute, number) if is_name and attribute.startswith("Request") else None


def fault_told(fault: Exception) -> str:
    """A fault of ours that costs one document, job or report, in words for a log."""
    return f"sssjob cannot deal with it: {type(fault).__name__}: {fault}"
