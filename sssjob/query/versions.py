"""A query from an expression, in the version of XPath that is named."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from sssjob.errors import NotAQuery
from sssjob.legality import ILLEGAL, no_letter
from sssjob.query.question import Question
from sssjob.query.xpath import Query

DEFAULT = "1.0"  # the version of XPath that is meant where none is named


def compile(
    expression: str, namespaces: Mapping[str, str] | None = None, version: str = DEFAULT
) -> Question:
    """A query from XPath; raises ``NotAQuery`` with the place that is not understood.

    ``namespaces`` gives the prefixes that the expression uses their namespaces. ``version`` is
    1.0, which libxml2 answers, or 2.0, 3.0 or 3.1, which elementpath does.

    >>> query = compile("//Job[Processors > 12]/Id")
    >>> [match.text for match in query.run(b"<Job><Id>1</Id><Processors>16</Processors></Job>")]
    ['1']
    """
    for prefix, uri in (namespaces or {}).items():
        if unfit := ILLEGAL.search(f"{prefix}{uri}"):
            raise NotAQuery(expression, 0, f"namespace of {prefix}: {no_letter(unfit)}")
    if version != DEFAULT:
        from sssjob.query.xpath2 import XPath2Query  # importing elementpath takes half a second

        return XPath2Query.of(expression, dict(namespaces or {}), version)
    query = Query(expression, dict(namespaces or {}))
    query.on(etree.Element("Nothing"))  # says now what libxml2 would say later
    return query
