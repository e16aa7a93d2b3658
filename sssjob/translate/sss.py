"""Job objects themselves as a target and a source, with the files that travel beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import NamedTuple

from sssjob.defaults import resolve
from sssjob.document import dumps
from sssjob.document.bundle import Bundle, File, bundles
from sssjob.errors import Finding, UnreadableDocument
from sssjob.model import Block, Job, JobGroup, Property
from sssjob.translate.requests import Asked
from sssjob.translate.translator import Read, Settings, Translator

NO_ID = "new"  # the Id of a job that has neither an id nor a name

_JOB = re.compile(rb"<(?:[\w.-]+:)?(?:Job|JobGroup)[\s>/]")
_OTHER = re.compile(rb"<(?:[\w.-]+:)?(?:Job_Id|JobDefinition|JobDescription|UsageRecord)[\s>/]")


class Message(NamedTuple):
    """A job, and the files that it came with."""

    job: Job
    files: Mapping[str, bytes]


class SSS(Translator[Message]):
    """XML of the SSS Job Object Specification."""

    name = "sss"
    suffix = ".xml"
    joins = True

    def compose(self, asked: Asked, settings: Settings) -> Message:
        """The job as it is; everything has its place. One that was never submitted gets an Id."""
        asked.everything()
        job = asked.job
        if not job.id:
            job = job.holding((Property("Id", job.get("Name") or NO_ID), *job.items))
        return Message(job, settings.files)

    def dump(self, form: Message) -> str:
        """The job, in a message with its files if it has any."""
        if not form.files:
            return f"{dumps(form.job, indent=True)}\n"
        files = {id_: File(id_, content) for id_, content in form.files.items()}
        return f"{Bundle((form.job,), files).dumps()}\n"

    def load(self, data: bytes) -> Iterator[Message | Finding]:
        """Every job of every document, its defaults resolved."""
        if not data.strip():
            return
        try:
            for bundle in bundles(BytesIO(data)):
                files = {id_: file.content for id_, file in bundle.files.items()}
                for job in jobs_of(bundle.blocks):
                    yield Message(job, files)
        except UnreadableDocument as error:
            yield error.finding

    def job(self, form: Message, settings: Settings) -> Read:
        """The job."""
        return Read(form.job, (), form.files)

    def recognises(self, head: bytes) -> str:
        """An element Job or JobGroup, where nothing says that it is another's."""
        found = _JOB.search(head) if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<" else None
        return "an element Job" if found and not _OTHER.search(head) else ""


def jobs_of(blocks: Iterable[Block]) -> Iterator[Job]:
    """The jobs of job objects in their order, with the defaults and the policy of their groups."""
    for block in blocks:
        effective = resolve(block).block
        if isinstance(effective, Job):
            yield effective
        elif isinstance(effective, JobGroup):
            policy = effective.attributes.get("awarenessPolicy")
            for job in effective.jobs:
                stated = "awarenessPolicy" in job.attributes or policy is None
                yield (
                    job
                    if stated
                    else Job(job.items, {**job.attributes, "awarenessPolicy": policy or ""})
                )


TRANSLATOR = SSS()
