"""A small message: job objects, and the files that travel beside them.

``<Data><Job>...<Executable>#Script</Executable></Job><File id="Script">...</File></Data>``: an
executable that begins with ``#`` names a file of the same message by its id. What a file holds is
kept byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, groupby
from urllib.parse import quote

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import executable, spec
from sssjob.document import tree
from sssjob.document.batches import OnError
from sssjob.document.bridge import from_node, from_tree
from sssjob.document.files import Source
from sssjob.document.meant import Around, Meant
from sssjob.document.outermost import UNIT_TAGS, Wanted
from sssjob.document.places import CATEGORIES, attributes, has_elements, inside_of, names
from sssjob.document.report import ObjectReport
from sssjob.document.text import escape, quoted
from sssjob.errors import Finding, InvalidValue, finding
from sssjob.executable import ExecutableKind, From
from sssjob.legality import ILLEGAL
from sssjob.model import BLOCKS, Block, Note, Property, paths

_SECTION = "SSS 5.1 Executable"
_ELEMENT = "File"
_LENDING = {defaults: name for name, defaults in spec.DEFAULTS.items()}
_LINE_ENDS = {"\r": "&#13;"}  # a reader would turn a bare one into a line feed


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file of a message: its id without percent-encoding, and what it holds.

    The content is UTF-8, which every character of XML has; of a File that holds elements, which
    is an error, it is the XML in it. ``attributes`` are those beside its id. ``path`` is its place
    in the message.
    """

    id: str
    content: bytes
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    line: int = field(default=0, compare=False)
    path: str = field(default="", compare=False)
    element: Element | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bundle:
    """One message: its job objects, its files by their ids, and what is wrong with either.

    Of several Files with one id the first is meant; ``every`` has all of them, in this order.
    """

    blocks: tuple[Block, ...]
    files: Mapping[str, MessageFile] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    every: Mapping[str, Sequence[MessageFile]] = field(default_factory=dict)

    def script(self, text: str) -> MessageFile | None:
        """The file that the text of an Executable names; None for a path, a URI, or none at all.

        Raises ``InvalidValue`` for a text that names nothing.
        """
        named = executable.executable(text)
        return self.files.get(named.target) if named.kind is ExecutableKind.FILE else None


def bundles(
    source: Source, *, on_error: OnError | None = None, wanted: Wanted = Wanted.JOB_OBJECTS
) -> Iterator[Bundle]:
    """Each message of a source, held whole.

    Raises ``UnreadableDocument``, or hands it to ``on_error`` and goes on; so for a document that
    has nothing that is ``wanted``.
    """
    for root, offset in tree.documents(source, on_error=on_error, wanted=wanted):
        yield from messages(root, offset=offset)


def messages(root: Element, *, offset: int = 0) -> list[Bundle]:
    """The messages of one document, which is mostly one: job objects that see the same Files.

    ``offset`` is the number of lines before the document. What is wrong with any is told with the
    first.
    """
    report = ObjectReport(root, offset)
    meant: Meant[MessageFile] = Meant()
    blocks: list[tuple[Around, Block]] = []
    files: list[tuple[Around, MessageFile]] = []
    for element, around in _parts(root):
        if names(element)[1] == _ELEMENT:
            files += ((around, file) for file in _file(element, report))
        else:
            meant.note(around)
            blocks.append((around, from_tree(element, offset=offset)))
    for around, file in files:
        meant.add(around, file.id, file)
    every = [each for message in meant.messages() for each in message.values()]
    wrong = [*report.found, *(told for each in every for told in seconds(each))]
    found = list(_seen(blocks, meant)) or [_message((), meant.seen(()))]
    used: set[int] = set()
    wrong += _executables(found, used)
    for file, *_ in every:
        if id(file) not in used:
            text = f"no executable names the File {file.id}"
            wrong.append(finding("I-FILE", text, line=file.line, path=file.path, section=_SECTION))
    return [replace(found[0], findings=tuple(wrong)), *found[1:]]


def bundle(root: Element, *, offset: int = 0) -> Bundle:
    """A document as one message, whose Files are those of all that it holds, the first of an id."""
    found = messages(root, offset=offset)
    if len(found) == 1:
        return found[0]
    blocks = tuple(block for each in found for block in each.blocks)
    every: dict[str, Sequence[MessageFile]] = {}
    for each in found:
        for id_, files in each.every.items():
            every.setdefault(id_, files)
    return replace(_message(blocks, every), findings=found[0].findings)


def _parts(root: Element) -> Iterator[tuple[Element, Around]]:
    """The job objects, as they are read, and the files of a document, in document order."""
    if _is(root, BLOCKS.keys() - set(CATEGORIES)):
        yield root, ()
        return
    numbers = count()
    waiting: list[tuple[Element, Around]] = [(root, ())]
    while waiting:
        element, around = waiting.pop()
        if element.tag in UNIT_TAGS:
            yield element, around
            continue
        if _is(element, {_ELEMENT}):
            yield element, around
        inside = (*around, next(numbers))
        children = (child for child in reversed(element) if type(child.tag) is str)
        waiting.extend((child, inside) for child in children)


def seconds(files: Sequence[MessageFile]) -> Iterator[Finding]:
    """What is told of Files of one id in one message, that which is meant first."""
    for file in files[1:]:
        yield second(file.id, file.line, files[0].line, f"{file.path}/@id" if file.path else "")


def second(id_: str, line: int, first: int, path: str = "") -> Finding:
    """That a File on a line has the id of one that is meant."""
    text = f"a second File with the id {id_}; jobs mean the one on line {first}"
    return finding("E-DUP", text, line=line, path=path, section=_SECTION)


def _seen(blocks: Sequence[tuple[Around, Block]], meant: Meant[MessageFile]) -> Iterator[Bundle]:
    """Job objects that stand together and see the same Files."""
    seen = [(meant.seen(around), block) for around, block in blocks]
    for _, group in groupby(seen, lambda each: id(each[0])):
        held = list(group)
        yield _message(tuple(block for _, block in held), held[0][0])


def _message(blocks: tuple[Block, ...], every: Mapping[str, Sequence[MessageFile]]) -> Bundle:
    return Bundle(blocks, _First(every), every=every)


class _First(Mapping[str, MessageFile]):
    """Of the Files of each id the one that is meant."""

    def __init__(self, every: Mapping[str, Sequence[MessageFile]]) -> None:
        self._every = every

    def __getitem__(self, id_: str) -> MessageFile:
        return self._every[id_][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._every)

    def __len__(self) -> int:
        return len(self._every)

    def __repr__(self) -> str:
        return repr(dict(self))


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
        else:
            waiting.extend(each for each in reversed(node) if type(each.tag) is str)


def _is(element: Element, wanted: set[str]) -> bool:
    namespace, name = names(element)
    return namespace in spec.NAMESPACES and name in wanted


def _file(element: Element, report: ObjectReport) -> Iterator[MessageFile]:
    """A File, unless it has no id."""
    id_ = executable.decoded(element.get("id", ""))
    if has_elements(element):
        text = "a File holds elements beside its text"
        report.say("E-MIXED", element, text, _SECTION, "escape what it holds, or use CDATA")
    if not id_:
        report.say("E-MISSING", element, "File has no id", _SECTION)
    else:
        content = inside_of(element).encode()
        beside = {name: value for name, value in attributes(element).items() if name != "id"}
        yield MessageFile(id_, content, beside, report.line(element), report.path(element), element)


def _executables(found: Sequence[Bundle], used: set[int]) -> Iterator[Finding]:
    for message in found:
        for block in message.blocks:
            yield from _of_block(block, f"/{block.name}", "", message.files, used)


def _of_block(
    block: Block, path: str, shell: str, files: Mapping[str, MessageFile], used: set[int]
) -> Iterator[Finding]:
    """What is wrong with the executables of a block and those below it; notes the Files in use."""
    shell = block.get("Shell") or shell
    for item in block.properties.all("Executable"):
        yield from _of_executable(item, f"{path}/Executable", shell, files, used)
    lent = _lent(block)
    for step, inner in paths(block, path):
        if inner.name not in CATEGORIES:
            yield from _of_block(inner, step, lent.get(inner.name) or shell, files, used)


def _lent(block: Block) -> Mapping[str, str]:
    """The Shells that the defaults elements in a block lend those beside them, by their names."""
    found: dict[str, str] = {}
    for item in block.items:
        if isinstance(item, Block) and item.name in _LENDING:
            found.setdefault(_LENDING[item.name], item.get("Shell"))
    return found


def _of_executable(
    item: Property, path: str, shell: str, files: Mapping[str, MessageFile], used: set[int]
) -> Iterator[Finding]:
    try:
        named = executable.executable(item.text)
        if named.kind is not ExecutableKind.FILE:
            return
        file = files.get(named.target)
        used.add(id(file))
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


def written(file: MessageFile) -> str:
    """A File as it stands in a message. Raises ``InvalidValue`` for what XML has not."""
    if not file.id:
        raise InvalidValue("", "the id of a File")
    try:
        text = file.content.decode()
    except UnicodeDecodeError as error:
        raise InvalidValue(f"{file.id}: byte {error.start}", "text in UTF-8") from error
    if illegal := ILLEGAL.search(f"{file.id}\n{text}"):
        raise InvalidValue(f"{file.id}: U+{ord(illegal[0]):04X}", "a character of XML 1.0")
    id_ = file.id if executable.decoded(file.id) == file.id else quote(file.id)
    start = f"<{_ELEMENT} id={quoted(id_)}>"
    if file.attributes:
        said: dict[str, str] = {"id": id_, **file.attributes}
        tag = etree.Element(_ELEMENT, said)
        start = f"{etree.tostring(tag, encoding='unicode').removesuffix('/>')}>"
    return f"{start}{escape(text, _LINE_ENDS)}</{_ELEMENT}>"
