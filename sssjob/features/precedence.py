"""One value for each key, from amounts in order of precedence that are checked against each other.

Nothing here reads a clock or a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sssjob import units
from sssjob.amounts import ASSUMED, DERIVED, EXACT, MAXIMUM, MINIMUM, UNKNOWN, Amount
from sssjob.errors import Finding, InvalidValue, finding
from sssjob.feature_rules import ENFORCED, GRANTED, REQUESTED, STATED, winner
from sssjob.features import keys
from sssjob.features.keys import Key, Value
from sssjob.features.write import content

_EXTENSION = "/Job/Extension"
_RATINGS = ("hs06", "hs06_job")
_OPEN = (MAXIMUM, MINIMUM)  # a request that leaves more than one number open


@dataclass(frozen=True, slots=True)
class Derived:
    """One value: the path of what gave it, on what basis, and why that number."""

    value: Value
    source: str
    basis: str = EXACT
    why: str = ""

    @property
    def text(self) -> str:
        """The value as the file has it, without the newline."""
        return keys.spell(self.value)

    @property
    def is_stated(self) -> bool:
        """Whether an extension of the job says this key by its name."""
        return self.source.startswith(_EXTENSION)


@dataclass(frozen=True, slots=True)
class Features:
    """The derived keys in printed order, why others are absent, and what was found on the way."""

    derived: Mapping[str, Derived] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def values(self) -> dict[str, Value]:
        """Key to value, as ``write`` takes it."""
        return {name: item.value for name, item in self.derived.items()}


class Choices:
    """What is chosen so far for the keys of a table; ``overrides`` are what the job states."""

    def __init__(self, table: Iterable[Key], overrides: Mapping[str, Value]) -> None:
        self.table, self.overrides = tuple(table), overrides
        self.findings: list[Finding] = []
        self.derived: dict[str, Derived] = {}
        self.absent: dict[str, str] = {}

    def report(self, found: Finding) -> None:
        """Keep a finding, once."""
        if found not in self.findings:
            self.findings.append(found)

    def choose(
        self, name: str, amounts: Sequence[Amount],
        host: Amount | None = None, granted: Amount | None = None,
    ) -> None:  # fmt: skip
        """Take what the winner says (``PRECEDENCE``); the others are checked against it.

        What the machine enforces, ``host``, decides what a request leaves open. # decision 75
        """
        decides = host is not None and _decides(host, amounts)
        if host is not None:
            amounts = (host, *amounts) if decides else (*amounts, host)
        said = {
            GRANTED: granted is not None,
            STATED: name in self.overrides,
            ENFORCED: decides,
            REQUESTED: bool(amounts),
        }
        who = winner([each for each, says in said.items() if says])
        if who == GRANTED and granted is not None:
            self.take(name, granted, (*self.stated(name), *amounts))
        elif who == STATED:
            self.override(name, self.overrides[name], amounts)
        elif who:
            self.take(name, amounts[0], amounts[1:])

    def take(self, name: str, first: Amount, others: Iterable[Amount]) -> None:
        """Take an amount; the others are checked against it."""
        for other in others:
            self._check(name, first, other)
        self._keep(name, first)

    def stated(self, name: str) -> Iterator[Amount]:
        """The number of an extension, where something else wins over it."""
        text = self.overrides.get(name)
        path = f"{_EXTENSION}[@name='{name}']"
        try:
            value = "" if text is None else keys.parse(str(text), keys.key(name, self.table), name)
        except InvalidValue as error:
            self.report(finding("E-TYPE", f"{name}: {error}", path=path))
            return
        if not isinstance(value, str):
            yield Amount(Fraction(value), path)

    def override(self, name: str, text: Value, amounts: Sequence[Amount]) -> None:
        """Take the text of an extension, and say if it was useless or differs."""
        path = f"{_EXTENSION}[@name='{name}']"
        if not keys.is_name(name):
            self.report(finding("E-TYPE", f"{name!r} cannot be a key", path=path))
            return
        try:
            value = keys.parse(str(text), keys.key(name, self.table), name)
            if value == "":
                return
            content(name, value)
        except InvalidValue as error:
            self.report(finding("E-TYPE", f"{name}: {error}", path=path))
            return
        self.derived[name] = Derived(value, path, why="an extension wins")
        if amounts and amounts[0].basis not in (ASSUMED, UNKNOWN) and not isinstance(value, str):
            if value == _number(amounts[0], name):
                text = f"the extension repeats {amounts[0].source}"
                self.report(finding("W-USELESS", text, path=path))
            elif amounts[0].basis == DERIVED and value > amounts[0].value:
                most = f"more than the {units.decimal(amounts[0].value)} of {amounts[0].source}"
                text = f"{name} is {units.decimal(Fraction(value))} by {path}, {most}"
                self.report(finding("W-DISAGREE", text, path=path))
            else:
                self._check(name, Amount(Fraction(value), path), amounts[0])

    def features(self, vocabulary: str = "v2016") -> Features:
        """What is chosen, in printed order, and why other keys of the vocabulary are absent."""
        order = keys.names(self.table, vocabulary)
        known = {name: self.derived[name] for name in order if name in self.derived}
        absent = {
            name: self.absent.get(name, "no source gives it") for name in order if name not in known
        }
        return Features({**known, **self.derived}, absent, tuple(self.findings))

    def _check(self, name: str, first: Amount, other: Amount) -> None:
        if not {ASSUMED, DERIVED, UNKNOWN}.isdisjoint((first.basis, other.basis)):
            return
        if other.value == first.value or first.value in other.admitted:
            return
        self.report(
            finding(
                "W-DISAGREE",
                f"{name} is {units.decimal(first.value)} by {first.source}, "
                f"but {units.decimal(other.value)} by {other.source}",
                path=other.source,
            )
        )

    def _keep(self, name: str, amount: Amount) -> None:
        row = keys.key(name, self.table)
        assert row is not None
        if amount.basis == UNKNOWN:
            self.absent[name] = f"{amount.source}: {amount.why}"
            return
        try:
            value = keys.admit(_number(amount, name), row)
        except InvalidValue as error:
            self.absent[name] = f"{amount.source} gives no possible value"
            self.report(finding("E-TYPE", f"{name}: {error}", path=amount.source))
            return
        self.derived[name] = Derived(value, amount.source, amount.basis, amount.why)
        if amount.basis == ASSUMED:
            text = f"{name} is assumed to be {keys.spell(value)}: {amount.why}"
            self.report(finding("I-MISSING", text, path=amount.source))


def _decides(host: Amount, amounts: Sequence[Amount]) -> bool:
    """Whether the first amount leaves open what the machine says for certain."""
    if not amounts or host.basis not in (EXACT, MAXIMUM):
        return not amounts
    first = amounts[0]
    if first.basis in (ASSUMED, UNKNOWN):
        return True
    return first.basis in _OPEN and host.value in first.admitted


def _number(amount: Amount, name: str) -> int | Fraction:
    """The amount as the key has it: ratings as they are, processors of a share rounded up."""
    if name in _RATINGS:
        return Fraction(round(amount.value * 100), 100)
    if name == "cpufactor_lrms":
        return amount.value
    return math.ceil(amount.value) if name == "allocated_cpu" else math.floor(amount.value)
