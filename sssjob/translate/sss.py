"""Job objects themselves as a target and a source, with the files that travel beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from itertools import starmap
from typing import NamedTuple

from sssjob.check.awareness import SharedContext, around, by_group
from sssjob.defaults import resolve
from sssjob.document import dumps, one_by_one
from sssjob.document.attached import doubled, message, named
from sssjob.document.bundle import MessageFile, bundles
from sssjob.document.outermost import Wanted, told
from sssjob.errors import Finding, Severity, UnreadableDocument, finding
from sssjob.features.folded import beginning, of_its_run
from sssjob.model import Block, Job, JobGroup, Property
from sssjob.translate.requests import JobRequest
from sssjob.translate.translator import Read, Settings, Translator

NO_ID = "new"  # the Id of a job that has neither an id nor a name

_NO_FILES: Mapping[str, bytes] = {}


class Message(NamedTuple):
    """A job, and the files that it came with."""

    job: Job
    files: Mapping[str, bytes]
    findings: tuple[Finding, ...] = ()
    around: SharedContext | None = None
    ran: Job | None = None


class RequestedJob(NamedTuple):
    """A job as it was requested, with the defaults of its group, and what else was said of it.

    ``around`` is what is left of its surroundings, to be judged with it; ``ran`` what was told of
    a run of it.
    """

    job: Job
    around: SharedContext | None
    ran: Job | None


class SSS(Translator[Message]):
    """XML of the SSS Job Object Specification."""

    name = "sss"
    suffix = ".xml"
    joins = True

    def compose(self, asked: JobRequest, settings: Settings) -> Message:
        """The job as it is; everything has its place. One that was never submitted gets an Id."""
        asked.everything()
        job = asked.job
        if not job.id:
            job = job.holding((Property("Id", job.get("Name") or NO_ID), *job.items))
        return Message(job, settings.files)

    def dump(self, form: Message) -> str:
        """The job, in a message with its files if it has any."""
        files = [MessageFile(id_, content) for id_, content in form.files.items()]
        return f"{message(dumps(form.job, indent=True), files, indent=True)}\n"

    def load(self, data: bytes) -> Iterator[Message | Finding]:
        """Every job of every document, its defaults resolved."""
        if not data.strip():
            return
        if (apart := one_by_one.groups(data)) is not None:
            for number, (job, left, ran) in enumerate(requested_jobs(apart)):
                context = left.later() if left is not None and number else left
                yield Message(job, _NO_FILES, around=context, ran=ran)
            return
        unread: list[UnreadableDocument] = []
        for bundle in bundles(BytesIO(data), on_error=unread.append, wanted=Wanted.JOBS):
            yield from _taken(unread)
            for job, left, ran in requested_jobs(bundle.blocks):
                own = named(job, bundle.every)
                files = {file.id: file.content for file in reversed(own)}  # the first is meant
                yield Message(job, files, (*doubled(own), *_not_kept(own)), left, ran)
        yield from _taken(unread)

    def job(self, form: Message, settings: Settings) -> Read:
        """The job, refused where its surroundings are not understood (9.0)."""
        if form.around is None:
            return Read(form.job, form.findings, form.files, ran=form.ran)
        accepted, findings = form.around.judged(settings.unstated)
        return Read(form.job, (*form.findings, *findings), form.files, not accepted, form.ran)

    def recognises(self, head: bytes) -> str:
        """The element that tells job objects."""
        name = told(head)
        return f"an element {name}" if name else ""


def _taken(unread: list[UnreadableDocument]) -> Iterator[Finding]:
    """What could not be read since the last job, which is told before the next one."""
    yield from (error.finding for error in unread)
    unread.clear()


def _not_kept(files: Iterable[MessageFile]) -> Iterator[Finding]:
    """What is told of Files that are kept by their ids and what they hold."""
    for file in files:
        for name in file.attributes:
            text = f"the attribute {name} of the File {file.id} is not kept"
            found = finding("E-FILE", text, line=file.line, section="SSS 5.1 Executable")
            yield replace(found, severity=Severity.WARNING)


def requested_jobs(blocks: Iterable[Block]) -> Iterator[RequestedJob]:
    """Each of ``jobs_of`` as it was requested: what was folded of a run is none. # decision 809"""
    for block in blocks:
        written = block.jobs if isinstance(block, JobGroup) else (block,)
        own = [each for each in written if isinstance(each, Job)]
        requested = beginning(block) if isinstance(block, Job | JobGroup) else block
        jobs, left, ran = jobs_of((requested,)), around(block, own), map(of_its_run, own)
        yield from starmap(RequestedJob, zip(jobs, left, ran, strict=True))


def jobs_of(blocks: Iterable[Block]) -> Iterator[Job]:
    """The jobs of job objects in their order, with the defaults and the policy of their groups."""
    for block in blocks:
        effective = resolve(block).block
        if isinstance(effective, Job):
            yield effective
        elif isinstance(effective, JobGroup):
            yield from (by_group(job, effective) for job in effective.jobs)


TRANSLATOR = SSS()
