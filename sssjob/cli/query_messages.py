"""What ``sssjob query`` says of the sources that it asks."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sssjob.cli import common, progress, records
from sssjob.errors import Severity, SSSJobError, UnreadableDocument
from sssjob.verbs.query import Listener

if TYPE_CHECKING:
    from sssjob.document.sources import NamedSource
    from sssjob.records.record import Bad, Noted
    from sssjob.store import Store
    from sssjob.store.answers import Trace
    from sssjob.store.verifying import Difference
    from sssjob.verbs.ask import Asked

_LARGE = 64 << 20  # bytes from which a tree in memory is worth a notice


class QueryMessages(Listener):
    """Prints what is to be said of each source, and remembers what sets the exit code."""

    def __init__(self, asked: Asked, *, quiet: bool, explain: bool, as_json: bool) -> None:
        """``as_json`` is about explanations, which programs may read."""
        self.failed = False  # something could not be read at all
        self.different = False  # columns of a store and its documents
        self._looked = 0  # sources
        self._unread: set[str] = set()  # names of those that could not be asked
        self._asked, self._quiet, self._explain, self._as_json = asked, quiet, explain, as_json
        self._noticed = False
        self._records = records.RecordMessages()

    @property
    def none_read(self) -> bool:
        """Whether none of the sources could be asked, at least not to its end."""
        return 0 < self._looked <= len(self._unread)

    @property
    def bad(self) -> int:
        """How many records were bad."""
        return self._records.bad

    def looking(self, source: NamedSource) -> None:
        """Count it."""
        self._looked += 1

    def not_asked(self, name: str, error: SSSJobError | OSError) -> None:
        """Say so, where it is."""
        self._unread.add(name)
        self._say(name, error)

    def _say(self, name: str, error: SSSJobError | OSError) -> None:
        self.failed = True
        if isinstance(error, UnreadableDocument):
            common.say_error(error.finding.in_file(name))
        else:
            told = common.reason(error) if isinstance(error, OSError) else error
            common.say(f"sssjob: error: {told}")

    def damaged(self, store: str, error: SSSJobError) -> None:
        """Say so, with the name of the store."""
        if isinstance(error, UnreadableDocument):
            self._say(store, error)
        else:
            self.failed = True
            common.say_of(store, Severity.ERROR, f"{store}: error: {error}")

    def differs(self, store: Store, difference: Difference) -> None:
        """Say what differs."""
        self.different = True
        told = f"{store.address}: error: {difference}"
        common.say_of(store.address, Severity.ERROR, told, ": columns that say something else")

    def of_record(self, name: str, item: Bad | Noted) -> None:
        """What is to be said of records."""
        from sssjob.records.record import Bad

        if isinstance(item, Bad) or not self._quiet:
            self._records(name, item)

    def asking(self, source: NamedSource) -> None:
        """Explain how a file is asked."""
        if self._explain:
            common.say(f"{common.name_of(source.name)}: {_plan(self._asked)}")

    def asking_ledger(self, name: str, untold: Sequence[str]) -> None:
        """Say what its runs do not tell."""
        if untold and not self._quiet:
            names = ", ".join(untold)
            where = common.name_of(name)
            common.say(f"{where}: notice: the runs of a ledger have no {names}; documents may have")

    def asking_total(self, name: str) -> None:
        """Explain how a ledger is asked."""
        if self._explain:
            common.say(f"{common.name_of(name)}: one answer for all runs, which are streamed")

    def asking_store(self, store: Store) -> None:
        """Explain how a store is asked."""
        if not self._explain:
            return
        is_one = self._asked.query.has_one_answer and not self._as_json
        if is_one:
            common.say(f"{store.address}: one answer for the whole store, from what is found by")
        for each in store.explain(self._asked.query, effective=self._asked.effective):
            if is_one:
                common.say(f"{store.address}: {each.expression}")
            if self._as_json:
                row = {"source": store.address, **each.as_dict}
                common.say(json.dumps(row, ensure_ascii=False))
            else:
                for line in str(each).splitlines():
                    common.say(f"{store.address}: {line}")

    def asked_store(self, store: Store, trace: Trace) -> None:
        """Explain how it was answered."""
        if self._explain and common.is_mixed(None):
            sys.stdout.flush()  # so that the rows of a store stand before what is said of them
        if self._explain and self._as_json:
            common.say(json.dumps({"source": store.address, **trace.as_dict}))
        elif self._explain:
            common.say(f"{store.address}: {trace}")

    def opened(self, source: NamedSource) -> AbstractContextManager[BinaryIO]:
        """With progress."""
        name = Path(source.name).name
        return progress.watched(source.given, name, self._notice(source.name))

    def adding(self, runs: NamedSource) -> AbstractContextManager[BinaryIO]:
        """With progress."""
        return progress.watched(runs.given, Path(runs.name).name)

    def end(self) -> None:
        """Say how many bad records there were that were not told."""
        self._records.rest()

    def _notice(self, name: str) -> Callable[[int], None] | None:
        """Say once that a large input has to be held in memory, when so much of it was read."""
        if self._asked.streams or self._quiet or self._explain:
            return None

        def tell(count: int) -> None:
            if count > _LARGE and not self._noticed:
                self._noticed = True
                where = common.name_of(name)
                common.say(
                    f"{where}: notice: this expression needs each document as a whole in memory; "
                    "one that names the job (//Job//Memory, not //Memory) is answered job by job"
                )

        return tell


def _plan(asked: Asked) -> str:
    """How a file is asked, in words."""
    if asked.query.has_one_answer:
        return "one answer for all documents of this file"
    if asked.query.obstacle:
        return f"each document as a whole tree, because {asked.query.obstacle}"
    if asked.whole:
        return "each document as a whole tree, because a column or key looks around its match"
    return "streamed job by job"
