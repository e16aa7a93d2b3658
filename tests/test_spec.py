"""The tables hold together."""

import pytest

from sssjob import spec

CONTAINERS = [row.name for row in spec.CONTAINERS]


@pytest.mark.parametrize("name", sorted(spec.TABLES))
def test_a_table_names_nothing_twice(name):
    names = [row.name for row in spec.TABLES[name]]
    assert len(set(names)) == len(names)


def test_requested_and_delivered_hold_what_carries_their_letter():
    for category in (spec.REQUESTED, spec.DELIVERED):
        assert "Processors" in spec.properties(category)
        assert "State" not in spec.properties(category)
        assert all(category[0] in row.categories for row in spec.properties(category).values())


def test_the_later_table_decides():
    assert spec.properties("Job")["Id"].appearance == spec.MUST
    assert spec.properties("TaskGroup")["Id"].appearance == spec.MAY
    assert spec.properties("Task")["Node"].section == "SSS 7.1 Table 7"


@pytest.mark.parametrize("row", spec.ALIASES, ids=lambda row: row.name)
def test_an_older_name_is_read_somewhere_and_is_no_present_name(row):
    places = [name for name in CONTAINERS if spec.alias(row.name, name) is not None]
    assert places
    for place in places:
        assert row.name not in spec.properties(place)
        assert row.canonical in spec.properties(place)


@pytest.mark.parametrize("dialect", spec.DIALECTS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_what_a_dialect_writes_is_read_back(dialect, container):
    for name in spec.properties(container):
        written = spec.written(name, container, dialect)
        row = spec.alias(written, container)
        assert written == name or (row is not None and row.canonical == name)


def test_attributes_depend_on_the_category():
    assert "op" in spec.attributes("Processors", spec.REQUESTED)
    assert "op" not in spec.attributes("Processors", spec.DELIVERED)
    assert "group" in spec.attributes("Processors", spec.DELIVERED)
    assert set(spec.attributes("Shell")) == {"awarenessPolicy"}
    assert spec.required("ResourceLimit") == ("name",)


@pytest.mark.parametrize("name, synonyms", [(row[0], row[2]) for row in spec.RESOURCE_LIMITS])
def test_a_resource_limit_is_known_by_its_synonyms_in_any_case(name, synonyms):
    for written in (name, name.upper(), *synonyms, *(text.upper() for text in synonyms)):
        assert spec.limit_name(written) == name
    assert spec.limit_name("Sunshine") == "Sunshine"
