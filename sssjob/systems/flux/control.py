"""How Flux is told of jobs: jobspecs and its commands; the mark is an attribute of the user's."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sssjob.submission.control import ID, Control, Look, Marked, Seen
from sssjob.systems.flux import ids, words

_FORMAT = "{id.dec}|{state}|{urgency}|{t_submit}"
_HELD = "0"  # the urgency of a job that is held


def mark(target: str, text: str, word: str) -> Marked:
    """A jobspec with the mark; what shows a jobspec shows it."""
    form = json.loads(text)
    user = form.setdefault("attributes", {}).setdefault("user", {})
    user.setdefault("sssjob", {})["mark"] = word
    return Marked((), json.dumps(form))


def shown(printed: str) -> Iterator[Seen]:
    """The jobs in what flux jobs prints."""
    for line in printed.splitlines():
        fields = line.split("|")
        if len(fields) == 4 and fields[0].isdigit():
            id_, word, urgency, submitted = fields
            held = urgency == _HELD and word in words.WAITING
            known = "Hold" if held else words.STATES.get(word, "")
            yield Seen(id_, known, submitted=_seconds(submitted))


def _seconds(text: str) -> str:
    whole = text.partition(".")[0]
    return whole if whole.isdigit() and whole != "0" else ""


CONTROL = Control(
    target="flux",
    also=("flux-canonical",),
    submit=("flux", "job", "submit", "--urgency=0"),
    mark=mark,
    named=lambda printed: ids.number(printed.strip().partition("\n")[0]),
    ids=r"[0-9]{1,20}",
    cancel=("flux", "cancel", ID),
    hold=("flux", "job", "urgency", ID, "hold"),
    release=("flux", "job", "urgency", ID, "default"),
    # Those that have ended are among them.
    own=Look((("flux", "jobs", "-a", "--no-header", f"--format={_FORMAT}"),), shown),
    one=Look((("flux", "jobs", "--no-header", f"--format={_FORMAT}", ID),), shown,
             ("unknown", "Unknown", "not found")),
    details=("flux", "job", "info", ID, "jobspec"),
)  # fmt: skip
