"""What the commands of features share: values that are offered, and where they come from."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

import click

from sssjob.cli import common
from sssjob.cli.signals import terminable
from sssjob.errors import Severity, SSSJobError
from sssjob.features.vocabulary import VOCABULARIES, made_of, spoken

if TYPE_CHECKING:
    from sssjob.features.keys import Value
    from sssjob.features.precedence import Features
    from sssjob.features.site import SiteTables
    from sssjob.features.write import WrittenKeys

__all__ = ["VOCABULARIES", "offer", "rated", "site"]


def site(file: str, *, guarded: bool = False) -> SiteTables:
    """The configuration of the site, or the end of the command."""
    from sssjob.features.site import read

    try:
        return read(file, guarded=guarded)
    except (OSError, SSSJobError) as error:
        fail(error)


def machine_of(directory: str) -> dict[str, Value]:
    """The values of a local $MACHINEFEATURES, or the end of the command."""
    from sssjob.features import keys
    from sssjob.features.read import modern, read

    try:
        found = modern(read(directory, keys.MACHINE_FEATURES))
    except OSError as error:
        fail(error)
    common.print_findings(found.findings)
    return dict(found.values)


def rated(
    directory: str | None, known: SiteTables | None, node: str, *, ask: bool
) -> dict[str, Value]:
    """The machine of which a job has a share: of a directory, or as the configuration has it."""
    if directory is not None:
        return machine_of(directory)
    if known is None:
        return {}
    from sssjob.features import host, machine

    return machine.derive(settings=known.of(node), host=host.machine() if ask else {}).values


def there(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """An option's directory, which has to be there: what it limits would be missed silently."""
    if path and not os.path.isdir(path):
        raise click.BadParameter(f"{path} is not a directory")
    return path


def running(context: click.Context, option: click.Parameter, pid: int | None) -> int | None:
    """An option's process, which has to be there."""
    if pid is not None and not os.path.exists(f"/proc/{pid}"):
        raise click.BadParameter(f"there is no process {pid}")
    return pid


def fail(error: OSError | ValueError | SSSJobError) -> NoReturn:
    """End the command with what went wrong."""
    common.fail(common.reason(error) if isinstance(error, OSError) else error)


def offer(
    features: Features, directory: str | None, vocabulary: str, *, as_json: bool, explain: bool,
    file: str = "",
) -> NoReturn:  # fmt: skip
    """Write features into a directory if one is given, print them, and end the command."""
    stated = {name: item.value for name, item in features.derived.items() if item.is_stated}
    values = {**spoken(features.values, vocabulary), **stated}
    written = None
    if directory is not None:
        from sssjob.features.write import write

        try:
            with terminable():
                written = write(values, directory)
        except (OSError, ValueError) as error:
            fail(error)
    if as_json:
        common.data(json.dumps(_as_dict(features, values, written), indent=2, ensure_ascii=False))
    else:
        for line in _lines(features, values, written, explain):
            common.fitted(line)
    common.print_findings(found.in_file(file) for found in features.findings)
    if not values and not features.findings:
        why = "" if explain else ": --explain tells why of each key"
        common.say(f"sssjob: no feature is known{why}")
    errors = any(found.severity is Severity.ERROR for found in features.findings)
    sys.exit(common.NOTHING if errors or not values else common.FOUND)


def _lines(
    features: Features, values: dict[str, Value], written: WrittenKeys | None, explain: bool
) -> Iterator[str]:
    from sssjob.features.keys import spell

    width = max(map(len, (*values, *(features.absent if explain else ()))), default=0)
    for name, value in values.items():
        line = f"{name:{width}}  {spell(value)}"
        yield f"{line}  {_source(features, name)}" if explain else line
    if explain:
        for name, why in features.absent.items():
            yield f"{name:{width}}  -  {why}"
    if written is not None:
        yield f"{len(written.keys)} keys written to {written.directory}"
        if written.removed:
            yield f"removed: {', '.join(written.removed)}"


def _source(features: Features, name: str) -> str:
    """Where a value comes from; one that was converted names the key it was made of."""
    item = features.derived.get(name)
    if item is None:
        made = features.derived.get(made_of(name))
        if made is None:
            return "the reference machine (assumed: nothing says a factor)"
        return f"{made_of(name)} of {made.source} (derived: in the vocabulary of 2014)"
    return f"{item.source} ({item.basis}{f': {item.why}' if item.why else ''})"


def _as_dict(
    features: Features, values: dict[str, Value], written: WrittenKeys | None
) -> dict[str, object]:
    from sssjob.features.keys import spell

    return {
        "values": {name: spell(value) for name, value in values.items()},
        "sources": {
            name: {"source": item.source, "basis": item.basis, "why": item.why}
            for name, item in features.derived.items()
        },
        "absent": dict(features.absent),
        "directory": written.directory if written else None,
        "written": list(written.keys) if written else [],
        "removed": list(written.removed) if written else [],
        "findings": [found.as_dict() for found in features.findings],
    }
