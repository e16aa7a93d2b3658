"""Jobs submitted by the library, to commands that print what those of batch systems do."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

import pytest
from counting import calls
from pretended import COMMANDS, Pretended

from sssjob import store
from sssjob.commands import CommandFailed
from sssjob.document import loads, read
from sssjob.errors import UnusableInput
from sssjob.submission import (
    Changed,
    How,
    InFile,
    InStore,
    NotSubmitted,
    Order,
    SubmitOptions,
    calling,
    control,
    steer,
    submit,
)

CHAIN = """<JobGroup><Id>g</Id><!-- kept -->
<Job><Id>last</Id><Executable>/bin/true</Executable>{last}</Job>
<Job><Id>a</Id><Name>first</Name><Executable>/bin/true</Executable></Job>
<Job><Id>b</Id><Executable>/bin/true</Executable>{middle}</Job>
</JobGroup>
"""
ONE = "<Job><Id>mine</Id><Executable>/bin/true</Executable></Job>"


@pytest.fixture(params=sorted(COMMANDS))
def system(request, tmp_path, monkeypatch):
    """Each batch system."""
    return begun(tmp_path, monkeypatch, request.param)


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Slurm."""
    return begun(tmp_path, monkeypatch, "slurm")


ME = pwd.getpwuid(os.geteuid()).pw_name


def begun(tmp_path, monkeypatch, name):
    found = Pretended(tmp_path / "batch", name, ME)
    monkeypatch.setenv("PATH", found.path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return found


def document(text):
    Path("job.xml").write_text(text)
    return InFile(Path("job.xml"))


def submitted(place, system, **options):
    return list(submit(place, SubmitOptions(system.system, **options), How(seconds=600)))


def steered(place, order):
    return [(each.state, each.done, each.why) for each in steer(place, Order(order), how=How(600))]


def the_job():
    (job,) = read("job.xml")
    return job


def test_a_job_is_submitted_once_and_its_document_knows_it(system):
    place = document(ONE)
    (first,) = submitted(place, system)
    job = the_job()
    assert (job.id, job.get("GlobalId")) == (first.id, first.global_id)
    assert (job.get("State"), job.get("SubmitTime").isdigit()) == ("Idle", True)
    assert [(each.id, each.new) for each in submitted(place, system)] == [(first.id, False)]
    assert [each["state"] for each in system.jobs.values()] == ["idle"]


def test_a_copy_with_the_same_global_id_finds_the_job(system):
    place = document(ONE.replace("</Id>", "</Id><GlobalId>urn:x:1</GlobalId>"))
    copy = Path("job.xml").read_text()
    (first,) = submitted(place, system)
    (again,) = submitted(document(copy), system)
    assert (first.new, again.new, again.id) == (True, False, first.id)
    assert (len(system.jobs), the_job().id, the_job().get("State")) == (1, first.id, "Idle")


def test_the_mark_of_another_user_is_none(system):
    text = ONE.replace("</Id>", "</Id><GlobalId>a b,'&quot;|</GlobalId>")
    (first,) = submitted(document(text), system)
    (system.root / "jobs.json").write_text(
        (system.root / "jobs.json").read_text().replace(f'"{ME}"', '"mallory"')
    )
    (again,) = submitted(document(text), system)
    assert (again.new, again.id != first.id) == (True, True)


def test_a_held_job_stays_held_and_is_steered_by_its_document(system):
    place = document(ONE)
    submitted(place, system, hold=True)
    assert (the_job().get("Hold"), the_job().get("State")) == ("User", "Hold")
    submitted(place, system)
    assert [each["state"] for each in system.jobs.values()] == ["hold"]
    assert steered(place, "hold") == [("Hold", False, "")]
    assert steered(place, "release") == [("Idle", True, "")]
    assert (the_job().get("Hold"), the_job().get("State")) == ("", "Idle")
    assert steered(place, "release") == [("Idle", False, "")]
    assert steered(place, "hold") == [("Hold", True, "")]
    assert steered(place, "cancel") == [("Cancelled", True, "")]
    assert steered(place, "cancel") == [("Cancelled", False, "")]
    assert [each["state"] for each in system.jobs.values()] == ["over"]
    ((state, done, why),) = steered(place, "hold")
    assert (state, done, "it has ended: Cancelled" in why) == ("Cancelled", False, True)


def waits(text, condition="OnExit", designator=None):
    more = f' designator="{designator}"' if designator else ""
    return f'<Dependency condition="{condition}"{more}>{text}</Dependency>'


# How the directive of a job that waits for jobs 1 and 2 begins in a script.
WAITING = {
    "slurm": ("#SBATCH --dependency=afterany:1", "#SBATCH --dependency=afterany:2,afterany:1"),
    "pbs": ("#PBS -W depend=afterany:1.server",
            "#PBS -W depend=afterany:2.server,afterany:1.server"),
    "gridengine": ("#$ -hold_jid 1", "#$ -hold_jid 2,1"),
    "lsf": ('#BSUB -w ended(1)', '#BSUB -w "ended(2) && ended(1)"'),
}  # fmt: skip


@pytest.mark.parametrize("name", WAITING)
def test_a_group_is_submitted_in_the_order_of_its_dependencies_with_real_ids(
    name, tmp_path, monkeypatch
):
    system = begun(tmp_path, monkeypatch, name)
    text = CHAIN.format(last=waits("b") + waits("a"), middle=waits("first", designator="JobName"))
    done = submitted(document(text), system)
    assert [each.job.id for each in done] == ["a", "b", "last"]
    lines = [
        [line for line in job["text"].splitlines() if line in WAITING[name]]
        for job in system.jobs.values()
    ]
    assert lines == [[], [WAITING[name][0]], [WAITING[name][1]]], system.jobs
    group = the_job()
    assert [job.id for job in group.jobs] == [done[2].id, done[0].id, done[1].id]
    assert [item.text for item in group.jobs[0].items if item.name == "Dependency"] == [
        done[1].id, done[0].id,
    ]  # fmt: skip
    assert "<!-- kept -->" in Path("job.xml").read_text()


def test_ids_of_the_document_that_look_like_those_of_the_system_are_not_taken_for_them(slurm):
    text = CHAIN.format(last=waits("2"), middle=waits("3")).replace("<Id>a", "<Id>3")
    text = text.replace("<Id>b", "<Id>2").replace("<Id>last", "<Id>1")
    slurm.fault("sbatch before fail")
    with pytest.raises(CommandFailed):
        submitted(document(text), slurm)
    slurm.fault("scontrol release 2 before fail")
    with pytest.raises(CommandFailed):
        submitted(document(Path("job.xml").read_text()), slurm)
    slurm.fault()
    assert [each.id for each in submitted(document(Path("job.xml").read_text()), slurm)] == [
        "1", "2", "3",
    ]  # fmt: skip
    asked = ["".join(line[10:] for line in job["text"].splitlines() if "--dep" in line)
             for job in slurm.jobs.values()]  # fmt: skip
    assert asked == ["", "dependency=afterany:1", "dependency=afterany:2"]


def test_what_defaults_lend_waits_for_real_ids(slurm):
    text = CHAIN.format(last="", middle="").replace(
        "<!-- kept -->", f"<JobDefaults>{waits('a')}</JobDefaults>"
    )
    submitted(document(text), slurm)
    asked = ["".join(line[10:] for line in job["text"].splitlines() if "--dep" in line)
             for job in slurm.jobs.values()]  # fmt: skip
    assert asked == ["", "dependency=afterany:1", "dependency=afterany:1"]
    assert f"<JobDefaults>{waits('1')}</JobDefaults>" in Path("job.xml").read_text()
    assert [each.new for each in submitted(InFile(Path("job.xml")), slurm)] == [False] * 3


REFUSED = {
    "must not be left out": CHAIN.format(last="<Quote>q</Quote>", middle=""),
    "not understood": CHAIN.format(last="<Mood>m</Mood>", middle=""),
    "a stranger": CHAIN.format(last="<User>nobody-here</User>", middle=""),
    "no program": CHAIN.format(last="", middle="").replace("/bin/true", "#none", 1),
    "a circle": CHAIN.format(last=waits("b"), middle=waits("last")),
    "two of an Id": CHAIN.format(last=waits("a"), middle="").replace("<Id>b", "<Id>a"),
    "two of a GlobalId": CHAIN.format(
        last="<GlobalId>x</GlobalId>", middle="<GlobalId>x</GlobalId>"
    ),
    "a line end": CHAIN.format(last="<Queue>a&#10;#SBATCH -A x</Queue>", middle=""),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_of_one_job_refuses_all_before_any_is_submitted(slurm, text):
    with pytest.raises(NotSubmitted) as refused:
        submitted(document(text), slurm)
    assert refused.value.findings
    assert slurm.calls == []
    assert Path("job.xml").read_text() == text


def test_a_refusal_midway_stops_and_a_later_call_goes_on(slurm):
    text = CHAIN.format(last=waits("b"), middle=waits("a"))
    slurm.fault("sbatch before fail")
    with pytest.raises(CommandFailed):
        next(submit(document(text), SubmitOptions("slurm"), How(600)))
    slurm.fault()
    running = submit(InFile(Path("job.xml")), SubmitOptions("slurm"), How(600))
    assert next(running).id == "1"
    slurm.fault("sbatch before fail")
    with pytest.raises(CommandFailed):
        next(running)
    slurm.fault()
    again = submitted(InFile(Path("job.xml")), slurm)
    assert [(each.id, each.new) for each in again] == [("1", False), ("2", True), ("3", True)]


def test_only_the_chosen_job_is_submitted_if_what_it_waits_for_is_there(slurm):
    place = document(CHAIN.format(last=waits("b"), middle=waits("a")))
    with pytest.raises(NotSubmitted, match="not to be submitted"):
        submitted(place, slurm, chosen=lambda job: job.id == "b")
    submitted(place, slurm, chosen=lambda job: job.id == "a")
    submitted(place, slurm, chosen=lambda job: job.id == "b")
    assert len(slurm.jobs) == 2


def test_a_job_does_not_wait_for_one_of_another_batch_system(slurm):
    place = document(CHAIN.format(last=waits("a"), middle=""))
    submitted(place, slurm, chosen=lambda job: job.id == "a")
    Path("job.xml").write_text(Path("job.xml").read_text().replace(">slurm<", ">lsf<"))
    with pytest.raises(NotSubmitted, match="submitted to another batch system"):
        submitted(place, slurm)
    assert len(slurm.jobs) == 1


def test_who_submits_is_not_told_by_the_environment(system, monkeypatch):
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "mallory")
    text = ONE.replace("</Id>", "</Id><GlobalId>urn:x:1</GlobalId>")
    (first,) = submitted(document(text), system)
    (again,) = submitted(document(text), system)
    assert (again.id, again.new) == (first.id, False)


# A script that says something by the option of the mark, and the words of the mark then.
CARRIED = [
    ("slurm", "sbatch", "#SBATCH --comment 'a b'", ("--comment=a b sssjob:1",)),
    ("slurm", "sbatch", "", ("--comment=sssjob:1",)),
    ("pbs", "pbs", "#PBS -v A=1,B", ("-v", "A=1,B,SSSJOB=sssjob:1")),
    ("torque", "torque", "", ("-v", "SSSJOB=sssjob:1")),
    ("sge", "sge", "#$ -ac x=y", ("-ac", "x=y,SSSJOB=sssjob:1")),
    ("lsf", "lsf", '#BSUB -Jd "mine"', ("-Jd", "mine sssjob:1")),
]


@pytest.mark.parametrize(("name", "target", "line", "words"), CARRIED)
def test_a_mark_stands_behind_what_a_script_says_by_the_same_option(name, target, line, words):
    found = control(name)
    assert found.target == target
    text = f"#!/bin/sh\n{line}\nexec /bin/true\n"
    assert found.mark(found.target, text, "sssjob:1") == (words, text)


@pytest.mark.parametrize("name", ["sss", "slurmrest", "jsdl", "nothing", "slrum"])
def test_what_takes_no_jobs_says_what_does(name):
    with pytest.raises(UnusableInput, match=r"is no known|takes no jobs|is not submitted"):
        control(name)


NAMESPACED = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- f\xfcnf --><s:Jobs xmlns:s="http://www.scidac.org/ScalableSystems/SSSRMAP">
<s:Job><s:JobId>w</s:JobId><s:Executable>/bin/true</s:Executable></s:Job></s:Jobs>
"""


def test_what_is_written_is_in_the_namespace_of_the_job_and_all_else_is_kept(slurm):
    place = document("")
    place.path.write_bytes(NAMESPACED.encode("latin-1"))
    submitted(place, slurm, hold=True)
    text = place.path.read_bytes().decode("latin-1")
    head, tail = NAMESPACED.split("<s:JobId>w</s:JobId>")
    kept, end = tail.split("</s:Job>")
    assert text.startswith(f"{head}<s:JobId>1</s:JobId>{kept}<s:GlobalId>")
    assert text.endswith(f"</s:Hold></s:Job>{end}")
    job = the_job()
    names = ("Id", "GlobalId", "SubmitTime", "State", "ResourceManagerType", "Hold")
    assert {job.properties[name].namespace for name in names} == {job.namespace}


def test_a_job_that_another_batch_system_has_is_told(slurm):
    place = document(ONE)
    submitted(place, slurm)
    (done,) = submit(place, SubmitOptions("pbs"), How(600))
    assert (done.id, done.new) == ("1", False)
    assert [each.message for each in done.findings] == ["job 1 is submitted to slurm already"]


def test_a_command_that_fails_after_it_was_heard_is_asked_about(system):
    name = {"flux": "flux job submit"}.get(system.system, COMMANDS[system.system][0])
    system.fault(f"{name} after fail")
    (done,) = submitted(document(ONE), system)
    assert (done.id, done.state, len(system.jobs)) == (the_job().id, "Idle", 1)


def test_nothing_is_submitted_where_the_look_up_does_not_work(system):
    place = document(ONE.replace("</Id>", "</Id><GlobalId>urn:x:1</GlobalId>"))
    name = {"slurm": "squeue", "lsf": "bjobs", "condor": "condor_q", "flux": "flux jobs"}
    system.fault(f"{name.get(system.system, 'qstat')} before fail")
    with pytest.raises(CommandFailed):
        submitted(place, system)
    assert system.jobs == {}


def test_a_document_of_a_store_keeps_every_version(slurm, tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        with jobs.change() as change:
            number = change.put(ONE.encode()).number
        place = InStore(jobs, number, "test")
        (done,) = submitted(place, slurm)
        (again,) = submitted(place, slurm)
        assert (done.id, again.new) == ("1", False)
        assert steered(place, "cancel") == [("Cancelled", True, "")]
        stored = jobs.get("1")
        states = [loads(each.document).get("State") for each in jobs.versions(stored.identity)]
    assert states == ["", "", "Hold", "Idle", "Idle", "Cancelled"]  # before and behind scancel


def test_a_document_that_loses_its_job_meanwhile_is_told(slurm):
    place = document(ONE)
    running = submit(place, SubmitOptions("slurm"), How(600))
    slurm.fault("sbatch after wait")
    (slurm.root / "go").write_text("")
    program = slurm.root / "program"
    program.write_text(program.read_text().replace(
        'faults("after")', f'open("{Path.cwd()}/job.xml", "w").write("<Job><Id>else</Id></Job>")'
    ))  # fmt: skip
    with pytest.raises(Changed, match="job 1 of the batch system"):
        next(running)


@pytest.mark.parametrize("id_", ["-rf", "--all", "1 2", "1;2", "$(x)", "1\n2", "é"])
def test_an_id_that_is_none_is_no_argument(system, id_):
    place = document(
        f"<Job><Id>{id_}</Id><SubmitTime>1</SubmitTime>"
        f"<ResourceManagerType>{system.system}</ResourceManagerType></Job>"
    )
    for order in Order:
        ((_, done, why),) = steered(place, order)
        assert (done, f"id of a job of {system.system}" in why) == (False, True)
    assert system.calls == []


def test_another_id_in_a_document_steers_nothing_where_marks_count(system):
    place = document(ONE)
    submitted(place, system)
    text = Path("job.xml").read_text()
    (own,) = steer(place, Order.HOLD, how=How(600), marked=True)
    assert (own.state, own.done) == ("Hold", True)
    (job,) = read("job.xml")
    for forged in (text.replace(job.get("GlobalId"), "urn:x:other"),
                   text.replace("GlobalId>", "Name>")):  # fmt: skip
        (found,) = steer(document(forged), Order.CANCEL, how=How(600), marked=True)
        assert (found.done, "not have the mark" in found.why) == (False, True)
    assert [each["state"] for each in system.jobs.values()] == ["hold"]


def test_commands_about_a_job_of_another_cluster_are_told_of_it(slurm):
    program = slurm.root / "program"
    program.write_text(program.read_text().replace(
        'calls.write(WHOLE + "\\n")',
        'calls.write(NAME + " " + os.environ.get("SLURM_CLUSTERS", "") + "\\n")',
    ))  # fmt: skip
    group = CHAIN.format(last="", middle="<Machine>east</Machine>").replace(
        "<!-- kept -->", "<JobDefaults><Machine>west</Machine></JobDefaults>"
    )
    place = document(group)
    submitted(place, slurm)
    steered(place, "cancel")
    for cluster, number in (("west", 2), ("east", 1)):
        called = [call.split()[0] for call in slurm.calls if call.endswith(f" {cluster}")]
        assert sorted(called) == sorted(["sbatch", "scontrol", "squeue", "scancel"] * number)


def test_a_job_that_is_not_there_is_told(system):
    place = document(
        "<Job><Id>77</Id><SubmitTime>1</SubmitTime>"
        f"<ResourceManagerType>{system.system}</ResourceManagerType></Job>"
    )
    for order in Order:
        ((_, done, why),) = steered(place, order)
        assert (done, "does not have it any more" in why) == (False, True)


def test_a_job_that_wants_a_terminal_is_not_submitted(system):
    place = document(ONE.replace("</Id>", "</Id><Interactive>true</Interactive>"))
    with pytest.raises(NotSubmitted):
        submitted(place, system)
    assert not system.jobs


def group(number):
    """A group of so many jobs, each of which waits for the one before."""
    jobs = "".join(
        f"<Job><Id>j{place}</Id><Executable>/bin/true</Executable>"
        f"{waits(f'j{place - 1}') if place else ''}</Job>\n"
        for place in range(number)
    )
    return f"<JobGroup><Id>g</Id>\n{jobs}</JobGroup>\n"


class Stopped(BaseException):
    """This process is ended."""


class InProcess:
    """The commands of Slurm in this process, which the last of ``left`` commands ends.

    It does so before its work or ``after`` it; ``killed``, nothing more is written, either.
    """

    def __init__(self, left=10_000, *, after=False, killed=False):
        self.jobs, self.left, self.after, self.killed = {}, left, after, killed

    def run(self, words, *arguments, **named):
        self.left -= 1
        if self.left < 0 and not self.after:
            raise Stopped
        printed = getattr(self, words[0])(words[1:])
        if self.left < 0:
            raise Stopped
        return printed.encode()

    def sbatch(self, words):
        id_ = str(len(self.jobs) + 1)
        (mark,) = (word.partition("=")[2] for word in words if word.startswith("--comment="))
        self.jobs[id_] = (mark, "JobHeldUser")
        return f"{id_}\n"

    def squeue(self, words):
        return "".join(
            f"{id_}|PENDING|1795185000|{reason}|{mark}\n"
            for id_, (mark, reason) in self.jobs.items()
            if "--me" in words or f"--jobs={id_}" in words
        )

    def sacct(self, words):
        return ""

    def scontrol(self, words):
        order, id_ = words
        assert order == "release"
        self.jobs[id_] = (self.jobs[id_][0], "None")
        return ""


@dataclass(frozen=True)
class Written(InFile):
    """A document that is not written any more by who was killed."""

    by: InProcess = None

    def change(self, change):
        if self.by.killed and self.by.left < 0:
            raise Stopped
        InFile.change(self, change)


def in_process(monkeypatch, tmp_path, *arguments, **named):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    found = InProcess(*arguments, **named)
    monkeypatch.setattr(calling.commands, "run", found.run)
    return found


def test_what_a_submission_costs_grows_with_the_document(tmp_path, monkeypatch):
    in_process(monkeypatch, tmp_path)

    def work(number):
        place = document(group(number))
        return calls(lambda: [*submit(place, SubmitOptions("slurm"), How(600))])

    few, many = work(40), work(160)
    (found,) = read("job.xml")
    assert [job.get("State") for job in found.jobs] == ["Idle"] * 160
    assert found.jobs[-1]["Dependency"].text == found.jobs[-2].id
    assert many < 5 * few


@pytest.mark.parametrize("killed", [False, True], ids=["interrupted", "killed"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_wherever_a_submission_ends_a_later_call_goes_on(tmp_path, monkeypatch, after, killed):
    """Each job is submitted once, and released, whichever command is the last one."""
    for end in range(20):
        system = in_process(monkeypatch, tmp_path, end, after=after, killed=killed)
        place = document(group(10))
        with pytest.raises(Stopped):
            [*submit(Written(place.path, system), SubmitOptions("slurm"), How(600))]
        if not killed:
            assert submitted_jobs() >= len(system.jobs) - after
        system.left = 10_000
        again = [*submit(place, SubmitOptions("slurm"), How(600))]
        assert sorted(int(each.id) for each in again) == [*range(1, 11)]
        (found,) = read("job.xml")
        assert [job.id for job in found.jobs] == [each.id for each in again]
        assert {job.get("State") for job in found.jobs} == {"Idle"}
        assert [reason for _, reason in system.jobs.values()] == ["None"] * 10


def submitted_jobs():
    """How many jobs the document knows to be submitted."""
    (found,) = read("job.xml")
    return sum(1 for job in found.jobs if job.get("SubmitTime"))


def test_a_job_that_a_copy_of_the_document_released_is_released(tmp_path, monkeypatch):
    system = in_process(monkeypatch, tmp_path)
    release = system.scontrol

    def refused(words):
        release(words)
        raise CommandFailed("scontrol release", "the job is not held", 1)

    system.scontrol = refused
    (done,) = submit(document(ONE), SubmitOptions("slurm"), How(600))
    assert (done.state, the_job().get("State")) == ("Idle", "Idle")
