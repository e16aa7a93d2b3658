"""The payload of ``watch``: a command that runs meanwhile, and the signals that go to it.

Many batch systems signal all processes of a job, or a group of them, and others, or a user, only
the first one: then the payload has to be handed the signal, and else it would get it twice, which
many programs take for an order to break off. Nobody can ask which it was. So a process of a few
lines runs beside the payload, which does nothing but tell what signals it was sent. # decision 658
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Thread
from types import FrameType

from sssjob.cli.features.common import fail
from sssjob.cli.signals import is_ending

# What ends a program that does nothing about it, but for faults of its own.
_ENDING = signal.valid_signals().intersection(
    getattr(signal, f"SIG{name}", 0)
    for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM", "STKFLT", "XCPU", "XFSZ",
                 "VTALRM", "PROF", "POLL", "PWR")
).union(range(getattr(signal, "SIGRTMIN", 0), getattr(signal, "SIGRTMAX", -1) + 1))  # fmt: skip
_SPREAD = 0.1  # seconds in which one signal reaches all processes to which it is sent
_PATIENCE = 5.0  # seconds for an answer of the process beside the payload
_REMEMBERED = 1.0  # seconds
_SHELL = "/bin/sh"
# It ends with its standard input, whatever ends this command. Of some shells ``read`` fails at a
# signal as it does at the end: at the end it fails again, and nothing comes between.
_TELLS = """\
fails=0
while [ $fails -lt 9 ]; do
    if read -r word; then fails=0; echo "$word"; else fails=$((fails + 1)); fi
done
"""
_TRAP = "trap 'fails=0; echo {0:d}' {0:d}\n"


class Stopped(Exception):
    """A signal asks a command without a payload to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def running(
    payload: tuple[str, ...], wake: Callable[[], None]
) -> Iterator[subprocess.Popen[bytes] | None]:
    """The payload, if there is one; a signal that would end this command goes to it.

    ``wake`` is called when it has ended.
    """
    hands_on = _HandsOn()

    def stop(number: int, frame: FrameType | None) -> None:
        if not payload:
            raise Stopped(number)
        hands_on.signals.put(number)

    before = {each: signal.signal(each, stop) for each in sorted(_ENDING) if _ends(each)}
    process = None
    try:
        if payload:
            hands_on.begin(sorted(before))
            try:
                process = subprocess.Popen(payload)
            except OSError as error:
                fail(error)
            hands_on.to(process)
            Thread(target=_await, args=(process.pid, wake), daemon=True).start()
        yield process
    except Stopped as stopped:
        sys.exit(128 + stopped.number)
    finally:
        # Its exit code is this command's, whatever signal comes behind its end.
        if not (process is not None and is_ending(before)):
            for number, action in before.items():
                signal.signal(number, action)
        hands_on.end()


def _ends(number: int) -> bool:
    """Whether a signal ends this command now: what is ignored here is in the payload, too."""
    return signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler)


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a payload has ended, by the kernel, and whoever else asks at this moment.

    ``poll`` says that it has not while another thread asks the same.
    """
    try:
        flags = os.WEXITED | os.WNOWAIT | os.WNOHANG
        return os.waitid(os.P_PID, process.pid, flags) is not None
    except ChildProcessError:  # another thread has read its exit code
        return True


def _await(pid: int, wake: Callable[[], None]) -> None:
    """Wait until a child has ended, and leave its exit code to be read."""
    with suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    wake()


class _HandsOn:
    """Hands signals on that the payload was not sent itself, by a thread of its own."""

    def __init__(self) -> None:
        self.signals: SimpleQueue[int] = SimpleQueue()  # a handler may interrupt its ``put``
        self.beside: subprocess.Popen[bytes] | None = None
        self.seen: dict[int, float] = {}  # signals that the process beside was sent, and when

    def begin(self, numbers: list[int]) -> None:
        """Start the process beside the payload; without it, all signals are handed on."""
        traps = "".join(map(_TRAP.format, numbers))
        with suppress(OSError):
            self.beside = subprocess.Popen(
                [_SHELL, "-c", traps + _TELLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, bufsize=0, cwd="/",
            )  # fmt: skip
            self._ask()  # until then it would be ended by a signal

    def to(self, process: subprocess.Popen[bytes]) -> None:
        """Hand signals on to a process; those that came before it was there, in any case."""
        with suppress(Empty):
            while True:
                process.send_signal(self.signals.get_nowait())
        Thread(target=self._run, args=(process,), daemon=True).start()

    def end(self) -> None:
        """End the process beside the payload."""
        if self.beside is not None:
            with suppress(OSError):
                self.beside.kill()
            self.beside.wait()

    def _run(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            numbers = [self.signals.get()]
            time.sleep(_SPREAD)
            with suppress(Empty):
                while True:
                    numbers.append(self.signals.get_nowait())
            sent = self._sent(process)
            for number in dict.fromkeys(numbers):
                if number not in sent:
                    process.send_signal(number)
                self.seen.pop(number, None)

    def _sent(self, process: subprocess.Popen[bytes]) -> set[int]:
        """The signals that were just sent to the payload, too."""
        if self.beside is None:
            return set()
        try:
            if os.getpgid(process.pid) != os.getpgid(self.beside.pid):
                return set()  # it has made a group of its own, which is sent others
        except ProcessLookupError:
            return set()
        self._ask()
        late = time.monotonic() - _REMEMBERED
        return {number for number, moment in self.seen.items() if moment > late}

    def _ask(self) -> None:
        """Learn what signals the process beside was sent: it tells them before it answers."""
        assert self.beside is not None
        assert self.beside.stdin is not None
        assert self.beside.stdout is not None
        try:
            os.write(self.beside.stdin.fileno(), b"x\n")
            end, said = time.monotonic() + _PATIENCE, b""
            while not said.endswith(b"x\n") and (left := end - time.monotonic()) > 0:
                if select.select([self.beside.stdout], [], [], left)[0]:
                    more = os.read(self.beside.stdout.fileno(), 1 << 12)
                    if not more:
                        return
                    said += more
        except OSError:
            return
        for word in said.split():
            if word.isdigit():
                self.seen[int(word)] = time.monotonic()
