"""What the API of Kubernetes says to a pod about its end: that it is deleted, or its node tainted.

The pod's service account may have to be allowed to read pods of its namespace, and nodes; what it
may not read is a problem, and nothing is concluded. # decision 480
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sssjob import units
from sssjob.errors import InvalidValue, NotFetched
from sssjob.features import kernel
from sssjob.features import pod as pod_values
from sssjob.features.notices import (
    JOB,
    MACHINE,
    Notice,
    Surroundings,
    Unread,
    no_new_jobs,
    trying,
)
from sssjob.features.remote import RemoteOptions, content

ACCOUNT = "var/run/secrets/kubernetes.io/serviceaccount"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_NO_EXECUTE = "NoExecute"  # of a taint: pods that do not tolerate it are evicted
_CORDONED = "node.kubernetes.io/unschedulable"
_LONGEST = 1 << 63  # what the API has for numbers
_SHOWN = 40  # characters


def read(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """The deletion of this pod, and taints of its node that evict it."""
    said = asked.environment
    account = os.path.join(asked.root, ACCOUNT)
    space = kernel.text(os.path.join(account, "namespace")).strip()
    space = space or pod_values.value("POD_NAMESPACE", said, asked.root)
    name = pod_values.value("POD_NAME", said, asked.root) or said.get("HOSTNAME", "")
    if not _NAME.fullmatch(space):
        raise InvalidValue(space, "the namespace of a pod: set POD_NAMESPACE")
    if not _NAME.fullmatch(name):
        raise InvalidValue(name, "the name of a pod: set POD_NAME")
    path = f"api/v1/namespaces/{space}/pods/{name}"
    try:
        pod = _object(path, asked, account, 2)
        metadata, spec = (_of(pod, part, path) for part in ("metadata", "spec"))
    except NotFetched as error:
        yield Unread(str(error))
        yield from trying(_of_named(asked, account, now))
        return
    yield from trying(_deleted(metadata, name))
    yield from trying(_tainted(spec, asked, account, now))


def _deleted(metadata: Mapping[str, Any], name: str) -> Iterator[Notice]:
    if text := metadata.get("deletionTimestamp"):
        yield Notice(JOB, units.time(str(text)), "kubernetes", f"pod {name} is deleted")


def _tainted(
    spec: Mapping[str, Any], asked: Surroundings, account: str, now: int
) -> Iterator[Notice | Unread]:
    node = spec.get("nodeName") or asked.node
    if not isinstance(node, str) or not _NAME.fullmatch(node):
        raise InvalidValue(str(node), "the node of a pod (spec.nodeName), whose taints are asked")
    of_node = _node(node, asked, account)
    yield from _cordoned(of_node, node, now)
    for taint in _evictions(_list_of(of_node, "taints")):
        yield from trying(_evicting(taint, spec, node, now))


def _cordoned(of_node: Mapping[str, Any], node: str, now: int) -> Iterator[Notice | Unread]:
    """That a node takes no new pods: since when, if its taint tells that. # decision 700"""
    if of_node.get("unschedulable") is not True:  # ``kubectl cordon`` and ``drain``
        return
    taints = of_node.get("taints")
    told = [
        str(each["timeAdded"])
        for each in (taints if isinstance(taints, list) else [])
        if isinstance(each, dict) and each.get("key") == _CORDONED and each.get("timeAdded")
    ]
    since = None
    try:
        since = units.time(told[0]) if told else None
    except InvalidValue as error:  # it is cordoned all the same
        yield Unread(str(error))
    yield no_new_jobs(f"node {node}", "kubernetes", "", since, now)


def _of_named(asked: Surroundings, account: str, now: int) -> Iterator[Notice | Unread]:
    """Of the node that is named: that it is cordoned, and its taints.

    This pod may tolerate them: nobody says so.
    """
    if not _NAME.fullmatch(asked.node):
        return
    of_node = _node(asked.node, asked, account)
    yield from _cordoned(of_node, asked.node, now)
    for taint in _evictions(_list_of(of_node, "taints")):
        what = f"node {asked.node} has the taint {_object_of(taint).get('key')}:{_NO_EXECUTE}"
        yield Unread(f"{what}, and nobody says whether the pod tolerates it")


def _node(node: str, asked: Surroundings, account: str) -> Mapping[str, Any]:
    """What a node is to be. Raises ``NotFetched``."""
    path = f"api/v1/nodes/{node}"
    return _of(_object(path, asked, account), "spec", path)


def _evictions(taints: list[object]) -> Iterator[object]:
    """The taints that evict pods, and what stands there that is none."""
    for taint in taints:
        if not isinstance(taint, dict) or taint.get("effect") == _NO_EXECUTE:
            yield taint


def _evicting(found: object, spec: Mapping[str, Any], node: str, now: int) -> Iterator[Notice]:
    """When a taint evicts a pod of these tolerations; the least time of those that fit counts.

    ``kubectl taint`` does not say when it was added. Raises ``InvalidValue`` where what is said of
    one of them is none: the pod may have more time, or less. # decision 563
    """
    taint = _object_of(found)
    since = units.time(str(taint["timeAdded"])) if taint.get("timeAdded") else None
    tolerations = [_object_of(each) for each in _list_of(spec, "tolerations")]
    fitting = [each for each in tolerations if _tolerates(each, taint)]
    seconds = [each for each in map(_seconds, fitting) if each is not None]
    if fitting and not seconds:
        return  # for ever
    left = max(min(seconds, default=0), 0)
    why = f"node {node} has the taint {taint.get('key')}:{_NO_EXECUTE}"
    moment = (now if since is None else since) + left
    yield Notice(MACHINE, moment, "kubernetes", why, counts=since is None)


def _seconds(toleration: Mapping[str, Any]) -> int | None:
    """How long a pod tolerates a taint; None is for ever. Raises ``InvalidValue``."""
    said = toleration.get("tolerationSeconds")
    if said is None:
        return None
    if isinstance(said, bool) or not isinstance(said, int | float) or said != said // 1:
        raise InvalidValue(repr(said)[:_SHOWN], "a whole number of seconds (tolerationSeconds)")
    if not -_LONGEST <= said < _LONGEST:
        raise InvalidValue(repr(said)[:_SHOWN], "tolerationSeconds of 64 bits")
    return int(said)


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") not in (None, "", _NO_EXECUTE):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint.get("key"))
    same = (toleration.get("value") or "") == (taint.get("value") or "")
    return toleration.get("key") == taint.get("key") and same


def _object(path: str, asked: Surroundings, account: str, questions: int = 1) -> Any:
    """An object of the API, one of so many to ask for. Raises ``NotFetched``."""
    host, port = (asked.environment.get(f"KUBERNETES_SERVICE_{name}", "") for name in
                  ("HOST", "PORT"))  # fmt: skip
    address = f"[{host}]" if ":" in host else host
    base = asked.url or f"https://{address}:{port or 443}"
    token = kernel.text(os.path.join(account, "token")).strip()
    headers = (("Authorization", f"Bearer {token}"),)
    authority = os.path.join(account, "ca.crt")
    ca = authority if os.path.exists(authority) else ""
    url = f"{base}/{path}"
    seconds = asked.share(questions)
    text = content(url, RemoteOptions(seconds, seconds, ca=ca, headers=headers))
    if text is None:
        raise NotFetched(url, "there is no such object")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotFetched(url, "what it says is no JSON") from None


def _of(found: object, name: str, path: str) -> Mapping[str, Any]:
    """A part of an object of the API. Raises ``NotFetched`` where it has none."""
    inner = found.get(name) if isinstance(found, dict) else None
    if not isinstance(inner, dict):
        raise NotFetched(path, f"what it says is no object with {name}")
    return inner


def _list_of(found: Mapping[str, Any], name: str) -> list[object]:
    """A list in an object of the API, which may have none. Raises ``InvalidValue``."""
    inner = found.get(name)
    if inner is not None and not isinstance(inner, list):
        raise InvalidValue(repr(inner)[:_SHOWN], f"a list of {name}")
    return inner or []


def _object_of(found: object) -> Mapping[str, Any]:
    """An object of a list of the API. Raises ``InvalidValue``."""
    if not isinstance(found, dict):
        raise InvalidValue(repr(found)[:_SHOWN], "an object among taints and tolerations")
    return found
