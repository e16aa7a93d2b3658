"""Where the documents of jobs are: the files of a directory, or a store."""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from sssjob import atomic, store
from sssjob.condor.queue import encoded
from sssjob.condor.settings import Settings
from sssjob.document import dumps, read
from sssjob.document.splice import rewrite
from sssjob.errors import UnusableInput
from sssjob.model import Block, Job, JobGroup

SUFFIXES = (".xml", ".sss")
BY = "condor"  # who changes the documents of a store

Change = Callable[[Job], Job]


class Documents(Protocol):
    """Documents by name; each has a stamp that changes when it does."""

    def stamps(self) -> Iterator[tuple[str, str]]:
        """Every document with its stamp."""

    def blocks(self, name: str) -> list[Block]:
        """The Jobs and JobGroups of a document. Raises ``UnreadableDocument``."""

    def change(self, name: str, change: Change) -> bool:
        """Give every job of a document to ``change`` and keep what comes back; False if gone."""

    def add(self, job: Job) -> str:
        """Keep a job that no document is about, and give the name of its document."""

    def take(self, entry: str, silence: int) -> bool:
        """Claim a job for this machine, for so many seconds; False if another one has it."""

    def release(self, entry: str) -> None:
        """Give a claim up."""


def documents(settings: Settings) -> Documents:
    """The documents that the hooks are told of. Raises ``UnusableInput`` and ``UnusableStore``."""
    if os.path.isdir(settings.jobs):
        return _Directory(Path(settings.jobs))
    if store.is_store(settings.jobs) or os.path.isfile(settings.jobs):
        return _Store(settings.jobs)
    raise UnusableInput(f"{settings.jobs} is neither a directory of jobs nor a store")


def jobs_of(block: Block) -> tuple[Job, ...]:
    """The jobs in what stands outermost."""
    return (block,) if isinstance(block, Job) else block.blocks(Job)


class _Directory:
    """Files that hold one document each, or several."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def stamps(self) -> Iterator[tuple[str, str]]:
        with os.scandir(self.path) as entries:
            for each in entries:
                if each.name.endswith(SUFFIXES) and each.name[0] != "." and each.is_file():
                    status = each.stat()
                    yield each.name, f"{status.st_mtime_ns}.{status.st_size}"

    def blocks(self, name: str) -> list[Block]:
        return list(read(self.path / name))

    def change(self, name: str, change: Change) -> bool:
        source = self.path / name
        if not source.is_file():
            return False
        with atomic.writing(source) as stream:
            stream.writelines(rewrite(source, lambda block: changed(block, change)))
        return True

    def add(self, job: Job) -> str:
        name = f"{encoded(job.get('GlobalId') or job.id)}.xml"
        atomic.put(self.path, name, f"{dumps(job, indent=True)}\n".encode())
        return name

    def take(self, entry: str, silence: int) -> bool:
        return True  # the rename in the queue was the claim

    def release(self, entry: str) -> None:
        pass


class _Store:
    """The documents of a store, which the hooks of other machines may look at, too."""

    def __init__(self, address: str) -> None:
        self.address = address

    def stamps(self) -> Iterator[tuple[str, str]]:
        with store.open(self.address, read_only=True) as jobs:
            for found in jobs.documents():
                kind, id_, run = found.identity
                yield f"{kind}/{run or 1}/{id_}", str(found.version)

    def blocks(self, name: str) -> list[Block]:
        with store.open(self.address, read_only=True) as jobs:
            found = jobs.get(_identity(name))
        return [] if found is None else list(read(io.BytesIO(found.document)))

    def change(self, name: str, change: Change) -> bool:
        with store.open(self.address, by=BY) as jobs, jobs.change() as work:
            found = work.get(_identity(name))
            if found is None:
                return False
            with tempfile.NamedTemporaryFile() as copy:
                copy.write(found.document)
                copy.flush()
                pieces = rewrite(Path(copy.name), lambda block: changed(block, change))
                work.put(b"".join(pieces), replacing=found)
        return True

    def add(self, job: Job) -> str:
        with store.open(self.address, by=BY) as jobs, jobs.change() as work:
            kind, id_, run = work.put(job).identity
        return f"{kind}/{run or 1}/{id_}"

    def take(self, entry: str, silence: int) -> bool:
        with store.open(self.address, by=BY) as jobs, jobs.change() as work:
            if float(work.noted(_note(entry)) or 0) > time.time():
                return False
            work.note(_note(entry), str(time.time() + silence))
        return True

    def release(self, entry: str) -> None:
        with store.open(self.address, by=BY) as jobs, jobs.change() as work:
            work.note(_note(entry), "0")


def _identity(name: str) -> store.Identity:
    kind, run, id_ = name.split("/", 2)
    return store.Identity(kind, id_, int(run))


def _note(entry: str) -> str:
    """The claim of a job in a store: until when it holds, in seconds since 1970."""
    return f"condor/{entry.rpartition('~')[2]}"


def changed(block: Block, change: Change) -> Block:
    """A job, or a group with its jobs, as ``change`` gives them back."""
    if isinstance(block, Job):
        return change(block)
    if isinstance(block, JobGroup):
        return block.holding(change(item) if type(item) is Job else item for item in block.items)
    return block
