"""A real OpenLDAP server with the GLUE schemas, and a site whose static entries it holds.

The server runs on loopback, as the user who runs the test, with its data in a directory of the
test. Debian and Ubuntu have what is needed as slapd, ldap-utils and glue-schema.
"""

import os
import shutil
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import HANG, until

PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin", "/usr/lib/openldap"))
SCHEMAS = Path("/etc/ldap/schema")
MODULES = Path("/usr/lib/ldap")
WANTED = (
    *("core", "cosine", "nis", "GLUE20"),
    *("Glue-CORE", "Glue-MDS", "Glue-CE", "Glue-CESEBind", "Glue-SE"),
)
SUFFIXES = ("o=grid", "o=glue")
PASSWORD = "secret"
BEFORE = {
    "o=grid": "dn: o=grid\nobjectClass: organization\no: grid\n\n"
    "dn: mds-vo-name=resource,o=grid\nobjectClass: MDS\nmds-vo-name: resource\n\n",
    "o=glue": "dn: o=glue\nobjectClass: organization\no: glue\n\n"
    "dn: GLUE2GroupID=resource,o=glue\nobjectClass: GLUE2Group\nGLUE2GroupID: resource\n\n",
}
STATIC = {
    "o=grid": """\
dn: GlueCEUniqueID=ce:8443/cream-pbs-{queue},mds-vo-name=resource,o=grid
objectClass: GlueCETop
objectClass: GlueCE
objectClass: GlueSchemaVersion
objectClass: GlueCEAccessControlBase
objectClass: GlueCEInfo
objectClass: GlueCEPolicy
objectClass: GlueCEState
objectClass: GlueInformationService
objectClass: GlueKey
GlueCEUniqueID: ce:8443/cream-pbs-{queue}
GlueCEName: {queue}
GlueCEInfoTotalCPUs: 240
GlueCEStateStatus: Production
GlueCEAccessControlBaseRule: VO:atlas
GlueForeignKey: GlueClusterUniqueID=ce
GlueSchemaVersionMajor: 1
GlueSchemaVersionMinor: 3

dn: GlueVOViewLocalID=atlas,GlueCEUniqueID=ce:8443/cream-pbs-{queue},
 mds-vo-name=resource,o=grid
objectClass: GlueCETop
objectClass: GlueVOView
objectClass: GlueCEInfo
objectClass: GlueCEState
objectClass: GlueCEAccessControlBase
objectClass: GlueCEPolicy
objectClass: GlueKey
objectClass: GlueSchemaVersion
GlueVOViewLocalID: atlas
GlueChunkKey: GlueCEUniqueID=ce:8443/cream-pbs-{queue}
GlueCEAccessControlBaseRule: VO:atlas
GlueSchemaVersionMajor: 1
GlueSchemaVersionMinor: 3

""",
    "o=glue": """\
dn: GLUE2ShareID={queue}_atlas,GLUE2GroupID=resource,o=glue
objectClass: GLUE2Entity
objectClass: GLUE2Share
objectClass: GLUE2ComputingShare
GLUE2ShareID: {queue}_atlas
GLUE2ComputingShareMappingQueue: {queue}
GLUE2ComputingShareServingState: production
GLUE2ShareServiceForeignKey: service
GLUE2ShareResourceForeignKey: environment
GLUE2ShareEndpointForeignKey: endpoint
GLUE2ComputingShareComputingServiceForeignKey: service

dn: GLUE2PolicyID={queue}_policy,GLUE2ShareID={queue}_atlas,GLUE2GroupID=resource,o=glue
objectClass: GLUE2Entity
objectClass: GLUE2Policy
objectClass: GLUE2MappingPolicy
GLUE2PolicyID: {queue}_policy
GLUE2PolicyScheme: org.glite.standard
GLUE2PolicyRule: VO:atlas
GLUE2PolicyUserDomainForeignKey: atlas
GLUE2MappingPolicyShareForeignKey: {queue}_atlas

""",
}
MANAGER = """\
dn: GLUE2ManagerID=manager,GLUE2GroupID=resource,o=glue
objectClass: GLUE2Entity
objectClass: GLUE2Manager
objectClass: GLUE2ComputingManager
GLUE2ManagerID: manager
GLUE2ManagerProductName: torque
GLUE2ManagerServiceForeignKey: service
GLUE2ComputingManagerComputingServiceForeignKey: service

"""
QUEUES = ("long", "short")
JOBS = """\
nactive     240
nfree       191
now         1119073982
schedCycle  120
queue {'name': 'long', 'maxwalltime': 345600.0, 'walltime': 3600.0, 'serving': 'queueing'}
{'queue': 'long', 'start': 1119073900.0, 'state': 'running', 'group': 'atlsgm', 'jobid': '1'}
{'queue': 'long', 'qtime': 1119073900.0, 'state': 'queued', 'group': 'atlsgm', 'jobid': '2'}
{'queue': 'long', 'start': 1119073900.0, 'state': 'running', 'group': 'staff', 'jobid': '3'}
"""
CONFIG = """\
[Main]
static_ldif_file : {0}/o=grid.ldif
static_glue2_ldif_file_computingshare : {0}/o=glue.ldif
vomap :
   atlsgm : atlas
static_glue2_ldif_file_computingmanager : {0}/o=glue.ldif
attributes : {1}
[LRMS]
lrms_backend_cmd : cat {0}/jobs
"""


def program(name):
    return shutil.which(name, path=PATH)


def missing():
    """What is not here of a server that could be started, as a sentence; "" if all is."""
    for name in ("slapd", "slapadd", "ldapmodify", "ldapsearch"):
        if program(name) is None:
            return f"{name} is not installed (Debian, Ubuntu: slapd, ldap-utils)"
    for name in WANTED:
        if not (SCHEMAS / f"{name}.schema").exists():
            return f"{SCHEMAS} has no {name}.schema (Debian, Ubuntu: glue-schema)"
    return ""


def run(name, *arguments, data=None):
    return subprocess.run(
        [program(name), *map(str, arguments)],
        input=data, capture_output=True, text=True, check=False, timeout=HANG,
    )  # fmt: skip


def configured(directory, suffixes=SUFFIXES, admin="cn=admin,", schemas=()):
    """The configuration of a server with a database for each tree; ``schemas`` are further ones."""
    every = [*(SCHEMAS / f"{name}.schema" for name in WANTED), *schemas]
    lines = [f"include {path}" for path in every]
    if MODULES.is_dir():  # where back ends are built in, there is nothing to load
        lines += [f"modulepath {MODULES}", "moduleload back_mdb"]
    lines += [f"pidfile {directory}/slapd.pid", "loglevel none"]
    for suffix in suffixes:
        (directory / suffix).mkdir()
        lines += [
            "database mdb", f'suffix "{suffix}"', f'rootdn "{admin}{suffix}"',
            f"rootpw {PASSWORD}", f'directory "{directory / suffix}"', "maxsize 16777216",
        ]  # fmt: skip
    path = directory / "slapd.conf"
    path.write_text("\n".join([*lines, ""]))
    return path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(config):
    """A server in the foreground, ended with the block; gives its URL."""
    url = f"ldap://127.0.0.1:{free_port()}/"
    command = [program("slapd"), "-d", "0", "-h", url, "-f", str(config)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until_it_answers(server, url)
            yield url
        finally:
            server.terminate()
            server.wait(HANG)


def until_it_answers(server, url):
    asking = ("ldapsearch", "-x", "-H", url, "-s", "base", "-b", "")
    if until(lambda: run(*asking).returncode == 0, going=lambda: server.poll() is None):
        return
    if server.poll() is not None:
        pytest.skip(f"slapd does not run here: it ended with {server.returncode}")
    raise AssertionError("slapd does not answer")
