"""What a site makes of a report: names of people and departments, benchmark factors, charges.

Strategy. A report by department needs to know who was in which department when; a charge, the rate
of the queue at that time. Whoever adds up usage (a ledger, a store, documents) knows neither.

The idea is to ask for a finer report: by all that names, factors and rates ask of a job, and by the
periods between two times at which one of them changes. Its groups are few. What is the same of all
jobs of a group is then worked out once, and the groups are put together.

Why it is right: names, factors and rates are the same for all that is in a group, by the choice of
the groups; and charges are sums of products with the sums of a group. So each is what it would be
job by job, and all numbers stay exact: fractions, never doubles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from fractions import Fraction
from pathlib import Path

from sssjob.accounting import reference
from sssjob.accounting.reference import PRICES, LevelNames, Period, Rates, Told, Values, changes
from sssjob.accounting.report import Money, Report
from sssjob.errors import UnusableInput
from sssjob.measures import ASKED, FACTORS, RATES, WAIT, WHAT_IF, Number, Totals
from sssjob.spans import PERIOD, SPANS
from sssjob.units import plain

_CHARGES = ("charge", "charge_what_if")  # by the rates, and by the others
_FEW = 3  # names that are told of those without a row


@dataclass(slots=True)
class Valuation:
    """Names, factors, and one or two lists of rates, of which the second is the what-if.

    ``notes`` says what had no row, after ``fold``.
    """

    names: LevelNames = field(default_factory=LevelNames)
    factors: Values | None = None
    rates: tuple[Rates, ...] = ()
    notes: list[str] = field(default_factory=list)

    @classmethod
    def read(
        cls, names: Iterable[str], factors: str, rates: str, what_if: str, zone: tzinfo
    ) -> Valuation:
        """What the files of a site say, by their paths; "" is none. Times in them are of a zone.

        Raises ``OSError``, and ``SSSJobError`` for what is wrong with one, or for ``what_if``
        without ``rates``.
        """
        if what_if and not rates:
            raise UnusableInput("what-if needs rates, with which its charges are compared")
        found = cls(reference.names(map(Path, names), zone))
        if factors:
            found.factors = reference.factors(Path(factors), zone, found.names)
        named = (each for each in (rates, what_if) if each)
        found.rates = tuple(reference.rates(Path(each), zone, found.names) for each in named)
        return found

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to make of a report."""
        return bool(self.names.sources or self.factors or self.rates)

    @property
    def extra(self) -> tuple[str, ...]:
        """What a report tells besides."""
        found = (FACTORS,) if self.factors is not None else ()
        return (*found, *(RATES, WHAT_IF)[: len(self.rates)])

    def fine(self, report: Report) -> Report:
        """The report that is to be filled in for ``fold``. Raises ``UnusableInput``."""
        if self.rates:
            report.money = self._money()
        report.extra = (*(each for each in report.extra if each in (ASKED, WAIT)), *self.extra)
        if not self.is_needed:
            return report
        if report.percentiles is not None:
            text = (
                "percentiles of groups cannot be put together, as names, factors and rates need it"
            )
            raise UnusableInput(text)
        by = dict.fromkeys(self.names.base(name) for name in report.by)
        by |= dict.fromkeys(self._asked())
        cuts = changes(self._periods())
        if cuts:
            by[PERIOD] = None
        return replace(report, by=tuple(by), groups={}, cuts=cuts)

    def fold(self, fine: Report, report: Report) -> None:
        """Put the groups of the finer report together, with what a site makes of them."""
        if fine is report:
            return
        report.outside = fine.outside
        known = [*report.by, *self._wanted()]
        missing: set[tuple[str, str]] = set()
        without: Counter[tuple[str, str]] = Counter()
        for key, totals in fine.groups.items():
            told = dict(zip(fine.by, key, strict=True))
            time = self._time(told, fine.cuts)
            here = {name: self.names.of(name, told, time, missing) for name in known}
            totals.more |= self._made(totals, here, time, without)
            whole = tuple(here[name] for name in report.by)
            report.put(whole, totals)
            self._fold_histograms(fine, key, report, whole)
        self.notes = [*_missing(missing), *_without(without)]

    def _money(self) -> Money:
        """The money of all rates; a list that states no currency has that of the other."""
        every = [rates.money for rates in self.rates]
        currencies = {each.currency for each in every if each.currency}
        decimals = {each.decimals for each in every}
        if len(currencies) > 1 or len(decimals) > 1:
            text = " and ".join(f"{it.currency or '-'}, {it.decimals} decimals" for it in every)
            raise UnusableInput(f"rates in {text}: charges are compared in one money")
        return Money(currencies.pop() if currencies else "", decimals.pop())

    def _fold_histograms(
        self, fine: Report, key: tuple[str, ...], report: Report, whole: tuple[str, ...]
    ) -> None:
        if fine.histograms is not None and report.histograms is not None:
            before = report.histograms.group(whole)
            more = fine.histograms.group(key)
            added = tuple(one + other for one, other in zip(before, more, strict=True))
            report.histograms.groups[whole] = added

    def _asked(self) -> Iterator[str]:
        """What factors and rates ask of jobs, as jobs are grouped."""
        return map(self.names.base, self._wanted())

    def _wanted(self) -> list[str]:
        found = {} if self.factors is None else dict.fromkeys(sorted(self.factors.names))
        for rates in self.rates:
            for values in rates.prices.values():
                found |= dict.fromkeys(sorted(values.names))
        return [*found]

    def _periods(self) -> Iterator[Period]:
        yield from self.names.periods
        for values in self._values():
            yield from (row.period for row in values.rows)

    def _values(self) -> Iterator[Values]:
        if self.factors is not None:
            yield self.factors
        for rates in self.rates:
            yield from rates.prices.values()

    @staticmethod
    def _time(told: Told, cuts: Sequence[int]) -> int | None:
        """A time of the period of a group; None for jobs that have none."""
        if not cuts:
            return 0
        if not told[PERIOD]:
            return None
        number = int(told[PERIOD])
        return cuts[number - 1] if number else cuts[0] - 1

    def _made(
        self, totals: Totals, told: Told, time: int | None, without: Counter[tuple[str, str]]
    ) -> dict[str, Number]:
        """What is made of the sums of a group; ``without`` counts jobs that had no row."""
        made: dict[str, Number] = {}
        normalized: Number = totals.slots
        if self.factors is not None:
            factor = self.factors.of(told, time)
            if factor is None:
                without["factor", "1 is taken"] += totals.jobs
                factor = Fraction(1)
            normalized = plain(totals.slots * factor)
            made = {"slots": normalized, "cpu": plain(totals.cpu * factor)}
        for name, rates in zip(_CHARGES, self.rates, strict=False):
            charge: Number = 0
            for kind, values in rates.prices.items():
                of, unit = PRICES[kind]
                amount = normalized if of == "normalized" else getattr(totals, of) or 0
                price = values.of(told, time)
                if price is not None:
                    charge += price * amount / unit
                elif amount:
                    without[f"{kind} in {rates.file}", "not charged"] += totals.jobs
            made[name] = plain(Fraction(charge))
        return made


def _missing(missing: set[tuple[str, str]]) -> Iterator[str]:
    """What is said of names without a row."""
    by: dict[str, list[str]] = {}
    for level, name in sorted(missing):
        by.setdefault(level, []).append(name)
    for level, some in by.items():
        named = ", ".join(some[:_FEW]) + (", ..." if len(some) > _FEW else "")
        names = "name" if len(some) == 1 else "names"
        yield f"{len(some)} {names} without {level}, kept: {named}"


def _without(without: Counter[tuple[str, str]]) -> Iterator[str]:
    """What is said of jobs that no row is for."""
    for (what, then), count in sorted(without.items()):
        jobs = f"{count} {'job' if count == 1 else 'jobs'}" if count else "runs that ended later"
        yield f"no row for the {what} of {jobs}: {then}"


assert all(name in ("normalized", *Totals.__dataclass_fields__) for name, _ in PRICES.values())
assert PERIOD not in SPANS
