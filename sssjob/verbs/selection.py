"""Jobs and task groups of a document, chosen by XPath or by their ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from sssjob.check.awareness import Operation, Understood, understood
from sssjob.document import from_tree, read, tree
from sssjob.document.outermost import is_block, outermost
from sssjob.document.places import split
from sssjob.errors import (
    Finding,
    LimitExceeded,
    Severity,
    SSSJobError,
    UnreadableDocument,
    finding,
)

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

    from sssjob.document.bundle import MessageFile
    from sssjob.model import Block, Note

OnError = Callable[[UnreadableDocument], None]

_CHOOSABLE = ("JobGroup", "Job", "TaskGroup")
_WORD = re.compile(r"[\w.\-]+")
# A task group is known by its name, too: few have ids.
_BY_ID = " | ".join((
    "//JobGroup[Id[normalize-space()='{0}'] or JobGroupId[normalize-space()='{0}']]",
    "//Job[Id[normalize-space()='{0}'] or JobId[normalize-space()='{0}']]",
    "//Job/TaskGroup[Id[normalize-space()='{0}'] or Name[normalize-space()='{0}']]",
))  # fmt: skip


class NotChoosable(SSSJobError, ValueError):
    """An expression chooses what is neither a job, nor a job group, nor a task group."""

    def __init__(self, expression: str) -> None:
        super().__init__(expression)
        self.expression = expression

    def __str__(self) -> str:
        return f"{self.expression}: chooses what is neither a job nor a task group"


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

    def understood(self, operation: Operation) -> Understood[Block]:
        """What an operation understands of it, judged by what matters to what was chosen (9.0)."""
        return understood(self.block, operation).about(self.concerns)


def chosen(
    name: str, stream: BinaryIO, select: str | None = None, *,
    parts: bool = True, on_error: OnError,
) -> Iterator[ChosenObject]:  # fmt: skip
    """The job objects of a document with what was chosen in them; without ``select``, all of each.

    Those in which nothing was chosen are passed over. What cannot be read goes to ``on_error``; so
    does a part of a job that stands by itself, such as a TaskGroup, where no ``parts`` are wanted.
    Raises ``NotAQuery`` and ``NotChoosable``.
    """
    if select is not None:
        return _by_query(name, stream, select, parts, on_error)
    return (ChosenObject(name, block) for block in read(stream, on_error=on_error, parts=parts))


def with_notes(
    name: str, stream: BinaryIO, tell: Callable[[Finding], None], *, on_error: OnError
) -> Iterator[ChosenObject]:
    """The job objects of a document with the Files that they name, and with the comments and
    instructions around them; the document is held whole.

    What is found about Files goes to ``tell``, what cannot be read to ``on_error``.
    """
    from sssjob.document.attached import (  # Files, of which most commands ask nothing
        Attached,
        left_out,
        named,
    )
    from sssjob.document.bundle import messages, notes

    attached = Attached(stream)
    for root, offset in tree.documents(attached.stream, on_error=on_error):
        around = notes(root, [element for element in outermost(root) if is_block(element)])
        held = [(each, block) for each in messages(root, offset=offset) for block in each.blocks]
        # The last notes are those behind the last job object.
        for place, ((message, block), before) in enumerate(zip(held, around, strict=False), 1):
            behind = around[-1] if place == len(held) else ()
            beside = named(block, message.every)
            for found in attached.told(beside):
                tell(found.in_file(name))
            try:
                beside = [*attached.given(beside)]
            except LimitExceeded as error:
                what = left_out(block.name, block.id, error)
                told = finding("E-LIMIT", what, line=block.line, severity=Severity.WARNING)
                tell(told.in_file(name))
                beside = []
            yield ChosenObject(name, block, None, beside, before=before, behind=behind)


def _by_query(
    name: str, source: BinaryIO, select: str, parts: bool, on_error: OnError
) -> Iterator[ChosenObject]:
    from sssjob.query import compile

    is_id = _WORD.fullmatch(select) and select not in _CHOOSABLE
    unit: Element | None = None
    block: Block | None = None
    paths: list[str] = []
    query = compile(_BY_ID.format(select) if is_id else select)
    wanted = tree.Wanted.JOB_OBJECTS if parts else tree.Wanted.JOBS
    for match in query.run(source, wanted=wanted, on_error=on_error):
        element = match.element if match.is_node else None
        steps = [] if element is None else list(_steps(element))
        if element is None or not steps or match.found is not element:
            raise NotChoosable(select)
        outer, path = steps[-1][0], "/" + "/".join(step for _, step in reversed(steps))
        if outer is not unit:
            if block is not None:
                yield ChosenObject(name, block, tuple(paths))
            unit, block, paths = outer, from_tree(outer, offset=match.offset), []
        paths.append(path)
    if block is not None:
        yield ChosenObject(name, block, tuple(paths))


def _steps(element: Element) -> Iterator[tuple[Element, str]]:
    """From a job or task group up to its outermost job object: each element with its step."""
    node: Element | None = element
    while node is not None and (name := split(str(node.tag))[1]) in _CHOOSABLE:
        parent = node.getparent()
        among = [] if parent is None else list(parent.iterchildren(f"{{*}}{name}"))
        inside = parent is not None and split(str(parent.tag))[1] in _CHOOSABLE
        yield node, f"{name}[{among.index(node) + 1}]" if inside and len(among) > 1 else name
        node = parent
