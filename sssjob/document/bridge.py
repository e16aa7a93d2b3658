"""The only door between trees and values.

Reading turns older names into present ones and keeps everything else: unknown elements and
attributes, foreign namespaces, comments, and the text of every value as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec, units
from sssjob.errors import InvalidValue
from sssjob.model import BLOCKS, Block, Item, Note, Property, Reference

_XML_SPACE = " \t\r\n"
_NO_PREFIXES: Mapping[str, str] = {}
_AMOUNT = frozenset(spec.attributes("Network")) - {"awarenessPolicy"}
_STRING = etree.XPath("string()")


class _Row(NamedTuple):
    """What a tag means in a container."""

    name: str
    namespace: str
    block: bool = False
    category: str = ""


def from_tree(element: Element) -> Block:
    """The value of a job object's element: a Job, JobGroup, TaskGroup, Task or defaults block.

    Raises ``ValueError`` for any other element.
    """
    namespace, name = split(str(element.tag))
    if name not in BLOCKS or namespace not in spec.NAMESPACES:
        raise ValueError(f"<{name}> is no job object")
    prefixes = {prefix or "": uri for prefix, uri in element.nsmap.items()}
    return _block(element, name, namespace, prefixes or _NO_PREFIXES)


def to_tree(block: Block, *, dialect: str = "", namespace: str | None = None) -> Element:
    """The element of a job object.

    ``dialect`` writes the names of an older draft (one of ``spec.DIALECTS``). ``namespace`` puts
    every element of the standard into that one ("" for none); None leaves each where it is.
    """
    prefixes = {prefix or None: uri for prefix, uri in block.prefixes.items()}
    if namespace is not None:
        prefixes = {prefix: uri for prefix, uri in prefixes.items() if uri not in spec.NAMESPACES}
        prefixes |= {None: namespace} if namespace else {}
    elif block.namespace and block.namespace not in prefixes.values():
        prefixes[None] = block.namespace
    root = etree.Element(_tag(block, block.name, namespace), _attributes(block), prefixes)
    _fill(root, block, block.items, dialect, namespace)
    return root


@cache
def split(tag: str) -> tuple[str, str]:
    """A tag as namespace and local name."""
    namespace, _, name = tag[1:].rpartition("}") if tag[:1] == "{" else ("", "", tag)
    return namespace, name


def is_number(text: str) -> bool:
    """Whether a text is a number as Float has it."""
    try:
        units.number(text)
    except InvalidValue:
        return False
    return True


def _block(
    element: Element, name: str, namespace: str, prefixes: Mapping[str, str] = _NO_PREFIXES
) -> Block:
    items: list[Item] = []
    # "wallclockLimit" says by its name what Requested would say: one block for all such names.
    implied: dict[str, list[Item]] = {}
    if element.text and element.text.strip(_XML_SPACE):
        items.append(Note("text", element.text))
    for child in element:
        if type(child.tag) is not str:
            items.append(_note(child))
        else:
            row = _row(child.tag, name)
            if row.block:
                items.append(_block_or_reference(child, row))
            elif row.category and row.category != name:
                implied.setdefault(row.category, []).append(_property(child, row))
            else:
                items.append(_property(child, row))
        if child.tail and child.tail.strip(_XML_SPACE):
            items.append(Note("text", child.tail))
    for category, properties in implied.items():
        items.append(BLOCKS[category](tuple(properties), {}, namespace))
    return BLOCKS[name](
        tuple(items), dict(element.items()), namespace, element.sourceline or 0, prefixes
    )


@cache
def _row(tag: str, container: str) -> _Row:
    namespace, name = split(tag)
    if namespace not in spec.NAMESPACES:
        return _Row(tag, "")
    if name in BLOCKS:
        return _Row(name, namespace, block=True)
    if name not in spec.properties(container) and (alias := spec.alias(name, container)):
        return _Row(alias.canonical, namespace, category=alias.category)
    return _Row(name, namespace)


def _block_or_reference(element: Element, row: _Row) -> Item:
    if spec.CONTAINER[row.name].reference and not len(element):
        text = element.text or ""
        if text.strip(_XML_SPACE):
            attributes = dict(element.items())
            line = element.sourceline or 0
            return Reference(row.name, text, attributes, (), row.namespace, line)
    return _block(element, row.name, row.namespace)


def _property(element: Element, row: _Row) -> Property:
    name, text, attributes = row.name, element.text or "", dict(element.items())
    if name == "Network" and _AMOUNT.isdisjoint(attributes) and text.strip(_XML_SPACE):
        # One name for two properties: text that is no number is a type of adapter. 0.3
        name = "Network" if is_number(text) else "NetworkAdapter"
    children: tuple[Property | Note, ...] = ()
    if len(element):
        if any(type(child.tag) is str for child in element):
            children = tuple(_children(element))
            text = text if text.strip(_XML_SPACE) else ""
        else:
            text = str(_STRING(element))  # a comment inside a value is not part of it
    return Property(name, text, attributes, children, row.namespace, element.sourceline or 0)


def _children(element: Element) -> Iterable[Property | Note]:
    for child in element:
        if type(child.tag) is not str:
            yield _note(child)
        else:
            namespace, name = split(child.tag)
            row = _Row(name, namespace) if namespace in spec.NAMESPACES else _Row(child.tag, "")
            yield _property(child, row)
        if child.tail and child.tail.strip(_XML_SPACE):
            yield Note("text", child.tail)




def _note(node: Element) -> Note:
    if node.tag is etree.Comment:
        return Note("comment", node.text or "")
    target = node.target  # type: ignore[attr-defined]  # a processing instruction has one
    return Note("instruction", f"{target} {node.text}" if node.text else target)


def _attributes(item: Block | Property) -> dict[str, str]:
    return dict(item.attributes)


def _tag(item: Block | Property, name: str, namespace: str | None) -> str:
    place = item.namespace if namespace is None else namespace
    return f"{{{place}}}{name}" if place and name[0] != "{" else name


def _fill(
    parent: Element, container: Block | None, items: Iterable[Item],
    dialect: str, namespace: str | None,
) -> None:  # fmt: skip
    for item in items:
        if isinstance(item, Note):
            _append_note(parent, item)
        elif isinstance(item, Block):
            child = etree.SubElement(parent, _tag(item, item.name, namespace), _attributes(item))
            _fill(child, item, item.items, dialect, namespace)
        else:
            name = item.name
            if dialect and container is not None:
                name = spec.written(name, container.name, dialect)
            child = etree.SubElement(parent, _tag(item, name, namespace), _attributes(item))
            child.text = item.text or None
            _fill(child, None, item.children, dialect, namespace)


def _append_note(parent: Element, note: Note) -> None:
    if note.kind == "comment":
        parent.append(etree.Comment(note.text))
    elif note.kind == "instruction":
        target, _, text = note.text.partition(" ")
        parent.append(etree.ProcessingInstruction(target, text or None))
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + note.text
    else:
        parent.text = (parent.text or "") + note.text


