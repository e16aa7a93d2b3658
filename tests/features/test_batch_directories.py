"""The directories of a job: all or none, for all to read, and gone whatever a user put there."""

import errno
import os
import pwd
import stat
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from daemons import protected
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from kill_walks import as_user, mounted, take_away, walked
from killing import between

from sssjob import directory_trees as trees
from sssjob.errors import Unprotected
from sssjob.features.batch import directories as module
from sssjob.features.batch.directories import Directories, announce, announce_in, make_machine
from sssjob.features.keys import MACHINE_FEATURES
from sssjob.features.read import read
from sssjob.features.update import change, expire
from sssjob.features.write import put, remove, write

VALUES = {"job_id": "3", "allocated_cpu": 2, "wall_limit_secs": 600}
CALLS = ("open", "mkdir", "fchmod", "fsync", "fchown", "rename")


@pytest.fixture
def directories(safe_path):
    found = Directories(safe_path / "mjf", "3")
    yield found
    take_away(found)  # with what is mounted there


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o077, 0o022, 0o000])
def test_payloads_read_their_features_whatever_the_umask_was(directories, mask):
    before = os.umask(mask)
    try:
        directories.make(VALUES)
        make_machine(directories.root, {"total_cpu": 8})
    finally:
        os.umask(before)
    for place in (
        directories.root, directories.job, directories.jobfeatures, directories.jobstatus,
        directories.machinefeatures,
    ):  # fmt: skip
        assert mode(place) == 0o755, place
    assert {mode(file) for file in directories.root.glob("*/*/[a-z]*")} == {0o644}
    assert mode(directories.machinefeatures / "total_cpu") == 0o644
    assert read(directories.jobfeatures).values == VALUES


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")
@pytest.mark.parametrize("user", ["daemon", str(pwd.getpwnam("daemon").pw_uid)])
def test_the_status_alone_belongs_to_the_user(directories, user):
    directories.make(VALUES, user)
    assert directories.jobstatus.stat().st_uid == pwd.getpwnam("daemon").pw_uid
    assert {path.stat().st_uid for path in (directories.job, directories.jobfeatures)} == {0}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")
def test_for_a_user_whom_nobody_knows_nothing_is_made(directories):
    with pytest.raises(LookupError):
        directories.make(VALUES, "nobody-of-this-name")
    assert not directories.root.exists()


def test_nothing_of_an_earlier_run_is_left(directories):
    directories.make({**VALUES, "max_rss_bytes": 5})
    (directories.jobstatus / "used_CPU").write_text("1\n")
    directories.make(VALUES)
    assert read(directories.jobfeatures).values == VALUES
    assert os.listdir(directories.jobstatus) == []
    assert os.listdir(directories.root) == ["3"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("nth", range(1, 13))
@pytest.mark.parametrize("earlier", [False, True], ids=["new", "again"])
def test_a_full_disk_leaves_all_keys_or_none(directories, monkeypatch, call, nth, earlier):
    if earlier:
        directories.make({**VALUES, "wall_limit_secs": 1})
    genuine, count = getattr(os, call), 0

    def full(*arguments, **keywords):
        nonlocal count
        count += 1
        if count == nth:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return genuine(*arguments, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with suppress(OSError):
            directories.make(VALUES)
    left = os.listdir(directories.root) if directories.root.exists() else []
    assert left in ([], ["3"]) or call in ("open", "rename", "fchmod")  # which tidy up
    if directories.job.exists():
        found = read(directories.jobfeatures).values
        assert found.keys() == VALUES.keys()
        assert os.listdir(directories.jobstatus) == []
    directories.make(VALUES)
    assert read(directories.jobfeatures).values == VALUES


@pytest.fixture
def small(safe_path):
    """A real file system with next to no room."""
    place = safe_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=32k,mode=0755", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_file_system_that_is_full_has_no_features_in_part(small):
    directories = Directories(small, "3")
    many = {**VALUES, **{f"key_{number}": "x" * 3000 for number in range(20)}}
    with pytest.raises(OSError, match="No space left") as caught:
        directories.make(many)
    assert caught.value.filename == str(small / "3")
    assert os.listdir(small) == []
    with pytest.raises(OSError, match="No space left"):
        make_machine(small, many)
    assert os.listdir(small) == []
    directories.make(VALUES)
    assert read(directories.jobfeatures).values == VALUES


def test_the_machine_is_described_once(directories):
    make_machine(directories.root, {"total_cpu": 8})
    make_machine(directories.root, {"total_cpu": 9, "hs06": 5})
    make_machine(directories.root, {})
    assert (directories.machinefeatures / "total_cpu").read_text() == "8\n"
    assert (directories.machinefeatures / "hs06").read_text() == "5\n"
    assert os.listdir(directories.root) == ["machinefeatures"]


NOW, SOON, LATER = 1_700_000_000, 1_700_003_600, 1_700_007_200


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        pytest.param([("system", SOON)], SOON, id="the batch system announces one"),
        pytest.param([("system", SOON), ("system", LATER)], LATER, id="and moves it"),
        pytest.param([("system", SOON), ("system", None)], None, id="and calls it off"),
        pytest.param([("person", SOON), ("system", LATER)], SOON, id="a person's is earlier"),
        pytest.param([("person", LATER), ("system", SOON)], SOON, id="a person's is later"),
        pytest.param(
            [("person", LATER), ("system", SOON), ("system", None)], LATER,
            id="what a person said is there again",
        ),
        pytest.param(
            [("system", SOON), ("person", LATER), ("system", None)], LATER,
            id="a person says another one",
        ),
        pytest.param([("person", SOON), ("system", None)], SOON, id="the batch system says none"),
        pytest.param(
            [("person", LATER), ("system", SOON), ("person", None), ("system", None)], None,
            id="a person calls it off",
        ),
        pytest.param([("person", NOW - 1), ("system", LATER)], LATER, id="a leftover"),
        pytest.param([("system", LATER), ("cloud", SOON)], SOON, id="a cloud is earlier"),
        pytest.param(
            [("cloud", SOON), ("system", LATER), ("system", LATER)], SOON,
            id="a prolog keeps what a cloud announced",
        ),
        pytest.param(
            [("cloud", SOON), ("system", LATER), ("cloud", None)], LATER,
            id="a cloud calls off only its own",
        ),
        pytest.param(
            [("cloud", SOON), ("person", LATER), ("system", None), ("cloud", SOON)], SOON,
            id="and announces it again",
        ),
        pytest.param([("cloud", NOW)], NOW, id="what happens now"),
        pytest.param(
            [("cloud", NOW), ("person", None), ("cloud", NOW)], None, id="it was expired",
        ),
        pytest.param(
            [("cloud", NOW), ("system", LATER), ("cloud", NOW)], NOW, id="it has come before",
        ),
        pytest.param(
            [("cloud", NOW), ("system", LATER), ("person", None), ("cloud", NOW)], LATER,
            id="it was expired, and another one comes",
        ),
        pytest.param([("cloud", NOW), ("cloud", None)], NOW, id="has come, and is for expire"),
    ],
)  # fmt: skip
def test_the_earlier_of_two_announcements_binds(directories, steps, told):
    make_machine(directories.root, {"total_cpu": 8})
    place = directories.machinefeatures
    for who, moment in steps:
        if who != "person":
            announce(directories.root, {who: moment}, NOW)
        elif moment is None:
            remove(("shutdowntime",), place)
        else:
            put({"shutdowntime": moment}, place)
    values = read(place, MACHINE_FEATURES).values
    assert (values.get("shutdowntime"), values["total_cpu"]) == (told, 8)
    announce(directories.root, {"system": None, "cloud": None}, NOW)
    assert not (place / ".announced").exists()


STEPS = st.lists(
    st.tuples(st.sampled_from(["slurm", "aws", "person"]), st.none() | st.integers(1, 5)),
    max_size=8,
)


@examples(20)
@given(steps=STEPS)
def test_the_earliest_of_all_that_stands_is_told_whoever_comes_in_between(steps):
    """What each source said last, and what a person wrote last: other moments than theirs."""
    with TemporaryDirectory() as name, protected(Path(name)) as root:
        make_machine(root, {"total_cpu": 8})
        said, person = {}, None
        for who, after in steps:
            if who == "person":
                person = None if after is None else NOW + 2 * after + 1
                if person is None:
                    remove(("shutdowntime",), root / "machinefeatures")
                else:
                    put({"shutdowntime": person}, root / "machinefeatures")
            else:
                said[who] = None if after is None else NOW + 2 * after
                announce(root, {who: said[who]}, NOW)
                found = read(root / "machinefeatures", MACHINE_FEATURES).values
                standing = [each for each in (*said.values(), person) if each is not None]
                assert found.get("shutdowntime") == min(standing, default=None)


PASSING = st.lists(
    st.tuples(
        st.sampled_from(["slurm", "aws", "set", "never", "expire", "pass"]), st.integers(1, 5)
    ),
    max_size=10,
)


@examples(60)
@given(steps=PASSING)
def test_what_a_person_announced_is_told_when_all_else_is_over_however_time_passes(steps):
    """A drained node (slurm) may be empty since long; who resumes it calls all of that off."""
    with TemporaryDirectory() as name, protected(Path(name)) as root:
        make_machine(root, {"total_cpu": 8})
        place, now, person, said = root / "machinefeatures", NOW, None, {}

        def look():
            draining = ("slurm",) if said.get("slurm") else ()
            announce_in(place, "shutdowntime", said, now, (), draining)

        for number, (what, after) in enumerate(steps):
            if what == "pass":
                now += 700 * after
            elif what == "expire":
                expire(place, now)
            elif what == "never":
                person = change("shutdowntime", "never", place, now).value
            elif what == "set":
                person = now + 1000 * after + number
                change("shutdowntime", str(person), place, now)
            else:  # what a cloud says does not come here
                base = now + 100_000 if what == "aws" else now - 1500
                said[what] = base + 500 * after + 20 + number
            look()
        said = dict.fromkeys(("slurm", "aws"))
        look()
        told = read(place, MACHINE_FEATURES).values.get("shutdowntime")
        if person is not None and person > now:
            assert told == person
        else:
            assert told in (None, person)
        assert not (place / ".announced").exists()


ROOM = 1 << 16
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")


@pytest.fixture
def limited(directories):
    """Directories whose status has a room of its own, which the second user owns."""
    if why := directories.make(VALUES, "daemon", ROOM):
        pytest.skip(why)
    directories.root.parent.chmod(0o755)
    return directories


@ROOT_ONLY
def test_a_user_who_fills_his_status_fills_nothing_else(limited):
    place = limited.jobstatus
    assert as_user(lambda: (place / "used_CPU").write_text("1\n")) == 0
    assert as_user(lambda: (place / "large").write_bytes(b"x" * 2 * ROOM)) == errno.ENOSPC
    os.unlink(place / "large")

    def many():
        for number in range(1000):
            (place / str(number)).touch()

    assert as_user(many) == errno.ENOSPC
    assert place.stat().st_uid == pwd.getpwnam("daemon").pw_uid
    Directories(limited.root, "4").make(VALUES)
    assert read(limited.jobfeatures).values == VALUES


@ROOT_ONLY
def test_a_status_of_its_own_goes_at_once_though_it_is_used(limited):
    with open(limited.jobstatus / "held", "w"):
        take_away(limited)
    assert not limited.job.exists()
    assert str(limited.job) not in Path("/proc/mounts").read_text()
    take_away(limited)  # there is nothing to be done twice


@ROOT_ONLY
def test_a_job_that_runs_again_has_a_new_status(limited):
    (limited.jobstatus / "used_CPU").write_text("1\n")
    assert limited.make(VALUES, "daemon", ROOM) == ""
    assert os.listdir(limited.jobstatus) == []
    assert Path("/proc/mounts").read_text().count(f" {limited.jobstatus} ") == 1


def refused(*arguments):
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@ROOT_ONLY
@pytest.mark.parametrize("can_mount", [True, False], ids=["mounted", "refused"])
def test_at_no_moment_of_a_prolog_has_a_user_a_directory_without_a_limit(safe_path, can_mount):
    root = safe_path / "mjf"
    if why := walked("limits_of_users", str(root), ROOM, can_mount):
        pytest.skip(why)
    take_away(Directories(root, "3"))


@ROOT_ONLY
def test_what_is_beneath_a_limited_status_is_roots(limited):
    """A process whose mounts are its own may see what is there without ours."""
    subprocess.run(["umount", str(limited.jobstatus)], check=True)
    assert (limited.jobstatus.stat().st_uid, mode(limited.jobstatus)) == (0, 0o755)
    assert as_user(lambda: (limited.jobstatus / "used_CPU").touch()) == errno.EACCES


@ROOT_ONLY
def test_a_prolog_that_fails_leaves_nothing_mounted(limited, monkeypatch):
    take_away(limited)
    genuine = os.rename

    def full(source, target, **keywords):
        if target == "3":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        genuine(source, target, **keywords)

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        limited.make(VALUES, "daemon", ROOM)
    assert (os.listdir(limited.root), mounted(limited.root)) == ([], [])


@ROOT_ONLY
def test_whatever_is_mounted_on_a_status_is_taken_away(limited):
    with limited.held() as job:
        for _ in range(2):
            trees.mount(job, "jobstatus", "size=4096")
    assert len(mounted(limited.root)) == 3
    take_away(limited)
    assert (os.listdir(limited.root), mounted(limited.root)) == ([], [])


def test_without_a_limit_there_is_no_status_and_a_note(directories, monkeypatch):
    monkeypatch.setattr("sssjob.directory_trees.mount", refused)
    assert "Operation not permitted" in directories.make(VALUES, "", ROOM)
    assert not directories.jobstatus.exists()
    assert read(directories.jobfeatures).values == VALUES


# What users do to it


def test_all_that_a_user_left_is_taken_away_and_nothing_is_followed(directories, tmp_path):
    (tmp_path / "precious").write_text("x")
    directories.make(VALUES)
    status = directories.jobstatus
    (status / "link").symlink_to(tmp_path)
    (status / "used_CPU").symlink_to(tmp_path / "precious")
    os.mkfifo(status / "fifo")
    handle = os.open(status, os.O_RDONLY)
    for _ in range(500):
        os.mkdir("deep" * 10, dir_fd=handle)
        handle, above = os.open("deep" * 10, os.O_RDONLY, dir_fd=handle), handle
        os.close(above)
    os.close(handle)
    take_away(directories)
    assert os.listdir(directories.root) == []
    assert (tmp_path / "precious").read_text() == "x"
    take_away(directories)  # there is nothing to be done twice


@pytest.fixture
def led(safe_path):
    """A directory for all, in which a user made a link to what is not his."""
    (safe_path / "tmp").mkdir()
    (safe_path / "tmp").chmod(0o1777)
    (safe_path / "precious/3/jobfeatures").mkdir(parents=True)
    (safe_path / "precious/3/jobfeatures/job_id").write_text("3\n")
    (safe_path / "tmp/mjf").symlink_to(safe_path / "precious")
    return safe_path / "tmp/mjf"


@pytest.mark.parametrize(
    "work",
    [
        lambda root: Directories(root, "3").make(VALUES),
        lambda root: Directories(root, "4").make(VALUES),
        lambda root: take_away(Directories(root, "3")),
        lambda root: make_machine(root, {"total_cpu": 8}),
    ],
    ids=["make again", "make", "remove", "machine"],
)
def test_nobody_is_led_through_a_directory_for_all(led, safe_path, work):
    with pytest.raises(Unprotected):
        work(led)
    assert os.listdir(safe_path / "precious") == ["3"]
    assert os.listdir(safe_path / "precious/3") == ["jobfeatures"]


def test_nothing_is_taken_away_where_there_is_no_root(safe_path):
    take_away(Directories(safe_path / "never/made", "3"))
    assert os.listdir(safe_path) == []


@pytest.mark.parametrize("by", ["prolog", "sweep"])
@pytest.mark.parametrize("room", [0, pytest.param(ROOM, marks=ROOT_ONLY)], ids=["", "mounted"])
@pytest.mark.parametrize("call", ["make", "remove"])
def test_what_a_kill_leaves_is_taken_away_by_whoever_comes_next(directories, call, room, by):
    """A prolog of another job, or a sweep, before any batch system is asked."""
    if why := walked("job_directories", str(directories.root), call, room, by):
        pytest.skip(why)


@pytest.mark.parametrize("room", [0, pytest.param(ROOM, marks=ROOT_ONLY)], ids=["", "mounted"])
def test_what_a_prolog_makes_at_this_moment_is_no_leftover(directories, monkeypatch, room):
    """A sweep comes once, before each of its calls of the system."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    directories.root.mkdir()
    for nth in range(1000):
        left, swept = nth, ()

        def look():
            nonlocal left, swept
            if not left:
                swept = module.sweep(directories.root)
            left -= 1

        between(lambda: directories.make(VALUES, "", room), look)
        assert read(directories.jobfeatures).values == VALUES
        assert directories.jobstatus.is_dir()
        assert os.listdir(directories.root) == ["3"]
        assert len(swept) <= 1  # that was not locked yet: another one was made then
        take_away(directories)
        if left >= 0:
            break
    assert left >= 0
    assert nth > 50


def test_what_an_epilog_takes_away_at_this_moment_is_left_to_it(directories, monkeypatch):
    """A sweep comes before each of its calls of the system: nothing is taken for another's."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    directories.make(VALUES)
    swept, removed = [], []
    with directories.held() as held:
        between(
            lambda: removed.append(directories.remove_held(held)),
            lambda: swept.extend(module.sweep(directories.root)),
        )
    assert (swept, removed, os.listdir(directories.root)) == ([], [True], [])


def test_a_file_of_others_survives_a_sweep_while_the_machine_is_described_anew(directories):
    place = directories.machinefeatures
    make_machine(directories.root, {"total_cpu": 8})
    genuine, count = trees._exchange, 0

    def beside(*given):
        nonlocal count
        genuine(*given)
        (next(directories.root.glob(".sssjob-*")) / "of_others").touch()
        count += 1
        module.sweep(directories.root)

    trees._exchange = beside
    try:
        write({"total_cpu": 9}, place)
    finally:
        trees._exchange = genuine
    assert (count, read(place, MACHINE_FEATURES).values) == (1, {"total_cpu": 9})
    assert (place / "of_others").exists()
    assert os.listdir(directories.root) == ["machinefeatures"]


def _calls_to_remove(directories, monkeypatch, count):
    """How many calls of the system take away a status of so many files."""
    directories.make(VALUES)
    for number in range(count):
        os.mknod(directories.jobstatus / f"file-{number}")
    calls = 0

    def counted(genuine):
        def call(*arguments, **keywords):
            nonlocal calls
            calls += 1
            return genuine(*arguments, **keywords)

        return call

    with monkeypatch.context() as patch:
        for name in ("open", "stat", "fstat", "scandir", "listdir", "unlink", "rename", "rmdir"):
            patch.setattr(os, name, counted(getattr(os, name)))
        take_away(directories)
    assert os.listdir(directories.root) == []
    return calls


def test_each_file_of_a_status_costs_one_call_and_a_look_for_a_thousand(directories, monkeypatch):
    """So 10^5 files are 100 100 calls more, and what is above ``MOST`` is refused."""
    none, some, more = (_calls_to_remove(directories, monkeypatch, n) for n in (0, 2000, 4000))
    assert some - none == 2000 + 2
    assert more - some == 2000 + 2


@pytest.mark.parametrize("others", range(1, 6))
def test_of_prologs_of_one_job_at_once_the_last_one_counts(directories, monkeypatch, others):
    """Each other one ends while this one writes: it has made directories of that name by then."""
    left = others
    genuine = module.write

    def beside(values, folder):
        nonlocal left
        if values == VALUES and left:
            left -= 1
            directories.make({**VALUES, "wall_limit_secs": 1})
        return genuine(values, folder)

    monkeypatch.setattr(module, "write", beside)
    if others < 4:
        directories.make(VALUES)
    else:
        with pytest.raises(FileExistsError):
            directories.make(VALUES)
    wanted = VALUES if others < 4 else {**VALUES, "wall_limit_secs": 1}
    assert read(directories.jobfeatures).values == wanted
    assert os.listdir(directories.root) == ["3"]
