"""The cases as files that need nothing of ours: documents as XML, the rest as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sssjob import directory_trees, outputs, resources
from sssjob.conformance.cases import sections

README = "README.md"


def export(directory: str | os.PathLike[str]) -> int:
    """Write every case into a new or empty directory; the number of cases with a document.

    Raises ``FileExistsError`` for a directory that holds anything, or another ``OSError``.
    """
    with directory_trees.whole(directory) as home:
        (home / "cases").mkdir()
        index = []
        count = 0
        for section in sections():
            index.append({
                "section": section.name,
                "title": section.title,
                "cases": [case.id for case in section.cases],
            })  # fmt: skip
            for case in section.cases:
                row = case.as_dict()
                if case.document:
                    count += 1
                    row["document"] = f"{case.id}.xml"
                    _write(home / "cases" / f"{case.id}.xml", f"{case.document}\n")
                _write(home / "cases" / f"{case.id}.json", _json(row))
        _write(home / "sections.json", _json(index))
        _write(home / README, resources.case_format().read_text("utf-8"))
    return count


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _write(path: Path, text: str) -> None:
    with outputs.writing(path) as stream:
        stream.write(text.encode())
