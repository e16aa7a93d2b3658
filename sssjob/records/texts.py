"""Columns of very many texts, of which each distinct one is held once, or all stand in one buffer.

Each is a sequence of texts like any other, so whoever knows nothing of it takes it for a list. Who
does, reads each distinct text once (``Coded``), or all of them by their bytes (``Plain``). They are
made where numpy and pyarrow are installed (``regular.py``), and import neither.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, overload

R = TypeVar("R")
List = list[Any]
Numbers = Any  # an array of numpy, which need not be installed


class BulkColumn(Sequence[Any]):
    """A column of a batch: what stands in it is made into a list when somebody asks for it."""

    __slots__ = ("_list",)

    def __init__(self) -> None:
        self._list: List | None = None

    @property
    def list(self) -> List:
        """The texts of all records."""
        if self._list is None:
            self._list = self._listed()
        return self._list

    @abstractmethod
    def _listed(self) -> List: ...

    @abstractmethod
    def take(self, places: Numbers) -> BulkColumn:
        """The texts in some places."""

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> List: ...
    def __getitem__(self, at: Any) -> Any:
        return self.list[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.list)

    def __contains__(self, text: object) -> bool:
        return text in self.list

    def count(self, value: Any) -> int:
        """How many of the texts are this one."""
        return self.list.count(value)


class Coded(BulkColumn):
    """Texts as numbers of ``values``, each of which is some record's."""

    __slots__ = ("codes", "values")

    def __init__(self, values: list[Any], codes: Numbers) -> None:
        super().__init__()
        self.values, self.codes = values, codes

    def __len__(self) -> int:
        return len(self.codes)

    def _listed(self) -> List:
        return [*map(self.values.__getitem__, self.codes.tolist())]

    def __getitem__(self, at: Any) -> Any:
        return self.list[at] if isinstance(at, slice) else self.values[self.codes[at]]

    def __contains__(self, text: object) -> bool:
        return text in self.values

    def count(self, value: Any) -> int:
        """How many of the texts are this one."""
        if value not in self.values:
            return 0
        return int((self.codes == self.values.index(value)).sum())

    def take(self, places: Numbers) -> Coded:
        """The texts in some places, and none of the values that are not there."""
        return compact(self.values, self.codes[places])


def compact(values: Sequence[Any], codes: Numbers) -> Coded:
    """Codes, and of the values those that they mean."""
    import numpy as np

    used = np.bincount(codes, minlength=len(values)) > 0
    if used.all():
        return Coded([*values], codes)
    numbers = np.cumsum(used) - 1
    return Coded([values[at] for at in np.flatnonzero(used).tolist()], numbers[codes])


def same(text: Any, size: int) -> Coded:
    """So many equal texts, one at least."""
    import numpy as np

    return Coded([text], np.zeros(size, np.int64))


class Plain(BulkColumn):
    """Texts in ASCII that seldom repeat: an array of Arrow."""

    __slots__ = ("_read", "array")

    def __init__(self, array: Any) -> None:
        super().__init__()
        self.array = array
        self._read: dict[Any, Any] = {}

    def once(self, read: Callable[[Plain], R]) -> R:
        """What a reader makes of the column, which it is asked once, whoever wants to know it."""
        if read not in self._read:
            self._read[read] = read(self)
        found: R = self._read[read]
        return found

    def __len__(self) -> int:
        return len(self.array)

    def _listed(self) -> List:
        found: List = self.array.to_pylist()
        return found

    def __getitem__(self, at: Any) -> Any:
        return self.list[at] if isinstance(at, slice) or self._list else self.array[at].as_py()

    def take(self, places: Numbers) -> Plain:
        """The texts in some places."""
        return Plain(self.array.take(places))

    def _bytes(self) -> tuple[Numbers, Numbers]:
        """Where texts begin and end in bytes, one number more than texts, and the bytes."""
        import numpy as np

        array = self.array
        _, offsets, data = array.buffers()
        bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
        return bounds, np.frombuffer(data or b"", np.uint8)

    def sizes(self) -> Numbers:
        """How many characters each text has."""
        import numpy as np

        return np.diff(self._bytes()[0])

    def last(self, width: int) -> Numbers:
        """The last bytes of texts that have so many, a row for each."""
        import numpy as np

        bounds, data = self._bytes()
        return data[bounds[1:, None] + np.arange(-width, 0)]

    def all_match(self, pattern: str) -> bool:
        """Whether all texts match a pattern from their begin to their end.

        It is one of those that RE2 reads as Python does.
        """
        import pyarrow.compute as pc

        found = pc.all(pc.match_substring_regex(self.array, f"^(?:{pattern})$"), min_count=0)
        return bool(found.as_py())

    def characters(self, width: int) -> Numbers | None:
        """The bytes of texts that all have one width, a row for each; None where one has not."""
        import numpy as np

        bounds, data = self._bytes()
        if len(bounds) < 2 or (np.diff(bounds) != width).any():
            return None
        return data[bounds[0] : bounds[-1]].reshape(-1, width)


class WholeNumbers(BulkColumn):
    """Whole numbers from 0 up, as they are printed."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: Numbers) -> None:
        super().__init__()
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def _listed(self) -> List:
        import pyarrow as pa

        found: List = pa.array(self.numbers).cast(pa.string()).to_pylist()
        return found

    def take(self, places: Numbers) -> WholeNumbers:
        """The numbers in some places."""
        return WholeNumbers(self.numbers[places])


def is_of_form(characters: Numbers, form: str) -> bool:
    """Whether rows of bytes have digits where a form has 0, and all else as it stands there."""
    import numpy as np

    pattern = np.frombuffer(form.encode(), np.uint8)
    digits = pattern == ord("0")
    told = characters[:, digits]
    if ((told - np.uint8(ord("0"))) > 9).any():  # what is below 0 is far above, without a sign
        return False
    return bool((characters[:, ~digits] == pattern[~digits]).all())


def distinct(column: Sequence[Any]) -> Iterable[Any]:
    """What stands in a column, once or more often."""
    return column.values if isinstance(column, Coded) else column


def has_any(column: Sequence[Any], words: frozenset[Any]) -> bool:
    """Whether one of some words stands in a column."""
    if isinstance(column, Plain) and column.characters(_TIME) is not None:
        return any(len(word) == _TIME and word in column for word in words)
    return not words.isdisjoint(distinct(column))


_TIME = 19  # characters of a time such as 2026-11-20T14:29:34


def beside(columns: Sequence[Sequence[Any]]) -> BulkColumn:
    """Columns side by side, whose texts are tuples then; each is held once, if they repeat."""
    coded = [(column.values, column.codes) for column in columns if isinstance(column, Coded)]
    found = combined(coded) if len(coded) == len(columns) else None
    return SideBySide(columns) if found is None else found


_TABLE = 1 << 18  # combinations that are counted in a table


class Fused(NamedTuple):
    """Combinations of what several columns say: a record of each, and which each record has."""

    firsts: Numbers
    codes: Numbers


def fused(coded: Sequence[tuple[int, Numbers]], most: int = sys.maxsize) -> Fused | None:
    """Columns as how many values there are, and the number of that of each record.

    None where there are hardly fewer combinations than records, or more than ``most``.
    """
    import numpy as np

    (count, codes), *rest = coded
    size = len(codes)
    for width, others in rest:
        if width == 1:
            continue
        both = codes.astype(np.int64) * width + others
        if count * width <= _TABLE:
            there = np.bincount(both, minlength=count * width) > 0
            count = int(np.count_nonzero(there))
            codes = (np.cumsum(there) - 1)[both]
        else:
            there, codes = np.unique(both, return_inverse=True)
            count = len(there)
        if count * 2 > size or count > most:
            return None
    firsts = np.empty(count, np.int64)
    firsts[codes[::-1]] = np.arange(size - 1, -1, -1)
    return Fused(firsts, codes)


def combined(
    coded: Sequence[tuple[Sequence[Any], Numbers]], most: int = sys.maxsize
) -> Coded | None:
    """Tuples of the values of several columns, each that there is once; see ``fused``."""
    found = fused([(len(values), codes) for values, codes in coded], most)
    if found is None:
        return None
    columns = ([*map(values.__getitem__, codes[found.firsts].tolist())] for values, codes in coded)
    return Coded([*zip(*columns, strict=True)], found.codes)


class SideBySide(BulkColumn):
    """Columns side by side, whose texts are tuples: many of them repeat in no other record."""

    __slots__ = ("columns",)

    def __init__(self, columns: Sequence[Sequence[Any]]) -> None:
        super().__init__()
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def _listed(self) -> List:
        return list(zip(*self.columns, strict=True))

    def take(self, places: Numbers) -> SideBySide:
        """The tuples in some places."""
        some = [*map(int, places)]
        return SideBySide([
            column.take(places) if isinstance(column, BulkColumn) else [column[at] for at in some]
            for column in self.columns
        ])  # fmt: skip
