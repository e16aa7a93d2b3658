"""Times as batch systems print them, often without a zone, as seconds since the epoch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import timezone as timezone_of
from functools import cache, partial, update_wrapper
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from sssjob import registry, spec, units
from sssjob.errors import InvalidValue
from sssjob.records.readers import by_type
from sssjob.records.record import (
    Field,
    Instead,
    Noted,
    R,
    by_columns,
    in_bulk,
    kept,
    numeric,
    plain,
    varied,
)
from sssjob.records.texts import BulkColumn, Plain, WholeNumbers, is_of_form
from sssjob.records.values import is_whole
from sssjob.suggestions import question

AS_UTC = "times without a zone are read as UTC"
ASSUMED = f"{AS_UTC}; --tz names another zone"
BLANK = frozenset(("",))  # of logs that have no word for a time that is not known
A_TIME = "a time such as 2026-11-20T14:29:34"

_CTIME = re.compile(
    r"(?:[A-Z][a-z]{2} )?([A-Z][a-z]{2}) +([0-9]{1,2}) +([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r" (?:[A-Z]{3,4} )?([0-9]{4})"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DISTANCE = re.compile("([+-])([0-9]{2}):?([0-9]{2})?")  # from UTC
_FORM = "0000-00-00T00:00:00"  # digits where 0 stands
_KEPT = 3  # columns of times that were read last
ROUNDED = 1  # s that a wall time may be another one than that from start to end
N = Any  # a number, or an array of numpy with many
_FORM_SIZE = len(_FORM)
_SECONDS_SIZE = 10  # digits of seconds since the epoch
_OF_HOUR = [at for at, character in enumerate(_FORM[:13]) if character == "0"]
_IN_HOUR = re.compile("([0-5][0-9]):([0-5][0-9])")


def time(text: str) -> str | None:
    """Stands in a table for the clock of a run, which takes its place: see ``by``."""
    raise NotImplementedError(text)


def timed(read: R) -> R:
    """Mark a reader that is given the clock of a run before all else: see ``by``."""
    read.timed = True  # type: ignore[attr-defined]  # functions have attributes
    return read


_TIMES = frozenset(
    row.name for table in spec.TABLES.values() for row in table if row.type == spec.DATETIME
)


def by(clock: Clock, rows: Iterable[Field], numbers: Collection[str] = ()) -> Iterator[Field]:
    """The rows, with their times read by a clock, and what names no reader by its type.

    In columns that are ``numbers`` no other text is taken as it stands.
    """
    for row in rows:
        if row.read is time or (row.read is plain and row.element in _TIMES and not row.beside):
            yield row._replace(read=clock.reading)
        elif row.read is plain:
            yield row._replace(read=by_type(row, is_number=row.column in numbers))
        elif getattr(row.read, "timed", False):
            yield row._replace(read=update_wrapper(partial(row.read, clock), row.read))
        else:
            yield row


def _are_times(numbers: Sequence[str]) -> bool:
    """Whether each of some numbers without a leading zero is surely a time."""
    return max(numbers) <= str(units.TIME_LIMIT) and max(map(len, numbers)) <= _SECONDS_SIZE


class Clock:
    """Reads times; ``zone``, or that of this name, is for those that do not state one.

    ``untold`` are the words that stand for no time; those of other systems are odd, and cost no
    record. # decision 1074
    Raises ``InvalidValue`` for a zone that is not known.
    """

    def __init__(self, zone: str | tzinfo = "", untold: frozenset[str] = BLANK) -> None:
        self._named = bool(zone)
        self._untold = untold
        self.zone = zone if isinstance(zone, tzinfo) else timezone(zone)
        reading = by_columns(self.many)(numeric(units.TIME_LIMIT)(partial(self.read)))
        self.reading = in_bulk(self.bulk)(reading)
        self.begin()

    def begin(self) -> None:
        """Begin another stream, of which nothing was said yet.

        ``assumed``: UTC was taken for want of a zone, and this was not said yet. ``twice`` are
        times that happened twice.
        """
        self._hours: dict[str, int] = {}
        self._of_columns = kept(self._of_hours, _KEPT)
        self._told = self.assumed = False
        self.twice: set[str] = set()

    @numeric(units.TIME_LIMIT)
    def read(self, text: str, fold: int = 0) -> str | None:
        """Seconds since the epoch. ``fold`` chooses one of two readings of an autumn hour."""
        if text.isdecimal() and text.isascii():
            if len(text) > _SECONDS_SIZE or int(text) > units.TIME_LIMIT:
                raise InvalidValue(text, "a time of 32 bits")
            return text if text[0] != "0" else text.lstrip("0") or None
        if text in self._untold:
            return None
        start = self._hours.get(text[:14])
        if start is not None and (found := _IN_HOUR.fullmatch(text, 14)):
            return str(start + 60 * int(found[1]) + int(found[2]))
        try:
            found_at = self._exactly(text, fold)
        except InvalidValue:
            if text and text not in registry.said_of_jobs().no_time:
                raise
            raise Instead(text, A_TIME, (), "no time is known", keeps=True) from None
        if len(text) == 19 and not fold and (start := self._plain_hour(text)) is not None:
            if len(self._hours) > 10_000:
                self._hours.clear()
            self._hours[text[:14]] = start
        return found_at

    def many(self, texts: Sequence[str]) -> Sequence[str] | None:
        """``read`` of many texts, none of them empty; None where each has to be asked for."""
        return self._of_columns(texts)

    def _of_hours(self, texts: Sequence[str]) -> Sequence[str] | None:
        """Times in hours that are known, or become so, in which minutes add up."""
        hours, within = self._hours, _within_an_hour()
        try:
            return [str(hours[text[:14]] + within[text[14:]]) for text in texts]
        except KeyError:
            new = {text[:14]: text for text in texts if text[:14] not in hours}
        try:
            for text in new.values():
                self.read(text)
            return [str(hours[text[:14]] + within[text[14:]]) for text in texts]
        except (KeyError, InvalidValue):
            return None

    def assumption(self, line: int) -> tuple[Noted, ...]:
        """What is to say behind the first time that was read as UTC for want of a zone, once."""
        if not self.assumed:
            return ()
        self._told, self.assumed = True, False
        return (Noted(line, ASSUMED, once=True, assumes_utc=True),)

    def bulk(self, column: BulkColumn) -> BulkColumn | None:
        """The same of a column of bytes: of seconds, or of hours in which minutes add up."""
        return column.once(self._numbers) if isinstance(column, Plain) else None

    def _numbers(self, column: Plain) -> WholeNumbers | None:
        return _seconds(column) or self._whole(column)

    def _whole(self, column: Plain) -> WholeNumbers | None:
        import numpy as np

        characters = column.characters(_FORM_SIZE)
        if characters is None or not is_of_form(characters, _FORM):
            return None
        digits = (characters - np.uint8(ord("0"))).astype(np.int64)
        minutes, seconds = (digits[:, at] * 10 + digits[:, at + 1] for at in (14, 17))
        if (minutes > 59).any() or (seconds > 59).any():
            return None
        # What stands before the minutes tells hours apart, as a number with a digit in each place.
        names = digits[:, _OF_HOUR] @ (10 ** np.arange(len(_OF_HOUR) - 1, -1, -1))
        _, firsts, codes = np.unique(names, return_index=True, return_inverse=True)
        starts = []
        for at in firsts.tolist():
            text = column[at]
            if text[:14] not in self._hours:
                try:
                    self.read(text)
                except InvalidValue:
                    return None
            start = self._hours.get(text[:14])
            if start is None:
                return None
            starts.append(start)
        return WholeNumbers(np.array(starts)[codes] + 60 * minutes + seconds)

    def column(self, texts: Sequence[str]) -> Sequence[str]:
        """Every time of a column, "" where there is none that can be read.

        What they are is kept, since the column will be read again for a property.
        """
        if isinstance(texts, BulkColumn) and (whole := self.bulk(texts)) is not None:
            return whole
        joined = "".join(texts)
        if joined.isdecimal() and joined.isascii() and min(texts) >= "1" and _are_times(texts):
            return texts
        if "" not in texts and (found := self.many(texts)) is not None:
            return found
        return [self.readable(text) for text in texts]

    def readable(self, text: str) -> str:
        """A time, or "" where there is none, or none that can be read."""
        try:
            return self.read(text) or ""
        except InvalidValue:
            return ""

    def doubtful_in(self, columns: Iterable[Sequence[str]]) -> bool:
        """Whether some of many times happened twice."""
        if not self._named:
            return False
        return any(
            self.doubtful(column)
            for column in columns
            if not (isinstance(column, BulkColumn) and self.bulk(column) is not None)
        )

    def doubtful(self, texts: Iterable[str]) -> set[str]:
        """Those of some times that happened twice."""
        if not self._named:
            return set()
        unknown = {text for text in set(texts) if text[:14] not in self._hours}
        return {text for text in unknown if self.readable(text) and text in self.twice}

    def _plain_hour(self, text: str) -> int | None:
        """The beginning of an hour in which minutes add up and no time happens twice."""
        try:
            first = datetime.fromisoformat(f"{text[:14]}00:00")
            last = datetime.fromisoformat(f"{text[:14]}59:59")
        except ValueError:
            return None
        ends = {
            moment.replace(tzinfo=self.zone, fold=fold).timestamp() - beyond
            for fold in (0, 1)
            for moment, beyond in ((first, 0), (last, 3599))
        }
        start = ends.pop()
        return None if ends or not 0 <= start <= units.TIME_LIMIT - 3599 else int(start)

    def _exactly(self, text: str, fold: int) -> str:
        try:
            moment = ctime(text) or datetime.fromisoformat(text)
        except ValueError:
            raise InvalidValue(text, A_TIME) from None
        if moment.tzinfo is None:
            moment = self._placed(text, moment, fold)
        if not 0 <= (value := moment.timestamp()) <= units.TIME_LIMIT:
            raise InvalidValue(text, "a time of 32 bits since 1970")
        return str(int(value))

    def _placed(self, text: str, moment: datetime, fold: int) -> datetime:
        if not self._named:
            self.assumed = not self._told
            return moment.replace(tzinfo=UTC)
        first = moment.replace(tzinfo=self.zone)
        second = first.replace(fold=1)
        # In the gap of spring it is the other way round; such a time never was.
        if first.timestamp() < second.timestamp():
            if len(self.twice) > 10_000:
                self.twice.clear()
            self.twice.add(text)
        return second if fold else first


def _seconds(column: Plain) -> WholeNumbers | None:
    """A column of plain seconds since the epoch, none before September 2001."""
    import numpy as np

    characters = column.characters(_SECONDS_SIZE)
    if characters is None:
        return None
    digits = characters - np.uint8(ord("0"))
    if (digits > 9).any() or not digits[:, 0].all():
        return None
    numbers = digits.astype(np.int64) @ (10 ** np.arange(_SECONDS_SIZE - 1, -1, -1))
    return WholeNumbers(numbers) if numbers.max() <= units.TIME_LIMIT else None


@cache
def _within_an_hour() -> dict[str, int]:
    """The seconds of each minute and second, such as 59:59."""
    return {f"{at // 60:02}:{at % 60:02}": at for at in range(3600)}


def ctime(text: str) -> datetime | None:
    """A time such as ``Thu Jan 15 12:00:00 2015``, whatever the locale; it states no zone.

    Raises ``ValueError`` for one that no calendar has.
    """
    found = _CTIME.fullmatch(text)
    if found is None or found[1] not in _MONTHS:
        return None
    month, day, hour, minute, second, year = found.groups()
    return datetime(
        int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second)
    )


def states_zone(text: str) -> bool:
    """Whether a time says at which moment it is, whatever the zone of its log.

    >>> states_zone("1700000001"), states_zone("2026-11-20T14:29:34+01:00")
    (True, True)
    >>> states_zone("2026-11-20T14:29:34"), states_zone("Fri Nov 20 14:29:34 2026")
    (False, False)
    """
    try:
        return is_whole(text) or datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def is_backwards(start: str, end: str) -> bool:
    """Whether a job ended before it started, by seconds since the epoch; 0 and "" are no time.

    >>> is_backwards("1700000001", "1700000000"), is_backwards("1700000001", "0")
    (True, False)
    """
    return is_whole(start) and is_whole(end) and 0 < int(end) < int(start)


def is_apart(between: N, wall: N, rounded: int = ROUNDED, *, longer: bool = False) -> N:
    """Whether a wall time is not the time between a start and an end, or only: is longer than that.

    All in seconds, of which some may be lost to rounding. Of arrays of numpy each place is told.

    >>> is_apart(600, 601), is_apart(600, 500), is_apart(600, 500, longer=True)
    (False, True, False)
    """
    more = wall - between
    return (more if longer else abs(more)) > rounded


# decisions 1070, 1089
def doubts(
    line: int, start: str | None, end: str | None, wall: str | None, away: str | None = None
) -> Iterator[Noted]:
    """What the times of a record say against each other, all in seconds; nothing is put right.

    ``away`` is how long it was suspended: where that is not told, only a longer wall time is one
    that contradicts.
    """
    if not start or not end:
        return
    if is_backwards(start, end):
        yield Noted(line, "EndTime is before StartTime")
    elif (
        wall
        and all(map(is_whole, (start, end, wall, away or "0")))
        and is_apart(int(end) - int(start) - int(away or 0), int(wall), longer=away is None)
    ):
        yield Noted(line, "EndTime - StartTime is not the duration, which is kept", once=True)


def passed(start: str | None, end: str | None, away: str | None = None) -> str | None:
    """The seconds from a start to an end, without those of a suspension: for a run that tells no
    wall time; None where its times do not tell it either. A start of 0 is none.

    >>> passed("1700", "1800"), passed("1700", "1800", "40"), passed("", "9"), passed("0", "9")
    ('100', '60', None, None)
    """
    if not start or not end or not (is_whole(start) and is_whole(end)) or not int(start):
        return None
    found = units.seconds_between(int(start), int(end), int(away or 0))
    return None if found is None else str(found)


@timed
@varied
def between(clock: Clock, end: str, start: str) -> str | None:
    """The same of times as they are printed: what a table reads of an end beside a start.

    >>> between(Clock(), "2026-11-20T14:00:40", "2026-11-20T14:00:00"), between(Clock(), "9", "")
    ('40', None)
    """
    return passed(clock.readable(start), clock.readable(end))


def timezone(name: str) -> tzinfo:
    """The zone of a name, or of a distance from UTC such as +02:00; none is UTC.

    Raises ``InvalidValue``, with the name that was probably meant.
    """
    if not name or name.upper() in ("UTC", "Z"):
        return UTC
    if distance := _DISTANCE.fullmatch(name):
        sign, hours, minutes = distance.groups()
        if int(hours) < 24 and int(minutes or 0) < 60:
            span = timedelta(hours=int(hours), minutes=int(minutes or 0))
            return timezone_of(-span if sign == "-" else span)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # Near the distance that was meant stands another one, such as GMT+0 for GMT+2.
        is_distance = any(map(str.isdigit, name))
        meant = "" if is_distance else question(name, available_timezones())
        raise InvalidValue(name, f"a time zone such as Europe/London or +02:00{meant}") from None
