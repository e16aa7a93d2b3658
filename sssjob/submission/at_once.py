"""A job object as a job of a batch system: what is asked for, and the script that runs.

A range asks for its least processors and for its most of everything else, as batch systems
police it; alternatives are decided as for $JOBFEATURES. # decision 87
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from sssjob import registry
from sssjob.amounts import Scope
from sssjob.check.awareness import SharedContext, understood
from sssjob.defaults.overriding import without_overridden
from sssjob.errors import Finding, InvalidJob, InvalidValue, Severity, finding
from sssjob.executable import DEFAULT_SHELL, ExecutableKind, arguments, executable
from sssjob.features.derive import derive
from sssjob.model import Job, Task, stripped
from sssjob.submission.control import control, filled
from sssjob.translate import (
    Settings,
    Translator,
    Untranslatable,
    contradictions,
    numbers,
    translate,
)
from sssjob.translate.alternatives import Refusal, not_refused
from sssjob.translate.form import OptionForm
from sssjob.translate.losses import IGNORE, REJECT, WARN, Done, Loss
from sssjob.translate.options import ScriptWriting, WantedAmounts
from sssjob.translate.quoting import run
from sssjob.translate.requests import NO_OPTION, JobRequest
from sssjob.users import account, group_name

_TASKS = frozenset(("TaskCount", "TaskDistribution"))  # what says how often a program runs
_OWN = ("User", "Group")  # who submits is whose the job is


@dataclass(frozen=True, slots=True)
class Submission:
    """A job as it is submitted, held: the command, the script or jobspec for its standard input.

    It ``stays_held`` where the job object says that its user holds it.
    """

    system: str
    command: tuple[str, ...]
    script: str
    findings: tuple[Finding, ...] = ()
    stays_held: bool = False

    def release(self, job_id: str) -> list[str]:
        """The command that lets the job go."""
        return filled(control(self.system).release, id=job_id)

    def cancel(self, job_id: str) -> list[str]:
        """The command that takes the job back."""
        return filled(control(self.system).cancel, id=job_id)


def form(system: str) -> OptionForm | Translator[object]:
    """The submit form of a batch system, or what writes its jobspecs, which have no options."""
    found: OptionForm | Translator[object] = registry.system(system).load("submission")
    return found


def submission(
    job: Job, system: str, *, environment: str = "smp", around: SharedContext | None = None
) -> Submission:
    """The submission of a job whose defaults are resolved; the job is held until it is released.

    ``around`` is what stands around it and is judged with it.
    ``environment`` is Grid Engine's parallel environment for jobs of several processors. What is
    not understood, and what no option carries, is judged by awarenessPolicy (9.0). Raises
    ``InvalidJob`` with all that must not be left out, and ``InvalidValue`` for a job without an
    executable that is a path, or whose request contradicts itself.
    """
    known = understood(job).within(around)
    try:
        made, left = _not_refused(known.block, system, environment)
    except InvalidValue:
        known.required()  # which is worse, and tells all of it
        raise
    told = sorted((*known.findings(), *left), key=lambda each: each.line)
    if any(each.severity is Severity.ERROR for each in told):
        raise InvalidJob(told)
    return replace(made, findings=(*made.findings, *told))


class _SubmittedAlternative(NamedTuple):
    """The submission of one alternative, and what no option carries."""

    made: Submission
    left: list[Finding]

    @property
    def refusals(self) -> list[Refusal]:
        """What refuses the job."""
        return [Refusal(each.path) for each in self.left if each.severity is Severity.ERROR]


# decision 1146
def _not_refused(job: Job, system: str, environment: str) -> _SubmittedAlternative:
    """The submission of the best alternative, or of the next one that nothing refuses."""
    best = _SubmittedAlternative(*_submission(job, system, environment))

    def of_alternative(number: int) -> _SubmittedAlternative:
        try:
            return _SubmittedAlternative(*_submission(job, system, environment, number))
        except InvalidValue:
            return best  # which is refused as well

    return not_refused(Scope(without_overridden(job)[0], "/Job"), best, of_alternative)


def _submission(
    job: Job, system: str, environment: str, number: int | None = None
) -> tuple[Submission, list[Finding]]:
    """The submission of what is understood of a job, and what of that no option carries.

    Of alternatives that is the best one, or that of a number (``Scope.choices``).
    """
    options = form(system)
    found: list[Finding] = []
    asking, overridden = without_overridden(job)
    limits = _limits(asking, found, number)
    if not isinstance(options, OptionForm):
        made_, lost = _by_jobspec(job, system, options.name, number)
        return replace(made_, findings=tuple(found)), lost
    scope = Scope(asking, "/Job", found.append, number=number)
    asked = JobRequest(job, scope, overridden=overridden)
    asked.required(found)
    wanted = _wanted(asked, options, limits)
    script = _script(job, asked)
    made = ScriptWriting(held=True, wanted=wanted)
    for rule in (*options.rules, *options.at_once):
        rule.write(asked, made)
    credentials(asked)
    contradictions.tell(asked)
    named = ScriptWriting(held=True)
    assert options.held_name is not None
    assert options.words is not None
    options.held_name.write(asked, named)
    words = [*options.words(wanted, environment, made), *named.words]
    command = (*control(system).submit, *words, *made.words)
    script = "\n".join((f"#!{made.shell or DEFAULT_SHELL}", *made.lines, script + made.redirection))
    submission = Submission(system, command, f"{script}\n", tuple(found), made.stays_held)
    return submission, _told(asked.losses(system))


def _by_jobspec(
    job: Job, system: str, target: str, number: int | None
) -> tuple[Submission, list[Finding]]:
    """The submission of a jobspec; as a script would, a job without tasks runs its program once.

    It has its nodes and cores all the same.
    """
    held = [
        item for item in job.properties if item.name == "Hold" and stripped(item.text) == "User"
    ]
    own = [*held, *(item for item in job.properties if item.name in _OWN)]  # see ``strangers``
    asked = job.holding(item for item in job.items if item not in own)
    settings = Settings(unstated=REJECT, residual=False, terminal=False, once=runs_once(job))
    try:
        text, losses = translate(asked, target, settings, alternative=number)
    except Untranslatable as refused:
        text, losses = "", refused.losses
    command = tuple(control(system).submit)
    told = [*_told(losses), *_told(strangers(job, target))]
    return Submission(system, command, f"{text}\n", stays_held=bool(held)), told


# decision 1109
def runs_once(job: Job) -> bool:
    """Whether nothing says how many tasks a job has: its program runs once, as a script does.

    Its only task group is one with it; several say it, as they are several.
    """
    groups = job.asking_groups
    names = {item.name for block in (job, *groups) for item in block.properties}
    return len(groups) < 2 and not (_TASKS & names or any(each.blocks(Task) for each in groups))


# decisions 249, 1184
def _told(losses: Iterable[Loss]) -> list[Finding]:
    """What a job asks for that it would not get, or get otherwise; facts stay in its document."""
    return [
        _finding(each)
        for each in losses
        if (each.is_lost or _is_another_number(each)) and not each.fact and each.policy != IGNORE
    ]


def _is_another_number(loss: Loss) -> bool:
    """Whether more is asked for than is said; of a range the end is, as users know."""
    is_end = all(numbers.OF_A_RANGE in each for each in loss.reason.split("; "))
    return loss.done is Done.APPROXIMATED and not is_end


def _finding(loss: Loss) -> Finding:
    is_refused = loss.is_lost and loss.policy != WARN
    asked = "asked of" if loss.is_lost else "exactly what is asked of"
    return finding(
        "E-LOSS", f"{loss.named} is not {asked} {loss.target}: {loss.reason}", line=loss.line,
        path=loss.path, section="SSS 9.0",
        suggestion='awarenessPolicy="Warn" submits the job without it' if is_refused else "",
        severity=Severity.ERROR if is_refused else Severity.WARNING,
    )  # fmt: skip


def submitted_id(system: str, printed: str) -> str:
    """The id of the job in what the command printed. Raises ``InvalidValue`` where there is none.

    >>> submitted_id("slurm", "1234;cluster\\n")
    '1234'
    """
    found = control(system)
    return found.id(found.named(printed))


class _PolicedAmounts(NamedTuple):
    """What batch systems police of a whole job, by its amounts and limits; None of what is open."""

    memory: int | None
    seconds: int | None
    scratch: int | None


def _limits(job: Job, found: list[Finding], number: int | None) -> _PolicedAmounts:
    """Raises ``InvalidValue`` for a job that cannot be read."""
    features = derive(job, cpu_limit=False, number=number, judging=False)
    found += features.findings
    for each in features.findings:
        if each.severity is Severity.ERROR and each.code != "E-MISSING":
            raise InvalidValue(job.id, f"a job that can be submitted: {each.message}")
    values = {name: item.value for name, item in features.derived.items()}
    names = ("max_rss_bytes", "wall_limit_secs", "scratch_limit_bytes")
    return _PolicedAmounts(*(_number(values.get(name)) for name in names))


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


# decision 1115
def _wanted(asked: JobRequest, options: OptionForm, limits: _PolicedAmounts) -> WantedAmounts:
    """Take the amounts of the whole job: the counts that a script of it has, and the limits."""
    of = options.counts(asked)
    nodes = of.node_count if of.nodes or of.per_node else 0
    if not nodes and of.task_count > 1 and runs_once(asked.job):
        nodes = 1  # what nobody divides stays on one node, as memory and disk do
    wanted = WantedAmounts(of.task_count, of.each, of.asked, nodes, *limits)
    left = {"TaskDistribution"}  # of which the rules of a system take what it has options for
    if options.decides_nodes and (nodes, wanted.slots) != (1, 1):
        left.add("NodeCount")  # a parallel environment decides about nodes
    for name in sorted(left):
        asked.leave(name, NO_OPTION)
    for name in ("Memory", *(("Disk",) if options.scratch else ())):
        numbers.in_all(asked, of, name)  # which tells what the limits do not hold of it
    if asked.over and "Duration" not in asked.scope.mentioned:
        asked.own("Duration")  # it is what the job used
    else:
        numbers.wall(asked)
    return wanted


def _script(job: Job, asked: JobRequest) -> str:
    """The line of the script that becomes the job."""
    asked.one("Executable")
    asked.one("Arguments")
    named = executable(job.get("Executable"), job.get("InitialWorkingDirectory"))
    if named.kind is not ExecutableKind.PATH:
        raise InvalidValue(named.target, "an executable that is a path on the nodes")
    target = job.get("Executable").strip()
    return run([target, *arguments(job.get("Arguments"))])


def strangers(job: Job, target: str, owner: str = "") -> list[Loss]:
    """The User and the Group of a job that would run as another one."""
    asked = JobRequest(job, Scope(job, "/Job", lambda found: None), REJECT)
    credentials(asked, owner)
    return [
        loss
        for loss in asked.losses(target)
        if loss.path.removeprefix("/Job/") in _OWN and loss.policy != IGNORE
    ]


def credentials(asked: JobRequest, owner: str = "") -> None:
    """A job runs as who submits it, else as its ``owner`` by name; another one is refused.

    A user or a group without a name is called by its number.
    """
    known = account(owner or os.geteuid())
    user = known.pw_name if known else owner or str(os.geteuid())
    number = known.pw_gid if known and owner else os.getegid()
    group = group_name(number) or str(number)
    for name, own in (("User", user), ("Group", group)):
        for item in asked.take(name):
            if stripped(item.text) != own:
                asked.refuse(item, f"the job would run as {own}, who submits it")
