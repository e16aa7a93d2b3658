"""From a job object to a target and back: composing, refusing, reading back, keeping the rest."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from sssjob import registry
from sssjob.amounts import Scope
from sssjob.check.awareness import Understood, UnknownKind, understood
from sssjob.defaults import resolve
from sssjob.defaults.overriding import without_overridden
from sssjob.document import cause
from sssjob.errors import Finding, UnusableInput, of_kind
from sssjob.features.folded import as_requested, of_its_run
from sssjob.model import BLOCKS, Job, Property
from sssjob.translate import arrays, contradictions, residual
from sssjob.translate.alternatives import Refusal, not_refused
from sssjob.translate.arrays import NO_ARRAYS, Spelling
from sssjob.translate.form import TASK_GROUP
from sssjob.translate.losses import Done, Loss, Untranslatable, told
from sssjob.translate.outlines import Outlines, listed
from sssjob.translate.requests import JobRequest
from sssjob.translate.status import source, sources
from sssjob.translate.translator import (
    Reading,
    ReadingWithRun,
    RefusedReading,
    Settings,
    Translation,
    Translator,
)

AUTO, DOCUMENTS = "auto", "sss"

_HEAD = 1 << 16
_OUTLINES = Outlines()
_OF_A_RUN = "a run of the job was given it, or told it: nobody asked for it"


def translator(name: str) -> Translator[Any]:
    """The translator of a name. Raises ``UnusableInput``."""
    return _translator(name, records=True)


def written(name: str) -> Translator[Any]:
    """The translator of a name that something is written for. Raises ``UnusableInput``.

    A word for records of a batch system is a name of what is read, and of nothing that is written.
    """
    if name in registry.targets():  # most are, and this is asked for each job
        return _translator(name, records=False)
    row = registry.of_records(name)
    if row is not None and name not in registry.all_targets():
        raise UnusableInput(
            f"{name} names records of {row.title}, which are read (--from {name}) and not written"
            f"; did you mean {row.name}?"
        )
    return _translator(name, records=False)


def _translator(name: str, *, records: bool) -> Translator[Any]:
    """The translator of a name; with ``records``, words for records are among those there are."""
    row = registry.targets().get(name) or _first(name) or registry.all_targets().get(name)
    if row is None and (shown := source(name)) is not None:
        return shown
    if row is None:
        rows = registry.all_targets()
        written_to = (each for each, target in rows.items() if target.writes)
        known = tuple(dict.fromkeys((*rows, *sources()) if records else written_to))
        raise registry.unknown(name, "form of jobs", known, _has_targets, 4, records=records)
    return _loaded(row)


def _has_targets(row: registry.System) -> object:
    return row.targets


@cache
def _targets() -> dict[str, registry.Target]:
    """Every target, looked for once: a job may have many Extensions of unknown types."""
    return registry.all_targets()


def _spelling(kind: str) -> Spelling:
    """How the target spells arrays of which an Extension is, by its type."""
    row = registry.targets().get(kind) or _targets().get(kind)
    try:
        return _loaded(row).array if row is not None else NO_ARRAYS
    except UnusableInput:
        return NO_ARRAYS  # it will be told to whoever names it


def _first(name: str) -> registry.Target | None:
    """The first target of a batch system, by a word for it."""
    system = registry.called(name)
    return system.targets[0] if system is not None and system.targets else None


@lru_cache
def _loaded(row: registry.Target) -> Translator[Any]:
    found = row.load()
    if not isinstance(found, Translator):
        raise UnusableInput(f"the target {row.name} is no Translator")
    return found


def alternatives(job: Job) -> int:
    """How many alternatives a job has with its only task group; 1 for a job without any."""
    effective = resolve(job).block
    assert isinstance(effective, Job)
    known = _understood(effective, Settings())
    block, _ = without_overridden(known.block)
    return max(len(Scope(block, "/Job", lambda found: None).choices), 1)


def translate(
    job: Job, to: str, settings: Settings | None = None, *, alternative: int | None = None,
    ran: Job | None = None,
) -> Translation:  # fmt: skip
    """A job as a target takes it, and what the target does not hold.

    Of alternatives the best one is written, or that of a number. What was folded into the job of a
    run is no request, and is listed instead; ``ran`` is that of a job which was taken without it.
    # decision 809

    Raises ``Untranslatable`` where the job says Reject of something that would be left out, and
    ``InvalidValue`` for a job that cannot be written at all.
    """
    of_kind(job, Job, "a job")
    of_kind(to, str, "the name of a target")
    of_kind(settings, Settings | None, "settings")
    of_kind(alternative, int | None, "the number of an alternative")
    of_kind(ran, Job | None, "what is told of a run")
    settings = settings or Settings()
    target = written(to)
    ran, job = ran or of_its_run(job), as_requested(job)
    run = [] if ran is None else [*_of_a_run(ran, job.id, to, settings)]
    told_of = listed(job, settings.unstated) if alternative is None else None
    asked = None if told_of is None else _OUTLINES.asked(job, told_of, settings.unstated)
    if asked is not None:
        form = target.compose(asked, settings)
        contradictions.tell(asked)
        return _translation(
            job, asked, form, to, settings, [*asked.losses(to, kept=settings.residual), *run]
        )
    effective = resolve(job).block
    assert isinstance(effective, Job)
    element = arrays.flattened(effective, target.array)
    array, mine = arrays.kept(element, _spelling), None
    if array is not None and array.kind != target.name and target.array.option:
        element, mine = arrays.respelled(element, array)
    known = _understood(element, settings)
    block, overridden = without_overridden(known.block)
    is_as_it_stands = effective is element is job and array is None and not known.items

    def written_as(number: int | None) -> _AsWritten:
        found: list[Finding] = []
        scope = Scope(block, "/Job", found.append, number=number)
        asked = JobRequest(element, scope, settings.unstated, overridden=overridden)
        if told_of is not None and is_as_it_stands:
            _OUTLINES.learn(told_of, asked)
        form = target.compose(asked, settings)
        if array is not None and mine is not None:
            _indexed(asked, mine, array.spelling.variable, target.array.variable)
        asked.required(found)
        asked.tell_conflicts()
        contradictions.tell(asked)
        losses = list(asked.losses(to, kept=settings.residual))
        if not asked.holds_everything:
            said = {loss.path for loss in losses}
            losses += _not_understood(known, asked, to, settings, said)
        return _AsWritten(asked, form, losses)

    made = written_as(alternative)
    if alternative is None:
        made = not_refused(made.asked.scope, made, written_as)
    losses = [*made.losses, *run]
    return _translation(effective, made.asked, made.form, to, settings, losses)


class _AsWritten(NamedTuple):
    """What is written of one alternative of a job, and what the target does not hold of it."""

    asked: JobRequest
    form: Any
    losses: list[Loss]

    @property
    def refusals(self) -> list[Refusal]:
        """What refuses the job."""
        return [Refusal(loss.path, loss.value) for loss in self.losses if loss.refuses]


def _of_a_run(ran: Job, id_: str, to: str, settings: Settings) -> Iterator[Loss]:
    """What a job says of a run of it, which nobody asked for: it refuses nothing."""
    found = JobRequest(ran, Scope(ran, "/Job", lambda found: None), settings.unstated)
    for loss in found.losses(to):
        yield loss._replace(reason=_OF_A_RUN, fact=True, job=id_)


def _indexed(asked: JobRequest, array: Property, from_: str, to: str) -> None:
    """Tell where an element of an array finds its index, if that is elsewhere."""
    if from_ != to:
        text = f"the index of an element is in ${to}, not in ${from_}"
        asked.convert("Extension", text, lambda item: item is array)


def _translation(
    effective: Job, asked: JobRequest, form: Any, to: str, settings: Settings, losses: list[Loss]
) -> Translation:  # fmt: skip
    """What is written, with what does not come back by itself. Raises ``Untranslatable``."""
    target = translator(to)
    if any(loss.refuses for loss in losses):
        raise Untranslatable(to, told(losses))
    if settings.residual:
        back, sure = target.doubtful(form, settings)
        if asked.files:  # whoever reads the text has the file, and not what it was made of
            effective = _named(effective, back)
        form = target.keep(form, residual.patch(effective, back, sure))
    return Translation.of(target.dump(form), told(losses), asked.files)


def read(data: bytes, from_: str = AUTO, settings: Settings | None = None) -> Iterator[Reading]:
    """The jobs in some bytes, each with what is wrong or worth knowing.

    Without a name the source is recognised. Raises ``UnusableInput``, and ``UnreadableDocument``
    for what is empty or no text.
    """
    settings = settings or Settings()
    if from_ == AUTO:
        try:
            from_ = recognise(data)
        except UnusableInput:
            if not cause.begins_document(data[:_HEAD]):
                raise
            from_ = DOCUMENTS
    source = _source(data, from_)
    for form in source.load(data):
        if isinstance(form, Finding):
            yield Reading(None, (form,))
            continue
        lines = source.kept(form) if settings.residual else ()
        for found in source.jobs(form, settings):
            job, findings = residual.apply(found.job, lines) if lines else (found.job, ())
            if settings.arrays == TASK_GROUP:
                job, more = arrays.grouped(job, source.array.kind or source.name, source.array)
                findings = (*findings, *more)
            kind = RefusedReading if found.refused else Reading
            reading = kind(job, (*found.findings, *findings), found.files)
            if found.ran is None or found.refused:
                yield reading
            else:
                yield ReadingWithRun.of(reading, found.ran)


def _named(job: Job, back: Job) -> Job:
    """A job whose program is the file that is written."""
    return job.setting(Property("Executable", back.get("Executable")))


def _source(data: bytes, name: str) -> Translator[Any]:
    """The source of a name; where a system's status goes by it, too, the data tells which."""
    found = translator(name)
    shown, head = source(name), data[:_HEAD]
    if shown is not None and shown.recognises(head) and not found.recognises(head):
        return shown
    return found


def recognise(data: bytes) -> str:
    """The name of the source that some bytes are. Raises ``UnusableInput``."""
    rows = sorted(registry.all_targets().values(), key=lambda row: row.sign)
    known = ((row.name, row.load) for row in rows)
    shown = ((name, each.row.load) for name, each in sources().items())
    for name, load in (*known, *shown):
        try:
            found = load()
        except UnusableInput:
            continue  # it will be told to whoever names it
        if found.recognises(data[:_HEAD]):
            return name
    raise UnusableInput(
        "neither a job object nor a script of a known batch system; name what it is: --from"
    )


def _understood(job: Job, settings: Settings) -> Understood[Job]:
    """A job without what nobody understands, by whose request it is written (9.0)."""
    return understood(job, around=settings.unstated)


def _not_understood(
    known: Understood[Job], asked: JobRequest, to: str, settings: Settings, said: Container[str]
) -> Iterator[Loss]:
    """What a job is written without, beside what is said already, by its path.

    Properties are lost because no option holds them, and so are words outside of requests, with
    their elements.
    """
    done = Done.RESIDUAL if settings.residual else Done.DROPPED
    for item in known.items:
        of, _, _ = item.path.rpartition("/@")
        is_word = item.kind is UnknownKind.VALUE and "/Requested/" not in item.path
        is_said = item.path in said or (is_word and of in said)
        # Properties are lost as what no option holds; a container where none may be is no property.
        is_listed = item.kind is UnknownKind.ELEMENT and item.name not in BLOCKS
        if not is_listed and not is_said:
            yield Loss(
                item.path, item.value, to, "it is not understood", done, item.policy,
                line=item.line, job=asked.job.id, shown=f"{item.name} {item.value!r}",
            )  # fmt: skip
