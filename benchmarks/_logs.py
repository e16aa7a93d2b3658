"""Files of generated records: made at the first time, and kept."""

import argparse
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from _generate import DATA

Writers = Mapping[str, Callable[[int], Iterator[str]]]


def made(program: str, writers: Writers, name: str, count: int) -> Path:
    """A file with so many jobs, in benchmarks/data; a program that has changed makes it anew."""
    made_by = zlib.crc32(Path(program).read_bytes())
    path = DATA / f"{name}-{count}-{made_by:08x}.log"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        _write(part, writers[name](count))
        part.rename(path)
    return path


def main(what: str, writers: Writers) -> None:
    """Read the options and write."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("format", choices=writers, help="whose records")
    parser.add_argument("file", help="where to write")
    parser.add_argument("--count", type=int, default=10_000, help="jobs (%(default)s)")
    chosen = parser.parse_args()
    _write(Path(chosen.file), writers[chosen.format](chosen.count))


def _write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines)
