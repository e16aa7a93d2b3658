"""What we hand out is whole: the wheel and the sdist carry schemas and sheets, and the wheel runs.

Leave these out with ``-m 'not packaging'``; they take some ten seconds.
"""

import os
import re
import runpy
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from test_docs import blocks, matches, sessions

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).parents[1]
SCHEMAS = sorted(path.name for path in (ROOT / "schemas").glob("*.xsd"))
SHEETS = sorted(path.name for path in (ROOT / "xslt").glob("*.xsl"))
CASES = sorted(path.name for path in (ROOT / "conformance").iterdir())

# pip's words for an index that cannot be reached, as opposed to a package that is not there.
UNREACHABLE = re.compile(
    r"connection broken|Failed to establish|name resolution|timed out|Max retries", re.IGNORECASE
)


def run(*command, cwd):
    # Neither this checkout nor this environment may help what is tried here.
    strangers = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        command, cwd=cwd, env=strangers, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    """The folder with the sdist, and the wheel that was built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    result = run(*command, cwd=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def test_the_same_sources_make_the_same_bytes(dist, tmp_path):
    """Whatever the times and modes of files, the zone, and what may be read by others."""
    sdist, wheel = next(dist.glob("*.tar.gz")), next(dist.glob("*.whl"))
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (top,) = (tmp_path / "source").iterdir()
    for path in top.rglob("*"):
        os.utime(path, (981_173_106, 981_173_106))
    again = tmp_path / "again"
    build = f"umask 077 && TZ=Asia/Tokyo '{sys.executable}' -m build --no-isolation --outdir"
    result = run("sh", "-c", f"{build} '{again}' '{top}'", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    for given in (sdist, wheel):
        assert (again / given.name).read_bytes() == given.read_bytes(), given.name


@pytest.fixture(scope="session")
def wheel(dist):
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """The programs of an environment that holds the wheel and what it depends on, no more."""
    folder = tmp_path_factory.mktemp("empty")
    made = run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    assert made.returncode == 0, made.stdout + made.stderr
    programs = folder / "venv" / "bin"
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "--no-input"]
    result = run(*pip, "--disable-pip-version-check", "--retries=1", wheel, cwd=folder)
    if result.returncode and UNREACHABLE.search(result.stderr):
        pytest.skip("the package index cannot be reached")
    assert result.returncode == 0, result.stderr
    return programs


def test_the_wheel_carries_every_schema_and_sheet_unchanged(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for folder, names in (("schemas", SCHEMAS), ("xslt", SHEETS), ("conformance", CASES)):
            for name in names:
                carried = archive.read(f"sssjob/_data/{folder}/{name}")
                assert carried == (ROOT / folder / name).read_bytes(), name


def test_the_schema_that_people_cite_is_among_them():
    assert "sssjob.xsd" in SCHEMAS
    assert SHEETS
    assert "README.md" in CASES


def test_the_wheel_carries_the_package_and_its_data_only(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert tops == {"sssjob", f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}


def test_the_sdist_carries_schemas_sheets_and_tests_at_the_top(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"schemas/{name}" for name in SCHEMAS} <= names
    assert {f"xslt/{name}" for name in SHEETS} <= names
    assert {f"conformance/{name}" for name in CASES} <= names
    assert {"Makefile", "README.md", "LICENSE", ".ci/run", "tests/test_packaging.py"} <= names


def test_the_installed_command_tells_its_version_from_anywhere(installed, tmp_path):
    result = run(installed / "sssjob", "--version", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "0.1.0" in result.stdout


def test_the_installed_command_validates_with_the_schema_it_carries(installed, tmp_path):
    job = tmp_path / "job.xml"
    job.write_text("<Job><Id>PBS.1234.0</Id></Job>")
    result = run(installed / "sssjob", "validate", job, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_installed_command_runs_and_exports_the_cases_that_it_carries(installed, tmp_path):
    result = run(installed / "sssjob", "conformance", "--export", tmp_path / "cases", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "cases" / "README.md").is_file()
    result = run(installed / "sssjob", "conformance", cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_the_installed_command_shows_the_demo_on_the_examples_that_it_carries(installed, tmp_path):
    result = run(installed / "sssjob", "demo", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    carried = tmp_path / "sssjob-demo" / "examples"
    for given in (ROOT / "examples").rglob("*"):
        place = carried / given.relative_to(ROOT / "examples")
        assert given.is_dir() or place.read_bytes() == given.read_bytes()


def test_the_installed_package_finds_its_schemas_and_sheets(installed, tmp_path):
    program = "from sssjob import resources as r; print(r.schema('sssjob'), *r.sheets(), sep='\\n')"
    result = run(installed / "python", "-c", program, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = [Path(line) for line in result.stdout.splitlines()]
    assert [path.name for path in found] == ["sssjob.xsd", *SHEETS]
    assert all(path.is_relative_to(installed.parent) for path in found)


NEWCOMERS = [
    "README.md",
    *(f"docs/tutorials/{name}.md" for name in ("researcher", "scheduler", "accounting", "site")),
]


@pytest.mark.parametrize("page", NEWCOMERS)
def test_a_newcomer_follows_a_page_with_the_wheel_alone(installed, page, tmp_path):
    """Each command and each program of the page, where nothing is but what the wheel carries."""
    assert run(installed / "sssjob", "examples", "examples", cwd=tmp_path).returncode == 0
    for kind, text, line in blocks(ROOT / page):
        if kind == "console":
            for command, expected in sessions(text):
                printed = _typed(command, installed, tmp_path)
                assert matches(expected, printed), f"{page}:{line}: $ {command}\n{printed}"
        elif kind == "python":
            (tmp_path / "block.txt").write_text(text)
            done = run(installed / "python", "-c", DOCTEST, cwd=tmp_path)
            assert done.returncode == 0, f"{page}:{line}\n{done.stdout}{done.stderr}"


DOCTEST = (
    "import doctest, sys; flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE; "
    "sys.exit(doctest.testfile('block.txt', module_relative=False, optionflags=flags).failed)"
)


def _typed(command, programs, folder):
    """What a command prints at a prompt, to people and to programs."""
    ours = {"PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "400", "LC_ALL": "C.UTF-8",
            "TZ": "UTC", "HOME": str(folder)}  # fmt: skip
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=ours, text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ).stdout  # fmt: skip


def test_packages_and_the_image_hold_the_same_and_the_pages_are_among_it():
    found = {
        name: re.findall(r"\[([a-z,]+)\]\"", (ROOT / "packaging" / name).read_text("utf-8"))
        for name in ("Containerfile", "tree")
    }
    assert found["Containerfile"] == found["tree"]
    assert {"gateway", "web"} <= {*found["tree"][0].split(",")}


SPEC = (ROOT / "packaging" / "sssjob.spec").read_text("utf-8")


def _scriptlet(name):
    """A scriptlet of the spec as rpm gives it to sh."""
    found = re.search(rf"^%{name}\n(.*?)\n\n", SPEC, re.DOTALL | re.MULTILINE)
    return found[1].replace("%{__python3}", "python3")


def _debian(name):
    return (ROOT / "packaging" / "debian" / name).read_text("utf-8")


STARTS = ("systemctl daemon-reload",)
AGAIN = ("systemctl daemon-reload", "systemctl try-restart sssjob.service")
ENDS = ("systemctl disable --now sssjob.service",)


@pytest.mark.parametrize(
    ("script", "arguments", "asked", "cleaned"),
    [
        (_debian("postinst"), ("configure", ""), STARTS, False),
        (_debian("postinst"), ("configure", "0.0.9"), AGAIN, False),
        (_debian("prerm"), ("upgrade", "0.2.0"), (), True),  # before the new files are there
        (_debian("prerm"), ("remove",), ENDS, True),
        (_debian("postrm"), ("remove",), STARTS, False),
        (_scriptlet("post"), ("2",), STARTS, False),
        (_scriptlet("preun"), ("1",), (), False),  # after the new files were compiled
        (_scriptlet("preun"), ("0",), ENDS, True),
        (_scriptlet("postun"), ("1",), AGAIN, False),
        (_scriptlet("postun"), ("0",), STARTS, False),
    ],
)
def test_a_package_restarts_the_gateway_on_upgrade_and_ends_it_on_removal(
    script, arguments, asked, cleaned, tmp_path
):
    """With programs that note how they are called, and do nothing."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("systemctl", "systemd-sysusers", "systemd-tmpfiles", "python3", "find"):
        program = programs / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>"{tmp_path}/calls"\n')
        program.chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", script, "script", *arguments],
        cwd=tmp_path, env={"PATH": str(programs)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines() if (tmp_path / "calls").exists() else []
    assert tuple(call for call in calls if call.startswith("systemctl")) == asked
    assert any("__pycache__" in call for call in calls) == cleaned


@pytest.mark.parametrize("module", ["sssjob.__main__", "sssjob.cli.lcginfo.run"])
def test_a_process_that_a_packaged_program_starts_does_not_run_it_again(
    module, tmp_path, monkeypatch
):
    """multiprocessing imports the program of its parent, for the pages of a gateway too."""
    tree = (ROOT / "packaging" / "tree").read_text("utf-8")
    written = re.search(r"<<PROGRAM\n(.*?)^PROGRAM$", tree, re.DOTALL | re.MULTILINE)[1]
    program = tmp_path / "program"
    program.write_text(written.replace("$2", module))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", ["program", "--help"])
    runpy.run_path(str(program), run_name="__mp_main__")
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(program), run_name="__main__")
    assert ended.value.code in (0, None)
