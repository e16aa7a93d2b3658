"""What columns say of XPath 2.0 and later is true, and no error is left out, by elementpath."""

import random

import later_questions as later
import odd_jobs
import pytest
from claims import agree, filled, said_of, some
from draws import examples, share
from hypothesis import HealthCheck, given
from later_questions import Truth

from sssjob.query import NotAQuery, compile
from sssjob.store.pushdown import plan

pytestmark = pytest.mark.explore

# One expression in so many is asked of each path, others of the next path.
_SHARE = share(192)


def compiled(expression):
    try:
        return compile(expression, None, "3.1")
    except NotAQuery:
        return None


def lies(kept, numbers, truth, expressions):
    """Where columns say what is not true, and how often they were certain, and were asked."""
    found, certain, asked = [], 0, 0
    with kept.engine.reading() as reader:
        for query in filter(None, map(compiled, expressions)):
            said = said_of(reader, kept.engine.dialect, plan(query))
            if said is None:
                continue
            asked += 1
            for given_, number_, true in zip(truth.given, numbers, truth.found(query), strict=True):
                claim = said.get(number_, [])
                certain += claim is not None
                is_error = isinstance(true, str)
                if claim is not None and (is_error or not agree(claim, true)):
                    found.append((query.expression, given_[:300], claim, true))
    return found, certain, asked


@pytest.mark.parametrize("path", odd_jobs.PATHS)
def test_columns_say_of_a_path_what_is_true(kept, path):
    truth = Truth(list(odd_jobs.documents(path))[::2])
    asked = some(kept, path, later.predicates(path), _SHARE)
    others = random.Random(path).sample(list(later.answers(path)), 12)
    found, certain, pushed = lies(kept, filled(kept, truth), truth, [*asked, *others])
    assert found == []
    assert certain > pushed > len(asked) // 3


@pytest.mark.parametrize("pair", odd_jobs.PAIRS, ids=" ".join)
def test_columns_say_of_two_paths_what_is_true(kept, pair):
    truth = Truth(list(odd_jobs.paired(*pair))[::3])
    asked = [f"//Job[{each}]/Id" for each in later.relations(*pair)]
    chosen = random.Random(" ".join(pair)).sample(asked, 20)
    found, certain, pushed = lies(kept, filled(kept, truth), truth, chosen)
    assert found == []
    assert certain > pushed


@examples(10, suppress_health_check=list(HealthCheck))
@given(later.meetings())
def test_columns_say_of_anything_what_is_true(kept, meeting):
    given_documents, asked = meeting
    truth = Truth(given_documents)
    found, _, _ = lies(kept, filled(kept, truth), truth, asked)
    assert found == []
