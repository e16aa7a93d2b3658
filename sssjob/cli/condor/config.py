"""``sssjob condor config``: what a site writes into its configuration."""

from __future__ import annotations

import click

from sssjob.cli import common
from sssjob.cli.condor.hooks import places
from sssjob.cli.ranges import WholeNumber


@click.command(
    epilog="""\b
Examples:
  sssjob condor config --documents /var/lib/sssjob/jobs --hooks /usr/libexec/sssjob
  sssjob condor config --documents jobs.db --hooks /usr/libexec/sssjob --write-hooks
  sssjob condor config --no-fetch --every-job --hooks /usr/libexec/sssjob
  sssjob condor config --hooks /usr/libexec/sssjob --cron "--site /etc/sssjob/site.toml"

Exit code: 0 printed, 2 an option is not understood or a hook cannot be written."""
)
@places
@click.option("--keyword", default="SSS", show_default=True, help="The keyword of the hooks.")
@click.option("--hooks", "directory", default="/usr/libexec/sssjob", show_default=True,
              metavar="DIR", help="Where the programs of the hooks are.")  # fmt: skip
@click.option("--write-hooks", is_flag=True, help="Write the programs there.")
@click.option("--slot", "slots", multiple=True, type=WholeNumber(1), metavar="N",
              help="Only this slot fetches work; may be repeated.")  # fmt: skip
@click.option("--fetch/--no-fetch", default=True, show_default=True,
              help="Whether slots fetch work, or jobs only get features and report "
                   "usage.")  # fmt: skip
@click.option(
    "--every-job",
    is_flag=True,
    help="Also give features to, and take usage from, jobs that a schedd sent.",
)
@click.option(
    "--cron",
    metavar="OPTIONS",
    help="Publish machine features, too, by sssjob condor cron with these options.",
)
@click.option("--limits/--no-limits", default=True, show_default=True,
              help="End fetched jobs that are over a limit of theirs.")  # fmt: skip
@click.option("--mandatory", is_flag=True,
              help="A job whose features cannot be written goes back to the queue.")  # fmt: skip
@click.option("--option", "options", multiple=True, metavar="--NAME=VALUE",
              help="For the hooks that know it, --silence=1800 for example.")  # fmt: skip
def command(
    jobs: str, state: str, trust: tuple[str, ...], keyword: str, directory: str, write_hooks: bool,
    slots: tuple[int, ...], fetch: bool, every_job: bool, cron: str | None, limits: bool,
    mandatory: bool, options: tuple[str, ...],
) -> None:  # fmt: skip
    """Print the lines of HTCondor's configuration that name the hooks.

    HTCondor configures a hook by a path without arguments, so each hook is a small program;
    --write-hooks writes these programs. Paths are those of the execution point.
    """
    import os

    from sssjob.errors import InvalidValue
    from sssjob.systems.condor.hooks import settings, site

    try:
        found = site.HookSite(keyword, directory, slots, fetch, every_job, cron, limits)
        lines = list(found.lines())
    except InvalidValue as error:
        common.fail(error)
    if write_hooks:
        where = os.path.abspath(jobs) if jobs and "://" not in jobs else jobs
        words = [f"--documents={where}"] if where else []
        words += [f"--state={os.path.abspath(state)}"] if state else []
        words += [f"--trust={user}" for user in trust]
        words += [] if limits else ["--limits=ignore"]
        words += ["--mandatory"] if mandatory else []
        if settings.given([*words, *options]) is None:
            common.fail(f"the hooks do not understand {' '.join(options)}")
        try:
            site.write(directory, site.wrappers([*words, *options]))
        except OSError as error:
            common.fail(common.reason(error))
    for line in lines:
        common.data(line)
