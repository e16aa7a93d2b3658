"""What is published is loaded into a real OpenLDAP server with the GLUE schemas, and asked back.

The server runs on loopback, as the user who runs the test, with its data in a directory of the
test. Debian and Ubuntu have what is needed as slapd, ldap-utils and glue-schema.
"""

import os
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import HANG, until

from sssjob.lcginfo import ldif
from sssjob.lcginfo.config import FURTHER

pytestmark = pytest.mark.interop

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


def configured(directory):
    """The configuration of a server with a database for each tree."""
    lines = [f"include {SCHEMAS}/{name}.schema" for name in WANTED]
    if MODULES.is_dir():  # where back ends are built in, there is nothing to load
        lines += [f"modulepath {MODULES}", "moduleload back_mdb"]
    lines += [f"pidfile {directory}/slapd.pid", "loglevel none"]
    for suffix in SUFFIXES:
        (directory / suffix).mkdir()
        lines += [
            "database mdb", f'suffix "{suffix}"', f'rootdn "cn=admin,{suffix}"',
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


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A directory with static files and a configuration of ours."""
    place = tmp_path_factory.mktemp("slapd")
    for suffix in SUFFIXES:
        text = "".join(STATIC[suffix].format(queue=queue) for queue in QUEUES)
        text += MANAGER if suffix == "o=glue" else ""
        (place / f"{suffix}.ldif").write_text(text)
    (place / "jobs").write_text(JOBS)
    (place / "site.conf").write_text(CONFIG.format(place, " ".join(FURTHER)))
    return place


@pytest.fixture(scope="module")
def server(directory):
    """The URL of a server that holds the static entries."""
    if reason := missing():
        pytest.skip(reason)
    config = configured(directory)
    for suffix in SUFFIXES:
        loaded = run(
            "slapadd", "-f", config, "-b", suffix,
            data=BEFORE[suffix] + (directory / f"{suffix}.ldif").read_text(),
        )  # fmt: skip
        if "denied" in loaded.stderr:  # AppArmor lets slapd keep its data in /var/lib/ldap only
            pytest.skip(f"slapadd may not work here: {loaded.stderr.strip()}")
        if loaded.returncode:
            raise AssertionError(f"static entries are not as the schema has them: {loaded.stderr}")
    with serving(config) as url:
        yield url


@pytest.fixture(scope="module")
def published(directory):
    command = Path(sys.executable).with_name("lcg-info-dynamic-scheduler")
    result = subprocess.run(
        [command, "-c", directory / "site.conf"], capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return list(ldif.read(result.stdout))


def suffix_of(entry):
    return entry.dn[-len("o=grid") :]


def changes(entries):
    """The entries as changes of what is there, as a BDII makes them."""
    lines = []
    for entry in entries:
        lines += [entry.head, "changetype: modify"]
        for name, value in entry.attributes:
            lines += [f"replace: {name}", ldif.line(name, value), "-"]
        lines.append("")
    return "\n".join(lines)


def modify(url, suffix, text):
    admin = ("-D", f"cn=admin,{suffix}", "-w", PASSWORD)
    return run("ldapmodify", "-x", "-H", url, *admin, data=text)


def test_a_server_with_the_glue_schema_takes_what_is_published_and_gives_it_back(server, published):
    assert len(published) == 7
    for suffix in SUFFIXES:
        ours = [entry for entry in published if suffix_of(entry) == suffix]
        result = modify(server, suffix, changes(ours))
        assert result.returncode == 0, result.stderr
    for entry in published:
        result = run("ldapsearch", "-x", "-LLL", "-H", server, "-s", "base", "-b", entry.dn)
        (found,) = ldif.read(result.stdout.encode())
        for name, value in entry.attributes:
            assert found.all(name) == (value,), (entry.dn, name)


def test_a_client_finds_the_queue_with_free_slots(server, published):
    for suffix in SUFFIXES:
        ours = [entry for entry in published if suffix_of(entry) == suffix]
        assert modify(server, suffix, changes(ours)).returncode == 0
    asked = "(&(objectClass=GLUE2ComputingShare)(GLUE2ComputingShareWaitingJobs=1))"
    result = run("ldapsearch", "-x", "-LLL", "-H", server, "-b", "o=glue", asked)
    (share,) = ldif.read(result.stdout.encode())
    assert share.all("GLUE2ShareID") == ("long_atlas",)
    assert share.all("GLUE2ComputingShareFreeSlots") == ("0",)
    assert share.all("GLUE2ComputingShareServingState") == ("queueing",)
    assert share.all("GLUE2ComputingShareMaxWallTime") == ("345600",)
    asked = "(objectClass=GLUE2ComputingManager)"
    result = run("ldapsearch", "-x", "-LLL", "-H", server, "-b", "o=glue", asked)
    (manager,) = ldif.read(result.stdout.encode())
    assert manager.all("GLUE2ComputingManagerTotalSlots") == ("240",)
    assert manager.all("GLUE2ComputingManagerSlotsUsedByGridJobs") == ("1",)
    assert manager.all("GLUE2ComputingManagerSlotsUsedByLocalJobs") == ("1",)


def test_the_server_would_refuse_what_is_no_number(server, published):
    entry = published[0]
    text = changes([entry]).replace("RunningJobs: 2", "RunningJobs: many")
    assert modify(server, suffix_of(entry), text).returncode != 0
