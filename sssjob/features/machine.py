"""The values of ``$MACHINEFEATURES``: of a configuration, a description, a job, and the machine.

Nothing here reads a clock or a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from sssjob import expression, units
from sssjob.amounts import DERIVED, Amount
from sssjob.errors import InvalidValue, finding
from sssjob.expression.offer import Offer
from sssjob.features import keys
from sssjob.features.precedence import Choices, Derived, Features
from sssjob.features.site import RATINGS, SETTINGS, Setting
from sssjob.features.sources import MACHINE_EXTENSION, RATING, extensions
from sssjob.model import Job, Property

_NO_SETTINGS: Mapping[str, Setting] = {}
_NO_AMOUNTS: Mapping[str, Amount] = {}


def derive(
    *,
    settings: Mapping[str, Setting] = _NO_SETTINGS,
    description: Offer | None = None,
    job: Job | None = None,
    granted: Mapping[str, Amount] = _NO_AMOUNTS,
    host: Mapping[str, Amount] = _NO_AMOUNTS,
    now: int | None = None,
) -> Features:
    """The values of both vocabularies for one machine.

    ``settings`` is what the site's configuration says of it, ``description`` an offer (a node as
    ``sssjob match`` takes it), ``job`` one whose Configured amounts describe its machine, and
    whose extensions of type MachineFeatures win; ``granted`` what its batch system gives to jobs,
    which may be more or less than the machine says of itself, ``host``.
    A shutdown time that is not after ``now`` is left out.
    """
    overrides = {} if job is None else extensions(job, MACHINE_EXTENSION)
    work = _Machine(settings, description, job, {**host, **granted}, now, overrides)
    for name, sources in _SOURCES.items():
        amounts = [amount for source in sources if (amount := source(work)) is not None]
        work.choose(name, amounts)
    work.texts()
    return work.features("name")


class _Machine(Choices):
    """One machine: what is said of it, and the keys that are chosen so far."""

    def __init__(
        self, settings: Mapping[str, Setting], description: Offer | None, job: Job | None,
        host: Mapping[str, Amount], now: int | None, overrides: Mapping[str, keys.Value],
    ) -> None:  # fmt: skip
        super().__init__(keys.MACHINE_FEATURES, overrides)
        self.settings, self.host, self.now = settings, host, now
        facts = {} if description is None else description.facts
        self.described = [item for items in facts.values() for item in items]
        self.job = job

    def setting(self, name: str) -> Amount | None:
        """A number of the configuration."""
        setting = self.settings.get(name)
        if setting is None:
            return None
        return Amount(Fraction(keys.parse(setting.text, SETTINGS[name], name)), setting.source)

    def configured(self, element: str, name: str = "") -> Amount | None:
        """What the description says the machine has, or a job in the context Configured."""
        for item in self.described:
            whole = item.said("context", "Configured") == "Configured"
            if item.name == element and item.attributes.get("name", "") == name and whole:
                return self._amount(item, f"description/{element}")
        if self.job is None:
            return None
        attributes = {"context": "Configured", **({"name": name} if name else {})}
        for path, items in (
            ("/Job/Delivered", self.job.delivered), ("/Job", self.job.properties)
        ):  # fmt: skip
            for item in items.all(element, **attributes):
                return self._amount(item, f"{path}/{element}[@context='Configured']")
        return None

    def texts(self) -> None:
        """What is no number: the command, and extensions that have no row."""
        command = self.settings.get("shutdown_command")
        if command is not None and "shutdown_command" not in self.overrides:
            self.derived["shutdown_command"] = Derived(command.text, command.source)
        for name, text in self.overrides.items():
            if name not in _SOURCES:
                self.override(name, text, ())

    def known(self, name: str) -> Fraction | None:
        """A number that is chosen."""
        item = self.derived.get(name)
        return None if item is None or isinstance(item.value, str) else Fraction(item.value)

    def _amount(self, item: Property, path: str) -> Amount | None:
        try:
            return Amount(expression.amount(item), path)
        except InvalidValue as error:
            self.report(finding("E-TYPE", str(error), line=item.line, path=path))
            return None


_Source = Callable[[_Machine], Amount | None]


def _setting(name: str) -> _Source:
    return lambda work: work.setting(name)


def _host(name: str) -> _Source:
    # "Potentially set to more or less than this for performance reasons": a setting needs no check.
    return lambda work: None if name in work.settings else work.host.get(name)


def _configured(element: str, name: str = "") -> _Source:
    return lambda work: work.configured(element, name)


def _rating(name: str) -> _Source:
    """A rating of the whole machine, by either benchmark."""

    def source(work: _Machine) -> Amount | None:
        found = work.setting(name)
        if found is None or name not in RATINGS:
            return found
        return Amount(found.value, found.source, why="HEPscore23, which counts as HS06")

    return source


def _rating_of_each(name: str) -> _Source:
    """The rating of one processor times the processors that may be allocated."""

    def source(work: _Machine) -> Amount | None:
        each, total = work.setting(name), work.known("total_cpu")
        if each is None or total is None:
            return None
        why = f"{units.decimal(each.value)} x {units.decimal(total)} processors"
        return Amount(each.value * total, each.source, DERIVED, why)

    return source


def _all_processors(work: _Machine) -> Amount | None:
    total = work.known("total_cpu")
    return None if total is None else Amount(total, "total_cpu", DERIVED, "one for each processor")


def _shutdown(work: _Machine) -> Amount | None:
    """The earliest that anybody says: the site, its batch system, or the machine itself."""
    said = (work.setting("shutdowntime"), work.host.get("shutdowntime"))
    found = [each for each in said if each is not None]
    ahead = [each for each in found if work.now is None or each.value > work.now]
    if found and not ahead:
        work.absent["shutdowntime"] = f"{found[0].source}: {found[0].value} has passed"
    return min(ahead, key=lambda each: each.value, default=None)


# fmt: off
# The first that yields a number wins; what is looked at last rests on keys chosen before.
_SOURCES: dict[str, tuple[_Source, ...]] = {
    "total_cpu":    (_setting("total_cpu"), _configured("Processors"), _host("total_cpu")),
    "phys_cores":   (_setting("phys_cores"), _host("phys_cores")),
    "log_cores":    (_setting("log_cores"), _host("log_cores"), _all_processors),
    "hs06":         (_rating("hs06"), _rating("hepscore"), _configured("Resource", RATING),
                     _rating_of_each("hs06_per_cpu"), _rating_of_each("hepscore_per_cpu")),
    "jobslots":     (_setting("jobslots"), _all_processors),
    "shutdowntime": (_shutdown,),
    "grace_secs":   (_setting("grace_secs"),),
}
# fmt: on
