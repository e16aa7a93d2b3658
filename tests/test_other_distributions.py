"""A batch system of another distribution is treated as ours are, whatever is done with it."""

import getpass
import re
import shutil
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from outside import NAMES, PACKAGE, as_ours, declared, mirror
from pretended import Pretended

from sssjob import features, registry
from sssjob.cli import sssjob
from sssjob.submission.control import control, manager

DATA = Path(__file__).parent / "data"
OURS, THEIRS = "slurm", "mirror"
DOCUMENT = (
    "<Job><Id>3</Id><GlobalId>urn:x:3</GlobalId><Name>n</Name>"
    "<Executable>/bin/true</Executable></Job>"
)
SACCT = DATA / "slurm/24.11/all-steps-epoch.txt"
FILES = {
    "sacct.txt": SACCT, "sacct.json.gz": DATA / "slurm/24.11/sacct.json.gz",
    "jobcomp": DATA / "accounting/slurm-jobcomp/24.11.txt",
    "squeue.json": DATA / "lcginfo/slurm-24.11/squeue.json",
    "sinfo.json": DATA / "lcginfo/slurm-24.11/sinfo.json",
    "show-job.txt": DATA / "lcginfo/slurm-24.11/scontrol-show-job.txt",
    "assoc.txt": DATA / "lcginfo/slurm-22.05/sacctmgr-assoc.txt",
    "script.sh": DATA / "translate/sbatch.sh", "request.json": DATA / "translate/slurmrest.json",
}  # fmt: skip
ENVIRONMENT = {"SLURM_JOB_ID": "3", "SLURM_JOB_NUM_NODES": "1", "SLURMD_NODENAME": "n1"}


@pytest.fixture
def other(tmp_path, monkeypatch):
    """The distribution, as if it were installed."""
    mirror(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
def place():
    """A directory that root trusts, with what a site has, made anew each time it is called."""
    with pytest.MonkeyPatch.context() as patch:
        yield lambda folder: made(folder, patch)


def made(folder, patch):
    shutil.rmtree(folder, ignore_errors=True)
    system = Pretended(folder / "batch", OURS, getpass.getuser())
    for name, file in FILES.items():
        shutil.copy(file, folder / name)
    (folder / "job.xml").write_text(DOCUMENT)
    (folder / "jobs").mkdir()
    (folder / "jobs/3.xml").write_text(DOCUMENT)
    for name, value in {**ENVIRONMENT, "PATH": system.path, "XDG_STATE_HOME": "state"}.items():
        patch.setenv(name, value)
    patch.chdir(folder)
    return system


def printing(folder, programs):
    """Let commands print a file each, whatever they are asked."""
    for name, file in programs.items():
        path = folder / "batch/bin" / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\ncat {folder}/{file}\n")
        path.chmod(0o755)


def run(words):
    done = CliRunner().invoke(sssjob, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


# What the clock says, as a property and in the list of what was folded.
_MOMENT = re.compile(
    '<(Submit|Start|End)Time>.*?</.*?Time>|{"name": "(Submit|Start|End)Time", "text": "[0-9]+"}'
)
_APART = ("batch", "state", "jobs.db")  # what is pretended, and what holds times and inodes


def left(folder):
    """What stands in the files of a directory."""
    return {
        str(path.relative_to(folder)): _MOMENT.sub("", path.read_text(errors="replace"))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in _APART
    }


# Commands, one behind the other, as they are about ours; names stand alone as words.
# fmt: off
ROADS = {
    "convert": ["convert --from slurm sacct.txt"],
    "convert JSON": ["convert --from slurm-json sacct.json.gz"],
    "convert jobcomp": ["convert --from slurm-jobcomp --to jsonl -o out jobcomp"],
    "convert in parts": ["convert --from slurm --workers 2 --to sss-lines sacct.txt"],
    "convert what grows": ["convert --from slurm --state state -o out sacct.txt"] * 2,
    "convert bad": ["convert --from slurm jobcomp"],
    "report": ["report --from slurm --by user --json sacct.txt"],
    "report in parts": ["report --from slurm --workers 2 --csv sacct.txt"],
    "deliver": ["deliver --in-place jobs --from slurm --record sacct.txt"],
    "deliver to a store": ["store import jobs.db job.xml --by me",
                           "deliver jobs.db --from slurm --record sacct.txt",
                           "store export jobs.db"],
    "status of a file": ["status --from slurm --json squeue.json"],
    "status of a format": ["status --from scontrol --table show-job.txt"],
    "status asked": ["status --from slurm"],
    "translate to": ["translate --to sbatch job.xml", "translate --to slurmrest job.xml"],
    "translate from": ["translate --from sbatch --to sss script.sh",
                       "translate --from slurmrest --to sss request.json",
                       "translate --from squeue-json --to pbs --output-dir scripts squeue.json",
                       "translate --from scontrol --to sbatch --output-dir scripts show-job.txt"],
    "submit": ["submit --to slurm --dry-run job.xml", "submit --to slurm --hold --json job.xml",
               "release job.xml", "hold --to slurm job.xml", "cancel --to sbatch job.xml"],
    "submit to what is not submitted": ["submit --to slurmrest job.xml"],
    "prolog": ["features prolog --for slurm --root mjf --documents jobs",
               "features epilog --for slurm --root mjf --documents jobs"],
    "machine": ["features machine --for slurm --no-host --explain"],
    "install": ["features install --for slurm", "features install --for slurm --to scripts"],
    "collect": ["features collect --for slurm --documents jobs --record sacct.txt"],
    "collect asked": ["features collect --for slurm --documents jobs"],
    "features submit": ["features submit --for slurm --dry-run job.xml"],
    "lrms": ["lcginfo lrms --from slurm --now 2026-11-20T15:00:00Z squeue.json sinfo.json"],
    "caps": ["lcginfo caps --from slurm assoc.txt", "lcginfo caps --from slurm"],
}
# fmt: on
ASKED = {"status asked": {"squeue": "squeue.json"}, "caps": {"sacctmgr": "assoc.txt"}}
PARTS = ["convert in parts", "report in parts"]


@pytest.mark.parametrize("road", ROADS)
def test_each_road_is_the_same_for_theirs(other, place, safe_path, monkeypatch, road):
    folder = safe_path / "site"
    if road in PARTS:  # processes of their own have to find it, too
        monkeypatch.setenv("PYTHONPATH", str(other))
    found = []
    for names in ({}, NAMES):
        place(folder)
        printing(folder, ASKED.get(road, {}))
        told = [run([names.get(word, word) for word in line.split()]) for line in ROADS[road]]
        found.append((told, left(folder)))
    (ours, our_files), (theirs, their_files) = found
    said = [tuple(as_ours(str(each)) for each in line) for line in theirs]
    assert said == [tuple(map(str, line)) for line in ours]
    assert {as_ours(name): as_ours(text) for name, text in their_files.items()} == our_files


OPTIONS = [
    ("convert", "--from", "mirror-json"), ("report", "--from", "mirror-json"),
    ("deliver", "--from", "mirror-json"), ("status", "--from", "mirror-queue"),
    ("submit", "--to", THEIRS), ("cancel", "--to", THEIRS), ("translate", "--to", "mbatch"),
    ("translate", "--from", "mirror-queue"), ("lcginfo lrms", "--from", THEIRS),
    ("lcginfo caps", "--from", THEIRS), ("features prolog", "--for", THEIRS),
    ("features install", "--for", THEIRS), ("features collect", "--for", THEIRS),
    ("features submit", "--for", THEIRS), ("features machine", "--for", THEIRS),
]  # fmt: skip


@pytest.mark.parametrize("command, option, name", OPTIONS)
def test_their_names_stand_in_help_and_completion(other, command, option, name):
    shown = CliRunner().invoke(sssjob, [*command.split(), "--help"], terminal_width=10_000).stdout
    (line,) = (each for each in shown.splitlines() if each.lstrip().startswith(f"{option} "))
    described = line + shown.partition(line)[2].partition("\n")[2].partition("\n")[0]
    for each in (name, as_ours(name)):
        assert re.search(rf"[\[|: ]{each}[],|.;]", described), described
    completing = ShellComplete(sssjob, {}, "sssjob", "_SSSJOB_COMPLETE")
    found = completing.get_completions([*command.split(), option], name[:4])
    assert name in [each.value for each in found]


@pytest.mark.parametrize("command, option, name", OPTIONS)
def test_a_wrong_name_is_answered_with_theirs_among_the_others(other, command, option, name):
    words = [*command.split(), option, "mirrror", "x"]
    if command in ("cancel", "submit", "deliver", "translate"):
        (other / "x").write_text(DOCUMENT)
        words[-1] = str(other / "x")
    words += ["--record", "y"] if command == "deliver" else []
    words += ["--to", "sss"] if option == "--from" and command == "translate" else []
    words += ["--documents", str(other)] if command == "features collect" else []
    status, _, told = run(words)
    assert status == 2
    assert name in told


def test_a_gateway_takes_theirs_and_a_document_means_it(other):
    assert control(THEIRS).system == THEIRS
    assert control("mbatch").target == "mbatch"
    assert manager("Mirror") == THEIRS


def warned(message):
    """The rows that there are while something is warned of."""
    with pytest.warns(UserWarning, match=re.escape(message)):
        return registry.all_systems()


def test_an_entry_point_is_called_as_its_system(other):
    declared(other, {registry.SYSTEMS: {"mirrors": f"{PACKAGE}.system:SYSTEM"}})
    told = "the system mirrors, added by mirrored: its System is called 'mirror', and its entry"
    assert THEIRS not in warned(told)


def test_a_name_that_is_taken_is_told_and_the_first_one_stays(other):
    text = (other / PACKAGE / "system.py").read_text()
    (other / PACKAGE / "ours.py").write_text(text.replace('"mirror"', '"slurm"'))
    declared(other, {registry.SYSTEMS: {"slurm": f"{PACKAGE}.ours:SYSTEM"}})
    found = warned("the system slurm, added by mirrored: there is another one of that name")
    assert found["slurm"] is registry.systems()["slurm"]
    declared(other, {registry.SYSTEMS: {"mirror": f"{PACKAGE}.system:SYSTEM"}})
    declared(other, {registry.SYSTEMS: {"mirror": f"{PACKAGE}.system:SYSTEM"}}, "again")
    assert "mirror" in warned("the system mirror, added by")


def test_their_formats_and_targets_do_not_take_names_of_ours(other, place, safe_path):
    system = other / PACKAGE / "system.py"
    system.write_text(system.read_text().replace('Format("mirror"', 'Format("pbs"')
                      .replace('Format("mirror-queue"', 'Format("squeue-json"')
                      .replace('Target("mbatch"', 'Target("sge"'))  # fmt: skip
    for kind, name, rows in (
        ("format", "pbs", registry.all_formats), ("target", "sge", registry.all_targets),
        ("status format", "squeue-json", registry.all_status_formats),
    ):  # fmt: skip
        told = f"the {kind} {name}, added by mirrored: there is another one of that name"
        with pytest.warns(UserWarning, match=told):
            assert not any(PACKAGE in str(row) for row in [rows()[name]])
    # What folds the records of the system reads them by its own format, whatever that is called.
    words = ["features", "collect", "--for", THEIRS, "--documents", "jobs", "--record", "sacct.txt"]
    found = []
    for name in (THEIRS, OURS):
        place(safe_path / "site")
        found.append(run([*words[:3], name, *words[4:]]))
    assert found[0][:2] == found[1][:2]
    assert found[0][1]


@pytest.mark.parametrize("change, field", [
    pytest.param('queue="x:y"', "queue", id="a name where a Queue belongs"),
    pytest.param("formats=('x',)", "formats", id="a text where a Format belongs"),
    pytest.param("targets=None", "targets", id="nothing"),
    pytest.param("control=len", "control", id="what is no name"),
    pytest.param("inside='x:y'", "inside", id="a name where an Inside belongs"),
    pytest.param("words=('KILLED',)", "words", id="words alone"),
    pytest.param("words=SystemWords('KILLED')", "words", id="a text where words belong"),
    pytest.param("words=SystemWords(('Killed',))", "words", id="small letters"),
    pytest.param("words=SystemWords(('*',))", "words", id="whatever is said"),
    pytest.param("words=SystemWords(waits_by=('W',))", "words", id="no name of an Extension"),
    pytest.param("words=SystemWords(no_time=(0,))", "words", id="a number that is no word"),
    pytest.param("variables='KITE_*'", "variables", id="a text where several belong"),
    pytest.param("variables=('*',)", "variables", id="every variable"),
    pytest.param("variables=('A', 7)", "variables", id="a number that is no variable"),
])  # fmt: skip
def test_a_system_that_is_declared_wrongly_is_told(other, change, field):
    text = (
        "from sssjob.registry import System, SystemWords\n"
        f"SYSTEM = System('mirror', 'M', {change})\n"
    )
    (other / PACKAGE / "system.py").write_text(text)
    told = f"the system mirror, added by mirrored: its field {field} holds no such thing"
    assert THEIRS not in warned(told)


INSIDE = f"""
from sssjob.registry import Inside, System
SYSTEM = System("mirror", "M", inside=Inside("MIRROR_JOB_ID", "{PACKAGE}.inside:read"))
"""


def test_a_payload_knows_what_jobs_of_their_system_find(other):
    (other / PACKAGE / "system.py").write_text(INSIDE)
    reader = other / PACKAGE / "inside.py"
    reader.write_text(reader.read_text().replace("SLURM_", "MIRROR_"))
    found = features.here({"MIRROR_JOB_ID": "7", "MIRROR_CPUS_ON_NODE": "4"})
    assert found.job == {"job_id": "7", "allocated_cpu": 4}
    assert found.sources["allocated_cpu"] == "$MIRROR_CPUS_ON_NODE"
    ours = features.here({"MIRROR_JOB_ID": "7", "SLURM_JOB_ID": "8"})
    assert "job_id" not in ours.job  # nobody says which of both runs inside the other
    assert any("Slurm (8) and Slurm (7)" in each for each in ours.problems)
    assert features.here({"OTHER": "7"}).job == {}


@pytest.mark.parametrize(
    "body", ["raise OSError('no disk')", "return 1 / 0", "import nowhere_at_all"]
)
def test_a_payload_goes_on_where_their_reader_fails(other, body):
    (other / PACKAGE / "system.py").write_text(INSIDE)
    (other / PACKAGE / "inside.py").write_text(f"def read(environment):\n    {body}\n")
    found = features.here({"MIRROR_JOB_ID": "7"})
    assert found.job == {}
    assert any(each.startswith("$MIRROR_JOB_ID: ") for each in found.problems)


def broken(other, change):
    """Their system, with a dotted name that leads nowhere."""
    path = other / PACKAGE / "system.py"
    path.write_text(
        re.sub(rf'{change}="[^"]*"', f'{change}="{PACKAGE}.nowhere:X"', path.read_text())
    )


@pytest.mark.parametrize("thing, words", [
    ("control", "submit --to mirror job.xml"), ("control", "cancel --to mirror job.xml"),
    ("script", "features prolog --for mirror --root mjf"),
    ("installation", "features install --for mirror"),
    ("ended", "features collect --for mirror --documents jobs"),
    ("submission", "features submit --for mirror job.xml"),
])  # fmt: skip
def test_a_part_that_cannot_be_imported_is_told_in_a_line(other, place, safe_path, thing, words):
    broken(other, thing)
    place(safe_path / "site")
    status, _, told = run(words.split())
    assert status == 2
    assert f"the {thing} of the system mirror cannot be loaded: No module named" in told
    assert len(told.splitlines()) == 1


def test_a_broken_target_does_not_hinder_others(other, place, safe_path):
    path = other / PACKAGE / "system.py"
    path.write_text(path.read_text().replace("submission:SBATCH", "nowhere:SBATCH")
                    .replace("rest:TRANSLATOR", "submission:SBATCH"))  # fmt: skip
    place(safe_path / "site")
    assert run(["translate", "--to", "pbs", "script.sh"])[0] == 0
    status, _, told = run(["translate", "--to", "mbatch", "job.xml"])
    assert (status, told.count("\n")) == (2, 1)
    assert "the target mbatch cannot be loaded: No module named" in told
    status, _, told = run(["translate", "--to", "mirrorrest", "job.xml"])
    assert "the target mirrorrest is called mbatch by its Translator" in told
    status, shown, _ = run(["translate", "--to", "all", "--explain", "job.xml"])
    assert (status, "the target mbatch cannot be loaded" in shown) == (0, True)


CAPS = """
from sssjob.registry import Caps, Queue, System

LIMITS = Caps("mirrored_system:caps", ("q",))
SYSTEM = System("maui", "M", queue=Queue("x:y", (("q",),), caps=LIMITS))
"""


def test_a_name_of_limits_that_is_taken_stays_and_the_other_is_warned_of(other, place, tmp_path):
    place(tmp_path / "here")
    text = (DATA / "lcginfo/maui/diagnose-g.txt").read_text()
    Path("groups.txt").write_text(text)
    (other / PACKAGE / "system.py").write_text(CAPS)
    declared(other, {registry.SYSTEMS: {"maui": f"{PACKAGE}.system:SYSTEM"}})
    told = "the caps maui, added by mirrored: there is another one of that name"
    with pytest.warns(UserWarning, match=told):
        done = run(["lcginfo", "caps", "--from", "maui", "groups.txt"])
    assert done[:2] == (0, "{'atlsgm': 200, 'lhcb': 40, 'old': 8}\n")
    assert run(["lcginfo", "caps", "--help"])[1].count("maui|") == 1
