"""In real Chromium: jobs are found, read and copied by keyboard alone, axe-core finds nothing to
blame (WCAG 2.2 AA), and nothing runs that a job says.

One browser and one server are started for all of them.
"""

import json
import shutil
import socket
import subprocess
import sys
from importlib.resources import files
from urllib.parse import urljoin, urlsplit

import pytest
from gateways import serving
from strange_jobs import GROUP, HOSTILE, RAN, hostile
from waiting import HANG, until

from sssjob import store

sync_api = pytest.importorskip("playwright.sync_api")

# The browser asks nobody on its own account, and finds no name but this machine's.
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# 1 is a JobGroup; 2 ran; 3 failed, and has what nobody understands; hostile jobs come behind them.
PAGES = (
    "/jobs", "/jobs?user=amy&facet=exit&facet=month", "/facets/user", "/jobs/1/0", "/jobs/1/1",
    "/jobs/2/0", "/jobs/3/0", "/usage", "/usage?measure=efficiency", "/waits", "/query",
    "/query?xpath=//Job/Id", "/query?xpath=//Jb", "/query?xpath=((", "/jobs?colour=1",
    "/jobs/2/0/translation?to=sbatch", "/queues", "/queues?queue=long",
)  # fmt: skip
QUEUE = {
    "queue": "long", "vo": "<b>", "running": 3, "waiting": 2, "free": 0, "ert": 60, "wrt": 7200
}  # fmt: skip
READ = (  # every page that shows the texts of a job
    "/jobs", "/jobs?columns=id,name,user,project,machine", "/facets/user", "/facets/state",
    "/jobs/{}/0", "/jobs/{}/0/translation?to=sbatch", "/jobs/{}/0/translation?to=pbs",
    "/usage?by=user&measure=jobs", "/query?xpath=//Job/*",
)  # fmt: skip


@pytest.fixture(scope="module")
def chromium():
    """Chromium of the system: without it there is nothing to try; one that does not start fails."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if found is None:
        pytest.skip("Chromium is not here")
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=ARGUMENTS, timeout=HANG * 1000)
        yield started
        started.close()


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The address that ``sssjob browse`` prints."""
    place = tmp_path_factory.mktemp("jobs") / "jobs.xml"
    queues = tmp_path_factory.mktemp("queues")
    for number, free in enumerate((0, None)):
        (queues / f"{number}.json").write_text(json.dumps([QUEUE | {"free": free}]))
    odd = '<Fancy awarenessPolicy="Warn">x</Fancy><SuspendDuration>9</SuspendDuration></Job>'
    failed = RAN.replace("Completed", "Failed").replace(">7<", ">8<").replace("</Job>", odd)
    jobs = (GROUP, RAN, failed)
    some = "".join((*jobs, *(hostile(*each) for each in enumerate(HOSTILE))))
    place.write_text(f"<Data>{some}</Data>")
    with subprocess.Popen(
        [sys.executable, "-m", "sssjob", "browse", "--queues", queues, place],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
    assert server.returncode == 0


def there(page, where):
    """The one element of a page that is meant. Pages run no script: what is not there when the page
    is, will never be, and nobody waits for it.
    """
    found = where if not isinstance(where, str) else page.locator(where)
    assert found.count() == 1, f"{found.count()} are {found}, at {page.url}: {page.title()}"
    return found


class Shown:
    """A window of the browser that knows the token, and what happened in it."""

    def __init__(self, context, first):
        self.first, self.asked, self.happened = first, [], []
        context.on("request", lambda asked: self.asked.append(urlsplit(asked.url).netloc))
        self.page = context.new_page()
        self.page.on("dialog", self._dialog)
        self.page.on("pageerror", lambda error: self.happened.append(str(error)))
        self.page.goto(first)

    def _dialog(self, dialog):
        self.happened.append(dialog.message)
        dialog.dismiss()

    def open(self, path):
        self.page.goto(urljoin(self.first, path))
        return self.page

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, words):
        """Press Tab until what has these words, or this label, is reached."""
        for _ in range(200):
            self.press("Tab")
            if self.page.evaluate(NAMED) == words:
                return
        pytest.fail(f"Tab does not reach {words!r}")

    def follow(self, words):
        self.tab_to(words)
        with self.page.expect_navigation():
            self.press("Enter")


# What has the focus is called so, and can be seen to have it.
NAMED = """() => {
  const it = document.activeElement, style = getComputedStyle(it);
  if (style.outlineStyle === "none" && it !== document.body) return `no outline: ${it.outerHTML}`;
  const title = it.querySelector && it.querySelector("title");
  return ((it.labels && it.labels[0] || title || it).textContent || "").trim();
}"""


def opened(browser, **how):
    """A window in which nothing but a hang ends the waiting: a loaded machine is slow."""
    context = browser.new_context(**how)
    context.set_default_timeout(HANG * 1000)
    context.set_default_navigation_timeout(HANG * 1000)
    return context


@pytest.fixture(scope="module")
def windows(chromium, first):
    made = []

    def window(size=DESKTOP, scheme="light"):
        context = opened(chromium, viewport=size, color_scheme=scheme)
        made.append(context)
        return Shown(context, first)

    yield window
    for each in made:
        each.close()


@pytest.fixture(scope="module")
def shown(windows):
    return windows()


# --- with the keyboard alone


def test_a_job_is_found_by_a_facet_and_its_page_is_read(shown):
    shown.open("/jobs")
    shown.follow("Failed")
    assert shown.page.locator("table.jobs tbody tr").count() == 1
    shown.follow("8")
    assert shown.page.title() == "Job 8 · sssjob"
    assert (
        "a job that asks for 01:15:00 may start earlier" in there(shown.page, "main").inner_text()
    )


def test_a_job_is_found_by_xpath(shown):
    shown.open("/query")
    shown.tab_to("Expression")
    shown.page.keyboard.type("//Job[Delivered/Processors = 4][State = 'Failed']/Id")
    with shown.page.expect_navigation():
        shown.press("Enter")
    shown.follow("8")
    assert shown.page.title() == "Job 8 · sssjob"


def test_what_a_job_waits_for_is_followed(shown):
    shown.open("/jobs/1/2")
    shown.follow("a: done, exit 0")
    assert shown.page.title() == "Job a · sssjob"


def test_a_chart_is_changed_and_leads_to_its_jobs(shown):
    shown.open("/usage")
    shown.tab_to("Show")
    shown.page.keyboard.type("jobs")
    shown.tab_to("by")
    shown.page.keyboard.type("state")
    shown.follow("Draw")
    assert "measure=jobs&by=state" in shown.page.url
    assert "Completed" in there(shown.page, "thead").inner_text()
    link = there(shown.page, shown.page.locator("a.cell").first)
    expected = link.get_attribute("href")
    shown.follow(link.inner_text())
    assert shown.page.url.endswith(expected)
    assert shown.page.locator("table.jobs tbody tr").count() > 0


def test_a_translation_is_copied(shown):
    shown.open("/jobs/2/0")
    shown.follow("sbatch")
    shown.tab_to("The text, to copy")
    shown.press("Control+a", "Control+c")
    copied = there(shown.page, "#text").input_value()
    assert "#SBATCH" in copied
    shown.open("/query")
    shown.tab_to("Expression")
    shown.press("Control+v")
    assert there(shown.page, "#xpath").input_value() == copied.rstrip("\n").replace("\n", " ")


def test_the_content_comes_first_for_who_wants_it(shown):
    shown.open("/jobs")
    shown.press("Tab", "Enter")
    shown.page.wait_for_url("**/jobs#main")


# --- what nobody should see


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_nothing_that_a_job_says_runs_or_loads(shown, number):
    """What would run asks for a dialog, or for an image."""
    shown.happened.clear()
    for path in READ if number == 0 else [each for each in READ if "{}" in each]:
        page = shown.open(path.format(number + 4))
        assert page.title().endswith("· sssjob"), path
        assert page.locator("main h1").count() == 1, path
        assert page.evaluate("document.scripts.length + document.images.length") == 0, path
        strange = "[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => "
        strange += "a.name.startsWith('on') || a.value.trim().startsWith('javascript:')))"
        assert page.evaluate(f"{strange}.length") == 0, path
    assert shown.happened == []
    assert {*shown.asked} == {urlsplit(shown.first).netloc}


def test_a_script_that_came_into_a_page_would_not_run(shown):
    """The policy holds by itself: even markup of ours with a mistake runs nothing."""
    page = shown.open("/jobs")
    page.evaluate("""() => new Promise(done => {
      const it = document.createElement("div");
      it.innerHTML = "<img src='/static/none.png' onerror='document.title = 1'>";
      const script = document.createElement("script");
      script.textContent = "document.title = 2";
      it.firstChild.addEventListener("error", () => setTimeout(done));
      document.body.append(it, script);
    })""")
    assert page.title() == "Jobs · sssjob"


def test_a_window_without_the_token_shows_nothing(chromium, first):
    context = opened(chromium)
    page = context.new_page()
    page.goto(urljoin(first, "/jobs/2/0"))
    assert "Open the address that the command printed" in there(page, "main").inner_text()
    context.close()


# --- the pages of a gateway

SERVED = """
listen = ["127.0.0.1:0"]
[store]
address = "jobs.db"
[security]
unsigned = true
[web]
listen = "127.0.0.1:{port}"
header = "X-Remote-User"
proxies = ["127.0.0.1"]
[actors.root]
roles = ["admin"]
[actors.sched]
roles = ["scheduler"]
"""


def test_who_comes_by_a_proxy_sees_their_jobs_and_no_others(chromium, tmp_path):
    """The test is the proxy: it tells who asks with each request of the browser."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "gateway.toml").write_text(SERVED.format(port=port))
    told = "<Job><Id>of {0}</Id><User>{0}</User></Job>"
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        for user in ("amy", "bob"):
            jobs.load(told.format(user).encode())
    url = f"http://127.0.0.1:{port}"
    context = opened(chromium)
    with serving(tmp_path) as (process, _):
        log = tmp_path / "log"
        assert until(lambda: '"web"' in log.read_text(), going=lambda: process.poll() is None)
        page = context.new_page()
        assert page.goto(f"{url}/jobs").status == 401

        def tell(name):
            context.unroute_all()
            context.route(
                "**/*",
                lambda route: route.continue_(
                    headers={**route.request.headers, "x-remote-user": name}
                ),
            )

        def seen(name):
            tell(name)
            page.goto(f"{url}/jobs?sort=id")
            return page.locator("table.jobs tbody tr td:first-child").all_inner_texts()

        assert (seen("amy"), seen("bob")) == (["of amy"], ["of bob"])
        assert seen("root") == ["of amy", "of bob"]
        tell("amy")
        statuses = {page.goto(f"{url}/jobs/{number}/0").status for number in (1, 2)}
        assert statuses == {200, 404}

        def create(actor):
            return context.request.post(
                f"{url}/requests.json",
                data={"action": "Create", "data": "<Job><Id>new</Id><User>amy</User></Job>"},
                headers={"x-remote-user": actor, "idempotency-key": "one"},
            )

        assert create("amy").status == 403  # a user may not
        for _ in range(2):  # done once for its key
            made = create("sched")
            assert (made.status, made.json()["count"]) == (200, 1), made.text()
        assert (seen("bob"), seen("amy")) == (["of bob"], ["new", "of amy"])
        with page.expect_navigation():  # a click does not wait for the page
            there(page, page.get_by_role("link", name="new", exact=True)).click()
        assert page.title() == "Job new · sssjob"
    context.close()


# --- for everybody


AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
BLAMED = """async levels => {
  const told = await axe.run(document, {runOnly: levels, resultTypes: ["violations"]});
  return told.violations.map(each => [each.id, each.nodes[0].html]);
}"""


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_axe_finds_nothing(windows, size, scheme):
    shown = windows(size, scheme)
    found = {}
    for path in PAGES:
        page = shown.open(path)
        page.evaluate(AXE)
        found[path] = page.evaluate(BLAMED, LEVELS)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            found[path].append(["reflow", f"{wide} pixels to the right"])
    assert found == {path: [] for path in PAGES}
