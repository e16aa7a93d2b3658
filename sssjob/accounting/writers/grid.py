"""What grids want to know beside the job: the site, its infrastructure and its benchmark."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from sssjob import units
from sssjob.accounting.writers.losses import NO_PLACE, TakenJob
from sssjob.model import Property, stripped

SERVICE_LEVEL = "ServiceLevel"
GRID = "grid"

# Extensions that other readers made of what grids say.
_KNOWN = {
    ("APEL", "Site"): "Site",
    ("CAR", "Site"): "Site",
    ("VOMS", "FQAN"): "FQAN",
    ("VOMS", "Group"): "vo-group",
    ("VOMS", "vo-group"): "vo-group",
    ("VOMS", "Role"): "vo-role",
    ("VOMS", "vo-role"): "vo-role",
    ("APEL", "InfrastructureType"): "infrastructure",
    ("CAR", "Infrastructure/type"): "infrastructure",
    ("APEL", "InfrastructureDescription"): "description",
    ("CAR", "Infrastructure/description"): "description",
}
ATTRIBUTES = ("FQAN", "vo-group", "vo-role")  # of a user, by the names that CAR gives them


class GridSite(NamedTuple):
    """Where jobs ran: the name of the site, its submit host, and the benchmark of its machines.

    ``benchmark`` is the type of the figure, such as HEPscore23, and ``figure`` the number for one
    processor. What a job itself says of them comes first.
    """

    name: str = ""
    submit_host: str = ""
    infrastructure: str = GRID
    benchmark: str = ""
    figure: str = ""


def is_noted(item: Property) -> bool:
    """Whether an Extension says what is ``noted``."""
    return (item.said("type"), item.attributes.get("name", "")) in _KNOWN


def is_level(item: Property) -> bool:
    """Whether a Resource is a figure of a benchmark."""
    return item.attributes.get("name") == SERVICE_LEVEL


def noted(job: TakenJob) -> dict[str, str]:
    """What Extensions say of the grid, taken; the others stay."""
    found: dict[str, str] = {}
    for item in job.all("Extension", "type", "name"):
        key = _KNOWN.get((item.said("type"), item.attributes.get("name", "")))
        if key is None or key in found:
            job.lose(item, NO_PLACE)
        elif text := stripped(item.text):
            found[key] = text
    return found


def infrastructure(job: TakenJob, site: GridSite) -> tuple[str, str]:
    """The type of the infrastructure, and its description, "" where nobody gives one."""
    said = noted(job)
    return said.get("infrastructure") or site.infrastructure, said.get("description", "")


def levels(job: TakenJob, site: GridSite) -> dict[str, Fraction]:
    """All benchmarks that are known of the job's processors, by their types; the first counts."""
    found: dict[str, Fraction] = {}
    for item in job.all("Resource", "name", "type"):
        kind = item.said("type")
        if not is_level(item) or not kind or kind in found:
            job.lose(item, NO_PLACE)
        elif job.number(item):
            found[kind] = units.number(item.text)
    if not found and site.benchmark:
        found[site.benchmark] = Fraction(site.figure)
    return found


def level(job: TakenJob, site: GridSite) -> tuple[str, str]:
    """The type and the figure of the benchmark, "" where nobody says."""
    found = ("", "")
    for item in job.all("Resource", "name", "type"):
        if found[1] or not is_level(item):
            job.lose(item, NO_PLACE)
        elif job.number(item):
            found = (item.said("type"), stripped(item.text))
    return found if found[1] else (site.benchmark, site.figure)
