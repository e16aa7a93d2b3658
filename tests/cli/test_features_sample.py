"""What jobs use is told to them, kept for their epilog, and offered to a monitor."""

import errno
import json
import os
import stat
from contextlib import suppress

import pytest
from click.testing import CliRunner
from json_commands import keeps_to_its_schema

from sssjob import atomic, document
from sssjob.cli import sssjob
from sssjob.features.batch.directories import Directories
from sssjob.features.write import write

JOB = "<Job><Id>3</Id></Job>"


@pytest.fixture
def node(safe_path, monkeypatch):
    """Two jobs, one of which has a control group."""
    for job in ("3", "4"):
        Directories(safe_path / "mjf", job).make({"job_id": job, "cpu_limit_secs": 1000})
    used(safe_path, 0)
    monkeypatch.chdir(safe_path)
    for name, value in {"SLURM_JOB_ID": "3", "SLURM_JOB_NUM_NODES": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("time.time", lambda: 1800000000.0)
    return safe_path


def used(place, seconds, memory=4096):
    (place / "groups/job_3").mkdir(parents=True, exist_ok=True)
    (place / "groups/job_3/cpu.stat").write_text(f"usage_usec {seconds * 10**6}\n")
    (place / "groups/job_3/memory.current").write_text(f"{memory}\n")


SAMPLE = ("features", "sample", "--for", "slurm", "--root", "mjf", "--once")


def sample(place, *words):
    return run(*SAMPLE, "--cgroup", f"{place}/groups/job_%j", *words)


def run(*words):
    return CliRunner().invoke(sssjob, words)


@pytest.mark.parametrize("room", ["none", "some"])
def test_a_status_that_its_user_filled_has_no_old_figures(node, monkeypatch, room):
    """Those that stand there make room for the new ones, or are gone: what was used is unknown."""
    status = node / "mjf/3/jobstatus"
    sample(node)
    used(node, 90)
    monkeypatch.setattr("time.time", lambda: 1800000010.0)
    put = atomic.put
    failed = []

    def full(folder, name, content, *given, **options):
        if content and name.startswith("used_") and (room == "none" or not failed):
            failed.append(name)
            raise OSError(errno.ENOSPC, "No space left on device")
        put(folder, name, content, *given, **options)

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "put", full)
        done = sample(node)
    found = {path.name: path.read_text() for path in status.iterdir()}
    monkeypatch.setenv("JOBFEATURES", f"{node}/mjf/3/jobfeatures")
    monkeypatch.setenv("JOBSTATUS", str(status))
    monkeypatch.setattr("sssjob.features.used.session_cpu_secs", lambda: 1.0)
    left = run("features", "left", "--cpu", "1", "--json")
    assert (
        json.loads((node / "mjf/3/used").read_text().partition("cpu_secs = ")[2].split()[0]) == 90
    )
    if room == "none":
        assert (done.exit_code, "No space left on device" in done.stderr) == (1, True)
        assert found == {"used_cpu_secs": ""}
        assert (left.exit_code, "not known: used_cpu_secs" in left.stderr) == (2, True)
        sample(node)  # its user made room
        left = run("features", "left", "--cpu", "1", "--json")
    assert (left.exit_code, json.loads(left.stdout)["cpu"]) == (0, 910)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a file system")
@pytest.mark.parametrize("how", ["bytes", "names"])
def test_a_file_system_that_its_user_filled_has_no_old_figures(node, monkeypatch, how):
    place = Directories(node / "mjf", "3")
    assert place.make({"job_id": "3"}, room=1 << 18) == ""
    try:
        sample(node)
        with suppress(OSError):
            if how == "bytes":
                (place.jobstatus / "log").write_bytes(b"x" * (1 << 20))
            for number in range(1000 if how == "names" else 0):
                (place.jobstatus / f"log{number}").touch()
        used(node, 90)
        monkeypatch.setattr("time.time", lambda: 1800000010.0)
        sample(node)
        told = place.jobstatus / "used_cpu_secs"
        assert told.read_text() in ("90\n", "")
        assert (told.read_text() == "90\n") is (place.jobstatus / "used_time").exists()
    finally:
        with place.held() as held:
            place.remove_held(held)


def test_a_job_finds_what_it_uses_in_its_status(node, monkeypatch):
    sample(node)
    used(node, 30)
    monkeypatch.setattr("time.time", lambda: 1800000010.0)
    done = sample(node, "--json", "--metrics", "figures")
    row = json.loads(done.stdout)
    keeps_to_its_schema("features sample", row)
    assert (done.exit_code, done.stderr) == (0, "")
    assert row == {
        "job": "3", "time": 1800000010.0, "cpu_secs": 30.0, "cpu_rate": 3.0, "rss_bytes": 4096,
        "max_rss_bytes": 4096,
    }  # fmt: skip
    status = node / "mjf/3/jobstatus"
    found = {path.name: path.read_text() for path in status.iterdir()}
    assert found["used_cpu_secs"] == "30\n"
    assert found["used_cpu_rate"] == "3\n"
    assert 'node="vm"' not in (node / "figures").read_text() or os.uname().nodename == "vm"
    assert (node / "figures").read_text().endswith("# EOF\n")
    monkeypatch.setenv("JOBFEATURES", f"{node}/mjf/3/jobfeatures")
    monkeypatch.setenv("JOBSTATUS", str(status))
    monkeypatch.setattr("sssjob.features.used.session_cpu_secs", lambda: 1.0)
    left = run("features", "left", "--json", "--at-least", "400")
    assert left.exit_code == 1
    found = json.loads(left.stdout)
    # 970 s of CPU time, of which 3 processors use 3 s each second.
    assert (found["cpu"], found["rate"], found["short"]) == (970, 323, ["rate"])
    assert "at the rate of now" in left.stderr
    # Since that look the job has gone on; how fast nobody knows when the sampler has gone.
    for now, wanted in ((1800000070, (790, 263)), (1800009999, (970, None))):
        moved = run("features", "left", "--json", "--now", str(now))
        found = json.loads(moved.stdout)
        assert (found["cpu"], found["rate"]) == wanted
        assert ("nobody measures any more" in moved.stderr) == (wanted[1] is None)


@pytest.mark.parametrize(
    ("name", "text", "said", "cpu"),
    [
        ("used_time", "1799999000", "used_time is before the job started", 999),
        ("used_time", None, "there is no used_time", 970),
        ("used_time", "NaN", "used_time 'NaN' is no number", 970),
        ("used_time", "1800003600", "used_time lies 3600 s ahead", 970),
        ("used_cpu_secs", "NaN", "used_cpu_secs 'NaN' is no number", None),
        ("used_cpu_secs", "9" * 10**6, "used_cpu_secs is not read", None),
        ("used_cpu_secs", None, "there is no used_cpu_secs to used_cpu_rate", None),
        ("used_cpu_rate", "-5", "used_cpu_rate '-5' is no number", 970),
    ],
)  # fmt: skip
def test_what_was_measured_and_cannot_be_meant_is_told(node, monkeypatch, name, text, said, cpu):
    limits = {"cpu_limit_secs": 1000, "jobstart_secs": 1799999500}
    write(limits, node / "job")
    write({"used_time": "1800000000", "used_cpu_secs": "30", "used_cpu_rate": "3"}, node / "status")
    (node / "status" / name).unlink()
    if text is not None:
        (node / "status" / name).write_text(text)
    monkeypatch.setenv("JOBFEATURES", f"{node}/job")
    monkeypatch.setenv("JOBSTATUS", f"{node}/status")
    monkeypatch.setattr("sssjob.features.used.session_cpu_secs", lambda: 1.0)
    done = run("features", "left", "--json", "--now", "1800000000")
    found = json.loads(done.stdout)
    assert (found["cpu"], found["rate"] is None) == (cpu, said[:12] != "used_cpu_rat" or cpu == 970)
    assert f"$JOBSTATUS: {said}" in done.stderr
    asked = run("features", "left", "--at-least", "1", "--now", "1800000000")
    assert asked.exit_code == (0 if cpu else 2)


@pytest.mark.parametrize("text", ["usage_usec -5\n", "usage_usec nan\n", "", "usage_usec 9" * 9])
def test_a_figure_that_cannot_be_read_any_more_has_no_new_time(node, monkeypatch, text):
    used(node, 30)
    (node / "groups/job_3/memory.peak").write_text("8192\n")
    sample(node)
    (node / "groups/job_3/cpu.stat").write_text(text)
    monkeypatch.setattr("time.time", lambda: 1800000600.0)
    done = sample(node)
    status = node / "mjf/3/jobstatus"
    assert (done.exit_code, "cpu_secs could be read before" in done.stderr) == (1, True)
    assert not (status / "used_cpu_secs").exists()
    assert (status / "used_time").read_text() == "1800000600\n"
    assert "cpu_secs = 30\n" in (node / "mjf/3/used").read_text()  # for the epilog
    assert sample(node).stderr == ""  # it is told once
    assert run("features", "left", "--job", "mjf/3/jobfeatures").exit_code in (0, 1, 2)


@pytest.mark.parametrize(
    ("status", "said", "cpu"),
    [
        ("status", "status does not begin with a slash", 970),
        ("file://{}/status", "names a local directory", 970),
        ("http://127.0.0.1:1/status", "is no local directory", None),
        ("ftp://site/status", "is not a directory", None),
        ("/nowhere/at/all", "No such file", 999),
    ],
)
def test_a_status_is_found_as_the_other_directories_are_or_told(
    node, monkeypatch, status, said, cpu
):
    write({"cpu_limit_secs": 1000, "jobstart_secs": 1799999500}, node / "job")
    write({"used_time": "1800000000", "used_cpu_secs": "30"}, node / "status")
    monkeypatch.chdir(node)
    monkeypatch.setenv("JOBFEATURES", f"{node}/job")
    monkeypatch.setenv("JOBSTATUS", status.format(node))
    monkeypatch.setattr("sssjob.features.used.session_cpu_secs", lambda: 1.0)
    done = run("features", "left", "--json", "--now", "1800000000", "--cpu", "1")
    assert (json.loads(done.stdout)["cpu"], done.exit_code) == (cpu, 0 if cpu else 2)
    assert said in done.stderr


def test_the_epilog_folds_what_was_sampled_when_the_group_has_gone(node):
    used(node, 30, memory=8192)
    sample(node)
    used(node, 40)
    sample(node)
    forged = node / "mjf/3/jobstatus/used_cpu_secs"
    forged.unlink()
    forged.write_text("9999999\n")  # by the user
    (node / "jobs").mkdir()
    (node / "jobs/3.xml").write_text(JOB)
    done = run("features", "epilog", "--for", "slurm", "--root", "mjf", "--documents", "jobs")
    assert (done.exit_code, done.stderr) == (0, "")
    job = document.loads((node / "jobs/3.xml").read_text())
    assert job.get("CpuDuration") == "40"
    assert job.delivered.get("Memory", metric="Max").bytes == 8192
    assert not (node / "mjf/3").exists()


def test_a_job_that_has_ended_uses_no_more_though_its_group_goes_on(node):
    """What its epilog kept is what it had used then."""
    used(node, 40)
    sample(node)
    Directories(node / "mjf", "3").keep(b"{}")
    used(node, 90)
    assert (sample(node).stdout, sample(node).exit_code) == ("", 0)
    assert "cpu_secs = 40\n" in (node / "mjf/3/used").read_text()


HOSTILE = {
    "a link": lambda place: place.symlink_to("/etc/passwd"),
    "a FIFO": os.mkfifo,
    "a directory": lambda place: (place / "more").mkdir(parents=True),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_a_user_put_in_the_way_leads_nobody_and_holds_up_nobody(node, kind):
    place = node / "mjf/3/jobstatus/used_cpu_secs"
    before = os.stat("/etc/passwd")
    HOSTILE[kind](place)
    used(node, 7)
    done = sample(node)
    if kind == "a directory":
        assert (done.exit_code, "used_cpu_secs" in done.stderr) == (1, True)
    else:
        assert (done.exit_code, place.read_text()) == (0, "7\n")
        assert stat.S_ISREG(place.lstat().st_mode)
    assert os.stat("/etc/passwd") == before
    assert "cpu_secs = 7" in (node / "mjf/3/used").read_text()  # which root keeps


def test_a_status_that_is_a_link_is_not_followed(node):
    (node / "mjf/3/jobstatus").rmdir()
    (node / "elsewhere").mkdir()
    (node / "mjf/3/jobstatus").symlink_to(node / "elsewhere")
    assert sample(node).exit_code == 0
    assert os.listdir(node / "elsewhere") == []


def test_a_root_that_no_prolog_has_made_is_told(node):
    words = ("--root", "none/%n", "--node", "n1", "--once", "--json")
    done = run("features", "sample", "--for", "slurm", *words)
    told = "sssjob: none/n1 is not there: no prolog has made it\n"
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", told)


def test_the_jobs_of_a_node_are_below_its_own_root(node):
    (node / "of").mkdir()
    (node / "mjf").rename(node / "of/n1")
    words = ("--root", "of/%n", "--node", "n1", "--cgroup", f"{node}/groups/job_%j")
    done = run("features", "sample", "--for", "slurm", "--once", *words)
    assert (done.exit_code, "3  " in done.stdout) == (0, True)


AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root is led by others")


@AS_ROOT
@pytest.mark.parametrize("kind", ["a link", "a directory on the way", "a FIFO", "a file", "new"])
def test_figures_in_a_directory_of_another_user_change_nothing_elsewhere(node, kind):
    """That of a monitor often belongs to its user, who may put anything there."""
    (node / "secret").mkdir()
    (node / "secret/m.prom").write_text("kept\n")
    place, file = node / "theirs", node / "theirs/m.prom"
    place.mkdir()
    if kind == "a link":
        file.symlink_to(node / "secret/m.prom")
    elif kind == "a directory on the way":
        (place / "more").symlink_to(node / "secret")
        file = place / "more/m.prom"
    elif kind == "a FIFO":
        os.mkfifo(file)
    elif kind == "a file":
        file.write_text("of an earlier look\n")
    for each in (place, *place.iterdir()):
        os.chown(each, 65534, 65534, follow_symlinks=False)
    done = sample(node, "--metrics", str(file))
    assert (node / "secret/m.prom").read_text() == "kept\n"
    if kind in ("a file", "new"):
        assert (done.exit_code, done.stderr) == (0, "")
        assert "sssjob" in file.read_text()
    else:
        assert done.exit_code == 2
        assert "theirs" in done.stderr
        assert ("is no regular file" in done.stderr) == (kind != "a directory on the way")
        assert not file.is_file() or file.is_symlink() or kind == "a directory on the way"


def test_a_monitor_that_cannot_be_written_to_ends_no_sampler(node, monkeypatch):
    looks = []

    def pause(seconds):
        looks.append(seconds)
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("sssjob.cli.features.sample.time.sleep", pause)
    (node / "figures").mkdir()
    words = [each for each in SAMPLE if each != "--once"]
    done = run(*words, "--cgroup", f"{node}/groups/job_%j", "--metrics", f"{node}/figures")
    assert (len(looks), done.stderr.count("figures: Is a directory")) == (3, 1)
    assert (node / "mjf/3/jobstatus/used_rss_bytes").read_text() == "4096\n"
