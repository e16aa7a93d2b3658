"""How many cases a test draws: so many in the ordinary run, and 12 times as many in others.

Every test that draws says here how many are enough for ``make test``. ``make explore``, and every
other run with ``--hypothesis-profile=explore``, draws more of each in the same proportion.
"""

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
