"""A directory of features, written so that whoever reads it at any moment sees whole values.

Where values change, a new directory with all of them takes the place of the old one in one step.
Each value goes to a file without a name, is forced to disk with all others, and then gets its
name. ``.sssjob`` lists what we wrote, so that a later run removes what it no longer
gives and leaves alone what somebody else put there. Hooks write before every job: nothing here
that is slow to import.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress

from sssjob import atomic
from sssjob import directory_handles as handles
from sssjob import directory_trees as trees
from sssjob.features import files, keys
from sssjob.features.files import LONGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.directory_handles import Place
    from sssjob.features.keys import Value

MANIFEST = ".sssjob"
_MANIFEST_LIMIT = 1 << 20
_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW


class WrittenKeys:
    """What a call did: the keys that now stand there, and those of an earlier run it removed."""

    __slots__ = ("directory", "keys", "removed")

    def __init__(self, directory: str, keys: tuple[str, ...], removed: tuple[str, ...]) -> None:
        self.directory, self.keys, self.removed = directory, keys, removed


def write(values: Mapping[str, Value], directory: Place) -> WrittenKeys:
    """Write one file a key, mode 0644, into a directory that is made with mode 0755 if need be.

    It may be an open one, by its handle. Nothing is touched if one of the names or values cannot
    be written: ``InvalidValue``. All new values are on disk before the first one is seen, so that
    a full disk (``OSError``) leaves a directory as it was, and makes none. Never does a directory
    have values of two calls that differ: a new one takes its place, or, where that cannot be
    (and for a handle), what changes goes before the first new value comes.
    """
    contents = {name: content(name, value) for name, value in values.items()}
    if isinstance(directory, int) or os.path.isdir(directory):
        with handles.opened(directory) as folder:
            may_go = not isinstance(directory, int)  # else its caller would hold what is gone
            return WrittenKeys(str(directory), tuple(contents), _replaced(folder, contents, may_go))
    parent, name = os.path.split(os.path.normpath(directory))
    try:
        with handles.opened(parent or ".") as above, trees.made(above, name) as folder:
            return WrittenKeys(str(directory), tuple(contents), _replaced(folder, contents, False))
    except OSError as error:
        error.filename, error.filename2 = str(directory), None
        raise


def _replaced(folder: int, contents: Mapping[str, bytes], may_go: bool) -> tuple[str, ...]:
    """Give a directory these contents and no others of ours; the names that went."""
    if may_go:
        trees.sweep_beside(folder)
    earlier = _manifest(folder)
    stale = tuple(sorted(earlier - contents.keys()))
    old = [*stale, *(name for name in contents if _differs(folder, name, contents[name]))]
    if may_go and old:
        try:
            with trees.replacing(folder, {MANIFEST, *earlier, *contents}) as new:
                atomic.put_all(new, {MANIFEST: _listing(contents), **contents})
            return stale
        except trees.Irreplaceable:
            pass
    # Before the first key: a run that is cut short must not leave keys that nobody owns.
    all_of_us = {MANIFEST: _listing({*earlier, *contents}), **contents}
    with atomic.AtomicFiles(folder, all_of_us) as new:
        new.appear(MANIFEST)
        _unlink(folder, old)
        for name in contents:
            new.appear(name)
    if stale:
        atomic.put(folder, MANIFEST, _listing(contents))
    os.fsync(folder)
    return stale


def _differs(folder: int, name: str, content: bytes) -> bool:
    """Whether a name leads to something else than this."""
    if not handles.is_there(folder, name):
        return False
    try:
        return files.content(folder, name) != content
    except (OSError, ValueError):
        return True


def _unlink(folder: int, names: Iterable[str]) -> None:
    for name in names:
        with suppress(FileNotFoundError, IsADirectoryError):
            os.unlink(name, dir_fd=folder)


def put(values: Mapping[str, Value], directory: Place) -> WrittenKeys:
    """Write some keys of a directory that stands, and leave the others as they are.

    Raises ``InvalidValue`` before anything is touched, or ``OSError``.
    """
    contents = {name: content(name, value) for name, value in values.items()}
    with naming(directory), handles.opened(directory) as folder:
        listing = _listing(_manifest(folder) | contents.keys())
        atomic.put_all(folder, {MANIFEST: listing, **contents})
        os.fsync(folder)
    return WrittenKeys(str(directory), tuple(contents), ())


def remove(names: Iterable[str], directory: Place) -> WrittenKeys:
    """Remove some keys of a directory, whoever wrote them, as far as they are there."""
    removed = []
    with naming(directory), handles.opened(directory) as folder:
        earlier = _manifest(folder)
        for name in names:
            if not keys.is_name(name):
                raise keys.invalid(name, "a key, which is letters, digits and underscores")
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
                removed.append(name)
        if earlier:
            atomic.put(folder, MANIFEST, _listing(earlier.difference(removed)))
        os.fsync(folder)
    return WrittenKeys(str(directory), (), tuple(removed))


@contextmanager
def naming(place: Place, *, is_deep: bool = False) -> Generator[None]:
    """Errors about single names below a handle tell the whole path, where it is known.

    Of files that ``is_deep``, in a directory of the place, they tell the place alone.
    """
    try:
        yield
    except OSError as error:
        name = error.filename
        if not isinstance(place, int) and not (isinstance(name, str) and os.path.isabs(name)):
            inner = isinstance(name, str) and os.path.basename(name) == name and not is_deep
            error.filename = os.path.join(place, name) if inner else str(place)
            error.filename2 = None
        raise


def content(name: str, value: Value) -> bytes:
    """The bytes of one file. Raises ``InvalidValue`` for what a reader would not take back."""
    if not keys.is_name(name):
        raise keys.invalid(name, "a key, which is letters, digits and underscores")
    text = keys.spell(value).strip()
    content = f"{text}\n".encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
    if not text or "\0" in text or len(content) > LONGEST:
        raise keys.invalid(text, f"a value for {name}: 1 to {LONGEST - 1} bytes without NUL")
    return content


def _manifest(folder: int) -> set[str]:
    """The keys that an earlier run wrote; what is no key in it is no business of ours."""

    def opened(name: str, flags: int) -> int:
        return os.open(name, flags | os.O_NONBLOCK | _OPEN, dir_fd=folder)

    try:
        with open(MANIFEST, "rb", opener=opened) as file:
            lines = file.read(_MANIFEST_LIMIT).decode("ascii", "replace").split("\n")
    except FileNotFoundError:
        return set()
    return {line for line in lines if keys.is_name(line)}


def _listing(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in sorted(names)).encode("ascii")
