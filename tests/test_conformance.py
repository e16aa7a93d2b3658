"""The conformance page says what the tables say."""

from pathlib import Path

from sssjob import conformance, spec

PAGE = Path(__file__).parent.parent / "docs" / "conformance.md"


def test_the_page_is_made_from_the_tables():
    made = "python -m sssjob.conformance > docs/conformance.md"
    assert PAGE.read_text() == conformance.page(), f"run: {made}"


def test_every_name_of_the_tables_stands_on_the_page():
    text = conformance.page()
    assert [name for name in spec.names() if f"| {name} |" not in text] == []
