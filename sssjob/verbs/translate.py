"""Jobs of any source as a target takes them: read, translated one by one, and told of."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sssjob import registry
from sssjob.document import cause
from sssjob.document.attached import FileBudget
from sssjob.document.sources import NamedSource, content, naming
from sssjob.errors import Finding, InvalidValue, LimitExceeded, Severity, UnusableInput
from sssjob.model import Block, Item, Job, Property, Requested
from sssjob.records.record import Options
from sssjob.translate import (
    AUTO,
    Loss,
    Settings,
    Untranslatable,
    alternatives,
    read,
    recognise,
    translate,
    written,
)
from sssjob.translate.form import NO_PLACE
from sssjob.translate.translator import Reading, ReadingWithRun, RefusedReading
from sssjob.verbs import documents
from sssjob.verbs.records import Tell, nothing

_OTHERS = "it adds no line: other properties of the job already give the same ones"
MOST = 1 << 28  # bytes of one source, which is held whole
# How many elements ``explain`` translates again for one job: for each of it, and in any case.
EXPLAINED_FOR_EACH, EXPLAINED = 100, 100_000
_LETTERS = 64  # of a target's text that count as one more
_TOO_MANY = "elements that are translated again to explain one job"


@dataclass(frozen=True, slots=True)
class TranslationTask:
    """What is translated: from which source to which target, and how.

    ``every`` alternative of a request is written, instead of the best. ``beside`` gives the name of
    the file that a job is written to, by the number of its alternative: other files stand there.
    ``options`` say how records are read.
    """

    to: str
    source: str = AUTO
    settings: Settings = field(default_factory=Settings)
    every: bool = False
    select: str = ""
    beside: Callable[[Job, int], str] | None = None
    options: Options | None = None


class TranslatedJob(NamedTuple):
    """One job as its target takes it; without ``text`` where it is refused, and ``why``.

    ``file`` is what it was read from: a document of a directory or a store has its own name.
    """

    job: Job | None
    text: str = ""
    losses: tuple[Loss, ...] = ()
    findings: tuple[Finding, ...] = ()
    why: str = ""
    number: int = 0  # of the alternative
    files: Mapping[str, bytes] = {}  # that have to stand beside it
    file: str = ""


class Explained(NamedTuple):
    """A property, and what each target makes of it: the lines that say it, or why none does."""

    path: str
    value: str
    told: Mapping[str, str]


def run(
    work: TranslationTask, sources: Iterator[NamedSource], tell: Tell = nothing
) -> Iterator[TranslatedJob]:
    """Every job of the sources. Raises ``SSSJobError`` and ``OSError`` for what cannot be read.

    What is to be said of records goes to ``tell``.
    """
    for source in sources:
        budget = FileBudget()
        settings, found = _settings(work, readings(work, source, tell, budget))
        for file, each in found:
            for made in _translated(work, each, settings, budget):
                yield made._replace(file=file)


def _translated(
    work: TranslationTask, each: Reading, settings: Settings, budget: FileBudget
) -> Iterator[TranslatedJob]:
    """What becomes of one job; one that would get more Files than the ``budget`` has is refused."""
    if each.job is None:
        wrong = any(item.severity is Severity.ERROR for item in each.findings)
        yield TranslatedJob(None, findings=each.findings, why="it cannot be read" * wrong)
    elif work.select not in ("", each.job.id):
        return
    elif isinstance(each, RefusedReading):
        why = "what stands around it is not understood"
        yield TranslatedJob(each.job, findings=each.findings, why=why)
    else:
        if each.files:
            settings = replace(settings, files={**settings.files, **each.files})
        try:
            budget.take(sum(map(len, each.files.values())))
        except LimitExceeded as error:
            yield TranslatedJob(each.job, findings=each.findings, why=str(error))
        else:
            ran = each.ran if isinstance(each, ReadingWithRun) else None
            yield from _written(work, each.job, settings, each.findings, ran)


def readings(
    work: TranslationTask,
    source: NamedSource,
    tell: Tell = nothing,
    budget: FileBudget | None = None,
) -> Iterator[tuple[str, Reading]]:
    """What a source says of each job, with the name of what says it.

    A store and a directory are the documents in it, and so are records of a batch system: what
    else is to be said of them goes to ``tell``, and what was read counts for the ``budget``. Raises
    as ``run`` does.
    """
    for name, data, from_ in _documents(work, source, tell):
        if budget is not None:
            budget.read += len(data)
        if not data.strip():
            yield name, Reading(None, (cause.empty().finding,))
            continue
        with naming(name):
            for found in read(data, from_, work.settings):
                yield name, found


def _documents(
    work: TranslationTask, source: NamedSource, tell: Tell
) -> Iterator[tuple[str, bytes, str]]:
    """The documents of a source, or its script: the name, the bytes, and what they are."""
    if work.source not in (AUTO, documents.DOCUMENTS):
        yield source.name, content(source, MOST), work.source
        return
    for file in documents.inside(source, tell):
        with naming(file.name):
            data = content(file, MOST)
            if work.source != AUTO or not data.strip():
                yield file.name, data, work.source
                continue
            try:
                yield file.name, data, recognise(data)
                continue
            except UnusableInput:
                if (found := documents.recognise(data)) is None:
                    yield file.name, data, AUTO
                    continue
        records = file._replace(given=io.BytesIO(data))
        for record in documents.converted(found, records, tell, work.options):
            yield record.name, content(record, MOST), documents.DOCUMENTS


def _settings(
    work: TranslationTask, found: Iterable[tuple[str, Reading]]
) -> tuple[Settings, Iterable[tuple[str, Reading]]]:
    """Settings with what the target has to know of all jobs, where it has to know them."""
    target = written(work.to)
    if not target.whole:
        return work.settings, found
    every = list(found)
    jobs = [
        each.job for _, each in every
        if each.job is not None and work.select in ("", each.job.id)
    ]  # fmt: skip
    return replace(work.settings, context=target.context(jobs)), every


def of_job(job: Job, to: str) -> TranslatedJob:
    """One job as a target takes it, the best of its alternatives, without a way back."""
    return next(_written(TranslationTask(to), job, Settings(residual=False), ()))


def _written(
    work: TranslationTask, job: Job, settings: Settings, findings: tuple[Finding, ...],
    ran: Job | None = None,
) -> Iterator[TranslatedJob]:  # fmt: skip
    """Each alternative once: where a target can say a choice, several have the same text."""
    seen: set[str] = set()
    numbers: range | tuple[None] = range(alternatives(job)) if work.every else (None,)
    for number in numbers:
        if work.beside is not None:
            settings = replace(settings, beside=work.beside(job, number or 0))
        try:
            found = translate(job, work.to, settings, alternative=number, ran=ran)
        except Untranslatable as refused:
            yield TranslatedJob(
                job, "", refused.losses, findings, f"{work.to} cannot hold all of it"
            )
        except InvalidValue as error:
            yield TranslatedJob(job, "", (), findings, str(error))
        else:
            text, losses = found
            if text not in seen:
                told = _once(findings, losses)
                yield TranslatedJob(job, text, losses, told, "", number or 0, found.files)
            seen.add(text)
        findings = ()


def _once(findings: Iterable[Finding], losses: Iterable[Loss]) -> tuple[Finding, ...]:
    """What was found in a script, but for options that a loss of the same line tells of."""
    lost = {(loss.line, loss.named.split(" ")[0]) for loss in losses if loss.is_told}
    return tuple(
        found for found in findings
        if not found.message.endswith(NO_PLACE)
        or (found.line, found.message.split(" ")[0]) not in lost
    )  # fmt: skip


def explain(job: Job, settings: Settings) -> Iterator[Explained]:
    """What each target makes of every property: the lines that change when it is left out.

    Raises ``LimitExceeded`` behind the last one that is explained, where there are more.
    """
    targets = [name for name, row in registry.all_targets().items() if row.writes]
    plain = replace(settings, residual=False)
    whole = {name: _text(job, name, plain) for name in targets}
    reasons = {name: _reasons(each) for name, each in whole.items()}
    most = left = max(EXPLAINED, EXPLAINED_FOR_EACH * _size(job))
    again = _again(job, whole.values())
    for path, item, without in _without(job):
        if (left := left - again) < 0:
            raise LimitExceeded(_TOO_MANY, most)
        told = {}
        for name, (lines, _, wrong) in whole.items():
            gone = {*_text(without, name, plain).lines} if lines else set()
            said = [line.strip() for line in lines if line not in gone]
            why = reasons[name].get(path, [])[:1] + [wrong] * bool(wrong)
            if lines and not gone:
                said = [line.strip() for line in lines if item.text in line]
            why += [_OTHERS]
            told[name] = "; ".join(said[:3]) or f"- {why[0]}"
        yield Explained(path, item.text, told)


def _reasons(found: _TargetText) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for loss in found.losses:
        reasons.setdefault(loss.path, []).append(loss.reason)
    return reasons


def _size(item: Item) -> int:
    """How many elements there are, with those in properties that nobody knows."""
    inside: tuple[Item, ...] = ()
    if isinstance(item, Block | Property):
        inside = item.items if isinstance(item, Block) else item.children
    return 1 + sum(map(_size, inside))


def _again(job: Job, whole: Iterable[_TargetText]) -> int:
    """What it costs to translate about as much again to each target that takes it."""
    once = _size(job) + _matched(job)
    written = [sum(map(len, each.lines)) for each in whole if each.lines]
    return once + sum(once + letters // _LETTERS for letters in written)


def _matched(job: Job) -> int:
    """How many pairs of a pattern and a name there are, which each translation compares."""
    asked = [each for block in job.blocks(Requested) for each in block.properties]
    patterns = sum(each.said("op") == "Match" for each in asked)
    return patterns * (len(asked) - patterns)


class _TargetText(NamedTuple):
    """The lines of a target; without any, what refuses the job, or why it cannot be written."""

    lines: list[str]
    losses: tuple[Loss, ...] = ()
    wrong: str = ""


def _text(job: Job, to: str, settings: Settings) -> _TargetText:
    try:
        text, losses = translate(job, to, settings)
    except Untranslatable as refused:
        return _TargetText([], refused.losses, f"{to} cannot hold all of it")
    except (InvalidValue, UnusableInput) as error:
        return _TargetText([], (), str(error))
    return _TargetText(text.splitlines(), losses)


def _without(job: Job) -> Iterator[tuple[str, Property, Job]]:
    """Each property of a job and of its requests, with the job that lacks it."""
    for place, item in enumerate(job.items):
        before, behind = job.items[:place], job.items[place + 1 :]
        if isinstance(item, Property):
            yield f"/Job/{item.name}", item, job.holding((*before, *behind))
        elif isinstance(item, Requested):
            for inner, each in enumerate(item.items):
                if isinstance(each, Property):
                    less = item.holding((*item.items[:inner], *item.items[inner + 1 :]))
                    path = f"/Job/Requested/{each.name}"
                    yield path, each, job.holding((*before, less, *behind))
