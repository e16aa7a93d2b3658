"""A real BDII runs the command as its plug-in and merges what it prints into the static entries.

``bdii-update`` does so once where it is not a daemon, and prints the entries; no server is needed.
Debian and Ubuntu have it in the package bdii.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import HANG

from sssjob.lcginfo import ldif

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
