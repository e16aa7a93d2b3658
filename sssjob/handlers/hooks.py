"""Cancel and Hold: commands of a scheduler, run for each job without a shell."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from sssjob.errors import Refused
from sssjob.handlers.attributes import attribute
from sssjob.handlers.changes import once, require_where_only
from sssjob.handlers.editing import WARNING, changed, place, put
from sssjob.handlers.finding import Search
from sssjob.handlers.query import item_of
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import View, views
from sssjob.rmap.message import Set
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest
from sssjob.store import Change, Stored
from sssjob.store.reach import Reach

PLACES = ("Id", "Name", "User", "Queue", "Machine", "actor")
PLACE = re.compile(r"\{(\w+)\}")
_MOST = 100  # jobs of one request, each of which starts a command
_VALUE = re.compile(r"[\w.@:+\[\]/,=][\w.@:+\[\]/,= \-]*", re.ASCII)
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Hook:
    """A command as a list of arguments, in which ``{Id}`` stands for the Id of the job.

    It has ``timeout`` seconds. ``sets`` are properties of the job once it has ended with 0.
    """

    command: tuple[str, ...]
    timeout: float = 10.0
    sets: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def arguments(self, view: View, actor: str) -> list[str]:
        """The command for a job. Raises ``Refused`` (740) for a value that it cannot be given."""
        return [PLACE.sub(lambda found: _value(found[1], view, actor), each)
                for each in self.command]  # fmt: skip

    def run(self, arguments: list[str]) -> str:
        """Run the command; says why it failed, or nothing."""
        try:
            process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True, close_fds=True,
                env={"PATH": os.environ.get("PATH", _PATH), "LC_ALL": "C.UTF-8"},
            )  # fmt: skip
        except OSError as error:
            return f"cannot be started: {error.strerror}"
        try:
            code = process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()
            return f"took longer than {self.timeout:g} seconds"
        return f"ended with {code}" if code else ""


def run(hook: Hook, stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
    """Ask the scheduler for each job that a Where finds, and record what it has done."""
    asked = call.request
    require_where_only(asked)
    search = Search(call, reach)

    def do(change: Change) -> HandlerAnswer:
        done: list[Stored] = []
        for view in found:
            if _key(view) in failed:
                continue
            stored = change.at(view.stored.number)
            for name, value in hook.sets.items():
                block = stored.block()
                one = partial(changed, view=view, asked=Set(name, value))
                stored = put(change, place(block, view.place, one), stored)
            done.append(stored)
        seen = (view for stored in done for view in views(stored, asked.object, change))
        rows = [item_of(view, call) for view in seen]
        message = f"{asked.action}: done for {len(done)} of {len(found)} jobs"
        said = "\n".join([message, *(f"{id_}: the command {why}" for id_, why in failed.values())])
        return HandlerAnswer(rows, WARNING if failed else "000", said, len(done))

    with stores.use() as jobs:
        found = [view for view, _ in zip(search.run(jobs), range(_MOST + 1), strict=False)]
    if len(found) > _MOST:
        raise Refused("740", f"More than {_MOST} jobs; give conditions that find fewer")
    failed: dict[tuple[int, int], tuple[str, str]] = {}
    commands = [hook.arguments(view, call.actor) for view in found]
    for view, command in zip(found, commands, strict=True):
        if why := hook.run(command):
            failed[_key(view)] = view.block.id, why
    if found and len(failed) == len(found):
        [(id_, why), *_] = failed.values()
        raise Refused("700", f"{id_}: the command {why}")
    return once(stores, call, do)


def _key(view: View) -> tuple[int, int]:
    return view.stored.number, view.place


def _value(name: str, view: View, actor: str) -> str:
    """A value for a command: nothing that a program could take for an option of its own."""
    found = attribute(name)
    text = actor if name == "actor" else ((view.text(found) if found else "") or "").strip()
    if not _VALUE.fullmatch(text):
        raise Refused("740", f"The {name} of the job is none that a command can be given")
    return text
