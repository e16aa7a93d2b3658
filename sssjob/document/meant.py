"""Which File a job object means by an id, where a document holds several messages.

A File belongs to the innermost element around it that holds job objects. A job object sees the
Files of all elements around it. Of several with one id it means the one that stands beside it, or
else that of the innermost element, and the first of that.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from typing import Generic, TypeVar

T = TypeVar("T")
Around = tuple[int, ...]  # elements from the root down, each by a number that no other one has


class Meant(Generic[T]):
    """The Files of a document by what is around them, and by what is around job objects."""

    def __init__(self) -> None:
        self._holders: set[Around] = {()}  # elements that hold job objects
        self._beside: dict[Around, dict[str, T]] = {}  # the first of each id in an element
        self._own: dict[Around, dict[str, T]] | None = None  # those of holders, once it is asked
        self._seen: dict[Around, Mapping[str, T]] = {}

    def note(self, around: Around) -> None:
        """Note what is around a job object."""
        while around not in self._holders:
            self._holders.add(around)
            self._own = None
            around = around[:-1]

    def add(self, around: Around, id_: str, file: T) -> None:
        """Note a File."""
        self._beside.setdefault(around, {}).setdefault(id_, file)
        self._own = None

    def beside(self, around: Around) -> Mapping[str, T]:
        """The Files beside a job object: no File that is still to come is meant instead."""
        return self._beside.get(around, {})

    def owner(self, around: Around) -> Around:
        """The innermost element around a File that holds job objects, of all that were noted."""
        while around not in self._holders:
            around = around[:-1]
        return around

    def seen(self, around: Around) -> Mapping[str, T]:
        """The Files that a job object sees; the same mapping where others see the same."""
        if self._own is None:
            self._own, self._seen = self._owned(), {}
        if around not in self._seen:
            own = self._own.get(around)
            outer = self.seen(around[:-1]) if around else {}
            self._seen[around] = ChainMap(own, *_maps(outer)) if own and outer else own or outer
        return self._seen[around]

    def _owned(self) -> dict[Around, dict[str, T]]:
        """The Files of each holder: those in it come first, and then those further inside."""
        found = {around: dict(files) for around, files in self._beside.items() if files}
        for around in [each for each in found if each not in self._holders]:
            owned = found.setdefault(self.owner(around), {})
            for id_, file in found.pop(around).items():
                owned.setdefault(id_, file)
        return found


def _maps(files: Mapping[str, T]) -> list[MutableMapping[str, T]]:
    """The mappings that a mapping is made of, so that none is copied."""
    return files.maps if isinstance(files, ChainMap) else [dict(files)]
