"""Have an agent run a command, or run it where no agent listens: ``client.py SOCKET COMMAND...``.

It runs before every job, as ``python -IS client.py``: it imports next to nothing, and nothing of
ours. Whoever listens is asked nothing, and handed nothing, unless the kernel says that it is of the
same user: a directory that was safe at ``install`` may be another one's now. See ``agent.py``.
"""

import _socket  # the public modules of both take longer to import than all the rest
import posix
import sys
import time

JOB = "MJF_JOB"  # the variable in which the script names its job, for the log
_FORWARDED = (15, 2, 1)  # SIGTERM, SIGINT, SIGHUP
_RIGHTS = 1  # SCM_RIGHTS
_PATIENCE = 5  # seconds in which an agent has to say who will run the command
_PEER = 12  # bytes: pid, user and group, each a C int


class _NotAgent(OSError):
    """Who listens is none to be asked."""


def main(place: str, command: list[str]) -> int:
    """The exit code of the command, which is run here if whoever runs it is killed.

    A prolog or an epilog may be run once more: it is whole or not at all, and finds what is there.
    """
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    line.settimeout(_PATIENCE)
    try:
        line.connect(place)
        _judge(line)
        child = _asked(line, command)
        line.sendall(b"1")  # not before would the agent begin
    except OSError as error:
        line.close()
        if isinstance(error, TimeoutError):
            _note(command, f"{place}: no answer within {_PATIENCE} s; it is done without")
        elif isinstance(error, _NotAgent):
            _note(command, f"{place}: {error}; it is done without")
        posix.execv(command[0], command)  # by the words that a site configured
    line.settimeout(None)
    came = _hand_on(child)
    code = _number(line)
    if code is None and came:
        return 128 + came[0]
    if code is None:
        _note(command, f"{place}: who ran it was killed; it is done once more")
        posix.execv(command[0], command)
    return code


def _note(command: list[str], words: str) -> None:
    """Add a line to the log, as ``journal.py`` does."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    script, _, system = command[command.index("features") + 1 :][:3]
    job = posix.environ.get(JOB.encode()) or b"-"
    posix.write(2, b"%b %b: %b\n" % (f"{moment} {script} {system}".encode(), job, words.encode()))


def _judge(line: "_socket.socket") -> None:
    """Raise ``_NotAgent`` unless who listens is of this user, as the kernel knows it."""
    peer = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _PEER)
    listens, mine = int.from_bytes(peer[4:8], sys.byteorder), posix.geteuid()
    if listens != mine:
        raise _NotAgent(f"the user {listens} listens there, who is not this one ({mine})")


def _asked(line: "_socket.socket", command: list[str]) -> int:
    """The process that is to run a command. Raises ``OSError`` if there is none."""
    words = command[command.index("features") :]
    told = "\0".join((str(len(words)), *words))
    encoding, errors = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
    variables = (b"%b=%b" % pair for pair in posix.environ.items())
    octets = b"\0".join((told.encode(encoding, errors), *variables))
    files = b"".join(number.to_bytes(4, sys.byteorder) for number in (1, 2))
    size = len(octets).to_bytes(8, "little")
    line.sendmsg([size], [(_socket.SOL_SOCKET, _RIGHTS, files)])
    line.sendall(octets)
    child = _number(line)
    if not child:
        raise OSError
    if child <= 1:  # to a signal these are other processes, or all
        raise _NotAgent(f"{child} is no process that would run the command")
    return child


def _hand_on(child: int) -> "list[int]":
    """Have signals that end a script end what the agent runs for it; those that came are listed."""
    import _signal  # type: ignore[import-not-found]

    came: list[int] = []

    def hand(number: int, frame: object) -> None:
        came.append(number)
        posix.kill(child, number)

    for number in _FORWARDED:
        _signal.signal(number, hand)
    return came


def _number(line: "_socket.socket") -> "int | None":
    got = line.recv(8)
    return int.from_bytes(got, "little", signed=True) if len(got) == 8 else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
