"""A command ``sssjob`` that starts at once: it is forked from a process that has imported all.

Hundreds of examples run the command as a process, and most of what such a process does is to
import. ``tests/forked/sssjob`` hands its words, directory, environment and open files to a server,
which forks and runs ``sssjob/__main__.py``. Signals go on to that process, and the command ends as
it ended, by a signal, too.

What belongs to the process itself is tested with the real command: what is imported and when, what
a kill leaves (SIGKILL cannot be handed on), what an installation holds.
"""

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

COMMAND = Path(__file__).parent / "forked" / "sssjob"
# What commands import beside sssjob and takes long, as far as it is installed.
HEAVY = ("duckdb", "elementpath", "pandas", "pyarrow.parquet", "requests", "xmlschema")
ABOVE = 500  # numbers of files that no shell gives


@functools.cache
def environment():
    """What the command needs beside its own environment; the server lives as long as we do."""
    name = f"sssjob-tests-{os.getpid()}"
    server = subprocess.Popen(
        [sys.executable, __file__, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert server.stdout.readline() == b"ready\n"
    atexit.register(server.communicate)
    return {"SSSJOB_FORKS": name}


def serve(name):
    """Answer until standard input ends; in a process that is to be a command, return what to be."""
    for module in (*HEAVY, *_of_sssjob()):
        with contextlib.suppress(ImportError):  # of what an extra brings
            importlib.import_module(module)
    gc.collect()
    gc.freeze()
    warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries hold nothing
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{name}")
    listener.listen()
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that nobody waits for who has answered
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        line = listener.accept()[0]
        if _is_stranger(line):
            line.close()
            continue
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            return _asked(line)
        line.close()
    os._exit(0)


def _is_stranger(line):
    asked = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", asked)[1] != os.geteuid()


def _of_sssjob():
    import sssjob.cli

    for each in pkgutil.walk_packages(sssjob.cli.__path__, "sssjob.cli."):
        if not each.name.endswith(".manual"):
            yield each.name


def _asked(line):
    """What a client asks for, in the process that becomes it; its parent waits for the end."""
    head, files, _, _ = socket.recv_fds(line, 8, 64)
    left, parts = struct.unpack("q", head)[0], []
    while left:
        parts.append(line.recv(left))
        left -= len(parts[-1])
    asked = json.loads(b"".join(parts))
    child = os.fork()
    if not child:
        line.close()
        return asked, files
    for each in files:
        os.close(each)
    line.sendall(struct.pack("q", child))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(BrokenPipeError):  # a client that was killed
        line.sendall(struct.pack("q", status))
    os._exit(0)


def become(asked, files):
    """Take on the words, directory, environment and open files of a client."""
    words, directory, environment, numbers = asked
    above = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, ABOVE) for each in files]
    for each in (0, 1, 2, *files):
        os.close(each)
    for each, number in zip(above, numbers, strict=True):
        os.dup2(each, number)
        os.close(each)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        old = getattr(sys, name)  # which knows about the file that was there before
        new = open(number, mode, encoding="utf-8", errors=old.errors, closefd=False)  # noqa: SIM115
        new.reconfigure(line_buffering=new.isatty() or name == "stderr")
        setattr(sys, name, new)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv[:] = words


def end(main):
    """Run the command, and end with its status as an interpreter does; but nothing is taken apart.

    To free what the server imported would take longer than most commands.
    """
    status = 0
    try:
        main()
    except SystemExit as leaving:
        status = leaving.code or 0
        if not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except BaseException:  # as the interpreter shows what nothing has caught
        traceback.print_exc()
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = 120
    os._exit(status & 0xFF)


if __name__ == "__main__":
    become(*serve(sys.argv[1]))
    from sssjob.__main__ import main

    end(main)
