"""Where Grid Engine's records can be cut: at any line end, if slave tasks go with their job.

Behind the row of a parallel job is no such place: rows of its slave tasks may follow.
"""

from __future__ import annotations

from sssjob.records.cutting import Part
from sssjob.records.lines import clean
from sssjob.records.record import Bad, Options
from sssjob.systems.gridengine.accounting import (
    SLAVE_LIMIT,
    follows,
    is_parallel,
    key_of,
    parted,
)

_Row = tuple[int, bytes]


class Cutter:
    """Cuts at line ends, and moves rows of slave tasks to the part that their job is in.

    In the place of such a row stays an empty line, so that all others keep their numbers.
    """

    def __init__(self, options: Options, front: tuple[_Row, ...] = ()) -> None:
        self.options = options
        self._waiting: dict[tuple[str, str], list[_Row]] = {}
        self._count = 0
        for number, line in front:
            fields = parted(number, clean(line))
            if not isinstance(fields, Bad):
                self._wait(key_of(fields), number, line)

    @property
    def front(self) -> tuple[_Row, ...]:
        """The rows whose job was not met yet."""
        return tuple(sorted(row for rows in self._waiting.values() for row in rows))

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The whole lines, with the rows from further up that belong to them."""
        size = len(data) if final else _settled(data)
        lines = data[:size].split(b"\n")
        front: list[_Row] = []
        before = b""  # the row of a job, while only its slave tasks came after it
        for place, raw in enumerate(lines):
            if _is_none(raw):
                continue
            if not self._waiting and _is_job(raw):
                before = raw
                continue
            fields = parted(line + place, clean(raw))
            if isinstance(fields, Bad):
                before = b""
                continue
            key = key_of(fields)
            if key[2] == "NONE":
                before = raw
            elif before and _follows(fields, before):
                continue
            else:
                before = b""
                self._wait(key, line + place, raw)
                lines[place] = b""
                continue
            for number, row in self._told(key):
                if number >= line:
                    lines[number - line] = row
                else:
                    front.append((number, row))
        if self._count > SLAVE_LIMIT or (final and not data):
            front += self.front
            self._waiting.clear()
            self._count = 0
        if not size and not front:
            return None, 0
        return Part(b"\n".join(lines), line, self.options, tuple(front)), size

    def _wait(self, key: tuple[str, str, str], number: int, line: bytes) -> None:
        self._waiting.setdefault(key[:2], []).append((number, line))
        self._count += 1

    def _told(self, key: tuple[str, str, str]) -> list[_Row]:
        rows = self._waiting.pop(key[:2], [])
        self._count -= len(rows)
        return rows


def _settled(data: bytes) -> int:
    """The bytes up to the last job of which more may come, or up to the last line end."""
    whole = end = data.rfind(b"\n") + 1
    tasks: list[list[str]] = []
    while end:
        start = data.rfind(b"\n", 0, end - 1) + 1
        raw, end = data[start : end - 1], start
        if _is_none(raw):
            continue
        fields = parted(0, clean(raw))
        if isinstance(fields, Bad):
            return whole
        if key_of(fields)[2] == "NONE":
            held = is_parallel(fields) and all(follows(task, fields) for task in tasks)
            return start if held else whole
        tasks.append(fields)
    return whole


def _follows(task: list[str], before: bytes) -> bool:
    job = parted(0, clean(before))
    return not isinstance(job, Bad) and is_parallel(job) and follows(task, job)


def _is_none(line: bytes) -> bool:
    """Whether a line is no record: empty, a comment, or of one character."""
    return len(line) < 2 or line[:1] == b"#"


def _is_job(line: bytes) -> bool:
    """Whether a line of a usual length is surely no row of a slave task."""
    behind = {42: 1, 44: 3}.get(line.count(b":"))
    return behind is not None and line.rsplit(b":", behind)[0].endswith(b":NONE")
