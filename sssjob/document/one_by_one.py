"""The jobs of one large JobGroup, each read alone, so that memory holds one of them at a time.

Strategy. A JobGroup is the unit that is read (decision 21), because its jobs refer to each other
and go over its defaults, which may stand behind them. Who asks for nothing but each job with its
defaults need not hold all of them.

The idea is to read the bytes twice: first for all but the jobs, which is what they have in common,
then for each job, which is put into that and read there by whoever reads any JobGroup.

Why it is right: a job finds in its group just what it would have found beside the others. Whatever
is not plain (another encoding, prefixes, a fault anywhere, much beside the jobs) is found before
the first job is given, and not read in this way at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document.bridge import from_tree
from sssjob.document.limits import NODE_LIMIT, OBJECT_LIMIT, markup_of
from sssjob.document.outermost import TAGS, UNIT_TAGS
from sssjob.document.parsing import pull_parser
from sssjob.model import Block

LARGE = 1 << 18  # bytes from which on it is worth the second reading
MOST, LONGEST = 64, 1 << 14  # nodes and bytes in a group beside its jobs, read with each of them

_STEP = 1 << 16
_BEGIN = re.compile(
    rb"(?:<\?xml version=[\"']1\.0[\"'](?: encoding=[\"'](?i:utf-8)[\"'])?\s*\?>[ \t\r\n]*)?"
    rb"<JobGroup[\s>]"
)
_ODD = (b"<!DOCTYPE", b"xmlns:", b"xml:")


def groups(data: bytes) -> Iterator[Block] | None:
    """A JobGroup for each job of the one that is all of a large document; None for another one."""
    if len(data) < LARGE or len(data) > OBJECT_LIMIT or not _BEGIN.match(data):
        return None
    if any(odd in data for odd in _ODD) or markup_of(data) > NODE_LIMIT:
        return None
    try:
        around = _around(data)
    except etree.XMLSyntaxError:
        return None  # which is told by whoever reads it whole
    if around is None or sum(1 for _ in around.iter()) > MOST:
        return None
    return None if len(etree.tostring(around)) > LONGEST else _each(data, around)


def _around(data: bytes) -> Element | None:
    """A group without its jobs; None where a job object has another place than in the standard."""
    around = None
    for root, element in _read(data):
        if element.tag not in UNIT_TAGS or root.tag not in UNIT_TAGS:
            return None
        if element is root:
            around = root
        elif element.tag == root.tag:  # not understood there, which is told of the whole
            return None
        elif element.getparent() is root:
            root.remove(element)
    return around


def _each(data: bytes, around: Element) -> Iterator[Block]:
    for root, element in _read(data):
        if element is not root and element.getparent() is root:
            around.append(element)  # which takes it away from where it was
            yield from_tree(around)
            around.remove(element)


def _read(data: bytes) -> Iterator[tuple[Element, Element]]:
    """The root, with each Job and JobGroup that ends. Raises ``etree.XMLSyntaxError``."""
    parser = pull_parser("UTF-8", TAGS)
    events = cast(Iterator[tuple[str, Element]], parser.read_events())
    root = None
    for start in range(0, len(data), _STEP):
        parser.feed(data[start : start + _STEP])
        for event, element in events:
            root = element if root is None else root
            if event == "end":
                yield root, element
    parser.close()
    if len(parser.feed_error_log):
        raise etree.XMLSyntaxError("not well-formed", 0, 0, 0)
