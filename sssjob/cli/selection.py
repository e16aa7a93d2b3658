"""``--select``: what was chosen of the documents that the user named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from sssjob.cli import common, records

if TYPE_CHECKING:
    from sssjob.check.awareness import Operation
    from sssjob.document.sources import NamedSource
    from sssjob.errors import Finding, UnreadableDocument
    from sssjob.model import Block
    from sssjob.verbs.match import NamedRequest
    from sssjob.verbs.selection import ChosenObject


def chosen(
    files: tuple[str, ...], select: str | None, on_error: Callable[[object], None], *,
    with_files: bool = False, with_notes: bool = False, requests: bool = True, parts: bool = True,
) -> Iterator[ChosenObject]:  # fmt: skip
    """The job objects of files with what was chosen in them; those without any are passed over.

    ``with_notes`` gives the Files of whole job objects, and the notes around them; a document is
    held whole then. Without ``requests``, a ledger will do, too; without ``parts``, no part of a
    job that stands by itself, such as a TaskGroup. What cannot be read goes to ``on_error``. Ends
    the command if ``select`` is no XPath, or chooses what is neither a job nor a task group. That
    nothing was chosen is said, where nothing else was.
    """
    told = False

    def tell(error: object) -> None:
        nonlocal told
        told = True
        on_error(error)

    for item in _chosen(files, select, tell, with_files, with_notes, requests, parts):
        told = True
        yield item
    if not told:
        named = "no job" if select is None else f"--select {select} chooses no job or task group"
        common.say(f"sssjob: {named}")


def requests(
    files: tuple[str, ...],
    select: str | None,
    on_error: common.Complain,
    nodes: Sequence[str] = (),
) -> Iterator[NamedRequest]:
    """The requests of jobs with their defaults applied, or of what was selected.

    What is worth saying about each request is said on standard error; ``nodes`` are names over
    which its patterns are tried.
    """
    from sssjob.errors import InheritedTooMuch
    from sssjob.verbs import match

    def tell(found: Finding) -> None:
        common.print_findings((found,))

    for item in chosen(files, select, on_error):
        try:
            yield from match.requests(item.block, item.file, tell, paths=item.paths, nodes=nodes)
        except InheritedTooMuch as error:
            on_error(error.finding.in_file(item.file))


def _chosen(
    files: tuple[str, ...], select: str | None, on_error: Callable[[object], None],
    with_files: bool, with_notes: bool, requests: bool, parts: bool,
) -> Iterator[ChosenObject]:  # fmt: skip
    from sssjob.errors import NotAQuery, UnreadableDocument
    from sssjob.verbs.selection import NotChoosable

    for given, source in records.documents_by_source(files, on_error, requests=requests):

        def complain(error: UnreadableDocument, source: NamedSource = source) -> None:
            on_error(error.finding.in_file(source.name))

        try:
            for found in _of_source(source, select, complain, parts, with_files, with_notes):
                yield found._replace(given=given.name)
        except OSError as error:
            on_error(f"sssjob: error: {common.reason(error)}")
        except UnreadableDocument as error:
            complain(error)
        except NotAQuery as error:
            common.fail(f"--select: {error}")
        except NotChoosable as error:
            common.fail(f"--select {error}")


def understood(item: ChosenObject, operation: Operation) -> Block | None:
    """What an operation understands of it, or None if it is rejected (9.0); that is said."""
    known = item.understood(operation)
    common.print_findings(found.in_file(item.file) for found in known.findings())
    return known.block if known.accepted else None


def say_idle(item: ChosenObject, wanted: str) -> None:
    """Say of what was chosen that there is nothing in it to work on."""
    common.say(f"{common.name_of(item.file)}: <{item.block.name}> has {wanted}")


def _of_source(
    source: NamedSource, select: str | None, complain: Callable[[UnreadableDocument], None],
    parts: bool, with_files: bool, with_notes: bool,
) -> Iterator[ChosenObject]:  # fmt: skip
    from sssjob.document.sources import opened
    from sssjob.verbs import selection

    with opened(source) as stream:
        if with_notes:
            yield from selection.with_notes(
                source.name, stream, lambda found: common.print_findings((found,)),
                on_error=complain,
            )  # fmt: skip
        elif with_files:
            yield from _with_files(source.name, stream, select, complain)
        else:
            yield from selection.chosen(source.name, stream, select, parts=parts, on_error=complain)


def _with_files(
    name: str, stream: BinaryIO, select: str | None, complain: Callable[[UnreadableDocument], None]
) -> Iterator[ChosenObject]:
    from sssjob.document.attached import Attached
    from sssjob.verbs import selection

    attached = Attached(stream)
    for item in selection.chosen(name, attached.stream, select, on_error=complain):
        yield item._replace(files=common.files_of(attached, item.block, name))
