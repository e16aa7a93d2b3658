"""Schemas and sheets are found by name, and only they are."""

from pathlib import Path

import pytest

from sssjob import resources

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["sssjob", "sssjob.xsd"])
def test_a_schema_is_found_with_and_without_its_ending(name):
    assert resources.schema(name) == ROOT / "schemas" / "sssjob.xsd"


def test_every_sheet_is_found_by_its_name():
    assert resources.sheets() == tuple(sorted((ROOT / "xslt").glob("*.xsl")))
    for sheet in resources.sheets():
        assert resources.sheet(sheet.stem) == resources.sheet(sheet.name) == sheet


def test_the_cases_are_in_the_order_of_the_sections():
    names = [path.stem for path in resources.cases()]
    assert names == sorted(names)
    assert names[0].startswith("1-")
    assert resources.case_format() == ROOT / "conformance" / "README.md"


@pytest.mark.parametrize("name", ["nosuch", "", "../schemas/sssjob.xsd", "sssjob.xsd"])
def test_what_is_no_sheet_is_refused_with_the_names_there_are(name):
    with pytest.raises(FileNotFoundError, match=r"no sheet named .*there are: "):
        resources.sheet(name)


def test_the_layout_of_the_wheel_comes_first(tmp_path, monkeypatch):
    carried = tmp_path / "sssjob" / "_data" / "schemas" / "sssjob.xsd"
    carried.parent.mkdir(parents=True)
    carried.touch()
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "sssjob")
    assert resources.schema("sssjob") == carried


def test_a_missing_folder_is_named_with_the_places_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "sssjob")
    with pytest.raises(FileNotFoundError, match=f"schemas of sssjob is missing.*{tmp_path}"):
        resources.schema("sssjob")
