"""What is worth knowing about defaults, as findings."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob import spec
from sssjob.defaults.entries import HOLDS, IDENTITY, Layer, SourcedItem, line_of
from sssjob.errors import Finding, InvalidValue, LimitExceeded, Severity, UnbalancedGroup, finding
from sssjob.model import Item, Note, Property


def unreadable(
    error: UnbalancedGroup | InvalidValue | LimitExceeded,
    items: list[Property],
    entry: SourcedItem,
    path: str,
) -> Finding:
    """A Requested element that is no expression."""
    code = {UnbalancedGroup: "E-GROUP", InvalidValue: "E-TYPE", LimitExceeded: "E-LIMIT"}
    line = items[error.index].line if isinstance(error, UnbalancedGroup) else line_of(entry.item)
    return finding(
        code[type(error)], f"the Requested element is not merged: {error}", line=line,
        path=f"{path}/Requested", section="SSS 8.1",
    )  # fmt: skip


def scope_matters(layer: Layer) -> Finding:
    """A merged Requested element that readers take differently."""
    return finding(
        "W-NOT-SCOPE",
        "a group of nothing but negated Match terms, which some readers negate in part only",
        line=layer.block.line, path=f"{layer.path}/Requested", section="SSS 8.1",
    )  # fmt: skip


def oddities(item: Item, name: str, path: str) -> Iterator[Finding]:
    """What a defaults element holds that gives nothing to others, or the same to all."""
    if isinstance(item, Note):
        return
    held, _ = HOLDS.get(name, ("", ""))
    if item.name in IDENTITY:
        code, message = "W-USELESS", never_inherited(item.name, name)
    elif item.name == held:
        code, message = "W-TEMPLATE", f"{held} in {name} is copied where there is none"
    elif item.name == "Name":
        code, message = "W-TEMPLATE", f"Name in {name} gives all the same name"
    else:
        return
    section = spec.CONTAINER[name].section
    yield finding(code, message, line=item.line, path=f"{path}/{item.name}", section=section)


def never_inherited(identity: str, container: str) -> str:
    """What is wrong with an Id or GlobalId in a defaults element."""
    return f"{identity} is never inherited from {container}"


def useless(layer: Layer, held: str) -> Finding:
    """A defaults element for something that is not there."""
    name = layer.block.name
    return finding(
        "W-USELESS", f"{name} has no {held} to apply to", line=layer.block.line, path=layer.path,
        section=spec.CONTAINER[name].section,
    )  # fmt: skip


def self_dependency(entry: SourcedItem, child: Layer) -> Finding:
    """A default dependency on the very job that would inherit it."""
    return finding(
        "W-USELESS", f"the dependency on {entry.written().value!r} from {entry.source} is not "
        "inherited by that job itself", line=child.block.line, path=child.path,
        section="SSS 5.1 Dependency", severity=Severity.NOTICE,
    )  # fmt: skip
