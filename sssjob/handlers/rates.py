"""What a job costs: the rate table of a site, and how a charge comes about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from sssjob.store.ledger import RESOURCE
from sssjob.units import decimal

# An amount, or a factor, in the details of a bill.
_PRICED = re.compile(
    r"(?:^\(|\+) \( ([0-9.]+) \[([A-Za-z]+)\] \* |\* [0-9.]+ \[ChargeRate\{(?!Resource\})(\w+)\}\{"
    r"(.*?)\}\](?= \* | = [0-9.]+$)"
)


def priced_by(details: str) -> dict[str, str]:
    """By which values of which properties a bill was made, of its details.

    >>> rates = ChargeRates({"Disk": Fraction(1)}, {"Queue": {"long": Fraction(2)}})
    >>> priced_by(rates.bill(60, lambda name: Fraction(5, 2), lambda name: "long").details)
    {'Disk': '2.5', 'Queue': 'long'}
    """
    return {name or factor: amount or value
            for amount, name, factor, value in _PRICED.findall(details)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bill:
    """An amount, how it came about, and what had no rate."""

    amount: Fraction
    details: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChargeRates:
    """Charges by second: each resource by its rate, all of it times each multiplier.

    ``resources`` are rates by property: for one processor, or a megabyte, and a second.
    ``multipliers`` are factors by property and value. Amounts have ``precision`` decimal places.
    """

    resources: Mapping[str, Fraction] = field(default_factory=lambda: MappingProxyType({}))
    multipliers: Mapping[str, Mapping[str, Fraction]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    precision: int = 0

    def bill(
        self, duration: int, amount: Callable[[str], Fraction | None], text: Callable[[str], str]
    ) -> Bill:
        """What a job costs that lasts so many seconds.

        ``amount`` gives its amount of a resource, None if it has none of it, and ``text`` the
        value of a property, "" if it has none. What has no value costs nothing, and multiplies
        nothing; a value that has no rate multiplies nothing, either, and is a warning.

        >>> rates = ChargeRates({"Processors": Fraction(1)})
        >>> rates.bill(1155, {"Processors": Fraction(16)}.get, lambda name: "").amount
        Fraction(18480, 1)
        """
        total, parts = Fraction(), []
        for name, rate in self.resources.items():
            used = amount(name)
            if used is not None:
                total += used * rate
                named = f"[ChargeRate{{Resource}}{{{name}}}]"
                parts.append(f"( {decimal(used)} [{name}] * {decimal(rate)} {named} )")
        total *= duration
        factors, warnings = [f"{duration} [WallDuration]"], []
        for name, rates in self.multipliers.items():
            value = text(name)
            if not value:
                continue
            if value not in rates:
                warnings.append(f"No charge rate for {name} {value}")
                continue
            total *= rates[value]
            factors.append(f"{decimal(rates[value])} [ChargeRate{{{name}}}{{{value}}}]")
        rounded = self.rounded(total)
        details = f"( {' + '.join(parts) or 0} ) * {' * '.join(factors)} = {decimal(rounded)}"
        return Bill(rounded, details, tuple(warnings))

    def rounded(self, amount: Fraction) -> Fraction:
        """An amount in the smallest unit of the currency; halves go up."""
        scale = 10**self.precision
        return Fraction(int(amount * scale + Fraction(1, 2)), scale)

    def as_rows(self) -> dict[tuple[str, str], Fraction]:
        """The table by type and name, to be kept with a quote."""
        rows = {(RESOURCE, name): rate for name, rate in self.resources.items()}
        for type_, rates in self.multipliers.items():
            rows |= {(type_, value): rate for value, rate in rates.items()}
        return rows

    @classmethod
    def from_rows(cls, rows: Mapping[tuple[str, str], Fraction], precision: int) -> ChargeRates:
        """The table that was kept."""
        resources: dict[str, Fraction] = {}
        multipliers: dict[str, dict[str, Fraction]] = {}
        for (type_, name), rate in rows.items():
            table = resources if type_ == RESOURCE else multipliers.setdefault(type_, {})
            table[name] = rate
        return cls(resources, multipliers, precision)
