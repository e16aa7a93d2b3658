"""What is published is loaded into a real OpenLDAP server with the GLUE schemas, and asked back."""

import subprocess
import sys
from pathlib import Path

import pytest
from glue_server import (
    BEFORE,
    CONFIG,
    JOBS,
    MANAGER,
    PASSWORD,
    QUEUES,
    STATIC,
    SUFFIXES,
    configured,
    missing,
    run,
    serving,
)

from sssjob.lcginfo import ldif
from sssjob.lcginfo.config import FURTHER

pytestmark = pytest.mark.interop


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
