"""Workers that start at once: they are forked from a process that has imported what they need.

A process with threads, as each of pytest-xdist is, starts workers that are interpreters of their
own, and most of what these do in a test is to import. Here a server imports once. How workers begin
and end is tested with real ones, in test_workers.py.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from importlib import import_module

from sssjob import workers

MAKERS = (
    "sssjob.handlers.query_process", "sssjob.verbs.ask", "sssjob.verbs.confined",
    "sssjob.verbs.convert", "sssjob.verbs.convert_documents", "sssjob.verbs.convert_targets",
    "sssjob.verbs.ledger",
    "sssjob.verbs.report", "sssjob.verbs.validate", "sssjob.store.reading",
    "sssjob.accounting.writers", "pyarrow",
)  # fmt: skip
LARGEST = 1 << 17  # bytes of what is asked: the environment and where modules are
PROGRAM = "import sys; sys.path[:] = {path!r}; import ready_workers; ready_workers.serve({end})"


class Server:
    """The process that forks, and the line to it, on which one asks at a time."""

    def __init__(self):
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._asking = threading.Lock()
        with theirs:
            program = PROGRAM.format(path=sys.path, end=theirs.fileno())
            self._process = subprocess.Popen(
                [sys.executable, "-c", program], pass_fds=[theirs.fileno()]
            )

    def ask(self, *question, files=()):
        with self._asking:
            socket.send_fds(self._line, [json.dumps(question).encode()], files)
            return json.loads(self._line.recv(LARGEST))

    def begun(self, crew):
        """A worker, as ``workers._begun`` makes one."""
        pipes = workers._Pipes.new()
        here = os.open(".", os.O_PATH)
        try:
            ends = pipes.their_tasks.fileno(), pipes.their_answers.fileno()
            files = 0, 1, 2, here, *ends
            return pipes.worker(Forked(self, self.ask(sys.path, dict(os.environ), files=files)))
        finally:
            os.close(here)

    def close(self):
        self._line.close()
        self._process.wait()


class Forked:
    """As much of ``subprocess.Popen`` as is asked for."""

    def __init__(self, server, pid):
        self.pid, self._server = pid, server

    def terminate(self):
        os.kill(self.pid, signal.SIGTERM)  # the number is its own until somebody waits for it

    def wait(self):
        return self._server.ask(self.pid)


def serve(end):
    """Fork workers, and wait for them, until nobody asks any more."""
    for module in MAKERS:
        import_module(module)
    gc.freeze()
    with socket.socket(fileno=end) as line:
        while True:
            question, files, _, _ = socket.recv_fds(line, LARGEST, 8)
            if not question:
                return
            asked = json.loads(question)
            if not files:
                answer = os.waitstatus_to_exitcode(os.waitpid(asked[0], 0)[1])
            elif not (answer := os.fork()):
                work(line, files, *asked)
            for each in files:
                os.close(each)
            line.send(json.dumps(answer).encode())


def work(line, files, path, environment):
    """The life of a worker."""
    status = 1
    try:
        line.close()
        *standard, here, tasks, answers = files
        for number, each in enumerate(standard):
            os.dup2(each, number)
            os.close(each)
        os.fchdir(here)
        os.close(here)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        sys.path[:] = path
        workers.main(tasks, answers)
        status = 0
    except BaseException:  # as an interpreter shows what nothing has caught
        traceback.print_exc()
    finally:
        os._exit(status)
