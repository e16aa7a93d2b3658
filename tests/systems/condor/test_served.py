"""A directory of documents is served by one queue: two would give each job away twice."""

import errno
import os
import shutil
import time
from types import SimpleNamespace

import pytest
from condor_site import SLOT, Site

from sssjob.classads import forms
from sssjob.systems.condor.hooks import served

JOB = "<User>amy</User>"


@pytest.fixture(autouse=True)
def machine_id(tmp_path, monkeypatch):
    """What tells the machine from others of its name."""
    path = tmp_path / "machine-id"
    path.write_text("1" * 32)
    monkeypatch.setattr(served, "_MACHINE_ID", str(path))
    return path


@pytest.fixture
def hosts(tmp_path, monkeypatch, capsys):
    """A directory, and a function that fetches from it at a machine, by a queue of its own."""
    path = tmp_path / "jobs"
    path.mkdir()
    site = Site(path, monkeypatch, capsys)
    site.add("a.xml", JOB)

    def fetch(machine, state):
        uname = SimpleNamespace(nodename=machine)
        with monkeypatch.context() as only:
            only.setattr(os, "uname", lambda: uname)
            answer = site.call("fetch-work", SLOT, state=str(tmp_path / state))
        return forms.read_text(answer.decode(), strict=True)

    return site, fetch


QUEUES = [("m1", "one"), ("m2", "two"), ("m1", "two"), ("m2", "jobs/.condor")]


# decision 696
@pytest.mark.parametrize("first", QUEUES)
@pytest.mark.parametrize("second", QUEUES)
def test_of_two_queues_the_first_alone_gives_jobs_of_a_directory_away(hosts, first, second):
    site, fetch = hosts
    assert len(fetch(*first)) == 1
    site.add("b.xml", JOB, "8")
    found = fetch(*second)
    is_same = first[1] == second[1]  # what its machine is called may change
    assert len(found) == is_same
    assert ("two queues would give each job away twice" in site.said) != is_same
    assert len(fetch(*first)) == (not is_same)


# decision 696
def test_a_queue_that_was_lost_serves_its_directory_again(hosts, tmp_path):
    site, fetch = hosts
    assert len(fetch("m1", "one")) == 1
    shutil.rmtree(tmp_path / "one")
    site.add("b.xml", JOB, "8")
    assert len(fetch("m1", "one")) == 1
    shutil.rmtree(tmp_path / "one")
    (site.path / ".condor" / "served").unlink()
    site.add("c.xml", JOB, "9")
    assert len(fetch("m2", "two")) == 1


# decision 696
@pytest.mark.parametrize("times", [1, 2])
def test_of_queues_that_begin_at_once_one_serves(hosts, monkeypatch, times):
    """The other one has looked for a note before this one wrote its own."""
    site, fetch = hosts
    assert len(fetch("m1", "one")) == 1
    real, asked = served._told, []

    def late(path, settings):
        asked.append(path)
        return None if len(asked) <= times else real(path, settings)

    site.add("b.xml", JOB, "8")
    monkeypatch.setattr(served, "_told", late)
    assert fetch("m2", "two") == []
    assert "is served by the queue" in site.said
    assert sorted(each.name for each in (site.path / ".condor").iterdir()) == ["served"]


# decision 696
@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_note_that_others_could_write_says_nothing(hosts, mode):
    site, fetch = hosts
    (site.path / ".condor").mkdir()
    (site.path / ".condor").chmod(mode)
    (site.path / ".condor" / "served").write_text("x m9 /elsewhere\n")
    (site.path / ".condor" / "served").chmod(0o666)
    assert len(fetch("m1", "one")) == 1


# decision 774
@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_note_of_ours_counts_in_a_directory_that_was_opened_to_others(hosts, mode):
    """And the directory is closed again."""
    site, fetch = hosts
    assert len(fetch("m1", "one")) == 1
    for machine, state, count in (("m2", "two", 0), ("m1", "one", 1), ("m2", "two", 0)):
        (site.path / ".condor").chmod(mode)
        site.add(f"{machine}.xml", JOB, machine)
        assert len(fetch(machine, state)) == count
        assert (site.path / ".condor").stat().st_mode & 0o777 == 0o711
    assert sorted(each.name for each in (site.path / ".condor").iterdir()) == ["served"]


# decision 773
def test_of_two_containers_of_one_image_the_first_serves(hosts, tmp_path, monkeypatch):
    """They have a name, an Id, and the path of their queues together, on volumes of their own."""
    site, fetch = hosts

    def at(container):
        namespace = tmp_path / container / "uts"
        namespace.parent.mkdir(exist_ok=True)
        namespace.touch()
        monkeypatch.setattr(served, "_NAMESPACE", str(namespace))
        for other in {"c1", "c2"} - {container}:
            if (tmp_path / "state").exists():
                (tmp_path / "state").rename(tmp_path / f"volume-{other}")
        if (tmp_path / f"volume-{container}").exists():
            (tmp_path / f"volume-{container}").rename(tmp_path / "state")

    at("c1")
    assert len(fetch("m", "state")) == 1
    site.add("b.xml", JOB, "8")
    at("c2")
    assert fetch("m", "state") == []
    assert "is served by the queue in" in site.said
    at("c1")
    assert len(fetch("m", "state")) == 1
    shutil.rmtree(tmp_path / "state")  # lost, in the container that noted it
    site.add("c.xml", JOB, "9")
    assert len(fetch("m", "state")) == 1


# decision 711
@pytest.mark.parametrize("left", ["file", "link", "link to nothing", "pipe", "directory"])
def test_what_somebody_else_put_under_the_name_of_our_directory_stops_nobody(
    hosts, tmp_path, monkeypatch, left
):
    """And opens no way to two queues: it is put away."""
    site, fetch = hosts
    home = site.path / ".condor"
    if left == "file":
        home.touch()
    elif left == "pipe":
        os.mkfifo(home)
    elif left == "directory":
        home.mkdir()
        (home / "served").write_text("x m9 /elsewhere\n")
    else:
        home.symlink_to(tmp_path if left == "link" else tmp_path / "nothing")
    os.chown(home, 4242, 4242, follow_symlinks=False)
    assert len(fetch("m1", "one")) == 1
    site.add("b.xml", JOB, "8")
    assert fetch("m2", "two") == []
    assert "is served by the queue" in site.said
    assert (home / "served").is_file()
    assert home.stat().st_uid == os.geteuid()
    assert len([each for each in site.path.iterdir() if ".condor.not-ours." in each.name]) == 1


# decision 711
@pytest.mark.parametrize("damage", ["empty", "half", "directory", "open"])
def test_a_note_of_ours_that_cannot_be_read_has_no_queue_serve(hosts, damage):
    """It may be that of another queue; who deletes it decides."""
    site, fetch = hosts
    assert len(fetch("m1", "one")) == 1
    note = site.path / ".condor" / "served"
    if damage == "open":
        note.chmod(0o666)
    elif damage == "directory":
        note.unlink()
        note.mkdir()
    else:
        note.write_text("" if damage == "empty" else note.read_text()[:-3])
    site.add("b.xml", JOB, "8")
    for machine, state in (("m1", "one"), ("m2", "two")):
        assert fetch(machine, state) == []
        assert f"{note} does not say which queue serves" in site.said
    (note.rmdir if damage == "directory" else note.unlink)()
    assert len(fetch("m2", "two")) == 1


# decision 711
@pytest.mark.parametrize("known", [True, False])
def test_machines_of_one_name_are_told_apart_by_what_they_are(hosts, tmp_path, machine_id, known):
    """Their queues have the same path, each on a disk of its own, or are copies of each other."""
    site, fetch = hosts
    machine = machine_id
    assert len(fetch("localhost", "state")) == 1
    if not known:
        shutil.rmtree(tmp_path / "state")
    site.add("b.xml", JOB, "8")
    machine.write_text("2" * 32)
    assert fetch("localhost", "state") == []
    assert "is served by the queue" in site.said
    machine.write_text("1" * 32)
    if known:  # by its word, whatever its machine is called by now
        assert len(fetch("renamed", "state")) == 1
    else:
        assert fetch("renamed", "state") == []
        assert len(fetch("localhost", "state")) == 1


# decision 711
@pytest.mark.parametrize("content", ["1" * 32, "", "uninitialized"])
def test_machines_of_one_image_are_told_apart_by_their_names(hosts, tmp_path, machine_id, content):
    site, fetch = hosts
    machine_id.write_text(content)
    assert len(fetch("m1", "state")) == 1
    shutil.rmtree(tmp_path / "state")  # each has it on a disk of its own
    site.add("b.xml", JOB, "8")
    assert fetch("m2", "state") == []
    assert "is served by the queue" in site.said


# decision 717
@pytest.mark.parametrize("first", ["", "uninitialized", "1" * 32])
@pytest.mark.parametrize("second", ["", "uninitialized"])
def test_machines_of_one_name_without_an_id_are_two(hosts, tmp_path, machine_id, first, second):
    """Containers of one image: nobody knows whether a queue at the same path is the same one."""
    site, fetch = hosts
    machine_id.write_text(first)
    assert len(fetch("condor", "state")) == 1
    mine, other = tmp_path / "state", tmp_path / "other"
    mine.rename(other)
    site.add("b.xml", JOB, "8")
    machine_id.write_text(second)
    assert fetch("condor", "state") == []
    assert "is served by the queue" in site.said
    shutil.rmtree(mine)
    other.rename(mine)
    machine_id.write_text(first)
    assert len(fetch("condor", "state")) == 1  # by its word


# decision 717
@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_a_copy_of_a_queue_is_another_one_and_a_queue_that_moved_is_not(
    hosts, tmp_path, moved, turned
):
    site, fetch = hosts
    assert len(fetch("m1", "one")) == 1
    one, two = tmp_path / "one", tmp_path / "two"
    one.rename(two) if moved else shutil.copytree(one, two)
    site.add("b.xml", JOB, "8")
    order = ["two", "one"] if turned or moved else ["one", "two"]
    found = {state: len(fetch("m1", state)) for state in order}
    assert found == ({"two": 1, "one": 0} if moved else {"one": 1, "two": 0})
    assert "two queues would give each job away twice" in site.said or order[1] == "one"
    if moved:  # and one that is put in its old place is another one
        shutil.rmtree(one)
        shutil.copytree(two, one)
        site.add("c.xml", JOB, "9")
        assert fetch("m1", "one") == []
        assert len(fetch("m1", "two")) == 1


# decision 717
@pytest.mark.parametrize("renamed", [False, True])
def test_a_queue_that_is_known_by_its_word_says_anew_at_which_machine_it_is(
    hosts, tmp_path, machine_id, renamed
):
    """The version before noted no Id, so that another machine of that name would take it over."""
    site, fetch = hosts
    assert len(fetch("m1", "one")) == 1
    notes = [site.path / ".condor" / "served", tmp_path / "one" / "served"]
    for note in notes:
        word, _, path = note.read_text().split(" ", 2)
        note.write_text(f"{word} m1 {path}")
    site.add("b.xml", JOB, "8")
    name = "m3" if renamed else "m1"
    assert len(fetch(name, "one")) == 1
    assert notes[0].read_text() == notes[1].read_text()
    assert notes[0].read_text().split(" ")[1].startswith(f"{name}/")
    (tmp_path / "one").rename(tmp_path / "kept")
    machine_id.write_text("2" * 32)
    site.add("c.xml", JOB, "9")
    assert fetch(name, "one") == []
    machine_id.write_text("1" * 32)
    shutil.rmtree(tmp_path / "one")
    assert len(fetch(name, "one")) == 1


# decision 719
@pytest.mark.parametrize("name", ["m1", "m2"])
@pytest.mark.parametrize("reboots", [False, True])
def test_of_a_machine_and_its_clone_the_one_that_came_last_serves(
    hosts, tmp_path, monkeypatch, name, reboots
):
    """It has the Id, the paths, and the directory of the queue; it has booted at another time."""
    site, fetch = hosts
    boot = tmp_path / "boot"
    monkeypatch.setattr(served, "_BOOT_ID", str(boot))
    boot.write_text("one")
    assert len(fetch("m1", "state")) == 1
    state, clone, kept = tmp_path / "state", tmp_path / "clone", tmp_path / "kept"
    shutil.copytree(state, clone)
    for number in range(3):
        site.add(f"b{number}.xml", JOB, f"8{number}")
        boot.write_text("two")
        state.rename(kept)
        clone.rename(state)
        assert len(fetch(name, "state")) == 1
        state.rename(clone)
        kept.rename(state)
        boot.write_text("one")
        site.add(f"c{number}.xml", JOB, f"9{number}")
        assert fetch("m1", "state") == []
        assert f"a clone of this queue, on {name}" in site.said
        (site.path / f"c{number}.xml").unlink()
    if reboots:
        boot.write_text("three")
        site.add("c.xml", JOB, "9")
        assert len(fetch("m1", "state")) == 1
        boot.write_text("two")
        state.rename(kept)
        clone.rename(state)
        assert fetch(name, "state") == []


# decision 718
@pytest.mark.parametrize("fault", [errno.EACCES, errno.EPERM, errno.EROFS])
@pytest.mark.parametrize("where", ["mkdir", "link"])
def test_where_no_queue_can_note_that_it_serves_none_gives_jobs_away(
    hosts, monkeypatch, fault, where
):
    site, fetch = hosts

    def refused(path, *more, **others):
        if ".condor" in str(path) and str(path).startswith(str(site.path)):
            raise OSError(fault, os.strerror(fault))
        return real(path, *more, **others)

    real = getattr(os, where)
    monkeypatch.setattr(os, where, refused)
    for machine, state in (("m1", "one"), ("m2", "two")):
        assert fetch(machine, state) == []
        assert "cannot write there" in site.said
    monkeypatch.setattr(os, where, real)
    assert len(fetch("m1", "one")) == 1


# decision 718
@pytest.mark.parametrize("left", ["file", "link", "pipe", "directory"])
def test_what_somebody_else_put_where_the_queue_is_to_be_stops_nobody(site, tmp_path, left):
    site.add("a.xml", JOB)
    if left == "file":
        site.state.touch()
    elif left == "pipe":
        os.mkfifo(site.state)
    elif left == "directory":
        site.state.mkdir()
        (site.state / "queue.db").touch()
    else:
        site.state.symlink_to(tmp_path)
    os.chown(site.state, 4242, 4242, follow_symlinks=False)
    assert len(site.fetch()) == 1
    assert site.state.stat().st_uid == os.geteuid()
    assert len([each for each in site.path.iterdir() if ".condor.not-ours." in each.name]) == 1


# decision 718
def test_what_another_hook_made_in_the_meantime_is_not_put_away(site, monkeypatch):
    site.add("a.xml", JOB)
    site.state.touch()
    os.chown(site.state, 4242, 4242)
    real, given = os.rename, []

    def late(*paths):
        monkeypatch.setattr(os, "rename", real)
        given.extend(site.fetch())
        real(*paths)

    monkeypatch.setattr(os, "rename", late)
    assert site.fetch() == []
    assert len(given) == 1
    assert len(site.jobs("offered")) == 1


# decision 718
@pytest.mark.skipif(os.geteuid() != 0, reason="who else may own the documents")
def test_what_is_put_away_is_so_by_who_may_alone(site):
    """In a directory of somebody who is not trusted, root puts nothing away."""
    site.add("a.xml", JOB)
    site.state.touch()
    os.chown(site.state, 4242, 4242)
    os.chown(site.path, 4243, 4243)
    assert site.fetch() == []
    assert f"{site.state} belongs to uid 4242" in site.said
    assert site.state.is_file()


# decision 711
def test_a_queue_that_serves_no_more_folds_what_became_of_its_own_jobs(hosts, tmp_path):
    site, fetch = hosts
    [ad] = fetch("m2", "two")
    ran = {"JobPid": 7, "JobStartDate": int(time.time()), "JobDuration": 0.0}
    site.call("update-job-info", ad.merged(ran), state=str(tmp_path / "two"))
    (site.path / ".condor" / "served").unlink()
    assert fetch("m1", "one") == []
    told = ad.merged({**ran, "ExitCode": 3})
    site.call("job-exit", told, "exit", state=str(tmp_path / "two"))
    assert site.job("a.xml").get("ExitCode") == "3"
    assert site.job("a.xml").get("State") == "Completed"


# decision 711
def test_a_hook_that_was_killed_while_it_noted_its_queue_leaves_nothing(hosts, monkeypatch):
    site, fetch = hosts

    class Killed(BaseException):
        pass

    for name in ("link", "unlink"):
        real = getattr(os, name)

        def killed(path, *more, real=real, **others):
            if os.path.basename(path).startswith("served."):
                raise Killed
            real(path, *more, **others)

        monkeypatch.setattr(os, name, killed)
        with pytest.raises(Killed):
            fetch("m1", "one")
        monkeypatch.setattr(os, name, real)
    assert len(fetch("m1", "one")) == 1
    assert [each.name for each in (site.path / ".condor").iterdir()] == ["served"]
