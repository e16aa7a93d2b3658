"""``sssjob conformance``: the statements of the standard as cases, run here or exported."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.conformance.cases import Section


@click.command(
    epilog="""\b
Examples:
  sssjob conformance
  sssjob conformance --json | jq -r '.[].failed[]'
  sssjob conformance --export cases

Exit code: 0 every case passes, or all are exported, 1 some fail,
2 the directory cannot be written."""
)
@click.option(
    "--export", "directory", metavar="DIR", type=click.Path(),
    help="Write all cases into DIR, which is new or empty, for another implementation.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array, an object each section.")
def command(directory: str | None, as_json: bool) -> None:
    """Run the cases that show what each section of the standard says.

    A case is a statement of the standard, a document, and what must be found in it. With --export
    the cases are written as XML and JSON, with a README that explains their form, so that an
    implementation in any language can be measured by them.
    """
    if directory is not None:
        _export(directory)
        return
    from sssjob.conformance.cases import sections

    rows = []
    for section in sections():
        rows.append(row := _row(section))
        if not as_json:
            passed = row["cases"] - len(row["failed"])
            common.fitted(f"{section.name:22} {passed:3} of {row['cases']:3}  {section.title}")
            for id_ in row["failed"]:
                common.say(f"{id_}: not as expected")
    if as_json:
        common.data(json.dumps(rows, ensure_ascii=False, indent=2))
    sys.exit(common.NOTHING if any(row["failed"] for row in rows) else common.FOUND)


def _row(section: Section) -> dict[str, Any]:
    return {
        "section": section.name,
        "title": section.title,
        "cases": sum(bool(case.document) for case in section.cases),
        "untested": sum(not case.document for case in section.cases),
        "failed": list(_failed(section)),
    }


def _failed(section: Section) -> Iterator[str]:
    from sssjob.conformance.run import found

    return (
        case.id for case in section.cases if case.document and found(case) != dict(case.expected)
    )


def _export(directory: str) -> None:
    from sssjob.conformance.export import export

    try:
        count = export(directory)
    except OSError as error:
        common.fail(common.reason(error))
    common.say(f"{count} cases written to {directory}")
