"""Every finding about a job object or about all of a source, with its place and section.

One walk over the tree asks the tables of ``spec`` about every element and attribute. A document
about which no rule has anything to say is accepted by a grammar first (see ``accept``), so that
the walk is only for those that need words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.check import dependencies, meaning, references
from sssjob.check.accept import Acceptor
from sssjob.check.walk import Enough, Walk
from sssjob.document import tree
from sssjob.document.files import Source
from sssjob.document.outermost import Wanted, is_mistaken
from sssjob.document.places import CATEGORIES, names
from sssjob.document.repair.advisor import Advisor
from sssjob.errors import Finding, LimitExceeded, Severity, UnreadableDocument


def check(
    element: Element, *, offset: int = 0, said: set[str] | None = None, closed: bool = False
) -> Iterator[Finding]:
    """Every finding about a job object's element, in document order.

    ``offset`` is the number of lines before its document. Codes in ``said`` that need saying
    once per source (I-UNIT) are not said again, and are added when they are. What a ``closed``
    document mentions has to be in it.
    """
    walk = Walk(element, offset, set() if said is None else said)
    namespace, name = names(element)
    if name in spec.CONTAINER and name not in CATEGORIES and namespace in spec.NAMESPACES:
        with suppress(Enough):  # which is said
            walk.start(name)
            try:
                meaning.check(walk)
                dependencies.check(walk, closed=closed)
            except LimitExceeded as error:  # what defaults multiply
                text = f"what its jobs inherit is not checked: {error}"
                walk.say("E-LIMIT", element, text, "SSS 4.2", severity=Severity.WARNING)
            references.check(walk, closed=closed)
    elif is_mistaken(element):
        # A wrapper may be empty, but a document without any job object is a mistake.
        walk.refuse(Wanted.JOB_OBJECTS.missing(element))
    # What is missing from an element belongs before what is wrong inside it.
    yield from sorted(walk.found, key=lambda found: found.line)


def of_source(source: Source, *, name: str = "", closed: bool = False) -> Iterator[Finding]:
    """Every finding about a source of any size. What cannot be read is a finding, too."""
    said: set[str] = set()
    accepts = Acceptor(said)

    def check_one(element: Element, offset: int) -> Iterable[Finding]:
        if accepts(element):
            return ()
        return check(element, offset=offset, said=said, closed=closed)

    yield from check_each(source, check_one, name=name)


def check_each(
    source: Source, check: Callable[[Element, int], Iterable[Finding]], *, name: str = ""
) -> Iterator[Finding]:
    """What a check of one object and its line offset finds in a source, and what is not readable.

    Where each line is a document, one that cannot be read does not hide those after it.
    """
    broken: list[UnreadableDocument] = []
    advisor = Advisor(source)
    every = tree.located(advisor.source, on_error=broken.append, wanted=Wanted.DOCUMENTS)
    for element, offset in every:
        for error in broken:
            yield from (found.in_file(name) for found in advisor.explain(error))
        broken.clear()
        for found in check(element, offset):
            yield found.in_file(name)
    for error in broken:
        yield from (found.in_file(name) for found in advisor.explain(error))
