"""Which attributes an expression of an ad needs from elsewhere."""

from __future__ import annotations

from sssjob.classads.errors import BadAd
from sssjob.classads.parser import expression
from sssjob.classads.tree import AttributeReference
from sssjob.classads.values import Ad, Node, Unparsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN, _OTHER = ("my", "self"), ("target", "other")


def names(node: object, ad: Ad) -> list[str]:
    """The names that an ad does not have, and those asked of the ad opposite, in their order.

    What attributes of the ad need counts, too. A text that is no expression needs nothing.

    >>> names(expression("TARGET.Cpus >= RequestCpus && Arch == a"), Ad({"RequestCpus": 1}))
    ['a', 'Arch', 'Cpus']
    """
    found: dict[str, str] = {}
    seen: set[str] = set()
    pending: list[object] = [node]
    while pending:
        for each in references(pending.pop()):
            side, path, _ = _path(each)
            first = path.partition(".")[0].lower()
            if side in _OTHER or first not in ad:
                found.setdefault(path.lower(), path)
            elif first not in seen:
                seen.add(first)
                pending.append(ad[first])
    return [found[name] for name in sorted(found) if name]


def references(part: object) -> Iterator[AttributeReference]:
    """The names that an expression itself has, or any other value, each whole: ``TARGET.Cpus`` is
    one.
    """
    pending = [part]
    while pending:
        part = pending.pop()
        if isinstance(part, Unparsed):
            part = _parsed(part)
        if isinstance(part, AttributeReference):
            yield part
            pending += [] if _path(part)[2] is None else [_path(part)[2]]
        elif isinstance(part, (tuple, Node, Ad)):
            pending += _inner(part)


def of_a_side(node: AttributeReference) -> bool:
    """Whether a name is asked of one of the two ads of a match by the word for it."""
    return bool(_path(node)[0])


def _inner(part: object) -> tuple[object, ...]:
    if isinstance(part, tuple):
        return part
    return part.parts() if isinstance(part, Node) else tuple(part.values())  # type: ignore[attr-defined]


def _path(node: AttributeReference) -> tuple[str, str, Node | None]:
    """Which ad a name is asked of, the names up to it, and the expression it begins with."""
    path: list[str] = []
    base: Node | None = node
    while isinstance(base, AttributeReference):
        path.append(base.name)
        base = base.base
    path.reverse()
    if base is not None:
        return "", "", base
    side = path[0].lower() if len(path) > 1 and path[0].lower() in (*_OWN, *_OTHER) else ""
    return side, ".".join(path[1:] if side else path), None


def _parsed(part: Unparsed) -> object:
    try:
        return expression(part.text, old=True)
    except BadAd:
        return None
