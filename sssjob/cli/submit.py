"""``sssjob submit``: job objects to a batch system, exactly once."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, names, options, records, steer
from sssjob.cli.signals import terminable
from sssjob.errors import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sssjob.submission import How, SubmitOptions, Submitted
    from sssjob.submission.planning import Planned
    from sssjob.translate import Loss
    from sssjob.verbs.submit import JobsOfPlace


@click.command(
    epilog="""\b
Examples:
  sssjob submit --to slurm --dry-run job.xml
  sssjob submit --to slurm job.xml
  sssjob submit --to gridengine --hold --select solve workflow.xml
  sssjob submit --to slurm --where "//Job[User='amy']" jobs.db

Exit code: 0 submitted, or submitted already, 1 the batch system refuses a job,
2 a job cannot be submitted as it is, or the batch system does not answer. A
later call goes on with what is not submitted."""
)
@names.option("--to", "system", names=names.controlled, metavar="SYSTEM", required=True,
              help="The batch system: {names}; or a kind of script that it takes, such as "
                   "torque.")  # fmt: skip
@click.option("--hold", is_flag=True, help="Submit jobs that stay held.")
@steer.choice
@options.MEMORY_SCOPE
@options.PARALLEL
@click.option("-n", "--dry-run", is_flag=True,
              help="Print the commands with their scripts, and submit nothing.")  # fmt: skip
@options.ALL_FINDINGS
@options.JSON_JOBS
@options.TIMEOUT
@click.argument("file", metavar="FILE")
def command(
    system: str, hold: bool, ids: tuple[str, ...], global_ids: tuple[str, ...], where: str,
    memory_scope: str, parallel: str, dry_run: bool, as_json: bool, timeout: float, file: str,
) -> None:  # fmt: skip
    """Submit jobs, print their ids, and write these into FILE, a document or a store.

    Id, GlobalId, SubmitTime and State are written there. If the command is run again, also after an
    interruption, it submits only the jobs that are not submitted yet. Jobs of a JobGroup are
    submitted in the order of their dependencies, with the ids that the batch system gave to the
    earlier ones.

    Everything that the batch system cannot express is listed. If its awarenessPolicy is Reject,
    which is the default, nothing is submitted (SSS 9.0).
    """
    from sssjob.submission import How, NotSubmitted, SubmitOptions
    from sssjob.translate import Settings
    from sssjob.verbs import submit

    settings = Settings(memory_scope, parallel=parallel)
    how = How(timeout)
    choice = steer.chosen(ids, global_ids, where)
    records.only_documents(file)
    jobs = 0
    with common.failing(file), terminable(), submit.places(file, choice) as works:
        for work in works:
            wanted = SubmitOptions(system, hold, settings, work.chosen)
            try:
                jobs += _submit(work, wanted, how, file, dry_run=dry_run, as_json=as_json)
            except NotSubmitted as refused:
                common.print_findings(item.in_file(file) for item in refused.findings)
                common.fail(f"{common.name_of(file)}: nothing is submitted")
    if not jobs:
        common.say("sssjob: no job")
        sys.exit(common.NOTHING)


def _submit(
    work: JobsOfPlace, wanted: SubmitOptions, how: How, file: str, *, dry_run: bool, as_json: bool
) -> int:
    """Submit the jobs of one place, or show what would be; gives how many there are."""
    from sssjob.commands import CommandFailed
    from sssjob.submission import prepared, shown, submit

    if dry_run:
        found = prepared(work.place, wanted, how)
        for planned in found.jobs:
            _tell(planned.findings, planned.losses, file)
            if planned.submitted:
                common.say_of(
                    file, Severity.NOTICE,
                    f"{common.name_of(file)}: job {planned.written.id} is submitted already",
                    ": jobs that are submitted already",
                )  # fmt: skip
            else:
                words, text = shown(found, planned)
                plain = f"{shlex.join(words)}\n{text}"
                common.data(_planned(planned, words, text) if as_json else plain, nl=as_json)
        return len(found.jobs)
    jobs = 0
    try:
        for done in submit(work.place, wanted, how):
            jobs += 1
            _tell(done.findings, done.losses, file)
            common.data(_line(done) if as_json else done.id)
    except CommandFailed as error:
        steer.refused(error)
    return jobs


def _line(done: Submitted) -> str:
    return json.dumps({
        "id": done.id, "globalId": done.global_id, "state": done.state, "new": done.new,
        "job": done.job.id,
    }, ensure_ascii=False)  # fmt: skip


def _planned(planned: Planned, words: Sequence[str], text: str) -> str:
    """What a dry run says of a job: the command, and what its standard input will be."""
    said = {"job": planned.written.id, "command": words, "input": text}
    return json.dumps(said, ensure_ascii=False)


def _tell(findings: Iterable[object], losses: Iterable[Loss], file: str) -> None:
    """What is worth knowing of a job that is submitted."""
    from sssjob.errors import Finding

    common.print_findings(item.in_file(file) for item in findings if isinstance(item, Finding))
    for loss in losses:
        found = loss.finding()
        if not loss.fact and found.severity in (Severity.WARNING, Severity.NOTICE):
            common.print_findings((found.in_file(file),))
