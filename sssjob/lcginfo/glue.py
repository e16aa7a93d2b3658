"""Static GLUE entries in, their dynamic attributes out: GLUE1 CEs and VO views, GLUE2 shares.

A static file says which queue and VO each entry stands for; the numbers come as answers. What
is printed is merged by name into the static entries, and stands in their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sssjob.errors import unheard
from sssjob.lcginfo import ldif
from sssjob.lcginfo.answers import ManagerAnswer, QueueAnswer
from sssjob.lcginfo.estimators import LARGEST
from sssjob.lcginfo.ldif import BadLDIF
from sssjob.lcginfo.names import normal
from sssjob.lcginfo.site import Pair
from sssjob.lcginfo.snapshot import Remark, Report
from sssjob.visible import Ldif

GLUE1, GLUE2 = "glue1", "glue2"
MANAGER = "manager"  # of GLUE2, whose numbers are those of a whole site


class GlueEntry(NamedTuple):
    """An entry that gets numbers: its lines of name, its schema, and what it stands for.

    The VO "" is the queue as a whole.
    """

    head: Ldif
    form: str
    queue: str
    vo: str

    @property
    def pair(self) -> Pair:
        """The queue and the VO."""
        return self.queue, self.vo


class Dynamic(NamedTuple):
    """One row: a value, and the attribute that it is in either schema, "" if in none."""

    of: Callable[[QueueAnswer], int | str | None]
    glue1: str
    glue2: str

    def attribute(self, form: str) -> str:
        """Its name in a schema."""
        return {GLUE1: self.glue1, GLUE2: self.glue2}.get(form, "")


# fmt: off
_CE, _SHARE = "GlueCEState", "GLUE2ComputingShare"
_WAITING = Dynamic(lambda it: it.waiting, f"{_CE}WaitingJobs", f"{_SHARE}WaitingJobs")
_RUNNING = Dynamic(lambda it: it.running, f"{_CE}RunningJobs", f"{_SHARE}RunningJobs")
_OTHERS = (
    Dynamic(lambda it: it.waiting + it.running,
            f"{_CE}TotalJobs", f"{_SHARE}TotalJobs"),
    Dynamic(lambda it: it.ert,
            f"{_CE}EstimatedResponseTime", f"{_SHARE}EstimatedAverageWaitingTime"),
    Dynamic(lambda it: it.wrt,
            f"{_CE}WorstResponseTime", f"{_SHARE}EstimatedWorstWaitingTime"),
    Dynamic(lambda it: it.free,
            f"{_CE}FreeJobSlots", f"{_SHARE}FreeSlots"),
)
# On request only, behind the others.
_FURTHER = (
    Dynamic(lambda it: it.free,      f"{_CE}FreeCPUs", ""),
    Dynamic(lambda it: it.used,      "",               f"{_SHARE}UsedSlots"),
    Dynamic(lambda it: it.requested, "",               f"{_SHARE}RequestedSlots"),
    Dynamic(lambda it: (it.rules and it.rules.serving.capitalize()) or None, f"{_CE}Status", ""),
    Dynamic(lambda it: (it.rules and it.rules.serving) or None, "", f"{_SHARE}ServingState"),
    Dynamic(lambda it: _least(it.cap, it.rules and it.rules.maxrunning),
            "", f"{_SHARE}MaxRunningJobs"),
    Dynamic(lambda it: _seconds(it.rules and it.rules.maxwalltime), "", f"{_SHARE}MaxWallTime"),
    Dynamic(lambda it: _seconds(it.rules and it.rules.walltime), "", f"{_SHARE}DefaultWallTime"),
)
_OF_MANAGERS = {
    "GLUE2ComputingManagerTotalSlots": lambda it: it.total,
    "GLUE2ComputingManagerSlotsUsedByGridJobs": lambda it: it.grid,
    "GLUE2ComputingManagerSlotsUsedByLocalJobs": lambda it: it.local,
}  # type: dict[str, Callable[[ManagerAnswer], int | None]]
# The order of the deployed programs, which is not the same for both.
PRINTED = {GLUE1: (_WAITING, _RUNNING, *_OTHERS), GLUE2: (_RUNNING, _WAITING, *_OTHERS)}
# fmt: on


def _least(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


def _seconds(time: float | None) -> int | None:
    return None if time is None else int(time)


_RDN = re.compile(r"(?:^|(?<!\\),)\s*+([A-Za-z0-9-]++)\s*+=")
_PARENT = "GlueCEUniqueID="
_RULE = re.compile(r"(?:VO|VOMS)\s*+:\s*+(\S.*)", re.IGNORECASE | re.DOTALL)


def glue1(
    entries: Iterable[ldif.LdifEntry], access_rule: str = "last", report: Report = unheard
) -> list[GlueEntry]:
    """The CEs and VO views among entries, in their order. Raises ``BadLDIF``.

    ``access_rule`` says which rule of a view names its VO: the first, or the last.
    """
    found = [(entry, _first_name(entry)) for entry in entries]
    queues: dict[str, str] = {}
    for entry, name in found:
        if name == "glueceuniqueid":
            identifier = _mandatory(entry, "GlueCEUniqueID")
            if identifier in queues:
                report(Remark(entry.line, f"GlueCEUniqueID {identifier!r} appears again"))
            queues[identifier] = _mandatory(entry, "GlueCEName")
    targets = []
    for entry, name in found:
        if name == "gluevoviewlocalid":
            queue = _key(entry, "GlueChunkKey", queues, _PARENT)
            vo = _one_vo(entry, _ruled(entry), access_rule, report)
            targets.append(GlueEntry(entry.head, GLUE1, queue, vo))
        elif name == "glueceuniqueid":
            queue = queues[_mandatory(entry, "GlueCEUniqueID")]
            targets.append(GlueEntry(entry.head, GLUE1, queue, ""))
    return targets


def glue2(
    entries: Iterable[ldif.LdifEntry], access_rule: str = "last", report: Report = unheard
) -> list[GlueEntry]:
    """The computing shares among entries, in their order. Raises ``BadLDIF``.

    A share stands for the VO that its mapping policy names; one without a policy stands for
    its queue as a whole. Policies of endpoints say nothing here.
    """
    shares: dict[str, ldif.LdifEntry] = {}
    others: dict[str, str] = {}
    policies = []
    for entry in entries:
        names = [name.lower() for name in _RDN.findall(entry.dn)]
        if names[:1] == ["glue2shareid"]:
            identifier = _mandatory(entry, "GLUE2ShareID")
            if _is_storage(entry):
                others[identifier] = ""
                continue
            if identifier in shares:
                report(Remark(entry.line, f"GLUE2ShareID {identifier!r} appears again"))
            _mandatory(entry, "GLUE2ComputingShareMappingQueue")
            shares[identifier] = entry
        elif names[:1] == ["glue2policyid"] and "glue2shareid" in names:
            policies.append(entry)
    vos: dict[str, list[str]] = {identifier: [] for identifier in shares}
    known = {identifier: identifier for identifier in shares} | others
    for policy in policies:
        domains = _mandatories(policy, "GLUE2PolicyUserDomainForeignKey")
        if identifier := _key(policy, "GLUE2MappingPolicyShareForeignKey", known):
            vos[identifier] += [normal(domain) for domain in domains]
    return [
        GlueEntry(
            entry.head,
            GLUE2,
            _mandatory(entry, "GLUE2ComputingShareMappingQueue"),
            _one_vo(entry, vos[identifier], access_rule, report),
        )
        for identifier, entry in shares.items()
    ]


def managers(
    entries: Iterable[ldif.LdifEntry], access_rule: str = "last", report: Report = unheard
) -> list[GlueEntry]:
    """The computing managers among entries, in their order."""
    return [
        GlueEntry(entry.head, MANAGER, "", "")
        for entry in entries
        if _first_name(entry) == "glue2managerid"
        and "glue2computingmanager" in {each.strip().lower() for each in entry.all("objectClass")}
    ]


READERS = {GLUE1: glue1, GLUE2: glue2, MANAGER: managers}


def pairs(targets: Iterable[GlueEntry]) -> list[Pair]:
    """The queues and VOs that targets stand for, each once."""
    return list(dict.fromkeys(target.pair for target in targets if target.form != MANAGER))


def text(
    targets: Sequence[GlueEntry],
    answers: Iterable[QueueAnswer],
    further: Collection[str] = (),
    manager: ManagerAnswer | None = None,
) -> Ldif:
    """The dynamic attributes of all targets as LDIF; a number that is not known is left out.

    ``further`` names attributes that are printed beside the usual six, of ``config.FURTHER``;
    ``manager`` has those of managers.

    >>> print(text([GlueEntry(Ldif("dn: GlueCEUniqueID=a"), "glue1", "long", "")],
    ...            [QueueAnswer("long", "", 3, 1, 0, 60, None)]), end="")
    dn: GlueCEUniqueID=a
    GlueCEStateWaitingJobs: 1
    GlueCEStateRunningJobs: 3
    GlueCEStateTotalJobs: 4
    GlueCEStateEstimatedResponseTime: 60
    GlueCEStateFreeJobSlots: 0
    <BLANKLINE>
    """
    by_pair = {(answer.queue, answer.vo): answer for answer in answers}
    rows = {
        form: (*usual, *(row for row in _FURTHER if row.attribute(form) in further))
        for form, usual in PRINTED.items()
    }
    lines = (
        line
        for target in targets
        for line in (
            _entry(target, by_pair[target.pair], rows[target.form])
            if target.form != MANAGER
            else _of_manager(target, manager, further)
        )
    )
    return Ldif.joined((*lines, Ldif()), "\n")


def _entry(target: GlueEntry, answer: QueueAnswer, rows: Iterable[Dynamic]) -> Iterator[Ldif]:
    yield target.head
    for row in rows:
        if (value := row.of(answer)) is not None:
            shown = value if isinstance(value, str) else str(min(value, LARGEST))
            yield ldif.line(row.attribute(target.form), shown)
    yield Ldif()


def _of_manager(
    target: GlueEntry, answer: ManagerAnswer | None, further: Collection[str]
) -> Iterator[Ldif]:
    yield target.head
    for name, of in _OF_MANAGERS.items():
        if name in further and answer is not None and (value := of(answer)) is not None:
            yield ldif.line(name, str(min(value, LARGEST)))
    yield Ldif()


def _first_name(entry: ldif.LdifEntry) -> str:
    """The attribute that an entry is named by, in small letters."""
    found = _RDN.match(entry.dn)
    return found[1].lower() if found else ""


def _is_storage(entry: ldif.LdifEntry) -> bool:
    classes = {name.strip().lower() for name in entry.all("objectClass")}
    return "glue2storageshare" in classes and "glue2computingshare" not in classes


def _mandatories(entry: ldif.LdifEntry, name: str) -> list[str]:
    """The values of an attribute that has to be there."""
    values = [value.strip() for value in entry.all(name) if value.strip()]
    if not values:
        raise BadLDIF(f"Missing mandatory attribute {name}: {_place(entry)}")
    return values


def _mandatory(entry: ldif.LdifEntry, name: str) -> str:
    return _mandatories(entry, name)[0]


def _key(entry: ldif.LdifEntry, name: str, known: Mapping[str, str], prefix: str = "") -> str:
    """What is known of the entry that a foreign key names; one key of several will do."""
    keys = _mandatories(entry, name)
    for key in keys:
        start, rest = key[: len(prefix)], key[len(prefix) :]
        if start.lower() == prefix.lower() and rest in known:
            return known[rest]
    raise BadLDIF(f"Invalid foreign key {keys[0]}: {_place(entry)}")


def _ruled(entry: ldif.LdifEntry) -> list[str]:
    """The VOs and FQANs that the access rules of a view name."""
    vos = []
    for rule in _mandatories(entry, "GlueCEAccessControlBaseRule"):
        found = _RULE.fullmatch(rule)
        if found is None:
            raise BadLDIF(f"Wrong ACBR definition {rule!r}: {_place(entry)}")
        vos.append(normal(found[1]))
    return vos


def _one_vo(entry: ldif.LdifEntry, vos: Sequence[str], access_rule: str, report: Report) -> str:
    """The VO that counts, of those that are named; "" if none is."""
    if not vos:
        report(Remark(entry.line, f"{entry.dn}: no policy names a VO; the whole queue is shown"))
        return ""
    vo = vos[0 if access_rule == "first" else -1]
    if len(set(vos)) > 1:
        named = ", ".join(dict.fromkeys(vos))
        report(Remark(entry.line, f"{entry.dn}: of {named} the {access_rule} counts, {vo}"))
    return vo


def _place(entry: ldif.LdifEntry) -> str:
    return f"line {entry.line}: {entry.dn}"
