"""Work in parts, by processes: each part goes to one of them, and results come in their order.

Strategy. A worker reads parts from one pipe and writes what it made of them into another. Who
asks has no thread of its own, and keeps each worker some parts ahead as far as they fit into the
pipe: so never do both wait for the other to read. What is waiting, worked on, or done and not yet
given is bounded by the number of workers, and memory does not grow with the number of parts.
Workers begin when there are more than a few parts, by a fork where that is safe, which is in a
process without other threads. Elsewhere (notebooks, servers) each is an interpreter of its own.

Why it is right: a part is sent only if it fits beside all that may still be in the pipe, so that
who asks never waits in a write for a worker that waits to be read. Results are given in the order
in which parts were taken, whoever was done first, so that nothing depends on how many work. A
worker that ends is told by the end of its pipe, and its part with it.

Processes of other machines (``RemoteWorkers``) are given several parts at once, about a second of
work: to send a task to them takes some milliseconds. They call ``answers_of``, and so the same
functions.

# decisions 180, 430
"""

from __future__ import annotations

import fcntl
import gc
import os
import pickle
import resource
import select
import signal
import struct
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from io import FileIO
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from sssjob import database_files, own_process
from sssjob.errors import LimitExceeded, LostWorker, UnusableCluster, WorkFailed

if TYPE_CHECKING:
    from subprocess import Popen

P = TypeVar("P")
R = TypeVar("R")

_FEW = 2  # parts that are done here: to start workers would take longer
_AHEAD = 4  # parts for each worker that are waiting, worked on, or done and not given
_PIPE = 1 << 20  # bytes that a pipe holds, if the system agrees
_LEAST = 1 << 16  # bytes that a pipe holds in any case
_SPARE = 1 << 13  # bytes of a pipe that are not counted upon
_YIELDING = 2  # by how much workers let who asks go first: all of them wait for it
_KEPT = 1 << 24  # bytes of memory that a worker uses again for the next part
_SIZE = struct.Struct("!Q")  # what comes before each message
_FIRST = 4  # parts that are sent together to another machine before it is known how long they take
_MOST = 256  # parts that are sent together at most
_TASK = 1.0  # seconds that the work on them is to take
_SENT = 1 << 23  # bytes after which no more parts are sent together
_BUNDLES = 2  # for each process of another machine: one that it works on, one that waits
_ENDED = signal.SIGTERM, signal.SIGHUP
_SET_SIZE = getattr(fcntl, "F_SETPIPE_SZ", None)  # only Linux has it

_PROGRAM = "import sys; sys.path[:] = {path!r}; from sssjob import workers; workers.main({ends})"


class PartWork(NamedTuple):
    """What is done with parts: a dotted name, ``module:attribute``, and what it is called with.

    The call gives the function that makes a result of a part; each worker makes it once. Parts,
    results and ``arguments`` travel between processes by ``pickle``; bytes that a result has as
    a ``pickle.PickleBuffer`` travel beside it, and are not pickled.
    """

    maker: str
    arguments: tuple[Any, ...] = ()
    opens_stores: bool = False  # which a copy of a process that has one open must not

    def made(self) -> Callable[[Any], Any]:
        """The function of a part."""
        module, _, name = self.maker.partition(":")
        function: Callable[[Any], Any] = getattr(import_module(module), name)(*self.arguments)
        return function


class Bounds(NamedTuple):
    """What the work on one part of a stranger may take: bytes of memory, seconds of a processor.

    When the ``deadline`` has come, in seconds of the clock, who asks ends the process.
    """

    memory: int = 1 << 29
    seconds: int = 10
    deadline: float = 60


class WorkerAnswers(NamedTuple):
    """What became of parts that were sent together, and how many seconds it took."""

    seconds: float
    answers: Sequence[Sequence[bytes]]


class RemoteWorkers(int):
    """How many processes of other machines work, where at least 2 are counted.

    ``ask`` has one of them call ``answers_of`` with a message, for parts of which the first one
    begins at a place, and gives what waits for that. What waits raises ``UnusableCluster``.
    """

    ask: Callable[[bytes, str], Callable[[], WorkerAnswers]]

    def __new__(
        cls, count: int, ask: Callable[[bytes, str], Callable[[], WorkerAnswers]]
    ) -> RemoteWorkers:
        """So many processes, and who has them work."""
        made = super().__new__(cls, max(count, 2))
        made.ask = ask
        return made


def cores() -> int:
    """How many processes can work at once here."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True, eq=False)
class _PartTask(Generic[P]):
    """A part on its way to its result."""

    part: P
    message: bytes = b""  # the part as it is sent, until then
    size: int = 0  # of the message, with what comes before it
    answer: tuple[bool, Any] | None = None  # whether it went well; what was made, or the error


class _Ahead(Generic[P]):
    """Parts that are taken before the results of those before them were given.

    What is wrong with a part ends them, and is kept for its turn.
    """

    def __init__(self, parts: Iterable[P]) -> None:
        self._parts = iter(parts)
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[P]:
        return self

    def __next__(self) -> P:
        if self.error is not None:
            raise StopIteration
        try:
            return next(self._parts)
        except StopIteration:
            raise
        except Exception as error:  # whatever it is: it is raised in its turn
            self.error = error
            raise StopIteration from error


@dataclass(slots=True, eq=False)
class _Worker(Generic[P]):
    """A process, our ends of its pipes, and the tasks that it has, in their order."""

    process: int | Popen[bytes]
    tasks: FileIO
    answers: FileIO
    room: int  # bytes that can be sent while it works on something else
    given: deque[_PartTask[P]] = field(default_factory=deque)

    def takes(self, task: _PartTask[P]) -> bool:
        """Whether a task can be sent now, without anybody having to wait.

        A worker that waits for its answer to be read has read the task of that answer. So at the
        most those behind the first are still in the pipe.
        """
        behind = islice(self.given, 1, None)
        return not self.given or sum(each.size for each in behind) + task.size <= self.room

    def end(self) -> int:
        """End it, whatever it does; its status as of ``os.waitstatus_to_exitcode``."""
        self.tasks.close()
        self.answers.close()
        if not isinstance(self.process, int):
            self.process.terminate()
            return self.process.wait()
        with suppress(ProcessLookupError, ChildProcessError):  # somebody waits for any child
            os.kill(self.process, signal.SIGTERM)
            return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return 0


class Workers(Generic[P, R]):
    """So many processes for one kind of work, from the first large input to the end of a block.

    With fewer than two, and for few parts, the work is done here, unless there are ``bounds``.
    """

    def __init__(self, work: PartWork, processes: int, bounds: Bounds | None = None) -> None:
        self.work, self.processes, self.bounds = work, processes, bounds
        self._crew: list[_Worker[P]] = []
        self._waiting: deque[_PartTask[P]] = deque()
        self._unsent: deque[_PartTask[P]] = deque()
        self._function: Callable[[P], R] | None = None

    def __enter__(self) -> Workers[P, R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        while self._crew:
            self._crew.pop().end()

    @property
    def waiting(self) -> list[P]:
        """The parts that were taken and whose results were not given yet."""
        return [task.part for task in self._waiting]

    def in_order(
        self, parts: Iterable[P], place: Callable[[P], str] = lambda part: ""
    ) -> Iterator[tuple[P, R]]:
        """Each part with what was made of it.

        What the work raises is raised here, in its turn, and so is what ``parts`` raise. Raises
        ``LostWorker`` for a process that ended before its part was done, with the ``place`` of
        that part, and ``LimitExceeded`` for one that took more than its bounds.
        """
        ahead = _Ahead(parts)
        try:
            if isinstance(self.processes, RemoteWorkers) and self.bounds is None:
                yield from self._elsewhere(self.processes, ahead, place)
            else:
                yield from self._on_this_machine(ahead, place)
            if ahead.error is not None:
                raise ahead.error
        finally:
            self._waiting.clear()
            self._unsent.clear()

    def _on_this_machine(
        self, ahead: Iterator[P], place: Callable[[P], str]
    ) -> Iterator[tuple[P, R]]:
        if not self._crew:
            self._take(ahead, 1 + (_FEW if self.processes > 1 else 0))
            if len(self._waiting) > max(_FEW, 1) or (self.bounds and self._waiting):
                self._start()
        yield from self._by_workers(ahead, place) if self._crew else self._here(ahead)

    def _elsewhere(
        self, crew: RemoteWorkers, ahead: Iterator[P], place: Callable[[P], str]
    ) -> Iterator[tuple[P, R]]:
        """The results of processes of other machines, which are sent several parts at once."""
        asked: deque[tuple[Callable[[], WorkerAnswers], list[_PartTask[P]]]] = deque()
        work, folder, most = _packed(self.work), os.getcwd(), _FIRST

        def ask() -> None:
            while len(asked) < _BUNDLES * crew and (some := self._bundle(ahead, most)):
                message = _packed((folder, work, [task.message for task in some]))
                for task in some:
                    task.message = b""
                asked.append((crew.ask(message, place(some[0].part)), some))

        ask()
        while asked:
            wait, some = asked.popleft()
            found = wait()
            for task, answer in zip(some, found.answers, strict=True):
                task.answer = pickle.loads(answer[0], buffers=answer[1:])
            each = max(found.seconds / len(some), _TASK / _MOST)
            most = max(1, min(4 * most, round(_TASK / each)))
            ask()
            for task in some:
                self._waiting.popleft()
                assert task.answer is not None
                went_well, made = task.answer
                if not went_well:
                    raise _as_seen_here(made, place(task.part))
                yield task.part, made

    def _bundle(self, ahead: Iterator[P], most: int) -> list[_PartTask[P]]:
        """The next parts for another machine, not too many and not too large together."""
        some: list[_PartTask[P]] = []
        size = 0
        while len(some) < most and size < _SENT:
            self._take(ahead, 1)
            if not self._unsent:
                break
            task = self._unsent.popleft()
            task.message = _packed(task.part)
            size += len(task.message)
            some.append(task)
        return some

    def _here(self, ahead: Iterator[P]) -> Iterator[tuple[P, R]]:
        if self._function is None:
            self._function = self.work.made()
        while self._unsent:
            part = self._unsent.popleft().part
            self._waiting.popleft()
            yield part, self._function(part)
            self._take(ahead, 1 - len(self._waiting))

    def _by_workers(self, ahead: Iterator[P], place: Callable[[P], str]) -> Iterator[tuple[P, R]]:
        self._give(ahead)
        while self._waiting:
            first = self._waiting[0]
            while first.answer is None:
                self._receive(None, place)
                self._give(ahead)
            self._waiting.popleft()
            went_well, made = first.answer
            if not went_well:
                raise made
            yield first.part, made
            self._receive(0, place)
            self._give(ahead)

    def _take(self, ahead: Iterator[P], count: int) -> None:
        for part in islice(ahead, max(count, 0)):
            task = _PartTask(part)
            self._waiting.append(task)
            self._unsent.append(task)

    def _give(self, ahead: Iterator[P]) -> None:
        """Give the workers as many parts as they take."""
        while True:
            if not self._unsent:
                self._take(ahead, len(self._waiting) < _AHEAD * self.processes)
            if not self._unsent:
                return
            task = self._unsent[0]
            if not task.message:
                task.message = _packed(task.part)
                task.size = 2 * _SIZE.size + len(task.message)
            worker = min(self._crew, key=lambda each: len(each.given))
            if not worker.takes(task):
                return
            _send(worker.tasks, [task.message])
            task.message = b""
            worker.given.append(self._unsent.popleft())

    def _receive(self, patience: float | None, place: Callable[[P], str]) -> None:
        """Take the answers that are there; without ``patience``, wait until there is one."""
        asked = select.poll()
        busy = {worker.answers.fileno(): worker for worker in self._crew if worker.given}
        for answers in busy:
            asked.register(answers, select.POLLIN)
        if patience is None and self.bounds is not None:
            patience = self.bounds.deadline * 1000
            if not (ready := asked.poll(patience)):
                raise self._stopped()
        else:
            ready = asked.poll(patience)
        for answers, _ in ready:
            worker = busy[answers]
            task = worker.given.popleft()
            try:
                task.answer = _unpacked(worker.answers)
            except EOFError as error:
                self._crew.remove(worker)
                status = worker.end()
                if self.bounds is not None and status == -signal.SIGXCPU:
                    raise _too_long(self.bounds) from error
                raise LostWorker(place(task.part), status) from error

    def _stopped(self) -> LimitExceeded:
        """End who works on the part whose turn it is, for too long."""
        assert self.bounds is not None
        for worker in self._crew:
            if self._waiting[0] in worker.given:
                self._crew.remove(worker)
                worker.end()
                break
        return LimitExceeded("seconds until an answer", self.bounds.deadline)

    def _start(self) -> None:
        bytes(_KEPT)  # as in ``_serve``: what answers take is used again
        begin = _begun
        if _is_alone() and not (self.work.opens_stores and database_files.any_open()):
            begin = _forked
            gc.freeze()  # what is here already stays shared, and nobody looks at it again
        for _ in range(self.processes):
            worker: _Worker[P] = begin(self._crew)
            self._crew.append(worker)
            _send(worker.tasks, [_packed((self.work, self.bounds))])


def main(tasks: int, answers: int) -> None:
    """The life of a worker that is an interpreter of its own, with these ends of pipes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _serve(FileIO(tasks), FileIO(answers, "w"))


def _is_alone() -> bool:
    """Whether this process has no other thread, those of libraries included."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


class _Pipes(NamedTuple):
    """The two pipes of a worker: our ends, and its own."""

    tasks: FileIO
    answers: FileIO
    their_tasks: FileIO
    their_answers: FileIO
    room: int

    @classmethod
    def new(cls) -> _Pipes:
        their_tasks, tasks = os.pipe()
        answers, their_answers = os.pipe()
        room = _widened(tasks)
        _widened(answers)
        return cls(
            FileIO(tasks, "w"), FileIO(answers), FileIO(their_tasks), FileIO(their_answers, "w"),
            room,
        )  # fmt: skip

    def worker(self, process: int | Popen[bytes]) -> _Worker[Any]:
        """A process that has the other ends."""
        self.their_tasks.close()
        self.their_answers.close()
        return _Worker(process, self.tasks, self.answers, self.room)


def _forked(crew: list[_Worker[P]]) -> _Worker[P]:
    """A worker that is a copy of this process."""
    pipes = _Pipes.new()
    process = os.fork()
    if process:
        return pipes.worker(process)
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked ends us
        for number in _ENDED:
            signal.signal(number, signal.SIG_DFL)
        pipes.tasks.close()  # else nobody would notice that who asked is gone
        pipes.answers.close()
        for other in crew:
            other.tasks.close()
            other.answers.close()
        _serve(pipes.their_tasks, pipes.their_answers)
        status = 0
    finally:
        os._exit(status)  # nothing of who asked is written or ended twice


def _begun(crew: list[_Worker[P]]) -> _Worker[P]:
    """A worker that is an interpreter of its own."""
    from subprocess import DEVNULL, Popen

    pipes = _Pipes.new()
    ends = pipes.their_tasks.fileno(), pipes.their_answers.fileno()
    program = _PROGRAM.format(path=sys.path, ends="{}, {}".format(*ends))
    return pipes.worker(Popen([sys.executable, "-c", program], stdin=DEVNULL, pass_fds=ends))


def _widened(end: int) -> int:
    """Have a pipe hold much, if that is allowed; how many bytes can be written without waiting."""
    held = _LEAST
    if _SET_SIZE is not None:
        with suppress(PermissionError):
            held = fcntl.fcntl(end, _SET_SIZE, _PIPE)
    return held - _SPARE


def _serve(tasks: FileIO, answers: FileIO) -> None:
    """Do what is asked until nobody asks any more."""
    # A block of this size that is freed tells glibc to keep as much. Else it would give the memory
    # of each part back, and to have it given anew, page by page, takes a tenth of the time.
    bytes(_KEPT)
    os.nice(_YIELDING)
    function: Callable[[Any], Any] | None = None
    with suppress(EOFError), own_process.claimed():
        work: PartWork
        bounds: Bounds | None
        work, bounds = _unpacked(tasks)
        while True:
            part = _unpacked(tasks)
            try:
                if function is None:
                    function = work.made()
                    _bound_memory(bounds)
                _bound_seconds(bounds)
                answer = _answer(function(part))
            except MemoryError as error:
                answer = [_failure(_too_much(bounds) if bounds else error)]
            except Exception as error:  # whatever it is: who asked raises it
                answer = [_failure(error)]
            _send(answers, answer)


def _as_seen_here(error: Exception, place: str) -> Exception:
    """What another machine raised; a file that is here, and not there, is told as that."""
    if isinstance(error, FileNotFoundError) and error.filename and os.path.exists(error.filename):
        text = (
            f"{error.filename}: a worker does not see this file: put it where all machines have it"
        )
        return UnusableCluster(place, text)
    return error


_turn = threading.Lock()  # what works on parts knows of no threads


# decision 430
def answers_of(message: bytes) -> WorkerAnswers:
    """What a process of another machine makes of parts: what ``_serve`` makes of them.

    It works in the directory of who asks, so that names of files mean the same ones.
    """
    with _turn:
        began = time.perf_counter()
        folder, work, parts = pickle.loads(message)
        answers: list[list[bytes]] = []
        for each in parts:
            try:
                os.chdir(folder)
                answer = _answer(_function(work)(pickle.loads(each)))
            except Exception as error:  # whatever it is: who asked raises it
                answer = [_failure(error)]
            answers.append([*map(bytes, answer)])
        return WorkerAnswers(time.perf_counter() - began, answers)


@lru_cache(8)
def _function(work: bytes) -> Callable[[Any], Any]:
    """What does some work, made once: what it learns of one part serves the next."""
    made: PartWork = pickle.loads(work)
    return made.made()


def _bound_memory(bounds: Bounds | None) -> None:
    """Have this process refused more memory than it has now and so much."""
    if bounds is not None:
        with open("/proc/self/statm", "rb") as numbers:
            pages = int(numbers.read().split()[0])
        most = pages * resource.getpagesize() + bounds.memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _bound_seconds(bounds: Bounds | None) -> None:
    """Have the system end this process when it has worked so long from now on."""
    if bounds is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + 1 + bounds.seconds
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))


def _too_much(bounds: Bounds) -> LimitExceeded:
    return LimitExceeded("MiB of memory", bounds.memory >> 20)


def _too_long(bounds: Bounds) -> LimitExceeded:
    return LimitExceeded("seconds of a processor", bounds.seconds)


def _failure(error: Exception) -> bytes:
    """An answer that has an error, or its text where it cannot be copied."""
    try:
        answer = _packed((False, error))
        pickle.loads(answer)
    except Exception:  # an exception of anybody: its class decides what copying does
        text = "".join(traceback.format_exception(error))
        answer = _packed((False, WorkFailed(text)))
    return answer


def _packed(value: object) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _answer(made: object) -> list[bytes | memoryview]:
    """An answer, and behind it as they are the bytes that it has as a ``PickleBuffer``."""
    apart: list[pickle.PickleBuffer] = []
    answer = pickle.dumps((True, made), pickle.HIGHEST_PROTOCOL, buffer_callback=apart.append)
    return [answer, *(buffer.raw() for buffer in apart)]


def _send(pipe: FileIO, message: Sequence[bytes | memoryview]) -> None:
    """Write a message; one that nobody is there to read is lost, as the other pipe will tell."""
    with suppress(BrokenPipeError):
        _write(pipe, _SIZE.pack(len(message)))
        for piece in message:
            _write(pipe, _SIZE.pack(len(piece)))
            _write(pipe, piece)


def _write(pipe: FileIO, piece: bytes | memoryview) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[pipe.write(rest) :]


def _unpacked(pipe: FileIO) -> Any:
    """What the next message says. Raises ``EOFError`` where none comes any more."""
    [count] = _SIZE.unpack(_read(pipe, _SIZE.size))
    said, *apart = [_read(pipe, *_SIZE.unpack(_read(pipe, _SIZE.size))) for _ in range(count)]
    return pickle.loads(said, buffers=apart)


def _read(pipe: FileIO, size: int) -> bytearray:
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        count = pipe.readinto(rest)
        if not count:
            raise EOFError
        rest = rest[count:]
    return data
