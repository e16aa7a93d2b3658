"""Which handler answers which action, with rules that say who may ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from sssjob.errors import Refused
from sssjob.handlers import charging, editing, entries, hooks
from sssjob.handlers.attributes import GROUP, JOB
from sssjob.handlers.changes import require_single, was_answered
from sssjob.handlers.charging import Accounting
from sssjob.handlers.hooks import Hook
from sssjob.handlers.query import query
from sssjob.handlers.roles import Roles
from sssjob.handlers.stores import Stores
from sssjob.handlers.submitting import ORDERS, SLOW, GatewaySubmission
from sssjob.handlers.view import JobView
from sssjob.rmap.message import READING, Conj, Object, Op, Request
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest
from sssjob.store.reach import Reach

_IDS = ("Id", "JobId")
Handler = Callable[[Stores, ReceivedRequest, Reach], HandlerAnswer]


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """What a site says about its jobs: who may do what, what they cost, what a scheduler does.

    ``submission`` is the batch system that jobs are submitted to, where there is one.
    """

    roles: Roles = field(default_factory=Roles)
    accounting: Accounting = field(default_factory=Accounting)
    hooks: Mapping[str, Hook] = field(default_factory=lambda: MappingProxyType({}))
    submission: GatewaySubmission | None = None


class Service:
    """Handlers over one store; ``settings`` may be exchanged while it answers.

    ``advice`` is what is to be said of a job that is taken nevertheless.
    """

    def __init__(
        self, stores: Stores, settings: ServiceSettings | None = None,
        advice: Callable[[JobView], str] | None = None,
    ) -> None:  # fmt: skip
        self.stores, self.settings, self.advice = stores, settings or ServiceSettings(), advice

    @property
    def actions(self) -> dict[tuple[str, str], Callable[[ReceivedRequest], HandlerAnswer]]:
        """Each handler, by the object and action that it answers."""
        handlers: dict[tuple[str, str], Handler] = {
            (kind, name): handler
            for kind in (JOB, GROUP)
            for name, handler in (
                ("Query", query),
                ("Create", self._create),
                ("Modify", self._modify),
                ("Delete", partial(self._hidden, editing.delete)),
                ("Undelete", partial(self._hidden, partial(editing.undelete, advice=self.advice))),
            )
        }
        handlers |= {(each, "Query"): entries.query for each in entries.OBJECTS}
        for name, priced in (
            ("Charge", partial(charging.charge, advice=self.advice)), ("Reserve", charging.reserve),
            ("Quote", charging.quote), ("Refund", charging.refund),
        ):  # fmt: skip
            handlers[JOB, name] = partial(self._priced, priced)
        for name, hook in self.settings.hooks.items():
            handlers[JOB, name] = partial(hooks.run, hook)
        if (to := self.settings.submission) is not None:
            handlers |= {(JOB, "Submit"): to.submit, (JOB, "Refresh"): to.refresh}
            handlers |= {(JOB, name): to.order(name) for name in ORDERS}
            handlers |= {(GROUP, "Submit"): to.submit}
            handlers |= {(GROUP, name): to.order(name) for name in ORDERS}
            for key in ((JOB, "Modify"), (JOB, "Delete"), (GROUP, "Delete")):
                handlers[key] = to.guarded(handlers[key])
            handlers[GROUP, "Create"] = to.remade(handlers[GROUP, "Create"])
        return {key: partial(self._answered, handler) for key, handler in handlers.items()}

    def came(self, call: ReceivedRequest) -> bool:
        """Whether a change was made before, and is only answered again."""
        return was_answered(self.stores, call, self.settings.accounting.repeated)

    def is_slow(self, asked: Request) -> bool:
        """Whether a batch system has to be asked, so that others should not wait for the answer."""
        submits = self.settings.submission is not None
        return submits and asked.action in (*SLOW, "Modify", "Delete")

    def is_quick(self, asked: Request) -> bool:
        """Whether a request is answered at once: the query of one job in a file, by its Id."""
        if asked.action != "Query" or "://" in self.stores.address or self.stores.verifies:
            return False
        plain = all(where.conj is Conj.AND and not where.group for where in asked.wheres)
        named = any(where.name in _IDS and where.op is Op.EQ for where in asked.wheres)
        return plain and named and asked.option("Time") is None

    def _create(self, stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
        accounting = self.settings.accounting
        return editing.create(
            stores, call, reach, self.advice, places=accounting.rates.precision,
            repeated=accounting.repeated,
        )  # fmt: skip

    def _hidden(
        self, handler: Callable[..., HandlerAnswer], stores: Stores, call: ReceivedRequest,
        reach: Reach,
    ) -> HandlerAnswer:  # fmt: skip
        return handler(stores, call, reach, repeated=self.settings.accounting.repeated)

    def _modify(self, stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
        accounting, refunds = self.settings.accounting, self._refunds(call)
        return editing.modify(
            stores, call, reach, repeated=accounting.repeated, refunds=refunds,
            advice=self.advice, places=accounting.rates.precision,
        )  # fmt: skip

    def _refunds(self, call: ReceivedRequest) -> Reach | None:
        """The jobs that an actor may refund; None for none."""
        asked = replace(call.request, action="Refund", objects=(Object(JOB),))
        try:
            return self.settings.roles.reach(replace(call, request=asked))
        except Refused:
            return None

    def _answered(self, handler: Handler, call: ReceivedRequest) -> HandlerAnswer:
        reach = self.settings.roles.reach(call)
        if call.request.action not in READING:
            require_single(self.stores, call)
        return handler(self.stores, call, reach)

    def _priced(
        self, handler: Callable[[Accounting, Stores, ReceivedRequest, Reach], HandlerAnswer],
        stores: Stores, call: ReceivedRequest, reach: Reach,
    ) -> HandlerAnswer:  # fmt: skip
        return handler(self.settings.accounting, stores, call, reach)
