"""Queries: XPath over job objects in files, directories and streams of any size."""

from sssjob.errors import NotAQuery
from sssjob.query.hints import Hint, attributes, elements, hints, reaches
from sssjob.query.match import Match
from sssjob.query.question import Question
from sssjob.query.versions import compile
from sssjob.query.xpath import Query

__all__ = [
    "Hint",
    "Match",
    "NotAQuery",
    "Query",
    "Question",
    "attributes",
    "compile",
    "elements",
    "hints",
    "reaches",
]
