"""What a caller named is written whole, or written into; and nothing is left beside it."""

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from forcing import forced
from kill_walks import contents, walked

from sssjob import atomic, outputs

COMMAND = Path(sys.executable).with_name("sssjob")
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")


def write(path, content=b"new", **options):
    with outputs.writing(path, **options) as stream:
        stream.write(content)


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    return path


@pytest.fixture(autouse=True, params=["no name", "a hidden name"])
def what_is_new_has(request, monkeypatch):
    """Every test, also as on a file system that has no files without a name."""
    if request.param == "a hidden name":
        monkeypatch.setattr(atomic, "_unnamed", lambda *_: -1)
    return request.param


class Stopped(BaseException):
    """What no handler of a program catches."""


def test_a_new_file_has_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "file")
    finally:
        os.umask(before)
    assert mode(tmp_path / "file") == 0o640
    assert names(tmp_path) == ["file"]


def test_nothing_is_seen_of_a_file_before_its_block_has_ended(old):
    with outputs.writing(old) as stream:
        stream.write(b"x" * 1_000_000)
        assert old.read_bytes() == b"old"
    assert old.read_bytes() == b"x" * 1_000_000


def test_a_file_that_is_replaced_keeps_its_mode(old):
    old.chmod(0o604)
    number = old.stat().st_ino
    write(old)
    assert (old.read_bytes(), mode(old)) == (b"new", 0o604)
    assert old.stat().st_ino != number


@is_root
def test_a_file_that_is_replaced_keeps_its_owner(old):
    os.chown(old, 1234, 5678)
    write(old)
    assert (old.stat().st_uid, old.stat().st_gid) == (1234, 5678)


@is_root
def test_a_file_whose_owner_cannot_be_kept_is_left_alone(old, monkeypatch):
    os.chown(old, 1234, 5678)

    def refused(*arguments):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refused)
    with pytest.raises(OSError, match="another user's") as raised:
        write(old)
    assert raised.value.filename == str(old)
    assert (names(old.parent), old.read_bytes()) == (["file"], b"old")


def test_a_file_that_may_not_be_written_is_not_replaced_either(old, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *arguments, **options: False)
    with pytest.raises(PermissionError):
        write(old)
    assert old.read_bytes() == b"old"


STORE = b"SQLite format 3\0" + bytes(52) + b"SSSB" + b" and jobs"


@pytest.mark.parametrize("follow", [True, False])
def test_a_store_is_not_written_over(old, follow):
    old.write_bytes(STORE)
    with pytest.raises(OSError, match="is a store") as refused:
        write(old, follow=follow)
    assert refused.value.filename == str(old)
    assert old.read_bytes() == STORE
    assert names(old.parent) == [old.name]


def test_a_link_to_a_store_is_none_to_write_over(old, tmp_path):
    old.write_bytes(STORE)
    link = tmp_path / "link"
    link.symlink_to(old)
    with pytest.raises(OSError, match="is a store"):
        write(link)
    assert old.read_bytes() == STORE


def test_a_database_of_another_program_is_a_file_like_others(old):
    old.write_bytes(STORE.replace(b"SSSB", bytes(4)))
    write(old)
    assert old.read_bytes() == b"new"


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, Stopped])
def test_whatever_ends_the_block_early_leaves_the_old_file_and_nothing_else(old, raised):
    def interrupted():
        with outputs.writing(old) as stream:
            stream.write(b"new" * 100_000)
            raise raised

    with pytest.raises(raised):
        interrupted()
    assert (names(old.parent), old.read_bytes()) == (["file"], b"old")


def test_a_block_can_leave_its_file_unchanged(old):
    with outputs.writing(old) as stream:
        stream.write(b"new")
        raise outputs.Unchanged
    assert (names(old.parent), old.read_bytes()) == (["file"], b"old")


def test_a_stream_that_is_dropped_before_its_end_leaves_nothing(old):
    whole = outputs.writing(old)
    whole.__enter__().write(b"new")
    del whole  # as a second Ctrl-C does between a block and its end
    assert (names(old.parent), old.read_bytes()) == (["file"], b"old")


def test_a_link_is_followed_and_stays(old, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "first").symlink_to("there/second")
    (tmp_path / "there" / "second").symlink_to("../file")
    write(tmp_path / "first")
    assert old.read_bytes() == b"new"
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "there" / "second").is_symlink()


def test_a_link_to_what_is_not_there_yet_makes_it(tmp_path):
    (tmp_path / "link").symlink_to("file")
    write(tmp_path / "link")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


def test_links_in_a_circle_are_an_error_that_names_the_first(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links") as raised:
        write(tmp_path / "a")
    assert raised.value.filename == str(tmp_path / "a")


def test_a_fifo_is_written_into(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(fifo)
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert names(tmp_path) == ["fifo"]


@is_root
@pytest.mark.parametrize("through", ["null", "link"])
def test_a_device_is_written_into(tmp_path, through):
    try:
        os.mknod(tmp_path / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    (tmp_path / "link").symlink_to("null")
    write(tmp_path / through)
    assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)
    assert names(tmp_path) == ["link", "null"]


@pytest.mark.parametrize("path", ["/proc/self/fd/{}", "/dev/fd/{}", "link"])
def test_a_descriptor_of_ours_is_written_on_where_it_stands(tmp_path, path):
    with open(tmp_path / "file", "wb") as file:
        file.write(b"before ")
        file.flush()
        (tmp_path / "link").symlink_to(f"/dev/fd/{file.fileno()}")
        write(tmp_path / path.format(file.fileno()))
        file.write(b" after")
    assert (tmp_path / "file").read_bytes() == b"before new after"


def test_a_descriptor_of_another_process_is_written_into(tmp_path):
    (tmp_path / "file").write_bytes(b"old ")
    with (
        open(tmp_path / "file", "ab") as file,
        subprocess.Popen(["cat"], stdin=-1, stdout=file) as cat,
    ):
        write(f"/proc/{cat.pid}/fd/1")
        cat.communicate(b" more")
    assert (tmp_path / "file").read_bytes() == b"old new more"


def test_an_error_names_what_the_caller_named(full):
    for path, said in [
        (str(full), "No space left"), ("/nowhere/file", "No such file"),
        ("/proc/self/fd/987654", "Bad file"), ("/dev/null/", "Not a directory"),
        ("/", "Is a directory"), ("", "Is a directory"),
    ]:  # fmt: skip
        with pytest.raises(OSError, match=said) as raised:
            write(path)
        assert (raised.value.filename, raised.value.filename2) == (path, None)


@pytest.mark.parametrize("call", ["open", "fsync", "rename"])
def test_an_error_never_names_the_hidden_file(old, monkeypatch, call):
    genuine = getattr(os, call)

    def failing(path, *arguments, **options):
        if call != "open" or arguments[0] & os.O_WRONLY:
            raise OSError(28, "No space left on device", path)
        return genuine(path, *arguments, **options)

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(OSError, match="No space left") as raised:
        write(old)
    monkeypatch.undo()
    assert (raised.value.filename, raised.value.filename2) == (str(old), None)
    assert (names(old.parent), old.read_bytes()) == (["file"], b"old")


@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_what_no_caller_typed_is_written_to_regular_files_only(old, tmp_path, kind):
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="no regular file"):
        write(tmp_path / kind, follow=False)
    assert old.read_bytes() == b"old"
    write(old, follow=False)
    write(tmp_path / "more", follow=False)
    assert (old.read_bytes(), (tmp_path / "more").read_bytes()) == (b"new", b"new")


@is_root
@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_a_stranger_left_in_a_directory_of_all_is_not_touched(tmp_path, kind):
    everybodys = tmp_path / "tmp"
    everybodys.mkdir()
    everybodys.chmod(0o1777)
    (tmp_path / "precious").write_bytes(b"old")
    if kind == "link":
        (everybodys / "planted").symlink_to(tmp_path / "precious")
    else:
        (everybodys / "planted").touch()
    os.chown(everybodys / "planted", 1234, 1234, follow_symlinks=False)
    with pytest.raises(PermissionError, match="another user put it there"):
        write(everybodys / "planted")
    assert (tmp_path / "precious").read_bytes() == b"old"
    os.chown(everybodys / "planted", os.geteuid(), -1, follow_symlinks=False)
    write(everybodys / "planted")
    assert (everybodys / "planted").read_bytes() == b"new"


def test_long_names_can_be_written(tmp_path):
    name = "ü" * 127  # in bytes, as long as a name can be
    write(tmp_path / name)
    write(tmp_path / name, b"newer")
    assert names(tmp_path) == [name]


HEADER = b"JobID|JobName|State\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_a_command_and_leaves_nothing_behind(tmp_path, number):
    target = tmp_path / "jobs.sss"
    target.write_bytes(b"old")
    words = [COMMAND, "convert", "--from", "slurm", "-o", target, "-"]
    # A shell's background job, or nohup, has signals ignored: not in this command.
    usual = {each: signal.SIG_DFL for each in (signal.SIGHUP, signal.SIGTERM)}
    usual[signal.SIGINT] = signal.default_int_handler
    before = {each: signal.signal(each, handler) for each, handler in usual.items()}
    try:
        process = subprocess.Popen(words, stdin=-1, stderr=-1)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    with process:
        # More than a pipe holds: once it is written, the command is at work.
        process.stdin.write(HEADER + b"1|a|COMPLETED\n" * 100_000)
        process.stdin.flush()
        process.send_signal(number)
        _, said = process.communicate()
    assert process.returncode == -number, said
    assert b"Traceback" not in said
    assert (names(tmp_path), target.read_bytes()) == (["jobs.sss"], b"old")


def test_dev_stdout_is_what_stdout_is(tmp_path):
    (tmp_path / "sacct.txt").write_bytes(HEADER + b"1|a|COMPLETED\n")
    words = f"{COMMAND} convert --from slurm -o /dev/stdout sacct.txt"
    for redirection in (">", ">>"):
        subprocess.run(
            ["sh", "-c", f"(echo head; {words}; echo tail) {redirection} out"],
            cwd=tmp_path, check=True, capture_output=True,
        )  # fmt: skip
        first, document, last = (tmp_path / "out").read_text().splitlines()
        assert (first, document[:9], last) == ("head", "<Job><Id>", "tail")
        (tmp_path / "out").write_bytes(b"")


def test_a_process_that_is_killed_at_any_moment_leaves_nothing_that_stays(
    tmp_path, what_is_new_has
):
    walked("one_file", str(tmp_path), what_is_new_has == "no name")


def test_who_writes_at_the_same_time_is_let_alone(old, tmp_path):
    with outputs.writing(old) as first, outputs.writing(old) as second:
        first.write(b"first")
        second.write(b"second")
    assert contents(tmp_path) == {"file": b"first"}


def test_what_has_the_name_of_a_leftover_and_is_none_stays(old, tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "_unnamed", lambda *_: -1)
    with outputs.writing(old):
        [hidden] = {*names(tmp_path)} - {"file"}
    (tmp_path / hidden).mkdir()
    (tmp_path / hidden.replace("-0", "-1")).symlink_to("file")
    write(old)
    assert names(tmp_path) == [hidden, hidden.replace("-0", "-1"), "file"]
    assert old.read_bytes() == b"new"


def test_the_name_is_forced_to_disk_with_the_file(old, monkeypatch):
    synced = forced(monkeypatch)
    write(old)
    assert synced == [stat.S_IFREG, stat.S_IFDIR]


@pytest.mark.parametrize("count", [1, 2, 200])
def test_many_files_are_forced_to_disk_before_they_appear_and_their_directory_once(
    tmp_path, monkeypatch, count
):
    synced = forced(monkeypatch)
    before = {f"f{number}": b"old" for number in range(0, count, 3)}
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    with outputs.Many() as files:
        for number in range(count):
            files.put(tmp_path / f"f{number}", b"%d" % number)
    assert synced == [stat.S_IFREG] * count + [stat.S_IFDIR]
    assert contents(tmp_path) == {f"f{number}": b"%d" % number for number in range(count)}


def test_many_files_are_written_as_one_is(old, tmp_path):
    old.chmod(0o640)
    (tmp_path / "link").symlink_to("inner/there")
    (tmp_path / "inner").mkdir()
    with outputs.Many() as files:
        files.put(old, b"1")
        files.put(tmp_path / "link", b"2")
        files.put("/dev/null", b"3")
        files.put(tmp_path / "run", b"4", 0o755)
    assert (old.read_bytes(), mode(old)) == (b"1", 0o640)
    assert ((tmp_path / "inner/there").read_bytes(), (tmp_path / "link").is_symlink()) == (
        b"2",
        True,
    )
    assert ((tmp_path / "run").read_bytes(), mode(tmp_path / "run")) == (b"4", 0o755)


def test_of_many_files_the_last_of_a_name_stays(old):
    with outputs.Many() as files:
        for number in range(3):
            files.put(old, b"%d" % number)
    assert contents(old.parent) == {"file": b"2"}


@pytest.mark.parametrize("raised", [Stopped, KeyboardInterrupt, OSError])
def test_of_many_files_those_that_wait_go_when_the_block_ends_early(old, raised):
    def put():
        with outputs.Many() as files:
            files.put(old, b"new")
            files.put(old.parent / "other", b"new")
            raise raised

    with pytest.raises(raised):
        put()
    assert contents(old.parent) == {"file": b"old"}


@pytest.mark.parametrize("call", ["fsync", "fchmod"])
def test_an_error_about_one_of_many_files_names_it_and_none_of_them_appears(old, monkeypatch, call):
    genuine = getattr(os, call)
    wrong = []

    def failing(handle, *arguments):
        wrong.append(handle)
        if len(wrong) == 2:
            raise OSError(28, "No space left on device")
        return genuine(handle, *arguments)

    monkeypatch.setattr(os, call, failing)
    before = len(os.listdir("/proc/self/fd"))

    def put():
        with outputs.Many() as files:
            for name in "abcd":
                files.put(old.parent / name, b"new", 0o600)

    with pytest.raises(OSError, match="No space left") as raised:
        put()
    assert raised.value.filename in {str(old.parent / name) for name in "abcd"}
    assert contents(old.parent) == {"file": b"old"}
    assert len(os.listdir("/proc/self/fd")) <= before


def test_many_files_are_written_where_no_thread_can_be_started(old, monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with outputs.Many() as files:
        files.put(old, b"new")
        files.put(old.parent / "other", b"new")
    assert contents(old.parent) == {"file": b"new", "other": b"new"}


def test_a_process_that_is_killed_while_it_writes_many_files_leaves_each_whole(
    tmp_path, what_is_new_has
):
    walked("many_files", str(tmp_path), what_is_new_has == "no name")


def test_many_files_are_written_by_few_descriptors(tmp_path):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 80, most[1]))
    try:
        with outputs.Many() as files:
            for number in range(200):
                files.put(tmp_path / str(number), b"new")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
    assert len(names(tmp_path)) == 200
