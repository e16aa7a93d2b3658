"""A small message: job objects, and the files that travel beside them.

``<Data><Job>...<Executable>#Script</Executable></Job><File id="Script">...</File></Data>``: an
executable that begins with ``#`` names a file of the same message by its id. What a file holds is
kept byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from urllib.parse import quote

from lxml.etree import _Element as Element

from sssjob import executable, spec
from sssjob.document import tree
from sssjob.document.bridge import from_node, from_tree
from sssjob.document.files import Source
from sssjob.document.outermost import UNIT_TAGS
from sssjob.document.places import CATEGORIES, has_elements, inside_of, names
from sssjob.document.report import Report
from sssjob.document.text import dumps, escape, quoted
from sssjob.errors import Finding, InvalidValue, finding
from sssjob.executable import ExecutableKind, From
from sssjob.model import BLOCKS, Block, Item, Note, Property, paths

_SECTION = "SSS 5.1 Executable"
_ELEMENT = "File"
_LINE_ENDS = {"\r": "&#13;"}  # a reader would turn a bare one into a line feed


@dataclass(frozen=True, slots=True)
class File:
    """A file of a message: its id without percent-encoding, and what it holds.

    The content is UTF-8, which every character of XML has; of a File that holds elements, which
    is an error, it is the XML in it. ``path`` is its place in the message.
    """

    id: str
    content: bytes
    line: int = field(default=0, compare=False)
    path: str = field(default="", compare=False)
    element: Element | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bundle:
    """One message: its job objects, its files by their ids, and what is wrong with either."""

    blocks: tuple[Block, ...]
    files: Mapping[str, File] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def script(self, text: str) -> File | None:
        """The file that the text of an Executable names; None for a path, a URI, or none at all.

        Raises ``InvalidValue`` for a text that names nothing.
        """
        named = executable.executable(text)
        return self.files.get(named.target) if named.kind is ExecutableKind.FILE else None

    def dumps(self, wrap: str = "Data") -> str:
        """The message as XML text under one wrapper.

        Raises ``ValueError`` for a file that is not UTF-8, or has characters that XML has not.
        """
        jobs = "".join(dumps(block) for block in self.blocks)
        return f"<{wrap}>{jobs}{''.join(map(written, self.files.values()))}</{wrap}>"


def bundles(source: Source) -> Iterator[Bundle]:
    """Each document of a source as one message, held whole. Raises ``UnreadableDocument``."""
    for root, offset in tree.documents(source):
        yield bundle(root, offset=offset)


def bundle(root: Element, *, offset: int = 0) -> Bundle:
    """The message of one document; ``offset`` is the number of lines before it."""
    report = Report(root, offset)
    blocks: list[Block] = []
    files: dict[str, File] = {}
    for element in _parts(root):
        if names(element)[1] == _ELEMENT:
            _add(element, files, report)
        else:
            blocks.append(from_tree(element, offset=offset))
    used: set[str] = set()
    found = [*report.found, *_executables(blocks, files, used)]
    for id_, file in files.items():
        if id_ not in used:
            text = f"no executable names the File {id_}"
            found.append(finding("I-FILE", text, line=file.line, path=file.path, section=_SECTION))
    return Bundle(tuple(blocks), files, tuple(found))


def _parts(root: Element) -> Iterator[Element]:
    """The outermost job objects and the files of a document, in document order."""
    if _is(root, BLOCKS.keys() - set(CATEGORIES)):
        yield root
        return
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag in UNIT_TAGS or _is(element, {_ELEMENT}):
            yield element
        else:
            waiting.extend(child for child in reversed(element) if type(child.tag) is str)


def notes(root: Element, units: Sequence[Element]) -> list[tuple[Note, ...]]:
    """The comments and instructions around the job objects of a document.

    Those before each, and at last those behind the last one; none that stands inside of one, or
    inside of a File.
    """
    found: list[list[Note]] = [[]]
    for node in chain(_siblings(root, before=True), _around(root, units), _siblings(root)):
        if node is None:
            found.append([])
        else:
            found[-1].append(from_node(node))
    return [tuple(each) for each in found]


def _siblings(root: Element, *, before: bool = False) -> Iterator[Element]:
    """The comments and instructions before a root, or behind it, in their order."""
    there = list(root.itersiblings(preceding=before))
    return iter(there[::-1] if before else there)


def _around(root: Element, units: Sequence[Element]) -> Iterator[Element | None]:
    """The comments and instructions in an element, and None for each job object."""
    waiting, held = [root], set(units)
    while waiting:
        node = waiting.pop()
        if type(node.tag) is not str:
            yield node
        elif node in held:
            yield None
        elif not _is(node, {_ELEMENT}):
            waiting.extend(reversed(node))


def _is(element: Element, wanted: set[str]) -> bool:
    namespace, name = names(element)
    return namespace in spec.NAMESPACES and name in wanted


def _add(element: Element, files: dict[str, File], report: Report) -> None:
    """Read one file. The first of an id counts."""
    id_ = executable.decoded(element.get("id", ""))
    if has_elements(element):
        text = "a File holds elements beside its text"
        report.say("E-MIXED", element, text, _SECTION, "escape what it holds, or use CDATA")
    if not id_:
        report.say("E-MISSING", element, "File has no id", _SECTION)
    elif id_ in files:
        text = f"a second File with the id {id_}; the first is on line {files[id_].line}"
        report.say("E-DUP", element, text, _SECTION, attribute="id")
    else:
        content = inside_of(element).encode()
        files[id_] = File(id_, content, report.line(element), report.path(element), element)


def _executables(
    blocks: list[Block], files: Mapping[str, File], used: set[str]
) -> Iterator[Finding]:
    for block in blocks:
        yield from _of_block(block, f"/{block.name}", "", files, used)


def _of_block(
    block: Block, path: str, shell: str, files: Mapping[str, File], used: set[str]
) -> Iterator[Finding]:
    """What is wrong with the executables of a block and those below it; notes the ids in use."""
    shell = block.get("Shell") or shell
    for item in block.properties.all("Executable"):
        yield from _of_executable(item, f"{path}/Executable", shell, files, used)
    for step, inner in paths(block, path):
        if inner.name not in CATEGORIES:
            yield from _of_block(inner, step, _default(block, inner) or shell, files, used)


def _default(block: Block, inner: Item) -> str:
    """The Shell that a defaults element beside a block lends it."""
    kind = spec.DEFAULTS.get(inner.name) if isinstance(inner, Block) else None
    lent = (item for item in block.items if isinstance(item, Block) and item.name == kind)
    return next((item.get("Shell") for item in lent), "")


def _of_executable(
    item: Property, path: str, shell: str, files: Mapping[str, File], used: set[str]
) -> Iterator[Finding]:
    try:
        named = executable.executable(item.text)
        if named.kind is not ExecutableKind.FILE:
            return
        used.add(named.target)
        file = files.get(named.target)
        if file is None:
            text = f"no File with the id {named.target} is in this message"
            yield finding("E-FILE", text, line=item.line, path=path, section=_SECTION)
        elif executable.interpreter(file.content, shell).source is From.DEFAULT:
            text = f"{named.target} names no interpreter, and the job no Shell"
            yield finding(
                "W-SHELL", text, line=item.line, path=path, section=_SECTION,
                suggestion=f"it is run by {executable.DEFAULT_SHELL}",
            )  # fmt: skip
    except InvalidValue as error:
        yield finding("E-FILE", str(error), line=item.line, path=path, section=_SECTION)


def written(file: File) -> str:
    """A File as it stands in a message. Raises ``InvalidValue`` for what XML has not."""
    try:
        text = file.content.decode()
    except UnicodeDecodeError as error:
        raise InvalidValue(f"{file.id}: byte {error.start}", "text in UTF-8") from error
    if illegal := next((letter for letter in text if not _is_character(letter)), ""):
        raise InvalidValue(f"{file.id}: U+{ord(illegal):04X}", "a character of XML 1.0")
    id_ = file.id if executable.decoded(file.id) == file.id else quote(file.id)
    return f"<{_ELEMENT} id={quoted(id_)}>{escape(text, _LINE_ENDS)}</{_ELEMENT}>"


def _is_character(letter: str) -> bool:
    """Whether XML 1.0 has a character (2.2)."""
    return letter in "\t\n\r" or (letter >= " " and letter not in "\ufffe\uffff")
