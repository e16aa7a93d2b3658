"""A store of generated jobs, or one that is there, for the programs that ask a large one."""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _generate import corpus
from _measure import options

from sssjob import store


def store_options(what: str, *, rounds: int) -> argparse.ArgumentParser:
    """The options of such a program."""
    parser = options(what, count=1_000_000, rounds=rounds)
    parser.add_argument("--store", help="a store that is there already")
    return parser


@contextmanager
def filled_store(chosen: argparse.Namespace) -> Iterator[str]:
    """The address of the store that was named, or of one that is made and goes again."""
    if chosen.store:
        yield chosen.store
        return
    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder, "jobs.db"))
        with store.open(address, create=True) as jobs, corpus(chosen.count).open("rb") as lines:
            jobs.load(lines)
        yield address
