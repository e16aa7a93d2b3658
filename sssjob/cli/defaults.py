"""Defaults of options that a user or a site has written into a configuration file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click

from sssjob.cli import common
from sssjob.errors import SSSJobError
from sssjob.users import at_home

VARIABLE = "SSSJOB_CONFIG"
NAME = Path("sssjob", "config.toml")
_READ = f"{__name__}.values"


class DefaultKey(NamedTuple):
    """A key of the file: the option or argument whose default it is, as the help has it."""

    of: str
    metavars: tuple[str, ...]
    is_path: bool = True

    def names(self, parameter: click.Parameter) -> bool:
        """Whether it is the default of an option or an argument."""
        called = parameter.opts if isinstance(parameter, click.Option) else [parameter.metavar]
        return self.of in called and parameter.metavar in self.metavars


KEYS = {
    "zone": DefaultKey("--tz", ("ZONE",), is_path=False),
    "machine": DefaultKey("--machine", ("DIR", "DIR|URL")),
    "site": DefaultKey("--site", ("FILE",)),
    "store": DefaultKey("STORE", ("STORE",)),
}


class DefaultValue(NamedTuple):
    """A value, and the file that it stands in."""

    text: str
    file: str


def of(context: click.Context, command: click.Command) -> Mapping[str, Any]:
    """The defaults of a command's options and arguments; no file is read for a command without."""
    wanted = {
        parameter.name: name
        for parameter in command.params
        for name, key in KEYS.items()
        if key.names(parameter)
    }
    if not wanted or context.resilient_parsing:
        return {}
    found = values(context)
    return {own: found[name].text for own, name in wanted.items() if own and name in found}


def check(context: click.Context) -> None:
    """End the command where the file that is named cannot be read or is wrong, whether or not the
    command has a default in it: who names a file means it. Others are read where they are asked.
    """
    if _named(context):
        values(context)


def values(context: click.Context) -> dict[str, DefaultValue]:
    """The value of each key that is set, the user's before the site's. What is wrong with a file
    ends the command.
    """
    kept = context.meta  # that of the whole command line
    if _READ not in kept:
        found: dict[str, DefaultValue] = {}
        for file in files(context):
            found |= {name: DefaultValue(text, str(file)) for name, text in _read(file)}
        kept[_READ] = found
    return dict(kept[_READ])


def zone(context: click.Context) -> str:
    """The zone of times that state none, also for commands that have no option for it; or ""."""
    found = values(context).get("zone")
    return found.text if found else ""


def files(context: click.Context) -> list[Path]:
    """The files that count, the last one most: the one that is named, or those that exist.

    A daemon may have the HOME of another user: what it may not read there is not meant for it.
    """
    if named := _named(context):
        return [Path(named)]
    return [path for path in reversed(places()) if os.access(path, os.R_OK) and path.is_file()]


def _named(context: click.Context) -> str:
    """The file that the command line or the variable names, or ""."""
    return context.find_root().params.get("config") or os.environ.get(VARIABLE, "")


def places() -> list[Path]:
    """Where files are looked for, the user's first; a user without a home has none."""
    own = os.environ.get("XDG_CONFIG_HOME", "")
    folders = [own] if own.startswith("/") else []
    if not folders:
        with suppress(OSError):
            folders.append(at_home("~/.config"))
    all_users = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    folders += [each for each in all_users.split(":") if each.startswith("/")]
    return [Path(folder) / NAME for folder in folders]


def _read(file: Path) -> Iterator[tuple[str, str]]:
    from sssjob import settings  # which few need

    try:
        given = settings.toml(file.read_text("utf-8"))
    except OSError as error:
        common.fail(common.reason(error))
    except UnicodeDecodeError as error:
        common.fail(f"{common.name_of(file)}: byte {error.start + 1} is not part of a UTF-8 text")
    except settings.BadToml as error:
        common.fail(f"{common.name_of(file)}: {error}")
    for name, value in given.items():
        if wrong := _wrong(name, value):
            common.fail(f"{common.name_of(file)}: {wrong}")
        yield name, _path(file, name, value) if KEYS[name].is_path else value


def _wrong(name: str, value: object) -> str:
    """What is wrong with a line of the file, if anything."""
    if name not in KEYS:
        return _unknown(name)
    if not isinstance(value, str) or not value:
        return f'{name} is a text, such as {name} = "...", and not {value!r}'
    if name == "zone":
        from sssjob.records.clock import timezone

        try:
            timezone(value)
        except SSSJobError as error:
            return f"{name}: {error}"
    return ""


def _unknown(name: str) -> str:
    from sssjob.suggestions import nearest

    meant = nearest(name, KEYS)
    advice = f"did you mean {meant}?" if meant else f"there are {', '.join(KEYS)}"
    return f"{name!r} is no key; {advice}"


def _path(file: Path, name: str, value: str) -> str:
    """A path beside its file; an address is as it is written."""
    if "://" in value or value.startswith("sqlite:"):
        return value
    try:
        return str(file.absolute().parent / at_home(value))
    except OSError as error:
        common.fail(f"{common.name_of(file)}: {name}: {common.reason(error)}")
