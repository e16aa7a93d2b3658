"""Nodes that a job has to itself: an Extension of the job, and an option of several systems.

The standard has no element for it. ``true`` is said of the nodes that the job gets, and ``host`` of
whole machines, where a system tells these from the parts of a machine that it gives away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sssjob.model import stripped
from sssjob.translate.fields import Rule
from sssjob.translate.options import Option, ScriptOptions, ScriptReading, ScriptWriting
from sssjob.translate.requests import NO_OPTION, JobRequest

TYPE, NAME = "nodes", "exclusive"  # of the Extension
NODES, HOSTS = "true", "host"


def wanted(asked: JobRequest, words: Mapping[str, str]) -> list[str]:
    """Take what a job says of it, as a system's own words; at most one of them."""
    found: list[str] = []
    for item in asked.mine("Extension", TYPE):
        word = words.get(stripped(item.text).lower()) if item.attributes.get("name") == NAME else ""
        if not word or found:
            asked.refuse(item, NO_OPTION)
        else:
            found.append(word)
    return found


def say(heard: ScriptReading, text: str) -> None:
    """Say that a job has its nodes to itself."""
    heard.say("Extension", text, type=TYPE, name=NAME)


@dataclass(frozen=True)
class Exclusive(Rule):
    """An option that is there or not, and has no value."""

    option: Option

    @property
    def needs(self) -> str:
        """What says it."""
        return "Extension"

    @property
    def of_options(self) -> Iterable[str]:
        """The one."""
        return (self.option.name,)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The option, for nodes and for whole machines."""
        if wanted(asked, {NODES: NODES, HOSTS: HOSTS}):
            made.option(self.option.name)

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Without a value it is that of nodes; with one it says something else, and is left."""
        if said.takes(self.option):
            say(heard, NODES)
