"""Records that tell of one job: which belong together by their order, and how they are folded.

A batch system may write a record for each part of a job beside that of the job itself: before it,
right behind it, or both. What the parts tell is folded into the record of their job, which then is
a record like any other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from sssjob.errors import InvalidValue
from sssjob.records.cutting import GuessedPart, Moved, Part
from sssjob.records.layout import Names, Read, Reader, Record, RecordRun, Stretch
from sssjob.records.lines import LINE_LIMIT, TOO_LONG, clean
from sssjob.records.record import Bad, Options, Skipped
from sssjob.records.values import is_number, names

if TYPE_CHECKING:
    from sssjob.records.making import Plans

T = TypeVar("T")

Gathered = tuple[T, list[T]]  # a job and its parts, or what stands for them

_NO_RECORDS = (b"", b" ", b"\r", b"\0")
_LINES = 256  # that are looked at together
_TAILS = (1 << 12, 1 << 16)  # bytes before the end in which a boundary is looked for
PARTS_LIMIT = 100_000  # parts that wait for their job


Together = Callable[[Sequence[str]], str]


_EXACT = Context(prec=400)  # digits, more than a sum of numbers that are read can have
# A line for each of some numbers that are so short that their sum is exact in any case.
_SHORT = re.compile(r"(?:[0-9]{1,15}(?:\.[0-9]{1,6})?\n)*[0-9]{1,15}(?:\.[0-9]{1,6})?")


def _of_numbers(of: Callable[[Iterable[Decimal]], Decimal | int]) -> Together:
    """What makes one number of some; a text of a part that is none takes its place, to be told."""

    def together(texts: Sequence[str]) -> str:
        joined = "\n".join(texts)
        if _SHORT.fullmatch(joined) and joined.count("\n") == len(texts) - 1:  # as almost always
            return str(of(map(Decimal, texts)))
        if not is_number(texts[-1]):
            raise InvalidValue(texts[-1], "a number")
        told = [text for text in texts if text]
        if odd := next((text for text in told if not is_number(text)), ""):
            return odd
        with localcontext(_EXACT):
            return f"{of(map(Decimal, told)) + 0:f}"  # 0, and not -0

    return together


def _set(texts: Sequence[str]) -> str:
    return ",".join(dict.fromkeys(name for text in texts for name in names(text)))


def _first(texts: Sequence[str]) -> str:
    return next(filter(None, texts), "")


TOGETHER: Mapping[str, Together] = {
    "first": _first,
    "last": lambda texts: _first(texts[::-1]),
    "sum": _of_numbers(sum),
    "max": _of_numbers(max),
    "set": _set,
}


class Fold(NamedTuple):
    """How the texts of a column, those of the parts and last that of the job, become one text.

    ``how`` is a word of ``TOGETHER``: the ``first`` or ``last`` that is not empty, the ``sum`` or
    ``max`` of numbers, or the ``set``: each name once, with commas between them. An empty text of a
    part says nothing. Else it is a function of the texts.

    It goes ``into`` a column of the job, the same one if that is "". Where the job's own text is no
    such value (``InvalidValue``) it stays, and will be told.
    """

    column: str
    how: str | Together
    into: str = ""

    @property
    def together(self) -> Together:
        """The function."""
        return TOGETHER[self.how] if isinstance(self.how, str) else self.how


def _not_told(line: Any) -> tuple[bool, Hashable] | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Folding:
    """How the records of one job are told and folded.

    ``part`` gives which part of a job a record is about, "" for the job itself, and ``key`` which
    job that is. ``goes_on``: parts of this job may stand right behind it; ``follows``: this one,
    of the same key, does. ``are_jobs`` tells of the bytes of lines which are surely records of a
    job itself: True of no part, nor of what is no record, such as a blank line or a comment, behind
    which parts of a job may stand. False where that is not sure costs time only. ``told`` says of a
    line as it was read with many others whether it is a part, and its key, if that is seen at once;
    and ``alone`` why a part is skipped whose job does not come.
    """

    part: Callable[[Record], str]
    key: Callable[[Record], Hashable]
    goes_on: Callable[[Record], bool]
    follows: Callable[[Record, Record], bool]
    are_jobs: Callable[[Sequence[bytes]], list[bool]]
    told: Callable[[Any], tuple[bool, Hashable] | None] = _not_told
    folds: tuple[Fold, ...]
    alone: str

    def __post_init__(self) -> None:
        """Refuse words that are not known, and what takes for a job whatever is no part.

        Parts behind a blank line were lost.
        """
        if any(self.are_jobs(_NO_RECORDS)):
            raise ValueError("are_jobs must be False of what is no record, such as a blank line")
        for how in (fold.how for fold in self.folds if isinstance(fold.how, str)):
            if how not in TOGETHER:
                raise ValueError(f"{how!r} is no way to fold: write {', '.join(TOGETHER)}")

    @property
    def numbers(self) -> frozenset[str]:
        """The columns in which there is nothing but numbers, as they are added or compared."""
        return frozenset(
            fold.into or fold.column for fold in self.folds if fold.how in ("sum", "max")
        )

    def folder(self, options: Options, plans: Plans[Any, Any]) -> PartFolder:
        """What folds the records of a stream."""
        return PartFolder(self)


class RecordGathering(Generic[T]):
    """Gathers what stands for records into jobs, by the order of the records.

    A job is known when the next record is none of its parts.
    """

    def __init__(self, folding: Folding) -> None:
        self._folding = folding
        self._waiting: dict[Hashable, list[T]] = {}
        self._count = 0
        self._job: tuple[Record, Hashable, T, list[T]] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits for anything."""
        return self._job is None and not self._waiting

    @property
    def has_waiting(self) -> bool:
        """Whether parts wait for their job."""
        return bool(self._waiting)

    @property
    def held(self) -> list[T]:
        """What is not known yet: parts whose job was not met, and a job of which more may come."""
        found = [item for items in self._waiting.values() for item in items]
        if self._job is not None:
            _, _, item, behind = self._job
            found += [item, *behind]
        return found

    def job(self, record: Record, item: T) -> list[Gathered[T]]:
        """Take the record of a job, and what stands for it; gives jobs with all their parts."""
        known = self.pause()
        self._job = record, self._folding.key(record), item, []
        return known if self._folding.goes_on(record) else known + self.pause()

    def part(self, record: Record, item: T) -> list[Gathered[T]]:
        """Take the record of a part."""
        key = self._folding.key(record)
        if self._job is not None:
            job, job_key, _, behind = self._job
            if job_key == key and self._folding.follows(record, job):
                behind.append(item)
                return []
        known = self.pause()
        self._waiting.setdefault(key, []).append(item)
        self._count += 1
        return known

    def pause(self) -> list[Gathered[T]]:
        """What is known where something else than a record stands, or nothing more comes."""
        if self._job is None:
            return []
        _, key, item, behind = self._job
        self._job = None
        before = self._waiting.pop(key, [])
        self._count -= len(before)
        return [(item, before + behind)]

    def too_many(self, *, all: bool = False) -> list[T]:
        """The parts that wait no longer, because there are too many, or no more records.

        Who asks after each part gets the same, wherever a stream is cut.
        """
        found: list[T] = []
        while self._waiting and (all or self._count > PARTS_LIMIT):
            items = self._waiting.pop(next(iter(self._waiting)))
            self._count -= len(items)
            found += items
        return found


_Part = tuple[
    int, Sequence[str]
]  # the line of a part, and its texts in the columns that are folded


class PartFolder:
    """Folds parts into their jobs, and leaves all else as it is."""

    def __init__(self, folding: Folding) -> None:
        self._folding = folding
        self._jobs = RecordGathering[Record | _Part](folding)
        self._names: Names = ()
        self._pick = _picker(())
        self._into: Sequence[int] = ()
        self._together = [fold.together for fold in folding.folds]

    def take(self, found: Iterable[Any]) -> Stretch:
        """What is known after the next records."""
        found = [*found]
        if found and found[0].__class__ is RecordRun:  # which is alone
            return self._of_run(found[0])
        jobs, part_of, goes_on = self._jobs, self._folding.part, self._folding.goes_on
        done: list[Read] = []
        is_empty = jobs.is_empty
        for item in found:
            if item.__class__ is not Record:
                known = jobs.pause()
            elif part_of(item):
                self._look_at(item.names)
                known = jobs.part(item, (item.line, self._pick(item.fields)))
            elif is_empty and not goes_on(item):
                done.append(item)
                continue
            else:
                known = jobs.job(item, item)
            if known:
                done += self._folded(known)
            if item.__class__ is Record:
                done += self._alone(jobs.too_many())
            elif item.__class__ is not Moved:
                done.append(item)
            is_empty = jobs.is_empty
        return Stretch.of(done)

    def _of_run(self, run: RecordRun) -> Stretch:
        """The same of records of which none is a part, nor followed by one but for the last."""
        known = Stretch.of([*self._folded(self._jobs.pause())])
        if self._jobs.has_waiting:
            return known.then(self.take(run.records()))
        return known.then(run.stretch()) if known.items else run.stretch()

    def close(self) -> Stretch:
        """What is known when nothing more comes."""
        done = [*self._folded(self._jobs.pause())]
        return Stretch.of(done + self._alone(self._jobs.too_many(all=True)))

    def _alone(self, parts: Iterable[Any]) -> list[Read]:
        return [Skipped(line, self._folding.alone) for line, _ in parts]

    def _look_at(self, names: Names) -> None:
        """Learn where the columns stand that are folded; most records have the same names."""
        if names is not self._names:
            self._names = names
            folds = self._folding.folds
            self._pick = _picker([names.index(fold.column) for fold in folds])
            self._into = [names.index(fold.into or fold.column) for fold in folds]

    def _folded(self, known: Iterable[Gathered[Any]]) -> Iterator[Record]:
        return (self._whole(job, parts) if parts else job for job, parts in known)

    def _whole(self, job: Record, parts: Sequence[_Part]) -> Record:
        self._look_at(job.names)
        fields = [*job.fields]
        columns = zip(*[told for _, told in parts], self._pick(fields), strict=True)
        for together, into, texts in zip(self._together, self._into, columns, strict=True):
            try:
                fields[into] = together(texts)
            except InvalidValue:
                continue
        told = [(line, "part") for line, _ in parts]
        return Record(job.line, job.names, fields, job.ended, job.more, job.notes, told)


def _picker(places: Sequence[int]) -> Callable[[Sequence[str]], Sequence[str]]:
    """What gives the texts in some places, however few these are."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda fields: [fields[place] for place in places]


class FoldingCutter:
    """Cuts at line ends; what is not known there goes on in the next part.

    It follows the records as ``PartFolder`` does, and holds what that would hold. All of it that
    becomes known in a part stands in front of this one, and what is held at its end is ``Moved``:
    each line stays where it is, so those around it are what they are in the whole.
    """

    def __init__(
        self, folding: Folding, read: Reader, options: Options,
        front: tuple[tuple[int, bytes], ...] = (),
        many: Callable[[Sequence[str]], Sequence[Any]] | None = None,
    ) -> None:  # fmt: skip
        """``many`` makes of many lines at once what is read in their place, see ``Lines``."""
        self.options = options
        self.front = front
        self._many = many
        self._folding = folding
        self._read = read
        self._jobs = RecordGathering[tuple[int, bytes]](folding)
        for number, line in front:
            self._meet(number, line, clean(line))

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The whole lines, with those from further up that become known among them."""
        size = len(data) if final else data.rfind(b"\n") + 1
        return self.follow(data[:size], line, GuessedPart(sure=final, final=final)), size

    def follow(self, data: bytes, line: int, guess: GuessedPart) -> Part | None:
        """Some whole lines as a part, of whose end only this is a ``guess``; None for nothing."""
        before = self.front
        settled: dict[int, Moved | Skipped] = {}
        for number, _ in self._follow(data.split(b"\n"), line):
            settled[number] = Skipped(number, self._folding.alone)
        if guess.sure:
            self._jobs.pause()
        if guess.final:
            self._jobs = RecordGathering(self._folding)
        self.front = tuple(sorted(self._jobs.held))
        held = {number for number, _ in self.front}
        settled.update((number, Moved(number)) for number in held if number >= line)
        front = tuple(row for row in before if row[0] not in held)
        if not data and not front:
            return None
        return Part(data, line, self.options, front, settled)

    def _follow(self, lines: Sequence[bytes], line: int) -> list[tuple[int, bytes]]:
        """Learn what is held behind lines; gives the parts among it that wait no longer."""
        plain = [*self._folding.are_jobs(lines), False]
        texts = _LazyTexts(lines, plain, self._many)
        last = range(0)  # where a job is, behind its parts, that need not be met if none follows
        place = 0
        lost: list[tuple[int, bytes]] = []
        while place < len(lines):
            if plain[place] and not self._jobs.has_waiting:
                self._jobs.pause()
                place = plain.index(False, place)
                last = range(place - 1, place)
            elif self._jobs.is_empty and (found := self._alone(texts, plain, place, last)):
                last, place = found, found.stop
            else:
                for at in (*last, place):
                    lost += self._meet(line + at, lines[at], texts[at])
                last = range(0)
                place += 1
        for at in last:
            lost += self._meet(line + at, lines[at], texts[at])
        return lost

    def _alone(
        self, texts: _LazyTexts, plain: Sequence[bool], begin: int, last: range
    ) -> range | None:  # fmt: skip
        """Where parts are, and right behind them their job, if none is of the ``last`` job."""
        told = self._folding.told
        before = told(texts[last[-1]]) if last else (False, None)  # first, as it stands first
        first = told(texts[begin])
        if first is None or not first[0]:
            return None
        end = begin + 1
        while not plain[end]:
            if end == len(plain) - 1 or told(texts[end]) != first or end - begin == PARTS_LIMIT:
                return None
            end += 1
        job = told(texts[end])
        if job is None or before is None or job[1] != first[1] or before[1] == first[1]:
            return None
        return range(begin, end + 1)

    def _meet(self, number: int, raw: bytes, text: Any) -> list[tuple[int, bytes]]:
        """Learn of the next line; gives the parts that wait no longer then."""
        try:
            read = self._read(number, text) if text and text.__class__ is not Bad else text
        except InvalidValue:
            read = Bad(number, "")
        if isinstance(read, Record):
            take = self._jobs.part if self._folding.part(read) else self._jobs.job
            take(read, (number, raw))
            return self._jobs.too_many()
        if read:
            self._jobs.pause()
        return []


class GuessingCutter:
    """Cuts behind a job and all its parts as far as a look at the next line tells.

    Strategy. To follow all records takes a third of the time of their conversion, and only one
    process can do it. But nearly all parts of jobs stand right beside their job.

    The idea is to guess that a stretch stands alone, if the line behind it is of another job. Who
    folds its records sees by the way whether a part did not find its job. From the first stretch
    of which that is so, who asked follows the records (``Following``), and has those done again
    that are not as they were guessed, until nothing is held any more.

    Why it is right: while each part found its job, nothing is held where the next stretch begins,
    so what became of it is what becomes of it in the whole.
    """

    def __init__(
        self, folding: Folding, options: Options,
        many: Callable[[Sequence[str]], Sequence[Any]] | None = None,
    ) -> None:  # fmt: skip
        """``many`` makes of many lines at once what is read in their place, see ``Lines``."""
        self.options = options
        self.front: tuple[tuple[int, bytes], ...] = ()
        self._folding, self._many = folding, many
        self._is_open = False

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The whole lines up to such a place; all, if there is none near their end."""
        size, sure = (len(data), True) if final else self._boundary(data)
        if not size and not (final and self._is_open):
            return None, 0
        self._is_open = not final
        return Part(data[:size], line, self.options, guess=GuessedPart(sure, final)), size

    def _boundary(self, data: bytes) -> tuple[int, bool]:
        """How many bytes, and whether none behind them belongs to what they tell."""
        end = data.rfind(b"\n") + 1
        for width in _TAILS:
            begin = data.rfind(b"\n", 0, max(end - width, 0)) + 1
            lines = data[begin:end].split(b"\n")[:-1]
            if behind := self._last(lines):
                return end - sum(len(text) + 1 for text in lines[behind:]), True
        return end, False

    def _last(self, lines: Sequence[bytes]) -> int:
        """Where the last line stands that is of another job than the one before it; or 0."""
        plain = self._folding.are_jobs(lines)
        texts = _LazyTexts(lines, [*plain, False], self._many)
        for place in range(len(lines) - 1, 0, -1):
            if plain[place - 1] and (plain[place] or self._differ(texts[place - 1], texts[place])):
                return place
        return 0

    def _differ(self, job: Any, part: Any) -> bool:
        """Whether a line surely is about a part, and of another job than the one before it."""
        first, second = self._folding.told(job), self._folding.told(part)
        return bool(first and second and second[0] and first[1] != second[1])


class _LazyTexts(dict[int, Any]):
    """What is read of lines by their places, many at once, and only where one is asked for.

    Most that are asked for are not ``plain``, or stand beside one that is not.
    """

    def __init__(
        self, lines: Sequence[bytes], plain: Sequence[bool],
        many: Callable[[Sequence[str]], Sequence[Any]] | None,
    ) -> None:  # fmt: skip
        """Behind the last line ``plain`` is False."""
        super().__init__()
        self._lines, self._many = [*lines], many
        self._wanted = [
            at for at in range(len(lines)) if not (plain[at] and plain[at + 1] and plain[at - 1])
        ]

    def __missing__(self, place: int) -> Any:
        first = bisect_left(self._wanted, place)
        some: Sequence[int] = self._wanted[first : first + _LINES]
        if place not in some:
            some = range(place, min(place + _LINES, len(self._lines)))
        texts = clean(b"\n".join([self._lines[at] for at in some])).split("\n")
        found = []
        for at, text in zip(some, texts, strict=True):
            if len(self._lines[at]) > LINE_LIMIT:
                self[at] = Bad(at, TOO_LONG)
            elif text.strip():
                found.append((at, text))
        if self._many is None or not found:
            self.update(found)
        else:
            places, told = zip(*found, strict=True)
            self.update(zip(places, self._many(told), strict=True))
        return self.setdefault(place, "")
