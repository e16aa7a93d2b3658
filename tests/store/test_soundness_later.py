"""What columns say of XPath 2.0 and later is true, and no error is left out, by elementpath."""

import os
import random
from itertools import groupby
from operator import itemgetter

import later_questions as later
import odd_jobs
import postgresql
import pytest
from hypothesis import HealthCheck, given, settings
from later_questions import Truth

from sssjob import store
from sssjob.query import NotAQuery, compile
from sssjob.store.access_paths import Moment
from sssjob.store.pushdown import plan
from sssjob.store.rows import number
from sssjob.store.sql import POSTGRESQL

# One expression in so many is asked of each path, others of the next path; 1 asks all.
_SHARE = int(os.environ.get("SSSJOB_SHARE", 96))
_FEWER = 4  # PostgreSQL is asked fewer: what columns say is the same there


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.interop)]
)
def kept(request, tmp_path_factory):
    """A store that is filled anew for each test."""
    if request.param == "sqlite":
        target = str(tmp_path_factory.mktemp("store") / "jobs.db")
    else:
        target = postgresql.database(request.getfixturevalue("postgresql_server"))
    with store.open(target, create=True) as jobs:
        yield jobs


def filled(kept, truth):
    """Put the documents of a truth into a store instead of all that it has; their numbers."""
    with kept.engine.transaction():
        for table in ("job", "document", "former"):
            kept.engine.fetch(f"DELETE FROM {table}")
    kept.load(b"\n".join(truth.given))
    numbers = kept.engine.fetch("SELECT number FROM document ORDER BY number")
    assert len(numbers) == len(truth.given)
    return [number_ for (number_,) in numbers]


def compiled(expression):
    try:
        return compile(expression, None, "3.1")
    except NotAQuery:
        return None


def said_of(reader, dialect, query):
    """What columns say, by the number of the document: texts, numbers or how many; None: unsure.

    A document that is not in it has nothing that is found. None where all documents are read.
    """
    how = plan(query)
    way = Moment(reader, dialect).access(how, effective=False)
    if way.reads_all:
        return None
    statement = way.statement(how.texts or how.numbers or "")
    found = {}
    for document, rows in groupby(reader.fetch(*statement), itemgetter(0)):
        told = list(rows)
        if not all(row[1] for row in told):
            found[document] = None
        elif how.texts:
            found[document] = [text for row in told for text in split(row[2])]
        else:
            found[document] = [row[2] for row in told]
    return found


def split(text):
    return text[1:-1].split("\x1f") if text.startswith("\x1f") else [text]


def agree(claim, true):
    """Whether what columns say of a document is what elementpath found."""
    if isinstance(true, str):
        return False  # an error
    if claim and isinstance(claim[0], float):
        return claim == [number(each) for each in true]
    return claim == true if claim and claim[0] is not None else len(claim) == len(true)


def lies(kept, numbers, truth, expressions):
    """Where columns say what is not true, and how often they were certain, and were asked."""
    found, certain, asked = [], 0, 0
    with kept.engine.reading() as reader:
        for query in filter(None, map(compiled, expressions)):
            said = said_of(reader, kept.engine.dialect, query)
            if said is None:
                continue
            asked += 1
            for given_, number_, true in zip(truth.given, numbers, truth.found(query), strict=True):
                claim = said.get(number_, [])
                certain += claim is not None
                if claim is not None and not agree(claim, true):
                    found.append((query.expression, given_[:300], claim, true))
    return found, certain, asked


def shared(kept, path):
    """Some of the expressions about a path, the same ones each time."""
    asked = [f"//Job[{each}]/Id" for each in later.predicates(path)]
    fewer = _FEWER if kept.engine.dialect is POSTGRESQL else 1
    return random.Random(path).sample(asked, len(asked) // _SHARE // fewer)


@pytest.mark.parametrize("path", odd_jobs.PATHS)
def test_columns_say_of_a_path_what_is_true(kept, path):
    truth = Truth(list(odd_jobs.documents(path))[::2])
    asked = shared(kept, path)
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


@settings(
    max_examples=int(os.environ.get("SSSJOB_EXAMPLES", 30)),  # thousands, now and then
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(later.meetings())
def test_columns_say_of_anything_what_is_true(kept, meeting):
    given_documents, asked = meeting
    truth = Truth(given_documents)
    found, _, _ = lies(kept, filled(kept, truth), truth, asked)
    assert found == []
