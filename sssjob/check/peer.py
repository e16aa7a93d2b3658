"""What a peer that understands less than everything would say of a document.

The peer's view is the full check without what it cannot see: of an element that the peer does not
understand it says that and nothing about what stands inside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from lxml.etree import _Element as Element

from sssjob.check import findings as full
from sssjob.check.awareness import Item, UnknownKind, items
from sssjob.check.vocabulary import Vocabulary
from sssjob.document.files import Source
from sssjob.document.outermost import is_block
from sssjob.errors import Finding, finding

_OF_AWARENESS = ("E-UNKNOWN", "E-CATEGORY")


def check(
    element: Element, vocabulary: Vocabulary, *, offset: int = 0, said: set[str] | None = None,
    closed: bool = False,
) -> Iterator[Finding]:  # fmt: skip
    """Every finding about a job object by who understands only this vocabulary."""
    if not is_block(element):  # there is nothing to understand
        yield from full.check(element, offset=offset, said=said, closed=closed)
        return
    found = list(items(element, vocabulary, offset=offset))
    hidden = {item.path for item in found}
    known: dict[str, list[Finding]] = defaultdict(list)
    seen = []
    for one in full.check(element, offset=offset, said=said, closed=closed):
        if one.code in _OF_AWARENESS:
            known[one.path].append(one)
        elif not _below(one.path, hidden):
            seen.append(one)
    yield from sorted((*seen, *_unknown(found, known, vocabulary)), key=lambda one: one.line)


def check_source(
    source: Source, vocabulary: Vocabulary, *, name: str = "", closed: bool = False
) -> Iterator[Finding]:
    """Every finding about a source of any size, as ``findings.of_source`` gives them."""
    said: set[str] = set()

    def check_one(element: Element, offset: int) -> Iterator[Finding]:
        return check(element, vocabulary, offset=offset, said=said, closed=closed)

    yield from full.check_each(source, check_one, name=name)


def _unknown(
    found: Iterable[Item], known: dict[str, list[Finding]], vocabulary: Vocabulary
) -> Iterator[Finding]:
    """What is not understood, in the words of the full check where it does not understand it."""
    for item in found:
        severity = item.policy.severity
        said = known.get(item.path)
        same = said.pop(0) if said and not item.level else None
        if severity is None:
            continue
        if same is not None:
            yield replace(same, severity=severity)
        else:
            yield finding(
                "E-UNKNOWN", _sentence(item, vocabulary), line=item.line, path=item.path,
                section="SSS 9.0", severity=severity,
            )  # fmt: skip


def _sentence(item: Item, vocabulary: Vocabulary) -> str:
    what = f"{item.what!r} of {item.name}" if item.kind is UnknownKind.VALUE else item.what
    if item.name == "awarenessPolicy" and not vocabulary.awareness:
        return f"{item.kind} {what} is not supported"
    if item.level:
        return f"{item.kind} {what} needs the level {item.level}, above {vocabulary.name}"
    return f"{item.kind} {what} is not understood"


def _below(path: str, hidden: set[str]) -> bool:
    """Whether a path is one of these, or leads through one of them."""
    while path:
        if path in hidden:
            return True
        path = path.rpartition("/")[0]
    return False
