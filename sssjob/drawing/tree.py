"""Job objects as trees in colour, with times and durations as people read them."""

from __future__ import annotations

from collections.abc import Mapping

from rich.tree import Tree

from sssjob import spec, units
from sssjob.drawing.words import Words
from sssjob.errors import InvalidValue
from sssjob.model import Block, Item, Note, Property, Reference
from sssjob.states import Ending, has_ended, how_it_ended, spelled, step

_BY_STEP = {0: "yellow", 1: "cyan"}  # what has not ended, by how far it has come
_STAND_STILL = ("Hold", "Suspended")
_HEADINGS = ("Id", "Name", "State")
_READABLE = {spec.DATETIME: units.iso, spec.DURATION: units.clock}


def tree(block: Block) -> Tree:
    """A job object as a tree, for a console of rich."""
    root = Tree(_heading(block), guide_style="dim")
    properties = block.properties
    heading = [properties.get(name) for name in _HEADINGS]
    for item in block.items:
        if not any(item is each for each in heading):
            _add(root, item)
    return root


def _heading(block: Block) -> Words:
    """``Job PBS.1234.0 Heavy Water Completed``; a category by its name alone."""
    label = Words(block.name, style="bold")
    for name in _HEADINGS:
        if text := block.get(name):
            style = _style(block) if name == "State" else "bold" if name == "Id" else ""
            label.append(" ").append(text, style=style)
    return label.append(_marks(block.attributes))


def _style(block: Block) -> str:
    """The colour of the State: of what has ended well, runs, waits or stands still, or is wrong."""
    state = block.get("State")
    if has_ended(block.get):
        return "red" if how_it_ended(block.get) in (Ending.ABORTED, Ending.FAILED) else "green"
    return "magenta" if spelled(state) in _STAND_STILL else _BY_STEP.get(step(state), "red")


def _add(above: Tree, item: Item) -> None:
    if isinstance(item, Block):
        above.children.append(tree(item))
    elif isinstance(item, Note):
        above.add(Words(item.text.strip(), style="dim italic"))
    elif isinstance(item, Reference):
        above.add(Words(item.name, "bold").append(f" → {item.id}"))
    else:
        branch = above.add(_line(item))
        for child in item.children:
            _add(branch, child)


def _line(item: Property) -> Words:
    """``Memory GE 2 GB``; a time and a duration also as people read them."""
    known = spec.element(item.name)
    line = Words(item.name, style="blue" if known else "red")
    attributes = dict(item.attributes)
    line.append(" ").append(attributes.pop("op", ""), style="bold")
    if "op" in item.attributes:
        line.append(" ")
    line.append(item.text.strip())
    if "units" in attributes:
        line.append(f" {attributes.pop('units')}")
    if readable := _readable(item, known):
        line.append(f" ({readable})", style="dim")
    return line.append(_marks(attributes))


def _readable(item: Property, row: spec.Element | None) -> str:
    if row is None or row.type not in _READABLE:
        return ""
    try:
        value = item.value
    except InvalidValue:
        return ""
    assert isinstance(value, int)
    return _READABLE[row.type](value) if value <= units.YEAR_9999 else ""


def _marks(attributes: Mapping[str, str]) -> Words:
    marks = "".join(f" {name}={value}" for name, value in attributes.items())
    return Words(marks, style="dim")
