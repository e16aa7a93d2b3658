"""The page docs/record-fields.md, made from the mappings of all formats: ``make tables``.

What it says of a field is what the mapping does, and a test holds that every field of every
vendor's record is read somewhere, or that it is said why not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sssjob.records import AUTO, FORMATS, Format
from sssjob.records.layout import KnownColumns, Layout
from sssjob.records.record import COMPARED, JOB, NOWHERE, Field

_HEAD = """\
# Every field of every record

Where each field of a batch system's record goes, by the names that its makers give them, and why
the others are not kept. Made from the mappings in `sssjob/systems` and `sssjob/formats` by
`make tables`; a test keeps the page in step.

A place without a block is the Job itself. *With* names the fields that are read together with one.
One field may also bring others: a state its Hold and StatusMessage, a list of resources one
Resource for each. A value that cannot be read stays in an Extension, and is told. A field that no
version known to us has becomes an Extension where its record has a name for it. An ad of HTCondor
has hundreds of attributes, most about how its daemons matched and moved the job, and any that a
user invents: those that are not listed here are not kept, and nothing says so.
"""
_SEVERAL_NAMES = 3  # of fields that are read with one


def described(layout: Layout) -> dict[str, list[str]]:
    """What becomes of each field of a format: places, or nothing where it is not kept."""
    known = layout.known or KnownColumns(())
    found = {column: dict.fromkeys(_places(layout, known, column)) for column in known.columns}
    return {
        column: [place for place in places if place != f"with {column}"]
        for column, places in found.items()
    }


def page() -> str:
    """The page in Markdown."""
    return "".join([_HEAD, *(_table(row, layout) for row, layout in listed())])


def listed() -> Iterator[tuple[Format, Layout]]:
    """The formats whose fields are all known."""
    for row in FORMATS.values():
        if row is not AUTO and (layout := row.load()).known is not None:
            yield row, layout


def _table(row: Format, layout: Layout) -> str:
    known = layout.known or KnownColumns(())
    lines = [f"\n## {row.name}: {row.description}\n", "| field | job object |", "| --- | --- |"]
    for column, places in described(layout).items():
        told = "; ".join(places) or f"not kept: {known.not_kept[column]}"
        lines.append(f"| {_cell(column)} | {_cell(told)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _places(layout: Layout, known: KnownColumns, column: str) -> Iterator[str]:
    made_of_it = [made for made, of in known.worked_out.items() if column in of]
    for row in _rows(layout, column):
        # What others are made of is no column of the mapping, which would keep it as it stands.
        if not (made_of_it and row.attributes.get("name") == column):
            yield _place(row)
    if column in known.also:
        yield known.also[column]
    for made in made_of_it:
        yield from _places(layout, known, made)
    for other in dict.fromkeys((*known.columns, *known.worked_out)):
        if column in known.worked_out.get(other, (column,) if column == other else ()):
            continue
        if other not in made_of_it and any(column in row.beside for row in _rows(layout, other)):
            yield f"with {_named(known, other)}"


def _rows(layout: Layout, column: str) -> list[Field]:
    """What the mapping makes of a column of a job that was started."""
    rows = layout.rows((column, "start"))  # the latter is what says so in PBS
    return [row for row in rows if row.column == column and row.place not in (NOWHERE, COMPARED)]


def _place(row: Field) -> str:
    told = "".join(f' {key}="{value}"' for key, value in row.attributes.items())
    where = row.element if row.place == JOB else f"{row.place}/{row.element}"
    return f"{where}{told}"


def _named(known: KnownColumns, column: str) -> str:
    """A column by the name that the vendor gives it, or those that it is made of."""
    if column in known.columns:
        return column
    return _listed(known.worked_out.get(column, (column,)))


def _listed(names: Iterable[str]) -> str:
    found = [*names]
    more = ["..."] if len(found) > _SEVERAL_NAMES else []
    return ", ".join(found[:_SEVERAL_NAMES] + more)


if __name__ == "__main__":
    print(page(), end="")
