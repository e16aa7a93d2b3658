"""The rows of a mapping that a header has, read for one record after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sssjob.accounting import slurm_table as table
from sssjob.accounting import slurm_values as values
from sssjob.accounting.record import DELIVERED, JOB, NOWHERE, REQUESTED, Field, Found, Noted
from sssjob.accounting.slurm_header import Header
from sssjob.accounting.slurm_lines import Row
from sssjob.errors import InvalidValue
from sssjob.model import Property

MEMO_LIMIT = 1024  # values of one column that are remembered with what they become

_BINS = {JOB: 0, REQUESTED: 1, DELIVERED: 2}
_EXTENSIONS = 3
_Bins = tuple[list[Property], list[Property], list[Property], list[Property]]
_Memory = dict[str, tuple[int, tuple[Property, ...]]]
Memories = dict[tuple[object, ...], _Memory]


class Rows:
    """The rows of a mapping that a header has, in the order of the output, with a memory.

    Mappings of one header share ``memories``: a job and its steps tell much the same.
    """

    def __init__(
        self, rows: Iterable[Field], header: Header, clock: values.Clock, memories: Memories
    ) -> None:
        chosen: dict[tuple[object, ...], Field] = {}
        for row in rows:
            if row.place != NOWHERE and row.column in header.at and row.read is not table.together:
                chosen[_identity(row)] = row
        self._plan: list[tuple[int, _Memory, Field]] = [
            (header.at[row.column], memories.setdefault(_key(row), {}), _zoned(row, header, clock))
            for row in sorted(chosen.values(), key=lambda row: table.place_in_output(row.element))
        ]
        self._columns = frozenset(row.column for row in chosen.values())

    def properties(self, fields: list[str]) -> _Bins:
        """The properties of a row: its own, requested, delivered, and those that are none.

        Raises ``InvalidValue``. An Extension has no place in Requested and Delivered.
        """
        bins: _Bins = ([], [], [], [])
        for index, memory, row in self._plan:
            text = fields[index]
            if text:
                place, found = memory.get(text) or self._read(row, text, memory)
                if found:
                    bins[place].extend(found)
        return bins

    def doubts(self, row: Row) -> Iterator[Noted]:
        """Which columns of a row would have become something, if one could tell what they hold."""
        names = [name for name in row.doubtful if name in self._columns]
        if names:
            shown = ", ".join(names)
            text = f"a delimiter in a text: left out {shown}, which can be read in several ways"
            yield Noted(row.line, text)

    @staticmethod
    def _read(row: Field, text: str, memory: _Memory) -> tuple[int, tuple[Property, ...]]:
        try:
            found = row.properties(text)
        except InvalidValue as wrong:
            raise InvalidValue(wrong.text, f"{wrong.expected}: {row.column}") from None
        place = _EXTENSIONS if found and found[0].name == "Extension" else _BINS[row.place]
        if len(memory) >= MEMO_LIMIT:
            memory.clear()
        memory[text] = place, found
        return place, found


def _identity(row: Field) -> tuple[object, ...]:
    """What makes two columns tell the same property, so that one of them is enough."""
    shared = row.element in ("Processors", "NodeCount", "Duration") or "metric" in row.attributes
    shared = shared or row.column.startswith("ConsumedEnergy")
    column = "" if shared else row.column
    return (row.place, column, row.element, *row.attributes.values())


def _key(row: Field) -> tuple[object, ...]:
    """What two rows have in common that read the same text as the same properties."""
    return (*row[:4], *row.attributes.items())


def _zoned(row: Field, header: Header, clock: values.Clock) -> Field:
    if row.read is table.time:
        return row._replace(read=_timed(clock))
    if row.read is table.allocated and {"ConsumedEnergy", "ConsumedEnergyRaw"} & header.at.keys():
        return row._replace(read=table.devices)
    return row


def _timed(clock: values.Clock) -> Callable[[str], Found]:
    def read(text: str) -> Found:
        return clock.read(text)

    return read
