"""What the workers of tests do: small, and quick to import."""

import os
import signal
from pathlib import Path
from pickle import PickleBuffer

from waiting import until

from sssjob.errors import UnusableInput


def squares(plus=0):
    return lambda number: number * number + plus


def process_ids():
    return lambda part: os.getpid()


def doubled():
    return lambda data: data * 2


def doubled_apart():
    return lambda data: (len(data), PickleBuffer(data * 2))


class Untravelled(Exception):
    """An exception that cannot be copied."""

    def __init__(self, one):
        super().__init__(one)
        self.held = lambda: one


def endless():
    return lambda part: signal.pause()


def failing(at, error):
    def work(number):
        if number == at:
            raise error()
        return number

    return work


def no_input():
    return UnusableInput("no header", 7)


def untravelled():
    return Untravelled("a")


def ended(at, by):
    def work(number):
        if number == at:
            os.kill(os.getpid(), by)
        return number

    return work


def lost_reader():
    """A reader of documents for a store that dies of one of them."""
    from sssjob.store import reading

    read = reading.reader()

    def work(part):
        if b"<Id>40</Id>" in part.read().data:
            os.kill(os.getpid(), signal.SIGKILL)
        return read(part)

    return work


def ended_once(folder, at):
    """Ends its process at one part, the first time."""

    def work(number):
        mark = Path(folder, "ended")
        if number == at and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    return work


def sizes():
    return lambda name: os.path.getsize(name)


def meeting(folder, count):
    """Names the process, and waits until so many have met, however late one of them is."""

    def work(part):
        (Path(folder) / str(os.getpid())).touch()
        until(lambda: len(os.listdir(folder)) >= count)
        return os.getpid()

    return work


def absent():
    """As where a file is not on this machine."""

    def work(name):
        raise FileNotFoundError(2, "No such file or directory", name)

    return work
