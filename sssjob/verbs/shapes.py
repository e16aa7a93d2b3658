"""What each command prints with ``--json``: the contract with scripts, as JSON Schemas.

A shape is the name of a type (``text|null``), a list of what an array holds, a dictionary of the
members of an object (``name?`` may be left out), a tuple of what it may be, or ``Each`` for objects
of which nobody knows the names of the members. New members may come; none goes, or changes its
type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sssjob._version import __version__
from sssjob.errors import Finding

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Shape = Any  # it holds itself


class Each(NamedTuple):
    """An object whose members all have one shape, whatever their names."""

    shape: Shape


class Printed(NamedTuple):
    """What a command prints: one JSON text, or as ``lines`` a JSON text on each line."""

    shape: Shape
    lines: bool = False


_TYPES = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "truth": {"type": "boolean"},
    "null": {"type": "null"},
    "anything": {},
    "item": {"$ref": "#/$defs/item"},
    "tree": {"$ref": "#/$defs/tree"},
}
_PLACES = {"line": "integer|null", "column": "integer|null"}
_FINDING = {name: _PLACES.get(name, "text") for name in Finding("", "").as_dict()}
_SCORE = {"score": "number|null", "exact_score": "text|null"}

# A job object: a block has items, a property a text, a reference the id of what it means.
_ITEM = {
    "element?": "text", "namespace?": "text", "attributes?": Each("text"), "items?": ["item"],
    "reference?": "text", "text?": "text", "value?": "text|number|truth|null",
    "children?": ["item"], "comment?": "text", "instruction?": "text",
}  # fmt: skip
# A request: a comparison, or an operator with what it joins.
_TREE = (
    {"property": "text", "op": "text", "value": "text", "attributes": Each("text")},
    {"And": ["tree"]}, {"Or": ["tree"]}, {"Nand": ["tree"]}, {"Nor": ["tree"]}, {"Not": "tree"},
    {"Xor": ["tree"]}, {"Xnor": ["tree"]}, {"OneOf": ["tree"]}, {"Wish": ["tree"]},
)  # fmt: skip
_MATCH = (
    {"file": "text|null", "line": "integer|null", "job": "text|null", "path": "text|null",
     "value": "anything"},
    Each("text|number|truth|null|anything"),
)  # fmt: skip
_KEPT = {"name": "text", "id": "text", "run": "integer|text|null", "version": "integer",
         "at": "number", "by": "text", "source": "text|null", "reason": "text",
         "deleted": "truth"}  # fmt: skip
_DERIVED = {
    "values": Each("text"), "sources": Each({"source": "text", "basis": "text", "why": "text"}),
    "absent": Each("text"), "directory": "text|null", "written": ["text"], "removed": ["text"],
    "findings": [_FINDING],
}  # fmt: skip
_LEFT = {"time": "number|null", "wall": "number|null", "cpu": "number|null", "rate": "number|null",
         "shutdown": "number|null", "notes": ["text"]}  # fmt: skip
_PERCENTILES = Each(Each("number|null"))  # by the name of the number, then p50 and so on
_HISTOGRAMS = Each({
    "parts": [{"from": "number", "to": "number|null", "jobs": "integer"}],
    "not_stated": "integer",
})  # fmt: skip
_SPREAD = {"percentiles?": _PERCENTILES, "histograms?": _HISTOGRAMS}
_MEASURES = {
    "jobs": "integer", "wall_seconds": "number", "processor_seconds": "number",
    "cpu_seconds": "number", "efficiency": "number|null", "processors": "number|null",
    "memory_bytes": "number|null", "memory_max_bytes": "number|null",
    "memory_efficiency": "number|null", "gpu_seconds": "number|null",
    "node_seconds": "number|null", "energy_joules": "number|null",
    # If they are wanted: what was requested, how long jobs waited, normalized hours, and charges
    # as decimal numbers.
    **dict.fromkeys((f"{name}?" for name in (
        "limit_seconds", "limit_efficiency", "asked_processor_seconds",
        "asked_processor_efficiency", "asked_memory_bytes", "asked_gpu_seconds",
        "asked_gpu_efficiency", "wait_seconds", "wait_mean_seconds",
        "normalized_processor_seconds", "normalized_cpu_seconds",
    )), "number|null"),
    **dict.fromkeys(("charge?", "charge_what_if?", "charge_difference?"), "text|null"),
}  # fmt: skip
_COUNTED = {
    "machine": "text|null", "day": "text|null", "listed": "integer|null", "read": "integer",
    "missing": "integer", "truncated": "integer", "doubled": "integer", "changed": "integer",
    "unlisted": "integer",
}  # fmt: skip
_SUM = {
    "source": "text", "since": "number|null", "until": "number|null", "machine": "text|null",
    "submit_host": "text|null", "what": "text", "said": "number", "read": "number", "ok": "truth",
}  # fmt: skip
_TEXTS_OF_RUN = (
    "global_id", "user", "global_user", "group", "project", "queue", "partition", "machine", "qos",
    "application", "state", "status", "exact", "told", "source",
)  # fmt: skip
_NUMBERS_OF_RUN = (
    "submit_time", "eligible_time", "start_time", "end_time", "exit_code", "asked_processors",
    "asked_nodes", "used_nodes", "used_gpus", "suspended_seconds", "wall_seconds",
    "processor_seconds", "cpu_seconds", "used_processors", "used_memory_bytes",
    "asked_memory_bytes", "node_seconds", "gpu_seconds", "energy_joules", "limit_seconds",
    "asked_gpus", "line",
)  # fmt: skip
_WASTE = {
    name: "number|null"
    for name in ("draining_waste", "kill_waste", "remaining_time_expected",
                 "remaining_time_enforced")
}  # fmt: skip
_COUNTS_OF_DELIVER = ("jobs", "delivered", "unchanged", "facts", "disagreements", "records",
                      "elsewhere", "bad", "refused", "errors")  # fmt: skip
DEFAULTS = ("zone", "machine", "site", "store")  # that a file of defaults may set
_SOURCED = {"value": "anything", "from": "text", "line": "integer|null"}
_VALUE = {"value": "text", "file": "text"}

_AUDIT = Printed(
    {
        "ok": "truth",
        "rows": [_COUNTED],
        "total": _COUNTED,
        "outside": "integer",
        "bad": "integer",
        "sums": [_SUM],
        "findings": [
            {
                "kind": "text",
                "machine": "text|null",
                "id": "text",
                "submit": "number|null",
                "start": "number|null",
                "end": "number|null",
                "why?": "text",
            }
        ],
        "gaps": [{"machine": "text", "first": "integer", "last": "integer"}],
    }
)

SHAPES: Mapping[str, Printed] = {
    "validate": Printed([_FINDING]),
    "show": Printed("item", lines=True),
    "query": Printed(([_MATCH], "integer")),  # the number of matches with --count
    "diff": Printed([{"path": "text", "left": "text|null", "right": "text|null"}]),
    "repair": Printed({
        "file": "text", "repaired": "truth", "findings": [_FINDING], "document?": "text",
        "changes": [{"rule": "text", "what": "text", "line": "integer", "column": "integer",
                     "before": "text", "after": "text"}],
    }),
    "store init": Printed({"store": "text", "documents": "integer"}),
    "store import": Printed(dict.fromkeys(("new", "changed", "unchanged", "bad"), "integer")),
    "store export": Printed(
        {**_KEPT, "number": "integer", "document": "text", "files": Each("anything"),
         "is_taken_in": "truth"}, lines=True
    ),
    "store query": Printed([_MATCH]),
    "store log": Printed(_KEPT, lines=True),
    "store delete": Printed({"done": ["text"], "missed": ["text"]}),
    "store stats": Printed({
        **dict.fromkeys(("documents", "jobs", "deleted", "versions", "size", "documents_size",
                         "packed_size", "dictionaries"), "integer"),
        "first_change": "number|null", "last_change": "number|null", "by_state": Each("integer"),
    }),
    "store check": Printed(
        {"name": "text|null", "id": "text|null", "run?": "integer|text|null",
         "number?": "integer|null", "version": "integer|null", "message": "text"},
        lines=True,
    ),
    "store compact": Printed({"before": "integer", "after": "integer"}),
    "store settings": Printed({"store": "text", "verify": "truth"}),
    "store upgrade": Printed({"upgraded": "truth"}),
    "submit": Printed(
        (
            {"id": "text", "globalId": "text", "state": "text", "new": "truth", "job": "text"},
            {"job": "text", "command": ["text"], "input": "text"},
        ),
        lines=True,
    ),
    "status": Printed("item", lines=True),
    "deliver": Printed({**dict.fromkeys(_COUNTS_OF_DELIVER, "integer"), "findings": [_FINDING]}),
    "report": Printed({
        "by": ["text"], "rows": [{**_MEASURES, "*": "text|null"}], "total": _MEASURES,
        "others?": _MEASURES, "outside": "integer", "currency?": "text",
    }),
    "ledger init": Printed({"ledger": "text", "runs": "integer"}),
    "ledger ingest": Printed(
        dict.fromkeys(("new", "replaced", "unchanged", "bad", "unread", "known"), "integer")
    ),
    "ledger report": Printed({
        "by": ["text"], "outside": "integer", "currency?": "text",
        "answered": {"by_rollup": "integer", "by_rows": "integer"},
        "rows": [{**_MEASURES, **_SPREAD, "*": "text|null"}],
        "others?": {**_MEASURES, "histograms?": _HISTOGRAMS},
        "total": {**_MEASURES, **_SPREAD},
    }),
    "ledger show": Printed(
        {
            "id": "text",
            **dict.fromkeys((f"{name}?" for name in _TEXTS_OF_RUN), "text"),
            **dict.fromkeys((f"{name}?" for name in _NUMBERS_OF_RUN), "integer"),
            **dict.fromkeys(("header?", "record?"), "text"),
        },
        lines=True,
    ),
    "ledger query": Printed([_MATCH]),
    "ledger audit": _AUDIT,
    "ledger sql": Printed(Each("anything"), lines=True),
    "ledger check": Printed({"file": "text", "message": "text"}, lines=True),
    "ledger repair": Printed({"file": "text", "message": "text"}, lines=True),
    "ledger compact": Printed({"before": "integer", "after": "integer", "removed": "integer"}),
    "audit": _AUDIT,
    "explain": Printed(
        (
            {"name": "text", "kind": "text", "section": "text", "about": "text",
             "facts": Each("text"), "example": "text"},
            {"file": "text", "path": "text", "id": "text", "expression": "text",
             "tree": "tree|null"},
        ),
        lines=True,
    ),
    "match": Printed([{
        **_SCORE, "job": "text|null", "path": "text", "id": "text", "verdict": "text",
        "alternative": "text|null", "reasons": ["text"], "rank": "integer|null",
    }]),
    "alternatives": Printed(
        {"file": "text", "path": "text", "id": "text", "complete": "truth",
         "alternatives": [{**_SCORE, "expression": "text", "terms": ["text"]}]},
        lines=True,
    ),
    "place": Printed(
        {
            **_SCORE, "file": "text", "path": "text", "job": "text", "placed": "truth",
            "nodes": ["text"], "proved": "truth", "findings": [_FINDING],
            "groups": [{
                "path": "text", "name": "text|null", "alternative": "text|null", "rule": "text",
                "tasks": "integer", "processors_per_task": "number|null", "able_nodes": "integer",
                "room": "integer|null",
                "placement": [{"node": "text", "tasks": ["integer"], "processors": "number|null"}],
            }],
            "reasons": [{"path": "text", "text": "text", "nodes": "integer|null"}],
        },
        lines=True,
    ),
    "layout": Printed(
        {
            "file": "text", "path": "text", "job": "text", "group": "text|null",
            "alternative": "text|null", "tasks": "integer|null", "nodes": "integer|null",
            "tasks_per_node": ["integer"], "processors": "number|null",
            "processors_per_task": "number|null", "rule": "text",
            "placement": [{"node": "text|null", "tasks": ["integer"], "processors": "number|null"}],
            "sources": Each(_SOURCED), "findings": [_FINDING],
        },
        lines=True,
    ),
    "graph": Printed(
        {
            "file": "text", "id": "text|null", "states": Each("text"), "order": ["text"],
            "cycles": [["text"]], "impossible": ["text"],
            "jobs": [{"id": "text", "name": "text|null", "state": "text",
                      "exit": "integer|text|null", "why": [{"state": "text", "needs": "text"}]}],
            "external": [{"job": "text", "dependency": "text", "designator": "text"}],
        },
        lines=True,
    ),
    "profile": Printed(
        {
            "file": "text", "line": "integer|null", "name": "text", "id": "text|null",
            "accepted": "truth",
            "items": [{"path": "text", "line": "integer|null", "kind": "text", "name": "text",
                       "value": "text|null", "level": "text|null", "policy": "text|null",
                       "outcome": "text"}],
        },
        lines=True,
    ),
    "features job": Printed(_DERIVED),
    "features machine": Printed(_DERIVED),
    "features live": Printed(_DERIVED),
    "features set": Printed([{"directory": "text", "key": "text", "value": "anything"}]),
    "features expire": Printed(Each(["text"])),
    "features watch": Printed(
        {"key": "text", "value": "integer|null", "source": "text|null", "why": "text|null"},
        lines=True,
    ),
    "features discover": Printed(Each("text")),
    "features sweep": Printed({"removed": ["text"], "notes": ["text"]}),
    "features sample": Printed({
        "job": "text", "time": "number", **dict.fromkeys(
            (f"{name}?" for name in (
                "cpu_secs", "cpu_rate", "rss_bytes", "max_rss_bytes", "swap_bytes",
                "max_swap_bytes", "cpu_stall_secs", "memory_stall_secs", "io_stall_secs",
                "gpu_secs", "gpu_bytes",
            )), "number",
        ),
    }, lines=True),
    "features prove": Printed({"case": "text", "outcome": "text", "why": ["text"]}, lines=True),
    "features show": Printed({
        "machine": Each("text"), "job": Each("text"), "unknown": ["text"], "unread": ["text"],
        "sources": Each("text"),
        "left": _LEFT, "findings": [_FINDING],
    }),
    "features left": Printed({**_LEFT, "short": ["text"], "unknown": ["text"]}),
    "features status": Printed({
        "values": Each("text"), "now?": "number|null", "consistent?": "truth|null",
    }),
    "features pilots": Printed([{
        **_WASTE, "exact": _WASTE, "directory": "text", "job_id": "text", "owner": "integer",
        "retires": "truth", "status": Each("text"), "now": "number|null", "problem": "text",
    }]),
    "features install": Printed({
        "configuration": ["text"], "directory": "text", "written": "truth",
        "scripts": Each("text"), "check?": {
            "settings": [{
                "name": "text", "found": "text", "wanted": "text", "own": "text",
                "trouble": "text", "good": "truth",
            }],
            "node": "text", "machine": Each("text"), "job": Each("text"), "notes": ["text"],
        },
    }),
    "condor features": Printed({"machine": Each("text"), "job": Each("text")}),
    "condor why": Printed(
        {"slots": [{"slot": "text", "fits": "truth", "obstacles": [
            {"of": "text", "clause": "text", "value": "text", "names": Each("text")}
        ]}]}
    ),
    "condor check": Printed(
        {
            "variables": [{"name": "text", "value": "text", "meaning": "text"}],
            "problems": [{"name": "text", "problem": "text", "error": "truth"}],
        }
    ),
    "condor queue": Printed({"jobs": [{"state": "text", "key": "text", "reason": "text"}]}),
    "condor simulate": Printed(
        {"slot": "text", "what": "text", "job": "text", "more": "text"}, lines=True
    ),
    "lcginfo check": Printed(Each("anything")),
    "lcginfo estimate": Printed([{
        "queue": "text", "vo": "text", "running": "integer", "waiting": "integer",
        "free": "integer|null", "ert": "number|null", "wrt": "number|null", "why?": ["text"],
    }]),
    "lcginfo backtest": Printed([{
        "estimator": "text", "jobs": "integer", "answered": "integer", "bias": "number|null",
        "median_absolute_error": "number|null", "within_worst": "number|null",
        "median_at_least": "number|null", "median_at_most": "number|null",
        "nearest": "truth", "as_near": "truth",
        "samples": [{"time": "number", "jobid": "text", "queue": "text", "vo": "text",
                     "waited": "number", "ert": "number|null", "wrt": "number|null"}],
    }]),
    "request": Printed([Each("anything")]),
    "conformance": Printed([{
        "section": "text", "title": "text", "cases": "integer", "untested": "integer",
        "failed": ["text"],
    }]),
    "config show": Printed({name: (_VALUE, "null") for name in DEFAULTS}),
}  # fmt: skip


# Why a command has no --json.
_DOCUMENTS = "it prints documents"
_HOOK = "HTCondor says what it reads and prints"
_SCRIPT = "a batch system says what it reads and prints"
WITHOUT: Mapping[str, str] = {
    "canon": _DOCUMENTS,
    "ledger export": "it prints CSV, or writes a file",
    "transform": "its sheet says what it prints",
    "translate": "it prints scripts; --losses FILE writes JSON lines",
    "cancel": "it prints the id and the state of each job on a line",
    "hold": "it prints the id and the state of each job on a line",
    "release": "it prints the id and the state of each job on a line",
    "convert": "it prints documents; --to jsonl prints JSON lines, --counts-json FILE counts",
    "send": "it prints how many messages were sent",
    "features agent": "a server",
    "features prolog": _SCRIPT,
    "features epilog": _SCRIPT,
    "features collect": "it prints nothing but what is wrong",
    "features submit": "it prints the id that the batch system gives",
    "features serve": "a server",
    "condor ad": "it prints ads; --format json prints them in JSON",
    "condor job": _DOCUMENTS,
    "condor eval": "it prints a value in the language of ClassAds",
    "condor fold": "it prints two counts",
    "condor cron": _HOOK,
    "condor config": "it prints a configuration of HTCondor",
    "condor fetch-work": _HOOK,
    "condor reply-fetch": _HOOK,
    "condor evict-claim": _HOOK,
    "condor prepare-job": _HOOK,
    "condor update-job-info": _HOOK,
    "condor job-exit": _HOOK,
    "lcginfo lrms": "it prints lrmsinfo",
    "lcginfo jobs": _DOCUMENTS,
    "lcginfo caps": "it prints vo-max-jobs",
    "lcginfo run": "it prints LDIF",
    "browse": "a server, whose views have JSON of their own",
    "serve": "a server; its log and its figures have forms of their own",
    "demo": "it shows other commands",
    "examples": "it writes files",
    "completion": "it prints a program for a shell",
    "schema": "it prints a JSON Schema in any case",
}  # fmt: skip


# What prints an array with --json, and its elements with --jsonl.
MANY = ("validate", "diff", "match", "query", "store query", "ledger query", "request")
_ELEMENTS = " --jsonl prints each element of this array on a line of its own."


def schema(command: str, printed: Printed) -> dict[str, Any]:
    """The JSON Schema of what a command prints, or of each line of it."""
    each = " on each line" if printed.lines else ""
    lines = _ELEMENTS if command in MANY else ""
    made: dict[str, Any] = {
        "$schema": DIALECT,
        "title": f"sssjob {command} --json",
        "description": f"What sssjob {__version__} prints{each}.{lines}",
        **_schema(printed.shape),
    }
    if '"item"' in _words(printed.shape):
        made["$defs"] = {"item": _schema(_ITEM)}
    elif '"tree' in _words(printed.shape):
        made["$defs"] = {"tree": _schema(_TREE)}
    return made


def _words(shape: Shape) -> str:
    import json

    return json.dumps(shape)


def _schema(shape: Shape) -> dict[str, Any]:
    if isinstance(shape, str):
        names = [_TYPES[name] for name in shape.split("|")]
        return names[0] if len(names) == 1 else {"anyOf": names}
    if isinstance(shape, Each):
        return {"type": "object", "additionalProperties": _schema(shape.shape)}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0])}
    if isinstance(shape, tuple):
        return {"anyOf": [_schema(each) for each in shape]}
    others = {"additionalProperties": _schema(shape["*"])} if "*" in shape else {}
    named = {name: inner for name, inner in shape.items() if name != "*"}
    return {
        "type": "object",
        "properties": {name.removesuffix("?"): _schema(inner) for name, inner in named.items()},
        "required": [name for name in named if not name.endswith("?")],
        **others,
    }
