"""A second opinion on requests, written from the text alone: 8.1 of the standard, by brute force.

It shares no code with ``sssjob.expression``: a request is a stream of elements and brackets, of
which every choice among what Or joins is written out, and asked with every amount that can be
taken. Numbers in comments are those of the rules (2: op, conj, group; 3: preference). It is slow,
and good for small numbers only: amounts are halves.
"""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import product
from math import floor
from typing import NamedTuple

WHOLE = {"Processors", "NodeCount", "TaskCount", "Duration"}
AMOUNTS = WHOLE | {"Memory", "Disk", "Swap", "Resource"}
ORDERS = {
    "EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b, "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b,
}  # fmt: skip
INVERSES = {"EQ": "NE", "NE": "EQ", "LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT"}
NO, UNKNOWN, YES = 0, 1, 2
NOTHING = "nothing"  # the amount of what an offer has nothing of: no comparison of it holds
CONFLICT, NEVER = "conflict", "never"


class Element:
    """One requested property, as its attributes say."""

    def __init__(self, item):
        get = item.attributes.get
        self.name, self.text = item.name, item.text.strip()
        self.key = item.name, get("name")
        self.op, self.conj = get("op", "EQ"), get("conj")
        self.group, self.weight = int(get("group", "0")), int(get("preference", "0"))
        self.sign = (self.weight > 0) - (self.weight < 0)

    def goes_on(self, before):
        """3.2: adjacent members of one group without a conj of their own are one operand."""
        return (
            self.conj is None and self.sign != 0
            and (self.sign, self.key) == (before.sign, before.key)
            and self.group <= 0 <= before.group
        )  # fmt: skip

    def shown(self, negated):
        name = f"Resource[name={self.key[1]!r}]" if self.key[1] else self.name
        return f"{'Not ' * negated}{name} {self.op} {self.text}"

    def stated(self, negated):
        if negated and self.op in INVERSES:
            return f"{self.shown(False).split()[0]} {INVERSES[self.op]} {self.text}"
        return self.shown(negated)


class Run:
    """One operand that is no bracket: a comparison, or the members of a run of preferences."""

    def __init__(self, members):
        self.members, self.sign, self.level = members, members[0].sign, None


class Level:
    """A bracket: Or of And of (negated, operand); without precedence from left to right (2.2)."""

    def __init__(self, precedence=True):
        self.rows, self.precedence = [], precedence

    def add(self, or_, negated, operand):
        if not (or_ or self.precedence) and len(self.rows) > 1:
            so_far = Level()
            so_far.rows, self.rows = self.rows, [[(False, so_far)]]
        if or_ or not self.rows:
            self.rows.append([])
        self.rows[-1].append((negated, operand))


class Atom(NamedTuple):
    """What an alternative holds: ``must``, one ``of`` a run, or a ``wish``."""

    kind: str
    run: Run
    member: Element | None
    negated: bool


class Part(NamedTuple):
    """Parts that And or Or joins, with negations at the elements."""

    joined: str
    parts: list


class Asked:
    """A request as brackets, with the sum of the weights of each group of each bracket (3.1)."""

    def __init__(self, properties, precedence=True):
        elements = [Element(item) for item in properties]
        stack, self.sums = [Level(precedence)], defaultdict(int)
        place = 0
        while place < len(elements):
            first, end = elements[place], place + 1
            while end < len(elements) and elements[end].goes_on(elements[end - 1]):
                end += 1
            run, or_ = Run(elements[place:end]), first.conj in ("Or", "Nor")
            negated = first.conj in ("Nand", "Nor")
            for _ in range(max(first.group, 0)):
                inner = Level(precedence)
                stack[-1].add(or_, negated, inner)  # 2.3: Nand negates the group that it opens
                stack.append(inner)
                or_ = negated = False
            stack[-1].add(or_, negated, run)
            run.level = stack[-1]
            for member in run.members:
                self.sums[run.level, run.sign, member.key] += abs(member.weight)
            for _ in range(max(-run.members[-1].group, 0)):
                stack.pop()
            place = end
        self.elements, self.root = elements, stack[0]
        self.whole = _pushed(stack[0], False) if elements else Part("And", [])

    def listed(self):
        """3.5: each alternative by itself, with one member of each run: (score, terms), sorted."""
        found = []
        for atoms in alternatives(self.whole):
            binding = [atom for atom in atoms if atom.kind != "wish"]
            choices = [
                [atom.member] if atom.kind == "must" else atom.run.members for atom in binding
            ]
            for members in product(*choices):
                best = defaultdict(int)
                for atom, member in zip(binding, members, strict=True):
                    if atom.kind == "of":
                        group = atom.run.level, 1, member.key
                        best[group] = max(best[group], member.weight)
                score = sum((Fraction(w, self.sums[g]) for g, w in best.items()), Fraction(0))
                terms = (
                    member.stated(atom.negated)
                    for atom, member in zip(binding, members, strict=True)
                )
                found.append((score, sorted(terms)))
        return sorted(found)

    # What is known of an offer: {key: texts}, and amounts that are taken: {key: number}.

    def truth(self, part, facts, point):
        """The verdict over a part at these amounts: 2.11, three-valued."""
        if isinstance(part, Atom):
            return self._atom(part, facts, point)
        inner = [self.truth(each, facts, point) for each in part.parts]
        return min(inner, default=YES) if part.joined == "And" else max(inner, default=NO)

    def _atom(self, atom, facts, point):
        if atom.kind == "wish":
            return YES  # 8.1: "the job will still run even if it can't satisfy any"
        if atom.kind == "of":
            return max(holds(member, False, facts, point) for member in atom.run.members)
        return holds(atom.member, atom.negated, facts, point)

    def score(self, alternative, facts, point):
        """3.3: of a positive group the heaviest that holds, of a negative one all that hold."""
        best, wished = defaultdict(int), defaultdict(int)
        for atom in alternative:
            if atom.kind == "must":
                continue
            group = atom.run.level, atom.run.sign, atom.run.members[0].key
            held = [
                abs(member.weight)
                for member in atom.run.members
                if holds(member, atom.negated, facts, point) == YES
            ]
            if atom.kind == "of":
                best[group] = max(best[group], *held, 0)
            else:
                wished[group] += sum(held)
        found = [*best.items(), *wished.items()]
        return sum((Fraction(held, self.sums[group]) for group, held in found), Fraction(0))

    def best(self, offer, mode):
        """The verdict and the score over all amounts and all alternatives."""
        facts, points = offer.facts, list(offer.points(self.keys(self.whole), mode))
        written = list(alternatives(self.whole))
        verdict = max(self.truth(self.whole, facts, point) for point in points)
        scores = [
            self.score(alternative, facts, point)
            for point in points
            for alternative in written
            if min((self._atom(atom, facts, point) for atom in alternative), default=YES) == verdict
        ]
        return verdict, max(scores) if verdict != NO else None

    def alone(self, part, offer, mode):
        """The verdict over a part by itself."""
        points = offer.points(self.keys(part), mode)
        return max(self.truth(part, offer.facts, point) for point in points)

    def keys(self, part):
        """The amounts that a part asks for."""
        if isinstance(part, Atom):
            members = [part.member] if part.member else part.run.members
            return {each.key for each in members if each.name in AMOUNTS}
        return set().union(*map(self.keys, part.parts))

    def reasons(self, part, judge):
        """The comparisons that decide what ``judge`` says of a part, and of each of its parts."""
        if isinstance(part, Atom):
            if part.kind == "wish":
                return set()
            if part.kind == "must":
                return {part.member.shown(part.negated)}
            parts = [Atom("must", part.run, each, False) for each in part.run.members]
        else:
            parts = part.parts
        if not parts and part.joined == "Or":
            return {NEVER}
        verdict = judge(part)
        same = [
            each for each in parts
            if judge(each) == verdict and not (isinstance(each, Atom) and each.kind == "wish")
        ]  # fmt: skip
        wishes = any(isinstance(each, Atom) and each.kind == "wish" for each in parts)
        if not same and parts and not (wishes and verdict == YES):
            return {CONFLICT}
        return set().union(*(self.reasons(each, judge) for each in same))


def _pushed(operand, negated):
    """Negations at the elements. 3.2: a wish is true, so in negated brackets it is false."""
    if isinstance(operand, Run):
        if operand.sign < 0:
            return Part("Or", []) if negated else Atom("wish", operand, None, False)
        if operand.sign > 0 and not negated:
            return Atom("of", operand, None, False)
        return Part("And", [Atom("must", operand, each, negated) for each in operand.members])
    inside, around = ("Or", "And") if negated else ("And", "Or")
    rows = [
        Part(inside, [_operand(each, was, negated) for was, each in row]) for row in operand.rows
    ]
    return Part(around, rows)


def _operand(operand, was, negated):
    """An operand with a negation before it (``was``), in brackets that are ``negated``."""
    turned, alone = was, operand
    while isinstance(alone, Level) and len(alone.rows) == 1 and len(alone.rows[0]) == 1:
        ((before, alone),) = alone.rows[0]
        turned ^= before
    if isinstance(alone, Run) and alone.sign < 0 and not negated:
        return Atom("wish", alone, None, turned)  # a wish is negated: it is to be avoided
    if isinstance(alone, Run) and alone.sign < 0:
        return Part("Or", [])
    return _pushed(operand, negated ^ was)


def alternatives(part):
    """Every choice among what Or joins, as a list of atoms."""
    if isinstance(part, Atom):
        yield [part]
    elif part.joined == "Or":
        for each in part.parts:
            yield from alternatives(each)
    else:
        for chosen in product(*(list(alternatives(each)) for each in part.parts)):
            yield [atom for atoms in chosen for atom in atoms]


class Given:
    """An offer: rows of (name, resource or None, text); ``none`` are known to have no value."""

    def __init__(self, properties, none=()):
        self.facts = {(name, None): [] for name in none}
        for item in properties:
            key = item.name, item.attributes.get("name")
            self.facts.setdefault(key, []).append(item.text.strip())

    def points(self, keys, mode):
        """Every way to take amounts: 2.11, 0 < a <= capacity, whole where things are counted."""
        keys = sorted(keys, key=str)
        for values in product(*(list(self._values(key, mode)) for key in keys)):
            yield dict(zip(keys, values, strict=True))

    def _values(self, key, mode):
        if key not in self.facts:
            return [None]
        have = Fraction(self.facts[key][0])
        if mode == "exact":
            return [have]
        if key[0] in WHOLE:
            some = range(1, floor(have) + 1)
        else:
            some = [*(Fraction(n, 4) for n in range(1, floor(have * 4) + 1)), have]
        return [each for each in some if each > 0] or [NOTHING]


@cache
def number(text):
    """What an amount says; each request is asked at many points."""
    return Fraction(text)


def holds(element, negated, facts, point):
    """One comparison, or its negation, at these amounts."""
    if element.name in AMOUNTS:
        have = point[element.key]
        if have is None:
            return UNKNOWN
        if have is NOTHING:
            return NO
        return YES if ORDERS[element.op](have, number(element.text)) != negated else NO
    values = facts.get(element.key)
    if values is None:
        return UNKNOWN
    if element.op == "Match":
        found = any(re.fullmatch(element.text, value) for value in values)  # 2.10: anchored
    else:
        found = (element.text in values) == (element.op == "EQ")  # 2.5: EQ is a member
    return YES if found != negated else NO
