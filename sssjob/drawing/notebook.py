"""Job objects, findings and reports as HTML, for notebooks: everything in it is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from sssjob.errors import Finding, SSSJobError, shortened
from sssjob.model import Block, Job, Note, Property, Reference
from sssjob.visible import Markup

if TYPE_CHECKING:
    from sssjob.accounting.report import Report

ROWS = 200  # of one picture; a job group may have a hundred thousand jobs
FIRST = 20  # jobs of many, which may stand in very large files
# What is shown of each of them, delivered before the job's own, and that before what it requests.
_TOLD = ("Id", "Name", "State", "User", "Project", "Queue", "Processors", "Duration")
_COLOURS = {"error": "#b00020", "warning": "#8a6d00", "notice": "#555555"}


def block(shown: Block) -> Markup:
    """A job object: its properties as a table, and what it holds below."""
    rows = list(islice(_rows(shown, 0), ROWS + 1))
    more = Markup("<tr><td colspan='3'>...</td></tr>" if len(rows) > ROWS else "")
    title = " ".join(filter(None, (shown.name, shown.id)))
    return Markup.of(
        "<table><caption>{title}</caption>{body}{more}</table>",
        title=shortened(title), body=Markup.joined(rows[:ROWS]), more=more,
    )  # fmt: skip


def findings(shown: Iterable[Finding]) -> Markup:
    """Findings as a table: the place, how much it weighs, what it is, and what to do."""
    rows = list(islice(map(_finding, shown), ROWS + 1))
    if not rows:
        return Markup("<p>nothing is wrong</p>")
    more = Markup("<tr><td colspan='4'>...</td></tr>" if len(rows) > ROWS else "")
    body = Markup.joined(rows[:ROWS])
    return Markup.of("<table>{body}{more}</table>", body=body, more=more)


def jobs(shown: Iterable[Job]) -> Markup:
    """The first of many jobs as a table. What cannot be read is told where it would stand."""
    from sssjob.accounting.report import JobProperties  # who shows one job has no need of it

    told, lines = iter(shown), [_line(_TOLD, "th")]
    try:
        lines += (_line(map(JobProperties(job).text, _TOLD)) for job in islice(told, FIRST))
        if next(told, None) is not None:
            lines.append(_line(["..."]))
    except (SSSJobError, OSError) as error:
        wide, said = len(_TOLD), shortened(str(error))
        lines.append(Markup.of("<tr><td colspan='{wide}'>{said}</td></tr>", wide=wide, said=said))
    return _table(lines)


def report(shown: Report) -> Markup:
    """What jobs used, as a table; the groups that used most, and the others added up."""
    from sssjob.drawing.report import cells

    head, *rest = cells(shown, shown.rows(limit=ROWS))
    return _table([_line(head, "th"), *map(_line, rest)])


def _table(lines: Iterable[Markup]) -> Markup:
    return Markup.of("<table>{lines}</table>", lines=Markup.joined(lines))


def _line(cells: Iterable[str], cell: str = "td") -> Markup:
    told = (Markup.of("<{cell}>{text}</{cell}>", cell=cell, text=shortened(text)) for text in cells)
    return Markup.of("<tr>{told}</tr>", told=Markup.joined(told))


def _rows(shown: Block, depth: int) -> Iterator[Markup]:
    for item in shown.items:
        if isinstance(item, Note):
            continue
        if isinstance(item, Block):
            head = " ".join(filter(None, (item.name, item.id)))
            yield _row(depth, head, "", item.attributes.items(), "th")
            yield from _rows(item, depth + 1)
            continue
        name = f"{item.name} →" if isinstance(item, Reference) else item.name
        yield _row(depth, name, item.text.strip(), item.attributes.items())
        for inner in item.children:
            if isinstance(inner, Property):
                yield _row(depth + 1, inner.name, inner.text.strip(), inner.attributes.items())


def _row(
    depth: int, name: str, value: str, attributes: Iterable[tuple[str, str]], cell: str = "td"
) -> Markup:
    carried = " ".join(f"{key}={text}" for key, text in attributes)
    return Markup.of(
        "<tr><{cell} style='padding-left:{indent}em;text-align:left'>{name}</{cell}>"
        "<td style='text-align:left'>{value}</td><td>{carried}</td></tr>",
        cell=cell, indent=depth + 1, name=shortened(name), value=shortened(value),
        carried=shortened(carried),
    )  # fmt: skip


def _finding(found: Finding) -> Markup:
    place = ":".join(str(part) for part in (found.file, found.line, found.path) if part)
    advice = f"{found.message}; {found.suggestion}" if found.suggestion else found.message
    return Markup.of(
        "<tr><td>{place}</td><td style='color:{colour}'>{severity}</td>"
        "<td style='text-align:left'>{advice}</td><td>{code}</td></tr>",
        place=shortened(place), colour=_COLOURS[found.severity], severity=found.severity,
        advice=shortened(advice), code=shortened(found.code),
    )  # fmt: skip
