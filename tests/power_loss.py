"""A loss of power as a model: what a program writes is recorded, and may be lost or come late.

Strategy. A disk keeps what was forced to it. Of all else it may keep any part, in any order, and a
test cannot pull a plug.

The idea is to record the system calls of a program (strace), and to hold every change of a file or
a directory until that very file or directory is forced to disk. At each call the power may go: then
there is what was forced, and of the rest nothing, all, the first ones, all but one, or one alone,
and half of what was written last. What the program had told by then has to be there.

Why it is right: no file system promises less than that, and a change that needs another one, such
as a new name for what has none yet, cannot come without it.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CALLS = (
    "openat,open,creat,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,"
    "link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fallocate,pwritev,writev,sendfile,copy_file_range"
)
_LINE = re.compile(r"(\w+)\((.*)\) += (-?\d+)(?:<(.*?)>(?:\(deleted\))?)?(?: .*)?")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_WORD = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
_HANDLE = re.compile(r"(-?\d+|AT_FDCWD)<(.*?)>(?:\(deleted\))?(?=, |$)")
_OWN = re.compile(r"/proc/self/fd/(\d+)")


class Change(NamedTuple):
    """One change, of ``keepers``: files and directories of which one forced to disk keeps it."""

    keepers: tuple[int, ...]
    name: str
    words: tuple = ()


class Disk:
    """Files and directories by numbers; 0 is the directory in which all happens."""

    def __init__(self):
        self.nodes = {0: {}}
        self.next = 1

    def copy(self):
        other = Disk()
        other.next = self.next
        other.nodes = {
            key: dict(node) if isinstance(node, dict) else bytearray(node)
            for key, node in self.nodes.items()
        }
        return other

    def make(self, node):
        self.nodes[self.next] = node
        self.next += 1
        return self.next - 1

    def load(self, path, folder=0):
        for each in sorted(path.iterdir()):
            number = self.make({} if each.is_dir() else bytearray(each.read_bytes()))
            self.nodes[folder][each.name] = number
            if each.is_dir():
                self.load(each, number)

    def save(self, path, folder=0):
        for name, number in self.nodes[folder].items():
            node = self.nodes[number]
            if isinstance(node, dict):
                (path / name).mkdir()
                self.save(path / name, number)
            else:
                (path / name).write_bytes(node)

    def apply(self, change):
        """Do what a change does, as far as what it needs is there."""
        getattr(self, f"_{change.name}")(*change.words)

    def _write(self, number, offset, data):
        node = self.nodes.setdefault(number, bytearray())
        node.extend(bytes(max(0, offset - len(node))))
        node[offset : offset + len(data)] = data

    def _cut(self, number, size):
        node = self.nodes.setdefault(number, bytearray())
        del node[size:]
        node.extend(bytes(size - len(node)))

    def _name(self, folder, name, number, is_folder):
        self.nodes.setdefault(folder, {})[name] = number
        self.nodes.setdefault(number, {} if is_folder else bytearray())

    def _lose(self, folder, name):
        self.nodes.get(folder, {}).pop(name, None)

    def _move(self, one, name, other, new):
        if name in self.nodes.get(one, {}):
            self.nodes[other][new] = self.nodes[one].pop(name)

    def _swap(self, one, name, other, new):
        here, there = self.nodes.get(one, {}), self.nodes.get(other, {})
        if name in here and new in there:
            here[name], there[new] = there[new], here[name]


class Recorded:
    """What a program did below a directory: changes, what was forced, and what was told."""

    def __init__(self, base):
        self.base = f"{base}"
        self.first = Disk()
        self.first.load(base)
        self.live = self.first.copy()
        self.events = []  # changes, numbers of what was forced, and texts that were told
        self.handles = {}  # path by number
        self.unnamed = {}  # node by path
        self.places = {}  # offset by handle

    def run(self, code):
        """Run a program of Python, and read what it did."""
        log = Path(f"{self.base}.log")
        words = ["strace", "-f", "-y", "-xx", "-s", "10000000", "-e", f"trace={CALLS}", "-o", log]
        done = subprocess.run(
            [*words, sys.executable, "-c", code], cwd=self.base, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        begun = {}  # by the number of a thread: calls that others came between
        for line in log.read_text("ascii").splitlines():
            thread, _, line = line.partition(" ")
            if line.endswith(" <unfinished ...>"):
                begun[thread] = line.removesuffix(" <unfinished ...>")
                continue
            line = _RESUMED.sub(lambda _, thread=thread: begun.pop(thread), line.strip())
            found = _LINE.fullmatch(line)
            if found and int(found[3]) >= 0:
                self.call(found[1], found[2], int(found[3]), found[4] or "")
        return self

    def find(self, path):
        """The number of what has a path, and None for what is elsewhere or not there."""
        path = decoded(path)
        if path in self.unnamed:
            return self.unnamed[path]
        if path != self.base and not path.startswith(f"{self.base}/"):
            return None
        number = 0
        for name in Path(path).relative_to(self.base).parts:
            node = self.live.nodes[number]
            if not isinstance(node, dict) or name not in node:
                return None
            number = node[name]
        return number

    def place(self, handle, name):
        """The directory and the name of a path that a call was given; None for one elsewhere."""
        whole = Path(decoded(handle)) / decoded(name)
        folder = self.find(f"{whole.parent}")
        return None if folder is None else (folder, whole.name)

    def change(self, keepers, name, *words):
        change = Change(tuple(keepers), name, words)
        self.live.apply(change)
        self.events.append(change)

    def call(self, name, words, result, path):
        kind = name.removesuffix("64").removesuffix("at").removesuffix("at2")
        names = [each[1] for each in _WORD.finditer(words)]
        handles = _HANDLE.findall(_WORD.sub("", words))
        method = getattr(self, f"on_{kind}", None)
        if method is not None:
            method(words, names, [each[1] for each in handles], result, path)
        elif handles and self.find(handles[0][1]) is not None:
            raise AssertionError(f"{name} is not part of the model")

    def on_open(self, words, names, handles, result, path):
        self.handles[result], self.places[result] = path, 0
        if "O_TMPFILE" in words:
            if self.find(decoded(path).rpartition("/")[0]) is not None:
                self.unnamed[decoded(path)] = self.live.make(bytearray())
            return
        found = self.find(path)
        if "O_CREAT" in words and found is None:
            if (where := self.place(path, "")) is not None:
                number = self.live.make(bytearray())
                self.change([where[0]], "name", *where, number, False)
        elif "O_TRUNC" in words and found is not None:
            self.change([found], "cut", found, 0)

    def on_write(self, words, names, handles, result, path):
        handle = int(words.partition("<")[0])
        if handle == 1:
            self.events.append(decoded(names[0]))
        elif (number := self.find(handles[0])) is not None:
            place = self.places.get(handle, 0)
            self.change([number], "write", number, place, plain(names[0])[:result])
            self.places[handle] = place + result

    def on_pwrite(self, words, names, handles, result, path):
        if (number := self.find(handles[0])) is not None:
            offset = int(words.rpartition(", ")[2])
            self.change([number], "write", number, offset, plain(names[0])[:result])

    def on_ftruncate(self, words, names, handles, result, path):
        if (number := self.find(handles[0])) is not None:
            self.change([number], "cut", number, int(words.rpartition(", ")[2]))

    def on_fsync(self, words, names, handles, result, path):
        if (number := self.find(handles[0])) is not None:
            self.events.append(number)

    on_fdatasync = on_fsync

    def on_mkdir(self, words, names, handles, result, path):
        where = self.place(handles[0] if handles else self.base, names[0])
        if where is not None:
            self.change([where[0]], "name", *where, self.live.make({}), True)

    def on_unlink(self, words, names, handles, result, path):
        where = self.place(handles[0] if handles else self.base, names[0])
        if where is not None:
            self.change([where[0]], "lose", *where)

    on_rmdir = on_unlink

    def on_link(self, words, names, handles, result, path):
        own = _OWN.fullmatch(decoded(names[0]))
        old = (
            self.handles[int(own[1])] if own else f"{Path(decoded(handles[0]), decoded(names[0]))}"
        )
        number, where = self.find(old), self.place(handles[-1], names[1])
        if number is not None and where is not None:
            self.change([where[0]], "name", *where, number, False)

    def on_rename(self, words, names, handles, result, path):
        one, other = handles or (self.base, self.base)
        first, second = self.place(one, names[0]), self.place(other, names[1])
        if first is not None and second is not None:
            kind = "swap" if "RENAME_EXCHANGE" in words else "move"
            self.change([second[0]], kind, *first, *second)

    def losses(self) -> Iterator[tuple[str, Disk]]:
        """What had been told when the power went, and what is there then, for each such moment."""
        told, sure, open_ = "", self.first.copy(), []
        for event in [*self.events, ""]:
            if isinstance(event, str):
                for disk in remains(sure, open_):
                    yield told, disk
                told += event
            elif isinstance(event, int):
                for disk in remains(sure, open_):
                    yield told, disk
                for change in open_:
                    if event in change.keepers:
                        sure.apply(change)
                open_ = [change for change in open_ if event not in change.keepers]
            else:
                open_.append(event)


def remains(sure, open_):
    """What may be there of changes that were not forced to disk."""
    every = range(len(open_))
    choices = {(), tuple(every)}
    choices |= {(each,) for each in every}
    choices |= {tuple(each for each in every if each != left) for left in every}
    choices |= {tuple(range(number)) for number in every}
    for choice in sorted(choices):
        disk = sure.copy()
        for place in choice:
            disk.apply(open_[place])
        yield disk
        if choice and open_[choice[-1]].name == "write":
            disk = sure.copy()
            for place in choice[:-1]:
                disk.apply(open_[place])
            number, offset, data = open_[choice[-1]].words
            disk.apply(Change((), "write", (number, offset, data[: len(data) // 2])))
            yield disk


def plain(text):
    """The bytes of a text as strace shows it with -xx."""
    return bytes.fromhex(text.replace("\\x", ""))


def decoded(text):
    """A path as it is; strace shows those of handles and of arguments with -xx."""
    return plain(text).decode() if text.startswith("\\x") else text
