"""The one answer of XPath 2.0 and later over a whole store, from columns as far as they tell.

What a part of the expression finds is asked as any query is. Where the expression needs documents
side by side, those are held in which its paths may find something.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from lxml.etree import _Element as Element

from sssjob.document import tree
from sssjob.query import Match, Question
from sssjob.query.question import with_resolved
from sssjob.query.xpath2 import XPath2Query
from sssjob.query.xpath2.gathering import GatheredPart, GatheredValues, Gathering
from sssjob.query.xpath2.ways import way
from sssjob.store.answers import StoreAnswers
from sssjob.store.bounds import UNKNOWN
from sssjob.store.entry import either
from sssjob.store.plan import QueryPlan
from sssjob.store.pushdown import plan

ANYWHERE = QueryPlan(UNKNOWN, None, "a path depends on what is found elsewhere")


def matches(question: Question, answers: StoreAnswers) -> Iterator[Match]:
    """The answer of a question that gathers; none where a document cannot be asked."""
    assert isinstance(question, XPath2Query)
    return question.gathered(_StoreDocuments(question, answers), answers.on_error)


def parts(question: Question) -> list[tuple[str, QueryPlan]]:
    """The paths that a question gathers, as texts, and their plans."""
    assert isinstance(question, XPath2Query)
    how = question.gathering
    assert how is not None
    places = [*(part.place for part in how.parts), *how.holds]
    return [
        (question.expression, ANYWHERE)
        if place is None
        else (question.at(place).token.source, plan(_simplest(question.at(place))))
        for place in places
    ]


class _StoreDocuments(NamedTuple):
    """The documents of a store."""

    question: XPath2Query
    answers: StoreAnswers

    @property
    def holds_all(self) -> bool:
        """Only those are held in which a path may find something."""
        return False

    def gathered(
        self, how: Gathering, on_error: Callable[[Any], None]
    ) -> tuple[Mapping[str, list[Any]], list[Element]]:
        """What the parts give, by their variables, and the documents that are held."""
        answers = self.answers._replace(on_error=on_error)
        found = {part.variable: self._part(answers, part) for part in how.parts}
        return found, self._held(answers, how) if how.holds else []

    def _part(self, answers: StoreAnswers, part: GatheredPart) -> list[Any]:
        question = self.question.at(part.place)
        asked = answers._replace(question=_simplest(question))
        steps = way(question.token)
        if part.counts and steps is not None and not steps.rest:  # each of its items is a node
            return [asked.how_many()]
        found = GatheredValues(part)
        found.add(asked.matches(places=False))
        return found.items

    def _held(self, answers: StoreAnswers, how: Gathering) -> list[Element]:
        questions = [
            None if place is None else _simplest(self.question.at(place)) for place in how.holds
        ]
        plans = [ANYWHERE if each is None else plan(each) for each in questions]
        if answers.on_difference is not None:  # each is asked on its own, to compare its columns
            for each in filter(None, questions):
                deque(answers._replace(question=each).matches(places=False), maxlen=0)
            plans = [ANYWHERE]
        where = either(plans)
        roots = map(tree.parse, answers.documents(where))
        return [with_resolved(root) if answers.effective else root for root in roots]


def _simplest(question: XPath2Query) -> Any:
    """The same question of XPath 1.0, where there is one: libxml2 is quicker."""
    return question.plain or question
