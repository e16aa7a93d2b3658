"""The documentation site is built without a warning, whole, and loads nothing from elsewhere.

Leave these out with ``-m 'not packaging'``; they take some twenty seconds.
"""

import http.server
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import urlopen

import pytest
from waiting import HANG

import sssjob
from sssjob.accounting import table
from sssjob.cli.defaults import KEYS
from sssjob.conformance import reference
from sssjob.errors import CODE, CODES
from sssjob.features.site import SETTINGS
from sssjob.lcginfo.config import OPTIONS
from sssjob.store import parquet

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).parents[1]
# What a browser fetches when it shows a page, and not only when somebody follows a link.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(HTMLParser):
    """The ids of a page, where it leads, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"])
        if given.get(LOADED.get(tag)):
            self.loaded.add(given[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    gathered, built = folder / "docs", folder / "site"
    for command in (
        [ROOT / "docs" / "site.py", gathered],
        ["-m", "sphinx", "-q", "-W", "-b", "html", "-c", ROOT / "docs", gathered, built],
    ):
        result = subprocess.run(
            [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout + result.stderr
        assert not result.stderr
    return built


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_page_of_the_documentation_is_there(site, pages):
    names = {path.relative_to(site).with_suffix("").as_posix() for path in pages}
    found = (each for kind in ("*.md", "*.ipynb") for each in (ROOT / "docs").rglob(kind))
    sources = {path.relative_to(ROOT / "docs") for path in found}
    assert {source.with_suffix("").as_posix() for source in sources} <= names
    assert {"index", "commands", "library", "changelog", "search"} <= names


def test_every_page_is_in_the_navigation(site, pages):
    shown = {urlsplit(link).path for link in pages[site / "index.html"].links}
    without = {"genindex.html", "search.html", "index.html"}
    assert {path.relative_to(site).as_posix() for path in pages} - without <= shown


def test_no_link_within_the_site_is_dead(pages):
    dead = {
        (path.name, link)
        for path, page in pages.items()
        for link in page.links | page.loaded
        if not (urlsplit(link).scheme or _leads(path, link, pages))
    }
    assert not dead


def _leads(path, link, pages):
    """Whether a link leads to a file of the site, and to a place in it that is there."""
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target not in pages or not parts.fragment:
        return target.is_file()
    return unquote(parts.fragment) in pages[target].ids


def test_no_page_loads_anything_from_elsewhere(site, pages):
    for path, page in pages.items():
        assert not [each for each in page.loaded if urlsplit(each).netloc], path
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(?:https?:)?//", style.read_text("utf-8")), style


def test_each_command_and_each_name_of_the_library_has_its_place(site):
    commands = (site / "commands.html").read_text("utf-8")
    for name in ("validate", "store import", "lcginfo run", "features job"):
        assert f">sssjob {name}<" in commands, name
    library = Page((site / "library.html").read_text("utf-8")).ids
    assert {f"sssjob.{name}" for name in sssjob.__all__ if name != "__version__"} <= library


def test_each_kind_of_finding_has_its_row(site):
    page = (site / "findings.html").read_text("utf-8")
    for code in CODES:
        assert f">{code.name}<" in page, code


def test_each_name_of_the_standard_each_column_and_each_key_has_its_place(site):
    elements = (site / "elements.html").read_text("utf-8")
    for name in reference.names() - CODE.keys():
        assert f"<h2>{name}<" in elements, name
    columns = (site / "columns.html").read_text("utf-8")
    for name in (*table.schema().names, *parquet.schema().names):
        assert f">{name}<" in columns, name
    configuration = (site / "configuration.html").read_text("utf-8")
    for name in (*KEYS, *SETTINGS, *(option.name for option in OPTIONS)):
        assert f">{name}<" in configuration, name


def test_the_search_knows_the_words_of_the_pages(site):
    index = (site / "searchindex.js").read_text("utf-8")
    for word in ("awarenesspolicy", "sbatch", "jobfeatur", "lrmsinfo"):
        assert word in index.lower(), word


class Served(http.server.SimpleHTTPRequestHandler):
    """The site over HTTP, which is how people read it; ``server.missing`` is what was not there."""

    def send_error(self, code, *args):
        self.server.missing.append((code, self.path))
        super().send_error(code, *args)

    def log_message(self, *args):
        pass


@pytest.fixture
def served(site):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Served, directory=site)) as run:
        run.missing = []
        thread = threading.Thread(target=run.serve_forever)
        thread.start()
        yield run
        run.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser():
    """Chromium, if it is here and starts: a machine may forbid what it needs."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if found is None:
        pytest.skip("Chromium is not here")
    return found


@pytest.fixture
def shown(browser, served, tmp_path):
    """What stands in a page after its programs ran, as Chromium shows it."""

    def dumped(address):
        # Pages come from this machine or not at all; time is counted by what there is to do.
        command = (
            browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-first-run",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=30000",
            "--dump-dom", address,
        )  # fmt: skip
        result = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG, check=False
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    if "alive" not in dumped("data:text/html,<p>alive</p>"):
        pytest.skip("Chromium is here, and does not run")
    return lambda page: dumped(f"http://127.0.0.1:{served.server_port}/{page}")


def asked(served, page, links):
    """What the server says of each link of a page to the site itself."""
    here = f"http://127.0.0.1:{served.server_port}/{page}"
    for address in {urljoin(here, link) for link in links}:
        if urlsplit(address).hostname == "127.0.0.1":
            with urlopen(address) as answer:
                yield answer.status


def test_the_search_finds_in_a_browser_and_leads_to_pages(shown, served):
    for word, page in (("awarenessPolicy", "awareness.html"), ("lrmsinfo", "lcginfo.html")):
        address = f"search.html?q={word}"
        links = Page(shown(address).partition('id="search-results"')[2]).links
        found = {urlsplit(link).path for link in links}
        assert page in found, (word, found)
        assert set(asked(served, address, links)) == {200}
    assert "did not match any documents" in shown("search.html?q=qqxyzzyqq")
    assert not served.missing


@pytest.mark.parametrize("page", ["index.html", "commands.html", "tutorials/data.html"])
def test_all_that_a_page_shows_in_a_browser_is_there(page, shown, served):
    """Pictures, styles and programs, those too that programs of the page ask for."""
    text = shown(page)
    assert "<h1>" in text
    assert not served.missing
    assert set(asked(served, page, Page(text).links)) == {200}
