"""``sssjob condor job``: job ads as job objects."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options
from sssjob.cli.condor.shared import Ads

if TYPE_CHECKING:
    from sssjob.model import Job


@click.command(
    epilog="""\b
Examples:
  condor_q -long 7.0 | sssjob condor job -
  sssjob condor job $_CONDOR_JOB_AD
  condor_history -json | sssjob condor job - > jobs.sss

Exit code: 0 written, 1 no ad, 2 an ad cannot be read."""
)
@click.argument("files", nargs=-1, metavar="[AD]...", type=click.Path())
@click.option("--no-embedded", is_flag=True, help="Do not look at a document in SSSJobXML.")
@options.LINES
@options.ALL_FINDINGS
def command(files: tuple[str, ...], no_embedded: bool, lines: bool) -> None:
    """Write job ads, in any of their forms, as job objects.

    If an ad has its document in SSSJobXML, this document is written, with the later state and usage
    from the ad.
    """
    from sssjob.document import write

    ads = Ads()
    with common.stdout() as stream:
        count = write(_jobs(ads, files, not no_embedded), stream, indent=not lines)
    if not count and not ads.unread:
        names = ", ".join(source.name for source in common.sources(files))
        common.say(f"{common.name_of(names)}: no ad")
    sys.exit(common.NOT_UNDERSTOOD if ads.unread else common.FOUND if count else common.NOTHING)


def _jobs(ads: Ads, files: tuple[str, ...], embedded: bool) -> Iterator[Job]:
    from sssjob.systems.condor.task_groups import gathered, together

    for name, read in gathered(ads.read(files)):
        ad = read[0]
        kind = ad.text("MyType")
        if kind.lower() not in ("", "job") and "ClusterId" not in ad:
            ads.unread += 1
            where = common.name_of(name)
            common.say(f"{where}: error: an ad of type {kind}, where that of a job is expected")
            continue
        found = together(read, embedded=embedded)
        common.print_findings(each.in_file(name) for each in found.findings)
        yield found.job
