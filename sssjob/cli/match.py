"""``sssjob match``: which offers satisfy a request, how well, and what decided."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import click

from sssjob.cli import common, names, options

if TYPE_CHECKING:
    from sssjob.expression.evaluate import Answer
    from sssjob.expression.offer import Mode, Offer
    from sssjob.expression.offers import BadOffer
    from sssjob.expression.pattern import Matching
    from sssjob.verbs.match import NamedRequest

_COLOURS = {"yes": "green", "no": "red", "unknown": "yellow"}
_WIDEST = 40  # characters of an offer's name


@click.command(
    epilog="""\b
Examples:
  sssjob match job.xml --offers nodes.json
  sssjob match --select b workflow.xml --offers nodes.json --json
  sssjob match jobs.xml --offers delivered.xml

\b
Offers in JSON: [{"id": "n1", "Processors": 64, "Memory": "2 GB", "Feature": ["ib", "ssd"]}]

Exit code: 0 offers satisfy all that a job requests, with each of its task groups, 1 they do so of
no job, or a record is bad, 2 a file, a request or an offer cannot be read; the answers are then
about the others alone."""
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path())
@click.option("--offers", "offered", required=True, multiple=True, metavar="FILE",
              help="Offers as JSON, or as job objects whose Delivered counts.")  # fmt: skip
@options.SELECT
@click.option("--mode", type=click.Choice(["fit", "exact"]),
              help="A number of an offer is the most that it has (fit, the default for JSON), or "
                   "is compared as it is (exact, the default for job objects).")  # fmt: skip
@options.MATCHING
@click.option("--json", "form", flag_value="json", help="Print a JSON array, an object each offer.")
@click.option("--jsonl", "form", flag_value="jsonl", help="Print an object each offer on a line.")
@names.records
def command(
    files: tuple[str, ...], offered: tuple[str, ...], select: str | None, mode: Mode | None,
    matching: Matching, form: str | None,
) -> None:  # fmt: skip
    """Tell whether each offer satisfies a request: yes, no or unknown, and why.

    The table has the best offers first; JSON keeps their order, and numbers them by rank.
    """
    from itertools import groupby

    from sssjob.cli.selection import requests
    from sssjob.verbs.match import matched, node_names

    satisfied, complain = 0, common.Complaints()
    if "-" in offered and (not files or "-" in files):
        common.fail("standard input cannot be both the jobs and the offers")
    given = [offer for name in offered for offer in offers(name, mode, complain)]
    notice_names(given, offered)
    rows = common.JsonPrinter(lines=form == "jsonl")
    every = requests(files, select, complain, node_names(given))
    for _, of_job in groupby(every, key=lambda asked: id(asked.chosen)):
        enough = True
        for asked in of_job:
            found = matched(asked, given, matching)
            enough = enough and found is not None and found.is_satisfied
            if found is None:
                complain.count += 1
                continue
            common.print_findings(found.findings)
            if form:
                for row in found.rows():
                    rows.put(row)
            else:
                _print(asked, found.answers)
        satisfied += enough
    if form:
        rows.end()
    complain.leave(satisfied)


def offers(name: str, mode: Mode | None, complain: common.Complain) -> Iterator[Offer]:
    """The offers of one file, JSON or XML by what it begins with.

    A file that cannot be read, or of which no offer can, ends the command: there is nothing to
    judge by. Of single offers that cannot be read it is said that they are left out.
    """
    from sssjob.errors import UnreadableDocument
    from sssjob.expression.offers import BadOffer
    from sssjob.verbs import match

    count = left = 0
    (given,) = common.sources((name,))
    place = common.name_of(given.name)

    def refused(error: BadOffer) -> None:
        nonlocal left
        if error.index is None:
            raise error
        left += 1
        complain(f"{place}: error: {error}")

    try:
        for offer in match.offers(given, mode, refused):
            count += 1
            yield offer
    except BadOffer as error:
        _end(f"{place}: error: {error}")
    except UnreadableDocument as error:
        _end(error.finding.in_file(given.name))
    except OSError as error:
        common.fail(common.reason(error))
    _tell(place, count, left)


def _tell(place: str, count: int, left: int) -> None:
    """Say that offers of a file are left out; ends the command if all are."""
    if left and not count:
        _end(f"{place}: error: no offer in it can be read")
    if not count:
        common.say(f"{place}: notice: there is no offer in it")
    elif left:
        told = "1 offer is" if left == 1 else f"{left} offers are"
        common.say(f"{place}: error: {told} left out: the answers are about the others alone")


def _end(message: object) -> NoReturn:
    common.say(message)
    sys.exit(common.NOT_UNDERSTOOD)


def notice_names(offers: Sequence[Offer], files: Sequence[str]) -> None:
    """Say of which property names in the offers of files no request can speak."""
    from sssjob.expression.offers import unknown
    from sssjob.visible import visible

    for message in unknown(offers):
        common.say(f"{named(files)}: warning: {visible(message)}")


def named(files: Sequence[str]) -> str:
    """The names of files, for a message about all of them."""
    return ", ".join(common.name_of("<stdin>" if file == "-" else file) for file in files)


def _print(asked: NamedRequest, answers: Iterable[Answer]) -> None:
    """The best first: what it is called, the verdict, the score, and what decided."""
    from sssjob.expression.evaluate import ranked
    from sssjob.visible import visible

    best = ranked(answers)
    common.fitted(visible(f"{asked.path} {asked.name}".strip()))
    common.fitted(visible(f"  {asked.expression}"))
    width = min(max((len(visible(each.offer.id)) for each in best), default=0), _WIDEST)
    room = common.room()
    for each in best:
        verdict = str(each.verdict)
        score = "" if each.score is None else str(each.score)
        name, why = f"  {visible(each.offer.id):{width}}  ", visible("; ".join(each.reasons))
        is_long = room and len(f"{name}{verdict:7}  {score:>5}  {why}") > room
        if is_long:
            common.fitted(name.rstrip())
        common.echo("    " if is_long else name, nl=False)
        common.echo(f"{verdict:7}", nl=False, fg=_COLOURS[verdict])
        if is_long:
            common.echo(f"  {score:>5}".rstrip())
            common.fitted(f"    {why}")
        else:
            common.echo(f"  {score:>5}  {why}")
