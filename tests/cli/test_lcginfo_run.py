"""lcg-info-dynamic-scheduler: a whole answer and exit code 0, or a reason and nothing printed."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import HANG, until

from sssjob.cli.lcginfo import run as module
from sssjob.lcginfo import estimators, ldif

BIN = Path(sys.executable).parent
COMMANDS = {
    "lcg-info-dynamic-scheduler": [BIN / "lcg-info-dynamic-scheduler"],
    "sssjob lcginfo run": [BIN / "sssjob", "lcginfo", "run"],
}
STATIC = """\
dn: GlueCEUniqueID=ce:8443/cream-pbs-atlas,mds-vo-name=resource,o=grid
GlueCEUniqueID: ce:8443/cream-pbs-atlas
GlueCEName: atlas

dn: GlueVOViewLocalID=prod,GlueCEUniqueID=ce:8443/cream-pbs-atlas,
 mds-vo-name=resource,o=grid
GlueVOViewLocalID: prod
GlueChunkKey: GlueCEUniqueID=ce:8443/cream-pbs-atlas
GlueCEAccessControlBaseRule: VOMS:/atlas/Role=production

dn: GlueVOViewLocalID=atlas,GlueCEUniqueID=ce:8443/cream-pbs-atlas,mds-vo-name=resource,o=grid
GlueVOViewLocalID: atlas
GlueChunkKey: GlueCEUniqueID=ce:8443/cream-pbs-atlas
GlueCEAccessControlBaseRule: VO:atlas
"""
SHARES = """\
dn: GLUE2ShareID=atlas,GLUE2ServiceID=s,o=glue
GLUE2ShareID: atlas
GLUE2ComputingShareMappingQueue: atlas

dn: GLUE2PolicyID=p,GLUE2ShareID=atlas,GLUE2ServiceID=s,o=glue
GLUE2PolicyUserDomainForeignKey: atlas
GLUE2MappingPolicyShareForeignKey: atlas
"""
JOBS = """\
nactive     240
nfree       191
now         1119073982
schedCycle  120
{'queue': 'atlas', 'start': 1119073900.0, 'state': 'running', 'group': 'atlsgm', 'jobid': '1'}
{'queue': 'atlas', 'start': 1119073900.0, 'state': 'running', 'group': 'atlprd', 'jobid': '2'}
{'queue': 'atlas', 'qtime': 1119073900.0, 'state': 'queued', 'group': 'atlprd', 'jobid': '3'}
{'queue': 'other', 'start': 1119073900.0, 'state': 'running', 'group': 'atlsgm', 'jobid': '4'}
"""
CONFIG = """\
[Main]
static_ldif_file : {0}/static.ldif
bdii-configfile : {0}/bdii.conf
vomap :
   atlsgm : atlas
   atlprd : /VO=atlas/GROUP=/atlas/ROLE=production
[LRMS]
lrms_backend_cmd : cat {0}/jobs
[Scheduler]
cycle_time : 26
"""


@pytest.fixture
def site(tmp_path):
    """A directory with a configuration and all that it names."""
    (tmp_path / "empty").mkdir()
    for name, text in {
        "static.ldif": STATIC,
        "jobs": JOBS,
        "bdii.conf": f"BDII_LDIF_DIR={tmp_path}/empty\n",
        "site.conf": CONFIG.format(tmp_path),
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(*arguments, command="lcg-info-dynamic-scheduler", **options):
    return subprocess.run(
        [*COMMANDS[command], *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=HANG, **options,
    )  # fmt: skip


def configure(site, *lines, without=""):
    path = site / "site.conf"
    kept = [line for line in path.read_text().splitlines() if not without or without not in line]
    path.write_text("\n".join([*kept, *lines, ""]))
    return path


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_ldif_is_printed_and_nothing_is_said(site, command):
    result = run("-c", site / "site.conf", command=command)
    assert (result.returncode, result.stderr) == (0, "")
    ce, production, atlas = ldif.read(result.stdout.encode())
    assert ce.attributes == (
        ("GlueCEStateWaitingJobs", "1"),
        ("GlueCEStateRunningJobs", "2"),
        ("GlueCEStateTotalJobs", "3"),
        ("GlueCEStateEstimatedResponseTime", "60"),
        ("GlueCEStateWorstResponseTime", "120"),
        ("GlueCEStateFreeJobSlots", "191"),
    )
    assert [value for _, value in production.attributes] == ["1", "1", "2", "60", "120", "0"]
    assert [value for _, value in atlas.attributes] == ["0", "1", "1", "60", "120", "191"]
    assert production.head in STATIC


def test_caps_limit_the_free_slots_of_their_vo(site):
    (site / "caps").write_text("mydict = {\n'atlsgm': 5,\n'atlas': 2}\n")
    path = configure(site, f"vo_max_jobs_cmd : cat {site}/caps")
    *_, atlas = ldif.read(run("-c", path).stdout.encode())
    assert atlas.all("GlueCEStateFreeJobSlots") == ("5",)


def test_both_schemas_are_printed_unless_one_is_asked_for(site):
    (site / "empty" / "ComputingShare.ldif").write_text(SHARES)
    both = run("-c", site / "site.conf").stdout
    assert both.count("dn: Glue") == 3
    assert both.count("dn: GLUE2Share") == 1
    for form in ("glue1", "glue2"):
        path = configure(site, "[Main]", f"outputformat : {form}", without="outputformat")
        assert run("-c", path).stdout in both
        assert ("GLUE2" in run("-c", path).stdout) == (form == "glue2")


def test_static_files_are_found_where_the_bdii_keeps_them(site):
    path = configure(site, without="static_ldif_file")
    assert run("-c", path).returncode == 4
    (site / "empty" / "a.ldif").write_text(STATIC)
    assert run("-c", path).stdout.count("dn: Glue") == 3
    (site / "empty" / "static-file-CE.ldif").write_text(STATIC.partition("\n\n")[0])
    assert run("-c", path).stdout.count("dn: Glue") == 1


# fmt: off
CODES = [
    pytest.param("--nonsense",                       1, "No such option",            id="option"),
    pytest.param("-c",                               1, "requires an argument",      id="cut off"),
    pytest.param("-c {0}/site.conf x",               1, "unexpected extra argument", id="argument"),
    pytest.param("",                                 2, "no configuration named",    id="nothing"),
    pytest.param("-c {0}/gone",                      3, "No such file",              id="no file"),
    pytest.param("-c {0}/static.ldif",               3, "lrms_backend_cmd",          id="other"),
    pytest.param("-c {0}/site.conf --estimator nix", 4, "no known estimator",        id="name"),
]
# fmt: on


@pytest.mark.parametrize("arguments, code, message", CODES)
@pytest.mark.parametrize("command", COMMANDS)
def test_the_exit_codes_are_those_of_the_text(site, command, arguments, code, message):
    result = run(*arguments.format(site).split(), command=command)
    assert (result.returncode, result.stdout) == (code, "")
    assert message in result.stderr
    assert result.stderr


# fmt: off
LRMS, CAPS = "lrms_backend_cmd", "vo_max_jobs_cmd"
SAYS = "sh -c 'echo boom >&2; exit 7'"
BROKEN = [
    pytest.param(LRMS, SAYS,                  4, "backend command returned 7: boom",   id="fails"),
    pytest.param(LRMS, "/no/such/program",    4, "Error running LRMS backend command", id="none"),
    pytest.param(LRMS, "sleep 60",            4, "did not end within 1 seconds",       id="hangs"),
    pytest.param(LRMS, "yes",                 4, "printed more than",                  id="floods"),
    pytest.param(LRMS, "true",                4, "neither a header nor jobs",          id="silent"),
    pytest.param(LRMS, "cat 'unclosed",       3, "a quote that is not closed",         id="quotes"),
    pytest.param(CAPS, "false",               4, "VO max jobs backend command",        id="cap"),
    pytest.param(CAPS, "/no/such/program",    4, "Error running VO max jobs",          id="caps"),
    pytest.param("outputformat", "glue3",     3, "glue3",                              id="format"),
    pytest.param("static_ldif_file", "/gone", 4, "/gone: No such file",                id="LDIF"),
    pytest.param("bdii-configfile", "/gone",  3, "/gone: No such file",                id="BDII"),
]
# fmt: on
SECTION = {LRMS: "LRMS", CAPS: "Scheduler"}


@pytest.mark.parametrize("option, value, code, message", BROKEN)
def test_what_goes_wrong_is_said_and_nothing_is_printed(site, option, value, code, message):
    path = configure(
        site,
        "[Main]", "command_timeout : 1", "command_output : 100000",
        f"[{SECTION.get(option, 'Main')}]", f"{option} : {value}",
        without=option,
    )  # fmt: skip
    result = run("-c", path)
    assert (result.returncode, result.stdout) == (code, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    "old, new, message",
    [
        pytest.param("GlueCEName: atlas\n", "", "Missing mandatory attribute GlueCEName", id="CE"),
        pytest.param("=ce:8443/cream-pbs-atlas\nGlueCEA", "=x\nGlueCEA", "foreign key", id="key"),
        pytest.param("VO:atlas", "FOO:atlas", "Wrong ACBR definition", id="rule"),
        pytest.param("dn: GlueVO", "dn:: GlueVO", "is not base64", id="name"),
    ],
)  # fmt: skip
def test_static_entries_that_cannot_be_used_are_named_with_their_place(site, old, new, message):
    edit(site / "static.ldif", old, new)
    result = run("-c", site / "site.conf")
    assert (result.returncode, result.stdout) == (4, "")
    assert f"{site}/static.ldif: " in result.stderr
    assert message in result.stderr


def test_hostile_names_of_jobs_are_data(site):
    name = """}{'\\"); __import__('os').system('touch pwned') #"""
    with (site / "jobs").open("a") as stream:
        job = {"queue": "atlas", "state": "queued", "group": "atlsgm", "jobid": "5", "name": name}
        stream.write(f"{job!r}\n")
        stream.write("{'queue': 'atlas', 'state': __import__('os').system('touch pwned')}\n")
    result = run("-c", site / "site.conf", cwd=site)
    assert result.returncode == 0
    assert "GlueCEStateWaitingJobs: 2\n" in result.stdout
    assert "error" in result.stderr
    assert not (site / "pwned").exists()


def test_control_characters_do_not_reach_the_log(site):
    edit(site / "static.ldif", "VO:atlas", "VO:a\x1b[2J\nGlueCEAccessControlBaseRule: VO:b")
    result = run("-c", site / "site.conf")
    assert result.returncode == 0
    assert "the last counts, b" in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("kept", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "at once"])
@pytest.mark.parametrize("name", COMMANDS)
def test_an_answer_that_cannot_be_delivered_is_a_failure(name, kept, site, full):
    with full.open("w") as stream:
        result = subprocess.run(
            [*COMMANDS[name], "-c", str(site / "site.conf")], env={**os.environ, **kept},
            stdout=stream, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert result.returncode == 4
    assert "No space left" in result.stderr
    assert result.stderr.count("\n") == 1


def test_whatever_an_estimator_raises_is_a_failure_with_nothing_printed(site, monkeypatch, capsys):
    def broken(config, pairs):
        raise ZeroDivisionError("of an estimator")

    monkeypatch.setitem(estimators.BUILT_IN, "simulate", broken)
    with pytest.raises(SystemExit) as end:
        module.command(["-c", str(site / "site.conf")])
    printed = capsys.readouterr()
    assert (end.value.code, printed.out) == (4, "")
    assert "error: ZeroDivisionError: of an estimator" in printed.err


def test_the_systems_log_hears_it_too_if_that_is_asked(site, monkeypatch, capsys):
    heard = []
    monkeypatch.setattr("syslog.syslog", lambda level, text: heard.append(text))
    edit(site / "static.ldif", "VO:atlas", "VO:a\x1b[2J\nGlueCEAccessControlBaseRule: FOO:b")
    for option in ([], ["--syslog"]):
        with pytest.raises(SystemExit) as end:
            module.command([*option, "-c", str(site / "site.conf")])
        assert end.value.code == 4
    assert capsys.readouterr().out == ""
    (line,) = heard
    assert line.startswith("error: ")
    assert "Wrong ACBR definition 'FOO:b'" in line


def test_an_impatient_caller_ends_the_batch_systems_command_too(site):
    script = site / "slow"
    script.write_text(f"#!/bin/sh\necho $$ > {site}/pid\nexec sleep 60\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    path = configure(site, "[LRMS]", f"lrms_backend_cmd : {script}", without=LRMS)
    command = [*COMMANDS["lcg-info-dynamic-scheduler"], "-c", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        pid = _pid(site / "pid")
        process.terminate()
        assert process.communicate(timeout=HANG)[0] == b""
    assert process.returncode == 128 + signal.SIGTERM
    assert not _alive(pid)


def _pid(path):
    text = until(lambda: path.exists() and path.read_text().strip())
    assert text, "the command was not started"
    return int(text)


def _alive(pid):
    """Whether a process still runs; one that nobody has waited for yet does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
