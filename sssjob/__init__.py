"""Job objects of the SSS Job Object Specification 3.1.0, from submission to accounting.

>>> import sssjob
>>> job = sssjob.loads("<Job><Id>PBS.1234.0</Id><Processors>16</Processors></Job>")
>>> job.id, job["Processors"].value
('PBS.1234.0', 16)
"""

from __future__ import annotations

import sys

# As a type checker reads it; to import typing takes as long as Python itself to start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from sssjob._version import __version__
    from sssjob.check.sources import check_source, is_valid, validate
    from sssjob.defaults import resolve
    from sssjob.document import dumps, loads, read, write
    from sssjob.document.document import Document
    from sssjob.errors import (
        Finding,
        Findings,
        InvalidJob,
        InvalidValue,
        NoSuchProperty,
        Severity,
        SSSJobError,
        UnknownName,
        UnreadableDocument,
    )
    from sssjob.expression.evaluate import Answer, Offer, Request, Verdict, ranked
    from sssjob.fold import fold
    from sssjob.matching import match
    from sssjob.model import (
        Block,
        Delivered,
        Job,
        JobDefaults,
        JobGroup,
        Note,
        Properties,
        Property,
        Reference,
        Requested,
        Task,
        TaskDefaults,
        TaskGroup,
        TaskGroupDefaults,
    )
    from sssjob.placement import place
    from sssjob.translate import translate
    from sssjob.verbs.jobs import Jobs, jobs

# Where each name lives: importing sssjob imports none of it, so that a command starts at once.
_HOMES = {
    "sssjob._version": ("__version__",),
    "sssjob.defaults": ("resolve",),
    "sssjob.document": ("dumps", "loads", "read", "write"),
    "sssjob.document.document": ("Document",),
    "sssjob.check.sources": ("check_source", "is_valid", "validate"),
    "sssjob.errors": (
        "Finding", "Findings", "InvalidJob", "InvalidValue", "NoSuchProperty", "Severity",
        "SSSJobError", "UnknownName", "UnreadableDocument",
    ),
    "sssjob.expression.evaluate": ("Answer", "Offer", "Request", "Verdict", "ranked"),
    "sssjob.matching": ("match",),
    "sssjob.fold": ("fold",),
    "sssjob.placement": ("place",),
    "sssjob.model": (
        "Block", "Delivered", "Job", "JobDefaults", "JobGroup", "Note", "Properties", "Property",
        "Reference", "Requested", "Task", "TaskDefaults", "TaskGroup", "TaskGroupDefaults",
    ),
    "sssjob.translate": ("translate",),
    "sssjob.verbs.jobs": ("Jobs", "jobs"),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 - by what they are about
    "__version__",
    "read", "loads", "write", "dumps", "Document",
    "validate", "is_valid", "check_source", "Finding", "Findings", "Severity",
    "jobs", "Jobs",
    "match", "ranked", "Answer", "Offer", "Request", "Verdict",
    "resolve", "fold", "place", "translate",
    "Block", "Delivered", "Job", "JobDefaults", "JobGroup", "Note", "Properties", "Property",
    "Reference", "Requested", "Task", "TaskDefaults", "TaskGroup", "TaskGroupDefaults",
    "SSSJobError", "InvalidJob", "InvalidValue", "NoSuchProperty", "UnknownName",
    "UnreadableDocument",
]  # fmt: skip
if not TYPE_CHECKING:
    ModuleType = type(sys)


class _Package(ModuleType):
    """This package, whose ``fold`` and ``translate`` stay functions beside modules of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _HOME and isinstance(value, ModuleType):  # as an import of the module sets it
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
