"""How many cases a test draws: so many in the ordinary run, and 12 times as many in others.

Every test that draws says here how many are enough for ``make test``. ``make explore``, and every
other run with ``--hypothesis-profile=explore``, draws more of each in the same proportion.
"""

from collections.abc import Mapping
from itertools import combinations, cycle, islice, product

import pytest
from hypothesis import settings

ORDINARY = 25  # of a property that says nothing
TIMES = 12


def exploring():
    """Whether this run draws more; known when tests are imported."""
    return settings.default.max_examples == ORDINARY * TIMES


def cases(count):
    """How many of a loop that draws by itself, for that many in the ordinary run."""
    return count * TIMES if exploring() else count


def share(of):
    """Of how many one is taken, where the ordinary run takes one of that many; 1 is all of them."""
    return max(1, of // TIMES) if exploring() else of


def examples(count, **other):
    """Settings of a property that draws that many in the ordinary run; others as of Hypothesis."""
    return settings(max_examples=cases(count), **other)


def singly(**values):
    """Parametrize a test by every value of every parameter, in as few cases as the most have.

    A run that explores tries all with all, as ``pytest.mark.parametrize`` for each would.
    """
    most = max(map(len, values.values()))
    return _parametrized(
        values, lambda named: zip(*(islice(cycle(each), most) for each in named), strict=True)
    )


def pairwise(**values):
    """Parametrize a test by every two values of two parameters; a run that explores, as ``singly``.

    What two parameters do together is tried so, and what three do only by chance.
    """
    return _parametrized(values, _pairs)


def _parametrized(values, few):
    named = [_named(name, each) for name, each in values.items()]
    rows = [
        pytest.param(*(value for _, value in row), id="-".join(name for name, _ in row))
        for row in (product(*named) if exploring() else few(named))
    ]
    mark = pytest.mark.parametrize(", ".join(values), rows)
    return lambda test: pytest.mark.explore(mark(test))


def _named(name, values):
    """Values with what they are called in the name of a case: by a mapping, or by themselves."""
    if isinstance(values, Mapping):
        return list(values.items())
    return [
        (str(each) if isinstance(each, str | int | float | None) else f"{name}{number}", each)
        for number, each in enumerate(values)
    ]


def _pairs(values):
    """Rows in which each two values of two columns meet: each row takes what was missing most."""
    columns = range(len(values))
    missing = {
        ((one, first), (other, second)): None
        for one, other in combinations(columns, 2)
        for first, second in product(range(len(values[one])), range(len(values[other])))
    }
    while missing:
        row = dict(next(iter(missing)))
        for column in columns:
            if column not in row:
                row[column] = max(
                    range(len(values[column])),
                    key=lambda place: sum(
                        tuple(sorted([(column, place), known])) in missing for known in row.items()
                    ),
                )
        for pair in combinations(sorted(row.items()), 2):
            missing.pop(pair, None)
        yield tuple(values[column][row[column]] for column in columns)
