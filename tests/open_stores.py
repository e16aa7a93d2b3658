"""Nobody in this process opens the file of a store that it has open: see ``database_files``."""

import os
import sys

from sssjob import database_files

GENUINE = os.stat


def watched():
    """From now on who opens one is told so, and does not get it, for as long as the process lives.

    SQLite itself is not heard here. A name in a directory that is open is not looked up.
    """
    sys.addaudithook(_heard)


def _heard(event, arguments):
    # Where a test puts another function in the place of stat, every file may be said to be any.
    if event == "open" and os.stat is GENUINE and database_files.any_open():
        named = arguments[0]
        if isinstance(named, str | bytes | os.PathLike) and database_files.is_open(named):
            raise AssertionError(f"{named!r} is a store that this process has open, and locks")
