"""``sssjob repair``: common mistakes in what is not well-formed, put right for who asks."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import click

from sssjob.cli import common, options, records
from sssjob.errors import Severity

if TYPE_CHECKING:
    from sssjob.document.repair import AppliedRepair, NotRepairable, Repaired


@click.command(
    epilog="""\b
Examples:
  sssjob repair job.xml > repaired.xml
  sssjob repair --diff job.xml
  sssjob repair --in-place job.xml
  sssjob repair --groups job.xml | sssjob validate

Exit code: 0 repaired, or nothing to do; 2 cannot be read, and not be repaired for sure."""
)
@click.argument("file", default="-", metavar="[FILE]", type=click.Path())
@click.option("-o", "--output", metavar="PATH", type=click.Path(), help="Write here.")
@click.option("--in-place", is_flag=True, help="Write over FILE.")
@click.option("--dry-run", is_flag=True, help="Only report what would be changed.")
@click.option("--diff", is_flag=True, help="Print the changed lines, and write no document.")
@click.option(
    "--groups",
    is_flag=True,
    help="Reverse the signs of all group attributes, where parentheses balance only then.",
)
@options.ALL_FINDINGS
@click.option("--json", "as_json", is_flag=True, help="Changes and document as one JSON object.")
def command(
    file: str, output: str | None, in_place: bool, dry_run: bool, diff: bool, groups: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Repair a document that is not well-formed.

    What is repaired: typographic quotes and no-break spaces in tags, a start tag where an end tag
    was meant, the missing end tag of a value, a bare &, blanks before <?xml. Each change is
    reported on standard error. If anything else is wrong, or two repairs are possible, nothing is
    changed.
    """
    if in_place and (output or file == "-"):
        raise click.UsageError("--in-place writes over FILE, and needs one")
    from sssjob.document.repair import NotRepairable, repair

    records.only_documents(file)
    ((name, source),) = common.sources([file])
    data = _read(source, name)
    if in_place and not data.startswith(Path(file).read_bytes()[:6]):
        common.fail(f"{common.name_of(name)} is compressed; name another file with -o")
    try:
        done = repair(data, groups=groups)
    except NotRepairable as refused:
        _refuse(name, refused, as_json)
    if as_json:
        common.data(json.dumps(_as_dict(name, done), ensure_ascii=False, indent=2))
    else:
        for change in done.changes:
            common.say_of(name, Severity.NOTICE, _line(name, change), ": changes")
    if diff and not as_json:
        _print_diff(name, data, done)
    if dry_run or diff or (as_json and not (output or in_place)):
        return
    try:
        if not (in_place and not done.changes):
            with common.output(file if in_place else output) as stream:
                stream.write(done.data)
    except OSError as error:
        common.fail(common.reason(error))


def _read(source: Path | BinaryIO, name: str) -> bytes:
    """A document, decompressed; more than can be repaired is enough to be told so."""
    from sssjob.document import opened
    from sssjob.document.repair import LIMIT
    from sssjob.errors import UnreadableDocument

    try:
        with opened(source) as stream:
            return stream.read(LIMIT + 1)
    except OSError as error:
        common.fail(common.reason(error))
    except UnreadableDocument as error:
        common.say(error.finding.in_file(name))
        sys.exit(common.NOT_UNDERSTOOD)


def _refuse(name: str, refused: NotRepairable, as_json: bool) -> NoReturn:
    """Say why nothing was changed, and end the command."""
    if as_json:
        findings = [found.in_file(name).as_dict() for found in refused.placed]
        common.data(json.dumps(
            {"file": name, "repaired": False, "changes": [], "findings": findings},
            ensure_ascii=False, indent=2,
        ))  # fmt: skip
    else:
        common.print_findings(found.in_file(name) for found in refused.placed)
        common.say(
            f"{common.name_of(name)}: nothing changed: not all of this can be repaired for sure"
        )
    sys.exit(common.NOT_UNDERSTOOD)


def _line(name: str, change: AppliedRepair) -> str:
    from sssjob.visible import visible

    before, after = visible(change.before), visible(change.after)
    turned = f"{before} becomes {after}" if before and after else (
        f"{after} added" if after else f"{before} removed"
    )  # fmt: skip
    return (
        f"{common.name_of(name)}:{change.line}:{change.column}: repaired: {change.what}: {turned}"
    )


def _as_dict(name: str, done: Repaired) -> dict[str, object]:
    return {
        "file": name,
        "repaired": bool(done.changes),
        "changes": [
            {"rule": change.rule, "what": change.what, "line": change.line, "column": change.column,
             "before": change.before, "after": change.after}
            for change in done.changes
        ],
        "findings": [],
        "document": done.text,
    }  # fmt: skip


def _print_diff(name: str, data: bytes, done: Repaired) -> None:
    """The changed lines as a patch without context; only blank lines can go, none is added."""
    from sssjob.document.repair import lines_of

    if not done.changes:
        return
    old, new = lines_of(data), lines_of(done.data)
    gone = len(old) - len(new)
    changed = {change.line for change in done.changes}
    if gone:
        changed |= set(range(1, gone + 2))
    common.data(f"--- {name}\n+++ {name}")
    for _, run in groupby(enumerate(sorted(changed)), lambda pair: pair[1] - pair[0]):
        numbers = [line for _, line in run]
        kept = [number - gone for number in numbers if number > gone]
        head = f"@@ -{numbers[0]},{len(numbers)} +{max(numbers[0] - gone, 1)},{len(kept)} @@"
        common.echo(head, fg="cyan")
        for number in numbers:
            _print_line("-", old[number - 1], "red")
        for number in kept:
            _print_line("+", new[number - 1], "green")


def _print_line(sign: str, line: str, colour: str) -> None:
    common.data(sign + line, fg=colour)
