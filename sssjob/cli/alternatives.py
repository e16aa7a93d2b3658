"""``sssjob alternatives``: everything that would satisfy a request, best first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common, names, options
from sssjob.cli.ranges import WholeNumber

if TYPE_CHECKING:
    from sssjob.expression import Alternative, Alternatives
    from sssjob.verbs.match import NamedRequest

LIMIT = 1000


@click.command(
    epilog="""\b
Examples:
  sssjob alternatives job.xml
  sssjob alternatives --limit 3 --select b workflow.xml
  sssjob alternatives --json job.xml | jq '.alternatives[0].expression'

Exit code: 0 listed, 1 nothing is requested, or a record is bad, 2 a document or a
request cannot be read."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@options.SELECT
@click.option("--limit", metavar="N",
              type=WholeNumber(1, 100_000), default=LIMIT, show_default=True,
              help="List at most this number.")  # fmt: skip
@options.JSON_LINES
@names.records
def command(files: tuple[str, ...], select: str | None, limit: int, as_json: bool) -> None:
    """List the alternatives of a request, the most preferred first.

    Each alternative satisfies the request. Its score is the sum of its shares of the preferences.
    A wish (a negative preference) is part of no alternative, because it excludes no offer.
    """
    from sssjob.cli.selection import requests
    from sssjob.errors import finding
    from sssjob.expression import alternatives

    listed, complain = 0, common.Complaints()
    for asked in requests(files, select, complain):
        if asked.expression is None:
            complain.count += 1
            continue
        found = alternatives(asked.expression, limit)
        if as_json:
            common.data(json.dumps(_as_dict(asked, found), ensure_ascii=False))
        else:
            _print(asked, found)
        if not found.complete:
            cut = found.limit < limit
            more = "the request is too long for more" if cut else "--limit lists more"
            common.say(finding(
                "E-LIMIT", f"more than {found.limit} alternatives; the best are listed",
                line=asked.block.line, path=f"{asked.path}/Requested", section="SSS 8.1",
                suggestion=more,
            ).in_file(asked.file))  # fmt: skip
        listed += asked.asks and len(found) > 0
    complain.leave(listed)


def _as_dict(asked: NamedRequest, found: Alternatives) -> dict[str, Any]:
    return {
        "file": asked.file,
        "path": asked.path,
        "id": asked.name or None,
        "complete": found.complete,
        "alternatives": [
            {
                "score": float(each.score),
                "exact_score": str(each.score),
                "expression": str(each),
                "terms": [str(term) for term in each.terms],
                **_factors(each),
            }
            for each in found
        ],
    }


def _factors(alternative: Alternative) -> dict[str, Any]:
    """The hints for the scheduler that an alternative carries; nobody evaluates them."""
    from sssjob.expression import comparisons

    hints = {
        str(found): found.item.attributes["performanceFactor"]
        for term in alternative.terms
        for found in comparisons(term)
        if "performanceFactor" in found.item.attributes
    }
    return {"performanceFactor": hints} if hints else {}


def _print(asked: NamedRequest, found: Alternatives) -> None:
    from sssjob.visible import visible

    common.fitted(visible(" ".join(filter(None, (asked.path, asked.name)))))
    scored = any(each.score for each in found)
    for number, each in enumerate(found, 1):
        score = f"{each.score!s:>6}  " if scored else ""
        common.fitted(
            visible(f"{number:>4}  {score}{' And '.join(map(str, each.terms)) or 'anything'}")
        )
