"""The jobs that a request is about, of those that its actor may see."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing

from sssjob.errors import Refused
from sssjob.handlers.attributes import JOB, shown
from sssjob.handlers.conditions import Conditions
from sssjob.handlers.view import HasLedger, View, views
from sssjob.rmap.message import Request
from sssjob.rmap.responder import ReceivedRequest
from sssjob.store import Difference, Store, Stored
from sssjob.store.flat import Texts
from sssjob.store.plan import QueryPlan
from sssjob.store.reach import Reach
from sssjob.suggestions import nearest


class Search:
    """What a call looks for. ``deleted`` looks at hidden jobs only; None at all of them.

    Raises ``Refused`` for conditions that are none.
    """

    def __init__(
        self, call: ReceivedRequest, reach: Reach, *, deleted: bool | None = False
    ) -> None:
        asked = call.request
        self.kind, self.reach = asked.object, reach
        self._conditions = Conditions(asked.wheres, self.kind, names(asked))
        self._deleted = None if self._conditions.asks_deleted else deleted

    def holds(self, view: View) -> bool:
        """Whether a job is one of those that are looked for."""
        if self._deleted is not None and view.stored.deleted is not self._deleted:
            return False
        return view.is_within(self.reach) and self._conditions.hold(view)

    def run(self, jobs: Store) -> Iterator[View]:
        """The jobs, in the order of the store."""
        if jobs.verifies:
            yield from self._verified(jobs)
            return
        with closing(self._documents(jobs)) as documents:
            for stored in documents:
                yield from self.among(stored, jobs)

    def among(self, stored: Stored, home: HasLedger) -> Iterator[View]:
        """The jobs of one document that are looked for; ``home`` has the ledger of its store."""
        return filter(self.holds, views(stored, self.kind, home))

    @property
    def plan(self) -> QueryPlan | None:
        """Which jobs are looked for, as columns tell it; None where they do not tell all of it."""
        if self.kind != JOB or self._deleted is not False or not self._conditions.is_planned:
            return None
        found = self._conditions.plan
        return found if self.reach.is_all else QueryPlan(found.bounds & self.reach.bounds, "")

    def texts(self, jobs: Store, names: Sequence[str]) -> Iterable[Texts | Stored] | None:
        """The texts of properties of the jobs, or documents that columns do not decide.

        None where columns do not tell which jobs are looked for, or these properties.
        """
        if self.kind != JOB or self._deleted is not False or jobs.verifies:
            return None
        id_ = self._conditions.only_id
        if id_ is not None:
            return jobs.flat_rows_of(id_, self.reach, names)
        plan = self.plan
        return None if plan is None else jobs.flat_rows(plan, names)

    def at(self, jobs: Store, time: int) -> Iterator[View]:
        """The jobs as they were at a time, in seconds since 1970."""
        for present in jobs.documents(deleted=True):
            stored: Stored | None = present
            if present.at > time:
                former = [each for each in jobs.versions(present.identity) if each.at <= time]
                stored = former[-1] if former else None
            if stored is not None:
                yield from self.among(stored, jobs)

    def _documents(self, jobs: Store) -> Generator[Stored, None, None]:
        """The documents in which such jobs may be."""
        id_ = self._conditions.id
        if id_ is not None:
            yield from jobs.named(id_, deleted=self._sees_hidden)
        else:
            yield from jobs.candidates(self._plan, effective=True, deleted=self._sees_hidden)

    def _verified(self, jobs: Store) -> Iterator[View]:
        """The jobs, looked for in every document; those that columns do not tell are told."""
        id_ = self._conditions.id
        what = self._plan if id_ is None else id_
        for stored, is_candidate in jobs.compared(what, effective=True, deleted=self._sees_hidden):
            found = list(self.among(stored, jobs))
            if found and not is_candidate:
                jobs.differ(Difference(stored.identity, (), (None,) * len(found)))
            yield from found

    @property
    def _sees_hidden(self) -> bool:
        return self._deleted is not False

    @property
    def _plan(self) -> QueryPlan:
        found = self._conditions.plan
        if self.reach.is_all or self.kind != JOB:
            return found
        return QueryPlan(found.bounds & self.reach.bounds, "")


def names(asked: Request) -> frozenset[str]:
    """What the object of a request may be called in its conditions and properties."""
    return frozenset(filter(None, (asked.objects[0].name, asked.objects[0].alias)))


def option(asked: Request, *names: str) -> str | None:
    """The value of an option that has these names; None without it.

    Raises ``Refused`` (740) for two values.
    """
    found = {each.value for each in asked.options if each.name in names}
    if len(found) > 1:
        raise Refused("740", f"{' and '.join(names)} have two different values")
    return found.pop() if found else None


def require_options(
    asked: Request, known: Collection[str], *, near: Collection[str] = (), is_strict: bool = False
) -> None:
    """Refuse (318) an option that is not ``known``, and was meant as one of those or is ``near``.

    Others are passed, as Gold does, unless this ``is_strict``.
    """
    for each in asked.options:
        if each.name in known:
            continue
        meant = nearest(each.name, {*known, *near})
        if is_strict or meant:
            advice = f"; {meant} is one" if meant in known else ""
            text = f"{shown(each.name)} is not an option of {asked.action}{advice}"
            raise Refused("318", text)


def is_true(asked: Request, name: str) -> bool:
    """Whether an option of a request says True, in any case. Raises ``Refused`` (317, 740)."""
    said = (option(asked, name) or "False").lower()
    if said not in ("true", "false"):
        raise Refused("317", f"{name} is True or False")
    return said == "true"
