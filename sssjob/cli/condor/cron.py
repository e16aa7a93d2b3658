"""``sssjob condor cron``: machine features for the ads of slots."""

from __future__ import annotations

import sys
import time

import click

from sssjob import host_name
from sssjob.cli import common, options
from sssjob.integers import whole
from sssjob.systems.condor.names import PUBLISHED


@click.command(
    epilog="""\b
Examples:
  sssjob condor cron --site /etc/sssjob/site.toml
  sssjob condor cron --set hs06=88.5 --set 2:shutdowntime_job=1800000000
  sssjob condor cron --prefix MJF_ --no-host --set total_cpu=8

Exit code: 0 printed, 1 nothing is known, 2 something is not understood."""
)
@options.SITE
@options.NODE
@options.HOST
@click.option("--prefix", default=PUBLISHED, show_default=True, help="What each name begins with.")
@click.option("--set", "given", multiple=True, metavar="[SLOT:]KEY=VALUE",
              help="A key of all slots, or of one.")  # fmt: skip
@click.option("--update", is_flag=True, help="Tell the collector at once.")
@options.NOW
def command(
    site_file: str | None, node: str | None, host: bool, prefix: str, given: tuple[str, ...],
    update: bool, now: int | None,
) -> None:  # fmt: skip
    """Print machine features as attributes, as a job of startd cron does.

    Keys of one slot are in an ad of their own, which names the slot.
    """
    from sssjob.cli.features.common import site
    from sssjob.features import host as this
    from sssjob.features import machine
    from sssjob.systems.condor.cron import lines

    if not (prefix.isascii() and f"_{prefix}".isidentifier()) or prefix[:1].isdigit():
        common.fail(f"--prefix {prefix}: expected letters, digits and underscores")
    everywhere, of_slots = _given(given)
    name = host_name.own() if node is None else node
    features = machine.derive(
        settings={} if site_file is None else site(site_file).of(name),
        host=this.machine() if host else {},
        now=int(time.time()) if now is None else now,
    )
    common.print_findings(features.findings)
    values = {**features.values, **everywhere}
    ads = [
        (lines({**values, **of_slots[slot]}, prefix, slot), f" slot{slot}")
        for slot in sorted(of_slots)
    ]
    if values:
        ads.append((lines(values, prefix), ""))
    for number, (text, tag) in enumerate(ads, 1):
        now_too = " update:true" if update and number == len(ads) else ""
        end = f"-{tag}{now_too}\n" if tag or now_too else ""
        common.data(f"{text}{end}", nl=False)
    sys.exit(common.FOUND if values or of_slots else common.NOTHING)


def _given(words: tuple[str, ...]) -> tuple[dict[str, str], dict[int, dict[str, str]]]:
    """Keys for all slots, and for each slot."""
    from sssjob.errors import InvalidValue
    from sssjob.features import keys

    everywhere: dict[str, str] = {}
    of_slots: dict[int, dict[str, str]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        slot, colon, key = name.rpartition(":")
        number = whole(slot)
        if not equals or not keys.is_name(key) or (colon and number is None):
            common.fail(f"--set {word}: expected KEY=VALUE or SLOT:KEY=VALUE")
        row = keys.key(key, (*keys.MACHINE_FEATURES, *keys.JOB_FEATURES))
        try:
            text = keys.spell(keys.parse(value, row, key))
        except InvalidValue as error:
            common.fail(f"--set {word}: {error}")
        (everywhere if number is None else of_slots.setdefault(number, {}))[key] = text
    return everywhere, of_slots
