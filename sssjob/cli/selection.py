"""``--select``: jobs and task groups of a document, chosen by XPath or by their ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from sssjob.cli import common, records

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

    from sssjob.check.awareness import Operation
    from sssjob.document.bundle import MessageFile
    from sssjob.errors import UnreadableDocument
    from sssjob.model import Block, Note

_CHOOSABLE = ("JobGroup", "Job", "TaskGroup")
_WORD = re.compile(r"[\w.\-]+")
# A task group is known by its name, too: few have ids.
_BY_ID = " | ".join((
    "//JobGroup[Id[normalize-space()='{0}'] or JobGroupId[normalize-space()='{0}']]",
    "//Job[Id[normalize-space()='{0}'] or JobId[normalize-space()='{0}']]",
    "//Job/TaskGroup[Id[normalize-space()='{0}'] or Name[normalize-space()='{0}']]",
))  # fmt: skip


class ChosenObject(NamedTuple):
    """An outermost job object, and the paths of what was chosen in it; None is all of it."""

    file: str
    block: Block
    paths: tuple[str, ...] | None = None
    files: Sequence[MessageFile] = ()  # which it names, where they were asked for
    given: str = ""  # what was named: the file, or the directory, store or records that it is of
    before: Sequence[Note] = ()  # comments and instructions around it, where asked for
    behind: Sequence[Note] = ()

    def has(self, path: str) -> bool:
        """Whether what stands at a path was chosen, by itself or with what holds it."""
        return self.paths is None or any(
            path == chosen or path.startswith(f"{chosen}/") for chosen in self.paths
        )

    def concerns(self, path: str) -> bool:
        """Whether what stands at a path matters to what was chosen: it holds it, or lends to it."""
        steps = path.split("/")
        own = takewhile(lambda step: step.partition("[")[0] in _CHOOSABLE, steps[1:])
        unit = "/".join(("", *own))
        return self.has(unit) or any(each.startswith(f"{unit}/") for each in self.paths or ())

    def understood(self, operation: Operation) -> Block | None:
        """What an operation understands of it, or None if it is rejected (9.0); that is said."""
        from sssjob.check.awareness import understood

        known = understood(self.block, operation).about(self.concerns)
        common.print_findings(found.in_file(self.file) for found in known.findings())
        return known.block if known.accepted else None


def chosen(
    files: tuple[str, ...], select: str | None, on_error: Callable[[object], None], *,
    with_files: bool = False, with_notes: bool = False, requests: bool = True,
) -> Iterator[ChosenObject]:  # fmt: skip
    """The job objects of files with what was chosen in them; those without any are passed over.

    ``with_notes`` gives the Files of whole job objects, and the notes around them; a document is
    held whole then. Without ``requests``, a ledger will do, too. What cannot be read goes to
    ``on_error``. Ends the command if ``select`` is no XPath, or chooses what is neither a job nor a
    task group.
    """
    from sssjob.document.sources import opened
    from sssjob.errors import UnreadableDocument

    for given, source in records.documents_by_source(files, on_error, requests=requests):
        name = source.name

        def complain(error: UnreadableDocument, name: str = name) -> None:
            on_error(error.finding.in_file(name))

        try:
            with opened(source) as stream:
                find = _noted if with_notes else _with_files if with_files else _found
                for found in find(name, stream, select, complain):
                    yield found._replace(given=given.name)
        except OSError as error:
            on_error(f"sssjob: error: {common.reason(error)}")
        except UnreadableDocument as error:
            complain(error)


def _found(
    name: str, stream: BinaryIO, select: str | None, complain: Callable[[UnreadableDocument], None]
) -> Iterator[ChosenObject]:
    from sssjob.document import read

    if select is not None:
        return _by_query(name, stream, select, complain)
    return (ChosenObject(name, block) for block in read(stream, on_error=complain))


def _with_files(
    name: str, stream: BinaryIO, select: str | None, complain: Callable[[UnreadableDocument], None]
) -> Iterator[ChosenObject]:
    from sssjob.document.attached import Attached

    attached = Attached(stream)
    for item in _found(name, attached.stream, select, complain):
        yield item._replace(files=common.files_of(attached, item.block, name))


def _noted(
    name: str, stream: BinaryIO, select: str | None, complain: Callable[[UnreadableDocument], None]
) -> Iterator[ChosenObject]:
    from sssjob.document import tree
    from sssjob.document.attached import Told, named
    from sssjob.document.bundle import messages, notes
    from sssjob.document.outermost import is_block, outermost

    told = Told()
    for root, offset in tree.documents(stream, on_error=complain):
        around = notes(root, [element for element in outermost(root) if is_block(element)])
        held = [(each, block) for each in messages(root, offset=offset) for block in each.blocks]
        # The last notes are those behind the last job object.
        for place, ((message, block), before) in enumerate(zip(held, around, strict=False), 1):
            behind = around[-1] if place == len(held) else ()
            beside = named(block, message.every)
            common.print_findings(found.in_file(name) for found in told(beside))
            yield ChosenObject(name, block, None, beside, before=before, behind=behind)


def _by_query(
    name: str, source: BinaryIO, select: str, complain: Callable[[UnreadableDocument], None]
) -> Iterator[ChosenObject]:
    from sssjob.document import from_tree
    from sssjob.query import NotAQuery, compile

    is_id = _WORD.fullmatch(select) and select not in _CHOOSABLE
    unit: Element | None = None
    block: Block | None = None
    paths: list[str] = []
    try:
        query = compile(_BY_ID.format(select) if is_id else select)
        for match in query.run(source, on_error=complain):
            element = match.element if match.is_node else None
            steps = [] if element is None else list(_steps(element))
            if element is None or not steps or match.found is not element:
                common.fail(f"--select {select}: chooses what is neither a job nor a task group")
            outermost, path = steps[-1][0], "/" + "/".join(step for _, step in reversed(steps))
            if outermost is not unit:
                if block is not None:
                    yield ChosenObject(name, block, tuple(paths))
                unit, block, paths = outermost, from_tree(outermost, offset=match.offset), []
            paths.append(path)
    except NotAQuery as error:
        common.fail(f"--select: {error}")
    if block is not None:
        yield ChosenObject(name, block, tuple(paths))


def _steps(element: Element) -> Iterator[tuple[Element, str]]:
    """From a job or task group up to its outermost job object: each element with its step."""
    from sssjob.document.places import split

    node: Element | None = element
    while node is not None and (name := split(str(node.tag))[1]) in _CHOOSABLE:
        parent = node.getparent()
        among = [] if parent is None else list(parent.iterchildren(f"{{*}}{name}"))
        inside = parent is not None and split(str(parent.tag))[1] in _CHOOSABLE
        yield node, f"{name}[{among.index(node) + 1}]" if inside and len(among) > 1 else name
        node = parent
