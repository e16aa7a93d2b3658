"""What a target of fuzzing is: a function of bytes, and examples to begin with."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sssjob.errors import SSSJobError

HOME = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data"
CORPUS = DATA / "fuzz"
LARGEST = 1 << 13  # bytes of an example; larger ones are cut
PART, TIMES = 2000, 8  # bytes of an example that is repeated, and how often
MOST = 40  # examples of a target besides its corpus


class Target(NamedTuple):
    """A function of bytes, the patterns of files that are good examples, and texts that are.

    The function gives something that is true where it took what it was given. ``grown`` makes an
    input of so many parts that is taken, where an example behind itself is none. ``made`` gives
    texts that it takes some time to make.
    """

    run: Callable[[bytes], object]
    examples: tuple[str, ...]
    texts: tuple[str | bytes, ...] = ()
    grown: Callable[[int], str | bytes] | None = None
    made: Callable[[], Iterable[str]] = tuple

    def seeds(self, name: str) -> Iterator[bytes]:
        """What was kept of former runs, then examples."""
        for file in sorted((CORPUS / name).glob("*")):
            yield file.read_bytes()
        for text_ in (*self.texts, *self.made()):
            yield as_bytes(text_)
        files = sorted(
            file for pattern in self.examples for file in HOME.glob(pattern) if file.is_file()
        )
        for file in files[:: max(1, len(files) // MOST)]:
            yield file.read_bytes()[:LARGEST]

    def repeated(self, name: str) -> Iterator[Callable[[int], bytes]]:
        """What makes inputs of so many parts that are taken, also of twice ``TIMES`` as many."""
        ways: Iterable[Callable[[int], str | bytes]] = (
            (lambda count, part=seed: part * count)
            for seed in self.seeds(name)
            if len(seed) <= PART
        )
        for make in (self.grown,) if self.grown is not None else ways:
            if all(tried(self.run, as_bytes(make(count))) for count in (TIMES, 2 * TIMES)):
                yield lambda count, make=make: as_bytes(make(count))


def as_bytes(given: str | bytes) -> bytes:
    return given.encode() if isinstance(given, str) else given


def tried(run, data):
    """Do something with bytes, which may be refused; whether they were taken."""
    with suppress(SSSJobError):
        return bool(run(data))
    return False


def text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def drained(each):
    """How many there are."""
    return sum(1 for _ in each)


def in_a_file(run, data, name="file"):
    """What reads a file by its name, given one."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, name)
        path.write_bytes(data)
        key = Path(directory, "auth_key")  # that examples name
        key.touch(mode=0o600)
        key.write_text("secret\n")
        return run(path)


def repeated(item, joint="", before="", behind=""):
    """So many of an item, with something between them and around all."""
    return lambda count: f"{before}{joint.join([item] * count)}{behind}"
