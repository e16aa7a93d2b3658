"""What is done in the middle of a function: between any two calls that it makes of the system."""

import os
import signal
import sys

_OF_THE_SYSTEM = ("posix", "fcntl", "_io", "_ctypes")


def _is_call(event, function):
    return event == "c_call" and (
        function.__module__ in _OF_THE_SYSTEM or type(function).__module__ == "ctypes"
    )


def killed(work, moment):
    """Do something in a process that is killed before its n-th call of the system's functions.

    Gives whether it ended before.
    """
    child = os.fork()
    if not child:
        left = moment

        def count(frame, event, function):
            nonlocal left
            if _is_call(event, function):
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def between(work, look):
    """Do something, and look around before each call of the system's functions that it makes."""

    def count(frame, event, function):
        if _is_call(event, function):
            sys.setprofile(None)
            try:
                look()
            finally:
                sys.setprofile(count)

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
