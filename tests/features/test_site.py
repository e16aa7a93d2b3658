from fractions import Fraction

import pytest

from sssjob.errors import UnusableInput
from sssjob.features import site

TEXT = """
hepscore_per_cpu = 12.5
grace_secs = 3600
grace_secs_job = 600
cpufactor_lrms = 1.25

[[nodes]]
names = ["n[01-20]", "old"]
hs06 = 151.25
total_cpu = 14

[[nodes]]
names = "old"
hs06 = 99
shutdowntime = 2030-01-01T00:00:00Z
shutdown_command = "/usr/sbin/poweroff"
"""


def test_the_last_table_that_names_a_node_counts():
    found = site.parse(TEXT)
    assert found.settings("n07")["hs06"].value == Fraction("151.25")
    assert found.settings("old")["hs06"].value == 99
    assert found.settings("old")["total_cpu"].value == 14
    assert "hs06" not in found.settings("other")
    assert found.settings()["cpufactor_lrms"].value == Fraction(5, 4)


def test_a_setting_says_where_it_stands():
    found = site.parse(TEXT, "site.toml").of("old")
    assert found["hs06"].source == "site.toml: nodes[1]"
    assert found["grace_secs"].source == "site.toml"


def test_times_have_a_zone_and_commands_are_text():
    found = site.parse(TEXT).of("old")
    assert found["shutdowntime"].text == "1893456000"
    assert found["shutdown_command"].text == "/usr/sbin/poweroff"


@pytest.mark.parametrize(
    "text, complaint",
    [
        pytest.param("hs06 = ", "no TOML", id="not TOML"),
        pytest.param("grace_sec = 1", "did you mean grace_secs?", id="misspelled"),
        pytest.param("hs06 = 'fast'", "not a number", id="a text for a number"),
        pytest.param("shutdown_command = 1", "not a text", id="a number for a text"),
        pytest.param("total_cpu = 0", "above 0", id="zero"),
        pytest.param("total_cpu = true", "bool", id="true"),
        pytest.param("hs06 = nan", "nan", id="not a number"),
        pytest.param("shutdowntime = 2030-01-01T00:00:00", "zone", id="a time without zone"),
        pytest.param("grace_secs = 2030-01-01T00:00:00Z", "zone", id="a time for a duration"),
        pytest.param("nodes = 1", "[[nodes]]", id="nodes are tables"),
        pytest.param("[[nodes]]\nhs06 = 1", "names", id="a table without names"),
        pytest.param("[[nodes]]\nnames = 'n[1-'\nhs06 = 1", "n[1-", id="a broken range"),
        pytest.param("[[nodes]]\nnames = 'n[1-9999999]'", "1000000", id="too many names"),
        pytest.param("wall_limit_secs = 1", "not a setting", id="a key of jobs"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, complaint):
    with pytest.raises(UnusableInput) as error:
        site.parse(text, "site.toml")
    assert str(error.value).startswith("site.toml")
    assert complaint in str(error.value)


def test_a_file_is_bounded_and_must_be_text(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"\xff")
    with pytest.raises(UnusableInput, match="byte 1"):
        site.read(tmp_path / "a")
    monkeypatch.setattr(site, "LIMIT", 3)
    (tmp_path / "b").write_text("hs06 = 1")
    with pytest.raises(UnusableInput, match="MiB"):
        site.read(tmp_path / "b")
