"""The only door between trees and values.

Reading turns older names into present ones and keeps everything else: unknown elements and
attributes, foreign namespaces, comments, and the text of every value as it was written.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import cast

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document.outermost import is_block
from sssjob.document.parsing import parsed
from sssjob.document.places import (
    ATTRIBUTE,
    MANY,
    attributes,
    has_elements,
    is_adapter,
    place,
    split,
    text_of,
)  # fmt: skip
from sssjob.legality import DECLARES, legal, legal_name, legal_note
from sssjob.model import BLOCKS, Attributes, Block, Item, Note, Property, Reference
from sssjob.units import XML_SPACE

Declared = Iterator[tuple[str, tuple[str, str]]]  # prefixes and what they mean

_PREFIX = re.compile(r"(?<![\w.\-])([\w.\-]+):")
_NO_PREFIXES = Attributes()
_XML = "http://www.w3.org/XML/1998/namespace"


def from_tree(element: Element, *, offset: int = 0) -> Block:
    """The value of a job object's element: a Job, JobGroup, TaskGroup, Task or defaults block.

    ``offset`` lines of its source are before its tree. Raises ``ValueError`` for any other element.
    """
    namespace, name = split(str(element.tag))
    if not is_block(element):
        raise ValueError(f"<{name}> is no job object")
    prefixes: Mapping[str, str] = {
        prefix or "": uri for prefix, uri in element.nsmap.items() if uri
    }
    declared = cast(Declared, etree.iterwalk(element, events=("start-ns",)))
    if any(prefix and prefixes.get(prefix) != uri for _, (prefix, uri) in declared):
        element, prefixes = _declaring(element, prefixes)
    held = Attributes.read(prefixes) if prefixes else _NO_PREFIXES
    return _block(element, name, namespace, offset, held)


def to_tree(block: Block, *, dialect: str = "", namespace: str | None = None) -> Element:
    """The element of a job object.

    ``dialect`` writes the names of an older draft (one of ``spec.DIALECTS``). ``namespace`` puts
    every element of the standard into that one ("" for none); None leaves each where it is.
    Raises ``InvalidValue`` for what XML cannot hold.
    """
    prefixes = {prefix or None: uri for prefix, uri in block.prefixes.items()}
    if namespace is not None:
        kept = prefixes_in_content(block)
        prefixes = {
            prefix: uri
            for prefix, uri in prefixes.items()
            if uri not in spec.NAMESPACES or prefix in kept
        }
        prefixes |= {None: namespace} if namespace else {}
    elif block.namespace and block.namespace not in prefixes.values():
        prefixes[None] = block.namespace
    if None in prefixes and (not namespace) and _has_bare(block, namespace):
        # A default namespace would take in the elements that have none.
        uri = prefixes.pop(None)
        if uri not in prefixes.values():
            prefixes[_free_prefix(prefixes)] = uri
    root = _element(_tag(block, block.name, namespace), block.attributes, prefixes)
    _fill(root, block, block.items, dialect, namespace)
    return root


def prefixes_in_content(block: Block) -> Mapping[str, str]:
    """The prefixes of a block that a text or an attribute in it may mean, as ``p:T`` does."""
    declared = {prefix: uri for prefix, uri in sorted(block.prefixes.items()) if prefix}
    if not declared:
        return _NO_PREFIXES
    used = {prefix for text in _texts(block) for prefix in _PREFIX.findall(text)}
    return {prefix: uri for prefix, uri in declared.items() if prefix in used}


def _declaring(element: Element, prefixes: Mapping[str, str]) -> tuple[Element, Mapping[str, str]]:
    """A job object with the prefixes that are declared inside of it and that texts there may mean.

    They hold for all of it, unless that gives a meaning, or another one, to a text elsewhere. Then
    an attribute of the namespace of declarations says them where they were; written, it is one.
    """
    places = [
        (index, prefix or "", uri)
        for index, each in enumerate(element.iter(etree.Element))
        for prefix, uri in (each.nsmap.items() if each is not element else ())
        if prefix and _scope(each.getparent()).get(prefix) != uri and _says(each, f"{prefix}:")
    ]
    meant: dict[str, set[str]] = {}
    for _, prefix, uri in places:
        meant.setdefault(prefix, {prefixes[prefix]} if prefix in prefixes else set()).add(uri)
    alone = {
        prefix: uri
        for prefix, (uri, *others) in meant.items()
        if not others and not _strays(element, prefix)
    }
    copy = element
    if alone.keys() != meant.keys():
        copy = deepcopy(element)
        there = list(copy.iter(etree.Element))
        for index, prefix, uri in places:
            if prefix not in alone:
                there[index].set(f"{DECLARES}{prefix}", uri)
    return copy, {**prefixes, **alone}


def _scope(element: Element | None) -> Mapping[str | None, str]:
    return {} if element is None else element.nsmap


def _says(element: Element, sought: str) -> bool:
    """Whether a text or an attribute in an element has some characters."""
    return any(sought in text for text in element.itertext()) or any(
        sought in text for each in element.iter(etree.Element) for text in each.attrib.values()
    )


def _strays(element: Element, prefix: str) -> bool:
    """Whether a text has a prefix where it means nothing."""
    return any(
        f"{prefix}:" in text
        for each in element.iter(etree.Element)
        if prefix not in each.nsmap
        for text in (each.text or "", *(child.tail or "" for child in each), *each.attrib.values())
    )


def _texts(item: Item) -> Iterator[str]:
    """Every text in an item, and every value of an attribute."""
    if isinstance(item, Note):
        yield item.text
        return
    yield from item.attributes.values()
    if isinstance(item, Property):
        yield item.text
    for inner in item.items if isinstance(item, Block) else item.children:
        yield from _texts(inner)


def _block(
    element: Element, name: str, namespace: str, offset: int,
    prefixes: Attributes = _NO_PREFIXES,
) -> Block:  # fmt: skip
    items: list[Item] = []
    # "wallclockLimit" says by its name what Requested would say: one block for all such names.
    implied: dict[str, list[Item]] = {}
    if element.text and element.text.strip(XML_SPACE):
        items.append(Note("text", element.text))
    for child in element:
        tag = child.tag
        if type(tag) is not str:
            items.append(from_node(child))
        else:
            here = place(tag, name)
            if here.block:
                items.append(_block_or_reference(child, here.name, here.namespace, offset))
            elif here.implied and here.category != name:
                one = _property(child, here.name, here.namespace, offset)
                implied.setdefault(here.category, []).append(one)
            else:
                items.append(_property(child, here.name, here.namespace, offset))
        if child.tail and child.tail.strip(XML_SPACE):
            _append_text(items, child.tail)
    for category, properties in implied.items():
        items.append(BLOCKS[category](tuple(properties), {}, namespace))
    line = _line(element, offset)
    said = Attributes.read(attributes(element))
    return BLOCKS[name](tuple(items), said, namespace, line, prefixes)


def _append_text(items: list[Item], text: str) -> None:
    """Text beside children; where what stood between two texts went elsewhere, they are one."""
    last = items[-1] if items else None
    if isinstance(last, Note) and last.kind == "text":
        items[-1] = Note("text", last.text + text)
    else:
        items.append(Note("text", text))


def _block_or_reference(element: Element, name: str, namespace: str, offset: int) -> Item:
    if spec.CONTAINER[name].reference and not has_elements(element):
        text = text_of(element)
        if text.strip(XML_SPACE):
            notes = tuple(from_node(child) for child in element)
            return Reference.read(
                name, text, attributes(element), notes, namespace, _line(element, offset)
            )
    return _block(element, name, namespace, offset)


def _property(element: Element, name: str, namespace: str, offset: int) -> Property:
    text, named = element.text or "", attributes(element)
    children: tuple[Property | Note, ...] = ()
    if len(element):
        if has_elements(element):
            children = tuple(_children(element, offset))
            text = text if _is_mixed(element) else ""
        else:
            # A comment inside a value is not part of it, and stays behind it.
            text, children = text_of(element), tuple(from_node(child) for child in element)
    if name == "Network" and is_adapter(text, named):
        name = "NetworkAdapter"
    line = element.sourceline
    return Property.read(name, text, named, children, namespace, line + offset if line else 0)


def _line(element: Element, offset: int) -> int:
    """The line of an element in its source, 0 if it is not known."""
    line = element.sourceline
    return line + offset if line else 0


def _children(element: Element, offset: int) -> Iterable[Property | Note]:
    mixed = _is_mixed(element)
    for child in element:
        if type(child.tag) is not str:
            yield from_node(child)
        else:
            namespace, name = split(child.tag)
            known = namespace in spec.NAMESPACES
            known_name = name if known else child.tag
            yield _property(child, known_name, namespace if known else "", offset)
        if child.tail and (mixed or child.tail.strip(XML_SPACE)):
            yield Note("text", child.tail)


def _is_mixed(element: Element) -> bool:
    """Whether text stands beside the children: then white space may mean something, too."""
    texts = (element.text, *(child.tail for child in element))
    return any(text and text.strip(XML_SPACE) for text in texts)


def from_node(node: Element) -> Note:
    """The value of a comment or an instruction, as it is read again once it was written."""
    text = (node.text or "").replace("\r\n", "\n").replace("\r", "\n")  # XML 2.11
    if isinstance(node, etree._Comment):
        return Note("comment", text)
    target = node.target  # type: ignore[attr-defined]  # a processing instruction has one
    text = text.lstrip(XML_SPACE)
    return Note("instruction", f"{target} {text}" if text else target)


def _child(parent: Element, tag: str, item: Block | Property) -> Element:
    """A new element of an item, behind what its parent has."""
    named = item.attributes
    prefixes: dict[str | None, str] = {}
    if any(name.startswith(DECLARES) for name in named):
        named, prefixes = _declarations(named)
    if len(named) < MANY and len(prefixes) < MANY:
        return etree.SubElement(parent, tag, _attributes(named), prefixes)
    child = _element(tag, named, prefixes)
    parent.append(child)
    return child


def _declarations(
    attributes: Mapping[str, str],
) -> tuple[dict[str, str], dict[str | None, str]]:
    """Attributes without declarations, and the prefixes that these declare."""
    prefixes: dict[str | None, str] = {
        legal_name(name.removeprefix(DECLARES)): legal(uri)
        for name, uri in attributes.items()
        if name.startswith(DECLARES)
    }
    return {key: uri for key, uri in attributes.items() if not key.startswith(DECLARES)}, prefixes


def _element(
    tag: str, attributes: Mapping[str, str], prefixes: Mapping[str | None, str]
) -> Element:
    """A new element. Raises ``InvalidValue`` for what XML cannot hold."""
    attributes = _attributes(attributes)
    if len(attributes) < MANY and len(prefixes) < MANY:
        return etree.Element(tag, attributes, dict(prefixes))
    return _with_many(tag, attributes, prefixes)


def _with_many(
    tag: str, attributes: Mapping[str, str], prefixes: Mapping[str | None, str]
) -> Element:
    """A new element by a parser: lxml goes through all that are there for each new one."""
    own = etree.QName(tag).namespace
    bare = etree.Element(tag, {}, {prefix: uri for prefix, uri in prefixes.items() if uri == own})
    declared: dict[str | None, str] = {**prefixes, **bare.nsmap}
    short = {uri: prefix for prefix, uri in reversed(declared.items()) if prefix} | {_XML: "xml"}
    free = filter(lambda prefix: prefix not in prefixes, map("ns{}".format, itertools.count(1)))
    written = []
    for key, value in attributes.items():
        name = etree.QName(key)
        if name.namespace and name.namespace not in short:
            short[name.namespace] = next(free)
        prefix = f"{short[name.namespace]}:" if name.namespace else ""
        written.append(f'{prefix}{name.localname}="{value.translate(ATTRIBUTE)}"')
    declared.update((prefix, uri) for uri, prefix in short.items() if uri != _XML)
    if None in declared:  # as lxml writes them: that of names without a prefix is the last
        declared[None] = declared.pop(None)
    local = etree.QName(tag).localname
    start = f"{bare.prefix}:{local}" if bare.prefix else local
    said = (
        f'xmlns{f":{prefix}" if prefix else ""}="{uri.translate(ATTRIBUTE)}"'
        for prefix, uri in declared.items()
    )
    return parsed(f"<{' '.join((start, *said, *written))}/>".encode())


def _attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    return {legal_name(name): legal(text) for name, text in attributes.items()}


def _tag(item: Block | Property, name: str, namespace: str | None) -> str:
    place = item.namespace if namespace is None else namespace
    legal_name(name)
    return f"{{{place}}}{name}" if place and name[0] != "{" else name


def _has_bare(item: Item, namespace: str | None) -> bool:
    """Whether an element in no namespace will be written."""
    if isinstance(item, Note):
        return False
    foreign = isinstance(item, Property) and item.name[0] == "{"
    if not foreign and not (item.namespace if namespace is None else namespace):
        return True
    inner = item.items if isinstance(item, Block) else item.children
    return any(_has_bare(each, namespace) for each in inner)


def _free_prefix(taken: Mapping[str | None, str]) -> str:
    return next(name for name in (f"{'s' * count}" for count in range(1, 99)) if name not in taken)


def _fill(
    parent: Element, container: Block | None, items: Iterable[Item],
    dialect: str, namespace: str | None,
) -> None:  # fmt: skip
    for item in items:
        if isinstance(item, Note):
            _append_note(parent, item)
        elif isinstance(item, Block):
            child = _child(parent, _tag(item, item.name, namespace), item)
            _fill(child, item, item.items, dialect, namespace)
        else:
            name = item.name
            if dialect and container is not None:
                name = spec.written(name, container.name, dialect)
            child = _child(parent, _tag(item, name, namespace), item)
            child.text = legal(item.text) or None
            _fill(child, None, item.children, dialect, namespace)


def _append_note(parent: Element, note: Note) -> None:
    legal_note(note.kind, note.text)
    if note.kind == "comment":
        parent.append(etree.Comment(note.text))
    elif note.kind == "instruction":
        target, _, text = note.text.partition(" ")
        parent.append(etree.ProcessingInstruction(target, text or None))
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + note.text
    else:
        parent.text = (parent.text or "") + note.text
