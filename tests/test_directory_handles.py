"""Directories by handle: nobody leads root elsewhere, and what users leave is removed."""

import os
import stat
import subprocess
import sys

import pytest

from sssjob import atomic
from sssjob import directory_handles as handles
from sssjob import directory_trees as trees
from sssjob.errors import Unprotected

STRANGER = 4242  # of no account


@pytest.fixture
def root():
    """Only root can give a directory to somebody else."""
    if os.geteuid() != 0:
        pytest.skip("directories of others are made by root")


@pytest.fixture
def folder(tmp_path):
    handle = os.open(tmp_path, os.O_RDONLY)
    yield handle
    os.close(handle)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def hold(path, **options):
    with handles.protected(path, **options) as handle:
        return os.fstat(handle).st_ino


# Programs that root runs


def test_programs_that_others_can_exchange_are_told(safe_path):
    (safe_path / "bin").mkdir(0o755)
    (safe_path / "now").symlink_to("bin")
    for place in ("bin", "now", "none"):
        assert handles.fault(safe_path / place, links=True) == ""
    assert handles.fault("/usr/bin", links=True) == ""
    (safe_path / "bin").chmod(0o775)
    for place in ("bin", "now"):  # what a link leads to counts
        assert handles.fault(safe_path / place, links=True) == (
            f"{safe_path}/bin can be written by others (mode 0775)"
        )


def test_programs_of_another_user_are_told(root, safe_path):
    (safe_path / "bin").mkdir()
    os.chown(safe_path / "bin", STRANGER, -1)
    assert "belongs to the user 4242" in handles.fault(safe_path / "bin", links=True)


# A protected directory


def test_a_directory_that_only_root_and_this_user_can_change_is_held(safe_path):
    assert hold(safe_path) == safe_path.stat().st_ino
    assert hold("/") == os.stat("/").st_ino


@pytest.mark.parametrize("mask", [0o077, 0o000])
def test_what_is_missing_is_made_for_all_to_read_whatever_the_umask(safe_path, mask):
    before = os.umask(mask)
    try:
        hold(safe_path / "a/b", make=True)
    finally:
        os.umask(before)
    assert [mode(safe_path / name) for name in ("a", "a/b")] == [0o755, 0o755]


def test_a_directory_that_is_there_keeps_its_mode(safe_path):
    (safe_path / "a").mkdir(0o700)
    hold(safe_path / "a/b", make=True)
    assert mode(safe_path / "a") == 0o700


def test_without_being_told_nothing_is_made(safe_path):
    with pytest.raises(FileNotFoundError) as caught:
        hold(safe_path / "a/b")
    assert caught.value.filename == str(safe_path / "a")
    handles.check(safe_path / "a/b")


@pytest.mark.parametrize("bits", [0o757, 0o775, 0o777])
@pytest.mark.parametrize("below", ["", "in", "in/it"])
def test_a_directory_that_others_can_write_is_refused_on_the_way_and_at_the_end(
    safe_path, bits, below
):
    (safe_path / "open").mkdir()
    (safe_path / "open").chmod(bits)
    with pytest.raises(Unprotected, match=rf"open can be written by others \(mode 0{bits:o}\)"):
        hold(safe_path / "open" / below, make=True)
    with pytest.raises(Unprotected, match="/run/mjf"):
        handles.check(safe_path / "open" / below)
    assert os.listdir(safe_path / "open") == []


@pytest.mark.parametrize("target", ["there", "/", "nowhere"])
@pytest.mark.parametrize("below", ["", "in"])
def test_a_link_is_refused_wherever_it_leads(safe_path, target, below):
    (safe_path / "there").mkdir()
    (safe_path / "link").symlink_to(target)
    with pytest.raises(Unprotected, match="link is a link"):
        hold(safe_path / "link" / below, make=True)
    with pytest.raises(Unprotected):
        handles.check(safe_path / "link" / below)
    assert os.listdir(safe_path / "there") == []


def test_a_file_on_the_way_is_told_by_its_path(safe_path):
    (safe_path / "file").write_text("")
    with pytest.raises(NotADirectoryError) as caught:
        hold(safe_path / "file/in", make=True)
    assert caught.value.filename == str(safe_path / "file")


def test_root_refuses_what_belongs_to_somebody_else(root, safe_path):
    (safe_path / "theirs").mkdir()
    os.chown(safe_path / "theirs", STRANGER, -1)
    with pytest.raises(Unprotected, match=f"theirs belongs to the user {STRANGER}"):
        hold(safe_path / "theirs/in", make=True)


def test_root_refuses_a_sticky_directory_where_a_user_has_his_own_below_it(
    root, safe_path, monkeypatch
):
    (safe_path / "tmp").mkdir()
    (safe_path / "tmp").chmod(0o1777)
    with pytest.raises(Unprotected, match=r"tmp can be written by others \(mode 1777\)"):
        hold(safe_path / "tmp/mine", make=True)
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    with pytest.raises(Unprotected, match="tmp can be written"):
        hold(safe_path / "tmp")
    (safe_path / "tmp/mine").mkdir()
    os.chown(safe_path / "tmp/mine", STRANGER, -1)
    assert hold(safe_path / "tmp/mine") == (safe_path / "tmp/mine").stat().st_ino


def test_a_directory_that_is_exchanged_later_is_still_the_one_that_was_judged(safe_path):
    (safe_path / "a").mkdir()
    with handles.protected(safe_path / "a") as handle:
        (safe_path / "a").rename(safe_path / "b")
        (safe_path / "a").symlink_to("/")
        os.mkdir("here", dir_fd=handle)
    assert os.listdir(safe_path / "b") == ["here"]


# A directory that a caller named


def test_a_callers_links_are_followed_and_for_root_only_those_of_root(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "far").symlink_to(tmp_path / "link")
    for name in ("there", "link", "far", "link/../link", "./there/"):
        with handles.opened(tmp_path / name) as handle:
            assert os.fstat(handle).st_ino == (tmp_path / "there").stat().st_ino
    if os.geteuid() == 0:
        os.chown(tmp_path / "link", STRANGER, -1, follow_symlinks=False)
        for name in ("link", "far"):
            with (
                pytest.raises(Unprotected, match="link is a link of the user"),
                handles.opened(tmp_path / name),
            ):
                pass


def test_links_in_a_circle_end(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels"), handles.opened(tmp_path / "a"):
        pass


# A directory that appears whole


def test_a_new_directory_has_its_name_when_it_is_ready(folder, tmp_path):
    before = os.umask(0o077)
    try:
        with trees.made(folder, "job") as handle:
            assert not (tmp_path / "job").exists()
            os.close(os.open("key", os.O_CREAT, 0o644, dir_fd=handle))
    finally:
        os.umask(before)
    assert os.listdir(tmp_path) == ["job"]
    assert (os.listdir(tmp_path / "job"), mode(tmp_path / "job")) == (["key"], 0o755)


def test_a_new_directory_that_is_not_ready_is_none(folder, tmp_path):
    def fill():
        with trees.made(folder, "job") as handle, trees.made(handle, "inner"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill()
    assert os.listdir(tmp_path) == []


def test_a_sweep_takes_only_what_nobody_makes_any_more(folder, tmp_path):
    names = [".sssjob-0000abcd-0", ".sssjob-0000abcd-12ab", ".job.0123456789abcdef"]
    others = [".sssjob-x-0", ".sssjob-0000abcd", ".sssjob-0000abcd-", "job", ".hidden"]
    for name in (*names, *others):
        (tmp_path / name / "in").mkdir(parents=True)
    with trees.made(folder, "new") as handle:
        alive = os.path.basename(os.readlink(f"/proc/self/fd/{handle}"))
        assert trees.sweep(folder, dry_run=True) == tuple(sorted(names))
        assert trees.sweep(folder) == tuple(sorted(names))
        assert sorted(os.listdir(tmp_path)) == sorted([*others, alive])


def test_a_sweep_that_is_slow_takes_nothing_of_who_has_the_name_now(folder, tmp_path, monkeypatch):
    """It opened a directory that had its own name then, and the next one is made hidden so."""
    (tmp_path / "taken").mkdir()
    first = trees.made(folder, "job")
    first.__enter__()
    hidden = os.listdir(tmp_path)
    genuine, second = atomic.lock, []

    def late(handle):
        monkeypatch.setattr(atomic, "lock", genuine)
        first.__exit__(None, None, None)
        os.rename(tmp_path / "job", tmp_path / "done")
        second.append(trees.made(folder, "job"))
        second[0].__enter__()
        return genuine(handle)

    monkeypatch.setattr(atomic, "lock", late)
    assert trees.sweep(folder) == ()
    assert set(hidden) - {"taken"} <= set(os.listdir(tmp_path))
    second[0].__exit__(None, None, None)
    assert sorted(os.listdir(tmp_path)) == ["done", "job", "taken"]


@pytest.mark.parametrize("taken", ["directory", "full", "file", "link"])
def test_a_name_that_is_taken_is_not_taken_away(folder, tmp_path, taken):
    place = tmp_path / "job"
    if taken == "link":
        place.symlink_to("nowhere")
    elif taken == "file":
        place.write_text("")
    else:
        place.mkdir()
    if taken == "full":
        (place / "key").write_text("")
    with pytest.raises(FileExistsError), trees.made(folder, "job"):
        pass
    assert os.listdir(tmp_path) == ["job"]


def test_a_directory_that_may_be_there_is_kept_and_a_link_is_not_followed(folder, tmp_path):
    for _ in range(2):
        with handles.kept(folder, "a", 0o750):
            assert mode(tmp_path / "a") == 0o750
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(OSError), handles.kept(folder, "link", 0o777):  # noqa: PT011
        pass
    assert mode(tmp_path / "a") == 0o750


# Trees that users leave


@pytest.fixture
def precious(tmp_path_factory):
    """What nothing may touch."""
    place = tmp_path_factory.mktemp("precious")
    (place / "file").write_text("x")
    return place


def test_a_tree_goes_with_everything_and_nothing_else(folder, tmp_path, precious):
    tree = tmp_path / "tree"
    for name in ("a/b/c", "a/d", "e"):
        (tree / name).mkdir(parents=True)
    (tree / "file").write_text("x")
    (tree / "a/-rf *\n").write_text("x")
    os.mkfifo(tree / "a/b/fifo")
    (tree / "link").symlink_to(precious)
    (tree / "a/b/link").symlink_to(precious)
    (tree / "a/b/c/up").symlink_to("../../../..")
    (tree / "a/sealed").mkdir(0o000)
    assert trees.remove_tree(folder, "tree")
    assert os.listdir(tmp_path) == []
    assert os.listdir(precious) == ["file"]
    assert not trees.remove_tree(folder, "tree")


def test_what_is_being_removed_is_no_leftover_to_others(folder, tmp_path, monkeypatch):
    (tmp_path / "tree").mkdir()
    emptied, swept = trees._empty, []

    def at_that_moment(top, named, most):
        swept.append(trees.sweep(folder))
        emptied(top, named, most)

    monkeypatch.setattr(trees, "_empty", at_that_moment)
    assert trees.remove_tree(folder, "tree")
    assert (swept, os.listdir(tmp_path)) == ([()], [])


def test_of_what_is_mounted_in_a_tree_only_the_mount_goes(root, folder, tmp_path, precious):
    (tmp_path / "tree/in").mkdir(parents=True)
    (tmp_path / "tree/in/beneath").mkdir()
    command = ["mount", "--bind", str(precious), str(tmp_path / "tree/in")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    assert trees.remove_tree(folder, "tree")
    assert os.listdir(tmp_path) == []
    assert os.listdir(precious) == ["file"]


@pytest.mark.parametrize("kind", ["link", "file", "fifo"])
def test_what_is_no_tree_is_unlinked(folder, tmp_path, precious, kind):
    place = tmp_path / "tree"
    make = {
        "link": lambda: place.symlink_to(precious),
        "file": lambda: place.write_text(""),
        "fifo": lambda: os.mkfifo(place),
    }
    make[kind]()
    assert trees.remove_tree(folder, "tree")
    assert os.listdir(tmp_path) == []
    assert os.listdir(precious) == ["file"]


def test_a_user_removes_what_he_may_not_read_himself(root, safe_path):
    safe_path.chmod(0o777)
    (safe_path / "tree/in/sealed").mkdir(parents=True)
    (safe_path / "tree/in/file").write_text("")
    for name, bits in (("tree", 0o755), ("tree/in", 0o500), ("tree/in/sealed", 0o000)):
        os.chown(safe_path / name, STRANGER, -1)
        (safe_path / name).chmod(bits)
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(STRANGER)
            trees.remove_tree(os.open(safe_path, os.O_RDONLY), "tree")
        finally:
            os._exit(len(os.listdir(safe_path)))
    assert os.waitpid(pid, 0)[1] == 0


def nested(place, depth):
    """Directories inside each other, deeper than any path is long."""
    handle = os.open(place, os.O_RDONLY)
    for number in range(depth):
        name = "d" * (1 + number % 200)
        os.mkdir(name, dir_fd=handle)
        below = os.open(name, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)


def test_three_thousand_nested_directories_go_without_depth(folder, tmp_path):
    (tmp_path / "tree").mkdir()
    nested(tmp_path / "tree", 3000)
    assert trees.remove_tree(folder, "tree")
    assert os.listdir(tmp_path) == []


def test_a_hundred_thousand_files_go_some_at_a_time(folder, tmp_path):
    (tmp_path / "tree/in").mkdir(parents=True)
    for place, count in (("tree", 30_000), ("tree/in", 70_000)):
        above = os.open(tmp_path / place, os.O_RDONLY)
        for number in range(count):
            os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY, dir_fd=above))
        os.close(above)
    assert trees.remove_tree(folder, "tree")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("place", ["tree", "tree/in", "tree/in/it"])
def test_a_tree_that_is_too_large_is_gone_from_its_name_and_told(folder, tmp_path, place):
    (tmp_path / "tree/in/it").mkdir(parents=True)
    for number in range(30):
        (tmp_path / place / str(number)).mkdir()
    with pytest.raises(OSError, match="more than 20 entries") as caught:
        trees.remove_tree(folder, "tree", most=20)
    assert os.listdir(tmp_path) == [caught.value.filename]
    assert trees.remove_tree(folder, caught.value.filename)
    assert os.listdir(tmp_path) == []


def test_a_tree_that_loses_its_name_on_the_way_is_no_fault(folder, tmp_path):
    assert not trees.remove_tree(folder, ".never.there")


# Blocks


@pytest.mark.parametrize("error", [KeyError("a"), StopIteration(1), GeneratorExit(), SystemExit(3)])
def test_a_block_raises_what_was_raised_in_it_and_leaves_nothing(folder, tmp_path, error):
    held = []

    def fail():
        with trees.made(folder, "new") as handle:
            held.append(handle)
            raise error

    with pytest.raises(type(error)) as raised:
        fail()
    assert raised.value is error
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(held[0])


def test_what_hooks_import_is_quick():
    program = (
        "import sys, sssjob.directory_handles;"
        "print({'contextlib', 'types', 'typing'} & {*sys.modules})"
    )
    said = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}"],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    assert said.stdout == "set()\n"
