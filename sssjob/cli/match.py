"""``sssjob match``: which offers satisfy a request, how well, and what decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common, options

if TYPE_CHECKING:
    from sssjob.cli.requested import NamedRequest
    from sssjob.expression.evaluate import Answer
    from sssjob.expression.offer import Mode, Offer
    from sssjob.expression.pattern import Matching
    from sssjob.model import Block

_COLOURS = {"yes": "green", "no": "red", "unknown": "yellow"}
_HEAD = 1 << 16  # bytes that tell what offers are in
_WIDEST = 40  # characters of an offer's name


@click.command(
    epilog="""\b
Examples:
  sssjob match job.xml --offers nodes.json
  sssjob match --select b workflow.xml --offers nodes.json --json
  sssjob match jobs.xml --offers delivered.xml

\b
Offers in JSON: [{"id": "n1", "Processors": 64, "Memory": "2 GB", "Feature": ["ib", "ssd"]}]

Exit code: 0 an offer satisfies a request, 1 none does, 2 a file or a request cannot be read."""
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
def command(
    files: tuple[str, ...], offered: tuple[str, ...], select: str | None, mode: Mode | None,
    matching: Matching, form: str | None,
) -> None:  # fmt: skip
    """Tell whether each offer satisfies a request: yes, no or unknown, and why.

    The table has the best offers first; JSON keeps their order, and numbers them by rank.
    """
    from sssjob.cli.requested import requests
    from sssjob.expression.evaluate import Request

    satisfied, complain = 0, common.Complaints()
    if "-" in offered and (not files or "-" in files):
        common.fail("standard input cannot be both the jobs and the offers")
    given = [offer for name in offered for offer in offers(name, mode, complain)]
    notice_names(given)
    nodes = [name for offer in given for name in offer.names.get("Node", ())]
    rows = common.Rows(lines=form == "jsonl")
    for asked in requests(files, select, complain, nodes):
        if asked.expression is None:
            complain.count += 1
            continue
        request = Request(asked.expression, matching)
        if any(request.faults()):  # which were said where the request was read
            complain.count += 1
            continue
        answers = [request.answer(offer) for offer in given]
        satisfied += any(answer.verdict == 2 for answer in answers)
        common.print_findings(found.in_file(asked.file) for found in request.stopped())
        if form:
            for row in _rows(asked, answers):
                rows.put(row)
        else:
            _print(asked, answers)
    if form:
        rows.end()
    complain.leave(satisfied)


def offers(name: str, mode: Mode | None, complain: common.Complain) -> Iterator[Offer]:
    """The offers of one file, JSON or XML by what it begins with."""
    from sssjob.document import opened
    from sssjob.document.encodings import beginning
    from sssjob.errors import UnreadableDocument
    from sssjob.expression.offers import SIZE_LIMIT, BadOffer, read

    def refused(error: BadOffer) -> None:
        complain(f"{common.name_of(given.name)}: error: {error}")

    for given in common.sources((name,)):
        try:
            with opened(given.given) as stream:
                data = stream.read(SIZE_LIMIT + 1)
            if beginning(data[:_HEAD]).startswith(b"<"):
                yield from _delivered(data, mode or "exact", refused)
            else:
                yield from read(data, mode=mode or "fit", on_error=refused)
        except BadOffer as error:
            refused(error)
        except UnreadableDocument as error:
            complain(error.finding.in_file(given.name))
        except OSError as error:
            complain(f"sssjob: error: {common.reason(error)}")


def _delivered(data: bytes, mode: Mode, refused: Any) -> Iterator[Offer]:
    """What was delivered to each job, or what each Delivered that stands alone holds."""
    from sssjob.expression.offer import Offer, delivered
    from sssjob.expression.offers import BadOffer

    for index, block in enumerate(_blocks(data)):
        name = block.id or block.get("Name") or str(index)
        try:
            yield Offer.of(name, delivered(block), mode)
        except ValueError as error:
            refused(BadOffer(index, name, str(error)))


def _blocks(data: bytes) -> Iterator[Block]:
    """The jobs of a document, or a job around each Delivered without one."""
    from sssjob.document import from_tree, read, tree
    from sssjob.model import Job, JobGroup

    roots = [root for root, _ in tree.documents(data)]
    every = (found for root in roots for found in root.iter("{*}Delivered"))
    alone = [found for found in every if _is_alone(found.getparent())]
    for element in alone:
        job = element.makeelement("Job")
        job.append(element)
        yield from_tree(job)
    for block in () if alone else read(data):
        yield from block.blocks(Job) if isinstance(block, JobGroup) else (block,)


def _is_alone(parent: Any) -> bool:
    from sssjob.document.places import split
    from sssjob.model import BLOCKS

    return parent is None or split(str(parent.tag))[1] not in BLOCKS


def notice_names(offers: Sequence[Offer]) -> None:
    """Say of which property names in offers no request can speak."""
    from sssjob.expression.offers import unknown
    from sssjob.visible import visible

    for message in unknown(offers):
        common.say(visible(f"sssjob: warning: {message}"))


def _rows(asked: NamedRequest, answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    from sssjob.expression.evaluate import ranked

    ranks = {id(answer): rank for rank, answer in enumerate(ranked(answers), 1)}
    for answer in answers:
        yield {
            "job": asked.name or None,
            "path": asked.path,
            "id": answer.offer.id,
            "verdict": str(answer.verdict),
            "score": None if answer.score is None else float(answer.score),
            "exact_score": None if answer.score is None else str(answer.score),
            "alternative": None if answer.alternative is None else str(answer.alternative),
            "reasons": list(answer.reasons),
            "rank": ranks[id(answer)],
        }


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
