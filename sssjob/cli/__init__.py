"""The command ``sssjob``: each command opens its files, makes one call of the library, prints."""

from __future__ import annotations

import codecs
import errno
import io
import os
import signal
import sys
import warnings
from typing import NoReturn

import click

from sssjob import own_process
from sssjob._version import __version__
from sssjob.cli.commands import Commands
from sssjob.cli.signals import Terminated, die

_ESCAPED = "sssjob.escaped"

# fmt: off
SECTIONS = {
    "Documents": {
        "validate":      "Check documents against the standard.",
        "show":          "Show job objects as a tree, or write them in another form.",
        "query":         "Find jobs and values in job objects, by XPath.",
        "diff":          "Show where two documents mean different things.",
        "canon":         "Write job objects in one canonical form, to compare them.",
        "repair":        "Repair documents that are not well-formed XML.",
        "transform":     "Transform job objects with an XSLT sheet.",
        "store":         "Keep job objects in a file or PostgreSQL, and query them.",
        "browse":        "Look at jobs in a browser: a table, and a page of each.",
    },
    "Batch systems": {
        "translate":     "Turn jobs into scripts of batch systems, and back.",
        "submit":        "Submit jobs to a batch system, each exactly once.",
        "cancel":        "Cancel jobs that are submitted, by their documents.",
        "hold":          "Hold jobs that are submitted.",
        "release":       "Release jobs that are held.",
        "status":        "Show the jobs that a batch system has, as job objects.",
    },
    "Accounting": {
        "convert":       "Turn accounting records into job objects.",
        "deliver":       "Add to jobs what they used, from records or features.",
        "report":        "Add up what jobs used, by user, project or time.",
        "ledger":        "Keep what each run used, for reports over very many jobs.",
        "send":          "Send usage records to a server of accounting, such as APEL's.",
        "audit":         "Find runs that are missing or doubled, by asking the system.",
    },
    "Scheduling": {
        "explain":       "Tell what a name of the standard, or a request, means.",
        "match":         "Tell which offers satisfy a request, and why.",
        "alternatives":  "List what would satisfy a request, best first.",
        "place":         "Place the tasks of jobs on nodes, the best way.",
        "layout":        "Show which task of a job runs on which node.",
        "graph":         "Show which jobs are ready, wait or will never run.",
        "profile":       "List what a peer that supports less would lose.",
    },
    "Sites": {
        "features":      "Machine/Job Features: what a job may use, as small files.",
        "condor":        "Hooks, ads and features of HTCondor execution points.",
        "lcginfo":       "Queue states and response times of grid sites.",
    },
    "Gateway": {
        "serve":         "Answer schedulers and clients over SSSRMAP.",
        "request":       "Ask a gateway, or Gold, over SSSRMAP.",
    },
    "This implementation": {
        "demo":          "Go through the main use, step by step, on real records.",
        "examples":      "Tell what examples there are, or write them into a directory.",
        "conformance":   "Run or export the cases of the standard.",
        "completion":    "Make a shell complete commands, options and values.",
        "schema":        "Print the JSON Schema of what a command prints with --json.",
        "config":        "Defaults of options, from a file.",
    },
}
FAMILIES = {"steer": ("cancel", "hold", "release")}
# fmt: on


@click.group(
    cls=Commands, home=__name__, sections=SECTIONS, families=FAMILIES,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.option("--config", metavar="FILE", help="The file of defaults; see sssjob config.")
@click.version_option(__version__, "--version", message="sssjob %(version)s")
def sssjob(config: str | None) -> None:
    """Job objects of the SSS Job Object Specification 3.1.0, from submission to accounting.

    Every command reads FILEs, compressed or not, or standard input ("-"). Its exit code is 0 if it
    succeeded and found something, 1 if a document is not valid or nothing was found, 2 if its input
    was not understood.

    \b
    sssjob convert --from slurm sacct.txt > jobs.sss
    sssjob validate jobs.sss
    sssjob query "//Job[Delivered/Processors > 12]/Id" jobs.sss

    Completion in bash, zsh and fish: sssjob completion --install
    """
    from sssjob.cli import defaults

    defaults.check(click.get_current_context())


def _warned(message: Warning | str, *_: object, **__: object) -> None:
    """What a library warns of, in a line: where in its code is no help to a user."""
    from sssjob.cli.common import say

    say(f"sssjob: warning: {message}")


def main() -> None:
    """Run the command."""
    with own_process.claimed():
        _run()


def _run() -> None:
    _open_closed()
    _write_any_text()
    warnings.showwarning = _warned
    number = 0
    try:
        sssjob(prog_name="sssjob")
    except Terminated as end:
        number = end.number
    except KeyboardInterrupt:
        number = signal.SIGINT
    except MemoryError:
        _fail("there is not enough memory for this")
    except RecursionError:
        _fail("this is nested too deeply")
    except OSError as error:
        from sssjob.cli.common import reason

        _fail(reason(error))
    except Exception as error:
        from sssjob.errors import SSSJobError

        if not isinstance(error, SSSJobError):  # which is imported when there is an error
            raise
        _fail(error)
    if number:
        die(number)


def undelivered(error: OSError) -> NoReturn:
    """End the command because the last of what it printed could not be written."""
    if isinstance(error, BrokenPipeError):
        die(signal.SIGPIPE)
    from sssjob.cli.common import reason

    _fail(reason(error))


def _fail(message: object) -> NoReturn:
    from sssjob.cli.common import fail

    fail(message)


def _open_closed() -> None:
    """Put something in place of standard streams that were closed, so that no file becomes one.

    What is read from or written to them fails then as what cannot be read or written.
    """
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # it gets the lowest number that is free
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), write_through=True)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, mode="w", closefd=False)


class _Closed(io.RawIOBase):
    """Standard output where it was closed: nothing is kept that the interpreter would flush."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> NoReturn:
        raise OSError(errno.EBADF, "it is closed", "standard output")


def _write_any_text() -> None:
    """Have letters that the terminal's encoding lacks written as ``\\u00fc``, and not end us."""
    codecs.register_error(_ESCAPED, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """The form that JSON has, which needs no other one then."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    units = text.encode("utf-16-be", "surrogatepass")
    pairs = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return "".join(f"\\u{pair}" for pair in pairs), error.end
