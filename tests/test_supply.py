"""What tests and builds are made of: versions are locked with hashes, and a bill lists them."""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HOME = Path(__file__).parents[1]
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
LOCK = (HOME / ".ci/locked.txt").read_text("utf-8")
LOCKED = re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==(\S+)((?:.*\\\n)*.*)$", LOCK, re.MULTILINE)


def wanted(name="dev"):
    """The requirements of a checkout with an extra."""
    for text in PROJECT["optional-dependencies"][name]:
        need = Requirement(text)
        if need.name == PROJECT["name"]:
            for extra in need.extras:
                yield from wanted(extra)
        else:
            yield need


NEEDS = [*map(Requirement, PROJECT["dependencies"]), *wanted()]


@pytest.mark.parametrize("need", NEEDS, ids=str)
def test_what_the_project_asks_for_is_locked(need):
    versions = [locked for name, locked, _ in LOCKED if canonicalize_name(need.name) == name]
    assert versions, "make lock"
    assert all(need.specifier.contains(each, prereleases=True) for each in versions), "make lock"


def test_each_file_of_what_is_locked_has_a_hash():
    assert len(LOCKED) > 80
    size = 2 * hashlib.sha256().digest_size
    for name, _, more in LOCKED:
        assert re.search(rf"--hash=sha256:[0-9a-f]{{{size}}}\b", more), name


def bill(directory, *extras):
    program = [sys.executable, HOME / ".ci/sbom", directory, *extras]
    subprocess.run(program, check=True, capture_output=True)
    (file,) = directory.iterdir()
    return json.loads(file.read_text("utf-8"))


def test_a_bill_of_materials_has_all_that_is_needed(tmp_path):
    made = bill(tmp_path / "small")
    direct = {canonicalize_name(Requirement(each).name) for each in PROJECT["dependencies"]}
    here = made["metadata"]["component"]
    there = {each["bom-ref"]: each for each in made["components"]}
    ways = {each["ref"]: each["dependsOn"] for each in made["dependencies"]}
    assert (made["bomFormat"], here["name"], here["version"]) == (
        "CycloneDX", "sssjob", version("sssjob"),
    )  # fmt: skip
    assert ways.keys() == {here["bom-ref"], *there}
    assert {ref for refs in ways.values() for ref in refs} == there.keys()
    assert {re.fullmatch(r"pkg:pypi/(.*)@.*", ref)[1] for ref in ways[here["bom-ref"]]} == direct
    for each in there.values():
        assert each["version"] == version(each["name"])
    whole = bill(tmp_path / "large", "http")
    assert "requests" in {each["name"] for each in whole["components"]}
    assert "requests" not in {each["name"] for each in made["components"]}
    assert any(Requirement(each).name == "requests" for each in requires("sssjob"))
