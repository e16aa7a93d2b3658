"""Signals that end a command while something stands there that has to go: a file half written."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from sssjob import own_process

_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(SystemExit):
    """A signal ends the command as soon as what it has begun is undone."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


@contextmanager
def terminable() -> Iterator[Callable[[], None]]:
    """Make an exception of a signal that would end the command at once, and leave files behind.

    Only where that can be: an exception waits for a library's code that runs for long. It comes at
    any moment, also where another exception takes its place, so that it is raised again at the end
    of the block, and by what is given, which a loop calls that goes on after errors.
    """
    numbers = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    came: list[int] = []

    def terminate(number: int, frame: FrameType | None) -> NoReturn:
        came.append(number)
        raise Terminated(number)

    def check() -> None:
        if came:
            raise Terminated(came[0])

    for number in numbers:
        signal.signal(number, terminate)
    try:
        yield check
    except BaseException:
        check()
        raise
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
    check()


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Gives what tells whether Ctrl-C came, for a loop that nothing else ends.

    It raises ``KeyboardInterrupt``, as always. But Python drops an exception that is raised in a
    finalizer, such as that of the process that has just ended, so that one could go unheard.
    """
    came = False

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored, as of a command in the background
        yield lambda: False
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield lambda: came
    finally:
        signal.signal(signal.SIGINT, before)


def is_ending(numbers: Iterable[int]) -> bool:
    """Ignore signals from now on where the process ends with the command; else False.

    Python gives back handlers before a process ends, but not what is ignored, so that a signal
    that comes meanwhile would take the place of the exit code.
    """
    if not own_process.is_claimed():
        return False
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
    return True


def die(number: int) -> None:
    """End this process by a signal, so that whoever waits for it sees that."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
