"""Running commands of batch systems and of sites: without a shell, within a time, up to a size."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO

from sssjob.errors import SSSJobError
from sssjob.visible import visible

TIME_LIMIT = 120.0
OUTPUT_LIMIT = 1 << 28
ANSWER_LIMIT = 1 << 24  # bytes that tell of one job
SAID_LIMIT = 1 << 12  # bytes of standard error that are kept for the message

_CHUNK = 1 << 16
_LINE = 300  # characters of a standard error that an error of ours shows
_TRACEBACK = "Traceback (most recent call last):"
_SENTENCE = re.compile(r"[a-z)'\"][.!?](?= )")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_RUNNING: set[subprocess.Popen[bytes]] = set()
# Programs whose options are variables, too, which users set for their own looks at a queue
# (SQUEUE_STATES): an answer would lack what is asked for. # decision 703
_OPTIONS = {"squeue": "SQUEUE_", "sinfo": "SINFO_", "scontrol": "SCONTROL_", "sacct": "SACCT_"}
_PLACES = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin")


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """How long a command may take, in seconds, and how many bytes it may print."""

    seconds: float = TIME_LIMIT
    size: int = OUTPUT_LIMIT


class CommandFailed(SSSJobError, RuntimeError):
    """A command that could not be run, or did not end well; ``status`` is what it returned.

    ``said`` is all of its standard error, and ``reason`` what of it fits one line.
    """

    def __init__(self, what: str, reason: str, status: int | None = None, said: str = "") -> None:
        super().__init__(what, reason, status, said)
        self.what, self.reason, self.status, self.said = what, reason, status, said

    def __str__(self) -> str:
        if self.status is not None:
            said = f": {self.reason}" if self.reason else ""
            return f"{self.what} returned {self.status}{said}"
        return f"Error running {self.what}: {self.reason}"


def is_name(text: str) -> bool:
    """Whether a text is a plain name of a node or a queue, which no command takes for an option.

    >>> is_name("n1.example.org"), is_name("-a"), is_name("n1;n2"), is_name("")
    (True, False, False, False)
    """
    return _NAME.fullmatch(text) is not None


def run(
    arguments: Sequence[str],
    what: str,
    limits: CommandLimits | None = None,
    environment: Mapping[str, str] | None = None,
    given: bytes = b"",
    inherited: Sequence[int] = (),
) -> bytes:
    """What a command prints that is ``given`` something on its standard input.

    ``environment`` is added to that of this process; ``inherited`` are descriptors that stay open
    as long as it runs, such as that of a lock. Raises ``CommandFailed``, and leaves no process of
    it behind.
    """
    whole = {**os.environ, **(environment or {})}
    return started(arguments, what, limits, whole, given, inherited)


def asked(
    command: Sequence[str],
    environment: Mapping[str, str],
    seconds: float,
    places: Sequence[str] = (),
) -> str:
    """What a command of a batch system prints as text, in an environment of its own.

    A prolog seldom has a search path, so that the usual directories are looked into, too, and
    the ``places`` in which the batch system installs its commands.
    Raises ``CommandFailed``.
    """
    path = os.pathsep.join(filter(None, (environment.get("PATH"), *_PLACES, *places)))
    program = shutil.which(command[0], path=path)
    if program is None:
        raise CommandFailed(command[0], f"it is not in {path}")
    limits = CommandLimits(seconds, ANSWER_LIMIT)
    arguments = [program, *command[1:]]
    printed = started(arguments, " ".join(command), limits, {**environment, "PATH": path})
    return printed.decode("utf-8", "replace")


def started(
    arguments: Sequence[str],
    what: str,
    limits: CommandLimits | None,
    environment: Mapping[str, str],
    given: bytes = b"",
    inherited: Sequence[int] = (),
) -> bytes:
    """What a command prints in an environment. Raises ``CommandFailed``."""
    limits = limits or CommandLimits()
    # Before it may stand another, which runs it as somebody else.
    options = tuple(_OPTIONS[name] for name in map(os.path.basename, arguments) if name in _OPTIONS)
    if options:
        environment = {
            key: text for key, text in environment.items() if not key.startswith(options)
        }
    try:
        with _input(given) as stdin:
            process = subprocess.Popen(
                list(arguments),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                pass_fds=inherited,
                start_new_session=True,  # so that its children can be ended with it
            )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CommandFailed(
            what, f"{arguments[0] if arguments else 'nothing'}: {reason}"
        ) from error
    with process:
        _RUNNING.add(process)
        try:
            printed, said = _OutputReader(process, what, limits).both()
        except BaseException:
            _kill(process)
            raise
        finally:
            _RUNNING.discard(process)
    if process.returncode:
        raise CommandFailed(what, on_one_line(said), process.returncode, said)
    return printed


def on_one_line(said: str) -> str:
    """What a person understands of a standard error, in one line: all of it, or its beginning.

    A long text ends where a sentence or a line does. Of a Python program that fell over, the last
    line says why.

    >>> on_one_line("Error:\\n\\nNo schedd answers.\\n")
    'Error: No schedd answers.'
    """
    lines = [words for line in said.splitlines() if (words := " ".join(line.split()))]
    if lines and _TRACEBACK in lines:
        return visible(lines[-1])[:_LINE]
    text = visible(" ".join(lines))
    if len(text) <= _LINE:
        return text
    ends = [found.end() for found in _SENTENCE.finditer(text, 0, _LINE)]
    return text[: ends[-1]] if ends else f"{text[: _LINE - 3]}..."


@contextmanager
def _input(given: bytes) -> Iterator[IO[bytes]]:
    """A file for standard input, so that nothing has to be fed while others read and print."""
    if not given:
        with open(os.devnull, "rb") as nothing:
            yield nothing
        return
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file


@dataclass(slots=True)
class _OutputReader:
    """What a process prints and says, read side by side."""

    process: subprocess.Popen[bytes]
    what: str
    limits: CommandLimits
    printed: bytearray = field(default_factory=bytearray)
    said: bytearray = field(default_factory=bytearray)

    def both(self) -> tuple[bytes, str]:
        """Everything printed, and what was said, once the process has ended."""
        deadline = time.monotonic() + self.limits.seconds
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ, self._print)
            selector.register(self.process.stderr, selectors.EVENT_READ, self._say)
            while selector.get_map():
                ready = selector.select(max(deadline - time.monotonic(), 0))
                if not ready:
                    raise self._too_long()
                for key, _ in ready:
                    chunk = os.read(key.fd, _CHUNK)
                    if not chunk:
                        selector.unregister(key.fileobj)
                    key.data(chunk)
        try:
            self.process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise self._too_long() from None
        return bytes(self.printed), self.said.decode("utf-8", "replace").strip()

    def _print(self, chunk: bytes) -> None:
        self.printed += chunk
        if len(self.printed) > self.limits.size:
            raise CommandFailed(self.what, f"it printed more than {self.limits.size} bytes")

    def _say(self, chunk: bytes) -> None:
        self.said += chunk[: SAID_LIMIT - len(self.said)]

    def _too_long(self) -> CommandFailed:
        return CommandFailed(self.what, f"it did not end within {self.limits.seconds:g} seconds")


def end_all() -> None:
    """End the commands that threads still wait for, where a process ends that has such threads."""
    for process in tuple(_RUNNING):
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process that nobody has waited for yet, with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
