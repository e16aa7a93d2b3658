"""The recipes of packages say what the code says, and what a project needs besides is there."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import sssjob
from sssjob.gateway import config, systemd

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging"
UNIT = PACKAGING / "systemd" / "sssjob.service"
SCRIPTS = ["tree", "debian/build", "debian/postinst", "debian/prerm", "debian/postrm"]


def test_the_unit_is_the_one_that_the_command_prints():
    printed = systemd.unit(Path("/usr/bin/sssjob"), Path("/etc/sssjob/gateway.toml"))
    assert UNIT.read_text() == printed


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path):
    analyze = shutil.which("systemd-analyze") or pytest.skip("systemd is not here")
    unit = tmp_path / "sssjob.service"  # with programs that are on any machine
    unit.write_text(re.sub(r"=/\S+(?= )", f"={shutil.which('true')}", UNIT.read_text()))
    found = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert "sssjob.service" not in found.stderr, found.stderr


@pytest.mark.parametrize("name", ["gateway.toml", "container.toml"])
def test_the_gateway_takes_the_first_configuration(name, tmp_path):
    text = (PACKAGING / name).read_text().replace("/var/lib/sssjob", str(tmp_path))
    (tmp_path / "auth_key").write_text("a-key-of-some-length\n")
    (tmp_path / "auth_key").chmod(0o600)
    (tmp_path / "gateway.toml").write_text(text)
    loaded = config.load(tmp_path / "gateway.toml")
    assert loaded


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_read_by_a_shell_and_may_run(name):
    path = PACKAGING / name
    assert path.stat().st_mode & 0o111
    sh = shutil.which("dash") or shutil.which("sh")
    found = subprocess.run([sh, "-n", path], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_every_file_that_the_recipe_of_rpm_names_is_put_there_by_the_script():
    tree = (PACKAGING / "tree").read_text()
    places = {"%{_bindir}": "/usr/bin", "%{_unitdir}": "/usr/lib/systemd/system",
              "%{_sysusersdir}": "/usr/lib/sysusers.d",
              "%{_tmpfilesdir}": "/usr/lib/tmpfiles.d", "%{_mandir}": "/usr/share/man"}  # fmt: skip
    files = (PACKAGING / "sssjob.spec").read_text().split("%files\n")[1].splitlines()
    for line in files:
        path = line.split()[-1]
        for macro, place in places.items():
            path = path.replace(macro, place)
        folder, _, name = path.rpartition("/")
        put = f"$root{path}" in tree
        made = folder == "/usr/bin" and f"program {name} " in tree
        manual = name == "sssjob*.1*" and f'ours sssjob.cli.manual "$root{folder}"\n' in tree
        completes = re.search(rf"^complete \w+ {re.escape(path[1:])}$", tree, re.MULTILINE)
        assert put or made or manual or completes, line


def test_a_container_runs_as_nobody_special_and_tells_its_health():
    text = (PACKAGING / "Containerfile").read_text()
    last = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 7112:7112$", last, re.MULTILINE)
    assert last.index("USER") > last.rindex("RUN")  # nothing is done as root behind it
    assert re.search(r"^HEALTHCHECK .*", last, re.MULTILINE)
    assert "/healthz" in last


def test_one_version_stands_everywhere():
    said = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    spec = re.search(r"global version_ (\S+)}", (PACKAGING / "sssjob.spec").read_text())
    assert (said[1], spec[1]) == (sssjob.__version__,) * 2


def test_the_matrix_has_the_pythons_that_are_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {text.rpartition(" ")[2] for text in project["classifiers"] if "3 :: " not in text
                and text.startswith("Programming Language :: Python :: 3.")}  # fmt: skip
    listed = re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/check.yml").read_text())[1]
    assert set(re.findall(r"[\d.]+", listed)) == declared
    assert project["requires-python"] == f">={min(declared, key=lambda v: int(v[2:]))}"
