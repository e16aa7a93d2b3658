"""What of a tree is a plain value, and what stays an expression."""

from __future__ import annotations

from sssjob.classads.parser import expression
from sssjob.classads.tree import Listing, Literal, Record
from sssjob.classads.values import Ad, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.classads.values import Attribute


def plain(text: str, old: bool = False) -> Attribute:
    """The value that a text stands for, or the expression that it is. Raises ``BadAd``.

    >>> plain("{ 1, [a = b] }")
    (1, Ad({'a': Reference(None, 'b', False)}))
    """
    return from_tree(expression(text, old))


def from_tree(node: Node) -> Attribute:
    """The value of a tree, where it is one."""
    match node:
        case Literal(value):
            return value
        case Listing(members):
            return tuple(from_tree(member) for member in members)
        case Record(attributes):
            return Ad((name, from_tree(part)) for name, part in attributes)
    return node
