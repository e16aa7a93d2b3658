"""``sssjob features install``: what a site configures, and the scripts that it needs."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from sssjob.cli import common, options
from sssjob.cli.features import batch
from sssjob.cli.features.common import VOCABULARIES, fail, site
from sssjob.cli.ranges import WholeNumber
from sssjob.errors import SSSJobError


@click.command(
    epilog="""\b
Examples:
  sssjob features install --for slurm
  sssjob features install --for slurm --to /usr/libexec/sssjob/slurm
  sssjob features install --for gridengine --documents /var/lib/sssjob/jobs --to /opt/mjf
  sssjob features install --for pbs --site /etc/sssjob/site.toml --json

Exit code: 0 printed, 2 an option is not understood, a script cannot be written,
or other users could replace one of the directories."""
)
@batch.system("installation")
@click.option("--to", "directory", metavar="DIR", type=click.Path(), help="Write the scripts.")
@batch.root
@batch.jobs
@click.option("--site", "site_file", metavar="FILE", default="", type=click.Path(),
              help="The site's configuration (TOML), for the prolog.")  # fmt: skip
@click.option("--scratch", metavar="DIR", default="", type=click.Path(),
              help="The scratch space of jobs, for the prolog.")  # fmt: skip
@click.option("--vocabulary", type=click.Choice(VOCABULARIES), default="both", show_default=True,
              help="The keys that the prolog writes.")  # fmt: skip
@click.option("--status-size", metavar="BYTES", type=WholeNumber(0, 1 << 30),
              default=1 << 20, show_default=True,
              help="The size of $JOBSTATUS, which the prolog makes a file system in memory; 0: "
                   "it is a "
                   "directory like the others.")  # fmt: skip
@click.option("--seconds", metavar="SECONDS",
              type=WholeNumber(1, 3600), default=30, show_default=True,
              help="The longest time that a script may take.")  # fmt: skip
@click.option("--log", metavar="FILE", default="/var/log/sssjob-features.log", show_default=True,
              type=click.Path(), help="Where the scripts report errors.")  # fmt: skip
@click.option("--agent", metavar="PATH", default="", type=click.Path(),
              help="The socket of a resident process that runs the scripts' commands, see "
              '"sssjob features agent".')  # fmt: skip
@options.JSON_OBJECT
def command(
    system: str, directory: str | None, root: str, jobs: str, site_file: str, scratch: str,
    vocabulary: str, status_size: int, seconds: int, log: str, agent: str, as_json: bool,
) -> None:  # fmt: skip
    """Print the configuration and the scripts by which jobs find their features.

    Paths are those of the nodes. The commands of the batch system are taken to be where they are
    here. In --root, %n stands for the name of the node. With --to the
    scripts are written, and only the lines of the configuration are printed. Each script ends with
    0 and in time, whatever happens: no job fails because its features are missing.
    """
    from sssjob.features.batch.scripts import Installation, write

    options = [] if vocabulary == "both" else [f"--vocabulary={vocabulary}"]
    if site_file:
        site(site_file)  # a mistake in it is better found now than by a prolog
        options.append(f"--site={os.path.abspath(site_file)}")
    options += [f"--scratch={scratch}"] if scratch else []
    options += [f"--status-size={status_size}"] if status_size else []
    place = os.path.abspath(directory) if directory else f"/usr/libexec/sssjob/{system}"
    try:
        found = Installation(
            system, place, _program(), root, jobs, options, seconds=seconds, log=log,
            agent=agent,
        )  # fmt: skip
        found = replace(found, path=_place_of(found.side.command))
        found.check()
        scripts = found.scripts()
        if directory:
            write(place, scripts)
    except (OSError, SSSJobError) as error:
        fail(error)
    lines = list(found.configuration())
    if as_json:
        common.data(json.dumps({
            "configuration": lines, "directory": place, "written": bool(directory),
            "scripts": scripts,
        }, indent=2, ensure_ascii=False))  # fmt: skip
        return
    for line in lines:
        common.data(line)
    if directory:
        common.say(f"written to {place}: {', '.join(scripts)}")
        return
    again = shlex.join(["--for", system, "--to", place])
    common.echo(f"\n# The scripts; to write them: sssjob features install {again}")
    for name, text in scripts.items():
        common.data(f"\n# ---- {place}/{name}\n{text}", nl=False)


def _program() -> list[str]:
    """How a daemon, which has no search path, calls this command."""
    beside = Path(sys.executable).with_name("sssjob")
    found = str(beside) if beside.exists() else shutil.which("sssjob")
    return [os.path.abspath(found)] if found else [sys.executable, "-m", "sssjob"]


def _place_of(command: str) -> str:
    """The directory of a command of the batch system, if it is not one where all look."""
    from sssjob.features.batch.scripts import PATH

    found = shutil.which(command)
    place = os.path.dirname(os.path.abspath(found)) if found else ""
    return "" if place in PATH.split(":") else place
