"""A directory of features, written so that whoever reads it at any moment sees whole values.

Each value goes to a hidden file in the same directory, is forced to disk, and is renamed into
place. ``.sssjob`` lists what we wrote, so that a later run removes what it no longer gives
and leaves alone what somebody else put there. Hooks write before every job: nothing here that is
slow to import.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from sssjob import atomic
from sssjob.features import keys
from sssjob.features.files import LONGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.features.keys import Value

MANIFEST = ".sssjob"
_MANIFEST_LIMIT = 1 << 20
_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW


class Written:
    """What a call did: the keys that now stand there, and those of an earlier run it removed."""

    __slots__ = ("directory", "keys", "removed")

    def __init__(self, directory: str, keys: tuple[str, ...], removed: tuple[str, ...]) -> None:
        self.directory, self.keys, self.removed = directory, keys, removed


def write(values: Mapping[str, Value], directory: str | os.PathLike[str]) -> Written:
    """Write one file a key, mode 0644, into a directory that is made with mode 0755 if need be.

    Nothing is touched if one of the names or values cannot be written: ``InvalidValue``.
    If the disk fails half-way (``OSError``), every key holds its old or its new value whole,
    and running again finishes the work.
    """
    contents = {name: content(name, value) for name, value in values.items()}
    if not os.path.isdir(directory):
        os.mkdir(directory, 0o755)
        os.chmod(directory, 0o755)  # mkdir obeys the umask
    with _opened(directory) as folder:
        earlier = _manifest(folder)
        # Before the first key: a run that is cut short must not leave keys that nobody owns.
        atomic.put(folder, MANIFEST, _listing({*earlier, *contents}))
        for name, octets in contents.items():
            atomic.put(folder, name, octets)
        stale = tuple(sorted(earlier - contents.keys()))
        for name in stale:
            with suppress(FileNotFoundError, IsADirectoryError):
                os.unlink(name, dir_fd=folder)
        atomic.put(folder, MANIFEST, _listing(contents))
        os.fsync(folder)
    return Written(os.fspath(directory), tuple(contents), stale)


def put(values: Mapping[str, Value], directory: str | os.PathLike[str]) -> Written:
    """Write some keys of a directory that stands, and leave the others as they are.

    Raises ``InvalidValue`` before anything is touched, or ``OSError``.
    """
    contents = {name: content(name, value) for name, value in values.items()}
    with _opened(directory) as folder:
        earlier = _manifest(folder)
        if not contents.keys() <= earlier:
            atomic.put(folder, MANIFEST, _listing({*earlier, *contents}))
        for name, octets in contents.items():
            atomic.put(folder, name, octets)
        os.fsync(folder)
    return Written(os.fspath(directory), tuple(contents), ())


def remove(names: Iterable[str], directory: str | os.PathLike[str]) -> Written:
    """Remove some keys of a directory, whoever wrote them, as far as they are there."""
    removed = []
    with _opened(directory) as folder:
        for name in names:
            if not keys.is_name(name):
                raise _invalid(name, "a key, which is letters, digits and underscores")
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
                removed.append(name)
        if earlier := _manifest(folder):
            atomic.put(folder, MANIFEST, _listing(earlier.difference(removed)))
        os.fsync(folder)
    return Written(os.fspath(directory), (), tuple(removed))


@contextmanager
def _opened(directory: str | os.PathLike[str]) -> Iterator[int]:
    """A descriptor of a directory: what follows goes there, whatever becomes of the path."""
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield folder
    finally:
        os.close(folder)


def content(name: str, value: Value) -> bytes:
    """The bytes of one file. Raises ``InvalidValue`` for what a reader would not take back."""
    if not keys.is_name(name):
        raise _invalid(name, "a key, which is letters, digits and underscores")
    text = keys.spell(value).strip()
    content = f"{text}\n".encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
    if not text or "\0" in text or len(content) > LONGEST:
        raise _invalid(text, f"a value for {name}: 1 to {LONGEST - 1} bytes without NUL")
    return content


def _manifest(folder: int) -> set[str]:
    """The keys that an earlier run wrote; what is no key in it is no business of ours."""
    try:
        handle = os.open(MANIFEST, os.O_RDONLY | os.O_NONBLOCK | _OPEN, dir_fd=folder)
    except FileNotFoundError:
        return set()
    with open(handle, "rb") as file:
        lines = file.read(_MANIFEST_LIMIT).decode("ascii", "replace").split("\n")
    return {line for line in lines if keys.is_name(line)}


def _listing(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in sorted(names)).encode("ascii")


def _invalid(text: str, expected: str) -> ValueError:
    from sssjob.errors import InvalidValue

    return InvalidValue(text, expected)
