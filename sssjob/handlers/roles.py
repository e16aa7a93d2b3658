"""Who may do what, with which jobs: rules of roles, and the roles of actors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from sssjob.errors import InvalidValue, Refused
from sssjob.rmap.responder import ReceivedRequest
from sssjob.store.reach import EVERYBODY, Reach

ANY = "*"
ANONYMOUS, USER, MANAGER = "anonymous", "user", "manager"


class RoleScope(StrEnum):
    """Which jobs a rule is about.

    Those of the actor, those of projects that the actor manages besides, or everybody's.
    """

    OWN = "own"
    PROJECT = "project"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Permission:
    """An action on a kind of object that is allowed; ``*`` is any."""

    action: str
    object: str
    scope: RoleScope = RoleScope.ALL

    @classmethod
    def of(cls, text: str) -> Permission:
        """The rule that a text says: ``Query Job own``. Raises ``InvalidValue``.

        >>> Permission.of("Query Job own")
        Permission(action='Query', object='Job', scope=<RoleScope.OWN: 'own'>)
        """
        words = text.split()
        if len(words) != 3 or words[2] not in list(RoleScope):
            raise InvalidValue(text, 'an action, an object, and "own", "project" or "all"')
        return cls(words[0], words[1], RoleScope(words[2]))

    def covers(self, action: str, object_: str) -> bool:
        """Whether it is about this action on this object."""
        return self.action in (ANY, action) and self.object in (ANY, object_)


def _rules(*texts: str) -> tuple[Permission, ...]:
    return tuple(map(Permission.of, texts))


# fmt: off
USUAL: Mapping[str, tuple[Permission, ...]] = MappingProxyType({
    "admin":     _rules("* * all"),
    "scheduler": _rules(
        "Query * all", "Create * all", "Modify * all", "Cancel Job all", "Hold Job all",
        "Submit Job all", "Release Job all", "Refresh Job all",
        "Submit JobGroup all", "Cancel JobGroup all", "Hold JobGroup all", "Release JobGroup all",
        "Charge Job all", "Reserve Job all", "Quote Job all",
    ),
    USER:        _rules(
        "Query Job own", "Query JobGroup own", "Quote Job own", "Cancel Job own", "Hold Job own",
        "Query Transaction own", "Query Reservation own", "Query ReservationAllocation own",
        "Query Quotation own",
    ),
    MANAGER:     _rules(
        "Query Job project", "Query JobGroup project", "Query Transaction project",
        "Query Reservation project", "Query ReservationAllocation project",
        "Query Quotation project",
    ),
    ANONYMOUS:   (),
})
# fmt: on


@dataclass(frozen=True, slots=True)
class Roles:
    """The rules of each role, and the roles of actors; who has none listed has the ``usual`` one.

    Who manages ``projects`` is a manager, too. An actor that is not proven is anonymous, whatever
    it is called.
    """

    rules: Mapping[str, Iterable[Permission]] = field(default_factory=lambda: USUAL)
    actors: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    usual: str = USER
    projects: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def reach(self, call: ReceivedRequest) -> Reach:
        """With which jobs the actor may do what it asks for. Raises ``Refused`` (444)."""
        asked = call.request
        own = self.actors.get(call.actor, (self.usual,)) if call.proven else ()
        managed = self.projects.get(call.actor, ()) if call.proven else ()
        found = {
            rule.scope
            for role in (ANONYMOUS, *own, *((MANAGER,) if managed else ()))
            for rule in self.rules.get(role, ())
            if rule.covers(asked.action, asked.object)
        }
        if RoleScope.ALL in found:
            return EVERYBODY
        if found and call.proven:  # somebody unknown has no jobs
            return Reach(call.actor, managed if RoleScope.PROJECT in found else ())
        raise Refused("444", f"{call.actor} may not do this ({asked.object} {asked.action})")
