"""Where the files of tests are."""

import os
from types import SimpleNamespace

import memory
import pytest

PAGES = memory.ROOM >> 12


@pytest.mark.parametrize(
    "pages, flags, available, suits",
    [
        (PAGES, 0, 2 * memory.ROOM, True),
        (PAGES, os.ST_NOSUID | os.ST_NODEV, 2 * memory.ROOM, True),
        (PAGES - 1, 0, 2 * memory.ROOM, False),  # a container has 64 MB
        (PAGES, 0, 2 * memory.ROOM - 2, False),  # half of the memory is for who runs there
        (PAGES, os.ST_NOEXEC, 2 * memory.ROOM, False),
        (PAGES, os.ST_RDONLY, 2 * memory.ROOM, False),
    ],
)
def test_tests_are_in_memory_where_it_has_room_and_programs_may_run(pages, flags, available, suits):
    found = SimpleNamespace(f_bavail=pages, f_frsize=1 << 12, f_flag=flags)
    assert memory.suits(found, available) is suits


@pytest.mark.parametrize("gone", ["/proc/mounts", "/proc/meminfo", "/dev/shm"])
def test_where_nothing_is_told_of_it_they_are_on_the_disk(monkeypatch, gone):
    def refused(path, *more, genuine):
        if str(path) == gone:
            raise FileNotFoundError(gone)
        return genuine(path, *more)

    for where, name in ((os, "statvfs"), (memory.Path, "read_text")):
        genuine = getattr(where, name)
        monkeypatch.setattr(
            where, name, lambda path, *more, genuine=genuine: refused(path, *more, genuine=genuine)
        )
    assert memory.place() is None
