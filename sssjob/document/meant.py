"""Which File a job object means by an id, where a document holds several messages.

A File belongs to the innermost element around it that holds job objects. A job object sees the
Files of all elements around it. Of several with one id it means the one that stands beside it, or
else that of the innermost element, and the first of that.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
Around = tuple[int, ...]  # elements from the root down, each by a number that no other one has


class Meant(Generic[T]):
    """The Files of a document by what is around them, and by what is around job objects.

    Those of one id stand together, that which is meant first: who can keep but one, or has to
    choose one, takes it and tells of the others.
    """

    def __init__(self) -> None:
        self._holders: set[Around] = {()}  # elements that hold job objects
        self._beside: dict[Around, dict[str, list[T]]] = {}  # those of each id in an element
        self._own: dict[Around, dict[str, list[T]]] | None = None  # of holders, once it is asked
        self._seen: dict[Around, Mapping[str, Sequence[T]]] = {}

    def note(self, around: Around) -> None:
        """Note what is around a job object."""
        while around not in self._holders:
            self._holders.add(around)
            self._own = None
            around = around[:-1]

    def add(self, around: Around, id_: str, file: T) -> None:
        """Note a File."""
        self._beside.setdefault(around, {}).setdefault(id_, []).append(file)
        self._own = None

    def beside(self, around: Around) -> Mapping[str, Sequence[T]]:
        """The Files beside a job object: no File that is still to come is meant instead."""
        return self._beside.get(around, {})

    def seen(self, around: Around) -> Mapping[str, Sequence[T]]:
        """The Files that a job object sees; the same mapping where others see the same."""
        own = self._of_holders()
        if around not in self._seen:
            inner = own.get(around)
            outer = self.seen(around[:-1]) if around else {}
            if inner and outer:
                self._seen[around] = ChainMap(inner, *_maps(outer))  # type: ignore[arg-type]
            else:
                self._seen[around] = inner or outer
        return self._seen[around]

    def messages(self) -> Iterator[Mapping[str, Sequence[T]]]:
        """The Files of each message, which are those of one holder."""
        yield from self._of_holders().values()

    def _of_holders(self) -> dict[Around, dict[str, list[T]]]:
        if self._own is None:
            self._own, self._seen = self._owned(), {}
        return self._own

    def _owned(self) -> dict[Around, dict[str, list[T]]]:
        """The Files of each holder: those in it come first, and then those further inside."""
        found: dict[Around, dict[str, list[T]]] = {
            around: {id_: [*each] for id_, each in files.items()}
            for around, files in self._beside.items()
        }
        for around in [each for each in found if each not in self._holders]:
            owned = found.setdefault(self._owner(around), {})
            for id_, files in found.pop(around).items():
                owned.setdefault(id_, []).extend(files)
        return found

    def _owner(self, around: Around) -> Around:
        """The innermost element around a File that holds job objects, of all that were noted."""
        while around not in self._holders:
            around = around[:-1]
        return around


def _maps(files: Mapping[str, Sequence[T]]) -> list[MutableMapping[str, Sequence[T]]]:
    """The mappings that a mapping is made of, so that none is copied."""
    return files.maps if isinstance(files, ChainMap) else [files]  # type: ignore[list-item]
