"""The statements of the standard as numbered cases, read from the folder ``conformance``.

The files there are written by hand and short; this module gives each case the long form that is
exported: a statement, a document, and what is expected of it, as plain data.

>>> first = next(case for section in sections() for case in section.cases if case.document)
>>> first.id, sorted(first.expected)
('1.2-01', ['accepted', 'findings'])
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sssjob import resources
from sssjob.errors import CODES

_FINDING = re.compile(r"([EWI]-[A-Z-]+)(?:\((error|warning|notice)\))? (\S+)")
_SEVERITIES = {code.name: str(code.severity) for code in CODES}


class Case(NamedTuple):
    """One statement: ``id`` is its section and its number there, which never changes.

    ``level`` is the word of RFC 2119 that the statement has, if it has one. Where the text is
    silent or contradicts itself, ``choice`` says in what: another implementation may differ there.
    A statement that no document can show has none, and ``untested`` says why.
    """

    id: str
    section: str
    statement: str
    level: str
    choice: str
    document: str
    expected: Mapping[str, Any]
    untested: str

    def as_dict(self) -> dict[str, Any]:
        """The case for JSON."""
        return {**self._asdict(), "expected": dict(self.expected)}


class Section(NamedTuple):
    """A section of the text by its number and heading, and its cases in the order of the text."""

    name: str
    title: str
    cases: tuple[Case, ...]


@cache
def sections() -> tuple[Section, ...]:
    """Every section of the text, in its order."""
    files = [tomllib.loads(path.read_text("utf-8")) for path in resources.cases()]
    return tuple(_section(table) for file in files for table in file["section"])


def _section(table: Mapping[str, Any]) -> Section:
    name = table["name"]
    return Section(name, table["title"], tuple(_case(name, row) for row in table.get("case", ())))


def _case(section: str, row: Mapping[str, Any]) -> Case:
    slug = section.replace(" ", "-").replace("/", "-")
    id_ = f"{slug}-{row['number']:02}"
    return Case(
        id_, section, row["says"], row.get("level", ""), row.get("choice", ""),
        row.get("document", "").strip(), _expected(row), row.get("untested", ""),
    )  # fmt: skip


def _expected(row: Mapping[str, Any]) -> dict[str, Any]:
    """The expectations of a case in their long form."""
    made: dict[str, Any] = {}
    if "finds" in row:
        found = [_finding(text) for text in row["finds"]]
        made["accepted"] = all(each["severity"] != "error" for each in found)
        made["findings"] = found
    if "match" in row:
        made["match"] = [
            {"offer": offer, "verdict": verdict, "score": score or None}
            for offer, verdict, score in map(_padded, row["match"])
        ]
    if "effective" in row:
        made["effective"] = [
            {"xpath": path, "texts": list(texts)} for path, *texts in row["effective"]
        ]
    for name in ("layout", "states"):
        if name in row:
            made[name] = row[name]
    if row.get("closed"):
        made["closed"] = True
    return made


def _finding(text: str) -> dict[str, str]:
    found = _FINDING.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no finding such as 'E-DUP /Job/Feature[2]'")
    code, severity, path = found.groups()
    return {"code": code, "severity": severity or _SEVERITIES[code], "path": path}


def _padded(row: Sequence[Any]) -> tuple[Any, str, str]:
    """An offer, a verdict, and a score if there is one."""
    offer, verdict, *score = row
    return offer, verdict, score[0] if score else ""
