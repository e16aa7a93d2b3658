"""What a piece of code costs, counted and not timed: the same on a busy machine."""

import sys


class TooManyCalls(Exception):
    """A piece of code that was stopped, because it makes more calls than it may."""


def calls(function, *arguments, most=sys.maxsize):
    """How many functions, of Python and of C, are called while one runs; raises above ``most``."""
    count = 0

    def called(frame, event, argument):
        nonlocal count
        if event in ("call", "c_call"):
            count += 1
            if count > most:
                sys.setprofile(None)
                raise TooManyCalls(f"more than {most} calls")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
    return count


def lines(function, *arguments):
    """How many lines of Python run, loops that call nothing included."""
    count = 0

    def traced(frame, event, argument):
        nonlocal count
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return count
