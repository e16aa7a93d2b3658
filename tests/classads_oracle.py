"""The bindings of HTCondor as an oracle; ``classad2`` is None where they are not installed."""

from sssjob.classads.parser import expression, plain
from sssjob.classads.values import ERROR, UNDEFINED, Ad, RelTime

try:
    import classad2
    import htcondor2  # noqa: F401 - it brings the functions for lists in strings
except ImportError:
    classad2 = None


def node_of(text):
    """The tree of what the bindings wrote."""
    return expression(text)


def value_of(theirs):
    """A value of the bindings as one of ours; their times lose their kind."""
    if isinstance(theirs, classad2.Value):
        return UNDEFINED if theirs is classad2.Value.Undefined else ERROR
    if isinstance(theirs, list):
        return tuple(map(value_of, theirs))
    if isinstance(theirs, classad2.ClassAd):
        return Ad((name, value_of(value)) for name, value in theirs.items())
    if isinstance(theirs, classad2.ExprTree):
        text = " ".join(str(theirs).split())
        return plain(text)
    return theirs


def comparable(ours):
    """One of our values as the bindings give them."""
    if isinstance(ours, RelTime):
        return ours.seconds
    if isinstance(ours, tuple):
        return tuple(map(comparable, ours))
    return ours


__all__ = ["classad2", "comparable", "node_of", "value_of"]
