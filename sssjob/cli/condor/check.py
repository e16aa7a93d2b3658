"""``sssjob condor check``: what a configuration of HTCondor says, and whether it would work."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.document.sources import NamedSource

MOST = 16 << 20  # bytes of a configuration


@click.command(
    epilog="""\b
Examples:
  condor_config_val -dump | sssjob condor check -
  sssjob condor config --documents jobs | sssjob condor check --no-files -
  sssjob condor check dump.txt --json

Exit code: 0 it would work, 1 something would not, 2 the file cannot be read."""
)
@click.argument("file", metavar="FILE", type=click.Path())
@click.option("--files/--no-files", default=True, show_default=True,
              help="Whether to look at the programs that it names.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print an object of JSON.")
def command(file: str, files: bool, as_json: bool) -> None:
    """Explain a configuration of HTCondor before a daemon reads it.

    FILE is what condor_config_val -dump prints (- is standard input), or any file of variables. The
    hooks, knobs, types of slots, resources, cron jobs and policy in it are listed, and what would
    not work is told: hooks that are misspelt, missing or open to all, expressions that are none,
    slots that are more than the machine.
    """
    from sssjob.systems.condor.configured import Configured

    [source] = common.sources((file,))
    told = Configured.read(_text(source))
    found = list(told.found(files=files))
    if as_json:
        said = [
            {"name": each.name, "value": each.value, "meaning": each.meaning}
            for each in told.said()
        ]
        problems = [
            {"name": each.name, "problem": each.text, "error": each.is_error} for each in found
        ]
        common.data(json.dumps({"variables": said, "problems": problems}, indent=2))
    else:
        for each in told.said():
            value = ", ".join(each.value.splitlines())
            common.fitted(f"{each.name}: {value}; {each.meaning}")
    for problem in found:
        severity = "error" if problem.is_error else "warning"
        common.say(f"{source.name}: {severity}: {problem.name}: {problem.text}")
    sys.exit(common.NOTHING if any(each.is_error for each in found) else common.FOUND)


def _text(source: NamedSource) -> str:
    """The text of a file; ends the command where it cannot be read."""
    from sssjob.document.sources import content

    with common.failing():
        return content(source, MOST).decode("utf-8", "replace")
