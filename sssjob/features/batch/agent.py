"""A resident process that runs prologs and epilogs at once: all that they import is there already.

Strategy. Most of what a prolog costs is the start of Python and imports. So a process imports all
of it once, waits at a socket, and forks for each call: the child has the words, the environment and
the outputs of the caller, and runs the very command that the script would run. Nothing is
implemented twice, and no call waits for another one.

Who may call is decided by the kernel: the caller has to be the user of this process. The socket
stands in a directory that nobody else can write. The client is ``client.py``; where nobody listens
it runs the command itself.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import stat
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from sssjob import directory_handles as handles
from sssjob.errors import UnusableInput

_PROLOG = ["features", "prolog"]
COMMANDS = (_PROLOG, ["features", "epilog"])
LIMIT = 1 << 20  # bytes of words and environment
GO = b"1"  # of a caller who still wants it
PATIENCE = 10.0  # seconds in which a caller has to say what it wants
_WAITING = 64  # calls that the kernel holds
_PEER = struct.Struct("3i")  # pid, user, group
_SIZE = struct.Struct("<q")


class Child(Exception):
    """Raised in a child: its caller is to be answered with what the command ends with."""

    def __init__(self, line: socket.socket, journal: int) -> None:
        super().__init__()
        self.line, self.journal = line, journal

    def answer(self, code: int) -> NoReturn:
        """Note the exit code of the command, tell it to the caller, and end this child."""
        with suppress(OSError):  # before a caller that goes then may end this process
            os.write(self.journal, f"{sys.argv[2]} ended with {code}\n".encode())
        with suppress(OSError):  # it may have gone
            self.line.sendall(_SIZE.pack(code))
        os._exit(code)


def serve(place: Path, ready: Callable[[], None] = lambda: None) -> None:
    """Listen at a socket and fork for each caller, until a signal ends the process.

    In each child ``Child`` is raised, with ``sys.argv``, the environment and the outputs of the
    caller; its ``answer`` ends it. Raises ``UnusableInput`` if another agent listens there,
    ``Unprotected`` if others could write in its directory, or ``OSError``.
    """
    with handles.protected(place.parent, make=True) as folder:
        listener = _listener(folder, place)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who answers tells its caller itself
    ready()
    try:
        while True:
            line, _ = listener.accept()
            with line:
                if _user(line) == os.geteuid() and not os.fork():
                    listener.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    journal = os.dup(2)
                    _become(line)
                    raise Child(line.dup(), journal)
    finally:
        listener.close()


def _listener(folder: int, place: Path) -> socket.socket:
    """A socket at a place; one that a killed agent left is removed."""
    listener = socket.socket(socket.AF_UNIX)
    listener.set_inheritable(False)
    path = f"/proc/self/fd/{folder}/{place.name}"
    before = os.umask(0o177)
    try:
        try:
            listener.bind(path)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            if not stat.S_ISSOCK(os.stat(place.name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise UnusableInput(f"{place}: it is there, and is no socket") from None
            if _listens(path):
                raise UnusableInput(f"{place}: an agent listens there already") from None
            os.unlink(place.name, dir_fd=folder)
            listener.bind(path)
    except BaseException:
        listener.close()
        raise
    finally:
        os.umask(before)
    listener.listen(_WAITING)
    return listener


def _listens(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        return line.connect_ex(path) == 0


def _user(line: socket.socket) -> int:
    """The user at the other end, as the kernel knows it."""
    peer = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return int(_PEER.unpack(peer)[1])


def _become(line: socket.socket) -> None:
    """Have the words, the environment and the outputs of the caller; end if it says nothing."""
    try:
        line.settimeout(PATIENCE)
        words, environment, outputs = _asked(line)
        line.sendall(_SIZE.pack(os.getpid()))  # so that the caller can hand on a signal
        if line.recv(1) != GO:  # it has waited long enough, and runs the command itself
            os._exit(2)
        line.settimeout(None)
        if words[:2] == _PROLOG:
            _end_with(line)
    except (OSError, ValueError):
        os._exit(2)
    os.setsid()
    for number, handle in enumerate(outputs, 1):
        os.dup2(handle, number)
        os.close(handle)
    # What ours were before, files or pipes, they remember.
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  (as long as we live)
    sys.stderr = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["sssjob", *words]


def _end_with(line: socket.socket) -> None:
    """Have a signal end this process when its caller goes, who says nothing more.

    A prolog that goes on behind its script would make directories behind the epilog of its job.
    Raises ``OSError`` if the caller has gone.
    """
    fcntl.fcntl(line, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(line, fcntl.F_SETSIG, signal.SIGTERM)
    fcntl.fcntl(line, fcntl.F_SETFL, fcntl.fcntl(line, fcntl.F_GETFL) | os.O_ASYNC)
    with suppress(BlockingIOError):
        line.recv(1, socket.MSG_DONTWAIT)
        raise ConnectionResetError


def _asked(line: socket.socket) -> tuple[list[str], dict[str, str], Sequence[int]]:
    """What a caller says: its size, the number of words, words and variables, and two files."""
    head, outputs, _, _ = socket.recv_fds(line, _SIZE.size, 2)
    if len(head) != _SIZE.size:
        raise ValueError(len(head))
    (size,) = _SIZE.unpack(head)
    if not 0 < size <= LIMIT or len(outputs) != 2:
        raise ValueError(size)
    octets = b""
    while len(octets) < size:
        if not (piece := line.recv(size - len(octets))):
            raise ValueError(size)
        octets += piece
    count, *parts = os.fsdecode(octets).split("\0")
    words, variables = parts[: int(count)], parts[int(count) :]
    if words[:2] not in COMMANDS:
        raise ValueError(words[:2])
    pairs = (each.partition("=") for each in variables)
    return words, {name: value for name, equals, value in pairs if equals}, outputs
