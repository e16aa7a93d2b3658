"""In real Chromium: a job is found by a facet, its page is read, and nothing that it says runs."""

import re
import shutil
import subprocess
import sys
from html import unescape
from urllib.parse import urljoin

import pytest
from waiting import HANG

HOSTILE = "<script>document.title='it ran'</script><img src=x onerror=\"document.title='it ran'\">"
JOB = """<Job><Id>{}</Id><Name>{}</Name><User>amy</User><State>{}</State>
<StartTime>1700000100</StartTime><EndTime>1700003700</EndTime>
<Requested><Processors>4</Processors><Duration>86400</Duration></Requested>
<Delivered><Processors>4</Processors><Duration>3600</Duration></Delivered></Job>"""


@pytest.fixture(scope="module")
def browser():
    """Chromium, if it is here and starts: a machine may forbid what it needs."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if found is None:
        pytest.skip("Chromium is not here")
    return found


@pytest.fixture(scope="module")
def shown(browser, tmp_path_factory):
    """What stands in a page, as Chromium shows it, with the cookie that the first address gave."""
    profile = tmp_path_factory.mktemp("profile")

    def dumped(address):
        command = (
            browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-first-run",
            f"--user-data-dir={profile}", "--virtual-time-budget=10000", "--dump-dom", address,
        )  # fmt: skip
        result = subprocess.run(
            command, cwd=profile, capture_output=True, text=True, timeout=HANG, check=False
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    if "alive" not in dumped("data:text/html,<p>alive</p>"):
        pytest.skip("Chromium is here, and does not run")
    return dumped


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The address that ``sssjob browse`` prints."""
    place = tmp_path_factory.mktemp("jobs") / "jobs.xml"
    told = HOSTILE.replace("<", "&lt;")
    place.write_text(
        f"<Data>{JOB.format('good', 'run', 'Completed')}{JOB.format('bad', told, 'Failed')}</Data>"
    )
    with subprocess.Popen(
        [sys.executable, "-m", "sssjob", "browse", place], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
    assert server.returncode == 0


def link(page, words):
    """Where the link with these words leads."""
    found = re.search(rf'<a [^>]*href="([^"]*)"[^>]*>\s*{re.escape(words)}\s*</a>', page)
    return unescape(found[1])


def test_a_job_is_found_by_a_facet_and_its_page_is_read(shown, first):
    table = shown(first)
    assert 'href="/jobs/' in table
    # Each page is opened by its own address: a browser that ends forgets a cookie of a session.
    found = shown(urljoin(first, f"{link(table, 'Failed')}&token={first.partition('token=')[2]}"))
    assert ">bad</a>" in found
    assert ">good</a>" not in found
    page = shown(urljoin(first, link(found, "bad") + f"?token={first.partition('token=')[2]}"))
    assert "a job that asks for 01:15:00 may start earlier" in page
    assert "<title>Job bad · sssjob</title>" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page


def test_pages_without_the_token_show_nothing(shown, first):
    assert "Open the address that the command printed" in shown(urljoin(first, "/jobs/1/0"))
