"""Where a features directory is, and its files as texts; a fault in one leaves the others readable.

A payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

import os
import stat
from itertools import islice

from sssjob.features import keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sssjob.directory_handles import Place


LONGEST = 4096  # bytes of one value
MOST = 10_000  # files looked at in one directory
_LOOKS = 8  # times that a directory is read which is replaced meanwhile

UNLEARNED = ".unknown"  # lists the limits that whoever made the directory could not learn
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
LOCAL, REMOTE = "local", "remote"


class KeyFault:
    """What is wrong with one key: the code of a finding, the key ("" is all), and a sentence."""

    __slots__ = ("code", "message", "name")

    def __init__(self, code: str, name: str, message: str) -> None:
        self.code, self.name, self.message = code, name, message

    def __repr__(self) -> str:
        return f"<{self.code} {self.message}>"

    @property
    def is_unread(self) -> bool:
        """Whether the key is there, but no value could be made of it."""
        return self.code == "E-TYPE" and bool(self.name)

    @property
    def is_unlearned(self) -> bool:
        """Whether the key may limit the job, though whoever made the directory does not know it."""
        return self.code == "W-UNKNOWN" and bool(self.name)


def texts(
    directory: Place, only: Iterable[str] | None = None
) -> tuple[dict[str, str], list[KeyFault]]:
    """The stripped text of each key that is there, ``only`` some of them; empty files are absent.

    The directory may be an open one, by its handle.
    Reads through no symbolic link that leaves the directory, and opens regular files only.
    Raises ``OSError`` if the directory itself cannot be read.
    """
    names = None if only is None else tuple(only)
    for look in range(_LOOKS):
        if isinstance(directory, int):
            folder = os.open(".", _FOLDER, dir_fd=directory)
        else:
            folder = os.open(directory, _FOLDER)
        try:
            found = _texts(folder, names)
            # Where another directory has taken its place, what was read may be a part of the old.
            if look == _LOOKS - 1 or isinstance(directory, int) or _is_still(folder, directory):
                break
        finally:
            os.close(folder)
    return found


def _texts(folder: int, only: Iterable[str] | None) -> tuple[dict[str, str], list[KeyFault]]:
    found: dict[str, str] = {}
    faults: list[KeyFault] = []
    for name in _names(folder, faults) if only is None else only:
        try:
            text = content(folder, name).decode().strip()
        except FileNotFoundError:
            if only is None:  # it was there a moment ago
                faults.append(unread(name, os.strerror(2)))
            continue
        except OSError as error:
            faults.append(unread(name, error.strerror or str(error)))
            continue
        except UnicodeDecodeError as error:
            faults.append(unread(name, f"UTF-8: byte {error.start + 1} is not"))
            continue
        except ValueError as error:
            faults.append(unread(name, str(error)))
            continue
        if "\0" in text:
            faults.append(unread(name, "it holds a NUL"))
        elif text:
            found[name] = text
    return found, faults


def _is_still(folder: int, directory: str | os.PathLike[str]) -> bool:
    """Whether a path leads to an open directory, or to nothing any more."""
    try:
        return os.path.samestat(os.fstat(folder), os.stat(directory))
    except FileNotFoundError:
        return True


def content(folder: int, name: str) -> bytes:
    """The bytes of one key of an open directory. Raises ``InvalidValue`` or ``OSError``."""
    return held(folder, name)[0]


def held(folder: int, name: str) -> tuple[bytes, os.stat_result]:
    """The bytes of one key, and what the file system says of them; raises as ``content`` does."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        name = os.readlink(name, dir_fd=folder)
        if "/" in name or name in ("", ".", ".."):
            raise keys.invalid(name, "a link that stays in the directory")
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:  # the key is there, and nobody knows what it says
            raise keys.invalid(name, "a link to a file that is there") from None
    if not stat.S_ISREG(status.st_mode):
        raise keys.invalid(name, "a regular file")
    # Between stat and open the name may become something else: O_NONBLOCK and O_NOFOLLOW.
    handle = os.open(name, _OPEN, dir_fd=folder)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise keys.invalid(name, "a regular file")
        octets = os.read(handle, LONGEST + 1)
    finally:
        os.close(handle)
    if len(octets) > LONGEST:
        raise keys.invalid(name, f"a value of at most {LONGEST} bytes")
    return octets, status


def unread(name: str, reason: str) -> KeyFault:
    """The fault of a key that cannot be read."""
    return KeyFault("E-TYPE", name, f"{name} is not read: {reason}")


def _names(folder: int, faults: list[KeyFault]) -> list[str]:
    """The names that can be keys: README and hidden files are none."""
    with os.scandir(folder) as entries:
        found = [entry.name for entry in islice(entries, MOST + 1)]
    if len(found) > MOST:
        message = f"more than {MOST} files in the directory; the rest is not read"
        faults.append(KeyFault("E-LIMIT", "", message))
    if UNLEARNED in found:
        faults += map(_unlearned, unlearned(folder))
    return sorted(name for name in found[:MOST] if keys.is_found(name))


_OF_TIME = ("cpu_limit_secs", "wall_limit_secs")  # what such a note is about


def unlearned(folder: int) -> list[str]:
    """The limits of which nobody learned what they are, as a prolog noted them. # decision 657"""
    try:
        lines = content(folder, UNLEARNED).decode("ascii", "replace").split()
    except FileNotFoundError:  # there is no such note
        return []
    except (OSError, ValueError):  # there is one, and nobody knows what it says
        lines = []
    names = list(filter(keys.is_name, lines))
    is_read = bool(lines) and names == lines
    return names if is_read else list(dict.fromkeys((*names, *_OF_TIME)))


def _unlearned(name: str) -> KeyFault:
    message = f"{name} of the batch system is not known: it did not say it when the job started"
    return KeyFault("W-UNKNOWN", name, message)


class Location:
    """A directory by its path, or by its URL; ``advice`` says what was tolerated in it."""

    __slots__ = ("advice", "kind", "place")

    def __init__(self, kind: str, place: str, advice: str = "") -> None:
        self.kind, self.place, self.advice = kind, place, advice

    def __repr__(self) -> str:
        return f"<{self.kind} {self.place}>"


def locate(text: str) -> Location:
    """What a variable or an argument names. Raises ``InvalidValue``.

    "The user positively determines whether the files are to be opened locally or over HTTP(S) by
    checking for a leading slash or the prefix http:// or https://". One trailing slash is
    tolerated, and so are a relative path and ``file:///``, with advice. # decision 72
    """
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    if separator and scheme in ("http", "https"):
        return Location(REMOTE, f"{scheme}://{rest.removesuffix('/')}")
    if separator and scheme == "file" and rest.startswith("/"):
        return Location(LOCAL, _path(rest), f"{text} names a local directory: write {rest}")
    if not text or "\0" in text or (separator and scheme.isalnum()):
        from sssjob.errors import InvalidValue

        raise InvalidValue(text, "a directory, or an address that begins with http:// or https://")
    advice = "" if text.startswith("/") else f"{text} does not begin with a slash"
    return Location(LOCAL, _path(text), advice)


def _path(text: str) -> str:
    return text.removesuffix("/") or "/"
