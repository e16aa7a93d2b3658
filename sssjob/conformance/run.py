"""What sssjob makes of a case, in the form in which the case says what is expected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lxml import etree

from sssjob import expression, graph, layout
from sssjob.check.awareness import ASK, understood
from sssjob.check.sources import check_source
from sssjob.conformance.cases import Case
from sssjob.defaults import resolve
from sssjob.document import bridge, loads
from sssjob.document.bundle import bundles
from sssjob.errors import Finding, Severity, UnbalancedGroup
from sssjob.expression.evaluate import Request
from sssjob.expression.offers import offer
from sssjob.model import Block, Job, JobGroup

# What a request comes to that is not evaluated at all: it is refused, or it is no expression.
REFUSED = "refused"


def found(case: Case) -> dict[str, Any]:
    """What there is where the case expects something."""
    return {name: _LOOKS[name](case, expected) for name, expected in case.expected.items()}


def _all(case: Case) -> list[Finding]:
    data = case.document.encode()
    closed = bool(case.expected.get("closed"))
    said = list(check_source(data, closed=closed))
    if closed:
        said += [each for message in bundles(data) for each in message.findings]
    return said


def _findings(case: Case, expected: Sequence[Mapping[str, str]]) -> Iterator[dict[str, str]]:
    """Errors and warnings, and of the notices those that the case is about."""
    asked = {each["code"] for each in expected}
    for each in _all(case):
        if each.severity is not Severity.NOTICE or each.code in asked:
            yield {"code": each.code, "severity": str(each.severity), "path": each.path}


def _answer(case: Case, given: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict of the first job about an offer, and its score if that is not 0."""
    job = _job(case)
    known = understood(job, ASK)
    if not known.accepted:
        return {"offer": given, "verdict": REFUSED, "score": None}
    try:
        asked = expression.of(known.block)  # a case is about Requested alone
    except UnbalancedGroup:
        return {"offer": given, "verdict": REFUSED, "score": None}
    assert asked is not None
    answer = Request(asked).answer(offer(dict(given)))
    score = str(answer.score) if answer.score else None
    return {"offer": given, "verdict": str(answer.verdict), "score": score}


def _job(case: Case) -> Job:
    """The first job, with its defaults applied."""
    block = _effective(case)
    job = block.jobs[0] if isinstance(block, JobGroup) else block
    assert isinstance(job, Job)
    return job


def _effective(case: Case) -> Block:
    return resolve(loads(case.document)).block


def _texts(case: Case, path: str) -> dict[str, Any]:
    """What an XPath 1.0 expression finds in the document with its defaults applied."""
    root = etree.ElementTree(bridge.to_tree(_effective(case), namespace=""))
    nodes = root.xpath(path)
    assert isinstance(nodes, list)
    texts = [node if isinstance(node, str) else node.xpath("string()") for node in nodes]
    return {"xpath": path, "texts": [str(text).strip() for text in texts]}


def _layouts(case: Case) -> Iterator[list[list[int]]]:
    """The tasks on each node, for each alternative of each task group or job without one."""
    for unit in layout.units(loads(case.document)):
        for each in layout.layouts(unit.block, unit.path).layouts:
            yield [list(share.tasks) for share in each.shares]


def _states(case: Case, ended: Mapping[str, Any]) -> dict[str, Any]:
    exits: dict[str, graph.Exit] = {
        key: graph.FAILED if code == "failed" else code for key, code in ended.items()
    }
    group = loads(case.document)
    assert isinstance(group, JobGroup)
    states = graph.of(group).states(exits)
    return {"ended": dict(ended), "states": {key: str(state) for key, state in states.items()}}


_LOOKS: dict[str, Callable[[Case, Any], Any]] = {
    "accepted": lambda case, _: all(each.severity is not Severity.ERROR for each in _all(case)),
    "findings": lambda case, rows: list(_findings(case, rows)),
    "closed": lambda case, closed: closed,
    "match": lambda case, rows: [_answer(case, row["offer"]) for row in rows],
    "effective": lambda case, rows: [_texts(case, row["xpath"]) for row in rows],
    "layout": lambda case, _: list(_layouts(case)),
    "states": lambda case, rows: [_states(case, row["ended"]) for row in rows],
}
