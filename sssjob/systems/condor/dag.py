"""Jobs that wait for each other as a DAG of HTCondor: each a node with its commands in the file.

``PARENT a CHILD b`` waits for success. What waits for a failure, an end of any kind or an exit code
needs a script behind its parent that makes a success of it, so that all who wait for one job have
to wait for the same: others are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sssjob.errors import Finding, finding
from sssjob.model import Job, Property, stripped
from sssjob.systems.condor.submission import RULES, Description, SubmitFile, description
from sssjob.translate import fields
from sssjob.translate.losses import SHOWN
from sssjob.translate.requests import JobRequest
from sssjob.translate.script_text import ScriptText, beginning, texts
from sssjob.translate.translator import Read, Settings, Translator

_PLAIN = re.compile(r"(?!n_)[A-Za-z0-9_-]{1,200}")
_RESERVED = frozenset(("PARENT", "CHILD", "ALL_NODES"))
_HEX = re.compile(r"n_((?:[0-9a-f]{2})+)")
_NODE = re.compile(r"\s*JOB\s+(\S+)\s*\{\s*", re.IGNORECASE)
_EDGE = re.compile(r"\s*PARENT\s+(.+?)\s+CHILD\s+(.+)", re.IGNORECASE)
_POST = re.compile(
    r"\s*SCRIPT\s+POST\s+(\S+)\s+/usr/bin/test \$RETURN (-ge|-ne|-eq) (-?[0-9]+)\s*", re.IGNORECASE
)
# A node whose commands, or whose own nodes, are in another file.
_APART = re.compile(
    r"\s*(?:JOB|FINAL|PROVISIONER|SERVICE|SPLICE|SUBDAG\s+EXTERNAL)\s+(\S+)\s+([^\s{]\S*)(?:\s.*)?",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\s*(?:#[^\n]*\n\s*)*JOB\s+(?:\S+\s*\{"
    r"|[\w.-]+[ \t]+[^\s{]+(?:[ \t]+(?:DIR[ \t]+\S+|NOOP|DONE))*[ \t]*\r?(?:\n|$))",
    re.IGNORECASE | re.ASCII,
)
_ANY = -(1 << 31)  # the least that $RETURN is, which is below 0 for signals
_SUCCESS = "OnSuccess"
NO_NAME = "job"
# What of a job is no matter of its node alone stands between the nodes.
COMMANDS = SubmitFile(tuple(rule for rule in RULES if not isinstance(rule, fields.RefusedProperty)))


class NeededEnd(NamedTuple):
    """How a job has to end for those that wait for it."""

    condition: str = _SUCCESS
    code: str = ""

    @classmethod
    def of(cls, item: Property) -> NeededEnd:
        """What a Dependency waits for."""
        attributes = item.attributes
        return cls(attributes.get("condition", _SUCCESS), attributes.get("code", "").strip())

    @property
    def test(self) -> str:
        """The test of $RETURN that is true for it; "" for a success. None has no such words."""
        match self:
            case ("OnFailure", ""):
                return "-ne 0"
            case ("OnExit", ""):
                return f"-ge {_ANY}"
            case ("OnExit", code) if code.isascii() and code.isdigit() and len(code) < 10:
                return f"-eq {int(code)}"
        return ""

    @property
    def known(self) -> bool:
        """Whether it can be said."""
        return self == NeededEnd() or bool(self.test)


SUCCEEDS = NeededEnd()
_OUTCOMES = {"-ne 0": NeededEnd("OnFailure"), f"-ge {_ANY}": NeededEnd("OnExit")}


@dataclass(frozen=True, slots=True)
class DagNode:
    """A job of a DAG: its commands, for whom it waits, and how it has to end for others."""

    name: str
    description: Description
    parents: tuple[str, ...] = ()
    outcome: NeededEnd = SUCCEEDS
    waits: Mapping[str, NeededEnd] = field(default_factory=dict)  # how its parents have to end


def node_name(id_: str) -> str:
    """The name of the node of a job: its id, or the bytes of one that DAGMan would not take.

    >>> node_name("a-1"), node_name("a.b")
    ('a-1', 'n_612e62')
    """
    if _PLAIN.fullmatch(id_) and id_.upper() not in _RESERVED:
        return id_
    return f"n_{id_.encode().hex()}" if id_ else NO_NAME


def job_id(name: str) -> str:
    """The id of the job of a node."""
    found = _HEX.fullmatch(name)
    if found is None:
        return name
    try:
        return bytes.fromhex(found[1]).decode()
    except UnicodeDecodeError:
        return name


class DAG(Translator[DagNode]):
    """A DAG of HTCondor, of which each job of a source is a node."""

    name = "dagman"
    suffix = ".dag"
    joins = True
    whole = True

    def context(self, jobs: Sequence[Job]) -> Mapping[str, object]:
        """Each job by its id, with the end that those wait for who can wait for it."""
        ids = {job.id for job in jobs if job.id}
        wanted: dict[str, list[NeededEnd]] = {id_: [] for id_ in ids}
        waits: dict[str, set[str]] = {id_: set() for id_ in ids}
        for job in jobs:
            for item in job.properties.all("Dependency"):
                text = stripped(item.text)
                if job.id and text in ids and _by_id(item):
                    wanted[text].append(NeededEnd.of(item))
                    waits[job.id].add(text)
        free = _in_order(waits)
        return {id_: _first(wanted[id_]) for id_ in ids if id_ in free}

    def compose(self, asked: JobRequest, settings: Settings) -> DagNode:
        """The node of a job. Raises ``InvalidValue`` for a job without a program on the nodes."""
        known = settings.context
        parents: dict[str, None] = {}
        description_ = COMMANDS.compose(asked, settings)
        own = known.get(asked.job.id)
        for item in asked.take("Dependency", "condition", "code", "designator"):
            text = stripped(item.text)
            outcome = known.get(text)
            if not _by_id(item) or text == asked.job.id or not isinstance(outcome, NeededEnd):
                asked.refuse(item, "it is no job of this DAG that could end before")
            elif own is None:
                asked.refuse(item, "jobs wait for each other in a circle")
            elif NeededEnd.of(item) != outcome or not outcome.known:
                asked.refuse(item, f"others wait for its end by {outcome.condition}")
            else:
                parents[node_name(text)] = None
        if description_.queue:
            for item in asked.mine("Extension", COMMANDS.name):
                if item.attributes.get("name") == "queue":
                    asked.refuse(item, "a node is one job")
            description_ = replace(description_, queue="")
        asked.one("Id")
        outcome = own if isinstance(own, NeededEnd) and own.known else SUCCEEDS
        return DagNode(node_name(asked.job.id), description_, tuple(parents), outcome)

    def dump(self, form: DagNode) -> str:
        """The node, and the lines about those that it waits for."""
        lines = [f"JOB {form.name} {{", *COMMANDS.commands(form.description), "}"]
        if form.outcome.test:
            lines.append(f"SCRIPT POST {form.name} /usr/bin/test $RETURN {form.outcome.test}")
        if form.parents:
            lines.append(f"PARENT {' '.join(form.parents)} CHILD {form.name}")
        return "\n".join(lines) + "\n"

    def load(self, data: bytes) -> Iterator[DagNode | Finding]:
        """The nodes that have their commands in the file; other lines are told."""
        for text in texts(data, limit=len(data)):  # a file of many jobs
            assert isinstance(text, ScriptText)
            yield from _nodes(text)

    def job(self, form: DagNode, settings: Settings) -> Read:
        """What the commands say, and for whom the node waits."""
        found = COMMANDS.job(form.description, settings)
        items = [Property("Id", job_id(form.name)), *found.job.items]
        for parent in form.parents:
            outcome = form.waits.get(parent) or settings.context.get(job_id(parent)) or SUCCEEDS
            assert isinstance(outcome, NeededEnd)
            attributes = {} if outcome.condition == _SUCCESS else {"condition": outcome.condition}
            attributes |= {"code": outcome.code} if outcome.code else {}
            items.append(Property("Dependency", job_id(parent), attributes))
        return Read(Job(tuple(items), found.job.attributes), found.findings)

    def keep(self, form: DagNode, lines: Iterable[str]) -> DagNode:
        """The residual in comments among the commands."""
        return replace(form, description=COMMANDS.keep(form.description, lines))

    def kept(self, form: DagNode) -> tuple[str, ...]:
        """The residual."""
        return COMMANDS.kept(form.description)

    def recognises(self, head: bytes) -> str:
        """A node first, with its commands or with the name of their file."""
        return "a first line with JOB" if _BEGINS.match(beginning(head)) else ""


def _unread(name: str, file: str, line: int) -> Finding:
    """That a node is left out: its commands are in another file, which nobody gave us."""
    text = (
        f"node {name[:SHOWN]!r} is left out: {file[:SHOWN]!r}, where its commands are, is not read"
    )
    advice = "put the commands of that file between the braces of JOB NAME { }"
    return finding("E-REF", text, line=line, suggestion=advice)


def _by_id(item: Property) -> bool:
    return item.said("designator", "JobId") == "JobId"


def _first(wanted: list[NeededEnd]) -> NeededEnd:
    """The end that counts where several are waited for: a success needs no script."""
    return SUCCEEDS if not wanted or SUCCEEDS in wanted else min(wanted)


def _in_order(waits: Mapping[str, set[str]]) -> set[str]:
    """Those that are in no circle, and wait for none that is in one."""
    left = {id_: set(parents) for id_, parents in waits.items()}
    behind: dict[str, list[str]] = {}
    for id_, parents in waits.items():
        for parent in parents:
            behind.setdefault(parent, []).append(id_)
    free = [id_ for id_, parents in left.items() if not parents]
    done: set[str] = set()
    while free:
        id_ = free.pop()
        done.add(id_)
        for child in behind.get(id_, ()):
            left[child].discard(id_)
            if not left[child]:
                free.append(child)
    return done


def _nodes(given: ScriptText) -> Iterator[DagNode | Finding]:
    """The nodes of a text, behind what is told of its lines."""
    nodes: dict[str, DagNode] = {}
    parents: dict[str, dict[str, None]] = {}
    outcomes: dict[str, NeededEnd] = {}
    told = given.findings
    lines = iter(enumerate(given.text.split("\n"), 1))
    for number, line in lines:
        if not line.lstrip().startswith("#"):
            line = given.understood(line, number)
        if begin := _NODE.fullmatch(line):
            nodes[begin[1]] = DagNode(begin[1], _commands(number, lines, told))
        elif edge := _EDGE.fullmatch(line):
            for child in edge[2].split():
                parents.setdefault(child, {}).update(dict.fromkeys(edge[1].split()))
        elif post := _POST.fullmatch(line):
            test = f"{post[2]} {post[3]}"
            outcomes[post[1]] = _OUTCOMES.get(test) or NeededEnd("OnExit", post[3])
        elif apart := _APART.fullmatch(line):
            told.append(_unread(apart[1], apart[2], number))
        elif line.strip() and not line.lstrip().startswith("#"):
            told.append(finding("W-UNKNOWN", f"{line.strip()[:60]!r} is not read", line=number))
    yield from told
    for name, node in nodes.items():
        mine = tuple(parents.get(name, ()))
        waits = {parent: outcomes.get(parent, SUCCEEDS) for parent in mine}
        yield replace(node, parents=mine, waits=waits, outcome=outcomes.get(name, SUCCEEDS))


def _commands(start: int, lines: Iterator[tuple[int, str]], told: list[Finding]) -> Description:
    """The commands of a node up to its bracket."""
    found: list[str] = []
    for _, line in lines:
        if line.strip() == "}":
            break
        found.append(line)
    else:
        told.append(finding("E-TYPE", "the commands of a node do not end", line=start))
    return description(ScriptText("\n".join(found)), start)


DAGMAN = DAG()
