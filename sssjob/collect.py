"""Jobs of a batch system that have ended: what is known of them goes into their documents.

The epilog folds the directories of a job and what was measured; accounting records are complete
some seconds later, and are collected then. Both write a document under its lock, whole.
"""

from __future__ import annotations

import io
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from sssjob import directory_handles as handles
from sssjob import outputs, registry
from sssjob.delivery.document import Delivery, Tally, by_run
from sssjob.delivery.records import PlacedRecord
from sssjob.document import Source, read
from sssjob.document.sources import NamedSource, naming
from sssjob.errors import Finding, Severity, SSSJobError, UnreadableDocument, UnusableInput
from sssjob.features import status
from sssjob.features.batch import documents, sampling
from sssjob.features.batch.allocation import Allocation
from sssjob.features.batch.call import Invocation
from sssjob.features.batch.directories import Directories
from sssjob.features.status import StatusSnapshot
from sssjob.features.used import Used
from sssjob.fold import identities
from sssjob.model import Job, JobGroup, jobs_of
from sssjob.registry import Format
from sssjob.runs import CLOCKS

LOCK = 10.0  # seconds that others may keep the lock of a directory of documents
SETTLE = 10  # seconds after the end of a job in which its record may not be complete
_UNFOLDED = "{} is kept, as it is not folded: {}"
_NO_DOCUMENTS = "--documents says where its document is"
HALF = 3600  # seconds after which a record that looks incomplete is as complete as it gets


class DirectoryOutcome(StrEnum):
    """What became of the directories of a job."""

    REMOVED = "removed"
    KEPT = "kept"  # for ``fold_left``
    NOTHING = "nothing is there"
    OF_NEXT_RUN = "what is there is of its next run, and stays"


@dataclass(frozen=True, slots=True)
class Ended:
    """What an epilog did: how much was folded (None: nothing was to be), and what went wrong."""

    job_id: str
    left: DirectoryOutcome
    tally: Tally | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Collected:
    """A document, the ids of its jobs that have no record yet, and what was folded now."""

    document: Path
    waiting: tuple[str, ...]
    tally: Tally | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class KnownRecords:
    """Records by identity of their job, and what is wrong with others that cannot be read."""

    records: dict[str, list[PlacedRecord]] = field(default_factory=lambda: defaultdict(list))
    bad: list[Finding] = field(default_factory=list)


def end(call: Invocation, root: Path, jobs: str = "") -> Ended:
    """Fold the directories of the job that calls into its document, and take them away.

    Where that cannot be, whatever the reason is (a full disk, a server that is gone, a directory
    that others can write, a job of another Id, a document that is not there any more, or nobody who
    says where documents are), they are kept, for ``fold_left``; what a refused document would have
    had is not, as nobody would mend it for one job, and its accounting record is still to come. A
    note says either. What an epilog before this one kept goes only when it was folded. What one of
    several nodes gave is not what the job had, so only its record tells that. Raises
    ``InvalidValue`` where no job calls, ``Unprotected`` where others could lead root elsewhere, or
    ``OSError``.
    """
    job = call.allocation(asking=False)
    directories = Directories(root, job.job_id)
    notes: list[str] = []
    handles.check(root)
    with directories.held() as held:  # a next run of the job may begin before this one is done
        if directories.is_kept:  # by an epilog before this one: what it knew counts
            done = fold_left(call.system, root, jobs, job.job_id, held)
        elif directories.is_described or (jobs and _is_alone(call, job, jobs, notes)):
            done = _end(call, job, directories, jobs, held)
        else:
            done = Ended(job.job_id, DirectoryOutcome.REMOVED, notes=tuple(notes))
        if done.left is DirectoryOutcome.REMOVED:
            done = replace(done, left=_taken_away(directories, held))
        return done


def _is_alone(call: Invocation, job: Allocation, jobs: str, notes: list[str]) -> bool:
    """Whether a job has no other node, so that what this one has is what the job has.

    Some systems tell it only who asks: the prolog does, and noted it, if it was answered.
    """
    if job.alone is not None or documents.is_absent(documents.place(jobs, job.job_id)):
        return bool(job.alone)
    asked = call.allocation()
    if asked.alone is None:
        why = f"{call.system} does not say whether job {job.job_id} had other nodes"
        notes += [f"{why}: nothing of it is folded", *asked.notes]
    return bool(asked.alone)


def _taken_away(directories: Directories, held: int | None) -> DirectoryOutcome:
    """What becomes of directories that are to go: what is there may not be those that are held."""
    if directories.remove_held(held):
        return DirectoryOutcome.REMOVED
    return (
        DirectoryOutcome.OF_NEXT_RUN
        if os.path.lexists(directories.job)
        else DirectoryOutcome.NOTHING
    )


def _end(
    call: Invocation, job: Allocation, directories: Directories, jobs: str, held: int | None
) -> Ended:
    document = documents.place(jobs, job.job_id)
    notes: list[str] = []
    tally = None
    # Before anything is asked of where the documents are: whatever waits there, or ends this
    # process, costs no job what is known of it. Nor is their lock taken while a user has that of
    # the status.
    snapshot = None if held is None else _status(directories.jobstatus, notes)
    used = call.used() or sampling.last(call, directories, job.node, job.user)
    unkept = _keep(directories, held, used, snapshot)
    left = DirectoryOutcome.REMOVED
    try:
        if not jobs:
            _check_run(directories, held)
            raise UnusableInput(_NO_DOCUMENTS)
        is_there = not documents.is_absent(document)
        if is_there and not unkept:
            directories.describe()
        if is_there or directories.is_described:
            handles.check(jobs)
            documents.check(document)
            with documents.locked(document, LOCK):
                documents.described(document, job.job_id)  # there is one
                tally = _fold(document, directories, held, snapshot, call.system, used)
                notes += _refused(document, tally)
    except (OSError, SSSJobError) as error:
        notes.append(_said(error, document if jobs else directories.job))
        if directories.is_held(held) and not unkept:
            left = DirectoryOutcome.KEPT
        elif directories.is_held(held):
            notes.append(f"{directories.job} is removed, and not folded: {unkept}")
    if left is DirectoryOutcome.KEPT:
        how = f"sssjob features sweep --documents {jobs or 'DIR'} folds it"
        notes.append(f"{directories.job} is kept: {how}")
        # What of the status cannot be read is not kept, and told by nobody later.
        found = snapshot.findings if snapshot is not None else ()
        notes += [f"{directories.jobstatus}: {each.message}" for each in found]
    return Ended(job.job_id, left, tally, tuple(notes))


def _keep(
    directories: Directories, held: int | None, used: Used | None, snapshot: StatusSnapshot | None
) -> str:
    """Keep what is known of a job until it can be folded; why that cannot be, "" if it is."""
    try:
        if not directories.is_held(held):
            return "it is not there any more"
        if used is not None:
            sampling.keep(directories, used, time.time())
        directories.keep(status.dumps(snapshot))
    except (OSError, SSSJobError) as error:
        return _said(error, directories.job)
    return ""


def fold_left(
    system: str, root: Path, jobs: str, job_id: str, held: int | None, *, dry_run: bool = False
) -> Ended:
    """Fold the directories that an epilog kept, and that are ``held``; they are to go then.

    With ``dry_run`` the document is written all the same, but not put in its place. Raises
    ``Unprotected`` where others could lead root elsewhere, or ``OSError``.
    """
    directories = Directories(root, job_id)
    document = documents.place(jobs, job_id)
    try:
        if not jobs:
            raise UnusableInput(_NO_DOCUMENTS)
        handles.check(jobs)
        if documents.is_absent(document):  # moved, or of a file system that is not mounted
            raise UnusableInput(f"it is not there; sweep --discard {job_id} gives it up")
        documents.check(document)
        snapshot = status.loads(directories.kept(), str(directories.jobstatus))
        used = sampling.kept(directories)
        with documents.locked(document, LOCK):
            if not os.path.lexists(directories.job):
                return Ended(job_id, DirectoryOutcome.REMOVED)  # another one folded it meanwhile
            documents.described(document, job_id)  # there is one
            tally = _fold(document, directories, held, snapshot, system, used, dry_run=dry_run)
    except (OSError, SSSJobError) as error:
        why = _said(error, document) if jobs else str(error)
        return Ended(job_id, DirectoryOutcome.KEPT, None, (_UNFOLDED.format(directories.job, why),))
    refused = tuple(_UNFOLDED.format(directories.job, each) for each in _refused(document, tally))
    return Ended(
        job_id, DirectoryOutcome.KEPT if refused else DirectoryOutcome.REMOVED, tally, refused
    )


def collect(
    jobs: Path, records: Mapping[str, Iterable[PlacedRecord]], *, now: int, settle: int = SETTLE,
    done: Path | None = None,
) -> Iterator[Collected]:  # fmt: skip
    """Fold the records of jobs into documents whose jobs have no EndTime, one by one.

    ``records`` are by identity of the job. One that may not be complete ``now`` waits. A document
    all of whose jobs have ended moves into the directory ``done``, if one is given, also where they
    had before, and it could not be moved then. Raises ``Unprotected`` for a directory that others
    can write.
    """
    if done is not None:
        handles.check(done)
    for document, ids in _all(jobs):
        if not ids and done is None:
            continue
        try:
            with documents.locked(document, LOCK):
                work = Delivery(document)
                work.look()
                for identity in work.wanted:
                    last, before = by_run(records.get(identity, ()))  # one requeued has not ended
                    work.records[identity] += (
                        each for each in last if is_settled(each.job, now, settle)
                    )
                    work.earlier[identity] += before
                if any(work.records.values()):
                    _write(document, work)
                rest = _without_end(document)
            if rest == () and done is not None:
                document.replace(done / document.name)
        except (OSError, SSSJobError) as error:
            yield Collected(document, ids, note=_said(error, document))
        else:
            told = _refused(document, work.tally) + _earlier(work.tally)
            note = "; ".join(told)
            yield Collected(
                document, rest or (), work.tally if work.tally.delivered else None, note
            )


def waiting(
    jobs: Path, tell: Callable[[str], None] | None = None
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The documents of a directory with jobs that have not ended, and their ids.

    One that cannot be read has none; ``tell`` is called with the reason. Raises ``Unprotected``
    for a directory that others can write.
    """
    yield from ((document, ids) for document, ids in _all(jobs, tell) if ids)


def _all(
    jobs: Path, tell: Callable[[str], None] | None = None
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The same with documents all of whose jobs have ended, which have no such ids."""
    handles.check(jobs)
    for document in sorted(jobs.glob("*.xml")):
        try:
            ids = _without_end(document)
        except (OSError, UnreadableDocument) as error:
            if tell is not None:
                tell(_said(error, document))
            continue
        if ids is not None:
            yield document, ids


def ask(
    system: str, ids: Iterable[str], environment: Mapping[str, str], *, seconds: float
) -> KnownRecords:
    """What a batch system that can be asked knows about jobs. Raises ``CommandFailed``."""
    row = registry.system(system)
    names = list(ids)
    found = KnownRecords()
    for command, printed in row.load("ended")(names, environment, seconds):
        _take(found, row.formats[0], printed, command, names)
    return found


def read_records(
    system: str, sources: Iterable[NamedSource], ids: Iterable[str], zone: str = ""
) -> KnownRecords:
    """What accounting files tell about jobs. Raises ``UnusableSource``, ``OSError``."""
    found = KnownRecords()
    names = list(ids)
    format_ = registry.system(system).formats[0]
    for source in sources:
        with naming(source.name):
            _take(found, format_, source.given, source.name, names, zone)
    return found


def is_settled(record: Job, now: int, settle: int = SETTLE) -> bool:
    """Whether a record is about a job that has ended, and complete.

    For a second or two after a short job Slurm calls it "allocation" and knows no memory.
    """
    end = record.get("EndTime")
    if not end or int(end) > now - settle:
        return False
    half = record.get("Name") == "allocation" and record.requested.get("Memory") is None
    return not half or int(end) < now - HALF


def _take(
    found: KnownRecords, format_: Format, source: Source, name: str,
    ids: Iterable[str], zone: str = "",
) -> None:  # fmt: skip
    """Records about some jobs, by every identity that they have."""
    reader = Delivery(os.devnull)
    reader.wanted = set(ids)
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    reader.take_records(stream, name, format_, zone)
    for identity, records in reader.records.items():
        found.records[identity] += records
    found.bad.extend(item for item in reader.tally.findings if item.severity is Severity.ERROR)


def _status(place: Path, notes: list[str]) -> StatusSnapshot | None:
    """What the pilot said; what a user wrote there costs only itself."""
    if not place.is_dir():
        return None
    try:
        return status.read(place)
    except status.LockTimeout as error:  # the job has ended: what it said last stands there
        notes.append(_said(error, place))
        return error.snapshot if error.snapshot.values else None
    except (OSError, SSSJobError) as error:
        notes.append(_said(error, place))
        return None


def _fold(
    document: Path, directories: Directories, held: int | None, snapshot: StatusSnapshot | None,
    system: str, used: Used | None, *, dry_run: bool = False,
) -> Tally:  # fmt: skip
    """Fold what is known of a job; all of it is of the directories that are ``held``, or nothing.

    Raises ``UnusableInput`` where a next run of the job has begun, ``UnreadableDocument``, or
    ``OSError``.
    """
    work = Delivery(document, same_start=CLOCKS)  # each start is what a prolog has written
    work.look()
    if directories.jobfeatures.is_dir():
        work.take_features(str(directories.jobfeatures))
    if snapshot is not None:
        work.take_snapshot(snapshot, str(directories.jobstatus))
    if used is not None:
        work.take_used(used, f"the {system} epilog")
    _check_run(directories, held)  # behind all that was read
    if work.sources:
        _write(document, work, dry_run=dry_run)
    return work.tally


def _check_run(directories: Directories, held: int | None) -> None:
    """Raise ``UnusableInput`` where directories were made anew since they were held."""
    if not directories.is_held(held) and os.path.lexists(directories.job):
        raise UnusableInput(f"the next run of job {directories.job_id} has begun")


def _refused(document: Path, tally: Tally) -> list[str]:
    """That nothing was folded into a job for what is not understood in it."""
    told = [item.message for item in tally.findings if item.code == "E-UNKNOWN"]
    return [f"{document}: refused: {'; '.join(told)}"] if tally.refused else []


def _earlier(tally: Tally) -> list[str]:
    """That a record was there and is of an earlier run, where it was the only one."""
    if tally.delivered:
        return []
    return [each.message for each in tally.findings if each.code == "W-USELESS"]


def _said(error: OSError | SSSJobError, place: Path) -> str:
    """What went wrong, and where."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or place}: {error.strerror}"
    text = str(error)
    return text if text.startswith(str(place)) else f"{place}: {text}"


def _write(document: Path, work: Delivery, *, dry_run: bool = False) -> None:
    """Put what was folded in the place of a document, if that differs; a link is left alone.

    With ``dry_run`` all is done but the last step, so that what would fail does.
    """
    with outputs.writing(document, follow=False) as stream:
        stream.writelines(work.pieces())
        if dry_run or not work.tally.changes:
            raise outputs.Unchanged


def _without_end(document: Path) -> tuple[str, ...] | None:
    """The ids of the jobs of a document that have not ended.

    None where it has no job, or one that has neither ended nor an id.
    """
    documents.check(document)
    blocks = (block for block in read(document) if isinstance(block, Job | JobGroup))
    jobs = [
        (identities(job), "EndTime" in job.properties.names())
        for block in blocks
        for job in jobs_of(block)
    ]
    rest = [names for names, has_ended in jobs if not has_ended]
    return tuple(sorted(set().union(*rest))) if jobs and all(rest) else None
