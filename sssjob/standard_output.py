"""The end of standard output: what a command has printed is written out, or given up.

The interpreter keeps some kilobytes of what goes to a file or a pipe and writes them at its very
end, when no command can tell any more that this failed.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO  # hooks, which start for each job, do without


def finish() -> OSError | None:
    """Write out what is still kept; where this fails, give it up and return the error."""
    if sys.stdout is None:  # it was closed when the command began
        return None
    try:
        sys.stdout.flush()
    except OSError as error:
        give_up()
        return error
    return None


def give_up(stream: TextIO | None = None) -> None:
    """Have what is still kept go nowhere, or the interpreter would try once more at its end.

    Of standard output, or of another ``stream``.
    """
    given = sys.stdout if stream is None else stream
    try:
        number = given.fileno()
    except OSError:  # it was closed when the command began: nothing is kept
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
    given.flush()
