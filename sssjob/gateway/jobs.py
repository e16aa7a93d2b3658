"""What the file of a gateway says about jobs: where they are kept, and who may do what."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from sssjob import spec
from sssjob.errors import InvalidValue, UnusableInput, UnusableStore
from sssjob.handlers.attributes import attribute
from sssjob.handlers.charging import Accounting
from sssjob.handlers.hooks import PLACE, PLACES, Hook
from sssjob.handlers.rates import ChargeRates
from sssjob.handlers.roles import USER, USUAL, Permission, Roles
from sssjob.handlers.service import ServiceSettings
from sssjob.handlers.submitting import GatewaySubmission
from sssjob.settings import SettingsTable
from sssjob.store.opening import require_library
from sssjob.submission import control
from sssjob.users import account

_ACTIONS = ("Cancel", "Hold")
_PROJECTS = 100  # of an actor; databases take expressions of a certain depth only
_LOCKS = "submission-locks"  # beside the store, or the configuration
_RESOURCE = "Resource"  # the type of rates that Gold has for amounts


@dataclass(frozen=True, slots=True)
class StoreJobs:
    """The store of a gateway, "" where it has none, and what holds for the jobs in it.

    ``patience`` is how many seconds a change waits for other writers.
    """

    store: str = ""
    patience: float = 10.0
    settings: ServiceSettings = field(default_factory=ServiceSettings)


def jobs(root: SettingsTable, directory: Path) -> StoreJobs:
    """What the tables store, roles, actors, rates, charges, hooks and submission say.

    ``directory`` is that of the file.
    """
    store, hooks = root.table("store"), _hooks(root.table("hooks"))
    address = _address(store)
    beside = Path(address).parent if address and "://" not in address else directory
    to = _submission(root.table("submission"), beside)
    if to is not None and not address:
        root.table("submission").problem("to", "no store", "[store] address, where jobs are kept")
    if to is not None and hooks:
        text = "no hook together with [submission], which does these actions itself"
        root.table("hooks").problem(next(iter(hooks)), "a hook", text)
    return StoreJobs(
        address,
        store.seconds("patience", 10.0, least=0.1),
        ServiceSettings(_roles(root), _accounting(root), hooks, to),
    )


def _submission(table: SettingsTable, beside: Path) -> GatewaySubmission | None:
    """The batch system that jobs are submitted to, and as whom they run."""
    to = table.text("to")
    found = GatewaySubmission(
        to,
        table.file("locks") or beside / _LOCKS,
        table.text("account"),
        table.texts("queues"),
        table.seconds("timeout", 60.0, least=0.1),
        table.seconds("every", 30.0, least=0.1),
        table.integer("at_once", 2, least=1, most=100),
    )
    if not to:
        return None
    try:
        control(to)
    except UnusableInput as error:
        table.problem("to", str(error), "a batch system such as slurm")
    if not found.account and os.geteuid() == 0:
        table.problem("account", "nothing, and root runs this", "the account that jobs run as")
    if found.account and account(found.account) is None:
        table.problem("account", repr(found.account), "an account of this machine")
    return found


def _address(store: SettingsTable) -> str:
    text = store.text("address")
    if not text or "://" not in text:
        path = store.file("address")
        return str(path) if path else ""
    try:
        secret = urlsplit(text).password
    except ValueError:
        secret = None
    if secret:
        store.problem("address", "a password", "an address without one; PostgreSQL reads ~/.pgpass")
    try:
        require_library(text)
    except UnusableStore as error:
        store.problem("address", "no library for PostgreSQL", error.reason)
    return text


def _roles(root: SettingsTable) -> Roles:
    rules = dict(USUAL)
    for name, role in root.tables("roles"):
        found = []
        for text in role.texts("allow"):
            try:
                found.append(Permission.of(text))
            except InvalidValue:
                role.problem(
                    "allow",
                    repr(text),
                    'rules such as "Query Job own", "Query Job project" or "* * all"',
                )
        rules[name] = tuple(found)
    actors: dict[str, tuple[str, ...]] = {}
    projects: dict[str, tuple[str, ...]] = {}
    for name, actor in root.tables("actors"):
        if "roles" in actor:
            actors[name] = actor.texts("roles", among=rules)
        else:
            actor.texts("roles")
        if managed := actor.texts("projects"):
            projects[name] = managed
        if len(managed) > _PROJECTS:
            actor.problem("projects", f"{len(managed)} projects", f"{_PROJECTS} at most")
    usual = root.table("security").text("role", USER, among=rules)
    return Roles(
        MappingProxyType(rules), MappingProxyType(actors), usual, MappingProxyType(projects)
    )


def _accounting(root: SettingsTable) -> Accounting:
    usual, charges = Accounting(), root.table("charges")
    resources: dict[str, Fraction] = {}
    multipliers: dict[str, Mapping[str, Fraction]] = {}
    for name, table in root.tables("rates"):
        found = {key: _rate(table, key) for key in table.names}
        if name == _RESOURCE:
            for key in found:
                if attribute(key) is None or key not in spec.properties(spec.DELIVERED):
                    table.problem(key, "a rate", "the name of a resource such as Processors")
            resources = found
        elif attribute(name) is None:
            table.problem("", "rates", f"{_RESOURCE}, or a property such as QualityOfService")
        else:
            multipliers[name] = MappingProxyType(found)
    return Accounting(
        ChargeRates(
            MappingProxyType(resources), MappingProxyType(multipliers),
            charges.integer("precision", 0, most=6),
        ),
        charges.integer("quoted", usual.quoted),
        charges.integer("reserved", usual.reserved),
        charges.integer("repeated", usual.repeated),
        charges.integer("kept", usual.kept),
    )  # fmt: skip


def _rate(table: SettingsTable, name: str) -> Fraction:
    # As it is written: 0.1 is a tenth, not the nearest double.
    return Fraction(repr(table.number(name, 0.0)))


def _hooks(table: SettingsTable) -> Mapping[str, Hook]:
    found: dict[str, Hook] = {}
    for name, hook in table.tables_here():
        if name not in _ACTIONS:
            hook.problem("command", f"a hook for {name}", f"one for {' or '.join(_ACTIONS)}")
        command = hook.texts("command")
        if not command:
            hook.problem("command", "nothing", "a list: a program and its arguments")
        for part in command:
            if unknown := set(PLACE.findall(part)) - set(PLACES):
                said = ", ".join(f"{{{place}}}" for place in PLACES)
                hook.problem("command", f"{{{unknown.pop()}}}", f"one of {said}")
        sets = hook.table("set")
        values = {key: sets.text(key) for key in sets.names}
        for key in values:
            if (meant := attribute(key)) is None or meant.derived or meant.name == "Id":
                sets.problem(key, "a value", "the name of a property such as State")
        seconds = hook.seconds("timeout", 10.0, least=0.1)
        found[name] = Hook(command, seconds, MappingProxyType(values))
    return MappingProxyType(found)
