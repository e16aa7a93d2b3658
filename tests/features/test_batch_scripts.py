"""The scripts that a site installs are run here, with a command in the place of ours."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import HANG, runs, until

from sssjob import registry
from sssjob.errors import InvalidValue, Unprotected
from sssjob.features.batch import scripts
from sssjob.features.batch.scripts import ConfigFile, Installation, write

SYSTEMS = [name for name, row in registry.systems().items() if row.script]
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
TELLS = '#!/bin/sh\necho "$@" > {0}/called\nenv | sort > {0}/environment\n'


@pytest.fixture
def install(safe_path):
    """Install the scripts of a system, which call a program of the given text."""

    def installed(system, program=TELLS, **options):
        command = safe_path / "sssjob"
        command.write_text(program.format(safe_path))
        command.chmod(0o755)
        place = safe_path / "scripts"
        options = {"root": str(safe_path / "mjf"), "log": str(safe_path / "log"), **options}
        found = Installation(system, str(place), [str(command)], **options)
        write(place, found.scripts())
        return place

    return installed


def run(script, *arguments, **environment):
    return subprocess.run(
        [script, *arguments], env={"PATH": PATH, **environment}, capture_output=True, text=True,
        check=False, timeout=HANG,
    )  # fmt: skip


SCRIPTS = [
    (system, name)
    for system in SYSTEMS
    for name in Installation(system, "/x", ["sssjob"]).scripts()
    if not name.endswith(".lua")
]


@pytest.mark.parametrize(("system", "name"), SCRIPTS)
def test_every_script_is_one_that_a_shell_can_read(install, system, name):
    place = install(system, root="/run/o'clock/%n", jobs="/srv/a b", options=["--site=/etc/x y"])
    done = run("/bin/sh", "-n", str(place / name))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("system", "name", "word"),
    [
        ("slurm", "prolog", "prolog"), ("slurm", "epilog", "epilog"),
        ("gridengine", "prolog", "prolog"), ("gridengine", "epilog", "epilog"),
        ("pbs", "prologue", "prolog"), ("pbs", "epilogue", "epilog"),
        ("lsf", "prolog", "prolog"), ("lsf", "epilog", "epilog"),
        ("flux", "prolog", "prolog"), ("flux", "epilog", "epilog"),
    ],
)  # fmt: skip
def test_a_script_calls_the_command_for_its_job(install, safe_path, system, name, word):
    place = install(system, jobs="/srv/jobs")
    assert run(place / name, "7.ce", "alice", SLURM_JOB_ID="7", JOB_ID="7").returncode == 0
    called = (safe_path / "called").read_text().split()
    assert called[:4] == ["features", word, "--for", system]
    assert "--documents=/srv/jobs" in called
    assert called[called.index("--root") + 1] == str(safe_path / "mjf")
    assert called[-2:] == (["7.ce", "alice"] if system == "pbs" else called[-2:])


# What a script could look for by its name, and some words of the shell.
NAMES = (
    "timeout", "env", "[", "test", "exec", ":", "uname", "exit", "log", "sh", "command", "echo",
    "for", "case", "/usr/bin/env", "/bin/sh", "set", "sort",
)  # fmt: skip
ROOTS = [(name, script) for name, script in SCRIPTS if script.startswith(("prolog", "epilog"))]


# As Slurm with RunInJob does: a signal for each process below the one that started the script.
ENDS = f"""\
#!{sys.executable}
import os, signal, sys
from pathlib import Path
with open("{{0}}/calls", "a") as calls:
    calls.write(sys.argv[2] + "\\n")
if len(Path("{{0}}/calls").read_text().splitlines()) < int(Path("{{0}}/spared").read_text()):
    pids, above = [], os.getpid()
    while above != int(Path("{{0}}/top").read_text()):
        pids.append(above)
        above = int(Path(f"/proc/{{{{above}}}}/stat").read_text().rpartition(")")[2].split()[1])
    for pid in pids[::-1]:
        os.kill(pid, signal.SIGTERM)
    signal.pause()
sys.exit(2)
"""


@pytest.mark.parametrize(("spared", "own"), [(1, ""), (2, "a"), (9, "")])
@pytest.mark.parametrize(("system", "name"), ROOTS)
def test_an_epilog_that_is_ended_is_done_again_and_a_prolog_is_not(
    install, safe_path, system, name, spared, own
):  # fmt: skip
    """A prolog that went on could make directories behind the epilog of its job."""
    (safe_path / "top").write_text(str(os.getpid()))
    (safe_path / "spared").write_text(str(spared))
    (safe_path / "a").write_text("#!/bin/sh\ntrap - TERM\nkill -TERM $$\n")
    (safe_path / "a").chmod(0o755)
    is_last = name.startswith("epilog")
    owned = {name: str(safe_path / "a")} if own and is_last else {}
    script = install(system, ENDS, own=owned) / name
    done = run(script, "7.ce", "amy", SLURM_JOB_ID="7", JOB_ID="7", LSB_JOBID="7", FLUX_JOB_ID="7")
    calls = (safe_path / "calls").read_text().splitlines()
    assert set(calls) == {"epilog" if is_last else "prolog"}
    assert len(calls) == (min(spared, 3) if is_last else 1)
    assert done.returncode == (143 if owned else 0 if is_last or spared == 1 else -15)
    told = (safe_path / "log").read_text()
    job = "7.ce" if system == "pbs" else "7"
    line = f" epilog {system} {job}: it was ended: exit code 143\n"
    assert told.count(line) == (min(spared - 1, 3) if is_last else 0)


@pytest.mark.parametrize(
    ("system", "variables", "job"),
    [
        ("gridengine", {"JOB_ID": "7", "SGE_TASK_ID": "3"}, "7.3"),
        ("gridengine", {"JOB_ID": "7", "SGE_TASK_ID": "undefined"}, "7"),
        ("lsf", {"LSB_JOBID": "7", "LSB_JOBINDEX": "3"}, "7[3]"),
        ("lsf", {"LSB_JOBID": "7", "LSB_JOBINDEX": "0"}, "7"),
        ("flux", {"FLUX_JOB_ID": "ƒiFkbMhFM"}, "ƒiFkbMhFM"),
        ("slurm", {}, "-"),
    ],
)
def test_the_log_names_the_job_of_a_script_that_was_ended(
    install, safe_path, system, variables, job
):  # fmt: skip
    script = install(system, "#!/bin/sh\nkill -9 $$\n") / "epilog"
    run(script, **variables)
    told = (safe_path / "log").read_text()
    assert told.endswith(f" epilog {system} {job}: it was ended: exit code 137\n")


WAITS = """\
#!/bin/sh
echo $$ >{0}/new; mv {0}/new {0}/pid
cat {0}/go >/dev/null
echo >{0}/done
"""


@pytest.mark.parametrize(("system", "name"), ROOTS)
def test_a_prolog_dies_with_its_script_and_an_epilog_goes_on(install, safe_path, system, name):
    """Slurm kills the process group of one that takes too long, and runs the epilog of the job."""
    os.mkfifo(safe_path / "go")
    script = install(system, WAITS) / name
    job = {"PATH": PATH, "SLURM_JOB_ID": "7", "JOB_ID": "7", "LSB_JOBID": "7"}
    process = subprocess.Popen([script, "7.ce", "amy"], env=job, start_new_session=True)
    assert until((safe_path / "pid").exists)
    pid = (safe_path / "pid").read_text().strip()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if name.startswith("epilog"):
        (safe_path / "go").write_text("")
        assert until((safe_path / "done").exists)
    else:
        assert until(lambda: not runs(pid))
        assert not (safe_path / "done").exists()


@pytest.mark.parametrize("own", ["", "a"])
@pytest.mark.parametrize(("system", "name"), ROOTS)
def test_root_runs_no_function_that_a_user_exported(install, safe_path, system, name, own):
    """bash takes functions from the environment also where it is called as sh."""
    (safe_path / "a").write_text("#!/bin/true\n")
    (safe_path / "a").chmod(0o755)
    owned = {name: str(safe_path / "[a]*")} if own else {}
    script = install(system, own=owned) / name
    names = {f"BASH_FUNC_{each}%%": f"() {{ : > {safe_path}/led; }}" for each in NAMES}
    more = {"own": "5", "IFS": "/", "ENV": str(safe_path / "env"), "SLURM_JOB_ID": "7"}
    for shell in ("/bin/bash", "/bin/sh"):
        done = subprocess.run(
            ["sh", str(script), "7.ce", "amy"], executable=shell, check=False, timeout=HANG,
            env={"PATH": str(safe_path), **names, **more}, capture_output=True,
        )  # fmt: skip
        assert done.returncode == 0
        assert (safe_path / "called").read_text().startswith("features ")
        assert not (safe_path / "led").exists()
        (safe_path / "called").unlink()


def test_a_log_that_is_a_pipe_keeps_no_script(install, safe_path):
    os.mkfifo(safe_path / "log")
    place = install("slurm")
    assert run(place / "prolog", SLURM_JOB_ID="7").returncode == 0
    assert (safe_path / "called").exists()


def test_ports_of_grid_engine_are_those_of_who_installs(install, safe_path, monkeypatch):
    monkeypatch.setenv("SGE_QMASTER_PORT", "6444")
    monkeypatch.delenv("SGE_EXECD_PORT", raising=False)
    place = install("gridengine")
    run(place / "prolog", JOB_ID="7", SGE_QMASTER_PORT="16666", SGE_EXECD_PORT="16667")
    told = (safe_path / "environment").read_text().splitlines()
    assert [line for line in told if "PORT" in line] == ["SGE_QMASTER_PORT=6444"]


@pytest.mark.parametrize(("system", "name"), ROOTS)
def test_a_variable_is_handed_on_once(system, name):
    text = Installation(system, "/x", ["sssjob"]).scripts()[name]
    for each in registry.system(system).load("installation").handed:
        assert text.count(f"{each}=") == 1


@pytest.mark.parametrize("group", ["syslog", "users"])
def test_the_log_is_where_nobody_leads_root_but_the_logger(safe_path, monkeypatch, group):
    """Of Ubuntu's /var/log, which is root's and the group's of the logger, 775."""
    logs = safe_path / "logs"
    logs.mkdir()
    logs.chmod(0o775)
    found = Installation("slurm", "/x", ["sssjob"], str(safe_path / "mjf"), log=str(logs / "log"))
    monkeypatch.setattr("grp.getgrgid", lambda number: SimpleNamespace(gr_name=group))
    if group == "syslog":
        found.check()
        logs.chmod(0o777)
    with pytest.raises(Unprotected, match="logs can be written by others"):
        found.check()
    for each in (replace(found, root=str(logs)), replace(found, log=str(logs / "in/log"))):
        logs.chmod(0o775)
        (logs / "in").mkdir(exist_ok=True)
        with pytest.raises(Unprotected, match="logs can be written by others"):
            each.check()


@pytest.mark.parametrize(
    "make", [os.mkdir, os.mkfifo, lambda place: os.symlink("/etc/passwd", place)]
)
def test_a_log_that_no_script_would_write_is_refused(safe_path, make):
    found = Installation("slurm", "/x", ["sssjob"], str(safe_path), log=str(safe_path / "log"))
    found.check()
    make(safe_path / "log")
    with pytest.raises(InvalidValue, match="is not a log"):
        found.check()
    replace(found, log="/dev/null").check()


@pytest.mark.parametrize("system", ["gridengine", "lsf"])
def test_a_starter_looks_for_a_command_where_the_job_would(install, safe_path, system):
    place = install(system)
    (safe_path / "sort").write_text("echo led\n")
    own = safe_path / "own"
    own.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    own.chmod(0o755)
    given = {"cwd": safe_path, "capture_output": True, "text": True, "check": True, "timeout": HANG}
    job = {"PATH": PATH, "JOB_ID": "7", "LSB_JOBID": "7"}
    starter = str(place / "starter")
    assert subprocess.run([starter, "sort", "/dev/null"], env=job, **given).stdout == ""
    for words, printed in (
        (["printf", "<%s>", "a  b", "$(id)"], "<a  b><$(id)>"), (["cd", "/", "&&", "pwd"], "/\n"),
    ):  # fmt: skip
        done = subprocess.run([starter, *words], env={**job, "PATH": "/none"}, **given)
        assert done.stdout == printed
    words = [starter, "./own", "a  b", "$(id)"]
    assert subprocess.run(words, env=job, **given).stdout == "<a  b><$(id)>"


@pytest.mark.parametrize(
    ("system", "variable", "more"),
    [("gridengine", "JOB_ID", "PERL5LIB"), ("lsf", "LSB_JOBID", "LSF_ENVDIR")],
)
def test_a_script_hands_on_nothing_that_a_user_can_set(install, safe_path, system, variable, more):
    place = install(system)
    run(place / "prolog", **{variable: "7", "PYTHONPATH": "/home/evil", more: "/home/evil"})
    environment = (safe_path / "environment").read_text()
    assert f"{variable}=7\n" in environment
    assert "evil" not in environment


@pytest.mark.parametrize(
    "program",
    [
        "#!/bin/sh\nexit 3\n",
        "#!/bin/sh\nkill -9 $$\n",
        "#!/bin/sh\nexec sleep 60\n",
        "#!/no/such\n",
    ],
    ids=["fails", "is killed", "hangs", "is not there"],
)
@pytest.mark.parametrize(("system", "name"), [("slurm", "prolog"), ("gridengine", "epilog")])
def test_no_job_suffers_from_a_command_that_fails_or_hangs(install, program, system, name):
    place = install(system, program, seconds=1)
    assert run(place / name, SLURM_JOB_ID="7", JOB_ID="7").returncode == 0


def test_a_log_that_cannot_be_written_is_no_reason_to_fail(install, safe_path):
    place = install("slurm", log="/proc/no/log")
    done = run(place / "prolog", SLURM_JOB_ID="7")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (safe_path / "called").exists()


def made(root, job):
    for name in ("jobfeatures", "jobstatus"):
        (root / job / name).mkdir(parents=True)
    (root / "machinefeatures").mkdir(exist_ok=True)


def test_a_task_prolog_names_the_directories_that_are_there(install, safe_path):
    place = install("slurm", root=f"{safe_path}/%n")
    made(safe_path / "n1", "7")
    done = run(place / "taskprolog", SLURM_JOB_ID="7", SLURMD_NODENAME="n1")
    assert done.stdout.splitlines() == [
        f"export JOBFEATURES={safe_path}/n1/7/jobfeatures",
        f"export MACHINEFEATURES={safe_path}/n1/machinefeatures",
        f"export JOBSTATUS={safe_path}/n1/7/jobstatus",
    ]


def test_a_task_prolog_takes_away_the_names_of_another_node(install, safe_path):
    place = install("slurm", root=f"{safe_path}/%n")
    done = run(place / "taskprolog", SLURM_JOB_ID="8", SLURMD_NODENAME="n2", JOBFEATURES="/n1/8")
    assert (done.stdout.splitlines(), done.returncode) == (
        ["unset JOBFEATURES", "unset MACHINEFEATURES", "unset JOBSTATUS"], 0,
    )  # fmt: skip


def test_a_task_of_a_heterogeneous_job_finds_the_directories_of_its_component(install, safe_path):
    # Slurm 22.05.8: SLURM_JOB_ID is that of the first component everywhere.
    place = install("slurm", root=f"{safe_path}/%n")
    made(safe_path / "n2", "9")
    ids = {"SLURM_JOB_ID_HET_GROUP_0": "8", "SLURM_JOB_ID_HET_GROUP_1": "9"}
    done = run(place / "taskprolog", SLURM_JOB_ID="8", SLURMD_NODENAME="n2", **ids)
    assert f"export JOBFEATURES={safe_path}/n2/9/jobfeatures" in done.stdout.splitlines()
    made(safe_path / "n2", "8")  # two components on a node: nobody knows whose task this is
    done = run(place / "taskprolog", SLURM_JOB_ID="8", SLURMD_NODENAME="n2", **ids)
    assert "unset JOBFEATURES" in done.stdout.splitlines()


def test_no_job_of_PBS_or_Grid_Engine_has_directories_of_the_one_that_submitted_it(
    install, safe_path
):
    """qsub -V inside a job hands on all variables of it."""
    show = 'printf "%s|%s\n" "$JOBFEATURES" "$JOBSTATUS"'
    others = {"JOBFEATURES": f"{safe_path}/mjf/3/jobfeatures", "JOBSTATUS": "/elsewhere"}
    place = install("pbs")
    made(safe_path / "mjf", "3")
    words = ("/bin/sh", "-c", f". {place}/profile.sh; {show}")
    assert run(*words, PBS_JOBID="7.s", **others).stdout == "|/elsewhere\n"
    assert run(*words, **others).stdout == f"{others['JOBFEATURES']}|/elsewhere\n"  # no job
    starter = install("gridengine") / "starter"
    assert run(starter, show, JOB_ID="7", **others).stdout == "|\n"
    roots = {"JOBFEATURES": f"{safe_path}/root/7.1/jobfeatures", "JOBSTATUS": "/root/7.1/jobstatus"}
    kept = run(starter, show, JOB_ID="7", SGE_TASK_ID="1", **roots).stdout
    assert kept == f"{roots['JOBFEATURES']}|/root/7.1/jobstatus\n"


def test_a_profile_exports_the_directories_in_a_job_and_nothing_elsewhere(install, safe_path):
    place = install("pbs")
    made(safe_path / "mjf", "7.ce")
    show = f'. {place}/profile.sh; echo "$JOBFEATURES|$MACHINEFEATURES|$JOBSTATUS|$mjf"'
    mjf = safe_path / "mjf"
    inside = run("/bin/sh", "-c", show, PBS_JOBID="7.ce").stdout
    assert inside == f"{mjf}/7.ce/jobfeatures|{mjf}/machinefeatures|{mjf}/7.ce/jobstatus|\n"
    assert run("/bin/sh", "-c", show).stdout == "|||\n"


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("{0}/spooled", "a b"), "spooled a b\n"),
        (("/bin/echo", "a b"), "a b\n"),
        (("echo one; echo two",), "one\ntwo\n"),
        (("{0}/program", "a b"), "program a b\n"),
    ],
    ids=["script", "command", "text", "executable"],
)
@pytest.mark.parametrize("system", ["gridengine", "lsf"])
def test_a_starter_becomes_the_job(install, safe_path, system, arguments, printed):
    place = install(system)
    (safe_path / "spooled").write_text('echo spooled "$@"\n')
    (safe_path / "program").write_text('#!/bin/sh\necho program "$@"\n')
    (safe_path / "program").chmod(0o755)
    words = [word.format(safe_path) for word in arguments]
    assert run(place / "starter", *words, JOB_ID="7", TMPDIR=str(safe_path)).stdout == printed


def test_a_starter_without_a_directory_of_its_job_looks_nowhere_else(install, safe_path):
    place = install("gridengine")
    assert run(place / "starter", "echo ran $JOBFEATURES", JOB_ID="7").stdout == "ran\n"
    assert not (safe_path / "called").exists()


def test_a_starter_exports_what_its_prolog_made(install, safe_path):
    place = install("gridengine")
    made(safe_path / "mjf", "7.3")
    done = run(
        place / "starter", "echo $JOBFEATURES $MACHINEFEATURES", JOB_ID="7", SGE_TASK_ID="3",
        TMPDIR=str(safe_path),
    )  # fmt: skip
    assert done.stdout == f"{safe_path}/mjf/7.3/jobfeatures {safe_path}/mjf/machinefeatures\n"


@pytest.mark.parametrize(("index", "job"), [("3", "7[3]"), ("0", "7"), ("", "7")])
def test_a_starter_of_LSF_exports_what_is_of_its_element(install, safe_path, index, job):
    place = install("lsf", root=f"{safe_path}/a b")
    made(safe_path / "a b", job)
    words = ('printf \'%s\n\' "$JOBFEATURES" "$JOBSTATUS"',)
    done = run(place / "starter", *words, LSB_JOBID="7", LSB_JOBINDEX=index)
    assert done.stdout.splitlines() == [
        f"{safe_path}/a b/{job}/jobfeatures", f"{safe_path}/a b/{job}/jobstatus",
    ]  # fmt: skip
    other = run(place / "starter", *words, LSB_JOBID="8", JOBFEATURES="/of/7", JOBSTATUS="/of/7")
    assert other.stdout == "\n\n"  # bsub hands on what it is called in


@pytest.mark.parametrize(
    ("form", "command", "printed"),
    [
        ('{} "%USRCMD"', "echo $JOBFEATURES", ""), ('{} "%USRCMD"', r"echo \$JOBFEATURES", "it"),
        ('{} "%USRCMD"', r"true; echo \$JOBFEATURES", "it"),
        ("{} %USRCMD", "true; echo $JOBFEATURES", ""), ("{} %USRCMD", "echo 'a  b'", "a  b"),
    ],
)  # fmt: skip
def test_what_LSF_hands_to_a_shell_is_as_the_page_for_sites_says(
    install, safe_path, form, command, printed
):
    """By its manual: /bin/sh -c runs JOB_STARTER with the command in the place of %USRCMD."""
    place = install("lsf")
    made(safe_path / "mjf", "7")
    text = form.format(place / "starter").replace("%USRCMD", command)
    wanted = f"{safe_path}/mjf/7/jobfeatures" if printed == "it" else printed
    assert run("/bin/sh", "-c", text, LSB_JOBID="7").stdout == f"{wanted}\n"


def test_a_starter_mounts_nothing_for_no_epilog_would_unmount_it():
    at = Installation("gridengine", "/opt/mjf", ["sssjob"], options=["--status-size=1048576"])
    scripts = at.scripts()
    assert "--status-size=1048576" in scripts["prolog"]
    assert "--status-size" not in scripts["starter"]


def test_scripts_are_written_whole_and_can_be_run(install):
    place = install("pbs")
    assert sorted(os.listdir(place)) == ["epilogue", "profile.sh", "prologue"]
    assert [(place / name).stat().st_mode & 0o777 for name in ("prologue", "profile.sh")] == [
        0o755, 0o644,
    ]  # fmt: skip


def test_lua_for_the_shell_of_Flux_names_what_the_prolog_makes(install):
    """No Lua runs here: any byte of a path that it could take for more than itself is escaped."""
    place = install("flux", root='/run/a "\\]]%n\u00fc/mjf')
    assert (place / "features.lua").stat().st_mode & 0o777 == 0o644
    lines = [line.strip() for line in (place / "features.lua").read_text().splitlines()]
    root = r'"/run/a\032\034\092\093\093" .. node .. "\195\188/mjf"'
    assert f"local root = {root}" in lines
    assert [line for line in lines if line.startswith("tell (")] == [
        'tell ("JOBFEATURES", root .. "/" .. job .. "/jobfeatures")',
        'tell ("MACHINEFEATURES", root .. "/machinefeatures")',
        'tell ("JOBSTATUS", root .. "/" .. job .. "/jobstatus")',
    ]


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_configuration_names_every_script(system):
    found = Installation(system, "/opt/mjf", ["sssjob"], jobs="/srv/jobs")
    lines = "\n".join(found.configuration())
    assert all(f"/opt/mjf/{name}" in lines for name in found.scripts())
    assert "features collect" in lines


@pytest.mark.parametrize("option", ["root", "jobs", "log"])
def test_a_relative_path_is_refused(option):
    with pytest.raises(InvalidValue, match="absolute"):
        Installation("slurm", "/opt", ["sssjob"], **{option: "here"})


@pytest.mark.parametrize(
    ("ending", "name", "called"),
    [(0, "prolog", True), (3, "prolog", False), (3, "epilog", True), (0, "epilog", True)],
)
def test_what_the_site_had_is_called_first_and_decides(install, safe_path, ending, name, called):
    """A prolog that fails keeps the job from starting; directories go in any case."""
    (safe_path / "own.d").mkdir()
    for each in ("a", "b"):
        text = f"#!/bin/sh\necho $0 $1 >> {safe_path}/order\nexit {ending}\n"
        (safe_path / "own.d" / each).write_text(text)
        (safe_path / "own.d" / each).chmod(0o755)
    own = {name: f"{safe_path}/own.d/*"}
    place = install("slurm", own=own)
    done = run(str(place / name), "word", SLURM_JOB_ID="7")
    assert (done.returncode, (safe_path / "called").exists()) == (ending, called)
    first, *rest = (safe_path / "order").read_text().splitlines()
    assert first == f"{safe_path}/own.d/a word"
    assert len(rest) == (0 if ending and name == "prolog" else 1)


def test_a_pattern_without_a_program_is_nothing_to_call(install, safe_path):
    place = install("slurm", own={"prolog": f"{safe_path}/none.d/*"})
    assert run(str(place / "prolog"), SLURM_JOB_ID="7").returncode == 0
    assert (safe_path / "called").exists()


@pytest.mark.parametrize(("name", "called"), [("prolog", False), ("epilog", True)])
def test_a_program_of_the_site_that_is_missing_is_one_that_fails(install, safe_path, name, called):
    place = install("slurm", own={name: f"{safe_path}/none"})
    assert run(str(place / name), SLURM_JOB_ID="7").returncode == 127
    assert (safe_path / "called").exists() is called


SHOWN = """\
Configuration data as of 2026-11-25T12:00:00
{prolog}
PrologEpilogTimeout     = 65534
PrologFlags             = {flags}
Epilog                  = {epilog}
TaskProlog              = (null)
"""
AT = Installation("slurm", "/opt/mjf", ["sssjob"])


@pytest.mark.parametrize(
    ("prolog", "own", "trouble"),
    [
        ("Prolog                  = (null)", "", ""),
        ("Prolog                  = /etc/slurm/p.sh", "/etc/slurm/p.sh", ""),
        ("Prolog[0]               = /a\nProlog[1]               = /b/*", "/a /b/*", ""),
        ("Prolog                  = /a;rm", "", "it is no plain path: merge it by hand"),
        ("Prolog                  = /opt/mjf/prolog", "", ""),
    ],
)  # fmt: skip
def test_what_slurm_has_now_is_kept(prolog, own, trouble):
    shown = SHOWN.format(prolog=prolog, flags="NoHold", epilog="/opt/mjf/epilog")
    rows = {each.name: each for each in AT.side.settings(AT, {"config": shown})}
    assert (rows["Prolog"].own, rows["Prolog"].trouble) == (own, trouble)
    assert rows["Prolog"].is_good is (rows["Prolog"].found == "/opt/mjf/prolog")
    assert (rows["Epilog"].is_good, rows["TaskProlog"].is_good) == (True, False)
    assert rows["PrologFlags"].wanted == "NoHold,Alloc"


@pytest.mark.parametrize("flags", ["Alloc", "Contain", "Alloc,X11", "DeferBatch,X11", "RunInJob"])
def test_flags_by_which_the_prolog_runs_early_suffice(flags):
    shown = SHOWN.format(prolog="", flags=flags, epilog="(null)")
    assert AT.side.settings(AT, {"config": shown})[-1].is_good


AS_ANOTHER = "it runs as another user, or has arguments: merge it by hand"
QUEUES = """\
qname                 a.q
prolog                {0}
epilog                NONE
qname                 b.q
prolog                {1}
epilog                root@/opt/mjf/epilog
"""


@pytest.mark.parametrize(
    ("first", "second", "own", "trouble"),
    [
        ("NONE", "NONE", "", ""),
        ("root@/x/p", "NONE", "/x/p", ""),
        ("root@/x/p", "root@/opt/mjf/prolog", "/x/p", ""),
        ("root@/x/p", "root@/x/q", "", "queues differ: merge it by hand"),
        ("/x/p", "NONE", "", AS_ANOTHER),
        ("root@/x/p $host", "NONE", "", AS_ANOTHER),
    ],
)  # fmt: skip
def test_what_queues_of_grid_engine_have_now_is_kept(first, second, own, trouble):
    at = Installation("gridengine", "/opt/mjf", ["sssjob"])
    rows = {
        each.name: each for each in at.side.settings(at, {"queues": QUEUES.format(first, second)})
    }
    assert (rows["a.q prolog"].own, rows["a.q prolog"].trouble) == (own, trouble)
    assert (rows["a.q epilog"].is_good, rows["b.q epilog"].is_good) == (False, True)


HOOKS = """\
Hook own
    type = site
    enabled = {enabled}
    event = {event}
    user = pbsadmin

"""


@pytest.fixture
def pbs(safe_path, monkeypatch):
    """What ``install --check`` finds of PBS: files by name, and what qmgr prints."""
    conf = safe_path / "pbs.conf"
    conf.write_text(f"PBS_EXEC=/opt/pbs\nPBS_HOME={safe_path}\n")
    monkeypatch.setenv("PBS_CONF_FILE", str(conf))
    at = Installation("pbs", "/opt/mjf", ["sssjob"])

    def rows(hooks="", **texts):
        names = dict.fromkeys(at.side.files(), "")
        found = at.side.settings(at, {**names, **texts, "hooks": hooks})
        return {each.name.removeprefix(f"{safe_path}/mom_priv/"): each for each in found}

    return at, rows


def test_files_of_PBS_are_copies_of_our_scripts(pbs):
    at, rows = pbs
    found = rows()
    assert [each.is_good for each in found.values()] == [False] * 3
    assert [each.found for each in found.values()] == [""] * 3
    texts = at.scripts()
    assert all(each.is_good for each in rows(**texts).values())
    older = rows(**{**texts, "epilogue": texts["epilogue"].replace("30", "60")})["epilogue"]
    assert (older.found, older.is_good) == ("another version of it", False)
    assert at.side.settings(at, {}) == []  # no PBS is here
    assert at.side.live() == {"hooks": ["qmgr", "-c", "list hook"]}


def test_a_prologue_of_the_site_is_moved_aside_and_called_first(pbs, safe_path):
    at, rows = pbs
    row = rows(prologue="#!/bin/sh\necho own\n")["prologue"]
    moved = f"{safe_path}/mom_priv/prologue.site"
    assert (row.own, row.is_good) == ("", False)
    assert row.trouble == f"move it to {moved}, from where our script calls it first"
    aside = {"prologue.site": "#!/bin/sh\necho own\n"}
    assert rows(**aside)["prologue"].own == moved
    merged = replace(at, own={"prologue": moved})
    row = rows(**aside, **merged.scripts())["prologue"]
    assert (row.is_good, row.own) == (True, moved)


@pytest.mark.parametrize(
    ("enabled", "event", "told"),
    [
        ("true", "execjob_prologue", ["prologue"]), ("false", "execjob_prologue", []),
        ("true", "execjob_begin,execjob_epilogue,execjob_end", ["epilogue"]),
        ("true", "execjob_begin,execjob_end,\n\texecjob_epilogue", ["epilogue"]),
        ("True", "queuejob", []),
    ],
)  # fmt: skip
def test_hooks_in_whose_place_PBS_runs_no_prologue_are_told(pbs, enabled, event, told):
    _, rows = pbs
    row = rows(HOOKS.format(enabled=enabled, event=event) * 2).get("hook own")
    assert ([row.trouble] if row else []) == [
        f"while it is enabled, PBS runs no {name}" for name in told
    ]


BQUEUES = """\

QUEUE: normal
  -- For normal jobs
PARAMETERS/STATISTICS
PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV PJOBS
30    0  Open:Active       -    -    -    -     0     0     0     0     0    0     0

PRE_EXEC:  /not/ours
HOST_PRE_EXEC:  {0}
HOST_POST_EXEC:  /opt/mjf/epilog
JOB_STARTER:  {1}

QUEUE: other
"""


# As the manual shows them: a starter takes the place of the queue's, and most have none.
BAPP = """\

APPLICATION NAME: plain
 -- Without a starter
STATISTICS:
   NJOBS     PEND      RUN    SSUSP    USUSP      RSV
       0        0        0        0        0        0
PARAMETERS:
CPULIMIT
 600.0 min of hostA

APPLICATION NAME: fluent
PARAMETERS:
JOB_STARTER:  /x/starter

APPLICATION NAME: ours
PARAMETERS:
JOB_STARTER:  {0} "%USRCMD"
"""


@pytest.mark.parametrize(
    ("program", "own", "trouble"),
    [
        ("/x/p", "/x/p", ""), ("/opt/mjf/prolog", "", ""), ("", "", ""),
        ("/x/p >> /tmp/out", "", "it has arguments: merge it by hand"),
    ],
)  # fmt: skip
def test_what_queues_of_LSF_have_now_is_kept(program, own, trouble):
    at = Installation("lsf", "/opt/mjf", ["sssjob"])
    printed = BQUEUES.format(program, "/x/starter")
    found = at.side.settings(at, {"queues": printed, "sudoers": f"{SUDO}=root\n"})
    rows = {each.name: each for each in found}
    assert (rows["normal HOST_PRE_EXEC"].own, rows["normal HOST_PRE_EXEC"].trouble) == (
        own, trouble,
    )  # fmt: skip
    assert rows["normal HOST_PRE_EXEC"].is_good is (program == "/opt/mjf/prolog")
    assert rows["normal HOST_POST_EXEC"].is_good
    assert rows["normal JOB_STARTER"].trouble == "there is one already: merge it by hand"
    assert (rows["other JOB_STARTER"].found, rows["other JOB_STARTER"].is_good) == ("", False)
    assert rows[SUDO].is_good
    assert not any(name.startswith("profile") for name in rows)
    found = at.side.settings(at, {"queues": printed, "profiles": BAPP.format(at.place("starter"))})
    rows = {each.name: each for each in found if each.name.startswith("profile")}
    assert {name: (each.is_good, each.trouble) for name, each in rows.items()} == {
        "profile fluent JOB_STARTER": (False, "there is one already: merge it by hand"),
        "profile ours JOB_STARTER": (True, ""),
    }
    assert at.side.settings(at, {"sudoers": f"{SUDO}=root\n"}) == []  # no LSF is here


SUDO = "LSB_PRE_POST_EXEC_USER"


FAULTS_OF_IMP = {"": "Flux does not start", "{}/none": "no such program", "{}": "no file"}


def test_tables_and_files_of_flux_are_what_our_configuration_says(safe_path, monkeypatch):
    at = Installation("flux", "/opt/mjf", ["sssjob"])
    tables = tomllib.loads("\n".join(line for line in at.configuration() if line[:1] in "[p"))
    texts = at.scripts()
    imp = safe_path / "flux-imp"
    imp.touch()
    imp.chmod(0o4755)
    tables["exec"] = {"imp": str(imp)}
    monkeypatch.setattr(scripts, "OWNER", os.geteuid())
    rows = at.side.settings(at, {"config": json.dumps(tables), **texts})
    assert [each.trouble for each in rows if not each.is_good] == []
    assert len(rows) == 8
    for wrong, told in FAULTS_OF_IMP.items():
        tables["exec"] = {"imp": wrong.format(safe_path)}
        found = at.side.settings(at, {"config": json.dumps(tables), **texts})
        assert [told in each.trouble for each in found if not each.is_good] == [True]
    tables["exec"] = {"imp": str(imp)}
    tables["job-manager"] = {"plugins": [{"load": "/x/own.so"}], "prolog": 7}
    rows = at.side.settings(at, {"config": json.dumps(tables), "prolog": "", "epilog": "own"})
    assert [(each.name, each.found, each.wanted) for each in rows[:3]] == [
        ("job-manager.plugins", "/x/own.so", "/x/own.so,perilog.so"),
        ("job-manager.prolog.per-rank", "", "true"),
        ("job-manager.epilog.per-rank", "", "true"),
    ]
    assert [each.is_good for each in rows[3:]] == [True, True, False, False, False]
    assert at.side.settings(at, {"config": "no JSON"}) == []


@pytest.mark.parametrize(
    ("plugins", "found"),
    [
        ([{"load": "perilog.so"}], True), ([{"load": "/usr/lib/flux/perilog.so"}], True),
        ([{"load": "perilog.so"}, {"remove": "perilog.so"}], False),
        ([{"load": "perilog.so"}, {"remove": "all"}], False),
        ([{"load": "perilog.so"}, {"remove": "peri*", "load": "x.so"}], False),
        ([{"remove": "all", "load": "perilog.so"}], True),
        ([{"remove": "other*"}, {"load": "perilog.so"}, {"remove": "other*"}], True),
        ([{"load": 5}, 5], False), ("perilog.so", False),
    ],
)  # fmt: skip
def test_a_plugin_of_flux_that_is_taken_out_again_is_not_loaded(plugins, found):
    at = Installation("flux", "/opt/mjf", ["sssjob"])
    tables = {"job-manager": {"plugins": plugins}}
    rows = at.side.settings(at, {"config": json.dumps(tables)})
    assert [each.is_good for each in rows if each.name == "job-manager.plugins"] == [found]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (None, False), (["flux-imp", "run", "prolog"], False),
        (["/usr/libexec/flux/flux-imp", "run", "prolog"], False),
        (["/usr/bin/siteprolog"], True), (["flux-imp", "run", "epilog"], True),
        ("flux-imp run prolog", True), ([], True),
    ],
)  # fmt: skip
def test_a_command_in_the_place_of_our_prolog_of_flux_is_told(command, told):
    at = Installation("flux", "/opt/mjf", ["sssjob"])
    prolog = {"per-rank": True, **({} if command is None else {"command": command})}
    rows = at.side.settings(at, {"config": json.dumps({"job-manager": {"prolog": prolog}})})
    found = [each for each in rows if each.name == "job-manager.prolog.command"]
    assert [each.is_good for each in found] == [False] * told


def test_hooks_of_PBS_that_are_not_known_are_no_proof(pbs):
    at, _ = pbs
    found = {each.name: each for each in at.side.settings(at, dict.fromkeys(at.side.files(), ""))}
    assert (found["hooks"].is_good, "qmgr does not list them" in found["hooks"].trouble) == (
        False, True,
    )  # fmt: skip


def pipe_in_its_place(path):
    path.unlink()
    os.mkfifo(path, 0o500)


def link_in_its_place(path):
    path.rename(f"{path}.old")
    path.symlink_to(f"{path}.old")


FAULTS = {
    "not run": (lambda path: path.chmod(0o644), "mode 0644 keeps it from being used: chmod 744"),
    "open to all": (lambda path: path.chmod(0o777), "mode 0777, which lets others in: chmod 755"),
    "of a group": (lambda path: path.chmod(0o570), "mode 0570, which lets others in: chmod 550"),
    "a pipe": (pipe_in_its_place, "it is no file of its own"),
    "a link": (link_in_its_place, "it is no file of its own"),
    "an open directory": (lambda path: path.parent.chmod(0o777), "can be written by others"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_is_not_run_or_that_others_can_change_is_told(safe_path, monkeypatch, fault):
    monkeypatch.setattr(scripts, "OWNER", os.geteuid())
    path = safe_path / "mom_priv/prologue"
    path.parent.mkdir(mode=0o755)
    file = ConfigFile(str(path), 0o500)
    assert file.fault() == ""  # it is not there
    path.touch(0o500)
    path.chmod(0o500)
    assert file.fault() == ""
    make, said = FAULTS[fault]
    make(path)
    assert said in file.fault()


def test_a_file_of_another_user_is_told(safe_path, monkeypatch):
    (safe_path / "sudoers").touch(0o600)
    monkeypatch.setattr(scripts, "OWNER", os.geteuid() + 1)
    assert "not to root" in ConfigFile(str(safe_path / "sudoers"), 0o400, 0o077).fault()


def test_what_only_root_reads_is_read_by_nobody_else(safe_path, monkeypatch):
    monkeypatch.setattr(scripts, "OWNER", os.geteuid())
    path = safe_path / "sudoers"
    path.touch()
    file = ConfigFile(str(path), 0o400, 0o077)
    seen = {}
    for mode in (0o600, 0o400, 0o640, 0o666, 0o200):
        path.chmod(mode)
        seen[mode] = file.fault() == ""
    assert seen == {0o600: True, 0o400: True, 0o640: False, 0o666: False, 0o200: False}


@given(st.text())
def test_no_output_makes_a_check_fail(printed):
    for system in SYSTEMS:
        at = Installation(system, "/opt/mjf", ["sssjob"])
        names = (*at.side.live(), *at.side.files(), "hooks")
        at.side.settings(at, dict.fromkeys(names, printed))
