"""``sssjob features prove``: jobs of every kind find the right features at this site, or not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from sssjob.cli import common, options
from sssjob.cli.features import batch
from sssjob.cli.features.common import fail
from sssjob.cli.ranges import NumberRange
from sssjob.cli.signals import terminable
from sssjob.errors import SSSJobError


@click.command(
    epilog="""\b
Examples:
  sssjob features prove --for slurm --user alice --work /shared/proof
  sssjob features prove --for slurm --work ~ --case simple --case array
  sssjob features prove --for slurm --work ~ --with unlimited --partition=long
  sssjob features prove --for gridengine --user alice --work /shared/proof --json

Exit code: 0 every case holds that there can be here, 1 one is wrong or not known, or no job
could be run, 2 an option is not understood, or nothing can be written."""
)
@batch.system("site_tests")
@click.option("--work", metavar="DIR", required=True,
              type=click.Path(exists=True, file_okay=False, resolve_path=True),
              help="A directory that all nodes and the user see; a new one is made in it, and "
              "removed at the end. For root, one that only root can write.")  # fmt: skip
@click.option("--user", metavar="NAME", default="",
              help="Who submits the jobs, if this is root. Default: this user.")  # fmt: skip
@click.option("--case", "cases", metavar="CASE", multiple=True,
              help="Only this case; may be given again. Default: all.")  # fmt: skip
@click.option("--with", "more", metavar="CASE WORD", nargs=2, multiple=True,
              help="One more word for the command that submits the job of a case; may be given "
              "again.")  # fmt: skip
@click.option("--seconds", metavar="SECONDS", type=NumberRange(1, 86400), default=300,
              show_default=True, help="How long all jobs together may take.")  # fmt: skip
@options.JSON_LINES
def command(
    system: str, work: str, user: str, cases: tuple[str, ...], more: tuple[tuple[str, str], ...],
    seconds: float, as_json: bool,
) -> None:  # fmt: skip
    """Prove with real jobs that the features of this site are right.

    A job of each kind is submitted (simple, array, heterogeneous, multi-node, requeued, unlimited,
    whole node, srun alone, odd names), and what it finds is compared with what the batch system
    says inside it. On this node our prolog is tried while the controller hangs, on a full disk, and
    with a umask of 077. What the batch system refuses, or does not have, is "not here". "not known"
    is a job that has not reported, or not ended, in the time of --seconds.
    """
    from sssjob.features.batch.site_tests import (
        HOLDS,
        NODE_CASES,
        UNKNOWN,
        WRONG,
        SiteTestSettings,
        names,
        prove,
    )

    known = names(system)
    for name in (*cases, *(case for case, _ in more)):
        if name not in known:
            common.fail(f"{name!r} is not a case of {system}: {', '.join(known)}")
    words = {case: [word for one, word in more if one == case] for case, _ in more}
    outcomes = {}
    try:
        with terminable():
            for found in prove(
                system, cases or known, SiteTestSettings(Path(work), user, seconds, words)
            ):
                outcomes[found.case] = found.outcome
                if as_json:
                    row = {"case": found.case, "outcome": found.outcome, "why": list(found.why)}
                    common.data(json.dumps(row))
                else:
                    common.echo(
                        f"{found.case:16}  {found.outcome:9}  {'; '.join(found.why)}".rstrip()
                    )
    except (OSError, SSSJobError) as error:
        fail(error)
    except LookupError as error:
        common.fail(f"no such user: {error}")
    # Where no job could be run, what was tried on this node alone proves nothing of the site.
    tried = {case for case in outcomes if case not in NODE_CASES} or set(outcomes)
    is_bad = not {WRONG, UNKNOWN}.isdisjoint(outcomes.values())
    held = any(outcomes[case] == HOLDS for case in tried) and not is_bad
    sys.exit(common.FOUND if held else common.NOTHING)
