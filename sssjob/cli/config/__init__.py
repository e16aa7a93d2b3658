"""``sssjob config``: the configuration file that has defaults of options."""

from __future__ import annotations

import click

from sssjob.cli.commands import Commands

COMMANDS = {"show": "Show each default, and where it comes from."}


@click.group(
    cls=Commands,
    home=__name__,
    sections={"Commands": COMMANDS},
    epilog="""\b
Example:
  sssjob config show""",
)
def command() -> None:
    """Defaults of options, from a file.

    The file is ~/.config/sssjob/config.toml, and /etc/xdg/sssjob/config.toml for all users; the
    variables XDG_CONFIG_HOME and XDG_CONFIG_DIRS name other directories. The variable SSSJOB_CONFIG
    or "sssjob --config FILE" names one file that is read instead. An option on the command line
    overrides a default from a file.

    \b
    zone    = "Europe/London"           # --tz
    machine = "/etc/machinefeatures"    # --machine
    site    = "/etc/sssjob/site.toml"   # --site FILE
    store   = "/var/lib/sssjob/jobs.db" # STORE of sssjob store, if no argument is given
    """
