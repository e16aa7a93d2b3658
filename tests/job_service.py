"""A service where tests ask about jobs: handlers over a store of their own, without a server."""

import io
from contextlib import contextmanager

from sssjob import store, units
from sssjob.delivery import StoreDelivery
from sssjob.document import tree
from sssjob.errors import Refused
from sssjob.gateway.actions import Actions
from sssjob.handlers.roles import Roles
from sssjob.handlers.service import Service, ServiceSettings
from sssjob.handlers.stores import Stores
from sssjob.records import find
from sssjob.rmap.message import (
    Conj,
    Data,
    DataDocument,
    Get,
    Object,
    Op,
    Option,
    Request,
    Set,
    Where,
)
from sssjob.rmap.reading import item
from sssjob.rmap.responder import ReceivedRequest

ROLES = Roles(actors={"root": ("admin",), "maui": ("scheduler",)})


class JobService:
    """Somebody asks here; rows come as plain tuples, documents as bytes."""

    def __init__(self, address, **settings):
        settings.setdefault("roles", ROLES)
        self.address = address
        self.service = Service(Stores(address), ServiceSettings(**settings))
        self.actions = Actions(self.service.actions, self.service.is_quick)

    def answer(
        self, action, *, actor="root", origin="10.0.0.7", proven=True, now=1000.0, mark="",
        flat=False, **asks,
    ):  # fmt: skip
        request = asked(action, actor=actor, **asks)
        answer = self.actions(ReceivedRequest(request, actor, origin, proven, now, mark, flat))
        return answer, list(answer.rows)

    def ask(self, action, **options):
        """What each row holds: names and values, or the whole document."""
        _, rows = self.answer(action, **options)
        return [row.xml.decode() if isinstance(row, DataDocument) else dict(row.fields)
                for row in rows]  # fmt: skip

    def ids(self, *wheres, **options):
        return [row["Id"] for row in self.ask("Query", gets=["Id"], wheres=wheres, **options)]

    def code(self, action, **options):
        """The code of a refusal; the others fail."""
        try:
            answer, _ = self.answer(action, **options)
        except Refused as error:
            return error.code
        return answer.code

    def said(self, action, **options):
        """The message of an answer or a refusal."""
        try:
            return self.answer(action, **options)[0].message
        except Refused as error:
            return error.message

    def create(self, *documents, actor="root"):
        self.answer("Create", data=documents, actor=actor)

    def deliver(self, id_, started, ended, submitted):
        """A record of a run as sacct prints it when that has ended; what is told of it."""
        times = map(units.iso, (started, ended, submitted))
        line = "|".join((id_, "ann", "COMPLETED", "0:0", *times, "2"))
        return self.deliver_log(f"JobID|User|State|ExitCode|Start|End|Submit|NCPUS\n{line}\n")

    def deliver_log(self, log):
        """The records of a log of sacct; what is told of them."""
        with self.service.stores.use() as jobs:
            source = io.BytesIO(log.encode())
            return [*StoreDelivery(jobs).take_records(source, "r", find("slurm"), "UTC")]

    def stored(self, id_):
        with self.service.stores.use() as jobs:
            return jobs.get(id_)


def asked(
    action, *, actor="root", object="Job", gets=(), sets=(), wheres=(), options=None, data=(), id=""
):
    """A request of plain texts and tuples."""
    return Request(
        action, actor, tuple(map(Object, object.split())), tuple(map(_get, gets)),
        tuple(each if isinstance(each, Set) else Set(*each) for each in sets),
        tuple(map(_where, wheres)),
        tuple(
            Option(name, str(value))
            for name, values in (options or {}).items()
            for value in (values if isinstance(values, list) else [values])
        ),
        Data(tuple(item(tree.parse(each)) for each in data)) if data else None, id=id,
    )  # fmt: skip


@contextmanager
def job_service(address, **settings):
    store.open(address, create=True).close()
    made = JobService(address, **settings)
    try:
        yield made
    finally:
        made.service.stores.close()


def _get(asked):
    return (
        asked if isinstance(asked, Get) else Get(*asked) if isinstance(asked, tuple) else Get(asked)
    )


def _where(asked):
    """A condition: name, op, value, and perhaps conj and group."""
    if isinstance(asked, Where):
        return asked
    name, op, value, *rest = asked
    conj = Conj(rest[0]) if rest else Conj.AND
    return Where(name, value, Op(op), conj, rest[1] if len(rest) > 1 else 0)
