"""``sssjob condor ad``: job objects as job ads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, names
from sssjob.cli.condor.shared import FORMATS

if TYPE_CHECKING:
    from sssjob.classads.values import Ad


@click.command(
    epilog="""\b
Examples:
  sssjob condor ad job.xml
  sssjob condor ad --format json --select b workflow.xml
  sssjob condor ad --no-document job.xml | sssjob condor job -

Exit code: 0 written, 1 no job or a bad record, 2 a document cannot be read, or a job cannot be
written."""
)
@click.argument("files", nargs=-1, metavar="[JOB.xml]...", type=click.Path())
@click.option("--format", "form", type=click.Choice(FORMATS), default="long", show_default=True,
              help="The form of the ads.")  # fmt: skip
@click.option("--select", metavar="XPATH|ID", help="Jobs; an id, or an XPath.")
@click.option("--no-document", is_flag=True, help="Leave out the document itself (SSSJobXML).")
@click.option("--v1", is_flag=True, help="Write Args and Env for old pools, too.")
@names.records
def command(
    files: tuple[str, ...], form: str, select: str | None, no_document: bool, v1: bool
) -> None:
    """Write each job as the ad of a job, with its defaults applied.

    Values that an ad cannot express are reported on standard error. If a request has alternatives,
    amounts are those of the best one; Requirements and Rank cover all of them.
    """
    from sssjob.classads import forms
    from sssjob.classads.errors import BadAd

    written, complain = 0, common.Complaints()

    def counted() -> Iterator[Ad]:
        nonlocal written
        for file, ad in _ads(files, select, complain, document=not no_document, v1=v1):
            try:
                "".join(forms.write([ad], form))  # before any of it is printed
            except BadAd as error:
                complain(f"{common.name_of(file)}: error: {error}")
                continue
            written += 1
            yield ad

    with common.stdout() as stream:
        for piece in forms.write(counted(), form):
            stream.write(piece.encode())
    complain.leave(written)


def _ads(
    files: tuple[str, ...], select: str | None, complain: common.Complain, *, document: bool,
    v1: bool,
) -> Iterator[tuple[str, Ad]]:  # fmt: skip
    from sssjob.check.awareness import around as surroundings
    from sssjob.check.awareness import by_group, understood
    from sssjob.cli.selection import chosen, say_idle
    from sssjob.defaults import resolve
    from sssjob.errors import AwarenessPolicy, InheritedTooMuch, Severity
    from sssjob.expression.requests import asked
    from sssjob.model import Job, JobGroup, paths
    from sssjob.systems.condor.job_ad import embedded
    from sssjob.systems.condor.task_groups import to_ads

    for item in chosen(files, select, complain, parts=False):
        try:
            resolved = resolve(item.block)
        except InheritedTooMuch as error:
            complain(error.finding.in_file(item.file))
            continue
        block = resolved.block
        group = isinstance(block, JobGroup)
        policy = AwarenessPolicy.at(block.attributes, AwarenessPolicy.REJECT)
        around = policy if group else AwarenessPolicy.REJECT
        common.print_findings(
            found.in_file(item.file) for found in resolved.findings
            if policy is not AwarenessPolicy.IGNORE or found.severity is Severity.ERROR
        )  # fmt: skip
        named = [place for place, each in paths(block) if isinstance(each, Job)]
        places = named if group else ["/Job"]
        jobs = block.blocks(Job) if group else (block,)
        written = item.block.blocks(Job) if group else (item.block,)
        contexts = zip(jobs, surroundings(item.block, written), strict=True)
        own_paths = [
            f"/JobGroup/Job[{number}]" if group else "/Job" for number in range(1, 1 + len(jobs))
        ]
        if not any(map(item.has, own_paths)):
            say_idle(item, "no job that was chosen as a whole: an ad is of a job")
        for number, (path, (own, context)) in enumerate(zip(own_paths, contexts, strict=True), 1):
            if not isinstance(own, Job) or not item.has(path):
                continue
            job = by_group(own, block) if group else own
            known = understood(job, around=around, path=places[number - 1]).within(context)
            for found in known.findings():
                common.print_findings((found.in_file(item.file),))
            if not known.accepted:
                complain(f"{item.file}: error: {path} is not written")
                continue
            every = to_ads(known.block, document=embedded(own) if document else "", v1=v1)
            told = dict.fromkeys(found for mapped in every for found in mapped.findings)
            common.print_findings(found.in_file(item.file) for found in told)
            lost = any(
                each.code == "E-LOSS" or each.path.endswith("/Requested")  # which says nothing then
                for each in told if each.severity is Severity.ERROR
            )  # fmt: skip
            if lost or asked(known.block, path).parts is None:
                # HTCondor would run it wherever it likes.
                complain(f"{item.file}: error: {path} is not written")
                continue
            for mapped in every:
                yield item.file, mapped.ad
