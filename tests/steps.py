"""What a call costs, counted and not timed: the same on every machine, however busy it is."""

import sys


class TooManySteps(Exception):
    """A call that was stopped, because it needs more steps than it may."""


def steps(call, most=None):
    """How many calls of functions, in Python and in C, a call makes; raises above ``most``."""
    made = 0
    most = sys.maxsize if most is None else most

    def count(frame, event, arg):
        nonlocal made
        if event in ("call", "c_call"):
            made += 1
            if made > most:
                sys.setprofile(None)
                raise TooManySteps(f"more than {most} steps")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return made
