"""Job objects as jobs of a real batch system, and what these print about themselves."""

import json
import sys
from pathlib import Path

from daemons import user
from waiting import HANG

from sssjob import document
from sssjob.model import Property
from sssjob.submission.at_once import submission, submitted_id

COMMAND = Path(sys.executable).with_name("sssjob")
# Every feature as a line, where they are, what else the system tells, and what may be written.
PROBE = """\
#!/bin/sh
for name in "$JOBFEATURES"/* "$MACHINEFEATURES"/*; do echo "${{name##*/}} $(cat "$name")"; done
echo "JOBFEATURES $JOBFEATURES"
{told}
echo 1 > "$JOBSTATUS/used_CPU" && echo "status written"
(echo 1 > "$JOBFEATURES/forged") || echo "features protected"
"""


def install(place, system, root, *options):
    """Write our scripts, and give the lines of the configuration."""
    printed = place.run(
        COMMAND, "features", "install", "--for", system, "--to", place.root / "hooks",
        "--root", place.root / root, "--documents", place.root / "jobs",
        "--log", place.root / "log/hooks", "--seconds", 60, *options,
    )  # fmt: skip
    return [line for line in printed.splitlines() if line[:1].isalpha()]


def prepare(place, told):
    """The directory of documents, and a program that tells about the job; ``told`` are its own."""
    place.make("jobs")
    (place.root / "probe").write_text(PROBE.format(told=told))
    (place.root / "probe").chmod(0o755)


def submitted(place, system, name, text, options=(), **properties):
    """Submit a document held, as a user, put it into its place, and let the job go."""
    job = document.loads(text.format(probe=place.root / "probe"))
    texts = {"OutputFile": f"{place.root}/work/{name}", **properties}
    job = job.setting(*(Property(*item) for item in texts.items()))
    made = submission(job, system)
    printed = place.run(*made.command, *options, user=user().pw_name, stdin=made.script)
    found = submitted_id(system, printed)
    place_of(place, found).write_text(document.dumps(job.setting(Property("Id", found))))
    place.run(*made.release(found), user=user().pw_name)
    return found


def place_of(place, job):
    """Where the document of a job is."""
    return place.root / f"jobs/{job}.xml"


def kept(place, job):
    """The job object of a job as it is now."""
    return document.loads(place_of(place, job).read_text())


def told(place, name):
    """What a job printed about itself."""
    text = (place.root / f"work/{name}").read_text()
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


def collected(place, system, *options):
    """Fold what records there are; whether every document now has its own."""
    words = (
        "features",
        "collect",
        "--for",
        system,
        "--documents",
        place.root / "jobs",
        "--settle",
        1,
    )
    place.run(COMMAND, *words, *options, check=False)
    return all("<EndTime>" in path.read_text() for path in (place.root / "jobs").glob("*.xml"))


def answer(place, question, job):
    """What ``sssjob query`` finds in the document of a job."""
    return place.run(COMMAND, "query", question, place_of(place, job), check=False).strip()


LOGGED = 30_000  # characters of each log


def unproven(place, rows):
    """The cases that do not hold; what was logged is printed with them, to explain itself."""
    found = [row for row in rows if row["outcome"] not in ("holds", "not here")]
    if found:
        print(place.logs(LOGGED))
    return found


def proven(place, system, *more):
    """What the conformance kit says of each case, on what a test has started."""
    printed = place.run(
        COMMAND, "features", "prove", "--for", system, "--user", user().pw_name,
        "--work", place.root, "--json", "--seconds", HANG - 60, *more, check=False,
    )  # fmt: skip
    return [json.loads(line) for line in printed.splitlines()]
