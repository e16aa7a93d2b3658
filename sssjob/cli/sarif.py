"""Findings in the Static Analysis Results Interchange Format 2.1.0, which code hosts show."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from sssjob._version import __version__
from sssjob.errors import CODES, Finding, Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "note"}


def sarif(findings: Iterable[Finding]) -> dict[str, Any]:
    """A SARIF log of one run with these findings."""
    rules = [
        {
            "id": code.name,
            "shortDescription": {"text": code.meaning},
            "defaultConfiguration": {"level": _LEVELS[code.severity]},
        }
        for code in CODES
    ]
    driver = {"name": "sssjob", "version": __version__, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(item) for item in findings]}],
    }


def _result(finding: Finding) -> dict[str, Any]:
    advice = f" ({finding.suggestion})" if finding.suggestion else ""
    section = f" [{finding.section}]" if finding.section else ""
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(os.fsencode(finding.file))}}
    if finding.line:
        location["region"] = {"startLine": finding.line}
        if finding.column:
            location["region"]["startColumn"] = finding.column
    place: dict[str, Any] = {"physicalLocation": location}
    if finding.path:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.path}]
    return {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}{advice}{section}"},
        "locations": [place],
    }
