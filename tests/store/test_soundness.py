"""What columns say is true: every kind of column against every class of odd row, by libxml2."""

import odd_jobs
import pytest
from claims import agree, filled, said_of, some
from draws import examples, share
from hypothesis import HealthCheck, given
from lxml import etree

from sssjob import defaults
from sssjob.document import bridge
from sssjob.query import compile, rewrite
from sssjob.query.functions import extensions
from sssjob.query.parser import parse
from sssjob.query.syntax import NAMESPACE, PREFIX
from sssjob.store.pushdown import planned

pytestmark = pytest.mark.explore

# One expression in so many is asked of each path, others of the next path of that kind.
_SHARE = share(16)

_STRING = etree.XPath("string()", smart_strings=False)


class Truth:
    """Documents in one tree, and what libxml2 finds there, by the place of the document."""

    def __init__(self, given, *, effective=False):
        self.given = [each.given.encode() for each in given]
        plain = [etree.fromstring(each.plain) for each in given]
        if effective:
            plain = [resolved(each) for each in plain]
        tree = etree.Element("Jobs")
        tree.extend(plain)
        self._places = {}
        for place, each in enumerate(tree):
            self._places.update((node, place) for node in each.iter())
        self._ask = etree.XPathEvaluator(
            tree, namespaces={PREFIX: NAMESPACE}, extensions=extensions()
        )

    def found(self, expression):
        found = {}
        for node in self._ask(expression):
            is_element = isinstance(node, etree._Element)
            place = self._places[node if is_element else node.getparent()]
            found.setdefault(place, []).append(_STRING(node) if is_element else str(node))
        return found


def resolved(root):
    """A document with its defaults applied, as ``--effective`` asks it."""
    return bridge.to_tree(defaults.resolve(bridge.from_tree(root)).block, namespace="")


def lies(kept, numbers, truth, expressions, *, effective=False):
    """Where columns say what is not true, and how many documents they were certain about."""
    found, certain = [], 0
    with kept.engine.reading() as reader:
        for expression in expressions:
            how = planned(rewrite.direct(parse(expression, {})))
            said = said_of(reader, kept.engine.dialect, how, effective=effective)
            if said is None:
                continue
            true = truth.found(expression)
            for place, number_ in enumerate(numbers):
                claim, have = said.get(number_, []), true.get(place, [])
                certain += claim is not None
                if claim is not None and claim != have and not agree(claim, have):
                    found.append((expression, truth.given[place][:300], claim, have))
    return found, certain


@pytest.mark.parametrize("path", odd_jobs.PATHS)
def test_columns_say_of_a_path_what_is_true(kept, path):
    given = list(odd_jobs.documents(path))
    truth, resolved_ = Truth(given), Truth(given, effective=True)
    numbers = filled(kept, truth)
    asked = some(kept, path, odd_jobs.predicates(path), _SHARE)
    found, certain = lies(kept, numbers, truth, [*asked, *odd_jobs.answers(path)])
    assert found == []
    assert certain > len(asked)
    found, certain = lies(kept, numbers, resolved_, asked[::8], effective=True)
    assert found == []
    assert certain
    for expression in asked[::40]:
        true = [text for texts in truth.found(expression).values() for text in texts]
        for places in (False, True):
            matches = kept.run(compile(expression), places=places)
            assert [match.text for match in matches] == true, expression
        assert kept.how_many(compile(expression)) == len(true), expression


@pytest.mark.parametrize("pair", odd_jobs.PAIRS, ids=" ".join)
def test_columns_say_of_two_paths_what_is_true(kept, pair):
    truth = Truth(list(odd_jobs.paired(*pair)))
    asked = [f"//Job[{each}]/Id" for each in odd_jobs.relations(*pair)]
    found, certain = lies(kept, filled(kept, truth), truth, asked)
    assert found == []
    assert certain > len(asked)


@examples(12, suppress_health_check=list(HealthCheck))
@given(odd_jobs.meetings())
def test_columns_say_of_anything_what_is_true(kept, meeting):
    given_documents, asked = meeting
    truth = Truth(given_documents)
    found, _ = lies(kept, filled(kept, truth), truth, asked)
    assert found == []
