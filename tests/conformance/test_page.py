"""The conformance page says what the tables say."""

from pathlib import Path

from sssjob import spec
from sssjob.conformance.page import page

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"


def test_the_page_is_made_from_the_tables():
    assert PAGE.read_text() == page(), "run: make tables"


def test_every_name_of_the_tables_stands_on_the_page():
    text = page()
    assert [name for name in spec.names() if f"| {name} |" not in text] == []
