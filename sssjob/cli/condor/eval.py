"""``sssjob condor eval``: the value of a ClassAd expression between two ads."""

from __future__ import annotations

import sys

import click

from sssjob.cli import common, options
from sssjob.cli.condor.shared import HTCONDOR, Ads, apart, engine


@click.command(
    context_settings={"ignore_unknown_options": True},  # an expression may begin with a minus sign
    epilog="""\b
Examples:
  sssjob condor eval 'TARGET.Memory >= RequestMemory' --my job.ad --target machine.ad
  sssjob condor eval Requirements --my job.ad --target machine.ad
  echo '1 + 2 * 3' | sssjob condor eval -
  sssjob condor eval --htcondor 'size("x")'

Exit code: 0 the value is printed, undefined and error too, 2 the expression or an ad cannot
be read.""",
)
@click.argument("expression", metavar="EXPR")
@click.option("--my", metavar="AD", type=click.Path(), help="The ad that names are looked up in.")
@click.option(
    "--target", metavar="AD", type=click.Path(), help="The other ad, for which TARGET stands."
)
@click.option("--old", is_flag=True, help="Read EXPR in the old syntax, as it stands in long ads.")
@click.option("--now", metavar="TIME", type=options.MOMENT, help="The value of time().")
@HTCONDOR
def command(
    expression: str, my: str | None, target: str | None, old: bool, now: int | None, htcondor: bool
) -> None:
    """Evaluate an expression and print its value in the new syntax.

    A bare name is an attribute of the ad of --my, or else of that of --target. EXPR may be "-",
    which reads it from standard input; so may one of the ads.
    """
    from functools import partial

    from sssjob.classads import evaluate, writing
    from sssjob.classads.errors import BadAd
    from sssjob.classads.parser import expression as parsed

    apart(expression, my, target)
    if htcondor and now is not None:
        common.fail("--now and --htcondor cannot be given together: the library has its own clock")
    text = sys.stdin.read().strip() if expression == "-" else expression
    try:
        node = parsed(text, old)
    except BadAd as error:
        common.fail(f"{error}\n    {text[:200]}")
    mine = None if my is None else Ads().one(my)
    theirs = None if target is None else Ads().one(target)

    def remark(message: str) -> None:
        common.say(f"sssjob: warning: {message}")

    with engine(htcondor=htcondor) as found:
        evaluated = found if htcondor else partial(evaluate.evaluate, now=now)
        value = evaluated(node, mine, theirs, remark=remark)
    common.data(writing.attribute(value, writing.NEW))
