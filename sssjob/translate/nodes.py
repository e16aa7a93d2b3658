"""Features and nodes that a job asks for by name, on their way into options."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from sssjob import expression, nodes
from sssjob.amounts import Scope
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression import Alternative, Comparison, Expression, Not, Or, Wish, is_about
from sssjob.expression.asked_names import asked_names, excluded_by
from sssjob.model import Property, stripped
from sssjob.named_nodes import NamedNodes
from sssjob.nodes import plain
from sssjob.translate.options import ScriptReading
from sssjob.translate.requests import OTHER_MEANING, JobRequest, no_case

T = TypeVar("T")

_MORE = "{} nodes are named, and {} asked for"


def features(
    asked: JobRequest, name: str = "Feature", take: Callable[[str], bool] = plain,
    fold: Callable[[str], str] = str,
) -> list[str]:  # fmt: skip
    """Take the features that every node has to have, as names that the target ``take``s for one.

    Of names that it does not tell apart, which ``fold`` makes the same, the first is asked for.
    """
    found: list[str] = []
    spelled: dict[str, str] = {}
    for item in asked.take(name, "aggregation", "delimiter"):
        texts = listed(asked, item)
        if all(map(take, texts)):
            said = [spelled.setdefault(fold(text), text) for text in texts]
            found += said
            both = zip(said, texts, strict=True)
            if other := next((one for one, text in both if one != text), ""):
                asked.convert(name, no_case(other), partial(operator.is_, item))
        elif texts:
            _no_name(asked, item, texts)
    return list(dict.fromkeys(found))


def plain_name(asked: JobRequest, name: str, take: Callable[[str], bool] = plain) -> str:
    """Take a property that is one such name; "" where there is none, or another text."""
    if (item := asked.one(name)) is None:
        return ""
    text = stripped(item.text)
    if take(text):
        return text
    _no_name(asked, item, (text,))
    return ""


def _no_name(asked: JobRequest, item: Property, texts: Iterable[str]) -> None:
    """Refuse what is no name, or one that the target takes for something else."""
    asked.refuse(item, OTHER_MEANING if all(map(plain, texts)) else "it is no plain name")


def listed(
    asked: JobRequest, item: Property, most: int | None = nodes.OPTION_LIMIT
) -> tuple[str, ...]:
    """The names that a property stands for; none, and it is refused, where these are no names.

    So it is where they are more than ``most``.
    """
    try:
        found = nodes.expand(item)
    except (InvalidValue, LimitExceeded) as error:
        asked.refuse(item, str(error))
        return ()
    if isinstance(found, nodes.Pattern):
        asked.refuse(item, "a pattern has no place, only names")
        return ()
    if most is not None and len(found) > most:
        asked.refuse(item, f"more than {most} names")
        return ()
    return tuple(found)


# decision 1065
def any_of_these(
    asked: JobRequest, number: int | None, *, most: int | None = nodes.OPTION_LIMIT,
    read: Callable[[Property], str] | None = None, take: Callable[[str], bool] = plain,
) -> list[str]:  # fmt: skip
    """Take the nodes that a job names, where a target takes any of those that are listed.

    Where it asks for a ``number`` of nodes, each of them is one of the names, so that of fewer
    names none is taken. ``read`` gives what the target has for a property as a whole, or "". The
    target ``take``s a text for the name of a node.
    """
    found: dict[str, None] = {}
    if "Node" not in asked.names:
        return []
    taken: list[Property] = []
    named = named_nodes(asked) or NamedNodes()
    wanted, may_be = 0, named.may_be()
    for item in asked.take("Node", "aggregation", "delimiter", "count"):
        if read is not None and (text := read(item)):
            found[text] = None
            wanted += 1
            continue
        texts = _but(listed(asked, item, most), may_be)
        if not texts:
            continue
        if all(map(take, texts)):
            found |= dict.fromkeys(texts)
            wanted += nodes.count_of_set(item) or len(set(texts))
            taken.append(item)
        else:
            _no_name(asked, item, texts)
    # Names that are no set are one here where nodes are counted: there is no other option for them.
    one_set = replace(named, open=named.open and number is None)
    stated = named.least if named.is_counted else 0
    if taken and (told := one_set.lacking(max(number or 0, stated), len(found))):
        for item in taken:
            asked.refuse(item, told)
        return []
    if wanted > 1 and len(found) > 1 and (
        number is None or (len(taken) > 1 and len(found) > number)
    ):  # fmt: skip
        asked.approximate("Node", "any of them", met=False)
    elif number is not None and named.least > number:
        asked.approximate("Node", _MORE.format(named.least, number), met=False)
    return [*found]


def names(asked: JobRequest, wanted: int | None, take: Callable[[str], bool] = plain) -> list[str]:
    """Take the nodes that a job is to run on, where it is to run on all of those that it names.

    ``wanted`` is how many nodes it asks for, if it does. ``take`` says of a text whether the
    target takes it for the name of a node.
    """
    found: list[str] = []
    of = named_nodes(asked) or NamedNodes()
    may_be = of.may_be()
    for item in asked.take("Node", "aggregation", "delimiter", "count"):
        texts = _but(listed(asked, item), may_be)
        if not texts:
            continue
        if not all(map(take, texts)):
            _no_name(asked, item, texts)
            continue
        distinct = list(dict.fromkeys(texts))
        number = nodes.count_of_set(item) or wanted or len(distinct)
        if number < len(distinct):
            asked.refuse(item, "only some of the nodes are wanted, and all would be given")
            continue
        if told := of.lacking(max(number, wanted or 0), len(distinct)):
            asked.refuse(item, told)
            continue
        found += distinct
    found = list(dict.fromkeys(found))
    return found if wanted is None else no_more_than(asked, found, wanted)


# decision 1048
def named_nodes(asked: JobRequest) -> NamedNodes | None:
    """The nodes that a job names, or a task group; None where it names none, or none can be read.

    What cannot be read is told where the names are taken, and what leaves no name where that is.
    """
    scope = asked.scope_of("Node") if asked.owner is asked.job else asked.scope
    try:
        found = scope.nodes_by_name()
    except (InvalidValue, LimitExceeded):
        return None
    return found and found.without_contradictions()


def _but(texts: tuple[str, ...], may_be: Callable[[str], bool]) -> tuple[str, ...]:
    """Those of some names that are wanted; where none is, all: one cannot have both."""
    return tuple(filter(may_be, texts)) or texts


def no_more_than(asked: JobRequest, named: list[str], number: int) -> list[str]:
    """So many of the nodes that are named; where there are more, that is told."""
    if len(named) > number:
        asked.approximate("Node", _MORE.format(len(named), number), met=False)
    return named[:number]


# decision 941
def say_nodes(heard: ScriptReading, texts: Iterable[str], most: int | None = 0) -> None:
    """One property for nodes that are all asked for.

    It is one for each of them where there may be other nodes beside these, of ``most`` in all, None
    without an end: one List is all that nodes are taken from.
    """
    found = list(dict.fromkeys(texts))
    if len(found) > 1 and (most is None or most > len(found)):
        heard.requested += (Property("Node", name) for name in found)
    elif found:
        heard.requested.append(nodes.joined(found))


# decision 1025
def conditions(asked: JobRequest, names: Iterable[str], say: Callable[[Expression], T]) -> list[T]:
    """Take what is demanded by some names in an expression of its own, as ``say`` puts it.

    What only compares one of them stays where it is, and so does what ``say`` raises
    ``InvalidValue`` for. Of a part that cannot be said as a whole, as it is about other names, too,
    the best of its alternatives is asked for: each of its terms as if nothing else were requested.
    """
    found: list[T] = []
    about = frozenset(names)

    def is_said(part: Expression) -> bool:
        if _is_plain(part) or not is_about(part, about) or not is_of_each_node(asked, part):
            return False
        try:
            found.append(say(part))
        except (InvalidValue, LimitExceeded):
            return False
        asked.take_terms(part)
        return True

    for part in asked.demands():
        if _is_plain(part) or (not _is_negated(part) and is_said(part)):
            continue
        for term in asked.chosen(part):
            if term is not part:
                is_said(term)
    return found


# decisions 1095, 1113
def is_of_each_node(asked: JobRequest, part: Expression) -> bool:
    """Whether a part of the request can be asked of each node by itself, by the names in it.

    A target that asks it of a node takes any name of a set. That says another thing where an
    alternative wants several nodes, as a layout has it: all of a List without a count, or two
    names; and no nodes can be had where there are more of them than names. Then the names of the
    alternative that is written are asked for, as where they stand outside of a choice.
    """
    if isinstance(part, Comparison):
        return True
    inside = {id(each.item) for each in expression.comparisons(part) if each.item.name == "Node"}
    if not inside:
        return True
    scope = asked.scope_of("Node")
    if inside & scope.never_met:
        return False
    names: set[str] = set()
    most = 0
    is_open = False
    for alternative, every, said in scope.alternatives_by_nodes:
        named = () if said.isdisjoint(inside) else every
        is_set = any("aggregation" in item.attributes for item in named)
        number = _number_of_nodes(scope, alternative) if named else 0
        if number is None:  # what cannot be met has no names to choose from
            continue
        if number > 1 and (len(named) > 1 or is_set):
            return False
        names |= {stripped(item.text) for item in named}
        most, is_open = max(most, number), is_open or is_set or not named
    return is_open or most <= len(names)


def _number_of_nodes(scope: Scope, alternative: Alternative) -> int | None:
    """How many nodes a layout has in an alternative, 0 of an open number; None where it has none.

    What cannot be read is told where it is taken.
    """
    try:
        return scope.nodes_in(alternative)
    except (InvalidValue, LimitExceeded):
        return 0


def wishes(asked: JobRequest, name: str, take: Callable[[str], bool] = plain) -> list[str]:
    """Take the plain names that a job would like, of each group the one that weighs most.

    They are names that the target ``take``s for one. What it cannot say must not be there is not
    liked either, in a task group neither, and what is demanded as well is liked anyhow.
    """
    found: list[str] = []
    if name not in asked.names:
        return found
    is_unsaid = excluded_by(asked_names(term) for term in asked.unsaid(name))
    demanded: frozenset[str] | None = None
    for part in (each for whole in asked.demands() for each in asked.chosen(whole)):
        if not isinstance(part, Wish) or part.avoid or not is_about(part, frozenset((name,))):
            continue
        known = [
            each for each in part.members
            if each.op == "EQ" and _is_one(each.item, take)
            and not is_unsaid(stripped(each.item.text))
        ]  # fmt: skip
        if not known:
            continue
        best = max(known, key=lambda each: abs(expression.weight(each.item)))
        demanded = asked.demanded(name) if demanded is None else demanded
        if stripped(best.item.text) in demanded:
            asked.refuse(best.item, "it is demanded as well")
            continue
        asked.take_terms(best)
        found.append(stripped(best.item.text))
    return list(dict.fromkeys(found))


def say_wishes(heard: ScriptReading, name: str, texts: Iterable[str]) -> None:
    """Each text as a wish of its own."""
    for text in texts:
        wish = Property(name, text, {"preference": "-1"})
        heard.terms.append(Wish((Comparison(wish),)))


def any_of(part: Expression, name: str, take: Callable[[str], bool] = plain) -> list[str]:
    """The texts of which one is enough. Raises ``InvalidValue`` for what is no such choice."""
    members = part.operands if isinstance(part, Or) else ()
    found = [each.item for each in members if isinstance(each, Comparison) and each.op == "EQ"]
    texts = [stripped(item.text) for item in found if "aggregation" not in item.attributes]
    if len(texts) < len(members) or not texts or not all(map(take, texts)):
        raise InvalidValue(str(part), f"a choice between plain names of {name}")
    return list(dict.fromkeys(texts))


def say_any_of(heard: ScriptReading, name: str, texts: Iterable[str]) -> None:
    """A choice between texts."""
    heard.terms.append(Or(tuple(Comparison(Property(name, text)) for text in texts)))


def but(part: Expression, name: str) -> list[str]:
    """The names that are not wanted. Raises ``InvalidValue`` for what says something else."""
    inner = part.operand if isinstance(part, Not) else part
    negated = isinstance(part, Not)
    wanted = "EQ" if negated else "NE"
    if not isinstance(inner, Comparison) or inner.op != wanted or inner.item.name != name:
        raise InvalidValue(str(part), "names that are not wanted")
    found = nodes.expand(inner.item)
    if (
        isinstance(found, nodes.Pattern)
        or len(found) > nodes.OPTION_LIMIT
        or not all(map(plain, found))
    ):
        raise InvalidValue(str(part), "plain names")
    return list(dict.fromkeys(found))


def say_but(heard: ScriptReading, texts: Iterable[str]) -> None:
    """Nodes that are not wanted."""
    item = nodes.joined(list(texts))
    heard.requested.append(Property(item.name, item.text, {**item.attributes, "op": "NE"}))


def _is_plain(part: Expression) -> bool:
    return isinstance(part, Wish) or (isinstance(part, Comparison) and part.op == "EQ")


def _is_negated(part: Expression) -> bool:
    """Whether a part is one comparison under Not, which as a term needs no Not."""
    return isinstance(part, Not) and isinstance(part.operand, Comparison)


def _is_one(item: Property, take: Callable[[str], bool]) -> bool:
    text = stripped(item.text)
    return "aggregation" not in item.attributes and plain(text) and take(text)
