"""Job objects and findings as HTML, for notebooks: everything in it is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from sssjob.errors import Finding
from sssjob.model import Block, Note, Property, Reference
from sssjob.visible import markup

ROWS = 200  # of one picture; a job group may have a hundred thousand jobs
_WIDEST = 200  # characters of a value
_COLOURS = {"error": "#b00020", "warning": "#8a6d00", "notice": "#555555"}


def block(shown: Block) -> str:
    """A job object: its properties as a table, and what it holds below."""
    rows = list(islice(_rows(shown, 0), ROWS + 1))
    body = "".join(rows[:ROWS])
    more = "<tr><td colspan='3'>...</td></tr>" if len(rows) > ROWS else ""
    title = " ".join(filter(None, (shown.name, shown.id)))
    return f"<table><caption>{_text(title)}</caption>{body}{more}</table>"


def findings(shown: Iterable[Finding]) -> str:
    """Findings as a table: the place, how much it weighs, what it is, and what to do."""
    rows = list(islice(map(_finding, shown), ROWS + 1))
    more = "<tr><td colspan='4'>...</td></tr>" if len(rows) > ROWS else ""
    return f"<table>{''.join(rows[:ROWS])}{more}</table>" if rows else "<p>nothing is wrong</p>"


def _rows(shown: Block, depth: int) -> Iterator[str]:
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
) -> str:
    carried = " ".join(f"{key}={text}" for key, text in attributes)
    indent = f" style='padding-left:{depth + 1}em;text-align:left'"
    return (
        f"<tr><{cell}{indent}>{_text(name)}</{cell}>"
        f"<td style='text-align:left'>{_text(value)}</td><td>{_text(carried)}</td></tr>"
    )


def _finding(found: Finding) -> str:
    place = ":".join(str(part) for part in (found.file, found.line, found.path) if part)
    colour = _COLOURS[found.severity]
    advice = f"{found.message}; {found.suggestion}" if found.suggestion else found.message
    return (
        f"<tr><td>{_text(place)}</td><td style='color:{colour}'>{found.severity}</td>"
        f"<td style='text-align:left'>{_text(advice)}</td><td>{_text(found.code)}</td></tr>"
    )


def _text(text: str) -> str:
    shown = text if len(text) <= _WIDEST else f"{text[:_WIDEST]}..."
    return markup(shown)
