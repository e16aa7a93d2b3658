"""The catalog of XML leads every name to a schema that compiles, for programs that are not ours."""

import os
import shutil
import subprocess

import pytest
from lxml import etree

from sssjob import resources, spec

CATALOG = resources.catalog()
NAMES = [
    *(f"urn:x-sssjob:{path.name}" for path in sorted(CATALOG.parent.glob("*.xsd"))),
    spec.NAMESPACE,
]
JOB = "<Job xmlns='{namespace}'><Id>1</Id>{more}</Job>"


def run(*command, cwd):
    given = {**os.environ, "XML_CATALOG_FILES": str(CATALOG)}
    return subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, check=False)


def program(name):
    return shutil.which(name) or pytest.skip(f"{name} is not here (libxml2-utils)")


@pytest.mark.parametrize("name", NAMES)
def test_each_name_leads_to_a_schema(name, tmp_path):
    # As a URI, which a schema is; xmlcatalog tries names of documents first, and says so.
    found = run(program("xmlcatalog"), CATALOG, name, cwd=tmp_path).stdout.splitlines()[-1]
    found = found.removeprefix("file://")
    assert found.endswith(".xsd")
    etree.XMLSchema(file=str(tmp_path / found))


@pytest.mark.parametrize(
    "schema, namespace", [("urn:x-sssjob:sssjob.xsd", ""), (spec.NAMESPACE, spec.NAMESPACE)]
)
@pytest.mark.parametrize("more, valid", [("", True), ("<Memroy>2</Memroy>", False)])
def test_xmllint_validates_by_a_name_without_a_network(schema, namespace, more, valid, tmp_path):
    (tmp_path / "job.xml").write_text(JOB.format(namespace=namespace, more=more))
    command = (program("xmllint"), "--nonet", "--noout", "--schema", schema, "job.xml")
    result = run(*command, cwd=tmp_path)
    assert (result.returncode == 0) is valid, result.stderr
    assert ("fails to validate" in result.stderr) is not valid


def test_a_name_that_is_not_of_ours_leads_nowhere(tmp_path):
    result = run(program("xmlcatalog"), CATALOG, "urn:x-other:sssjob.xsd", cwd=tmp_path)
    assert "No entry" in result.stdout
