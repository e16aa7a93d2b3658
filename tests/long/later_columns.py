"""A long run of what tests/store/test_soundness_later.py tries: random questions of a store.

    python tests/long/later_columns.py [EXPRESSIONS [SEED]]

Each question of XPath 3.1 is asked of a store whose documents are of every class that columns may
tell wrongly, and of each document by elementpath: the texts have to be the same, and where a
document raises an error, the store has to raise it, too.
"""

import sys
import tempfile
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

import later_questions
import odd_jobs

from sssjob import store
from sssjob.query import NotAQuery, compile
from sssjob.store.plan import Level
from sssjob.store.pushdown import plan

DOCUMENTS = 40  # for each path, of all that there are
AT_ONCE = 200  # questions about one path, before the next one


def compiled(text):
    try:
        return compile(text, None, "3.1")
    except NotAQuery:
        return None


def asked(jobs, query):
    """What the store finds, and the errors."""
    errors = []
    found = [match.text for match in jobs.run(query, places=False, on_error=errors.append)]
    return found, [error.finding.message for error in errors]


def expected(truth, query):
    """The same by elementpath, of each document alone."""
    found, errors = [], []
    for each in truth.found(query):
        if isinstance(each, str):
            errors.append(each.removeprefix("error: ").rpartition(" [")[0])
        else:
            found += each
    return found, errors


def questions(random, path):
    """Predicates about a path, one alone or two together, and other questions now and then."""
    every = list(later_questions.predicates(path))
    others = list(later_questions.answers(path))
    while True:
        one, other = random.sample(every, 2)
        yield random.choice(
            (
                f"//Job[{one}]/Id",
                f"//Job[({one}) and ({other})]/Id",
                f"//Job[({one}) or ({other})]/{path}",
                f"//Job[{one}][{other}]",
                f"//Job[not({one})]/Id",
                f"//Job[if ({one}) then boolean({other}) else false()]",
                f"for $j in //Job[{one}] return string($j/Id)",
                random.choice(others),
            )
        )


def main(count=20_000, seed=1):
    random = Random(seed)
    tried = different = narrowed = failed = 0
    while tried < count:
        path = random.choice(odd_jobs.PATHS)
        given = random.sample(list(odd_jobs.documents(path)), DOCUMENTS)
        truth = later_questions.Truth(given)
        with (
            tempfile.TemporaryDirectory() as directory,
            store.open(f"{directory}/jobs.db", create=True) as jobs,
        ):
            jobs.load(b"\n".join(truth.given))
            of_path = questions(random, path)
            for _ in range(min(AT_ONCE, count - tried)):
                query = compiled(next(of_path))
                if query is None or query.has_one_answer:
                    continue
                tried += 1
                true = expected(truth, query)
                narrowed += plan(query.plain or query).level is not Level.NOTHING
                failed += bool(true[1])
                if asked(jobs, query) != true:
                    different += 1
                    print(query.expression, asked(jobs, query), true)
    print(
        f"{tried} expressions, {narrowed} of them by columns, {failed} with errors: "
        f"{different} different, seed {seed}"
    )
    return different


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
