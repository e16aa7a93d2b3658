"""HTCondor's own library as another engine for expressions (``pip install 'sssjob[condor]'``).

The library ends the interpreter over some texts, and has no bounds. So it is asked in a process of
its own, line by line, and what it is asked is bounded in time and memory.
"""

from __future__ import annotations

import json
import math
import sys

from sssjob.classads import writing
from sssjob.classads.errors import BadAd
from sssjob.classads.parser import plain
from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, Ad, Node
from sssjob.dotted import needed
from sssjob.errors import SSSJobError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen
    from types import TracebackType
    from typing import Any

    from sssjob.classads.values import Attribute

SECONDS = 10  # that one question may take
MEMORY = 2 << 30  # bytes
ANSWER = 1 << 24  # characters of one answer
MEMBERS = 10_000  # of lists, in one answer
DEPTH = 8  # of lists in lists
_PROGRAM = "from sssjob.classads import library; library.answer()"


class LibraryFailed(SSSJobError, RuntimeError):
    """HTCondor's library did not answer: it ended its process, or took too long."""


class Library:
    """The process in which the library is asked; ends with the block.

    Raises ``ModuleNotFoundError`` where the library is not installed.
    """

    def __init__(self) -> None:
        needed("classad2", "condor", "--htcondor")
        self._process: Popen[str] | None = None

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def evaluate(
        self, node: Node, my: Ad | None = None, target: Ad | None = None, *,
        remark: Callable[[str], None] | None = None,
    ) -> Attribute:  # fmt: skip
        """What the library says of an expression, as ``evaluate.evaluate`` does.

        A span of time comes as its seconds. Raises ``LibraryFailed``, and ``BadAd`` for what
        cannot be written in the new syntax.
        """
        asked = [
            writing.expression(node),
            *(
                writing.attribute(ad if ad is not None else Ad(), writing.NEW)
                for ad in (my, target)
            ),
        ]
        line = json.dumps([text.encode("utf-8", "replace").decode() for text in asked])
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            print(line, file=process.stdin, flush=True)
            answered = process.stdout.readline()
        except BrokenPipeError:
            answered = ""
        if not answered:
            self._process = None
            process.communicate()
            raise LibraryFailed(
                f"HTCondor's library ended its process, or took more than {SECONDS} s, over "
                f"{asked[0][:200]}"
            )
        text, said = json.loads(answered)
        if said and remark:
            remark(said)
        return plain(text)

    def _running(self) -> Popen[str]:
        if self._process is None:
            from subprocess import DEVNULL, PIPE, Popen

            self._process = Popen(
                [sys.executable, "-P", "-c", _PROGRAM], stdin=PIPE, stdout=PIPE, stderr=DEVNULL,
                text=True, encoding="utf-8",
            )  # fmt: skip
        return self._process


def answer() -> None:
    """Answer questions of standard input, one a line, as the process that asks the library."""
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    needed("htcondor2", "condor", "--htcondor")  # it brings the functions for lists in strings
    classad = needed("classad2", "condor", "--htcondor")
    for line in sys.stdin:
        signal.alarm(SECONDS)  # which ends the process
        expression, *ads = json.loads(line)
        try:
            my, target = map(classad.ClassAd, ads)
            found = _ValueText(classad, my, target).text(expression, 0), ""
            if len(found[0]) > ANSWER:
                found = "error", f"an answer of more than {ANSWER} characters"
        except (classad.ClassAdException, SystemError, ValueError, BadAd) as error:
            found = "error", " ".join(str(error).split())
        signal.alarm(0)
        print(json.dumps(found), flush=True)


class _ValueText:
    """The value of one expression, as a text of the new syntax."""

    def __init__(self, classad: Any, my: Any, target: Any) -> None:
        self._classad, self._my, self._target = classad, my, target
        self._members = 0

    def text(self, expression: str, depth: int) -> str:
        """The text; the members of a list are evaluated one by one, which the library does not."""
        value = self._classad.ExprTree(expression).eval(self._my, self._target)
        if isinstance(value, self._classad.Value):
            special = UNDEFINED if value is self._classad.Value.Undefined else ERROR
            return writing.attribute(special, writing.NEW)
        if isinstance(value, list):
            self._members += len(value)
            if depth >= DEPTH or self._members > MEMBERS:
                raise ValueError(f"a list of more than {MEMBERS} members, or {DEPTH} lists in it")
            members = (f"({expression})[{at}]" for at in range(len(value)))
            return f"{{ {', '.join(self.text(each, depth + 1) for each in members)} }}"
        if isinstance(value, float) and math.isfinite(value):
            return repr(value)  # the new syntax has a digit less
        if isinstance(value, (bool, int, float, str)):
            return writing.attribute(value, writing.NEW)
        if hasattr(value, "timestamp"):
            return writing.attribute(AbsTime(int(value.timestamp())), writing.NEW)
        return str(value)
