"""Spans of time as options name them."""

from __future__ import annotations

from datetime import datetime, tzinfo

import click

from sssjob.cli import common, options

SINCE = click.option(
    "--since", metavar="TIME", default="", help="Only jobs that ended then or later."
)
UNTIL = click.option("--until", metavar="TIME", default="", help="Only jobs that ended before.")


def zone_of(name: str) -> tzinfo:
    """The zone of a name, as records read it: "" is UTC; one that is not known ends the command."""
    from sssjob.errors import InvalidValue
    from sssjob.records.clock import timezone

    try:
        return timezone(name)
    except InvalidValue as error:
        common.fail(f"--tz {error}")


def moment(text: str, zone: tzinfo) -> int | None:
    """The beginning of a year, month or day, or a time or word; in seconds since 1970."""
    from sssjob.errors import InvalidValue

    if not text:
        return None
    for form in ("%Y", "%Y-%m", "%Y-%m-%d"):
        try:
            return int(datetime.strptime(text, form).replace(tzinfo=zone).timestamp())
        except ValueError:
            continue
    try:
        return options.seconds(text, zone)
    except InvalidValue:
        common.fail(f"{text!r} is no time such as 2026-11, 2026-11-30T12:00 or now-7days")


def window(since: str, until: str, zone: tzinfo) -> tuple[int | None, int | None]:
    """What ``--since`` and ``--until`` say; one that ends before it begins ends the command."""
    from sssjob.errors import InvalidValue
    from sssjob.spans import in_order

    first, last = moment(since, zone), moment(until, zone)
    try:
        in_order(first, last)
    except InvalidValue:
        common.fail(f"--since {since} is after --until {until}: no job ended in this span of time")
    return first, last
