"""Take the pictures of the page about the browser: ``python docs/screenshots.py`` writes them anew.

It needs Chromium, and playwright of the extra ``test``.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.parse import urljoin

from playwright.sync_api import Browser, sync_playwright

PICTURES = Path(__file__).parent / "pictures"
DESKTOP, PHONE = (900, 430), (390, 640)
SHOTS = (
    ("browse-jobs-light.png", "/jobs?columns=id,state,name,user,project,start,wall",
     DESKTOP, "light"),
    ("browse-usage-dark.png", "/usage?by=project&span=week", (900, 600), "dark"),
    ("browse-job-light.png", "/jobs/7/0", PHONE, "light"),
    ("browse-job-dark.png", "/jobs/7/0", PHONE, "dark"),
)  # fmt: skip
PEOPLE = (("amy", "climate"), ("bob", "climate"), ("keith", "ice"), ("émile", "soil"))
JOB = """<Job><Id>{id}</Id><Name>{name}</Name><User>{user}</User><Project>{project}</Project>
<State>{state}</State><Queue>{queue}</Queue><SubmitTime>{submit}</SubmitTime>
<StartTime>{start}</StartTime><EndTime>{end}</EndTime><CpuDuration>{cpu}</CpuDuration>
<Requested><Processors>{slots}</Processors><Memory units="GB">8</Memory><Duration>{asked}</Duration>
</Requested><Delivered><Processors>{slots}</Processors><Duration>{wall}</Duration>
<Memory units="MB" metric="Max">{memory}</Memory></Delivered></Job>"""


def main() -> None:
    """Show some jobs, and take the pictures."""
    found = shutil.which("chromium") or sys.exit("Chromium is not here")
    with TemporaryDirectory() as folder:
        Path(folder, "jobs.xml").write_text(f"<Data>{jobs(Random(4))}</Data>")
        with subprocess.Popen(
            [sys.executable, "-m", "sssjob", "browse", "jobs.xml"], cwd=folder, text=True,
            stdout=subprocess.PIPE,
        ) as server:  # fmt: skip
            assert server.stdout is not None
            first = server.stdout.readline().strip()
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
                for name, path, size, scheme in SHOTS:
                    take(browser, PICTURES / name, first, path, size, scheme)
                browser.close()
            server.terminate()


def jobs(chance: Random) -> str:
    """Some hundred jobs, the same each time."""
    found = []
    for number in range(400):
        user, project = chance.choice(PEOPLE)
        submit = 1_790_000_000 + number * 9000 + chance.randrange(5000)
        start, wall = submit + chance.randrange(30, 20_000), chance.randrange(60, 90_000)
        slots = chance.choice((1, 4, 16, 64))
        found.append(
            JOB.format(
                id=4000 + number, user=user, project=project, submit=submit, start=start, wall=wall,
                end=start + wall, slots=slots, asked=wall + chance.choice((100, 7200, 86_400)),
                name=chance.choice(("heat", "ice-flow", "remesh", "post")),
                state=chance.choice((*("Completed",) * 7, "Failed", "Cancelled")),
                queue=chance.choice(("batch", "long", "debug")),
                cpu=int(wall * slots * chance.uniform(0.2, 0.97)),
                memory=int(8192 * chance.uniform(0.1, 0.99)),
            )
        )  # fmt: skip
    return "\n".join(found)


def take(
    browser: Browser, place: Path, first: str, path: str, size: tuple[int, int], scheme: str
) -> None:
    """Take one picture of a page."""
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": size[0], "height": size[1]},
    )
    page = context.new_page()
    page.goto(first)
    page.goto(urljoin(first, path))
    page.screenshot(path=place)
    context.close()


if __name__ == "__main__":
    main()
