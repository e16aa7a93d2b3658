"""Each decision has a number of its own, and the list of pages says where it stands."""

import re
from pathlib import Path

PAGES = Path(__file__).parents[1] / "docs/decisions"


def numbers(page):
    """The numbers of the entries of a page."""
    return [int(each) for each in re.findall(r"^(\d+)\. ", page.read_text("utf-8"), re.M)]


def listed():
    """What the list says: the numbers of each page."""
    rows = re.findall(r"^\| \[.*?\]\((.*?)\) \|.*\| (.*) \|$", README.read_text("utf-8"), re.M)
    return {name: set(expanded(entries)) for name, entries in rows}


def expanded(entries):
    for first, last in re.findall(r"(\d+)(?: to (\d+))?", entries):
        yield from range(int(first), int(last or first) + 1)


README = PAGES / "README.md"
WRITTEN = {page.name: numbers(page) for page in sorted(PAGES.glob("*.md")) if page != README}


def test_each_number_stands_once():
    every = sorted(number for page in WRITTEN.values() for number in page)
    assert every == sorted(set(every))


def test_the_list_names_what_each_page_has():
    assert listed() == {name: set(page) for name, page in WRITTEN.items()}
