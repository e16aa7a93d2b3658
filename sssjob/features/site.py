"""What a site says about its machines: ratings, notice, shutdowns, in one TOML file.

>>> site = parse('hepscore_per_cpu = 12.5\\n[[nodes]]\\nnames = "n[1-4]"\\ngrace_secs = 600\\n')
>>> {name: str(amount.value) for name, amount in site.settings("n2").items()}
{'hepscore_per_cpu': '25/2', 'grace_secs': '600'}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from sssjob import directory_handles as handles
from sssjob import nodes, suggestions
from sssjob.amounts import Amount
from sssjob.errors import InvalidValue, LimitExceeded, UnusableInput
from sssjob.features import keys
from sssjob.model import Property
from sssjob.settings import BadToml, toml

LIMIT = 16 << 20  # bytes of one configuration

# HEPscore was scaled to HS06 on its reference machine, so one counts as the other.
RATINGS = {"hepscore": "hs06", "hepscore_per_cpu": "hs06_per_cpu"}
_OF_JOBS = ("cpufactor_lrms", "grace_secs_job")

SETTINGS: Mapping[str, keys.Key] = {
    **{row.name: row for row in keys.MACHINE_FEATURES},
    **{row.name: row for row in keys.JOB_FEATURES if row.name in _OF_JOBS},
    **{
        name: row
        for row in keys.MACHINE_FEATURES
        if row.name == "hs06"
        for name in ("hs06_per_cpu", *RATINGS)
    },
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value of the configuration, as text, and where it stands."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class SiteTables:
    """Settings of every machine, and of some by name; the last that names a key counts."""

    general: Mapping[str, Setting]
    tables: tuple[tuple[frozenset[str], Mapping[str, Setting]], ...] = ()

    def of(self, node: str = "") -> dict[str, Setting]:
        """The settings of one machine."""
        found = dict(self.general)
        for names, settings in self.tables:
            if node in names:
                found.update(settings)
        return found

    def settings(self, node: str = "") -> dict[str, Amount]:
        """The settings of one machine that are numbers."""
        return {
            name: Amount(Fraction(value), setting.source)
            for name, setting in self.of(node).items()
            if not isinstance(value := keys.parse(setting.text, SETTINGS[name], name), str)
        }


def read(path: str | Path, *, guarded: bool = False) -> SiteTables:
    """The configuration in a file. Raises ``UnusableInput`` or ``OSError``.

    A ``guarded`` one is of a file that nobody but root and this user can change or exchange: what
    it says is believed by all jobs. Raises ``Unprotected`` or ``InvalidValue`` for another.
    """
    with open(handles.open_file(path) if guarded else path, "rb") as file:
        octets = file.read(LIMIT + 1)
    if len(octets) > LIMIT:
        raise UnusableInput(f"{path}: more than {LIMIT >> 20} MiB")
    try:
        return parse(octets.decode(), str(path))
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{path}: UTF-8: byte {error.start + 1} is not") from None


def parse(text: str, name: str = "site") -> SiteTables:
    """The configuration in a text. Raises ``UnusableInput`` with the setting that is wrong."""
    try:
        data = toml(text)
    except BadToml as error:
        raise UnusableInput(f"{name}: no TOML: {error}") from None
    tables = data.pop("nodes", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UnusableInput(f"{name}: nodes are tables: [[nodes]]")
    return SiteTables(
        _settings(data, name),
        tuple(_table(table, f"{name}: nodes[{index}]") for index, table in enumerate(tables)),
    )


def _table(data: dict[str, object], place: str) -> tuple[frozenset[str], Mapping[str, Setting]]:
    stated = data.pop("names", None)
    names = [stated] if isinstance(stated, str) else stated
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise UnusableInput(f'{place}: names says which nodes are meant: names = "n[01-20]"')
    found: set[str] = set()
    for each in names:
        kind = "Range" if "[" in each else "List"
        try:
            meant = nodes.expand(Property("Node", each, {"aggregation": kind}))
        except (InvalidValue, LimitExceeded) as error:
            raise UnusableInput(f"{place}: names: {error}") from None
        assert isinstance(meant, nodes.Names)
        found.update(meant)
    return frozenset(found), _settings(data, place)


def _settings(data: Mapping[str, object], place: str) -> dict[str, Setting]:
    return {name: Setting(_text(name, value, place), place) for name, value in data.items()}


def _text(name: str, value: object, place: str) -> str:
    """A value of TOML as the text of a key, checked by its row."""
    row = SETTINGS.get(name)
    if row is None:
        meant = suggestions.nearest(name, SETTINGS)
        advice = f"; did you mean {meant}?" if meant else ""
        raise UnusableInput(f"{place}: {name} is not a setting{advice}")
    if isinstance(value, datetime):
        if value.tzinfo is None or row.kind != keys.TIME:
            raise UnusableInput(f"{place}: {name} needs a time with a zone, or seconds since 1970")
        value = int(value.timestamp())
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UnusableInput(f"{place}: {name} is {type(value).__name__}, not a number or a text")
    if (row.kind == keys.TEXT) != isinstance(value, str):
        raise UnusableInput(f"{place}: {name} is {value!r}, not {_wanted(row)}")
    text = value if isinstance(value, str) else repr(value)
    try:
        keys.parse(text, row, name)
    except InvalidValue as error:
        raise UnusableInput(f"{place}: {name}: {error}") from None
    return text


def _wanted(row: keys.Key) -> str:
    return "a text" if row.kind == keys.TEXT else "a number"
