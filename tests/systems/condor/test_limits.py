"""Limits of jobs that slots fetched: held against what HTCondor measured, and kept."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from condor_site import SLOT

from sssjob.classads.values import Ad
from sssjob.systems.condor import names
from sssjob.systems.condor.hooks import disk, limits, reports
from sssjob.systems.condor.hooks.settings import SPOOL
from sssjob.systems.condor.slot import job_features

USER = "<User>amy</User>"
STATED = {
    "SSSFeature_wall_limit_secs": 60,
    "SSSFeature_cpu_limit_secs": 30,
    "SSSFeature_max_rss_bytes": 1 << 20,
    "SSSFeature_scratch_limit_bytes": 1 << 20,
}


@pytest.mark.parametrize(
    "used, ran, reason",
    [
        ({}, 59, ""),
        ({}, 60, "TIMEOUT: it ran 60 s, 60 s allowed"),
        ({"RemoteUserCpu": 20.0, "RemoteSysCpu": 10.0}, 1, ""),
        ({"RemoteUserCpu": 20.0, "RemoteSysCpu": 11}, 1, "TIMEOUT: 31 s of CPU time used, 30 s"),
        ({"ResidentSetSize": 1024}, 1, ""),
        ({"ResidentSetSize": 1025}, 1, "OUT_OF_MEMORY: 1025 KiB of memory used, 1024 KiB allowed"),
        ({"DiskUsage": 1025}, 1, "ABORTED: 1025 KiB of disk used, 1024 KiB allowed"),
    ],
)
def test_a_job_is_over_a_limit_once_it_used_more(used, ran, reason):
    found = limits.exceeded(Ad({**STATED, **used}), ran)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)
    assert limits.exceeded(Ad(used), ran) == ""


SIZES = {
    "max_rss_bytes": ("ResidentSetSize", 1 << 10),
    "scratch_limit_bytes": ("DiskUsage", 1 << 10),
}


# decision 886
@pytest.mark.parametrize("limit", ["max_rss_bytes", "scratch_limit_bytes", "cpu_limit_secs"])
@pytest.mark.parametrize("kind", ["static", "partitionable"])
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("options", [False, True])
def test_a_fetched_job_is_held_to_the_limits_that_it_finds_as_its_features(
    site, limit, kind, asked, options
):
    """Whoever said them: its document, the options of the hooks, or the slot."""
    inner = "<Memory units='MB'>60</Memory><Disk units='MB'>10</Disk>" * asked
    site.add("a.xml", f"{USER}<Requested><Duration op='LE'>600</Duration>{inner}</Requested>")
    slot = SLOT.merged({"PartitionableSlot": True}) if kind == "partitionable" else SLOT
    requests = (("RequestCpus", "2"), ("RequestMemory", "100"), ("RequestDisk", "20000")) * options
    found = site.fetch(slot, requests=requests)
    if kind == "partitionable" and not (options or asked):
        assert not found  # such a slot has to be told
        return
    [ad] = found
    given = slot.merged({name: ad[f"{name}Provisioned"] for name in ("Cpus", "Memory", "Disk")})
    most = int(job_features(ad, given)[limit])
    if limit == "cpu_limit_secs":
        used = [{"RemoteUserCpu": float(seconds)} for seconds in (most, most + 1)]
    else:
        name, unit = SIZES[limit]
        used = [{name: most // unit}, {name: most // unit + 1}]
    at_most, more = (limits.exceeded(ad.merged(each), 1) for each in used)
    assert (at_most, bool(more)) == ("", True)


def test_how_long_a_slot_lets_a_job_retire_ends_none_that_has_no_limit_of_its_own(site):
    site.add("a.xml", USER)
    [ad] = site.fetch(SLOT.merged({"MaxJobRetirementTime": 60}))
    assert limits.exceeded(ad.merged({"RemoteUserCpu": 1e6}), 1e6) == ""


# A starter: it starts a job and then the hook, as two children of its own.
STARTER = """
import os, subprocess, sys
from sssjob.classads import long
from sssjob.classads.values import Ad
job = subprocess.Popen(["/bin/sh", "-c", sys.argv[2]], stdout=subprocess.PIPE)
job.stdout.read(1)
pid = job.pid if sys.argv[3] == "job" else os.getppid()
ad = {"SSSKey": "1.1", "JobPid": pid, "ResidentSetSize": 9999, "SSSFeature_max_rss_bytes": 1024}
hook = "from sssjob.__main__ import main; main()"
subprocess.run([sys.executable, "-c", hook, "condor", "update-job-info", "--documents", sys.argv[1],
                "--fold=never"], input=long.write(Ad(ad)).encode(), check=True)
if sys.argv[3] != "job":
    job.kill()
print(job.wait())
"""


@pytest.mark.parametrize(
    "program, whose, status",
    [
        ("echo; exec sleep 60", "job", -15),
        ("trap 'exit 3' TERM; echo; while :; do sleep 0.1; done", "job", 3),
        ("trap '' TERM; echo; exec sleep 60", "job", -9),
        ("echo; exec sleep 60", "another", -9),
    ],
)
def test_the_hook_ends_a_process_of_its_starter_and_no_other(
    site, monkeypatch, tmp_path, program, whose, status
):
    site.add("a.xml", USER)
    site.fetch()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", STARTER, site.path, program, whose], text=True, capture_output=True,
        env={**os.environ, "_CONDOR_SCRATCH_DIR": str(scratch)}, check=True,
    )  # fmt: skip
    assert int(done.stdout) == status
    monkeypatch.setenv("_CONDOR_SCRATCH_DIR", str(scratch))
    assert limits.marked().startswith("OUT_OF_MEMORY" if whose == "job" else "")
    assert ("is not one of the starter's" in done.stderr) == (whose != "job")


# What keeps the reason from being left in the scratch directory, or the report in the spool.
def no_spool(site, scratch):
    shutil.rmtree(site.state / SPOOL)
    (site.state / SPOOL).touch()


UNWRITABLE = {
    "a directory of that name": lambda site, scratch: (scratch / limits.MARK).mkdir(),
    "no scratch directory": lambda site, scratch: scratch.rmdir(),
    "a file where the spool was": no_spool,
}
OVER = {"SSSFeature_max_rss_bytes": 1024, "ResidentSetSize": 9999, "JobStartDate": 99}


@pytest.mark.parametrize("what", UNWRITABLE)
def test_a_job_is_ended_where_nothing_can_be_written(site, monkeypatch, tmp_path, what):
    """Disks that are full are what limits are for."""
    site.add("a.xml", USER)
    [ad] = site.fetch()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("_CONDOR_SCRATCH_DIR", str(scratch))
    UNWRITABLE[what](site, scratch)
    with subprocess.Popen(["/bin/sleep", "600"]) as job:
        monkeypatch.setattr(limits, "_parent", lambda pid: os.getppid())
        site.call("update-job-info", ad.merged({**OVER, "JobPid": job.pid}), fold="never")
        assert job.wait() == -15


@pytest.mark.parametrize("by_signal", [True, False])
def test_the_limit_that_a_job_was_ended_for_is_told_though_nobody_could_note_it(site, by_signal):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", ad, "accept")
    site.call("job-exit", ad.merged({**OVER, "JobPid": 7, "ExitBySignal": by_signal}), "exit")
    message = site.job("a.xml").get("StatusMessage")
    assert message.startswith("OUT_OF_MEMORY: 9999 KiB of memory used") is by_signal


def test_the_disk_of_a_fetched_job_is_what_its_scratch_directory_takes(site, monkeypatch, tmp_path):
    """Of a job that a slot fetched no starter says it."""
    scratch = tmp_path / "scratch"
    (scratch / "a" / "b").mkdir(parents=True)
    monkeypatch.setenv("_CONDOR_SCRATCH_DIR", str(scratch))
    (scratch / "a" / "b" / "large").write_bytes(b"x" * (3 << 20))
    empty = limits.disk_used(print) - 3072
    assert 0 <= empty < 64
    os.link(scratch / "a" / "b" / "large", scratch / "again")  # is no more
    (scratch / "elsewhere").symlink_to("/usr")
    with (scratch / "holes").open("wb") as file:
        file.truncate(1 << 30)
    assert limits.disk_used(print) - 3072 < 128
    site.add("a.xml", f"{USER}<Requested><Disk units='MB'>2</Disk></Requested>")
    [ad] = site.fetch()
    ended = []
    monkeypatch.setattr(limits, "end", lambda ad, reason, say: ended.append(reason))
    site.call("update-job-info", ad.merged({"JobPid": 7, "JobStartDate": int(time.time())}))
    assert [reason.partition(":")[0] for reason in ended] == ["ABORTED"]
    (scratch / "a" / "b" / "large").unlink()
    (scratch / "again").unlink()
    told = {"JobPid": 7, "JobStartDate": int(time.time()), "JobDuration": 5.0, "ExitCode": 0}
    site.call("job-exit", ad.merged(told), "exit")
    [most] = [
        each for each in site.job("a.xml").delivered.all("Disk") if "metric" in each.attributes
    ]
    assert (most.attributes["metric"], most.attributes["units"]) == ("Max", "KB")
    assert 3072 <= int(most.text) < 3072 + 128


def test_what_a_starter_says_of_the_disk_counts_and_without_a_directory_nothing_is_said(
    site, monkeypatch, tmp_path
):
    monkeypatch.setenv("_CONDOR_SCRATCH_DIR", str(tmp_path))
    for name, told in (("a", {"DiskUsage": 77}), ("b", {})):
        site.add(f"{name}.xml", USER, name)
        [ad] = site.fetch()
        if name == "b":
            monkeypatch.setenv("_CONDOR_SCRATCH_DIR", str(tmp_path / "none"))
        site.call("job-exit", ad.merged({"JobPid": 7, "JobStartDate": 99, **told}), "exit")
        most = [each.text for each in site.job(f"{name}.xml").delivered.all("Disk")
                if "metric" in each.attributes]  # fmt: skip
        assert most == ["77"] * (name == "a")


def test_a_scratch_directory_of_very_many_files_is_looked_at_in_bounded_time(monkeypatch, tmp_path):
    monkeypatch.setenv("_CONDOR_SCRATCH_DIR", str(tmp_path))
    monkeypatch.setattr(disk, "ENTRIES", 10)
    for number in range(30):
        (tmp_path / f"{number}").write_bytes(b"x" * 4096)
    assert 4 <= limits.disk_used(print) <= 40 * 2


# What a job may do with what it wrote, run in its scratch directory by its user.
BIG = "dd if=/dev/zero of=big bs=1M count=3 2>/dev/null"
HIDDEN = {
    "closed": f"mkdir x; cd x; {BIG}; cd ..; chmod 0 x",
    "closed within closed": f"mkdir -p x/y; cd x/y; {BIG}; cd ../..; chmod 0 x/y x",
    "not to be read": f"mkdir x; cd x; {BIG}; cd ..; chmod 333 x",
    "not to be passed": f"mkdir x; cd x; {BIG}; cd ..; chmod 666 x",
    "itself not to be read": f"{BIG}; chmod 111 .",
    "itself closed": f"{BIG}; chmod 0 .",
    # Longer than a path may be, and deeper than so many handles.
    "deep": f"n=$(printf %050d 0); for i in $(seq 100); do mkdir $n; cd $n; done; {BIG}",
    "deep and wide": f"for i in $(seq 400); do mkdir ddd a z; cd ddd; done; cd ../a; {BIG}",
    "deep and closed": f"for i in $(seq 300); do mkdir d; cd d; done; {BIG}; chmod 0 .",
    "of an odd name": f'n=$(printf \'a\\377\\nb\'); mkdir "$n"; cd "$n"; {BIG}',
}


def as_user(place, script):
    """What a job of another user takes after a script, and the modes of what it has."""
    read, write = os.pipe()
    if not (pid := os.fork()):
        try:
            os.setgroups([])
            os.setgid(1)
            os.setuid(1)
            subprocess.run(["/bin/bash", "-c", script], cwd=place, check=True)
            disk.OPEN = 50
            os.write(write, str(disk.used(place, print)).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    os.close(write)
    with open(read, "rb") as found:
        return int(found.read())


def modes(place):
    """The mode of each directory near the top."""
    found = [place, *Path(place).glob("*"), *Path(place).glob("*/*")]
    return [oct(each.stat().st_mode) for each in map(Path, found) if each.is_dir()]


# decision 886
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be a user of a job")
@pytest.mark.parametrize("how", HIDDEN)
def test_what_a_job_hides_in_its_scratch_directory_counts(how):
    with TemporaryDirectory(prefix="scratch") as place:
        os.chmod(place, 0o700)
        os.chown(place, 1, 1)
        used = as_user(place, HIDDEN[how])
        before = modes(place)
        assert disk.used(place, print) == used  # of root, who is kept from nothing
        assert modes(place) == before
        assert ("0o40000" in before) == (how in ("closed", "closed within closed", "itself closed"))
        subprocess.run(["/bin/rm", "-rf", "--", *Path(place).iterdir()], check=True)
    assert 3072 <= used < 3072 + 8192


def test_what_nobody_but_another_can_look_into_is_told(tmp_path, monkeypatch):
    (tmp_path / "of another").mkdir()
    monkeypatch.setattr(disk, "_entered", _closed(disk._entered))
    said = []
    assert disk.used(str(tmp_path), said.append) is not None
    assert said == ["a directory cannot be looked into, and does not count: 'of another'"]


def _closed(entered):
    def enter(name, above):
        if name == "of another":
            raise PermissionError(name)
        return entered(name, above)

    return enter


def test_a_directory_that_is_moved_while_it_is_looked_at_costs_its_rest_alone(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(disk, "OPEN", 2)
    (tmp_path / "a" / "b" / "c" / "d" / "e").mkdir(parents=True)
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "big").write_bytes(b"x" * (3 << 20))
    listed, last = disk._listed, tmp_path / "a" / "b" / "c" / "d" / "e"
    number = last.stat().st_ino

    def moved(room, device, seen):
        found = listed(room, device, seen)
        if room.identity[1] == number:
            last.rename(tmp_path / "e")
        return found

    monkeypatch.setattr(disk, "_listed", moved)
    assert disk.used(str(tmp_path), print) >= 3072
    assert (tmp_path / "e").exists()


def test_why_mandatory_features_are_not_there_is_told_of_an_attempt_that_never_started(
    site, monkeypatch, tmp_path
):
    monkeypatch.setenv("_CONDOR_SCRATCH_DIR", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / ".mjf").touch()
    site.add("a.xml", USER)
    [ad] = site.fetch()
    assert b"390" in site.call("prepare-job", ad, mandatory=True)
    site.call("job-exit", ad, "evict", attempts=1)
    site.fold()
    [row] = site.jobs("held")
    assert row.reason.startswith(
        "held after 1 attempts: it could not be started: features are not there: "
    )


def test_what_the_hook_noted_is_told_of_the_job(site, monkeypatch, tmp_path):
    monkeypatch.setenv("_CONDOR_SCRATCH_DIR", str(tmp_path))
    site.add("a.xml", USER)
    [ad] = site.fetch()
    limits.mark("OUT_OF_MEMORY: much")
    told = {"JobPid": 7, "JobStartDate": 99, "JobDuration": 5.0, "ExitCode": 0}
    site.call("job-exit", ad.merged(told), "exit")
    job = site.job("a.xml")
    assert (job.get("State"), job.get("StatusMessage")) == ("Completed", "OUT_OF_MEMORY: much")


@pytest.mark.parametrize(
    "told, word, state, message",
    [
        ({"JobDuration": 60.0, "ExitCode": 0}, "exit", "Completed", "TIMEOUT: it ran 60 s"),
        ({"JobDuration": 60.0, "ExitBySignal": True, "ExitSignal": 15}, "evict", "Completed",
         "TIMEOUT: it ran"),
        ({"JobDuration": 59.0, "ExitCode": 0}, "exit", "Completed", ""),
        ({"JobDuration": 9.0, "ExitBySignal": True}, "evict", "Idle", "evicted"),
    ],
)  # fmt: skip
def test_a_job_that_the_startd_ended_for_its_time_has_ended(site, told, word, state, message):
    site.add("a.xml", f'{USER}<Requested><Duration op="LE">60</Duration></Requested>')
    [ad] = site.fetch()
    site.call("job-exit", ad.merged({"JobPid": 7, "JobStartDate": 99, **told}), word)
    job = site.job("a.xml")
    assert job.get("State") == state
    assert job.get("StatusMessage").startswith(message)
    assert bool(job.get("StatusMessage")) == bool(message)
    assert bool(site.fetch()) == (state == "Idle")


@pytest.mark.parametrize(
    "ran, told", [(70, "it ran 70 s, 60 s allowed"), (58, "it ran 58 s of 75 s in its slot, 60 s")]
)
def test_a_job_over_its_time_is_told_the_time_that_its_duration_has(ran, told):
    ad = Ad({**STATED, names.KEY: "7.1", names.FETCHED: 100, "JobPid": 7,
             "JobDuration": float(ran), "ExitBySignal": True})  # fmt: skip
    assert told in reports._limited(ad, "exit", 175)


def test_jobs_of_a_schedd_are_left_to_it():
    ad = Ad({**STATED, "JobDuration": 99.0, "JobPid": 7, "GlobalJobId": "s#7.0#99"})
    assert reports._limited(ad, "exit", 99) == ""
