"""A real BDII runs the command as its plug-in and merges what it prints into the static entries.

``bdii-update`` does so once where it is not a daemon, and prints the entries; as a daemon it keeps
them in the OpenLDAP server that clients ask. Debian and Ubuntu have it in the package bdii.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import glue_server
import pytest
from waiting import HANG, until

from sssjob.lcginfo import ldif
from sssjob.lcginfo.config import FURTHER

pytestmark = pytest.mark.interop

BDII = shutil.which("bdii-update", path=os.environ.get("PATH", "") + ":/usr/sbin")
COMMAND = Path(sys.executable).with_name("lcg-info-dynamic-scheduler")
UNKNOWN = "2146660842"
STATIC = f"""\
dn: GlueCEUniqueID=ce:8443/cream-pbs-long,mds-vo-name=resource,o=grid
objectClass: GlueCE
GlueCEUniqueID: ce:8443/cream-pbs-long
GlueCEName: long
GlueCEInfoTotalCPUs: 240
GlueCEAccessControlBaseRule: VO:atlas
GlueCEStateWaitingJobs: 444444
GlueCEStateRunningJobs: 0
GlueCEStateTotalJobs: 0
GlueCEStateEstimatedResponseTime: {UNKNOWN}
GlueCEStateWorstResponseTime: {UNKNOWN}
GlueCEStateFreeJobSlots: 0
GlueCEStateFreeCPUs: 0

dn: GlueVOViewLocalID=atlas,GlueCEUniqueID=ce:8443/cream-pbs-long,
 mds-vo-name=resource,o=grid
objectClass: GlueVOView
GlueVOViewLocalID: atlas
GlueChunkKey: GlueCEUniqueID=ce:8443/cream-pbs-long
GlueCEAccessControlBaseRule: VO:atlas
GlueCEStateWaitingJobs: 444444
GlueCEStateRunningJobs: 0

"""
JOBS = """\
nactive     240
nfree       191
now         1119073982
schedCycle  120
{'queue': 'long', 'start': 1119073900.0, 'state': 'running', 'group': 'atlsgm', 'jobid': '1'}
{'queue': 'long', 'start': 1119073900.0, 'state': 'running', 'group': 'lhcb', 'jobid': '2'}
{'queue': 'long', 'qtime': 1119073900.0, 'state': 'queued', 'group': 'atlsgm', 'jobid': '3'}
"""
CONFIG = """\
[Main]
bdii-configfile : {0}/bdii.conf
outputformat : glue1
attributes : GlueCEStateFreeCPUs
vomap :
   atlsgm : atlas
[LRMS]
lrms_backend_cmd : cat {0}/jobs
"""
SETTINGS = """\
BDII_LOG_FILE={0}/log
BDII_LOG_LEVEL=ERROR
BDII_LDIF_DIR={0}/ldif
BDII_PROVIDER_DIR={0}/provider
BDII_PLUGIN_DIR={0}/plugin
BDII_READ_TIMEOUT=60
BDII_VAR_DIR={0}
"""


@pytest.fixture
def site(tmp_path):
    """A BDII that knows one static file, and our command as its only plug-in."""
    for name in ("ldif", "provider", "plugin"):
        (tmp_path / name).mkdir()
    (tmp_path / "ldif" / "static-file-CE.ldif").write_text(STATIC)
    (tmp_path / "jobs").write_text(JOBS)
    (tmp_path / "site.conf").write_text(CONFIG.format(tmp_path))
    (tmp_path / "bdii.conf").write_text(SETTINGS.format(tmp_path))
    plugin = tmp_path / "plugin" / "scheduler"
    plugin.write_text(f"#!/bin/sh\nexec {COMMAND} -c {tmp_path}/site.conf\n")
    plugin.chmod(0o755)
    return tmp_path


@pytest.mark.skipif(BDII is None, reason="no bdii-update here (Debian, Ubuntu: bdii)")
def test_a_BDII_puts_the_numbers_of_the_plug_in_into_its_static_entries(site):
    result = subprocess.run(
        [BDII, "-c", site / "bdii.conf"], capture_output=True, check=False, timeout=HANG
    )
    assert result.returncode == 0, result.stderr
    # Where one entry begins no blank line ends the one before it.
    printed = result.stdout.replace(b"dn: ", b"\ndn: ").lstrip()
    found = {entry.dn.partition(",")[0]: entry for entry in ldif.read(printed)}
    queue = found["GlueCEUniqueID=ce:8443/cream-pbs-long"]
    numbers = {
        name: queue.all(f"GlueCEState{name}")
        for name in ("WaitingJobs", "RunningJobs", "TotalJobs", "FreeJobSlots", "FreeCPUs")
    }
    assert numbers == {
        "WaitingJobs": ("1",),
        "RunningJobs": ("2",),
        "TotalJobs": ("3",),
        "FreeJobSlots": ("191",),
        "FreeCPUs": ("191",),
    }
    assert queue.all("GlueCEStateEstimatedResponseTime") != (UNKNOWN,)
    assert queue.all("GlueCEInfoTotalCPUs") == ("240",)
    view = found["GlueVOViewLocalID=atlas"]
    assert view.all("GlueCEStateWaitingJobs") == ("1",)
    assert view.all("GlueCEStateRunningJobs") == ("1",)


LIVE = """\
BDII_PORT={1}
BDII_HOSTNAME=127.0.0.1
BDII_BREATHE_TIME=0.2
BDII_ARCHIVE_SIZE=0
BDII_DELETE_DELAY=0
BDII_RUN_DIR={0}/run
SLAPD_CONF={0}/slapd.conf
"""
SCHEMA = Path("/etc/bdii/BDII.schema")
# A BDII of these days names its server by options that OpenLDAP has no longer since version 2.5.
CLIENT = """\
#!/usr/bin/env python3
import os, sys
words = sys.argv[1:]
if "-p" in words:
    host, port = words.index("-h"), words.index("-p")
    words[host : host + 2] = ["-H", f"ldap://{words[host + 1]}:{words[port + 1]}"]
    del words[port : port + 2]
os.execv("PROGRAM", ["PROGRAM", *words])
"""


def with_all_attributes(entries):
    """Static entries with each attribute that is published, since a BDII adds none."""
    usual = ("WaitingJobs", "RunningJobs", "TotalJobs")
    times = ("EstimatedResponseTime", "WorstResponseTime", "FreeJobSlots")
    waits = ("EstimatedAverageWaitingTime", "EstimatedWorstWaitingTime", "FreeSlots")
    ce = [f"GlueCEState{name}" for name in (*usual, *times)]
    share = [f"GLUE2ComputingShare{name}" for name in (*usual, *waits)]
    for first, names, more in (
        ("GlueCEUniqueID", ce, "GlueCEStateF"), ("GlueVOViewLocalID", ce, "none"),
        ("GLUE2ShareID", share, "GLUE2ComputingShare"), ("GLUE2ManagerID", [], "GLUE2ComputingM"),
    ):  # fmt: skip
        numbers = [name for name in FURTHER if name.startswith(more) and "Serving" not in name]
        lines = "".join(f"{name}: 0\n" for name in (*names, *numbers))
        entries = re.sub(rf"^{first}:.*\n", rf"\g<0>{lines}", entries, flags=re.MULTILINE)
    return entries


@pytest.fixture
def live(site):
    """The URL of the server of a BDII that runs, and the site that it publishes."""
    if reason := glue_server.missing():
        pytest.skip(reason)
    for suffix, text in glue_server.STATIC.items():
        entries = "".join(text.format(queue=queue) for queue in glue_server.QUEUES)
        entries += glue_server.MANAGER if suffix == "o=glue" else ""
        (site / "ldif" / f"{suffix}.ldif").write_text(with_all_attributes(entries))
        (site / "ldif" / f"above-{suffix}.ldif").write_text(glue_server.BEFORE[suffix])
    (site / "ldif" / "static-file-CE.ldif").unlink()
    for name in ("run", "archive", "bin"):
        (site / name).mkdir()
    for name in ("ldapadd", "ldapmodify", "ldapdelete", "ldapsearch"):
        (site / "bin" / name).write_text(CLIENT.replace("PROGRAM", glue_server.program(name)))
        (site / "bin" / name).chmod(0o755)
    (site / "jobs").write_text(glue_server.JOBS)
    text = glue_server.CONFIG.format(site / "ldif", " ".join(FURTHER))
    (site / "site.conf").write_text(text.replace(f"{site}/ldif/jobs", f"{site}/jobs"))
    config = glue_server.configured(site, (*glue_server.SUFFIXES, "o=infosys"), "", (SCHEMA,))
    with glue_server.serving(config) as url:
        port = url.rpartition(":")[2].strip("/")
        with (site / "bdii.conf").open("a") as settings:
            settings.write(LIVE.format(site, port))
        path = {"PATH": f"{site}/bin:{os.environ['PATH']}"}
        words = [BDII, "-d", "-c", site / "bdii.conf"]
        subprocess.run(words, check=True, timeout=HANG, env={**os.environ, **path})
        pid = site / "run/bdii-update.pid"
        assert until(lambda: pid.exists() and pid.read_text().strip())
        try:
            yield url, site
        finally:
            os.kill(int(pid.read_text()), signal.SIGTERM)


def asked(url, base, wanted):
    """The entries that a client finds."""
    words = ("-x", "-LLL", "-H", url, "-b", base, wanted)
    return list(ldif.read(glue_server.run("ldapsearch", *words).stdout.encode()))


@pytest.mark.skipif(BDII is None, reason="no bdii-update here (Debian, Ubuntu: bdii)")
def test_a_live_BDII_shows_clients_what_changes(live):
    url, site = live

    def shown(number):
        """The entries with so many waiting jobs, and the managers."""
        found = asked(url, "o=grid", f"(GlueCEStateWaitingJobs={number})")
        found += asked(url, "o=glue", f"(GLUE2ComputingShareWaitingJobs={number})")
        return {entry.dn.partition(",")[0]: entry for entry in found}

    long = {"GlueCEUniqueID=ce:8443/cream-pbs-long", "GlueVOViewLocalID=atlas",
            "GLUE2ShareID=long_atlas"}  # fmt: skip
    assert until(lambda: shown(1).keys() == long), (site / "log").read_text()
    share = shown(1)["GLUE2ShareID=long_atlas"]
    assert share.all("GLUE2ComputingShareMaxWallTime") == ("345600",)
    assert share.all("GLUE2ComputingShareServingState") == ("queueing",)
    (manager,) = asked(url, "o=glue", "(objectClass=GLUE2ComputingManager)")
    assert manager.all("GLUE2ComputingManagerTotalSlots") == ("240",)
    more = glue_server.JOBS.replace("'2'}", "'2'}\n" + glue_server.JOBS.splitlines()[-2])
    (site / "new").write_text(more)
    (site / "new").replace(site / "jobs")
    assert until(lambda: shown(2).keys() == long), (site / "log").read_text()
    assert not shown(1)
